//go:build linux && (amd64 || arm64)

package nvidia

import "gocuda/cudaapi/internal/headers"

// prelude is what nvcc gives every source, and NVRTC none: names of C's headers that
// CUDA's own include.
const prelude = types + `#include <math.h>
#include <stddef.h>
#include <limits.h>
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#define register // which C++17 has no use for, and nvcc lets pass
`

// preludeName is the header that every source includes before its first line.
const preludeName = "gocuda_prelude.h"

// standardHeaders are the headers of C and C++ that CUDA sources include by
// habit. NVRTC has none, but knows most of what they declare by itself; these
// add the rest. Sources with them then compile wherever nvcc would take them.
// Where the toolkit has its own (libcu++), the types and limits are its.
var standardHeaders = map[string]string{
	preludeName: prelude,
	"assert.h":  "", "cassert": "",
	"stdio.h": "", "cstdio": "",
	"stdlib.h": "", "cstdlib": "",
	"string.h": "", "cstring": "",
	"time.h": "", "ctime": "",
	"new":       "",
	"stdbool.h": "",
	"iostream":  "",
	"math.h":    mathHeader, "cmath": mathHeader + headers.StdMath,
	"stdint.h": integers, "cstdint": integers,
	"stddef.h": sizes, "cstddef": sizes,
	"limits.h": limits, "climits": limits,
	"float.h": floats, "cfloat": floats,
	"gocuda/symmetric.h": headers.Symmetric,
}

// coreHeaders are what the C++ library declares and device code can use: libcu++'s.
var coreHeaders = func() map[string]string {
	h := map[string]string{}
	for _, name := range []string{"array", "atomic", "bit", "complex", "concepts", "functional", "initializer_list",
		"iterator", "limits", "numeric", "optional", "span", "tuple", "type_traits", "utility", "variant"} {
		h[name] = core("#include <cuda/std/" + name + ">\n")
	}
	h["algorithm"] = core(`#if __has_include(<cuda/std/__algorithm_>) && !__has_include(<cuda/std/algorithm>)
#include <cuda/std/__algorithm_> // before CUDA 13
#else
#include <cuda/std/algorithm>
#endif
`)
	h["cuda/std/cmath"] = cudaMath
	return h
}()

// cudaMath is libcu++'s <cuda/std/cmath>. It defines INFINITY and NAN, which nvcc has from C's
// header and the prelude defines, too. Before CUDA 13 it lacks, under NVRTC alone, half of the
// functions that nvcc finds there.
const cudaMath = `#pragma once
#undef INFINITY
#undef NAN
#include <cuda/std/../std/cmath>
#if CCCL_VERSION < 3000000
namespace cuda { namespace std {
using ::floor; using ::floorf; using ::fmod; using ::fmodf; using ::frexp; using ::frexpf; using ::ldexp; using ::ldexpf;
using ::modf; using ::modff; using ::pow; using ::powf; using ::tan; using ::tanf; using ::tanh; using ::tanhf;
using ::acosh; using ::acoshf; using ::asinh; using ::asinhf; using ::atanh; using ::atanhf; using ::cbrt; using ::cbrtf;
using ::copysign; using ::copysignf; using ::erf; using ::erff; using ::erfc; using ::erfcf; using ::exp2; using ::exp2f;
using ::expm1; using ::expm1f; using ::fdim; using ::fdimf; using ::fma; using ::fmaf; using ::lgamma; using ::lgammaf;
using ::llrint; using ::llrintf; using ::llround; using ::llroundf; using ::lrint; using ::lrintf; using ::lround; using ::lroundf;
using ::nan; using ::nanf; using ::nearbyint; using ::nearbyintf; using ::nextafter; using ::nextafterf;
using ::remainder; using ::remainderf; using ::remquo; using ::remquof; using ::rint; using ::rintf; using ::round; using ::roundf;
using ::scalbln; using ::scalblnf; using ::scalbn; using ::scalbnf; using ::tgamma; using ::tgammaf; using ::trunc; using ::truncf;
} }
#endif
`

// core is a header whose names are libcu++'s.
func core(include string) string {
	return "#pragma once\n" + include + "namespace std { using namespace ::cuda::std; }\n"
}

// hostHeaders are of CUDA's host side: all that a kernel needs of them is built into NVRTC,
// and their functions are not for devices.
var hostHeaders = map[string]string{"cuda.h": ""}

// cudaHeaders stand for the toolkit's where it is not installed: all that a
// kernel needs of them is built into NVRTC.
var cudaHeaders = map[string]string{
	"cuda_runtime.h": "", "cuda_runtime_api.h": "", "device_launch_parameters.h": "", "vector_types.h": "", "vector_functions.h": "",
}

const mathHeader = `#pragma once
#ifndef M_PI
#define M_E 2.71828182845904523536
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_SQRT2 1.41421356237309504880
#endif
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000ll)
#endif
`

// types are the integers of C, as libcu++ has them.
const types = `
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef long long intptr_t;
typedef unsigned long long uintptr_t;
`

const integers = `#pragma once
#if __has_include(<cuda/std/cstdint>)
#include <cuda/std/cstdint>
#else
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807ll
#define INT8_MIN (-128)
#define INT16_MIN (-32768)
#define INT32_MIN (-INT32_MAX - 1)
#define INT64_MIN (-INT64_MAX - 1)
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295u
#define UINT64_MAX 18446744073709551615ull
#define GOCUDA_INTEGERS(n) \
    typedef int##n##_t int_least##n##_t, int_fast##n##_t; \
    typedef uint##n##_t uint_least##n##_t, uint_fast##n##_t;
GOCUDA_INTEGERS(8) GOCUDA_INTEGERS(16) GOCUDA_INTEGERS(32) GOCUDA_INTEGERS(64)
#undef GOCUDA_INTEGERS
typedef int64_t intmax_t;
typedef uint64_t uintmax_t;
#endif
#define GOCUDA_INTEGERS(n) \
    using ::int##n##_t; using ::int_least##n##_t; using ::int_fast##n##_t; \
    using ::uint##n##_t; using ::uint_least##n##_t; using ::uint_fast##n##_t;
namespace std {
GOCUDA_INTEGERS(8) GOCUDA_INTEGERS(16) GOCUDA_INTEGERS(32) GOCUDA_INTEGERS(64)
using ::intmax_t; using ::uintmax_t; using ::intptr_t; using ::uintptr_t;
}
#undef GOCUDA_INTEGERS
`

const sizes = `#pragma once
typedef unsigned long size_t;
typedef long ptrdiff_t;
#ifndef NULL
#define NULL 0
#endif
namespace std { using ::size_t; using ::ptrdiff_t; }
`

// limits are written as libcu++ writes them, so that both may be included.
const limits = `#pragma once
#ifndef CHAR_BIT
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-SHRT_MAX - 1)
#define SHRT_MAX 0x7fff
#define USHRT_MAX 0xffff
#define INT_MIN (-INT_MAX - 1)
#define INT_MAX 0x7fffffff
#define UINT_MAX 0xffffffff
#define LONG_MIN (-LONG_MAX - 1)
#define LONG_MAX LLONG_MAX
#define ULONG_MAX ULLONG_MAX
#define LLONG_MIN (-LLONG_MAX - 1)
#define LLONG_MAX 0x7fffffffffffffffLL
#define ULLONG_MAX 0xffffffffffffffffUL
#endif
`

const floats = `#pragma once
#ifndef FLT_MAX
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-016
#endif
`
