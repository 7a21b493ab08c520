package cuda

import (
	"sync/atomic"

	"gocuda/cudaapi/driver"
)

// Pool is a memory pool, from which streams allocate (cudaMemPool_t).
type Pool struct {
	dev     *Device
	h       driver.MemPool
	builtin bool
	closed  atomic.Bool
	access  *deviceSet // those that may access its memory
}

// DefaultPool is the pool that Stream.AllocAsync uses.
func (d *Device) DefaultPool() (*Pool, error) {
	if _, err := d.context(); err != nil {
		return nil, err
	}
	h, err := d.drv().DefaultMemPool(d.id)
	if err != nil {
		return nil, d.fail(err)
	}
	return &Pool{dev: d, h: h, builtin: true, access: &d.pool}, nil
}

// NewPool makes a pool of d's memory (cudaMemPoolCreate).
func (d *Device) NewPool() (*Pool, error) { return d.newPool(false) }

// NewSharedPool makes a pool that other processes can import: see Pool.Export.
func (d *Device) NewSharedPool() (*Pool, error) { return d.newPool(true) }

func (d *Device) newPool(shared bool) (*Pool, error) {
	if _, err := d.context(); err != nil {
		return nil, err
	}
	h, err := d.drv().MemPoolCreate(d.id, shared)
	if err != nil {
		return nil, d.fail(err)
	}
	return &Pool{dev: d, h: h, access: new(deviceSet)}, nil
}

func (p *Pool) use(call string) error {
	if p == nil || p.closed.Load() {
		return misuse(driver.ErrInvalidValue, call, nil, "the pool is nil or was destroyed")
	}
	return nil
}

// AllocAsync allocates n elements from the pool in the order of a stream
// (cudaMallocFromPoolAsync); free them with Buffer.FreeAsync.
func (p *Pool) AllocAsync(n int, t Type, s *Stream) (*Buffer, error) {
	const call = "Pool.AllocAsync"
	if err := p.use(call); err != nil {
		return nil, err
	}
	c, err := s.use(call)
	if err != nil {
		return nil, err
	}
	bytes, err := p.dev.size(call, n, t)
	if err != nil {
		return nil, err
	}
	var at driver.Ptr
	if bytes > 0 {
		at, err = p.dev.drv().MemAllocFromPoolAsync(c, bytes, p.h, s.h)
		if isCode(err, driver.ErrOutOfMemory) {
			at, err = p.dev.allocate(func() (driver.Ptr, error) { return p.dev.drv().MemAllocFromPoolAsync(c, bytes, p.h, s.h) })
		}
		if err != nil {
			return nil, p.dev.outOfMemory(err, bytes)
		}
	}
	return s.allocated(p.dev.ordered.add(p.dev, at, bytes, n, t, p.access)), nil
}

// TrimTo gives unused memory back to the device until the pool holds no more
// than keep bytes (cudaMemPoolTrimTo).
func (p *Pool) TrimTo(keep uint64) error {
	if err := p.use("Pool.TrimTo"); err != nil {
		return err
	}
	return p.dev.fail(p.dev.drv().MemPoolTrimTo(p.h, keep))
}

// Attribute is one of the pool's attributes: driver.PoolReservedCurrent,
// driver.PoolUsedCurrent, driver.PoolReleaseThreshold and so on, in bytes.
func (p *Pool) Attribute(a driver.PoolAttribute) (uint64, error) {
	if err := p.use("Pool.Attribute"); err != nil {
		return 0, err
	}
	v, err := p.dev.drv().MemPoolAttribute(p.h, a)
	return v, p.dev.fail(err)
}

// Used is how many bytes are allocated from the pool and not freed yet, as far
// as the device has come (cudaMemPoolAttrUsedMemCurrent).
func (p *Pool) Used() (uint64, error) { return p.Attribute(driver.PoolUsedCurrent) }

// Reserved is how many bytes the pool holds of the device's memory, used or not
// (cudaMemPoolAttrReservedMemCurrent).
func (p *Pool) Reserved() (uint64, error) { return p.Attribute(driver.PoolReservedCurrent) }

// SetAttribute sets one: driver.PoolReleaseThreshold is how many bytes the pool
// keeps at a synchronization rather than give them back; the high-water marks can
// be set to 0.
func (p *Pool) SetAttribute(a driver.PoolAttribute, v uint64) error {
	if err := p.use("Pool.SetAttribute"); err != nil {
		return err
	}
	return p.dev.fail(p.dev.drv().SetMemPoolAttribute(p.h, a, v))
}

// SetAccess lets peer use the pool's memory, or no longer. Peer access of the
// devices themselves does not count for pools.
func (p *Pool) SetAccess(peer *Device, readWrite bool) error {
	if err := p.use("Pool.SetAccess"); err != nil {
		return err
	}
	if err := p.dev.drv().MemPoolSetAccess(p.h, peer.id, readWrite); err != nil {
		return p.dev.fail(err)
	}
	p.access.set(peer.id, readWrite)
	return nil
}

// Destroy gives the pool back (cudaMemPoolDestroy). Memory from it stays valid
// until it is freed.
func (p *Pool) Destroy() error {
	if err := p.use("Pool.Destroy"); err != nil {
		return err
	}
	if p.builtin {
		return misuse(driver.ErrInvalidValue, "Pool.Destroy", p.dev, "the default pool cannot be destroyed")
	}
	p.closed.Store(true)
	return p.dev.fail(p.dev.drv().MemPoolDestroy(p.h))
}
