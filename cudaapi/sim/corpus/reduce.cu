// Sums, and what is like them.

extern "C" __global__ void sum_shared(const int *x, int *out, int n) {
    __shared__ int s[256];
    int v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
    s[threadIdx.x] = v;
    __syncthreads();
    for (unsigned d = blockDim.x / 2; d; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, s[0]);
}

template <typename T> __device__ T warp_sum(T v) {
#pragma unroll
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    return v;
}

template <typename T> __global__ void sum_shuffle(const T *x, T *out, int n) {
    static __shared__ T part[32];
    T v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : T(0);
        v = warp_sum(v);
        if (threadIdx.x == 0) out[blockIdx.x] = v;
    }
}

extern "C" __global__ void dot(const double *x, const double *y, double *out, int n) {
    extern __shared__ double cache[];
    double v = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) v += x[i] * y[i];
    cache[threadIdx.x] = v;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d >>= 1) {
        if (threadIdx.x < d) cache[threadIdx.x] += cache[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = cache[0];
}

extern "C" __global__ void minmax(const int *x, int *lo, int *hi, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicMin(lo, x[i]);
    atomicMax(hi, x[i]);
}

// The last block to finish adds up what the others left.
__device__ unsigned finished;

extern "C" __global__ void sum_single_pass(const int *x, volatile int *parts, int *out, int n) {
    __shared__ int s[128];
    __shared__ bool last;
    int v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
    s[threadIdx.x] = v;
    __syncthreads();
    for (int d = 64; d; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int sum = 0;
        for (unsigned b = 0; b < gridDim.x; b++) sum += parts[b];
        *out = sum;
    }
}

// A row of a matrix for each warp.
extern "C" __global__ void matrix_vector(const int *a, const int *x, int *y, int rows, int cols) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    int v = 0;
    for (int c = lane; c < cols; c += 32) v += a[row * cols + c] * x[c];
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    if (lane == 0) y[row] = v;
}
