package lower

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
)

// The interpreter says that an index is out of range, and not which. So
// lowered code compares it itself, before it is used. This costs less than to
// note where execution is, which only an index that is out of range then needs.

// guard is a check of an index or of a slice's bounds.
type guard struct {
	conds []comparison // any of them makes it fail
	panic *expr        // ... with this
}

// comparison is x operator y.
type comparison struct {
	x        *expr
	operator string
	y        *expr
}

// check writes a guard. One that cannot be evaluated early is left out: the interpreter's
// panic tells less.
func (f *fn) check(g guard) {
	g.conds = slices.DeleteFunc(g.conds, func(c comparison) bool {
		return slices.ContainsFunc(f.prefix, func(x *expr) bool { return c.refuted(x, true) })
	})
	if len(g.conds) == 0 {
		return
	}
	if len(f.prefix) > 0 && g.calls() {
		f.unchecked = true
		return
	}
	f.add(f.statements(g))
}

// statements has one for each condition: the interpreter is slower with ||.
func (f *fn) statements(g guard) code {
	prefix := ""
	for _, x := range f.prefix {
		prefix += x.String() + " && "
	}
	var c code
	for _, cond := range g.conds {
		c = append(c, stmt{kind: pure, format: "if %s%s %s %s { %s }", args: []any{prefix, cond.x, cond.operator, cond.y, g.panic}})
	}
	return c
}

// calls says whether a guard calls something but len and cap.
func (g guard) calls() bool {
	return slices.ContainsFunc(g.conds, func(c comparison) bool { return !c.x.repeats() || !c.y.repeats() })
}

var (
	opposite = map[string]string{"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
	mirrored = map[string]string{"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
)

// refuted says whether a comparison is false where x is true, or false if not is.
func (c comparison) refuted(x *expr, is bool) bool {
	switch {
	case x.op == opNot:
		return c.refuted(x.args[0], !is)
	case x.op != opBinary:
		return false
	case x.text == "&&" && is, x.text == "||" && !is:
		return c.refuted(x.args[0], is) || c.refuted(x.args[1], is)
	}
	operator := x.text
	if !is {
		operator = opposite[operator]
	}
	a, b, want := x.args[0].String(), x.args[1].String(), opposite[c.operator]
	if a == c.y.String() && b == c.x.String() {
		a, b, operator = b, a, mirrored[operator]
	}
	return a == c.x.String() && b == c.y.String() && (operator == want || operator+"=" == want)
}

// guardedIf runs a step whose expressions are evaluated only if a condition is true, or
// false. Guards ask for it, unless all that the step writes will be nested in a statement
// that does.
func (f *fn) guardedIf(cond *expr, is, nested bool, step func()) {
	outer := f.prefix
	switch {
	case nested:
		f.prefix = nil
	case is:
		f.prefix = append(outer[:len(outer):len(outer)], cond)
	default:
		f.prefix = append(outer[:len(outer):len(outer)], not(cond))
	}
	step()
	f.prefix = outer
}

// indexesWhatCalls says whether an index, or what is indexed or cut, calls a function in e.
func (f *fn) indexesWhatCalls(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.IndexExpr, *ast.SliceExpr:
			found = found || f.callsFunction(n.(ast.Expr))
		}
		return !found
	})
	return found
}

// indexGuard makes base[index] of what can be written twice, and its guard.
func (f *fn) indexGuard(base, i *expr, e *ast.IndexExpr) (g guard, x *expr) {
	value := f.info.Types[e.Index].Value
	element := func() *expr { return index(base, i, f.typeOf(e)) }
	var length *expr
	switch u := f.typeOf(e.X).Underlying().(type) {
	case *types.Array:
		length = intLiteral(u.Len())
	case *types.Pointer:
		length = intLiteral(u.Elem().Underlying().(*types.Array).Len())
	default:
		if value != nil && f.info.Types[e.X].Value != nil {
			return guard{}, element()
		}
		base = f.held(base)
		length = builtin(intType, "len", base)
	}
	switch {
	case value != nil && length.op == opLiteral: // the checker has seen to that
		return guard{}, element()
	case value == nil:
		i = f.held(i)
		g.conds = append(g.conds, comparison{i, "<", intLiteral(0)})
	}
	g.conds = append(g.conds, comparison{i, ">=", length})
	g.panic = f.l.runtime(nil, "Index", i, length, intLiteral(f.where))
	return g, element()
}

// guardSlice checks the bounds of a slice expression; those left out are nil.
func (f *fn) guardSlice(e *ast.SliceExpr, base, low, high, limit *expr) {
	var room, length *expr
	withCap := false
	switch u := f.typeOf(e.X).Underlying().(type) {
	case *types.Array:
		room = intLiteral(u.Len())
		length = room
	case *types.Pointer:
		room = intLiteral(u.Elem().Underlying().(*types.Array).Len())
		length = room
	case *types.Slice:
		room, length, withCap = builtin(intType, "cap", base), builtin(intType, "len", base), true
	default:
		room = builtin(intType, "len", base)
		length = room
	}
	or := func(x, other *expr) *expr {
		if x == nil {
			return other
		}
		return x
	}
	var g guard
	fails := func(x *expr, operator string, y *expr) { g.conds = append(g.conds, comparison{x, operator, y}) }
	if limit != nil {
		fails(limit, ">", room)
	}
	if high != nil {
		fails(high, ">", or(limit, room))
	}
	if low != nil {
		fails(low, "<", intLiteral(0))
		fails(low, ">", or(high, length))
	} else if high != nil {
		fails(high, "<", intLiteral(0))
	}
	given := func(x *expr) *expr { return literal(fmt.Sprint(x != nil), boolType) }
	g.panic = f.l.runtime(nil, "SliceBounds", or(low, intLiteral(0)), or(high, length), or(limit, intLiteral(-1)), room,
		given(high), given(limit), literal(fmt.Sprint(withCap), boolType), intLiteral(f.where))
	f.check(g)
}
