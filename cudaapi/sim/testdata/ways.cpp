// What the kernels of ways.cu do, in plain C++.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static __attribute__((noinline)) void saxpy(int n, const float *x, float *y) {
    for (int i = 0; i < n; i++) y[i] = 0.25f * x[i] + y[i];
}
static __attribute__((noinline)) void jacobi(int w, const float *x, float *y) {
    for (int r = 1; r < w - 1; r++)
        for (int c = 1; c < w - 1; c++) y[r * w + c] = 0.25f * (x[r * w + c - 1] + x[r * w + c + 1] + x[(r - 1) * w + c] + x[(r + 1) * w + c]);
}
static __attribute__((noinline)) void nbody(int n, const float *x, float *y) {
    for (int i = 0; i < n; i++) {
        const float *p = x + 4 * i;
        float ax = 0, ay = 0, az = 0;
        for (int j = 0; j < n; j++) {
            const float *q = x + 4 * j;
            float dx = q[0] - p[0], dy = q[1] - p[1], dz = q[2] - p[2], d = dx * dx + dy * dy + dz * dz + 0.01f;
            float r = 1 / sqrtf(d), s = q[3] * r * r * r;
            ax += dx * s, ay += dy * s, az += dz * s;
        }
        y[3 * i] = ax, y[3 * i + 1] = ay, y[3 * i + 2] = az;
    }
}
static __attribute__((noinline)) void sum(int n, const float *x, float *y) {
    float v = 0;
    for (int i = 0; i < n; i++) v += x[i];
    *y = v;
}
// The scan, as the sort below, takes the same steps as the kernel.
static __attribute__((noinline)) void scan(int n, const float *x, float *y) {
    for (int b = 0; b < n; b += 256) {
        float s[2][256];
        int from = 0;
        for (int t = 0; t < 256; t++) s[0][t] = x[b + t];
        for (int d = 1; d < 256; d *= 2, from = 1 - from)
            for (int t = 0; t < 256; t++) s[1 - from][t] = t >= d ? s[from][t] + s[from][t - d] : s[from][t];
        for (int t = 0; t < 256; t++) y[b + t] = s[from][t];
    }
}
static __attribute__((noinline)) void transpose(int n, const float *x, float *y) {
    for (int r = 0; r < n; r += 32)
        for (int c = 0; c < n; c += 32)
            for (int i = r; i < r + 32; i++)
                for (int j = c; j < c + 32; j++) y[j * n + i] = x[i * n + j];
}
static __attribute__((noinline)) void matmul(int n, const float *x, float *y) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) y[i * n + j] = 0;
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++) y[i * n + j] += x[i * n + k] * x[k * n + j];
    }
}
static __attribute__((noinline)) void histogram(int n, const float *x, float *y) {
    const unsigned *u = (const unsigned *)x;
    unsigned *bins = (unsigned *)y;
    for (int i = 0; i < n; i++) bins[u[i] >> 8 & 255]++;
}
static __attribute__((noinline)) void bitonic(int n, const float *x, float *y) {
    for (int b = 0; b < n; b += 512) {
        float *s = y + b;
        for (int i = 0; i < 512; i++) s[i] = x[b + i];
        for (int size = 2; size <= 512; size *= 2)
            for (int d = size / 2; d > 0; d /= 2)
                for (int t = 0; t < 256; t++) {
                    int i = 2 * t - (t & (d - 1)), j = i + d;
                    bool up = (i & size) == 0;
                    float a = s[i], c = s[j];
                    if (a > c == up) s[i] = c, s[j] = a;
                }
    }
}
static float normal(float d) {
    float k = 1 / (1 + 0.2316419f * fabsf(d));
    float c = 0.39894228f * expf(-0.5f * d * d) * (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1 - c : c;
}
static __attribute__((noinline)) void blackscholes(int n, const float *x, float *y) {
    for (int i = 0; i < n; i++) {
        float s = x[3 * i] + 5, k = x[3 * i + 1] + 5, t = x[3 * i + 2] + 0.25f, q = sqrtf(t);
        float d1 = (logf(s / k) + (0.02f + 0.5f * 0.3f * 0.3f) * t) / (0.3f * q), d2 = d1 - 0.3f * q, e = k * expf(-0.02f * t);
        float a = normal(d1), b = normal(d2);
        y[2 * i] = s * a - e * b;
        y[2 * i + 1] = e * (1 - b) - s * (1 - a);
    }
}
// Each line asks for a loop by its number; the answer is its time in ns.
int main(int, char **argv) {
    std::vector<float> x(1 << 22), y(1 << 22);
    for (int i = 0; i < 1 << 22; i++) x[i] = y[i] = (float)((long)i * 7919 % 1000) / 100;
    void (*loops[])(int, const float *, float *) = {saxpy, jacobi, nbody, sum, scan, transpose, matmul, histogram, bitonic, blackscholes};
    for (int i; scanf("%d", &i) == 1; fflush(stdout)) {
        auto t = std::chrono::steady_clock::now();
        loops[i](atoi(argv[1 + i]), x.data(), y.data());
        printf("%.0f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count() * 1e9);
    }
}
