package main

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"
)

func main() {
	a := mat.NewDense(2, 2, []float64{4, 1, 2, 3})
	var inv mat.Dense
	fmt.Println(inv.Inverse(a))
	fmt.Printf("%.3f\n", mat.Formatted(&inv))
	var e mat.Eigen
	fmt.Println(e.Factorize(a, mat.EigenRight), e.Values(nil))
	x := []float64{1, 2, 3, 4}
	fmt.Println(stat.Mean(x, nil), stat.StdDev(x, nil), floats.Sum(x), mat.Det(a), integrate.Trapezoidal(x, x))
	p := optimize.Problem{Func: func(x []float64) float64 { return (x[0] - 3) * (x[0] - 3) }}
	r, err := optimize.Minimize(p, []float64{0}, nil, &optimize.NelderMead{})
	fmt.Printf("%.2f %v\n", r.X[0], err)
}
