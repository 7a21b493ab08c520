//go:build linux && (amd64 || arm64)

package clib

import "runtime"

// Current is what a library keeps for each thread, such as CUDA's current
// context: Get, of type int(uintptr_t *), stores it, and Set, of type
// int(uintptr_t), changes it; both give 0 where they succeed.
type Current struct{ Get, Set uintptr }

// callWith is CallWith in three calls.
func callWith(current Current, want, fn uintptr, args ...uintptr) (result uintptr, entered bool) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	got := new(uintptr)
	if int32(Call(current.Get, Pin(got))) != 0 || *got != want {
		if result = Call(current.Set, want); int32(result) != 0 {
			return result, false
		}
	}
	return Call(fn, args...), true
}
