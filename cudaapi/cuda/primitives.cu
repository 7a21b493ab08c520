#include <curand_kernel.h>

#define EACH(i, n) \
	for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < n; i += (unsigned long long)gridDim.x * blockDim.x)

template <class T> __global__ void fill(T *x, T value, unsigned long long n) { EACH(i, n) x[i] = value; }

template <class T> __global__ void iota(T *x, T start, T step, unsigned long long n) { EACH(i, n) x[i] = start + (T)i * step; }

template <class T> __global__ void axpy(T a, const T *x, T *y, unsigned long long n) { EACH(i, n) y[i] = a * x[i] + y[i]; }

// Each reduction leaves one result for each block of 256 threads.
template <class T, class A> __global__ void sum(const T *x, unsigned long long n, A *out) {
	__shared__ A part[256];
	A mine = 0;
	EACH(i, n) mine += (A)x[i];
	part[threadIdx.x] = mine;
	for (int half = 128; half > 0; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
	}
	if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

// The greatest (sign > 0) or the least element; a NaN wins.
template <class T> __global__ void extreme(const T *x, unsigned long long n, int sign, T *out) {
	__shared__ T part[256];
	T mine = x[0];
	EACH(i, n) if (x[i] != x[i] || (sign > 0 ? x[i] > mine : x[i] < mine)) mine = x[i];
	part[threadIdx.x] = mine;
	for (int half = 128; half > 0; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half) {
			T other = part[threadIdx.x + half], own = part[threadIdx.x];
			if (other != other || (sign > 0 ? other > own : other < own)) part[threadIdx.x] = other;
		}
	}
	if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

__global__ void uniform(float *x, unsigned long long seed, unsigned long long n) {
	EACH(i, n) {
		curandState state;
		curand_init(seed, i, 0, &state);
		x[i] = curand_uniform(&state);
	}
}
