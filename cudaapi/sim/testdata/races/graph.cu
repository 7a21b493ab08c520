== visit-once 2 64
__device__ int visited_NAME[16];
__global__ void KERNEL {
    int i = blockIdx.x * 64 + threadIdx.x, v = a[i] % 16;
//+    if (atomicExch(&visited_NAME[v], 1) == 0) c[v] = i;
//-    if (visited_NAME[v] == 0) { visited_NAME[v] = 1; c[v] = i; } /*12*/
}
== frontier 2 64
__device__ int count_NAME;
__global__ void KERNEL {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (a[i] % 3 == 0) {
//+        int at = atomicAdd(&count_NAME, 1);
//-        int at = count_NAME++; /*12*/
        c[at] = i;
    }
}
== frontier-read-in-the-same-launch 2 64
__device__ int count_NAME;
__global__ void KERNEL {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (a[i] % 3 == 0) c[atomicAdd(&count_NAME, 1)] = i; /*1*/
    __syncthreads();
//-    b[i] = c[i]; /*2*/
}
== levels-in-place 2 64
__global__ void KERNEL {
    int i = blockIdx.x * 64 + threadIdx.x, to = (i * 5 + 1) % 128;
//+    if (a[i] < 50) atomicMin(&c[to], a[i] + 1);
//-    if (a[i] < 50 && c[to] > a[i] + 1) c[to] = a[i] + 1; /*1*/
//-    a[to] = c[i]; /*2*/
}
== degrees 2 64
__global__ void KERNEL {
    int i = blockIdx.x * 64 + threadIdx.x;
//+    atomicAdd(&c[a[i] % 32], 1);
//-    c[a[i] % 32] += 1; /*12*/
}
== changed-flag 2 64
__global__ void KERNEL {
    int i = blockIdx.x * 64 + threadIdx.x;
//+    if (a[i] > 100) atomicOr(&c[0], 1);
//-    if (a[i] > 100) c[0] = 1; /*12*/
}
== changed-flag-volatile clean 2 64
__global__ void KERNEL {
    int i = blockIdx.x * 64 + threadIdx.x;
    volatile int *flag = c;
    if (a[i] > 100) *flag = 1;
}
== pointer-jumping 1 64
__global__ void KERNEL {
    __shared__ int parent[64];
    int t = threadIdx.x;
    parent[t] = t > 0 ? (t - 1) / 2 : 0;
    __syncthreads();
    for (int k = 0; k < 6; k++) {
        int p = parent[parent[t]]; /*1*/
//+        __syncthreads();
        parent[t] = p; /*2*/
        __syncthreads();
    }
    c[t] = parent[t];
}
== union-by-cas clean 2 64
__global__ void KERNEL {
    int i = blockIdx.x * 64 + threadIdx.x, v = i % 8;
    int old = atomicAdd(&c[v], 0);
    while (i < old) {
        int seen = atomicCAS(&c[v], old, i);
        if (seen == old) break;
        old = seen;
    }
}
== page-rank 2 64
__global__ void KERNEL {
    int i = blockIdx.x * 64 + threadIdx.x, to = (i * 7) % 128;
    float *r = (float *)c;
//+    atomicAdd(&r[to / 2], 0.5f);
//-    r[to / 2] += 0.5f; /*12*/
}
== worklist 1 64
__global__ void KERNEL {
    __shared__ int list[64], size;
    int t = threadIdx.x;
    if (t == 0) size = 0;
    __syncthreads();
    if (a[t] & 1) list[atomicAdd(&size, 1)] = t; /*1*/
//+    __syncthreads();
    for (int i = t; i < size; i += 64) c[i] = list[i]; /*2*/
}
== worklist-cleared-early 1 64
__global__ void KERNEL {
    __shared__ int list[64], size;
    int t = threadIdx.x;
    for (int k = 0; k < 3; k++) {
        if (t == 0) size = 0; /*1*/
        __syncthreads();
        if (a[t + 64 * k] & 1) list[atomicAdd(&size, 1)] = t;
        __syncthreads();
        for (int i = t; i < size; i += 64) c[i] = list[i]; /*2*/
//+        __syncthreads();
    }
}
== colours 1 64
__global__ void KERNEL {
    int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        int left = a[(t + 63) % 64], right = a[(t + 1) % 64]; /*1*/
//+        __syncthreads();
        c[64 * k + t] = left + right;
        if (t % 2 == k) a[t] = left + right; /*2*/
        __syncthreads();
    }
}
== edges-to-two-nodes 2 64
__global__ void KERNEL {
    int i = blockIdx.x * 64 + threadIdx.x;
    atomicAdd(&c[i % 10], 1); /*1*/
//+    atomicAdd(&c[(i + 1) % 10], 1);
//-    c[(i + 1) % 10] += 1; /*2*/
}
== triangle-count clean 2 64
__global__ void KERNEL {
    int i = blockIdx.x * 64 + threadIdx.x, n3 = 0;
    for (int k = 0; k < 8; k++) n3 += a[i] % (k + 1) == 0;
    n3 = __reduce_add_sync(0xffffffffu, n3);
    if (threadIdx.x % 32 == 0) atomicAdd(&c[0], n3);
}
