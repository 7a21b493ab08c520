// Kernels in PTX that run a block by themselves, in loops over its threads from barrier to
// barrier, may have threads that wait at different ones (package ptx/cpp).
#pragma once

namespace gocuda {

// Regions is where the threads of a block are. As long as all go on in the same region, nothing
// but its number is kept.
struct Regions {
    gocuda_u8 *at, *to;   // each thread's region, and where it is to go on
    gocuda_u32 n, end;    // threads; the number that stands for the kernel's end
    gocuda_u32 live;      // threads that have not ended
    gocuda_u32 next;      // the region to run
    gocuda_u64 left;      // those that this round has still to run
    gocuda_u32 voting, votes, met; // of the barrier that threads come to, and of the last
    bool split;
};

// meet is the barrier itself.
static GOCUDA_INLINE GOCUDA_RAW void meet(Regions &w) {
    met(w.live);
    w.met = w.live, w.votes = w.voting, w.voting = 0;
}

// settle chooses the region to run after one from which threads went on as seen says. It reports
// whether all have ended.
static __attribute__((noinline)) GOCUDA_RAW bool settle(Regions &w, gocuda_u64 seen) {
    bool first = !w.split;
    if (first && !(seen & (seen - 1))) {
        w.next = (gocuda_u32)__builtin_ctzl(seen);
        if (w.next == w.end) return true;
        meet(w);
        return false;
    }
    if (!first && (w.left &= w.left - 1)) {
        w.next = (gocuda_u32)__builtin_ctzl(w.left);
        return false;
    }
    w.live = 0, w.left = 0;
    for (gocuda_u32 t = 0; t < w.n; t++) {
        if (first || w.at[t] != w.end) w.at[t] = w.to[t];
        if (w.at[t] == w.end) continue;
        w.live++;
        w.left |= 1ul << w.at[t];
    }
    if (!w.live) return true;
    meet(w);
    w.split = w.live < w.n || (w.left & (w.left - 1));
    w.next = (gocuda_u32)__builtin_ctzl(w.left);
    return false;
}

// kept and keep reach what threads keep, without a check.
template <class T> static GOCUDA_INLINE T kept(const T *p) {
#ifdef GOCUDA_CHECK
    if constexpr (sizeof(T) == 8) {
        gocuda_u64 v;
        asm("movq %1, %0" : "=r"(v) : "m"(*p));
        return bits_as<T>(v);
    } else if constexpr (sizeof(T) == 4) {
        gocuda_u32 v;
        asm("movl %1, %0" : "=r"(v) : "m"(*p));
        return bits_as<T>(v);
    } else {
        gocuda_u32 v;
        if constexpr (sizeof(T) == 2) asm("movzwl %1, %0" : "=r"(v) : "m"(*p));
        else asm("movzbl %1, %0" : "=r"(v) : "m"(*p));
        return (T)v;
    }
#else
    return *p;
#endif
}
template <class T> static GOCUDA_INLINE void keep(T *p, T v) {
#ifdef GOCUDA_CHECK
    if constexpr (sizeof(T) == 8) asm("movq %1, %0" : "=m"(*p) : "r"(bits_as<gocuda_u64>(v)));
    else if constexpr (sizeof(T) == 4) asm("movl %1, %0" : "=m"(*p) : "r"(bits_as<gocuda_u32>(v)));
    else if constexpr (sizeof(T) == 2) asm("movw %1, %0" : "=m"(*p) : "r"(v));
    else asm("movb %1, %0" : "=m"(*p) : "q"((gocuda_u8)v));
#else
    *p = v;
#endif
}

// Atomic operations on shared memory where a loop runs the threads of a block.
#define GOCUDA_SHARED(name, expr)                                        \
    template <class T> static GOCUDA_INLINE T shared_##name(T *p, T v) { \
        T o = *p;                                                        \
        *p = expr;                                                       \
        return o;                                                        \
    }
GOCUDA_SHARED(add, o + v)
GOCUDA_SHARED(and, o & v)
GOCUDA_SHARED(or, o | v)
GOCUDA_SHARED(xor, o ^ v)
GOCUDA_SHARED(exch, v)
GOCUDA_SHARED(min, o < v ? o : v)
GOCUDA_SHARED(max, o > v ? o : v)
GOCUDA_SHARED(inc, o >= v ? 0 : o + 1)
GOCUDA_SHARED(dec, o == 0 || o > v ? v : o - 1)
#undef GOCUDA_SHARED
template <class T> static GOCUDA_INLINE T shared_cas(T *p, T expect, T v) {
    T o = *p;
    if (o == expect) *p = v;
    return o;
}

} // namespace gocuda

#define GOCUDA_REGIONS(bytes) \
    GOCUDA_WHOLE(bytes);      \
    char *const gocuda_shared = (char *)gocuda::dynamic_shared(); \
    gocuda_u32 go_voted = 0, go_came = 0
#define GOCUDA_APART(last)                                                                     \
    gocuda_u8 *const go_where_at = (gocuda_u8 *)__builtin_alloca(2 * go_n), *const go_where_to = go_where_at + go_n; \
    gocuda::Regions go_where{go_where_at, go_where_to, go_n, last, go_n, 0, 0, 0, 0, 0, false}
// GOCUDA_STRIPS goes on by itself: by one thread, or by eight.
#define GOCUDA_STRIPS                                     \
    for (long long go_z = 0, go_t = 0; go_z < go_dim_z; go_z++) \
        for (long long go_y = 0; go_y < go_dim_y; go_y++) \
            for (long long go_x = 0; go_x < go_dim_x;)
#define GOCUDA_VOTED go_voted = go_where.votes, go_came = go_where.met
// What the thread that runs is told.
#define GOCUDA_TOLD                                                                            \
    const gocuda::Index gocuda_index{uint3{(gocuda_u32)go_x, (gocuda_u32)go_y, (gocuda_u32)go_z}, uint3{go_block_x, go_block_y, go_block_z}, \
        dim3(go_dim_x, go_dim_y, go_dim_z), dim3(go_grid_x, go_grid_y, go_grid_z)}
#define GOCUDA_ASKED \
    GOCUDA_AT;       \
    gocuda::store(go_self->order, (gocuda_u32)go_t)
