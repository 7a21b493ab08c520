package magic

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gocuda/kernel/display"
)

const (
	maxListed     = 5 // elements that %whos shows; of longer lists it shows the shape
	maxDimensions = 8 // a list may be in itself
)

func whos(_ context.Context, env Env, call Call) error {
	if call.Args != "" {
		return call.UsageErrorf("it takes no arguments; %%who lists other names too")
	}
	var rows [][]any
	for _, n := range slices.SortedFunc(slices.Values(env.Names()), func(a, b Name) int { return cmp.Compare(a.Name, b.Name) }) {
		if n.Content == nil || strings.HasPrefix(n.Name, "_") {
			continue
		}
		content, ok := n.Content()
		if !ok {
			rows = append(rows, []any{n.Name, n.Type, "", ""})
			continue
		}
		v := reflect.ValueOf(content)
		text := shape(v)
		if text == "" {
			text = n.Value()
		}
		rows = append(rows, []any{n.Name, n.Type, text, bytesOf(v)})
	}
	if len(rows) == 0 {
		fmt.Fprintln(env.Stdout(), "no variables are declared")
		return nil
	}
	display.Show(display.Table(rows, "name", "type", "value", "bytes"))
	return nil
}

// shape tells how many elements a long list has, such as 100 × 3 elements for rows of
// the same length; "" for all else.
func shape(v reflect.Value) string {
	total := 1
	var sizes []string
	for len(sizes) < maxDimensions && v.IsValid() && (v.Kind() == reflect.Slice || v.Kind() == reflect.Array || v.Kind() == reflect.Map && sizes == nil) {
		sizes = append(sizes, fmt.Sprint(v.Len()))
		total *= v.Len()
		if v.Kind() == reflect.Map || v.Len() == 0 || !sameLength(v) {
			break
		}
		v = v.Index(0)
	}
	if len(sizes) == 0 || total <= maxListed {
		return ""
	}
	return strings.Join(sizes, " × ") + " elements"
}

// sameLength says whether the elements of a list are lists of one length.
func sameLength(list reflect.Value) bool {
	if k := list.Type().Elem().Kind(); k != reflect.Slice && k != reflect.Array {
		return false
	}
	for i := range list.Len() {
		if list.Index(i).Len() != list.Index(0).Len() {
			return false
		}
	}
	return true
}

// bytesOf is the memory of a value, with the elements of its slices and maps and the
// memory of buffers.
func bytesOf(v reflect.Value) int {
	if !v.IsValid() {
		return 0
	}
	n := referred{}.bytes(v)
	if n > 0 && v.Kind() == reflect.Pointer {
		return n
	}
	return int(v.Type().Size()) + n
}

// referred are the lists and buffers that were counted, by address: one may be in
// several, and a list in itself.
type referred map[uintptr]bool

// bytes is the memory that a value refers to.
func (r referred) bytes(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Map: // which a goroutine may be changing
		return v.Len() * int(v.Type().Key().Size()+v.Type().Elem().Size())
	case reflect.Slice:
		if v.Len() == 0 || r[v.Pointer()] {
			return 0
		}
		r[v.Pointer()] = true
		return v.Len()*int(v.Type().Elem().Size()) + r.elements(v)
	case reflect.Array:
		return r.elements(v)
	case reflect.Pointer:
		if refers(v.Type()) && !v.IsNil() && v.CanInterface() && !r[v.Pointer()] {
			r[v.Pointer()] = true
			return v.Interface().(measured).Bytes()
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += r.bytes(v.Field(i))
		}
	}
	return n
}

func (r referred) elements(list reflect.Value) (n int) {
	if refers(list.Type().Elem()) {
		for i := range list.Len() {
			n += r.bytes(list.Index(i))
		}
	}
	return n
}

// refers says whether values of the type can have memory beyond their own.
func refers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Map, reflect.Slice, reflect.Array, reflect.Struct:
		return true
	case reflect.Pointer:
		return t.Implements(reflect.TypeFor[measured]())
	}
	return false
}

// measured is what says itself how many bytes it has, such as a buffer.
type measured interface{ Bytes() int }
