// Lanes of a warp among themselves.

extern "C" __global__ void shuffles(int *out) {
    int l = threadIdx.x;
    int *o = out + l * 6;
    o[0] = __shfl_sync(~0u, l * 10, 5);
    o[1] = __shfl_up_sync(~0u, l * 10, 3);
    o[2] = __shfl_down_sync(~0u, l * 10, 3);
    o[3] = __shfl_xor_sync(~0u, l * 10, 7);
    o[4] = __shfl_sync(~0u, l * 10, 2, 8);
    o[5] = __shfl_down_sync(~0u, l * 10, 3, 16);
}

extern "C" __global__ void shuffle_wide(double *d, long long *l) {
    d[threadIdx.x] = __shfl_sync(~0u, 0.5 * threadIdx.x, 31 - threadIdx.x);
    l[threadIdx.x] = __shfl_xor_sync(~0u, (1ll << 40) + threadIdx.x, 1);
}

extern "C" __global__ void votes(const int *in, int *out) {
    int v = in[threadIdx.x];
    int *o = out + threadIdx.x * 4;
    o[0] = __any_sync(~0u, v > 90);
    o[1] = __all_sync(~0u, v >= 0);
    o[2] = (int)__ballot_sync(~0u, v % 3 == 0);
    o[3] = (int)__match_any_sync(~0u, v % 5);
}

// Two halves of a warp that go different ways, and lanes that have left.
extern "C" __global__ void halves(int *out) {
    int l = threadIdx.x, v;
    if (l < 16) {
        v = l;
        for (int d = 8; d; d /= 2) v += __shfl_xor_sync(0x0000ffff, v, d);
    } else {
        if (l >= 28) return;
        v = __popc(__ballot_sync(0x0fff0000, l % 2));
    }
    out[l] = v;
}

extern "C" __global__ void reductions(const unsigned *in, unsigned *out) {
    unsigned v = in[threadIdx.x];
    unsigned *o = out + threadIdx.x * 6;
    o[0] = __reduce_add_sync(~0u, v);
    o[1] = __reduce_min_sync(~0u, v);
    o[2] = __reduce_max_sync(~0u, v);
    o[3] = __reduce_and_sync(~0u, v);
    o[4] = __reduce_or_sync(~0u, v);
    o[5] = __reduce_xor_sync(~0u, v);
}

extern "C" __global__ void block_votes(const int *in, int *out) {
    int v = in[threadIdx.x];
    int *o = out + threadIdx.x * 3;
    o[0] = __syncthreads_count(v > 50);
    o[1] = __syncthreads_and(v >= 0);
    o[2] = __syncthreads_or(v > 1000);
}

// Threads that return do not hold a barrier up.
extern "C" __global__ void leavers(int *out) {
    __shared__ int s[128];
    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x >= 100) return;
    __syncthreads();
    out[threadIdx.x] = s[(threadIdx.x + 1) % 100];
    __syncthreads();
}

// Lanes with the same key elect one to add for all of them.
extern "C" __global__ void histogram_match(const int *in, int *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int key = i < n ? in[i] : -1;
    unsigned same = __match_any_sync(~0u, key);
    if (key >= 0 && threadIdx.x % 32 == __ffs(same) - 1) atomicAdd(&bins[key], __popc(same));
}
