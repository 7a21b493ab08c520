package ipc

import "sync"

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
