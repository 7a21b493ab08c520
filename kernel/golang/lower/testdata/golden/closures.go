package main

import "fmt"

type node struct{ f func() int }

func counter() func() int {
	n, step := 0, 2
	return func() int { n += step; return n }
}

func main() {
	next := counter()
	p := &node{f: next}
	x := 1
	set := func(v int) { x = v }
	set(3)
	var fib func(int) int
	fib = func(n int) int {
		if n < 2 {
			return n
		}
		return fib(n-1) + fib(n-2)
	}
	y := [2]int{}
	z := &y[x&1]
	fmt.Println(x, fib(5), p.f(), *z, func() int { return x }())
}
