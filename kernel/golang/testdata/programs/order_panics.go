package main

import "fmt"

// Which operand panics first, and what was evaluated before: what Go's compiler does with
// the calls of a statement, and what it leaves for later.

type T struct {
	A  int
	S  []int
	Ar [3]int
	N  *T
}

func (t T) Get(k int) int { return t.A + k }

type getter interface{ Get(int) int }

var (
	trace []string
	g     int
	s     []int
	ss    [][]int
	m     map[string]*T
	t, u  *T
)

func reset() {
	trace, g = nil, 1
	s, ss = []int{1, 2, 3}, [][]int{{5, 6}, {8, 9}}
	t = &T{A: 4, S: []int{1}}
	u = &T{A: 40, S: []int{2}, N: t}
	m = map[string]*T{"a": t, "b": u}
}

// e changes what others read.
func e(k int) int {
	trace = append(trace, fmt.Sprint("e", k))
	g++
	s[0] += 10
	ss[0], ss[1] = ss[1], ss[0]
	m["a"], m["b"] = m["b"], m["a"]
	t.A++
	return k
}

func p(k int) *T { e(k); return t }

func show(name string, f func() any) {
	reset()
	defer func() {
		if r := recover(); r != nil {
			fmt.Println(name, "panics:", r)
		}
		fmt.Println("  ", trace, g, s, ss, t.A, t.S, t.Ar, u.A)
	}()
	fmt.Println(name, f())
}

func list(a ...any) string { return fmt.Sprint(a...) }

func result(x, zero int) (r int) {
	defer func() { g += r }()
	r, s[0] = 7, x/zero
	return
}

func main() {
	zero, minus, ten := 0, -1, 10
	var none *T
	var nothing getter
	var any1 any = 1
	var slice any = []int{1}
	few := []int{1}

	show("len and an element", func() any { return list(len(s)-ss[0][1], e(1)) })
	show("pointer in an interface", func() any { return list(any(m["b"]).(*T).A, e(1)) })
	show("literal in an interface", func() any { return list(any(&T{A: g}).(*T).A, e(1)) })
	show("pointer with an address in an interface", func() any { return list(any(u.N).(*T).A, e(1)) })
	show("slice of a slice", func() any { return list([]int{g, s[e(1):][:ten][0], e(2)}) })
	show("index", func() any { return list(s[ten], e(1)) })
	show("slice", func() any { return list(s[ten:], e(1)) })
	show("division", func() any { return list(g/zero, e(1)) })
	show("division between calls", func() any { return list(e(1), g/zero, e(2)) })
	show("remainder", func() any { a, b := g%zero, e(1); return a + b })
	show("shift", func() any { return list(1<<minus, e(1)) })
	show("nil pointer", func() any { return list(none.A, e(1)) })
	show("address in a nil pointer", func() any { return list(&none.Ar, e(1)) })
	show("method of nil", func() any { return list(none.Get, e(1)) })
	show("method of a nil interface", func() any { return list(nothing.Get, e(1)) })
	show("assertion", func() any { return list(any1.(string), e(1)) })
	show("assertion to a pointer", func() any { var q *T; k := 0; q, k = any1.(*T), e(1); return list(q, k) })
	show("comparison of interfaces", func() any { return list(g, slice == slice, e(1)) })
	show("array of a slice", func() any { return list([2]int(few)[0], e(1)) })
	show("key of a map", func() any { return list(map[any]int{}[slice], e(1)) })
	show("key made by a division", func() any { return list(map[[2]int]int{}[[2]int{g / zero, 1}], e(1)) })
	show("two sides", func() any { return list([2]int{g, 2} == [2]int{e(1), 2}, g) })
	show("place", func() any { *p(1) = T{A: s[0], S: s, Ar: [3]int{2: ss[0][1]}}; return t.Ar })
	show("place and a division", func() any { s[ten] = g / zero; return 0 })
	show("place and a call", func() any { s[ten] += e(1) / zero; return 0 })
	show("set before a panic that defers see", func() any { return result(ten, zero) })
	show("set before the panic of a call", func() any { g, s[0] = 7, ten/(e(1)-1); return 0 })
	show("set before the panic of local variables", func() any { x, y, z := ten, 0, zero; g, y = 7, x/z; return y })
	show("set before it in a literal that is called", func() any { x, y, z := ten, 0, zero; func() { g, y = 7, x/z }(); return y })
	show("not set before a panic", func() any { g, s[0] = 7, g/zero; return 0 })
	show("deferred", func() any { defer nothing.Get(e(1)); return 0 })
	show("element and slice", func() any { return list(s[ten], s[ten+1:]) })
	show("division and element", func() any { return list(g/zero, s[ten]) })
	show("element and assertion", func() any { return list(s[ten], any1.(string)) })
	show("return", func() any { a, b := func() (int, int) { return g / zero, e(1) }(); return a + b })
}
