// Numbers of 16 bits.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// halves does arithmetic on values as they are stored.
extern "C" __global__ void halves(const __half *a, const __half *b, __half *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half x = a[i], y = b[i], *o = out + 8 * i;
    o[0] = __hadd(x, y);
    o[1] = x - y;
    o[2] = __hmul(x, y);
    o[3] = x / y;
    o[4] = __hfma(x, y, __float2half(0.333f));
    o[5] = __hlt(x, y) ? __hneg(x) : __habs(y);
    o[6] = __int2half_rn(__half2int_rz(x));
    o[7] = hsqrt(__habs(x));
}

extern "C" __global__ void pairs(const __half2 *a, __half2 *out, float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half2 v = __hfma2(a[i], __float2half2_rn(1.5f), __floats2half2_rn(0.25f, -0.25f));
    out[i] = v;
    float2 f = __half22float2(v);
    sums[i] = f.x + f.y + __low2float(v) + __half2float(__high2half(v));
}

// narrow converts to both formats.
extern "C" __global__ void narrow(const float *in, unsigned short *half, unsigned short *brain, float *back, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    half[i] = __half_as_ushort(__float2half(in[i]));
    __nv_bfloat16 b = __float2bfloat16(in[i]);
    brain[i] = __bfloat16_as_ushort(b);
    back[i] = __bfloat162float(b * __float2bfloat16(0.5f));
}

extern "C" __global__ void count(__half *total) { atomicAdd(total, __float2half(1.0f)); }
