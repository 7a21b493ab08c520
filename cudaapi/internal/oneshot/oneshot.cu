// Share is what a launch knows of the members: where the scratch memory of each
// is, as this device sees it, and of the host, where to look for a word that
// ends all waits and where to say that a block is done.
struct Share {
	unsigned long long at[8];
	unsigned long long stop, done;
	unsigned long long areas; // where those of the kernel's protocol begin
	unsigned int rank, size;
	unsigned int mark;  // of the call, for the host
	unsigned int seq;   // the call's number under LL, the first step's under Simple
	unsigned int steps; // of Simple
	unsigned int slice; // packs of one block in one step of Simple
	unsigned int room;  // packs that LL, or a block of Simple, has room for
	unsigned int rooms; // blocks that Simple has room for
};

template <class T> union Words {
	Pack<T> pack;
	unsigned int w[4];
	__device__ Words() {}
};

// fetch reads pack i of n elements, and put writes it: at once among the first
// whole, which are aligned and complete, else element by element.
template <class T> __device__ Pack<T> fetch(const T *in, unsigned long long i, unsigned long long n, unsigned long long whole) {
	const int each = 16 / sizeof(T);
	if (i < whole) return ((const Pack<T> *)in)[i];
	Words<T> x;
	for (int k = 0; k < 4; k++) x.w[k] = 0;
	for (int k = 0; k < each; k++)
		if (i * each + k < n) x.pack.v[k] = in[i * each + k];
	return x.pack;
}

template <class T> __device__ void put(T *out, unsigned long long i, unsigned long long n, unsigned long long whole, const Pack<T> &x) {
	const int each = 16 / sizeof(T);
	if (i < whole) {
		((Pack<T> *)out)[i] = x;
		return;
	}
	for (int k = 0; k < each; k++)
		if (i * each + k < n) out[i * each + k] = x.v[k];
}

template <class T> __device__ unsigned long long wholes(const T *out, const T *in, unsigned long long n) {
	return (((unsigned long long)out | (unsigned long long)in) & 15) ? 0 : n / (16 / sizeof(T));
}

template <class T, int op> __device__ Pack<T> joinedBy(Pack<T> a, const Pack<T> &b) {
	for (int i = 0; i < 16 / (int)sizeof(T); i++) a.v[i] = apply<T, op>(a.v[i], b.v[i]);
	return a;
}

// joined chooses the operator for each pack: the link is what takes time.
template <class T> __device__ Pack<T> joined(int op, const Pack<T> &a, const Pack<T> &b) {
	switch (op) {
	case 1: return joinedBy<T, 1>(a, b);
	case 2: return joinedBy<T, 2>(a, b);
	case 3: return joinedBy<T, 3>(a, b);
	case 4: return joinedBy<T, 4>(a, b);
	case 5: return joinedBy<T, 5>(a, b);
	case 6: return joinedBy<T, 6>(a, b);
	case 7: return joinedBy<T, 7>(a, b);
	case 8: return joinedBy<T, 8>(a, b);
	case 9: return joinedBy<T, 9>(a, b);
	case 10: return joinedBy<T, 10>(a, b);
	}
	return a;
}

// ended looks now and then, in a loop that waits for another member, whether the
// host wants it to end.
__device__ bool ended(unsigned &spins, const Share &s) {
	if (++spins < 256) return false;
	__nanosleep(100);
	return spins % 256 == 0 && *(const volatile unsigned *)s.stop != 0;
}

// LL: every member writes its elements into the scratch memory of every other,
// each four bytes beside the number of the call, in one store of eight: who finds
// the number finds the data, and no fence or flag is waited for. Calls use two
// areas alternately. Who writes into one for call t+2 has read what all others
// wrote for t+1, which they did after they had read t.
template <class T> __device__ bool ll(T *out, const T *in, unsigned long long n, const Share &s, int op) {
	const int each = 16 / sizeof(T);
	const unsigned long long packs = (n + each - 1) / each, whole = wholes(out, in, n);
	const unsigned long long first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
	const unsigned long long area = s.areas + (unsigned long long)(s.seq & 1) * s.size * 4 * s.room * 8;
	for (unsigned long long i = first; i < packs; i += stride) {
		Words<T> own;
		own.pack = fetch(in, i, n, whole);
		for (unsigned p = 0; p < s.size; p++) {
			if (p == s.rank) continue;
			volatile unsigned long long *to = (volatile unsigned long long *)(s.at[p] + area) + s.rank * 4 * s.room + i;
			for (int k = 0; k < 4; k++) to[k * s.room] = (unsigned long long)s.seq << 32 | own.w[k];
		}
	}
	for (unsigned long long i = first; i < packs; i += stride) {
		Pack<T> sum;
		for (unsigned r = 0; r < s.size; r++) {
			Words<T> x;
			if (r == s.rank) {
				x.pack = fetch(in, i, n, whole);
			} else {
				const volatile unsigned long long *from = (const volatile unsigned long long *)(s.at[s.rank] + area) + r * 4 * s.room + i;
				for (unsigned spins = 0;;) {
					bool all = true;
					for (int k = 0; k < 4; k++) {
						const unsigned long long line = from[k * s.room];
						x.w[k] = (unsigned)line;
						all = all && (unsigned)(line >> 32) == s.seq;
					}
					if (all) break;
					if (ended(spins, s)) return false;
				}
			}
			sum = r == 0 ? x.pack : joined(op, sum, x.pack);
		}
		put(out, i, n, whole, sum);
	}
	return true;
}

// Slice says which packs a block does in a step of Simple, and where its area is:
// each member has room for the others' slices, in their order.
struct Slice {
	unsigned long long lo, hi, area;
	__device__ Slice(const Share &s, unsigned step, unsigned long long packs) {
		lo = ((unsigned long long)step * gridDim.x + blockIdx.x) * s.slice;
		hi = lo + s.slice < packs ? lo + s.slice : packs;
		area = s.areas + (unsigned long long)((s.seq + step) & 1) * (s.size - 1) * s.rooms * s.room * 16;
	}
	// of is where member p has what member r sent.
	template <class T> __device__ Pack<T> *of(const Share &s, unsigned p, unsigned r) const {
		return (Pack<T> *)(s.at[p] + area) + ((unsigned long long)(r - (r > p)) * s.rooms + blockIdx.x) * s.room;
	}
};

// push writes a slice into the scratch memory of the other members.
template <class T> __device__ void push(const T *in, unsigned long long n, unsigned long long whole, const Slice &w, const Share &s) {
	for (unsigned p = 0; p < s.size; p++) {
		if (p == s.rank) continue;
		Pack<T> *to = w.of<T>(s, p, s.rank);
		for (unsigned long long i = w.lo + threadIdx.x; i < w.hi; i += blockDim.x) to[i - w.lo] = fetch(in, i, n, whole);
	}
}

// announce raises the flags that say to the others: what the block pushed is there.
__device__ void announce(unsigned seq, const Share &s) {
	__syncthreads();
	if (threadIdx.x < s.size && threadIdx.x != s.rank) {
		__threadfence_system();
		((volatile unsigned *)s.at[threadIdx.x])[blockIdx.x * 8 + s.rank] = seq;
	}
}

// Simple: step by step, each block sends its slice, raises a flag (a word for each
// block and sender), waits for the flags of the others' same block, and combines,
// while the next slice is on its way. Steps use two areas alternately: a flag of step
// t+1 says that its sender is done with step t-1 as well.
template <class T> __device__ bool simple(T *out, const T *in, unsigned long long n, const Share &s, int op) {
	const int each = 16 / sizeof(T);
	const unsigned long long packs = (n + each - 1) / each, whole = wholes(out, in, n);
	push(in, n, whole, Slice(s, 0, packs), s);
	announce(s.seq, s);
	for (unsigned step = 0; step < s.steps; step++) {
		bool stopped = false;
		if (threadIdx.x < s.size && threadIdx.x != s.rank) {
			const volatile unsigned *flag = (const volatile unsigned *)s.at[s.rank] + blockIdx.x * 8 + threadIdx.x;
			for (unsigned spins = 0; (int)(*flag - (s.seq + step)) < 0 && !stopped;) stopped = ended(spins, s);
			__threadfence_system();
		}
		if (__syncthreads_or(stopped)) return false;
		if (step + 1 < s.steps) push(in, n, whole, Slice(s, step + 1, packs), s);
		const Slice w(s, step, packs);
		for (unsigned long long i = w.lo + threadIdx.x; i < w.hi; i += blockDim.x) {
			Pack<T> sum;
			for (unsigned r = 0; r < s.size; r++) {
				const Pack<T> x = r == s.rank ? fetch(in, i, n, whole) : w.of<T>(s, s.rank, r)[i - w.lo];
				sum = r == 0 ? x : joined(op, sum, x);
			}
			put(out, i, n, whole, sum);
		}
		if (step + 1 < s.steps) announce(s.seq + step + 1, s);
	}
	return true;
}

// tell says to the host that the block is done, and what it wrote is there.
__device__ void tell(const Share &s, bool ok) {
	if (__syncthreads_or(!ok) == 0 && threadIdx.x == 0) {
		__threadfence_system();
		((volatile unsigned *)s.done)[blockIdx.x] = s.mark;
	}
}

template <class T> __global__ void llReduce(T *out, const T *in, unsigned long long n, Share s, int op) { tell(s, ll(out, in, n, s, op)); }

template <class T> __global__ void simpleReduce(T *out, const T *in, unsigned long long n, Share s, int op) { tell(s, simple(out, in, n, s, op)); }
