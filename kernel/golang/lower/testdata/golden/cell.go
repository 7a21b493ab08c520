package main

import (
	"fmt"
	"os"
)

var total int

func double(n int) int { return 2 * n }

// cell
func main() {
	total = double(3)
	os.Remove("x")
	fmt.Println(total)
	for total < 10 {
		total++
	}
	os.ReadFile("y")
}
