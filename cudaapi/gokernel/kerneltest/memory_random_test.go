package kerneltest

// What random functions for the host have besides: slices that grow, rows, strings that
// are joined, lists, addresses of variables that outlive them, and maps. Nothing looks at
// capacities, which depend on what lies on Go's stack, or at the order of a map.

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

func mapped[K comparable](m map[K]int64, hash func(k K) int64) (t int64) {
	for k, v := range m {
		t += (hash(k) + 7) * (v ^ 3)
	}
	return t*5 + int64(len(m))
}

func named(m map[string][]int64) (t int64) {
	for k, v := range m {
		t += hash(k) + total(v)*int64(len(v))
	}
	return t
}

func linked(m map[int8]*link) (t int64) {
	for k, l := range m {
		t += int64(k) * l.walk()
	}
	return t
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
	g.line("counts, known := map[string]int64{text: 1}, make(map[int64]int64, %d)", g.r.IntN(20))
	g.line("groups, nodes := map[string][]int64{}, map[int8]*link{1: head}")
	g.line("reals, flags := map[float64]int64{}, map[bool]string{}")
	g.line("var none map[int64]int64")
}

// memoryResults is what is left of them.
func (g *generator) memoryResults(i int) {
	g.line("out[%d], out[%d], out[%d], out[%d], out[%d] = sums(grid), total(list), hashes(names), hash(text), values(ptrs)", i, i+1, i+2, i+3, i+4)
	g.line("out[%d] += head.walk()", i)
	g.line("for _, l := range links { out[%d] = out[%d]*5 + l.walk() }", i+1, i+1)
	g.line("out[%d] += mapped(counts, hash) + mapped(none, func(k int64) int64 { return k })", i)
	g.line("out[%d] += mapped(known, func(k int64) int64 { return k*k }) + mapped(reals, func(x float64) int64 { if x != x { return 1 }; return int64(x) })", i+2)
	g.line("out[%d] += named(groups) + linked(nodes) + hash(flags[true]) + 3*hash(flags[false])", i+3)
}

// memory is a statement that needs memory.
func (g *generator) memory() {
	x := func() string { return g.expr("int64") }
	switch g.r.IntN(34) {
	case 20:
		g.line("counts[text]++")
	case 21:
		g.line("counts[names[%s&1]] %s %s", g.index(), pick(g, []string{"=", "+=", "-=", "^=", "*=", "/=", "%=", "|="}), x())
	case 22:
		g.line("known[%s] %s %s", x(), pick(g, []string{"=", "+=", "&^=", "/="}), x())
	case 23:
		g.line("known[int64(%s%%7)] %s %s", g.index(), pick(g, []string{"<<=", ">>="}), pick(g, []string{g.index(), g.expr("int8")}))
	case 24:
		g.line("if v, ok := known[int64(%s%%7)]; ok { %s = v } else { known[int64(%s%%7)] = known[%s] + 1 }", g.index(), g.target("int64"), g.index(), x())
	case 25:
		g.line("groups[text] = append(groups[text], %s)", x())
	case 26:
		g.line("nodes[%s], nodes[int8(%s)] = head, nodes[%s]", g.expr("int8"), g.index(), g.expr("int8"))
	case 27:
		g.line("nodes[%s] = &link{%s, nodes[%s], text}", g.expr("int8"), x(), g.expr("int8"))
	case 28:
		g.line("%s", pick(g, []string{"delete(counts, text)", "delete(nodes, 1)", "clear(known)", "clear(groups)", "delete(none, 1)", "counts = map[string]int64{names[0]: 1, \"b\": count}", "head = nodes[1].push(1, text)"}))
	case 29:
		g.line("reals[%s] += %s", g.expr("float64"), x())
	case 30:
		g.line("flags[%s] += text", g.expr("bool"))
	case 31:
		g.line("for k, v := range counts { %s += v*hash(k); if v %% 3 == 0 { delete(counts, k) } else { counts[k] = v %% 1000 } }", g.target("int64"))
	case 32:
		g.line("if %s { none = known } else { none[%s]++ }", pick(g, []string{"len(known) > 1", "len(none) == 0 && count&7 != 0", "none == nil"}), x())
	case 33:
		g.line("{ l := nodes[int8(%s&3)]; name := groups[names[0]]; delete(nodes, 0); nodes[2] = head; clear(groups); groups[\"g\"] = append(name, l.walk()) }", g.index())
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
		g.line("for k, v := range groups { groups[k] = v[:min(len(v), 30)] }")
		g.line("if len(flags[true]) > 30 { flags[true] = text }; if len(flags[false]) > 30 { clear(flags) }")
	}
}
