package gokernel

import (
	"embed"
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"strconv"
	"strings"

	"gocuda/cudaapi/gokernel/ir"
)

//go:embed header
var headers embed.FS

// header is what stands before a program, of files in this order.
func header(names ...string) string {
	var text strings.Builder
	for _, name := range names {
		b, err := headers.ReadFile("header/" + name + ".h")
		if err != nil {
			panic(err) // it is part of the program
		}
		text.Write(b)
	}
	return text.String()
}

// printer writes a program as CUDA C++.
type printer struct {
	b         strings.Builder
	to        writer
	host      *hostPrinter // of a program for the host
	fset      *token.FileSet
	unchecked bool
	lined     bool   // lines are those of the source
	before    string // CUDA C++ of the user's
	structs   typeList
	names     []string // of the struct types
	taken     map[string]bool
	types     strings.Builder
	order     []string // of the struct types' names
	sites     []Site
	indent    int
	loops     []*ir.Loop // of C++ around, innermost last; nil where a function literal begins
	fun       *ir.Func   // being written: a literal within the others
	outer     string     // the declared function that messages name
	panics    map[*ir.Func]bool
	hoisted   map[*ir.Var]bool // declared at the function's start

	manyResults map[string]string // names of structs of more than six results

	cooperative bool // the barrier of the grid is used

	regions map[*ir.Func]*whole // of the kernels that are written in regions, too
	whole   *whole              // the kernel that is being written so
	quit    bool                // the region that is being written may end its thread
	shared  map[*ir.Var]string  // shared variables that are declared outside of kernels
	known   map[Site]int        // numbers of sites

	comments map[any]string // of functions and statements
}

// comment writes a function's or a statement's comment.
func (p *printer) comment(of any) {
	if p.comments[of] == "" {
		return
	}
	for text := range strings.Lines(p.comments[of]) {
		// To C++ a backslash at the end would join the next line.
		p.line("%s", strings.TrimRight("// "+strings.TrimSpace(text), `\ `))
	}
}

// Site is a place that can panic.
type Site struct {
	Pos    token.Position
	Func   string
	Format string // of the message: its %d, and %u of unsigned ones, are the numbers that are told
}

func (p *printer) line(format string, args ...any) {
	if p.lined {
		fmt.Fprintf(&p.b, format, args...)
		p.b.WriteByte(' ')
		return
	}
	p.b.WriteString(strings.Repeat("    ", p.indent))
	fmt.Fprintf(&p.b, format, args...)
	p.b.WriteByte('\n')
}

// typ writes a type.
func (p *printer) typ(t types.Type) string {
	switch ir.Half(t) {
	case ir.Float16:
		return "go::f16"
	case ir.BFloat16:
		return "go::bf16"
	}
	if n := heldWords(t); n > 0 {
		return fmt.Sprintf("go::held<%d>", n)
	}
	if Layout(t) == layouts["strings.Builder"] {
		return "go::builder"
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Info()&types.IsString != 0 {
			return p.to.stringType()
		}
		return basicNames[u.Kind()]
	case *types.Slice:
		return "go::slice<" + p.typ(u.Elem()) + ">"
	case *types.Array:
		return fmt.Sprintf("go::array<%s, %d>", p.typ(u.Elem()), u.Len())
	case *types.Pointer:
		return p.typ(u.Elem()) + " *"
	case *types.Map:
		return "void *"
	case *types.Struct:
		return p.structName(t, u)
	}
	panic(fmt.Sprintf("no type of a kernel: %s", t))
}

var basicNames = map[types.BasicKind]string{
	types.Bool: "bool", types.Int: "i64", types.Int8: "i8", types.Int16: "i16", types.Int32: "i32", types.Int64: "i64",
	types.Uint: "u64", types.Uint8: "u8", types.Uint16: "u16", types.Uint32: "u32", types.Uint64: "u64",
	types.Float32: "f32", types.Float64: "f64", types.Complex64: "go::c64", types.Complex128: "go::c128",
}

func (p *printer) structName(t types.Type, s *types.Struct) string {
	at := p.structs.number(t)
	if at < len(p.names) {
		return p.names[at]
	}
	base := "T_struct"
	if n, ok := types.Unalias(t).(*types.Named); ok {
		base = "T_" + clean(n.Obj().Name())
	}
	name := base
	for n := 2; p.taken[name]; n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	p.taken[name] = true
	p.names = append(p.names, name)
	p.order = append(p.order, name)
	var fields, same strings.Builder
	same.WriteString("true")
	comparable := types.Comparable(t) && isComparable(t)
	for i := range s.NumFields() {
		f := s.Field(i)
		if sizes.Sizeof(f.Type()) == 0 { // C++ would give it a byte
			if i == s.NumFields()-1 && sizes.Sizeof(t) > 0 { // and so does Go to the last, whose address is to be the struct's own
				fields.WriteString("    u8 end;\n")
			}
			continue
		}
		fmt.Fprintf(&fields, "    %s %s;\n", p.typ(f.Type()), fieldName(s, i))
		if f.Name() != "_" {
			fmt.Fprintf(&same, " && go::equal(a.%s, b.%s)", fieldName(s, i), fieldName(s, i))
		}
	}
	fmt.Fprintf(&p.types, "struct %s {\n%s};\n", name, fields.String())
	if n := sizes.Sizeof(t); n > 0 { // what the host writes and what the kernel reads
		fmt.Fprintf(&p.types, "static_assert(sizeof(%s) == %d, \"%s lies in memory as Go's\");\n", name, n, name)
	}
	if comparable {
		fmt.Fprintf(&p.types, "static __device__ inline bool operator==(const %s &a, const %s &b) { return %s; }\n", name, name, same.String())
	}
	return name
}

func fieldName(s *types.Struct, i int) string {
	if s.Field(i).Name() == "_" {
		return fmt.Sprintf("blank_%d", i)
	}
	name := clean(s.Field(i).Name())
	if reserved[name] {
		name += "_2"
	}
	return name
}

// expr writes an expression.
func (p *printer) expr(e ir.Expr) string {
	switch e := e.(type) {
	case *ir.Const:
		return p.constant(e.Value, e.T)
	case *ir.Zero:
		if ir.IsString(e.T) || heldWords(e.T) > 0 {
			return p.typ(e.T) + "{}"
		}
		if b, ok := e.T.Underlying().(*types.Basic); ok && b.Info()&types.IsComplex == 0 {
			return p.constant(map[bool]constant.Value{true: constant.MakeBool(false), false: constant.MakeInt64(0)}[b.Info()&types.IsBoolean != 0], e.T)
		}
		switch e.T.Underlying().(type) {
		case *types.Pointer, *types.Map:
			return "((" + p.typ(e.T) + ")0)"
		}
		return p.typ(e.T) + "{}"
	case *ir.Ref:
		return p.to.variable(e.Var)
	case *ir.Unary:
		return p.unary(e)
	case *ir.Binary:
		return p.binary(e)
	case *ir.Convert:
		return p.convert(e)
	case *ir.Field:
		s := e.X.Type().Underlying().(*types.Struct)
		if sizes.Sizeof(e.T) == 0 {
			return p.typ(e.T) + "{}"
		}
		if d, ok := e.X.(*ir.Deref); ok {
			return p.expr(d.X) + "->" + fieldName(s, e.Index)
		}
		return p.expr(e.X) + "." + fieldName(s, e.Index)
	case *ir.Index:
		return p.expr(e.X) + "[" + p.expr(e.I) + "]"
	case *ir.Deref:
		return "(*" + p.expr(e.X) + ")"
	case *ir.Addr:
		if f, ok := e.X.(*ir.Field); ok && sizes.Sizeof(f.T) == 0 {
			return "((" + p.typ(f.T) + " *)" + p.expr(&ir.Addr{X: f.X}) + ")"
		}
		return "(&" + p.expr(e.X) + ")"
	case *ir.Len:
		return p.expr(e.X) + ".len"
	case *ir.Cap:
		return p.expr(e.X) + ".cap"
	case *ir.Slice:
		base := p.expr(e.X)
		if _, ok := e.X.Type().Underlying().(*types.Slice); ok {
			base += ".ptr"
		} else {
			base += "->at"
		}
		lo := p.expr(e.Lo)
		if isZero(e.Lo) {
			return fmt.Sprintf("%s{%s, %s, %s}", p.typ(e.T), base, p.expr(e.Hi), p.expr(e.Max))
		}
		limit := p.expr(e.Max)
		return fmt.Sprintf("%s{%s, %s - %s, %s - %s}", p.typ(e.T), p.to.from(base, lo, limit), p.expr(e.Hi), lo, limit, lo)
	case *ir.Composite:
		fields, _ := e.T.Underlying().(*types.Struct)
		var list []string
		for i, x := range e.Elems {
			if fields == nil || sizes.Sizeof(fields.Field(i).Type()) > 0 {
				list = append(list, p.expr(x))
			}
		}
		text := strings.Join(list, ", ")
		if _, ok := e.T.Underlying().(*types.Array); ok {
			return p.typ(e.T) + "{{" + text + "}}"
		}
		return p.typ(e.T) + "{" + text + "}"
	case *ir.Pure:
		return p.pure(e)
	case *ir.FuncRef:
		if e.Lit != nil {
			return e.Lit.Name
		}
		return p.wrapped(e)
	}
	panic(fmt.Sprintf("no C++ for %T", e))
}

func isZero(e ir.Expr) bool {
	c, ok := e.(*ir.Const)
	return ok && c.Value.Kind() == constant.Int && constant.Sign(c.Value) == 0
}

// wrapped is a declared function as an argument.
func (p *printer) wrapped(e *ir.FuncRef) string {
	var params, args []string
	for i, v := range e.Func.Params {
		params = append(params, fmt.Sprintf("%s a%d", p.typ(v.Type), i))
		args = append(args, fmt.Sprintf("a%d", i))
		if _, ok := v.Type.Underlying().(*types.Slice); ok && e.Func.Foreign {
			args[i] += ".ptr"
		}
	}
	name := e.Func.Name
	if e.Func.Foreign {
		name = "::" + name
	} else {
		args = append(args, "go")
	}
	return fmt.Sprintf("[&](%s) -> %s { return %s(%s); }", strings.Join(params, ", "), p.results(e.Func.Results), name, strings.Join(args, ", "))
}

func (p *printer) pure(e *ir.Pure) string {
	args := make([]string, len(e.Args))
	for i, x := range e.Args {
		args[i] = p.expr(x)
	}
	list := "(" + strings.Join(args, ", ") + ")"
	switch e.Name {
	case "real":
		return args[0] + ".re"
	case "imag":
		return args[0] + ".im"
	case "complex":
		return p.typ(e.T) + "{" + strings.Join(args, ", ") + "}"
	case "dynamic_shared":
		return "go::dynamic_shared<" + p.typ(e.T.Underlying().(*types.Slice).Elem()) + ">" + list
	case "f32":
		return "f32" + list
	case "data":
		return "go::data<" + p.typ(e.T) + ">" + list
	case "watched":
		return "go::watched(go)"
	case "array_of":
		return "go::array_of<" + p.typ(e.T.Underlying().(*types.Pointer).Elem()) + ">" + list
	}
	if name := wholeRanks[e.Name]; name != "" {
		return name
	}
	if strings.Contains(e.Name, ".") { // threadIdx.x
		return p.to.index(e.Name)
	}
	return "go::" + e.Name + list
}

// wholeRanks are what a kernel in regions knows besides (interchange.go).
var wholeRanks = map[string]string{"thread_rank": "i64(go_t)", "block_size": "i64(go_n)", "grid_first": "i64(go_first)", "grid_size": "i64(GOCUDA_GRID_SIZE)"}

// wholeIndices are a thread's indices where a loop runs all of a block.
var wholeIndices = strings.NewReplacer("threadIdx.", "go_", "blockIdx.", "go_block_", "blockDim.", "go_dim_", "gridDim.", "go_grid_")

func (p *printer) unary(e *ir.Unary) string {
	x := p.expr(e.X)
	switch {
	case e.Op == token.NOT:
		return "!" + paren(x)
	case e.Op == token.XOR:
		return p.typ(e.T) + "(~" + x + ")"
	case ir.IsInteger(e.T):
		return "go::neg(" + x + ")"
	}
	return "(-" + x + ")"
}

func paren(x string) string {
	if strings.ContainsAny(x, " ") && !strings.HasPrefix(x, "(") {
		return "(" + x + ")"
	}
	return x
}

var wrapping = map[token.Token]string{token.ADD: "add", token.SUB: "sub", token.MUL: "mul", token.QUO: "div", token.REM: "rem", token.SHL: "shl", token.SHR: "shr"}

func (p *printer) binary(e *ir.Binary) string {
	x, y := p.expr(e.X), p.expr(e.Y)
	switch e.Op {
	case token.EQL, token.NEQ:
		switch e.X.Type().Underlying().(type) {
		case *types.Struct, *types.Array:
			if e.Op == token.NEQ {
				return "!go::equal(" + x + ", " + y + ")"
			}
			return "go::equal(" + x + ", " + y + ")"
		}
		return "(" + x + " " + e.Op.String() + " " + y + ")"
	case token.LSS, token.LEQ, token.GTR, token.GEQ, token.LAND, token.LOR:
		return "(" + x + " " + e.Op.String() + " " + y + ")"
	}
	if !ir.IsInteger(e.T) {
		return "(" + x + " " + e.Op.String() + " " + y + ")"
	}
	small := sizes.Sizeof(e.T) < 4
	switch e.Op {
	case token.AND, token.OR, token.XOR, token.AND_NOT:
		op := e.Op.String()
		if e.Op == token.AND_NOT {
			op = "& ~"
		}
		text := "(" + x + " " + op + " " + y + ")"
		if small {
			return p.typ(e.T) + text
		}
		return text
	case token.ADD, token.SUB, token.MUL:
		if ir.IsUnsigned(e.T) && !small {
			return "(" + x + " " + e.Op.String() + " " + y + ")"
		}
	case token.QUO, token.REM:
		if c, ok := e.Y.(*ir.Const); ok && !small && constant.Compare(c.Value, token.NEQ, constant.MakeInt64(-1)) {
			return "(" + x + " " + e.Op.String() + " " + y + ")"
		}
	}
	return "go::" + wrapping[e.Op] + "(" + x + ", " + y + ")"
}

func (p *printer) convert(e *ir.Convert) string {
	x := p.expr(e.X)
	to, from := p.typ(e.T), p.typ(e.X.Type())
	if to == from {
		return x
	}
	if ir.Half(e.X.Type()) != ir.NoHalf { // by way of float32
		return p.convert(&ir.Convert{X: &ir.Pure{Name: "f32", Args: []ir.Expr{e.X}, T: types.Typ[types.Float32]}, T: e.T})
	}
	if ir.Half(e.T) != ir.NoHalf {
		return to + "(f32(" + x + "))"
	}
	b, ok := e.T.Underlying().(*types.Basic)
	if !ok {
		return "go::cast<" + to + ">(" + x + ")"
	}
	if fb, ok := e.X.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsInteger != 0 && fb.Info()&types.IsFloat != 0 || b.Info()&types.IsComplex != 0 {
		return "go::conv<" + to + ">(" + x + ")"
	}
	return to + "(" + x + ")"
}

func (p *printer) constant(v constant.Value, t types.Type) string {
	b := t.Underlying().(*types.Basic)
	switch {
	case b.Info()&types.IsString != 0:
		return p.to.text(constant.StringVal(v))
	case b.Info()&types.IsBoolean != 0:
		return strconv.FormatBool(constant.BoolVal(v))
	case b.Info()&types.IsInteger != 0:
		text := constant.ToInt(v).ExactString()
		suffix := map[types.BasicKind]string{types.Int: "ll", types.Int64: "ll", types.Uint: "ull", types.Uint64: "ull", types.Uint32: "u"}[b.Kind()]
		switch {
		case text == "-9223372036854775808":
			return "(-9223372036854775807ll - 1)"
		case text == "-2147483648" && suffix == "":
			text = "(-2147483647 - 1)"
		case text[0] == '-':
			text = "(" + text + suffix + ")"
		default:
			text += suffix
		}
		if sizes.Sizeof(t) < 4 {
			return p.typ(t) + "(" + text + ")"
		}
		return text
	case ir.Half(t) != ir.NoHalf:
		return p.typ(t) + "(" + floatText(v, true) + ")"
	case b.Info()&types.IsFloat != 0:
		return floatText(v, b.Kind() == types.Float32)
	case b.Info()&types.IsComplex != 0:
		single := b.Kind() == types.Complex64
		v = constant.ToComplex(v)
		return fmt.Sprintf("%s{%s, %s}", p.typ(t), floatText(constant.Real(v), single), floatText(constant.Imag(v), single))
	}
	panic("no constant of a kernel: " + v.String())
}

// floatText writes the nearest number of the type, so that it is read back exactly.
func floatText(v constant.Value, single bool) string {
	var x float64
	bits, suffix := 64, ""
	if single {
		f, _ := constant.Float32Val(constant.ToFloat(v))
		x, bits, suffix = float64(f), 32, "f"
	} else {
		x, _ = constant.Float64Val(constant.ToFloat(v))
	}
	if math.IsInf(x, 0) {
		panic("no finite constant: " + v.String())
	}
	text := strconv.FormatFloat(x, 'g', -1, bits)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	text += suffix
	if x < 0 {
		return "(" + text + ")"
	}
	return text
}

// results is what a function returns.
func (p *printer) results(list []types.Type) string {
	switch len(list) {
	case 0:
		return "void"
	case 1:
		return p.typ(list[0])
	}
	if len(list) > 6 {
		return p.resultsType(list)
	}
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = p.typ(t)
	}
	return fmt.Sprintf("go::results%d<%s>", len(list), strings.Join(names, ", "))
}
