// Percall measures what calls of package cuda cost, as percall.cu does in C++
// and percall.py in Python: each figure is the median of seven rounds, each the
// mean of many calls in a loop.
//
//	go run ./bench/percall                          compiled
//	gocuda-kernel exec bench/percall/main.go cell   as a cell of a notebook
//
// The first argument names the lines: "cell launch"; -devices tells what would be
// measured. A second one, "calls", leaves out the copies. The loops are written
// out, for in a cell a call through a function value costs as much as some of the
// calls.
package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
)

const rounds = 7

var (
	label   = "go"
	calls   = 20000
	largest = 1 << 30 // bytes of a copy
)

// check ends the program on an error.
func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// perCall prints the median over the rounds of what one of n calls takes. loop
// makes so many.
func perCall(name string, n int, d *cuda.Device, loop func(n int) error) {
	check(loop(n / 10))
	check(d.Synchronize())
	var took []float64
	for range rounds {
		start := time.Now()
		check(loop(n))
		took = append(took, float64(time.Since(start).Nanoseconds())/1e3/float64(n))
		check(d.Synchronize())
	}
	fmt.Printf("%-36s us    %9.3f\n", label+" "+name, median(took))
}

const source = `__global__ void empty() {}
__global__ void sixteen(float *a, float *b, float *c, float *d, float *e, float *f, float *g, float *h,
                        int i, int j, int k, int l, int m, int n, int o, int p) {}`

func callCosts(d *cuda.Device) {
	m, err := cuda.Compile(source)
	check(err)
	empty, err := m.Kernel("empty")
	check(err)
	sixteen, err := m.Kernel("sixteen")
	check(err)
	s, err := d.NewStream(cuda.NonBlocking)
	check(err)
	other, err := d.NewStream(cuda.NonBlocking)
	check(err)
	ev, err := d.NewEvent(cuda.DisableTiming)
	check(err)
	x, err := d.Alloc(16, cuda.Float32)
	check(err)
	grid, block := cuda.Grid(1), cuda.Block(1)

	perCall("launch", calls, d, func(n int) error {
		for range n {
			if err := empty.Launch(grid, block, s); err != nil {
				return err
			}
		}
		return nil
	})
	perCall("launch, grid and block anew", calls, d, func(n int) error {
		for range n {
			if err := empty.Launch(cuda.Grid(1), cuda.Block(1), s); err != nil {
				return err
			}
		}
		return nil
	})
	perCall("launch, 16 arguments", calls, d, func(n int) error {
		for range n {
			if err := sixteen.Launch(grid, block, s, x, x, x, x, x, x, x, x, 1, 2, 3, 4, 5, 6, 7, 8); err != nil {
				return err
			}
		}
		return nil
	})
	ready, err := sixteen.Prepare(grid, block, s, x, x, x, x, x, x, x, x, 1, 2, 3, 4, 5, 6, 7, 8)
	check(err)
	perCall("launch, 16 arguments, prepared", calls, d, func(n int) error {
		for range n {
			if err := ready.Launch(); err != nil {
				return err
			}
		}
		return nil
	})
	perCall("launch and synchronize", calls/5, d, func(n int) error {
		for range n {
			if err := empty.Launch(grid, block, s); err != nil {
				return err
			}
			if err := s.Synchronize(); err != nil {
				return err
			}
		}
		return nil
	})
	perCall("event record", calls, d, func(n int) error {
		for range n {
			if err := ev.Record(s); err != nil {
				return err
			}
		}
		return nil
	})
	perCall("stream wait event", calls, d, func(n int) error {
		for range n {
			if err := other.WaitEvent(ev); err != nil {
				return err
			}
		}
		return nil
	})
	perCall("stream query", calls, d, func(n int) error {
		for range n {
			if _, err := s.Query(); err != nil {
				return err
			}
		}
		return nil
	})
	perCall("malloc and free async", calls/5, d, func(n int) error {
		for range n {
			b, err := s.AllocAsync(4096, cuda.Uint8)
			if err != nil {
				return err
			}
			if err := b.FreeAsync(s); err != nil {
				return err
			}
		}
		return nil
	})
	check(x.Free())
	mallocsAndFrees(s)
}

// mallocsAndFrees prints what the two calls take each, in turns of 64.
func mallocsAndFrees(s *cuda.Stream) {
	held := make([]*cuda.Buffer, 64)
	var mallocs, frees []float64
	for r := range rounds + 1 {
		var m, f time.Duration
		for range calls / 5 / len(held) {
			start := time.Now()
			for i := range held {
				b, err := s.AllocAsync(4096, cuda.Uint8)
				if err != nil {
					check(err)
				}
				held[i] = b
			}
			between := time.Now()
			for _, b := range held {
				if err := b.FreeAsync(s); err != nil {
					check(err)
				}
			}
			m += between.Sub(start)
			f += time.Since(between)
		}
		check(s.Synchronize())
		if n := float64(calls / 5 / len(held) * len(held)); r > 0 {
			mallocs, frees = append(mallocs, m.Seconds()*1e6/n), append(frees, f.Seconds()*1e6/n)
		}
	}
	fmt.Printf("%-36s us    %9.3f\n", label+" malloc async", median(mallocs))
	fmt.Printf("%-36s us    %9.3f\n", label+" free async", median(frees))
}

func peerCopies(a, b *cuda.Device) {
	check(a.EnablePeerAccess(b))
	check(b.EnablePeerAccess(a))
	src, err := a.Alloc(largest, cuda.Uint8)
	check(err)
	dst, err := b.Alloc(largest, cuda.Uint8)
	check(err)
	s, err := a.NewStream(cuda.NonBlocking)
	check(err)
	start, err := a.NewEvent()
	check(err)
	end, err := a.NewEvent()
	check(err)
	for _, n := range []int{4 << 10, 1 << 20, 64 << 20, 1 << 30} {
		if n > largest {
			break
		}
		to, from := dst.Slice(0, n), src.Slice(0, n)
		var took []float64
		for r := range rounds + 1 {
			check(start.Record(s))
			for range 20 {
				check(cuda.MemcpyPeerAsync(to, from, s))
			}
			check(end.Record(s))
			check(end.Synchronize())
			t, err := end.Since(start)
			check(err)
			if r > 0 {
				took = append(took, t.Seconds()*1e6/20)
			}
		}
		us := median(took)
		fmt.Printf("%-36s us    %9.3f   GB/s %8.1f\n", fmt.Sprintf("%s peer copy %9d KiB", label, n>>10), us, float64(n)/us/1e3)
	}
	stagedCopies(a, b, src, dst)
	check(src.Free())
	check(dst.Free())
}

// stagedCopies copies through two pinned buffers in turn, without a wait of the
// CPU: the staged copy of notebook 04.
func stagedCopies(a, b *cuda.Device, src, dst *cuda.Buffer) {
	out, err := a.NewStream(cuda.NonBlocking)
	check(err)
	in, err := b.NewStream(cuda.NonBlocking)
	check(err)
	for _, chunk := range []int{1 << 20, 4 << 20, 16 << 20} {
		var stage [2]*cuda.HostBuffer
		var filled, emptied [2]*cuda.Event
		for i := range stage {
			stage[i], err = a.AllocHost(chunk, cuda.Uint8, cuda.Portable)
			check(err)
			filled[i], err = a.NewEvent(cuda.DisableTiming)
			check(err)
			emptied[i], err = b.NewEvent(cuda.DisableTiming)
			check(err)
		}
		var took []float64
		for r := range rounds - 1 {
			start := time.Now()
			for at, k := 0, 0; at < largest; at, k = at+chunk, k^1 {
				check(out.WaitEvent(emptied[k]))
				check(src.Slice(at, at+chunk).DownloadAsync(stage[k], out))
				check(filled[k].Record(out))
				check(in.WaitEvent(filled[k]))
				check(dst.Slice(at, at+chunk).UploadAsync(stage[k], in))
				check(emptied[k].Record(in))
			}
			check(out.Synchronize())
			check(in.Synchronize())
			if r > 0 {
				took = append(took, time.Since(start).Seconds())
			}
		}
		fmt.Printf("%-36s GB/s  %9.1f\n", fmt.Sprintf("%s staged copy, %2d MiB chunks", label, chunk>>20), float64(largest)/median(took)/1e9)
		for i := range stage {
			check(stage[i].Free())
		}
	}
}

func main() {
	if len(os.Args) > 1 {
		label = os.Args[1]
	}
	devices, err := cuda.Devices()
	check(err)
	info, err := cuda.Backend()
	check(err)
	if label == "-devices" {
		fmt.Println(info)
		return
	}
	if info.Name == "sim" {
		calls, largest = 500, 16<<20 // a trial of the program
	}
	callCosts(devices[0])
	if copies := len(os.Args) < 3 || os.Args[2] != "calls"; copies && len(devices) > 1 {
		peerCopies(devices[0], devices[1])
	}
}
