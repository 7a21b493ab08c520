package main

import "fmt"

type P struct {
	A, B int
	In   *P
}

var g = 1
var arr = []int{1, 2, 3, 4}
var gp = &P{A: 1, B: 2}

func inc() int             { g++; arr[0] += g; arr[1]--; gp.A += 3; return g }
func f1(a, b, c int) int   { return a*10000 + b*100 + c }
func (p *P) Mix() int      { p.A++; return p.A }
func (p *P) Next(k int) *P { p.A += k; return p }
func sum(n int) int {
	t := 0
	for i := 0; i < n; i++ {
		t += g - 3 - inc()
		t = t*3%1000 + g%7 - inc()%5
		arr[2] = arr[0] - inc() + arr[1]
		a, b := g+1, inc()
		t += f1(a, b, g)%97 + f1(g, inc(), arr[1])%89
		g = g % 50
		arr[0] %= 100
		x := [3]int{g, inc(), arr[0]}
		t += x[0]*3 + x[1]*5 + x[2]
		if g-5 > inc()-7 {
			t++
		}
		t += gp.A - gp.Mix() + gp.A*2
		gp.A %= 77
		c, d := arr[0], inc()
		c, d = d+g, c-inc()
		t += c - d
	}
	return t
}
func loc(n int) int {
	x, t := 1, 0
	p := &x
	up := func() int { x = x*5%101 + 1; return x }
	for i := 0; i < n; i++ {
		t += x - up()
		t += *p*2 - up() + *p
		t = (t + f1(x, up(), *p)) % 10007
	}
	return t
}
func main() {
	fmt.Println(sum(50), g, arr, gp.A, loc(50))
	fmt.Println(gp.Next(g).A+gp.Next(inc()).A, gp.A)
	fmt.Println(sum(2000), g, arr, gp.A, loc(2000))
}
