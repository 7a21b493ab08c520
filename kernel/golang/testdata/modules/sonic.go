package main

import (
	"fmt"

	"github.com/bytedance/sonic"
)

func main() {
	b, err := sonic.Marshal(map[string]int{"a": 1})
	fmt.Println(string(b), err)
	var v struct{ X []int }
	fmt.Println(sonic.Unmarshal([]byte(`{"X":[1,2]}`), &v), v)
}
