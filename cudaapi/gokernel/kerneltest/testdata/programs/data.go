package programs

func ArrayValues(out []int64, f []float64) {
	a := [4]int64{1, 2, 3, 4}
	b := a
	b[0] = 50
	changed := changeArray(a)
	out[0], out[1], out[2] = a[0], b[0], changed[0]
	changeArrayAt(&a)
	out[3] = a[0]
	a, b = b, a
	out[4], out[5] = a[0], b[0]
	c := [2][4]int64{a, b}
	a[0] = 1000
	out[6], out[7] = c[0][0], c[1][0]
}

func changeArray(a [4]int64) [4]int64 { a[0] = 99; return a }
func changeArrayAt(a *[4]int64)       { a[0] = 77; a[len(a)-1]++ }

func ArrayLiterals(out []int64, f []float64) {
	a := [...]int64{5: 1, 2, 1: 7}
	out[0] = int64(len(a))
	for i, v := range a {
		out[1+i] = v
	}
	const k = 2
	b := [5]float64{k: 1.5, k + 2: 2.5}
	copy(f, b[:])
	c := [...][2]int8{{1, 2}, {3}, 4: {1: 9}}
	out[10], out[11], out[12] = int64(len(c)), int64(c[1][0]), int64(c[4][1])
	d := [3]struct{ X, Y int64 }{{1, 2}, 2: {Y: 5}}
	out[13], out[14] = d[0].Y, d[2].Y
	e := [...]*int64{&out[20], &out[21]}
	*e[1] = 8
	out[22] = int64([3]int64{7, 8, 9}[out[21]-7])
	var empty [0]int64
	out[23] = int64(len(empty))
}

func ArrayDeep(out []int64, f []float64) {
	var a [2][3][4]int16
	for i := range a {
		for j := range a[i] {
			for k := range a[i][j] {
				a[i][j][k] = int16(i*100 + j*10 + k)
			}
		}
	}
	plane := a[1]
	line := &a[0][2]
	line[3] = 1000
	plane[0][0] = -1
	out[0], out[1], out[2] = int64(a[0][2][3]), int64(plane[2][1]), int64(a[1][0][0])
	if a[1] != plane && a[0][0] == [4]int16{0, 1, 2, 3} {
		out[3] = 1
	}
	s := a[1][1:]
	out[4] = int64(s[1][2])
	t := s[0][2:]
	t[0] = 5
	out[5] = int64(a[1][1][2])
}

func ArrayCompare(out []int64, f []float64) {
	type item struct {
		n  int8
		xs [2]float64
	}
	a := [2]item{{1, [2]float64{1, 2}}, {2, [2]float64{3, 4}}}
	b := a
	if a == b {
		out[0] = 1
	}
	b[1].xs[1] = 5
	if a != b {
		out[1] = 1
	}
	zero := float64(out[63]) // of a NaN that it folds itself, nvcc 13.0 says that a copy is equal
	a[0].xs[0] = zero / zero
	b = a
	if a == b {
		out[2] = 1
	}
	c, d := [2]bool{true, false}, [2]bool{true, true}
	if c != d {
		out[3] = 1
	}
	p, q := [1]*int64{&out[0]}, [1]*int64{&out[1]}
	if p != q && p == [1]*int64{&out[0]} {
		out[4] = 1
	}
}

func SliceWindows(out []int64, f []float64) {
	for i := range out {
		out[i] = int64(i)
	}
	s := out[10:20]
	t := s[2:5]
	u := t[:8]
	v := s[:3:5]
	out[40], out[41], out[42], out[43] = int64(len(t)), int64(cap(t)), u[7], int64(cap(v))
	w := out[60:]
	x := out[64:]
	y := w[4:4]
	out[44], out[45], out[46] = int64(len(w)), int64(len(x)), int64(len(y))
	z := out[:0]
	z = z[:2]
	z[1] = 111
	for len(s) > 3 {
		s = s[1 : len(s)-1]
	}
	out[47], out[48] = s[0], int64(len(s))
}

func SliceCopies(out []int64, f []float64) {
	for i := range 20 {
		out[i] = int64(i)
	}
	n := copy(out[3:10], out[:10])
	m := copy(out[10:13], out[12:20])
	k := copy(out[:2], []int64{50})
	out[30], out[31], out[32] = int64(n), int64(m), int64(k)
	var a [4]int64
	copy(a[1:], out[3:5])
	copy(out[40:], a[:])
	copy(f, []float64{1, 2, 3})
	copy(f[1:], f)
}

func SliceOfStructs(out []int64, f []float64) {
	type body struct {
		at, speed [2]float64
		id        int32
		alive     bool
	}
	bodies := []body{{id: 3, alive: true}, {speed: [2]float64{1, 2}, id: 4}, {}}
	for i := range bodies {
		b := &bodies[i]
		for j := range b.at {
			b.at[j] += b.speed[j] * 3
		}
		if !b.alive {
			b.id *= 10
		}
	}
	for i, b := range bodies {
		out[i] = int64(b.id)
		f[i] = b.at[1]
		b.id = 0
	}
	bodies[0], bodies[1] = bodies[1], bodies[0]
	out[10], out[11] = int64(bodies[0].id), int64(bodies[1].id)
	rest := bodies[1:]
	rest[0].at = rest[1].at
	rest[1] = bodies[0]
	f[10] = bodies[2].at[0]
}

func SliceOfSlices(out []int64, f []float64) {
	rows := [][]int64{{1, 2, 3}, {4}, nil, {5, 6}}
	for i, r := range rows {
		out[i] = int64(len(r))
		for _, x := range r {
			out[10] += x
		}
	}
	rows[0][1] = 20
	rows[1] = rows[0][1:]
	rows[1][0]++
	out[11], out[12] = rows[0][1], int64(len(rows[1]))
	parts := [2][]int64{out[20:24], out[24:26]}
	for i := range parts {
		for j := range parts[i] {
			parts[i][j] = int64(i*10 + j)
		}
	}
	type span struct {
		name  int8
		items []int64
	}
	spans := []span{{1, out[30:32]}, {2, out[32:35]}}
	for _, s := range spans {
		for i := range s.items {
			s.items[i] = int64(s.name)
		}
	}
}

func SliceNil(out []int64, f []float64) {
	var s []int64
	if s == nil {
		out[0] = 1
	}
	s = out[5:5]
	if s != nil && len(s) == 0 {
		out[1] = 1
	}
	s = nil
	for range s {
		out[2]++
	}
	t := s[:]
	u := s[0:0]
	if t == nil && len(u) == 0 {
		out[3] = int64(len(t)) + 2
	}
	type holder struct{ s []float64 }
	var h holder
	if h.s == nil {
		h.s = f
	}
	h.s[0] = 5
}

func SliceArrays(out []int64, f []float64) {
	s := []int64{1, 2, 3, 4, 5}
	a := [3]int64(s)
	p := (*[2]int64)(s[1:])
	s[0], s[1] = 10, 20
	out[0], out[1] = a[0], p[0]
	p[1] = 30
	out[2] = s[2]
	b := *p
	p[0] = 0
	out[3] = b[0]
	blocks := [][2]int64{{1, 2}, {3, 4}}
	q := &blocks[1]
	q[0] = 9
	out[4] = blocks[1][0] + int64(len(q))
}

type inner struct {
	a int8
	b float64
	c [3]int16
}

type middle struct {
	x  bool
	in inner
	y  uint8
}

type outermost struct {
	m    [2]middle
	last int32
}

func StructNested(out []int64, f []float64) {
	var o outermost
	o.m[1].in.c[2] = 7
	o.m[0] = middle{true, inner{1, 2.5, [3]int16{1, 2, 3}}, 200}
	p := &o.m[0].in
	p.b *= 2
	p.c[0] += 10
	q := o
	q.m[0].in.a = 5
	o.last = -1
	out[0], out[1], out[2], out[3] = int64(o.m[1].in.c[2]), int64(o.m[0].y), int64(o.m[0].in.a), int64(q.m[0].in.a)
	out[4], out[5] = int64(o.m[0].in.c[0]), int64(q.last)
	f[0] = q.m[0].in.b
	o.m[0], o.m[1] = o.m[1], o.m[0]
	out[6] = int64(o.m[0].in.c[2])
	if o.m[1].x && !o.m[0].x {
		out[7] = 1
	}
	o = outermost{last: 4}
	out[8] = int64(o.last) + int64(o.m[1].y)
}

func StructSelf(out []int64, f []float64) {
	type pt struct{ X, Y int64 }
	p := pt{1, 2}
	p = pt{p.Y, p.X}
	out[0], out[1] = p.X, p.Y
	p.X, p.Y = p.Y+10, p.X+20
	out[2], out[3] = p.X, p.Y
	a := [2]pt{{1, 2}, {3, 4}}
	a = [2]pt{a[1], a[0]}
	out[4], out[5] = a[0].X, a[1].Y
	a[0], a[1].X = a[1], a[0].Y
	out[6], out[7] = a[0].Y, a[1].X
	i := 0
	i, a[i].X = 1, 50
	out[8] = a[0].X + int64(i)
	x := [3]int64{1, 2, 3}
	j := 1
	x[j], j = x[j+1], 2
	x[0], x[1], x[2] = x[2], x[0], x[1]
	out[9], out[10], out[11], out[12] = x[0], x[1], x[2], int64(j)
}

func StructCompare(out []int64, f []float64) {
	type key struct {
		a int8
		_ int16
		b int64
		c [2]bool
		d *int64
	}
	x := key{1, 0, 2, [2]bool{true}, &out[0]}
	y := x
	if x == y {
		out[0] = 1
	}
	y.c[1] = true
	if x != y {
		out[1] = 1
	}
	y = x
	y.d = nil
	if x == y {
		out[2] = 1
	}
	var z, w struct{}
	if z == w {
		out[3] = 1
	}
	if (struct{ a, b int8 }{1, 2}) == (struct{ a, b int8 }{1, 2}) {
		out[4] = 1
	}
}

func StructEmpty(out []int64, f []float64) {
	type nothing struct{}
	type tagged struct {
		n int64
		_ nothing
	}
	t := tagged{n: 5}
	list := [3]nothing{}
	for range list {
		out[0]++
	}
	out[1] = t.n
	u := []tagged{{n: 1}, {n: 2}}
	out[2] = u[1].n
	type first struct {
		a nothing
		n int64
		b [0]float64
		m int8
		c [3]nothing
	}
	v := [2]first{{n: 6, m: 7}, {nothing{}, 8, [0]float64{}, 9, [3]nothing{}}}
	w := &v[1].c
	w[2] = nothing{}
	v[0].a, v[0].b = v[1].a, [0]float64{}
	out[3], out[4], out[5], out[6] = v[0].n, int64(v[0].m), v[1].n, int64(v[1].m)
	if v[0] != v[1] && v[0].c == v[1].c {
		out[7] = int64(len(v[0].b) + len(w))
	}
}

func StructSmall(out []int64, f []float64) {
	type packed struct {
		a bool
		b int8
		c uint16
		d int8
		e int32
		f uint8
		g float32
		h bool
	}
	list := []packed{{true, -1, 65535, 2, -70000, 255, 1.5, true}, {}}
	list[1] = list[0]
	p := &list[1]
	p.b--
	p.c++
	p.f += 2
	p.h = !p.h && p.a
	out[0], out[1], out[2], out[3], out[4] = int64(p.b), int64(p.c), int64(p.f), int64(p.e), int64(p.d)
	if !p.h && list[0].h {
		out[5] = 1
	}
	f[0] = float64(p.g)
}

func StructAnonymous(out []int64, f []float64) {
	p := struct {
		name int8
		at   struct{ X, Y float64 }
	}{name: 3}
	p.at.X = 2
	q := p
	q.at.Y = 5
	f[0], f[1] = q.at.X, p.at.Y
	type named struct{ X, Y float64 }
	n := named(q.at)
	f[2] = n.Y
	list := []struct{ k, v int64 }{{1, 10}, {2, 20}}
	for _, e := range list {
		out[e.k] = e.v
	}
}

func PointerChains(out []int64, f []float64) {
	x, y := int64(1), int64(2)
	p, q := &x, &y
	pp := &p
	*pp = q
	**pp = 20
	out[0], out[1] = x, y
	*p, x = x, *p
	out[2], out[3] = x, y
	type node struct {
		v    int64
		next *node
	}
	var c node
	a := node{1, &node{2, &c}}
	c.v = 3
	n := 0
	for at := &a; at != nil; at = at.next {
		out[10+n] = at.v
		at.v *= 10
		n++
	}
	out[4] = a.next.next.v
	if a.next.next == &c {
		out[5] = 1
	}
	ptrs := [3]*int64{&out[20], &out[21], &out[20]}
	for i, p := range ptrs {
		*p += int64(i + 1)
	}
	if ptrs[0] == ptrs[2] && ptrs[0] != ptrs[1] {
		out[6] = 1
	}
}

func PointerParts(out []int64, f []float64) {
	type item struct {
		a, b int32
		c    [4]int8
	}
	it := item{1, 2, [4]int8{3, 4, 5, 6}}
	pb := &it.b
	*pb = 50
	pc := &it.c[2]
	*pc--
	arr := &it.c
	arr[0] = 9
	s := arr[1:3]
	s[0] = 8
	out[0], out[1], out[2], out[3] = int64(it.b), int64(it.c[2]), int64(it.c[0]), int64(it.c[1])
	bump(&it.a, 4)
	out[4] = int64(it.a)
	list := []item{it, it}
	for i := range list {
		bump(&list[i].b, int32(i))
	}
	out[5] = int64(list[0].b + list[1].b)
	e := &out[30]
	*e = 4
	*e += *e
}

func bump(p *int32, by int32) { *p += by }

func NewValues(out []int64, f []float64) {
	p := new(int64)
	*p = 5
	q := new([3]int64)
	q[1] = *p
	type pt struct{ X, Y float64 }
	r := new(pt)
	r.X = 2
	s := &pt{Y: 3}
	out[0] = q[1] + *p
	f[0], f[1] = r.X, s.Y
	list := []*pt{r, s, {1, 1}}
	list[2].X += list[0].X
	f[2] = list[2].X
	t := &[]int64{1, 2, 3}
	(*t)[1] = 9
	out[1] = (*t)[1] + int64(len(*t))
}

func Clears(out []int64, f []float64) {
	for i := range out {
		out[i] = 5
	}
	clear(out[10:20])
	a := [4]float64{1, 2, 3, 4}
	clear(a[1:3])
	copy(f, a[:])
	type pt struct{ X, Y int64 }
	list := []pt{{1, 2}, {3, 4}}
	clear(list[:1])
	out[0], out[1] = list[0].X, list[1].X
}

var counts [8]int64
var origin = struct{ X, Y float64 }{1.5, -2}
var primes = [...]int32{2, 3, 5, 7, 11}
var enabled = true
var ratio float32 = 0.1

//gpu:constant
var coefficients = [2][2]float64{{1, 2}, {3, 4}}

func PackageVars(out []int64, f []float64) {
	for i := range 20 {
		counts[i%8]++
	}
	out[0], out[1] = counts[0], counts[7]
	clear(counts[:])
	f[0], f[1] = origin.X, origin.Y
	for i, p := range primes {
		out[10+i] = int64(p)
	}
	if enabled {
		f[2] = float64(ratio)
	}
	f[3] = coefficients[1][0]*10 + coefficients[0][1]
	p := &primes[1]
	out[20] = int64(*p)
}

type kind int

const (
	small kind = iota + 1
	medium
	_
	large
)

type weekday uint8

const (
	monday weekday = 1 << iota
	tuesday
	wednesday
	weekend = monday | wednesday
)

func Enums(out []int64, f []float64) {
	for i, k := range []kind{small, medium, large} {
		switch k {
		case small:
			out[i] = 1
		case medium:
			out[i] = 20
		case large:
			out[i] = int64(large) * 100
		}
	}
	day := tuesday
	day |= wednesday
	if day&weekend != 0 {
		out[10] = int64(weekend)
	}
}

type tuple[A, B any] struct {
	a A
	b B
}

func swapped[A, B any](t tuple[A, B]) tuple[B, A] { return tuple[B, A]{t.b, t.a} }

type alias = tuple[int8, alias2]
type alias2 = [2]float64

func Aliases(out []int64, f []float64) {
	t := alias{3, alias2{1, 2}}
	u := swapped(t)
	f[0] = u.a[1]
	out[0] = int64(u.b)
	v := swapped(swapped(tuple[bool, tuple[int64, float32]]{true, tuple[int64, float32]{5, 1.5}}))
	out[1] = v.b.a
	if v.a {
		f[1] = float64(v.b.b)
	}
}

func Booleans(out []int64, f []float64) {
	var bits [16]bool
	for i := range bits {
		bits[i] = i%3 == 0 != (i > 8)
	}
	any, all := false, true
	for i, b := range bits {
		any = any || b
		all = all && b
		if b {
			out[i] = 1
		}
	}
	a, b := any, !all
	a, b = b && !a, a
	type state struct{ on, off bool }
	s := state{on: a == b, off: a != b}
	if s.off || s.on && a {
		out[20] = 1
	}
	p := &s.on
	*p = !*p
	if s == (state{true, true}) {
		out[21] = 1
	}
}

type knot struct {
	next *knot
	v    int64
}

func (k *knot) link(m *knot) { k.next = m }

// Lifetimes keeps addresses for longer than the blocks in which the variables are declared.
func Lifetimes(out []int64, f []float64) {
	var p *int64
	{
		x := int64(5)
		p = &x
	}
	{
		y := [4]int64{1, 2, 3, 4}
		out[1] = y[out[0]]
	}
	out[0] = *p
	var s []int64
	if out[2] == 0 {
		a := [3]int64{7, 8, 9}
		s = a[1:]
	} else {
		b := [3]int64{1, 2, 3}
		s = b[:2]
	}
	var a, b knot
	a.link(&b)
	for i := range 3 {
		var q *int64
		if i > 0 {
			z := int64(i) * 10
			q = &z
		}
		w := int64(77)
		if q != nil {
			out[3] += *q
		}
		out[4] += w
		c := knot{v: int64(i)}
		d := &c
		d.next = &c
		out[5] += d.next.v
	}
	out[2] = s[0]
	q := &a
	q.next.v = 4
	out[6] = a.next.v
	at := func(n *knot) *knot { return &a }
	out[7] = at(nil).next.v
	var nodes [4]knot
	head := &nodes[0]
	for i := range nodes {
		n := &nodes[i]
		n.v = int64(i)
		if i > 0 {
			n.next = head
		}
		head = n
	}
	for n := head; n != nil; n = n.next {
		out[8] = out[8]*10 + n.v
	}
}
