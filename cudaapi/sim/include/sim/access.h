// Accesses to memory of kernels in PTX (package ptx/cpp).
#pragma once

namespace gocuda {

#ifdef GOCUDA_SITES
// raw_load and raw_store are accesses that the compiler does not check.
template <class T> static GOCUDA_INLINE T raw_load(gocuda_u64 a) {
    if constexpr (sizeof(T) == 16) {
        return (T)raw_load<gocuda_u64>(a + 8) << 64 | raw_load<gocuda_u64>(a);
    } else if constexpr (sizeof(T) == 8) {
        gocuda_u64 v;
        asm volatile("movq %1, %0" : "=r"(v) : "m"(*(const T *)a));
        return bits_as<T>(v);
    } else if constexpr (__is_same(T, float)) {
        float v;
#ifdef __AVX__
        asm volatile("vmovss %1, %0" : "=x"(v) : "m"(*(const T *)a));
#else
        asm volatile("movss %1, %0" : "=x"(v) : "m"(*(const T *)a));
#endif
        return v;
    } else {
        gocuda_u32 v;
        if constexpr (sizeof(T) == 4) asm volatile("movl %1, %0" : "=r"(v) : "m"(*(const T *)a));
        else if constexpr (sizeof(T) == 2) asm volatile("movzwl %1, %0" : "=r"(v) : "m"(*(const T *)a));
        else asm volatile("movzbl %1, %0" : "=r"(v) : "m"(*(const T *)a));
        return (T)v;
    }
}
template <class T> static GOCUDA_INLINE void raw_store(gocuda_u64 a, T v) {
    if constexpr (sizeof(T) == 16) raw_store<gocuda_u64>(a, (gocuda_u64)v), raw_store<gocuda_u64>(a + 8, (gocuda_u64)(v >> 64));
    else if constexpr (sizeof(T) == 8) asm volatile("movq %1, %0" : "=m"(*(T *)a) : "r"(bits_as<gocuda_u64>(v)));
#ifdef __AVX__
    else if constexpr (__is_same(T, float)) asm volatile("vmovss %1, %0" : "=m"(*(T *)a) : "x"(v));
#endif
    else if constexpr (sizeof(T) == 4) asm volatile("movl %1, %0" : "=m"(*(T *)a) : "r"(bits_as<gocuda_u32>(v)));
    else if constexpr (sizeof(T) == 2) asm volatile("movw %1, %0" : "=m"(*(T *)a) : "r"(v));
    else asm volatile("movb %1, %0" : "=m"(*(T *)a) : "q"((gocuda_u8)v));
}
#else
template <class T> static GOCUDA_INLINE T raw_load(gocuda_u64 a) { return *(const T *)a; }
template <class T> static GOCUDA_INLINE void raw_store(gocuda_u64 a, T v) { *(T *)a = v; }
#endif

} // namespace gocuda

// GOCUDA_SITE is the check of an access (asm.go). It is a macro: its line is where it is used. Unlike
// the compiler's own, which are calls, it leaves all registers but one alone.
#ifdef GOCUDA_SITES
#define GOCUDA_SITE(kind, n, a)                                                                                        \
    do {                                                                                                               \
        gocuda_u64 gocuda_site;                                                                                        \
        asm volatile("gocuda_site " #kind " " #n " %1 %0" : "=&r"(gocuda_site) : "m"(*(const gocuda::Bytes<n, 1> *)(a)) : "cc"); \
    } while (0)
#define GOCUDA_LOAD(T, n, a)             \
    ({                                   \
        const gocuda_u64 gocuda_at = a;  \
        GOCUDA_SITE(load, n, gocuda_at); \
        gocuda::raw_load<T>(gocuda_at);  \
    })
#define GOCUDA_STORE(T, n, a, v)               \
    do {                                       \
        const gocuda_u64 gocuda_at = a;        \
        GOCUDA_SITE(store, n, gocuda_at);      \
        gocuda::raw_store<T>(gocuda_at, (T)(v)); \
    } while (0)
#else
#define GOCUDA_SITE(kind, n, a)
#define GOCUDA_LOAD(T, n, a) (*(T *)(a))
#define GOCUDA_STORE(T, n, a, v) (*(T *)(a) = v)
#endif
