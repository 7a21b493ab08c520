package lower

import (
	"go/ast"
	"go/token"
	"go/types"
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
