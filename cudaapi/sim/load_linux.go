package sim

import (
	"sync"

	"github.com/ebitengine/purego"

	"gocuda/cudaapi/internal/hostcxx"
)

func call(f uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(f, args...)
	return r
}

// flushOutput writes out what kernels have printed.
func flushOutput() {
	if f := fflush(); f != 0 {
		call(f, 0)
	}
}

var fflush = sync.OnceValue(func() uintptr {
	f, _ := hostcxx.InProcess("fflush")
	return f
})
