package lower

import (
	"go/ast"
	"go/constant"
	"go/types"
)

// address lowers &e.
func (f *fn) address(e ast.Expr) *expr {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return f.addressLit(e, f.typeOf(e))
	case *ast.StarExpr:
		return f.nonNil(e)
	case *ast.Ident:
		if o, ok := f.info.ObjectOf(e).(*types.Var); ok {
			if v := f.find(o); v != nil && v.boxed {
				return v.pointer()
			}
		}
	case *ast.SelectorExpr:
		if f.info.Selections[e] != nil {
			return addressOf(f.fieldOf(e, true))
		}
	}
	return address(f.place(e))
}

// addressOf is a pointer to a field.
func addressOf(x *expr) *expr {
	y := address(x)
	y.paren = true
	return y
}

// nonNil is &*p: p, but for nil, where Go panics.
func (f *fn) nonNil(e *ast.StarExpr) *expr {
	p := f.spillAlways(f.expr(e.X))
	f.nilPanics(p)
	return p
}

// mapped is the value of a map's element: what a nil pointer points to would
// delete the element.
func (f *fn) mapped(e ast.Expr, x *expr) *expr {
	if _, ok := ast.Unparen(e).(*ast.StarExpr); ok {
		return f.hold(x)
	}
	return x
}

// place lowers an expression that can be assigned to.
func (f *fn) place(e ast.Expr) *expr {
	x := f.placeOf(e)
	if x.text != "_" {
		x.typ = f.typeOf(e)
	}
	return x
}

func (f *fn) placeOf(e ast.Expr) *expr {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if e.Name == "_" {
			return ident("_", nil)
		}
		o := f.info.ObjectOf(e).(*types.Var)
		if v := f.find(o); v != nil {
			return v.value()
		}
		return f.globalPlace(o)
	case *ast.StarExpr:
		return deref(f.expr(e.X))
	case *ast.IndexExpr:
		return f.element(e)
	case *ast.SelectorExpr:
		if f.info.Selections[e] == nil {
			return f.globalPlace(f.info.Uses[e.Sel].(*types.Var))
		}
		return f.fieldOf(e, true)
	}
	return f.expr(e)
}

func (f *fn) index(e *ast.IndexExpr) *expr {
	if tv, ok := f.info.Types[e.X]; ok && !tv.IsType() {
		if _, isFunc := tv.Type.Underlying().(*types.Signature); !isFunc {
			x := f.element(e)
			return f.reads(e, x)
		}
	}
	return f.funcValue(e)
}

// element lowers x[i].
func (f *fn) element(e *ast.IndexExpr) *expr {
	t := f.typeOf(e.X).Underlying()
	if m, ok := t.(*types.Map); ok {
		p := f.exprs(func() *expr { return f.expr(e.X) }, func() *expr { return f.mapKey(e.Index, m) })
		x := index(p[0], p[1], m.Elem())
		x.panics = hasInterface(m.Key())
		return x
	}
	p := f.operands(placeIf(f.inPlace(e.X)), func() *expr { return f.elementBase(e.X) }, func() *expr { return f.indexValue(e.Index) })
	if p[0].calls() && f.info.Types[e.Index].Value == nil { // the calls come before the index, and before its check
		if f.inPlace(e.X) {
			p[0] = f.pin(p[0])
		} else {
			p[0] = f.spill(p[0])
		}
	}
	if _, ok := t.(*types.Pointer); ok {
		p[0] = f.pointedTo(p[0])
	}
	g, x := f.indexGuard(p[0], p[1], e)
	f.check(g)
	return x
}

// inPlace says whether elements and slices of e are those of a variable: an
// array that can be addressed.
func (f *fn) inPlace(e ast.Expr) bool {
	_, array := f.typeOf(e).Underlying().(*types.Array)
	return array && f.info.Types[e].Addressable()
}

// elementBase is what elements or a slice are wanted of: in place where it can be.
func (f *fn) elementBase(e ast.Expr) *expr {
	if f.inPlace(e) {
		return f.place(e)
	}
	return f.expr(e)
}

// largest is how many bytes an array may have that the interpreter keeps a place
// for in each call of a function that comes to it through a pointer.
const largest = 1 << 16

// pointedTo is the array that p points to, for its elements or a slice of it. Of a
// large one it is a slice: the array may be more than there is memory, as the one
// that stands for all that is mapped.
func (f *fn) pointedTo(p *expr) *expr {
	x := deref(p)
	if !isLarge(x.typ) {
		return x
	}
	return f.l.cast(f.l.runtime(anyType, "Elements", toAny(p)), types.NewSlice(x.typ.Underlying().(*types.Array).Elem()))
}

func isLarge(array types.Type) bool { return sizes.Sizeof(array) > largest }

func (f *fn) indexValue(e ast.Expr) *expr {
	if tv := f.info.Types[e]; tv.Value != nil {
		return literal(constant.ToInt(tv.Value).ExactString(), intType)
	}
	x := f.expr(e)
	if f.l.represent(x.typ).typ != basicTypes[types.Int] {
		return node(opConvert, "int", intType, x)
	}
	return typed(x, intType)
}

func (f *fn) slice(e *ast.SliceExpr) *expr {
	return f.early(func() *expr { return f.sliced(e) })
}

func (f *fn) sliced(e *ast.SliceExpr) *expr {
	p, isPointer := f.typeOf(e.X).Underlying().(*types.Pointer)
	inPlace := isPointer && !isLarge(p.Elem()) || f.inPlace(e.X)
	list := []lowering{func() *expr {
		if !isPointer {
			return f.elementBase(e.X)
		}
		x := f.expr(e.X)
		if x.calls() { // before the bounds
			x = f.spill(x)
		}
		return f.pointedTo(x)
	}}
	bounds := []ast.Expr{e.Low, e.High, e.Max}
	for _, b := range bounds {
		list = append(list, func() *expr {
			if b == nil {
				return nil
			}
			if f.isCheap(b) {
				return f.indexValue(b)
			}
			return f.early(func() *expr { return f.indexValue(b) })
		})
	}
	parts := f.operands(placeIf(inPlace), list...)
	switch {
	case !inPlace:
		parts[0] = f.held(parts[0])
	case parts[0].calls():
		parts[0] = f.pin(parts[0])
	}
	for i, b := range bounds {
		if b != nil && f.info.Types[b].Value == nil {
			parts[i+1] = f.held(parts[i+1])
		}
	}
	f.guardSlice(e, parts[0], parts[1], parts[2], parts[3])
	if !e.Slice3 {
		parts = parts[:3]
	} else if parts[1] == nil {
		parts[1] = intLiteral(0)
	}
	return node(opSlice, "", f.typeOf(e), parts...)
}

// storage is a place that is assigned to, with the checks that come just before.
type storage struct {
	place  *expr
	checks code
	told   bool // the checks tell that it is written
}

func (s storage) store(f *fn, x *expr) {
	if s.told && x.calls() { // which may wait for what this write must not meet
		x = f.spillAlways(x)
	}
	f.add(s.checks)
	f.emit("%s = %s", s.place, x)
}

// typ is what is assigned; nil for _, which takes anything.
func (s storage) typ() types.Type { return s.place.typ }

// target finds where an assignment goes. Its operands are evaluated now.
func (f *fn) target(e ast.Expr) storage {
	if f.writesShared(e) && !f.isPlain(e) || f.mayLackHash(e) {
		return f.pinned(e)
	}
	return f.written(e, storage{place: f.place(e)})
}

// mayLackHash says whether e is an element of a map with keys that may have no hash.
func (f *fn) mayLackHash(e ast.Expr) bool {
	ix, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok {
		return false
	}
	m, ok := coreType(f.typeOf(ix.X)).(*types.Map)
	return ok && hasInterface(m.Key())
}

// hasInterface says whether a type is an interface or is made of one.
func hasInterface(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return true
	case *types.Array:
		return hasInterface(u.Elem())
	case *types.Struct:
		for v := range u.Fields() {
			if hasInterface(v.Type()) {
				return true
			}
		}
	}
	return false
}

// pinned is target with its operands kept from later changes.
func (f *fn) pinned(e ast.Expr) storage {
	e = ast.Unparen(e)
	ix, ok := e.(*ast.IndexExpr)
	if !ok {
		if star, ok := e.(*ast.StarExpr); ok {
			return f.written(e, storage{place: deref(f.spillAlways(f.expr(star.X)))})
		}
		return f.written(e, f.target(f.pinPath(e)))
	}
	var base *expr
	switch u := f.typeOf(ix.X).Underlying().(type) {
	case *types.Map:
		base = f.hold(f.expr(ix.X))
		key := f.hold(f.to(ix.Index, u.Key()))
		element := storage{place: index(base, key, f.typeOf(e))}
		if f.mayLackHash(e) {
			element.checks = code{{format: "%s", args: []any{f.l.runtime(nil, "CheckKey", toAny(base), toAny(key))}}}
		}
		return element
	case *types.Array:
		base = f.pin(f.elementBase(f.pinPath(ix.X)))
	case *types.Pointer:
		base = f.pointedTo(f.hold(f.expr(ix.X)))
	default:
		base = f.hold(f.expr(ix.X))
	}
	i := f.indexValue(ix.Index)
	if f.info.Types[ix.Index].Value == nil {
		i = f.hold(i)
	}
	g, x := f.indexGuard(base, i, ix)
	return f.written(e, storage{place: x, checks: f.statements(g)})
}

// pinPath keeps the pointer or the element that a path of fields starts from.
func (f *fn) pinPath(e ast.Expr) ast.Expr {
	switch x := ast.Unparen(e).(type) {
	case *ast.StarExpr:
		return f.raw(deref(f.spillAlways(f.expr(x.X))))
	case *ast.IndexExpr:
		if !isMapIndex(f, x) {
			return f.raw(f.pin(f.place(x)))
		}
	}
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok || f.info.Selections[sel] == nil {
		return e
	}
	again := &ast.SelectorExpr{Sel: sel.Sel}
	if isPointer(f.typeOf(sel.X)) {
		again.X = f.raw(f.spillAlways(f.expr(sel.X)))
	} else {
		again.X = f.pinPath(sel.X)
	}
	f.info.Selections[again] = f.info.Selections[sel]
	f.info.Types[again] = f.info.Types[sel]
	return again
}
