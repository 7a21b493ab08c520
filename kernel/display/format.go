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
func Format(v any) string { return format(valOf(v)) }

func format(x val) (text string) {
	defer func() {
		// Reading a value that another goroutine changes can panic.
		if r := recover(); r != nil {
			text = fmt.Sprintf("(a value that cannot be shown: %v)", r)
		}
	}()
	f := formatter{nodes: maxNodes}
	for x.v.Kind() == reflect.Interface && !x.v.IsNil() {
		x = x.elem()
	}
	if x.v.Kind() == reflect.String && !x.hasText() {
		return topString(x.v.String())
	}
	var out strings.Builder
	f.value(x, 0, true).write(&out, 0, 0, 0)
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

// value lays x out. typed says that the reader cannot tell its type from what
// stands around it, so that a composite needs it.
func (f *formatter) value(x val, depth int, typed bool) *layout {
	if f.nodes--; f.nodes < 0 {
		return leaf("…")
	}
	v := x.v
	if !v.IsValid() {
		return leaf("nil")
	}
	if v.Kind() == reflect.Interface {
		if v.IsNil() {
			return leaf("nil")
		}
		return f.value(x.elem(), depth, true)
	}
	if v.Type() == valueType {
		return f.reflected(x, depth)
	}
	if text, ok := ownText(x, depth); ok {
		return leaf(text)
	}
	name := ""
	if typed {
		name = x.typeName()
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
	case reflect.Array:
		return f.list(x, name, depth)
	case reflect.Struct:
		return f.structure(x, name, depth)
	}
	if v.IsNil() {
		return nilOf(v.Kind(), name, depth)
	}
	switch v.Kind() {
	case reflect.Func:
		return leaf(x.typeName())
	case reflect.Chan:
		return channel(x)
	case reflect.Pointer:
		return f.nested(x, visit{v.UnsafePointer(), 0, v.Type()}, func() *layout { return f.value(x.elem(), depth, typed).after("&") })
	case reflect.Slice:
		return f.nested(x, visit{v.UnsafePointer(), v.Len(), v.Type()}, func() *layout { return f.list(x, name, depth) })
	default:
		return f.nested(x, visit{v.UnsafePointer(), 0, v.Type()}, func() *layout { return f.mapping(x, name, depth) })
	}
}

// nested lays out what x refers to, unless x contains itself.
func (f *formatter) nested(x val, at visit, inner func() *layout) *layout {
	if (x.v.Kind() == reflect.Pointer || x.v.Len() > 0) && f.inside(at) {
		return leaf("(cycle to " + x.typeName() + ")")
	}
	f.path = append(f.path, at)
	defer func() { f.path = f.path[:len(f.path)-1] }()
	return inner()
}

// nilOf tells a nil's type where that matters: among values of any type.
func nilOf(kind reflect.Kind, name string, depth int) *layout {
	switch {
	case name == "":
		return leaf("nil")
	case kind == reflect.Slice || kind == reflect.Map:
		return leaf(name + "(nil)")
	case depth == 0:
		return leaf("nil")
	}
	return leaf("(" + name + ")(nil)")
}

func channel(x val) *layout {
	if x.v.Cap() == 0 {
		return leaf(x.typeName() + " (unbuffered)")
	}
	return leaf(fmt.Sprintf("%s (%d of %d queued)", x.typeName(), x.v.Len(), x.v.Cap()))
}

func (f *formatter) list(x val, name string, depth int) *layout {
	v := x.v
	n := v.Len()
	bytes := isBytes(v.Type())
	if n > 0 && bytes && v.Kind() == reflect.Slice {
		if text, ok := byteText(v.Bytes()); ok {
			if name != "" {
				text = name + "(" + text + ")"
			}
			return leaf(text)
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
		if bytes {
			l.items = append(l.items, leaf(fmt.Sprintf("%#02x", v.Index(i).Uint())))
			continue
		}
		l.items = append(l.items, f.value(x.index(i), depth+1, false))
	}
	return l
}

func isBytes(t reflect.Type) bool { return t.Elem() == byteType }

// byteText shows bytes that are text as text.
func byteText(b []byte) (string, bool) {
	if !utf8.Valid(b) {
		return "", false
	}
	for _, r := range string(b[:min(len(b), maxString)]) {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) && r != utf8.RuneError {
			return "", false
		}
	}
	if len(b) > maxString {
		return cutString(string(b), maxString), true
	}
	return strconv.Quote(string(b)), true
}

func (f *formatter) mapping(x val, name string, depth int) *layout {
	l := &layout{open: name + "{", close: "}"}
	if x.v.Len() > 0 && depth >= maxDepth {
		l.items = []*layout{leaf("…")}
		return l
	}
	keys := x.v.MapKeys()
	slices.SortStableFunc(keys, compare)
	limit := maxElements(depth)
	for i, k := range keys {
		if i == limit {
			l.items = append(l.items, leaf(fmt.Sprintf("… %d more", len(keys)-limit)))
			break
		}
		key := f.value(x.key(k), depth+1, false).flat()
		item := f.value(x.mapIndex(k), depth+1, false)
		l.items = append(l.items, item.after(key+": "))
	}
	return l
}

func (f *formatter) structure(x val, name string, depth int) *layout {
	if !x.v.CanAddr() && x.v.CanInterface() {
		at := reflect.New(x.v.Type()).Elem() // so that times in unexported fields can be read
		at.Set(x.v)
		x.v = at
	}
	l := &layout{open: name + "{", close: "}"}
	if x.v.NumField() > 0 && depth >= maxDepth {
		l.items = []*layout{leaf("…")}
		return l
	}
	shown, hidden := x.fields()
	for _, i := range shown {
		name, field := x.field(i)
		l.items = append(l.items, f.value(field, depth+1, !isNil(field.v)).after(name+": "))
	}
	if hidden {
		l.items = append(l.items, leaf("…"))
	}
	return l
}

func isScalar(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Array, reflect.Map, reflect.Pointer, reflect.Interface:
		return false
	}
	return true
}

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	bundleType   = reflect.TypeFor[Bundle]()
	valueType    = reflect.TypeFor[reflect.Value]()
)

// reflected lays out what a reflect.Value holds. fmt would do it as well, but
// without an end where the value holds itself.
func (f *formatter) reflected(x val, depth int) *layout {
	at, ok := exposed(x.v)
	if !ok {
		return leaf("reflect.Value{…}")
	}
	held := at.Interface().(reflect.Value)
	if !held.IsValid() {
		return leaf(held.String())
	}
	return f.value(valOf(held), depth, true)
}

// ownText is what x says of itself, if it does. fmt calls the method, and
// reports one that panics.
func ownText(x val, depth int) (string, bool) {
	switch x.v.Type() {
	case durationType:
		return time.Duration(x.v.Int()).String(), true
	case timeType:
		if at, ok := exposed(x.v); ok {
			return at.Interface().(time.Time).Round(0).String(), true
		}
	case bundleType:
		if at, ok := exposed(x.v); ok && depth > 0 {
			return strconv.Quote(at.Interface().(Bundle).withText().text()), true
		}
	}
	m := x.methods()
	if !m.IsValid() || x.v.Kind() == reflect.Pointer && x.v.IsNil() && depth > 0 {
		return "", false
	}
	if x.hasText() {
		text := fmt.Sprint(m.Interface())
		if depth == 0 {
			return text, true
		}
		if m.Type().Implements(errorType) {
			return "error(" + strconv.Quote(text) + ")", true
		}
		// Among other values a long text would hide where it begins and ends.
		return text, len(text) <= maxString && !strings.Contains(text, "\n")
	}
	if m.Type().Implements(imageType) {
		return guard(func() string { return imageText(m.Interface().(image.Image)) })
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

// compare orders map keys: nil first, numbers and strings by value, pointers by
// address, arrays and structs by their parts; keys of
// different types by kind, then by type.
func compare(a, b reflect.Value) int {
	return cmp.Or(compareHeld(dynamic(a), dynamic(b)), cmp.Compare(keyType(a), keyType(b)))
}

// keyType tells a value from a reflect.Value that holds one like it.
func keyType(v reflect.Value) string {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		return ""
	}
	return v.Type().String()
}

func compareHeld(a, b reflect.Value) int {
	if a.Kind() != b.Kind() || !a.IsValid() {
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

// dynamic is what an interface holds.
func dynamic(v reflect.Value) reflect.Value {
	x := val{v: v}.open()
	for x.v.Kind() == reflect.Interface {
		x = x.elem()
	}
	return x.v
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
