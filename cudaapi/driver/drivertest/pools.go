package drivertest

import "gocuda/cudaapi/driver"

var poolTests = []test{
	{name: "stream-ordered memory is used in the stream's order", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		out, outBytes := e.pinned(4096, 0)
		p, err := e.d.MemAllocAsync(e.ctx[0], 4096, s)
		e.ok(err)
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 3, 1, 4096, s))
		e.ok(e.d.MemcpyAsync(e.ctx[0], out, p, 4096, s))
		e.ok(e.d.MemFreeAsync(e.ctx[0], p, s))
		e.sync(0, s)
		if outBytes[4095] != 3 {
			e.Error(outBytes[4095])
		}
	}},
	{name: "neither allocation nor free wait for the stream", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		g := e.hold(0, s)
		e.returns("cuMemAllocAsync and cuMemFreeAsync", g.release, func() error {
			p, err := e.d.MemAllocAsync(e.ctx[0], 1<<20, s)
			if err != nil {
				return err
			}
			return e.d.MemFreeAsync(e.ctx[0], p, s)
		})
		g.release()
		e.sync(0, s)
	}},
	// Unlike cuMemAlloc. Seen on an H200 with driver 580.
	{name: "zero bytes of stream-ordered memory are no error", run: func(e *env) {
		_, err := e.d.MemAllocAsync(e.ctx[0], 0, driver.StreamDefault)
		e.ok(err)
	}},
	{name: "a second stream-ordered free is an invalid value", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p, err := e.d.MemAllocAsync(e.ctx[0], 4096, s)
		e.ok(err)
		e.ok(e.d.MemFreeAsync(e.ctx[0], p, s))
		e.sync(0, s)
		e.code(e.d.MemFreeAsync(e.ctx[0], p, s), driver.ErrInvalidValue)
	}},
	{name: "a plain free takes stream-ordered memory", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p, err := e.d.MemAllocAsync(e.ctx[0], 4096, s)
		e.ok(err)
		e.sync(0, s)
		e.ok(e.d.MemFree(e.ctx[0], p))
	}},
	{name: "the default pool counts what is used", run: func(e *env) {
		pool, err := e.d.DefaultMemPool(0)
		e.ok(err)
		s := e.stream(0, driver.StreamNonBlocking)
		before, err := e.d.MemPoolAttribute(pool, driver.PoolUsedCurrent)
		e.ok(err)
		p, err := e.d.MemAllocAsync(e.ctx[0], 1<<20, s)
		e.ok(err)
		during, err := e.d.MemPoolAttribute(pool, driver.PoolUsedCurrent)
		e.ok(err)
		e.ok(e.d.MemFreeAsync(e.ctx[0], p, s))
		e.sync(0, s)
		after, err := e.d.MemPoolAttribute(pool, driver.PoolUsedCurrent)
		e.ok(err)
		if during < before+1<<20 || after != before {
			e.Errorf("used %d, %d, %d", before, during, after)
		}
	}},
	{name: "a pool's threshold keeps memory, a trim gives it back", run: func(e *env) {
		pool, err := e.d.MemPoolCreate(0, false)
		e.ok(err)
		defer func() { e.ok(e.d.MemPoolDestroy(pool)) }()
		e.ok(e.d.SetMemPoolAttribute(pool, driver.PoolReleaseThreshold, 1<<40))
		v, err := e.d.MemPoolAttribute(pool, driver.PoolReleaseThreshold)
		e.ok(err)
		if v != 1<<40 {
			e.Errorf("threshold %d", v)
		}
		s := e.stream(0, driver.StreamNonBlocking)
		p, err := e.d.MemAllocFromPoolAsync(e.ctx[0], 4<<20, pool, s)
		e.ok(err)
		e.ok(e.d.MemFreeAsync(e.ctx[0], p, s))
		e.sync(0, s)
		kept, err := e.d.MemPoolAttribute(pool, driver.PoolReservedCurrent)
		e.ok(err)
		e.ok(e.d.MemPoolTrimTo(pool, 0))
		trimmed, err := e.d.MemPoolAttribute(pool, driver.PoolReservedCurrent)
		e.ok(err)
		if kept < 4<<20 || trimmed != 0 {
			e.Errorf("reserved %d, after the trim %d", kept, trimmed)
		}
	}},
	{name: "a pool's high-water mark can be reset", run: func(e *env) {
		pool, err := e.d.MemPoolCreate(0, false)
		e.ok(err)
		defer func() { e.ok(e.d.MemPoolDestroy(pool)) }()
		s := e.stream(0, driver.StreamNonBlocking)
		p, err := e.d.MemAllocFromPoolAsync(e.ctx[0], 1<<20, pool, s)
		e.ok(err)
		e.ok(e.d.MemFreeAsync(e.ctx[0], p, s))
		e.sync(0, s)
		high, err := e.d.MemPoolAttribute(pool, driver.PoolUsedHigh)
		e.ok(err)
		e.ok(e.d.SetMemPoolAttribute(pool, driver.PoolUsedHigh, 0))
		reset, err := e.d.MemPoolAttribute(pool, driver.PoolUsedHigh)
		e.ok(err)
		if high < 1<<20 || reset != 0 {
			e.Errorf("high %d, reset %d", high, reset)
		}
	}},
	{name: "a pool's memory is its device's until access is given", devices: 2, run: func(e *env) {
		e.peer(1, 0) // does not count for pools
		pool, err := e.d.MemPoolCreate(0, false)
		e.ok(err)
		defer func() { e.ok(e.d.MemPoolDestroy(pool)) }()
		s := e.stream(0, driver.StreamNonBlocking)
		e.ok(e.d.MemPoolSetAccess(pool, 1, true))
		p, err := e.d.MemAllocFromPoolAsync(e.ctx[0], 4096, pool, s)
		e.ok(err)
		e.sync(0, s)
		b := e.stream(1, driver.StreamNonBlocking)
		e.ok(e.d.MemsetAsync(e.ctx[1], p, 5, 1, 4096, b))
		e.sync(1, b)
		e.all(0, p, 4096, 5)
		e.ok(e.d.MemFreeAsync(e.ctx[0], p, s))
		e.sync(0, s)
	}},
	{name: "stream-ordered memory has no handle for other processes", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p, err := e.d.MemAllocAsync(e.ctx[0], 4096, s)
		e.ok(err)
		e.sync(0, s)
		_, err = e.d.IPCGetMemHandle(e.ctx[0], p)
		e.code(err, driver.ErrInvalidValue, driver.ErrNotSupported)
		e.ok(e.d.MemFreeAsync(e.ctx[0], p, s))
		e.sync(0, s)
	}},
}
