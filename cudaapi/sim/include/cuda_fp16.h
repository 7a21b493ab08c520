// Numbers of half precision (IEEE binary16): storage, conversions, arithmetic.
#pragma once
#include "sim/half.h"

GOCUDA_HALF(__half, __half2, half, 10, 5)
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
static GOCUDA_INLINE __half2 __float22half2_rn(float2 v) { return __floats2half2_rn(v.x, v.y); }
static GOCUDA_INLINE float2 __half22float2(__half2 v) { return float2{(float)v.x, (float)v.y}; }
static GOCUDA_INLINE __half2 __half2half2(__half v) { return __half2{v, v}; }
