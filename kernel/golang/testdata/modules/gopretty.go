package main

import (
	"bytes"
	"fmt"
	"github.com/jedib0t/go-pretty/v6/list"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/schollz/progressbar/v3"
)

func main() {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"#", "Name", "Salary"})
	t.AppendRows([]table.Row{{1, "Arya", 3000}, {20, "Jon", 2000.5}})
	t.AppendFooter(table.Row{"", "Total", 5000.5})
	t.SetStyle(table.StyleLight)
	t.SortBy([]table.SortBy{{Name: "Name", Mode: table.Dsc}})
	fmt.Println(t.Render())
	fmt.Println(t.RenderCSV())
	fmt.Println(t.RenderMarkdown())
	l := list.NewWriter()
	l.AppendItem("a")
	l.Indent()
	l.AppendItem("b")
	fmt.Println(l.Render())
	var b bytes.Buffer
	bar := progressbar.NewOptions(3, progressbar.OptionSetWriter(&b), progressbar.OptionSetWidth(10))
	for range 3 {
		bar.Add(1)
	}
	fmt.Println(b.Len() > 0, bar.IsFinished())
}
