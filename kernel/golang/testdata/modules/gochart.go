package main

import (
	"bytes"
	"fmt"
	"github.com/wcharczuk/go-chart/v2"
)

func main() {
	g := chart.Chart{Series: []chart.Series{chart.ContinuousSeries{XValues: []float64{1, 2, 3}, YValues: []float64{1, 4, 9}}}}
	var b bytes.Buffer
	err := g.Render(chart.SVG, &b)
	fmt.Println(err, b.String())
}
