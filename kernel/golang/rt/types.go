// Package rt is what lowered code calls at run time. Values of types that cells
// declare lie in lowered code as their representations: see package lower. In an
// interface they have their real types, which package named makes.
package rt

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"

	"gocuda/kernel/golang/named"
)

// Available says why cells cannot declare types in this program, if they cannot.
func Available() error {
	if named.Available() {
		return nil
	}
	return fmt.Errorf("cells cannot declare types here: package named knows those of Go 1.26 on amd64 and arm64, and this program is of %s on %s", runtime.Version(), runtime.GOARCH)
}

// Type is a type that lowered code knows by a number.
type Type struct {
	ID   int
	rep  reflect.Type
	real atomic.Pointer[reflect.Type]
	in   *registry
}

// Real is the type of its values in interfaces.
func (t *Type) Real() reflect.Type { return *t.real.Load() }

// SetReal changes the real type of values that are yet to be put into interfaces.
func (t *Type) SetReal(real reflect.Type) {
	if t.real.Swap(&real) != nil {
		t.in.changed.Store(true)
	}
	t.in.byReal.Store(real, t)
}

// registry holds the types of a session by number, from 1.
type registry struct {
	mu      sync.RWMutex
	types   []*Type
	byReal  sync.Map    // reflect.Type to *Type
	changed atomic.Bool // some type has another real type than it had
}

// AddType gives a type a number.
func (r *Runtime) AddType(real, rep reflect.Type) *Type {
	r.types.mu.Lock()
	defer r.types.mu.Unlock()
	t := &Type{ID: len(r.types.types) + 1, rep: rep, in: &r.types}
	r.types.types = append(r.types.types, t)
	t.SetReal(real)
	return t
}

func (r *registry) get(id int) *Type {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.types[id-1]
}

func (r *registry) of(x any) *Type {
	if t, ok := r.byReal.Load(reflect.TypeOf(x)); ok {
		return t.(*Type)
	}
	return nil
}

// Numbers that ID gives to what is not in the registry.
const (
	idNil     = -1
	idUnknown = 0
)

// id returns the number of x's dynamic type: 0 for one that no cell has named,
// -1 for nil.
func (r *Runtime) id(x any) int {
	if x == nil {
		return idNil
	}
	if t := r.types.of(x); t != nil {
		return t.ID
	}
	return idUnknown
}

// value is the representation of what x holds.
func (r *Runtime) value(x any) any {
	if t := r.types.of(x); t != nil {
		return named.RetypeAny(x, t.rep)
	}
	return x
}

// current is x as a type that got methods since has it.
func (r *Runtime) current(x any) any {
	if t := r.types.of(x); t != nil && r.types.changed.Load() {
		return named.RetypeAny(x, t.Real())
	}
	return x
}

// hold gives a representation its real type.
func (t *Type) hold(x any) any {
	if x == nil { // what the interpreter makes of a nil function
		return reflect.Zero(t.Real()).Interface()
	}
	return named.RetypeAny(x, t.Real())
}

// ToReal makes the func(any) any that puts a value's representation into an any.
func (r *Runtime) ToReal(t *Type) reflect.Value { return reflect.ValueOf(t.hold) }

// FromTo makes the func(any) I that puts a value's representation into an
// interface with methods.
func (r *Runtime) FromTo(t *Type, iface reflect.Type) reflect.Value {
	if isReader(iface) {
		return named.Converter(iface, func(x any) any { return r.standardInput(t.hold(x)) })
	}
	return named.Converter(iface, t.hold)
}

// Converter makes the func(any) I for an interface I with methods that converts
// another interface.
func (r *Runtime) Converter(iface reflect.Type) reflect.Value {
	if isReader(iface) {
		return named.Converter(iface, func(x any) any { return r.standardInput(r.current(x)) })
	}
	return named.Converter(iface, r.current)
}

func isReader(iface reflect.Type) bool { return iface == reflect.TypeFor[io.Reader]() }

// standardInput is what compiled code reads for os.Stdin.
func (r *Runtime) standardInput(x any) any {
	if r.Stdin != nil && x == any(os.Stdin) {
		return r.Stdin
	}
	return x
}

// Asserter makes the func(any) I that is x.(I).
func (r *Runtime) Asserter(iface reflect.Type) reflect.Value {
	return named.Converter(iface, func(x any) any { return r.current(notNil(x, iface)) })
}

func notNil(x any, want reflect.Type) any {
	if x == nil {
		panic(named.AssertionError("", nil, want))
	}
	return x
}

// Finder makes the func(any) F that finds the one method of an interface in a
// value whose type lowered code does not know.
func (r *Runtime) Finder(iface, f reflect.Type) reflect.Value {
	return named.Finder(iface, f, func(x any) any {
		if x == nil {
			panic(nilDereference)
		}
		return r.current(x)
	})
}

// must is x.(T) where there is no second result.
func (r *Runtime) must(x any, id int, iface string) any {
	if r.id(x) == id {
		return r.value(x)
	}
	panic(named.AssertionError(iface, reflect.TypeOf(x), r.types.get(id).Real()))
}

// implements says whether x's dynamic type has the methods of an interface.
func (r *Runtime) implements(x any, id int) bool {
	if x == nil {
		return false
	}
	key := implKey{reflect.TypeOf(r.current(x)), id}
	if v, ok := r.impl.Load(key); ok {
		return v.(bool)
	}
	ok := key.dynamic.Implements(r.types.get(id).Real())
	r.impl.Store(key, ok)
	return ok
}

type implKey struct {
	dynamic reflect.Type
	iface   int
}

// Method is a method of a real type. Lowered code has a function for it, which is
// made when compiled code first calls the method.
type Method struct {
	ID       int
	of, name string
	out      []reflect.Type
	runtime  *Runtime
	fn       atomic.Pointer[reflect.Value] // its first parameter is the receiver
}

// NewMethod makes a method of a type, which String calls of, with these results.
func (r *Runtime) NewMethod(of, name string, out []reflect.Type) *Method {
	r.methods.mu.Lock()
	defer r.methods.mu.Unlock()
	m := &Method{ID: len(r.methods.list) + 1, of: of, name: name, out: out, runtime: r}
	r.methods.list = append(r.methods.list, m)
	return m
}

type methods struct {
	mu   sync.Mutex
	list []*Method
}

// setMethod gives a method its function.
func (r *Runtime) setMethod(id int, fn any) {
	v := reflect.ValueOf(fn)
	r.methods.mu.Lock()
	defer r.methods.mu.Unlock()
	r.methods.list[id-1].fn.Store(&v)
}

// HasMethod says whether a method has its function.
func (r *Runtime) HasMethod(id int) bool {
	r.methods.mu.Lock()
	defer r.methods.mu.Unlock()
	return r.methods.list[id-1].fn.Load() != nil
}

// PanicNil panics as the method of a value does that is called with a nil pointer.
func (m *Method) PanicNil() { panicWrap(m.of, m.name) }

// Call calls the method, whose receiver is a representation, with arguments of real
// types.
func (m *Method) Call(receiver reflect.Value, args []reflect.Value) []reflect.Value {
	defer func() {
		if p := recover(); p != nil {
			panic(panicValue(p))
		}
	}()
	fn := m.fn.Load()
	if fn == nil {
		if err := m.runtime.Demand(m.ID); err != nil {
			panic(fmt.Errorf("method %s of %s cannot be called: %w", m.name, m.of, err))
		}
		fn = m.fn.Load()
	}
	typ := fn.Type()
	all := []reflect.Value{receiver}
	for i, a := range args {
		if t := typ.In(i + 1); a.Type() != t {
			a = named.Retype(a, t)
		}
		all = append(all, a)
	}
	call := fn.Call
	if typ.IsVariadic() {
		call = fn.CallSlice
	}
	results := call(all)
	for i, v := range results {
		if v.Type() != m.out[i] {
			results[i] = named.Retype(v, m.out[i])
		}
	}
	return results
}

// hostMethod is the method of a compiled value, for code that holds it as an
// interface of its own.
func hostMethod(x any, name string) any {
	if x == nil {
		panic(nilDereference)
	}
	return reflect.ValueOf(x).MethodByName(name).Interface()
}
