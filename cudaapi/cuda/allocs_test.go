package cuda_test

import (
	"testing"

	"gocuda/cudaapi/cuda"
)

// TestLaunchAllocatesNothing keeps the hot calls off the heap.
func TestLaunchAllocatesNothing(t *testing.T) {
	d := devices(t, 1)[0]
	if info, err := cuda.Backend(); err != nil || info.Name == "sim" {
		t.Skip("a simulated device allocates for its own queue")
	}
	k := kernel(t, compile(t, saxpy), "saxpy")
	s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
	x := must[*cuda.Buffer](t)(d.Alloc(1000, cuda.Float32))
	defer x.Free()
	ok(t, x.Memset(0))
	n, a := x.Len(), 2.5 // n is more than what Go boxes for nothing
	for name, f := range map[string]func(){
		"launch": func() { ok(t, k.Launch(cuda.Grid(1), cuda.Block(32), s, n, a, x, x)) },
		"query":  func() { _, err := s.Query(); ok(t, err) },
	} {
		f()
		if got := testing.AllocsPerRun(200, f); got > 0 {
			t.Errorf("%s: %g allocations", name, got)
		}
	}
	ok(t, s.Synchronize())
}
