//go:build linux && (amd64 || arm64)

package nvidia

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/driver/drivertest"
)

// gpu opens libcuda, or skips where there is no GPU.
func gpu(t testing.TB) *Driver {
	t.Helper()
	if err := Available(); err != nil {
		t.Skipf("no GPU: %v", err)
	}
	d, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// onFreshThread runs f on an OS thread that never saw CUDA.
func onFreshThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // not unlocked: the thread ends with the goroutine
		f()
	}()
	<-done
}

// TestWhichCallsNeedAContext asks libcuda itself: each hot call with no context
// current, and with another device's. The calls that Driver sends straight to
// the driver must work in both cases, or be repeated with the context.
func TestWhichCallsNeedAContext(t *testing.T) {
	d := gpu(t)
	n, err := d.DeviceCount()
	check(t, err)
	ctx, err := d.PrimaryRetain(0)
	check(t, err)
	other := ctx
	if n > 1 {
		other, err = d.PrimaryRetain(1)
		check(t, err)
	}
	s, err := d.StreamCreate(ctx, driver.StreamNonBlocking, 0)
	check(t, err)
	e, err := d.EventCreate(ctx, driver.EventDisableTiming)
	check(t, err)
	e0, err := d.EventCreate(ctx, 0)
	check(t, err)
	e1, err := d.EventCreate(ctx, 0)
	check(t, err)
	check(t, d.EventRecord(ctx, e0, s))
	check(t, d.EventRecord(ctx, e1, s))
	p, err := d.MemAlloc(ctx, 1<<20)
	check(t, err)
	h, err := d.HostAlloc(ctx, 1<<20, driver.HostPortable)
	check(t, err)
	pool, err := d.DefaultMemPool(0)
	check(t, err)
	var f driver.Function
	if out, err := d.Compile(0, &driver.Source{Name: "nop.cu", Code: `extern "C" __global__ void nop() {}`}); err == nil {
		m, err := d.ModuleLoad(ctx, out.Image)
		check(t, err)
		f, err = d.ModuleFunction(ctx, m, "nop")
		check(t, err)
	}
	o := getScratch()
	async := func() uintptr { return uintptr(o.word[0]) }
	calls := []struct {
		s    symbol
		args func() []uintptr
	}{
		{cuLaunchKernel, func() []uintptr { return []uintptr{uintptr(f), 1, 1, 1, 1, 1, 1, 0, uintptr(s), 0, 0} }},
		{cuEventRecord, func() []uintptr { return []uintptr{uintptr(e), uintptr(s)} }},
		{cuStreamWaitEvent, func() []uintptr { return []uintptr{uintptr(s), uintptr(e), 0} }},
		{cuStreamQuery, func() []uintptr { return []uintptr{uintptr(s)} }},
		{cuStreamSynchronize, func() []uintptr { return []uintptr{uintptr(s)} }},
		{cuEventQuery, func() []uintptr { return []uintptr{uintptr(e)} }},
		{cuEventSynchronize, func() []uintptr { return []uintptr{uintptr(e)} }},
		{cuEventElapsedTime, func() []uintptr { return []uintptr{o.at(1), uintptr(e0), uintptr(e1)} }},
		{cuMemcpyAsync, func() []uintptr { return []uintptr{uintptr(p), uintptr(h), 1 << 20, uintptr(s)} }},
		{cuMemcpyPeerAsync, func() []uintptr {
			return []uintptr{uintptr(p), uintptr(ctx), uintptr(p) + 4096, uintptr(ctx), 4096, uintptr(s)}
		}},
		{cuMemsetD8Async, func() []uintptr { return []uintptr{uintptr(p), 1, 4096, uintptr(s)} }},
		{cuMemAllocAsync, func() []uintptr { return []uintptr{o.ptr(), 4096, uintptr(s)} }},
		{cuMemFreeAsync, func() []uintptr { return []uintptr{async(), uintptr(s)} }},
		{cuMemAllocFromPoolAsync, func() []uintptr { return []uintptr{o.ptr(), 4096, uintptr(pool), uintptr(s)} }},
		{cuMemFreeAsync, func() []uintptr { return []uintptr{async(), uintptr(s)} }},
		{cuStreamWriteValue32, func() []uintptr { return []uintptr{uintptr(s), uintptr(p), 1, 0} }},
		{cuStreamWaitValue32, func() []uintptr { return []uintptr{uintptr(s), uintptr(p), 1, 0} }},
		{cuMemFreeHost, func() []uintptr { return []uintptr{uintptr(h)} }},
		{cuMemFree, func() []uintptr { return []uintptr{uintptr(p)} }},
		{cuEventDestroy, func() []uintptr { return []uintptr{uintptr(e1)} }},
		{cuStreamDestroy, func() []uintptr { return []uintptr{uintptr(s)} }},
	}
	for _, c := range calls {
		var none, wrong, right driver.Code
		tried := fmt.Sprintf("%-26s", symbolNames[c.s])
		onFreshThread(func() { none = d.call(c.s, c.args()...) })
		tried += fmt.Sprintf(" no context: %-28v", none)
		again := true
		switch c.s { // what succeeded once is gone
		case cuMemFreeAsync, cuMemFreeHost, cuMemFree, cuEventDestroy, cuStreamDestroy:
			again = none != driver.Success
		}
		if again {
			onFreshThread(func() { d.call(cuCtxSetCurrent, uintptr(other)); wrong = d.call(c.s, c.args()...) })
			tried += fmt.Sprintf(" other context: %v", wrong)
		}
		if again && wrong != driver.Success {
			onFreshThread(func() { d.call(cuCtxSetCurrent, uintptr(ctx)); right = d.call(c.s, c.args()...) })
			tried += fmt.Sprintf(" right context: %v", right)
		}
		t.Log(tried)
	}
	for i := range d.bound {
		if d.bound[i].Load() {
			t.Logf("%s is called with its context current", symbolNames[i])
		}
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestRawCosts prints what the pieces of a call cost, on a thread without a
// context, with the right one current, and with another device's.
func TestRawCosts(t *testing.T) {
	d := gpu(t)
	ctx, err := d.PrimaryRetain(0)
	check(t, err)
	n, err := d.DeviceCount()
	check(t, err)
	other, err := d.PrimaryRetain(driver.Device(n - 1))
	check(t, err)
	s, err := d.StreamCreate(ctx, driver.StreamNonBlocking, 0)
	check(t, err)
	e, err := d.EventCreate(ctx, driver.EventDisableTiming)
	check(t, err)
	o := getScratch()
	measure := func(name string, f func()) {
		const rounds, n = 40, 1000
		best := time.Hour
		for range rounds {
			start := time.Now()
			for range n {
				f()
			}
			best = min(best, time.Since(start))
			check(t, d.StreamSynchronize(ctx, s, nil))
		}
		t.Logf("%-44s %7.1f ns", name, float64(best.Nanoseconds())/n)
	}
	for _, c := range []struct {
		name string
		ctx  driver.Context
	}{{"no context", 0}, {"its context", ctx}, {"another context", other}} {
		onFreshThread(func() {
			if c.ctx != 0 {
				d.call(cuCtxSetCurrent, uintptr(c.ctx))
			}
			measure(c.name+": cuEventRecord", func() { d.call(cuEventRecord, uintptr(e), uintptr(s)) })
			measure(c.name+": cuMemAllocAsync+cuMemFreeAsync", func() {
				d.call(cuMemAllocAsync, o.ptr(), 4096, uintptr(s))
				d.call(cuMemFreeAsync, uintptr(o.word[0]), uintptr(s))
			})
			measure(c.name+": MemAllocAsync+MemFreeAsync", func() {
				p, _ := d.MemAllocAsync(ctx, 4096, s)
				_ = d.MemFreeAsync(ctx, p, s)
			})
			measure(c.name+": cuStreamQuery", func() { d.call(cuStreamQuery, uintptr(s)) })
		})
	}
	onFreshThread(func() {
		measure("cuCtxGetCurrent", func() { d.call(cuCtxGetCurrent, o.ptr()) })
		measure("cuCtxSetCurrent", func() { d.call(cuCtxSetCurrent, uintptr(ctx)) })
		measure("in: with the context", func() { _ = d.in(ctx, cuEventRecord, uintptr(e), uintptr(s)) })
	})
}

func TestLayouts(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want uintptr
	}{
		{"CUDA_MEMCPY2D", unsafe.Sizeof(memcpy2D{}), 128},
		{"CUmemPoolProps", unsafe.Sizeof(poolProps{}), 88},
		{"CUlaunchConfig", unsafe.Offsetof(launchConfig{}.attr), 56},
		{"CUlaunchConfig.hStream", unsafe.Offsetof(launchConfig{}.stream), 32},
		{"CUlaunchAttribute", unsafe.Sizeof(launchAttribute{}), 72},
		{"CUstreamBatchMemOpParams", unsafe.Sizeof(memOp{}), 48},
		{"CUstreamBatchMemOpParams.flags", unsafe.Offsetof(memOp{}.flags), 24},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.name, c.got, c.want)
		}
	}
}

func TestConformance(t *testing.T) {
	drivertest.Run(t, func(t *testing.T) driver.Driver { return gpu(t) })
}

// TestWhatTheHostWaitsFor prints the table for this driver.
func TestWhatTheHostWaitsFor(t *testing.T) {
	t.Log("\n" + drivertest.Table(t, gpu(t)))
}

// TestHostFunctionsGoWithTheirGraphs counts the functions that are kept: those of a graph
// are as long as it, what was made of it, and their launches.
func TestHostFunctionsGoWithTheirGraphs(t *testing.T) {
	d := gpu(t)
	c, err := d.PrimaryRetain(0)
	check(t, err)
	s, err := d.StreamCreate(c, driver.StreamNonBlocking, 0)
	check(t, err)
	kept := func() int {
		d.hosts.mu.Lock()
		defer d.hosts.mu.Unlock()
		return len(d.hosts.waiting)
	}
	before := kept()
	word, err := d.HostAlloc(c, 4, driver.HostPortable|driver.HostDeviceMap)
	check(t, err)
	flag := *(**uint32)(unsafe.Pointer(&word))
	ran := make(chan bool, 10)
	check(t, d.StreamBeginCapture(c, s))
	check(t, d.StreamWaitValue32(c, s, word, 1, driver.WaitValueEQ))
	check(t, d.LaunchHostFunc(c, s, func() { ran <- true }))
	g, err := d.StreamEndCapture(c, s)
	check(t, err)
	x, err := d.GraphInstantiate(c, g)
	check(t, err)
	check(t, d.GraphDestroy(c, g))
	check(t, d.GraphLaunch(c, x, s))
	check(t, d.GraphExecDestroy(c, x)) // the launch goes on
	if kept() != before+1 {
		t.Errorf("%d functions are kept beside those before, want 1", kept()-before)
	}
	atomic.StoreUint32(flag, 1)
	check(t, d.StreamSynchronize(c, s, nil))
	if len(ran) != 1 {
		t.Errorf("the function ran %d times", len(ran))
	}
	for end := time.Now().Add(10 * time.Second); kept() > before && time.Now().Before(end); {
		time.Sleep(time.Millisecond) // CUDA destroys user objects when it comes to it
		check(t, d.CtxSynchronize(c, nil))
	}
	if kept() != before {
		t.Errorf("%d functions are kept after their graph", kept()-before)
	}
	// A capture that fails keeps none.
	check(t, d.StreamBeginCapture(c, s))
	check(t, d.LaunchHostFunc(c, s, func() {}))
	_ = d.StreamSynchronize(c, s, nil) // spoils it
	if _, err := d.StreamEndCapture(c, s); err == nil {
		t.Error("a capture that was spoiled gave a graph")
	}
	for end := time.Now().Add(10 * time.Second); kept() > before && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if kept() != before {
		t.Errorf("%d functions of a failed capture are kept", kept()-before)
	}
	check(t, d.HostFree(c, word))
	check(t, d.StreamDestroy(c, s))
}
