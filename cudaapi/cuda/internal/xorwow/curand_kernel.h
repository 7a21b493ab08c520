// XORWOW with cuRAND's device API: the same numbers for the same seed,
// subsequence and offset.
#ifndef GOCUDA_CURAND_KERNEL_H
#define GOCUDA_CURAND_KERNEL_H

struct curandStateXORWOW {
	unsigned int d, v[5];
	int boxmuller_flag;
	float boxmuller_extra;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

// The values of a digit of a subsequence's number, or of an offset, as
// polynomials in the generator's step: digits of eight bits for the lowest three
// (thread numbers), of four bits for the rest.
static __device__ const unsigned int gocuda_sequence8[] = {
@SEQUENCE8@};
static __device__ const unsigned int gocuda_sequence4[] = {
@SEQUENCE4@};
static __device__ const unsigned int gocuda_offset4[] = {
@OFFSET4@};

// gocuda_jump applies a polynomial to the generator's register.
static __device__ void gocuda_jump(unsigned int *v, const unsigned int *p) {
	unsigned int a = v[0], b = v[1], c = v[2], d = v[3], e = v[4];
	unsigned int s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0;
	for (int w = 0; w < 5; w++) {
		unsigned int bits = p[w];
		for (int i = 0; i < 32; i++, bits >>= 1) {
			unsigned int take = 0u - (bits & 1u);
			s0 ^= a & take; s1 ^= b & take; s2 ^= c & take; s3 ^= d & take; s4 ^= e & take;
			unsigned int t = a ^ (a >> 2);
			a = b; b = c; c = d; d = e;
			e = e ^ (e << 4) ^ (t ^ (t << 1));
		}
	}
	v[0] = s0; v[1] = s1; v[2] = s2; v[3] = s3; v[4] = s4;
}

static __device__ void skipahead_sequence(unsigned long long n, curandStateXORWOW *state) {
	unsigned int v[5] = {state->v[0], state->v[1], state->v[2], state->v[3], state->v[4]};
	for (int i = 0; i < 3; i++, n >>= 8)
		if (n & 255) gocuda_jump(v, gocuda_sequence8 + 5 * (255 * i + (n & 255) - 1));
	for (int i = 0; n; i++, n >>= 4)
		if (n & 15) gocuda_jump(v, gocuda_sequence4 + 5 * (15 * i + (n & 15) - 1));
	for (int i = 0; i < 5; i++) state->v[i] = v[i];
	state->boxmuller_flag = 0;
}

static __device__ void skipahead(unsigned long long n, curandStateXORWOW *state) {
	unsigned int v[5] = {state->v[0], state->v[1], state->v[2], state->v[3], state->v[4]};
	state->d += 362437u * (unsigned int)n;
	for (int i = 0; n; i++, n >>= 4)
		if (n & 15) gocuda_jump(v, gocuda_offset4 + 5 * (15 * i + (n & 15) - 1));
	for (int i = 0; i < 5; i++) state->v[i] = v[i];
	state->boxmuller_flag = 0;
}

static __device__ void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, curandStateXORWOW *state) {
	unsigned int s0 = (unsigned int)seed ^ 0xaad26b49u, s1 = (unsigned int)(seed >> 32) ^ 0xf7dcefddu;
	unsigned int t0 = 1099087573u * s0, t1 = 2591861531u * s1;
	state->d = 6615241u + t1 + t0;
	state->v[0] = 123456789u + t0;
	state->v[1] = 362436069u ^ t0;
	state->v[2] = 521288629u + t1;
	state->v[3] = 88675123u ^ t1;
	state->v[4] = 5783321u + t0;
	state->boxmuller_extra = 0;
	skipahead_sequence(subsequence, state);
	skipahead(offset, state);
}

static __device__ unsigned int curand(curandStateXORWOW *state) {
	unsigned int t = state->v[0] ^ (state->v[0] >> 2);
	state->v[0] = state->v[1];
	state->v[1] = state->v[2];
	state->v[2] = state->v[3];
	state->v[3] = state->v[4];
	state->v[4] = state->v[4] ^ (state->v[4] << 4) ^ (t ^ (t << 1));
	state->d += 362437u;
	return state->v[4] + state->d;
}

static __device__ float gocuda_uniform(unsigned int x) { return x * 2.3283064e-10f + 2.3283064e-10f / 2.0f; }

// curand_uniform is in (0, 1].
static __device__ float curand_uniform(curandStateXORWOW *state) { return gocuda_uniform(curand(state)); }

static __device__ double curand_uniform_double(curandStateXORWOW *state) {
	unsigned int x = curand(state), y = curand(state);
	unsigned long long z = (unsigned long long)x ^ ((unsigned long long)y << (53 - 32));
	return z * 1.1102230246251565e-16 + 1.1102230246251565e-16 / 2.0;
}

// curand_normal has mean 0 and deviation 1 (Box and Muller, two at a time).
static __device__ float curand_normal(curandStateXORWOW *state) {
	if (state->boxmuller_flag) {
		state->boxmuller_flag = 0;
		return state->boxmuller_extra;
	}
	unsigned int x = curand(state), y = curand(state);
	float u = gocuda_uniform(x), v = y * (2.3283064e-10f * 6.2831855f) + 2.3283064e-10f * 6.2831855f / 2.0f;
	float s = sqrtf(-2.0f * logf(u));
	state->boxmuller_extra = cosf(v) * s;
	state->boxmuller_flag = 1;
	return sinf(v) * s;
}

#endif
