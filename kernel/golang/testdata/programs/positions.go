package main

import "fmt"

type point struct{ x, y int }

// Calls of predeclared functions among several results.
func lens(s string) (int, int)          { return 1, len(s) }
func tail(s string) (string, int)       { return s, len(s) }
func grown(xs []int) (int, []int)       { return len(xs), append(xs, 1) }
func made(n int) (string, []int, error) { return "made", make([]int, n), nil }
func fresh() (int, *point)              { return 1, new(point) }
func parts(c complex128) (string, float64, float64) {
	return "parts", real(c), imag(c)
}
func copied(a, b []byte) (bool, int) { return true, copy(a, b) }
func least(a, b int) (int, int)      { return max(a, b), min(a, b) }

func counted(xs ...int) (int, bool) {
	defer func() {}()
	return cap(xs), len(xs) == 0
}

// Labels directly in a case.
func labels(n int, v any, c chan int) (out []string) {
	switch n {
	case 0:
	rows:
		for i := range 3 {
			for j := range 3 {
				if j == 1 {
					continue rows
				}
				if i == 2 {
					break rows
				}
				out = append(out, fmt.Sprint(i, j))
			}
		}
		fallthrough
	case 1:
		i := 0
	again:
		i++
		if i < 3 {
			goto again
		}
		out = append(out, fmt.Sprint("again", i))
	default:
	last:
		for {
			break last
		}
	}
	switch v := v.(type) {
	case int:
	loop:
		for {
			out = append(out, fmt.Sprint("int", v))
			break loop
		}
	default:
		goto end
	end:
		out = append(out, "end")
	}
	select {
	case x := <-c:
	received:
		for {
			out = append(out, fmt.Sprint("received", x))
			break received
		}
	default:
	none:
		for range 2 {
			out = append(out, "none")
			continue none
		}
	}
	return out
}

// Conversions to the left of && and ||.
func is(n int, xs ...string) bool   { return n > len(xs) }
func nothing(p *point) bool         { return p == nil }
func uncalled(f func(int) int) bool { return f == nil }

func main() {
	fmt.Println(lens("abc"))
	fmt.Println(tail("abc"))
	fmt.Println(grown([]int{5}))
	fmt.Println(made(2))
	fmt.Println(fresh())
	fmt.Println(parts(3 + 4i))
	fmt.Println(copied(make([]byte, 2), []byte("abc")))
	fmt.Println(least(3, 4))
	fmt.Println(counted())
	fmt.Println(labels(0, 4, nil))
	c := make(chan int, 1)
	c <- 7
	fmt.Println(labels(1, "", c))
	fmt.Println(labels(2, nil, c))
	ok := true
	fmt.Println(is(1) && true, is(1) && ok, is(0) || ok, is(1) && is(1, "a") || is(2))
	fmt.Println(nothing((*point)(nil)) && ok, uncalled((func(int) int)(nil)) && ok, uncalled(nil) && ok)
	for i := 0; is(2) && i < 2; i++ {
		fmt.Println(i)
	}
	// A slice of an array as an element.
	arr := [3]int{1, 2, 3}
	lists := [][]int{arr[:], arr[1:2]}
	lists = append(lists, arr[:1])
	fmt.Println(lists)
}

func init() {
	defer func() { fmt.Println(recover()) }()
	var x any = map[byte]rune{}
	fmt.Println(x.(func(rune, []byte) map[byte]rune))
}

// Literals to the left of ||, among the values of a case.
func init() {
	yes := true
	m := 1
	switch "b" {
	case map[string]string{"k": "a"}["k"], "b":
		fmt.Println("case", m)
	}
	switch {
	case map[string]bool{"k": !yes}["k"], map[string]bool{"k": yes}["k"]:
		fmt.Println("case")
	}
	fmt.Println(map[string]bool{"k": !yes}["k"] || yes, []bool{1: yes}[1] && yes, point{x: 1} == point{y: 1} || yes, (&point{x: m}).x == 1 && yes)
	if map[int]bool{m: yes}[1] && (*point)(nil) == nil {
		fmt.Println("and")
	}
	defer func() { fmt.Println(recover()) }()
	n := -1
	fmt.Println(len(make([]int, n)))
}
