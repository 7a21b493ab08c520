package sim

import (
	"gocuda/cudaapi/driver"
)

// MemAlloc allocates device memory, which holds garbage.
func (m *Driver) MemAlloc(c driver.Context, n uint64) (driver.Ptr, error) {
	const call = "cuMemAlloc"
	m.mu.Lock()
	defer m.mu.Unlock()
	ctx, err := m.usable(call, c)
	if err != nil {
		return 0, err
	}
	a, err := m.allocate(call, ctx, ctx.dev.arena, n)
	if err != nil {
		return 0, err
	}
	a.kind, a.device, a.ctx = driver.MemoryDevice, ctx.dev.id, ctx
	ctx.memory[a] = true
	m.space.soil(a)
	return driver.Ptr(a.base), nil
}

func (m *Driver) allocate(call string, ctx *context, from *arena, n uint64) (*allocation, error) {
	if n == 0 {
		return nil, fail(call, driver.ErrInvalidValue, "0 bytes")
	}
	a, err := m.space.alloc(from, n)
	if err != nil {
		return nil, fail(call, driver.ErrOutOfMemory, "%d bytes asked for, %d of %d free on device %d",
			n, from.limit-min(from.used, from.limit), from.limit, ctx.dev.id)
	}
	return a, nil
}

// MemFree frees device or managed memory once the device's work is done.
func (m *Driver) MemFree(c driver.Context, p driver.Ptr) error {
	const call = "cuMemFree"
	return m.release(call, c, p, func(a *allocation) bool {
		return (a.kind == driver.MemoryDevice || a.kind == driver.MemoryManaged) && a.freeable()
	})
}

// release waits for the contexts that may use an allocation and frees it.
func (m *Driver) release(call string, c driver.Context, p driver.Ptr, fits func(*allocation) bool) error {
	m.mu.Lock()
	ctx, err := m.usable(call, c)
	if err != nil {
		m.mu.Unlock()
		return err
	}
	a := m.space.find(uintptr(p))
	if a == nil || a.base != uintptr(p) || !fits(a) {
		m.mu.Unlock()
		return fail(call, driver.ErrInvalidValue, "%#x is not the start of such an allocation", uint64(p))
	}
	last := ctx.last()
	if a.ctx != nil && a.ctx != ctx {
		last = append(last, a.ctx.last()...)
	}
	m.mu.Unlock()
	m.waitAll(last, nil) //nolint:errcheck // it cannot be interrupted
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(last) > 0 {
		m.model.waited(last)
	}
	if a.freed {
		return fail(call, driver.ErrInvalidValue, "%#x was freed meanwhile", uint64(p))
	}
	if a.imported != nil && a.imported.refs > 1 { // opened once more while this waited
		a.imported.refs--
		return ctx.failed(call)
	}
	m.drop(a)
	return ctx.failed(call)
}

// drop frees an allocation. m.mu is held.
func (m *Driver) drop(a *allocation) {
	if a.ctx != nil {
		delete(a.ctx.memory, a)
	}
	if a.pool != nil {
		a.pool.forget(a)
	}
	if a.imported != nil {
		a.base -= uintptr(a.imported.slack)
		a.size += a.imported.slack
	}
	m.space.free(a)
	if a.arena == m.space.hostArena || a.arena == m.space.imported {
		unmap(a.base, uintptr(roundUp(a.size, hostPage)))
	}
}

// MemAllocManaged allocates memory that host and devices share.
func (m *Driver) MemAllocManaged(c driver.Context, n uint64) (driver.Ptr, error) {
	return m.hostMemory("cuMemAllocManaged", c, n, driver.MemoryManaged, 0)
}

// HostAlloc allocates pinned host memory.
func (m *Driver) HostAlloc(c driver.Context, n uint64, f driver.HostAllocFlags) (driver.Ptr, error) {
	return m.hostMemory("cuMemHostAlloc", c, n, driver.MemoryHost, f)
}

func (m *Driver) hostMemory(call string, c driver.Context, n uint64, kind driver.MemoryType, f driver.HostAllocFlags) (driver.Ptr, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ctx, err := m.usable(call, c)
	if err != nil {
		return 0, err
	}
	if f > 7 {
		return 0, fail(call, driver.ErrInvalidValue, "flags %#x", uint32(f))
	}
	a, err := m.allocate(call, ctx, m.space.hostArena, n)
	if err != nil {
		return 0, err
	}
	// Mapped again each time: it comes zeroed, as the host's memory does.
	if _, err := mapPrivate(a.base, uintptr(roundUp(n, hostPage))); err != nil {
		m.space.free(a)
		return 0, fail(call, driver.ErrOutOfMemory, "%v", err)
	}
	a.kind, a.device, a.flags = kind, ctx.dev.id, f
	if kind == driver.MemoryHost {
		a.ctx = ctx
	}
	ctx.memory[a] = true
	return driver.Ptr(a.base), nil
}

// HostFree frees pinned host memory once the device's work is done.
func (m *Driver) HostFree(c driver.Context, p driver.Ptr) error {
	return m.release("cuMemFreeHost", c, p, func(a *allocation) bool {
		return a.kind == driver.MemoryHost && a.arena != nil
	})
}

// HostRegister pins host memory that the caller owns.
func (m *Driver) HostRegister(c driver.Context, p driver.Ptr, n uint64, f driver.HostAllocFlags) error {
	const call = "cuMemHostRegister"
	m.mu.Lock()
	defer m.mu.Unlock()
	ctx, err := m.usable(call, c)
	if err != nil {
		return err
	}
	if p == 0 || n == 0 || f > 7 {
		return fail(call, driver.ErrInvalidValue, "%d bytes at %#x, flags %#x", n, uint64(p), uint32(f))
	}
	lo, hi := uintptr(p), uintptr(p)+uintptr(n)
	if m.space.arenaOf(lo) != nil || m.space.arenaOf(hi-1) != nil {
		if a := m.space.find(lo); a != nil && a.kind == driver.MemoryHost {
			return fail(call, driver.ErrHostMemoryRegistered, "the memory is pinned already")
		}
		return fail(call, driver.ErrInvalidValue, "%#x is not the host's own memory", uint64(p))
	}
	for _, a := range m.space.registered {
		if lo < a.end() && a.base < hi {
			return fail(call, driver.ErrHostMemoryRegistered, "it overlaps %d bytes at %#x", a.size, a.base)
		}
	}
	a := &allocation{base: lo, size: n, kind: driver.MemoryHost, device: ctx.dev.id, ctx: ctx, flags: f}
	m.space.register(a)
	ctx.memory[a] = true
	return nil
}

// HostUnregister ends it.
func (m *Driver) HostUnregister(c driver.Context, p driver.Ptr) error {
	const call = "cuMemHostUnregister"
	m.mu.Lock()
	a := m.space.find(uintptr(p))
	known := a != nil && a.base == uintptr(p) && a.kind == driver.MemoryHost && a.arena == nil
	m.mu.Unlock()
	if !known && p != 0 {
		return fail(call, driver.ErrHostMemoryNotRegistered, "%#x", uint64(p))
	}
	return m.release(call, c, p, func(a *allocation) bool { return a.kind == driver.MemoryHost && a.arena == nil })
}

// PointerAttributes says what an address points to.
func (m *Driver) PointerAttributes(c driver.Context, p driver.Ptr) (driver.PointerInfo, error) {
	const call = "cuPointerGetAttributes"
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.usable(call, c); err != nil {
		return driver.PointerInfo{}, err
	}
	a := m.space.find(uintptr(p))
	if a == nil {
		return driver.PointerInfo{}, nil
	}
	info := driver.PointerInfo{Type: a.kind, Device: a.device, Base: driver.Ptr(a.base), Size: a.size}
	if a.ctx != nil {
		info.Ctx = a.ctx.id
	}
	return info, nil
}
