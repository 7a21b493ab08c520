package cuda_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
)

var updateMistakes = flag.Bool("update", false, "write what mistakes are told as")

const mistakesSource = `
extern "C" __global__ void add(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }
extern "C" __global__ void __launch_bounds__(128) bounded(float *x) { x[threadIdx.x] = 1; }
extern "C" __global__ void dynamic(float *x) { extern __shared__ float s[]; s[threadIdx.x] = 1; x[0] = s[0]; }
__device__ int counter;
`

// Mistakes are told in the same words by simulated devices and by GPUs: testdata/mistakes.txt
// has what is said of each, and holds for both.
func TestMistakesAreToldInTheSameWords(t *testing.T) {
	list := devices(t, 2)
	d, e := list[0], list[1]
	m := compile(t, mistakesSource, cuda.SourceName("mistakes.cu"))
	defer m.Unload()
	add, bounded, dynamic := kernel(t, m, "add"), kernel(t, m, "bounded"), kernel(t, m, "dynamic")
	s := must[*cuda.Stream](t)(d.NewStream())
	other := must[*cuda.Stream](t)(e.NewStream())
	x := must[*cuda.Buffer](t)(d.Alloc(64, cuda.Float32))
	far := must[*cuda.Buffer](t)(e.Alloc(64, cuda.Float32))
	freed := must[*cuda.Buffer](t)(d.Alloc(64, cuda.Float32))
	ok(t, freed.Free())
	gone := must[*cuda.Stream](t)(d.NewStream())
	ok(t, gone.Destroy())
	event := must[*cuda.Event](t)(d.NewEvent())
	timeless := must[*cuda.Event](t)(d.NewEvent(cuda.DisableTiming))
	ok(t, timeless.Record(s))
	ended := must[*cuda.Event](t)(d.NewEvent())
	ok(t, ended.Destroy())
	pool := must[*cuda.Pool](t)(d.NewPool())
	ok(t, pool.Destroy())
	graph := must[*cuda.Graph](t)(s.Capture(func() error { return x.MemsetAsync(0, s) }))
	exec := must[*cuda.GraphExec](t)(graph.Instantiate())
	defer func() {
		for _, f := range []func() error{x.Free, far.Free, s.Destroy, other.Destroy, event.Destroy, timeless.Destroy, exec.Destroy, graph.Destroy} {
			ok(t, f())
		}
	}()
	second := func(_ any, err error) error { return err }
	launch := func(k *cuda.Kernel, grid cuda.GridDim, block cuda.BlockDim, s *cuda.Stream, args ...any) func() error {
		return func() error { return k.Launch(grid, block, s, args...) }
	}
	mistakes := []struct {
		name string
		make func() error
	}{
		{"a device that is not there", func() error { return second(cuda.Get(99)) }},
		{"a device before the first", func() error { return second(cuda.Get(-1)) }},
		{"more memory than there is", func() error { return second(d.Alloc(1<<45, cuda.Uint8)) }},
		{"a size below 0", func() error { return second(d.Alloc(-1, cuda.Float32)) }},
		{"a buffer freed twice", freed.Free},
		{"a freed buffer as an argument", launch(add, cuda.Grid(1), cuda.Block(32), s, freed, 1)},
		{"a freed buffer filled", func() error { return freed.Memset(0) }},
		{"no threads", launch(add, cuda.Grid(1), cuda.Block(0), s, x, 1)},
		{"no blocks", launch(add, cuda.Grid(0), cuda.Block(32), s, x, 1)},
		{"too many threads", launch(add, cuda.Grid(1), cuda.Block(2048), s, x, 1)},
		{"too many threads in z", launch(add, cuda.Grid(1), cuda.Block(1, 1, 128), s, x, 1)},
		{"too many blocks in y", launch(add, cuda.Grid(1, 70000), cuda.Block(32), s, x, 1)},
		{"too many blocks in x", launch(add, cuda.Grid(math.MaxInt32+1), cuda.Block(32), s, x, 1)},
		{"more threads than the launch bounds", launch(bounded, cuda.Grid(1), cuda.Block(256), s, x)},
		{"too much shared memory", launch(dynamic.With(cuda.SharedMemory(1<<20)), cuda.Grid(1), cuda.Block(32), s, x)},
		{"shared memory below 0", launch(dynamic.With(cuda.SharedMemory(-1)), cuda.Grid(1), cuda.Block(32), s, x)},
		{"an argument too few", launch(add, cuda.Grid(1), cuda.Block(32), s, x)},
		{"an argument too many", launch(add, cuda.Grid(1), cuda.Block(32), s, x, 1, 2)},
		{"an argument of another type", launch(add, cuda.Grid(1), cuda.Block(32), s, x, "one")},
		{"a buffer of another type", launch(add, cuda.Grid(1), cuda.Block(32), s, must[*cuda.Buffer](t)(x.As(cuda.Int32)), 1)},
		{"a number that does not fit", launch(add, cuda.Grid(1), cuda.Block(32), s, x, 1<<40)},
		{"a buffer of a device that is not reached", launch(add, cuda.Grid(1), cuda.Block(32), other, x, 1)},
		{"a stream that was destroyed", launch(add, cuda.Grid(1), cuda.Block(32), gone, x, 1)},
		{"a stream that was destroyed waited for", gone.Synchronize},
		{"a stream destroyed twice", gone.Destroy},
		{"clusters that do not divide the grid", launch(add.With(cuda.Clusters(2)), cuda.Grid(3), cuda.Block(32), s, x, 1)},
		{"clusters too large", launch(add.With(cuda.Clusters(64)), cuda.Grid(64), cuda.Block(32), s, x, 1)},
		{"a cooperative launch too large", launch(add.With(cuda.Cooperative()), cuda.Grid(1<<20), cuda.Block(1024), s, x, 1)},
		{"a kernel that is not there", func() error { return second(m.Kernel("sub")) }},
		{"a variable that is not there", func() error { return second(m.Global(d, "count", cuda.Int32)) }},
		{"a variable of another size", func() error { return second(m.Global(d, "counter", cuda.Int64)) }},
		{"an image that is none", func() error { return second(cuda.LoadModule([]byte("no image"))) }},
		{"an event that was not recorded", func() error { return second(cuda.Elapsed(event, event)) }},
		{"an event without times", func() error { return second(cuda.Elapsed(timeless, timeless)) }},
		{"an event that was destroyed", func() error { return ended.Record(s) }},
		{"an event destroyed twice", ended.Destroy},
		{"an event on a stream of another device", func() error { return event.Record(other) }},
		{"a copy of other lengths", func() error { return cuda.Memcpy(x.Slice(0, 4), far.Slice(0, 8)) }},
		{"a copy to itself", func() error { return cuda.Memcpy(x, nil) }},
		{"a slice that is too short", func() error { return x.Upload(make([]float32, 3)) }},
		{"a slice of another type", func() error { return x.Upload(make([]float64, 64)) }},
		{"peer access to itself", func() error { return d.EnablePeerAccess(d) }},
		{"peer access that is not there ended", func() error { return e.DisablePeerAccess(d) }},
		{"a pool that was destroyed", func() error { return second(pool.AllocAsync(4, cuda.Float32, s)) }},
		{"a value for a type without values", func() error { return s.WriteValue(x, 1) }},
		{"a capture within a capture", func() error {
			ok(t, s.BeginCapture())
			err := s.BeginCapture()
			g, end := s.EndCapture()
			ok(t, end)
			ok(t, g.Destroy())
			return err
		}},
		{"a stream that is captured waited for", func() error {
			ok(t, s.BeginCapture())
			err := s.Synchronize()
			if g, end := s.EndCapture(); end == nil {
				ok(t, g.Destroy())
			}
			return err
		}},
		{"the end of no capture", func() error { return second(s.EndCapture()) }},
		{"a graph on a stream of another device", func() error { return exec.Launch(gone) }},
		{"an attribute that is not there", func() error { return second(d.Attribute(driver.Attribute(9999))) }},
	}
	vary := regexp.MustCompile(`0x[0-9a-f]+|[0-9]+(\.[0-9]+)? [GMK]iB|\b[0-9]{5,}\b|0 to [0-9]+|mistakes_test\.go:[0-9]+`)
	var text strings.Builder
	for _, mistake := range mistakes {
		err := mistake.make()
		if err == nil {
			fmt.Fprintf(&text, "%s:\n\tno error\n", mistake.name)
			continue
		}
		fmt.Fprintf(&text, "%s:\n\t%s\n", mistake.name, strings.ReplaceAll(vary.ReplaceAllString(err.Error(), "N"), "\n", "\n\t"))
	}
	const file = "testdata/mistakes.txt"
	if *updateMistakes {
		ok(t, os.WriteFile(file, []byte(text.String()), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	ok(t, err)
	got, all := strings.Split(text.String(), "\n"), strings.Split(string(want), "\n")
	name := ""
	for i := range max(len(got), len(all)) {
		var a, b string
		if i < len(got) {
			a = got[i]
		}
		if i < len(all) {
			b = all[i]
		}
		if !strings.HasPrefix(a, "\t") {
			name = a
		}
		if a != b {
			t.Errorf("%s\n got %s\nwant %s", name, a, b)
		}
	}
}
