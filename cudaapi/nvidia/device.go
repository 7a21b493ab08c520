//go:build linux && (amd64 || arm64)

package nvidia

import (
	"runtime"
	"unsafe"

	"gocuda/cudaapi/driver"
)

// get runs a function without a context whose first argument is a result.
func (d *Driver) get(s symbol, args ...uintptr) (uint64, error) {
	o := getScratch()
	defer putScratch(o)
	o.word[0] = 0
	err := d.plain(s, append([]uintptr{o.ptr()}, args...)...)
	return o.word[0], err
}

// getIn is get with c current.
func (d *Driver) getIn(c driver.Context, s symbol, args ...uintptr) (uint64, error) {
	o := getScratch()
	defer putScratch(o)
	o.word[0] = 0
	err := d.in(c, s, append([]uintptr{o.ptr()}, args...)...)
	return o.word[0], err
}

func (d *Driver) Version() (int, error) {
	v, err := d.get(cuDriverGetVersion)
	return int(int32(v)), err
}

func (d *Driver) DeviceCount() (int, error) {
	n, err := d.get(cuDeviceGetCount)
	return int(int32(n)), err
}

func (d *Driver) DeviceName(dev driver.Device) (string, error) {
	buf := make([]byte, 256)
	err := d.plain(cuDeviceGetName, pin(&buf[0]), uintptr(len(buf)), uintptr(dev))
	runtime.KeepAlive(buf)
	return cString(buf), err
}

func (d *Driver) DeviceUUID(dev driver.Device) ([16]byte, error) {
	o := getScratch()
	defer putScratch(o)
	err := d.plain(cuDeviceGetUuid, o.ptr(), uintptr(dev))
	return *(*[16]byte)(unsafe.Pointer(&o.word)), err
}

func (d *Driver) DeviceTotalMem(dev driver.Device) (uint64, error) {
	return d.get(cuDeviceTotalMem, uintptr(dev))
}

func (d *Driver) DeviceAttribute(a driver.Attribute, dev driver.Device) (int, error) {
	v, err := d.get(cuDeviceGetAttribute, uintptr(a), uintptr(dev))
	return int(int32(v)), err
}

func (d *Driver) CanAccessPeer(dev, peer driver.Device) (bool, error) {
	v, err := d.get(cuDeviceCanAccessPeer, uintptr(dev), uintptr(peer))
	return v != 0, err
}

func (d *Driver) P2PAttribute(a driver.P2PAttribute, src, dst driver.Device) (int, error) {
	v, err := d.get(cuDeviceGetP2PAttribute, uintptr(a), uintptr(src), uintptr(dst))
	return int(int32(v)), err
}

func (d *Driver) PrimaryRetain(dev driver.Device) (driver.Context, error) {
	c, err := d.get(cuDevicePrimaryCtxRetain, uintptr(dev))
	return driver.Context(c), err
}

func (d *Driver) PrimaryRelease(dev driver.Device) error {
	return d.plain(cuDevicePrimaryCtxRelease, uintptr(dev))
}

func (d *Driver) PrimaryReset(dev driver.Device) error {
	return d.plain(cuDevicePrimaryCtxReset, uintptr(dev))
}

func (d *Driver) EnablePeerAccess(c, peer driver.Context) error {
	return d.in(c, cuCtxEnablePeerAccess, uintptr(peer), 0)
}

func (d *Driver) DisablePeerAccess(c, peer driver.Context) error {
	return d.in(c, cuCtxDisablePeerAccess, uintptr(peer))
}

func (d *Driver) StreamPriorityRange(c driver.Context) (least, greatest int, err error) {
	o := getScratch()
	defer putScratch(o)
	err = d.in(c, cuCtxGetStreamPriorityRange, o.at(0), o.at(1))
	return o.int32(0), o.int32(1), err
}

func (d *Driver) MemInfo(c driver.Context) (free, total uint64, err error) {
	o := getScratch()
	defer putScratch(o)
	err = d.in(c, cuMemGetInfo, o.at(0), o.at(1))
	return o.word[0], o.word[1], err
}

// cString is the text before the first zero byte.
func cString(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}
