package lower

import (
	"fmt"
	"go/ast"
	"slices"

	"gocuda/kernel/golang/rt"
)

// Lowered code notes where it is in a variable of each function, which all of
// its calls share, and only before what can panic. Which call a panic came
// through is told by the function that was called, where that is called from
// one place: see rt.Func.

// at records where execution is, for a node that can panic.
func (f *fn) at(n ast.Node) {
	f.where = f.position(n)
	f.emitAs(note, "%s = %d", f.posName(), f.where)
	if f.instruments() && f.queues(n) {
		f.emit("%s(&%s, %d)", f.l.sym("Reach"), f.posName(), f.where)
	}
}

// position is a place in a cell as one number.
func (f *fn) position(n ast.Node) int {
	p := f.l.fset.Position(n.Pos())
	return p.Line<<12 | min(p.Column, 1<<12-1)
}

// posName is the variable that holds the function's position, made at first use.
func (f *fn) posName() string {
	if f.pos == "" {
		f.pos = f.l.fresh("p")
		fmt.Fprintf(&f.l.types, "var %s int\n", f.pos)
	}
	return f.pos
}

// calls notes that the statement that is being lowered calls a lowered
// function, or "": one that only run time knows.
func (f *fn) calls(lowered string) {
	if f.sites == nil {
		f.sites = make(map[string][]int)
	}
	lowered = callName(lowered)
	if list := f.sites[lowered]; !slices.Contains(list, f.where) {
		f.sites[lowered] = append(list, f.where)
	}
}

// register tells the runtime about the function that lowered code calls
// lowered. versions is common to those of one function. One that calls the plain form
// of itself, see callsPlain, is the same in both.
func (f *fn) register(lowered string, hidden bool, versions string) {
	fun := &rt.Func{Name: f.name, File: f.cell, Hidden: hidden, Versions: versions, Sites: f.sites}
	if name := callName(lowered); name != lowered {
		other := fun
		if f.sites[lowered] == nil {
			other = &rt.Func{Name: f.name, File: f.cell, Hidden: true}
		}
		f.l.rt.AddFunc(lowered, other)
		lowered = name
	}
	f.l.rt.AddFunc(lowered, fun)
	if f.pos != "" && (!hidden || f.placed) {
		f.l.inits = append(f.l.inits, fmt.Sprintf("%s(%q, &%s)", f.l.sym("Pos"), lowered, f.pos))
	}
}

// litName names the next literal in f as Go does: f.func1, and f.func1.1 in that.
func (f *fn) litName() string {
	if f.shared.lits == nil {
		f.shared.lits = make(map[string]int)
	}
	f.shared.lits[f.name]++
	n := fmt.Sprint(f.shared.lits[f.name])
	switch {
	case f.name == "":
		return "func" + n
	case f.inLit:
		return f.name + "." + n
	}
	return f.name + ".func" + n
}
