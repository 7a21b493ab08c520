package cuda_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"gocuda/cudaapi/cuda"
)

// TestCallCosts prints what calls and copies cost, in the terms of the C++
// anchor that runs beside it on a machine with GPUs. GOCUDA_BENCH=1 runs it.
func TestCallCosts(t *testing.T) {
	if os.Getenv("GOCUDA_BENCH") == "" {
		t.Skip("set GOCUDA_BENCH=1 to measure")
	}
	list := devices(t, 1)
	d := list[0]
	m := compile(t, `extern "C" __global__ void nop() {}
extern "C" __global__ void nop16(float*a,float*b,float*c,float*d,float*e,float*f,float*g,float*h,int i,int j,int k,int l,int m,int n,int o,int p) {}`)
	nop, nop16 := kernel(t, m, "nop"), kernel(t, m, "nop16")
	s, s2 := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking)), must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
	ev := must[*cuda.Event](t)(d.NewEvent(cuda.DisableTiming))
	x := must[*cuda.Buffer](t)(d.Alloc(16, cuda.Float32))
	defer x.Free()
	bench := func(name string, n int, f func() error) {
		for range n / 10 {
			ok(t, f())
		}
		start := time.Now()
		for range n {
			if err := f(); err != nil {
				t.Fatal(err)
			}
		}
		fmt.Printf("  go  %-24s %8.3f us\n", name, float64(time.Since(start).Nanoseconds())/1e3/float64(n))
	}
	const n = 100000
	grid, block := cuda.Grid(1), cuda.Block(1)
	bench("launch", n, func() error { return nop.Launch(grid, block, s) })
	ok(t, s.Synchronize())
	bench("launch16", n, func() error {
		return nop16.Launch(grid, block, s, x, x, x, x, x, x, x, x, 1, 2, 3, 4, 5, 6, 7, 8)
	})
	ok(t, s.Synchronize())
	launchSync := func() error {
		if err := nop.Launch(grid, block, s); err != nil {
			return err
		}
		return s.Synchronize()
	}
	bench("launch+sync", n/5, launchSync)
	cuda.SetInterrupt(make(chan struct{}))
	bench("launch+sync, interruptible", n/5, launchSync)
	cuda.SetInterrupt(nil)
	bench("eventRecord", n, func() error { return ev.Record(s) })
	bench("streamWaitEvent", n, func() error { return s2.WaitEvent(ev) })
	bench("streamQuery", n, func() error { _, err := s.Query(); return err })
	bench("mallocAsync+freeAsync", n/5, func() error {
		b, err := s.AllocAsync(4096, cuda.Uint8)
		if err != nil {
			return err
		}
		return b.FreeAsync(s)
	})
	ok(t, d.Synchronize())
	if len(list) > 1 {
		peerCosts(t, list[0], list[1], s)
		stagedCosts(t, list[0], list[1])
	}
}

func peerCosts(t *testing.T, a, b *cuda.Device, s *cuda.Stream) {
	const most = 1 << 30
	ok(t, a.EnablePeerAccess(b))
	ok(t, b.EnablePeerAccess(a))
	src, dst := must[*cuda.Buffer](t)(a.Alloc(most, cuda.Uint8)), must[*cuda.Buffer](t)(b.Alloc(most, cuda.Uint8))
	defer src.Free()
	defer dst.Free()
	e0, e1 := must[*cuda.Event](t)(a.NewEvent()), must[*cuda.Event](t)(a.NewEvent())
	for _, n := range []int{4096, 1 << 20, 1 << 26, most} {
		to, from := dst.Slice(0, n), src.Slice(0, n)
		ok(t, cuda.MemcpyPeerAsync(to, from, s))
		ok(t, s.Synchronize())
		ok(t, e0.Record(s))
		for range 20 {
			ok(t, cuda.MemcpyPeerAsync(to, from, s))
		}
		ok(t, e1.Record(s))
		ok(t, e1.Synchronize())
		took, err := cuda.Elapsed(e0, e1)
		ok(t, err)
		fmt.Printf("  go  peer %d B %.3f us %.1f GB/s\n", n, took.Seconds()*1e6/20, float64(n)*20/took.Seconds()/1e9)
	}
}

// stagedCosts copies from device to device through two pinned buffers, without a
// CPU wait in the loop.
func stagedCosts(t *testing.T, a, b *cuda.Device) {
	const size = 1 << 30
	src, dst := must[*cuda.Buffer](t)(a.Alloc(size, cuda.Uint8)), must[*cuda.Buffer](t)(b.Alloc(size, cuda.Uint8))
	defer src.Free()
	defer dst.Free()
	out, in := must[*cuda.Stream](t)(a.NewStream()), must[*cuda.Stream](t)(b.NewStream())
	for _, chunk := range []int{1 << 20, 4 << 20, 16 << 20} {
		var stage [2]*cuda.HostBuffer
		var filled, emptied [2]*cuda.Event
		for i := range stage {
			stage[i] = must[*cuda.HostBuffer](t)(a.AllocHost(chunk, cuda.Uint8, cuda.Portable))
			filled[i] = must[*cuda.Event](t)(a.NewEvent(cuda.DisableTiming))
			emptied[i] = must[*cuda.Event](t)(b.NewEvent(cuda.DisableTiming))
		}
		best := 0.0
		for range 4 {
			start := time.Now()
			for o, k := 0, 0; o < size; o, k = o+chunk, k^1 {
				for _, err := range [...]error{
					out.WaitEvent(emptied[k]), src.Slice(o, o+chunk).DownloadAsync(stage[k], out), filled[k].Record(out),
					in.WaitEvent(filled[k]), dst.Slice(o, o+chunk).UploadAsync(stage[k], in), emptied[k].Record(in),
				} {
					ok(t, err)
				}
			}
			ok(t, out.Synchronize())
			ok(t, in.Synchronize())
			best = max(best, size/time.Since(start).Seconds()/1e9)
		}
		fmt.Printf("  go  staged peer copy, %d MiB chunks: %.1f GB/s\n", chunk>>20, best)
		for i := range stage {
			ok(t, stage[i].Free())
		}
	}
}

// TestLaunchAllocatesNothing keeps the hot calls off the heap.
func TestLaunchAllocatesNothing(t *testing.T) {
	d := devices(t, 1)[0]
	if info, err := cuda.Backend(); err != nil || info.Name == "sim" {
		t.Skip("a simulated device allocates for its own queue")
	}
	k := kernel(t, compile(t, saxpy), "saxpy")
	s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
	x := must[*cuda.Buffer](t)(d.Alloc(16, cuda.Float32))
	defer x.Free()
	n, a := 1000, 2.5
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
