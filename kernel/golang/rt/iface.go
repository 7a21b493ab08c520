package rt

import (
	"fmt"
	"go/types"
	"io"
	"log/slog"
	"os"
	"reflect"
	"sync"
)

// equal is == on two interface values.
func equal(a, b any) bool {
	a, b = unwrap(a), unwrap(b)
	x, one := a.(Box)
	y, other := b.(Box)
	if one && other && x.T == y.T && x.V != nil && !reflect.TypeOf(x.V).Comparable() {
		panic(&Panic{runtimeError("comparing uncomparable type " + x.T.Name)})
	}
	return a == b
}

// as is x.(T) for a type that cells declared.
func (r *Runtime) as(x any, id int) (any, bool) {
	if b, ok := x.(Box); ok {
		return b.V, b.T.ID == id
	}
	if id := r.id(x); id > 0 && r.types.get(id).host == nil {
		return x, true
	}
	return nil, false
}

// must is x.(T) where there is no second result.
func (r *Runtime) must(x any, id int, iface string) any {
	if r.id(x) == id {
		return value(x)
	}
	want, have := r.types.get(id).Name, r.typeName(x)
	text := fmt.Sprintf("interface conversion: %s is %s, not %s", iface, have, want)
	if want == have {
		text += " (types from different scopes)"
	}
	panic(&Panic{typeError(text)})
}

// assertion panics as the type assertion of x to a compiled type does.
func (r *Runtime) mustImplement(x any, id int, iface string) any {
	if ok := r.implements(x, id); ok {
		return x
	}
	want := r.types.get(id)
	if x == nil {
		panic(&Panic{typeError(fmt.Sprintf("interface conversion: interface is nil, not %s", want.Name))})
	}
	name := r.missing(x, want)
	panic(&Panic{typeError(fmt.Sprintf("interface conversion: %s is not %s: missing method %s", r.typeName(x), want.Name, name))})
}

func (r *Runtime) missing(x any, want *Type) string {
	iface, ok := want.Type.Underlying().(*types.Interface)
	if !ok {
		return ""
	}
	if t := r.dynamicType(x); t != nil {
		r.checked.RLock()
		defer r.checked.RUnlock()
		if m, _ := types.MissingMethod(t, iface, true); m != nil {
			return m.Name()
		}
	}
	return ""
}

// typeName is the name of x's dynamic type, as %T writes it.
func (r *Runtime) typeName(x any) string {
	x = unwrap(x)
	switch x := x.(type) {
	case nil:
		return "nil"
	case Box:
		return x.T.Name
	}
	return reflect.TypeOf(x).String()
}

func (r *Runtime) dynamicType(x any) types.Type {
	if b, ok := x.(Box); ok {
		return b.T.Type
	}
	if x == nil {
		return nil
	}
	return r.hostType(reflect.TypeOf(x))
}

// implements says whether x's dynamic type has the methods of an interface
// that cells know by number.
func (r *Runtime) implements(x any, id int) bool {
	if x == nil {
		return false
	}
	iface := r.types.get(id)
	var key any
	if b, ok := x.(Box); ok {
		key = b.T
	} else {
		key = reflect.TypeOf(x)
	}
	cacheKey := implKey{key, id}
	if v, ok := r.impl.Load(cacheKey); ok {
		return v.(bool)
	}
	ok := false
	if it, isIface := iface.Type.Underlying().(*types.Interface); isIface {
		if t := r.dynamicType(x); t != nil {
			r.checked.RLock()
			ok = types.Implements(t, it)
			r.checked.RUnlock()
		}
	}
	r.impl.Store(cacheKey, ok)
	return ok
}

// ChangeTypes calls f, which gives types of earlier cells methods, or takes
// some, while no goroutine of a cell looks at them.
func (r *Runtime) ChangeTypes(f func()) {
	r.checked.Lock()
	defer r.checked.Unlock()
	f()
}

// ForgetMethods is called when a type gets a method that it had not.
func (r *Runtime) ForgetMethods() { r.impl.Clear() }

type implKey struct {
	dynamic any
	iface   int
}

// unwrap is the interface value that a wrapper for compiled code was made of.
func unwrap(x any) any {
	switch x := x.(type) {
	case nil, Box:
		return x
	case userError:
		return x.Box
	case userErrors:
		return x.Box
	case userStringer:
		return x.Box
	case shown:
		return x.Box
	}
	if t := reflect.TypeOf(x); t.Kind() == reflect.Struct && isWrapper(t) {
		if b, ok := reflect.ValueOf(x).Field(0).Interface().(Box); ok {
			return b
		}
	}
	return x
}

var wrappers sync.Map // reflect.Type, the structs that carry methods for compiled code

func isWrapper(t reflect.Type) bool {
	_, ok := wrappers.Load(t)
	return ok
}

var errorType = reflect.TypeFor[error]()

// converter makes the function that lowered code calls to turn an interface
// value into one of a compiled interface type: func(any) I. wrapper is the
// struct type by which yaegi's tables let interpreted types implement I, or
// nil if there is none.
func (r *Runtime) converter(iface, wrapper reflect.Type) reflect.Value {
	if wrapper != nil {
		wrappers.Store(wrapper, true)
	}
	typ := reflect.FuncOf([]reflect.Type{reflect.TypeFor[any]()}, []reflect.Type{iface}, false)
	return reflect.MakeFunc(typ, func(args []reflect.Value) []reflect.Value {
		out := reflect.New(iface).Elem()
		if x := args[0].Interface(); x != nil {
			out.Set(r.wrap(x, iface, wrapper))
		}
		return []reflect.Value{out}
	})
}

func (r *Runtime) wrap(x any, iface, wrapper reflect.Type) reflect.Value {
	b, ok := x.(Box)
	if !ok {
		if r.Stdin != nil && x == any(os.Stdin) && iface == reflect.TypeFor[io.Reader]() {
			return reflect.ValueOf(r.Stdin)
		}
		v := reflect.ValueOf(x)
		if !v.Type().Implements(iface) {
			panic(&Panic{typeError(fmt.Sprintf("interface conversion: %s is not %s", v.Type(), iface))})
		}
		return v
	}
	if iface == errorType {
		if m := b.T.Method("Unwrap"); m.IsValid() && m.Type() == reflect.TypeFor[func(any) []error]() {
			return reflect.ValueOf(userErrors{b})
		}
		return reflect.ValueOf(userError{b})
	}
	if iface == reflect.TypeFor[fmt.Stringer]() {
		return reflect.ValueOf(userStringer{b})
	}
	if wrapper == nil {
		panic(&Panic{fmt.Errorf("a value of type %s cannot be given to compiled code as %s: its methods are interpreted", b.T.Name, iface)})
	}
	w := reflect.New(wrapper).Elem()
	w.Field(0).Set(reflect.ValueOf(b))
	for i := 1; i < wrapper.NumField(); i++ {
		f := wrapper.Field(i)
		m := b.T.Method(f.Name[1:])
		if !m.IsValid() {
			panic(&Panic{typeError(fmt.Sprintf("interface conversion: %s is not %s: missing method %s", b.T.Name, iface, f.Name[1:]))})
		}
		w.Field(i).Set(bind(f.Type, m, b.V))
	}
	return w
}

// bind makes a method value: fn with its receiver, an any, given.
func bind(typ reflect.Type, fn reflect.Value, receiver any) reflect.Value {
	recv := reflect.New(reflect.TypeFor[any]()).Elem()
	if receiver != nil {
		recv.Set(reflect.ValueOf(receiver))
	}
	return reflect.MakeFunc(typ, func(args []reflect.Value) []reflect.Value {
		all := append([]reflect.Value{recv}, args...)
		if typ.IsVariadic() {
			return fn.CallSlice(all)
		}
		return fn.Call(all)
	})
}

// hostMethod is the method of a compiled value, for code that holds it as an
// interface of its own.
func hostMethod(x any, name string) any {
	if x == nil {
		panic(&Panic{nilDereference})
	}
	return reflect.ValueOf(x).MethodByName(name).Interface()
}

// userError is a cell's error value in compiled code's hands.
type userError struct{ Box }

func (e userError) Error() string {
	if f, ok := method[string](e.Box, "Error"); ok {
		return f()
	}
	return fmt.Sprint(e.Box)
}

func (e userError) Unwrap() error {
	if f, ok := method[error](e.Box, "Unwrap"); ok {
		return f()
	}
	return nil
}

func (e userError) Is(target error) bool {
	if unwrap(target) == any(e.Box) {
		return true
	}
	if f, ok := e.T.Method("Is").Interface, e.T.Method("Is").IsValid(); ok {
		if is, ok := f().(func(any, error) bool); ok {
			return is(e.V, target)
		}
	}
	return false
}

// logged gives package log/slog what it looks for in a value.
func logged(x any) any {
	if b, ok := x.(Box); ok {
		if f, ok := method[slog.Value](b, "LogValue"); ok {
			return userLogValuer(f)
		}
	}
	return asError(x)
}

// userLogValuer is a cell's slog.LogValuer in compiled code's hands.
type userLogValuer func() slog.Value

func (f userLogValuer) LogValue() slog.Value { return f() }

// asError gives fmt.Errorf an error where it would see a Box.
func asError(x any) any {
	if b, ok := x.(Box); ok && b.T.Method("Error").IsValid() {
		return userError{b}
	}
	return x
}

// scanTarget is what fmt scans into.
func scanTarget(x any) any {
	b, ok := x.(Box)
	if !ok {
		return x
	}
	if m := b.T.Method("Scan"); m.IsValid() {
		if f, ok := m.Interface().(func(any, fmt.ScanState, rune) error); ok {
			return userScanner{b, f}
		}
	}
	return b.V
}

// userScanner is a cell's fmt.Scanner in fmt's hands.
type userScanner struct {
	box  Box
	scan func(any, fmt.ScanState, rune) error
}

func (s userScanner) Scan(state fmt.ScanState, verb rune) error { return s.scan(s.box.V, state, verb) }

// userErrors is a userError that wraps several.
type userErrors struct{ Box }

func (e userErrors) Error() string { return userError{e.Box}.Error() }

func (e userErrors) Unwrap() []error {
	if f, ok := method[[]error](e.Box, "Unwrap"); ok {
		return f()
	}
	return nil
}

// userStringer is a cell's fmt.Stringer in compiled code's hands.
type userStringer struct{ Box }

func (s userStringer) String() string {
	if f, ok := method[string](s.Box, "String"); ok {
		return f()
	}
	return fmt.Sprint(s.Box)
}
