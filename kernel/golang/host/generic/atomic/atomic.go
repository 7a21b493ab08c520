// Package atomic has the generic part of the standard package sync/atomic.
package atomic

import "sync"

// Pointer is a pointer that goroutines can load and store without other
// synchronization. Its zero value is nil.
type Pointer[T any] struct {
	mu sync.Mutex
	p  *T
}

// Load returns the pointer.
func (x *Pointer[T]) Load() *T {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.p
}

// Store sets the pointer.
func (x *Pointer[T]) Store(val *T) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.p = val
}

// Swap sets the pointer and returns what it was.
func (x *Pointer[T]) Swap(new *T) (old *T) {
	x.mu.Lock()
	defer x.mu.Unlock()
	old = x.p
	x.p = new
	return old
}

// CompareAndSwap sets the pointer if it is old, and says whether it was.
func (x *Pointer[T]) CompareAndSwap(old, new *T) (swapped bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.p != old {
		return false
	}
	x.p = new
	return true
}
