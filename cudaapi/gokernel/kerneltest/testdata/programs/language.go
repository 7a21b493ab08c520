// Package programs has kernels that are Go programs as well: what they write on
// the CPU, they are to write on a device.
package programs

import "math"

func IntArithmetic(out []int64, f []float64) {
	a, b := int64(7), int64(-3)
	out[0], out[1], out[2], out[3], out[4] = a+b, a-b, a*b, a/b, a%b
	out[5], out[6], out[7] = a&b, a|b, a^b
	out[8] = a &^ b
	out[9], out[10] = -a, ^a
	c := a
	c += 5
	c -= b
	c *= 3
	c /= 2
	c %= 11
	c <<= 3
	c >>= 1
	c |= 64
	c &= 127
	c ^= 5
	c &^= 1
	out[11] = c
	c++
	c++
	c--
	out[12] = c
}

func IntWraps(out []int64, f []float64) {
	var i8 int8 = 127
	i8++
	out[0] = int64(i8)
	var u8 uint8 = 200
	u8 += 100
	out[1] = int64(u8)
	var i16 int16 = -32768
	i16 = -i16
	out[2] = int64(i16)
	var u16 uint16 = 65535
	u16 *= u16
	out[3] = int64(u16)
	var i32 int32 = 1 << 30
	i32 *= 4
	i32--
	out[4] = int64(i32)
	var u32 uint32 = 5
	u32 -= 6
	out[5] = int64(u32)
	var i64 int64 = math.MaxInt64
	i64++
	out[6] = i64
	var u64 uint64 = 0
	u64--
	out[7] = int64(u64 >> 1)
	m := int32(math.MinInt32)
	n := int32(-1)
	out[8], out[9] = int64(m/n), int64(m%n)
	p, q := int64(math.MinInt64), int64(-1)
	out[10], out[11] = p/q, p%q
	r, s := int8(-128), int8(-1)
	out[12], out[13] = int64(r/s), int64(r%s)
	out[14] = int64(^u8)
	one := uint8(1)
	out[15] = int64(one - 2)
}

func Shifts(out []int64, f []float64) {
	x := int64(-9)
	u := uint32(0x80000001)
	var n uint = 3
	k := 0
	for n = 0; n < 70; n += 7 {
		out[k%20] += x<<n + x>>n
		out[20+k%20] += int64(u<<n) + int64(u>>n)
		k++
	}
	var b int8 = -128
	out[40] = int64(b >> 100)
	out[41] = int64(b << 1)
	out[42] = int64(uint8(255) >> n)
	var c uint64 = 64
	out[43] = int64(uint64(1) << c)
	out[44] = 1 << c >> 1
}

func Compare(out []int64, f []float64) {
	a, b := 3, 4
	x, y := 2.5, math.NaN()
	flags := [12]bool{a < b, a <= b, a > b, a >= b, a == b, a != b, x < y, x == y, y != y, !(a < b), a < b && x > 1, a > b || x > 3}
	for i, ok := range flags {
		if ok {
			out[i] = 1
		}
	}
}

func Floats(out []int64, f []float64) {
	x, y := 1.1, 3.3
	f[0], f[1], f[2], f[3] = x+y, x-y, x*y, x/y
	var a, b float32 = 1.1, 3.3
	f[4], f[5], f[6], f[7] = float64(a+b), float64(a-b), float64(a*b), float64(a/b)
	zero := 0.0
	f[8], f[9] = 1/zero, -1/zero
	f[10] = -zero
	f[11] = 1 / f[10]
	f[12] = math.Copysign(0, -1)
	f[13] = float64(float32(1e300 * x / 1e300))
	f[14] = x / 3 * 3
	f[15] = -x
}

func Conversions(out []int64, f []float64) {
	big, neg, nan := 1e30, -7.9, math.NaN()
	out[0], out[1], out[2] = int64(big), int64(neg), int64(nan)
	out[3], out[4] = int64(int32(neg)), int64(int8(neg))
	out[5] = int64(uint8(300 + int(neg)))
	u := uint64(1) << 63
	f[0] = float64(u)
	f[1] = float64(int64(u))
	f[2] = float64(float32(16777217 + out[1] - out[1]))
	v := 1.8e19
	out[6] = int64(uint64(v) >> 1)
	out[7] = int64(int16(out[1] * 100000))
	out[8] = int64(uint32(out[1]))
	var i8 int8 = -5
	out[9], out[10] = int64(uint64(i8)>>1), int64(uint16(i8))
	f[3] = float64(i8)
	f[4] = float64(float32(0.1))
	type meters float64
	m := meters(3.5)
	f[5] = float64(m * 2)
	out[11] = int64(m)
}

func Constants(out []int64, f []float64) {
	const big = 1 << 100
	const third = 1.0 / 3
	out[0] = big >> 98
	f[0] = third * 3
	f[1] = math.Pi * math.E
	const (
		a = iota * 10
		b
		c
	)
	out[1], out[2], out[3] = a, b, c
	out[4] = 'x' + 0b1010 + 0o17 + 0x_ff
	f[2] = 0x1p-1074
	f[3] = math.MaxFloat64
	f[4] = float64(float32(math.SmallestNonzeroFloat32))
	var x uint8 = 255
	out[5] = int64(x)
	out[6] = math.MinInt64
	out[7] = math.MaxInt64
	f[5] = 1e100
	f[6] = 5
}

func If(out []int64, f []float64) {
	for i := 0; i < 10; i++ {
		if i%3 == 0 {
			out[i] = 3
		} else if j := i % 2; j == 0 {
			out[i] = int64(20 + j)
		} else {
			out[i] = int64(j)
		}
	}
}

func Loops(out []int64, f []float64) {
	n := 0
	for n < 5 {
		n++
	}
	out[0] = int64(n)
	for {
		n--
		if n < -3 {
			break
		}
		if n%2 == 0 {
			continue
		}
		out[1] += int64(n)
	}
	for i, j := 0, 10; i < j; i, j = i+1, j-1 {
		out[2] += int64(i * j)
	}
	for i := range 5 {
		out[3] += int64(i)
	}
	for range 3 {
		out[4]++
	}
	for i := range uint8(4) {
		i *= 2
		out[5] += int64(i)
	}
	var k int32
	for k = range 6 {
	}
	out[6] = int64(k)
	for i := 0; i < 20; i++ {
		if i > 4 {
			i += 3
		}
		out[7] += int64(i)
	}
}

func Ranges(out []int64, f []float64) {
	a := [5]int64{5, 4, 3, 2, 1}
	for i, v := range a {
		a[4-i] = 9
		out[0] += v
	}
	for i := range a {
		out[1] += a[i] * int64(i)
	}
	s := a[1:4]
	for i, v := range s {
		s[2-i] = 7
		out[2] += v
	}
	for _, v := range &a {
		a[4] = 100
		out[3] += v
	}
	var i int
	var v int64
	for i, v = range s {
	}
	out[4], out[5] = int64(i), v
	for i := range s {
		s = nil
		out[6] += int64(i)
	}
}

func Labels(out []int64, f []float64) {
outer:
	for i := 0; i < 5; i++ {
		for j := 0; j < 5; j++ {
			if j == 3 {
				continue outer
			}
			if i == 3 {
				break outer
			}
			out[0] += int64(i*10 + j)
		}
		out[1]++
	}
loop:
	for i := range 10 {
		switch {
		case i == 2:
			continue
		case i == 4:
			continue loop
		case i == 7:
			break loop
		}
		out[2] += int64(i)
	}
	out[3] = 1
pick:
	switch out[3] {
	case 1:
		for {
			break pick
		}
		out[4] = 9
	}
	out[5] = 4
}

func Goto(out []int64, f []float64) {
	i := 0
again:
	out[0] += int64(i)
	i++
	if i < 10 {
		goto again
	}
	for j := range 5 {
		if j == 3 {
			goto done
		}
		out[1] += int64(j)
	}
	out[2] = 77
done:
	out[3] = int64(i)
}

func Switch(out []int64, f []float64) {
	for i := range 8 {
		switch i {
		case 0, 1:
			out[i] = 10
		case 2:
			out[i] = 20
			fallthrough
		case 3:
			out[i] += 30
		case 4:
			out[i] = 40
			break
		default:
			out[i] = 50
		case 6:
		}
		switch x := i * i; {
		case x > 30:
			out[10+i] = 3
		case x > 10:
			out[10+i] = 2
		default:
			out[10+i] = 1
		}
	}
	switch f[0] {
	case 0:
		out[30] = 1
	}
	switch {
	}
	switch out[0] {
	default:
		out[31] = 5
	}
}

// A fallthrough after a switch of its own goes on in the outer switch.
func Fallthrough(out []int64, f []float64) {
	for i := range 6 {
		switch i {
		case 0:
			switch i + 1 {
			case 1:
				out[0]++
				fallthrough
			case 2:
				out[1]++
			default:
				out[2]++
			}
			fallthrough
		case 1:
			out[3] += int64(i) + 1
		case 2, 3:
			switch {
			case i == 3:
				out[4]++
				fallthrough
			default:
				out[5]++
			}
			fallthrough
		default:
			out[6] += int64(i)
		}
	}
}

// Calls on both sides of an assignment go from left to right.
func AssignOrder(out []int64, f []float64) {
	count := 0
	next := func() int { count++; return count }
	out[next()] = int64(next())
	out[next()], out[next()] = int64(next()), int64(next())
	two := func(n int) (int64, int64) { count += n; return int64(count), int64(next()) }
	out[next()], out[10+next()] = two(next())
	out[20+next()] += int64(next())
}

func Arrays(out []int64, f []float64) {
	var a [3][4]int64
	for i := range a {
		for j := range a[i] {
			a[i][j] = int64(i*10 + j)
		}
	}
	b := a
	b[1][2] = 500
	out[0], out[1] = a[1][2], b[1][2]
	c := [...]int64{2: 5, 7, 0: 1}
	out[2], out[3], out[4], out[5] = int64(len(c)), c[0], c[2], c[3]
	if a == b {
		out[6] = 1
	}
	b[1][2] = 12
	if a == b {
		out[7] = 1
	}
	p := &a
	p[2][3] = 9
	out[8] = a[2][3] + int64(len(p)) + int64(cap(p[0]))
	row := &a[1]
	row[0] = 33
	out[9] = a[1][0]
	clear(a[1][:])
	out[10] = a[1][3]
}

func Slices(out []int64, f []float64) {
	s := []int64{1, 2, 3, 4, 5, 6, 7, 8}
	t := s[2:5]
	out[0], out[1] = int64(len(t)), int64(cap(t))
	t[0] = 30
	out[2] = s[2]
	u := t[:5]
	out[3] = u[4]
	v := s[1:3:4]
	out[4], out[5] = int64(len(v)), int64(cap(v))
	w := s[:]
	out[6] = w[len(w)-1]
	out[7] = int64(copy(s[1:], s[:4]))
	for i, x := range s {
		out[8+i] = x
	}
	var none []int64
	if none == nil && s != nil {
		out[16] = int64(len(none) + cap(none))
	}
	out[17] = int64(copy(none, s))
	for range none {
		out[18]++
	}
	arr := [4]int64(s)
	s[0] = 99
	out[19] = arr[0]
	pairs := [][2]int64{{1, 2}, {3, 4}}
	out[20] = pairs[1][0]
	clear(s[:2])
	out[21] = s[0] + s[1] + s[2]
}

type point struct{ X, Y int64 }

func (p point) sum() int64         { return p.X + p.Y }
func (p *point) move(dx int64)     { p.X += dx }
func (p point) plus(q point) point { return point{p.X + q.X, p.Y + q.Y} }
func (p *point) self() *point      { return p }
func mid(a, b point) (m point)     { m.X, m.Y = (a.X+b.X)/2, (a.Y+b.Y)/2; return }
func two(n int64) (int64, float64) { return n * 2, float64(n) / 2 }
func three() (a, b int64, ok bool) { a = 1; b, ok = 2, true; return }
func sumOf(xs ...int64) (s int64) {
	for _, x := range xs {
		s += x
	}
	return s
}

type circle struct {
	point
	R    float64
	tags [2]int8
}

func Structs(out []int64, f []float64) {
	p := point{3, 4}
	q := point{Y: 1}
	out[0], out[1] = p.sum(), q.sum()
	p.move(10)
	(&p).move(1)
	out[2] = p.X
	r := p.plus(q).plus(point{1, 1})
	out[3], out[4] = r.X, r.Y
	c := circle{point: p, R: 2.5}
	c.move(5)
	c.X++
	c.tags[1] = -3
	out[5], out[6] = c.sum(), int64(c.tags[1])
	d := c
	d.point.Y = 0
	if c != d && p == (point{14, 4}) {
		out[7] = 1
	}
	pp := &c
	pp.R *= 2
	f[0] = c.R
	pp.self().move(1)
	out[8] = c.point.X
	list := [3]point{{1, 2}, {3, 4}}
	list[1].move(7)
	out[9] = list[1].X + list[2].Y
	s := list[:]
	s[0].Y = 70
	out[10] = list[0].sum()
	for _, e := range list {
		e.X = 1000
	}
	for i := range list {
		list[i].X++
	}
	out[11] = list[0].X
	anon := struct {
		a int8
		b float64
	}{1, 2}
	f[1] = anon.b + float64(anon.a)
	m := mid(p, q)
	out[12], out[13] = m.X, m.Y
	np := new(point)
	np.X = 6
	*np = np.plus(*np)
	out[14] = np.X
	lp := &point{1, 2}
	lp.move(2)
	out[15] = lp.sum()
	var zero circle
	out[16] = zero.sum()
}

func Functions(out []int64, f []float64) {
	a, b := two(21)
	out[0], f[0] = a, b
	x, y, ok := three()
	if ok {
		out[1] = x*10 + y
	}
	out[2] = sumOf()
	out[3] = sumOf(1, 2, 3)
	out[4] = sumOf([]int64{4, 5}...)
	_, h := two(5)
	f[1] = h
	var g int64
	g, f[2] = two(9)
	out[5] = g
	out[6] = sumOf(sumOf(1, 1), sumOf(2, 2))
	if n, _ := two(3); n == 6 && sumOf(1) == 1 {
		out[7] = n
	}
}

func Swap(out []int64, f []float64) {
	a, b, c := int64(1), int64(2), int64(3)
	a, b, c = b, c, a
	out[0], out[1], out[2] = a, b, c
	out[3], out[4] = out[0], out[1]
	out[0], out[1] = out[1], out[0]
	i := 5
	i, out[i] = 6, 77
	out[i] = 88
	s := []int64{1, 2, 3}
	j := 0
	j, s[j] = 2, 9
	out[10], out[11] = s[0], int64(j)
	_ = a
	_, out[12] = a, b
}

func Closures(out []int64, f []float64) {
	n := int64(10)
	add := func(k int64) int64 { n += k; return n }
	out[0] = add(5)
	out[1] = add(1) + add(1)
	out[2] = n
	twice := func(g func(int64) int64, x int64) int64 { return g(g(x)) }
	out[3] = twice(add, 1)
	out[4] = twice(func(x int64) int64 { return x * x }, 3)
	out[5] = apply(double, 8) + apply(func(x int64) int64 { return x + n }, 1)
	func() { out[6] = n; n = 0 }()
	out[7] = n
	fact := int64(1)
	each(5, func(i int64) { fact *= i + 1 })
	out[8] = fact
	mm := func(a, b int64) (lo, hi int64) {
		if a < b {
			return a, b
		}
		return b, a
	}
	out[9], out[10] = mm(7, 3)
	for i := range int64(3) {
		inc := func() int64 { i += 10; return i }
		out[11] += inc() + i
	}
}

func double(x int64) int64                     { return x * 2 }
func apply(g func(int64) int64, x int64) int64 { return g(x) }
func each(n int64, g func(i int64)) {
	for i := range n {
		g(i)
	}
}

type number interface {
	~int | ~int32 | ~int64 | ~float32 | ~float64
}

func largest[T number](xs []T) (m T) {
	m = xs[0]
	for _, x := range xs[1:] {
		m = max(m, x)
	}
	return m
}

func mapped[T, U any](dst []U, src []T, g func(T) U) {
	for i, x := range src {
		dst[i] = g(x)
	}
}

type pair[A, B any] struct {
	first  A
	second B
}

func (p pair[A, B]) swap() pair[B, A] { return pair[B, A]{p.second, p.first} }
func (p *pair[A, B]) set(a A)         { p.first = a }

type celsius float64

func (c celsius) warm() celsius { return c + 1 }

type warmer interface {
	~float64
	warm() celsius
}

func heat[T warmer](x T) float64 { return float64(x.warm()) }

func Generics(out []int64, f []float64) {
	out[0] = largest([]int64{3, 9, 2})
	f[0] = largest([]float64{1.5, -2})
	f[1] = float64(largest([]float32{1.5, 2.25}))
	var dst [3]float64
	mapped(dst[:], []int64{1, 2, 3}, func(x int64) float64 { return float64(x) / 2 })
	f[2], f[3] = dst[0], dst[2]
	p := pair[int64, float64]{4, 0.5}
	q := p.swap()
	f[4], out[1] = q.first, q.second
	p.set(11)
	out[2] = p.first
	f[5] = heat(celsius(20))
	out[3] = int64(largest[int32]([]int32{-5, -4}))
}

func MinMax(out []int64, f []float64) {
	out[0], out[1] = min(3, int64(f[0]), 5), max(2, int64(f[0]), -1)
	nan := math.NaN()
	f[1], f[2] = min(1, f[0]), max(2.5, f[0], 1)
	f[3] = min(f[0], nan)
	nz := math.Copysign(0, -1)
	f[4], f[5] = min(f[0], nz), max(nz, f[0])
	f[6] = 1 / min(nz, f[0])
}

func Complex(out []int64, f []float64) {
	a, b := complex(1, 2), complex(3, -4)
	c := a*b + b/a - a
	f[0], f[1] = real(c), imag(c)
	d := complex64(a) * 2i
	f[2], f[3] = float64(real(d)), float64(imag(d))
	if a != b && a == complex(1, 2) {
		out[0] = 1
	}
	e := -a
	e += 1
	e /= 2 + 1i
	f[4], f[5] = real(e), imag(e)
	z := complex(0, 0)
	g := a / z
	f[6] = real(g)
	var arr [2]complex128
	arr[1] = b
	f[7] = imag(arr[1])
}

func Shadow(out []int64, f []float64) {
	x := int64(1)
	{
		x := x + 1
		out[0] = x
		x++
		{
			x := x * 10
			out[1] = x
		}
	}
	if x := x + 100; x > 100 {
		out[2] = x
	}
	for x := x; x < 3; x++ {
		out[3] += x
	}
	out[4] = x
	int := x
	out[5] = int
	double, template, i64 := x, x+1, x+2
	out[6] = double + template + i64
	const go_panics = 3
	out[7] = go_panics
}

func Pointers(out []int64, f []float64) {
	x := int64(5)
	p := &x
	*p += 2
	q := &p
	**q *= 10
	out[0] = x
	if p == *q {
		out[1] = 1
	}
	var nothing *int64
	if nothing == nil {
		out[2] = 1
	}
	r := &out[3]
	*r = 44
	inc(&out[4], 3)
	a := [2]int64{1, 2}
	inc(&a[1], 5)
	out[5] = a[1]
	pt := point{1, 2}
	inc(&pt.Y, 8)
	out[6] = pt.Y
	next := &node{value: 1}
	next = &node{2, next}
	out[7] = next.value*10 + next.next.value
}

type node struct {
	value int64
	next  *node
}

func inc(p *int64, by int64) { *p += by }

func ShortCircuit(out []int64, f []float64) {
	calls := int64(0)
	yes := func(v bool) bool { calls++; return v }
	if yes(false) && yes(true) {
		out[0] = 1
	}
	out[1] = calls
	if yes(true) || yes(true) {
		out[2] = 1
	}
	out[3] = calls
	ok := yes(true) && (yes(false) || yes(true)) && !yes(false)
	if ok {
		out[4] = calls
	}
	for i := 0; yes(i < 3); i++ {
		out[5]++
	}
	s := []int64{1, 2}
	k := 5
	if k < len(s) && s[k] == 3 {
		out[6] = 1
	}
	out[7] = calls
}

var table = [4]int64{2, 3, 5, 7}
var scale = 2.5

//gpu:constant
var weights = [3]float64{0.25, 0.5, 0.25}

func Globals(out []int64, f []float64) {
	out[0] = table[1] + table[3]
	f[0] = scale
	for i, w := range weights {
		f[1] += w * float64(i)
	}
}

func Runes(out []int64, f []float64) {
	r := 'é'
	out[0] = int64(r)
	b := []byte{'a', 'b', 0xff}
	out[1] = int64(b[2]) + int64(b[0])
	const s = "hello"
	out[2] = int64(len(s))
	out[3] = int64(s[1])
	for i, r := range "aé世" {
		out[4+i] = int64(r)
	}
	for i := range s {
		out[20] += int64(i)
	}
}
