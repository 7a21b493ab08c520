package sim_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
	"gocuda/cudaapi/sim/corpus"
)

// The labelled suite: testdata/races/*.cu. A case begins with
//
//	== name grid block [shared bytes] [cluster]
//
// and stands for two kernels, or one: lines that begin with //+ are the clean kernel's alone,
// lines with //- the racy one's. Comments /*1*/ and /*2*/ end the two lines of the race, or
// /*12*/ one line that races with itself; "== name clean ..." has no racy kernel and "== name note ..."
// has one of which a note is reported, "== name barrier|lane|mask ..." another mistake of that kind.

type raceCase struct {
	name, kind, file string
	grid, block      driver.Dim3
	shared           uint32
	cluster          uint32
	lines            []string
}

func raceCases(t testing.TB, file string) (list []*raceCase) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var c *raceCase
	for _, l := range strings.Split(string(text), "\n") {
		if head, ok := strings.CutPrefix(l, "== "); ok {
			f := strings.Fields(head)
			c = &raceCase{name: f[0], kind: "race", file: filepath.Base(file)}
			list = append(list, c)
			f = f[1:]
			if f[0][0] > '9' {
				c.kind, f = f[0], f[1:]
			}
			for i, to := range []*driver.Dim3{&c.grid, &c.block} {
				*to = driver.Dim3{X: 1, Y: 1, Z: 1}
				fmt.Sscanf(strings.ReplaceAll(f[i], "x", " "), "%d %d %d", &to.X, &to.Y, &to.Z) //nolint:errcheck // fewer are fine
			}
			if len(f) > 2 {
				fmt.Sscan(f[2], &c.shared) //nolint:errcheck // as above
			}
			if len(f) > 3 {
				fmt.Sscan(f[3], &c.cluster) //nolint:errcheck // as above
			}
			continue
		}
		if c != nil {
			c.lines = append(c.lines, l)
		}
	}
	return list
}

// source is a case's clean or racy kernel, and the lines of the race, counted from its first.
func (c *raceCase) source(racy bool, name string) (text []string, first, second int) {
	for k, l := range c.lines {
		for mark, mine := range map[string]bool{"//+": !racy, "//-": racy} {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(l), mark); ok {
				if l = ""; mine {
					l = rest
				}
			}
		}
		if strings.Contains(l, "/*1") {
			first = k + 1
		}
		if strings.Contains(l, "/*2*/") || strings.Contains(l, "/*12*/") {
			second = k + 1
		}
		head := name + "(int *a, int *b, int *c, int n)"
		if strings.HasSuffix(c.file, ".go.txt") {
			head = "func " + name + "(a, b, c []int32, n int)"
		}
		l = strings.ReplaceAll(l, "KERNEL", head)
		text = append(text, strings.ReplaceAll(l, "NAME", name))
	}
	return text, first, second
}

const raceHead = "#include <cooperative_groups.h>\n#include <cuda_pipeline.h>\n#include <cuda/atomic>\n#include <cuda/barrier>\nnamespace cg = cooperative_groups;\n"

type racyKernel struct {
	*raceCase
	racy        bool
	symbol      string
	at          int // lines before it
	from, until int
	one, two    int
}

// verdict compares what was found with what is right.
func (k *racyKernel) verdict(t *testing.T, found []driver.Race) {
	t.Helper()
	if !k.racy {
		for _, r := range found {
			t.Errorf("lines %d and %d: %v", r.First.Line-k.at, r.Second.Line-k.at, r.String())
		}
		return
	}
	named := slices.ContainsFunc(found, func(r driver.Race) bool {
		x, y := r.First.Line-k.at, r.Second.Line-k.at
		kind := r.Kind
		if r.Note {
			kind = "note"
		}
		if k.one == 0 && k.two == 0 {
			return kind == k.kind
		}
		one, two := cmp.Or(k.one, k.two), cmp.Or(k.two, k.one)
		return kind == k.kind && (x == one && y == two || y == one && x == two || x == one && (kind == "lane" || kind == "mask"))
	})
	if !named {
		t.Errorf("not named: a %s of lines %d and %d", k.kind, k.one, k.two)
		for _, r := range found {
			t.Errorf("  lines %d and %d: %v", r.First.Line-k.at, r.Second.Line-k.at, r.String())
		}
	}
}

func TestRaces(t *testing.T) {
	files, _ := filepath.Glob("testdata/races/*.cu")
	counts := map[bool]int{}
	if testing.Short() {
		files = files[:2] // it is C++ that is compiled
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			cases := raceCases(t, file)
			var kernels []*racyKernel
			lines := strings.Split(strings.TrimSuffix(raceHead, "\n"), "\n")
			for i, c := range cases {
				for _, r := range []bool{false, true} {
					if r && c.kind == "clean" {
						continue
					}
					k := &racyKernel{raceCase: c, racy: r, symbol: fmt.Sprintf("k%d_%v", i, r), at: len(lines) + 1}
					text, one, two := c.source(r, k.symbol)
					k.one, k.two = one, two
					lines = append(append(append(lines, "namespace in_"+k.symbol+" {"), text...), "}")
					kernels = append(kernels, k)
				}
			}
			var mu sync.Mutex
			var found []driver.Race
			b := newBox(t, throughPTX(t, sim.Options{Devices: 1, Races: true, OnRaces: func(list []driver.Race) {
				mu.Lock()
				found = append(found, list...)
				mu.Unlock()
			}}))
			out, err := b.d.Compile(0, &driver.Source{Name: "test.cu", Code: strings.Join(lines, "\n"), Options: []string{"-std=c++17"}})
			if err != nil {
				t.Fatal(err)
			}
			m, err := b.d.ModuleLoad(b.c, out.Image)
			b.ok(err)
			symbols, err := b.d.ModuleFunctions(b.c, m)
			b.ok(err)
			const words = 1 << 16
			fill := make([]int32, words)
			for i := range fill {
				fill[i] = int32(i % 251)
			}
			bufs := []driver.Ptr{upload(b, fill), upload(b, fill), upload(b, fill)}
			for _, k := range kernels {
				label := map[bool]string{true: "racy", false: "clean"}[k.racy]
				t.Run(k.name+"/"+label, func(t *testing.T) {
					i := slices.IndexFunc(symbols, func(s string) bool {
						return strings.Contains(s, fmt.Sprintf("%d%sEPi", len(k.symbol), k.symbol)) || strings.Contains(s, fmt.Sprintf("%d%sPi", len(k.symbol), k.symbol))
					})
					if i < 0 {
						t.Fatalf("no kernel %s among %v", k.symbol, symbols)
					}
					f, err := b.d.ModuleFunction(b.c, m, symbols[i])
					b.ok(err)
					for _, p := range bufs {
						b.ok(b.d.Memcpy(b.c, p, ptr(fill), 4*words))
					}
					l := &driver.Launch{Function: f, Grid: k.grid, Block: k.block, SharedBytes: k.shared, Name: k.name}
					for _, p := range bufs {
						l.Params = binary.NativeEndian.AppendUint64(l.Params, uint64(p))
					}
					l.Params = binary.NativeEndian.AppendUint32(l.Params, 256)
					counts[k.racy]++
					k.judge(t, b, l, &found)
				})
			}
		})
	}
	t.Logf("%d racy kernels, %d clean ones", counts[true], counts[false])
}

// judge launches the kernel and compares what is found with its label.
func (k *racyKernel) judge(t *testing.T, b *box, l *driver.Launch, found *[]driver.Race) {
	t.Helper()
	*found = nil
	if k.cluster > 0 {
		l.Attributes = &driver.LaunchAttributes{Cluster: driver.Dim3{X: k.cluster, Y: 1, Z: 1}}
	}
	if err := b.d.Launch(b.c, l); err != nil {
		t.Fatal(err)
	}
	if err := b.sync(); err != nil && !(k.racy && k.kind != "race") {
		t.Fatal(err)
	}
	k.verdict(t, *found)
}

// Lines of programs of the corpus that do race, by their kernels. records/hazard.md says why.
var racyInCorpus = map[string][][2]int{
	"bfs_level":   {{7, 9}, {9, 9}},
	"components":  {{23, 23}},
	"relax_edges": {{71, 73}},
	"peel":        {{78, 80}},
	"group_sums":  {{42, 42}},
	// Lanes that scatter to one place write the same there.
	"scatter_1": {{26, 26}}, "scatter_2": {{27, 27}}, "scatter_4": {{28, 28}}, "scatter_8": {{29, 29}}, "scatter_16": {{30, 30}},
	"scatter_shared_1": {{26, 26}}, "scatter_shared_2": {{27, 27}}, "scatter_shared_4": {{28, 28}}, "scatter_shared_8": {{29, 29}}, "scatter_shared_16": {{30, 30}},
}

// The other programs of the corpus have no races, and their results are the same.
func TestCorpusHasNoRaces(t *testing.T) {
	corpus.Run(t, newDriver(t, throughPTX(t, sim.Options{Devices: 1, Races: true, OnRaces: func(list []driver.Race) {
		for _, r := range list {
			lines := [2]int{min(r.First.Line, r.Second.Line), max(r.First.Line, r.Second.Line)}
			if !r.Note && !slices.Contains(racyInCorpus[r.Kernel], lines) {
				t.Error(r.String())
			}
		}
	}})))
}

// A launch that is observed is looked at, whatever the options are, and its races are told to who
// asked for them. Variables are those of the module, not another's.
func TestRacesOfAnObservedLaunch(t *testing.T) {
	b := newBox(t, throughPTX(t, sim.Options{Devices: 1}))
	k := b.kernel("__device__ int total = 7;\n__global__ void k(int *p) {\n\tp[threadIdx.x] = total;\n\ttotal += 1;\n}")
	p := upload(b, make([]int32, 64))
	var found []driver.Race
	l := &driver.Launch{Function: k, Grid: dim(1), Block: dim(64), Name: "k", Observe: func([]driver.Access) {}, Races: func(list []driver.Race) { found = append(found, list...) },
		Params: binary.NativeEndian.AppendUint64(nil, uint64(p))}
	b.ok(b.d.Launch(b.c, l))
	b.ok(b.sync())
	if v := download[int32](b, p, 64); v[0] < 7 || v[0] > 70 {
		t.Errorf("the variable was %d", v[0])
	}
	if !slices.ContainsFunc(found, func(r driver.Race) bool {
		return r.First.Line == 4 && r.Second.Line == 4 && r.Source == "test.cu" && strings.Contains(r.Where, "total") && strings.Contains(r.Fix, "__syncthreads")
	}) {
		t.Error(found)
	}
	l.Observe, l.Races, found = nil, nil, nil
	b.ok(b.d.Launch(b.c, l))
	if b.ok(b.sync()); found != nil {
		t.Error(found)
	}
}

// Threads that are told to let others run do so before they say what they access, and never between
// that and the access.
func TestRacesWhileThreadsTakeTurns(t *testing.T) {
	var found []driver.Race
	b := newBox(t, throughPTX(t, sim.Options{Devices: 1, Races: true, OnRaces: func(list []driver.Race) { found = append(found, list...) }}))
	k := b.kernel(`#include <cuda/barrier>
		typedef cuda::barrier<cuda::thread_scope_block> Barrier;
		__global__ void k(int *out, int *in, int rounds) {
			__shared__ Barrier here, gone;
			__shared__ int hand[64];
			if (threadIdx.x == 0) { init(&here, 64); init(&gone, 64); }
			__syncthreads();
			int v = threadIdx.x;
			for (int i = 0; i < rounds; i++) {
				hand[threadIdx.x] = v + in[(i * 64 + threadIdx.x) % (1 << 16)];
				here.arrive_and_wait();
				v = hand[(threadIdx.x + 1) % 64];
				out[(i * 640 + threadIdx.x) % (1 << 16)] = v;
				gone.arrive_and_wait();
			}
		}`)
	b.ok(b.launch(k, dim(1), dim(64), 0, upload(b, make([]int32, 1<<16)), upload(b, make([]int32, 1<<16)), 400))
	if b.ok(b.sync()); found != nil {
		t.Error(found)
	}
}
