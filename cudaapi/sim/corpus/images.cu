// Pictures of bytes.

typedef unsigned char byte;
#define PIXEL int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * w + x; if (x >= w || y >= h) return

extern "C" __global__ void histogram(const byte *in, unsigned *bins, int n) {
    __shared__ unsigned s[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) s[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&s[in[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        if (s[b]) atomicAdd(&bins[b], s[b]);
}

extern "C" __global__ void equalize(const byte *in, const unsigned *bins, byte *out, int n) {
    __shared__ unsigned s[256];
    int t = threadIdx.x;
    s[t] = bins[t];
    for (int d = 1; d < 256; d *= 2) {
        __syncthreads();
        unsigned v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
    }
    __syncthreads();
    int i = blockIdx.x * 256 + t;
    if (i < n) out[i] = s[in[i]] * 255 / n;
}

__device__ int at(const byte *in, int x, int y, int w, int h) { return in[min(max(y, 0), h - 1) * w + min(max(x, 0), w - 1)]; }

extern "C" __global__ void box_filter(const byte *in, byte *out, int w, int h, int r) {
    PIXEL;
    int sum = 0, side = 2 * r + 1;
    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++) sum += at(in, x + dx, y + dy, w, h);
    out[i] = (sum + side * side / 2) / (side * side);
}

extern "C" __global__ void sobel(const byte *in, byte *out, int w, int h) {
    PIXEL;
    int g[2] = {};
    for (int k = -1; k <= 1; k++) {
        int weight = 2 - abs(k);
        g[0] += weight * (at(in, x + 1, y + k, w, h) - at(in, x - 1, y + k, w, h));
        g[1] += weight * (at(in, x + k, y + 1, w, h) - at(in, x + k, y - 1, w, h));
    }
    out[i] = min(abs(g[0]) + abs(g[1]), 255);
}

__device__ void order(byte &a, byte &b) {
    byte least = min(a, b);
    b = max(a, b);
    a = least;
}

extern "C" __global__ void median(const byte *in, byte *out, int w, int h) {
    PIXEL;
    byte v[9];
    for (int k = 0; k < 9; k++) v[k] = at(in, x + k % 3 - 1, y + k / 3 - 1, w, h);
#pragma unroll
    for (int end = 8; end >= 4; end--)
#pragma unroll
        for (int k = 0; k < end; k++) order(v[k], v[k + 1]);
    out[i] = v[4];
}

extern "C" __global__ void gray(const uchar4 *in, byte *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar4 p = in[i];
    out[i] = (77 * p.x + 150 * p.y + 29 * p.z + 128) >> 8;
}

extern "C" __global__ void blend(const uchar4 *over, uchar4 *under, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar4 a = over[i], b = under[i];
    auto mix = [=](int p, int q) { return (byte)((p * a.w + q * (255 - a.w) + 127) / 255); };
    under[i] = make_uchar4(mix(a.x, b.x), mix(a.y, b.y), mix(a.z, b.z), max(a.w, b.w));
}

extern "C" __global__ void rotate(const uchar3 *in, uchar3 *out, int w, int h) {
    PIXEL;
    out[x * h + h - 1 - y] = in[i];
}

// Places have eight bits of fraction.
extern "C" __global__ void scale(const byte *in, byte *out, int w0, int h0, int w, int h) {
    PIXEL;
    int fx = x * ((w0 - 1) << 8) / (w - 1), fy = y * ((h0 - 1) << 8) / (h - 1), u = fx >> 8, v = fy >> 8;
    fx &= 255;
    fy &= 255;
    int top = at(in, u, v, w0, h0) * (256 - fx) + at(in, u + 1, v, w0, h0) * fx;
    int bottom = at(in, u, v + 1, w0, h0) * (256 - fx) + at(in, u + 1, v + 1, w0, h0) * fx;
    out[i] = (top * (256 - fy) + bottom * fy + (1 << 15)) >> 16;
}

template <bool Most> __global__ void extreme(const byte *in, byte *out, int w, int h) {
    PIXEL;
    int v = Most ? 0 : 255;
    for (int k = 0; k < 9; k++) {
        int p = at(in, x + k % 3 - 1, y + k / 3 - 1, w, h);
        v = Most ? max(v, p) : min(v, p);
    }
    out[i] = v;
}

extern "C" __global__ void integral_rows(const byte *in, unsigned *out, int w, int h) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= h) return;
    unsigned sum = 0;
    for (int x = 0; x < w; x++) out[y * w + x] = sum += in[y * w + x];
}

extern "C" __global__ void integral_columns(unsigned *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= w) return;
    unsigned sum = 0;
    for (int y = 0; y < h; y++) out[y * w + x] = sum += out[y * w + x];
}

// In fixed point of 20 bits. view is the centre and the size of a pixel.
extern "C" __global__ void burning_ship(const int *view, int *out, int w, int h) {
    PIXEL;
    long long cx = view[0] + (x - w / 2) * view[2], cy = view[1] + (y - h / 2) * view[2], a = 0, b = 0;
    int n = 0;
    for (; n < 100 && a * a + b * b < 4LL << 40; n++) {
        long long t = ((a * a - b * b) >> 20) + cx;
        b = (llabs(a * b) >> 19) + cy;
        a = t;
    }
    out[i] = n;
}

// The discrete cosine transform of blocks of 8 by 8.
extern "C" __global__ void cosines(const byte *in, float *out, int w) {
    __shared__ float s[8][8], rows[8][8];
    int x = threadIdx.x, y = threadIdx.y, i = (blockIdx.y * 8 + y) * w + blockIdx.x * 8 + x;
    s[y][x] = in[i] - 128.0f;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += s[y][k] * cospif((2 * k + 1) * x / 16.0f);
    rows[y][x] = sum * (x ? 0.5f : 0.35355339f);
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; k++) sum += rows[k][x] * cospif((2 * k + 1) * y / 16.0f);
    out[i] = sum * (y ? 0.5f : 0.35355339f);
}
