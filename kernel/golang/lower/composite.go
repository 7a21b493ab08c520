package lower

import (
	"go/ast"
	"go/constant"
	"go/types"
)

// composite lowers a composite literal.
func (f *fn) composite(e *ast.CompositeLit, t types.Type) *expr {
	if p, ok := t.Underlying().(*types.Pointer); ok { // an elided &T in the literal of a slice or map
		return typed(f.addressLit(e, p.Elem()), t)
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return f.structLit(e, t, u)
	case *types.Slice:
		return f.listLit(e, t, u.Elem())
	case *types.Array:
		return f.listLit(e, t, u.Elem())
	case *types.Map:
		return f.early(func() *expr { return f.mapLit(e, t, u) })
	}
	panic(f.bug(e, "cannot lower this literal"))
}

// mapLit lowers a literal of a map.
func (f *fn) mapLit(e *ast.CompositeLit, t types.Type, u *types.Map) *expr {
	p := make([]*expr, 0, 2*len(e.Elts))
	runs := f.runs(e)
	for _, x := range e.Elts { // one entry is made after another
		kv := x.(*ast.KeyValueExpr)
		entry := f.exprs(func() *expr {
			k := f.litValue(kv.Key, u.Key())
			if types.IsInterface(u.Key()) {
				k = f.spillAlways(k) // the interpreter takes constants of different types for equal
			}
			return k
		}, func() *expr { return f.mapped(kv.Value, f.litValue(kv.Value, u.Elem())) })
		for i, x := range entry {
			if runs && (x.observes() || x.acts()) {
				entry[i] = f.holdAs(effect, x)
			}
		}
		p = append(p, entry...)
	}
	x := node(opComposite, f.l.rep(t), t)
	for i := 0; i < len(p); i += 2 {
		x.args = append(x.args, node(opPair, "", nil, p[i], p[i+1]))
	}
	return x
}

// addressLit is a pointer to a new variable with a literal of type t.
func (f *fn) addressLit(e *ast.CompositeLit, t types.Type) *expr {
	x := f.composite(e, t)
	if f.l.isTwin(t) {
		return address(x)
	}
	return f.pointerTo(x)
}

// litValue lowers an element of a literal, whose type can be left out.
func (f *fn) litValue(e ast.Expr, t types.Type) *expr {
	if c, ok := e.(*ast.CompositeLit); ok && c.Type == nil {
		return f.composite(c, f.l.subst(t, f.env))
	}
	return f.to(e, t)
}

func (f *fn) listLit(e *ast.CompositeLit, t, elem types.Type) *expr {
	var list []lowering
	var keys []int64
	next := int64(0)
	ordered := true
	for _, x := range e.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			next, _ = constant.Int64Val(constant.ToInt(f.info.Types[kv.Key].Value))
			x = kv.Value
		}
		ordered = ordered && next == int64(len(keys))
		keys = append(keys, next)
		next++
		list = append(list, func() *expr { return f.listed(f.litValue(x, elem)) })
	}
	p := f.exprs(list...)
	f.settleList(p, 0)
	if !ordered {
		for i, x := range p {
			p[i] = node(opPair, "", nil, intLiteral(keys[i]), x)
		}
	}
	return node(opComposite, f.l.rep(t), t, p...)
}

// listed is an element of a list, which the interpreter looks at before it knows
// the types of variables: it fails to find the type of some.
func (f *fn) listed(x *expr) *expr {
	_, basic := x.typ.Underlying().(*types.Basic)
	switch {
	case basic && (x.bracketed() || !x.plainType()):
		return node(opConvert, f.l.rep(x.typ), x.typ, x)
	case !x.plainType():
		return f.hold(x)
	}
	return x
}

// settleList puts elements of a list, which begin at first, into temporaries, of which
// the interpreter may not find the type where statements stand before the list; and the
// calls that come before.
func (f *fn) settleList(list []*expr, first int) {
	last := -1
	for i, x := range list {
		if i >= first && f.unsettled(x) {
			last = i
		}
	}
	for i, x := range list[:last+1] {
		if x.acts() || i >= first && f.unsettled(x) {
			list[i] = f.hold(x)
		}
	}
}

func (f *fn) unsettled(x *expr) bool {
	_, basic := x.typ.Underlying().(*types.Basic)
	return !basic && !f.l.isAny(x.typ) && x.observes()
}

func (f *fn) structLit(e *ast.CompositeLit, t types.Type, u *types.Struct) *expr {
	names := make([]string, len(e.Elts))
	list := make([]lowering, len(e.Elts))
	for i, x := range e.Elts {
		k := i
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			x = kv.Value
			for j := range u.NumFields() {
				if u.Field(j).Name() == kv.Key.(*ast.Ident).Name {
					k = j
				}
			}
		}
		names[i] = f.fieldName(t, u, k)
		list[i] = func() *expr {
			f.keeps(x)
			return f.litValue(x, u.Field(k).Type())
		}
	}
	x := node(opComposite, f.l.rep(t), t)
	for i, v := range f.exprs(list...) {
		if names[i] == "_" {
			f.emit("_ = %s", v)
			continue
		}
		x.args = append(x.args, node(opPair, "", nil, ident(names[i], nil), v))
	}
	return x
}

// fieldName is the name in lowered code of a field of u, which underlies t.
func (f *fn) fieldName(t types.Type, u *types.Struct, i int) string {
	if n, ok := types.Unalias(t).(*types.Named); ok && f.l.isHost(n) {
		return u.Field(i).Name()
	}
	return f.l.fieldName(u, i)
}
