#include <gocuda/symmetric.h>
typedef gocuda::symmetric<float> window;

__device__ int first() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int step() { return gridDim.x * blockDim.x; }

// Each rank reads all others' and adds them up.
extern "C" __global__ void one_shot(window w, float *out, int n) {
    w.barrier();
    for (int i = first(); i < n; i += step()) {
        float sum = 0;
        for (int p = 0; p < w.size(); p++) sum += w.peer(p)[i];
        out[i] = sum;
    }
    w.barrier();
}
// Each rank adds up its part and writes it to all. Blocks meet by their number, so a
// block reads and writes one part only.
extern "C" __global__ void two_shot(window w, float *out, int n) {
    w.barrier();
    for (int i = first(); i < n; i += step()) {
        if (i / blockDim.x % w.size() != w.rank()) continue;
        float sum = 0;
        for (int p = 0; p < w.size(); p++) sum += w.peer(p)[i];
        for (int p = 0; p < w.size(); p++) w.peer(p)[i] = sum;
    }
    w.barrier();
    for (int i = first(); i < n; i += step()) out[i] = w.local()[i];
}
// Each rank writes its numbers into all others' memory, in a place of its own.
extern "C" __global__ void push(window w, const float *in, float *out, int n) {
    w.barrier();
    for (int i = first(); i < n; i += step())
        for (int p = 0; p < w.size(); p++) w.peer(p)[w.rank() * n + i] = in[i];
    w.barrier();
    for (int i = first(); i < n; i += step()) {
        float sum = 0;
        for (int p = 0; p < w.size(); p++) sum += w.local()[p * n + i];
        out[i] = sum;
    }
}
extern "C" __global__ void all_to_all(window w, const float *in, float *out, int n) {
    for (int p = blockIdx.x; p < w.size(); p += gridDim.x) w.put_signal(p, (long long)w.rank() * n, in + p * n, n, 10 + w.rank());
    for (int p = blockIdx.x; p < w.size(); p += gridDim.x) {
        w.wait(10 + p);
        for (int i = threadIdx.x; i < n; i += blockDim.x) out[p * n + i] = w.local()[p * n + i];
    }
}
extern "C" __global__ void shift(window w, const float *in, float *out, int n) {
    w.put_signal((w.rank() + 1) % w.size(), 0, in, n, 5);
    w.wait(5);
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = w.local()[i];
}
// Numbers go round the ring once, and each rank adds them to its own.
extern "C" __global__ void ring(window w, const float *in, float *out, int n) {
    const int next = (w.rank() + 1) % w.size();
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[i];
    const float *from = in;
    for (int s = 0; s + 1 < w.size(); s++) {
        w.put_signal(next, (long long)s * n, from, n, 6);
        w.wait(6);
        from = w.local() + s * n;
        for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] += from[i];
    }
}
// A row of cells on a ring of ranks: each becomes the sum of its neighbours, in turns. The
// edges lie in the symmetric memory, in two sets.
extern "C" __global__ void halo(window w, float *a, float *b, int n, int turns) {
    const int left = (w.rank() + w.size() - 1) % w.size(), right = (w.rank() + 1) % w.size();
    for (int t = 0; t < turns; t++) {
        if (threadIdx.x == 0) {
            w.peer(left)[t % 2 * 2 + 1] = a[0];
            w.peer(right)[t % 2 * 2] = a[n - 1];
            w.signal(left, 20 + t % 2);
            w.signal(right, 20 + t % 2);
        }
        w.wait(20 + t % 2, 2);
        const float *edge = w.local() + t % 2 * 2;
        for (int i = threadIdx.x; i < n; i += blockDim.x) b[i] = (i ? a[i - 1] : edge[0]) + (i + 1 < n ? a[i + 1] : edge[1]);
        __syncthreads();
        float *c = a; a = b; b = c;
    }
}
extern "C" __global__ void broadcast(window w, const float *in, float *out, int n, int root) {
    if (w.rank() == root) {
        for (int p = 0; p < w.size(); p++) w.put_signal(p, 0, in, n, 8);
    }
    w.wait(8);
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = w.local()[i];
}
extern "C" __global__ void gather(window w, const float *in, float *out, int n, int root) {
    w.put_signal(root, (long long)w.rank() * n, in, n, 9);
    if (w.rank() != root) return;
    w.wait(9, w.size());
    for (int i = threadIdx.x; i < n * w.size(); i += blockDim.x) out[i] = w.local()[i];
}
// Rows are added up by the rank whose part they are, divided by the root of their mean
// square, and sent to all: a reduce-scatter, a norm and an all-gather.
extern "C" __global__ void rms_norm(window w, float *out, int rows, int n) {
    __shared__ float squares;
    w.barrier();
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        if (r / gridDim.x % w.size() != w.rank()) continue;
        __syncthreads();
        if (threadIdx.x == 0) squares = 0;
        __syncthreads();
        float mine = 0;
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            float sum = 0;
            for (int p = 0; p < w.size(); p++) sum += w.peer(p)[r * n + i];
            out[r * n + i] = sum;
            mine += sum * sum;
        }
        atomicAdd(&squares, mine);
        __syncthreads();
        const float scale = 1 / sqrtf(squares / n + 1e-6f);
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            for (int p = 0; p < w.size(); p++) w.peer(p)[r * n + i] = out[r * n + i] * scale;
    }
    w.barrier();
    for (int r = blockIdx.x; r < rows; r += gridDim.x)
        for (int i = threadIdx.x; i < n; i += blockDim.x) out[r * n + i] = w.local()[r * n + i];
}
// What a rank does between the halves of a barrier, others need not wait for.
extern "C" __global__ void halves(window w, float *out, int n) {
    for (int i = first(); i < n; i += step()) w.local()[i] = (float)(w.rank() + i);
    w.arrive();
    for (int i = first(); i < n; i += step()) out[i] = 1;
    w.wait_barrier();
    for (int i = first(); i < n; i += step()) out[i] += w.peer((w.rank() + 1) % w.size())[i];
    w.barrier();
}
extern "C" __global__ void many_barriers(window w, float *out, int turns) {
    int bad = 0;
    for (int t = 0; t < turns; t++) {
        if (threadIdx.x == 0) w.local()[blockIdx.x] = (float)t;
        w.barrier();
        if (threadIdx.x < w.size() && w.peer(threadIdx.x)[blockIdx.x] != (float)t) bad++;
        w.barrier();
    }
    if (bad) atomicAdd(out, (float)bad);
}
// Two ranks count by turns.
extern "C" __global__ void ping_pong(window w, float *out, int turns) {
    if (w.rank() > 1) return;
    const int other = 1 - w.rank();
    for (int t = 0; t < turns; t++) {
        if (w.rank() == t % 2) {
            if (threadIdx.x == 0) {
                w.peer(other)[0] = w.local()[0] + 1;
                w.signal(other, 11);
            }
        } else {
            w.wait(11);
        }
    }
    if (threadIdx.x == 0) out[0] = w.local()[0];
}
extern "C" __global__ void until(window w, float *out, unsigned base) {
    if (threadIdx.x == 0) {
        w.peer((w.rank() + 1) % w.size())[0] = (float)w.rank();
        w.signal((w.rank() + 1) % w.size(), 12, 3);
        out[0] = w.wait_until(12, base + 3) ? w.local()[0] : -1;
    }
}
extern "C" __global__ void asking(window w, float *out, unsigned base) {
    if (threadIdx.x == 0) {
        w.peer((w.rank() + 1) % w.size())[0] = (float)w.rank();
        w.signal((w.rank() + 1) % w.size(), 13);
        while (w.test(13) != base + 1 && !w.stopped()) {}
        out[0] = w.local()[0];
    }
}
extern "C" __global__ void getting(window w, float *out, int n) {
    w.barrier();
    w.get(out, (w.rank() + 1) % w.size(), 3, n);
    w.barrier();
}
extern "C" __global__ void alone(window w, float *out) {
    w.wait(30);
    out[0] = 1;
}
