package main

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
)

type Num int
type Named interface{ Name() string }
type Adder interface {
	Named
	Add(x int, more ...int) (int, error)
}
type hidden interface{ secret(p *Node) *Node }
type Node struct {
	next *Node
	v    int
	in   any
}
type Emb struct {
	*Node
	Num
	k string
}
type Wrap struct{ Named }
type Empty struct{}
type Big [5]int

func (n Num) Name() string { return "num" }
func (n Num) Add(x int, more ...int) (int, error) {
	for _, m := range more {
		x += m
	}
	if x > 50 {
		return x, fmt.Errorf("too much: %d", x)
	}
	return int(n) + x, nil
}
func (n *Node) secret(p *Node) *Node {
	if n == nil {
		return nil
	}
	return &Node{next: p, v: n.v + 1, in: n.v}
}
func (Empty) Name() string { return "" }
func (b Big) Name() string { return strings.Repeat("b", b[0]) }
func (n *Node) Name() string {
	return "node"
}

// Slow has a method that is interpreted.
type Slow struct{ f func() string }

func (s Slow) Name() string {
	defer func() { recover() }()
	return s.f()
}

func try(name string, f func()) {
	defer func() {
		if r := recover(); r != nil {
			_, isRuntime := r.(runtime.Error)
			fmt.Println(name, "panics", r, isRuntime)
		}
	}()
	f()
}

func kinds(list []any) (n int, s string) {
	for i, x := range list {
		switch x := x.(type) {
		case nil:
			n += 1
		case int, int8:
			n += 10
			if _, ok := x.(int8); ok {
				n++
			}
		case Num:
			n += 100 + int(x)
		case string:
			s += x
		case []int:
			n += len(x)
		case map[string]int:
			n += x["a"]
		case *Node:
			n += x.v
		case Empty:
			n += 7
		case Big:
			n += x[1]
		case error:
			s += x.Error()
		case Named:
			s += x.Name()
		case float64:
			n += int(x * 10)
		case bool:
			if x {
				n += 3
			}
		default:
			n += i * 1000
		}
	}
	return
}

func assertions(x any, n Named) (r []string) {
	if v, ok := x.(Num); ok {
		r = append(r, v.Name())
	}
	if v, ok := x.(Named); ok {
		r = append(r, v.Name()+"!")
	}
	if v, ok := x.(interface{ Foo() }); ok {
		v.Foo()
		r = append(r, "foo")
	}
	if v, ok := n.(Adder); ok {
		a, err := v.Add(1, 2, 3)
		r = append(r, fmt.Sprint(a, err == nil))
		a, err = v.Add(60)
		if err != nil {
			r = append(r, err.Error())
		}
	}
	_, isAny := x.(any)
	r = append(r, fmt.Sprint(isAny, x == nil, n == nil, n == x))
	return
}

func must(x any) int             { return int(x.(Num)) }
func mustN(x Named) *Node        { return x.(*Node) }
func mustI(x any) string         { return x.(Named).Name() }
func mustA(x Named) any          { return x.(any) }
func same(x, y any) bool         { return x == y }
func differ(x Named, y any) bool { return x != y }

//go:noinline
func call(x Named) string { return x.Name() }
func chain(h hidden, n int) *Node {
	var p *Node
	for i := 0; i < n; i++ {
		p = h.secret(p)
		if i%3 == 0 {
			h = p
		}
	}
	return p
}
func boxes(n int) (list []any, total int) {
	for i := 0; i < n; i++ {
		switch i % 7 {
		case 0:
			list = append(list, i)
		case 1:
			list = append(list, Num(i))
		case 2:
			list = append(list, "x"+string(rune('a'+i%26)))
		case 3:
			list = append(list, &Node{v: i})
		case 4:
			list = append(list, Big{i % 3, i})
		case 5:
			list = append(list, Empty{})
		case 6:
			list = append(list, []int{i, i})
		}
	}
	for _, x := range list {
		k, s := kinds([]any{x})
		total += k + len(s)
	}
	return
}
func methods(e Emb, w Wrap, list []Named) (s string) {
	s += e.Name2() + w.Name()
	for _, x := range list {
		s += x.Name() + ","
	}
	var n Named = w
	s += n.Name()
	n = e.Node
	s += n.Name()
	return
}
func (e Emb) Name2() string { return e.k }
func nilNamed() Named       { return nil }
func errs(n int) (out error) {
	for i := 0; i < n; i++ {
		if i == 3 {
			return errors.ErrUnsupported
		}
	}
	return nil
}

type Err struct{ n int }

func (e *Err) Error() string { return fmt.Sprint("err ", e.n) }
func myErr(n int) error {
	if n > 2 {
		return &Err{n}
	}
	return nil
}

type pair struct{ a, b any }
type tree interface{ depth() int }
type leaf struct{}
type fork struct{ l, r tree }

func (leaf) depth() int   { return 1 }
func (f fork) depth() int { return 1 + max(f.l.depth(), f.r.depth()) }
func grow(n int) tree {
	if n == 0 {
		return leaf{}
	}
	return fork{grow(n - 1), grow(n - 1)}
}

func main() {
	for range 2 {
		fmt.Println(kinds([]any{nil, 1, int8(2), Num(5), "a", []int{1}, map[string]int{"a": 9}, &Node{v: 4}, Empty{}, Big{0, 3}, errors.New("E"), Slow{func() string { return "slow" }}, 1.5, true, uint(3), struct{}{}}))
		fmt.Println(assertions(Num(3), Num(4)), assertions(nil, nil), assertions("s", Empty{}), assertions(Big{2}, &Node{}))
		fmt.Println(must(Num(3)), mustI(Big{2}), call(Wrap{Num(2)}), call(Slow{func() string { panic("x") }}), same(1, 1), same(1, Num(1)), same(pair{1, "a"}, pair{1, "a"}), differ(Num(1), Num(1)), differ(nil, nil))
		try("must", func() { must(7) })
		try("must nil", func() { must(nil) })
		try("mustN", func() { mustN(Num(2)) })
		try("mustN nil", func() { mustN(nil) })
		try("mustI", func() { mustI(7) })
		try("mustI nil", func() { mustI(nil) })
		try("mustA nil", func() { mustA(nil) })
		try("same", func() { same([]int{}, []int{}) })
		try("call nil", func() { call(nil) })
		try("call nil p", func() { fmt.Println(call((*Node)(nil))) })
		try("call nil value", func() { fmt.Println(call((*Num)(nil))) })
		try("call wrap nil", func() { fmt.Println(call(Wrap{})) })
		p := chain(&Node{v: 1}, 2000)
		n, d := 0, 0
		for q := p; q != nil; q = q.next {
			n += q.v
			d += q.in.(int)
		}
		fmt.Println(n, d)
		list, total := boxes(20000)
		runtime.GC()
		fmt.Println(len(list), total)
		list2, total := boxes(20000)
		fmt.Println(len(list2), total)
		fmt.Println(kinds(list[:14]))
		fmt.Println(methods(Emb{&Node{v: 2}, 3, "emb"}, Wrap{Num(1)}, []Named{Num(1), &Node{}, Big{1}, Empty{}, Wrap{Empty{}}, Slow{func() string { return "s" }}}))
		fmt.Println(errs(2), errs(5), myErr(1) == nil, myErr(3))
		fmt.Println(grow(12).depth())
	}
}
