package main

import (
	"os"

	"github.com/olekukonko/tablewriter"
)

func main() {
	t := tablewriter.NewWriter(os.Stdout)
	t.SetHeader([]string{"Name", "Sign"})
	t.Append([]string{"A", "The Good"})
	t.Append([]string{"B", "The very very Bad Man"})
	t.SetFooter([]string{"", "2"})
	t.Render()
}
