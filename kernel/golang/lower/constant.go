package lower

import (
	"fmt"
	"go/constant"
	"go/types"
	"strings"
)

// constant is a constant of type t. typed says that nothing around it tells the
// type.
func (l *Lowerer) constant(v constant.Value, t types.Type, typed bool) *expr {
	if types.IsInterface(t) {
		t = map[constant.Kind]types.Type{
			constant.Bool: boolType, constant.String: types.Typ[types.String], constant.Int: intType,
			constant.Float: types.Typ[types.Float64], constant.Complex: types.Typ[types.Complex128],
		}[v.Kind()]
	}
	b, ok := t.Underlying().(*types.Basic)
	if !ok {
		panic(fmt.Errorf("constant of type %s", t))
	}
	rep := l.represent(t)
	is := func(kind types.BasicKind) bool { return rep.typ == basicTypes[kind] }
	var text string
	plain := false // the interpreter gives it its type by itself
	switch {
	case b.Info()&types.IsBoolean != 0:
		text, plain = fmt.Sprint(constant.BoolVal(v)), is(types.Bool)
	case b.Info()&types.IsString != 0:
		text, plain = quote(constant.StringVal(v)), is(types.String)
	case b.Info()&types.IsInteger != 0:
		text, plain = constant.ToInt(v).ExactString(), is(types.Int) && constant.Sign(v) >= 0
	case b.Info()&types.IsFloat != 0:
		text, plain = floatText(constant.ToFloat(v), b.Kind() == types.Float32), is(types.Float64) && !typed && constant.Sign(v) >= 0
	case b.Info()&types.IsComplex != 0:
		return ident(l.complexVar(rep, constant.ToComplex(v), b.Kind() == types.Complex64), t)
	case b.Kind() == types.UnsafePointer:
		return node(opConvert, rep.text, t, node(opConvert, "uintptr", nil, literal(v.ExactString(), nil)))
	default:
		panic(fmt.Errorf("constant of type %s", t))
	}
	if plain {
		return literal(text, t)
	}
	return node(opConvert, rep.text, t, literal(text, t))
}

// complexVar is a variable that holds a complex constant: the interpreter
// loses one that stands as an argument.
func (l *Lowerer) complexVar(rep representation, v constant.Value, narrow bool) string {
	part := "float64"
	if narrow {
		part = "float32"
	}
	text := fmt.Sprintf("complex(%s(%s), %s(%s))", part, floatText(constant.Real(v), narrow), part, floatText(constant.Imag(v), narrow))
	if rep.typ != basicTypes[types.Complex64] && rep.typ != basicTypes[types.Complex128] {
		text = rep.text + "(" + text + ")"
	}
	key := "complex " + rep.text + text
	if h, ok := l.helpers[key]; ok {
		return h
	}
	h := l.fresh("k")
	put(l, l.helpers, key, h)
	fmt.Fprintf(&l.types, "var %s %s\n", h, rep.text)
	l.inits = append(l.inits, h+" = "+text)
	return h
}

func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= ' ' && c < 0x7f:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "\\x%02x", c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func floatText(v constant.Value, narrow bool) string {
	var text string
	if narrow {
		x, _ := constant.Float32Val(v)
		text = fmt.Sprintf("%g", x)
	} else {
		x, _ := constant.Float64Val(v)
		text = fmt.Sprintf("%g", x)
	}
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}
