//go:build linux && (amd64 || arm64)

package nvidia

import (
	"runtime"
	"unsafe"

	"gocuda/cudaapi/driver"
)

func (d *Driver) IPCGetMemHandle(c driver.Context, p driver.Ptr) (driver.IPCMemHandle, error) {
	h := new(driver.IPCMemHandle)
	err := d.in(c, cuIpcGetMemHandle, pin(h), uintptr(p))
	return *h, err
}

func (d *Driver) IPCOpenMemHandle(c driver.Context, h driver.IPCMemHandle) (driver.Ptr, error) {
	const lazyEnablePeerAccess = 1
	p, err := d.openIPC(c, cuIpcOpenMemHandle, h, lazyEnablePeerAccess)
	return driver.Ptr(p), err
}

func (d *Driver) IPCCloseMemHandle(c driver.Context, p driver.Ptr) error {
	return d.in(c, cuIpcCloseMemHandle, uintptr(p))
}

func (d *Driver) IPCGetEventHandle(c driver.Context, e driver.Event) (driver.IPCEventHandle, error) {
	h := new(driver.IPCEventHandle)
	err := d.in(c, cuIpcGetEventHandle, pin(h), uintptr(e))
	return *h, err
}

func (d *Driver) IPCOpenEventHandle(c driver.Context, h driver.IPCEventHandle) (driver.Event, error) {
	e, err := d.openIPC(c, cuIpcOpenEventHandle, h, 0)
	if err == nil {
		d.shareable.add(driver.Event(e), c)
	}
	return driver.Event(e), err
}

// openIPC calls a function that takes a 64-byte handle by value. On amd64 such
// a structure goes on the stack, after the six argument registers; on arm64 the
// caller passes the address of a copy.
func (d *Driver) openIPC(c driver.Context, s symbol, h [64]byte, flags uintptr) (uint64, error) {
	o := getScratch()
	defer putScratch(o)
	var err error
	if runtime.GOARCH == "amd64" {
		w := *(*[8]uintptr)(unsafe.Pointer(&h))
		err = d.in(c, s, o.ptr(), flags, 0, 0, 0, 0, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7])
	} else {
		*(*[64]byte)(unsafe.Pointer(&o.word[8])) = h
		err = d.in(c, s, o.ptr(), o.at(8), flags)
	}
	return o.word[0], err
}
