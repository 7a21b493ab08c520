// Words as two or four numbers: __vadd4 and its like.
#pragma once

namespace gocuda {
// parts puts together what f makes of each pair of parts of two words.
template <int bits, class Part, class F> static GOCUDA_INLINE unsigned parts(unsigned a, unsigned b, F f) {
    unsigned r = 0;
    for (int i = 0; i < 32; i += bits) r |= ((unsigned)f((int)(Part)(a >> i), (int)(Part)(b >> i)) & ((1u << bits) - 1)) << i;
    return r;
}
template <int bits, class Part> static GOCUDA_INLINE unsigned distances(unsigned a, unsigned b) {
    unsigned r = 0;
    for (int i = 0; i < 32; i += bits) {
        int x = (Part)(a >> i), y = (Part)(b >> i);
        r += (unsigned)(x < y ? y - x : x - y);
    }
    return r;
}
} // namespace gocuda

// In the expressions, least and most are a part's bounds.
#define GOCUDA_SIMD_OF(name, bits, Part, params, other, expr)                                                         \
    static GOCUDA_INLINE unsigned name params {                                                                      \
        return gocuda::parts<bits, Part>(a, other, [](int x, int y) GOCUDA_LAMBDA {                                   \
            constexpr int least = (Part)-1 < 0 ? -(1 << (bits - 1)) : 0, most = least + ((1 << bits) - 1);           \
            (void)y, (void)least, (void)most;                                                                        \
            return expr;                                                                                             \
        });                                                                                                          \
    }
#define GOCUDA_SIMD(name, kind, expr)                                                                                \
    GOCUDA_SIMD_OF(name##2, 16, kind short, (unsigned a, unsigned b), b, expr)                                  \
    GOCUDA_SIMD_OF(name##4, 8, kind char, (unsigned a, unsigned b), b, expr)
#define GOCUDA_SIMD_ONE(name, expr)                                                                                  \
    GOCUDA_SIMD_OF(name##2, 16, signed short, (unsigned a), 0, expr)                                            \
    GOCUDA_SIMD_OF(name##4, 8, signed char, (unsigned a), 0, expr)
#define GOCUDA_SIMD_CLAMP(v) ((v) < least ? least : (v) > most ? most : (v))
GOCUDA_SIMD(__vadd, unsigned, x + y)
GOCUDA_SIMD(__vaddss, signed, GOCUDA_SIMD_CLAMP(x + y))
GOCUDA_SIMD(__vaddus, unsigned, GOCUDA_SIMD_CLAMP(x + y))
GOCUDA_SIMD(__vsub, unsigned, x - y)
GOCUDA_SIMD(__vsubss, signed, GOCUDA_SIMD_CLAMP(x - y))
GOCUDA_SIMD(__vsubus, unsigned, GOCUDA_SIMD_CLAMP(x - y))
GOCUDA_SIMD(__vavgu, unsigned, (x + y + 1) >> 1)
GOCUDA_SIMD(__vhaddu, unsigned, (x + y) >> 1)
GOCUDA_SIMD(__vabsdiffu, unsigned, x < y ? y - x : x - y)
GOCUDA_SIMD(__vabsdiffs, signed, x < y ? y - x : x - y)
GOCUDA_SIMD_ONE(__vabs, x < 0 ? -x : x)
GOCUDA_SIMD_ONE(__vabsss, x < 0 ? GOCUDA_SIMD_CLAMP(-x) : x)
GOCUDA_SIMD_ONE(__vneg, -x)
GOCUDA_SIMD_ONE(__vnegss, GOCUDA_SIMD_CLAMP(-x))
#define GOCUDA_SIMD_COMPARE(name, kind, expr)                                                                        \
    GOCUDA_SIMD(__vcmp##name, kind, (expr) ? -1 : 0)                                                                 \
    GOCUDA_SIMD(__vset##name, kind, (expr) ? 1 : 0)
GOCUDA_SIMD_COMPARE(eq, unsigned, x == y)
GOCUDA_SIMD_COMPARE(ne, unsigned, x != y)
#define GOCUDA_SIMD_ORDER(suffix, kind)                                                                              \
    GOCUDA_SIMD(__vmax##suffix, kind, x < y ? y : x)                                                                 \
    GOCUDA_SIMD(__vmin##suffix, kind, y < x ? y : x)                                                                 \
    GOCUDA_SIMD_COMPARE(gt##suffix, kind, x > y)                                                                     \
    GOCUDA_SIMD_COMPARE(ge##suffix, kind, x >= y)                                                                    \
    GOCUDA_SIMD_COMPARE(lt##suffix, kind, x < y)                                                                     \
    GOCUDA_SIMD_COMPARE(le##suffix, kind, x <= y)                                                                    \
    static GOCUDA_INLINE unsigned __vsad##suffix##2(unsigned a, unsigned b) { return gocuda::distances<16, kind short>(a, b); } \
    static GOCUDA_INLINE unsigned __vsad##suffix##4(unsigned a, unsigned b) { return gocuda::distances<8, kind char>(a, b); }
GOCUDA_SIMD_ORDER(s, signed)
GOCUDA_SIMD_ORDER(u, unsigned)
