// What C++ leaves open and a GPU does not: shifts by more than the bits, and
// numbers that do not fit the integer that they are converted to. defined.go
// makes a << n a << gocuda::left << n, and (int)x (int)(gocuda::To<int>)x.
#pragma once

namespace gocuda {

struct Left {};
struct Right {};
struct LeftIn {};
struct RightIn {};
inline constexpr Left left{};
inline constexpr Right right{};
inline constexpr LeftIn left_in{};
inline constexpr RightIn right_in{};

template <bool B, class T = void> struct If {};
template <class T> struct If<true, T> { typedef T type; };
template <class T> struct Bare { typedef T type; };
template <class T> struct Bare<T &> { typedef T type; };
template <class T> struct Bare<T &&> { typedef T type; };
template <class T> using bare = typename Bare<T>::type;
template <class T> inline constexpr bool is_class = __is_class(bare<T>) || __is_union(bare<T>);

#define GOCUDA_DEFINED constexpr GOCUDA_INLINE __attribute__((no_instrument_function))

// beyond says whether n are more than a T's bits.
template <class T, class U> static GOCUDA_DEFINED bool beyond(U n) {
    return (unsigned)n >= sizeof(T) * 8;
}
template <class T, class U> static GOCUDA_DEFINED auto shift_left(T v, U n) {
    return beyond<decltype(+v)>(n) ? (decltype(+v))0 : (decltype(+v))(v << n);
}
template <class T, class U> static GOCUDA_DEFINED auto shift_right(T v, U n) {
    return beyond<decltype(+v)>(n) ? (decltype(+v))(+v >> (sizeof(+v) * 8 - 1) >> 1) : (decltype(+v))(v >> n);
}

// A number, or a reference to an object, that is about to be shifted.
template <class T> struct Shifted {
    T v;
    template <class U> GOCUDA_DEFINED friend decltype(auto) operator<<(Shifted s, U &&n) {
        if constexpr (is_class<T> || is_class<U>) return s.v << (U &&)n;
        else return shift_left(s.v, n);
    }
    template <class U> GOCUDA_DEFINED friend decltype(auto) operator>>(Shifted s, U &&n) {
        if constexpr (is_class<T> || is_class<U>) return s.v >> (U &&)n;
        else return shift_right(s.v, n);
    }
    template <class U> GOCUDA_DEFINED friend decltype(auto) operator<<=(Shifted s, U &&n) {
        if constexpr (is_class<T> || is_class<U>) return s.v <<= (U &&)n;
        else return s.v = (bare<T>)shift_left((bare<T>)s.v, n);
    }
    template <class U> GOCUDA_DEFINED friend decltype(auto) operator>>=(Shifted s, U &&n) {
        if constexpr (is_class<T> || is_class<U>) return s.v >>= (U &&)n;
        else return s.v = (bare<T>)shift_right((bare<T>)s.v, n);
    }
};

#define GOCUDA_SHIFT(op, Tag)                                                                                                          \
    template <class T, class = typename If<!is_class<T>>::type> static GOCUDA_DEFINED Shifted<T> operator op(T v, Tag) { return {v}; }       \
    template <class T, class = typename If<is_class<T>>::type> static GOCUDA_DEFINED Shifted<T &&> operator op(T &&v, Tag) { return {(T &&)v}; } \
    template <class T> static GOCUDA_DEFINED Shifted<T &> operator op(T &v, Tag##In) { return {v}; }
GOCUDA_SHIFT(<<, Left)
GOCUDA_SHIFT(>>, Right)
#undef GOCUDA_SHIFT

// clamped is x as an integer, or the nearest that there is. A NaN is 0, but where
// either has 64 bits the highest bit alone.
template <class T, class F> static GOCUDA_DEFINED T clamped(F x) {
    constexpr bool wide = sizeof(F) == 8 || sizeof(T) == 8, sign = (T)-1 < 0;
    constexpr T high = (T)((T)1 << (sizeof(T) * 8 - 1)), least = sign ? high : (T)0, most = sign ? (T)~high : (T)~(T)0;
    constexpr F beyond = (F)(1ull << (sizeof(T) * 8 - 1)) * (sign ? (F)1 : (F)2);
    if (x != x) return wide ? high : (T)0;
    if (x >= beyond) return most;
    if (sign ? x < -beyond : x <= (F)0) return least;
    return (T)x;
}

// To is an integer made of anything. Those of less than 32 bits are the lower
// bits of one that has them.
template <class T> struct To {
    T v;
    template <class F> GOCUDA_DEFINED To(F x) : v(from(x)) {}
    template <class F> static GOCUDA_DEFINED T from(F x) {
        if constexpr (same<F, float>::yes || same<F, double>::yes) {
            if constexpr (sizeof(T) >= 4) return clamped<T>(x);
            else if constexpr ((T)-1 < 0) return (T)clamped<int>(x);
            else return (T)clamped<unsigned>(x);
        } else {
            return (T)x;
        }
    }
    GOCUDA_DEFINED operator T() const { return v; }

  private:
    template <class A, class B> struct same { static constexpr bool yes = false; };
    template <class A> struct same<A, A> { static constexpr bool yes = true; };
};

} // namespace gocuda
