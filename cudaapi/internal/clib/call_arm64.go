//go:build linux

package clib

import "github.com/ebitengine/purego"

// Call calls a C function with integers and addresses. Those of Go memory must
// be on the heap (see [Pin]), and the caller keeps it alive.
func Call(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, onStack(args)...)
	return r
}

// CallWith calls a C function, as Call does, on a thread on which want is
// current. Where it cannot be made current the function is not called, entered is
// false and the result is that of Set.
func CallWith(current Current, want, fn uintptr, args ...uintptr) (result uintptr, entered bool) {
	return callWith(current, want, fn, args...)
}
