// Numbers: parts of words, directed rounding, conversions, functions of statistics.

extern "C" __global__ void words(const unsigned *a, const unsigned *b, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i], *o = out + 24 * i;
    o[0] = __vadd2(x, y);
    o[1] = __vadd4(x, y);
    o[2] = __vaddss2(x, y);
    o[3] = __vaddus4(x, y);
    o[4] = __vsub4(x, y);
    o[5] = __vsubss4(x, y);
    o[6] = __vsubus2(x, y);
    o[7] = __vavgu4(x, y);
    o[8] = __vhaddu2(x, y);
    o[9] = __vabsdiffu4(x, y);
    o[10] = __vabsss4(x);
    o[11] = __vneg2(x);
    o[12] = __vcmpeq4(x, y);
    o[13] = __vcmpgts4(x, y);
    o[14] = __vcmpgtu2(x, y);
    o[15] = __vsetles2(x, y);
    o[16] = __vmaxs4(x, y);
    o[17] = __vminu2(x, y);
    o[18] = __vsadu4(x, y);
    o[19] = __vsads2(x, y);
    o[20] = __uhadd(x, y);
    o[21] = __urhadd(x, y);
    o[22] = __dp4a(x, y, 5u);
    o[23] = (unsigned)__dp4a((int)x, (int)y, -5);
}

extern "C" __global__ void rounded(const float *a, const float *b, float *out, double *wide, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i], *o = out + 16 * i;
    o[0] = __fadd_rz(x, y);
    o[1] = __fadd_ru(x, y);
    o[2] = __fsub_rd(x, y);
    o[3] = __fmul_rz(x, y);
    o[4] = __fmul_ru(x, y);
    o[5] = __fmul_rd(x, y);
    o[6] = __fdiv_rz(x, y);
    o[7] = __fdiv_rd(x, y);
    o[8] = __fsqrt_ru(fabsf(x));
    o[9] = __frcp_rd(y);
    o[10] = __fmaf_rz(x, y, x);
    o[11] = __fmaf_ru(x, y, -x);
    o[12] = __int2float_rz((int)((unsigned)(int)(x * 1e6f) * 77u + 1u));
    o[13] = __ll2float_rd((long long)(y * 1e6f) * 1234567891ll);
    o[14] = __double2float_ru((double)x * 1.000000001);
    o[15] = __fadd_rn(x * y, x); // never fused
    double *w = wide + 4 * i;
    w[0] = __dadd_rd((double)x * 1e-9, (double)y);
    w[1] = __dmul_ru((double)x * y, (double)y);
    w[2] = __ddiv_rz((double)x, (double)y);
    w[3] = __dsqrt_rd(fabs((double)y));
}

extern "C" __global__ void narrowed(const double *in, int *ints, long long *longs, unsigned long long *ulongs, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    ints[2 * i] = __double2int_rz(in[i]);
    ints[2 * i + 1] = (int)__double2uint_rn(in[i]);
    longs[2 * i] = __double2ll_rd(in[i]);
    longs[2 * i + 1] = __float2ll_rz((float)in[i]);
    ulongs[i] = __double2ull_rn(in[i]);
}

extern "C" __global__ void statistics_of_float(const double *in, float *out, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    out[2 * i] = erfinvf((float)(2 * in[i] - 1));
    out[2 * i + 1] = normcdfinvf((float)in[i]);
}

extern "C" __global__ void statistics(const double *in, double *out, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    double p = in[i], *o = out + 7 * i;
    o[0] = erfinv(2 * p - 1);
    o[1] = erfcinv(2 * p);
    o[2] = normcdfinv(p);
    o[3] = erfcx(10 * p);
    o[4] = cyl_bessel_i0(4 * p);
    o[5] = cyl_bessel_i1(4 * p);
    o[6] = norm4d(p, 1, 2, 3) + rnorm3d(p, 1, 2);
}

extern "C" __global__ void vector_sums(float2 *pair, float4 *four) {
#if __CUDA_ARCH__ >= 900
    atomicAdd(pair, make_float2(1, 0.5f));
    atomicAdd(four, make_float4(1, 2, 3, 4));
#else
    for (int i = 0; i < 2; i++) atomicAdd((float *)pair + i, i ? 0.5f : 1.0f);
    for (int i = 0; i < 4; i++) atomicAdd((float *)four + i, 1.0f + i);
#endif
}
