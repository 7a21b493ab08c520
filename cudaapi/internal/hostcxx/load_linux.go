package hostcxx

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// Library is code that was loaded; where no file could hold it, memory does, for
// as long as it is loaded.
type Library struct {
	handle uintptr
	memory *os.File
}

// Load loads a shared object. Each load is a file of its own, so that each has its
// own variables. Where a file cannot be written, or not be loaded (a file system
// can forbid to run what lies there), it is one in memory.
func Load(image []byte) (Library, error) {
	failed := errors.New("no temporary folder")
	for _, in := range workFolders("") {
		dir, err := own.in(in)
		if err != nil {
			failed = err
			continue
		}
		h, err := openFile(dir, image)
		if err == nil {
			return Library{handle: h}, nil
		}
		failed = err
	}
	l, err := openMemory(image)
	if err != nil {
		return Library{}, errors.Join(failed, err)
	}
	return l, nil
}

func openMemory(image []byte) (Library, error) {
	fd, err := unix.MemfdCreate("gocuda-code", unix.MFD_CLOEXEC)
	if err != nil {
		return Library{}, err
	}
	f := os.NewFile(uintptr(fd), "gocuda-code")
	if _, err = f.Write(image); err == nil {
		var h uintptr
		// The loader tells libraries apart by this name, too: so f stays open.
		if h, err = openPath(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil {
			return Library{h, f}, nil
		}
	}
	f.Close()
	return Library{}, err
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
		return 0, fmt.Errorf("cannot load compiled code: %w", err)
	}
	return h, nil
}

// Close unloads it.
func (l Library) Close() {
	purego.Dlclose(l.handle) //nolint:errcheck // nothing can be done
	if l.memory != nil {
		l.memory.Close()
	}
}

// Symbol is the address of what has a name in the library.
func (l Library) Symbol(name string) (uintptr, error) { return symbol(l.handle, name) }

// InProcess is the address of what has a name in the process, such as fflush.
func InProcess(name string) (uintptr, error) { return symbol(purego.RTLD_DEFAULT, name) }

func symbol(h uintptr, name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlsym(h, name)
}
