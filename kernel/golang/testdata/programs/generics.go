package main

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"
)

type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~float32 | ~float64
}

func Sum[T Number](xs ...T) (s T) {
	for _, x := range xs {
		s += x
	}
	return
}

func Map[T, U any](xs []T, f func(T) U) []U {
	out := make([]U, 0, len(xs))
	for _, x := range xs {
		out = append(out, f(x))
	}
	return out
}

func Filter[S ~[]E, E any](s S, keep func(E) bool) S {
	var out S
	for _, e := range s {
		if keep(e) {
			out = append(out, e)
		}
	}
	return out
}

func Reduce[T, A any](xs []T, init A, f func(A, T) A) A {
	for _, x := range xs {
		init = f(init, x)
	}
	return init
}

type Stack[T any] struct{ items []T }

func (s *Stack[T]) Push(x T) { s.items = append(s.items, x) }
func (s *Stack[T]) Pop() (T, error) {
	var zero T
	if len(s.items) == 0 {
		return zero, errors.New("empty")
	}
	x := s.items[len(s.items)-1]
	s.items = s.items[:len(s.items)-1]
	return x, nil
}
func (s *Stack[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i, x := range s.items {
			if !yield(i, x) {
				return
			}
		}
	}
}

type Pair[K comparable, V any] struct {
	Key K
	Val V
}

func (p Pair[K, V]) String() string { return fmt.Sprintf("<%v:%v>", p.Key, p.Val) }

type List[T any] struct {
	head *node[T]
	n    int
}
type node[T any] struct {
	v    T
	next *node[T]
}

func (l *List[T]) Add(v T) *List[T] {
	l.head = &node[T]{v, l.head}
	l.n++
	return l
}
func (l *List[T]) Each(f func(T)) {
	for n := l.head; n != nil; n = n.next {
		f(n.v)
	}
}

type Tree[T cmp.Ordered] struct {
	Left, Right *Tree[T]
	Val         T
}

func (t *Tree[T]) Insert(v T) *Tree[T] {
	if t == nil {
		return &Tree[T]{Val: v}
	}
	switch {
	case v < t.Val:
		t.Left = t.Left.Insert(v)
	case v > t.Val:
		t.Right = t.Right.Insert(v)
	}
	return t
}
func (t *Tree[T]) Walk(yield func(T) bool) bool {
	return t == nil || t.Left.Walk(yield) && yield(t.Val) && t.Right.Walk(yield)
}
func (t *Tree[T]) All() iter.Seq[T] { return func(yield func(T) bool) { t.Walk(yield) } }

type Celsius float64
type MyInts []int

func (m MyInts) Len() int { return len(m) }

type Set[T comparable] map[T]struct{}

func (s Set[T]) Add(v ...T) {
	for _, x := range v {
		s[x] = struct{}{}
	}
}
func (s Set[T]) Has(v T) bool { _, ok := s[v]; return ok }
func SortedKeys[M ~map[K]V, K cmp.Ordered, V any](m M) []K {
	return slices.Sorted(maps.Keys(m))
}

type Stringish interface {
	~string
	Len() int
}
type Name string

func (n Name) Len() int { return len(n) }
func Longest[S Stringish](xs ...S) (best S) {
	for _, x := range xs {
		if x.Len() > best.Len() {
			best = x
		}
	}
	return
}

type Shape interface {
	Area() float64
}
type Sq struct{ s float64 }
type Ci struct{ r float64 }

func (s Sq) Area() float64  { return s.s * s.s }
func (c *Ci) Area() float64 { return 3 * c.r * c.r }
func Total[S Shape](xs []S) (t float64) {
	for _, x := range xs {
		t += x.Area()
	}
	return
}

type Ptr[T any] interface {
	*T
	Set(string)
}
type Cfg struct{ v string }

func (c *Cfg) Set(s string) { c.v = s }
func Make[T any, P Ptr[T]](s string) T {
	var t T
	P(&t).Set(s)
	return t
}
func Kind[T any](v T) string {
	switch x := any(v).(type) {
	case int:
		return fmt.Sprint("int ", x+1)
	case string:
		return "string " + x
	case []T:
		return "slice of T"
	case fmt.Stringer:
		return "stringer " + x.String()
	case error:
		return "error " + x.Error()
	default:
		return fmt.Sprintf("other %T", x)
	}
}
func Zero[T any]() (z T)  { return }
func PtrTo[T any](v T) *T { return &v }

type Opt[T any] func(*T)

func Apply[T any](t *T, opts ...Opt[T]) {
	for _, o := range opts {
		o(t)
	}
}

type Num[T Number] struct{ V T }

func (n Num[T]) Plus(o Num[T]) Num[T] { return Num[T]{n.V + o.V} }

type Matrix[T Number] [][]T

func (m Matrix[T]) Mul(o Matrix[T]) Matrix[T] {
	r := make(Matrix[T], len(m))
	for i := range m {
		r[i] = make([]T, len(o[0]))
		for j := range o[0] {
			for k := range o {
				r[i][j] += m[i][k] * o[k][j]
			}
		}
	}
	return r
}

type Cache[K comparable, V any] struct {
	data map[K]V
	load func(K) (V, error)
	hits int
}

func NewCache[K comparable, V any](load func(K) (V, error)) *Cache[K, V] {
	return &Cache[K, V]{data: map[K]V{}, load: load}
}
func (c *Cache[K, V]) Get(k K) (v V, err error) {
	if v, ok := c.data[k]; ok {
		c.hits++
		return v, nil
	}
	if v, err = c.load(k); err != nil {
		return v, fmt.Errorf("get %v: %w", k, err)
	}
	c.data[k] = v
	return
}

type Event[T any] struct{ subs []func(T) }

func (e *Event[T]) On(f func(T)) { e.subs = append(e.subs, f) }
func (e *Event[T]) Emit(v T) {
	for _, f := range e.subs {
		f(v)
	}
}

func Keys[K comparable, V any](m map[K]V) []K {
	r := make([]K, 0, len(m))
	for k := range m {
		r = append(r, k)
	}
	return r
}
func Chan[T any](xs ...T) <-chan T {
	c := make(chan T, len(xs))
	for _, x := range xs {
		c <- x
	}
	close(c)
	return c
}
func Compose[A, B, C any](f func(A) B, g func(B) C) func(A) C { return func(a A) C { return g(f(a)) } }
func MaxBy[T any, K cmp.Ordered](xs []T, key func(T) K) (best T) {
	for i, x := range xs {
		if i == 0 || key(x) > key(best) {
			best = x
		}
	}
	return
}

type IntList = List[int]

func main() {
	fmt.Println(Sum(1, 2, 3), Sum(1.5, 2), Sum[Celsius](1, 2.5))
	fmt.Println(Map([]int{1, 2, 3}, func(i int) string { return strings.Repeat("x", i) }))
	fmt.Printf("%T %v\n", Filter(MyInts{1, 2, 3, 4}, func(i int) bool { return i%2 == 0 }), Filter(MyInts{1, 2, 3, 4}, func(i int) bool { return i%2 == 0 }).Len())
	fmt.Println(Reduce([]string{"a", "bb"}, 0, func(n int, s string) int { return n + len(s) }))
	var s Stack[string]
	s.Push("a")
	s.Push("b")
	for i, x := range s.All() {
		fmt.Println(i, x)
	}
	fmt.Println(s.Pop())
	fmt.Println(s.Pop())
	fmt.Println(s.Pop())
	p := Pair[string, int]{"k", 1}
	fmt.Println(p, &p)
	fmt.Printf("%v %+v %s %T %q\n", p, p, p, p, []Pair[string, int]{p})
	l := (&List[float64]{}).Add(1).Add(2.5)
	l.Each(func(f float64) { fmt.Print(f, " ") })
	fmt.Println(l.n)
	var t *Tree[string]
	for _, w := range strings.Fields("the quick brown fox jumps over the lazy dog") {
		t = t.Insert(w)
	}
	for w := range t.All() {
		if w == "over" {
			break
		}
		fmt.Print(w, " ")
	}
	fmt.Println(slices.Collect(t.All()))
	set := Set[int]{}
	set.Add(3, 1, 2)
	fmt.Println(set.Has(1), set.Has(9), SortedKeys(set), len(set))
	fmt.Println(Longest(Name("a"), "abc", "ab"))
	fmt.Println(Total([]Sq{{1}, {2}}), Total([]*Ci{{1}}), Total([]Shape{Sq{1}, &Ci{2}}))
	fmt.Println(Make[Cfg]("hello"))
	fmt.Println(Kind(1), Kind("a"), Kind(p), Kind(errors.New("e")), Kind(2.5), Kind([]int{}), Kind(Sq{1}))
	fmt.Printf("%v %q %v %v\n", Zero[int](), Zero[string](), Zero[*int](), Zero[Sq]())
	fmt.Println(*PtrTo(3), *PtrTo("x"))
	c := Cfg{}
	Apply(&c, func(c *Cfg) { c.v = "o" }, func(c *Cfg) { c.v += "k" })
	fmt.Println(c)
	fmt.Println(Num[int]{1}.Plus(Num[int]{2}), Num[Celsius]{1.5}.Plus(Num[Celsius]{2}))
	fmt.Println(Matrix[int]{{1, 2}, {3, 4}}.Mul(Matrix[int]{{0, 1}, {1, 0}}))
	cache := NewCache(func(k string) (int, error) {
		if k == "" {
			return 0, errors.New("no key")
		}
		return len(k), nil
	})
	fmt.Println(cache.Get("abc"))
	fmt.Println(cache.Get("abc"))
	fmt.Println(cache.Get(""))
	fmt.Println(cache.hits)
	var ev Event[Pair[string, int]]
	ev.On(func(p Pair[string, int]) { fmt.Println("got", p.Key) })
	ev.Emit(p)
	ks := Keys(map[string]int{"z": 1, "y": 2})
	sort.Strings(ks)
	fmt.Println(ks)
	for x := range Chan(1, 2, 3) {
		fmt.Print(x)
	}
	fmt.Println()
	f := Compose(func(i int) float64 { return float64(i) / 2 }, func(f float64) string { return fmt.Sprint(f, "!") })
	fmt.Println(f(3))
	fmt.Println(MaxBy([]string{"a", "ccc", "bb"}, func(s string) int { return len(s) }))
	var il IntList
	il.Add(3)
	fmt.Printf("%T %d\n", il, il.n)
	g := Sum[int]
	fmt.Println(g(4, 5))
	h := (*Stack[string]).Push
	h(&s, "via expr")
	fmt.Println(s.items)
	push := s.Push
	push("via value")
	fmt.Println(len(s.items), s)
	fmt.Printf("%T %T %T %T\n", s, &s, t, set)
	fmt.Printf("%+v %#v\n", s, p.Key)
	slices.SortFunc(ks, func(a, b string) int { return -cmp.Compare(a, b) })
	fmt.Println(ks)
	ps := []Pair[string, int]{{"a", 3}, {"b", 1}, {"c", 2}}
	slices.SortFunc(ps, func(a, b Pair[string, int]) int { return cmp.Compare(a.Val, b.Val) })
	fmt.Println(ps)
	sort.Slice(ps, func(i, j int) bool { return ps[i].Key < ps[j].Key })
	fmt.Println(ps)
	idx, ok := slices.BinarySearchFunc(ps, "b", func(p Pair[string, int], k string) int { return cmp.Compare(p.Key, k) })
	fmt.Println(idx, ok)
}
