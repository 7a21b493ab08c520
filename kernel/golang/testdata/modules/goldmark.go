package main

import (
	"bytes"
	"fmt"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

func main() {
	md := goldmark.New(goldmark.WithExtensions(extension.GFM))
	var b bytes.Buffer
	fmt.Println(md.Convert([]byte("# Hi\n\n* a **b** `c`\n* ~~d~~\n\n|x|y|\n|-|-|\n|1|2|\n"), &b))
	fmt.Print(b.String())
}
