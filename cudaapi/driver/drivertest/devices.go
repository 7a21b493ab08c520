package drivertest

import "gocuda/cudaapi/driver"

var deviceTests = []test{
	{name: "every device has a name, memory and an architecture", run: func(e *env) {
		for i := range e.n {
			name, err := e.d.DeviceName(driver.Device(i))
			e.ok(err)
			mem, err := e.d.DeviceTotalMem(driver.Device(i))
			e.ok(err)
			major, err := e.d.DeviceAttribute(driver.ComputeCapabilityMajor, driver.Device(i))
			e.ok(err)
			if name == "" || mem < 1<<20 || major < 3 {
				e.Errorf("device %d: %q, %d bytes, major %d", i, name, mem, major)
			}
		}
	}},
	{name: "attributes are those of a GPU", run: func(e *env) {
		for _, a := range []struct {
			attr     driver.Attribute
			min, max int
		}{
			{driver.WarpSize, 32, 32}, {driver.MaxThreadsPerBlock, 512, 4096}, {driver.MaxBlockDimX, 512, 4096},
			{driver.MaxBlockDimZ, 64, 64}, {driver.MaxGridDimX, 65535, 1<<31 - 1}, {driver.MultiprocessorCount, 1, 1000},
			{driver.MaxSharedMemoryPerBlock, 16 << 10, 1 << 20}, {driver.UnifiedAddressing, 1, 1}, {driver.TotalConstantMemory, 1 << 16, 1 << 16},
			{driver.AsyncEngineCount, 1, 16}, {driver.ConcurrentKernels, 1, 1}, {driver.MemoryPoolsSupported, 0, 1},
		} {
			v, err := e.d.DeviceAttribute(a.attr, 0)
			e.ok(err)
			if v < a.min || v > a.max {
				e.Errorf("attribute %d is %d, want %d to %d", a.attr, v, a.min, a.max)
			}
		}
	}},
	{name: "an unknown attribute is an invalid value", run: func(e *env) {
		_, err := e.d.DeviceAttribute(99999, 0)
		e.code(err, driver.ErrInvalidValue)
	}},
	{name: "a device beyond the last is an invalid device", run: func(e *env) {
		_, err := e.d.DeviceName(driver.Device(e.n))
		e.code(err, driver.ErrInvalidDevice)
		_, err = e.d.DeviceAttribute(driver.WarpSize, driver.Device(e.n))
		e.code(err, driver.ErrInvalidDevice)
		_, err = e.d.PrimaryRetain(driver.Device(e.n))
		e.code(err, driver.ErrInvalidDevice)
	}},
	{name: "a negative device is an invalid device", run: func(e *env) {
		_, err := e.d.DeviceTotalMem(-1)
		e.code(err, driver.ErrInvalidDevice)
	}},
	{name: "devices have different UUIDs", devices: 2, run: func(e *env) {
		seen := map[[16]byte]bool{}
		for i := range e.n {
			u, err := e.d.DeviceUUID(driver.Device(i))
			e.ok(err)
			if seen[u] || u == [16]byte{} {
				e.Errorf("device %d: UUID %x again, or zero", i, u)
			}
			seen[u] = true
		}
	}},
	{name: "the primary context is one per device", run: func(e *env) {
		c, err := e.d.PrimaryRetain(0)
		e.ok(err)
		if c != e.ctx[0] {
			e.Errorf("context %#x, before %#x", c, e.ctx[0])
		}
		e.ok(e.d.PrimaryRelease(0))
		_, _, err = e.d.MemInfo(e.ctx[0]) // still retained once
		e.ok(err)
	}},
	{name: "contexts of two devices differ", devices: 2, run: func(e *env) {
		if e.ctx[0] == e.ctx[1] {
			e.Error("one context for two devices")
		}
	}},
	{name: "memory information is within the total", run: func(e *env) {
		free, total, err := e.d.MemInfo(e.ctx[0])
		e.ok(err)
		if free == 0 || free > total {
			e.Errorf("%d free of %d", free, total)
		}
	}},
	{name: "an idle context synchronizes at once", run: func(e *env) {
		e.ok(e.d.CtxSynchronize(e.ctx[0], nil))
		e.ok(e.d.CtxSynchronize(e.ctx[0], make(chan struct{})))
	}},
	{name: "priorities: the greatest is not above the least in number", run: func(e *env) {
		least, greatest, err := e.d.StreamPriorityRange(e.ctx[0])
		e.ok(err)
		if greatest > least {
			e.Errorf("least %d, greatest %d", least, greatest)
		}
	}},
	{name: "the version is CUDA's", run: func(e *env) {
		v, err := e.d.Version()
		e.ok(err)
		if v < 11020 || v > 99990 {
			e.Errorf("version %d", v)
		}
	}},
}
