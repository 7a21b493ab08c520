package rt

import (
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"

	"gocuda/kernel/golang/host/generic/plain"
)

// Replacements is what cells get in place of functions of packages runtime,
// runtime/debug, log and log/slog, by package and name: with the calls in cells, and
// without the interpreter's; and of time and context: the same, of which Alarmed
// knows. log.Fatal and its like end a program's process; they panic in a cell.
func (r *Runtime) Replacements(program bool) map[string]map[string]reflect.Value {
	stack := func() []byte { return r.trace(ownStack()) }
	tables := map[string]map[string]reflect.Value{
		"fmt//fmt": r.fmts(), // at fmt/fmt, the interpreter would set up all of the library again
		"runtime/runtime": {
			"Caller": reflect.ValueOf(func(skip int) (pc uintptr, file string, line int, ok bool) {
				list := r.calling()
				if skip < 0 || skip >= len(list) {
					return 0, "", 0, false
				}
				return plain.PC(list[skip]), list[skip].File, list[skip].Line, true
			}),
			"Callers": reflect.ValueOf(func(skip int, pc []uintptr) (n int) {
				list := append([]plain.Place{{Function: "runtime.Callers"}}, r.calling()...)
				for i := max(skip, 0); i < len(list) && n < len(pc); i++ {
					pc[n] = plain.PC(list[i])
					n++
				}
				outer := outermost
				if len(list) > 0 && list[len(list)-1].Function != "main.main" {
					outer = outer[1:] // another goroutine
				}
				skip -= len(list)
				return n + copy(pc[n:], outer[min(max(skip, 0), len(outer)):])
			}),
			"Stack": reflect.ValueOf(func(buf []byte, all bool) int {
				if !all {
					return copy(buf, stack())
				}
				var text []byte
				for i, s := range allStacks() {
					if i > 0 {
						text = append(text, '\n')
					}
					text = append(text, r.trace(s)...)
				}
				return copy(buf, text)
			}),
		},
		"runtime/debug/debug": {
			"Stack":      reflect.ValueOf(stack),
			"PrintStack": reflect.ValueOf(func() { r.stderr().Write(stack()) }),
			"SetPanicOnFault": reflect.ValueOf(func(on bool) bool {
				if on && r.FaultsPanic != nil {
					r.FaultsPanic()
				}
				return debug.SetPanicOnFault(on)
			}),
			"SetMaxStack":   limit(debug.SetMaxStack, program),
			"SetMaxThreads": limit(debug.SetMaxThreads, program),
		},
	}
	maps.Copy(tables, r.logs(program))
	maps.Copy(tables, r.timers())
	return tables
}

// limit is what cells get in place of a function that sets a limit and returns the one
// before. A lower limit than the process has would end it, so it is only remembered.
func limit(set func(int) int, program bool) reflect.Value {
	if program {
		return reflect.ValueOf(set)
	}
	most, last := 0, 0
	return reflect.ValueOf(func(n int) (before int) {
		if most == 0 {
			most = set(math.MaxInt32)
			set(most)
			last = most
		}
		if before, last = last, n; n > most {
			most = n
			set(n)
		}
		return before
	})
}

// outermost are program counters of runtime.main and runtime.goexit, which end what
// runtime.Callers gives: there are programs that leave out the last.
var outermost = func() (list []uintptr) {
	pcs := make([]uintptr, 64)
	for _, pc := range pcs[:runtime.Callers(0, pcs)] {
		if f := runtime.FuncForPC(pc); f != nil && (f.Name() == "runtime.main" || f.Name() == "runtime.goexit") {
			list = append(list, pc)
		}
	}
	return list
}()

func (r *Runtime) stderr() io.Writer {
	if r.Errors != nil {
		return r.Errors
	}
	return os.Stderr
}

// calling are the calls that the calling goroutine is in, the innermost first.
func (r *Runtime) calling() []plain.Place {
	var list []plain.Place
	for _, p := range r.places(ownStack()) {
		list = append(list, p.known())
	}
	return list
}

// known is a call in the words of package runtime.
func (p place) known() plain.Place {
	if p.fun == nil {
		return plain.Place{Function: p.name, File: p.file, Line: p.line}
	}
	name, file := p.fun.Name, p.fun.File
	switch own := strings.HasPrefix(name, "main."); {
	case name == "": // the statements of a cell
		name = "main.main"
	case !own && strings.HasPrefix(name, "func"):
		name = "main.main." + name
	case !own: // a module's
		if _, in, ok := strings.Cut(name, "."); ok {
			name = path.Dir(file) + "." + in
		}
		return plain.Place{Function: name, File: file, Line: p.pos >> 12}
	}
	if strings.HasSuffix(file, ".go") {
		if abs, err := filepath.Abs(file); err == nil {
			file = abs
		}
	} else {
		file = "cells/" + file // what takes a path apart counts on a folder
	}
	return plain.Place{Function: name, File: file, Line: p.pos >> 12}
}

// trace shows a goroutine as the runtime would.
func (r *Runtime) trace(s Stack) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "goroutine %d [%s]:\n", s.ID, s.State)
	for _, p := range r.places(s) {
		at := p.known()
		args := "(...)"
		if p.fun == nil {
			args = p.args
		}
		fmt.Fprintf(&b, "%s%s\n\t%s:%d\n", at.Function, args, at.File, at.Line)
	}
	return []byte(b.String())
}
