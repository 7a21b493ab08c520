package main

import (
	"fmt"
	"github.com/agnivade/levenshtein"
	"github.com/guptarohit/asciigraph"
	"github.com/kljensen/snowball"
	"github.com/kr/pretty"
)

func main() {
	fmt.Println(levenshtein.ComputeDistance("kitten", "sitting"))
	for _, w := range []string{"Accumulations", "running", "generously"} {
		fmt.Println(snowball.Stem(w, "english", true))
	}
	type T struct {
		A int
		B []string
		C map[string]*int
	}
	n := 1
	fmt.Printf("%# v\n", pretty.Formatter(T{1, []string{"x"}, map[string]*int{"k": &n}}))
	fmt.Println(pretty.Diff(T{A: 1}, T{A: 2, B: []string{"q"}}))
	fmt.Println(asciigraph.Plot([]float64{1, 3, 2, 5, 4}, asciigraph.Height(4), asciigraph.Caption("five")))
}
