package golang

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io"
	"maps"
	"math"
	"os"
	"path"
	"reflect"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/traefik/yaegi/interp"

	"gocuda/cudaapi/native"
	"gocuda/kernel/display"
	"gocuda/kernel/golang/answer"
	"gocuda/kernel/golang/host"
	"gocuda/kernel/golang/host/trait"
	"gocuda/kernel/golang/lower"
	"gocuda/kernel/golang/rt"
)

// Options are what an Evaluator is made of.
type Options struct {
	// Packages can be imported beside the standard library.
	Packages []host.Package
	// Builtins are functions and values that cells use without a package, beside
	// check, judge and todo.
	Builtins map[string]any
	// Elsewhere says, in the words of an error, what names are that cells lack, but
	// others have.
	Elsewhere map[string]string
	// Hint says what to do about a mistake, whose source text follows; "": nothing that
	// is known. nil: there are no hints.
	Hint func(mistake, source string) string
	// Modules has the packages that are not compiled into this program; nil:
	// there are none.
	Modules Modules
	// Stdout and Stderr are where fmt and log write; the default is the
	// process's own.
	Stdout, Stderr io.Writer
	// Stdin is what fmt.Scan reads, and what compiled code reads that takes
	// os.Stdin as an io.Reader; the default is the process's own.
	Stdin io.Reader
	// MaxStack is how many bytes of stack a goroutine may use before its cell ends
	// with an error; 0: as many as the process may, which should be several times as
	// many. With it, a cell survives what Go's runtime would end the process for.
	MaxStack int
	// Args are os.Args; the default is the process's own.
	Args []string
	// Background is told about a panic in a goroutine that outlived its cell, or
	// whose cell did not fail. The default writes it to Stderr.
	Background func(*Error)
	// Ended, if set, is told about a cell that a panic in one of its goroutines ends, by
	// its shell's owner, so that what waits for it in compiled code ends, too.
	Ended func(owner any)
	// Touches, if set, says whether the cell that comes is to tell Touched what it
	// reads and writes in memory that devices use too, before it does.
	Touches func() bool
	Touched func(Touch)
	// Judged, if set, is told that judge begins, with no verdict, and how it ended. If it
	// returns said, no line on Stdout says so.
	Judged func(id, verdict string) (said bool)
	// Started is told about a program before it runs, with its evaluator.
	Started func(*Evaluator)
}

// Touch is some elements of a slice that a statement is about to read or write.
type Touch = rt.Touch

// Evaluator evaluates cells: in its own Shell one after another, and in others, see
// Aside, beside that. Its methods may be called from several goroutines.
type Evaluator struct {
	*Shell
	*tiers

	gate      gate
	aside     asides
	variables variables
	tells     bool            // the functions tell what they touch: see Options.Touches
	edited    map[string]bool // the packages that are to be loaded again
}

// tiers have functions and loops of cells compiled.
type tiers struct {
	*machine
	compiling compiling
	loops     loops
}

// machine interprets lowered code.
type machine struct {
	*namespace
	program   bool // RunProgram's
	interp    *interp.Interpreter
	globals   *globals
	rt        *rt.Runtime
	lower     *lower.Lowerer
	own       map[string]map[string]reflect.Value // what cells get in place of the library's, by the interpreter's keys
	tables    map[string]map[string]reflect.Value // of variables, by the package's path
	imported  map[string]bool                     // import declarations that the interpreter has
	late      map[string]bool                     // tables that it got after its start
	defined   []string                            // symbols of package rt that only the code that is lowered now names
	functions functionTexts
	bodyNames map[uint64]string
	unseen    map[string]bool // functions whose bodies bodyNames does not have yet
	fresh     []*osrLoop      // of the code that is being lowered
	count     int             // of symbols
	debugger  *Debugger
	roused    atomic.Bool // some cell may wait for signals or finalizers: see noteAlarms
	clicked   atomic.Bool // some cell has widgets
}

// namespace is what cells have declared, as a check needs it: it knows no interpreter.
type namespace struct {
	options  Options
	importer *importer
	fset     *token.FileSet
	texts    texts
	generics interface { // lower.Lowerer
		Substitute(t types.Type, params *types.TypeParamList, args []*types.TypeParam) types.Type
		ForgetInstances(visit func(types.Type))
	}

	mu sync.Mutex // held while a cell is compiled, not while it runs
	declarations
}

// declarations are those of a session's cells.
type declarations struct {
	names       map[string]types.Object
	dots        []string // the packages of dot imports, by their paths
	typeText    map[string]typeSource
	source      map[types.Object]sourceText
	kept        map[string]*kept            // the functions, methods and types of cells
	waiting     map[string]*kept            // functions that call what no cell has declared yet
	provisional map[*types.Func]bool        // methods of types of earlier cells whose own cell has not compiled yet, or failed
	current     map[*types.Func]*types.Func // the newest version of a method that cells declared again
}

func noDeclarations() declarations {
	return declarations{
		names: make(map[string]types.Object), typeText: make(map[string]typeSource), source: make(map[types.Object]sourceText),
		kept: make(map[string]*kept), waiting: make(map[string]*kept), provisional: make(map[*types.Func]bool), current: make(map[*types.Func]*types.Func),
	}
}

// Result is what a cell gave.
type Result struct {
	Value *display.Bundle // nil when there is nothing to show
	Err   *Error
}

// New returns an Evaluator.
func New(options Options) (*Evaluator, error) { return newEvaluator(options, false) }

func newEvaluator(options Options, program bool) (*Evaluator, error) {
	if options.Stdout == nil {
		options.Stdout = os.Stdout
	}
	if options.Stderr == nil {
		options.Stderr = os.Stderr
	}
	ev := &Evaluator{edited: make(map[string]bool)}
	ev.Shell = &Shell{ev: ev}
	if !program {
		functions := ev.judging()
		maps.Copy(functions, options.Builtins)
		options.Builtins = functions
	}
	im := newImporter(options)
	ev.tiers = &tiers{machine: &machine{program: program, namespace: &namespace{options: options, importer: im, fset: im.host.FileSet()}}}
	if options.MaxStack > 0 {
		rt.Survive(options.MaxStack) //nolint:errcheck // where it cannot, the process ends, and its last words say why
	}
	err := ev.start()
	if err == nil && !program && ev.wantsLoops() {
		go native.Available() //nolint:errcheck // so that it is known when the first loop is hot
	}
	return ev, err
}

// start makes the interpreter and an empty session.
func (ev *Evaluator) start() error {
	if err := rt.Available(); err != nil {
		return err
	}
	ev.importer.forgetModules()
	ev.declarations = noDeclarations()
	ev.imported, ev.late = make(map[string]bool), make(map[string]bool)
	ev.compiling.reset()
	ev.functions = newFunctionTexts()
	ev.rt = rt.New()
	ev.rt.Background = ev.background
	ev.rt.Uncompiled = ev.loops.runsUncompiled
	ev.rt.Stray = ev.stray
	ev.rt.Show = ev.shown
	ev.rt.Route = ev.route
	ev.rt.Begun = ev.gate.open
	ev.rt.FaultsPanic = func() { ev.SetCompile(false) } // a fault in C ends the process
	ev.rt.Bodies = ev.bodies
	ev.rt.Touched = ev.options.Touched
	ev.debugger = ev.debugger.renewed(ev)
	ev.bodyNames, ev.unseen, ev.fresh = make(map[uint64]string), make(map[string]bool), nil
	ev.rt.Stdin, ev.rt.Stdout, ev.rt.Errors = ev.options.Stdin, ev.options.Stdout, ev.options.Stderr
	ev.interp = interp.New(interp.Options{
		Stdin: ev.options.Stdin, Stdout: ev.options.Stdout, Stderr: ev.rt.Stderr(ev.options.Stderr), Unrestricted: true, Args: ev.options.Args,
	})
	ev.globals = globalsOf(ev.interp)
	exports := ev.importer.exports()
	exports["rt/rt"] = ev.rt.Symbols()
	exports["rt/rt"]["Lower"] = reflect.ValueOf(ev.lowerLater)
	if err := ev.interp.Use(exports); err != nil {
		return fmt.Errorf("the interpreter rejects its packages: %w", err)
	}
	own := ev.rt.Replacements(ev.program)
	own["rt/rt"], ev.own = exports["rt/rt"], own
	own["runtime/runtime"]["GOROOT"] = reflect.ValueOf(host.Root)
	ev.tables = ev.variableTables()
	for p, table := range ev.tables {
		own[p+"/"+p] = table
	}
	if err := ev.interp.Use(own); err != nil { // in place of the interpreter's own
		return fmt.Errorf("the interpreter rejects its packages: %w", err)
	}
	v, err := ev.evalText("package main\nvar stop, stuck, pending bool\nvar loops []bool\nvar noAny []any\nvar noInts []int\nvar polled = []*bool{&stop, &stuck, &pending}\n", "polled")
	if err != nil {
		return err
	}
	polled := v.Interface().([]*bool)
	ev.rt.SetFlags(polled[0], polled[1], polled[2])
	if v, err = ev.evalText("", "loops"); err != nil {
		return err
	}
	ev.loops.reset(v)
	ev.lower = lower.New(ev.rt, hostTable{ev.machine}, ev.fset)
	ev.generics = ev.lower
	ev.rt.Demand = ev.demand
	for _, p := range ev.importer.host.Preloaded() {
		p, err := ev.importer.Import(p.Path()) // Preloaded gives names only
		if err != nil {
			return err
		}
		ev.names[p.Name()] = types.NewPkgName(token.NoPos, nil, p.Name(), p)
	}
	for _, o := range ev.importer.builtins() {
		ev.names[o.Name()] = o
	}
	return nil
}

// evalText gives declarations to the interpreter, and then evaluates an expression.
func (ev *machine) evalText(decls, expr string) (v reflect.Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the interpreter cannot run this cell: %v", r)
		}
	}()
	if decls != "" {
		if v, err = ev.evalOne(decls); err != nil {
			return v, err
		}
	}
	return ev.evalOne(expr)
}

func (ev *machine) evalOne(text string) (v reflect.Value, err error) {
	p, err := ev.interp.Compile(text)
	if err != nil {
		return v, err
	}
	ev.globals.make(len(ev.rt.Live()) > 0)
	return ev.interp.Execute(p)
}

// Reset forgets every name. Goroutines of earlier cells are cancelled. It is an error
// while a cell runs beside.
func (ev *Evaluator) Reset() error {
	ev.turn.Lock()
	defer ev.turn.Unlock()
	ev.aside.mu.Lock()
	defer ev.aside.mu.Unlock()
	if len(ev.aside.slots) > 0 {
		return errors.New("another cell is running, and uses the names that would be forgotten")
	}
	ev.mu.Lock()
	defer ev.mu.Unlock()
	for g := range ev.rt.Live() {
		ev.rt.Cancel(g)
	}
	return ev.start()
}

// compile checks and lowers a cell and gives it to the interpreter. The
// session has the cell's names when it returns without an error. The caller holds the
// gate.
func (ev *Evaluator) compile(slot int, name, code string, silent bool) (entry *func(), e *Error) {
	ev.mu.Lock()
	defer ev.mu.Unlock()
	ev.lower.Slot = slot
	r, e := ev.parseCell(name, code)
	if e != nil || len(r.steps) == 0 && len(r.imports) == 0 {
		return nil, e
	}
	if ev.touches() != ev.tells {
		ev.relowerInstrumented()
	}
	if e := r.check(); e != nil {
		return nil, e
	}
	cell := r.cell
	if e := r.embed(); e != nil {
		return nil, e
	}
	if mistakes := ev.tooLarge(cell.info); mistakes != nil {
		return nil, compileError(code, mistakes)
	}
	mode := ev.compileMode()
	if mode == compileMust {
		if mistakes := ev.laterMethods(cell); mistakes != nil {
			return nil, compileError(code, mistakes)
		}
	}
	made, mistakes, err := ev.compileFuncs(cell.funcs, cell.info, mode)
	switch {
	case err != nil:
		return nil, noCompiler(err)
	case mistakes != nil:
		return nil, compileError(code, mistakes)
	}
	if silent && cell.show != nil {
		cell.stmts = append(cell.stmts, &ast.ExprStmt{X: cell.show})
		cell.show = nil
	}
	ev.beginLowering(name)
	f, err := ev.build(name, cell, made)
	if err != nil {
		ev.lower.Abandon()
		return nil, ev.buildError(err)
	}
	ev.remember(cell, made)
	ev.adopt(r)
	for _, k := range r.left {
		r.notes = append(r.notes, fmt.Sprintf("%s calls %s, which no cell has declared yet", k.name, strings.Join(k.missing, ", ")))
	}
	for _, note := range r.notes {
		fmt.Fprintln(ev.route(ev.options.Stderr), note)
	}
	return f, nil
}

// tooLarge are the values in a cell for which there is no memory. The interpreter makes
// room for those of all cells together, so that none could be made any more.
func (ev *namespace) tooLarge(info *types.Info) (mistakes []mistake) {
	check := func(what string, t types.Type, at token.Pos) {
		if t == nil {
			return
		}
		if err := rt.Afford(what, roughSize(t)); err != nil {
			p := ev.fset.Position(at)
			mistakes = append(mistakes, mistake{file: p.Filename, line: p.Line, column: p.Column, text: err.Error()})
		}
	}
	for id, o := range info.Defs {
		if v, ok := o.(*types.Var); ok {
			check(v.Name(), v.Type(), id.Pos())
		}
	}
	for x, tv := range info.Types {
		if _, ok := x.(*ast.CompositeLit); ok && tv.IsValue() {
			check("a value of type "+typeText(tv.Type), tv.Type, x.Pos())
		}
	}
	slices.SortFunc(mistakes, func(a, b mistake) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column)) })
	return slices.CompactFunc(mistakes, func(a, b mistake) bool { return a.line == b.line })
}

// roughSize is how many bytes a value of a type has, without what is left between
// fields; types.Sizes know no type parameters.
func roughSize(t types.Type) int {
	switch u := t.Underlying().(type) {
	case *types.Array:
		if n, elem := int(u.Len()), roughSize(u.Elem()); n > 0 && elem > 0 {
			return min(n, math.MaxInt/elem) * elem
		}
		return 0
	case *types.Struct:
		n := 0
		for f := range u.Fields() {
			n += min(roughSize(f.Type()), math.MaxInt-n)
		}
		return n
	case *types.Basic:
		if u.Kind() != types.Invalid && u.Info()&types.IsUntyped == 0 {
			return int(sizes.Sizeof(u))
		}
		return 0
	case *types.Interface:
		return 0 // or a type parameter
	}
	return int(sizes.Sizeof(t))
}

func internalError(err error) *Error {
	return answer.NewError("InternalError", "the front end cannot run this cell: "+err.Error())
}

// buildError says why a checked cell, or program, cannot be built.
func (ev *machine) buildError(err error) *Error {
	var cycle lower.Cycle
	if !errors.As(err, &cycle) {
		return internalError(err)
	}
	at := ev.fset.Position(cycle.Of.Pos())
	return compileError("", []mistake{{file: at.Filename, line: at.Line, column: at.Column, text: cycle.Error()}})
}

// build lowers a checked cell and compiles it.
func (ev *tiers) build(name string, cell *checked, made *compiledCell) (*func(), error) {
	return ev.compileOutput(func() lower.Output {
		ev.outdated(cell)
		ev.install(made)
		return ev.lowerCell(name, cell)
	})
}

// compileOutput gives lowered code to the interpreter and returns its entry.
func (ev *machine) compileOutput(step func() lower.Output) (entry *func(), err error) {
	debug := os.Getenv("GOCUDA_SHOW_LOWERED") != ""
	defer func() {
		if r := recover(); r != nil {
			if debug {
				panic(r)
			}
			if e, ok := r.(error); ok {
				err = e
			} else {
				err = fmt.Errorf("%v", r)
			}
		}
	}()
	defer ev.undefine()
	out := step()
	if debug {
		fmt.Fprintf(os.Stderr, "%s\n%s\n", out.Imports, out.Decls)
	}
	if err := ev.useLate(); err != nil {
		return nil, err
	}
	for _, line := range strings.Split(strings.TrimSpace(out.Imports), "\n") {
		// The interpreter keeps what a cell imported that failed to compile.
		if line == "" || ev.imported[line] {
			continue
		}
		if _, err := ev.evalText("", line); err != nil {
			return nil, err
		}
		ev.imported[line] = true
	}
	new := scanLowered(out.Decls)
	missing, again := ev.missing(new.names)
	v, err := ev.evalText("package main\n"+out.Decls+missing, out.Entry)
	if err != nil {
		for _, name := range again {
			delete(ev.functions.used, name)
		}
		return nil, err
	}
	forget(ev.interp)
	forgetVariables(ev.symbols(), new.variables)
	for _, name := range again {
		ev.unseen[name] = true
	}
	for name := range new.functions {
		ev.unseen[name] = true
	}
	if !ev.program && len(out.Decls) <= longestCell {
		ev.keepFunctions(new, out.Replaced)
	}
	f, ok := v.Interface().(func())
	if !ok {
		return nil, fmt.Errorf("the interpreter made a %s of the cell", v.Type())
	}
	return &f, nil
}

// undefine takes from the interpreter what only the code names that it has compiled now.
func (ev *machine) undefine() {
	packages := settable(reflect.ValueOf(ev.interp).Elem().FieldByName("binPkg")).Interface().(interp.Exports)
	for _, name := range ev.defined {
		delete(packages["rt"], name)
	}
	ev.defined, ev.fresh = nil, nil
}

// useLate gives the interpreter the compiled packages that were asked for since.
func (ev *machine) useLate() error {
	late := ev.importer.host.Late()
	for key := range late {
		if ev.late[key] {
			delete(late, key)
		}
		ev.late[key] = true
	}
	if len(late) == 0 {
		return nil
	}
	return ev.interp.Use(late)
}

// demand makes the function of a method that compiled code has called.
func (ev *machine) demand(method int) error {
	ev.mu.Lock()
	defer ev.mu.Unlock()
	if ev.rt.HasMethod(method) { // another goroutine has called it
		return nil
	}
	ev.lower.Debug = ev.debugger.isOn()
	return ev.lowered("methods", func() { ev.lower.Demand(method) })
}

// lowered adds to the lowered code, beside a cell.
func (ev *machine) lowered(name string, step func()) error {
	ev.lower.Begin(name, ev.program)
	f, err := ev.compileOutput(func() lower.Output {
		step()
		return ev.lower.Finish("")
	})
	if err != nil {
		ev.lower.Abandon()
		return err
	}
	(*f)()
	return nil
}

// lowerCell writes the cell for the interpreter.
func (ev *machine) lowerCell(name string, cell *checked) lower.Output {
	l := ev.lower
	var inits []*types.Func
	var main *types.Func
	used := make(map[types.Object]bool)
	for _, o := range cell.info.Uses {
		used[o] = true
	}
	for _, o := range cellObjects(cell) {
		v, ok := o.(*types.Var)
		if !ok {
			continue
		}
		if old, ok := ev.names[v.Name()].(*types.Var); ok && types.Identical(old.Type(), v.Type()) && !cell.program {
			l.Alias(v, old)
			continue
		} else if ok && !cell.program {
			l.Free(old, used[old])
		}
		l.Global(v)
	}
	for v, value := range cell.embeds {
		l.Take(v, ev.rt.Put(value))
	}
	for _, d := range cell.funcs {
		fun, ok := cell.info.Defs[d.Name].(*types.Func)
		if !ok || d.Body == nil {
			continue
		}
		decl := &lower.Decl{Func: d, Info: infoOf(d, cell.info), Cell: ev.fset.Position(d.Pos()).Filename, Redirect: !cell.program}
		if old, ok := ev.names[fun.Name()].(*types.Func); ok && d.Recv == nil && old.Pkg() != nil && old.Pkg().Path() == "main" && types.Identical(old.Signature(), fun.Signature()) {
			if isGeneric(fun) {
				decl.Sig, decl.TypeParams = fun.Signature(), fun.Signature().TypeParams()
				l.Replace(old, fun, decl)
				continue
			}
			decl.Replaces = old
		}
		l.Declare(fun, decl)
		switch {
		case d.Recv == nil && d.Name.Name == "init":
			inits = append(inits, fun)
		case d.Recv == nil && d.Name.Name == "main":
			main = fun
		}
	}
	for _, m := range cell.methods {
		fun, ok := cell.info.Defs[m.decl.Name].(*types.Func)
		if !ok {
			continue
		}
		base, _, _ := strings.Cut(m.decl.Name.Name, "ᐧ")
		named := types.Unalias(ev.names[base].Type()).(*types.Named)
		decl := &lower.Decl{Func: m.decl, Info: infoOf(m.decl, cell.info), Cell: ev.fset.Position(m.decl.Pos()).Filename, Redirect: true, Sig: methodSignature(fun.Signature(), nil)}
		generic := named.TypeParams().Len() > 0
		if generic {
			decl.TypeParams = fun.Signature().TypeParams()
		}
		if m.old == nil {
			l.Declare(m.fun, decl)
			if !generic {
				l.Want(m.fun)
			}
			l.AddMethod(named)
			continue
		}
		if generic {
			l.Replace(m.old, m.fun, decl)
			continue
		}
		if decl.Replaces = ev.current[m.old]; decl.Replaces == nil {
			decl.Replaces = m.old
		}
		l.Declare(m.fun, decl)
		l.Want(m.fun)
	}
	for _, d := range cell.funcs {
		fun, ok := cell.info.Defs[d.Name].(*types.Func)
		if !ok || d.Body == nil || isGeneric(fun) || d.Name.Name == "_" {
			continue
		}
		if cell.program {
			continue // lowered when something calls it
		}
		l.Want(fun)
	}
	if cell.program {
		return l.Finish(l.Program(cell.info, name, inits, main))
	}
	var starts []ast.Stmt
	for _, fun := range inits {
		starts = append(starts, l.Start(fun))
	}
	if main != nil && len(cell.stmts) == 0 && cell.show == nil {
		starts = append(starts, l.Start(main))
	}
	// As in a program, they run once the variables have their values.
	i := slices.IndexFunc(cell.stmts, func(s ast.Stmt) bool { _, ok := s.(*ast.DeclStmt); return !ok })
	if i < 0 {
		i = len(cell.stmts)
	}
	cell.stmts = slices.Insert(cell.stmts, i, starts...)
	return l.Finish(l.Body(cell.info, name, cell.stmts, cell.show, cell.several))
}

func isGeneric(f *types.Func) bool {
	s := f.Signature()
	return s.TypeParams().Len() > 0 || s.RecvTypeParams().Len() > 0
}

// cellObjects lists what a cell declares, sorted by name.
func cellObjects(cell *checked) []types.Object {
	var list []types.Object
	scope := cell.pkg.Scope()
	for _, name := range scope.Names() {
		o := scope.Lookup(name)
		if o.Pkg() != cell.pkg || strings.Contains(name, "ᐧ") {
			continue
		}
		if _, ok := o.(*types.PkgName); ok {
			continue
		}
		list = append(list, o)
	}
	return list
}

// adopt makes the cell's names those of the session.
func (ev *Evaluator) adopt(r *redefinition) {
	cell := r.cell
	r.keep()
	ev.noteAlarms(cell.info)
	for _, o := range cellObjects(cell) {
		name := o.Name()
		if cell.program && (name == "main" || name == "init") {
			continue
		}
		ev.names[name] = o
	}
	for _, p := range cell.imports {
		ev.names[p.Name()] = p
	}
	for _, path := range cell.dots {
		ev.dots = append(slices.DeleteFunc(ev.dots, func(p string) bool { return p == path }), path)
	}
	for _, m := range cell.methods {
		delete(ev.provisional, m.fun)
		if m.old != nil {
			ev.current[m.old] = m.fun
		}
	}
	r.rememberTypes()
	r.rememberSource()
	for _, k := range r.left {
		ev.waiting[k.name] = k
		delete(ev.names, k.name)
	}
}

// rememberSource keeps the text of declarations, for inspection.
func (r *redefinition) rememberSource() {
	ev, cell, code := r.ev, r.cell, r.code
	if r.program {
		return
	}
	lines := strings.SplitAfter(code, "\n")
	text := func(n ast.Node) sourceText {
		from, to := ev.fset.Position(n.Pos()), ev.fset.Position(n.End())
		if from.Line < 1 || to.Line > len(lines) || from.Line > to.Line {
			return sourceText{}
		}
		first := from.Line
		for first > 1 && strings.HasPrefix(strings.TrimSpace(lines[first-2]), "//") {
			first-- // the comment above, which the split leaves out
		}
		return sourceText{strings.TrimSuffix(strings.Join(lines[first-1:to.Line], ""), "\n"), first}
	}
	for _, f := range r.followers {
		switch d := f.decl.(type) {
		case *ast.FuncDecl:
			ev.source[cell.info.Defs[d.Name]] = sourceText{f.text, f.line}
		case *ast.GenDecl:
			ev.source[cell.info.Defs[d.Specs[0].(*ast.TypeSpec).Name]] = sourceText{"type " + f.text, f.line}
		}
	}
	for _, m := range cell.methods {
		if k := r.of(m.decl.Pos()); k != nil {
			ev.source[m.fun] = sourceText{k.text, k.line}
		} else {
			ev.source[m.fun] = text(m.decl)
		}
		if m.old != nil { // which stays the type's method
			ev.source[m.old] = ev.source[m.fun]
		}
	}
	for _, s := range r.steps {
		if r.isFollower(s) {
			continue
		}
		switch d := s.(type) {
		case *ast.AssignStmt:
			for _, x := range d.Lhs {
				if id, ok := x.(*ast.Ident); ok && cell.info.Defs[id] != nil {
					ev.source[cell.info.Defs[id]] = text(d)
				}
			}
		case *ast.FuncDecl:
			if o := cell.info.Defs[d.Name]; o != nil {
				ev.source[o] = text(d)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					ev.source[cell.info.Defs[spec.Name]] = text(d)
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						ev.source[cell.info.Defs[id]] = text(d)
					}
				}
			}
		}
	}
}

// Name is a variable, function, type or constant of the session.
type Name struct {
	Name, Kind, Type string
}

// cellQualifier writes types as cells do: without their own package's name.
func cellQualifier(p *types.Package) string {
	if p.Path() == "main" {
		return ""
	}
	return p.Name()
}

// Names lists what cells have declared, sorted.
func (ev *Evaluator) Names() []Name {
	ev.mu.Lock()
	defer ev.mu.Unlock()
	var list []Name
	for name, o := range ev.names {
		if o.Pkg() == nil || o.Pkg().Path() != "main" {
			continue
		}
		n := Name{Name: name, Type: types.TypeString(o.Type(), cellQualifier)}
		switch o := o.(type) {
		case *types.Var:
			n.Kind = "var"
		case *types.Func:
			n.Kind = "func"
		case *types.Const:
			n.Kind = "const"
		case *types.TypeName:
			n.Kind = "type"
			n.Type = types.TypeString(o.Type().Underlying(), cellQualifier)
		default:
			continue
		}
		list = append(list, n)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

// Define binds a Go value to a name that later cells see as a variable.
func (ev *Evaluator) Define(name string, value any) error {
	defer ev.gate.close()()
	ev.mu.Lock()
	defer ev.mu.Unlock()
	if !token.IsIdentifier(name) {
		return fmt.Errorf("%q is not a name that a Go variable can have", name)
	}
	if value == nil {
		return fmt.Errorf("cannot define %s as nil: it has no type", name)
	}
	typ := ev.importer.host.TypeOf(reflect.TypeOf(value))
	pkg := types.NewPackage("main", "main")
	v := types.NewVar(token.NoPos, pkg, name, typ)
	pkg.Scope().Insert(v)
	ev.lower.Begin("define", false)
	if old, ok := ev.names[name].(*types.Var); ok && types.Identical(old.Type(), typ) {
		ev.lower.Alias(v, old)
	} else if ok {
		ev.lower.Free(old, false)
	}
	n := ev.rt.Put(value)
	ev.lower.Take(v, n)
	f, err := ev.compileOutput(func() lower.Output { return ev.lower.Finish("") })
	if err != nil {
		ev.lower.Abandon()
		return err
	}
	(*f)()
	ev.names[name] = v
	return nil
}

// beginLowering begins a cell, or functions of cells that are lowered again.
func (ev *Evaluator) beginLowering(name string) {
	ev.lower.Instrument, ev.lower.Debug, ev.lower.Loops = ev.touches(), ev.debugger.isOn(), nil
	if ev.wantsLoops() {
		ev.lower.Loops = loweredLoops{ev.tiers}
	}
	ev.lower.Begin(name, ev.program)
}

// hostTable is what the lowering knows of compiled packages.
type hostTable struct{ *machine }

func (h hostTable) Symbol(p, name string) (reflect.Value, bool) {
	if v, ok := h.tables[p][name]; ok {
		return v, true
	}
	return h.importer.host.Symbol(p, name)
}

func (h hostTable) Type(t types.Type) reflect.Type { return h.importer.host.ReflectType(t) }

func (h hostTable) IsHost(p string) bool { return p != "main" }

func (h hostTable) PackageName(p string) string { return path.Base(p) }

func (h hostTable) Direct(function string) (string, bool) {
	return h.importer.host.Direct(function)
}

func (h hostTable) Traits(o types.Object) trait.Set { return h.importer.host.Traits(o) }

func (h hostTable) Instance(function string, typ reflect.Type) (reflect.Value, bool) {
	return h.importer.host.Instance(function, typ)
}

func (h hostTable) SourceDecl(f *types.Func) *lower.Decl { return h.sourceDecl(f) }
func (h hostTable) IsSource(o types.Object) bool         { return h.importer.isSource(o) }
func (h hostTable) Later(f *types.Func) bool             { return h.importer.moduleOf(f.Pkg()) != nil }

func (h hostTable) Define(name string, v reflect.Value) {
	h.interp.Use(interp.Exports{"rt/rt": {name: v}})
}
