== in-place 4 64
__global__ void KERNEL {
    int i = blockIdx.x * 64 + threadIdx.x + 1;
//+    c[i] = a[i - 1] + a[i] + a[i + 1];
//-    a[i] = a[i - 1] + a[i] + a[i + 1]; /*12*/
}
== tile-without-barrier 4 64
__global__ void KERNEL {
    __shared__ int s[66];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t + 1] = a[i + 1]; /*1*/
    if (t == 0) s[0] = a[i];
    if (t == 63) s[65] = a[i + 2];
//+    __syncthreads();
    c[i] = s[t] + s[t + 1] + s[t + 2]; /*2*/
}
== halo-off-by-one 4 64
__global__ void KERNEL {
    __shared__ int s[66];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
//+    s[t + 1] = a[i + 1];
//-    s[t] = a[i + 1]; /*1*/
    if (t == 0) s[0] = a[i];
//+    if (t == 63) s[65] = a[i + 2];
//-    if (t == 63) s[62] = a[i + 2]; /*2*/
    __syncthreads();
    c[i] = s[t] + s[t + 1] + s[t + 2];
}
== tile-reused 1 64
__global__ void KERNEL {
    __shared__ int s[64];
    int t = threadIdx.x;
    for (int k = 0; k < 4; k++) {
        s[t] = a[k * 64 + t]; /*1*/
        __syncthreads();
        c[k * 64 + t] = s[t] + s[(t + 1) % 64]; /*2*/
//+        __syncthreads();
    }
}
== ping-pong-without-barrier 1 64
__global__ void KERNEL {
    __shared__ int s[2][64];
    int t = threadIdx.x;
    s[0][t] = a[t];
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        int in = k % 2;
        s[1 - in][t] = s[in][t] + s[in][(t + 1) % 64]; /*12*/
//+        __syncthreads();
    }
    __syncthreads();
    c[t] = s[0][t];
}
== block-edges 4 64
__global__ void KERNEL {
    int i = blockIdx.x * 64 + threadIdx.x;
    int v = a[i] + 1;
    b[i] = v; /*1*/
    __syncthreads();
//+    int j = blockIdx.x * 64 + (threadIdx.x + 1) % 64;
//-    int j = (i + 1) % 256;
    c[i] = b[j]; /*2*/
}
== global-tile-without-barrier 4 64
__global__ void KERNEL {
    int i = blockIdx.x * 64 + threadIdx.x;
    int v = a[i] + 1;
    b[i] = v; /*1*/
//+    __syncthreads();
    c[i] = b[blockIdx.x * 64 + (threadIdx.x + 1) % 64]; /*2*/
}
== two-dimensions 2x2 8x8
__global__ void KERNEL {
    __shared__ int s[8][8];
    int x = threadIdx.x, y = threadIdx.y, i = (blockIdx.y * 8 + y) * 16 + blockIdx.x * 8 + x;
    s[y][x] = a[i]; /*1*/
//+    __syncthreads();
    c[i] = s[y][x] + s[(y + 1) % 8][x] + s[y][(x + 1) % 8]; /*2*/
}
== three-dimensions 1 4x4x4
__global__ void KERNEL {
    __shared__ int s[4][4][4];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, i = (z * 4 + y) * 4 + x;
    s[z][y][x] = a[i]; /*1*/
//+    __syncthreads();
    c[i] = s[(z + 1) % 4][y][x]; /*2*/
}
== rows-of-warps 1 32x4
__global__ void KERNEL {
    __shared__ int s[4][32];
    int x = threadIdx.x, y = threadIdx.y;
    s[y][x] = a[y * 32 + x]; /*1*/
    __syncwarp();
//+    c[y * 32 + x] = s[y][(x + 1) % 32]; /*2*/
//-    c[y * 32 + x] = s[(y + 1) % 4][x]; /*2*/
}
== red-black 1 64
__global__ void KERNEL {
    int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
//+        if (t % 2 == k) a[t + 1] = a[t] + a[t + 2];
//-        if (t % 2 <= k) a[t + 1] = a[t] + a[t + 2]; /*12*/
        __syncthreads();
    }
}
== shifted-bytes 1 64
__global__ void KERNEL {
    char *s = (char *)a;
//+    char *d = (char *)c;
//-    char *d = (char *)a;
    d[threadIdx.x] = s[threadIdx.x + 1]; /*12*/
}
== neighbouring-bytes clean 2 64
__global__ void KERNEL {
    ((char *)c)[blockIdx.x * 64 + threadIdx.x] = 1;
    ((short *)b)[blockIdx.x * 64 + threadIdx.x] = 1;
}
== bytes-and-words 1 64
__global__ void KERNEL {
    ((char *)c)[threadIdx.x] = 1; /*1*/
//+    __syncthreads();
    if (threadIdx.x < 16) b[threadIdx.x] = c[threadIdx.x]; /*2*/
}
== vectors 1 64
__global__ void KERNEL {
    ((int4 *)c)[threadIdx.x] = make_int4(1, 2, 3, 4); /*1*/
//+    __syncthreads();
    b[threadIdx.x] = c[4 * ((threadIdx.x + 1) % 64) + 2]; /*2*/
}
== vector-reads 1 64
__global__ void KERNEL {
    c[threadIdx.x] = threadIdx.x; /*1*/
//+    __syncthreads();
    if (threadIdx.x < 16) {
        int4 v = ((int4 *)c)[threadIdx.x]; /*2*/
        b[threadIdx.x] = v.x + v.y + v.z + v.w;
    }
}
== doubles-overlap 2 32
__global__ void KERNEL {
    int i = blockIdx.x * 32 + threadIdx.x;
//+    ((double *)c)[i] = i;
//-    *(long long *)(c + 2 * (i / 2) ) = i; /*12*/
}
== grid-stride clean 4 64
__global__ void KERNEL {
    for (int i = blockIdx.x * 64 + threadIdx.x; i < 4 * n; i += 256) c[i] = 2 * a[i];
}
== grid-stride-too-short 4 64
__global__ void KERNEL {
//+    for (int i = blockIdx.x * 64 + threadIdx.x; i < 4 * n; i += 256) c[i] += 2 * a[i];
//-    for (int i = blockIdx.x * 64 + threadIdx.x; i < 4 * n; i += 64) c[i] += 2 * a[i]; /*12*/
}
== early-return clean 4 64
__global__ void KERNEL {
    __shared__ int s[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n - 30) return;
    s[threadIdx.x] = a[i];
    __syncthreads();
    c[i] = s[threadIdx.x] + s[threadIdx.x / 2];
}
