// Package weak has the generic part of the standard package weak.
package weak

import (
	"unsafe"

	"gocuda/kernel/golang/host/generic/plain"
)

// Pointer does not keep its target from the garbage collector.
type Pointer[T any] struct {
	_ [0]*T
	p plain.Weak
}

// Make returns a weak pointer to what ptr points to.
func Make[T any](ptr *T) Pointer[T] {
	if ptr == nil {
		return Pointer[T]{}
	}
	return Pointer[T]{p: plain.MakeWeak(unsafe.Pointer(ptr))}
}

// Value returns the pointer, or nil if its target has been collected.
func (p Pointer[T]) Value() *T { return (*T)(plain.Strong(p.p)) }
