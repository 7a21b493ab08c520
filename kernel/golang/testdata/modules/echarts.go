package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

func main() {
	b := charts.NewBar()
	b.SetGlobalOptions(charts.WithTitleOpts(opts.Title{Title: "T"}))
	b.SetXAxis([]string{"a", "b"}).AddSeries("s", []opts.BarData{{Value: 1}, {Value: 2}})
	var w bytes.Buffer
	fmt.Println(b.Render(&w))
	fmt.Println(strings.Contains(w.String(), `"data":[{"value":1},{"value":2}]`))
}
