== global-bins 4 64
__global__ void KERNEL {
    int i = blockIdx.x * 64 + threadIdx.x;
//+    atomicAdd(&c[a[i] % 16], 1);
//-    c[a[i] % 16]++; /*12*/
}
== shared-bins-cleared 2 64
__global__ void KERNEL {
    __shared__ int h[64];
    int t = threadIdx.x;
    h[t] = 0; /*1*/
//+    __syncthreads();
    for (int i = t; i < n; i += 64) atomicAdd(&h[(a[i] * 7 + i) % 64], 1); /*2*/
    __syncthreads();
    atomicAdd(&c[t], h[t]);
}
== shared-bins-not-awaited 2 64
__global__ void KERNEL {
    __shared__ int h[64];
    int t = threadIdx.x;
    h[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += 64) atomicAdd(&h[(a[i] * 7 + i) % 64], 1); /*1*/
//+    __syncthreads();
    atomicAdd(&c[t], h[t]); /*2*/
}
== merged-plainly 2 64
__global__ void KERNEL {
    __shared__ int h[64];
    int t = threadIdx.x;
    h[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += 64) atomicAdd(&h[(a[i] * 7 + i) % 64], 1);
    __syncthreads();
//+    atomicAdd(&c[t], h[t]);
//-    c[t] += h[t]; /*12*/
}
== block-scope-shared clean 2 64
__global__ void KERNEL {
    __shared__ int h[64];
    int t = threadIdx.x;
    h[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += 64) atomicAdd_block(&h[(a[i] * 7 + i) % 64], 1);
    __syncthreads();
    atomicAdd(&c[t], h[t]);
}
== block-scope-merge 2 64
__global__ void KERNEL {
    __shared__ int h[64];
    int t = threadIdx.x;
    h[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += 64) atomicAdd(&h[(a[i] * 7 + i) % 64], 1);
    __syncthreads();
//+    atomicAdd_system(&c[t], h[t]);
//-    atomicAdd_block(&c[t], h[t]); /*12*/
}
== bytes-of-bins 1 64
__global__ void KERNEL {
    __shared__ unsigned char h[16 * 64];
    int t = threadIdx.x;
    for (int k = 0; k < 16; k++) h[k * 64 + t] = 0;
//+    for (int i = 0; i < 8; i++) h[(a[t * 8 + i] % 16) * 64 + t]++;
//-    for (int i = 0; i < 8; i++) h[(a[t * 8 + i] % 16) * 64 + t / 2]++; /*12*/
    __syncthreads();
    if (t < 16) {
        int s = 0;
        for (int k = 0; k < 64; k++) s += h[t * 64 + k];
        c[t] = s;
    }
}
== private-per-warp 1 128
__global__ void KERNEL {
    __shared__ int h[4][32];
    int t = threadIdx.x, w = t / 32;
    h[w][t % 32] = 0;
    __syncwarp();
//+    atomicAdd(&h[w][a[t] % 32], 1); /*1*/
//-    atomicAdd(&h[0][a[t] % 32], 1); /*1*/
    __syncwarp();
//+    __syncthreads();
    if (t < 32) c[t] = h[0][t] + h[1][t] + h[2][t] + h[3][t]; /*2*/
}
== aggregated-by-ballot clean 2 64
__global__ void KERNEL {
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    unsigned m = __ballot_sync(0xffffffffu, a[i] > 20);
    if (t % 32 == 0) atomicAdd(&c[0], __popc(m));
}
== aggregated-plainly 2 64
__global__ void KERNEL {
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    unsigned m = __ballot_sync(0xffffffffu, a[i] > 20);
//+    if (t % 32 == 0) atomicAdd(&c[0], __popc(m));
//-    if (t % 32 == 0) c[0] += __popc(m); /*12*/
}
== maximum 4 64
__global__ void KERNEL {
    int v = a[blockIdx.x * 64 + threadIdx.x];
//+    atomicMax(&c[0], v);
//-    if (v > c[0]) c[0] = v; /*12*/
}
== volatile-counter 2 64
__global__ void KERNEL {
//+    atomicAdd(&c[0], 1);
//-    volatile int *p = c; *p = *p + 1; /*12*/
}
== compare-and-swap 2 64
__global__ void KERNEL {
    int v = a[blockIdx.x * 64 + threadIdx.x], old = atomicAdd(&c[0], 0);
//+    for (int seen; (seen = atomicCAS(&c[0], old, old + v)) != old; old = seen) {}
//-    if (c[0] == old) c[0] = old + v; /*12*/
}
== match-groups clean 1 64
__global__ void KERNEL {
    int v = a[threadIdx.x] % 5;
    unsigned m = __match_any_sync(0xffffffffu, v);
    if (__ffs(m) - 1 == threadIdx.x % 32) atomicAdd(&c[v], __popc(m));
}
