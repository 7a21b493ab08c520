package ir

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
	"text/scanner"
)

// Parse reads the text that [Fprint] writes. The file set has the places that the text
// gives, in a file of that name.
func Parse(name, text string) (p *Program, fset *token.FileSet, err error) {
	t := &textReader{prog: new(Program), types: make(map[string]*types.Named), funcs: make(map[string]*Func), fset: token.NewFileSet()}
	t.tokens(name, text)
	defer func() {
		switch r := recover().(type) {
		case nil:
		case textError:
			p, err = nil, r
		default:
			panic(r)
		}
	}()
	for i, at := range t.list { // types may name those that follow
		if at.text == "type" && (i == 0 || t.list[i-1].text == "\n") {
			path, _ := strconv.Unquote(t.list[i+2].text)
			full, _ := strconv.Unquote(t.list[i+3].text)
			var pkg *types.Package
			if path != "" {
				pkg = types.NewPackage(path, path[strings.LastIndexByte(path, '/')+1:])
			}
			t.types[t.list[i+1].text] = types.NewNamed(types.NewTypeName(token.NoPos, pkg, full, nil), nil, nil)
		}
	}
	t.scope = &textScope{vars: make(map[string]*Var)}
	for !t.is("") {
		t.top()
	}
	return t.prog, t.fset, nil
}

// textError is a mistake in the text.
type textError struct{ error }

type textToken struct {
	text string // "" at the end
	kind rune   // scanner's
	at   scanner.Position
	end  int
}

type textReader struct {
	list  []textToken
	prog  *Program
	types map[string]*types.Named
	funcs map[string]*Func
	fset  *token.FileSet
	file  *token.File
	scope *textScope
}

// textScope is the names of a block.
type textScope struct {
	vars   map[string]*Var
	labels map[string]*Label // of a function
	outer  *textScope
}

// lineWidth is how many columns a line of the source has at most.
const lineWidth, mostLines = 1 << 10, 1 << 16

func (t *textReader) tokens(name, text string) {
	t.file = t.fset.AddFile(name, -1, lineWidth*mostLines)
	lines := make([]int, mostLines)
	for i := range lines {
		lines[i] = i * lineWidth
	}
	t.file.SetLines(lines)
	var s scanner.Scanner
	s.Init(strings.NewReader(text))
	s.Filename, s.Mode = name, scanner.ScanIdents|scanner.ScanInts|scanner.ScanFloats|scanner.ScanStrings|scanner.ScanComments|scanner.SkipComments
	s.Whitespace ^= 1 << '\n'
	s.Error = func(*scanner.Scanner, string) {}
	for kind := s.Scan(); kind != scanner.EOF; kind = s.Scan() {
		one := textToken{s.TokenText(), kind, s.Position, s.Pos().Offset}
		if n := len(t.list); n > 0 && slices.Contains(longOperators, t.list[n-1].text+one.text) && t.list[n-1].end == one.at.Offset {
			t.list[n-1].text, t.list[n-1].end = t.list[n-1].text+one.text, one.end
			continue
		}
		t.list = append(t.list, one)
	}
	t.list = append(t.list, textToken{text: "\n", at: s.Pos()})
	for range ahead {
		t.list = append(t.list, textToken{at: s.Pos()})
	}
}

var longOperators = []string{"==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "&^"}

var textOperators = map[string]token.Token{
	"+": token.ADD, "-": token.SUB, "*": token.MUL, "/": token.QUO, "%": token.REM, "&": token.AND, "|": token.OR, "^": token.XOR, "&^": token.AND_NOT,
	"<<": token.SHL, ">>": token.SHR, "==": token.EQL, "!=": token.NEQ, "<": token.LSS, "<=": token.LEQ, ">": token.GTR, ">=": token.GEQ, "&&": token.LAND, "||": token.LOR,
}

func (t *textReader) fail(format string, args ...any) {
	panic(textError{fmt.Errorf("%s: %s", t.list[0].at, fmt.Sprintf(format, args...))})
}

func (t *textReader) is(text string) bool { return t.list[0].text == text }

// ahead is how many tokens are looked at at once.
const ahead = 4

func (t *textReader) next() string {
	text := t.list[0].text
	if len(t.list) > ahead {
		t.list = t.list[1:]
	}
	return text
}

// takes takes a token if it is there.
func (t *textReader) takes(text string) bool {
	if t.is(text) {
		t.next()
		return true
	}
	return false
}

func (t *textReader) want(text string) {
	if !t.takes(text) {
		t.fail("there is %q where %q is wanted", t.list[0].text, text)
	}
}

func (t *textReader) name() string {
	if t.list[0].kind != scanner.Ident {
		t.fail("there is %q where a name is wanted", t.list[0].text)
	}
	return t.next()
}

func (t *textReader) number() int {
	n, err := strconv.Atoi(t.list[0].text)
	if err != nil {
		t.fail("%q is no number", t.list[0].text)
	}
	t.next()
	return n
}

func (t *textReader) quoted() string {
	text, err := strconv.Unquote(t.list[0].text)
	if err != nil {
		t.fail("%q is no text", t.list[0].text)
	}
	t.next()
	return text
}

// at reads the place of a statement, and the line's end.
func (t *textReader) at() (pos token.Pos) {
	if t.takes("at") {
		line := t.number()
		t.want(":")
		column := t.number()
		if line < 1 || line > mostLines || column < 1 || column > lineWidth {
			t.fail("there is no place %d:%d", line, column)
		}
		pos = t.file.Pos((line-1)*lineWidth + column - 1)
	}
	return pos
}

func (t *textReader) top() {
	switch word := t.next(); word {
	case "\n":
		return
	case "type":
		name := t.name()
		t.quoted()
		t.quoted()
		t.types[name].SetUnderlying(t.typ().Underlying())
	case "global", "constant":
		v := &Var{Name: t.name(), Space: map[string]Space{"global": Global, "constant": Constant}[word]}
		v.Type = t.typ()
		if t.takes("=") {
			v.Init = t.expr()
		}
		t.scope.vars[v.Name] = v
		t.prog.Globals = append(t.prog.Globals, v)
	case "func":
		t.prog.Funcs = append(t.prog.Funcs, t.fun(t.function))
	default:
		t.fail("%q begins no declaration", word)
	}
	t.want("\n")
}

// function is one of the program, which may follow.
func (t *textReader) function(name string) *Func {
	if t.funcs[name] == nil {
		t.funcs[name] = &Func{Name: name}
	}
	return t.funcs[name]
}

// fun reads a function behind its first word.
func (t *textReader) fun(make func(name string) *Func) *Func {
	var flags []string
	for t.list[1].kind == scanner.Ident {
		flags = append(flags, t.name())
	}
	f := make(t.name())
	for _, word := range flags {
		switch word {
		case "kernel":
			f.Kernel = true
		case "called":
			f.Called = true
		case "takes":
			f.Takes = true
		case "foreign":
			f.Foreign = true
		case "outside":
			f.Outside = true
		default:
			t.fail("a function is not %q", word)
		}
	}
	f.Go = t.quoted()
	t.opens(true)
	t.want("(")
	for !t.takes(")") {
		f.Params = append(f.Params, t.declared(Local))
		t.scope.vars[f.Params[len(f.Params)-1].Name] = f.Params[len(f.Params)-1]
		t.takes(",")
	}
	f.Results = t.typesIn()
	f.Pos = t.at()
	f.Body = t.body()
	t.closes()
	return f
}

func (t *textReader) opens(function bool) {
	t.scope = &textScope{vars: make(map[string]*Var), outer: t.scope}
	if function {
		t.scope.labels = make(map[string]*Label)
	}
}

func (t *textReader) closes() { t.scope = t.scope.outer }

func (t *textReader) typesIn() (list []types.Type) {
	t.want("(")
	for !t.takes(")") {
		list = append(list, t.typ())
		t.takes(",")
	}
	return list
}

// body reads statements in braces, and leaves what follows the last of them.
func (t *textReader) body() (list []Stmt) {
	t.want("{")
	t.want("\n")
	t.opens(false)
	for !t.takes("}") {
		list = append(list, t.stmt())
		t.want("\n")
	}
	t.closes()
	return list
}

func (t *textReader) variable() *Var {
	name := t.name()
	v := t.find(name)
	if v == nil {
		t.fail("%s is not declared", name)
	}
	return v
}

func (t *textReader) find(name string) *Var {
	for s := t.scope; s != nil; s = s.outer {
		if v := s.vars[name]; v != nil {
			return v
		}
	}
	return nil
}

func (t *textReader) declared(space Space) *Var {
	v := &Var{Name: t.name(), Space: space}
	v.There = t.takes("there")
	v.Type = t.typ()
	return v
}

// label is one of the function. A loop or a block declares it: its name may be that of
// one before.
func (t *textReader) label(name string, declares bool) *Label {
	s := t.scope
	for s.labels == nil {
		s = s.outer
	}
	if declares || s.labels[name] == nil {
		s.labels[name] = &Label{Name: name}
	}
	return s.labels[name]
}

func (t *textReader) stmt() Stmt {
	if next := t.list[1].text; t.list[0].kind != scanner.Ident || next == "=" || next == "." || next == "[" {
		to := t.expr()
		t.want("=")
		return &Assign{To: to, Value: t.expr()}
	}
	switch word := t.next(); word {
	case "var", "shared":
		d := &Define{Var: t.declared(map[string]Space{"var": Local, "shared": Shared}[word])}
		if t.takes("=") {
			d.Init = t.expr()
		}
		t.scope.vars[d.Var.Name] = d.Var
		return d
	case "lit":
		lit := t.fun(func(name string) *Func { return &Func{Name: name} })
		v := &Var{Name: lit.Name, Type: signature(lit)}
		t.scope.vars[v.Name] = v
		return &Closure{Var: v, Lit: lit}
	case "call":
		c := new(Call)
		for c.Dst = nil; t.list[1].text == "," || t.list[1].text == "="; {
			if t.is("_") {
				t.next()
				c.Dst = append(c.Dst, nil)
			} else {
				c.Dst = append(c.Dst, t.variable())
			}
			if t.takes("=") {
				break
			}
			t.want(",")
		}
		if t.takes("lit") {
			c.Lit = t.variable()
		} else {
			c.Func = t.function(t.name())
		}
		c.Args = t.args()
		c.Pos = t.at()
		return c
	case "do":
		return t.effect()
	case "printf":
		return &Printf{Format: t.quoted(), Args: t.args()}
	case "if":
		s := &If{Cond: t.expr()}
		s.Then = t.body()
		if t.takes("else") {
			s.Else = t.body()
		}
		return s
	case "for":
		l := &Loop{Short: t.takes("short"), Slow: t.takes("slow")}
		l.Label = t.label(t.name(), true)
		if !t.is("{") && !(t.is("at") && t.list[2].text == ":") {
			l.Cond = t.expr()
		}
		l.Pos = t.at()
		l.Body = t.body()
		if t.takes("post") {
			l.Post = t.body()
		}
		return l
	case "block":
		b := new(Block)
		if !t.is("{") {
			b.Label = t.label(t.name(), true)
		}
		b.Body = t.body()
		return b
	case "break":
		return &Leave{To: t.label(t.name(), false)}
	case "continue":
		return &Again{To: t.label(t.name(), false)}
	case "label":
		return &Mark{Label: t.label(t.name(), false)}
	case "goto":
		return &Jump{To: t.label(t.name(), false), Pos: t.at()}
	case "return":
		r := new(Return)
		for !t.is("\n") {
			r.Values = append(r.Values, t.expr())
			t.takes(",")
		}
		return r
	case "check":
		kind := slices.Index(checkNames, t.list[0].text)
		if kind < 0 {
			t.fail("there is no check of %q", t.list[0].text)
		}
		t.next()
		c := &Check{Kind: CheckKind(kind), Args: t.args()}
		for !t.is("at") && !t.is("\n") {
			switch word := t.next(); word {
			case "holds":
				c.Holds = true
			case "fails":
				c.Fails = true
			case "high":
				c.High = true
			case "max":
				c.Max = true
			case "cap":
				c.Cap = true
			default:
				t.fail("a check is not %q", word)
			}
		}
		c.Pos = t.at()
		return c
	case "panic":
		p := &Panic{Text: t.quoted(), Runtime: t.takes("runtime")}
		p.Pos = t.at()
		return p
	case "step":
		return &Step{Pos: t.at()}
	default:
		t.fail("%q begins no statement", word)
	}
	return nil
}

func signature(f *Func) *types.Signature {
	tuple := func(list []types.Type) *types.Tuple {
		var vars []*types.Var
		for _, t := range list {
			vars = append(vars, types.NewParam(token.NoPos, nil, "", t))
		}
		return types.NewTuple(vars...)
	}
	var params []types.Type
	for _, v := range f.Params {
		params = append(params, v.Type)
	}
	return types.NewSignatureType(nil, nil, nil, tuple(params), tuple(f.Results), false)
}

// effect reads an effect, or an operation on memory.
func (t *textReader) effect() Stmt {
	var dst *Var
	if t.list[1].text == "=" {
		dst = t.variable()
		t.want("=")
	}
	name := t.name()
	if !t.takes(".") {
		e := &Effect{Dst: dst, Name: name, T: t.applied(nil)}
		e.Args = t.args()
		e.Pos = t.at()
		return e
	}
	order := t.name()
	t.want(".")
	scope := t.name()
	m := &Memory{Dst: dst, Op: MemoryOp(slices.Index(memoryNames, name)), Order: Order(slices.Index(orderNames, order)), Scope: Scope(slices.Index(scopeNames, scope))}
	if m.Op < 0 || m.Order < 0 || m.Scope < 0 {
		t.fail("there is no operation %s.%s.%s", name, order, scope)
	}
	if m.Args = t.args(); m.Op != Fence && len(m.Args) > 0 {
		m.Addr, m.Args = m.Args[0], m.Args[1:]
	}
	m.Pos = t.at()
	return m
}

// applied is the type in brackets, if there is one.
func (t *textReader) applied(other types.Type) types.Type {
	if t.takes("[") {
		other = t.typ()
		t.want("]")
	}
	return other
}

func (t *textReader) args() []Expr {
	t.want("(")
	return t.exprs(")")
}

func (t *textReader) exprs(end string) (list []Expr) {
	for !t.takes(end) {
		list = append(list, t.expr())
		t.takes(",")
	}
	return list
}

// expr reads operands and at most one operator.
func (t *textReader) expr() Expr {
	x := t.operand()
	op, ok := textOperators[t.list[0].text]
	if !ok {
		return x
	}
	t.next()
	b := &Binary{Op: op, X: x, Y: t.operand(), T: x.Type()}
	if compares(op) {
		b.T = types.Typ[types.Bool]
	}
	return b
}

// compares says whether an operation gives a bool of what is none.
func compares(op token.Token) bool {
	switch op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return true
	}
	return false
}

func (t *textReader) operand() Expr {
	switch {
	case t.is("-") && (t.list[1].kind == scanner.Int || t.list[1].kind == scanner.Float):
		return t.literal(types.Typ[types.Int])
	case t.takes("-"):
		x := t.operand()
		return &Unary{Op: token.SUB, X: x, T: x.Type()}
	case t.takes("^"):
		x := t.operand()
		return &Unary{Op: token.XOR, X: x, T: x.Type()}
	case t.takes("!"):
		x := t.operand()
		return &Unary{Op: token.NOT, X: x, T: x.Type()}
	case t.takes("*"):
		x := t.operand()
		p, ok := x.Type().Underlying().(*types.Pointer)
		if !ok {
			t.fail("this is no pointer")
		}
		return &Deref{X: x, T: p.Elem()}
	case t.takes("&"):
		x := t.operand()
		return &Addr{X: x, T: types.NewPointer(x.Type())}
	}
	x := t.primary()
	for {
		switch {
		case t.takes("."):
			x = t.field(x, t.name())
		case t.takes("["):
			i := t.expr()
			if t.takes(":") {
				s := &Slice{X: x, Lo: i, Hi: t.expr(), T: x.Type()}
				t.want(":")
				s.Max = t.expr()
				if p, ok := x.Type().Underlying().(*types.Pointer); ok {
					s.T = types.NewSlice(p.Elem().Underlying().(*types.Array).Elem())
				}
				x = s
			} else {
				x = &Index{X: x, I: i, T: element(x.Type())}
			}
			t.want("]")
		default:
			return x
		}
	}
}

// element is the type of what an array, a slice or a string holds.
func element(t types.Type) types.Type {
	switch u := t.Underlying().(type) {
	case *types.Array:
		return u.Elem()
	case *types.Slice:
		return u.Elem()
	}
	return types.Typ[types.Uint8]
}

func (t *textReader) field(x Expr, name string) Expr {
	s, ok := x.Type().Underlying().(*types.Struct)
	if !ok {
		t.fail("this is no struct")
	}
	for i := range s.NumFields() {
		if f := s.Field(i); f.Name() == name && name != "_" || f.Name() == "_" && name == fmt.Sprintf("_%d", i) {
			return &Field{X: x, Index: i, T: f.Type()}
		}
	}
	t.fail("there is no field %s", name)
	return nil
}

func (t *textReader) primary() Expr {
	at := t.list[0]
	switch {
	case at.kind == scanner.Int:
		return t.literal(types.Typ[types.Int])
	case t.takes("("):
		x := t.expr()
		t.want(")")
		return x
	case t.takes("@"):
		name := t.name()
		for t.takes(".") {
			name += "." + t.name()
		}
		p := &Pure{Name: name, T: t.applied(types.Typ[types.Int])}
		if t.is("(") {
			p.Args = t.args()
		}
		return p
	case at.text == "[", at.text == "struct":
		return t.composite(t.typ())
	case at.kind != scanner.Ident:
		t.fail("%q begins no expression", at.text)
	}
	applied := t.list[1].text == "("
	switch {
	case t.list[1].text == "{" && t.types[at.text] != nil:
		return t.composite(t.typ())
	case applied && (at.text == "len" || at.text == "cap" || at.text == "zero" || at.text == "convert"):
		t.next()
		t.next()
		defer t.want(")")
		switch at.text {
		case "len":
			return &Len{X: t.expr()}
		case "cap":
			return &Cap{X: t.expr()}
		case "zero":
			return &Zero{T: t.typ()}
		}
		typ := t.typ()
		t.want(",")
		return &Convert{X: t.expr(), T: typ}
	case applied:
		typ := t.typ()
		t.want("(")
		defer t.want(")")
		if _, ok := typ.Underlying().(*types.Basic); ok && t.isLiteral() {
			return t.literal(typ)
		}
		return &Convert{X: t.expr(), T: typ}
	case at.text == "func" && t.list[1].kind == scanner.Ident:
		t.next()
		f := t.function(t.next())
		return &FuncRef{Func: f, T: signature(f)}
	case at.text == "lit" && t.list[1].kind == scanner.Ident:
		t.next()
		v := t.variable()
		return &FuncRef{Lit: v, T: v.Type}
	case at.text == "true" || at.text == "false":
		return t.literal(types.Typ[types.Bool])
	}
	return &Ref{Var: t.variable()}
}

func (t *textReader) composite(typ types.Type) Expr {
	t.want("{")
	return &Composite{T: typ, Elems: t.exprs("}")}
}

// isLiteral says whether a literal follows, and nothing else in its parentheses.
func (t *textReader) isLiteral() bool {
	i := 0
	if t.is("-") {
		i++
	}
	at := t.list[i]
	literal := at.kind == scanner.Int || at.kind == scanner.Float || at.kind == scanner.String || at.text == "true" || at.text == "false"
	return literal && (t.list[i+1].text == ")" || t.list[i+1].text == ",")
}

func (t *textReader) literal(typ types.Type) Expr {
	b := typ.Underlying().(*types.Basic)
	part := func() (v constant.Value) {
		minus := t.takes("-")
		switch at := t.list[0]; at.kind {
		case scanner.Int:
			v = constant.MakeFromLiteral(at.text, token.INT, 0)
		case scanner.Float:
			v = constant.MakeFromLiteral(at.text, token.FLOAT, 0)
		case scanner.String:
			v = constant.MakeFromLiteral(at.text, token.STRING, 0)
		default:
			v = constant.MakeBool(at.text == "true")
		}
		t.next()
		if minus {
			v = constant.UnaryOp(token.SUB, v, 0)
		}
		return v
	}
	v := part()
	switch {
	case b.Info()&types.IsComplex != 0:
		t.want(",")
		v = constant.BinaryOp(constant.ToComplex(v), token.ADD, constant.MakeImag(constant.ToFloat(part())))
	case b.Info()&types.IsFloat != 0:
		v = constant.ToFloat(v)
	}
	return &Const{T: typ, Value: v}
}

func (t *textReader) typ() types.Type {
	switch {
	case t.takes("*"):
		return types.NewPointer(t.typ())
	case t.takes("["):
		if t.takes("]") {
			return types.NewSlice(t.typ())
		}
		n := t.number()
		t.want("]")
		return types.NewArray(t.typ(), int64(n))
	case t.takes("map"):
		t.want("[")
		key := t.typ()
		t.want("]")
		return types.NewMap(key, t.typ())
	case t.takes("struct"):
		t.want("{")
		var fields []*types.Var
		for !t.takes("}") {
			name := t.name()
			fields = append(fields, types.NewField(token.NoPos, nil, name, t.typ(), false))
			t.takes(";")
		}
		return types.NewStruct(fields, nil)
	case t.takes("func"):
		f := new(Func)
		for _, p := range t.typesIn() {
			f.Params = append(f.Params, &Var{Type: p})
		}
		f.Results = t.typesIn()
		return signature(f)
	}
	name := t.name()
	if n := t.types[name]; n != nil {
		return n
	}
	for _, b := range types.Typ {
		if b.Name() == name {
			return b
		}
	}
	t.fail("there is no type %s", name)
	return nil
}
