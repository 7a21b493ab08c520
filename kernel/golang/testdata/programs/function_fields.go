package main

import "fmt"

type P struct{ x, y int }
type Hooks struct {
	add   func(a, b int) int
	see   func(p *P, name string) (P, string, error)
	note  func(string)
	more  func(xs ...int) int
	inner struct{ f func(h *Hooks) int }
	iface func(x any) any
	list  []func() int
}

var total int

func use(h *Hooks, n int) (s int) {
	for i := 0; i < n; i++ {
		s += h.add(i, s&3)
		if h.note != nil {
			h.note("n")
		}
		p, name, err := h.see(&P{i, s}, "ab")
		s += p.x + len(name)
		if err != nil {
			s++
		}
		s += h.more() + h.more(1, i)
		s += h.more([]int{4, 5}...)
		if h.inner.f != nil {
			s += h.inner.f(h)
		}
		if v, ok := h.iface(i).(int); ok {
			s += v
		} else if s2, ok := h.iface(i).(string); ok {
			s += len(s2)
		}
	}
	return
}

func main() {
	h := &Hooks{
		add: func(a, b int) int { return a*2 + b },
		see: func(p *P, name string) (P, string, error) {
			p.x++
			if p.y%3 == 0 {
				return *p, name + "!", fmt.Errorf("e")
			}
			return *p, name, nil
		},
		more: func(xs ...int) (t int) {
			for _, x := range xs {
				t += x
			}
			return
		},
		iface: func(x any) any { return x },
	}
	for range 3 {
		fmt.Println(use(h, 3000))
	}
	c := 0
	h.note = func(s string) { c += len(s) }
	fmt.Println(use(h, 3000), c)
	h.inner.f = func(h *Hooks) int { total++; return h.add(1, total) }
	h.add = func(a, b int) int { return a - b }
	fmt.Println(use(h, 3000), c, total)
	k := 5
	h.add = func(a, b int) int { k++; return a - b + k }
	h.iface = func(x any) any { return fmt.Sprint(x) }
	fmt.Println(use(h, 3000), c, total, k)
	h.see = func(p *P, name string) (P, string, error) { panic(name) }
	func() {
		defer func() { fmt.Println(recover()) }()
		use(h, 10)
	}()
	h.add = func(a, b int) int { return []int{1}[a] }
	func() {
		defer func() { fmt.Println(recover()) }()
		use(h, 10)
	}()
	h.add = nil
	func() {
		defer func() { fmt.Println(recover()) }()
		use(h, 10)
	}()
	fs := make([]Hooks, 3)
	for i := range fs {
		fs[i].add = func(a, b int) int { return a + b }
		fs[i].more = func(...int) int { return i }
	}
	fmt.Println(fs[0].add(1, 2), fs[2].more(1), fs[1].more())
	rec := Hooks{}
	rec.inner.f = func(h *Hooks) int {
		total--
		if total > 0 {
			return h.inner.f(h) + 1
		}
		return 0
	}
	fmt.Println(rec.inner.f(&rec))
	n := 0
	for i := 0; i < 100000; i++ {
		n += fs[i%3].add(i, 1)
	}
	fmt.Println(n)
}
