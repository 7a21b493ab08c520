package golang

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gocuda/cudaapi/native"
)

// compile is run for a cell whose functions are compiled.
func (s *session) compile(code string) (text string) {
	s.t.Helper()
	s.ev.CompileNext(func() error { //nolint:errcheck // it returns none
		text = s.run(code)
		return nil
	})
	return text
}

// isCompiled says whether a function is called in its compiled form.
func (s *session) isCompiled(name string) bool {
	for _, f := range s.ev.Compiled() {
		if f.Name == name {
			return f.Reason == ""
		}
	}
	return false
}

func needsCompiler(t *testing.T) {
	t.Helper()
	if err := native.Available(); err != nil {
		t.Skip(err)
	}
}

// A function that is compiled works on what the session has, in place.
func TestCompiledFunctions(t *testing.T) {
	needsCompiler(t)
	s := newSession(t)
	step := stepper(t)
	step(s.run("var calls int\nlast := []float64{1, 2, 3}"), "")
	step(s.compile(`
type Body struct { X, v float64; tag [2]int8 }
func (b *Body) step(dt float64) { b.X += b.v * dt; calls++ }
func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }
func stats(xs []float64) (n int, mean float64) {
	for _, x := range xs { mean += x }
	n = len(xs)
	return n, mean / float64(n)
}
func all(bodies []Body) { for i := range bodies { bodies[i].step(0.5) } }
func tail(xs []float64, n int) []float64 { return xs[n:] }
func sumLast() (s float64) { for _, x := range last { s += x }; return }
func fill(p *[4]uint8, s string) { for i := range p { p[i] = s[i] } }
func apply[T int | float64](xs []T, f func(T) T) { for i, x := range xs { xs[i] = f(x) } }
func double(xs []int) { apply(xs, func(x int) int { return 2 * x }) }
`), "")
	for _, name := range []string{"*Body.step", "fib", "stats", "all", "tail", "sumLast", "fill", "double"} {
		if !s.isCompiled(name) {
			t.Errorf("%s is not compiled: %v", name, s.ev.Compiled())
		}
	}
	step(s.run("fib(20)"), "=> 6765")
	step(s.run("stats(last)"), "=> 3, 2")
	step(s.run("bodies := []Body{{1, 2, [2]int8{}}, {X: 5, v: -2}}\nall(bodies); bodies[1].step(1)\nbodies[0].X, bodies[1].X, calls"), "=> 2, 2, 3")
	step(s.run("t := tail(last, 1); t[0] = 20; last"), "=> []float64{1, 20, 3}")
	step(s.run("last = append(last, 6); sumLast()"), "=> 30")
	step(s.run("var b [4]uint8; fill(&b, \"abcd\"); b"), "=> [4]byte{0x61, 0x62, 0x63, 0x64}")
	step(s.run("xs := []int{1, 2}; double(xs); f := fib; xs[1], f(10)"), "=> 4, 55")
	step(s.run("var g sync.WaitGroup\nfor range 8 { g.Go(func() { fib(15) }) }\ng.Wait()"), "")
}

// A panic in a compiled function is Go's own, with a trace through its calls.
func TestCompiledPanics(t *testing.T) {
	needsCompiler(t)
	s := newSession(t)
	if text := s.compile(`
func at(xs []int, i int) int { return xs[i] }
func sum(xs []int, n int) (s int) {
	for i := range n {
		s += at(xs, i)
	}
	return s
}
func div(a, b int8) int8 { return a / b }
func cut(xs []int, lo, hi int) []int { return xs[lo:hi] }
func sub(s string, lo, hi int) string { return s[lo:hi] }
func deref(p *int) int { return *p }
func shift(n int) int { return 1 << n }
func say() { panic("no") }
func sayWhat(s string, n int) int {
	if n > 1 {
		panic("no " + s)
	}
	panic(n)
}
func sayMore(x float64, ok bool) {
	for i := 0; ; i++ {
		if ok {
			panic(x * 2)
		}
		panic(!ok)
	}
}
func deep(n int) int { return deep(n+1) + 1 }
`); text != "" {
		t.Fatal(text)
	}
	for _, c := range []struct{ code, want string }{
		{"at([]int{1, 2}, 2)", "Panic: runtime error: index out of range [2] with length 2"},
		{"at(nil, -1)", "Panic: runtime error: index out of range [-1]"},
		{"sum(make([]int, 3), 4)", "Panic: runtime error: index out of range [3] with length 3"},
		{"div(1, 0)", "Panic: runtime error: integer divide by zero"},
		{"div(-128, -1)", "=> -128"},
		{"cut(make([]int, 2, 4), 1, 5)", "Panic: runtime error: slice bounds out of range [:5] with capacity 4"},
		{"cut(make([]int, 2, 4), 3, 2)", "Panic: runtime error: slice bounds out of range [3:2]"},
		{"sub(\"abc\", 1, 4)", "Panic: runtime error: slice bounds out of range [:4] with length 3"},
		{"deref(nil)", "Panic: runtime error: invalid memory address or nil pointer dereference"},
		{"shift(-1)", "Panic: runtime error: negative shift amount"},
		{"say()", "Panic: no"},
		{"sayWhat(\"way\", 2)", "Panic: no way"},
		{"sayWhat(\"way\", 1)", "Panic: 1"},
		{"sayMore(1.25, true)", "Panic: 2.5"},
		{"sayMore(1.25, false)", "Panic: true"},
		{"func() (err any) { defer func() { err = recover() }(); sayWhat(\"\", -3); return }()", "=> -3"},
		{"deep(0)", "StackOverflow: stack overflow: a function calls itself without end, or too deeply; what the cell had assigned is kept"},
		{"func() (err any) { defer func() { err = recover() }(); at(nil, 0); return }()", "=> runtime error: index out of range [0] with length 0"},
	} {
		if got := strings.TrimSpace(s.run(c.code)); got != c.want {
			t.Errorf("%s: %s, want %s", c.code, got, c.want)
		}
	}
	// Deep in interpreted calls no panic goes through all of them: the trace has the innermost and the outermost.
	over := s.ev.Eval("In[19]", "func nest(n int) int {\n\tif n > 0 {\n\t\treturn nest(n-1)\n\t}\n\treturn deep(0)\n}\nnest(3000)", false)
	if over.Err == nil || over.Err.Name != "StackOverflow" {
		t.Errorf("nest(3000): %v", over.Err)
	} else if trace := strings.Join(over.Err.Traceback, "\n"); !strings.Contains(trace, "In[19]:7:1") || !strings.Contains(trace, "In[19]:3:3") {
		t.Errorf("nest(3000): %s", trace)
	}
	res := s.ev.Eval("In[20]", "func outer() int {\n\treturn sum(make([]int, 3), 4)\n}\nouter()", false)
	want := "panic: runtime error: index out of range [3] with length 3\n" +
		"    In[1]:2:42  main.at\n        func at(xs []int, i int) int { return xs[i] }\n    In[1]:5:8  main.sum\n        s += at(xs, i)\n" +
		"    In[20]:2:2  main.outer\n        return sum(make([]int, 3), 4)\n    In[20]:4:1"
	if res.Err == nil || !strings.HasPrefix(res.Err.Plain(), want) {
		t.Errorf("trace\n%s\nwant\n%s", res.Err.Plain(), want)
	}
}

// stepper compares what cells show with what they are to show.
func stepper(t *testing.T) func(got, want string) {
	return func(got, want string) {
		t.Helper()
		if strings.TrimSpace(got) != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

// Methods that other cells give a type are part of what is compiled, the newest ones.
func TestCompiledLaterMethods(t *testing.T) {
	needsCompiler(t)
	s := newSession(t)
	step := stepper(t)
	step(s.run("type V struct{ a, b int }\nfunc (v V) sum() int { return v.a + v.b }"), "")
	step(s.run("func (v *V) move(int, k int) (old int) { old = v.a; v.a += k; return }\nfunc (V) two() int { return 2 }"), "")
	step(s.compile("func f(n int) (s int) {\n\tv := V{1, 2}\n\tfor i := range n { s += v.move(i, 3) * v.two() + v.sum() }\n\treturn\n}"), "")
	step(s.run("f(3)"), "=> 51")
	if !s.isCompiled("f") {
		t.Error("f is not compiled")
	}
	step(s.run("func (v *V) move(_, by int) (was int) { was = 1; v.b = by; return }"), "")
	step(s.run("f(3)"), "=> 18")
	step(s.compile("func g(n int) (s int) {\n\tv := V{1, 2}\n\tfor i := range n { s += v.move(i, 3) * v.two() + v.sum() }\n\treturn\n}"), "")
	step(s.run("g(3)"), "=> 18")
	step(s.run("func (v V) sum() int { return -v.a }"), "")
	step(s.run("g(3), f(3)"), "=> 3, 3")
	step(s.compile("func h(v V) int { return v.sum() + v.move(1, 2) }"), "")
	step(s.run("h(V{5, 6})"), "=> -4")
}

// A compiled function follows what it is made of.
func TestCompiledFollow(t *testing.T) {
	needsCompiler(t)
	s := newSession(t)
	step := stepper(t)
	step(s.run("scale := 2.0"), "")
	step(s.compile("func g(x float64) float64 { return scale * x }\nfunc f(x float64) float64 { return g(x) + 1 }"), "")
	step(s.run("h := f; f(3)"), "=> 7")
	step(s.run("scale = 10; f(3)"), "=> 31")
	step(s.run("func g(x float64) float64 { return -x }"), "")
	step(s.run("f(3), h(3), g(1)"), "=> -2, -2, -1")
	step(s.compile("func g(x float64) float64 { return x / 2 }"), "")
	step(s.run("f(3), h(3), g(1)"), "=> 2.5, 2.5, 0.5")
	step(s.run("scale := float32(3); g(4)"), "=> 2")
	step(s.compile("func g(x int) int { return x << 1 }\nfunc f(x float64) float64 { return float64(g(int(x))) }"), "")
	step(s.run("f(3), g(1)"), "=> 6, 2")
}

// A cell of which something cannot be compiled fails before it runs, and changes
// nothing.
func TestCompileRefuses(t *testing.T) {
	needsCompiler(t)
	s := newSession(t)
	s.run("x := 1")
	got := s.compile("func ok() int { return 1 }\nfunc bad(m map[int]chan int) chan int { return m[1] }\nx = 2")
	if want := "CompileError: In[2]:2:10: a parameter of type map[int]chan int, which holds chan int, cannot be in compiled code: its functions have no channels\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := s.run("x"); got != "=> 1\n" {
		t.Error(got)
	}
	if got := s.run("ok()"); !strings.HasPrefix(got, "CompileError") {
		t.Error(got)
	}
}

// A loop of a compiled function ends when the cell is interrupted.
func TestCompiledInterrupt(t *testing.T) {
	needsCompiler(t)
	s := newSession(t)
	if text := s.compile("func spin(n int) (s int) {\n\tfor {\n\t\ts += n\n\t}\n}\nfunc outer(n int) int { return spin(n) }\nvar begun = make(chan bool, 1)"); text != "" {
		t.Fatal(text)
	}
	go func() {
		for cell := ""; cell != "In[2]"; cell, _ = s.ev.Where() {
			runtime.Gosched()
		}
		s.ev.Interrupt()
	}()
	if got := s.run("outer(1)"); !strings.HasPrefix(got, "Interrupted") {
		t.Error(got)
	}
	if got := s.run("1 + 1"); got != "=> 2\n" {
		t.Error(got)
	}
}

// Compiled functions work on memory of Go's while it is collected.
func TestCompiledCollector(t *testing.T) {
	needsCompiler(t)
	s := newSession(t)
	if text := s.compile(`
type Row struct { Name string; Values []float64 }
func sum(rows []Row) (s float64) { for _, r := range rows { for _, v := range r.Values { s += v }; s += float64(len(r.Name)) }; return }
func add(rows []Row, at int) { for i := range rows { rows[i].Values[at]++ } }
func widest(rows []Row) (best []float64) { for _, r := range rows { if len(r.Values) > len(best) { best = r.Values } }; return }
`); text != "" {
		t.Fatal(text)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	got := s.run(`
var g sync.WaitGroup
results := make([]float64, 8)
for i := range 8 {
	g.Go(func() {
		for range 30 {
			rows := make([]Row, 50)
			for j := range rows { rows[j] = Row{strings.Repeat("x", 3), make([]float64, 20+j)} }
			for k := range 10 { add(rows, k) }
			w := widest(rows)
			rows[49].Values = nil
			results[i] += sum(rows) + float64(len(w)) + w[9]
		}
	})
}
g.Wait()
results`)
	want := "=> []float64{" + strings.Repeat("21300, ", 7) + "21300}"
	if strings.TrimSpace(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Slices whose elements have pointers lose none of them where they are sorted while the collector
// runs: also if the function that compares stores others in them, calls methods that do, or sorts.
func TestSortsBesideTheCollector(t *testing.T) {
	needsCompiler(t)
	s := newSession(t)
	if text := s.compile(`
type entry struct { name string; at *int }
type named interface { rename(e *entry) bool }
type (again int; never int)
func (again) rename(e *entry) bool { k := *e.at; e.name, e.at = fmt.Sprint("entry ", k), &k; return true }
func (never) rename(e *entry) bool { return false }
func entries(n, seed int) (x []entry) { for i := range n { k := (i*7919 + seed) % 100003; x = append(x, entry{fmt.Sprint("entry ", k), &k}) }; return }
func sum(x []entry) (s int) { for _, e := range x { s += *e.at; if e.name != fmt.Sprint("entry ", *e.at) { return -1 } }; return }
func byName(x []entry) { sort.Slice(x, func(i, j int) bool { return x[i].name < x[j].name }) }
func byValue(x []entry) { sort.SliceStable(x, func(i, j int) bool { return *x[i].at < *x[j].at }) }
func falling(x []entry) { slices.SortFunc(x, func(a, b entry) int { return *b.at - *a.at }) }
`); text != "" {
		t.Fatal(text)
	}
	// Each for itself: beside a function that compares and stores, all of them ask Go.
	if text := s.compile(`
func sorting(x []entry) { sort.Slice(x, func(i, j int) bool { if i == 7 { byName(x[:3]) }; return *x[i].at%1009 < *x[j].at%1009 }) }
`); text != "" {
		t.Fatal(text)
	}
	if text := s.compile(`
func storing(x []entry) { sort.Slice(x, func(i, j int) bool { k := *x[i].at; x[i] = entry{fmt.Sprint("entry ", k), &k}; return k < *x[j].at }) }
`); text != "" {
		t.Fatal(text)
	}
	if text := s.compile(`
func calling(x []entry, n named) { sort.Slice(x, func(i, j int) bool { n.rename(&x[i]); return *x[i].at < *x[j].at }) }
`); text != "" {
		t.Fatal(text)
	}
	for _, f := range []string{"byName", "byValue", "falling", "sorting", "storing", "calling"} {
		if !s.isCompiled(f) {
			t.Errorf("%s is interpreted", f)
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	var stop atomic.Bool
	var collector sync.WaitGroup
	collector.Go(func() {
		for !stop.Load() {
			runtime.GC()
		}
	})
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	got := s.run(fmt.Sprintf(`
var g sync.WaitGroup
lost := make([]int, 3)
for w := range lost {
	g.Go(func() {
		for round := range %d {
			x := entries(1500, w*1000+round)
			before := sum(x)
			for k := range 6 {
				switch k {
				case 0: byName(x)
				case 1: byValue(x)
				case 2: falling(x)
				case 3: sorting(x)
				case 4: storing(x[:200])
				case 5: calling(x[:200], []named{again(1), never(1)}[round%%2])
				}
				if sum(x) != before { lost[w]++ }
			}
		}
	})
}
g.Wait()
lost`, rounds))
	if got != "=> []int{0, 0, 0}\n" {
		t.Error(got)
	}
	// A stable sort moves elements far until its end. Of a long slice the collector has seen one
	// part then and another one not, and ends the process if it freed what is there.
	got = s.run(`
moved := entries(60000, 1)
total := sum(moved)
for range 8 {
	byValue(moved)
	slices.Reverse(moved)
}
sum(moved) == total`)
	stop.Store(true)
	collector.Wait()
	if got != "=> true\n" {
		t.Error(got)
	}
}

// A function that runs for long is compiled beside the cell, and entered at its next
// call, or its caller is, with it; not if what it is made of is declared again.
func TestCompiledWhenHot(t *testing.T) {
	needsCompiler(t)
	s := newSession(t)
	s.ev.SetCompile(true)
	compiled := false
	if err := s.ev.Define("done", func() bool { compiled = s.isCompiled("inner") || s.isCompiled("outer"); return compiled }); err != nil {
		t.Fatal(err)
	}
	if text := s.run(`
weight := 2
func inner(n int) (s int) { for i := range n { s += i % 7 * weight }; return }
func outer(n int) int { return inner(n) + 1 }
func kept(m map[int]int) (s int) { for i := range 20000 { s += m[i] }; return }
sums := map[int]int{}
for !done() { sums[outer(1000)]++ }
for range 3 { kept(nil) }
len(sums), sums[5995] > 0`); strings.TrimSpace(text) != "=> 1, true" || !compiled {
		t.Error(text, s.ev.Compiled())
	}
	if text := s.run("weight = 20; outer(1000)"); text != "=> 59941\n" {
		t.Error(text)
	}
	if text := s.run("func inner(n int) int { return -n }\nouter(3)"); text != "=> -2\n" || s.isCompiled("inner") || s.isCompiled("outer") {
		t.Error(text)
	}
}

// Where faults are to panic, nothing is compiled.
func TestCompiledFaults(t *testing.T) {
	needsCompiler(t)
	t.Setenv(CompileVariable, "all")
	s := newSession(t)
	if text := s.run(`
import "runtime/debug"
func get(b []byte) (n int, err error) {
	defer func() { err, _ = recover().(error) }()
	for _, x := range b { n += int(x) + 1 }
	return
}
debug.SetPanicOnFault(true)
data := must(syscall.Mmap(-1, 0, 2*syscall.Getpagesize(), syscall.PROT_READ, syscall.MAP_ANON|syscall.MAP_PRIVATE))
syscall.Mprotect(data[len(data)/2:], syscall.PROT_NONE)
n, err := get(data)
n == len(data)/2, err != nil`); text != "=> true, true\n" {
		t.Error(text)
	}
}

// What asks for the stack while compiled code panics sees the line.
func TestCompiledCallers(t *testing.T) {
	needsCompiler(t)
	t.Setenv(CompileVariable, "all")
	s := newSession(t)
	code := `
func at(xs []int, i int) int {
	i++
	return xs[i]
}
func lines(f func()) (list []int) {
	defer func() {
		recover()
		var pcs [20]uintptr
		frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
		for {
			f, more := frames.Next()
			if f.Function == "main.at" || f.Function == "main.each" { list = append(list, f.Line) }
			if !more { return }
		}
	}()
	f()
	return nil
}
func each(xs []int) (s int) {
	for i := range 10 {
		s += i
		s += xs[i]
	}
	return len(fmt.Sprint(s))
}
lines(func() { at(nil, 0) }), lines(func() { each(nil) })`
	if got := s.run(code); got != "=> []int{4}, []int{23}\n" {
		t.Error(got, s.ev.Compiled())
	}
}

// Functions of which each can be compiled, and not both together.
func TestCompiledApart(t *testing.T) {
	needsCompiler(t)
	t.Setenv(CompileVariable, "all")
	s := newSession(t)
	if got := s.run(`
var sum int
var text *string
func twice(x *int, f func(*int)) {
	f(x)
	f(x)
}
func total(a, b int) (x int) {
	x = a
	twice(&x, func(x *int) { sum += *x })
	x += b
	return
}
func more() { *text += "!" }
s := "a"
text = &s
more()
total(1, 2), sum, s`); got != "=> 3, 2, \"a!\"\n" {
		t.Error(got)
	}
	if s.isCompiled("total") == s.isCompiled("more") {
		for _, f := range s.ev.Compiled() {
			t.Error(f.Name, f.Reason)
		}
	}
}
