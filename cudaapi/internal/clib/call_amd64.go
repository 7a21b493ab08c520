//go:build linux

package clib

import (
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// This is what purego.SyscallN does, for integers and at most eleven of them:
// in a third of its 85 ns.

// Frame is a C function and the words to call it with. It is what gocudaCall and
// its sisters read.
type Frame struct {
	Fn     uintptr
	Args   [11]uintptr
	result uintptr // gocudaCall and gocudaOut write it
	// What gocudaCodeWith sees to first; see Current.
	get, set, want uintptr
}

// The addresses of the functions in call_amd64.s.
var gocudaCallABI0, gocudaCodeABI0, gocudaOutABI0, gocudaCodeWithABI0 uintptr

// cgocall runs a C function on a system stack, and tells the scheduler. The
// runtime keeps it for packages like purego, whose setup this relies on.
//
//go:linkname cgocall runtime.cgocall
//go:noescape
func cgocall(fn uintptr, arg unsafe.Pointer) int32

// The arguments of gocudaCall are on the heap: a callback into Go during the call
// may move the goroutine's stack, and the result comes after it. gocudaOut is for
// functions that do not call back, and the others read all that they need before.
var frames = sync.Pool{New: func() any { return new(Frame) }}

// Call calls a C function with integers and addresses. Those of Go memory must
// be on the heap (see [Pin]), and the caller keeps it alive.
func Call(fn uintptr, args ...uintptr) uintptr {
	if len(args) > len(Frame{}.Args) {
		r, _, _ := purego.SyscallN(fn, onStack(args)...)
		return r
	}
	c := frames.Get().(*Frame)
	c.Fn = fn
	copy(c.Args[:], args)
	cgocall(gocudaCallABI0, unsafe.Pointer(c))
	r := c.result
	frames.Put(c)
	return r
}

// Code is Call, quicker, for a function whose result is an int.
func Code(fn uintptr, args ...uintptr) int32 {
	if len(args) > len(Frame{}.Args) {
		return int32(Call(fn, args...))
	}
	var c Frame
	c.Fn = fn
	copy(c.Args[:], args)
	return c.Code()
}

// Code calls the function, whose result is an int.
func (c *Frame) Code() int32 { return cgocall(gocudaCodeABI0, unsafe.Pointer(c)) }

// Out calls a function whose result is an int and whose first parameter points
// to a word that it writes: Args[0] is not used, and the word is the second
// result. The function must not call back into Go.
func (c *Frame) Out() (code int32, word uintptr) {
	c.result = 0
	code = cgocall(gocudaOutABI0, unsafe.Pointer(c))
	return code, c.result
}

// CodeWith is Code on a thread on which want is current. Where it cannot be made
// current the function is not called, entered is false and the code is that of
// Set.
func CodeWith(current Current, want, fn uintptr, args ...uintptr) (code int32, entered bool) {
	if len(args) > len(Frame{}.Args) {
		return codeWith(current, want, fn, args...)
	}
	c := Frame{Fn: fn, get: current.Get, set: current.Set, want: want}
	copy(c.Args[:], args)
	code = cgocall(gocudaCodeWithABI0, unsafe.Pointer(&c))
	return code &^ notEntered, code&notEntered == 0
}

// notEntered marks a code of Set; gocudaCodeWith does it.
const notEntered = 1 << 30
