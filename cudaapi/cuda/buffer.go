package cuda

import (
	"errors"
	"fmt"
	"runtime"

	"gocuda/cudaapi/driver"
)

// Buffer is device memory of n elements of one type, or a view of some. Free
// gives it back; a Buffer that becomes unreachable is given back too, later, at
// another allocation, when all queued work is done.
type Buffer struct {
	own        *owner
	ptr        driver.Ptr
	n          int
	generation uint32 // of the memory
	typ        Type
	view       bool // cut from another buffer
}

// Alloc allocates n elements of device memory (cudaMalloc). What they hold at
// first is undefined. Zero elements are allowed and use no memory. The call may
// wait for the device. When memory is short, buffers that the program no longer
// refers to are freed first.
func (d *Device) Alloc(n int, t Type) (*Buffer, error) {
	return d.alloc("Device.Alloc", n, t, deviceMemory, driver.Driver.MemAlloc)
}

func (d *Device) alloc(call string, n int, t Type, k kind, f func(driver.Driver, driver.Context, uint64) (driver.Ptr, error)) (*Buffer, error) {
	bytes, err := d.size(call, n, t)
	if err != nil {
		return nil, err
	}
	c, err := d.context()
	if err != nil {
		return nil, err
	}
	if err := d.reclaim(false); err != nil {
		return nil, err
	}
	a := &allocation{dev: d, kind: k, bytes: bytes}
	if bytes > 0 {
		if a.ptr, err = d.allocate(func() (driver.Ptr, error) { return f(d.drv(), c, bytes) }); err != nil {
			return nil, d.outOfMemory(err, bytes)
		}
	}
	return &Buffer{own: track(a), ptr: a.ptr, n: n, typ: t}, nil
}

// outOfMemory adds how much was asked for and how much is free.
func (d *Device) outOfMemory(err error, bytes uint64) error {
	err = d.fail(err)
	if e, ok := err.(*Error); ok && e.code == driver.ErrOutOfMemory {
		if free, total, err := d.MemInfo(); err == nil {
			e.Detail = fmt.Sprintf("%s asked for, %s free of %s", byteCount(bytes), byteCount(free), byteCount(total))
		}
	}
	return err
}

func (d *Device) size(call string, n int, t Type) (uint64, error) {
	if d == nil {
		return 0, misuse(driver.ErrInvalidDevice, call, nil, "the device is nil")
	}
	if !t.valid() {
		return 0, misuse(driver.ErrInvalidValue, call, d, "%v is not an element type: use one such as cuda.Float32", t)
	}
	if n < 0 {
		return 0, misuse(driver.ErrInvalidValue, call, d, "%d elements were asked for", n)
	}
	if n > 1<<58 { // the largest element has 16 bytes
		return 0, misuse(driver.ErrInvalidValue, call, d, "%d elements were asked for, more than an address can reach", n)
	}
	return uint64(n) * uint64(t.Size()), nil
}

// AllocAsync allocates n elements in the order of a stream, from its device's
// memory pool (cudaMallocAsync). Work queued on s later may use them; other
// streams must wait for an event recorded after this call. It does not wait,
// unless memory is short: then buffers of [Device.Alloc] that the program no
// longer refers to are freed first.
// Such memory is freed by FreeAsync (or Free); the collector does not free it.
func (s *Stream) AllocAsync(n int, t Type) (*Buffer, error) {
	c, err := s.use("Stream.AllocAsync")
	if err != nil {
		return nil, err
	}
	bytes, err := s.dev.size("Stream.AllocAsync", n, t)
	if err != nil {
		return nil, err
	}
	var p driver.Ptr
	if bytes > 0 {
		p, err = s.dev.drv().MemAllocAsync(c, bytes, s.h)
		if isCode(err, driver.ErrOutOfMemory) {
			p, err = s.dev.allocate(func() (driver.Ptr, error) { return s.dev.drv().MemAllocAsync(c, bytes, s.h) })
		}
		if err != nil {
			return nil, s.dev.outOfMemory(err, bytes)
		}
	}
	return s.allocated(s.dev.ordered.add(s.dev, p, bytes, n, t, &s.dev.pool)), nil
}

// Free gives the memory back (cudaFree). It waits for work on the device that
// may use it; stream-ordered memory instead is freed behind the work of the
// default stream. Views of the buffer become invalid. To free twice is an error.
// A wait that is interrupted has freed nothing.
func (b *Buffer) Free() error {
	a, err := b.whole("Buffer.Free")
	if err != nil {
		return err
	}
	if err := b.alive("Buffer.Free"); err != nil {
		return err
	}
	if a.kind == asyncMemory {
		return b.freeOrdered("Buffer.Free", a.dev.DefaultStream())
	}
	// CUDA's own wait cannot be interrupted, so this one goes first, unless it would
	// spoil a capture.
	if stop() != nil && a.bytes > 0 && a.dev.sys.captures.active.Load() == 0 {
		if err := a.dev.quiet(); err != nil {
			return err
		}
	}
	if !a.take() {
		return b.dead("Buffer.Free")
	}
	return a.release(a.dev.drv())
}

// FreeAsync gives the memory back when the work queued on s so far is done
// (cudaFreeAsync). The memory must be stream-ordered, that is from AllocAsync.
// Other streams that use it must be done, or s must wait for them.
func (b *Buffer) FreeAsync(s *Stream) error {
	a, err := b.whole("Buffer.FreeAsync")
	if err != nil {
		return err
	}
	if a.kind != asyncMemory {
		return misuse(driver.ErrInvalidValue, "Buffer.FreeAsync", a.dev, "this is %s memory; only memory from Stream.AllocAsync is freed in stream order: use Free", a.kind)
	}
	if s == nil {
		s = a.dev.DefaultStream()
	}
	return b.freeOrdered("Buffer.FreeAsync", s)
}

func (b *Buffer) freeOrdered(call string, s *Stream) error {
	c, err := s.use(call)
	if err != nil {
		return err
	}
	p, bytes, ok := b.own.dev.ordered.take(b)
	if !ok {
		return b.dead(call)
	}
	if bytes > 0 {
		if err := s.dev.drv().MemFreeAsync(c, p, s.h); err != nil {
			b.own.dev.ordered.kept(b)
			return s.dev.fail(err)
		}
	}
	b.own.dev.ordered.given(b)
	return nil
}

// whole checks that b is no view.
func (b *Buffer) whole(call string) (*allocation, error) {
	if b == nil || b.own == nil {
		return nil, misuse(driver.ErrInvalidValue, call, nil, "the buffer is nil")
	}
	a := b.own.allocation
	if b.view {
		return nil, misuse(driver.ErrInvalidValue, call, a.dev, "this is a view; free the buffer that it was cut from")
	}
	if a.kind == borrowedMemory {
		return nil, misuse(driver.ErrInvalidValue, call, a.dev, "this memory belongs to a module")
	}
	return a, nil
}

// alive checks that b may be used.
func (b *Buffer) alive(call string) error {
	if b == nil || b.own == nil {
		return misuse(driver.ErrInvalidValue, call, nil, "the buffer is nil")
	}
	if b.own.freed(b.generation) {
		return b.dead(call)
	}
	return nil
}

func (b *Buffer) dead(call string) error {
	how := "freed before"
	if b.own.kind == borrowedMemory {
		how = "unloaded with its module"
	}
	return misuse(driver.ErrInvalidValue, call, b.own.dev, "%s", b.own.dev.lost(fmt.Sprintf("the buffer (%d %s)", b.n, b.typ), how, b.own.born))
}

// Len is the number of elements.
func (b *Buffer) Len() int { return b.n }

// Type is the elements' type.
func (b *Buffer) Type() Type { return b.typ }

// Bytes is the size in bytes.
func (b *Buffer) Bytes() int { return b.n * b.typ.Size() }

// Device is where the memory is.
func (b *Buffer) Device() *Device { return b.own.dev }

// Address is the device address, for display and for libraries that take
// pointers.
func (b *Buffer) Address() uintptr { return uintptr(b.ptr) }

// AddressRange is the allocation of which the buffer is all or a view: its address
// and its length in bytes (cuMemGetAddressRange).
func (b *Buffer) AddressRange() (base uintptr, bytes uint64) {
	return uintptr(b.own.ptr), b.own.bytes
}

// Slice is a view of the elements i to j-1, as Go's b[i:j]. It panics, as Go
// does, if they are not within the buffer.
func (b *Buffer) Slice(i, j int) *Buffer {
	if i < 0 || j < i || j > b.n {
		panic(fmt.Sprintf("cuda: Slice(%d, %d) of a buffer of %d elements", i, j, b.n))
	}
	return &Buffer{own: b.own, ptr: b.ptr + driver.Ptr(i*b.typ.Size()), n: j - i, generation: b.generation, typ: b.typ, view: true}
}

// As is a view of the same memory with elements of another type. The size in
// bytes must be a multiple of the new element's, and so must the address: devices
// cannot access elements that are not aligned.
func (b *Buffer) As(t Type) (*Buffer, error) {
	const call = "Buffer.As"
	if b == nil || b.own == nil {
		return nil, misuse(driver.ErrInvalidValue, call, nil, "the buffer is nil")
	}
	if !t.valid() || b.Bytes()%t.Size() != 0 {
		return nil, misuse(driver.ErrInvalidValue, call, b.own.dev, "%d bytes are not a whole number of %s", b.Bytes(), t)
	}
	if off := uint64(b.ptr) % uint64(t.Size()); off != 0 {
		return nil, misuse(driver.ErrInvalidValue, call, b.own.dev, "the view starts at byte %d of its memory, and %s must start at a multiple of %d bytes: begin the Slice at such a place", b.ptr-b.own.ptr, t, t.Size())
	}
	return &Buffer{own: b.own, ptr: b.ptr, n: b.Bytes() / t.Size(), generation: b.generation, typ: t, view: true}, nil
}

// Upload copies a Go slice (or a HostBuffer) of the same type and length to the
// buffer, ordered on the legacy default stream, and waits until the data are
// there, for every stream to use. (CUDA's documentation does not promise that
// much of [Memcpy].)
func (b *Buffer) Upload(src any) error {
	if err := memcpy("Buffer.Upload", b, src); err != nil {
		return err
	}
	return b.own.dev.DefaultStream().Synchronize()
}

// Upload allocates device memory for a Go slice (or a HostBuffer), of its type
// and length, and copies it there: [Device.Alloc] and [Buffer.Upload] in one. A slice
// of structs, arrays or bools becomes its bytes: a buffer of Uint8 that a kernel
// takes as a slice of these, and [Buffer.Download] reads into such a slice.
func (d *Device) Upload(src any) (*Buffer, error) {
	from, err := end("Device.Upload", src)
	if err != nil {
		return nil, err
	}
	b, err := d.alloc("Device.Upload", from.n, from.typ, deviceMemory, driver.Driver.MemAlloc)
	if err != nil {
		return nil, err
	}
	if err := b.Upload(src); err != nil {
		return nil, errors.Join(err, b.Free())
	}
	return b, nil
}

// Download copies the buffer to a Go slice (or a HostBuffer) of the same type
// and length, and waits. It is ordered on the legacy default stream, as
// cudaMemcpy.
func (b *Buffer) Download(dst any) error { return memcpy("Buffer.Download", dst, b) }

// UploadAsync queues a copy from host to device on s. From pinned memory
// ([AllocHost]) the call returns at once, and the source must not change until
// the copy is done; from a Go slice CUDA stages the data before it returns.
func (b *Buffer) UploadAsync(src any, s *Stream) error {
	return memcpyAsync("Buffer.UploadAsync", b, src, s)
}

// DownloadAsync queues a copy from device to host on s. To pinned memory the
// call returns at once; to a Go slice it returns when the data are there.
func (b *Buffer) DownloadAsync(dst any, s *Stream) error {
	return memcpyAsync("Buffer.DownloadAsync", dst, b, s)
}

// Memset sets every byte (cudaMemset), ordered on the legacy default stream.
// The call may return before the device is done.
func (b *Buffer) Memset(value byte) error {
	c, err := b.context("Buffer.Memset")
	if err != nil || b.n == 0 {
		return err
	}
	err = b.own.dev.fail(b.own.dev.drv().Memset(c, b.ptr, uint32(value), 1, uint64(b.Bytes())))
	runtime.KeepAlive(b)
	return err
}

// MemsetAsync queues a Memset on s.
func (b *Buffer) MemsetAsync(value byte, s *Stream) error {
	if err := b.alive("Buffer.MemsetAsync"); err != nil {
		return err
	}
	if s == nil {
		s = b.own.dev.DefaultStream()
	}
	c, err := s.use("Buffer.MemsetAsync")
	if err != nil || b.n == 0 {
		return err
	}
	return s.queued(s.dev.drv().MemsetAsync(c, b.ptr, uint32(value), 1, uint64(b.Bytes()), s.h), "Buffer.MemsetAsync", b)
}

func (b *Buffer) context(call string) (driver.Context, error) {
	if err := b.alive(call); err != nil {
		return 0, err
	}
	return b.own.dev.context()
}
