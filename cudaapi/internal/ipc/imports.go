package ipc

import (
	"errors"
	"slices"
	"sync"

	"gocuda/cudaapi/cuda"
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

// View is another process's buffer as device d sees it. It may wait for the device.
func (im *Imports) View(d *cuda.Device, e Export) (*View, error) { return im.view(d, e, true) }

// TryView is View for those who must not wait.
func (im *Imports) TryView(d *cuda.Device, e Export) (*View, error) { return im.view(d, e, false) }

func (im *Imports) view(d *cuda.Device, e Export, waits bool) (*View, error) {
	im.mu.Lock()
	defer im.mu.Unlock()
	mappings.Lock()
	defer mappings.Unlock()
	if !im.user {
		im.user = true
		mappings.users++
	}
	// The whole of it, so that views of other parts need no other mapping.
	m, err := open(&imported{process: e.Process, dev: d, handle: e.Memory.Handle, base: e.Base, extent: e.Whole}, waits)
	if err != nil {
		return nil, err
	}
	end := int(e.Memory.Offset) + e.Memory.N*e.Memory.Type.Size()
	b, err := m.buf.Slice(int(e.Memory.Offset), end).As(e.Memory.Type)
	if err != nil {
		return nil, err
	}
	m.views++
	return &View{b, m}, nil
}

// open finds an allocation among the mappings, or opens it. It closes what is stale, and the
// one that was not used for longest if there are too many, unless their device works, for
// which closing waits. In the place of something stale CUDA opens nothing (ALREADY_MAPPED):
// that is closed in any case, or the answer is ErrBusy. Nothing in use is closed.
func open(want *imported, wait bool) (*imported, error) {
	if i := slices.IndexFunc(mappings.memory, want.is); i >= 0 {
		m := mappings.memory[i]
		mappings.memory = append(slices.Delete(mappings.memory, i, i+1), m)
		return m, nil
	}
	working := map[*cuda.Device]bool{}
	busy := func(d *cuda.Device) bool {
		if _, asked := working[d]; !asked {
			working[d] = d.Busy()
		}
		return working[d]
	}
	for _, m := range mappings.memory {
		m.stale = m.stale || m.overlaps(want)
		if !wait && m.overlaps(want) && (m.inUse() || busy(m.dev)) {
			return nil, ErrBusy
		}
	}
	var wrong error
	excess := len(mappings.memory) + 1 - most
	mappings.memory = slices.DeleteFunc(mappings.memory, func(m *imported) bool {
		if wrong != nil || m.inUse() || !m.stale && excess <= 0 {
			return false
		}
		if !m.overlaps(want) && busy(m.dev) && excess <= (mostBusy-1)*most {
			return false
		}
		wrong = m.close() // if it fails, nothing is gained by trying again
		excess--
		return true
	})
	if wrong != nil {
		return nil, wrong
	}
	err := Allocating(func() (err error) {
		want.buf, err = want.dev.OpenIPC(cuda.IPCMemory{Handle: want.handle, N: int(want.extent), Type: cuda.Uint8})
		return err
	})
	if err != nil {
		return nil, err
	}
	mappings.memory = append(mappings.memory, want)
	return want, nil
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
	if mappings.users--; mappings.users == 0 {
		for _, m := range mappings.memory {
			errs = append(errs, m.close())
		}
		mappings.memory = nil
	}
	return errors.Join(errs...)
}
