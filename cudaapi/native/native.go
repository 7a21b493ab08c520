// Package native compiles functions of Go cells with the host's C++ compiler, and
// calls them.
//
// # Which functions
//
// gocuda/cudaapi/gokernel writes them as C++, from the IR that kernels in Go have:
// functions and methods whose values are numbers, bools, strings, and slices, arrays,
// structs, pointers and maps of them, that call each other, and package math (Go's own
// functions, where C has other bits). Whatever it is not sure of it refuses, with the place and the reason,
// and the interpreter goes on with it.
//
// Loops are entered at the head of an iteration: such a function has the loop's variables as
// parameters, and gives back those that it changes.
//
// # Go's memory
//
// A call passes one address, of a struct in Go's heap that has the parameters and room
// for the results (a goroutine's stack may move while C runs). What parameters point
// to is used in place, and stays alive by that struct. Memory comes from Go's runtime,
// which compiled code asks in the middle of a call, as it does to replace a pointer in
// memory by another (memory.go says why the collector never sees a wrong heap). Maps are
// Go's, and used by the runtime's own functions (maps.go). No
// address of its own stack is let out (keepsRules in gokernel). Package variables are
// used by their addresses. In the same way it calls functions of Go's library with
// numbers, bools and strings (outside.go); what these panic with ends the call.
//
// The call is one into C: the scheduler and the collector do not wait for it.
//
// # What it computes
//
// Integers wrap (-fwrapv, and unsigned arithmetic where C++ would widen), shifts and
// divisions are Go's, conversions from floating point to integers those of amd64,
// nothing is fused that Go does not fuse (-ffp-contract=off), and nothing is
// reordered (no -ffast-math).
//
// # Panics, interrupts and the stack
//
// What can panic is checked before, and a check that fails writes down its place and
// its numbers, and returns through its callers, which write down theirs. [Func.Call]
// gives that as an [Outcome], of which the caller makes Go's own runtime error with a
// trace. Loops look at a word in each iteration that says whether to end, but for innermost
// loops that count to less than 16 million. A function that calls itself looks at the
// stack that is left. Neither goes on afterwards: there is no way back into the middle
// of a call.
package native

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/cpu"

	"gocuda/cudaapi/gokernel"
	"gocuda/cudaapi/internal/codecache"
	"gocuda/cudaapi/internal/hostcxx"
)

// Available says why nothing can be compiled, and nil if it can.
func Available() error {
	if !supported {
		return fmt.Errorf("cells are compiled on Linux on amd64 and arm64 only, not on %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	return hostcxx.Find().Err
}

// Possible says whether cells are compiled on this system, if there is a compiler.
func Possible() bool { return supported }

// Code is a program that was compiled and loaded. It stays loaded as long as something
// can call it, and for ever if it has constant strings, to which values may point.
type Code struct {
	Program *gokernel.HostProgram
	Took    time.Duration // to compile and load it
	Cached  bool          // another process had compiled it, or this one before
	library hostcxx.Library
	bind    uintptr
	places  []unsafe.Pointer // keeps the variables alive
	shapes  []shape          // of HostProgram.Types
	outside []outside        // of HostProgram.Outside

	// Watch, if it is not nil, has loops left that can be, once it is set.
	Watch *atomic.Bool
}

// Func is a function that can be called.
type Func struct {
	gokernel.HostEntry
	Code  *Code
	entry uintptr
}

// codeVersion changes with how this package compiles.
const codeVersion = 7

// Compile compiles a program, or takes it from the cache on disk, and loads it. If it
// has package variables, they are to be bound before it is called.
func Compile(p *gokernel.HostProgram) (*Code, error) { return compile(p, true) }

// Cached is Compile of a program that was compiled before, and nil of others.
func Cached(p *gokernel.HostProgram) (*Code, error) { return compile(p, false) }

func compile(p *gokernel.HostProgram, missing bool) (*Code, error) {
	begun := time.Now()
	if err := Available(); err != nil {
		return nil, err
	}
	cc, flags := hostcxx.Find(), flags()
	cache, key := codecache.Open("cells"), codecache.Key(codeVersion, cc.Path, cc.Version, flags, p.Code)
	image := cache.Get(key)
	cached := image != nil
	if !cached && !missing {
		return nil, nil
	}
	if !cached {
		release := cache.Lock(key) // of the ranks of a job, which come here together, one compiles
		defer release()
		if image = cache.Get(key); image == nil {
			err := hostcxx.InWorkFolder(cache.Folder(), func(_, dir string) (err error) {
				image, err = build(cc, flags, dir, p.Code)
				return err
			})
			if err != nil {
				return nil, err
			}
			cache.Put(key, image)
		}
	}
	library, err := hostcxx.Load(image)
	if err != nil {
		return nil, err
	}
	bind, err := library.Symbol("go_bind")
	if err != nil {
		return nil, err
	}
	if through := mathCaller(); through != 0 {
		tell, err := library.Symbol("go_math")
		if err != nil {
			return nil, err
		}
		callWord(tell, through, unsafe.Pointer(&mathPlaces[0]))
	}
	kept := *p
	kept.Code = "" // most of which is the same for all programs
	code := &Code{Program: &kept, Took: time.Since(begun), Cached: cached, library: library, bind: bind}
	if !p.Texts {
		runtime.AddCleanup(code, hostcxx.Library.Close, library)
	}
	if len(p.Types)+len(p.Outside) > 0 {
		tell, err := library.Symbol("go_runtime")
		if err != nil {
			return nil, err
		}
		tellRuntime(tell)
		for _, t := range p.Types {
			code.shapes = append(code.shapes, newShape(t))
		}
		code.outside = make([]outside, len(p.Outside))
		for i, h := range p.Outside {
			switch {
			case h.Map != nil:
				code.outside[i] = newMapUse(h)
			case h.Package == "" && h.Name == "panic":
				code.outside[i] = newOutside(reflect.ValueOf(func(v any) { panic(v) }), h, nil)
			}
		}
	}
	return code, nil
}

// Bind tells where the package variables are, in the order of Program.Globals: there
// they stay.
func (c *Code) Bind(places []unsafe.Pointer) {
	c.places = append([]unsafe.Pointer(nil), places...)
	if len(places) > 0 {
		call(c.bind, unsafe.Pointer(&c.places[0]), nil)
	}
}

// Funcs are the functions of a program that were asked for; nil: one was refused.
func (c *Code) Funcs() ([]*Func, error) { return c.entries(c.Program.Entries) }

// Loops are its loops; nil: one was refused.
func (c *Code) Loops() ([]*Func, error) { return c.entries(c.Program.Loops) }

func (c *Code) entries(entries []gokernel.HostEntry) ([]*Func, error) {
	list := make([]*Func, len(entries))
	for i, e := range entries {
		if e.Refused != nil {
			continue
		}
		at, err := c.library.Symbol(e.Symbol)
		if err != nil {
			return nil, err
		}
		list[i] = &Func{HostEntry: e, Code: c, entry: at}
	}
	return list, nil
}

func flags() []string {
	list := []string{"-x", "c++", "-std=c++17", "-pipe", "-O2", "-shared", "-fPIC", "-fno-exceptions", "-fno-rtti", "-fno-math-errno", "-fno-strict-aliasing", "-fwrapv",
		"-ffp-contract=off", "-fno-delete-null-pointer-checks", "-fno-asynchronous-unwind-tables", "-fno-stack-protector", "-Wl,-Bsymbolic", "-nostartfiles", "-nodefaultlibs", "-w"}
	if runtime.GOARCH == "amd64" && cpu.X86.HasAVX2 && cpu.X86.HasBMI2 {
		// Without -mfma: g++ 12 fuses the products of complex numbers in spite of
		// -ffp-contract=off.
		list = append(list, "-mavx2", "-mbmi2", "-mpopcnt")
	}
	return list
}

// libraries finds what needs libraries. The C library, which is in the process anyway,
// is not linked otherwise: the linker takes as long for it as for all else.
var libraries = regexp.MustCompile(`\bmath_|\bbits_|\bcmplx_|\bvia\(|\bf(?:abs|ma|mod)\(|\bcopysign\(|\bc(?:64|128)\b`)

func build(cc *hostcxx.Compiler, flags []string, dir, code string) ([]byte, error) {
	out := filepath.Join(dir, "cell.so")
	args := append(flags[:len(flags):len(flags)], "-o", out, "-")
	if libraries.MatchString(code) {
		args = append(args, "-lm", "-lgcc", "-lc")
	}
	cmd := exec.Command(cc.Path, args...)
	cmd.Stdin = strings.NewReader(code)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "PWD="+dir, "TMPDIR="+dir)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		text := said.String()
		if len(text) > 2000 {
			text = text[:2000]
		}
		return nil, fmt.Errorf("%s: %v\n%s", cc.Path, err, text)
	}
	return os.ReadFile(out)
}

// State says how a call ended.
type State uint32

// How a call ends.
const (
	Returned    State = iota
	Panicked          // at a site, with numbers
	Interrupted       // at a site, because its stop word was set
	Overflowed        // the stack that is left is too short
)

// record is go::record of gokernel's calls.h.
type record struct {
	stop        *atomic.Bool
	state, site uint32
	args        [4]int64
	calls       uint32
	trace       [100]uint32
	what, typ   uint32
	in          [4]uintptr
	out         [2]uintptr
	held        uintptr
	watch       *atomic.Bool

	shapes  []shape
	outside []outside
	value   any // of a panic of a function that C asked for
	kept    kept
}

// records are on the heap, where they stay while C writes them.
var records = sync.Pool{New: func() any { return new(record) }}

// Outcome is how a call ended.
type Outcome struct {
	State State
	Site  gokernel.HostSite
	Args  [4]int64
	Value any // of a panic at a site of what Outside
	// Calls are the places of the calls around, the innermost first.
	Calls []gokernel.HostSite
}

// Call calls the function with the frame at p, a struct of its parameters and results
// in Go's heap. It ends early once stop is set, which may be nil.
func (f *Func) Call(p unsafe.Pointer, stop *atomic.Bool) Outcome {
	if stop == nil {
		stop = new(atomic.Bool)
	}
	r := records.Get().(*record)
	r.stop, r.state, r.shapes, r.outside, r.watch = stop, uint32(Returned), f.Code.shapes, f.Code.outside, f.Code.Watch
	if r.watch == nil {
		r.watch = new(atomic.Bool)
	}
	defer func() { // also after a panic in an answer: kept holds what C was given
		r.stop, r.outside, r.value, r.watch = nil, nil, nil, nil
		r.kept.end()
		records.Put(r)
		runtime.KeepAlive(f) // its code
	}()
	call(f.entry, p, unsafe.Pointer(r))
	if r.state == uint32(Returned) {
		return Outcome{}
	}
	sites := f.Code.Program.Sites
	out := Outcome{State: State(r.state), Site: sites[r.site], Args: r.args, Value: r.value}
	for _, s := range r.trace[:r.calls] {
		out.Calls = append(out.Calls, sites[s])
	}
	if out.Site.What == gokernel.Outside && len(out.Calls) > 0 { // which is where it is called
		out.Site, out.Calls = out.Calls[0], out.Calls[1:]
		out.Site.What = gokernel.Outside
	}
	return out
}
