// What shares memory and what is a copy.
package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"net/http"
	"os"
	"time"
)

type packet struct {
	n   int
	buf [4]byte
}

func (p *packet) fill(b ...byte) int { return copy(p.buf[:], b) }
func (p packet) filled(b ...byte) packet {
	copy(p.buf[1:], b)
	return p
}

type outer struct {
	packet
	more *packet
	grid [2][3]int
	all  [2]packet
}

type node struct { // contains itself
	next  *node
	kids  [2]*node
	value [3]int
}

type ring struct {
	at   int
	data [4]string
}

func next(n *int) int { *n++; return *n }

var global outer
var table [2][2]int

func sliceOfArrayField() {
	var p packet
	copy(p.buf[:], []byte{5})
	q := &p
	copy(q.buf[1:], []byte{6})
	s := p.buf[2:3:4]
	s = append(s, 8)
	s[0] = 7
	fmt.Println("field", p, s, len(s), cap(s))
	p.fill(1, 2)
	fmt.Println("method", p, p.filled(9, 9), p)

	var o outer
	o.fill(3)
	o.more = &packet{}
	o.more.fill(4)
	copy(o.buf[2:], "hi")
	copy(o.packet.buf[1:], "!")
	copy(o.more.buf[2:], []byte{1})
	copy(o.grid[1][:], []int{1, 2, 3})
	copy(o.grid[0][1:], o.grid[1][:])
	o.all[1].fill(2, 2)
	copy(o.all[0].buf[:], o.all[1].buf[1:])
	fmt.Println("outer", o.packet, *o.more, o.grid, o.all)

	copy(global.grid[1][1:], []int{4, 5})
	global.all[1].fill(6)
	copy(table[1][:], []int{1, 2})
	row := table[0][:]
	row[1] = 3
	fmt.Println("global", global.grid, global.all, table)

	n := &node{next: &node{}}
	copy(n.value[:], []int{1})
	copy(n.next.value[1:], []int{2})
	n.kids[1] = n.next
	copy(n.kids[1].value[:], n.value[:])
	k := n.kids[:]
	k[0] = n
	fmt.Println("node", n.value, n.next.value, n.kids[0] == n)

	list := []packet{{}, {}}
	copy(list[1].buf[:], []byte{1, 2, 3})
	for i := range list {
		copy(list[i].buf[2:], []byte{byte(i + 1)})
	}
	m := map[string]*packet{"a": {}}
	copy(m["a"].buf[:], []byte{7})
	fmt.Println("elements", list, *m["a"])
}

func captured() {
	var v [4]int
	var p packet
	var g [2][2]int
	func() {
		copy(v[:], []int{3})
		copy(p.buf[1:], []byte{4})
		copy(g[1][:], []int{5, 6})
		i := 0
		v[next(&i)] = 8
		g[next(&i)-1][next(&i)-2] += 9
	}()
	fmt.Println("captured", v, p, g)
	sum := 0
	add := func(x *[4]int) {
		for i, n := range x {
			sum += n
			x[i] = sum
		}
	}
	add(&v)
	fmt.Println("summed", v, sum)
}

func computedIndex() {
	i := 0
	var o outer
	o.grid[next(&i)][next(&i)] = 5
	o.grid[next(&i)-3][next(&i)-3]++
	o.all[next(&i)-4].buf[next(&i)-4] = 7
	o.buf[next(&i)-5] |= 3
	p := &o
	p.grid[next(&i)-7][0], p.all[next(&i)-9].n = 1, 2
	copy(p.all[next(&i)-9].buf[next(&i)-9:], []byte{1, 2})
	fmt.Println("computed", o.packet, o.grid, o.all, i)
	which := []int{1, 0}
	for k := range which {
		o.grid[which[k]][which[k]] = 10 + k
		o.all[which[k]].buf[which[k]] = byte(k)
		copy(o.all[which[k]].buf[which[k]+1:], []byte{20})
	}
	fmt.Println(o.grid, o.all)
	q, r := &packet{}, &packet{}
	q, q.buf[0], q.n = r, 1, 2
	fmt.Println(*q, *r)
	a, b := &[2]int{}, &[2]int{}
	first := a
	a, (*a)[0], a[1] = b, 3, 4
	fmt.Println(*first, *a)
	k := 0
	k, o.grid[k][0], o.all[k].n, o.all[k].buf[k] = 1, 50, 51, 52
	fmt.Println(o.grid, o.all, k)
	some := []packet{{}, {}}
	old := some
	some, some[k].n, some[k].buf[k], k = nil, 60, 61, 0
	fmt.Println(old, some, k)
	for k, old[k].n = range []int{7, 8} {
	}
	for k, o.grid[k][k] = range []int{9, 10} {
	}
	fmt.Println(old, o.grid)
}

func compiled() {
	var sum [32]byte = sha256.Sum256([]byte("x"))
	s := sum[:2]
	s[0] = 0
	fmt.Println("host", sum[0], len(sum[4:]))
	r := []image.Rectangle{image.Rect(0, 0, 1, 1)}
	r[0].Min.X = -4
	q := &r[0].Max
	q.Y = 9
	fmt.Println(r, *q)
	fmt.Println([]string{r[0].Size().String(), image.Pt(1, 2).Add(r[0].Min).String()})
}

// open and timed are of the shape that the interpreter could not compile.
func open(n int) (sum int) {
	files := []*os.File{}
	for range n {
		f, err := os.CreateTemp("", "x")
		if err != nil {
			panic(err)
		}
		defer os.Remove(f.Name())
		files = append(files, f)
	}
	timed(func() error {
		for k := 0; k < n; k++ {
			files[k].Write([]byte{byte(k)})
		}
		return nil
	})
	for k := range n {
		sum += len(fmt.Sprint(errors.Join(files[k].Close(), (*&files)[k].Close()) != nil))
	}
	return
}

func timed(f func() error) error { return f() }

func valuesOfLists() {
	one := &ring{data: [4]string{"a", "b"}}
	times := []time.Time{{}, time.Unix(60, 0).UTC()}
	errs := []error{nil}
	request := &http.Request{Header: http.Header{"A": {"b", "c"}}, TransferEncoding: []string{"de", "f"}}
	f := func() {
		one, times, errs, request = &ring{}, times[:2], append(errs, errors.New("no")), request.Clone(request.Context())
	}
	fmt.Println(open(2))
	fmt.Println([]string{times[1].Format("05"), one.data[1], (*one).data[0]}, append([]string{}, one.data[1][:1], times[1].Month().String(), (*one).data[0]))
	fmt.Println([]time.Time{times[1].Add(1), times[1]}, []time.Duration{times[1].Sub(times[0]) * 0, 1 * time.Second})
	fmt.Println([]string{request.TransferEncoding[0], request.TransferEncoding[0][1:], request.Header["A"][1]}, [][]string{request.Header["A"][1:], request.TransferEncoding[:1]})
	fmt.Println([]image.Rectangle{image.Rect(0, 0, 4, 4).Inset(1).Add(image.Pt(1, 1))}, [2]image.Point{image.Rect(0, 0, 4, 4).Max})
	f()
	fmt.Println(errors.Join(errs[1], errs[0]), []error{errs[1]}, []ring{*one, (*one)}, [][4]string{one.data, (*one).data})
}

type shape struct {
	name string
	at   [2]int
	tags []string
}

func (s shape) who() string       { return s.name }
func (s *shape) rename(to string) { s.name = to }
func (s shape) moved(x int) shape { s.at[0] = x; return s }

func structs() {
	a := shape{"a", [2]int{1, 2}, []string{"x"}}
	b := a
	b.name, b.at[0], b.tags[0] = "b", 9, "shared"
	fmt.Println(a, b, a.at == b.at, a.moved(7), a)
	list := [2]shape{a, b}
	other := list
	other[0].name = "o"
	for i, s := range list {
		s.name += "!"
		list[1-i].at[1] += 10
		fmt.Println(s)
	}
	for i := range list {
		list[i].at[1] += 10
	}
	for i, s := range &list {
		list[1-i].name += "?"
		fmt.Println(s.name)
	}
	fmt.Println(list, other)
	m := map[string]shape{"a": a}
	c := m["a"]
	c.at[0] = 100
	fmt.Println(m["a"].at, c.at, m["a"].at[1], len(m["none"].at))
	m["a"] = c
	a.at[0] = 5
	fmt.Println(m["a"].at, a.at)
	am := map[[2]int]string{{1, 2}: "x"}
	am[a.at] = "y"
	a.at[0]++
	fmt.Println(am[[2]int{5, 2}], am[a.at] == "", len(am))
	p := &list[0]
	q := p
	q.rename("q")
	r := *p
	r.rename("r")
	(*p).at[1] = -1
	fmt.Println(list[0], r, p == &list[0])
	ps := []*shape{&list[0], &list[1], &a}
	for _, s := range ps {
		s.rename(s.name + "+")
	}
	fmt.Println(list[0].name, list[1].name, a.name)
	x, y := list[0], list[1]
	x, y = y, x
	list[0], list[1] = list[1], list[0]
	fmt.Println(x.name, y.name, list[0].name, list[1].name)
	anon := struct {
		in struct{ v [2]int }
		p  *[2]int
	}{}
	anon.p = &anon.in.v
	anon.p[1] = 4
	copied := anon
	copied.in.v[0] = 3
	copied.p[0] = 8
	fmt.Println(anon.in, copied.in)
}

func arrays() {
	a := [3]int{1, 2, 3}
	b := a
	b[0] = 9
	p := &a
	c := *p
	p[1] = 7
	fmt.Println(a, b, c, a == [3]int{1, 7, 3}, a != b)
	for i, v := range a {
		a[2] = 100 * i
		fmt.Print(v, " ")
	}
	for i, v := range a[:] {
		a[2] = 200 + i
		fmt.Print(v, " ")
	}
	for i, v := range p {
		p[2] = 300 + i
		fmt.Print(v, " ")
	}
	for i := range p {
		fmt.Print(i, len(p), " ")
	}
	fmt.Println(len(p), cap(p[:2]))
	change := func(x [3]int) [3]int { x[0] = -1; return x }
	d := change(a)
	fmt.Println(a, d, change(change(d))[0], change(a)[2])
	g := [2][3]int{a, d}
	h := g
	g[1][1] = 50
	row := g[1]
	row[0] = 60
	pr := &g[1]
	pr[2] = 70
	fmt.Println(g, h, row, g[1] == *pr, g == h)
	var any1, any2 any = a, a
	a[0] = 5
	fmt.Println(any1 == any2, any1, any1 == any(a), any1.([3]int)[0])
	boxed := any(g)
	g[0][0] = 1000
	fmt.Println(boxed.([2][3]int)[0][0])
	ch := make(chan [3]int, 2)
	ch <- a
	a[0] = 6
	ch <- a
	fmt.Println(<-ch, <-ch)
	list := [][3]int{a}
	list = append(list, a, [3]int{})
	a[0] = 8
	list[0][1] = 11
	for i := range list {
		copy(list[i][i:], []int{-1})
	}
	fmt.Println(list, a)
	m := map[string][3]int{"a": a}
	a[0] = 12
	v := m["a"]
	v[1] = 13
	fmt.Println(m, v, m["a"][0])
	mp := map[string]*[3]int{"a": &a}
	mp["a"][2] = 14
	fmt.Println(a)
	e := [...]string{2: "c", 0: "a"}
	f := [...]struct{ k, v int }{{1, 2}, {k: 3}}
	for _, x := range f {
		x.v = 9
	}
	f[1].v++
	fmt.Println(len(e), e, f)
	var z [0]int
	fmt.Println(z == [0]int{}, len(z[:]))
	a[0], a[1], a[2] = a[2], a[0], a[1]
	fmt.Println(a)
	i := 0
	i, a[i] = 2, 99
	fmt.Println(i, a)
	a = [3]int{a[2], a[1], a[0]}
	fmt.Println(a)
	g[0], g[1] = g[1], g[0]
	fmt.Println(g)
	g[0] = change(g[0])
	*pr = [3]int{1}
	fmt.Println(g)
}

func slices() {
	s := make([]int, 3, 5)
	t := s[:4]
	s2 := append(s, 1)
	s3 := append(s, 2)
	fmt.Println(s2[3], s3[3], t[3], len(s), cap(s[1:]), cap(s[1:2:3]))
	u := append(s[:1:1], 7)
	fmt.Println(s, u)
	p := &s[1]
	s = append(s, 1, 2, 3)
	*p = 5
	fmt.Println(s[1], t[1])
	b := []byte("abcdef")
	copy(b[2:], b)
	fmt.Println(string(b))
	copy(b, b[1:])
	fmt.Println(string(b))
	fmt.Println(copy(b[:2], "xyz"), string(b[:]))
	b = append(b[:1], b[2:]...)
	fmt.Println(string(b), string(b[:6]))
	arr := [4]int(append([]int{1, 2, 3}, 4))
	arr[0] = 9
	src := []int{1, 2, 3, 4}
	pa := (*[2]int)(src[1:])
	pa[0] = 20
	ca := [2]int(src)
	ca[0] = 30
	fmt.Println(arr, src, *pa, ca, (*[0]int)(nil) == nil, pa[:][1])
	copy(pa[1:], []int{40})
	fmt.Println(src, *pa)
	two := [][]int{src, src[:2]}
	two[0][0] = 50
	two[1] = append(two[1], 60)
	fmt.Println(src, two)
	for i, v := range src {
		src = append(src, v)
		if i == 0 {
			src[1] = 0
		}
	}
	fmt.Println(src)
	var nothing []int
	fmt.Println(nothing[:] == nil, nothing[0:0:0] == nil, append(nothing, nothing...) == nil, [0]int(nothing))
	structs := []shape{{name: "a"}, {name: "b"}}
	first := &structs[0]
	structs = append(structs, shape{name: "c"})
	first.name = "old"
	fmt.Println(structs[0].name, first.name)
	structs[1].at[1], structs[2].tags = 4, append(structs[2].tags, "t")
	rest := structs[1:]
	rest[0].rename("B")
	fmt.Println(structs[1:], cap(structs[:1:2]))
	clear(rest)
	fmt.Println(structs)
	text := "hello"
	bs := []byte(text)
	bs[0] = 'j'
	fmt.Println(text, string(bs), text[1:3])
}

func functions() {
	s := shape{name: "v", at: [2]int{1, 1}}
	who, rename := s.who, s.rename
	s.name = "w"
	fmt.Println(who(), s.who())
	rename("x")
	fmt.Println(who(), s.name, shape.who(s), (*shape).who(&s))
	(*shape).rename(&s, "y")
	p := &s
	pw := p.who
	p.name = "z"
	fmt.Println(pw(), s.name)
	func() {
		at, i := s.at, 1
		defer fmt.Println("deferred", at, s, i)
		defer func(a [2]int) { fmt.Println("given", a, at, s.at, i) }(at)
		defer s.rename("late")
		defer fmt.Println(s.moved(3))
		at[0], s.at[1], i = 5, 6, 2
		s.name = "soon"
	}()
	fmt.Println(s)
	var fs []func() int
	for i := 0; i < 3; i++ {
		fs = append(fs, func() int { i += 10; return i })
	}
	for i, v := range [3]int{4, 5, 6} {
		fs = append(fs, func() int { v += i; return v })
	}
	for _, f := range fs {
		fmt.Print(f(), f(), " ")
	}
	fmt.Println()
	var ps []*int
	for i := range 3 {
		ps = append(ps, &i)
		i *= 2
	}
	var qs []*[2]int
	for _, a := range [][2]int{{1}, {2}} {
		a[1] = 3
		qs = append(qs, &a)
	}
	fmt.Println(*ps[0], *ps[1], *ps[2], *qs[0], *qs[1])
	fmt.Println(named(), *pointed(1), *pointed(2), several())
	a := [3]int{1, 2, 3}
	variadic := func(x ...int) { x[0] = 10 }
	variadic(a[:]...)
	variadic(a[0], a[1])
	fmt.Println(a)
	arrayOf := func(x ...[2]int) { x[0][0] = 10 }
	pair := [2]int{1, 2}
	arrayOf(pair)
	pairs := [][2]int{pair}
	arrayOf(pairs...)
	fmt.Println(pair, pairs)
	if x := s; x.name != "" {
		x.at[0] = 77
		s.at[1] = 88
		fmt.Println(x.at, s.at)
	}
	switch x := any(s).(type) {
	case shape:
		x.at[0] = 66
		fmt.Println(x.at, s.at)
	}
	var i interface{ who() string } = s
	s.name = "changed"
	fmt.Println(i.who())
	var j interface{ rename(string) } = &s
	j.rename("by pointer")
	fmt.Println(s.name, i.(shape).name)
	k := i.(shape)
	k.at[0] = 1
	fmt.Println(i.(shape).at, k.at)
}

func named() (a [2]int) {
	p := &a
	defer func() { a[1]++; p[0] = 5; copy(a[1:], []int{a[1] * 2}) }()
	return [2]int{1, 2}
}

func pointed(n int) *[2]int {
	a := [2]int{n}
	s := a[:]
	s[1] = n
	return &a
}

func several() string {
	f := func() ([2]int, shape) { return table[1], shape{at: table[1]} }
	a, s := f()
	a[0], s.at[0] = 100, 200
	var b [2]int
	b, s = f()
	b[1] = 300
	return fmt.Sprint(a, b, s.at, table[1])
}

type base struct{ id [2]int }

func (b *base) set(i, v int)  { b.id[i] = v }
func (b base) get(i int) int  { return b.id[i] }
func (b *base) all() []int    { return b.id[:] }
func (b *base) ptr() *[2]int  { return &b.id }
func (b *base) self() *base   { return b }
func (b base) changed() *base { b.id[0] = -1; return &b }

type byValue struct{ base }
type byPointer struct{ *base }
type deep struct {
	byValue
	p *byPointer
}

func embedded() {
	v := byValue{}
	p := byPointer{&v.base}
	v.set(0, 1)
	p.set(1, 2)
	v.all()[0] = 3
	p.ptr()[1]++
	w, q := v, p
	w.set(0, 100)
	q.set(0, 200)
	fmt.Println(v, w, *p.base, v.get(0), q.get(0), v.changed().id, v)
	d := deep{v, &p}
	d.set(0, 5)
	d.p.set(1, 6)
	d.p.id[0]++
	copy(d.id[1:], []int{8})
	copy(d.p.id[1:], []int{9})
	d.byValue.self().self().id[0] += 10
	e := d
	e.id[0] = 0
	*e.p.base = base{[2]int{7, 7}}
	fmt.Println(d.byValue, *d.p.base, e.byValue, v)
	get := v.get
	set := v.set
	set(0, 70)
	fmt.Println(get(0), v.get(0))
	bases := []base{{}, {}}
	for i := range bases {
		bases[i].set(i, i+1)
		bases[i].all()[1-i] = -1
	}
	for _, b := range bases {
		b.set(0, 1000)
	}
	fmt.Println(bases)
	m := map[int]*base{1: {}}
	m[1].set(0, 4)
	m[1].id[1]++
	fmt.Println(*m[1])
	var i interface{ set(int, int) } = &d
	i.set(0, 42)
	fmt.Println(d.id)
}

type vec [3]float64

func (v *vec) scale(k float64) {
	for i := range v {
		v[i] *= k
	}
}
func (v vec) plus(w vec) vec {
	for i := range v {
		v[i] += w[i]
	}
	return v
}
func (v *vec) slice() []float64 { return v[:] }

type matrix [2]vec

func (m *matrix) row(i int) *vec { return &m[i] }

type stack[T any] struct {
	n    int
	data [4]T
}

func (s *stack[T]) push(x T)  { s.data[s.n] = x; s.n++ }
func (s *stack[T]) live() []T { return s.data[:s.n] }
func fill[A ~[]T, T any](a A, x T) {
	for i := range a {
		a[i] = x
	}
}

func namedArrays() {
	v := vec{1, 2, 3}
	v.scale(2)
	w := v.plus(v)
	v.slice()[0] = -1
	fmt.Println(v, w, v == vec{-1, 4, 6})
	m := matrix{v, w}
	m.row(0).scale(10)
	m[1].scale(0.5)
	copy(m[1][1:], m[0][:])
	n := m
	n.row(1).slice()[2] = 0
	fmt.Println(m, n)
	var s stack[string]
	s.push("a")
	s.push("b")
	s.live()[0] = "c"
	t := s
	t.push("d")
	fill(s.data[2:], "z")
	fmt.Println(s, t.live())
	var vs stack[vec]
	vs.push(v)
	v[0] = 0
	vs.live()[0].scale(2)
	fmt.Println(vs.live(), v)
	type local struct{ v vec }
	ls := map[string]local{"a": {v}}
	l := ls["a"]
	l.v.scale(3)
	fmt.Println(ls, l)
}

func main() {
	sliceOfArrayField()
	captured()
	computedIndex()
	compiled()
	valuesOfLists()
	structs()
	arrays()
	slices()
	functions()
	embedded()
	namedArrays()
}
