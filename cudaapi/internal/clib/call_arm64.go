//go:build linux

package clib

import "github.com/ebitengine/purego"

// Call calls a C function with integers and addresses. Those of Go memory must
// be on the heap (see [Pin]), and the caller keeps it alive.
func Call(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, onStack(args)...)
	return r
}

// Code is Call for a function whose result is an int.
func Code(fn uintptr, args ...uintptr) int32 { return int32(Call(fn, args...)) }

// CodeWith is Code on a thread on which want is current. Where it cannot be made
// current the function is not called, entered is false and the code is that of
// Set.
func CodeWith(current Current, want, fn uintptr, args ...uintptr) (code int32, entered bool) {
	return codeWith(current, want, fn, args...)
}
