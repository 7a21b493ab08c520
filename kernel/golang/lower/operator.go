package lower

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

func (f *fn) binary(e *ast.BinaryExpr) string {
	switch e.Op {
	case token.LAND, token.LOR:
		return f.logical(e)
	case token.EQL, token.NEQ:
		return f.comparison(e)
	case token.SHL, token.SHR:
		t := f.typeOf(e)
		parts := f.exprs(func() string { return f.shiftOperand(e.X, t) }, func() string { return f.shiftCount(e.Y) })
		return "(" + parts[0] + " " + e.Op.String() + " " + parts[1] + ")"
	}
	t := f.typeOf(e.X)
	if tv := f.info.Types[e.X]; tv.Value != nil {
		t = f.typeOf(e.Y)
	}
	parts := f.exprs(func() string { return f.operand(e.X, t) }, func() string { return f.operand(e.Y, t) })
	return "(" + parts[0] + " " + e.Op.String() + " " + parts[1] + ")"
}

// operand writes one side of an operator; a constant takes the other's type.
func (f *fn) operand(e ast.Expr, t types.Type) string {
	if tv := f.info.Types[e]; tv.Value != nil && !types.IsInterface(t) {
		return f.l.constant(tv.Value, t, false)
	}
	return f.expr(e)
}

func (f *fn) shiftOperand(e ast.Expr, t types.Type) string {
	if tv := f.info.Types[e]; tv.Value != nil {
		return f.l.rep(t) + "(" + f.l.constant(constant.ToInt(tv.Value), t, true) + ")"
	}
	return f.expr(e)
}

func (f *fn) shiftCount(e ast.Expr) string {
	if tv := f.info.Types[e]; tv.Value != nil {
		return "uint(" + constant.ToInt(tv.Value).ExactString() + ")"
	}
	t := f.typeOf(e)
	if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsUnsigned == 0 {
		return f.l.shiftHelper(f.l.rep(t)) + "(" + f.expr(e) + ")"
	}
	return "uint64(" + f.expr(e) + ")"
}

// shiftHelper checks a signed shift count.
func (l *Lowerer) shiftHelper(rep string) string {
	key := "shift " + rep
	return l.helper(key, func(h string) {
		fmt.Fprintf(&l.code, "func %s(n %s) uint { if n < 0 { %s() }; return uint(n) }\n", h, rep, l.sym("NegativeShift"))
	})
}

// logical writes && and ||.
func (f *fn) logical(e *ast.BinaryExpr) string {
	nops := f.l.nops
	x := f.expr(e.X)
	return f.either(e.Op, x, f.l.nops > nops, func() string { return f.expr(e.Y) })
}

// either writes x op y, and keeps the statements that y needs from running when
// it is not evaluated. nops says that x has something in it that the interpreter
// has nothing to do for: were it to come first, it would be taken for the condition.
func (f *fn) either(op token.Token, x string, nops bool, right func() string) string {
	if nops {
		x = f.spill(x)
	}
	var y string
	emits, pure := f.emits, f.pure
	pre := f.captured(func() {
		f.guardedIf(x, op == token.LAND, func() { y = right() })
	})
	if f.emits-emits == f.pure-pure {
		f.out.WriteString(pre)
		return "(" + x + " " + op.String() + " " + y + ")"
	}
	t := f.temp()
	f.emit("%s := %s", t, x)
	if op == token.LAND {
		f.emit("if %s {\n%s%s = %s\n}", t, pre, t, y)
	} else {
		f.emit("if !%s {\n%s%s = %s\n}", t, pre, t, y)
	}
	return t
}

func (f *fn) comparison(e *ast.BinaryExpr) string {
	tx, ty := f.typeOf(e.X), f.typeOf(e.Y)
	op := e.Op.String()
	switch {
	case f.isNil(e.X) && f.isNil(e.Y):
		return fmt.Sprint(e.Op == token.EQL)
	case f.isNil(e.Y):
		return "(" + f.expr(e.X) + " " + op + " nil)"
	case f.isNil(e.X):
		return "(" + f.expr(e.Y) + " " + op + " nil)"
	}
	parts := func(t types.Type) []string {
		return f.exprs(func() string { return f.to(e.X, t) }, func() string { return f.to(e.Y, t) })
	}
	not := ""
	if e.Op == token.NEQ {
		not = "!"
	}
	if types.IsInterface(tx) || types.IsInterface(ty) {
		p := parts(types.Universe.Lookup("any").Type())
		return fmt.Sprintf("%s%s(%s, %s)", not, f.l.sym("Eq"), p[0], p[1])
	}
	t := tx
	if tv := f.info.Types[e.X]; tv.Value != nil {
		t = ty
	}
	p := f.exprs(func() string { return f.operand(e.X, t) }, func() string { return f.operand(e.Y, t) })
	return f.compare(p[0], op, p[1], t)
}

// compare compares two values of a type that is no interface.
func (f *fn) compare(x, op, y string, t types.Type) string {
	not := ""
	if op == "!=" {
		not = "!"
	}
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		return fmt.Sprintf("%s%s(any(%s), any(%s))", not, f.l.sym("Same"), x, y)
	case *types.Chan:
		return fmt.Sprintf("%s%s(any(%s), any(%s))", not, f.l.sym("SameChan"), x, y)
	}
	return "(" + x + " " + op + " " + y + ")"
}

func (f *fn) unary(e *ast.UnaryExpr) string {
	switch e.Op {
	case token.AND:
		return f.address(e.X)
	case token.ARROW:
		return f.fromSlot("(<-"+f.expr(e.X)+")", f.typeOf(e))
	}
	if e.Op == token.SUB {
		if b, ok := f.typeOf(e).Underlying().(*types.Basic); ok && b.Info()&types.IsFloat != 0 {
			return "(" + f.expr(e.X) + " * " + f.l.rep(f.typeOf(e)) + "(-1.0))" // 0 - x is not -x for 0
		}
	}
	return "(" + e.Op.String() + f.expr(e.X) + ")"
}
