package drivertest

import "gocuda/cudaapi/driver"

// stickyTests poison a context, so each runs in a process of its own.
var stickyTests = []test{
	{name: "an illegal address poisons the context", alone: true, run: func(e *env) {
		f := e.kernel(0, fill, "fill")
		p, s := e.alloc(0, 64, 0), e.stream(0, driver.StreamNonBlocking)
		e.launch(0, f, s, 1, 1, args(driver.Ptr(0x10), uint32(1), uint32(1)))
		e.code(e.d.StreamSynchronize(e.ctx[0], s, nil), driver.ErrIllegalAddress)
		e.code(e.d.CtxSynchronize(e.ctx[0], nil), driver.ErrIllegalAddress)
		_, err := e.d.MemAlloc(e.ctx[0], 64)
		e.code(err, driver.ErrIllegalAddress)
		e.code(e.d.Memset(e.ctx[0], p, 1, 1, 64), driver.ErrIllegalAddress)
	}},
	// The documentation speaks of the context; seen on two H200s with driver 580.
	{name: "a poisoned context takes the process's other devices with it", alone: true, devices: 2, run: func(e *env) {
		f := e.kernel(0, fill, "fill")
		e.launch(0, f, driver.StreamDefault, 1, 1, args(driver.Ptr(0x10), uint32(1), uint32(1)))
		e.code(e.d.CtxSynchronize(e.ctx[0], nil), driver.ErrIllegalAddress)
		_, err := e.d.MemAlloc(e.ctx[1], 64)
		e.code(err, driver.ErrIllegalAddress)
	}},
	{name: "a write to a peer without access is an illegal address", alone: true, devices: 2, run: func(e *env) {
		f := e.kernel(0, fill, "fill")
		p, s := e.alloc(1, 4096, 0), e.stream(0, driver.StreamNonBlocking)
		e.launch(0, f, s, 1, 1, args(p, uint32(1), uint32(1)))
		e.code(e.d.StreamSynchronize(e.ctx[0], s, nil), driver.ErrIllegalAddress)
	}},
	{name: "a failed assertion poisons the context", alone: true, run: func(e *env) {
		f := e.kernel(0, "#include <assert.h>\nextern \"C\" __global__ void k(int n) { assert(n > 1); }", "k")
		e.launch(0, f, driver.StreamDefault, 1, 1, args(uint32(1)))
		e.code(e.d.CtxSynchronize(e.ctx[0], nil), driver.ErrAssert)
	}},
	{name: "a trap poisons the context", alone: true, run: func(e *env) {
		f := e.kernel(0, "extern \"C\" __global__ void k() { __trap(); }", "k")
		e.launch(0, f, driver.StreamDefault, 1, 1, packed{})
		e.code(e.d.CtxSynchronize(e.ctx[0], nil), driver.ErrIllegalInstruction, driver.ErrLaunchFailed)
	}},
	{name: "a misaligned address poisons the context", alone: true, run: func(e *env) {
		f := e.kernel(0, fill, "fill")
		p := e.alloc(0, 64, 0)
		e.launch(0, f, driver.StreamDefault, 1, 1, args(p+1, uint32(1), uint32(1)))
		e.code(e.d.CtxSynchronize(e.ctx[0], nil), driver.ErrMisalignedAddress)
	}},
}
