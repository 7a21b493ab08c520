package ipc

import (
	"errors"
	"slices"
	"sync"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/unused"
)

// mappings are the memory of other processes that this one has opened, whoever
// asked for it: CUDA may refuse to open what lies where something stale is still
// open. Each allocation is open once for a device, until its owner has put
// another in its place.
var mappings struct {
	sync.Mutex
	users  int
	memory []*imported // the latest used last
}

// imported is an allocation that is open. While it has views it is not closed: work
// that is queued, or a kernel that has its address, may use it.
type imported struct {
	process      uint64
	dev          *cuda.Device
	handle       [64]byte
	base, extent uint64
	buf          *cuda.Buffer // of bytes
	views        int
	later        []func() (bool, error) // those that end when this says so
	stale        bool                   // its owner has put another in its place
}

func init() { unused.Register(closeUnused) }

// closeUnused closes what has no views, unless its device works or somebody holds the lock.
func closeUnused() {
	if !mappings.TryLock() {
		return
	}
	defer mappings.Unlock()
	mappings.memory = slices.DeleteFunc(mappings.memory, func(m *imported) bool {
		return !m.inUse() && !m.dev.Busy() && m.close() == nil
	})
}

func (m *imported) close() error { return Allocating(m.buf.Free) }

// inUse reports whether there are views.
func (m *imported) inUse() bool {
	m.later = slices.DeleteFunc(m.later, func(over func() (bool, error)) bool {
		done, err := over()
		if done || err != nil { // of a stream that is gone, for instance
			m.views--
			return true
		}
		return false
	})
	return m.views > 0
}

func (m *imported) overlaps(o *imported) bool {
	return m.process == o.process && m.dev == o.dev && m.base < o.base+o.extent && o.base < m.base+m.extent
}

func (m *imported) is(o *imported) bool {
	return !m.stale && m.process == o.process && m.dev == o.dev && m.handle == o.handle && m.base == o.base && m.extent == o.extent
}

// mostLater is from how many views that end later on each further one has all of them
// asked.
const mostLater = 16

// most is how many allocations of others stay open that nobody uses.
var most = 64

// mostBusy is how many times as many stay open while their device works: to close one
// would wait for it.
const mostBusy = 8

// patience is how often a device is waited for, without the lock of the mappings, before
// something is closed though it has new work.
const patience = 8

// View is another process's buffer. It must be released.
type View struct {
	*cuda.Buffer
	m *imported
}

// Release ends the view: nothing uses the memory any more.
func (v *View) Release() {
	mappings.Lock()
	v.m.views--
	mappings.Unlock()
}

// ReleaseWhen ends the view when over says so, which is asked now and then.
func (v *View) ReleaseWhen(over func() (bool, error)) {
	mappings.Lock()
	v.m.later = append(v.m.later, over)
	if len(v.m.later) > mostLater {
		v.m.inUse()
	}
	mappings.Unlock()
}

// Imports are what one user has opened of other processes. The memory is shared
// with the process's other users, and closed with the last of them.
type Imports struct {
	mu     sync.Mutex
	user   bool // of mappings
	events map[eventKey]*cuda.Event
}

type eventKey struct {
	dev    *cuda.Device
	handle cuda.IPCEvent
}

// ErrBusy is what TryView fails with where View would wait: for the device, or for a view of
// memory that was in the same place before.
var ErrBusy = errors.New("the device still works with memory that was in this place before")

// View is another process's buffer as device d sees it. What lies where it is to be opened
// is closed before, so View may wait for the device, and for views of that. Those end
// without the caller: their memory is freed, so the messages and collectives that they are
// for are over for its owner, and this process only has to carry out what is queued. View
// holds no lock of this package meanwhile.
func (im *Imports) View(d *cuda.Device, e Export) (*View, error) {
	for n := 0; ; n++ {
		v, busy, err := im.view(d, e, n >= patience)
		if busy == nil {
			return v, err
		}
		if err := busy.Synchronize(); err != nil {
			return nil, err
		}
		if n > 0 { // whose view it is has to see that the device is done
			time.Sleep(100 * time.Microsecond)
		}
	}
}

// TryView is View for those who must not wait.
func (im *Imports) TryView(d *cuda.Device, e Export) (*View, error) {
	v, busy, err := im.view(d, e, false)
	if busy != nil {
		return nil, ErrBusy
	}
	return v, err
}

// view gives the buffer, or says for which device to wait before.
func (im *Imports) view(d *cuda.Device, e Export, impatient bool) (*View, *cuda.Device, error) {
	im.mu.Lock()
	defer im.mu.Unlock()
	mappings.Lock()
	defer mappings.Unlock()
	if !im.user {
		im.user = true
		mappings.users++
	}
	// The whole of it, so that views of other parts need no other mapping.
	m, busy, err := open(&imported{process: e.Process, dev: d, handle: e.Memory.Handle, base: e.Base, extent: e.Whole}, impatient)
	if busy != nil || err != nil {
		return nil, busy, err
	}
	end := int(e.Memory.Offset) + e.Memory.N*e.Memory.Type.Size()
	b, err := m.buf.Slice(int(e.Memory.Offset), end).As(e.Memory.Type)
	if err != nil {
		return nil, nil, err
	}
	m.views++
	return &View{b, m}, nil, nil
}

// open finds an allocation among the mappings, or opens it. It closes what is stale, and the
// one that was not used for longest if there are too many, unless their device works: closing
// would wait for it, and keep the mappings from everybody meanwhile. What must be closed is
// what lies in the way, for CUDA opens nothing there (ALREADY_MAPPED), or is far too much. If
// that cannot be yet, open says for which device to wait; if impatient, it closes it though
// the device works. Nothing in use is closed.
func open(want *imported, impatient bool) (*imported, *cuda.Device, error) {
	if i := slices.IndexFunc(mappings.memory, want.is); i >= 0 {
		m := mappings.memory[i]
		mappings.memory = append(slices.Delete(mappings.memory, i, i+1), m)
		return m, nil, nil
	}
	working := map[*cuda.Device]bool{}
	busy := func(d *cuda.Device) bool {
		if _, asked := working[d]; !asked {
			working[d] = d.Busy()
		}
		return working[d]
	}
	excess := len(mappings.memory) + 1 - most
	farTooMany := func() bool { return excess > (mostBusy-1)*most }
	for _, m := range mappings.memory {
		inWay := m.overlaps(want)
		m.stale = m.stale || inWay
		if inWay && m.inUse() || !impatient && (inWay || farTooMany() && !m.inUse()) && busy(m.dev) {
			return nil, m.dev, nil
		}
	}
	var wrong error
	mappings.memory = slices.DeleteFunc(mappings.memory, func(m *imported) bool {
		if wrong != nil || m.inUse() || !m.stale && excess <= 0 {
			return false
		}
		if !m.overlaps(want) && !farTooMany() && busy(m.dev) {
			return false
		}
		wrong = m.close() // if it fails, nothing is gained by trying again
		excess--
		return true
	})
	if wrong != nil {
		return nil, nil, wrong
	}
	err := Allocating(func() (err error) {
		want.buf, err = want.dev.OpenIPC(cuda.IPCMemory{Handle: want.handle, N: int(want.extent), Type: cuda.Uint8})
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	mappings.memory = append(mappings.memory, want)
	return want, nil, nil
}

// Event is another process's event, opened once for a device.
func (im *Imports) Event(d *cuda.Device, h cuda.IPCEvent) (*cuda.Event, error) {
	im.mu.Lock()
	defer im.mu.Unlock()
	k := eventKey{d, h}
	if e := im.events[k]; e != nil {
		return e, nil
	}
	e, err := d.OpenIPCEvent(h)
	if err != nil {
		return nil, err
	}
	if im.events == nil {
		im.events = map[eventKey]*cuda.Event{}
	}
	im.events[k] = e
	return e, nil
}

// Close closes the events, and the memory if nobody else uses any. It waits for
// the devices.
func (im *Imports) Close() error {
	im.mu.Lock()
	defer im.mu.Unlock()
	var errs []error
	for _, e := range im.events {
		errs = append(errs, e.Destroy())
	}
	im.events = nil
	if !im.user {
		return errors.Join(errs...)
	}
	im.user = false
	mappings.Lock()
	defer mappings.Unlock()
	mappings.users--
	for n := 0; n < patience && mappings.users == 0; n++ {
		i := slices.IndexFunc(mappings.memory, func(m *imported) bool { return m.dev.Busy() })
		if i < 0 {
			break
		}
		d := mappings.memory[i].dev
		mappings.Unlock() // others' messages need them meanwhile
		errs = append(errs, d.Synchronize())
		mappings.Lock()
	}
	if mappings.users == 0 {
		for _, m := range mappings.memory {
			errs = append(errs, m.close())
		}
		mappings.memory = nil
	}
	return errors.Join(errs...)
}
