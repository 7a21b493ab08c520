package sim

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// addressHint is where the devices' address space starts if nothing else is
// there: fixed, so that printed addresses are the same on every run.
const addressHint = 0x1000_0000_0000

// reserve takes address space without memory in it.
func reserve(n uintptr) (uintptr, error) {
	p, err := unix.MmapPtr(-1, 0, pointer(addressHint), n, unix.PROT_NONE,
		unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE|unix.MAP_FIXED_NOREPLACE)
	if err != nil {
		p, err = unix.MmapPtr(-1, 0, nil, n, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	}
	if err != nil {
		return 0, fmt.Errorf("sim: cannot reserve %d GiB of address space: %w", n>>30, err)
	}
	return uintptr(p), nil
}

// forbid makes mapped memory such as nobody can read or write.
func forbid(addr, n uintptr) {
	unix.Mprotect(bytesAt(addr, uint64(n)), unix.PROT_NONE) //nolint:errcheck // it is a precaution
}

// mapShared puts n bytes of memory that other processes can open at addr, and
// returns a descriptor of it.
func mapShared(addr, n uintptr) (int, error) {
	fd, err := sharedFile(n)
	if err == nil {
		_, err = mapFile(fd, 0, addr, n)
	}
	return fd, err
}

// mapFile maps n bytes of an open file from off at addr, or where there is room
// if addr is 0.
func mapFile(fd int, off int64, addr, n uintptr) (uintptr, error) {
	flags := unix.MAP_SHARED | unix.MAP_NORESERVE
	if addr != 0 {
		flags |= unix.MAP_FIXED
	}
	p, err := unix.MmapPtr(fd, off, pointer(addr), n, unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		return 0, fmt.Errorf("sim: cannot map %d bytes: %w", n, err)
	}
	return uintptr(p), nil
}

// sharedFile is a file of n bytes in memory that other processes can open.
func sharedFile(n uintptr) (int, error) {
	fd, err := unix.MemfdCreate("gocuda", unix.MFD_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("sim: memory to share: memfd_create: %w", err)
	}
	if err := unix.Ftruncate(fd, int64(n)); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("sim: memory to share: %w", err)
	}
	return fd, nil
}

// openShared opens another process's shared file.
func openShared(pid, fd int) (int, error) {
	return unix.Open(fmt.Sprintf("/proc/%d/fd/%d", pid, fd), unix.O_RDWR|unix.O_CLOEXEC, 0)
}

// writeFile and readFile write and read the start of a file in memory.
func writeFile(fd int, b []byte) error {
	_, err := unix.Pwrite(fd, b, 0)
	return err
}

func readFile(fd int, b []byte) error {
	n, err := unix.Pread(fd, b, 0)
	if err == nil && n < len(b) {
		err = fmt.Errorf("it has %d bytes", n)
	}
	return err
}

func closeFile(fd int) { unix.Close(fd) }

// alive reports whether a process exists.
func alive(pid int) bool { return unix.Kill(pid, 0) != unix.ESRCH }

// mapPrivate makes n bytes at addr plain memory of this process; with addr 0
// it chooses the address.
func mapPrivate(addr, n uintptr) (uintptr, error) {
	flags := unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_NORESERVE
	if addr != 0 {
		flags |= unix.MAP_FIXED
	}
	p, err := unix.MmapPtr(-1, 0, pointer(addr), n, unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		return 0, fmt.Errorf("sim: cannot map %d bytes: %w", n, err)
	}
	return uintptr(p), nil
}

// unmap takes memory away and keeps the address reserved.
func unmap(addr, n uintptr) {
	unix.MmapPtr(-1, 0, pointer(addr), n, unix.PROT_NONE, //nolint:errcheck // the memory stays mapped, which harms nobody
		unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE|unix.MAP_FIXED)
}

// discard gives the memory of a range back to the system; it stays mapped.
func discard(fd int, off, addr, n uintptr) {
	if fd >= 0 {
		unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, int64(off), int64(n)) //nolint:errcheck // the memory stays, which harms nobody
		return
	}
	unix.Madvise(unsafe.Slice((*byte)(pointer(addr)), n), unix.MADV_DONTNEED) //nolint:errcheck // as above
}

// release unmaps a whole reservation.
func release(addr, n uintptr) error { return unix.MunmapPtr(pointer(addr), n) }
