package lower

import (
	"go/types"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// The interpreter does not hand over an argument that reflect takes for zero, and so
// loses the sign of -0, be it in a struct or an array. An interface it hands over. So
// a function with such parameters is written twice: calls by its name are calls of one
// whose parameters are interfaces, and where it is a value, it calls that. If it calls
// itself with what cannot be -0, such as n-1, both have its body, and that call is of the
// one whose parameters are plain: it takes less than three quarters of the time.
const (
	signed  = "_s"         // ends the name of a function with such parameters
	handing = signed + "z" // ends the name of the one that calls call
)

// callName is the name by which calls call the function with a name.
func callName(name string) string {
	if strings.HasSuffix(name, signed) {
		return strings.TrimSuffix(name, signed) + handing
	}
	return name
}

// signedName is a function's name, if its parameters are of these types.
func (l *Lowerer) signedName(name string, params ...types.Type) string {
	ending := ""
	for _, t := range params {
		if l.isSigned(t) {
			ending = signed
		}
	}
	return name + ending
}

// varTypes are the types of variables.
func varTypes(t *types.Tuple) (list []types.Type) {
	for v := range t.Variables() {
		list = append(list, v.Type())
	}
	return list
}

// isSigned says whether a value of a type may be a zero with a sign, or have one in it.
func (l *Lowerer) isSigned(t types.Type) bool {
	r := l.represent(t)
	if !holdsFloat(r.typ) {
		return false
	}
	l.signed[r.text] = true
	return true
}

func holdsFloat(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return true
	case reflect.Array:
		return holdsFloat(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if holdsFloat(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// writeSigned writes a function twice.
func (l *Lowerer) writeSigned(name string, h header, body code, plain bool) {
	again := header{slices.Clone(h.params), h.results}
	var given code
	args := make([]*expr, len(h.params))
	for i, p := range h.params {
		args[i] = ident(p.name, nil)
		if strings.HasPrefix(p.typ, "...") {
			args[i] = spread(args[i])
		}
		if l.signed[p.typ] {
			again.params[i] = param{l.fresh("p"), "any"}
			given = append(given, stmt{format: "%s, _ := %s.(%s)", args: []any{p.name, again.params[i].name, p.typ}})
		}
	}
	l.writeFunc(callName(name), again, append(given, body...))
	if plain {
		l.writeFunc(name, h, body)
		return
	}
	ret := ""
	if h.results != "" {
		ret = "return "
	}
	l.writeFunc(name, h, code{{format: "%s%s", args: []any{ret, call(nil, ident(name, nil), args...)}}})
}

// given is an argument of a function whose parameters may be interfaces: a constant
// has its type.
func given(x *expr) *expr {
	if x.op != opLiteral || x.typ == nil {
		return x
	}
	if b, ok := x.typ.Underlying().(*types.Basic); ok && b.Info()&types.IsFloat != 0 {
		return node(opConvert, b.Name(), x.typ, x)
	}
	return x
}

// callsPlain has a function call the one with plain parameters where it calls itself
// with what cannot be -0. It says whether it does.
func (l *Lowerer) callsPlain(name string, h header, body code) (does bool) {
	if callName(name) == name {
		return false
	}
	for _, s := range body {
		for _, arg := range s.args {
			list, _ := arg.(exprList)
			if x, ok := arg.(*expr); ok {
				list = exprList{x}
			}
			node(opPair, "", nil, list...).contains(func(x *expr) bool {
				if x.op == opCall && x.args[0].op == opName && x.args[0].text == name && l.positive(h, x.args[1:]) {
					x.args[0] = node(opGlobal, name, x.args[0].typ)
					does = true
				}
				return false
			})
		}
	}
	return does
}

// positive says whether no zero among arguments has a sign.
func (l *Lowerer) positive(h header, args []*expr) bool {
	for i, p := range h.params {
		if l.signed[p.typ] && (i >= len(args) || args[i].maybeNegativeZero()) {
			return false
		}
	}
	return true
}

// maybeNegativeZero says whether a number may be -0. A sum is that only if both terms are.
func (x *expr) maybeNegativeZero() bool {
	nonzero := func(x *expr) bool {
		n, err := strconv.ParseFloat(x.text, 64)
		return x.op == opLiteral && err == nil && math.Abs(n) > 1e-30 // with any precision
	}
	switch x.op {
	case opLiteral:
		return false
	case opConvert:
		b, ok := x.args[0].typ.(*types.Basic)
		return !ok || b.Info()&types.IsInteger == 0
	case opBinary:
		return x.text != "+" && x.text != "-" || !nonzero(x.args[0]) && !nonzero(x.args[1])
	}
	return true
}
