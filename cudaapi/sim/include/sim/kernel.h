// How the host finds a kernel, learns its parameters and runs it.
#pragma once

namespace gocuda {

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

template <class... A> struct Params {
    template <unsigned... I> static GOCUDA_RAW const Param *table(Indices<I...>) {
        static constexpr Param p[] = {{offset<I, A...>(), (gocuda_u32)sizeof(A)}..., {0, 0}};
        return p;
    }
    static GOCUDA_RAW const Param *all() { return table(typename MakeIndices<sizeof...(A)>::type()); }
};

// Index is what a kernel finds under threadIdx, blockIdx, blockDim and gridDim
// where its source was rewritten to take it as a parameter (scan.go): the
// compiler then knows that nothing else changes it.
struct Index {
    uint3 thread, block;
    dim3 dim, grid;
};

static GOCUDA_INLINE GOCUDA_RAW Index index_of(Thread *t) {
    return Index{uint3{0, 0, 0}, block_index(), block_dim(), grid_dim()};
}

// each runs the block's threads that are not started, one after another for as
// long as none has to wait. The counts live in registers: going through memory
// for each thread would take longer than a small kernel.
template <class F> static inline GOCUDA_RAW __attribute__((always_inline)) void each(Thread *t, F run) {
    const gocuda_u32 n = t->worker->threads, dimx = t->dimx, dimy = t->dimy, reversed = t->worker->launch->reversed;
    if (!enter(t)) return;
    gocuda_u32 order = t->order, x = t->threadx, y = t->thready, z = t->threadz;
    for (;;) {
        run(x, y, z);
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

// hide keeps from the compiler which function is called where accesses are
// checked: it would leave out one whose only effect is to go wrong.
template <class F> static GOCUDA_INLINE GOCUDA_RAW F hide(F f) {
#ifdef GOCUDA_CHECK
    asm("" : "+r"(f));
#endif
    return f;
}

// Run runs a kernel that finds out by itself which thread it is.
template <auto F> struct Run;
template <class... A, void (*F)(A...)> struct Run<F> {
    typedef typename MakeIndices<sizeof...(A)>::type All;

    template <unsigned... I> static GOCUDA_LOOP void loop(Thread *t, const gocuda_u8 *p, Indices<I...>) {
        auto f = hide(F);
        each(t, [&](gocuda_u32, gocuda_u32, gocuda_u32) GOCUDA_LAMBDA { f(*(A *)(p + offset<I, A...>())...); });
    }
    static GOCUDA_RAW void body(Thread *t) { loop(t, t->worker->launch->params, All()); }
    static GOCUDA_RAW Kernel describe(const char *name) { return {name, (const void *)F, body, Params<A...>::all(), sizeof...(A)}; }
};

// Told runs a kernel that is told which thread it is. If it is plain, no thread
// waits for another or asks for more, and a block is a loop that the compiler
// can see through. W, if any, runs a block by itself, in loops over its threads from
// barrier to barrier, unless it says that it has no room for what they keep.
template <auto F, bool plain, auto W = nullptr> struct Told;
template <class... A, void (*F)(const Index &, A...), bool plain, auto W> struct Told<F, plain, W> {
    typedef typename MakeIndices<sizeof...(A)>::type All;

    template <unsigned... I> static GOCUDA_LOOP void loop(Thread *t, const gocuda_u8 *p, Indices<I...>) {
        auto f = hide(F);
        Index i = index_of(t);
        each(t, [&](gocuda_u32 x, gocuda_u32 y, gocuda_u32 z) GOCUDA_LAMBDA {
            i.thread = uint3{x, y, z};
            f(i, *(A *)(p + offset<I, A...>())...);
        });
    }

    // block is compiled with the kernel's checks, so it touches nothing else.
    static __attribute__((noinline)) void block(Thread *t, A... a) {
        Index i = index_of(t);
        const gocuda_u32 dimx = i.dim.x, dimy = i.dim.y, dimz = i.dim.z;
#ifdef GOCUDA_CHECK
        gocuda_u32 order = 0;
#endif
        for (gocuda_u32 z = 0; z < dimz; z++)
            for (gocuda_u32 y = 0; y < dimy; y++)
#pragma GCC ivdep
                for (gocuda_u32 x = 0; x < dimx; x++) {
                    i.thread = uint3{x, y, z};
#ifdef GOCUDA_CHECK
                    store(t->order, order++); // so that a failure finds its thread
#endif
                    F(i, a...);
                }
    }

    template <unsigned... I> static GOCUDA_RAW void straight(Thread *t, const gocuda_u8 *p, Indices<I...>) {
        Block *b = t->block;
        b->started = t->worker->threads;
        t->waited = t->plain = 1; // nobody need be told about the threads
        block(t, *(A *)(p + offset<I, A...>())...);
        t->plain = 0;
        t->order = GOCUDA_NOBODY;
        b->live = 0;
    }

    template <unsigned... I> static GOCUDA_RAW bool whole(Thread *t, const gocuda_u8 *p, Indices<I...>) {
        Block *b = t->block;
        b->started = t->worker->threads;
        t->waited = t->plain = 1;
        bool done = W(index_of(t), *(A *)(p + offset<I, A...>())...);
        t->plain = 0;
        t->order = GOCUDA_NOBODY;
        if (done) b->live = 0;
        else b->started = t->waited = 0;
        return done;
    }

    static GOCUDA_RAW void body(Thread *t) {
        if constexpr (W != nullptr)
            if (!t->worker->launch->reversed && whole(t, t->worker->launch->params, All())) return;
        if constexpr (plain)
            if (!t->worker->launch->reversed) return straight(t, t->worker->launch->params, All());
        loop(t, t->worker->launch->params, All());
    }
    static GOCUDA_RAW Kernel describe(const char *name) { return {name, (const void *)F, body, Params<A...>::all(), sizeof...(A)}; }
};

// at notes which thread of the block runs, for those who ask.
static GOCUDA_INLINE GOCUDA_RAW void at(Thread *t, gocuda_u32 x, gocuda_u32 y, gocuda_u32 z, gocuda_u32 rank) {
    t->threadx = x, t->thready = y, t->threadz = z, t->rank = rank;
}

static __attribute__((noinline)) GOCUDA_RAW void clear(gocuda_u8 *p, gocuda_u32 n) {
    while (n--) p[n] = 0;
}

static GOCUDA_INLINE void *dynamic_shared() { return load(self()->shared); }

// DynamicShared stands for an extern __shared__ array at namespace scope.
template <class T> struct DynamicShared {
    GOCUDA_INLINE operator T *() const { return (T *)dynamic_shared(); }
};

} // namespace gocuda

// What functions are made of that run a block by themselves (package gokernel).
#define __gocuda_whole__ static __attribute__((noinline))
#define GOCUDA_KEEPS (112u << 10) // bytes, of the stack, that the threads may keep from barrier to barrier
// Of the index only copies are used: nothing that is written can change them.
#define GOCUDA_WHOLE(bytes) \
    const gocuda_u32 go_block_x = gocuda::load(gocuda_index.block.x), go_block_y = gocuda::load(gocuda_index.block.y), go_block_z = gocuda::load(gocuda_index.block.z); \
    const gocuda_u32 go_dim_x = gocuda::load(gocuda_index.dim.x), go_dim_y = gocuda::load(gocuda_index.dim.y), go_dim_z = gocuda::load(gocuda_index.dim.z); \
    const gocuda_u32 go_grid_x = gocuda::load(gocuda_index.grid.x), go_grid_y = gocuda::load(gocuda_index.grid.y), go_grid_z = gocuda::load(gocuda_index.grid.z); \
    const gocuda_u32 go_n = go_dim_x * go_dim_y * go_dim_z; \
    if ((bytes) * go_n > GOCUDA_KEEPS) return false; \
    gocuda::Thread *const go_self = gocuda::self(); \
    const long long go_first = (long long)(go_block_x + (unsigned long long)go_grid_x * (go_block_y + (unsigned long long)go_grid_y * go_block_z)) * go_n; \
    gocuda_u32 go_live = go_n, go_votes = 0
// Which threads have gone is noted, and read, from the first that goes.
#define GOCUDA_ENDS gocuda_u8 *const go_gone = (gocuda_u8 *)__builtin_alloca(go_n)
#define GOCUDA_GOES \
    if (go_live-- == go_n) gocuda::clear(go_gone, go_n); \
    go_gone[go_t] = 1
#define GOCUDA_THREADS \
    for (long long go_z = 0, go_t = 0; go_z < go_dim_z; go_z++) \
        for (long long go_y = 0; go_y < go_dim_y; go_y++) \
            for (long long go_x = 0; go_x < go_dim_x; go_x++, go_t++)
#ifdef GOCUDA_CHECK
#define GOCUDA_THREAD gocuda::store(go_self->order, go_t) // so that a failure finds it
#else
#define GOCUDA_THREAD
#endif
#define GOCUDA_AT gocuda::at(go_self, go_x, go_y, go_z, go_t)
#define GOCUDA_MEET gocuda::met(go_live)
#define GOCUDA_GRID_RANK (go_first + go_t)
#define GOCUDA_GRID_SIZE ((long long)go_grid_x * go_grid_y * go_grid_z * go_n)
