package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"gocuda/cudaapi/gokernel/osr"
)

// On-stack replacement: a loop can go on in a compiled form (see Loops). Lowered
// code asks for that where a loop begins, and at the head of an iteration when it looks
// whether it is to end anyway, so the iterations of a loop pay nothing for it. What the loop
// uses of the function around it is given to a function of package rt, and comes back.

// Loops is who compiles loops.
type Loops interface {
	// Refusal is what of a loop is never compiled, and why; nil of one that may be. Its
	// variables are not known yet.
	Refusal(*osr.Loop) (at ast.Node, why string)
	// Add takes a loop that may be compiled and gives it a number; a negative one leaves it
	// as it is. Where loops[number] is true, lowered code calls the function
	// LoopSymbol(number) of package rt, which takes the loop's variables (the address of
	// one that is a Place) and its state, and returns what osr.Loop says.
	Add(*osr.Loop) int
	// AddRefused takes one that is never compiled, where in it and why, and gives it a number,
	// with which lowered code calls the function Uncompiled of package rt when the loop runs.
	AddRefused(loop ast.Stmt, at token.Pos, why string) int
}

// osrEntry is what the lowering of a loop that can go on elsewhere knows.
type osrEntry struct {
	*osr.Loop
	number int
	never  bool  // it is never compiled
	ends   bool  // it has return statements without values
	how    *expr // how the compiled loop ended
	to     exprList
	from   exprList
	values []*expr // of a return statement
}

// osrEntryOf makes an entry of a loop that can go on in a compiled form, nil if it is
// none; state is what has no name in the cell.
func (f *fn) osrEntryOf(s ast.Stmt, label string, state ...*expr) *osrEntry {
	if f.l.Loops == nil {
		return nil
	}
	e := &osrEntry{Loop: &osr.Loop{Stmt: s, Label: label, Info: f.info, Func: f.name, Leaves: f.instruments()}}
	if s, ok := s.(*ast.ForStmt); ok {
		e.Early = s.Cond != nil && (f.callsFunction(s.Cond) || e.Leaves && f.readsMemory(s.Cond)) // such a condition is looked at once an iteration
	}
	returns := f.exits(e)
	if at, why := f.refusal(e.Loop); at != nil {
		if f.l.program {
			return nil
		}
		e.never, e.number = true, f.l.Loops.AddRefused(s, at.Pos(), why)
		return e
	}
	if f.yield != nil && (returns || len(e.Branches) > 0) || !f.loopVars(e) {
		return nil
	}
	for _, x := range state {
		e.State = append(e.State, x.typ)
		e.from = append(e.from, x)
	}
	if n := len(f.entries); n > 0 {
		e.Around = f.entries[n-1].Loop
	}
	if e.number = f.l.Loops.Add(e.Loop); e.number < 0 {
		return nil
	}
	e.how = f.temp(intType)
	e.to = append(exprList{e.how}, e.to...)
	for _, t := range e.Results {
		v := f.temp(t)
		e.values = append(e.values, v)
		e.to = append(e.to, v)
	}
	if n := len(state); n > 0 && e.Leaves {
		e.to = append(e.to, state[n-1])
	}
	return e
}

// refusal says why a loop never goes on in a compiled form; nil if it may.
func (f *fn) refusal(l *osr.Loop) (at ast.Node, why string) {
	if f.env != nil {
		return l.Stmt, "a loop of a generic function cannot go on in compiled code"
	}
	if r, ok := l.Stmt.(*ast.RangeStmt); ok {
		switch f.rangeType(r.X).(type) {
		case *types.Map, *types.Chan:
			return l.Stmt, "a loop over a map or a channel cannot go on in compiled code, for its place there is not known"
		}
	}
	return f.l.Loops.Refusal(l)
}

// exits finds the statements that lead out of a loop, and says whether some return.
func (f *fn) exits(l *osrEntry) (returns bool) {
	own := labelsIn(l.Stmt)
	if l.Label != "" {
		own[l.Label] = true
	}
	ast.Inspect(l.Stmt, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			returns = true
			l.ends = l.ends || len(n.Results) == 0
			if len(n.Results) > 0 && l.Results == nil {
				for r := range f.sigOuter().Results().Variables() {
					l.Results = append(l.Results, r.Type())
				}
			}
		case *ast.BranchStmt:
			if n.Label != nil && (!own[n.Label.Name] || n.Tok == token.GOTO && n.Label.Name == l.Label) {
				l.Branches = append(l.Branches, n)
			}
		}
		return true
	})
	return returns
}

// loopVars finds the variables of the function around that a loop uses. It is false if
// one is made again for each iteration.
func (f *fn) loopVars(e *osrEntry) bool {
	var first ast.Stmt
	if s, ok := e.Stmt.(*ast.ForStmt); ok {
		first = s.Init
	}
	set := make(map[types.Object]bool)
	assign := func(x ast.Expr) {
		if x != nil {
			if o := f.rootOf(x); o != nil {
				set[o] = true
			}
		}
	}
	var list []*types.Var
	ok := true
	ast.Inspect(e.Stmt, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				assign(x)
			}
		case *ast.IncDecStmt:
			assign(n.X)
		case *ast.RangeStmt:
			assign(n.Key)
			assign(n.Value)
		case *ast.Ident:
			o, is := f.info.Uses[n].(*types.Var)
			if !is || o.IsField() || o.Pkg() == nil || isPackageLevel(o) || slices.Contains(list, o) {
				return true
			}
			in := func(s ast.Node) bool { return o.Pos() >= s.Pos() && o.Pos() < s.End() }
			if in(e.Stmt) && (first == nil || !in(first)) {
				return true
			}
			if _, fun := o.Type().Underlying().(*types.Signature); fun {
				ok = false
			}
			list = append(list, o)
		}
		return ok
	})
	if !ok {
		return false
	}
	for _, o := range list {
		v := f.find(o)
		if v == nil {
			return false
		}
		x := v.value()
		switch {
		case v.boxed && first != nil && o.Pos() >= first.Pos() && o.Pos() < first.End():
			return false
		case v.boxed:
			x = v.pointer()
		case set[o]:
			e.to = append(e.to, x)
		}
		e.from = append(e.from, x)
		e.Vars = append(e.Vars, osr.Var{Var: o, Place: v.boxed, Set: set[o] && !v.boxed})
	}
	return true
}

// rootOf is the variable that an assignment changes, wholly or in part.
func (f *fn) rootOf(e ast.Expr) types.Object { return (&analysis{f: f}).root(e) }

// enter writes what goes on with a loop elsewhere.
func (e *osrEntry) enter(f *fn) {
	f.at(e.Stmt) // which is where it is as long as that takes
	f.emit("%s = %s", e.to, call(nil, f.l.hostName("rt", LoopSymbol(e.number), nil), e.from...))
}

// around writes a loop that can go on elsewhere, what it does there first. first is its
// last state before the first iteration; nil: that is a variable already.
func (f *fn) around(e *osrEntry, first *expr, loop func()) {
	if e == nil || e.never {
		loop()
		return
	}
	f.begins(e, first)
	f.inside(e, loop)
}

// unwatched is what is asked besides before compiled code is entered, which tells nothing
// of what it touches.
func (f *fn) unwatched() string {
	if f.instruments() {
		return " && !pending"
	}
	return ""
}

// begins goes on elsewhere with a loop before its first iteration.
func (f *fn) begins(e *osrEntry, first *expr) {
	f.declares(e)
	f.emit("if loops[%d]%s {", e.number, f.unwatched())
	if from := e.from; first != nil {
		e.from = append(from[:len(from)-1:len(from)-1], first)
		e.enter(f)
		e.from = from
	} else {
		e.enter(f)
	}
	f.emit("}")
}

// declares declares how a loop ended, and its results.
func (f *fn) declares(e *osrEntry) {
	for _, v := range append([]*expr{e.how}, e.values...) {
		if f.hoist(v.text, v.typ) {
			if v == e.how {
				f.emit("%s = 0", v)
			}
		} else {
			f.emit("var %s %s", v, f.l.rep(v.typ))
			f.emit("_ = %s", v)
		}
	}
}

// inside writes the loop, and what is after it.
func (f *fn) inside(e *osrEntry, loop func()) {
	f.emit("if %s == %d {", e.how, osr.GoesOn)
	f.entries = append(f.entries, e)
	loop()
	f.entries = f.entries[:len(f.entries)-1]
	f.emit("}")
	f.leaves(e)
}

// leaves does what a compiled loop ended with.
func (f *fn) leaves(e *osrEntry) {
	if e.ends {
		f.emit("if %s == %d {", e.how, osr.Ends)
		f.leave(f.returnPlaces())
		f.emit("}")
	}
	if len(e.Results) > 0 {
		f.emit("if %s == %d {", e.how, osr.Returns)
		if dest := f.returnPlaces(); dest == nil {
			f.returns(e.values)
		} else {
			for i, x := range e.values {
				f.emit("%s = %s", dest[i].value(), x)
			}
			f.leave(dest)
		}
		f.emit("}")
	}
	for i, s := range e.Branches {
		f.emit("if %s == %d {", e.how, osr.Branch+osr.Exit(i))
		f.branch(s)
		f.emit("}")
	}
}

// pollLoop is poll at the head of an iteration of a loop, which can go on elsewhere from there.
func (f *fn) pollLoop(n ast.Node, e *osrEntry) {
	if e == nil {
		f.poll(n)
		return
	}
	if e.never {
		f.emit("if stop { %s(%d); %s(%d) }", f.l.sym("Check"), f.position(n), f.l.sym("Uncompiled"), e.number)
		return
	}
	f.emit("if stop {")
	f.emit("%s(%d)", f.l.sym("Check"), f.position(n))
	e.enter(f)
	f.emit("if %s != %d { break }", e.how, osr.GoesOn)
	f.emit("}")
}

// LoopSymbol is the function of package rt that goes on with a loop.
func LoopSymbol(number int) string { return fmt.Sprintf("Loop%d", number) }
