// Accesses in patterns: of one warp, by elements of each size. at says which element a lane accesses; below 0 it does not.

#define BOTH(name, T)                                                                       \
    extern "C" __global__ void gather_##name(const int *at, const T *in, T *out) {          \
        int t = threadIdx.x, k = at[t];                                                     \
        if (k >= 0) out[t] = in[k];                                                         \
    }                                                                                       \
    extern "C" __global__ void scatter_##name(const int *at, const T *in, T *out) {         \
        int t = threadIdx.x, k = at[t];                                                     \
        if (k >= 0) out[k] = in[t];                                                         \
    }                                                                                       \
    extern "C" __global__ void gather_shared_##name(const int *at, const T *in, T *out) {   \
        __shared__ T s[1024];                                                               \
        int t = threadIdx.x, k = at[t];                                                     \
        for (int i = t; i < 1024; i += 32) s[i] = in[i];                                    \
        __syncthreads();                                                                    \
        if (k >= 0) out[t] = s[k];                                                          \
    }                                                                                       \
    extern "C" __global__ void scatter_shared_##name(const int *at, const T *in, T *out) {  \
        __shared__ T s[1024];                                                               \
        int t = threadIdx.x, k = at[t];                                                     \
        if (k >= 0) s[k] = in[t];                                                           \
        __syncthreads();                                                                    \
        if (k >= 0) out[t] = s[k];                                                          \
    }
BOTH(1, unsigned char)
BOTH(2, unsigned short)
BOTH(4, unsigned)
BOTH(8, uint2)
BOTH(16, uint4)

extern "C" __global__ void add_global(const int *at, unsigned *out) {
    int k = at[threadIdx.x];
    if (k >= 0) atomicAdd(&out[k], 1u);
}

extern "C" __global__ void add_shared(const int *at, unsigned *out) {
    __shared__ unsigned s[1024];
    int t = threadIdx.x, k = at[t];
    for (int i = t; i < 1024; i += 32) s[i] = 0;
    __syncthreads();
    if (k >= 0) atomicAdd(&s[k], 1u);
    __syncthreads();
    for (int i = t; i < 1024; i += 32) out[i] = s[i];
}

// part_loops: lanes that turn a different number of times, and leave in the middle.
extern "C" __global__ void part_loops(const int *at, const unsigned *in, unsigned *out) {
    int t = threadIdx.x, k = at[t];
    unsigned sum = 0;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < (k + i) % 5; j++) sum += in[32 * j + t];
        if (sum == 7) break;
        out[32 * i + t] = sum;
    }
    out[128 + t] = sum;
}
