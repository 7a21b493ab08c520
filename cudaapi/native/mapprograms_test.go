package native_test

import _ "embed"

//lint:file-ignore SA4006,SA4031 the programs do what nobody writes on purpose
//lint:file-ignore SA5000 some write to nil maps, which panics

// What follows uses maps; it is compiled by Go and by the host's C++ compiler.

//go:embed mapprograms_test.go
var mapProgramsSource string

var mapPrograms = []program{
	{"counted", counted}, {"memoised", memoised}, {"sparse", sparse}, {"keys", keys}, {"nilMaps", nilMaps}, {"nilWrite", nilWrite}, {"nilUpdate", nilUpdate}, {"updates", updates},
	{"zeroDivide", zeroDivide}, {"shiftUpdate", shiftUpdate}, {"ordered", ordered}, {"swapped", swapped}, {"groups", groups}, {"structs", structs}, {"nested", nested}, {"sets", sets}, {"literals", literals},
	{"ranges", ranges}, {"deleting", deleting}, {"growing", growing}, {"large", large}, {"generics", generics}, {"closures", closures}, {"held", held}, {"churned", churned},
	{"local", local}, {"parallel", parallel}, {"half", half}, {"copied", copied}, {"hints", hints}, {"escaping", escaping},
}

type point struct{ x, y int64 }

type entry struct {
	name string
	at   *point
	hits []int64
}

func counted(out []int64) {
	text := "the quick brown fox jumps over the lazy dog and the cat and the fox "
	counts := map[string]int{}
	start := 0
	for i := range len(text) {
		if text[i] == ' ' {
			counts[text[start:i]]++
			start = i + 1
		}
	}
	n, ok := counts["the"]
	out[0], out[1], out[2] = int64(n), int64(len(counts)), int64(counts["nothing"])
	if ok {
		out[3] = 1
	}
	if _, ok := counts["nothing"]; !ok {
		out[4] = 1
	}
	for w, n := range counts {
		out[5] += int64(len(w)) * int64(n*n)
	}
}

func fibOf(n int, known map[int]int64) int64 {
	if n < 2 {
		return int64(n)
	}
	if f, ok := known[n]; ok {
		return f
	}
	f := fibOf(n-1, known) + fibOf(n-2, known)
	known[n] = f
	return f
}

func memoised(out []int64) {
	known := make(map[int]int64)
	out[0], out[1] = fibOf(80, known), int64(len(known))
}

func sparse(out []int64) {
	a, b := map[int]float64{}, make(map[int]float64, 100)
	for i := range 100 {
		a[i*i%997] = float64(i) / 2
		b[i*7%997] += float64(i)
	}
	sum := 0.0
	for i, x := range a {
		sum += x * b[i]
	}
	out[0], out[1], out[2] = int64(sum*4), int64(len(a)), int64(len(b))
}

func keys(out []int64) {
	a, b, c, d := map[int8]int8{}, map[uint16]bool{}, map[rune]uint32{}, map[uint64]float32{}
	e, f, g, h := map[float64]int{}, map[bool]int64{}, map[complex128]int{}, map[float32]string{}
	zero := 0.0
	for i := range 300 {
		a[int8(i)] += int8(i)
		b[uint16(i*3)] = i%2 == 0
		c[rune(i%7)] |= 1 << (i % 20)
		d[uint64(i)<<55] = float32(i)
		e[float64(i)/4-10]++
		e[zero/zero] = i
		e[-zero]++
		f[i%3 == 0] += int64(i)
		g[complex(float64(i%5), -1)] = i
		h[float32(i%11)] += "."
	}
	out[0], out[1], out[2], out[3], out[4], out[5], out[6] = int64(len(a)), int64(len(b)), int64(len(c)), int64(len(d)), int64(len(e)), f[true], f[false]
	out[7], out[8], out[9], out[10] = int64(a[-3]), int64(c[3]), int64(e[0]), int64(len(h[5]))
	for k, v := range g {
		out[11] += int64(real(k)) * int64(v)
	}
	if b[6] && !b[3] && !b[50000] {
		out[12] = 1
	}
	_, ok := e[zero/zero]
	if !ok {
		out[13] = 1
	}
	out[14] = int64(d[3<<55])
}

func nilMaps(out []int64) {
	var m map[string]int
	var p map[int]*point
	out[0], out[1] = int64(m["x"]), int64(len(m))
	if m == nil && p == nil && p[3] == nil {
		out[2] = 1
	}
	delete(m, "x")
	clear(p)
	for range m {
		out[3]++
	}
	p = map[int]*point{}
	if p != nil {
		out[4] = 1
	}
	v, ok := m["y"]
	if v == 0 && !ok {
		out[5] = 1
	}
}

func nilWrite(out []int64) {
	var m map[int]int64
	out[0] = m[7]
	m[8] = 9
	out[1] = 1
}

func nilUpdate(out []int64) {
	var m map[string]float64
	out[0] = 2
	m["x"] *= 3
	out[1] = 1
}

func updates(out []int64) {
	m, s := map[int]int32{}, map[string]string{}
	for i := range 50 {
		k := i % 5
		m[k] += int32(i)
		m[k] -= 3
		m[k+1] *= 7
		m[k] ^= 1 << k
		m[k] |= 64
		m[k] &^= 16
		m[k] &= 0xffff
		m[k]--
		m[k] <<= k
		m[k+9] = m[k] >> (k + 1)
		m[k] /= 3
		m[k] %= 1000
		s["a"] += "x"
		s[s["a"][:i%3]] += s["a"]
		if len(s["xx"]) > 60 {
			s["xx"] = ""
		}
	}
	for k, v := range m {
		out[k%8] += int64(v)
	}
	out[8], out[9], out[10] = int64(len(s["a"])), int64(len(s["xx"])), int64(len(s))
}

func zeroDivide(out []int64) {
	m := map[int]int64{1: 5}
	defer0 := out[9]
	m[1] /= 2
	out[0] = m[1]
	m[2] /= defer0
	out[1] = 1
}

func shiftUpdate(out []int64) {
	m := map[int]int64{1: 5}
	m[1] <<= int(out[0]) + 2
	out[1] = m[1]
	m[1] >>= int(out[0]) - 1
	out[2] = 1
}

func mark(out []int64, n int64) int { out[20] = out[20]*10 + n; return int(n) }

func ordered(out []int64) {
	m := map[int]int{}
	m[mark(out, 1)] = mark(out, 2)
	m[mark(out, 3)] += mark(out, 4)
	m[mark(out, 5)], m[mark(out, 6)] = mark(out, 7), mark(out, 8)
	x, ok := m[mark(out, 1)]
	m[9], ok = m[mark(out, 3)]
	out[0], out[1], out[2], out[3] = int64(x), int64(m[3]), int64(m[9]), int64(len(m))
	if ok {
		out[4] = 1
	}
	a := []int{1, 2}
	m[a[mark(out, 1)]] = a[mark(out, 0)]
	m[7] = a[mark(out, 2)]
	out[5] = 1
}

func swapped(out []int64) {
	m, s := map[int]string{1: "one", 2: "two!"}, []string{"x", "yy"}
	i := 1
	m[1], m[2] = m[2], m[1]
	i, m[i] = 2, m[2]+"."
	s[0], m[i] = m[i], s[1]
	for i, w := range []string{m[1], m[2], s[0], s[1]} {
		for j := range len(w) {
			out[i] = out[i]*31 + int64(w[j])
		}
	}
	var v int64
	v, out[5] = map[string]int64{"a": 4}["a"], 6
	out[6] = v
}

func groups(out []int64) {
	m := map[int][]int64{}
	for i := range int64(200) {
		k := int(i*i) % 7
		m[k] = append(m[k], i)
		m[k][0] += i
	}
	for k, list := range m {
		out[k] = int64(len(list)) + list[0]*1000
		for i, x := range list {
			out[8+k] += x * int64(i)
		}
	}
}

func structs(out []int64) {
	m, at := map[string]entry{}, map[int]*entry{}
	names := []string{"a", "bb", "ccc", "dd"}
	for i := range 40 {
		name := names[i%4]
		e := m[name]
		e.name += name[:1]
		e.at = &point{int64(i), int64(len(m))}
		e.hits = append(e.hits, int64(i))
		m[name] = e
		at[i] = &e
		if old := at[i-4]; old != nil {
			old.at.x++
		}
	}
	for i, name := range names {
		out[i] = int64(len(m[name].name)) + m[name].at.x*100 + m[name].hits[2]*10000
	}
	out[5], out[6] = at[20].at.x, at[39].at.y
	out[7] = m["none"].at.x
}

func nested(out []int64) {
	m := map[string]map[int]int64{}
	for i := range 30 {
		name := "n" + string(rune('a'+i%4))
		inner := m[name]
		if inner == nil {
			inner = map[int]int64{}
			m[name] = inner
		}
		inner[i%5] += int64(i)
		m[name][9]++
	}
	list := []map[int]int64{m["na"], nil, m["nc"]}
	out[0], out[1], out[2], out[3] = m["na"][0], list[2][9], list[1][3], int64(len(m))
	a := [2]map[string]bool{{"x": true}, {}}
	a[1]["y"] = a[0]["x"]
	if a[1]["y"] {
		out[4] = 1
	}
	list[1][2] = 1
}

type set map[string]struct{}

func (s set) add(x string)      { s[x] = struct{}{} }
func (s set) has(x string) bool { _, ok := s[x]; return ok }

func sets(out []int64) {
	s, n := set{}, map[int]struct{}{3: {}}
	for i := range 20 {
		s.add("k" + string(rune('a'+i%6)))
		n[i%4+1] = struct{}{}
	}
	for k := range s {
		out[0] += int64(k[1])
	}
	for k, v := range n {
		_ = v
		out[1] += int64(k)
	}
	if s.has("kb") && !s.has("kz") {
		out[2] = 1
	}
	delete(n, 3)
	out[3], out[4] = int64(len(s)), int64(len(n))
}

func literals(out []int64) {
	m := map[string][]int64{"a": {1, 2}, "b": nil, "c": {3}}
	p := map[int]*point{1: {2, 3}, 4: nil}
	q := map[rune]point{'x': {5, 6}, 'y': {y: 7}}
	c := map[string]int{"one": 1, "two": mark(out, 2), "three": mark(out, 3)}
	out[0], out[1], out[2], out[3], out[4] = m["a"][1], int64(len(m)), p[1].y, q['y'].y, int64(c["three"])
}

func ranges(out []int64) {
	m := map[int]int64{}
	for i := range 100 {
		m[i] = int64(i * i)
	}
	var k int
	var v int64
	n := 0
outer:
	for k, v = range m {
		switch {
		case k%2 == 0:
			continue
		case n > 200:
			break outer
		}
		for range m {
			n++
			if n%3 == 0 {
				continue outer
			}
		}
	}
	if v == int64(k*k) {
		out[0] = 1
	}
	for range m {
		out[1]++
	}
	for k := range m {
		out[2] += int64(k)
		k = 5
	}
	for _, v := range m {
		out[3] += v
		if out[3] < 0 {
			return
		}
	}
	list := make([]int, 3)
	for list[1] = range m {
		out[4]++
	}
	s := map[string]int{"a": 1}
	for s["b"], v = range m {
		out[5] += v
	}
	out[6] = int64(len(s))
}

func deleting(out []int64) {
	m := map[string]string{}
	for i := range 60 {
		m["key"+string(rune('0'+i))] = "v" + string(rune('a'+i%26))
	}
	for k, v := range m {
		delete(m, k)
		out[0] += int64(k[3]) * int64(v[1])
		if len(m) > 30 {
			delete(m, k+"!")
			continue
		}
	}
	out[1] = int64(len(m))
	m["x"] = "y"
	w := m["x"]
	clear(m)
	out[2], out[3] = int64(len(m)), int64(w[0])
	delete(m, "x")
}

func growing(out []int64) {
	m := map[int]int64{0: 1}
	n := 0
	for k := range m {
		if n++; n > 100 {
			break
		}
		m[k+1] = 1
		delete(m, k)
	}
	clear(m)
	for i := range 5000 {
		m[i*31] = int64(i)
	}
	for i := range 5000 {
		if i%3 != 0 {
			delete(m, i*31)
		}
	}
	out[0], out[1] = int64(len(m)), m[31*300]
	for k, v := range m {
		out[2] += int64(k) ^ v
	}
}

func large(out []int64) {
	m := map[int][40]int64{}
	s := map[string][30]string{}
	for i := range 20 {
		a := m[i/2]
		a[i] = int64(i)
		m[i/2] = a
		b := s["x"]
		b[i] += "p" + string(rune('a'+i))
		s["x"] = b
	}
	delete(m, 3)
	for k, a := range m {
		out[k] = a[2*k] + a[39]
	}
	out[20], out[21] = int64(s["x"][7][1]), m[4][9]
}

func total[M ~map[K]V, K comparable, V int64 | float64](m M, of K) (n V) {
	for k, v := range m {
		if k != of {
			n += v
		}
	}
	m[of] = n
	return n + m[of]
}

type tally map[rune]int64

func generics(out []int64) {
	out[0] = total(map[string]int64{"a": 3, "b": 4}, "b")
	out[1] = int64(total(map[bool]float64{true: 2.5}, false) * 2)
	t := tally{'x': 5}
	out[2], out[3] = total(t, 'y'), t['y']
}

func closures(out []int64) {
	m := map[string]int64{}
	add := func(k string, n int64) int64 { m[k] += n; return m[k] }
	for i := range int64(10) {
		add("a", i)
		out[0] += add("b", add("a", 1))
	}
	p := &m
	(*p)["c"] = 9
	*p = map[string]int64{"d": 1}
	out[1], out[2] = m["d"], int64(len(m))
}

// held has values of maps that the map loses.
func held(out []int64) {
	m := map[int]*entry{}
	for round := range 200 {
		for i := range 20 {
			m[i] = &entry{name: "n" + string(rune('a'+i)), at: &point{int64(round), int64(i)}}
		}
		a, b, c := m[3], m[4].name, m[5].at
		m[3] = nil
		delete(m, 4)
		clear(m)
		for i := range 50 {
			out[1] += int64(len(make([]int64, 10+i)))
		}
		out[0] += a.at.x + int64(b[1]) + c.y
	}
}

func churned(out []int64) {
	m := map[string][]string{}
	var last string
	for i := range 6000 {
		k := "k" + string(rune('a'+i%50)) + string(rune('a'+i%7))
		list := m[k]
		m[k] = append(list[:min(len(list), 3)], k+last)
		if i%11 == 0 {
			delete(m, k)
		}
		last = k[1:]
		for k, v := range m {
			if i%100 == 0 && len(v) > 1 {
				m[k] = v[1:]
				last = v[0]
			}
		}
		last = last[:min(len(last), 3)]
	}
	for k, v := range m {
		for _, s := range v {
			out[k[1]%16] += int64(len(s)) * int64(s[1])
		}
	}
}

func local(out []int64) {
	a := [4]int64{1, 2, 3, 4}
	m := map[int]*int64{}
	for i := range a {
		m[i] = &a[i]
		*m[i] += 10
	}
	s := map[int][]int64{1: a[1:3]}
	s[1][0] = 100
	out[0], out[1], out[2] = *m[1], a[3], a[1]
}

func parallel(out []int64) {
	m := map[int]int64{1: 10, 2: 20}
	k := 1
	m[k], k, m[k+1] = int64(k)+m[2], 2, m[k]
	out[0], out[1], out[2] = m[1], m[2], m[3]
	var none map[int]int64
	m[5], none[1], m[6] = 1, 2, 3
	out[3] = 1
}

// half has a map that is written to before a panic.
func half(out []int64) {
	m := map[int]int64{}
	s := []int64{1, 2, 3}
	for i := range 5 {
		m[i] += s[i] * 2
		out[i] = int64(len(m)) + m[i]
	}
}

func copied(out []int64) {
	m := map[string]point{"a": {1, 2}}
	p := m["a"]
	p.x = 5
	out[0], out[1] = m["a"].x, p.x
	m["a"] = p
	q := m
	q["b"] = p
	out[2], out[3] = m["a"].x, int64(len(m))
}

func hints(out []int64) {
	for i := range 40 {
		m := make(map[int]int, i*i-100)
		m[i] = i
		n := make(map[string]point, uint8(i))
		n["x"] = point{}
		out[0] += int64(len(m) + len(n))
	}
}

func escaping(out []int64) {
	m := map[string]*int64{}
	for i := range int64(20) {
		x := i
		m["v"+string(rune('a'+i))] = &x
		x += 5
	}
	for k, p := range m {
		out[0] += *p * int64(k[1])
	}
}
