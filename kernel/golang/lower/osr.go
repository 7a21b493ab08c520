package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// On-stack replacement: a loop can go on in a compiled form (see Lowerer.Loops). Lowered
// code asks for that where a loop begins, and at the head of an iteration when it looks
// whether it is to end anyway, so the iterations of a loop pay nothing for it. What the loop
// uses of the function around it is given to a function of package rt, and comes back.

// Loop is a loop that can go on in a compiled form.
type Loop struct {
	Stmt  ast.Stmt // an *ast.ForStmt or an *ast.RangeStmt
	Label string
	Info  *types.Info
	Cell  string
	Func  string // as traces call the function that it is in
	Vars  []LoopVar
	State []types.Type // what it is over and how far it is; nothing of an *ast.ForStmt
	// Results are those of the function, if the loop has return statements with
	// values.
	Results []types.Type
	Exits   []*ast.BranchStmt // which lead out of it, other than after it
	Around  *Loop             // the innermost loop around it of which this is true, too

	returns, ends bool // it has return statements, and such without values
}

// LoopVar is a local variable of the function around a loop.
type LoopVar struct {
	Var   *types.Var
	Place bool // it is given by its address
	Set   bool // the loop changes it, and it is not given by its address
}

// How a compiled loop ended: what its function returns first.
const (
	loopGoesOn = iota // as before
	loopDone
	loopReturns // with values
	loopEnds    // with a return statement without values
	loopBranch  // with the first of its exits; others follow
)

// osrEntry is what the lowering of a loop that can go on elsewhere knows.
type osrEntry struct {
	*Loop
	number int
	how    *expr // how the compiled loop ended
	to     exprList
	from   exprList
	values []*expr // of a return statement
}

// osrEntryOf makes an entry of a loop that can go on in a compiled form, nil if it is
// none; state is what has no name in the cell.
func (f *fn) osrEntryOf(s ast.Stmt, label string, state ...*expr) *osrEntry {
	l := f.l
	if l.Loops == nil || f.env != nil {
		return nil
	}
	if at, _ := f.unfit(s); at != nil {
		return nil
	}
	e := &osrEntry{Loop: &Loop{Stmt: s, Label: label, Info: f.info, Cell: f.cell, Func: f.name}}
	if !f.exits(e.Loop) || f.yield != nil && (e.returns || len(e.Exits) > 0) {
		return nil
	}
	if !f.loopVars(e) {
		return nil
	}
	for _, x := range state {
		e.State = append(e.State, x.typ)
		e.from = append(e.from, x)
	}
	if n := len(f.entries); n > 0 {
		e.Around = f.entries[n-1].Loop
	}
	if e.number = l.Loops(e.Loop); e.number < 0 {
		return nil
	}
	e.how = f.temp(intType)
	e.to = append(exprList{e.how}, e.to...)
	for _, t := range e.Results {
		v := f.temp(t)
		e.values = append(e.values, v)
		e.to = append(e.to, v)
	}
	return e
}

// unfit is what a loop has that is never compiled, and why; nil if it has nothing of the
// kind. It may still not be compiled.
func (f *fn) unfit(s ast.Stmt) (at ast.Node, why string) {
	const never = " cannot be in compiled code"
	ast.Inspect(s, func(n ast.Node) bool {
		if at != nil {
			return false
		}
		switch n := n.(type) {
		case *ast.DeferStmt:
			at, why = n, "a defer statement"+never
		case *ast.GoStmt:
			at, why = n, "a go statement"+never
		case *ast.SelectStmt, *ast.SendStmt:
			at, why = n, "a channel"+never
		case *ast.TypeSwitchStmt, *ast.TypeAssertExpr:
			at, why = n, "an interface"+never
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				at, why = n, "a channel"+never
			}
		case *ast.RangeStmt:
			if n.Tok == token.ILLEGAL {
				n.Tok = token.DEFINE // no variables
			}
			switch f.rangeType(n.X).(type) {
			case *types.Basic, *types.Slice, *types.Array, *types.Pointer:
			case *types.Map:
				if n == s {
					at, why = n, "a loop over a map cannot go on in compiled code, for its place in the map is not known"
				}
			default:
				at, why = n, "a loop over "+typeWords(f.typeOf(n.X))+never
			}
		case *ast.CallExpr:
			if !f.fitsCall(n) {
				at, why = n, types.ExprString(n.Fun)+" cannot be called in compiled code"
			}
		case *ast.Ident:
			if v, ok := f.info.Uses[n].(*types.Var); ok && !v.IsField() && !plainValue(v.Type(), nil) {
				at, why = n, fmt.Sprintf("the variable %s, which the loop uses, of type %s, cannot be in compiled code", v.Name(), typeWords(v.Type()))
			}
		}
		return at == nil
	})
	return at, why
}

// typeWords is a type as cells write it.
func typeWords(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p.Path() == "main" {
			return ""
		}
		return p.Name()
	})
}

// uncompiled gives a loop that can never go on in a compiled form its number.
func (f *fn) uncompiled(n ast.Node) (number int, is bool) {
	s, ok := n.(ast.Stmt)
	if f.l.Loops == nil || f.l.program || !ok {
		return 0, false
	}
	at, why := f.unfit(s)
	switch {
	case f.env != nil:
		at, why = n, "a loop of a generic function cannot go on in compiled code"
	case at == nil: // because of the function around it
		return 0, false
	}
	return f.l.Uncompiled(s, at.Pos(), why), true
}

// fitsCall says whether compiled code perhaps calls what a call calls.
func (f *fn) fitsCall(e *ast.CallExpr) bool {
	fun := ast.Unparen(e.Fun)
	tv := f.info.Types[fun]
	switch {
	case tv.IsType():
		return plainValue(tv.Type, nil)
	case tv.IsBuiltin():
		return !slices.Contains([]string{"recover", "close"}, calledName(fun).Name)
	}
	o := f.calledFunc(e)
	if o == nil || o.Pkg() == nil {
		return o == nil && !f.isMethodExpr(fun)
	}
	if r := o.Signature().Recv(); r != nil && types.IsInterface(r.Type()) {
		return false
	}
	path := o.Pkg().Path()
	return path == "main" || f.l.CallsPackage(path)
}

// plainValue says whether values of a type have nothing that compiled code has no word
// for.
func plainValue(t types.Type, within []types.Type) bool {
	if slices.Contains(within, t) {
		return true
	}
	within = append(within, t)
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() != types.UnsafePointer && u.Kind() != types.Uintptr
	case *types.Pointer:
		return plainValue(u.Elem(), within)
	case *types.Slice:
		return plainValue(u.Elem(), within)
	case *types.Map:
		_, basic := u.Key().Underlying().(*types.Basic)
		return basic && plainValue(u.Key(), within) && plainValue(u.Elem(), within)
	case *types.Array:
		return plainValue(u.Elem(), within)
	case *types.Struct:
		for v := range u.Fields() {
			if !plainValue(v.Type(), within) {
				return false
			}
		}
		return true
	case *types.Signature: // of a literal in the loop
		return true
	}
	return false
}

// exits finds the statements that lead out of a loop. It is false if that cannot be
// told.
func (f *fn) exits(l *Loop) bool {
	own := labelsIn(l.Stmt)
	if l.Label != "" {
		own[l.Label] = true
	}
	ok := true
	ast.Inspect(l.Stmt, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			l.returns = true
			l.ends = l.ends || len(n.Results) == 0
			if len(n.Results) > 0 && l.Results == nil {
				for r := range f.sigOuter().Results().Variables() {
					l.Results = append(l.Results, r.Type())
					ok = ok && plainValue(r.Type(), nil)
				}
			}
		case *ast.BranchStmt:
			if n.Label != nil && (!own[n.Label.Name] || n.Tok == token.GOTO && n.Label.Name == l.Label) {
				l.Exits = append(l.Exits, n)
			}
		}
		return true
	})
	return ok
}

// loopVars finds the variables of the function around that a loop uses. It is false if
// one is made again for each iteration.
func (f *fn) loopVars(e *osrEntry) bool {
	var first ast.Stmt
	if s, ok := e.Stmt.(*ast.ForStmt); ok {
		first = s.Init
	}
	set := make(map[types.Object]bool)
	assign := func(x ast.Expr) {
		if x != nil {
			if o := f.rootOf(x); o != nil {
				set[o] = true
			}
		}
	}
	var list []*types.Var
	ok := true
	ast.Inspect(e.Stmt, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				assign(x)
			}
		case *ast.IncDecStmt:
			assign(n.X)
		case *ast.RangeStmt:
			assign(n.Key)
			assign(n.Value)
		case *ast.Ident:
			o, is := f.info.Uses[n].(*types.Var)
			if !is || o.IsField() || o.Pkg() == nil || isPackageLevel(o) || slices.Contains(list, o) {
				return true
			}
			in := func(s ast.Node) bool { return o.Pos() >= s.Pos() && o.Pos() < s.End() }
			if in(e.Stmt) && (first == nil || !in(first)) {
				return true
			}
			if _, fun := o.Type().Underlying().(*types.Signature); fun {
				ok = false
			}
			list = append(list, o)
		}
		return ok
	})
	if !ok {
		return false
	}
	for _, o := range list {
		v := f.find(o)
		if v == nil {
			return false
		}
		x := v.value()
		switch {
		case v.boxed && first != nil && o.Pos() >= first.Pos() && o.Pos() < first.End():
			return false
		case v.boxed:
			x = v.pointer()
		case set[o]:
			e.to = append(e.to, x)
		}
		e.from = append(e.from, x)
		e.Vars = append(e.Vars, LoopVar{o, v.boxed, set[o] && !v.boxed})
	}
	return true
}

// rootOf is the variable that an assignment changes, wholly or in part.
func (f *fn) rootOf(e ast.Expr) types.Object { return (&analysis{f: f}).root(e) }

// enter writes what goes on with a loop elsewhere.
func (e *osrEntry) enter(f *fn) {
	f.at(e.Stmt) // which is where it is as long as that takes
	f.emit("%s = %s", e.to, call(nil, f.l.hostName("rt", LoopSymbol(e.number), nil), e.from...))
}

// around writes a loop that can go on elsewhere, what it does there first. first is its
// last state before the first iteration; nil: that is a variable already.
func (f *fn) around(e *osrEntry, first *expr, loop func()) {
	if e == nil {
		loop()
		return
	}
	f.begins(e, first)
	f.inside(e, loop)
}

// begins goes on elsewhere with a loop before its first iteration.
func (f *fn) begins(e *osrEntry, first *expr) {
	for _, v := range append([]*expr{e.how}, e.values...) {
		if f.hoist(v.text, v.typ) {
			if v == e.how {
				f.emit("%s = 0", v)
			}
		} else {
			f.emit("var %s %s", v, f.l.rep(v.typ))
			f.emit("_ = %s", v)
		}
	}
	f.emit("if loops[%d] {", e.number)
	if from := e.from; first != nil {
		e.from = append(from[:len(from)-1:len(from)-1], first)
		e.enter(f)
		e.from = from
	} else {
		e.enter(f)
	}
	f.emit("}")
}

// inside writes the loop, and what is after it.
func (f *fn) inside(e *osrEntry, loop func()) {
	f.emit("if %s == %d {", e.how, loopGoesOn)
	f.entries = append(f.entries, e)
	loop()
	f.entries = f.entries[:len(f.entries)-1]
	f.emit("}")
	f.leaves(e)
}

// leaves does what a compiled loop ended with.
func (f *fn) leaves(e *osrEntry) {
	if e.ends {
		f.emit("if %s == %d {", e.how, loopEnds)
		f.leave(f.returnPlaces())
		f.emit("}")
	}
	if len(e.Results) > 0 {
		f.emit("if %s == %d {", e.how, loopReturns)
		if dest := f.returnPlaces(); dest == nil {
			f.returns(e.values)
		} else {
			for i, x := range e.values {
				f.emit("%s = %s", dest[i].value(), x)
			}
			f.leave(dest)
		}
		f.emit("}")
	}
	for i, s := range e.Exits {
		f.emit("if %s == %d {", e.how, loopBranch+i)
		f.branch(s)
		f.emit("}")
	}
}

// pollLoop is poll at the head of an iteration of a loop, which can go on elsewhere from there.
func (f *fn) pollLoop(n ast.Node, e *osrEntry) {
	if e == nil {
		if number, is := f.uncompiled(n); is {
			f.emit("if stop { %s(%d); %s(%d) }", f.l.sym("Check"), f.position(n), f.l.sym("Uncompiled"), number)
		} else {
			f.poll(n)
		}
		return
	}
	f.emit("if stop {")
	f.emit("%s(%d)", f.l.sym("Check"), f.position(n))
	e.enter(f)
	f.emit("if %s != %d { break }", e.how, loopGoesOn)
	f.emit("}")
}

// LoopSymbol is the function of package rt that goes on with a loop.
func LoopSymbol(number int) string { return fmt.Sprintf("Loop%d", number) }
