package rt

import (
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
	"unsafe"

	"gocuda/kernel/golang/named"
)

// Runtime is what the lowered code of one session shares.
type Runtime struct {
	types   registry
	methods methods
	impl    sync.Map // implKey to bool

	stop   *bool // lowered code polls it: running goroutines are being cancelled
	stuck  *bool // cancelled goroutines are still alive
	groups groups
	alarms alarms
	traces traces

	// Demand has the function of a method made, by its number: setMethod is called
	// before it returns.
	Demand func(method int) error

	// Show gets the values of a cell's last expression.
	Show func(values []any)

	// Uncompiled is told that a loop runs that is never compiled: see lower.Lowerer.
	Uncompiled func(loop int)
	// Background is told about a panic in a goroutine that a cell started.
	Background func(g *Group, value any, trace Trace)

	// Stray is given the value of a panic in a goroutine that is of no cell.
	Stray func(value any)

	// Stdout is where cells print. Errors, if set, is their standard error.
	Stdout, Errors io.Writer

	// Route, if set, says where what the calling goroutine writes to w goes.
	Route func(w io.Writer) io.Writer

	// FaultsPanic, if set, is called when a cell wants faults of memory to panic.
	FaultsPanic func()

	// Begun, if set, is called when the lowered code of a cell has taken its place
	// among that of other cells, before the cell's own statements run.
	Begun func()

	// Stdin, if set, is what compiled code reads in place of os.Stdin. Input is what
	// fmt.Scan reads.
	Stdin io.Reader
	Input func() io.Reader

	callbacks sync.Map // goroutines of cells that compiled code has functions run in
	called    atomic.Int32

	// Debugger stops the goroutines of cells that were lowered for it.
	Debugger *Debugger

	// Touched, if set, is told about what cells read and write in memory that devices
	// use too, before they do.
	Touched  func(Touch)
	touching touching
	// Bodies, if set, gives the names in lowered code of what the interpreter runs
	// of functions, by its addresses.
	Bodies func() map[uint64]string

	// Exit, if set, is os.Exit. Without it, os.Exit ends the cell.
	Exit func(code int)

	drops   sync.Map // drop
	helpers sync.Map // *Func of functions that called Helper of a test

	// Input values that the next cell picks up, by number.
	values sync.Map
	nvalue atomic.Int64
}

// New returns the runtime of a session.
func New() *Runtime {
	r := &Runtime{stop: new(bool), stuck: new(bool)}
	r.groups.byID, r.groups.acting = make(map[int64]*Group), make(map[int64]any)
	r.groups.exits = make(map[int64]exit)
	r.traces.trails = make(map[int64]*trail)
	r.traces.funcs = make(map[string]*Func)
	r.traces.compiled = make(map[int64][]Call)
	r.traces.bodies = make(map[uint64]*Func)
	r.traces.body = make(map[string]*int)
	r.Debugger = newDebugger(r)
	latest.Store(r)
	return r
}

// to is where what the calling goroutine writes to w goes.
func (r *Runtime) to(w io.Writer) io.Writer {
	if r.Route == nil {
		return w
	}
	return r.Route(w)
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
		"ID":         r.id,
		"V":          r.value,
		"Must":       r.must,
		"Implements": r.implements,
		"Eq":         func(a, b any) bool { return a == b },
		"Current":    r.current,
		"AllCurrent": func(list []any) []any {
			for i, x := range list {
				list[i] = r.current(x)
			}
			return list
		},
		"NotNil":        func(x any) any { return notNil(x, reflect.TypeFor[any]()) },
		"HostMethod":    hostMethod,
		"Run":           r.run,
		"Panic":         r.raise,
		"Recoverable":   recoverable,
		"Recovered":     r.recovered,
		"Go":            r.goFunc,
		"Callback":      r.callback,
		"Check":         r.check,
		"Uncompiled":    func(loop int) { r.Uncompiled(loop) },
		"Method":        r.setMethod,
		"Pos":           r.traces.register,
		"Reach":         r.traces.reach,
		"Touch":         r.touch,
		"TouchAppended": r.touchAppended,
		"Enter":         r.Debugger.enter,
		"Leave":         r.Debugger.leave,
		"Line":          r.Debugger.line,
		"Hot":           r.Debugger.hot,
		"Slot":          r.Debugger.slot,
		"Watched":       r.Debugger.watched,
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
		"PanicWrap": panicWrap,
		"Func":      func(f any) any { return f },
		"Empty":     func(any) struct{} { return struct{}{} },
		"NilMethod": func() { panic(nilDereference) },
		"RangeExit": rangeExit,
		"MinFloat":  func(a, b float64) float64 { return min(a, b) },
		"MaxFloat":  func(a, b float64) float64 { return max(a, b) },
		"Print":     func(args ...any) { printArgs(r.to(os.Stderr), args, false) },
		"Println":   func(args ...any) { printArgs(r.to(os.Stderr), args, true) },
		"Exit":      r.exit,
		"Begun": func() {
			if r.Begun != nil {
				r.Begun()
			}
		},
		"Dropped": r.dropped,
		"Fail":    r.Fail,
		"Show": func(values ...any) {
			if r.Show != nil {
				r.Show(values)
			}
		},
		"Take": func(n int) any {
			v, _ := r.values.LoadAndDelete(int64(n))
			return v
		},
		"Clear":  clearAny,
		"Settle": settle,
		"RangeLost": func() {
			panic(named.RuntimeError("range function recovered a loop body panic and did not resume panicking"))
		},
		"Same":             func(a, b any) bool { return a == b },
		"SameChan":         func(a, b any) bool { return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() },
		"NegativeShift":    func() { panic(named.RuntimeError("negative shift amount")) },
		"Delete":           deleteKey,
		"CheckKey":         checkKey,
		"UnsafeAdd":        func(p unsafe.Pointer, n int) unsafe.Pointer { return unsafe.Add(p, n) },
		"UnsafeString":     func(p unsafe.Pointer, n int) string { return unsafe.String((*byte)(p), n) },
		"UnsafeStringData": func(s string) unsafe.Pointer { return unsafe.Pointer(unsafe.StringData(s)) },
		"UnsafeSliceData":  func(s any) unsafe.Pointer { return reflect.ValueOf(s).UnsafePointer() },
		"UnsafeSlice":      unsafeSlice,
		"Elements":         elements,
	}
	out := make(map[string]reflect.Value, len(syms))
	for name, f := range syms {
		out[name] = reflect.ValueOf(f)
	}
	for name, f := range r.testing() {
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
		panic(named.RuntimeError("unsafe.Slice: len out of range"))
	case v.IsNil() && n > 0:
		panic(named.RuntimeError("unsafe.Slice: ptr is nil and len is not zero"))
	case v.IsNil():
		return reflect.Zero(reflect.SliceOf(elem)).Interface()
	case elem.Size() > 0 && uintptr(n) > -v.Pointer()/elem.Size():
		panic(named.RuntimeError("unsafe.Slice: len out of range"))
	}
	return reflect.SliceAt(elem, v.UnsafePointer(), n).Interface()
}

// elements is the slice of all elements of the array that p points to.
func elements(p any) any {
	v := reflect.ValueOf(p)
	if v.IsNil() {
		panic(nilDereference)
	}
	a := v.Type().Elem()
	return reflect.SliceAt(a.Elem(), v.UnsafePointer(), a.Len()).Interface()
}

// checkMake checks the length and the capacity given to make.
func checkMake(n, c, size int) {
	most := math.MaxInt
	if size > 0 {
		most = 1 << 47 / size
	}
	switch {
	case n < 0 || n > most:
		panic(named.RuntimeError("makeslice: len out of range"))
	case c < n || c > most:
		panic(named.RuntimeError("makeslice: cap out of range"))
	case c*size >= large:
		afford("make", c*size)
	}
}

func rangeExit() {
	panic(named.RuntimeError("range function continued iteration after function for loop body returned false"))
}

func clearAny(v any) {
	rv := reflect.ValueOf(v)
	if rv.IsValid() {
		rv.Clear()
	}
}

func deleteKey(m, key any) {
	mv := reflect.ValueOf(m)
	kv := reflect.New(mv.Type().Key()).Elem()
	if key != nil {
		kv.Set(reflect.ValueOf(key))
	}
	if mv.Len() == 0 {
		mv.MapIndex(kv) // which panics if the key has no hash
		return
	}
	mv.SetMapIndex(kv, reflect.Value{})
}

var keySeed = maphash.MakeSeed()

// checkKey panics as an assignment to an element of a map does if the map is nil or the key
// has no hash: the interpreter would look the element up first, and panic for that.
func checkKey(m, key any) {
	if reflect.ValueOf(m).IsNil() {
		var none map[int]int
		none[0] = 0 //lint:ignore SA5000 this is to panic
	}
	maphash.Comparable(keySeed, key)
}

// panicWrap panics as the method of a value does that is called with a nil pointer.
func panicWrap(typ, method string) {
	panic(named.PlainError(fmt.Sprintf("value method %s.%s called using nil *%s pointer", typ, method, typ[strings.LastIndexByte(typ, '.')+1:])))
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
	r.Debugger.raised(nil, true)
	panic(&ending{Exit{code}})
}
