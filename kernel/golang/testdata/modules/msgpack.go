package main

import (
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
)

type item struct {
	Name string `msgpack:"n"`
	N    int
	Tags []string
}

func main() {
	b, err := msgpack.Marshal(item{"x", 3, []string{"t"}})
	fmt.Printf("%x %v\n", b, err)
	var i item
	fmt.Println(msgpack.Unmarshal(b, &i), i)
	b, _ = msgpack.Marshal(map[string]any{"a": 1})
	var m map[string]any
	fmt.Println(msgpack.Unmarshal(b, &m), m)
}
