package calibrate

import (
	"fmt"
	"slices"
	"time"

	"gocuda/cudaapi/cuda"
)

// Sizes of the programs that are compared.
type Sizes struct {
	Copy  int // bytes that are copied
	Width int // of the Jacobi iteration's square grid
	Turns int // of the Jacobi iteration
}

// Usual are sizes that keep a GPU busy for longer than its latencies.
var Usual = Sizes{Copy: 256 << 20, Width: 8192, Turns: 10}

// Result is what a program took, by events.
type Result struct {
	Program string
	Time    time.Duration
}

const kernels = `
extern "C" __global__ void axpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
// Rows 1 to h-2 of a part of the grid; rows 0 and h-1 are the neighbours'.
extern "C" __global__ void jacobi(int w, int h, const float *from, float *to) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c > 0 && c < w - 1 && r > 0 && r < h - 1) {
        int i = r * w + c;
        to[i] = 0.25f * (from[i - 1] + from[i + 1] + from[i - w] + from[i + w]);
    }
}`

// Run runs the programs on the first two devices (those that need two are left
// out where there is one) and checks their results:
//
//   - a staged peer copy in chunks through two pinned buffers,
//   - chunks copied in, worked on and copied out, on one stream and on two,
//   - a Jacobi iteration on one device, and on two with an exchange of halos.
func Run(devices []*cuda.Device, size Sizes) (results []Result, err error) {
	defer caught(&err)
	if len(devices) == 0 {
		return nil, fmt.Errorf("calibrate: there are no devices")
	}
	devices = devices[:min(2, len(devices))]
	r := newRig(devices)
	defer r.close()
	m := must(cuda.Compile(kernels, cuda.ForDevice(devices[0])))
	add := func(name string, f func() time.Duration) {
		f() // what is slow the first time
		results = append(results, Result{name, f()})
	}
	if len(devices) > 1 {
		copies := r.newStaged(size.Copy)
		for _, chunk := range []int{1 << 20, 4 << 20, 16 << 20} {
			add(fmt.Sprintf("staged copy, %d MiB chunks", chunk>>20), func() time.Duration { return copies.run(chunk) })
		}
		copies.check()
	}
	work := r.newOverlap(must(m.Kernel("axpy")), size.Copy)
	add("copy in, work, copy out, one stream", func() time.Duration { return work.run(r.streams[0]) })
	add("copy in, work, copy out, two streams", func() time.Duration { return work.run(r.streams[0], r.others[0]) })
	k := must(m.Kernel("jacobi"))
	one := r.newJacobi(k, size, 1)
	add("Jacobi on one device", one.run)
	if len(devices) > 1 {
		two := r.newJacobi(k, size, 2)
		add("Jacobi on two, with halos", two.run)
		if !slices.Equal(one.result(), two.result()) {
			return nil, fmt.Errorf("calibrate: the Jacobi iteration on two devices differs from that on one")
		}
	}
	return results, nil
}

func (r *rig) event(d int) *cuda.Event { return must(r.devices[d].NewEvent()) }

// staged copies from device 0 to device 1 through the host.
type staged struct {
	*rig
	from, to    *cuda.Buffer
	through     [2]*cuda.HostBuffer
	full, empty [2]*cuda.Event
	begin, end  *cuda.Event
}

func (r *rig) newStaged(n int) *staged {
	c := &staged{rig: r, from: r.device(0, n), to: r.device(1, n), begin: r.event(1), end: r.event(1)}
	for i := range c.through {
		c.through[i] = r.pinned(0, 16<<20)
		c.full[i], c.empty[i] = r.event(0), r.event(1)
	}
	ok(c.from.Upload(pattern(n)))
	return c
}

func pattern(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i*7 + i>>13)
	}
	return p
}

func (c *staged) run(chunk int) time.Duration {
	a, b := c.streams[0], c.streams[1]
	ok(c.begin.Record(b))
	ok(a.WaitEvent(c.begin))
	for i := 0; i*chunk < c.from.Len(); i++ {
		k, lo, hi := i%2, i*chunk, min((i+1)*chunk, c.from.Len())
		if i >= 2 {
			ok(a.WaitEvent(c.empty[k]))
		}
		ok(cuda.MemcpyAsync(c.through[k].Slice(0, hi-lo), c.from.Slice(lo, hi), a))
		ok(c.full[k].Record(a))
		ok(b.WaitEvent(c.full[k]))
		ok(cuda.MemcpyAsync(c.to.Slice(lo, hi), c.through[k].Slice(0, hi-lo), b))
		ok(c.empty[k].Record(b))
	}
	ok(c.end.Record(b))
	ok(b.Synchronize())
	return must(cuda.Elapsed(c.begin, c.end))
}

func (c *staged) check() {
	if !slices.Equal(must(c.to.Uint8s()), pattern(c.to.Len())) {
		ok(fmt.Errorf("calibrate: the staged copy arrived wrong"))
	}
}

// overlap copies chunks in, works on them and copies them out.
type overlap struct {
	*rig
	kernel     *cuda.Kernel
	in, out    *cuda.HostBuffer
	x, y       *cuda.Buffer
	begin, end *cuda.Event
	mark       *cuda.Event
}

const (
	overlapChunks = 4  // larger than a cache
	overlapPasses = 24 // over each chunk: about as long as its copies
)

func (r *rig) newOverlap(k *cuda.Kernel, n int) *overlap {
	o := &overlap{rig: r, kernel: k, in: must(r.devices[0].AllocHost(n/4, cuda.Float32)), out: must(r.devices[0].AllocHost(n/4, cuda.Float32)),
		x: must(r.devices[0].Alloc(n/4, cuda.Float32)), y: must(r.devices[0].Alloc(n/4, cuda.Float32)),
		begin: r.event(0), end: r.event(0), mark: r.event(0)}
	r.keep = append(r.keep, o.in, o.out, o.x, o.y)
	in := must(o.in.Float32s())
	for i := range in {
		in[i] = float32(i % 1000)
	}
	return o
}

func (o *overlap) run(streams ...*cuda.Stream) time.Duration {
	s0 := streams[0]
	ok(o.y.Memset(0))
	ok(o.devices[0].Synchronize())
	ok(o.begin.Record(s0))
	for _, s := range streams[1:] {
		ok(s.WaitEvent(o.begin))
	}
	n := o.x.Len() / overlapChunks
	for i := range overlapChunks {
		s, lo, hi := streams[i%len(streams)], i*n, (i+1)*n
		ok(cuda.MemcpyAsync(o.x.Slice(lo, hi), o.in.Slice(lo, hi), s))
		for range overlapPasses {
			ok(o.kernel.Launch(cuda.GridFor(n, 256), cuda.Block(256), s, n, float32(1), o.x.Slice(lo, hi), o.y.Slice(lo, hi)))
		}
		ok(cuda.MemcpyAsync(o.out.Slice(lo, hi), o.y.Slice(lo, hi), s))
	}
	for _, s := range streams[1:] {
		ok(o.mark.Record(s))
		ok(s0.WaitEvent(o.mark))
	}
	ok(o.end.Record(s0))
	ok(s0.Synchronize())
	for i, v := range must(o.out.Float32s()) {
		if want := float32(overlapPasses * (i % 1000)); v != want {
			ok(fmt.Errorf("calibrate: element %d of the overlapped work is %v, want %v", i, v, want))
		}
	}
	return must(cuda.Elapsed(o.begin, o.end))
}

// jacobi is a square grid, cut into rows for the devices; each part has a row of
// its neighbour at its inner edge.
type jacobi struct {
	*rig
	kernel        *cuda.Kernel
	w, turns      int
	parts         []jacobiPart
	begin, end    *cuda.Event
	current, rows int
}

type jacobiPart struct {
	h    int
	grid [2]*cuda.Buffer
	done *cuda.Event
}

func (r *rig) newJacobi(k *cuda.Kernel, size Sizes, parts int) *jacobi {
	j := &jacobi{rig: r, kernel: k, w: size.Width, turns: size.Turns, begin: r.event(0), end: r.event(0), rows: size.Width / parts}
	for d := range parts {
		p := jacobiPart{h: j.rows + parts - 1, done: r.event(d)}
		for i := range p.grid {
			p.grid[i] = must(r.devices[d].Alloc(p.h*j.w, cuda.Float32))
			r.keep = append(r.keep, p.grid[i])
		}
		j.parts = append(j.parts, p)
	}
	return j
}

func (j *jacobi) run() time.Duration {
	whole := make([]float32, j.w*j.w)
	for i := range j.w {
		whole[i], whole[i*j.w] = 1, float32(i%7) // the edges: above and left
	}
	for d, p := range j.parts {
		first := d * (j.rows - 1) // device 1 begins at the last row of device 0
		for _, g := range p.grid {
			ok(g.Upload(whole[first*j.w : (first+p.h)*j.w]))
		}
	}
	j.current = 0
	for _, d := range j.devices {
		ok(d.Synchronize())
	}
	s := j.streams
	ok(j.begin.Record(s[0]))
	for d := range j.parts[1:] {
		ok(s[d+1].WaitEvent(j.begin))
	}
	for range j.turns {
		from, to := j.current, 1-j.current
		for d, p := range j.parts {
			ok(j.kernel.Launch(cuda.Grid((j.w+31)/32, (p.h+7)/8), cuda.Block(32, 8), s[d], j.w, p.h, p.grid[from], p.grid[to]))
			ok(p.done.Record(s[d]))
		}
		if len(j.parts) == 2 {
			a, b := j.parts[0], j.parts[1]
			ok(s[0].WaitEvent(b.done))
			ok(s[1].WaitEvent(a.done))
			// Each copies its inner row to the other's halo.
			ok(cuda.MemcpyPeerAsync(row(b, to, 0, j.w), row(a, to, a.h-2, j.w), s[0]))
			ok(cuda.MemcpyPeerAsync(row(a, to, a.h-1, j.w), row(b, to, 1, j.w), s[1]))
			ok(a.done.Record(s[0]))
			ok(b.done.Record(s[1]))
			ok(s[0].WaitEvent(b.done))
			ok(s[1].WaitEvent(a.done))
		}
		j.current = to
	}
	for d := range j.parts[1:] {
		ok(j.parts[d+1].done.Record(s[d+1]))
		ok(s[0].WaitEvent(j.parts[d+1].done))
	}
	ok(j.end.Record(s[0]))
	ok(s[0].Synchronize())
	return must(cuda.Elapsed(j.begin, j.end))
}

func row(p jacobiPart, g, r, w int) *cuda.Buffer { return p.grid[g].Slice(r*w, (r+1)*w) }

// result is the grid without halos.
func (j *jacobi) result() []float32 {
	all := must(j.parts[0].grid[j.current].Float32s())
	if len(j.parts) == 2 {
		all = append(all[:j.rows*j.w], must(j.parts[1].grid[j.current].Float32s())[j.w:]...)
	}
	return all
}
