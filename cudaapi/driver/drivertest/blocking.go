package drivertest

import (
	"runtime"

	"gocuda/cudaapi/driver"
)

// blockingTests say what the host waits for: the table of the API's
// synchronization behaviour, for each kind of copy.
var blockingTests = []test{
	{name: "a copy to pinned memory on a stream returns at once", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p := e.alloc(0, 1<<20, 1)
		out, outBytes := e.pinned(1<<20, 0)
		g := e.hold(0, s)
		e.returns("cuMemcpyAsync", g.release, func() error { return e.d.MemcpyAsync(e.ctx[0], out, p, 1<<20, s) })
		if outBytes[0] != 0 {
			e.Error("the copy passed the gate")
		}
		g.release()
		e.sync(0, s)
		if outBytes[1<<20-1] != 1 {
			e.Error("the copy did not happen")
		}
	}},
	{name: "a copy from pinned memory on a stream returns at once, and reads late", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p := e.alloc(0, 1<<20, 0)
		in, inBytes := e.pinned(1<<20, 1)
		g := e.hold(0, s)
		e.returns("cuMemcpyAsync", g.release, func() error { return e.d.MemcpyAsync(e.ctx[0], p, in, 1<<20, s) })
		inBytes[1<<20-1] = 7
		g.release()
		e.sync(0, s)
		if got := e.read(0, p, 1<<20); got[0] != 1 || got[1<<20-1] != 7 {
			e.Errorf("%d, %d: the source was read before the gate opened", got[0], got[1<<20-1])
		}
	}},
	{name: "a copy to pageable memory on a stream waits until it is done", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p := e.alloc(0, 1<<20, 1)
		out := make([]byte, 1<<20)
		g := e.hold(0, s)
		e.blocks("cuMemcpyAsync", g.release, func() error { return e.d.MemcpyAsync(e.ctx[0], address(out), p, 1<<20, s) })
		if out[1<<20-1] != 1 {
			e.Error("the copy was not done")
		}
	}},
	{name: "a large copy from pageable memory on a stream waits for its turn", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p := e.alloc(0, 8<<20, 0)
		in := make([]byte, 8<<20)
		g := e.hold(0, s)
		e.blocks("cuMemcpyAsync", g.release, func() error { return e.d.MemcpyAsync(e.ctx[0], p, address(in), 8<<20, s) })
		runtime.KeepAlive(in)
	}},
	{name: "a small copy from pageable memory on a stream is taken at once", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p := e.alloc(0, 4096, 0)
		in := make([]byte, 4096)
		in[0] = 1
		g := e.hold(0, s)
		e.returns("cuMemcpyAsync", g.release, func() error { return e.d.MemcpyAsync(e.ctx[0], p, address(in), 4096, s) })
		in[0] = 2 // CUDA has its own copy
		g.release()
		e.sync(0, s)
		if got := e.read(0, p, 1)[0]; got != 1 {
			e.Errorf("%d: the source was read after the call returned", got)
		}
		runtime.KeepAlive(in)
	}},
	{name: "a synchronous copy waits for the default stream's work", run: func(e *env) {
		p := e.alloc(0, 4096, 1)
		for _, pageable := range []bool{true, false} {
			out, outBytes := e.pinned(4096, 0)
			if pageable {
				outBytes = make([]byte, 4096)
				out = address(outBytes)
			}
			g := e.hold(0, driver.StreamDefault)
			e.blocks("cuMemcpy", g.release, func() error { return e.d.Memcpy(e.ctx[0], out, p, 4096) })
			if outBytes[4095] != 1 {
				e.Error("the copy was not done")
			}
		}
	}},
	{name: "a synchronous copy waits for blocking streams", run: func(e *env) {
		s := e.stream(0, driver.StreamBlocking)
		p := e.alloc(0, 4096, 1)
		out, outBytes := e.pinned(4096, 0)
		g := e.hold(0, s)
		e.blocks("cuMemcpy", g.release, func() error { return e.d.Memcpy(e.ctx[0], out, p, 4096) })
		if outBytes[0] != 1 {
			e.Error("the copy was not done")
		}
	}},
	{name: "a synchronous copy does not wait for non-blocking streams", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p := e.alloc(0, 4096, 1)
		out, outBytes := e.pinned(4096, 0)
		g := e.hold(0, s)
		e.returns("cuMemcpy", g.release, func() error { return e.d.Memcpy(e.ctx[0], out, p, 4096) })
		if outBytes[0] != 1 {
			e.Error("the copy was not done")
		}
		g.release()
	}},
	{name: "a synchronous copy on the device does not wait for it", run: func(e *env) {
		p, q := e.alloc(0, 4096, 1), e.alloc(0, 4096, 0)
		g := e.hold(0, driver.StreamDefault)
		e.returns("cuMemcpy", g.release, func() error { return e.d.Memcpy(e.ctx[0], q, p, 4096) })
		e.before(0, q, 4096, 0)
		g.release()
		e.sync(0, driver.StreamDefault)
		e.all(0, q, 4096, 1)
	}},
	{name: "a memset of device memory does not wait", run: func(e *env) {
		p := e.alloc(0, 4096, 0)
		g := e.hold(0, driver.StreamDefault)
		e.returns("cuMemsetD8", g.release, func() error { return e.d.Memset(e.ctx[0], p, 1, 1, 4096) })
		g.release()
		e.sync(0, driver.StreamDefault)
		e.all(0, p, 4096, 1)
	}},
	{name: "a copy on the device on a stream returns at once", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p, q := e.alloc(0, 1<<20, 1), e.alloc(0, 1<<20, 0)
		g := e.hold(0, s)
		e.returns("cuMemcpyAsync", g.release, func() error { return e.d.MemcpyAsync(e.ctx[0], q, p, 1<<20, s) })
		e.before(0, q, 1<<20, 0)
		g.release()
		e.sync(0, s)
		e.all(0, q, 1<<20, 1)
	}},
	{name: "a peer copy on a stream returns at once", devices: 2, run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p, q := e.alloc(0, 1<<20, 1), e.alloc(1, 1<<20, 0)
		g := e.hold(0, s)
		e.returns("cuMemcpyPeerAsync", g.release, func() error {
			return e.d.MemcpyPeerAsync(q, e.ctx[1], p, e.ctx[0], 1<<20, s)
		})
		e.before(1, q, 1<<20, 0)
		g.release()
		e.sync(0, s)
		e.all(1, q, 1<<20, 1)
	}},
	{name: "a host to host copy on a stream waits for its turn", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		in, out := noise(4096), make([]byte, 4096)
		g := e.hold(0, s)
		e.blocks("cuMemcpyAsync", g.release, func() error { return e.d.MemcpyAsync(e.ctx[0], address(out), address(in), 4096, s) })
		runtime.KeepAlive(in)
		if out[4095] != in[4095] {
			e.Error("the copy was not done")
		}
	}},
	{name: "a context waits for all of its streams", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		g := e.hold(0, s)
		e.blocks("cuCtxSynchronize", g.release, func() error { return e.d.CtxSynchronize(e.ctx[0], nil) })
	}},
	{name: "a context does not wait for another", devices: 2, run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		g := e.hold(0, s)
		e.returns("cuCtxSynchronize", g.release, func() error { return e.d.CtxSynchronize(e.ctx[1], nil) })
		g.release()
	}},
	{name: "an allocation does not wait for streams", run: func(e *env) {
		s := e.stream(0, driver.StreamBlocking)
		g := e.hold(0, s)
		e.returns("cuMemAlloc", g.release, func() error {
			p, err := e.d.MemAlloc(e.ctx[0], 1<<20)
			if err == nil {
				e.Cleanup(func() { _ = e.d.MemFree(e.ctx[0], p) })
			}
			return err
		})
		g.release()
	}},
}
