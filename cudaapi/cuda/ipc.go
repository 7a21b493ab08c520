package cuda

import (
	"runtime"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/unused"
)

// IPCMemory is device memory as another process of the same machine can open
// it. It is plain data: send it as it is, or as text.
type IPCMemory struct {
	Handle [64]byte
	Offset uint64 // of the view within the allocation, bytes
	N      int
	Type   Type
}

// IPCHandle describes the buffer, which may be a view, for another process
// (cudaIpcGetMemHandle). The memory must be from Device.Alloc: CUDA has no such
// handles for stream-ordered or managed memory. The buffer must stay allocated
// while others use it; what a handle opens is the whole allocation, so do not
// hand one to a process that you do not trust.
func (b *Buffer) IPCHandle() (IPCMemory, error) {
	c, err := b.context("Buffer.IPCHandle")
	if err != nil {
		return IPCMemory{}, err
	}
	a := b.own.allocation
	if a.kind != deviceMemory {
		return IPCMemory{}, misuse(driver.ErrInvalidValue, "Buffer.IPCHandle", a.dev, "%s memory cannot be opened by other processes; use Device.Alloc", a.kind)
	}
	if a.bytes == 0 {
		return IPCMemory{}, misuse(driver.ErrInvalidValue, "Buffer.IPCHandle", a.dev, "the buffer has no elements")
	}
	h := a.handle.Load()
	if h == nil {
		made, err := a.dev.drv().IPCGetMemHandle(c, a.ptr)
		runtime.KeepAlive(b)
		if err != nil {
			return IPCMemory{}, a.dev.fail(err)
		}
		h = &made
		a.handle.Store(h)
	}
	return IPCMemory{Handle: *h, Offset: uint64(b.ptr - a.ptr), N: b.n, Type: b.typ}, nil
}

// OpenIPC opens another process's memory on d (cudaIpcOpenMemHandle). Free
// closes it. The process that made the handle cannot open it itself. If the
// memory is another device's, d must be able to access that device.
func (d *Device) OpenIPC(h IPCMemory) (*Buffer, error) {
	bytes, err := d.size("Device.OpenIPC", h.N, h.Type)
	if err != nil {
		return nil, err
	}
	c, err := d.context()
	if err != nil {
		return nil, err
	}
	open := func() (driver.Ptr, error) { return d.drv().IPCOpenMemHandle(c, driver.IPCMemHandle(h.Handle)) }
	p, err := open()
	if isCode(err, driver.ErrAlreadyMapped) { // something was freed there that is still open
		unused.Close()
		p, err = d.allocate(open)
	}
	if err != nil {
		return nil, d.fail(err)
	}
	a := &allocation{dev: d, kind: importedMemory, ptr: p, bytes: h.Offset + bytes}
	return &Buffer{own: track(a), ptr: p + driver.Ptr(h.Offset), n: h.N, typ: h.Type}, nil
}

// MarshalText writes the handle as hexadecimal digits.
func (h IPCMemory) MarshalText() ([]byte, error) {
	return marshalHandle(h.Handle, h.Offset, h.N, h.Type), nil
}

// UnmarshalText reads what MarshalText wrote.
func (h *IPCMemory) UnmarshalText(text []byte) (err error) {
	h.Handle, h.Offset, h.N, h.Type, err = unmarshalHandle(text)
	return err
}

// IPCEvent is an event as another process of the same machine can open it.
type IPCEvent [64]byte

// IPCHandle describes the event for another process (cudaIpcGetEventHandle). It
// must have been made with Interprocess and DisableTiming.
func (e *Event) IPCHandle() (IPCEvent, error) {
	c, err := e.use("Event.IPCHandle")
	if err != nil {
		return IPCEvent{}, err
	}
	if e.flags&Interprocess == 0 {
		return IPCEvent{}, misuse(driver.ErrInvalidHandle, "Event.IPCHandle", e.dev, "the event was made without the flags cuda.Interprocess and cuda.DisableTiming")
	}
	h, err := e.dev.drv().IPCGetEventHandle(c, e.h)
	return IPCEvent(h), e.dev.fail(err)
}

// OpenIPCEvent opens another process's event (cudaIpcOpenEventHandle). Destroy
// closes it.
func (d *Device) OpenIPCEvent(h IPCEvent) (*Event, error) {
	c, err := d.context()
	if err != nil {
		return nil, err
	}
	e, err := d.drv().IPCOpenEventHandle(c, driver.IPCEventHandle(h))
	if err != nil {
		return nil, d.fail(err)
	}
	return &Event{dev: d, h: e, flags: Interprocess | DisableTiming, born: d.epoch.Load()}, nil
}
