package main

import (
	"bytes"
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

func main() {
	p := plot.New()
	p.Title.Text = "T"
	l, err := plotter.NewLine(plotter.XYs{{X: 0, Y: 1}, {X: 1, Y: 2}})
	if err != nil {
		fmt.Println(err)
		return
	}
	p.Add(l)
	w, err := p.WriterTo(4*vg.Inch, 3*vg.Inch, "svg")
	if err != nil {
		fmt.Println(err)
		return
	}
	var b bytes.Buffer
	w.WriteTo(&b)
	fmt.Println(bytes.Contains(b.Bytes(), []byte("<svg")))
}
