package display

import (
	"fmt"
	"image"
	"reflect"
)

// Typed is a value of a type that reflection does not know, as an interpreter
// makes them: reflection sees how the value is represented, and a Type tells
// what it stands for. Of, Format and Table take such values wherever they occur
// in others.
type Typed interface {
	Typed() (reflect.Value, Type)
}

// Type is the type of an interpreted value. A nil Type stands for a type that
// reflection knows.
type Type interface {
	// Name is the type as the source writes it, such as "Point" or "[]Point".
	Name() string
	// Elem is the type of what a pointer, slice, array, map or channel holds.
	Elem() Type
	// Key is the type of a map's keys.
	Key() Type
	// Field is the name, in the source, and the type of a struct's i-th field.
	Field(i int) (string, Type)
	// Open turns a value of the type as it lies within another value into the
	// value by itself, where an interpreter represents them differently.
	Open(reflect.Value) reflect.Value
	// Methods is a value that has those of the methods Error, String, Format,
	// HTML and so on that the value has; nil if it has none.
	Methods(reflect.Value) any
}

// val is a value and what is known of its type beyond reflection.
type val struct {
	v reflect.Value
	t Type
}

// valOf is the value that x holds.
func valOf(x any) val {
	if v, ok := x.(reflect.Value); ok {
		return val{v: v}.open()
	}
	return val{v: reflect.ValueOf(x)}.open()
}

var (
	reflectType = reflect.TypeFor[reflect.Value]()
	typedType   = reflect.TypeFor[Typed]()
)

// open finds the value that a reflect.Value or a Typed holds.
func (x val) open() val {
	for range maxDepth {
		if !x.v.IsValid() {
			break
		}
		if x.t != nil {
			x.v = x.t.Open(x.v)
			if x.v.IsValid() && x.v.Type().PkgPath() != "" {
				x.t = nil // a compiled type within an interpreted one
			}
			return x
		}
		if !x.v.CanInterface() || x.v.Kind() == reflect.Interface {
			break
		}
		switch t := x.v.Type(); {
		case t == reflectType:
			x.v = x.v.Interface().(reflect.Value)
		case t.Implements(typedType) && !isNil(x.v):
			v, t := x.v.Interface().(Typed).Typed()
			return val{v, t}
		default:
			return x
		}
	}
	return x
}

// elem is what a pointer or an interface holds. The value in an interface says
// its own type.
func (x val) elem() val {
	if x.v.Kind() == reflect.Interface || x.t == nil {
		return val{v: x.v.Elem()}.open()
	}
	return val{x.v.Elem(), x.t.Elem()}.open()
}

func (x val) index(i int) val {
	if x.t == nil {
		return val{v: x.v.Index(i)}.open()
	}
	return val{x.v.Index(i), x.t.Elem()}.open()
}

func (x val) field(i int) (string, val) {
	if x.t == nil {
		return x.v.Type().Field(i).Name, val{v: x.v.Field(i)}.open()
	}
	name, t := x.t.Field(i)
	return name, val{x.v.Field(i), t}.open()
}

// fields are the indexes of a struct's fields that are shown. What a compiled
// package keeps to itself is not: nobody can name it, and there may be much of it.
func (x val) fields() (shown []int, hidden bool) {
	t := x.v.Type()
	private := t.PkgPath() != "" && t.PkgPath() != "main"
	for i := range t.NumField() {
		if private && !t.Field(i).IsExported() {
			hidden = true
			continue
		}
		shown = append(shown, i)
	}
	return shown, hidden
}

// key is k, which is one of the keys of a map.
func (x val) key(k reflect.Value) val {
	if x.t == nil {
		return val{v: k}.open()
	}
	return val{k, x.t.Key()}.open()
}

func (x val) mapIndex(k reflect.Value) val {
	if x.t == nil {
		return val{v: x.v.MapIndex(k)}.open()
	}
	return val{x.v.MapIndex(k), x.t.Elem()}.open()
}

func (x val) typeName() string {
	if x.t != nil {
		return x.t.Name()
	}
	return typeName(x.v.Type())
}

// methods is a value with x's methods, invalid if they cannot be called.
func (x val) methods() reflect.Value {
	if x.t != nil && x.v.IsValid() {
		if m := x.t.Methods(x.v); m != nil {
			return reflect.ValueOf(m)
		}
	}
	if x.v.IsValid() && x.v.CanInterface() {
		return x.v
	}
	return reflect.Value{}
}

var (
	errorType     = reflect.TypeFor[error]()
	stringerType  = reflect.TypeFor[fmt.Stringer]()
	formatterType = reflect.TypeFor[fmt.Formatter]()
	imageType     = reflect.TypeFor[image.Image]()
)

// hasText says whether the value says something of itself.
func (x val) hasText() bool {
	m := x.methods()
	if !m.IsValid() {
		return false
	}
	t := m.Type()
	return t.Implements(errorType) || t.Implements(stringerType) || t.Implements(formatterType)
}

func isNil(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Chan, reflect.Slice, reflect.Map, reflect.Interface:
		return v.IsNil()
	}
	return false
}
