// Package maphash has the generic part of the standard package hash/maphash.
package maphash

import (
	"hash/maphash"

	"gocuda/kernel/golang/host/generic/plain"
)

// Comparable returns the hash of a value: the same for equal ones with one seed.
func Comparable[T comparable](seed maphash.Seed, v T) uint64 {
	return plain.HashOf(seed, any(v))
}

// WriteComparable adds a value to what h hashes.
func WriteComparable[T comparable](h *maphash.Hash, x T) {
	plain.WriteHash(h, any(x))
}
