package main

import (
	"fmt"
	"github.com/pterm/pterm"
)

func main() {
	pterm.DisableStyling()
	s, err := pterm.DefaultTable.WithHasHeader().WithData(pterm.TableData{{"Name", "Age"}, {"Ann", "31"}, {"Bob", "4"}}).Srender()
	fmt.Println(s, err)
	tree, err := pterm.DefaultTree.WithRoot(pterm.TreeNode{Text: "root", Children: []pterm.TreeNode{{Text: "a"}, {Text: "b"}}}).Srender()
	fmt.Println(tree, err)
	pterm.Info.Println("done")
	bars, err := pterm.DefaultBarChart.WithBars([]pterm.Bar{{Label: "x", Value: 3}, {Label: "y", Value: 1}}).WithHorizontal().Srender()
	fmt.Println(bars, err)
}
