package kerneltest

// What random functions for the host have besides: slices that grow, rows, strings that
// are joined, lists, and addresses of variables that outlive them. Nothing looks at
// capacities, which depend on what lies on Go's stack.

const memoryPrelude = `
type link struct {
	value int64
	next  *link
	name  string
}

func hash(s string) (h int64) {
	for i := range len(s) {
		h = h*31 + int64(s[i])
	}
	return h
}

func (l *link) walk() (n int64) {
	for range 20 {
		if l == nil {
			break
		}
		n = n*3 + l.value + hash(l.name)
		l = l.next
	}
	return n
}

func (l *link) push(x int64, name string) *link { return &link{x, l, name + "."} }

func row(n int, x int64) []int64 {
	r := make([]int64, n)
	for i := range r {
		r[i] = x + int64(i)
	}
	return r
}

func sums(rows [][]int64) (t int64) {
	for _, r := range rows {
		t = t*7 + total(r) + int64(len(r))
	}
	return t
}

func hashes(names []string) (h int64) {
	for _, s := range names {
		h = h*17 + hash(s)
	}
	return h
}

func values(list []*int64) (t int64) {
	for i, p := range list {
		t += *p * int64(i+1)
	}
	return t
}
`

// memoryVariables declares what the statements of memory are about.
func (g *generator) memoryVariables() {
	g.line("grid := make([][]int64, 3)")
	g.line("for i := range grid { grid[i] = row(i+%d, %d) }", g.r.IntN(4), g.r.IntN(9))
	g.line("list := []int64{%d, 2}", g.r.IntN(50))
	g.line("names := []string{%q, %q}", string(rune('a'+g.r.IntN(26))), "grüße")
	g.line("text := %q", "start"[:g.r.IntN(6)])
	g.line("head := &link{%d, nil, text}", g.r.IntN(9))
	g.line("links := []*link{head, {value: 2, name: names[1]}}")
	g.line("var ptrs []*int64")
}

// memoryResults is what is left of them.
func (g *generator) memoryResults(i int) {
	g.line("out[%d], out[%d], out[%d], out[%d], out[%d] = sums(grid), total(list), hashes(names), hash(text), values(ptrs)", i, i+1, i+2, i+3, i+4)
	g.line("out[%d] += head.walk()", i)
	g.line("for _, l := range links { out[%d] = out[%d]*5 + l.walk() }", i+1, i+1)
}

// memory is a statement that needs memory.
func (g *generator) memory() {
	x := func() string { return g.expr("int64") }
	switch g.r.IntN(20) {
	case 0:
		g.line("list = append(list, %s)", x())
	case 1:
		g.line("list = append(list[:min(len(list), %s)], %s, %s)", g.index(), x(), x())
	case 2:
		g.line("list = append(list, a[%s/2:]...)", g.index())
	case 3:
		g.line("grid[%s%%3] = append(grid[%s%%3][:0:0], grid[%s%%3]...)", g.index(), g.index(), g.index())
	case 4:
		g.line("grid[%s%%3], grid[%s%%3] = grid[%s%%3], row(%s, %s)", g.index(), g.index(), g.index(), g.index(), x())
	case 5:
		g.line("if len(grid) < 20 { grid = append(grid, row(%s, %s), nil) }", g.index(), x())
	case 6:
		g.line("grid[%s%%3] = make([]int64, %s, %s)", g.index(), g.index(), pick(g, []string{"16", "int(" + g.expr("int8") + ")", "8 + " + g.index()}))
	case 7:
		g.line("text += string(rune('a' + %s&1023))", g.expr("int32"))
	case 8:
		g.line("text = names[%s%%2] + text[min(len(text), %s):]", g.index(), g.index())
	case 9:
		g.line("if len(names) < 20 { names = append(names, text, %q) }", pick(g, []string{"", "z", "\xff\x00"}))
	case 10:
		g.line("names[0], names[1] = names[1], text")
	case 11:
		g.line("{ bytes := append([]byte(text), %s); bytes[len(bytes)/2] ^= 3; text = string(bytes[len(bytes)/3:]) }", g.expr("uint8"))
	case 12:
		g.line("head = head.push(%s, text)", x())
	case 13:
		g.line("head.next, links[%s&1] = links[%s&1], head", g.index(), g.index())
	case 14:
		g.line("if head.next != nil { head = head.next } else { head.next = &link{value: %s, name: names[0]} }", x())
	case 15:
		y := g.name("y")
		g.line("{ %s := %s; ptrs = append(ptrs, &%s); %s += count; links = append(links, &link{%s, head, text}) }", y, x(), y, y, y)
	case 16:
		g.line("if len(ptrs) > 0 { *ptrs[%s%%len(ptrs)] += %s }", g.index(), x())
	case 17:
		g.line("%s", pick(g, []string{"copy(names[1:], names)", "copy(names, names[1:])", "clear(names[1:])", "copy(links, links[1:])", "clear(list)", "copy(grid[1:], [][]int64{{3}, {4, 5}})"}))
	case 18:
		g.line("if text %s names[%s&1] {", pick(g, []string{"==", "<", "!="}), g.index())
		g.body()
		g.line("}")
	case 19:
		g.line("%s = list[%s%%(len(list)|1)] + head.value + int64(len(text)) + links[%s&1].next.walk()", g.target("int64"), g.index(), g.index())
	}
	if g.r.IntN(6) == 0 { // so that nothing gets long
		g.line("text = text[:min(len(text), 30)]")
		g.line("list = list[:min(len(list), 30)]")
	}
}
