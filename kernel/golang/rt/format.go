package rt

import (
	"fmt"
	"go/types"
	"reflect"
	"sort"
	"strings"
	"unsafe"
)

// Format makes fmt print a boxed value as it prints the user's own type.
func (b Box) Format(s fmt.State, verb rune) {
	p := printer{s: s, verb: verb}
	if p.methods(b.T, b.V) {
		return
	}
	p.value(b.T, b.T.Type, reflect.ValueOf(b.V), 0)
}

type printer struct {
	s       fmt.State
	verb    rune
	private bool // inside of a field that is not exported: fmt calls no methods there
}

func (p printer) directive() string { return fmt.FormatString(p.s, p.verb) }

// methods prints a value by its own methods, in fmt's order.
func (p printer) methods(t *Type, v any) (done bool) {
	if t == nil {
		return false
	}
	if m := t.Method("Format"); m.IsValid() {
		if f, ok := m.Interface().(func(any, fmt.State, rune)); ok {
			f(v, p.s, p.verb)
			return true
		}
	}
	if p.s.Flag('#') && p.verb == 'v' {
		if f, ok := method[string](Box{t, v}, "GoString"); ok {
			fmt.Fprint(p.s, f())
			return true
		}
		return false
	}
	if !strings.ContainsRune("vsxXq", p.verb) {
		return false
	}
	for _, name := range []string{"Error", "String"} {
		if f, ok := method[string](Box{t, v}, name); ok {
			if rv := reflect.ValueOf(v); rv.Kind() == reflect.Pointer && rv.IsNil() {
				if text, ok := ofNil(f); ok {
					fmt.Fprintf(p.s, p.directive(), text)
				} else {
					p.write("<nil>")
				}
				return true
			}
			fmt.Fprintf(p.s, p.directive(), stringFunc(f))
			return true
		}
	}
	return false
}

// ofNil calls the method of a nil pointer, unless it panics.
func ofNil(f func() string) (text string, ok bool) {
	defer func() { ok = recover() == nil }()
	return f(), true
}

// stringFunc lets fmt itself call the method, with its care for panics.
type stringFunc func() string

func (f stringFunc) String() string {
	defer func() {
		if r := recover(); r != nil {
			panic(panicValue(r))
		}
	}()
	return f()
}

func (p printer) write(text string) { fmt.Fprint(p.s, text) }

// value prints v, which represents a value of type t.
func (p printer) value(owner *Type, t types.Type, v reflect.Value, depth int) {
	sharp := p.s.Flag('#') && p.verb == 'v'
	if depth > 0 && !p.private && v.IsValid() && v.CanInterface() {
		if nt := owner.nested(t); nt != nil && p.methods(nt, v.Interface()) {
			return
		}
	}
	if !v.IsValid() {
		p.write("<nil>")
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		if v.Kind() != reflect.Struct {
			break
		}
		if sharp {
			p.write(owner.nameOf(t))
		}
		p.write("{")
		for i := range u.NumFields() {
			if i > 0 {
				if sharp {
					p.write(", ")
				} else {
					p.write(" ")
				}
			}
			if p.s.Flag('+') || sharp {
				p.write(u.Field(i).Name() + ":")
			}
			field := p
			field.private = p.private || !u.Field(i).Exported()
			field.value(owner, u.Field(i).Type(), fieldValue(owner, u.Field(i).Type(), v.Field(i)), depth+1)
		}
		p.write("}")
		return
	case *types.Pointer:
		if v.Kind() == reflect.Pointer && depth == 0 && !v.IsNil() && v.Elem().Kind() != reflect.Pointer {
			switch u.Elem().Underlying().(type) {
			case *types.Struct, *types.Array, *types.Slice, *types.Map:
				p.write("&")
				p.value(owner, u.Elem(), v.Elem(), depth+1)
				return
			}
		}
		ptr := unsafe.Pointer(nil)
		if v.Kind() == reflect.Pointer || v.Kind() == reflect.UnsafePointer {
			ptr = v.UnsafePointer()
		}
		switch {
		case sharp && ptr == nil:
			p.write("(" + owner.nameOf(t) + ")(nil)")
		case sharp:
			p.write(fmt.Sprintf("(%s)(%p)", owner.nameOf(t), ptr))
		case ptr == nil && p.verb == 'v':
			p.write("<nil>")
		default:
			fmt.Fprintf(p.s, p.directive(), ptr)
		}
		return
	case *types.Slice, *types.Array:
		var elem types.Type
		if s, ok := u.(*types.Slice); ok {
			elem = s.Elem()
		} else {
			elem = u.(*types.Array).Elem()
		}
		if v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
			break
		}
		if v.Type().Elem().Kind() == reflect.Uint8 && strings.ContainsRune("sqxX", p.verb) {
			break
		}
		open, sep, end := "[", " ", "]"
		if sharp {
			if v.Kind() == reflect.Slice && v.IsNil() {
				p.write(owner.nameOf(t) + "(nil)")
				return
			}
			open, sep, end = owner.nameOf(t)+"{", ", ", "}"
		}
		p.write(open)
		for i := range v.Len() {
			if i > 0 {
				p.write(sep)
			}
			p.value(owner, elem, v.Index(i), depth+1)
		}
		p.write(end)
		return
	case *types.Map:
		if v.Kind() != reflect.Map {
			break
		}
		open, sep, end := "map[", " ", "]"
		if sharp {
			if v.IsNil() {
				p.write(owner.nameOf(t) + "(nil)")
				return
			}
			open, sep, end = owner.nameOf(t)+"{", ", ", "}"
		}
		p.write(open)
		for i, k := range SortedKeys(v) {
			if i > 0 {
				p.write(sep)
			}
			p.value(owner, u.Key(), k, depth+1)
			p.write(":")
			p.value(owner, u.Elem(), v.MapIndex(k), depth+1)
		}
		p.write(end)
		return
	case *types.Interface:
		if v.Kind() == reflect.Interface {
			if v.IsNil() {
				if sharp {
					p.write(owner.nameOf(t) + "(nil)")
				} else {
					p.write("<nil>")
				}
				return
			}
			v = v.Elem()
		}
		x := unwrap(v.Interface())
		if b, ok := x.(Box); ok {
			if p.private || !p.methods(b.T, b.V) {
				p.value(b.T, b.T.Type, reflect.ValueOf(b.V), depth+1)
			}
			return
		}
		p.host(x)
		return
	}
	if sharp {
		if _, named := t.(*types.Named); named && v.Kind() == reflect.Func {
			p.write("(" + owner.nameOf(t) + ")")
		}
	}
	p.host(v.Interface())
}

// host prints a value of compiled code inside of another.
func (p printer) host(x any) {
	if p.private {
		v := reflect.ValueOf(struct{ x any }{x}).Field(0).Elem() // fmt must not call its methods
		if v.Kind() == reflect.Pointer && v.Elem().Kind() != reflect.Invalid {
			fmt.Fprintf(p.s, p.directive(), v.UnsafePointer())
			return
		}
		x = v
	}
	fmt.Fprintf(p.s, p.directive(), x)
}

// fieldValue opens the slot of a field whose type contains itself.
func fieldValue(owner *Type, t types.Type, v reflect.Value) reflect.Value {
	if v.Kind() != reflect.Interface {
		return v
	}
	if _, ok := t.Underlying().(*types.Interface); ok {
		return v
	}
	if v.IsNil() {
		return reflect.Value{}
	}
	return v.Elem().Elem()
}

// SortedKeys returns the keys of a map in the order in which fmt prints them.
func SortedKeys(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	sort.SliceStable(keys, func(i, j int) bool { return less(keys[i], keys[j]) })
	return keys
}

func less(a, b reflect.Value) bool {
	if a.Kind() == reflect.Interface {
		a, b = a.Elem(), b.Elem()
	}
	if a.IsValid() && b.IsValid() && a.Type() == reflect.TypeFor[Box]() && b.Type() == a.Type() {
		a, b = reflect.ValueOf(a.Interface().(Box).V), reflect.ValueOf(b.Interface().(Box).V)
	}
	if !a.IsValid() || !b.IsValid() {
		return !a.IsValid() && b.IsValid()
	}
	if a.Kind() != b.Kind() {
		return a.Kind() < b.Kind()
	}
	switch {
	case a.CanInt():
		return a.Int() < b.Int()
	case a.CanUint():
		return a.Uint() < b.Uint()
	case a.CanFloat():
		return a.Float() < b.Float() || a.Float() != a.Float() && b.Float() == b.Float()
	case a.Kind() == reflect.String:
		return a.String() < b.String()
	case a.Kind() == reflect.Bool:
		return !a.Bool() && b.Bool()
	case a.Kind() == reflect.Struct:
		for i := range a.NumField() {
			if less(a.Field(i), b.Field(i)) {
				return true
			}
			if less(b.Field(i), a.Field(i)) {
				return false
			}
		}
	case a.Kind() == reflect.Array:
		for i := range a.Len() {
			if less(a.Index(i), b.Index(i)) {
				return true
			}
			if less(b.Index(i), a.Index(i)) {
				return false
			}
		}
	case a.Kind() == reflect.Pointer || a.Kind() == reflect.UnsafePointer || a.Kind() == reflect.Chan:
		return a.Pointer() < b.Pointer()
	}
	return false
}
