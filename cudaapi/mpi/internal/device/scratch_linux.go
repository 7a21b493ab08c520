package device

import (
	"sync"
	"syscall"
)

// regions are host memory for receives whose messages mostly do not come there:
// address space, which becomes memory only where it is written.
var regions struct {
	sync.Mutex
	free [][]byte
}

const mostRegions = 8

// scratch is host memory of n bytes, and how to give it back when so many bytes of
// it were written.
func scratch(n int) ([]byte, func(used int)) {
	if n <= 4<<10 {
		return make([]byte, n), func(int) {}
	}
	regions.Lock()
	for i, r := range regions.free {
		if len(r) >= n {
			regions.free = append(regions.free[:i], regions.free[i+1:]...)
			regions.Unlock()
			return r[:n], func(used int) { giveRegion(r, used) }
		}
	}
	regions.Unlock()
	r, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return make([]byte, n), func(int) {}
	}
	return r, func(used int) { giveRegion(r, used) }
}

// giveRegion keeps a region. An envelope's page stays: to give it to the system and
// take it again costs more than the whole receive.
func giveRegion(r []byte, used int) {
	regions.Lock()
	defer regions.Unlock()
	if len(regions.free) < mostRegions {
		if used > 4<<10 {
			syscall.Madvise(r, syscall.MADV_DONTNEED)
		}
		regions.free = append(regions.free, r)
		return
	}
	syscall.Munmap(regions.free[0])
	regions.free = append(regions.free[1:], r)
}
