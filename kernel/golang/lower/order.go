package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Go leaves open when a variable is read that a call in the same statement changes. The
// lowering does what Go's compiler does. Its rule is in cmd/compile/internal/walk/order.go,
// orderState.expr1:
//
//   - The calls and receive operations of a statement are made first, from left to right.
//     The operands of a call are read when it is made.
//   - So is what expr1 copies (copyExpr, addrTemp) though it is no call: len, cap, real,
//     imag, complex, min, max, make, append, copy; slices; && and ||; map literals;
//     conversions of strings to []byte and []rune; assertions to types that are not
//     pointers; and what has no address where the runtime takes one: keys of some maps,
//     arrays and structures that are compared, and what becomes an interface; bounds of
//     slices that are no variables. Such an expression is early.
//   - A function value that is called, and an interface whose method is, is evaluated as
//     a whole before the arguments if it has a call or receive operation, or a builtin
//     function but new (RewriteNonNameCall in cmd/compile/internal/typecheck).
//   - The rest is read when all calls are made: variables, elements, fields, arithmetic,
//     other literals, and the place of an assignment.
//   - What may panic does so where it is evaluated: the check of a slice's bounds, an
//     assertion to a string and what else is early with the calls, even if a division, an
//     index or a nil pointer of an operand before it would panic, too.
//   - Of an assignment of several values each is evaluated just before its place is set,
//     unless a place that is set before may change it (heldBefore).
//
// Package ssagen keeps to that: what order.go leaves has no calls of the program in it, so
// it is the same whether a variable is in memory or in a register. addrTemp depends on the
// optimizer: a variable without an address is copied early, and inlining may take a
// variable's address away. The lowering does what the compiler does without inlining (-l).
//
// So calls go into temporaries where something that is read comes before them.

// wanted says what the first of several expressions is for.
type wanted uint8

const (
	byValue wanted = iota
	asPlace        // the variable is wanted, not a copy of it
	byName         // the interpreter takes the value of a package variable after all calls
)

func placeIf(inPlace bool) wanted {
	if inPlace {
		return asPlace
	}
	return byValue
}

// operands lowers several expressions, to be evaluated in order: if one needs
// statements of its own, the calls before it go into temporaries first.
func (f *fn) operands(is wanted, list ...lowering) []*expr {
	out := make([]*expr, len(list))
	pres := make([]code, len(list))
	last := -1                  // the last that calls, or panics with the calls
	apart, read := false, false // something needs statements after a call; something waits for one
	for i, one := range list {
		pres[i] = f.captured(func() { out[i] = one() })
		apart = apart || last >= 0 && len(pres[i]) > 0
		waits := slices.ContainsFunc(out[:i], (*expr).waits) && !(is == byName && i == 1 && out[0].op == opGlobal)
		acts := pres[i].acts() || out[i].acts()
		if acts || waits && (pres[i].panicsEarly() || out[i].panicsEarly()) {
			last = i
			apart = apart || i > 0 && pres[i].acts()
			read = read || waits
		}
		if check, early := pres[i].hasCheck(), pres[i].panicsEarly(); check || early {
			for j, x := range out[:i] { // which panic before the check
				if check && x.panicsLate() || early && x.panicsEarly() {
					hold := f.hold
					if is == asPlace && j == 0 { // a copy of an array would take what is stored
						hold = f.pin
					}
					pres[j] = append(pres[j], f.captured(func() { out[j] = hold(x) })...)
				}
			}
		}
	}
	if !apart && !read {
		for _, pre := range pres {
			f.add(pre)
		}
		return out
	}
	var late code // what is to be done when all calls are made
	for i, x := range out {
		switch {
		case x == nil:
			f.add(pres[i])
		case i > last:
			late = append(late, pres[i]...)
		case i == last && !read && !anyStatements(pres[i+1:]):
			f.add(pres[i])
		case is == asPlace && i == 0 && (x.acts() || x.copies()):
			f.add(pres[i])
			out[i] = f.pin(x)
		default:
			var rest code
			out[i], rest = f.afterCalls(pres[i], x)
			late = append(late, rest...)
		}
	}
	f.add(late)
	return out
}

// acts says whether statements may do more than compute, keep or check something.
func (c code) acts() bool {
	return slices.ContainsFunc(c, func(s stmt) bool {
		x := s.kept()
		return s.kind == effect || x != nil && x.acts()
	})
}

// afterCalls makes the calls that an expression and the statements before it have. It
// returns what is left, to be evaluated later, and the statements that this needs.
func (f *fn) afterCalls(pre code, x *expr) (*expr, code) {
	pre = f.captured(func() {
		depth := 0
		for _, s := range pre {
			if y := s.kept(); y != nil && depth == 0 && !y.isCall() && !y.isCopied() {
				args := slices.Clone(s.args)
				args[len(args)-1] = f.withoutCalls(y)
				s.args = args
			}
			depth += s.opens()
			f.add(code{s})
		}
		x = f.withoutCalls(x)
	})
	late := pre.late()
	var rest code
	for i, s := range pre {
		if late[i] {
			rest = append(rest, s)
		} else {
			f.add(code{s})
		}
	}
	return x, rest
}

// late says which of the statements before an expression can be made after other
// calls: those that compute, keep or check something, for the expression alone.
func (c code) late() []bool {
	late := make([]bool, len(c))
	needed := make(map[string]bool) // the temporaries that those read that cannot
	depth := 0
	for i := len(c) - 1; i >= 0; i-- {
		s := c[i]
		inner := depth > 0 || strings.HasPrefix(s.format, "}")
		depth -= s.opens()
		if s.kind == note { // of the position of the next
			late[i] = i+1 < len(c) && late[i+1]
			continue
		}
		if late[i] = !inner && depth == 0 && s.movable() && !s.defines(needed); !late[i] {
			s.names(func(name string) { needed[name] = true })
		}
	}
	return late
}

// opens is how many blocks a statement opens, less those that it ends.
func (s stmt) opens() int { return strings.Count(s.format, "{") - strings.Count(s.format, "}") }

// checks says whether a statement keeps nothing: a check, or part of one.
func (s stmt) checks() bool {
	return !strings.HasPrefix(s.format, "%s = ") && !strings.HasPrefix(s.format, "*%s = ") && !strings.HasPrefix(s.format, "%s := ") && !strings.HasPrefix(s.format, "var ")
}

// kept is what a statement keeps in a temporary, or nil.
func (s stmt) kept() *expr {
	if s.kind != keeps && (s.kind != pure || s.checks()) {
		return nil
	}
	return s.args[len(s.args)-1].(*expr)
}

// movable says whether a statement only computes, keeps or checks something.
func (s stmt) movable() bool {
	x := s.kept()
	return !s.early && (x != nil && !x.acts() && !x.copies() || s.kind == pure && s.checks())
}

// defines says whether a statement sets one of the names.
func (s stmt) defines(names map[string]bool) bool {
	return !s.checks() && names[s.args[0].(*expr).text]
}

// names gives the variables in a statement.
func (s stmt) names(yield func(string)) {
	for _, arg := range s.args {
		if x, ok := arg.(*expr); ok {
			x.contains(func(x *expr) bool {
				if x.is(opName, opGlobal) {
					yield(x.text)
				}
				return false
			})
		}
	}
}

// anyStatements says whether there are statements in lists.
func anyStatements(list []code) bool {
	return slices.ContainsFunc(list, func(c code) bool { return len(c) > 0 })
}

// waits says whether x reads what a call may change, or may panic, and is not done when
// the calls in it are made.
func (x *expr) waits() bool {
	if x == nil || x.isCall() || x.isCopied() {
		return false
	}
	return x.isRead() || x.fails() || x.op == opName && x.keeps.waits() || slices.ContainsFunc(x.args, (*expr).waits)
}

// observes says whether x reads what a call may change, or may panic, or is a temporary
// that may be left for later and does.
func (x *expr) observes() bool {
	return x.contains(func(x *expr) bool { return x.isRead() || x.fails() || x.op == opName && x.keeps.waits() })
}

// fails says whether x may panic though its operands do not.
func (x *expr) fails() bool {
	switch x.op {
	case opBinary:
		if x.text != "/" && x.text != "%" || x.typ == nil {
			return false
		}
		b, ok := x.typ.Underlying().(*types.Basic)
		return ok && b.Info()&types.IsInteger != 0 && !x.args[1].isConstant()
	case opConvert: // of a slice to an array
		return x.typ != nil && (isPointer(x.typ) || isArray(x.typ)) && x.args[0].typ != nil && isSlice(x.args[0].typ)
	}
	return x.op == opSlice || x.panics
}

// panicsLate says whether x may panic when all statements before it are done.
func (x *expr) panicsLate() bool {
	return x.contains(func(x *expr) bool { return x.fails() && x.op != opSlice })
}

// changes says whether assignments to elements, to what pointers point to and to local
// variables, of which set has the names, may change x.
func (x *expr) changes(set map[string]bool) bool {
	return x.contains(func(x *expr) bool {
		return x.isRead() || x.op == opName && x.keeps.waits() || set[x.variable()]
	})
}

// variable is the name of the local variable that x is.
func (x *expr) variable() string {
	switch {
	case x.op == opName:
		return x.text
	case x.alone:
		return x.args[0].text
	}
	return ""
}

// panicsEarly says whether x may panic with the calls.
func (x *expr) panicsEarly() bool {
	return x.contains(func(x *expr) bool { return x.isCopied() && x.panicsLate() })
}

// panicsEarly says whether statements have a check that is done with the calls.
func (c code) panicsEarly() bool {
	return slices.ContainsFunc(c, func(s stmt) bool { return s.early && s.kind == pure && s.checks() })
}

// hasCheck says whether statements have a check that is not done with the calls.
func (c code) hasCheck() bool {
	return slices.ContainsFunc(c, func(s stmt) bool { return !s.early && s.kind == pure && s.checks() })
}

// isConstant says whether x is a literal, perhaps of a type.
func (x *expr) isConstant() bool {
	return x.op == opLiteral || x.op == opConvert && x.args[0].isConstant()
}

// isRead says whether x is a variable that a call may change, or part of one.
func (x *expr) isRead() bool {
	return x.is(opGlobal, opDeref, opIndex) && !x.alone ||
		x.op == opField && x.args[0].typ != nil && isPointer(x.args[0].typ) // which the interpreter follows by itself
}

// acts says whether x calls a function or receives.
func (x *expr) acts() bool {
	return x.contains((*expr).isCall)
}

// isCall says whether x is a call of a function, or a receive operation.
func (x *expr) isCall() bool {
	return x.op == opReceive || x.is(opCall, opDirect) && !x.steady && !x.inRuntime()
}

// inRuntime says whether a call is one of package rt, which do what Go's operators do.
func (x *expr) inRuntime() bool {
	return x.op == opCall && x.args[0].op == opHost && strings.HasPrefix(x.args[0].text, "h_rt.")
}

// copies says whether something in x is copied with the calls.
func (x *expr) copies() bool { return x.contains((*expr).isCopied) }

// isCopied says whether Go's compiler evaluates x with the calls, though it is none.
func (x *expr) isCopied() bool { return x.early && (x.observes() || x.acts()) }

// early lowers what is to be evaluated with the calls.
func (f *fn) early(step lowering) *expr {
	var x expr
	f.withCalls(func() { x = *step() })
	x.early = true
	return &x
}

// withCalls marks the statements of a step as early.
func (f *fn) withCalls(step func()) {
	n := len(f.out)
	step()
	for i := range f.out[n:] {
		f.out[n+i].early = true
	}
}

// inInterface lowers e for an interface that it becomes: the runtime takes some values
// by their addresses, and those without are copied.
func (f *fn) inInterface(e ast.Expr, lower func(ast.Expr) *expr, to types.Type) *expr {
	if t := f.typeOf(e); types.IsInterface(to) && !types.IsInterface(t) && byAddress(types.Default(t)) && !f.info.Types[e].Addressable() {
		return f.early(func() *expr { return lower(e) })
	}
	return lower(e)
}

// isDirect says whether what an interface holds of a type is the value itself.
func isDirect(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Pointer, *types.Map, *types.Chan, *types.Signature:
		return true
	case *types.Struct:
		return u.NumFields() == 1 && isDirect(u.Field(0).Type())
	case *types.Array:
		return u.Len() == 1 && isDirect(u.Elem())
	}
	return false
}

// byAddress says whether what a value of a type becomes in an interface is made from
// its address.
func byAddress(t types.Type) bool {
	switch n := sizes.Sizeof(t); {
	case n != 2 && n != 4 && n != 8, sizes.Alignof(t) != n, hasPointers(t):
		return !isSole(t)
	}
	return false
}

// isSole says whether a value of a type is a string or a slice, perhaps as the only
// thing in structures and arrays.
func isSole(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Slice:
		return true
	case *types.Struct:
		return u.NumFields() == 1 && isSole(u.Field(0).Type())
	case *types.Array:
		return u.Len() == 1 && isSole(u.Elem())
	}
	return false
}

func hasPointers(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0 || u.Kind() == types.UnsafePointer
	case *types.Struct:
		for v := range u.Fields() {
			if hasPointers(v.Type()) {
				return true
			}
		}
		return false
	case *types.Array:
		return u.Len() > 0 && hasPointers(u.Elem())
	}
	return true
}

// withoutCalls puts the calls in an expression into temporaries, and what else Go's
// compiler evaluates with them.
func (f *fn) withoutCalls(x *expr) *expr {
	switch {
	case x == nil || x.simple() && !x.copies():
		return x
	case x.isCall(), x.op == opField && x.args[0].op == opDirect && x.args[0].isCall(), x.isCopied():
		return f.hold(x)
	case !x.acts() && !x.copies():
		return x
	}
	again := *x
	again.args = make([]*expr, len(x.args))
	for i, y := range x.args {
		again.args[i] = f.withoutCalls(y)
	}
	return &again
}

// together lowers what one or several variables are set to.
func (f *fn) together(list []lowering) []*expr {
	out := f.exprs(list...)
	if len(out) == 1 {
		return out
	}
	for i, x := range out {
		out[i] = f.hold(x)
	}
	return out
}

// mapKey lowers the key of an element of a map.
func (f *fn) mapKey(e ast.Expr, m *types.Map) *expr {
	x := func() *expr { return f.to(e, m.Key()) }
	if f.isEarlyKey(e, m) {
		return f.early(x)
	}
	return x()
}

// isEarlyKey says whether Go's compiler evaluates a key with the calls: the runtime
// takes some by their address.
func (f *fn) isEarlyKey(e ast.Expr, m *types.Map) bool {
	const largest = 128 // of the elements that fast functions are for
	n := sizes.Sizeof(m.Key())
	if f.info.Types[e].Value != nil {
		return false
	}
	fast := sizes.Sizeof(m.Elem()) <= largest
	switch u := m.Key().Underlying().(type) {
	case *types.Pointer, *types.Chan:
		if fast {
			return false
		}
	case *types.Basic:
		if fast && (u.Info()&types.IsString != 0 || u.Info()&types.IsInteger != 0 && (n == 4 || n == 8) || u.Kind() == types.UnsafePointer) {
			return false
		}
	}
	return !f.info.Types[e].Addressable() || !types.Identical(f.typeOf(e), m.Key())
}

// isCheap says whether Go's compiler reads e again where it copies what costs more
// (cheapExpr): a constant, a variable, and len and cap of one.
func (f *fn) isCheap(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return true
	case *ast.CallExpr:
		if f.info.Types[ast.Unparen(e.Fun)].IsBuiltin() && slices.Contains([]string{"len", "cap"}, calledName(e.Fun).Name) {
			return f.isCheap(e.Args[0])
		}
	}
	return f.info.Types[e].Value != nil
}

// hasEarly says whether something in a place is evaluated with the calls.
func (f *fn) hasEarly(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr, *ast.SliceExpr, *ast.TypeAssertExpr, *ast.CompositeLit:
			found = found || f.info.Types[n.(ast.Expr)].Value == nil
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.BinaryExpr:
			found = found || n.Op == token.LAND || n.Op == token.LOR || n.Op == token.EQL || n.Op == token.NEQ
		case *ast.IndexExpr:
			if m, ok := f.typeOf(n.X).Underlying().(*types.Map); ok {
				found = found || f.isEarlyKey(n.Index, m)
			}
		}
		return !found
	})
	return found
}

// callsOrReceives says whether e has a call, of a builtin function but new, too, or a
// receive operation.
func (f *fn) callsOrReceives(e ast.Expr) bool {
	return f.runsBut(e, func(builtin *ast.Ident) bool { return builtin.Name == "new" })
}
