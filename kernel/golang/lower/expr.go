package lower

import (
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
	"strings"
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
func (f *fn) exprs(list ...func() string) []string { return f.operands(false, list...) }

// operands is exprs; inPlace says that the first is a variable, not a copy of it.
func (f *fn) operands(inPlace bool, list ...func() string) []string {
	out := make([]string, len(list))
	for i, one := range list {
		emits, pure := f.emits, f.pure
		var text string
		pre := f.captured(func() { text = one() })
		if pre != "" {
			onlyPure := f.emits-emits == f.pure-pure
			for j := range i {
				switch {
				case onlyPure && !hasCallText(out[j]):
				case inPlace && j == 0:
					out[j] = f.pin(out[j])
				default:
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

// pin keeps where a variable is in a temporary, unless it has a name.
func (f *fn) pin(place string) string {
	if isSimple(place) || isBoxText(place) {
		return place
	}
	return "(*" + f.spillAlways("&"+place) + ")"
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
