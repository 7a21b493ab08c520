struct string {
    const u8 *ptr; i64 len;
    u8 operator[](i64 i) const { return ptr[i]; }
};
GO_FUNC bool operator==(string a, string b) { return a.len == b.len && (a.ptr == b.ptr || __builtin_memcmp(a.ptr, b.ptr, a.len) == 0); }
GO_FUNC bool operator!=(string a, string b) { return !(a == b); }
static inline i64 compare(string a, string b) {
    int c = __builtin_memcmp(a.ptr, b.ptr, a.len < b.len ? a.len : b.len);
    return c ? c : a.len < b.len ? -1 : a.len > b.len;
}
GO_FUNC bool operator<(string a, string b) { return compare(a, b) < 0; }
GO_FUNC bool operator<=(string a, string b) { return compare(a, b) <= 0; }
GO_FUNC bool operator>(string a, string b) { return compare(a, b) > 0; }
GO_FUNC bool operator>=(string a, string b) { return compare(a, b) >= 0; }
GO_FUNC string substring(string s, i64 lo, i64 hi) { return string{hi > lo ? s.ptr + lo : s.ptr, hi - lo}; }
// decode gives the character at s[i] and how many bytes it has: utf8.DecodeRuneInString.
struct decoded { i32 rune; i64 size; };
static GO_COLD decoded decode(string s, i64 i) {
    const u8 *p = s.ptr + i;
    i64 n = s.len - i;
    u8 a = p[0], lo = 0x80, hi = 0xbf;
    i64 size = a >= 0xc2 && a <= 0xdf ? 2 : a >= 0xe0 && a <= 0xef ? 3 : a >= 0xf0 && a <= 0xf4 ? 4 : 0;
    if (a < 0x80) return decoded{a, 1};
    if (size == 0 || n < size) return decoded{0xfffd, 1};
    if (a == 0xe0) lo = 0xa0; else if (a == 0xed) hi = 0x9f; else if (a == 0xf0) lo = 0x90; else if (a == 0xf4) hi = 0x8f;
    if (p[1] < lo || p[1] > hi) return decoded{0xfffd, 1};
    if (size == 2) return decoded{(a & 0x1f) << 6 | (p[1] & 0x3f), 2};
    if (p[2] < 0x80 || p[2] > 0xbf) return decoded{0xfffd, 1};
    if (size == 3) return decoded{(a & 0x0f) << 12 | (p[1] & 0x3f) << 6 | (p[2] & 0x3f), 3};
    if (p[3] < 0x80 || p[3] > 0xbf) return decoded{0xfffd, 1};
    return decoded{(a & 0x07) << 18 | (p[1] & 0x3f) << 12 | (p[2] & 0x3f) << 6 | (p[3] & 0x3f), 4};
}
GO_FUNC i64 rune_size(string s, i64 i) { return s.ptr[i] < 0x80 ? 1 : decode(s, i).size; }
GO_FUNC i32 rune(string s, i64 i) { return s.ptr[i] < 0x80 ? s.ptr[i] : decode(s, i).rune; }
GO_FUNC i64 copy(slice<u8> dst, string src) {
    i64 n = dst.len < src.len ? dst.len : src.len;
    __builtin_memmove(dst.ptr, src.ptr, n);
    return n;
}

// record is what a call is told and what it tells, in memory of Go: package native
// has it, too.
enum state : u32 { returned, panicked, interrupted, overflowed };
struct record {
    const volatile u32 *stop; // not 0: the call is to end
    u32 state, site;          // how it ended, and where
    i64 args[4];              // the numbers of a panic
    u32 calls, trace[100];    // the places of calls that it came through, the innermost first
    u32 what, type;           // what Go is asked in the middle of it: memory.h
    u64 in[4], out[2];
    void *held;               // what its functions hold then: a root_frame
    const volatile u32 *watch; // not 0: a loop that can be left is
};
// thread is what functions know of the call that they are part of.
// told says that elements of slices change places by Go's stores: see hold.
struct thread { const volatile u32 *stop; char *limit; record *call; bool dead; void *held; bool told; };
static GO_COLD void tell(record *r, u32 state, u32 site, i64 a, i64 b, i64 c, i64 d) {
    r->state = state; r->site = site; r->calls = 0;
    r->args[0] = a; r->args[1] = b; r->args[2] = c; r->args[3] = d;
}
GO_FUNC void panic(thread &go, u32 site, i64 a = 0, i64 b = 0, i64 c = 0, i64 d = 0) {
    go.dead = true;
    tell(go.call, panicked, site, a, b, c, d);
}
static GO_COLD void noted(record *r, u32 site) { if (r->calls < 100) r->trace[r->calls++] = site; }
GO_FUNC void came(thread &go, u32 site) { noted(go.call, site); }
// stopped is asked in loops. What other goroutines store is seen in the next turn, as
// in compiled Go.
GO_FUNC bool stopped(thread &go, u32 site) {
    __asm__ volatile("" ::: "memory");
    if (!GO_RARELY(*go.stop)) return false;
    go.dead = true;
    tell(go.call, interrupted, site, 0, 0, 0, 0);
    return true;
}
// watched is asked at the heads of loops that can be left.
GO_FUNC bool watched(thread &go) { return GO_RARELY(*go.call->watch); }
// deep says whether a function that calls itself must not be entered.
GO_FUNC bool deep(thread &go, u32 site) {
    if (GO_RARELY((char *)__builtin_frame_address(0) < go.limit)) {
        go.dead = true;
        tell(go.call, overflowed, site, 0, 0, 0, 0);
        return true;
    }
    return stopped(go, site);
}
// limit is the address below which the thread's stack must not be used.
static __thread char *stack_limit;
static GO_COLD char *find_limit() {
    u64 attr[32];
    void *low = 0;
    unsigned long size = 0;
    if (pthread_getattr_np(pthread_self(), attr)) return 0;
    pthread_attr_getstack(attr, &low, &size);
    pthread_attr_destroy(attr);
    const unsigned long most = 256 << 20; // of a stack without a limit
    if (size > most) low = (char *)low + (size - most);
    return stack_limit = (char *)low + (1536 << 10);
}
GO_FUNC thread enter(record *r) {
    thread go = {r->stop, stack_limit, r, false, 0, true};
    if (GO_RARELY(!go.limit)) go.limit = find_limit();
    deep(go, 0);
    return go;
}

// Functions of Go's package math, by their numbers.
static f64 (*go_call)(void *fn, f64 x, f64 y);
static void **go_functions;
GO_FUNC f64 via(i64 i, f64 x, f64 y = 0) { return go_call(go_functions[i], x, y); }
