package lower

import (
	"fmt"
	"go/ast"
	"go/types"
)

// deferringBody hands the body to rt.Run, which does what defer and recover need.
func (f *fn) deferringBody(body *ast.BlockStmt, recovers bool) {
	l := f.l
	inner := f.child()
	inner.bare = true
	inner.results = f.results
	inner.name, inner.inLit = f.name, f.inLit
	for _, r := range f.results {
		inner.take(r)
	}
	inner.frame = &local{name: l.fresh("frame"), rep: "*" + l.sym("Frame")}
	f.frame = inner.frame
	inner.sig = f.sig
	inner.top, inner.show, inner.several = f.top, f.show, f.several
	inner.debug = f.debug
	if recovers {
		inner.recoverable()
	}
	inner.block(body.List)
	inner.end(body)
	lit := inner.factory(header{params: []param{{inner.frame.name, inner.frame.rep}}}, inner.out, false)
	f.emit("%s", l.runtime(nil, "Run", lit))
}

// recoverable makes the token of what recover may stop here.
func (f *fn) recoverable() {
	f.recov = ident(f.l.fresh("rec"), nil)
	f.emit("%s := %s", f.recov, f.l.runtime(nil, "Recoverable"))
	f.emit("_ = %s", f.recov)
}

// deferStmt is defer.
func (f *fn) deferStmt(s *ast.DeferStmt) {
	name := "Defer"
	if f.mayRecover(s.Call) {
		name = "DeferRecover"
	}
	t := f.thunk(s.Call)
	f.emit("%s.%s(%s)", f.findFrame(), name, t)
}

func (f *fn) findFrame() string {
	for g := f; g != nil; g = g.parent {
		if g.frame != nil && g.parent != nil {
			f.reach(g.frame, g)
			return g.frame.name
		}
	}
	panic(fmt.Errorf("defer outside of a function that defers"))
}

// mayRecover says whether the function that a defer statement calls may call
// recover itself.
func (f *fn) mayRecover(call *ast.CallExpr) bool {
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
		_, recovers, _ := f.scan(lit.Body)
		return recovers
	}
	if f.info.Types[ast.Unparen(call.Fun)].IsBuiltin() {
		return false
	}
	if id := calledName(call.Fun); id != nil {
		if o, ok := f.info.Uses[id].(*types.Func); ok {
			if d := f.l.declOf(o.Origin()); d != nil {
				g := &fn{l: f.l, info: d.Info}
				return d.Func.Body != nil && callsRecover(g.info, d.Func.Body)
			}
		}
	}
	return true
}

func callsRecover(info *types.Info, body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok {
				if b, ok := info.Uses[id].(*types.Builtin); ok && b.Name() == "recover" {
					found = true
				}
			}
		}
		return !found
	})
	return found
}

// thunk makes a func() of a call whose function and arguments are evaluated now.
func (f *fn) thunk(e *ast.CallExpr) *expr {
	fun := ast.Unparen(e.Fun)
	if lit, ok := fun.(*ast.FuncLit); ok && len(e.Args) == 0 {
		if f.typeOf(lit).Underlying().(*types.Signature).Results().Len() == 0 {
			return f.funcLit(lit, false)
		}
	}
	g := f.child()
	g.name, g.placed = f.name, true
	hold := func(x *expr) *expr {
		if x.op == opSpread {
			return spread(g.holding(f, x.args[0]))
		}
		return g.holding(f, x)
	}
	var body *expr
	switch tv := f.info.Types[fun]; {
	case tv.IsBuiltin() || tv.IsType():
		body = f.builtinThunk(e, hold)
	case f.isExit(e):
		body = f.l.runtime(nil, "Exit", hold(f.expr(e.Args[0])))
	default:
		c := f.callee(fun)
		args := f.args(e, &c)
		f.refresh(c, e, args)
		f.guardCallbacks(c, args)
		for i, x := range args {
			args[i] = hold(x)
		}
		if c.recv != nil && types.IsInterface(args[0].typ) {
			f.nilPanics(args[0])
		}
		if c.recv == nil {
			if f.calledFunc(e) == nil || f.isMethodExpr(fun) {
				c.fun = hold(c.fun)
			}
		}
		body = c.with(nil, args)
	}
	g.emit("%s = %d", g.posName(), f.position(e))
	g.emit("%s", body)
	return g.factory(header{}, g.out, true)
}

// holding keeps a value of the function outer in a variable that a literal in it
// takes.
func (f *fn) holding(outer *fn, x *expr) *expr {
	v := &local{name: f.l.fresh("t"), typ: x.typ, rep: f.l.rep(x.typ)}
	outer.emit("var %s %s = %s", v.name, v.rep, x)
	f.take(v)
	return v.value()
}

// nilPanics has a method that is taken of nil panic at once.
func (f *fn) nilPanics(x *expr) {
	f.emit("if %s == nil { %s }", x, f.l.runtime(nil, "NilMethod"))
}

// builtinThunk evaluates the arguments of a predeclared function now.
func (f *fn) builtinThunk(e *ast.CallExpr, hold func(*expr) *expr) *expr {
	l := f.l
	name := calledName(e.Fun).Name
	arg := func(i int) *expr { return hold(f.to(e.Args[i], types.Default(f.typeOf(e.Args[i])))) }
	switch name {
	case "panic":
		return l.runtime(nil, "Panic", hold(f.to(e.Args[0], anyType)), intLiteral(f.where))
	case "print", "println":
		x := f.builtin(e)
		x.args[1] = hold(x.args[1])
		return x
	case "close":
		return builtin(nil, name, arg(0))
	case "delete":
		m := f.typeOf(e.Args[0]).Underlying().(*types.Map)
		return l.runtime(nil, "Delete", toAny(arg(0)), toAny(hold(f.to(e.Args[1], m.Key()))))
	case "clear":
		return l.runtime(nil, "Clear", toAny(arg(0)))
	case "copy":
		return builtin(nil, name, arg(0), arg(1))
	case "recover":
		// A deferred recover() stops the panic by itself.
		return l.runtime(nil, "Recovered", l.runtime(nil, "Recoverable"))
	}
	panic(f.bug(e, "cannot defer a call of "+name))
}
