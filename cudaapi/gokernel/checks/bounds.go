package checks

import (
	"go/types"
	"math"

	"gocuda/cudaapi/gokernel/ir"
)

// bounds are the least and the greatest value of an integer. The ends of int64 stand
// for what is less, and greater, too.
type bounds struct{ lo, hi int64 }

var sizes ir.Sizes

// ofType are the bounds of a type; not those of unsigned ones with 64 bits.
func ofType(t types.Type) (b bounds, ok bool) {
	if !ir.IsInteger(t) {
		return b, false
	}
	bits := 8 * sizes.Sizeof(t)
	if t.Underlying().(*types.Basic).Info()&types.IsUnsigned == 0 {
		return bounds{math.MinInt64 >> (64 - bits), math.MaxInt64 >> (64 - bits)}, true
	}
	if bits == 64 {
		return b, false
	}
	return bounds{0, 1<<bits - 1}, true
}

// within says whether a type has all values within bounds.
func within(b bounds, t types.Type) bool {
	in, ok := ofType(t)
	if !ok {
		in = bounds{0, math.MaxInt64}
	}
	return b.lo >= in.lo && b.hi <= in.hi
}

// fits says the same of bounds that were reckoned: one at the end of int64 may be past it.
func fits(b bounds, t types.Type) bool {
	return within(b, t) && b.lo != math.MinInt64 && b.hi != math.MaxInt64
}

func (b bounds) and(c bounds) bounds { return bounds{max(b.lo, c.lo), min(b.hi, c.hi)} }
func (b bounds) or(c bounds) bounds  { return bounds{min(b.lo, c.lo), max(b.hi, c.hi)} }

// plus and times stay at the ends of int64 where these are passed.
func plus(a, b int64) int64 {
	switch c := a + b; {
	case a == math.MinInt64 || b == math.MinInt64 || a < 0 && b < 0 && c >= 0:
		return math.MinInt64
	case a == math.MaxInt64 || b == math.MaxInt64 || a > 0 && b > 0 && c < 0:
		return math.MaxInt64
	default:
		return c
	}
}

func minus(a int64) int64 {
	switch a {
	case math.MinInt64:
		return math.MaxInt64
	case math.MaxInt64:
		return math.MinInt64
	}
	return -a
}

func times(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	endless := a == math.MinInt64 || b == math.MinInt64 || a == math.MaxInt64 || b == math.MaxInt64
	if c := a * b; !endless && c/b == a && c != math.MinInt64 && c != math.MaxInt64 {
		return c
	}
	if (a < 0) == (b < 0) {
		return math.MaxInt64
	}
	return math.MinInt64
}

func (b bounds) add(c bounds) bounds { return bounds{plus(b.lo, c.lo), plus(b.hi, c.hi)} }
func (b bounds) neg() bounds         { return bounds{minus(b.hi), minus(b.lo)} }
func (b bounds) mul(c bounds) bounds {
	w, x, y, z := times(b.lo, c.lo), times(b.lo, c.hi), times(b.hi, c.lo), times(b.hi, c.hi)
	return bounds{min(w, x, y, z), max(w, x, y, z)}
}

// quo is division by what is greater than 0, as Go rounds.
func (b bounds) quo(c bounds) bounds {
	w, x, y, z := b.lo/c.lo, b.lo/c.hi, b.hi/c.lo, b.hi/c.hi
	return bounds{min(w, x, y, z), max(w, x, y, z)}
}

// rem is the remainder of such a division.
func (b bounds) rem(c bounds) bounds {
	r := bounds{0, c.hi - 1}
	if b.lo < 0 {
		r.lo = -r.hi
	} else {
		r.hi = min(r.hi, b.hi)
	}
	return r
}

// ones is the greatest number with as many bits as n, which is not negative.
func ones(n int64) int64 {
	for i := 1; i < 64; i *= 2 {
		n |= n >> i
	}
	return n
}
