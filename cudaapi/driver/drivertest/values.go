package drivertest

import (
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/record"
)

// word is n bytes of device memory that streams wait on, 0 at first. When the
// case ends, before the memory is freed, each 32-bit word of it gets the value
// that ends the wait.
func (e *env) word(n uint64, value uint32) driver.Ptr {
	e.Helper()
	p := e.alloc(0, n, 0)
	s := e.stream(0, driver.StreamNonBlocking)
	e.Cleanup(func() {
		for at := uint64(0); at < n; at += 4 {
			_ = e.d.StreamWriteValue32(e.ctx[0], s, p+driver.Ptr(at), value)
		}
		_ = e.d.StreamSynchronize(e.ctx[0], s, nil)
	})
	return p
}

var valueTests = []test{
	{name: "a wait for a value comes before the write", run: func(e *env) {
		a, b := e.stream(0, driver.StreamNonBlocking), e.stream(0, driver.StreamNonBlocking)
		flag, p := e.word(8, 1), e.alloc(0, 64, 0)
		e.ok(e.d.StreamWaitValue32(e.ctx[0], a, flag, 1, driver.WaitValueEQ))
		e.ok(e.d.MemsetAsync(e.ctx[0], p, 1, 1, 64, a))
		e.pending(0, a, "waits for a value")
		e.ok(e.d.StreamWriteValue32(e.ctx[0], b, flag, 1))
		e.sync(0, a)
		e.all(0, p, 64, 1)
	}},
	{name: "a write of a value keeps the stream's order", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		flag := e.alloc(0, 8, 0)
		g := e.hold(0, s)
		e.ok(e.d.StreamWriteValue32(e.ctx[0], s, flag, 0x01010101))
		e.before(0, flag, 4, 0)
		g.release()
		e.sync(0, s)
		e.all(0, flag, 4, 1)
		e.all(0, flag+4, 4, 0)
	}},
	{name: "64-bit values", run: func(e *env) {
		a, b := e.stream(0, driver.StreamNonBlocking), e.stream(0, driver.StreamNonBlocking)
		flag := e.word(8, 1<<8) // the upper half of 1<<40
		e.ok(e.d.StreamWaitValue64(e.ctx[0], a, flag, 1<<40, driver.WaitValueGEQ))
		e.pending(0, a, "waits for a value")
		e.ok(e.d.StreamWriteValue64(e.ctx[0], b, flag, 1<<40))
		e.sync(0, a)
	}},
	{name: "conditions of a wait", run: func(e *env) {
		for _, c := range []struct {
			name      string
			flag      driver.WaitFlags
			want      uint32
			not, then uint32
		}{
			{"GEQ", driver.WaitValueGEQ, 5, 4, 6},
			{"GEQ is cyclic", driver.WaitValueGEQ, 0xfffffff0, 0xffffffef, 3},
			{"EQ", driver.WaitValueEQ, 5, 6, 5},
			{"AND", driver.WaitValueAND, 6, 1, 2},
		} {
			a, b := e.stream(0, driver.StreamNonBlocking), e.stream(0, driver.StreamNonBlocking)
			flag := e.word(4, c.then)
			e.ok(e.d.StreamWriteValue32(e.ctx[0], b, flag, c.not))
			e.sync(0, b)
			e.ok(e.d.StreamWaitValue32(e.ctx[0], a, flag, c.want, c.flag))
			e.pending(0, a, c.name)
			e.ok(e.d.StreamWriteValue32(e.ctx[0], b, flag, c.then))
			e.done(0, a, c.name)
		}
	}},
	{name: "a wait for another device's memory", devices: 2, run: func(e *env) {
		e.peer(0, 1)
		a, b := e.stream(0, driver.StreamNonBlocking), e.stream(1, driver.StreamNonBlocking)
		flag := e.alloc(1, 4, 0)
		e.ok(e.d.StreamWaitValue32(e.ctx[0], a, flag, 1, driver.WaitValueEQ))
		e.pending(0, a, "waits for a value on the peer")
		e.ok(e.d.StreamWriteValue32(e.ctx[1], b, flag, 1))
		e.done(0, a, "the peer wrote")
	}},
	{name: "values in pinned memory", run: func(e *env) {
		a, b := e.stream(0, driver.StreamNonBlocking), e.stream(0, driver.StreamNonBlocking)
		flag, bytes := e.pinned(8, 0)
		e.ok(e.d.StreamWaitValue32(e.ctx[0], a, flag, 1, driver.WaitValueEQ))
		e.pending(0, a, "waits for a value on the host")
		e.ok(e.d.StreamWriteValue32(e.ctx[0], b, flag, 1))
		e.done(0, a, "written")
		if bytes[0] != 1 {
			e.Errorf("the host reads %d", bytes[0])
		}
	}},
	{name: "an address that is not aligned is an invalid value", run: func(e *env) {
		s, flag := e.stream(0, driver.StreamNonBlocking), e.alloc(0, 16, 0)
		e.code(e.d.StreamWriteValue32(e.ctx[0], s, flag+2, 1), driver.ErrInvalidValue)
		e.code(e.d.StreamWaitValue64(e.ctx[0], s, flag+4, 1, driver.WaitValueEQ), driver.ErrInvalidValue)
	}},
	{name: "a batch waits and writes in its order", run: func(e *env) {
		a, b := e.stream(0, driver.StreamNonBlocking), e.stream(0, driver.StreamNonBlocking)
		flag := e.word(32, 3)
		e.ok(e.d.StreamBatchMemOp(e.ctx[0], a, []driver.MemOp{
			{Kind: driver.MemOpWriteValue32, Addr: flag, Value: 0x01010101},
			{Kind: driver.MemOpWaitValue32, Addr: flag + 8, Value: 3, Wait: driver.WaitValueGEQ},
			{Kind: driver.MemOpWriteValue64, Addr: flag + 16, Value: 0x0202020202020202},
		}))
		e.pending(0, a, "a batch with a wait in it")
		e.until("the write before the wait", func() bool {
			defer record.Mean()()
			return e.uint32At(0, flag) == 0x01010101
		})
		e.all(0, flag+16, 8, 0)
		e.ok(e.d.StreamWriteValue32(e.ctx[0], b, flag+8, 4))
		e.done(0, a, "the wait's value was written")
		e.all(0, flag+4, 4, 0)
		e.all(0, flag+16, 8, 2)
	}},
	{name: "a batch keeps its stream's order", run: func(e *env) {
		s := e.stream(0, driver.StreamNonBlocking)
		flag := e.alloc(0, 16, 0)
		g := e.hold(0, s)
		e.returns("cuStreamBatchMemOp", g.release, func() error {
			return e.d.StreamBatchMemOp(e.ctx[0], s, []driver.MemOp{
				{Kind: driver.MemOpWriteValue32, Addr: flag, Value: 0x05050505}, {Kind: driver.MemOpWriteValue32, Addr: flag + 4, Value: 0x06060606}})
		})
		e.before(0, flag, 8, 0)
		e.ok(e.d.MemsetAsync(e.ctx[0], flag+4, 7, 1, 4, s))
		g.release()
		e.sync(0, s)
		e.all(0, flag, 4, 5)
		e.all(0, flag+4, 4, 7)
	}},
	{name: "a batch waits for 64-bit values", run: func(e *env) {
		a, b := e.stream(0, driver.StreamNonBlocking), e.stream(0, driver.StreamNonBlocking)
		flag := e.word(8, 1<<8)
		e.ok(e.d.StreamBatchMemOp(e.ctx[0], a, []driver.MemOp{{Kind: driver.MemOpWaitValue64, Addr: flag, Value: 1 << 40, Wait: driver.WaitValueAND}}))
		e.ok(e.d.StreamWriteValue64(e.ctx[0], b, flag, 1<<41))
		e.pending(0, a, "another bit was written")
		e.ok(e.d.StreamWriteValue64(e.ctx[0], b, flag, 1<<40|1))
		e.done(0, a, "the bit was written")
	}},
	{name: "a batch with a bad address or too many operations is an invalid value", run: func(e *env) {
		s, flag := e.stream(0, driver.StreamNonBlocking), e.alloc(0, 16, 0)
		e.code(e.d.StreamBatchMemOp(e.ctx[0], s, []driver.MemOp{{Kind: driver.MemOpWriteValue32, Addr: flag + 2, Value: 1}}), driver.ErrInvalidValue)
		many := make([]driver.MemOp, 1000)
		for i := range many {
			many[i] = driver.MemOp{Kind: driver.MemOpWriteValue32, Addr: flag, Value: 1}
		}
		e.code(e.d.StreamBatchMemOp(e.ctx[0], s, many), driver.ErrInvalidValue)
	}},
}
