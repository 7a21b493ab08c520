package lower

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"gocuda/kernel/golang/rt"
)

// expr writes an expression; its type in lowered code is rep(typeOf(e)).
func (f *fn) expr(e ast.Expr) string {
	if r, ok := f.shared.raw[e]; ok {
		return r.text
	}
	tv := f.info.Types[e]
	if tv.Value != nil {
		return f.l.constant(tv.Value, f.typeOf(e), false)
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.expr(e.X)
	case *ast.Ident:
		return f.ident(e)
	case *ast.BasicLit:
		return e.Value
	case *ast.SelectorExpr:
		return f.selector(e)
	case *ast.CallExpr:
		return f.callExpr(e)
	case *ast.BinaryExpr:
		return f.binary(e)
	case *ast.UnaryExpr:
		return f.unary(e)
	case *ast.StarExpr:
		t := f.typeOf(e)
		return f.fromSlot("(*"+f.expr(e.X)+")", t)
	case *ast.IndexExpr:
		return f.index(e)
	case *ast.IndexListExpr:
		return f.funcValue(e)
	case *ast.SliceExpr:
		return f.slice(e)
	case *ast.TypeAssertExpr:
		return f.assert(e)
	case *ast.CompositeLit:
		return f.composite(e, f.typeOf(e))
	case *ast.FuncLit:
		return f.funcLit(e)
	}
	panic(f.bug(e, "cannot lower this expression"))
}

// rawValue is a value that is already in a temporary.
type rawValue struct {
	text string
	typ  types.Type
}

// raw makes an expression of a temporary.
func (f *fn) raw(text string, t types.Type) ast.Expr {
	if f.shared.raw == nil {
		f.shared.raw = make(map[ast.Expr]rawValue)
	}
	e := &ast.ParenExpr{}
	f.shared.raw[e] = rawValue{text, t}
	return e
}

// exprs writes several expressions, to be evaluated in order: if one needs
// statements of its own, those before it go into temporaries first.
func (f *fn) exprs(list ...func() string) []string {
	out := make([]string, len(list))
	for i, one := range list {
		emits, pure := f.emits, f.pure
		var text string
		pre := f.captured(func() { text = one() })
		if pre != "" {
			onlyPure := f.emits-emits == f.pure-pure
			for j := range i {
				if !onlyPure || hasCallText(out[j]) {
					out[j] = f.spill(out[j])
				}
			}
			f.out.WriteString(pre)
		}
		out[i] = text
	}
	return out
}

// spill keeps a value in a temporary unless it is a constant or a name.
func (f *fn) spill(text string) string {
	if isSimple(text) {
		return text
	}
	t := f.temp()
	f.emit("%s := %s", t, text)
	return t
}

// isSimple says whether a text is a literal or a plain name.
func isSimple(text string) bool {
	if text == "" {
		return true
	}
	if text[0] == '"' {
		return true
	}
	for _, c := range text {
		if c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return !strings.HasPrefix(text, "g_") && text[0] != '.'
}

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

// typedExpr writes an expression whose type is plain from its text.
func (f *fn) typedExpr(e ast.Expr) string {
	if tv := f.info.Types[e]; tv.Value != nil {
		return f.l.constant(tv.Value, f.typeOf(e), true)
	}
	return f.expr(e)
}

func (f *fn) isNil(e ast.Expr) bool {
	tv := f.info.Types[e]
	return tv.IsNil()
}

// to writes an expression as a value of type t, to which it can be assigned.
func (f *fn) to(e ast.Expr, t types.Type) string {
	if f.isNil(e) {
		return f.l.zero(t)
	}
	if tv := f.info.Types[e]; tv.Value != nil && !types.IsInterface(t) {
		return f.l.constant(tv.Value, t, false)
	}
	return f.convert(f.typedExpr(e), f.typeOf(e), t)
}

// toSlot is to for a place inside of another value.
func (f *fn) toSlot(e ast.Expr, t types.Type) string {
	return f.intoSlot(f.to(e, t), t)
}

func (f *fn) intoSlot(text string, t types.Type) string {
	if f.l.isLoop(t) {
		return "any(" + text + ")"
	}
	return text
}

// fromSlot reads a value of type t out of its slot.
func (f *fn) fromSlot(text string, t types.Type) string {
	if !f.l.isLoop(t) {
		return text
	}
	return f.l.loopHelper(t) + "(" + text + ")"
}

// loopHelper is a function that reads the slot of a type that contains itself.
func (l *Lowerer) loopHelper(t types.Type) string {
	key := "loop " + l.typeKey(t)
	if h, ok := l.helpers[key]; ok {
		return h
	}
	h := l.fresh("h")
	put(l, l.helpers, key, h)
	rep := l.rep(t)
	fmt.Fprintf(&l.code, "func %s(x any) %s { if x == nil { return %s }; return x.(%s) }\n", h, rep, l.zero(t), rep)
	return h
}

// convert changes a value's representation from that of one type to that of
// another, to which it can be assigned or converted.
func (f *fn) convert(text string, from, to types.Type) string {
	l := f.l
	if types.IsInterface(to) {
		return f.toInterface(text, from, to)
	}
	if b, ok := from.(*types.Basic); ok && b.Kind() == types.UntypedNil {
		return l.zero(to)
	}
	rf, rt := l.rep(from), l.rep(to)
	if rf == rt {
		return text
	}
	if strings.HasPrefix(rt, "*") || strings.HasPrefix(rt, "<-") || strings.HasPrefix(rt, "func") || strings.HasPrefix(rt, "chan") {
		rt = "(" + rt + ")"
	}
	return rt + "(" + text + ")"
}

// toInterface makes an interface value.
func (f *fn) toInterface(text string, from, to types.Type) string {
	l := f.l
	if b, ok := from.(*types.Basic); ok && b.Kind() == types.UntypedNil {
		return l.zero(to)
	}
	if l.isHostInterface(to) {
		if l.isHostInterface(from) {
			if l.rep(from) == l.rep(to) {
				return text
			}
			return fmt.Sprintf("%s(%s(%s))", l.converter(to), l.sym("Un"), text)
		}
		return fmt.Sprintf("%s(%s)", l.converter(to), f.toAny(text, from))
	}
	return f.toAny(text, from)
}

// toAny makes an any of a value of any type.
func (f *fn) toAny(text string, from types.Type) string {
	l := f.l
	switch {
	case l.isAny(from):
		return text
	case l.isHostInterface(from):
		return fmt.Sprintf("%s(%s)", l.sym("Un"), text)
	case l.isBare(from):
		return "any(" + text + ")"
	}
	return fmt.Sprintf("%s(%d, %s)", l.sym("Box"), l.box(from), text)
}

// converter is the function that makes a value of a compiled interface.
func (l *Lowerer) converter(t types.Type) string {
	rep := l.rep(t)
	if c, ok := l.converters[rep]; ok {
		return l.use("rt") + "." + c
	}
	name := l.fresh("I")
	iface, wrapper := l.hostInterface(t)
	l.host.Define(name, l.rt.Converter(iface, wrapper))
	put(l, l.converters, rep, name)
	l.needMethods(t)
	return l.use("rt") + "." + name
}

func (f *fn) ident(e *ast.Ident) string {
	if e.Name == "_" {
		return "_"
	}
	switch o := f.info.ObjectOf(e).(type) {
	case *types.Nil:
		return "nil"
	case *types.Var:
		return f.variable(o, e)
	case *types.Func:
		return f.funcValue(e)
	case *types.Const:
		return f.l.constant(o.Val(), f.typeOf(e), true)
	}
	panic(f.bug(e, "cannot lower the name "+e.Name))
}

func (f *fn) variable(o *types.Var, n ast.Node) string {
	if v := f.find(o); v != nil {
		return f.fromSlot(v.text(), v.typ)
	}
	return f.fromSlot(f.globalName(o), o.Type())
}

func (f *fn) globalName(o *types.Var) string {
	if o.Pkg() != nil && f.l.hostPkg(o.Pkg()) && !f.l.sourceObj(o) {
		return f.l.use(o.Pkg().Path()) + "." + o.Name()
	}
	if !f.inCell() {
		f.l.usedByFunc[o] = true
	}
	return f.l.Global(o)
}

// globalPlace is a package variable that is assigned to or pointed to: the
// interpreter cannot do that to compiled ones.
func (f *fn) globalPlace(o *types.Var) string {
	name := f.globalName(o)
	if !strings.Contains(name, ".") {
		return name
	}
	return "(*" + f.l.hostVar(o) + "())"
}

// hostVar is a function that returns a pointer to a compiled variable.
func (l *Lowerer) hostVar(o *types.Var) string {
	key := "var " + o.Pkg().Path() + "." + o.Name()
	if h, ok := l.helpers[key]; ok {
		return h
	}
	v, ok := l.host.Symbol(o.Pkg().Path(), o.Name())
	if !ok || !v.CanAddr() {
		panic(fmt.Errorf("cannot assign to %s.%s", o.Pkg().Name(), o.Name()))
	}
	name := l.fresh("P")
	typ := reflect.FuncOf(nil, []reflect.Type{v.Addr().Type()}, false)
	l.host.Define(name, reflect.MakeFunc(typ, func([]reflect.Value) []reflect.Value { return []reflect.Value{v.Addr()} }))
	h := l.use("rt") + "." + name
	put(l, l.helpers, key, h)
	return h
}

// inCell says whether the code runs only while its cell does.
func (f *fn) inCell() bool { return f.top }

// funcInstance is a declared function as a value: a name, or one with type
// arguments, written or inferred.
func (f *fn) funcInstance(e ast.Expr) string {
	var id *ast.Ident
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		id = e
	case *ast.SelectorExpr:
		id = e.Sel
	case *ast.IndexExpr:
		return f.funcInstance(e.X)
	case *ast.IndexListExpr:
		return f.funcInstance(e.X)
	}
	fun, ok := f.info.Uses[id].(*types.Func)
	if !ok {
		panic(f.bug(e, "not a function"))
	}
	var targs []types.Type
	if inst, ok := f.info.Instances[id]; ok {
		for i := range inst.TypeArgs.Len() {
			targs = append(targs, f.l.subst(inst.TypeArgs.At(i), f.env))
		}
	}
	return f.l.funcName(fun, targs)
}

// funcValue is a declared function that is not called: the interpreter would
// make something of its own of the bare name.
func (f *fn) funcValue(e ast.Expr) string {
	name := f.funcInstance(e)
	if strings.Contains(name, ".") {
		return name // compiled
	}
	return f.asValue(name, f.typeOf(e))
}

// asValue makes a func value of the name of a lowered function.
//
// The interpreter compiles a closure before the functions below it, and would
// take a function that is not compiled yet for an empty one: in a closure, a
// function that is no closure makes the value.
func (f *fn) asValue(name string, t types.Type) string {
	if f.parent != nil {
		key := "value " + name
		h, ok := f.l.helpers[key]
		if !ok {
			h = f.l.fresh("h")
			put(f.l, f.l.helpers, key, h)
			rep := f.l.rep(t)
			fmt.Fprintf(&f.l.code, "func %s() %s { return %s(%s).(%s) }\n", h, rep, f.l.sym("Func"), name, rep)
		}
		return h + "()"
	}
	return fmt.Sprintf("%s(%s).(%s)", f.l.sym("Func"), name, f.l.rep(t))
}

// funcName is the name of a function, compiled or not.
func (l *Lowerer) funcName(fun *types.Func, targs []types.Type) string {
	if fun.Pkg() != nil && l.hostPkg(fun.Pkg()) && l.declOf(fun.Origin()) == nil {
		return l.use(fun.Pkg().Path()) + "." + fun.Name()
	}
	return l.function(fun, targs)
}

func (f *fn) binary(e *ast.BinaryExpr) string {
	switch e.Op {
	case token.LAND, token.LOR:
		return f.logical(e)
	case token.EQL, token.NEQ:
		return f.comparison(e)
	case token.SHL, token.SHR:
		t := f.typeOf(e)
		parts := f.exprs(func() string { return f.shiftOperand(e.X, t) }, func() string { return f.shiftCount(e.Y) })
		return "(" + parts[0] + " " + e.Op.String() + " " + parts[1] + ")"
	}
	t := f.typeOf(e.X)
	if tv := f.info.Types[e.X]; tv.Value != nil {
		t = f.typeOf(e.Y)
	}
	parts := f.exprs(func() string { return f.operand(e.X, t) }, func() string { return f.operand(e.Y, t) })
	return "(" + parts[0] + " " + e.Op.String() + " " + parts[1] + ")"
}

// operand writes one side of an operator; a constant takes the other's type.
func (f *fn) operand(e ast.Expr, t types.Type) string {
	if tv := f.info.Types[e]; tv.Value != nil && !types.IsInterface(t) {
		return f.l.constant(tv.Value, t, false)
	}
	return f.expr(e)
}

func (f *fn) shiftOperand(e ast.Expr, t types.Type) string {
	if tv := f.info.Types[e]; tv.Value != nil {
		return f.l.rep(t) + "(" + f.l.constant(constant.ToInt(tv.Value), t, true) + ")"
	}
	return f.expr(e)
}

func (f *fn) shiftCount(e ast.Expr) string {
	if tv := f.info.Types[e]; tv.Value != nil {
		return "uint(" + constant.ToInt(tv.Value).ExactString() + ")"
	}
	t := f.typeOf(e)
	if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsUnsigned == 0 {
		return f.l.shiftHelper(f.l.rep(t)) + "(" + f.expr(e) + ")"
	}
	return "uint64(" + f.expr(e) + ")"
}

// shiftHelper checks a signed shift count.
func (l *Lowerer) shiftHelper(rep string) string {
	key := "shift " + rep
	if h, ok := l.helpers[key]; ok {
		return h
	}
	h := l.fresh("h")
	put(l, l.helpers, key, h)
	fmt.Fprintf(&l.code, "func %s(n %s) uint { if n < 0 { %s() }; return uint(n) }\n", h, rep, l.sym("NegativeShift"))
	return h
}

// logical keeps the statements that the right side needs from running when
// it is not evaluated.
func (f *fn) logical(e *ast.BinaryExpr) string {
	x := f.expr(e.X)
	var y string
	emits, pure := f.emits, f.pure
	pre := f.captured(func() {
		f.guardedIf(x, e.Op == token.LAND, func() { y = f.expr(e.Y) })
	})
	if f.emits-emits == f.pure-pure {
		f.out.WriteString(pre)
		return "(" + x + " " + e.Op.String() + " " + y + ")"
	}
	t := f.temp()
	f.emit("%s := %s", t, x)
	if e.Op == token.LAND {
		f.emit("if %s {\n%s%s = %s\n}", t, pre, t, y)
	} else {
		f.emit("if !%s {\n%s%s = %s\n}", t, pre, t, y)
	}
	return t
}

func (f *fn) comparison(e *ast.BinaryExpr) string {
	tx, ty := f.typeOf(e.X), f.typeOf(e.Y)
	op := e.Op.String()
	switch {
	case f.isNil(e.X) && f.isNil(e.Y):
		return fmt.Sprint(e.Op == token.EQL)
	case f.isNil(e.Y):
		return "(" + f.expr(e.X) + " " + op + " nil)"
	case f.isNil(e.X):
		return "(" + f.expr(e.Y) + " " + op + " nil)"
	}
	parts := func(t types.Type) []string {
		return f.exprs(func() string { return f.operandTo(e.X, t) }, func() string { return f.operandTo(e.Y, t) })
	}
	not := ""
	if e.Op == token.NEQ {
		not = "!"
	}
	if types.IsInterface(tx) || types.IsInterface(ty) {
		p := parts(types.Universe.Lookup("any").Type())
		return fmt.Sprintf("%s%s(%s, %s)", not, f.l.sym("Eq"), p[0], p[1])
	}
	t := tx
	if tv := f.info.Types[e.X]; tv.Value != nil {
		t = ty
	}
	p := f.exprs(func() string { return f.operand(e.X, t) }, func() string { return f.operand(e.Y, t) })
	return f.compare(p[0], op, p[1], t)
}

// compare compares two values of a type that is no interface.
func (f *fn) compare(x, op, y string, t types.Type) string {
	not := ""
	if op == "!=" {
		not = "!"
	}
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		return fmt.Sprintf("%s%s(any(%s), any(%s))", not, f.l.sym("Same"), x, y)
	case *types.Chan:
		return fmt.Sprintf("%s%s(any(%s), any(%s))", not, f.l.sym("SameChan"), x, y)
	}
	return "(" + x + " " + op + " " + y + ")"
}

func (f *fn) operandTo(e ast.Expr, t types.Type) string { return f.to(e, t) }

func (f *fn) unary(e *ast.UnaryExpr) string {
	switch e.Op {
	case token.AND:
		return f.address(e.X)
	case token.ARROW:
		return f.fromSlot("(<-"+f.expr(e.X)+")", f.typeOf(e))
	}
	if e.Op == token.SUB {
		if b, ok := f.typeOf(e).Underlying().(*types.Basic); ok && b.Info()&types.IsFloat != 0 {
			return "(" + f.expr(e.X) + " * " + f.l.rep(f.typeOf(e)) + "(-1.0))" // 0 - x is not -x for 0
		}
	}
	return "(" + e.Op.String() + f.expr(e.X) + ")"
}

// address writes &e.
func (f *fn) address(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		t := f.typeOf(e)
		text := f.composite(e, t)
		if strings.HasPrefix(f.l.rep(t), "S") && !f.l.isLoop(t) {
			return "&" + text
		}
		p := f.temp()
		f.emit("%s := new(%s)", p, f.l.slot(t))
		f.emit("*%s = %s", p, f.settled(f.intoSlot(text, t), t))
		return p
	case *ast.StarExpr:
		return f.nonNil(e)
	case *ast.Ident:
		if o, ok := f.info.ObjectOf(e).(*types.Var); ok {
			if v := f.find(o); v != nil {
				if v.boxed {
					return v.name
				}
				return "&" + v.name
			}
			return "&" + f.globalPlace(o)
		}
	case *ast.SelectorExpr:
		return f.fieldAddress(e)
	}
	return "&" + f.place(e)
}

// nonNil is &*p: p, but for nil, where Go panics.
func (f *fn) nonNil(e *ast.StarExpr) string {
	p := f.spillAlways(f.expr(e.X))
	f.emit("if %s == nil { %s() }", p, f.l.sym("NilMethod"))
	return p
}

// evaluate writes an expression whose value is not used. The interpreter does
// not look where a pointer points that it has no use for.
func (f *fn) evaluate(e ast.Expr) {
	switch e := ast.Unparen(e).(type) {
	case *ast.StarExpr:
		f.nonNil(e)
	default:
		f.emit("_ = %s", f.typedExpr(e))
	}
}

// mapped is the value of a map's element: what a nil pointer points to would
// delete the element.
func (f *fn) mapped(e ast.Expr, text, rep string) string {
	if _, ok := ast.Unparen(e).(*ast.StarExpr); ok {
		return f.hold(text, rep)
	}
	return text
}

// place writes an expression that can be assigned to: a slot.
func (f *fn) place(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if e.Name == "_" {
			return "_"
		}
		o := f.info.ObjectOf(e).(*types.Var)
		if v := f.find(o); v != nil {
			return v.text()
		}
		return f.globalPlace(o)
	case *ast.StarExpr:
		return "(*" + f.expr(e.X) + ")"
	case *ast.IndexExpr:
		return f.element(e)
	case *ast.SelectorExpr:
		return f.fieldPlace(e)
	}
	return f.expr(e)
}

func (f *fn) index(e *ast.IndexExpr) string {
	if tv, ok := f.info.Types[e.X]; ok && !tv.IsType() {
		if _, isFunc := tv.Type.Underlying().(*types.Signature); isFunc {
			return f.funcValue(e)
		}
	} else {
		return f.funcValue(e)
	}
	return f.fromSlot(f.element(e), f.typeOf(e))
}

// element writes x[i] as a slot.
func (f *fn) element(e *ast.IndexExpr) string {
	t := f.typeOf(e.X).Underlying()
	if m, ok := t.(*types.Map); ok {
		p := f.exprs(func() string { return f.expr(e.X) }, func() string { return f.toSlot(e.Index, m.Key()) })
		return p[0] + "[" + p[1] + "]"
	}
	x := func() string {
		if _, ok := t.(*types.Array); ok {
			return f.elementBase(e.X)
		}
		return f.expr(e.X)
	}
	p := f.exprs(x, func() string { return f.indexValue(e.Index) })
	if _, ok := t.(*types.Pointer); ok {
		p[0] = "(*" + p[0] + ")"
	}
	return f.guardedIndex(p[0], p[1], e)
}

// elementBase is an array whose element is wanted: in place where it can be.
func (f *fn) elementBase(e ast.Expr) string {
	if f.info.Types[e].Addressable() {
		return f.place(e)
	}
	return f.expr(e)
}

func (f *fn) indexValue(e ast.Expr) string {
	if tv := f.info.Types[e]; tv.Value != nil {
		return constant.ToInt(tv.Value).ExactString()
	}
	text := f.expr(e)
	if r := f.l.rep(f.typeOf(e)); r != "int" {
		return "int(" + text + ")"
	}
	return text
}

func (f *fn) slice(e *ast.SliceExpr) string {
	t := f.typeOf(e.X)
	list := []func() string{func() string {
		switch t.Underlying().(type) {
		case *types.Array:
			return f.elementBase(e.X)
		case *types.Pointer:
			return "(*" + f.expr(e.X) + ")"
		}
		return f.expr(e.X)
	}}
	for _, b := range []ast.Expr{e.Low, e.High, e.Max} {
		list = append(list, func() string {
			if b == nil {
				return ""
			}
			return f.indexValue(b)
		})
	}
	p := f.exprs(list...)
	if !isPointer(t) {
		p[0] = f.held(p[0], f.l.rep(t))
	}
	for i, b := range []ast.Expr{e.Low, e.High, e.Max} {
		if b != nil && f.info.Types[b].Value == nil {
			p[i+1] = f.held(p[i+1], "int")
		}
	}
	f.guardSlice(e, p[0], p[1:])
	if e.Slice3 {
		if p[1] == "" {
			p[1] = "0"
		}
		return fmt.Sprintf("%s[%s:%s:%s]", p[0], p[1], p[2], p[3])
	}
	return fmt.Sprintf("%s[%s:%s]", p[0], p[1], p[2])
}

// assert writes x.(T) where there is one result.
func (f *fn) assert(e *ast.TypeAssertExpr) string {
	l := f.l
	t := f.typeOf(e)
	tx := f.typeOf(e.X)
	x := f.toAny(f.expr(e.X), tx)
	name := fmt.Sprintf("%q", f.interfaceName(tx))
	switch {
	case l.isAny(t):
		return fmt.Sprintf("%s(%s, %d, %s)", l.sym("MustImplement"), x, l.id(t), name)
	case l.isHostInterface(t):
		return fmt.Sprintf("%s(%s(%s, %d, %s))", l.converter(t), l.sym("MustImplement"), x, l.id(t), name)
	}
	return l.cast(fmt.Sprintf("%s(%s, %d, %s)", l.sym("Must"), x, l.id(t), name), l.rep(t))
}

func (f *fn) interfaceName(t types.Type) string {
	s := types.TypeString(t, func(p *types.Package) string { return p.Name() })
	switch {
	case s == "any" || s == "interface{}":
		return "interface {}"
	case s == "error":
		return "error"
	}
	iface, ok := types.Unalias(t).(*types.Interface)
	if !ok {
		return s
	}
	methods := make([]string, iface.NumMethods())
	for i := range methods {
		m := iface.Method(i)
		methods[i] = m.Name() + strings.TrimPrefix(rt.TypeString(m.Type()), "func")
	}
	return "interface { " + strings.Join(methods, "; ") + " }"
}

// composite writes a composite literal.
func (f *fn) composite(e *ast.CompositeLit, t types.Type) string {
	l := f.l
	if p, ok := t.Underlying().(*types.Pointer); ok {
		// An elided &T in the literal of a slice or map.
		t = p.Elem()
		text := f.composite(e, t)
		if strings.HasPrefix(l.rep(t), "S") {
			return "&" + text
		}
		v := f.temp()
		f.emit("%s := new(%s)", v, l.slot(t))
		f.emit("*%s = %s", v, f.settled(f.intoSlot(text, t), t))
		return v
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return f.structLit(e, t, u)
	case *types.Slice:
		return f.listLit(e, l.rep(t), u.Elem(), -1)
	case *types.Array:
		return f.listLit(e, l.rep(t), u.Elem(), u.Len())
	case *types.Map:
		var list []func() string
		for _, x := range e.Elts {
			kv := x.(*ast.KeyValueExpr)
			list = append(list, func() string {
				k := f.litValue(kv.Key, u.Key())
				if types.IsInterface(u.Key()) {
					k = f.spillAlways(k) // the interpreter takes constants of different types for equal
				}
				return k
			}, func() string { return f.mapped(kv.Value, f.litValue(kv.Value, u.Elem()), l.slot(u.Elem())) })
		}
		p := f.exprs(list...)
		var b strings.Builder
		b.WriteString(l.rep(t) + "{")
		for i := 0; i < len(p); i += 2 {
			fmt.Fprintf(&b, "%s: %s, ", p[i], p[i+1])
		}
		b.WriteString("}")
		return b.String()
	}
	panic(f.bug(e, "cannot lower this literal"))
}

func (f *fn) litValue(e ast.Expr, t types.Type) string {
	if c, ok := e.(*ast.CompositeLit); ok && c.Type == nil {
		return f.intoSlot(f.composite(c, f.l.subst(t, f.env)), t)
	}
	return f.toSlot(e, t)
}

func (f *fn) listLit(e *ast.CompositeLit, rep string, elem types.Type, n int64) string {
	var list []func() string
	var keys []int64
	next := int64(0)
	for _, x := range e.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			k, _ := constant.Int64Val(constant.ToInt(f.info.Types[kv.Key].Value))
			next = k
			x = kv.Value
		}
		keys = append(keys, next)
		next++
		list = append(list, func() string { return f.litValue(x, elem) })
	}
	p := f.exprs(list...)
	var b strings.Builder
	b.WriteString(rep + "{")
	ordered := true
	for i, k := range keys {
		ordered = ordered && k == int64(i)
	}
	for i, v := range p {
		if !ordered {
			fmt.Fprintf(&b, "%d: ", keys[i])
		}
		if _, basic := elem.Underlying().(*types.Basic); basic && strings.HasPrefix(v, "(") {
			v = f.l.rep(elem) + "(" + v + ")" // the interpreter fails to find the type of some
		}
		b.WriteString(v + ", ")
	}
	b.WriteString("}")
	return b.String()
}

func (f *fn) structLit(e *ast.CompositeLit, t types.Type, u *types.Struct) string {
	l := f.l
	host := false
	if n, ok := types.Unalias(t).(*types.Named); ok {
		host = l.isHost(n)
	}
	var names []string
	var list []func() string
	for i, x := range e.Elts {
		k := i
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			x = kv.Value
			for j := range u.NumFields() {
				if u.Field(j).Name() == kv.Key.(*ast.Ident).Name {
					k = j
				}
			}
		}
		if u.Field(k).Name() == "_" {
			list = append(list, func() string { return f.plainValue(x, u.Field(k).Type()) })
			names = append(names, "")
			continue
		}
		if host {
			names = append(names, u.Field(k).Name())
			list = append(list, func() string { return f.litValue(x, u.Field(k).Type()) })
			continue
		}
		names = append(names, l.fieldName(u, k))
		list = append(list, func() string { return f.fieldValue(x, u, k) })
	}
	p := f.exprs(list...)
	var b strings.Builder
	b.WriteString(l.rep(t) + "{")
	for i, v := range p {
		if names[i] == "" {
			f.emit("_ = %s", v)
			continue
		}
		fmt.Fprintf(&b, "%s: %s, ", names[i], v)
	}
	b.WriteString("}")
	return b.String()
}

// fieldValue writes a value for a field of a struct.
func (f *fn) fieldValue(e ast.Expr, s *types.Struct, i int) string {
	t := s.Field(i).Type()
	return f.intoField(f.plainValue(e, t), s, i)
}

func (f *fn) plainValue(e ast.Expr, t types.Type) string {
	if c, ok := e.(*ast.CompositeLit); ok && c.Type == nil {
		return f.composite(c, t)
	}
	return f.to(e, t)
}

// intoField makes what lies in a field of a value of its type.
func (f *fn) intoField(text string, s *types.Struct, i int) string {
	l := f.l
	t := s.Field(i).Type()
	switch l.fieldKind(s, i) {
	case pointerField:
		return fmt.Sprintf("%s.Pointer(%s)", l.use("unsafe"), text)
	case heapField:
		return fmt.Sprintf("%s(%s)", l.heapHelper(t), text)
	}
	return f.intoSlot(text, t)
}

// heapHelper puts a value on the heap.
func (l *Lowerer) heapHelper(t types.Type) string {
	rep := l.rep(t)
	key := "heap " + rep
	if h, ok := l.helpers[key]; ok {
		return h
	}
	h := l.fresh("h")
	put(l, l.helpers, key, h)
	fmt.Fprintf(&l.code, "func %s(x %s) any { p := new(%s); *p = x; return any(p) }\n", h, rep, rep)
	return h
}

// heapLoader reads a value from the heap; nil stands for zero.
func (l *Lowerer) heapLoader(t types.Type) string {
	rep := l.rep(t)
	key := "unheap " + rep
	if h, ok := l.helpers[key]; ok {
		return h
	}
	h := l.fresh("h")
	put(l, l.helpers, key, h)
	fmt.Fprintf(&l.code, "func %s(x any) %s { if x == nil { return %s }; return *(x.(*%s)) }\n", h, rep, l.zero(t), rep)
	return h
}
