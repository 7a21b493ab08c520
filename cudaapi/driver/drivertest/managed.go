package drivertest

import (
	"unsafe"

	"gocuda/cudaapi/driver"
)

// managed allocates managed memory, filled by the host.
func (e *env) managed(n uint64, fill byte) (driver.Ptr, []byte) {
	e.Helper()
	concurrent, err := e.d.DeviceAttribute(driver.ConcurrentManagedAccess, 0)
	e.ok(err)
	if concurrent == 0 {
		e.Skip("this device does not use managed memory beside the host")
	}
	p, err := e.d.MemAllocManaged(e.ctx[0], n)
	e.ok(err)
	e.Cleanup(func() { _ = e.d.MemFree(e.ctx[0], p) })
	b := unsafe.Slice((*byte)(hostAddress(p)), n)
	for i := range b {
		b[i] = fill
	}
	return p, b
}

// rangeIs checks an attribute of a range.
func (e *env) rangeIs(p driver.Ptr, n uint64, a driver.RangeAttribute, want int) {
	e.Helper()
	got, err := e.d.MemRangeAttribute(e.ctx[0], p, n, a)
	e.ok(err)
	if got != want {
		e.Errorf("attribute %d is %d, want %d", a, got, want)
	}
}

const managedSize = 4 << 20

var managedTests = []test{
	{name: "a prefetch keeps the data and says where they went", run: func(e *env) {
		p, b := e.managed(managedSize, 5)
		s := e.stream(0, driver.StreamNonBlocking)
		e.rangeIs(p, managedSize, driver.RangeLastPrefetchLocation, int(driver.Nowhere))
		e.ok(e.d.MemPrefetchAsync(e.ctx[0], p, managedSize, 0, s))
		e.sync(0, s)
		e.rangeIs(p, managedSize, driver.RangeLastPrefetchLocation, 0)
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 6, 1, managedSize/2, s))
		e.ok(e.d.MemPrefetchAsync(e.ctx[0], p, managedSize, driver.Host, s))
		e.sync(0, s)
		e.rangeIs(p, managedSize, driver.RangeLastPrefetchLocation, int(driver.Host))
		if b[0] != 6 || b[managedSize/2-1] != 6 || b[managedSize/2] != 5 || b[managedSize-1] != 5 {
			e.Errorf("%d, %d, %d, %d", b[0], b[managedSize/2-1], b[managedSize/2], b[managedSize-1])
		}
	}},
	{name: "a prefetch keeps its stream's order", run: func(e *env) {
		p, _ := e.managed(managedSize, 5)
		s := e.stream(0, driver.StreamNonBlocking)
		g := e.hold(0, s)
		e.returns("cuMemPrefetchAsync", g.release, func() error { return e.d.MemPrefetchAsync(e.ctx[0], p, managedSize, 0, s) })
		e.pending(0, s, "a prefetch behind a gate")
		g.release()
		e.done(0, s, "a prefetch")
	}},
	{name: "a prefetch to another device", devices: 2, run: func(e *env) {
		p, b := e.managed(managedSize, 5)
		s := e.stream(0, driver.StreamNonBlocking)
		e.ok(e.d.MemPrefetchAsync(e.ctx[0], p, managedSize, 1, s))
		e.sync(0, s)
		e.rangeIs(p, managedSize, driver.RangeLastPrefetchLocation, 1)
		e.all(1, p, managedSize, 5)
		if b[managedSize-1] != 5 {
			e.Error(b[managedSize-1])
		}
	}},
	{name: "parts of a range have places of their own", run: func(e *env) {
		p, _ := e.managed(managedSize, 5)
		s := e.stream(0, driver.StreamNonBlocking)
		e.ok(e.d.MemPrefetchAsync(e.ctx[0], p, managedSize/2, 0, s))
		e.sync(0, s)
		e.rangeIs(p, managedSize/2, driver.RangeLastPrefetchLocation, 0)
		e.rangeIs(p+managedSize/2, managedSize/2, driver.RangeLastPrefetchLocation, int(driver.Nowhere))
		e.rangeIs(p, managedSize, driver.RangeLastPrefetchLocation, int(driver.Nowhere))
	}},
	{name: "advice is kept until it is taken back", run: func(e *env) {
		p, _ := e.managed(managedSize, 5)
		advise := func(a driver.Advice, at driver.Device) {
			e.Helper()
			e.ok(e.d.MemAdvise(e.ctx[0], p, managedSize, a, at))
		}
		e.rangeIs(p, managedSize, driver.RangeReadMostly, 0)
		advise(driver.AdviseReadMostly, 0)
		e.rangeIs(p, managedSize, driver.RangeReadMostly, 1)
		advise(driver.UnadviseReadMostly, 0)
		e.rangeIs(p, managedSize, driver.RangeReadMostly, 0)
		e.rangeIs(p, managedSize, driver.RangePreferredLocation, int(driver.Nowhere))
		advise(driver.AdvisePreferredLocation, 0)
		e.rangeIs(p, managedSize, driver.RangePreferredLocation, 0)
		advise(driver.AdvisePreferredLocation, driver.Host)
		e.rangeIs(p, managedSize, driver.RangePreferredLocation, int(driver.Host))
		advise(driver.UnadvisePreferredLocation, driver.Host)
		e.rangeIs(p, managedSize, driver.RangePreferredLocation, int(driver.Nowhere))
		advise(driver.AdviseAccessedBy, 0)
		advise(driver.UnadviseAccessedBy, 0)
	}},
	{name: "memory that is not managed is not prefetched or advised on", run: func(e *env) {
		p, s := e.alloc(0, 1<<20, 0), e.stream(0, driver.StreamNonBlocking)
		e.code(e.d.MemPrefetchAsync(e.ctx[0], p, 1<<20, 0, s), driver.ErrInvalidValue)
		e.code(e.d.MemAdvise(e.ctx[0], p, 1<<20, driver.AdviseReadMostly, 0), driver.ErrInvalidValue)
	}},
	{name: "a prefetch to a device that is not there is an invalid device", run: func(e *env) {
		p, _ := e.managed(managedSize, 5)
		s := e.stream(0, driver.StreamNonBlocking)
		e.code(e.d.MemPrefetchAsync(e.ctx[0], p, managedSize, driver.Device(e.n), s), driver.ErrInvalidDevice)
	}},
	{name: "a prefetch past the end is an invalid value", run: func(e *env) {
		p, _ := e.managed(managedSize, 5)
		s := e.stream(0, driver.StreamNonBlocking)
		e.code(e.d.MemPrefetchAsync(e.ctx[0], p, 16*managedSize, 0, s), driver.ErrInvalidValue)
	}},
}
