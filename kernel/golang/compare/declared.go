package main

import "strings"

// declared are idioms with declarations of their own: these, and statements that
// use them, parted by a line of dashes. Holes are those of idioms.
var declared = []string{
	// Embedding: by value, by pointer, of interfaces; what is nearer hides what is deeper.
	`type «N A» struct {
	n int
	v «t A»
}

func (a «N A») Who() string   { return fmt.Sprint("A", a.n) }
func (a *«N A») Inc(d int) int { a.n += d; return a.n }
func (a «N A») Val() «t A»    { return a.v }

type «N B» struct {
	*«N A»
	n string
}

func (b «N B») Who() string { return "B(" + b.«N A».Who() + ")" }

type «N I» interface {
	Who() string
	Inc(int) int
}

type «N C» struct {
	«N I»
	extra []«N B»
}

type «N D» struct {
	«N C»
	Num
}
-----
a := «N A»{«e int», «e A»}
b := «N B»{&a, «e string»}
c := «N C»{«N I»: b}
d := «N D»{c, 4}
d.extra = append(d.extra, b, «N B»{n: "x"})
fmt.Println(b.Inc(2), b.n, b.Who(), c.Who(), d.Who(), d.Inc(«e int»))
fmt.Println(a.n, b.«N A».n)
f, g, h := b.Inc, d.Who, «N B».Who
a.n = 100
fmt.Println(f(1), g(), h(b), d.Area(), d.String(), len(d.extra))
«p A b.Val()»
var i «N I» = d
_, isB := i.(«N B»)
w, isW := i.(interface{ Val() «t A» })
fmt.Println(isB, isW, w == nil)
func() {
defer func() { fmt.Println(recover()) }()
fmt.Println(d.extra[1].Who())
}()
func() {
defer func() { fmt.Println(recover()) }()
var empty «N C»
fmt.Println(empty.Inc(1))
}()`,
	// Generic types of several parameters, with methods, pointers to themselves and constraints.
	`type «N List»[T any] struct {
	head *«N node»[T]
	size int
}

type «N node»[T any] struct {
	val  T
	next *«N node»[T]
}

func (l *«N List»[T]) Add(x ...T) *«N List»[T] {
	for _, v := range x {
		l.head = &«N node»[T]{v, l.head}
		l.size++
	}
	return l
}

func (l *«N List»[T]) All() func(func(int, T) bool) {
	return func(yield func(int, T) bool) {
		i := 0
		for n := l.head; n != nil; n = n.next {
			if !yield(i, n.val) {
				return
			}
			i++
		}
	}
}

func «N mapped»[T, U any](l *«N List»[T], f func(T) U) *«N List»[U] {
	out := new(«N List»[U])
	for _, v := range l.All() {
		out.Add(f(v))
	}
	return out
}

func «N first»[T any, L interface{ All() func(func(int, T) bool) }](l L) (t T, ok bool) {
	for _, v := range l.All() {
		return v, true
	}
	return
}
-----
l := new(«N List»[«t A»]).Add(«e A», «e A»).Add()
m := «N mapped»(l, func(x «t A») int { return «e int» })
for i, v := range m.All() {
if i > 0 && «e bool» {
break
}
fmt.Println(i, v)
}
x, ok := «N first»[«t A»](l)
«p A x»
_ = x
_, no := «N first»[int](&«N List»[int]{})
fmt.Println(l.size, m.size, ok, no)
type pair = Pair[«t A», «N List»[int]]
p := pair{A: «e A», B: *m}
p.B.Add(7)
fmt.Println(m.size, p.B.size, p.B.head.val, p.B.head.next == m.head)`,
	`type «N Num» interface {
	~int | ~int8 | ~float64
	String() string
}

type «N M» int8

func (m «N M») String() string { return fmt.Sprintf("M%d", int8(m)) }

type «N F» float64

func (f «N F») String() string { return fmt.Sprintf("F%.1f", float64(f)) }

func «N sum»[T «N Num»](xs ...T) (t T, s string) {
	for i, x := range xs {
		t += x
		if i > 0 {
			s += "+"
		}
		s += x.String()
	}
	switch any(t).(type) {
	case «N M»:
		s += " m"
	case «N F»:
		s += " f"
	}
	return t, s + "=" + t.String()
}

type «N Box»[T «N Num»] struct{ xs []T }

func (b «N Box»[T]) Max() T {
	m := b.xs[0]
	for _, x := range b.xs[1:] {
		if x > m {
			m = x
		}
	}
	return max(m, b.xs[0])
}
-----
fmt.Println(«N sum»(«N M»(100), 27, 1))
fmt.Println(«N sum»(«N F»(«e float64»), 0.5))
f := «N sum»[«N M»]
a, s := f(«N M»(«e int8»), 2)
g := «N Box»[«N M»]{[]«N M»{a, 3, «N M»(«e int8»)}}.Max
fmt.Printf("%v %q %d %T\n", a, s, g(), a)`,
	// Results, defer and recover.
	`func «N f»(depth int, fail bool) (out «t A», trail []string, err error) {
	defer func() {
		trail = append(trail, fmt.Sprint("leave", depth))
		if r := recover(); r != nil {
			if depth > 1 {
				panic(fmt.Sprint(r, "<", depth))
			}
			err = fmt.Errorf("depth %d: %v", depth, r)
		}
	}()
	trail = append(trail, "enter")
	if depth == 3 {
		if fail {
			panic("failed")
		}
		return «e A», trail, nil
	}
	var inner []string
	out, inner, err = «N f»(depth+1, fail)
	trail = append(trail, inner...)
	return
}
-----
for _, b := range []bool{false, true} {
x, t, err := «N f»(0, b)
_ = x
«p A x»
fmt.Println(t, err)
}`,
	`type «N Err» struct {
	op   string
	code int
	in   error
}

func (e *«N Err») Error() string { return fmt.Sprintf("%s(%d): %v", e.op, e.code, e.in) }
func (e *«N Err») Unwrap() error { return e.in }
func (e «N Err») Is(o error) bool { return o == «N base» && e.code > 3 }

var «N base» = errors.New("base")

func «N op»(n int) (err error) {
	switch {
	case n == 0:
		return nil
	case n > 5:
		return «N base»
	}
	defer func() {
		if err != nil {
			err = &«N Err»{"op", n, err}
		}
	}()
	if n&1 == 1 {
		return fmt.Errorf("odd %d: %w", n, «N op»(n+1))
	}
	return errors.Join(«N op»(n+4), errors.New("even"))
}
-----
for _, n := range []int{0, «e int» & 7, 3, 4, 5} {
err := «N op»(n)
var e *«N Err»
fmt.Printf("%d %v %t %t\n", n, err, errors.Is(err, «N base»), errors.As(err, &e))
if e != nil {
fmt.Println(e.code, errors.Unwrap(e) != nil)
}
}`,
	// Package variables whose order of initialization their use decides, and init.
	`var «N a», «N b» = «N c»+1, «N d»()
var «N c» = len(«N tab») * 2
var «N tab» = map[string]func(int) int{"x": func(n int) int { return n + «N e» }, "y": nil}
var «N e» = «e int»
var «N once» = func() (v «t A») { return «q A» }()

func «N d»() int { return «N a» + «N c» }

func init() { «N c» *= 10 }

func init() {
	«N tab»["z"] = func(n int) int { return n * «N a» }
}
-----
fmt.Println(«N a», «N b», «N c», len(«N tab»), «N tab»["x"](1)-«N e», «N tab»["z"](3), «N tab»["y"] == nil)
_ = «N once»
«p A «N once»»`,
	// Method values, expressions and functions as fields.
	`type «N Op» func(a, b int) int

func (o «N Op») Then(p «N Op») «N Op» { return func(a, b int) int { return p(o(a, b), b) } }
func (o «N Op») On(xs ...int) int      { return Reduce(xs, 0, func(t, x int) int { return o(t, x) }) }

type «N T» struct {
	f    func(«t A») «t A»
	ops  map[string]«N Op»
	hist []string
}

func («N T») plain() string { return "plain" }
func (t *«N T») log(s string, rest ...any) *«N T» {
	t.hist = append(t.hist, s+fmt.Sprint(len(rest)))
	return t
}
-----
add, mul := «N Op»(func(a, b int) int { return a + b }), «N Op»(func(a, b int) int { return a * b })
t := &«N T»{f: func(x «t A») «t A» { return x }, ops: map[string]«N Op»{"+": add, "*": mul, "+*": add.Then(mul)}}
fmt.Println(add.Then(mul).Then(add)(2, «e int»), mul.On(1, 2), add.On([]int{1, 2, «e int»}...), t.ops["+*"](1, 2), «N Op».On(add), «N T».plain(*t), (*«N T»).plain(t))
log := t.log
(*«N T»).log(t, "x", 1, "y").log("z")
log("w", []any{1, nil}...).log(t.plain(), t.ops["+"](1, 1))
fmt.Println(t.hist)
_ = t.f(«e A»)
for _, g := range []func() string{t.plain, func() string { return fmt.Sprint(len(t.hist)) }} {
defer func(s string) { fmt.Println("deferred", s) }(g())
}`,
	// Iterators: what leaves their bodies.
	`func «N gen»(n int, done *int) func(func(int, «t A») bool) {
	return func(yield func(int, «t A») bool) {
		defer func() { *done++ }()
		for i := range n {
			if !yield(i, «q A») {
				return
			}
		}
	}
}

func «N find»(stop int) (at int, how string) {
	n := 0
	defer func() { how += fmt.Sprint(n) }()
outer:
	for i := range «N gen»(4, &n) {
		for j, x := range «N gen»(4, &n) {
			_ = x
			switch {
			case j == 2:
				continue outer
			case i == stop && j == 1:
				return i*10 + j, "returned"
			case i == 3:
				break outer
			}
			defer func() { at++ }()
		}
	}
	return n, "ended"
}
-----
for i := range 5 {
fmt.Println(«N find»(i))
}
n := 0
func() {
defer func() { fmt.Println(recover(), n) }()
for i := range «N gen»(3, &n) {
if i == «e int»&3 {
panic("in body")
}
}
}()
var fs []func() int
for i := range «N gen»(3, &n) {
fs = append(fs, func() int { i += n; return i })
}
fmt.Println(fs[0](), fs[1](), fs[0]())`,
	// Values: assignment copies, conversion keeps, comparison looks into.
	`type «N In» struct {
	a [2]int
	m map[string]int
}

type «N Out» struct {
	in  «N In»
	ins [2]«N In»
	p   *«N In»
	any any
}

func (o «N Out») changed() «N Out»  { o.in.a[0] = 9; o.ins[1].a[1] = 8; o.in.m["c"] = 1; return o }
func (o *«N Out») change() *«N Out» { o.in.a[0]++; o.p = &o.ins[0]; o.p.a[1] += 5; return o }
-----
x := «N Out»{in: «N In»{[2]int{«e int», 2}, map[string]int{}}}
y := x
y.change().change()
z := y.changed()
y.ins[0].a[0] = «e int»
z.p.a[0] += 3
arr := [2]«N Out»{x, y}
brr := arr
brr[0].in.a[1], arr[1].in.a = 70, [2]int{5, 6}
fmt.Println(x.in, x.ins, y.in, y.ins, z.in, z.ins, z.p == &y.ins[0], arr[0].in, brr[1].in.a, len(x.in.m))
for i, o := range arr {
o.in.a[0] = 1000
arr[i].ins[0].a[0] = i
fmt.Println(i, o.in.a, arr[i].in.a, o.ins[0].a == arr[i].ins[0].a)
}
q := &arr[1]
*q = arr[0]
q.in.a[1]--
m := map[[2]int]*«N Out»{arr[0].in.a: q, {1, 2}: &x}
fmt.Println(arr[0].in.a, arr[1].in.a, m[x.in.a] == q, m[[2]int{1, 2}] == &x)
y.any, z.any = x.in.a, x.in.a
fmt.Println(y.any == z.any, y.any == any([2]int{}), z.any.([2]int)[1])`,
	// Conversions between numbers, and what they lose.
	`type «N U» uint16
type «N S» int16

func «N all»(n int64, f float64) []any {
	return []any{int8(n), uint8(n), int16(n), uint16(n), int32(n), uint32(n), uint64(n), float32(n), float64(n), «N U»(n), «N S»(n) >> 2, «N U»(n) << 3,
		float32(f), int(f * 10), complex64(complex(f, -f)), n >> (uint8(n) & 63), uint8(n) >> 9, int8(n) / 3, n % 7, -n, ^n, n &^ 0xff, string(rune(n & 0x7ff))}
}
-----
for _, n := range []int64{0, -1, 127, 128, -129, 65535, 1 << 31, -1 << 63, int64(«e int»), int64(«e uint8») << 40} {
fmt.Println(«N all»(n, float64(«e float32»)/7)...)
}
const big = 1 << 100
var u «N U» = big >> 90
u -= 2000
fmt.Println(u, u*u, -u, u/3%5, «N S»(u), big/(1<<98), float64(big) > 1e30, 7/2*2.0, 7/2.0, 'a'+1, "s"+"t")`,
	// Switches of all kinds.
	`func «N kind»(x any, n int) (s string) {
	switch y := x.(type) {
	case nil:
		return "nil"
	case int:
		switch {
		case y < n:
			s = "less"
		case y == n:
			s = "same"
			break
		default:
			return "more"
		}
	case []int, []string:
		s = fmt.Sprint("list", y)
	case func() int:
		if s = "func"; y() > n {
			s += "+"
		}
	case error:
		s = y.Error()
	case interface{ Area() int }:
		s = fmt.Sprint("area", y.Area())
	case *int:
		*y++
		return fmt.Sprint("pointer", *y)
	case [2]bool, struct{ A int }:
		defer func() { s += fmt.Sprintf("%v", y) }()
		s = "value"
	default:
		s = fmt.Sprintf("%T", y)
	}
	return s + "."
}
-----
n := «e int»
for _, x := range []any{nil, «e int», n, []int{1}, []string(nil), func() int { return n }, &MyErr{1}, Sq{2}, &n, [2]bool{true}, struct{ A int }{3}, struct{ B int }{3}, 'x', map[string]«t A»{}} {
fmt.Println(«N kind»(x, 5))
}`,
	// Goroutines: pipelines, workers, errors, panics that are caught.
	`type «N job» struct {
	id   int
	done chan<- string
}

func «N worker»(jobs <-chan «N job», wg *sync.WaitGroup) {
	defer wg.Done()
	for j := range jobs {
		func() {
			defer func() {
				if r := recover(); r != nil {
					j.done <- fmt.Sprint("caught ", r)
				}
			}()
			if j.id%3 == 2 {
				var m map[int]int
				m[j.id]++
			}
			j.done <- fmt.Sprint("job ", j.id)
		}()
	}
}
-----
jobs, results := make(chan «N job»), make(chan string, 10)
var wg sync.WaitGroup
for range 3 {
wg.Add(1)
go «N worker»(jobs, &wg)
}
for i := range 6 {
jobs <- «N job»{i, results}
}
close(jobs)
wg.Wait()
close(results)
var all []string
for r := range results {
all = append(all, r)
}
slices.Sort(all)
fmt.Println(strings.Join(all, "; "))
sem, quit := make(chan struct{}, 2), make(chan bool)
var mu sync.RWMutex
count := map[string]int{}
for i := range 5 {
sem <- struct{}{}
go func(k string) {
defer func() { <-sem }()
mu.Lock()
count[k]++
mu.Unlock()
}(string(rune('a' + i%2)))
}
for range cap(sem) {
sem <- struct{}{}
}
go func() { quit <- true }()
select {
case <-quit:
mu.RLock()
fmt.Println(count)
mu.RUnlock()
case <-time.After(time.Minute):
fmt.Println("late")
}`,
	// Places: what is assigned to is found once.
	`var «N calls» []string

func «N at»(s string, n int) int { «N calls» = append(«N calls», s); return n }

type «N P» struct {
	xs [3]int
	m  map[string][]int
	p  *«N P»
}

func (p *«N P») get(s string) *«N P» { «N calls» = append(«N calls», s); return p }
-----
p := &«N P»{m: map[string][]int{"k": {1, 2, 3}}}
p.p = p
p.get("a").xs[«N at»("b", 1)] += «N at»("c", 5)
p.get("d").p.xs[«N at»("e", 1)]++
p.get("f").m["k"][«N at»("g", 2)] <<= «N at»("h", 2)
*&p.get("i").xs[«N at»("j", 0)] -= 3
p.m["n"] = append(p.get("k").m["n"], «N at»("l", 1), «N at»("m", 2))
p.xs[«N at»("o", 0)], p.xs[«N at»("p", 2)] = p.xs[«N at»("q", 2)], p.xs[«N at»("r", 0)]
var i any = «N at»("s", 3)
p.xs[i.(int)%3], _ = «N at»("t", 40), «N at»("u", 1)
fmt.Println(p.xs, p.m, strings.Join(«N calls», ""))
q := p
p, p.p = &«N P»{}, nil
fmt.Println(p.p == nil, q.p == nil)`,
}

// declaredIdiom writes the declarations of one, and returns its statements.
func (g *generator) declaredIdiom(s *scope, text string) (use string) {
	decls, use, _ := strings.Cut(text, "\n-----\n")
	fill := g.filler(&scope{vars: s.vars, quiet: true})
	decls = fill(decls)
	g.line("%s", decls)
	return "{\n" + fill(use) + "\n}"
}
