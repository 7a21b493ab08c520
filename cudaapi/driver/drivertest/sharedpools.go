package drivertest

import (
	"os"

	"gocuda/cudaapi/driver"
)

// sharedPool makes a pool that other processes can import, and its file.
func (e *env) sharedPool(dev int) (driver.MemPool, *os.File) {
	e.Helper()
	kinds, err := e.d.DeviceAttribute(driver.MemoryPoolHandleTypes, driver.Device(dev))
	e.ok(err)
	if kinds&1 == 0 {
		e.Skip("this device's pools have no file descriptors")
	}
	pool, err := e.d.MemPoolCreate(driver.Device(dev), true)
	e.ok(err)
	e.Cleanup(func() { _ = e.d.MemPoolDestroy(pool) })
	fd, err := e.d.MemPoolExport(pool)
	e.ok(err)
	f := os.NewFile(uintptr(fd), "pool")
	e.Cleanup(func() { f.Close() })
	return pool, f
}

// pooled allocates from a pool, filled with a byte.
func (e *env) pooled(dev int, pool driver.MemPool, n uint64, fill byte) driver.Ptr {
	e.Helper()
	s := e.stream(dev, driver.StreamNonBlocking)
	p, err := e.d.MemAllocFromPoolAsync(e.ctx[dev], n, pool, s)
	e.ok(err)
	e.ok(e.d.MemsetAsync(e.ctx[dev], p, uint32(fill), 1, n, s))
	e.sync(dev, s)
	e.Cleanup(func() {
		_ = e.d.MemFreeAsync(e.ctx[dev], p, driver.StreamDefault)
		_ = e.d.CtxSynchronize(e.ctx[dev], nil)
	})
	return p
}

// imported is the pool of the descriptor that this process was started with.
func (e *env) imported() driver.MemPool {
	e.Helper()
	f := os.NewFile(3, "pool")
	defer f.Close()
	pool, err := e.d.MemPoolImport(int(f.Fd()))
	e.ok(err)
	return pool
}

var sharedPoolTests = []test{
	{name: "a pool's memory is written by another process", run: func(e *env) {
		if h := e.handles(); h != nil {
			pool := e.imported()
			p, err := e.d.MemPoolImportPointer(e.ctx[0], pool, driver.PoolPointer(h[0]))
			e.ok(err)
			e.all(0, p, 4096, 1)
			s := e.stream(0, driver.StreamNonBlocking)
			e.ok(e.d.MemsetAsync(e.ctx[0], p, 2, 1, 4096, s))
			e.ok(e.d.MemFreeAsync(e.ctx[0], p, s))
			e.sync(0, s)
			e.ok(e.d.MemPoolDestroy(pool))
			return
		}
		pool, f := e.sharedPool(0)
		e.pooled(0, pool, 4096, 9)
		p := e.pooled(0, pool, 8192, 1)
		x, err := e.d.MemPoolExportPointer(e.ctx[0], p)
		e.ok(err)
		e.partnerWith([]*os.File{f}, x[:])
		e.all(0, p, 4096, 2)
		e.all(0, p+4096, 4096, 1)
	}},
	{name: "an imported pool allocates nothing", run: func(e *env) {
		if e.handles() != nil {
			_, err := e.d.MemAllocFromPoolAsync(e.ctx[0], 4096, e.imported(), e.stream(0, driver.StreamNonBlocking))
			e.code(err, driver.ErrInvalidValue, driver.ErrNotPermitted, driver.ErrNotSupported)
			return
		}
		_, f := e.sharedPool(0)
		e.partnerWith([]*os.File{f}, []byte{0})
	}},
	{name: "memory of another device's pool is imported", devices: 2, run: func(e *env) {
		if h := e.handles(); h != nil {
			pool := e.imported()
			e.ok(e.d.MemPoolSetAccess(pool, 0, true))
			p, err := e.d.MemPoolImportPointer(e.ctx[0], pool, driver.PoolPointer(h[0]))
			e.ok(err)
			s := e.stream(0, driver.StreamNonBlocking)
			e.ok(e.d.MemsetAsync(e.ctx[0], p, 4, 1, 4096, s))
			e.sync(0, s)
			e.ok(e.d.MemFree(e.ctx[0], p))
			return
		}
		e.peer(0, 1)
		pool, f := e.sharedPool(1)
		p := e.pooled(1, pool, 4096, 3)
		x, err := e.d.MemPoolExportPointer(e.ctx[1], p)
		e.ok(err)
		e.partnerWith([]*os.File{f}, x[:])
		e.all(1, p, 4096, 4)
	}},
	{name: "a plain pool has no file descriptor", run: func(e *env) {
		pool, err := e.d.MemPoolCreate(0, false)
		e.ok(err)
		defer func() { e.ok(e.d.MemPoolDestroy(pool)) }()
		_, err = e.d.MemPoolExport(pool)
		e.code(err, driver.ErrInvalidValue, driver.ErrNotSupported)
		p := e.pooled(0, pool, 4096, 0)
		_, err = e.d.MemPoolExportPointer(e.ctx[0], p)
		e.code(err, driver.ErrInvalidValue, driver.ErrNotSupported)
	}},
	{name: "memory that is of no pool has no pool pointer", run: func(e *env) {
		_, err := e.d.MemPoolExportPointer(e.ctx[0], e.alloc(0, 4096, 0))
		e.code(err, driver.ErrInvalidValue, driver.ErrNotSupported)
	}},
	{name: "another file's descriptor is no pool", run: func(e *env) {
		f, err := os.Open(os.DevNull)
		e.ok(err)
		defer f.Close()
		_, err = e.d.MemPoolImport(int(f.Fd()))
		e.code(err, driver.ErrInvalidValue, driver.ErrInvalidHandle, driver.ErrOperatingSystem, driver.ErrUnknown)
	}},
}
