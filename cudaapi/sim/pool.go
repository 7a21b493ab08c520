package sim

import (
	"gocuda/cudaapi/driver"
)

// pool is memory that allocations ordered in streams come from. Memory is
// taken at the call and returned when the stream reaches the free; what a pool
// keeps beyond that is only counted.
type pool struct {
	id        driver.MemPool
	m         *Driver
	dev       *device
	threshold uint64
	used      uint64
	usedHigh  uint64
	reserved  uint64
	resHigh   uint64
	reuse     map[driver.PoolAttribute]uint64
	access    map[driver.Device]bool
	live      map[*allocation]bool
	shared    bool        // other processes may import it
	origin    *poolOrigin // of an imported one
}

const poolGranularity = 32 << 20

func (m *Driver) newPool(d *device) *pool {
	p := &pool{id: driver.MemPool(m.handle()), m: m, dev: d, access: map[driver.Device]bool{}, live: map[*allocation]bool{},
		reuse: map[driver.PoolAttribute]uint64{driver.PoolReuseFollowEventDependencies: 1,
			driver.PoolReuseAllowOpportunistic: 1, driver.PoolReuseAllowInternalDependencies: 1}}
	m.pools[p.id] = p
	return p
}

func (p *pool) take(a *allocation) {
	a.pool = p
	p.live[a] = true
	p.used += a.size
	p.usedHigh = max(p.usedHigh, p.used)
	p.reserved = max(p.reserved, roundUp(p.used, poolGranularity))
	p.resHigh = max(p.resHigh, p.reserved)
}

func (p *pool) forget(a *allocation) {
	if p.live[a] {
		delete(p.live, a)
		p.used -= a.size
		p.trim(p.threshold)
	}
}

func (p *pool) trim(keep uint64) {
	p.reserved = min(p.reserved, roundUp(max(p.used, keep), poolGranularity))
}

// reset frees all that the pool holds: its device's context has ended.
func (p *pool) reset() {
	for a := range p.live {
		p.m.space.free(a)
	}
	clear(p.live)
	p.used, p.reserved = 0, 0
}

func (m *Driver) pool(call string, id driver.MemPool) (*pool, error) {
	if err := m.inUse(call); err != nil {
		return nil, err
	}
	if p := m.pools[id]; p != nil {
		return p, nil
	}
	return nil, fail(call, driver.ErrInvalidValue, "the pool does not exist or was destroyed")
}

// MemAllocAsync allocates from the device's default pool, in stream order.
func (m *Driver) MemAllocAsync(c driver.Context, n uint64, s driver.Stream) (driver.Ptr, error) {
	return m.allocAsync("cuMemAllocAsync", c, n, 0, s)
}

// MemAllocFromPoolAsync allocates from a pool, in stream order.
func (m *Driver) MemAllocFromPoolAsync(c driver.Context, n uint64, p driver.MemPool, s driver.Stream) (driver.Ptr, error) {
	const call = "cuMemAllocFromPoolAsync"
	if p == 0 {
		return 0, fail(call, driver.ErrInvalidValue, "no pool")
	}
	return m.allocAsync(call, c, n, p, s)
}

func (m *Driver) allocAsync(call string, c driver.Context, n uint64, id driver.MemPool, s driver.Stream) (driver.Ptr, error) {
	ctx, st, err := m.target(call, c, s)
	defer m.mu.Unlock()
	if err != nil {
		return 0, err
	}
	if err := st.memoryInCapture(call); err != nil {
		return 0, err
	}
	p := st.ctx.dev.pool
	if id != 0 {
		if p, err = m.pool(call, id); err != nil {
			return 0, err
		}
		if p.origin != nil {
			return 0, fail(call, driver.ErrInvalidValue, "the pool was imported: only its own process allocates from it")
		}
	}
	if n == 0 {
		return 0, nil // no memory, and no error: seen on GPUs
	}
	if err := m.space.commit(p.dev.arena); err != nil {
		return 0, fail(call, driver.ErrOutOfMemory, "%v", err)
	}
	a, err := m.space.alloc(p.dev.arena, n)
	if err != nil {
		// Frees may be under way in the streams.
		last := p.dev.ctx.last()
		m.mu.Unlock()
		m.waitAll(last, nil) //nolint:errcheck // it cannot be interrupted
		m.mu.Lock()
		if a, err = m.allocate(call, ctx, p.dev.arena, n); err != nil {
			return 0, err
		}
	}
	a.kind, a.device = driver.MemoryDevice, p.dev.id
	p.take(a)
	// Until the stream gets here the memory is another's: what was written to it
	// before is lost then.
	m.push(st, &op{kind: opFill, name: "alloc", writes: []span{spanOf(driver.Ptr(a.base), a.size)}, work: func(*op) error {
		m.space.soil(a)
		return nil
	}, cost: cost{call: m.profile.EventCall}})
	return driver.Ptr(a.base), nil
}

// MemFreeAsync frees stream-ordered memory, or memory from MemAlloc, when the
// stream gets there.
func (m *Driver) MemFreeAsync(c driver.Context, p driver.Ptr, s driver.Stream) error {
	const call = "cuMemFreeAsync"
	_, st, err := m.target(call, c, s)
	defer m.mu.Unlock()
	if err != nil {
		return err
	}
	if err := st.memoryInCapture(call); err != nil {
		return err
	}
	a := m.space.find(uintptr(p))
	if a == nil || a.base != uintptr(p) || a.kind != driver.MemoryDevice || !a.freeable() || a.freeing {
		return fail(call, driver.ErrInvalidValue, "%#x is not the start of an allocation", uint64(p))
	}
	a.freeing = true
	// Work and not only an end: it takes its turn like other operations, so
	// that use after the free can come before or after it.
	m.push(st, &op{kind: opFill, name: "free", writes: []span{spanOf(p, a.size)}, work: func(*op) error { return nil },
		after: func(*op) {
			if !a.freed {
				m.drop(a)
			}
		}, cost: cost{call: m.profile.EventCall}})
	return nil
}

// DefaultMemPool is the device's pool.
func (m *Driver) DefaultMemPool(d driver.Device) (driver.MemPool, error) {
	dev, err := m.device("cuDeviceGetDefaultMemPool", d)
	if err != nil {
		return 0, err
	}
	return dev.pool.id, nil
}

// MemPoolCreate makes a pool on a device.
func (m *Driver) MemPoolCreate(d driver.Device, shared bool) (driver.MemPool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dev, err := m.device("cuMemPoolCreate", d)
	if err != nil {
		return 0, err
	}
	p := m.newPool(dev)
	p.shared = shared
	return p.id, nil
}

// MemPoolDestroy forgets a pool; its allocations live on until freed.
func (m *Driver) MemPoolDestroy(id driver.MemPool) error {
	const call = "cuMemPoolDestroy"
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.pool(call, id)
	if err != nil {
		return err
	}
	if p.dev.pool == p {
		return fail(call, driver.ErrInvalidValue, "a device's default pool cannot be destroyed")
	}
	delete(m.pools, id)
	return nil
}

// MemPoolTrimTo gives memory back until keep bytes are left, or what is used.
func (m *Driver) MemPoolTrimTo(id driver.MemPool, keep uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.pool("cuMemPoolTrimTo", id)
	if err == nil {
		p.trim(keep)
	}
	return err
}

// MemPoolAttribute reads a pool's attribute.
func (m *Driver) MemPoolAttribute(id driver.MemPool, a driver.PoolAttribute) (uint64, error) {
	const call = "cuMemPoolGetAttribute"
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.pool(call, id)
	if err != nil {
		return 0, err
	}
	switch a {
	case driver.PoolReleaseThreshold:
		return p.threshold, nil
	case driver.PoolReservedCurrent:
		return p.reserved, nil
	case driver.PoolReservedHigh:
		return p.resHigh, nil
	case driver.PoolUsedCurrent:
		return p.used, nil
	case driver.PoolUsedHigh:
		return p.usedHigh, nil
	}
	if v, ok := p.reuse[a]; ok {
		return v, nil
	}
	return 0, fail(call, driver.ErrInvalidValue, "attribute %d", a)
}

// SetMemPoolAttribute sets one; the high-water marks can only be set to 0.
func (m *Driver) SetMemPoolAttribute(id driver.MemPool, a driver.PoolAttribute, v uint64) error {
	const call = "cuMemPoolSetAttribute"
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.pool(call, id)
	if err != nil {
		return err
	}
	_, reuse := p.reuse[a]
	switch {
	case a == driver.PoolReleaseThreshold:
		p.threshold = v
	case a == driver.PoolReservedHigh && v == 0:
		p.resHigh = p.reserved
	case a == driver.PoolUsedHigh && v == 0:
		p.usedHigh = p.used
	case reuse && v <= 1:
		p.reuse[a] = v
	default:
		return fail(call, driver.ErrInvalidValue, "attribute %d = %d", a, v)
	}
	return nil
}

// MemPoolSetAccess lets a device's kernels reach the pool's memory, or not.
func (m *Driver) MemPoolSetAccess(id driver.MemPool, d driver.Device, readWrite bool) error {
	const call = "cuMemPoolSetAccess"
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.pool(call, id)
	if err != nil {
		return err
	}
	dev, err := m.device(call, d)
	if err != nil {
		return err
	}
	if dev == p.dev && !readWrite {
		return fail(call, driver.ErrInvalidValue, "a pool's own device always has access")
	}
	if dev.node != p.dev.node && readWrite {
		return fail(call, driver.ErrInvalidDevice, "devices %d and %d are in different nodes", d, p.dev.id)
	}
	p.access[d] = readWrite
	return nil
}
