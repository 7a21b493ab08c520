package display

import (
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

var typeNames atomic.Pointer[func(reflect.Type) string]

// SetTypeNames tells Format, Of and Table the names of types whose reflect.Type
// does not know them: an interpreter's types are anonymous structs to
// reflection. names returns "" for a type that it does not know. With it set,
// the fields of anonymous structs are taken to be yaegi's, which puts an X
// before unexported names. nil undoes it.
func SetTypeNames(names func(reflect.Type) string) {
	if names == nil {
		typeNames.Store(nil)
		return
	}
	typeNames.Store(&names)
}

// maxTypeDepth bounds the names of types that contain themselves, as an
// interpreter's anonymous ones can.
const maxTypeDepth = 4

var byteType = reflect.TypeFor[byte]()

// typeName writes a type as Go does.
func typeName(t reflect.Type) string { return typeNameAt(t, 0) }

func typeNameAt(t reflect.Type, depth int) string {
	if names := typeNames.Load(); names != nil {
		if name := (*names)(t); name != "" {
			return name
		}
	}
	if isBox(t) {
		return "any"
	}
	if t == byteType {
		return "byte" // what uint8 elements mostly are
	}
	if t.Name() != "" {
		return t.String()
	}
	if depth >= maxTypeDepth {
		return "…"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + typeNameAt(t.Elem(), depth+1)
	case reflect.Slice:
		return "[]" + typeNameAt(t.Elem(), depth+1)
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), typeNameAt(t.Elem(), depth+1))
	case reflect.Map:
		return "map[" + typeNameAt(t.Key(), depth+1) + "]" + typeNameAt(t.Elem(), depth+1)
	case reflect.Chan:
		elem := typeNameAt(t.Elem(), depth+1)
		switch t.ChanDir() {
		case reflect.RecvDir:
			return "<-chan " + elem
		case reflect.SendDir:
			return "chan<- " + elem
		}
		if strings.HasPrefix(elem, "<-") {
			elem = "(" + elem + ")"
		}
		return "chan " + elem
	case reflect.Func:
		return "func" + signature(t, depth)
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return "any"
		}
	case reflect.Struct:
		fields := make([]string, t.NumField())
		for i := range fields {
			fields[i] = fieldName(t, i) + " " + typeNameAt(t.Field(i).Type, depth+1)
		}
		if len(fields) == 0 {
			return "struct{}"
		}
		if text := strings.Join(fields, "; "); len(text) <= 40 {
			return "struct { " + text + " }"
		}
		return "struct {…}"
	}
	return t.String()
}

func signature(t reflect.Type, depth int) string {
	in := make([]string, t.NumIn())
	for i := range in {
		if t.IsVariadic() && i == len(in)-1 {
			in[i] = "..." + typeNameAt(t.In(i).Elem(), depth+1)
			continue
		}
		in[i] = typeNameAt(t.In(i), depth+1)
	}
	out := make([]string, t.NumOut())
	for i := range out {
		out[i] = typeNameAt(t.Out(i), depth+1)
	}
	text := "(" + strings.Join(in, ", ") + ")"
	switch len(out) {
	case 0:
		return text
	case 1:
		return text + " " + out[0]
	}
	return text + " (" + strings.Join(out, ", ") + ")"
}

// fieldName is the name of a struct's field in the source.
func fieldName(t reflect.Type, i int) string {
	name := t.Field(i).Name
	if t.Name() != "" || typeNames.Load() == nil || !strings.HasPrefix(name, "X") {
		return name
	}
	if r, _ := utf8.DecodeRuneInString(name[1:]); unicode.IsUpper(r) || r == utf8.RuneError {
		return name
	}
	return name[1:]
}
