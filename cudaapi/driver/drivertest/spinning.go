package drivertest

import (
	"encoding/binary"
	"sync/atomic"
	"time"

	"gocuda/cudaapi/driver"
)

// meeting are kernels whose threads wait in loops for what others write.
const meeting = `
// A barrier of all blocks, which atomics make; each thread adds a word in
// every turn in which it finds that all have come.
extern "C" __global__ void barrier(unsigned *out, unsigned *arrived, volatile unsigned *at, unsigned turns) {
	for (unsigned turn = 1; turn <= turns; turn++) {
		for (int half = 0; half < 2; half++) {
			__syncthreads();
			if (threadIdx.x == 0) {
				if (half == 0) at[blockIdx.x] = turn;
				__threadfence();
				atomicAdd(arrived, 1);
				while (atomicAdd(arrived, 0) < (2 * turn - 1 + half) * gridDim.x) {}
				__threadfence();
			}
			__syncthreads();
			if (half == 0 && at[(blockIdx.x + threadIdx.x) % gridDim.x] == turn) atomicAdd(out, 0x10001);
		}
	}
}
// All threads of a warp take one lock.
extern "C" __global__ void lock(volatile unsigned *out, int *taken) {
	while (atomicCAS(taken, 0, 1) != 0) {}
	__threadfence();
	*out = *out + 0x10001;
	__threadfence();
	atomicExch(taken, 0);
}
// Two who count by turns, unless told to stop.
extern "C" __global__ void count(volatile unsigned *word, unsigned first, unsigned turns) {
	for (unsigned turn = first; turn < 2 * turns; turn += 2) {
		unsigned v;
		do v = *word; while (v != turn && v != ~0u);
		if (v == ~0u) return;
		__threadfence_system();
		*word = turn + 1;
		__threadfence_system();
	}
}`

// uint32At reads an unsigned of device memory.
func (e *env) uint32At(dev int, p driver.Ptr) uint32 {
	e.Helper()
	return binary.LittleEndian.Uint32(e.read(dev, p, 4))
}

// counter is the counting kernel, loaded: a kernel's first launch may wait for
// those that run.
func (e *env) counter(dev int) driver.Function {
	e.Helper()
	f := e.kernel(dev, meeting, "count")
	e.launch(dev, f, driver.StreamPerThread, 1, 1, args(driver.Ptr(0), uint32(0), uint32(0)))
	e.sync(dev, driver.StreamPerThread)
	return f
}

// flag is a word of pinned memory by which kernels count. If the case hangs it
// tells them to stop.
func (e *env) flag() (p driver.Ptr, word *uint32) {
	e.Helper()
	p, _ = e.pinned(4, 0)
	word = (*uint32)(hostAddress(p))
	e.inNeed(func() { atomic.StoreUint32(word, ^uint32(0)) })
	return p, word
}

// inNeed has a case that hangs call f; so does the end of the case.
func (e *env) inNeed(f func()) {
	g := &gate{open: make(chan struct{})}
	e.mu.Lock()
	e.gates = append(e.gates, g)
	e.mu.Unlock()
	done := make(chan struct{})
	go func() {
		<-g.open
		f()
		close(done)
	}()
	e.Cleanup(func() {
		g.release()
		<-done
		for i := range e.ctx {
			_ = e.d.CtxSynchronize(e.ctx[i], nil)
		}
	})
}

// until waits for something that must happen.
func (e *env) until(what string, f func() bool) {
	e.Helper()
	for start := time.Now(); !f(); time.Sleep(10 * time.Microsecond) {
		if time.Since(start) > longest {
			e.Fatalf("%s has not come after %v", what, longest)
		}
	}
}

// countBy has a kernel of each device count, by turns.
func (e *env) countBy(first, second int) {
	e.Helper()
	const turns = 50
	f, g := e.counter(first), e.counter(second)
	p, word := e.flag()
	s, other := e.stream(first, driver.StreamNonBlocking), e.stream(second, driver.StreamNonBlocking)
	e.launch(first, f, s, 1, 1, args(p, uint32(1), uint32(turns)))
	e.launch(second, g, other, 1, 1, args(p, uint32(0), uint32(turns)))
	e.sync(first, s)
	e.sync(second, other)
	if *word != 2*turns {
		e.Errorf("%d turns, want %d", *word, 2*turns)
	}
}

var spinningTests = []test{
	{name: "blocks wait for each other as far as there is room", run: func(e *env) {
		const blocks, threads, turns = 100, 32, 5
		f := e.kernel(0, meeting, "barrier")
		out, arrived, at := e.alloc(0, 4, 0), e.alloc(0, 4, 0), e.alloc(0, 4*blocks, 0)
		s := e.stream(0, driver.StreamNonBlocking)
		e.launch(0, f, s, blocks, threads, args(out, arrived, at, uint32(turns)))
		e.sync(0, s)
		if got, want := e.uint32At(0, out), uint32(0x10001*blocks*threads*turns&0xffffffff); got != want {
			e.Errorf("the threads added %#x, want %#x", got, want)
		}
	}},
	{name: "threads of a warp wait for each other", run: func(e *env) {
		f := e.kernel(0, meeting, "lock")
		out, taken := e.alloc(0, 4, 0), e.alloc(0, 4, 0)
		s := e.stream(0, driver.StreamNonBlocking)
		e.launch(0, f, s, 4, 64, args(out, taken))
		e.sync(0, s)
		if got := e.uint32At(0, out); got != 256*0x10001 {
			e.Errorf("the threads added %#x, want %#x", got, 256*0x10001)
		}
	}},
	{name: "a kernel and the host wait for each other", run: func(e *env) {
		const turns = 20
		f, s := e.counter(0), e.stream(0, driver.StreamNonBlocking)
		p, word := e.flag()
		e.launch(0, f, s, 1, 1, args(p, uint32(1), uint32(turns)))
		e.pending(0, s, "a kernel that waits for the host")
		for turn := uint32(0); turn < 2*turns; turn += 2 {
			e.until("the kernel's turn", func() bool { return atomic.LoadUint32(word) == turn })
			atomic.StoreUint32(word, turn+1)
		}
		e.sync(0, s)
		if *word != 2*turns {
			e.Errorf("%d turns, want %d", *word, 2*turns)
		}
	}},
	{name: "a kernel waits for what another stream writes", run: func(e *env) {
		f := e.counter(0)
		p, word := e.flag()
		s, other := e.stream(0, driver.StreamNonBlocking), e.stream(0, driver.StreamNonBlocking)
		e.launch(0, f, s, 1, 1, args(p, uint32(1), uint32(1)))
		e.pending(0, s, "a kernel that waits for another stream")
		e.ok(e.d.StreamWriteValue32(e.ctx[0], other, p, 1))
		e.done(0, s, "the kernel, once the other stream has written")
		if *word != 2 {
			e.Errorf("the kernel left %d, want 2", *word)
		}
	}},
	{name: "kernels of two streams wait for each other", run: func(e *env) { e.countBy(0, 0) }},
	{name: "kernels of two devices wait for each other", devices: 2, run: func(e *env) { e.countBy(0, 1) }},
	{name: "kernels of two processes wait for each other", run: func(e *env) {
		const turns = 10
		f, s := e.counter(0), e.stream(0, driver.StreamNonBlocking)
		if h := e.handles(); h != nil {
			p, err := e.d.IPCOpenMemHandle(e.ctx[0], driver.IPCMemHandle(h[0]))
			e.ok(err)
			e.launch(0, f, s, 1, 1, args(p, uint32(0), uint32(turns)))
			e.sync(0, s)
			e.ok(e.d.IPCCloseMemHandle(e.ctx[0], p))
			return
		}
		p, other := e.shared(0), e.stream(0, driver.StreamNonBlocking)
		e.inNeed(func() { _ = e.d.MemsetAsync(e.ctx[0], p, 0xff, 1, 4, other) })
		h, err := e.d.IPCGetMemHandle(e.ctx[0], p)
		e.ok(err)
		e.launch(0, f, s, 1, 1, args(p, uint32(1), uint32(turns)))
		e.partner(h[:])
		e.sync(0, s)
		if got := e.uint32At(0, p); got != 2*turns {
			e.Errorf("%d turns, want %d", got, 2*turns)
		}
	}},
}
