//go:build linux && (amd64 || arm64)

package nvidia

import (
	"runtime"
	"structs"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/clib"
)

func (d *Driver) MemAllocAsync(c driver.Context, n uint64, s driver.Stream) (driver.Ptr, error) {
	if a := d.unbound[cuMemAllocAsync].Load(); a != 0 && s > driver.StreamPerThread {
		f := clib.Frame{Fn: a, Args: [11]uintptr{0, uintptr(n), uintptr(s)}}
		if code, p := f.Out(); code == 0 {
			return driver.Ptr(p), nil
		}
		// What is wrong the other way tells.
	}
	o := getScratch()
	err := d.on(c, s, cuMemAllocAsync, o.ptr(), uintptr(n), uintptr(s))
	p := driver.Ptr(o.word[0])
	putScratch(o)
	return p, err
}

func (d *Driver) MemAllocFromPoolAsync(c driver.Context, n uint64, pool driver.MemPool, s driver.Stream) (driver.Ptr, error) {
	o := getScratch()
	err := d.on(c, s, cuMemAllocFromPoolAsync, o.ptr(), uintptr(n), uintptr(pool), uintptr(s))
	p := driver.Ptr(o.word[0])
	putScratch(o)
	return p, err
}

func (d *Driver) MemFreeAsync(c driver.Context, p driver.Ptr, s driver.Stream) error {
	return d.hot(c, s, cuMemFreeAsync, &clib.Frame{Args: [11]uintptr{uintptr(p), uintptr(s)}})
}

func (d *Driver) DefaultMemPool(dev driver.Device) (driver.MemPool, error) {
	p, err := d.get(cuDeviceGetDefaultMemPool, uintptr(dev))
	return driver.MemPool(p), err
}

// poolProps is CUmemPoolProps.
type poolProps struct {
	_                        structs.HostLayout
	allocType, handleTypes   int32
	locationType, locationID int32
	win32                    uintptr
	maxSize                  uint64
	usage                    uint16
	reserved                 [54]byte
}

// fileDescriptor is CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR.
const fileDescriptor = 1

func (d *Driver) MemPoolCreate(dev driver.Device, shared bool) (driver.MemPool, error) {
	const pinned = 1
	props := &poolProps{allocType: pinned, locationType: onDevice, locationID: int32(dev)}
	if shared {
		props.handleTypes = fileDescriptor
	}
	p, err := d.get(cuMemPoolCreate, pin(props))
	runtime.KeepAlive(props)
	return driver.MemPool(p), err
}

func (d *Driver) MemPoolDestroy(p driver.MemPool) error { return d.plain(cuMemPoolDestroy, uintptr(p)) }

func (d *Driver) MemPoolTrimTo(p driver.MemPool, keep uint64) error {
	return d.plain(cuMemPoolTrimTo, uintptr(p), uintptr(keep))
}

func (d *Driver) MemPoolAttribute(p driver.MemPool, a driver.PoolAttribute) (uint64, error) {
	o := getScratch()
	defer putScratch(o)
	o.word[0] = 0 // the first three attributes are 32-bit integers
	err := d.plain(cuMemPoolGetAttribute, uintptr(p), uintptr(a), o.ptr())
	return o.word[0], err
}

func (d *Driver) SetMemPoolAttribute(p driver.MemPool, a driver.PoolAttribute, v uint64) error {
	o := getScratch()
	defer putScratch(o)
	o.word[0] = v
	return d.plain(cuMemPoolSetAttribute, uintptr(p), uintptr(a), o.ptr())
}

func (d *Driver) MemPoolSetAccess(p driver.MemPool, dev driver.Device, readWrite bool) error {
	const protReadWrite = 3
	desc := &[3]int32{onDevice, int32(dev), 0} // CUmemAccessDesc: location type and id, flags
	if readWrite {
		desc[2] = protReadWrite
	}
	err := d.plain(cuMemPoolSetAccess, uintptr(p), pin(desc), 1)
	runtime.KeepAlive(desc)
	return err
}

func (d *Driver) MemPoolExport(p driver.MemPool) (int, error) {
	fd, err := d.get(cuMemPoolExportToShareableHandle, uintptr(p), fileDescriptor, 0)
	return int(int32(fd)), err
}

func (d *Driver) MemPoolImport(fd int) (driver.MemPool, error) {
	p, err := d.get(cuMemPoolImportFromShareableHandle, uintptr(fd), fileDescriptor, 0)
	return driver.MemPool(p), err
}

func (d *Driver) MemPoolExportPointer(c driver.Context, p driver.Ptr) (driver.PoolPointer, error) {
	x := new(driver.PoolPointer)
	err := d.in(c, cuMemPoolExportPointer, pin(x), uintptr(p))
	return *x, err
}

func (d *Driver) MemPoolImportPointer(c driver.Context, pool driver.MemPool, x driver.PoolPointer) (driver.Ptr, error) {
	data := &x
	p, err := d.getIn(c, cuMemPoolImportPointer, uintptr(pool), pin(data))
	runtime.KeepAlive(data)
	return driver.Ptr(p), err
}
