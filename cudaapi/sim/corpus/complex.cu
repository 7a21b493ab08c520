// A Julia set, with cuComplex.
#include <cuComplex.h>

extern "C" __global__ void julia(int w, int *steps) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    cuDoubleComplex z = make_cuDoubleComplex(4.0 * x / w - 2, 4.0 * y / w - 2), c = make_cuDoubleComplex(-0.8, 0.156);
    int n = 0;
    for (; n < 8 && cuCreal(z) * cuCreal(z) + cuCimag(z) * cuCimag(z) < 1000; n++) z = cuCadd(cuCmul(z, z), c);
    steps[y * w + x] = n;
}

extern "C" __global__ void quotients(const float *in, float *out) {
    int i = threadIdx.x;
    cuFloatComplex a = make_cuFloatComplex(in[2 * i], in[2 * i + 1]), b = make_cuFloatComplex(in[2 * i + 1], 1);
    cuFloatComplex q = cuCdivf(cuConjf(a), b);
    out[3 * i] = cuCrealf(q), out[3 * i + 1] = cuCimagf(q), out[3 * i + 2] = cuCabsf(a);
}
