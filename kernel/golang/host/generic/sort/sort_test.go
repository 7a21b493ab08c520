package sort

import (
	"fmt"
	"math/rand/v2"
	"slices"
	stdsort "sort"
	"testing"
)

type element struct{ key, place int }

// orders are slices that take the algorithm's ways.
var orders = map[string]func(i, n int) int{
	"random":     func(i, n int) int { return rand.IntN(n) },
	"few keys":   func(i, n int) int { return rand.IntN(4) },
	"equal":      func(i, n int) int { return 7 },
	"sorted":     func(i, n int) int { return i },
	"descending": func(i, n int) int { return -i },
	"up, down":   func(i, n int) int { return min(i, n-i) },
	"runs":       func(i, n int) int { return i % 31 },
	"nearly":     func(i, n int) int { return i + rand.IntN(3) },
}

// TestLikeStandard: elements are where the standard package puts them, equal ones too, after
// the same comparisons.
func TestLikeStandard(t *testing.T) {
	type sorting = func(x []element, less func(i, j int) bool)
	for name, f := range map[string][2]sorting{
		"Slice":         {func(x []element, less func(i, j int) bool) { stdsort.Slice(x, less) }, typedSlice[element]},
		"SliceStable":   {func(x []element, less func(i, j int) bool) { stdsort.SliceStable(x, less) }, typedSliceStable[element]},
		"SliceIsSorted": {func(x []element, less func(i, j int) bool) { stdsort.SliceIsSorted(x, less) }, func(x []element, less func(i, j int) bool) { typedSliceIsSorted(x, less) }},
	} {
		for order, key := range orders {
			for _, n := range []int{0, 1, 2, 12, 13, 49, 50, 51, 500, 3000} {
				x := make([]element, n)
				for i := range x {
					x[i] = element{key(i, n), i}
				}
				var got [2]string
				for i, sort := range f {
					y := slices.Clone(x)
					compared := 0
					sort(y, func(i, j int) bool { compared++; return y[i].key < y[j].key })
					got[i] = fmt.Sprint(compared, y)
				}
				if got[0] != got[1] {
					t.Errorf("%s of %d elements, %s: another order", name, n, order)
				}
			}
		}
	}
}

// TestAdversary: what makes quicksort slow is sorted as the standard package sorts it.
func TestAdversary(t *testing.T) {
	var got [2]string
	for i, sort := range []func(x []int, less func(i, j int) bool){func(x []int, less func(i, j int) bool) { stdsort.Slice(x, less) }, typedSlice[int]} {
		const n = 2000 // M. D. McIlroy, A Killer Adversary for Quicksort
		x, value := make([]int, n), make([]int, n)
		for i := range x {
			x[i], value[i] = i, n
		}
		solid, candidate, compared := 0, 0, 0
		sort(x, func(i, j int) bool {
			compared++
			a, b := x[i], x[j]
			if value[a] == n && value[b] == n {
				if a == candidate {
					value[a] = solid
				} else {
					value[b] = solid
				}
				solid++
			}
			if value[a] == n {
				candidate = a
			} else if value[b] == n {
				candidate = b
			}
			return value[a] < value[b]
		})
		got[i] = fmt.Sprint(compared, x)
	}
	if got[0] != got[1] {
		t.Error("another order")
	}
}
