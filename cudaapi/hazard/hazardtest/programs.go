package hazardtest

import (
	"fmt"
	"path"
	"runtime"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/hazard"
	"gocuda/cudaapi/internal/callsite"
)

// A program is right with all of its calls, and has one hazard without one of
// them: the one in needed(), or behind whole().
type program struct {
	name string
	run  func(e *env)
	// right programs lack nothing: they have no counterpart.
	right bool
}

// code is the kernels of all programs; [Clockless] knows them by their names.
const code = `
__device__ unsigned long long seen; // what look has read
__global__ void fill(float *x, const float *y, unsigned lo, unsigned hi) {
    unsigned i = lo + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < hi) x[i] = 1;
}
__global__ void copy(float *x, const float *y, unsigned lo, unsigned hi) {
    unsigned i = lo + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < hi) x[i] = y[i];
}
__global__ void add(float *x, const float *y, unsigned lo, unsigned hi) {
    unsigned i = lo + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < hi) x[i] += y[i];
}
__global__ void count(float *x, const float *y, unsigned lo, unsigned hi) {
    unsigned i = lo + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < hi) atomicAdd(&x[i], 1.0f);
}
__global__ void bytes(float *x, const float *y, unsigned lo, unsigned hi) {
    unsigned i = lo + 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < hi) ((unsigned char *)x)[i] = 1; // each other byte
}
__global__ void look(float *x, const float *y, unsigned lo, unsigned hi) {
    unsigned i = lo + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < hi) atomicAdd(&seen, (unsigned long long)__float_as_uint(y[i]) * (i + 1));
}
`

// elements of each buffer.
const elements = 1024

// tester is what of a test programs need; ranks of a job have no test.
type tester interface {
	Helper()
	Fatal(args ...any)
	Skip(args ...any)
}

// env is what a program has: a device, streams, of which a, b and c do not wait for
// the default stream, buffers, pinned memory; and another device, if there is one.
type env struct {
	t       tester
	mod     *cuda.Module
	d0      *cuda.Device
	a, b, c *cuda.Stream
	def     *cuda.Stream // the default stream of d0
	block   *cuda.Stream // a blocking stream of d0
	x, y, z *cuda.Buffer
	h       *cuda.HostBuffer
	e, f    *cuda.Event
	flag    *cuda.Buffer
	peer    *peer
	slices  [][]float32  // of Go, and ...
	made    *cuda.Buffer // ... memory of the program's own, of which it is asked what is left there
	all     bool         // no call is left out
	left    bool         // one was
	lines   [2]hazard.Place
}

// peer is a second device and what a program has there.
type peer struct {
	d1   *cuda.Device
	far  *cuda.Stream
	w    *cuda.Buffer
	efar *cuda.Event
}

// two gives the second device; a test ends without one.
func (e *env) two() *peer {
	if e.peer == nil {
		e.t.Helper()
		e.t.Skip("needs two devices")
	}
	return e.peer
}

func (e *env) check(err error) {
	if err != nil {
		e.t.Helper()
		e.t.Fatal(err)
	}
}

func init() { callsite.Pass("gocuda/cudaapi/hazard/hazardtest.(*env).") }

// whole reports whether the call that follows is made.
func (e *env) whole() bool {
	e.left = e.left || !e.all
	return e.all
}

// needed makes the call that the program without one lacks.
func (e *env) needed(call func() error) {
	if e.whole() {
		e.check(call())
	}
}

// first and second mark the two operations that a hazard is between.
func (e *env) first(err error)  { e.mark(0, err) }
func (e *env) second(err error) { e.mark(1, err) }

func (e *env) mark(i int, err error) {
	e.t.Helper()
	_, file, line, _ := runtime.Caller(2)
	e.lines[i] = hazard.Place{File: path.Base(file), Line: line}
	e.check(err)
}

// firstAlloc is first for memory that is the program's from now on.
func (e *env) firstAlloc(b *cuda.Buffer, err error) *cuda.Buffer {
	e.t.Helper()
	e.mark(0, err)
	e.made = b
	return b
}

// slice is memory of Go's.
func (e *env) slice() []float32 {
	s := make([]float32, elements)
	e.slices = append(e.slices, s)
	return s
}

// kernel launches a kernel that touches elements lo to hi-1.
func (e *env) kernel(name string, s *cuda.Stream, dst, src any, lo, hi int) error {
	k, err := e.mod.Kernel(name)
	if err != nil {
		return err
	}
	return k.Launch(cuda.GridFor(hi-lo, 128), cuda.Block(128), s, dst, src, lo, hi)
}

func (e *env) fill(s *cuda.Stream, x any) error { return e.kernel("fill", s, x, nil, 0, elements) }
func (e *env) read(s *cuda.Stream, x any) error { return e.kernel("look", s, nil, x, 0, elements) }
func (e *env) copy(s *cuda.Stream, x, y any) error {
	return e.kernel("copy", s, x, y, 0, elements)
}

func newEnv(t tester) *env {
	e := &env{t: t}
	list, err := cuda.Devices()
	e.check(err)
	e.d0 = list[0]
	stream := func(d *cuda.Device, f cuda.StreamFlag) *cuda.Stream {
		s, err := d.NewStream(f)
		e.check(err)
		return s
	}
	e.a, e.b, e.c = stream(e.d0, cuda.NonBlocking), stream(e.d0, cuda.NonBlocking), stream(e.d0, cuda.NonBlocking)
	e.block, e.def = stream(e.d0, cuda.Blocking), e.d0.DefaultStream()
	buffer := func(d *cuda.Device) *cuda.Buffer {
		b, err := d.Alloc(elements, cuda.Float32)
		e.check(err)
		return b
	}
	e.x, e.y, e.z = buffer(e.d0), buffer(e.d0), buffer(e.d0)
	e.h, err = e.d0.AllocHost(elements, cuda.Float32)
	e.check(err)
	e.flag, err = e.d0.Alloc(16, cuda.Uint32)
	e.check(err)
	e.check(e.flag.Memset(0))
	event := func(d *cuda.Device) *cuda.Event {
		v, err := d.NewEvent(cuda.DisableTiming)
		e.check(err)
		return v
	}
	e.e, e.f = event(e.d0), event(e.d0)
	if len(list) > 1 {
		d := list[1]
		e.peer = &peer{d1: d, far: stream(d, cuda.NonBlocking), w: buffer(d), efar: event(d)}
		e.check(e.d0.EnablePeerAccess(d))
		e.check(d.EnablePeerAccess(e.d0))
	}
	e.mod, err = cuda.Compile(code)
	e.check(err)
	for _, name := range []string{"fill", "copy", "add", "count", "look"} { // loaded, so that launches are all there is
		e.check(e.kernel(name, e.a, e.x, e.y, 0, 1))
		if e.peer != nil {
			e.check(e.kernel(name, e.peer.far, e.peer.w, e.peer.w, 0, 1))
		}
	}
	e.check(cuda.Synchronize())
	hazard.Forget()
	return e
}

// Run runs every program with all of its calls, and without one, on the devices
// that open makes known before each.
func Run(t *testing.T, open func(t *testing.T)) {
	count := 0
	for _, p := range programs {
		for _, all := range []bool{true, false} {
			if p.right && !all {
				continue
			}
			count++
			name := p.name
			if !all {
				name += ", without"
			}
			t.Run(name, func(t *testing.T) {
				open(t)
				try(t, p, all)
			})
		}
	}
	t.Logf("%d programs", count)
}

func try(t *testing.T, p program, all bool) {
	if err := hazard.On(); err != nil {
		t.Fatal(err)
	}
	defer hazard.Off() //nolint:errcheck // the next one would fail too
	e := newEnv(t)
	e.all = all
	func() { p.run(e) }()
	if wrong := e.verdict(hazard.Reports()); wrong != "" {
		t.Fatal(wrong)
	}
}

// verdict says what is wrong with the reports of a program; "" if nothing is.
func (e *env) verdict(list hazard.List) string {
	switch {
	case e.all && len(list) > 0:
		return fmt.Sprintf("nothing is missing, but:\n%v", list)
	case e.all:
		return ""
	case !e.left:
		return "the program leaves nothing out"
	case len(list) == 0:
		return fmt.Sprintf("no report of %s and %s", e.lines[0], e.lines[1])
	}
	for _, r := range list {
		if r.First.Place == e.lines[0] && r.Second.Place == e.lines[1] {
			if r.Missing == "" || r.Fix == "" {
				return fmt.Sprintf("the report is not whole: %+v", r)
			}
			return ""
		}
	}
	return fmt.Sprintf("no report of %s and %s, but\n%v", e.lines[0], e.lines[1], list)
}

// capture makes a graph of what f queues.
func (e *env) capture(s *cuda.Stream, f func()) *cuda.GraphExec {
	g, err := s.Capture(func() error { f(); return nil })
	e.check(err)
	x, err := g.Instantiate()
	e.check(err)
	return x
}

// onThread keeps a program on one thread, to which the per-thread stream belongs.
func onThread() (unlock func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
