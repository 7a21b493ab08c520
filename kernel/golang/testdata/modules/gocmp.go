package main

import (
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

type t struct {
	Name string
	L    []int
	n    int
}

func main() {
	a, b := t{"x", []int{1, 2, 3}, 1}, t{"x", []int{1, 5, 3}, 2}
	fmt.Println(cmp.Equal(a, b, cmpopts.IgnoreUnexported(t{})), cmp.Equal(a, a, cmp.AllowUnexported(t{})))
	d := cmp.Diff(a, b, cmp.AllowUnexported(t{}))
	fmt.Println(strings.Join(strings.Fields(strings.ReplaceAll(d, "\u00a0", " ")), " "))
	fmt.Println(cmp.Equal([]float64{1}, []float64{1.0001}, cmpopts.EquateApprox(0, 0.01)))
}
