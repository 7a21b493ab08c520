package cuda

import (
	"fmt"
	"reflect"
	"runtime"
	"unsafe"

	"gocuda/cudaapi/driver"
)

// operand is one end of a copy.
type operand struct {
	ptr driver.Ptr
	n   int
	typ Type
	dev *Device // nil for memory that belongs to none
	// onHost is true for host memory; managed memory is at no device for long.
	onHost, pinned, managed bool
}

// end reads an argument of a copy: *Buffer, *HostBuffer or a slice.
func end(call string, v any) (operand, error) {
	switch b := v.(type) {
	case *Buffer:
		if err := b.alive(call); err != nil {
			return operand{}, err
		}
		return operand{ptr: b.ptr, n: b.n, typ: b.typ, dev: b.own.dev, managed: b.own.kind == managedMemory}, nil
	case *HostBuffer:
		if b == nil || b.own == nil {
			return operand{}, misuse(driver.ErrInvalidValue, call, nil, "the host buffer is nil")
		}
		if b.own.freed(0) {
			return operand{}, misuse(driver.ErrInvalidValue, call, b.own.dev, "%s", b.own.dev.lost(fmt.Sprintf("the host buffer (%d %s)", b.n, b.typ), "freed before", b.own.born))
		}
		return operand{ptr: b.ptr, n: b.n, typ: b.typ, onHost: true, pinned: b.own.kind != pageableMemory}, nil
	}
	p, n, t, ok := slice(v)
	if never {
		escaped = p
	}
	if !ok {
		return operand{}, misuse(driver.ErrInvalidValue, call, nil, "cannot copy %T: give a *cuda.Buffer, a *cuda.HostBuffer or a slice of numbers such as []float32, or of structs without pointers", v)
	}
	return operand{ptr: driver.Ptr(uintptr(p)), n: n, typ: t, onHost: true}, nil
}

// To the compiler end lets what it is given escape: a slice on the goroutine's
// stack would move if the stack grew during a copy.
var (
	never   bool
	escaped unsafe.Pointer //lint:ignore U1000 a write is all that it is for
)

// pair reads and compares both ends. The device is the one whose context and
// default stream the copy uses.
func pair(call string, dst, src any) (to, from operand, d *Device, err error) {
	if to, err = end(call, dst); err != nil {
		return
	}
	if from, err = end(call, src); err != nil {
		return
	}
	if d = to.dev; d == nil {
		d = from.dev
	}
	if d == nil {
		if d, err = CurrentDevice(); err != nil {
			return
		}
	}
	switch {
	case !to.typ.holds(from.typ) && !from.typ.holds(to.typ):
		err = otherTypes(call, d, to, from, dst, src)
	case to.n != from.n:
		err = misuse(driver.ErrInvalidValue, call, d, "the destination has %d elements, the source %d; copy part of one with Slice", to.n, from.n)
	}
	return
}

// otherTypes is the error of a copy between elements of different types. Where one end
// is a Go slice, it says which slice the other end takes.
func otherTypes(call string, d *Device, to, from operand, dst, src any) error {
	if call == fmt.Sprintf("Buffer.%ss", to.typ) {
		return misuse(driver.ErrInvalidValue, call, d, "the buffer holds %s: call %[1]ss", from.typ)
	}
	advice := ""
	for _, e := range []struct {
		v          any
		typ, other Type
	}{{src, from.typ, to.typ}, {dst, to.typ, from.typ}} {
		if t := reflect.TypeOf(e.v); t.Kind() == reflect.Slice {
			advice = fmt.Sprintf(": give a []%s in place of the %s, or allocate the memory as cuda.%s", e.other.inGo(), t, e.typ)
			break
		}
	}
	return misuse(driver.ErrInvalidValue, call, d, "the destination holds %s, the source %s%s", to.typ, from.typ, advice)
}

// Memcpy copies between any two of *Buffer, *HostBuffer and Go slices of the
// same type and length (cudaMemcpy); a slice of structs, arrays or bools counts as
// its bytes, of type Uint8. The copy is ordered on the legacy default stream, and
// between two devices on those of both, as [MemcpyPeer]. It waits for the copy,
// but from device to device it returns at once. (By CUDA's
// documentation a copy from pageable memory may return once the data are staged;
// on GPUs none was seen to return before they were there, of any size.)
func Memcpy(dst, src any) error { return memcpy("cuda.Memcpy", dst, src) }

func memcpy(call string, dst, src any) error {
	to, from, d, err := pair(call, dst, src)
	if err != nil || to.n == 0 {
		return err
	}
	if from.dev != nil && to.dev != nil && from.dev != to.dev && !from.managed && !to.managed {
		err = copyAcross(to, from)
		runtime.KeepAlive(dst)
		runtime.KeepAlive(src)
		return err
	}
	c, err := d.context()
	if err != nil {
		return err
	}
	if to.onHost || from.onHost {
		if err := d.settle(c); err != nil {
			return err
		}
	}
	err = d.drv().Memcpy(c, to.ptr, from.ptr, to.bytes())
	runtime.KeepAlive(dst)
	runtime.KeepAlive(src)
	if err != nil {
		return d.fail(err)
	}
	return d.panicked()
}

func (o operand) bytes() uint64 { return uint64(o.n) * uint64(o.typ.Size()) }

// MemcpyAsync queues a copy between any two of *Buffer, *HostBuffer and Go
// slices on s (cudaMemcpyAsync). Between devices and pinned memory it returns at
// once; with pageable memory CUDA may wait. Pinned memory must not change or be
// freed until the copy is done.
func MemcpyAsync(dst, src any, s *Stream) error { return memcpyAsync("cuda.MemcpyAsync", dst, src, s) }

func memcpyAsync(call string, dst, src any, s *Stream) error {
	to, from, d, err := pair(call, dst, src)
	if err != nil {
		return err
	}
	if s == nil {
		s = d.DefaultStream()
	}
	c, err := s.use(call)
	if err != nil || to.n == 0 {
		return err
	}
	return s.queued(s.dev.drv().MemcpyAsync(c, to.ptr, from.ptr, to.bytes(), s.h), call, dst, src)
}

// MemcpyPeer copies from one device's buffer to another's (cudaMemcpyPeer):
// directly where peer access is enabled, through the host where it is not. It
// is ordered after all earlier work of both devices, and may return before the
// copy is done.
func MemcpyPeer(dst, src *Buffer) error {
	to, from, _, err := pair("cuda.MemcpyPeer", dst, src)
	if err != nil || to.n == 0 {
		return err
	}
	err = copyAcross(to, from)
	runtime.KeepAlive(dst)
	runtime.KeepAlive(src)
	return err
}

// copyAcross copies between two devices, in the order of both.
func copyAcross(to, from operand) error {
	dc, err := to.dev.context()
	if err != nil {
		return err
	}
	sc, err := from.dev.context()
	if err != nil {
		return err
	}
	return from.dev.fail(from.dev.drv().MemcpyPeer(to.ptr, dc, from.ptr, sc, to.bytes()))
}

// MemcpyPeerAsync queues a copy from one device's buffer to another's on a
// stream of either (cudaMemcpyPeerAsync). A nil stream is the source's default
// stream.
func MemcpyPeerAsync(dst, src *Buffer, s *Stream) error {
	const call = "cuda.MemcpyPeerAsync"
	if err := dst.alive(call); err != nil {
		return err
	}
	if err := src.alive(call); err != nil {
		return err
	}
	if dst.n != src.n || dst.typ != src.typ {
		return misuse(driver.ErrInvalidValue, call, src.own.dev, "the destination has %d %s, the source %d %s", dst.n, dst.typ, src.n, src.typ)
	}
	from := src.own.dev
	if s == nil {
		s = from.DefaultStream()
	}
	if _, err := s.use(call); err != nil || src.n == 0 {
		return err
	}
	dc, err := dst.own.dev.context()
	if err != nil {
		return err
	}
	sc, err := from.context()
	if err != nil {
		return err
	}
	return s.queued(s.dev.drv().MemcpyPeerAsync(dst.ptr, dc, src.ptr, sc, uint64(src.Bytes()), s.h), call, dst, src)
}
