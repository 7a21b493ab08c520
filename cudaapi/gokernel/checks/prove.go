package checks

import (
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"math"
	"slices"
	"strings"

	"gocuda/cudaapi/gokernel/ir"
)

// prover goes through a function's statements in the order in which they run, and keeps
// what is known at each.
type prover struct {
	loose   map[*ir.Var]bool    // something may change them unseen: their address is taken, or a literal uses what changes
	once    map[*ir.Var]bool    // set once, where they are defined
	values  map[*ir.Var]ir.Expr // what such variables stand for
	size    map[*ir.Var]int     // of these
	numbers map[*ir.Var]int

	keys  map[ir.Expr]string
	exprs map[string]ir.Expr // one of each key
	deps  map[string][]*ir.Var

	marks     bool // this is the last time through
	coalesces bool
	steps     int // statements so far
	loops     int // around, whose states are being looked for
	ends      map[*ir.Label]*state
	nexts     map[*ir.Label]*state
}

// state is what is known at a place; nil where no thread comes.
type state struct {
	known map[string]bounds     // of integers, by their keys; with a prefix, that something holds
	facts []fact                // comparisons that hold
	means map[*ir.Var][]ir.Expr // what holds if a variable is true
}

// fact is a comparison of integers that holds: x < y, x <= y or x == y.
type fact struct {
	op   token.Token
	x, y ir.Expr
	key  string
}

// mostFacts is how many comparisons are kept.
const mostFacts = 24

// mostSteps is after how many statements nothing more is asked of what changes in loops.
const mostSteps = 20000

// What holds besides bounds.
const notNil, notZero = "not nil ", "not zero "

func newProver(f *ir.Func) *prover {
	p := &prover{
		loose: make(map[*ir.Var]bool), once: make(map[*ir.Var]bool), values: make(map[*ir.Var]ir.Expr), size: make(map[*ir.Var]int), numbers: make(map[*ir.Var]int),
		keys: make(map[ir.Expr]string), exprs: make(map[string]ir.Expr), deps: make(map[string][]*ir.Var),
		ends: make(map[*ir.Label]*state), nexts: make(map[*ir.Label]*state),
	}
	writes, used := make(map[*ir.Var]int), make(map[*ir.Var]bool)
	for _, v := range f.Params {
		writes[v]++
		p.once[v] = true
	}
	ir.WalkAll(f.Body, func(s ir.Stmt) {
		for _, v := range ir.Defined(s) {
			if writes[v]++; writes[v] > 1 {
				p.once[v] = false
			}
		}
		if d, ok := s.(*ir.Define); ok && d.Init != nil && writes[d.Var] == 1 {
			p.once[d.Var] = true
		}
		ir.Exprs(s, func(e ir.Expr) {
			if a, ok := e.(*ir.Addr); ok {
				if v := ir.Root(a.X); v != nil && v.Space == ir.Local {
					p.loose[v] = true
				}
			}
		})
		c, ok := s.(*ir.Closure)
		if !ok {
			return
		}
		own := make(map[*ir.Var]bool)
		for _, v := range c.Lit.Params {
			writes[v]++
			p.once[v], own[v] = writes[v] == 1, true
		}
		ir.WalkAll(c.Lit.Body, func(s ir.Stmt) {
			if d, ok := s.(*ir.Define); ok {
				own[d.Var] = true
			}
			for _, v := range ir.Defined(s) {
				used[v] = used[v] || !own[v]
			}
			ir.Exprs(s, func(e ir.Expr) {
				if r, ok := e.(*ir.Ref); ok {
					used[r.Var] = used[r.Var] || !own[r.Var]
				}
			})
		})
	})
	for v := range used {
		if used[v] && !p.once[v] {
			p.loose[v] = true
		}
	}
	for v := range p.loose {
		p.once[v] = false
	}
	ir.WalkAll(f.Body, func(s ir.Stmt) {
		if d, ok := s.(*ir.Define); ok && p.once[d.Var] && d.Init != nil {
			if n, ok := p.steady(d.Init); ok {
				p.values[d.Var], p.size[d.Var] = d.Init, n
			}
		}
	})
	return p
}

func (p *prover) run(f *ir.Func) {
	p.marks = true
	p.list(newState(), &f.Body)
}

func newState() *state {
	return &state{known: make(map[string]bounds), means: make(map[*ir.Var][]ir.Expr)}
}

func (s *state) clone() *state {
	if s == nil {
		return nil
	}
	return &state{known: maps.Clone(s.known), facts: slices.Clone(s.facts), means: maps.Clone(s.means)}
}

// joined is what is known where two ways meet.
func joined(a, b *state) *state {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	r := newState()
	for key, x := range a.known {
		if y, ok := b.known[key]; ok {
			r.known[key] = x.or(y)
		}
	}
	for _, f := range a.facts {
		if slices.ContainsFunc(b.facts, func(g fact) bool { return g.op == f.op && g.key == f.key }) {
			r.facts = append(r.facts, f)
		}
	}
	for v, list := range a.means {
		if slices.Equal(list, b.means[v]) {
			r.means[v] = list
		}
	}
	return r
}

// forget takes out what is known of a variable that changes.
func (p *prover) forget(s *state, v *ir.Var) {
	on := func(key string) bool { return slices.Contains(p.deps[key], v) }
	for key := range s.known {
		if on(strings.TrimPrefix(strings.TrimPrefix(key, notNil), notZero)) {
			delete(s.known, key)
		}
	}
	s.facts = slices.DeleteFunc(s.facts, func(f fact) bool { return on(p.key(f.x)) || on(p.key(f.y)) })
	for of, list := range s.means {
		if of == v || slices.ContainsFunc(list, func(e ir.Expr) bool {
			var deps []*ir.Var
			p.dependsOn(e, &deps)
			return slices.Contains(deps, v)
		}) {
			delete(s.means, of)
		}
	}
}

// bounds are those of an integer; not ok of one without a sign that may be too great.
func (p *prover) bounds(s *state, e ir.Expr) (b bounds, ok bool) {
	if !ir.IsInteger(e.Type()) {
		return b, false
	}
	b, ok = p.reckoned(s, p.resolved(e))
	if !ok || !within(b, e.Type()) {
		b, ok = ofType(e.Type())
	}
	if key := p.key(e); key != "" {
		if x, known := s.known[key]; known && ok && b.lo <= x.hi && x.lo <= b.hi {
			b = b.and(x)
		} else if known && !ok {
			b, ok = x, true
		}
	}
	return b, ok
}

// lengths is more than any slice has elements whose size is not 0.
const lengths = 1 << 57

// indices are the bounds of what a thread knows of its place.
var indices = map[string]bounds{
	"threadIdx.x": {0, 1023}, "threadIdx.y": {0, 1023}, "threadIdx.z": {0, 63}, "blockDim.x": {1, 1024}, "blockDim.y": {1, 1024}, "blockDim.z": {1, 64},
	"blockIdx.x": {0, 1<<31 - 2}, "blockIdx.y": {0, 65534}, "blockIdx.z": {0, 65534}, "gridDim.x": {1, 1<<31 - 1}, "gridDim.y": {1, 65535}, "gridDim.z": {1, 65535},
}

// reckoned are the bounds of an integer by what it is made of, if nothing wraps.
func (p *prover) reckoned(s *state, e ir.Expr) (b bounds, ok bool) {
	switch e := e.(type) {
	case *ir.Const:
		n, exact := constant.Int64Val(constant.ToInt(e.Value))
		return bounds{n, n}, exact
	case *ir.Zero:
		return bounds{}, true
	case *ir.Len:
		if _, ok := p.resolved(e.X).(*ir.Slice); ok {
			if n, exact := p.linear(s, e, false); exact && n.terms == nil {
				return bounds{n.c, n.c}, true
			}
		}
		return p.length(e.X), true
	case *ir.Cap:
		return p.length(e.X), true
	case *ir.Convert:
		if x, ok := p.bounds(s, e.X); ok {
			return x, within(x, e.T)
		}
	case *ir.Unary:
		x, ok := p.bounds(s, e.X)
		switch {
		case ok && e.Op == token.SUB:
			return x.neg(), fits(x.neg(), e.T)
		case ok && e.Op == token.XOR && !ir.IsUnsigned(e.T):
			return x.neg().add(bounds{-1, -1}), true
		}
	case *ir.Pure:
		if b, ok := indices[e.Name]; ok {
			return b, true
		}
		if ir.IsInteger(e.T) && len(e.Args) == 2 && (e.Name == "min" || e.Name == "max") {
			x, okX := p.bounds(s, e.Args[0])
			y, okY := p.bounds(s, e.Args[1])
			switch {
			case okX && okY && e.Name == "min":
				return bounds{min(x.lo, y.lo), min(x.hi, y.hi)}, true
			case okX && okY:
				return bounds{max(x.lo, y.lo), max(x.hi, y.hi)}, true
			}
		}
	case *ir.Binary:
		x, okX := p.bounds(s, e.X)
		y, okY := p.bounds(s, e.Y)
		if b, ok = p.operation(e, x, y, okX, okY); ok || e.Op != token.MUL || !okY || y.lo <= 0 {
			return b, ok
		}
		// x/y*y is not more than x.
		if q, is := p.resolved(e.X).(*ir.Binary); is && q.Op == token.QUO && p.key(e.Y) != "" && p.key(q.Y) == p.key(e.Y) {
			if x, ok := p.bounds(s, q.X); ok && x.lo >= 0 {
				return bounds{0, x.hi}, true
			}
		}
	}
	return b, false
}

func (p *prover) length(x ir.Expr) bounds {
	if t, ok := x.Type().Underlying().(*types.Slice); ok && sizes.Sizeof(t.Elem()) == 0 {
		return bounds{0, math.MaxInt64}
	}
	return bounds{0, lengths}
}

// operation are the bounds of an operation's result.
func (p *prover) operation(e *ir.Binary, x, y bounds, okX, okY bool) (b bounds, ok bool) {
	both := okX && okY
	switch e.Op {
	case token.ADD:
		b = x.add(y)
		return b, both && fits(b, e.T)
	case token.SUB:
		b = x.add(y.neg())
		return b, both && fits(b, e.T)
	case token.MUL:
		b = x.mul(y)
		return b, both && fits(b, e.T)
	case token.QUO:
		if both && y.lo > 0 {
			return x.quo(y), true
		}
	case token.REM:
		switch {
		case both && y.lo > 0:
			return x.rem(y), true
		case okY && y.lo > 0: // of what is unsigned
			return bounds{0, y.hi - 1}, true
		}
	case token.AND:
		switch {
		case both && x.lo >= 0 && y.lo >= 0:
			return bounds{0, min(x.hi, y.hi)}, true
		case okX && x.lo >= 0:
			return bounds{0, x.hi}, true
		case okY && y.lo >= 0:
			return bounds{0, y.hi}, true
		}
	case token.AND_NOT:
		if okX && x.lo >= 0 {
			return bounds{0, x.hi}, true
		}
	case token.OR, token.XOR:
		if both && x.lo >= 0 && y.lo >= 0 {
			return bounds{0, ones(max(x.hi, y.hi))}, true
		}
	case token.SHL:
		if both && y.lo == y.hi && y.lo >= 0 && y.lo < 62 {
			b = x.mul(bounds{1 << y.lo, 1 << y.lo})
			return b, fits(b, e.T)
		}
	case token.SHR:
		switch {
		case both && y.lo == y.hi && y.lo >= 0 && y.lo < 64:
			return bounds{x.lo >> y.lo, x.hi >> y.lo}, true
		case okX && x.lo >= 0:
			return bounds{0, x.hi}, true
		case !okX && okY && y.lo == y.hi && y.lo > 0 && y.lo < 64: // of what is unsigned
			return bounds{0, int64(uint64(math.MaxUint64) >> uint(y.lo))}, true
		}
	}
	return b, false
}

// narrow notes the bounds of an integer, and what follows for its parts.
func (p *prover) narrow(s *state, e ir.Expr, b bounds) {
	e = p.resolved(e)
	now, ok := p.bounds(s, e)
	if key := p.key(e); key != "" {
		switch {
		case ok && (b.lo > now.hi || now.lo > b.hi): // nobody comes here
			return
		case ok:
			s.known[key] = now.and(b)
		case b.lo >= 0:
			s.known[key] = b
		}
	}
	switch e := e.(type) {
	case *ir.Convert:
		if x, ok := p.bounds(s, e.X); ok && within(x, e.T) {
			p.narrow(s, e.X, b)
		}
	case *ir.Binary:
		if !ir.IsInteger(e.T) || !p.exact(s, e) {
			return
		}
		x, okX := p.bounds(s, e.X)
		y, okY := p.bounds(s, e.Y)
		if !okX || !okY {
			return
		}
		switch e.Op {
		case token.ADD:
			if _, is := e.X.(*ir.Const); !is {
				p.narrow(s, e.X, b.add(y.neg()))
			}
			if _, is := e.Y.(*ir.Const); !is {
				p.narrow(s, e.Y, b.add(x.neg()))
			}
		case token.SUB:
			if _, is := e.X.(*ir.Const); !is {
				p.narrow(s, e.X, b.add(y))
			}
			if _, is := e.Y.(*ir.Const); !is {
				p.narrow(s, e.Y, x.add(b.neg()))
			}
		}
	}
}

var (
	opposite = map[token.Token]token.Token{token.LSS: token.GEQ, token.GEQ: token.LSS, token.LEQ: token.GTR, token.GTR: token.LEQ, token.EQL: token.NEQ, token.NEQ: token.EQL}
	turned   = map[token.Token]token.Token{token.GTR: token.LSS, token.GEQ: token.LEQ}
)

// assume notes that a condition holds, or does not.
func (p *prover) assume(s *state, cond ir.Expr, holds bool) {
	switch e := p.resolved(cond).(type) {
	case *ir.Unary:
		if e.Op == token.NOT {
			p.assume(s, e.X, !holds)
		}
	case *ir.Ref:
		if holds {
			for _, c := range s.means[e.Var] {
				p.assume(s, c, true)
			}
		}
	case *ir.Binary:
		switch e.Op {
		case token.LAND, token.LOR:
			if holds == (e.Op == token.LAND) {
				p.assume(s, e.X, holds)
				p.assume(s, e.Y, holds)
			}
			return
		}
		op := e.Op
		if !holds {
			op = opposite[op]
		}
		switch {
		case op == 0:
		case ir.IsInteger(e.X.Type()):
			p.compared(s, op, e.X, e.Y)
		case op == token.NEQ:
			for _, x := range [][2]ir.Expr{{e.X, e.Y}, {e.Y, e.X}} {
				if _, zero := x[1].(*ir.Zero); zero {
					if key := p.key(x[0]); key != "" {
						s.known[notNil+key] = bounds{}
					}
				}
			}
		}
	}
}

// compared notes a comparison of integers that holds.
func (p *prover) compared(s *state, op token.Token, x, y ir.Expr) {
	if to, ok := turned[op]; ok {
		op, x, y = to, y, x
	}
	if op == token.NEQ {
		p.differ(s, x, y)
		p.differ(s, y, x)
		return
	}
	a, okA := p.bounds(s, x)
	b, okB := p.bounds(s, y)
	if !okA { // unsigned
		a = bounds{0, math.MaxInt64}
	}
	if !okB {
		b = bounds{0, math.MaxInt64}
	}
	one := int64(0)
	if op == token.LSS {
		one = 1
	}
	// A bound at the end of int64 says nothing of what is greater.
	if okB {
		p.narrow(s, x, bounds{a.lo, plus(b.hi, -one)})
	}
	if okB {
		p.narrow(s, y, bounds{plus(a.lo, one), b.hi})
	}
	if op == token.EQL {
		if okA {
			p.narrow(s, y, a)
		}
		if okB {
			p.narrow(s, x, b)
		}
	}
	kx, ky := p.key(x), p.key(y)
	if kx == "" || ky == "" || len(s.facts) >= mostFacts {
		return
	}
	key := kx + " " + ky
	if !slices.ContainsFunc(s.facts, func(f fact) bool { return f.op == op && f.key == key }) {
		s.facts = append(s.facts, fact{op, x, y, key})
	}
}

// differ notes that x is not y.
func (p *prover) differ(s *state, x, y ir.Expr) {
	b, ok := p.bounds(s, y)
	a, okA := p.bounds(s, x)
	if !ok || b.lo != b.hi {
		return
	}
	if key := p.key(x); b.lo == 0 && key != "" {
		s.known[notZero+key] = bounds{}
	}
	switch {
	case okA && a.lo == b.lo:
		p.narrow(s, x, bounds{plus(a.lo, 1), a.hi})
	case okA && a.hi == b.lo:
		p.narrow(s, x, bounds{a.lo, plus(a.hi, -1)})
	}
}

// positive says whether a sum is not negative, by bounds and comparisons.
func (p *prover) positive(s *state, a sum) bool {
	if p.least(s, a) >= 0 {
		return true
	}
	if a.terms == nil {
		return false
	}
	var list []sum
	for _, f := range s.facts {
		x, okX := p.linear(s, f.x, false)
		y, okY := p.linear(s, f.y, false)
		if !okX || !okY {
			continue
		}
		d, ok := y.plus(-1, x)
		if !ok {
			continue
		}
		if f.op == token.LSS {
			d.c--
		}
		list = append(list, d)
		if f.op == token.EQL {
			if d, ok := x.plus(-1, y); ok {
				list = append(list, d)
			}
		}
	}
	list = append(list, p.divisions(s, append(slices.Clone(list), a))...)
	return a.covered(list, 2, func(rest sum) bool { return p.least(s, rest) >= 0 })
}

// covered says whether a sum, less multiples of at most so many of a list, is enough.
func (a sum) covered(list []sum, most int, enough func(sum) bool) bool {
	for _, d := range list {
		for _, k := range a.multiples(d) {
			rest, ok := a.plus(-k, d)
			if ok && (enough(rest) || most > 1 && rest.covered(list, most-1, enough)) {
				return true
			}
		}
	}
	return false
}

// multiples are those of b that may be part of a: what takes a common term away, and b
// itself. There are none without a common term.
func (a sum) multiples(b sum) (list []int64) {
	for _, t := range a.terms {
		for _, u := range b.terms {
			if t.key != u.key {
				continue
			}
			if !slices.Contains(list, 1) {
				list = append(list, 1)
			}
			if k := t.k / u.k; t.k%u.k == 0 && k > 0 && !slices.Contains(list, k) {
				list = append(list, k)
			}
		}
	}
	return list
}

// divisions are sums that are not negative since they are what quotients and remainders in
// other sums say: q*y <= x <= q*y + y-1 of q = x/y, and q*y + r == x of r = x%y.
func (p *prover) divisions(s *state, of []sum) (list []sum) {
	var seen []string
	for _, a := range of {
		for _, t := range a.terms {
			for _, key := range t.each {
				e, ok := p.resolved(p.exprs[key]).(*ir.Binary)
				if !ok || e.Op != token.QUO && e.Op != token.REM || slices.Contains(seen, key) {
					continue
				}
				seen = append(seen, key)
				least, okX := p.bounds(s, e.X)
				by, okY := p.bounds(s, e.Y)
				if !okX || !okY || least.lo < 0 || by.lo <= 0 {
					continue
				}
				x, okX := p.linear(s, e.X, false)
				y, okY := p.linear(s, e.Y, false)
				quotient := p.ofOperands(token.QUO.String(), e)
				qy, ok := sum{terms: []term{{1, quotient, []string{quotient}}}}.product(y)
				if !okX || !okY || !ok || p.exprs[quotient] == nil {
					continue
				}
				over, ok := x.plus(-1, qy)
				if !ok {
					continue
				}
				from, to := sum{}, sum{terms: []term{{1, key, []string{key}}}}
				if e.Op == token.QUO {
					to, _ = sum{c: -1}.plus(1, y)
				} else {
					from = to
				}
				if d, ok := over.plus(-1, from); ok {
					list = append(list, d)
				}
				if d, ok := to.plus(-1, over); ok {
					list = append(list, d)
				}
			}
		}
	}
	return list
}

// atMost says whether x <= y - less.
func (p *prover) atMost(s *state, x, y ir.Expr, less int64) bool {
	a, okA := p.bounds(s, x)
	b, okB := p.bounds(s, y)
	if okA && okB && a.hi <= plus(b.lo, -less) && a.hi != math.MaxInt64 {
		return true
	}
	ax, okA := p.linear(s, x, false)
	by, okB := p.linear(s, y, false)
	if !okA || !okB {
		return false
	}
	d, ok := by.plus(-1, ax)
	if !ok {
		return false
	}
	d.c -= less
	return p.positive(s, d)
}

func (p *prover) notNegative(s *state, x ir.Expr) bool {
	if b, ok := p.bounds(s, x); ok && b.lo >= 0 {
		return true
	}
	a, ok := p.linear(s, x, false)
	return ok && p.positive(s, a)
}

// holds says whether a check cannot fail.
func (p *prover) holds(s *state, c *ir.Check) bool {
	x := c.Args[0]
	switch c.Kind {
	case ir.InRange:
		return p.notNegative(s, x) && p.atMost(s, x, c.Args[1], 1)
	case ir.SliceOK:
		return p.notNegative(s, x) && p.atMost(s, x, c.Args[1], 0) && p.atMost(s, c.Args[1], c.Args[2], 0) && p.atMost(s, c.Args[2], c.Args[3], 0)
	case ir.NonZero:
		b, ok := p.bounds(s, x)
		_, other := s.known[notZero+p.key(x)]
		return ok && (b.lo > 0 || b.hi < 0) || other
	case ir.NonNil:
		if _, ok := p.resolved(x).(*ir.Addr); ok {
			return true
		}
		_, ok := s.known[notNil+p.key(x)]
		return ok
	case ir.NonMinus:
		return p.notNegative(s, x)
	case ir.Fits:
		return p.atMost(s, c.Args[1], x, 0)
	}
	return false
}

// passed notes what a check says of the statements after it.
func (p *prover) passed(s *state, c *ir.Check) {
	x := c.Args[0]
	key := p.key(x)
	switch c.Kind {
	case ir.InRange:
		if n, ok := p.bounds(s, c.Args[1]); ok {
			p.narrow(s, x, bounds{0, plus(n.hi, -1)})
		}
		p.compared(s, token.LSS, x, c.Args[1])
	case ir.SliceOK:
		for i := range 3 {
			p.narrow(s, c.Args[i], bounds{0, math.MaxInt64})
			p.compared(s, token.LEQ, c.Args[i], c.Args[i+1])
		}
	case ir.NonZero:
		p.differ(s, x, &ir.Const{T: x.Type(), Value: constant.MakeInt64(0)})
	case ir.NonNil:
		if key != "" {
			s.known[notNil+key] = bounds{}
		}
	case ir.NonMinus:
		p.narrow(s, x, bounds{0, math.MaxInt64})
	case ir.Fits:
		p.compared(s, token.LEQ, c.Args[1], x)
	}
}

// list goes through statements. It gives what is known after them.
func (p *prover) list(s *state, list *[]ir.Stmt) *state {
	var out []ir.Stmt
	coalesces := p.coalesces && p.marks
	for i, x := range *list {
		if s == nil {
			break
		}
		if coalesces {
			if m := p.coalesced(s, (*list)[i:]); m != nil {
				if out == nil {
					out = slices.Clone((*list)[:i])
				}
				out = append(out, m)
			}
			if out != nil {
				out = append(out, x)
			}
		}
		s = p.stmt(s, x)
		if s == nil && out != nil {
			out = append(out, (*list)[i+1:]...)
		}
	}
	if out != nil {
		*list = out
	}
	return s
}

func (p *prover) stmt(s *state, x ir.Stmt) *state {
	p.steps++
	switch x := x.(type) {
	case *ir.Define:
		if x.Init == nil {
			p.forget(s, x.Var)
			break
		}
		p.set(s, x.Var, x.Init)
	case *ir.Assign:
		if r, ok := x.To.(*ir.Ref); ok {
			p.set(s, r.Var, x.Value)
		} else if v := ir.Root(x.To); v != nil {
			p.forget(s, v)
		}
	case *ir.Call:
		for _, v := range x.Dst {
			if v != nil {
				p.forget(s, v)
			}
		}
	case *ir.Effect:
		if x.Dst != nil {
			p.forget(s, x.Dst)
			if b, ok := given[x.Name]; ok && !p.loose[x.Dst] {
				p.narrow(s, &ir.Ref{Var: x.Dst}, b)
			}
		}
	case *ir.Memory:
		if x.Dst != nil {
			p.forget(s, x.Dst)
		}
	case *ir.Closure:
		ends, nexts, loops := p.ends, p.nexts, p.loops
		p.ends, p.nexts, p.loops = make(map[*ir.Label]*state), make(map[*ir.Label]*state), 0
		p.list(newState(), &x.Lit.Body)
		p.ends, p.nexts, p.loops = ends, nexts, loops
	case *ir.If:
		return p.branch(s, x)
	case *ir.Loop:
		return p.loop(s, x)
	case *ir.Block:
		end := p.list(s, &x.Body)
		if x.Label != nil {
			end = joined(end, p.ends[x.Label])
			delete(p.ends, x.Label)
		}
		return end
	case *ir.Leave:
		p.ends[x.To] = joined(p.ends[x.To], s)
		return nil
	case *ir.Again:
		p.nexts[x.To] = joined(p.nexts[x.To], s)
		return nil
	case *ir.Return, *ir.Panic:
		return nil
	case *ir.Check:
		if p.marks && !x.Holds && p.holds(s, x) {
			x.Holds = true
		}
		if x.Fails {
			return nil
		}
		p.passed(s, x)
	}
	return s
}

// given are the bounds of what effects give; a grid of more threads would not end.
var given = map[string]bounds{"grid_rank": {0, 1 << 62}, "grid_size": {1, 1 << 62}, "lane_id": {0, 31}, "thread_rank": {0, 1023}, "sync_threads_count": {0, 1024}, "copy": {0, math.MaxInt64}}

// set gives a variable a value.
func (p *prover) set(s *state, v *ir.Var, value ir.Expr) {
	b, ok := p.bounds(s, value)
	p.forget(s, v)
	if v.Space != ir.Local || p.loose[v] || p.values[v] != nil {
		return
	}
	var deps []*ir.Var
	p.dependsOn(value, &deps)
	before := slices.Contains(deps, v) // of what it was
	if ir.IsBool(v.Type) && !before {
		s.means[v] = []ir.Expr{value}
	}
	if !ir.IsInteger(v.Type) {
		return
	}
	ref := &ir.Ref{Var: v}
	if ok {
		p.narrow(s, ref, b)
	}
	if !before {
		p.compared(s, token.EQL, ref, value)
	}
}

func (p *prover) branch(s *state, x *ir.If) *state {
	then, other := s.clone(), s
	p.assume(then, x.Cond, true)
	p.assume(other, x.Cond, false)
	var before []ir.Expr
	if c, ok := p.resolved(x.Cond).(*ir.Ref); ok {
		before = s.means[c.Var]
	}
	end := p.list(then, &x.Then)
	r := joined(end, p.list(other, &x.Else))
	// if t { ...; t = y }, of t && y: if it is true now, it was so before.
	if c, ok := p.resolved(x.Cond).(*ir.Ref); ok && end != nil && len(x.Else) == 0 && len(x.Then) > 0 {
		a, ok := x.Then[len(x.Then)-1].(*ir.Assign)
		if !ok || len(end.means[c.Var]) == 0 {
			return r
		}
		if to, ok := a.To.(*ir.Ref); ok && to.Var == c.Var {
			r.means[c.Var] = end.means[c.Var]
			var deps []*ir.Var
			for _, e := range before {
				p.dependsOn(e, &deps)
			}
			changed := false
			ir.Walk(x.Then, func(s ir.Stmt) {
				for _, v := range ir.Defined(s) {
					changed = changed || slices.Contains(deps, v)
				}
			})
			if !changed {
				r.means[c.Var] = append(slices.Clone(before), r.means[c.Var]...)
			}
		}
	}
	return r
}

// loop looks for what holds at the start of every iteration: of the variables that
// change in it, bounds.
func (p *prover) loop(s *state, l *ir.Loop) *state {
	var changed []*ir.Var
	for _, list := range [][]ir.Stmt{l.Body, l.Post} {
		ir.Walk(list, func(x ir.Stmt) { changed = append(changed, ir.Defined(x)...) })
	}
	entry := s
	base := s.clone()
	for _, v := range changed {
		p.forget(base, v)
	}
	head := base
	if p.loops < 2 && p.steps < mostSteps {
		head = p.steadyState(entry, base, changed, l)
	}
	coalesces := p.coalesces
	p.coalesces = coalesces && !l.Slow
	_, end := p.iteration(head.clone(), l)
	p.coalesces = coalesces
	return end
}

// iteration goes through a loop once. It gives what is known before the next iteration,
// and behind the loop.
func (p *prover) iteration(s *state, l *ir.Loop) (next, end *state) {
	if l.Cond != nil {
		end = s.clone()
		p.assume(end, l.Cond, false)
		p.assume(s, l.Cond, true)
	}
	next = joined(p.list(s, &l.Body), p.nexts[l.Label])
	delete(p.nexts, l.Label)
	if next != nil {
		next = p.list(next, &l.Post)
	}
	end = joined(end, p.ends[l.Label])
	delete(p.ends, l.Label)
	return next, end
}

// steadyState is what holds before the first iteration and, if it holds before one,
// before the next.
func (p *prover) steadyState(entry, base *state, changed []*ir.Var, l *ir.Loop) *state {
	ends, nexts, marks := p.ends, p.nexts, p.marks
	defer func() { p.ends, p.nexts, p.marks, p.loops = ends, nexts, marks, p.loops-1 }()
	p.marks = false
	p.loops++
	keys := make(map[string]bool)
	for _, v := range changed {
		if ir.IsInteger(v.Type) && v.Space == ir.Local && !p.loose[v] && p.values[v] == nil {
			if key := p.key(&ir.Ref{Var: v}); key != "" {
				keys[key] = true
			}
		}
	}
	with := func(of func(key string) (bounds, bool)) *state {
		s := base.clone()
		for key := range keys {
			if b, ok := of(key); ok {
				s.known[key] = b
			}
		}
		return s
	}
	after := func(s *state) *state {
		p.ends, p.nexts = make(map[*ir.Label]*state), make(map[*ir.Label]*state)
		next, _ := p.iteration(s.clone(), l)
		return next
	}
	head := with(func(key string) (bounds, bool) { b, ok := entry.known[key]; return b, ok })
	for round := 0; ; round++ {
		next := after(head)
		if next == nil {
			return head
		}
		same := true
		head = with(func(key string) (bounds, bool) {
			was, ok := head.known[key]
			now, known := next.known[key]
			switch {
			case !ok:
				return was, false
			case !known || round > 3:
				same = same && known && now.lo >= was.lo && now.hi <= was.hi
				return was, known && now.lo >= was.lo && now.hi <= was.hi
			}
			in := was.or(now)
			if in == was {
				return was, true
			}
			same = false
			if round > 0 { // it goes on
				if now.lo < was.lo {
					in.lo = math.MinInt64
				}
				if now.hi > was.hi {
					in.hi = math.MaxInt64
				}
			}
			return in, true
		})
		if same {
			break
		}
	}
	next := after(head)
	if next == nil {
		return head
	}
	return with(func(key string) (bounds, bool) {
		b, ok := head.known[key]
		before, okE := entry.known[key]
		now, okN := next.known[key]
		if ok && okE && okN {
			b = b.and(before.or(now))
		}
		return b, ok
	})
}
