// Package sync has the generic part of the standard package sync.
package sync

import "sync"

// OnceValue returns a function that calls f once and returns what f returned,
// or panics as f did, ever after.
func OnceValue[T any](f func() T) func() T {
	var value T
	once := sync.OnceFunc(func() { value = f() })
	return func() T {
		once()
		return value
	}
}

// OnceValues is OnceValue for two results.
func OnceValues[T1, T2 any](f func() (T1, T2)) func() (T1, T2) {
	var value1 T1
	var value2 T2
	once := sync.OnceFunc(func() { value1, value2 = f() })
	return func() (T1, T2) {
		once()
		return value1, value2
	}
}
