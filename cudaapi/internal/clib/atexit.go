//go:build linux && (amd64 || arm64)

package clib

import "unsafe"

// RunAtExit runs what the library has registered by atexit, and its
// destructors: what C's exit would run, and the end of a Go program does not.
// Nothing of the library may be called afterwards.
//
// A library's atexit functions are run by the destructor that the compiler puts
// into its DT_FINI_ARRAY; that destructor does nothing the second time.
func (l *Library) RunAtExit() {
	const (
		null      = 0
		finiArray = 26 // DT_FINI_ARRAY
		finiSize  = 28 // DT_FINI_ARRAYSZ
	)
	// What dlopen gives is a struct link_map, in glibc and in musl.
	m := *(**struct {
		base    uintptr
		name    *byte
		dynamic *[1 << 16]struct{ tag, value uintptr }
	})(unsafe.Pointer(&l.handle))
	var array, size uintptr
	for i := range m.dynamic {
		d := &m.dynamic[i]
		if d.tag == null {
			break
		}
		switch d.tag {
		case finiArray:
			array = m.base + d.value
		case finiSize:
			size = d.value
		}
	}
	if array == 0 {
		return
	}
	functions := unsafe.Slice(*(**uintptr)(unsafe.Pointer(&array)), size/unsafe.Sizeof(array))
	for i := len(functions) - 1; i >= 0; i-- {
		// As in the loader, 0 and -1 are empty places.
		if f := functions[i]; f+1 > 1 {
			Call(f)
		}
	}
}
