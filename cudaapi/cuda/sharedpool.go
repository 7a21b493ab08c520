package cuda

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"runtime"

	"gocuda/cudaapi/driver"
)

// Export gives the file that stands for the pool, for another process to import
// (cudaMemPoolExportToShareableHandle). The pool must be from NewSharedPool. Hand
// the file on as files are: to a child by exec.Cmd's ExtraFiles, to others over
// a Unix socket. Close it when that is done.
func (p *Pool) Export() (*os.File, error) {
	if err := p.use("Pool.Export"); err != nil {
		return nil, err
	}
	fd, err := p.dev.drv().MemPoolExport(p.h)
	if err != nil {
		return nil, p.dev.fail(err)
	}
	return os.NewFile(uintptr(fd), "CUDA memory pool"), nil
}

// ImportPool opens another process's pool of d's memory
// (cudaMemPoolImportFromShareableHandle). Nothing is allocated from it here:
// Pool.Open opens what the other process allocated. f stays the caller's. For
// another device to use the memory, call SetAccess first.
func (d *Device) ImportPool(f *os.File) (*Pool, error) {
	if _, err := d.context(); err != nil {
		return nil, err
	}
	if f == nil {
		return nil, misuse(driver.ErrInvalidValue, "Device.ImportPool", d, "the file is nil")
	}
	h, err := d.drv().MemPoolImport(int(f.Fd()))
	runtime.KeepAlive(f)
	if err != nil {
		return nil, d.fail(err)
	}
	return &Pool{dev: d, h: h, access: new(deviceSet)}, nil
}

// PoolMemory is memory of a shared pool as another process can open it once it
// has imported the pool. It is plain data: send it as it is, or as text.
type PoolMemory struct {
	Handle [64]byte
	Offset uint64 // of the view within the allocation, bytes
	N      int
	Type   Type
}

// PoolHandle describes the buffer, which may be a view, for another process
// (cudaMemPoolExportPointer). Its memory must be from a shared pool. The other
// process must use it behind the work that allocates it: send the handle after a
// synchronization, or an interprocess event with it.
func (b *Buffer) PoolHandle() (PoolMemory, error) {
	c, err := b.context("Buffer.PoolHandle")
	if err != nil {
		return PoolMemory{}, err
	}
	a := b.own.allocation
	if a.kind != asyncMemory || a.bytes == 0 {
		return PoolMemory{}, misuse(driver.ErrInvalidValue, "Buffer.PoolHandle", a.dev, "%d bytes of %s memory; only memory from Pool.AllocAsync of a shared pool has such a handle", a.bytes, a.kind)
	}
	h, err := a.dev.drv().MemPoolExportPointer(c, a.ptr)
	return PoolMemory{Handle: h, Offset: uint64(b.ptr - a.ptr), N: b.n, Type: b.typ}, a.dev.fail(err)
}

// Open opens another process's memory, of the pool that was imported
// (cudaMemPoolImportPointer). Free or FreeAsync closes it, which must be done
// before the other process frees it.
func (p *Pool) Open(h PoolMemory) (*Buffer, error) {
	const call = "Pool.Open"
	if err := p.use(call); err != nil {
		return nil, err
	}
	bytes, err := p.dev.size(call, h.N, h.Type)
	if err != nil {
		return nil, err
	}
	c, err := p.dev.context()
	if err != nil {
		return nil, err
	}
	at, err := p.dev.drv().MemPoolImportPointer(c, p.h, driver.PoolPointer(h.Handle))
	if err != nil {
		return nil, p.dev.fail(err)
	}
	b := p.dev.ordered.add(p.dev, at, h.Offset+bytes, h.N, h.Type, p.access)
	b.ptr += driver.Ptr(h.Offset)
	return b, nil
}

// MarshalText writes the handle as hexadecimal digits.
func (h PoolMemory) MarshalText() ([]byte, error) {
	return marshalHandle(h.Handle, h.Offset, h.N, h.Type), nil
}

// UnmarshalText reads what MarshalText wrote.
func (h *PoolMemory) UnmarshalText(text []byte) (err error) {
	h.Handle, h.Offset, h.N, h.Type, err = unmarshalHandle(text)
	return err
}

// marshalHandle writes a handle of memory as text.
func marshalHandle(handle [64]byte, offset uint64, n int, t Type) []byte {
	b := append([]byte(nil), handle[:]...)
	b = binary.LittleEndian.AppendUint64(b, offset)
	b = binary.LittleEndian.AppendUint64(b, uint64(n))
	b = append(b, byte(t))
	return []byte(hex.EncodeToString(b))
}

// unmarshalHandle reads what marshalHandle wrote.
func unmarshalHandle(text []byte) (handle [64]byte, offset uint64, n int, t Type, err error) {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != 81 {
		return handle, 0, 0, 0, fmt.Errorf("a handle of memory has 162 hexadecimal digits, this is %q", text)
	}
	copy(handle[:], b)
	return handle, binary.LittleEndian.Uint64(b[64:]), int(binary.LittleEndian.Uint64(b[72:])), Type(b[80]), nil
}
