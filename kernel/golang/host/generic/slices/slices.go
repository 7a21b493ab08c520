// Package slices has the generic part of the standard package slices.
package slices

import (
	"cmp"
	"iter"
	"math/bits"
)

// Sort sorts in place, NaNs first.
func Sort[S ~[]E, E cmp.Ordered](x S) { SortFunc(x, cmp.Compare[E]) }

// SortFunc sorts in place by cmp, in the steps that Go's takes: equal elements come in the same
// order, and cmp is asked the same.
func SortFunc[S ~[]E, E any](x S, cmp func(a, b E) int) {
	hold(x)
	pdqsortCmpFunc(x, 0, len(x), bits.Len(uint(len(x))), cmp)
}

// hold has compiled code keep what the elements of x point to until its caller ends, so that
// swap can do without Go's runtime: gocuda/cudaapi/gokernel has both as effects.
func hold[S ~[]E, E any](x S) {}

func swap[E any](x []E, i, j int) { x[i], x[j] = x[j], x[i] }

// run is how many elements are sorted by insertion before runs are merged.
const run = 12

// SortStableFunc sorts in place by cmp, and keeps equal elements in order. It moves their
// numbers: compiled code of cells has Go's runtime store pointers in the place of others,
// which it does for all of them at once.
func SortStableFunc[S ~[]E, E any](x S, cmp func(a, b E) int) {
	n := len(x)
	from, to := make([]int, n), make([]int, n)
	for lo := 0; lo < n; lo += run {
		for i := lo; i < min(lo+run, n); i++ {
			v := x[i]
			j := i
			for ; j > lo && cmp(v, x[from[j-1]]) < 0; j-- {
				from[j] = from[j-1]
			}
			from[j] = i
		}
	}
	for size := run; size < n; size *= 2 {
		for lo := 0; lo < n; lo += 2 * size {
			merge(to[lo:min(lo+2*size, n)], from[lo:min(lo+size, n)], from[min(lo+size, n):min(lo+2*size, n)], x, cmp)
		}
		from, to = to, from
	}
	sorted := make([]E, n)
	for i, k := range from {
		sorted[i] = x[k]
	}
	copy(x, sorted)
}

// merge merges numbers of elements of x, each of a before those of b that are equal.
func merge[E any](to, a, b []int, x []E, cmp func(a, b E) int) {
	if len(a) == 0 || len(b) == 0 || cmp(x[b[0]], x[a[len(a)-1]]) >= 0 {
		copy(to, a)
		copy(to[len(a):], b)
		return
	}
	i, j := 0, 0
	for k := range to {
		if j == len(b) || i < len(a) && cmp(x[b[j]], x[a[i]]) >= 0 {
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
