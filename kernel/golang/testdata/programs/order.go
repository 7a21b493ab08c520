package main

// The order in which what an assignment, an index and a slice have is evaluated.

import "fmt"

type P struct {
	xs [3]int
	sl []int
	p  *P
	m  map[string]int
	a  [2][2]int
}

func (p *P) get(s string) *P     { fmt.Print(s); return p }
func at(s string, n int) int     { fmt.Print(s); return n }
func key(s string) string        { fmt.Print(s); return s }
func arr(s string, p *P) *[3]int { fmt.Print(s); return &p.xs }
func val(s string, p *P) [3]int  { fmt.Print(s); return p.xs }
func sl(s string, p *P) []int    { fmt.Print(s); return p.sl }

func main() {
	p := &P{sl: []int{1, 2, 3}, m: map[string]int{}}
	p.p = p
	r := &p.xs
	n := 0
	do := func(name string, f func()) {
		fmt.Print(name, " ")
		func() {
			defer func() {
				if e := recover(); e != nil {
					fmt.Print(" ", e)
				}
			}()
			f()
		}()
		fmt.Println(p.xs, p.sl, p.m, p.a)
	}
	bad := 5
	do("1", func() { r[at("a", 1)] = at("b", 3) })
	do("2", func() { p.xs[at("a", 1)] = at("b", 3) })
	do("3", func() { p.sl[at("a", 1)] = at("b", 3) })
	do("4", func() { p.m[key("a")] = at("b", 3) })
	do("5", func() { *(&p.get("a").xs[at("b", 0)]) = at("c", 4) })
	do("6", func() { p.get("a").xs[at("b", 0)] = at("c", 4) })
	do("7", func() { p.get("a").p.get("b").sl[at("c", 0)] = at("d", 4) })
	do("8", func() { arr("a", p)[at("b", 0)] = at("c", 4) })
	do("9", func() { sl("a", p)[at("b", 0)] = at("c", 4) })
	do("10", func() { p.get("a").m[key("b")] = at("c", 4) })
	do("11", func() { p.get("a").a[at("b", 0)][at("c", 1)] = at("d", 4) })
	do("12", func() { p.get("a").a[at("b", 0)] = [2]int{at("c", 1), at("d", 4)} })
	do("13", func() { n = p.get("a").a[at("b", 0)][at("c", 1)] + at("d", 1) })
	do("14", func() { n = val("a", p)[at("b", 0)] + sl("c", p)[at("d", 1)] + arr("e", p)[at("f", 1)] })
	do("15", func() { x := p.get("a").xs[at("b", 0):at("c", 1)]; _ = x })
	do("16", func() { x := arr("a", p)[at("b", 0):at("c", 1)]; _ = x })
	do("17", func() { x := sl("a", p)[at("b", 0):at("c", 1)]; _ = x })
	do("18", func() { x := arr("a", p)[bad]; _ = x })
	do("19", func() { x := val("a", p)[bad]; _ = x })
	do("20", func() { x := sl("a", p)[bad]; _ = x })
	do("21", func() { p.get("a").xs[bad] = at("b", 1) })
	do("22", func() { p.get("a").sl[bad] = at("b", 1) })
	do("23", func() { arr("a", p)[bad] += at("b", 1) })
	do("24", func() { x := p.get("a").xs[bad:at("b", 1)]; _ = x })
	do("25", func() { x := "abc"[at("a", 9)]; _ = x })
	do("26", func() { arr("a", p)[at("b", 0)], sl("c", p)[at("d", 1)] = at("e", 9), at("f", 8) })
	do("27", func() { p.get("a").xs, n = val("b", p), at("c", 1) })
	do("29", func() { var q map[string]int; q[key("a")] = at("b", 1) })
	do("30", func() { p.get("a").p.xs = [3]int{at("b", 1), at("c", 2)} })
	do("31", func() { *p.get("a").get("b") = P{sl: sl("c", p), xs: val("d", p), m: p.m} })
	do("32", func() { var f func() int; p.sl[at("a", 0)] = f() })
	do("33", func() {
		for p.xs[at("a", 0)] = at("b", 0); p.xs[0] < at("c", 2); p.xs[at("d", 0)] += at("e", 1) {
			fmt.Print("-")
		}
	})
	do("34", func() {
		for p.sl[at("i", 1)] = range 2 {
			fmt.Print("+")
		}
	})
	do("35", func() {
		for p.get("x").xs[at("i", 1)], p.m[key("k")] = range sl("s", p) {
			fmt.Print("+")
		}
	})
	do("36", func() { c := make(chan int, 2); c <- at("a", 1); p.get("b").xs[at("c", 2)] = <-c })
	do("37", func() {
		p.get("b").xs[at("c", 2)], p.m[key("d")] = func() (int, int) { return at("e", 1), at("f", 2) }()
	})
	do("38", func() { var ok bool; p.get("b").sl[at("c", 2)], ok = p.m[key("d")]; fmt.Print(ok) })
	do("39", func() { var i any = 3; p.get("b").sl[at("c", 2)], _ = i.(int) })
	do("40", func() { p.get("a").xs[at("b", 1)]++; p.get("c").m[key("d")]-- })
	do("41", func() { copy(p.get("a").xs[at("b", 1):], sl("c", p)[at("d", 0):]) })
	do("42", func() { p.get("a").sl = append(p.get("b").sl[:at("c", 1)], at("d", 1), at("e", 2)) })
	fmt.Println()
	fmt.Println(converted("abc"))
	fmt.Println(convertedLater([]int{1, 2}))
	xs, v := []int{1, 2, 3}, make(map[int]int)
	v[append(xs, 4)[3]] = append(xs, 5)[3]
	fmt.Println(v)
	_ = n
}

// A builtin's result that is converted to its own type is a result of its own.
func converted(s string) (string, int) { return s, int(len(fmt.Sprint(s))) }

func convertedLater(xs []int) (any, string, []int) {
	return "x", string(fmt.Sprint(1)), []int(append(xs, int(cap(xs[:2:2]))))
}
