package lower

import (
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
)

// expr lowers an expression; its type in lowered code is that of typeOf(e).
func (f *fn) expr(e ast.Expr) *expr {
	if r, ok := f.shared.raw[e]; ok {
		f.add(r.needs)
		r.needs = nil
		return r.x
	}
	x := f.value(e)
	x.typ = f.typeOf(e)
	return x
}

func (f *fn) value(e ast.Expr) *expr {
	tv := f.info.Types[e]
	if tv.Value != nil {
		return f.l.constant(tv.Value, f.typeOf(e), false)
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.expr(e.X)
	case *ast.Ident:
		return f.ident(e)
	case *ast.SelectorExpr:
		return f.selector(e)
	case *ast.CallExpr:
		return f.call(e)
	case *ast.BinaryExpr:
		return f.binary(e)
	case *ast.UnaryExpr:
		return f.unary(e)
	case *ast.StarExpr:
		return deref(f.pointed(e, f.expr(e.X)))
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
		return f.funcLit(e, false)
	}
	panic(f.bug(e, "cannot lower this expression"))
}

// raw makes an expression of the cell of a lowered one.
func (f *fn) raw(x *expr) ast.Expr { return f.rawOf(nil, nil, x) }

// rawOf is raw of what e was lowered to.
func (f *fn) rawOf(of ast.Expr, needs code, x *expr) ast.Expr {
	if f.shared.raw == nil {
		f.shared.raw = make(map[ast.Expr]*raw)
	}
	e := &ast.BadExpr{} // which all that walk through expressions know
	if of != nil {
		e.From, e.To = of.Pos(), of.End()
	}
	f.shared.raw[e] = &raw{x, needs, of}
	f.info.Types[e] = types.TypeAndValue{Type: x.typ}
	return e
}

// lowering lowers one of several expressions.
type lowering func() *expr

// exprs lowers several expressions, to be evaluated in order: if one needs
// statements of its own, those before it go into temporaries first.
func (f *fn) exprs(list ...lowering) []*expr { return f.operands(byValue, list...) }

// spill keeps a value in a temporary unless it is a constant or a name.
func (f *fn) spill(x *expr) *expr {
	if x.simple() {
		return x
	}
	return f.spillAlways(x)
}

func (f *fn) spillAlways(x *expr) *expr {
	t := f.temp(x.typ)
	t.keeps = x
	f.emitAs(keeps, "%s := %s", t, x)
	return t
}

// hold is spillAlways for what the interpreter may not find the type of.
func (f *fn) hold(x *expr) *expr {
	if x.typ == nil {
		return f.spillAlways(x)
	}
	return f.holdAs(keeps, x)
}

func (f *fn) holdAs(k kind, x *expr) *expr {
	t := f.temp(x.typ)
	t.keeps = x
	if f.hoist(t.text, x.typ) {
		f.emitAs(k, "%s = %s", t, x)
	} else {
		f.emitAs(k, "var %s %s = %s", t, f.l.rep(x.typ), x)
	}
	return t
}

// held is hold unless x can be written twice.
func (f *fn) held(x *expr) *expr {
	switch {
	case x.simple(), x.named(), len(f.prefix) > 0:
		return x
	case !x.calls():
		return f.holdAs(pure, x)
	}
	return f.hold(x)
}

// pin keeps where a variable is in a temporary, unless it has a name.
func (f *fn) pin(place *expr) *expr {
	if place.simple() || place.named() {
		return place
	}
	return deref(f.spillAlways(address(place)))
}

// typedExpr lowers an expression whose type is plain from its text.
func (f *fn) typedExpr(e ast.Expr) *expr {
	if tv := f.info.Types[e]; tv.Value != nil {
		return f.l.constant(tv.Value, f.typeOf(e), true)
	}
	return f.expr(e)
}

func (f *fn) isNil(e ast.Expr) bool {
	tv := f.info.Types[e]
	return tv.IsNil()
}

func (f *fn) ident(e *ast.Ident) *expr {
	if e.Name == "_" {
		return ident("_", nil)
	}
	switch o := f.info.ObjectOf(e).(type) {
	case *types.Nil:
		return literal("nil", nil)
	case *types.Var:
		return f.variable(o)
	case *types.Func:
		return f.funcValue(e)
	case *types.Const:
		return f.l.constant(o.Val(), f.typeOf(e), true)
	}
	panic(f.bug(e, "cannot lower the name "+e.Name))
}

func (f *fn) variable(o *types.Var) *expr {
	if v := f.find(o); v != nil {
		return v.value()
	}
	return f.global(o)
}

// global is a package variable.
func (f *fn) global(o *types.Var) *expr {
	if o.Pkg() != nil && f.l.hostPkg(o.Pkg()) && !f.l.host.IsSource(o) {
		if types.IsInterface(o.Type()) { // whose value the interpreter always looks up
			return f.l.hostName(o.Pkg().Path(), o.Name(), o.Type())
		}
		return f.l.hostVar(o)
	}
	if !f.top { // which runs only while its cell does
		f.l.used(o)
	}
	return node(opGlobal, f.l.Global(o), o.Type())
}

// globalPlace is a package variable that is assigned to or pointed to.
func (f *fn) globalPlace(o *types.Var) *expr {
	if x := f.global(o); x.op != opHost {
		return x
	}
	return f.l.hostVar(o)
}

// hostName is a symbol of a compiled package.
func (l *Lowerer) hostName(path, symbol string, t types.Type) *expr {
	return node(opHost, l.use(path)+"."+symbol, t)
}

// hostVar is a variable of a compiled package, by its address: the interpreter takes
// its name for a constant.
func (l *Lowerer) hostVar(o *types.Var) *expr {
	p := l.defined("var "+o.Pkg().Path()+"."+o.Name(), "P", func() reflect.Value {
		v, ok := l.host.Symbol(o.Pkg().Path(), o.Name())
		if !ok {
			panic(fmt.Errorf("%s.%s is no variable", o.Pkg().Name(), o.Name()))
		}
		if !v.CanAddr() { // a value in a table
			p := reflect.New(v.Type())
			p.Elem().Set(v)
			return p
		}
		return v.Addr()
	})
	p.typ = types.NewPointer(o.Type())
	return deref(p)
}

// funcInstance is a declared function as a value: a name, or one with type
// arguments, written or inferred.
func (f *fn) funcInstance(e ast.Expr) *expr {
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
func (f *fn) funcValue(e ast.Expr) *expr {
	x := f.funcInstance(e)
	if x.op == opHost {
		return x
	}
	return f.asValue(x, f.typeOf(e))
}

// asValue makes a func value of the name of a lowered function.
//
// The interpreter compiles a closure before the functions below it, and would
// take a function that is not compiled yet for an empty one: in a closure, a
// function that is no closure makes the value.
func (f *fn) asValue(x *expr, t types.Type) *expr {
	l := f.l
	value := l.cast(l.runtime(anyType, "Func", x), t)
	if f.parent == nil {
		return value
	}
	return steady(call(t, ident(l.helper("value "+x.text, func(h string) {
		fmt.Fprintf(&l.code, "func %s() %s { return %s }\n", h, l.rep(t), value)
	}), nil)))
}

// funcName is the name of a function, compiled or not.
func (l *Lowerer) funcName(fun *types.Func, targs []types.Type) *expr {
	if fun.Pkg() != nil && l.hostPkg(fun.Pkg()) && l.declOf(fun.Origin()) == nil {
		return l.hostName(fun.Pkg().Path(), fun.Name(), fun.Type())
	}
	if x := l.compiledInstance(fun, targs); x != nil {
		return x
	}
	return ident(l.function(fun, targs), fun.Type())
}

// compiledInstance is an instance of a function of the standard library that was compiled
// with the binary; nil if it is none. It does not tell what it touches.
func (l *Lowerer) compiledInstance(fun *types.Func, targs []types.Type) *expr {
	if len(targs) == 0 || fun.Pkg() == nil || !l.hostPkg(fun.Pkg()) || fun.Signature().Recv() != nil || l.Instrument {
		return nil
	}
	typ := l.represent(l.subst(fun.Signature(), newEnv(fun.Signature().TypeParams(), targs))).typ
	v, ok := l.host.Instance(fun.Pkg().Path()+"."+fun.Name(), typ)
	if !ok {
		return nil
	}
	x := l.defined(l.instanceKey(fun, targs), "A", func() reflect.Value { return v })
	return node(x.op, x.text, fun.Type())
}

// evaluate lowers an expression whose value is not used. The interpreter does
// not look where a pointer points that it has no use for.
func (f *fn) evaluate(e ast.Expr) {
	switch e := ast.Unparen(e).(type) {
	case *ast.StarExpr:
		f.nonNil(e)
	default:
		f.emit("_ = %s", f.typedExpr(e))
	}
}
