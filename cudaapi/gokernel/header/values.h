// What kernels that were Go need: Go's types and arithmetic in CUDA C++.
#ifdef __CUDACC_RTC__
#pragma nv_diag_suppress 39, 177, 550 // divisions by zero that are meant, what is not used
#endif
typedef signed char i8; typedef short i16; typedef int i32; typedef long long i64;
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long long u64;
typedef float f32; typedef double f64;

namespace go {
#define GO_FUNC static __device__ __forceinline__
#define GO_RARELY(x) __builtin_expect(!!(x), 0)

// slice and array lie in memory as Go's do.
template <class T> struct slice {
    T *ptr; i64 len, cap;
    __device__ __forceinline__ T &operator[](i64 i) const { return ptr[i]; }
};
template <class T, i64 N> struct array {
    T at[N];
    __device__ __forceinline__ T &operator[](i64 i) { return at[i]; }
    __device__ __forceinline__ const T &operator[](i64 i) const { return at[i]; }
};
// An array without elements has a place that nothing uses: C++ has none of that size.
template <class T> struct array<T, 0> {
    T at[1];
    __device__ __forceinline__ T &operator[](i64 i) { return at[i]; }
    __device__ __forceinline__ const T &operator[](i64 i) const { return at[i]; }
};
template <class T> struct complex { T re, im; };
typedef complex<f32> c64; typedef complex<f64> c128;
template <class A, class B> struct results2 { A r0; B r1; };
template <class A, class B, class C> struct results3 { A r0; B r1; C r2; };
template <class A, class B, class C, class D> struct results4 { A r0; B r1; C r2; D r3; };
template <class A, class B, class C, class D, class E> struct results5 { A r0; B r1; C r2; D r3; E r4; };
template <class A, class B, class C, class D, class E, class F> struct results6 { A r0; B r1; C r2; D r3; E r4; F r5; };

