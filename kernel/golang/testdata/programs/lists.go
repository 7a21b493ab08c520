// Lists of what fields, elements, methods and pointers give, in literals and as arguments.
package main

import (
	"errors"
	"fmt"
	"sync"
)

type p struct {
	x, y int
	in   *p
	a    [2]int
	f    func(int) int
	l    []p
	m    map[string]p
	e    error
	i    fmt.Stringer
	ch   chan int
}

func (v p) get() int           { return v.x }
func (v *p) ptr() *p           { return v }
func (v p) String() string     { return fmt.Sprint("p", v.x) }
func (v p) pair() (int, error) { return v.x, v.e }
func vals(xs ...p) (n int) {
	for _, x := range xs {
		n += x.x
	}
	return
}
func ptrs(xs ...*p) (n int) {
	for _, x := range xs {
		x.x++
		n += x.x
	}
	return
}
func arrs(xs ...[2]int) int          { xs[0][0] = 99; return len(xs) }
func strs(xs ...fmt.Stringer) string { return fmt.Sprint(xs) }
func errs(xs ...error) string        { return fmt.Sprint(xs) }
func fns(xs ...func(int) int) (n int) {
	for _, f := range xs {
		if f != nil {
			n += f(n)
		}
	}
	return
}
func main() {
	ps := []p{{x: 1}, {x: 2}}
	arr := [2]p{{x: 3}, {x: 4}}
	q := &ps[0]
	q.in = &arr[1]
	q.f = func(n int) int { return n + 5 }
	m := map[string][]p{"a": ps}
	mp := map[string]*p{"a": q}
	func() { ps = append(ps, p{x: 9}); arr[0].a[1] = 1; q.l = ps[:1]; q.m = map[string]p{"k": arr[0]} }()
	q = &ps[0]
	q.l, q.m = ps[:1], map[string]p{"k": arr[0]}
	q.e, q.i, q.ch = errors.New("e"), arr[0], make(chan int, 1)
	q.in = &arr[1]
	fmt.Println(vals(ps[0], arr[1], *q, *q.in, *mp["a"], m["a"][1], q.m["k"], ps[0].m["k"], (*q).l[0]))
	fmt.Println(ptrs(&ps[0], &arr[1], q, q.in, mp["a"], &m["a"][1], ps[0].ptr(), (*q).in.ptr(), ps[0].in, &q.l[0], arr[1].ptr(), (&arr[0]).ptr()))
	fmt.Println(arrs(ps[0].a, arr[0].a, q.a, q.in.a, (*q).a, ps[0].m["k"].a, (*q.in).a), arr[0].a)
	fmt.Println(strs(ps[0], q, arr[1], q.in, ps[0].i, q.i, (*q).i, m["a"][0]))
	fmt.Println(errs(ps[0].e, q.e, (*q).e, q.m["k"].e, func() error { return ps[0].e }()))
	fmt.Println(fns(ps[0].f, q.f, (*q).f, q.m["k"].f, func(n int) int { return ps[0].x }))
	ints := []int{ps[0].x, q.x, (*q).x, q.in.x, arr[1].get(), ps[0].get(), q.m["k"].x, len(ps), ps[0].f(1), (*q).f(2), -ps[0].x, ^q.y, ps[0].x + q.x, <-func() chan int { q.ch <- 4; return q.ch }()}
	fmt.Println(ints)
	fmt.Println([]p{ps[0].l[0], *ps[0].in, *(&arr[1]).ptr()}[1].x, [][2]int{ps[0].a, {1, 2}, q.in.a}, [2][]int{1: ps[0].a[:], 0: q.a[1:]})
	fmt.Println([]*[2]int{&ps[0].a, &q.in.a, &arr[0].a}[2], []*int{&ps[0].x, &q.x}[1] == &ps[0].x, len([]chan int{ps[0].ch, q.ch}), [...]map[string]p{ps[0].m, q.in.m}[1] == nil)
	fmt.Println(map[string]p{"a": ps[0], "b": *q.in}["b"].x, map[p2]int{p2(ps[0].a): 1, {5, 5}: 2}[p2{5, 5}], []any{ps[0].x, q.in.x, ps[0].a, arr[1].get(), q.e})
	s := struct {
		a  [2]int
		p  *p
		e  error
		fs []func(int) int
	}{ps[0].a, &ps[0], ps[0].e, []func(int) int{q.f, ps[0].f}}
	s.a[0] = 1
	fmt.Println(s.a, ps[0].a, s.p == q, s.e, s.fs[1](1))
	strings2 := append([]string{}, ps[0].String(), (*q).String(), q.in.String(), arr[0].i2())
	fmt.Println(strings2)
	all := append(ps[:0:0], ps[0].l[0], *q.in, arr[0])
	all[0].x = -1
	fmt.Println(ps[0].x, len(all), append([]error(nil), ps[0].e, (*q).e))
	b := []bool{ps[0].x == q.x, q.in == &arr[1], ps[0].e != nil && q.in.e == nil, !(ps[0].x > 1)}
	fmt.Println(b, []float64{float64(ps[0].x) / 2, float64(q.in.x)}, []byte{byte(ps[0].x), byte(q.in.a[1])}, []rune{rune(ps[0].x + 60)}, string([]byte{byte(ps[0].x + 60)}))
	for _, x := range []*p{&ps[0], ps[0].in, q.in} {
		x.y += 10
	}
	fmt.Println(ps[0].y, arr[1].y)
	if x := []int{ps[0].x, q.y}; len(x) > 0 && []int{ps[0].y, (*q).x}[0] > 0 && vals(ps[0], *q.in) > 3 {
		fmt.Println("cond")
	}
	var once sync.Once
	once.Do(func() {
		fmt.Println([]int{ps[0].x, q.in.x}, []*p{q.in, ps[0].in, &ps[0]}[2].x, vals(ps[0], *q.in, ps[0].m["k"]))
	})
}
func (v p) i2() string { return v.String() + "!" }

type p2 [2]int
