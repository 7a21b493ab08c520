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
// can see through.
template <auto F, bool plain> struct Told;
template <class... A, void (*F)(const Index &, A...), bool plain> struct Told<F, plain> {
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
        t->waited = t->plain = 1; // nobody need be told of the threads
        block(t, *(A *)(p + offset<I, A...>())...);
        t->plain = 0;
        t->order = GOCUDA_NOBODY;
        b->live = 0;
    }

    static GOCUDA_RAW void body(Thread *t) {
        if constexpr (plain)
            if (!t->worker->launch->reversed) return straight(t, t->worker->launch->params, All());
        loop(t, t->worker->launch->params, All());
    }
    static GOCUDA_RAW Kernel describe(const char *name) { return {name, (const void *)F, body, Params<A...>::all(), sizeof...(A)}; }
};

static GOCUDA_INLINE void *dynamic_shared() { return load(self()->shared); }

// DynamicShared stands for an extern __shared__ array at namespace scope.
template <class T> struct DynamicShared {
    GOCUDA_INLINE operator T *() const { return (T *)dynamic_shared(); }
};

} // namespace gocuda
