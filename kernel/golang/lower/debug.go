package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"

	"gocuda/kernel/golang/rt"
)

// With Lowerer.Debug, functions of cells are written so that the debugger can stop in
// them: see rt.Debugger. All their variables live behind pointers.

// Debugged is what is known of such a function.
type Debugged struct {
	*rt.DebugFunc
	Vars []*types.Var // by the slot
	Info *types.Info

	env  *env
	cell string
}

// debugged is such a function while it is being lowered.
type debugged struct {
	*Debugged
	number    int
	owner     *fn    // which has the variables below
	slots, at *local // what rt.Enter returned
	hot       string
	lines     map[int]bool
}

// debugs says whether a function is one that is stopped in.
func (f *fn) debugs() bool { return f.user && f.l.Debug }

// debugBegin writes the beginning of a function that is stopped in.
func (f *fn) debugBegin() {
	if !f.debugs() {
		return
	}
	l := f.l
	d := &debugged{Debugged: &Debugged{DebugFunc: &rt.DebugFunc{Name: f.name, File: f.cell}, Info: f.info, env: f.env, cell: f.cell}, owner: f, lines: make(map[int]bool)}
	d.Of = d.Debugged
	d.number = l.rt.Debugger.AddFunc(d.DebugFunc)
	d.hot = l.fresh("hot")
	fmt.Fprintf(&l.types, "var %s bool\n", d.hot)
	l.inits = append(l.inits, fmt.Sprintf("%s(%d, &%s)", l.sym("Hot"), d.number, d.hot))
	d.slots = &local{name: l.fresh("slots"), rep: "[]" + l.use("unsafe") + ".Pointer"}
	d.at = &local{name: l.fresh("at"), rep: "*int"}
	f.debug = d
	f.emit("%s, %s := %s", d.slots.name, d.at.name, l.runtime(nil, "Enter", intLiteral(d.number)))
	f.emit("_, _ = %s, %s", d.slots.name, d.at.name)
}

// debugCaptured makes what a literal takes from the functions around it known. It is
// called when the literal is lowered; entry is where its own statements begin.
func (f *fn) debugCaptured(entry int) {
	if f.debug == nil || f.debug.owner != f {
		return
	}
	made := f.captured(func() {
		for _, c := range f.caps {
			f.debugVar(c, c.name)
		}
	})
	f.out = slices.Insert(f.out, entry, made...)
}

// debugVar tells the debugger where a variable is: name is a pointer to it.
func (f *fn) debugVar(v *local, name string) {
	d := f.debug
	o, ok := v.object.(*types.Var)
	if d == nil || !ok || !v.boxed {
		return
	}
	slot := slices.Index(d.Vars, o)
	if slot < 0 {
		slot = len(d.Vars)
		d.Vars = append(d.Vars, o)
		d.Slots = append(d.Slots, rt.DebugSlot{Name: o.Name(), Real: f.l.real(v.typ), Rep: f.l.represent(v.typ).typ})
	}
	f.reach(d.slots, d.owner)
	f.emit("%s[%d] = %s.Pointer(%s)", d.slots.name, slot, f.l.use("unsafe"), name)
}

// stop writes what stops before the statement at a position.
func (f *fn) stop(pos token.Pos) { f.stopIn(pos, pos) }

// stopIn is stop where what is visible is that of another position.
func (f *fn) stopIn(pos, scope token.Pos) {
	d := f.debug
	if d == nil || !pos.IsValid() {
		return
	}
	p := f.l.fset.Position(pos)
	n := len(d.Stops)
	d.Stops = append(d.Stops, rt.DebugStop{Line: p.Line, Column: p.Column, Pos: int(scope), First: !d.lines[p.Line]})
	d.lines[p.Line] = true
	f.reach(d.at, d.owner)
	f.emit("*%s = %d", d.at.name, n)
	f.emit("if %s { %s }", d.hot, f.l.runtime(nil, "Line", ident(d.at.name, nil)))
}

// stopBefore is stop for a statement, if it does something: a switch without a tag
// begins with its first case.
func (f *fn) stopBefore(s ast.Stmt) {
	if f.debug != nil && does(s) {
		f.stop(stopOf(s))
		if x, ok := s.(*ast.ExprStmt); ok {
			at := &f.debug.Stops[len(f.debug.Stops)-1]
			at.Call, at.Last = lastCall(f.info, x.X)
		}
	}
}

// stopOf is where a statement begins to do something: the call of a literal is after it.
func stopOf(s ast.Stmt) token.Pos {
	if x, ok := s.(*ast.ExprStmt); ok {
		if call, ok := ast.Unparen(x.X).(*ast.CallExpr); ok {
			if _, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
				return call.Lparen
			}
		}
	}
	return s.Pos()
}

func does(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.SwitchStmt:
		return s.Init != nil || s.Tag != nil
	case *ast.AssignStmt:
		for i, x := range s.Lhs {
			if !isBlank(x) || len(s.Lhs) != len(s.Rhs) {
				return true
			}
			if _, ok := ast.Unparen(s.Rhs[i]).(*ast.Ident); !ok {
				return true
			}
		}
		return false
	}
	return true
}

// lastCall says whether nothing is left to do of a statement when a function that it
// calls has returned; if that is so of one function only, name is that function.
func lastCall(info *types.Info, e ast.Expr) (yes bool, name string) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || info.Types[call.Fun].IsType() {
		return false, ""
	}
	var others []*types.Func
	alone := true
	within := func(e ast.Expr) {
		ast.Inspect(e, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.CallExpr:
				if tv := info.Types[n.Fun]; !tv.IsType() && !tv.IsBuiltin() {
					alone = false
					others = append(others, calledFunc(info, n))
				}
			case *ast.UnaryExpr:
				alone = alone && n.Op != token.ARROW
			}
			return true
		})
	}
	within(call.Fun)
	for _, a := range call.Args {
		within(a)
	}
	if alone {
		return true, ""
	}
	fun := calledFunc(info, call)
	if fun == nil || slices.Contains(others, fun) {
		return false, ""
	}
	return true, traceName(fun)
}

// calledFunc is the function that a call names; nil: which it is, only run time knows.
func calledFunc(info *types.Info, call *ast.CallExpr) *types.Func {
	fun := ast.Unparen(call.Fun)
	switch x := fun.(type) {
	case *ast.IndexExpr:
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	}
	switch x := fun.(type) {
	case *ast.Ident:
		f, _ := info.Uses[x].(*types.Func)
		return f
	case *ast.SelectorExpr:
		f, _ := info.Uses[x.Sel].(*types.Func)
		if f != nil && f.Signature().Recv() != nil && types.IsInterface(f.Signature().Recv().Type()) {
			return nil
		}
		return f
	}
	return nil
}

// end stops at the closing brace of a function's body that control can reach.
func (f *fn) end(body *ast.BlockStmt) {
	if !f.top && f.sigOuter().Results().Len() == 0 && !terminates(body.List) {
		f.stop(body.Rbrace)
	}
}

// debugEnd writes the end of a function that is stopped in, before it returns list.
func (f *fn) debugEnd(list []*expr) {
	d := f.debug
	if d == nil || d.owner != f {
		return
	}
	for i, x := range list {
		if !x.simple() {
			list[i] = f.hold(f.settled(x))
		}
	}
	f.emit("%s", f.l.runtime(nil, "Leave", ident(d.at.name, nil)))
}

// Watch lowers an expression that is evaluated in a call of a function that stands
// still, and returns the name of the function that does it. info has the expression's
// types; what it gives goes to rt.Watched.
func (l *Lowerer) Watch(d *Debugged, info *types.Info, e ast.Expr) string {
	name := l.fresh("watch")
	f := l.newFn(info, "", name)
	f.sig = new(types.Signature)
	if d != nil {
		f.env, f.cell = d.env, d.cell
	}
	f.shared.boxed = make(map[types.Object]bool)
	f.analyzeExpr(e)
	if d != nil {
		var used []int
		ast.Inspect(e, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if v, ok := info.Uses[id].(*types.Var); ok {
					if slot := slices.Index(d.Vars, v); slot >= 0 && !slices.Contains(used, slot) {
						used = append(used, slot)
					}
				}
			}
			return true
		})
		for _, slot := range used {
			v := f.newLocal("", d.Vars[slot], true)
			f.emit("%s := %s", v.name, l.cast(l.runtime(anyType, "Slot", intLiteral(slot)), types.NewPointer(v.typ)))
		}
	}
	call, isCall := ast.Unparen(e).(*ast.CallExpr)
	tuple, several := info.Types[e].Type.(*types.Tuple)
	switch {
	case isCall && info.Types[e].IsVoid(), several && tuple.Len() == 0:
		f.emit("%s", f.call(call))
	case info.Types[e].IsNil():
		f.watched([]*expr{literal("nil", nil)})
	case several:
		values := f.multi(e)
		for i, x := range values {
			values[i] = f.toAny(x)
		}
		f.watched(values)
	default:
		x := f.spillAlways(f.typedExpr(e))
		f.watched([]*expr{f.toAny(typed(x, types.Default(x.typ)))})
	}
	l.write(name, header{}, f.out)
	l.rt.AddFunc(name, &rt.Func{Hidden: true})
	return name
}

func (f *fn) watched(values []*expr) {
	f.emit("%s", f.l.runtime(nil, "Watched", f.l.list(anyType, values...)))
}

// Place is the name of a session's variable in lowered code, and Real the type of
// its values in interfaces.
func (l *Lowerer) Place(v *types.Var) (name string, ok bool) {
	name, ok = l.globals[v]
	return name, ok
}

// Real is the type that a type's values have in interfaces.
func (l *Lowerer) Real(t types.Type) reflect.Type { return l.real(t) }

// StopLines are the lines of a function's body, or of a cell, at which the debugger
// can stop.
func StopLines(fset *token.FileSet, n ast.Node) map[int]bool {
	lines := make(map[int]bool)
	at := func(p token.Pos) {
		if p.IsValid() {
			lines[fset.Position(p).Line] = true
		}
	}
	comms := make(map[ast.Node]bool)
	function := func(pos token.Pos, sig *ast.FuncType, body *ast.BlockStmt) {
		at(pos)
		if (sig.Results == nil || len(sig.Results.List) == 0) && !terminates(body.List) {
			at(body.Rbrace)
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body == nil {
				return false
			}
			function(n.Pos(), n.Type, n.Body)
		case *ast.FuncLit:
			function(n.Pos(), n.Type, n.Body)
		case *ast.SwitchStmt:
			if does(n) {
				at(n.Pos())
			}
			for _, c := range n.Body.List {
				if c.(*ast.CaseClause).List != nil {
					at(c.Pos())
				}
			}
		case *ast.TypeSwitchStmt:
			at(n.Pos())
			comms[n.Assign] = true
			for _, c := range n.Body.List {
				if c.(*ast.CaseClause).List != nil {
					at(c.Pos())
				}
			}
		case *ast.GenDecl:
			if n.Tok == token.VAR {
				for _, s := range n.Specs {
					at(s.Pos())
				}
			}
		case *ast.CommClause:
			comms[n.Comm] = n.Comm != nil
		case *ast.BlockStmt, *ast.EmptyStmt, *ast.DeclStmt, *ast.CaseClause:
		case *ast.LabeledStmt:
			switch to := n.Stmt.(type) {
			case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.LabeledStmt:
			case *ast.BranchStmt:
				if to.Tok != token.FALLTHROUGH {
					at(n.Pos())
				}
			default:
				at(n.Pos())
			}
		case *ast.ForStmt:
			at(n.Pos())
		case ast.Stmt:
			if !comms[n] && does(n) {
				at(stopOf(n))
			}
		}
		return true
	})
	return lines
}

// TypeOf is the type of one of the function's variables, with type parameters replaced.
func (l *Lowerer) TypeOf(d *Debugged, v *types.Var) types.Type { return l.subst(v.Type(), d.env) }

// Reaches says whether all local variables that an expression uses can be had.
func (d *Debugged) Reaches(info *types.Info, e ast.Expr) bool {
	reaches := true
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			v, ok := info.Uses[id].(*types.Var)
			if ok && !v.IsField() && !isPackageLevel(v) && v.Pkg() != nil && v.Pkg().Path() == "main" && v.Pos() < e.Pos() && !slices.Contains(d.Vars, v) {
				reaches = false
			}
		}
		return reaches
	})
	return reaches
}
