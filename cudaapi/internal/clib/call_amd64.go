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
	// What the thread must have current before fn is called; see Current. No
	// get, no question.
	get, set, want uintptr
	got            uintptr // what get stored
	failed         uintptr // 1 if result is that of set, and fn was not called
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
	c.fn, c.get = fn, 0
	copy(c.args[:], args)
	cgocall(gocudaCallABI0, unsafe.Pointer(c))
	r := c.result
	callArgsPool.Put(c)
	return r
}

// CallWith calls a C function, as Call does, on a thread on which want is
// current. Where it cannot be made current the function is not called, entered is
// false and the result is that of Set.
func CallWith(current Current, want, fn uintptr, args ...uintptr) (result uintptr, entered bool) {
	if len(args) > len(callArgs{}.args) {
		return callWith(current, want, fn, args...)
	}
	c := callArgsPool.Get().(*callArgs)
	c.fn, c.get, c.set, c.want, c.failed = fn, current.Get, current.Set, want, 0
	copy(c.args[:], args)
	cgocall(gocudaCallABI0, unsafe.Pointer(c))
	result, entered = c.result, c.failed == 0
	callArgsPool.Put(c)
	return result, entered
}
