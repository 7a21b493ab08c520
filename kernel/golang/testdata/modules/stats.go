package main

import (
	"fmt"

	"github.com/montanaflynn/stats"
)

func main() {
	d := stats.Float64Data{1, 2, 3, 4, 100}
	m, err := stats.Median(d)
	fmt.Println(m, err)
	s, _ := d.StandardDeviation()
	p, _ := stats.Percentile(d, 50)
	fmt.Printf("%.3f %v\n", s, p)
	_, err = stats.Mean(nil)
	fmt.Println(err)
}
