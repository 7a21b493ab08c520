// One thread for each element, or a few.

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __fadd_rn(__fmul_rn(a, x[i]), y[i]);
}

template <typename T> __global__ void axpy(int n, T a, const T *x, T *y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];
}

extern "C" __global__ void __launch_bounds__(128) add4(int n, const float4 *__restrict__ a, const float4 *__restrict__ b, float4 *c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 x = a[i], y = __ldg(&b[i]);
    c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

extern "C" __global__ void index3d(unsigned *out) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
    unsigned w = gridDim.x * blockDim.x, h = gridDim.y * blockDim.y;
    out[(z * h + y) * w + x] = x + 100 * y + 10000 * z;
}

struct Body {
    float mass;
    double place[3];
    char tag;
};

extern "C" __global__ void by_value(Body b, char c, short s, long long l, double *out) {
    out[0] = b.mass;
    for (int i = 0; i < 3; i++) out[1 + i] = b.place[i];
    out[4] = b.tag;
    out[5] = c;
    out[6] = s;
    out[7] = (double)l;
}

__constant__ float coefficients[4];
__device__ int evaluations;

extern "C" __global__ void polynomial(int n, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = 0;
    for (int k = 3; k >= 0; k--) v = __fadd_rn(__fmul_rn(v, x[i]), coefficients[k]);
    y[i] = v;
    atomicAdd(&evaluations, 1);
}

// The points of a square that lie in a circle, by a counter-based generator.
__device__ unsigned mix(unsigned x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}

extern "C" __global__ void points_in_circle(unsigned n, unsigned seed, unsigned long long *hits) {
    unsigned long long mine = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned long long x = mix(2 * i + seed) >> 1, y = mix(2 * i + 1 + seed) >> 1;
        if (x * x + y * y < 1ull << 62) mine++;
    }
    atomicAdd(hits, mine);
}

// Mandelbrot's set in fixed point, so that every device counts alike.
extern "C" __global__ void mandelbrot(int w, int h, int *steps) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    long long cx = (long long)px * (3 << 20) / w - (2 << 20), cy = (long long)py * (2 << 20) / h - (1 << 20), x = 0, y = 0;
    int n = 0;
    while (n < 200 && x * x + y * y < 4ll << 40) {
        long long t = ((x * x - y * y) >> 20) + cx;
        y = (2 * x * y >> 20) + cy;
        x = t;
        n++;
    }
    steps[py * w + px] = n;
}

__device__ unsigned factorial(unsigned n) { return n < 2 ? 1 : n * factorial(n - 1); }

extern "C" __global__ void recursion(unsigned *out) { out[threadIdx.x] = factorial(threadIdx.x); }

extern "C" __global__ void local_array(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v[16];
    for (int k = 0; k < 16; k++) v[k] = in[(i + k) % n];
    for (int a = 1; a < 16; a++) // insertion sort
        for (int b = a; b > 0 && v[b - 1] > v[b]; b--) {
            int t = v[b];
            v[b] = v[b - 1];
            v[b - 1] = t;
        }
    out[i] = v[7];
}
