package main

import "unsafe"

type base struct {
	n    int
	list []int
}

func (b *base) inc() int { b.n++; return b.n }

type mid struct{ *base }

type top struct {
	mid
	grid [2][2]int
	f    func() int
}

func next() int { return 1 }

var global top

func main() {
	t := &top{}
	t.n, t.list = t.inc(), []int{1}
	t.grid[next()][0] += next()
	t.list[t.n], t.grid[1][1] = 2, t.list[0]
	global.grid[0][1]++
	global.f = func() int { return global.n }
	m := map[string]*top{"a": t}
	m["a"].list[0] = m["a"].inc()
	m["a"].n *= 2
	p, q := &t.grid[0], &m["a"].n
	p[1], *q = *q, p[0]
	s := p[:next()]
	s = t.grid[1][0:1:2]
	u := (*[2]int)(s[:2])
	v := *(*uint64)(unsafe.Pointer(&u[0]))
	_ = unsafe.Slice(&s[0], 1)
	_ = v
}
