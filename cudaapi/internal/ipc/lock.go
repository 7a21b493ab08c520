package ipc

import (
	"sync"

	"gocuda/cudaapi/cuda"
)

// allocation guards every call that allocates, frees or maps
// device memory. CUDA may carry such a call out only when the device is idle; if
// the device runs a kernel that waits for another device's, and whoever would
// launch that one is stuck behind the allocation, nobody goes on. So whoever
// launches such kernels and whoever allocates take the same mutex.
var allocation struct {
	sync.Mutex
	shared *sync.Mutex
}

// SetMutex makes m the mutex that Allocating holds; nil is one of its own.
func SetMutex(m *sync.Mutex) {
	allocation.Lock()
	allocation.shared = m
	allocation.Unlock()
}

// Allocating calls f under the shared mutex.
func Allocating(f func() error) error {
	allocation.Lock()
	m := allocation.shared
	if m == nil {
		m = new(sync.Mutex)
		allocation.shared = m
	}
	allocation.Unlock()
	m.Lock()
	defer m.Unlock()
	return f()
}

// Freeing is Allocating for what frees memory of a device, and so waits for it: it waits
// without the mutex, which others need meanwhile for what the device waits for. A device
// that gets new work again and again is waited for with it in the end.
func Freeing(d *cuda.Device, f func() error) error {
	for range 8 {
		if d.Synchronize() != nil { // what follows says so, too
			break
		}
		freed := false
		err := Allocating(func() error {
			if d.Busy() {
				return nil
			}
			freed = true
			return f()
		})
		if freed {
			return err
		}
	}
	return Allocating(f)
}
