package gokernel

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"

	"gocuda/cudaapi/gokernel/emulate"
	"gocuda/cudaapi/gokernel/ir"
	"gocuda/cudaapi/gpu"
)

// Watcher follows the threads of an emulated launch. Step, Panics and Ended are called
// by the goroutine that emulates, and the launch waits for them.
type Watcher interface {
	// Wants says whether Step is to be called in a function. Any goroutine may call it.
	Wants(f *Function) bool
	// Step is told that a thread is about to run a statement, in the last of calls. The
	// others are those that it is in, the outermost first.
	Step(calls []*Place)
	// Panics is told that a thread panics.
	Panics(calls []*Place, text string)
	// Ended is told that the launch has ended.
	Ended()
}

var watch atomic.Pointer[func() Watcher]

// SetWatch has f give the watcher of each emulated launch: it is called by the goroutine
// that emulates. Where it gives nil, nobody watches.
func SetWatch(f func() Watcher) { watch.Store(&f) }

func watcher() Watcher {
	if f := watch.Load(); f != nil {
		return (*f)()
	}
	return nil
}

// Function is a function of the source, or a literal, as a [Watcher] knows it.
type Function struct {
	Name  string
	Steps []token.Position // of its statements
	Of    any              // the watcher's own
}

// Place is a call of a function by an emulated thread, which stands at a statement.
type Place struct {
	Function *Function
	Step     int // which of the function's
	Thread   *emulate.Lane
	Of       any // the watcher's own

	s    *stepped
	call *emulate.Call
}

// Variable is one that a thread sees.
type Variable struct {
	Name  string
	Type  string
	Value reflect.Value // can be set, but for the thread's place in the grid
}

// stepped is a program once more, with the statements of the source marked.
type stepped struct {
	unit     *unit
	funcs    []*ir.Func // as Program.funcs
	emulator *emulate.Program
}

// scope is what the lowering knows at a step.
type scope struct {
	f  *fn
	at token.Pos // whose names are visible
	of *Function
	n  int
}

// step marks where a statement begins. What is visible there is that of another place.
func (f *fn) step(pos, scopePos token.Pos) {
	if f.u.steps == nil || pos < f.u.file.FileStart || pos > f.u.file.FileEnd {
		return
	}
	of := f.u.steps[f.f]
	if of == nil {
		of = &Function{Name: f.f.Go}
		f.u.steps[f.f] = of
	}
	of.Steps = append(of.Steps, f.u.fset.Position(pos))
	f.emit(&ir.Step{Pos: pos, Of: &scope{f.snapshot(), scopePos, of, len(of.Steps) - 1}})
}

// snapshot is the function as it is known now: what names mean changes further on.
func (f *fn) snapshot() *fn {
	if f == nil {
		return nil
	}
	g := *f
	g.vars, g.parent = maps.Clone(f.vars), f.parent.snapshot()
	return &g
}

// stepBefore is step for a statement, if it does something itself.
func (f *fn) stepBefore(s ast.Stmt) {
	switch s := s.(type) {
	case nil, *ast.EmptyStmt, *ast.BlockStmt, *ast.LabeledStmt:
	case *ast.DeclStmt:
		if d := s.Decl.(*ast.GenDecl); d.Tok == token.VAR {
			f.step(d.Specs[0].Pos(), d.Specs[0].Pos())
		}
	case *ast.SwitchStmt:
		if s.Init != nil || s.Tag != nil {
			f.step(s.Pos(), s.Pos())
		}
	case *ast.ForStmt:
		if s.Init == nil {
			f.step(s.Pos(), s.Pos())
		}
	default:
		f.step(s.Pos(), s.Pos())
	}
}

// step lowers the program once more. Its variables are those of the one without steps.
func (p *Program) step() *stepped {
	u := &unit{checked: p.unit.checked, target: device{}, steps: make(map[*ir.Func]*Function)}
	u.kernels()
	for _, expr := range p.instances {
		u.instance(expr)
	}
	s := &stepped{unit: u}
	for _, k := range p.funcs {
		i := slices.IndexFunc(u.prog.Funcs, func(f *ir.Func) bool { return f.Pos == k.Pos && f.Go == k.Go })
		s.funcs = append(s.funcs, u.prog.Funcs[i])
	}
	same := make(map[*ir.Var]*ir.Var)
	for o, v := range u.globals {
		same[v] = p.unit.globals[o]
	}
	s.emulator = p.emulator().With(u.prog, same)
	return s
}

// follower hands what the emulator tells to a Watcher.
type follower struct {
	Watcher
	s *stepped
}

func (f follower) Wants(at *ir.Step) bool { return f.Watcher.Wants(at.Of.(*scope).of) }

func (f follower) Step(calls []*emulate.Call) { f.Watcher.Step(f.places(calls)) }

func (f follower) Panics(calls []*emulate.Call, text string) {
	f.Watcher.Panics(f.places(calls), text)
}

func (f follower) places(calls []*emulate.Call) (list []*Place) {
	for _, c := range calls {
		at, _ := c.Of.(*Place)
		here := c.At.Of.(*scope)
		if at == nil {
			at = &Place{Function: here.of, Thread: c.Lane, s: f.s, call: c}
			c.Of = at
		}
		at.Step = here.n
		list = append(list, at)
	}
	return list
}

func (at *Place) scope() *scope { return at.call.At.Of.(*scope) }

// Variables are those that the thread sees, its own place in the grid first.
func (at *Place) Variables() (list []Variable) {
	for _, v := range []struct {
		name string
		at   [3]int
	}{{"ThreadIdx", at.Thread.Thread}, {"BlockIdx", at.Thread.Block}, {"BlockDim", at.call.Block()}, {"GridDim", at.call.Grid()}} {
		list = append(list, Variable{"gpu." + v.name, "gpu.Dim3", reflect.ValueOf(gpu.Dim3{X: v.at[0], Y: v.at[1], Z: v.at[2]})})
	}
	here := at.scope()
	seen := make(map[string]bool)
	var vars []*ir.Var
	for s := at.s.unit.pkg.Scope().Innermost(here.at); s != nil && s != types.Universe; s = s.Parent() {
		for _, name := range s.Names() {
			_, o := s.LookupParent(name, here.at)
			v, ok := o.(*types.Var)
			if !ok || seen[name] || name == "_" {
				continue
			}
			seen[name] = true
			x := here.f.find(v)
			if x == nil {
				x = at.s.unit.globals[v]
			}
			if x != nil && reflected(x.Type) != nil {
				vars = append(vars, x)
				list = append(list, Variable{Name: name, Type: types.TypeString(x.Type, shortNames)})
			}
		}
	}
	values, err := at.values(nil, vars)
	if err != nil {
		return list[:4]
	}
	for i, v := range values {
		list[4+i].Value = v
	}
	return list
}

// values are what variables hold when statements have run.
func (at *Place) values(list []ir.Stmt, vars []*ir.Var) (values []reflect.Value, err error) {
	for _, v := range vars {
		if reflected(v.Type) == nil {
			return nil, fmt.Errorf("a value of type %s cannot be shown", types.TypeString(v.Type, shortNames))
		}
	}
	places, err := at.call.Run(list, vars)
	for i, p := range places {
		values = append(values, reflect.NewAt(reflected(vars[i].Type), p).Elem())
	}
	return values, err
}

// Evaluate evaluates an expression, or a statement, where the thread stands, and
// returns what it gives.
func (at *Place) Evaluate(text string) (values []any, err error) {
	u := *at.s.unit
	u.steps, u.errs, u.open = nil, nil, nil
	e, err := parser.ParseExprFrom(u.fset, "watch", text, parser.SkipObjectResolution)
	var wrong error
	if err != nil {
		if e, wrong = parser.ParseExprFrom(u.fset, "watch", "func() {\n"+text+"\n}", parser.SkipObjectResolution); wrong != nil {
			return nil, err
		}
	}
	at.imports(e)
	if err := types.CheckExpr(u.fset, u.pkg, at.scope().at, e, u.info); err != nil {
		var typed types.Error
		if errors.As(err, &typed) {
			return nil, errors.New(typed.Msg)
		}
		return nil, err
	}
	tv := u.info.Types[e]
	if tv.IsType() || tv.IsBuiltin() {
		return nil, fmt.Errorf("%s is not an expression", text)
	}
	f := at.scope().f.snapshot()
	for g := f; g != nil; g = g.parent {
		g.u = &u
	}
	var results []*ir.Var
	var list []ir.Stmt
	u.try(func() {
		list = f.within(func() {
			if lit, ok := e.(*ast.FuncLit); ok {
				f.stmts(lit.Body.List)
				return
			}
			var given []ir.Expr
			if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
				given = f.call(call)
			} else {
				given = []ir.Expr{f.expr(e)}
			}
			for _, x := range given {
				v := f.local("watched", x.Type())
				f.emit(&ir.Define{Var: v, Init: x})
				results = append(results, v)
			}
		})
	})
	if len(u.errs) > 0 {
		return nil, errors.New(u.errs[0].Message)
	}
	given, err := at.values(list, results)
	for _, v := range given {
		values = append(values, v.Interface())
	}
	return values, err
}

// imports has an expression's packages known that the source does not import.
func (at *Place) imports(e ast.Expr) {
	u := at.s.unit
	ast.Inspect(e, func(n ast.Node) bool {
		x, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := x.X.(*ast.Ident)
		if !ok {
			return true
		}
		if _, o := u.pkg.Scope().Innermost(at.scope().at).LookupParent(id.Name, token.NoPos); o != nil {
			return true
		}
		if path := implied[id.Name]; path != "" {
			if p, err := u.imports.Import(path); err == nil {
				u.info.Scopes[u.file].Insert(types.NewPkgName(token.NoPos, u.pkg, id.Name, p))
			}
		}
		return true
	})
}

// reflected is the type of Go that lies in memory as a kernel's does; nil: there is none.
func reflected(t types.Type) reflect.Type {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch ir.Half(t) {
		case ir.Float16:
			return reflect.TypeFor[float16]()
		case ir.BFloat16:
			return reflect.TypeFor[bfloat16]()
		}
		return basics[u.Kind()]
	case *types.Pointer:
		if e := reflected(u.Elem()); e != nil {
			return reflect.PointerTo(e)
		}
	case *types.Slice:
		if e := reflected(u.Elem()); e != nil {
			return reflect.SliceOf(e)
		}
	case *types.Array:
		if e := reflected(u.Elem()); e != nil {
			return reflect.ArrayOf(int(u.Len()), e)
		}
	case *types.Struct:
		var list []reflect.StructField
		for v := range u.Fields() {
			f := reflect.StructField{Name: v.Name(), Type: reflected(v.Type())}
			if f.Type == nil || f.Name == "_" {
				return nil
			}
			if !v.Exported() {
				f.PkgPath = "main"
			}
			list = append(list, f)
		}
		return reflect.StructOf(list)
	}
	return nil
}

var basics = map[types.BasicKind]reflect.Type{
	types.Bool: reflect.TypeFor[bool](), types.Int: reflect.TypeFor[int](), types.Int8: reflect.TypeFor[int8](), types.Int16: reflect.TypeFor[int16](),
	types.Int32: reflect.TypeFor[int32](), types.Int64: reflect.TypeFor[int64](), types.Uint: reflect.TypeFor[uint](), types.Uint8: reflect.TypeFor[uint8](),
	types.Uint16: reflect.TypeFor[uint16](), types.Uint32: reflect.TypeFor[uint32](), types.Uint64: reflect.TypeFor[uint64](),
	types.Float32: reflect.TypeFor[float32](), types.Float64: reflect.TypeFor[float64](),
	types.Complex64: reflect.TypeFor[complex64](), types.Complex128: reflect.TypeFor[complex128](),
}

// float16 and bfloat16 are what lies in memory for those of package gpu.
type (
	float16  uint16
	bfloat16 uint16
)

func (x float16) String() string  { return halfText("Float16", uint16(x)) }
func (x bfloat16) String() string { return halfText("BFloat16", uint16(x)) }

func halfText(name string, bits uint16) string {
	p, err := Import(gpuPath)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(float32(emulate.Real(p.Scope().Lookup(name).Type(), uint64(bits))))
}
