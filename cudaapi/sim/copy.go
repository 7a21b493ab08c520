package sim

import (
	"runtime"
	"runtime/debug"
	"sync"

	"gocuda/cudaapi/driver"
)

// place is one end of a copy: what is known of its memory.
type place struct {
	addr uintptr
	mem  *allocation // nil for pageable host memory
}

func (p place) onDevice() bool { return p.mem != nil && p.mem.kind == driver.MemoryDevice }
func (p place) pageable() bool { return p.mem == nil }

// staged is the size up to which the driver takes a copy of pageable memory
// and returns.
const staged = 64 << 10

// place looks an address range up. m.mu is held.
func (m *Driver) place(call string, p driver.Ptr, n uint64) (place, error) {
	at := uintptr(p)
	a := m.space.find(at)
	switch {
	case p == 0:
		return place{}, fail(call, driver.ErrInvalidValue, "a nil pointer")
	case a == nil && m.space.arenaOf(at) != nil:
		return place{}, fail(call, driver.ErrInvalidValue, "%#x is not allocated: freed already, or past an allocation's end", uint64(p))
	case a != nil && at+uintptr(n) > a.end():
		return place{}, fail(call, driver.ErrInvalidValue, "%d bytes at %#x run %d bytes past the end of an allocation of %d bytes",
			n, uint64(p), uint64(at)+n-uint64(a.end()), a.size)
	}
	return place{at, a}, nil
}

// Memcpy copies in the order of the legacy stream. It waits where CUDA does:
// not for copies inside of device memory.
func (m *Driver) Memcpy(c driver.Context, dst, src driver.Ptr, n uint64) error {
	return m.copy("cuMemcpy", c, line(dst, src, n), driver.StreamLegacy, true)
}

// MemcpyAsync copies in stream order. It waits for the copy where an end is
// pageable memory that the driver cannot stage, and for copies inside of host
// memory.
func (m *Driver) MemcpyAsync(c driver.Context, dst, src driver.Ptr, n uint64, s driver.Stream) error {
	return m.copy("cuMemcpyAsync", c, line(dst, src, n), s, false)
}

// Memcpy2D copies a rectangle, as Memcpy does.
func (m *Driver) Memcpy2D(c driver.Context, p *driver.Copy2D) error {
	return m.copy2D("cuMemcpy2D", c, p, driver.StreamLegacy, true)
}

// Memcpy2DAsync copies a rectangle, as MemcpyAsync does.
func (m *Driver) Memcpy2DAsync(c driver.Context, p *driver.Copy2D, s driver.Stream) error {
	return m.copy2D("cuMemcpy2DAsync", c, p, s, false)
}

func (m *Driver) copy2D(call string, c driver.Context, p *driver.Copy2D, s driver.Stream, sync bool) error {
	if p.Height > 1 && (p.DstPitch < p.Width || p.SrcPitch < p.Width) {
		return fail(call, driver.ErrInvalidValue, "rows of %d bytes do not fit pitches of %d and %d", p.Width, p.DstPitch, p.SrcPitch)
	}
	return m.copy(call, c, rows{p.Dst, p.Src, p.Width, p.DstPitch, p.SrcPitch, p.Height, 0, 0, 1}, s, sync)
}

// rows are h rows of w bytes, dp and sp bytes apart, and d such slices, ds and ss bytes apart.
type rows struct {
	dst, src  driver.Ptr
	w, dp, sp uint64
	h         uint64
	ds, ss, d uint64
}

// line is one row.
func line(dst, src driver.Ptr, n uint64) rows { return rows{dst, src, n, n, n, 1, 0, 0, 1} }

func (r rows) bytes() uint64 { return r.w * r.h * r.d }

// extent is from the first byte to the last.
func (r rows) extent(pitch, slice uint64) uint64 { return (r.d-1)*slice + (r.h-1)*pitch + r.w }

// each calls f for each row, with its distance from the first one at both ends. Rows that
// follow each other are one.
func (r rows) each(f func(dst, src, n uint64)) {
	if r.dp == r.w && r.sp == r.w || r.h == 1 {
		r.w, r.h = r.w*r.h, 1
	}
	if r.h == 1 && r.ds == r.w && r.ss == r.w {
		r.w, r.d = r.w*r.d, 1
	}
	for z := range r.d {
		for y := range r.h {
			f(z*r.ds+y*r.dp, z*r.ss+y*r.sp, r.w)
		}
	}
}

func (m *Driver) copy(call string, c driver.Context, r rows, id driver.Stream, sync bool) error {
	ctx, s, err := m.target(call, c, id)
	if err == nil && r.bytes() == 0 {
		m.mu.Unlock()
		return nil
	}
	var dst, src place
	if err == nil {
		dst, err = m.place(call, r.dst, r.extent(r.dp, r.ds))
	}
	if err == nil {
		src, err = m.place(call, r.src, r.extent(r.sp, r.ss))
	}
	if err != nil {
		m.mu.Unlock()
		return err
	}
	o := m.newCopy(ctx, dst, src, r, s.capture == nil)
	if sync {
		o.call = m.profile.SyncCall
	}
	m.push(s, o)
	wait := s.capture == nil && blocks(dst, src, r.bytes(), sync)
	m.mu.Unlock()
	if !wait {
		return nil
	}
	return m.waitAndCheck(call, s.ctx, []*op{o}, nil)
}

// blocks reports whether a copy holds the host until it is done. By CUDA's
// documentation a synchronous copy of pageable memory to the device may return
// once the memory has been staged; on GPUs no other stream is seen to overtake
// it, and programs count on that, so here it returns when it is done.
func blocks(dst, src place, n uint64, sync bool) bool {
	switch {
	case dst.onDevice() && src.onDevice():
		return false
	case sync || dst.pageable():
		return true
	case src.pageable() && dst.onDevice():
		return n > staged
	}
	return !dst.onDevice() && !src.onDevice() // inside the host
}

// newCopy makes the operation of a copy. Pageable memory that is small enough
// is read here and now, unless the copy is part of a graph, which reads it at each
// launch.
func (m *Driver) newCopy(ctx *context, dst, src place, r rows, now bool) *op {
	from := src.addr
	o := &op{kind: opCopy, ctx: ctx}
	o.bytes = r.bytes()
	var stage []byte
	if now && src.pageable() && dst.onDevice() && r.bytes() <= staged {
		stage = make([]byte, 0, r.bytes())
		r.each(func(_, src, n uint64) { stage = append(stage, bytesAt(from+uintptr(src), n)...) })
		r.sp, r.ss = r.w, r.w*r.h
	} else {
		o.reads = []span{{src.addr, src.addr + uintptr(r.extent(r.sp, r.ss))}}
	}
	o.writes = []span{{dst.addr, dst.addr + uintptr(r.extent(r.dp, r.ds))}}
	o.work = func(*op) error {
		if stage != nil {
			from = address(stage)
		}
		if dst.mem != nil {
			m.space.touch(dst.mem, uint64(dst.addr-dst.mem.base), r.extent(r.dp, r.ds), r.bytes() == r.extent(r.dp, r.ds))
		}
		if src.mem != nil {
			m.space.touch(src.mem, uint64(src.addr-src.mem.base), r.extent(r.sp, r.ss), false)
		}
		err := guarded("cuMemcpyAsync", func() {
			r.each(func(dy, sy, n uint64) { move(dst.addr+uintptr(dy), from+uintptr(sy), n) })
		})
		runtime.KeepAlive(stage)
		return err
	}
	m.priceCopy(o, dst, src, r)
	return o
}

// priceCopy gives a copy its engine and duration.
func (m *Driver) priceCopy(o *op, dst, src place, r rows) {
	p := m.profile
	o.call, o.share = p.AsyncCall, 1
	d := o.ctx.dev
	switch {
	case dst.onDevice() && src.onDevice() && dst.mem.device != src.mem.device:
		if o.peer = m.devices[src.mem.device]; o.peer == d {
			o.peer = m.devices[dst.mem.device]
		}
		if from, to := m.devices[src.mem.device], m.devices[dst.mem.device]; from.node != to.node {
			o.engine, o.far, o.duration = &from.engines.send, &to.engines.receive, p.NetLatency+rate(o.bytes, p.NetRate)
			break
		}
		key := [2]driver.Device{src.mem.device, dst.mem.device}
		if m.model.link[key] == nil {
			back := m.model.link[[2]driver.Device{key[1], key[0]}]
			m.model.link[key] = &engine{name: "peer link", kind: copyEngine, other: back}
			if back != nil {
				back.other = m.model.link[key]
			}
		}
		o.engine, o.duration = m.model.link[key], p.PeerLatency+rate(o.bytes, p.PeerRate)
		if !m.peers(dst.mem.device, src.mem.device) {
			o.duration = p.NoPeerTime + rate(o.bytes, p.NoPeerRate)
		}
	case dst.onDevice() && src.onDevice():
		o.engine, o.duration = &m.devices[dst.mem.device].engines.local, p.FillLatency+rate(2*o.bytes, p.inside(2*o.bytes))
	case dst.onDevice():
		o.engine, o.duration = &m.devices[dst.mem.device].engines.in, p.CopyLatency+rate(o.bytes, hostRate(p, src))
	case src.onDevice():
		o.engine, o.duration = &m.devices[src.mem.device].engines.out, p.CopyLatency+rate(o.bytes, hostRate(p, dst))
	default:
		o.engine, o.duration = &d.engines.in, p.CopyLatency+rate(o.bytes, p.PageableRate)
	}
}

// peers reports whether one of two devices has access to the other's memory.
func (m *Driver) peers(a, b driver.Device) bool {
	for _, pair := range [][2]driver.Device{{a, b}, {b, a}} {
		if c := m.devices[pair[0]].ctx; c != nil && c.peers[pair[1]] {
			return true
		}
	}
	return false
}

// inside is the rate at which so many bytes of the device's memory are read or
// written by a copy or a fill.
func (p *Profile) inside(bytes uint64) float64 {
	if float64(bytes) <= fitsCache*float64(p.L2Bytes) {
		return p.CacheRate
	}
	return p.MemoryRate
}

func hostRate(p *Profile, h place) float64 {
	if h.pageable() {
		return p.PageableRate
	}
	return p.HostRate
}

// guarded turns a fault on a bad host address into an error: on a GPU's host it
// would end the process.
func guarded(call string, f func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fail(call, driver.ErrIllegalAddress, "host memory that is not mapped: %v", r)
		}
	}()
	f()
	return nil
}

// move copies n bytes, on several cores where there are many.
func move(dst, src uintptr, n uint64) {
	const part = 8 << 20
	d, s := bytesAt(dst, n), bytesAt(src, n)
	if n < 2*part || dst < src+uintptr(n) && src < dst+uintptr(n) {
		copy(d, s)
		return
	}
	var wg sync.WaitGroup
	workers := uint64(min(runtime.GOMAXPROCS(0), int(n/part)))
	var fault any
	var mu sync.Mutex
	for i := range workers {
		lo, hi := n*i/workers, n*(i+1)/workers
		wg.Go(func() {
			if err := guarded("", func() { copy(d[lo:hi], s[lo:hi]) }); err != nil {
				mu.Lock()
				fault = err
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if fault != nil {
		panic(fault)
	}
}

// bothUsable is usable for two contexts.
func (m *Driver) bothUsable(call string, a, b driver.Context) (x, y *context, err error) {
	if x, err = m.usable(call, a); err == nil {
		y, err = m.usable(call, b)
	}
	return x, y, err
}

// MemcpyPeer copies between devices, after all work of both and before any
// later work of theirs. The host does not wait.
func (m *Driver) MemcpyPeer(dst driver.Ptr, dstCtx driver.Context, src driver.Ptr, srcCtx driver.Context, n uint64) error {
	const call = "cuMemcpyPeer"
	m.mu.Lock()
	defer m.mu.Unlock()
	to, from, err := m.bothUsable(call, dstCtx, srcCtx)
	if err != nil || n == 0 {
		return err
	}
	for _, c := range []*context{to, from} {
		if err := c.legacy.implicit(call); err != nil {
			return err
		}
	}
	o, err := m.peerCopy(call, dst, to, src, from, n)
	if err != nil {
		return err
	}
	for _, c := range []*context{to, from} {
		for _, last := range c.last() {
			o.depend(last)
		}
	}
	m.push(from.legacy, o)
	for _, c := range []*context{to, from} {
		for _, s := range c.streams {
			if s != from.legacy && s.capture == nil {
				after := &op{name: "after peer copy"}
				after.depend(o)
				m.push(s, after)
			}
		}
	}
	return nil
}

// MemcpyPeerAsync copies between devices in the order of s, a stream of either
// context. Peer access need not be enabled.
func (m *Driver) MemcpyPeerAsync(dst driver.Ptr, dstCtx driver.Context, src driver.Ptr, srcCtx driver.Context, n uint64, id driver.Stream) error {
	const call = "cuMemcpyPeerAsync"
	_, s, err := m.target(call, srcCtx, id)
	defer m.mu.Unlock()
	if err != nil {
		return err
	}
	to, from, err := m.bothUsable(call, dstCtx, srcCtx)
	if err != nil || n == 0 {
		return err
	}
	o, err := m.peerCopy(call, dst, to, src, from, n)
	if err != nil {
		return err
	}
	o.ctx = s.ctx
	m.push(s, o)
	return nil
}

func (m *Driver) peerCopy(call string, dst driver.Ptr, to *context, src driver.Ptr, from *context, n uint64) (*op, error) {
	d, err := m.place(call, dst, n)
	if err != nil {
		return nil, err
	}
	s, err := m.place(call, src, n)
	if err != nil {
		return nil, err
	}
	for _, e := range []struct {
		p place
		c *context
		s string
	}{{d, to, "destination"}, {s, from, "source"}} {
		if !e.p.onDevice() || e.p.mem.device != e.c.dev.id && e.p.mem.imported == nil {
			return nil, fail(call, driver.ErrInvalidValue, "the %s is not memory of device %d", e.s, e.c.dev.id)
		}
	}
	return m.newCopy(from, d, s, line(dst, src, n), true), nil
}

// Memset fills in the order of the legacy stream. The host waits only where
// the memory is the host's.
func (m *Driver) Memset(c driver.Context, dst driver.Ptr, value uint32, width int, n uint64) error {
	return m.set("cuMemset", c, fill{dst, value, width, n, 0, 1}, driver.StreamLegacy, true)
}

// MemsetAsync fills in stream order.
func (m *Driver) MemsetAsync(c driver.Context, dst driver.Ptr, value uint32, width int, n uint64, s driver.Stream) error {
	return m.set("cuMemsetAsync", c, fill{dst, value, width, n, 0, 1}, s, false)
}

// Memset2DAsync fills rows, in stream order.
func (m *Driver) Memset2DAsync(c driver.Context, dst driver.Ptr, pitch uint64, value uint32, width int, w, h uint64, s driver.Stream) error {
	return m.set("cuMemset2DAsync", c, fill{dst, value, width, w, pitch, h}, s, false)
}

// fill is h rows of n elements of width bytes, pitch bytes apart.
type fill struct {
	dst      driver.Ptr
	value    uint32
	width    int
	n        uint64
	pitch, h uint64
}

// row is the bytes of one.
func (f fill) row() uint64 { return f.n * uint64(f.width) }

func (m *Driver) set(call string, c driver.Context, f fill, id driver.Stream, sync bool) error {
	ctx, s, err := m.target(call, c, id)
	var p place
	dst, width := f.dst, f.width
	if err == nil && (width != 1 && width != 2 && width != 4 || (uint64(dst)|f.pitch)%uint64(width) != 0) {
		err = fail(call, driver.ErrInvalidValue, "elements of %d bytes at %#x, with a pitch of %d", width, uint64(dst), f.pitch)
	}
	if err == nil && f.h > 1 && f.pitch < f.row() {
		err = fail(call, driver.ErrInvalidValue, "rows of %d bytes do not fit a pitch of %d", f.row(), f.pitch)
	}
	if err == nil && (f.n == 0 || f.h == 0) {
		m.mu.Unlock()
		return nil
	}
	extent := (f.h-1)*f.pitch + f.row()
	if err == nil {
		p, err = m.place(call, dst, extent)
	}
	if err == nil && p.pageable() {
		err = fail(call, driver.ErrInvalidValue, "%#x is pageable host memory", uint64(dst))
	}
	if err != nil {
		m.mu.Unlock()
		return err
	}
	size := f.row() * f.h
	o := &op{kind: opFill, ctx: ctx, writes: []span{spanOf(dst, extent)}}
	o.bytes, o.call = size, m.profile.AsyncCall
	o.duration = m.profile.FillLatency + rate(size, m.profile.inside(size))
	o.engine, o.share = &ctx.dev.engines.local, 1
	o.work = func(*op) error {
		m.space.touch(p.mem, uint64(p.addr-p.mem.base), extent, true)
		return guarded(call, func() {
			for y := range f.h {
				fillWith(bytesAt(p.addr+uintptr(y*f.pitch), f.row()), f.value, width)
			}
		})
	}
	m.push(s, o)
	m.mu.Unlock()
	if sync && !p.onDevice() {
		return m.waitAndCheck(call, s.ctx, []*op{o}, nil)
	}
	return nil
}

func fillWith(b []byte, v uint32, width int) {
	pattern := []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)}[:width]
	if width == 1 && v&0xff == 0 {
		clear(b)
		return
	}
	n := copy(b, pattern)
	for n < len(b) {
		n += copy(b[n:], b[:min(n, 64<<10)])
	}
}
