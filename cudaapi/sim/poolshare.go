package sim

import (
	"encoding/binary"
	"os"

	"gocuda/cudaapi/driver"
)

const (
	poolMagic    = 0x706f6f6c
	pointerMagic = 0x70747270
)

// poolOrigin says which pool of which process one is.
type poolOrigin struct{ pid, id uint64 }

// poolFile is what the file of an exported pool holds: its origin and device.
const poolFile = 32

// MemPoolExport gives a shared pool's file descriptor.
func (m *Driver) MemPoolExport(id driver.MemPool) (int, error) {
	const call = "cuMemPoolExportToShareableHandle"
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.pool(call, id)
	if err != nil {
		return -1, err
	}
	if !p.shared {
		return -1, fail(call, driver.ErrInvalidValue, "the pool was not made to be shared")
	}
	fd, err := sharedFile(poolFile)
	if err != nil {
		return -1, fail(call, driver.ErrOperatingSystem, "%v", err)
	}
	var b [poolFile]byte
	for i, v := range []uint64{poolMagic, uint64(os.Getpid()), uint64(id), uint64(p.dev.id)} {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	if err := writeFile(fd, b[:]); err != nil {
		closeFile(fd)
		return -1, fail(call, driver.ErrOperatingSystem, "%v", err)
	}
	return fd, nil
}

// MemPoolImport makes a pool of another process's file descriptor. It allocates
// nothing itself; its pointers are imported.
func (m *Driver) MemPoolImport(fd int) (driver.MemPool, error) {
	const call = "cuMemPoolImportFromShareableHandle"
	var b [poolFile]byte
	if err := readFile(fd, b[:]); err != nil || binary.LittleEndian.Uint64(b[:]) != poolMagic {
		return 0, fail(call, driver.ErrInvalidValue, "file descriptor %d is no simulated pool's", fd)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	dev, err := m.device(call, driver.Device(binary.LittleEndian.Uint64(b[24:])))
	if err != nil {
		return 0, err
	}
	p := m.newPool(dev)
	p.origin = &poolOrigin{binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])}
	return p.id, nil
}

// MemPoolExportPointer makes an allocation of a shared pool known to other
// processes.
func (m *Driver) MemPoolExportPointer(c driver.Context, p driver.Ptr) (x driver.PoolPointer, err error) {
	const call = "cuMemPoolExportPointer"
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.usable(call, c); err != nil {
		return x, err
	}
	a := m.space.find(uintptr(p))
	if a == nil || a.base != uintptr(p) || a.pool == nil || !a.pool.shared {
		return x, fail(call, driver.ErrInvalidValue, "%#x is not the start of memory from a shared pool", uint64(p))
	}
	m.space.touch(a, 0, a.size, false)
	x = ticket{pointerMagic, uint32(os.Getpid()), uint32(a.arena.fd), uint32(a.device),
		uint64(a.base - a.arena.base), a.size, 0}.encode()
	binary.LittleEndian.PutUint64(x[32:], uint64(a.pool.id))
	return x, nil
}

// MemPoolImportPointer maps an allocation of an imported pool. MemFree and
// MemFreeAsync give it back.
func (m *Driver) MemPoolImportPointer(c driver.Context, id driver.MemPool, x driver.PoolPointer) (driver.Ptr, error) {
	const call = "cuMemPoolImportPointer"
	m.mu.Lock()
	defer m.mu.Unlock()
	ctx, err := m.usable(call, c)
	if err != nil {
		return 0, err
	}
	p, err := m.pool(call, id)
	if err != nil {
		return 0, err
	}
	t := decodeTicket(x)
	if t.magic != pointerMagic || t.size == 0 || t.size > 1<<48 || t.off > 1<<48 {
		return 0, fail(call, driver.ErrInvalidValue, "not a pointer of a simulated pool")
	}
	if p.origin == nil || *p.origin != (poolOrigin{uint64(t.pid), binary.LittleEndian.Uint64(x[32:])}) {
		return 0, fail(call, driver.ErrInvalidValue, "the pointer is not of the pool that was imported")
	}
	a, err := m.mapForeign(call, ctx, t)
	if err != nil {
		return 0, err
	}
	a.imported.pooled = true
	return driver.Ptr(a.base), nil
}
