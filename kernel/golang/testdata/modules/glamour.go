package main

import (
	"fmt"
	"github.com/charmbracelet/glamour"
)

func main() {
	r, err := glamour.NewTermRenderer(glamour.WithStandardStyle("notty"), glamour.WithWordWrap(40))
	if err != nil {
		panic(err)
	}
	out, err := r.Render("# Title\n\nSome *text* with `code` and a [link](http://x.y).\n\n* one\n* two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
	fmt.Println(out, err)
}
