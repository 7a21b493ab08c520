package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

func (f *fn) block(list []ast.Stmt) {
	for _, s := range list {
		f.stmt(s)
	}
}

func (f *fn) braces(list []ast.Stmt) {
	f.emit("{")
	f.block(list)
	f.emit("}")
}

// captured runs a step with its own output, and returns that.
func (f *fn) captured(step func()) string {
	outer := f.out
	f.out = new(strings.Builder)
	step()
	text := f.out.String()
	f.out = outer
	return text
}

func (f *fn) stmt(s ast.Stmt) {
	switch s.(type) {
	case *ast.BlockStmt, *ast.LabeledStmt, *ast.EmptyStmt, *ast.DeclStmt, *ast.BranchStmt, *ast.ForStmt, *ast.SelectStmt:
	default:
		f.positioned(s, func() { f.statement(s) })
		return
	}
	f.statement(s)
}

// positioned lowers a node and notes, if it can panic, that execution is there.
func (f *fn) positioned(n ast.Node, step func()) {
	f.where = f.position(n)
	panics, indexes := f.canPanic(n)
	if panics {
		f.at(n)
	}
	if panics || !indexes {
		step()
		return
	}
	outer := f.unchecked
	f.unchecked = false
	text := f.captured(step)
	if f.unchecked {
		f.at(n)
	}
	f.out.WriteString(text)
	f.unchecked = f.unchecked || outer
}

func (f *fn) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.EmptyStmt:
		if fun := f.l.starts[s]; fun != "" {
			f.where = 0
			f.calls(fun)
			f.emit("%s()", fun)
		}
	case *ast.BlockStmt:
		f.braces(s.List)
	case *ast.ExprStmt:
		f.exprStmt(s)
	case *ast.AssignStmt:
		f.assign(s)
	case *ast.IncDecStmt:
		f.incDec(s)
	case *ast.DeclStmt:
		f.declStmt(s)
	case *ast.ReturnStmt:
		f.returnStmt(s)
	case *ast.IfStmt:
		f.ifStmt(s)
	case *ast.ForStmt:
		f.forStmt(s, "")
	case *ast.RangeStmt:
		f.rangeStmt(s, "")
	case *ast.SwitchStmt:
		f.switchStmt(s, "")
	case *ast.TypeSwitchStmt:
		f.typeSwitch(s, "")
	case *ast.SelectStmt:
		f.selectStmt(s, "")
	case *ast.LabeledStmt:
		f.labeled(s)
	case *ast.BranchStmt:
		f.branch(s)
	case *ast.SendStmt:
		t := coreType(f.typeOf(s.Chan)).(*types.Chan)
		p := f.exprs(func() string { return f.expr(s.Chan) }, func() string { return f.toSlot(s.Value, t.Elem()) })
		f.emit("%s <- %s", p[0], p[1])
		f.pollBlocked()
	case *ast.GoStmt:
		f.emit("%s(%s)", f.l.sym("Go"), f.thunk(s.Call))
	case *ast.DeferStmt:
		f.deferStmt(s)
	default:
		panic(f.bug(s, "cannot lower this statement"))
	}
}

func (f *fn) exprStmt(s *ast.ExprStmt) {
	if f.top && f.topStmt(s) {
		return
	}
	e := ast.Unparen(s.X)
	switch e := e.(type) {
	case *ast.CallExpr:
		tv := f.info.Types[ast.Unparen(e.Fun)]
		if tv.IsType() {
			f.emit("_ = %s", f.expr(e))
			return
		}
		text := f.call(e)
		if tv.IsBuiltin() {
			name := calledName(e.Fun).Name
			if name == "copy" || name == "recover" {
				f.emit("_ = %s", text)
				return
			}
			if name == "min" || name == "max" || name == "len" || name == "cap" || name == "append" || name == "new" || name == "make" {
				f.emit("_ = %s", text)
				return
			}
		}
		f.emit("%s", text)
		f.pollAfter(e)
	case *ast.UnaryExpr:
		if e.Op == token.ARROW {
			f.emit("<-%s", f.expr(e.X))
			f.pollBlocked()
			return
		}
		f.emit("_ = %s", f.expr(e))
	default:
		f.emit("_ = %s", f.expr(e))
	}
}

// pollAfter lets an interrupt in after a call that may have blocked.
func (f *fn) pollAfter(e *ast.CallExpr) {
	if id := calledName(e.Fun); id != nil {
		if o, ok := f.info.Uses[id].(*types.Func); ok && o.Pkg() != nil && f.l.hostPkg(o.Pkg()) && f.l.declOf(o.Origin()) == nil {
			if o.Pkg().Path() != "fmt" {
				f.pollBlocked()
			}
		}
	}
}

// storage is a place with what has to be done to a value that goes there.
type storage struct {
	place string
	typ   types.Type
	into  func(value string) string
	guard string // a check that comes just before
}

func (s storage) store(f *fn, value string) {
	if s.place == "_" {
		f.emit("_ = %s", value)
		return
	}
	f.out.WriteString(s.guard)
	f.emit("%s = %s", s.place, s.into(value))
}

// target finds where an assignment goes. Its operands are evaluated now.
func (f *fn) target(e ast.Expr) storage {
	e = ast.Unparen(e)
	if id, ok := e.(*ast.Ident); ok && id.Name == "_" {
		return storage{place: "_", into: func(v string) string { return v }}
	}
	t := f.typeOf(e)
	into := func(v string) string { return f.intoSlot(v, t) }
	switch x := e.(type) {
	case *ast.SelectorExpr:
		if f.info.Selections[x] != nil {
			fld := f.fieldOf(x, true)
			if !fld.host {
				into = func(v string) string { return f.intoField(v, fld.s, fld.i) }
			}
			return storage{place: f.l.fieldText(fld), typ: t, into: into}
		}
	}
	return storage{place: f.place(e), typ: t, into: into}
}

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
	var dst storage
	if hasCall(rhs) && hasIndex(lhs) && !hasCall(lhs) {
		// The call may change what is indexed.
		t := f.typeOf(lhs)
		value := f.hold(f.to(rhs, t), f.l.rep(t))
		f.target(lhs).store(f, value)
		return
	}
	pre := f.captured(func() {
		if hasCall(rhs) {
			f.withoutGuards(func() { dst = f.target(lhs) })
			return
		}
		dst = f.target(lhs)
	})
	var value string
	mid := f.captured(func() {
		value = f.settled(f.to(rhs, dst.typ), dst.typ)
		if isMapIndex(f, lhs) {
			value = f.mapped(rhs, value, f.l.rep(dst.typ))
		}
	})
	f.out.WriteString(pre)
	f.out.WriteString(mid)
	dst.store(f, value)
}

func (f *fn) assignMulti(s *ast.AssignStmt) {
	dsts := make([]storage, len(s.Lhs))
	for i, x := range s.Lhs {
		dsts[i] = f.pinned(x)
	}
	values := f.multi(s.Rhs[0], len(s.Lhs))
	for i, d := range dsts {
		if d.place == "_" {
			continue
		}
		d.store(f, f.convert(values[i], f.partType(s.Rhs[0], i), d.typ))
	}
}

// partType is the type of one value of an expression with several.
func (f *fn) partType(e ast.Expr, i int) types.Type {
	if tup, ok := f.typeOf(e).(*types.Tuple); ok {
		return tup.At(i).Type()
	}
	if i == 0 {
		return f.typeOf(e)
	}
	return types.Typ[types.Bool]
}

func (f *fn) assignParallel(s *ast.AssignStmt) {
	// Operands of the left side and the right side's values come first.
	dsts := make([]storage, len(s.Lhs))
	for i, x := range s.Lhs {
		dsts[i] = f.pinned(x)
	}
	values := make([]string, len(s.Rhs))
	for i, x := range s.Rhs {
		t := dsts[i].typ
		if t == nil {
			t = types.Default(f.typeOf(x))
		}
		text := f.to(x, t)
		values[i] = f.hold(text, f.l.rep(t))
	}
	for i, d := range dsts {
		d.store(f, values[i])
	}
}

// pinned is target with its operands kept from later changes.
func (f *fn) pinned(e ast.Expr) storage {
	e = ast.Unparen(e)
	ix, ok := e.(*ast.IndexExpr)
	if !ok {
		if star, ok := e.(*ast.StarExpr); ok {
			t := f.typeOf(e)
			p := f.spillAlways(f.expr(star.X))
			return storage{place: "(*" + p + ")", typ: t, into: func(v string) string { return f.intoSlot(v, t) }}
		}
		return f.target(f.pinPath(e))
	}
	t := f.typeOf(e)
	into := func(v string) string { return f.intoSlot(v, t) }
	var base, key string
	tx := f.typeOf(ix.X)
	switch u := tx.Underlying().(type) {
	case *types.Map:
		base = f.hold(f.expr(ix.X), f.l.rep(tx))
		key = f.hold(f.toSlot(ix.Index, u.Key()), f.l.slot(u.Key()))
		return storage{place: base + "[" + key + "]", typ: t, into: into}
	case *types.Array:
		base = f.elementBase(ix.X)
	case *types.Pointer:
		base = "(*" + f.hold(f.expr(ix.X), f.l.rep(tx)) + ")"
	default:
		base = f.hold(f.expr(ix.X), f.l.rep(tx))
	}
	g, base, key := f.indexGuard(base, f.pinIndex(ix.Index), ix)
	return storage{base + "[" + key + "]", t, into, f.guardText(g)}
}

// pinPath keeps the pointer that a path of fields starts from.
func (f *fn) pinPath(e ast.Expr) ast.Expr {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok || f.info.Selections[sel] == nil {
		return e
	}
	again := &ast.SelectorExpr{Sel: sel.Sel}
	if t := f.typeOf(sel.X); isPointer(t) {
		again.X = f.raw(f.spillAlways(f.expr(sel.X)), t)
	} else {
		again.X = f.pinPath(sel.X)
	}
	f.info.Selections[again] = f.info.Selections[sel]
	f.info.Types[again] = f.info.Types[sel]
	return again
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

func (f *fn) pinIndex(e ast.Expr) string {
	text := f.indexValue(e)
	if tv := f.info.Types[e]; tv.Value != nil {
		return text
	}
	return f.hold(text, "int")
}

func (f *fn) opAssign(s *ast.AssignStmt) {
	op := strings.TrimSuffix(s.Tok.String(), "=")
	lhs, rhs := s.Lhs[0], s.Rhs[0]
	t := f.typeOf(lhs)
	var dst storage
	if hasCall(lhs) || hasCall(rhs) {
		dst = f.pinned(lhs)
	} else {
		dst = f.target(lhs)
	}
	var value string
	if s.Tok == token.SHL_ASSIGN || s.Tok == token.SHR_ASSIGN {
		value = f.shiftCount(rhs)
	} else {
		value = f.operand(rhs, t)
	}
	if dst.guard != "" {
		if hasCallText(value) {
			value = f.spillAlways(value)
		}
		f.out.WriteString(dst.guard)
	}
	if sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr); ok && f.info.Selections[sel] != nil || isMapIndex(f, lhs) {
		f.emit("%s = %s %s %s", dst.place, dst.place, op, value)
		return
	}
	if dst.place == "_" {
		f.emit("_ = %s", value)
		return
	}
	f.emit("%s %s= %s", dst.place, op, value)
}

func isMapIndex(f *fn, e ast.Expr) bool {
	ix, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok {
		return false
	}
	_, isMap := coreType(f.typeOf(ix.X)).(*types.Map)
	return isMap
}

// hasIndex says whether an expression has an index in it.
func hasIndex(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		_, ok := n.(*ast.IndexExpr)
		found = found || ok
		return !found
	})
	return found
}

func hasCall(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
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
	var dst storage
	if hasCall(s.X) {
		dst = f.pinned(s.X)
	} else {
		dst = f.target(s.X)
	}
	f.out.WriteString(dst.guard)
	f.emit("%s = %s %s 1", dst.place, dst.place, op)
}

// defineStmt is :=.
func (f *fn) defineStmt(s *ast.AssignStmt) {
	isNew := func(e ast.Expr) types.Object {
		if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
			return f.info.Defs[id]
		}
		return nil
	}
	if len(s.Lhs) == len(s.Rhs) {
		if len(s.Lhs) == 1 {
			if o := isNew(s.Lhs[0]); o != nil {
				t := f.l.subst(o.Type(), f.env)
				f.define(o, f.toSlot(s.Rhs[0], t))
			} else {
				f.assignOne(s.Lhs[0], s.Rhs[0])
			}
			return
		}
		values := make([]string, len(s.Rhs))
		for i, x := range s.Rhs {
			t := types.Default(f.typeOf(x))
			if o := isNew(s.Lhs[i]); o != nil {
				t = f.l.subst(o.Type(), f.env)
			} else if id, ok := s.Lhs[i].(*ast.Ident); ok && id.Name != "_" {
				t = f.typeOf(id)
			}
			text := f.to(x, t)
			values[i] = f.hold(text, f.l.rep(t))
		}
		for i, x := range s.Lhs {
			if o := isNew(x); o != nil {
				f.define(o, f.intoSlot(values[i], f.l.subst(o.Type(), f.env)))
			} else {
				f.target(x).store(f, values[i])
			}
		}
		return
	}
	values := f.multi(s.Rhs[0], len(s.Lhs))
	for i, x := range s.Lhs {
		if id, ok := x.(*ast.Ident); ok && id.Name == "_" {
			continue
		}
		from := f.partType(s.Rhs[0], i)
		if o := isNew(x); o != nil {
			t := f.l.subst(o.Type(), f.env)
			f.define(o, f.intoSlot(f.convert(values[i], from, t), t))
		} else {
			d := f.target(x)
			d.store(f, f.convert(values[i], from, d.typ))
		}
	}
}

func (f *fn) declStmt(s *ast.DeclStmt) {
	d, ok := s.Decl.(*ast.GenDecl)
	if !ok || d.Tok != token.VAR {
		return // types and constants are in what the checker knows
	}
	for _, spec := range d.Specs {
		f.at(spec)
		f.varSpec(spec.(*ast.ValueSpec))
	}
}

func (f *fn) varSpec(spec *ast.ValueSpec) {
	typeOf := func(id *ast.Ident) types.Type { return f.l.subst(f.info.Defs[id].Type(), f.env) }
	switch {
	case len(spec.Values) == 0:
		for _, id := range spec.Names {
			if id.Name != "_" {
				f.define(f.info.Defs[id], "")
			}
		}
	case len(spec.Values) == len(spec.Names):
		values := make([]string, len(spec.Names))
		for i, x := range spec.Values {
			id := spec.Names[i]
			if id.Name == "_" {
				if !f.isNil(x) {
					f.evaluate(x)
				}
				continue
			}
			values[i] = f.toSlot(x, typeOf(id))
			if len(values) > 1 {
				values[i] = f.hold(values[i], f.l.slot(typeOf(id)))
			}
		}
		for i, id := range spec.Names {
			if id.Name != "_" {
				f.define(f.info.Defs[id], values[i])
			}
		}
	default:
		values := f.multi(spec.Values[0], len(spec.Names))
		for i, id := range spec.Names {
			if id.Name == "_" {
				continue
			}
			t := typeOf(id)
			f.define(f.info.Defs[id], f.intoSlot(f.convert(values[i], f.partType(spec.Values[0], i), t), t))
		}
	}
}

func (f *fn) resultType(i int) types.Type { return f.sigOuter().Results().At(i).Type() }

// sigOuter is the signature of the function that a return statement leaves.
func (f *fn) sigOuter() *types.Signature {
	for g := f; ; g = g.parent {
		if g.sig != nil {
			return g.sig
		}
	}
}

func (f *fn) returnStmt(s *ast.ReturnStmt) {
	sig := f.sigOuter()
	n := sig.Results().Len()
	dest := f.returnPlaces()
	if len(s.Results) == 0 {
		f.leave(dest)
		return
	}
	var values []string
	if n > 1 && len(s.Results) == 1 {
		tup := f.typeOf(s.Results[0]).(*types.Tuple)
		for i, v := range f.multi(s.Results[0], n) {
			values = append(values, f.intoSlot(f.convert(v, tup.At(i).Type(), sig.Results().At(i).Type()), sig.Results().At(i).Type()))
		}
	} else {
		list := make([]func() string, n)
		for i := range list {
			list[i] = func() string { return f.toSlot(s.Results[i], sig.Results().At(i).Type()) }
		}
		values = f.exprs(list...)
	}
	if dest == nil {
		f.emit("return %s", strings.Join(values, ", "))
		return
	}
	if n == 1 {
		values[0] = f.settled(values[0], sig.Results().At(0).Type())
	} else {
		for i, v := range values {
			values[i] = f.hold(v, f.l.slot(sig.Results().At(i).Type()))
		}
	}
	for i, v := range values {
		f.emit("%s = %s", dest[i].text(), v)
	}
	f.leave(dest)
}

// returnPlaces are the variables that hold the results, or nil if return just
// returns them.
func (f *fn) returnPlaces() []*local {
	for g := f; g != nil; g = g.parent {
		if g.sig == nil {
			continue // the body of a range-over-func loop
		}
		if len(g.results) == 0 {
			return nil
		}
		for _, r := range g.results {
			if f != g {
				f.reach(r, g)
			}
		}
		return g.results
	}
	return nil
}

// leave ends the function, the results being in their places.
func (f *fn) leave(results []*local) {
	if f.yield != nil {
		f.yieldExit(exitReturn, "")
		return
	}
	if f.bare && f.parent != nil && f.frameBody() {
		f.emit("return")
		return
	}
	if len(results) == 0 {
		f.emit("return")
		return
	}
	parts := make([]string, len(results))
	for i, r := range results {
		parts[i] = r.text()
	}
	f.emit("return %s", strings.Join(parts, ", "))
}

// frameBody says whether f is the body that a deferring function gives to rt.Run.
func (f *fn) frameBody() bool { return f.frame != nil && f.parent.frame == f.frame }

func (f *fn) ifStmt(s *ast.IfStmt) {
	if s.Init != nil {
		f.emit("{")
		f.stmt(s.Init)
		defer f.emit("}")
	}
	cond := f.expr(s.Cond)
	f.emit("if %s {", cond)
	f.block(s.Body.List)
	if s.Else == nil {
		f.emit("}")
		return
	}
	f.emit("} else {")
	switch e := s.Else.(type) {
	case *ast.BlockStmt:
		f.block(e.List)
	default:
		f.stmt(e)
	}
	f.emit("}")
}

// deferStmt is defer.
func (f *fn) deferStmt(s *ast.DeferStmt) {
	frame := f.findFrame()
	name := "Defer"
	if f.mayRecover(s.Call) {
		name = "DeferRecover"
	}
	t := f.thunk(s.Call)
	f.emit("%s.%s(%s)", frame, name, t)
}

func (f *fn) findFrame() string {
	for g := f; g != nil; g = g.parent {
		if g.frame != nil && g.parent != nil {
			f.reach(g.frame, g)
			return g.frame.name
		}
	}
	panic(fmt.Errorf("defer outside of a function that defers"))
}

// mayRecover says whether the function that a defer statement calls may call
// recover itself.
func (f *fn) mayRecover(call *ast.CallExpr) bool {
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
		_, recovers, _ := f.scan(lit.Body)
		return recovers
	}
	if f.info.Types[ast.Unparen(call.Fun)].IsBuiltin() {
		return false
	}
	if id := calledName(call.Fun); id != nil {
		if o, ok := f.info.Uses[id].(*types.Func); ok {
			if d := f.l.declOf(o.Origin()); d != nil {
				g := &fn{l: f.l, info: d.Info}
				return d.Func.Body != nil && callsRecover(g.info, d.Func.Body)
			}
		}
	}
	return true
}

func callsRecover(info *types.Info, body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok {
				if b, ok := info.Uses[id].(*types.Builtin); ok && b.Name() == "recover" {
					found = true
				}
			}
		}
		return !found
	})
	return found
}

// thunk makes a func() of a call whose function and arguments are evaluated now.
func (f *fn) thunk(call *ast.CallExpr) string {
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok && len(call.Args) == 0 {
		sig := f.typeOf(lit).Underlying().(*types.Signature)
		if sig.Results().Len() == 0 {
			return f.funcLit(lit)
		}
	}
	g := f.child()
	g.name = f.name
	hold := func(text, rep string) string {
		v := &local{name: f.temp(), rep: rep}
		f.emit("var %s %s = %s", v.name, rep, text)
		g.take(v)
		return v.name
	}
	l := f.l
	fun := ast.Unparen(call.Fun)
	tv := f.info.Types[fun]
	var body string
	switch {
	case tv.IsBuiltin() || tv.IsType():
		body = f.builtinThunk(call, g, hold)
	default:
		text, isSpecial := f.special(call, fun)
		if isSpecial {
			body = text
			break
		}
		c, sig := f.callee(fun)
		var recv func() string
		if c.recv != nil {
			recv = c.recv
		}
		args := f.args(call, sig, recv, c.policy)
		texts := make([]string, len(args))
		for i, a := range args {
			switch {
			case recv != nil && i == 0:
				if s := fun.(*ast.SelectorExpr); types.IsInterface(f.typeOf(s.X)) {
					a = f.spillAlways(a)
					f.emit("if %s == nil { %s() }", a, l.sym("NilMethod"))
				}
				texts[i] = hold(a, f.recvRep(fun.(*ast.SelectorExpr)))
			default:
				j := i
				if recv != nil {
					j--
				}
				dots := ""
				if strings.HasSuffix(a, "...") {
					dots = "..."
					a = strings.TrimSuffix(a, "...")
				}
				var rep string
				last := sig.Params().Len() - 1
				if sig.Variadic() && j >= last {
					pt := sig.Params().At(last).Type()
					rep = l.rep(pt)
					if s, ok := pt.Underlying().(*types.Slice); ok && dots == "" {
						rep = l.slot(s.Elem())
					}
				} else {
					rep = l.slot(sig.Params().At(j).Type())
				}
				texts[i] = hold(a, rep) + dots
			}
		}
		switch {
		case c.bound != nil:
			body = c.bound(texts[0]) + "(" + strings.Join(texts[1:], ", ") + ")"
		default:
			callText := c.text
			if recv == nil {
				if id := calledName(fun); id == nil || !isFunc(f.info.Uses[id]) || f.isMethodExpr(fun) {
					callText = hold(c.text, l.rep(f.typeOf(fun)))
				}
			}
			body = callText + "(" + strings.Join(texts, ", ") + ")"
		}
	}
	return g.factory("()", body+"\n", true)
}

func isFunc(o types.Object) bool {
	_, ok := o.(*types.Func)
	return ok
}

// recvRep is the type of a method call's receiver in lowered code.
func (f *fn) recvRep(sel *ast.SelectorExpr) string {
	c := f.method(f.typeOf(sel.X), f.info.Selections[sel].Obj())
	if c.ptr {
		return "*" + f.l.slot(c.recv)
	}
	if c.pointer && c.host && !c.iface {
		return f.l.rep(c.recv)
	}
	return f.l.rep(c.recv)
}

// builtinThunk evaluates the arguments of a predeclared function now.
func (f *fn) builtinThunk(call *ast.CallExpr, g *fn, hold func(text, rep string) string) string {
	l := f.l
	name := calledName(call.Fun).Name
	arg := func(i int) string {
		t := types.Default(f.typeOf(call.Args[i]))
		return hold(f.to(call.Args[i], t), l.rep(t))
	}
	anyType := types.Universe.Lookup("any").Type()
	switch name {
	case "panic":
		return fmt.Sprintf("%s(%s, %d)", l.sym("Panic"), hold(f.to(call.Args[0], anyType), "any"), f.where)
	case "print", "println":
		text := f.builtin(call)
		open := strings.Index(text, "[]any{")
		list := hold(text[open:strings.LastIndex(text, "...")], "[]any")
		return text[:open] + list + "...)"
	case "close":
		return "close(" + arg(0) + ")"
	case "delete":
		m := f.typeOf(call.Args[0]).Underlying().(*types.Map)
		return l.sym("Delete") + "(any(" + arg(0) + "), any(" + hold(f.toSlot(call.Args[1], m.Key()), l.slot(m.Key())) + "))"
	case "clear":
		return l.sym("Clear") + "(any(" + arg(0) + "))"
	case "copy":
		return "copy(" + arg(0) + ", " + arg(1) + ")"
	case "recover":
		// A deferred recover() stops the panic by itself.
		g.emit("")
		return l.sym("Recovered") + "(" + l.sym("Recoverable") + "())"
	}
	panic(f.bug(call, "cannot defer a call of "+name))
}
