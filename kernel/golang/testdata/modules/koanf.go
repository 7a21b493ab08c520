package main

import (
	"fmt"
	"github.com/knadh/koanf/v2"
	"github.com/mitchellh/hashstructure/v2"
)

func main() {
	k := koanf.New(".")
	k.Set("a.b", 5)
	k.Set("a.list", []string{"x"})
	fmt.Println(k.Int("a.b"), k.Strings("a.list"), k.Keys())
	var c struct {
		A struct {
			B    int
			List []string
		}
	}
	fmt.Println(k.Unmarshal("", &c), c)
	k.Print()
	h, err := hashstructure.Hash(map[string]any{"a": 1, "b": []int{1, 2}}, hashstructure.FormatV2, nil)
	fmt.Println(h, err)
}
