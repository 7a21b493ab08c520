package sim_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
	"gocuda/cudaapi/sim/corpus"
)

// counted runs a kernel k(float *a, float *b, int n), and gives what was counted. SharedBytes is for those that ask.
func counted(t *testing.T, code string, grid, block driver.Dim3, n int32) *driver.Counts {
	t.Helper()
	b := newBox(t, throughPTX(t, sim.Options{Devices: 1}))
	k := b.kernel(code)
	const words = 1 << 16
	x, y := upload(b, make([]float32, words)), upload(b, make([]float32, words))
	params := binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, uint64(x)), uint64(y))
	params = binary.NativeEndian.AppendUint32(params, uint32(n))
	var list []*driver.Counts
	b.d.(driver.Counter).Count(func(c *driver.Counts) { list = append(list, c) })
	b.ok(b.d.Launch(b.c, &driver.Launch{Function: k, Grid: grid, Block: block, Name: "k", Params: params}))
	b.ok(b.sync())
	b.d.(driver.Counter).Count(nil)
	b.ok(b.d.Launch(b.c, &driver.Launch{Function: k, Grid: grid, Block: block, Name: "k", Params: params}))
	b.ok(b.sync())
	if len(list) != 1 {
		t.Fatalf("%d launches were counted, want 1", len(list))
	}
	if list[0].Missing != nil {
		t.Fatal(list[0].Missing)
	}
	return list[0]
}

// What warps do is counted as a GPU's hardware counts it.
func TestCount(t *testing.T) {
	// Of line 3, where the kernel does what is counted: requests, and what of them.
	at := func(c *driver.Counts, line int) (l driver.LineCounts) {
		for _, x := range c.Lines {
			if x.Line == line {
				l = x
			}
		}
		return l
	}
	kernel := func(lines ...string) string {
		return "extern \"C\" __global__ void k(float *a, float *b, int n) {\n\tint t = threadIdx.x; int i = blockIdx.x * blockDim.x + t;\n\t" + strings.Join(lines, "\n\t") + "\n}\n"
	}
	for _, c := range []struct {
		name        string
		code        string
		grid, block driver.Dim3
		n           int32
		line        int
		of          func(l driver.LineCounts) []uint64
		want        []uint64
	}{
		{"neighbours", kernel("b[i] = a[i] + 1;"), dim(4), dim(64), 1, 3,
			func(l driver.LineCounts) []uint64 {
				g := l.Global
				return []uint64{g.Loads.Requests, g.Loads.Threads, g.Loads.Bytes, g.Loads.Sectors, g.Stores.Requests, g.Stores.Sectors, l.Single}
			}, []uint64{8, 256, 1024, 32, 8, 32, 256}},
		{"part of a warp", kernel("if (i < n) b[i] = a[i];"), dim(2), dim(64), 70, 3,
			func(l driver.LineCounts) []uint64 {
				g := l.Global
				return []uint64{g.Loads.Requests, g.Loads.Threads, g.Loads.Sectors, l.Branches, l.Parted}
			}, []uint64{3, 70, 9, 4, 1}},
		{"off by one", kernel("b[i] = a[i + 1];"), dim(1), dim(32), 0, 3,
			func(l driver.LineCounts) []uint64 { return []uint64{l.Global.Loads.Sectors, l.Global.Stores.Sectors} }, []uint64{5, 4}},
		{"every second", kernel("b[i] = a[i * 2];"), dim(1), dim(32), 0, 3,
			func(l driver.LineCounts) []uint64 { return []uint64{l.Global.Loads.Sectors} }, []uint64{8}},
		{"a column", kernel("b[i] = a[i * n];"), dim(1), dim(32), 32, 3,
			func(l driver.LineCounts) []uint64 { return []uint64{l.Global.Loads.Sectors} }, []uint64{32}},
		{"the same", kernel("b[i] = a[n];"), dim(1), dim(32), 5, 3,
			func(l driver.LineCounts) []uint64 {
				return []uint64{l.Global.Loads.Requests, l.Global.Loads.Sectors, l.Global.Loads.Bytes}
			}, []uint64{1, 1, 128}},
		{"vectors", kernel("((float4 *)b)[i] = ((float4 *)a)[i];"), dim(1), dim(64), 0, 3,
			func(l driver.LineCounts) []uint64 {
				return []uint64{l.Global.Loads.Requests, l.Global.Loads.Sectors, l.Global.Loads.Bytes, l.Global.Stores.Sectors}
			}, []uint64{2, 32, 1024, 32}},
		{"a loop whose turns differ", kernel("float s = 0;", "for (int j = 0; j < t % n; j++)", "\ts += a[j * 8];", "b[i] = s;"), dim(1), dim(32), 4, 5,
			func(l driver.LineCounts) []uint64 {
				return []uint64{l.Global.Loads.Requests, l.Global.Loads.Threads, l.Global.Loads.Sectors}
			}, []uint64{3, 48, 3}},
		{"a loop in a loop", kernel("for (int k = 0; k < 5; k++)", "#pragma unroll 1", "\tfor (int j = 0; j < (t + k) % n; j++)", "\t\tb[i + 32 * j] += a[j * 8];"), dim(1), dim(32), 4, 6,
			func(l driver.LineCounts) []uint64 {
				g := l.Global
				return []uint64{g.Loads.Requests, g.Loads.Threads, g.Stores.Requests}
			}, []uint64{30, 480, 15}},
		{"branches that part", kernel("if (t % 2) b[i] = 1; else", "b[i] = a[i];"), dim(1), dim(32), 4, 3,
			func(l driver.LineCounts) []uint64 {
				return []uint64{l.Global.Stores.Requests + l.Branches*10 + l.Parted*100}
			}, nil},
		{"banks: neighbours", kernel("__shared__ float s[2048];", "s[t] = a[i];", "__syncthreads();", "b[i] = s[t ^ 1];"), dim(1), dim(64), 4, 4,
			func(l driver.LineCounts) []uint64 {
				s := l.Shared.Stores
				return []uint64{s.Requests, s.Wavefronts, s.Ideal}
			}, []uint64{2, 2, 2}},
		{"banks: every n-th", kernel("__shared__ float s[2048];", "s[t * n] = a[i];", "__syncthreads();", "b[i] = s[t];"), dim(1), dim(64), 4, 4,
			func(l driver.LineCounts) []uint64 {
				s := l.Shared.Stores
				return []uint64{s.Requests, s.Wavefronts, s.Ideal}
			}, []uint64{2, 8, 2}},
		{"banks: a column", kernel("__shared__ float s[32][32];", "s[t % 32][t / 32] = a[i];", "__syncthreads();", "b[i] = s[t / 32][t % 32];"), dim(1), dim(64), 4, 4,
			func(l driver.LineCounts) []uint64 {
				s := l.Shared.Stores
				return []uint64{s.Requests, s.Wavefronts, s.Ideal}
			}, []uint64{2, 64, 2}},
		{"banks: a column of rows of 33", kernel("__shared__ float s[32][33];", "s[t % 32][t / 32] = a[i];", "__syncthreads();", "b[i] = s[t / 32][t % 32];"), dim(1), dim(64), 4, 4,
			func(l driver.LineCounts) []uint64 {
				s := l.Shared.Stores
				return []uint64{s.Requests, s.Wavefronts, s.Ideal}
			}, []uint64{2, 2, 2}},
		{"banks: one word for all", kernel("__shared__ float s[32];", "s[t % 32] = a[i];", "__syncthreads();", "b[i] = s[n];"), dim(1), dim(64), 4, 6,
			func(l driver.LineCounts) []uint64 {
				s := l.Shared.Loads
				return []uint64{s.Requests, s.Wavefronts, s.Ideal}
			}, []uint64{2, 2, 2}},
		{"banks: vectors", kernel("__shared__ float4 s[64];", "s[t] = ((float4 *)a)[i];", "__syncthreads();", "((float4 *)b)[i] = s[t ^ 1];"), dim(1), dim(64), 4, 4,
			func(l driver.LineCounts) []uint64 {
				s := l.Shared.Stores
				return []uint64{s.Requests, s.Wavefronts, s.Ideal}
			}, []uint64{2, 8, 8}},
		{"banks: vectors that lanes share", kernel("__shared__ float4 s[64];", "s[t] = ((float4 *)a)[i];", "__syncthreads();", "((float4 *)b)[i] = s[t / 2];"), dim(1), dim(64), 4, 6,
			func(l driver.LineCounts) []uint64 {
				s := l.Shared.Loads
				return []uint64{s.Requests, s.Wavefronts, s.Ideal}
			}, []uint64{2, 4, 4}},
		{"banks: eight bytes", kernel("__shared__ float2 s[256];", "s[t] = ((float2 *)a)[i];", "__syncthreads();", "((float2 *)b)[i] = s[n * t];"), dim(1), dim(64), 2, 6,
			func(l driver.LineCounts) []uint64 {
				s := l.Shared.Loads
				return []uint64{s.Requests, s.Wavefronts, s.Ideal}
			}, []uint64{2, 8, 4}},
		{"banks: eight bytes of every second lane", kernel("__shared__ float2 s[256];", "s[t] = ((float2 *)a)[i];", "__syncthreads();", "if (t % 2 == 0) ((float2 *)b)[i] = s[n * t];"), dim(1), dim(64), 2, 6,
			func(l driver.LineCounts) []uint64 {
				s := l.Shared.Loads
				return []uint64{s.Requests, s.Wavefronts, s.Ideal}
			}, []uint64{2, 8, 2}},
		{"atomics that meet", kernel("atomicAdd(&b[t % n], 1.0f);"), dim(1), dim(64), 4, 3,
			func(l driver.LineCounts) []uint64 {
				a := l.Global.Atomics
				return []uint64{a.Requests, a.Threads, a.Sectors, a.Met, a.Most}
			}, []uint64{2, 64, 16, 56, 8}},
		{"lanes that wait for each other", kernel("float s = a[i];", "for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);", "if (t % 32 == 0) b[i / 32] = s;"), dim(2), dim(64), 4, 5,
			func(l driver.LineCounts) []uint64 {
				g := l.Global.Stores
				return []uint64{g.Requests, g.Threads, g.Sectors}
			}, []uint64{4, 4, 4}},
		{"a function", "__device__ __noinline__ float f(float *a, int n) { float s = 0;\n#pragma unroll 1\nfor (int j = 0; j < n; j++)\ns += a[j];\nreturn s; }\n" +
			kernel("b[i] = f(a, t % 3) + f(a + 32, 2);"), dim(1), dim(32), 4, 4,
			func(l driver.LineCounts) []uint64 {
				g := l.Global.Loads
				return []uint64{g.Requests, g.Threads}
			}, []uint64{4, 31 + 64}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := counted(t, c.code, c.grid, c.block, c.n)
			if c.want == nil {
				for _, l := range got.Lines {
					t.Logf("%+v", l)
				}
				return
			}
			if is := c.of(at(got, c.line)); fmt.Sprint(is) != fmt.Sprint(c.want) {
				t.Errorf("counted %v, want %v", is, c.want)
				for _, l := range got.Lines {
					t.Logf("%+v", l)
				}
			}
		})
	}
}

// The corpus' kernels give the right results while they are counted. With GOCUDA_COUNTS a file gets the
// counts of each launch, to be compared with those of a profiler of GPUs.
func TestCountsOfCorpus(t *testing.T) {
	d := newDriver(t, throughPTX(t, sim.Options{Devices: 1}))
	type row struct {
		Kernel      string
		Grid, Block driver.Dim3
		Sum         driver.LineCounts
		Read        uint64
		Written     uint64
		Missing     string
	}
	var list []row
	d.Count(func(c *driver.Counts) {
		r := row{Kernel: c.Kernel, Grid: c.Grid, Block: c.Block, Read: c.Read, Written: c.Written}
		if c.Missing != nil {
			r.Missing = c.Missing.Error()
			t.Errorf("%s: %v", c.Kernel, c.Missing)
		}
		for _, l := range c.Lines {
			r.Sum.Add(l)
		}
		list = append(list, r)
	})
	file := os.Getenv("GOCUDA_COUNTS")
	least, some := 30, []string{"reduce", "tiles", "stencils"}
	if file != "" { // minutes of compilation
		least, some = 400, nil
	}
	if corpus.Once(t, d, some...); len(list) < least {
		t.Errorf("%d launches were counted", len(list))
	}
	if file != "" {
		text, err := json.Marshal(list)
		if err == nil {
			err = os.WriteFile(file, text, 0o666)
		}
		if err != nil {
			t.Error(err)
		}
	}
}
