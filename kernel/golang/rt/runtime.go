package rt

import (
	"fmt"
	"go/types"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
	"unsafe"
)

// Runtime is what the lowered code of one session shares.
type Runtime struct {
	types    registry
	wardrobe wardrobe
	checked  sync.RWMutex // held to change the types of earlier cells, or to ask for their methods
	impl     sync.Map     // implKey to bool
	hostType func(reflect.Type) types.Type

	stop   *bool // lowered code polls it: running goroutines are being cancelled
	stuck  *bool // cancelled goroutines are still alive
	groups groups
	traces traces

	// TypeFor finds a type that has a number, or nil.
	TypeFor func(types.Type) *Type

	// NumberFor gives a type a number, unless it has one, and KeyOf a text that
	// it shares with identical types alone.
	NumberFor func(types.Type) *Type
	KeyOf     func(types.Type) string

	// IsHost says whether compiled code knows a type by its name; the default
	// is that it knows none.
	IsHost func(*types.Named) bool

	// Show gets the values of a cell's last expression.
	Show func(values []any)

	// Background is told of a panic in a goroutine that a cell started.
	Background func(g *Group, value any, trace []Call)

	// Stdin, if set, is what compiled code reads in place of os.Stdin.
	Stdin io.Reader

	// Exit, if set, is os.Exit. Without it, os.Exit ends the cell.
	Exit func(code int)

	// Input values that the next cell picks up, by number.
	values sync.Map
	nvalue atomic.Int64
}

// New returns the runtime of a session. hostType gives the checker's type of
// a compiled one.
func New(hostType func(reflect.Type) types.Type) *Runtime {
	r := &Runtime{hostType: hostType, stop: new(bool), stuck: new(bool), IsHost: func(*types.Named) bool { return false }}
	r.types.byHost = make(map[reflect.Type]*Type)
	r.groups.byID = make(map[int64]*Group)
	r.wardrobe.made, r.wardrobe.bare = make(map[string]*clothes), make(map[reflect.Type]worn)
	r.traces.trails = make(map[int64]*trail)
	r.traces.funcs = make(map[string]*Func)
	return r
}

// AddType gives a type a number. Lowered code registers its methods, and the
// reflect type of one that compiled code knows, before it makes values.
func (r *Runtime) AddType(t types.Type, name string) *Type { return r.types.add(r, t, name) }

// Converter makes a func(any) I for a compiled interface I.
func (r *Runtime) Converter(iface, wrapper reflect.Type) reflect.Value {
	return r.converter(iface, wrapper)
}

// Put keeps a value for lowered code to fetch with Take.
func (r *Runtime) Put(v any) int64 {
	n := r.nvalue.Add(1)
	r.values.Store(n, v)
	return n
}

// Symbols is the package rt as the interpreter imports it.
func (r *Runtime) Symbols() map[string]reflect.Value {
	syms := map[string]any{
		"Box":           func(id int, v any) any { return Box{r.types.get(id), v} },
		"ID":            r.id,
		"V":             value,
		"As":            r.as,
		"Must":          r.must,
		"Implements":    r.implements,
		"MustImplement": r.mustImplement,
		"Eq":            equal,
		"Un":            unwrap,
		"AsError":       asError,
		"Logged":        logged,
		"Out":           r.out,
		"HostMethod":    hostMethod,
		"Run":           r.run,
		"Panic":         r.raise,
		"Recoverable":   recoverable,
		"Recovered":     r.recovered,
		"Go":            r.goFunc,
		"Callback":      r.callback,
		"Check":         r.check,
		"Method":        r.setMethod,
		"Host":          r.setHost,
		"Rep":           r.setRep,
		"Scan":          scanTarget,
		"JSONIn":        r.jsonIn,
		"JSONOut":       r.jsonOut,
		"JSON":          r.jsonInOut,
		"Dress":         r.dress,
		"DressAll":      r.dressAll,
		"DressFuncs":    r.dressFuncs,
		"Undress":       r.undress,
		"Pos":           r.traces.register,
		"Select":        selectCase,
		"SendCase":      sendCase,
		"RecvCase":      recvCase,
		"CheckMake":     checkMake,
		"Index":         r.indexPanic,
		"SliceBounds":   r.sliceBounds,
		"Rune": func(s string, i int) (rune, int) {
			r, n := utf8.DecodeRuneInString(s[i:])
			return r, i + n
		},
		"PanicWrap": func(typ, method string) {
			panic(&Panic{plainError(fmt.Sprintf("value method %s.%s called using nil *%s pointer", typ, method, typ[strings.LastIndexByte(typ, '.')+1:]))})
		},
		"Func":      func(f any) any { return f },
		"Empty":     func(any) struct{} { return struct{}{} },
		"NilMethod": func() { panic(&Panic{nilDereference}) },
		"RangeExit": rangeExit,
		"MinFloat":  func(a, b float64) float64 { return min(a, b) },
		"MaxFloat":  func(a, b float64) float64 { return max(a, b) },
		"Print":     func(args ...any) { printArgs(os.Stderr, args, false) },
		"Println":   func(args ...any) { printArgs(os.Stderr, args, true) },
		"ErrorsAs":  r.errorsAs,
		"Exit":      r.exit,
		"Fail":      func(err error) { panic(&ending{Failure{err}}) },
		"Show": func(values ...any) {
			if r.Show != nil {
				r.Show(values)
			}
		},
		"Take": func(n int) any {
			v, _ := r.values.LoadAndDelete(int64(n))
			return v
		},
		"Give":    func(n int, v any) { r.values.Store(int64(n), v) },
		"Format":  func(format string, args []any) (string, []any) { return typeVerbs(format, args) },
		"Clear":   clearAny,
		"MapKeys": mapKeys,
		"RangeLost": func() {
			panic(&Panic{runtimeError("range function recovered a loop body panic and did not resume panicking")})
		},
		"Same":             func(a, b any) bool { return a == b },
		"SameChan":         func(a, b any) bool { return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() },
		"NegativeShift":    func() { panic(&Panic{runtimeError("negative shift amount")}) },
		"NegativeLen":      func() { panic(&Panic{runtimeError("makeslice: len out of range")}) },
		"Delete":           deleteKey,
		"UnsafeAdd":        func(p unsafe.Pointer, n int) unsafe.Pointer { return unsafe.Add(p, n) },
		"UnsafeString":     func(p unsafe.Pointer, n int) string { return unsafe.String((*byte)(p), n) },
		"UnsafeStringData": func(s string) unsafe.Pointer { return unsafe.Pointer(unsafe.StringData(s)) },
		"UnsafeSliceData":  func(s any) unsafe.Pointer { return reflect.ValueOf(s).UnsafePointer() },
		"UnsafeSlice":      unsafeSlice,
	}
	out := make(map[string]reflect.Value, len(syms))
	for name, f := range syms {
		out[name] = reflect.ValueOf(f)
	}
	out["SelectCase"] = reflect.ValueOf((*reflect.SelectCase)(nil))
	out["Frame"] = reflect.ValueOf((*Frame)(nil))
	return out
}

// unsafeSlice is unsafe.Slice.
func unsafeSlice(p any, n int) any {
	v := reflect.ValueOf(p)
	elem := v.Type().Elem()
	switch {
	case n < 0:
		panic(&Panic{runtimeError("unsafe.Slice: len out of range")})
	case v.IsNil() && n > 0:
		panic(&Panic{runtimeError("unsafe.Slice: ptr is nil and len is not zero")})
	case v.IsNil():
		return reflect.Zero(reflect.SliceOf(elem)).Interface()
	case elem.Size() > 0 && uintptr(n) > -v.Pointer()/elem.Size():
		panic(&Panic{runtimeError("unsafe.Slice: len out of range")})
	}
	array := reflect.NewAt(reflect.ArrayOf(n, elem), v.UnsafePointer())
	return array.Elem().Slice(0, n).Interface()
}

// checkMake checks the length and the capacity given to make.
func checkMake(n, c, size int) {
	const most = 1 << 47
	switch size = max(size, 1); {
	case n < 0 || n > most/size:
		panic(&Panic{runtimeError("makeslice: len out of range")})
	case c < n || c > most/size:
		panic(&Panic{runtimeError("makeslice: cap out of range")})
	}
}

func rangeExit() {
	panic(&Panic{runtimeError("range function continued iteration after function for loop body returned false")})
}

func clearAny(v any) {
	rv := reflect.ValueOf(v)
	if rv.IsValid() {
		rv.Clear()
	}
}

func deleteKey(m, key any) {
	mv := reflect.ValueOf(m)
	if mv.IsNil() {
		return
	}
	kv := reflect.New(mv.Type().Key()).Elem()
	if key != nil {
		kv.Set(reflect.ValueOf(key))
	}
	mv.SetMapIndex(kv, reflect.Value{})
}

func mapKeys(m any) []any {
	keys := reflect.ValueOf(m).MapKeys()
	out := make([]any, len(keys))
	for i, k := range keys {
		out[i] = k.Interface()
	}
	return out
}

func (r *Runtime) setMethod(id int, name string, fn any) {
	t := r.types.get(id)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.methods == nil {
		t.methods = make(map[string]reflect.Value)
	}
	t.methods[name] = reflect.ValueOf(fn)
	r.wardrobe.version.Add(1)
}

// setHost tells the reflect type of a type that compiled code knows, by a
// nil pointer to it.
func (r *Runtime) setHost(id int, pointer any) {
	t := r.types.get(id)
	host := reflect.TypeOf(pointer).Elem()
	r.types.mu.Lock()
	defer r.types.mu.Unlock()
	t.host = host
	r.types.byHost[host] = t
}

// setRep tells what represents a type, by a nil pointer to it.
func (r *Runtime) setRep(id int, pointer any) {
	t := r.types.get(id)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rep = reflect.TypeOf(pointer).Elem()
}

func (r *Runtime) errorsAs(err error, target any, id int) bool {
	dst := reflect.ValueOf(target).Elem()
	want := r.types.get(id)
	_, isIface := want.Type.Underlying().(*types.Interface)
	found := false
	walkErrors(err, func(e error) bool {
		x := unwrap(e)
		switch {
		case isIface && r.implements(x, id):
			dst.Set(reflect.ValueOf(x))
			found = true
		case !isIface && r.id(x) == id:
			dst.Set(reflect.ValueOf(value(x)))
			found = true
		}
		return found
	})
	return found
}

func walkErrors(err error, visit func(error) bool) bool {
	for err != nil {
		if visit(err) {
			return true
		}
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			for _, sub := range e.Unwrap() {
				if walkErrors(sub, visit) {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
	return false
}

// printArgs is the predeclared print, whose floats are Go's runtime's.
func printArgs(w io.Writer, args []any, line bool) {
	var text []byte
	for i, a := range args {
		if i > 0 && line {
			text = append(text, ' ')
		}
		text = append(text, printText(a)...)
	}
	if line {
		text = append(text, '\n')
	}
	w.Write(text)
}

func printText(a any) string {
	switch v := a.(type) {
	case nil:
		return "(0x0,0x0)"
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case float32:
		return strconv.FormatFloat(float64(v), 'g', -1, 32)
	case complex128:
		return strconv.FormatComplex(v, 'g', -1, 128)
	case complex64:
		return strconv.FormatComplex(complex128(v), 'g', -1, 64)
	case Box:
		return printText(v.V)
	case error:
		return fmt.Sprintf("(%p,%p)", &v, &v)
	}
	rv := reflect.ValueOf(a)
	switch rv.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return fmt.Sprintf("%#x", rv.Pointer())
	case reflect.Slice:
		return fmt.Sprintf("[%d/%d]%#x", rv.Len(), rv.Cap(), rv.Pointer())
	}
	return fmt.Sprint(a)
}

func (r *Runtime) exit(code int) {
	if r.Exit != nil {
		r.Exit(code)
	}
	panic(&ending{Exit{code}})
}
