package named

import (
	"reflect"
	"unsafe"
)

// Retype is the same value of another type, of the same layout.
func Retype(v reflect.Value, to reflect.Type) reflect.Value {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return reflect.NewAt(to, p.UnsafePointer()).Elem()
}

// RetypeAny is Retype for what an interface holds, which is not copied.
func RetypeAny(x any, to reflect.Type) any {
	(*[2]unsafe.Pointer)(unsafe.Pointer(&x))[0] = unsafe.Pointer(abiOf(to))
	return x
}

// Converter makes a func(any) I for an interface I with methods. dynamic gives the
// value that it is to hold, whose type implements I, or panics as a type assertion
// does; nil makes a nil.
func Converter(iface reflect.Type, dynamic func(any) any) reflect.Value {
	inter := abiOf(iface)
	return as(func(x any) (held heldInterface) {
		x = dynamic(x)
		if x == nil {
			return held
		}
		words := *(*[2]unsafe.Pointer)(unsafe.Pointer(&x))
		return heldBy(getitab(inter, (*abiType)(words[0]), false), words[1])
	}, reflect.FuncOf([]reflect.Type{reflect.TypeFor[any]()}, []reflect.Type{iface}, false))
}

// heldInterface is an interface with methods, whatever these are: as a function's
// result it is in the same place as any other.
type heldInterface interface{ held() }

func heldBy(table, data unsafe.Pointer) (held heldInterface) {
	*(*[2]unsafe.Pointer)(unsafe.Pointer(&held)) = [2]unsafe.Pointer{table, data}
	return held
}

// Finder makes a func(any) F that finds the method of an interface which has one,
// in a value. F is its type as its caller has it, and dynamic as for Converter.
func Finder(iface, f reflect.Type, dynamic func(any) any) reflect.Value {
	inter := abiOf(iface)
	typ := iface.Method(0).Type
	in := []reflect.Type{reflect.TypeFor[unsafe.Pointer]()}
	for p := range f.Ins() {
		in = append(in, p)
	}
	var out []reflect.Type
	for p := range f.Outs() {
		out = append(out, p)
	}
	method := reflect.FuncOf(in, out, typ.IsVariadic())
	return as(func(x any) unsafe.Pointer {
		x = dynamic(x)
		words := *(*[2]unsafe.Pointer)(unsafe.Pointer(&x))
		table := (*struct {
			_, _ unsafe.Pointer
			_    uint64
			code uintptr
		})(getitab(inter, (*abiType)(words[0]), false))
		code := &table.code // what a function's value points to
		call := reflect.NewAt(method, unsafe.Pointer(&code)).Elem()
		bound := reflect.MakeFunc(f, func(args []reflect.Value) []reflect.Value {
			all := append([]reflect.Value{reflect.ValueOf(words[1])}, args...)
			if f.IsVariadic() {
				return call.CallSlice(all)
			}
			return call.Call(all)
		}).Interface()
		return (*[2]unsafe.Pointer)(unsafe.Pointer(&bound))[1]
	}, reflect.FuncOf([]reflect.Type{reflect.TypeFor[any]()}, []reflect.Type{f}, false))
}

// as is a function by another type, of the same layout.
func as(f any, t reflect.Type) reflect.Value { return reflect.ValueOf(RetypeAny(f, t)) }
