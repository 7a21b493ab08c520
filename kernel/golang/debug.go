package golang

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"gocuda/cudaapi/gokernel"
	"gocuda/kernel/golang/lower"
	"gocuda/kernel/golang/rt"
)

// Debugger stops in the cells of an evaluator that are evaluated while it is on. Its
// methods may be called by any goroutine; those that show or evaluate what a stopped
// thread sees have that thread do it.
type Debugger struct {
	ev *Evaluator

	mu     sync.Mutex
	on     bool
	events DebugEvents
	points map[string]map[int]*point // by the cell's name and the line
	panics bool
	told   map[string]bool // the conditions whose faults were told

	watches map[watchKey]watch // under ev.mu
}

// DebugEvents are what a Debugger tells, on the goroutine that it happens to.
type DebugEvents struct {
	// Stopped is told that a thread has stopped, and with it all that come to a
	// statement.
	Stopped func(Stop)
	// Resumed is told that they go on since the cell was interrupted.
	Resumed func()
	// Logged is told what a breakpoint with a message says, and which conditions
	// cannot be evaluated.
	Logged func(cell string, line int, text string)
}

// What a Debugger shows, in its own words.
type (
	Thread     = rt.Thread
	Activation = rt.Activation
	Stop       = rt.Stopped
	StepKind   = rt.StepKind
)

// How far a thread goes.
const (
	StepOver = rt.StepOver
	StepInto = rt.StepInto
	StepOut  = rt.StepOut
)

// Why a thread stops.
const (
	StopBreakpoint = rt.StopBreakpoint
	StopStep       = rt.StopStep
	StopPause      = rt.StopPause
	StopPanic      = rt.StopPanic
)

// Breakpoint is where to stop.
type Breakpoint struct {
	Line int
	// Condition, if not empty, is an expression that must be true.
	Condition string
	// Hits, if not empty, says at which time it stops: "3", or an operator and a
	// number: "> 3", "% 2".
	Hits string
	// Message, if not empty, is told in place of a stop; {x} in it is the value of x.
	Message string
}

type point struct {
	Breakpoint
	hits int
}

// Debugger returns the evaluator's debugger.
func (ev *Evaluator) Debugger() *Debugger { return ev.debugger }

// renewed is the debugger of an evaluator that begins again.
func (d *Debugger) renewed(ev *Evaluator) *Debugger {
	if d == nil {
		d = &Debugger{ev: ev, points: make(map[string]map[int]*point), told: make(map[string]bool)}
	}
	d.watches = make(map[watchKey]watch)
	d.mu.Lock()
	defer d.mu.Unlock()
	r := ev.rt.Debugger
	r.Hit, r.Stopped, r.Resumed = d.hit, d.stopped, d.resumed
	d.arm()
	return d
}

// arm tells the runtime what the debugger is to do. The caller holds mu.
func (d *Debugger) arm() {
	r := d.ev.rt.Debugger
	r.Set(d.on)
	if !d.on {
		return
	}
	r.SetPanics(d.panics)
	for cell, points := range d.points {
		r.SetLines(cell, slices.Collect(maps.Keys(points)))
	}
}

func (d *Debugger) isOn() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.on
}

// Start turns the debugger on. Functions and methods of earlier cells are evaluated
// again, from their source; left are those that cannot be, which are not stopped in.
func (d *Debugger) Start(events DebugEvents) (left []string) {
	d.mu.Lock()
	was := d.on
	d.on, d.events = true, events
	debugging.Store(d, true)
	d.arm()
	d.mu.Unlock()
	if was {
		return nil
	}
	return d.ev.relowerAll()
}

// Stop turns the debugger off, lets all threads go on, and forgets the breakpoints.
// What was evaluated while it was on stays slower than other code until it is
// evaluated again.
func (d *Debugger) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.on, d.panics, d.events = false, false, DebugEvents{}
	debugging.Delete(d)
	clear(d.points)
	clear(d.told)
	d.arm()
}

// SetBreakpoints sets the breakpoints of a cell, in place of those that it had.
func (d *Debugger) SetBreakpoints(cell string, list []Breakpoint) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.points[cell]
	points := make(map[int]*point)
	for _, b := range list {
		p := &point{Breakpoint: b}
		if old := before[b.Line]; old != nil && old.Breakpoint == b {
			p = old
		}
		points[b.Line] = p
	}
	if d.points[cell] = points; len(points) == 0 {
		delete(d.points, cell)
	}
	d.ev.rt.Debugger.SetLines(cell, slices.Collect(maps.Keys(points)))
}

// SetPanics says whether threads stop where a panic begins.
func (d *Debugger) SetPanics(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.panics = on
	d.ev.rt.Debugger.SetPanics(on)
}

// Pause stops the next thread that comes to a statement.
func (d *Debugger) Pause() { d.ev.rt.Debugger.Pause() }

// Continue lets all threads go on.
func (d *Debugger) Continue() { d.ev.rt.Debugger.Continue(nil, 0) }

// Step lets all threads go on, until one has gone a step.
func (d *Debugger) Step(t *Thread, kind StepKind) { d.ev.rt.Debugger.Continue(t, kind) }

// Held reports whether the threads stand still, and by which.
func (d *Debugger) Held() (by *Thread, held bool) { return d.ev.rt.Debugger.Held() }

// Threads lists the goroutines that are in functions that can be stopped in.
func (d *Debugger) Threads() []*Thread { return d.ev.rt.Debugger.Threads() }

// Stack is the calls of a thread, the innermost first, and whether it stands still.
func (d *Debugger) Stack(t *Thread) (stack []*Activation, stands bool) {
	return d.ev.rt.Debugger.Stack(t)
}

// Do calls f for a thread that stands still: see [rt.Debugger.Do].
func (d *Debugger) Do(t *Thread, f func()) error { return d.ev.rt.Debugger.Do(t, nil, f) }

// Abandon ends what is evaluated for threads that stand still, and by Values.
func (d *Debugger) Abandon() {
	d.ev.rt.Debugger.Abandon()
	d.ev.run.mu.Lock()
	values := d.ev.run.values != nil
	d.ev.run.mu.Unlock()
	if values {
		d.ev.Shell.Interrupt()
	}
}

func (d *Debugger) stopped(s Stop) {
	d.mu.Lock()
	tell := d.events.Stopped
	d.mu.Unlock()
	if tell != nil {
		tell(s)
	}
}

func (d *Debugger) resumed() {
	d.mu.Lock()
	tell := d.events.Resumed
	d.mu.Unlock()
	if tell != nil {
		tell()
	}
}

// hit decides, on the thread itself, whether it stops at a breakpoint.
func (d *Debugger) hit(t *Thread, a *Activation) bool {
	cell, line := a.Func.File, a.Stop().Line
	d.mu.Lock()
	p, tell := d.points[cell][line], d.events.Logged
	d.mu.Unlock()
	if p == nil {
		return false
	}
	fault := func(what, text string, err error) {
		d.mu.Lock()
		told := d.told[cell+" "+text]
		d.told[cell+" "+text] = true
		d.mu.Unlock()
		if tell != nil && !told {
			tell(cell, line, fmt.Sprintf("%s %q: %v", what, text, err))
		}
	}
	if p.Condition != "" {
		values, err := d.Evaluate(t, a, p.Condition)
		if err == nil && (len(values) != 1 || reflect.TypeOf(values[0]) == nil || reflect.TypeOf(values[0]).Kind() != reflect.Bool) {
			err = errors.New("it is not a bool")
		}
		if err != nil {
			fault("condition", p.Condition, err)
			return true
		}
		if !reflect.ValueOf(values[0]).Bool() {
			return false
		}
	}
	d.mu.Lock()
	p.hits++
	hits := p.hits
	d.mu.Unlock()
	if p.Hits != "" {
		yes, err := hitsMatch(p.Hits, hits)
		if err != nil {
			fault("hit count", p.Hits, err)
			return true
		}
		if !yes {
			return false
		}
	}
	if p.Message == "" {
		return true
	}
	text := braces.ReplaceAllStringFunc(p.Message, func(part string) string {
		values, err := d.Evaluate(t, a, part[1:len(part)-1])
		if err != nil {
			return "{" + err.Error() + "}"
		}
		list := make([]string, len(values))
		for i, v := range values {
			list[i] = fmt.Sprint(v)
		}
		return strings.Join(list, ", ")
	})
	if tell != nil {
		tell(cell, line, text)
	}
	return false
}

var (
	braces  = regexp.MustCompile(`\{[^{}]*\}`)
	hitText = regexp.MustCompile(`^\s*(==|=|>=|>|<=|<|!=|%|)\s*(\d+)\s*$`)
)

// hitsMatch says whether a breakpoint that was come to for the nth time stops.
func hitsMatch(text string, n int) (bool, error) {
	m := hitText.FindStringSubmatch(text)
	if m == nil {
		return false, errors.New(`it must be a number, or an operator and a number, such as "> 3"`)
	}
	want, err := strconv.Atoi(m[2])
	if err != nil {
		return false, err
	}
	switch m[1] {
	case ">":
		return n > want, nil
	case ">=":
		return n >= want, nil
	case "<":
		return n < want, nil
	case "<=":
		return n <= want, nil
	case "!=":
		return n != want, nil
	case "%":
		if want == 0 {
			return false, errors.New("cannot divide by 0")
		}
		return n%want == 0, nil
	}
	return n == want, nil
}

// Lines are those of a cell at which there is something to stop at.
type Lines struct {
	All   []int    // in order
	funcs [][2]int // the first and last line of each function
}

// BreakpointLines are the lines of a cell at which there is something to stop at;
// magics, and the lines of other languages, have none.
func BreakpointLines(code string) (l Lines) {
	fset := token.NewFileSet()
	src, _ := parse(fset, "cell", code)
	if src == nil {
		return l
	}
	lines := make(map[int]bool)
	line := func(p token.Pos) int { return fset.Position(p).Line }
	for _, s := range src.steps {
		maps.Copy(lines, lower.StopLines(fset, s))
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Body != nil {
					l.funcs = append(l.funcs, [2]int{line(n.Pos()), line(n.Body.Rbrace)})
				}
			case *ast.FuncLit:
				l.funcs = append(l.funcs, [2]int{line(n.Pos()), line(n.Body.Rbrace)})
			}
			return true
		})
	}
	l.All = slices.Sorted(maps.Keys(lines))
	return l
}

// Place is where a breakpoint of a line stops: at the next line where there is
// something to stop at, or, if that is behind the end of the function that the line is
// in, at the last one before; 0: nowhere.
func (l Lines) Place(line int) int {
	i, exact := slices.BinarySearch(l.All, line)
	if exact {
		return line
	}
	within := [2]int{0, math.MaxInt}
	for _, f := range l.funcs {
		if f[0] <= line && line <= f[1] && f[0] >= within[0] {
			within = f
		}
	}
	switch {
	case i < len(l.All) && l.All[i] <= within[1]:
		return l.All[i]
	case within[0] > 0 && i > 0:
		return l.All[i-1]
	}
	return 0
}

// Variable is a variable as the debugger sees it.
type Variable struct {
	Name string
	// Expression gives the variable where its name does not: it is shadowed if empty.
	Expression string
	Type       string
	Value      reflect.Value // can be set

	of *types.Var // of the function; nil: it is of the session, or a part of another
}

// Locals are the variables that a call sees, of its function and of those around it;
// of a cell's own statements, the variables that the cell declares.
func (d *Debugger) Locals(a *Activation) (list []Variable) {
	d.ev.mu.Lock()
	defer d.ev.mu.Unlock()
	if at, ok := a.Of.(*gokernel.Place); ok {
		return kernelVariables(at)
	}
	of, ok := a.Func.Of.(*lower.Debugged)
	if !ok {
		return nil
	}
	pos := token.Pos(a.Stop().Pos)
	inner := innermost(of.Info, pos)
	for slot, v := range of.Vars {
		value := a.Value(slot)
		if !value.IsValid() || v.Name() == "_" || v.Name() == "" || inner == nil {
			continue
		}
		x := Variable{Name: v.Name(), Expression: v.Name(), Type: typeText(d.ev.lower.TypeOf(of, v)), Value: value, of: v}
		if _, seen := inner.LookupParent(v.Name(), pos); seen != v {
			if v.Parent() == nil || !v.Parent().Contains(pos) || v.Pos() >= pos {
				continue
			}
			x.Name, x.Expression = "("+x.Name+")", ""
		}
		list = append(list, x)
	}
	if a.Func.Name == "" {
		for _, o := range of.Info.Defs {
			v, ok := o.(*types.Var)
			if !ok || v.Parent() == nil || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() || v.Name() == "_" {
				continue
			}
			if value := d.ev.variable(v); value.IsValid() {
				list = append(list, Variable{Name: v.Name(), Expression: v.Name(), Type: typeText(v.Type()), Value: value})
			}
		}
		slices.SortStableFunc(list, func(a, b Variable) int { return cmp.Compare(a.Name, b.Name) })
	}
	return list
}

// Globals are the variables of the session.
func (d *Debugger) Globals() (list []Variable) {
	d.ev.mu.Lock()
	defer d.ev.mu.Unlock()
	for name, o := range d.ev.names {
		v, ok := o.(*types.Var)
		if !ok || strings.HasSuffix(name, "ʹ") {
			continue
		}
		if value := d.ev.variable(v); value.IsValid() {
			list = append(list, Variable{Name: name, Expression: name, Type: typeText(v.Type()), Value: value})
		}
	}
	slices.SortFunc(list, func(a, b Variable) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

func typeText(t types.Type) string { return types.TypeString(t, cellQualifier) }

// variable is a session's variable; invalid: the interpreter has none of it. The caller
// holds mu.
func (ev *Evaluator) variable(v *types.Var) reflect.Value {
	name, ok := ev.lower.Place(v)
	if !ok || ev.globals == nil {
		return reflect.Value{}
	}
	symbols := ev.symbols()
	if !symbols.IsValid() {
		return reflect.Value{}
	}
	symbol := symbols.MapIndex(reflect.ValueOf(name))
	if !symbol.IsValid() || symbol.Kind() != reflect.Pointer {
		return reflect.Value{}
	}
	index := symbol.Elem().FieldByName("index")
	if index.Kind() != reflect.Int || int(index.Int()) >= len(*ev.globals.data) {
		return reflect.Value{}
	}
	place := (*ev.globals.data)[index.Int()]
	if !place.IsValid() || !place.CanAddr() {
		return reflect.Value{}
	}
	return reflect.NewAt(ev.lower.Real(v.Type()), unsafe.Pointer(place.UnsafeAddr())).Elem()
}

// innermost is the smallest scope that has a position.
func innermost(info *types.Info, pos token.Pos) (inner *types.Scope) {
	for _, s := range info.Scopes {
		if s.Contains(pos) && (inner == nil || s.End()-s.Pos() < inner.End()-inner.Pos()) {
			inner = s
		}
	}
	return inner
}

// watchKey is an expression where it is evaluated.
type watchKey struct {
	of   *lower.Debugged
	pos  token.Pos
	text string
}

// watch is such an expression, compiled, and what it found among the session's names.
type watch struct {
	run   *func()
	found map[string]types.Object
}

// isOf reports whether the session's names still mean that. The caller holds ev.mu.
func (w watch) isOf(ev *Evaluator) bool {
	for name, o := range w.found {
		if ev.names[name] != o {
			return false
		}
	}
	return true
}

// Evaluate evaluates an expression, or a statement, in a call of a thread that stands
// still, and returns what it gives.
func (d *Debugger) Evaluate(t *Thread, a *Activation, text string) (values []any, err error) {
	if at, ok := a.Of.(*gokernel.Place); ok {
		var failed error
		err = d.ev.rt.Debugger.Do(t, nil, func() { values, failed = at.Evaluate(text) })
		return values, cmp.Or(err, failed)
	}
	run, err := d.watch(a, text)
	if err != nil {
		return nil, err
	}
	var failed error
	err = d.ev.rt.Debugger.Do(t, a, func() {
		if v, _, ok := d.ev.rt.Try(*run); !ok {
			failed = errors.New(d.ev.texts.panicError(v, rt.Trace{}).Plain())
			return
		}
		values = d.ev.rt.Debugger.Told()
	})
	return values, cmp.Or(err, failed)
}

// watch compiles an expression for a call.
func (d *Debugger) watch(a *Activation, text string) (*func(), error) {
	ev := d.ev
	ev.mu.Lock()
	defer ev.mu.Unlock()
	of, ok := a.Func.Of.(*lower.Debugged)
	if !ok {
		return nil, errors.New("nothing can be evaluated here")
	}
	pos := token.Pos(a.Stop().Pos)
	key := watchKey{of, pos, text}
	if w := d.watches[key]; w.run != nil && w.isOf(ev) {
		return w.run, nil
	}
	e, err := parseWatch(ev.fset, text)
	if err != nil {
		return nil, err
	}
	pkg, info := types.NewPackage("main", "main"), newInfo()
	for s := innermost(of.Info, pos); s != nil && s != types.Universe; s = s.Parent() {
		for _, name := range s.Names() {
			if _, o := s.LookupParent(name, pos); o != nil && o.Parent() != types.Universe && pkg.Scope().Lookup(name) == nil {
				if p, ok := o.(*types.PkgName); ok {
					o = types.NewPkgName(token.NoPos, pkg, name, p.Imported())
				}
				pkg.Scope().Insert(o)
			}
		}
	}
	found := make(map[string]types.Object)
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || pkg.Scope().Lookup(id.Name) != nil {
			return true
		}
		found[id.Name] = ev.names[id.Name]
		switch o := ev.names[id.Name].(type) {
		case nil:
			if p := ev.guessImport(id.Name); p != nil && types.Universe.Lookup(id.Name) == nil {
				pkg.Scope().Insert(types.NewPkgName(token.NoPos, pkg, id.Name, p))
			}
		case *types.PkgName:
			pkg.Scope().Insert(types.NewPkgName(token.NoPos, pkg, id.Name, o.Imported()))
		default:
			pkg.Scope().Insert(o)
		}
		return true
	})
	if err := types.CheckExpr(ev.fset, pkg, token.NoPos, e, info); err != nil {
		var wrong types.Error
		if errors.As(err, &wrong) {
			return nil, errors.New(ownPackage.ReplaceAllString(wrong.Msg, "$1"))
		}
		return nil, err
	}
	if tv := info.Types[e]; tv.IsType() || tv.IsBuiltin() {
		return nil, fmt.Errorf("%s is not an expression", text)
	}
	if !of.Reaches(info, e) {
		return nil, errors.New("the function does not use that variable of the function around it")
	}
	ev.lower.Instrument, ev.lower.Debug = false, false
	ev.lower.Begin("watch", false)
	run, err := ev.compileOutput(func() lower.Output { return ev.lower.Finish(ev.lower.Watch(of, info, e)) })
	if err != nil {
		ev.lower.Abandon()
		return nil, err
	}
	d.watches[key] = watch{run, found}
	return run, nil
}

// parseWatch parses an expression, or makes one of a statement.
func parseWatch(fset *token.FileSet, text string) (ast.Expr, error) {
	e, err := parser.ParseExprFrom(fset, "watch", text, parser.SkipObjectResolution)
	if err == nil {
		return e, nil
	}
	if s, wrong := parser.ParseExprFrom(fset, "watch", "func() {\n"+text+"\n}()", parser.SkipObjectResolution); wrong == nil {
		return s, nil
	}
	return nil, err
}

// CopyToGlobals declares a variable of the session with the value of one that a call
// sees.
func (d *Debugger) CopyToGlobals(a *Activation, from, to string) error {
	if !token.IsIdentifier(to) {
		return fmt.Errorf("%q is not a name", to)
	}
	ev := d.ev
	list := d.Locals(a)
	i := slices.IndexFunc(list, func(v Variable) bool { return v.Expression == from })
	if i < 0 {
		return fmt.Errorf("there is no variable %s", from)
	}
	if a.Of != nil {
		return errors.New("a kernel's variables cannot be copied: the notebook does not have their types")
	}
	ev.mu.Lock()
	defer ev.mu.Unlock()
	of := a.Func.Of.(*lower.Debugged)
	slot := slices.IndexFunc(of.Vars, func(v *types.Var) bool { return v == list[i].of })
	if slot < 0 {
		return fmt.Errorf("%s is declared in the notebook already", from)
	}
	t := ev.lower.TypeOf(of, of.Vars[slot])
	v := types.NewVar(token.NoPos, types.NewPackage("main", "main"), to, t)
	v.Pkg().Scope().Insert(v)
	ev.lower.Instrument, ev.lower.Debug = false, false
	ev.lower.Begin("debugger", false)
	entry, err := ev.compileOutput(func() lower.Output {
		ev.lower.Take(v, ev.rt.Put(a.Lowered(slot)))
		return ev.lower.Finish("")
	})
	if err != nil {
		ev.lower.Abandon()
		return err
	}
	if wrong, _, ok := ev.rt.Try(*entry); !ok {
		return fmt.Errorf("%v", wrong)
	}
	ev.names[to] = v
	return nil
}

// Imported lists the paths of the packages that cells have imported.
func (ev *Evaluator) Imported() (list []string) {
	ev.mu.Lock()
	defer ev.mu.Unlock()
	for _, o := range ev.names {
		if p, ok := o.(*types.PkgName); ok {
			list = append(list, p.Imported().Path())
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Values evaluates code as a cell does, if none runs, and returns what its last
// expression gives.
func (ev *Evaluator) Values(name, code string) ([]any, error) {
	if !ev.turn.TryLock() {
		return nil, errors.New("a cell is running")
	}
	defer ev.turn.Unlock()
	var values []any
	ev.run.mu.Lock()
	ev.run.values = &values
	ev.run.mu.Unlock()
	res := ev.eval(name, code, false)
	ev.run.mu.Lock()
	ev.run.values = nil
	ev.run.mu.Unlock()
	if res.Err != nil {
		return nil, errors.New(res.Err.Plain())
	}
	return values, nil
}
