package sim

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// library is code that was loaded; where no file could hold it, memory does, for
// as long as it is loaded.
type library struct {
	handle uintptr
	memory *os.File
}

// dlopen loads an image. Each load is a file of its own, so that each has its own
// variables. Where a file cannot be written, or not be loaded (a file system can
// forbid to run what lies there), it is one in memory.
func dlopen(image []byte) (library, error) {
	failed := errors.New("no temporary folder")
	for _, dir := range workFolders("") {
		h, err := openFile(dir, image)
		if err == nil {
			return library{handle: h}, nil
		}
		failed = err
	}
	l, err := openMemory(image)
	if err != nil {
		return library{}, errors.Join(failed, err)
	}
	return l, nil
}

func openMemory(image []byte) (library, error) {
	fd, err := unix.MemfdCreate("gocuda-kernels", unix.MFD_CLOEXEC)
	if err != nil {
		return library{}, err
	}
	f := os.NewFile(uintptr(fd), "gocuda-kernels")
	if _, err = f.Write(image); err == nil {
		var h uintptr
		// The loader tells libraries apart by this name, too: so f stays open.
		if h, err = openPath(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil {
			return library{h, f}, nil
		}
	}
	f.Close()
	return library{}, err
}

func openFile(dir string, image []byte) (uintptr, error) {
	f, err := os.CreateTemp(dir, "gocuda-*.so")
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
	return openPath(f.Name())
}

func openPath(path string) (uintptr, error) {
	runtime.LockOSThread() // the loader's message belongs to the thread
	defer runtime.UnlockOSThread()
	h, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return 0, fmt.Errorf("cannot load compiled device code: %w", err)
	}
	return h, nil
}

func (l library) close() {
	purego.Dlclose(l.handle) //nolint:errcheck // nothing can be done
	if l.memory != nil {
		l.memory.Close()
	}
}

func dlsym(h uintptr, name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlsym(h, name)
}

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
