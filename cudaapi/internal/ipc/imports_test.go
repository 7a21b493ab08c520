package ipc

import (
	"errors"
	"sync"
	"testing"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/ipctest"
	"gocuda/cudaapi/sim"
)

func ok(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// few has only n unused allocations stay open at most.
func few(t *testing.T, n int) {
	was := most
	most = n
	t.Cleanup(func() { most = was })
}

// exports are n allocations, as another process describes them.
func exports(t *testing.T, d *cuda.Device, n int) []Export {
	t.Helper()
	var all []Export
	for range n {
		b, err := d.Alloc(100, cuda.Float32)
		ok(t, err)
		e, err := NewExport(b)
		ok(t, err)
		e.Process++
		all = append(all, e)
	}
	return all
}

// TestInUse: what has a view is not closed, however many others are opened after it;
// what has none is, but not by finding one that is open.
func TestInUse(t *testing.T) {
	few(t, 4)
	l, devices := ipctest.New(t, sim.Options{Devices: 1})
	d := devices[0]
	e := exports(t, d, 20)
	var im Imports
	first, err := im.View(d, e[0])
	ok(t, err)
	for _, x := range e[1:] {
		v, err := im.View(d, x)
		ok(t, err)
		v.Release()
	}
	if n := l.Open(); n != 4 {
		t.Errorf("%d allocations are open, want 4", n)
	}
	again, err := im.View(d, e[0])
	ok(t, err)
	if again.m != first.m {
		t.Error("an allocation with a view was closed")
	}
	// With as many open as may be, to find one closes none.
	for _, i := range []int{17, 18, 19, 17} {
		v, err := im.View(d, e[i])
		ok(t, err)
		v.Release()
		if n := l.Open(); n != 4 {
			t.Errorf("%d allocations are open after a hit, want 4", n)
		}
	}
	// Views of all: more are open than usual, and go when they may.
	over := false
	for _, x := range e {
		v, err := im.View(d, x)
		ok(t, err)
		v.ReleaseWhen(func() (bool, error) { return over, nil })
	}
	if n := l.Open(); n != len(e) {
		t.Errorf("%d allocations are open, want %d", n, len(e))
	}
	over = true
	first.Release()
	again.Release()
	v, err := im.View(d, exports(t, d, 1)[0])
	ok(t, err)
	v.Release()
	if n := l.Open(); n != 4 {
		t.Errorf("%d allocations are open when the views have ended, want 4", n)
	}
	for range 100 { // the list of views that end later does not grow
		v, err := im.View(d, e[0])
		ok(t, err)
		v.ReleaseWhen(func() (bool, error) { return true, nil })
	}
	if n := len(v.m.later) + len(mappings.memory[len(mappings.memory)-1].later); n > mostLater {
		t.Errorf("%d views are remembered", n)
	}
	ok(t, im.Close())
	if n := l.Open(); n != 0 {
		t.Errorf("%d allocations are open after Close", n)
	}
}

// TestStale: an allocation in the place of another is opened when that has no view any more,
// and was closed.
func TestStale(t *testing.T) {
	l, devices := ipctest.New(t, sim.Options{Devices: 1})
	d := devices[0]
	e := exports(t, d, 3)
	e[1].Base, e[2].Base = e[0].Base, e[0].Base // as if the owner had freed the first, then the second
	var im, other Imports
	old, err := im.View(d, e[0])
	ok(t, err)
	s, err := d.NewStream(cuda.NonBlocking)
	ok(t, err)
	end := make(chan struct{})
	ok(t, s.LaunchHostFunc(func() { <-end }))
	opened := make(chan *View)
	for i, im := range []*Imports{&im, &other} {
		go func() {
			v, err := im.View(d, e[1+i])
			if err != nil {
				t.Error(err)
			}
			opened <- v
		}()
	}
	unaware := func(what string) {
		t.Helper()
		select {
		case <-opened:
			t.Fatalf("it was opened beside %s", what)
		case <-time.After(50 * time.Millisecond):
		}
		if n := l.Open(); n != 1 {
			t.Fatalf("%d allocations are open beside %s, want the stale one", n, what)
		}
	}
	unaware("work of the device")
	elsewhere, err := other.TryView(d, e[0]) // nothing waits for those who wait
	ok(t, err)
	close(end)
	unaware("two views of what is in its place")
	old.Release()
	unaware("a view of what is in its place")
	done := make(chan bool)
	elsewhere.ReleaseWhen(func() (bool, error) { return isClosed(done), nil })
	unaware("a view that ends later")
	close(done)
	(<-opened).Release()
	(<-opened).Release()
	if n := l.Open(); n != 1 {
		t.Errorf("%d allocations are open, want the latest", n)
	}
	ok(t, im.Close(), other.Close())
	if n := l.Open(); n != 0 {
		t.Errorf("%d allocations are open after Close", n)
	}
}

func isClosed(c chan bool) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestCloseOnABusyDevice: whoever closes waits for the device, and others open memory
// meanwhile: what the device does may wait for them.
func TestCloseOnABusyDevice(t *testing.T) {
	l, devices := ipctest.New(t, sim.Options{Devices: 1})
	d := devices[0]
	e := exports(t, d, 2)
	s, err := d.NewStream(cuda.NonBlocking)
	ok(t, err)
	var im, other Imports
	v, err := im.View(d, e[0])
	ok(t, err)
	v.Release()
	end := make(chan struct{})
	ok(t, s.LaunchHostFunc(func() { <-end }))
	over := sync.OnceFunc(func() { close(end) })
	watch := time.AfterFunc(20*time.Second, over)
	closed := make(chan error)
	go func() { closed <- im.Close() }()
	time.Sleep(50 * time.Millisecond) // Close is under way, or the test shows nothing
	v, err = other.TryView(d, e[1])
	ok(t, err)
	if !watch.Stop() {
		t.Error("a try waited for another's Close")
	}
	over()
	ok(t, <-closed)
	if n := l.Open(); n != 2 {
		t.Errorf("%d allocations are open, want 2: there is a user", n)
	}
	v.Release()
	ok(t, other.Close())
	if n := l.Open(); n != 0 {
		t.Errorf("%d allocations are open after Close", n)
	}
}

// failing lets closing fail.
type failing struct {
	driver.Driver
	fail bool
}

func (f *failing) IPCCloseMemHandle(c driver.Context, p driver.Ptr) error {
	if f.fail {
		return &driver.Error{Code: driver.ErrInvalidHandle, Call: "cuIpcCloseMemHandle", Detail: "it is a test"}
	}
	return f.Driver.IPCCloseMemHandle(c, p)
}

// TestFailedRelease: when one cannot be closed, the list of the others stays right.
func TestFailedRelease(t *testing.T) {
	few(t, 3)
	l, _ := ipctest.New(t, sim.Options{Devices: 1})
	f := &failing{Driver: l}
	ok(t, cuda.Use(f))
	d, err := cuda.CurrentDevice()
	ok(t, err)
	e := exports(t, d, 5)
	var im Imports
	for _, x := range e[:3] {
		v, err := im.View(d, x)
		ok(t, err)
		v.Release()
	}
	f.fail = true
	if _, err := im.View(d, e[3]); err == nil {
		t.Error("the error of closing is lost")
	}
	f.fail = false
	seen := map[*imported]bool{}
	for _, m := range mappings.memory {
		if seen[m] || m == nil {
			t.Fatalf("the list is damaged: %v", mappings.memory)
		}
		seen[m] = true
	}
	for _, x := range e {
		v, err := im.View(d, x)
		ok(t, err)
		v.Release()
	}
	ok(t, im.Close())
	if n := l.Open(); n != 1 {
		t.Errorf("%d allocations are open after Close, want the one that could not be closed", n)
	}
}

// TestBusyDevice: to close waits for the device, so nothing is closed while it works,
// unless far too much is open, or another allocation is to be opened in the same place.
func TestBusyDevice(t *testing.T) {
	few(t, 4)
	l, devices := ipctest.New(t, sim.Options{Devices: 1})
	d := devices[0]
	e := exports(t, d, 40)
	s, err := d.NewStream(cuda.NonBlocking)
	ok(t, err)
	var im Imports
	view := func(x Export) {
		v, err := im.View(d, x)
		ok(t, err)
		v.Release()
	}
	end := make(chan struct{})
	ok(t, s.LaunchHostFunc(func() { <-end }))
	watch := time.AfterFunc(20*time.Second, func() { t.Error("a view waited for the device"); close(end) })
	for _, x := range e[:mostBusy*4-1] {
		view(x)
	}
	if !watch.Stop() {
		t.FailNow()
	}
	if n := l.Open(); n != mostBusy*4-1 {
		t.Errorf("%d allocations are open while the device works, want %d", n, mostBusy*4-1)
	}
	stale := e[0]
	stale.Memory.Handle[0]++ // another allocation in the place of one, which is closed first
	if _, err := im.TryView(d, stale); err != ErrBusy {
		t.Errorf("a try beside work ended with %v, want ErrBusy", err)
	}
	time.AfterFunc(100*time.Millisecond, func() { close(end) })
	if _, err := im.View(d, stale); err == nil {
		t.Error("a handle that nobody made was opened")
	}
	if n := l.Open(); n != 3 { // to close the stale one has waited, so the others too many are closed
		t.Errorf("%d allocations are open after the stale one, want 3", n)
	}
	ok(t, s.Synchronize())
	view(e[39])
	if n := l.Open(); n != 4 {
		t.Errorf("%d allocations are open when it does not, want 4", n)
	}
	ok(t, im.Close())
}

// TestTryView: a try does not wait for a view of what was in the same place, and succeeds
// when that has ended.
func TestTryView(t *testing.T) {
	_, devices := ipctest.New(t, sim.Options{Devices: 1})
	d := devices[0]
	e := exports(t, d, 2)
	moved := e[1]
	moved.Base, moved.Process = e[0].Base, e[0].Process // as if its owner had allocated it there
	var im Imports
	v, err := im.View(d, e[0])
	ok(t, err)
	if _, err := im.TryView(d, moved); err != ErrBusy {
		t.Errorf("a try beside a view of what was there ended with %v, want ErrBusy", err)
	}
	v.Release()
	w, err := im.TryView(d, moved)
	ok(t, err)
	w.Release()
	ok(t, im.Close())
}

// What is in the way of memory that the program opens is closed, if nobody uses it: mappings
// without views, and buffers that nothing refers to any more.
func TestOpenBesideUnused(t *testing.T) {
	l, devices := ipctest.New(t, sim.Options{Devices: 1})
	d := devices[0]
	e := exports(t, d, 3)
	l.Alone()
	var im Imports
	v, err := im.View(d, e[0])
	ok(t, err)
	if _, err := d.OpenIPC(e[1].Memory); !errors.Is(err, driver.ErrAlreadyMapped) {
		t.Errorf("beside a view: %v", err)
	}
	v.Release()
	_, err = d.OpenIPC(e[1].Memory) // which is dropped
	ok(t, err)
	b, err := d.OpenIPC(e[2].Memory)
	ok(t, err)
	ok(t, b.Free(), im.Close())
}
