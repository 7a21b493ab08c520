//go:build !amd64

package callsite

import (
	"runtime"
	"unsafe"
)

// callers reads where the frames of the calling goroutine return to, without the
// innermost skip ones; the first of these is the caller's. Of n at most it gives how many
// there are.
func callers(to *uintptr, skip, n int) int {
	return runtime.Callers(skip+2, unsafe.Slice(to, n))
}

// framesOf is the function of what returns to pc.
func framesOf(pc uintptr) []runtime.Frame {
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return []runtime.Frame{f}
}
