package main

import (
	"fmt"

	"github.com/json-iterator/go"
)

type t struct {
	Name string         `json:"name"`
	L    []int          `json:"l"`
	M    map[string]any `json:"m"`
}

func main() {
	var json = jsoniter.ConfigCompatibleWithStandardLibrary
	b, err := json.Marshal(t{"x", []int{1}, map[string]any{"a": nil}})
	fmt.Println(string(b), err)
	var v t
	fmt.Println(json.Unmarshal([]byte(`{"name":"q","l":[4,5],"m":{"z":true}}`), &v), v)
	fmt.Println(jsoniter.Get([]byte(`{"a":[1,2]}`), "a", 1).ToInt())
}
