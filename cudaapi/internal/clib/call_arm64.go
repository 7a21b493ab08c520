//go:build linux

package clib

import "github.com/ebitengine/purego"

// Call calls a C function with integers and addresses. Those of Go memory must
// be on the heap (see [Pin]), and the caller keeps it alive.
func Call(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, onStack(args)...)
	return r
}
