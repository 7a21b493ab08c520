package cuda

import (
	"runtime"

	"gocuda/cudaapi/driver"
)

// Memcpy2D copies height rows of width elements between any two of *Buffer,
// *HostBuffer and Go slices of one type (cudaMemcpy2D, but counted in elements):
// row i goes from src[i*srcPitch:] to dst[i*dstPitch:]. It waits as Memcpy does.
func Memcpy2D(dst any, dstPitch int, src any, srcPitch, width, height int) error {
	const call = "cuda.Memcpy2D"
	copy, d, err := rows(call, dst, dstPitch, src, srcPitch, width, height)
	if err != nil || width == 0 || height == 0 {
		return err
	}
	c, err := d.context()
	if err != nil {
		return err
	}
	if err := d.settle(c); err != nil {
		return err
	}
	err = d.drv().Memcpy2D(c, copy)
	runtime.KeepAlive(dst)
	runtime.KeepAlive(src)
	return d.fail(err)
}

// Memcpy2DAsync queues a Memcpy2D on s (cudaMemcpy2DAsync).
func Memcpy2DAsync(dst any, dstPitch int, src any, srcPitch, width, height int, s *Stream) error {
	const call = "cuda.Memcpy2DAsync"
	copy, d, err := rows(call, dst, dstPitch, src, srcPitch, width, height)
	if err != nil {
		return err
	}
	if s == nil {
		s = d.DefaultStream()
	}
	c, err := s.use(call)
	if err != nil || width == 0 || height == 0 {
		return err
	}
	return s.queued(s.dev.drv().Memcpy2DAsync(c, copy, s.h), call, dst, src)
}

// rows checks a 2-D copy against the sizes of both ends.
func rows(call string, dst any, dstPitch int, src any, srcPitch, width, height int) (*driver.Copy2D, *Device, error) {
	to, err := end(call, dst)
	if err != nil {
		return nil, nil, err
	}
	from, err := end(call, src)
	if err != nil {
		return nil, nil, err
	}
	d := to.dev
	if d == nil {
		d = from.dev
	}
	if d == nil {
		if d, err = CurrentDevice(); err != nil {
			return nil, nil, err
		}
	}
	if !to.typ.holds(from.typ) && !from.typ.holds(to.typ) {
		return nil, nil, otherTypes(call, d, to, from, dst, src)
	}
	if err := fits(call, d, "destination", to.n, dstPitch, width, height); err != nil {
		return nil, nil, err
	}
	if err := fits(call, d, "source", from.n, srcPitch, width, height); err != nil {
		return nil, nil, err
	}
	size := uint64(to.typ.Size())
	return &driver.Copy2D{Dst: to.ptr, Src: from.ptr, DstPitch: uint64(dstPitch) * size, SrcPitch: uint64(srcPitch) * size,
		Width: uint64(width) * size, Height: uint64(height)}, d, nil
}

// Memset2D sets every byte of height rows of width elements, pitch elements from
// one row to the next (cudaMemset2D), ordered on the legacy default stream. The
// call may return before the device is done.
func (b *Buffer) Memset2D(pitch int, value byte, width, height int) error {
	return b.memset2D("Buffer.Memset2D", pitch, value, width, height, nil)
}

// Memset2DAsync queues a Memset2D on s (cudaMemset2DAsync).
func (b *Buffer) Memset2DAsync(pitch int, value byte, width, height int, s *Stream) error {
	return b.memset2D("Buffer.Memset2DAsync", pitch, value, width, height, s)
}

func (b *Buffer) memset2D(call string, pitch int, value byte, width, height int, s *Stream) error {
	if err := b.alive(call); err != nil {
		return err
	}
	if err := fits(call, b.own.dev, "buffer", b.n, pitch, width, height); err != nil {
		return err
	}
	if s == nil {
		s = b.own.dev.DefaultStream()
	}
	c, err := s.use(call)
	if err != nil || width == 0 || height == 0 {
		return err
	}
	size := uint64(b.typ.Size())
	return s.queued(s.dev.drv().Memset2DAsync(c, b.ptr, uint64(pitch)*size, uint32(value), 1, uint64(width)*size, uint64(height), s.h), call, b)
}

// fits checks that rows lie within n elements.
func fits(call string, d *Device, name string, n, pitch, width, height int) error {
	if width < 0 || height < 0 {
		return misuse(driver.ErrInvalidValue, call, d, "%d rows of %d elements", height, width)
	}
	if pitch < width {
		return misuse(driver.ErrInvalidValue, call, d, "the %s's pitch of %d elements is less than a row of %d", name, pitch, width)
	}
	if height > 0 && (height-1 > (1<<62)/max(1, pitch) || (height-1)*pitch+width > n) {
		return misuse(driver.ErrInvalidValue, call, d, "%d rows of %d elements at a pitch of %d go past the %s's %d elements", height, width, pitch, name, n)
	}
	return nil
}

// PointerAttributes tells what CUDA knows of an address (cudaPointerGetAttributes).
type PointerAttributes struct {
	Type   string // "device", "host" (pinned), "managed" or "unregistered"
	Device int    // ordinal; of device, pinned and managed memory
	Base   uintptr
	Bytes  uint64 // of the allocation
}

// Pointer asks what an address is.
func Pointer(address uintptr) (PointerAttributes, error) {
	d, err := CurrentDevice()
	if err != nil {
		return PointerAttributes{}, err
	}
	c, err := d.context()
	if err != nil {
		return PointerAttributes{}, err
	}
	info, err := d.drv().PointerAttributes(c, driver.Ptr(address))
	if isCode(err, driver.ErrInvalidValue) {
		return PointerAttributes{Type: "unregistered", Device: -1}, nil
	}
	if err != nil {
		return PointerAttributes{}, d.fail(err)
	}
	name := map[driver.MemoryType]string{driver.MemoryHost: "host", driver.MemoryDevice: "device", driver.MemoryManaged: "managed"}[info.Type]
	if name == "" {
		return PointerAttributes{Type: "unregistered", Device: -1}, nil
	}
	return PointerAttributes{Type: name, Device: int(info.Device), Base: uintptr(info.Base), Bytes: info.Size}, nil
}
