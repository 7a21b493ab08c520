//go:build linux && (amd64 || arm64)

package clib

import "runtime"

// Current is what a library keeps for each thread, such as CUDA's current
// context: Get, of type int(uintptr_t *), stores it, and Set, of type
// int(uintptr_t), changes it; both give 0 where they succeed, and otherwise a
// positive number below 1<<30.
type Current struct{ Get, Set uintptr }

// codeWith is CodeWith in three calls.
func codeWith(current Current, want, fn uintptr, args ...uintptr) (code int32, entered bool) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	got := new(uintptr)
	if Code(current.Get, Pin(got)) != 0 || *got != want {
		if code = Code(current.Set, want); code != 0 {
			return code, false
		}
	}
	return Code(fn, args...), true
}
