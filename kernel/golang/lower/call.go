package lower

import (
	"go/ast"
	"go/types"
	"reflect"
	"slices"

	"gocuda/kernel/golang/host/trait"
)

// call lowers a call.
func (f *fn) call(e *ast.CallExpr) *expr {
	defer f.passed(e)()
	fun := ast.Unparen(e.Fun)
	tv := f.info.Types[fun]
	switch {
	case tv.IsType():
		return f.conversion(e)
	case tv.IsBuiltin():
		return f.builtin(e)
	}
	if f.isExit(e) {
		return f.l.runtime(nil, "Exit", f.expr(e.Args[0]))
	}
	c := f.callee(fun)
	f.calls(c.lowered)
	var args []*expr
	f.withCalls(func() { args = f.args(e, &c) })
	f.refresh(c, e, args)
	f.guardCallbacks(c, args)
	if x := f.direct(e, c.host, args); x != nil {
		return x
	}
	if c.bound != nil && args[0].directCall() != nil { // the interpreter finds no method of it
		args[0] = f.spill(args[0])
	}
	return c.with(f.typeOf(e), args)
}

// called is what a call calls.
type called struct {
	fun     *expr
	value   lowering // fun, if it is to be evaluated with the arguments
	sig     *types.Signature
	lowered string                 // the lowered function that it is, if that is known
	recv    lowering               // the receiver, if it is to be evaluated with the arguments
	bound   func(recv *expr) *expr // what to call with it; nil: it is the first argument
	host    *types.Func            // the compiled function that it is
	first   bool                   // value, or recv, is evaluated as a whole before the arguments
}

// with is the call with arguments, receiver first.
func (c called) with(t types.Type, args []*expr) *expr {
	if c.bound != nil {
		return call(t, c.bound(args[0]), args[1:]...)
	}
	return call(t, c.fun, args...)
}

func (f *fn) callee(fun ast.Expr) called {
	l := f.l
	c := called{}
	c.sig, _ = coreType(f.typeOf(fun)).(*types.Signature)
	if sel, ok := fun.(*ast.SelectorExpr); ok {
		if s := f.info.Selections[sel]; s != nil && s.Kind() == types.MethodVal {
			t := f.typeOf(sel.X)
			m := f.method(t, s.Obj())
			c.recv = func() *expr { return f.receiver(sel.X, t, m) }
			_, generic := types.Unalias(f.info.Types[sel.X].Type).(*types.TypeParam)
			c.first = m.iface && !generic && f.callsOrReceives(sel.X)
			switch {
			case m.host && l.testing(m.fun):
				c.fun, c.host = l.hostName("rt", "Test"+m.fun.Name(), nil), m.fun
			case m.host:
				c.bound = func(recv *expr) *expr { x, _ := f.methodOf(m, recv); return x }
				c.host = m.fun
			default:
				c.fun, _ = f.methodOf(m, nil)
				c.lowered = c.fun.text
			}
			return c
		}
	}
	if id := calledName(fun); id != nil && !f.isMethodExpr(fun) {
		if o, ok := f.info.Uses[id].(*types.Func); ok {
			c.fun = f.funcInstance(fun)
			if c.fun.op != opHost {
				c.lowered = c.fun.text
			} else if l.declOf(o.Origin()) == nil {
				c.host = o
			}
			return c
		}
	}
	if lit, ok := fun.(*ast.FuncLit); ok {
		c.value = func() *expr { return typed(f.funcLit(lit, true), f.typeOf(lit)) }
		return c
	}
	c.value, c.first = func() *expr { return f.expr(fun) }, f.callsOrReceives(fun)
	return c
}

// testing says whether a compiled method writes down the place of its caller, as
// those of package testing do: it would be the interpreter's.
func (l *Lowerer) testing(method *types.Func) bool {
	if l.program || method.Pkg() == nil || method.Pkg().Path() != "testing" {
		return false
	}
	switch method.Name() {
	case "Error", "Errorf", "Fatal", "Fatalf", "Helper", "Log", "Logf", "Skip", "Skipf":
		return true
	}
	return false
}

// direct calls a compiled function without reflection, if it is such a one. Its
// receiver is the first argument. Of two results it gives the structure that has
// them.
func (f *fn) direct(e *ast.CallExpr, fun *types.Func, args []*expr) *expr {
	if fun == nil {
		return nil
	}
	symbol, ok := f.l.host.Direct(fun.FullName())
	if !ok {
		return nil
	}
	x := f.arguments(e, f.l.hostName("direct", symbol, nil).text, args)
	if x.steady = f.l.host.Traits(fun).Has(trait.Pure); x.steady {
		x.early = true
	}
	if fun.Signature().Results().Len() == 1 {
		return field(x, "R", f.typeOf(e))
	}
	return x
}

func (f *fn) isMethodExpr(fun ast.Expr) bool {
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	s := f.info.Selections[sel]
	return s != nil && s.Kind() == types.MethodExpr
}

func calledName(fun ast.Expr) *ast.Ident {
	switch e := ast.Unparen(fun).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return calledName(e.X)
	case *ast.IndexListExpr:
		return calledName(e.X)
	}
	return nil
}

// args lowers the arguments of a call, receiver first, converted to the parameters'
// types, and the function that is called, if it is a value.
func (f *fn) args(e *ast.CallExpr, c *called) []*expr {
	sig := c.sig
	n := sig.Params().Len()
	param := func(i int) types.Type {
		if sig.Variadic() && i >= n-1 && !e.Ellipsis.IsValid() {
			t := sig.Params().At(n - 1).Type().Underlying()
			if s, ok := t.(*types.Slice); ok {
				return s.Elem()
			}
		}
		return sig.Params().At(i).Type()
	}
	var list []lowering
	for _, first := range []lowering{c.value, c.recv} {
		if first != nil {
			list = append(list, first)
		}
	}
	fixed := len(list)
	var several []*expr
	if f.tuple(e.Args) != nil { // f(g()) where g has several results
		list = append(list, func() *expr { several = f.multi(e.Args[0]); return nil })
	} else {
		for i, a := range e.Args {
			list = append(list, func() *expr {
				t := param(i)
				if e.Ellipsis.IsValid() && i == len(e.Args)-1 {
					return spread(f.spreadable(a, t))
				}
				x := f.to(a, t)
				if sig.Variadic() && i >= n-1 {
					x = f.listed(x)
				}
				return x
			})
		}
	}
	out := f.calleeAndArgs(c.first, list)
	if several != nil {
		out = out[:fixed]
		for i, v := range several {
			out = append(out, f.convert(v, param(i)))
		}
	}
	if c.value != nil {
		if c.fun = out[0]; !c.fun.is(opName, opGlobal) {
			c.fun = f.spill(c.fun)
		}
		out, fixed = out[1:], fixed-1
	}
	if sig.Variadic() && !e.Ellipsis.IsValid() {
		if first := fixed + n - 1; several == nil && len(out) > first {
			f.settleList(out, first)
		}
		out = append(out[:fixed:fixed], f.pack(out[fixed:], sig)...)
	}
	return out
}

// calleeAndArgs lowers what is called, which is first in the list, and the arguments.
func (f *fn) calleeAndArgs(first bool, list []lowering) []*expr {
	if !first {
		return f.exprs(list...)
	}
	var args []*expr
	fun := list[0]()
	after := f.captured(func() { args = f.exprs(list[1:]...) })
	if len(after) > 0 || slices.ContainsFunc(args, func(x *expr) bool { return x != nil && (x.acts() || x.copies() || x.panicsLate()) }) {
		fun = f.hold(fun)
	}
	f.add(after)
	return append([]*expr{fun}, args...)
}

// tuple is what the only argument of a call has for values, if these are several.
func (f *fn) tuple(args []ast.Expr) *types.Tuple {
	if len(args) != 1 {
		return nil
	}
	t, _ := f.typeOf(args[0]).(*types.Tuple)
	return t
}

// spreadable lowers x of f(x...), where a string can stand for bytes.
func (f *fn) spreadable(e ast.Expr, t types.Type) *expr {
	if b, ok := f.typeOf(e).Underlying().(*types.Basic); ok && b.Info()&types.IsString != 0 {
		return node(opConvert, "[]byte", t, f.expr(e))
	}
	return f.to(e, t)
}

// pack puts the variadic arguments of a call into a slice.
func (f *fn) pack(args []*expr, sig *types.Signature) []*expr {
	n := sig.Params().Len()
	s, ok := sig.Params().At(n - 1).Type().Underlying().(*types.Slice)
	if !ok {
		return args
	}
	out := append([]*expr(nil), args[:n-1]...)
	if len(args) > n-1 {
		return append(out, spread(f.l.list(s.Elem(), args[n-1:]...)))
	}
	switch f.l.represent(s.Elem()).typ { // a conversion would allocate
	case anyRep.typ:
		return append(out, spread(ident("noAny", s)))
	case basicTypes[types.Int]:
		return append(out, spread(ident("noInts", s)))
	}
	return append(out, spread(f.l.converted(types.NewSlice(s.Elem()), literal("nil", nil))))
}

// list is a literal of a slice.
func (l *Lowerer) list(elem types.Type, elems ...*expr) *expr {
	t := types.NewSlice(elem)
	return node(opComposite, l.rep(t), t, elems...)
}

// refresh gives a compiled function what is in interfaces with the methods that
// later cells gave to its types.
func (f *fn) refresh(c called, e *ast.CallExpr, args []*expr) {
	if c.host == nil || len(f.l.changed) == 0 || e.Ellipsis.IsValid() {
		return
	}
	args = args[len(args)-c.sig.Params().Len():]
	for i, x := range args {
		switch {
		case f.l.isAny(c.sig.Params().At(i).Type()):
			args[i] = f.l.runtime(x.typ, "Current", x)
		case x.op == opSpread && x.args[0].op == opComposite && f.l.represent(x.typ).typ == reflect.TypeFor[[]any]():
			args[i] = spread(f.l.runtime(x.typ, "AllCurrent", x.args[0]))
		}
	}
}

// guardCallbacks has what a compiled function is given to call, perhaps in a
// goroutine of its own, as sync.WaitGroup.Go does, end as a goroutine of the
// cell's would: nothing else recovers its panics there.
func (f *fn) guardCallbacks(c called, args []*expr) {
	if c.host == nil {
		return
	}
	args = args[len(args)-c.sig.Params().Len():]
	for i, x := range args {
		t, ok := types.Unalias(c.sig.Params().At(i).Type()).(*types.Signature)
		if ok && t.Params().Len() == 0 && t.Results().Len() == 0 {
			args[i] = f.l.runtime(x.typ, "Callback", x)
		}
	}
}

// isExit reports a call of os.Exit.
func (f *fn) isExit(e *ast.CallExpr) bool {
	o := f.calledFunc(e)
	return o != nil && f.l.host.Traits(o).Has(trait.Ends)
}

// calledFunc is the declared function or method that a call names, or nil.
func (f *fn) calledFunc(e *ast.CallExpr) *types.Func {
	if id := calledName(e.Fun); id != nil {
		o, _ := f.info.Uses[id].(*types.Func)
		return o
	}
	return nil
}

// multi evaluates an expression with several values into temporaries.
func (f *fn) multi(e ast.Expr) []*expr {
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		tup := f.typeOf(x).(*types.Tuple)
		made := f.call(x)
		if made.op == opDirect {
			t := f.pair(made)
			return []*expr{field(t, "R", tup.At(0).Type()), field(t, "S", tup.At(1).Type())}
		}
		temps := make([]*expr, tup.Len())
		for i := range temps {
			temps[i] = f.temp(tup.At(i).Type())
		}
		f.emit("%s := %s", exprList(temps), made)
		return temps
	case *ast.IndexExpr:
		t := coreType(f.typeOf(x.X)).(*types.Map).Elem()
		v, ok := f.temp(t), f.temp(boolType)
		f.emit("%s, %s := %s", v, ok, f.element(x))
		// The interpreter leaves v as it is where there is no such key: in a loop, the last value.
		f.emit("if !%s { %s = %s }", ok, v, f.l.zero(t))
		return []*expr{v, ok}
	case *ast.UnaryExpr:
		v, ok := f.temp(coreType(f.typeOf(x.X)).(*types.Chan).Elem()), f.temp(boolType)
		f.emit("%s, %s := <-%s", v, ok, f.expr(x.X))
		return []*expr{v, ok}
	case *ast.TypeAssertExpr:
		t := f.typeOf(x.Type)
		src := f.spill(f.toAny(f.expr(x.X)))
		v, ok := f.temp(t), f.temp(boolType)
		f.emit("%s := %s", ok, f.hasType(src, nil, t))
		f.emit("var %s %s", v, f.l.rep(t))
		f.emit("if %s { %s = %s }", ok, v, f.l.extract(src, t))
		return []*expr{v, ok}
	}
	panic(f.bug(e, "not an expression with several values"))
}
