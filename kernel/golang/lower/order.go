package lower

import (
	"go/types"
	"slices"
	"strings"
)

// Operands are evaluated as Go's compiler does it: first the calls in them, in order,
// and then what is left, such as variables, elements and fields, which the calls may
// have changed. So calls go into temporaries where something before them is only read.

// operands lowers several expressions, to be evaluated in order: if one needs
// statements of its own, the calls before it go into temporaries first. inPlace says
// that the first is a variable, not a copy of it.
func (f *fn) operands(inPlace bool, list ...lowering) []*expr {
	out := make([]*expr, len(list))
	pres := make([]code, len(list))
	last := -1                  // the last that calls
	apart, read := false, false // something needs statements after a call; something is read before one
	for i, one := range list {
		pres[i] = f.captured(func() { out[i] = one() })
		apart = apart || last >= 0 && len(pres[i]) > 0
		if !pres[i].pure() || out[i] != nil && out[i].acts() {
			last = i
			apart = apart || i > 0 && !pres[i].pure()
			read = read || anyReads(out[:i])
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
		case i > last, pres[i].pure() && !x.acts() && !x.copies():
			late = append(late, pres[i]...)
		case i == last && !read && !follows(pres[i+1:]):
			f.add(pres[i])
		case inPlace && i == 0:
			f.add(pres[i])
			out[i] = f.pin(x)
		case !x.acts() && !x.copies():
			n := len(pres[i])
			for pres[i][n-1].kind == pure {
				n--
			}
			f.add(pres[i][:n])
			late = append(late, pres[i][n:]...)
		default:
			f.add(pres[i])
			out[i] = f.withoutCalls(x)
			if out[i].reads() && slices.ContainsFunc(pres[i], func(s stmt) bool { return s.kind == pure }) {
				out[i] = f.spill(out[i]) // which was checked for what it is now
			}
		}
	}
	f.add(late)
	return out
}

// follows says whether there are statements in lists.
func follows(list []code) bool {
	return slices.ContainsFunc(list, func(c code) bool { return len(c) > 0 })
}

func anyReads(list []*expr) bool {
	for _, x := range list {
		if x != nil && x.reads() {
			return true
		}
	}
	return false
}

// reads says whether x reads what a call may change.
func (x *expr) reads() bool {
	return x.contains(func(x *expr) bool { return x.is(opGlobal, opDeref, opIndex) })
}

// acts says whether x calls a function or receives.
func (x *expr) acts() bool {
	return x.contains(func(x *expr) bool {
		return x.op == opDirect && !x.steady || x.op == opReceive || x.op == opCall && !x.inRuntime()
	})
}

// inRuntime says whether a call is one of package rt, which do what Go's operators do.
func (x *expr) inRuntime() bool {
	return x.args[0].op == opHost && strings.HasPrefix(x.args[0].text, "h_rt.")
}

// copies says whether something in x is copied with the calls.
func (x *expr) copies() bool { return x.reads() && x.contains((*expr).isCopied) }

// isCopied says whether Go's compiler evaluates x with the calls, though it is none.
func (x *expr) isCopied() bool {
	switch x.op {
	case opSlice:
		return true
	case opBinary:
		return x.text == "&&" || x.text == "||"
	case opAssert: // a pointer is what the interface holds
		if x.typ != nil {
			switch x.typ.Underlying().(type) {
			case *types.Pointer, *types.Map, *types.Chan, *types.Signature:
				return false
			}
		}
		return true
	case opConvert, opCall: // to an interface: what the runtime takes by its address
		if x.typ == nil || !types.IsInterface(x.typ) {
			return false
		}
		y := x.args[len(x.args)-1]
		return y.typ != nil && !y.is(opName, opGlobal, opDeref, opIndex, opField) && byAddress(y.typ)
	}
	return false
}

// byAddress says whether what a value of a type becomes in an interface is made from
// its address.
func byAddress(t types.Type) bool {
	const word = 8
	size := types.SizesFor("gc", "amd64")
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString == 0 && u.Info()&types.IsUntyped == 0 && size.Sizeof(u) != 2 && size.Sizeof(u) != 4 && size.Sizeof(u) != word
	case *types.Struct, *types.Array:
		n := size.Sizeof(u)
		return n != 2 && n != 4 && n != word || size.Alignof(u) != n
	}
	return false
}

// withoutCalls puts the calls in an expression into temporaries, and what else Go's
// compiler evaluates with them.
func (f *fn) withoutCalls(x *expr) *expr {
	switch {
	case x == nil || x.simple():
		return x
	case x.op == opDirect && !x.steady, x.op == opReceive, x.op == opCall && !x.inRuntime(), x.op == opField && x.args[0].op == opDirect && !x.args[0].steady, x.isCopied():
		if x.typ == nil {
			return f.spillAlways(x)
		}
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
