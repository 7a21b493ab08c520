package cuda

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// site is where memory was allocated.
type site struct {
	frames [8]uintptr
	caller string // of interpreted code: what SetCaller's function said
}

var caller atomic.Pointer[func() string]

// SetCaller tells how to name the place that runs now in interpreted code, whose
// calls look as if package reflect made them: [Leaks] shows it. f returns "" where
// it does not know. A nil f takes it back.
func SetCaller(f func() string) { caller.Store(&f) }

// here is the place that called this package. Its caller must be called by what
// the package exports.
func here() *site {
	s := new(site)
	runtime.Callers(3, s.frames[:])
	if f := caller.Load(); f != nil && *f != nil {
		s.caller = (*f)()
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
		if s.caller != "" && strings.HasPrefix(f.Function, "reflect.") {
			return s.caller
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
