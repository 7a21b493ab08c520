package lower

import (
	"go/types"
	"reflect"
	"slices"
	"strings"
)

// The interpreter does not hand over an argument that reflect takes for zero, and so
// loses the sign of -0, be it in a struct or an array. An interface it hands over. So
// a function with such parameters is written twice: calls by its name are calls of one
// whose parameters are interfaces, and where it is a value, it calls that.
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
func (l *Lowerer) writeSigned(name string, h header, body code) {
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
			given = append(given, stmt{effect, "var %s %s = %s.(%s)", []any{p.name, p.typ, again.params[i].name, p.typ}})
		}
	}
	l.writeFunc(callName(name), again, append(given, body...))
	ret := ""
	if h.results != "" {
		ret = "return "
	}
	l.writeFunc(name, h, code{{effect, "%s%s", []any{ret, call(nil, ident(name, nil), args...)}}})
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
