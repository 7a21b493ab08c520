// Linear algebra, dense and sparse.

// Each thread makes four elements of a column.
extern "C" __global__ void gemm(const float *a, const float *b, float *c, int n, float alpha, float beta) {
    __shared__ float s[32][8], q[8][33];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
    float sum[4] = {};
    for (int k = 0; k < n; k += 8) {
        s[tx][ty] = blockIdx.y * 32 + tx < n && k + ty < n ? a[(blockIdx.y * 32 + tx) * n + k + ty] : 0;
        q[ty][tx] = x < n && k + ty < n ? b[(k + ty) * n + x] : 0;
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 8; j++)
            for (int r = 0; r < 4; r++) sum[r] += s[ty + 8 * r][j] * q[j][tx];
        __syncthreads();
    }
    for (int r = 0; r < 4; r++)
        if (x < n && y + 8 * r < n) c[(y + 8 * r) * n + x] = alpha * sum[r] + beta * c[(y + 8 * r) * n + x];
}

extern "C" __global__ void gemv_transposed(const float *a, const float *x, float *y, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    float sum = 0;
    for (int r = blockIdx.y; r < rows; r += gridDim.y) sum += a[r * cols + c] * x[r];
    atomicAdd(&y[c], sum);
}

extern "C" __global__ void spmv_csr(const int *off, const int *col, const float *val, const float *x, float *y, int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    float sum = 0;
    for (int e = off[r]; e < off[r + 1]; e++) sum += val[e] * x[col[e]];
    y[r] = sum;
}

extern "C" __global__ void spmv_csr_warps(const int *off, const int *col, const float *val, const float *x, float *y, int n) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= n) return;
    float sum = 0;
    for (int e = off[r] + lane; e < off[r + 1]; e += 32) sum += val[e] * x[col[e]];
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0) y[r] = sum;
}

// Column by column: what is missing has column -1.
extern "C" __global__ void spmv_ell(const int *col, const float *val, const float *x, float *y, int n, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    float sum = 0;
    for (int k = 0; k < width; k++)
        if (int c = col[k * n + r]; c >= 0) sum += val[k * n + r] * x[c];
    y[r] = sum;
}

extern "C" __global__ void spmv_coo(const int *row, const int *col, const float *val, const float *x, float *y, int n) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < n) atomicAdd(&y[row[e]], val[e] * x[col[e]]);
}

extern "C" __global__ void lu_column(double *a, int n, int k) {
    int r = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (r < n) a[r * n + k] = __ddiv_rn(a[r * n + k], a[k * n + k]);
}

extern "C" __global__ void lu_rest(double *a, int n, int k) {
    int c = k + 1 + blockIdx.x * blockDim.x + threadIdx.x, r = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    if (r < n && c < n) a[r * n + c] = __dadd_rn(a[r * n + c], -__dmul_rn(a[r * n + k], a[k * n + c]));
}

extern "C" __global__ void cholesky(double *a, int n) {
    int t = threadIdx.x;
    for (int k = 0; k < n; k++) {
        if (t == k) a[k * n + k] = __dsqrt_rn(a[k * n + k]);
        __syncthreads();
        if (t > k) a[t * n + k] = __ddiv_rn(a[t * n + k], a[k * n + k]);
        __syncthreads();
        for (int c = k + 1; c <= t; c++) a[t * n + c] = __fma_rn(-a[t * n + k], a[c * n + k], a[t * n + c]);
        __syncthreads();
    }
}

extern "C" __global__ void solve_lower(const double *l, double *b, int n) {
    __shared__ double s[64];
    int t = threadIdx.x;
    double own = b[t];
    for (int k = 0; k < n; k++) {
        if (t == k) s[k] = own = __ddiv_rn(own, l[k * n + k]);
        __syncthreads();
        if (t > k) own = __fma_rn(-l[t * n + k], s[k], own);
    }
    b[t] = own;
}

extern "C" __global__ void jacobi_solve(const double *a, const double *b, const double *x, double *next, int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    double sum = b[r];
    for (int c = 0; c < n; c++)
        if (c != r) sum = __fma_rn(-a[r * n + c], x[c], sum);
    next[r] = __ddiv_rn(sum, a[r * n + r]);
}

extern "C" __global__ void dot_shuffled(const int *x, const int *y, unsigned long long *out, int n) {
    long long sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += (long long)x[i] * y[i];
    for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0) atomicAdd(out, (unsigned long long)sum);
}

extern "C" __global__ void square_modulo(const unsigned *a, unsigned *out, int n, unsigned p) {
    int x = threadIdx.x, y = threadIdx.y;
    unsigned long long sum = 0;
    for (int k = 0; k < n; k++) sum = (sum + (unsigned long long)a[y * n + k] * a[k * n + x]) % p;
    out[y * n + x] = sum;
}

extern "C" __global__ void transpose_in_place(int *a, int n) {
    __shared__ int p[8][9], q[8][9];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    if (bx > by) return;
    int i = (by * 8 + ty) * n + bx * 8 + tx, j = (bx * 8 + ty) * n + by * 8 + tx;
    p[ty][tx] = a[i];
    q[ty][tx] = a[j];
    __syncthreads();
    a[j] = p[tx][ty];
    a[i] = q[tx][ty];
}

struct Matrix3 {
    int m[3][3];
    __device__ long long minor(int r, int c) const {
        int r0 = (r + 1) % 3, r1 = (r + 2) % 3, c0 = (c + 1) % 3, c1 = (c + 2) % 3;
        return (long long)m[r0][c0] * m[r1][c1] - (long long)m[r0][c1] * m[r1][c0];
    }
};

extern "C" __global__ void determinants(const Matrix3 *a, long long *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Matrix3 m = a[i];
    long long sum = 0;
    for (int c = 0; c < 3; c++) sum += m.m[0][c] * m.minor(0, c);
    out[i] = sum;
}

// a times its transpose, of which the lower half is computed.
extern "C" __global__ void syrk(const int *a, int *c, int n, int m) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n || x > y) return;
    int sum = 0;
    for (int k = 0; k < m; k++) sum += a[y * m + k] * a[x * m + k];
    c[y * n + x] = c[x * n + y] = sum;
}
