package golang

import (
	"bytes"
	"flag"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// loopCells are cells with loops, and what calls them.
var loopCells = []struct{ name, declare, run string }{
	{"for", "", "a, b := 0, uint8(1)\nfor i := 0; i < 60; i++ { a += i*i; b = b*3 + uint8(i) }\na, b"},
	{"package variables", "total := 0.5", "total = 0.5\nfor i := range 60 { total = total*1.5 - float64(i) }\ntotal"},
	{"range over a slice", "", "xs := make([]int, 60)\nfor i := range xs { xs[i] = i*7%13 }\ns := 0\nfor i, x := range xs { s = s*3 + i*x; xs[59-i] = 1 }\ns, xs"},
	{"a slice that is another by then", "func f(xs []int) (s int, ys []int) {\n\tfor i, x := range xs { s = s*10 + x; xs = xs[:5-min(i, 5)]; ys = xs }\n\treturn\n}", "f([]int{1, 2, 3, 4, 5, 6})"},
	{"characters", "", "n, h := 0, rune(0)\nfor i, r := range \"grüße, 世界! \\xff ... the quick brown fox jumps over the lazy dog\" { n += i; h = h*31 + r }\nn, h"},
	{"an array", "func f() (s int, a [9]int) {\n\tfor i := range a { a[i] = i*i }\n\tfor i, x := range a { a[8-i] = s; s += x }\n\treturn\n}", "f()"},
	{"a pointer to an array", "func f(p *[40]int) (s int) {\n\tfor i, x := range p { p[39-i] += i; s += x }\n\treturn\n}", "var a [40]int\nf(&a), a"},
	{"return", "func f(n int) (int, string) {\n\tfor i := 0; ; i++ {\n\t\tif i*i > n { return i, \"found\" }\n\t}\n}", "f(900)"},
	{"named results", "func f(n int) (r int, ok bool) {\n\tfor i := 0; i < 60; i++ {\n\t\tr += i\n\t\tif r > n { ok = true; return }\n\t\tif i == 50 { return -1, true }\n\t}\n\treturn r, false\n}", "a, b := f(300)\nc, d := f(100000)\na, b, c, d"},
	{"defer", "func f(n int) (r int) {\n\tdefer func() { r *= 2 }()\n\tfor i := 0; i < 60; i++ {\n\t\tr += i\n\t\tif r > n { return r + 1 }\n\t}\n\treturn\n}", "f(300), f(1e6)"},
	{"labels", "func f() (s int) {\nouter:\n\tfor i := 0; i < 12; i++ {\n\t\tfor j := 0; j < 12; j++ {\n\t\t\tif j > i { continue outer }\n\t\t\tif i*j > 70 { break outer }\n\t\t\ts = s*3 + i ^ j\n\t\t}\n\t\ts++\n\t}\n\treturn\n}", "f()"},
	{"goto", "func f() (s int) {\n\tfor i := 0; i < 60; i++ {\n\t\ts += i\n\t\tif s > 200 { goto done }\n\t}\n\ts = -1\ndone:\n\treturn s + 1\n}", "f()"},
	{"goto back", "func f() (s int) {\n\tk := 0\nagain:\n\tfor i := 0; i < 20; i++ {\n\t\ts += i ^ k\n\t\tif i == 12 && k < 3 { k++; goto again }\n\t}\n\treturn s*10 + k\n}", "f()"},
	{"shared with a closure", "func f() (int, int) {\n\tn, m := 0, 0\n\tadd := func(k int) { n += k }\n\tfor i := 0; i < 30; i++ { n = n*3 + i; m++ }\n\tadd(5)\n\treturn n, m\n}", "f()"},
	{"through a pointer", "func f() int {\n\tn := 1\n\tp := &n\n\tfor i := 0; i < 30; i++ { *p += n ^ i; n++ }\n\treturn n\n}", "f()"},
	{"inside a closure", "func f() func() int {\n\ts := 0\n\treturn func() int {\n\t\tfor i := 0; i < 20; i++ { s += i*s + 1 }\n\t\treturn s\n\t}\n}", "g := f()\ng(), g()"},
	{"structs", "type P struct { X, Y float32; N [3]int16 }\nfunc f(ps []P) (best P) {\n\tfor i, p := range ps {\n\t\tp.N[i%3]--\n\t\tps[i].X += p.Y\n\t\tif ps[i].X > best.X { best = p }\n\t}\n\treturn\n}", "ps := make([]P, 55)\nfor i := range ps { ps[i] = P{X: float32(i*7%11), Y: float32(i)}; ps[i].N[1] = int16(i) }\nf(ps), ps[50]"},
	{"methods", "type Acc struct { sum, n int }\nfunc (a *Acc) add(x int) { a.sum += x; a.n++ }\nfunc (a Acc) mean() float64 { return float64(a.sum) / float64(a.n) }\nfunc f(xs []int) (float64, int) {\n\tvar a Acc\n\tfor _, x := range xs { a.add(x); if a.mean() > 20 { break } }\n\treturn a.mean(), a.n\n}", "xs := make([]int, 60)\nfor i := range xs { xs[i] = i }\nf(xs)"},
	{"nested", "func f(n int) (s, t int) {\n\tfor i := range n {\n\t\tfor j := i; j < n; j += 2 { s += i ^ j; if s%7 == 3 { continue }; t++ }\n\t\tfor k := range 3 { t = t*2 - k }\n\t}\n\treturn\n}", "f(14)"},
	{"switch", "func f() (s int) {\n\tfor i := 0; ; i++ {\n\t\tswitch {\n\t\tcase i == 55: return s\n\t\tcase i%5 == 0: continue\n\t\tcase i%7 == 0: break\n\t\tdefault: s += i\n\t\t}\n\t\ts *= 3\n\t}\n}", "f()"},
	{"small counters", "", "var n int8\ns := 0\nfor i := uint8(200); i > 10; i += 3 { s += int(i); n += int8(i) }\nfor i := range uint16(51) { s += int(i)<<i%7 }\ns, n"},
	{"an index out of range", "", "ys := make([]int, 30)\ns := 0\nfor i := 0; i < 60; i++ {\n\ts += i\n\tys[i] = s\n}\ns"},
	{"division by zero", "func div(a, b int) int {\n\treturn a / b\n}\nfunc f(n int) (s int) {\n\tfor i := 40; i > -10; i-- {\n\t\ts += div(n, i)\n\t}\n\treturn\n}", "f(9)"},
	{"recover", "func f(xs []int) (s int, err any) {\n\tdefer func() { err = recover() }()\n\tfor i := 0; ; i++ { s += xs[i] }\n}", "f(make([]int, 44))"},
	{"nothing", "", "s := 0\nfor i := 0; i < 0; i++ { s++ }\nfor range 0 { s++ }\nfor range \"\" { s++ }\ns"},
	{"no variables", "count := 0", "count = 0\nfor range 55 { count++ }\nfor count < 100 { count += 3 }\ncount"},
	{"append", "type Q struct { name string; at []float64 }", "xs, ps := []int{}, []Q(nil)\nfor i := range 60 { xs = append(xs, i*i); ps = append(ps, Q{\"p\", []float64{float64(i)}}) }\ns := 0.0\nfor _, p := range ps { s = s*0.5 + p.at[0] }\nxs, s, ps[59]"},
	{"make", "", "m := make([][]float64, 55)\nfor i := range m { m[i] = make([]float64, i%4); for j := range m[i] { m[i][j] = float64(i+j) } }\nfor i := range 27 { m[i], m[54-i] = m[54-i], m[i] }\nm[50], m[3], len(m)"},
	{"strings", "", "s, t := \"\", []byte{}\nfor i := range 55 { s += string(rune('a'+i*9)); t = append(t, s[i:]...) }\ns, string(t[20:60])"},
	{"a list", "type N struct { V int; Next *N }\nvar head *N", "head = nil\nfor i := range 55 { head = &N{i, head} }\ns := 0\nfor n := head; n != nil; n = n.Next { s = s*3 + n.V; if n.Next != nil && n.V%3 == 0 { n.Next = n.Next.Next } }\ns, head.Next.V"},
	{"addresses", "func f(n int) (ps []*int) {\n\tfor i := 0; i < n; i++ { x := i * i; ps = append(ps, &x) }\n\treturn\n}", "s := 0\nfor i, p := range f(55) { *p += i; s = s*3 + *p }\ns"},
	{"a negative length", "", "n := 0\nfor i := range 60 { xs := make([]int, 30-i); n += len(xs) }\nn"},
	{"places found before they change", "", "x, i := make([]int, 60), 5\nfor i, x[i] = range []int{5, 6, 7, 8, 9, 3, 2, 1} { x[20+i] = x[i] }\nvar r rune\nj := 0\nrs := make([]rune, 60)\nfor j, rs[j] = range \"grüße, world\" { r = r*3 + rs[j] }\ni, x, j, rs, r"},
	{"the library", "", "words, n := \"\", 0\nfor i := range 55 { s := strconv.Itoa(i*i); words = strings.ToUpper(s) + strings.Repeat(\"x\", i%3); if unicode.IsDigit(rune(s[0])) && strings.Contains(words, \"2\") { n += utf8.RuneCountInString(words) } }\nwords, n"},
	{"several results of the library", "", "a, b := \"\", 0\nfor i := range 55 { x, y, ok := strings.Cut(\"a-b-c\", string(rune('a'+i%5))); if ok { a += x; b += len(y) } }\na, b"},
	{"text", "", "s := \"\"\nfor i := range 55 { s = fmt.Sprintf(\"%s%d,\", s[len(s)/2:], i) + fmt.Sprint(i, 2.5, true, int8(i), uint(i), 'x', 1i) }\ns"},
	{"prints", "", "for i := range 52 { if i%13 == 0 { fmt.Println(i, \"x\", 2.5, float32(i)/3, i > 20, uint8(i)); fmt.Printf(\"%5.2f|%-4d|%q\\n\", float64(i)/3, i, \"s\"); fmt.Print(\"a\", i, 1, \"b\") } }\n0"},
	{"results of prints", "func told(i int) (int, error) { n, _ := fmt.Println(i); m, err := fmt.Printf(\"%d|%s\\n\", i, \"ö\"); return n*100 + m, err }", "n, k := 0, 0\nfor i := range 60 { a, err := told(i * 7); n = n*3 + a; if err == nil { k++ }; b, _ := fmt.Print(i, 2.5); n += b }\nn, k"},
	{"a panic of the library", "func pad(n int) string {\n\treturn strings.Repeat(\"ab\", n)\n}\nfunc f() (s string) {\n\tfor i := 40; ; i-- {\n\t\ts = pad(i)\n\t}\n}", "f()"},
	{"a panic of the library that is recovered", "func f() (s string, err any) {\n\tdefer func() { err = recover() }()\n\tfor i := 40; ; i-- { s = strings.Repeat(\"ab\", i) }\n}", "f()"},
	{"a condition that does something", "func next(p []int) bool {\n\tp[0]++\n\treturn p[0] < 60\n}\nfunc f() (c int) {\n\tp := []int{30}\n\tfor i := 0; next(p) && i < 50; i++ { c += i }\n\treturn\n}", "p, c := []int{0}, 0\nfor next(p) { c++ }\na := f()\nfor len(p) < 3 || next(p[1:]) { p = append(p, c) }\np, c, a"},
	{"must", "", "s, n := 0.0, 0\nfor i := range 55 { n += must(strconv.Atoi(strconv.Itoa(i))); s += must(strconv.ParseFloat(fmt.Sprint(i)+\".5\", 64)) }\ns, n"},
	{"must that fails", "func number(s string) int {\n\treturn must(strconv.Atoi(s))\n}\nfunc f() (n int) {\n\tdefer func() { recover() }()\n\tfor i := 0; ; i++ {\n\t\tn += number(\"00000000000000000000000000000x\"[:i+1])\n\t}\n}", "f()"},
	{"check", "", "n := 0\nfor i := range 55 { n += i; check(n >= i, \"%d is less than %d\", n, i) }\nn"},
	{"a check that fails", "func below(n int) {\n\tcheck(n < 40, \"%d is %s\", n, \"too much\")\n}", "for i := range 60 {\n\tbelow(i)\n}"},
	{"maps", "type W struct { N int; At []int }", "m, w := map[string]int{}, map[int]W{}\nfor i := range 55 { k := string(rune('a'+i%7)); m[k]++; m[k] *= 2; x := w[i%5]; x.N += i; x.At = append(x.At, i); w[i%5] = x; if i%9 == 0 { delete(m, \"b\") } }\nfor i := 0; i < 9 && len(m) > 0; i++ { if n, ok := m[\"c\"]; ok { m[\"z\"] += n } }\nm, w"},
	{"ranges over maps", "var known = map[int]float64{}\nfunc f(n int) (s float64) {\n\tfor i := range n { known[i] = float64(i)/2; for k, v := range known { s += float64(k)*v; if k > 40 { return s } } }\n\treturn\n}", "clear(known)\na := f(30)\nkeys := 0\nfor i := range 55 { for k := range known { keys += k*i } }\na, keys, len(known)"},
	{"maps of a function", "type Set map[string]bool\nfunc (s Set) add(x string) bool { old := s[x]; s[x] = true; return old }\nfunc memo(n int, known map[int]int) int {\n\tif n < 2 { return n }\n\tif v, ok := known[n]; ok { return v }\n\tknown[n] = memo(n-1, known) + memo(n-2, known)\n\treturn known[n]\n}", "s, cache, n := Set{}, make(map[int]int), 0\nfor i := range 55 { if s.add(string(rune('a'+i%9))) { n++ }; n += memo(i, cache) }\ns, len(cache), n"},
	{"a map that is nil", "func count(m map[string]int, w string) {\n\tm[w]++\n}", "var m map[string]int\nn := 0\nfor i := range 60 {\n\tn += m[\"x\"] + len(m)\n\tif i == 40 { count(m, \"x\") }\n}\nn"},
	{"a write to a nil map that is recovered", "func f() (s string, n int) {\n\tvar m map[int]string\n\tdefer func() { s = fmt.Sprint(recover()) }()\n\tfor i := 0; ; i++ { n = i; if i > 30 { m[i] = \"x\" } }\n}", "f()"},
	{"generic functions of the library", "type pair struct { name string; n int }\ntype table struct { rows []pair; compared int }\nfunc byName(a, b pair) int { return cmp.Compare(a.name, b.name) }\nfunc (t *table) sort(down bool) { slices.SortFunc(t.rows, func(a, b pair) int { t.compared++; if down { a, b = b, a }; return cmp.Or(cmp.Compare(a.n, b.n), strings.Compare(a.name, b.name)) }) }", "t := &table{}\nfor i := range 55 { t.rows = append(t.rows, pair{string(rune('a'+i*7%11)), i*5%13}); t.sort(i%2 == 0) }\nrows := slices.Clone(t.rows)\nslices.SortStableFunc(rows, byName)\nxs := []int32{}\nfor i := range 60 { xs = append(xs, int32(i*37%29)); if slices.Contains(xs, 8) { slices.Reverse(xs) }; xs = slices.Insert(xs, 0, slices.Max(xs)-slices.Min(xs)); xs = slices.Compact(xs) }\nslices.Sort(xs)\nk, ok := slices.BinarySearch(xs, 7)\nt.rows, t.compared, rows, xs, k, ok"},
	{"sort.Slice", "type keyed struct { key, at int }\ntype keys []keyed\ntype listed struct { name string; keys }\nfunc keysOf(n, order int) (xs keys) {\n\tfor i := range n { k := i * 7919 % 101; switch order { case 1: k = i; case 2: k = -i; case 3: k = min(i, n-i); case 4: k = 5; case 5: k = i % 7 }; xs = append(xs, keyed{k, i}) }\n\treturn\n}\nfunc less(a, b keyed) bool { return a.key < b.key }\nfunc sorted(n, order int, stable bool) (keys, int) {\n\tt, compared := &listed{keys: keysOf(n, order)}, 0\n\tif stable { sort.SliceStable(t.keys, func(i, j int) bool { compared++; return less(t.keys[i], t.keys[j]) }); return t.keys, compared }\n\txs := t.keys\n\tsort.Slice(xs, func(i, j int) bool { compared++; return xs[i].key < xs[j].key })\n\treturn xs, compared\n}", "h, isSorted := 0, 0\nfor k := range 36 {\n\txs, compared := sorted([]int{0, 1, 5, 13, 60, 300}[k/6], k%6, k%4 == 3)\n\tif sort.SliceIsSorted(xs, func(i, j int) bool { return xs[i].key < xs[j].key }) { isSorted++ }\n\th += compared\n\tfor _, x := range xs { h = h*31 + x.at }\n}\nnames := []string{}\nfor i := range 80 { names = append(names, string(rune('a'+i*7%26))) }\nsort.Slice(names, func(i, j int) bool { return names[i] < names[j] })\nh, isSorted, names"},
	{"a panic in less", "func sortBad(xs []int) (s any) {\n\tdefer func() { s = recover() }()\n\tsort.Slice(xs, func(i, j int) bool {\n\t\treturn xs[xs[i]] < xs[j]\n\t})\n\treturn\n}", "sortBad([]int{2, 1, 0}), sortBad([]int{1, 7, 2}), sortBad(nil)"},
	{"a panic in less that ends the cell", "func worst(xs []int) {\n\tsort.Slice(xs, func(i, j int) bool {\n\t\treturn 100/xs[i] < xs[j]\n\t})\n}", "worst([]int{2, 1, 0})"},
	{"a panic in what sorts", "func sortBad(xs []int) (s any) {\n\tdefer func() { s = recover() }()\n\tslices.SortFunc(xs, func(a, b int) int { return xs[a] - xs[b] })\n\treturn\n}", "sortBad([]int{2, 1, 0}), sortBad([]int{1, 7, 2}), sortBad(nil)"},
	{"fields that compiled code holds", "type odd struct { n int; c chan int; f func(int) int; a any; err error; m map[any]int; mu sync.Mutex; at time.Time; p *bytes.Buffer; u unsafe.Pointer; next *odd }", "xs := []odd{}\ne := errors.New(\"e\")\nlist := &odd{a: 7, err: e, f: func(i int) int { return i + 1 }, m: map[any]int{1: 2}}\nfor i := range 60 { xs = append(xs, *list, odd{n: i}); if i > 0 && xs[i-1].a != nil && xs[i-1].f != nil && xs[i-1].c == nil { xs[i], xs[i-1] = xs[i-1], xs[i]; list = &odd{n: i, next: list, err: xs[i].err, a: list.a} } }\nn := 0\nfor p := list; p != nil; p = p.next { n = n*3 + p.n; if p.err == nil { n++ } }\nk := slices.IndexFunc(xs, func(o odd) bool { return o.f != nil })\nn, xs[k].f(1), xs[k].m[1], xs[k].a, xs[k].err, len(xs), list.a, list.err == e"},
	{"errors of the library", "type reader struct { err error; sum int }\nfunc (r *reader) read(s string) bool {\n\tn, err := strconv.Atoi(s)\n\tif err != nil { r.err = err; return false }\n\tif n > 40 { r.err = fmt.Errorf(\"%d is too much: %q\", n, s); return false }\n\tr.sum += n\n\treturn true\n}", "r, q := &reader{}, &reader{}\nfor i := 0; i < 60 && r.read(strconv.Itoa(i)); i++ {}\nfor _, s := range []string{\"1\", \"2\", \"x\", \"3\"} { if !q.read(s) { break } }\nr.sum, r.err, q.sum, q.err"},
	{"prefixes and bytes", "", "n, s := 0, \"grüße, world\"\nfor i := range 60 { t := s[i%len(s):]; if strings.HasPrefix(t, \"wo\") || strings.HasSuffix(t, \"rld\") || strings.HasPrefix(\"\", t[:i%2]) { n += i }; n = n*3 + strings.IndexByte(t, byte('a'+i%26)) + strings.IndexByte(t[len(t):], 0) }\nn"},
	{"builders", "type page struct { title string; out strings.Builder; lines int }\nfunc (p *page) line(i int) {\n\tp.lines++\n\tfmt.Fprintf(&p.out, \"%d:%s\\n\", i, p.title)\n}", "p := &page{title: \"t\"}\nvar b strings.Builder\nb.WriteString(\"x\")\nq := &b\nn := 0\nfor i := range 60 { p.line(i); b.WriteByte(byte('a' + i%26)); q.WriteRune(rune(200*i)); b.WriteString(p.title); n += b.Len(); if i%25 == 24 { q.Reset() }; var own strings.Builder; for range i%4 { own.WriteString(\"é\") }; n += len(own.String()); fmt.Fprintln(q, i, \"y\") }\np.out.String(), p.lines, b.String(), n"},
	{"a copy of a builder", "func copied() (s any) {\n\tdefer func() { s = recover() }()\n\tvar a strings.Builder\n\tfor i := 0; ; i++ {\n\t\ta.WriteString(\"a\")\n\t\tif i == 20 { b := a; b.WriteString(\"b\") }\n\t}\n}", "copied()"},
	{"assigned range variables", "", "var i, x, s int\nfor i, x = range []int{5, 6, 7, 8, 9, 3, 2} { s += i*x }\ni, x, s"},
}

var everyIteration = flag.Bool("iterations", false, "have compiled loops entered in each of their first 51 iterations")

// column is that of a place in a cell: compiled code knows it better.
var column = regexp.MustCompile(`(In\[\d+\]:\d+):\d+`)

// What a call returns and nobody takes is told if it is an error, and fails the cell at its
// outer level, so such a loop is interpreted.
func TestLoopsThatDropErrors(t *testing.T) {
	needsCompiler(t)
	s := newSession(t)
	s.ev.loops.eager = 1
	s.run("func number(s string) {\n\tstrconv.Atoi(s)\n}")
	for cell, want := range map[string]string{
		"for i := range 60 {\n\tif i == 40 { number(\"x\") }\n}":       "In[1]:2:2: main.number drops an error: strconv.Atoi: parsing \"x\": invalid syntax",
		"for i := range 60 {\n\tif i == 40 { strconv.Atoi(\"x\") }\n}": "Error: strconv.Atoi: parsing \"x\": invalid syntax",
	} {
		if got := s.run(cell); !strings.HasPrefix(got, want) {
			t.Errorf("%s\ngave %q, not %q", cell, got, want)
		}
	}
}

// A loop that goes on in its compiled form in any of its iterations gives the same.
func TestLoopEntry(t *testing.T) {
	needsCompiler(t)
	iterations := []int{0, 1, 7}
	if *everyIteration {
		iterations = nil
		for i := range 51 {
			iterations = append(iterations, i)
		}
	}
	plain, s := newSession(t), newSession(t)
	plain.ev.SetCompile(false)
	s.ev.loops.eager = 1
	entered := 0
	for i, c := range loopCells {
		for _, x := range []*session{plain, s} {
			if text := x.run(c.declare); text != "" {
				t.Errorf("%s: %s", c.name, text)
			}
		}
		name := fmt.Sprintf("In[%d]", 2*i+2)
		outcome := func(s *session) string {
			s.out.Reset()
			res := s.ev.Eval(name, c.run, false)
			text := s.out.String()
			if res.Value != nil {
				text += fmt.Sprint(res.Value.Data["text/plain"])
			}
			if res.Err != nil {
				text += column.ReplaceAllString(res.Err.Plain(), "$1")
			}
			return text
		}
		want := outcome(plain)
		for _, after := range iterations {
			s.ev.loops.eager = after + 1
			if got := outcome(s); got != want {
				t.Errorf("%s, entered in iteration %d:\n%s\nwant\n%s", c.name, after, got, want)
				break
			}
		}
		for _, l := range s.ev.loops.numbers.all() {
			if l.state == loopHot {
				entered++
			} else if l.at.Reason != "" {
				t.Errorf("%s is not compiled: %s", c.name, l.at.Reason)
				l.at.Reason = ""
			}
		}
	}
	if entered == 0 {
		t.Error("no loop was compiled")
	}
	plain.ev.loops.mu.Lock()
	defer plain.ev.loops.mu.Unlock()
	if !plain.ev.loops.numbers.none() {
		t.Error("loops can be entered that are not to be compiled")
	}
}

// A loop that runs for long is entered while it runs, and the others like it when they
// begin; an interrupt ends it, and what it calls is what cells declared last.
func TestLoopWhileItRuns(t *testing.T) {
	needsCompiler(t)
	s := newSession(t)
	if err := s.ev.Define("entered", func() bool {
		for _, c := range s.ev.loops.compiled() {
			if c.Reason == "" {
				return true
			}
		}
		return false
	}); err != nil {
		t.Fatal(err)
	}
	got := s.run("weight := 3\nfunc scaled(n int) int { return n * weight }\nn, rounds := 0, 0\nfor !entered() {\n\tfor i := range 1000 { n += scaled(i % 10) }\n\trounds++\n}\nfor i := range 1000 { n += scaled(i % 10) }\nn == (rounds+1)*13500")
	if strings.TrimSpace(got) != "=> true" {
		t.Error(got, s.ev.Compiled())
	}
	if got := s.run("func sum(n int) (s int) { for i := range n { s += scaled(i) }; return }\nsum(5)"); got != "=> 30\n" {
		t.Error(got)
	}
	if got := s.run("func scaled(n int) int { return -n }\nsum(5)"); got != "=> -10\n" {
		t.Error(got)
	}
	go func() {
		for cell := ""; cell != "In[4]" || len(s.ev.loops.compiled()) == 0; cell, _ = s.ev.Where() {
		}
		s.ev.Interrupt()
	}()
	if got := s.run("x := 1\nfor { x = x*3 + 1 }"); !strings.HasPrefix(got, "Interrupted") {
		t.Error(got)
	}
	if got := s.run("1 + 1"); got != "=> 2\n" {
		t.Error(got)
	}
}

// Goroutines run compiled loops on slices that they share while the collector is at
// work all the time.
func TestLoopsInGoroutines(t *testing.T) {
	needsCompiler(t)
	s := newSession(t)
	s.ev.loops.eager = 1
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	got := s.run(`
var shared = make([][]float64, 8)
for i := range shared { shared[i] = make([]float64, 500) }
func work(own int) (s float64) {
	for range 20 {
		fresh := make([]float64, 200)
		for i := range shared[own] { shared[own][i] += float64(i) }
		row := shared[own]
		for i, x := range row { fresh[i%200] += x; row[i] = x + 1 }
		for _, x := range fresh { s += x }
		select { default: } // is not compiled, so the loops are, one by one
	}
	return
}
sums := make([]float64, 8)
var g sync.WaitGroup
for i := range sums { g.Go(func() { sums[i] = work(i) }) }
g.Wait()
sums`)
	if want := 8; strings.Count(got, "2.62925e+07,") != want {
		t.Errorf("got %s, want that %d times", got, want)
	}
	hot := 0
	for _, c := range s.ev.loops.compiled() {
		if c.Reason == "" {
			hot++
		}
	}
	if hot < 3 {
		t.Errorf("%d loops were compiled: %v", hot, s.ev.loops.compiled())
	}
}

// A compiled loop that is entered many times leaves nothing behind.
func TestLoopEntriesKeepNothing(t *testing.T) {
	needsCompiler(t)
	s := newSession(t)
	s.ev.loops.eager = 1
	entries := 20_000
	if *everyIteration {
		entries = 1_000_000
	}
	if text := s.run("func sum(xs []int, from int) (s int) {\n\tfor _, x := range xs[from:] { s += x; if s < 0 { return -1 } }\n\treturn\n}\nfunc keep(any) {}\nxs := []int{1, 2, 3}\nsum(xs, 0)"); text != "=> 6\n" {
		t.Fatal(text)
	}
	used := func() int {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	run := func(n int) {
		if text := s.run(fmt.Sprintf("n := 0\nfor k := range %d { n += sum(xs, k%%3); keep(n) }\nn", n)); !strings.HasPrefix(text, "=> ") {
			t.Fatal(text)
		}
	}
	run(1000)
	before := used()
	run(entries)
	if grown := used() - before; grown > entries*16 {
		t.Errorf("%d entries left %d bytes", entries, grown)
	}
}

// A loop that can never be compiled says why, once it runs for long.
func TestWhyLoopsAreInterpreted(t *testing.T) {
	needsCompiler(t)
	for loop, why := range map[string]string{
		"select {\ndefault:\n}\nn++":                    "In[2]:2:1: compiled code has no channels",
		"c <- n\nn += <-c":                              "In[2]:2:1: compiled code has no channels",
		"m[n%3]++\nn++":                                 "In[2]:2:1: the variable m, which the loop uses, of type map[any]int cannot be in compiled code: the keys of its maps are numbers, bools or strings",
		"n += len(d.String())":                          "In[2]:2:10: d.String cannot be called in compiled code",
		"r.n++\nn++":                                    "In[2]:2:1: the variable r, which the loop uses, of type R, which holds bufio.Scanner, cannot be in compiled code: it is another package's",
		"func() { defer func() { n++ }() }()":           "In[2]:2:10: compiled code has no defer: write what is to be done before each return",
		"for range m2 {\nn++\n}\nvar e chan int\n_ = e": "In[2]:6:5: the variable e, which the loop uses, of type chan int cannot be in compiled code: its functions have no channels",
	} {
		s := newSession(t)
		s.run("n := 1\nm, m2, c := map[any]int{}, map[int]int{1: 1}, make(chan int, 1)\nd := time.Second\ntype R struct {\nl bufio.Scanner\nn int\n}\nvar r R")
		cell := "for i := 0; i < 200_000; i++ {\n" + loop + "\n}"
		told := ""
		for end := time.Now().Add(time.Minute); time.Now().Before(end) && !strings.Contains(told, why); {
			s.n = 1
			if got := s.run(cell); got != "" {
				t.Fatalf("%s\ngave %s", cell, got)
			}
			told = ""
			for _, c := range s.ev.Compiled() {
				told += fmt.Sprintf("%s %d %s\n", c.Name, c.Line, c.Reason)
			}
		}
		if !strings.Contains(told, "loop 1 "+why+"\n") {
			t.Fatalf("%s\ntells %s, not %s", cell, told, why)
		}
	}
}

// A statement that sorts many elements with a function of the cell is compiled before it
// runs, one that sorts few is interpreted.
func TestLongCalls(t *testing.T) {
	needsCompiler(t)
	hot := func(s *session) (n int) {
		for _, l := range s.ev.loops.numbers.all() {
			if l.loop.Call && l.state == loopHot {
				n++
			}
		}
		return n
	}
	for _, sorts := range []string{
		"slices.SortFunc(xs, func(a, b int) int { n++; return cmp.Compare(b, a) })",
		"sort.Slice(xs, func(i, j int) bool { n++; return xs[i] > xs[j] })",
		"sort.SliceStable(xs, func(i, j int) bool { n++; return xs[i] > xs[j] })",
	} {
		s := newSession(t)
		for _, c := range []struct{ elements, compiled int }{{100, 0}, {3000, 1}} {
			got := s.run(fmt.Sprintf("xs := make([]int, %d)\nfor i := range xs { xs[i] = i * 7919 %% 10007 }\nn := 0\n%s\nslices.IsSortedFunc(xs, func(a, b int) int { return b - a }), n > len(xs)", c.elements, sorts))
			if strings.TrimSpace(got) != "=> true, true" || hot(s) != c.compiled {
				t.Errorf("%s of %d gave %s, %d compiled calls, want %d", sorts, c.elements, got, hot(s), c.compiled)
			}
		}
	}
}

// checkedLoops touch numbers in memory. Each iteration ends with a point.
var checkedLoops = []struct{ name, declare, run string }{
	{"for", "", "for i := 0; i < 40; i++ {\n\txs[i%12] += float32(i)\n\tfmt.Print(\".\")\n}"},
	{"a number", "", "for i := range 40 {\n\txs[i%12] += float32(i)\n\tfmt.Print(\".\")\n}"},
	{"elements of a slice", "", "ys := make([]string, 40)\nn := 0\nfor i, y := range ys {\n\txs[i%12] += float32(len(y)+i)\n\tn = n*3 + i\n\tys = ys[:1]\n\tfmt.Print(\".\")\n}\nn"},
	{"indices of a slice", "", "ys := make([]string, 40)\nfor i := range ys {\n\txs[i%12] += float32(i)\n\tfmt.Print(\".\")\n}"},
	{"an array", "", "var a [40]int\nfor i, x := range a {\n\txs[i%12] += float32(x)\n\ta[39-i] = i\n\tfmt.Print(\".\")\n}\na"},
	{"a pointer to an array", "", "var a [40]string\nfor i, x := range &a {\n\txs[i%12] += float32(len(x))\n\ta[39-i] = \"x\"\n\tfmt.Print(\".\")\n}\na"},
	{"characters", "", "n := rune(0)\nfor i, r := range \"grüße, 世界! \\xff ... the quick brown fox\" {\n\tn = n*3 + r\n\txs[i%12] += float32(r)\n\tfmt.Print(\".\")\n}\nn"},
	{"a condition that may fail", "", "i := 0\nfor xs[i] >= 0 && i < 11 {\n\txs[i] = float32(i)\n\ti++\n\tfmt.Print(\".\")\n}\ni"},
	{"a condition that does something", "func next(p []float32) bool {\n\tp[0]++\n\treturn int(p[0])%40 != 39\n}", "n := 0\nfor next(xs) {\n\tn++\n\txs[1] = xs[0]\n\tfmt.Print(\".\")\n}\nn"},
	{"no condition", "", "i := 0\nfor {\n\tif i++; i > 40 {\n\t\tbreak\n\t}\n\txs[i%12]++\n\tfmt.Print(\".\")\n}\ni"},
	{"a loop in it", "", "for i := range 40 {\n\tfor j := range 3 {\n\t\txs[j] += float32(i)\n\t}\n\tfmt.Print(\".\")\n}"},
	{"return", "func f() (n int, x float32) {\n\tfor i := 0; ; i++ {\n\t\tif xs[i%12] = float32(i); i > 33 {\n\t\t\treturn i, xs[3]\n\t\t}\n\t\tfmt.Print(\".\")\n\t}\n}", "f()"},
	{"labels", "", "n := 0\nouter:\nfor i := range 40 {\n\tfor j := range 9 {\n\t\tif xs[j]++; j > 3 {\n\t\t\tfmt.Print(\".\")\n\t\t\tcontinue outer\n\t\t}\n\t\tif i == 38 {\n\t\t\tbreak outer\n\t\t}\n\t\tn++\n\t}\n}\nn"},
	{"a function", "func add(n int) (s float32) {\n\tfor i := range n {\n\t\txs[i%12] += float32(i)\n\t\ts += xs[i%5]\n\t}\n\treturn\n}", "n := float32(0)\nfor i := range 40 {\n\tn += add(i)\n\tfmt.Print(\".\")\n}\nn"},
}

// pointed counts points, and calls at with each number.
type pointed struct {
	bytes.Buffer
	n  int
	at func(n int)
}

func (p *pointed) Write(b []byte) (int, error) {
	if string(b) == "." {
		p.n++
		p.at(p.n)
	}
	return p.Buffer.Write(b)
}

// TestCheckedLoops: a compiled loop of a checked cell is left when something is queued, and
// tells then what the interpreted one tells; it is entered again when nothing is.
func TestCheckedLoops(t *testing.T) {
	needsCompiler(t)
	type checked struct {
		*session
		told   []string
		points pointed
	}
	start := func() *checked {
		c := new(checked)
		ev, err := New(Options{Stdout: &c.points, Stderr: &c.points, Touches: func() bool { return true }, Touched: func(x Touch) {
			c.told = append(c.told, fmt.Sprintf("%d: line %d: %v of %d bytes", c.points.n, x.Line, x.Write, x.Bytes))
		}})
		if err != nil {
			t.Fatal(err)
		}
		c.points.at = func(n int) {
			switch n {
			case 5, 20:
				ev.SetPending(true)
			case 9, 23:
				ev.SetPending(false)
			}
		}
		c.session = &session{t: t, ev: ev, out: &c.points.Buffer}
		ev.compiling.begin() // no functions beside cells: a compiled one is not left before its end
		c.run("xs := make([]float32, 12)")
		return c
	}
	plain, s := start(), start()
	plain.ev.SetCompile(false)
	for _, c := range checkedLoops {
		plain.run(c.declare)
		s.run(c.declare)
		outcome := func(s *checked) string {
			s.ev.SetPending(false)
			s.run("clear(xs)")
			s.told, s.points.n = nil, 0
			return s.run(c.run) + s.run("xs") + strings.Join(s.told, "\n")
		}
		want := outcome(plain)
		if len(plain.told) == 0 {
			t.Errorf("%s: nothing is told", c.name)
		}
		for _, eager := range []int{1, 3} {
			s.ev.loops.eager = eager
			if got := outcome(s); got != want {
				t.Errorf("%s, entered in iteration %d, then:\n%s\nwant\n%s", c.name, eager, got, want)
			}
		}
		hot := false
		for _, l := range s.ev.loops.numbers.all() {
			if hot = hot || l.state == loopHot; l.at.Reason != "" {
				t.Errorf("%s is not compiled: %s", c.name, l.at.Reason)
			}
		}
		if !hot {
			t.Errorf("%s: no loop is compiled", c.name)
		}
	}
}
