//go:build linux && (amd64 || arm64)

package nvidia

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/ebitengine/purego"
)

// library is a shared object whose symbols are looked up one by one, when they
// are first called.
type library struct {
	handle uintptr
	path   string   // the name that the loader took
	names  []string // symbol names by index; alternatives apart by '|', newest first
	addrs  []atomic.Uintptr
}

// openLibrary loads the first of paths that loads. Its error holds each name
// tried with the loader's own words.
func openLibrary(what string, paths, names []string) (*library, error) {
	// dlerror speaks of the calling thread's last failure.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var tried, absent []string
	for _, p := range paths {
		h, err := purego.Dlopen(p, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err == nil {
			return &library{handle: h, path: p, names: names, addrs: make([]atomic.Uintptr, len(names))}, nil
		}
		if filepath.IsAbs(p) && !exists(p) {
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

// addr is the symbol's address, 0 if the library has none of its names.
func (l *library) addr(i int) uintptr {
	if a := l.addrs[i].Load(); a != 0 {
		return a
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for name := range strings.SplitSeq(l.names[i], "|") {
		if a, err := purego.Dlsym(l.handle, name); err == nil {
			l.addrs[i].Store(a)
			return a
		}
	}
	return 0
}

// name is the newest name of a symbol.
func (l *library) name(i int) string {
	name, _, _ := strings.Cut(l.names[i], "|")
	return name
}
