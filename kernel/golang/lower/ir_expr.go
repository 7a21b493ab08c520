package lower

import (
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// op is what an expression of lowered code is.
type op uint8

const (
	opName      op = iota // a local variable, or a function of lowered code
	opGlobal              // a package variable of lowered code
	opHost                // a symbol of a compiled package
	opLiteral             // a basic literal, nil, true, false
	opType                // a type, as an argument of new or make
	opDeref               // (*x)
	opAddress             // &x
	opField               // x.text
	opIndex               // x[y]
	opSlice               // x[y:z] and x[y:z:w]; nil is left out
	opCall                // x(y, ...)
	opDirect              // text(x): a call of a compiled function, x being its frame
	opConvert             // text(x)
	opAssert              // x.(text)
	opBinary              // (x text y)
	opUnary               // (text x)
	opReceive             // (<-x)
	opNot                 // !x
	opComposite           // text{x, ...}
	opPair                // x: y, in a composite literal
	opSpread              // x...
)

// expr is an expression of lowered code. What the lowering must know of it, it
// asks of this tree; text is made of it when the function is done.
type expr struct {
	op     op
	text   string     // the name, literal, operator or field; or the type
	paren  bool       // an address, or the type of a conversion, is in brackets
	args   []*expr    // operands
	typ    types.Type // in the cell's terms; a tuple if it has several values; nil where nothing asks
	frame  *frame     // of a direct call in a loop
	keeps  *expr      // what is kept in a temporary, which this is
	alone  bool       // a local variable behind a pointer that nothing else has
	early  bool       // Go's compiler evaluates it with the calls, though it is none
	steady bool       // of a call: it changes nothing
	panics bool       // of a call that does what an operator does: it may panic
}

var (
	anyType  = types.Universe.Lookup("any").Type()
	boolType = types.Typ[types.Bool]
	intType  = types.Typ[types.Int]
	errType  = types.Universe.Lookup("error").Type()
)

func ident(text string, t types.Type) *expr   { return &expr{op: opName, text: text, typ: t} }
func literal(text string, t types.Type) *expr { return &expr{op: opLiteral, text: text, typ: t} }
func intLiteral[N int | int64](n N) *expr     { return literal(strconv.FormatInt(int64(n), 10), intType) }
func typeName(text string) *expr              { return &expr{op: opType, text: text} }

func node(o op, text string, t types.Type, args ...*expr) *expr {
	return &expr{op: o, text: text, typ: t, args: args}
}

func call(t types.Type, fun *expr, args ...*expr) *expr {
	list := make([]*expr, 1+len(args))
	list[0] = fun
	copy(list[1:], args)
	return &expr{op: opCall, typ: t, args: list}
}

// builtin calls a predeclared function.
func builtin(t types.Type, fun string, args ...*expr) *expr {
	return call(t, ident(fun, nil), args...)
}

// steady is a call that changes nothing: Go has no function there.
func steady(x *expr) *expr {
	x.steady = true
	return x
}

// panics is a call that does what an operator does, and may panic.
func panics(x *expr) *expr {
	x.panics = true
	return x
}

// runtime calls a function of package rt.
func (l *Lowerer) runtime(t types.Type, fun string, args ...*expr) *expr {
	return call(t, l.hostName("rt", fun, nil), args...)
}

// deref is what x points to.
func deref(x *expr) *expr {
	var t types.Type
	if p, ok := x.typ.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	return node(opDeref, "", t, x)
}

func field(x *expr, name string, t types.Type) *expr { return node(opField, name, t, x) }

func index(x, i *expr, t types.Type) *expr { return node(opIndex, "", t, x, i) }

func binary(x *expr, operator string, y *expr, t types.Type) *expr {
	return node(opBinary, operator, t, x, y)
}
func not(x *expr) *expr    { return node(opNot, "", boolType, x) }
func spread(x *expr) *expr { return node(opSpread, "", x.typ, x) }
func toAny(x *expr) *expr  { return node(opConvert, "any", anyType, x) }
func isNil(x *expr) *expr  { return binary(x, "==", literal("nil", nil), boolType) }

// address is &x. Of what a pointer points to it is the pointer: the interpreter knows
// neither &*f() nor &*(*T)(p).
func address(x *expr) *expr {
	var t types.Type
	if x.typ != nil {
		t = types.NewPointer(x.typ)
	}
	if x.op == opDeref {
		p := *x.args[0]
		p.typ = t
		return &p
	}
	return node(opAddress, "", t, x)
}

func (x *expr) is(ops ...op) bool {
	for _, o := range ops {
		if x.op == o {
			return true
		}
	}
	return false
}

// contains says whether x or one of its operands is of a kind.
func (x *expr) contains(wanted func(*expr) bool) bool {
	if x == nil {
		return false
	}
	if wanted(x) {
		return true
	}
	for _, y := range x.args {
		if y.contains(wanted) {
			return true
		}
	}
	return false
}

// calls says whether x calls something, converts or waits: it is not to be done
// twice, nor moved behind another call.
func (x *expr) calls() bool {
	return x.contains(func(x *expr) bool { return x.is(opCall, opDirect, opConvert, opReceive) })
}

// repeats says whether x can be done twice: it calls len and cap at most.
func (x *expr) repeats() bool {
	return !x.contains(func(x *expr) bool {
		return x.is(opDirect, opConvert, opReceive) || x.op == opCall && !slices.Contains([]string{"len", "cap"}, x.args[0].text)
	})
}

// simple says whether x is a constant or a variable that only the function's own
// statements change, or a field of one: it can stand after any call.
func (x *expr) simple() bool {
	switch x.op {
	case opName, opLiteral, opHost:
		return true
	case opField, opSpread:
		return x.args[0].simple()
	}
	return false
}

// named says whether x is a variable with a name, or the one that a pointer with a
// name points to: it can be written twice.
func (x *expr) named() bool {
	if x.op == opDeref {
		x = x.args[0]
	}
	return x.is(opName, opGlobal, opLiteral)
}

// path says whether x is a name with fields.
func (x *expr) path() bool {
	for x.op == opField {
		x = x.args[0]
	}
	return x.is(opName, opGlobal, opHost, opLiteral)
}

// idle says whether x has something in it that the interpreter has nothing to do
// for: a type in brackets, or the keys of a literal.
func (x *expr) idle() bool {
	return x.contains(func(x *expr) bool {
		return x.op == opComposite || x.op == opConvert && x.paren
	})
}

// bracketed says whether x is written in brackets.
func (x *expr) bracketed() bool {
	switch x.op {
	case opDeref, opBinary, opUnary, opReceive:
		return true
	case opAddress, opConvert:
		return x.paren
	case opField, opIndex, opSlice, opCall, opAssert:
		return x.args[0].bracketed()
	}
	return false
}

// directCall is the direct call that x is, or whose first result; nil if it is none.
func (x *expr) directCall() *expr {
	if x.op == opField {
		x = x.args[0]
	}
	if x.op == opDirect {
		return x
	}
	return nil
}

// plainType says whether the interpreter, which looks at the elements of a list
// before it knows the types of variables, finds the type of one.
func (x *expr) plainType() bool {
	switch x.op {
	case opAddress:
		return x.args[0].op != opIndex && x.args[0].plainType()
	case opDeref: // not what a field points to
		return !x.args[0].contains(func(x *expr) bool { return x.is(opField, opHost, opAssert) })
	case opField:
		return x.path()
	case opSlice: // one of an array has the array's type
		return false
	case opIndex, opCall: // not of what a call or an element gives
		base := x.args[0]
		return base.path() || base.is(opDeref, opBinary, opUnary, opReceive)
	}
	return true
}

// String writes an expression.
func (x *expr) String() string {
	var b strings.Builder
	x.write(&b)
	return b.String()
}

func (x *expr) write(b *strings.Builder) {
	switch x.op {
	case opDeref:
		x.around(b, "(*", 0, ")")
	case opAddress:
		if x.paren {
			x.around(b, "(&", 0, ")")
		} else {
			x.around(b, "&", 0, "")
		}
	case opField:
		x.around(b, "", 0, ".")
		b.WriteString(x.text)
	case opIndex:
		x.around(b, "", 0, "[")
		x.around(b, "", 1, "]")
	case opSlice:
		x.around(b, "", 0, "[")
		for i, y := range x.args[1:] {
			if i > 0 {
				b.WriteByte(':')
			}
			if y != nil {
				y.write(b)
			}
		}
		b.WriteByte(']')
	case opCall:
		args := x.args[1:]
		if fun := x.args[0]; fun.op == opName && callName(fun.text) != fun.text {
			b.WriteString(callName(fun.text) + "(")
			args = slices.Clone(args)
			for i, y := range args {
				args[i] = given(y)
			}
		} else {
			x.around(b, "", 0, "(")
		}
		exprList(args).write(b)
		b.WriteByte(')')
	case opConvert, opDirect:
		if x.paren {
			b.WriteString("(" + x.text + ")")
		} else {
			b.WriteString(x.text)
		}
		x.around(b, "(", 0, ")")
	case opAssert:
		x.around(b, "", 0, ".(")
		b.WriteString(x.text)
		b.WriteByte(')')
	case opBinary:
		x.around(b, "(", 0, " ")
		b.WriteString(x.text)
		x.around(b, " ", 1, ")")
	case opUnary:
		b.WriteByte('(')
		x.around(b, x.text, 0, ")")
	case opReceive:
		x.around(b, "(<-", 0, ")")
	case opNot: // the interpreter leaves the function at !(x) && y if x is the name of a variable
		x.around(b, "!", 0, "")
	case opComposite:
		b.WriteString(x.text)
		b.WriteByte('{')
		exprList(x.args).write(b)
		b.WriteByte('}')
	case opPair:
		x.around(b, "", 0, ": ")
		x.args[1].write(b)
	case opSpread:
		x.around(b, "", 0, "...")
	default:
		b.WriteString(x.text)
	}
}

// around writes an operand between two texts.
func (x *expr) around(b *strings.Builder, before string, i int, after string) {
	b.WriteString(before)
	x.args[i].write(b)
	b.WriteString(after)
}

// exprList is written with commas.
type exprList []*expr

func (l exprList) write(b *strings.Builder) {
	for i, x := range l {
		if i > 0 {
			b.WriteString(", ")
		}
		x.write(b)
	}
}

func (l exprList) String() string {
	var b strings.Builder
	l.write(&b)
	return b.String()
}
