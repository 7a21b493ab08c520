package golang

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// What yaegi alone does wrong in a notebook, each shown not to be felt.
var faults = []scenario{
	{"main and top-level defers run once", []string{
		"package main\nimport \"fmt\"\nfunc main() { fmt.Println(\"once\") }", "once",
		"defer fmt.Println(\"deferred\")\nfmt.Println(\"now\")", "now\ndeferred",
		"1", "=> 1",
	}},
	{"main and init without a package clause", []string{
		"type T struct{}\nfunc (T) String() string { return \"T\" }\nfunc main() { var e any = 3; fmt.Println(e.(int), T{}) }", "3 T",
		"var m map[string]int\nfunc init() { m = map[string]int{\"a\": len(m)} }", "",
		"len(m)", "=> 1",
		"n := 2\nfunc init() { n *= 10 }\nn++\nfmt.Println(n)", "21",
	}},
	{"a statement cell shows nothing, and uses the new value", []string{
		"x := 2", "",
		"x = x + 4\nfmt.Println(x)", "6",
		"x++", "",
	}},
	{"arithmetic on a compiled struct's slice, appended in a function", []string{ // the interpreter fails for some names, of which c is one
		"import \"image/gif\"\nfunc next(c gif.GIF) []int { return append([]int{}, c.Delay[0]+1) }\nnext(gif.GIF{Delay: []int{4}})", "=> []int{5}",
	}},
	{"arrays in structs, in arrays and in closures are sliced in place", []string{
		"type T struct{ a [4]int; g [2][2]int }\nvar t T\ncopy(t.a[:], []int{5})\nt.a", "=> [4]int{5, 0, 0, 0}",
		"p, i := &t, 1\ncopy(p.a[i:], []int{6, 7})\ncopy(t.g[i][:], p.a[i:])\nt", "=> T{a: [4]int{5, 6, 7, 0}, g: [2][2]int{{0, 0}, {6, 7}}}",
		"func next() int { i--; return i }\ni = 2\nt.g[next()][next()] = 8\nt.g", "=> [2][2]int{{0, 0}, {8, 7}}",
		"func inside() (v [2]int) { func() { copy(v[1:], []int{9}); v[next()+1]++ }(); return }\ni = 1\ninside()", "=> [2]int{0, 10}",
		"u := t\ncopy(u.a[:2], []int{1, 1})\nt.a, u.a", "=> [4]int{5, 6, 7, 0}, [4]int{1, 1, 7, 0}",
	}},
	{"lists of what methods of elements return", []string{ // the interpreter fails where a closure shares the slice
		"func f(n int) error {\n\te := []*os.File{}\n\tfor range n { e = append(e, must(os.CreateTemp(\"\", \"x\"))) }\n\tfunc() { for k := range n { os.Remove(e[k].Name()) } }()\n\treturn errors.Join(e[0].Close(), e[0].Close())\n}\nerrors.Is(func() error { return f(1) }(), os.ErrClosed)", "=> true",
		"type T struct{ n int; at [2]int }\na := [2]T{{n: 1}, {n: 2}}\nfunc g() int { b := a; p := []*T{&b[0], &b[1]}; p[1].n++; return b[1].n }\ng()", "=> 3",
	}},
	{"panics with other panics in them", []string{
		"reflect.ValueOf(\"x\").Int()", "Panic: reflect: call of reflect.Value.Int on string Value",
		"type Bad struct{}\nfunc (Bad) Error() string { panic(\"inside\") }\nfunc f() { panic(Bad{}) }\nf()", "Panic: main.Bad, whose text cannot be shown: inside",
		"type Good int\nfunc (g Good) String() string { return \"good \" + strconv.Itoa(int(g)) }\npanic(Good(3))", "Panic: good 3",
	}},
	{"a failed cell leaves nothing behind", []string{
		"a := 1\nb := undefined1\nfunc c() {}", "CompileError: In[1]:2:6: undefined: undefined1",
		"a", "CompileError: In[2]:1:1: undefined: a",
		"c()", "CompileError: In[3]:1:1: undefined: c",
		"type T struct{ x int }\nfunc (t T) M() int { return undefined2 }", "CompileError: In[4]:2:29: undefined: undefined2",
		"T{}", "CompileError: In[5]:1:1: undefined: T",
	}},
	{"methods follow their types", []string{
		"type T struct{ x int }\nfunc (t T) M() int { return t.x }\nvar v T", "",
		"func (t T) M() int { return t.x + 100 }", "",
		"v.M()", "=> 100",
		"type T struct{ y string }\nfunc (t T) M() string { return t.y }\nT{\"new\"}.M()", "v still has the old T: run its cell again\n=> \"new\"",
		"v", "=> T{x: 0}",
		"func show(t T) string { return t.y }\nshow(v)",
		"CompileError: In[6]:2:6: cannot use v (variable of struct type T) as T value in argument to show (T was declared again since: run the cell that makes the value once more)",
		"p, all := &T{\"p\"}, []T{}\ntype G[T any] struct{ x T }\ng := &G[int]{}", "",
		"type T struct{ z string }\ntype G[T any] struct{ y T }", "all, p still have the old T: run their cells again\ng still has the old G: run its cell again",
		"p = &T{}", "CompileError: In[9]:1:5: cannot use &T{} (value of type *T) as *T value in assignment (T was declared again since: run the cell that makes the value or declares the variable once more)",
		"all = []T{{}}", "CompileError: In[10]:1:7: cannot use []T{…} (value of type []T) as []T value in assignment (T was declared again since: run the cell that makes the value or declares the variable once more)",
		"g = &G[int]{}", "CompileError: In[11]:1:5: cannot use &G[int]{} (value of type *G[int]) as *G[int] value in assignment (G was declared again since: run the cell that makes the value or declares the variable once more)",
	}},
	{"types have identities", []string{
		"type A int\ntype B int\nvar x any = A(1)\n_, isB := x.(B)\nx == any(B(1)), isB", "=> false, false",
		"type A int\ntype B int\nvar x any = A(1)\n_, isB := x.(B)\nfmt.Println(x == any(B(1)), isB, x == any(A(1)))", "false false true",
		"m := map[any]string{A(1): \"a\", B(1): \"b\", 1: \"int\"}\nfmt.Println(m[A(1)], m[B(1)], m[1])", "a b int",
	}},
	{"what cannot be compared says its name", []string{
		"type F struct{ f func() }\ntype L []int\nvar a, b any = F{}, L{}", "",
		"a == a", "Panic: runtime error: comparing uncomparable type main.F",
		"b != b", "Panic: runtime error: comparing uncomparable type main.L",
		"a == b, b == any([]int{})", "=> false, false",
	}},
	{"an error that a function drops is told about once for each place", []string{
		"func z() error { return errors.New(\"bad\") }\nfunc f() {\n\tfor range 3 {\n\t\tz()\n\t}\n\tstrconv.Atoi(\"x\")\n\tfunc() { z() }()\n\t_ = z()\n\tdefer z()\n\tstrconv.Atoi(\"1\")\n\tfmt.Println(\"goes on\")\n}\nf()", "In[1]:4:3: main.f drops an error: bad\nIn[1]:6:2: main.f drops an error: strconv.Atoi: parsing \"x\": invalid syntax\nIn[1]:7:11: main.f.func1 drops an error: bad\ngoes on",
		"func() { z() }()", "In[2]:1:10: main.main.func1 drops an error: bad",
		"z()", "Error: bad",
	}},
	{"hashes of comparable values", []string{
		"import \"hash/maphash\"\ntype P struct { a int; s string }\nseed := maphash.MakeSeed()\nvar h, g maphash.Hash\nh.SetSeed(seed); g.SetSeed(seed)\nmaphash.WriteComparable(&h, P{1, \"a\"}); maphash.WriteComparable(&g, P{1, \"a\"})\nh.Sum64() == g.Sum64(), maphash.Comparable(seed, P{1, \"a\"}) == maphash.Comparable(seed, P{1, \"a\"}), maphash.Comparable(seed, P{1, \"a\"}) == maphash.Comparable(seed, P{2, \"a\"})", "=> true, true, false",
	}},
	{"a value that contains itself is not printed without end", []string{
		"m := map[string]any{\"a\": []any{1}}\nm[\"m\"] = []any{m}\nfmt.Println(m)", "StackOverflow: stack overflow: a value of type map[string]interface {} contains itself, so that fmt prints it without end",
		"type L []L\nl := L{{}, {{}}}\nfmt.Println(l)\nl[1][0] = l\nfunc f() string { defer func() { recover() }(); return fmt.Sprintf(\"%v\", &l) }\nf()", "[[] [[]]]\nStackOverflow: stack overflow: a value of type *main.L contains itself, so that fmt prints it without end",
		"type N struct { next *N; kids []*N; S fmt.Stringer; any any }\nn := &N{}\nn.next, n.kids, n.any = n, []*N{n, n}, []any{n, n}\nlen(fmt.Sprint(n)) > 10", "=> true",
		"type S []any\nfunc (s S) String() string { return \"S\" }\ns := S{nil}\ns[0] = s\nfmt.Sprint(s, []any{s, s})", `=> "S [S S]"`,
	}},
	{"closures and defers", []string{
		"f := func() string { return \"f\" }\nfunc g() string { defer f(); return f() }\ng()", `=> "f"`,
		"func order() (s string) { for i := range 3 { defer func() { s += fmt.Sprint(i) }() }; return \"\" }\norder()", `=> "210"`,
		"func again() (err error) { defer func() { err = fmt.Errorf(\"%v, then %v\", recover(), err) }(); defer func() { panic(\"second\") }(); panic(\"first\") }\nfmt.Println(again())", "second, then <nil>",
	}},
	{"a literal reaches the variable of an enclosing function", []string{
		"type P struct{ A, B int }\nfunc set() P { var p P; func() { p = P{1, 2} }(); return p }\nfmt.Println(set())", "{1 2}",
		"func deferred() P { defer func() {}(); return P{3, 4} }\nfmt.Println(deferred())", "{3 4}",
	}},
	{"an assignment reaches what a pointer sees", []string{
		"type P struct{ A, B int }\np := P{1, 2}\na := [2]int{1, 2}\npp, pa := &p, &a", "",
		"p := P{3, 4}\na := [2]int{5, 6}\nfmt.Println(*pp, *pa)", "{3 4} [5 6]",
		"p = P{5, 6}\na = [2]int{7, 8}\nfmt.Println(*pp, *pa)", "{5 6} [7 8]",
		"f := sync.OnceFunc(func() { fmt.Println(\"once\") })\npf := &f\n(*pf)()", "once",
		"f = func() { fmt.Println(\"again\") }\nf()\n(*pf)()", "again\nagain",
		"f = sync.OnceFunc(func() { fmt.Println(\"more\") })\n(*pf)()", "more",
		"func g() func() { h := sync.OnceFunc(func() { fmt.Println(1) }); p := &h; h(); *p = func() { fmt.Println(2) }; h(); h = sync.OnceFunc(func() { fmt.Println(3) }); return *p }\ng()()", "1\n2\n3",
		"func k() { h := sync.OnceFunc(func() { fmt.Println(1) }); h(); h = func() { fmt.Println(2) }; h() }\nk()", "1\n2",
	}},
	{"a range gives channels", []string{
		"cs := []chan int{make(chan int, 1), make(chan int, 1)}\nfor i, c := range cs { c <- i + 1 }\nfor _, c := range cs { fmt.Print(<-c, \" \") }", "1 2",
		"m := map[string]chan int{\"a\": cs[0], \"b\": cs[1]}\nfor k, c := range m { c <- len(k); delete(m, \"a\"); delete(m, \"b\") }\nfmt.Println(len(cs[0]) + len(cs[1]))", "1",
		"var ends [2]<-chan int\nends[1] = cs[0]\nvar e <-chan int\nfor _, e = range ends {}\nfmt.Println(e == ends[1])", "true",
	}},
	{"concurrent closures", []string{
		"var ends sync.WaitGroup\nvar counts [8]int\nfor i := range counts { ends.Add(1); go func() { defer ends.Done(); for range 200 { counts[i]++ } }() }\nends.Wait()\ncounts[7]", "=> 200",
		"var wg sync.WaitGroup\nvar mu sync.Mutex\nn := 0\nfor i := range 50 { wg.Add(1); go func() { defer wg.Done(); for range 20 { mu.Lock(); n += i - i + 1; mu.Unlock() } }() }\nwg.Wait()\nn", "=> 1000",
		"c, d := make(chan int), make(chan int)\nfor range 8 { go func() { for range 25 { select { case c <- 1: case d <- 2: } } }() }\nsum := 0\nfor range 200 { select { case v := <-c: sum += v / v; case v := <-d: sum += v / 2 } }\nsum", "=> 200",
	}},
}

// A goroutine goes on storing while later cells are compiled, and loses nothing.
func TestStoresWhileCellsCompile(t *testing.T) {
	s := newSession(t)
	s.run("var f func()\nlast, lost := 0, 0\nstop, stopped := make(chan bool), make(chan bool)")
	s.run(`go func() {
	for i := 1; ; i++ {
		select {
		case <-stop:
			stopped <- true
			return
		default:
		}
		f = sync.OnceFunc(func() { last = i })
		f()
		if last != i {
			lost++
		}
	}
}()`)
	// As many variables as make the interpreter need more room, several times over.
	for range 200 {
		if got := s.run("type T struct{ A int }\nfunc g(t T) int { return t.A }\nv := g(T{1})"); got != "" {
			t.Fatal(got)
		}
		if got := s.run("v := \"\""); got != "" {
			t.Fatal(got)
		}
	}
	if got := s.run("stop <- true\n<-stopped\nlost"); got != "=> 0\n" {
		t.Errorf("stores lost: %s", got)
	}
	if g := s.ev.globals; g == nil || g.used < 200 || len(*g.data) != globalsRoom {
		t.Errorf("the interpreter's variables are not where they are looked for")
	}
}

// The variables move only when they must, or nobody uses them.
func TestGlobalsMove(t *testing.T) {
	types, data := []reflect.Type{}, []reflect.Value{}
	g := &globals{types: &types, data: &data}
	place := func(n int, busy bool) *reflect.Value {
		for len(types) < n {
			types = append(types, reflect.TypeFor[int]())
		}
		g.make(busy)
		if !data[n-1].CanSet() {
			t.Fatalf("variable %d of %d was not made", n, len(types))
		}
		return &data[0]
	}
	first := place(1, false)
	first.SetInt(7)
	if place(globalsRoom/2, false) != first {
		t.Error("moved with room for as many more")
	}
	if place(globalsRoom, true) != first {
		t.Error("moved with a goroutine at work and room left")
	}
	moved := place(globalsRoom, false)
	if moved == first || len(data) < 2*globalsRoom {
		t.Error("did not use the moment when no goroutine was at work")
	}
	if moved.Int() != 7 {
		t.Error("a value was lost")
	}
}

func TestFaults(t *testing.T) {
	for _, sc := range faults {
		t.Run(sc.name, sc.test)
	}
}

// TestMemory runs cells again and again: what they replace is freed.
func TestMemory(t *testing.T) {
	s := newSession(t)
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	for range 50 { // what is made once
		s.run("1+1")
	}
	before := heap()
	const cells = 500
	for i := range cells {
		if got, want := s.run(fmt.Sprintf("%d+1", i)), fmt.Sprintf("=> %d\n", i+1); got != want {
			t.Fatal(got)
		}
	}
	// within collects until no more than that is left behind: what others hold at
	// the time of one collection goes with the next.
	within := func(limit int) (grown int, yes bool) {
		for range 50 {
			if grown = heap() - before; grown <= limit {
				return grown, true
			}
			time.Sleep(10 * time.Millisecond)
		}
		return grown, false
	}
	// 10,000 cells are to stay within 200 MB: 20 KiB each.
	if grown, ok := within(cells * 4 << 10); !ok {
		t.Errorf("a trivial cell leaves %d bytes behind", grown/cells)
	}
	for range 20 {
		if got := s.run("big := make([]byte, 100<<20)\nbig[7] = 1\nlen(big)"); got != "=> 104857600\n" {
			t.Fatal(got)
		}
	}
	if grown, ok := within(150 << 20); !ok {
		t.Errorf("20 runs of a cell that makes 100 MiB leave %d MiB", grown>>20)
	}
	s.run("big := \"another type\"")
	if grown, ok := within(20 << 20); !ok {
		t.Errorf("what a variable of another type replaced is still there: %d MiB", grown>>20)
	}
}

// Goroutines print, encode and look at values of cells' types by reflection, and
// wait for one another, while later cells are compiled.
func TestGoroutinesWhileCellsCompile(t *testing.T) {
	s := newSession(t)
	s.run(`type K int
func (k K) String() string { return "K" }
type In struct { K K; M map[K]string; next *In }
type T struct { In; A any; E error }
type S interface { String() string }
var stop atomic.Bool
var done sync.WaitGroup
var failed atomic.Value
func busy(work func() string) {
	done.Add(1)
	go func() {
		defer done.Done()
		for want := work(); !stop.Load(); time.Sleep(100 * time.Microsecond) {
			if got := work(); got != want { failed.Store(got + " is not " + want); return }
		}
	}()
}
v := T{In{1, map[K]string{2: "x"}, &In{}}, K(3), errors.New("e")}
busy(func() string { return fmt.Sprintf("%v %+v %T", v.In.M, []T{{A: K(1)}}, v) })
busy(func() string { b, err := json.Marshal(v); return fmt.Sprint(string(b), err) })
busy(func() string { x := reflect.ValueOf(v); return fmt.Sprint(x.Type(), x.NumField(), x.Field(0).Interface().(In).K) })
busy(func() string { var a any = v.K; s, ok := a.(S); _, no := a.(error); return fmt.Sprint(s.String(), ok, no) })
busy(func() (text string) { defer func() { text = fmt.Sprint(recover()) }(); var p *In; return p.K.String() })`)
	for i := range 20 {
		code := fmt.Sprintf("type T%d struct { In; n, m%d int }\nfunc (t T%d) String() string { return fmt.Sprint(t.In.K) + fmt.Sprint(t.n) }\nfmt.Sprint(T%d{n: %d}, []any{T%d{}})", i, i, i, i, i, i)
		if got, want := s.run(code), fmt.Sprintf("=> \"K%d [K0]\"\n", i); got != want {
			t.Fatal(got)
		}
		if i%10 == 9 {
			s.run("func (k K) M() int { return int(k) }\nvar _ interface{ M() int } = K(1)")
		}
	}
	if got := s.run("stop.Store(true)\ndone.Wait()\nfailed.Load() == nil"); got != "=> true\n" {
		t.Errorf("%s: %s", got, s.run("failed.Load()"))
	}
}

// What asks for more memory than there is, is a panic.
func TestMakeBeyondMemory(t *testing.T) {
	for _, code := range []string{"make([]int, 1<<40)", "n := 1 << 41\nxs := make([]int, n)", "n := 1 << 41\nxs := make([]byte, 0, n)", "type T struct{ a [1 << 20]int }\nn := 1 << 20\nxs := make([]T, n)"} {
		s := newSession(t)
		if got := s.run(code); !strings.HasPrefix(got, "Panic: ") || !strings.Contains(got, "out of memory: make wants ") {
			t.Errorf("%s gives %s", code, got)
		}
		if got := s.run("1 + 1"); got != "=> 2\n" {
			t.Errorf("then %s", got)
		}
	}
}
