// What the probes run. Each thread has one element but where it says otherwise.
extern "C" __global__ void empty() {}
template <class T> __global__ void copy(int n, const T *from, T *to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}
template <class T> __global__ void axpy(int n, T a, const T *x, T *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
template <class T> __global__ void jacobi(int w, int h, const T *from, T *to) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c > 0 && c < w - 1 && r > 0 && r < h - 1) {
        int i = r * w + c;
        to[i] = T(0.25) * (from[i - 1] + from[i + 1] + from[i - w] + from[i + w]);
    }
}
// The grid goes round.
template <class T> __global__ void strided(int n, const T *from, T *to) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) to[i] = from[i];
}
extern "C" __global__ void copy_f32x4(int n, const float4 *from, float4 *to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}
extern "C" __global__ void fill_f32(int n, float *to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = 1;
}
extern "C" __global__ void read_f32(int n, const float *from, float *to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && from[i] == 12345.f) to[0] = 1;
}
// Neighbours are apart by a step: n is a power of two.
extern "C" __global__ void spread_f32(int n, int step, const float *from, float *to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = (unsigned)i * step & (n - 1);
    if (i < n) to[i] = from[j + (unsigned)i * step / n];
}
// Loads that each wait for the one before.
extern "C" __global__ void chase(int n, int hops, const int *from, int *to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = i;
    if (i >= n) return;
    for (int k = 0; k < hops; k++) j = (j + from[j] + n / 3) & (n - 1);
    to[i] = j;
}
extern "C" __global__ void fma_f32(int n, int turns, float *to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i, y = 0;
    for (int k = 0; k < turns; k++) y = x * y + 1.f;
    if (i < n) to[i] = y;
}
extern "C" __global__ void fma_f64(int n, int turns, double *to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = i, y = 0;
    for (int k = 0; k < turns; k++) y = x * y + 1.;
    if (i < n) to[i] = y;
}
extern "C" __global__ void count(int n, int places, int *to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&to[i % places], 1);
}
extern "C" __global__ void sum_f32(int n, const float *from, float *to) {
    __shared__ float part[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? from[i] : 0;
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) to[blockIdx.x] = part[0];
}
extern "C" __global__ void transpose_f32(int w, const float *from, float *to) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = from[(y + k) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) to[(y + k) * w + x] = tile[threadIdx.x][threadIdx.y + k];
}
extern "C" __global__ void transpose_plain(int w, const float *from, float *to) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    to[x * w + y] = from[y * w + x];
}
extern "C" __global__ void matmul_f32(int w, const float *a, const float *b, float *c) {
    __shared__ float ta[16][16], tb[16][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float s = 0;
    for (int k = 0; k < w; k += 16) {
        ta[threadIdx.y][threadIdx.x] = a[y * w + k + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * w + x];
        __syncthreads();
        for (int j = 0; j < 16; j++) s += ta[threadIdx.y][j] * tb[j][threadIdx.x];
        __syncthreads();
    }
    c[y * w + x] = s;
}
