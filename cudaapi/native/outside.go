package native

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"gocuda/cudaapi/gokernel"
)

// outside calls a function of Go with a frame of C's, which has its arguments, and
// places for its results.
type outside func(r *record, frame unsafe.Pointer)

// BindOutside asks for the functions of HostProgram.Outside, but not for panic and the uses of
// maps. If there are some, it comes before the first call. fail is what must does with an
// error: it does not return. dynamic gives the functions for the uses of dynamic types, in the
// order of Outside; it is called when one is used first, as only then all of their types are known.
func (c *Code) BindOutside(find func(gokernel.HostCall) (reflect.Value, error), fail func(error), dynamic func() []reflect.Value) error {
	uses := sync.OnceValue(func() []outside {
		list := make([]outside, len(c.Program.Outside))
		for i, f := range dynamic() {
			if f.IsValid() {
				list[i] = newDynamicUse(f, c.Program.Outside[i])
			}
		}
		return list
	})
	for i, h := range c.Program.Outside {
		if c.outside[i] != nil {
			continue
		}
		if h.Dynamic {
			c.outside[i] = func(r *record, frame unsafe.Pointer) { uses()[i](r, frame) }
			continue
		}
		f, err := find(h)
		if err != nil {
			return err
		}
		c.outside[i] = newOutside(f, h, fail)
	}
	return nil
}

// newOutside is quick for functions that loops call often.
func newOutside(f reflect.Value, c gokernel.HostCall, fail func(error)) outside {
	if len(c.Results) == 1 {
		switch f := f.Interface().(type) {
		case func() float64:
			return func(_ *record, p unsafe.Pointer) { *(*float64)(p) = f() }
		case func() int:
			return func(_ *record, p unsafe.Pointer) { *(*int)(p) = f() }
		case func() uint32:
			return func(_ *record, p unsafe.Pointer) { *(*uint32)(p) = f() }
		case func() uint64:
			return func(_ *record, p unsafe.Pointer) { *(*uint64)(p) = f() }
		case func(int) int:
			return func(_ *record, p unsafe.Pointer) { a := (*[2]int)(p); a[1] = f(a[0]) }
		case func(rune) bool:
			return func(_ *record, p unsafe.Pointer) {
				a := (*struct {
					r  rune
					ok bool
				})(p)
				a.ok = f(a.r)
			}
		case func(string, string) bool:
			return func(_ *record, p unsafe.Pointer) {
				a := (*struct {
					s, t string
					ok   bool
				})(p)
				a.ok = f(a.s, a.t)
			}
		}
	}
	box := frameOf(c)
	return func(r *record, p unsafe.Pointer) {
		frame := reflect.NewAt(box, p).Elem()
		args := make([]reflect.Value, len(c.Params))
		for i := range args {
			args[i] = reflect.ValueOf(frame.Field(i).Interface()) // a copy: the callee may keep it
		}
		results := f.Call(args)
		if c.Must {
			if err, _ := results[len(results)-1].Interface().(error); err != nil {
				fail(err)
			}
		}
		for i := range c.Results {
			v := results[i]
			if v.Kind() == reflect.String && v.Len() > 0 {
				r.kept.add(unsafe.Pointer(unsafe.StringData(v.String())), uintptr(v.Len()))
			}
			at := frame.Field(len(args) + i)
			at.Set(v)
			if v.Kind() == reflect.Interface && !v.IsNil() {
				words := (*[2]unsafe.Pointer)(at.Addr().UnsafePointer())
				r.kept.add(words[0], 0)
				r.kept.add(words[1], 0)
			}
		}
	}
}

// frameOf is the frame of a call: the arguments, then the results.
func frameOf(c gokernel.HostCall) reflect.Type {
	var fields []reflect.StructField
	for _, t := range append(c.Params[:len(c.Params):len(c.Params)], c.Results...) {
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", len(fields)), Type: shapeOf(t)})
	}
	return reflect.StructOf(fields)
}

// callOutside calls a function that C asks for. If that panics, the call of C ends as
// it does by a panic of its own.
func (r *record) callOutside() {
	f, frame := r.outside[r.typ], pointer(&r.in[0])
	defer func() {
		if v := recover(); v != nil {
			r.state, r.site, r.calls, r.value = uint32(Panicked), uint32(r.in[1]), 0, v
		}
	}()
	f(r, frame)
}
