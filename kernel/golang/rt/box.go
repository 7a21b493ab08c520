// Package rt is what lowered code calls at run time. Lowered code knows no
// named types: a value of a type that a cell declared lives in the
// interpreter as its bare representation, and is put into a Box, with its
// type, where Go would convert it to an interface. Values of compiled types
// go into interfaces as they are.
package rt

import (
	"go/types"
	"reflect"
	"sync"
)

// Box is an interface's dynamic value whose type was declared in a cell. Two
// boxes are equal when Go says that their values are.
type Box struct {
	T *Type
	V any
}

// Type is a type of a checked program, as it exists at run time.
type Type struct {
	ID   int
	Type types.Type
	Name string // as %T writes it

	rt   *Runtime
	host reflect.Type // for a type that compiled code knows

	mu      sync.RWMutex
	rep     reflect.Type             // what represents it, where a value within one of its own may have to be made
	methods map[string]reflect.Value // func(receiver any, arguments...) results
}

// Method returns the method that compiled code can call by this name: a
// function whose first parameter is the receiver. It is invalid if there is none.
func (t *Type) Method(name string) reflect.Value {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.methods[name]
}

// method calls a method without parameters and with one result.
func method[R any](b Box, name string) (f func() R, ok bool) {
	m := b.T.Method(name)
	if !m.IsValid() {
		return nil, false
	}
	call, ok := m.Interface().(func(any) R)
	if !ok {
		return nil, false
	}
	return func() R { return call(b.V) }, true
}

// registry holds the types of a session by number, from 1.
type registry struct {
	mu     sync.RWMutex
	types  []*Type
	byHost map[reflect.Type]*Type
}

func (r *registry) add(rt *Runtime, t types.Type, name string) *Type {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := &Type{ID: len(r.types) + 1, Type: t, Name: name, rt: rt}
	r.types = append(r.types, d)
	return d
}

func (r *registry) get(id int) *Type {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.types[id-1]
}

func (r *registry) of(t reflect.Type) *Type {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.byHost[t]
}

// Numbers that ID gives to what is not in the registry.
const (
	idNil     = -1
	idUnknown = 0
)

// id returns the number of x's dynamic type: 0 for a compiled type that no
// cell has named, -1 for nil.
func (r *Runtime) id(x any) int {
	switch x := x.(type) {
	case nil:
		return idNil
	case Box:
		return x.T.ID
	}
	if t := r.types.of(reflect.TypeOf(x)); t != nil {
		return t.ID
	}
	return idUnknown
}

// value is what x holds, without its type.
func value(x any) any {
	if b, ok := x.(Box); ok {
		return b.V
	}
	return x
}
