// What functions of cells need as C++ of the host, in place of what CUDA has.
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define GO_COLD __attribute__((noinline, cold))
extern "C" {
double acos(double); double asin(double); double atan(double); double cbrt(double); double ceil(double); double cos(double); double cosh(double);
double erf(double); double erfc(double); double exp(double); double exp2(double); double expm1(double); double fabs(double); double floor(double);
double log(double); double log10(double); double log1p(double); double log2(double); double round(double); double sin(double); double sinh(double);
double sqrt(double); double tan(double); double tanh(double); double trunc(double); double rint(double); double tgamma(double);
double atan2(double, double); double copysign(double, double); double fmod(double, double); double hypot(double, double); double pow(double, double);
double remainder(double, double); double fma(double, double, double);
void *pthread_self(); int pthread_getattr_np(void *, void *); int pthread_attr_getstack(const void *, void **, unsigned long *); int pthread_attr_destroy(void *);
}
static inline int __clzll(long long x) { return __builtin_clzll((unsigned long long)x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline unsigned __brev(unsigned x) {
    x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u); x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u); x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
    return __builtin_bswap32(x);
}
static inline unsigned long long __brevll(unsigned long long x) { return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32)); }
