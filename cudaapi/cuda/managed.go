package cuda

import (
	"runtime"

	"gocuda/cudaapi/driver"
)

// AllocManaged allocates memory that host and devices both use by its address,
// and that moves between them on its own (cudaMallocManaged).
func (d *Device) AllocManaged(n int, t Type) (*Buffer, error) {
	return d.alloc("Device.AllocManaged", n, t, managedMemory, driver.Driver.MemAllocManaged)
}

// Host is managed memory as the host sees it: the same bytes, not a copy. The
// devices must be done with them before the host looks (on devices without
// concurrent managed access, with everything).
func (b *Buffer) Host() (*HostBuffer, error) {
	if err := b.alive("Buffer.Host"); err != nil {
		return nil, err
	}
	if b.own.kind != managedMemory {
		return nil, misuse(driver.ErrInvalidValue, "Buffer.Host", b.own.dev, "the host cannot see %s memory: download it, or use AllocManaged", b.own.kind)
	}
	return &HostBuffer{own: b.own, ptr: b.ptr, n: b.n, typ: b.typ, view: true}, nil
}

// managed checks that b is managed memory that may be used, and gives the
// device's context.
func (b *Buffer) managed(call string) (driver.Context, error) {
	if err := b.alive(call); err != nil {
		return 0, err
	}
	if b.own.kind != managedMemory {
		return 0, misuse(driver.ErrInvalidValue, call, b.own.dev, "this is %s memory, which stays where it is; AllocManaged gives memory that moves", b.own.kind)
	}
	return b.own.dev.context()
}

// place is a device's ordinal, or the host for nil.
func place(d *Device) driver.Device {
	if d == nil {
		return driver.Host
	}
	return d.id
}

// Prefetch moves managed memory to a device, or to the host where to is nil,
// behind the work queued on s so far (cudaMemPrefetchAsync): kernels and the
// host then find it near. It does not wait; the data do not change. A nil stream
// is the default stream of the device that allocated the memory. Views move
// only themselves, by whole pages.
func (b *Buffer) Prefetch(to *Device, s *Stream) error {
	const call = "Buffer.Prefetch"
	if _, err := b.managed(call); err != nil {
		return err
	}
	if s == nil {
		s = b.own.dev.DefaultStream()
	}
	c, err := s.use(call)
	if err != nil || b.n == 0 {
		return err
	}
	return s.queued(s.dev.drv().MemPrefetchAsync(c, b.ptr, uint64(b.Bytes()), place(to), s.h), call, b)
}

// Advice says how managed memory will be used; see Buffer.Advise.
type Advice uint32

const (
	// ReadMostly lets each device that reads have a copy of its own; a write
	// drops the copies.
	ReadMostly   Advice = Advice(driver.AdviseReadMostly)
	NoReadMostly Advice = Advice(driver.UnadviseReadMostly)
	// PreferredLocation keeps the memory at one place where it can, and lets
	// others reach it there.
	PreferredLocation   Advice = Advice(driver.AdvisePreferredLocation)
	NoPreferredLocation Advice = Advice(driver.UnadvisePreferredLocation)
	// AccessedBy keeps the memory mapped for a device, so that it need not move
	// to be used there.
	AccessedBy   Advice = Advice(driver.AdviseAccessedBy)
	NoAccessedBy Advice = Advice(driver.UnadviseAccessedBy)
)

// Advise tells how managed memory will be used (cudaMemAdvise). It moves
// nothing, and results do not depend on it. The place, nil for the host, counts
// for PreferredLocation and AccessedBy.
func (b *Buffer) Advise(a Advice, at *Device) error {
	c, err := b.managed("Buffer.Advise")
	if err != nil || b.n == 0 {
		return err
	}
	err = b.own.dev.fail(b.own.dev.drv().MemAdvise(c, b.ptr, uint64(b.Bytes()), driver.Advice(a), place(at)))
	runtime.KeepAlive(b)
	return err
}

// RangeAttribute is what holds for all of a piece of managed memory
// (cudaMemRangeGetAttribute): driver.RangeReadMostly, 1 or 0;
// driver.RangePreferredLocation and driver.RangeLastPrefetchLocation, an
// ordinal, driver.Host, or driver.Nowhere where there is no one place.
func (b *Buffer) RangeAttribute(a driver.RangeAttribute) (int, error) {
	c, err := b.managed("Buffer.RangeAttribute")
	if err != nil {
		return 0, err
	}
	v, err := b.own.dev.drv().MemRangeAttribute(c, b.ptr, uint64(b.Bytes()), a)
	runtime.KeepAlive(b)
	return v, b.own.dev.fail(err)
}
