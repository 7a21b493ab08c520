// Mathematical functions and intrinsics by their CUDA names.
#pragma once

typedef gocuda_u64 size_t;
typedef long ptrdiff_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#ifndef NULL
#define NULL 0
#endif
typedef unsigned long long cudaTextureObject_t;

// Integers are taken as doubles, as by C++'s own functions.
namespace gocuda {
template <class T> struct Integer {};
#define GOCUDA_INTEGER(T) \
    template <> struct Integer<T> { typedef double type; };
GOCUDA_INTEGER(bool) GOCUDA_INTEGER(char) GOCUDA_INTEGER(signed char) GOCUDA_INTEGER(unsigned char) GOCUDA_INTEGER(short) GOCUDA_INTEGER(unsigned short)
GOCUDA_INTEGER(int) GOCUDA_INTEGER(unsigned) GOCUDA_INTEGER(long) GOCUDA_INTEGER(unsigned long) GOCUDA_INTEGER(long long) GOCUDA_INTEGER(unsigned long long)
template <class T> struct Number : Integer<T> {};
template <> struct Number<float> { typedef double type; };
template <> struct Number<double> { typedef double type; };
// Mixed is double for two numbers that are not both float or both double.
template <class A, class B> struct Mixed { typedef typename Number<A>::type first; typedef typename Number<B>::type type; };
template <class T> struct Mixed<T, T> : Integer<T> {};
} // namespace gocuda

// One argument: f(double), ff(float) and the overload f(float).
#define GOCUDA_MATH1(fn)                                                                       \
    extern "C" double fn(double) noexcept;                                                     \
    extern "C" float fn##f(float) noexcept;                                                    \
    static GOCUDA_INLINE float fn(float x) { return __builtin_##fn##f(x); }                    \
    template <class T> static GOCUDA_INLINE typename gocuda::Integer<T>::type fn(T x) { return fn((double)x); }
#define GOCUDA_MATH2(fn)                                                                       \
    extern "C" double fn(double, double) noexcept;                                             \
    extern "C" float fn##f(float, float) noexcept;                                             \
    static GOCUDA_INLINE float fn(float x, float y) { return __builtin_##fn##f(x, y); }        \
    template <class A, class B> static GOCUDA_INLINE typename gocuda::Mixed<A, B>::type fn(A x, B y) { return fn((double)x, (double)y); }
GOCUDA_MATH1(sin) GOCUDA_MATH1(cos) GOCUDA_MATH1(tan) GOCUDA_MATH1(asin) GOCUDA_MATH1(acos) GOCUDA_MATH1(atan)
GOCUDA_MATH1(sinh) GOCUDA_MATH1(cosh) GOCUDA_MATH1(tanh) GOCUDA_MATH1(asinh) GOCUDA_MATH1(acosh) GOCUDA_MATH1(atanh)
GOCUDA_MATH1(exp) GOCUDA_MATH1(exp2) GOCUDA_MATH1(expm1) GOCUDA_MATH1(log) GOCUDA_MATH1(log2) GOCUDA_MATH1(log10) GOCUDA_MATH1(log1p)
GOCUDA_MATH1(sqrt) GOCUDA_MATH1(cbrt) GOCUDA_MATH1(erf) GOCUDA_MATH1(erfc) GOCUDA_MATH1(tgamma) GOCUDA_MATH1(lgamma)
GOCUDA_MATH1(floor) GOCUDA_MATH1(ceil) GOCUDA_MATH1(trunc) GOCUDA_MATH1(round) GOCUDA_MATH1(rint) GOCUDA_MATH1(nearbyint) GOCUDA_MATH1(fabs) GOCUDA_MATH1(logb)
GOCUDA_MATH2(pow) GOCUDA_MATH2(atan2) GOCUDA_MATH2(fmod) GOCUDA_MATH2(hypot) GOCUDA_MATH2(fmin) GOCUDA_MATH2(fmax) GOCUDA_MATH2(fdim)
GOCUDA_MATH2(copysign) GOCUDA_MATH2(remainder) GOCUDA_MATH2(nextafter)

extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
static GOCUDA_INLINE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
extern "C" double ldexp(double, int) noexcept;
extern "C" float ldexpf(float, int) noexcept;
static GOCUDA_INLINE float ldexp(float x, int e) { return __builtin_ldexpf(x, e); }
extern "C" double scalbn(double, int) noexcept;
extern "C" float scalbnf(float, int) noexcept;
extern "C" double frexp(double, int *) noexcept;
extern "C" float frexpf(float, int *) noexcept;
extern "C" double modf(double, double *) noexcept;
extern "C" float modff(float, float *) noexcept;
extern "C" long lrint(double) noexcept;
extern "C" long lrintf(float) noexcept;
extern "C" long lround(double) noexcept;
extern "C" long lroundf(float) noexcept;
extern "C" long long llrint(double) noexcept;
extern "C" long long llrintf(float) noexcept;
extern "C" long long llround(double) noexcept;
extern "C" long long llroundf(float) noexcept;
extern "C" int ilogb(double) noexcept;
extern "C" int ilogbf(float) noexcept;
extern "C" double j0(double) noexcept;
extern "C" double j1(double) noexcept;
extern "C" double jn(int, double) noexcept;
extern "C" double y0(double) noexcept;
extern "C" double y1(double) noexcept;
extern "C" double yn(int, double) noexcept;
extern "C" double remquo(double, double, int *) noexcept;
extern "C" float j0f(float) noexcept;
extern "C" float j1f(float) noexcept;
extern "C" float jnf(int, float) noexcept;
extern "C" float y0f(float) noexcept;
extern "C" float y1f(float) noexcept;
extern "C" float ynf(int, float) noexcept;
extern "C" float remquof(float, float, int *) noexcept;
extern "C" int abs(int) noexcept;
extern "C" long labs(long) noexcept;
extern "C" long long llabs(long long) noexcept;
static GOCUDA_INLINE long abs(long x) { return x < 0 ? -x : x; }
static GOCUDA_INLINE long long abs(long long x) { return x < 0 ? -x : x; }
static GOCUDA_INLINE float abs(float x) { return __builtin_fabsf(x); }
static GOCUDA_INLINE double abs(double x) { return __builtin_fabs(x); }
static GOCUDA_INLINE float pow(float x, int n) { return __builtin_powf(x, (float)n); }
static GOCUDA_INLINE double pow(double x, int n) { return __builtin_pow(x, (double)n); }

extern "C" void *memcpy(void *, const void *, size_t) noexcept;
extern "C" void *memset(void *, int, size_t) noexcept;
extern "C" void *malloc(size_t) noexcept;
extern "C" void free(void *) noexcept;

static GOCUDA_INLINE double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
static GOCUDA_INLINE float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
static GOCUDA_INLINE float rsqrt(float x) { return rsqrtf(x); }
static GOCUDA_INLINE float rcbrtf(float x) { return 1.0f / cbrtf(x); }
static GOCUDA_INLINE double rcbrt(double x) { return 1.0 / cbrt(x); }
static GOCUDA_INLINE double exp10(double x) { return __builtin_pow(10.0, x); }
static GOCUDA_INLINE float exp10f(float x) { return __builtin_powf(10.0f, x); }
static GOCUDA_INLINE float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
static GOCUDA_INLINE float norm3df(float x, float y, float z) { return __builtin_sqrtf(x * x + y * y + z * z); }
static GOCUDA_INLINE double norm3d(double x, double y, double z) { return __builtin_sqrt(x * x + y * y + z * z); }
static GOCUDA_INLINE float norm4df(float x, float y, float z, float w) { return __builtin_sqrtf(x * x + y * y + z * z + w * w); }
static GOCUDA_INLINE double norm4d(double x, double y, double z, double w) { return __builtin_sqrt(x * x + y * y + z * z + w * w); }
static GOCUDA_INLINE float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
static GOCUDA_INLINE double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
static GOCUDA_INLINE float rnorm4df(float x, float y, float z, float w) { return 1.0f / norm4df(x, y, z, w); }
static GOCUDA_INLINE double rnorm4d(double x, double y, double z, double w) { return 1.0 / norm4d(x, y, z, w); }
static GOCUDA_INLINE double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
static GOCUDA_INLINE double sinpi(double x) { return __builtin_sin(x * 3.14159265358979323846); }
static GOCUDA_INLINE double cospi(double x) { return __builtin_cos(x * 3.14159265358979323846); }
static GOCUDA_INLINE float sinpif(float x) { return (float)sinpi((double)x); }
static GOCUDA_INLINE float cospif(float x) { return (float)cospi((double)x); }
static GOCUDA_INLINE void sincos(double x, double *s, double *c) { *s = __builtin_sin(x); *c = __builtin_cos(x); }
static GOCUDA_INLINE void sincosf(float x, float *s, float *c) { *s = __builtin_sinf(x); *c = __builtin_cosf(x); }
static GOCUDA_INLINE void sincospi(double x, double *s, double *c) { *s = sinpi(x); *c = cospi(x); }
static GOCUDA_INLINE void sincospif(float x, float *s, float *c) { *s = sinpif(x); *c = cospif(x); }
static GOCUDA_INLINE float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678118654752f); }
static GOCUDA_INLINE double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
// erfcinv is by Newton's method, from an approximation for most of the range.
static inline double erfcinv(double x) {
    if (!(x > 0 && x < 2)) return x == 0 ? __builtin_inf() : x == 2 ? -__builtin_inf() : __builtin_nan("");
    if (x > 1) return -erfcinv(2 - x);
    double t = __builtin_sqrt(-2 * log(x / 2));
    double y = -0.70710678118654752440 * ((2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)) - t);
    for (int i = 0; i < 4; i++) {
        double e = erfc(y) - x;
        y += e / (1.12837916709551257390 * exp(-y * y) - y * e);
    }
    return y;
}
static inline double erfinv(double x) {
    if (fabs(x) > 0.1) return erfcinv(1 - x);
    double y = 0.88622692545275801365 * x * (1 + 0.26179938779914943654 * x * x);
    for (int i = 0; i < 4; i++) y -= (erf(y) - x) / (1.12837916709551257390 * exp(-y * y));
    return y;
}
static inline double normcdfinv(double x) { return -1.41421356237309504880 * erfcinv(2 * x); }
static inline double erfcx(double x) {
    if (x < 25) return exp(x * x) * erfc(x);
    double r = 1 / (2 * x * x);
    return 0.56418958354775628695 / x * (1 - r * (1 - 3 * r * (1 - 5 * r)));
}
namespace gocuda {
// bessel is the series of the modified Bessel function of an order without its
// first factor.
static inline double bessel(double x, int order) {
    double sum = 1, term = 1;
    for (int k = 1; term > sum * 1e-17; k++) sum += term *= x * x / (4.0 * k * (k + order));
    return sum;
}
} // namespace gocuda
static GOCUDA_INLINE double cyl_bessel_i0(double x) { return gocuda::bessel(x, 0); }
static GOCUDA_INLINE double cyl_bessel_i1(double x) { return x / 2 * gocuda::bessel(x, 1); }
#define GOCUDA_BY_DOUBLE(fn)                                                                   \
    static GOCUDA_INLINE float fn##f(float x) { return (float)fn((double)x); }                 \
    static GOCUDA_INLINE float fn(float x) { return (float)fn((double)x); }
GOCUDA_BY_DOUBLE(erfcinv) GOCUDA_BY_DOUBLE(erfinv) GOCUDA_BY_DOUBLE(normcdfinv) GOCUDA_BY_DOUBLE(erfcx)
static GOCUDA_INLINE float cyl_bessel_i0f(float x) { return (float)cyl_bessel_i0((double)x); }
static GOCUDA_INLINE float cyl_bessel_i1f(float x) { return (float)cyl_bessel_i1((double)x); }
static GOCUDA_INLINE float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
static GOCUDA_INLINE float saturate(float x) { return __saturatef(x); }

#define GOCUDA_CLASSIFY(T)                                                                     \
    static GOCUDA_INLINE bool isnan(T x) { return __builtin_isnan(x); }                        \
    static GOCUDA_INLINE bool isinf(T x) { return __builtin_isinf(x); }                        \
    static GOCUDA_INLINE bool isfinite(T x) { return __builtin_isfinite(x); }                  \
    static GOCUDA_INLINE bool signbit(T x) { return __builtin_signbit(x); }
GOCUDA_CLASSIFY(float)
GOCUDA_CLASSIFY(double)

// min and max of every mix of arithmetic types, as CUDA's overloads give it.
#define GOCUDA_MINMAX(T)                                                                       \
    static GOCUDA_INLINE constexpr T min(T a, T b) { return b < a ? b : a; }                   \
    static GOCUDA_INLINE constexpr T max(T a, T b) { return a < b ? b : a; }
GOCUDA_MINMAX(int)
GOCUDA_MINMAX(unsigned int)
GOCUDA_MINMAX(long)
GOCUDA_MINMAX(unsigned long)
GOCUDA_MINMAX(long long)
GOCUDA_MINMAX(unsigned long long)
#define GOCUDA_MIXED(A, B, R)                                                                  \
    static GOCUDA_INLINE constexpr R min(A a, B b) { return min((R)a, (R)b); }                 \
    static GOCUDA_INLINE constexpr R max(A a, B b) { return max((R)a, (R)b); }
GOCUDA_MIXED(int, unsigned int, unsigned int)
GOCUDA_MIXED(unsigned int, int, unsigned int)
GOCUDA_MIXED(long, unsigned long, unsigned long)
GOCUDA_MIXED(unsigned long, long, unsigned long)
GOCUDA_MIXED(long long, unsigned long long, unsigned long long)
GOCUDA_MIXED(unsigned long long, long long, unsigned long long)
// Of a NaN and a number it is the number. (To clang++ the built-ins that say so
// are no constants.)
#define GOCUDA_MINMAX_FLOAT(T)                                                                \
    static GOCUDA_INLINE constexpr T min(T a, T b) { return b < a || a != a ? b : a; }         \
    static GOCUDA_INLINE constexpr T max(T a, T b) { return a < b || a != a ? b : a; }
GOCUDA_MINMAX_FLOAT(float)
GOCUDA_MINMAX_FLOAT(double)
GOCUDA_MIXED(float, double, double)
GOCUDA_MIXED(double, float, double)
static GOCUDA_INLINE unsigned umin(unsigned a, unsigned b) { return min(a, b); }
static GOCUDA_INLINE unsigned umax(unsigned a, unsigned b) { return max(a, b); }

// Fast versions: here as exact as the plain ones.
static GOCUDA_INLINE float __sinf(float x) { return __builtin_sinf(x); }
static GOCUDA_INLINE float __cosf(float x) { return __builtin_cosf(x); }
static GOCUDA_INLINE float __tanf(float x) { return __builtin_tanf(x); }
static GOCUDA_INLINE float __tanhf(float x) { return __builtin_tanhf(x); }
static GOCUDA_INLINE float __expf(float x) { return __builtin_expf(x); }
static GOCUDA_INLINE float __exp10f(float x) { return exp10f(x); }
static GOCUDA_INLINE float __logf(float x) { return __builtin_logf(x); }
static GOCUDA_INLINE float __log2f(float x) { return __builtin_log2f(x); }
static GOCUDA_INLINE float __log10f(float x) { return __builtin_log10f(x); }
static GOCUDA_INLINE float __powf(float x, float y) { return __builtin_powf(x, y); }
static GOCUDA_INLINE void __sincosf(float x, float *s, float *c) { sincosf(x, s, c); }
static GOCUDA_INLINE float __fdividef(float x, float y) { return x / y; }
static GOCUDA_INLINE float __frsqrt_rn(float x) { return rsqrtf(x); }
static GOCUDA_INLINE float __frcp_rn(float x) { return 1.0f / x; }
static GOCUDA_INLINE double __drcp_rn(double x) { return 1.0 / x; }
static GOCUDA_INLINE float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
static GOCUDA_INLINE double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
static GOCUDA_INLINE float __fdiv_rn(float x, float y) { return x / y; }
static GOCUDA_INLINE double __ddiv_rn(double x, double y) { return x / y; }

namespace gocuda {
// opaque keeps the compiler from fusing a product into a sum, as its part or as
// the product.
template <class T> static GOCUDA_INLINE T opaque(T x) {
#if defined(__x86_64__)
    asm("" : "+x"(x));
#else
    asm("" : "+w"(x));
#endif
    return x;
}
template <class To, class From> static GOCUDA_INLINE To same_bits(From f) {
    static_assert(sizeof(To) == sizeof(From));
    To t;
    __builtin_memcpy(&t, &f, sizeof(To));
    return t;
}
// saturated is v as an integer, or the nearest that there is. lo and hi are the
// first numbers beyond least and most.
template <class To, class From> static GOCUDA_INLINE To saturated(From v, From lo, From hi, To least, To most, To nan) {
    return v != v ? nan : v <= lo ? least : v >= hi ? most : (To)v;
}
} // namespace gocuda

static GOCUDA_INLINE float __fadd_rn(float x, float y) { return gocuda::opaque(x) + gocuda::opaque(y); }
static GOCUDA_INLINE float __fsub_rn(float x, float y) { return gocuda::opaque(x) - gocuda::opaque(y); }
static GOCUDA_INLINE float __fmul_rn(float x, float y) { return gocuda::opaque(x * y); }
static GOCUDA_INLINE float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static GOCUDA_INLINE double __dadd_rn(double x, double y) { return gocuda::opaque(x) + gocuda::opaque(y); }
static GOCUDA_INLINE double __dsub_rn(double x, double y) { return gocuda::opaque(x) - gocuda::opaque(y); }
static GOCUDA_INLINE double __dmul_rn(double x, double y) { return gocuda::opaque(x * y); }
static GOCUDA_INLINE double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }

static GOCUDA_INLINE int __float_as_int(float x) { return gocuda::same_bits<int>(x); }
static GOCUDA_INLINE unsigned __float_as_uint(float x) { return gocuda::same_bits<unsigned>(x); }
static GOCUDA_INLINE float __int_as_float(int x) { return gocuda::same_bits<float>(x); }
static GOCUDA_INLINE float __uint_as_float(unsigned x) { return gocuda::same_bits<float>(x); }
static GOCUDA_INLINE long long __double_as_longlong(double x) { return gocuda::same_bits<long long>(x); }
static GOCUDA_INLINE double __longlong_as_double(long long x) { return gocuda::same_bits<double>(x); }
static GOCUDA_INLINE int __double2loint(double x) { return (int)__double_as_longlong(x); }
static GOCUDA_INLINE int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
static GOCUDA_INLINE double __hiloint2double(int hi, int lo) { return __longlong_as_double((long long)hi << 32 | (unsigned)lo); }

// Conversions saturate, as a GPU's do. A NaN becomes 0, but where either has 64
// bits the highest bit alone.
#define GOCUDA_TO_INT(suffix, round)                                                                                                                \
    static GOCUDA_INLINE int __float2int_##suffix(float x) { return gocuda::saturated<int>((double)round##f(x), -2147483649.0, 2147483648.0, -2147483647 - 1, 2147483647, 0); } \
    static GOCUDA_INLINE unsigned __float2uint_##suffix(float x) { return gocuda::saturated<unsigned>((double)round##f(x), -1.0, 4294967296.0, 0u, 4294967295u, 0u); }            \
    static GOCUDA_INLINE int __double2int_##suffix(double x) { return gocuda::saturated<int>(round(x), -2147483649.0, 2147483648.0, -2147483647 - 1, 2147483647, -2147483647 - 1); } \
    static GOCUDA_INLINE unsigned __double2uint_##suffix(double x) { return gocuda::saturated<unsigned>(round(x), -1.0, 4294967296.0, 0u, 4294967295u, 1u << 31); }              \
    static GOCUDA_INLINE long long __double2ll_##suffix(double x) { return gocuda::saturated<long long>(round(x), -9223372036854775808.0, 9223372036854775808.0, -9223372036854775807ll - 1, 9223372036854775807ll, -9223372036854775807ll - 1); } \
    static GOCUDA_INLINE unsigned long long __double2ull_##suffix(double x) { return gocuda::saturated<unsigned long long>(round(x), -1.0, 18446744073709551616.0, 0ull, ~0ull, 1ull << 63); } \
    static GOCUDA_INLINE long long __float2ll_##suffix(float x) { return __double2ll_##suffix((double)x); }                                        \
    static GOCUDA_INLINE unsigned long long __float2ull_##suffix(float x) { return __double2ull_##suffix((double)x); }
GOCUDA_TO_INT(rn, __builtin_rint)
GOCUDA_TO_INT(rz, __builtin_trunc)
GOCUDA_TO_INT(ru, __builtin_ceil)
GOCUDA_TO_INT(rd, __builtin_floor)
static GOCUDA_INLINE double __int2double_rn(int x) { return (double)x; }
static GOCUDA_INLINE double __uint2double_rn(unsigned x) { return (double)x; }

static GOCUDA_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
static GOCUDA_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static GOCUDA_INLINE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static GOCUDA_INLINE int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static GOCUDA_INLINE int __ffs(int x) { return __builtin_ffs(x); }
static GOCUDA_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
static GOCUDA_INLINE unsigned __brev(unsigned x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
static GOCUDA_INLINE unsigned long long __brevll(unsigned long long x) { return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32)); }
static GOCUDA_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
    unsigned long long v = (unsigned long long)y << 32 | x;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) {
        unsigned k = s >> 4 * i & 7; // NVRTC leaves the fourth bit out
        r |= ((unsigned)(v >> 8 * k) & 255) << 8 * i;
    }
    return r;
}
static GOCUDA_INLINE int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
static GOCUDA_INLINE unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((unsigned long long)x * y >> 32); }
static GOCUDA_INLINE long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
static GOCUDA_INLINE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) { return (unsigned long long)((unsigned __int128)x * y >> 64); }
static GOCUDA_INLINE int __mul24(int x, int y) { return (int)((long long)(x << 8 >> 8) * (y << 8 >> 8)); }
static GOCUDA_INLINE unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffffu) * (y & 0xffffffu); }
static GOCUDA_INLINE int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
static GOCUDA_INLINE int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
static GOCUDA_INLINE unsigned __uhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x + y) >> 1); }
static GOCUDA_INLINE unsigned __urhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x + y + 1) >> 1); }
static GOCUDA_INLINE unsigned __sad(int x, int y, unsigned z) { return z + (unsigned)(x < y ? (long long)y - x : (long long)x - y); }
static GOCUDA_INLINE unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x < y ? y - x : x - y); }
static GOCUDA_INLINE unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) { n &= 31; return n ? hi << n | lo >> (32 - n) : hi; }
static GOCUDA_INLINE unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) { n &= 31; return n ? hi << (32 - n) | lo >> n : lo; }
// Products of parts of two words, added to c.
#define GOCUDA_DOT(T, byte, half)                                                              \
    static GOCUDA_INLINE T __dp4a(T a, T b, T c) {                                             \
        for (int i = 0; i < 4; i++) c += (T)(byte)(a >> 8 * i) * (T)(byte)(b >> 8 * i);        \
        return c;                                                                              \
    }                                                                                          \
    static GOCUDA_INLINE T __dp2a_lo(T a, T b, T c) { return c + (T)(half)a * (T)(byte)b + (T)(half)(a >> 16) * (T)(byte)(b >> 8); }           \
    static GOCUDA_INLINE T __dp2a_hi(T a, T b, T c) { return c + (T)(half)a * (T)(byte)(b >> 16) + (T)(half)(a >> 16) * (T)(byte)(b >> 24); }
GOCUDA_DOT(int, signed char, short)
GOCUDA_DOT(unsigned, unsigned char, unsigned short)

#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931e+0
#ifndef INFINITY
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#endif

// Those of <utility> hide these in std.
namespace gocuda_std {
template <class T> struct plain { typedef T type; };
template <class T> struct plain<T &> { typedef T type; };
template <class T> struct plain<T &&> { typedef T type; };
template <class T> constexpr typename plain<T>::type &&move(T &&v) noexcept { return static_cast<typename plain<T>::type &&>(v); }
template <class T> constexpr T &&forward(typename plain<T>::type &v) noexcept { return static_cast<T &&>(v); }
template <class T> constexpr T &&forward(typename plain<T>::type &&v) noexcept { return static_cast<T &&>(v); }
} // namespace gocuda_std
namespace std { using namespace gocuda_std; }
