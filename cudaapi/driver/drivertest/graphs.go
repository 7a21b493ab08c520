package drivertest

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"gocuda/cudaapi/driver"
)

// graphs gives the driver's graphs, or skips the case.
func (e *env) graphs() driver.Graphs {
	e.Helper()
	g, ok := e.d.(driver.Graphs)
	if !ok {
		e.Skipf("the %s driver has no graphs", e.d.Name())
	}
	return g
}

// captured records what f queues on s.
func (e *env) captured(s driver.Stream, f func()) driver.Graph {
	e.Helper()
	drv := e.graphs()
	e.ok(drv.StreamBeginCapture(e.ctx[0], s))
	f()
	g, err := drv.StreamEndCapture(e.ctx[0], s)
	e.ok(err)
	e.Cleanup(func() { _ = drv.GraphDestroy(e.ctx[0], g) })
	return g
}

func (e *env) instantiated(g driver.Graph) driver.GraphExec {
	e.Helper()
	drv := e.graphs()
	x, err := drv.GraphInstantiate(e.ctx[0], g)
	e.ok(err)
	e.Cleanup(func() { _ = drv.GraphExecDestroy(e.ctx[0], x) })
	return x
}

var graphTests = []test{
	{name: "captured work does not run", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p := e.alloc(0, 64, 1)
		e.captured(s, func() { e.ok(e.d.MemsetAsync(e.ctx[0], p, 2, 1, 64, s)) })
		e.sync(0, s)
		e.all(0, p, 64, 1)
	}},
	{name: "a graph runs at each launch", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		f := e.kernel(0, `extern "C" __global__ void inc(int *p) { *p += 1; }`, "inc")
		p := e.alloc(0, 4, 0)
		x := e.instantiated(e.captured(s, func() {
			e.launch(0, f, s, 1, 1, args(p))
			e.launch(0, f, s, 1, 1, args(p))
		}))
		for range 5 {
			e.ok(e.graphs().GraphLaunch(e.ctx[0], x, s))
		}
		e.sync(0, s)
		e.all(0, p, 1, 10)
	}},
	{name: "a graph reads pageable memory when it runs", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p := e.alloc(0, 64, 0)
		host := make([]byte, 64)
		x := e.instantiated(e.captured(s, func() { e.ok(e.d.MemcpyAsync(e.ctx[0], p, address(host), 64, s)) }))
		for fill := byte(1); fill < 4; fill++ {
			copy(host, bytes.Repeat([]byte{fill}, 64))
			e.ok(e.graphs().GraphLaunch(e.ctx[0], x, s))
			e.sync(0, s)
			e.all(0, p, 64, fill)
		}
		runtime.KeepAlive(host)
	}},
	{name: "a graph keeps the order of its launch stream", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p := e.alloc(0, 64, 1)
		x := e.instantiated(e.captured(s, func() { e.ok(e.d.MemsetAsync(e.ctx[0], p, 2, 1, 64, s)) }))
		g := e.hold(0, s)
		e.ok(e.graphs().GraphLaunch(e.ctx[0], x, s))
		e.pending(0, s, "a graph behind a gate")
		e.before(0, p, 64, 1)
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 3, 1, 32, s))
		g.release()
		e.sync(0, s)
		e.all(0, p, 32, 3)
		e.all(0, p+32, 32, 2)
	}},
	{name: "a graph that was destroyed leaves what was made of it", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p := e.alloc(0, 64, 1)
		g := e.captured(s, func() { e.ok(e.d.MemsetAsync(e.ctx[0], p, 2, 1, 64, s)) })
		x := e.instantiated(g)
		e.ok(e.graphs().GraphDestroy(e.ctx[0], g))
		e.ok(e.graphs().GraphLaunch(e.ctx[0], x, s))
		e.sync(0, s)
		e.all(0, p, 64, 2)
	}},
	{name: "an event carries a capture to another stream and back", run: func(e *env) {
		a, b := e.stream(0, driver.StreamNonBlocking), e.stream(0, driver.StreamNonBlocking)
		fork, join := e.event(0, driver.EventDisableTiming), e.event(0, driver.EventDisableTiming)
		p, q := e.alloc(0, 64, 1), e.alloc(0, 64, 1)
		x := e.instantiated(e.captured(a, func() {
			e.ok(e.d.MemsetAsync(e.ctx[0], p, 2, 1, 64, a))
			e.ok(e.d.EventRecord(e.ctx[0], fork, a))
			e.ok(e.d.StreamWaitEvent(e.ctx[0], b, fork))
			on, err := e.graphs().StreamIsCapturing(e.ctx[0], b)
			e.ok(err)
			if !on {
				e.Error("the stream that waits is not captured")
			}
			e.ok(e.d.MemcpyAsync(e.ctx[0], q, p, 64, b))
			e.ok(e.d.EventRecord(e.ctx[0], join, b))
			e.ok(e.d.StreamWaitEvent(e.ctx[0], a, join))
		}))
		e.all(0, q, 64, 1)
		e.ok(e.graphs().GraphLaunch(e.ctx[0], x, a))
		e.sync(0, a)
		e.all(0, q, 64, 2)
	}},
	{name: "a stream that joined must be joined again", run: func(e *env) {
		drv := e.graphs()
		a, b := e.stream(0, driver.StreamNonBlocking), e.stream(0, driver.StreamNonBlocking)
		fork := e.event(0, driver.EventDisableTiming)
		p := e.alloc(0, 64, 1)
		e.ok(drv.StreamBeginCapture(e.ctx[0], a))
		e.ok(e.d.EventRecord(e.ctx[0], fork, a))
		e.ok(e.d.StreamWaitEvent(e.ctx[0], b, fork))
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 2, 1, 64, b))
		_, err := drv.StreamEndCapture(e.ctx[0], a)
		e.code(err, driver.ErrStreamCaptureUnjoined)
		e.sync(0, a) // and both streams work again
		e.sync(0, b)
	}},
	{name: "peer copies are captured", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p, q := e.alloc(0, 64, 3), e.alloc(0, 64, 0)
		x := e.instantiated(e.captured(s, func() { e.ok(e.d.MemcpyPeerAsync(q, e.ctx[0], p, e.ctx[0], 64, s)) }))
		e.all(0, q, 64, 0)
		e.ok(e.graphs().GraphLaunch(e.ctx[0], x, s))
		e.sync(0, s)
		e.all(0, q, 64, 3)
	}},
	{name: "an event that was recorded in a capture is not for the host", run: func(e *env) {
		s, v := e.stream(0, driver.StreamNonBlocking), e.event(0, 0)
		e.ok(e.d.EventRecord(e.ctx[0], v, s))
		e.sync(0, s)
		x := e.instantiated(e.captured(s, func() { e.ok(e.d.EventRecord(e.ctx[0], v, s)) }))
		for range 2 {
			_, err := e.d.EventQuery(e.ctx[0], v)
			e.code(err, driver.ErrInvalidValue)
			e.code(e.d.EventSynchronize(e.ctx[0], v, nil), driver.ErrInvalidValue)
			_, err = e.d.EventElapsed(e.ctx[0], v, v)
			e.code(err, driver.ErrInvalidValue)
			e.code(e.d.StreamWaitEvent(e.ctx[0], s, v), driver.ErrInvalidValue)
			e.ok(e.graphs().GraphLaunch(e.ctx[0], x, s))
			e.sync(0, s)
		}
		e.ok(e.d.EventRecord(e.ctx[0], v, s))
		e.ok(e.d.EventSynchronize(e.ctx[0], v, nil))
	}},
	{name: "a wait for a captured stream spoils the capture", run: func(e *env) {
		drv := e.graphs()
		s := e.stream(0, driver.StreamNonBlocking)
		e.ok(drv.StreamBeginCapture(e.ctx[0], s))
		e.code(e.d.StreamSynchronize(e.ctx[0], s, nil), driver.ErrStreamCaptureUnsupported)
		_, err := drv.StreamEndCapture(e.ctx[0], s)
		e.code(err, driver.ErrStreamCaptureInvalidated)
		e.sync(0, s)
	}},
	{name: "the legacy default stream waits for no captured stream", run: func(e *env) {
		drv := e.graphs()
		p, q := e.alloc(0, 64, 1), e.alloc(0, 64, 1)
		ev := e.event(0, driver.EventDisableTiming)
		for name, use := range map[string]func() error{
			"MemsetAsync":       func() error { return e.d.MemsetAsync(e.ctx[0], p, 2, 1, 64, driver.StreamDefault) },
			"Memset":            func() error { return e.d.Memset(e.ctx[0], p, 2, 1, 64) },
			"Memcpy":            func() error { return e.d.Memcpy(e.ctx[0], p, q, 64) },
			"MemcpyPeer":        func() error { return e.d.MemcpyPeer(p, e.ctx[0], q, e.ctx[0], 64) },
			"EventRecord":       func() error { return e.d.EventRecord(e.ctx[0], ev, driver.StreamDefault) },
			"StreamSynchronize": func() error { return e.d.StreamSynchronize(e.ctx[0], driver.StreamDefault, nil) },
			"StreamQuery":       func() error { _, err := e.d.StreamQuery(e.ctx[0], driver.StreamDefault); return err },
		} {
			s := e.stream(0, driver.StreamBlocking)
			e.ok(drv.StreamBeginCapture(e.ctx[0], s))
			if err := use(); !errors.Is(err, driver.ErrStreamCaptureImplicit) {
				e.Errorf("%s: %v", name, err)
			}
			_, err := drv.StreamEndCapture(e.ctx[0], s)
			if !errors.Is(err, driver.ErrStreamCaptureInvalidated) {
				e.Errorf("%s: the end of the capture: %v", name, err)
			}
			e.sync(0, s) // and both work again
			e.sync(0, driver.StreamDefault)
		}
	}},
	{name: "a captured non-blocking stream is nothing to the legacy default stream", run: func(e *env) {
		p, q := e.alloc(0, 64, 1), e.alloc(0, 64, 1)
		s := e.stream(0, driver.StreamNonBlocking)
		e.captured(s, func() {
			e.ok(e.d.MemsetAsync(e.ctx[0], p, 2, 1, 64, driver.StreamDefault))
			e.ok(e.d.Memcpy(e.ctx[0], q, p, 64))
			e.ok(e.d.MemcpyPeer(q, e.ctx[0], p, e.ctx[0], 64))
			e.ok(e.d.StreamSynchronize(e.ctx[0], driver.StreamDefault, nil))
		})
		e.all(0, q, 64, 2)
	}},
	{name: "the legacy default stream joins no capture", run: func(e *env) {
		drv := e.graphs()
		s, fork := e.stream(0, driver.StreamNonBlocking), e.event(0, driver.EventDisableTiming)
		e.ok(drv.StreamBeginCapture(e.ctx[0], s))
		e.ok(e.d.EventRecord(e.ctx[0], fork, s))
		e.code(e.d.StreamWaitEvent(e.ctx[0], driver.StreamDefault, fork), driver.ErrStreamCaptureImplicit, driver.ErrStreamCaptureUnsupported, driver.ErrStreamCaptureIsolation)
		_, _ = drv.StreamEndCapture(e.ctx[0], s)
		e.sync(0, driver.StreamDefault)
		e.sync(0, s)
	}},
	{name: "an end without a beginning is an illegal state", run: func(e *env) {
		_, err := e.graphs().StreamEndCapture(e.ctx[0], e.stream(0, driver.StreamNonBlocking))
		e.code(err, driver.ErrIllegalState)
	}},
	{name: "a stream is captured once at a time", run: func(e *env) {
		drv := e.graphs()
		s := e.stream(0, driver.StreamNonBlocking)
		e.ok(drv.StreamBeginCapture(e.ctx[0], s))
		e.code(drv.StreamBeginCapture(e.ctx[0], s), driver.ErrIllegalState)
		_, _ = drv.StreamEndCapture(e.ctx[0], s)
	}},
	{name: "the legacy default stream cannot be captured", run: func(e *env) {
		e.code(e.graphs().StreamBeginCapture(e.ctx[0], driver.StreamDefault), driver.ErrStreamCaptureUnsupported)
	}},
	{name: "a stream says whether it is captured", run: func(e *env) {
		drv := e.graphs()
		s := e.stream(0, driver.StreamNonBlocking)
		for _, want := range []bool{false, true, false} {
			on, err := drv.StreamIsCapturing(e.ctx[0], s)
			e.ok(err)
			if on != want {
				e.Errorf("capturing: %v, want %v", on, want)
			}
			if want {
				_, err = drv.StreamEndCapture(e.ctx[0], s)
			} else if !on {
				err = drv.StreamBeginCapture(e.ctx[0], s)
			}
			e.ok(err)
		}
		_, _ = drv.StreamEndCapture(e.ctx[0], s)
	}},
	{name: "a graph lists its nodes", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		f := e.kernel(0, fill, "fill")
		p, q := e.alloc(0, 64, 1), e.alloc(0, 64, 1)
		g := e.captured(s, func() {
			e.ok(e.d.MemsetAsync(e.ctx[0], p, 2, 1, 64, s))
			e.launch(0, f, s, 1, 1, args(p, uint32(1), uint32(1)))
			e.ok(e.d.MemcpyAsync(e.ctx[0], q, p, 64, s))
			e.ok(e.d.LaunchHostFunc(e.ctx[0], s, func() {}))
		})
		got, err := e.graphs().GraphNodes(e.ctx[0], g)
		e.ok(err)
		slices.Sort(got)
		if !slices.Equal(got, []driver.NodeType{driver.NodeKernel, driver.NodeMemcpy, driver.NodeMemset, driver.NodeHost}) {
			e.Errorf("%v", got)
		}
		dot, err := e.graphs().GraphDot(e.ctx[0], g)
		e.ok(err)
		if !strings.Contains(dot, "digraph") || strings.Count(dot, "->") < 3 {
			e.Errorf("the DOT text is %q", dot)
		}
	}},
	{name: "host functions of a graph run at each launch", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		var n atomic.Int32
		x := e.instantiated(e.captured(s, func() { e.ok(e.d.LaunchHostFunc(e.ctx[0], s, func() { n.Add(1) })) }))
		if n.Load() != 0 {
			e.Error("the function ran while it was captured")
		}
		for range 3 {
			e.ok(e.graphs().GraphLaunch(e.ctx[0], x, s))
		}
		e.sync(0, s)
		if n.Load() != 3 {
			e.Errorf("%d calls", n.Load())
		}
	}},
	{name: "a graph takes over another's arguments", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		f := e.kernel(0, fill, "fill")
		p := e.alloc(0, 64, 1)
		one := e.captured(s, func() { e.launch(0, f, s, 1, 16, args(p, uint32(0x02020202), uint32(16))) })
		two := e.captured(s, func() { e.launch(0, f, s, 1, 16, args(p, uint32(0x03030303), uint32(16))) })
		x := e.instantiated(one)
		e.ok(e.graphs().GraphExecUpdate(e.ctx[0], x, two))
		e.ok(e.graphs().GraphLaunch(e.ctx[0], x, s))
		e.sync(0, s)
		e.all(0, p, 64, 3)
	}},
	{name: "a graph of another shape is not taken over", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p := e.alloc(0, 64, 1)
		one := e.captured(s, func() { e.ok(e.d.MemsetAsync(e.ctx[0], p, 2, 1, 64, s)) })
		two := e.captured(s, func() {
			e.ok(e.d.MemsetAsync(e.ctx[0], p, 2, 1, 64, s))
			e.ok(e.d.MemsetAsync(e.ctx[0], p, 3, 1, 64, s))
		})
		e.code(e.graphs().GraphExecUpdate(e.ctx[0], e.instantiated(one), two), driver.ErrGraphExecUpdateFailure)
	}},
	{name: "arguments are taken at the capture", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		f := e.kernel(0, fill, "fill")
		p := e.alloc(0, 64, 1)
		a := args(p, uint32(0x02020202), uint32(16))
		x := e.instantiated(e.captured(s, func() {
			e.launch(0, f, s, 1, 16, a)
			clear(a.bytes)
		}))
		e.ok(e.graphs().GraphLaunch(e.ctx[0], x, s))
		e.sync(0, s)
		e.all(0, p, 64, 2)
	}},
}
