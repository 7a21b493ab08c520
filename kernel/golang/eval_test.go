package golang

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// session runs cells one after another.
type session struct {
	t   *testing.T
	ev  *Evaluator
	out *bytes.Buffer
	n   int
}

func newSession(t *testing.T) *session {
	t.Helper()
	out := new(bytes.Buffer)
	ev, err := New(Options{Stdout: out, Stderr: out, MaxStack: 128 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return &session{t: t, ev: ev, out: out}
}

// run runs a cell and returns what it printed, the value that it showed, and its error.
func (s *session) run(code string) string {
	s.t.Helper()
	s.n++
	s.out.Reset()
	res := s.ev.Eval(fmt.Sprintf("In[%d]", s.n), code, false)
	text := s.out.String()
	if res.Value != nil {
		text += fmt.Sprintf("=> %v\n", res.Value.Data["text/plain"])
	}
	if res.Err != nil {
		text += res.Err.Name + ": " + res.Err.Message + "\n"
	}
	return text
}

// scenario is cells with what each is to give.
type scenario struct {
	name  string
	cells []string // code, result, code, result, ...
}

func (sc scenario) test(t *testing.T) {
	s := newSession(t)
	for i := 0; i+1 < len(sc.cells); i += 2 {
		got := strings.TrimSpace(s.run(sc.cells[i]))
		if want := strings.TrimSpace(sc.cells[i+1]); got != want {
			t.Errorf("cell %d:\n%s\ngave\n%s\nwant\n%s", i/2+1, sc.cells[i], got, want)
		}
	}
}

// TestEmbedInCells: go:embed reads files of the working directory.
func TestEmbedInCells(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"a.txt": "hello", "dir/b.txt": "deep", "other/go.mod": "module other", "other/c.txt": "c", "dir/.git/x.txt": "x"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link.txt": outside, "dir/link.txt": outside, "near.txt": "a.txt", "folder": filepath.Dir(outside)} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	scenario{"links", []string{
		"//go:embed link.txt\nvar text string", "CompileError: In[1]:1:1: pattern link.txt: cannot embed irregular file link.txt",
		"//go:embed near.txt\nvar text string", "CompileError: In[2]:1:1: pattern near.txt: cannot embed irregular file near.txt",
		"//go:embed folder/secret\nvar text string", "CompileError: In[3]:1:1: pattern folder/secret: cannot embed folder/secret: in non-directory folder",
		"//go:embed folder\nvar files embed.FS", "CompileError: In[4]:1:1: pattern folder: cannot embed irregular file folder",
		"//go:embed other/c.txt\nvar text string", "CompileError: In[5]:1:1: pattern other/c.txt: cannot embed other/c.txt: in different module",
		"//go:embed all:dir\nvar files embed.FS\nlist := []string{}\nfs.WalkDir(files, \".\", func(p string, d fs.DirEntry, err error) error { list = append(list, p); return err })\nlist", `=> []string{".", "dir", "dir/b.txt"}`,
		"//go:embed dir/.git/x.txt\nvar text string", "CompileError: In[7]:1:1: pattern dir/.git/x.txt: cannot embed dir/.git/x.txt: invalid name .git",
	}}.test(t)
	scenario{"embed", []string{
		"//go:embed a.txt\nvar text string\ntext", `=> "hello"`,
		"x := 1\n\n// Bytes.\n//\n//go:embed a.txt\nvar b []byte\nvar n int\nstring(b), x, n", `=> "hello", 1, 0`,
		"var (\n\t//go:embed dir a.txt\n\tfiles embed.FS\n\tm = 3\n)\nlist, _ := fs.Glob(files, \"*/*\")\none, _ := files.ReadFile(\"a.txt\")\nlist, string(one), m", `=> []string{"dir/b.txt"}, "hello", 3`,
		"x := 2\n  //go:embed none.txt\nvar text string", "CompileError: In[4]:2:3: pattern none.txt: no matching files found",
		"//go:embed a.txt\nvar text int", "CompileError: In[5]:1:1: go:embed cannot fill a variable of type int",
		"text", `=> "hello"`,
		"var text string\ntext", `=> ""`,
		"package main\n\nimport (\n\t_ \"embed\"\n\t\"fmt\"\n)\n\n//go:embed a.txt\nvar own string\n\nfunc main() { fmt.Println(own) }", "hello",
		"func f() string { return \"//go:embed a.txt\" }\nf()", `=> "//go:embed a.txt"`,
	}}.test(t)
}

var scenarios = []scenario{
	{"values", []string{
		"n := 1; var none []int; any(n) == nil, any(n) != nil, any(nil) == nil, any(none) == nil, error(nil) == nil", "=> false, true, true, false, true",
		"1+1", "=> 2",
		"1+1;", "",
		`"a" + "b"`, `=> "ab"`,
		"var p *int\np", "=> nil",
	}},
	{"several values", []string{
		"x, p := 2, &[]int{1}\nx, \"b\", nil, *p", `=> 2, "b", nil, []int{1}`,
		"type C float64\nfunc (c C) String() string { return fmt.Sprintf(\"%.1f°\", float64(c)) }\nfunc() C { return 1 }(), []C{1, 2} // both", "=> 1.0°, []C{1.0°, 2.0°}",
		"fmt.Println(\"first\"); len(\n\t*p), map[string]int{\"a\": 1}[\"a\"],\n\tx > 1 && x != 3", "first\n=> 1, 1, true",
		"1, 2;", "CompileError: In[4]:1:1: syntax error: expected 1 expression",
		"1, 2\n3", "CompileError: In[5]:1:1: syntax error: expected 1 expression",
		"x, nope", "CompileError: In[6]:1:4: undefined: nope",
		"x := 5\nx, fmt.Sprint(x,\n  1 + \"a\")", "CompileError: In[7]:3:3: invalid operation: 1 + \"a\" (mismatched types untyped int and untyped string)",
		"x, clear(*p)", "CompileError: In[8]:1:4: clear(*p) (no value) used as value",
		"a, b", "CompileError: In[9]:1:1: undefined: a (and 1 more)",
		"x, y = 3, 4", "CompileError: In[10]:1:4: undefined: y",
		"for x, y", "CompileError: In[11]:1:5: syntax error: expected 1 expression",
		"x, `a\r\nb` // c\r\n", "=> 2, `a\nb`",
		"x, (*p)[3]", "Panic: runtime error: index out of range [3] with length 1",
	}},
	{"state", []string{
		"x := 5\ny := \"a\"\nfmt.Println(x, y)", "5 a",
		"x += 2\nx", "=> 7",
		"x := \"other type\"", "",
		"len(x)", "=> 10",
		"x := x + \"!\"\nx", `=> "other type!"`,
	}},
	{"variables that are declared again of another type, from what they held", []string{
		"k := 3\ndata := []byte(\"hello\")", "",
		"k := fmt.Sprint(k, \"!\")\ndata := string(data)\nk, data", `=> "3!", "hello"`,
		"fmt.Println(k)\nk, data := len(k), []string{data, k}\nk, data", "3!\n=> 2, []string{\"hello\", \"3!\"}",
		"k := func() string { return strings.Repeat(\"a\", k) }\nk()", `=> "aa"`,
		"printed := make(chan bool)\ngo func() { time.Sleep(time.Millisecond); fmt.Println(data); printed <- true }()\ndata := len(data)\n<-printed\ndata", "[hello 3!]\n=> 2",
		"k()", `=> "aa"`,
	}},
	{"functions follow", []string{
		"func f() int { return 1 }\nfunc g() int { return f() * 10 }\ng()", "=> 10",
		"func f() int { return 2 }", "",
		"g()", "=> 20",
		"func f() int { return 3 }", "",
		"g()", "=> 30",
	}},
	{"types again", []string{
		"type P struct{ X, y int }\np := P{1, 2}\np", "=> P{X: 1, y: 2}",
		"func (p P) Sum() int { return p.X + p.y }\np.Sum()", "=> 3",
		"type P struct{ X, y int }\nq := P{3, 4}\nq.Sum(), p.Sum()", "=> 7, 3",
		"type P struct{ X, y int }\nq := P{3, 4}\np = q\np.Sum()", "=> 7",
		"type P struct{ Z string }\nr := P{\"z\"}\nr", "P.Sum still uses the old P: In[2]:1:33: p.X undefined (type P has no field or method X)\np, q still have the old P: run their cells again\n=> P{Z: \"z\"}",
		"p", "=> P{X: 3, y: 4}",
		"func (p P) String() string { return \"P of \" + p.Z }\nr", "=> P of z",
	}},
	{"generic functions that are declared again", []string{
		"func apply[T any](x T, f func(T) T) T { return f(x) }\nfunc double(i int) int { return 2 * i }\nfunc once(i int) int { return apply(i, double) }\nfunc text(s string) string { return apply(s, strings.ToUpper) }\nonce(1)", "=> 2",
		"func apply[T any](x T, f func(T) T) T { return f(f(x)) }\nonce(1), apply(1, double), text(\"a\")", "=> 4, 4, \"A\"",
		"func apply[T any](x T, f func(T) T) T { return f(f(f(x))) }\nonce(1), apply(1, double), apply(1.0, func(x float64) float64 { return x + 1 })", "=> 8, 8, 4",
		"func apply[T any](x T) T { return x }\nonce(1)", "once still uses the old apply: In[1]:3:40: too many arguments in call to apply\ntext still uses the old apply: In[1]:4:46: too many arguments in call to apply\n=> 8",
	}},
	{"a name hides the package that its value is made with", []string{
		"big := new(big.Int).Exp(big.NewInt(2), big.NewInt(70), nil)\nbig", "=> 1180591620717411303424",
		"list := list.New()\nlist.PushBack(1)\nlist.Len()", "=> 1",
		"url, err := url.Parse(\"http://x/y\")\nurl.Path, err", `=> "/y", nil`,
		"x := x + 1", "CompileError: In[4]:1:6: undefined: x",
		"x, y := 5, x", "CompileError: In[5]:1:12: undefined: x",
		"fib := func(n int) int { return fib(n - 1) }", "CompileError: In[6]:1:33: undefined: fib",
	}},
	{"a type that was declared with another", []string{
		"type cfg struct{ n int }\ntype Opt func(*cfg)\nvar o Opt", "",
		"type cfg struct{ n, m int }\no = func(c *cfg) {}", "CompileError: In[2]:2:5: cannot use func(c *cfg) {…} (value of type func(c *cfg)) as Opt value in assignment (Opt was declared again with this cell: run the cell that makes the value once more)",
	}},
	{"variables are initialized as those of a package", []string{
		"var (\n\ta = b + 1\n\tb = first()\n\tn int\n)\nfunc first() int { return c * 2 }\nvar c = 3\na, b, c, n", "=> 7, 6, 3, 0",
		"x := y()\nz := 5\nfunc y() int { return z }\nx, z", "=> 0, 5",
		"var p, q = r + 1, sum()\nvar r = 4\nfunc sum() int { return p + r }\np, q", "=> 5, 9",
		"var s, t, u int = 1, s, t\ns, t, u", "=> 1, 1, 1",
	}},
	{"methods of generic types in later cells", []string{
		"type Stack[T any] struct{ items []T }\nvar s Stack[int]\nps := &Stack[string]{}\nfunc use(s *Stack[int]) int { return len(s.items) }\ns", "=> Stack[int]{items: nil}",
		"func (s *Stack[T]) Push(x T) { s.items = append(s.items, x) }\ns.Push(3)\nps.Push(\"a\")\ns, use(&s)", "=> Stack[int]{items: []int{3}}, 1",
		"func (s *Stack[E]) Pop() (last E) { n := len(s.items) - 1; last, s.items = s.items[n], s.items[:n]; return }\nfunc (s Stack[T]) String() string { return fmt.Sprint(\"stack \", s.items) }\nfmt.Println(s, ps)", "stack [3] stack [a]",
		"func (s *Stack[_]) Len() int { return len(s.items) }\nvar l interface{ Len() int } = &s\ns.Pop(), l.Len()", "=> 3, 0",
		"func (s *Stack[T]) Push(x T) { s.items = append(s.items, x, x) }\nfunc (s Stack[T]) String() string { return \"new\" }\ns.Push(5)\nfmt.Println(s, s.items, ps)", "new [5 5] new",
		"func (s *Stack[T]) Ghost() { undefinedName }", "CompileError: In[6]:1:30: undefined: undefinedName",
		"s.Ghost()", "CompileError: In[7]:1:3: s.Ghost undefined (type Stack[int] has no field or method Ghost)",
		"type Stack[T any] struct{ items []T }\ns.Push(1)\ns.items", "=> []int{5, 5, 1, 1}",
		"type M[K comparable, V interface{ ~int | ~float64 }] map[K]V\nvar m = M[string, int]{\"a\": 1, \"b\": 4}", "",
		"func (m M[A, B]) Sum() (t B) { for _, v := range m { t += v }; return }\nm.Sum(), M[int, float64]{2: 1.5}.Sum()", "=> 5, 1.5",
		"var v any = s\n_, ok := v.(interface{ Top() int })\nok", "=> false",
		"func (s Stack[T]) Top() T { return s.items[len(s.items)-1] }\nv.(interface{ Top() int }).Top()", "=> 1",
	}},
	{"methods in later cells", []string{
		"type S[T any] struct{ xs []T }\ntype A = int\ntype P struct{ n int }\ntype Q = P\nv := 1", "",
		"func (s *S[T, U]) Len() int { return len(s.xs) }", "CompileError: In[2]:1:10: receiver declares 2 type parameters, but receiver base type declares 1",
		"func (s *S) Len() int { return 1 }", "CompileError: In[3]:1:10: cannot use generic type S[T any] without instantiation",
		"func (a A) M() {}", "CompileError: In[4]:1:9: cannot define new methods on non-local type A",
		"func (a v) M() {}", "CompileError: In[5]:1:9: v is not a type",
		"func (q Q) M() int { return q.n }\nP{3}.M()", "=> 3",
		"func (p *P) Set(n int) { p.n = n }\np := P{1}\np.Set(2)\np", "=> P{n: 2}",
		"func (b bytes.Buffer) M() {}", "CompileError: In[8]:1:9: cannot define new methods on non-local type bytes.Buffer",
		"func (p P) Ghost() int { return undefinedName }", "CompileError: In[9]:1:33: undefined: undefinedName",
		"p.Ghost()", "CompileError: In[10]:1:3: p.Ghost undefined (type P has no field or method Ghost)",
		"func (p P) Ghost(s strin) string { return s }", "CompileError: In[11]:1:20: undefined: strin (did you mean string?)",
		"func (p P) Ghost(s string) { return s }", "CompileError: In[12]:1:37: too many return values",
		"func (p P) Ghost() int { return p.n }\np.Ghost()", "=> 2",
		"func (p P) N()\nfunc f()", "CompileError: In[14]:1:12: missing function body (and 1 more)",
		"func (p P[int]) N() {}", "CompileError: In[15]:1:9: P is not a generic type",
		"type R P\ntype O = P\ntype B bool\nR(P{4}).n + O{5}.n", "=> 9",
		"type R P\nfunc (r R) Twice() int { return 2 * r.n }\nR{6}.Twice()", "=> 12",
		"type U = P\nfunc (u U) N() {}", "CompileError: In[18]:2:9: U is another name for P of an earlier cell: declare the method for that",
		"type V = *P\ntype W = U\ntype U = V\nfunc (w W) N() {}\nvar w W = &P{7}\nw.n", "CompileError: In[19]:4:9: W is another name for P of an earlier cell: declare the method for that",
	}},
	{"methods in later cells whose signatures have types of their cell", []string{
		"type job struct{ n int }\ntype list[T any] struct{ of []T }\nj, l := job{2}, list[int]{[]int{1, 2}}", "",
		"type share struct{ N int }\nfunc (s share) Twice() int { return 2 * s.N }\nfunc (j job) collect(k int) share { return share{k + j.n} }\nfirst := j.collect(1)\nfirst.Twice()", "=> 6",
		"func throw() (list []share) { list = append(list, job{}.collect(1)); return }\nvar s share = j.collect(2)\nthrow(), s, first == s", "=> []share{{N: 1}}, share{N: 4}, false",
		"const width = 2\ntype pair[A any] struct{ a A; at [width]*share }\ntype give func(*share) (pair[int], error)\ntype alias = share\nfunc (j *job) pairs(g give, more ...map[alias][width]share) (pair[int], error) { p, err := g(&share{j.n}); p.at[1] = &share{len(more)}; return p, err }\nvar got, err = (&j).pairs(func(s *share) (pair[int], error) { return pair[int]{a: s.N}, nil }, map[share][2]share{{1}: {}})\ngot.a, got.at[1].N, err", "=> 2, 1, nil",
		"func f(g give) int { p, _ := j.pairs(g); return p.a + len(p.at) }\nf(func(s *share) (pair[int], error) { return pair[int]{a: 7}, nil })", "=> 9",
		"type node[T any] struct{ v T }\nfunc (l list[T]) nodes() (all []node[T]) { for _, v := range l.of { all = append(all, node[T]{v}) }; return }\nfunc (n node[T]) get() T { return n.v }\nl.nodes()[1].get()", "=> 2",
		"var n node[int] = l.nodes()[0]\nn.get(), list[string]{[]string{\"a\"}}.nodes()[0] == node[string]{\"a\"}", "=> 1, true",
		"type share struct{ N int }\nfunc (j job) collect(k int) share { return share{k} }\nfirst = j.collect(1)\nfirst.Twice()", "=> 2",
		"type again interface{ more() again }\nfunc (j job) more() again { return j }\nvar a again = j.more().more()\na == again(j)", "=> true",
		"type job struct{ m int }\nfunc (j job) collect(k int) share { return share{j.m} }\njob{5}.collect(0).Twice()", "j still has the old job: run its cell again\njob.pairs still uses the old job: In[4]:5:103: j.n undefined (type *job has no field or method n)\n=> 10",
	}},
	{"unexported fields", []string{
		"type R struct { Name string `json:\"name\"`; own int }\nr := R{\"a\", 1}\nb, _ := json.Marshal(r)\nstring(b)", `=> "{\"name\":\"a\"}"`,
		"json.Unmarshal([]byte(`{\"name\":\"b\",\"own\":2}`), &r)\nr", "=> R{Name: \"b\", own: 1}",
	}},
	{"errors", []string{
		"x := 1\nfmt.Prinln(x)", "CompileError: In[1]:2:5: undefined: fmt.Prinln (did you mean Println?)",
		"x", "CompileError: In[2]:1:1: undefined: x",
		"func f() error { return errors.New(\"bad\") }\nf()", "Error: bad",
		"var m map[string]int\nm[\"a\"] = 1", "Panic: assignment to entry in nil map",
		"var q *struct{ x int }\nq.x", "Panic: runtime error: invalid memory address or nil pointer dereference",
		"n := 1\npanic(\"boom\")\nn = 2", "Panic: boom",
		"n", "=> 1",
		"os.Exit(3)", "Exit: the cell called os.Exit(3); the notebook goes on",
		"runtime.Goexit()", "Goexit: the cell called runtime.Goexit; the notebook goes on",
	}},
	{"must", []string{
		"must(strconv.Atoi(\"12\")) + 1", "=> 13",
		"must(strconv.Atoi(fmt.Sprint(must(strconv.Atoi(\"4\")))))", "=> 4",
		"must(strconv.Atoi(\"x\"))\nfmt.Println(\"not reached\")", "Error: strconv.Atoi: parsing \"x\": invalid syntax",
		"must(errors.New(\"bad\"))", "Error: bad",
		"must(1)", "CompileError: In[5]:1:6: cannot use 1 (constant of type int) as error value in argument to must: int does not implement error (missing method Error)",
		"func two() (a, b int, err error) { return 1, 2, nil }\nx, y := must(two())\nx + y", "=> 3",
	}},
	{"signatures change", []string{
		"func f(a int) int { return a }\nfunc g() int { return f(1) }", "",
		"func f(a string) string { return a }", "g still uses the old f: In[1]:2:23: cannot use f(1) (value of type string) as int value in return statement",
		"g()", "=> 1",
		"func g() string { return f(\"x\") }\ng()", `=> "x"`,
	}},
	{"interfaces", []string{
		"type C float64\nfunc (c C) String() string { return fmt.Sprintf(\"%.1f°\", float64(c)) }\nfmt.Println(C(3), []C{4})", "3.0° [4.0°]",
		"fmt.Printf(\"%v %T %s\\n\", C(1), C(1), C(2))", "1.0° main.C 2.0°",
		"type E struct{ Code int }\nfunc (e E) Error() string { return fmt.Sprint(\"code \", e.Code) }\nfunc do() error { return fmt.Errorf(\"wrap: %w\", E{7}) }", "",
		"var e E\nfmt.Println(errors.As(do(), &e), e.Code, errors.Is(do(), E{7}))", "true 7 true",
		"type by []int\nfunc (b by) Len() int { return len(b) }\nfunc (b by) Less(i, j int) bool { return b[i] > b[j] }\nfunc (b by) Swap(i, j int) { b[i], b[j] = b[j], b[i] }\nx := by{1, 3, 2}\nsort.Sort(x)\nx", "=> by{3, 2, 1}",
		"type J struct { Name string `json:\"name\"`; age int }\nstring(must(json.Marshal([]J{{\"a\", 1}})))", `=> "[{\"name\":\"a\"}]"`,
		"var any1 any = C(1)\n_, isFloat := any1.(float64)\n_, isC := any1.(C)\nfmt.Println(isFloat, isC)", "false true",
	}},
	{"newer Go", []string{
		"for i := range 3 { fmt.Print(i, \" \") }\nfmt.Println(min(3, 1), max(2.5, 1))", "0 1 2 1 2.5",
		"var fs []func() int\nfor i := 0; i < 3; i++ { fs = append(fs, func() int { i += 10; return i }) }\nfor _, f := range fs { fmt.Print(f(), f(), \" \") }", "10 20 11 21 12 22",
		"func count(n int) iter.Seq[int] { return func(yield func(int) bool) { for i := range n { if !yield(i) { return } } } }\nfor i := range count(10) { if i == 1 { continue }; if i == 3 { break }; fmt.Print(i, \" \") }", "0 2",
		"slices.Collect(count(3))", "=> []int{0, 1, 2}",
		"slices.Sorted(maps.Keys(map[string]int{\"b\": 1, \"a\": 2}))", `=> []string{"a", "b"}`,
		"type Stack[T any] struct{ items []T }\nfunc (s *Stack[T]) Push(x T) { s.items = append(s.items, x) }\nvar s Stack[string]\ns.Push(\"a\")\ns", `=> Stack[string]{items: []string{"a"}}`,
		"func Map[T, U any](xs []T, f func(T) U) (out []U) { for _, x := range xs { out = append(out, f(x)) }; return }\nMap([]int{1, 2}, func(i int) string { return fmt.Sprint(i * 2) })", `=> []string{"2", "4"}`,
		"m := map[int]bool{1: true}\nclear(m)\nlen(m)", "=> 0",
		"for i, r := range \"é!\" { fmt.Print(i, string(r), \" \") }", "0é 2!",
	}},
	{"control", []string{
		"func div(a, b int) (r int, err error) { defer func() { if x := recover(); x != nil { err = fmt.Errorf(\"caught: %v\", x) } }(); return a / b, nil }\n_, err := div(1, 0)\nfmt.Println(err)", "caught: runtime error: integer divide by zero",
		"L: for i := range 3 { for j := range 3 { if j == 1 { continue L }; if i == 2 { break L }; fmt.Print(i, j, \" \") } }", "0 0 1 0",
		"switch x := 2; { default: fmt.Println(\"d\"); fallthrough; case x == 1: fmt.Println(\"one\") }", "d\none",
		"ended := make(chan int)\ngo func() { defer close(ended); panic(\"in a goroutine\") }()\n<-ended\ntime.Sleep(time.Second)", "Panic: in a goroutine",
		"var wg sync.WaitGroup\nwg.Go(func() { panic(\"in a goroutine of Go's\") })\nwg.Wait()", "Panic: in a goroutine of Go's",
		"wg.Go(func() { must(strconv.Atoi(\"x\")) })\nwg.Wait()", "Error: strconv.Atoi: parsing \"x\": invalid syntax",
		"ended = make(chan int)\ntime.AfterFunc(0, func() { defer close(ended); panic(\"in a timer\") })\n<-ended\ntime.Sleep(time.Second)", "Panic: in a timer",
		"var once sync.Once\nfunc() (err any) { defer func() { err = recover() }(); once.Do(func() { panic(\"here\") }); return }()", "=> \"here\"",
		"c := make(chan int)\ngo func() { for i := range 3 { c <- i }; close(c) }()\nfor v := range c { fmt.Print(v, \" \") }", "0 1 2",
	}},
	{"compiled functions that are deferred, or called by go", []string{
		"type T int\nvar x any = T(3)\nx", "=> 3",
		"func (t T) String() string { return fmt.Sprint(\"T\", int(t)) }\nfmt.Println(x)", "T3",
		"func() { defer fmt.Println(x, \"later\"); defer fmt.Print(x, \" \") }()", "T3 T3 later",
		"r, w := io.Pipe()\ngo fmt.Fprintln(w, x)\nbufio.NewReader(r).ReadString('\\n')", "=> `T3\n`",
		"var wg sync.WaitGroup\nfunc() { defer wg.Go(func() { panic(\"in a deferred one\") }) }()\nwg.Wait()", "Panic: in a deferred one",
		"func() { defer wg.Go(func() { must(strconv.Atoi(\"x\")) }) }()\nwg.Wait()", "Error: strconv.Atoi: parsing \"x\": invalid syntax",
		"ended := make(chan int)\nfunc() { defer time.AfterFunc(0, func() { defer close(ended); panic(\"in a timer\") }) }()\n<-ended\ntime.Sleep(time.Second)", "Panic: in a timer",
		"ended = make(chan int)\ngo time.AfterFunc(0, func() { defer close(ended); panic(\"in a timer by go\") })\n<-ended\ntime.Sleep(time.Second)", "Panic: in a timer by go",
		"n := 0\nfunc() { var once sync.Once; defer once.Do(func() { n++ }); defer once.Do(func() { n += 10 }) }()\nn", "=> 10",
	}},
	{"dot imports", []string{
		"import . \"math\"\nSqrt(16)", "=> 4",
		"Sqrt(9), Pi > 3", "=> 3, true",
		"func hyp(a, b float64) float64 { return Sqrt(a*a + b*b) }\nhyp(3, 4)", "=> 5",
		"import . \"math\"\nAbs(-2)", "=> 2",
		"import . \"math/cmplx\"\nAbs(3 + 4i)", "=> 5",
		"Abs(3 + 4i), Cbrt(27)", "=> 5, 3",
		"import . \"strings\"\nvar b Builder\nb.WriteString(ToUpper(\"a\"))\nb.String()", "=> \"A\"",
		"var c Builder\nc.Len()", "=> 0",
		"func ToUpper(s string) string { return \"mine\" }\nToUpper(\"a\")", "=> \"mine\"",
		"ToUpper(\"a\")", "=> \"mine\"",
		"type t struct{ Repeat int }\nt{2}.Repeat", "=> 2",
		"Sprint(1)", "CompileError: In[12]:1:1: undefined: Sprint (did you mean print?)",
		"package main\n\nfunc main() { Repeat(\"a\", 2) }", "CompileError: In[13]:3:15: undefined: Repeat",
	}},
	{"bounds", []string{
		"a := []int{1, 2, 3}\ni := 3\na[i]", "Panic: runtime error: index out of range [3] with length 3",
		"i = -1\na[i] = 1", "Panic: runtime error: index out of range [-1]",
		"a[i+5]++", "Panic: runtime error: index out of range [4] with length 3",
		"s := \"abc\"\ns[i+9]", "Panic: runtime error: index out of range [8] with length 3",
		"var m [4]int\nm[i+6] += 2", "Panic: runtime error: index out of range [5] with length 4",
		"p := &m\np[i+7]", "Panic: runtime error: index out of range [6] with length 4",
		"a[i+2:i+6]", "Panic: runtime error: slice bounds out of range [:5] with capacity 3",
		"s[i+3:i+2]", "Panic: runtime error: slice bounds out of range [2:1]",
		"a[i:]", "Panic: runtime error: slice bounds out of range [-1:]",
		"a[0:1:i+8]", "Panic: runtime error: slice bounds out of range [::7] with capacity 3",
		"func sum(xs []int, n int) (t int) { for i := 0; i < n; i++ { t += xs[i] }; return t }\nsum(a, 4)", "Panic: runtime error: index out of range [3] with length 3",
		"sum(a, 3)", "=> 6",
		"func first(xs []int, ok bool) bool { return ok && xs[0] == 1 }\nfmt.Println(first(nil, false), first(a, true))\nfirst(nil, true)", "false true\nPanic: runtime error: index out of range [0] with length 0",
		"func swap(xs []int, i, j int) { xs[i], xs[j] = xs[j], xs[i] }\nswap(a, 0, 2)\nfmt.Println(a)\nswap(a, 1, 3)", "[3 2 1]\nPanic: runtime error: index out of range [3] with length 3",
	}},
	{"indices that may be negative, and others", []string{
		"func at(xs []int, i int) int { x := xs[i]; i = 0; return x + xs[i] }\nat([]int{1}, -1)", "Panic: runtime error: index out of range [-1]",
		"func before(xs []int) (s int) { for i := 2; i >= 0; i-- { k := i - 1; s += xs[k] }; return }\nbefore([]int{1, 2, 3})", "Panic: runtime error: index out of range [-1]",
		"func last(xs []int) int { k := 0; for j := len(xs); j > -5; j += -1 { k = j - 1 }; return xs[k] }\nlast([]int{1, 2})", "Panic: runtime error: index out of range [-5]",
		"func grid(a []int, n int) (s int) { for i := 0; i < n; i++ { for j := range n { k := i*n + j; s += a[k%len(a)] + a[i*n+j] } }; return }\ngrid([]int{1, 2, 3, 4}, 2)", "=> 20",
		"grid([]int{1, 2, 3}, 2)", "Panic: runtime error: index out of range [3] with length 3",
		"func down(xs []int) int { a, b := 1, 0; for range 3 { a, b = b, a-1 }; return xs[b] }\ndown([]int{7})", "Panic: runtime error: index out of range [-1]",
	}},
	{"unsafe", []string{
		"import \"unsafe\"\na := [4]uint64{1, 2, 3, 4}\nunsafe.Slice(&a[1], 2)", "=> []uint64{2, 3}",
		"var many [1 << 10]struct{}\nmost := 1<<63 - 1\nlen(make([]struct{}, most)), len(unsafe.Slice(&many[0], most))", "=> 9223372036854775807, 9223372036854775807",
		"n := 1 << 61\nunsafe.Slice(&a[0], n)", "Panic: runtime error: unsafe.Slice: len out of range",
		"unsafe.Slice((*int)(nil), n)", "Panic: runtime error: unsafe.Slice: ptr is nil and len is not zero",
	}},
	{"nil pointers", []string{
		"var p *int\n_ = *p", "Panic: runtime error: invalid memory address or nil pointer dereference",
		"m := map[string]int{\"a\": 1}\nm[\"a\"] = *p", "Panic: runtime error: invalid memory address or nil pointer dereference",
		"m", `=> map[string]int{"a": 1}`,
		"_ = map[int]int{1: *p}", "Panic: runtime error: invalid memory address or nil pointer dereference",
		"_ = &*p", "Panic: runtime error: invalid memory address or nil pointer dereference",
		"func(x int) {}(*p)", "Panic: runtime error: invalid memory address or nil pointer dereference",
		"len(*func() *[3]int { return nil }())", "Panic: runtime error: invalid memory address or nil pointer dereference",
		"type Q struct{}\nfunc (Q) String() string { panic(\"in String\") }\nQ{}", "=> %!v(PANIC=String method: in String)",
		"var e error\ne.Error()", "Panic: runtime error: invalid memory address or nil pointer dereference",
		"var e error\n_ = e.(fmt.Stringer)", "Panic: interface conversion: interface is nil, not fmt.Stringer",
		"_ = interface{ Len() int }(nil).(*list.List)", "Panic: interface conversion: interface { Len() int } is nil, not *list.List",
		"import \"container/list\"\n_ = interface{ Len() int }(nil).(*list.List)", "Panic: interface conversion: interface { Len() int } is nil, not *list.List",
	}},
	{"programs", []string{
		"package main\nimport \"fmt\"\nvar a = b + 1\nvar b = 2\nfunc main() { fmt.Println(a) }", "3",
		"1", "=> 1",
	}},
}

func TestScenarios(t *testing.T) {
	for _, sc := range scenarios {
		t.Run(sc.name, sc.test)
	}
}

// TestInterrupt ends cells that never would, and goes on with what they left.
func TestInterrupt(t *testing.T) {
	for _, code := range []string{
		"for { n++ }",
		"n = 1; for i := 0; ; i++ { n = i }",
		"n = 1; time.Sleep(time.Hour); n = 7",
		"n = 1; <-make(chan int); n = 7",
		"n = 1; make(chan int) <- 1; n = 7",
		"n = 1; select {}; n = 7",
		"n = 1; var mu sync.Mutex; mu.Lock(); mu.Lock(); n = 7",
		"n = 1; var wg sync.WaitGroup; wg.Add(1); wg.Wait(); n = 7",
		"func f(i int) { if i > 100 { return }; n = 1; f(i+1); f(i+1) }\nf(0)",
		"n = 1; var wg sync.WaitGroup; wg.Go(func() { for { n = 1 } }); wg.Wait(); n = 7",
		"n = 1; var wg sync.WaitGroup; func() { defer wg.Go(func() { for { n++ } }) }(); wg.Wait(); n = 7",
		"n = 1; go time.AfterFunc(0, func() { for { n++ } }); select {}",
		"n = 1; defer func() { recover() }(); for {}",
		"n = 1; func() { defer func() { recover() }(); for {} }(); n = 7",
		"n = 1; for range func(yield func(int) bool) { for yield(1) {} } {}",
	} {
		s := newSession(t)
		s.run("n := 0\nvar ticks atomic.Int64\ngo func() { for { ticks.Add(1); time.Sleep(time.Millisecond) } }()")
		// On a busy machine the first interrupt may come before the cell runs.
		for delay := 50 * time.Millisecond; delay < 20*time.Second; delay *= 6 {
			time.AfterFunc(delay, s.ev.Interrupt)
			done := make(chan string, 1)
			go func() { done <- s.run(code) }()
			select {
			case got := <-done:
				if !strings.HasPrefix(got, "Interrupted: ") {
					t.Errorf("%s\ngave %s", code, got)
				}
			case <-time.After(delay + 20*time.Second):
				t.Fatalf("%s\nis not interrupted", code)
			}
			if s.run("n == 0") != "=> true\n" {
				break
			}
		}
		if got := s.run("n > 0 && n != 7"); got != "=> true\n" {
			t.Errorf("%s\nleft n > 0 && n != 7 %s", code, got)
		}
		if got := s.run("seen := n\ntime.Sleep(20 * time.Millisecond)\nseen == n"); got != "=> true\n" {
			t.Errorf("%s\ngoes on after the interrupt: %s", code, got)
		}
		if got := s.run("before := ticks.Load()\nfor ticks.Load() == before { time.Sleep(time.Millisecond) }\ntrue"); got != "=> true\n" {
			t.Errorf("%s\nstopped another cell's goroutine: %s", code, got)
		}
	}
}

// TestInterruptedCellsCleanUp: what is deferred runs to its end, unless it takes long.
func TestInterruptedCellsCleanUp(t *testing.T) {
	for _, code := range []string{
		"work()",
		"do(func() { work() })",
		"do(func() { defer tidy(\"c\"); do(work) })",
		"do(func() { defer func() { for { rounds++ } }(); work() })",
		"done := make(chan bool)\ngo func() { defer close(done); work() }()\n<-done",
	} {
		s := newSession(t)
		s.run(`rounds, started, cleaned := 0, false, ""
func do(f func()) { f() }
func tidy(s string) { for range 3 { cleaned += s }; do(func() { cleaned += "." }) }
func work() { defer tidy("a"); defer func() { tidy("b") }(); started = true; for {} }`)
		// On a busy machine the first interrupt may come before the cell runs.
		for delay := 50 * time.Millisecond; delay < 20*time.Second; delay *= 6 {
			time.AfterFunc(delay, s.ev.Interrupt)
			if got := s.run(code); !strings.HasPrefix(got, "Interrupted: ") {
				t.Errorf("%s\ngave %s", code, got)
			}
			if s.run("started") == "=> true\n" {
				break
			}
		}
		want := "bbb.aaa."
		if strings.Contains(code, "tidy") {
			want += "ccc."
		}
		if got := s.run("cleaned"); got != "=> \""+want+"\"\n" {
			t.Errorf("%s\nleft %s, want %s", code, got, want)
		}
		if got := s.run("seen := rounds\ntime.Sleep(20 * time.Millisecond)\nseen == rounds"); got != "=> true\n" {
			t.Errorf("%s\ngoes on after the interrupt: %s", code, got)
		}
	}
}

// TestInterruptOfAPanic: one on its way through a deep recursion, which takes the
// interpreter minutes, ends.
func TestInterruptOfAPanic(t *testing.T) {
	s := newSession(t)
	panics := filepath.Join(t.TempDir(), "panics")
	s.run(fmt.Sprintf("n := 0\nfunc deep(i int) { if i == 0 { n = 1; os.WriteFile(%q, nil, 0o600); panic(7) }; deep(i - 1) }", panics))
	go func() {
		for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if _, err := os.Stat(panics); err == nil {
				break
			}
		}
		time.Sleep(100 * time.Millisecond)
		s.ev.Interrupt()
	}()
	if got := s.run("deep(30_000)"); !strings.HasPrefix(got, "Interrupted: ") {
		t.Errorf("gave %s", got)
	}
	for end := time.Now().Add(30 * time.Second); s.ev.Goroutines()["In[2]"] > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("goes on after the interrupt")
		}
	}
	if got := s.run("n"); got != "=> 1\n" {
		t.Errorf("n %s", got)
	}
}

// interrupting is Modules that interrupt the cell that imports from them.
type interrupting struct{ ev *Evaluator }

func (i interrupting) Sources(path string, _ func(string) bool) ([]SourcePackage, error) {
	i.ev.Interrupt()
	return []SourcePackage{{Path: path, Files: []File{{"a.go", "package a\nconst A = 1"}}}}, nil
}
func (interrupting) Changed() []string  { return nil }
func (interrupting) Packages() []string { return nil }

// TestInterruptOfCompiling: an interrupt that comes before the cell runs is not lost.
func TestInterruptOfCompiling(t *testing.T) {
	s := newSession(t)
	s.ev.options.Modules = interrupting{s.ev}
	done := make(chan string, 1)
	go func() { done <- s.run("import \"example.com/a\"\nn := a.A\nfor { n++ }") }()
	select {
	case got := <-done:
		if !strings.HasPrefix(got, "Interrupted: ") {
			t.Errorf("gave %s", got)
		}
	case <-time.After(time.Minute):
		t.Fatal("is not interrupted")
	}
	if got := s.run("1 + 1"); got != "=> 2\n" {
		t.Errorf("the next cell gave %s", got)
	}
}
