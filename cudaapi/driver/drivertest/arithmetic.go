package drivertest

import (
	"encoding/binary"
	"math"

	"gocuda/cudaapi/driver"
)

// divisions computes, for pairs of numbers, quotients and remainders of several
// types.
const divisions = `
template <class T> __device__ void one(long long a, long long b, long long *out) {
	T x = (T)a, y = (T)b;
	out[0] = (long long)(T)(x / y);
	out[1] = (long long)(T)(x % y);
}
extern "C" __global__ void divide(const long long *ab, long long *out) {
	long long a = ab[2 * threadIdx.x], b = ab[2 * threadIdx.x + 1];
	out += 14 * threadIdx.x;
	one<int>(a, b, out);
	one<unsigned>(a, b, out + 2);
	one<long long>(a, b, out + 4);
	one<unsigned long long>(a, b, out + 6);
	one<short>(a, b, out + 8);
	one<unsigned short>(a, b, out + 10);
	one<signed char>(a, b, out + 12);
}`

// shifts computes shifts of several types, and conversions what does not fit.
const shifts = `
template <class T> __device__ void one(long long a, long long n, long long *out) {
	T x = (T)a, y = x;
	out[0] = (long long)(x << n);
	out[1] = (long long)(x >> (int)n);
	y <<= (unsigned)n;
	x >>= n;
	out[2] = (long long)y;
	out[3] = (long long)x;
}
extern "C" __global__ void shift(const long long *an, long long *out) {
	long long a = an[2 * threadIdx.x], n = an[2 * threadIdx.x + 1];
	out += 16 * threadIdx.x;
	one<int>(a, n, out);
	one<unsigned>(a, n, out + 4);
	one<long long>(a, n, out + 8);
	one<unsigned long long>(a, n, out + 12);
}
template <class F> __device__ void all(F x, long long *out) {
	out[0] = (int)x;
	out[1] = (unsigned)x;
	out[2] = (long long)x;
	out[3] = static_cast<unsigned long long>(x);
}
extern "C" __global__ void convert(const double *x, long long *out) {
	out += 8 * threadIdx.x;
	all((float)x[threadIdx.x], out);
	all(x[threadIdx.x], out + 4);
}`

// compute runs one of these kernels, a thread for each element of in, with out
// results each.
func (e *env) compute(code, symbol string, in []uint64, threads, out int) []int64 {
	e.Helper()
	f := e.kernel(0, code, symbol)
	data := make([]byte, 0, 8*len(in))
	for _, v := range in {
		data = binary.LittleEndian.AppendUint64(data, v)
	}
	p, q := e.alloc(0, uint64(len(data)), 0), e.alloc(0, uint64(8*threads*out), 0x55)
	e.write(0, p, data)
	e.launch(0, f, driver.StreamDefault, 1, uint32(threads), args(p, q))
	e.ok(e.d.CtxSynchronize(e.ctx[0], nil))
	results := make([]int64, threads*out)
	for i, b := 0, e.read(0, q, uint64(8*len(results))); i < len(results); i++ {
		results[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return results
}

var arithmeticTests = []test{
	// CUDA leaves open what a division by zero gives. This is what an H200 gives;
	// of eight bits without a sign it gives more than fit, and is not asked.
	{name: "integer division by zero", run: func(e *env) {
		cases := []struct {
			a, b int64
			want [14]int64 // quotient and remainder of 32 bits, with a sign and without, of 64, of 16, and of 8 with a sign
		}{
			{100, 7, [14]int64{14, 2, 14, 2, 14, 2, 14, 2, 14, 2, 14, 2, 14, 2}},
			{7, 0, [14]int64{-1, 7, 1<<32 - 1, 7, 1<<32 - 1, 7, 1<<32 - 1, 7, -1, 7, 65535, 7, -1, 7}},
			{-7, 0, [14]int64{-1, -7, 1<<32 - 1, 1<<32 - 7, -1, -7, -1, -7, -1, -7, 65535, 65529, -1, -7}},
			{0, 0, [14]int64{-1, 0, 1<<32 - 1, 0, 1<<32 - 1, 0, 1<<32 - 1, 0, -1, 0, 65535, 0, -1, 0}},
			{math.MinInt32, -1, [14]int64{math.MinInt32, 0, 0, 1 << 31, 1 << 31, 0, 0, math.MinInt32}},
			{math.MinInt64, -1, [14]int64{0, 0, 0, 0, math.MinInt64, 0, 0, math.MinInt64}},
			{math.MinInt32, 0, [14]int64{-1, math.MinInt32, 1<<32 - 1, 1 << 31, -1, math.MinInt32, -1, math.MinInt32, -1, 0, 65535, 0, -1, 0}},
			{math.MinInt64, 0, [14]int64{-1, 0, 1<<32 - 1, 0, -1, math.MinInt64, -1, math.MinInt64, -1, 0, 65535, 0, -1, 0}},
			{1 << 40, 0, [14]int64{-1, 0, 1<<32 - 1, 0, -1, 1 << 40, -1, 1 << 40, -1, 0, 65535, 0, -1, 0}},
		}
		var in []uint64
		for _, c := range cases {
			in = append(in, uint64(c.a), uint64(c.b))
		}
		got := e.compute(divisions, "divide", in, len(cases), 14)
		for i, c := range cases {
			if g := [14]int64(got[14*i:]); g != c.want {
				e.Errorf("%d / %d: %d, want %d", c.a, c.b, g, c.want)
			}
		}
	}},
	// So are shifts by more than the bits, and numbers that do not fit.
	{name: "shifts by more than the bits", run: func(e *env) {
		values := []int64{1, -1, 0x123456789abcdef0, math.MinInt32, math.MinInt64}
		counts := []int64{0, 1, 5, 31, 32, 33, 63, 64, 65, 1000, -1}
		var in []uint64
		for _, v := range values {
			for _, n := range counts {
				in = append(in, uint64(v), uint64(n))
			}
		}
		got := e.compute(shifts, "shift", in, len(in)/2, 16)
		for i := range len(in) / 2 {
			v, n := int64(in[2*i]), uint32(in[2*i+1]) // as Go has it
			want := [16]int64{
				int64(int32(v) << n), int64(int32(v) >> n), int64(int32(v) << n), int64(int32(v) >> n),
				int64(uint32(v) << n), int64(uint32(v) >> n), int64(uint32(v) << n), int64(uint32(v) >> n),
				v << n, v >> n, v << n, v >> n,
				int64(uint64(v) << n), int64(uint64(v) >> n), int64(uint64(v) << n), int64(uint64(v) >> n),
			}
			if g := [16]int64(got[16*i:]); g != want {
				e.Errorf("%#x by %d: %x, want %x", v, int32(n), g, want)
			}
		}
	}},
	{name: "numbers that do not fit integers", run: func(e *env) {
		const low = math.MinInt64
		cases := []struct {
			x    float64
			want [8]int64 // int, unsigned, and of 64 bits, from float and from double
		}{
			{-2.75, [8]int64{-2, 0, -2, 0, -2, 0, -2, 0}},
			{3e9, [8]int64{math.MaxInt32, 3e9, 3e9, 3e9, math.MaxInt32, 3e9, 3e9, 3e9}},
			{-3e9, [8]int64{math.MinInt32, 0, -3e9, 0, math.MinInt32, 0, -3e9, 0}},
			{1e30, [8]int64{math.MaxInt32, math.MaxUint32, math.MaxInt64, -1, math.MaxInt32, math.MaxUint32, math.MaxInt64, -1}},
			{math.Inf(-1), [8]int64{math.MinInt32, 0, low, 0, math.MinInt32, 0, low, 0}},
			{math.Inf(1), [8]int64{math.MaxInt32, math.MaxUint32, math.MaxInt64, -1, math.MaxInt32, math.MaxUint32, math.MaxInt64, -1}},
			{math.NaN(), [8]int64{0, 0, low, low, math.MinInt32, 1 << 31, low, low}},
		}
		var in []uint64
		for _, c := range cases {
			in = append(in, math.Float64bits(c.x))
		}
		got := e.compute(shifts, "convert", in, len(cases), 8)
		for i, c := range cases {
			if g := [8]int64(got[8*i:]); g != c.want {
				e.Errorf("%g: %d, want %d", c.x, g, c.want)
			}
		}
	}},
}
