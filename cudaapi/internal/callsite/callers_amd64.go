package callsite

import "runtime"

// callers reads where the frames of the calling goroutine return to, along the frame
// pointers, without the innermost skip ones; the first of these is the caller's. Of n at
// most it gives how many there are. In assembly nothing moves the stack meanwhile.
//
//go:noescape
func callers(to *uintptr, skip, n int) int

// framesOf are the functions of a frame that returns to pc, the innermost first: several
// if some were inlined. Only where another frame follows does the runtime report all.
func framesOf(pc uintptr) (list []runtime.Frame) {
	frames := runtime.CallersFrames([]uintptr{pc, pc})
	for {
		f, more := frames.Next()
		if !more {
			return list
		}
		list = append(list, f)
	}
}
