package sim

import (
	"runtime"
	"testing"
	"time"
	"unsafe"

	"gocuda/cudaapi/driver"
)

// machine is a machine with a device in use, and a stream.
func machine(t *testing.T) (*Driver, driver.Context, driver.Stream) {
	t.Helper()
	m, err := New(Options{Devices: 1, Memory: 1 << 24})
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.PrimaryRetain(0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.StreamCreate(c, driver.StreamNonBlocking, 0)
	if err != nil {
		t.Fatal(err)
	}
	return m, c, s
}

// loadKernel compiles and loads a kernel k.
func (m *Driver) loadKernel(t *testing.T, c driver.Context, code string) (driver.Module, driver.Function) {
	t.Helper()
	out, err := m.Compile(0, &driver.Source{Name: "test.cu", Code: code})
	if err != nil {
		t.Fatal(err)
	}
	mod, err := m.ModuleLoad(c, out.Image)
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.ModuleFunction(c, mod, "k")
	if err != nil {
		t.Fatal(err)
	}
	return mod, f
}

// waited waits until somebody waits for work of the machine.
func (m *Driver) waited() {
	for {
		m.mu.Lock()
		n := len(m.sched.wanted)
		m.mu.Unlock()
		if n > 0 {
			return
		}
		runtime.Gosched()
	}
}

// A module that is being unloaded launches nothing any more: its code would go
// under the launch.
func TestLaunchBesideUnload(t *testing.T) {
	m, c, s := machine(t)
	mod, f := m.loadKernel(t, c, `extern "C" __global__ void k(int *x) { for (int i = 0; i < 1000000; i++) *(volatile int *)x += 1; }`)
	x, err := m.MemAlloc(c, 8)
	if err != nil {
		t.Fatal(err)
	}
	m.Memset(c, x, 0, 4, 2)                               //nolint:errcheck // the launch shows it
	m.StreamWaitValue32(c, s, x+4, 1, driver.WaitValueEQ) //nolint:errcheck // as above
	unloaded := make(chan error, 1)
	go func() { unloaded <- m.ModuleUnload(c, mod) }()
	m.waited()
	other, err := m.StreamCreate(c, driver.StreamNonBlocking, 0)
	if err != nil {
		t.Fatal(err)
	}
	params := make([]byte, 8)
	*(*driver.Ptr)(unsafe.Pointer(&params[0])) = x
	one := driver.Dim3{X: 1, Y: 1, Z: 1}
	launched := m.Launch(c, &driver.Launch{Function: f, Stream: other, Grid: one, Block: one, Params: params})
	if err := m.StreamWriteValue32(c, other, x+4, 1); err != nil {
		t.Fatal(err)
	}
	if err := <-unloaded; err != nil {
		t.Fatal(err)
	}
	if launched == nil {
		t.Error("a kernel was launched from a module that was being unloaded")
	}
	if err := m.CtxSynchronize(c, nil); err != nil {
		t.Error(err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// A machine of which a kernel goes on keeps its memory.
func TestCloseUnderAKernel(t *testing.T) {
	m, c, s := machine(t)
	_, f := m.loadKernel(t, c, `extern "C" int pause(); extern "C" __global__ void k(int *x) { x[0] = 1; for (;;) pause(); }`)
	x, err := m.HostAlloc(c, 8, driver.HostPortable)
	if err != nil {
		t.Fatal(err)
	}
	params := make([]byte, 8)
	*(*driver.Ptr)(unsafe.Pointer(&params[0])) = x
	one := driver.Dim3{X: 1, Y: 1, Z: 1}
	if err := m.Launch(c, &driver.Launch{Function: f, Stream: s, Grid: one, Block: one, Params: params}); err != nil {
		t.Fatal(err)
	}
	word := (*int32)(pointer(uintptr(x)))
	m.StreamQuery(c, s) //nolint:errcheck // it has the device begin
	for *word != 1 {
		time.Sleep(time.Millisecond)
	}
	if err := m.Close(); err == nil {
		t.Fatal("Close unmapped memory under a kernel, or ended one that sleeps")
	}
	*word = 2
}

// The place of an interprocess event that was destroyed is not another's before the
// records of the first are done.
func TestInterprocessEventsDoNotMeet(t *testing.T) {
	m, c, s := machine(t)
	x, err := m.MemAlloc(c, 4)
	if err != nil {
		t.Fatal(err)
	}
	m.Memset(c, x, 0, 4, 1) //nolint:errcheck // the wait shows it
	if err := m.StreamWaitValue32(c, s, x, 1, driver.WaitValueEQ); err != nil {
		t.Fatal(err)
	}
	event := func() driver.Event {
		e, err := m.EventCreate(c, driver.EventInterprocess|driver.EventDisableTiming)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	first := event()
	for range 3 {
		if err := m.EventRecord(c, first, s); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.EventDestroy(c, first); err != nil {
		t.Fatal(err)
	}
	second, other := event(), driver.Stream(0)
	if other, err = m.StreamCreate(c, driver.StreamNonBlocking, 0); err != nil {
		t.Fatal(err)
	}
	if err := m.StreamWriteValue32(c, other, x, 1); err != nil {
		t.Fatal(err)
	}
	if err := m.StreamSynchronize(c, s, nil); err != nil { // the records of the first are done
		t.Fatal(err)
	}
	m.Memset(c, x, 0, 4, 1) //nolint:errcheck // as above
	if err := m.StreamWaitValue32(c, s, x, 1, driver.WaitValueEQ); err != nil {
		t.Fatal(err)
	}
	if err := m.EventRecord(c, second, s); err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	done := m.events[second].shared.done() // as other processes see it
	m.mu.Unlock()
	if done {
		t.Error("an event is done for other processes before its stream's work")
	}
	if err := m.StreamWriteValue32(c, other, x, 1); err != nil {
		t.Fatal(err)
	}
	if err := m.EventSynchronize(c, second, nil); err != nil {
		t.Error(err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
