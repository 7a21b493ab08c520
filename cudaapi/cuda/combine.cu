// Sixteen bytes at a time where the addresses allow it, and several loads under
// way at once: one operand may lie at the far end of a link.
template <class T, int op> __device__ void run(T *out, const T *a, const T *b, unsigned long long n) {
	const int each = 16 / sizeof(T), deep = 4;
	const unsigned long long first = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
	const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
	unsigned long long whole = 0;
	if ((((unsigned long long)out | (unsigned long long)a | (unsigned long long)b) & 15) == 0) {
		const Pack<T> *pa = (const Pack<T> *)a, *pb = (const Pack<T> *)b;
		Pack<T> *po = (Pack<T> *)out;
		const unsigned long long packs = n / each;
		unsigned long long i = first;
		for (; i + (deep - 1) * stride < packs; i += deep * stride) {
			Pack<T> x[deep], y[deep];
			for (int k = 0; k < deep; k++) x[k] = pa[i + k * stride];
			for (int k = 0; k < deep; k++) y[k] = pb[i + k * stride];
			for (int k = 0; k < deep; k++) {
				for (int j = 0; j < each; j++) x[k].v[j] = apply<T, op>(x[k].v[j], y[k].v[j]);
				po[i + k * stride] = x[k];
			}
		}
		for (; i < packs; i += stride) {
			Pack<T> x = pa[i], y = pb[i];
			for (int j = 0; j < each; j++) x.v[j] = apply<T, op>(x.v[j], y.v[j]);
			po[i] = x;
		}
		whole = packs * each;
	}
	for (unsigned long long i = whole + first; i < n; i += stride) out[i] = apply<T, op>(a[i], b[i]);
}

template <class T> __global__ void combine(T *out, const T *a, const T *b, unsigned long long n, int op) {
	switch (op) {
	case 1: run<T, 1>(out, a, b, n); break;
	case 2: run<T, 2>(out, a, b, n); break;
	case 3: run<T, 3>(out, a, b, n); break;
	case 4: run<T, 4>(out, a, b, n); break;
	case 5: run<T, 5>(out, a, b, n); break;
	case 6: run<T, 6>(out, a, b, n); break;
	case 7: run<T, 7>(out, a, b, n); break;
	case 8: run<T, 8>(out, a, b, n); break;
	case 9: run<T, 9>(out, a, b, n); break;
	case 10: run<T, 10>(out, a, b, n); break;
	}
}
