package drivertest

import (
	"encoding/binary"
	"strings"

	"gocuda/cudaapi/driver"
)

// A snippet is device code that nvcc takes: a kernel f of 64 threads, of which each sets
// one element of out.
type snippet struct {
	name, code string
	want       func(i int) int32
}

func same(n int32) func(int) int32 { return func(int) int32 { return n } }

// snippets use what CUDA C++ has without an include, and what headers declare.
var snippets = []snippet{
	{"fixed-width integers without an include", `
extern "C" __global__ void f(int *out) {
	int8_t a = -1; uint8_t b = 255; int16_t c = -2; uint16_t d = 65535;
	int32_t e = -3; uint32_t g = 4294967295u; int64_t h = -4; uint64_t k = 5;
	uintptr_t p = (uintptr_t)out; intptr_t q = (intptr_t)out; size_t n = sizeof(ptrdiff_t);
	out[threadIdx.x] = a + b + c + d + e + (int)(g >> 30) + (int)h + (int)k + (p == (uintptr_t)q) + (int)n;
}`, same(-1 + 255 - 2 + 65535 - 3 + 3 - 4 + 5 + 1 + 8)},
	{"NULL without an include", `
__device__ int *none = NULL;
extern "C" __global__ void f(int *out) { out[threadIdx.x] = none == NULL && out != NULL; }`, same(1)},
	{"short names of unsigned types", `
extern "C" __global__ void f(int *out) {
	uchar a = 255; ushort b = 65535; uint c = 4000000000u; ulong d = 1;
	out[threadIdx.x] = a + b + (c > 0) + (int)d + sizeof(ulong);
}`, same(255 + 65535 + 1 + 1 + 8)},
	{"limits without an include", `
extern "C" __global__ void f(int *out) {
	out[threadIdx.x] = (INT_MAX == 2147483647) + (UINT_MAX == 4294967295u) + (INT_MIN < 0) + (CHAR_BIT == 8) + (LLONG_MAX > 0) + (SHRT_MAX == 32767) + (LONG_MAX > INT_MAX);
}`, same(7)},
	{"mathematical constants without an include", `
extern "C" __global__ void f(int *out) { out[threadIdx.x] = (INFINITY > 1e38f) + (NAN != NAN) + (M_PI > 3.14) + (HUGE_VAL > 1e300); }`, same(4)},
	{"functions, arrays and variables that are not marked", `
static const float weights[] = {0.5f, 1.5f, 2};
static int twice(int n) { return 2 * n; }
namespace { template <class T> T third(const T *p) { return p[2]; } }
const char *title = "never used";
extern "C" __global__ void f(int *out) { out[threadIdx.x] = twice(threadIdx.x) + (int)third(weights); }`, func(i int) int32 { return int32(2*i + 2) }},
	{"algorithms", `
#include <algorithm>
#include <numeric>
extern "C" __global__ void f(int *out) {
	int a[5] = {3, 1, 2, 5, 4};
	int sum = std::accumulate(a, a + 5, 0), most = *std::max_element(a, a + 5);
	out[threadIdx.x] = sum + most + std::clamp((int)threadIdx.x, 1, 3);
}`, func(i int) int32 { return int32(15 + 5 + min(max(i, 1), 3)) }},
	{"float.h", `
#include <float.h>
extern "C" __global__ void f(int *out) { out[threadIdx.x] = (FLT_MAX > 1e38f) + (FLT_EPSILON < 1e-6f) + (DBL_MAX > 1e300) + (FLT_MIN < 1e-37f) + (DBL_EPSILON < 1e-15); }`, same(5)},
	{"cuda.h and cuda_runtime.h", `
#include <cuda.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <device_launch_parameters.h>
extern "C" __global__ void f(int *out) { out[threadIdx.x] = warpSize; }`, same(32)},
	{"placement new", `
#include <new>
struct P { int a, b; __device__ P(int x) : a(x), b(2 * x) {} };
extern "C" __global__ void f(int *out) {
	__align__(8) char room[sizeof(P)];
	P *p = new (room) P(threadIdx.x);
	out[threadIdx.x] = p->a + p->b;
}`, func(i int) int32 { return int32(3 * i) }},
	{"constants of a namespace", `
const int rows = 5;
static const float half = 0.5f;
constexpr int columns = rows + 2;
namespace size { constexpr unsigned tile = 16; enum { edge = 3 }; }
extern "C" __global__ void f(int *out) {
	__shared__ int tile[size::tile];
	if (threadIdx.x < size::tile) tile[threadIdx.x] = rows * columns;
	__syncthreads();
	out[threadIdx.x] = tile[threadIdx.x % size::tile] + (int)(half * 4) + size::edge;
}`, same(35 + 2 + 3)},
	{"std::min and std::max", `
#include <algorithm>
extern "C" __global__ void f(int *out) {
	int n = threadIdx.x, low = 10, high = 20;
	out[n] = std::min(std::max(n, low), high);
}`, func(i int) int32 { return int32(min(max(i, 10), 20)) }},
	{"std::swap, std::move, std::forward and std::pair", `
#include <utility>
template <class T> __device__ T pass(T &&x) { return std::forward<T>(x); }
extern "C" __global__ void f(int *out) {
	int n = threadIdx.x, m = 100;
	std::swap(n, m);
	std::pair<int, float> p(n, 0.5f);
	int &&r = std::move(m);
	out[threadIdx.x] = p.first + (int)(2 * p.second) + pass(r + 0);
}`, func(i int) int32 { return int32(101 + i) }},
	{"std::numeric_limits", `
#include <limits>
extern "C" __global__ void f(int *out) {
	out[threadIdx.x] = (std::numeric_limits<int>::max() == 2147483647) + (std::numeric_limits<float>::lowest() < -1e38f) + (std::numeric_limits<float>::infinity() > 1e38f) + (std::numeric_limits<unsigned>::digits == 32);
}`, same(4)},
	{"std::tuple and std::array", `
#include <array>
#include <tuple>
extern "C" __global__ void f(int *out) {
	std::array<int, 4> a = {1, 2, 3, 4};
	auto t = std::make_tuple((int)threadIdx.x, 2.0f);
	int s = 0;
	for (int x : a) s += x;
	out[threadIdx.x] = s + (int)a.size() + std::get<0>(t) + (int)std::get<1>(t);
}`, func(i int) int32 { return int32(16 + i) }},
	{"type traits", `
#include <type_traits>
template <class T> __device__ typename std::enable_if<std::is_floating_point<T>::value, int>::type kind(T) { return 1; }
template <class T> __device__ typename std::enable_if<std::is_integral<T>::value, int>::type kind(T) { return 2; }
extern "C" __global__ void f(int *out) { out[threadIdx.x] = kind(1.0f) + 10 * kind(1) + 100 * std::is_same<std::decay_t<const int &>, int>::value; }`, same(121)},
	{"cmath in std", `
#include <cmath>
extern "C" __global__ void f(int *out) {
	float x = threadIdx.x;
	out[threadIdx.x] = (int)std::sqrt(x * x) + (int)std::floor(2.5f) + (int)std::fabs(-3.0f) + (int)std::pow(2.0f, 3.0f) + (std::isnan(x) ? 1000 : 0) + std::abs(-7) + (int)std::fmax(1.0f, 2.0f);
}`, func(i int) int32 { return int32(i + 2 + 3 + 8 + 7 + 2) }},
	{"headers that programs include by habit", `
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <stddef.h>
#include <stdbool.h>
#include <limits.h>
#include <time.h>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
extern "C" __global__ void f(int *out) {
	bool yes = true;
	int a[4] = {1, 2, 3, 4}, b[4];
	memcpy(b, a, sizeof a);
	memset(a, 0, sizeof a);
	assert(yes);
	out[threadIdx.x] = b[3] + a[3] + abs(-2) + (int)round(M_PI);
}`, same(4 + 2 + 3)},
	{"half and bfloat16", `
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void f(int *out) {
	__half a = __float2half(1.5f);
	__nv_bfloat16 b = __float2bfloat16(2.0f);
	half2 c = __floats2half2_rn(1.0f, 2.0f);
	out[threadIdx.x] = (int)(2 * __half2float(a)) + (int)__bfloat162float(b) + (int)__high2float(c);
}`, same(3 + 2 + 2)},
	{"cooperative groups", `
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void f(int *out) {
	cg::thread_block block = cg::this_thread_block();
	auto warp = cg::tiled_partition<32>(block);
	int sum = cg::reduce(warp, (int)warp.thread_rank(), cg::plus<int>());
	block.sync();
	out[block.thread_rank()] = sum;
}`, same(496)},
	{"atomics of libcu++", `
#include <cuda/atomic>
extern "C" __global__ void f(int *out) {
	__shared__ int n;
	if (threadIdx.x == 0) n = 0;
	__syncthreads();
	cuda::atomic_ref<int, cuda::thread_scope_block> r(n);
	r.fetch_add(1, cuda::memory_order_relaxed);
	__syncthreads();
	out[threadIdx.x] = n;
}`, same(64)},
	{"libcu++ by its own name", `
#include <cuda/std/cstdint>
#include <cuda/std/limits>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <cuda/std/array>
extern "C" __global__ void f(int *out) {
	cuda::std::array<int, 2> a = {1, 2};
	cuda::std::pair<int, int> p{3, 4};
	out[threadIdx.x] = a[1] + p.second + (cuda::std::numeric_limits<int>::max() > 0) + cuda::std::is_same_v<int, int> + (int)sizeof(cuda::std::uint16_t);
}`, same(2 + 4 + 1 + 1 + 2)},
	{"clock, nanosleep and printf", `
extern "C" __global__ void f(int *out) {
	long long t = clock64(); clock_t u = clock();
	__nanosleep(100);
	if (t == u && t == 12345) printf("%d\n", threadIdx.x);
	out[threadIdx.x] = clock64() >= t;
}`, same(1)},
	{"complex numbers and vectors", `
#include <cuComplex.h>
#include <vector_types.h>
#include <vector_functions.h>
extern "C" __global__ void f(int *out) {
	cuFloatComplex z = cuCmulf(make_cuFloatComplex(0, 1), make_cuFloatComplex(0, 1));
	float4 v = make_float4(1, 2, 3, 4);
	int3 w = make_int3(1, 2, 3);
	uchar4 c = make_uchar4(1, 2, 3, 255);
	out[threadIdx.x] = (int)cuCrealf(z) + (int)v.w + w.z + c.w;
}`, same(-1 + 4 + 3 + 255)},
}

var languageTests = func() (list []test) {
	for _, s := range snippets {
		list = append(list, test{name: s.name, run: func(e *env) {
			f := e.kernel(0, s.code, "f")
			out := e.alloc(0, 4*64, 0)
			e.launch(0, f, 0, 1, 64, args(out))
			e.sync(0, 0)
			got := e.read(0, out, 4*64)
			for i := range 64 {
				if v := int32(binary.LittleEndian.Uint32(got[4*i:])); v != s.want(i) {
					e.Fatalf("thread %d: %d, want %d", i, v, s.want(i))
				}
			}
		}})
	}
	return append(list, test{name: "headers of the host are refused", run: func(e *env) {
		for _, name := range []string{"vector", "string", "thread", "unistd.h", "sys/time.h"} {
			code := "#include <stdint.h>\n\n#include <" + name + ">\nextern \"C\" __global__ void f(int *out) { *out = 1; }\n"
			_, err := e.d.Compile(0, &driver.Source{Name: "case.cu", Code: code})
			if want := "case.cu(3): error: <" + name + "> is a header for code of the host"; err == nil || !strings.Contains(err.Error(), want) {
				e.Errorf("%v; want %s", err, want)
			}
		}
	}})
}()

// Snippets are the sources of the cases about the language.
func Snippets() []*driver.Source {
	list := make([]*driver.Source, len(snippets))
	for i, s := range snippets {
		list[i] = &driver.Source{Name: s.name + ".cu", Code: s.code}
	}
	return list
}
