package gokernel

import (
	"go/ast"
	"go/types"
	"slices"

	"gocuda/cudaapi/gokernel/ir"
)

// The elements of a slice that is sorted change places. Where they have pointers, each such
// store would ask Go, because the collector may look at one place before and at the other one
// after. So a sort keeps a copy of the slice as long as it sorts (hold, in memory.h): all
// that the slice ever has is in the copy, and the collector looks at that, or is told when it
// is let go. This holds as long as nothing else stores pointers in the slice.

// The effects of hold and swap, which packages slices and sort of compiled code call.
const (
	holdElements = "hold_elements"
	swapElements = "swap_elements"
)

// permutes calls hold or swap of these packages, and is false for another function.
func (f *fn) permutes(e *ast.CallExpr, o *types.Func) bool {
	if o.Pkg() == nil || o.Pkg().Path() != "sort" && o.Pkg().Path() != "slices" || o.Name() != "hold" && o.Name() != "swap" {
		return false
	}
	elem := f.typeOf(e.Args[0]).Underlying().(*types.Slice).Elem()
	if !hasPointers(elem) {
		return o.Name() == "hold"
	}
	x := f.temp(f.expr(e.Args[0]))
	if o.Name() == "hold" {
		f.emit(&ir.Effect{Name: holdElements, Args: []ir.Expr{x}, T: elem, Pos: e.Pos()})
		return true
	}
	place := func(i ast.Expr) ir.Expr {
		return &ir.Addr{X: f.element(x, f.temp(f.intOf(i)), e), T: types.NewPointer(elem)}
	}
	j := place(e.Args[2])
	f.emit(&ir.Effect{Name: swapElements, Args: []ir.Expr{place(e.Args[1]), j}, T: elem, Pos: e.Pos()})
	return true
}

// dropHolds leaves all stores to Go if a function that compares elements may store pointers:
// perhaps in the slice. What functions do that are called in Go is known when they are (told,
// in calls.h).
func (u *unit) dropHolds() {
	stores := u.storing(HostCall.storesInMap)
	isHold := func(s ir.Stmt) bool {
		e, ok := s.(*ir.Effect)
		return ok && e.Name == holdElements
	}
	var holding []*ir.Func
	var compares []types.Type
	for _, f := range u.prog.Funcs {
		if slices.ContainsFunc(f.Body, isHold) {
			holding = append(holding, f)
			for _, v := range f.Params {
				if isFunc(v.Type) {
					compares = append(compares, v.Type.Underlying())
				}
			}
		}
	}
	mayCompare := func(t types.Type) bool {
		return slices.ContainsFunc(compares, func(c types.Type) bool { return types.Identical(c, t.Underlying()) })
	}
	changed := false
	for _, f := range u.prog.Funcs {
		ir.WalkAll(f.Body, func(s ir.Stmt) {
			if c, ok := s.(*ir.Closure); ok && mayCompare(c.Var.Type) {
				changed = changed || u.stores(c.Lit, stores)
			}
			ir.Exprs(s, func(e ir.Expr) {
				r, ok := e.(*ir.FuncRef)
				changed = changed || ok && stores[r.Func] && mayCompare(r.T)
			})
		})
	}
	if changed {
		for _, f := range holding {
			f.Body = slices.DeleteFunc(f.Body, isHold)
		}
	}
}
