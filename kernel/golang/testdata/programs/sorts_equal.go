package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
)

// Elements that are equal come in the order in which Go's sorts leave them, and functions that
// compare are asked the same.

type P struct {
	K int
	N string
	I int
}

func order(n, mod int) (out [5]int) {
	a := make([]P, n)
	for i := range a {
		a[i] = P{(i * 7919) % mod, strings.Repeat("x", i%mod), i}
	}
	b, c, d, e := slices.Clone(a), slices.Clone(a), slices.Clone(a), slices.Clone(a)
	slices.SortFunc(a, func(x, y P) int { out[4] = out[4]*31 + x.I; return cmp.Compare(x.K, y.K) })
	sort.Slice(b, func(i, j int) bool { return b[i].K < b[j].K })
	slices.SortStableFunc(c, func(x, y P) int { return x.K - y.K })
	slices.SortFunc(e, func(x, y P) int { return strings.Compare(y.N, x.N) })
	sort.SliceStable(d, func(i, j int) bool { return d[i].K < d[j].K })
	for i := range a {
		out[0] = out[0]*31 + a[i].I
		out[1] = out[1]*31 + b[i].I
		out[2] = out[2]*31 + c[i].I + d[i].I
		out[3] = out[3]*31 + e[i].I
	}
	return
}

func zeros(n int) (signs string) {
	a := make([]float64, n)
	for i := range a {
		switch a[i] = 0; {
		case i%3 == 0:
			a[i] = math.Copysign(0, -1)
		case i%7 == 0:
			a[i] = math.NaN()
		}
	}
	slices.Sort(a)
	for _, x := range a {
		switch {
		case x != x:
			signs += "n"
		case math.Signbit(x):
			signs += "-"
		default:
			signs += "+"
		}
	}
	return
}

func stopped(n int) (left []int) {
	left = make([]int, n)
	for i := range left {
		left[i] = (i * 7) % n
	}
	defer func() { fmt.Println(recover()) }()
	asked := 0
	slices.SortFunc(left, func(x, y int) int {
		if asked++; asked > 40 {
			panic("enough")
		}
		return x - y
	})
	return
}

func main() {
	for _, n := range []int{0, 1, 2, 10, 13, 50, 100, 1000, 5000} {
		for _, m := range []int{1, 3, 17, 500} {
			fmt.Println(n, m, order(n, m))
		}
		if n <= 100 {
			fmt.Println(zeros(n))
		}
	}
	fmt.Println(stopped(30))
}
