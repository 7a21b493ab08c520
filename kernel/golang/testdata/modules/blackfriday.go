package main

import (
	"fmt"

	"github.com/microcosm-cc/bluemonday"
	"github.com/russross/blackfriday/v2"
)

func main() {
	h := blackfriday.Run([]byte("# Hi\n\n[l](http://x) <script>alert(1)</script>\n\n1. a\n2. b\n"))
	fmt.Print(string(h))
	fmt.Print(bluemonday.UGCPolicy().Sanitize(string(h)))
}
