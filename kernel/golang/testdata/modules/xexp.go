package main

import (
	"fmt"

	"golang.org/x/exp/constraints"
	"golang.org/x/exp/maps"
	"golang.org/x/exp/slices"
)

func sum[T constraints.Integer | constraints.Float](l []T) (t T) {
	for _, x := range l {
		t += x
	}
	return t
}

func main() {
	m := map[string]int{"b": 2, "a": 1}
	k := maps.Keys(m)
	slices.Sort(k)
	fmt.Println(k, sum([]float64{1, 2.5}), slices.Contains(k, "a"))
	i, ok := slices.BinarySearch(k, "b")
	fmt.Println(i, ok)
}
