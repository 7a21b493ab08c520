package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// An expression of the matrix, with its type.
type expression struct{ typ, text string }

// matrixHelpers is what the matrix's functions share.
const matrixHelpers = `
type S struct {
	N    int
	Name string
}

func (s S) Get() int       { return s.N }
func (s S) Title() string  { return "S:" + s.Name }
func (s *S) Add(n int) int { s.N += n; return s.N }
func (s *S) Self() *S      { return s }

type Outer struct {
	S
	Deep *S
	Xs   []int
}

type Shape interface{ Area() int }
type Sq struct{ Side int }

func (q Sq) Area() int { return q.Side * q.Side }

type Num int

func (n Num) Area() int       { return int(n) }
func (n Num) String() string  { return "Num" }
func (n *Num) Set(v Num) Num  { return *n + v }

type List []int

func (l List) Sum() (t int) {
	for _, x := range l {
		t += x
	}
	return
}

type Fn func(int) int

func (f Fn) Twice(x int) int { return f(f(x)) }

type MyErr struct{ Code int }

func (e *MyErr) Error() string { return "MyErr" }

type Pair[A, B any] struct {
	A A
	B B
}

func (p Pair[A, B]) Swap() Pair[B, A]    { return Pair[B, A]{p.B, p.A} }
func (p *Pair[A, B]) SetA(a A) *Pair[A, B] { p.A = a; return p }

const konst = 6

var gi = 11
var gs = "global"
var gxs = []int{1, 2, 3}
var gst = S{5, "g"}
var gm = map[string]int{"g": 4}

func f0() int                          { return 21 }
func add(a, b int) int                 { return a + b }
func vsum(xs ...int) int               { t := 0; for _, x := range xs { t += x }; return t }
func vany(xs ...any) int               { return len(xs) }
func vstr(a string, xs ...string) string { return a + strings.Join(xs, "-") }
func two() (int, string)               { return 8, "two" }
func twoInts() (int, int)              { return 8, 9 }
func named() (n int, err error)        { n = 5; return }
func fail() (int, error)               { return 0, &MyErr{3} }
func isNil(xs ...int) bool             { return xs == nil }
func none() bool                       { return false }
func yes() bool                        { return true }
func idf(n int) func(int) int          { return func(m int) int { return n + m } }
func id[T any](x T) T                  { return x }
func ptr[T any](x T) *T                { return &x }
func full[T any](xs ...T) chan T       { c := make(chan T, len(xs)+1); for _, x := range xs { c <- x }; return c }
func pick[T any](b bool, x, y T) T     { if b { return x }; return y }
func gmax[T int | string | float64](a, b T) T { if a > b { return a }; return b }
func seq[T any](xs ...T) func(func(int, T) bool) {
	return func(yield func(int, T) bool) {
		for i, x := range xs {
			if !yield(i, x) {
				return
			}
		}
	}
}
func count(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func show(args ...any) { fmt.Println(args...) }

func try(name string, f func()) {
	fmt.Println("#", name)
	defer func() {
		if r := recover(); r != nil {
			fmt.Println("panic:", r)
		}
	}()
	f()
}
`

// What each function of the matrix begins with: variables, of which pointers and
// closures have some, or none. bs has no room for more: how much []byte(string) has
// is left open, and so is whether two slices that are appended to it share it.
const (
	sharedLocals = `	i, j, k3, s, t, b, f, z, u := 3, 5, 1, "abc", "déf", true, 2.5, 3+4i, uint(2)
` + matrixLocals + `	pa, ps, pi, fn = &arr, &st, &i, func(k int) int { return k + i }
` + shownLocals
	plainLocals = `	i, j, k3, s, t, b, f, z, u := 3, 5, 1, "abc", "déf", true, 2.5, 3+4i, uint(2)
` + matrixLocals + shownLocals
	matrixLocals = `	xs, ss, bs, arr := []int{1, 2, 3}, []string{"x", "y"}, slices.Clip([]byte("xyz")), [3]int{7, 8, 9}
	pa, m, st, r8, c8 := &[3]int{7, 8, 9}, map[string]int{"a": 1, "abc": 2}, S{1, "st"}, int8(-7), byte(200)
	ps, pi, ch, fn, n := &S{1, s}, ptr(3), full(4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19), func(k int) int { return k + 3 }, Num(4)
	out, pr, xss, ms := Outer{S{2, "in"}, &S{3, "deep"}, []int{4, 5}}, Pair[int, string]{1, "p"}, [][]int{{1}, {2, 3}}, map[string][]int{"k": {7}}
	var e, es any = 7, "dyn"
	var er error = &MyErr{4}
	var sh Shape = Sq{3}
`
	shownLocals = `	show(i, j, s, t, b, f, z, u, xs, ss, bs, arr, *pa, m, st, r8, c8, ps, *pi, len(ch), fn(1), n, out.N, pr, xss, ms, e, es, er, sh, k3)
`
)

// matrixExpressions has every kind of expression.
func matrixExpressions() []expression {
	var list []expression
	add := func(typ string, texts ...string) {
		for _, t := range texts {
			list = append(list, expression{typ, t})
		}
	}
	add("int", "3", "konst", "i", "gi", "-i", "^j", "+i", "(i)", "i + j", "i*j - 1", "i &^ j", "i << u", "j >> 1", "j / i", "j % i", "i<<j | 1",
		"len(s)", "len(xs)", "len(arr)", "len(pa)", "len(m)", "len(ch)", "len(bs)", "len(ss[0])", "cap(xs)", "cap(ch)", "cap(arr)", "cap(pa)",
		"xs[1]", "xs[i-2]", "arr[j-4]", "arr[2]", "pa[1]", "pa[i-1]", "gxs[0]", "xss[1][0]", `m["a"]`, "m[s]", `m["none"]`, `ms["k"][0]`,
		"st.N", "ps.N", "gst.N", "out.N", "out.S.N", "out.Deep.N", "out.Xs[1]", "pr.A", "*pi", "*&i", "(*ps).N",
		"fn(i)", "f0()", "add(i, j)", "add(twoInts())", "vsum()", "vsum(1)", "vsum(i, j)", "vsum(xs...)", "vsum(nil...)", "vsum(twoInts())", "vany()", "vany(i, s)", "vany(two())", "idf(3)(i)",
		"st.Get()", "ps.Get()", "st.Add(0)", "ps.Add(0)", "out.Get()", "out.Add(0)", "out.Deep.Add(0)", "ps.Self().N", "ps.Self().Get()", "S.Get(st)", "(*S).Add(ps, 0)", "(*S).Get(ps)",
		"sh.Area()", "Shape.Area(sh)", "Sq.Area(Sq{2})", "Sq{4}.Area()", "Sq{4}.Side", "n.Area()", "List(xs).Sum()", "Fn(fn).Twice(1)", "Fn(idf(2)).Twice(1)",
		"e.(int)", "sh.(Sq).Side", "er.(*MyErr).Code", "<-ch", "<-full(i)", "int(f)", "int(c8)", "int(r8)", "int(n)", "int(real(z))", "int(imag(z))",
		"min(i, j)", "max(i, j, 4)", "min(j, 9)", "copy(xs, xs)", `copy(bs, "qq")`, "copy(bs, s)", "copy(bs, bs[1:])",
		"func() int { return i }()", "func(k int) int { return k + j }(2)", "func() int { defer func() {}(); return i }()",
		"id(i)", "id[int](4)", "gmax(i, j)", "pick(b, i, j)", "*ptr(i)", "*new(int)", "*new(i)", "Pair[int, string]{1, s}.A", "ptr(pr).SetA(6).A", "pr.Swap().B",
		"[]int{1, i}[1]", "[...]int{4, 5}[i-2]", `map[string]int{"k": i}["k"]`, "map[int]int{i: j}[3]", "struct{ a int }{i}.a", "(&S{7, s}).N", "S{i, s}.Get()", "(&S{i, s}).Add(1)",
		"len(append(xs, i))", "append(xs, i)[3]", "cap(make([]int, i, j))", "len(make([]int, i))", "len(make(map[string]int, i))", "len(s[1:])", "len(s + t)", "len([]rune(t))", "len(string(bs))", "len(fmt.Sprint(i))",
		"strings.Index(s, \"c\")", "len(strings.Repeat(s, i))", "int(unsafe.Sizeof(i))", "len([]int{1, 2}[:1])", "-len(s)", "len(s) * len(xs)", "<-ch + <-ch", "fn(fn(1))", "add(len(s), cap(xs))", "add(vsum(), vsum(1))")
	add("string", `"lit"`, "s", "gs", "s + t", `s + "x" + t`, "s[1:]", "t[:2]", "s[i-2 : 2]", "ss[1]", "ss[i-2]", "string(bs)", "string(rune(i + 64))", "string([]rune(t))", "st.Name", "ps.Name", "out.Name", "pr.B",
		"st.Title()", "ps.Title()", "out.Title()", "out.Deep.Title()", "n.String()", "er.Error()", "vstr(s)", "vstr(s, t)", "vstr(s, ss...)", "fmt.Sprint(i)", "fmt.Sprint()", `fmt.Sprintf("%d-%s", i, s)`, `fmt.Sprintf("%T", sh)`, "strings.ToUpper(s)", "strings.Join(ss, s)",
		"es.(string)", "id(s)", "gmax(s, t)", "min(s, t)", "pick(b, s, t)", "*ptr(s)", `map[int]string{1: s}[1]`, `[]string{s, t}[1]`, "func() string { return s }()", "pr.Swap().A", "<-full(s)", "string(s[0])", "(s)")
	add("bool", "true", "b", "!b", "i < j", "i == j", "s == t", "s < t", "f > 1", "b && i > 1", "b || none()", "yes() && none()", "none() || yes()", "isNil()", "isNil(1)", "isNil(nil...)", "!isNil()", "isNil() && true", "isNil() || none()", "b && isNil(xs...)",
		"e == 7", "e == es", "er != nil", "er == nil", "sh == Sq{3}", "st == S{1, s}", "arr == [3]int{7, 8, 9}", "arr == *pa", "pi == nil", "xs == nil", "xs != nil", "m == nil", "fn == nil", "ps == &st", "e.(int) == 7", "len(s) > 2", "vsum() == 0 && b", "id(b)", "*ptr(b)", "pick(b, b, !b)",
		"func() bool { return b }()", "<-full(b)", `m["a"] == 1`, "c8 > 100", "z == 3+4i", "n == 4", "strings.Contains(s, \"b\")", "(b)", "b == (i < j)", "[]bool{b, false}[i-3]", "false", "any(b).(bool)", "any(!b).(bool)", "!any(b).(bool)", "[]bool{b, false}[1]", "m[s] > 7", "<-full(!b)", "*ptr(!b)", "func() bool { return i > j }()", "any(i > j).(bool) || none()", "er.(*MyErr) != nil")
	add("float64", "2.5", "f", "-f", "f*2 + 1", "f / 4", "float64(i)", "float64(i) / 2", "real(z)", "imag(z)", "min(f, 1.5)", "max(f, float64(i))", "id(f)", "gmax(f, 1)", "*ptr(f)", "[]float64{f}[0]", "float64(f)", "math.Sqrt(f)", "math.Floor(-f)", "<-full(f)")
	add("complex128", "3i", "z", "-z", "z * z", "z + 1", "complex(f, 1)", "complex(f, f)", "complex(real(z), f)", "id(z)", "*ptr(z)", "z / 2")
	add("byte", "c8", "s[0]", "s[i-2]", "bs[1]", "byte(i)", "c8 + 100", "c8 << 1", "'x'", "byte(len(s))", "id(c8)", "min(c8, 3)", "^c8")
	add("int8", "r8", "-r8", "r8 * 2", "int8(i)", "r8 << 4", "r8 >> 1", "r8 / 2", "int8(c8)", "r8 &^ 3")
	add("rune", "'é'", "rune(s[0])", "[]rune(t)[1]", "rune(i)")
	add("[]int", "xs", "gxs", "nil", "[]int{}", "[]int{i, j}", "[]int{2: i, 1}", "xs[1:]", "xs[:i-1]", "xs[1:2:3]", "arr[:]", "arr[1:2]", "pa[1:]", "append(xs, i)", "append(xs, xs...)", "append([]int(nil), i, j)", "append(xs[:1], 9)", "append([]int{}, arr[:]...)", "make([]int, 2)", "make([]int, i, j)", "[]int(List(xs))", "out.Xs", "xss[1]", `ms["k"]`, "id(xs)", "*ptr(xs)", "func() []int { return xs }()", "slices.Clone(xs)", "<-full(xs)", "pick(b, xs, nil)", "[][]int{{i}, {j, 1}}[1]", "slices.Sorted(slices.Values(xs))")
	add("[]byte", "bs", "[]byte(s)", `[]byte("lit")`, "append(bs, s...)", "append(bs, 'q')", `append([]byte("a"), "b"...)`, "bs[1:]", "fmt.Append(nil, i)")
	add("[]string", "ss", "[]string{s, t}", "strings.Split(s, \"b\")", "append(ss, s, t)", "strings.Fields(s)")
	add("[3]int", "arr", "*pa", "[3]int{1, i}", "[...]int{i, j, 1}", "[3]int{2: j}", "id(arr)", "*ptr(arr)", "[3]int(xs)", "func() [3]int { return arr }()", "<-full(arr)")
	add("map[string]int", "m", "gm", "nil", "map[string]int{}", "map[string]int{s: i, t: len(s)}", "make(map[string]int)", "id(m)", "maps.Clone(m)")
	add("S", "st", "gst", "*ps", "S{}", "S{i, s}", "S{Name: s}", "S{N: len(s), Name: t[:1]}", "out.S", "*out.Deep", "id(st)", "*ptr(st)", "S(struct {\nN int\nName string\n}{i, s})", "func() S { return st }()", "[]S{{1, s}, {N: i}}[1]", "map[string]S{s: {2, t}}[s]", "*ps.Self()", "<-full(st)", "pick(b, st, S{})")
	add("*S", "ps", "&st", "&S{}", "&S{i, s}", "&out.S", "out.Deep", "new(S)", "ptr(st)", "ps.Self()", "(*S)(ps)", "[]*S{{i, s}}[0]", "map[string]*S{s: {N: 1}}[s]", "func() *S { return &st }()", "&[]S{{4, s}}[0]", "id(ps)", "st.Self()", "new(st)")
	add("*int", "pi", "&i", "&xs[1]", "&arr[i-2]", "&pa[1]", "&st.N", "&ps.N", "&out.S.N", "new(int)", "ptr(i)", "new(i)", "&[]int{4}[0]")
	add("func(int) int", "fn", "idf(2)", "func(k int) int { return k * j }", "Fn(fn).Twice", "ps.Add", "st.Add", "id(fn)", "vadd", "[]func(int) int{fn}[0]", "(func(int) int)(Fn(fn))")
	add("Num", "n", "Num(i)", "n + 1", "Num(len(s))", "-n", "id(n)", "n.Set(3)", "min(n, 2)", "*ptr(n)", "n << 1")
	add("List", "List(xs)", "List{i, j}", "append(List(nil), i)", "List(nil)", "List(xs)[1:]")
	add("Shape", "sh", "Sq{i}", "Shape(Sq{2})", "n", "Shape(n)", "e2", "id(sh)", "[]Shape{sh, n}[1]", "sh.(Shape)", "any(sh).(Shape)", "&Sq{i}", "func() Shape { return sh }()", "pick[Shape](b, sh, n)", "<-full(sh)", `map[string]Shape{s: n}[s]`)
	add("any", "e", "es", "nil", "any(i)", "any(nil)", "i", "s", "st", "xs", "1.5", "'x'", "sh", "er", "id(e)", "id[any](i)", "[]any{i, s}[1]", "any(len(s))", "len(s)", "append(xs, i)", "struct{ A int }{i}", "pr", "n", "*ps", "r8", "z", "yes()", "i < j", "f0()", "append([]any{}, e, es)[1]", "[2]int{i, j}", "map[string]int{s: i}", "func() any { return e }()", "Num(3).String()")
	add("error", "er", "nil", "error(&MyErr{1})", "&MyErr{i}", "fmt.Errorf(\"w %d\", i)", "fmt.Errorf(\"w %w\", er)", "errors.New(s)", "errors.Unwrap(er)", "id(er)", "er.(error)", "e3()")
	add("chan int", "ch", "full(i)", "make(chan int, 2)", "id(ch)", "make(chan int)", "func() chan int { return ch }()")
	add("Pair[int, string]", "pr", "Pair[int, string]{i, s}", "Pair[string, int]{s, i}.Swap()", "*ptr(pr).SetA(3)", "pr.Swap().Swap()")
	add("[][]int", "xss", "[][]int{xs, {1}}", "append(xss, xs)", "append(xss, nil, []int{i})")
	return list
}

// A place where an expression can stand: H stands for it, T for its type, and R
// for an expression of the same type. It holds statements; v, where it is
// declared, is shown afterwards.
type place struct{ types, text string }

// matrixPlaces has every operand position of every statement and expression.
// types are those that fit, "*" for all, separated by "|".
func matrixPlaces() []place {
	return []place{
		{"*", "var v T = H\nshow(see(v))"}, {"*", "var v, w T = H, R\nshow(see(v), see(w))"}, {"*", "var v T\nv = H\nshow(see(v))"},
		{"*", "var v T\nw := 0\nv, w = H, 1\nshow(see(v), w)"}, {"*", "var v T\nw := 0\nw, v = 1, H\nshow(see(v), w)"}, {"*", "var v, w T = R, H\nv, w = w, v\nshow(see(v), see(w))"},
		{"*", "v, w := T(H), 2\nshow(see(v), w)"}, {"*", "v := func() T { return H }()\nshow(see(v))"},
		{"*", "v, w := func() (T, int) { return H, len(s) }()\nshow(see(v), w)"}, {"*", "w, v := func() (int, T) { return 1, H }()\nshow(see(v), w)"}, {"*", "a, v, w := func() (string, T, []int) { return s, H, append(xs, 1) }()\nshow(a, see(v), w)"},
		{"*", "v := func() (r T) { return H }()\nshow(see(v))"}, {"*", "v := func() (r T) { r = H; return }()\nshow(see(v))"}, {"*", "v, w := func() (w int, r T) { w = 3; return w, H }()\nshow(v, see(w))"},
		{"*", "v := func() (r T) { defer func() { show(\"deferred\", recover()) }(); return H }()\nshow(see(v))"}, {"*", "v, w := func() (T, error) { defer func() {}(); return H, er }()\nshow(see(v), w)"},
		{"*", "v := func() T { for range count(2) { return H }; return R }()\nshow(see(v))"},
		{"*", "var v T = id[T](H)\nshow(see(v))"}, {"*", "v := pick[T](true, H, R)\nshow(see(v))"}, {"*", "v := pick[T](false, R, H)\nshow(see(v))"}, {"*", "v := pick[T](b || none(), H, H)\nshow(see(v))"},
		{"*", "v := func(a int, x T) T { return x }(len(s), H)\nshow(see(v))"}, {"*", "v := func(xs ...T) int { return len(xs) }(H, R, H)\nshow(v)"}, {"*", "v := <-full[T](H)\nshow(see(v))"}, {"*", "v := *ptr[T](H)\nshow(see(v))"},
		{"*", "v := []T{H}\nshow(see(v[0]))"}, {"*", "v := []T{R, H}[1]\nshow(see(v))"}, {"*", "v := [2]T{1: H}\nshow(see(v[1]))"}, {"*", "v := map[string]T{\"a\": H}\nshow(see(v[\"a\"]))"}, {"*", "v := map[int][]T{1: {H}}\nshow(see(v[1][0]))"},
		{"*", "v := struct{ a int; f T }{1, H}\nshow(see(v.f))"}, {"*", "v := &struct{ f T; a string }{f: H, a: s}\nshow(see(v.f), v.a)"}, {"*", "v := Pair[T, int]{H, 1}\nshow(see(v.A))"}, {"*", "v := Pair[int, T]{B: H}.Swap().A\nshow(see(v))"}, {"*", "v := (&Pair[T, int]{}).SetA(H)\nshow(see(v.A))"}, {"*", "v := []Pair[T, int]{{H, 1}, {A: R}}\nshow(see(v[0].A))"},
		{"*", "var v any = T(H)\nw, ok := v.(T)\nshow(see(w), ok)"}, {"*", "v, ok := any(T(H)).(T)\nshow(see(v), ok)"}, {"*", "v, ok := any(T(H)).(fmt.Stringer)\nshow(v, ok)"}, {"*", "switch v := any(T(H)).(type) {\ncase nil:\nshow(\"nil\")\ncase T:\nshow(see(v))\ndefault:\nshow(\"other\")\n}"}, {"*", "switch any(T(H)).(type) {\ncase chan bool, func():\nshow(1)\ndefault:\nshow(2)\n}"},
		{"*", "v := append([]T{}, H)\nshow(see(v[0]))"}, {"*", "v := append([]T{R}, H, R)\nshow(see(v[1]))"}, {"*", "v := append([]T(nil), []T{H}...)\nshow(see(v[0]))"}, {"*", "v := make([]T, 2)\nv[1] = H\nshow(see(v[1]))"}, {"*", "v := make([]T, 1)\nv[i-3] = H\nshow(see(v[0]))"}, {"*", "v := map[string]T{}\nv[s] = H\nshow(see(v[s]))"}, {"*", "v := map[string][]T{}\nv[s] = append(v[s], H)\nshow(see(v[s][0]))"}, {"*", "var v [3]T\nv[i-2], v[2] = H, R\nshow(see(v[1]))"}, {"*", "var v struct{ f T }\nv.f = H\nshow(see(v.f))"}, {"*", "v := &struct{ f [2]T }{}\nv.f[1] = H\nshow(see(v.f[1]))"}, {"*", "v := new(T)\n*v = H\nshow(see(*v))"}, {"*", "v := []Pair[T, int]{{}}\nv[0].A = H\nshow(see(v[0].A))"},
		{"*", "v := make(chan T, 1)\nv <- H\nw, ok := <-v\nshow(see(w), ok)"}, {"*", "v := make(chan T, 1)\nselect {\ncase v <- H:\nshow(see(<-v))\ndefault:\nshow(0)\n}"}, {"*", "var v T\nselect {\ncase v = <-full[T](H):\n}\nshow(see(v))"}, {"*", "select {\ncase v, ok := <-full[T](H):\nshow(see(v), ok)\n}"},
		{"*", "defer func(v T) { show(\"defer\", see(v)) }(H)"}, {"*", "func() {\ndefer show(\"d\", see(T(H)))\nshow(1)\n}()"}, {"*", "w := make(chan T)\ngo func(v T) { w <- v }(H)\nshow(see(<-w))"}, {"*", "w := make(chan T, 1)\ngo func() { w <- H }()\nshow(see(<-w))"}, {"*", "v := func() T { x := func() T { return H }; return x() }\nshow(see(v()))"}, {"*", "var v T = H\nw := func() { v = R }\nx := see(v)\nw()\nshow(x, see(v))"},
		{"*", "for k, v := range []T{H, R} {\nshow(k, see(v))\n}"}, {"*", "for k, v := range [...]T{H, R} {\nshow(k, see(v))\n}"}, {"*", "for k, v := range map[int]T{1: H} {\nshow(k, see(v))\n}"}, {"*", "for k, v := range seq[T](H, R) {\nshow(k, see(v))\n}"}, {"*", "c := full[T](H)\nclose(c)\nfor v := range c {\nshow(see(v))\n}"}, {"*", "for v := T(H); b; b = false {\nshow(see(v))\n}"}, {"*", "var v T\nfor b = true; b; v, b = H, false {\n}\nshow(see(v))"},
		{"*", "if v := T(H); b {\nshow(see(v))\n}"}, {"*", "switch v := T(H); {\ncase b:\nshow(see(v))\n}"}, {"*", "func() {\ndefer func() { show(see(recover())) }()\npanic(T(H))\n}()"}, {"*", "_ = T(H)\nshow(1)"}, {"*", "var _ T = H\nshow(1)"}, {"*", "v := struct{ T any }{T(H)}\nshow(see(v.T))"}, {"*", "v := fmt.Sprint(see(T(H)), 1)\nshow(v)"}, {"*", "show(see(T(H)))"}, {"*", "v := []any{T(H), R}\nshow(see(v[0]), len(v))"}, {"*", "var v, ok = any(T(H)).(interface{ Area() int })\nshow(see(v), ok)"},
		{"*", "L:\nfor {\nv := T(H)\nfor {\nshow(see(v))\nbreak L\n}\n}"}, {"*", "v := map[bool]func() T{b: func() T { return H }}[b]()\nshow(see(v))"}, {"*", "type local struct{ f T }\nv := local{H}\nshow(see(v.f))"}, {"*", "func() {\nv := T(H)\ndefer func() { show(see(v)) }()\nv = R\n}()"},
		{"int|byte|int8|rune|Num|float64|string|complex128", "v := T(H) + R\nshow(v)"}, {"int|byte|int8|rune|Num|float64|string|complex128", "v := R + T(H)\nshow(v)"}, {"int|byte|int8|rune|Num|float64|string|complex128", "v := T(R)\nv += H\nshow(v)"},
		{"int|byte|int8|rune|Num|float64|complex128", "v := -T(H) * R\nshow(v)"}, {"int|byte|int8|rune|Num|float64|string", "v := T(H) < R\nw := R >= T(H)\nshow(v, w)"}, {"int|byte|int8|rune|Num|float64|string", "v := min(T(H), R)\nw := max(R, H)\nshow(v, w)"},
		{"int|byte|int8|rune|Num", "v := uint8(H)\nw := T(H) << 2 >> u\nshow(v, w)"}, {"int|byte|Num", "v := 1 << (uint(H) & 7)\nshow(v)"}, {"int|byte|int8|Num", "v := T(H)\nv++\nv <<= 1\nv ^= H\nshow(v)"}, {"int|byte|int8|rune|Num", "v := T(R) % (H&3 + 1)\nshow(v)"}, {"int|byte|Num", "v := T(H)\nv /= 3\nv |= H\nv &^= 2\nshow(v)"},
		{"int", "v := []int{1, 2, 3, 4}[(H)&3]\nshow(v)"}, {"int", "v := [4]int{1, 2, 3, 4}\nv[(H)&3] += 5\nv[(H)&3]++\nshow(v)"}, {"int", "v := arr[H&1]\nshow(v)"}, {"int", "v := pa[H&1]\npa[H&1] = 4\nshow(v, *pa)"}, {"int", "v := xs[H]\nshow(v)"}, {"int", "xs[H] = 4\nshow(xs)"}, {"int", "v := s[H&1]\nshow(v)"}, {"int", "v := \"constant\"[H&7]\nshow(v)"}, {"int", "v := xs[H&1:]\nw := s[:H&1]\nx := arr[H&1 : 2]\nshow(v, w, x)"}, {"int", "v := xs[0:H&1:3]\nw := xs[0:1:H&1+1]\nshow(v, cap(v), w, cap(w))"}, {"int", "v := s[H:]\nshow(v)"}, {"int", "v := xs[:H]\nshow(v)"},
		{"int", "v := make([]int, H&7)\nshow(v)"}, {"int", "v := make([]string, 0, H&7)\nshow(len(v), cap(v))"}, {"int", "v := make(chan int, H&7)\nshow(cap(v))"}, {"int", "v := make(map[int]int, H&7)\nv[H] = H\nshow(v)"}, {"int", "for v := range H & 3 {\nshow(v)\n}"}, {"int", "for range H & 3 {\nshow(1)\n}"}, {"int", "for v := 0; v < H&3; v++ {\nshow(v)\n}"}, {"int", "for v := H & 3; v > 0; v -= H&1 + 1 {\nshow(v)\n}"}, {"int", "switch H {\ncase 3, 5:\nshow(1)\ncase 8:\nshow(2)\ndefault:\nshow(3)\n}"}, {"int", "switch j {\ncase 1, H:\nshow(1)\ncase 5:\nshow(2)\n}"}, {"int", "switch {\ncase H > 3:\nshow(1)\nfallthrough\ncase H < 2:\nshow(2)\ndefault:\nshow(3)\n}"}, {"int", "v := time.Duration(H) * time.Second\nshow(v)"}, {"int", "os.Stdout.WriteString(strconv.Itoa(H) + \"\\n\")"}, {"int", "v := vsum(H, H, 1) + vsum(H)\nshow(v)"}, {"int", "v, w := add(H, 1), add(1, H)\nshow(v, w)"}, {"int", "v := st.Add(H)\nw := ps.Add(H)\nshow(v, w)"}, {"int", "st.N, i = H, 1\nshow(st, i)"}, {"int", "m[s], xs[0] = H, 5\nshow(m, xs)"}, {"int", "m[s] += H\nm[\"n\"]++\nshow(m)"}, {"int", "out.Xs[H&1] = 9\nxss[H&1][0] -= H\nshow(out.Xs, xss)"}, {"int", "v := strings.Repeat(s, H&3)\nshow(v)"}, {"int", "v := complex(float64(H), 1)\nshow(v)"}, {"int", "v := map[int]string{H: s}\nw, ok := v[H]\ndelete(v, H)\nshow(w, ok, v)"}, {"int", "v := string(rune(H&63 + 64))\nshow(v)"}, {"int", "*pi = H\nshow(i)"}, {"int", "*ptr(i) = H\nshow(i)"}, {"int", "v := []int{H: 1}\nshow(len(v))"}, {"int", "const v = H\nshow(v)"}, {"int", "goto L\nL:\nshow(H)"},
		{"bool", "if H {\nshow(1)\n} else {\nshow(2)\n}"}, {"bool", "if !(H) {\nshow(1)\n} else if H {\nshow(2)\n}"}, {"bool", "v := H && true\nw := H && none()\nshow(v, w)"}, {"bool", "v := true && H\nw := yes() && H\nshow(v, w)"}, {"bool", "v := H || false\nw := H || yes()\nshow(v, w)"}, {"bool", "v := false || H\nw := none() || H\nx := (H) || (H) && (H)\nshow(v, w, x)"}, {"bool", "for H {\nshow(1)\nbreak\n}"}, {"bool", "for v := 0; v < 2 && H; v++ {\nshow(v)\n}"}, {"bool", "switch H {\ncase true:\nshow(1)\ncase false:\nshow(2)\n}"}, {"bool", "switch {\ncase H, b:\nshow(1)\n}"}, {"bool", "switch true {\ncase H:\nshow(1)\ndefault:\nshow(2)\n}"}, {"bool", "v := map[bool]int{H: 1}\nshow(v)"}, {"bool", "if v := H; v && b {\nshow(1)\n}"}, {"bool", "v := H == b\nw := H != (i < j)\nshow(v, w)"}, {"bool", "v := (H) == (H)\nshow(v)"}, {"bool", "v, ok := m[s]\nshow(v, ok && H)"},
		{"string", "v := len(H)\nshow(v)"}, {"string", "v := (H)[0]\nshow(v)"}, {"string", "v := (H)[1:]\nw := (H)[:1]\nshow(v, w)"}, {"string", "for k, v := range H {\nshow(k, v)\n}"}, {"string", "for k := range H {\nshow(k)\n}"}, {"string", "v := []byte(H)\nw := []rune(H)\nshow(v, w)"}, {"string", "v := m[H]\nw, ok := m[H]\nm[H] = 4\nshow(v, w, ok, m)"}, {"string", "delete(m, H)\nshow(m)"}, {"string", "switch H {\ncase \"abc\", t:\nshow(1)\ncase s + t:\nshow(2)\ndefault:\nshow(3)\n}"}, {"string", "switch s {\ncase H:\nshow(1)\ndefault:\nshow(2)\n}"}, {"string", "v := strings.ToUpper(H) + strings.Repeat(H, 2)\nshow(v)"}, {"string", "v := append(bs, H...)\nw := copy(bs, H)\nshow(v, w, bs)"}, {"string", "v := map[string]string{H: H}\nshow(v)"}, {"string", "v := vstr(H)\nw := vstr(H, H, s)\nx := vstr(s, H)\nshow(v, w, x)"}, {"string", "fmt.Printf(\"%s %q %v\\n\", H, H, H)"}, {"string", "v := fmt.Sprintf(H)\nshow(v)"}, {"string", "v := errors.New(H)\nshow(v)"}, {"string", "v := S{len(H), H}\nv.Name += H\nshow(v, v.Title())"}, {"string", "v := any(H) == any(s)\nw := any(H) == e\nshow(v, w)"}, {"string", "v := strings.NewReader(H)\nshow(v.Len())"}, {"string", "var v strings.Builder\nv.WriteString(H)\nshow(v.String())"},
		{"[]int", "v := len(T(H))\nw := cap(T(H)) >= v\nshow(v, w)"}, {"[]int", "for k, v := range T(H) {\nshow(k, v)\n}"}, {"[]int", "v := append(T(H), 1, 2)\nw := append(xs, T(H)...)\nshow(v, w)"}, {"[]int", "v := copy(xs, T(H))\nw := copy(T(H), xs)\nshow(v, w)"}, {"[]int", "v := vsum(T(H)...)\nw := vany(T(H))\nshow(v, w)"}, {"[]int", "v := T(H)\nclear(v)\nshow(v)"}, {"[]int", "v := T(H) == nil\nw := nil != T(H)\nshow(v, w)"}, {"[]int", "v := List(T(H)).Sum()\nshow(v)"}, {"[]int", "v := slices.Max(append(T(H), 1))\nshow(v)"}, {"[]int", "v := T(H)[:0]\nshow(len(v))"}, {"[]int", "for v := range slices.Values(T(H)) {\nshow(v)\n}"}, {"[]int", "v := T(H)[0]\nshow(v)"}, {"[]int", "T(H)[0]++\nshow(1)"}, {"[]int", "v, w := 0, T(H)\nv, w = len(w), append(w, 1)\nshow(v, w)"},
		{"[]byte", "v := string(T(H))\nw := append(T(H), s...)\nx := copy(bs, T(H))\nshow(v, w, x)"}, {"[]byte", "for k, v := range T(H) {\nshow(k, v)\n}"}, {"[]string", "v := strings.Join(T(H), \"+\")\nw := vstr(s, T(H)...)\nshow(v, w)"},
		{"[3]int", "v := (T(H)) == arr\nshow(v)"}, {"[3]int", "v := T(H)\nv[1] = 5\nshow(v, arr)"}, {"[3]int", "for k, v := range T(H) {\nshow(k, v)\n}"}, {"[3]int", "for k := range T(H) {\nshow(k)\n}"}, {"[3]int", "v := len(T(H))\nshow(v)"}, {"[3]int", "v := map[[3]int]int{H: 1}\nv[H]++\nshow(v)"}, {"[3]int", "v := T(H)[i-2]\nshow(v)"},
		{"map[string]int", "v := T(H)[s]\nw, ok := T(H)[s]\nx := len(T(H))\nshow(v, w, ok, x)"}, {"map[string]int", "v := T(H)\ndelete(v, s)\nclear(v)\nshow(v)"}, {"map[string]int", "v := 0\nfor _, x := range T(H) {\nv += x\n}\nshow(v)"}, {"map[string]int", "T(H)[\"q\"] = 1\nshow(1)"}, {"map[string]int", "v := T(H) == nil\nshow(v)"},
		{"S", "v := T(H).N\nw := T(H).Get()\nx := T(H).Title()\nshow(v, w, x)"}, {"S", "v := T(H)\nw := v\nw.N++\nshow(v, w, v == w)"}, {"S", "v := T(H).Get\nst.N = 50\nshow(v())"}, {"S", "v := S.Get(H)\nshow(v)"}, {"S", "v := Outer{S: H}\nv.Add(4)\nshow(v.N, v.Get())"}, {"S", "v := map[S]int{H: 1}\nv[H]++\nshow(v)"}, {"S", "v := T(H)\nw := v.Add(3)\nshow(w, v)"}, {"S", "v := any(T(H)) == any(st)\nshow(v)"}, {"S", "v := []S{H, H}\nv[1].N++\nv[0].Add(5)\nshow(v)"}, {"S", "defer T(H).Get()\nshow(1)"},
		{"*S", "v := T(H).N\nw := T(H).Get()\nx := T(H).Title()\nshow(v, w, x)"}, {"*S", "T(H).N = 9\nT(H).Add(1)\nT(H).N++\nshow(st)"}, {"*S", "v := *T(H)\nv.N = 77\nshow(v, st)"}, {"*S", "v := T(H).Add\nw := T(H).Get\nshow(v(1), w())"}, {"*S", "v := T(H) == nil\nw := T(H) != ps\nshow(v, w)"}, {"*S", "v := Outer{Deep: H}\nv.Deep.N++\nshow(v.Deep.N)"}, {"*S", "defer T(H).Add(3)\ngo T(H).Get()\nshow(1)"}, {"*S", "v := &T(H).N\n*v = 4\nshow(*v)"}, {"*S", "v := (*S).Add(H, 2)\nshow(v)"}, {"*S", "T(H).N, i = 6, 7\nshow(i)"},
		{"*int", "v := *T(H)\n*T(H) = 5\n*T(H) += 2\n(*T(H))++\nshow(v)"}, {"*int", "v := T(H) == nil\nw := **ptr(T(H))\nshow(v, w)"},
		{"func(int) int", "v := T(H)(2)\nw := Fn(T(H)).Twice(1)\nshow(v, w)"}, {"func(int) int", "defer T(H)(2)\nv := T(H) == nil\nshow(v)"}, {"func(int) int", "v := slices.IndexFunc(xs, func(k int) bool { return T(H)(k) > 100 })\nshow(v)"},
		{"Num", "v := T(H).Area()\nw := T(H).String()\nx := fmt.Sprint(T(H))\nshow(v, w, x)"}, {"Num", "var v Shape = T(H)\nw, ok := v.(Num)\nx, no := v.(Sq)\nshow(v.Area(), int(w), ok, x, no)"}, {"Num", "v := fmt.Sprintf(\"%d %v %s %T\", T(H), T(H), T(H), T(H))\nshow(v)"}, {"Num", "switch T(H) {\ncase n:\nshow(1)\ndefault:\nshow(2)\n}"},
		{"List", "v := T(H).Sum()\nw := len(T(H))\nx := append(T(H), 1)\nshow(v, w, x)"}, {"List", "for _, v := range T(H) {\nshow(v)\n}"}, {"List", "v := vsum(T(H)...)\nshow(v)"},
		{"Shape", "v := T(H).Area()\nw := T(H).Area\nshow(v, w())"}, {"Shape", "v, ok := T(H).(Sq)\nw, no := T(H).(*Sq)\nx, is := T(H).(fmt.Stringer)\nshow(v, ok, w != nil, no, x != nil, is)"}, {"Shape", "v := T(H) == sh\nw := T(H) != nil\nx := T(H) == Sq{3}\nshow(v, w, x)"}, {"Shape", "switch v := T(H).(type) {\ncase Sq:\nshow(v.Side)\ncase *Sq:\nshow(v.Side + 1)\ncase Num:\nshow(v.Area())\n}"}, {"Shape", "v := map[Shape]int{sh: 4}\nw := v[H]\nshow(w)"}, {"Shape", "defer T(H).Area()\nshow(1)"}, {"Shape", "func(v ...Shape) { show(len(v), v[0].Area()) }(H, H)"}, {"Shape", "v := Shape.Area(H)\nshow(v)"},
		{"any", "v, ok := T(H).(int)\nw, is := T(H).(string)\nshow(v, ok, w, is)"}, {"any", "v := T(H).(int)\nshow(v)"}, {"any", "v := T(H) == nil\nw := T(H) == any(3)\nshow(v, w)"}, {"any", "switch v := T(H).(type) {\ncase nil:\nshow(0)\ncase int, string:\nshow(1, v)\ncase []int:\nshow(2, len(v))\ncase error:\nshow(3, v)\ncase bool:\nshow(4, v && b)\ncase Shape:\nshow(5, v.Area())\n}"}, {"any", "v := fmt.Sprintf(\"%v %T\", H, H)\nshow(v)"}, {"any", "v := map[any]int{7: 1}\nw := v[H]\nshow(w)"}, {"any", "switch T(H) {\ncase 3, \"abc\", nil:\nshow(1)\ncase e:\nshow(2)\n}"}, {"any", "show(vany(H), vany(H, H), vany([]any{H}...))"},
		{"error", "v := T(H) == nil\nshow(v, H)"}, {"error", "if v := T(H); v != nil {\nshow(v.Error())\n}"}, {"error", "var v *MyErr\nw := errors.As(H, &v)\nx := errors.Is(H, er)\nshow(w, x, v != nil)"}, {"error", "v, ok := T(H).(*MyErr)\nshow(v != nil, ok)"}, {"error", "v := fmt.Errorf(\"a %w\", T(H))\nshow(v, errors.Unwrap(v) == H)"}, {"error", "v := fmt.Sprintf(\"%v\", T(H))\nshow(v)"}, {"error", "v := errors.Join(H, er)\nshow(v)"},
		{"chan int", "v := len(T(H))\nw := cap(T(H)) > 2\nx := T(H) == ch\ny := T(H) != nil\nshow(v, w, x, y)"}, {"chan int", "select {\ncase v := <-T(H):\nshow(v)\ndefault:\nshow(0)\n}"}, {"chan int", "select {\ncase T(H) <- 3:\nshow(1)\ndefault:\nshow(0)\n}"}, {"chan int", "v := T(H)\nclose(v)\nfor x := range v {\nshow(x)\n}"}, {"chan int", "var v <-chan int = H\nvar w chan<- int = H\nshow(cap(v) == cap(w))"},
		{"Pair[int, string]", "v := T(H).A\nw := T(H).Swap()\nshow(v, w)"}, {"Pair[int, string]", "v := T(H) == pr\nw := map[T]int{H: 1}\nshow(v, w)"}, {"Pair[int, string]", "v := T(H)\nv.SetA(9).A++\nshow(v)"},
		{"[][]int", "v := len(T(H)[1])\nT(H)[1][0]++\nw := append(T(H)[0], 5)\nshow(v, w, T(H))"},
		{"complex128", "v := real(H)\nw := imag(T(H))\nx := T(H) == z\nshow(v, w, x)"}, {"float64", "v := int(T(H) * 4)\nw := complex(H, H)\nx := float32(T(H))\nshow(v, w, x)"}, {"float64", "v := math.Max(H, 1)\nw := math.Sqrt(math.Abs(H))\nshow(v, w)"}, {"rune", "v := string(T(H))\nw := T(H) - 'a'\nshow(v, w)"}, {"byte", "v := string(rune(T(H)))\nw := []byte{H, 'x'}\nx := int(T(H)) + 1\nshow(v, w, x)"},
	}
}

// A context is what a statement can stand in: B stands for its statements.
var matrixContexts = []struct{ name, text string }{
	{"function", "B"}, {"block", "{\nB\n}"}, {"if", "if b {\nB\n}"}, {"else", "if !b {\n} else {\nB\n}"}, {"else if", "if !b {\n} else if i := i; b {\n_ = i\nB\n}"},
	{"for", "for q := 0; q < 2; q++ {\nB\n}"}, {"for cond", "for q := 2; q > 0; {\nq--\nB\n}"}, {"for ever", "q := 0\nfor {\nif q++; q > 2 {\nbreak\n}\nB\n}"}, {"range int", "for range 2 {\nB\n}"}, {"range slice", "for q, w := range []int{4, 5} {\n_, _ = q, w\nB\n}"}, {"range string", "for range \"ab\" {\nB\n}"}, {"range map", "for range map[int]int{1: 1} {\nB\n}"}, {"range chan", "qc := full(1, 2)\nclose(qc)\nfor range qc {\nB\n}"}, {"range func", "for q := range count(2) {\n_ = q\nB\n}"}, {"range func0", "for range func(yield func() bool) { yield() } {\nB\n}"},
	{"case", "switch i {\ncase 3:\nB\ncase 4:\nshow(4)\n}"}, {"case without tag", "switch {\ncase none():\ncase b:\nB\n}"}, {"default", "switch i {\ndefault:\nB\ncase 99:\n}"}, {"fallthrough", "switch i {\ncase 3:\nfallthrough\ncase 4:\nB\n}"}, {"type case", "switch q := e.(type) {\ncase int:\n_ = q\nB\ncase string:\n}"}, {"type default", "switch es.(type) {\ncase int:\ndefault:\nB\n}"}, {"select recv", "select {\ncase q := <-full(1):\n_ = q\nB\n}"}, {"select send", "select {\ncase make(chan int, 1) <- i:\nB\n}"}, {"select default", "select {\ncase <-make(chan int):\ndefault:\nB\n}"},
	{"closure", "func() {\nB\n}()"}, {"closure with result", "show(func() int {\nB\nreturn 5\n}())"}, {"closure later", "q := func() {\nB\n}\nq()\nq()"}, {"deferred", "func() {\ndefer func() {\nB\n}()\nshow(\"before\")\n}()"}, {"recovering", "func() {\ndefer func() {\nshow(recover())\nB\n}()\npanic(\"here\")\n}()"}, {"deferring", "func() (q int) {\ndefer func() { q++ }()\nB\nreturn 4\n}()"}, {"goroutine", "qd := make(chan bool)\ngo func() {\ndefer close(qd)\nB\n}()\n<-qd"}, {"label", "goto Q\nQ:\nfor {\nB\nbreak Q\n}"}, {"labelled switch", "Q:\nswitch {\ncase b:\nB\nbreak Q\n}"}, {"labelled select", "Q:\nselect {\ndefault:\nB\nbreak Q\n}"}, {"goto loop", "q := 0\nQ:\nq++\nif q < 3 {\n{\nB\n}\ngoto Q\n}"}, {"label in case", "switch {\ncase b:\nQ:\nfor range 2 {\nB\ncontinue Q\n}\n}"}, {"method", "qrun(func() {\nB\n})"}, {"nested loops", "Q:\nfor range 2 {\nfor {\nB\ncontinue Q\n}\n}"},
}

// matrixStatements has every kind of statement; # makes names its own.
var matrixStatements = []string{
	"i += 2\nshow(i)", "i, j = j, i\nshow(i, j)", "xs[0], xs[1] = xs[1], xs[0]\nshow(xs)", "i++\nxs[i&1]--\nshow(i, xs)", "m[s]++\nm[\"z\"] = len(m)\nshow(m)", "st.N, ps.Name = 9, \"w\"\nshow(st)", "v, ok := m[s]\nshow(v, ok)", "v, ok := e.(string)\nshow(v, ok)", "v, ok := <-ch\nshow(v, ok)", "v, w := two()\nshow(v, w)", "var v, w = 1, \"x\"\nshow(v, w)", "var v [2]S\nv[1].N = 3\nshow(v)", "const v = konst * 2\nshow(v)", "type local struct{ a int }\nv := local{i}\nshow(v.a)", "i := i * 2\nshow(i)", "if i, err := named(); err == nil {\nshow(i)\n} else {\nshow(err)\n}",
	"L#:\nfor q := range 3 {\nfor {\nif q == 1 {\nbreak L#\n}\ncontinue L#\n}\n}\nshow(\"out\")", "L#:\nswitch {\ncase b:\nfor {\nbreak L#\n}\nshow(\"never\")\n}\nshow(\"out\")", "L#:\nselect {\ndefault:\nif b {\nbreak L#\n}\nshow(\"never\")\n}\nshow(\"out\")", "L#:\nswitch e.(type) {\ncase int:\nif b {\nbreak L#\n}\nshow(\"never\")\n}", "L#:\nif b {\nshow(\"in\")\nif i < 0 {\ngoto L#\n}\n}", "goto L#\nL#:\nshow(\"label\")", "for q := range count(3) {\nif q == 1 {\ncontinue\n}\nif q == 2 {\nbreak\n}\nshow(q)\n}", "L#:\nfor q := range count(3) {\nfor w := range count(3) {\nif w == 1 {\ncontinue L#\n}\nif q == 1 {\nbreak L#\n}\nshow(q, w)\n}\n}", "for k, v := range seq(s, t) {\nshow(k, v)\n}",
	"for q := 0; q < 3; q++ {\ndefer show(\"deferred\", q)\n}", "defer func() { show(\"deferred\", i) }()\ni = 50", "defer func(q int) { show(q, i) }(i)\ni = 51", "defer st.Add(1)\ndefer show(st)", "func() {\ndefer func() { show(recover()) }()\nvar q []int\nq[i] = 1\n}()", "func() {\ndefer func() { show(recover()) }()\nvar q *S\nq.N = 1\n}()", "func() {\ndefer func() { show(recover()) }()\nshow(j / (i - i))\n}()", "func() {\ndefer func() { show(recover()) }()\nshow(e.(string))\n}()", "func() {\ndefer func() { show(recover()) }()\npanic(&MyErr{1})\n}()",
	"fs := []func() int{}\nfor q := 0; q < 3; q++ {\nfs = append(fs, func() int { q += 10; return q })\n}\nfor _, f := range fs {\nshow(f())\n}", "fs := []func() int{}\nfor q, w := range xs {\nfs = append(fs, func() int { return q * w })\n}\nfor _, f := range fs {\nshow(f())\n}", "v := func(q int) (func() int, func()) { return func() int { return q }, func() { q++ } }\nget, inc := v(4)\ninc()\ninc()\nshow(get())", "var fib func(int) int\nfib = func(q int) int { if q < 2 { return q }; return fib(q-1) + fib(q-2) }\nshow(fib(10))",
	"switch v := i * 2; v {\ncase 6, 7:\nshow(\"six\")\nfallthrough\ncase 1:\nshow(\"one\")\ndefault:\nshow(\"none\")\n}", "switch i := 4; {\ncase i > 3:\ni := i + 1\nshow(i)\n}", "switch v := any(st).(type) {\ncase fmt.Stringer:\nshow(v)\ncase S:\nv.N = 8\nshow(v, st)\n}", "switch x := e; x := x.(type) {\ncase int:\nx++\nshow(x)\n}", "select {\ncase v := <-ch:\nshow(v)\n}", "select {\ncase ch <- 1:\nshow(len(ch))\ndefault:\nshow(\"full\")\n}", "for v := range ch {\nshow(v)\nif v > 4 {\nbreak\n}\n}", "q := make(chan int)\ngo func() { q <- i * 2 }()\nshow(<-q)", "var wg sync.WaitGroup\nq := make([]int, 3)\nfor w := range 3 {\nwg.Go(func() { q[w] = w * i })\n}\nwg.Wait()\nshow(q)", "var mu sync.Mutex\nmu.Lock()\ni++\nmu.Unlock()\nshow(i)",
	"xs = append(xs, len(xs), i)\nshow(xs)", "copy(xs[1:], xs)\nshow(xs)", "clear(xs)\nclear(m)\nshow(xs, m)", "delete(m, s)\nshow(m)", "x := arr\nx[0] = 100\nshow(arr, x)", "x := st\nx.N = 100\nq := &x\nq.N++\nshow(st, x)", "pa[i-1] = 50\nfor k, v := range arr {\narr[2] = 60\nshow(k, v)\n}", "for k := range xs {\nxs = append(xs, k)\n}\nshow(xs)", "p, q := &xs[0], &st.N\n*p, *q = 30, 31\nshow(xs, st)", "f := st.Get\ng := ps.Add\nst.N = 70\nshow(f(), g(1))", "var x struct {\na int\nb []string\n}\nx.b = append(x.b, s)\nx.a = len(x.b)\nshow(x)", "x := Outer{S: S{1, \"q\"}}\nx.N++\nx.S.Name += \"r\"\nshow(x.Title(), x.Get(), x.Add(3))", "x := [...]func(int) int{fn, idf(4), func(q int) int { return -q }}\nshow(x[0](1), x[1](2), x[2](3))", "x := map[string]func(...int) int{\"v\": vsum}\nshow(x[\"v\"](1, 2), x[\"v\"]())", "x := Pair[[]int, map[string]S]{xs, map[string]S{s: st}}\nshow(x.A[1], x.B[s].N)", "println()\nshow(1)", "_ = i\n_, q := two()\nshow(q)", "var x Shape\nshow(x == nil)\nx = n\nshow(x.Area())\nx = &Sq{2}\nshow(x.Area())", ";\n;", "func() {}()", "return", "if b {\nreturn\n}\nshow(1)", "for {\nif i++; i > 5 {\nreturn\n}\n}", "for range count(3) {\nreturn\n}", "func() {\nfor range count(3) {\ndefer show(\"d\")\n}\nshow(\"end\")\n}()", "show(func() (a, b int) {\ndefer func() { a, b = b, a }()\nreturn i, len(s)\n}())",
	"break#", "continue#", "goto#",
}

// ofType is an expression of a type.
var ofType = map[string]string{
	"int": "j", "string": "t", "bool": "b", "float64": "f", "complex128": "z", "byte": "c8", "int8": "r8", "rune": "'r'", "[]int": "xs", "[]byte": "bs", "[]string": "ss", "[3]int": "arr", "map[string]int": "m",
	"S": "st", "*S": "ps", "*int": "pi", "func(int) int": "fn", "Num": "n", "List": "List{9}", "Shape": "sh", "any": "e", "error": "er", "chan int": "ch", "Pair[int, string]": "pr", "[][]int": "xss",
}

// moreHelpers has what needs the names of others.
const moreHelpers = `
var e2 = Shape(Num(9))

func e3() error            { return nil }
func vadd(n int) int       { return n + 1 }
func qrun(f func())        { f() }

// see makes a value one that fmt prints without an address.
func see(v any) any {
	switch v := v.(type) {
	case *S:
		if v != nil {
			return *v
		}
	case *int:
		if v != nil {
			return *v
		}
	case *Sq:
		return v.Side
	case func(int) int:
		return v(1)
	case chan int:
		return cap(v)
	case *MyErr:
		return v.Code
	}
	return v
}
`

// A snippet is one function of the matrix.
type snippet struct{ title, body, locals string }

// text is the function that a snippet is.
func (s snippet) text(name string) string {
	return fmt.Sprintf("func %s() {\n%s%s\n}\n", name, s.locals, s.body)
}

// matrix makes every statement in every context, and every expression in every
// position, each in a context that seed chooses. share takes one of so many.
func matrix(seed uint64, share int) []snippet {
	var list []snippet
	chosen := func(title string) uint64 {
		h := fnv.New64a()
		fmt.Fprint(h, seed, title)
		return rand.New(rand.NewPCG(h.Sum64(), seed)).Uint64()
	}
	within := func(context int, body string) string {
		return strings.Replace(matrixContexts[context].text, "B", body, 1)
	}
	locals := func(n uint64) string {
		if n>>40&1 == 0 {
			return sharedLocals
		}
		return plainLocals
	}
	for _, e := range matrixExpressions() {
		for _, p := range matrixPlaces() {
			if p.types != "*" && !oneOf(e.typ, p.types) {
				continue
			}
			body := fill(p.text, e)
			title := e.typ + " " + e.text + " in " + p.text
			if n := chosen(title); n%uint64(share) == 0 {
				c := int(n>>20) % (2 * len(matrixContexts))
				if c < len(matrixContexts) {
					title += " in " + matrixContexts[c].name
					body = within(c, body)
				}
				list = append(list, snippet{title, body, locals(n)})
			}
		}
	}
	n := 0
	for i, s := range matrixStatements {
		for c := range matrixContexts {
			for d := range matrixContexts {
				n++
				title := fmt.Sprintf("statement %d in %s in %s", i, matrixContexts[c].name, matrixContexts[d].name)
				k := chosen(title)
				if k%uint64(share) != 0 {
					continue
				}
				inner := strings.NewReplacer("Q", "Q1", "q", "q1").Replace(matrixContexts[c].text)
				inner = strings.ReplaceAll(inner, "q1run", "qrun")
				body := strings.Replace(inner, "B", strings.ReplaceAll(branchText(s), "#", fmt.Sprint(n)), 1)
				list = append(list, snippet{title + "\n" + s, within(d, body), locals(k)})
			}
		}
	}
	return list
}

// branchText is a statement that leaves what is around it, where there is that.
func branchText(s string) string {
	switch s {
	case "break#", "continue#":
		return strings.TrimSuffix(s, "#")
	case "goto#":
		return "if i > 90 {\ngoto L#\n}\nshow(1)\nL#:"
	}
	return s
}

func oneOf(typ, list string) bool {
	for _, t := range strings.Split(list, "|") {
		if t == typ {
			return true
		}
	}
	return false
}

// fill puts an expression into a place.
func fill(text string, e expression) string {
	var b strings.Builder
	word := func(c byte) bool {
		return c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	for i := 0; i < len(text); i++ {
		alone := (i == 0 || !word(text[i-1])) && (i == len(text)-1 || !word(text[i+1]) || text[i+1] == '.')
		switch {
		case alone && text[i] == 'H':
			b.WriteString(e.text)
		case alone && text[i] == 'R':
			b.WriteString(ofType[e.typ])
		case alone && text[i] == 'T' && !strings.HasPrefix(text[i:], "T any"):
			typ := e.typ
			if i+1 < len(text) && text[i+1] == '(' && (typ[0] == '*' || strings.HasPrefix(typ, "func") || strings.HasPrefix(typ, "chan")) {
				typ = "(" + typ + ")"
			}
			b.WriteString(typ)
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}
