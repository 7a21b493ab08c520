// Dynamic programming and what learns.

#define I int i = blockIdx.x * blockDim.x + threadIdx.x

// The cheapest ways down a grid, row by row in one block.
extern "C" __global__ void path(const int *cost, int *out, int w, int h) {
    extern __shared__ int s[];
    int x = threadIdx.x;
    s[x] = cost[x];
    for (int y = 1; y < h; y++) {
        __syncthreads();
        int least = min(s[x], min(s[max(x - 1, 0)], s[min(x + 1, w - 1)]));
        __syncthreads();
        s[x] = least + cost[y * w + x];
    }
    out[x] = s[x];
}

// Needleman and Wunsch: a diagonal of tiles of 8 by 8. The table has a margin.
extern "C" __global__ void align(const int *score, int *table, int n, int diagonal, int gap) {
    __shared__ int s[9][9];
    int bx = blockIdx.x + max(diagonal - n / 8 + 1, 0), by = diagonal - bx, t = threadIdx.x, w = n + 1;
    int *corner = table + by * 8 * w + bx * 8;
    s[t + 1][0] = corner[(t + 1) * w];
    s[0][t + 1] = corner[t + 1];
    if (t == 0) s[0][0] = corner[0];
    for (int d = 0; d < 15; d++) {
        __syncthreads();
        int y = d - t;
        if (y >= 0 && y < 8) s[y + 1][t + 1] = max(s[y][t] + score[(by * 8 + y) * n + bx * 8 + t], max(s[y][t + 1], s[y + 1][t]) - gap);
    }
    __syncthreads();
    for (int y = 1; y < 9; y++) corner[y * w + t + 1] = s[y][t + 1];
}

// An item of a knapsack.
extern "C" __global__ void knapsack(const int *items, const int *best, int *next, int capacity, int item) {
    I;
    if (i > capacity) return;
    int weight = items[2 * item], value = items[2 * item + 1];
    next[i] = i >= weight ? max(best[i], best[i - weight] + value) : best[i];
}

__constant__ int2 centres[8];

extern "C" __global__ void nearest_centre(const int2 *points, int *own, int *sums, int n) {
    __shared__ int s[8][3];
    if (threadIdx.x < 24) s[threadIdx.x / 3][threadIdx.x % 3] = 0;
    __syncthreads();
    I;
    if (i < n) {
        int2 p = points[i];
        int best = 0, least = 0x7fffffff;
        for (int c = 0; c < 8; c++) {
            int dx = p.x - centres[c].x, dy = p.y - centres[c].y, d = dx * dx + dy * dy;
            if (d < least) {
                least = d;
                best = c;
            }
        }
        own[i] = best;
        atomicAdd(&s[best][0], p.x);
        atomicAdd(&s[best][1], p.y);
        atomicAdd(&s[best][2], 1);
    }
    __syncthreads();
    if (threadIdx.x < 24) atomicAdd(&sums[threadIdx.x], s[threadIdx.x / 3][threadIdx.x % 3]);
}

// The three nearest of each point, by insertion.
extern "C" __global__ void nearest_three(const int2 *points, int *out, int n) {
    I;
    if (i >= n) return;
    long long best[3];
    for (long long &b : best) b = 0x7fffffffffffffffLL;
    for (int k = 0; k < n; k++) {
        if (k == i) continue;
        long long dx = points[k].x - points[i].x, dy = points[k].y - points[i].y, v = (dx * dx + dy * dy) << 20 | k;
        for (long long &b : best)
            if (v < b) {
                long long t = b;
                b = v;
                v = t;
            }
    }
    for (int k = 0; k < 3; k++) out[3 * i + k] = (int)(best[k] & 0xfffff);
}

__device__ double sum_block(double v) {
    __shared__ double s[4];
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    return s[0] + s[1] + s[2] + s[3];
}

// A row for each block of 128.
extern "C" __global__ void softmax(const float *in, double *out, int w) {
    const float *row = in + blockIdx.x * w;
    __shared__ int most; // of integers
    if (threadIdx.x == 0) most = -1000;
    __syncthreads();
    for (int x = threadIdx.x; x < w; x += 128) atomicMax(&most, (int)row[x]);
    __syncthreads();
    double sum = 0;
    for (int x = threadIdx.x; x < w; x += 128) sum += exp((double)row[x] - most);
    sum = sum_block(sum);
    for (int x = threadIdx.x; x < w; x += 128) out[blockIdx.x * w + x] = exp((double)row[x] - most) / sum;
}

extern "C" __global__ void layer_norm(const float *in, double *out, int w) {
    const float *row = in + blockIdx.x * w;
    double sum = 0, squares = 0;
    for (int x = threadIdx.x; x < w; x += 128) sum += row[x];
    double mean = sum_block(sum) / w;
    for (int x = threadIdx.x; x < w; x += 128) squares += (row[x] - mean) * (row[x] - mean);
    double scale = rsqrt(sum_block(squares) / w + 1e-5);
    for (int x = threadIdx.x; x < w; x += 128) out[blockIdx.x * w + x] = (row[x] - mean) * scale;
}

extern "C" __global__ void relu_pool(const float *in, float *out, int *from, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w / 2 || y >= h / 2) return;
    float best = 0;
    int at = -1;
    for (int k = 0; k < 4; k++) {
        int i = (2 * y + k / 2) * w + 2 * x + k % 2;
        if (in[i] > best) {
            best = in[i];
            at = i;
        }
    }
    out[y * (w / 2) + x] = best;
    from[y * (w / 2) + x] = at;
}

// Planes of a picture, filters of 3 by 3 for each plane and filter: blockIdx.z is the filter.
extern "C" __global__ void filters(const float *in, const float *weights, float *out, int w, int h, int planes) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w - 2 || y >= h - 2) return;
    float sum = 0;
    for (int p = 0; p < planes; p++)
        for (int k = 0; k < 9; k++) sum += in[(p * h + y + k / 3) * w + x + k % 3] * weights[(blockIdx.z * planes + p) * 9 + k];
    out[(blockIdx.z * (h - 2) + y) * (w - 2) + x] = sum;
}

extern "C" __global__ void embedding_gradient(const int *tokens, const float4 *gradient, float *table, int n, int width) {
    I;
    int t = i / width, k = i % width;
    if (t >= n) return;
    float4 g = gradient[i];
    float *row = table + (tokens[t] * width + k) * 4;
    atomicAdd(row, g.x);
    atomicAdd(row + 1, g.y);
    atomicAdd(row + 2, g.z);
    atomicAdd(row + 3, g.w);
}

extern "C" __global__ void arg_max(const float *in, int *out, int w) {
    int lane = threadIdx.x, at = -1;
    float best = -1e30f;
    for (int x = lane; x < w; x += 32)
        if (in[blockIdx.x * w + x] > best) {
            best = in[blockIdx.x * w + x];
            at = x;
        }
    for (int d = 16; d; d /= 2) {
        float other = __shfl_down_sync(0xffffffff, best, d);
        int place = __shfl_down_sync(0xffffffff, at, d);
        if (place >= 0 && (other > best || (other == best && place < at))) {
            best = other;
            at = place;
        }
    }
    if (lane == 0) out[blockIdx.x] = at;
}

extern "C" __global__ void adam(float *w, const float *g, float *m, float *v, float rate) {
    I;
    m[i] = __fadd_rn(__fmul_rn(0.9f, m[i]), __fmul_rn(0.1f, g[i]));
    v[i] = __fadd_rn(__fmul_rn(0.99f, v[i]), __fmul_rn(0.01f, __fmul_rn(g[i], g[i])));
    w[i] = __fadd_rn(w[i], -__fdiv_rn(__fmul_rn(rate, m[i]), __fadd_rn(__fsqrt_rn(v[i]), 1e-8f)));
}
