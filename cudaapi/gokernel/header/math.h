// Functions of math.
// g++ takes a quotient, square or root of what has no sign to have none either, and
// leaves fabs out: a NaN that comes of it has one. A GPU gives every double that is none
// the same sign, after abs.f64 and copysign too: hence the bits, which the compiler
// must not see to be one of those.
#if defined __CUDACC__ && !defined __GOCUDA_SIM__
GO_FUNC f64 any_sign(f64 x) { return x; }
GO_FUNC u64 without_sign(f64 x) {
    u64 bits;
    asm("and.b64 %0, %1, 0x7fffffffffffffff;" : "=l"(bits) : "l"(cast<u64>(x)));
    return bits;
}
GO_FUNC f64 math_abs(f64 x) { return cast<f64>(without_sign(x)); }
GO_FUNC f64 math_copysign(f64 x, f64 y) { return cast<f64>(without_sign(x) | (cast<u64>(y) & (u64)1 << 63)); }
#else
GO_FUNC f64 any_sign(f64 x) {
#ifdef __x86_64__
    __asm__("" : "+x"(x));
#else
    __asm__("" : "+w"(x));
#endif
    return x;
}
GO_FUNC f64 math_abs(f64 x) { return cast<f64>(cast<u64>(x) & ~(u64)0 >> 1); }
GO_FUNC f64 math_copysign(f64 x, f64 y) { return ::copysign(x, any_sign(y)); }
#endif
#define GO_MATH(name) GO_FUNC f64 math_##name(f64 x) { return ::name(x); }
GO_MATH(acos)
GO_MATH(acosh)
GO_MATH(asin)
GO_MATH(asinh)
GO_MATH(atan)
GO_MATH(atanh)
GO_MATH(cbrt)
GO_MATH(ceil)
GO_MATH(cos)
GO_MATH(cosh)
GO_MATH(erf)
GO_MATH(erfc)
GO_MATH(exp)
GO_MATH(exp2)
GO_MATH(expm1)
GO_MATH(floor)
GO_MATH(log)
GO_MATH(log10)
GO_MATH(log1p)
GO_MATH(log2)
GO_MATH(round)
GO_MATH(sin)
GO_MATH(sinh)
GO_MATH(sqrt)
GO_MATH(tan)
GO_MATH(tanh)
GO_MATH(trunc)
GO_FUNC f64 math_atan2(f64 y, f64 x) { return ::atan2(y, x); }
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
GO_FUNC bool math_signbit(f64 x) { return cast<u64>(any_sign(x)) >> 63; }

// Functions of math/bits and math/cmplx.
GO_FUNC u64 bits_mulHigh(u64 x, u64 y) { return __umul64hi(x, y); }
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

