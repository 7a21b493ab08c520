package main

import "fmt"

func try(f func()) {
	defer func() {
		r := recover()
		_, isErr := r.(error)
		fmt.Printf("%v %T %v\n", r, r, isErr)
	}()
	f()
}

type P struct{ x int }

func five() int { return 5 }

func main() {
	var a [4]int
	s := []int{1, 2}
	i := 5
	m := map[string][]int{}
	var p *P
	var mm map[string]int
	try(func() { a[i] = 1 })
	try(func() { a[five()] = 1 })
	try(func() { a[five()]++ })
	try(func() { a[i], s[0] = 1, 2 })
	try(func() { s[i] = 1 })
	try(func() { fmt.Println(s[i]) })
	try(func() { m["x"][i] = 3 })
	try(func() { fmt.Println(s[i:]) })
	try(func() { fmt.Println(s[1:i]) })
	try(func() { fmt.Println(s[i:1]) })
	try(func() { fmt.Println("abc"[i]) })
	try(func() { fmt.Println("abc"[i:]) })
	try(func() { p.x = 1 })
	try(func() { fmt.Println(p.x) })
	try(func() { mm["a"] = 1 })
	try(func() { mm["a"] = five() })
	try(func() { var e any = "x"; fmt.Println(e.(int)) })
	try(func() { var e any; fmt.Println(e.(int)) })
	try(func() { var e any = 3; fmt.Println(e.(fmt.Stringer)) })
	try(func() { z := 0; fmt.Println(i / z) })
	try(func() { z := -1; fmt.Println(make([]int, z)) })
	try(func() { z := -1; fmt.Println(1 << z) })
	try(func() { var c chan int; close(c) })
	try(func() { c := make(chan int); close(c); close(c) })
	try(func() { c := make(chan int); close(c); c <- 1 })
	try(func() { _ = [2]int(s[:1]) })
	try(func() { var f func(); f() })
	try(func() { var e error; _ = e.Error() })
	try(func() { panic(fmt.Errorf("x")) })
	try(func() { var x, y any = []int{1}, []int{1}; fmt.Println(x == y) })
	try(func() { _ = s[i:i:i] })
	try(func() { s[i]++ })
	try(func() { s[i] += five() })
	try(func() { *(*int)(nil) = 2 })
	var pp *[4]int
	try(func() { pp[1] = 2 })
	try(func() {
		for i := range pp {
			pp[i] = 2
		}
	})
	type N struct{ P *P }
	n := N{}
	try(func() { n.P.x = five() })
	try(func() { n.P.x++ })
	try(func() { panic(nil) })
	ss := [][]int{{1}}
	try(func() { ss[0][i] = five() })
	try(func() { ss[i][0] = five() })
}
