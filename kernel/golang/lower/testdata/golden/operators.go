package main

import "fmt"

type celsius float64

func calls() bool { return true }

func main() {
	x, y := 7, -3
	u, f, s := uint8(200), 1.5, "text"
	var t celsius = 36.6
	c := complex(f, 2)
	fmt.Println(x+y*2, x/y, x%y, x&y|x^y, x&^y, -x, ^x, x<<u, x>>y, 1<<u, u<<1)
	fmt.Println(-f, t*2, -t, c*c, real(c), s+"!", s < "u", !calls())
	fmt.Println(x > 0 && calls() || y == 1)
	fmt.Println(x > 0 && sum(x, y) > 1, len([]int{x}) > 0 || calls())
	fmt.Println(uint8(x), float64(x), int(f), string(rune(x)), []byte(s), string([]byte(s)), celsius(x))
	var i, j any = x, y
	fmt.Println(i == j, i == 7, i != nil, [2]int{1, 2} == [2]int{x, y}, struct{ a int }{1} != struct{ a int }{x})
	fmt.Println(min(x, y, 3), max(f, 2))
}

func sum(xs ...int) (n int) {
	for _, x := range xs {
		n += x
	}
	return
}
