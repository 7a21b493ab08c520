package sim_test

import (
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// TestHeadersThroughPTX is about what NVIDIA's own headers make of CUDA C++: cooperative groups,
// libcu++, CUB, cuRAND's device side. A kernel f has two blocks of 128 threads, of which each
// sets its element of out.
func TestHeadersThroughPTX(t *testing.T) {
	onBoth(t, throughPTX(t, sim.Options{Devices: 1}), func(t *testing.T, b *box) {
		const n, block = 256, 128
		key := func(i int) int32 { return int32(uint32(i)*2654435761>>8) % 1000 }
		sorted := func(from int) []int32 {
			var s []int32
			for k := range block {
				s = append(s, key(from+k))
			}
			slices.Sort(s)
			return s
		}
		const keys = "__device__ int key(int i) { return int((unsigned)i * 2654435761u >> 8) % 1000; }\n"
		for _, c := range []struct {
			name, code string
			want       func(i int) int32
		}{
			{"groups: the block", `
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void f(int *out) {
    __shared__ int s[128];
    cg::thread_block b = cg::this_thread_block();
    s[b.thread_rank()] = b.size() + b.group_index().x;
    b.sync();
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    out[at] = s[127 - threadIdx.x] + b.thread_rank();
}`, func(i int) int32 { return int32(128 + i/128 + i%128) }},
			{"groups: tiles, reduce and scan", `
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__global__ void f(int *out) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = cg::reduce(tile, at, cg::plus<int>()), most = cg::reduce(tile, at % 5, cg::greater<int>());
    int before = cg::exclusive_scan(tile, 1, cg::plus<int>());
    out[at] = sum * 100 + most * 10 + before + tile.meta_group_rank() * 1000000;
}`, func(i int) int32 {
				sum, most := 0, 0
				for k := i &^ 7; k < i|7+1; k++ {
					if k >= i&^7+8 {
						break
					}
					sum, most = sum+k, max(most, k%5)
				}
				return int32(sum*100 + most*10 + i%8 + i%128/8*1000000)
			}},
			{"groups: a tile's votes and shuffles", `
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void f(int *out) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned odd = tile.ballot(at & 1);
    out[at] = tile.shfl(at, 3) + 1000 * tile.shfl_xor(at % 16, 5) + 100000 * __popc(odd) + 10000000 * (tile.any(at == 5) + tile.all(at >= 0) * 2);
}`, func(i int) int32 {
				any := 0
				if i < 16 {
					any = 1
				}
				return int32(i&^15 + 3 + 1000*(i%16^5) + 100000*8 + 10000000*(any+2))
			}},
			{"groups: coalesced, labeled and binary", `
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void f(int *out) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto alike = cg::labeled_partition(warp, at % 3);
    int n = alike.size();
    auto half = cg::binary_partition(warp, at % 4 == 0);
    out[at] = n * 10000 + half.size() * 100 + half.thread_rank();
    if (at % 2) {
        auto g = cg::coalesced_threads();
        out[at] += 1000000 * g.size();
    }
}`, func(i int) int32 {
				n, half, rank, odd := 0, 0, 0, 0
				for k := i &^ 31; k < i&^31+32; k++ {
					if k%3 == i%3 {
						n++
					}
					if (k%4 == 0) == (i%4 == 0) {
						half++
						if k < i {
							rank++
						}
					}
				}
				if i%2 == 1 {
					odd = 16
				}
				return int32(n*10000 + half*100 + rank + 1000000*odd)
			}},
			{"cuda::std: tuple, array, optional, span", `
#include <cuda/std/tuple>
#include <cuda/std/array>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/utility>
__device__ cuda::std::optional<int> even(int i) { if (i % 2) return cuda::std::nullopt; return i / 2; }
__global__ void f(int *out) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    auto t = cuda::std::make_tuple(at, 2.5f, 'a');
    cuda::std::array<int, 4> a{1, 2, 3, at};
    cuda::std::span<int> s(a.data(), 4);
    int sum = 0;
    for (int x : s) sum += x;
    out[at] = sum + cuda::std::get<0>(t) + (int)(2 * cuda::std::get<1>(t)) + even(at).value_or(-1);
}`, func(i int) int32 {
				e := -1
				if i%2 == 0 {
					e = i / 2
				}
				return int32(6 + i + i + 5 + e)
			}},
			{"cuda::std: limits, bit, algorithm, functional", `
#include <cuda/std/limits>
#include <cuda/std/bit>
#include <cuda/std/functional>
#include <cuda/std/type_traits>
#include <cuda/std/cmath>
__global__ void f(int *out) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned u = at * 2654435761u;
    int v = cuda::std::popcount(u) + 100 * cuda::std::countl_zero(u | 1) + 10000 * cuda::std::countr_zero(u | 0x80000000u);
    v += cuda::std::plus<int>{}(cuda::std::numeric_limits<short>::max(), at) + (int)cuda::std::rotl(u, 7) + (cuda::std::is_same_v<int, long> ? 1 : 0);
    out[at] = v + (int)cuda::std::floor(at * 0.5);
}`, func(i int) int32 {
				u := uint32(i) * 2654435761
				v := bits.OnesCount32(u) + 100*bits.LeadingZeros32(u|1) + 10000*bits.TrailingZeros32(u|1<<31)
				return int32(v+32767+i) + int32(bits.RotateLeft32(u, 7)) + int32(i/2)
			}},
			{"cuda::std: cmath beside C's", `
#include <cmath>
#include <cuda/std/cmath>
__global__ void f(int *out) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    double half = at * 0.5;
    float whole = cuda::std::copysign(cuda::std::round((float)at), -1.0f);
    out[at] = (int)cuda::std::fma(half, 4.0, cuda::std::trunc(half)) + (int)cuda::std::fmod(half, 3.0) + (int)whole
        + (cuda::std::isinf(INFINITY) && cuda::std::isnan(NAN) ? (int)cuda::std::lround(half) : 0);
}`, func(i int) int32 {
				half := float64(i) / 2
				return int32(half*4+math.Trunc(half)) + int32(math.Mod(half, 3)) - int32(i) + int32(math.Round(half))
			}},
			{"cuda::std: complex and chrono", `
#include <cuda/std/complex>
#include <cuda/std/chrono>
__global__ void f(int *out) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    cuda::std::complex<float> z(at, 1), w = z * z + cuda::std::complex<float>(0, 2);
    auto ms = cuda::std::chrono::duration_cast<cuda::std::chrono::milliseconds>(cuda::std::chrono::seconds(at));
    out[at] = (int)w.real() + (int)w.imag() + (int)ms.count();
}`, func(i int) int32 { return int32(i*i - 1 + 2*i + 2 + 1000*i) }},
			{"cuda::atomic", `
#include <cuda/atomic>
__device__ cuda::atomic<int, cuda::thread_scope_device> total{0};
__device__ int plain;
__global__ void f(int *out) {
    __shared__ cuda::atomic<int, cuda::thread_scope_block> here;
    if (threadIdx.x == 0) here.store(0, cuda::std::memory_order_relaxed);
    __syncthreads();
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    here.fetch_add(at, cuda::std::memory_order_relaxed);
    total.fetch_add(1);
    cuda::atomic_ref<int, cuda::thread_scope_device> r(plain);
    int seen = r.load();
    while (!r.compare_exchange_weak(seen, seen + 2)) {}
    __syncthreads();
    out[at] = here.load() * 2 + (total.load() >= 128);
}`, func(i int) int32 {
				s := 0
				for k := range 128 {
					s += i/128*128 + k
				}
				return int32(2*s + 1)
			}},
			{"cuda::semaphore and latch", `
#include <cuda/semaphore>
#include <cuda/latch>
__device__ cuda::binary_semaphore<cuda::thread_scope_device> one{1};
__device__ int count;
__global__ void f(int *out) {
    __shared__ alignas(8) char room[sizeof(cuda::latch<cuda::thread_scope_block>)];
    auto &l = *(cuda::latch<cuda::thread_scope_block> *)room;
    if (threadIdx.x == 0) new (&l) cuda::latch<cuda::thread_scope_block>(128);
    __syncthreads();
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    one.acquire();
    count = count + 1;
    one.release();
    l.arrive_and_wait();
    out[at] = *(volatile int *)&count >= 128;
}`, func(i int) int32 { return 1 }},
			{"cub: block reduce", `
#include <cub/block/block_reduce.cuh>
__global__ void f(int *out) {
    typedef cub::BlockReduce<int, 128> Reduce;
    __shared__ typename Reduce::TempStorage tmp;
    __shared__ int all;
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = Reduce(tmp).Sum(at);
    if (threadIdx.x == 0) all = sum;
    __syncthreads();
    out[at] = all;
}`, func(i int) int32 { return int32(128*(i/128*128) + 127*64) }},
			{"cub: block scan", `
#include <cub/block/block_scan.cuh>
__global__ void f(int *out) {
    typedef cub::BlockScan<int, 128> Scan;
    __shared__ typename Scan::TempStorage tmp;
    int at = blockIdx.x * blockDim.x + threadIdx.x, total, v;
    Scan(tmp).ExclusiveSum((int)threadIdx.x, v, total);
    out[at] = v + 100000 * (total == 127 * 64);
}`, func(i int) int32 { t := i % 128; return int32(t*(t-1)/2 + 100000) }},
			{"cub: block merge sort", keys + `
#include <cub/block/block_merge_sort.cuh>
struct Less { __device__ bool operator()(int a, int b) const { return a < b; } };
__global__ void f(int *out) {
    typedef cub::BlockMergeSort<int, 128, 1> Sort;
    __shared__ typename Sort::TempStorage tmp;
    int at = blockIdx.x * blockDim.x + threadIdx.x, v[1] = {key(at)};
    Sort(tmp).Sort(v, Less());
    out[at] = v[0];
}`, func(i int) int32 { return sorted(i / block * block)[i%block] }},
			{"cub: block load and store", `
#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>
__device__ int from[512], to[512];
__global__ void f(int *out) {
    typedef cub::BlockLoad<int, 128, 2, cub::BLOCK_LOAD_TRANSPOSE> Load;
    typedef cub::BlockStore<int, 128, 2, cub::BLOCK_STORE_WARP_TRANSPOSE> Store;
    __shared__ union { typename Load::TempStorage l; typename Store::TempStorage s; } tmp;
    int base = blockIdx.x * 256, t = threadIdx.x, v[2];
    from[base + t] = base + t, from[base + 128 + t] = base + 128 + t;
    __syncthreads();
    Load(tmp.l).Load(from + base, v);
    __syncthreads();
    v[0] += 1, v[1] += 2;
    Store(tmp.s).Store(to + base, v);
    __syncthreads();
    out[blockIdx.x * 128 + t] = 1000 * to[base + t] + to[base + 128 + t];
}`, func(i int) int32 {
				b, t := i/128*256, i%128
				return int32(1000*(b+t+1+t%2) + b + 128 + t + 1 + t%2)
			}},
			{"cub: warp reduce and scan", `
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
__global__ void f(int *out) {
    typedef cub::WarpReduce<int> Reduce;
    typedef cub::WarpScan<int> Scan;
    __shared__ typename Reduce::TempStorage r[4];
    __shared__ typename Scan::TempStorage s[4];
    int at = blockIdx.x * blockDim.x + threadIdx.x, w = threadIdx.x / 32, v;
    int sum = Reduce(r[w]).Sum(at);
    Scan(s[w]).InclusiveSum(1, v);
    out[at] = __shfl_sync(~0u, sum, 0) * 100 + v;
}`, func(i int) int32 { b := i &^ 31; return int32((32*b+31*16)*100 + i%32 + 1) }},
			{"cub: adjacent difference and discontinuity", keys + `
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
struct Minus { __device__ int operator()(int a, int b) const { return a - b; } };
struct Other { __device__ bool operator()(int a, int b) const { return a / 100 != b / 100; } };
__global__ void f(int *out) {
    typedef cub::BlockAdjacentDifference<int, 128> Difference;
    typedef cub::BlockDiscontinuity<int, 128> Heads;
    __shared__ typename Difference::TempStorage d;
    __shared__ typename Heads::TempStorage h;
    int at = blockIdx.x * blockDim.x + threadIdx.x, v[1] = {key(at)}, r[1], head[1];
    Difference(d).SubtractLeft(v, r, Minus());
    Heads(h).FlagHeads(head, v, Other());
    out[at] = r[0] * 2 + head[0];
}`, func(i int) int32 {
				if i%block == 0 {
					return key(i)*2 + 1
				}
				v := (key(i) - key(i-1)) * 2
				if key(i)/100 != key(i-1)/100 {
					v++
				}
				return v
			}},
			{"cuRAND: XORWOW, equal sequences", `
#include <curand_kernel.h>
__global__ void f(int *out) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    curandState s, u;
    curand_init(7, at, 0, &s);
    curand_init(7, at, 2, &u);
    curand(&s), curand(&s);
    out[at] = curand(&s) == curand(&u);
}`, func(i int) int32 { return 1 }},
			{"cuRAND: Philox", `
#include <curand_kernel.h>
__global__ void f(int *out) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    curandStatePhilox4_32_10_t s;
    curand_init(7, at, 0, &s);
    float4 v = curand_uniform4(&s), w = curand_normal4(&s);
    out[at] = v.x > 0 && v.x <= 1 && v.w > 0 && w.x == w.x;
}`, func(i int) int32 { return 1 }},
			{"half and bfloat16", `
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void f(int *out) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    __half h = __float2half(at * 0.5f), k = __hfma(h, __float2half(2.0f), __float2half(1.0f));
    __half2 p = __halves2half2(h, k), q = __hadd2(p, p);
    __nv_bfloat16 g = __float2bfloat16(at % 8);
    out[at] = (int)__half2float(k) + (int)__high2float(q) + (int)__bfloat162float(__hmul(g, g)) + 1000 * __hgt(k, h) + 10000 * (int)__half2float(hsqrt(__float2half(16.0f)));
}`, func(i int) int32 { return int32(i + 1 + 2*i + 2 + i%8*(i%8) + 1000 + 40000) }},
			{"virtual functions and function pointers", `
struct Shape { __device__ virtual int area() const = 0; __device__ virtual ~Shape() {} };
struct Square : Shape { int a; __device__ Square(int a) : a(a) {} __device__ int area() const override { return a * a; } };
struct Line : Shape { __device__ int area() const override { return -1; } };
__device__ int twice(int i) { return 2 * i; }
__device__ int thrice(int i) { return 3 * i; }
typedef int (*Fn)(int);
__device__ Fn table[2] = {twice, thrice};
__global__ void f(int *out) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    Square s(at);
    Line l;
    const Shape *volatile p = at % 3 ? (const Shape *)&s : (const Shape *)&l;
    out[at] = p->area() + table[at & 1](at);
}`, func(i int) int32 {
				v := i * i
				if i%3 == 0 {
					v = -1
				}
				return int32(v + (2+i%2)*i)
			}},
			{"new, delete, recursion, malloc", `
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
struct Node { int v; Node *next; };
__global__ void f(int *out) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    Node *list = nullptr;
    for (int k = 0; k < at % 5; k++) list = new Node{k, list};
    int sum = 0;
    while (list) { sum += list->v; Node *n = list->next; delete list; list = n; }
    int *m = (int *)malloc(40);
    memset(m, 0, 40);
    m[at % 10] = 7;
    sum += 100 * m[at % 10];
    free(m);
    out[at] = sum + 10000 * fib(at % 12);
}`, func(i int) int32 {
				k := i % 5
				a, b := 0, 1
				for range i % 12 {
					a, b = b, a+b
				}
				return int32(k*(k-1)/2 + 700 + 10000*a)
			}},
			{"vectors and bit fields", `
struct B { unsigned a : 5, b : 11, c : 16; };
__device__ uint4 u[256];
__global__ void f(int *out) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    u[at] = make_uint4(at, at + 1, at + 2, at + 3);
    uint4 v = u[at];
    B b{(unsigned)at, (unsigned)(at * 3), 9};
    double2 d = make_double2(at, 0.5);
    out[at] = v.x + v.y + v.z + v.w + b.a + b.b + b.c + (int)(d.x * d.y);
}`, func(i int) int32 { return int32(4*i + 6 + i%32 + i*3%2048 + 9 + i/2) }},
			{"groups: memcpy_async", `
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
__device__ int from[256];
__global__ void f(int *out) {
    __shared__ alignas(16) int s[128];
    auto b = cg::this_thread_block();
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    from[at] = 3 * at;
    __syncthreads();
    cg::memcpy_async(b, s, from + blockIdx.x * 128, sizeof s);
    cg::wait(b);
    out[at] = s[127 - threadIdx.x];
}`, func(i int) int32 { return int32(3 * (i/128*128 + 127 - i%128)) }},
			{"cuda::barrier", `
#include <cuda/barrier>
#include <cuda/std/utility>
__global__ void f(int *out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int s[128];
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = at;
    bar.arrive_and_wait();
    int v = s[127 - threadIdx.x];
    auto token = bar.arrive();
    bar.wait(cuda::std::move(token));
    out[at] = v;
}`, func(i int) int32 { return int32(i/128*128 + 127 - i%128) }},
			{"cuda::pipeline", `
#include <cuda/pipeline>
__device__ int from[256];
__global__ void f(int *out) {
    __shared__ int s[128];
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    from[at] = 5 * at;
    __syncthreads();
    auto p = cuda::make_pipeline();
    p.producer_acquire();
    cuda::memcpy_async(&s[threadIdx.x], &from[at], sizeof(int), p);
    p.producer_commit();
    p.consumer_wait();
    __syncthreads();
    out[at] = s[127 - threadIdx.x];
    p.consumer_release();
}`, func(i int) int32 { return int32(5 * (i/128*128 + 127 - i%128)) }},
			{"cub: block radix sort", keys + `
#include <cub/block/block_radix_sort.cuh>
__global__ void f(int *out) {
    typedef cub::BlockRadixSort<int, 128, 1> Sort;
    __shared__ typename Sort::TempStorage tmp;
    int at = blockIdx.x * blockDim.x + threadIdx.x, v[1] = {key(at)};
    Sort(tmp).Sort(v);
    out[at] = v[0];
}`, func(i int) int32 { return sorted(i / block * block)[i%block] }},
			{"cub: block histogram", keys + `
#include <cub/block/block_histogram.cuh>
__global__ void f(int *out) {
    typedef cub::BlockHistogram<unsigned char, 128, 1, 128> Histogram;
    __shared__ typename Histogram::TempStorage tmp;
    __shared__ unsigned bins[128];
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned char v[1] = {(unsigned char)(key(at) % 128)};
    Histogram(tmp).Histogram(v, bins);
    __syncthreads();
    out[at] = bins[threadIdx.x];
}`, func(i int) int32 {
				n := int32(0)
				for k := range block {
					if int(key(i/block*block+k)%128) == i%block {
						n++
					}
				}
				return n
			}},
		} {
			t.Run(c.name, func(t *testing.T) {
				out, err := b.d.Compile(0, &driver.Source{Name: "test.cu", Code: c.code})
				if err != nil && strings.Contains(err.Error(), `cannot open source file "curand_kernel.h"`) {
					t.Skip("pip install nvidia-curand, which has its headers") // 74 MB, so make test does without
				}
				if err != nil {
					t.Fatal(err)
				}
				b := &box{t, b.d, b.c}
				m, err := b.d.ModuleLoad(b.c, out.Image)
				b.ok(err)
				k, err := b.d.ModuleFunction(b.c, m, "f")
				if err != nil {
					k, err = b.d.ModuleFunction(b.c, m, "_Z1fPi")
				}
				b.ok(err)
				p := upload(b, make([]int32, n))
				b.ok(b.launch(k, dim(n/block), dim(block), 0, p))
				b.ok(b.sync())
				for i, v := range download[int32](b, p, n) {
					if v != c.want(i) {
						t.Fatalf("element %d: %d, want %d", i, v, c.want(i))
					}
				}
			})
		}
	})
}
