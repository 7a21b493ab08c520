package lower

import (
	"go/ast"
	"go/types"
	"strings"
)

// returnResults returns what the result variables hold.
func (f *fn) returnResults() {
	if len(f.results) == 0 {
		if f.sig.Results().Len() > 0 {
			zeros := make([]string, f.sig.Results().Len())
			for i := range zeros {
				zeros[i] = f.l.zeroSlot(f.sig.Results().At(i).Type())
			}
			f.emit("return %s", strings.Join(zeros, ", "))
			return
		}
		f.bareReturn()
		return
	}
	parts := make([]string, len(f.results))
	for i, r := range f.results {
		parts[i] = r.text()
	}
	f.emit("return %s", strings.Join(parts, ", "))
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
	sig := f.sigOuter()
	n := sig.Results().Len()
	dest := f.returnPlaces()
	if len(s.Results) == 0 {
		f.leave(dest)
		return
	}
	var values []string
	if n > 1 && len(s.Results) == 1 {
		tup := f.typeOf(s.Results[0]).(*types.Tuple)
		for i, v := range f.multi(s.Results[0], n) {
			values = append(values, f.intoSlot(f.convert(v, tup.At(i).Type(), sig.Results().At(i).Type()), sig.Results().At(i).Type()))
		}
	} else {
		list := make([]func() string, n)
		for i := range list {
			t := sig.Results().At(i).Type()
			list[i] = func() string {
				text := f.toSlot(s.Results[i], t)
				if n > 1 && f.callsBuiltin(s.Results[i]) {
					text = f.hold(text, f.l.slot(t)) // the interpreter puts it in the first result's place
				}
				return text
			}
		}
		values = f.exprs(list...)
	}
	if dest == nil {
		f.emit("return %s", strings.Join(values, ", "))
		return
	}
	if n == 1 {
		values[0] = f.settled(values[0], sig.Results().At(0).Type())
	} else {
		for i, v := range values {
			values[i] = f.hold(v, f.l.slot(sig.Results().At(i).Type()))
		}
	}
	for i, v := range values {
		f.emit("%s = %s", dest[i].text(), v)
	}
	f.leave(dest)
}

// callsBuiltin says whether an expression is a call of a predeclared function.
func (f *fn) callsBuiltin(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && f.info.Types[e].Value == nil && f.info.Types[ast.Unparen(call.Fun)].IsBuiltin()
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
	if f.yield != nil {
		f.yieldExit(exitReturn)
		return
	}
	if f.bare && f.parent != nil && f.frameBody() {
		f.bareReturn()
		return
	}
	if len(results) == 0 {
		f.bareReturn()
		return
	}
	parts := make([]string, len(results))
	for i, r := range results {
		parts[i] = r.text()
	}
	f.emit("return %s", strings.Join(parts, ", "))
}

// bareReturn writes a return without values. The interpreter calls itself without
// end over one that is reached from two places, such as a label and the
// statement before it; the empty block is reached in its stead.
func (f *fn) bareReturn() { f.emit("{}\nreturn") }

// frameBody says whether f is the body that a deferring function gives to rt.Run.
func (f *fn) frameBody() bool { return f.frame != nil && f.parent.frame == f.frame }
