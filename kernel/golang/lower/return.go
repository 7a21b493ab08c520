package lower

import (
	"go/ast"
	"go/types"
)

// values are what variables hold.
func values(list []*local) []*expr {
	out := make([]*expr, len(list))
	for i, v := range list {
		out[i] = v.value()
	}
	return out
}

// returns writes a return statement. The interpreter calls itself without end over
// one without values that is reached from two places, such as a label and the
// statement before it; the empty block is reached in its stead.
func (f *fn) returns(list []*expr) {
	f.debugEnd(list)
	if len(list) == 0 {
		f.emit("{}")
		f.emit("return")
		return
	}
	f.emit("return %s", exprList(list))
}

// returnResults returns what the result variables hold, or zeros.
func (f *fn) returnResults() {
	list := values(f.results)
	if len(list) == 0 {
		for r := range f.sig.Results().Variables() {
			list = append(list, f.l.zero(r.Type()))
		}
	}
	f.returns(list)
}

// sigOuter is the signature of the function that a return statement leaves.
func (f *fn) sigOuter() *types.Signature {
	for g := f; ; g = g.parent {
		if g.sig != nil {
			return g.sig
		}
	}
}

func (f *fn) returnStmt(s *ast.ReturnStmt) {
	results := f.sigOuter().Results()
	dest := f.returnPlaces()
	if len(s.Results) == 0 {
		f.leave(dest)
		return
	}
	n := results.Len()
	var list []*expr
	if n > 1 && len(s.Results) == 1 {
		for i, x := range f.multi(s.Results[0]) {
			list = append(list, f.convert(x, results.At(i).Type()))
		}
	} else {
		lowerings := make([]lowering, n)
		for i := range lowerings {
			lowerings[i] = func() *expr {
				x := f.to(s.Results[i], results.At(i).Type())
				if n > 1 && f.callsBuiltin(s.Results[i]) {
					x = f.hold(x) // the interpreter puts it in the first result's place
				}
				return x
			}
		}
		list = f.exprs(lowerings...)
	}
	if dest == nil {
		f.returns(list)
		return
	}
	if n == 1 {
		list[0] = f.settled(list[0])
	} else {
		for i, x := range list {
			list[i] = f.hold(x)
		}
	}
	for i, x := range list {
		f.emit("%s = %s", dest[i].value(), x)
	}
	f.leave(dest)
}

// callsBuiltin says whether an expression is a call of a predeclared function,
// converted or not: a conversion to the type that it has is not written.
func (f *fn) callsBuiltin(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || f.info.Types[e].Value != nil {
		return false
	}
	fun := f.info.Types[ast.Unparen(call.Fun)]
	return fun.IsBuiltin() || fun.IsType() && f.callsBuiltin(call.Args[0])
}

// returnPlaces are the variables that hold the results, or nil if return just
// returns them.
func (f *fn) returnPlaces() []*local {
	for g := f; g != nil; g = g.parent {
		if g.sig == nil {
			continue // the body of a range-over-func loop
		}
		if len(g.results) == 0 {
			return nil
		}
		for _, r := range g.results {
			if f != g {
				f.reach(r, g)
			}
		}
		return g.results
	}
	return nil
}

// leave ends the function, the results being in their places.
func (f *fn) leave(results []*local) {
	switch {
	case f.yield != nil:
		f.yieldExit(exitReturn)
	case f.bare && f.parent != nil && f.frameBody():
		f.returns(nil)
	default:
		f.returns(values(results))
	}
}

// frameBody says whether f is the body that a deferring function gives to rt.Run.
func (f *fn) frameBody() bool { return f.frame != nil && f.parent.frame == f.frame }
