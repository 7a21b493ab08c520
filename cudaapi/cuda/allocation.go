package cuda

import (
	"errors"
	"runtime"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"weak"

	"gocuda/cudaapi/driver"
)

// kind says how memory came about, and so how it is freed.
type kind uint8

const (
	deviceMemory kind = iota
	asyncMemory
	managedMemory
	pinnedMemory
	pageableMemory
	registeredMemory
	importedMemory // opened from another process
	borrowedMemory // a module's global: never freed
	arrayMemory    // of an Array; ptr is its handle
	textureObject  // no memory; ptr is the object
	surfaceObject
)

func (k kind) String() string {
	return [...]string{"device", "stream-ordered", "managed", "pinned host", "pageable host", "registered host", "imported", "module", "array", "texture", "surface"}[k]
}

// allocation is memory that views share.
type allocation struct {
	dev   *Device
	kind  kind
	ptr   driver.Ptr
	bytes uint64
	// generation counts frees, for the record of stream-ordered memory serves more
	// than one allocation. A buffer has the number that was its memory's when it was
	// made.
	generation atomic.Uint32
	busy       bool   // of a record in a ledger: it serves one now
	born       uint32 // the device's epoch
	site       *site  // who allocated it; nil if not traced
	ours       bool   // a module's: nobody else can free it
	// A Go slice or pointer of the memory was handed out, which the collector does
	// not follow to here: only Free frees it.
	raw  atomic.Bool
	host any // keeps pageable memory from the collector
	// What buffers and views hold: nil once none is reachable. Of memory in live.
	views weak.Pointer[owner]
	// Of stream-ordered memory: the devices that may access its pool, a bit each.
	access *deviceSet
	// What other processes open device memory by, once it was asked for.
	handle atomic.Pointer[driver.IPCMemHandle]
	// Its place in live, unless it is stream-ordered.
	prev, next *allocation
}

// freed reports whether the memory that a buffer was made of was freed.
func (a *allocation) freed(generation uint32) bool { return a.generation.Load() != generation }

// end marks memory that is not stream-ordered as freed; false if it was freed
// before.
func (a *allocation) end() bool { return a.generation.CompareAndSwap(0, 1) }

// owner is what buffers and views of an allocation hold: the collector takes it
// with the last of them. (The allocation itself stays in live.)
type owner struct{ *allocation }

// live lists the memory that is not freed; of stream-ordered memory the ledgers,
// for as long as their devices are in use.
var live struct {
	sync.Mutex
	head    *allocation
	ledgers []weak.Pointer[ledger]
}

// all calls f for each allocation that is not freed.
func all(f func(*allocation)) {
	live.Lock()
	ledgers := slices.Clone(live.ledgers)
	for a := live.head; a != nil; a = a.next {
		f(a)
	}
	live.Unlock()
	for _, p := range ledgers {
		if l := p.Value(); l != nil {
			l.each(f)
		}
	}
}

// track lists an allocation and has it collected with its last view.
func track(a *allocation) *owner {
	a.site = here()
	o := &owner{a}
	a.views = weak.Make(o)
	a.list()
	runtime.AddCleanup(o, collect, a)
	return o
}

func (a *allocation) list() {
	a.born = a.dev.epoch.Load()
	live.Lock()
	a.next = live.head
	if a.next != nil {
		a.next.prev = a
	}
	live.head = a
	live.Unlock()
}

// take marks an allocation that is not stream-ordered as freed; false if it was
// freed before.
func (a *allocation) take() bool {
	if !a.end() {
		return false
	}
	live.Lock()
	a.unlink()
	live.Unlock()
	return true
}

func (a *allocation) unlink() {
	if a.prev != nil {
		a.prev.next = a.next
	} else if live.head == a {
		live.head = a.next
	}
	if a.next != nil {
		a.next.prev = a.prev
	}
	a.prev, a.next = nil, nil
}

// forget drops all of a device's memory, which a reset has freed.
func forget(d *Device) {
	live.Lock()
	for a := live.head; a != nil; {
		next := a.next
		if a.dev == d && a.end() {
			a.unlink()
		}
		a = next
	}
	live.Unlock()
	d.ordered.clear()
	d.gone.drain()
}

// Leak is memory that was allocated and not freed.
type Leak struct {
	Device  int    // ordinal
	Kind    string // "device", "pinned host", ...
	Address uintptr
	Bytes   uint64
	Where   string // the function, file and line that allocated it, or the cell's line; see TraceLeaks
}

// Leaks lists the memory that is allocated and not freed, largest first, with
// where each piece was allocated. Pageable memory is not listed: it is the
// collector's, as any Go slice. Nor is what modules, and packages mpi and collective,
// keep for themselves.
func Leaks() []Leak {
	var out []Leak
	all(func(a *allocation) {
		if where := a.site.String(); !a.ours && !a.object() && !kept(where) {
			out = append(out, Leak{Device: int(a.dev.id), Kind: a.kind.String(), Address: uintptr(a.ptr), Bytes: a.bytes, Where: where})
		}
	})
	sort.SliceStable(out, func(i, j int) bool { return out[i].Bytes > out[j].Bytes })
	return out
}

// garbage is memory whose last Buffer the collector took. It may still be in
// use by queued work, so it is freed later, by reclaim. So is Go memory of graphs.
type garbage struct {
	mu    sync.Mutex
	list  []*allocation
	host  []any
	bytes uint64 // of list
	any   atomic.Bool
}

// What may wait for a moment when nothing is queued: beyond that, the next allocation
// waits for it.
const (
	mostGarbage = 1 << 28 // bytes
	mostPieces  = 1 << 12
)

func (g *garbage) add(list ...*allocation) {
	g.mu.Lock()
	g.list = append(g.list, list...)
	for _, a := range list {
		g.bytes += a.bytes
	}
	g.any.Store(true)
	g.mu.Unlock()
}

func (g *garbage) keep(host []any) {
	g.mu.Lock()
	g.host = append(g.host, host...)
	g.any.Store(true)
	g.mu.Unlock()
}

func (g *garbage) drain() (list []*allocation, host []any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	list, host = g.list, g.host
	g.list, g.host, g.bytes = nil, nil, 0
	g.any.Store(false)
	return list, host
}

// full reports whether there is too much to wait for a better moment.
func (g *garbage) full() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.bytes > mostGarbage || len(g.list)+len(g.host) > mostPieces
}

// collect hands an allocation whose object is unreachable to its device.
func collect(a *allocation) {
	if !a.freed(0) && !a.raw.Load() {
		a.dev.gone.add(a)
	}
}

// reclaim frees what the collector found, once all work that may use it is
// done: on every device, since peers may read it. While a stream is busy, which may be
// held for as long as the program likes, it leaves that for later, unless there is much
// or wait says that memory is short: to free memory waits for the device. It drains
// before it waits: work of what is dropped meanwhile may have been queued meanwhile, too.
// While a stream is captured it does nothing, for a wait would spoil the capture.
func (d *Device) reclaim(wait bool) error {
	captures := &d.sys.captures
	if !d.gone.any.Load() || captures.active.Load() > 0 {
		return nil
	}
	list, err := d.settledGarbage(wait)
	if err != nil {
		return err
	}
	var errs []error
	for _, a := range list {
		if a.take() {
			errs = append(errs, a.release(d.sys.drv))
		}
	}
	return errors.Join(errs...)
}

// settledGarbage takes what may be freed. No capture begins meanwhile.
func (d *Device) settledGarbage(wait bool) ([]*allocation, error) {
	if err := d.sys.captures.enter(); err != nil {
		return nil, err
	}
	defer d.sys.captures.leave()
	if d.sys.captures.active.Load() > 0 {
		return nil, nil
	}
	if !wait && !d.gone.full() && slices.ContainsFunc(d.sys.devices, (*Device).Busy) {
		return nil, nil
	}
	list, host := d.gone.drain()
	for _, other := range d.sys.devices {
		if other.ctx.Load() == 0 {
			continue
		}
		if err := other.quiet(); err != nil {
			d.gone.add(list...)
			d.gone.keep(host)
			return nil, err
		}
	}
	runtime.KeepAlive(host)
	return list, nil
}

// allocate asks for memory by f, and once more where it is short, or where something else is
// open, when what no Buffer refers to has been freed: on all devices, since the host's memory
// may be what is short.
func (d *Device) allocate(f func() (driver.Ptr, error)) (driver.Ptr, error) {
	p, err := f()
	if !isCode(err, driver.ErrOutOfMemory) && !isCode(err, driver.ErrAlreadyMapped) {
		return p, err
	}
	runtime.GC()
	unreachable()
	for _, other := range d.sys.devices {
		if err := other.reclaim(true); err != nil {
			return 0, err
		}
	}
	return f()
}

// unreachable hands to their devices the allocations to which the collector found
// no Buffer any more. It reports that by cleanups too, but those run when they
// come to it.
func unreachable() {
	live.Lock()
	defer live.Unlock()
	for a := live.head; a != nil; a = a.next {
		if a.views.Value() == nil && !a.raw.Load() {
			a.dev.gone.add(a)
		}
	}
}

// object reports whether this is a texture or surface, which has no memory of its own.
func (a *allocation) object() bool { return a.kind == textureObject || a.kind == surfaceObject }

// release gives memory that is not stream-ordered back to the driver.
func (a *allocation) release(drv driver.Driver) error {
	if a.bytes == 0 && !a.object() {
		return nil
	}
	if a.born != a.dev.epoch.Load() && a.kind != registeredMemory {
		return nil // a reset of the device freed it
	}
	c, err := a.dev.context()
	if err != nil {
		return err
	}
	switch a.kind {
	case pinnedMemory:
		err = drv.HostFree(c, a.ptr)
	case registeredMemory:
		err = drv.HostUnregister(c, a.ptr)
	case importedMemory:
		err = drv.IPCCloseMemHandle(c, a.ptr)
	case pageableMemory:
		a.host = nil // the collector's
	case arrayMemory:
		err = drv.ArrayDestroy(c, driver.Array(a.ptr))
	case textureObject:
		err = drv.TexObjectDestroy(c, driver.TexObject(a.ptr))
	case surfaceObject:
		err = drv.SurfObjectDestroy(c, driver.SurfObject(a.ptr))
	default:
		err = drv.MemFree(c, a.ptr)
	}
	return a.dev.fail(err)
}
