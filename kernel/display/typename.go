package display

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

// maxTypeDepth bounds the names of types that contain themselves without a name,
// as interpreters make them.
const maxTypeDepth = 4

var byteType = reflect.TypeFor[byte]()

// ownPackage is the name of package main, which cells do not write.
var ownPackage = regexp.MustCompile(`(^|[^\pL\pN_/.])main\.`)

// typeName writes a type as a cell, or a program's package main, does.
func typeName(t reflect.Type) string { return typeNameAt(t, 0) }

func typeNameAt(t reflect.Type, depth int) string {
	if t == byteType {
		return "byte" // what uint8 elements mostly are
	}
	if t.Name() != "" {
		return ownPackage.ReplaceAllString(t.String(), "$1")
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
			fields[i] = t.Field(i).Name + " " + typeNameAt(t.Field(i).Type, depth+1)
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
