package calibrate

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"gocuda/cudaapi/cuda"
)

//go:embed probes.cu
var probeKernels string

// prober times small programs on the first stream, some with help from others.
type prober struct {
	*rig
	kernels map[string]*cuda.Kernel
	x, y    *cuda.Buffer // of device 0
	far     *cuda.Buffer // of device 1
	pin     [2]*cuda.HostBuffer
	zero    [2]*cuda.HostBuffer // that kernels reach
	large   int                 // bytes of each
	report  func(Result)
}

const mostZero = 64 << 20 // bytes that kernels reach in the host's memory

// Probe times kernels, copies and waits one kind at a time, of sizes up to
// large bytes a buffer: what a profile is fitted to, and checked by. It reports
// each as soon as it has it.
func Probe(devices []*cuda.Device, large int, report func(Result)) (err error) {
	defer caught(&err)
	if len(devices) == 0 {
		return fmt.Errorf("calibrate: there are no devices")
	}
	devices = devices[:min(2, len(devices))]
	p := &prober{rig: newRig(devices), kernels: map[string]*cuda.Kernel{}, large: large, report: report}
	defer p.close()
	for _, k := range must(cuda.Compile(probeKernels, cuda.ForDevice(devices[0]), cuda.Instantiate("copy<float>", "copy<double>",
		"axpy<float>", "axpy<double>", "jacobi<float>", "jacobi<double>", "strided<float>", "strided<double>"))).Kernels() {
		p.kernels[k.Name()] = k
	}
	p.x, p.y = p.device(0, large), p.device(0, large)
	p.pin = [2]*cuda.HostBuffer{p.pinned(0, large), p.pinned(0, large)}
	for i := range p.zero {
		p.zero[i] = must(devices[0].AllocHost(min(large, mostZero)/4, cuda.Float32))
		p.keep = append(p.keep, p.zero[i])
	}
	ok(p.x.Memset(0))
	ok(p.y.Memset(0))
	if len(devices) > 1 {
		p.far = p.device(1, large)
		ok(p.far.Memset(0))
	}
	p.launches()
	p.traffic()
	p.patterns()
	p.copies()
	p.waits()
	p.together()
	return nil
}

// add times one of row operations in a row, which queue puts into the stream.
func (p *prober) add(name string, row int, queue func(s *cuda.Stream)) {
	queue(p.streams[0]) // what is slow the first time
	for _, d := range p.devices {
		ok(d.Synchronize())
	}
	d := p.held(func(s *cuda.Stream) {
		for range row {
			queue(s)
		}
	})
	p.report(Result{name, d / time.Duration(row)})
}

func (p *prober) kernel(s *cuda.Stream, name string, grid cuda.GridDim, block cuda.BlockDim, args ...any) {
	for i, a := range args {
		if b, is := a.(*cuda.Buffer); is {
			args[i] = typed(b, name)
		}
	}
	ok(p.kernels[name].Launch(grid, block, s, args...))
}

// typed is memory as a kernel takes it.
func typed(b *cuda.Buffer, kernel string) *cuda.Buffer {
	switch {
	case kernel == "chase" || kernel == "count":
		return must(b.As(cuda.Int32))
	case strings.Contains(kernel, "double") || strings.HasSuffix(kernel, "f64"):
		return must(b.As(cuda.Float64))
	}
	return must(b.As(cuda.Float32))
}

// linear launches a kernel with a thread for each of n elements.
func (p *prober) linear(s *cuda.Stream, name string, n, block int, args ...any) {
	p.kernel(s, name, cuda.GridFor(n, block), cuda.Block(block), append([]any{n}, args...)...)
}

func size(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

// sizes are from 1 KiB to the largest, each four times the one before.
func (p *prober) sizes() (all []int) {
	for n := 1 << 10; n <= p.large; n *= 4 {
		all = append(all, n)
	}
	return all
}

func (p *prober) launches() {
	for _, threads := range []int{32, 256, 1024} {
		for _, blocks := range []int{1, 132, 1056, 16384, 131072} {
			if blocks > p.large>>11 {
				break
			}
			p.add(fmt.Sprintf("empty, %d blocks of %d", blocks, threads), 20, func(s *cuda.Stream) {
				p.kernel(s, "empty", cuda.Grid(blocks), cuda.Block(threads))
			})
		}
	}
	for _, turns := range []int{64, 512} {
		for _, blocks := range []int{132, 1056, 8448} {
			if blocks*turns > p.large>>5 {
				break
			}
			p.add(fmt.Sprintf("fma f32, %d turns, %d blocks", turns, blocks), 10, func(s *cuda.Stream) {
				p.kernel(s, "fma_f32", cuda.Grid(blocks), cuda.Block(256), 0, turns, p.y)
			})
			p.add(fmt.Sprintf("fma f64, %d turns, %d blocks", turns, blocks), 10, func(s *cuda.Stream) {
				p.kernel(s, "fma_f64", cuda.Grid(blocks), cuda.Block(256), 0, turns, p.y)
			})
		}
	}
}

func (p *prober) traffic() {
	for _, n := range p.sizes() {
		at := func(name string) string { return name + ", " + size(n) }
		p.add(at("copy f32"), 10, func(s *cuda.Stream) { p.linear(s, "copy<float>", n/4, 256, p.x, p.y) })
		p.add(at("copy f64"), 10, func(s *cuda.Stream) { p.linear(s, "copy<double>", n/8, 256, p.x, p.y) })
		p.add(at("copy f32x4"), 10, func(s *cuda.Stream) { p.linear(s, "copy_f32x4", n/16, 256, p.x, p.y) })
		p.add(at("axpy f32"), 10, func(s *cuda.Stream) { p.linear(s, "axpy<float>", n/4, 256, float32(0), p.x, p.y) })
		p.add(at("axpy f64"), 10, func(s *cuda.Stream) { p.linear(s, "axpy<double>", n/8, 256, 0.0, p.x, p.y) })
		p.add(at("fill f32"), 10, func(s *cuda.Stream) { p.linear(s, "fill_f32", n/4, 256, p.y) })
		p.add(at("read f32"), 10, func(s *cuda.Stream) { p.linear(s, "read_f32", n/4, 256, p.x, p.y) })
		p.add(at("sum f32"), 10, func(s *cuda.Stream) { p.linear(s, "sum_f32", n/4, 256, p.x, p.y) })
		p.add(at("grid-stride f32"), 10, func(s *cuda.Stream) {
			p.kernel(s, "strided<float>", cuda.Grid(min(1056, (n/4+255)/256)), cuda.Block(256), n/4, p.x, p.y)
		})
		p.add(at("grid-stride f64"), 10, func(s *cuda.Stream) {
			p.kernel(s, "strided<double>", cuda.Grid(min(1056, (n/8+255)/256)), cuda.Block(256), n/8, p.x, p.y)
		})
		if k := 64 << 20 / n; k >= 2 && n >= 1<<20 && p.large >= 8*n {
			turn := 0
			p.add(at("copy f32, new places"), 8, func(s *cuda.Stream) {
				turn = (turn + 1) % 8
				p.linear(s, "copy<float>", n/4, 256, p.x.Slice(turn*n, (turn+1)*n), p.y.Slice(turn*n, (turn+1)*n))
			})
		}
	}
	for w := 64; w*w*4 <= p.large; w *= 2 {
		for _, block := range []cuda.BlockDim{cuda.Block(32, 8), cuda.Block(16, 16), cuda.Block(256, 1), cuda.Block(32, 32)} {
			grid := cuda.Grid((w+block.X-1)/block.X, (w+block.Y-1)/block.Y)
			p.add(fmt.Sprintf("jacobi f32, %d, blocks of %d x %d", w, block.X, block.Y), 10, func(s *cuda.Stream) { p.kernel(s, "jacobi<float>", grid, block, w, w, p.x, p.y) })
			if w*w*8 <= p.large {
				p.add(fmt.Sprintf("jacobi f64, %d, blocks of %d x %d", w, block.X, block.Y), 10, func(s *cuda.Stream) { p.kernel(s, "jacobi<double>", grid, block, w, w, p.x, p.y) })
			}
		}
	}
}

// patterns are of one size: what blocks, threads and their order matter.
func (p *prober) patterns() {
	n := p.large / 4
	for _, block := range []int{32, 64, 128, 512, 1024} {
		p.add(fmt.Sprintf("copy f32, %s, blocks of %d", size(4*n), block), 10, func(s *cuda.Stream) { p.linear(s, "copy<float>", n, block, p.x, p.y) })
	}
	for _, shared := range []int{24, 48, 96, 200} {
		k := p.kernels["copy<float>"].With(cuda.SharedMemory(shared << 10))
		p.add(fmt.Sprintf("copy f32, %s, %d KiB shared", size(4*n), shared), 10, func(s *cuda.Stream) {
			ok(k.Launch(cuda.GridFor(n, 256), cuda.Block(256), s, n, typed(p.x, "f32"), typed(p.y, "f32")))
		})
	}
	for _, step := range []int{2, 4, 8, 16, 32} {
		p.add(fmt.Sprintf("spread f32, %s, step %d", size(4*n), step), 10, func(s *cuda.Stream) { p.linear(s, "spread_f32", n, 256, step, p.x, p.y) })
	}
	for _, hops := range []int{1, 2, 4, 8} {
		p.add(fmt.Sprintf("chase, %s, %d hops", size(4*n), hops), 5, func(s *cuda.Stream) { p.linear(s, "chase", n, 256, hops, p.x, p.y) })
		p.add(fmt.Sprintf("chase, 1 MiB, %d hops", hops), 10, func(s *cuda.Stream) { p.linear(s, "chase", 1<<18, 256, hops, p.x, p.y) })
	}
	ok(p.x.Memset(0))
	for _, places := range []int{1, 256, p.large / 256} {
		p.add(fmt.Sprintf("count, 1048576 threads, %d places", places), 5, func(s *cuda.Stream) { p.linear(s, "count", 1<<20, 256, places, p.y) })
	}
	for w := 512; w*w*4 <= p.large; w *= 4 {
		p.add(fmt.Sprintf("transpose, %d", w), 5, func(s *cuda.Stream) {
			p.kernel(s, "transpose_f32", cuda.Grid(w/32, w/32), cuda.Block(32, 8), w, p.x, p.y)
		})
		p.add(fmt.Sprintf("transpose without tiles, %d", w), 5, func(s *cuda.Stream) {
			p.kernel(s, "transpose_plain", cuda.Grid(w/16, w/16), cuda.Block(16, 16), w, p.x, p.y)
		})
	}
	for w := 128; w <= 2048 && w*w*16 <= p.large; w *= 2 {
		p.add(fmt.Sprintf("matmul, %d", w), 5, func(s *cuda.Stream) {
			p.kernel(s, "matmul_f32", cuda.Grid(w/16, w/16), cuda.Block(16, 16), w, p.x, p.x.Slice(w*w*4, 2*w*w*4), p.y)
		})
	}
}

func (p *prober) copies() {
	for _, n := range p.sizes() {
		at := func(name string) string { return name + ", " + size(n) }
		x, y := p.x.Slice(0, n), p.y.Slice(0, n)
		p.add(at("copy in"), 6, func(s *cuda.Stream) { ok(cuda.MemcpyAsync(x, p.pin[0].Slice(0, n), s)) })
		p.add(at("copy out"), 6, func(s *cuda.Stream) { ok(cuda.MemcpyAsync(p.pin[1].Slice(0, n), y, s)) })
		p.add(at("copy inside"), 6, func(s *cuda.Stream) { ok(cuda.MemcpyAsync(y, x, s)) })
		p.add(at("memset"), 6, func(s *cuda.Stream) { ok(y.MemsetAsync(0, s)) })
		if p.far != nil {
			far := p.far.Slice(0, n)
			p.add(at("peer copy"), 6, func(s *cuda.Stream) { ok(cuda.MemcpyPeerAsync(far, x, s)) })
			p.add(at("kernel writes to peer"), 6, func(s *cuda.Stream) { p.linear(s, "copy<float>", n/4, 256, x, far) })
			p.add(at("kernel reads from peer"), 6, func(s *cuda.Stream) { p.linear(s, "copy<float>", n/4, 256, far, x) })
		}
		if n <= mostZero {
			p.add(at("kernel reads host memory"), 3, func(s *cuda.Stream) { p.linear(s, "copy<float>", n/4, 256, p.zero[0], x) })
			p.add(at("kernel writes host memory"), 3, func(s *cuda.Stream) { p.linear(s, "copy<float>", n/4, 256, x, p.zero[1]) })
		}
	}
}

// turns is how long a kernel of fma is to be: about 10 us, where that is quickly
// done.
func (p *prober) turns() int { return min(4096, p.large>>14) }

// inTurns has two streams work by turns: each waits for the other's event.
func inTurns(work func(*cuda.Stream), other *cuda.Stream, there, back *cuda.Event) func(*cuda.Stream) {
	return func(s *cuda.Stream) {
		work(s)
		ok(there.Record(s))
		ok(other.WaitEvent(there))
		work(other)
		ok(back.Record(other))
		ok(s.WaitEvent(back))
	}
}

// waits puts between two kernels what costs time on the device.
func (p *prober) waits() {
	small := func(s *cuda.Stream) { p.kernel(s, "empty", cuda.Grid(1), cuda.Block(32)) }
	work := func(s *cuda.Stream) { p.linear(s, "copy<float>", 1<<16, 256, p.x, p.y) }
	tiny := 4 << 10
	long := func(s *cuda.Stream) { p.kernel(s, "fma_f32", cuda.Grid(132), cuda.Block(256), 0, p.turns(), p.y) }
	p.add("long kernel", 20, long)
	for _, timed := range []bool{true, false} {
		var flags []cuda.EventFlag
		kind := "timed event"
		if !timed {
			flags, kind = []cuda.EventFlag{cuda.DisableTiming}, "event"
		}
		e, back := must(p.devices[0].NewEvent(flags...)), must(p.devices[0].NewEvent(flags...))
		p.add(kind+" alone", 40, func(s *cuda.Stream) { ok(e.Record(s)) })
		p.add("kernel and "+kind, 20, func(s *cuda.Stream) { small(s); ok(e.Record(s)) })
		p.add("long kernel and "+kind, 20, func(s *cuda.Stream) { long(s); ok(e.Record(s)) })
		p.add("kernels on two streams in turns, "+kind+"s", 20, inTurns(small, p.others[0], e, back))
		p.add("long kernels on two streams in turns, "+kind+"s", 20, inTurns(long, p.others[0], e, back))
		if p.far != nil {
			far := must(p.devices[1].NewEvent(flags...))
			p.add("kernels on two devices in turns, "+kind+"s", 20, inTurns(small, p.streams[1], e, far))
			p.add("long kernels on two devices in turns, "+kind+"s", 20, inTurns(long, p.streams[1], e, far))
			for _, n := range []int{tiny, 32 << 10, min(1<<20, p.large/4)} {
				p.add(fmt.Sprintf("copy out, copy in on another device, %s, %ss", size(n), kind), 20, func(s *cuda.Stream) {
					ok(cuda.MemcpyAsync(p.pin[0].Slice(0, n), p.x.Slice(0, n), s))
					ok(e.Record(s))
					ok(p.streams[1].WaitEvent(e))
					ok(cuda.MemcpyAsync(p.far.Slice(0, n), p.pin[0].Slice(0, n), p.streams[1]))
					ok(far.Record(p.streams[1]))
					ok(s.WaitEvent(far))
				})
				p.add(fmt.Sprintf("halos of %s among two devices, %ss", size(n), kind), 10, func(s *cuda.Stream) {
					work(s)
					work(p.streams[1])
					ok(e.Record(s))
					ok(far.Record(p.streams[1]))
					ok(s.WaitEvent(far))
					ok(p.streams[1].WaitEvent(e))
					ok(cuda.MemcpyPeerAsync(p.far.Slice(0, n), p.x.Slice(0, n), s))
					ok(cuda.MemcpyPeerAsync(p.x.Slice(n, 2*n), p.far.Slice(n, 2*n), p.streams[1]))
					ok(e.Record(s))
					ok(far.Record(p.streams[1]))
					ok(s.WaitEvent(far))
					ok(p.streams[1].WaitEvent(e))
				})
			}
			ok(p.devices[1].Synchronize())
			ok(far.Destroy())
		}
		ok(p.devices[0].Synchronize())
		ok(e.Destroy())
		ok(back.Destroy())
	}
	p.add("kernel and copy in", 20, func(s *cuda.Stream) { small(s); ok(cuda.MemcpyAsync(p.x.Slice(0, tiny), p.pin[0].Slice(0, tiny), s)) })
	p.add("kernel and copy out", 20, func(s *cuda.Stream) { small(s); ok(cuda.MemcpyAsync(p.pin[0].Slice(0, tiny), p.x.Slice(0, tiny), s)) })
	p.add("kernel and copy inside", 20, func(s *cuda.Stream) { small(s); ok(cuda.MemcpyAsync(p.y.Slice(0, tiny), p.x.Slice(0, tiny), s)) })
	p.add("kernel and memset", 20, func(s *cuda.Stream) { small(s); ok(p.y.Slice(0, tiny).MemsetAsync(0, s)) })
	p.add("copy in and copy out", 20, func(s *cuda.Stream) {
		ok(cuda.MemcpyAsync(p.x.Slice(0, tiny), p.pin[0].Slice(0, tiny), s))
		ok(cuda.MemcpyAsync(p.pin[0].Slice(0, tiny), p.x.Slice(0, tiny), s))
	})
	p.add("long kernel and copy in", 20, func(s *cuda.Stream) { long(s); ok(cuda.MemcpyAsync(p.x.Slice(0, tiny), p.pin[0].Slice(0, tiny), s)) })
	if p.far != nil {
		p.add("kernel and peer copy", 20, func(s *cuda.Stream) { small(s); ok(cuda.MemcpyPeerAsync(p.far.Slice(0, tiny), p.x.Slice(0, tiny), s)) })
		p.add("long kernel and peer copy", 20, func(s *cuda.Stream) { long(s); ok(cuda.MemcpyPeerAsync(p.far.Slice(0, tiny), p.x.Slice(0, tiny), s)) })
	}
	word := must(p.devices[0].AllocHost(1, cuda.Uint32))
	p.keep = append(p.keep, word)
	p.add("write a value", 20, func(s *cuda.Stream) { ok(s.WriteValue(word, 1)) })
	p.add("write and wait for a value", 20, func(s *cuda.Stream) { ok(s.WriteValue(word, 1)); ok(s.WaitValue(word, 1, cuda.WaitEQ)) })
	p.add("kernel and write a value", 20, func(s *cuda.Stream) { small(s); ok(s.WriteValue(word, 1)) })
}

// together times what shares the device, its links or its engines.
func (p *prober) together() {
	n := p.large / 4
	fork, join := p.event(0), [2]*cuda.Event{p.event(0), p.event(0)}
	far := (*cuda.Stream)(nil)
	if p.far != nil {
		far = p.streams[1]
	}
	in := func(s *cuda.Stream) { ok(cuda.MemcpyAsync(p.x.Slice(0, n), p.pin[0].Slice(0, n), s)) }
	out := func(s *cuda.Stream) { ok(cuda.MemcpyAsync(p.pin[1].Slice(0, n), p.y.Slice(0, n), s)) }
	there := func(s *cuda.Stream) { ok(cuda.MemcpyPeerAsync(p.far.Slice(0, n), p.x.Slice(0, n), s)) }
	back := func(s *cuda.Stream) { ok(cuda.MemcpyPeerAsync(p.x.Slice(n, 2*n), p.far.Slice(n, 2*n), s)) }
	farIn := func(s *cuda.Stream) { ok(cuda.MemcpyAsync(p.far.Slice(0, n), p.pin[1].Slice(0, n), s)) }
	kernels := func(row int) func(s *cuda.Stream) {
		return func(s *cuda.Stream) {
			for range row {
				p.linear(s, "axpy<float>", n/4, 256, float32(0), p.x.Slice(2*n, 3*n), p.y.Slice(2*n, 3*n))
			}
		}
	}
	long := func(blocks int) func(s *cuda.Stream) {
		return func(s *cuda.Stream) { p.kernel(s, "fma_f32", cuda.Grid(blocks), cuda.Block(256), 0, p.turns(), p.y) }
	}
	third := must(p.devices[0].NewStream(cuda.NonBlocking))
	other := p.others[0]
	type part struct {
		s *cuda.Stream
		f func(s *cuda.Stream)
	}
	for _, c := range []struct {
		name  string
		parts []part
	}{
		{"copy in", []part{{nil, in}}},
		{"copies in and out", []part{{nil, in}, {other, out}}},
		{"twenty kernels", []part{{nil, kernels(20)}}},
		{"copy in, twenty kernels", []part{{nil, kernels(20)}, {other, in}}},
		{"copy out, twenty kernels", []part{{nil, kernels(20)}, {other, out}}},
		{"copies in and out, twenty kernels", []part{{nil, kernels(20)}, {other, out}, {third, in}}},
		{"two copies in", []part{{nil, in}, {other, in}}},
		{"twenty kernels on each of two streams", []part{{nil, kernels(20)}, {other, kernels(20)}}},
		{"fma, 132 blocks on each of two streams", []part{{nil, long(132)}, {other, long(132)}}},
		{"fma, 1056 blocks on each of two streams", []part{{nil, long(1056)}, {other, long(1056)}}},
		{"fma, 2112 blocks", []part{{nil, long(2112)}}},
		{"peer copy", []part{{nil, there}}},
		{"peer copies both ways", []part{{nil, there}, {far, back}}},
		{"peer copy, twenty kernels", []part{{nil, there}, {other, kernels(20)}}},
		{"copies in on two devices", []part{{nil, in}, {far, farIn}}},
		{"two peer copies", []part{{nil, there}, {other, there}}},
	} {
		if p.far == nil && c.name[:4] == "peer" || p.far == nil && c.name == "copies in on two devices" || p.far == nil && c.name == "two peer copies" {
			continue
		}
		p.add(c.name+", "+size(n)+" each", 3, func(s *cuda.Stream) {
			ok(fork.Record(s))
			for _, q := range c.parts[1:] {
				ok(q.s.WaitEvent(fork))
			}
			c.parts[0].f(s)
			for i, q := range c.parts[1:] {
				q.f(q.s)
				e := join[i]
				if q.s == far {
					e = must(p.devices[1].NewEvent())
				}
				ok(e.Record(q.s))
				ok(s.WaitEvent(e))
				if q.s == far {
					ok(e.Destroy())
				}
			}
		})
	}
	ok(third.Destroy())
}
