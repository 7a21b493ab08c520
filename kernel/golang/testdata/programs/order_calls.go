package main

import "fmt"

type P struct{ A, B int }

func (p *P) Mix() int     { p.A++; return p.A }
func (p P) Get(k int) int { return p.A*100 + k }

var g, h = 1, 10
var s = []int{1, 2, 3}
var m = map[string]int{"a": 1}
var fn = func(x int) int { return x + 1000 }
var st = P{1, 2}
var big [6]int
var str = "x"
var ia any = 1

func inc() int {
	g++
	s[0]++
	m["a"]++
	st.A++
	big[1]++
	str += "y"
	ia = g
	return g
}
func swap() int                { fn = func(x int) int { return x + 2000 }; return 1 }
func id(a, b int) [2]int       { return [2]int{a, b} }
func three(a, b, c any) string { return fmt.Sprint(a, b, c) }
func v(a ...any) string        { return fmt.Sprint(a...) }
func yes() bool                { g++; return true }
func two() (int, int)          { g++; return g, g + 1 }
func S() string                { inc(); return str }

func rets() (int, int)  { return g, inc() }
func named() (a, b int) { a, b = g+1, inc(); return b, a }

func main() {
	p := &P{5, 6}
	fmt.Println(p.A - 3 - p.Mix())
	fmt.Println(g - 3 - inc())
	a, b := g+1, inc()
	fmt.Println(a, b)
	a, b = g+1, inc()
	fmt.Println(a, b)
	fmt.Println([]int{g, g + 1, inc()}, [3]int{g, inc(), g}, P{g, inc()})
	fmt.Println(id(g+1, inc()))
	fmt.Println(id(g, inc()), g)
	fmt.Println(g, inc(), g, inc())
	fmt.Println(s[0], inc(), s[0]+inc(), s[0]*2-inc())
	fmt.Println(m["a"], inc(), m["a"]+inc())
	fmt.Println(len(str)+inc(), len(str), inc(), len(s[:g-g+1])+inc())
	fmt.Println(str+S(), str, S())
	fmt.Println(st.A+inc(), st.Get(inc()), st.A, inc())
	fmt.Println(big[1]+inc(), big[1], inc())
	fmt.Println(fn(swap()))
	x := 1
	f := func() int { x++; return x }
	fmt.Println(x-f(), x*10+f(), f()-x, x+f()*f()+x)
	y, z := x, f()
	fmt.Println(y, z, id(x, f()))
	px := &x
	fmt.Println(*px-f(), *px+x*f())
	x += f()
	fmt.Println(x)
	g += inc()
	st.A += inc()
	s[0] += inc()
	m["a"] += inc()
	fmt.Println(g, st.A, s[0], m["a"])
	fmt.Println(g > 0 && yes(), g == inc(), g+1 == inc(), (g > 3) == yes(), g < inc())
	if g == inc() {
		fmt.Println("eq")
	} else {
		fmt.Println("ne")
	}
	switch g + inc() {
	case 2 * g:
		fmt.Println("2g")
	default:
		fmt.Println("other")
	}
	fmt.Println(three(g, ia, inc()), v(g, inc()), v(g, g > 1, inc()), fmt.Sprint(g)+fmt.Sprint(inc()))
	fmt.Println(rets())
	fmt.Println(named())
	mm := map[int]int{g: inc(), inc(): g}
	fmt.Println(len(mm), mm[g])
	ch := make(chan int, 9)
	ch <- g + inc()
	fmt.Println(<-ch)
	ch <- 1
	ch <- 2
	fmt.Println(g-<-ch-inc(), <-ch+g)
	c := g
	defer func(a, b int) { fmt.Println("deferred", a-c, b-c) }(g, inc())
	done := make(chan bool)
	go func(a, b int) { fmt.Println("go", a-c, b-c); done <- true }(g, inc())
	<-done
	func(a, b int) { fmt.Println("lit", a-c, b-c) }(g, inc())
	r := s[g-g] + inc()*s[0] - s[1]
	fmt.Println(r, -g+inc(), ^g+inc(), float64(g)+float64(inc()), uint8(g)+uint8(inc()))
	pp := p
	q := func() *P { p = &P{100, 200}; return p }
	fmt.Println(p.A+q().A, pp.A)
	fmt.Println(p.B*2+p.Mix()+p.A, p.A<<1+p.Mix())
	fmt.Println(ia.(int)+inc()-g, min(g, 1000)+inc(), [2]int{g, 1}[0]+inc(), string(rune('a'+g%5))+fmt.Sprint(inc()))
	w := [3]int{1, 2, 3}
	wf := func() int { w[0] += 5; return w[0] }
	fmt.Println(w[0]+wf(), w, wf(), w[0])
	k := 0
	kf := func() int { k++; return k % 3 }
	w[k] = kf() + w[k]
	w[kf()] += k + kf()
	fmt.Println(w, k)
}
