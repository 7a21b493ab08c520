package lower

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// stmt is a line of lowered code: a statement, or the beginning or end of one. It
// is written when the function is done.
type stmt struct {
	kind   kind
	format string
	args   []any
	early  bool // Go's compiler does it with the calls
}

// kind says what a statement is to those around it.
type kind uint8

const (
	effect kind = iota
	pure        // it computes or checks what nothing has to be kept from
	keeps       // it keeps a value in a temporary
	note        // it notes the position
)

// code is a list of statements.
type code []stmt

func (c code) write(b *strings.Builder) {
	for _, s := range c {
		s.write(b)
		b.WriteByte('\n')
	}
}

// write is fmt.Fprintf without its cost for what statements have: expressions,
// names and numbers.
func (s stmt) write(b *strings.Builder) {
	format := s.format
	for _, arg := range s.args {
		i := strings.IndexByte(format, '%')
		b.WriteString(format[:i])
		verb := format[i : i+2]
		format = format[i+2:]
		switch x := arg.(type) {
		case *expr:
			x.write(b)
		case int:
			b.WriteString(strconv.Itoa(x))
		case string:
			if verb == "%q" {
				x = strconv.Quote(x)
			}
			b.WriteString(x)
		default:
			fmt.Fprintf(b, verb, x)
		}
	}
	b.WriteString(format)
}

func (s stmt) String() string {
	var b strings.Builder
	s.write(&b)
	return b.String()
}

// pure says whether nothing has to be kept from a list of statements.
func (c code) pure() bool {
	return !slices.ContainsFunc(c, func(s stmt) bool { return s.kind != pure })
}

// emit writes a statement.
func (f *fn) emit(format string, args ...any) { f.emitAs(effect, format, args...) }

func (f *fn) emitAs(k kind, format string, args ...any) {
	f.out = append(f.out, stmt{kind: k, format: format, args: args})
}

// captured runs a step with its own output, and returns that.
func (f *fn) captured(step func()) code {
	n := len(f.out)
	step()
	made := slices.Clone(f.out[n:])
	f.out = f.out[:n]
	return made
}

func (f *fn) add(c code) { f.out = append(f.out, c...) }

// param is a parameter in the header of a function.
type param struct{ name, typ string }

// header is what stands between a function's name and its body.
type header struct {
	params  []param
	results string // with a space in front
}

func (h header) String() string { return h.text(func(p param) string { return p.name + " " + p.typ }) }

// types writes the header of the function's type.
func (h header) types() string { return h.text(func(p param) string { return p.typ }) }

func (h header) text(of func(param) string) string {
	list := make([]string, len(h.params))
	for i, p := range h.params {
		list[i] = of(p)
	}
	return "(" + strings.Join(list, ", ") + ")" + h.results
}
