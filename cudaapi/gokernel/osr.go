package gokernel

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"gocuda/cudaapi/gokernel/ir"
)

// HostLoop is a loop that is entered at the head of one of its iterations. It is compiled as
// a function of what it uses of the function around it. Its parameters are Vars, and
// State, and its results an int, the Vars that are Set, and Results. The int says how
// it ended.
type HostLoop struct {
	Stmt  ast.Stmt // an *ast.ForStmt, whose first part has run, or an *ast.RangeStmt
	Label string
	Info  *types.Info
	Func  string // the function that it is in, as traces call it
	Vars  []HostVar
	// State are the types of what a loop over a range has that no name is for: what it
	// goes over, but for arrays of which no element is wanted, and how far it is.
	State []types.Type
	// Results are the results of the function that it is in, if it has return
	// statements with values.
	Results []types.Type
	// Exits are the break, continue and goto statements that lead out of it, to
	// somewhere else than after it.
	Exits []*ast.BranchStmt
}

// HostVar is a local variable around a loop.
type HostVar struct {
	Var   *types.Var
	Place bool // it is given by its address: closures share it
	Set   bool // the loop changes it, and it is not given by its address
}

// How a loop ends.
const (
	LoopDone    = 1 + iota // what follows it is next
	LoopReturns            // with values
	LoopEnds               // with a return statement without values
	LoopBranch             // with the first of Exits; others follow
)

// osrEntry is what a function knows besides that is made of a loop.
type osrEntry struct {
	*HostLoop
	places map[types.Object]*ir.Var // of variables that are given by their addresses
}

// placeOf is what a variable is that is given by its address; nil if o is none.
func (f *fn) placeOf(o types.Object) ir.Expr {
	for g := f; g != nil; g = g.parent {
		if p := g.boxes[o]; p != nil {
			return &ir.Deref{X: &ir.Ref{Var: p}, T: p.Type.(*types.Pointer).Elem()}
		}
		if g.osrEntry != nil {
			if p := g.osrEntry.places[o]; p != nil {
				return &ir.Deref{X: &ir.Ref{Var: p}, T: o.Type()}
			}
		}
	}
	return nil
}

// hostLoop makes a function of a loop.
func (u *unit) hostLoop(l *HostLoop) *ir.Func {
	f := &ir.Func{Name: u.unique("loop"), Go: l.Func, Pos: l.Stmt.Pos()}
	f.Name = "f_" + f.Name
	u.info = l.Info
	c := &fn{u: u, f: f, vars: make(map[types.Object]*ir.Var), taken: make(map[string]int), labels: make(map[string]*ir.Label),
		uses: usageOf(l.Info, l.Stmt), osrEntry: &osrEntry{l, make(map[types.Object]*ir.Var)}}
	var list []ir.Stmt
	c.out = &list
	f.Results = append(f.Results, types.Typ[types.Int])
	for _, v := range l.Vars {
		t := v.Var.Type()
		c.usable(t, l.Stmt, "the variable "+v.Var.Name()+", which the loop uses,")
		if sizes.Sizeof(t) == 0 {
			c.fail(l.Stmt, "the variable %s has no size", v.Var.Name())
		}
		if v.Place {
			t = types.NewPointer(t)
		}
		p := c.local(v.Var.Name(), t)
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
	c.leaveLoop(LoopDone, nil)
	f.Body = list
	u.prog.Funcs = append(u.prog.Funcs, f)
	return f
}

// leaveLoop returns from the function of a loop.
func (f *fn) leaveLoop(how int, values []ir.Expr) {
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
	f.emit(&ir.Return{Values: out})
}

// exits is a branch statement that leads out of the loop.
func (f *fn) exits(s *ast.BranchStmt) bool {
	if f.osrEntry == nil {
		return false
	}
	i := slices.Index(f.osrEntry.Exits, s)
	if i < 0 {
		return false
	}
	f.leaveLoop(LoopBranch+i, nil)
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

// hostLoops lowers loops.
func (u *unit) hostLoops(loops []*HostLoop) []*ir.Func {
	list := make([]*ir.Func, len(loops))
	for i, l := range loops {
		u.here = l.Stmt.Pos()
		u.try(func() { list[i] = u.hostLoop(l) })
	}
	return list
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
