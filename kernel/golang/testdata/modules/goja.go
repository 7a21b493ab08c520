package main

import (
	"fmt"

	"github.com/dop251/goja"
)

func main() {
	vm := goja.New()
	vm.Set("add", func(a, b int) int { return a + b })
	v, err := vm.RunString("[1,2,3].map(x => x*2).join() + add(1, 2) + JSON.stringify({a: 1})")
	fmt.Println(v, err)
	_, err = vm.RunString("throw new Error('bad')")
	fmt.Println(err)
}
