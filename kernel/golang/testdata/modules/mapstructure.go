package main

import (
	"fmt"

	"github.com/mitchellh/mapstructure"
)

type conf struct {
	Name  string
	Ports []int
	Inner struct{ Deep bool } `mapstructure:"inner"`
}

func main() {
	var c conf
	err := mapstructure.Decode(map[string]any{"name": "x", "Ports": []any{1, 2}, "inner": map[string]any{"deep": true}}, &c)
	fmt.Printf("%+v %v\n", c, err)
	err = mapstructure.Decode(map[string]any{"name": 3}, &c)
	fmt.Println(err)
	d, _ := mapstructure.NewDecoder(&mapstructure.DecoderConfig{WeaklyTypedInput: true, Result: &c})
	fmt.Println(d.Decode(map[string]any{"name": 3, "ports": "7"}), c)
}
