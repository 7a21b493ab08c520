package main

import (
	"fmt"

	"github.com/pelletier/go-toml/v2"
)

func main() {
	var c struct {
		A int
		B []string
		T struct{ X float64 } `toml:"table"`
	}
	fmt.Println(toml.Unmarshal([]byte("A = 1\nB = ['x', 'y']\n[table]\nX = 2.5\n"), &c), c)
	b, err := toml.Marshal(c)
	fmt.Print(string(b), err, "\n")
	fmt.Println(toml.Unmarshal([]byte("A = 'x'"), &c))
}
