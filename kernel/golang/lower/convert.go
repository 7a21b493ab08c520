package lower

import (
	"go/ast"
	"go/types"
	"reflect"
	"strconv"
)

// conversion lowers T(x).
func (f *fn) conversion(e *ast.CallExpr) *expr {
	l := f.l
	t := f.typeOf(e)
	from := f.typeOf(e.Args[0])
	if f.isNil(e.Args[0]) {
		return l.zero(t)
	}
	tv := f.info.Types[e.Args[0]]
	if tv.Value == nil {
		x := func() *expr { return f.convert(f.inInterface(e.Args[0], f.expr, t), t) }
		if b, ok := from.Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
			if _, ok := coreType(t).(*types.Slice); ok {
				return f.early(x)
			}
		}
		return x()
	}
	if b, ok := t.Underlying().(*types.Basic); ok {
		fb, _ := from.Underlying().(*types.Basic)
		if fb != nil && b.Info()&types.IsNumeric != 0 && fb.Info()&types.IsNumeric != 0 && representable(tv, b) {
			return l.constant(tv.Value, t, true)
		}
	}
	return f.convert(l.constant(tv.Value, from, true), t)
}

func representable(tv types.TypeAndValue, b *types.Basic) bool {
	if b.Info()&types.IsComplex != 0 {
		return true
	}
	return types.Default(tv.Type) != nil && b.Info()&types.IsFloat != 0 || b.Info()&types.IsInteger != 0 && tv.Value.Kind().String() == "Int"
}

// hasType is the test whether an any holds a t. id is its type's number, or nil
// where that is not known.
func (f *fn) hasType(x, id *expr, t types.Type) *expr {
	l := f.l
	if types.IsInterface(t) {
		if isEmpty(t) {
			return binary(x, "!=", literal("nil", nil), boolType)
		}
		return l.runtime(boolType, "Implements", x, intLiteral(l.id(t)))
	}
	if id == nil {
		id = l.runtime(intType, "ID", x)
	}
	return binary(id, "==", intLiteral(l.id(t)), boolType)
}

// extract takes a t out of an any that holds one.
func (l *Lowerer) extract(x *expr, t types.Type) *expr {
	switch {
	case l.isAny(t):
		return typed(x, t)
	case hasMethods(t):
		return l.toInterface(x, t)
	case l.isBare(t):
		return l.cast(x, t)
	}
	return l.cast(l.runtime(anyType, "V", x), t)
}

// cast is x.(T), which cannot fail. The interpreter stumbles over a type without
// fields.
func (l *Lowerer) cast(x *expr, t types.Type) *expr {
	rep := l.represent(t)
	if rep.typ == reflect.TypeFor[struct{}]() {
		return l.runtime(t, "Empty", x)
	}
	return node(opAssert, rep.text, t, x)
}

// to lowers an expression as a value of type t, to which it can be assigned.
func (f *fn) to(e ast.Expr, t types.Type) *expr {
	if f.isNil(e) {
		return f.l.zero(t)
	}
	if tv := f.info.Types[e]; tv.Value != nil && !types.IsInterface(t) {
		return f.l.constant(tv.Value, t, false)
	}
	return f.convert(f.inInterface(e, f.typedExpr, t), t)
}

// convert changes a value's representation from that of its type to that of
// another, to which it can be assigned or converted.
func (f *fn) convert(x *expr, to types.Type) *expr {
	l := f.l
	if b, ok := x.typ.(*types.Basic); ok && b.Kind() == types.UntypedNil {
		return l.zero(to)
	}
	switch {
	case l.isAny(to):
		return typed(f.toAny(x), to)
	case hasMethods(to) && !types.IsInterface(x.typ):
		return l.fromTo(x, to)
	case l.rep(x.typ) == l.rep(to):
		return typed(x, to)
	case hasMethods(to):
		return l.toInterface(x, to)
	}
	return l.converted(to, x)
}

// typed is x as a value of another type that has the same representation.
func typed(x *expr, t types.Type) *expr {
	if x.typ == t {
		return x
	}
	y := *x
	y.typ = t
	return &y
}

// converted is a conversion to a type.
func (l *Lowerer) converted(to types.Type, x *expr) *expr {
	rep := l.represent(to)
	y := node(opConvert, rep.text, to, x)
	if rep.typ.Name() == "" {
		switch rep.typ.Kind() {
		case reflect.Pointer, reflect.Chan, reflect.Func:
			y.paren = true
		}
	}
	y.paren = y.paren || x.text == "nil"
	return y
}

// toAny makes an any of a value of any type.
func (f *fn) toAny(x *expr) *expr {
	l := f.l
	switch {
	case l.isAny(x.typ):
		return typed(x, anyType)
	case l.isBare(x.typ):
		return toAny(x)
	}
	l.box(x.typ)
	return call(anyType, l.defined(l.typeKey(x.typ), "C", func() reflect.Value { return l.rt.ToReal(l.typeOf(x.typ)) }), x)
}

// defined is what package rt has under a fresh name; made once.
func (l *Lowerer) defined(key, prefix string, made func() reflect.Value) *expr {
	key = prefix + " " + key
	h, ok := l.helpers[key]
	if !ok {
		name := l.fresh(prefix)
		l.host.Define(name, made())
		h = l.sym(name)
		put(l, l.helpers, key, h)
	}
	return node(opHost, h, nil)
}

// fromTo makes an interface with methods of a value.
func (l *Lowerer) fromTo(x *expr, to types.Type) *expr {
	if !l.isBare(x.typ) {
		l.box(x.typ)
	}
	return call(to, l.defined(l.typeKey(x.typ)+" to "+l.typeKey(to), "C", func() reflect.Value {
		return l.rt.FromTo(l.typeOf(x.typ), l.real(to))
	}), x)
}

// toInterface makes an interface with methods of an any, or of another interface.
func (l *Lowerer) toInterface(x *expr, to types.Type) *expr {
	return call(to, l.defined("to "+l.typeKey(to), "C", func() reflect.Value { return l.rt.Converter(l.real(to)) }), x)
}

// assert lowers x.(T) where there is one result.
func (f *fn) assert(e *ast.TypeAssertExpr) *expr {
	if isDirect(f.typeOf(e)) {
		return f.asserted(e)
	}
	return f.early(func() *expr { return f.asserted(e) })
}

func (f *fn) asserted(e *ast.TypeAssertExpr) *expr {
	l := f.l
	t, from := f.typeOf(e), f.typeOf(e.X)
	x := f.toAny(f.expr(e.X))
	switch {
	case l.isAny(t):
		return panics(l.runtime(t, "NotNil", x))
	case hasMethods(t):
		return panics(call(t, l.defined("assert "+l.typeKey(t), "C", func() reflect.Value { return l.rt.Asserter(l.real(t)) }), x))
	}
	value := l.cast(panics(l.runtime(anyType, "Must", x, intLiteral(l.id(t)), literal(strconv.Quote(l.real(from).String()), nil))), t)
	if b, ok := t.Underlying().(*types.Basic); ok && b.Kind() == types.Bool {
		return f.spill(value) // the interpreter takes any assertion that is a condition for true
	}
	return value
}
