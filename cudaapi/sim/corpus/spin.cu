// Kernels whose blocks and threads wait for each other without barriers, as far
// as a GPU lets them.

// A barrier of the grid made of atomics: sums that all blocks have seen.
__device__ void grid_barrier(unsigned *arrived, unsigned turn) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1u);
        while (atomicAdd(arrived, 0u) < turn * gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
}
extern "C" __global__ void rounds(unsigned *arrived, volatile unsigned *at, unsigned *out, int turns) {
    for (int turn = 1; turn <= turns; turn++) {
        if (threadIdx.x == 0) at[blockIdx.x] = turn * blockIdx.x;
        grid_barrier(arrived, 2 * turn - 1);
        atomicAdd(&out[turn - 1], at[(blockIdx.x + threadIdx.x) % gridDim.x]);
        grid_barrier(arrived, 2 * turn);
    }
}

// An inclusive scan in one pass: each block waits for the sum of those before.
extern "C" __global__ void look_back(const unsigned *in, unsigned *out, volatile unsigned *sums, volatile unsigned *ready) {
    __shared__ unsigned part[128];
    __shared__ unsigned before;
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    part[t] = in[i];
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        __syncthreads();
        unsigned v = t >= d ? part[t - d] : 0;
        __syncthreads();
        part[t] += v;
    }
    __syncthreads();
    if (t == 0) {
        before = 0;
        if (blockIdx.x > 0) {
            while (ready[blockIdx.x - 1] == 0) {}
            __threadfence();
            before = sums[blockIdx.x - 1];
        }
        sums[blockIdx.x] = before + part[blockDim.x - 1];
        __threadfence();
        ready[blockIdx.x] = 1;
    }
    __syncthreads();
    out[i] = before + part[t];
}

// A lock that threads of one warp take from each other.
extern "C" __global__ void locked(int *lock, volatile int *value) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *value = *value * 3 % 1000003 + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// Numbers are served in turn.
extern "C" __global__ void tickets(unsigned *next, volatile unsigned *serving, unsigned *order) {
    unsigned mine = atomicAdd(next, 1u);
    while (*serving != mine) __nanosleep(20);
    __threadfence();
    order[mine] = mine ? order[mine - 1] + mine : 0;
    __threadfence();
    *serving = mine + 1;
}

// The last block to end adds up what the others left.
extern "C" __global__ void last_block(const float *in, volatile float *parts, unsigned *ended, float *out) {
    __shared__ float s[64];
    __shared__ bool last;
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    for (int k = 32; k > 0; k /= 2) {
        __syncthreads();
        if (t < k) s[t] += s[t + k];
    }
    if (t == 0) {
        parts[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(ended, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        float sum = 0;
        for (int b = 0; b < gridDim.x; b++) sum += parts[b];
        *out = sum;
    }
}
