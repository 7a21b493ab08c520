// Package unique has the generic part of the standard package unique.
package unique

import (
	"unsafe"

	"gocuda/kernel/golang/host/generic/plain"
)

// Handle is equal to another if the values are that they were made from.
type Handle[T comparable] struct {
	value *T
}

// Value returns the value that the handle was made from.
func (h Handle[T]) Value() T { return *h.value }

// Make returns the handle of a value.
func Make[T comparable](value T) Handle[T] {
	return Handle[T]{(*T)(plain.Canonical(value, unsafe.Pointer(&value)))}
}
