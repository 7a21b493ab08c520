package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/mattn/go-colorable"
	"github.com/mattn/go-isatty"
	"github.com/mattn/go-shellwords"
)

func main() {
	fmt.Println(isatty.IsTerminal(os.Stdin.Fd()) && false)
	var b bytes.Buffer
	fmt.Fprint(colorable.NewNonColorable(&b), "\x1b[31mred\x1b[0m")
	fmt.Printf("%q\n", b.String())
	fmt.Println(shellwords.Parse(`a "b c" d`))
}
