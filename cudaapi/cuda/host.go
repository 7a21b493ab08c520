package cuda

import (
	"fmt"
	"unsafe"

	"gocuda/cudaapi/driver"
)

// HostFlag says how pinned memory is allocated.
type HostFlag uint32

const (
	// Portable memory is pinned for every device, not only the one that
	// allocated it.
	Portable HostFlag = HostFlag(driver.HostPortable)
	// Mapped memory can be used by kernels through its address.
	Mapped HostFlag = HostFlag(driver.HostDeviceMap)
	// WriteCombined memory is quicker to send, and slow for the CPU to read.
	WriteCombined HostFlag = HostFlag(driver.HostWriteCombined)
)

// HostBuffer is host memory of n elements of one type, or a view of some:
// pinned (page-locked), which copies at full speed and asynchronously, or
// pageable. Its contents are Go slices: h.Float32s()[3] = 1.
type HostBuffer struct {
	own  *owner
	ptr  driver.Ptr
	n    int
	typ  Type
	view bool // cut from another buffer
}

// AllocHost allocates n elements of pinned host memory (cudaHostAlloc) on the
// current device's account, portable by default: all devices copy from and to
// it at full speed. They are zero, as Go's are.
func AllocHost(n int, t Type, flags ...HostFlag) (*HostBuffer, error) {
	d, err := CurrentDevice()
	if err != nil {
		return nil, err
	}
	return d.AllocHost(n, t, flags...)
}

// AllocHost allocates n elements of pinned host memory (cudaHostAlloc), all zero.
// Without flags it is Portable.
func (d *Device) AllocHost(n int, t Type, flags ...HostFlag) (*HostBuffer, error) {
	bytes, err := d.size("Device.AllocHost", n, t)
	if err != nil {
		return nil, err
	}
	f := driver.HostPortable
	if len(flags) > 0 {
		f = 0
		for _, flag := range flags {
			f |= driver.HostAllocFlags(flag)
		}
	}
	c, err := d.context()
	if err != nil {
		return nil, err
	}
	if err := d.reclaim(false); err != nil {
		return nil, err
	}
	a := &allocation{dev: d, kind: pinnedMemory, bytes: bytes}
	if bytes > 0 {
		if a.ptr, err = d.allocate(func() (driver.Ptr, error) { return d.drv().HostAlloc(c, bytes, f) }); err != nil {
			return nil, d.fail(err)
		}
	}
	return &HostBuffer{own: track(a), ptr: a.ptr, n: n, typ: t}, nil
}

// AllocPageable makes n elements of ordinary host memory: what a Go slice is,
// as a HostBuffer, to compare with pinned memory.
func AllocPageable(n int, t Type) (*HostBuffer, error) {
	d, err := CurrentDevice()
	if err != nil {
		return nil, err
	}
	bytes, err := d.size("cuda.AllocPageable", n, t)
	if err != nil {
		return nil, err
	}
	mem := make([]complex128, (bytes+15)/16) // aligned for every type
	a := &allocation{dev: d, kind: pageableMemory, bytes: bytes, host: mem, ptr: driver.Ptr(uintptr(unsafe.Pointer(unsafe.SliceData(mem))))}
	return &HostBuffer{own: &owner{a}, ptr: a.ptr, n: n, typ: t}, nil
}

// RegisterHost pins the memory of a Go slice (cudaHostRegister), until Free.
// The slice must stay reachable through the HostBuffer only by that name.
func RegisterHost(s any) (*HostBuffer, error) {
	d, err := CurrentDevice()
	if err != nil {
		return nil, err
	}
	p, n, t, ok := slice(s)
	if !ok || n == 0 {
		return nil, misuse(driver.ErrInvalidValue, "cuda.RegisterHost", d, "%T is not a slice with elements, of numbers or of structs without pointers", s)
	}
	c, err := d.context()
	if err != nil {
		return nil, err
	}
	a := &allocation{dev: d, kind: registeredMemory, bytes: uint64(n * t.Size()), host: s, ptr: driver.Ptr(uintptr(p))}
	if err := d.drv().HostRegister(c, a.ptr, a.bytes, driver.HostPortable); err != nil {
		return nil, d.fail(err)
	}
	return &HostBuffer{own: track(a), ptr: a.ptr, n: n, typ: t}, nil
}

// Free gives the memory back, or unpins it (cudaFreeHost, cudaHostUnregister).
// Copies that use it must be done. Slices of it become invalid: to touch them
// afterwards crashes the program, as in C.
func (h *HostBuffer) Free() error {
	if h == nil || h.own == nil {
		return misuse(driver.ErrInvalidValue, "HostBuffer.Free", nil, "the buffer is nil")
	}
	a := h.own.allocation
	if h.view {
		return misuse(driver.ErrInvalidValue, "HostBuffer.Free", a.dev, "this is a view; free the buffer that it was cut from")
	}
	if !a.take() {
		return misuse(driver.ErrInvalidValue, "HostBuffer.Free", a.dev, "the buffer (%d %s) was freed before", h.n, h.typ)
	}
	if a.bytes == 0 {
		return nil
	}
	return a.release(a.dev.drv())
}

// Len is the number of elements.
func (h *HostBuffer) Len() int { return h.n }

// Type is the elements' type.
func (h *HostBuffer) Type() Type { return h.typ }

// Bytes is the size in bytes.
func (h *HostBuffer) Bytes() int { return h.n * h.typ.Size() }

// Pinned reports whether the memory is page-locked.
func (h *HostBuffer) Pinned() bool { return h.own.kind != pageableMemory }

// Address is where the memory starts.
func (h *HostBuffer) Address() uintptr { return uintptr(h.ptr) }

// Pointer is where the memory starts, for C libraries that take it; an error if
// the buffer was freed. As with the slices below, memory that was handed out is no
// longer freed by itself.
func (h *HostBuffer) Pointer() (unsafe.Pointer, error) {
	if _, err := end("HostBuffer.Pointer", h); err != nil {
		return nil, err
	}
	return h.raw(), nil
}

// raw is the memory's address for Go. From then on only Free frees memory that is
// not Go's: the collector cannot tell who still has the address.
func (h *HostBuffer) raw() unsafe.Pointer {
	if k := h.own.kind; k != pageableMemory && k != registeredMemory {
		h.own.allocation.raw.Store(true)
	}
	p := h.ptr
	return *(*unsafe.Pointer)(unsafe.Pointer(&p))
}

// Slice is a view of the elements i to j-1. It panics if they are not within
// the buffer.
func (h *HostBuffer) Slice(i, j int) *HostBuffer {
	if i < 0 || j < i || j > h.n {
		panic(fmt.Sprintf("cuda: Slice(%d, %d) of a host buffer of %d elements", i, j, h.n))
	}
	return &HostBuffer{own: h.own, ptr: h.ptr + driver.Ptr(i*h.typ.Size()), n: j - i, typ: h.typ, view: true}
}

// view is the memory of a host buffer as a slice.
func view[T any](call string, h *HostBuffer, t Type) ([]T, error) {
	if _, err := end(call, h); err != nil {
		return nil, err
	}
	if !h.typ.holds(t) {
		return nil, misuse(driver.ErrInvalidValue, call, nil, "the buffer holds %s, not %s", h.typ, t)
	}
	return unsafe.Slice((*T)(h.raw()), h.n), nil
}

// The slices below are the buffer's own memory, not copies as those of a [Buffer]
// are. Once there is one, pinned or managed memory stays until Free, also when nobody
// has the buffer any more: a slice of memory that is not Go's does not keep it.
// [Leaks] lists it. It is an error if the elements are of another type, or the buffer
// was freed.

// Float32s is the memory as []float32.
func (h *HostBuffer) Float32s() ([]float32, error) {
	return view[float32]("HostBuffer.Float32s", h, Float32)
}

// Float64s is the memory as []float64.
func (h *HostBuffer) Float64s() ([]float64, error) {
	return view[float64]("HostBuffer.Float64s", h, Float64)
}

// Int8s is the memory as []int8.
func (h *HostBuffer) Int8s() ([]int8, error) { return view[int8]("HostBuffer.Int8s", h, Int8) }

// Int16s is the memory as []int16.
func (h *HostBuffer) Int16s() ([]int16, error) { return view[int16]("HostBuffer.Int16s", h, Int16) }

// Int32s is the memory as []int32.
func (h *HostBuffer) Int32s() ([]int32, error) { return view[int32]("HostBuffer.Int32s", h, Int32) }

// Int64s is the memory as []int64.
func (h *HostBuffer) Int64s() ([]int64, error) { return view[int64]("HostBuffer.Int64s", h, Int64) }

// Uint8s is the memory as []byte.
func (h *HostBuffer) Uint8s() ([]byte, error) { return view[byte]("HostBuffer.Uint8s", h, Uint8) }

// Uint16s is the memory as []uint16; Float16 and BFloat16 too, by their bits.
func (h *HostBuffer) Uint16s() ([]uint16, error) {
	return view[uint16]("HostBuffer.Uint16s", h, Uint16)
}

// Uint32s is the memory as []uint32.
func (h *HostBuffer) Uint32s() ([]uint32, error) {
	return view[uint32]("HostBuffer.Uint32s", h, Uint32)
}

// Uint64s is the memory as []uint64.
func (h *HostBuffer) Uint64s() ([]uint64, error) {
	return view[uint64]("HostBuffer.Uint64s", h, Uint64)
}

// Complex64s is the memory as []complex64.
func (h *HostBuffer) Complex64s() ([]complex64, error) {
	return view[complex64]("HostBuffer.Complex64s", h, Complex64)
}

// Complex128s is the memory as []complex128.
func (h *HostBuffer) Complex128s() ([]complex128, error) {
	return view[complex128]("HostBuffer.Complex128s", h, Complex128)
}
