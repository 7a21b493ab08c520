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

// scratch is host memory of n bytes, and how to give it back.
func scratch(n int) ([]byte, func()) {
	if n <= 4<<10 {
		return make([]byte, n), func() {}
	}
	regions.Lock()
	for i, r := range regions.free {
		if len(r) >= n {
			regions.free = append(regions.free[:i], regions.free[i+1:]...)
			regions.Unlock()
			return r[:n], func() { giveRegion(r) }
		}
	}
	regions.Unlock()
	r, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return make([]byte, n), func() {}
	}
	return r, func() { giveRegion(r) }
}

func giveRegion(r []byte) {
	regions.Lock()
	defer regions.Unlock()
	if len(regions.free) < mostRegions {
		// What a message from a host left there, nobody needs.
		syscall.Madvise(r, syscall.MADV_DONTNEED)
		regions.free = append(regions.free, r)
		return
	}
	syscall.Munmap(regions.free[0])
	regions.free = append(regions.free[1:], r)
}
