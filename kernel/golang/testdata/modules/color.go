package main

import (
	"fmt"

	"github.com/fatih/color"
)

func main() {
	color.NoColor = false
	fmt.Printf("%q\n", color.RedString("red %d", 1))
	c := color.New(color.FgGreen, color.Bold)
	fmt.Printf("%q\n", c.Sprint("x", 2))
	color.NoColor = true
	fmt.Println(color.BlueString("plain"))
}
