//go:build linux && (amd64 || arm64)

package nvidia

import (
	"encoding/binary"
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/clib"
)

// stub is a libcuda whose calls take no time and that says what it was given.
type stub struct {
	*Driver
	t testing.TB
}

func newStub(t testing.TB) stub {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("there is no C compiler: ", err)
	}
	lib := filepath.Join(t.TempDir(), "libcuda.so")
	if out, err := exec.Command(cc, "-O2", "-shared", "-fPIC", "-o", lib, "testdata/libcuda.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	loaded, err := clib.Open("the stub", []string{lib}, symbolNames[:])
	if err != nil {
		t.Fatal(err)
	}
	return stub{&Driver{lib: loaded, version: 13000}, t}
}

// tell calls one of the stub's own functions.
func (s stub) tell(name string, n int) uintptr {
	s.t.Helper()
	a := s.lib.Lookup(name)
	if a == 0 {
		s.t.Fatalf("the stub has no %s", name)
	}
	return clib.Call(a, uintptr(n))
}

// hotCalls are the calls that are made in place, with what C must see of them.
func hotCalls(d *Driver) map[string]struct {
	call func() error
	want []uintptr
} {
	const c, s = 77, 100
	launch := &driver.Launch{Function: 5, Grid: driver.Dim3{X: 6, Y: 7, Z: 8}, Block: driver.Dim3{X: 9, Y: 10, Z: 11},
		SharedBytes: 12, Stream: s, Params: binary.LittleEndian.AppendUint64(nil, 1234567890123)}
	return map[string]struct {
		call func() error
		want []uintptr
	}{
		"EventRecord":     {func() error { return d.EventRecord(c, 3, s) }, []uintptr{3, s}},
		"StreamWaitEvent": {func() error { return d.StreamWaitEvent(c, s, 4) }, []uintptr{s, 4}},
		"MemFreeAsync":    {func() error { return d.MemFreeAsync(c, 1<<40, s) }, []uintptr{1 << 40, s}},
		"MemAllocAsync": {func() error {
			p, err := d.MemAllocAsync(c, 4096, s)
			if err == nil && p != 0x7f0012345600 {
				err = errors.New("another address")
			}
			return err
		}, []uintptr{4096, s}},
		"Launch": {func() error { return d.Launch(c, launch) }, []uintptr{5, 6, 7, 8, 9, 10, 11, 12, s, 0, 1234567890123}},
	}
}

// onNewThread runs f on a thread on which no context is current.
func onNewThread(f func()) {
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread() // and it ends with the goroutine
		f()
	}()
	<-done
}

// TestHotCalls makes each call several times: the first finds out what it needs.
func TestHotCalls(t *testing.T) {
	for name := range hotCalls(nil) {
		d := newStub(t)
		c := hotCalls(d.Driver)[name]
		try := func(when string, want error) {
			t.Helper()
			onNewThread(func() {
				if err := c.call(); !errors.Is(err, want) {
					t.Errorf("%s, %s: %v, want %v", name, when, err, want)
				}
			})
			var seen []uintptr
			for i := range 11 {
				seen = append(seen, d.tell("stub_seen", i))
			}
			if full := append(slices.Clone(c.want), make([]uintptr, 11-len(c.want))...); !slices.Equal(seen, full) {
				t.Errorf("%s, %s: C saw %v, want %v", name, when, seen, full)
			}
		}
		try("first", nil)
		try("again", nil)
		d.tell("stub_code", int(driver.ErrOutOfMemory))
		try("no memory", driver.ErrOutOfMemory)
		d.tell("stub_code", int(driver.ErrInvalidValue))
		try("a wrong value", driver.ErrInvalidValue)
		d.tell("stub_code", 0)
		try("good again", nil)
		d.tell("stub_bound", 1)
		try("a context is wanted", nil)
		try("still", nil)
		d.tell("stub_code", int(driver.ErrInvalidHandle))
		try("a wrong handle", driver.ErrInvalidHandle)

		d = newStub(t)
		c = hotCalls(d.Driver)[name]
		d.tell("stub_bound", 1)
		try("a context is wanted from the start", nil)
		try("and later", nil)
	}
}

func TestHotCallsAllocateNothing(t *testing.T) {
	d := newStub(t)
	for name, c := range hotCalls(d.Driver) {
		if n := testing.AllocsPerRun(100, func() {
			if err := c.call(); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%s: %g allocations", name, n)
		}
	}
}

// BenchmarkHot is what Go adds to a call.
func BenchmarkHot(b *testing.B) {
	d := newStub(b)
	for name, c := range hotCalls(d.Driver) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := c.call(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
