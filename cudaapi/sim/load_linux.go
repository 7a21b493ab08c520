package sim

import (
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/ebitengine/purego"
)

func dlopen(image []byte) (uintptr, error) {
	// Each load is a file of its own, so that each has its own variables.
	f, err := os.CreateTemp("", "gocuda-*.so")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(image)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return 0, err
	}
	runtime.LockOSThread() // the loader's message belongs to the thread
	defer runtime.UnlockOSThread()
	h, err := purego.Dlopen(f.Name(), purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return 0, fmt.Errorf("cannot load compiled device code: %w", err)
	}
	return h, nil
}

func dlsym(h uintptr, name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlsym(h, name)
}

func dlclose(h uintptr) { purego.Dlclose(h) } //nolint:errcheck // nothing can be done

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
	f, _ := dlsym(purego.RTLD_DEFAULT, "fflush")
	return f
})
