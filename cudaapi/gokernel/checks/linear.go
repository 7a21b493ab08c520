package checks

import (
	"fmt"
	"go/constant"
	"go/token"
	"math"
	"slices"
	"strings"

	"gocuda/cudaapi/gokernel/ir"
)

// sum is a polynomial of integers: a constant and terms, in the order of their keys.
type sum struct {
	c     int64
	terms []term
}

// term is a product of a number and expressions, which their keys stand for.
type term struct {
	k    int64
	key  string
	each []string
}

// mostTerms is how many terms a sum may have that is reckoned with.
const mostTerms = 12

// plus is a + k*b; false if a number does not fit.
func (a sum) plus(k int64, b sum) (r sum, ok bool) {
	if r.c = plus(a.c, times(k, b.c)); r.c == math.MinInt64 || r.c == math.MaxInt64 {
		return r, false
	}
	r.terms = slices.Clone(a.terms)
	for _, t := range b.terms {
		n := times(k, t.k)
		i, found := slices.BinarySearchFunc(r.terms, t.key, func(t term, key string) int { return strings.Compare(t.key, key) })
		if found {
			n = plus(n, r.terms[i].k)
		}
		if n == math.MinInt64 || n == math.MaxInt64 {
			return r, false
		}
		switch {
		case n == 0 && found:
			r.terms = slices.Delete(r.terms, i, i+1)
		case n == 0:
		case found:
			r.terms[i].k = n
		default:
			r.terms = slices.Insert(r.terms, i, term{n, t.key, t.each})
		}
	}
	if len(r.terms) == 0 { // nil says that a sum is a number
		r.terms = nil
	}
	return r, len(r.terms) <= mostTerms
}

// product is a * b.
func (a sum) product(b sum) (r sum, ok bool) {
	r, ok = sum{}.plus(a.c, b)
	for _, t := range a.terms {
		of := sum{terms: []term{{b.c, t.key, t.each}}}
		if b.c == 0 {
			of.terms = nil
		}
		for _, u := range b.terms {
			each := append(slices.Clone(t.each), u.each...)
			slices.Sort(each)
			if len(each) > 4 {
				return r, false
			}
			more := sum{terms: []term{{u.k, strings.Join(each, "*"), each}}}
			if of, ok = of.plus(1, more); !ok {
				return r, false
			}
		}
		if r, ok = r.plus(t.k, of); !ok {
			return r, false
		}
	}
	return r, ok
}

// least is the least value of a sum.
func (p *prover) least(s *state, a sum) int64 {
	n := a.c
	for _, t := range a.terms {
		b := bounds{t.k, t.k}
		for _, key := range t.each {
			x, ok := p.bounds(s, p.exprs[key])
			if !ok {
				x = bounds{0, math.MaxInt64} // unsigned
			}
			b = b.mul(x)
		}
		n = plus(n, b.lo)
	}
	return n
}

// linear is an integer as a sum, which it equals as a number: nothing in it wraps.
// Where something may, that is a part of its own. With wraps, it equals the sum modulo
// 2^64.
func (p *prover) linear(s *state, e ir.Expr, wraps bool) (r sum, ok bool) {
	e = p.resolved(e)
	whole := func() (sum, bool) {
		key := p.key(e)
		return sum{terms: []term{{1, key, []string{key}}}}, key != ""
	}
	switch e := e.(type) {
	case *ir.Const:
		if n, exact := constant.Int64Val(constant.ToInt(e.Value)); exact && n != math.MinInt64 && n != math.MaxInt64 {
			return sum{c: n}, true
		}
		return r, false
	case *ir.Zero:
		return sum{}, true
	case *ir.Len:
		if x, ok := p.resolved(e.X).(*ir.Slice); ok {
			lo, okLo := p.linear(s, x.Lo, wraps)
			hi, okHi := p.linear(s, x.Hi, wraps)
			if okLo && okHi {
				return hi.plus(-1, lo)
			}
		}
	case *ir.Convert:
		if b, ok := p.bounds(s, e.X); ok && within(b, e.T) || ir.IsInteger(e.X.Type()) && wraps && sizes.Sizeof(e.X.Type()) == 8 && sizes.Sizeof(e.T) == 8 {
			return p.linear(s, e.X, wraps)
		}
	case *ir.Binary:
		if !ir.IsInteger(e.T) || !(wraps && sizes.Sizeof(e.T) == 8) && !p.exact(s, e) {
			return whole()
		}
		x, okX := p.linear(s, e.X, wraps)
		y, okY := p.linear(s, e.Y, wraps)
		if okX && okY {
			switch e.Op {
			case token.ADD:
				r, ok = x.plus(1, y)
			case token.SUB:
				r, ok = x.plus(-1, y)
			case token.MUL:
				r, ok = x.product(y)
			}
			if ok {
				return r, true
			}
		}
	}
	return whole()
}

// exact says whether the result of an operation is what it is among all integers.
func (p *prover) exact(s *state, e *ir.Binary) bool {
	if e.Op != token.ADD && e.Op != token.SUB && e.Op != token.MUL {
		return false
	}
	_, ok := p.reckoned(s, e)
	return ok
}

// key names an expression by what it is made of: expressions with one key have one
// value, as long as no variable in it changes. It is empty if memory is read.
func (p *prover) key(e ir.Expr) string {
	if k, ok := p.keys[e]; ok {
		return k
	}
	k := p.newKey(p.resolved(e))
	p.keys[e] = k
	if k != "" && p.exprs[k] == nil {
		p.exprs[k] = e
		var deps []*ir.Var
		p.dependsOn(e, &deps)
		p.deps[k] = deps
	}
	return k
}

func (p *prover) newKey(e ir.Expr) string {
	var b strings.Builder
	switch e := e.(type) {
	case *ir.Const:
		return e.Value.ExactString() + e.T.String()
	case *ir.Zero:
		return "zero " + e.T.String()
	case *ir.Ref:
		if e.Var.Space == ir.Global || e.Var.Space == ir.Shared || p.loose[e.Var] {
			return ""
		}
		return p.number(e.Var)
	case *ir.Addr:
		if r, ok := e.X.(*ir.Ref); ok {
			return "&" + p.number(r.Var)
		}
		return ""
	case *ir.Unary:
		b.WriteString(e.Op.String())
	case *ir.Binary:
		b.WriteString(e.Op.String())
	case *ir.Convert:
		fmt.Fprintf(&b, "to %s", e.T)
	case *ir.Field:
		fmt.Fprintf(&b, "field %d", e.Index)
	case *ir.Len:
		b.WriteString("len")
	case *ir.Cap:
		b.WriteString("cap")
	case *ir.Slice:
		b.WriteString("slice")
	case *ir.Pure:
		b.WriteString(e.Name)
	default: // memory is read, or it is no number
		return ""
	}
	return p.ofOperands(b.String(), e)
}

// ofOperands is the key of an operation on what another has for operands; "" if these
// have none.
func (p *prover) ofOperands(operation string, e ir.Expr) string {
	for _, x := range ir.Operands(e) {
		k := p.key(x)
		if k == "" {
			return ""
		}
		operation += "(" + k + ")"
	}
	return operation
}

func (p *prover) number(v *ir.Var) string {
	n, ok := p.numbers[v]
	if !ok {
		n = len(p.numbers)
		p.numbers[v] = n
	}
	return fmt.Sprintf("v%d", n)
}

// dependsOn collects the variables that an expression is made of.
func (p *prover) dependsOn(e ir.Expr, to *[]*ir.Var) {
	e = p.resolved(e)
	if r, ok := e.(*ir.Ref); ok && !slices.Contains(*to, r.Var) {
		*to = append(*to, r.Var)
	}
	for _, x := range ir.Operands(e) {
		p.dependsOn(x, to)
	}
}

// mostExpanded is how large an expression may be that stands for a variable.
const mostExpanded = 40

// resolved is what a variable stands for that is set once, to what does not change
// either; other expressions stay as they are.
func (p *prover) resolved(e ir.Expr) ir.Expr {
	for {
		r, ok := e.(*ir.Ref)
		if !ok {
			return e
		}
		x := p.values[r.Var]
		if x == nil {
			return e
		}
		e = x
	}
}

// steady says whether an expression has one value as long as the variables live of
// which it is made, and how large it is with what these stand for.
func (p *prover) steady(e ir.Expr) (size int, ok bool) {
	size = 1
	switch e := e.(type) {
	case *ir.Const, *ir.Zero, *ir.Unary, *ir.Binary, *ir.Convert, *ir.Field, *ir.Len, *ir.Cap, *ir.Slice, *ir.Pure:
	case *ir.Addr:
		_, ok := e.X.(*ir.Ref)
		return 1, ok
	case *ir.Ref:
		if !p.once[e.Var] {
			return 0, false
		}
		if x := p.values[e.Var]; x != nil {
			return p.size[e.Var], true
		}
		return 1, true
	default:
		return 0, false
	}
	for _, x := range ir.Operands(e) {
		n, ok := p.steady(x)
		if size += n; !ok || size > mostExpanded {
			return 0, false
		}
	}
	return size, true
}
