package gokernel

import (
	"gocuda/cudaapi/gokernel/ir"
)

// lifetimes makes the variables of a kernel's function live as long as their addresses are
// kept: where that is behind the block in which one is declared, it is declared at the
// start. What is kept behind its iteration of a loop, or its function, is refused: a
// device allocates no memory.
func (u *unit) lifetimes(f *ir.Func) {
	k := newKeeper(u, f)
	k.follow()
	if len(k.early) > 0 {
		f.Body = k.declared(f.Body)
	}
}

// outlives has r, whose address is kept in v for longer than its block, live as long.
func (k *keeper) outlives(s ir.Stmt, v, r *ir.Var) {
	for in := k.in[r]; in != nil && !k.within(k.in[v], in); in = k.up[in] {
		switch in.(type) {
		case *ir.Loop:
			k.fail(s, "this keeps the address of a variable of which each iteration of a loop has its own, for longer than the iteration: take an element of an array that is declared before the loop")
		case *ir.Closure:
			k.fail(s, "this keeps the address of a variable for longer than its function, with which its memory is given up: declare it outside")
		}
	}
	k.early[r] = true
}

// store follows addresses that a statement stores by way of a pointer or a slice.
func (k *keeper) store(s *ir.Assign, roots []*ir.Var) {
	to := k.carriesPart(s.To)
	if len(to) == 0 {
		k.fail(s, "this stores the address of a local variable in memory that lives longer: store an index, or the value itself")
	}
	for _, v := range to {
		k.keep(s, v, roots)
	}
}

// returns refuses addresses of a function's own variables as its results. A literal may
// return those of variables around it.
func (k *keeper) returns(s ir.Stmt, lit *ir.Closure, roots []*ir.Var) {
	for _, r := range roots {
		if lit == nil || k.within(k.in[r], lit) {
			k.fail(s, "the address of %s is returned, but its memory is given up with the function: pass in a slice or a pointer to write to", r.Name)
		}
	}
}

// declared is a function's body that declares some variables at its start.
func (k *keeper) declared(list []ir.Stmt) (body []ir.Stmt) {
	list = k.assigned(list, &body)
	return append(body, list...)
}

// assigned is a list of statements that assigns to these variables where it declared them.
func (k *keeper) assigned(list []ir.Stmt, start *[]ir.Stmt) []ir.Stmt {
	for i, s := range list {
		switch s := s.(type) {
		case *ir.Define:
			if !k.early[s.Var] {
				continue
			}
			*start = append(*start, &ir.Define{Var: s.Var})
			if s.Init == nil {
				s.Init = &ir.Zero{T: s.Var.Type}
			}
			list[i] = &ir.Assign{To: &ir.Ref{Var: s.Var}, Value: s.Init}
		case *ir.If:
			s.Then, s.Else = k.assigned(s.Then, start), k.assigned(s.Else, start)
		case *ir.Loop:
			s.Body, s.Post = k.assigned(s.Body, start), k.assigned(s.Post, start)
		case *ir.Block:
			s.Body = k.assigned(s.Body, start)
		case *ir.Closure:
			s.Lit.Body = k.declared(s.Lit.Body)
		}
	}
	return list
}
