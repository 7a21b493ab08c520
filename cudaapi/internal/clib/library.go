//go:build linux && (amd64 || arm64)

package clib

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Library is a shared object whose symbols are looked up one by one, when they
// are first called.
type Library struct {
	handle uintptr
	path   string   // the name that the loader took
	names  []string // symbol names by index; alternatives apart by '|', newest first
	addrs  []atomic.Uintptr
}

// Open loads the first of paths that loads. Its error holds each name tried
// with the loader's own words. The library's symbols are those of names, by
// index; a name may hold alternatives apart by '|', newest first.
func Open(what string, paths, names []string) (*Library, error) {
	// dlerror speaks of the calling thread's last failure.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var tried, absent []string
	for _, p := range paths {
		h, err := purego.Dlopen(p, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err == nil {
			return &Library{handle: h, path: p, names: names, addrs: make([]atomic.Uintptr, len(names))}, nil
		}
		if filepath.IsAbs(p) && !Exists(p) {
			absent = append(absent, p)
			continue
		}
		tried = append(tried, fmt.Sprintf("%s (%s)", p, strings.TrimPrefix(err.Error(), p+": ")))
	}
	if len(absent) > 0 {
		tried = append(tried, "and there is no "+strings.Join(absent, ", "))
	}
	return nil, fmt.Errorf("%s not found; tried %s", what, strings.Join(tried, "; "))
}

// Path is the name that the loader took.
func (l *Library) Path() string { return l.path }

// Addr is the address of symbol i, 0 if the library has none of its names.
func (l *Library) Addr(i int) uintptr {
	if a := l.addrs[i].Load(); a != 0 {
		return a
	}
	return l.find(i)
}

func (l *Library) find(i int) uintptr {
	for name := range strings.SplitSeq(l.names[i], "|") {
		if a := l.Lookup(name); a != 0 {
			l.addrs[i].Store(a)
			return a
		}
	}
	return 0
}

// Lookup is the address of a symbol by its name, 0 if there is none.
func (l *Library) Lookup(name string) uintptr {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	a, err := purego.Dlsym(l.handle, name)
	if err != nil {
		return 0
	}
	return a
}

// Name is the newest name of symbol i.
func (l *Library) Name(i int) string {
	name, _, _ := strings.Cut(l.names[i], "|")
	return name
}

// onStack hides a slice from escape analysis, which takes SyscallN to keep its
// arguments; it copies them. So a call allocates nothing.
func onStack(args []uintptr) []uintptr {
	p := uintptr(unsafe.Pointer(&args))
	return **(**[]uintptr)(unsafe.Pointer(&p))
}

// Pin gives the address of a value for C, and makes sure that the value lives on
// the heap: a goroutine's stack may move during a call. The caller keeps it
// alive.
func Pin[T any](p *T) uintptr {
	if never {
		escaped = p
	}
	return uintptr(unsafe.Pointer(p))
}

var (
	never   bool
	escaped any //lint:ignore U1000 a write is all that it is for
)

// Exists says whether there is a file of this name.
func Exists(path string) bool { _, err := os.Stat(path); return err == nil }
