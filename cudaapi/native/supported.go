//go:build linux && (amd64 || arm64)

package native

import (
	"runtime"
	"unsafe"

	"gocuda/cudaapi/internal/clib"
)

const supported = true

// callWord calls a C function with a word and an address, of the heap.
func callWord(fn, word uintptr, p unsafe.Pointer) { clib.Code(fn, word, clib.Pin((*byte)(p))) }

// tellRuntime calls the C function by which compiled code is told how to ask.
func tellRuntime(fn uintptr) { clib.Code(fn, crosscall2, answerPC) }

// call calls a C function with two addresses, of the heap: a stack may move.
func call(fn uintptr, a, b unsafe.Pointer) {
	clib.Code(fn, clib.Pin((*byte)(a)), clib.Pin((*byte)(b)))
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
}
