// Package instrument instruments kernels on GPUs: they report which memory they touch.
//
// A kernel's source is compiled once more, to PTX, and each access to global memory
// becomes a call which notes it on the device (note.cu): exact to a byte, in tables of a
// bounded size, and to larger granules beyond that. The device makes ranges of the
// notes, and the host is told them.
//
// Where what a kernel touches depends on its arguments alone, only its outline is
// compiled so (outline.go). It runs in a stream of its own, once for all launches with
// the same arguments, and the program's kernel runs as it is. Of other kernels the calls
// stand before the accesses, and these run in the place of the program's; the program's
// streams get an event behind such a kernel, and no other work.
package instrument

import (
	"cmp"
	_ "embed"
	"encoding/binary"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"gocuda/cudaapi/driver"
)

//go:embed note.cu
var code string

// Tracer launches kernels so that they note what they touch.
type Tracer struct {
	d       driver.Driver
	variant func(c driver.Context, dev driver.Device, from *driver.Origin) (made, error)

	whole bool // no outlines: in tests

	sent atomic.Pointer[[]byte]

	mu       sync.Mutex
	modules  map[moduleKey]*module
	variants map[key]*variant
	places   map[driver.Context]*place
	runtimes map[driver.Device]string // the function that kernels call
	jobs     []*job                   // kernels that are not told about yet
	active   bool                     // the collector runs
	kept     int                      // ranges that outlines have told
}

type key struct {
	c      driver.Context
	origin *driver.Origin
}

// module is one whose kernels note what they touch.
type module struct {
	once     sync.Once
	h        driver.Module
	outlines map[string][]int
	waits    map[string]bool
	vars     []Allocation // of the program's module
	err      error
}

// made is a kernel that notes what it touches.
type made struct {
	f driver.Function
	// outline says that it is an outline; by are the numbers of the parameters on which
	// what it touches depends.
	outline bool
	by      []int
	// waits says that it may wait for what something else writes while it runs.
	waits bool
}

type moduleKey struct {
	c   driver.Context
	of  driver.Module
	src *driver.Source // as a handle may be that of one unloaded before
}

// variant is a kernel that notes what it touches.
type variant struct {
	made
	once    sync.Once
	at      int            // offset of the argument that leads to its trace
	params  []driver.Param // by which launches of an outline differ
	err     error
	dynamic uint32            // shared memory that it was allowed
	told    map[string]*reach // of an outline, by arguments
}

// reach is what all launches of a kernel with the same arguments touch.
type reach struct {
	list    atomic.Pointer[ranges] // nil until the outline has run
	last    atomic.Pointer[cut]
	waiting []teller // guarded by the tracer's mu
}

// cut is what a reach was within some memory.
type cut struct {
	within *Memory // nil if nothing was rounded: then it is the same within any
	list   []driver.Access
}

// within is what the launches touch where there is some memory. Nobody changes the list,
// and where it is the same, so is its memory: thousands of launches share it.
func (x *reach) within(m *Memory) []driver.Access {
	was := x.last.Load()
	if was != nil && (was.within == nil || was.within == m) {
		return was.list
	}
	next := &cut{within: m}
	if all := x.list.Load(); len(all.rounded) == 0 {
		next.list, next.within = all.exact, nil
	} else {
		next.list = all.within(m)
	}
	if was != nil && slices.Equal(was.list, next.list) {
		next.list = was.list
	}
	x.last.Store(next)
	return next.list
}

// teller is somebody who waits for what was touched.
type teller struct {
	within  *Memory
	observe func([]driver.Access)
}

// mostKept is how many ranges outlines may have told until they are asked again.
const mostKept = 1 << 21

// place is what a context has: the code that reads traces, and traces.
type place struct {
	c                   driver.Context
	gather, clear, free driver.Function
	stream, outlines    driver.Stream
	out, head           driver.Ptr // pinned memory for ranges, and their number
	idle                []*trace
	made                int
}

// Sizes of a trace's tables, as powers of two, of which a half is used: pieces of 4 KiB
// for 32 MiB that are exact, of 1 MiB for 8 GiB in granules of 256 bytes, which no two
// allocations share, and of 16 MiB. The nodes of graphs, which keep theirs, have smaller
// ones.
var (
	usual  = [3]int{14, 14, 13}
	ofNode = [3]int{12, 11, 11}
	shifts = [3]uint32{0, 8, 12}
)

const (
	pieceMarks = 3 * 4096 / 8 // bytes
	capacity   = 1 << 17      // ranges that are read
	mostTraces = 24           // of a context, beside those of graphs
)

// trace is room for what one running kernel touches.
type trace struct {
	at    driver.Ptr
	event driver.Event
}

// tableABI and traceABI are gocuda_table and gocuda_trace.
type tableABI struct {
	keys, marks, used driver.Ptr
	count, bits       uint32
	shift, _          uint32
}

type traceABI struct {
	tables  [3]tableABI
	lost, _ uint32
}

// job is a kernel, an outline or a graph that was launched.
type job struct {
	p       *place
	event   driver.Event
	trace   *trace
	reach   *reach // of an outline
	nodes   []*Node
	within  *Memory
	observe []func([]driver.Access)
}

// Node is a kernel of a graph: what all its runs touch is one.
type Node struct {
	p     *place
	trace *trace
	reach *reach // of one that has an outline
}

// New is a tracer for kernels that d compiles.
func New(d driver.Driver) *Tracer {
	t := &Tracer{d: d, modules: map[moduleKey]*module{}, variants: map[key]*variant{}, places: map[driver.Context]*place{}, runtimes: map[driver.Device]string{}}
	t.variant = t.instrument
	return t
}

// Memory is the allocations that there are, in the order of their addresses. Ranges that
// were rounded to granules are cut to them; one that meets none is a variable's, perhaps,
// and stays. Nobody changes it.
type Memory struct{ Allocations []Allocation }

// Allocation is the addresses from Lo to before Hi.
type Allocation struct{ Lo, Hi driver.Ptr }

// within are the ranges, of which those that were rounded are cut.
func (n *ranges) within(m *Memory) []driver.Access {
	list := slices.Clone(n.exact)
	for _, r := range n.rounded {
		from := len(list)
		i := sort.Search(len(m.Allocations), func(i int) bool { return m.Allocations[i].Hi > r.Lo })
		for ; i < len(m.Allocations) && m.Allocations[i].Lo < r.Hi; i++ {
			list = append(list, driver.Access{Lo: max(r.Lo, m.Allocations[i].Lo), Hi: min(r.Hi, m.Allocations[i].Hi), Mode: r.Mode})
		}
		if len(list) == from {
			list = append(list, r)
		}
	}
	return merge(list)
}

// Prepared is a kernel that can be launched so that it tells what it touches.
type Prepared struct {
	t     *Tracer
	p     *place
	v     *variant
	reach *reach // of one that has an outline
	trace *trace
}

// Prepare does all that comes before a launch, such as the run of an outline; captured
// says that the launch is to be captured. It is nil where a kernel cannot tell what it
// touches: its source is not known, or it would not run as the program's own does.
func (t *Tracer) Prepare(c driver.Context, dev driver.Device, l *driver.Launch, captured bool) *Prepared {
	p, v := t.ready(c, dev, l)
	if v == nil {
		return nil
	}
	k := &Prepared{t: t, p: p, v: v}
	switch {
	case v.outline:
		k.reach = t.reach(p, v, l)
	case captured:
		k.trace, _ = t.newTrace(p, ofNode)
	default:
		k.trace = t.take(p)
	}
	if k.reach == nil && k.trace == nil {
		return nil
	}
	return k
}

// Known gives what the kernel will touch of the allocations that there are, if that is
// known before it is launched: the launch needs no more than the driver's call then. The
// list is not the caller's.
func (k *Prepared) Known(allocations func() *Memory) (list []driver.Access, known bool) {
	if k == nil || k.reach == nil || k.reach.list.Load() == nil {
		return nil, false
	}
	return k.reach.within(allocations()), true
}

// Launch launches the kernel so that observe is called when it is known what it touches:
// when it has run, or before. It reports false if it has launched nothing.
func (k *Prepared) Launch(c driver.Context, l *driver.Launch, within *Memory, observe func([]driver.Access)) bool {
	t := k.t
	if k.reach != nil {
		if t.own(c, l) != nil {
			return false
		}
		t.await(k.reach, teller{within, observe})
		return true
	}
	if t.launch(c, k.v, l, k.trace) != nil || t.d.EventRecord(c, k.trace.event, l.Stream) != nil {
		t.give(k.p, k.trace) // not if the kernel runs and its event fails; then the context is lost
		return false
	}
	t.add(&job{p: k.p, event: k.trace.event, trace: k.trace, within: within, observe: []func([]driver.Access){observe}})
	return true
}

// own launches the program's kernel.
func (t *Tracer) own(c driver.Context, l *driver.Launch) error {
	mine := *l
	mine.Observe = nil
	return t.d.Launch(c, &mine)
}

// reach finds what launches with these arguments touch, and has the outline run if it is
// not known; nil if it cannot.
func (t *Tracer) reach(p *place, v *variant, l *driver.Launch) *reach {
	var room [128]byte
	key := binary.NativeEndian.AppendUint32(room[:0], l.SharedBytes)
	dims := [3]driver.Dim3{l.Grid, l.Block}
	if l.Attributes != nil {
		dims[2] = l.Attributes.Cluster
	}
	for _, d := range dims {
		for _, n := range []uint32{d.X, d.Y, d.Z} {
			key = binary.NativeEndian.AppendUint32(key, n)
		}
	}
	for _, q := range v.params {
		if int(q.Offset+q.Size) <= len(l.Params) {
			key = append(key, l.Params[q.Offset:q.Offset+q.Size]...)
		}
	}
	known := func() *reach {
		t.mu.Lock()
		defer t.mu.Unlock()
		return v.told[string(key)]
	}
	if x := known(); x != nil {
		return x
	}
	trace := t.take(p)
	if trace == nil {
		return nil
	}
	if x := known(); x != nil { // somebody else was faster
		t.give(p, trace)
		return x
	}
	alone := *l
	alone.Stream, alone.Cooperative, alone.Attributes = p.outlines, false, nil
	if l.Attributes != nil && l.Attributes.Cluster != (driver.Dim3{}) {
		alone.Attributes = &driver.LaunchAttributes{Cluster: l.Attributes.Cluster}
	}
	if t.launch(p.c, v, &alone, trace) != nil || t.d.EventRecord(p.c, trace.event, p.outlines) != nil {
		t.give(p, trace)
		return nil
	}
	x := &reach{}
	t.mu.Lock()
	if t.kept > mostKept {
		t.kept = 0
		for _, v := range t.variants {
			clear(v.told)
		}
	}
	if v.told == nil {
		v.told = map[string]*reach{}
	}
	v.told[string(key)] = x
	t.mu.Unlock()
	t.add(&job{p: p, event: trace.event, trace: trace, reach: x})
	return x
}

// await tells somebody what was touched, now or when it is known.
func (t *Tracer) await(x *reach, w teller) {
	t.mu.Lock()
	if x.list.Load() == nil {
		x.waiting = append(x.waiting, w)
		t.mu.Unlock()
		return
	}
	t.mu.Unlock()
	w.observe(x.within(w.within))
}

// Capture is Launch in a stream that is captured; nil if nothing was launched.
// [Tracer.Ran] reports the graph's launches.
func (k *Prepared) Capture(c driver.Context, l *driver.Launch) *Node {
	if k.reach != nil {
		if k.t.own(c, l) != nil {
			return nil
		}
	} else if k.t.launch(c, k.v, l, k.trace) != nil {
		return nil
	}
	return &Node{p: k.p, trace: k.trace, reach: k.reach}
}

// Ran says that a graph was launched into a stream. Each of observe is called when it is
// known what the node of its index touched in this run or an earlier one.
func (t *Tracer) Ran(c driver.Context, dev driver.Device, s driver.Stream, nodes []*Node, within *Memory, observe []func([]driver.Access)) {
	p, err := t.place(c, dev)
	if err != nil {
		return
	}
	wait := false
	for i, n := range nodes {
		if n.reach != nil {
			t.await(n.reach, teller{within, observe[i]})
		} else {
			wait = true
		}
	}
	if !wait {
		return
	}
	e, err := t.d.EventCreate(c, driver.EventDisableTiming)
	if err != nil {
		return
	}
	if t.d.EventRecord(c, e, s) == nil {
		t.add(&job{p: p, event: e, nodes: nodes, within: within, observe: observe})
	}
}

// Settle waits until all that has run has been told. Kernels that have not run are
// waited for until stop is closed.
func (t *Tracer) Settle(stop <-chan struct{}) {
	for {
		t.mu.Lock()
		left := len(t.jobs)
		t.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-stop:
			return
		case <-time.After(50 * time.Microsecond):
		}
	}
}

// Forget drops what was loaded into contexts that are gone.
func (t *Tracer) Forget(gone func(driver.Context) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.modules, func(k moduleKey, _ *module) bool { return gone(k.c) })
	maps.DeleteFunc(t.variants, func(k key, _ *variant) bool { return gone(k.c) })
	maps.DeleteFunc(t.places, func(c driver.Context, _ *place) bool { return gone(c) })
	t.jobs = slices.DeleteFunc(t.jobs, func(j *job) bool { return gone(j.p.c) })
}

// Unload drops what was loaded for a module's kernels, which are done: the module is
// about to be unloaded.
func (t *Tracer) Unload(c driver.Context, of driver.Module) {
	var list []*module
	t.mu.Lock()
	maps.DeleteFunc(t.modules, func(k moduleKey, m *module) bool {
		gone := k.c == c && k.of == of
		if gone {
			list = append(list, m)
		}
		return gone
	})
	maps.DeleteFunc(t.variants, func(k key, _ *variant) bool { return k.c == c && k.origin.Module == of })
	p := t.places[c]
	t.mu.Unlock()
	for _, m := range list {
		if m.h != 0 && (p == nil || t.d.StreamSynchronize(c, p.outlines, nil) == nil) {
			t.d.ModuleUnload(c, m.h) //nolint:errcheck // it is not used again
		}
	}
}

// Preload does what the first launch of a kernel would do: CUDA may load code only when
// what runs has ended, which may wait for what the program does after that launch. It
// gives the variables of the kernel's module, as far as they are known.
func (t *Tracer) Preload(c driver.Context, dev driver.Device, from *driver.Origin) []Allocation {
	if t.loaded(c, dev, from).err == nil {
		t.place(c, dev) //nolint:errcheck // a launch will ask again
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if m := t.modules[moduleKey{c, from.Module, from.Source}]; m != nil {
		return m.vars
	}
	return nil
}

// loaded is the variant of a kernel.
func (t *Tracer) loaded(c driver.Context, dev driver.Device, from *driver.Origin) *variant {
	k := key{c, from}
	t.mu.Lock()
	v := t.variants[k]
	if v == nil {
		v = &variant{}
		t.variants[k] = v
	}
	t.mu.Unlock()
	v.once.Do(func() { v.err = t.load(v, c, dev, from) })
	return v
}

// ready finds the variant of a kernel that is to be launched, nil if there is none.
func (t *Tracer) ready(c driver.Context, dev driver.Device, l *driver.Launch) (*place, *variant) {
	if l.Origin == nil {
		return nil, nil
	}
	v := t.loaded(c, dev, l.Origin)
	if v.err != nil {
		return nil, nil
	}
	if !v.outline && v.waits && l.Origin.Polls && !t.fits(c, dev, v, l) {
		return nil, nil
	}
	const withoutAsking = 32 << 10
	t.mu.Lock()
	more := l.SharedBytes > max(withoutAsking, v.dynamic)
	t.mu.Unlock()
	if more {
		if t.d.SetFunctionAttribute(c, v.f, driver.FuncMaxDynamicShared, int(l.SharedBytes)) != nil {
			return nil, nil
		}
		t.mu.Lock()
		v.dynamic = max(v.dynamic, l.SharedBytes)
		t.mu.Unlock()
	}
	p, err := t.place(c, dev)
	if err != nil {
		return nil, nil
	}
	return p, v
}

// fits reports whether blocks that wait for each other, or for another kernel's, all have
// room where they have it in the program's kernel: the calls need registers. Of a
// cooperative launch the driver itself says whether it has room.
func (t *Tracer) fits(c driver.Context, dev driver.Device, v *variant, l *driver.Launch) bool {
	threads := int(l.Block.X * l.Block.Y * l.Block.Z)
	own, err := t.d.MaxActiveBlocks(c, l.Function, threads, uint64(l.SharedBytes))
	its, err2 := t.d.MaxActiveBlocks(c, v.f, threads, uint64(l.SharedBytes))
	if err != nil || err2 != nil {
		return false
	}
	if its >= own {
		return true
	}
	processors, err := t.d.DeviceAttribute(driver.MultiprocessorCount, dev)
	blocks := uint64(l.Grid.X) * uint64(l.Grid.Y) * uint64(l.Grid.Z)
	const others = 2 // a half of the device is theirs
	return err == nil && others*blocks <= uint64(its*processors)
}

// load makes a kernel's variant.
func (t *Tracer) load(v *variant, c driver.Context, dev driver.Device, from *driver.Origin) (err error) {
	if v.made, err = t.variant(c, dev, from); err != nil {
		return err
	}
	params, err := t.d.FunctionParams(c, v.f)
	if err != nil {
		return err
	}
	if len(params) == 0 {
		return fmt.Errorf("%s has no arguments", from.Symbol)
	}
	v.at = int(params[len(params)-1].Offset)
	for _, k := range v.by {
		v.params = append(v.params, params[k])
	}
	return nil
}

// launch launches a variant with a trace as its last argument.
func (t *Tracer) launch(c driver.Context, v *variant, l *driver.Launch, x *trace) error {
	mine := *l
	mine.Function, mine.Observe = v.f, nil
	mine.Params = make([]byte, v.at+8)
	copy(mine.Params[:v.at], l.Params)
	*(*driver.Ptr)(unsafe.Pointer(&mine.Params[v.at])) = x.at
	return t.d.Launch(c, &mine)
}

// toPTX are the options by which a source becomes PTX for a device.
func toPTX(options []string, arch string) (list []string) {
	for _, o := range options {
		name, value, _ := strings.Cut(o, "=")
		switch name {
		case "-arch", "--gpu-architecture":
			arch = strings.Replace(value, "sm_", "compute_", 1)
		case "-G", "--device-debug", "-lineinfo", "--generate-line-info":
		default:
			list = append(list, o)
		}
	}
	return append(list, "-arch="+arch)
}

// instrument is a kernel that notes what it touches.
func (t *Tracer) instrument(c driver.Context, dev driver.Device, from *driver.Origin) (v made, err error) {
	m := t.moduleOf(c, from)
	m.once.Do(func() { m.err = t.loadModule(m, c, dev, from) })
	if m.err != nil {
		return made{}, m.err
	}
	v.by, v.outline = m.outlines[from.Symbol]
	v.waits = m.waits[from.Symbol]
	v.f, err = t.d.ModuleFunction(c, m.h, from.Symbol)
	return v, err
}

// moduleOf is what there is of a kernel's module.
func (t *Tracer) moduleOf(c driver.Context, from *driver.Origin) *module {
	k := moduleKey{c, from.Module, from.Source}
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.modules[k]
	if m == nil {
		m = &module{}
		t.modules[k] = m
	}
	return m
}

// loadModule compiles a module whose kernels note what they touch.
func (t *Tracer) loadModule(m *module, c driver.Context, dev driver.Device, from *driver.Origin) error {
	major, err := t.d.DeviceAttribute(driver.ComputeCapabilityMajor, dev)
	if err != nil {
		return err
	}
	minor, err := t.d.DeviceAttribute(driver.ComputeCapabilityMinor, dev)
	if err != nil {
		return err
	}
	arch := fmt.Sprintf("compute_%d%d", major, minor)
	text := string(from.Image)
	if from.Source != nil {
		src := *from.Source
		src.Options = toPTX(src.Options, arch)
		out, err := t.d.Compile(dev, &src)
		if err != nil {
			return err
		}
		text = string(out.Image)
	}
	called, err := t.called(dev, arch)
	if err != nil {
		return err
	}
	made, err := rewrite(text, called, !t.whole)
	if err != nil {
		return err
	}
	if m.h, err = t.d.ModuleLoad(c, []byte(made.text)); err != nil {
		// Whole kernels may be to the compiler's liking.
		if made, err = rewrite(text, called, false); err != nil {
			return err
		}
		if m.h, err = t.d.ModuleLoad(c, []byte(made.text)); err != nil {
			return err
		}
	}
	m.outlines, m.waits = made.outlines, made.waits
	p, err := t.place(c, dev)
	if err != nil {
		return err
	}
	for i, g := range made.globals {
		// The variables are those of the module that the program uses. What it cannot
		// be asked for stays this one's, such as the text of a printf.
		at, n, err := t.d.ModuleGlobal(c, from.Module, g)
		if err != nil {
			continue
		}
		m.vars = append(m.vars, Allocation{at, at + driver.Ptr(n)})
		to, _, err := t.d.ModuleGlobal(c, m.h, pointerTo(i))
		if err != nil {
			return err
		}
		if err := t.put(p, to, unsafe.Slice((*byte)(unsafe.Pointer(&at)), 8)); err != nil {
			return err
		}
	}
	return nil
}

// put copies bytes to a device, and waits: a synchronous copy from pageable memory may
// return before it is done.
func (t *Tracer) put(p *place, to driver.Ptr, b []byte) error {
	kept := slices.Clone(b)
	t.sent.Store(&kept) // so it is on the heap, and stays where it is
	if err := t.d.MemcpyAsync(p.c, to, driver.Ptr(uintptr(unsafe.Pointer(&kept[0]))), uint64(len(b)), p.stream); err != nil {
		return err
	}
	err := t.d.StreamSynchronize(p.c, p.stream, nil)
	runtime.KeepAlive(kept)
	return err
}

// called is the PTX of what kernels call.
func (t *Tracer) called(dev driver.Device, arch string) (string, error) {
	t.mu.Lock()
	text := t.runtimes[dev]
	t.mu.Unlock()
	if text != "" {
		return text, nil
	}
	out, err := t.d.Compile(dev, &driver.Source{Name: "note.cu", Code: code, Options: []string{"-DGOCUDA_NOTE", "-rdc=true", "-arch=" + arch}})
	if err != nil {
		return "", err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runtimes[dev] = string(out.Image)
	return string(out.Image), nil
}

// place is a context's.
func (t *Tracer) place(c driver.Context, dev driver.Device) (*place, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.places[c]
	if p != nil {
		return p, nil
	}
	out, err := t.d.Compile(dev, &driver.Source{Name: "note.cu", Code: code, Options: []string{"-DGOCUDA_READ"}})
	if err != nil {
		return nil, err
	}
	m, err := t.d.ModuleLoad(c, out.Image)
	if err != nil {
		return nil, err
	}
	p = &place{c: c}
	for name, f := range map[string]*driver.Function{"gocuda_gather": &p.gather, "gocuda_clear": &p.clear, "gocuda_free": &p.free} {
		if *f, err = t.d.ModuleFunction(c, m, name); err != nil {
			return nil, err
		}
	}
	for _, s := range []*driver.Stream{&p.stream, &p.outlines} {
		if *s, err = t.d.StreamCreate(c, driver.StreamNonBlocking, 0); err != nil {
			return nil, err
		}
	}
	if p.out, err = t.d.HostAlloc(c, 16*capacity+8, 0); err != nil {
		return nil, err
	}
	p.head = p.out + 16*capacity
	for range 4 { // no kernel may run while memory is made
		x, err := t.newTrace(p, usual)
		if err != nil {
			return nil, err
		}
		p.idle = append(p.idle, x)
		p.made++
	}
	t.places[c] = p
	return p, nil
}

// newTrace makes an empty trace.
func (t *Tracer) newTrace(p *place, bits [3]int) (*trace, error) {
	size := uint64(unsafe.Sizeof(traceABI{}))
	var h traceABI
	for i, b := range bits {
		n := uint64(1) << b
		h.tables[i] = tableABI{keys: driver.Ptr(size), marks: driver.Ptr(size + 12*n), used: driver.Ptr(size + 8*n), bits: uint32(b), shift: shifts[i]}
		size += n * (12 + pieceMarks)
	}
	at, err := t.d.MemAlloc(p.c, size)
	if err != nil {
		return nil, err
	}
	for i := range h.tables {
		h.tables[i].keys += at
		h.tables[i].marks += at
		h.tables[i].used += at
	}
	if err := t.d.MemsetAsync(p.c, at, 0, 1, size, p.stream); err != nil {
		return nil, err
	}
	if err := t.d.StreamSynchronize(p.c, p.stream, nil); err != nil {
		return nil, err
	}
	if err := t.put(p, at, unsafe.Slice((*byte)(unsafe.Pointer(&h)), unsafe.Sizeof(h))); err != nil {
		return nil, err
	}
	x := &trace{at: at}
	x.event, err = t.d.EventCreate(p.c, driver.EventDisableTiming)
	return x, err
}

// take gives an empty trace. Where there are very many kernels that have not run, it
// waits for some to end, for a second at most.
func (t *Tracer) take(p *place) *trace {
	for end := time.Now().Add(time.Second); ; {
		t.mu.Lock()
		if n := len(p.idle); n > 0 {
			x := p.idle[n-1]
			p.idle = p.idle[:n-1]
			t.mu.Unlock()
			return x
		}
		more := p.made < mostTraces
		if more {
			p.made++
		}
		t.mu.Unlock()
		if more {
			x, err := t.newTrace(p, usual)
			if err == nil {
				return x
			}
			t.mu.Lock()
			p.made--
			t.mu.Unlock()
		}
		if time.Now().After(end) {
			return nil
		}
		time.Sleep(20 * time.Microsecond)
	}
}

func (t *Tracer) give(p *place, x *trace) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.idle = append(p.idle, x)
}

// add has the collector report a job.
func (t *Tracer) add(j *job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.jobs = append(t.jobs, j)
	if !t.active {
		t.active = true
		go t.collect()
	}
}

// collect reports kernels as they end, until none is left.
func (t *Tracer) collect() {
	const longest = time.Millisecond
	pause := time.Duration(0)
	for {
		t.mu.Lock()
		jobs := slices.Clone(t.jobs)
		if len(jobs) == 0 {
			t.active = false
			t.mu.Unlock()
			return
		}
		t.mu.Unlock()
		any := false
		for _, j := range jobs {
			done, err := t.d.EventQuery(j.p.c, j.event)
			if !done && err == nil {
				continue
			}
			any = true
			if err == nil {
				t.tell(j)
			}
			t.mu.Lock()
			t.jobs = slices.DeleteFunc(t.jobs, func(o *job) bool { return o == j })
			t.mu.Unlock()
		}
		if any {
			pause = 0
			continue
		}
		pause = min(max(2*pause, 10*time.Microsecond), longest)
		time.Sleep(pause)
	}
}

// tell reads what a job's kernels have touched.
func (t *Tracer) tell(j *job) {
	if j.trace != nil {
		list, err := t.read(j.p, j.trace)
		if err == nil {
			err = t.clean(j.p, j.trace)
		}
		if err != nil {
			return
		}
		t.give(j.p, j.trace)
		if j.reach == nil {
			j.observe[0](list.within(j.within))
			return
		}
		t.mu.Lock()
		t.kept += len(list.exact) + len(list.rounded)
		waiting := j.reach.settle(list)
		t.mu.Unlock()
		for _, w := range waiting {
			w.observe(j.reach.within(w.within))
		}
		return
	}
	for i, n := range j.nodes {
		if n.trace == nil {
			continue
		}
		if list, err := t.read(n.p, n.trace); err == nil {
			j.observe[i](list.within(j.within))
		}
	}
	t.d.EventDestroy(j.p.c, j.event) //nolint:errcheck // nothing is lost but an event
}

// settle says what was touched, and gives who waits for it.
func (x *reach) settle(list *ranges) []teller {
	x.list.Store(list)
	waiting := x.waiting
	x.waiting = nil
	return waiting
}

// run runs one of the kernels that read traces.
func (t *Tracer) run(p *place, f driver.Function, blocks uint32, args ...uint64) error {
	params := unsafe.Slice((*byte)(unsafe.Pointer(&args[0])), 8*len(args))
	return t.d.Launch(p.c, &driver.Launch{Function: f, Grid: driver.Dim3{X: blocks, Y: 1, Z: 1}, Block: driver.Dim3{X: 128, Y: 1, Z: 1},
		Stream: p.stream, Params: params, Name: "gocuda_gather"})
}

// ranges are those of a trace, in order: those that are known to the byte, and those
// that were rounded to granules.
type ranges struct{ exact, rounded []driver.Access }

// read makes ranges of a trace.
func (t *Tracer) read(p *place, x *trace) (*ranges, error) {
	head := (*uint32)(pointer(p.head))
	n := uint32(0)
	for whole := range uint64(2) {
		*head = 0
		if err := t.run(p, p.gather, 256, uint64(x.at), uint64(p.out), uint64(p.head), capacity|whole<<32); err != nil {
			return nil, err
		}
		if err := t.d.StreamSynchronize(p.c, p.stream, nil); err != nil {
			return nil, err
		}
		if n = *head; n <= capacity {
			break
		}
	}
	words := unsafe.Slice((*[2]uint64)(pointer(p.out)), min(n, capacity))
	const up = 1 << 63
	list := &ranges{}
	for _, r := range words {
		to := &list.exact
		if r[0]&up != 0 {
			to = &list.rounded
		}
		*to = append(*to, driver.Access{Lo: driver.Ptr(r[0] &^ up), Hi: driver.Ptr(r[1] >> 2), Mode: driver.AccessMode(r[1]&3 + 1)})
	}
	list.exact, list.rounded = slices.Clip(merge(list.exact)), slices.Clip(merge(list.rounded))
	return list, nil
}

func pointer(p driver.Ptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// merge puts ranges in order and neighbours together.
func merge(list []driver.Access) []driver.Access {
	slices.SortFunc(list, func(a, b driver.Access) int {
		return cmp.Or(cmp.Compare(a.Mode, b.Mode), cmp.Compare(a.Lo, b.Lo))
	})
	kept := list[:0]
	for _, a := range list {
		if n := len(kept); n > 0 && kept[n-1].Mode == a.Mode && a.Lo <= kept[n-1].Hi {
			kept[n-1].Hi = max(kept[n-1].Hi, a.Hi)
			continue
		}
		kept = append(kept, a)
	}
	return kept
}

// clean empties a trace.
func (t *Tracer) clean(p *place, x *trace) error {
	if err := t.run(p, p.clear, 256, uint64(x.at)); err != nil {
		return err
	}
	if err := t.run(p, p.free, 1, uint64(x.at)); err != nil {
		return err
	}
	return t.d.StreamSynchronize(p.c, p.stream, nil)
}
