// Package checks finds the checks of a function that cannot fail, and puts others where
// they cost less:
//
//   - what is known at a check (the bounds of numbers, conditions that hold, checks that
//     passed) may prove it: prove.go;
//   - of an innermost loop that counts there are two, of which one has no checks:
//     versioning.go;
//   - checks in a row become one condition, of which only those are part that all the
//     others follow from: coalesce.go.
package checks

import (
	"go/token"
	"go/types"

	"gocuda/cudaapi/gokernel/ir"
)

// Reduce marks what cannot fail as such, and rewrites the function's statements. With
// times, loops without checks have fewer iterations than that, and are Short; and
// checks in a row are left as they are.
func Reduce(f *ir.Func, times int64) {
	if jumps(f.Body) { // the states that meet at a label are not known
		return
	}
	p := newProver(f)
	p.run(f)
	v := &versioning{times: times, loose: p.loose, slow: make(map[*ir.Loop]bool)}
	f.Body = v.list(f.Body)
	if times > 0 {
		return
	}
	p = newProver(f)
	p.coalesces, p.slow = true, v.slow
	p.run(f)
}

// jumps says whether statements have a goto.
func jumps(list []ir.Stmt) (found bool) {
	ir.Walk(list, func(s ir.Stmt) {
		_, is := s.(*ir.Jump)
		found = found || is
	})
	return found
}

func isInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

func isBool(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

func compare(op token.Token, x, y ir.Expr) ir.Expr {
	return &ir.Binary{Op: op, X: x, Y: y, T: types.Typ[types.Bool]}
}
