package main

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

func Count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		defer fmt.Println("count done")
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func Fib() func(func(int) bool) {
	return func(yield func(int) bool) {
		a, b := 0, 1
		for yield(a) {
			a, b = b, a+b
		}
	}
}

func Zip[A, B any](a iter.Seq[A], b iter.Seq[B]) iter.Seq2[A, B] {
	return func(yield func(A, B) bool) {
		na, stopA := iter.Pull(a)
		defer stopA()
		nb, stopB := iter.Pull(b)
		defer stopB()
		for {
			x, ok := na()
			y, ok2 := nb()
			if !ok || !ok2 || !yield(x, y) {
				return
			}
		}
	}
}

func find(n int) (r int, err error) {
	defer func() { r *= 10 }()
	for i := range Fib() {
		if i > n {
			return i, nil
		}
		if i > 1000 {
			return 0, errors.New("too far")
		}
	}
	return
}

func nested() (s string) {
outer:
	for i := range Count(3) {
		for j := range Count(3) {
			if j == 2 {
				continue outer
			}
			if i == 2 {
				break outer
			}
			s += fmt.Sprint(i, j, " ")
		}
	}
	return
}

func deferIn() {
	for i := range Count(2) {
		defer fmt.Println("deferred", i)
	}
	fmt.Println("end")
}

func panics() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("recovered %v", r)
		}
	}()
	for i := range Count(5) {
		if i == 2 {
			panic("at two")
		}
	}
	return nil
}

type Grid [3][3]int

func (g *Grid) Cells() iter.Seq2[[2]int, *int] {
	return func(yield func([2]int, *int) bool) {
		for i := range g {
			for j := range g[i] {
				if !yield([2]int{i, j}, &g[i][j]) {
					return
				}
			}
		}
	}
}

func Chunk[T any](s iter.Seq[T], n int) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		var buf []T
		for x := range s {
			buf = append(buf, x)
			if len(buf) == n {
				if !yield(buf) {
					return
				}
				buf = nil
			}
		}
		if len(buf) > 0 {
			yield(buf)
		}
	}
}

func gotoTest() {
	i := 0
loop:
	if i < 3 {
		fmt.Print(i, " ")
		i++
		goto loop
	}
	fmt.Println()
}

func labels() {
L:
	for i := 0; ; i++ {
		switch {
		case i == 2:
			continue L
		case i > 4:
			break L
		default:
			fmt.Print("i", i, " ")
		}
		select {
		default:
			if i == 3 {
				break
			}
			fmt.Print("s", i, " ")
		}
	}
	fmt.Println()
}

func fall(n int) (s string) {
	switch n {
	case 0:
		s += "zero "
		fallthrough
	case 1:
		s += "one "
		fallthrough
	case 2:
		s += "two"
	case 3, 4:
		s += "more"
	default:
		s += "many"
	}
	return
}

func main() {
	for i := range 3 {
		fmt.Print(i)
	}
	fmt.Println()
	for range 2 {
		fmt.Print("x")
	}
	fmt.Println()
	for i := range int8(3) {
		fmt.Printf("%T ", i)
	}
	fmt.Println()
	fmt.Println(find(50))
	fmt.Println(find(5000))
	fmt.Println(nested())
	deferIn()
	fmt.Println(panics())
	for a, b := range Zip(Count(3), slices.Values([]string{"a", "b", "c", "d"})) {
		fmt.Println(a, b)
	}
	var g Grid
	for p, c := range g.Cells() {
		*c = p[0] * p[1]
	}
	fmt.Println(g)
	for c := range Chunk(Count(5), 2) {
		fmt.Println(c)
	}
	gotoTest()
	labels()
	for i := range 6 {
		fmt.Println(fall(i))
	}
	var fs []func() int
	for i := 0; i < 3; i++ {
		fs = append(fs, func() int { i *= 2; return i })
	}
	for _, f := range fs {
		fmt.Print(f(), f(), " ")
	}
	fmt.Println()
	for i := 0; i < 6; i++ {
		defer func() { fmt.Print() }()
		i++
		f := func() { i++ }
		f()
		fmt.Print(i, " ")
	}
	fmt.Println()
	m := map[string][]int{"a": {1}, "b": {2, 3}}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		m[k] = append(m[k], 9)
		m[k][0]++
	}
	fmt.Println(m)
	fmt.Println(min(3, 1, 2), max(2.5, 1), min("b", "a"))
	clear(m)
	fmt.Println(len(m), m)
	sl := []int{1, 2, 3}
	clear(sl)
	fmt.Println(sl)
	for i, r := range "héé€" {
		fmt.Print(i, ":", string(r), " ")
	}
	fmt.Println()
	for i := range []byte("abc") {
		fmt.Print(i)
	}
	fmt.Println()
	arr := [3]int{1, 2, 3}
	for i, v := range arr {
		arr[2] = 10
		if i == 2 {
			fmt.Println(v)
		}
	}
	for i, v := range &arr {
		arr[2] = 20
		if i == 2 {
			fmt.Println(v)
		}
	}
	for l := range strings.Lines("a\nb\n") {
		fmt.Printf("%q ", l)
	}
	for w := range strings.SplitSeq("a,b,c", ",") {
		fmt.Print(w, ";")
	}
	fmt.Println()
	for i, v := range slices.Backward([]string{"x", "y"}) {
		fmt.Print(i, v)
	}
	fmt.Println(slices.Collect(maps.Values(map[int]string{1: "one"})))
	next, stop := iter.Pull2(maps.All(map[string]int{"k": 7}))
	fmt.Println(next())
	fmt.Println(next())
	stop()
	var seq iter.Seq[int] = Count(2)
	seq(func(i int) bool { fmt.Println("y", i); return true })
	x := 10
	if x := 5; x > 3 {
		fmt.Println("inner", x)
	} else if y := x * 2; y > 0 {
		fmt.Println(y)
	}
	fmt.Println(x)
	{
		x := "shadow"
		fmt.Println(x)
	}
	switch x := any(x).(type) {
	case int, string:
		fmt.Printf("%T\n", x)
	}
	switch {
	case x > 5 && x < 20:
		fmt.Println("mid")
	}
	switch y := x * 2; y {
	case 20:
		fmt.Println("twenty")
	}
}
