== hillis-steele 2 64
__global__ void KERNEL {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    for (int d = 1; d < 64; d <<= 1) {
        int v = t >= d ? s[t - d] : 0; /*1*/
//+        __syncthreads();
        s[t] += v; /*2*/
        __syncthreads();
    }
    c[blockIdx.x * 64 + t] = s[t];
}
== hillis-steele-second-barrier 2 64
__global__ void KERNEL {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    for (int d = 1; d < 64; d <<= 1) {
        int v = t >= d ? s[t - d] : 0; /*2*/
        __syncthreads();
        s[t] += v; /*1*/
//+        __syncthreads();
    }
    c[blockIdx.x * 64 + t] = s[t];
}
== double-buffer 1 128
__global__ void KERNEL {
    __shared__ int s[2][128];
    int t = threadIdx.x, in = 0;
    s[0][t] = a[t];
    __syncthreads();
    for (int d = 1; d < 128; d <<= 1) {
//+        int out = 1 - in;
//-        int out = in;
        s[out][t] = s[in][t] + (t >= d ? s[in][t - d] : 0); /*12*/
        in = out;
        __syncthreads();
    }
    c[t] = s[in][t];
}
== blelloch-up-sweep 1 64
__global__ void KERNEL {
    __shared__ int s[128];
    int t = threadIdx.x, off = 1;
    s[2 * t] = a[2 * t];
    s[2 * t + 1] = a[2 * t + 1];
    for (int d = 64; d > 0; d >>= 1) {
//+        __syncthreads();
        if (t < d) s[off * (2 * t + 2) - 1] += s[off * (2 * t + 1) - 1]; /*12*/
        off *= 2;
    }
    __syncthreads();
    if (t == 0) c[0] = s[127];
}
== blelloch-clear-last 1 64
__global__ void KERNEL {
    __shared__ int s[128];
    int t = threadIdx.x, off = 128;
    s[2 * t] = a[2 * t];
    s[2 * t + 1] = a[2 * t + 1];
    __syncthreads();
    if (t == 0) s[127] = 0; /*1*/
    for (int d = 1; d < 128; d *= 2) {
        off >>= 1;
//+        __syncthreads();
        if (t < d) {
            int i = off * (2 * t + 1) - 1, j = off * (2 * t + 2) - 1;
            int v = s[i]; s[i] = s[j]; s[j] += v; /*12*/
        }
//-        __syncwarp();
    }
    __syncthreads();
    c[2 * t] = s[2 * t];
    c[2 * t + 1] = s[2 * t + 1];
}
== warp-totals 1 128
__global__ void KERNEL {
    __shared__ int w[4];
    int t = threadIdx.x, v = a[t];
    for (int d = 1; d < 32; d <<= 1) {
        int o = __shfl_up_sync(0xffffffffu, v, d);
        if (t % 32 >= d) v += o;
    }
    if (t % 32 == 31) w[t / 32] = v; /*1*/
//+    __syncthreads();
//-    __syncwarp();
    for (int i = 0; i < t / 32; i++) v += w[i]; /*2*/
    c[t] = v;
}
== warp-totals-reused 1 128
__global__ void KERNEL {
    __shared__ int w[4];
    int t = threadIdx.x;
    for (int k = 0; k < 3; k++) {
        int v = a[t + 128 * k];
        for (int d = 1; d < 32; d <<= 1) {
            int o = __shfl_up_sync(0xffffffffu, v, d);
            if (t % 32 >= d) v += o;
        }
        if (t % 32 == 31) w[t / 32] = v; /*1*/
        __syncthreads();
        for (int i = 0; i < t / 32; i++) v += w[i]; /*2*/
        c[t + 128 * k] = v;
//+        __syncthreads();
    }
}
== chained-blocks 6 32
__device__ int flag_NAME[8];
__global__ void KERNEL {
    if (threadIdx.x == 0) {
        int before = 0;
        if (blockIdx.x > 0) {
            while (atomicAdd(&flag_NAME[blockIdx.x - 1], 0) == 0) {}
            __threadfence();
            before = c[blockIdx.x - 1]; /*2*/
        }
        c[blockIdx.x] = before + a[blockIdx.x]; /*1*/
//+        __threadfence();
        atomicExch(&flag_NAME[blockIdx.x], 1);
    }
}
== chained-blocks-volatile 6 32
__device__ volatile int flag_NAME[8];
__global__ void KERNEL {
    if (threadIdx.x == 0) {
        int before = 0;
        if (blockIdx.x > 0) {
            while (flag_NAME[blockIdx.x - 1] == 0) {}
            __threadfence();
            before = c[blockIdx.x - 1]; /*2*/
        }
        c[blockIdx.x] = before + a[blockIdx.x]; /*1*/
//+        __threadfence();
        flag_NAME[blockIdx.x] = 1;
    }
}
== chained-blocks-plain-flag 6 32
__device__ int flag_NAME[8];
__global__ void KERNEL {
    if (threadIdx.x == 0) {
        int before = 0;
        if (blockIdx.x > 0) {
            while (atomicAdd(&flag_NAME[blockIdx.x - 1], 0) == 0) {} /*2*/
            __threadfence();
            before = c[blockIdx.x - 1];
        }
        c[blockIdx.x] = before + a[blockIdx.x];
        __threadfence();
//+        atomicExch(&flag_NAME[blockIdx.x], 1);
//-        flag_NAME[blockIdx.x] = 1; /*1*/
    }
}
== acquire-release 6 32
__device__ int flag_NAME[8];
__global__ void KERNEL {
    if (threadIdx.x == 0) {
        int before = 0;
        if (blockIdx.x > 0) {
            cuda::atomic_ref<int, cuda::thread_scope_device> f(flag_NAME[blockIdx.x - 1]);
            while (f.load(cuda::memory_order_acquire) == 0) {}
            before = c[blockIdx.x - 1]; /*2*/
        }
        c[blockIdx.x] = before + a[blockIdx.x]; /*1*/
        cuda::atomic_ref<int, cuda::thread_scope_device> g(flag_NAME[blockIdx.x]);
//+        g.store(1, cuda::memory_order_release);
//-        g.store(1, cuda::memory_order_relaxed);
    }
}
== acquire-release-of-block-scope 6 32
__device__ int flag_NAME[8];
__global__ void KERNEL {
    if (threadIdx.x == 0) {
        int before = 0;
        if (blockIdx.x > 0) {
            cuda::atomic_ref<int, cuda::thread_scope_device> f(flag_NAME[blockIdx.x - 1]);
            while (f.load(cuda::memory_order_acquire) == 0) {}
            before = c[blockIdx.x - 1]; /*2*/
        }
        c[blockIdx.x] = before + a[blockIdx.x]; /*1*/
//+        cuda::atomic_ref<int, cuda::thread_scope_device> g(flag_NAME[blockIdx.x]);
//-        cuda::atomic_ref<int, cuda::thread_scope_block> g(flag_NAME[blockIdx.x]);
        g.store(1, cuda::memory_order_release);
    }
}
== relaxed-load note 6 32
__device__ int flag_NAME[8];
__global__ void KERNEL {
    if (threadIdx.x == 0) {
        int before = 0;
        if (blockIdx.x > 0) {
            cuda::atomic_ref<int, cuda::thread_scope_device> f(flag_NAME[blockIdx.x - 1]);
//+            while (f.load(cuda::memory_order_acquire) == 0) {}
//-            while (f.load(cuda::memory_order_relaxed) == 0) {}
            before = c[blockIdx.x - 1]; /*2*/
        }
        c[blockIdx.x] = before + a[blockIdx.x]; /*1*/
        cuda::atomic_ref<int, cuda::thread_scope_device> g(flag_NAME[blockIdx.x]);
        g.store(1, cuda::memory_order_release);
    }
}
== total-broadcast 1 64
__global__ void KERNEL {
    __shared__ int total;
    int t = threadIdx.x;
    for (int k = 0; k < 3; k++) {
        if (t == 63) total = a[k]; /*1*/
        __syncthreads();
        c[k * 64 + t] = total + t; /*2*/
//+        __syncthreads();
    }
}
