// How the host finds a kernel, learns its parameters and runs it.
#pragma once

namespace gocuda {

struct Param {
    gocuda_u32 offset, size;
};

// Kernel describes one __global__ function (module.go has the same layout).
struct Kernel {
    const char *name; // as written: a function's name or a template's instance
    const void *function;
    void (*body)(Thread *);
    const Param *params;
    gocuda_u64 nparams;
};

template <unsigned I, class... A> struct Nth;
template <class T, class... A> struct Nth<0, T, A...> { typedef T type; };
template <unsigned I, class T, class... A> struct Nth<I, T, A...> { typedef typename Nth<I - 1, A...>::type type; };

// offset is where parameter I lies: as in a struct of all of them.
template <unsigned I, class... A> constexpr gocuda_u32 offset() {
    if constexpr (I == 0) {
        return 0;
    } else {
        typedef typename Nth<I, A...>::type T;
        typedef typename Nth<I - 1, A...>::type Before;
        return (offset<I - 1, A...>() + (gocuda_u32)sizeof(Before) + (gocuda_u32)alignof(T) - 1) / (gocuda_u32)alignof(T) * (gocuda_u32)alignof(T);
    }
}

template <unsigned... I> struct Indices {};
template <unsigned N, unsigned... I> struct MakeIndices : MakeIndices<N - 1, N - 1, I...> {};
template <unsigned... I> struct MakeIndices<0, I...> { typedef Indices<I...> type; };

template <auto F> struct Run;
template <class... A, void (*F)(A...)> struct Run<F> {
    typedef typename MakeIndices<sizeof...(A)>::type All;

    template <unsigned... I> static GOCUDA_RAW const Param *table(Indices<I...>) {
        static constexpr Param p[] = {{offset<I, A...>(), (gocuda_u32)sizeof(A)}..., {0, 0}};
        return p;
    }

    // The counts live in registers: going through memory for each thread would
    // take longer than a small kernel. Where accesses are checked the compiler
    // must not see which function it calls, or it would leave out one whose only
    // effect is to go wrong.
    template <unsigned... I> static GOCUDA_RAW void loop(Thread *t, const gocuda_u8 *p, Indices<I...>) {
        const gocuda_u32 n = t->worker->threads, dimx = t->dimx, dimy = t->dimy, reversed = t->worker->launch->reversed;
        void (*f)(A...) = F;
#ifdef GOCUDA_CHECK
        asm("" : "+r"(f));
#endif
        if (enter(t)) {
            gocuda_u32 order = t->order, x = t->threadx, y = t->thready, z = t->threadz;
            for (;;) {
                f(*(A *)(p + offset<I, A...>())...);
                if (__builtin_expect(t->waited | reversed, 0)) {
                    if (!go_on(t)) return;
                    order = t->order, x = t->threadx, y = t->thready, z = t->threadz;
                    continue;
                }
                if (++order == n) return finish(t, n);
                if (__builtin_expect(++x == dimx, 0)) {
                    x = 0;
                    if (++y == dimy) y = 0, t->threadz = ++z;
                    t->thready = y;
                }
                t->threadx = x;
                t->rank = t->order = order;
            }
        }
    }

    static GOCUDA_RAW void body(Thread *t) { loop(t, t->worker->launch->params, All()); }

    static GOCUDA_RAW Kernel describe(const char *name) {
        return {name, (const void *)F, body, table(All()), sizeof...(A)};
    }
};

static GOCUDA_INLINE void *dynamic_shared() { return load(self()->shared); }

// DynamicShared stands for an extern __shared__ array at namespace scope.
template <class T> struct DynamicShared {
    GOCUDA_INLINE operator T *() const { return (T *)dynamic_shared(); }
};

} // namespace gocuda

extern "C" __attribute__((visibility("default"))) GOCUDA_RAW void gocuda_run(gocuda::Launch *l, gocuda::Worker *w, const gocuda::Kernel *k) {
    w->launch = l;
    w->body = k->body;
    w->threads = l->block[0] * l->block[1] * l->block[2];
    w->idle = nullptr;
    w->used = w->dead = 0;
    if (l->cooperative)
        gocuda::run_together(l, w);
    else
        gocuda::run(l, w);
    gocuda::tally(w);
}

// The sizes that the host must agree on.
extern "C" {
__attribute__((visibility("default"))) gocuda_u64 gocuda_sizes[] = {sizeof(gocuda::Launch), sizeof(gocuda::Worker), sizeof(gocuda::Block)};
}

static __thread gocuda_u64 gocuda_tls_anchor __attribute__((used));
extern "C" __attribute__((visibility("default"))) GOCUDA_RAW void *gocuda_tls() { return &gocuda_tls_anchor; }
