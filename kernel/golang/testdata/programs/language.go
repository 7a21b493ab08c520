package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type Number interface {
	~int | ~int64 | ~float64
}

func Sum[T Number](xs ...T) (t T) {
	for _, x := range xs {
		t += x
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

type Tree[T any] struct {
	L, R *Tree[T]
	V    T
}

func (t *Tree[T]) Walk(yield func(T) bool) bool {
	if t == nil {
		return true
	}
	return t.L.Walk(yield) && yield(t.V) && t.R.Walk(yield)
}
func (t *Tree[T]) Insert(v T, less func(a, b T) bool) *Tree[T] {
	if t == nil {
		return &Tree[T]{V: v}
	}
	if less(v, t.V) {
		t.L = t.L.Insert(v, less)
	} else {
		t.R = t.R.Insert(v, less)
	}
	return t
}

type Set[T comparable] map[T]struct{}

func (s Set[T]) Add(v T)      { s[v] = struct{}{} }
func (s Set[T]) Has(v T) bool { _, ok := s[v]; return ok }

type Animal interface{ Sound() string }
type Walker interface{ Walk() string }
type Both interface {
	Animal
	Walker
}
type Dog struct{ name string }

func (d Dog) Sound() string { return d.name + " woof" }
func (d *Dog) Walk() string { return d.name + " walks" }

type Puppy struct {
	Dog
	age int
}

func (p Puppy) Sound() string { return p.Dog.Sound() + "!" }

type Fn func(int) int

func (f Fn) Twice(x int) int { return f(f(x)) }

func fib() iter.Seq[int] {
	return func(yield func(int) bool) {
		a, b := 0, 1
		for yield(a) {
			a, b = b, a+b
		}
	}
}

func div(a, b int) (r int, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("recovered: %v", x)
			var re runtime.Error
			if e, ok := x.(runtime.Error); ok {
				re = e
				_ = re
			}
		}
	}()
	return a / b, nil
}

type state int

const (
	a state = iota + 1
	_
	b
	c = 1 << (10 * iota)
)

func main() {
	fmt.Println(Sum(1, 2, 3), Sum(1.5, 2), Map([]int{1, 2}, func(i int) string { return strings.Repeat("x", i) }))
	s := &Stack[string]{}
	s.Push("a")
	s.Push("b")
	for i, x := range s.All() {
		fmt.Println(i, x)
	}
	x, err := s.Pop()
	fmt.Println(x, err)
	var t *Tree[int]
	for _, v := range []int{5, 2, 8, 1} {
		t = t.Insert(v, func(a, b int) bool { return a < b })
	}
	t.Walk(func(v int) bool { fmt.Print(v, " "); return v < 5 })
	fmt.Println()
	set := Set[string]{}
	set.Add("q")
	fmt.Println(set.Has("q"), set.Has("r"), len(set))
	for v := range fib() {
		if v > 50 {
			break
		}
		fmt.Print(v, " ")
	}
	fmt.Println()
	next, stop := iter.Pull(fib())
	v1, ok := next()
	v2, _ := next()
	v3, _ := next()
	fmt.Println(v1, v2, v3, ok)
	stop()
	var an Animal = Puppy{Dog{"rex"}, 1}
	fmt.Println(an.Sound())
	if _, ok := an.(Walker); !ok {
		fmt.Println("not walker")
	}
	var bo Both = &Puppy{Dog{"rex"}, 1}
	fmt.Println(bo.Sound(), bo.Walk())
	switch v := an.(type) {
	case *Puppy:
		fmt.Println("ptr")
	case Puppy:
		fmt.Println("puppy", v.age)
	}
	fmt.Println(Fn(func(i int) int { return i * 3 }).Twice(2))
	f := bo.Walk
	g := (*Dog).Walk
	fmt.Println(f(), g(&Dog{"d"}))
	fmt.Println(div(1, 0))
	fmt.Println(min(3, 1, 2), max(2.5, 1), min("b", "a"))
	m := map[string]int{"a": 1}
	clear(m)
	fmt.Println(len(m))
outer:
	for i := range 3 {
		for j := range 3 {
			if j == 2 {
				continue outer
			}
			if i == 2 {
				break outer
			}
			fmt.Print(i, j, ";")
		}
	}
	fmt.Println()
	i := 0
loop:
	if i < 3 {
		i++
		goto loop
	}
	fmt.Println(i)
	ch := make(chan int)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for v := range ch {
			fmt.Print(v, " ")
		}
		fmt.Println()
	}()
	for i := range 3 {
		ch <- i
	}
	close(ch)
	<-done
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	select {
	case <-ctx.Done():
		fmt.Println(ctx.Err(), errors.Is(ctx.Err(), context.DeadlineExceeded))
	case <-time.After(5 * time.Second):
		fmt.Println("late")
	}
	var wg sync.WaitGroup
	var n atomic.Int64
	var mu sync.Mutex
	tot := map[int]int{}
	for i := range 10 {
		wg.Go(func() {
			n.Add(int64(i))
			mu.Lock()
			defer mu.Unlock()
			tot[i%2]++
		})
	}
	wg.Wait()
	fmt.Println(n.Load(), tot)
	var once sync.Once
	for range 3 {
		once.Do(func() { fmt.Println("once") })
	}
	fmt.Println(a, b, c)
	arr := [...]string{2: "c", 0: "a"}
	fmt.Println(len(arr), arr)
	sl := arr[:2:2]
	sl = append(sl, "z")
	fmt.Println(arr, sl, len(sl))
	func() {
		defer fmt.Println("deferred 1")
		defer func() {
			fmt.Println("rec:", recover())
		}()
		var mm map[string]int
		mm["a"] = 1
	}()
	func() {
		defer func() { fmt.Println("rec:", recover()) }()
		var e any = "s"
		_ = e.(int)
	}()
	func() {
		defer func() { fmt.Println("rec:", recover()) }()
		var e Animal
		_ = e.(Walker)
	}()
	func() {
		defer func() { fmt.Println("rec:", recover()) }()
		var e Animal = Dog{"x"}
		_ = e.(Walker)
	}()
	func() {
		defer func() { fmt.Println("rec:", recover()) }()
		xs := []int{1}
		k := 5
		fmt.Println(xs[k])
	}()
	func() {
		defer func() { fmt.Println("rec:", recover()) }()
		xs := []int{1}
		k := 5
		fmt.Println(xs[k:])
	}()
	func() {
		defer func() { fmt.Println("rec:", recover()) }()
		panic(fmt.Errorf("custom %d", 1))
	}()
	func() {
		defer func() { fmt.Println("rec:", recover()) }()
		var p *Dog
		fmt.Println(p.name)
	}()
	func() {
		defer func() { fmt.Println("rec:", recover()) }()
		close(ch)
	}()
	switch {
	case i > 2:
		fmt.Println("gt2")
		fallthrough
	case i > 100:
		fmt.Println("fell")
	default:
		fmt.Println("no")
	}
	var e1 error = &os.PathError{Op: "open", Path: "x", Err: os.ErrNotExist}
	fmt.Println(errors.Is(e1, os.ErrNotExist), e1)
	_, err = os.Open("/nonexistent")
	fmt.Println(err)
	fmt.Println("héllo"[1], len("héllo"), []rune("héllo")[1], string([]rune{104, 233}))
	for i, r := range "hé" {
		fmt.Print(i, ":", string(r), " ")
	}
	fmt.Println()
	type kv struct {
		k string
		v int
	}
	kvs := []kv{{"a", 1}, {"b", 2}}
	for _, e := range kvs {
		e.v = 10
	}
	for i := range kvs {
		kvs[i].v *= 2
	}
	fmt.Println(kvs)
	pt := &kvs[0]
	pt.v++
	fmt.Println(kvs[0], *pt)
	var fs []func() int
	for i := 0; i < 3; i++ {
		fs = append(fs, func() int { i *= 2; return i })
	}
	fmt.Println(fs[0](), fs[1](), fs[2](), fs[2]())
	const big = 1 << 100
	fmt.Println(big>>98, uint8(255)+uint8(i), ^0, 7&^2, -7/2, -7%3, 1<<3|1)
	var i8 int8 = 127
	i8++
	fmt.Println(i8, 0x1p-2, 1_000_000, 0b101, 0o17, 'a', "\u00e9", `raw\n`)
	z := complex(3, 4)
	fmt.Println(real(z), imag(z), z*z)
	struct1 := struct {
		A int
		B string
	}{1, "x"}
	fmt.Println(struct1, struct1 == struct {
		A int
		B string
	}{1, "x"})
	var iface1, iface2 any = Dog{"a"}, Dog{"a"}
	fmt.Println(iface1 == iface2, iface1 != nil)
	mm := map[[2]int]string{{1, 2}: "a"}
	fmt.Println(mm[[2]int{1, 2}])
	mp := map[Dog]int{{"a"}: 1}
	mp[Dog{"a"}]++
	fmt.Println(mp)
	copyd := make([]int, 2)
	fmt.Println(copy(copyd, []int{7, 8, 9}), copyd)
	var np [3][2]int
	np[1][1] = 5
	nq := np
	nq[0][0] = 1
	fmt.Println(np, nq, np == nq)
	tm := time.Date(2024, time.February, 29, 12, 0, 0, 0, time.UTC)
	fmt.Println(tm.Format(time.RFC3339), tm.AddDate(1, 0, 0).Weekday(), tm.YearDay(), tm)
	d, _ := time.ParseDuration("1h15m30.918s")
	fmt.Println(d, d.Round(time.Minute), d.Hours() > 1)
	var sb strings.Builder
	fmt.Fprintf(&sb, "%d-", 5)
	sb.WriteByte('x')
	sb.WriteRune('é')
	fmt.Println(sb.String(), sb.Len())
	println := fmt.Println
	println("shadow")
}
