// Package hazardtest tests the checker of hazards: a driver without devices and
// without time, and small programs of which half lack one wait.
package hazardtest

import (
	"encoding/binary"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"gocuda/cudaapi/driver"
)

// Clockless is a driver that does nothing: no operation takes time, and none has
// an effect. What it is given is in order or not by the calls alone.
type Clockless struct {
	driver.Driver // of what tests do not call there is nothing

	mu       sync.Mutex
	handles  uint64
	blocking map[driver.Stream]bool
	memory   map[driver.Ptr]driver.PointerInfo
	next     driver.Ptr
	hosts    sync.WaitGroup // functions that run
	waiting  []func()       // kernels that have not told what they touched
	captured map[driver.Stream]*tape
	events   map[driver.Event]*tape
	tapes    map[uintptr]*tape
	kernels  map[driver.Function]Kernel

	// Late keeps kernels from telling what they touched until Run.
	Late bool
}

// Kernel tells what a launch of a kernel touches, by its arguments.
type Kernel func(args []byte) []driver.Access

// tape is what a captured stream was given.
type tape struct{ launches []*driver.Launch }

// NewClockless is a machine with two devices.
func NewClockless() *Clockless {
	return &Clockless{handles: 0x100, next: 1 << 32, blocking: map[driver.Stream]bool{}, memory: map[driver.Ptr]driver.PointerInfo{},
		captured: map[driver.Stream]*tape{}, events: map[driver.Event]*tape{}, tapes: map[uintptr]*tape{}, kernels: map[driver.Function]Kernel{}}
}

func (d *Clockless) handle() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.handles++
	return d.handles
}

// Run has all kernels tell what they touched.
func (d *Clockless) Run() {
	d.hosts.Wait()
	d.mu.Lock()
	list := d.waiting
	d.waiting = nil
	d.mu.Unlock()
	for _, f := range list {
		f()
	}
}

func (d *Clockless) ObservesKernels() bool                      { return true }
func (d *Clockless) Name() string                               { return "clockless" }
func (d *Clockless) Version() (int, error)                      { return 12080, nil }
func (d *Clockless) DeviceCount() (int, error)                  { return 2, nil }
func (d *Clockless) DeviceName(v driver.Device) (string, error) { return "none", nil }
func (d *Clockless) DeviceAttribute(a driver.Attribute, v driver.Device) (int, error) {
	if a == driver.ComputeCapabilityMajor {
		return 9, nil
	}
	return 0, nil
}
func (d *Clockless) CanAccessPeer(v, peer driver.Device) (bool, error) { return true, nil }
func (d *Clockless) PrimaryRetain(v driver.Device) (driver.Context, error) {
	return driver.Context(v + 1), nil
}
func (d *Clockless) PrimaryRelease(driver.Device) error                    { return nil }
func (d *Clockless) PrimaryReset(driver.Device) error                      { return nil }
func (d *Clockless) EnablePeerAccess(driver.Context, driver.Context) error { return nil }
func (d *Clockless) CtxSynchronize(driver.Context, <-chan struct{}) error  { d.Run(); return nil }

func (d *Clockless) alloc(c driver.Context, n uint64, t driver.MemoryType) (driver.Ptr, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.next
	d.next += driver.Ptr(n+4095)&^4095 + 4096
	d.memory[p] = driver.PointerInfo{Type: t, Device: driver.Device(c - 1), Ctx: c, Base: p, Size: n}
	return p, nil
}

func (d *Clockless) MemAlloc(c driver.Context, n uint64) (driver.Ptr, error) {
	return d.alloc(c, n, driver.MemoryDevice)
}
func (d *Clockless) MemAllocManaged(c driver.Context, n uint64) (driver.Ptr, error) {
	return d.alloc(c, n, driver.MemoryManaged)
}
func (d *Clockless) MemAllocAsync(c driver.Context, n uint64, s driver.Stream) (driver.Ptr, error) {
	return d.alloc(c, n, driver.MemoryDevice)
}
func (d *Clockless) MemFree(c driver.Context, p driver.Ptr) error { return d.free(p) }
func (d *Clockless) MemFreeAsync(c driver.Context, p driver.Ptr, s driver.Stream) error {
	return d.free(p)
}
func (d *Clockless) free(p driver.Ptr) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.memory, p)
	return nil
}

// HostAlloc gives memory that is there, for programs look at it.
func (d *Clockless) HostAlloc(c driver.Context, n uint64, f driver.HostAllocFlags) (driver.Ptr, error) {
	mem := make([]uint64, (n+7)/8+1)
	p := driver.Ptr(uintptr(unsafe.Pointer(&mem[0])))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waitFor(mem)
	d.memory[p] = driver.PointerInfo{Type: driver.MemoryHost, Ctx: c, Base: p, Size: n}
	return p, nil
}

// kept keeps pinned memory alive as long as the process.
var kept [][]uint64

func (d *Clockless) waitFor(mem []uint64) { kept = append(kept, mem) }

func (d *Clockless) HostFree(c driver.Context, p driver.Ptr) error { return d.free(p) }
func (d *Clockless) HostRegister(c driver.Context, p driver.Ptr, n uint64, f driver.HostAllocFlags) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.memory[p] = driver.PointerInfo{Type: driver.MemoryHost, Ctx: c, Base: p, Size: n}
	return nil
}
func (d *Clockless) HostUnregister(c driver.Context, p driver.Ptr) error { return d.free(p) }
func (d *Clockless) PointerAttributes(c driver.Context, p driver.Ptr) (driver.PointerInfo, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range d.memory {
		if p >= m.Base && p < m.Base+driver.Ptr(m.Size) {
			return m, nil
		}
	}
	return driver.PointerInfo{}, nil
}
func (d *Clockless) MemPrefetchAsync(driver.Context, driver.Ptr, uint64, driver.Device, driver.Stream) error {
	return nil
}
func (d *Clockless) Memcpy(driver.Context, driver.Ptr, driver.Ptr, uint64) error { return nil }
func (d *Clockless) MemcpyAsync(driver.Context, driver.Ptr, driver.Ptr, uint64, driver.Stream) error {
	return nil
}
func (d *Clockless) MemcpyPeer(driver.Ptr, driver.Context, driver.Ptr, driver.Context, uint64) error {
	return nil
}
func (d *Clockless) MemcpyPeerAsync(driver.Ptr, driver.Context, driver.Ptr, driver.Context, uint64, driver.Stream) error {
	return nil
}
func (d *Clockless) Memcpy2D(driver.Context, *driver.Copy2D) error                     { return nil }
func (d *Clockless) Memcpy2DAsync(driver.Context, *driver.Copy2D, driver.Stream) error { return nil }
func (d *Clockless) Memset(driver.Context, driver.Ptr, uint32, int, uint64) error      { return nil }
func (d *Clockless) MemsetAsync(driver.Context, driver.Ptr, uint32, int, uint64, driver.Stream) error {
	return nil
}
func (d *Clockless) Memset2DAsync(driver.Context, driver.Ptr, uint64, uint32, int, uint64, uint64, driver.Stream) error {
	return nil
}
func (d *Clockless) StreamCreate(c driver.Context, f driver.StreamFlags, priority int) (driver.Stream, error) {
	s := driver.Stream(d.handle())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.blocking[s] = f == driver.StreamBlocking
	return s, nil
}
func (d *Clockless) StreamGetFlags(c driver.Context, s driver.Stream) (driver.StreamFlags, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.blocking[s] {
		return driver.StreamBlocking, nil
	}
	return driver.StreamNonBlocking, nil
}
func (d *Clockless) StreamPriorityRange(driver.Context) (int, int, error) { return 0, -5, nil }
func (d *Clockless) StreamDestroy(driver.Context, driver.Stream) error    { return nil }
func (d *Clockless) StreamQuery(driver.Context, driver.Stream) (bool, error) {
	d.Run()
	return true, nil
}
func (d *Clockless) StreamSynchronize(driver.Context, driver.Stream, <-chan struct{}) error {
	d.Run()
	return nil
}
func (d *Clockless) StreamWaitEvent(c driver.Context, s driver.Stream, e driver.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.events[e]; t != nil {
		d.captured[s] = t
	}
	return nil
}
func (d *Clockless) LaunchHostFunc(c driver.Context, s driver.Stream, f func()) error {
	d.hosts.Add(1)
	go func() {
		defer d.hosts.Done()
		f()
	}()
	return nil
}
func (d *Clockless) StreamWaitValue32(driver.Context, driver.Stream, driver.Ptr, uint32, driver.WaitFlags) error {
	return nil
}
func (d *Clockless) StreamWaitValue64(driver.Context, driver.Stream, driver.Ptr, uint64, driver.WaitFlags) error {
	return nil
}
func (d *Clockless) StreamWriteValue32(driver.Context, driver.Stream, driver.Ptr, uint32) error {
	return nil
}
func (d *Clockless) StreamWriteValue64(driver.Context, driver.Stream, driver.Ptr, uint64) error {
	return nil
}
func (d *Clockless) StreamBatchMemOp(driver.Context, driver.Stream, []driver.MemOp) error { return nil }
func (d *Clockless) EventCreate(driver.Context, driver.EventFlags) (driver.Event, error) {
	return driver.Event(d.handle()), nil
}
func (d *Clockless) EventDestroy(driver.Context, driver.Event) error { return nil }
func (d *Clockless) EventRecord(c driver.Context, e driver.Event, s driver.Stream) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events[e] = d.captured[s]
	return nil
}
func (d *Clockless) EventQuery(driver.Context, driver.Event) (bool, error) { d.Run(); return true, nil }
func (d *Clockless) EventSynchronize(driver.Context, driver.Event, <-chan struct{}) error {
	d.Run()
	return nil
}
func (d *Clockless) EventElapsed(c driver.Context, start, end driver.Event) (time.Duration, error) {
	return time.Microsecond, nil
}

// Kernels by their names: what they touch. All take a destination, a source, and
// the first and the last element that they touch, of four bytes each.
var clocklessKernels = map[string]Kernel{
	"fill": func(a []byte) []driver.Access { return []driver.Access{touched(a, 0, driver.AccessWrite)} },
	"copy": func(a []byte) []driver.Access {
		return []driver.Access{touched(a, 0, driver.AccessWrite), touched(a, 8, driver.AccessRead)}
	},
	"add": func(a []byte) []driver.Access {
		return []driver.Access{touched(a, 0, driver.AccessRead), touched(a, 0, driver.AccessWrite), touched(a, 8, driver.AccessRead)}
	},
	"count": func(a []byte) []driver.Access { return []driver.Access{touched(a, 0, driver.AccessAtomic)} },
	"bytes": func(a []byte) (list []driver.Access) {
		all := touched(a, 0, driver.AccessWrite)
		at := all.Lo - 3*driver.Ptr(binary.LittleEndian.Uint32(a[16:])) // of byte lo
		for hi := all.Hi - 3*driver.Ptr(binary.LittleEndian.Uint32(a[20:])); at < hi; at += 2 {
			list = append(list, driver.Access{Lo: at, Hi: at + 1, Mode: driver.AccessWrite})
		}
		return list
	},
	"look": func(a []byte) []driver.Access { return []driver.Access{touched(a, 8, driver.AccessRead)} },
}

func touched(args []byte, offset int, m driver.AccessMode) driver.Access {
	p := driver.Ptr(binary.LittleEndian.Uint64(args[offset:]))
	lo, hi := binary.LittleEndian.Uint32(args[16:]), binary.LittleEndian.Uint32(args[20:])
	return driver.Access{Lo: p + driver.Ptr(lo)*4, Hi: p + driver.Ptr(hi)*4, Mode: m}
}

func (d *Clockless) Compile(v driver.Device, src *driver.Source) (*driver.Compiled, error) {
	lowered := map[string]string{}
	for name := range clocklessKernels {
		lowered[name] = name
	}
	return &driver.Compiled{Image: []byte("none"), Lowered: lowered}, nil
}
func (d *Clockless) ModuleLoad(driver.Context, []byte) (driver.Module, error) {
	return driver.Module(d.handle()), nil
}
func (d *Clockless) ModuleUnload(driver.Context, driver.Module) error { return nil }
func (d *Clockless) ModuleFunction(c driver.Context, m driver.Module, symbol string) (driver.Function, error) {
	k := clocklessKernels[symbol]
	if k == nil {
		return 0, fmt.Errorf("no kernel %s", symbol)
	}
	return d.Define(k), nil
}

// Define makes a kernel.
func (d *Clockless) Define(k Kernel) driver.Function {
	f := driver.Function(d.handle())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kernels[f] = k
	return f
}
func (d *Clockless) FunctionParams(driver.Context, driver.Function) ([]driver.Param, error) {
	return nil, &driver.Error{Code: driver.ErrNotSupported, Call: "cuFuncGetParamInfo"}
}
func (d *Clockless) FunctionAttribute(driver.Context, driver.Function, driver.FunctionAttribute) (int, error) {
	return 0, nil
}
func (d *Clockless) Launch(c driver.Context, l *driver.Launch) error {
	mine := *l
	mine.Params = append([]byte(nil), l.Params...)
	d.mu.Lock()
	if t := d.captured[l.Stream]; t != nil {
		t.launches = append(t.launches, &mine)
		d.mu.Unlock()
		return nil
	}
	d.mu.Unlock()
	d.start(&mine)
	return nil
}

func (d *Clockless) start(l *driver.Launch) {
	d.mu.Lock()
	list := d.kernels[l.Function](l.Params)
	if l.Observe == nil {
		d.mu.Unlock()
		return
	}
	if d.Late {
		d.waiting = append(d.waiting, func() { l.Observe(list) })
		d.mu.Unlock()
		return
	}
	d.mu.Unlock()
	l.Observe(list)
}

func (d *Clockless) StreamBeginCapture(c driver.Context, s driver.Stream) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.captured[s] = &tape{}
	return nil
}
func (d *Clockless) StreamEndCapture(c driver.Context, s driver.Stream) (driver.Graph, error) {
	h := d.handle()
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.captured[s]
	d.tapes[uintptr(h)] = t
	for s, x := range d.captured {
		if x == t {
			delete(d.captured, s)
		}
	}
	for e, x := range d.events {
		if x == t {
			delete(d.events, e)
		}
	}
	return driver.Graph(h), nil
}
func (d *Clockless) StreamIsCapturing(c driver.Context, s driver.Stream) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.captured[s] != nil, nil
}
func (d *Clockless) GraphNodes(driver.Context, driver.Graph) ([]driver.NodeType, error) {
	return nil, nil
}
func (d *Clockless) GraphDot(driver.Context, driver.Graph) (string, error) { return "", nil }
func (d *Clockless) GraphDestroy(driver.Context, driver.Graph) error       { return nil }
func (d *Clockless) GraphInstantiate(c driver.Context, g driver.Graph) (driver.GraphExec, error) {
	h := d.handle()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tapes[uintptr(h)] = d.tapes[uintptr(g)]
	return driver.GraphExec(h), nil
}
func (d *Clockless) GraphExecUpdate(c driver.Context, x driver.GraphExec, g driver.Graph) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tapes[uintptr(x)] = d.tapes[uintptr(g)]
	return nil
}
func (d *Clockless) GraphLaunch(c driver.Context, x driver.GraphExec, s driver.Stream) error {
	d.mu.Lock()
	t := d.tapes[uintptr(x)]
	d.mu.Unlock()
	for _, l := range t.launches {
		d.start(l)
	}
	return nil
}
func (d *Clockless) GraphExecDestroy(driver.Context, driver.GraphExec) error { return nil }

// DefaultMemPool gives a pool that every device may use.
func (*Clockless) DefaultMemPool(v driver.Device) (driver.MemPool, error) {
	return driver.MemPool(v + 1), nil
}

func (*Clockless) MemPoolSetAccess(driver.MemPool, driver.Device, bool) error { return nil }
