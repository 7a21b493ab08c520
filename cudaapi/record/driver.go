package record

import (
	"slices"
	"sync"
	"time"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/callsite"
	"gocuda/cudaapi/internal/instrument"
)

// Driver records what another driver is given.
type Driver struct {
	// The next one gets each call that no method here records.
	driver.Driver

	graphs driver.Graphs // of the next one, nil if it has none
	rec    *Recorder
	watch  bool               // the next one tells what kernels touch
	tracer *instrument.Tracer // has kernels tell it, where that one does not

	mu       sync.Mutex
	devices  map[driver.Context]driver.Device
	lanes    map[laneKey]*Lane
	events   map[driver.Event]*event
	memory   regions
	captures map[*Lane]*capture
	made     map[driver.Graph][]Node
	execs    map[driver.GraphExec]*exec
}

var _ driver.Driver = (*Driver)(nil)

// laneKey is a stream as calls name it. The default streams belong to a context,
// the per-thread one to a thread of it.
type laneKey struct {
	c      driver.Context
	s      driver.Stream
	thread int
}

// event is what is known of an event: what it is while a capture goes on.
type event struct {
	*Event
	capture *capture
	tail    []int
}

// withGraphs is a Driver whose next one has graphs.
type withGraphs struct{ *Driver }

var _ driver.Graphs = withGraphs{}

// Wrap puts a recorder around a driver. contexts are those in use already, and
// all work that is queued must be done.
func Wrap(d driver.Driver, rec *Recorder, contexts map[driver.Context]driver.Device) driver.Driver {
	w := &Driver{Driver: d, rec: rec, memory: regions{shared: &rec.shared}, devices: map[driver.Context]driver.Device{}, lanes: map[laneKey]*Lane{}, events: map[driver.Event]*event{},
		captures: map[*Lane]*capture{}, made: map[driver.Graph][]Node{}, execs: map[driver.GraphExec]*exec{}}
	for c, dev := range contexts {
		w.devices[c] = dev
	}
	rec.mu.Lock()
	rec.drivers = append(rec.drivers, w)
	rec.mu.Unlock()
	wanted := rec.Keeps() // what kernels touch; a timer alone does not ask
	if o, ok := d.(driver.Observer); ok && wanted {
		w.watch = o.ObservesKernels()
	}
	if p, ok := d.(driver.PTXLoader); ok && wanted && !w.watch && p.LoadsPTX() {
		w.tracer = tracerOf(d)
	}
	if w.graphs, _ = d.(driver.Graphs); w.graphs != nil {
		return withGraphs{w}
	}
	return w
}

// tracers are those of drivers: what they have loaded serves the next recording too.
var tracers struct {
	sync.Mutex
	of map[driver.Driver]*instrument.Tracer
}

func tracerOf(d driver.Driver) *instrument.Tracer {
	tracers.Lock()
	defer tracers.Unlock()
	t := tracers.of[d]
	if t == nil {
		t = instrument.New(d)
		if tracers.of == nil {
			tracers.of = map[driver.Driver]*instrument.Tracer{}
		}
		tracers.of[d] = t
	}
	return t
}

// lane is the stream that a call names. d.mu is held.
func (d *Driver) lane(c driver.Context, s driver.Stream) *Lane {
	key := laneKey{s: s}
	switch s {
	case driver.StreamDefault, driver.StreamLegacy:
		key = laneKey{c: c}
	case driver.StreamPerThread:
		key.c, key.thread = c, thread()
	}
	l := d.lanes[key]
	if l != nil {
		return l
	}
	l = &Lane{ID: d.rec.id(), Context: c, Device: d.devices[c], Handle: s}
	switch s {
	case driver.StreamDefault, driver.StreamLegacy:
		l.Name, l.Legacy = "the default stream", true
	case driver.StreamPerThread:
		l.Name, l.Blocking = "the per-thread default stream", true
	default: // one from before the recording
		f, err := d.Driver.StreamGetFlags(c, s)
		l.Blocking = err == nil && f&driver.StreamNonBlocking == 0
		l.Name = "stream " + hex(uint64(s))
	}
	d.lanes[key] = l
	return l
}

func hex(v uint64) string {
	const digits = "0123456789abcdef"
	var b [18]byte
	i := len(b)
	for ; v > 0; v >>= 4 {
		i--
		b[i] = digits[v&15]
	}
	return "0x" + string(b[i:])
}

func (d *Driver) event(e driver.Event) *event {
	v := d.events[e]
	if v == nil {
		v = &event{Event: &Event{ID: d.rec.id()}}
		d.events[e] = v
	}
	return v
}

// queue records an operation that a call puts into a stream.
func (d *Driver) queue(o *Op, c driver.Context, s driver.Stream, call func() error) error {
	d.rec.current.Store(d)
	if !o.Site.Known() {
		o.Site = callsite.Here()
	}
	if late := delayed.Load(); late != nil && (*late)(o) {
		if x, ok := d.Driver.(driver.Delayer); ok {
			now := call
			call = func() error { return x.Delay(now) }
		}
	}
	d.mu.Lock()
	o.Lane = d.lane(c, s)
	captured := d.captures[o.Lane]
	d.mu.Unlock()
	if captured != nil {
		err := call()
		if err == nil {
			d.mu.Lock()
			captured.add(o)
			d.mu.Unlock()
		}
		return err
	}
	seq := d.rec.Take()
	err := d.timed(o, call)
	if err != nil {
		o = nil
	}
	d.rec.Post(seq, o)
	return err
}

// after records a wait of the host's, which is over when call returns. It is for what
// was queued when it began: other goroutines may queue more while it lasts.
func (d *Driver) after(o *Op, call func() error) error {
	if !o.Site.Known() {
		o.Site = callsite.Here()
	}
	begun := *o
	begun.Kind = SyncBegun
	d.rec.Add(&begun)
	o.Target = &begun
	err := d.waits(o, call)
	if err != nil {
		o = &Op{Kind: SyncEnded, Call: o.Call, Site: o.Site, Target: &begun}
	}
	d.rec.Add(o)
	return err
}

func (d *Driver) PrimaryRetain(v driver.Device) (driver.Context, error) {
	c, err := d.Driver.PrimaryRetain(v)
	if err == nil {
		d.mu.Lock()
		d.devices[c] = v
		d.mu.Unlock()
	}
	return c, err
}

// PrimaryReset ends all that is queued on the device.
func (d *Driver) PrimaryReset(v driver.Device) error {
	err := d.Driver.PrimaryReset(v)
	if err == nil {
		d.mu.Lock()
		gone := map[driver.Context]bool{}
		for c, of := range d.devices {
			gone[c] = of == v
		}
		for k, l := range d.lanes {
			if gone[l.Context] {
				delete(d.lanes, k)
			}
		}
		d.memory.forget(func(r *region) bool { return r.Type != driver.MemoryUnregistered && gone[r.Ctx] })
		if d.tracer != nil {
			d.tracer.Forget(func(c driver.Context) bool { return gone[c] })
		}
		d.mu.Unlock()
		d.rec.Now(&Op{Kind: SyncAll, Call: "cuDevicePrimaryCtxReset"})
	}
	return err
}

func (d *Driver) CtxSynchronize(c driver.Context, stop <-chan struct{}) error {
	return d.after(&Op{Kind: SyncContext, Call: "cuCtxSynchronize", Context: c}, func() error { return d.Driver.CtxSynchronize(c, stop) })
}

// alloc records memory that is there when its call returns.
func (d *Driver) alloc(call string, t driver.MemoryType, c driver.Context, n uint64, f func() (driver.Ptr, error)) (driver.Ptr, error) {
	p, err := f()
	if err == nil {
		d.own(driver.PointerInfo{Type: t, Ctx: c, Base: p, Size: n}, c)
		d.rec.Now(&Op{Kind: Alloc, Call: call, Addr: uint64(p), Bytes: n, Context: c})
	}
	return p, err
}

func (d *Driver) own(r driver.PointerInfo, c driver.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r.Device = d.devices[c]
	d.memory.add(region{PointerInfo: r})
}

// free records that the host gives memory back: numbered before, for what comes
// after it may get the same memory.
func (d *Driver) free(call string, p driver.Ptr, f func() error) error {
	d.mu.Lock()
	r := d.memory.take(uint64(p))
	d.mu.Unlock()
	o := &Op{Kind: Free, Call: call, Site: callsite.Here(), Addr: uint64(p), Keeps: call == "cuMemHostUnregister"}
	if r != nil {
		o.Addr, o.Bytes = uint64(r.Base), r.Size
	}
	return d.gone(o, func() error {
		err := f()
		if err != nil && r != nil {
			d.mu.Lock()
			d.memory.add(*r)
			d.mu.Unlock()
		}
		return err
	})
}

// gone records an operation after which the host has less memory.
func (d *Driver) gone(o *Op, f func() error) error {
	if !o.Site.Known() {
		o.Site = callsite.Here()
	}
	seq := d.rec.Take()
	err := f()
	if err != nil {
		o = nil
	}
	d.rec.Post(seq, o)
	return err
}

func (d *Driver) MemAlloc(c driver.Context, n uint64) (driver.Ptr, error) {
	return d.alloc("cuMemAlloc", driver.MemoryDevice, c, n, func() (driver.Ptr, error) { return d.Driver.MemAlloc(c, n) })
}

func (d *Driver) MemFree(c driver.Context, p driver.Ptr) error {
	return d.free("cuMemFree", p, func() error { return d.Driver.MemFree(c, p) })
}

func (d *Driver) MemAllocManaged(c driver.Context, n uint64) (driver.Ptr, error) {
	return d.alloc("cuMemAllocManaged", driver.MemoryManaged, c, n, func() (driver.Ptr, error) { return d.Driver.MemAllocManaged(c, n) })
}

func (d *Driver) allocAsync(call string, c driver.Context, n uint64, s driver.Stream, f func() (driver.Ptr, error)) (p driver.Ptr, err error) {
	o := &Op{Kind: AllocAsync, Call: call, Bytes: n}
	err = d.queue(o, c, s, func() (err error) {
		if p, err = f(); err == nil {
			o.Addr = uint64(p)
			d.own(driver.PointerInfo{Type: driver.MemoryDevice, Base: p, Size: n}, c)
		}
		return err
	})
	return p, err
}

func (d *Driver) MemAllocAsync(c driver.Context, n uint64, s driver.Stream) (driver.Ptr, error) {
	return d.allocAsync("cuMemAllocAsync", c, n, s, func() (driver.Ptr, error) { return d.Driver.MemAllocAsync(c, n, s) })
}

func (d *Driver) MemAllocFromPoolAsync(c driver.Context, n uint64, p driver.MemPool, s driver.Stream) (driver.Ptr, error) {
	return d.allocAsync("cuMemAllocFromPoolAsync", c, n, s, func() (driver.Ptr, error) { return d.Driver.MemAllocFromPoolAsync(c, n, p, s) })
}

func (d *Driver) MemFreeAsync(c driver.Context, p driver.Ptr, s driver.Stream) error {
	o := &Op{Kind: FreeAsync, Call: "cuMemFreeAsync", Addr: uint64(p)}
	d.mu.Lock()
	r := d.memory.take(uint64(p))
	d.mu.Unlock()
	if r != nil {
		o.Bytes = r.Size
	}
	err := d.queue(o, c, s, func() error { return d.Driver.MemFreeAsync(c, p, s) })
	if err != nil && r != nil {
		d.mu.Lock()
		d.memory.add(*r)
		d.mu.Unlock()
	}
	return err
}

func (d *Driver) MemPoolExportPointer(c driver.Context, p driver.Ptr) (driver.PoolPointer, error) {
	x, err := d.Driver.MemPoolExportPointer(c, p)
	if err == nil {
		d.shared("cuMemPoolExportPointer", c, p, string(x[:]))
	}
	return x, err
}

func (d *Driver) MemPoolImportPointer(c driver.Context, p driver.MemPool, x driver.PoolPointer) (driver.Ptr, error) {
	return d.imported("cuMemPoolImportPointer", c, string(x[:]), func() (driver.Ptr, error) { return d.Driver.MemPoolImportPointer(c, p, x) })
}

// imported records memory of another process. What is opened again is the same
// memory.
func (d *Driver) imported(call string, c driver.Context, key string, f func() (driver.Ptr, error)) (driver.Ptr, error) {
	p, err := f()
	if err != nil {
		return p, err
	}
	d.mu.Lock()
	r := d.memory.find(uint64(p))
	again := r != nil && r.opens > 0
	if again {
		r.opens++
	}
	d.mu.Unlock()
	if again {
		return p, nil
	}
	info, err := d.Driver.PointerAttributes(c, p)
	if err != nil {
		return p, nil // of no use to the record, but to the program
	}
	n := info.Size - uint64(p-info.Base)
	d.mu.Lock()
	n = d.memory.room(uint64(p), n) // the driver may report more than there is
	d.memory.add(region{driver.PointerInfo{Type: info.Type, Ctx: info.Ctx, Device: info.Device, Base: p, Size: n}, 1})
	d.mu.Unlock()
	d.rec.Now(&Op{Kind: Alloc, Call: call, Addr: uint64(p), Bytes: n, Context: c, Key: key})
	return p, nil
}

func (d *Driver) HostAlloc(c driver.Context, n uint64, f driver.HostAllocFlags) (driver.Ptr, error) {
	return d.alloc("cuMemHostAlloc", driver.MemoryHost, c, n, func() (driver.Ptr, error) { return d.Driver.HostAlloc(c, n, f) })
}

func (d *Driver) HostFree(c driver.Context, p driver.Ptr) error {
	return d.free("cuMemFreeHost", p, func() error { return d.Driver.HostFree(c, p) })
}

func (d *Driver) HostRegister(c driver.Context, p driver.Ptr, n uint64, f driver.HostAllocFlags) error {
	_, err := d.alloc("cuMemHostRegister", driver.MemoryHost, c, n, func() (driver.Ptr, error) { return p, d.Driver.HostRegister(c, p, n, f) })
	return err
}

func (d *Driver) HostUnregister(c driver.Context, p driver.Ptr) error {
	return d.free("cuMemHostUnregister", p, func() error { return d.Driver.HostUnregister(c, p) })
}

func (d *Driver) MemPrefetchAsync(c driver.Context, p driver.Ptr, n uint64, to driver.Device, s driver.Stream) error {
	return d.queue(&Op{Kind: Prefetch, Call: "cuMemPrefetchAsync", Bytes: n}, c, s, func() error { return d.Driver.MemPrefetchAsync(c, p, n, to, s) })
}

func (d *Driver) Memcpy(c driver.Context, dst, src driver.Ptr, n uint64) error {
	o := d.newCopy("cuMemcpy", c, rows{dst, src, n, n, n, 1}, true)
	return d.queue(o, c, driver.StreamLegacy, func() error { return d.Driver.Memcpy(c, dst, src, n) })
}

func (d *Driver) MemcpyAsync(c driver.Context, dst, src driver.Ptr, n uint64, s driver.Stream) error {
	o := d.newCopy("cuMemcpyAsync", c, rows{dst, src, n, n, n, 1}, false)
	return d.queue(o, c, s, func() error { return d.Driver.MemcpyAsync(c, dst, src, n, s) })
}

// MemcpyPeer comes after all work of both contexts and before all that follows.
func (d *Driver) MemcpyPeer(dst driver.Ptr, dstCtx driver.Context, src driver.Ptr, srcCtx driver.Context, n uint64) error {
	o := d.newCopy("cuMemcpyPeer", srcCtx, rows{dst, src, n, n, n, 1}, true)
	o.Around = []driver.Context{srcCtx, dstCtx}
	return d.queue(o, srcCtx, driver.StreamLegacy, func() error { return d.Driver.MemcpyPeer(dst, dstCtx, src, srcCtx, n) })
}

func (d *Driver) MemcpyPeerAsync(dst driver.Ptr, dstCtx driver.Context, src driver.Ptr, srcCtx driver.Context, n uint64, s driver.Stream) error {
	o := d.newCopy("cuMemcpyPeerAsync", srcCtx, rows{dst, src, n, n, n, 1}, false)
	return d.queue(o, srcCtx, s, func() error { return d.Driver.MemcpyPeerAsync(dst, dstCtx, src, srcCtx, n, s) })
}

func (d *Driver) Memcpy2D(c driver.Context, p *driver.Copy2D) error {
	o := d.newCopy("cuMemcpy2D", c, rowsOf(p), true)
	return d.queue(o, c, driver.StreamLegacy, func() error { return d.Driver.Memcpy2D(c, p) })
}

func (d *Driver) Memcpy2DAsync(c driver.Context, p *driver.Copy2D, s driver.Stream) error {
	o := d.newCopy("cuMemcpy2DAsync", c, rowsOf(p), false)
	return d.queue(o, c, s, func() error { return d.Driver.Memcpy2DAsync(c, p, s) })
}

// Memset is asynchronous but for pinned and managed memory, in which it is
// "fully synchronous" (CUDA Driver API, API synchronization behavior, Memset).
func (d *Driver) Memset(c driver.Context, dst driver.Ptr, value uint32, width int, n uint64) error {
	bytes := n * uint64(width)
	o := &Op{Kind: Fill, Call: "cuMemset", Bytes: bytes, Accesses: []Access{{uint64(dst), uint64(dst) + bytes, Write}}}
	t := d.kindOf(c, dst)
	o.HostAfter = t == driver.MemoryHost || t == driver.MemoryManaged
	return d.queue(o, c, driver.StreamLegacy, func() error { return d.Driver.Memset(c, dst, value, width, n) })
}

func (d *Driver) MemsetAsync(c driver.Context, dst driver.Ptr, value uint32, width int, n uint64, s driver.Stream) error {
	bytes := n * uint64(width)
	o := &Op{Kind: Fill, Call: "cuMemsetAsync", Bytes: bytes, Accesses: []Access{{uint64(dst), uint64(dst) + bytes, Write}}}
	return d.queue(o, c, s, func() error { return d.Driver.MemsetAsync(c, dst, value, width, n, s) })
}

func (d *Driver) Memset2DAsync(c driver.Context, dst driver.Ptr, pitch uint64, value uint32, width int, w, h uint64, s driver.Stream) error {
	o := &Op{Kind: Fill, Call: "cuMemsetD2DAsync", Bytes: w * uint64(width) * h}
	o.Accesses = strided(nil, uint64(dst), w*uint64(width), pitch, h, Write)
	return d.queue(o, c, s, func() error { return d.Driver.Memset2DAsync(c, dst, pitch, value, width, w, h, s) })
}

func (d *Driver) StreamCreate(c driver.Context, f driver.StreamFlags, priority int) (driver.Stream, error) {
	s, err := d.Driver.StreamCreate(c, f, priority)
	if err == nil {
		at := callsite.Here().Place
		d.mu.Lock()
		d.lanes[laneKey{s: s}] = &Lane{ID: d.rec.id(), Context: c, Device: d.devices[c], Handle: s, Name: "stream " + hex(uint64(s)), Made: at, Blocking: f&driver.StreamNonBlocking == 0}
		d.mu.Unlock()
	}
	return s, err
}

func (d *Driver) StreamDestroy(c driver.Context, s driver.Stream) error {
	d.mu.Lock()
	l := d.lane(c, s)
	delete(d.lanes, laneKey{s: s}) // before the call: then another stream may have the handle
	d.mu.Unlock()
	err := d.Driver.StreamDestroy(c, s)
	if err == nil {
		d.mu.Lock()
		delete(d.captures, l)
		d.mu.Unlock()
		d.rec.Now(&Op{Kind: LaneGone, Call: "cuStreamDestroy", Lane: l})
		return nil
	}
	d.mu.Lock()
	d.lanes[laneKey{s: s}] = l
	d.mu.Unlock()
	return err
}

func (d *Driver) StreamQuery(c driver.Context, s driver.Stream) (bool, error) {
	done, err := d.Driver.StreamQuery(c, s)
	if done && err == nil {
		d.sync("cuStreamQuery", c, s)
	}
	return done, err
}

func (d *Driver) sync(call string, c driver.Context, s driver.Stream) {
	d.mu.Lock()
	l := d.lane(c, s)
	d.mu.Unlock()
	d.rec.Now(&Op{Kind: SyncLane, Call: call, Lane: l})
}

func (d *Driver) StreamSynchronize(c driver.Context, s driver.Stream, stop <-chan struct{}) error {
	d.mu.Lock()
	l := d.lane(c, s)
	d.mu.Unlock()
	return d.after(&Op{Kind: SyncLane, Call: "cuStreamSynchronize", Lane: l}, func() error { return d.Driver.StreamSynchronize(c, s, stop) })
}

func (d *Driver) StreamWaitEvent(c driver.Context, s driver.Stream, e driver.Event) error {
	o := &Op{Kind: Wait, Call: "cuStreamWaitEvent"}
	d.mu.Lock()
	ev := d.event(e)
	o.Event, o.Lane = ev.Event, d.lane(c, s)
	cp := d.captures[o.Lane]
	joins := ev.capture
	d.mu.Unlock()
	wait := func() error { return d.Driver.StreamWaitEvent(c, s, e) }
	if cp != nil || joins != nil {
		if err := wait(); err != nil {
			return err
		}
		d.mu.Lock()
		if joins != nil {
			joins.join(d, o.Lane, ev.tail)
		}
		d.mu.Unlock()
		return nil
	}
	o.Site = callsite.Here()
	if err := d.timed(o, wait); err != nil {
		return err
	}
	d.rec.Add(o) // after the call: what it waits for was numbered before
	return nil
}

func (d *Driver) LaunchHostFunc(c driver.Context, s driver.Stream, f func()) error {
	o := &Op{Kind: HostFunc, Call: "cuLaunchHostFunc"}
	if f == nil {
		return d.Driver.LaunchHostFunc(c, s, f)
	}
	by := goroutine()
	return d.queue(o, c, s, func() error {
		return d.Driver.LaunchHostFunc(c, s, func() {
			if t := timing(); t != nil {
				defer t.Function(o)()
			}
			d.rec.within(o, by, f)
		})
	})
}

func (d *Driver) value(kind Kind, call string, c driver.Context, s driver.Stream, p driver.Ptr, v uint64, width int, f driver.WaitFlags, next func() error) error {
	return d.queue(valueOp(kind, call, p, v, width, f), c, s, next)
}

func valueOp(kind Kind, call string, p driver.Ptr, v uint64, width int, f driver.WaitFlags) *Op {
	return &Op{Kind: kind, Call: call, Addr: uint64(p), Value: v, Width: width, Flags: f, Bytes: uint64(width),
		Accesses: []Access{{uint64(p), uint64(p) + uint64(width), Atomic}}}
}

func (d *Driver) StreamWaitValue32(c driver.Context, s driver.Stream, p driver.Ptr, v uint32, f driver.WaitFlags) error {
	return d.value(WaitValue, "cuStreamWaitValue32", c, s, p, uint64(v), 4, f, func() error { return d.Driver.StreamWaitValue32(c, s, p, v, f) })
}

func (d *Driver) StreamWaitValue64(c driver.Context, s driver.Stream, p driver.Ptr, v uint64, f driver.WaitFlags) error {
	return d.value(WaitValue, "cuStreamWaitValue64", c, s, p, v, 8, f, func() error { return d.Driver.StreamWaitValue64(c, s, p, v, f) })
}

func (d *Driver) StreamWriteValue32(c driver.Context, s driver.Stream, p driver.Ptr, v uint32) error {
	return d.value(WriteValue, "cuStreamWriteValue32", c, s, p, uint64(v), 4, 0, func() error { return d.Driver.StreamWriteValue32(c, s, p, v) })
}

func (d *Driver) StreamWriteValue64(c driver.Context, s driver.Stream, p driver.Ptr, v uint64) error {
	return d.value(WriteValue, "cuStreamWriteValue64", c, s, p, v, 8, 0, func() error { return d.Driver.StreamWriteValue64(c, s, p, v) })
}

// StreamBatchMemOp is several operations of one call. Those of a captured stream
// are one after another too.
func (d *Driver) StreamBatchMemOp(c driver.Context, s driver.Stream, ops []driver.MemOp) error {
	const call = "cuStreamBatchMemOp"
	site := callsite.Here()
	made := make([]*Op, len(ops))
	for i, m := range ops {
		switch m.Kind {
		case driver.MemOpWaitValue32:
			made[i] = valueOp(WaitValue, call, m.Addr, m.Value&0xffffffff, 4, m.Wait)
		case driver.MemOpWriteValue32:
			made[i] = valueOp(WriteValue, call, m.Addr, m.Value&0xffffffff, 4, 0)
		case driver.MemOpWaitValue64:
			made[i] = valueOp(WaitValue, call, m.Addr, m.Value, 8, m.Wait)
		case driver.MemOpWriteValue64:
			made[i] = valueOp(WriteValue, call, m.Addr, m.Value, 8, 0)
		default:
			made[i] = &Op{}
		}
		made[i].Site = site
	}
	d.mu.Lock()
	l := d.lane(c, s)
	cp := d.captures[l]
	d.mu.Unlock()
	for _, o := range made {
		o.Lane = l
	}
	if cp != nil {
		err := d.Driver.StreamBatchMemOp(c, s, ops)
		if err == nil {
			d.mu.Lock()
			for _, o := range made {
				cp.add(o)
			}
			d.mu.Unlock()
		}
		return err
	}
	seqs := make([]uint64, len(made))
	for i := range seqs {
		seqs[i] = d.rec.Take()
	}
	batch := &Op{Kind: None, Call: call, Site: site, Lane: l}
	if len(made) > 0 {
		batch.Kind = made[len(made)-1].Kind
	}
	err := d.timed(batch, func() error { return d.Driver.StreamBatchMemOp(c, s, ops) })
	for i, o := range made {
		if err != nil {
			o = nil
		}
		d.rec.Post(seqs[i], o)
	}
	return err
}

func (d *Driver) EventCreate(c driver.Context, f driver.EventFlags) (driver.Event, error) {
	e, err := d.Driver.EventCreate(c, f)
	if err == nil {
		d.mu.Lock()
		delete(d.events, e) // the handle may be that of one destroyed before
		d.mu.Unlock()
	}
	return e, err
}

func (d *Driver) EventDestroy(c driver.Context, e driver.Event) error {
	d.mu.Lock()
	v := d.events[e]
	delete(d.events, e)
	d.mu.Unlock()
	err := d.Driver.EventDestroy(c, e)
	if err == nil && v != nil {
		d.rec.Add(&Op{Kind: EventGone, Call: "cuEventDestroy", Event: v.Event})
	}
	return err
}

func (d *Driver) EventRecord(c driver.Context, e driver.Event, s driver.Stream) error {
	d.mu.Lock()
	ev := d.event(e)
	l := d.lane(c, s)
	if cp := d.captures[l]; cp != nil {
		ev.capture, ev.tail = cp, cp.tails[l]
		d.mu.Unlock()
		return d.Driver.EventRecord(c, e, s)
	}
	ev.capture, ev.tail = nil, nil
	d.mu.Unlock()
	return d.queue(&Op{Kind: Mark, Call: "cuEventRecord", Event: ev.Event}, c, s, func() error { return d.Driver.EventRecord(c, e, s) })
}

func (d *Driver) syncEvent(call string, e driver.Event) {
	d.mu.Lock()
	ev := d.event(e)
	d.mu.Unlock()
	d.rec.Now(&Op{Kind: SyncEvent, Call: call, Event: ev.Event})
}

func (d *Driver) EventQuery(c driver.Context, e driver.Event) (bool, error) {
	done, err := d.Driver.EventQuery(c, e)
	if done && err == nil {
		d.syncEvent("cuEventQuery", e)
	}
	return done, err
}

func (d *Driver) EventSynchronize(c driver.Context, e driver.Event, stop <-chan struct{}) error {
	d.mu.Lock()
	ev := d.event(e)
	d.mu.Unlock()
	return d.after(&Op{Kind: SyncEvent, Call: "cuEventSynchronize", Event: ev.Event}, func() error { return d.Driver.EventSynchronize(c, e, stop) })
}

// EventElapsed fails unless both events are done, so one that does not is a wait.
func (d *Driver) EventElapsed(c driver.Context, start, end driver.Event) (time.Duration, error) {
	t, err := d.Driver.EventElapsed(c, start, end)
	if err == nil {
		d.syncEvent("cuEventElapsedTime", start)
		d.syncEvent("cuEventElapsedTime", end)
	}
	return t, err
}

func (d *Driver) IPCGetMemHandle(c driver.Context, p driver.Ptr) (driver.IPCMemHandle, error) {
	h, err := d.Driver.IPCGetMemHandle(c, p)
	if err == nil {
		d.shared("cuIpcGetMemHandle", c, p, string(h[:]))
	}
	return h, err
}

// shared records that others can open memory.
func (d *Driver) shared(call string, c driver.Context, p driver.Ptr, key string) {
	if r, ok := d.find(c, p); ok {
		d.rec.Now(&Op{Kind: ShareMemory, Call: call, Addr: uint64(r.Base), Bytes: r.Size, Key: key})
	}
}

func (d *Driver) IPCOpenMemHandle(c driver.Context, h driver.IPCMemHandle) (driver.Ptr, error) {
	return d.imported("cuIpcOpenMemHandle", c, string(h[:]), func() (driver.Ptr, error) { return d.Driver.IPCOpenMemHandle(c, h) })
}

func (d *Driver) IPCCloseMemHandle(c driver.Context, p driver.Ptr) error {
	d.mu.Lock()
	r := d.memory.find(uint64(p))
	if r != nil && r.opens > 1 {
		r.opens--
		d.mu.Unlock()
		return d.Driver.IPCCloseMemHandle(c, p)
	}
	d.mu.Unlock()
	return d.free("cuIpcCloseMemHandle", p, func() error { return d.Driver.IPCCloseMemHandle(c, p) })
}

func (d *Driver) IPCGetEventHandle(c driver.Context, e driver.Event) (driver.IPCEventHandle, error) {
	h, err := d.Driver.IPCGetEventHandle(c, e)
	if err == nil {
		d.sharedEvent("cuIpcGetEventHandle", e, string(h[:]))
	}
	return h, err
}

func (d *Driver) sharedEvent(call string, e driver.Event, key string) {
	d.mu.Lock()
	ev := d.event(e)
	d.mu.Unlock()
	d.rec.Now(&Op{Kind: ShareEvent, Call: call, Event: ev.Event, Key: key})
}

func (d *Driver) IPCOpenEventHandle(c driver.Context, h driver.IPCEventHandle) (driver.Event, error) {
	e, err := d.Driver.IPCOpenEventHandle(c, h)
	if err == nil {
		d.mu.Lock()
		delete(d.events, e)
		d.mu.Unlock()
		d.sharedEvent("cuIpcOpenEventHandle", e, string(h[:]))
	}
	return e, err
}

func (d *Driver) ModuleGlobal(c driver.Context, m driver.Module, symbol string) (driver.Ptr, uint64, error) {
	p, n, err := d.Driver.ModuleGlobal(c, m, symbol)
	if err == nil {
		d.variable(c, uint64(p), n)
	}
	return p, n, err
}

// variable notes a module's variable: what was freed may have been in its place.
func (d *Driver) variable(c driver.Context, p, n uint64) {
	d.mu.Lock()
	r := d.memory.find(p)
	known := r != nil && r.end() >= p+n
	if !known {
		d.memory.add(region{PointerInfo: driver.PointerInfo{Type: driver.MemoryDevice, Device: d.devices[c], Ctx: c, Base: driver.Ptr(p), Size: n}})
	}
	d.mu.Unlock()
	if !known {
		d.rec.Now(&Op{Kind: Alloc, Call: "cuModuleGetGlobal", Addr: p, Bytes: n, Context: c, Keeps: true})
	}
}

// ModuleUnload forgets the module's kernels.
func (d *Driver) ModuleUnload(c driver.Context, m driver.Module) error {
	if d.tracer != nil {
		d.tracer.Unload(c, m)
	}
	return d.Driver.ModuleUnload(c, m)
}

// Preloads reports whether kernels report their accesses by code that is loaded for it.
func (d *Driver) Preloads() bool { return d.tracer != nil }

// Preload loads what reports a kernel's accesses.
func (d *Driver) Preload(c driver.Context, from *driver.Origin) {
	if d.tracer != nil {
		d.mu.Lock()
		dev := d.devices[c]
		d.mu.Unlock()
		for _, v := range d.tracer.Preload(c, dev, from) {
			d.variable(c, uint64(v.Lo), uint64(v.Hi-v.Lo))
		}
	}
}

// flags finds the single words that a kernel touched which tells others something
// while it runs. They are taken for atomic.
func (d *Driver) flags(o *Op, list []Access) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, a := range list {
		if a.Hi-a.Lo > 8 {
			continue
		}
		list[i].Mode = Atomic
		o.Told = append(o.Told, list[i])
		if r := d.memory.find(a.Lo); r != nil && (r.Type == driver.MemoryHost || r.Type == driver.MemoryManaged) {
			o.HostFlag = true
		}
	}
}

// Launch records what the kernel touches: what the driver tells when it has run,
// or what its arguments let it reach.
func (d *Driver) Launch(c driver.Context, l *driver.Launch) error {
	o := &Op{Kind: Kernel, Call: "cuLaunchKernel", Name: l.Name}
	if !d.watch && d.tracer == nil {
		d.guess(o, c, l)
		return d.queue(o, c, l.Stream, func() error { return d.Driver.Launch(c, l) })
	}
	d.mu.Lock()
	dev, captured := d.devices[c], d.captures[d.lane(c, l.Stream)] != nil
	d.mu.Unlock()
	objects := d.objects(c, l)
	kernel := (*instrument.Prepared)(nil)
	if d.tracer != nil {
		d.meet(c, l)
		if o.Site = callsite.Here(); !o.Site.Library { // which is not looked at
			kernel = d.tracer.Prepare(c, dev, l, captured)
		}
	}
	if list, known := kernel.Known(d.allocations); known && !captured { // most
		switch o.Accesses = shared(list); {
		case l.Origin.Polls:
			o.Accesses = accessesOf(list)
			d.flags(o, o.Accesses)
			fallthrough
		case len(objects) > 0:
			o.Accesses = append(slices.Clone(o.Accesses), accessesOf(objects)...)
		}
		return d.queue(o, c, l.Stream, func() error { return d.Driver.Launch(c, l) })
	}
	watched := &Watched{}
	runs := (*nodeRuns)(nil)
	mine := *l
	mine.Observe = func(list []driver.Access) {
		touched := accessesOf(list)
		if l := mine.Origin; l != nil && l.Polls {
			d.flags(o, touched)
		}
		watched.Touched(append(touched, accessesOf(objects)...))
	}
	mine.Races = func(list []driver.Race) { d.rec.raced(o, list) }
	if captured {
		runs = &nodeRuns{objects: accessesOf(objects)}
		watched = &Watched{runs: runs}
		mine.Observe = runs.observe
	}
	o.Watched = watched
	return d.queue(o, c, l.Stream, func() error {
		switch {
		case d.watch:
			return d.Driver.Launch(c, &mine)
		case kernel == nil:
		case captured:
			if runs.node = kernel.Capture(c, l); runs.node != nil {
				return nil
			}
		case kernel.Launch(c, l, d.allocations(), mine.Observe):
			return nil
		}
		d.guess(o, c, l)
		return d.Driver.Launch(c, l)
	})
}

// guess says of a kernel what its arguments let it touch.
func (d *Driver) guess(o *Op, c driver.Context, l *driver.Launch) {
	if !d.rec.Keeps() {
		return
	}
	o.Guess, o.Watched, o.Accesses = true, nil, append(d.reach(c, l), accessesOf(d.objects(c, l))...)
}
