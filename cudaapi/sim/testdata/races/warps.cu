== neighbour-without-syncwarp 1 32
__global__ void KERNEL {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = a[t]; /*1*/
//+    __syncwarp();
    c[t] = s[(t + 1) % 32]; /*2*/
}
== syncwarp-of-half 1 32
__global__ void KERNEL {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = a[t]; /*1*/
//+    __syncwarp();
//-    if (t < 16) __syncwarp(0xffff); else __syncwarp(0xffff0000);
    c[t] = s[31 - t]; /*2*/
}
== syncwarp-of-halves-fits clean 1 32
__global__ void KERNEL {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = a[t];
    if (t < 16) __syncwarp(0xffff); else __syncwarp(0xffff0000);
    c[t] = s[t ^ 5];
}
== through-another-lane clean 1 32
__global__ void KERNEL {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = a[t];
    if (t < 2) __syncwarp(0x3);
    if (t == 1 || t == 2) __syncwarp(0x6);
    if (t == 2) c[0] = s[0];
}
== through-a-lane-too-late 1 32
__global__ void KERNEL {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = a[t]; /*1*/
//+    if (t < 2) __syncwarp(0x3);
    if (t == 1 || t == 2) __syncwarp(0x6);
//-    if (t < 2) __syncwarp(0x3);
    if (t == 2) c[0] = s[0]; /*2*/
}
== warps-need-a-block-barrier 1 64
__global__ void KERNEL {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = a[t]; /*1*/
//+    __syncthreads();
//-    __syncwarp();
    c[t] = s[63 - t]; /*2*/
}
== ballot-instead-of-memory clean 1 64
__global__ void KERNEL {
    c[threadIdx.x] = __ballot_sync(0xffffffffu, a[threadIdx.x] & 1);
}
== transpose-in-warp 1 32
__global__ void KERNEL {
    __shared__ int s[4][8];
    int t = threadIdx.x;
    s[t / 8][t % 8] = a[t]; /*1*/
//+    __syncwarp();
    c[t] = s[t % 4][t / 4]; /*2*/
}
== leader-writes 1 64
__global__ void KERNEL {
    __shared__ int s[2];
    int t = threadIdx.x, w = t / 32;
    if (t % 32 == 0) s[w] = a[w]; /*1*/
//+    __syncwarp();
    c[t] = s[w] + t; /*2*/
}
== leader-writes-again 1 64
__global__ void KERNEL {
    __shared__ int s[2];
    int t = threadIdx.x, w = t / 32;
    for (int k = 0; k < 3; k++) {
        if (t % 32 == 0) s[w] = a[w + k]; /*1*/
        __syncwarp();
        c[64 * k + t] = s[w] + t; /*2*/
//+        __syncwarp();
    }
}
== queue-per-warp 1 64
__global__ void KERNEL {
    __shared__ int q[2][32], count[2];
    int t = threadIdx.x, w = t / 32;
    if (t % 32 == 0) count[w] = 0; /*1*/
//+    __syncwarp();
    if (a[t] & 1) q[w][atomicAdd(&count[w], 1)] = t; /*2*/
    __syncwarp();
    if (t % 32 < count[w]) c[w * 32 + t % 32] = q[w][t % 32];
}
== queue-read-early 1 64
__global__ void KERNEL {
    __shared__ int q[2][32], count[2];
    int t = threadIdx.x, w = t / 32;
    if (t % 32 == 0) count[w] = 0;
    __syncwarp();
    if (a[t] & 1) q[w][atomicAdd(&count[w], 1)] = t; /*1*/
//+    __syncwarp();
    if (t % 32 < count[w]) c[w * 32 + t % 32] = q[w][t % 32]; /*2*/
}
== bitonic-in-warp 1 32
__global__ void KERNEL {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = a[t];
    for (int k = 2; k <= 32; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            __syncwarp();
            int o = t ^ j, x = s[t], y = s[o]; /*1*/
//+            __syncwarp();
            s[t] = ((t & k) == 0) == (t < o) ? min(x, y) : max(x, y); /*2*/
        }
    __syncwarp();
    c[t] = s[t];
}
== tiles-of-groups 1 64
__global__ void KERNEL {
    __shared__ int s[64];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int t = threadIdx.x;
    s[t] = a[t]; /*1*/
//+    tile.sync();
    c[t] = s[t ^ 7]; /*2*/
}
== tiles-too-small 1 64
__global__ void KERNEL {
    __shared__ int s[64];
//+    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
//-    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int t = threadIdx.x;
    s[t] = a[t]; /*1*/
    tile.sync();
    c[t] = s[t ^ 15]; /*2*/
}
== block-group 1 64
__global__ void KERNEL {
    __shared__ int s[64];
    auto block = cg::this_thread_block();
    int t = block.thread_rank();
    s[t] = a[t]; /*1*/
//+    block.sync();
    c[t] = s[63 - t]; /*2*/
}
== ballot-after-return mask 1 64
__global__ void KERNEL {
//-    if (a[threadIdx.x] % 7 == 3) return;
    c[threadIdx.x] = __ballot_sync(0xffffffffu, a[threadIdx.x] & 1);
}
== syncwarp-after-return mask 1 32
__global__ void KERNEL {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = a[t];
//-    if (t == 5) return;
    __syncwarp();
    c[t] = s[t ^ 1];
}
== half-a-warp clean 1 16
__global__ void KERNEL {
    c[threadIdx.x] = __shfl_xor_sync(0xffffffffu, a[threadIdx.x], 1);
}
== barrier-in-condition past 1 64
__global__ void KERNEL {
    int t = threadIdx.x;
//-    if (t < 40)
        __syncthreads(); /*1*/
    c[t] = 1; /*2*/
}
== half-of-warp past 1 32
__global__ void KERNEL {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = a[t];
//-    if (t & 1) {
        __syncthreads(); /*1*/
//-    }
    c[t] = s[t] + 1; /*2*/
}
== returned-early clean 1 64
__global__ void KERNEL {
    int t = threadIdx.x;
    for (int k = 0; k < n / 64; k++) {
        if (t > 40 + k) {
            c[t] = k;
            return;
        }
        __syncthreads();
    }
    c[t] = 7;
}
== guarded-store-before clean 1 64
__global__ void KERNEL {
    int t = threadIdx.x;
    if (t >= 40) {
        c[t] = 9;
        return;
    }
    __syncthreads();
    c[t] = 7;
}
