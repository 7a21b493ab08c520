== named-barriers 1 64
__device__ void arrive_NAME(int n) { asm volatile("bar.arrive %0, 64;" ::"r"(n) : "memory"); }
__device__ void wait_NAME(int n) { asm volatile("bar.sync %0, 64;" ::"r"(n) : "memory"); }
__global__ void KERNEL {
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 32) {
        s[t] = a[t]; /*1*/
        arrive_NAME(1);
    } else {
//+        wait_NAME(1);
//-        arrive_NAME(1);
        c[t] = s[63 - t]; /*2*/
    }
}
== named-barriers-written-after-arrival 1 64
__device__ void arrive_NAME(int n) { asm volatile("bar.arrive %0, 64;" ::"r"(n) : "memory"); }
__device__ void wait_NAME(int n) { asm volatile("bar.sync %0, 64;" ::"r"(n) : "memory"); }
__global__ void KERNEL {
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 32) {
//+        s[t] = a[t];
        arrive_NAME(1);
//-        s[t] = a[t]; /*1*/
    } else {
        wait_NAME(1);
        c[t] = s[63 - t]; /*2*/
    }
}
== half-block-barrier 1 128
__device__ void wait_NAME(int n) { asm volatile("bar.sync %0, 64;" ::"r"(n) : "memory"); }
__global__ void KERNEL {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = a[t]; /*1*/
    wait_NAME(1 + t / 64);
//+    c[t] = s[t ^ 63]; /*2*/
//-    c[t] = s[127 - t]; /*2*/
}
== producer-consumer-stages 1 64
__device__ void wait_NAME(int n) { asm volatile("bar.sync %0, 64;" ::"r"(n) : "memory"); }
__device__ void arrive_NAME(int n) { asm volatile("bar.arrive %0, 64;" ::"r"(n) : "memory"); }
__global__ void KERNEL {
    __shared__ int s[32];
    int t = threadIdx.x % 32;
    for (int k = 0; k < 4; k++) {
        if (threadIdx.x < 32) {
            if (k > 0) wait_NAME(2);
            s[t] = a[k * 32 + t]; /*1*/
            arrive_NAME(1);
        } else {
            wait_NAME(1);
//-            if (k < 3) arrive_NAME(2);
            c[k * 32 + t] = s[31 - t]; /*2*/
//+            if (k < 3) arrive_NAME(2);
        }
    }
}
== barrier-object 1 64
__global__ void KERNEL {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t == 0) init(&bar, 64);
    __syncthreads();
    s[t] = a[t]; /*1*/
    auto token = bar.arrive();
//+    bar.wait(std::move(token));
    c[t] = s[63 - t]; /*2*/
}
== barrier-object-arrived-early 1 64
__global__ void KERNEL {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t == 0) init(&bar, 64);
    __syncthreads();
//+    s[t] = a[t];
    auto token = bar.arrive();
//-    s[t] = a[t]; /*1*/
    bar.wait(std::move(token));
    c[t] = s[63 - t]; /*2*/
}
== arrive-and-wait 1 64
__global__ void KERNEL {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t == 0) init(&bar, 64);
    __syncthreads();
    for (int k = 0; k < 3; k++) {
        s[t] = a[64 * k + t]; /*1*/
        bar.arrive_and_wait();
        c[64 * k + t] = s[63 - t]; /*2*/
//+        bar.arrive_and_wait();
    }
}
== stages-in-shared 1 64
__global__ void KERNEL {
    __shared__ int s[2][64];
    int t = threadIdx.x;
    s[0][t] = a[t];
    __syncthreads();
    for (int k = 0; k < 4; k++) {
//+        if (k < 3) s[(k + 1) % 2][t] = a[64 * (k + 1) + t];
//-        if (k < 3) s[k % 2][t] = a[64 * (k + 1) + t]; /*1*/
        c[64 * k + t] = s[k % 2][63 - t]; /*2*/
        __syncthreads();
    }
}
== stages-with-one-barrier-too-few 1 64
__global__ void KERNEL {
    __shared__ int s[2][64];
    int t = threadIdx.x;
    s[0][t] = a[t];
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        if (k < 3) s[(k + 1) % 2][t] = a[64 * (k + 1) + t]; /*1*/
        c[64 * k + t] = s[k % 2][63 - t]; /*2*/
//+        __syncthreads();
    }
}
== cluster 4 32 0 2
__global__ void KERNEL {
    __shared__ int s[32];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x;
    s[t] = a[t] + blockIdx.x; /*1*/
//+    cluster.sync();
//-    __syncthreads();
    int *other = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
    c[blockIdx.x * 32 + t] = other[31 - t]; /*2*/
    cluster.sync();
}
== cluster-shared-reused 4 32 0 2
__global__ void KERNEL {
    __shared__ int s[32];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        s[t] = a[t] + blockIdx.x; /*1*/
        cluster.sync();
        int *other = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
        c[blockIdx.x * 32 + t] = other[31 - t]; /*2*/
//+        cluster.sync();
    }
    cluster.sync();
}
== async-copy 1 64
__global__ void KERNEL {
    __shared__ alignas(16) int s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &a[t], 4); /*1*/
    __pipeline_commit();
    __pipeline_wait_prior(0);
//+    __syncthreads();
    c[t] = s[63 - t]; /*2*/
}
== memcpy-async-of-a-group 1 64
__global__ void KERNEL {
    __shared__ alignas(16) int s[64];
    auto block = cg::this_thread_block();
    int t = threadIdx.x;
    s[t] = 0;
    __syncthreads();
    c[t] = s[63 - t];  /*1*/
//+    __syncthreads();
    s[t] = a[t]; /*2*/
}
== ring-between-blocks 2 32
__device__ unsigned int put_NAME, taken_NAME;
__global__ void KERNEL {
    if (threadIdx.x != 0) return;
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> put(put_NAME), taken(taken_NAME);
    if (blockIdx.x == 0) {
        for (unsigned k = 0; k < 8; k++) {
            while (k - taken.load(cuda::memory_order_acquire) >= 2) {}
            c[k % 2] = a[k]; /*1*/
            put.store(k + 1, cuda::memory_order_release);
        }
    } else {
        for (unsigned k = 0; k < 8; k++) {
            while (put.load(cuda::memory_order_acquire) <= k) {}
//-            taken.store(k + 1, cuda::memory_order_release);
            b[k] = c[k % 2]; /*2*/
//+            taken.store(k + 1, cuda::memory_order_release);
        }
    }
}
