package rt

import (
	"reflect"
	"sync"
	"sync/atomic"
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

// touching says whether lowered code tells what it touches.
type touching struct {
	mu      sync.Mutex
	flag    *bool // that it reads
	pending atomic.Bool
}

// SetPending says whether anything is queued that what cells touch may meet.
func (r *Runtime) SetPending(yes bool) {
	r.touching.mu.Lock()
	defer r.touching.mu.Unlock()
	r.touching.pending.Store(yes)
	if r.touching.flag != nil {
		setFlag(r.touching.flag, yes)
	}
}

// Pending is set while something is queued that what cells touch may meet.
func (r *Runtime) Pending() *atomic.Bool { return &r.touching.pending }

// touch tells the runtime's watcher of the elements of a slice from first to before
// last, to the end if that is negative; or of what a pointer points to. Of anything else
// there is nothing to tell.
func (r *Runtime) touch(slice any, first, last int, write, element bool, line int, cell string) {
	if r.Touched == nil {
		return
	}
	v := reflect.ValueOf(slice)
	n := 0
	switch v.Kind() {
	case reflect.Slice:
		n = v.Len()
	case reflect.Pointer:
		if !v.IsNil() {
			n = 1
		}
	}
	if last < 0 {
		last = n
	}
	if first < 0 || first >= last || last > n {
		return // the statement will say so, if it comes to that
	}
	size := int(v.Type().Elem().Size())
	r.Touched(Touch{cell, line, unsafe.Add(v.UnsafePointer(), first*size), (last - first) * size, write, element, r.called.Load() > 0 && r.isCalled()})
}

// touchAppended tells what an append of n elements to a slice does: it writes them
// behind the slice's, where there is room, and else reads these.
func (r *Runtime) touchAppended(slice any, n int, line int, cell string) {
	v := reflect.ValueOf(slice)
	if last := v.Len() + n; last <= v.Cap() {
		r.touch(v.Slice(0, last).Interface(), v.Len(), last, true, false, line, cell)
	} else {
		r.touch(slice, 0, -1, false, false, line, cell)
	}
}

// isCalled reports whether compiled code started the calling goroutine's function:
// see callback.
func (r *Runtime) isCalled() bool {
	_, ok := r.callbacks.Load(goid())
	return ok
}
