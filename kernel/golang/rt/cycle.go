package rt

import (
	"fmt"
	"io"
	"reflect"
	"sync"
)

// Package fmt prints a value that contains itself without end, and the process dies
// of it. So what cells print is looked at first.

// fmts is what cells get in place of functions of package fmt.
func (r *Runtime) fmts() map[string]reflect.Value {
	out := func() io.Writer { return r.to(r.Stdout) }
	funcs := map[string]any{
		"Print":   func(a ...any) (int, error) { finite(a); return fmt.Fprint(out(), a...) },
		"Printf":  func(format string, a ...any) (int, error) { finite(a); return fmt.Fprintf(out(), format, a...) },
		"Println": func(a ...any) (int, error) { finite(a); return fmt.Fprintln(out(), a...) },
		"Fprint":  func(w io.Writer, a ...any) (int, error) { finite(a); return fmt.Fprint(r.to(w), a...) },
		"Fprintf": func(w io.Writer, format string, a ...any) (int, error) {
			finite(a)
			return fmt.Fprintf(r.to(w), format, a...)
		},
		"Fprintln": func(w io.Writer, a ...any) (int, error) { finite(a); return fmt.Fprintln(r.to(w), a...) },
		"Sprint":   func(a ...any) string { finite(a); return fmt.Sprint(a...) },
		"Sprintf":  func(format string, a ...any) string { finite(a); return fmt.Sprintf(format, a...) },
		"Sprintln": func(a ...any) string { finite(a); return fmt.Sprintln(a...) },
		"Append":   func(b []byte, a ...any) []byte { finite(a); return fmt.Append(b, a...) },
		"Appendf":  func(b []byte, format string, a ...any) []byte { finite(a); return fmt.Appendf(b, format, a...) },
		"Appendln": func(b []byte, a ...any) []byte { finite(a); return fmt.Appendln(b, a...) },
		"Errorf":   func(format string, a ...any) error { finite(a); return fmt.Errorf(format, a...) },
	}
	symbols := map[string]reflect.Value{
		"Scan":   reflect.ValueOf(func(a ...any) (int, error) { return fmt.Fscan(r.Input(), a...) }),
		"Scanf":  reflect.ValueOf(func(format string, a ...any) (int, error) { return fmt.Fscanf(r.Input(), format, a...) }),
		"Scanln": reflect.ValueOf(func(a ...any) (int, error) { return fmt.Fscanln(r.Input(), a...) }),
	}
	for name, f := range funcs {
		symbols[name] = reflect.ValueOf(f)
	}
	return symbols
}

// Endless is why a cell ends that prints a value which contains itself.
type Endless struct{ Type string }

func (e Endless) Error() string {
	return "stack overflow: a value of type " + e.Type + " contains itself, so that fmt prints it without end"
}

// finite ends the cell if fmt would never end with the arguments.
func finite(args []any) {
	for _, a := range args {
		switch a.(type) {
		case nil, bool, string, int, int64, int32, uint8, float64, float32, uint64, uint, []byte, []int, []string, []float64, error, fmt.Stringer:
			continue
		}
		v := reflect.ValueOf(a)
		if !open(v.Type()) {
			continue
		}
		if v.Kind() == reflect.Pointer { // fmt follows it here alone
			v = v.Elem()
		}
		if (&route{}).returns(v) {
			panic(&ending{Endless{reflect.TypeOf(a).String()}})
		}
	}
}

// opens remembers which types may contain themselves as fmt goes through them: by
// way of maps, slices and interfaces.
var opens sync.Map // reflect.Type to bool

func open(t reflect.Type) bool {
	if known, ok := opens.Load(t); ok {
		return known.(bool)
	}
	result := openType(t, make(map[reflect.Type]bool), true)
	opens.Store(t, result)
	return result
}

func openType(t reflect.Type, above map[reflect.Type]bool, top bool) bool {
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer:
		return top && openType(t.Elem(), above, false)
	case reflect.Map, reflect.Slice, reflect.Array, reflect.Struct:
	default:
		return false
	}
	if above[t] {
		return true
	}
	above[t] = true
	defer delete(above, t)
	switch t.Kind() {
	case reflect.Map:
		return openType(t.Key(), above, false) || openType(t.Elem(), above, false)
	case reflect.Slice, reflect.Array:
		return openType(t.Elem(), above, false)
	}
	for f := range t.Fields() {
		if openType(f.Type, above, false) {
			return true
		}
	}
	return false
}

// route is the maps and slices on the way to a value.
type route struct{ on []passage }

type passage struct {
	at  uintptr
	len int
	typ reflect.Type
}

// returns says whether the way through a value comes back to where it was.
func (p *route) returns(v reflect.Value) bool {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if k := v.Kind(); k < reflect.Array || k == reflect.String {
		return false
	}
	if !open(v.Type()) && v.Kind() != reflect.Struct {
		return false
	}
	if v.CanInterface() {
		switch v.Interface().(type) {
		case error, fmt.Stringer, fmt.Formatter:
			return false // they print themselves
		}
	}
	switch v.Kind() {
	case reflect.Map, reflect.Slice:
		if v.Len() == 0 {
			return false
		}
		here := passage{v.Pointer(), v.Len(), v.Type()}
		for _, on := range p.on {
			if on == here {
				return true
			}
		}
		p.on = append(p.on, here)
		defer func() { p.on = p.on[:len(p.on)-1] }()
	}
	switch v.Kind() {
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if p.returns(it.Key()) || p.returns(it.Value()) {
				return true
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if p.returns(v.Index(i)) {
				return true
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if p.returns(v.Field(i)) {
				return true
			}
		}
	}
	return false
}
