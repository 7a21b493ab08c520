package gokernel

import (
	"slices"

	"gocuda/cudaapi/gokernel/ir"
)

// lifetimes makes the variables of a kernel's function live as long as their addresses are
// kept: where that is behind the block in which one is declared, it is declared at the
// start. What is kept behind its iteration of a loop, or its function, is refused: a
// device allocates no memory.
func (u *unit) lifetimes(f *ir.Func, of passed) {
	k := u.followed(f, of)
	if len(k.early) > 0 {
		f.Body = k.declared(f.Body)
	}
}

// passed is what functions store of what they are passed: in what the parameter To points
// to, or in other memory where that is -1, the address that the parameter From is, or has.
type passed map[*ir.Func][]stored

type stored struct{ from, to int }

// passes goes through all functions until it is known what they store.
func (u *unit) passes() passed {
	of, errs := make(passed), len(u.errs)
	for again := true; again; {
		again = false
		for _, f := range u.prog.Funcs {
			known := len(of[f])
			u.try(func() { u.followed(f, of) })
			again = again || len(of[f]) > known
		}
	}
	u.errs = u.errs[:errs] // they are found again
	return of
}

// followed goes through a function, in which each parameter points to something that it
// stands for.
func (u *unit) followed(f *ir.Func, of passed) *keeper {
	k := newKeeper(u, f)
	k.passed = of
	for _, v := range f.Params {
		if hasPointers(v.Type) {
			k.roots[v] = []*ir.Var{v}
		}
	}
	k.follow()
	return k
}

// gives has a call store what the function does.
func (k *keeper) gives(s *ir.Call) {
	if lit := k.literals[s.Lit]; lit != nil {
		for i, v := range lit.Params {
			k.learn(v, k.carries(s.Args[i]))
		}
	}
	for _, g := range k.passed[s.Func] {
		var to []*ir.Var
		if g.to >= 0 {
			to = k.carries(s.Args[g.to])
		}
		if roots := k.carries(s.Args[g.from]); len(roots) > 0 {
			k.stored(s, to, roots)
		}
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

// stored follows addresses that a statement stores in what some variables have the
// addresses of.
func (k *keeper) stored(s ir.Stmt, to, roots []*ir.Var) {
	param := func(v *ir.Var) int { return slices.Index(k.f.Params, v) }
	for _, r := range roots {
		from := param(r)
		if len(to) == 0 {
			k.notes(s, r, stored{from, -1})
		}
		for _, v := range to {
			if i := param(v); i >= 0 {
				k.notes(s, r, stored{from, i})
			} else {
				k.keep(s, v, []*ir.Var{r})
			}
		}
	}
}

// notes is that the function stores one of its parameters; what it may not store is refused.
func (k *keeper) notes(s ir.Stmt, r *ir.Var, g stored) {
	switch list := k.passed[k.f]; {
	case g.from < 0:
		k.fail(s, "this stores the address of a local variable in memory that lives longer: store an index, or the value itself")
	case !slices.Contains(list, g):
		k.passed[k.f] = append(list, g)
	}
}

// returns refuses addresses of a function's own variables as its results. A literal may
// return those of variables around it.
func (k *keeper) returns(s ir.Stmt, lit *ir.Closure, roots []*ir.Var) {
	for _, r := range roots {
		if !slices.Contains(k.f.Params, r) && (lit == nil || k.within(k.in[r], lit)) {
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
