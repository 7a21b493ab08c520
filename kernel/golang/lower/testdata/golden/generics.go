package main

import "fmt"

type number interface{ ~int | ~float64 }

func sum[T number](xs ...T) (t T) {
	for _, x := range xs {
		t += x
	}
	return t
}

type stack[T any] struct{ items []T }

func (s *stack[T]) push(x T) { s.items = append(s.items, x) }

func (s *stack[T]) pop() (x T, ok bool) {
	if len(s.items) == 0 {
		return x, false
	}
	x = s.items[len(s.items)-1]
	s.items = s.items[:len(s.items)-1]
	return x, true
}

func convert[A, B any](a A, f func(A) B) B { return f(a) }

func main() {
	s := &stack[string]{}
	s.push("a")
	fmt.Println(sum(1, 2), sum(1.5), convert(2, func(n int) string { return fmt.Sprint(n) }))
	fmt.Println(s.pop())
	f := sum[int]
	fmt.Println(f(3))
}
