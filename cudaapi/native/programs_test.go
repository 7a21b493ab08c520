package native_test

import _ "embed"

// What follows is compiled by Go and by the host's C++ compiler: functions that need
// memory of Go's.

//go:embed programs_test.go
var programsSource string

type program struct {
	name string
	run  func(out []int64)
}

var programs = []program{
	{"rows", rows}, {"reversed", reversed}, {"words", words}, {"trees", trees}, {"texts", texts}, {"capacities", capacities}, {"particles", particles}, {"outlive", outlive},
	{"moved", moved}, {"primes", primes}, {"products", products}, {"negative", negative}, {"short", short}, {"churn", churn}, {"shared", shared}, {"memo", memo}, {"through", through}, {"behind", behind},
}

type node struct {
	value int64
	next  *node
}

type tree struct {
	left, right *tree
	key         int64
	name        string
}

type particle struct {
	at, speed []float64
	name      string
	near      *particle
	hits      [2]*node
}

func rows(out []int64) {
	var m [][]float64
	for i := range 20 {
		row := make([]float64, 5, 5+i)
		for j := range row {
			row[j] = float64(i*j) / 4
		}
		m = append(m, row)
	}
	m[3], m[4] = m[4], m[3]
	m[5] = m[6][1:3]
	sum := 0.0
	for i, row := range m {
		for _, x := range row {
			sum += x * float64(i)
		}
	}
	out[0], out[1], out[2], out[3] = int64(sum), int64(len(m)), int64(cap(m)), int64(cap(m[5]))
}

func reversed(out []int64) {
	var head *node
	for i := range int64(300) {
		head = &node{i, head}
	}
	var back *node
	for n := head; n != nil; {
		next := n.next
		n.next = back
		back, n = n, next
	}
	i := int64(0)
	for n := back; n != nil; n = n.next {
		out[i%8] += n.value * (i + 1)
		i++
	}
}

func words(out []int64) {
	text := "the quick brown fox jumps over the lazy dog and the cat"
	var list []string
	start := 0
	for i := range len(text) + 1 {
		if i == len(text) || text[i] == ' ' {
			list = append(list, text[start:i])
			start = i + 1
		}
	}
	for i := range list {
		for j := i; j > 0 && list[j] < list[j-1]; j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
	h := int64(0)
	for _, w := range list {
		for _, r := range w {
			h = h*31 + int64(r)
		}
	}
	out[0], out[1], out[2] = h, int64(len(list)), int64(cap(list))
}

func (t *tree) insert(key int64, name string) *tree {
	if t == nil {
		return &tree{key: key, name: name + "!"}
	}
	if key < t.key {
		t.left = t.left.insert(key, name)
	} else {
		t.right = t.right.insert(key, name)
	}
	if t.left != nil && t.left.key%3 == 0 { // a rotation
		l := t.left
		t.left = l.right
		l.right = t
		return l
	}
	return t
}

func (t *tree) walk(out []int64, at int64) int64 {
	if t == nil {
		return at
	}
	at = t.left.walk(out, at)
	out[at%9] += t.key*at + int64(len(t.name))
	return t.right.walk(out, at+1)
}

func trees(out []int64) {
	var root *tree
	x := int64(12345)
	for range 200 {
		x = (x*1103515245 + 12345) & 0x7fffffff
		root = root.insert(x%1000, "n")
	}
	out[9] = root.walk(out, 0)
}

func texts(out []int64) {
	s := ""
	for i := range 40 {
		s += string(rune('a'+i*37)) + "-"
	}
	s += string(rune(-1)) + string(rune(0x1f600)) + string(rune(0xd800))
	b := []byte(s)
	for i := range b {
		b[i] ^= 1
	}
	b = append(b, s[3:]...)
	b = append(b, b[2:9]...)
	t := string(b)
	h := uint64(7)
	for i := range len(t) {
		h = h*131 + uint64(t[i])
	}
	n := 0
	for range s {
		n++
	}
	empty := string(b[:0])
	out[0], out[1], out[2], out[3], out[4] = int64(h), int64(len(t)), int64(n), int64(len(empty)), int64(len([]byte(empty)))
	if s == string([]byte(s)) && s+"" == s {
		out[5] = 1
	}
}

type lists struct {
	a []byte
	b []int32
	c []string
	d [][3]int16
	e []int64
}

// more is not inlined, so that the arrays lie in the heap.
//
//go:noinline
func (l *lists) more(i int) {
	l.a, l.b, l.c, l.d = append(l.a, byte(i)), append(l.b, int32(i), 2, 3), append(l.c, "x"), append(l.d, [3]int16{1, 2, int16(i)})
}

//go:noinline
func (l *lists) all(list []int64) {
	l.e = append([]int64(nil), list...)
	l.e = append(l.e, l.e...)
}

func capacities(out []int64) {
	var l lists
	for i := range 2000 {
		before := cap(l.a) + cap(l.b) + cap(l.c) + cap(l.d)
		l.more(i)
		if now := cap(l.a) + cap(l.b) + cap(l.c) + cap(l.d); now != before {
			out[i%16] = out[i%16]*31 + int64(now)
		}
	}
	l.all(out[:7])
	out[16], out[17], out[18] = int64(cap(l.e)), int64(l.d[77][2]), l.e[9]
}

func particles(out []int64) {
	var list []particle
	for i := range 30 {
		p := particle{at: []float64{float64(i), 1, 2}, speed: make([]float64, 3), name: "p" + string(rune('A'+i))}
		if i > 0 {
			p.near = &list[i/2]
			p.hits[i&1] = &node{value: int64(i)}
		}
		list = append(list, p)
	}
	for step := range 10 {
		for i := range list {
			p := &list[i]
			for k := range p.at {
				p.speed[k] += p.at[(k+step)%3] / 8
				p.at[k] += p.speed[k]
			}
			if p.near != nil && p.near.near != nil {
				p.near = p.near.near
			}
			p.hits[step&1] = p.hits[1-step&1]
		}
		list[step], list[29-step] = list[29-step], list[step]
	}
	for i := range list {
		p := &list[i]
		out[i%10] += int64(p.at[0]*1000) + int64(p.name[1])
		if p.near != nil {
			out[10] += int64(p.near.name[1])
		}
		if p.hits[0] != nil {
			out[11] += p.hits[0].value
		}
	}
}

func newNode(x int64) *node {
	n := node{value: x}
	p := &n
	p.value++
	return p
}

func pair(a, b int64) []int64 { return []int64{a, b, a ^ b} }

func outlive(out []int64) {
	var all []*int64
	var kept []*node
	for i := range int64(50) {
		x := i * i
		all = append(all, &x)
		x++
		kept = append(kept, newNode(i))
		kept[i].next = kept[i/3]
	}
	for i, p := range all {
		*p += int64(i)
		out[i%7] += *p + kept[i].next.value
	}
	y := 5
	z := &y
	f := func() { *z += 3 }
	f()
	q := pair(3, int64(y))
	out[8], out[9] = q[2], int64(*z)
}

func moved(out []int64) {
	a := make([]string, 10)
	for i := range a {
		a[i] = "s" + string(rune('0'+i))
	}
	b := append([]string{}, a[2:5]...)
	copy(a[1:], a)
	copy(a, b)
	clear(a[7:])
	n := copy(b, a[3:])
	for i, s := range append(a, b...) {
		for j := range len(s) {
			out[i%8] = out[i%8]*7 + int64(s[j])
		}
	}
	out[8] = int64(n)
}

func primes(out []int64) {
	var list []int
	for n := 2; len(list) < 500; n++ {
		prime := true
		for _, p := range list {
			if p*p > n {
				break
			}
			if n%p == 0 {
				prime = false
				break
			}
		}
		if prime {
			list = append(list, n)
		}
	}
	for i, p := range list {
		out[i%10] += int64(p)
	}
}

func product[T int | float64](a, b [][]T) [][]T {
	c := make([][]T, len(a))
	for i := range c {
		c[i] = make([]T, len(b[0]))
		for k := range b {
			for j := range c[i] {
				c[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return c
}

func products(out []int64) {
	a, b := [][]int{{1, 2, 3}, {4, 5, 6}}, [][]int{{7, 8}, {9, 10}, {11, 12}}
	c := product(a, b)
	c = product(c, product(a, b))
	x := product([][]float64{{0.5}}, [][]float64{{1, 2, 3}})
	out[0], out[1], out[2], out[3], out[4] = int64(c[0][0]), int64(c[0][1]), int64(c[1][0]), int64(c[1][1]), int64(x[0][2]*4)
}

func negative(out []int64) {
	n := int(out[0]) - 1
	out[1] = 5
	s := make([]int64, n)
	out[2] = int64(len(s))
}

func short(out []int64) {
	n := int(out[0])
	s := make([]int64, n+3, n+7)
	out[1] = int64(cap(s))
	s = make([]int64, n+3, n+2)
	out[2] = int64(len(s))
}

func churn(out []int64) {
	ring := make([]*node, 64)
	names := make([]string, 64)
	for i := range 60000 {
		n := &node{value: int64(i)}
		n.next = ring[(i*7)%64]
		if n.next != nil {
			n.next.next = nil
		}
		ring[i%64] = n
		row := make([]int64, 20+i%30)
		row[i%20] = int64(i)
		names[i%64] = names[(i+9)%64][:min(3, len(names[(i+9)%64]))] + string(rune('a'+i%26))
		out[i%8] += row[i%20] + int64(len(names[i%64]))
	}
	for i, n := range ring {
		out[8+i%4] += n.value
		if n.next != nil {
			out[12] += n.next.value
		}
		for j := range len(names[i]) {
			out[13] = out[13]*3 + int64(names[i][j])
		}
	}
}

type stack struct {
	items []int64
	names []string
}

func (s *stack) push(x int64) {
	s.items = append(s.items, x)
	s.names = append(s.names, "x"+string(rune('a'+x%26)))
}

func (s *stack) pop() (x int64) {
	x = s.items[len(s.items)-1] + int64(s.names[len(s.names)-1][1])
	s.items, s.names = s.items[:len(s.items)-1], s.names[:len(s.names)-1]
	return x
}

func shared(out []int64) {
	var s stack
	for i := range int64(100) {
		s.push(i)
		if i%3 == 2 {
			out[i%5] += s.pop()
		}
	}
	for len(s.items) > 0 {
		out[5] = out[5]*3 + s.pop()
	}
	s.pop()
}

func memo(out []int64) {
	const n, w = 30, 80
	table := make([][]int, n+1)
	for i := range table {
		table[i] = make([]int, w+1)
	}
	for i := 1; i <= n; i++ {
		weight, value := i*7%13+1, i*11%17+1
		for j := range table[i] {
			table[i][j] = table[i-1][j]
			if j >= weight {
				table[i][j] = max(table[i][j], table[i-1][j-weight]+value)
			}
		}
	}
	out[0] = int64(table[n][w])
}

type owner struct {
	name string
	has  *node
}

// through has what only something reached that is replaced.
func through(out []int64) {
	list := make([]*owner, 20)
	for round := range 200 {
		for i := range list {
			list[i] = &owner{"n" + string(rune('a'+i)), &node{value: int64(i + round)}}
		}
		a, b := list[3].name, list[4].has
		list[3], list[4] = nil, nil
		for i := range 50 {
			out[1] += int64(len(make([]int64, 10+i)))
		}
		list[5] = &owner{"x" + string(rune('a'+round%9)), &node{value: 1}}
		out[0] += int64(a[1]) + b.value
	}
}

// behind has slices of nothing at the ends of arrays.
func behind(out []int64) {
	var list [][]int64
	for i := range 4000 {
		s := make([]int64, 8)
		s[i%8] = int64(i)
		list = append(list, s[len(s):])
		if len(list) == 300 {
			list = list[300:]
			list = append([][]int64(nil), list...)
		}
		out[0] += int64(len(list)) + s[i%8] + int64(cap(s[8:]))
	}
}
