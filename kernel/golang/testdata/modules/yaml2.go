package main

import (
	"fmt"

	"gopkg.in/yaml.v2"
)

func main() {
	var v struct {
		A int
		B map[string]interface{}
	}
	fmt.Println(yaml.Unmarshal([]byte("a: 3\nb:\n  c: [x, 1.5, true, null]\n"), &v), v)
	b, _ := yaml.Marshal(yaml.MapSlice{{Key: "z", Value: 1}, {Key: "a", Value: []string{"q"}}})
	fmt.Print(string(b))
}
