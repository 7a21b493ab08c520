// Package callsite names the place in a program that called this project's
// packages: a function, a file and a line, or a cell's line.
package callsite

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Interpreter tells the places of interpreted code.
type Interpreter struct {
	Name func() Place // the place that runs now; the zero Place if it is not known
	// Through are the beginnings of the names of functions by which interpreted
	// code calls compiled code.
	Through []string
}

var interpreter atomic.Pointer[Interpreter]

// exact names the place of interpreted code that calls, in whatever function.
var exact atomic.Pointer[func() (place, caller Place)]

// SetExact gives [Here] a better word for the place of interpreted code than
// [Interpreter] has, which may take longer; a nil name takes it back.
func SetExact(name func() (place, caller Place)) {
	if name == nil {
		exact.Store(nil)
		return
	}
	exact.Store(&name)
}

// Exact is the place of interpreted code that runs, and the one that called its function.
// They are not known if there is none, or [SetExact] was not called.
func Exact() (place, caller Place) {
	if name := exact.Load(); name != nil {
		return (*name)()
	}
	return Place{}, Place{}
}

// Set makes the interpreter known; a nil name takes it back.
func Set(name func() Place, through ...string) {
	defer known.Clear()
	if name == nil {
		interpreter.Store(nil)
		return
	}
	interpreter.Store(&Interpreter{name, append([]string{"reflect."}, through...)})
}

// Current is the interpreter in use, or nil.
func Current() *Interpreter { return interpreter.Load() }

// Calls reports whether a function is one by which interpreted code calls.
func (in *Interpreter) Calls(function string) bool {
	return slices.ContainsFunc(in.Through, func(p string) bool { return strings.HasPrefix(function, p) })
}

// Place is a line of a program. The zero Place is one that is not known.
type Place struct {
	Cell string `json:"cell,omitempty"` // such as "In[3]"; "" in a file
	File string `json:"file,omitempty"` // such as "main.go"; "" in a cell
	Line int    `json:"line,omitempty"` // from 1; 0 if it is not known
}

// Known reports whether anything is.
func (p Place) Known() bool { return p.Unit() != "" }

// Unit is the cell or the file.
func (p Place) Unit() string { return p.Cell + p.File }

// String is "In[3], line 2" or "main.go:14", and "" where nothing is known.
func (p Place) String() string {
	switch {
	case p.Line == 0:
		return p.Unit()
	case p.Cell != "":
		return p.Cell + ", line " + strconv.Itoa(p.Line)
	}
	return p.File + ":" + strconv.Itoa(p.Line)
}

// Site is where a program made a call.
type Site struct {
	Place
	Path string // the whole path of a file, of compiled code
	// Caller is the place that called the function that Place is in; not known if there
	// is none.
	Caller Place
	// Library says that a package of this project made the call for a reason of
	// its own, such as a message's transport.
	Library bool
}

// passing are the packages that carry a program's calls on, and those that make
// calls of their own.
var (
	passing = []string{"gocuda/cudaapi/cuda.", "gocuda/cudaapi/record.", "gocuda/cudaapi/internal/callsite.", "gocuda/cudaapi/driver.", "gocuda/cudaapi/streamsync.", "runtime."}
	own     = []string{"gocuda/cudaapi/mpi.", "gocuda/cudaapi/mpi/internal/", "gocuda/cudaapi/collective.", "gocuda/cudaapi/internal/"}
)

// Pass adds functions, by the beginning of their names, that carry calls on. It is
// called before any call is.
func Pass(prefix string) { passing = append(passing, prefix) }

// frame is what a program counter means to the search.
type frame struct {
	library  bool   // a package of this project's, on its own account
	doorstep bool   // interpreted code calls here
	site     Site   // of the program, if this is its code
	of       string // its package
}

// known are the frames of program counters.
var known sync.Map // uintptr to []frame

func read(pc uintptr) (list []frame) {
	in := Current()
	r := frame{}
	for _, f := range framesOf(pc) {
		has := func(prefix string) bool { return strings.HasPrefix(f.Function, prefix) }
		switch {
		case slices.ContainsFunc(passing, has):
		case slices.ContainsFunc(own, has):
			r.library = true
		case in != nil && in.Calls(f.Function):
			r.doorstep = true
		case f.Function != "":
			r.site = Site{Place: Place{File: f.File[strings.LastIndexByte(f.File, '/')+1:], Line: f.Line}, Path: f.File}
			base := strings.LastIndexByte(f.Function, '/') + 1
			name, _, _ := strings.Cut(f.Function[base:], ".")
			r.of = f.Function[:base] + name
			list = append(list, r)
			r = frame{}
		}
	}
	if r.library || r.doorstep {
		list = append(list, r)
	}
	return list
}

// Here is the place outside of this project's packages that called. Of what these
// packages do for reasons of their own it is known but roughly.
func Here() Site { return here(false) }

// Program is the place that called one of this project's packages, of a call that is
// the program's whatever they do to carry it out.
func Program() Site {
	s := here(true)
	s.Library = false
	return s
}

// near is how many callers are looked at first: most often the program is among them,
// or the package of this project that called for a reason of its own.
const near = 9

func here(exactly bool) (s Site) {
	var pcs [24]uintptr
	n := callers(&pcs[0], 0, near)
	in := Current()
	within := ""
	for i := 0; ; i++ {
		if i == near {
			if n = near + callers(&pcs[near], near, len(pcs)-near); s.Library && !exactly && in != nil {
				if s.Place = in.Name(); s.Known() { // but roughly
					return s
				}
			}
		}
		if i >= n {
			return s
		}
		pc := pcs[i]
		v, ok := known.Load(pc)
		if !ok {
			v = read(pc)
			known.Store(pc, v)
		}
		for _, f := range v.([]frame) {
			if within != "" {
				if f.of == within {
					s.Caller = f.site.Place
				}
				if f.site.Known() {
					return s
				}
				continue
			}
			s.Library = s.Library || f.library
			if f.doorstep && in != nil {
				if name := exact.Load(); name != nil && (exactly || !s.Library) {
					s.Place, s.Caller = (*name)()
				}
				if !s.Known() {
					s.Place = in.Name()
				}
				if s.Known() {
					return s
				}
			}
			if f.site.Known() {
				s.Place, s.Path = f.site.Place, f.site.Path
				within = f.of
			}
		}
	}
}
