//go:build !linux

package device

// scratch is host memory of n bytes, and how to give it back.
func scratch(n int) ([]byte, func(used int)) { return make([]byte, n), func(int) {} }
