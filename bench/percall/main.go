// Percall measures what calls of package cuda cost, as percall.cu does in C++
// and percall.py in Python, when bench/turns tells it to: it reads lines
// "N BYTES CASE" and answers with the nanoseconds that N calls took.
//
//	go run ./bench/percall                          compiled
//	gocuda-kernel exec bench/percall/main.go cell   as a cell of a notebook
//
// (A notebook's also looks in each turn of a loop whether it was interrupted: some
// 10 ns that are not in here.)
// The argument -devices tells what would be measured. The loops are written out,
// for in a cell a call through a function value costs as much as some of the
// calls.
package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
)

// check ends the program on an error.
func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const source = `__global__ void empty() {}
__global__ void sixteen(float *a, float *b, float *c, float *d, float *e, float *f, float *g, float *h,
                        int i, int j, int k, int l, int m, int n, int o, int p) {}`

// callLoops are loops of n calls, by the case's name.
func callLoops(d *cuda.Device, s *cuda.Stream) map[string]func(n int) error {
	m, err := cuda.Compile(source)
	check(err)
	empty, err := m.Kernel("empty")
	check(err)
	sixteen, err := m.Kernel("sixteen")
	check(err)
	other, err := d.NewStream(cuda.NonBlocking)
	check(err)
	ev, err := d.NewEvent(cuda.DisableTiming)
	check(err)
	x, err := d.Alloc(16, cuda.Float32)
	check(err)
	grid, block := cuda.Grid(1), cuda.Block(1)
	ready, err := sixteen.Prepare(grid, block, s, x, x, x, x, x, x, x, x, 1, 2, 3, 4, 5, 6, 7, 8)
	check(err)
	return map[string]func(n int) error{
		"launch": func(n int) error {
			for range n {
				if err := empty.Launch(grid, block, s); err != nil {
					return err
				}
			}
			return nil
		},
		"launch, grid and block again": func(n int) error {
			for range n {
				if err := empty.Launch(cuda.Grid(1), cuda.Block(1), s); err != nil {
					return err
				}
			}
			return nil
		},
		"launch, 16 arguments": func(n int) error {
			for range n {
				if err := sixteen.Launch(grid, block, s, x, x, x, x, x, x, x, x, 1, 2, 3, 4, 5, 6, 7, 8); err != nil {
					return err
				}
			}
			return nil
		},
		"launch, 16 arguments, prepared": func(n int) error {
			for range n {
				if err := ready.Launch(); err != nil {
					return err
				}
			}
			return nil
		},
		"launch and synchronize": func(n int) error {
			for range n {
				if err := empty.Launch(grid, block, s); err != nil {
					return err
				}
				if err := s.Synchronize(); err != nil {
					return err
				}
			}
			return nil
		},
		"event record": func(n int) error {
			for range n {
				if err := ev.Record(s); err != nil {
					return err
				}
			}
			return nil
		},
		"stream wait event": func(n int) error {
			for range n {
				if err := other.WaitEvent(ev); err != nil {
					return err
				}
			}
			return nil
		},
		"stream query": func(n int) error {
			for range n {
				if _, err := s.Query(); err != nil {
					return err
				}
			}
			return nil
		},
		"malloc and free async": func(n int) error {
			for range n {
				b, err := s.AllocAsync(1024, cuda.Float32)
				if err != nil {
					return err
				}
				if err := b.FreeAsync(s); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// timed is what a loop of n calls takes, after a shorter one.
func timed(d *cuda.Device, n int, loop func(n int) error) time.Duration {
	check(loop(n/5 + 1))
	check(d.Synchronize())
	start := time.Now()
	check(loop(n))
	took := time.Since(start)
	check(d.Synchronize())
	return took
}

// mallocsAndFrees is what n calls of either take, in turns of 64.
func mallocsAndFrees(s *cuda.Stream, n int) (mallocs, frees time.Duration) {
	held := make([]*cuda.Buffer, 64)
	for range n / len(held) {
		start := time.Now()
		for i := range held {
			b, err := s.AllocAsync(1024, cuda.Float32)
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
		mallocs += between.Sub(start)
		frees += time.Since(between)
	}
	check(s.Synchronize())
	return mallocs, frees
}

// peer is what copies between two devices need.
type peer struct {
	a, b       *cuda.Device
	src, dst   *cuda.Buffer // of the largest copy so far
	s, out, in *cuda.Stream
	start, end *cuda.Event
	stage      [2]*cuda.HostBuffer
	filled     [2]*cuda.Event
	emptied    [2]*cuda.Event
}

func newPeer(a, b *cuda.Device) *peer {
	check(a.EnablePeerAccess(b))
	check(b.EnablePeerAccess(a))
	p := &peer{a: a, b: b}
	var err error
	p.s, err = a.NewStream(cuda.NonBlocking)
	check(err)
	p.out, err = a.NewStream(cuda.NonBlocking)
	check(err)
	p.in, err = b.NewStream(cuda.NonBlocking)
	check(err)
	p.start, err = a.NewEvent()
	check(err)
	p.end, err = a.NewEvent()
	check(err)
	for i := range p.stage {
		p.stage[i], err = a.AllocHost(16<<20, cuda.Uint8, cuda.Portable)
		check(err)
		p.filled[i], err = a.NewEvent(cuda.DisableTiming)
		check(err)
		p.emptied[i], err = b.NewEvent(cuda.DisableTiming)
		check(err)
	}
	return p
}

// grow makes both buffers so large.
func (p *peer) grow(bytes int) {
	if p.src != nil && p.src.Len() >= bytes {
		return
	}
	if p.src != nil {
		check(p.src.Free())
		check(p.dst.Free())
	}
	var err error
	p.src, err = p.a.Alloc(bytes, cuda.Uint8)
	check(err)
	p.dst, err = p.b.Alloc(bytes, cuda.Uint8)
	check(err)
}

// copies is the device's time of n peer copies.
func (p *peer) copies(n, bytes int) time.Duration {
	p.grow(bytes)
	to, from := p.dst.Slice(0, bytes), p.src.Slice(0, bytes)
	check(cuda.MemcpyPeerAsync(to, from, p.s))
	check(p.start.Record(p.s))
	for range n {
		check(cuda.MemcpyPeerAsync(to, from, p.s))
	}
	check(p.end.Record(p.s))
	check(p.end.Synchronize())
	took, err := p.end.Since(p.start)
	check(err)
	return took
}

// staged copies n chunks through two pinned buffers in turn, without a wait of
// the CPU: the staged copy of notebook 04.
func (p *peer) staged(n, chunk int) time.Duration {
	p.grow(n * chunk)
	began := time.Now()
	for i := range n {
		at, k := i*chunk, i%2
		check(p.out.WaitEvent(p.emptied[k]))
		check(p.src.Slice(at, at+chunk).DownloadAsync(p.stage[k].Slice(0, chunk), p.out))
		check(p.filled[k].Record(p.out))
		check(p.in.WaitEvent(p.filled[k]))
		check(p.dst.Slice(at, at+chunk).UploadAsync(p.stage[k].Slice(0, chunk), p.in))
		check(p.emptied[k].Record(p.in))
	}
	check(p.out.Synchronize())
	check(p.in.Synchronize())
	return time.Since(began)
}

func main() {
	devices, err := cuda.Devices()
	check(err)
	info, err := cuda.Backend()
	check(err)
	if len(os.Args) > 1 && os.Args[1] == "-devices" {
		fmt.Println(info)
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "cell" {
		cuda.SetInterrupt(make(chan struct{})) // a notebook can stop its waits
	}
	d := devices[0]
	pool, err := d.DefaultPool()
	check(err)
	check(pool.SetAttribute(driver.PoolReleaseThreshold, math.MaxInt64)) // it keeps what is freed
	s, err := d.NewStream(cuda.NonBlocking)
	check(err)
	loops := callLoops(d, s)
	var p *peer
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.SplitN(lines.Text(), " ", 3)
		n, err := strconv.Atoi(words[0])
		check(err)
		bytes, err := strconv.Atoi(words[1])
		check(err)
		name := words[2]
		var took time.Duration
		switch loop := loops[name]; {
		case loop != nil:
			took = timed(d, n, loop)
		case name == "malloc async" || name == "free async":
			mallocsAndFrees(s, n/5)
			mallocs, frees := mallocsAndFrees(s, n)
			took = mallocs
			if name == "free async" {
				took = frees
			}
		case (name == "peer copy" || name == "staged copy") && len(devices) > 1:
			if p == nil {
				p = newPeer(devices[0], devices[1])
			}
			if name == "peer copy" {
				took = p.copies(n, bytes)
			} else {
				p.staged(n/5+1, bytes)
				took = p.staged(n, bytes)
			}
		default:
			fmt.Println("-")
			continue
		}
		fmt.Println(took.Nanoseconds())
	}
}
