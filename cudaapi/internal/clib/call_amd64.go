//go:build linux

package clib

import (
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// This is what purego.SyscallN does, for integers and at most eleven of them:
// in half of its 85 ns.

// callArgs is what gocudaCall reads and writes.
type callArgs struct {
	fn     uintptr
	args   [11]uintptr
	result uintptr
}

// gocudaCallABI0 is the address of gocudaCall.
var gocudaCallABI0 uintptr

// cgocall runs a C function on a system stack, and tells the scheduler. The
// runtime keeps it for packages like purego, whose setup this relies on.
//
//go:linkname cgocall runtime.cgocall
//go:noescape
func cgocall(fn uintptr, arg unsafe.Pointer) int32

// The arguments are on the heap: a callback into Go during the call may move the
// goroutine's stack.
var callArgsPool = sync.Pool{New: func() any { return new(callArgs) }}

// Call calls a C function with integers and addresses. Those of Go memory must
// be on the heap (see [Pin]), and the caller keeps it alive.
func Call(fn uintptr, args ...uintptr) uintptr {
	if len(args) > len(callArgs{}.args) {
		r, _, _ := purego.SyscallN(fn, onStack(args)...)
		return r
	}
	c := callArgsPool.Get().(*callArgs)
	c.fn = fn
	copy(c.args[:], args)
	cgocall(gocudaCallABI0, unsafe.Pointer(c))
	r := c.result
	callArgsPool.Put(c)
	return r
}
