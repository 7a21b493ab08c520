// What the instructions of PTX mean that C++ has no operator for (package ptx/cpp
// writes the calls). Numbers are as the PTX manual has them.
#pragma once
#include "cuda_sim.h"
#ifdef GOCUDA_RACES
#include "sim/order.h"
#endif
#ifdef GOCUDA_COUNTS
#include "sim/count.h"
#endif
#include "sim/half.h"

typedef unsigned __int128 gocuda_u128;

namespace gocuda {

template <unsigned N, unsigned A> struct __attribute__((aligned(A))) Bytes { gocuda_u8 of[N]; };
template <class T, unsigned long N, unsigned A> struct __attribute__((aligned(A))) Array { T of[N]; };
template <class T, unsigned N> struct __attribute__((aligned(sizeof(T) * N), may_alias)) Vector { T of[N]; };

// bits_as has the same bits.
template <class T, class F> static GOCUDA_INLINE T bits_as(F v) {
    static_assert(sizeof(T) == sizeof(F));
    T r;
    __builtin_memcpy(&r, &v, sizeof r);
    return r;
}

} // namespace gocuda

#include "sim/access.h"
#include "sim/regions.h"

namespace gocuda {

// Parameters.
template <class T, class V> static GOCUDA_INLINE T pick(const V &v, unsigned at) {
    T r;
    __builtin_memcpy(&r, (const char *)&v + at, sizeof r);
    return r;
}
template <class T, class V> static GOCUDA_INLINE void put(V &v, unsigned at, T x) { __builtin_memcpy((char *)&v + at, &x, sizeof x); }

// Memory, with an order.
template <class T> static GOCUDA_INLINE T load_acquire(gocuda_u64 a) {
    T v = *(volatile T *)a;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return v;
}
template <class T> static GOCUDA_INLINE void store_release(gocuda_u64 a, T v) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    *(volatile T *)a = v;
}
static GOCUDA_INLINE bool in_shared(gocuda_u64 a) { return a - (gocuda_u64)dynamic_shared() < GOCUDA_MOST_SHARED; }
static GOCUDA_INLINE bool in_local(gocuda_u64 a) { return (a ^ (gocuda_u64)self()) < GOCUDA_STACK; }

// Integers.
template <class T> struct Unsigned { typedef T type; };
template <> struct Unsigned<signed char> { typedef gocuda_u8 type; };
template <> struct Unsigned<short> { typedef gocuda_u16 type; };
template <> struct Unsigned<int> { typedef gocuda_u32 type; };
template <> struct Unsigned<long> { typedef gocuda_u64 type; };
template <class T> using unsigned_of = typename Unsigned<T>::type;

template <class T> static GOCUDA_INLINE T shl(T v, gocuda_u32 n) { return n >= sizeof(T) * 8 ? (T)0 : (T)((gocuda_u64)v << n); }
template <class T> static GOCUDA_INLINE T shr(T v, gocuda_u32 n) {
    if (n >= sizeof(T) * 8) return v < 0 ? (T)-1 : (T)0;
    return (T)(v >> n);
}
extern "C" __attribute__((visibility("hidden"))) void gocuda_note_zero(gocuda_u32 line);
static const gocuda_u32 untold = ~0u; // in the place of a line: a division by 0 is not reported
template <class T> static GOCUDA_INLINE bool divides(T b, gocuda_u32 line) {
    if (__builtin_expect(b != 0, 1)) return true;
#ifdef GOCUDA_CHECK
    if (line != untold) gocuda_note_zero(line);
#endif
    return false;
}
template <class T> static GOCUDA_INLINE T div(T a, T b, gocuda_u32 line) {
    if (!divides(b, line)) return (T)-1;
    if ((T)-1 < 0 && b == (T)-1) return (T)(0 - (unsigned_of<T>)a);
    return (T)(a / b);
}
template <class T> static GOCUDA_INLINE T rem(T a, T b, gocuda_u32 line) {
    if (!divides(b, line)) return (T)-1;
    if ((T)-1 < 0 && b == (T)-1) return 0;
    return (T)(a % b);
}
template <class T> static GOCUDA_INLINE T high(T a, T b) {
    if constexpr (sizeof(T) == 8 && (T)-1 < 0) return (T)((__int128)a * b >> 64);
    else if constexpr (sizeof(T) == 8) return (T)((unsigned __int128)a * b >> 64);
    else if constexpr ((T)-1 < 0) return (T)((long)a * b >> (sizeof(T) * 8));
    else return (T)((gocuda_u64)a * b >> (sizeof(T) * 8));
}
template <class T> static GOCUDA_INLINE T low24(T v) { return (T)((unsigned_of<T>)v << 8) >> 8; }
template <class T> static GOCUDA_INLINE T add_sat(T a, T b) {
    T r;
    if (!__builtin_add_overflow(a, b, &r)) return r;
    return (T)((T)-1 < 0 && a < 0 ? (unsigned_of<T>)1 << (sizeof(T) * 8 - 1) : ((unsigned_of<T>)1 << (sizeof(T) * 8 - 1)) - 1);
}
template <class T> static GOCUDA_INLINE T sub_sat(T a, T b) {
    T r;
    if (!__builtin_sub_overflow(a, b, &r)) return r;
    return (T)((T)-1 < 0 && a < 0 ? (unsigned_of<T>)1 << (sizeof(T) * 8 - 1) : ((unsigned_of<T>)1 << (sizeof(T) * 8 - 1)) - 1);
}
// Carries: of a subtraction, the borrow.
template <class T> static GOCUDA_INLINE T add_carry(T a, T b, bool in, bool &out) {
    T s, r;
    bool one = __builtin_add_overflow(a, b, &s), two = __builtin_add_overflow(s, (T)in, &r);
    out = one | two;
    return r;
}
template <class T> static GOCUDA_INLINE T sub_carry(T a, T b, bool in, bool &out) {
    T s, r;
    bool one = __builtin_sub_overflow(a, b, &s), two = __builtin_sub_overflow(s, (T)in, &r);
    out = one | two;
    return r;
}
template <class T> static GOCUDA_INLINE gocuda_u32 popc(T v) { return (gocuda_u32)__builtin_popcountl(v); }
template <class T> static GOCUDA_INLINE gocuda_u32 clz(T v) { return v ? (gocuda_u32)__builtin_clzl(v) - (64 - (gocuda_u32)sizeof(T) * 8) : (gocuda_u32)sizeof(T) * 8; }
template <class T> static GOCUDA_INLINE T brev(T v) {
    gocuda_u64 x = v;
    x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
    return (T)(__builtin_bswap64(x) >> (64 - sizeof(T) * 8));
}
// bfind is the highest bit that is not the sign, ~0 for none; or by how much to shift to it.
template <class T> static GOCUDA_INLINE gocuda_u32 bfind(T v, bool shift) {
    unsigned_of<T> u = (unsigned_of<T>)(v < 0 ? ~v : v);
    if (u == 0) return ~0u;
    gocuda_u32 n = clz(u);
    return shift ? n : (gocuda_u32)sizeof(T) * 8 - 1 - n;
}
// field bounds a place or a length in a word, of which 32 bits look at the lowest 8.
template <class T> static GOCUDA_INLINE gocuda_u32 field(gocuda_u32 n) { return sizeof(T) == 4 ? n & 255 : n < 255 ? n : 255; }
template <class T> static GOCUDA_INLINE T bfe(T v, gocuda_u32 at, gocuda_u32 n) {
    at = field<T>(at), n = field<T>(n);
    const gocuda_u32 bits = sizeof(T) * 8;
    if (n == 0) return 0;
    gocuda_u32 end = at + n;
    T sign = (T)-1 < 0 && (v >> ((end < bits ? end : bits) - 1) & 1) ? (T)-1 : (T)0;
    if (at >= bits) return sign;
    unsigned_of<T> r = (unsigned_of<T>)v >> at;
    if (n < bits) {
        unsigned_of<T> mask = ((unsigned_of<T>)1 << n) - 1;
        r = (r & mask) | ((unsigned_of<T>)sign & ~mask);
        if (end > bits) r |= (unsigned_of<T>)sign << (bits - at);
    } else if (at) r |= (unsigned_of<T>)sign << (bits - at);
    return (T)r;
}
template <class T> static GOCUDA_INLINE T bfi(T a, T b, gocuda_u32 at, gocuda_u32 n) {
    at = field<T>(at), n = field<T>(n);
    const gocuda_u32 bits = sizeof(T) * 8;
    if (at >= bits || n == 0) return b;
    T mask = (T)((n < bits ? ((T)1 << n) - 1 : ~(T)0) << at);
    return (T)((b & ~mask) | ((T)(a << at) & mask));
}
static GOCUDA_INLINE gocuda_u32 prmt(gocuda_u32 a, gocuda_u32 b, gocuda_u32 how) {
    gocuda_u64 all = a | (gocuda_u64)b << 32;
    gocuda_u32 r = 0;
    for (int i = 0; i < 4; i++) {
        gocuda_u32 s = how >> (4 * i), v = (gocuda_u32)(all >> (8 * (s & 7))) & 255;
        if (s & 8) v = v & 128 ? 255 : 0;
        r |= v << (8 * i);
    }
    return r;
}
static GOCUDA_INLINE gocuda_u32 ones_from(gocuda_u32 n) { return n < 32 ? ~0u << n : 0; }
template <class T> static GOCUDA_INLINE T bmsk(T at, gocuda_u32 n, bool wrap) {
    if (wrap) at &= 31, n &= 31;
    return ones_from(at) & ~ones_from(at + (n < 32 ? n : 32));
}
template <class T> static GOCUDA_INLINE T szext(T v, gocuda_u32 n, bool wrap) {
    if (wrap) n &= 31;
    gocuda_u32 mask = ones_from(n);
    bool sign = (T)-1 < 0 && n > 0 && n < 32 && (v >> (n - 1) & 1);
    return (T)(((gocuda_u32)v & ~mask) | (sign ? mask : 0));
}
template <class T> static GOCUDA_INLINE T positive(T v) { return v > 0 ? v : 0; }
template <class T> static GOCUDA_INLINE gocuda_u32 min_of(__int128 a, T b) { return (gocuda_u32)(a < b ? a : b); }
template <class T> static GOCUDA_INLINE gocuda_u32 max_of(__int128 a, T b) { return (gocuda_u32)(a > b ? a : b); }

// Parts of words. piece is the nth one of so many bits, with a sign or without.
template <int bits, bool sign> static GOCUDA_INLINE long piece(gocuda_u64 v, gocuda_u32 n) {
    gocuda_u64 x = v >> (n * bits) << (64 - bits);
    return sign ? (long)x >> (64 - bits) : (long)(x >> (64 - bits));
}
template <int bits> static GOCUDA_INLINE gocuda_u32 merged(gocuda_u32 c, gocuda_u32 v, int n) {
    constexpr gocuda_u32 all = ~0u >> (32 - bits);
    return (c & ~(all << (n * bits))) | (v & all) << (n * bits);
}
template <int bits, bool sign, class T> static GOCUDA_INLINE T bounded(T v) {
    constexpr long most = (1l << (sign ? bits - 1 : bits)) - 1, least = sign ? -most - 1 : 0;
    return v < least ? (T)least : v > most ? (T)most : v;
}
template <int bits, bool A, bool B> static GOCUDA_INLINE gocuda_u32 dot(gocuda_u32 a, gocuda_u32 b, gocuda_u32 c, int first) {
    for (int i = 0; i < 32 / bits; i++) c += (gocuda_u32)(piece<bits, A>(a, i) * piece<8, B>(b, first + i));
    return c;
}
// video adds up, or puts into c, what f makes of the parts of a and b that digits select, where mask says so.
template <int bits, bool A, bool B, class F>
static GOCUDA_INLINE gocuda_u32 video(gocuda_u32 a, gocuda_u32 b, gocuda_u32 c, gocuda_u32 as, gocuda_u32 bs, gocuda_u32 mask, bool add, F f) {
    gocuda_u64 both = a | (gocuda_u64)b << 32;
    for (int i = 0; i < 32 / bits; i++) {
        if (!(mask >> i & 1)) continue;
        gocuda_u32 v = (gocuda_u32)f(piece<bits, A>(both, as >> (4 * i) & 15), piece<bits, B>(both, bs >> (4 * i) & 15));
        c = add ? c + v : merged<bits>(c, v, i);
    }
    return c;
}
static GOCUDA_INLINE gocuda_u32 lop3(gocuda_u32 a, gocuda_u32 b, gocuda_u32 c, gocuda_u32 table) {
    gocuda_u32 r = 0;
    for (int i = 0; i < 8; i++)
        if (table >> i & 1) r |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return r;
}
static GOCUDA_INLINE gocuda_u32 funnel_l(gocuda_u32 a, gocuda_u32 b, gocuda_u32 n, bool wrap) {
    n = wrap ? n & 31 : n < 32 ? n : 32;
    return (gocuda_u32)((((gocuda_u64)b << 32 | a) << n) >> 32);
}
static GOCUDA_INLINE gocuda_u32 funnel_r(gocuda_u32 a, gocuda_u32 b, gocuda_u32 n, bool wrap) {
    n = wrap ? n & 31 : n < 32 ? n : 32;
    return (gocuda_u32)(((gocuda_u64)b << 32 | a) >> n);
}
// fitted is a number, or the nearest that there is.
template <class T, class F> static GOCUDA_INLINE T fitted(F v) {
    constexpr bool sign = (T)-1 < 0;
    constexpr __int128 most = sign ? ((__int128)1 << (sizeof(T) * 8 - 1)) - 1 : ((__int128)1 << sizeof(T) * 8) - 1, least = sign ? -most - 1 : 0;
    return (__int128)v > most ? (T)most : (__int128)v < least ? (T)least : (T)v;
}

// Numbers with a fraction. Arithmetic of f32 that has no number for a result gives one NaN.
#if defined(__AVX__) && !defined(__clang__)
static GOCUDA_INLINE float canonical(float v) {
    asm goto("vucomiss %0, %0\n\tjp %l1" ::"x"(v) : "cc" : none); // the compiler would choose without a branch, through integers
    return v;
none:
    return bits_as<float>(0x7fffffffu);
}
#else
static GOCUDA_INLINE float canonical(float v) { return v == v ? v : bits_as<float>(0x7fffffffu); }
#endif
static GOCUDA_INLINE float flushed(float v) { return __builtin_fabsf(v) < 0x1p-126f ? __builtin_copysignf(0.0f, v) : v; }
template <class T> static GOCUDA_INLINE T saturated(T v) { return v > 0 ? (v < 1 ? v : (T)1) : (T)0; }
static GOCUDA_INLINE float fuse(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static GOCUDA_INLINE double fuse(double a, double b, double c) { return __builtin_fma(a, b, c); }
// A double that is no number has the bits of the operand that a GPU prefers: of two the second, of
// three the second, the third, then the first. neg and abs leave its sign.
static GOCUDA_INLINE double no_number(double v) { return bits_as<double>(bits_as<gocuda_u64>(v) | 1ul << 51); }
static GOCUDA_INLINE double quiet(double v) { return v == v ? v : no_number(v); }
static GOCUDA_INLINE float quiet(float v) { return v; } // it will be the one that f32 has
static GOCUDA_INLINE double with_nan(double r, double first, double second, double third = 0) {
    if (__builtin_expect(r == r, 1)) return r;
    return first != first ? no_number(first) : second != second ? no_number(second) : third != third ? no_number(third) : bits_as<double>(0xfff8ul << 48);
}
#if !defined(GOCUDA_CHECK)
static GOCUDA_INLINE double fadd(double a, double b) { return a + b; } // what the host's processor prefers
static GOCUDA_INLINE double fsub(double a, double b) { return a - b; }
static GOCUDA_INLINE double fmul(double a, double b) { return a * b; }
static GOCUDA_INLINE double ffma(double a, double b, double c) { return fuse(a, b, c); }
#elif defined(__FMA__) && !defined(__clang__)
// The processor prefers the first operand of an instruction; a compiler may change their order.
static GOCUDA_INLINE double fadd(double a, double b) {
    double r;
    asm("vaddsd %2, %1, %0" : "=x"(r) : "x"(b), "x"(a));
    return r;
}
static GOCUDA_INLINE double fmul(double a, double b) {
    double r;
    asm("vmulsd %2, %1, %0" : "=x"(r) : "x"(b), "x"(a));
    return r;
}
static GOCUDA_INLINE double fsub(double a, double b) {
    asm("vfmadd132sd %2, %1, %0" : "+x"(b) : "x"(a), "x"(-1.0));
    return b;
}
static GOCUDA_INLINE double ffma(double a, double b, double c) {
    const double r = fuse(b, a, c); // where c and a are none, the processor prefers a
    asm goto("vucomisd %0, %0\n\tjp %l1" ::"x"(r) : "cc" : none);
    return r;
none:
    return with_nan(r, b, c, a);
}
#else
static GOCUDA_INLINE double fadd(double a, double b) { return with_nan(a + b, b, a); }
static GOCUDA_INLINE double fsub(double a, double b) { return with_nan(a - b, b, a); }
static GOCUDA_INLINE double fmul(double a, double b) { return with_nan(a * b, b, a); }
static GOCUDA_INLINE double ffma(double a, double b, double c) { return with_nan(fuse(a, b, c), b, c, a); }
#endif
static GOCUDA_INLINE float fneg(float v) { return -v; }
static GOCUDA_INLINE double fneg(double v) { return __builtin_expect(v == v, 1) ? -v : no_number(v); }
static GOCUDA_INLINE float fabs(float v) { return __builtin_fabsf(v); }
static GOCUDA_INLINE double fabs(double v) { return __builtin_expect(v == v, 1) ? __builtin_fabs(v) : no_number(v); }
// sign_of is copysign: the sign of a, the rest of b.
static GOCUDA_INLINE float sign_of(float a, float b) { return __builtin_copysignf(b, a); }
static GOCUDA_INLINE double sign_of(double a, double b) { return __builtin_copysign(b, a); }
template <class T> static GOCUDA_INLINE T fmin(T a, T b) {
    if (a != a) return quiet(b);
    if (b != b) return a;
    return a < b || (a == b && __builtin_signbit(a)) ? a : b;
}
template <class T> static GOCUDA_INLINE T fmax(T a, T b) {
    if (a != a) return quiet(b);
    if (b != b) return a;
    return a > b || (a == b && !__builtin_signbit(a)) ? a : b;
}
template <class T> static GOCUDA_INLINE T fmin_nan(T a, T b) { return a != a ? a : b != b ? b : fmin(a, b); }
template <class T> static GOCUDA_INLINE T fmax_nan(T a, T b) { return a != a ? a : b != b ? b : fmax(a, b); }
// with_signs is a result of absolute values, negative where one of the two numbers is.
template <class T> static GOCUDA_INLINE T with_signs(T r, T a, T b) { return r != r ? r : __builtin_signbit(a) != __builtin_signbit(b) ? -r : r; }
// is_other is ne, which is false where either is no number.
template <class T> static GOCUDA_INLINE bool is_other(T a, T b) { return a < b || a > b; }
template <class T> static GOCUDA_INLINE bool is_finite(T v) { return v - v == 0; }
template <class T> static GOCUDA_INLINE bool is_infinite(T v) { return v == v && v - v != 0; }
template <class T> static GOCUDA_INLINE bool is_number(T v) { return v == v; }
template <class T> static GOCUDA_INLINE bool is_notanumber(T v) { return v != v; }
template <class T> static GOCUDA_INLINE bool is_normal(T v) { return v == 0 || __builtin_isnormal(v); } // so is 0 on a GPU
template <class T> static GOCUDA_INLINE bool is_subnormal(T v) { return v != 0 && is_finite(v) && !__builtin_isnormal(v); }
// fused of doubles puts the nearest right by the sign of its error, the exact sum of parts. Very
// small and large numbers are scaled, so that no part is lost.
template <class To> static inline double fused(double x, double y, double z) {
    double r = fuse(x, y, z), p = x * y, error = 0;
    if (!is_finite(x) || !is_finite(y) || !is_finite(z)) return r;
    if (is_infinite(r)) return rounded<To>(r, -r);
    bool negative = __builtin_signbit(p) || __builtin_signbit(z);
    if (x != 0 && y != 0) {
        double from = z, to = r;
        if (fabs(p) < 0x1p-900) {
            x *= 0x1p600, y *= 0x1p600;
            if (fabs(z) > 0x1p-176) from = to = 0; // the nearest is z
            else from *= 0x1p600, from *= 0x1p600, to *= 0x1p600, to *= 0x1p600;
        } else if (fabs(p) > 0x1p900) {
            x *= 0x1p-300, y *= 0x1p-300, from *= 0x1p-600, to *= 0x1p-600;
            if (from == 0 && z != 0) from = __builtin_copysign(0x1p-1000, z);
        }
        p = x * y;
        double part[4] = {fuse(x, y, -p), p, from, -to};
        for (int k = 0; k < 12; k++) {
            double &a = part[k % 3], &b = part[k % 3 + 1], s = a + b, of = s - a;
            a = (a - (s - of)) + (b - of), b = s;
        }
        for (int k = 3; k >= 0 && error == 0; k--) error = part[k];
    }
    if (error == 0 && r == 0 && negative && To::down(true)) return -0.0;
    return rounded<To>(r, error);
}
// Approximations: a GPU has its own last bits.
static GOCUDA_INLINE float approx_rsqrt(float v) { return (float)(1 / __builtin_sqrt((double)v)); }
static GOCUDA_INLINE double approx_rsqrt(double v) { return 1 / __builtin_sqrt(v); }
// Of a power of 2 the whole part is the exponent, 64ths come from a table, and the rest is a series
// whose error is below that of a double.
static const double powers_of_2[64] = {
    0x1p+0, 0x1.02c9a3e778061p+0, 0x1.059b0d3158574p+0, 0x1.0874518759bc8p+0, 0x1.0b5586cf9890fp+0, 0x1.0e3ec32d3d1a2p+0, 0x1.11301d0125b51p+0, 0x1.1429aaea92dep+0,
    0x1.172b83c7d517bp+0, 0x1.1a35beb6fcb75p+0, 0x1.1d4873168b9aap+0, 0x1.2063b88628cd6p+0, 0x1.2387a6e756238p+0, 0x1.26b4565e27cddp+0, 0x1.29e9df51fdee1p+0, 0x1.2d285a6e4030bp+0,
    0x1.306fe0a31b715p+0, 0x1.33c08b26416ffp+0, 0x1.371a7373aa9cbp+0, 0x1.3a7db34e59ff7p+0, 0x1.3dea64c123422p+0, 0x1.4160a21f72e2ap+0, 0x1.44e086061892dp+0, 0x1.486a2b5c13cdp+0,
    0x1.4bfdad5362a27p+0, 0x1.4f9b2769d2ca7p+0, 0x1.5342b569d4f82p+0, 0x1.56f4736b527dap+0, 0x1.5ab07dd485429p+0, 0x1.5e76f15ad2148p+0, 0x1.6247eb03a5585p+0, 0x1.6623882552225p+0,
    0x1.6a09e667f3bcdp+0, 0x1.6dfb23c651a2fp+0, 0x1.71f75e8ec5f74p+0, 0x1.75feb564267c9p+0, 0x1.7a11473eb0187p+0, 0x1.7e2f336cf4e62p+0, 0x1.82589994cce13p+0, 0x1.868d99b4492edp+0,
    0x1.8ace5422aa0dbp+0, 0x1.8f1ae99157736p+0, 0x1.93737b0cdc5e5p+0, 0x1.97d829fde4e5p+0, 0x1.9c49182a3f09p+0, 0x1.a0c667b5de565p+0, 0x1.a5503b23e255dp+0, 0x1.a9e6b5579fdbfp+0,
    0x1.ae89f995ad3adp+0, 0x1.b33a2b84f15fbp+0, 0x1.b7f76f2fb5e47p+0, 0x1.bcc1e904bc1d2p+0, 0x1.c199bdd85529cp+0, 0x1.c67f12e57d14bp+0, 0x1.cb720dcef9069p+0, 0x1.d072d4a07897cp+0,
    0x1.d5818dcfba487p+0, 0x1.da9e603db3285p+0, 0x1.dfc97337b9b5fp+0, 0x1.e502ee78b3ff6p+0, 0x1.ea4afa2a490dap+0, 0x1.efa1bee615a27p+0, 0x1.f50765b6e454p+0, 0x1.fa7c1819e90d8p+0};
static GOCUDA_INLINE float approx_ex2(float v) {
    double x = v < -160 ? -160 : v > 160 ? 160 : (double)v, s = x + 0x1.8p46; // its last bits are the 64ths
    double f = (x - (s - 0x1.8p46)) * 0x1.62e42fefa39efp-1, p = fuse(fuse(fuse(fuse(1.0 / 120, f, 1.0 / 24), f, 1.0 / 6), f, 0.5), f * f, f);
    gocuda_u64 n = bits_as<gocuda_u64>(s);
    double t = bits_as<double>(bits_as<gocuda_u64>(kept(powers_of_2 + (n & 63))) + (n >> 6 << 52));
    return (float)fuse(t, p, t);
}
static GOCUDA_INLINE float approx_lg2(float v) { return (float)__builtin_log2((double)v); }
static GOCUDA_INLINE float approx_sin(float v) { return (float)__builtin_sin((double)v); }
static GOCUDA_INLINE float approx_cos(float v) { return (float)__builtin_cos((double)v); }
static GOCUDA_INLINE float approx_tanh(float v) { return (float)__builtin_tanh((double)v); }

} // namespace gocuda
#if defined(__AVX2__) && defined(__FMA__) && !defined(__clang__)
#include "sim/lanes.h"
#endif
namespace gocuda {
// Formats of 16 bits.
template <class To, int F, int E> static GOCUDA_INLINE gocuda_u16 narrowed(double v) {
    gocuda_u16 r = narrow<F, E>(v);
    double error = v - (double)widen<F, E>(r);
    bool negative = r >> 15;
    if (error > 0 && To::up(negative)) return negative ? r - 1 : r + 1;
    if (error < 0 && To::down(negative)) return negative ? r + 1 : r - 1;
    return r;
}
} // namespace gocuda
#include "sim/fp8.h"
namespace gocuda {
// nan_of is r, or of a double that is no number what a format has room for of it.
template <int F, int E> static GOCUDA_INLINE gocuda_u16 nan_of(double v, gocuda_u16 r) {
    if (v == v) return r;
    gocuda_u64 b = bits_as<gocuda_u64>(v);
    return (gocuda_u16)((b >> 48 & 0x8000) | ((2u << E) - 1) << (F - 1) | (b >> (52 - F) & ((1u << F) - 1)));
}
// odd_of is an integer whose last bit as a double tells whether something was cut off.
template <class T> static GOCUDA_INLINE double odd_of(T v) {
    if (v < (T)(1l << 52) && ((T)-1 > 0 || v > (T) - (1l << 52))) return (double)v;
    return (double)(v >> 12 | ((v & 4095) != 0)) * 4096;
}
template <int F, int E> struct Short {
    static GOCUDA_INLINE gocuda_u16 add(gocuda_u16 a, gocuda_u16 b) { return narrow<F, E>(odd(1.0, widen<F, E>(a), widen<F, E>(b))); }
    static GOCUDA_INLINE gocuda_u16 sub(gocuda_u16 a, gocuda_u16 b) { return narrow<F, E>(odd(-1.0, widen<F, E>(b), widen<F, E>(a))); }
    static GOCUDA_INLINE gocuda_u16 mul(gocuda_u16 a, gocuda_u16 b) { return narrow<F, E>((double)widen<F, E>(a) * widen<F, E>(b)); }
    static GOCUDA_INLINE gocuda_u16 fma(gocuda_u16 a, gocuda_u16 b, gocuda_u16 c) { return narrow<F, E>(odd(widen<F, E>(a), widen<F, E>(b), widen<F, E>(c))); }
    static GOCUDA_INLINE gocuda_u16 canonical(gocuda_u16 a) { return (a & 0x7fff) > ((1 << E) - 1) << F ? 0x7fff : a; }
    static GOCUDA_INLINE gocuda_u16 neg(gocuda_u16 a) { return canonical(canonical(a) ^ 0x8000); }
    static GOCUDA_INLINE gocuda_u16 abs(gocuda_u16 a) { return canonical(a & 0x7fff); }
    static GOCUDA_INLINE gocuda_u16 min(gocuda_u16 a, gocuda_u16 b) { return narrow<F, E>((double)fmin(widen<F, E>(a), widen<F, E>(b))); }
    static GOCUDA_INLINE gocuda_u16 max(gocuda_u16 a, gocuda_u16 b) { return narrow<F, E>((double)fmax(widen<F, E>(a), widen<F, E>(b))); }
    static GOCUDA_INLINE gocuda_u16 min_nan(gocuda_u16 a, gocuda_u16 b) { return narrow<F, E>((double)fmin_nan(widen<F, E>(a), widen<F, E>(b))); }
    static GOCUDA_INLINE gocuda_u16 max_nan(gocuda_u16 a, gocuda_u16 b) { return narrow<F, E>((double)fmax_nan(widen<F, E>(a), widen<F, E>(b))); }
    static GOCUDA_INLINE gocuda_u16 with_signs(gocuda_u16 r, gocuda_u16 a, gocuda_u16 b) { return r == 0x7fff ? r : r | ((a ^ b) & 0x8000); }
    static GOCUDA_INLINE gocuda_u16 ex2(gocuda_u16 a) { return narrow<F, E>(__builtin_exp2((double)widen<F, E>(a))); }
    static GOCUDA_INLINE gocuda_u16 tanh(gocuda_u16 a) { return narrow<F, E>(__builtin_tanh((double)widen<F, E>(a))); }
    static GOCUDA_INLINE gocuda_u16 flushed(gocuda_u16 a) { return abs(a) >> F ? a : a & 0x8000; }
    static GOCUDA_INLINE gocuda_u16 finite(gocuda_u16 a) { return abs(a) == ((1 << E) - 1) << F ? a - 1 : a; }
    static GOCUDA_INLINE gocuda_u16 relu(gocuda_u16 a) { return a >> 15 ? 0 : a; }
    static GOCUDA_INLINE gocuda_u16 saturated(gocuda_u16 a) { return narrow<F, E>((double)gocuda::saturated(widen<F, E>(a))); }
};
// Of pairs each number is added by itself.
#define GOCUDA_ATOMIC_SHORT(op)                                                                       \
    template <int F, int E, class T> static GOCUDA_INLINE T atomic_##op(T *p, T v) {                  \
        Atomic section;                                                                               \
        T old = update(p, [=](T o) {                                                                  \
            T r = Short<F, E>::op(o, v);                                                              \
            if constexpr (sizeof(T) == 4) r |= (gocuda_u32)Short<F, E>::op(o >> 16, v >> 16) << 16;   \
            return r;                                                                                 \
        });                                                                                           \
        changed(v != 0);                                                                              \
        return old;                                                                                   \
    }
GOCUDA_ATOMIC_SHORT(add)
GOCUDA_ATOMIC_SHORT(min)
GOCUDA_ATOMIC_SHORT(max)

// Words of 64 bits that count around, and of 128 bits.
template <class T> static GOCUDA_INLINE T atomic_inc(T *p, T v) {
    Atomic section;
    T old = update(p, [=](T o) { return o >= v ? (T)0 : o + 1; });
    changed(true);
    return old;
}
template <class T> static GOCUDA_INLINE T atomic_dec(T *p, T v) {
    Atomic section;
    T old = update(p, [=](T o) { return o == 0 || o > v ? v : o - 1; });
    changed(true);
    return old;
}
static GOCUDA_INLINE bool swap_wide(gocuda_u128 *p, gocuda_u128 &expect, gocuda_u128 v) {
#ifdef __x86_64__
    gocuda_u64 low = (gocuda_u64)expect, high = (gocuda_u64)(expect >> 64);
    bool same;
    __asm__ volatile("lock cmpxchg16b %1" : "=@ccz"(same), "+m"(*p), "+a"(low), "+d"(high) : "b"((gocuda_u64)v), "c"((gocuda_u64)(v >> 64)) : "memory");
    expect = (gocuda_u128)high << 64 | low;
    return same;
#else
    return __atomic_compare_exchange_n(p, &expect, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
#endif
}
static GOCUDA_INLINE gocuda_u128 atomic_cas(gocuda_u128 *p, gocuda_u128 expect, gocuda_u128 v) {
    Atomic section;
    if (swap_wide(p, expect, v)) changed(v != expect);
    else pause();
    return expect;
}
static GOCUDA_INLINE gocuda_u128 atomic_exch(gocuda_u128 *p, gocuda_u128 v) {
    Atomic section;
    gocuda_u128 old = *p;
    while (!swap_wide(p, old, v)) {}
    changed(old != v);
    return old;
}

// Lanes of a warp. limits has the segments' mask above the lane that is the last to be reached.
static GOCUDA_INLINE gocuda_u32 shuffled(gocuda_u32 v, int from, bool in, gocuda_u32 mask, bool &p) {
    p = in;
    return (gocuda_u32)exchange(opShuffle, mask, v, in ? (gocuda_u32)from : lane());
}
#define GOCUDA_SHUFFLE(name, from, in)                                                                                        \
    static GOCUDA_INLINE gocuda_u32 shfl_##name(gocuda_u32 v, gocuda_u32 by, gocuda_u32 limits, gocuda_u32 mask, bool &p) {   \
        int n = (int)(by & 31), last = (int)(limits & 31), segment = (int)(limits >> 8 & 31), l = (int)lane();                \
        int most = (l & segment) | (last & ~segment), least = l & segment, to = from;                                         \
        (void)least;                                                                                                          \
        return shuffled(v, to, in, mask, p);                                                                                  \
    }
GOCUDA_SHUFFLE(up, l - n, to >= most)
GOCUDA_SHUFFLE(down, l + n, to <= most)
GOCUDA_SHUFFLE(bfly, l ^ n, to <= most)
GOCUDA_SHUFFLE(idx, least | (n & ~segment), to <= most)
static GOCUDA_INLINE bool vote_uni(gocuda_u32 mask, bool p) {
    gocuda_u32 yes = __ballot_sync(mask, p);
    return yes == 0 || yes == mask;
}

extern "C" int clock_gettime(int, long *) noexcept;
// global_timer has nanoseconds since 1970.
static inline GOCUDA_RAW gocuda_u64 global_timer() {
    long now[2] = {};
    clock_gettime(0, now);
    return (gocuda_u64)now[0] * 1000000000 + (gocuda_u64)now[1];
}

// Barriers with a number.
static GOCUDA_INLINE gocuda_u32 vote_at(gocuda_u32 number, gocuda_u32 threads, bool p) {
    come_to(number, threads, p, 1);
    return load(self()->answer);
}
static GOCUDA_INLINE gocuda_u32 popc_at(gocuda_u32 number, gocuda_u32 threads, bool p) { return vote_at(number, threads, p) & ~0u >> 1; }
static GOCUDA_INLINE bool and_at(gocuda_u32 number, gocuda_u32 threads, bool p) { return vote_at(number, threads, p) >> 31; }
static GOCUDA_INLINE bool or_at(gocuda_u32 number, gocuda_u32 threads, bool p) { return popc_at(number, threads, p) != 0; }

// Barriers in memory, of 64 bits: how many are expected (20 bits) and pending (20), bytes that are
// on their way (23, with a sign), and the phase, which is the sign.
enum : gocuda_u64 { onePending = 1ul << 20, oneByte = 1ul << 40, phaseBit = 1ul << 63, pendingBits = 0xffffful << 20, bytesBits = 0x7ffffful << 40 };
static GOCUDA_INLINE void mbarrier_init(gocuda_u64 a, gocuda_u32 n) { *(volatile gocuda_u64 *)a = (n & 0xffffful) * (1 + onePending); }
// mbarrier_change gives the state before. The phase ends where nothing is left to wait for.
static GOCUDA_INLINE gocuda_u64 mbarrier_change(gocuda_u64 a, gocuda_u64 arrivals, gocuda_u64 dropped, gocuda_u64 bytes) {
    Atomic section;
#ifdef GOCUDA_RACES
    order_arrive(a);
#endif
    gocuda_u64 old = update((gocuda_u64 *)a, [=](gocuda_u64 o) {
        gocuda_u64 s = (o & ~bytesBits) | ((o + bytes * oneByte) & bytesBits);
        s -= arrivals * onePending + dropped;
        if (!(s & (pendingBits | bytesBits))) s = (s ^ phaseBit) + (s & 0xfffff) * onePending;
        return s;
    });
    changed(true);
#ifdef GOCUDA_RACES
    if ((old ^ *(volatile gocuda_u64 *)a) >> 63) order_phase(a);
#endif
    return old;
}
// mbarrier_over tells whether the phase is not that one any more. One that waits gives others its turn.
static GOCUDA_INLINE bool mbarrier_over(gocuda_u64 a, bool phase, bool waits) {
    bool over = (*(volatile gocuda_u64 *)a >> 63) != (gocuda_u64)phase;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#ifdef GOCUDA_RACES
    if (over) order_passed(a);
#endif
    if (!over && waits) pause();
    return over;
}
// Copies that need not wait are done at once. Of n bytes the first few are copied, the others are 0.
template <unsigned N> static GOCUDA_INLINE void copy_part(gocuda_u64 to, gocuda_u64 from, gocuda_u32 n) {
    for (gocuda_u32 i = 0; i < N; i++) ((gocuda_u8 *)to)[i] = i < n ? ((const gocuda_u8 *)from)[i] : 0;
}
static GOCUDA_INLINE void copy_bulk(gocuda_u64 to, gocuda_u64 from, gocuda_u32 n) {
    for (gocuda_u32 i = 0; i < n; i += 16) *(Vector<gocuda_u64, 2> *)(to + i) = *(const Vector<gocuda_u64, 2> *)(from + i);
}
// copy_to_many copies to the same place of each block of the cluster that a mask names.
static inline void copy_to_many(gocuda_u64 to, gocuda_u64 from, gocuda_u32 n, gocuda_u64 barrier, gocuda_u32 blocks) {
    for (gocuda_u32 r = 0; r < cluster_size(); r++) {
        if (!(blocks >> r & 1)) continue;
        copy_bulk((gocuda_u64)cluster_shared((void *)to, r), from, n);
        mbarrier_change((gocuda_u64)cluster_shared((void *)barrier, r), 0, 0, -(gocuda_u64)n);
    }
}

// Clusters and grids.
static inline GOCUDA_RAW gocuda_u32 cluster_dim(int axis) {
    Launch *l = self()->worker->launch;
    return l->cluster[0] > 1 ? l->cluster[1 + axis] : 1;
}
// rank_at is the cluster's block in whose shared memory an address is; without one, all blocks' number.
static inline GOCUDA_RAW gocuda_u32 rank_at(gocuda_u64 a) {
    gocuda_u32 r = 0, n = cluster_size();
    while (r < n && a - (gocuda_u64)cluster_shared(dynamic_shared(), r) >= self()->worker->launch->shared) r++;
    return r;
}
static inline bool in_cluster(gocuda_u64 a) { return rank_at(a) < cluster_size(); }
// grid_counter is where the blocks of a cooperative launch, which run on one worker, count who has come.
static inline GOCUDA_RAW gocuda_u64 grid_counter() {
    Worker *w = self()->worker;
    return w->launch->cooperative ? (gocuda_u64)thread_of((gocuda_u64)w->stacks)->grid : 0;
}

// What kernels call.
static inline void assert_fails(gocuda_u64 text, gocuda_u64, gocuda_u32 line, gocuda_u64, gocuda_u64) { fail(2, 0, 0, 0, (const char *)text, line); }
static inline gocuda_u64 device_malloc(gocuda_u64 n) { return (gocuda_u64)gocuda_heap_malloc(n); }
static inline void device_free(gocuda_u64 p) { gocuda_heap_free((void *)p); }

} // namespace gocuda

GOCUDA_CALL gocuda_u32 gocuda_vprintf(gocuda_u64 format, gocuda_u64 args);
