// What CUDA C++ finds built in when it is compiled for a simulated device.
#pragma once

#define __host__
#define __device__
#define __global__
#define __constant__ __attribute__((used))
#define __managed__ __attribute__((used))
#define __grid_constant__
#define __shared__ static __thread __attribute__((aligned(16)))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#ifndef __clang__
#define __builtin_assume(x) ((x) ? (void)0 : __builtin_unreachable())
#endif

#include "sim/thread.h"
#include "sim/runtime.h"
#include "sim/barrier.h"
#include "sim/defined.h"
#include "sim/spin.h"
#include "sim/races.h"
#include "sim/vector.h"
#include "sim/warp.h"
#include "sim/atomic.h"
#include "sim/math.h"
#include "math.h"
#include "limits.h"
#ifdef GOCUDA_WITH_ROUNDED
#include "sim/rounded.h"
#endif
#ifdef GOCUDA_WITH_SIMD
#include "sim/simd.h"
#endif
#include "sim/kernel.h"
