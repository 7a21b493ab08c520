package drivertest

import (
	"runtime"
	"slices"
	"unsafe"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/record"
)

var memoryTests = []test{
	{name: "allocate and free", run: func(e *env) {
		p, err := e.d.MemAlloc(e.ctx[0], 4096)
		e.ok(err)
		if p == 0 {
			e.Error("the address is 0")
		}
		e.ok(e.d.MemFree(e.ctx[0], p))
	}},
	{name: "addresses are aligned to 256 bytes", run: func(e *env) {
		for _, n := range []uint64{1, 3, 255, 257} {
			if p := e.alloc(0, n, 0); p%256 != 0 {
				e.Errorf("%d bytes at %#x", n, p)
			}
		}
	}},
	{name: "allocations do not overlap", run: func(e *env) {
		const n = 1000
		var ps []driver.Ptr
		for i := range 8 {
			ps = append(ps, e.alloc(0, n, byte(i+1)))
		}
		for i, p := range ps {
			e.all(0, p, n, byte(i+1))
		}
	}},
	{name: "zero bytes cannot be allocated", run: func(e *env) {
		_, err := e.d.MemAlloc(e.ctx[0], 0)
		e.code(err, driver.ErrInvalidValue)
	}},
	{name: "more than there is is out of memory", run: func(e *env) {
		_, total, err := e.d.MemInfo(e.ctx[0])
		e.ok(err)
		_, err = e.d.MemAlloc(e.ctx[0], total*2)
		e.code(err, driver.ErrOutOfMemory)
		_, err = e.d.MemAlloc(e.ctx[0], 1<<20) // and that does no harm
		e.ok(err)
	}},
	{name: "a second free is an invalid value", run: func(e *env) {
		p, err := e.d.MemAlloc(e.ctx[0], 4096)
		e.ok(err)
		e.ok(e.d.MemFree(e.ctx[0], p))
		e.code(e.d.MemFree(e.ctx[0], p), driver.ErrInvalidValue)
	}},
	{name: "to free inside of an allocation is an invalid value", run: func(e *env) {
		p := e.alloc(0, 4096, 0)
		e.code(e.d.MemFree(e.ctx[0], p+256), driver.ErrInvalidValue)
		e.all(0, p, 4096, 0)
	}},
	{name: "an allocation lowers what is free", run: func(e *env) {
		before, _, err := e.d.MemInfo(e.ctx[0])
		e.ok(err)
		p, err := e.d.MemAlloc(e.ctx[0], 256<<20)
		e.ok(err)
		during, _, err := e.d.MemInfo(e.ctx[0])
		e.ok(err)
		e.ok(e.d.MemFree(e.ctx[0], p))
		if during+(200<<20) > before {
			e.Errorf("free %d before, %d with 256 MiB allocated", before, during)
		}
	}},
	{name: "devices share one address space", devices: 2, run: func(e *env) {
		a, b := e.alloc(0, 1<<20, 1), e.alloc(1, 1<<20, 2)
		if a < b+1<<20 && b < a+1<<20 {
			e.Errorf("%#x and %#x overlap", a, b)
		}
		e.all(0, a, 1<<20, 1)
		e.all(1, b, 1<<20, 2)
	}},
	{name: "a pointer tells its device, start and size", run: func(e *env) {
		for dev := range e.n {
			p := e.alloc(dev, 1000, 0)
			info, err := e.d.PointerAttributes(e.ctx[0], p+100)
			e.ok(err)
			if info.Type != driver.MemoryDevice || info.Device != driver.Device(dev) || info.Base != p || info.Size < 1000 || info.Ctx != e.ctx[dev] {
				e.Errorf("device %d: %+v for %#x", dev, info, p)
			}
		}
	}},
	{name: "pinned memory is host memory", run: func(e *env) {
		p, _ := e.pinned(4096, 0)
		info, err := e.d.PointerAttributes(e.ctx[0], p)
		e.ok(err)
		if info.Type != driver.MemoryHost {
			e.Errorf("%+v", info)
		}
	}},
	{name: "pageable memory is unknown to CUDA", run: func(e *env) {
		b := make([]byte, 4096)
		info, err := e.d.PointerAttributes(e.ctx[0], address(b))
		runtime.KeepAlive(b)
		// Depending on the driver an unknown pointer is an error, or has type 0.
		if err != nil {
			e.code(err, driver.ErrInvalidValue)
		} else if info.Type != driver.MemoryUnregistered {
			e.Errorf("%+v", info)
		}
	}},
	{name: "managed memory is host and device memory", run: func(e *env) {
		p, err := e.d.MemAllocManaged(e.ctx[0], 4096)
		e.ok(err)
		defer func() { e.ok(e.d.MemFree(e.ctx[0], p)) }()
		e.ok(e.d.Memset(e.ctx[0], p, 7, 1, 4096))
		e.ok(e.d.CtxSynchronize(e.ctx[0], nil))
		if v := *(*byte)(hostAddress(p + 4095)); v != 7 {
			e.Errorf("the host reads %d", v)
		}
		info, err := e.d.PointerAttributes(e.ctx[0], p)
		e.ok(err)
		if info.Type != driver.MemoryManaged {
			e.Errorf("%+v", info)
		}
	}},
	{name: "registered memory is pinned until it is unregistered", run: func(e *env) {
		b := make([]byte, 1<<16)
		p := address(b)
		e.ok(e.d.HostRegister(e.ctx[0], p, uint64(len(b)), driver.HostPortable))
		info, err := e.d.PointerAttributes(e.ctx[0], p)
		e.ok(err)
		if info.Type != driver.MemoryHost {
			e.Errorf("registered: %+v", info)
		}
		e.code(e.d.HostRegister(e.ctx[0], p, uint64(len(b)), driver.HostPortable), driver.ErrHostMemoryRegistered)
		e.ok(e.d.HostUnregister(e.ctx[0], p))
		e.code(e.d.HostUnregister(e.ctx[0], p), driver.ErrHostMemoryNotRegistered)
		runtime.KeepAlive(b)
	}},
	{name: "pinned memory is zero, also where it was freed", run: func(e *env) {
		for range 8 {
			p, err := e.d.HostAlloc(e.ctx[0], 64, driver.HostPortable)
			e.ok(err)
			b := unsafe.Slice((*byte)(hostAddress(p)), 64)
			if slices.ContainsFunc(b, func(x byte) bool { return x != 0 }) {
				e.Errorf("it holds % x", b)
			}
			for i := range b {
				b[i] = 0xFF
			}
			e.ok(e.d.HostFree(e.ctx[0], p))
		}
	}},
	{name: "a second free of pinned memory is an invalid value", run: func(e *env) {
		p, err := e.d.HostAlloc(e.ctx[0], 4096, 0)
		e.ok(err)
		e.ok(e.d.HostFree(e.ctx[0], p))
		e.code(e.d.HostFree(e.ctx[0], p), driver.ErrInvalidValue)
	}},
	{name: "a free waits for work that uses the device", run: func(e *env) {
		s := e.stream(0, driver.StreamBlocking)
		p, err := e.d.MemAlloc(e.ctx[0], 4096)
		e.ok(err)
		g := e.hold(0, s)
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 1, 1, 4096, s))
		defer record.Mean()() // CUDA does not promise that wait
		e.blocks("cuMemFree", g.release, func() error { return e.d.MemFree(e.ctx[0], p) })
	}},
}
