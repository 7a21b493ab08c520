// Arrays behind pointers, sliced.
package main

import "fmt"

type A [4]int
type H struct {
	p  *[4]int
	ps [2]*A
	m  map[string]*A
}

func mk() *[4]int      { return &[4]int{1, 2, 3, 4} }
func (a *A) self() *A  { return a }
func (a A) val() A     { return a }
func two() (*A, error) { return &A{5}, nil }

func main() {
	a := (&[4]int{1, 2})[:]
	b := new([4]int)[1:]
	c := []int{1, 2, 3}[:2]
	a[0], b[0], c[0] = 9, 8, 7
	fmt.Println(a, b, c, mk()[1:3], len(mk()), cap(mk()[2:]))
	h := H{p: mk(), ps: [2]*A{{1}, {2}}, m: map[string]*A{"k": {3}}}
	h.p[:][0] = 10
	h.ps[1][1:][0] = 11
	h.m["k"][:2][1] = 12
	(*h.ps[0])[:][3] = 13
	h.ps[0].self()[1:][0] = 14
	var x any = h.ps[0]
	x.(*A)[:][2] = 15
	ch := make(chan *A, 1)
	ch <- h.ps[1]
	(<-ch)[2:][1] = 16
	fmt.Println(*h.p, *h.ps[0], *h.ps[1], *h.m["k"])
	s := []int{1, 2, 3, 4, 5}
	(*[4]int)(s)[1:][0] = 20
	(*A)(s[1:])[3] = 21
	fmt.Println(s, (*A)(s).val()[1], A(s[1:])[3])
	y, _ := two()
	z := y[:]
	z[3] = 22
	fmt.Println(*y, y.val(), (*y)[0], y[3])
	pp := &y
	(*pp)[1]++
	(**pp)[2]--
	(*pp)[:][0]--
	fmt.Println(*y)
	for i, v := range (*pp)[1:] {
		z[i] = v
	}
	for i := range *pp {
		(*pp)[i] *= 2
	}
	for i, v := range *pp {
		y[3-i] = v
	}
	fmt.Println(*y)
	n := [][4]int{{1}, {2}}
	for i := range n {
		p := &n[i]
		p[1:][0] = i
		copy(p[2:], n[1-i][:])
	}
	fmt.Println(n)
	nn := [2]*[2]*[2]int{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}
	nn[1][0][:][1] = 60
	nn[0], nn[1] = nn[1], nn[0]
	nn[0][1], nn[1][0] = nn[1][0], nn[0][1]
	*nn[0][0], *nn[1][1] = *nn[1][1], *nn[0][0]
	for _, r := range nn {
		for _, c := range r {
			fmt.Print(*c, " ")
		}
	}
	fmt.Println(*nn[0] == *nn[0], nn[0][0] == &(*nn[0][0]))
	var i, j = 0, 1
	nn[i][j][i], i = 100, 1
	nn[j-1][i], nn[i] = nn[i][0], nn[0]
	fmt.Println(*nn[0][1], *nn[1][1], nn[0] == nn[1])
	f := func(p *[4]int, s []int) { p[0], s[1] = s[1], p[0] }
	arr := [4]int{1, 2, 3, 4}
	f(&arr, arr[:])
	f((*[4]int)(arr[:]), arr[1:])
	fmt.Println(arr)
	st := &struct{ in struct{ a [2][2]int } }{}
	st.in.a[1][:][0] = 3
	r := &st.in.a[1]
	r[:][1] = 4
	q := &st.in
	q.a[0][1:][0] = 5
	fmt.Println(*st)
}
