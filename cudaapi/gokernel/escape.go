package gokernel

import (
	"go/types"
	"slices"
	"strings"

	"gocuda/cudaapi/gokernel/ir"
)

// This is escape analysis: where the address of a local variable is kept, and whether the
// variable outlives its block, its iteration or its function by that. Kernels, of which
// each function has a summary, declare such variables earlier or are refused; for the host
// they are moved into Go's memory.

// lifetimes does it for all functions of kernels.
func (u *unit) lifetimes() {
	summaries := u.summarize()
	for _, f := range u.prog.Funcs {
		u.try(func() { u.lifetimesOf(f, summaries) })
	}
}

// keepsRules refuses addresses that outlive what they point to:
// the address of a local variable is not returned, not stored in memory, and only kept
// in variables that live as long as that one, or less. Where it would be, the variable
// is moved into Go's memory.
func (u *unit) keepsRules(f *ir.Func) {
	k := newEscapeAnalysis(u, f, moving{})
	ir.WalkAll(f.Body, func(s ir.Stmt) {
		if c, ok := s.(*ir.Call); ok && c.Func != nil {
			k.below = max(k.below, u.host.stack[c.Func]) // one that is not known yet calls itself
		}
	})
	k.follow()
	u.host.stack[f] = k.size + k.below
}

func newEscapeAnalysis(u *unit, f *ir.Func, rules escapeRules) *escapeAnalysis {
	return &escapeAnalysis{u: u, f: f, rules: rules, in: make(map[*ir.Var]any), up: make(map[any]any), roots: make(map[*ir.Var][]*ir.Var), early: make(map[*ir.Var]bool), literals: make(map[*ir.Var]*ir.Func)}
}

// follow goes through the function until all is known of where addresses are kept.
func (k *escapeAnalysis) follow() {
	k.places(k.f.Body, nil)
	for again := true; again; {
		again = false
		k.changed = &again
		k.stmts(k.f.Body, nil)
	}
}

type escapeAnalysis struct {
	u       *unit
	f       *ir.Func
	rules   escapeRules
	in      map[*ir.Var]any // the innermost block, loop or literal in which a variable is declared
	up      map[any]any     // the one around it
	roots   map[*ir.Var][]*ir.Var
	changed *bool
	early   map[*ir.Var]bool // those to be declared at the start
	size    int64            // of the variables so far
	below   int64            // the most stack of a function that this one calls

	summaries summaries            // of a kernel's functions
	literals  map[*ir.Var]*ir.Func // by the variables that hold them
}

func (k *escapeAnalysis) fail(s ir.Stmt, format string, args ...any) {
	at := k.u.at[s]
	if c, ok := s.(*ir.Call); ok { // the function was lowered in the middle of it
		at = c.Pos
	}
	k.u.fail(at, format, args...)
}

// branch is one of the blocks of an if.
type branch struct {
	of   *ir.If
	then bool
}

// mostLocal bounds the bytes of the variables of a function and of those that it calls,
// one in the other, which lie on the stack. How much is left of that is looked at by
// functions that call themselves (calls.h).
const mostLocal = 128 << 10

// places notes where variables are declared.
func (k *escapeAnalysis) places(list []ir.Stmt, in any) {
	for _, s := range list {
		switch s := s.(type) {
		case *ir.Define:
			k.in[s.Var] = in
			k.size += sizes.Sizeof(s.Var.Type)
			k.rules.declared(k, s)
		case *ir.Closure:
			k.up[s] = in
			for _, v := range s.Lit.Params {
				k.in[v] = s
			}
			k.places(s.Lit.Body, s)
		case *ir.If:
			then, other := branch{s, true}, branch{s, false}
			k.up[then], k.up[other] = in, in
			k.places(s.Then, then)
			k.places(s.Else, other)
		case *ir.Block:
			k.up[s] = in
			k.places(s.Body, s)
		case *ir.Loop:
			k.up[s] = in
			k.places(s.Body, s)
			k.places(s.Post, s)
		}
	}
}

// stmts follows addresses of local variables.
func (k *escapeAnalysis) stmts(list []ir.Stmt, lit *ir.Closure) {
	for _, s := range list {
		switch s := s.(type) {
		case *ir.Define:
			if s.Init != nil {
				k.keep(s, s.Var, k.carries(s.Init))
			}
		case *ir.Closure:
			k.literals[s.Var] = s.Lit
			k.stmts(s.Lit.Body, s)
		case *ir.If:
			k.stmts(s.Then, lit)
			k.stmts(s.Else, lit)
		case *ir.Block:
			k.stmts(s.Body, lit)
		case *ir.Loop:
			k.stmts(s.Body, lit)
			k.stmts(s.Post, lit)
		case *ir.Assign:
			v := ir.Root(s.To)
			if roots := k.carries(s.Value); len(roots) > 0 {
				if v != nil && v.Space == ir.Local {
					k.keep(s, v, roots)
				} else {
					k.rules.stored(k, s, k.carriesPart(s.To), roots)
				}
			}
		case *ir.Effect:
			for i, a := range s.Args {
				if roots := k.carries(a); i == 0 && s.Dst != nil && hasPointers(s.Dst.Type) && !strings.HasPrefix(s.Name, builderPrefix) {
					k.keep(s, s.Dst, roots)
				} else {
					k.rules.given(k, s, roots)
				}
			}
		case *ir.Call:
			var roots []*ir.Var
			for _, a := range s.Args {
				roots = append(roots, k.carries(a)...)
			}
			k.rules.called(k, s, roots)
			for _, d := range s.Dst {
				if d != nil && hasPointers(d.Type) {
					k.keep(s, d, roots)
				}
			}
		case *ir.Return:
			for _, v := range s.Values {
				k.rules.returned(k, s, lit, k.carries(v))
			}
		}
	}
}

// keep notes that a variable holds addresses of others.
func (k *escapeAnalysis) keep(s ir.Stmt, v *ir.Var, roots []*ir.Var) {
	for _, r := range roots {
		if k.within(k.in[v], k.in[r]) || k.rules.outlives(k, s, v, r) {
			k.learn(v, []*ir.Var{r})
		}
	}
}

// learn notes the same wherever they live.
func (k *escapeAnalysis) learn(v *ir.Var, roots []*ir.Var) {
	for _, r := range roots {
		if !slices.Contains(k.roots[v], r) {
			k.roots[v] = append(k.roots[v], r)
			*k.changed = true
		}
	}
}

// escapeRules say what becomes of the addresses of local variables.
type escapeRules interface {
	// declared is a variable that needs memory.
	declared(k *escapeAnalysis, s *ir.Define)
	// outlives is v, which has the address of r for longer than r lives. It says whether r
	// lives longer from now on.
	outlives(k *escapeAnalysis, s ir.Stmt, v, r *ir.Var) bool
	// stored are addresses that a statement stores in what some variables have the addresses of.
	stored(k *escapeAnalysis, s ir.Stmt, to, roots []*ir.Var)
	// given are addresses that an effect is given, called those that a function is, and returned
	// those that come back.
	given(k *escapeAnalysis, s *ir.Effect, roots []*ir.Var)
	called(k *escapeAnalysis, s *ir.Call, roots []*ir.Var)
	returned(k *escapeAnalysis, s ir.Stmt, lit *ir.Closure, roots []*ir.Var)
}

// moving moves variables into Go's memory whose addresses outlive them.
type moving struct{}

func (moving) escape(k *escapeAnalysis, s ir.Stmt, roots []*ir.Var, why string) {
	if len(roots) > 0 && !k.u.escape(roots) {
		k.fail(s, "compiled code cannot %s", why)
	}
}

func (moving) declared(k *escapeAnalysis, s *ir.Define) {
	if k.size+k.below > mostLocal {
		k.fail(s, "the variables of the functions need more than %d KiB of stack", mostLocal>>10)
	}
}

func (m moving) outlives(k *escapeAnalysis, s ir.Stmt, _, r *ir.Var) bool {
	m.escape(k, s, []*ir.Var{r}, "keep the address of this variable for longer than the block in which it is declared")
	return false
}

func (m moving) stored(k *escapeAnalysis, s ir.Stmt, _, roots []*ir.Var) {
	m.escape(k, s, roots, "store the address of a local variable in memory")
}

func (m moving) given(k *escapeAnalysis, s *ir.Effect, roots []*ir.Var) {
	if storesElements(s) {
		m.stored(k, s, nil, roots)
	}
	if _, ok := s.Args[0].Type().Underlying().(*types.Slice); !ok && s.Name == "clear" && hasPointers(s.T) {
		k.fail(s, "compiled code cannot clear what has pointers in it")
	}
}

func (m moving) called(k *escapeAnalysis, s *ir.Call, roots []*ir.Var) {
	if s.Func == nil && len(k.u.host.stores) > 0 || k.u.host.stores[s.Func] { // perhaps the address
		m.escape(k, s, roots, "give the address of a local variable to a function that stores pointers in memory")
	}
}

func (m moving) returned(k *escapeAnalysis, s ir.Stmt, _ *ir.Closure, roots []*ir.Var) {
	m.escape(k, s, roots, "return the address of this local variable")
}

// declaring declares variables earlier whose addresses outlive them, and refuses what outlives
// its iteration or its function.
type declaring struct{}

func (declaring) declared(*escapeAnalysis, *ir.Define)              {}
func (declaring) given(*escapeAnalysis, *ir.Effect, []*ir.Var)      {}
func (declaring) called(k *escapeAnalysis, s *ir.Call, _ []*ir.Var) { k.apply(s) }

func (declaring) outlives(k *escapeAnalysis, s ir.Stmt, v, r *ir.Var) bool {
	k.outlives(s, v, r)
	return true
}

func (declaring) stored(k *escapeAnalysis, s ir.Stmt, to, roots []*ir.Var) { k.stored(s, to, roots) }

func (declaring) returned(k *escapeAnalysis, s ir.Stmt, lit *ir.Closure, roots []*ir.Var) {
	k.returns(s, lit, roots)
}

// storesElements says whether an effect stores its arguments after the first, or what
// they point to.
func storesElements(s *ir.Effect) bool {
	switch s.Name {
	case "append", "append_all":
		return hasPointers(s.T)
	case "copy":
		t, ok := s.Args[0].Type().Underlying().(*types.Slice)
		return ok && hasPointers(t.Elem())
	}
	return false
}

// storing are the functions that may store pointers in memory that may be Go's: by
// themselves, or by what they call, if some calls of Go do.
func (u *unit) storing(does func(HostCall) bool) map[*ir.Func]bool {
	list := make(map[*ir.Func]bool)
	for _, o := range u.host.outside {
		if does(o.call) {
			list[o.fun] = true
		}
	}
	for known := -1; known < len(list); {
		known = len(list)
		for _, f := range u.prog.Funcs {
			if !list[f] && f.Body != nil && u.stores(f, list) {
				list[f] = true
			}
		}
	}
	return list
}

// stores says whether a function may store pointers, if those of list do. What it is given
// to call may be any literal.
func (u *unit) stores(f *ir.Func, list map[*ir.Func]bool) (yes bool) {
	own := make(map[*ir.Var]bool) // literals, whose statements are f's, too
	ir.WalkAll(f.Body, func(s ir.Stmt) {
		if c, ok := s.(*ir.Closure); ok {
			own[c.Var] = true
		}
	})
	ir.WalkAll(f.Body, func(s ir.Stmt) {
		switch s := s.(type) {
		case *ir.Assign:
			yes = yes || storesPointers(s)
		case *ir.Effect:
			yes = yes || storesElements(s)
		case *ir.Call:
			yes = yes || list[s.Func] || s.Func == nil && !own[s.Lit] && len(list) > 0
		}
		ir.Exprs(s, func(e ir.Expr) {
			r, ok := e.(*ir.FuncRef)
			yes = yes || ok && list[r.Func]
		})
	})
	return yes
}

// within says whether a loop or literal is another one or in it.
func (k *escapeAnalysis) within(in, outer any) bool {
	for {
		if in == outer {
			return true
		}
		if in == nil {
			return false
		}
		in = k.up[in]
	}
}

// carries are the local variables whose address an expression may have in it.
func (k *escapeAnalysis) carries(e ir.Expr) []*ir.Var {
	switch e := e.(type) {
	case nil:
	case *ir.FuncRef:
		return nil // it is called while the function runs
	case *ir.Addr:
		if v := ir.Root(e.X); v != nil && v.Space == ir.Local {
			return append([]*ir.Var{v}, k.roots[v]...)
		}
		return k.carriesPart(e.X)
	default:
		if hasPointers(e.Type()) {
			return k.carriesPart(e)
		}
	}
	return nil
}

// carriesPart is carries for what the expressions in e have.
func (k *escapeAnalysis) carriesPart(e ir.Expr) (list []*ir.Var) {
	switch e := e.(type) {
	case *ir.Ref:
		return k.roots[e.Var]
	case *ir.Field:
		return k.carriesPart(e.X)
	case *ir.Index:
		return k.carriesPart(e.X)
	case *ir.Deref:
		return k.carries(e.X)
	case *ir.Addr:
		return k.carries(e)
	case *ir.Slice:
		return k.carries(e.X)
	case *ir.Convert:
		return k.carries(e.X)
	case *ir.Composite:
		for _, x := range e.Elems {
			list = append(list, k.carries(x)...)
		}
	case *ir.Pure:
		for _, x := range e.Args {
			list = append(list, k.carries(x)...)
		}
	}
	return list
}

// lifetimesOf makes the variables of a kernel's function live as long as their addresses are
// kept: where that is behind the block in which one is declared, it is declared at the
// start. What is kept behind its iteration of a loop, or its function, is refused: a
// device allocates no memory.
func (u *unit) lifetimesOf(f *ir.Func, of summaries) {
	k := u.followed(f, of)
	if len(k.early) > 0 {
		f.Body = k.declared(f.Body)
	}
}

// summaries say what functions store of what they are passed: in what the parameter To points
// to, or in other memory where that is -1, the address that the parameter From is, or has.
type summaries map[*ir.Func][]stored

type stored struct{ from, to int }

// summarize goes through all functions until it is known what they store.
func (u *unit) summarize() summaries {
	of, errs := make(summaries), len(u.errs)
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
func (u *unit) followed(f *ir.Func, of summaries) *escapeAnalysis {
	k := newEscapeAnalysis(u, f, declaring{})
	k.summaries = of
	for _, v := range f.Params {
		if hasPointers(v.Type) {
			k.roots[v] = []*ir.Var{v}
		}
	}
	k.follow()
	return k
}

// apply has a call store what the summary of its function says.
func (k *escapeAnalysis) apply(s *ir.Call) {
	if lit := k.literals[s.Lit]; lit != nil {
		for i, v := range lit.Params {
			k.learn(v, k.carries(s.Args[i]))
		}
	}
	for _, g := range k.summaries[s.Func] {
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
func (k *escapeAnalysis) outlives(s ir.Stmt, v, r *ir.Var) {
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
func (k *escapeAnalysis) stored(s ir.Stmt, to, roots []*ir.Var) {
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
func (k *escapeAnalysis) notes(s ir.Stmt, r *ir.Var, g stored) {
	switch list := k.summaries[k.f]; {
	case g.from < 0:
		k.fail(s, "this stores the address of a local variable in memory that lives longer: store an index, or the value itself")
	case !slices.Contains(list, g):
		k.summaries[k.f] = append(list, g)
	}
}

// returns refuses addresses of a function's own variables as its results. A literal may
// return those of variables around it.
func (k *escapeAnalysis) returns(s ir.Stmt, lit *ir.Closure, roots []*ir.Var) {
	for _, r := range roots {
		if !slices.Contains(k.f.Params, r) && (lit == nil || k.within(k.in[r], lit)) {
			k.fail(s, "the address of %s is returned, but its memory is given up with the function: pass in a slice or a pointer to write to", r.Name)
		}
	}
}

// declared is a function's body that declares some variables at its start.
func (k *escapeAnalysis) declared(list []ir.Stmt) (body []ir.Stmt) {
	list = k.assigned(list, &body)
	return append(body, list...)
}

// assigned is a list of statements that assigns to these variables where it declared them.
func (k *escapeAnalysis) assigned(list []ir.Stmt, start *[]ir.Stmt) []ir.Stmt {
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
