// Barriers of libcu++, copies that need not wait, and its types.
#include <cuda/barrier>
#include <cuda/std/array>
#include <cuda/std/limits>
#include <cuda/std/type_traits>
#include <cuda_pipeline.h>

typedef cuda::barrier<cuda::thread_scope_block> block_barrier;

// Each thread gives the next one its number, round after round, between arriving
// and waiting doing something else.
extern "C" __global__ void hand_on(int *out, int rounds) {
    __shared__ block_barrier here, gone;
    __shared__ int hand[128];
    if (threadIdx.x == 0) {
        init(&here, blockDim.x);
        init(&gone, blockDim.x);
    }
    __syncthreads();
    int v = threadIdx.x, own = 0;
    for (int i = 0; i < rounds; i++) {
        hand[threadIdx.x] = v;
        block_barrier::arrival_token t = here.arrive();
        own += i;
        here.wait(static_cast<block_barrier::arrival_token &&>(t));
        v = hand[(threadIdx.x + 1) % blockDim.x];
        gone.arrive_and_wait();
    }
    out[threadIdx.x] = 1000 * own + v;
}

extern "C" __global__ void copied(const float4 *in, float *out, int tiles) {
    __shared__ float4 tile[2][64];
    __pipeline_memcpy_async(&tile[0][threadIdx.x], &in[threadIdx.x], sizeof(float4));
    __pipeline_commit();
    float sum = 0;
    for (int i = 0; i < tiles; i++) {
        if (i + 1 < tiles) __pipeline_memcpy_async(&tile[(i + 1) % 2][threadIdx.x], &in[64 * (i + 1) + threadIdx.x], sizeof(float4));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        float4 v = tile[i % 2][63 - threadIdx.x];
        sum += v.x + v.y + v.z + v.w;
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

template <class T> __device__ T largest(const cuda::std::array<T, 3> &a) {
    static_assert(cuda::std::is_integral<T>::value, "integers");
    T most = cuda::std::numeric_limits<T>::lowest();
    for (unsigned i = 0; i < a.size(); i++) most = a[i] > most ? a[i] : most;
    return most;
}

extern "C" __global__ void typed(int *out) {
    int i = threadIdx.x;
    cuda::std::array<int, 3> a = {i, -i, 5};
    cuda::std::conditional<sizeof(int) == 4, int, double>::type v = largest(a);
    out[i] = v;
}
