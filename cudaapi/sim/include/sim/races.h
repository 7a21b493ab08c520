// What threads do to places that others may change at the same time, where
// races are to show (races.go).
#pragma once

namespace gocuda {

// between is where others may come in. Now and then the threads of the block
// do, and blocks on other cores have time to. The first to be interrupted goes
// on last, so that all that the others did is lost.
static __attribute__((noinline)) GOCUDA_RAW void between() {
    Thread *t = self();
    Worker *w = t->worker;
    if (w->patience--) return;
    w->patience = 7;
    yield(t->waited); // not first twice: it may be in a loop
    moved(t->block);
    for (int i = 0; i < 50; i++) {
#if defined(__x86_64__)
        asm volatile("pause" ::: "memory");
#else
        asm volatile("yield" ::: "memory");
#endif
    }
}

template <class T> struct Slow {
    T &place;

    template <class F> GOCUDA_INLINE T &change(F f) {
        auto v = place;
        f(v);
        between();
        return place = v;
    }
    template <class U> GOCUDA_INLINE T &operator=(const U &u) {
        between();
        return place = u;
    }
#define GOCUDA_SLOW(op) \
    template <class U> GOCUDA_INLINE T &operator op(const U &u) { return change([&](auto &v) __attribute__((always_inline)) { v op u; }); }
    GOCUDA_SLOW(+=)
    GOCUDA_SLOW(-=)
    GOCUDA_SLOW(*=)
    GOCUDA_SLOW(/=)
    GOCUDA_SLOW(%=)
    GOCUDA_SLOW(&=)
    GOCUDA_SLOW(|=)
    GOCUDA_SLOW(^=)
#undef GOCUDA_SLOW
    GOCUDA_INLINE T &operator++() { return change([](auto &v) __attribute__((always_inline)) { ++v; }); }
    GOCUDA_INLINE T &operator--() { return change([](auto &v) __attribute__((always_inline)) { --v; }); }
    GOCUDA_INLINE auto operator++(int) {
        auto v = place;
        ++*this;
        return v;
    }
    GOCUDA_INLINE auto operator--(int) {
        auto v = place;
        --*this;
        return v;
    }
};

template <class T> static GOCUDA_INLINE Slow<T> slow(T &place) { return Slow<T>{place}; }

} // namespace gocuda
