// What kernels print.
#pragma once

extern "C" {
int vsnprintf(char *, unsigned long, const char *, __builtin_va_list) noexcept;
unsigned long fwrite(const void *, unsigned long, unsigned long, void *);
void *malloc(unsigned long) noexcept;
void free(void *) noexcept;
extern void *stdout;
}

namespace gocuda {

// write_out prints a text, and frees it if it is not the small one.
static void write_out(char *text, unsigned long n, char *small) {
    if (n > 0 && text) fwrite(text, 1, n, stdout);
    if (text != small) free(text);
    Thread *t = self();
    if (__atomic_load_n(&t->worker->launch->stop, __ATOMIC_RELAXED)) {
        t->worker->dead = 1; // one that prints without end accesses no memory
        gocuda_switch(&t->sp, t->worker->sp);
    }
}

} // namespace gocuda

extern "C" {
// printf is the library's, but that an argument that is wrong is found before
// the output is locked: who is ended then must hold no lock.
GOCUDA_CALL int printf(const char *format, ...) {
    char small[1024], *text = small;
    __builtin_va_list list;
    __builtin_va_start(list, format);
    int n = vsnprintf(small, sizeof small, format, list);
    __builtin_va_end(list);
    if (n >= (int)sizeof small && (text = (char *)malloc(n + 1ul))) {
        __builtin_va_start(list, format);
        n = vsnprintf(text, n + 1ul, format, list);
        __builtin_va_end(list);
    }
    gocuda::write_out(text, n > 0 ? (unsigned long)n : 0, small);
    return n;
}
}
