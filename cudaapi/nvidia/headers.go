//go:build linux && (amd64 || arm64)

package nvidia

// standardHeaders are the headers of C and C++ that CUDA sources include by
// habit. NVRTC has none, but knows most of what they declare by itself; these
// add the rest. Sources with them then compile wherever nvcc would take them.
// Where the toolkit has its own (libcu++), the types and limits are its.
var standardHeaders = map[string]string{
	"assert.h": "", "cassert": "",
	"stdio.h": "", "cstdio": "",
	"stdlib.h": "", "cstdlib": "",
	"string.h": "", "cstring": "",
	"iostream": "",
	"math.h":   mathHeader, "cmath": mathHeader,
	"stdint.h": integers, "cstdint": integers,
	"stddef.h": sizes, "cstddef": sizes,
	"limits.h": limits, "climits": limits,
	"float.h": floats, "cfloat": floats,
}

// cudaHeaders stand for the toolkit's where it is not installed: all that a
// kernel needs of them is built into NVRTC.
var cudaHeaders = map[string]string{
	"cuda_runtime.h": "", "cuda_runtime_api.h": "", "device_launch_parameters.h": "", "cuda.h": "",
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

const integers = `#pragma once
#if __has_include(<cuda/std/cstdint>)
#include <cuda/std/cstdint>
#else
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
#endif
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
}
`

const sizes = `#pragma once
typedef unsigned long size_t;
typedef long ptrdiff_t;
#ifndef NULL
#define NULL 0
#endif
namespace std { using ::size_t; using ::ptrdiff_t; }
`

const limits = `#pragma once
#if __has_include(<cuda/std/climits>)
#include <cuda/std/climits>
#else
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807l
#define LONG_MIN (-LONG_MAX - 1)
#define ULONG_MAX 18446744073709551615ul
#define LLONG_MAX 9223372036854775807ll
#define LLONG_MIN (-LLONG_MAX - 1)
#define ULLONG_MAX 18446744073709551615ull
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
