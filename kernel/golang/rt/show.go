package rt

import (
	"fmt"
	"go/types"
	"regexp"
	"strings"
)

// shown is a boxed value in the hands of compiled code that looks for methods
// on it, as package display does.
type shown struct{ Box }

// MIMEBundle gives what the value's own methods say of it.
func (s shown) MIMEBundle() map[string]any {
	if f, ok := method[map[string]any](s.Box, "MIMEBundle"); ok {
		return f()
	}
	data := map[string]any{"text/plain": fmt.Sprint(s.Box)}
	for _, m := range []struct{ name, mime string }{
		{"HTML", "text/html"}, {"Markdown", "text/markdown"}, {"LaTeX", "text/latex"}, {"SVG", "image/svg+xml"},
	} {
		if f, ok := method[string](s.Box, m.name); ok {
			data[m.mime] = f()
		}
	}
	return data
}

// out is what compiled code gets where it takes any: the bare value, or one
// whose methods it will look for.
func (r *Runtime) out(x any) any {
	b, ok := unwrap(x).(Box)
	if !ok {
		return x
	}
	for _, name := range []string{"MIMEBundle", "HTML", "Markdown", "LaTeX", "SVG"} {
		if b.T.Method(name).IsValid() {
			return shown{b}
		}
	}
	if b.T.Method("Error").IsValid() {
		return userError{b}
	}
	if b.T.Method("String").IsValid() {
		return userStringer{b}
	}
	return b.V
}

// typeVerbs takes %T out of a format, and boxes from %p: fmt would print Box.
// Where the format has numbers of arguments, other verbs may use the same ones:
// what these verbs print is appended, and has a number too.
func typeVerbs(format string, args []any) (string, []any) {
	if !strings.ContainsAny(format, "Tp") {
		return format, args
	}
	numbered := strings.Contains(format, "[")
	var text strings.Builder
	out := append([]any(nil), args...)
	arg := 0
	moved := false // the verb before has another number than it had
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			text.WriteByte(format[i])
			continue
		}
		j := i + 1
		first := -1 // where the number of an argument can stand
		for j < len(format) && strings.IndexByte("+-# 0123456789.[]*", format[j]) >= 0 {
			if format[j] == '*' {
				if arg++; first < 0 {
					first = j
				}
			}
			if format[j] == '[' {
				first = len(format)
				n := 0
				for j++; j < len(format) && format[j] >= '0' && format[j] <= '9'; j++ {
					n = n*10 + int(format[j]-'0')
				}
				arg = n - 1
				continue
			}
			j++
		}
		if j >= len(format) {
			text.WriteString(format[i:])
			break
		}
		verb := format[j]
		if verb == '%' {
			text.WriteString(format[i : j+1])
			i = j
			continue
		}
		if first < 0 {
			first = j
		}
		flags := format[i:j]
		if moved && first < len(format) {
			flags = fmt.Sprintf("%s[%d]%s", format[i:first], arg+1-strings.Count(flags, "*"), format[first:j])
		}
		moved = false
		if b, ok := boxedArg(out, arg); ok && (verb == 'T' || verb == 'p') {
			x := b.V
			if verb == 'T' {
				x, verb = b.T.Name, 's'
			}
			if !numbered {
				out[arg] = x
			} else if flags, _, _ = strings.Cut(flags, "["); !strings.Contains(flags, "*") {
				out = append(out, x)
				flags += fmt.Sprintf("[%d]", len(out))
				moved = true
			}
		}
		text.WriteString(flags)
		text.WriteByte(verb)
		arg++
		i = j
	}
	return text.String(), out
}

// boxedArg is a cell's value among the arguments of a format.
func boxedArg(args []any, i int) (Box, bool) {
	if i < 0 || i >= len(args) {
		return Box{}, false
	}
	b, ok := unwrap(args[i]).(Box)
	return b, ok
}

// nested returns the registered type for a component of t, or nil.
func (t *Type) nested(component types.Type) *Type {
	if t.rt.TypeFor == nil {
		return nil
	}
	return t.rt.TypeFor(component)
}

// nameOf writes a component's type as fmt does.
func (t *Type) nameOf(component types.Type) string { return TypeString(component) }

// TypeString writes a type as %T does: packages by their names.
func TypeString(t types.Type) string {
	s := reflectSpaces(types.TypeString(t, func(p *types.Package) string { return p.Name() }))
	if b, ok := types.Unalias(t).(*types.Interface); ok && b.Empty() {
		return "interface {}"
	}
	if strings.Contains(s, "byte") || strings.Contains(s, "rune") {
		for range 2 { // what is behind one may be in front of another: map[byte]rune
			s = aliasName.ReplaceAllStringFunc(s, func(name string) string { return aliases.Replace(name) })
		}
	}
	return anyName.ReplaceAllString(s, "${1}interface {}$2")
}

// aliasName is a predeclared alias as a type, for which package reflect writes
// what it stands for.
var (
	aliasName = regexp.MustCompile(`(^|[^\pL\pN_.])(byte|rune)([^\pL\pN_. ]| [}"]|$)`)
	aliases   = strings.NewReplacer("byte", "uint8", "rune", "int32")
)

// anyName is any as a type: not a field of that name, which has a type behind it.
var anyName = regexp.MustCompile(`(^|[^\pL\pN_.])any([^\pL\pN_. ]| [}"]|$)`)

// reflectSpaces puts the spaces of a type as package reflect does: those of
// go/types are others.
func reflectSpaces(s string) string {
	var out strings.Builder
	var open []byte // brackets
	quoted := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		last := byte(0)
		if len(open) > 0 {
			last = open[len(open)-1]
		}
		switch {
		case quoted:
			if c == '\\' {
				out.WriteByte(c)
				i++
				c = s[i]
			} else if c == '"' {
				quoted = false
			}
		case c == '"':
			quoted = true
		case c == '(' || c == '[':
			open = append(open, c)
		case c == '{':
			out.WriteString(" {")
			if c = ' '; s[i+1] == '}' {
				out.WriteByte('}')
				i++
				continue
			}
			open = append(open, '{')
		case c == '}':
			out.WriteByte(' ')
			open = open[:len(open)-1]
		case c == ')' || c == ']':
			open = open[:len(open)-1]
		case c == ' ' && last == '[' && s[i-1] == ',':
			continue
		}
		out.WriteByte(c)
	}
	return out.String()
}

// PanicText writes a boxed value as Go's runtime does in a panic.
func PanicText(b Box) string {
	for _, name := range []string{"Error", "String"} {
		if f, ok := method[string](b, name); ok {
			return f()
		}
	}
	if _, ok := b.T.Type.Underlying().(*types.Basic); ok {
		if s, ok := b.V.(string); ok {
			return fmt.Sprintf("%s(%q)", b.T.Name, s)
		}
		return fmt.Sprintf("%s(%v)", b.T.Name, b.V)
	}
	return fmt.Sprintf("%+v", b)
}

// Value is what display looks at for a value of lowered code.
func (r *Runtime) Value(v any) any { return r.out(v) }

// HasMethods says whether a value says itself how it is shown.
func (r *Runtime) HasMethods(b Box) bool {
	for _, name := range []string{"MIMEBundle", "HTML", "Markdown", "LaTeX", "SVG", "Error", "String"} {
		if b.T.Method(name).IsValid() {
			return true
		}
	}
	return false
}
