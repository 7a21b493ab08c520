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

// Frame is a C function and the words to call it with.
type Frame struct {
	Fn   uintptr
	Args [11]uintptr
}

// Code calls the function, whose result is an int.
func (c *Frame) Code() int32 { return Code(c.Fn, c.Args[:]...) }

// Out calls a function whose result is an int and whose first parameter points
// to a word that it writes: Args[0] is not used, and the word is the second
// result. The function must not call back into Go.
func (c *Frame) Out() (code int32, word uintptr) {
	out := new(uintptr)
	c.Args[0] = Pin(out)
	code = c.Code()
	return code, *out
}
