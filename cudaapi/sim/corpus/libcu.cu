// Atomic references of libcu++.
#include <cuda/atomic>

extern "C" __global__ void ref_count(const int *keys, int n, int *bins) {
    __shared__ cuda::atomic<int, cuda::thread_scope_block> part[10];
    if (threadIdx.x < 10) part[threadIdx.x].store(0, cuda::memory_order_relaxed);
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) part[keys[i]].fetch_add(1, cuda::memory_order_relaxed);
    __syncthreads();
    if (threadIdx.x < 10) {
        cuda::atomic_ref<int, cuda::thread_scope_device> bin(bins[threadIdx.x]);
        bin += part[threadIdx.x].load();
    }
}

// Each block waits for the one before, and hands on what it has.
extern "C" __global__ void ref_relay(unsigned *flags, unsigned *out) {
    if (threadIdx.x) return;
    if (blockIdx.x > 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> before(flags[blockIdx.x - 1]);
        while (before.load(cuda::memory_order_acquire) == 0) {}
        out[blockIdx.x] = out[blockIdx.x - 1] + blockIdx.x;
    }
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> mine(flags[blockIdx.x]);
    mine.store(1, cuda::memory_order_release);
    unsigned expect = 1;
    if (mine.compare_exchange_strong(expect, 2)) mine.fetch_max(3);
}
