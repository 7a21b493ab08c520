package sim

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"gocuda/cudaapi/driver"
)

// context is a device's primary context while it is active.
type context struct {
	id      driver.Context
	dev     *device
	err     error // what poisoned it
	peers   map[driver.Device]bool
	streams map[driver.Stream]*stream // created ones and the two default ones
	legacy  *stream
	thread  *stream
	memory  map[*allocation]bool // what goes with the context
	modules map[driver.Module]*module
	heap    uintptr     // of heapSize bytes, for what its kernels allocate; 0 before the first kernel
	ending  atomic.Bool // its kernels need not go on
}

const heapSize = 8 << 20 // as on GPUs where no limit was set

const contextBase = 0xc0de000

func (d *device) activate() {
	c := &context{id: driver.Context(contextBase + 16*int(d.id)), dev: d, peers: map[driver.Device]bool{},
		streams: map[driver.Stream]*stream{}, memory: map[*allocation]bool{}, modules: map[driver.Module]*module{}}
	c.legacy = &stream{id: driver.StreamLegacy, ctx: c, blocking: true, legacy: true}
	c.thread = &stream{id: driver.StreamPerThread, ctx: c, blocking: true}
	c.streams[c.legacy.id], c.streams[c.thread.id] = c.legacy, c.thread
	d.ctx = c
}

// poison notes an error of asynchronous work. Most leave the context of no use,
// and, as is seen on GPUs, those of the process's other devices as well.
func (c *context) poison(err error) {
	if c.err == nil {
		c.err = err
	}
	var e *driver.Error
	if !errors.As(err, &e) || !e.Code.Sticky() {
		return
	}
	for _, d := range c.dev.m.devices {
		if d.ctx != nil && d.ctx.err == nil {
			d.ctx.err = err
		}
	}
}

// context finds an active context. m.mu is held.
func (m *Driver) context(call string, c driver.Context) (*context, error) {
	if err := m.inUse(call); err != nil {
		return nil, err
	}
	i := int(c) - contextBase
	if i < 0 || i%16 != 0 || i/16 >= len(m.devices) {
		return nil, fail(call, driver.ErrInvalidContext, "")
	}
	ctx := m.devices[i/16].ctx
	if ctx == nil {
		return nil, fail(call, driver.ErrContextIsDestroyed, "device %d's primary context is not active", i/16)
	}
	return ctx, nil
}

// usable finds an active context that no error has poisoned. m.mu is held.
func (m *Driver) usable(call string, c driver.Context) (*context, error) {
	ctx, err := m.context(call, c)
	if err == nil {
		err = ctx.failed(call)
	}
	return ctx, err
}

// failed is the error that poisoned the context, as this call reports it.
func (c *context) failed(call string) error {
	if c.err == nil {
		return nil
	}
	if e, ok := c.err.(*driver.Error); ok {
		return &driver.Error{Code: e.Code, Call: call, Detail: e.Detail}
	}
	return c.err
}

// PrimaryRetain activates the device's primary context.
func (m *Driver) PrimaryRetain(d driver.Device) (driver.Context, error) {
	const call = "cuDevicePrimaryCtxRetain"
	m.mu.Lock()
	defer m.mu.Unlock()
	dev, err := m.device(call, d)
	if err != nil {
		return 0, err
	}
	if err := m.space.commit(dev.arena); err != nil {
		return 0, fail(call, driver.ErrOutOfMemory, "%v", err)
	}
	if dev.ctx == nil {
		dev.activate()
	}
	dev.refs++
	return dev.ctx.id, nil
}

// PrimaryRelease gives a retained context back; the last one ends it.
func (m *Driver) PrimaryRelease(d driver.Device) error {
	const call = "cuDevicePrimaryCtxRelease"
	m.mu.Lock()
	dev, err := m.device(call, d)
	if err == nil && dev.refs == 0 {
		err = fail(call, driver.ErrInvalidContext, "device %d's primary context is not retained", d)
	}
	if err != nil {
		m.mu.Unlock()
		return err
	}
	dev.refs--
	last := dev.refs == 0
	m.mu.Unlock()
	if last {
		m.end(dev)
	}
	return nil
}

// PrimaryReset ends the device's context, with all that is in it. On simulated
// devices this also cures a poisoned one; the error took the contexts of the
// other devices too, and each is cured by its own reset. A context still
// retained starts again.
func (m *Driver) PrimaryReset(d driver.Device) error {
	m.mu.Lock()
	dev, err := m.device("cuDevicePrimaryCtxReset", d)
	m.mu.Unlock()
	if err != nil {
		return err
	}
	m.end(dev)
	m.mu.Lock()
	defer m.mu.Unlock()
	if dev.refs > 0 && dev.ctx == nil {
		dev.activate()
	}
	return nil
}

// longestEnd is how long a reset waits for kernels that do not end.
const longestEnd = 2 * time.Second

// end waits for the context's work and frees what it holds. Kernels that wait
// for memory to change are given up, others are ended by a signal. One that goes
// on all the same, since it never leaves a library or no signal ends kernels on
// this platform, is left alone with what it may use.
func (m *Driver) end(dev *device) {
	m.mu.Lock()
	c := dev.ctx
	if c == nil {
		m.mu.Unlock()
		return
	}
	c.ending.Store(true)
	late := make(chan struct{})
	timer := time.AfterFunc(longestEnd, func() { close(late) })
	defer timer.Stop()
	endless := false
	// More than once: others may queue work while this waits.
	for last := c.last(); len(last) > 0 && !endless; last = c.last() {
		m.mu.Unlock()
		endless = m.waitAll(last, late) != nil
		m.mu.Lock()
	}
	defer m.mu.Unlock()
	if dev.ctx != c {
		return
	}
	dev.ctx = nil
	for id := range c.streams {
		delete(m.streams, id)
	}
	for id, e := range m.events {
		if e.ctx == c {
			delete(m.events, id)
			if e.shared != nil {
				e.shared.close()
			}
		}
	}
	if endless {
		fmt.Fprintf(os.Stderr, "device %d was reset while a kernel runs that does not end: a processor and the old memory stay in use until this process ends\n", dev.id)
		if c.err == nil { // so that what is after it never runs
			c.err = fail("cuDevicePrimaryCtxReset", driver.ErrContextIsDestroyed, "the device was reset")
		}
	} else {
		if c.heap != 0 {
			release(c.heap, heapSize) //nolint:errcheck // it stays mapped, which harms nobody
		}
		for a := range c.memory {
			m.drop(a)
		}
		for _, mod := range c.modules {
			m.forget(mod)
			m.unload(mod)
		}
	}
	m.forgetArrays(c)
	for _, p := range m.pools {
		if p.dev == dev {
			p.reset()
		}
	}
	for _, d := range m.devices {
		if d.ctx != nil {
			delete(d.ctx.peers, dev.id)
		}
	}
}

// last are the last operations of the context's streams that are not finished.
func (c *context) last() []*op {
	var ops []*op
	for _, s := range c.streams {
		if s.last != nil && s.last.state != opFinished {
			ops = append(ops, s.last)
		}
	}
	return ops
}

// EnablePeerAccess lets kernels of context c reach the peer's memory.
func (m *Driver) EnablePeerAccess(c, peer driver.Context) error {
	const call = "cuCtxEnablePeerAccess"
	m.mu.Lock()
	defer m.mu.Unlock()
	ctx, err := m.usable(call, c)
	if err != nil {
		return err
	}
	p, err := m.context(call, peer)
	switch {
	case err != nil:
		return err
	case p == ctx:
		// The documentation names another error; this is the one that GPUs give.
		return fail(call, driver.ErrPeerAccessUnsupported, "device %d cannot be its own peer", p.dev.id)
	case p.dev.node != ctx.dev.node:
		return fail(call, driver.ErrPeerAccessUnsupported, "devices %d and %d are in different nodes", ctx.dev.id, p.dev.id)
	case ctx.peers[p.dev.id]:
		return fail(call, driver.ErrPeerAccessAlreadyEnabled, "from device %d to device %d", ctx.dev.id, p.dev.id)
	}
	ctx.peers[p.dev.id] = true
	return nil
}

// DisablePeerAccess ends it.
func (m *Driver) DisablePeerAccess(c, peer driver.Context) error {
	const call = "cuCtxDisablePeerAccess"
	m.mu.Lock()
	defer m.mu.Unlock()
	ctx, err := m.usable(call, c)
	if err != nil {
		return err
	}
	p, err := m.context(call, peer)
	if err != nil {
		return err
	}
	if !ctx.peers[p.dev.id] {
		return fail(call, driver.ErrPeerAccessNotEnabled, "from device %d to device %d", ctx.dev.id, p.dev.id)
	}
	delete(ctx.peers, p.dev.id)
	return nil
}

// CtxSynchronize waits for all work of the context.
func (m *Driver) CtxSynchronize(c driver.Context, stop <-chan struct{}) error {
	const call = "cuCtxSynchronize"
	m.mu.Lock()
	ctx, err := m.usable(call, c)
	if err == nil {
		for _, s := range ctx.streams {
			if e := s.spoil(call); e != nil {
				err = e
			}
		}
	}
	if err != nil {
		m.mu.Unlock()
		return err
	}
	last := ctx.last()
	m.mu.Unlock()
	return m.waitAndCheck(call, ctx, last, stop)
}

// waitAndCheck waits for ops of the context and reports what poisoned it.
func (m *Driver) waitAndCheck(call string, c *context, ops []*op, stop <-chan struct{}) error {
	if err := m.waitAll(ops, stop); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.model.waited(ops)
	return c.failed(call)
}

// MemInfo counts the device's memory in bytes.
func (m *Driver) MemInfo(c driver.Context) (free, total uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ctx, err := m.usable("cuMemGetInfo", c)
	if err != nil {
		return 0, 0, err
	}
	used := ctx.dev.arena.used
	for _, p := range m.pools {
		if p.dev == ctx.dev {
			used += p.reserved - p.used
		}
	}
	return m.opt.Memory - min(used, m.opt.Memory), m.opt.Memory, nil
}
