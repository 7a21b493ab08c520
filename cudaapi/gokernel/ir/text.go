package ir

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"io"
	"math"
	"strconv"
	"strings"
)

// The words of the text form, by what they stand for.
var (
	orderNames  = []string{"relaxed", "acquire", "release", "acq_rel", "seq_cst"}
	scopeNames  = []string{"block", "device", "system"}
	memoryNames = []string{"fence", "load", "store", "add", "sub", "min", "max", "and", "or", "xor", "exchange", "compare_exchange", "increment", "decrement"}
	checkNames  = []string{"index", "slice", "nonzero", "nonnil", "nonminus", "fits"}
)

func (o MemoryOp) String() string  { return memoryNames[o] }
func (o Order) String() string     { return orderNames[o] }
func (s Scope) String() string     { return scopeNames[s] }
func (k CheckKind) String() string { return checkNames[k] }

// Fprint writes a program as text, which [Parse] reads. With a file set, it writes the
// places of the source, too.
func Fprint(w io.Writer, p *Program, fset *token.FileSet) error {
	t := &textWriter{fset: fset, named: make(map[string]bool)}
	for _, g := range p.Globals {
		init := ""
		if g.Init != nil {
			init = " = " + t.expr(g.Init)
		}
		t.line("%s %s %s%s", map[bool]string{false: "global", true: "constant"}[g.Space == Constant], g.Name, t.typ(g.Type), init)
	}
	for _, f := range p.Funcs {
		t.fun("func", f)
	}
	for i := 0; i < len(t.types); i++ { // which may name more
		n := t.types[i]
		path := ""
		if n.Obj().Pkg() != nil {
			path = n.Obj().Pkg().Path()
		}
		if _, err := fmt.Fprintf(w, "type %s %q %q %s\n", t.names[i], path, types.TypeString(n, func(*types.Package) string { return "" }), t.typ(n.Underlying())); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, t.b.String())
	return err
}

type textWriter struct {
	b      strings.Builder
	fset   *token.FileSet
	indent int
	types  []*types.Named
	names  []string // of the types
	named  map[string]bool
	number map[*Var]int // variables have these for names; nil: their own
}

func (t *textWriter) line(format string, args ...any) {
	t.b.WriteString(strings.Repeat("\t", t.indent))
	fmt.Fprintf(&t.b, format, args...)
	t.b.WriteByte('\n')
}

// at is the place of a statement.
func (t *textWriter) at(pos token.Pos) string {
	if t.fset == nil || !pos.IsValid() {
		return ""
	}
	p := t.fset.Position(pos)
	return fmt.Sprintf(" at %d:%d", p.Line, p.Column)
}

func (t *textWriter) fun(word string, f *Func) {
	for _, flag := range []struct {
		word string
		is   bool
	}{{"kernel", f.Kernel}, {"called", f.Called}, {"takes", f.Takes}, {"foreign", f.Foreign}, {"outside", f.Outside}} {
		if flag.is {
			word += " " + flag.word
		}
	}
	var params, results []string
	for _, v := range f.Params {
		params = append(params, t.declared(v))
	}
	for _, r := range f.Results {
		results = append(results, t.typ(r))
	}
	t.line("%s %s %q (%s) (%s)%s {", word, f.Name, f.Go, strings.Join(params, ", "), strings.Join(results, ", "), t.at(f.Pos))
	t.list(f.Body)
	t.line("}")
}

func (t *textWriter) list(list []Stmt) {
	t.indent++
	for _, s := range list {
		t.stmt(s)
	}
	t.indent--
}

func (t *textWriter) stmt(s Stmt) {
	switch s := s.(type) {
	case *Define:
		text := "var "
		if s.Var.Space == Shared {
			text = "shared "
		}
		text += t.declared(s.Var)
		if s.Init != nil {
			text += " = " + t.expr(s.Init)
		}
		t.line("%s", text)
	case *Closure:
		lit := *s.Lit
		lit.Name = s.Var.Name
		t.fun("lit", &lit)
	case *Assign:
		t.line("%s = %s", t.expr(s.To), t.expr(s.Value))
	case *Call:
		fun := ""
		if s.Func != nil {
			fun = s.Func.Name
		} else {
			fun = "lit " + s.Lit.Name
		}
		t.line("call %s%s%s%s", t.to(s.Dst), fun, t.args(s.Args), t.at(s.Pos))
	case *Effect:
		t.line("do %s%s%s%s", t.result(s.Dst), t.applied(s.Name, s.T), t.args(s.Args), t.at(s.Pos))
	case *Memory:
		args := s.Args
		if s.Addr != nil {
			args = append([]Expr{s.Addr}, args...)
		}
		t.line("do %s%v.%v.%v%s%s", t.result(s.Dst), s.Op, s.Order, s.Scope, t.args(args), t.at(s.Pos))
	case *Printf:
		t.line("printf %s%s", strconv.Quote(s.Format), t.args(s.Args))
	case *If:
		t.line("if %s {", t.expr(s.Cond))
		t.list(s.Then)
		if len(s.Else) > 0 {
			t.line("} else {")
			t.list(s.Else)
		}
		t.line("}")
	case *Loop:
		head := "for " + map[bool]string{true: "short "}[s.Short] + map[bool]string{true: "slow "}[s.Slow]
		head += s.Label.Name
		if s.Cond != nil {
			head += " " + t.expr(s.Cond)
		}
		t.line("%s%s {", head, t.at(s.Pos))
		t.list(s.Body)
		if len(s.Post) > 0 {
			t.line("} post {")
			t.list(s.Post)
		}
		t.line("}")
	case *Block:
		if s.Label != nil {
			t.line("block %s {", s.Label.Name)
		} else {
			t.line("block {")
		}
		t.list(s.Body)
		t.line("}")
	case *Leave:
		t.line("break %s", s.To.Name)
	case *Again:
		t.line("continue %s", s.To.Name)
	case *Mark:
		t.line("label %s", s.Label.Name)
	case *Jump:
		t.line("goto %s%s", s.To.Name, t.at(s.Pos))
	case *Return:
		text := "return"
		for i, x := range s.Values {
			text += map[bool]string{true: " ", false: ", "}[i == 0] + t.expr(x)
		}
		t.line("%s", text)
	case *Check:
		text := ""
		for _, flag := range []struct {
			word string
			is   bool
		}{{"holds", s.Holds}, {"fails", s.Fails}, {"high", s.High}, {"max", s.Max}, {"cap", s.Cap}} {
			if flag.is {
				text += " " + flag.word
			}
		}
		t.line("check %v%s%s%s", s.Kind, t.args(s.Args), text, t.at(s.Pos))
	case *Panic:
		t.line("panic %s%s%s", strconv.Quote(s.Text), map[bool]string{true: " runtime"}[s.Runtime], t.at(s.Pos))
	case *Step:
		t.line("step%s", t.at(s.Pos))
	default:
		panic(fmt.Sprintf("ir: no text for %T", s))
	}
}

func (t *textWriter) declared(v *Var) string {
	return v.Name + map[bool]string{true: " there"}[v.There] + " " + t.typ(v.Type)
}

func (t *textWriter) result(v *Var) string {
	if v == nil {
		return ""
	}
	return v.Name + " = "
}

func (t *textWriter) to(list []*Var) string {
	var names []string
	for _, v := range list {
		if v == nil {
			names = append(names, "_")
		} else {
			names = append(names, v.Name)
		}
	}
	if names == nil {
		return ""
	}
	return strings.Join(names, ", ") + " = "
}

// applied is a name of the back end's, with the type that it is used for.
func (t *textWriter) applied(name string, typ types.Type) string {
	if typ == nil {
		return name
	}
	return name + "[" + t.typ(typ) + "]"
}

func (t *textWriter) args(list []Expr) string { return "(" + t.exprs(list) + ")" }

func (t *textWriter) exprs(list []Expr) string {
	var texts []string
	for _, x := range list {
		texts = append(texts, t.expr(x))
	}
	return strings.Join(texts, ", ")
}

func (t *textWriter) expr(e Expr) string {
	switch e := e.(type) {
	case *Const:
		return t.constant(e)
	case *Zero:
		return "zero(" + t.typ(e.T) + ")"
	case *Ref:
		if t.number != nil {
			if t.number[e.Var] == 0 {
				t.number[e.Var] = len(t.number) + 1
			}
			return fmt.Sprint("v", t.number[e.Var])
		}
		return e.Var.Name
	case *Unary:
		if _, ok := e.X.(*Const); ok {
			return e.Op.String() + "(" + t.expr(e.X) + ")"
		}
		return e.Op.String() + t.operand(e.X)
	case *Binary:
		return t.operand(e.X) + " " + e.Op.String() + " " + t.operand(e.Y)
	case *Convert:
		text := t.expr(e.X)
		if c, ok := e.X.(*Const); ok && !strings.HasSuffix(text, ")") { // T(3) is a constant
			text = t.typ(c.T) + "(" + text + ")"
		}
		switch types.Unalias(e.T).(type) {
		case *types.Basic, *types.Named:
			return t.typ(e.T) + "(" + text + ")"
		}
		return "convert(" + t.typ(e.T) + ", " + text + ")"
	case *Field:
		name := e.X.Type().Underlying().(*types.Struct).Field(e.Index).Name()
		if name == "_" {
			name = fmt.Sprintf("_%d", e.Index)
		}
		return t.primary(e.X) + "." + name
	case *Index:
		return t.primary(e.X) + "[" + t.expr(e.I) + "]"
	case *Deref:
		return "*" + t.operand(e.X)
	case *Addr:
		return "&" + t.operand(e.X)
	case *Len:
		return "len(" + t.expr(e.X) + ")"
	case *Cap:
		return "cap(" + t.expr(e.X) + ")"
	case *Slice:
		return t.primary(e.X) + "[" + t.expr(e.Lo) + ":" + t.expr(e.Hi) + ":" + t.expr(e.Max) + "]"
	case *Composite:
		return t.typ(e.T) + "{" + t.exprs(e.Elems) + "}"
	case *Pure:
		text := "@" + e.Name
		if !types.Identical(e.T, types.Typ[types.Int]) {
			text = t.applied(text, e.T)
		}
		if len(e.Args) > 0 {
			text += t.args(e.Args)
		}
		return text
	case *FuncRef:
		if e.Func != nil {
			return "func " + e.Func.Name
		}
		return "lit " + e.Lit.Name
	}
	panic(fmt.Sprintf("ir: no text for %T", e))
}

// operand is an expression in another one.
func (t *textWriter) operand(e Expr) string {
	if _, ok := e.(*Binary); ok {
		return "(" + t.expr(e) + ")"
	}
	return t.expr(e)
}

// primary is an expression to which an index or a field is applied.
func (t *textWriter) primary(e Expr) string {
	switch e.(type) {
	case *Binary, *Unary, *Deref, *Addr:
		return "(" + t.expr(e) + ")"
	}
	return t.expr(e)
}

func (t *textWriter) constant(c *Const) string {
	b := c.T.Underlying().(*types.Basic)
	text := ""
	switch {
	case b.Info()&types.IsBoolean != 0:
		text = strconv.FormatBool(constant.BoolVal(c.Value))
	case b.Info()&types.IsString != 0:
		text = strconv.Quote(constant.StringVal(c.Value))
	case b.Info()&types.IsInteger != 0:
		text = constant.ToInt(c.Value).ExactString()
	case b.Info()&types.IsComplex != 0:
		z := constant.ToComplex(c.Value)
		bits := int(Sizes{}.Sizeof(c.T)) * 4
		text = floatText(constant.Real(z), bits) + ", " + floatText(constant.Imag(z), bits)
	default:
		text = floatText(c.Value, int(amd64.Sizeof(b))*8)
	}
	if c.T == types.Typ[types.Int] || c.T == types.Typ[types.Bool] {
		return text
	}
	return t.typ(c.T) + "(" + text + ")"
}

// floatText is the nearest number with so many bits.
func floatText(v constant.Value, bits int) string {
	x, _ := constant.Float64Val(constant.ToFloat(v))
	if bits == 32 {
		f, _ := constant.Float32Val(constant.ToFloat(v))
		x = float64(f)
	}
	if x == 0 && math.Signbit(x) {
		x = 0
	}
	return strconv.FormatFloat(x, 'g', -1, bits)
}

func (t *textWriter) typ(typ types.Type) string {
	switch u := types.Unalias(typ).(type) {
	case *types.Basic:
		return types.Typ[u.Kind()].Name() // byte is uint8
	case *types.Named:
		for i, n := range t.types {
			if types.Identical(n, u) {
				return t.names[i]
			}
		}
		base := "T_" + u.Obj().Name()
		base, _, _ = strings.Cut(base, "[")
		name := base
		for n := 2; t.named[name]; n++ {
			name = fmt.Sprintf("%s_%d", base, n)
		}
		t.named[name] = true
		t.types, t.names = append(t.types, u), append(t.names, name)
		return name
	case *types.Pointer:
		return "*" + t.typ(u.Elem())
	case *types.Slice:
		return "[]" + t.typ(u.Elem())
	case *types.Array:
		return fmt.Sprintf("[%d]%s", u.Len(), t.typ(u.Elem()))
	case *types.Map:
		return "map[" + t.typ(u.Key()) + "]" + t.typ(u.Elem())
	case *types.Struct:
		var fields []string
		for f := range u.Fields() {
			fields = append(fields, f.Name()+" "+t.typ(f.Type()))
		}
		return "struct{" + strings.Join(fields, "; ") + "}"
	case *types.Signature:
		return "func(" + t.tuple(u.Params()) + ")(" + t.tuple(u.Results()) + ")"
	}
	panic(fmt.Sprintf("ir: no text for the type %s", typ))
}

func (t *textWriter) tuple(list *types.Tuple) string {
	var texts []string
	for v := range list.Variables() {
		texts = append(texts, t.typ(v.Type()))
	}
	return strings.Join(texts, ", ")
}
