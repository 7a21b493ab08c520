package main

import (
	"fmt"

	"github.com/expr-lang/expr"
)

func main() {
	env := map[string]any{"x": 3, "list": []int{1, 2, 3}, "f": func(n int) int { return n * 2 }}
	for _, code := range []string{"x + 2", "f(x) > 5 ? 'big' : 'small'", "sum(filter(list, # > 1))", "x +"} {
		p, err := expr.Compile(code, expr.Env(env))
		if err != nil {
			fmt.Println("error", len(err.Error()) > 0)
			continue
		}
		v, err := expr.Run(p, env)
		fmt.Println(v, err)
	}
}
