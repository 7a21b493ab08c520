// Prefix sums, and what is built on them.

extern "C" __global__ void scan_steps(const int *in, int *out) { // Hillis and Steele
    __shared__ int s[2][512];
    int t = threadIdx.x, from = 0;
    s[0][t] = in[t];
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        s[1 - from][t] = t >= d ? s[from][t] + s[from][t - d] : s[from][t];
        from = 1 - from;
        __syncthreads();
    }
    out[t] = s[from][t];
}

extern "C" __global__ void scan_tree(const int *in, int *out, int n) { // Blelloch, exclusive
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[2 * t] = in[2 * t];
    s[2 * t + 1] = in[2 * t + 1];
    int step = 1;
    for (int d = n / 2; d > 0; d /= 2, step *= 2) {
        __syncthreads();
        if (t < d) s[step * (2 * t + 2) - 1] += s[step * (2 * t + 1) - 1];
    }
    if (t == 0) s[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        step /= 2;
        __syncthreads();
        if (t < d) {
            int a = step * (2 * t + 1) - 1, b = step * (2 * t + 2) - 1, v = s[a];
            s[a] = s[b];
            s[b] += v;
        }
    }
    __syncthreads();
    out[2 * t] = s[2 * t];
    out[2 * t + 1] = s[2 * t + 1];
}

__device__ int scan_warp(int v) {
    for (int d = 1; d < 32; d *= 2) {
        int o = __shfl_up_sync(0xffffffffu, v, d);
        if (threadIdx.x % 32 >= d) v += o;
    }
    return v;
}

extern "C" __global__ void scan_blocks(const int *in, int *out, int *sums, int n) {
    __shared__ int warps[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int v = scan_warp(i < n ? in[i] : 0);
    if (lane == 31) warps[warp] = v;
    __syncthreads();
    if (warp == 0) warps[lane] = scan_warp(lane < blockDim.x / 32 ? warps[lane] : 0);
    __syncthreads();
    if (warp > 0) v += warps[warp - 1];
    if (i < n) out[i] = v;
    if (threadIdx.x == blockDim.x - 1 && sums) sums[blockIdx.x] = v;
}

extern "C" __global__ void scan_add(int *out, const int *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && blockIdx.x > 0) out[i] += sums[blockIdx.x - 1];
}

// Keep the even ones, in order, by a ballot.
extern "C" __global__ void compact(const int *in, int *out, int *count) {
    bool keep = in[threadIdx.x] % 2 == 0;
    unsigned votes = __ballot_sync(0xffffffff, keep);
    if (keep) out[__popc(votes & ((1u << threadIdx.x) - 1))] = in[threadIdx.x];
    if (threadIdx.x == 0) *count = __popc(votes);
}

extern "C" __global__ void bitonic_sort(int *x) {
    __shared__ int s[512];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int size = 2; size <= blockDim.x; size *= 2)
        for (int d = size / 2; d; d /= 2) {
            __syncthreads();
            int o = t ^ d;
            if (o > t && (s[t] > s[o]) == ((t & size) == 0)) {
                int v = s[t];
                s[t] = s[o];
                s[o] = v;
            }
        }
    __syncthreads();
    x[t] = s[t];
}
