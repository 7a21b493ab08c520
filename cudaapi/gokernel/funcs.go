package gokernel

import (
	"go/ast"
	"go/token"
	"go/types"

	"gocuda/cudaapi/gokernel/ir"
)

// made is a function literal that the source does not have.
func (f *fn) made(name string, sig *types.Signature, pos token.Pos, body func(g *fn, params []ir.Expr)) *ir.FuncRef {
	g := &fn{u: f.u, f: &ir.Func{Name: name, Go: f.f.Go + "." + name, Pos: pos}, parent: f, subst: f.subst, vars: make(map[types.Object]*ir.Var), labels: make(map[string]*ir.Label), uses: f.uses}
	var list []ir.Stmt
	g.out = &list
	var params []ir.Expr
	for p := range sig.Params().Variables() {
		v := g.local(p.Name(), f.subst.of(p.Type()))
		g.f.Params = append(g.f.Params, v)
		if _, ok := v.Type.Underlying().(*types.Signature); ok {
			params = append(params, &ir.FuncRef{Lit: v, T: v.Type})
		} else {
			params = append(params, &ir.Ref{Var: v})
		}
	}
	for r := range sig.Results().Variables() {
		g.f.Results = append(g.f.Results, f.subst.of(r.Type()))
	}
	body(g, params)
	g.f.Body = list
	v := f.local(name, sig)
	f.emit(&ir.Closure{Var: v, Lit: g.f})
	return &ir.FuncRef{Lit: v, T: sig}
}

// forward calls a function, and returns what it returns.
func (f *fn) forward(c *ir.Call) {
	r := new(ir.Return)
	for _, t := range f.f.Results {
		v := f.local("t", t)
		f.emit(&ir.Define{Var: v})
		c.Dst = append(c.Dst, v)
		r.Values = append(r.Values, &ir.Ref{Var: v})
	}
	f.emit(c)
	f.emit(r)
}

// literalOf is a declared function that a variable is to hold.
func (f *fn) literalOf(ref *ir.FuncRef, name string) *ir.FuncRef {
	return f.made(name, ref.T.Underlying().(*types.Signature), ref.Func.Pos, func(g *fn, params []ir.Expr) {
		g.forward(&ir.Call{Func: ref.Func, Args: params})
	})
}

// methodValue is x.m, which keeps x as it is now.
func (f *fn) methodValue(e *ast.SelectorExpr, s *types.Selection) *ir.FuncRef {
	o, targs, x := f.receiver(e, s, f.expr(e.X))
	x = f.temp(x)
	return f.method(e, o, targs, f.typeOf(e).Underlying().(*types.Signature), func(g *fn, params []ir.Expr) []ir.Expr {
		return append([]ir.Expr{x}, params...)
	})
}

// methodExpr is T.m, a function whose first parameter is the receiver.
func (f *fn) methodExpr(e *ast.SelectorExpr, s *types.Selection) *ir.FuncRef {
	sig := f.typeOf(e).Underlying().(*types.Signature)
	var o *types.Func
	var targs []types.Type
	f.within(func() { // which method it is
		v := f.local("t", sig.Params().At(0).Type())
		o, targs, _ = f.receiver(e, s, &ir.Ref{Var: v})
	})
	return f.method(e, o, targs, sig, func(g *fn, params []ir.Expr) []ir.Expr {
		_, _, params[0] = g.receiver(e, s, params[0])
		return params
	})
}

// method is a literal that calls a method with what args gives.
func (f *fn) method(e *ast.SelectorExpr, o *types.Func, targs []types.Type, sig *types.Signature, args func(g *fn, params []ir.Expr) []ir.Expr) *ir.FuncRef {
	decl := f.u.declOf(o.Origin())
	if decl == nil {
		f.fail(e, "%s is not in the source", o.Name())
	}
	if givesFunc(o.Signature()) {
		f.refuse(e, functionGiven, o.Name())
	}
	m := f.u.function(o.Origin(), targs, decl)
	m.Called = true
	return f.made(o.Name(), sig, e.Pos(), func(g *fn, params []ir.Expr) { g.forward(&ir.Call{Func: m, Args: args(g, params)}) })
}

// inlined calls a function that returns a function: its statements stand in the
// place of the call, and what it returns is a literal there.
func (f *fn) inlined(e *ast.CallExpr, decl *ast.FuncDecl, o *types.Func, targs []types.Type, args []ir.Expr) ir.Expr {
	for _, d := range f.u.inside {
		if d == decl {
			f.fail(e, "%s calls itself", o.Name())
		}
	}
	defer f.u.target.facts(f.u, o)()
	f.u.inside = append(f.u.inside, decl)
	defer func() { f.u.inside = f.u.inside[:len(f.u.inside)-1] }()
	body := decl.Body.List
	var last *ast.ReturnStmt
	if len(body) > 0 {
		last, _ = body[len(body)-1].(*ast.ReturnStmt)
	}
	if last == nil || len(last.Results) != 1 || returns(body[:len(body)-1]) {
		f.refuse(e, functionReturn, o.Name())
	}
	sig := o.Signature()
	subst := make(substitution)
	params := sig.TypeParams()
	if sig.Recv() != nil {
		params = sig.RecvTypeParams()
	}
	for i := range params.Len() {
		subst[params.At(i)] = targs[i]
	}
	g := &fn{u: f.u, f: f.f, parent: f, subst: subst, vars: make(map[types.Object]*ir.Var), labels: make(map[string]*ir.Label), uses: usageOf(f.u.info, decl.Body), out: f.out, sig: sig}
	var vars []*types.Var
	if sig.Recv() != nil {
		vars = append(vars, sig.Recv())
	}
	for v := range sig.Params().Variables() {
		vars = append(vars, v)
	}
	for i, v := range vars {
		if ref, ok := args[i].(*ir.FuncRef); ok {
			if ref.Lit == nil {
				ref = f.literalOf(ref, v.Name())
			}
			g.vars[v] = ref.Lit
			continue
		}
		p := f.local(v.Name(), args[i].Type())
		f.emit(&ir.Define{Var: p, Init: args[i]})
		g.vars[v] = p
	}
	g.stmts(body[:len(body)-1])
	x, ok := g.expr(last.Results[0]).(*ir.FuncRef)
	if !ok {
		f.refuse(e, functionLost, o.Name())
	}
	return x
}

// returns says whether statements return from their function.
func returns(list []ast.Stmt) (found bool) {
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt:
				found = true
			}
			return true
		})
	}
	return found
}

// iteration is the body of a loop over a function: a literal, to which the function gives
// its values, and which says whether it wants more.
type iteration struct {
	outer   *fn       // the function with the loop
	loop    *ir.Label // what break and continue in the body mean
	state   *ir.Var   // 0 as long as the loop goes on, then how it ended
	ends    []func()  // what follows an end, by its number less 2; in outer
	results []*ir.Var // of a return in the body
}

// endIteration ends the body: with another iteration, or with the loop, after which then is done.
func (f *fn) endIteration(more bool, then func()) {
	t := f.iteration
	if !more {
		n := 1
		if then != nil {
			t.ends = append(t.ends, then)
			n = len(t.ends) + 1
		}
		f.emit(&ir.Assign{To: &ir.Ref{Var: t.state}, Value: ir.Int(int64(n))})
	}
	f.emit(&ir.Return{Values: []ir.Expr{boolConst(more)}})
}

// rangeFunc is a loop over what a function yields.
func (f *fn) rangeFunc(s *ast.RangeStmt, label string, sig *types.Signature) {
	ref := f.expr(s.X).(*ir.FuncRef)
	yield := f.subst.of(sig.Params().At(0).Type()).Underlying().(*types.Signature)
	t := &iteration{outer: f, loop: f.newLabel(label), state: f.local("state", types.Typ[types.Int])}
	f.emit(&ir.Define{Var: t.state, Init: ir.Int(0)})
	var body *ir.FuncRef
	list := f.within(func() {
		body = f.made("body", yield, s.Pos(), func(g *fn, params []ir.Expr) {
			g.iteration = t
			g.own = labelsIn(s.Body)
			g.targets = []destination{{label, t.loop, true}}
			g.emit(&ir.If{Cond: &ir.Binary{Op: token.NEQ, X: &ir.Ref{Var: t.state}, Y: ir.Int(0), T: types.Typ[types.Bool]}, Then: []ir.Stmt{
				&ir.Panic{Runtime: true, Text: "range function continued iteration after function for loop body returned false", Pos: s.Pos()}}})
			for i, e := range []ast.Expr{s.Key, s.Value} {
				if e != nil {
					g.store(s.Tok, e, params[i])
				}
			}
			g.stmts(s.Body.List)
			g.endIteration(true, nil)
		})
	})
	for _, v := range t.results { // before the body, which refers to them
		f.emit(&ir.Define{Var: v, Init: &ir.Zero{T: v.Type}})
	}
	for _, x := range list {
		f.emit(x)
	}
	f.emit(&ir.Call{Func: ref.Func, Lit: ref.Lit, Args: []ir.Expr{body}})
	for i, end := range t.ends {
		then := f.within(end)
		f.emit(&ir.If{Cond: &ir.Binary{Op: token.EQL, X: &ir.Ref{Var: t.state}, Y: ir.Int(int64(i + 2)), T: types.Typ[types.Bool]}, Then: then})
	}
}

// labelsIn are the labels of statements, but not those in function literals.
func labelsIn(body *ast.BlockStmt) map[string]bool {
	list := make(map[string]bool)
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.LabeledStmt:
			list[n.Label.Name] = true
		}
		return true
	})
	return list
}
