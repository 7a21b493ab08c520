// Package drivertest holds the rules of CUDA that a [driver.Driver] must keep,
// as test cases: results, error codes, ordering, and what blocks the host.
//
// Cases run on real GPUs and on simulated devices alike. They are stated in
// CUDA's own terms and checked against a real driver; where the documentation
// and the hardware differ, the case says so and follows the hardware. Ordering
// is made visible by gates: host functions that keep a stream from going on
// until the case lets it.
package drivertest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/record"
	"gocuda/internal/nvtools"
)

// test is one case.
type test struct {
	name    string
	devices int // that it needs; 0 counts as 1
	// alone runs the case in a process of its own: it poisons a context.
	alone bool
	run   func(e *env)
}

// groups are the cases by subject.
var groups = []struct {
	name  string
	tests []test
}{
	{"devices", deviceTests},
	{"memory", memoryTests},
	{"copies", copyTests},
	{"arrays", arrayTests},
	{"textures", textureTests},
	{"streams", streamTests},
	{"events", eventTests},
	{"host", blockingTests},
	{"values", valueTests},
	{"pools", poolTests},
	{"shared pools", sharedPoolTests},
	{"managed", managedTests},
	{"peers", peerTests},
	{"code", codeTests},
	{"language", languageTests},
	{"arithmetic", arithmeticTests},
	{"launch attributes", launchTests},
	{"graphs", graphTests},
	{"sticky", stickyTests},
	{"ipc", ipcTests},
	{"spinning", spinningTests},
}

// childEnv marks the process that a case runs alone in.
const childEnv = "GOCUDA_DRIVERTEST_ALONE"

// Run runs every case as a subtest. open gives the driver, the same for all
// cases; it may skip the test.
func Run(t *testing.T, open func(t *testing.T) driver.Driver) {
	nvtools.Detach() // what runs alone runs without
	d := open(t)
	n, err := d.DeviceCount()
	if err != nil {
		t.Fatal(err)
	}
	ctx := make([]driver.Context, n)
	var once sync.Once
	retain := func() { // not in the parent of a case that runs alone only
		for i := range ctx {
			if ctx[i], err = d.PrimaryRetain(driver.Device(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			for _, c := range g.tests {
				t.Run(c.name, func(t *testing.T) {
					if c.devices > n {
						t.Skipf("needs %d devices, there are %d", c.devices, n)
					}
					if c.alone && os.Getenv(childEnv) == "" {
						inChild(t)
						return
					}
					once.Do(retain)
					e := &env{T: t, d: d, n: n, ctx: ctx, origins: map[driver.Function]*driver.Origin{}}
					e.Cleanup(e.watch()) // after the others: they may hang too
					c.run(e)
				})
			}
		})
	}
}

// watch ends a case that hangs: it opens its gates, and if that does not help
// ends the process, with the stacks.
func (e *env) watch() (stop func()) {
	ended := make(chan struct{})
	go func() {
		select {
		case <-ended:
			return
		case <-time.After(2 * longest):
		}
		e.mu.Lock()
		e.hung = true
		for _, g := range e.gates {
			g.release()
		}
		e.mu.Unlock()
		select {
		case <-ended:
		case <-time.After(2 * longest):
			buf := make([]byte, 1<<20)
			panic(fmt.Sprintf("%s hangs\n%s", e.Name(), buf[:runtime.Stack(buf, true)]))
		}
	}()
	return func() {
		close(ended)
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.hung {
			e.Error("the case hung until its gates were opened for it")
		}
	}
}

// inChild runs the case at hand in a process of its own.
func inChild(t *testing.T) {
	t.Helper()
	var parts []string
	for _, p := range strings.Split(t.Name(), "/") {
		parts = append(parts, "^"+regexp.QuoteMeta(p)+"$")
	}
	cmd := exec.Command(os.Args[0], "-test.run="+strings.Join(parts, "/"), "-test.v")
	cmd.Env = append(os.Environ(), childEnv+"=1")
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil:
		t.Fatalf("alone: %v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP: "+t.Name()):
		t.Skipf("alone:\n%s", out)
	case !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Fatalf("alone: the case did not run\n%s", out)
	}
}

// env is what a case works with. Its helpers end the case on an error that the
// case is not about, and free what they make.
type env struct {
	*testing.T
	d   driver.Driver
	n   int
	ctx []driver.Context

	origins map[driver.Function]*driver.Origin // of the case's kernels

	mu    sync.Mutex
	gates []*gate
	hung  bool
}

// ok ends the case if err is not nil.
func (e *env) ok(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// code checks that err has one of the codes.
func (e *env) code(err error, want ...driver.Code) {
	e.Helper()
	for _, c := range want {
		if errors.Is(err, c) {
			return
		}
	}
	e.Errorf("got %v, want %v", err, want)
}

// stream makes a stream of device dev.
func (e *env) stream(dev int, f driver.StreamFlags) driver.Stream {
	e.Helper()
	s, err := e.d.StreamCreate(e.ctx[dev], f, 0)
	e.ok(err)
	e.Cleanup(func() { _ = e.d.StreamDestroy(e.ctx[dev], s) })
	return s
}

// event makes an event of device dev.
func (e *env) event(dev int, f driver.EventFlags) driver.Event {
	e.Helper()
	ev, err := e.d.EventCreate(e.ctx[dev], f)
	e.ok(err)
	e.Cleanup(func() { _ = e.d.EventDestroy(e.ctx[dev], ev) })
	return ev
}

// alloc allocates device memory, filled with a byte.
func (e *env) alloc(dev int, n uint64, fill byte) driver.Ptr {
	e.Helper()
	p, err := e.d.MemAlloc(e.ctx[dev], n)
	e.ok(err)
	e.Cleanup(func() { _ = e.d.MemFree(e.ctx[dev], p) })
	e.ok(e.d.Memset(e.ctx[dev], p, uint32(fill), 1, n))
	e.ok(e.d.CtxSynchronize(e.ctx[dev], nil))
	return p
}

// pinned allocates pinned host memory, as an address and as a slice.
func (e *env) pinned(n uint64, fill byte) (driver.Ptr, []byte) {
	e.Helper()
	p, err := e.d.HostAlloc(e.ctx[0], n, driver.HostPortable|driver.HostDeviceMap)
	e.ok(err)
	e.Cleanup(func() { _ = e.d.HostFree(e.ctx[0], p) })
	b := unsafe.Slice((*byte)(hostAddress(p)), n)
	for i := range b {
		b[i] = fill
	}
	return p, b
}

// hostAddress is host memory at an address that the driver gave.
func hostAddress(p driver.Ptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// address is a Go slice as a driver takes it. The caller keeps it alive.
func address(b []byte) driver.Ptr {
	p := unsafe.SliceData(b)
	onHeap.Store(p)
	return driver.Ptr(uintptr(unsafe.Pointer(p)))
}

// onHeap makes the compiler put what address is given on the heap: a small
// slice on a stack would move when that grows.
var onHeap atomic.Pointer[byte]

// write copies to the device and waits for it: a copy from pageable memory may
// return before the device has the data ("API synchronization behavior" in CUDA's
// manual), and non-blocking streams do not wait for it.
func (e *env) write(dev int, p driver.Ptr, data []byte) {
	e.Helper()
	e.ok(e.d.Memcpy(e.ctx[dev], p, address(data), uint64(len(data))))
	e.ok(e.d.CtxSynchronize(e.ctx[dev], nil))
}

// read copies device memory to the host, without joining any other stream's
// work: on a non-blocking stream of its own.
func (e *env) read(dev int, p driver.Ptr, n uint64) []byte {
	e.Helper()
	s, err := e.d.StreamCreate(e.ctx[dev], driver.StreamNonBlocking, 0)
	e.ok(err)
	defer e.d.StreamDestroy(e.ctx[dev], s)
	out := make([]byte, n)
	e.ok(e.d.MemcpyAsync(e.ctx[dev], address(out), p, n, s))
	e.ok(e.d.StreamSynchronize(e.ctx[dev], s, nil))
	runtime.KeepAlive(out)
	return out
}

// all checks that every byte of device memory is want.
func (e *env) all(dev int, p driver.Ptr, n uint64, want byte) {
	e.Helper()
	for i, b := range e.read(dev, p, n) {
		if b != want {
			e.Fatalf("byte %d is %#x, want %#x", i, b, want)
		}
	}
}

// before checks that every byte of device memory is still want, while work that
// changes it is queued. On purpose nothing orders the two.
func (e *env) before(dev int, p driver.Ptr, n uint64, want byte) {
	e.Helper()
	defer record.Mean()()
	e.all(dev, p, n, want)
}

// sync waits for a stream.
func (e *env) sync(dev int, s driver.Stream) {
	e.Helper()
	e.ok(e.d.StreamSynchronize(e.ctx[dev], s, nil))
}

// gate holds a stream: what is queued after it does not run before open is
// called. It is opened at the end of the case at the latest.
type gate struct {
	once    sync.Once
	open    chan struct{}
	reached chan struct{}
}

func (g *gate) release() { g.once.Do(func() { close(g.open) }) }

// hold puts a gate into a stream, and waits until the stream stands at it if
// the stream is not held elsewhere.
func (e *env) hold(dev int, s driver.Stream) *gate {
	e.Helper()
	g := &gate{open: make(chan struct{}), reached: make(chan struct{})}
	e.mu.Lock()
	e.gates = append(e.gates, g)
	e.mu.Unlock()
	e.ok(e.d.LaunchHostFunc(e.ctx[dev], s, func() {
		close(g.reached)
		<-g.open
	}))
	e.Cleanup(func() {
		g.release()
		_ = e.d.CtxSynchronize(e.ctx[dev], nil)
	})
	return g
}

// patience is how long a case watches something that must not happen.
const patience = 60 * time.Millisecond

// longest is how long a case waits for something that must happen.
var longest = 10 * time.Second

// pending checks that a stream's work is not done, and stays so.
func (e *env) pending(dev int, s driver.Stream, what string) {
	e.Helper()
	time.Sleep(patience)
	done, err := e.d.StreamQuery(e.ctx[dev], s)
	e.ok(err)
	if done {
		e.Errorf("%s: the stream is done, want pending", what)
	}
}

// done checks that a stream's work gets done without anything else happening.
func (e *env) done(dev int, s driver.Stream, what string) {
	e.Helper()
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		done, err := e.d.StreamQuery(e.ctx[dev], s)
		e.ok(err)
		if done {
			return
		}
		if time.Since(start) > longest {
			e.Fatalf("%s: the stream is not done after %v", what, longest)
		}
	}
}

// blocks checks that f does not return before release is called, and returns
// then.
func (e *env) blocks(what string, release func(), f func() error) {
	e.Helper()
	out := make(chan error, 1)
	go func() { out <- f() }()
	select {
	case err := <-out:
		e.Errorf("%s returned (%v) before the work that it waits for", what, err)
		release()
		return
	case <-time.After(patience):
	}
	release()
	e.ok(<-out)
}

// returns checks that f returns while the work before it is still held.
func (e *env) returns(what string, release func(), f func() error) {
	e.Helper()
	out := make(chan error, 1)
	go func() { out <- f() }()
	select {
	case err := <-out:
		e.ok(err)
	case <-time.After(longest):
		e.Errorf("%s waits for the device", what)
		release()
		e.ok(<-out)
	}
}
