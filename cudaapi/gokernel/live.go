package gokernel

import (
	"slices"

	"gocuda/cudaapi/gokernel/ir"
)

// liveness is which variables of a function may still be used after one of its statements:
// those of which one further down uses something, or one in a loop that both are in.
type liveness struct {
	at     map[ir.Stmt]int // its place, from the top
	loops  [][2]int        // from the first to the last statement, the outer ones first
	first  map[*ir.Var]int // where it is declared; 0: outside
	last   map[*ir.Var]int // where it is last used
	always map[*ir.Var]bool
	unsure bool // the order is not that of the statements
}

func livenessOf(f *ir.Func) *liveness {
	l := &liveness{at: make(map[ir.Stmt]int), first: make(map[*ir.Var]int), last: make(map[*ir.Var]int), always: make(map[*ir.Var]bool), unsure: ir.Jumps(f.Body)}
	l.list(f.Body)
	for v := range l.last {
		if l.first[v] == 0 && !slices.Contains(f.Params, v) { // a literal's, of the function around it
			l.always[v] = true
		}
	}
	return l
}

func (l *liveness) list(list []ir.Stmt) {
	for _, s := range list {
		here := len(l.at) + 1
		l.unsure = l.unsure || l.at[s] > 0
		l.at[s] = here
		ir.Exprs(s, func(e ir.Expr) { l.uses(e, here) })
		for _, v := range ir.Defined(s) {
			l.last[v] = here
		}
		switch s := s.(type) {
		case *ir.Define:
			if l.first[s.Var] == 0 {
				l.first[s.Var] = here
			}
		case *ir.If:
			l.list(s.Then)
			l.list(s.Else)
		case *ir.Block:
			l.list(s.Body)
		case *ir.Loop:
			n := len(l.loops)
			l.loops = append(l.loops, [2]int{here, 0})
			l.list(s.Body)
			l.list(s.Post)
			l.loops[n][1] = len(l.at)
		case *ir.Closure: // nobody knows when it is called
			ir.WalkAll(s.Lit.Body, func(s ir.Stmt) {
				ir.Exprs(s, func(e ir.Expr) {
					if r, ok := e.(*ir.Ref); ok {
						l.always[r.Var] = true
					}
				})
				for _, v := range ir.Defined(s) {
					l.always[v] = true
				}
			})
		}
	}
}

// uses says whether a statement uses what a variable has.
func uses(s ir.Stmt, v *ir.Var) (yes bool) {
	ir.Exprs(s, func(e ir.Expr) {
		r, ok := e.(*ir.Ref)
		yes = yes || ok && r.Var == v
	})
	return yes
}

// uses notes what an expression uses, and whose address it takes.
func (l *liveness) uses(e ir.Expr, here int) {
	switch e := e.(type) {
	case *ir.Ref:
		l.last[e.Var] = here
	case *ir.Addr:
		if v := ir.Root(e.X); v != nil {
			l.always[v] = true
		}
	}
}

// isLive says whether a variable that was set before a statement may be used by it, or
// after it.
func (l *liveness) isLive(v *ir.Var, s ir.Stmt) bool {
	at := l.at[s]
	if l.unsure || l.always[v] {
		return true
	}
	if l.first[v] >= at || slices.Contains(ir.Defined(s), v) && !uses(s, v) {
		return false
	}
	from := at
	for _, loop := range l.loops {
		if loop[0] <= at && at <= loop[1] && l.first[v] < loop[0] {
			from = loop[0]
			break
		}
	}
	return l.last[v] >= from
}
