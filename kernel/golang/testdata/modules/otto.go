package main

import (
	"fmt"
	"github.com/robertkrimen/otto"
)

func main() {
	vm := otto.New()
	vm.Set("twice", func(call otto.FunctionCall) otto.Value {
		n, _ := call.Argument(0).ToInteger()
		v, _ := vm.ToValue(n * 2)
		return v
	})
	v, err := vm.Run(`var a = [3,1,2].sort().map(function(x) { return twice(x) }); a.join("-") + JSON.stringify({k: 1})`)
	fmt.Println(v, err)
	_, err = vm.Run("x.y.z")
	fmt.Println(err)
}
