package rt

import "gocuda/kernel/golang/named"

// indexPanic is called for an index that is out of range, in the statement at pos.
func (r *Runtime) indexPanic(index, length, pos int) {
	r.traces.begin(pos)
	panic(named.BoundsError(named.BoundsIndex, index, length))
}

// sliceBounds is called for x[low:high] or x[low:high:limit] of which a bound
// is out of range. room is the capacity of x, or the length if it has none. A
// bound that was left out has the value that stands for it.
func (r *Runtime) sliceBounds(low, high, limit, room int, hasHigh, hasLimit, withCap bool, pos int) {
	r.traces.begin(pos)
	panic(SliceBounds(low, high, limit, room, hasHigh, hasLimit, withCap))
}

// SliceBounds is the error of x[low:high] or x[low:high:limit] of which a bound is out
// of range: room is the capacity of x, or the length if it has none.
func SliceBounds(low, high, limit, room int, hasHigh, hasLimit, withCap bool) error {
	of, of3 := named.BoundsSliceAlen, named.BoundsSlice3Alen
	if withCap {
		of, of3 = named.BoundsSliceAcap, named.BoundsSlice3Acap
	}
	what, x, y := named.BoundsSliceB, low, high
	switch {
	case hasLimit && (limit < 0 || limit > room):
		what, x, y = of3, limit, room
	case hasLimit && (high < 0 || high > limit):
		what, x, y = named.BoundsSlice3B, high, limit
	case hasLimit:
		what = named.BoundsSlice3C
	case hasHigh && (high < 0 || high > room):
		what, x, y = of, high, room
	}
	return named.BoundsError(what, x, y)
}
