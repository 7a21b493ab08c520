// Stencils: each element from those around it.

#define CELL int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * w + x

extern "C" __global__ void heat1d(const int *in, int *out, int n) {
    __shared__ int s[66];
    int i = blockIdx.x * 64 + threadIdx.x, l = threadIdx.x + 1;
    if (i < n) s[l] = in[i];
    if (threadIdx.x == 0) s[0] = i > 0 ? in[i - 1] : 0;
    if (threadIdx.x == 63 || i == n - 1) s[l + 1] = i + 1 < n ? in[i + 1] : 0;
    __syncthreads();
    if (i < n) out[i] = s[l] + ((s[l - 1] - 2 * s[l] + s[l + 1]) >> 2);
}

extern "C" __global__ void five_points(const float *in, float *out, int w, int h) {
    __shared__ float s[10][18];
    CELL;
    int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
    if (x < w && y < h) {
        s[ly][lx] = in[i];
        if (threadIdx.x == 0 && x > 0) s[ly][0] = in[i - 1];
        if (threadIdx.x == blockDim.x - 1 && x + 1 < w) s[ly][lx + 1] = in[i + 1];
        if (threadIdx.y == 0 && y > 0) s[0][lx] = in[i - w];
        if (threadIdx.y == blockDim.y - 1 && y + 1 < h) s[ly + 1][lx] = in[i + w];
    }
    __syncthreads();
    if (x >= w || y >= h) return;
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1) {
        out[i] = s[ly][lx];
        return;
    }
    float around = __fadd_rn(__fadd_rn(s[ly][lx - 1], s[ly][lx + 1]), __fadd_rn(s[ly - 1][lx], s[ly + 1][lx]));
    out[i] = __fadd_rn(__fmul_rn(0.2f, around), __fmul_rn(0.2f, s[ly][lx]));
}

extern "C" __global__ void nine_points(const int *in, int *out, int w, int h) {
    CELL;
    if (x >= w || y >= h) return;
    int sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int u = min(max(x + dx, 0), w - 1), v = min(max(y + dy, 0), h - 1);
            sum += in[v * w + u] * (2 - abs(dx)) * (2 - abs(dy));
        }
    out[i] = sum;
}

// A tile moves along z. The planes below and above are in registers.
extern "C" __global__ void seven_points(const int *in, int *out, int w, int h, int d) {
    __shared__ int s[10][10];
    CELL;
    int lx = threadIdx.x + 1, ly = threadIdx.y + 1, plane = w * h;
    bool inside = x < w && y < h;
    int below = 0, here = inside ? in[i] : 0;
    for (int z = 0; z < d; z++, i += plane) {
        int above = inside && z + 1 < d ? in[i + plane] : 0;
        s[ly][lx] = here;
        if (threadIdx.x == 0) s[ly][0] = inside && x > 0 ? in[i - 1] : 0;
        if (threadIdx.x == 7) s[ly][9] = inside && x + 1 < w ? in[i + 1] : 0;
        if (threadIdx.y == 0) s[0][lx] = inside && y > 0 ? in[i - w] : 0;
        if (threadIdx.y == 7) s[9][lx] = inside && y + 1 < h ? in[i + w] : 0;
        __syncthreads();
        if (inside) out[i] = s[ly][lx - 1] + s[ly][lx + 1] + s[ly - 1][lx] + s[ly + 1][lx] + below + above - 6 * here;
        __syncthreads();
        below = here;
        here = above;
    }
}

// prev becomes the next state.
extern "C" __global__ void wave(const int *now, int *prev, int w, int h) {
    CELL;
    if (x == 0 || y == 0 || x >= w - 1 || y >= h - 1) return;
    prev[i] = 2 * now[i] - prev[i] + ((now[i - 1] + now[i + 1] + now[i - w] + now[i + w] - 4 * now[i]) >> 2);
}

__constant__ int taps[25];

extern "C" __global__ void convolve(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    if (i >= n) return;
    for (int k = 0; k < 7; k++)
        if (i + k - 3 >= 0 && i + k - 3 < n) sum += taps[k] * in[i + k - 3];
    out[i] = sum;
}

extern "C" __global__ void convolve2d(const int *in, int *out, int w, int h) {
    __shared__ int s[12][12];
    int left = blockIdx.x * 8 - 2, top = blockIdx.y * 8 - 2;
    for (int t = threadIdx.y * 8 + threadIdx.x; t < 144; t += 64) {
        int x = left + t % 12, y = top + t / 12;
        s[t / 12][t % 12] = x >= 0 && y >= 0 && x < w && y < h ? in[y * w + x] : 0;
    }
    __syncthreads();
    CELL;
    if (x >= w || y >= h) return;
    int sum = 0;
#pragma unroll
    for (int k = 0; k < 25; k++) sum += taps[k] * s[threadIdx.y + k / 5][threadIdx.x + k % 5];
    out[i] = sum;
}

extern "C" __global__ void smooth_rows(const int *in, int *out, int w, int h) {
    CELL;
    if (x < w && y < h) out[i] = in[y * w + max(x - 1, 0)] + 2 * in[i] + in[y * w + min(x + 1, w - 1)];
}

extern "C" __global__ void smooth_columns(const int *in, int *out, int w, int h) {
    CELL;
    if (x < w && y < h) out[i] = in[max(y - 1, 0) * w + x] + 2 * in[i] + in[min(y + 1, h - 1) * w + x];
}

extern "C" __global__ void red_black(int *at, int w, int h, int color) {
    CELL;
    if (x == 0 || y == 0 || x >= w - 1 || y >= h - 1 || (x + y) % 2 != color) return;
    at[i] = (at[i - 1] + at[i + 1] + at[i - w] + at[i + w]) >> 2;
}

// Thirty-two cells of a row in a word, on a torus.
extern "C" __global__ void life_bits(const unsigned *in, unsigned *out, int words, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= words) return;
    unsigned ones = 0, twos = 0, fours = 0, here = in[y * words + x];
    for (int d = -1; d <= 1; d++) {
        const unsigned *row = in + (y + d + h) % h * words;
        unsigned c = row[x], left = __funnelshift_l(row[(x + words - 1) % words], c, 1), right = __funnelshift_r(c, row[(x + 1) % words], 1);
        unsigned cells[3] = {left, right, d ? c : 0};
        for (unsigned b : cells) {
            unsigned carry = ones & b;
            ones ^= b;
            fours |= twos & carry;
            twos ^= carry;
        }
    }
    out[y * words + x] = twos & ~fours & (ones | here);
}
