// Numbers of bfloat16: a float's range, and eight bits of precision.
#pragma once
#include "sim/half.h"

GOCUDA_HALF(__nv_bfloat16, __nv_bfloat162, bfloat16, 7, 8)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
static GOCUDA_INLINE __nv_bfloat162 __float22bfloat162_rn(float2 v) { return __floats2bfloat162_rn(v.x, v.y); }
static GOCUDA_INLINE float2 __bfloat1622float2(__nv_bfloat162 v) { return float2{(float)v.x, (float)v.y}; }
static GOCUDA_INLINE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 v) { return __nv_bfloat162{v, v}; }
