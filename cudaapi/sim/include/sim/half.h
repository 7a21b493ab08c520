// Formats of 16 bits. Sums and products are reckoned in double, where they are
// exact or keep a trace of what they lack, and rounded once.
#pragma once

namespace gocuda {

// narrow rounds to a format of so many bits of fraction and exponent, to the
// nearest, ties to even.
template <int fraction, int exponent> static inline unsigned short narrow(double v) {
    gocuda_u64 b;
    __builtin_memcpy(&b, &v, 8);
    const unsigned sign = (unsigned)(b >> 48) & 0x8000;
    const int bias = (1 << (exponent - 1)) - 1, drop = 52 - fraction;
    const unsigned infinity = ((1u << exponent) - 1) << fraction;
    b &= ~0ul >> 1;
    if (b > 0x7fful << 52) return (unsigned short)(0x7fff); // as CUDA's NaN
    int e = (int)(b >> 52) - 1023 + bias;
    if (b == 0x7fful << 52 || e >= (1 << exponent) - 1) return (unsigned short)(sign | infinity);
    gocuda_u64 m = b & ((1ul << 52) - 1);
    int shift = drop;
    if (e > 0) {
        m |= (gocuda_u64)e << 52; // a carry goes on to the exponent, as it should
    } else { // subnormal
        m |= 1ul << 52;
        shift += 1 - e;
        if (shift > 54) return (unsigned short)sign;
    }
    gocuda_u64 half = 1ul << (shift - 1), rest = m & (2 * half - 1), out = m >> shift;
    if (rest > half || (rest == half && (out & 1))) out++;
    return (unsigned short)(sign | (unsigned)out);
}

template <int fraction, int exponent> static inline float widen(unsigned short h) {
    const int bias = (1 << (exponent - 1)) - 1;
    unsigned sign = (h & 0x8000u) << 16, e = (h & 0x7fffu) >> fraction, m = h & ((1u << fraction) - 1);
    unsigned b;
    if (e == (1u << exponent) - 1) b = 0x7f800000u | m << (23 - fraction);
    else if (e) b = (e + 127 - bias) << 23 | m << (23 - fraction);
    else {
        float v = (float)m * (exponent == 8 ? 0x1p-133f : 0x1p-24f);
        __builtin_memcpy(&b, &v, 4);
    }
    b |= sign;
    float v;
    __builtin_memcpy(&v, &b, 4);
    return v;
}

// odd is a*b+c whose last bit tells whether something was rounded away.
static inline double odd(double a, double b, double c) {
    double p = a * b, s = p + c, t = s - p, e = (p - (s - t)) + (c - t);
    gocuda_u64 bits;
    __builtin_memcpy(&bits, &s, 8);
    if (e != 0 && !(bits & 1) && s - s == 0) {
        bits += (e > 0) == (s > 0) ? 1 : -1ul;
        __builtin_memcpy(&s, &bits, 8);
    }
    return s;
}

} // namespace gocuda

#define GOCUDA_HALF_OP(H, H2, op)                                                                                      \
    static GOCUDA_INLINE H operator op(const H &a, const H &b) { return H((double)(float)a op(double)(float) b); }     \
    static GOCUDA_INLINE H &operator op##=(H &a, const H &b) { return a = a op b; }                                    \
    static GOCUDA_INLINE H2 operator op(const H2 &a, const H2 &b) { return H2{a.x op b.x, a.y op b.y}; }               \
    static GOCUDA_INLINE H2 &operator op##=(H2 &a, const H2 &b) { return a = a op b; }
#define GOCUDA_HALF_COMPARE(H, H2, op, name)                                                                           \
    static GOCUDA_INLINE bool operator op(const H &a, const H &b) { return (float)a op(float) b; }                     \
    static GOCUDA_INLINE bool __h##name(H a, H b) { return a op b; }                                                   \
    static GOCUDA_INLINE H2 __h##name##2(H2 a, H2 b) { return H2{H(a.x op b.x ? 1.f : 0.f), H(a.y op b.y ? 1.f : 0.f)}; } \
    static GOCUDA_INLINE bool __hb##name##2(H2 a, H2 b) { return a.x op b.x && a.y op b.y; }
#define GOCUDA_HALF_TWO(H, H2, name, expr)                                                                             \
    static GOCUDA_INLINE H name(H a, H b) { return expr; }                                                             \
    static GOCUDA_INLINE H2 name##2(H2 v, H2 w) { return H2{name(v.x, w.x), name(v.y, w.y)}; }
#define GOCUDA_HALF_ONE(H, H2, name, expr)                                                                             \
    static GOCUDA_INLINE H h##name(H h) { float a = h; return H(expr); }                                               \
    static GOCUDA_INLINE H2 h2##name(H2 v) { return H2{h##name(v.x), h##name(v.y)}; }
#define GOCUDA_HALF_TO(H, T, to, name)                                                                                 \
    static GOCUDA_INLINE T __##name##2##to##_rn(H h) { return (T)__builtin_rint((float)h); }                           \
    static GOCUDA_INLINE T __##name##2##to##_rz(H h) { return (T)(float)h; }                                           \
    static GOCUDA_INLINE T __##name##2##to##_rd(H h) { return (T)__builtin_floor((float)h); }                          \
    static GOCUDA_INLINE T __##name##2##to##_ru(H h) { return (T)__builtin_ceil((float)h); }                           \
    static GOCUDA_INLINE H __##to##2##name##_rn(T v) { return H((double)v); }

// GOCUDA_HALF is a format and its pairs, with CUDA's functions on them.
#define GOCUDA_HALF(H, H2, name, fraction, exponent)                                                                   \
    struct __attribute__((aligned(2))) H {                                                                             \
        unsigned short bits;                                                                                           \
        H() = default;                                                                                                 \
        GOCUDA_INLINE H(float v) : bits(gocuda::narrow<fraction, exponent>(v)) {}                                      \
        GOCUDA_INLINE H(double v) : bits(gocuda::narrow<fraction, exponent>(v)) {}                                     \
        GOCUDA_INLINE H(int v) : H((double)v) {}                                                                       \
        GOCUDA_INLINE H(unsigned v) : H((double)v) {}                                                                  \
        GOCUDA_INLINE H(long long v) : H((double)v) {}                                                                 \
        GOCUDA_INLINE H(unsigned long long v) : H((double)v) {}                                                        \
        GOCUDA_INLINE operator float() const { return gocuda::widen<fraction, exponent>(bits); }                       \
    };                                                                                                                 \
    struct __attribute__((aligned(4))) H2 {                                                                            \
        H x, y;                                                                                                        \
        H2() = default;                                                                                                \
        GOCUDA_INLINE H2(const H &a, const H &b) : x(a), y(b) {}                                                       \
    };                                                                                                                 \
    GOCUDA_HALF_OP(H, H2, +)                                                                                           \
    GOCUDA_HALF_OP(H, H2, -)                                                                                           \
    GOCUDA_HALF_OP(H, H2, *)                                                                                           \
    GOCUDA_HALF_OP(H, H2, /)                                                                                           \
    GOCUDA_HALF_COMPARE(H, H2, ==, eq)                                                                                 \
    GOCUDA_HALF_COMPARE(H, H2, !=, ne)                                                                                 \
    GOCUDA_HALF_COMPARE(H, H2, <, lt)                                                                                  \
    GOCUDA_HALF_COMPARE(H, H2, <=, le)                                                                                 \
    GOCUDA_HALF_COMPARE(H, H2, >, gt)                                                                                  \
    GOCUDA_HALF_COMPARE(H, H2, >=, ge)                                                                                 \
    static GOCUDA_INLINE H operator-(const H &a) { H r = a; r.bits ^= 0x8000; return r; }                              \
    static GOCUDA_INLINE H2 operator-(const H2 &a) { return H2{-a.x, -a.y}; }                                          \
    static GOCUDA_INLINE H __hneg(H a) { return -a; }                                                                  \
    static GOCUDA_INLINE H2 __hneg2(H2 a) { return -a; }                                                               \
    static GOCUDA_INLINE H __habs(H a) { a.bits &= 0x7fff; return a; }                                                 \
    static GOCUDA_INLINE H2 __habs2(H2 a) { return H2{__habs(a.x), __habs(a.y)}; }                                     \
    GOCUDA_HALF_TWO(H, H2, __hadd, a + b)                                                                              \
    GOCUDA_HALF_TWO(H, H2, __hsub, a - b)                                                                              \
    GOCUDA_HALF_TWO(H, H2, __hmul, a *b)                                                                               \
    GOCUDA_HALF_TWO(H, H2, __hmax, H(__builtin_fmaxf(a, b)))                                                           \
    GOCUDA_HALF_TWO(H, H2, __hmin, H(__builtin_fminf(a, b)))                                                           \
    static GOCUDA_INLINE H __hdiv(H a, H b) { return a / b; }                                                          \
    static GOCUDA_INLINE H2 __h2div(H2 a, H2 b) { return a / b; }                                                      \
    static GOCUDA_INLINE H __hfma(H a, H b, H c) { return H(gocuda::odd((float)a, (float)b, (float)c)); }              \
    static GOCUDA_INLINE H2 __hfma2(H2 a, H2 b, H2 c) { return H2{__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }     \
    static GOCUDA_INLINE bool __hisnan(H a) { return a != a; }                                                         \
    static GOCUDA_INLINE int __hisinf(H a) { return __builtin_isinf_sign((float)a); }                                  \
    GOCUDA_HALF_ONE(H, H2, sqrt, __builtin_sqrtf(a))                                                                   \
    GOCUDA_HALF_ONE(H, H2, rsqrt, 1.0 / __builtin_sqrt((double)a))                                                     \
    GOCUDA_HALF_ONE(H, H2, rcp, 1.0 / (double)a)                                                                       \
    GOCUDA_HALF_ONE(H, H2, exp, __builtin_exp((double)a))                                                              \
    GOCUDA_HALF_ONE(H, H2, exp2, __builtin_exp2((double)a))                                                            \
    GOCUDA_HALF_ONE(H, H2, log, __builtin_log((double)a))                                                              \
    GOCUDA_HALF_ONE(H, H2, log2, __builtin_log2((double)a))                                                            \
    GOCUDA_HALF_ONE(H, H2, sin, __builtin_sin((double)a))                                                              \
    GOCUDA_HALF_ONE(H, H2, cos, __builtin_cos((double)a))                                                              \
    GOCUDA_HALF_ONE(H, H2, floor, __builtin_floorf(a))                                                                 \
    GOCUDA_HALF_ONE(H, H2, ceil, __builtin_ceilf(a))                                                                   \
    GOCUDA_HALF_ONE(H, H2, rint, __builtin_rintf(a))                                                                   \
    GOCUDA_HALF_ONE(H, H2, trunc, __builtin_truncf(a))                                                                 \
    GOCUDA_HALF_TO(H, int, int, name)                                                                                  \
    GOCUDA_HALF_TO(H, unsigned, uint, name)                                                                            \
    GOCUDA_HALF_TO(H, short, short, name)                                                                              \
    GOCUDA_HALF_TO(H, unsigned short, ushort, name)                                                                    \
    static GOCUDA_INLINE H __float2##name(float v) { return H(v); }                                                    \
    static GOCUDA_INLINE H __float2##name##_rn(float v) { return H(v); }                                               \
    static GOCUDA_INLINE H __double2##name(double v) { return H(v); }                                                  \
    static GOCUDA_INLINE float __##name##2float(H v) { return v; }                                                     \
    static GOCUDA_INLINE unsigned short __##name##_as_ushort(H v) { return v.bits; }                                   \
    static GOCUDA_INLINE short __##name##_as_short(H v) { return (short)v.bits; }                                      \
    static GOCUDA_INLINE H __ushort_as_##name(unsigned short b) { H h; h.bits = b; return h; }                         \
    static GOCUDA_INLINE H __short_as_##name(short b) { return __ushort_as_##name((unsigned short)b); }                \
    static GOCUDA_INLINE H2 __float2##name##2_rn(float v) { return H2{H(v), H(v)}; }                                   \
    static GOCUDA_INLINE H2 __floats2##name##2_rn(float a, float b) { return H2{H(a), H(b)}; }                         \
    static GOCUDA_INLINE H2 __halves2##name##2(H a, H b) { return H2{a, b}; }                                          \
    static GOCUDA_INLINE H2 make_##name##2(H a, H b) { return H2{a, b}; }                                              \
    static GOCUDA_INLINE H __low2##name(H2 v) { return v.x; }                                                          \
    static GOCUDA_INLINE H __high2##name(H2 v) { return v.y; }                                                         \
    static GOCUDA_INLINE float __low2float(H2 v) { return v.x; }                                                       \
    static GOCUDA_INLINE float __high2float(H2 v) { return v.y; }                                                      \
    static GOCUDA_INLINE H atomicAdd(H *p, H v) {                                                                      \
        gocuda::Atomic section;                                                                                        \
        H old;                                                                                                         \
        __atomic_load(&p->bits, &old.bits, __ATOMIC_RELAXED);                                                          \
        for (;;) {                                                                                                     \
            H next = old + v;                                                                                          \
            if (__atomic_compare_exchange(&p->bits, &old.bits, &next.bits, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) return old; \
        }                                                                                                              \
    }                                                                                                                  \
    static GOCUDA_INLINE H2 atomicAdd(H2 *p, H2 v) { return H2{atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)}; }
