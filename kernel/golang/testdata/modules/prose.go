package main

import (
	"fmt"
	"github.com/jdkato/prose/v2"
)

func main() {
	doc, err := prose.NewDocument("Go is an open-source programming language created at Google. It is fast.", prose.WithExtraction(false))
	fmt.Println(err)
	for _, t := range doc.Tokens() {
		fmt.Print(t.Text, "/", t.Tag, " ")
	}
	fmt.Println()
	for _, s := range doc.Sentences() {
		fmt.Println(s.Text)
	}
}
