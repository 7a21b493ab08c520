package sim_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"gocuda/cudaapi/sim"
)

// gemm has d = a*b + c for n by n matrices in tiles of 32 by 32: the block's four warps load tiles of a
// (by rows) and b (by columns) to shared memory. A and C are the types of numbers, T what wmma calls A;
// M, N and K are a fragment's shape, LOADED is what is done to it.
const gemm = `
#ifndef LOADED
#define LOADED(f)
#endif
__global__ void k(const A *a, const A *b, const C *c, C *d, int n) {
    __shared__ alignas(32) A ta[32 * 32], tb[32 * 32];
    int row = blockIdx.y * 32, col = blockIdx.x * 32, warp = threadIdx.x / 32;
    constexpr int across = 32 / N, mine = (32 / M) * across / 4 > 0 ? (32 / M) * across / 4 : 1;
    wmma::fragment<wmma::accumulator, M, N, K, C> sum[mine];
    for (int i = 0; i < mine; i++) {
        int t = warp * mine + i;
        if (t < (32 / M) * across) wmma::load_matrix_sync(sum[i], c + (row + t / across * M) * n + col + t % across * N, n, wmma::mem_row_major);
    }
    for (int at = 0; at < n; at += 32) {
        for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x) {
            ta[i] = a[(row + i / 32) * n + at + i % 32];
            tb[i] = b[(col + i / 32) * n + at + i % 32];
        }
        __syncthreads();
        for (int i = 0; i < mine; i++) {
            int t = warp * mine + i;
            if (t < (32 / M) * across)
                for (int k = 0; k < 32; k += K) {
                    wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> fa;
                    wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::col_major> fb;
                    wmma::load_matrix_sync(fa, ta + t / across * M * 32 + k, 32);
                    wmma::load_matrix_sync(fb, tb + t % across * N * 32 + k, 32);
                    LOADED(fa) LOADED(fb)
                    wmma::mma_sync(sum[i], fa, fb, sum[i]);
                }
        }
        __syncthreads();
    }
    for (int i = 0; i < mine; i++) {
        int t = warp * mine + i;
        if (t < (32 / M) * across) wmma::store_matrix_sync(d + (row + t / across * M) * n + col + t % across * N, sum[i], n, wmma::mem_row_major);
    }
}`

// gemmAsync is gemm of halves and floats by mma.sync: copies that need not wait fill two buffers in turn,
// ldmatrix reads them. A warp has 16 rows and all 32 columns; the block has two.
const gemmAsync = `#include <cuda_fp16.h>
#include <cuda_pipeline.h>
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__global__ void k(const half *a, const half *b, const float *c, float *d, int n) {
    __shared__ alignas(16) half ta[2][32][32 + 8], tb[2][32][32 + 8]; // padded: rows begin in other banks
    int row = blockIdx.y * 32, col = blockIdx.x * 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int g = lane / 4, t = lane % 4;
    float sum[4][4];
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++) sum[j][i] = c[(row + warp * 16 + g + i / 2 * 8) * n + col + j * 8 + t * 2 + i % 2];
    auto fetch = [&](int k, int to) {
        for (int i = threadIdx.x; i < 128; i += blockDim.x) {
            __pipeline_memcpy_async(&ta[to][i / 4][i % 4 * 8], &a[(row + i / 4) * n + k + i % 4 * 8], 16);
            __pipeline_memcpy_async(&tb[to][i / 4][i % 4 * 8], &b[(col + i / 4) * n + k + i % 4 * 8], 16);
        }
        __pipeline_commit();
    };
    fetch(0, 0);
    for (int k = 0, now = 0; k < n; k += 32, now ^= 1) {
        if (k + 32 < n) {
            fetch(k + 32, now ^ 1);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        for (int kk = 0; kk < 32; kk += 16) {
            unsigned ra[4], rb[4][2];
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
                         : "r"(at(&ta[now][warp * 16 + lane % 16][kk + lane / 16 * 8])));
            for (int j = 0; j < 4; j += 2)
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(rb[j][0]), "=r"(rb[j][1]), "=r"(rb[j + 1][0]), "=r"(rb[j + 1][1])
                             : "r"(at(&tb[now][j * 8 + lane / 16 * 8 + lane % 8][kk + lane / 8 % 2 * 8])));
            for (int j = 0; j < 4; j++)
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                             : "+f"(sum[j][0]), "+f"(sum[j][1]), "+f"(sum[j][2]), "+f"(sum[j][3])
                             : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[j][0]), "r"(rb[j][1]));
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++) d[(row + warp * 16 + g + i / 2 * 8) * n + col + j * 8 + t * 2 + i % 2] = sum[j][i];
}`

// TestProductsByTensorCores multiplies by wmma and mma.sync. Integers and doubles are exact; of others a
// sum of products is off by less than 2^-22 of the sum of their absolute values, for each step of k.
func TestProductsByTensorCores(t *testing.T) {
	onBoth(t, throughPTX(t, sim.Options{Devices: 1}), func(t *testing.T, b *box) {
		const n = 96
		with := func(a, t, c string, m, n, k int) string {
			return fmt.Sprintf("#include <mma.h>\nusing namespace nvcuda;\nusing A = %s;\nusing T = %s;\nusing C = %s;\nconstexpr int M = %d, N = %d, K = %d;", a, t, c, m, n, k) + gemm
		}
		for _, c := range []struct {
			name, code string
			a, c       string // their types
			step       int    // of k
			threads    uint32
		}{
			{"wmma, half", with("half", "half", "float", 16, 16, 16), "f16", "f32", 16, 128},
			{"wmma, half, 32 by 8", with("half", "half", "float", 32, 8, 16), "f16", "f32", 16, 128},
			{"wmma, half, 8 by 32", with("half", "half", "float", 8, 32, 16), "f16", "f32", 16, 128},
			{"wmma, bfloat16", with("__nv_bfloat16", "A", "float", 16, 16, 16), "bf16", "f32", 16, 128},
			{"wmma, tf32", "#define LOADED(f) for (int e = 0; e < f.num_elements; e++) f.x[e] = wmma::__float_to_tf32(f.x[e]);\n" +
				with("float", "wmma::precision::tf32", "float", 16, 16, 8), "tf32", "f32", 4, 128},
			{"wmma, int8", with("signed char", "A", "int", 16, 16, 16), "s8", "s32", 16, 128},
			{"wmma, uint8, 8 by 32", with("unsigned char", "A", "int", 8, 32, 16), "u8", "s32", 16, 128},
			{"wmma, double", with("double", "A", "double", 8, 8, 4), "f64", "f64", 4, 128},
			{"mma.sync, ldmatrix, copies that need not wait", gemmAsync, "f16", "f32", 16, 64},
		} {
			t.Run(c.name, func(t *testing.T) {
				b.t = t
				k := b.kernel(c.code)
				rng := rand.New(rand.NewPCG(7, 7))
				type matrix struct {
					bits []uint64
					mem  []byte
				}
				random := func(y string, kind int) (m matrix) {
					m.bits = randomMatrix(rng, y, n*n, kind)
					for _, v := range m.bits {
						for i := 0; i < formats[y].bits; i += 8 {
							m.mem = append(m.mem, byte(v>>i))
						}
					}
					return m
				}
				a, x, s := random(c.a, 1), random(c.a, 1), random(c.c, 1)
				d := upload(b, make([]byte, len(s.mem)))
				b.ok(b.launch(k, dim(n/32, n/32), dim(c.threads), 0, upload(b, a.mem), upload(b, x.mem), upload(b, s.mem), d, n))
				b.ok(b.sync())
				got := download[byte](b, d, len(s.mem))
				for i := range n * n {
					v := uint64(0)
					size := formats[c.c].bits / 8
					for e := range size {
						v |= uint64(got[i*size+e]) << (8 * e)
					}
					want, all := number(c.c, s.bits[i]), math.Abs(number(c.c, s.bits[i]))
					for k := range n {
						p, q := number(c.a, a.bits[i/n*n+k]), number(c.a, x.bits[i%n*n+k])
						if c.a == "tf32" { // rounded, ties away
							p, q = number("f32", (a.bits[i/n*n+k]+0x1000)&^0x1fff), number("f32", (x.bits[i%n*n+k]+0x1000)&^0x1fff)
						}
						want, all = math.FMA(p, q, want), all+math.Abs(p*q)
					}
					if c.c == "s32" {
						want = float64(int32(int64(want)))
					}
					allowed := 0.0
					if c.c == "f32" {
						allowed = float64(n/c.step) * all * 0x1p-22
					}
					if diff := math.Abs(number(c.c, v) - want); !(diff <= allowed) {
						t.Fatalf("d[%d][%d] is %v, want %v, off by %v, and %v is allowed", i/n, i%n, number(c.c, v), want, diff, allowed)
					}
				}
			})
		}
	})
}

// attention is softmax(q k^T / 8) v for heads of 64 numbers. A warp has 16 queries and goes over keys and
// values by 16, with the largest product so far and the sum of exponentials; each result is scaled when
// the largest changes.
const attention = `#include <cuda_fp16.h>
__device__ unsigned pair(float a, float b) { half2 h = __floats2half2_rn(a, b); return *(unsigned *)&h; }
__device__ void mma(float *d, const unsigned *a, unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ float across(float v, bool most) { // the four lanes of a row
    for (int by = 1; by < 4; by *= 2) {
        float w = __shfl_xor_sync(~0u, v, by);
        v = most ? fmaxf(v, w) : v + w;
    }
    return v;
}
__global__ void k(const half *q, const half *keys, const half *values, float *out, int n) {
    __shared__ alignas(16) half tile[16][64 + 8];
    int lane = threadIdx.x, g = lane / 4, t = lane % 4, row = blockIdx.x * 16;
    unsigned fq[4][4];
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++) fq[j][i] = *(const unsigned *)&q[(row + g + i % 2 * 8) * 64 + j * 16 + t * 2 + i / 2 * 8];
    float sum[8][4] = {}, most[2] = {-INFINITY, -INFINITY}, total[2] = {};
    for (int at = 0; at < n; at += 16) {
        float s[2][4] = {};
        for (int c = 0; c < 2; c++)
            for (int j = 0; j < 4; j++) {
                const half *from = &keys[(at + c * 8 + g) * 64 + j * 16 + t * 2];
                mma(s[c], fq[j], *(const unsigned *)from, *(const unsigned *)(from + 8));
            }
        for (int r = 0; r < 2; r++) {
            float m = most[r];
            for (int c = 0; c < 2; c++)
                for (int i = 0; i < 2; i++) m = fmaxf(m, s[c][2 * r + i] *= 0.125f);
            m = across(m, true);
            float by = __expf(most[r] - m), part = 0;
            most[r] = m;
            for (int c = 0; c < 2; c++)
                for (int i = 0; i < 2; i++) part += s[c][2 * r + i] = __expf(s[c][2 * r + i] - m);
            total[r] = total[r] * by + across(part, false);
            for (int j = 0; j < 8; j++)
                for (int i = 0; i < 2; i++) sum[j][2 * r + i] *= by;
        }
        unsigned p[4] = {pair(s[0][0], s[0][1]), pair(s[0][2], s[0][3]), pair(s[1][0], s[1][1]), pair(s[1][2], s[1][3])};
        __syncwarp();
        for (int i = lane; i < 16 * 64 / 8; i += 32) *(uint4 *)&tile[i / 8][i % 8 * 8] = *(const uint4 *)&values[(at + i / 8) * 64 + i % 8 * 8];
        __syncwarp();
        for (int j = 0; j < 8; j++) {
            unsigned b0, b1;
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(b0), "=r"(b1)
                         : "r"((unsigned)__cvta_generic_to_shared(&tile[lane % 16][j * 8])));
            mma(sum[j], p, b0, b1);
        }
    }
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 4; i++) out[(row + g + i / 2 * 8) * 64 + j * 8 + t * 2 + i % 2] = sum[j][i] / total[i / 2];
}`

// TestAttentionByTensorCores compares with float64: weights are rounded to halves, so results are off
// by less than 2^-10 of the largest value.
func TestAttentionByTensorCores(t *testing.T) {
	onBoth(t, throughPTX(t, sim.Options{Devices: 1}), func(t *testing.T, b *box) {
		k := b.kernel(attention)
		const n, head = 64, 64
		rng := rand.New(rand.NewPCG(8, 8))
		random := func() (bits []uint16, v []float64) {
			for _, x := range randomMatrix(rng, "f16", n*head, 1) {
				bits, v = append(bits, uint16(x)), append(v, number("f16", x))
			}
			return bits, v
		}
		hq, q := random()
		hk, keys := random()
		hv, values := random()
		out := upload(b, make([]float32, n*head))
		b.ok(b.launch(k, dim(n/16), dim(32), 0, upload(b, hq), upload(b, hk), upload(b, hv), out, n))
		b.ok(b.sync())
		got := download[float32](b, out, n*head)
		for i := range n {
			weights, total, largest := make([]float64, n), 0.0, 0.0
			for j := range n {
				for e := range head {
					weights[j] += q[i*head+e] * keys[j*head+e]
				}
				weights[j] = math.Exp(weights[j] / 8)
				total += weights[j]
			}
			for e := range head {
				want := 0.0
				for j := range n {
					want += weights[j] / total * values[j*head+e]
					largest = max(largest, math.Abs(values[j*head+e]))
				}
				if diff := math.Abs(float64(got[i*head+e]) - want); !(diff <= largest*0x1p-10) {
					t.Fatalf("query %d, number %d: %v, want %v", i, e, got[i*head+e], want)
				}
			}
		}
	})
}

// TestSmallNumbersThroughPTX is about int4 and one bit of <mma.h>, and <cuda_fp8.h>.
func TestSmallNumbersThroughPTX(t *testing.T) {
	onBoth(t, throughPTX(t, sim.Options{Devices: 1}), func(t *testing.T, b *box) {
		words := func(seed uint64) []uint32 {
			rng := rand.New(rand.NewPCG(seed, 9))
			w := make([]uint32, 32)
			for i := range w {
				w[i] = rng.Uint32()
			}
			return w
		}
		x, y := words(1), words(2)
		const small = `#include <mma.h>
using namespace nvcuda;
__global__ void k(const unsigned *x, const unsigned *y, int *d) {
    wmma::fragment<wmma::matrix_a, 8, 8, K, wmma::experimental::precision::T, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 8, 8, K, wmma::experimental::precision::T, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 8, 8, K, int> c;
    wmma::fill_fragment(c, 5);
    wmma::load_matrix_sync(a, x, K);
    wmma::load_matrix_sync(b, y, K);
    OP;
    wmma::store_matrix_sync(d, c, 8, wmma::mem_row_major);
}`
		for _, c := range []struct {
			name, with string
			want       func(i, j int) int
		}{
			{"int4", "#define T s4\n#define K 32\n#define OP wmma::mma_sync(c, a, b, c)\n", func(i, j int) (sum int) {
				for k := range 32 {
					at := k % 8 * 4
					sum += int(int32(x[i*4+k/8]<<(28-at))>>28) * int(int32(y[j*4+k/8]<<(28-at))>>28)
				}
				return sum
			}},
			{"one bit", "#define T b1\n#define K 128\n#define OP wmma::bmma_sync(c, a, b, c)\n", func(i, j int) (sum int) {
				for k := range 4 {
					sum += bits.OnesCount32(x[i*4+k] ^ y[j*4+k])
				}
				return sum
			}},
		} {
			t.Run(c.name, func(t *testing.T) {
				b.t = t
				with := strings.Replace(small, "using namespace nvcuda;\n", "using namespace nvcuda;\n"+c.with, 1) // whose headers have such names, too
				k := b.kernel(with)
				d := upload(b, make([]int32, 64))
				b.ok(b.launch(k, dim(1), dim(32), 0, upload(b, x), upload(b, y), d))
				b.ok(b.sync())
				for i, v := range download[int32](b, d, 64) {
					if want := c.want(i/8, i%8) + 5; int(v) != want {
						t.Fatalf("d[%d][%d] is %d, want %d", i/8, i%8, v, want)
					}
				}
			})
		}
		t.Run("fp8", func(t *testing.T) {
			b.t = t
			k := b.kernel(`#include <cuda_fp8.h>
__global__ void k(const float *x, float *d) {
    int i = threadIdx.x;
    float2 v = make_float2(x[2 * i], x[2 * i + 1]);
    __nv_fp8x2_e4m3 a(v);
    float2 w = (float2)a;
    __nv_fp8_e5m2 c(v.x);
    d[3 * i] = w.x, d[3 * i + 1] = w.y, d[3 * i + 2] = (float)c;
}`)
			rng := rand.New(rand.NewPCG(3, 9))
			in := make([]float32, 64)
			for i := range in {
				in[i] = float32(math.Ldexp(rng.NormFloat64(), rng.IntN(24)-12))
			}
			in[0], in[1] = 1e9, float32(math.Inf(-1))
			d := upload(b, make([]float32, 96))
			b.ok(b.launch(k, dim(1), dim(32), 0, upload(b, in), d))
			b.ok(b.sync())
			got := download[float32](b, d, 96)
			for i := range 32 {
				p, q := float64(in[2*i]), float64(in[2*i+1])
				want := []float64{number("e4m3", smallest("e4m3", p)), number("e4m3", smallest("e4m3", q)), number("e5m2", smallest("e5m2", p))}
				for n, w := range want {
					if float64(got[3*i+n]) != w {
						t.Fatalf("of %v, %v: %v, want %v", p, q, got[3*i:3*i+3], want)
					}
				}
			}
		})
	})
}
