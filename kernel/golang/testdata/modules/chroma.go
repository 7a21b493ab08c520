package main

import (
	"github.com/alecthomas/chroma/v2/quick"
	"os"
)

func main() {
	if err := quick.Highlight(os.Stdout, "package main\n\nfunc main() { println(\"x\", 1) } // end\n", "go", "html", "monokai"); err != nil {
		panic(err)
	}
}
