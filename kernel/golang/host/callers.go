package host

import (
	"reflect"
	"runtime"
	"strings"
)

// runtimePackage is what cells and modules get of package runtime in place of
// its own.
var runtimePackage = Package{Path: "runtime", Name: "runtime", Symbols: map[string]reflect.Value{
	"Callers": reflect.ValueOf(callers),
}}

// callers is runtime.Callers without the interpreter's frames, which say nothing
// of the code that it runs: a trace that a module makes of them would be pages
// long. So code of cells has no frames, and skip counts compiled ones.
func callers(skip int, pc []uintptr) int {
	all := make([]uintptr, 512)
	all = all[:runtime.Callers(2, all)]
	n := 0
	for _, p := range all {
		if isInterpreter(p) {
			continue
		}
		if skip > 1 {
			skip--
			continue
		}
		if n == len(pc) {
			break
		}
		pc[n] = p
		n++
	}
	return n
}

// isInterpreter says whether a frame belongs to what runs cells.
func isInterpreter(pc uintptr) bool {
	f := runtime.FuncForPC(pc - 1)
	if f == nil {
		return true
	}
	for _, p := range []string{"github.com/traefik/yaegi/", "gocuda/kernel/", "reflect.", "runtime.", "main."} {
		if strings.HasPrefix(f.Name(), p) {
			return true
		}
	}
	return false
}
