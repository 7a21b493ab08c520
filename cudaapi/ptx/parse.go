package ptx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Parse reads a module. An error names the line.
func Parse(text string) (m *Module, err error) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	defer func() {
		if r := recover(); r != nil {
			bad, ok := r.(syntax)
			if !ok {
				panic(r)
			}
			m, err = nil, error(bad)
		}
	}()
	return p.module(), nil
}

// syntax is an error that ends the reading.
type syntax struct {
	line int
	text string
}

func (e syntax) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.text) }

type parser struct {
	tokens []token
	at     int
	depth  int
}

const deepest = 100 // blocks and operands within each other

func (p *parser) line() int {
	if len(p.tokens) == 0 {
		return 1
	}
	return p.tokens[min(p.at, len(p.tokens)-1)].line
}

func (p *parser) fail(format string, args ...any) {
	panic(syntax{p.line(), fmt.Sprintf(format, args...)})
}

// peek is the next token's text; "" at the end.
func (p *parser) peek() string {
	if p.at == len(p.tokens) {
		return ""
	}
	return p.tokens[p.at].text
}

func (p *parser) take() string {
	t := p.peek()
	if t == "" {
		p.fail("the text ends too early")
	}
	p.at++
	return t
}

func (p *parser) accept(text string) bool {
	if p.peek() != text {
		return false
	}
	p.at++
	return true
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.fail("%q instead of %q", p.peek(), text)
	}
}

// name takes one of a variable, function, label or register.
func (p *parser) name() string {
	t := p.peek()
	if t == "" || digit(t[0]) || !wordByte(t[0]) || strings.Contains(t, ":") {
		p.fail("%q instead of a name", t)
	}
	return p.take()
}

func (p *parser) nested(f func()) {
	if p.depth++; p.depth > deepest {
		p.fail("too deep")
	}
	f()
	p.depth--
}

func (p *parser) module() *Module {
	m := &Module{Files: map[int]string{}}
	for p.peek() != "" {
		switch p.peek() {
		case ".version":
			p.at++
			m.Version = p.take()
		case ".target":
			p.at++
			m.Target = p.take()
			for p.accept(",") {
				m.Target += ", " + p.take()
			}
		case ".address_size":
			p.at++
			if n := p.integer(); n != 64 {
				p.fail("addresses of %d bits", n)
			}
		case ".file":
			p.file(m)
		case ".section":
			p.section()
		default:
			m.Decls = append(m.Decls, p.declaration()...)
		}
	}
	return m
}

func (p *parser) file(m *Module) {
	p.at++
	n := p.integer()
	name, err := strconv.Unquote(p.peek())
	if err != nil {
		p.fail("%s is no file's name", p.peek())
	}
	p.at++
	for p.accept(",") { // time and size
		p.take()
	}
	m.Files[int(n)] = name
}

// section passes over what is for debuggers.
func (p *parser) section() {
	for p.take() != "{" {
	}
	for p.take() != "}" {
	}
}

var linkages = []string{".visible", ".extern", ".weak", ".common"}

func (p *parser) declaration() []Decl {
	var linkage []string
	for slices.Contains(linkages, p.peek()) {
		linkage = append(linkage, p.take()[1:])
	}
	switch p.peek() {
	case ".entry", ".func":
		return []Decl{p.function(linkage)}
	}
	var out []Decl
	for _, v := range p.variables() {
		v.Linkage = linkage
		out = append(out, v)
	}
	return out
}

func (p *parser) function(linkage []string) *Function {
	f := &Function{Line: p.line(), Linkage: linkage, Kernel: p.take() == ".entry"}
	if p.peek() == "(" {
		f.Results = p.params()
	}
	f.Name = p.name()
	if p.peek() == "(" {
		f.Params = p.params()
	}
	for strings.HasPrefix(p.peek(), ".") {
		d := Directive{Name: p.take()[1:]}
		for p.peek() != "" && digit(p.peek()[0]) {
			d.Values = append(d.Values, int(p.integer()))
			if !p.accept(",") {
				break
			}
		}
		f.Directives = append(f.Directives, d)
	}
	if p.accept(";") {
		f.Declared = true
		return f
	}
	f.Body = p.block()
	return f
}

// params are those of a function, in parentheses.
func (p *parser) params() (list []*Variable) {
	p.expect("(")
	if p.accept(")") {
		return nil
	}
	for {
		v := p.variable(p.head())
		list = append(list, v)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return list
}

// head takes what several variables of one declaration have in common.
func (p *parser) head() Variable {
	v := Variable{Line: p.line()}
	for strings.HasPrefix(p.peek(), ".") {
		switch t := p.take()[1:]; t {
		case "reg", "global", "const", "shared", "local", "param", "sreg", "tex":
			v.Space = t
		case "align":
			v.Align = int(p.integer())
		case "v2", "v4", "v8":
			v.Vector = int(t[1] - '0')
		case "ptr": // of what a parameter points to
			for strings.HasPrefix(p.peek(), ".") {
				if p.take() == ".align" {
					p.integer()
				}
			}
		case "attribute":
			p.expect("(")
			for p.take() != ")" {
			}
		default:
			if v.Type != "" {
				p.at--
				p.fail("%q in a declaration", "."+t)
			}
			if (Type(t)).Bits() == 0 && t != "texref" && t != "surfref" && t != "samplerref" {
				p.at--
				p.fail("%q is no type", "."+t)
			}
			v.Type = Type(t)
		}
	}
	if v.Space == "" || v.Type == "" {
		p.fail("%q instead of a declaration", p.peek())
	}
	return v
}

// variables are those of a declaration, with its semicolon.
func (p *parser) variables() (list []*Variable) {
	head := p.head()
	for {
		list = append(list, p.variable(head))
		if !p.accept(",") {
			break
		}
	}
	p.expect(";")
	return list
}

func (p *parser) variable(v Variable) *Variable {
	v.Name = p.name()
	if p.accept("<") {
		v.Count = int(p.integer())
		p.expect(">")
	}
	for p.accept("[") {
		n := -1
		if p.peek() != "]" {
			n = int(p.integer())
		}
		p.expect("]")
		v.Dims = append(v.Dims, n)
	}
	if p.accept("=") {
		v.Init = p.initializer(nil)
	}
	return &v
}

func (p *parser) initializer(list []Value) []Value {
	if !p.accept("{") {
		return append(list, p.value())
	}
	p.nested(func() {
		for p.peek() != "}" {
			list = p.initializer(list)
			if !p.accept(",") {
				break
			}
		}
	})
	p.expect("}")
	return list
}

func (p *parser) value() (v Value) {
	if t := p.peek(); t == "-" || t != "" && digit(t[0]) {
		v.Literal = p.literal()
		return v
	}
	v.Symbol = p.name()
	if v.Symbol == "generic" && p.accept("(") {
		v.Symbol, v.Generic = p.name(), true
		p.expect(")")
	}
	v.Plus = p.plus()
	return v
}

// plus takes what is added to a symbol.
func (p *parser) plus() (n int64) {
	for {
		switch {
		case p.accept("+"):
			if p.accept("-") {
				n -= p.integer()
			} else {
				n += p.integer()
			}
		case p.accept("-"):
			n -= p.integer()
		default:
			return n
		}
	}
}

// literal takes a number, as it stands.
func (p *parser) literal() string {
	sign := ""
	if p.accept("-") {
		sign = "-"
	}
	t := p.peek()
	if t == "" || !digit(t[0]) {
		p.fail("%q instead of a number", t)
	}
	if _, _, err := Number(t); err != nil {
		p.fail("%v", err)
	}
	return sign + p.take()
}

func (p *parser) integer() int64 {
	t := p.peek()
	if t == "" || !digit(t[0]) {
		p.fail("%q instead of a number", t)
	}
	bits, float, err := Number(t)
	if err != nil || float || int64(bits) < 0 {
		p.fail("%q instead of a whole number", t)
	}
	p.at++
	return int64(bits)
}

// block takes statements in braces.
func (p *parser) block() (list []Statement) {
	p.expect("{")
	p.nested(func() {
		for !p.accept("}") {
			if p.peek() == "" {
				p.take()
			}
			list = append(list, p.statement()...)
		}
	})
	return list
}

func (p *parser) statement() []Statement {
	t := p.peek()
	switch {
	case t == "{":
		return []Statement{&Block{p.block()}}
	case t == ";":
		p.at++
		return nil
	case t == ".loc":
		return []Statement{p.place()}
	case t == ".pragma":
		for p.take() != ";" {
		}
		return nil
	case strings.HasPrefix(t, "."):
		var out []Statement
		for _, v := range p.variables() {
			out = append(out, v)
		}
		return out
	}
	if p.at+1 < len(p.tokens) && p.tokens[p.at+1].text == ":" {
		l := &Label{p.line(), p.name()}
		p.at++
		if strings.HasPrefix(p.peek(), ".call") || p.peek() == ".branchtargets" {
			return []Statement{p.prototype(l)}
		}
		return []Statement{l}
	}
	return []Statement{p.instruction()}
}

func (p *parser) place() *Place {
	p.at++
	l := &Place{File: int(p.integer()), Line: int(p.integer()), Column: int(p.integer())}
	for p.accept(",") {
		switch p.take() {
		case "function_name":
			p.take()
			p.plus()
		case "inlined_at":
			l.At = &Place{File: int(p.integer()), Line: int(p.integer()), Column: int(p.integer())}
		default:
			p.at--
			p.fail("%q in a place", p.peek())
		}
	}
	return l
}

func (p *parser) prototype(l *Label) *Prototype {
	q := &Prototype{Line: l.Line, Name: l.Name, Kind: p.take()[1:]}
	switch q.Kind {
	case "callprototype":
		if p.peek() == "(" {
			q.Results = p.params()
		}
		p.name()
		if p.peek() == "(" {
			q.Params = p.params()
		}
		for strings.HasPrefix(p.peek(), ".") { // .noreturn
			p.at++
		}
	case "calltargets", "branchtargets":
		for {
			q.Targets = append(q.Targets, p.name())
			if !p.accept(",") {
				break
			}
		}
	default:
		p.at--
		p.fail("%q behind a label", p.peek())
	}
	p.expect(";")
	return q
}

func (p *parser) instruction() *Instruction {
	i := &Instruction{Line: p.line()}
	if p.accept("@") {
		i.Not = p.accept("!")
		i.Guard = p.name()
	}
	op := p.peek()
	if op == "" || op[0] < 'a' || op[0] > 'z' {
		p.fail("%q instead of an instruction", op)
	}
	parts := strings.Split(p.take(), ".")
	i.Op, i.Mods = parts[0], parts[1:]
	if p.accept(";") {
		return i
	}
	for {
		i.Operands = append(i.Operands, p.operand())
		if !p.accept(",") {
			break
		}
	}
	p.expect(";")
	return i
}

func (p *parser) operand() (o Operand) {
	p.nested(func() { o = p.single() })
	if p.peek() != "|" {
		return o
	}
	both := Operand{Kind: Both, Parts: []Operand{o}}
	p.at++
	p.nested(func() { both.Parts = append(both.Parts, p.single()) })
	return both
}

func (p *parser) single() Operand {
	t := p.peek()
	switch {
	case t == "-" && p.at+1 < len(p.tokens) && !digit(p.tokens[p.at+1].text[0]):
		p.at++
		return Operand{Kind: Negated, Text: p.name()}
	case t == "-" || t != "" && digit(t[0]):
		return Operand{Kind: Literal, Text: p.literal()}
	case t == "!":
		p.at++
		return Operand{Kind: Inverted, Text: p.name()}
	case t == "{":
		return Operand{Kind: Vector, Parts: p.parts("{", "}")}
	case t == "(":
		return Operand{Kind: List, Parts: p.parts("(", ")")}
	case t == "[":
		p.at++
		o := Operand{Kind: Address}
		if t := p.peek(); t != "" && !digit(t[0]) && t != "-" {
			o.Text = p.name()
			o.Plus = p.plus()
		} else if p.accept("-") {
			o.Plus = -p.integer()
		} else {
			o.Plus = p.integer()
		}
		for p.accept(",") {
			o.Parts = append(o.Parts, p.operand())
		}
		p.expect("]")
		return o
	}
	return Operand{Kind: Name, Text: p.name(), Plus: p.plus()}
}

func (p *parser) parts(open, close string) (list []Operand) {
	p.expect(open)
	if p.accept(close) {
		return nil
	}
	for {
		list = append(list, p.operand())
		if !p.accept(",") {
			break
		}
	}
	p.expect(close)
	return list
}
