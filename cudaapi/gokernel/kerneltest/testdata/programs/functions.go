package programs

import "math"

func divmod(a, b int64) (q, r int64) { return a / b, a % b }
func addTo(a, b int64) int64         { return a + b }
func minmax(a, b int64) (lo, hi int64) {
	lo, hi = a, b
	if lo > hi {
		lo, hi = hi, lo
	}
	return
}
func six(x int64) (a, b, c int64, d, e float64, ok bool) {
	return x, x + 1, x + 2, float64(x), float64(x) / 2, x > 3
}

func Results(out []int64, f []float64) {
	out[0], out[1] = divmod(17, 5)
	out[2], out[3] = minmax(9, 4)
	out[4] = addTo(divmod(29, 4))
	q, _ := divmod(100, 7)
	_, r := divmod(100, 7)
	out[5], out[6] = q, r
	var ok bool
	out[7], out[8], out[9], f[0], f[1], ok = six(8)
	if ok {
		out[10] = 1
	}
	var a, b = divmod(50, 8)
	out[11] = a*100 + b
}

func shadowed(n int64) (r int64) {
	r = 1
	{
		r := n * 10
		if r > 50 {
			return r
		}
	}
	for i := range n {
		r += i
		if r > 5 {
			return
		}
	}
	return r + 100
}

func NamedResults(out []int64, f []float64) {
	for i := range int64(8) {
		out[i] = shadowed(i)
	}
}

func total(first int64, rest ...int64) (s int64) {
	for i, x := range rest {
		s += x * int64(i+1)
	}
	return s + first*1000 + int64(len(rest))
}

func Variadic(out []int64, f []float64) {
	out[0] = total(1)
	out[1] = total(2, 3)
	out[2] = total(2, 3, 4, 5)
	out[3] = total(7, out[:3]...)
	out[4] = total(divmod(20, 6))
	change := func(xs ...int64) { xs[0] = 42 }
	change(out[5:7]...)
	change(1, 2)
}

func twiceOf(g func(float64) float64, x float64) float64 { return g(g(x)) }
func half(x float64) float64                             { return x / 2 }
func combine(a, b int64, g func(a, b int64) int64) int64 { return g(a, b) }

func FuncParam(out []int64, f []float64) {
	f[0] = twiceOf(half, 10)
	f[1] = twiceOf(func(x float64) float64 { return x*x + 1 }, 2)
	out[0] = combine(3, 4, addTo)
	out[1] = combine(3, 4, func(a, b int64) int64 { return a*10 + b })
	g := func(a, b int64) int64 { return combine(b, a, func(x, y int64) int64 { return x - y + out[0] }) }
	out[2] = combine(1, 2, g)
}

func FuncVar(out []int64, f []float64) {
	g := addTo
	out[0] = g(1, 2)
	h := half
	f[0] = twiceOf(h, 3)
	k := g
	out[1] = combine(5, 6, k)
	var lit = func(x int64) int64 { return x + out[0] }
	m := lit
	out[2] = m(1) + lit(2)
	abs := func(x int64) int64 {
		if x < 0 {
			return -x
		}
		return x
	}
	out[3] = abs(-4) + abs(4)
}

func Counter(out []int64, f []float64) {
	n := int64(0)
	next := func() int64 { n++; return n }
	out[0] = next() + next()*10 + next()*100
	reset := func() { n = 40 }
	reset()
	out[1] = next()
	s := [3]int64{}
	put := func(i int, v int64) { s[i] = v }
	put(0, 5)
	put(2, 6)
	out[2] = s[0]*10 + s[2]
	func(p *int64) { *p = 9 }(&n)
	out[3] = n
}

func NestedClosures(out []int64, f []float64) {
	a := int64(1)
	outer := func(x int64) int64 {
		b := x * 2
		inner := func(y int64) int64 {
			a += y
			b += a
			deepest := func() int64 { b++; return a + b + x + y }
			return deepest()
		}
		return inner(3) + inner(4) + b
	}
	out[0] = outer(5)
	out[1] = outer(6)
	out[2] = a
}

func adder(n int64) func(int64) int64 { return func(x int64) int64 { return x + n } }
func counterFrom(n int64) func() int64 {
	at := n * 100
	return func() int64 { at++; return at }
}
func composed(g, h func(int64) int64) func(int64) int64 {
	return func(x int64) int64 { return g(h(x)) }
}

func FuncResult(out []int64, f []float64) {
	add5 := adder(5)
	out[0] = add5(1)
	out[1] = adder(7)(1)
	c, d := counterFrom(1), counterFrom(2)
	out[2] = c() + c() + d()
	both := composed(adder(1), func(x int64) int64 { return x * 10 })
	out[3] = both(4)
	out[4] = apply3(composed(add5, both), 2)
	for i := range int64(3) {
		add := adder(i)
		out[5+i] = add(i * 10)
	}
}

func apply3(g func(int64) int64, x int64) int64 { return g(g(g(x))) }

type vec struct{ X, Y float64 }

func (v vec) plus(w vec) vec         { return vec{v.X + w.X, v.Y + w.Y} }
func (v vec) dot(w vec) float64      { return v.X*w.X + v.Y*w.Y }
func (v *vec) scale(s float64)       { v.X *= s; v.Y *= s }
func (v *vec) scaled(s float64) *vec { v.scale(s); return v }
func (v vec) length() float64        { return math.Sqrt(v.dot(v)) }

func Methods(out []int64, f []float64) {
	v, w := vec{3, 4}, vec{1, -1}
	f[0], f[1] = v.length(), v.dot(w)
	v.plus(w).plus(w).scaledCopy(f[2:4])
	v.scale(2)
	(&v).scale(0.5)
	f[4] = v.scaled(3).scaled(2).X
	p := &w
	f[5] = p.dot(*p)
	list := []vec{{1, 2}, {3, 4}}
	list[1].scale(10)
	f[6] = list[1].length()
	for i := range list {
		list[i].scale(2)
	}
	f[7] = list[0].Y
}

func (v vec) scaledCopy(dst []float64) { v.scale(2); dst[0], dst[1] = v.X, v.Y }

func MethodValue(out []int64, f []float64) {
	v := vec{1, 2}
	dot := v.dot
	scale := v.scale
	v.X = 10
	f[0] = dot(vec{1, 1})
	scale(3)
	f[1], f[2] = v.X, v.Y
	f[3] = useDot(v.dot, vec{2, 0})
	p := &v
	g := p.length
	p.X = 0
	f[4] = g()
	visitVec(vec{1, 1}, v.scaledBy)
	f[5] = v.X
}

func (v *vec) scaledBy(w vec)                        { v.X += w.X * 100 }
func useDot(g func(vec) float64, w vec) float64      { return g(w) }
func visitVec(v vec, do func(vec))                   { do(v); do(v) }
func reduceVec(a, b vec, g func(vec, vec) vec) vec   { return g(a, b) }
func each2(g func(*vec, float64), v *vec, s float64) { g(v, s) }

func MethodExpr(out []int64, f []float64) {
	dot := vec.dot
	f[0] = dot(vec{1, 2}, vec{3, 4})
	r := reduceVec(vec{1, 1}, vec{2, 3}, vec.plus)
	f[1], f[2] = r.X, r.Y
	(*vec).scale(&r, 2)
	f[3] = r.X
	each2((*vec).scale, &r, 5)
	f[4] = r.Y
	f[5] = (*vec).length(&r)
	f[6] = vec.length(r)
}

type engine struct {
	power float64
	gears [3]int8
}

func (e engine) output() float64  { return e.power * float64(e.gears[1]) }
func (e *engine) tune(by float64) { e.power += by }

type car struct {
	engine
	*vec
	wheels int8
}

type fleet struct {
	car
	n int64
}

func Embedding(out []int64, f []float64) {
	at := vec{1, 2}
	c := car{engine{100, [3]int8{1, 2, 3}}, &at, 4}
	f[0] = c.output()
	c.tune(50)
	f[1] = c.power + float64(c.gears[2])
	c.scale(10)
	f[2], f[3] = at.X, c.Y
	fl := fleet{c, 3}
	fl.tune(1)
	fl.engine.gears[1] = 7
	f[4], f[5] = fl.output(), c.output()
	fl.vec.X = 77
	f[6] = at.X
	out[0] = fl.n + int64(fl.wheels)
	tune := fl.tune
	tune(1000)
	f[7] = fl.power
}

type celsiusDegrees float64
type flags uint8
type board [9]int8
type row []float64

func (c celsiusDegrees) fahrenheit() float64 { return float64(c)*9/5 + 32 }
func (x flags) has(bit flags) bool           { return x&bit != 0 }
func (x *flags) set(bit flags)               { *x |= bit }
func (b board) count(v int8) (n int64) {
	for _, x := range b {
		if x == v {
			n++
		}
	}
	return n
}
func (b *board) put(i int, v int8) { b[i] = v }
func (r row) sum() (s float64) {
	for _, x := range r {
		s += x
	}
	return s
}
func (r row) fill(x float64) row {
	for i := range r {
		r[i] = x
	}
	return r
}

func MethodsOfAnything(out []int64, f []float64) {
	f[0] = celsiusDegrees(100).fahrenheit()
	var x flags
	x.set(4)
	x.set(1)
	if x.has(4) && !x.has(2) {
		out[0] = int64(x)
	}
	var b board
	b.put(3, 2)
	b.put(5, 2)
	out[1], out[2] = b.count(2), b.count(0)
	f[1] = row(f[10:15]).fill(1.5).sum()
	r := row{1, 2, 3}
	f[2] = r.sum() + r[1:].sum()
}

type ordered interface {
	~int8 | ~int64 | ~uint16 | ~float32 | ~float64
}

func maxOf[T ordered](a T, rest ...T) T {
	for _, b := range rest {
		if b > a {
			a = b
		}
	}
	return a
}

func sortAll[S ~[]T, T ordered](s S) {
	for i := range s {
		for j := i; j > 0 && s[j] < s[j-1]; j-- {
			s[j], s[j-1] = s[j-1], s[j]
		}
	}
}

func GenericFuncs(out []int64, f []float64) {
	out[0] = maxOf[int64](3, 9, 4)
	f[0] = maxOf(1.5)
	out[1] = int64(maxOf[int8](-5, -3))
	out[2] = int64(maxOf(uint16(1), 65535))
	r := row{3, 1, 2}
	sortAll(r)
	f[1], f[2], f[3] = r[0], r[1], r[2]
	small := []int8{5, -5, 0}
	sortAll(small)
	out[3] = int64(small[0])*100 + int64(small[2])
	f[4] = float64(maxOf[celsiusDegrees](1, 2))
}

type queue[T any] struct {
	items   [4]T
	from, n int
}

func (q *queue[T]) push(x T) bool {
	if q.n == len(q.items) {
		return false
	}
	q.items[(q.from+q.n)%len(q.items)] = x
	q.n++
	return true
}

func (q *queue[T]) pop() (x T, ok bool) {
	if q.n == 0 {
		return
	}
	x = q.items[q.from]
	q.from = (q.from + 1) % len(q.items)
	q.n--
	return x, true
}

func (q *queue[T]) each(do func(T)) {
	for i := range q.n {
		do(q.items[(q.from+i)%4])
	}
}

func GenericTypes(out []int64, f []float64) {
	var q queue[int64]
	for i := range int64(6) {
		if !q.push(i * i) {
			out[20]++
		}
	}
	out[0], _ = q.pop()
	out[1], _ = q.pop()
	q.push(100)
	q.each(func(x int64) { out[2] = out[2]*1000 + x })
	var v queue[vec]
	v.push(vec{1, 2})
	x, ok := v.pop()
	_, empty := v.pop()
	f[0] = x.Y
	if ok && !empty {
		out[3] = 1
	}
}

type tree[K ordered, V any] struct {
	keys [8]K
	vals [8]V
	n    int
}

func (t *tree[K, V]) put(k K, v V) *tree[K, V] {
	i := t.n
	for i > 0 && t.keys[i-1] > k {
		t.keys[i], t.vals[i] = t.keys[i-1], t.vals[i-1]
		i--
	}
	t.keys[i], t.vals[i] = k, v
	t.n++
	return t
}

func (t tree[K, V]) find(k K) (v V, ok bool) {
	for i := range t.n {
		if t.keys[i] == k {
			return t.vals[i], true
		}
	}
	return v, false
}

func (t *tree[K, V]) all(yield func(K, V) bool) {
	for i := range t.n {
		if !yield(t.keys[i], t.vals[i]) {
			return
		}
	}
}

func GenericTree(out []int64, f []float64) {
	var t tree[float32, int64]
	t.put(2.5, 25).put(1, 10).put(3, 30)
	if v, ok := t.find(3); ok {
		out[0] = v
	}
	if _, ok := t.find(9); !ok {
		out[1] = 1
	}
	i := 0
	for k, v := range t.all {
		f[i], out[10+i] = float64(k), v
		i++
	}
}

type shape interface{ area() float64 }
type square struct{ side float64 }
type disc struct{ r float64 }

func (s square) area() float64 { return s.side * s.side }
func (d *disc) area() float64  { return 3 * d.r * d.r }

func areas[T shape](list []T) (sum float64) {
	for _, s := range list {
		sum += s.area()
	}
	return sum
}

func scaledArea[T any, P interface {
	*T
	area() float64
}](x T) float64 {
	return P(&x).area()
}

func GenericMethods(out []int64, f []float64) {
	f[0] = areas([]square{{1}, {2}, {3}})
	d := disc{2}
	f[1] = areas([]*disc{&d, &d})
	f[2] = scaledArea(d)
}

func zeroOf[T any]() (z T)            { return }
func ptrTo[T any](x T, do func(*T)) T { do(&x); return x }
func convertAll[To, From ordered](d []To, s []From) {
	for i, x := range s {
		d[i] = To(x)
	}
}
func sumIf[T ordered](s []T, keep func(T) bool) (t T) {
	for _, x := range s {
		if keep(x) {
			t += x
		}
	}
	return
}

func GenericMore(out []int64, f []float64) {
	out[0] = zeroOf[int64]() + int64(len(zeroOf[[7]int8]()))
	f[0] = zeroOf[vec]().X
	f[1] = ptrTo(3.0, func(p *float64) { *p *= 2 })
	convertAll(f[2:], []int8{1, -2, 3})
	convertAll(out[1:], []float32{1.5, -2.5, 1e6})
	f[10] = sumIf([]float64{1, 2, 3, 4}, func(x float64) bool { return x > 1.5 })
	out[10] = int64(sumIf([]int8{100, 27, 1}, func(int8) bool { return true }))
}

func Blanks(out []int64, f []float64) {
	_ = out[3]
	_, x := divmod(7, 2)
	out[0] = x
	ignore := func(_ int64, _ float64) int64 { return 3 }
	out[1] = ignore(1, 2)
	for _, _ = range out[:3] {
		out[2]++
	}
	var _ = divmodSum(3)
	_, _ = out[0], f[0]
}

func divmodSum(_ int64) int64 { return 5 }

func Immediate(out []int64, f []float64) {
	out[0] = func() int64 { return 5 }()
	out[1] = func(a, b int64) int64 {
		if a > b {
			return a
		}
		return b
	}(out[0], 3)
	a, b := func() (int64, float64) { return 1, 2 }()
	out[2], f[0] = a, b
	func() {
		out[3] = 1
		func() { out[4] = out[3] + 1 }()
	}()
}

func order(out []int64, n *int64, v int64) int64 { out[*n] = v; *n++; return v }

func Order(out []int64, f []float64) {
	n := int64(0)
	x := order(out, &n, 1)*10 + order(out, &n, 2)*order(out, &n, 3)
	out[20] = x
	a := [3]int64{order(out, &n, 4), order(out, &n, 5), order(out, &n, 6)}
	out[21] = a[order(out, &n, 1)]
	out[30+order(out, &n, 2)], out[30+order(out, &n, 3)] = order(out, &n, 7), order(out, &n, 8)
	if order(out, &n, 0) == 1 && order(out, &n, 9) == 9 || order(out, &n, 10) == 10 {
		out[22] = total(order(out, &n, 11), order(out, &n, 12), order(out, &n, 13))
	}
}
