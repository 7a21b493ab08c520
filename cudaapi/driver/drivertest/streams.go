package drivertest

import (
	"errors"
	"sync/atomic"
	"time"

	"gocuda/cudaapi/driver"
)

var streamTests = []test{
	{name: "a fresh stream is done", run: func(e *env) {
		for _, f := range []driver.StreamFlags{driver.StreamBlocking, driver.StreamNonBlocking} {
			s := e.stream(0, f)
			done, err := e.d.StreamQuery(e.ctx[0], s)
			e.ok(err)
			if !done {
				e.Error("not done")
			}
			e.sync(0, s)
		}
	}},
	{name: "work behind a gate waits", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p := e.alloc(0, 64, 0)
		g := e.hold(0, s)
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 1, 1, 64, s))
		e.pending(0, s, "held")
		e.before(0, p, 64, 0)
		g.release()
		e.sync(0, s)
		e.all(0, p, 64, 1)
	}},
	{name: "a stream runs its work in order", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p := e.alloc(0, 1<<20, 0)
		for i := range 200 {
			e.ok(e.d.MemsetAsync(e.ctx[0], p, uint32(i), 1, 1<<20, s))
		}
		e.sync(0, s)
		e.all(0, p, 1<<20, 199)
	}},
	{name: "non-blocking streams do not wait for each other", run: func(e *env) {
		a, b := e.stream(0, driver.StreamNonBlocking), e.stream(0, driver.StreamNonBlocking)
		p := e.alloc(0, 64, 0)
		g := e.hold(0, a)
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 1, 1, 64, b))
		e.done(0, b, "beside a held stream")
		e.all(0, p, 64, 1)
		g.release()
	}},
	{name: "blocking streams do not wait for each other", run: func(e *env) {
		a, b := e.stream(0, driver.StreamBlocking), e.stream(0, driver.StreamBlocking)
		p := e.alloc(0, 64, 0)
		g := e.hold(0, a)
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 1, 1, 64, b))
		e.done(0, b, "beside a held stream")
		g.release()
	}},
	{name: "streams of two devices do not wait for each other", devices: 2, run: func(e *env) {
		a, b := e.stream(0, driver.StreamBlocking), e.stream(1, driver.StreamBlocking)
		p := e.alloc(1, 64, 0)
		g := e.hold(0, a)
		e.ok(e.d.MemsetAsync(e.ctx[1], p, 1, 1, 64, b))
		e.done(1, b, "beside another device's held stream")
		e.ok(e.d.MemsetAsync(e.ctx[1], p, 2, 1, 64, driver.StreamDefault))
		e.done(1, driver.StreamDefault, "the other device's default stream")
		g.release()
	}},
	{name: "the default stream waits for blocking streams", run: func(e *env) {
		for _, null := range []driver.Stream{driver.StreamDefault, driver.StreamLegacy} {
			s := e.stream(0, driver.StreamBlocking)
			p := e.alloc(0, 64, 0)
			g := e.hold(0, s)
			e.ok(e.d.MemsetAsync(e.ctx[0], p, 1, 1, 64, null))
			e.pending(0, null, "default stream beside a held blocking stream")
			e.before(0, p, 64, 0)
			g.release()
			e.sync(0, null)
			e.all(0, p, 64, 1)
		}
	}},
	{name: "blocking streams wait for the default stream", run: func(e *env) {
		s := e.stream(0, driver.StreamBlocking)
		p := e.alloc(0, 64, 0)
		g := e.hold(0, driver.StreamDefault)
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 1, 1, 64, s))
		e.pending(0, s, "blocking stream behind the held default stream")
		g.release()
		e.sync(0, s)
		e.all(0, p, 64, 1)
	}},
	{name: "the default stream joins two blocking streams", run: func(e *env) {
		a, b := e.stream(0, driver.StreamBlocking), e.stream(0, driver.StreamBlocking)
		p := e.alloc(0, 64, 0)
		q := e.alloc(0, 64, 0)
		g := e.hold(0, a)
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 1, 1, 64, driver.StreamDefault))
		e.ok(e.d.MemsetAsync(e.ctx[0], q, 2, 1, 64, b))
		e.pending(0, b, "behind the default stream, behind a held stream")
		e.before(0, q, 64, 0)
		g.release()
		e.sync(0, b)
		e.all(0, q, 64, 2)
	}},
	{name: "non-blocking streams and the default stream do not wait for each other", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p := e.alloc(0, 64, 0)
		g := e.hold(0, s)
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 1, 1, 64, driver.StreamDefault))
		e.done(0, driver.StreamDefault, "default stream beside a held non-blocking stream")
		g.release()
		e.sync(0, s)
		g = e.hold(0, driver.StreamDefault)
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 2, 1, 64, s))
		e.done(0, s, "non-blocking stream beside the held default stream")
		g.release()
	}},
	{name: "a stream that was destroyed still does its work", run: func(e *env) {
		s, err := e.d.StreamCreate(e.ctx[0], driver.StreamNonBlocking, 0)
		e.ok(err)
		p := e.alloc(0, 64, 0)
		g := e.hold(0, s)
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 1, 1, 64, s))
		e.returns("cuStreamDestroy", g.release, func() error { return e.d.StreamDestroy(e.ctx[0], s) })
		g.release()
		e.ok(e.d.CtxSynchronize(e.ctx[0], nil))
		e.all(0, p, 64, 1)
	}},
	{name: "a stream tells how it was made", run: func(e *env) {
		for _, want := range []driver.StreamFlags{driver.StreamBlocking, driver.StreamNonBlocking} {
			if f, err := e.d.StreamGetFlags(e.ctx[0], e.stream(0, want)); err != nil || f != want {
				e.Errorf("flags of a stream made with %d: %d, %v", want, f, err)
			}
		}
	}},
	{name: "priorities beyond the range are clamped", run: func(e *env) {
		s, err := e.d.StreamCreate(e.ctx[0], driver.StreamNonBlocking, -1000)
		e.ok(err)
		e.ok(e.d.StreamDestroy(e.ctx[0], s))
	}},
	{name: "unknown stream flags are an invalid value", run: func(e *env) {
		_, err := e.d.StreamCreate(e.ctx[0], 0x800, 0)
		e.code(err, driver.ErrInvalidValue)
	}},
	{name: "a wait for a stream can be interrupted", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		p := e.alloc(0, 64, 0)
		g := e.hold(0, s)
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 1, 1, 64, s))
		stop := make(chan struct{})
		out := make(chan error, 1)
		go func() { out <- e.d.StreamSynchronize(e.ctx[0], s, stop) }()
		time.Sleep(patience)
		close(stop)
		if err := <-out; !errors.Is(err, driver.ErrInterrupted) {
			e.Errorf("got %v", err)
		}
		g.release() // and the work goes on
		e.ok(e.d.StreamSynchronize(e.ctx[0], s, make(chan struct{})))
		e.all(0, p, 64, 1)
	}},
	{name: "a wait for a context can be interrupted", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		g := e.hold(0, s)
		stop := make(chan struct{})
		time.AfterFunc(patience, func() { close(stop) })
		if err := e.d.CtxSynchronize(e.ctx[0], stop); !errors.Is(err, driver.ErrInterrupted) {
			e.Errorf("got %v", err)
		}
		g.release()
		e.ok(e.d.CtxSynchronize(e.ctx[0], make(chan struct{})))
	}},
	{name: "host functions run in order with the stream's work", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		out, outBytes := e.pinned(4, 0)
		p := e.alloc(0, 4, 0)
		var seen [3]byte
		for i := range seen {
			e.ok(e.d.MemsetAsync(e.ctx[0], p, uint32(i+1), 1, 4, s))
			e.ok(e.d.MemcpyAsync(e.ctx[0], out, p, 4, s))
			e.ok(e.d.LaunchHostFunc(e.ctx[0], s, func() { seen[i] = outBytes[0] }))
		}
		e.sync(0, s)
		if seen != [3]byte{1, 2, 3} {
			e.Errorf("the functions saw %v", seen)
		}
	}},
	{name: "each host function runs once", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		var n atomic.Int32
		for range 100 {
			e.ok(e.d.LaunchHostFunc(e.ctx[0], s, func() { n.Add(1) }))
		}
		e.sync(0, s)
		if n.Load() != 100 {
			e.Errorf("%d calls", n.Load())
		}
	}},
	{name: "a stream is not done while its host function runs", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		g := e.hold(0, s)
		<-g.reached
		e.pending(0, s, "in a host function")
		e.blocks("cuStreamSynchronize", g.release, func() error { return e.d.StreamSynchronize(e.ctx[0], s, nil) })
	}},
}

var eventTests = []test{
	{name: "an event that was never recorded is done", run: func(e *env) {
		ev := e.event(0, 0)
		done, err := e.d.EventQuery(e.ctx[0], ev)
		e.ok(err)
		if !done {
			e.Error("not done")
		}
		e.ok(e.d.EventSynchronize(e.ctx[0], ev, nil))
		s := e.stream(0, driver.StreamNonBlocking)
		e.ok(e.d.StreamWaitEvent(e.ctx[0], s, ev))
		e.done(0, s, "after a wait for it")
	}},
	{name: "an event is done when the work before it is", run: func(e *env) {
		s, ev := e.stream(0, driver.StreamNonBlocking), e.event(0, driver.EventDisableTiming)
		g := e.hold(0, s)
		e.ok(e.d.EventRecord(e.ctx[0], ev, s))
		done, err := e.d.EventQuery(e.ctx[0], ev)
		e.ok(err)
		if done {
			e.Error("done behind a gate")
		}
		e.blocks("cuEventSynchronize", g.release, func() error { return e.d.EventSynchronize(e.ctx[0], ev, nil) })
		if done, err := e.d.EventQuery(e.ctx[0], ev); err != nil || !done {
			e.Errorf("afterwards: %v, %v", done, err)
		}
	}},
	{name: "an event does not wait for later work", run: func(e *env) {
		s, ev := e.stream(0, driver.StreamNonBlocking), e.event(0, driver.EventDisableTiming)
		e.ok(e.d.EventRecord(e.ctx[0], ev, s))
		g := e.hold(0, s)
		e.returns("cuEventSynchronize", g.release, func() error { return e.d.EventSynchronize(e.ctx[0], ev, nil) })
	}},
	{name: "a stream waits for another's event", run: func(e *env) {
		a, b, ev := e.stream(0, driver.StreamNonBlocking), e.stream(0, driver.StreamNonBlocking), e.event(0, driver.EventDisableTiming)
		p := e.alloc(0, 64, 0)
		g := e.hold(0, a)
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 1, 1, 64, a))
		e.ok(e.d.EventRecord(e.ctx[0], ev, a))
		e.ok(e.d.StreamWaitEvent(e.ctx[0], b, ev))
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 2, 1, 32, b))
		e.pending(0, b, "waits for a held stream's event")
		g.release()
		e.sync(0, b)
		got := e.read(0, p, 64)
		if got[0] != 2 || got[63] != 1 {
			e.Errorf("%d, %d", got[0], got[63])
		}
	}},
	{name: "a stream waits for another device's event", devices: 2, run: func(e *env) {
		a, b, ev := e.stream(0, driver.StreamNonBlocking), e.stream(1, driver.StreamNonBlocking), e.event(0, driver.EventDisableTiming)
		p := e.alloc(1, 64, 0)
		g := e.hold(0, a)
		e.ok(e.d.EventRecord(e.ctx[0], ev, a))
		e.ok(e.d.StreamWaitEvent(e.ctx[1], b, ev))
		e.ok(e.d.MemsetAsync(e.ctx[1], p, 1, 1, 64, b))
		e.pending(1, b, "waits for another device's held stream")
		g.release()
		e.sync(1, b)
	}},
	{name: "a stream waits for another device's interprocess event", devices: 2, run: func(e *env) {
		a, b := e.stream(0, driver.StreamNonBlocking), e.stream(1, driver.StreamNonBlocking)
		ev := e.event(0, driver.EventInterprocess|driver.EventDisableTiming)
		e.ok(e.d.StreamWaitEvent(e.ctx[1], b, ev)) // which was never recorded
		e.sync(1, b)
		g := e.hold(0, a)
		e.ok(e.d.EventRecord(e.ctx[0], ev, a))
		e.ok(e.d.StreamWaitEvent(e.ctx[1], b, ev))
		e.pending(1, b, "waits for another device's held stream")
		g.release()
		e.sync(1, b)
	}},
	{name: "a wait means the record before it, not a later one", run: func(e *env) {
		a, b, ev := e.stream(0, driver.StreamNonBlocking), e.stream(0, driver.StreamNonBlocking), e.event(0, driver.EventDisableTiming)
		e.ok(e.d.EventRecord(e.ctx[0], ev, a))
		e.ok(e.d.StreamWaitEvent(e.ctx[0], b, ev))
		g := e.hold(0, a)
		e.ok(e.d.EventRecord(e.ctx[0], ev, a))
		e.done(0, b, "waits for the first record")
		if done, err := e.d.EventQuery(e.ctx[0], ev); err != nil || done {
			e.Errorf("the event speaks of its last record: %v, %v", done, err)
		}
		g.release()
	}},
	{name: "a wait for an event that is recorded later does not wait", run: func(e *env) {
		a, b, ev := e.stream(0, driver.StreamNonBlocking), e.stream(0, driver.StreamNonBlocking), e.event(0, driver.EventDisableTiming)
		g := e.hold(0, a)
		e.ok(e.d.StreamWaitEvent(e.ctx[0], b, ev))
		e.ok(e.d.EventRecord(e.ctx[0], ev, a))
		e.done(0, b, "waited before the record")
		g.release()
	}},
	{name: "a wait on the default stream holds blocking streams", run: func(e *env) {
		a, b, ev := e.stream(0, driver.StreamNonBlocking), e.stream(0, driver.StreamBlocking), e.event(0, driver.EventDisableTiming)
		p := e.alloc(0, 64, 0)
		g := e.hold(0, a)
		e.ok(e.d.EventRecord(e.ctx[0], ev, a))
		e.ok(e.d.StreamWaitEvent(e.ctx[0], driver.StreamDefault, ev))
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 1, 1, 64, b))
		e.pending(0, b, "blocking stream behind the default stream's wait")
		g.release()
		e.sync(0, b)
	}},
	{name: "an event on the default stream covers blocking streams", run: func(e *env) {
		s, ev := e.stream(0, driver.StreamBlocking), e.event(0, driver.EventDisableTiming)
		g := e.hold(0, s)
		e.ok(e.d.EventRecord(e.ctx[0], ev, driver.StreamDefault))
		if done, err := e.d.EventQuery(e.ctx[0], ev); err != nil || done {
			e.Errorf("%v, %v", done, err)
		}
		g.release()
		e.ok(e.d.EventSynchronize(e.ctx[0], ev, nil))
	}},
	{name: "a destroyed event still holds its waiters", run: func(e *env) {
		a, b := e.stream(0, driver.StreamNonBlocking), e.stream(0, driver.StreamNonBlocking)
		ev, err := e.d.EventCreate(e.ctx[0], driver.EventDisableTiming)
		e.ok(err)
		g := e.hold(0, a)
		e.ok(e.d.EventRecord(e.ctx[0], ev, a))
		e.ok(e.d.StreamWaitEvent(e.ctx[0], b, ev))
		e.ok(e.d.EventDestroy(e.ctx[0], ev))
		e.pending(0, b, "waits for a destroyed event")
		g.release()
		e.sync(0, b)
	}},
	{name: "a wait for an event can be interrupted", run: func(e *env) {
		s, ev := e.stream(0, driver.StreamNonBlocking), e.event(0, driver.EventDisableTiming)
		g := e.hold(0, s)
		e.ok(e.d.EventRecord(e.ctx[0], ev, s))
		stop := make(chan struct{})
		time.AfterFunc(patience, func() { close(stop) })
		if err := e.d.EventSynchronize(e.ctx[0], ev, stop); !errors.Is(err, driver.ErrInterrupted) {
			e.Errorf("got %v", err)
		}
		g.release()
		e.ok(e.d.EventSynchronize(e.ctx[0], ev, make(chan struct{})))
	}},
	{name: "an event is recorded on streams of its own device only", devices: 2, run: func(e *env) {
		s, ev := e.stream(1, driver.StreamNonBlocking), e.event(0, 0)
		e.code(e.d.EventRecord(e.ctx[0], ev, s), driver.ErrInvalidHandle)
	}},
	{name: "time between events grows with the work", run: func(e *env) {
		s, a, b, c := e.stream(0, driver.StreamNonBlocking), e.event(0, 0), e.event(0, 0), e.event(0, 0)
		p, q := e.alloc(0, 64<<20, 0), e.alloc(0, 64<<20, 0)
		e.ok(e.d.MemcpyAsync(e.ctx[0], p, q, 64<<20, s))
		e.ok(e.d.EventRecord(e.ctx[0], a, s))
		e.ok(e.d.MemcpyAsync(e.ctx[0], p, q, 64<<20, s))
		e.ok(e.d.EventRecord(e.ctx[0], b, s))
		for range 10 {
			e.ok(e.d.MemcpyAsync(e.ctx[0], p, q, 64<<20, s))
		}
		e.ok(e.d.EventRecord(e.ctx[0], c, s))
		e.sync(0, s)
		one, err := e.d.EventElapsed(e.ctx[0], a, b)
		e.ok(err)
		ten, err := e.d.EventElapsed(e.ctx[0], b, c)
		e.ok(err)
		if one <= 0 || ten < 2*one {
			e.Errorf("one copy %v, ten %v", one, ten)
		}
		back, err := e.d.EventElapsed(e.ctx[0], b, a)
		e.ok(err)
		if back >= 0 {
			e.Errorf("backwards %v", back)
		}
	}},
	{name: "time to an event that is pending is not ready", run: func(e *env) {
		s, a, b := e.stream(0, driver.StreamNonBlocking), e.event(0, 0), e.event(0, 0)
		e.ok(e.d.EventRecord(e.ctx[0], a, s))
		g := e.hold(0, s)
		e.ok(e.d.EventRecord(e.ctx[0], b, s))
		_, err := e.d.EventElapsed(e.ctx[0], a, b)
		e.code(err, driver.ErrNotReady)
		g.release()
	}},
	{name: "time to an event that was never recorded is an invalid handle", run: func(e *env) {
		s, a, b := e.stream(0, driver.StreamNonBlocking), e.event(0, 0), e.event(0, 0)
		e.ok(e.d.EventRecord(e.ctx[0], a, s))
		e.sync(0, s)
		_, err := e.d.EventElapsed(e.ctx[0], a, b)
		e.code(err, driver.ErrInvalidHandle)
	}},
	{name: "time without timing is an invalid handle", run: func(e *env) {
		s, a, b := e.stream(0, driver.StreamNonBlocking), e.event(0, 0), e.event(0, driver.EventDisableTiming)
		e.ok(e.d.EventRecord(e.ctx[0], a, s))
		e.ok(e.d.EventRecord(e.ctx[0], b, s))
		e.sync(0, s)
		_, err := e.d.EventElapsed(e.ctx[0], a, b)
		e.code(err, driver.ErrInvalidHandle)
	}},
	{name: "an interprocess event with timing is an invalid value", run: func(e *env) {
		_, err := e.d.EventCreate(e.ctx[0], driver.EventInterprocess)
		e.code(err, driver.ErrInvalidValue)
	}},
	{name: "unknown event flags are an invalid value", run: func(e *env) {
		_, err := e.d.EventCreate(e.ctx[0], 0x800)
		e.code(err, driver.ErrInvalidValue)
	}},
}
