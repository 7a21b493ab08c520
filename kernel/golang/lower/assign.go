package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

func (f *fn) assign(s *ast.AssignStmt) {
	switch {
	case s.Tok == token.DEFINE:
		f.defineStmt(s)
	case s.Tok != token.ASSIGN:
		f.opAssign(s)
	case len(s.Lhs) == 1 && len(s.Rhs) == 1:
		f.assignOne(s.Lhs[0], s.Rhs[0])
	case len(s.Rhs) == 1:
		f.assignMulti(s)
	default:
		f.assignParallel(s)
	}
	for _, x := range s.Rhs {
		if u, ok := ast.Unparen(x).(*ast.UnaryExpr); ok && u.Op == token.ARROW {
			f.pollBlocked()
		}
		if c, ok := ast.Unparen(x).(*ast.CallExpr); ok {
			f.pollAfter(c)
		}
	}
}

func (f *fn) assignOne(lhs, rhs ast.Expr) {
	if id, ok := ast.Unparen(lhs).(*ast.Ident); ok && id.Name == "_" {
		if f.isNil(rhs) {
			return
		}
		f.evaluate(rhs)
		return
	}
	if f.runs(lhs) || f.runs(rhs) && (f.follows(lhs, rhs) || f.writesShared(lhs)) {
		// The calls of the left side come first, then those of the right, which may
		// change what is indexed.
		lhs = f.callsFirst(lhs)
		x := f.hold(f.to(rhs, f.typeOf(lhs)))
		f.target(lhs).store(f, x)
		return
	}
	var dst storage
	var found code
	if f.runs(rhs) {
		f.withoutGuards(func() { dst = f.target(lhs) })
	} else {
		found = f.captured(func() { dst = f.target(lhs) })
	}
	x := f.settled(f.to(rhs, dst.typ()))
	if isMapIndex(f, lhs) {
		x = f.mapped(rhs, x)
	}
	if len(found) > 0 && x.panicsLate() { // before the place's check
		x = f.hold(x)
	}
	f.add(found)
	dst.store(f, x)
}

// runs says whether an expression calls a function or receives: conversions and
// builtins that only compute are no calls.
func (f *fn) runs(e ast.Expr) bool { return f.runsBut(e, computes) }

// runsBut is runs; but says which builtins are no calls.
func (f *fn) runsBut(e ast.Expr, but func(*ast.Ident) bool) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			tv := f.info.Types[ast.Unparen(n.Fun)]
			found = found || !tv.IsType() && !(tv.IsBuiltin() && but(calledName(n.Fun)))
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}

// computes says whether a builtin changes nothing, and does not panic.
func computes(id *ast.Ident) bool {
	return slices.Contains([]string{"len", "cap", "min", "max", "real", "imag", "complex", "new"}, id.Name)
}

// setsNoVariable says whether a builtin sets elements at most.
func setsNoVariable(id *ast.Ident) bool {
	return computes(id) || slices.Contains([]string{"append", "copy", "make"}, id.Name)
}

// callsFirst makes the calls in a place that is assigned to, and leaves the rest of
// it for later, as Go's compiler does.
func (f *fn) callsFirst(e ast.Expr) ast.Expr {
	if !f.hasEarly(e) {
		return e
	}
	var again ast.Expr
	switch x := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		if sel := f.info.Selections[x]; sel != nil && sel.Kind() == types.FieldVal {
			y := &ast.SelectorExpr{X: f.callsFirst(x.X), Sel: x.Sel}
			f.info.Selections[y] = sel
			again = y
		}
	case *ast.IndexExpr:
		y := &ast.IndexExpr{X: f.callsFirst(x.X)}
		if m, ok := f.typeOf(x.X).Underlying().(*types.Map); ok && f.isEarlyKey(x.Index, m) {
			y.Index = f.rawOf(x.Index, nil, f.holdAs(effect, f.to(x.Index, m.Key())))
		} else {
			y.Index = f.callsFirst(x.Index)
		}
		again = y
	case *ast.StarExpr:
		again = &ast.StarExpr{Star: x.Star, X: f.callsFirst(x.X)}
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			again = &ast.UnaryExpr{OpPos: x.OpPos, Op: x.Op, X: f.callsFirst(x.X)}
		}
	}
	if again == nil {
		var x *expr
		pre := f.captured(func() { x = f.expr(e) })
		x, pre = f.afterCalls(pre, x)
		return f.rawOf(e, pre, x)
	}
	f.info.Types[again] = f.info.Types[ast.Unparen(e)]
	return again
}

func (f *fn) allCallsFirst(list []ast.Expr) []ast.Expr {
	out := make([]ast.Expr, len(list))
	for i, e := range list {
		out[i] = f.callsFirst(e)
	}
	return out
}

// set gives a variable, or what else can be assigned to, a value; tok says whether
// it may declare it.
func (f *fn) set(lhs ast.Expr, x *expr, tok token.Token) {
	if lhs == nil || isBlank(lhs) {
		return
	}
	if o := f.defined(lhs); tok == token.DEFINE && o != nil {
		f.define(o, f.convert(x, f.l.subst(o.Type(), f.env)))
		return
	}
	d := f.target(lhs)
	d.store(f, f.convert(x, d.typ()))
}

// pinnedAll finds where the values of an assignment go.
func (f *fn) pinnedAll(lhs []ast.Expr) []storage {
	dsts := make([]storage, len(lhs))
	for i, x := range lhs {
		dsts[i] = f.pinned(x)
	}
	return dsts
}

func (f *fn) assignMulti(s *ast.AssignStmt) {
	lhs := f.allCallsFirst(s.Lhs)
	values := f.multi(s.Rhs[0])
	for i, d := range f.pinnedAll(lhs) {
		if d.typ() != nil {
			d.store(f, f.convert(values[i], d.typ()))
		}
	}
}

func (f *fn) assignParallel(s *ast.AssignStmt) {
	lhs := f.allCallsFirst(s.Lhs)
	list := make([]lowering, len(s.Rhs))
	for i, x := range s.Rhs {
		t := types.Default(f.typeOf(x))
		if !isBlank(lhs[i]) {
			t = f.typeOf(lhs[i])
		}
		list[i] = func() *expr { return f.to(x, t) }
	}
	values := f.heldBefore(lhs, f.exprs(list...))
	for i, d := range f.pinnedAll(lhs) {
		if values[i].panicsLate() {
			values[i] = f.hold(values[i])
		}
		d.store(f, values[i])
	}
}

// heldBefore keeps values before the first place is set, but for those that may panic and
// that the places before theirs do not change: Go's compiler evaluates these when it has
// set those. Its rule is in cmd/compile/internal/walk/assign.go, ascompatee.
func (f *fn) heldBefore(lhs []ast.Expr, values []*expr) []*expr {
	owner, defers := f, f.frameBody()
	if defers {
		owner = f.parent
	}
	set := make(map[string]bool) // local variables that are set by then, or that closures have
	for _, v := range owner.caps {
		set[v.name] = true
	}
	all := false
	for i, x := range values {
		if i == 0 || all || !x.panicsLate() || x.changes(set) {
			values[i] = f.hold(x)
		} else {
			values[i] = f.withoutCalls(x)
		}
		if id, ok := ast.Unparen(lhs[i]).(*ast.Ident); ok {
			set[f.place(id).text] = true
			all = all || defers && slices.Contains(owner.results, f.find(f.info.ObjectOf(id))) // which deferred calls see
		}
	}
	return values
}

func (f *fn) opAssign(s *ast.AssignStmt) {
	op := strings.TrimSuffix(s.Tok.String(), "=")
	lhs, rhs := s.Lhs[0], s.Rhs[0]
	runs := f.runs(rhs) || f.runs(lhs)
	var dst storage
	if runs {
		lhs = f.callsFirst(lhs)
	} else {
		dst = f.targetOf(lhs, rhs)
	}
	var x *expr
	pre := f.captured(func() {
		if s.Tok == token.SHL_ASSIGN || s.Tok == token.SHR_ASSIGN {
			x = f.shiftCount(rhs)
		} else {
			x = f.operand(rhs, f.typeOf(lhs))
		}
		if s.Tok == token.QUO_ASSIGN {
			x = f.divisor(rhs, x)
		}
	})
	var late code
	if runs {
		if id, ok := ast.Unparen(lhs).(*ast.Ident); len(pre) > 0 || x.acts() && !(ok && f.place(id).is(opName, opGlobal)) { // which is read after the calls
			x, late = f.afterCalls(pre, x)
		}
		dst = f.pinned(lhs)
	} else {
		f.add(pre)
		if dst.checks != nil && x.calls() {
			x = f.spillAlways(x)
		}
	}
	if f.mayLackHash(lhs) && (x.calls() || x.panicsLate()) { // before the map
		f.add(late)
		x, late = f.hold(x), nil
	}
	f.add(dst.checks)
	f.add(late)
	if sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr); ok && f.info.Selections[sel] != nil || isMapIndex(f, lhs) {
		f.emit("%s = %s %s %s", dst.place, dst.place, op, x)
		return
	}
	f.emit("%s %s= %s", dst.place, op, x)
}

// targetOf is where an assignment that reads as well goes: pinned, if one of its
// operands calls.
func (f *fn) targetOf(lhs ast.Expr, operands ...ast.Expr) storage {
	if slices.ContainsFunc(append(operands, lhs), func(e ast.Expr) bool { return hasCall(e) }) {
		return f.pinned(lhs)
	}
	return f.target(lhs)
}

func isMapIndex(f *fn, e ast.Expr) bool {
	ix, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok {
		return false
	}
	_, isMap := coreType(f.typeOf(ix.X)).(*types.Map)
	return isMap
}

// follows says whether a place is an element, or behind a pointer: what is assigned may
// change where it is, and comes before the panic if it is nowhere.
func (f *fn) follows(place, assigned ast.Expr) bool {
	changes := func(pointer ast.Expr) bool {
		_, ok := ast.Unparen(pointer).(*ast.Ident)
		return !ok || f.runsBut(assigned, setsNoVariable)
	}
	found := false
	ast.Inspect(place, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			found = true
		case *ast.StarExpr:
			found = found || changes(n.X)
		case *ast.SelectorExpr:
			found = found || f.info.Selections[n] != nil && isPointer(f.typeOf(n.X)) && changes(n.X)
		}
		return !found
	})
	return found
}

// hasCall says whether something calls, or receives.
func hasCall(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}

func (f *fn) incDec(s *ast.IncDecStmt) {
	op := "+"
	if s.Tok == token.DEC {
		op = "-"
	}
	dst := f.targetOf(f.callsFirst(s.X))
	f.add(dst.checks)
	f.emit("%s = %s %s 1", dst.place, dst.place, op)
}

// defineStmt is :=.
func (f *fn) defineStmt(s *ast.AssignStmt) {
	switch {
	case len(s.Lhs) != len(s.Rhs):
		for i, x := range f.multi(s.Rhs[0]) {
			f.set(s.Lhs[i], x, token.DEFINE)
		}
	case len(s.Lhs) == 1:
		if o := f.defined(s.Lhs[0]); o != nil && !isBlank(s.Lhs[0]) {
			f.define(o, f.to(s.Rhs[0], f.l.subst(o.Type(), f.env)))
		} else {
			f.assignOne(s.Lhs[0], s.Rhs[0])
		}
	default:
		list := make([]lowering, len(s.Rhs))
		for i, x := range s.Rhs {
			t := types.Default(f.typeOf(x))
			if o := f.defined(s.Lhs[i]); o != nil {
				t = f.l.subst(o.Type(), f.env)
			} else if !isBlank(s.Lhs[i]) {
				t = f.typeOf(s.Lhs[i])
			}
			list[i] = func() *expr { return f.to(x, t) }
		}
		values := f.together(list)
		for i, x := range s.Lhs {
			if isBlank(x) {
				f.emit("_ = %s", values[i])
			}
			f.set(x, values[i], token.DEFINE)
		}
	}
}

func (f *fn) declStmt(s *ast.DeclStmt) {
	d, ok := s.Decl.(*ast.GenDecl)
	if !ok || d.Tok != token.VAR {
		return // types and constants are in what the checker knows
	}
	for _, spec := range d.Specs {
		f.stop(spec.Pos())
		f.at(spec)
		f.varSpec(spec.(*ast.ValueSpec))
	}
}

func (f *fn) varSpec(spec *ast.ValueSpec) {
	typeOf := func(id *ast.Ident, x ast.Expr) types.Type {
		if o := f.info.Defs[id]; o != nil {
			return f.l.subst(o.Type(), f.env)
		}
		return types.Default(f.typeOf(x))
	}
	switch {
	case len(spec.Values) == 0:
		for _, id := range spec.Names {
			if id.Name != "_" {
				f.define(f.info.Defs[id], nil)
			}
		}
	case len(spec.Values) == len(spec.Names):
		if len(spec.Names) == 1 && spec.Names[0].Name == "_" {
			if x := spec.Values[0]; !f.isNil(x) {
				f.evaluate(x)
			}
			return
		}
		list := make([]lowering, len(spec.Names))
		for i, x := range spec.Values {
			list[i] = func() *expr { return f.to(x, typeOf(spec.Names[i], x)) }
		}
		values := f.together(list)
		for i, id := range spec.Names {
			if id.Name != "_" {
				f.define(f.info.Defs[id], values[i])
			}
		}
	default:
		for i, x := range f.multi(spec.Values[0]) {
			f.set(spec.Names[i], x, token.DEFINE)
		}
	}
}
