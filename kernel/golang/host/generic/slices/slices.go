// Package slices has the generic part of the standard package slices.
package slices

import "cmp"

// Equal says whether two slices have the same length and equal elements.
func Equal[S ~[]E, E comparable](s1, s2 S) bool {
	if len(s1) != len(s2) {
		return false
	}
	for i, v := range s1 {
		if v != s2[i] {
			return false
		}
	}
	return true
}

// EqualFunc is Equal with elements compared by eq.
func EqualFunc[S1 ~[]E1, S2 ~[]E2, E1, E2 any](s1 S1, s2 S2, eq func(E1, E2) bool) bool {
	if len(s1) != len(s2) {
		return false
	}
	for i, v := range s1 {
		if !eq(v, s2[i]) {
			return false
		}
	}
	return true
}

// Compare compares the elements of two slices in turn, and their lengths
// last.
func Compare[S ~[]E, E cmp.Ordered](s1, s2 S) int {
	return CompareFunc(s1, s2, cmp.Compare[E])
}

// CompareFunc is Compare with elements compared by cmp.
func CompareFunc[S1 ~[]E1, S2 ~[]E2, E1, E2 any](s1 S1, s2 S2, cmp func(E1, E2) int) int {
	for i, v := range s1 {
		if i >= len(s2) {
			return +1
		}
		if c := cmp(v, s2[i]); c != 0 {
			return c
		}
	}
	if len(s1) < len(s2) {
		return -1
	}
	return 0
}

// Index returns the first place of v in s, or -1.
func Index[S ~[]E, E comparable](s S, v E) int {
	for i := range s {
		if v == s[i] {
			return i
		}
	}
	return -1
}

// IndexFunc returns the first place where f holds, or -1.
func IndexFunc[S ~[]E, E any](s S, f func(E) bool) int {
	for i := range s {
		if f(s[i]) {
			return i
		}
	}
	return -1
}

// Contains says whether v is in s.
func Contains[S ~[]E, E comparable](s S, v E) bool { return Index(s, v) >= 0 }

// ContainsFunc says whether f holds for an element of s.
func ContainsFunc[S ~[]E, E any](s S, f func(E) bool) bool { return IndexFunc(s, f) >= 0 }

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

// Delete removes s[i:j] and returns the new slice. What is left over at its
// end is set to zero.
func Delete[S ~[]E, E any](s S, i, j int) S {
	_ = s[i:j:len(s)]
	if i == j {
		return s
	}
	old := len(s)
	s = append(s[:i], s[j:]...)
	clear(s[len(s):old])
	return s
}

// DeleteFunc removes the elements for which del holds.
func DeleteFunc[S ~[]E, E any](s S, del func(E) bool) S {
	n := 0
	for _, v := range s {
		if !del(v) {
			s[n] = v
			n++
		}
	}
	clear(s[n:])
	return s[:n]
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

// Clone copies a slice, not what its elements point to.
func Clone[S ~[]E, E any](s S) S {
	if s == nil {
		return nil
	}
	return append(S{}, s...)
}

// Compact leaves one of each run of equal elements.
func Compact[S ~[]E, E comparable](s S) S {
	return CompactFunc(s, func(a, b E) bool { return a == b })
}

// CompactFunc is Compact with elements compared by eq; the first of a run
// stays.
func CompactFunc[S ~[]E, E any](s S, eq func(E, E) bool) S {
	if len(s) < 2 {
		return s
	}
	n, last := 1, s[0]
	for i := 1; i < len(s); i++ {
		v := s[i]
		if !eq(v, last) {
			s[n] = v
			n++
		}
		last = v
	}
	clear(s[n:])
	return s[:n]
}

// Grow makes room for n more elements.
func Grow[S ~[]E, E any](s S, n int) S {
	if n < 0 {
		panic("cannot be negative")
	}
	if n -= cap(s) - len(s); n > 0 {
		s = append(s[:cap(s)], make([]E, n)...)[:len(s)]
	}
	return s
}

// Clip gives the room behind a slice away.
func Clip[S ~[]E, E any](s S) S { return s[:len(s):len(s)] }

// Reverse turns a slice round in place.
func Reverse[S ~[]E, E any](s S) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}

// Concat returns the slices joined.
func Concat[S ~[]E, E any](slices ...S) S {
	size := 0
	for _, s := range slices {
		size += len(s)
	}
	all := Grow[S](nil, size)
	for _, s := range slices {
		all = append(all, s...)
	}
	return all
}

// Repeat returns x count times over.
func Repeat[S ~[]E, E any](x S, count int) S {
	if count < 0 {
		panic("cannot be negative")
	}
	all := make(S, 0, len(x)*count)
	for range count {
		all = append(all, x...)
	}
	return all
}
