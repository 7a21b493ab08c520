// Package slices has the generic part of the standard package slices.
package slices

import (
	"cmp"
	"iter"
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

// Insert puts values at s[i] and returns the new slice.
func Insert[S ~[]E, E any](s S, i int, v ...E) S {
	_ = s[i:]
	if len(v) == 0 {
		return s
	}
	n := len(s) + len(v)
	if n > cap(s) {
		s2 := append(s[:i:i], make(S, n-i)...)
		copy(s2[i:], v)
		copy(s2[i+len(v):], s[i:])
		return s2
	}
	v = append([]E(nil), v...) // which may be a part of s
	old := len(s)
	s = s[:n]
	copy(s[i+len(v):], s[i:old])
	copy(s[i:], v)
	return s
}

// Replace puts values in the place of s[i:j].
func Replace[S ~[]E, E any](s S, i, j int, v ...E) S {
	_ = s[i:j]
	tail := s[j:]
	n := i + len(v) + len(tail)
	if n > cap(s) {
		s2 := append(s[:i:i], make(S, n-i)...)
		copy(s2[i:], v)
		copy(s2[i+len(v):], tail)
		return s2
	}
	v = append([]E(nil), v...) // which may be a part of s
	old := len(s)
	r := s[:n]
	copy(r[i+len(v):], tail)
	copy(r[i:], v)
	if n < old {
		clear(s[n:old])
	}
	return r
}

// AppendSeq appends the values of seq to s.
func AppendSeq[Slice ~[]E, E any](s Slice, seq iter.Seq[E]) Slice {
	seq(func(v E) bool {
		s = append(s, v)
		return true
	})
	return s
}
