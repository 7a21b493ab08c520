package lower

import (
	"fmt"
	"go/constant"
	"go/types"
	"strings"
)

// constant writes a constant of type t. typed says that nothing around it
// tells the type.
func (l *Lowerer) constant(v constant.Value, t types.Type, typed bool) string {
	if types.IsInterface(t) {
		t = types.Default(types.Typ[types.UntypedInt])
		switch v.Kind() {
		case constant.Bool:
			t = types.Typ[types.Bool]
		case constant.String:
			t = types.Typ[types.String]
		case constant.Float:
			t = types.Typ[types.Float64]
		case constant.Complex:
			t = types.Typ[types.Complex128]
		}
	}
	b, ok := t.Underlying().(*types.Basic)
	if !ok {
		panic(fmt.Errorf("constant of type %s", t))
	}
	rep := l.rep(t)
	var text string
	switch {
	case b.Info()&types.IsBoolean != 0:
		text = fmt.Sprint(constant.BoolVal(v))
		if rep == "bool" {
			return text
		}
	case b.Info()&types.IsString != 0:
		text = quote(constant.StringVal(v))
		if rep == "string" {
			return text
		}
	case b.Info()&types.IsInteger != 0:
		text = constant.ToInt(v).ExactString()
		if rep == "int" && !strings.HasPrefix(text, "-") {
			return text
		}
	case b.Info()&types.IsFloat != 0:
		text = floatText(constant.ToFloat(v), b.Kind() == types.Float32)
		if rep == "float64" && !typed && !strings.HasPrefix(text, "-") {
			return text
		}
	case b.Info()&types.IsComplex != 0:
		c := constant.ToComplex(v)
		narrow := b.Kind() == types.Complex64
		part := "float64"
		if narrow {
			part = "float32"
		}
		text = fmt.Sprintf("complex(%s(%s), %s(%s))", part, floatText(constant.Real(c), narrow), part, floatText(constant.Imag(c), narrow))
		return l.complexVar(rep, text)
	case b.Kind() == types.UnsafePointer:
		return fmt.Sprintf("%s(uintptr(%s))", rep, v.ExactString())
	default:
		panic(fmt.Errorf("constant of type %s", t))
	}
	return rep + "(" + text + ")"
}

// complexVar is a variable that holds a complex constant: the interpreter
// loses one that stands as an argument.
func (l *Lowerer) complexVar(rep, text string) string {
	key := "complex " + rep + text
	if h, ok := l.helpers[key]; ok {
		return h
	}
	h := l.fresh("k")
	put(l, l.helpers, key, h)
	fmt.Fprintf(&l.types, "var %s %s\n", h, rep)
	if rep != "complex64" && rep != "complex128" {
		text = rep + "(" + text + ")"
	}
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
