package sim_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// TestLanguage is about CUDA C++ that compilers for CPUs take otherwise, and what
// the corpus cannot ask of NVRTC, which takes less of it or leaves it open. Each
// kernel f has 64 threads, of which each sets one element of out.
func TestLanguage(t *testing.T) {
	for _, c := range []struct {
		name, code string
		want       func(i int) int32
	}{
		{"shared variables said to be static", `
__device__ int *first() { __shared__ static volatile int v[64]; return (int *)v; }
__global__ void f(int *out) {
    static __shared__ int w[64];
    first()[threadIdx.x] = w[63 - threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = 100 * first()[threadIdx.x ^ 1] + w[threadIdx.x];
}`, func(i int) int32 { return int32(100*(i^1) + 63 - i) }},
		{"the active lanes of either branch", `
#include <cooperative_groups.h>
__global__ void f(int *out) {
    if (threadIdx.x % 4 == 0) {
        unsigned mask = __activemask();
        auto g = cooperative_groups::coalesced_threads();
        out[threadIdx.x] = __popc(mask) + 100 * g.thread_rank();
    } else {
        unsigned mask = __activemask();
        auto g = cooperative_groups::coalesced_threads();
        out[threadIdx.x] = 1000 + __popc(mask) + 100 * (g.size() - 24);
    }
}`, func(i int) int32 {
			if i%4 == 0 {
				return int32(8 + 100*(i%32/4))
			}
			return 1024
		}},
		{"what the C++ library has", `
struct Shape { __device__ virtual int area() const = 0; __device__ virtual ~Shape() {} };
struct Square : Shape { int a; __device__ Square(int a) : a(a) {} __device__ int area() const override { return a * a; } };
__global__ void f(int *out) {
    Square s(threadIdx.x);
    const Shape *volatile p = &s;
    out[threadIdx.x] = p->area();
}`, func(i int) int32 { return int32(i * i) }},
		{"functions of integers", `
#include <cmath>
__global__ void f(int *out) {
    int n = threadIdx.x;
    static_assert(sizeof(sqrt(1.0f)) == 4 && sizeof(pow(1.0f, 2.0f)) == 4 && sizeof(pow(1, 2.0f)) == 8 && sizeof(sqrt(1)) == 8);
    out[n] = (int)(sqrt(n * n) + pow(2, 3) + floor(n / 64) + pow(2.0f, 3.0) + fmin(1, 2.0f) + M_PI);
}`, func(i int) int32 { return int32(i + 20) }},
		{"shifts and casts of all kinds", `
#include <cstdint>
struct Sum { int v = 0; __device__ Sum &operator<<(int n) { v += n; return *this; } };
template <class T> struct Box { T v; };
template <int N> struct Size { int a[N]; };
enum Bits { one = 1 << 0, four = 1 << 2 };
__global__ void f(int *out) {
    int n = threadIdx.x;
    Sum s;
    s << n << four << 1;
    Box<Box<int>> b{{n >> 2}};
    Size<(16 >> 2)> z{};
    struct { unsigned field : 5; } bits{(unsigned)n & 31};
    switch (n) { case (int)'a': s << 1000; case 1 << 1: s << 100; }
    unsigned mask = (1u << n) - 1; // of 32 on: all
    float x = (float)n * 1e8f;
    uint8_t colour = (uint8_t)(n * 0.5f);
    uintptr_t address = (uintptr_t)out;
    out[n] = s.v + b.v.v + (int)sizeof(z.a) + (bits.field << 2) + __popc(mask) + (x > 2147483647.0f ? (int)x == 2147483647 : (int)x == n * 100000000) +
        colour + (int)(address & 3) + int(-0.5f * n) + static_cast<int>(n * 0.25f) + (1 << n << 1 >> n);
}`, func(i int) int32 {
			v := i + 5
			if i == 2 {
				v += 100
			}
			return int32(v+(i>>2)+16+(i%32)*4+min(i, 32)+1+i/2-i/2+i/4) + int32(1)<<i<<1>>i
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBox(t, sim.Options{Devices: 1})
			out := upload(b, make([]int32, 64))
			b.ok(b.launch(b.kernel(c.code), dim(1), dim(64), 0, out))
			want := make([]int32, 64)
			for i := range want {
				want[i] = c.want(i)
			}
			if got := download[int32](b, out, 64); !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// What is declared and never defined is an error that names it and its line; a
// kernel that is only declared is no error.
func TestDeclaredOnly(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1})
	_, err := b.d.Compile(0, &driver.Source{Name: "test.cu", Code: `
__device__ int helper(int);
__global__ void later(int *);
__global__ void k(int *x) {
    x[0] = helper(3);
    x[1] = helper(4);
}`})
	if !errors.Is(err, driver.ErrInvalidSource) || !strings.Contains(err.Error(), "test.cu(5): error: helper(int) is declared and not defined\n1 error") {
		t.Errorf("%v", err)
	}
	b.kernel("__global__ void later(int *); __global__ void k(int *x) {}")
}

// A header for code of the host is refused in the same words where it is not installed.
func TestMissingHeaderOfTheHost(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1})
	_, err := b.d.Compile(0, &driver.Source{Name: "test.cu", Code: "#include <cudnn.h>\n__global__ void k() {}\n"})
	if !errors.Is(err, driver.ErrInvalidSource) || !strings.Contains(err.Error(), "test.cu(1): error: <cudnn.h> is a header for code of the host") {
		t.Errorf("%v", err)
	}
}

// The fourth bit of a selector says nothing, with NVRTC and without.
func TestBytePerm(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1, CUDA: "c++"})
	k := b.kernel("__global__ void k(unsigned *x) { x[0] = __byte_perm(x[1], x[2], x[3]); }")
	x := upload(b, []uint32{0, 0x83828180, 0x87868584, 0xfb40})
	b.ok(b.launch(k, dim(1), dim(1), 0, x))
	b.ok(b.sync())
	if got := download[uint32](b, x, 1)[0]; got != 0x87838480 {
		t.Errorf("%#x, want 0x87838480", got)
	}
}
