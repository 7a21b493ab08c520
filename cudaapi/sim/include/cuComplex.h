// Complex numbers by cuComplex's names.
#pragma once

#ifndef GOCUDA_CUCOMPLEX
#define GOCUDA_CUCOMPLEX

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// Each function for float ends in f where that for double does not.
#define GOCUDA_COMPLEX(T, C, make, f, hypot)                                                            \
    static GOCUDA_INLINE C make(T r, T i) { return C{r, i}; }                                           \
    static GOCUDA_INLINE T cuCreal##f(C z) { return z.x; }                                              \
    static GOCUDA_INLINE T cuCimag##f(C z) { return z.y; }                                              \
    static GOCUDA_INLINE C cuConj##f(C z) { return C{z.x, -z.y}; }                                      \
    static GOCUDA_INLINE C cuCadd##f(C a, C b) { return C{a.x + b.x, a.y + b.y}; }                      \
    static GOCUDA_INLINE C cuCsub##f(C a, C b) { return C{a.x - b.x, a.y - b.y}; }                      \
    static GOCUDA_INLINE C cuCmul##f(C a, C b) { return C{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; } \
    static GOCUDA_INLINE C cuCfma##f(C a, C b, C c) { return cuCadd##f(cuCmul##f(a, b), c); }           \
    static GOCUDA_INLINE T cuCabs##f(C z) { return hypot(z.x, z.y); }                                   \
    /* Scaled, so that nothing in between becomes too large or too small. */                            \
    static inline C cuCdiv##f(C a, C b) {                                                               \
        T s = (b.x < 0 ? -b.x : b.x) + (b.y < 0 ? -b.y : b.y);                                          \
        a.x /= s, a.y /= s, b.x /= s, b.y /= s;                                                         \
        T d = b.x * b.x + b.y * b.y;                                                                    \
        return C{(a.x * b.x + a.y * b.y) / d, (a.y * b.x - a.x * b.y) / d};                             \
    }
GOCUDA_COMPLEX(float, cuFloatComplex, make_cuFloatComplex, f, hypotf)
GOCUDA_COMPLEX(double, cuDoubleComplex, make_cuDoubleComplex, , hypot)
#undef GOCUDA_COMPLEX

static GOCUDA_INLINE cuComplex make_cuComplex(float r, float i) { return make_cuFloatComplex(r, i); }
static GOCUDA_INLINE cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return cuDoubleComplex{z.x, z.y}; }
static GOCUDA_INLINE cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) { return cuFloatComplex{(float)z.x, (float)z.y}; }

#endif
