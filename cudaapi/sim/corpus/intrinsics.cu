// Intrinsics and mathematical functions.

extern "C" __global__ void bits(const unsigned *in, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = in[i], *o = out + 10 * i;
    o[0] = __popc(v);
    o[1] = __clz((int)v);
    o[2] = __ffs((int)v);
    o[3] = __brev(v);
    o[4] = __umulhi(v, 0x9e3779b9u);
    o[5] = (unsigned)__mulhi((int)v, 0x1e3779b9);
    o[6] = __byte_perm(v, ~v, 0x5140);
    o[7] = __funnelshift_l(v, ~v, i % 32);
    o[8] = (unsigned)__clzll((long long)v << 7) + (unsigned)__popcll((unsigned long long)v << 9);
    o[9] = __usad(v, 12345u, 7u);
}

extern "C" __global__ void conversions(const float *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i];
    int *o = out + 6 * i;
    o[0] = __float2int_rn(v);
    o[1] = __float2int_rz(v);
    o[2] = __float2int_ru(v);
    o[3] = __float2int_rd(v);
    o[4] = __float_as_int(v);
    o[5] = (int)__float2uint_rz(v);
}

extern "C" __global__ void functions(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i], *o = out + 12 * i, s, c;
    o[0] = sinf(v);
    o[1] = cos(v);
    o[2] = expf(v);
    o[3] = logf(v + 1.0f);
    o[4] = sqrtf(v);
    o[5] = rsqrtf(v + 1.0f);
    o[6] = powf(v, 1.5f);
    o[7] = tanhf(v);
    o[8] = fmaxf(v, 1.0f) + fminf(v, 0.5f) + max(1, 2) + min(3u, 4u);
    sincosf(v, &s, &c);
    o[9] = s * s + c * c;
    o[10] = erff(v);
    o[11] = floorf(v) + ceilf(v) + fabsf(-v) + fmodf(v, 0.75f);
}

extern "C" __global__ void functions_double(const double *in, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = in[i], *o = out + 6 * i;
    o[0] = sin(v);
    o[1] = exp(v);
    o[2] = log(v + 1);
    o[3] = sqrt(v);
    o[4] = pow(v, 0.3);
    o[5] = atan2(v, 2.0) + hypot(v, 1.0) + fma(v, 2.0, 1.0);
}
