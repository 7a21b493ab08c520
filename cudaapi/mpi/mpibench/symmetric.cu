// Kernels on symmetric memory, as a user writes them. bench/symmetric_cuda.cu compiles the same
// with nvcc.
#include <gocuda/symmetric.h>
typedef gocuda::symmetric<float> window;
typedef gocuda::symmetric<unsigned long long> packs;

// The sum of all ranks' data, in place. Each number travels beside the number of the turn,
// in one store, so nobody waits for anything else. There are two sets of places: what is
// written in one turn was read before the turn after the next.
extern "C" __global__ void reduce_ll(packs w, float *data, int n, unsigned *turns) {
    const unsigned turn = turns[blockIdx.x] + 1;
    const long long room = w.count() / 2 / w.size(), set = turn % 2 * w.size() * room;
    const int i = blockIdx.x * blockDim.x + threadIdx.x, me = w.rank();
    if (i < n) {
        const float mine = data[i];
        const unsigned long long pack = (unsigned long long)turn << 32 | __float_as_uint(mine);
        for (int p = 0; p < w.size(); p++)
            if (p != me) *(volatile unsigned long long *)(w.peer(p) + set + me * room + i) = pack;
        float sum = 0;
        for (int p = 0; p < w.size(); p++) {
            float theirs = mine;
            if (p != me) {
                const volatile unsigned long long *at = w.local() + set + p * room + i;
                unsigned long long v = *at;
                for (unsigned spins = 1; v >> 32 != turn && (spins % 1024 || !w.stopped()); spins++) v = *at;
                theirs = __uint_as_float((unsigned)v);
            }
            sum += theirs;
        }
        data[i] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) turns[blockIdx.x] = turn;
}

// The same by a barrier: write to all, meet, add up.
extern "C" __global__ void reduce_push(window w, float *data, int n, unsigned *turns) {
    const unsigned turn = turns[blockIdx.x] + 1;
    const long long room = w.count() / 2 / w.size(), set = turn % 2 * w.size() * room;
    const int i = blockIdx.x * blockDim.x + threadIdx.x, me = w.rank();
    float mine = 0;
    if (i < n) {
        mine = data[i];
        for (int p = 0; p < w.size(); p++)
            if (p != me) w.peer(p)[set + me * room + i] = mine;
    }
    w.barrier();
    if (i < n) {
        float sum = 0;
        for (int p = 0; p < w.size(); p++) sum += p == me ? mine : w.local()[set + p * room + i];
        data[i] = sum;
    }
    if (threadIdx.x == 0) turns[blockIdx.x] = turn;
}

__device__ float relaxed(const float *a, float up, float down, int x, int nx, long long at) {
    const float left = x ? a[at - 1] : 0, right = x + 1 < nx ? a[at + 1] : 0;
    return 0.25f * (left + right + up + down);
}

// A step of Jacobi: ranks are above each other, each with ny rows of nx. The edge rows of
// the neighbours come by puts into two sets of two rows, counted by blocks.
extern "C" __global__ void halo_step(window w, const float *a, float *b, int nx, int ny, unsigned turn) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, me = w.rank();
    const bool top = y == 0 && me > 0, bottom = y == ny - 1 && me + 1 < w.size();
    const float *above = w.local() + (turn - 1) % 2 * 2 * nx, *below = above + nx;
    if (top || bottom) {
        if (threadIdx.x == 0) {
            if (top) w.wait_until(0, (turn - 1) * gridDim.x);
            if (bottom) w.wait_until(1, (turn - 1) * gridDim.x);
        }
        __syncthreads();
    }
    if (x < nx) {
        const long long at = (long long)y * nx + x;
        const float up = y ? a[at - nx] : top ? above[x] : 0, down = y + 1 < ny ? a[at + nx] : bottom ? below[x] : 0;
        const float v = relaxed(a, up, down, x, nx, at);
        b[at] = v;
        if (top) w.peer(me - 1)[turn % 2 * 2 * nx + nx + x] = v;
        if (bottom) w.peer(me + 1)[turn % 2 * 2 * nx + x] = v;
    }
    if (top || bottom) {
        __syncthreads();
        if (threadIdx.x == 0) {
            if (top) w.signal(me - 1, 1);
            if (bottom) w.signal(me + 1, 0);
        }
    }
}

// The same step with the neighbours' rows in memory that messages fill.
extern "C" __global__ void plain_step(const float *a, float *b, const float *above, const float *below, int nx, int ny) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= nx) return;
    const long long at = (long long)y * nx + x;
    b[at] = relaxed(a, y ? a[at - nx] : above[x], y + 1 < ny ? a[at + nx] : below[x], x, nx, at);
}

__device__ float block_sum(float v) {
    __shared__ float parts[32];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x % 32 < blockDim.x / 32 ? parts[threadIdx.x % 32] : 0;
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    return v;
}

constexpr int held = 4; // float4 of a row in a thread

// Rows of n numbers, of which each rank has a summand: each block adds one row of this
// rank's up, divides it by the root of its mean square and writes it to all.
extern "C" __global__ void fused_norm(window w, int n) {
    const int row = blockIdx.x * w.size() + w.rank(), quads = n / 4;
    float4 v[held];
    float squares = 0;
    w.barrier();
    for (int k = 0; k < held; k++) {
        const int i = k * blockDim.x + threadIdx.x;
        float4 sum = {0, 0, 0, 0};
        if (i < quads)
            for (int p = 0; p < w.size(); p++) {
                const float4 x = ((const float4 *)(w.peer(p) + (long long)row * n))[i];
                sum.x += x.x; sum.y += x.y; sum.z += x.z; sum.w += x.w;
            }
        v[k] = sum;
        squares += sum.x * sum.x + sum.y * sum.y + sum.z * sum.z + sum.w * sum.w;
    }
    const float scale = rsqrtf(block_sum(squares) / n + 1e-6f);
    for (int k = 0; k < held; k++) {
        const int i = k * blockDim.x + threadIdx.x;
        const float4 x = {v[k].x * scale, v[k].y * scale, v[k].z * scale, v[k].w * scale};
        if (i < quads)
            for (int p = 0; p < w.size(); p++) ((float4 *)(w.peer(p) + (long long)row * n))[i] = x;
    }
    w.barrier();
}

// The same in three launches.
extern "C" __global__ void scatter_rows(window w, float *rows, int n) {
    const int row = blockIdx.x * w.size() + w.rank(), quads = n / 4;
    w.barrier();
    for (int i = threadIdx.x; i < quads; i += blockDim.x) {
        float4 sum = {0, 0, 0, 0};
        for (int p = 0; p < w.size(); p++) {
            const float4 x = ((const float4 *)(w.peer(p) + (long long)row * n))[i];
            sum.x += x.x; sum.y += x.y; sum.z += x.z; sum.w += x.w;
        }
        ((float4 *)(rows + (long long)blockIdx.x * n))[i] = sum;
    }
}
extern "C" __global__ void norm_rows(float *rows, int n) {
    float4 *row = (float4 *)(rows + (long long)blockIdx.x * n);
    float squares = 0;
    for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
        const float4 x = row[i];
        squares += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
    }
    const float scale = rsqrtf(block_sum(squares) / n + 1e-6f);
    for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
        const float4 x = row[i];
        row[i] = {x.x * scale, x.y * scale, x.z * scale, x.w * scale};
    }
}
extern "C" __global__ void gather_rows(window w, const float *rows, int n) {
    const int row = blockIdx.x * w.size() + w.rank(), quads = n / 4;
    w.barrier();
    for (int i = threadIdx.x; i < quads; i += blockDim.x) {
        const float4 x = ((const float4 *)(rows + (long long)blockIdx.x * n))[i];
        for (int p = 0; p < w.size(); p++) ((float4 *)(w.peer(p) + (long long)row * n))[i] = x;
    }
    w.barrier();
}
