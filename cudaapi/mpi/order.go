package mpi

import (
	"cmp"
	"slices"
)

// overlapping finds two parts, of n[i] elements from at[i] on, that share
// elements.
func overlapping(n, at []int) (i, j int, ok bool) {
	order := make([]int, 0, len(n))
	for i := range n {
		if n[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	for k := 1; k < len(order); k++ {
		i, j = order[k-1], order[k]
		if at[i]+n[i] > at[j] {
			return min(i, j), max(i, j), true
		}
	}
	return 0, 0, false
}
