package main

import "fmt"

func cond(n int) bool { return n > 0 }

func main() {
	if n := 1; cond(n) {
		fmt.Println(n)
	} else if n == 2 {
		fmt.Println("two")
	} else {
		fmt.Println("else")
	}
outer:
	for i := 0; i < 3; i++ {
		for {
			if i == 1 {
				continue outer
			}
			break outer
		}
	}
	var fs []func() int
	for i := 0; i < 2; i++ {
		fs = append(fs, func() int { i++; return i })
	}
	switch x := len(fs); x {
	case 1, 2:
		fmt.Println("few")
		fallthrough
	case 3:
		fmt.Println("three")
	default:
		fmt.Println("many")
	}
	switch {
	default:
		fmt.Println("none")
	case cond(1) && len([]int{1}) > 0:
	inner:
		for {
			break inner
		}
	}
	switch v := any(fs).(type) {
	case nil:
	case int:
		fmt.Println(v + 1)
	case error, fmt.Stringer:
		fmt.Println(v)
	}
	n := 0
again:
	n++
	if n < 3 {
		goto again
	}
}
