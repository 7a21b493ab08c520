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

// appended evaluates the map and the key of m[k] = append(m[k], f()) before the call, as
// Go's compiler does, which looks the element up once.
func (f *fn) appended(lhs, rhs ast.Expr) (ast.Expr, ast.Expr) {
	c, ok := ast.Unparen(rhs).(*ast.CallExpr)
	if !ok || !isMapIndex(f, lhs) || !f.info.Types[ast.Unparen(c.Fun)].IsBuiltin() || calledName(c.Fun).Name != "append" || !f.runs(rhs) ||
		f.callsOrReceives(lhs) || types.ExprString(ast.Unparen(lhs)) != types.ExprString(ast.Unparen(c.Args[0])) {
		return lhs, rhs
	}
	element := ast.Unparen(lhs).(*ast.IndexExpr)
	key := coreType(f.typeOf(element.X)).(*types.Map).Key()
	again := f.withParts(lhs, func(part ast.Expr) ast.Expr {
		switch {
		case f.isCheap(part) && (part != element.Index || f.info.Types[part].Value != nil || isKeyAsItIs(key)):
			return part
		case part == element.Index:
			return f.rawOf(part, nil, f.hold(f.to(part, key)))
		}
		return f.rawOf(part, nil, f.hold(f.expr(part)))
	})
	call := *c
	call.Args = slices.Concat([]ast.Expr{again}, c.Args[1:])
	f.info.Types[&call] = f.info.Types[c]
	return again, &call
}

// isKeyAsItIs says whether the functions for maps take a key of a type without a conversion.
func isKeyAsItIs(key types.Type) bool {
	switch b, ok := key.Underlying().(*types.Basic); {
	case !ok:
		_, isChan := key.Underlying().(*types.Chan)
		return !isChan && !isPointer(key)
	case b.Info()&types.IsInteger != 0 && sizes.Sizeof(b) < 4, b.Info()&(types.IsBoolean|types.IsFloat|types.IsComplex) != 0:
		return true
	}
	return slices.ContainsFunc([]types.BasicKind{types.String, types.Uint32, types.Uint64, types.UnsafePointer}, func(k types.BasicKind) bool { return types.Identical(key, types.Typ[k]) })
}

func (f *fn) assignOne(lhs, rhs ast.Expr) {
	if id, ok := ast.Unparen(lhs).(*ast.Ident); ok && id.Name == "_" {
		if f.isNil(rhs) {
			return
		}
		f.evaluate(rhs)
		return
	}
	if _, field := ast.Unparen(lhs).(*ast.SelectorExpr); field {
		f.keeps(rhs)
	}
	lhs, rhs = f.appended(lhs, rhs)
	if f.runs(lhs) || f.runs(rhs) && (f.follows(lhs, rhs) || f.writesShared(lhs)) {
		// The calls of the left side come first, then those of the right, which may
		// change what is indexed.
		lhs = f.callsFirst(lhs)
		x := f.hold(f.to(rhs, f.typeOf(lhs)))
		f.target(lhs).store(f, x)
		return
	}
	if f.hasOperand(lhs) && f.mayPanic(rhs) {
		lhs, rhs = f.callsFirst(lhs), f.callsFirst(rhs)
		lhs = f.operandsFirst(lhs)
	}
	var dst storage
	found := f.captured(func() { dst = f.target(lhs) })
	x := f.settled(f.to(rhs, dst.typ()))
	if isMapIndex(f, lhs) {
		x = f.mapped(rhs, x)
	}
	if len(found) > 0 && (f.runs(rhs) || x.panicsLate()) { // before the place's check
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
			found = found || f.info.Types[n].Value == nil && !tv.IsType() && !(tv.IsBuiltin() && but(calledName(n.Fun)))
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
	if x, ok := ast.Unparen(e).(*ast.IndexExpr); ok && isMapIndex(f, x) && f.isEarlyKey(x.Index, coreType(f.typeOf(x.X)).(*types.Map)) {
		return f.withParts(e, func(part ast.Expr) ast.Expr {
			if part == x.Index {
				return f.rawOf(part, nil, f.holdAs(effect, f.to(part, coreType(f.typeOf(x.X)).(*types.Map).Key())))
			}
			return f.callsFirst(part)
		})
	}
	if again := f.withParts(e, f.callsFirst); again != nil {
		return again
	}
	var x *expr
	pre := f.captured(func() { x = f.expr(e) })
	x, pre = f.afterCalls(pre, x)
	return f.rawOf(e, pre, x)
}

// withParts is a place with others for what it is a part of, and for its index; nil if it
// is no place.
func (f *fn) withParts(e ast.Expr, other func(ast.Expr) ast.Expr) ast.Expr {
	var again ast.Expr
	switch x := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		if sel := f.info.Selections[x]; sel != nil && sel.Kind() == types.FieldVal {
			y := &ast.SelectorExpr{X: other(x.X), Sel: x.Sel}
			f.info.Selections[y] = sel
			again = y
		}
	case *ast.IndexExpr:
		y := &ast.IndexExpr{X: other(x.X)}
		y.Index = other(x.Index)
		again = y
	case *ast.StarExpr:
		again = &ast.StarExpr{Star: x.Star, X: other(x.X)}
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			again = &ast.UnaryExpr{OpPos: x.OpPos, Op: x.Op, X: other(x.X)}
		}
	}
	if again != nil {
		f.info.Types[again] = f.info.Types[ast.Unparen(e)]
	}
	return again
}

// operandsFirst evaluates what panics in a place, but for the places that it is made of:
// Go's compiler does so before the value (safeExpr in cmd/compile/internal/walk).
func (f *fn) operandsFirst(e ast.Expr) ast.Expr {
	if !f.hasOperand(e) {
		return e
	}
	if again := f.withParts(e, f.operandsFirst); again != nil {
		return again
	}
	return f.rawOf(e, nil, f.hold(f.expr(e)))
}

// hasOperand says whether a place has something that may panic and is no place.
func (f *fn) hasOperand(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		return false
	case *ast.SelectorExpr:
		return f.info.Selections[x] != nil && f.hasOperand(x.X)
	case *ast.IndexExpr:
		return !isMapIndex(f, x) && (f.hasOperand(x.X) || f.hasOperand(x.Index))
	case *ast.StarExpr:
		return f.hasOperand(x.X)
	case *ast.BadExpr:
		r := f.shared.raw[x]
		return r.x.panicsLate() || r.needs.hasCheck()
	}
	return f.mayPanic(e)
}

func (f *fn) mayPanic(e ast.Expr) bool {
	panics, indexes := f.canPanic(e)
	return panics || indexes
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
	values, late := f.heldBefore(lhs, s.Rhs, list)
	for i, d := range f.pinnedAll(lhs) {
		f.add(late[i])
		if values[i].panicsLate() {
			values[i] = f.hold(values[i])
		}
		d.store(f, values[i])
	}
}

// heldBefore keeps values before the first place is set, but for those that may panic and
// that the places before theirs do not change: Go's compiler evaluates these when it has
// set those, and late is what they need. Its rule is in cmd/compile/internal/walk/assign.go,
// ascompatee.
func (f *fn) heldBefore(lhs, rhs []ast.Expr, list []lowering) (values []*expr, late []code) {
	pres := make([]code, len(list))
	late = make([]code, len(list))
	apart := f.mayPanic(rhs[0]) && slices.ContainsFunc(rhs[1:], f.mayPanic)
	if apart {
		for i, one := range list {
			var x *expr
			pre := f.captured(func() { x = one() })
			apart = apart && !pre.acts() && !x.acts() && !x.copies() && !slices.ContainsFunc(pre, func(s stmt) bool { return s.early })
			pres[i], values = pre, append(values, x)
			list[i] = func() *expr { f.add(pre); return x }
		}
	}
	if !apart {
		values, pres = f.exprs(list...), make([]code, len(list))
	}
	owner, defers := f, f.frameBody()
	if defers {
		owner = f.parent
	}
	set := make(map[string]bool) // local variables that are set by then, or that closures have
	if !owner.called {           // or Go's compiler makes parameters of them
		for _, v := range owner.caps {
			set[v.name] = true
		}
	}
	all := false
	for i, x := range values {
		switch {
		case apart && i == 0: // nothing is set before
			late[i] = pres[i]
		case i == 0 || all || !x.panicsLate() || x.changes(set):
			f.add(pres[i])
			values[i] = f.hold(x)
		default:
			late[i], values[i] = pres[i], f.withoutCalls(x)
		}
		if id, ok := ast.Unparen(lhs[i]).(*ast.Ident); ok {
			if name := f.place(id).variable(); name != "" {
				set[name] = true
			}
			all = all || defers && slices.Contains(owner.results, f.find(f.info.ObjectOf(id))) // which deferred calls see
		}
	}
	return values, late
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
