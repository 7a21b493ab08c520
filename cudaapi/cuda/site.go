package cuda

import (
	"runtime"
	"slices"
	"strconv"
	"strings"

	"gocuda/cudaapi/internal/callsite"
)

// site is where memory was allocated.
type site struct {
	frames [8]uintptr
	in     *callsite.Interpreter
	caller Place // of interpreted code: what SetCaller's function said
}

// Place is a line of a program: of a cell such as "In[3]", or of a file such as "main.go".
// As text it is "In[3], line 2", or "main.go:14".
type Place = callsite.Place

// SetCaller tells how to find the place that runs now in interpreted code: [Leaks]
// shows it. Calls of such code look as if package reflect made them, or functions
// whose names begin with one of through, such as "example/adapters.". f returns the zero
// Place where it does not know. A nil f takes it back.
func SetCaller(f func() Place, through ...string) { callsite.Set(f, through...) }

// here is the place that called this package. Its caller must be called by what
// the package exports.
func here() *site {
	s := new(site)
	runtime.Callers(3, s.frames[:])
	if s.in = callsite.Current(); s.in != nil {
		if s.caller, _ = callsite.Exact(); !s.caller.Known() {
			s.caller = s.in.Name()
		}
	}
	return s
}

// String names the first caller outside of this package.
func (s *site) String() string {
	if s == nil {
		return ""
	}
	n := 0
	for n < len(s.frames) && s.frames[n] != 0 {
		n++
	}
	frames := runtime.CallersFrames(s.frames[:n])
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, "gocuda/cudaapi/cuda.") && more {
			continue
		}
		if s.caller.Known() && s.in.Calls(f.Function) {
			return s.caller.String()
		}
		return f.Function + " " + f.File + ":" + strconv.Itoa(f.Line)
	}
}

// keepers are the packages that keep memory for later, and free it themselves.
var keepers = []string{"gocuda/cudaapi/internal/", "gocuda/cudaapi/mpi/internal/", "gocuda/cudaapi/mpi.", "gocuda/cudaapi/collective."}

// kept reports whether one of them allocated memory.
func kept(where string) bool {
	return slices.ContainsFunc(keepers, func(k string) bool { return strings.HasPrefix(where, k) })
}
