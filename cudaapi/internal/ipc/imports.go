package ipc

import (
	"errors"
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

type imported struct {
	process      uint64
	dev          *cuda.Device
	handle       [64]byte
	base, extent uint64
	buf          *cuda.Buffer // of bytes
}

// most is how many allocations of others stay open.
const most = 64

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

// View is another process's buffer as device d sees it. It lasts until the
// owner's next allocation at that place was seen, or Close.
func (im *Imports) View(d *cuda.Device, e Export) (*cuda.Buffer, error) {
	im.mu.Lock()
	defer im.mu.Unlock()
	mappings.Lock()
	defer mappings.Unlock()
	if !im.user {
		im.user = true
		mappings.users++
	}
	// The whole of it, so that views of other parts need no other mapping: this one
	// must stay open for whoever copies from it.
	want := &imported{process: e.Process, dev: d, handle: e.Memory.Handle, base: e.Base, extent: e.Whole}
	kept := mappings.memory[:0]
	var found *imported
	for _, m := range mappings.memory {
		same := m.process == want.process && m.dev == d
		switch {
		case same && m.handle == want.handle && m.base == want.base && m.extent == want.extent:
			found = m
			continue
		case same && m.base < want.base+want.extent && want.base < m.base+m.extent,
			len(mappings.memory) >= most && m == mappings.memory[0]:
			if err := release(m); err != nil {
				return nil, err
			}
			continue
		}
		kept = append(kept, m)
	}
	mappings.memory = kept
	if found == nil {
		found = want
		err := Allocating(func() (err error) {
			found.buf, err = d.OpenIPC(cuda.IPCMemory{Handle: want.handle, N: int(want.extent), Type: cuda.Uint8})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	mappings.memory = append(mappings.memory, found)
	end := int(e.Memory.Offset) + e.Memory.N*e.Memory.Type.Size()
	return found.buf.Slice(int(e.Memory.Offset), end).As(e.Memory.Type)
}

func release(m *imported) error { return Allocating(m.buf.Free) }

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
			errs = append(errs, release(m))
		}
		mappings.memory = nil
	}
	return errors.Join(errs...)
}
