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

// Prove marks the checks of a function that cannot fail.
func Prove(f *ir.Func) {
	if !ir.Jumps(f.Body) { // the states that meet at a label are not known
		newProver(f).run(f)
	}
}

// Version makes two loops of one, of which one has no checks. With times, that one has
// fewer iterations than so many, and is Short.
func Version(f *ir.Func, times int64) {
	if !ir.Jumps(f.Body) {
		v := &versioning{times: times, loose: newProver(f).loose}
		f.Body = v.list(f.Body)
	}
}

// Coalesce makes one condition of checks in a row, and marks those that it makes needless.
func Coalesce(f *ir.Func) {
	if !ir.Jumps(f.Body) {
		p := newProver(f)
		p.coalesces = true
		p.run(f)
	}
}

func compare(op token.Token, x, y ir.Expr) ir.Expr {
	return &ir.Binary{Op: op, X: x, Y: y, T: types.Typ[types.Bool]}
}
