package main

import (
	"fmt"
	"github.com/nlpodyssey/spago/mat"
)

func main() {
	a := mat.NewDense[float64](mat.WithShape(2, 2), mat.WithBacking([]float64{1, 2, 3, 4}))
	b := mat.NewDense[float64](mat.WithShape(2, 2), mat.WithBacking([]float64{0, 1, 1, 0}))
	fmt.Println(a.Mul(b), a.Add(b), a.T())
}
