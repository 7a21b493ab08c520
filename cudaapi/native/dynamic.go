package native

import (
	"reflect"
	"unsafe"

	"gocuda/cudaapi/gokernel"
)

// newDynamicUse is what a use of a dynamic type does, by a function that knows Go's types:
// with the parameters and results of gokernel's DynamicUse, but that a to and an assert give
// the interface as it lies in memory, and a call takes a value and gives its method.
func newDynamicUse(f reflect.Value, h gokernel.HostCall) outside {
	type words = [2]unsafe.Pointer
	if h.Name == gokernel.DynamicCall || h.Name == gokernel.DynamicRun {
		return newCall(f, h)
	}
	switch f := f.Interface().(type) {
	case func() unsafe.Pointer:
		return func(_ *record, p unsafe.Pointer) { *(*unsafe.Pointer)(p) = f() }
	case func(unsafe.Pointer) int:
		return func(_ *record, p unsafe.Pointer) {
			a := (*struct {
				word unsafe.Pointer
				kind int
			})(p)
			a.kind = f(a.word)
		}
	case func(any):
		return func(_ *record, p unsafe.Pointer) { f(*(*any)(p)) }
	case func(any) words:
		return func(r *record, p unsafe.Pointer) {
			a := (*struct {
				x  any
				to words
			})(p)
			a.to = f(a.x)
			r.kept.add(a.to[1], 0)
		}
	case func(any) (words, bool):
		return func(r *record, p unsafe.Pointer) {
			a := (*struct {
				x  any
				to words
				ok bool
			})(p)
			a.to, a.ok = f(a.x)
			r.kept.add(a.to[1], 0)
		}
	case func(any, any) bool:
		return func(_ *record, p unsafe.Pointer) {
			a := (*struct {
				x, y any
				same bool
			})(p)
			a.same = f(a.x, a.y)
		}
	}
	panic("no use of a dynamic type: " + h.Name)
}

// newCall calls a function of the cell's: one of f's type, or the method that f finds for a
// value. Its parameters and results lie in memory as compiled code has them. It may do
// anything, and so may cut the last way to what compiled code has in variables: that is kept
// first.
func newCall(f reflect.Value, h gokernel.HostCall) outside {
	typ := f.Type()
	of := func(p unsafe.Pointer) reflect.Value { return reflect.NewAt(typ, p).Elem() }
	if h.Name == gokernel.DynamicCall {
		typ = typ.Out(0)
		of = func(p unsafe.Pointer) reflect.Value {
			return f.Call([]reflect.Value{reflect.NewAt(reflect.TypeFor[any](), p).Elem()})[0]
		}
	}
	var at []uintptr
	for field := range frameOf(h).Fields() {
		at = append(at, field.Offset)
	}
	var results []shape
	for _, t := range h.Results {
		results = append(results, newShape(t))
	}
	return func(r *record, p unsafe.Pointer) {
		r.letGo()
		var args []reflect.Value
		for i := range typ.NumIn() {
			args = append(args, reflect.NewAt(typ.In(i), unsafe.Add(p, at[1+i])).Elem())
		}
		m := of(p)
		call := m.Call
		if typ.IsVariadic() {
			call = m.CallSlice
		}
		for i, v := range call(args) {
			to := unsafe.Add(p, at[len(h.Params)+i])
			reflect.NewAt(typ.Out(i), to).Elem().Set(v)
			results[i].keep(&r.kept, to)
		}
	}
}
