//go:build linux && (amd64 || arm64)

package nvidia

import (
	"runtime"
	"structs"
	"unsafe"

	"gocuda/cudaapi/driver"
)

func (d *Driver) MemAlloc(c driver.Context, n uint64) (driver.Ptr, error) {
	p, err := d.getIn(c, cuMemAlloc, uintptr(n))
	return driver.Ptr(p), err
}

func (d *Driver) MemFree(c driver.Context, p driver.Ptr) error {
	return d.in(c, cuMemFree, uintptr(p))
}

func (d *Driver) MemAllocManaged(c driver.Context, n uint64) (driver.Ptr, error) {
	const attachGlobal = 1
	p, err := d.getIn(c, cuMemAllocManaged, uintptr(n), attachGlobal)
	return driver.Ptr(p), err
}

func (d *Driver) HostAlloc(c driver.Context, n uint64, f driver.HostAllocFlags) (driver.Ptr, error) {
	p, err := d.getIn(c, cuMemHostAlloc, uintptr(n), uintptr(f))
	if err == nil {
		at := driver.Ptr(p)
		clear(unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), n)) // the driver gives out again what was freed, as it was
	}
	return driver.Ptr(p), err
}

func (d *Driver) HostFree(c driver.Context, p driver.Ptr) error {
	return d.in(c, cuMemFreeHost, uintptr(p))
}

func (d *Driver) HostRegister(c driver.Context, p driver.Ptr, n uint64, f driver.HostAllocFlags) error {
	return d.in(c, cuMemHostRegister, uintptr(p), uintptr(n), uintptr(f))
}

func (d *Driver) HostUnregister(c driver.Context, p driver.Ptr) error {
	return d.in(c, cuMemHostUnregister, uintptr(p))
}

// pointerQuery is what cuPointerGetAttributes reads and writes: attribute
// numbers, the addresses of the results, the results.
type pointerQuery struct {
	attrs  [6]int32
	data   [6]uintptr
	result [6]uint64
}

func (d *Driver) PointerAttributes(c driver.Context, p driver.Ptr) (driver.PointerInfo, error) {
	const (
		context, memoryType, isManaged, ordinal, rangeStart, rangeSize = 1, 2, 8, 9, 11, 12
	)
	q := &pointerQuery{attrs: [6]int32{context, memoryType, isManaged, ordinal, rangeStart, rangeSize}}
	for i := range q.data {
		q.data[i] = pin(&q.result[i])
	}
	err := d.in(c, cuPointerGetAttributes, uintptr(len(q.attrs)), pin(&q.attrs), pin(&q.data), uintptr(p))
	runtime.KeepAlive(q)
	if err != nil {
		return driver.PointerInfo{}, err
	}
	info := driver.PointerInfo{Type: driver.MemoryType(uint32(q.result[1])), Ctx: driver.Context(q.result[0]),
		Device: driver.Device(int32(q.result[3])), Base: driver.Ptr(q.result[4]), Size: q.result[5]}
	if byte(q.result[2]) != 0 {
		info.Type = driver.MemoryManaged
	}
	return info, nil
}

func (d *Driver) Memcpy(c driver.Context, dst, src driver.Ptr, n uint64) error {
	return d.in(c, cuMemcpy, uintptr(dst), uintptr(src), uintptr(n))
}

func (d *Driver) MemcpyAsync(c driver.Context, dst, src driver.Ptr, n uint64, s driver.Stream) error {
	return d.on(c, s, cuMemcpyAsync, uintptr(dst), uintptr(src), uintptr(n), uintptr(s))
}

func (d *Driver) MemcpyPeer(dst driver.Ptr, dstCtx driver.Context, src driver.Ptr, srcCtx driver.Context, n uint64) error {
	return d.in(srcCtx, cuMemcpyPeer, uintptr(dst), uintptr(dstCtx), uintptr(src), uintptr(srcCtx), uintptr(n))
}

func (d *Driver) MemcpyPeerAsync(dst driver.Ptr, dstCtx driver.Context, src driver.Ptr, srcCtx driver.Context, n uint64, s driver.Stream) error {
	if captured, err := d.StreamIsCapturing(srcCtx, s); err == nil && captured {
		return d.MemcpyAsync(srcCtx, dst, src, n, s) // CUDA captures no peer copies (driver 580); the addresses say it all
	}
	return d.on(srcCtx, s, cuMemcpyPeerAsync, uintptr(dst), uintptr(dstCtx), uintptr(src), uintptr(srcCtx), uintptr(n), uintptr(s))
}

// memcpy2D is CUDA_MEMCPY2D.
type memcpy2D struct {
	_            structs.HostLayout
	srcX, srcY   uint64
	srcType      uint32
	srcHost      uintptr
	srcDevice    uint64
	srcArray     uintptr
	srcPitch     uint64
	dstX, dstY   uint64
	dstType      uint32
	dstHost      uintptr
	dstDevice    uint64
	dstArray     uintptr
	dstPitch     uint64
	widthInBytes uint64
	height       uint64
}

func copy2D(p *driver.Copy2D) *memcpy2D {
	const unified = 4
	return &memcpy2D{srcType: unified, srcDevice: uint64(p.Src), srcPitch: p.SrcPitch,
		dstType: unified, dstDevice: uint64(p.Dst), dstPitch: p.DstPitch, widthInBytes: p.Width, height: p.Height}
}

func (d *Driver) Memcpy2D(c driver.Context, p *driver.Copy2D) error {
	m := copy2D(p)
	err := d.in(c, cuMemcpy2D, pin(m))
	runtime.KeepAlive(m)
	return err
}

func (d *Driver) Memcpy2DAsync(c driver.Context, p *driver.Copy2D, s driver.Stream) error {
	m := copy2D(p)
	err := d.on(c, s, cuMemcpy2DAsync, pin(m), uintptr(s))
	runtime.KeepAlive(m)
	return err
}

// memset picks the function for a width; sync and async follow each other.
func memset(width int, eight, sixteen, thirtytwo symbol) (symbol, error) {
	switch width {
	case 1:
		return eight, nil
	case 2:
		return sixteen, nil
	case 4:
		return thirtytwo, nil
	}
	return 0, &driver.Error{Code: driver.ErrInvalidValue, Call: "cuMemset", Detail: "an element has 1, 2 or 4 bytes"}
}

func (d *Driver) Memset(c driver.Context, dst driver.Ptr, value uint32, width int, n uint64) error {
	f, err := memset(width, cuMemsetD8, cuMemsetD16, cuMemsetD32)
	if err != nil {
		return err
	}
	return d.in(c, f, uintptr(dst), uintptr(value), uintptr(n))
}

func (d *Driver) MemsetAsync(c driver.Context, dst driver.Ptr, value uint32, width int, n uint64, s driver.Stream) error {
	f, err := memset(width, cuMemsetD8Async, cuMemsetD16Async, cuMemsetD32Async)
	if err != nil {
		return err
	}
	return d.on(c, s, f, uintptr(dst), uintptr(value), uintptr(n), uintptr(s))
}

func (d *Driver) Memset2DAsync(c driver.Context, dst driver.Ptr, pitch uint64, value uint32, width int, w, h uint64, s driver.Stream) error {
	f, err := memset(width, cuMemsetD2D8Async, cuMemsetD2D16Async, cuMemsetD2D32Async)
	if err != nil {
		return err
	}
	return d.on(c, s, f, uintptr(dst), uintptr(pitch), uintptr(value), uintptr(w), uintptr(h), uintptr(s))
}
