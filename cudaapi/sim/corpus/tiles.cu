// Tiles in shared memory: transposes, products, stencils.

extern "C" __global__ void transpose_plain(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) out[x * h + y] = in[y * w + x];
}

constexpr int Tile = 16;

extern "C" __global__ void transpose_tile(const float *in, float *out, int w, int h) {
    __shared__ float tile[Tile][Tile + 1];
    int x = blockIdx.x * Tile + threadIdx.x, y = blockIdx.y * Tile + threadIdx.y;
    if (x < w && y < h) tile[threadIdx.y][threadIdx.x] = in[y * w + x];
    __syncthreads();
    x = blockIdx.y * Tile + threadIdx.x;
    y = blockIdx.x * Tile + threadIdx.y;
    if (x < h && y < w) out[y * h + x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void product_plain(const int *a, const int *b, int *c, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    int v = 0;
    for (int k = 0; k < n; k++) v += a[y * n + k] * b[k * n + x];
    c[y * n + x] = v;
}

template <int N> __global__ void product_tiles(const int *a, const int *b, int *c, int n) {
    __shared__ int p[N][N], q[N][N];
    int x = blockIdx.x * N + threadIdx.x, y = blockIdx.y * N + threadIdx.y, v = 0;
    for (int t = 0; t < n; t += N) {
        p[threadIdx.y][threadIdx.x] = y < n && t + threadIdx.x < n ? a[y * n + t + threadIdx.x] : 0;
        q[threadIdx.y][threadIdx.x] = x < n && t + threadIdx.y < n ? b[(t + threadIdx.y) * n + x] : 0;
        __syncthreads();
        for (int k = 0; k < N; k++) v += p[threadIdx.y][k] * q[k][threadIdx.x];
        __syncthreads();
    }
    if (x < n && y < n) c[y * n + x] = v;
}

// Sums of seven neighbours, with the ends of the tile loaded as well.
extern "C" __global__ void stencil1d(const int *in, int *out, int n) {
    const int R = 3;
    extern __shared__ int s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + R;
    s[l] = i < n ? in[i] : 0;
    if (threadIdx.x < R) {
        s[l - R] = i >= R ? in[i - R] : 0;
        s[l + blockDim.x] = i + blockDim.x < n ? in[i + blockDim.x] : 0;
    }
    __syncthreads();
    int v = 0;
    for (int k = -R; k <= R; k++) v += s[l + k];
    if (i < n) out[i] = v;
}

extern "C" __global__ void jacobi2d(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int i = y * w + x;
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1) {
        out[i] = in[i];
        return;
    }
    out[i] = __fmul_rn(0.25f, __fadd_rn(__fadd_rn(in[i - 1], in[i + 1]), __fadd_rn(in[i - w], in[i + w])));
}

extern "C" __global__ void stencil3d(const int *in, int *out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= n || y >= n || z >= n) return;
    auto at = [=](int x, int y, int z) { return x < 0 || y < 0 || z < 0 || x >= n || y >= n || z >= n ? 0 : in[(z * n + y) * n + x]; };
    out[(z * n + y) * n + x] = 6 * at(x, y, z) - at(x - 1, y, z) - at(x + 1, y, z) - at(x, y - 1, z) - at(x, y + 1, z) - at(x, y, z - 1) - at(x, y, z + 1);
}

extern "C" __global__ void life(const unsigned char *in, unsigned char *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int n = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) n += in[(y + dy + h) % h * w + (x + dx + w) % w];
    out[y * w + x] = n == 3 || (n == 2 && in[y * w + x]);
}

extern "C" __global__ void bodies(const float4 *at, float4 *force, int n) {
    extern __shared__ float4 near[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = at[i], f = make_float4(0, 0, 0, 0);
    for (int t = 0; t < n; t += blockDim.x) {
        near[threadIdx.x] = at[t + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < blockDim.x; k++) {
            float dx = near[k].x - me.x, dy = near[k].y - me.y, dz = near[k].z - me.z;
            float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), s = near[k].w * inv * inv * inv;
            f.x += dx * s;
            f.y += dy * s;
            f.z += dz * s;
        }
        __syncthreads();
    }
    force[i] = f;
}
