package main

import (
	"fmt"

	"github.com/goccy/go-json"
)

func main() {
	b, err := json.Marshal(struct {
		A int    `json:"a"`
		B string `json:"b,omitempty"`
	}{A: 1})
	fmt.Println(string(b), err)
	var m map[string]any
	fmt.Println(json.Unmarshal([]byte(`{"x":[1,"a"]}`), &m), m)
}
