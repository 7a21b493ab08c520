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
// What takes more is a function, once in a module.
#define GOCUDA_ONE_BY_ONE(name, expr)                                                                                            \
    static __attribute__((noinline, unused)) GOCUDA_RAW void name##_all(float *__restrict a, const float *__restrict b, const float *__restrict c) { \
        for (int i = 0; i < 8; i++) a[i] = expr;                                                                                 \
    }                                                                                                                            \
    static GOCUDA_INLINE Lanes<float> name(Lanes<float> a, Lanes<float> b = Lanes<float>{}, Lanes<float> c = Lanes<float>{}) {                           \
        float x[8], y[8], z[8];                                                                                                  \
        raw_lanes(x, a), raw_lanes(y, b), raw_lanes(z, c);                                                                       \
        name##_all(x, y, z);                                                                                                     \
        return raw_lanes(x);                                                                                                     \
    }
GOCUDA_ONE_BY_ONE(approx_ex2, approx_ex2(a[i]))
GOCUDA_ONE_BY_ONE(fused_down, fused<Down>(a[i], b[i], c[i]))
#undef GOCUDA_ONE_BY_ONE

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
