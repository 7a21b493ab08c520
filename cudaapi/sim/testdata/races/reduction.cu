== tree-without-barrier 2 128
__global__ void KERNEL {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * 128 + t];
    __syncthreads();
    for (int d = 64; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d]; /*12*/
//+        __syncthreads();
    }
    if (t == 0) c[blockIdx.x] = s[0];
}
== tree-first-barrier 2 128
__global__ void KERNEL {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * 128 + t]; /*1*/
//+    __syncthreads();
    for (int d = 64; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d]; /*2*/
        __syncthreads();
    }
    if (t == 0) c[blockIdx.x] = s[0];
}
== guard-left-out 2 128
__global__ void KERNEL {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = a[t];
    s[t + 128] = 0;
    __syncthreads();
    for (int d = 64; d > 0; d >>= 1) {
        int v = 0;
//+        if (t < d)
            v = s[t + d]; /*1*/
//+        __syncthreads();
//+        if (t < d)
            s[t] += v; /*2*/
        __syncthreads();
    }
    if (t == 0) c[blockIdx.x] = s[0];
}
== warp-synchronous 1 64
__global__ void KERNEL {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    if (t < 32) {
        int v = s[t] + s[t + 32];
        s[t] = v;
        for (int d = 16; d > 0; d >>= 1) {
            __syncwarp();
            int w = s[t + d]; /*2*/
//+            __syncwarp();
            s[t] += w; /*1*/
        }
    }
    if (t == 0) c[0] = s[0];
}
== warp-synchronous-volatile 1 64
__global__ void KERNEL {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    if (t < 32) {
        volatile int *v = s;
        for (int d = 32; d > 0; d >>= 1) {
            int x = v[t] + v[t + d]; /*2*/
//+            __syncwarp();
            v[t] = x; /*1*/
//+            __syncwarp();
        }
    }
    if (t == 0) c[0] = s[0];
}
== plain-total 4 64
__global__ void KERNEL {
    int v = a[blockIdx.x * 64 + threadIdx.x];
//+    atomicAdd(&c[0], v);
//-    c[0] += v; /*12*/
}
== plain-total-in-block 1 64
__global__ void KERNEL {
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
//+    atomicAdd(&total, a[threadIdx.x]);
//-    total += a[threadIdx.x]; /*12*/
    __syncthreads();
    if (threadIdx.x == 0) c[0] = total;
}
== total-not-awaited 1 64
__global__ void KERNEL {
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, a[threadIdx.x]); /*1*/
//+    __syncthreads();
    if (threadIdx.x == 0) c[0] = total; /*2*/
}
== total-not-cleared-in-time 1 64
__global__ void KERNEL {
    __shared__ int total;
    if (threadIdx.x == 0) total = 0; /*1*/
//+    __syncthreads();
    atomicAdd(&total, a[threadIdx.x]); /*2*/
    __syncthreads();
    if (threadIdx.x == 0) c[0] = total;
}
== block-scope-total 4 64
__global__ void KERNEL {
    int v = a[blockIdx.x * 64 + threadIdx.x];
//+    atomicAdd(&c[0], v);
//-    atomicAdd_block(&c[0], v); /*12*/
}
== last-block-without-fence 4 64
__device__ unsigned int count_NAME;
__global__ void KERNEL {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        c[blockIdx.x] = a[blockIdx.x]; /*1*/
//+        __threadfence();
        last = atomicAdd(&count_NAME, 1) == gridDim.x - 1;
//+        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int s = 0;
        for (int i = 0; i < gridDim.x; i++) s += c[i]; /*2*/
        b[0] = s;
    }
}
== last-block-without-acquire note 4 64
__device__ unsigned int count_NAME;
__global__ void KERNEL {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        c[blockIdx.x] = a[blockIdx.x]; /*1*/
        __threadfence();
        last = atomicAdd(&count_NAME, 1) == gridDim.x - 1;
//+        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int s = 0;
        for (int i = 0; i < gridDim.x; i++) s += c[i]; /*2*/
        b[0] = s;
    }
}
== last-block-volatile clean 4 64
__device__ unsigned int count_NAME;
__global__ void KERNEL {
    __shared__ bool last;
    volatile int *r = c;
    if (threadIdx.x == 0) {
        r[blockIdx.x] = a[blockIdx.x];
        __threadfence();
        last = atomicInc(&count_NAME, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int s = 0;
        for (int i = 0; i < gridDim.x; i++) s += r[i];
        b[0] = s;
    }
}
== last-block-fence-of-block 4 64
__device__ unsigned int count_NAME;
__global__ void KERNEL {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        c[blockIdx.x] = a[blockIdx.x]; /*1*/
//+        __threadfence();
//-        __threadfence_block();
        last = atomicAdd(&count_NAME, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int s = 0;
        for (int i = 0; i < gridDim.x; i++) s += c[i]; /*2*/
        b[0] = s;
    }
}
== shuffles clean 2 128
__global__ void KERNEL {
    __shared__ int s[4];
    int v = a[blockIdx.x * 128 + threadIdx.x];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 4) {
        v = s[threadIdx.x];
        for (int d = 2; d > 0; d >>= 1) v += __shfl_down_sync(0xfu, v, d);
        if (threadIdx.x == 0) atomicAdd(&c[0], v);
    }
}
== warps-sums-without-barrier 2 128
__global__ void KERNEL {
    __shared__ int s[4];
    int v = a[blockIdx.x * 128 + threadIdx.x];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v; /*1*/
//+    __syncthreads();
    if (threadIdx.x == 0) c[blockIdx.x] = s[0] + s[1] + s[2] + s[3]; /*2*/
}
== same-value 1 64
__global__ void KERNEL {
//+    if (a[threadIdx.x] > 10) atomicExch(&c[0], 1);
//-    if (a[threadIdx.x] > 10) c[0] = 1; /*12*/
}
== barrier-in-branch barrier 1 64
__global__ void KERNEL {
    __shared__ int s[64];
    s[threadIdx.x] = a[threadIdx.x];
//-    if (threadIdx.x < 32) __syncthreads(); /*1*/
//-    else { s[threadIdx.x]++; __syncthreads(); } /*2*/
//+    __syncthreads();
    c[threadIdx.x] = s[threadIdx.x];
}
== shuffle-mask-without-caller lane 1 32
__global__ void KERNEL {
//+    c[threadIdx.x] = __shfl_xor_sync(0xffffffffu, a[threadIdx.x], 1);
//-    if (threadIdx.x < 20) c[threadIdx.x] = __shfl_xor_sync(0xffffu, a[threadIdx.x], 1);
}
== mask-names-lanes-that-ended mask 1 32
__global__ void KERNEL {
    if (threadIdx.x >= 16) return;
//+    c[threadIdx.x] = __shfl_xor_sync(0xffffu, a[threadIdx.x], 1);
//-    c[threadIdx.x] = __shfl_xor_sync(0xffffffffu, a[threadIdx.x], 1);
}
