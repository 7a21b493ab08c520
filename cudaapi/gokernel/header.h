// What kernels that were Go need: Go's types and arithmetic in CUDA C++.
#ifdef __CUDACC_RTC__
#pragma nv_diag_suppress 39, 177, 550 // divisions by zero that are meant, what is not used
#endif
typedef signed char i8; typedef short i16; typedef int i32; typedef long long i64;
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long long u64;
typedef float f32; typedef double f64;

namespace go {
#define GO_FUNC static __device__ __forceinline__

// slice and array lie in memory as Go's do.
template <class T> struct slice {
    T *ptr; i64 len, cap;
    __device__ __forceinline__ T &operator[](i64 i) const { return ptr[i]; }
};
template <class T, i64 N> struct array {
    T at[N];
    __device__ __forceinline__ T &operator[](i64 i) { return at[i]; }
    __device__ __forceinline__ const T &operator[](i64 i) const { return at[i]; }
};
// An array without elements has a place that nothing uses: C++ has none of that size.
template <class T> struct array<T, 0> {
    T at[1];
    __device__ __forceinline__ T &operator[](i64 i) { return at[i]; }
    __device__ __forceinline__ const T &operator[](i64 i) const { return at[i]; }
};
template <class T> struct complex { T re, im; };
typedef complex<f32> c64; typedef complex<f64> c128;
template <class A, class B> struct results2 { A r0; B r1; };
template <class A, class B, class C> struct results3 { A r0; B r1; C r2; };
template <class A, class B, class C, class D> struct results4 { A r0; B r1; C r2; D r3; };
template <class A, class B, class C, class D, class E> struct results5 { A r0; B r1; C r2; D r3; E r4; };
template <class A, class B, class C, class D, class E, class F> struct results6 { A r0; B r1; C r2; D r3; E r4; F r5; };

// record is where the first panic of a module is told to the host, in memory of the
// host's. state is 0, 1 while it is being written, 2.
struct record { u32 state, site, kernel, pad; i64 args[4]; u32 block[3], thread[3]; };
// thread is what a kernel's functions know of the thread that runs them.
struct thread { bool dead; u32 kernel; };
} // namespace go
__device__ go::record *go_panics;
namespace go {

// tell writes the record of a panic, if it is the first.
static __device__ __noinline__ void tell(u32 kernel, u32 site, i64 a, i64 b, i64 c, i64 d) {
    record *r = go_panics;
    if (!r || atomicCAS(&r->state, 0u, 1u) != 0) return;
    r->site = site; r->kernel = kernel;
    r->args[0] = a; r->args[1] = b; r->args[2] = c; r->args[3] = d;
    r->block[0] = blockIdx.x; r->block[1] = blockIdx.y; r->block[2] = blockIdx.z;
    r->thread[0] = threadIdx.x; r->thread[1] = threadIdx.y; r->thread[2] = threadIdx.z;
    __threadfence_system();
    *(volatile u32 *)&r->state = 2;
    __threadfence_system();
}
// panic ends the thread: those who call it return. What knows of the thread stays
// in registers, since tell is not given its address.
GO_FUNC void panic(thread &go, u32 site, i64 a = 0, i64 b = 0, i64 c = 0, i64 d = 0) {
    go.dead = true;
    tell(go.kernel, site, a, b, c, d);
}

// outside says whether an index is not one of n elements.
GO_FUNC bool outside(i64 i, i64 n) { return (u64)i >= (u64)n; }
GO_FUNC bool outside(u64 i, i64 n) { return i >= (u64)n; }
GO_FUNC bool bad_slice(i64 lo, i64 hi, i64 max, i64 cap) { return (u64)max > (u64)cap || (u64)hi > (u64)max || (u64)lo > (u64)hi; }

// Integers wrap, as Go's do; C++ leaves signed overflow undefined.
template <class T, bool wide = (sizeof(T) > 4)> struct bits_of { typedef u32 type; };
template <class T> struct bits_of<T, true> { typedef u64 type; };
template <class T> GO_FUNC T add(T a, T b) { typedef typename bits_of<T>::type U; return (T)((U)a + (U)b); }
template <class T> GO_FUNC T sub(T a, T b) { typedef typename bits_of<T>::type U; return (T)((U)a - (U)b); }
template <class T> GO_FUNC T mul(T a, T b) { typedef typename bits_of<T>::type U; return (T)((U)a * (U)b); }
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
extern __shared__ __align__(16) unsigned char shared_memory[];
template <class T> GO_FUNC slice<T> dynamic_shared(i64 n) { return slice<T>{(T *)&shared_memory[0], n, n}; }

// Functions of math.
GO_FUNC f64 math_abs(f64 x) { return fabs(x); }
#define GO_MATH(name) GO_FUNC f64 math_##name(f64 x) { return ::name(x); }
GO_MATH(acos) GO_MATH(asin) GO_MATH(atan) GO_MATH(cbrt) GO_MATH(ceil) GO_MATH(cos) GO_MATH(cosh) GO_MATH(erf) GO_MATH(erfc) GO_MATH(exp) GO_MATH(exp2)
GO_MATH(expm1) GO_MATH(floor) GO_MATH(log) GO_MATH(log10) GO_MATH(log1p) GO_MATH(log2) GO_MATH(round) GO_MATH(sin) GO_MATH(sinh) GO_MATH(sqrt) GO_MATH(tan) GO_MATH(tanh) GO_MATH(trunc)
GO_FUNC f64 math_atan2(f64 y, f64 x) { return ::atan2(y, x); }
GO_FUNC f64 math_copysign(f64 x, f64 y) { return ::copysign(x, y); }
GO_FUNC f64 math_fMA(f64 x, f64 y, f64 z) { return ::fma(x, y, z); }
GO_FUNC f64 math_gamma(f64 x) { return ::tgamma(x); }
GO_FUNC f64 math_hypot(f64 x, f64 y) { return ::hypot(x, y); }
GO_FUNC f64 math_mod(f64 x, f64 y) { return ::fmod(x, y); }
GO_FUNC f64 math_remainder(f64 x, f64 y) { return ::remainder(x, y); }
GO_FUNC f64 math_roundToEven(f64 x) { return ::rint(x); }
GO_FUNC f64 math_pow(f64 x, f64 y) { return ::pow(x, y); }
GO_FUNC f64 math_max(f64 x, f64 y) { f64 inf = 1.0 / 0.0; return x == inf || y == inf ? inf : float_max(x, y); }
GO_FUNC f64 math_min(f64 x, f64 y) { f64 inf = -1.0 / 0.0; return x == inf || y == inf ? inf : float_min(x, y); }
GO_FUNC f64 math_inf(i64 sign) { return sign >= 0 ? 1.0 / 0.0 : -1.0 / 0.0; }
GO_FUNC u32 math_float32bits(f32 x) { return cast<u32>(x); }
GO_FUNC f32 math_float32frombits(u32 x) { return cast<f32>(x); }
GO_FUNC u64 math_float64bits(f64 x) { return cast<u64>(x); }
GO_FUNC f64 math_float64frombits(u64 x) { return cast<f64>(x); }
GO_FUNC f64 math_naN() { return cast<f64>((u64)0x7FF8000000000001ull); }
GO_FUNC bool math_isNaN(f64 x) { return x != x; }
GO_FUNC bool math_isInf(f64 x, i64 sign) { return sign >= 0 && x == 1.0 / 0.0 || sign <= 0 && x == -1.0 / 0.0; }
GO_FUNC bool math_signbit(f64 x) { return cast<u64>(x) >> 63; }

// Numbers of 16 bits are reckoned with as f32, and rounded: for one operation that
// is the nearest number of theirs.
#ifndef __GOCUDA_SIM__
GO_FUNC u16 narrow_f16(f32 x) { u16 h; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x)); return h; }
GO_FUNC f32 widen_f16(u16 h) { f32 x; asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h)); return x; }
#else
static inline u16 narrow_f16(f32 x) {
    u32 b = cast<u32>(x), sign = b >> 16 & 0x8000u;
    b &= 0x7fffffffu;
    if (b > 0x7f800000u) return 0x7fff;
    if (b >= 0x477ff000u) return (u16)(sign | 0x7c00u);
    if (b < 0x38800000u) return (u16)(sign | (u32)(u16)::rint(cast<f32>(b) * 16777216.0f));
    b -= 112u << 23;
    b += 0xfffu + (b >> 13 & 1u);
    return (u16)(sign | b >> 13);
}
static inline f32 widen_f16(u16 h) {
    u32 sign = (u32)(h & 0x8000u) << 16, exp = h >> 10 & 0x1fu, frac = h & 0x3ffu;
    if (exp == 0) return cast<f32>(cast<u32>((f32)frac * 5.9604644775390625e-8f) | sign);
    if (exp == 0x1f) return cast<f32>(sign | 0x7f800000u | frac << 13);
    return cast<f32>(sign | (exp + 112u) << 23 | frac << 13);
}
#endif
GO_FUNC u16 narrow_bf16(f32 x) {
    u32 b = cast<u32>(x);
    if ((b & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return (u16)((b + 0x7fffu + (b >> 16 & 1u)) >> 16);
}
GO_FUNC f32 widen_bf16(u16 h) { return cast<f32>((u32)h << 16); }
#define GO_HALF(H) \
    struct H { \
        u16 bits; \
        H() = default; \
        __device__ __forceinline__ explicit H(f32 x) : bits(narrow_##H(x)) {} \
        __device__ __forceinline__ explicit operator f32() const { return widen_##H(bits); } \
    }; \
    GO_FUNC H operator+(H a, H b) { return H((f32)a + (f32)b); } \
    GO_FUNC H operator-(H a, H b) { return H((f32)a - (f32)b); } \
    GO_FUNC H operator*(H a, H b) { return H((f32)a * (f32)b); } \
    GO_FUNC H operator/(H a, H b) { return H((f32)a / (f32)b); } \
    GO_FUNC H operator-(H a) { H r; r.bits = a.bits ^ 0x8000; return r; } \
    GO_FUNC bool operator==(H a, H b) { return (f32)a == (f32)b; } \
    GO_FUNC bool operator!=(H a, H b) { return (f32)a != (f32)b; } \
    GO_FUNC bool operator<(H a, H b) { return (f32)a < (f32)b; } \
    GO_FUNC bool operator<=(H a, H b) { return (f32)a <= (f32)b; } \
    GO_FUNC bool operator>(H a, H b) { return (f32)a > (f32)b; } \
    GO_FUNC bool operator>=(H a, H b) { return (f32)a >= (f32)b; } \
    GO_FUNC H min(H a, H b) { return H(float_min((f32)a, (f32)b)); } \
    GO_FUNC H max(H a, H b) { return H(float_max((f32)a, (f32)b)); }
GO_HALF(f16)
GO_HALF(bf16)
// odd_fma is x*y+z as f32, whose last bit is set if something was rounded away, so
// that it can be rounded once more. The product is exact in f64.
GO_FUNC f32 odd_fma(f32 x, f32 y, f32 z) {
    f64 p = (f64)x * y, s = p + z, t = s - p, lost = (p - (s - t)) + ((f64)z - t);
    u64 b = cast<u64>(s);
    if (lost != 0 && s - s == 0 && !(b & 1)) s = cast<f64>((lost > 0) == (s > 0) ? b + 1 : b - 1);
    f32 r = (f32)s;
    u32 c = cast<u32>(r);
    if ((f64)r != s && r - r == 0 && !(c & 1)) r = cast<f32>(((f64)r < s) == (r > 0 || (r == 0 && s > 0)) ? c + 1 : c - 1);
    return r;
}

// Functions of package gpu that compute, in the precision of their argument.
#define GO_BOTH(name) GO_FUNC f32 name(f32 x) { return ::name##f(x); } GO_FUNC f64 name(f64 x) { return ::name(x); }
GO_BOTH(sqrt) GO_BOTH(rsqrt) GO_BOTH(exp) GO_BOTH(log) GO_BOTH(sin) GO_BOTH(cos) GO_BOTH(tanh) GO_BOTH(fabs)
#define GO_OF_HALF(name) GO_FUNC f16 name(f16 x) { return f16(name((f32)x)); } GO_FUNC bf16 name(bf16 x) { return bf16(name((f32)x)); }
GO_OF_HALF(sqrt) GO_OF_HALF(rsqrt) GO_OF_HALF(exp) GO_OF_HALF(log) GO_OF_HALF(sin) GO_OF_HALF(cos) GO_OF_HALF(tanh) GO_OF_HALF(fabs)
GO_FUNC f16 pow(f16 x, f16 y) { return f16(::powf((f32)x, (f32)y)); }
GO_FUNC bf16 pow(bf16 x, bf16 y) { return bf16(::powf((f32)x, (f32)y)); }
GO_FUNC f16 fma(f16 x, f16 y, f16 z) { return f16(odd_fma((f32)x, (f32)y, (f32)z)); }
GO_FUNC bf16 fma(bf16 x, bf16 y, bf16 z) { return bf16(odd_fma((f32)x, (f32)y, (f32)z)); }
GO_FUNC f32 pow(f32 x, f32 y) { return ::powf(x, y); }
GO_FUNC f64 pow(f64 x, f64 y) { return ::pow(x, y); }
GO_FUNC f32 fma(f32 x, f32 y, f32 z) { return ::fmaf(x, y, z); }
GO_FUNC f64 fma(f64 x, f64 y, f64 z) { return ::fma(x, y, z); }

// Functions of math/bits and math/cmplx.
GO_FUNC i64 bits_leadingZeros64(u64 x) { return x ? __clzll((i64)x) : 64; }
GO_FUNC i64 bits_leadingZeros(u64 x) { return bits_leadingZeros64(x); }
GO_FUNC i64 bits_leadingZeros32(u32 x) { return bits_leadingZeros64(x) - 32; }
GO_FUNC i64 bits_leadingZeros16(u16 x) { return bits_leadingZeros64(x) - 48; }
GO_FUNC i64 bits_leadingZeros8(u8 x) { return bits_leadingZeros64(x) - 56; }
GO_FUNC i64 bits_len64(u64 x) { return 64 - bits_leadingZeros64(x); }
GO_FUNC i64 bits_len(u64 x) { return bits_len64(x); }
GO_FUNC i64 bits_len32(u32 x) { return bits_len64(x); }
GO_FUNC i64 bits_len16(u16 x) { return bits_len64(x); }
GO_FUNC i64 bits_len8(u8 x) { return bits_len64(x); }
GO_FUNC i64 bits_trailingZeros64(u64 x) { return x ? __ffsll((i64)x) - 1 : 64; }
GO_FUNC i64 bits_trailingZeros(u64 x) { return bits_trailingZeros64(x); }
GO_FUNC i64 bits_trailingZeros32(u32 x) { return x ? bits_trailingZeros64(x) : 32; }
GO_FUNC i64 bits_trailingZeros16(u16 x) { return x ? bits_trailingZeros64(x) : 16; }
GO_FUNC i64 bits_trailingZeros8(u8 x) { return x ? bits_trailingZeros64(x) : 8; }
GO_FUNC i64 bits_onesCount64(u64 x) { return __popcll(x); }
GO_FUNC i64 bits_onesCount(u64 x) { return __popcll(x); }
GO_FUNC i64 bits_onesCount32(u32 x) { return __popc(x); }
GO_FUNC i64 bits_onesCount16(u16 x) { return __popc(x); }
GO_FUNC i64 bits_onesCount8(u8 x) { return __popc(x); }
template <class T> GO_FUNC T rotate(T x, i64 k) { u64 n = 8 * sizeof(T), s = (u64)k & (n - 1); return (T)(shl(x, s) | shr(x, n - s)); }
GO_FUNC u64 bits_rotateLeft(u64 x, i64 k) { return rotate(x, k); }
GO_FUNC u64 bits_rotateLeft64(u64 x, i64 k) { return rotate(x, k); }
GO_FUNC u32 bits_rotateLeft32(u32 x, i64 k) { return rotate(x, k); }
GO_FUNC u16 bits_rotateLeft16(u16 x, i64 k) { return rotate(x, k); }
GO_FUNC u8 bits_rotateLeft8(u8 x, i64 k) { return rotate(x, k); }
GO_FUNC u32 bits_reverse32(u32 x) { return __brev(x); }
GO_FUNC u64 bits_reverse64(u64 x) { return __brevll(x); }
GO_FUNC f64 cmplx_abs(c128 x) { return ::hypot(x.re, x.im); }
GO_FUNC c128 cmplx_conj(c128 x) { return c128{x.re, -x.im}; }
GO_FUNC f64 cmplx_phase(c128 x) { return ::atan2(x.im, x.re); }

// Barriers and fences.
GO_FUNC void sync_threads() { __syncthreads(); }
GO_FUNC i64 sync_threads_count(bool ok) { return __syncthreads_count(ok); }
GO_FUNC bool sync_threads_and(bool ok) { return __syncthreads_and(ok); }
GO_FUNC bool sync_threads_or(bool ok) { return __syncthreads_or(ok); }
GO_FUNC void sync_warp(u32 mask) { __syncwarp(mask); }
GO_FUNC void thread_fence() { __threadfence(); }
GO_FUNC void thread_fence_block() { __threadfence_block(); }
GO_FUNC void thread_fence_system() { __threadfence_system(); }
GO_FUNC i64 clock() { return clock64(); }
GO_FUNC void nanosleep(u32 ns) { __nanosleep(ns); }

// Atomics, for the types that CUDA's have, and by those for the others. The scope is
// the device, the block or the system.
#define GO_ATOMICS(scope) \
    GO_FUNC i32 atomic_add##scope(i32 *p, i32 v) { return atomicAdd##scope(p, v); } \
    GO_FUNC u32 atomic_add##scope(u32 *p, u32 v) { return atomicAdd##scope(p, v); } \
    GO_FUNC u64 atomic_add##scope(u64 *p, u64 v) { return atomicAdd##scope(p, v); } \
    GO_FUNC i64 atomic_add##scope(i64 *p, i64 v) { return (i64)atomicAdd##scope((u64 *)p, (u64)v); } \
    GO_FUNC f32 atomic_add##scope(f32 *p, f32 v) { return atomicAdd##scope(p, v); } \
    GO_FUNC f64 atomic_add##scope(f64 *p, f64 v) { return atomicAdd##scope(p, v); } \
    template <class T> GO_FUNC T atomic_sub##scope(T *p, T v) { return atomic_add##scope(p, neg(v)); } \
    template <class T> GO_FUNC T atomic_min##scope(T *p, T v) { return atomicMin##scope(p, v); } \
    template <class T> GO_FUNC T atomic_max##scope(T *p, T v) { return atomicMax##scope(p, v); } \
    template <class T> GO_FUNC T atomic_and##scope(T *p, T v) { typedef typename bits_of<T>::type U; return (T)atomicAnd##scope((U *)p, (U)v); } \
    template <class T> GO_FUNC T atomic_or##scope(T *p, T v) { typedef typename bits_of<T>::type U; return (T)atomicOr##scope((U *)p, (U)v); } \
    template <class T> GO_FUNC T atomic_xor##scope(T *p, T v) { typedef typename bits_of<T>::type U; return (T)atomicXor##scope((U *)p, (U)v); } \
    template <class T> GO_FUNC T atomic_exch##scope(T *p, T v) { typedef typename bits_of<T>::type U; return cast<T>(atomicExch##scope((U *)p, cast<U>(v))); } \
    template <class T> GO_FUNC void atomic_store##scope(T *p, T v) { typedef typename bits_of<T>::type U; atomicExch##scope((U *)p, cast<U>(v)); } \
    template <class T> GO_FUNC T atomic_load##scope(T *p) { typedef typename bits_of<T>::type U; return cast<T>(*(volatile U *)p); } \
    template <class T> GO_FUNC T atomic_cas##scope(T *p, T old, T v) { typedef typename bits_of<T>::type U; return (T)atomicCAS##scope((U *)p, (U)old, (U)v); }
GO_ATOMICS()
GO_ATOMICS(_block)
GO_ATOMICS(_system)

// Warps.
GO_FUNC i64 thread_rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
GO_FUNC i64 block_threads() { return (i64)blockDim.x * blockDim.y * blockDim.z; }
GO_FUNC i64 grid_rank() { return (blockIdx.x + (i64)gridDim.x * (blockIdx.y + (i64)gridDim.y * blockIdx.z)) * block_threads() + thread_rank(); }
GO_FUNC i64 grid_size() { return (i64)gridDim.x * gridDim.y * gridDim.z * block_threads(); }
GO_FUNC i64 lane_id() { return thread_rank() % 32; }
GO_FUNC u32 active_mask() { return __activemask(); }
template <class G> GO_FUNC G tile(i64 size) {
    i64 rank = thread_rank(), all = block_threads(), first = rank / size * size, n = all - first < size ? all - first : size;
    return G{(u32)(n == 32 ? 0xffffffffu : ((1u << n) - 1) << (first % 32)), first % 32, rank - first, n, rank / size, (all + size - 1) / size};
}
template <class G> GO_FUNC G coalesced() {
    u32 mask = __activemask();
    return G{mask, __ffs((int)mask) - 1, __popc(mask & ((1u << lane_id()) - 1)), __popc(mask), 0, 1};
}
#define GO_SHUFFLE(name, cuda, type) \
    template <class T> GO_FUNC T name(u32 mask, T v, i64 n) { return cuda(mask, v, (type)n); } \
    GO_FUNC f16 name(u32 mask, f16 v, i64 n) { v.bits = (u16)cuda(mask, (u32)v.bits, (type)n); return v; } \
    GO_FUNC bf16 name(u32 mask, bf16 v, i64 n) { v.bits = (u16)cuda(mask, (u32)v.bits, (type)n); return v; }
GO_SHUFFLE(shfl, __shfl_sync, int)
GO_SHUFFLE(shfl_up, __shfl_up_sync, unsigned)
GO_SHUFFLE(shfl_down, __shfl_down_sync, unsigned)
GO_SHUFFLE(shfl_xor, __shfl_xor_sync, int)
GO_FUNC u32 ballot(u32 mask, bool ok) { return __ballot_sync(mask, ok); }
GO_FUNC bool all(u32 mask, bool ok) { return __all_sync(mask, ok); }
GO_FUNC bool any(u32 mask, bool ok) { return __any_sync(mask, ok); }
template <class T> GO_FUNC u32 match_any(u32 mask, T v) { return __match_any_sync(mask, cast<typename bits_of<T>::type>(v)); }
template <class T> GO_FUNC u32 match_all(u32 mask, T v) { int same; return __match_all_sync(mask, cast<typename bits_of<T>::type>(v), &same); }
// A whole warp is joined in pairs, other lanes one by one.
#define GO_REDUCE(name, op) \
    template <class T> GO_FUNC T name(u32 mask, T v) { \
        if (mask == 0xffffffffu) { \
            for (int d = 16; d > 0; d /= 2) { T o = shfl_xor(mask, v, d); v = op; } \
            return v; \
        } \
        T mine = v; \
        v = shfl(mask, mine, __ffs((int)mask) - 1); \
        for (u32 rest = mask & (mask - 1); rest; rest &= rest - 1) { T o = shfl(mask, mine, __ffs((int)rest) - 1); v = op; } \
        return v; \
    }
template <class T> GO_FUNC T sum(T a, T b) { return add(a, b); }
GO_FUNC f32 sum(f32 a, f32 b) { return a + b; }
GO_FUNC f64 sum(f64 a, f64 b) { return a + b; }
GO_FUNC f16 sum(f16 a, f16 b) { return a + b; }
GO_FUNC bf16 sum(bf16 a, bf16 b) { return a + b; }
GO_REDUCE(reduce_add, sum(v, o))
GO_REDUCE(reduce_min, (o < v ? o : v))
GO_REDUCE(reduce_max, (v < o ? o : v))
GO_REDUCE(reduce_and, (v & o))
GO_REDUCE(reduce_or, (v | o))
GO_REDUCE(reduce_xor, (v ^ o))

// Several elements at once, if they are aligned to that.
template <int bytes> struct word { typedef void type; };
template <> struct word<2> { typedef u16 type; };
template <> struct word<4> { typedef u32 type; };
template <> struct word<8> { typedef uint2 type; };
template <> struct word<16> { typedef uint4 type; };
template <class T, int N, class W = typename word<sizeof(T) * N>::type> struct several {
    static __device__ __forceinline__ array<T, N> load(const T *p) {
        union { W w; array<T, N> a; } u;
        if (((u64)p & (sizeof(W) - 1)) == 0) u.w = *(const W *)p;
        else for (int i = 0; i < N; i++) u.a.at[i] = p[i];
        return u.a;
    }
    static __device__ __forceinline__ void store(T *p, const array<T, N> &v) {
        union { array<T, N> a; W w; } u = {v};
        if (((u64)p & (sizeof(W) - 1)) == 0) *(W *)p = u.w;
        else for (int i = 0; i < N; i++) p[i] = v.at[i];
    }
};
template <class T, int N> struct several<T, N, void> {
    static __device__ __forceinline__ array<T, N> load(const T *p) {
        array<T, N> a;
        for (int i = 0; i < N; i++) a.at[i] = p[i];
        return a;
    }
    static __device__ __forceinline__ void store(T *p, const array<T, N> &v) { for (int i = 0; i < N; i++) p[i] = v.at[i]; }
};
template <class T> GO_FUNC array<T, 2> load2(slice<T> x, i64 i) { return several<T, 2>::load(x.ptr + 2 * i); }
template <class T> GO_FUNC array<T, 4> load4(slice<T> x, i64 i) { return several<T, 4>::load(x.ptr + 4 * i); }
template <class T> GO_FUNC void store2(slice<T> x, i64 i, array<T, 2> v) { several<T, 2>::store(x.ptr + 2 * i, v); }
template <class T> GO_FUNC void store4(slice<T> x, i64 i, array<T, 4> v) { several<T, 4>::store(x.ptr + 4 * i, v); }
} // namespace go
