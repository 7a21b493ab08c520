// Sorts and what they are made of.

extern "C" __global__ void odd_even(int *x, int n) {
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int round = 0; round < n; round++) {
        __syncthreads();
        if (t % 2 == round % 2 && t + 1 < n && s[t] > s[t + 1]) {
            int v = s[t];
            s[t] = s[t + 1];
            s[t + 1] = v;
        }
    }
    __syncthreads();
    x[t] = s[t];
}

extern "C" __global__ void bitonic_step(int *x, int d, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, o = i ^ d;
    if (o > i && (x[i] > x[o]) == ((i & size) == 0)) {
        int v = x[i];
        x[i] = x[o];
        x[o] = v;
    }
}

// One block splits by each bit, zeros first.
extern "C" __global__ void radix_bits(unsigned *x, int bits) {
    __shared__ unsigned s[256];
    __shared__ int zeros[8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    unsigned v = x[t];
    for (int b = 0; b < bits; b++) {
        bool one = v >> b & 1;
        unsigned votes = __ballot_sync(0xffffffff, !one);
        if (lane == 0) zeros[warp] = __popc(votes);
        __syncthreads();
        int before = __popc(votes & ((1u << lane) - 1)), all = 0;
        for (int k = 0; k < 8; k++) {
            if (k < warp) before += zeros[k];
            all += zeros[k];
        }
        s[one ? all + t - before : before] = v;
        __syncthreads();
        v = s[t];
    }
    x[t] = v;
}

__device__ int lower(const int *x, int n, int v, bool after) {
    int lo = 0;
    while (lo < n) {
        int mid = (lo + n) / 2;
        if (after ? x[mid] <= v : x[mid] < v) lo = mid + 1; else n = mid;
    }
    return lo;
}

extern "C" __global__ void merge_by_rank(const int *a, const int *b, int *out, int na, int nb) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < na) out[i + lower(b, nb, a[i], false)] = a[i];
    if (i < nb) out[i + lower(a, na, b[i], true)] = b[i];
}

extern "C" __global__ void count_keys(const int *x, int *counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&counts[x[i]], 1);
}

extern "C" __global__ void counts_to_starts(int *counts) {
    __shared__ int s[64];
    int t = threadIdx.x, own = counts[t];
    s[t] = own;
    for (int d = 1; d < 64; d *= 2) {
        __syncthreads();
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
    }
    counts[t] = s[t] - own;
}

extern "C" __global__ void place_keys(const int *x, int *starts, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[atomicAdd(&starts[x[i]], 1)] = x[i];
}

extern "C" __global__ void rank_sort(const int *x, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, rank = 0;
    if (i >= n) return;
    for (int k = 0; k < n; k++) rank += x[k] < x[i] || (x[k] == x[i] && k < i);
    out[rank] = x[i];
}

extern "C" __global__ void merge_runs(const int *in, int *out, int n, int width) {
    int lo = (blockIdx.x * blockDim.x + threadIdx.x) * 2 * width, mid = min(lo + width, n), hi = min(lo + 2 * width, n);
    for (int i = lo, j = mid, k = lo; k < hi; k++) out[k] = i < mid && (j >= hi || in[i] <= in[j]) ? in[i++] : in[j++];
}

extern "C" __global__ void warp_sort(long long *x) {
    long long v = x[blockIdx.x * 32 + threadIdx.x];
    int t = threadIdx.x;
    for (int size = 2; size <= 32; size *= 2)
        for (int d = size / 2; d; d /= 2) {
            long long o = __shfl_xor_sync(0xffffffff, v, d);
            bool least = ((t & size) == 0) == ((t & d) == 0);
            v = least ? min(v, o) : max(v, o);
        }
    x[blockIdx.x * 32 + t] = v;
}

// The kth smallest: by digits of four bits, from the highest.
extern "C" __global__ void select_kth(const unsigned *x, int n, int k, unsigned *out) {
    __shared__ int bins[16];
    __shared__ unsigned prefix;
    __shared__ int left;
    if (threadIdx.x == 0) {
        prefix = 0;
        left = k;
    }
    for (int shift = 28; shift >= 0; shift -= 4) {
        if (threadIdx.x < 16) bins[threadIdx.x] = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            if (shift == 28 || x[i] >> (shift + 4) == prefix) atomicAdd(&bins[x[i] >> shift & 15], 1);
        __syncthreads();
        if (threadIdx.x == 0) {
            int d = 0;
            while (left >= bins[d]) left -= bins[d++];
            prefix = prefix << 4 | d;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = prefix;
}

extern "C" __global__ void unique_sorted(const int *x, int *out, int *count) {
    __shared__ int s[256];
    int t = threadIdx.x, first = t == 0 || x[t] != x[t - 1];
    s[t] = first;
    for (int d = 1; d < 256; d *= 2) {
        __syncthreads();
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
    }
    if (first) out[s[t] - 1] = x[t];
    if (t == 255) *count = s[t];
}

// Each thread sorts sixteen in its registers or its stack.
extern "C" __global__ void insertion_sort(const int *in, int *out) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 16, v[16];
    for (int k = 0; k < 16; k++) {
        int x = in[i + k], j = k;
        for (; j > 0 && v[j - 1] > x; j--) v[j] = v[j - 1];
        v[j] = x;
    }
    for (int k = 0; k < 16; k++) out[i + k] = v[k];
}
