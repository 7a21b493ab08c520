// outside says whether an index is not one of n elements.
GO_FUNC bool outside(i64 i, i64 n) { return (u64)i >= (u64)n; }
GO_FUNC bool outside(u64 i, i64 n) { return i >= (u64)n; }
GO_FUNC bool bad_slice(i64 lo, i64 hi, i64 max, i64 cap) { return (u64)max > (u64)cap || (u64)hi > (u64)max || (u64)lo > (u64)hi; }

// Integers wrap, as Go's do; C++ leaves signed overflow undefined.
template <class T, bool wide = (sizeof(T) > 4)> struct bits_of { typedef u32 type; };
template <class T> struct bits_of<T, true> { typedef u64 type; };
template <class T> GO_FUNC T add(T a, T b) { typedef typename bits_of<T>::type U; return (T)((U)a + (U)b); }
template <class T> GO_FUNC T sub(T a, T b) { typedef typename bits_of<T>::type U; return (T)((U)a - (U)b); }
template <class T> GO_FUNC T mul(T a, T b) {
    typedef typename bits_of<T>::type U;
    U x = (U)a, y = (U)b;
#if (!defined __CUDACC__ || defined __GOCUDA_SIM__) && !defined __clang__
    // g++ 12 takes x = x * x in a loop for the product of many numbers, and gives x.
    if (__builtin_constant_p(x == y) && x == y) __asm__("" : "+r"(y));
#endif
    return (T)(x * y);
}
template <class T> GO_FUNC T neg(T a) { typedef typename bits_of<T>::type U; return (T)((U)0 - (U)a); }
template <class T> GO_FUNC T div(T a, T b) { if ((T)-1 < (T)0 && b == (T)-1) return neg(a); return (T)(a / b); }
template <class T> GO_FUNC T rem(T a, T b) { if ((T)-1 < (T)0 && b == (T)-1) return 0; return (T)(a % b); }
template <class T> GO_FUNC T shl(T a, u64 n) { typedef typename bits_of<T>::type U; return n < 8 * sizeof(T) ? (T)((U)a << n) : (T)0; }
template <class T> GO_FUNC T shr(T a, u64 n) { if (n >= 8 * sizeof(T)) return (T)-1 < (T)0 && a < (T)0 ? (T)-1 : (T)0; return (T)(a >> n); }

// conv converts numbers. From floating point to integers it does what amd64 does
// with what does not fit.
template <class To, class From> struct converter { static __device__ __forceinline__ To of(From x) { return (To)x; } };
GO_FUNC i64 to_i64(f64 x) { return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (i64)x : (i64)((u64)1 << 63); }
GO_FUNC i32 to_i32(f64 x) { return x > -2147483649.0 && x < 2147483648.0 ? (i32)x : (i32)0x80000000u; }
GO_FUNC u64 to_u64(f64 x) { return x < 9223372036854775808.0 ? (u64)to_i64(x) : (u64)to_i64(x - 9223372036854775808.0) ^ ((u64)1 << 63); }
#define GO_FROM_FLOAT(F) \
    template <> struct converter<i64, F> { static __device__ __forceinline__ i64 of(F x) { return to_i64((f64)x); } }; \
    template <> struct converter<u64, F> { static __device__ __forceinline__ u64 of(F x) { return to_u64((f64)x); } }; \
    template <> struct converter<i32, F> { static __device__ __forceinline__ i32 of(F x) { return to_i32((f64)x); } }; \
    template <> struct converter<u32, F> { static __device__ __forceinline__ u32 of(F x) { return (u32)to_i64((f64)x); } }; \
    template <> struct converter<i16, F> { static __device__ __forceinline__ i16 of(F x) { return (i16)to_i32((f64)x); } }; \
    template <> struct converter<u16, F> { static __device__ __forceinline__ u16 of(F x) { return (u16)to_i32((f64)x); } }; \
    template <> struct converter<i8, F> { static __device__ __forceinline__ i8 of(F x) { return (i8)to_i32((f64)x); } }; \
    template <> struct converter<u8, F> { static __device__ __forceinline__ u8 of(F x) { return (u8)to_i32((f64)x); } };
GO_FROM_FLOAT(f32)
GO_FROM_FLOAT(f64)
template <> struct converter<c64, c128> { static __device__ __forceinline__ c64 of(c128 x) { return c64{(f32)x.re, (f32)x.im}; } };
template <> struct converter<c128, c64> { static __device__ __forceinline__ c128 of(c64 x) { return c128{x.re, x.im}; } };
template <class To, class From> GO_FUNC To conv(From x) { return converter<To, From>::of(x); }

// cast is for types of one layout and different names.
template <class To, class From> GO_FUNC To cast(const From &x) {
    union { From from; To to; } u = {x};
    return u.to;
}

template <class T> GO_FUNC bool equal(const T &a, const T &b) { return a == b; }
template <class T, i64 N> GO_FUNC bool equal(const array<T, N> &a, const array<T, N> &b) {
    for (i64 i = 0; i < N; i++) if (!equal(a.at[i], b.at[i])) return false;
    return true;
}
template <class T> GO_FUNC bool operator==(complex<T> a, complex<T> b) { return a.re == b.re && a.im == b.im; }
template <class T> GO_FUNC bool operator!=(complex<T> a, complex<T> b) { return !(a == b); }
template <class T> GO_FUNC complex<T> operator+(complex<T> a, complex<T> b) { return complex<T>{a.re + b.re, a.im + b.im}; }
template <class T> GO_FUNC complex<T> operator-(complex<T> a, complex<T> b) { return complex<T>{a.re - b.re, a.im - b.im}; }
template <class T> GO_FUNC complex<T> operator-(complex<T> a) { return complex<T>{-a.re, -a.im}; }
template <class T> GO_FUNC complex<T> operator*(complex<T> a, complex<T> b) { return complex<T>{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
GO_FUNC bool is_finite(f64 x) { return x - x == 0; }
// The division of Go's runtime: complex.go, complex128div.
static __device__ inline c128 operator/(c128 n, c128 m) {
    f64 e, f;
    if (fabs(m.re) >= fabs(m.im)) {
        f64 ratio = m.im / m.re, denom = m.re + ratio * m.im;
        e = (n.re + n.im * ratio) / denom; f = (n.im - n.re * ratio) / denom;
    } else {
        f64 ratio = m.re / m.im, denom = m.im + ratio * m.re;
        e = (n.re * ratio + n.im) / denom; f = (n.im * ratio - n.re) / denom;
    }
    if (e != e && f != f) {
        f64 a = n.re, b = n.im, c = m.re, d = m.im;
        bool ainf = a == a && !is_finite(a), binf = b == b && !is_finite(b), cinf = c == c && !is_finite(c), dinf = d == d && !is_finite(d);
        if (m.re == 0 && m.im == 0 && (a == a || b == b)) {
            e = copysign(1.0, c) / 0.0 * a; f = copysign(1.0, c) / 0.0 * b;
        } else if ((ainf || binf) && is_finite(c) && is_finite(d)) {
            a = copysign(ainf ? 1.0 : 0.0, a); b = copysign(binf ? 1.0 : 0.0, b);
            e = 1.0 / 0.0 * (a * c + b * d); f = 1.0 / 0.0 * (b * c - a * d);
        } else if ((cinf || dinf) && is_finite(a) && is_finite(b)) {
            c = copysign(cinf ? 1.0 : 0.0, c); d = copysign(dinf ? 1.0 : 0.0, d);
            e = 0 * (a * c + b * d); f = 0 * (b * c - a * d);
        }
    }
    return c128{e, f};
}
GO_FUNC c64 operator/(c64 n, c64 m) { return conv<c64>(conv<c128>(n) / conv<c128>(m)); }
// Products of them are reckoned with as c128, as by compiled Go.
GO_FUNC c64 operator*(c64 a, c64 b) { return conv<c64>(conv<c128>(a) * conv<c128>(b)); }

template <class T> GO_FUNC bool is_nil(slice<T> s) { return !s.ptr; }
template <class T> GO_FUNC bool not_nil(slice<T> s) { return s.ptr; }
template <class T> GO_FUNC T min(T a, T b) { return a < b ? a : b; }
template <class T> GO_FUNC T max(T a, T b) { return a > b ? a : b; }
template <class F> GO_FUNC F float_min(F a, F b) { if (a != a || b != b) return a + b; if (a == 0 && b == 0) return copysign((F)1, a) < 0 ? a : b; return a < b ? a : b; }
template <class F> GO_FUNC F float_max(F a, F b) { if (a != a || b != b) return a + b; if (a == 0 && b == 0) return copysign((F)1, a) < 0 ? b : a; return a > b ? a : b; }
GO_FUNC f32 min(f32 a, f32 b) { return float_min(a, b); }
GO_FUNC f64 min(f64 a, f64 b) { return float_min(a, b); }
GO_FUNC f32 max(f32 a, f32 b) { return float_max(a, b); }
GO_FUNC f64 max(f64 a, f64 b) { return float_max(a, b); }
GO_FUNC const char *bool_text(bool b) { return b ? "true" : "false"; }
template <class T> GO_FUNC i64 copy(slice<T> dst, slice<T> src) {
    i64 n = dst.len < src.len ? dst.len : src.len;
    if (dst.ptr <= src.ptr) for (i64 i = 0; i < n; i++) dst.ptr[i] = src.ptr[i];
    else for (i64 i = n; i-- > 0;) dst.ptr[i] = src.ptr[i];
    return n;
}
template <class T> GO_FUNC void clear(slice<T> s) { for (i64 i = 0; i < s.len; i++) s.ptr[i] = T(); }
template <class A, class T> GO_FUNC A *array_of(slice<T> s) { return (A *)s.ptr; }
