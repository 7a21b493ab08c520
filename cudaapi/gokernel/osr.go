package gokernel

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"gocuda/cudaapi/gokernel/ir"
	"gocuda/cudaapi/gokernel/osr"
)

// LoopRefusal is what of a loop is never compiled, and why; nil if that shows only when all of
// it is lowered, or if it is compiled.
func LoopRefusal(l *osr.Loop) (at ast.Node, why string) {
	var h host
	for _, t := range l.Results {
		if why := refusedType(h, t, "a result"); why != "" {
			return l.Stmt, why
		}
	}
	ast.Inspect(l.Stmt, func(n ast.Node) bool {
		if why != "" {
			return false
		}
		switch n := n.(type) {
		case *ast.DeferStmt:
			why = h.sentence(deferred)
		case *ast.GoStmt:
			why = h.sentence(goroutines)
		case *ast.SelectStmt, *ast.SendStmt:
			why = h.sentence(channels)
		case *ast.CallExpr:
			why = h.refusesCall(l.Info, n)
		case *ast.Ident:
			v, ok := l.Info.Uses[n].(*types.Var)
			if ok && !v.IsField() && !isFunc(v.Type()) { // a literal is perhaps in the loop
				why = refusedType(h, v.Type(), "the variable "+v.Name()+", which the loop uses,")
			}
		}
		at = n
		return why == ""
	})
	if why == "" {
		return nil, ""
	}
	return at, why
}

// refusesCall is why a call is never compiled; "" if it may be.
func (h host) refusesCall(info *types.Info, e *ast.CallExpr) string {
	fun := ast.Unparen(e.Fun)
	tv := info.Types[fun]
	switch {
	case tv.IsType():
		return refusedType(h, tv.Type, "a value")
	case tv.IsBuiltin():
		if name := types.ExprString(fun); name == "recover" {
			return h.sentence(recovering)
		} else if name == "close" {
			return h.sentence(channels)
		}
		return ""
	}
	switch x := fun.(type) {
	case *ast.IndexExpr:
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	}
	id := identOf(fun)
	if sel, ok := fun.(*ast.SelectorExpr); ok {
		id = sel.Sel
	}
	if id == nil {
		return ""
	}
	o, ok := info.Uses[id].(*types.Func)
	if !ok || o.Pkg() != nil && (o.Pkg().Path() == "main" || callsPackage(o.Pkg().Path())) || o.Signature().Recv() != nil && types.IsInterface(o.Signature().Recv().Type()) {
		return ""
	}
	return types.ExprString(e.Fun) + " cannot be called in compiled code"
}

// osrEntry is what a function knows besides that is made of a loop.
type osrEntry struct {
	*osr.Loop
	places map[types.Object]*ir.Var // of variables that are given by their addresses
	headed bool                     // its own head is written
}

// placeOf is what a variable is that is given by its address; nil if o is none.
func (f *fn) placeOf(o types.Object) ir.Expr {
	for g := f; g != nil; g = g.parent {
		if g.osrEntry != nil {
			if p := g.osrEntry.places[o]; p != nil {
				return &ir.Deref{X: &ir.Ref{Var: p}, T: o.Type()}
			}
		}
	}
	return nil
}

// hostLoop makes a function of a loop.
func (u *unit) hostLoop(l *osr.Loop) *ir.Func {
	f := &ir.Func{Name: u.unique("loop"), Go: l.Func, Pos: l.Stmt.Pos()}
	f.Name = "f_" + f.Name
	u.info, u.here = l.Info, l.Stmt.Pos()
	c := &fn{u: u, f: f, vars: make(map[types.Object]*ir.Var), taken: make(map[string]int), labels: make(map[string]*ir.Label),
		uses: usageOf(l.Info, l.Stmt), osrEntry: &osrEntry{Loop: l, places: make(map[types.Object]*ir.Var)}}
	var list []ir.Stmt
	c.out = &list
	f.Results = append(f.Results, types.Typ[types.Int])
	for _, v := range l.Vars {
		t := v.Type()
		c.usable(t, l.Stmt, "the variable "+v.Name()+", which the loop uses,")
		if sizes.Sizeof(t) == 0 {
			c.fail(l.Stmt, "the variable %s has no size", v.Name())
		}
		if v.Place {
			t = types.NewPointer(t)
		}
		p := c.local(v.Name(), t)
		f.Params = append(f.Params, p)
		if p.There = v.Place; v.Place {
			c.osrEntry.places[v.Var] = p
			continue
		}
		c.vars[v.Var] = p
		if v.Set {
			f.Results = append(f.Results, t)
		}
	}
	f.Results = append(f.Results, l.Results...)
	if n := len(l.State); n > 0 && l.Leaves {
		f.Results = append(f.Results, l.State[n-1])
	}
	var state []ir.Expr
	for _, t := range l.State {
		c.usable(t, l.Stmt, "a value")
		if sizes.Sizeof(t) == 0 {
			c.fail(l.Stmt, "a value has no size")
		}
		p := c.local("state", t)
		f.Params = append(f.Params, p)
		state = append(state, &ir.Ref{Var: p})
	}
	for _, t := range l.Results {
		c.usable(t, l.Stmt, "a result")
		if sizes.Sizeof(t) == 0 {
			c.fail(l.Stmt, "a result has no size")
		}
	}
	switch s := l.Stmt.(type) {
	case *ast.ForStmt:
		c.loop(&ast.ForStmt{For: s.For, Cond: s.Cond, Post: s.Post, Body: s.Body}, l.Label)
	case *ast.RangeStmt:
		c.rangeFrom(s, l.Label, state)
	default:
		c.fail(l.Stmt, "this is not a loop")
	}
	c.leaveLoop(osr.Done, nil, nil)
	f.Body = list
	u.prog.Funcs = append(u.prog.Funcs, f)
	return f
}

// head is the head of an iteration of a loop. There the function of a loop that Leaves
// returns when it is to; at is how far it is then.
func (f *fn) head(at ir.Expr) {
	l := f.osrEntry
	if l == nil || l.headed {
		return
	}
	if l.headed = true; l.Leaves {
		f.emit(&ir.If{Cond: &ir.Pure{Name: "watched", T: types.Typ[types.Bool]}, Then: f.within(func() { f.leaveLoop(osr.GoesOn, nil, at) })})
	}
}

// leavesEarly says whether that is before the condition of the loop, which comes next.
func (f *fn) leavesEarly() bool {
	l := f.osrEntry
	return l != nil && !l.headed && l.Leaves && l.Early
}

// leaveLoop returns from the function of a loop; at is how far it is, if that matters.
func (f *fn) leaveLoop(how osr.Exit, values []ir.Expr, at ir.Expr) {
	l := f.osrEntry
	out := []ir.Expr{ir.Int(int64(how))}
	for _, v := range l.Vars {
		if v.Set && !v.Place {
			out = append(out, &ir.Ref{Var: f.vars[v.Var]})
		}
	}
	for i, t := range l.Results {
		if values == nil {
			out = append(out, &ir.Zero{T: t})
		} else {
			out = append(out, values[i])
		}
	}
	if n := len(l.State); n > 0 && l.Leaves {
		if at == nil {
			at = &ir.Zero{T: l.State[n-1]}
		}
		out = append(out, at)
	}
	f.emit(&ir.Return{Values: out})
}

// exits is a branch statement that leads out of the loop.
func (f *fn) exits(s *ast.BranchStmt) bool {
	if f.osrEntry == nil {
		return false
	}
	i := slices.Index(f.osrEntry.Branches, s)
	if i < 0 {
		return false
	}
	f.leaveLoop(osr.Branch+osr.Exit(i), nil, nil)
	return true
}

// rangeFrom is a loop over a range that goes on from a state.
func (f *fn) rangeFrom(s *ast.RangeStmt, label string, state []ir.Expr) {
	from := state[len(state)-1]
	x := state[0]
	element := func(of func() ir.Expr, t types.Type) func(ir.Expr) ir.Expr {
		return func(i ir.Expr) ir.Expr { return &ir.Index{X: of(), I: i, T: t} }
	}
	itself := func() ir.Expr { return x }
	switch t := f.typeOf(s.X).Underlying().(type) {
	case *types.Basic:
		if ir.IsString(t) {
			f.charactersFrom(s, label, x, from)
			return
		}
		f.countFrom(s, label, x.Type(), from, x, nil)
	case *types.Slice:
		f.countFrom(s, label, types.Typ[types.Int], from, f.temp(&ir.Len{X: x}), element(itself, t.Elem()))
	case *types.Array:
		f.countFrom(s, label, types.Typ[types.Int], from, ir.Int(t.Len()), element(itself, t.Elem()))
	case *types.Pointer:
		a, ok := t.Elem().Underlying().(*types.Array)
		if !ok {
			f.refuse(s, ranged)
		}
		at := func() ir.Expr { return f.deref(x, s.X) }
		f.countFrom(s, label, types.Typ[types.Int], from, ir.Int(a.Len()), element(at, a.Elem()))
	default:
		f.usable(f.typeOf(s.X), s, "a value")
		f.refuse(s, ranged)
	}
}

// resultsType is a struct of so many results that the header has none for it.
func (p *printer) resultsType(list []types.Type) string {
	key := ""
	for _, t := range list {
		key += p.typ(t) + ";"
	}
	if name := p.manyResults[key]; name != "" {
		return name
	}
	name := fmt.Sprintf("T_results_%d", len(p.manyResults)+1)
	if p.manyResults == nil {
		p.manyResults = make(map[string]string)
	}
	p.manyResults[key] = name
	fields := ""
	for i, t := range list {
		fields += fmt.Sprintf("%s r%d; ", p.typ(t), i)
	}
	fmt.Fprintf(&p.types, "struct %s { %s};\n", name, fields)
	return name
}
