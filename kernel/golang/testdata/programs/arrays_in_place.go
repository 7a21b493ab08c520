package main

import "fmt"

// Elements of an array behind an operand that may panic: the element is the array's own, not
// one of a copy.

type T struct {
	Ar [2]int
	S  []int
	P  *T
}
type U struct{ T }

func main() {
	v := T{[2]int{5, 6}, []int{1, 2}, nil}
	v.P = &v
	pw := []int{4}
	ps := []*T{&v}
	var e any = &v
	u := &U{v}
	m := map[string]*T{"a": &v}
	try := func(name string, f func()) {
		defer func() {
			if r := recover(); r != nil {
				fmt.Println(name, "panics:", r)
			}
			fmt.Println(name, v.Ar, u.Ar)
		}()
		f()
	}
	try("1", func() { e.(*T).Ar[pw[0]&1]++ })
	try("2", func() { ps[0].Ar[pw[0]&1]++ })
	try("3", func() { ps[pw[0]&0].Ar[pw[0]&1]++ })
	try("4", func() { ps[0].P.P.Ar[pw[0]&1] += 3 })
	try("5", func() { u.Ar[pw[0]&1] = 9 })
	try("6", func() { any(u).(*U).Ar[pw[0]&1] = 10 })
	try("7", func() { m["a"].Ar[pw[0]&1] = 11 })
	try("8", func() { m["b"].Ar[pw[0]&1] = 11 })
	try("9", func() { e.(*U).Ar[pw[0]&1] = 11 })
	try("10", func() { e.(*U).Ar[pw[7]&1] = 11 })
	try("11", func() { m["b"].Ar[pw[7]&1] = 11 })
	try("12", func() { copy(e.(*T).Ar[pw[0]&1:], []int{42}) })
	try("13", func() { s := any(&v).(*T).Ar[pw[0]&1:]; s[1] = 77 })
	try("14", func() { p := &e.(*T).Ar[pw[0]&1]; *p = 78 })
	try("15", func() { (*e.(*T)).Ar[pw[0]&1] = 79 })
	try("16", func() { x, y := &e.(*T).Ar[pw[0]&1], e.(*T).Ar[pw[0]&1:]; *x = 1; y[1] = 2 })
	try("17", func() { e.(*T).Ar[pw[0]&1], e.(*T).Ar[1-pw[0]&1] = 21, 22 })
	try("18", func() {
		for e.(*T).Ar[pw[0]&1] = range []int{7, 8, 9} {
		}
	})
	try("19", func() { ps[3].Ar[pw[7]] = 1 })
	try("20", func() { ps[0].P.P.P.Ar[pw[7]] = 1 })
}
