package gokernel

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"gocuda/cudaapi/gokernel/ir"
	"gocuda/cudaapi/gokernel/osr"
)

// HostSource is a declared function that code for the host may call.
type HostSource struct {
	Decl *ast.FuncDecl
	Info *types.Info
	// Sig, if set, has the receiver and parameters that the body names. The declaration has
	// the receiver as its first parameter, too.
	Sig *types.Signature
}

// HostProgram is functions of Go as C++ for the host, which work on Go's memory in
// place.
type HostProgram struct {
	// Code is the C++. Of each entry it has a C function of the name Symbol, with the
	// parameters
	//
	//	void *frame       a struct in memory of Go: the parameters, then the results
	//	go::record *call  see package native
	//
	// and a function go_bind(void **places), by which the places of the package
	// variables are told, in the order of Globals.
	Code string
	// Functions is the part of Code that is the functions' own.
	Functions string
	// Entries are the functions that were asked for, in that order, and Loops the loops.
	Entries, Loops []HostEntry
	// Sites are the places that can panic or be interrupted, and those of calls.
	Sites []HostSite
	// Globals are the package variables that the code reads and writes.
	Globals []*types.Var
	// Types are those of which the code asks Go's runtime for memory, and Outside are the
	// functions that it calls by asking for them. If there are some, it has a function
	// go_runtime(void *cross, void *answer), by which it is told how to ask.
	Types   []types.Type
	Outside []HostCall
	// Dynamic are the types for which the code asks interfaces, and Called the literals for
	// which it asks functions.
	Dynamic []types.Type
	Called  []*ast.FuncLit
	// Funcs are all functions that are part of the code.
	Funcs []*types.Func
	// Some says that something is part of the code, and Texts that the code has constant strings, to which values that it makes may
	// point.
	Some, Texts bool
}

// HostEntry is a function that can be called, or a loop that can be entered.
type HostEntry struct {
	Func    *types.Func // nil: a loop
	Refused Errors      // why it is not part of the code
	Symbol  string
	Params  []types.Type // the receiver first
	Results []types.Type
}

// HostSite is a place in a function.
type HostSite struct {
	Pos  token.Position
	Func string // as traces call it, such as main.f
	What SiteKind
	Text string // of Panics and PanicsRuntime
	// Of a SliceBounds: which bounds the expression has, and whether it is of
	// something with a capacity.
	High, Max, Cap bool
	// Unsigned says that the first number is.
	Unsigned bool
}

// SiteKind says what happens at a place.
type SiteKind int

// What happens, with the numbers that are told about it.
const (
	Passes      SiteKind = iota // a call, or a loop that is interrupted
	IndexRange                  // index, length
	SliceBounds                 // low, high, max, capacity
	DivideByZero
	NilPointer
	NegativeShift
	ArrayLength   // of a slice, and wanted
	Panics        // with Text
	PanicsRuntime // with a runtime error of Text
	Outside       // a function that is not part of the code panics
)

// hostUnit is what a unit knows besides that is for the host.
type hostUnit struct {
	stack    map[*ir.Func]int64 // of a function's variables, and of those that it calls
	calls    []string           // of package math, that are called in Go
	find     func(*types.Func) (HostSource, bool)
	globals  []*types.Var
	origins  map[*ir.Func]*types.Func
	literals map[string]int // how many a function has

	moved   map[*ir.Var]bool  // variables that are to be in Go's memory
	stores  map[*ir.Func]bool // the functions that may store pointers
	refused map[*ir.Func]Errors

	outside []outsideCall // in the order of HostProgram.Outside
	seen    Seen
	dynamic typeList       // the types that are asked for
	called  []*ast.FuncLit // those that functions are asked for
	unfit   map[any]bool   // methods and literals that cannot be compiled
}

// CompileHost writes functions and loops, and the functions that they call, as C++ for the host.
// find gives the declaration of a function, as it is now; calls are functions of
// package math, of one or two float64 with such a result, that C++ can call in Go: it
// has a function go_math(void *call, void **functions), by which it is told how, and
// where they are in this order. seen is what values probably are that are known at run time
// only. What is not sure to mean the same in C++ is refused, and its entry says why.
func CompileHost(fset *token.FileSet, funcs []*types.Func, loops []*osr.Loop, find func(*types.Func) (HostSource, bool), calls []string, seen Seen) (out *HostProgram) {
	u := &unit{
		at: make(map[ir.Stmt]token.Pos), movable: make(map[*ir.Var]token.Pos),
		checked: &checked{fset: fset}, funcs: make(map[string]*ir.Func), globals: make(map[*types.Var]*ir.Var), taken: make(map[string]bool), prog: new(ir.Program),
		host: &hostUnit{find: find, calls: calls, seen: seen, unfit: make(map[any]bool), stack: make(map[*ir.Func]int64), literals: make(map[string]int), origins: make(map[*ir.Func]*types.Func), refused: make(map[*ir.Func]Errors)},
	}
	u.target = host{u.host}
	out = &HostProgram{Entries: make([]HostEntry, len(funcs)), Loops: make([]HostEntry, len(loops))}
	made := make([]*ir.Func, len(funcs)+len(loops))
	entries := make([]*HostEntry, len(made))
	for i := range made {
		if i < len(funcs) {
			entries[i] = &out.Entries[i]
			entries[i].Func = funcs[i]
			entries[i].Refused = u.attempt(func() { made[i] = u.hostEntry(funcs[i]) })
		} else {
			entries[i] = &out.Loops[i-len(funcs)]
			entries[i].Refused = u.attempt(func() { made[i] = u.hostLoop(loops[i-len(funcs)]) })
		}
	}
	c, p := &compilation{unit: u}, &printer{fset: fset, host: new(hostPrinter)}
	p.to = hostWriter{p}
	failed := u.attempt(func() {
		c.run(u.target.passes()...)
		for i, f := range made {
			if why := u.host.refused[f]; why != nil {
				made[i], entries[i].Refused = nil, why
			}
		}
		p.host.recursive, p.host.outside, p.host.frames = recursive(u.prog.Funcs), u.host.outside, c.roots
		before, own := p.hostProgram(u.prog, slices.DeleteFunc(slices.Clone(made), func(f *ir.Func) bool { return f == nil }))
		out.Code, out.Functions = before+own, own
	})
	for i, f := range made {
		switch e := entries[i]; {
		case failed != nil:
			e.Refused = failed
		case f != nil:
			e.Symbol, e.Params, e.Results = hostSymbol(f), paramTypes(f), f.Results
			out.Some = true
		}
	}
	out.Dynamic, out.Called = u.host.dynamic, u.host.called
	out.Sites, out.Globals, out.Types, out.Texts = p.host.sites, u.host.globals, p.host.types, p.host.texts
	for _, o := range u.host.outside {
		out.Outside = append(out.Outside, o.call)
	}
	for _, f := range u.prog.Funcs {
		if o := u.host.origins[f]; o != nil {
			out.Funcs = append(out.Funcs, o)
		}
	}
	return out
}

// Refused are the reasons for which something is not part of the code.
func (p *HostProgram) Refused() (list Errors) {
	for _, e := range slices.Concat(p.Entries, p.Loops) {
		list = append(list, e.Refused...)
	}
	return list
}

// attempt does something that may be refused, of which nothing is left then.
func (u *unit) attempt(do func()) (why Errors) {
	before, prog, host, info := *u, *u.prog, *u.host, u.info
	before.funcs, before.globals, before.taken, host.literals = maps.Clone(u.funcs), maps.Clone(u.globals), maps.Clone(u.taken), maps.Clone(host.literals)
	func() {
		defer func() {
			if r := recover(); r != nil { // something that it does not know
				u.errs = Errors{{u.fset.Position(u.here), fmt.Sprintf("this cannot be compiled: %v", r)}}
			}
		}()
		u.try(do)
	}()
	if why = u.errs; why != nil {
		*u.prog, *u.host = prog, host
		*u = before
		u.info = info
	}
	return why
}

// hostEntry is a function that was asked for.
func (u *unit) hostEntry(o *types.Func) *ir.Func {
	sig := o.Signature()
	u.here = o.Pos()
	if sig.TypeParams().Len() > 0 || sig.RecvTypeParams().Len() > 0 {
		u.fail(o.Pos(), "%s is generic: its instances are compiled with the functions that call them", o.Name())
	}
	if sig.Variadic() {
		u.fail(o.Pos(), "%s is variadic: it is compiled with the functions that call it", o.Name())
	}
	decl := u.declOf(o)
	if decl == nil {
		u.fail(o.Pos(), "%s is not in a cell", o.Name())
	}
	if takesFuncs(sig) || sig.Recv() != nil && isFunc(sig.Recv().Type()) {
		u.fail(decl.Pos(), "%s takes a function: it is compiled with the functions that call it", o.Name())
	}
	f := u.function(o, nil, decl)
	for _, t := range append(paramTypes(f), f.Results...) {
		if sizes.Sizeof(t) == 0 {
			u.fail(decl.Pos(), "%s has a parameter or result without a size", o.Name())
		}
	}
	return f
}

// dropRefused takes functions out of the program that call what is refused.
func (u *unit) dropRefused() {
	refused := u.host.refused
	for again := len(refused) > 0; again; {
		again = false
		for _, f := range u.prog.Funcs {
			for g := range calleesOf(f) {
				if why := refused[g]; why != nil && refused[f] == nil {
					refused[f], again = why, true
				}
			}
		}
	}
	u.prog.Funcs = slices.DeleteFunc(u.prog.Funcs, func(f *ir.Func) bool { return refused[f] != nil })
}

// hostIterations bounds the iterations of a loop that does not look whether it is interrupted.
const hostIterations = 1 << 24

func isFunc(t types.Type) bool {
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

func paramTypes(f *ir.Func) (list []types.Type) {
	for _, v := range f.Params {
		list = append(list, v.Type)
	}
	return list
}

// declOf is the declaration of a function, and nil if there is none.
func (u *unit) declOf(o *types.Func) *ast.FuncDecl {
	if d := u.imported[o]; d != nil {
		return d
	}
	return u.target.declaration(u, o)
}

// hostName is what traces call a function.
func hostName(o *types.Func) string {
	name := o.Name()
	if r := o.Signature().Recv(); r != nil {
		t := types.TypeString(r.Type(), func(*types.Package) string { return "" })
		if strings.HasPrefix(t, "*") {
			t = "(" + t + ")"
		}
		name = t + "." + name
	}
	if o.Pkg() != nil {
		name = o.Pkg().Name() + "." + name
	}
	return name
}

// hostMath are the functions of math and its like, and short ones of strings, that give the same bits in C++ as
// in Go.
var hostMath = func() map[string]bool {
	m := make(map[string]bool)
	for path, names := range map[string]string{
		"math": `Abs Ceil Copysign Floor FMA Float32bits Float32frombits Float64bits Float64frombits Inf IsInf IsNaN Max Min Mod NaN Remainder
			Round RoundToEven Signbit Sqrt Trunc`,
		"math/bits": `LeadingZeros LeadingZeros8 LeadingZeros16 LeadingZeros32 LeadingZeros64 TrailingZeros TrailingZeros8 TrailingZeros16 TrailingZeros32
			TrailingZeros64 OnesCount OnesCount8 OnesCount16 OnesCount32 OnesCount64 RotateLeft RotateLeft8 RotateLeft16 RotateLeft32 RotateLeft64
			Reverse32 Reverse64 Len Len8 Len16 Len32 Len64`,
		"math/cmplx": `Conj`,
		"strings":    `Compare HasPrefix HasSuffix IndexByte`,
	} {
		for _, name := range strings.Fields(names) {
			m[path+"."+name] = true
		}
	}
	return m
}()

// partsOf are functions of math/cmplx that call one of math with the parts of a number.
var partsOf = map[string]struct {
	name  string
	parts [2]string
}{"Abs": {"Hypot", [2]string{"real", "imag"}}, "Phase": {"Atan2", [2]string{"imag", "real"}}}

// inGo says whether C++ calls a function in Go.
func (h host) inGo(o *types.Func) bool {
	name := o.Name()
	if o.Pkg().Path() == "math/cmplx" {
		name = partsOf[name].name
	} else if o.Pkg().Path() != "math" {
		return false
	}
	return slices.Contains(h.calls, name)
}

// callsGo calls a function in Go.
func (f *fn) callsGo(o *types.Func, args []ir.Expr) ir.Expr {
	name := o.Name()
	if o.Pkg().Path() == "math/cmplx" {
		of := partsOf[name]
		z := f.temp(args[0])
		name, args = of.name, nil
		for _, part := range of.parts {
			args = append(args, &ir.Pure{Name: part, Args: []ir.Expr{z}, T: types.Typ[types.Float64]})
		}
	}
	i := ir.Int(int64(slices.Index(f.u.host.calls, name)))
	return &ir.Pure{Name: "via", Args: append([]ir.Expr{i}, args...), T: types.Typ[types.Float64]}
}

// hasPointers says whether the garbage collector looks into values of a type.
func hasPointers(t types.Type) bool {
	if Layout(t) != nil {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0 || u.Kind() == types.UnsafePointer
	case *types.Array:
		return u.Len() > 0 && hasPointers(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if hasPointers(f.Type()) {
				return true
			}
		}
		return false
	}
	return true
}

// calleesOf are the functions that one calls, or gives to others.
func calleesOf(f *ir.Func) map[*ir.Func]bool {
	set := make(map[*ir.Func]bool)
	ir.WalkAll(f.Body, func(s ir.Stmt) {
		if c, ok := s.(*ir.Call); ok && c.Func != nil {
			set[c.Func] = true
		}
		ir.Exprs(s, func(e ir.Expr) {
			if r, ok := e.(*ir.FuncRef); ok && r.Func != nil {
				set[r.Func] = true
			}
		})
	})
	return set
}

// recursive are the functions that may call themselves, by way of others too.
func recursive(funcs []*ir.Func) map[*ir.Func]bool {
	calls := make(map[*ir.Func]map[*ir.Func]bool)
	for _, f := range funcs {
		calls[f] = calleesOf(f)
	}
	list := make(map[*ir.Func]bool)
	for _, f := range funcs {
		seen := make(map[*ir.Func]bool)
		var reach func(g *ir.Func)
		reach = func(g *ir.Func) {
			for h := range calls[g] {
				if !seen[h] {
					seen[h] = true
					reach(h)
				}
			}
		}
		reach(f)
		list[f] = seen[f]
	}
	return list
}

func hostSymbol(f *ir.Func) string { return "go_" + f.Name }

// hostPanic is panic(x).
func (f *fn) hostPanic(e *ast.CallExpr) {
	tv := f.u.info.Types[e.Args[0]]
	text := ""
	if b, ok := tv.Type.(*types.Basic); ok && tv.Value != nil && b.Info()&types.IsString != 0 {
		text = constant.StringVal(tv.Value)
	} else if _, ok := f.callOutside(e, HostCall{Name: "panic"}, nil); !ok {
		f.fail(e, "compiled code can panic with a string, a number or a bool only, of no type of your own")
	}
	f.emit(&ir.Panic{Text: text, Pos: e.Pos()})
}
