package hazardtest

import (
	"gocuda/cudaapi/cuda"
)

var programs = []program{
	// Streams and events.
	{name: "a stream waits for another's kernel", run: func(e *env) {
		e.first(e.fill(e.a, e.x))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.second(e.read(e.b, e.x))
	}},
	{name: "the event is recorded", run: func(e *env) {
		e.first(e.fill(e.a, e.x))
		e.needed(func() error { return e.e.Record(e.a) })
		e.check(e.b.WaitEvent(e.e))
		e.second(e.read(e.b, e.x))
	}},
	{name: "the event is recorded before it is waited for", run: func(e *env) {
		e.first(e.fill(e.a, e.x))
		e.needed(func() error { return e.e.Record(e.a) })
		e.check(e.b.WaitEvent(e.e))
		e.check(e.e.Record(e.a))
		e.second(e.read(e.b, e.x))
	}},
	{name: "the event is recorded again behind the kernel", run: func(e *env) {
		e.check(e.e.Record(e.a))
		e.first(e.fill(e.a, e.x))
		e.needed(func() error { return e.e.Record(e.a) })
		e.check(e.b.WaitEvent(e.e))
		e.second(e.read(e.b, e.x))
	}},
	{name: "an event recorded twice stands for the second time", run: func(e *env) {
		e.first(e.fill(e.a, e.x))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.c.WaitEvent(e.e) })
		e.check(e.e.Record(e.c))
		e.check(e.b.WaitEvent(e.e))
		e.second(e.read(e.b, e.x))
	}},
	{name: "a write waits for a read", run: func(e *env) {
		e.first(e.read(e.a, e.x))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.second(e.fill(e.b, e.x))
	}},
	{name: "a write waits for a write", run: func(e *env) {
		e.first(e.fill(e.a, e.x))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.second(e.fill(e.b, e.x))
	}},
	{name: "two reads", right: true, run: func(e *env) {
		e.check(e.read(e.a, e.x))
		e.check(e.read(e.b, e.x))
	}},
	{name: "a chain of three streams", run: func(e *env) {
		e.first(e.fill(e.a, e.x))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.check(e.fill(e.b, e.y))
		e.check(e.f.Record(e.b))
		e.check(e.c.WaitEvent(e.f))
		e.second(e.read(e.c, e.x))
	}},
	{name: "the other stream's later work is waited for", run: func(e *env) {
		e.check(e.fill(e.a, e.y))
		e.check(e.e.Record(e.a))
		e.check(e.b.WaitEvent(e.e))
		e.first(e.fill(e.a, e.x))
		e.needed(func() error { return e.f.Record(e.a) })
		e.check(e.b.WaitEvent(e.f))
		e.second(e.read(e.b, e.x))
	}},
	{name: "a buffer is used again in the next round", run: func(e *env) {
		for i := range 2 {
			if i == 1 && e.whole() {
				e.check(e.a.WaitEvent(e.f))
			}
			if i == 0 {
				e.check(e.fill(e.a, e.x))
			} else {
				e.second(e.fill(e.a, e.x))
			}
			e.check(e.e.Record(e.a))
			e.check(e.b.WaitEvent(e.e))
			if i == 0 {
				e.first(e.copy(e.b, e.y, e.x))
			} else {
				e.check(e.copy(e.b, e.y, e.x))
			}
			e.check(e.f.Record(e.b))
		}
	}},
	{name: "one stream", right: true, run: func(e *env) {
		e.check(e.fill(e.a, e.x))
		e.check(e.copy(e.a, e.y, e.x))
		e.check(e.fill(e.a, e.x))
	}},
	{name: "a stream of another priority", run: func(e *env) {
		s, err := e.d0.NewStreamWithPriority(-5, cuda.NonBlocking)
		e.check(err)
		e.first(e.fill(s, e.x))
		e.check(e.e.Record(s))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.second(e.read(e.b, e.x))
	}},
	{name: "two kernels at a time and one behind both", run: func(e *env) {
		e.check(e.fill(e.a, e.x))
		e.first(e.fill(e.b, e.y))
		e.check(e.e.Record(e.a))
		e.check(e.f.Record(e.b))
		e.check(e.c.WaitEvent(e.e))
		e.needed(func() error { return e.c.WaitEvent(e.f) })
		e.check(e.read(e.c, e.x))
		e.second(e.read(e.c, e.y))
	}},

	// The host's waits.
	{name: "the host waits for a stream", run: func(e *env) {
		e.first(e.fill(e.a, e.x))
		e.needed(e.a.Synchronize)
		e.second(e.read(e.b, e.x))
	}},
	{name: "the host waits for an event", run: func(e *env) {
		e.first(e.fill(e.a, e.x))
		e.check(e.e.Record(e.a))
		e.needed(e.e.Synchronize)
		e.second(e.read(e.b, e.x))
	}},
	{name: "the host waits for the device", run: func(e *env) {
		e.first(e.fill(e.a, e.x))
		e.needed(e.d0.Synchronize)
		e.second(e.read(e.b, e.x))
	}},
	{name: "the host waits for all devices", run: func(e *env) {
		e.first(e.fill(e.two().far, e.two().w))
		e.check(e.d0.Synchronize())
		e.needed(cuda.Synchronize)
		e.second(e.read(e.a, e.two().w))
	}},
	{name: "the host asks until a stream is done", run: func(e *env) {
		e.first(e.fill(e.a, e.x))
		for e.whole() {
			done, err := e.a.Query()
			e.check(err)
			if done {
				break
			}
		}
		e.second(e.read(e.b, e.x))
	}},
	{name: "the host asks until an event is done", run: func(e *env) {
		e.first(e.fill(e.a, e.x))
		e.check(e.e.Record(e.a))
		for e.whole() {
			done, err := e.e.Query()
			e.check(err)
			if done {
				break
			}
		}
		e.second(e.read(e.b, e.x))
	}},
	{name: "the host waits behind the kernel, not before", run: func(e *env) {
		e.check(e.a.Synchronize())
		e.first(e.fill(e.a, e.x))
		e.needed(e.a.Synchronize)
		e.second(e.fill(e.b, e.x))
	}},

	// The default stream.
	{name: "a non-blocking stream does not wait for the default stream", run: func(e *env) {
		e.first(e.fill(e.def, e.x))
		e.check(e.e.Record(e.def))
		e.needed(func() error { return e.a.WaitEvent(e.e) })
		e.second(e.read(e.a, e.x))
	}},
	{name: "the default stream does not wait for a non-blocking one", run: func(e *env) {
		e.first(e.fill(e.a, e.x))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.def.WaitEvent(e.e) })
		e.second(e.read(e.def, e.x))
	}},
	{name: "a blocking stream waits for the default stream", right: true, run: func(e *env) {
		e.check(e.fill(e.def, e.x))
		e.check(e.read(e.block, e.x))
	}},
	{name: "the default stream waits for a blocking one", right: true, run: func(e *env) {
		e.check(e.fill(e.block, e.x))
		e.check(e.read(e.def, e.x))
	}},
	{name: "two blocking streams and something on the default stream", run: func(e *env) {
		s, err := e.d0.NewStream()
		e.check(err)
		e.first(e.fill(s, e.x))
		e.needed(func() error { return e.fill(e.def, e.y) })
		e.second(e.read(e.block, e.x))
	}},
	{name: "the per-thread stream waits for the default stream", right: true, run: func(e *env) {
		unlock := onThread()
		defer unlock()
		e.check(e.fill(e.def, e.x))
		e.check(e.read(e.d0.PerThreadStream(), e.x))
	}},
	{name: "the per-thread stream and a non-blocking one", run: func(e *env) {
		unlock := onThread()
		defer unlock()
		s := e.d0.PerThreadStream()
		e.first(e.fill(s, e.x))
		e.needed(s.Synchronize)
		e.second(e.read(e.a, e.x))
	}},
	{name: "the default streams of two devices", run: func(e *env) {
		e.first(e.fill(e.def, e.x))
		e.needed(e.def.Synchronize)
		e.second(e.read(e.two().d1.DefaultStream(), e.x))
	}},

	// Copies and fills.
	{name: "a copy from pinned memory, then a kernel elsewhere", run: func(e *env) {
		e.first(cuda.MemcpyAsync(e.x, e.h, e.a))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.second(e.read(e.b, e.x))
	}},
	{name: "a kernel, then a copy to pinned memory elsewhere", run: func(e *env) {
		e.first(e.fill(e.a, e.x))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.second(cuda.MemcpyAsync(e.h, e.x, e.b))
	}},
	{name: "pinned memory is sent before it is overwritten", run: func(e *env) {
		e.first(cuda.MemcpyAsync(e.x, e.h, e.a))
		e.needed(e.a.Synchronize)
		e.second(cuda.MemcpyAsync(e.h, e.y, e.b))
	}},
	{name: "a fill, then a kernel elsewhere", run: func(e *env) {
		e.first(e.x.MemsetAsync(0, e.a))
		e.needed(e.a.Synchronize)
		e.second(e.read(e.b, e.x))
	}},
	{name: "a copy inside of the device", run: func(e *env) {
		e.first(cuda.MemcpyAsync(e.y, e.x, e.a))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.second(e.fill(e.b, e.x))
	}},
	{name: "a synchronous copy from a Go slice promises only that the slice was read", run: func(e *env) {
		e.first(cuda.Memcpy(e.x, make([]float32, elements)))
		e.needed(e.def.Synchronize)
		e.second(e.read(e.a, e.x))
	}},
	{name: "a synchronous copy to a Go slice is done", right: true, run: func(e *env) {
		e.check(e.x.Download(make([]float32, elements)))
		e.check(e.fill(e.a, e.x))
	}},
	{name: "a download does not wait for a non-blocking stream", run: func(e *env) {
		e.first(e.fill(e.a, e.x))
		e.needed(e.a.Synchronize)
		e.second(e.x.Download(e.slice()))
	}},
	{name: "a synchronous copy from pinned memory is done", right: true, run: func(e *env) {
		e.check(cuda.Memcpy(e.x, e.h))
		e.check(e.fill(e.a, e.x))
		e.check(cuda.MemcpyAsync(e.h, e.y, e.b))
	}},
	{name: "a synchronous copy inside of the device does not wait", run: func(e *env) {
		e.first(cuda.Memcpy(e.y, e.x))
		e.needed(e.def.Synchronize)
		e.second(e.fill(e.a, e.x))
	}},
	{name: "a synchronous fill does not wait", run: func(e *env) {
		e.first(e.x.Memset(0))
		e.needed(e.def.Synchronize)
		e.second(e.fill(e.a, e.x))
	}},
	{name: "an asynchronous copy to a Go slice promises nothing by its return", run: func(e *env) {
		e.first(e.x.DownloadAsync(e.slice(), e.a))
		e.needed(e.a.Synchronize)
		e.second(e.fill(e.b, e.x))
	}},
	{name: "an upload is there for all streams", right: true, run: func(e *env) {
		e.check(e.x.Upload(make([]float32, elements)))
		e.check(e.read(e.a, e.x))
	}},
	{name: "two copies to one Go slice", run: func(e *env) {
		out := e.slice()
		e.first(e.x.DownloadAsync(out, e.a))
		e.needed(e.a.Synchronize)
		e.second(e.y.DownloadAsync(out, e.b))
	}},
	{name: "a tile beside another", right: true, run: func(e *env) {
		// 32 by 32 floats; the left and the right half.
		e.check(cuda.Memcpy2DAsync(e.x, 32, e.y, 32, 16, 32, e.a))
		e.check(cuda.Memcpy2DAsync(e.x.Slice(16, 1024), 32, e.z.Slice(16, 1024), 32, 16, 32, e.b))
	}},
	{name: "a tile across another", run: func(e *env) {
		e.first(cuda.Memcpy2DAsync(e.x, 32, e.y, 32, 17, 32, e.a))
		e.needed(e.a.Synchronize)
		e.second(cuda.Memcpy2DAsync(e.x.Slice(16, 1024), 32, e.z.Slice(16, 1024), 32, 16, 32, e.b))
	}},
	{name: "a fill of some rows, and of others", right: true, run: func(e *env) {
		e.check(e.x.Memset2DAsync(64, 0, 32, 16, e.a))
		e.check(e.x.Slice(32, elements).Memset2DAsync(64, 1, 32, 16, e.b))
	}},
	{name: "a fill of rows that a copy reads", run: func(e *env) {
		e.first(e.x.Memset2DAsync(64, 0, 32, 16, e.a))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.second(cuda.MemcpyAsync(e.h, e.x, e.b))
	}},

	// Several devices.
	{name: "a kernel of another device reads", run: func(e *env) {
		e.first(e.fill(e.a, e.x))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.two().far.WaitEvent(e.e) })
		e.second(e.read(e.two().far, e.x))
	}},
	{name: "a kernel writes to another device", run: func(e *env) {
		e.first(e.fill(e.a, e.two().w))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.two().far.WaitEvent(e.e) })
		e.second(e.read(e.two().far, e.two().w))
	}},
	{name: "a copy between devices, then a kernel there", run: func(e *env) {
		e.first(cuda.MemcpyPeerAsync(e.two().w, e.x, e.a))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.two().far.WaitEvent(e.e) })
		e.second(e.read(e.two().far, e.two().w))
	}},
	{name: "a kernel there, then a copy between devices", run: func(e *env) {
		e.first(e.fill(e.two().far, e.two().w))
		e.check(e.two().efar.Record(e.two().far))
		e.needed(func() error { return e.a.WaitEvent(e.two().efar) })
		e.second(cuda.MemcpyPeerAsync(e.x, e.two().w, e.a))
	}},
	{name: "a synchronous copy between devices waits for both and both for it", right: true, run: func(e *env) {
		e.check(e.fill(e.a, e.x))
		e.check(e.read(e.two().far, e.two().w))
		e.check(cuda.MemcpyPeer(e.two().w, e.x))
		e.check(e.read(e.two().far, e.two().w))
		e.check(e.fill(e.b, e.x))
	}},
	{name: "a copy by unified addresses", run: func(e *env) {
		e.first(cuda.MemcpyAsync(e.two().w, e.x, e.a))
		e.needed(e.a.Synchronize)
		e.second(e.fill(e.two().far, e.two().w))
	}},
	{name: "the halo's owner waits for its reader", run: func(e *env) {
		e.check(e.fill(e.a, e.x))
		e.check(e.e.Record(e.a))
		e.check(e.two().far.WaitEvent(e.e))
		e.first(cuda.MemcpyPeerAsync(e.two().w, e.x, e.two().far))
		e.check(e.two().efar.Record(e.two().far))
		e.needed(func() error { return e.a.WaitEvent(e.two().efar) })
		e.second(e.fill(e.a, e.x))
	}},
	{name: "a wait for one device is none for the other", run: func(e *env) {
		e.first(e.fill(e.two().far, e.two().w))
		e.check(e.d0.Synchronize())
		e.needed(e.two().d1.Synchronize)
		e.second(cuda.MemcpyAsync(e.h, e.two().w, e.a))
	}},

	// What kernels touch.
	{name: "rows of one buffer", right: true, run: func(e *env) {
		e.check(e.kernel("fill", e.a, e.x, nil, 0, 512))
		e.check(e.kernel("fill", e.b, e.x, nil, 512, 1024))
	}},
	{name: "rows that overlap by one element", run: func(e *env) {
		e.first(e.kernel("fill", e.a, e.x, nil, 0, 513))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.second(e.kernel("fill", e.b, e.x, nil, 512, 1024))
	}},
	{name: "a kernel's rows and a copy of others", right: true, run: func(e *env) {
		e.check(e.kernel("fill", e.a, e.x, nil, 0, 512))
		e.check(cuda.MemcpyAsync(e.y.Slice(512, 1024), e.x.Slice(512, 1024), e.b))
	}},
	{name: "a halo of one row", run: func(e *env) {
		e.first(e.kernel("fill", e.a, e.x, nil, 0, 64))
		e.check(e.kernel("fill", e.a, e.x, nil, 64, 960))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.second(cuda.MemcpyAsync(e.y.Slice(0, 64), e.x.Slice(0, 64), e.b))
	}},
	{name: "a kernel that does not touch its argument", right: true, run: func(e *env) {
		e.check(e.kernel("look", e.a, e.x, e.y, 0, elements))
		e.check(e.fill(e.b, e.x))
	}},
	{name: "atomics against atomics", right: true, run: func(e *env) {
		e.check(e.kernel("count", e.a, e.x, nil, 0, elements))
		e.check(e.kernel("count", e.b, e.x, nil, 0, elements))
	}},
	{name: "atomics, then a read", run: func(e *env) {
		e.first(e.kernel("count", e.a, e.x, nil, 0, elements))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.second(e.read(e.b, e.x))
	}},
	{name: "a write, then atomics", run: func(e *env) {
		e.first(e.fill(e.a, e.x))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.second(e.kernel("count", e.b, e.x, nil, 0, elements))
	}},
	{name: "a kernel that reads and writes", run: func(e *env) {
		e.first(e.kernel("add", e.a, e.x, e.y, 0, elements))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.second(e.kernel("add", e.b, e.y, e.x, 0, elements))
	}},
	{name: "two kernels that read one and write others", right: true, run: func(e *env) {
		e.check(e.kernel("add", e.a, e.x, e.y, 0, elements))
		e.check(e.kernel("add", e.b, e.z, e.y, 0, elements))
	}},
	{name: "mapped memory", run: func(e *env) {
		e.first(e.fill(e.a, e.h))
		e.needed(e.a.Synchronize)
		e.second(cuda.MemcpyAsync(e.x, e.h, e.b))
	}},
	{name: "managed memory", run: func(e *env) {
		m, err := e.d0.AllocManaged(elements, cuda.Float32)
		e.check(err)
		e.first(e.fill(e.a, m))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.two().far.WaitEvent(e.e) })
		e.second(e.read(e.two().far, m))
	}},
	{name: "a synchronous fill of managed memory is done", right: true, run: func(e *env) {
		m, err := e.d0.AllocManaged(elements, cuda.Float32)
		e.check(err)
		e.check(m.Memset(0))
		e.check(e.fill(e.a, m))
	}},

	// Host functions and values.
	{name: "a host function between two streams", run: func(e *env) {
		held := make(chan bool)
		defer close(held)
		e.first(e.fill(e.a, e.x))
		e.check(e.a.LaunchHostFunc(func() { <-held }))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.second(e.read(e.b, e.x))
	}},
	{name: "a host function's end is known to who waits for it", right: true, run: func(e *env) {
		done := make(chan bool)
		e.check(e.fill(e.a, e.x))
		e.check(e.a.LaunchHostFunc(func() { close(done) }))
		<-done
		e.check(e.e.Record(e.a))
		for ok := false; !ok; { // until the function has returned, too
			var err error
			ok, err = e.e.Query()
			e.check(err)
		}
		e.check(e.read(e.b, e.x))
	}},
	{name: "a stream waits for a value", run: func(e *env) {
		e.first(e.fill(e.a, e.x))
		e.check(e.a.WriteValue(e.flag.Slice(0, 1), 1))
		e.needed(func() error { return e.b.WaitValue(e.flag.Slice(0, 1), 1, cuda.WaitGEQ) })
		e.second(e.read(e.b, e.x))
	}},
	{name: "the value is written behind the kernel", run: func(e *env) {
		e.check(e.b.WaitValue(e.flag.Slice(0, 1), 1, cuda.WaitEQ))
		e.first(e.fill(e.a, e.x))
		if e.whole() {
			e.check(e.a.WriteValue(e.flag.Slice(0, 1), 1))
		} else {
			e.check(e.c.WriteValue(e.flag.Slice(0, 1), 1)) // somebody else does
		}
		e.second(e.read(e.b, e.x))
	}},
	{name: "a value of a later round", run: func(e *env) {
		f := e.flag.Slice(1, 2)
		e.check(e.a.WriteValue(f, 1))
		e.check(e.b.WaitValue(f, 1, cuda.WaitGEQ))
		e.first(e.fill(e.a, e.x))
		e.check(e.a.WriteValue(f, 2))
		e.needed(func() error { return e.b.WaitValue(f, 2, cuda.WaitGEQ) })
		e.second(e.read(e.b, e.x))
	}},
	{name: "a value that the program writes itself holds up one that a stream writes", right: true, run: func(e *env) {
		gate, err := e.d0.AllocHost(1, cuda.Uint32, cuda.Portable, cuda.Mapped)
		e.check(err)
		word, err := gate.Uint32s()
		e.check(err)
		word[0] = 0
		e.check(e.b.WaitValue(e.flag.Slice(4, 5), 1, cuda.WaitGEQ))
		e.check(e.read(e.b, e.x))
		e.check(e.a.WaitValue(gate, 1, cuda.WaitGEQ))
		e.check(e.fill(e.a, e.x))
		e.check(e.a.WriteValue(e.flag.Slice(4, 5), 1))
		word[0] = 1
		e.check(e.b.Synchronize())
	}},
	{name: "a batch of values", run: func(e *env) {
		e.first(e.fill(e.a, e.x))
		e.check(e.a.BatchMemOp(cuda.WriteOp(e.flag.Slice(2, 3), 1), cuda.WriteOp(e.flag.Slice(3, 4), 1)))
		e.needed(func() error { return e.b.BatchMemOp(cuda.WaitOp(e.flag.Slice(2, 3), 1, cuda.WaitEQ)) })
		e.second(e.read(e.b, e.x))
	}},

	// Graphs.
	{name: "branches of a graph", run: func(e *env) {
		g := e.capture(e.a, func() {
			e.check(e.fill(e.a, e.y))
			e.check(e.e.Record(e.a))
			e.check(e.b.WaitEvent(e.e))
			e.first(e.fill(e.b, e.x))
			e.check(e.f.Record(e.b))
			e.needed(func() error { return e.a.WaitEvent(e.f) })
			e.second(e.read(e.a, e.x))
			e.check(e.f.Record(e.b))
			e.check(e.a.WaitEvent(e.f))
		})
		e.check(g.Launch(e.c))
		e.check(g.Launch(e.c))
	}},
	{name: "a kernel behind a graph", run: func(e *env) {
		g := e.capture(e.a, func() { e.first(e.fill(e.a, e.x)) })
		e.check(g.Launch(e.c))
		e.check(e.e.Record(e.c))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.second(e.read(e.b, e.x))
	}},
	{name: "a graph behind a kernel", run: func(e *env) {
		g := e.capture(e.a, func() { e.second(e.read(e.a, e.x)) })
		e.first(e.fill(e.b, e.x))
		e.check(e.e.Record(e.b))
		e.needed(func() error { return e.c.WaitEvent(e.e) })
		e.check(g.Launch(e.c))
	}},
	{name: "one graph on two streams", right: true, run: func(e *env) {
		g := e.capture(e.a, func() { e.check(e.fill(e.a, e.x)) })
		e.check(g.Launch(e.b))
		e.check(g.Launch(e.c))
	}},
	{name: "two graphs on two streams", run: func(e *env) {
		g := e.capture(e.a, func() { e.first(e.fill(e.a, e.x)) })
		h := e.capture(e.a, func() { e.second(e.fill(e.a, e.x)) })
		e.check(g.Launch(e.b))
		e.check(e.e.Record(e.b))
		e.needed(func() error { return e.c.WaitEvent(e.e) })
		e.check(h.Launch(e.c))
	}},
	{name: "a captured kernel does not run", right: true, run: func(e *env) {
		e.capture(e.a, func() { e.check(e.fill(e.a, e.x)) })
		e.check(e.fill(e.b, e.x))
	}},
	{name: "a graph launched several times", right: true, run: func(e *env) {
		g := e.capture(e.a, func() {
			e.check(e.fill(e.a, e.x))
			e.check(e.copy(e.a, e.y, e.x))
		})
		for range 3 {
			e.check(g.Launch(e.b))
		}
		e.check(e.b.Synchronize())
		e.check(e.fill(e.c, e.y))
	}},

	// Memory's life.
	{name: "stream-ordered memory is used behind its allocation", run: func(e *env) {
		m := e.firstAlloc(e.a.AllocAsync(elements, cuda.Float32))
		e.check(e.e.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(e.e) })
		e.second(e.fill(e.b, m))
	}},
	{name: "stream-ordered memory is freed behind its use", run: func(e *env) {
		m, err := e.a.AllocAsync(elements, cuda.Float32)
		e.check(err)
		e.check(e.e.Record(e.a))
		e.check(e.b.WaitEvent(e.e))
		e.first(e.fill(e.b, m))
		e.check(e.f.Record(e.b))
		e.needed(func() error { return e.a.WaitEvent(e.f) })
		e.second(m.FreeAsync(e.a))
	}},
	{name: "stream-ordered memory that the pool gives again", right: true, run: func(e *env) {
		for range 3 {
			m, err := e.a.AllocAsync(elements, cuda.Float32)
			e.check(err)
			e.check(e.fill(e.a, m))
			e.check(m.FreeAsync(e.a))
		}
		m, err := e.b.AllocAsync(elements, cuda.Float32)
		e.check(err)
		e.check(e.fill(e.b, m))
	}},
	{name: "stream-ordered memory of another device's stream", run: func(e *env) {
		pool, err := e.d0.DefaultPool()
		e.check(err)
		e.check(pool.SetAccess(e.two().d1, true)) // peer access does not count for pools
		m := e.firstAlloc(e.a.AllocAsync(elements, cuda.Float32))
		e.needed(e.a.Synchronize)
		e.second(cuda.MemcpyAsync(m, e.two().w, e.two().far))
		e.check(e.two().far.Synchronize())
	}},
	{name: "memory is freed when its kernel is done", run: func(e *env) {
		e.first(e.fill(e.a, e.x))
		e.needed(e.a.Synchronize)
		e.second(e.x.Free())
	}},
	{name: "memory is freed when another device's kernel is done", run: func(e *env) {
		e.first(e.read(e.two().far, e.x))
		e.needed(e.two().far.Synchronize)
		e.second(e.x.Free())
	}},
	{name: "pinned memory is freed when its copy is done", run: func(e *env) {
		e.first(cuda.MemcpyAsync(e.x, e.h, e.a))
		e.needed(e.a.Synchronize)
		e.second(e.h.Free())
	}},
	{name: "memory that was registered is released when its copy is done", run: func(e *env) {
		s := make([]float32, elements)
		r, err := cuda.RegisterHost(s)
		e.check(err)
		e.first(cuda.MemcpyAsync(e.x, r, e.a))
		e.needed(e.a.Synchronize)
		e.second(r.Free())
		e.check(e.a.Synchronize())
		s[0] = 1
	}},
	{name: "memory that was registered goes on as a slice", right: true, run: func(e *env) {
		s := make([]float32, elements)
		r, err := cuda.RegisterHost(s)
		e.check(err)
		e.check(cuda.Memcpy(e.x, r))
		e.check(r.Free())
		e.check(e.x.Download(s))
	}},
	{name: "a stream that was destroyed still works", run: func(e *env) {
		s, err := e.d0.NewStream(cuda.NonBlocking)
		e.check(err)
		e.first(e.fill(s, e.x))
		e.needed(s.Synchronize)
		e.check(s.Destroy())
		e.second(e.read(e.a, e.x))
	}},
	{name: "a stream made after another was destroyed", run: func(e *env) {
		s, err := e.d0.NewStream(cuda.NonBlocking)
		e.check(err)
		e.first(e.fill(s, e.x))
		e.check(e.e.Record(s))
		e.check(s.Destroy())
		s, err = e.d0.NewStream(cuda.NonBlocking)
		e.check(err)
		e.needed(func() error { return s.WaitEvent(e.e) })
		e.second(e.read(s, e.x))
	}},
	{name: "an event that was destroyed is still waited for", run: func(e *env) {
		v, err := e.d0.NewEvent(cuda.DisableTiming)
		e.check(err)
		e.first(e.fill(e.a, e.x))
		e.check(v.Record(e.a))
		e.needed(func() error { return e.b.WaitEvent(v) })
		e.check(v.Destroy())
		e.second(e.read(e.b, e.x))
	}},
	{name: "memory that is allocated again", right: true, run: func(e *env) {
		e.check(e.fill(e.a, e.x))
		e.check(e.a.Synchronize())
		e.check(e.x.Free())
		m, err := e.d0.Alloc(elements, cuda.Float32)
		e.check(err)
		e.check(e.fill(e.b, m))
	}},
}
