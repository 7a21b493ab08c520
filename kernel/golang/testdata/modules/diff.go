package main

import (
	"fmt"

	"github.com/pmezard/go-difflib/difflib"
	"github.com/sergi/go-diff/diffmatchpatch"
)

func main() {
	d := diffmatchpatch.New()
	l := d.DiffMain("the quick fox", "the slow fox", false)
	fmt.Println(d.DiffPrettyText(l), d.DiffLevenshtein(l))
	s, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: difflib.SplitLines("a\nb\n"), B: difflib.SplitLines("a\nc\n"), FromFile: "x", ToFile: "y", Context: 1})
	fmt.Println(s, err)
}
