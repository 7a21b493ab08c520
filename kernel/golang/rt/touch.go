package rt

import (
	"reflect"
	"unsafe"
)

// Touch is some elements of a slice that a statement of a cell is about to read or
// write.
type Touch struct {
	Cell    string
	Line    int
	P       unsafe.Pointer
	Bytes   int
	Write   bool
	Element bool // one element
	Called  bool // in a function that compiled code has called in a goroutine of its own
}

// touch tells the runtime's watcher of the elements from first to before last, to
// the end if that is negative.
func (r *Runtime) touch(slice any, first, last int, write, element bool, line int, cell string) {
	if r.Touched == nil {
		return
	}
	v := reflect.ValueOf(slice)
	if last < 0 {
		last = v.Len()
	}
	if first < 0 || first >= last || last > v.Len() {
		return // the statement will say so, if it comes to that
	}
	size := int(v.Type().Elem().Size())
	r.Touched(Touch{cell, line, unsafe.Add(v.UnsafePointer(), first*size), (last - first) * size, write, element, r.called.Load() > 0 && r.isCalled()})
}

// isCalled reports whether compiled code started the calling goroutine's function:
// see callback.
func (r *Runtime) isCalled() bool {
	_, ok := r.callbacks.Load(goid())
	return ok
}
