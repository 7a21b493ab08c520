// Formats of 8 bits (4 of exponent and 3 of fraction, without infinity; or 5 and 2), and tf32.
#pragma once

namespace gocuda {

// half_of is a number of 8 bits as one of 16.
template <int exponent> static GOCUDA_INLINE gocuda_u16 half_of(gocuda_u32 v) {
    gocuda_u32 sign = (v & 0x80) << 8, e = v >> 3 & 15, m = v & 7;
    if (exponent == 5) return (v & 0x7f) > 0x7c ? 0x7fff : (gocuda_u16)(v << 8);
    if ((v & 0x7f) == 0x7f) return 0x7fff;
    if (e) return (gocuda_u16)(sign | (e + 8) << 10 | m << 7);
    if (!m) return (gocuda_u16)sign;
    e = 9;
    while (!(m & 8)) m <<= 1, e--;
    return (gocuda_u16)(sign | e << 10 | (m & 7) << 7);
}
// small rounds to the nearest of 8 bits, to the largest where a number is larger.
template <int exponent, bool relu> static GOCUDA_INLINE gocuda_u32 small(double v) {
    if (v != v) return 0x7f;
    if (relu && __builtin_signbit(v)) return 0;
    gocuda_u32 sign = __builtin_signbit(v) ? 0x80 : 0;
    v = __builtin_fabs(v);
    if constexpr (exponent == 5) return sign | (v > 57344 ? 0x7b : narrow<2, 5>(v));
    else return sign | (v > 448 ? 0x7e : v < 16 ? narrow<3, 4>(v) : narrow<3, 4>(v / 2) + 8u); // half has the largest exponent, too
}
enum Tie { toEven, away, cut };
// tf32 has 10 bits of fraction, and zeros after them.
template <Tie tie, bool relu, bool finite> static GOCUDA_INLINE gocuda_u32 tf32(float f) {
    gocuda_u32 v = bits_as<gocuda_u32>(f);
    if (f != f) return tie == away ? v & ~0x1fffu : 0x7fffe000;
    if (relu && v >> 31) return 0;
    if ((v & 0x7fffffff) != 0x7f800000) {
        if (tie == away) v += 0x1000;
        if (tie == toEven) v += 0xfff + (v >> 13 & 1);
        v &= ~0x1fffu;
    }
    if (finite && (v & 0x7fffffff) >= 0x7f800000) v = (v & 1u << 31) | 0x7f7fe000;
    return v;
}

} // namespace gocuda
