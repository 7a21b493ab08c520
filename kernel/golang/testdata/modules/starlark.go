package main

import (
	"fmt"
	"go.starlark.net/starlark"
)

func main() {
	thread := &starlark.Thread{Name: "t", Print: func(_ *starlark.Thread, msg string) { fmt.Println("says", msg) }}
	globals, err := starlark.ExecFile(thread, "a.star", `
def fib(n):
    a, b = 0, 1
    out = []
    for _ in range(n):
        out.append(a)
        a, b = b, a + b
    return out
x = fib(12)
print("len", len(x), {k: v for k, v in [("a", 1)]})
`, nil)
	fmt.Println(err, globals["x"])
	v, err := starlark.Call(thread, globals["fib"], starlark.Tuple{starlark.MakeInt(4)}, nil)
	fmt.Println(v, err, globals.Keys())
	_, err = starlark.Eval(thread, "b.star", "1 // 0", nil)
	fmt.Println(err)
}
