// What threads do to places that others may change at the same time, where
// races are to show (races.go).
#pragma once

namespace gocuda {

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
