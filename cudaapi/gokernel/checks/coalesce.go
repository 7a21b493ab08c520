package checks

import (
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"

	"gocuda/cudaapi/gokernel/ir"
)

// coalesced makes one condition of checks in a row: where it holds, the checks are made one
// by one, and one of them fails, or none. If memory is written between them, that is done
// between them there as well, and one does fail: the thread does not come back to write it
// again. nil: there are not two checks.
//
// Of indices into one slice those are left out that lie between others: x[i-1], x[i] and
// x[i+1] need two comparisons, and so do x[j*n+i-n], x[j*n+i-1], x[j*n+i+1] and x[j*n+i+n]
// if n is neither less than 1 nor so great that the sums wrap, which is one more.
func (p *prover) coalesced(s *state, list []ir.Stmt) ir.Stmt {
	if c, ok := list[0].(*ir.Check); !ok || c.Holds || c.Kind != ir.InRange && c.Kind != ir.NonNil {
		return nil
	}
	r := p.row(s, list)
	if len(r.checks) < 2 {
		return nil
	}
	var fails, all []ir.Expr
	var order []string
	groups := make(map[string][]*ir.Check)
	for _, c := range r.checks {
		if c.Kind == ir.NonNil {
			isNil := compare(token.EQL, c.Args[0], &ir.Zero{T: c.Args[0].Type()})
			fails, all = append(fails, isNil), append(all, isNil)
			continue
		}
		n := p.key(c.Args[1])
		if groups[n] == nil {
			order = append(order, n)
		}
		groups[n] = append(groups[n], c)
	}
	exact := true
	for _, n := range order {
		each := outside(groups[n])
		fewer := p.between(s, groups[n], each)
		exact = exact && len(fewer) == len(each)
		fails, all = append(fails, fewer...), append(all, each...)
	}
	one := &ir.If{Cond: either(fails)}
	if r.stores {
		if !exact {
			one.Cond = &ir.Binary{Op: token.LAND, X: one.Cond, Y: either(all), T: types.Typ[types.Bool]}
			exact = true
		}
		one.Then = ir.Copy(list[:r.length], make(map[*ir.Var]*ir.Var), nil, func(name string) string { return "go_slow_" + name })
	} else {
		for _, c := range r.checks {
			again := *c
			one.Then = append(one.Then, &again)
		}
	}
	one.Then[len(one.Then)-1].(*ir.Check).Fails = exact
	for _, c := range r.from { // as the condition says
		c.Holds = true
	}
	return one
}

func either(list []ir.Expr) ir.Expr {
	one := list[0]
	for _, e := range list[1:] {
		one = compare(token.OR, one, e)
	}
	return one
}

// outside are the conditions by which one of several indices is not in a slice.
func outside(group []*ir.Check) (list []ir.Expr) {
	for _, c := range group {
		list = append(list, compare(token.GEQ, toUnsigned(c.Args[0]), toUnsigned(c.Args[1])))
	}
	return list
}

// row are checks that can be made before the first of them.
type row struct {
	checks []*ir.Check // without those that hold if the ones before do
	from   []*ir.Check // what they are copies of
	length int         // of the statements up to the last of them
	stores bool        // memory is written between them
}

// mostInRow is how many statements may be run in two places.
const mostInRow = 30

// row are the checks from the first statement on of which nothing between them changes
// what they look at.
func (p *prover) row(s *state, list []ir.Stmt) (r row) {
	set := make(map[*ir.Var]bool)
	passed := s.clone()
	stored := false
	for i, x := range list[:min(len(list), mostInRow)] {
		switch x := x.(type) {
		case *ir.Check:
			if x.Holds {
				p.passed(passed, x)
				continue
			}
			c := *x
			if c.Kind != ir.InRange && c.Kind != ir.NonNil {
				return r
			}
			c.Args = nil
			for _, e := range x.Args {
				now, ok := p.before(e, set)
				if !ok || p.key(e) == "" || !p.divides(s, now) {
					return r
				}
				c.Args = append(c.Args, now)
			}
			if !p.holds(passed, &c) {
				r.checks, r.from = append(r.checks, &c), append(r.from, x)
				r.length, r.stores = i+1, stored
			}
			p.passed(passed, &c)
		case *ir.Define:
			if x.Var.Space != ir.Local {
				return r
			}
			set[x.Var] = true
			p.forget(passed, x.Var)
		case *ir.Assign:
			v := ir.Root(x.To)
			if v == nil || v.Space != ir.Local {
				stored = true
				continue
			}
			set[v] = true
			p.forget(passed, v)
		default:
			return r
		}
	}
	return r
}

// divides says whether no divisor in an expression is zero, as far as is known: a check
// between may be what says so.
func (p *prover) divides(s *state, e ir.Expr) (fine bool) {
	fine = true
	ir.Parts(e, func(e ir.Expr) {
		b, ok := e.(*ir.Binary)
		if !ok || !ir.IsInteger(b.T) || b.Op != token.QUO && b.Op != token.REM {
			return
		}
		if _, ok := b.Y.(*ir.Const); !ok {
			fine = fine && p.holds(s, &ir.Check{Kind: ir.NonZero, Args: []ir.Expr{b.Y}})
		}
	})
	return fine
}

// before is an expression with what variables stand for that are not set yet.
func (p *prover) before(e ir.Expr, set map[*ir.Var]bool) (ir.Expr, bool) {
	switch e := e.(type) {
	case *ir.Ref:
		if !set[e.Var] {
			return e, true
		}
		if x := p.values[e.Var]; x != nil {
			return p.before(x, set)
		}
		return nil, false
	case *ir.Binary:
		x, okX := p.before(e.X, set)
		y, okY := p.before(e.Y, set)
		return &ir.Binary{Op: e.Op, X: x, Y: y, T: e.T}, okX && okY
	case *ir.Convert:
		x, ok := p.before(e.X, set)
		return &ir.Convert{X: x, T: e.T}, ok
	case *ir.Len:
		x, ok := p.before(e.X, set)
		return &ir.Len{X: x}, ok
	case *ir.Field:
		x, ok := p.before(e.X, set)
		return &ir.Field{X: x, Index: e.Index, T: e.T}, ok
	}
	ok := true
	ir.Parts(e, func(e ir.Expr) {
		r, is := e.(*ir.Ref)
		ok = ok && !(is && set[r.Var])
	})
	return e, ok
}

// expanded is an expression with what all variables stand for.
func (p *prover) expanded(e ir.Expr) ir.Expr {
	switch e := p.resolved(e).(type) {
	case *ir.Binary:
		return &ir.Binary{Op: e.Op, X: p.expanded(e.X), Y: p.expanded(e.Y), T: e.T}
	case *ir.Convert:
		return &ir.Convert{X: p.expanded(e.X), T: e.T}
	default:
		return e
	}
}

// steps is what a number is assumed to be at most by which indices differ, by how many
// such numbers are multiplied.
var steps = []int64{0, 1 << 31, 1 << 28, 1 << 18}

// between are fewer conditions than plain ones, one of which holds where one of several
// indices is not in a slice: of the least and the greatest ones. All have the same length.
func (p *prover) between(s *state, group []*ir.Check, plain []ir.Expr) []ir.Expr {
	if len(group) < 2 {
		return plain
	}
	// By how much they differ from the first: as they are reckoned, modulo 2^64.
	var apart []sum
	var keys []string
	degree := 1
	var first sum
	for i, c := range group {
		a, ok := p.linear(s, c.Args[0], true)
		if i == 0 {
			first = a
		}
		d, fine := a.plus(-1, first)
		if !ok || !fine {
			return plain
		}
		for _, t := range d.terms {
			degree = max(degree, len(t.each))
			for _, key := range t.each {
				if !slices.Contains(keys, key) {
					keys = append(keys, key)
				}
			}
		}
		apart = append(apart, d)
	}
	if degree >= len(steps) {
		return plain
	}
	// What they differ by is at least 1 and at most so much, which is asked if need be.
	var fails []ir.Expr
	in := make(map[string]bounds)
	assumed := s.clone()
	for _, key := range keys {
		e := p.exprs[key]
		b, ok := p.bounds(s, e)
		if !ok || b.lo < 0 || b.hi > steps[degree] {
			if e = p.expanded(e); !wide(e.Type()) {
				return plain
			}
			b = bounds{1, steps[degree]}
			less := &ir.Binary{Op: token.SUB, X: e, Y: &ir.Const{T: e.Type(), Value: constant.MakeInt64(1)}, T: e.Type()}
			fails = append(fails, compare(token.GEQ, toUnsigned(less), number64(steps[degree])))
			p.narrow(assumed, e, b)
		}
		in[key] = b
	}
	for range 2 { // comparisons say more of what has bounds now
		for _, f := range s.facts {
			p.compared(assumed, f.op, f.x, f.y)
		}
	}
	least, greatest, ok := extremes(apart, in)
	if !ok {
		return plain
	}
	for i, c := range group {
		if greatest[i] || least[i] && !p.notNegative(assumed, c.Args[0]) {
			fails = append(fails, plain[i])
		}
	}
	if len(fails) >= len(plain) {
		return plain
	}
	return fails
}

// extremes are those of some sums that the others are not less than, or not greater,
// for all values within bounds that are not negative; not ok if they are too far apart.
func extremes(list []sum, in map[string]bounds) (least, greatest []bool, ok bool) {
	for _, a := range list {
		if span(a, in) > math.MaxInt64/8 {
			return nil, nil, false
		}
	}
	atMost := func(i, j int) bool {
		d, fine := list[j].plus(-1, list[i])
		return fine && d.atLeast0(in)
	}
	return kept(len(list), atMost), kept(len(list), func(i, j int) bool { return atMost(j, i) }), true
}

// kept are those of n things that no other stands for. Each that is not kept has one that
// was still kept when it was left out, so that equal ones do not leave out each other.
func kept(n int, standsFor func(i, j int) bool) []bool {
	r := make([]bool, n)
	for i := range r {
		r[i] = true
	}
	for i := n - 1; i >= 0; i-- {
		for j := range r {
			if j != i && r[j] && standsFor(j, i) {
				r[i] = false
			}
		}
	}
	return r
}

// span is the greatest size that a sum may have.
func span(a sum, in map[string]bounds) int64 {
	n := times(a.c, 1)
	if n < 0 {
		n = -n
	}
	for _, t := range a.terms {
		k := t.k
		if k < 0 {
			k = -k
		}
		for _, key := range t.each {
			k = times(k, in[key].hi)
		}
		n = plus(n, k)
	}
	return n
}

// atLeast0 says whether a sum is not negative: it is so if, with each number written as
// its least value and something more, no term is less than 0.
func (a sum) atLeast0(in map[string]bounds) bool {
	r := sum{c: a.c}
	for _, t := range a.terms {
		part := sum{c: t.k}
		for _, key := range t.each {
			var ok bool
			if part, ok = part.product(sum{c: in[key].lo, terms: []term{{1, key, []string{key}}}}); !ok {
				return false
			}
		}
		var ok bool
		if r, ok = r.plus(1, part); !ok {
			return false
		}
	}
	for _, t := range r.terms {
		if t.k < 0 {
			return false
		}
	}
	return r.c >= 0
}

func toUnsigned(e ir.Expr) ir.Expr { return &ir.Convert{X: e, T: types.Typ[types.Uint64]} }
