extern "C" __global__ void saxpy(int n, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 0.25f * x[i] + y[i];
}
extern "C" __global__ void jacobi(int w, const float *x, float *y) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r > 0 && r < w - 1 && c > 0 && c < w - 1)
        y[r * w + c] = 0.25f * (x[r * w + c - 1] + x[r * w + c + 1] + x[(r - 1) * w + c] + x[(r + 1) * w + c]);
}
extern "C" __global__ void nbody(int n, const float4 *x, float *y) {
    __shared__ float4 tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 p = x[i];
    float ax = 0, ay = 0, az = 0;
    for (int k = 0; k < n; k += blockDim.x) {
        tile[threadIdx.x] = x[k + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < blockDim.x; j++) {
            float4 q = tile[j];
            float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z, d = dx * dx + dy * dy + dz * dz + 0.01f;
            float r = 1 / sqrtf(d), s = q.w * r * r * r;
            ax += dx * s, ay += dy * s, az += dz * s;
        }
        __syncthreads();
    }
    y[3 * i] = ax, y[3 * i + 1] = ay, y[3 * i + 2] = az;
}
extern "C" __global__ void sum(int n, const float *x, float *y) {
    __shared__ float s[256];
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
    s[threadIdx.x] = v;
    __syncthreads();
    for (int d = blockDim.x / 2; d; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = s[0];
}
extern "C" __global__ void scan(int n, const float *x, float *y) {
    __shared__ float s[2][256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, from = 0;
    s[0][t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        s[1 - from][t] = t >= d ? s[from][t] + s[from][t - d] : s[from][t];
        from = 1 - from;
        __syncthreads();
    }
    if (i < n) y[i] = s[from][t];
}
extern "C" __global__ void transpose(int n, const float *x, float *y) {
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = x[(r + k) * n + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x, r = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) y[(r + k) * n + c] = tile[threadIdx.x][threadIdx.y + k];
}
extern "C" __global__ void matmul(int n, const float *x, float *y) {
    __shared__ float s[16][16], t[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float v = 0;
    for (int k = 0; k < n; k += 16) {
        s[ty][tx] = x[row * n + k + tx];
        t[ty][tx] = x[(k + ty) * n + col];
        __syncthreads();
        for (int i = 0; i < 16; i++) v += s[ty][i] * t[i][tx];
        __syncthreads();
    }
    y[row * n + col] = v;
}
extern "C" __global__ void histogram(int n, const unsigned *x, unsigned *y) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[x[i] >> 8 & 255], 1);
    __syncthreads();
    atomicAdd(&y[threadIdx.x], bins[threadIdx.x]);
}
extern "C" __global__ void bitonic(int n, const float *x, float *y) {
    __shared__ float s[512];
    int t = threadIdx.x;
    x += blockIdx.x * 512, y += blockIdx.x * 512;
    s[t] = x[t], s[t + 256] = x[t + 256];
    for (int size = 2; size <= 512; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {
            __syncthreads();
            int i = 2 * t - (t & (d - 1)), j = i + d;
            bool up = (i & size) == 0;
            float a = s[i], b = s[j];
            if (a > b == up) s[i] = b, s[j] = a;
        }
    __syncthreads();
    y[t] = s[t], y[t + 256] = s[t + 256];
}
__device__ float normal(float d) {
    float k = 1 / (1 + 0.2316419f * fabsf(d));
    float c = 0.39894228f * expf(-0.5f * d * d) * (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1 - c : c;
}
extern "C" __global__ void blackscholes(int n, const float *x, float *y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float s = x[3 * i] + 5, k = x[3 * i + 1] + 5, t = x[3 * i + 2] + 0.25f, q = sqrtf(t);
        float d1 = (logf(s / k) + (0.02f + 0.5f * 0.3f * 0.3f) * t) / (0.3f * q), d2 = d1 - 0.3f * q, e = k * expf(-0.02f * t);
        float a = normal(d1), b = normal(d2);
        y[2 * i] = s * a - e * b;
        y[2 * i + 1] = e * (1 - b) - s * (1 - a);
    }
}
