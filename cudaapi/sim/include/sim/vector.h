// Vector types and the built-in variables.
#pragma once

#define GOCUDA_VECTOR(T, name, a1, a2, a4)                                                                   \
    struct name##1 { T x; };                                                                                 \
    struct __attribute__((aligned(a2))) name##2 { T x, y; };                                                 \
    struct name##3 { T x, y, z; };                                                                           \
    struct __attribute__((aligned(a4))) name##4 { T x, y, z, w; };                                           \
    static GOCUDA_INLINE name##1 make_##name##1(T x) { return name##1{x}; }                                  \
    static GOCUDA_INLINE name##2 make_##name##2(T x, T y) { return name##2{x, y}; }                          \
    static GOCUDA_INLINE name##3 make_##name##3(T x, T y, T z) { return name##3{x, y, z}; }                  \
    static GOCUDA_INLINE name##4 make_##name##4(T x, T y, T z, T w) { return name##4{x, y, z, w}; }

GOCUDA_VECTOR(signed char, char, 1, 2, 4)
GOCUDA_VECTOR(unsigned char, uchar, 1, 2, 4)
GOCUDA_VECTOR(short, short, 2, 4, 8)
GOCUDA_VECTOR(unsigned short, ushort, 2, 4, 8)
GOCUDA_VECTOR(int, int, 4, 8, 16)
GOCUDA_VECTOR(unsigned int, uint, 4, 8, 16)
GOCUDA_VECTOR(long, long, 8, 16, 16)
GOCUDA_VECTOR(unsigned long, ulong, 8, 16, 16)
GOCUDA_VECTOR(long long, longlong, 8, 16, 16)
GOCUDA_VECTOR(unsigned long long, ulonglong, 8, 16, 16)
GOCUDA_VECTOR(float, float, 4, 8, 16)
GOCUDA_VECTOR(double, double, 8, 16, 16)

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
};

namespace gocuda {
static GOCUDA_INLINE uint3 thread_index() { Thread *t = self(); return uint3{load(t->threadx), load(t->thready), load(t->threadz)}; }
static GOCUDA_INLINE uint3 block_index() { Thread *t = self(); return uint3{load(t->blockx), load(t->blocky), load(t->blockz)}; }
static GOCUDA_INLINE dim3 block_dim() { Thread *t = self(); return dim3(load(t->dimx), load(t->dimy), load(t->dimz)); }
static GOCUDA_INLINE dim3 grid_dim() { Thread *t = self(); return dim3(load(t->gridx), load(t->gridy), load(t->gridz)); }
} // namespace gocuda

#define threadIdx (gocuda::thread_index())
#define blockIdx (gocuda::block_index())
#define blockDim (gocuda::block_dim())
#define gridDim (gocuda::grid_dim())
static constexpr int warpSize = 32;

#define GOCUDA_LOADS(f)                                                                        \
    template <class T> static GOCUDA_INLINE T f(const T *p) { return *p; }
GOCUDA_LOADS(__ldg)
GOCUDA_LOADS(__ldca)
GOCUDA_LOADS(__ldcg)
GOCUDA_LOADS(__ldcs)
GOCUDA_LOADS(__ldcv)
GOCUDA_LOADS(__ldlu)
#define GOCUDA_STORES(f) \
    template <class T> static GOCUDA_INLINE void f(T *p, T v) { *p = v; }
GOCUDA_STORES(__stwb)
GOCUDA_STORES(__stcg)
GOCUDA_STORES(__stcs)
GOCUDA_STORES(__stwt)
