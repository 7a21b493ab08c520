package display

import (
	"cmp"
	"fmt"
	"image"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// Limits of the plain form. Past them a mark with "…" stands for what was left out.
const (
	maxDepth  = 10      // values within values
	maxString = 1 << 10 // bytes of a string within another value
	maxText   = 1 << 16 // bytes of a string by itself
	maxNodes  = 5000    // values in all
)

// maxElements is how many elements of a slice or map are shown, by depth.
func maxElements(depth int) int {
	switch depth {
	case 0:
		return 100
	case 1:
		return 20
	}
	return 10
}

// Format writes a value as a Go programmer would: composite literals with field
// names, maps sorted by key, pointers as &T{...}, long slices cut in the middle,
// lines of about 80 columns. What a value says of itself (Error, String) stands
// for it. It never panics, and ends for values that contain themselves.
func Format(v any) string {
	if rv, ok := v.(reflect.Value); ok {
		return format(rv)
	}
	return format(reflect.ValueOf(v))
}

func format(v reflect.Value) (text string) {
	defer func() {
		// Reading a value that another goroutine changes can panic.
		if r := recover(); r != nil {
			text = fmt.Sprintf("(a value of type %s that cannot be shown: %v)", typeName(v.Type()), r)
		}
	}()
	f := formatter{nodes: maxNodes}
	for v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() == reflect.String && !hasText(v) {
		return topString(v.String())
	}
	var out strings.Builder
	f.value(v, 0, true).write(&out, 0, 0, 0)
	return out.String()
}

// topString writes a string of several lines as a raw literal where Go has one.
func topString(s string) string {
	if len(s) > maxText {
		return cutString(s, maxText)
	}
	if strings.Contains(s, "\n") && strconv.CanBackquote(strings.ReplaceAll(s, "\n", "")) {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

func cutString(s string, limit int) string {
	head := strings.ToValidUTF8(s[:limit*3/4], "")
	tail := strings.ToValidUTF8(s[len(s)-limit/4:], "")
	return fmt.Sprintf("%s…%s (%d bytes)", strings.TrimSuffix(strconv.Quote(head), `"`),
		strings.TrimPrefix(strconv.Quote(tail), `"`), len(s))
}

// formatter makes the layout of one value.
type formatter struct {
	nodes int // how many more values may be shown
	path  []visit
}

// visit is a reference on the way from the root to the value at hand.
type visit struct {
	ptr unsafe.Pointer
	len int
	typ reflect.Type
}

func (f *formatter) inside(v visit) bool { return slices.Contains(f.path, v) }

// value lays v out. typed says that the reader cannot tell its type from what
// stands around it, so that a composite needs it.
func (f *formatter) value(v reflect.Value, depth int, typed bool) *layout {
	if f.nodes--; f.nodes < 0 {
		return leaf("…")
	}
	if !v.IsValid() {
		return leaf("nil")
	}
	if inner, ok := unwrap(v); ok {
		return f.value(inner, depth, true)
	}
	if v.Kind() == reflect.Interface {
		if v.IsNil() {
			return leaf("nil")
		}
		return f.value(v.Elem(), depth, true)
	}
	if text, ok := ownText(v, depth); ok {
		return leaf(text)
	}
	t := v.Type()
	name := ""
	if typed {
		name = typeName(t)
	}
	switch v.Kind() {
	case reflect.Bool:
		return leaf(strconv.FormatBool(v.Bool()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return leaf(strconv.FormatInt(v.Int(), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return leaf(strconv.FormatUint(v.Uint(), 10))
	case reflect.Uintptr:
		return leaf(fmt.Sprintf("%#x", v.Uint()))
	case reflect.Float32:
		return leaf(fmt.Sprint(float32(v.Float())))
	case reflect.Float64:
		return leaf(fmt.Sprint(v.Float()))
	case reflect.Complex64:
		return leaf(fmt.Sprint(complex64(v.Complex())))
	case reflect.Complex128:
		return leaf(fmt.Sprint(v.Complex()))
	case reflect.String:
		if s := v.String(); len(s) > maxString {
			return leaf(cutString(s, maxString))
		}
		return leaf(strconv.Quote(v.String()))
	case reflect.UnsafePointer:
		return leaf(fmt.Sprintf("unsafe.Pointer(%#x)", uintptr(v.UnsafePointer())))
	case reflect.Func:
		return function(v, typed)
	case reflect.Chan:
		return channel(v, typed)
	case reflect.Pointer:
		return f.pointer(v, depth, typed)
	case reflect.Slice:
		if v.IsNil() {
			return nilOf(t, typed)
		}
		return f.nested(v, visit{v.UnsafePointer(), v.Len(), t}, func() *layout { return f.list(v, name, depth) })
	case reflect.Array:
		return f.list(v, name, depth)
	case reflect.Map:
		if v.IsNil() {
			return nilOf(t, typed)
		}
		return f.nested(v, visit{v.UnsafePointer(), 0, t}, func() *layout { return f.mapping(v, name, depth) })
	case reflect.Struct:
		return f.structure(v, name, depth)
	}
	return leaf(t.String())
}

// nested lays out what v refers to, unless v contains itself.
func (f *formatter) nested(v reflect.Value, at visit, inner func() *layout) *layout {
	if (v.Kind() == reflect.Pointer || v.Len() > 0) && f.inside(at) {
		return leaf("(cycle to " + typeName(v.Type()) + ")")
	}
	f.path = append(f.path, at)
	defer func() { f.path = f.path[:len(f.path)-1] }()
	return inner()
}

func nilOf(t reflect.Type, typed bool) *layout {
	if !typed {
		return leaf("nil")
	}
	name := typeName(t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Chan:
		name = "(" + name + ")"
	}
	return leaf(name + "(nil)")
}

func (f *formatter) pointer(v reflect.Value, depth int, typed bool) *layout {
	if v.IsNil() {
		return nilOf(v.Type(), typed)
	}
	return f.nested(v, visit{v.UnsafePointer(), 0, v.Type()}, func() *layout {
		return f.value(v.Elem(), depth, typed).after("&")
	})
}

func (f *formatter) list(v reflect.Value, name string, depth int) *layout {
	n := v.Len()
	if n > 0 && v.Type().Elem().Kind() == reflect.Uint8 {
		if l, ok := byteText(v, name); ok {
			return l
		}
	}
	l := &layout{open: name + "{", close: "}", fill: isScalar(v.Type().Elem())}
	if n > 0 && depth >= maxDepth {
		l.items = []*layout{leaf("…")}
		return l
	}
	limit := maxElements(depth)
	for i := 0; i < n; i++ {
		if n > limit && i == limit/2 {
			skip := n - limit/2*2
			l.items = append(l.items, leaf(fmt.Sprintf("… %d more …", skip)))
			i += skip
		}
		e := v.Index(i)
		if isBytes(v.Type()) {
			l.items = append(l.items, leaf(fmt.Sprintf("%#02x", e.Uint())))
			continue
		}
		l.items = append(l.items, f.value(e, depth+1, false))
	}
	return l
}

func isBytes(t reflect.Type) bool { return t.Elem() == byteType }

// byteText shows bytes that are text as text.
func byteText(v reflect.Value, name string) (*layout, bool) {
	if v.Kind() != reflect.Slice || !isBytes(v.Type()) {
		return nil, false
	}
	b := v.Bytes()
	if !utf8.Valid(b) {
		return nil, false
	}
	for _, r := range string(b[:min(len(b), maxString)]) {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) && r != utf8.RuneError {
			return nil, false
		}
	}
	text := strconv.Quote(string(b))
	if len(b) > maxString {
		text = cutString(string(b), maxString)
	}
	if name == "" {
		return leaf(text), true
	}
	return leaf(name + "(" + text + ")"), true
}

func (f *formatter) mapping(v reflect.Value, name string, depth int) *layout {
	l := &layout{open: name + "{", close: "}"}
	if v.Len() > 0 && depth >= maxDepth {
		l.items = []*layout{leaf("…")}
		return l
	}
	keys := v.MapKeys()
	slices.SortStableFunc(keys, compare)
	limit := maxElements(depth)
	for i, k := range keys {
		if i == limit {
			l.items = append(l.items, leaf(fmt.Sprintf("… %d more", len(keys)-limit)))
			break
		}
		key := f.value(k, depth+1, false).flat()
		item := f.value(v.MapIndex(k), depth+1, false)
		l.items = append(l.items, item.after(key+": "))
	}
	return l
}

func (f *formatter) structure(v reflect.Value, name string, depth int) *layout {
	t := v.Type()
	if !v.CanAddr() && v.CanInterface() {
		at := reflect.New(t).Elem() // so that times in unexported fields can be read
		at.Set(v)
		v = at
	}
	l := &layout{open: name + "{", close: "}"}
	if t.NumField() > 0 && depth >= maxDepth {
		l.items = []*layout{leaf("…")}
		return l
	}
	for i := range t.NumField() {
		field := v.Field(i)
		l.items = append(l.items, f.value(field, depth+1, !isNil(field)).after(fieldName(t, i)+": "))
	}
	return l
}

func function(v reflect.Value, typed bool) *layout {
	if v.IsNil() {
		return nilOf(v.Type(), typed)
	}
	return leaf(typeName(v.Type()))
}

func channel(v reflect.Value, typed bool) *layout {
	if v.IsNil() {
		return nilOf(v.Type(), typed)
	}
	if v.Cap() == 0 {
		return leaf(typeName(v.Type()) + " (unbuffered)")
	}
	return leaf(fmt.Sprintf("%s (%d of %d queued)", typeName(v.Type()), v.Len(), v.Cap()))
}

func isNil(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Chan, reflect.Slice, reflect.Map, reflect.Interface:
		return v.IsNil()
	}
	return false
}

func isScalar(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Array, reflect.Map, reflect.Pointer, reflect.Interface:
		return false
	}
	return true
}

var (
	errorType     = reflect.TypeFor[error]()
	stringerType  = reflect.TypeFor[fmt.Stringer]()
	formatterType = reflect.TypeFor[fmt.Formatter]()
	timeType      = reflect.TypeFor[time.Time]()
	durationType  = reflect.TypeFor[time.Duration]()
	bundleType    = reflect.TypeFor[Bundle]()
	imageType     = reflect.TypeFor[image.Image]()
)

func hasText(v reflect.Value) bool {
	t := v.Type()
	return t.Implements(errorType) || t.Implements(stringerType) || t.Implements(formatterType)
}

// ownText is what v says of itself, if it does. fmt calls the method, and
// reports one that panics.
func ownText(v reflect.Value, depth int) (string, bool) {
	t := v.Type()
	switch t {
	case durationType:
		return time.Duration(v.Int()).String(), true
	case timeType:
		if at, ok := exposed(v); ok {
			return at.Interface().(time.Time).Round(0).String(), true
		}
	case bundleType:
		if at, ok := exposed(v); ok && depth > 0 {
			return strconv.Quote(at.Interface().(Bundle).withText().text()), true
		}
	}
	if !v.CanInterface() || t.Kind() == reflect.Pointer && v.IsNil() && depth > 0 {
		return "", false
	}
	if hasText(v) {
		text := fmt.Sprint(v.Interface())
		if depth == 0 {
			return text, true
		}
		if t.Implements(errorType) {
			return "error(" + strconv.Quote(text) + ")", true
		}
		// Among other values a long text would hide where it begins and ends.
		return text, len(text) <= maxString && !strings.Contains(text, "\n")
	}
	if t.Implements(imageType) && t.Kind() != reflect.Interface {
		return guard(func() string { return imageText(v.Interface().(image.Image)) })
	}
	return "", false
}

// exposed gives a value from an unexported field the rights of an exported one.
func exposed(v reflect.Value) (reflect.Value, bool) {
	if v.CanInterface() {
		return v, true
	}
	if !v.CanAddr() {
		return v, false
	}
	return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem(), true
}

// unwrap finds the value that a reflect.Value, or yaegi's box for values of
// interpreted interface types, holds.
func unwrap(v reflect.Value) (reflect.Value, bool) {
	t := v.Type()
	if t == reflect.TypeFor[reflect.Value]() && v.CanInterface() {
		return v.Interface().(reflect.Value), true
	}
	if isBox(t) && v.CanInterface() {
		box := reflect.New(t).Elem()
		box.Set(v)
		if field := box.FieldByName("value"); field.IsValid() {
			if at, ok := exposed(field); ok {
				inner, ok := at.Interface().(reflect.Value)
				return inner, ok
			}
		}
	}
	return v, false
}

func isBox(t reflect.Type) bool {
	return t.Name() == "valueInterface" && t.PkgPath() == "github.com/traefik/yaegi/interp"
}

// compare orders map keys: nil first, numbers and strings by value, pointers by
// address, arrays and structs by their parts; keys of
// different types by kind, then by type.
func compare(a, b reflect.Value) int {
	if a.Kind() == reflect.Interface {
		a = a.Elem()
	}
	if b.Kind() == reflect.Interface {
		b = b.Elem()
	}
	if !a.IsValid() || !b.IsValid() || a.Kind() != b.Kind() {
		return cmp.Compare(a.Kind(), b.Kind())
	}
	switch {
	case a.Type() != b.Type():
		return cmp.Compare(a.Type().String(), b.Type().String())
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	case a.CanFloat():
		return cmp.Compare(a.Float(), b.Float())
	case a.Kind() == reflect.String:
		return cmp.Compare(a.String(), b.String())
	case a.Kind() == reflect.Bool:
		return cmp.Compare(btoi(a.Bool()), btoi(b.Bool()))
	case a.Kind() == reflect.Pointer || a.Kind() == reflect.Chan || a.Kind() == reflect.UnsafePointer:
		return cmp.Compare(a.Pointer(), b.Pointer())
	case a.Kind() == reflect.Array:
		for i := range a.Len() {
			if c := compare(a.Index(i), b.Index(i)); c != 0 {
				return c
			}
		}
	case a.Kind() == reflect.Struct:
		for i := range a.NumField() {
			if c := compare(a.Field(i), b.Field(i)); c != 0 {
				return c
			}
		}
	}
	return 0
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
