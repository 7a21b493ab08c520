// Package spell finds what a misspelt name may have meant.
package spell

import (
	"slices"
	"strings"
)

// Nearest returns the names that are as far from name as none is nearer, the
// likeliest first, if at most so many letters must be added, left out, changed or
// swapped with their neighbour. Upper and lower case are the same.
func Nearest(name string, names []string, limit int) (near []string) {
	low := strings.ToLower(name)
	for _, n := range names {
		switch d := distance(strings.ToLower(n), low, limit); {
		case d < limit:
			near, limit = []string{n}, d
		case d == limit:
			near = append(near, n)
		}
	}
	slices.SortFunc(near, func(a, b string) int {
		if x, y := sameEnds(a, name), sameEnds(b, name); x != y {
			return y - x
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(near)
}

// sameEnds counts the letters with which both begin and end.
func sameEnds(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for m := 1; m <= len(a) && m <= len(b) && a[len(a)-m] == b[len(b)-m]; m++ {
		n++
	}
	return n
}

// distance counts the letters to add, leave out, change or swap, up to limit+1.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(last[j]+1, row[j-1]+1, change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit+1)
}
