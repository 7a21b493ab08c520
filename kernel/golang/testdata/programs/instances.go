package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

type Celsius float64
type Names []string
type Ages map[string]int

// The generic functions of the library that cells have compiled, and some that they have
// as source, with types of the program's own.
func main() {
	minus := Celsius(math.Copysign(0, -1))
	x := []Celsius{3, 1, 2, minus, Celsius(math.NaN()), 0}
	slices.Sort(x)
	fmt.Println(x, slices.Index(x, 2), slices.Contains(x, minus), slices.IsSorted(x))
	fmt.Println(1/float64(slices.Min([]Celsius{0, minus})), slices.Max([]Celsius{1, 7, 2}))
	i, ok := slices.BinarySearch(Names{"a", "c"}, "b")
	fmt.Println(i, ok)
	ages := Ages{"b": 1, "a": 2, "c": 3}
	fmt.Println(slices.Sorted(maps.Keys(ages)), len(slices.Collect(maps.Values(ages))))
	found := ""
	for k := range maps.Keys(ages) {
		if k == "a" {
			found = k
			break
		}
	}
	for i, v := range slices.All(Names{"x", "y", "z"}) {
		if i == 2 {
			break
		}
		found += v
	}
	fmt.Println(found)
	less := cmp.Less[Celsius]
	fmt.Println(less(1, 2), cmp.Compare("a", "b"), cmp.Compare(math.NaN(), 1))
	copied := maps.Clone(ages)
	copied["z"] = 1
	fmt.Printf("%T %d %v %T\n", copied, len(ages), maps.Equal(ages, copied), maps.Keys(ages))
	fmt.Printf("%v %T\n", slices.Repeat([]bool{true, false}, 2), slices.Compact(Names{"a", "a"}))
	func() {
		defer slices.Reverse(x)
		fmt.Println(x[0])
	}()
	fmt.Println(x[0], slices.Equal(x, x), slices.Compare([]int8{1, 2}, []int8{1, 3}))
	func() {
		defer func() { fmt.Println(recover()) }()
		slices.Max(Names{})
	}()
	names := Names{"bc", "a", "dd"}
	slices.SortFunc(names, cmp.Compare[string])
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	fmt.Println(names, slices.Sorted(slices.Values(names)))
}
