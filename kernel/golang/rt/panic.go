package rt

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"gocuda/kernel/golang/named"
)

// Panic is a panic of lowered code on its way up whose value the interpreter would take
// for its own without it, or ask for its text.
type Panic struct{ Value any }

// Error is the value's text, for compiled functions that recover from what they call.
func (p *Panic) Error() string {
	var pc [1]uintptr
	runtime.Callers(2, pc[:])
	if f := runtime.FuncForPC(pc[0]); f != nil && strings.HasPrefix(f.Name(), interpreter+".runCfg.") {
		return "" // it only looks for an error of net/http
	}
	if e, ok := p.Value.(error); ok {
		return e.Error()
	}
	return fmt.Sprint(p.Value)
}

// Unwrap returns the value if it is an error.
func (p *Panic) Unwrap() error {
	e, _ := p.Value.(error)
	return e
}

// thrown is what a panic of lowered code gives Go's panic: the value itself where it
// can, so that compiled functions that recover see what they know.
func (r *Runtime) thrown(v any) any {
	switch x := v.(type) {
	case *Panic, reflect.Value, *reflect.ValueError:
		return &Panic{v}
	case string:
		if _, ok := goWords(x); ok {
			return &Panic{v}
		}
	case error:
		if _, ok := goWords(x); ok || r.types.of(v) != nil || pathOf(v) == "" {
			return &Panic{v} // a method of a cell must not run while it goes up
		}
	}
	return v
}

// ending is what unwinds a goroutine for good: no recover stops it.
type ending struct {
	err error
}

// Interrupted is why a cell ends that the user interrupted.
var Interrupted = errors.New("interrupted")

// Exit is why a cell ends that called os.Exit.
type Exit struct{ Code int }

func (e Exit) Error() string { return fmt.Sprintf("os.Exit(%d)", e.Code) }

// Failure is why a cell ends that gave must a non-nil error, or dropped one.
type Failure struct{ Err error }

func (f Failure) Error() string { return f.Err.Error() }

// Unwrap returns the error itself.
func (f Failure) Unwrap() error { return f.Err }

// Fail ends the cell that calls it, as must does: cells cannot recover from it.
func (r *Runtime) Fail(err error) {
	r.Debugger.raised(err, false)
	panic(&ending{Failure{err}})
}

// raise is panic(v), in the statement at pos.
func (r *Runtime) raise(v any, pos int) {
	r.traces.begin(pos)
	r.Debugger.raised(v, false)
	if v == nil {
		v = new(runtime.PanicNilError)
	}
	panic(r.thrown(v))
}

var nilDereference = named.RuntimeError("invalid memory address or nil pointer dereference")

// panicValue is what recover() returns for a panic that came up through the
// interpreter: Go's own value in place of what reflect says.
func panicValue(v any) any {
	switch v := v.(type) {
	case *Panic:
		return v.Value
	case reflect.Value:
		if v.IsValid() && v.CanInterface() {
			return panicValue(v.Interface())
		}
		return nilDereference
	case *reflect.ValueError:
		if v.Kind != reflect.Invalid { // the cell's own use of reflect
			return v
		}
		return nilDereference
	case string, error:
		if e, ok := goWords(v); ok {
			return e
		}
	}
	return v
}

// reflectPanics gives Go's words for what reflect and the interpreter say.
var reflectPanics = []struct {
	part string
	err  error
}{
	{"on zero Value", nilDereference},
	{"reflect: Method on nil interface value", nilDereference},
	{"using zero Value argument", nilDereference},
	{"call of nil function", nilDereference},
	{"reflect: call of nil func", nilDereference},
	{"index out of range", named.RuntimeError("index out of range")},
	{"slice bounds out of range", named.RuntimeError("slice bounds out of range")},
	{"slice index out of bounds", named.RuntimeError("slice bounds out of range")},
	{"string slice index out of bounds", named.RuntimeError("slice bounds out of range")},
	{"allocation size out of range", named.RuntimeError("makeslice: len out of range")},
	{"slice overflow", named.RuntimeError("growslice: len out of range")},
	{"reflect.MakeSlice: negative len", named.RuntimeError("makeslice: len out of range")},
	{"reflect.MakeSlice: negative cap", named.RuntimeError("makeslice: cap out of range")},
	{"reflect.MakeSlice: len > cap", named.RuntimeError("makeslice: cap out of range")},
	{"reflect.MakeChan: negative buffer size", named.PlainError("makechan: size out of range")},
	{"makeslice: len out of range", named.RuntimeError("makeslice: len out of range")},
	{"makeslice: cap out of range", named.RuntimeError("makeslice: cap out of range")},
	{"reflect.Value.Slice: ", named.RuntimeError("slice bounds out of range")},
	{"reflect.Value.Slice3: ", named.RuntimeError("slice bounds out of range")},
}

var sliceToArray = regexp.MustCompile(`^reflect: cannot convert slice with length (\d+) to (?:pointer to )?array with length (\d+)$`)

const interpreter = "github.com/traefik/yaegi/interp"

// pathOf is the path of the package that declares the type of v, or what v points to.
func pathOf(v any) string {
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath()
}

// goWords is Go's error in place of a string or an error that reflect or the interpreter
// may have panicked with. It calls no method of a cell's type.
func goWords(v any) (error, bool) {
	text, ok := v.(string)
	if !ok {
		switch pathOf(v) {
		case "runtime", "errors", "fmt", "reflect", interpreter:
			text = v.(error).Error()
		default:
			return nil, false
		}
	}
	if strings.HasPrefix(text, "runtime error: ") && strings.Contains(text, "[") {
		return nil, false // Go's own, with its numbers
	}
	if !strings.HasPrefix(text, "reflect") && !strings.HasPrefix(text, "runtime: ") && !strings.HasPrefix(text, "runtime error: ") {
		return nil, false
	}
	if m := sliceToArray.FindStringSubmatch(text); m != nil {
		have, _ := strconv.Atoi(m[1])
		want, _ := strconv.Atoi(m[2])
		return named.BoundsError(named.BoundsConvert, want, have), true
	}
	for _, p := range reflectPanics {
		if strings.Contains(text, p.part) {
			return p.err, true
		}
	}
	return nil, false
}
