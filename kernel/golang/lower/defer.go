package lower

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
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
	if recovers {
		inner.recov = l.fresh("rec")
		inner.emit("%s := %s()", inner.recov, l.sym("Recoverable"))
		inner.emit("_ = %s", inner.recov)
	}
	inner.block(body.List)
	lit := inner.factory(fmt.Sprintf("(%s %s)", inner.frame.name, inner.frame.rep), inner.out.String(), false)
	f.emit("%s(%s)", l.sym("Run"), lit)
}

// deferStmt is defer.
func (f *fn) deferStmt(s *ast.DeferStmt) {
	frame := f.findFrame()
	name := "Defer"
	if f.mayRecover(s.Call) {
		name = "DeferRecover"
	}
	t := f.thunk(s.Call)
	f.emit("%s.%s(%s)", frame, name, t)
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
func (f *fn) thunk(call *ast.CallExpr) string {
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok && len(call.Args) == 0 {
		sig := f.typeOf(lit).Underlying().(*types.Signature)
		if sig.Results().Len() == 0 {
			return f.funcLit(lit)
		}
	}
	g := f.child()
	g.name = f.name
	hold := func(text, rep string) string {
		v := &local{name: f.temp(), rep: rep}
		f.emit("var %s %s = %s", v.name, rep, text)
		g.take(v)
		return v.name
	}
	l := f.l
	fun := ast.Unparen(call.Fun)
	tv := f.info.Types[fun]
	var body string
	switch {
	case tv.IsBuiltin() || tv.IsType():
		body = f.builtinThunk(call, g, hold)
	default:
		text, isSpecial := f.special(call, fun)
		if isSpecial {
			body = text
			break
		}
		c, sig := f.callee(fun)
		var recv func() string
		if c.recv != nil {
			recv = c.recv
		}
		args := f.args(call, sig, recv)
		texts := make([]string, len(args))
		for i, a := range args {
			switch {
			case recv != nil && i == 0:
				if s := fun.(*ast.SelectorExpr); types.IsInterface(f.typeOf(s.X)) {
					a = f.spillAlways(a)
					f.emit("if %s == nil { %s() }", a, l.sym("NilMethod"))
				}
				texts[i] = hold(a, f.recvRep(fun.(*ast.SelectorExpr)))
			default:
				j := i
				if recv != nil {
					j--
				}
				dots := ""
				if strings.HasSuffix(a, "...") {
					dots = "..."
					a = strings.TrimSuffix(a, "...")
				}
				var rep string
				last := sig.Params().Len() - 1
				if sig.Variadic() && j >= last {
					pt := sig.Params().At(last).Type()
					rep = l.rep(pt)
					if s, ok := pt.Underlying().(*types.Slice); ok && dots == "" {
						rep = l.slot(s.Elem())
					}
				} else {
					rep = l.slot(sig.Params().At(j).Type())
				}
				texts[i] = hold(a, rep) + dots
			}
		}
		switch {
		case c.bound != nil:
			body = c.bound(texts[0]) + "(" + strings.Join(texts[1:], ", ") + ")"
		default:
			callText := c.text
			if recv == nil {
				if id := calledName(fun); id == nil || !isFunc(f.info.Uses[id]) || f.isMethodExpr(fun) {
					callText = hold(c.text, l.rep(f.typeOf(fun)))
				}
			}
			body = callText + "(" + strings.Join(texts, ", ") + ")"
		}
	}
	return g.factory("()", body+"\n", true)
}

func isFunc(o types.Object) bool {
	_, ok := o.(*types.Func)
	return ok
}

// recvRep is the type of a method call's receiver in lowered code.
func (f *fn) recvRep(sel *ast.SelectorExpr) string {
	c := f.method(f.typeOf(sel.X), f.info.Selections[sel].Obj())
	if c.ptr {
		return "*" + f.l.slot(c.recv)
	}
	if c.pointer && c.host && !c.iface {
		return f.l.rep(c.recv)
	}
	return f.l.rep(c.recv)
}

// builtinThunk evaluates the arguments of a predeclared function now.
func (f *fn) builtinThunk(call *ast.CallExpr, g *fn, hold func(text, rep string) string) string {
	l := f.l
	name := calledName(call.Fun).Name
	arg := func(i int) string {
		t := types.Default(f.typeOf(call.Args[i]))
		return hold(f.to(call.Args[i], t), l.rep(t))
	}
	anyType := types.Universe.Lookup("any").Type()
	switch name {
	case "panic":
		return fmt.Sprintf("%s(%s, %d)", l.sym("Panic"), hold(f.to(call.Args[0], anyType), "any"), f.where)
	case "print", "println":
		text := f.builtin(call)
		open := strings.Index(text, "[]any{")
		list := hold(text[open:strings.LastIndex(text, "...")], "[]any")
		return text[:open] + list + "...)"
	case "close":
		return "close(" + arg(0) + ")"
	case "delete":
		m := f.typeOf(call.Args[0]).Underlying().(*types.Map)
		return l.sym("Delete") + "(any(" + arg(0) + "), any(" + hold(f.toSlot(call.Args[1], m.Key()), l.slot(m.Key())) + "))"
	case "clear":
		return l.sym("Clear") + "(any(" + arg(0) + "))"
	case "copy":
		return "copy(" + arg(0) + ", " + arg(1) + ")"
	case "recover":
		// A deferred recover() stops the panic by itself.
		g.emit("")
		return l.sym("Recovered") + "(" + l.sym("Recoverable") + "())"
	}
	panic(f.bug(call, "cannot defer a call of "+name))
}
