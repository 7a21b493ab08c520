// Package sort has what compiled code runs for functions of the standard package sort that
// take a slice of any type: the same with the slice's type, under their names with a prefix.
package sort

import "math/bits"

// typedSlice is Slice.
func typedSlice[E any](x []E, less func(i, j int) bool) {
	hold(x)
	pdqsort_func(less, func(i, j int) { swap(x, i, j) }, 0, len(x), bits.Len(uint(len(x))))
}

// typedSliceStable is SliceStable.
func typedSliceStable[E any](x []E, less func(i, j int) bool) {
	hold(x)
	stable_func(less, func(i, j int) { swap(x, i, j) }, len(x))
}

// hold has compiled code keep what the elements of x point to until its caller ends, so that
// swap can do without Go's runtime: gocuda/cudaapi/gokernel has both as effects.
func hold[E any](x []E) {}

func swap[E any](x []E, i, j int) { x[i], x[j] = x[j], x[i] }

// typedSliceIsSorted is SliceIsSorted.
func typedSliceIsSorted[E any](x []E, less func(i, j int) bool) bool {
	for i := len(x) - 1; i > 0; i-- {
		if less(i, i-1) {
			return false
		}
	}
	return true
}
