// Package runtime has the generic part of the standard package runtime.
package runtime

import (
	"runtime"
	"unsafe"

	"gocuda/kernel/golang/host/generic/plain"
)

// AddCleanup has cleanup called with arg some time after nothing refers to
// *ptr any more.
func AddCleanup[T, S any](ptr *T, cleanup func(S), arg S) runtime.Cleanup {
	return plain.AddCleanup(unsafe.Pointer(ptr), cleanup, arg)
}
