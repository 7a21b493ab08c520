// Atomic operations, from many threads on few words.

extern "C" __global__ void histogram(const unsigned char *in, unsigned *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[in[i]], 1u);
}

extern "C" __global__ void histogram_shared(const unsigned char *in, unsigned *bins, int n) {
    __shared__ unsigned mine[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[in[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], mine[b]);
}

extern "C" __global__ void every_atomic(int *w, unsigned *u, unsigned long long *l, float *f, double *d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&w[0], i);
    atomicSub(&w[1], 1);
    atomicMin(&w[2], i - 100);
    atomicMax(&w[3], i);
    atomicAnd(&w[4], ~(1 << i % 8));
    atomicOr(&w[5], 1 << i % 20);
    atomicXor(&w[6], i);
    atomicInc(&u[0], 9);
    atomicDec(&u[1], 9);
    atomicAdd_system(&u[2], 2u);
    atomicAdd(&l[0], 1ull << 33);
    atomicMax(&l[1], (unsigned long long)i << 32);
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
}

// A lock and a maximum of floats made of compare-and-swap.
extern "C" __global__ void by_cas(int *lock, int *guarded, unsigned *top, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned old = *top;
        while (__uint_as_float(old) < x[i]) {
            unsigned seen = atomicCAS(top, old, __float_as_uint(x[i]));
            if (seen == old) break;
            old = seen;
        }
    }
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *(volatile int *)guarded += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}
