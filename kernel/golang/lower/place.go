package lower

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
)

// address writes &e.
func (f *fn) address(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		t := f.typeOf(e)
		text := f.composite(e, t)
		if f.l.isTwin(t) {
			return "&" + text
		}
		p := f.temp()
		f.emit("%s := new(%s)", p, f.l.slot(t))
		f.emit("*%s = %s", p, f.settled(f.intoSlot(text, t), t))
		return p
	case *ast.StarExpr:
		return f.nonNil(e)
	case *ast.Ident:
		if o, ok := f.info.ObjectOf(e).(*types.Var); ok {
			if v := f.find(o); v != nil {
				if v.boxed {
					return v.name
				}
				return "&" + v.name
			}
			return "&" + f.globalPlace(o)
		}
	case *ast.SelectorExpr:
		return f.fieldAddress(e)
	}
	return "&" + f.place(e)
}

// nonNil is &*p: p, but for nil, where Go panics.
func (f *fn) nonNil(e *ast.StarExpr) string {
	p := f.spillAlways(f.expr(e.X))
	f.emit("if %s == nil { %s() }", p, f.l.sym("NilMethod"))
	return p
}

// mapped is the value of a map's element: what a nil pointer points to would
// delete the element.
func (f *fn) mapped(e ast.Expr, text, rep string) string {
	if _, ok := ast.Unparen(e).(*ast.StarExpr); ok {
		return f.hold(text, rep)
	}
	return text
}

// place writes an expression that can be assigned to: a slot.
func (f *fn) place(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if e.Name == "_" {
			return "_"
		}
		o := f.info.ObjectOf(e).(*types.Var)
		if v := f.find(o); v != nil {
			return v.text()
		}
		return f.globalPlace(o)
	case *ast.StarExpr:
		return "(*" + f.expr(e.X) + ")"
	case *ast.IndexExpr:
		return f.element(e)
	case *ast.SelectorExpr:
		return f.fieldPlace(e)
	}
	return f.expr(e)
}

func (f *fn) index(e *ast.IndexExpr) string {
	if tv, ok := f.info.Types[e.X]; ok && !tv.IsType() {
		if _, isFunc := tv.Type.Underlying().(*types.Signature); isFunc {
			return f.funcValue(e)
		}
	} else {
		return f.funcValue(e)
	}
	return f.fromSlot(f.element(e), f.typeOf(e))
}

// element writes x[i] as a slot.
func (f *fn) element(e *ast.IndexExpr) string {
	t := f.typeOf(e.X).Underlying()
	if m, ok := t.(*types.Map); ok {
		p := f.exprs(func() string { return f.expr(e.X) }, func() string { return f.toSlot(e.Index, m.Key()) })
		return p[0] + "[" + p[1] + "]"
	}
	p := f.operands(f.inPlace(e.X), func() string { return f.elementBase(e.X) }, func() string { return f.indexValue(e.Index) })
	if _, ok := t.(*types.Pointer); ok {
		p[0] = "(*" + p[0] + ")"
	}
	return f.guardedIndex(p[0], p[1], e)
}

// inPlace says whether elements and slices of e are those of a variable: an
// array that can be addressed.
func (f *fn) inPlace(e ast.Expr) bool {
	_, array := f.typeOf(e).Underlying().(*types.Array)
	return array && f.info.Types[e].Addressable()
}

// elementBase is what elements or a slice are wanted of: in place where it can be.
func (f *fn) elementBase(e ast.Expr) string {
	if f.inPlace(e) {
		return f.place(e)
	}
	return f.expr(e)
}

func (f *fn) indexValue(e ast.Expr) string {
	if tv := f.info.Types[e]; tv.Value != nil {
		return constant.ToInt(tv.Value).ExactString()
	}
	text := f.expr(e)
	if r := f.l.rep(f.typeOf(e)); r != "int" {
		return "int(" + text + ")"
	}
	return text
}

func (f *fn) slice(e *ast.SliceExpr) string {
	t := f.typeOf(e.X)
	list := []func() string{func() string {
		if isPointer(t) {
			return "(*" + f.expr(e.X) + ")"
		}
		return f.elementBase(e.X)
	}}
	for _, b := range []ast.Expr{e.Low, e.High, e.Max} {
		list = append(list, func() string {
			if b == nil {
				return ""
			}
			return f.indexValue(b)
		})
	}
	inPlace := isPointer(t) || f.inPlace(e.X)
	p := f.operands(inPlace, list...)
	if !inPlace {
		p[0] = f.held(p[0], f.l.rep(t))
	}
	for i, b := range []ast.Expr{e.Low, e.High, e.Max} {
		if b != nil && f.info.Types[b].Value == nil {
			p[i+1] = f.held(p[i+1], "int")
		}
	}
	f.guardSlice(e, p[0], p[1:])
	if e.Slice3 {
		if p[1] == "" {
			p[1] = "0"
		}
		return fmt.Sprintf("%s[%s:%s:%s]", p[0], p[1], p[2], p[3])
	}
	return fmt.Sprintf("%s[%s:%s]", p[0], p[1], p[2])
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
			return storage{place: f.l.fieldText(f.fieldOf(x, true)), typ: t, into: into}
		}
	}
	return storage{place: f.place(e), typ: t, into: into}
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
		base = f.pin(f.elementBase(f.pinPath(ix.X)))
	case *types.Pointer:
		base = "(*" + f.hold(f.expr(ix.X), f.l.rep(tx)) + ")"
	default:
		base = f.hold(f.expr(ix.X), f.l.rep(tx))
	}
	g, base, key := f.indexGuard(base, f.pinIndex(ix.Index), ix)
	return storage{base + "[" + key + "]", t, into, f.guardText(g)}
}

// pinPath keeps the pointer or the element that a path of fields starts from.
func (f *fn) pinPath(e ast.Expr) ast.Expr {
	switch x := ast.Unparen(e).(type) {
	case *ast.StarExpr:
		return f.raw("(*"+f.spillAlways(f.expr(x.X))+")", f.typeOf(x))
	case *ast.IndexExpr:
		if !isMapIndex(f, x) {
			return f.raw(f.pin(f.place(x)), f.typeOf(x))
		}
	}
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

func (f *fn) pinIndex(e ast.Expr) string {
	text := f.indexValue(e)
	if tv := f.info.Types[e]; tv.Value != nil {
		return text
	}
	return f.hold(text, "int")
}
