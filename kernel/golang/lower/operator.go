package lower

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

func (f *fn) binary(e *ast.BinaryExpr) *expr {
	t := f.typeOf(e)
	switch e.Op {
	case token.LAND, token.LOR:
		return f.early(func() *expr { return f.either(e.Op, f.expr(e.X), e.Y, func() *expr { return f.expr(e.Y) }) })
	case token.EQL, token.NEQ:
		return f.comparison(e)
	case token.SHL, token.SHR:
		p := f.exprs(func() *expr { return f.shiftOperand(e.X, t) }, func() *expr { return f.shiftCount(e.Y) })
		return binary(p[0], e.Op.String(), p[1], t)
	}
	p := f.sides(e)
	if e.Op == token.QUO {
		p[1] = f.divisor(e.Y, p[1])
	}
	return binary(p[0], e.Op.String(), p[1], t)
}

// divisor is a divisor, lowered to x. The interpreter takes each untyped constant
// zero for a mistake; of floats it is none.
func (f *fn) divisor(e ast.Expr, x *expr) *expr {
	if tv := f.info.Types[e]; tv.Value != nil && constant.Sign(tv.Value) == 0 {
		return f.l.constant(tv.Value, x.typ, true)
	}
	return x
}

// sides lowers both sides of an operator; a constant takes the other's type.
func (f *fn) sides(e *ast.BinaryExpr) []*expr {
	t := f.typeOf(e.X)
	if tv := f.info.Types[e.X]; tv.Value != nil {
		t = f.typeOf(e.Y)
	}
	return f.operands(byName, func() *expr { return f.operand(e.X, t) }, func() *expr { return f.operand(e.Y, t) })
}

func (f *fn) operand(e ast.Expr, t types.Type) *expr {
	if tv := f.info.Types[e]; tv.Value != nil && !types.IsInterface(t) {
		return f.l.constant(tv.Value, t, false)
	}
	return f.expr(e)
}

func (f *fn) shiftOperand(e ast.Expr, t types.Type) *expr {
	if tv := f.info.Types[e]; tv.Value != nil {
		return node(opConvert, f.l.rep(t), t, f.l.constant(constant.ToInt(tv.Value), t, true))
	}
	return f.expr(e)
}

func (f *fn) shiftCount(e ast.Expr) *expr {
	if tv := f.info.Types[e]; tv.Value != nil {
		return node(opConvert, "uint", nil, literal(constant.ToInt(tv.Value).ExactString(), nil))
	}
	t := f.typeOf(e)
	if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsUnsigned == 0 {
		return panics(steady(call(nil, ident(f.l.shiftHelper(f.l.rep(t)), nil), f.expr(e))))
	}
	return node(opConvert, "uint64", nil, f.expr(e))
}

// shiftHelper checks a signed shift count.
func (l *Lowerer) shiftHelper(rep string) string {
	return l.helper("shift "+rep, func(h string) {
		fmt.Fprintf(&l.code, "func %s(n %s) uint { if n < 0 { %s() }; return uint(n) }\n", h, rep, l.sym("NegativeShift"))
	})
}

// either is x && y or x || y, and keeps the statements that y needs from running
// when it is not evaluated.
func (f *fn) either(op token.Token, x *expr, e ast.Expr, right lowering) *expr {
	switch {
	case x.idle(), // which the interpreter would take for the condition
		f.instruments() && x.calls(): // y may have to tell what it touches
		x = f.spill(x)
	}
	nested := !x.repeats() || x.contains(func(x *expr) bool { return x.op == opIndex }) || f.indexesWhatCalls(e) ||
		x.observes() && f.callsFunction(e) // which may change x before a guard asks for it
	var y *expr
	pre := f.captured(func() { f.guardedIf(x, op == token.LAND, nested, func() { y = right() }) })
	if len(pre) == 0 || !nested && pre.pure() {
		if x.is(opGlobal, opDeref, opIndex, opField) && y.calls() {
			x = f.spillAlways(x) // the interpreter reads it again, after y
		}
		f.add(pre)
		return binary(x, op.String(), y, x.typ)
	}
	t := f.temp(x.typ)
	f.emit("%s := %s", t, x)
	if op == token.LAND {
		f.emit("if %s {", t)
	} else {
		f.emit("if !%s {", t)
	}
	f.add(pre)
	f.emit("%s = %s", t, y)
	f.emit("}")
	return t
}

func (f *fn) comparison(e *ast.BinaryExpr) *expr {
	x, y := e.X, e.Y
	if f.isNil(x) {
		x, y = y, x
	}
	switch {
	case f.isNil(x):
		return literal(fmt.Sprint(e.Op == token.EQL), boolType)
	case f.isNil(y):
		v := f.expr(x)
		if v.op == opConvert { // to an interface: the interpreter would look at what is converted
			v = f.spillAlways(v)
		}
		return binary(v, e.Op.String(), literal("nil", nil), boolType)
	}
	if types.IsInterface(f.typeOf(x)) || types.IsInterface(f.typeOf(y)) {
		p := f.exprs(func() *expr { return f.to(x, anyType) }, func() *expr { return f.to(y, anyType) })
		return f.l.equal("Eq", p[0], e.Op, p[1])
	}
	switch f.typeOf(x).Underlying().(type) {
	case *types.Struct, *types.Array:
		return f.sameParts(e)
	}
	p := f.sides(e)
	return f.compare(p[0], e.Op, p[1])
}

// sameParts compares arrays or structures. The runtime takes them by their addresses: those
// that have none are copied, when the calls of both sides are made.
func (f *fn) sameParts(e *ast.BinaryExpr) *expr {
	var p []*expr
	copied := 0
	compare := func() *expr {
		p = f.sides(e)
		for i, side := range []ast.Expr{e.X, e.Y} {
			if !f.info.Types[side].Addressable() {
				x := *p[i]
				x.early = true
				p[i] = &x
				copied++
			}
		}
		return f.compare(p[0], e.Op, p[1])
	}
	var x *expr
	pre := f.captured(func() { x = compare() })
	if copied == 2 {
		f.withCalls(func() { f.add(pre) })
	} else {
		f.add(pre)
	}
	return x
}

// equal compares by a function of package rt.
func (l *Lowerer) equal(fun string, x *expr, op token.Token, y *expr) *expr {
	z := panics(l.runtime(boolType, fun, x, y))
	if op == token.NEQ {
		return node(opNot, "", boolType, z)
	}
	return z
}

// compare compares two values of a type that is no interface.
func (f *fn) compare(x *expr, op token.Token, y *expr) *expr {
	switch x.typ.Underlying().(type) {
	case *types.Struct, *types.Array:
		return f.l.equal("Same", toAny(x), op, toAny(y))
	case *types.Chan:
		return f.l.equal("SameChan", toAny(x), op, toAny(y))
	}
	return binary(x, op.String(), y, boolType)
}

func (f *fn) unary(e *ast.UnaryExpr) *expr {
	t := f.typeOf(e)
	switch e.Op {
	case token.AND:
		return f.address(e.X)
	case token.ARROW:
		return node(opReceive, "", t, f.early(func() *expr { return f.expr(e.X) }))
	}
	if e.Op == token.SUB {
		if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsFloat != 0 { // 0 - x is not -x for 0
			return binary(f.expr(e.X), "*", node(opConvert, f.l.rep(t), t, literal("-1.0", t)), t)
		}
	}
	return node(opUnary, e.Op.String(), t, f.expr(e.X))
}
