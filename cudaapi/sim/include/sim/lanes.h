// Eight threads of a kernel in PTX as lanes of the CPU's vectors (package ptx/cpp).
#pragma once
#pragma GCC diagnostic ignored "-Wpsabi"

namespace gocuda {

template <class T> struct LanesOf { typedef T type __attribute__((vector_size(8 * sizeof(T)))); };
template <> struct LanesOf<bool> { typedef int type __attribute__((vector_size(32))); }; // all bits, or none
template <class T> using Lanes = typename LanesOf<T>::type;
template <class T> struct Apart { typedef T type __attribute__((vector_size(8 * sizeof(T)), aligned(1), may_alias)); };

template <class T> static GOCUDA_INLINE Lanes<T> all(T v) {
    if constexpr (__is_same(T, bool)) {
        int m = v ? -1 : 0;
        return Lanes<bool>{m, m, m, m, m, m, m, m};
    } else {
        return Lanes<T>{v, v, v, v, v, v, v, v};
    }
}
template <class T> static GOCUDA_INLINE Lanes<T> steps(T v, long by) { return all<T>(v) + Lanes<T>{0, 1, 2, 3, 4, 5, 6, 7} * all<T>((T)by); }
static GOCUDA_INLINE int which(Lanes<bool> m) { return __builtin_ia32_movmskps256((Lanes<float>)m); }
// wraps reports whether the lanes' numbers do, of which the last is so much more than the first.
template <class T> static GOCUDA_INLINE bool wraps(T v, int more) {
    T r;
    return __builtin_add_overflow(v, more, &r);
}
// parted counts how often lanes have parted. Where they do so more often than not, they no longer go together.
static GOCUDA_INLINE bool parted(gocuda_u32 &count, gocuda_u32 thread) { return ++count < 4 || count * 16 < thread; }

// What lies in memory that is not checked.
#ifdef GOCUDA_SITES
static GOCUDA_INLINE Lanes<float> raw_lanes(const void *p) {
    Lanes<float> v;
    asm volatile("vmovups %1, %0" : "=x"(v) : "m"(*(const Apart<float>::type *)p));
    return v;
}
static GOCUDA_INLINE void raw_lanes(void *p, Lanes<float> v) { asm volatile("vmovups %1, %0" : "=m"(*(Apart<float>::type *)p) : "x"(v)); }
#else
static GOCUDA_INLINE Lanes<float> raw_lanes(const void *p) { return *(const Apart<float>::type *)p; }
static GOCUDA_INLINE void raw_lanes(void *p, Lanes<float> v) { *(Apart<float>::type *)p = v; }
#endif
template <class T> static GOCUDA_INLINE Lanes<T> whole_lanes(const void *p) {
    if constexpr (sizeof(T) == 4) {
        return (Lanes<T>)raw_lanes(p);
    } else {
        struct { Lanes<float> of[2]; } two = {raw_lanes(p), raw_lanes((const char *)p + 32)};
        return bits_as<Lanes<T>>(two);
    }
}
template <class T> static GOCUDA_INLINE void whole_lanes(void *p, Lanes<T> v) {
    if constexpr (sizeof(T) < 4) {
        for (int i = 0; i < 8; i++) keep((T *)p + i, v[i]);
    } else if constexpr (sizeof(T) == 4) {
        raw_lanes(p, (Lanes<float>)v);
    } else {
        struct Two { Lanes<float> of[2]; } two = bits_as<Two>(v);
        raw_lanes(p, two.of[0]), raw_lanes((char *)p + 32, two.of[1]);
    }
}
template <class T, long by> static GOCUDA_INLINE Lanes<T> load_lanes(gocuda_u64 a) {
    if constexpr (by == sizeof(T)) {
        return whole_lanes<T>((const void *)a);
    } else {
        return Lanes<T>{raw_load<T>(a), raw_load<T>(a + by), raw_load<T>(a + 2 * by), raw_load<T>(a + 3 * by),
            raw_load<T>(a + 4 * by), raw_load<T>(a + 5 * by), raw_load<T>(a + 6 * by), raw_load<T>(a + 7 * by)};
    }
}
template <class T, long by> static GOCUDA_INLINE void store_lanes(gocuda_u64 a, Lanes<T> v) {
    if constexpr (by == sizeof(T)) {
        whole_lanes<T>((void *)a, v);
    } else {
        raw_store<T>(a, v[0]), raw_store<T>(a + by, v[1]), raw_store<T>(a + 2 * by, v[2]), raw_store<T>(a + 3 * by, v[3]);
        raw_store<T>(a + 4 * by, v[4]), raw_store<T>(a + 5 * by, v[5]), raw_store<T>(a + 6 * by, v[6]), raw_store<T>(a + 7 * by, v[7]);
    }
}
// together and apart make lanes of eight numbers, and back.
template <class T> static GOCUDA_INLINE void together(Lanes<T> &v, const T *p) { v = whole_lanes<T>(p); }
template <class T> static GOCUDA_INLINE void apart(T *p, Lanes<T> v) { whole_lanes<T>(p, v); }
static GOCUDA_INLINE void together(Lanes<bool> &v, const bool *p) {
    gocuda_u64 w = kept((const gocuda_u64 *)p);
    for (int i = 0; i < 8; i++) v[i] = w >> 8 * i & 1 ? -1 : 0;
}
static GOCUDA_INLINE void apart(bool *p, Lanes<bool> v) {
    gocuda_u64 w = 0, m = (gocuda_u64)which(v);
    for (int i = 0; i < 8; i++) w |= (m >> i & 1) << 8 * i;
    keep((gocuda_u64 *)p, w);
}

// Arithmetic of f32: the same bits as for one.
static GOCUDA_INLINE Lanes<float> fuse(Lanes<float> a, Lanes<float> b, Lanes<float> c) { return __builtin_ia32_vfmaddps256(a, b, c); }
static GOCUDA_INLINE Lanes<float> root(Lanes<float> v) { return __builtin_ia32_sqrtps256(v); }
static GOCUDA_INLINE Lanes<float> fabs(Lanes<float> v) { return (Lanes<float>)((Lanes<gocuda_u32>)v & 0x7fffffffu); }
static GOCUDA_INLINE Lanes<float> canonical(Lanes<float> v) { return v == v ? v : (Lanes<float>)all<gocuda_u32>(0x7fffffffu); }
static GOCUDA_INLINE Lanes<float> flushed(Lanes<float> v) {
    return fabs(v) < 0x1p-126f ? (Lanes<float>)((Lanes<gocuda_u32>)v & 0x80000000u) : v;
}
static GOCUDA_INLINE Lanes<float> saturated(Lanes<float> v) { return v > 0.0f ? (v < 1.0f ? v : all(1.0f)) : all(0.0f); }
// What takes more is a function, once in a module, for four at a time: the same steps as for one.
typedef float Floats __attribute__((vector_size(16)));
typedef double Doubles __attribute__((vector_size(32)));
typedef long Longs __attribute__((vector_size(32)));
static GOCUDA_INLINE Doubles fuse(Doubles a, Doubles b, Doubles c) { return __builtin_ia32_vfmaddpd256(a, b, c); }
static GOCUDA_INLINE Floats approx_ex2(Floats v, Floats, Floats) {
    Doubles d = __builtin_convertvector(v, Doubles), x = d < -160.0 ? (Doubles{} - 160.0) : d > 160.0 ? (Doubles{} + 160.0) : d, s = x + 0x1.8p46;
    Doubles f = (x - (s - 0x1.8p46)) * 0x1.62e42fefa39efp-1;
    Doubles p = fuse(fuse(fuse(fuse(Doubles{} + 1.0 / 120, f, Doubles{} + 1.0 / 24), f, Doubles{} + 1.0 / 6), f, Doubles{} + 0.5), f * f, f);
    Longs n = (Longs)s, at = n & 63;
    Doubles t = {powers_of_2[at[0]], powers_of_2[at[1]], powers_of_2[at[2]], powers_of_2[at[3]]};
    t = (Doubles)((Longs)t + (Longs)(n >> 6 << 52));
    return __builtin_convertvector(fuse(t, p, t), Floats);
}
static GOCUDA_INLINE Floats fused_down(Floats a, Floats b, Floats c) {
    typedef int Ints __attribute__((vector_size(16)));
    Doubles x = __builtin_convertvector(a, Doubles), y = __builtin_convertvector(b, Doubles), z = __builtin_convertvector(c, Doubles);
    Doubles p = x * y, s = p + z, part = s - p;
    Floats r = __builtin_ia32_vfmaddps(a, b, c);
    Doubles error = (s - __builtin_convertvector(r, Doubles)) + ((p - (s - part)) + (z - part));
    Ints bits = (Ints)r, below = r == 0.0f ? (Ints{} - 0x7fffffff) : r > 0.0f ? bits - 1 : bits + 1;
    Ints less = __builtin_convertvector(error < 0.0, Ints) & (Ints)(r == r) & (Ints)(r != -__builtin_inff());
    Longs zero = (Longs)(s == 0.0) & ((Longs)(p != 0.0) | (((Longs)p | (Longs)z) < 0));
    Ints none = __builtin_convertvector(zero, Ints);
    Floats v = less ? (Floats)below : r;
    return none ? Floats{-0.0f, -0.0f, -0.0f, -0.0f} : v;
}
#define GOCUDA_ALL(name)                                                                                          \
    static __attribute__((noinline, unused)) GOCUDA_RAW void name##_all(float *a, const float *b, const float *c) { \
        for (int i = 0; i < 8; i += 4)                                                                            \
            *(Floats *)(a + i) = name(*(const Floats *)(a + i), *(const Floats *)(b + i), *(const Floats *)(c + i)); \
    }                                                                                                             \
    static GOCUDA_INLINE Lanes<float> name(Lanes<float> a, Lanes<float> b = Lanes<float>{}, Lanes<float> c = Lanes<float>{}) { \
        __attribute__((aligned(32))) float x[8], y[8], z[8];                                                      \
        raw_lanes(x, a), raw_lanes(y, b), raw_lanes(z, c);                                                        \
        name##_all(x, y, z);                                                                                      \
        return raw_lanes(x);                                                                                      \
    }
GOCUDA_ALL(approx_ex2)
GOCUDA_ALL(fused_down)
#undef GOCUDA_ALL

} // namespace gocuda

// GOCUDA_NEAR checks an access of each lane, by bytes from one to the next (asm.go).
#ifdef GOCUDA_SITES
#define GOCUDA_NEAR(kind, n, by, a)                                                                               \
    do {                                                                                                          \
        gocuda_u64 gocuda_site;                                                                                   \
        asm volatile("gocuda_near " #kind " " #n " " #by " %1 %2 %0" : "=&r"(gocuda_site)                         \
            : "m"(*(const gocuda::Bytes<n, 1> *)(a)), "m"(*(const gocuda::Bytes<n, 1> *)((a) + 7l * by)) : "cc"); \
    } while (0)
#define GOCUDA_LANE(t) gocuda::store(go_self->order, (gocuda_u32)(t))
#else
#define GOCUDA_NEAR(kind, n, by, a)
#define GOCUDA_LANE(t)
#endif
