package golang

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/traefik/yaegi/interp"

	"gocuda/cudaapi/gokernel"
	"gocuda/cudaapi/native"
	"gocuda/kernel/golang/answer"
	"gocuda/kernel/golang/named"
	"gocuda/kernel/golang/rt"
)

// Functions of cells can be compiled (package native). Lowered code has a way by which
// a later cell's function takes the place of an earlier one (lower.Decl.Redirect): a
// compiled function takes it, too, and leaves it when something that it is made of is
// declared again.

// CompileVariable is the environment variable that says what is compiled: 0 nothing, and
// "all" every function that can be, before it runs, and every loop in its first iteration; with
// "all:N", a loop is entered in its Nth iteration. Otherwise what runs for long is.
const CompileVariable = "GOCUDA_COMPILE"

const compileEverything = "all"

// compileMode says which functions of a cell are compiled before it runs.
type compileMode int

const (
	compileNone compileMode = iota
	compileAll              // those that can be
	compileMust             // all, or the cell fails
)

// Compiled is a function of a cell and what became of it.
type Compiled struct {
	Name   string // as traces call it
	Cell   string
	Line   int
	Reason string        // why it is not compiled; "" if it is
	Took   time.Duration // to compile it, with the others of its cell
	Cached bool          // it was on disk
	Code   string        // the C++, of the functions alone
}

// compiling is what an evaluator knows of compiled functions.
type compiling struct {
	mu    sync.Mutex
	mode  compileMode // of the next cell
	off   bool
	busy  bool // something is being compiled beside a cell
	ended int  // how often that ended
	known []*compiledFunc
	funcs map[traceFunc]*rt.Func

	declared   []*types.Func // of cells, in their order
	generation int           // how many cells were compiled
}

// compiledFunc is a function that was compiled, or could not be.
type compiledFunc struct {
	fun     *types.Func
	at      Compiled
	native  *native.Func // nil: it could not be
	lowered string       // its name in traces

	outdated bool // what it is made of was declared again
}

// traceFunc names a function of a trace.
type traceFunc struct{ name, file string }

// SetCompile says whether cells are compiled. If not, all of their functions and loops
// are interpreted again from the next cell on.
func (ev *tiers) SetCompile(on bool) {
	ev.compiling.mu.Lock()
	ev.compiling.off = !on
	ev.compiling.mu.Unlock()
	if !on {
		ev.loops.cool(func(*gokernel.HostProgram) string { return "%compile off" })
	}
}

// compilesNothing says whether everything is interpreted.
func (ev *tiers) compilesNothing() bool {
	ev.compiling.mu.Lock()
	defer ev.compiling.mu.Unlock()
	return ev.compiling.isOff() || ev.debugger.isOn()
}

// isOff says whether the user wants nothing compiled. The caller holds mu.
func (c *compiling) isOff() bool { return c.off || os.Getenv(CompileVariable) == "0" }

// begin says whether something can be compiled beside a cell now: one thing is at a
// time, so that a processor is left to the cell.
func (c *compiling) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy {
		return false
	}
	c.busy = true
	return true
}

// end follows what was compiled, and a begin that was true.
func (c *compiling) end(begun bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = c.busy && !begun
	c.ended++
}

// Compilations says how often something was compiled beside a cell so far, and whether
// something is being compiled now.
func (ev *tiers) Compilations() (done int, more bool) {
	c := &ev.compiling
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended, c.busy
}

// now is a number that changes with each cell that declares something.
func (c *compiling) now() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.generation
}

// reset forgets all functions.
func (c *compiling) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known, c.declared = nil, nil
	c.generation++
}

// knows says whether it is known of a function what becomes of it. The caller holds mu.
func (c *compiling) knows(fun *types.Func) bool {
	return slices.ContainsFunc(c.known, func(f *compiledFunc) bool { return f.fun == fun && !f.outdated })
}

// forget forgets what became of a function. The caller holds mu.
func (c *compiling) forget(fun *types.Func) {
	c.known = slices.DeleteFunc(c.known, func(f *compiledFunc) bool { return f.fun == fun })
}

// CompileNext has the functions of the cells that are evaluated by run compiled before
// these run; a cell fails of which one cannot be.
func (ev *tiers) CompileNext(run func() error) error {
	set := func(m compileMode) {
		ev.compiling.mu.Lock()
		defer ev.compiling.mu.Unlock()
		ev.compiling.mode = m
	}
	set(compileMust)
	defer set(compileNone)
	return run()
}

// Compiled lists the functions that were to be compiled, as they are now.
func (ev *tiers) Compiled() (list []Compiled) {
	ev.compiling.mu.Lock()
	for _, f := range ev.compiling.known {
		list = append(list, f.at)
	}
	ev.compiling.mu.Unlock()
	return append(list, ev.loops.compiled()...)
}

// compileMode says what of a cell is to be compiled.
func (ev *tiers) compileMode() compileMode {
	c := &ev.compiling
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.isOff():
		if c.mode == compileMust {
			fmt.Fprintf(ev.options.Stderr, "the cell is interpreted, because of %s=0 or %%compile off\n", CompileVariable)
		}
	case c.mode == compileMust:
		return compileMust
	case ev.debugger.isOn():
	case strings.HasPrefix(os.Getenv(CompileVariable), compileEverything) && native.Available() == nil:
		return compileAll
	}
	return compileNone
}

// compiledCell is what of a cell is compiled.
type compiledCell struct {
	funcs []*compiledFunc
	code  *native.Code
}

// compileFuncs compiles the functions that a cell or a program declares.
func (ev *tiers) compileFuncs(decls []*ast.FuncDecl, info *types.Info, mode compileMode) (*compiledCell, []mistake, error) {
	if mode == compileNone {
		return nil, nil, nil
	}
	if err := native.Available(); err != nil {
		return nil, nil, err
	}
	sources := make(map[*types.Func]gokernel.HostSource)
	var funcs []*types.Func
	for _, d := range decls {
		fun, ok := info.Defs[d.Name].(*types.Func)
		if !ok || d.Body == nil || d.Name.Name == "_" || d.Recv == nil && (d.Name.Name == "init" || d.Name.Name == "main") {
			continue
		}
		sources[fun] = gokernel.HostSource{Decl: d, Info: info}
		if !isGeneric(fun) { // its instances are compiled with their callers
			funcs = append(funcs, fun)
		}
	}
	find := func(fun *types.Func) (gokernel.HostSource, bool) {
		if s, ok := sources[fun]; ok {
			return s, true
		}
		return ev.hostSource(fun)
	}
	seen := ev.lower.Seen()
	seen.Types = append(seen.Types, declaredTypes(info)...)
	p := native.Program(ev.fset, funcs, nil, find, seen)
	out := &compiledCell{}
	var mistakes []mistake
	for _, e := range p.Entries {
		f := ev.toCompile(e.Func)
		f.refused(e)
		out.funcs = append(out.funcs, f)
		for _, e := range e.Refused {
			mistakes = append(mistakes, mistake{file: e.Pos.Filename, line: e.Pos.Line, column: e.Pos.Column, text: e.Message})
		}
	}
	if mode == compileMust && len(mistakes) > 0 {
		slices.SortFunc(mistakes, func(a, b mistake) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column)) })
		return nil, slices.Compact(mistakes), nil
	}
	if !p.Some {
		return out, nil, nil
	}
	code, err := native.Compile(p)
	if err == nil {
		err = ev.bindOutside(code)
	}
	if err != nil {
		return nil, nil, err
	}
	return out, nil, out.takes(code)
}

// declaredTypes are types that a cell declares whose values may be in interfaces: what the
// cell puts there is not known before it is lowered.
func declaredTypes(info *types.Info) (list []types.Type) {
	for _, o := range info.Defs {
		n, ok := o.(*types.TypeName)
		if !ok || n.IsAlias() || n.Parent() != n.Pkg().Scope() || types.IsInterface(n.Type()) {
			continue
		}
		if t, ok := n.Type().(*types.Named); ok && t.TypeParams().Len() == 0 {
			list = append(list, t, types.NewPointer(t))
		}
	}
	slices.SortFunc(list, func(a, b types.Type) int { return strings.Compare(a.String(), b.String()) })
	return list
}

// toCompile is a function that is to be compiled.
func (ev *tiers) toCompile(fun *types.Func) *compiledFunc {
	p := ev.fset.Position(fun.Pos())
	return &compiledFunc{fun: fun, at: Compiled{Name: funcName(fun), Cell: p.Filename, Line: p.Line}}
}

// refused notes why a function is not compiled, if so.
func (f *compiledFunc) refused(e gokernel.HostEntry) {
	if e.Refused != nil {
		f.at.Reason = e.Refused[0].Error()
	}
}

// takes notes what the functions were compiled to.
func (c *compiledCell) takes(code *native.Code) error {
	c.code = code
	entries, err := code.Funcs()
	if err != nil {
		return err
	}
	for i, f := range c.funcs {
		if f.native = entries[i]; f.native != nil {
			f.at.Took, f.at.Cached, f.at.Code = code.Took, code.Cached, code.Program.Functions
		}
	}
	return nil
}

// laterMethods are mistakes of a cell that is to be compiled.
func (ev *tiers) laterMethods(cell *checked) (mistakes []mistake) {
	for _, m := range cell.methods {
		p := ev.fset.Position(m.decl.Pos())
		mistakes = append(mistakes, mistake{file: p.Filename, line: p.Line, column: p.Column, text: "a method whose type another cell declares cannot be compiled: declare it in that cell"})
	}
	return mistakes
}

// isNative says whether a function was compiled.
func (c *compiledCell) isNative(fun *types.Func) bool {
	return c != nil && slices.ContainsFunc(c.funcs, func(f *compiledFunc) bool { return f.fun == fun && f.native != nil })
}

// hostSource is the declaration of a function of an earlier cell, the newest of those
// with its name and signature, or of a generic function of the library.
func (ev *tiers) hostSource(fun *types.Func) (s gokernel.HostSource, ok bool) {
	if fun.Pkg() == nil {
		return s, false
	}
	if path := fun.Pkg().Path(); path != "main" {
		if !gokernel.HasSource(path) {
			return s, false
		}
		if d := ev.lower.DeclOf(fun); d != nil {
			return gokernel.HostSource{Decl: d.Func, Info: d.Info}, true
		}
		return s, false
	}
	if fun.Signature().Recv() == nil {
		if now, ok := ev.names[fun.Name()].(*types.Func); ok && types.Identical(now.Signature(), fun.Signature()) {
			fun = now
		}
	} else if now := ev.current[fun]; now != nil {
		fun = now
	}
	d := ev.lower.DeclOf(fun)
	if d == nil || d.TypeParams != nil || d.Func.Body == nil {
		return s, false
	}
	return gokernel.HostSource{Decl: d.Func, Info: d.Info, Sig: d.Sig}, true
}

// funcName is what traces call a function.
func funcName(fun *types.Func) string {
	name := fun.Name()
	if r := fun.Signature().Recv(); r != nil {
		name = types.TypeString(r.Type(), cellQualifier) + "." + name
	}
	return name
}

// install has the lowered cell call what was compiled of it.
func (ev *tiers) install(made *compiledCell) {
	if made == nil || made.code == nil {
		return
	}
	if vars := made.code.Program.Globals; len(vars) > 0 {
		ev.lower.Places(vars, ev.binder(made.code, new(bool)))
	}
	for _, f := range made.funcs {
		if f.native == nil {
			continue
		}
		ev.lower.Compiled(f.fun, func(lowered, versions string) string {
			f.lowered = "compiled " + lowered
			p := ev.fset.Position(f.fun.Pos())
			ev.rt.AddFunc(f.lowered, &rt.Func{Name: f.at.Name, File: p.Filename, Hidden: true, Versions: versions})
			return ev.symbol(ev.caller(f))
		})
	}
}

// define defines a symbol of package rt for the code that is being lowered.
func (ev *machine) define(name string, v reflect.Value) {
	ev.interp.Use(interp.Exports{"rt/rt": {name: v}})
	ev.defined = append(ev.defined, name)
}

// symbol defines a symbol with a name of its own.
func (ev *machine) symbol(v reflect.Value) string {
	ev.count++
	name := fmt.Sprintf("Compiled%d", ev.count)
	ev.define(name, v)
	return name
}

// nativeCall calls a compiled function with values.
type nativeCall struct {
	*native.Func
	box     reflect.Type // its parameters and results
	in, out int
}

func newNativeCall(f *native.Func, in, out []reflect.Type) *nativeCall {
	var fields []reflect.StructField
	for i, t := range slices.Concat(in, out) {
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: t})
	}
	return &nativeCall{f, reflect.StructOf(fields), len(in), len(out)}
}

func (c *nativeCall) call(args []reflect.Value, stop *atomic.Bool) ([]reflect.Value, native.Outcome) {
	at := reflect.New(c.box)
	frame := at.Elem()
	for i, a := range args {
		frame.Field(i).Set(a)
	}
	o := c.Call(at.UnsafePointer(), stop)
	for i := range c.out {
		args = append(args, frame.Field(c.in+i))
	}
	return args[c.in:], o
}

// caller is the function that calls a compiled one, of the type that lowered code
// knows.
func (ev *tiers) caller(f *compiledFunc) reflect.Value {
	list := func(of []types.Type) (list []reflect.Type) {
		for _, t := range of {
			list = append(list, ev.lower.Reflect(t))
		}
		return list
	}
	in, out := list(f.native.Params), list(f.native.Results)
	c := newNativeCall(f.native, in, out)
	return reflect.MakeFunc(reflect.FuncOf(in, out, false), func(args []reflect.Value) []reflect.Value {
		results, o := c.call(args, ev.rt.Ending())
		if o.State != native.Returned {
			ev.endIn(f, o)
		}
		return results
	})
}

// endIn ends a call of a compiled function that did not return. It does not return.
func (ev *tiers) endIn(f *compiledFunc, o native.Outcome) {
	if o.State == native.Interrupted {
		p := o.Site.Pos // in the function itself
		if n := len(o.Calls); n > 0 {
			p = o.Calls[n-1].Pos
		}
		ev.rt.EndIn(p.Line, p.Column)
	}
	calls := []rt.Call{ev.passed(o.Site)}
	for _, s := range o.Calls {
		calls = append(calls, ev.passed(s))
	}
	if o.State == native.Overflowed {
		ev.rt.OverflowIn(f.lowered, calls)
	}
	ev.rt.PanicIn(f.lowered, calls, panicAt(o))
}

// passed is a line of a trace.
func (ev *tiers) passed(s gokernel.HostSite) rt.Call {
	c := &ev.compiling
	c.mu.Lock()
	defer c.mu.Unlock()
	at := traceFunc{s.Func, s.Pos.Filename}
	if c.funcs == nil {
		c.funcs = make(map[traceFunc]*rt.Func)
	}
	if c.funcs[at] == nil {
		c.funcs[at] = &rt.Func{Name: s.Func, File: s.Pos.Filename}
	}
	return rt.Call{Func: c.funcs[at], Line: s.Pos.Line, Column: s.Pos.Column}
}

// panicAt is the value of a panic.
func panicAt(o native.Outcome) any {
	n := func(i int) int { return int(o.Args[i]) }
	switch s := o.Site; s.What {
	case gokernel.IndexRange:
		if s.Unsigned && n(0) < 0 {
			return named.UnsignedIndexError(uint64(o.Args[0]), n(1))
		}
		return named.BoundsError(named.BoundsIndex, n(0), n(1))
	case gokernel.SliceBounds:
		return rt.SliceBounds(n(0), n(1), n(2), n(3), s.High, s.Max, s.Cap)
	case gokernel.DivideByZero:
		return named.RuntimeError("integer divide by zero")
	case gokernel.NilPointer:
		return named.RuntimeError("invalid memory address or nil pointer dereference")
	case gokernel.NegativeShift:
		return named.RuntimeError("negative shift amount")
	case gokernel.ArrayLength:
		return named.BoundsError(named.BoundsConvert, n(1), n(0))
	case gokernel.PanicsRuntime:
		return named.RuntimeError(s.Text)
	case gokernel.Outside:
		return o.Value
	default:
		return s.Text
	}
}

// bindOutside gives compiled code the functions of the library that it calls: those that
// interpreted code calls.
func (ev *tiers) bindOutside(code *native.Code) error {
	return code.BindOutside(func(c gokernel.HostCall) (v reflect.Value, err error) {
		ok := true
		switch c.Package {
		case "":
			v = ev.own["rt/rt"][strings.ToUpper(c.Name[:1])+c.Name[1:]]
		case "fmt":
			v = ev.own["fmt//fmt"][c.Name]
		default:
			v, ok = ev.importer.host.Symbol(c.Package, c.Name)
		}
		if !ok {
			err = fmt.Errorf("%s of package %s is not known", c.Name, c.Package)
		}
		return v, err
	}, ev.rt.Fail, func() []reflect.Value { return ev.dynamicUses(code.Program) })
}

// dynamicUses are the functions by which compiled code asks about types in interfaces.
func (ev *tiers) dynamicUses(p *gokernel.HostProgram) []reflect.Value {
	ev.mu.Lock()
	defer ev.mu.Unlock()
	list := make([]reflect.Value, len(p.Outside))
	err := ev.lowered("types", func() {
		for i, c := range p.Outside {
			if c.Dynamic {
				list[i] = ev.lower.Dynamic(c, p)
			}
		}
	})
	if err != nil {
		panic(err)
	}
	return list
}

// outdated has functions interpreted again that are made of what a cell declares again.
func (ev *tiers) outdated(cell *checked) {
	again := make(map[string]bool)
	for _, d := range cell.funcs {
		if fun, ok := cell.info.Defs[d.Name].(*types.Func); ok {
			again[funcName(fun)] = true
		}
	}
	for _, m := range cell.methods {
		again[funcName(m.fun)] = true
	}
	reason := func(p *gokernel.HostProgram) string {
		for _, part := range p.Funcs {
			if name := funcName(part); again[name] {
				return name + " was declared again"
			}
		}
		if len(cell.methods) > 0 && p.AsksTypes() { // of which one may have another method now
			return "a type has got a method"
		}
		return ""
	}
	ev.loops.cool(reason)
	c := &ev.compiling
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.known {
		if f.native == nil {
			continue
		}
		if c.isOff() {
			ev.lower.Interpreted(f.fun)
			f.native, f.outdated, f.at.Reason = nil, true, "%compile off"
			continue
		}
		if why := reason(f.native.Code.Program); why != "" && !isDeclared(cell, f.fun) {
			ev.lower.Interpreted(f.fun)
			f.native, f.outdated, f.at.Reason = nil, true, why
		}
	}
}

func isDeclared(cell *checked, fun *types.Func) bool {
	for _, d := range cell.funcs {
		if now, ok := cell.info.Defs[d.Name].(*types.Func); ok && funcName(now) == funcName(fun) {
			return true
		}
	}
	return false
}

// remember adds what became of a cell's functions, in the place of those of the same
// name.
func (ev *tiers) remember(cell *checked, made *compiledCell) {
	c := &ev.compiling
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	again := len(cell.methods) > 0
	for _, d := range cell.funcs {
		if fun, ok := cell.info.Defs[d.Name].(*types.Func); ok && d.Body != nil && !isGeneric(fun) {
			c.declared = append(c.declared, fun)
			again = again || ev.names[fun.Name()] != nil
		}
	}
	if again {
		c.declared = slices.DeleteFunc(c.declared, func(f *types.Func) bool { return ev.lower.DeclOf(f) == nil })
	}
	c.known = slices.DeleteFunc(c.known, func(f *compiledFunc) bool { return isDeclared(cell, f.fun) })
	if made != nil {
		c.known = append(c.known, made.funcs...)
	}
}

// noCompiler says why a cell that is to be compiled is not.
func noCompiler(err error) *Error {
	return answer.NewError("CompileError", "the cell cannot be compiled: "+err.Error())
}
