package sim_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/driver/drivertest"
	"gocuda/cudaapi/nvidia"
	"gocuda/cudaapi/sim"
	"gocuda/cudaapi/sim/corpus"
)

// throughPTX are options for devices whose CUDA C++ NVRTC compiles. Tests need one that
// GOCUDA_NVRTC names, or skip.
func throughPTX(t testing.TB, o sim.Options) sim.Options {
	t.Helper()
	if os.Getenv("GOCUDA_NVRTC") == "" {
		t.Skip("no NVRTC: GOCUDA_NVRTC does not name one")
	}
	o.CUDA, o.PTX = "ptx", nvidia.PTX
	return o
}

func TestCorpusThroughPTX(t *testing.T) {
	for _, adversarial := range []bool{false, true} {
		t.Run(fmt.Sprintf("adversarial=%v", adversarial), func(t *testing.T) {
			corpus.Run(t, newDriver(t, throughPTX(t, sim.Options{Devices: 1, Adversarial: adversarial})))
		})
	}
}

func TestConformanceThroughPTX(t *testing.T) {
	o := throughPTX(t, sim.Options{Devices: 2})
	drivertest.Run(t, func(t *testing.T) driver.Driver { return newDriver(t, o) })
}

// Of what is inlined the line is that of the call.
func TestIllegalAccessThroughPTXNamesTheLine(t *testing.T) {
	if cc, err := sim.Compiler(); err != nil || strings.Contains(cc, "clang") {
		t.Skip("g++ alone tells the lines of accesses", err)
	}
	b := newBox(t, throughPTX(t, sim.Options{Devices: 1}))
	const code = "__device__ int at(int i) {\n\treturn 3 * i;\n}\n__global__ void k(int *p) {\n\tp[threadIdx.x] = 1;\n\n\tp[at(1000) + threadIdx.x] = 2;\n}"
	_, err := b.d.Compile(0, &driver.Source{Name: "another.cu", Code: code}) // what is kept of it has another name
	b.ok(err)
	k := b.kernel(code)
	b.ok(b.launch(k, dim(1), dim(2), 0, upload(b, make([]int32, 8))))
	err = b.d.CtxSynchronize(b.c, nil)
	if err == nil || !strings.Contains(err.Error(), "kernel _Z1kPi, block (0,0,0), thread (0,0,0): illegal write of 4 bytes") || !strings.Contains(err.Error(), "(line 7)") {
		t.Error(err)
	}
}

func TestGridBarrierThroughPTX(t *testing.T) { gridBarrier(t, throughPTX(t, sim.Options{Devices: 1})) }

// TestLibraryThroughPTX is about pipelines, barriers, clusters and groups of several warps, as NVIDIA's headers make them.
func TestLibraryThroughPTX(t *testing.T) {
	onBoth(t, throughPTX(t, sim.Options{Devices: 1}), func(t *testing.T, b *box) {
		const threads = 128
		in := make([]float32, 4*threads*4)
		for i := range in {
			in[i] = float32(i)
		}
		tile := func(i, k int) float32 { return float32(4*threads*i + 4*k) }
		for _, c := range []struct {
			name, code string
			want       func(block, i int) float32
		}{
			{"a pipeline of the block", `
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ float4 tile[2][128];
    auto block = cg::this_thread_block();
    auto p = cuda::make_pipeline(block, &state);
    for (int i = 0, next = 0; i < 4; i++) {
        for (; next < 4 && next < i + 2; next++) {
            p.producer_acquire();
            cuda::memcpy_async(block, tile[next % 2], in + 128 * next, sizeof(float4) * 128, p);
            p.producer_commit();
        }
        p.consumer_wait();
        sum += tile[i % 2][127 - threadIdx.x].x;
        p.consumer_release();
    }`, func(_, i int) float32 { return tile(0, 127-i) + tile(1, 127-i) + tile(2, 127-i) + tile(3, 127-i) }},
			{"a pipeline of the thread", `
    __shared__ float4 tile[128];
    auto p = cuda::make_pipeline();
    p.producer_acquire();
    cuda::memcpy_async(tile + threadIdx.x, in + threadIdx.x, sizeof(float4), p);
    p.producer_commit();
    p.consumer_wait();
    p.consumer_release();
    __syncthreads();
    sum = tile[127 - threadIdx.x].x;`, func(_, i int) float32 { return tile(0, 127-i) }},
			{"a barrier that copies complete", `
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    __shared__ float4 tile[128];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&b, block.size());
    block.sync();
    cuda::memcpy_async(block, tile, in, cuda::aligned_size_t<16>(sizeof tile), b);
    b.arrive_and_wait();
    sum = tile[127 - threadIdx.x].x;
    b.arrive_and_wait();
    cuda::memcpy_async(tile + threadIdx.x, in + 128 + threadIdx.x, cuda::aligned_size_t<16>(16), b);
    auto token = b.arrive();
    b.wait(cuda::std::move(token));
    sum += tile[127 - threadIdx.x].x;
    if (threadIdx.x < 32) { b.arrive_and_drop(); } else { b.arrive_and_wait(); b.arrive_and_wait(); }`, func(_, i int) float32 { return tile(0, 127-i) + tile(1, 127-i) }},
			{"copies of a group", `
    __shared__ float4 tile[128];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile, in, sizeof tile);
    cg::wait(block);
    sum = tile[127 - threadIdx.x].x;`, func(_, i int) float32 { return tile(0, 127-i) }},
			{"a group of two warps", `
    __shared__ cg::block_tile_memory<128> memory;
    auto block = cg::this_thread_block(memory);
    auto part = cg::tiled_partition<64>(block);
    sum = cg::reduce(part, (int)threadIdx.x, cg::plus<int>());`, func(_, i int) float32 { return float32(64*63/2 + 64*64*(i/64)) }},
			{"a group of two warps without memory of its own", `
    auto part = cg::tiled_partition<64>(cg::this_thread_block());
    sum = cg::reduce(part, (int)threadIdx.x, cg::plus<int>());`, func(_, i int) float32 { return float32(64*63/2 + 64*64*(i/64)) }},
			{"two warps of a cluster's block", `
    __shared__ cg::block_tile_memory<128> memory;
    auto block = cg::this_thread_block(memory);
    auto part = cg::tiled_partition<64>(block);
    sum = cg::reduce(part, (int)threadIdx.x, cg::plus<int>()) + 0 * cg::this_cluster().num_blocks();`, func(_, i int) float32 { return float32(64*63/2 + 64*64*(i/64)) }},
			{"two warps meet", `
    __shared__ int s[128];
    __shared__ cg::block_tile_memory<128> memory;
    auto block = cg::this_thread_block(memory);
    auto part = cg::tiled_partition<64>(block);
    s[threadIdx.x] = threadIdx.x;
    part.sync();
    sum = s[threadIdx.x ^ 63] + part.thread_rank() + 1000 * part.meta_group_rank();`, func(_, i int) float32 { return float32(i ^ 63 + i%64 + 1000*(i/64)) }},
			{"two warps shuffle and vote", `
    __shared__ cg::block_tile_memory<128> memory;
    auto block = cg::this_thread_block(memory);
    auto part = cg::tiled_partition<64>(block);
    sum = part.shfl((int)threadIdx.x, 40) + 1000 * part.any(threadIdx.x == 70) + 2000 * part.all(threadIdx.x < 64);`, func(_, i int) float32 { return float32(i/64*64 + 40 + 1000*(i/64) + 2000*(1-i/64)) }},
			{"a cluster", `
    __shared__ int own[128];
    auto cluster = cg::this_cluster();
    own[threadIdx.x] = threadIdx.x + 1000 * cluster.block_rank();
    cluster.sync();
    int *other = cluster.map_shared_rank(own, (cluster.block_rank() + 1) % cluster.num_blocks());
    sum = other[127 - threadIdx.x] + 10000 * (blockIdx.x / 2) + 100000 * cluster.block_index().x + 1000000 * (cluster.query_shared_rank(other) != cluster.block_rank());
    cluster.sync();`, func(block, i int) float32 {
				return float32(127 - i + 1000*(1-block%2) + 10000*(block/2) + 100000*(block%2) + 1000000)
			}},
		} {
			t.Run(c.name, func(t *testing.T) {
				b.t = t
				if !simulated(b) && strings.HasPrefix(c.name, "two warps of a cluster") {
					t.Skip("on an H200 it fails with CUDA_ERROR_LAUNCH_FAILED")
				}
				dims := ""
				if strings.Contains(c.code, "this_cluster") {
					dims = "__cluster_dims__(2) "
				}
				k := b.kernel("#include <cuda/barrier>\n#include <cuda/pipeline>\n#include <cooperative_groups.h>\n#include <cooperative_groups/memcpy_async.h>\n#include <cooperative_groups/reduce.h>\n" +
					"namespace cg = cooperative_groups;\n__global__ void " + dims + "k(const float4 *in, float *out) {\nfloat sum = 0;\n" + c.code + "\nout[blockIdx.x * blockDim.x + threadIdx.x] = sum;\n}")
				out := upload(b, make([]float32, 4*threads))
				b.ok(b.launch(k, dim(4), dim(threads), 0, upload(b, in), out))
				b.ok(b.sync())
				for i, v := range download[float32](b, out, 4*threads) {
					if want := c.want(i/threads, i%threads); v != want {
						t.Fatalf("block %d, thread %d: %v, want %v", i/threads, i%threads, v, want)
					}
				}
			})
		}
	})
}

func TestRacesShowThroughPTX(t *testing.T) { racesShow(t, throughPTX(t, sim.Options{Devices: 1})) }

func TestMissingBarrierThroughPTX(t *testing.T) { missingBarrier(t, throughPTX(t, sim.Options{})) }

func TestPrintfThroughPTX(t *testing.T) { prints(t, throughPTX(t, sim.Options{Devices: 1})) }

// TestUnknownPTXNamesTheLine is about what is refused.
func TestUnknownPTXNamesTheLine(t *testing.T) {
	d := newDriver(t, sim.Options{Devices: 1, CUDA: "ptx", PTX: func(*driver.Source, string) (*driver.Compiled, error) {
		return &driver.Compiled{Image: []byte(".version 8.7\n.target sm_90\n.address_size 64\n.file 1 \"/work/a.cu\"\n.entry k() {\n.reg .b32 %r<9>;\n.loc 1 12 3\nunheard.u32 %r1, %r2;\n}")}, nil
	}})
	_, err := d.Compile(0, &driver.Source{Name: "a.cu"})
	if err == nil || !strings.Contains(err.Error(), "a.cu(12): error: simulated devices do not know the PTX instruction unheard.u32") {
		t.Error(err)
	}
}

// TestKernelsAllocate is about the memory that kernels allocate: other kernels find it, it is
// enough again once it is freed, and what is too much is nil. How much of the heap's 8 MiB can be
// had in pieces is not defined, nor is what comes of memory that is freed twice.
func TestKernelsAllocateThroughPTX(t *testing.T) {
	onBoth(t, throughPTX(t, sim.Options{Devices: 1}), func(t *testing.T, b *box) {
		t.Run("other kernels find it", func(t *testing.T) {
			b.t = t
			grid := uint32(8)
			if simulated(b) {
				grid = 16 // 4096 times 1,600 bytes are most of the heap
			}
			out := upload(b, make([]int64, 4096))
			take := b.kernel(`__global__ void take(int **p, int *none) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] = (int *)malloc(1600);
    if (!p[i]) { atomicAdd(none, 1); return; }
    for (int k = 0; k < 400; k++) p[i][k] = i + k;
}`)
			give := b.kernel(`__global__ void give(int **p, int *none) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 400; k++) if (p[i] && p[i][k] != i + k) atomicAdd(none + 1, 1);
    free(p[i]);
    if (i == 0) { free(nullptr); if (malloc(9 << 20)) atomicAdd(none + 2, 1); }
}`)
			none := upload(b, make([]int32, 3))
			for range 4 {
				b.ok(b.launch(take, dim(grid), dim(256), 0, out, none))
				b.ok(b.launch(give, dim(grid), dim(256), 0, out, none))
				b.ok(b.sync())
			}
			if got := download[int32](b, none, 3); !slices.Equal(got, make([]int32, 3)) {
				t.Errorf("%d are nil, %d have other contents; %d are too large", got[0], got[1], got[2])
			}
		})
		t.Run("at most", func(t *testing.T) {
			b.t = t
			for _, size := range []int{1 << 20, 100000, 4000, 1600, 1000, 80, 16} {
				k := b.kernel(`__global__ void most(int *n, char **last, int size) {
    *n = 0;
    while (char *p = (char *)malloc(size)) { *(char **)p = *last; *last = p; ++*n; }
    while (char *p = *last) { *last = *(char **)p; free(p); }
}`)
				n := upload(b, make([]int32, 1))
				b.ok(b.launch(k, dim(1), dim(1), 0, n, upload(b, make([]int64, 1)), size))
				b.ok(b.sync())
				got := int(download[int32](b, n, 1)[0])
				t.Logf("%d times %d bytes", got, size)
				if got == 0 || got*size > 8<<20 || simulated(b) && size == 1<<20 && got != 7 {
					t.Errorf("%d times %d bytes of 8 MiB", got, size)
				}
			}
		})
		t.Run("freed twice", func(t *testing.T) {
			b.t = t
			k := b.kernel("__global__ void twice(int *p) { int *q = (int *)malloc(4); *p = *q; free(q); free(q); }")
			b.ok(b.launch(k, dim(1), dim(1), 0, upload(b, make([]int32, 1))))
			err := b.sync()
			t.Log(err)
			if simulated(b) && !errors.Is(err, driver.ErrIllegalAddress) {
				t.Error(err)
			}
		})
	})
}

// ptxKernel is kernel k of PTX, given as the lines of its body.
func ptxKernel(b *box, body string) driver.Function {
	b.t.Helper()
	out, err := b.d.Compile(0, &driver.Source{Name: "k.ptx", Code: body})
	b.ok(err)
	m, err := b.d.ModuleLoad(b.c, out.Image)
	b.ok(err)
	k, err := b.d.ModuleFunction(b.c, m, "k")
	b.ok(err)
	return k
}

// bodies are options for devices whose sources are the bodies of kernels in PTX. Before a body
// stand the address of the thread's number of 32 bits, %at, and the thread, %t.
func bodies() sim.Options {
	return sim.Options{Devices: 1, CUDA: "ptx", PTX: func(s *driver.Source, _ string) (*driver.Compiled, error) {
		return &driver.Compiled{Image: []byte(".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 data) {\n" +
			".reg .b32 %r<20>;\n.reg .b32 %t;\n.reg .b64 %d<20>;\n.reg .b64 %at;\n.reg .pred %p<9>;\n.shared .align 16 .b8 bar[512];\n" +
			"ld.param.u64 %d0, [data];\nmov.u32 %t, %tid.x;\nmad.wide.u32 %at, %t, 4, %d0;\n" + s.Code + "\nret;\n}\n")}, nil
	}}
}

// TestNumberedBarriers has two warps that fill what two others wait for, and votes of some warps.
func TestNumberedBarriers(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       func(i int) int32
	}{
		{"producers arrive", `
setp.lt.u32 %p0, %t, 64;
@%p0 bra PRODUCE;
bar.sync 1, 128;
ld.global.u32 %r0, [%at+-256];
add.u32 %r0, %r0, 1000;
st.global.u32 [%at], %r0;
bra END;
PRODUCE:
add.u32 %r1, %t, 5;
st.global.u32 [%at], %r1;
bar.arrive 1, 128;
END:`, func(i int) int32 {
			if i < 64 {
				return int32(i) + 5
			}
			return int32(i) - 64 + 5 + 1000
		}},
		{"pairs of warps vote", `
shr.u32 %r0, %t, 6;
add.u32 %r0, %r0, 2;
and.b32 %r1, %t, 3;
setp.eq.u32 %p0, %r1, 0;
setp.lt.u32 %p1, %t, 70;
bar.red.popc.u32 %r2, %r0, 64, %p0;
bar.red.and.pred %p2, %r0, 64, !%p1;
barrier.cta.red.or.pred %p3, %r0, 64, %p1;
selp.u32 %r3, 100, 0, %p2;
selp.u32 %r4, 1000, 0, %p3;
add.u32 %r2, %r2, %r3;
add.u32 %r2, %r2, %r4;
st.global.u32 [%at], %r2;`, func(i int) int32 { return 1016 }},
		{"a warp leaves", `
setp.lt.u32 %p0, %t, 32;
@%p0 bra END;
barrier.sync 3;
mov.u32 %r0, 7;
st.global.u32 [%at], %r0;
END:`, func(i int) int32 {
			if i < 32 {
				return 0
			}
			return 7
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			onBoth(t, bodies(), func(t *testing.T, b *box) {
				k := ptxKernel(b, c.body)
				data := upload(b, make([]int32, 128))
				b.ok(b.launch(k, dim(1), dim(128), 0, data))
				b.ok(b.sync())
				for i, v := range download[int32](b, data, 128) {
					if v != c.want(i) {
						t.Fatalf("thread %d: %d, want %d", i, v, c.want(i))
					}
				}
			})
		})
	}
}

// TestBarriersInMemory counts arrivals and bytes.
func TestBarriersInMemory(t *testing.T) {
	onBoth(t, bodies(), func(t *testing.T, b *box) {
		k := ptxKernel(b, `
mov.u32 %r1, 0;
setp.eq.u32 %p0, %t, 0;
@%p0 mbarrier.init.shared::cta.b64 [bar], 64;
bar.sync 0;
setp.ne.u32 %p1, %t, 63;
@%p1 mbarrier.arrive.shared.b64 %d1, [bar];
@%p1 bra WAIT;
mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %d1, [bar], 16;
mbarrier.test_wait.shared.b64 %p2, [bar], %d1;
selp.u32 %r1, 1, 0, %p2;
cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [bar+16], [%d0], 16, [bar];
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;
@!%p3 bra WAIT;
ld.shared.u32 %r2, [bar+28];
add.u32 %r2, %r2, %r1;
mbarrier.arrive_drop.shared.b64 %d2, [bar];
mbarrier.pending_count.b64 %r3, %d2;
setp.gt.u32 %p4, %r3, 64;
@%p4 add.u32 %r2, %r2, 100;
bar.sync 0;
st.global.u32 [%at], %r2;`)
		data := upload(b, []int32{1, 2, 3, 44, 63: 0})
		b.ok(b.launch(k, dim(1), dim(64), 0, data))
		b.ok(b.sync())
		for i, v := range download[int32](b, data, 64) {
			if v != 44 {
				t.Fatalf("thread %d: %d, want 44", i, v)
			}
		}
	})
}

// TestPartsOfOperands is about what instructions take of words, and leave of them.
func TestPartsOfOperands(t *testing.T) {
	onBoth(t, bodies(), func(t *testing.T, b *box) {
		k := ptxKernel(b, `
mov.u32 %r1, 0x04030201;
mov.u32 %r2, 0xf0e0d0c0;
mov.u32 %r3, 0x99887766;
vadd4.u32.u32.u32 %r4.b20, %r1.b0123, %r2.b4567, %r3;
st.global.u32 [%d0], %r4;
vsub2.s32.s32.s32 %r4.h1, %r1.h32, %r2.h01, %r3;
st.global.u32 [%d0+4], %r4;
vadd.s32.s32.u32.sat %r4.b2, %r1.b3, %r2.h1, %r3;
st.global.u32 [%d0+8], %r4;
vshl.u32.u32.u32.wrap.add %r4, %r1.h0, 36, %r3;
st.global.u32 [%d0+12], %r4;
vset.s32.u32.lt %r4, %r2.b3, %r1.b0;
st.global.u32 [%d0+16], %r4;
mov.b32 %r6, 0x04030000;
setp.eq.f16x2 %p1|%p2, %r1, %r6;
selp.u32 %r4, 1, 0, %p1;
selp.u32 %r5, 2, 0, %p2;
add.u32 %r4, %r4, %r5;
st.global.u32 [%d0+20], %r4;
st.shared.u32 [bar], %r3;
cp.async.ca.shared.global [bar+4], [%d0], 4, 2;
setp.eq.u32 %p1, %r1, %r1;
cp.async.ca.shared.global [bar], [%d0], 4, %p1;
cp.async.wait_all;
ld.shared.v2.u32 {%r4, %r5}, [bar];
st.global.v2.u32 [%d0+24], {%r4, %r5};`)
		data := upload(b, make([]uint32, 8))
		b.ok(b.launch(k, dim(1), dim(1), 0, data))
		b.ok(b.sync())
		want := []uint32{
			0x99d277f4, // bytes 2 and 0; the others stay
			0xeedf7766, // -0xf20 - 0x201 in the upper half
			0x997f7766, // the most that 8 bits have
			0x99887766 + 0x2010,
			1, // -16 < 1
			2, // the upper halves are the same
			0, // the source is ignored
			0x77f4,
		}
		if got := download[uint32](b, data, 8); !slices.Equal(got, want) {
			t.Errorf("%#x, want %#x", got, want)
		}
	})
}

// Where NVRTC cannot be used, the host's compiler is, unless NVRTC is asked for.
func TestWithoutNVRTC(t *testing.T) {
	for _, c := range []struct {
		way     string
		code    driver.Code // of what NVRTC says
		without bool
		fails   driver.Code
	}{
		{"auto", driver.ErrSharedObjectInit, true, 0},
		{"", driver.ErrSharedObjectInit, true, 0},
		{"auto", driver.ErrInvalidSource, false, driver.ErrInvalidSource},
		{"ptx", driver.ErrSharedObjectInit, false, driver.ErrSharedObjectInit},
		{"c++", driver.ErrInvalidSource, false, 0},
	} {
		d := newDriver(t, sim.Options{Devices: 1, CUDA: c.way, PTX: func(*driver.Source, string) (*driver.Compiled, error) {
			return nil, &driver.Error{Code: c.code, Call: "nvrtcCreateProgram", Detail: "none here"}
		}})
		_, err := d.Compile(0, &driver.Source{Name: "k.cu", Code: "__global__ void k() {}"})
		if errors.Is(err, driver.ErrFileNotFound) {
			t.Skip(err)
		}
		if (err != nil) != (c.fails != 0) || err != nil && !errors.Is(err, c.fails) || d.WithoutNVRTC() != c.without {
			t.Errorf("%+v: %v, %v", c, err, d.WithoutNVRTC())
		}
	}
}
