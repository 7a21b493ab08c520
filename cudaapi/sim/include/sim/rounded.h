// Arithmetic and conversions rounded otherwise than to nearest: what is nearest is
// put right by the sign of its error.
#pragma once

namespace gocuda {
struct Nearest { static GOCUDA_INLINE bool up(bool) { return false; } static GOCUDA_INLINE bool down(bool) { return false; } };
struct Zero { static GOCUDA_INLINE bool up(bool negative) { return negative; } static GOCUDA_INLINE bool down(bool negative) { return !negative; } };
struct Up { static GOCUDA_INLINE bool up(bool) { return true; } static GOCUDA_INLINE bool down(bool) { return false; } };
struct Down { static GOCUDA_INLINE bool up(bool) { return false; } static GOCUDA_INLINE bool down(bool) { return true; } };

template <class T> struct AsInteger { typedef gocuda_u32 type; };
template <> struct AsInteger<double> { typedef gocuda_u64 type; };
// beside is the next number above or below one.
template <class T> static GOCUDA_INLINE T beside(T r, bool above) {
    typedef typename AsInteger<T>::type B;
    if (r != r || r == (above ? (T)__builtin_inf() : -(T)__builtin_inf())) return r;
    B b;
    __builtin_memcpy(&b, &r, sizeof r);
    if (r == 0) b = above ? 1 : 1 | (B)1 << (8 * sizeof r - 1);
    else b += above == (r > 0) ? 1 : (B)-1;
    __builtin_memcpy(&r, &b, sizeof r);
    return r;
}
// rounded is r, the nearest to what is error more, rounded as To says.
template <class To, class T, class E> static GOCUDA_INLINE T rounded(T r, E error) {
    bool negative = __builtin_signbit(r);
    if (error > 0 && To::up(negative)) return beside(r, true);
    if (error < 0 && To::down(negative)) return beside(r, false);
    return r;
}
// Of float the error is that of a double, whose own error counts where the two are the same. Of
// double it may be too small for a number: then operands are scaled.
template <class T> static GOCUDA_INLINE double beyond(double v, T r, double own) { return v == (double)r ? own : v - (double)r; }
static GOCUDA_INLINE bool tiny(double v) { return __builtin_fabs(v) < 0x1p-900; }

template <class To> static GOCUDA_INLINE float sum(float a, float b) {
    double x = opaque(a), y = opaque(b), s = x + y, part = s - x;
    float r = (float)s;
    if (s == 0 && To::down(true) && (x != 0 || __builtin_signbit(x) || __builtin_signbit(y))) return -0.0f;
    return rounded<To>(r, beyond(s, r, (x - (s - part)) + (y - part)));
}
template <class To> static GOCUDA_INLINE double sum(double x, double y) {
    x = opaque(x), y = opaque(y);
    double r = x + y, part = r - x;
    if (r == 0 && To::down(true) && (x != 0 || __builtin_signbit(x) || __builtin_signbit(y))) return -0.0;
    if (x - x == 0 && y - y == 0 && r - r != 0) return rounded<To>(r, -r);
    return rounded<To>(r, (x - (r - part)) + (y - part));
}
template <class To> static GOCUDA_INLINE float product(float x, float y) {
    double p = (double)x * y;
    return rounded<To>((float)p, p - (float)p);
}
template <class To> static GOCUDA_INLINE double product(double x, double y) {
    double r = opaque(x * y), left = r;
    if (tiny(r)) x *= 0x1p600, y *= 0x1p600, left = left * 0x1p600 * 0x1p600;
    return rounded<To>(r, fma(x, y, -left));
}
template <class To> static GOCUDA_INLINE float quotient(float x, float y) {
    double q = (double)x / y, left = fma(-q, (double)y, (double)x);
    return rounded<To>((float)q, beyond(q, (float)q, y < 0 ? -left : left));
}
template <class To> static GOCUDA_INLINE double quotient(double x, double y) {
    double r = x / y, of = r;
    if (tiny(x)) x *= 0x1p300, (__builtin_fabs(y) < 1 ? y : of) *= 0x1p300;
    double left = fma(-of, y, x);
    return rounded<To>(r, y < 0 ? -left : left);
}
template <class To> static GOCUDA_INLINE float root(float x) {
    double q = sqrt((double)x);
    return rounded<To>((float)q, beyond(q, (float)q, fma(-q, q, (double)x)));
}
template <class To> static GOCUDA_INLINE double root(double x) {
    double r = sqrt(x), of = r;
    if (tiny(x)) x *= 0x1p400, of *= 0x1p200;
    return rounded<To>(r, fma(-of, of, x));
}
template <class To> static GOCUDA_INLINE float fused(float x, float y, float z) {
    double p = opaque((double)x * y), s = p + z, part = s - p;
    float r = __builtin_fmaf(x, y, z);
    if (s == 0 && To::down(true) && (p != 0 || __builtin_signbit(p) || __builtin_signbit(z))) return -0.0f;
    return rounded<To>(r, (s - r) + ((p - (s - part)) + (z - part)));
}
template <class To, class T, class F> static GOCUDA_INLINE T converted(F v) { return rounded<To>((T)v, (long double)v - (long double)(T)v); }
} // namespace gocuda

#define GOCUDA_ROUNDED(suffix, To)                                                                                   \
    static GOCUDA_INLINE float __fadd_##suffix(float x, float y) { return gocuda::sum<gocuda::To>(x, y); }           \
    static GOCUDA_INLINE float __fsub_##suffix(float x, float y) { return gocuda::sum<gocuda::To>(x, -y); }          \
    static GOCUDA_INLINE float __fmul_##suffix(float x, float y) { return gocuda::product<gocuda::To>(x, y); }       \
    static GOCUDA_INLINE float __fdiv_##suffix(float x, float y) { return gocuda::quotient<gocuda::To>(x, y); }      \
    static GOCUDA_INLINE float __frcp_##suffix(float x) { return gocuda::quotient<gocuda::To>(1.0f, x); }            \
    static GOCUDA_INLINE float __fsqrt_##suffix(float x) { return gocuda::root<gocuda::To>(x); }                     \
    static GOCUDA_INLINE float __fmaf_##suffix(float x, float y, float z) { return gocuda::fused<gocuda::To>(x, y, z); } \
    static GOCUDA_INLINE double __dadd_##suffix(double x, double y) { return gocuda::sum<gocuda::To>(x, y); }        \
    static GOCUDA_INLINE double __dsub_##suffix(double x, double y) { return gocuda::sum<gocuda::To>(x, -y); }       \
    static GOCUDA_INLINE double __dmul_##suffix(double x, double y) { return gocuda::product<gocuda::To>(x, y); }    \
    static GOCUDA_INLINE double __ddiv_##suffix(double x, double y) { return gocuda::quotient<gocuda::To>(x, y); }   \
    static GOCUDA_INLINE double __drcp_##suffix(double x) { return gocuda::quotient<gocuda::To>(1.0, x); }           \
    static GOCUDA_INLINE double __dsqrt_##suffix(double x) { return gocuda::root<gocuda::To>(x); }
GOCUDA_ROUNDED(rz, Zero)
GOCUDA_ROUNDED(ru, Up)
GOCUDA_ROUNDED(rd, Down)

#define GOCUDA_CONVERTED(suffix, To)                                                                                 \
    static GOCUDA_INLINE float __int2float_##suffix(int x) { return gocuda::converted<gocuda::To, float>(x); }       \
    static GOCUDA_INLINE float __uint2float_##suffix(unsigned x) { return gocuda::converted<gocuda::To, float>(x); } \
    static GOCUDA_INLINE float __ll2float_##suffix(long long x) { return gocuda::converted<gocuda::To, float>(x); }  \
    static GOCUDA_INLINE float __ull2float_##suffix(unsigned long long x) { return gocuda::converted<gocuda::To, float>(x); } \
    static GOCUDA_INLINE double __ll2double_##suffix(long long x) { return gocuda::converted<gocuda::To, double>(x); } \
    static GOCUDA_INLINE double __ull2double_##suffix(unsigned long long x) { return gocuda::converted<gocuda::To, double>(x); } \
    static GOCUDA_INLINE float __double2float_##suffix(double x) { return gocuda::converted<gocuda::To, float>(x); }
GOCUDA_CONVERTED(rn, Nearest)
GOCUDA_CONVERTED(rz, Zero)
GOCUDA_CONVERTED(ru, Up)
GOCUDA_CONVERTED(rd, Down)
