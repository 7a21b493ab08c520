== tiled-product 2x2 8x8
__global__ void KERNEL {
    __shared__ int x[8][8], y[8][8];
    int i = threadIdx.y, j = threadIdx.x, row = blockIdx.y * 8 + i, col = blockIdx.x * 8 + j, sum = 0;
    for (int k = 0; k < 16; k += 8) {
        x[i][j] = a[row * 16 + k + j]; /*1*/
        y[i][j] = b[(k + i) * 16 + col];
//+        __syncthreads();
        for (int m = 0; m < 8; m++) sum += x[i][m] * y[m][j]; /*2*/
        __syncthreads();
    }
    c[row * 16 + col] = sum;
}
== tiled-product-tile-reused 2x2 8x8
__global__ void KERNEL {
    __shared__ int x[8][8], y[8][8];
    int i = threadIdx.y, j = threadIdx.x, row = blockIdx.y * 8 + i, col = blockIdx.x * 8 + j, sum = 0;
    for (int k = 0; k < 16; k += 8) {
        x[i][j] = a[row * 16 + k + j]; /*1*/
        y[i][j] = b[(k + i) * 16 + col];
        __syncthreads();
        for (int m = 0; m < 8; m++) sum += x[i][m] * y[m][j]; /*2*/
//+        __syncthreads();
    }
    c[row * 16 + col] = sum;
}
== transpose-tile 2x2 8x8
__global__ void KERNEL {
    __shared__ int s[8][9];
    int x = threadIdx.x, y = threadIdx.y;
    s[y][x] = a[(blockIdx.y * 8 + y) * 16 + blockIdx.x * 8 + x]; /*1*/
//+    __syncthreads();
    c[(blockIdx.x * 8 + y) * 16 + blockIdx.y * 8 + x] = s[x][y]; /*2*/
}
== transpose-in-place 1 16x16
__global__ void KERNEL {
    int x = threadIdx.x, y = threadIdx.y;
//+    if (x < y) {
        int v = a[y * 16 + x], w = a[x * 16 + y]; /*1*/
        a[y * 16 + x] = w; /*2*/
        a[x * 16 + y] = v;
//+    }
}
== transpose-blocks-overlap 2x2 8x8
__global__ void KERNEL {
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
//+    c[x * 16 + y] = a[y * 16 + x];
//-    c[(x / 2) * 16 + y] = a[y * 16 + x]; /*12*/
}
== row-sums 1 64
__global__ void KERNEL {
    int row = threadIdx.x / 8, col = threadIdx.x % 8;
//+    if (col == 0) { int s = 0; for (int k = 0; k < 8; k++) s += a[row * 8 + k]; c[row] = s; }
//-    c[row] += a[row * 8 + col]; /*12*/
}
== split-k 4 64
__global__ void KERNEL {
    int sum = 0;
    for (int k = 0; k < 8; k++) sum += a[blockIdx.x * 8 + k] * b[threadIdx.x + k];
//+    atomicAdd(&c[threadIdx.x], sum);
//-    c[threadIdx.x] += sum; /*12*/
}
== vector-in-shared 1 64
__global__ void KERNEL {
    __shared__ int v[64];
    int t = threadIdx.x, s = 0;
    v[t] = b[t]; /*1*/
//+    __syncthreads();
    for (int k = 0; k < 64; k++) s += a[(t * 64 + k) % 1024] * v[k]; /*2*/
    c[t] = s;
}
== gauss-elimination 1 8x8
__global__ void KERNEL {
    __shared__ int m[8][8];
    int x = threadIdx.x, y = threadIdx.y;
    m[y][x] = a[y * 8 + x];
    __syncthreads();
    for (int k = 0; k < 7; k++) {
        int f = y > k ? m[y][k] : 0, p = m[k][x]; /*1*/
//+        __syncthreads();
        if (y > k) m[y][x] -= f * p; /*2*/
        __syncthreads();
    }
    c[y * 8 + x] = m[y][x];
}
== cholesky-column 1 32
__global__ void KERNEL {
    __shared__ float d;
    int t = threadIdx.x;
    for (int k = 0; k < 4; k++) {
        if (t == k) d = a[k * 33] + 1; /*1*/
        __syncthreads();
        ((float *)c)[k * 32 + t] = a[k * 32 + t] / d; /*2*/
//+        __syncthreads();
    }
}
== dynamic-tile 2 64 512
extern __shared__ int dynamic_NAME[];
__global__ void KERNEL {
    int t = threadIdx.x;
    int *x = dynamic_NAME, *y = dynamic_NAME + 64;
    x[t] = a[t]; /*1*/
//+    y[t] = b[t];
//-    y[t - 1] = b[t]; /*2*/
    __syncthreads();
    c[blockIdx.x * 64 + t] = x[63 - t] * y[63 - t];
}
== dynamic-without-barrier 2 64 512
extern __shared__ int dynamic_NAME[];
__global__ void KERNEL {
    int t = threadIdx.x;
    dynamic_NAME[t] = a[t]; /*1*/
//+    __syncthreads();
    c[blockIdx.x * 64 + t] = dynamic_NAME[63 - t]; /*2*/
}
== padded-columns clean 1 32
__global__ void KERNEL {
    __shared__ int s[32][33];
    int t = threadIdx.x;
    for (int k = 0; k < 32; k++) s[k][t] = a[k * 32 + t];
    __syncwarp();
    int v = 0;
    for (int k = 0; k < 32; k++) v += s[t][k];
    c[t] = v;
}
== blocks-share-output clean 4 64
__global__ void KERNEL {
    int t = threadIdx.x;
    c[blockIdx.x * 64 + t] = a[t];
    if (t == 0 && blockIdx.x == 0) b[0] = 1;
}
