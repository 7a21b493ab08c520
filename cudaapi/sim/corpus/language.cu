// The language: what C++ programs for GPUs use of it.

#include <cassert>

typedef unsigned long long u64;
#define I int i = blockIdx.x * blockDim.x + threadIdx.x

template <typename T> struct Wide { typedef long long type; };
template <> struct Wide<double> { typedef double type; };

template <typename T, int N, typename F> __device__ typename Wide<T>::type folded(const T *x, F f) {
    typename Wide<T>::type v = x[0];
#pragma unroll
    for (int k = 1; k < N; k++) v = f(v, x[k]);
    return v;
}

template <typename T, int N> __global__ void fold(const T *x, T *out) {
    I;
    auto sum = [](auto a, auto b) { return a + b; };
    auto product = [=](auto a, auto b) { return (a * b + i) / 2; };
    if constexpr (sizeof(T) == 8) out[i] = folded<T, N>(x + i * N, sum); else out[i] = folded<T, N>(x + i * N, product) % 1000;
}

struct Rational {
    int p, q;
    __device__ Rational(int p = 0, int q = 1) : p(p), q(q) {}
    __device__ static int common(int a, int b) { return b ? common(b, a % b) : a; }
    __device__ Rational &operator+=(const Rational &o) {
        p = p * o.q + o.p * q;
        q *= o.q;
        int d = common(abs(p), q);
        p /= d;
        q /= d;
        return *this;
    }
    __device__ friend Rational operator*(Rational a, Rational b) { return Rational(a.p * b.p, a.q * b.q); }
    __device__ operator double() const { return (double)p / q; }
};

struct Series {
    Rational terms[3];
    int times;
};

extern "C" __global__ void rationals(Series s, const int *x, int2 *out, double *quotients) {
    I;
    Rational sum(x[i], 3);
    for (int k = 0; k < s.times; k++)
        for (Rational t : s.terms) sum += t * Rational(k + 1, 2);
    out[i] = make_int2(sum.p, sum.q);
    quotients[i] = sum;
}

__device__ int twice(int x) { return 2 * x; }
__device__ int square(int x) { return x * x; }
__device__ int negative(int x) { return -x; }
typedef int (*Function)(int);
__device__ Function functions[3] = {twice, square, negative};

extern "C" __global__ void call_table(const int *which, int *x) {
    I;
    for (int k = 0; k < 3; k++) x[i] = functions[(which[i] + k) % 3](x[i]) + 1;
}

__device__ int ackermann(int m, int n) { return m == 0 ? n + 1 : ackermann(m - 1, n ? ackermann(m, n - 1) : 1); }

__device__ void hanoi(int n, int from, int to, int &moves, unsigned &hash) {
    if (n == 0) return;
    hanoi(n - 1, from, 3 - from - to, moves, hash);
    moves++;
    hash = hash * 31 + n * 9 + from * 3 + to;
    hanoi(n - 1, 3 - from - to, to, moves, hash);
}

extern "C" __global__ void recursions(const int *n, int *a, int *moves, unsigned *hash) {
    I;
    a[i] = ackermann(2, n[i]);
    hanoi(n[i], 0, 2, moves[i], hash[i]);
}

union Bits {
    float f;
    unsigned u;
    unsigned char b[4];
};

struct Fields {
    unsigned low : 5;
    int middle : 11;
    unsigned high : 16;
};

extern "C" __global__ void fields(const float *x, unsigned *swapped, int *parts) {
    I;
    Bits v, w;
    v.f = x[i];
    for (int k = 0; k < 4; k++) w.b[k] = v.b[3 - k];
    swapped[i] = w.u;
    Fields f;
    f.low = v.u;
    f.middle = v.u >> 5;
    f.high = v.u >> 16;
    f.low += 3;
    f.middle -= 1;
    parts[3 * i] = f.low;
    parts[3 * i + 1] = f.middle;
    parts[3 * i + 2] = f.high;
}

__device__ double atomic_multiply(double *p, double f) {
    u64 *bits = (u64 *)p, old = *bits, seen;
    do {
        seen = old;
        old = atomicCAS(bits, seen, __double_as_longlong(__longlong_as_double(seen) * f));
    } while (old != seen);
    return __longlong_as_double(old);
}

extern "C" __global__ void wide_atomics(const u64 *x, u64 *out, double *product) {
    I;
    atomicAdd(&out[0], x[i]);
    atomicMax(&out[1], x[i]);
    atomicMin(&out[2], x[i]);
    atomicXor(&out[3], x[i]);
    atomicOr(&out[4], x[i] & 0xff00ff00ff00ff00ULL);
    atomicMax((long long *)&out[5], (long long)x[i]);
    atomicAdd((double *)&out[6], (double)(x[i] >> 40));
    atomic_multiply(product, i % 2 ? 0.5 : 2 + i % 4);
}

struct Shape {
    int a;
    __device__ Shape(int a) : a(a) {}
    __device__ virtual int area() const = 0;
    __device__ int twice() const { return 2 * area(); }
};
struct Square : Shape {
    __device__ Square(int a) : Shape(a) {}
    __device__ int area() const override { return a * a; }
};
struct Box : Shape {
    int b;
    __device__ Box(int a, int b) : Shape(a), b(b) {}
    __device__ int area() const override { return a * b; }
};

extern "C" __global__ void virtuals(const int *x, int *out) {
    I;
    Square s(x[i]);
    Box b(x[i], i);
    const Shape *shape = &s;
    if (x[i] % 2) shape = &b;
    out[i] = shape->twice() + shape->area();
}

template <typename... T> __device__ int total(T... x) { return (0 + ... + x); }
template <typename First, typename... Rest> __device__ u64 sizes(First, Rest... rest) {
    if constexpr (sizeof...(rest) == 0) return sizeof(First); else return sizeof(First) + 100 * sizes(rest...);
}

extern "C" __global__ void packs(const short *x, int *out, u64 *bytes) {
    I;
    out[i] = total(x[i], (int)x[i] * 3, (signed char)x[i], x[i] > 0);
    bytes[i] = sizes(x[i], 1.0, 'c', 2.0f);
}

// A machine with a stack: 0 ends, 1 pushes the next word, 2 adds, 3 multiplies, 4 swaps,
// 5 doubles the top, 6 goes back by the next word if the one below the top, less one, is not 0.
extern "C" __global__ void interpret(const int *code, const int *x, int *out) {
    I;
    int stack[16] = {x[i], 5}, top = 1, t;
    for (int pc = 0, steps = 0; steps < 200; steps++) {
        switch (code[pc++]) {
        case 0: goto done;
        case 1: stack[++top & 15] = code[pc++]; break;
        case 2: top--; stack[top & 15] += stack[(top + 1) & 15]; break;
        case 3: top--; stack[top & 15] *= stack[(top + 1) & 15]; break;
        case 4:
            t = stack[top & 15];
            stack[top & 15] = stack[(top - 1) & 15];
            stack[(top - 1) & 15] = t;
            break;
        case 5: stack[(top + 1) & 15] = stack[top & 15]; top++; break;
        case 6:
            if (--stack[(top - 1) & 15]) {
                pc = max(pc - code[pc], 0);
                break;
            }
            pc++;
        default:;
        }
    }
done:
    out[i] = stack[top & 15];
}

// Shared memory of three types in one piece.
extern "C" __global__ void pieces(const int *x, double *out) {
    extern __shared__ double memory[];
    double *d = memory;
    int *n = (int *)(d + blockDim.x);
    short *s = (short *)(n + blockDim.x);
    int t = threadIdx.x;
    d[t] = x[t] / 4.0;
    n[t] = x[t] * 3;
    s[t] = (short)(x[t] ^ 1);
    __syncthreads();
    int o = blockDim.x - 1 - t;
    out[t] = d[o] + n[(t + 1) % blockDim.x] + s[o / 2];
}

namespace counts {
__device__ int calls = 7;
} // namespace counts

static __device__ int steps[4] = {1, 10, 100};
__constant__ int scale_by = 3;

__device__ __noinline__ int next_call(int by) { return atomicAdd(&counts::calls, by); }

extern "C" __global__ void __launch_bounds__(64, 2) variables(const int *x, int *out, int *last) {
    I;
    assert(x[i] < 1000000);
    int before = next_call(0);
    out[i] = before * 0 + scale_by * x[i] + steps[i % 4];
    if (i == 0) *last = next_call(0);
}

extern "C" __global__ void sieve(const int *limit, int *count) {
    I;
    bool composite[200] = {};
    int primes = 0, n = min(limit[i], 199);
    for (int p = 2; p <= n; p++) {
        if (composite[p]) continue;
        primes++;
        for (int k = p * p; k <= n; k += p) composite[k] = true;
    }
    count[i] = primes;
}

struct Node { int key, left, right; };

extern "C" __global__ void tree(const Node *nodes, const int *keys, int *depth) {
    I;
    int d = 0, at = 0;
    const int Node::*way;
    while (at >= 0 && nodes[at].key != keys[i] && d < 100) {
        way = keys[i] < nodes[at].key ? &Node::left : &Node::right;
        at = nodes[at].*way;
        d++;
    }
    depth[i] = at < 0 ? -1 : d;
}

extern "C" __global__ void conversions(const double *x, long long *out) {
    I;
    long long *o = out + 8 * i;
    o[0] = (int)x[i];
    o[1] = (signed char)(int)x[i];
    o[2] = (unsigned short)(int)x[i];
    o[3] = (long long)x[i] >> 3;
    o[4] = (int)x[i] % 7 + (int)x[i] / 7 * 1000;
    o[5] = __float2int_rn((float)x[i]);
    o[6] = (long long)floor(x[i]) * 10 + (x[i] < 0);
    o[7] = (unsigned)(int)x[i] >> 28;
}

struct Flags {
    volatile int *at;
    __device__ void set(int i, int v) {
        at[i] = v;
        __threadfence();
    }
};

// Each block leaves what it read, the last adds up.
extern "C" __global__ void fenced(const int *x, int *parts, unsigned *done, int *sum) {
    __shared__ bool last;
    int v = __reduce_add_sync(0xffffffff, x[blockIdx.x * 32 + threadIdx.x]);
    if (threadIdx.x == 0) {
        Flags{parts}.set(blockIdx.x, v);
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    v = threadIdx.x < gridDim.x ? ((volatile int *)parts)[threadIdx.x] : 0;
    v = __reduce_add_sync(0xffffffff, v);
    if (threadIdx.x == 0) *sum = v;
}
