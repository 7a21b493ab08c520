// Random numbers and what is computed with them.

typedef unsigned long long u64;
#define I int i = blockIdx.x * blockDim.x + threadIdx.x

extern "C" __global__ void lcg(const unsigned *seeds, unsigned *out, int n) {
    I;
    unsigned s = seeds[i];
    for (int k = 0; k < n; k++) s = 1664525u * s + 1013904223u;
    out[i] = s;
}

// The same, by the power of the step.
extern "C" __global__ void lcg_ahead(const unsigned *seeds, unsigned *out, int n) {
    I;
    unsigned a = 1, c = 0, pa = 1664525u, pc = 1013904223u;
    for (; n; n >>= 1) {
        if (n & 1) {
            a *= pa;
            c = c * pa + pc;
        }
        pc = pc * pa + pc;
        pa *= pa;
    }
    out[i] = a * seeds[i] + c;
}

__device__ u64 xorshift(u64 &s) {
    s ^= s >> 12;
    s ^= s << 25;
    s ^= s >> 27;
    return s * 0x2545f4914f6cdd1dULL;
}

extern "C" __global__ void xorshifts(u64 *state, u64 *sums, int n) {
    I;
    u64 s = state[i], sum = 0;
    for (int k = 0; k < n; k++) sum += xorshift(s) >> 8;
    state[i] = s;
    sums[i] = sum;
}

extern "C" __global__ void philox(const uint2 *keys, uint4 *out) {
    I;
    uint4 c = make_uint4(i, 1, 2, 3);
    uint2 k = keys[i];
    for (int round = 0; round < 10; round++) {
        unsigned lo0 = 0xd2511f53u * c.x, hi0 = __umulhi(0xd2511f53u, c.x), lo1 = 0xcd9e8d57u * c.z, hi1 = __umulhi(0xcd9e8d57u, c.z);
        c = make_uint4(hi1 ^ c.y ^ k.x, lo1, hi0 ^ c.w ^ k.y, lo0);
        k.x += 0x9e3779b9u;
        k.y += 0xbb67ae85u;
    }
    out[i] = c;
}

extern "C" __global__ void box_muller(const double2 *u, double2 *out, int n) {
    I;
    if (i >= n) return;
    double r = sqrt(-2 * log(u[i].x)), s, c;
    sincospi(2 * u[i].y, &s, &c);
    out[i] = make_double2(r * c, r * s);
}

extern "C" __global__ void walk(const u64 *seeds, int2 *ends, int steps) {
    I;
    const int dx[4] = {1, 0, -1, 0}, dy[4] = {0, 1, 0, -1};
    u64 s = seeds[i];
    int2 at = make_int2(0, 0);
    for (int k = 0; k < steps; k++) {
        int d = xorshift(s) >> 62;
        at.x += dx[d];
        at.y += dy[d];
    }
    ends[i] = at;
}

// Bases 2 and 3.
extern "C" __global__ void halton(const unsigned *first, unsigned *twos, unsigned *threes) {
    I;
    unsigned n = *first + i, v = 0;
    twos[i] = __brev(n);
    for (int digits = 0; digits < 20; digits++, n /= 3) v = 3 * v + n % 3;
    threes[i] = v;
}

// A permutation of 4096 numbers: four rounds on two halves of six bits.
extern "C" __global__ void feistel(const unsigned *key, unsigned *out) {
    I;
    unsigned a = i >> 6, b = i & 63;
    for (int round = 0; round < 4; round++) {
        unsigned f = (b * 0x9e3779b1u + *key + round) * 0x85ebca6bu >> 26;
        unsigned t = a ^ f;
        a = b;
        b = t;
    }
    out[a << 6 | b] = i;
}

__constant__ unsigned flips[5]; // the chance that a spin flips, by how many neighbours it is like

extern "C" __global__ void ising(signed char *spins, int w, int h, int color, unsigned seed) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * w + x;
    if (x >= w || y >= h || (x + y) % 2 != color) return;
    int around = spins[y * w + (x + 1) % w] + spins[y * w + (x + w - 1) % w] + spins[(y + 1) % h * w + x] + spins[(y + h - 1) % h * w + x];
    unsigned r = (i + seed) * 0x9e3779b1u;
    r = (r ^ r >> 15) * 0x85ebca6bu;
    r ^= r >> 13;
    if (r < flips[(around * spins[i] + 4) / 2]) spins[i] = -spins[i];
}

extern "C" __global__ void black_scholes(const double *price, const double *strike, const double *years, double *call, double *put, double rate, double volatility) {
    I;
    double s = price[i], k = strike[i], root = volatility * sqrt(years[i]);
    double d1 = (log(s / k) + (rate + volatility * volatility / 2) * years[i]) / root, d2 = d1 - root, discounted = k * exp(-rate * years[i]);
    call[i] = s * normcdf(d1) - discounted * normcdf(d2);
    put[i] = discounted * normcdf(-d2) - s * normcdf(-d1);
}

// An American option by a tree of blockDim.x - 1 steps: a block for each.
extern "C" __global__ void binomial(const double *strikes, double *out, double price, double up, double chance, double discount) {
    extern __shared__ double v[];
    int t = threadIdx.x, n = blockDim.x - 1;
    double k = strikes[blockIdx.x];
    v[t] = fmax(k - price * pow(up, 2 * t - n), 0.0);
    for (int step = n - 1; step >= 0; step--) {
        __syncthreads();
        double next = t <= step ? discount * (chance * v[t + 1] + (1 - chance) * v[t]) : 0;
        __syncthreads();
        if (t <= step) v[t] = fmax(next, k - price * pow(up, 2 * t - step));
    }
    if (t == 0) out[blockIdx.x] = v[0];
}
