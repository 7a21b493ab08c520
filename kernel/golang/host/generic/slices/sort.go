package slices

import (
	"cmp"
	"sort"
)

// Sort sorts in place, NaNs first.
func Sort[S ~[]E, E cmp.Ordered](x S) {
	// Compiled code is much quicker than what is interpreted.
	switch s := any(x).(type) {
	case []int:
		sort.Ints(s)
	case []float64:
		sort.Float64s(s)
	case []string:
		sort.Strings(s)
	default:
		SortStableFunc(x, cmp.Compare[E])
	}
}

// SortFunc sorts in place by cmp.
func SortFunc[S ~[]E, E any](x S, cmp func(a, b E) int) { SortStableFunc(x, cmp) }

// run is how many elements are sorted by insertion before runs are merged.
const run = 12

// SortStableFunc sorts in place by cmp, and keeps equal elements in order.
func SortStableFunc[S ~[]E, E any](x S, cmp func(a, b E) int) {
	n := len(x)
	for lo := 0; lo < n; lo += run {
		for i := lo + 1; i < min(lo+run, n); i++ {
			v := x[i]
			j := i
			for ; j > lo && cmp(v, x[j-1]) < 0; j-- {
				x[j] = x[j-1]
			}
			x[j] = v
		}
	}
	if n <= run {
		return
	}
	from, to := []E(x), make([]E, n)
	for size := run; size < n; size *= 2 {
		for lo := 0; lo < n; lo += 2 * size {
			merge(to[lo:min(lo+2*size, n)], from[lo:min(lo+size, n)], from[min(lo+size, n):min(lo+2*size, n)], cmp)
		}
		from, to = to, from
	}
	if &from[0] != &x[0] {
		copy(x, from)
	}
}

func merge[E any](to, a, b []E, cmp func(a, b E) int) {
	if len(a) == 0 || len(b) == 0 || cmp(b[0], a[len(a)-1]) >= 0 {
		copy(to, a)
		copy(to[len(a):], b)
		return
	}
	i, j := 0, 0
	for k := range to {
		if j == len(b) || i < len(a) && cmp(b[j], a[i]) >= 0 {
			to[k] = a[i]
			i++
		} else {
			to[k] = b[j]
			j++
		}
	}
}

// IsSorted says whether x is in order.
func IsSorted[S ~[]E, E cmp.Ordered](x S) bool { return IsSortedFunc(x, cmp.Compare[E]) }

// IsSortedFunc says whether x is in the order of cmp.
func IsSortedFunc[S ~[]E, E any](x S, cmp func(a, b E) int) bool {
	for i := len(x) - 1; i > 0; i-- {
		if cmp(x[i], x[i-1]) < 0 {
			return false
		}
	}
	return true
}

// Min returns the least element, or a NaN if there is one. It panics on an
// empty slice.
func Min[S ~[]E, E cmp.Ordered](x S) E {
	if len(x) < 1 {
		panic("slices.Min: empty list")
	}
	m := x[0]
	for i := 1; i < len(x); i++ {
		m = min(m, x[i])
	}
	return m
}

// MinFunc returns the first of the least elements by cmp.
func MinFunc[S ~[]E, E any](x S, cmp func(a, b E) int) E {
	if len(x) < 1 {
		panic("slices.MinFunc: empty list")
	}
	m := x[0]
	for i := 1; i < len(x); i++ {
		if cmp(x[i], m) < 0 {
			m = x[i]
		}
	}
	return m
}

// Max returns the greatest element, or a NaN if there is one. It panics on an
// empty slice.
func Max[S ~[]E, E cmp.Ordered](x S) E {
	if len(x) < 1 {
		panic("slices.Max: empty list")
	}
	m := x[0]
	for i := 1; i < len(x); i++ {
		m = max(m, x[i])
	}
	return m
}

// MaxFunc returns the first of the greatest elements by cmp.
func MaxFunc[S ~[]E, E any](x S, cmp func(a, b E) int) E {
	if len(x) < 1 {
		panic("slices.MaxFunc: empty list")
	}
	m := x[0]
	for i := 1; i < len(x); i++ {
		if cmp(x[i], m) > 0 {
			m = x[i]
		}
	}
	return m
}

// BinarySearch finds target in a sorted slice: where it is or would be, and
// whether it is there.
func BinarySearch[S ~[]E, E cmp.Ordered](x S, target E) (int, bool) {
	return BinarySearchFunc(x, target, cmp.Compare[E])
}

// BinarySearchFunc is BinarySearch by cmp.
func BinarySearchFunc[S ~[]E, E, T any](x S, target T, cmp func(E, T) int) (int, bool) {
	lo, hi := 0, len(x)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if cmp(x[mid], target) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(x) && cmp(x[lo], target) == 0
}
