package lower

import (
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
	"strings"
)

// conversion writes T(x).
func (f *fn) conversion(e *ast.CallExpr) string {
	l := f.l
	t := f.typeOf(e)
	x := e.Args[0]
	from := f.typeOf(x)
	if f.isNil(x) {
		return l.zero(t)
	}
	if tv := f.info.Types[x]; tv.Value != nil {
		if b, ok := t.Underlying().(*types.Basic); ok {
			fb, _ := from.Underlying().(*types.Basic)
			if fb != nil && b.Info()&types.IsNumeric != 0 && fb.Info()&types.IsNumeric != 0 && representable(tv, b) {
				return l.constant(tv.Value, t, true)
			}
		}
		return f.convert(l.constant(tv.Value, from, true), from, t)
	}
	text := f.expr(x)
	ut, uf := t.Underlying(), from.Underlying()
	if l.rep(t) == l.rep(from) {
		return text
	}
	if _, ok := ut.(*types.Basic); ok {
		if b := ut.(*types.Basic); b.Info()&types.IsInteger != 0 {
			if fb, ok := uf.(*types.Basic); ok && fb.Info()&types.IsFloat != 0 {
				return fmt.Sprintf("%s(%s)", l.rep(t), text)
			}
		}
	}
	return f.convert(text, from, t)
}

func representable(tv types.TypeAndValue, b *types.Basic) bool {
	if b.Info()&types.IsComplex != 0 {
		return true
	}
	return types.Default(tv.Type) != nil && b.Info()&types.IsFloat != 0 || b.Info()&types.IsInteger != 0 && tv.Value.Kind().String() == "Int"
}

// hasType writes the test whether an any holds a t. id is its type's number
// where that is known.
func (f *fn) hasType(x, id string, t types.Type) string {
	l := f.l
	if types.IsInterface(t) {
		if isEmpty(t) {
			return "(" + x + " != nil)"
		}
		return fmt.Sprintf("%s(%s, %d)", l.sym("Implements"), x, l.id(t))
	}
	if id == "" {
		id = fmt.Sprintf("%s(%s)", l.sym("ID"), x)
	}
	return fmt.Sprintf("(%s == %d)", id, l.id(t))
}

// extract takes a t out of an any that holds one.
func (f *fn) extract(x string, t types.Type) string { return f.l.extractAny(x, t) }

func (l *Lowerer) extractAny(x string, t types.Type) string {
	switch {
	case l.isAny(t):
		return x
	case hasMethods(t):
		return l.converter(t) + "(" + x + ")"
	case l.isBare(t):
		return l.cast(x, l.rep(t))
	}
	return l.cast(fmt.Sprintf("%s(%s)", l.sym("V"), x), l.rep(t))
}

// cast writes x.(rep), which cannot fail. The interpreter stumbles over a
// type without fields.
func (l *Lowerer) cast(x, rep string) string {
	if rep == "struct{}" {
		return l.sym("Empty") + "(" + x + ")"
	}
	return x + ".(" + rep + ")"
}

// to writes an expression as a value of type t, to which it can be assigned.
func (f *fn) to(e ast.Expr, t types.Type) string {
	if f.isNil(e) {
		return f.l.zero(t)
	}
	if tv := f.info.Types[e]; tv.Value != nil && !types.IsInterface(t) {
		return f.l.constant(tv.Value, t, false)
	}
	return f.convert(f.typedExpr(e), f.typeOf(e), t)
}

// toSlot is to for a place inside of another value.
func (f *fn) toSlot(e ast.Expr, t types.Type) string {
	return f.intoSlot(f.to(e, t), t)
}

func (f *fn) intoSlot(text string, t types.Type) string { return text }

// fromSlot reads a value of type t out of its slot.
func (f *fn) fromSlot(text string, t types.Type) string { return text }

// convert changes a value's representation from that of one type to that of
// another, to which it can be assigned or converted.
func (f *fn) convert(text string, from, to types.Type) string {
	l := f.l
	if types.IsInterface(to) {
		return f.toInterface(text, from, to)
	}
	if b, ok := from.(*types.Basic); ok && b.Kind() == types.UntypedNil {
		return l.zero(to)
	}
	rf, rt := l.rep(from), l.rep(to)
	if rf == rt {
		return text
	}
	return l.converted(rt, text)
}

// converted writes a conversion to a type that lowered code writes as rep.
func (l *Lowerer) converted(rep, text string) string {
	if text == "nil" || strings.HasPrefix(rep, "*") || strings.HasPrefix(rep, "<-") || strings.HasPrefix(rep, "func") || strings.HasPrefix(rep, "chan") {
		l.nops++
		rep = "(" + rep + ")"
	}
	return rep + "(" + text + ")"
}

// toInterface makes an interface value.
func (f *fn) toInterface(text string, from, to types.Type) string {
	l := f.l
	if b, ok := from.(*types.Basic); ok && b.Kind() == types.UntypedNil {
		return l.zero(to)
	}
	switch {
	case l.isAny(to):
		return f.toAny(text, from)
	case !types.IsInterface(from):
		return fmt.Sprintf("%s(%s)", l.fromTo(from, to), text)
	case l.rep(from) == l.rep(to):
		return text
	}
	return fmt.Sprintf("%s(%s)", l.converter(to), text)
}

// toAny makes an any of a value of any type.
func (f *fn) toAny(text string, from types.Type) string {
	l := f.l
	switch {
	case l.isAny(from):
		return text
	case l.isBare(from):
		return "any(" + text + ")"
	}
	return l.toReal(from) + "(" + text + ")"
}

// converterNamed is a function of package rt that converts values; made once.
func (l *Lowerer) converterNamed(key string, make func() reflect.Value) string {
	name, ok := l.converters[key]
	if !ok {
		name = l.fresh("C")
		l.host.Define(name, make())
		put(l, l.converters, key, name)
	}
	return l.sym(name)
}

// toReal is the function that makes an any of a value whose representation is not
// its type.
func (l *Lowerer) toReal(from types.Type) string {
	l.box(from)
	return l.converterNamed(l.typeKey(from), func() reflect.Value { return l.rt.ToReal(l.typeOf(from)) })
}

// fromTo is the function that makes an interface with methods of a value.
func (l *Lowerer) fromTo(from, to types.Type) string {
	if !l.isBare(from) {
		l.box(from)
	}
	return l.converterNamed(l.typeKey(from)+" to "+l.typeKey(to), func() reflect.Value {
		return l.rt.FromTo(l.typeOf(from), l.real(to))
	})
}

// converter is the function that makes an interface with methods of an any, or of
// another interface.
func (l *Lowerer) converter(to types.Type) string {
	return l.converterNamed("to "+l.typeKey(to), func() reflect.Value { return l.rt.Converter(l.real(to)) })
}

// assert writes x.(T) where there is one result.
func (f *fn) assert(e *ast.TypeAssertExpr) string {
	l := f.l
	t := f.typeOf(e)
	tx := f.typeOf(e.X)
	x := f.toAny(f.expr(e.X), tx)
	switch {
	case l.isAny(t):
		return fmt.Sprintf("%s(%s)", l.sym("NotNil"), x)
	case hasMethods(t):
		asserter := l.converterNamed("assert "+l.typeKey(t), func() reflect.Value { return l.rt.Asserter(l.real(t)) })
		return fmt.Sprintf("%s(%s)", asserter, x)
	}
	return l.cast(fmt.Sprintf("%s(%s, %d, %q)", l.sym("Must"), x, l.id(t), f.interfaceName(tx)), l.rep(t))
}

// interfaceName is an interface as messages write it.
func (f *fn) interfaceName(t types.Type) string { return f.l.real(t).String() }
