package display

import (
	"fmt"
	"image"
	"reflect"
)

// val is a value.
type val struct{ v reflect.Value }

// valOf is the value that x holds.
func valOf(x any) val {
	if v, ok := x.(reflect.Value); ok {
		return val{v: v}.open()
	}
	return val{v: reflect.ValueOf(x)}.open()
}

var (
	reflectType = reflect.TypeFor[reflect.Value]()
)

// open finds the value that a reflect.Value holds.
func (x val) open() val {
	for range maxDepth {
		if !x.v.IsValid() || !x.v.CanInterface() || x.v.Type() != reflectType {
			break
		}
		x.v = x.v.Interface().(reflect.Value)
	}
	return x
}

// elem is what a pointer or an interface holds.
func (x val) elem() val { return val{x.v.Elem()}.open() }

func (x val) index(i int) val { return val{x.v.Index(i)}.open() }

func (x val) field(i int) (string, val) { return x.v.Type().Field(i).Name, val{x.v.Field(i)}.open() }

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
func (x val) key(k reflect.Value) val { return val{k}.open() }

func (x val) mapIndex(k reflect.Value) val { return val{x.v.MapIndex(k)}.open() }

func (x val) typeName() string { return typeName(x.v.Type()) }

// methods is the value with its methods, invalid if they cannot be called.
func (x val) methods() reflect.Value {
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
