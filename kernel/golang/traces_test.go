package golang

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gocuda/kernel/golang/rt"
)

// traces are cells, the last of which panics, with the lines of its trace.
var traces = []struct {
	name  string
	cells []string
	want  string
}{
	{"calls of a function in itself have lines of their own", []string{
		"func f(i int) int {\n\tif i == 0 {\n\t\tvar p *int\n\t\treturn *p\n\t}\n\treturn f(i-1) + 1\n}\nf(2)",
	}, "1:4:3 main.f, 1:6:2 main.f (2 times), 1:8:1"},
	{"goroutines in one function have lines of their own", []string{`func work(i int) {
	for {
		if i == 3 {
			time.Sleep(20 * time.Millisecond)
			fail()
		}
		idle()
	}
}
func idle() { time.Sleep(time.Millisecond) }
func fail() {
	idle()
	panic("fails")
}
for i := range 4 {
	go work(i)
}
time.Sleep(5 * time.Second)`,
	}, "1:13:2 main.fail, 1:5:4 main.work"},
	{"the newest version of a function alone", []string{
		"func g() { panic(1) }\nfunc f() {\n\tg()\n}",
		"func g() {\n\n\tpanic(2)\n}",
		"func g() {\n\tpanic(3)\n}",
		"f()",
	}, "3:2:2 main.g, 1:3:2 main.f, 4:1:1"},
	{"literals have Go's names", []string{
		"func f() {\n\tfunc() {\n\t\tfunc() { panic(3) }()\n\t}()\n}\nfunc() { f() }()",
	}, "1:3:12 main.f.func1.1, 1:3:3 main.f.func1, 1:2:2 main.f, 1:6:10 func1, 1:6:1"},
	{"the case of a switch", []string{
		"zero := 0\nprintln()\nswitch 5 {\ncase 1:\ncase 2,\n\t5 / zero:\n}",
	}, "1:6:2"},
	{"a call in the case of a switch", []string{
		"func f() bool { panic(1) }\nswitch {\ncase false:\ncase f():\n}",
	}, "1:1:17 main.f, 1:4:6"},
	{"an index in the case of a switch", []string{
		"var a []int\nprintln()\nswitch {\ncase false:\ncase a[2] > 0:\n}",
	}, "1:5:6"},
	{"a comparison of structures", []string{
		"a := struct{ x any }{[]int{}}\nprintln()\nb := 1\n_ = a == a && b > 0",
	}, "1:4:1"},
	{"a key of a literal that has no hash", []string{
		"var k any = []int{}\nprintln()\nb := 1\n_ = map[any]int{k: b}",
	}, "1:4:1"},
	{"must is not a function of the cell", []string{
		"func f() error { return errors.New(\"bad\") }\nfunc g() {\n\tmust(f())\n}\ng()",
	}, "1:3:2 main.g, 1:5:1"},
	{"a panic that replaces another", []string{
		"func f() {\n\tdefer func() {\n\t\tpanic(2)\n\t}()\n\tpanic(1)\n}\nf()",
	}, "1:3:3 main.f.func1, 1:5:2 main.f, 1:7:1"},
	{"a panic that was recovered and goes on", []string{
		"func f() {\n\tdefer func() {\n\t\tpanic(recover())\n\t}()\n\tg()\n}\nfunc g() {\n\tpanic(1)\n}\nf()",
	}, "1:3:3 main.f.func1, 1:8:2 main.g, 1:5:2 main.f, 1:10:1"},
	{"a panic that a deferred call saw", []string{
		"func quiet() { defer func() { recover() }(); panic(0) }\nfunc f() {\n\tdefer quiet()\n\tpanic(1)\n}\nf()",
	}, "1:4:2 main.f, 1:6:1"},
	{"through compiled functions", []string{
		"sort.Slice([]int{2, 1}, func(i, j int) bool {\n\tvar m map[int]int\n\tm[1] = 1\n\treturn true\n})",
	}, "1:3:2 func1, 1:1:1"},
	{"through interfaces", []string{
		"type T struct{}\nfunc (T) M() {\n\tpanic(1)\n}\ntype U struct{ T }\nfunc do(i interface{ M() }) {\n\ti.M()\n}\ndo(U{})",
	}, "1:3:2 main.T.M, 1:7:2 main.do, 1:9:1"},
	{"out of a loop over a function", []string{
		"n := 0\nfor range func(yield func(int) bool) {\n\tyield(1)\n} {\n\tn = 1 / n\n}",
	}, "1:5:2, 1:3:2 func1, 1:2:1"},
	{"main", []string{"func main() {\n\tpanic(1)\n}"}, "1:2:2 main.main, 1"},
	{"an index in a loop", []string{
		"func sum(xs []int) (s int) {\n\tfor i := range 4 {\n\t\tif i > 0 {\n\t\t\ts += xs[i]\n\t\t}\n\t}\n\treturn s\n}\nsum([]int{1, 2})",
	}, "1:4:4 main.sum, 1:9:1"},
}

func TestTraces(t *testing.T) {
	for _, test := range traces {
		t.Run(test.name, func(t *testing.T) {
			s := newSession(t)
			var failed *Error
			for i, code := range test.cells {
				failed = s.ev.Eval(fmt.Sprint(i+1), code, false).Err
				if failed != nil && i < len(test.cells)-1 {
					t.Fatal(failed)
				}
			}
			if failed == nil {
				t.Fatal("nothing failed")
			}
			var calls []string
			for _, line := range failed.Traceback {
				if line = withoutColour(line); strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, sourceIndent) {
					calls = append(calls, strings.Join(strings.Fields(line), " "))
				}
			}
			if got := strings.Join(calls, ", "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// What Go's runtime writes of panics during panics; Go's words are those of go run.
func TestPanicsDuringPanics(t *testing.T) {
	const more = `
type T struct{ n int }
func (t T) f() { var p *T; p.n = t.n }
func late() { defer early(); var s []int; s[len(os.Args)-len(os.Args)] = 1 }
func early() { panic("early") }
`
	for _, test := range []struct{ code, want string }{
		{`defer func() { panic("second") }(); panic("first")`, "panic: first|\tpanic: second"},
		{`defer func() { panic(fmt.Sprint("again ", recover())) }(); panic("first")`, "panic: first [recovered]|\tpanic: again first"},
		{`defer func() { panic(recover()) }(); panic("first")`, "panic: first [recovered, repanicked]"},
		{`defer func() { panic(recover()) }(); defer func() { panic(recover()) }(); panic("first")`, "panic: first [recovered, repanicked]"},
		{`defer func() { panic("last") }(); defer func() { panic(recover()) }(); panic("first")`, "panic: first [recovered, repanicked]|\tpanic: last"},
		{`defer func() { panic("third") }(); defer func() { panic("second") }(); panic("first")`, "panic: first|\tpanic: second|\tpanic: third"},
		{`defer func() { defer func() { panic("third") }(); panic("second") }(); panic("first")`, "panic: first|\tpanic: second|\tpanic: third"},
		{`defer func() { defer func() { recover(); panic("third") }(); panic("second") }(); panic("first")`, "panic: first|\tpanic: second [recovered]|\tpanic: third"},
		{`defer func() { func() { defer func() { recover() }(); panic("second") }() }(); panic("first")`, "panic: first"},
		{`defer func() { func() { defer func() { recover() }(); panic("second") }(); panic("third") }(); panic("first")`, "panic: first|\tpanic: third"},
		{`func() { defer func() { recover() }(); panic("first") }(); panic("second")`, "panic: second"},
		{`c := make(chan int); defer close(c); close(c); panic("first")`, "panic: first|\tpanic: close of closed channel"},
		{`defer T{}.f(); panic("first")`, "panic: first|\tpanic: runtime error: invalid memory address or nil pointer dereference"},
		{`late()`, "panic: runtime error: index out of range [0] with length 0|\tpanic: early"},
		{`defer func() { os.Exit(3) }(); panic("first")`, "Exit: the cell called os.Exit(3); the notebook goes on"},
		{`code := 7; defer os.Exit(code); code = 3`, "Exit: the cell called os.Exit(7); the notebook goes on"},
	} {
		s := newSession(t)
		err := s.ev.Eval("1", "func() {\n"+test.code+"\n}()\n"+more, false).Err
		if err == nil {
			t.Fatal("does not fail: ", test.code)
		}
		var heads []string
		for _, line := range err.Traceback {
			if line = withoutColour(line); !strings.HasPrefix(line, "    ") {
				heads = append(heads, line)
			}
		}
		if got := strings.Join(heads, "|"); got != test.want {
			t.Errorf("%s\ngot  %q\nwant %q", test.code, got, test.want)
		}
	}
}

// A deferred call's panic is told about a goroutine that ends by runtime.Goexit, too.
func TestPanicDuringGoexit(t *testing.T) {
	s := newSession(t)
	err := s.ev.Eval("1", "go func() {\n\tdefer func() { panic(1) }()\n\truntime.Goexit()\n}()\nselect {}", false).Err
	if err == nil || err.Message != "1" {
		t.Error(err)
	}
}

// Each line of a trace that is a cell's is followed by its source.
func TestTracesShowTheirLines(t *testing.T) {
	s := newSession(t)
	s.run("func first[T any](xs []T) T {\n\tdefer func() {}()\n\treturn xs[0] // of none\n}")
	res := s.ev.Eval("In[2]", "xs := []string{}\nslices.SortFunc([]int{1, 2}, func(a, b int) int {\n\tfirst(xs)\n\treturn 0\n})", false)
	want := `panic: runtime error: index out of range [0] with length 0
    In[1]:3:2  main.first
        return xs[0] // of none
    In[2]:3:2  func1
        first(xs)
    slices:37:15  slices.insertionSortCmpFunc
    slices:98:4  slices.pdqsortCmpFunc
    slices:17:2  slices.SortFunc
    In[2]:2:1
        slices.SortFunc([]int{1, 2}, func(a, b int) int {`
	if res.Err == nil {
		t.Fatal("does not panic")
	}
	var lines []string
	for _, line := range res.Err.Traceback {
		lines = append(lines, strings.TrimRight(withoutColour(line), " "))
	}
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Generic functions of the library over numbers and strings, and over types made of them,
// are compiled: they have no frames of their own.
func TestLibraryInstancesAreCompiled(t *testing.T) {
	s := newSession(t)
	s.run("type Celsius float64\ntype pair struct{ a, b int }")
	for code, want := range map[string]bool{
		"slices.Max([]Celsius{})":                                    true,
		"slices.MaxFunc([]pair{}, func(a, b pair) int { return 0 })": false,
	} {
		res := s.ev.Eval("In[2]", code, false)
		if res.Err == nil {
			t.Fatal(code, "does not panic")
		}
		if got := !strings.Contains(strings.Join(res.Err.Traceback, "\n"), "slices:"); got != want {
			t.Errorf("%s: compiled: %v\n%s", code, got, strings.Join(res.Err.Traceback, "\n"))
		}
	}
}

// Mistakes come with what the misspelt name may have meant, and with what the
// checker has to say besides.
func TestMistakes(t *testing.T) {
	s := newSession(t)
	s.ev.options.Hint = func(mistake, source string) string {
		if strings.HasPrefix(mistake, "cannot use true") {
			return "hinted " + source
		}
		return ""
	}
	s.ev.options.Elsewhere = map[string]string{"rank": "in other cells"}
	s.run("type B struct{ Name string }\nfunc (*B) Push(int) {}\ntype D struct {\n\tB\n\tAge int\n\tcount int\n}\nvar d D\nvar e error\nfunc norm(D) int { return 1 }")
	for code, want := range map[string]string{
		"d.Psh(1)":                        "1:3: d.Psh undefined (type D has no field or method Psh) (did you mean Push?)",
		"d.Nmae":                          "1:3: d.Nmae undefined (type D has no field or method Nmae) (did you mean Name?)",
		"e.Eror()":                        "1:3: e.Eror undefined (type error has no field or method Eror) (did you mean Error?)",
		"d.cuont":                         "1:3: d.cuont undefined (type D has no field or method cuont) (did you mean count?)",
		"strings.NewReader(``).S()":       "1:23: strings.NewReader(``).S undefined (type *strings.Reader has no field or method S)",
		"x := &D{Agee: 1}":                "1:9: unknown field Agee in struct literal of type D (did you mean Age?)",
		"fmt.Printn(1)":                   "1:5: undefined: fmt.Printn (did you mean Println?)",
		"strngs.ToUpper(\"a\")":           "1:1: undefined: strngs (did you mean strings?)",
		"rank + 1":                        "1:1: undefined: rank (rank is in other cells)",
		"x := os.Open(``)":                "1:6: assignment mismatch: 1 variable but os.Open returns 2 values (must(...) around the call takes its error, and fails the cell on one)",
		"x := strings.CutPrefix(``, ``)":  "1:6: assignment mismatch: 1 variable but strings.CutPrefix returns 2 values",
		"var b int = true":                "1:13: cannot use true (untyped bool constant) as int value in variable declaration (hinted true)",
		"rand.NewPCG(1, 2)":               `1:6: undefined: rand.NewPCG (NewPCG is in "math/rand/v2": import it)`,
		"strings.WriteString(1)":          "1:9: undefined: strings.WriteString (WriteString is a method of strings.Builder, strings.Replacer)",
		"strings.NewReader(``).Repeat()":  "1:23: strings.NewReader(``).Repeat undefined (type *strings.Reader has no field or method Repeat) (Repeat is a function: strings.Repeat)",
		"d.push(1)":                       "1:3: d.push undefined (type D has no field or method push, but does have method Push)",
		"d.norm()":                        "1:3: d.norm undefined (type D has no field or method norm) (norm is a function)",
		"switch 1 {\ncase 2:\ncase 2:\n}": "3:6: duplicate case 2 (constant of type int) in expression switch\n\tprevious case at In:2:6",
		"y :=":                            "1:5: syntax error: unexpected end of the cell, expected expression",
	} {
		res := s.ev.Eval("In", code, false)
		if res.Err == nil {
			t.Errorf("%s: no error", code)
			continue
		}
		text := withoutColour(strings.Join(res.Err.Traceback, "\n"))
		if !strings.HasPrefix(text, "In:"+want+"\n") {
			t.Errorf("%s\ngave %s\nwant %s", code, text, want)
		}
	}
}

// A mistake is shown once, also where go/types says it twice; what is a habit of
// other languages comes with what to write.
func TestMistakesAreShownOnce(t *testing.T) {
	s := newSession(t)
	s.run("p, f := new(strings.Builder), func() ([]int, error) { return nil, nil }")
	for code, want := range map[string]string{
		"fmt.Println(p[0])": "In:1:13: cannot index p (variable of type *strings.Builder)\n    fmt.Println(p[0])\n                ^",
		"f()[0] = 1":        "In:1:1: multiple-value f() (value of type ([]int, error)) in single-value context\n    f()[0] = 1\n    ^\nmust(...) around the call takes its value, and fails the cell on an error",
		"must(p)":           "In:1:6: cannot use p (variable of type *strings.Builder) as error value in argument to must: *strings.Builder does not implement error (missing method Error)\n    must(p)\n         ^\nmust takes a call whose last result is an error: leave it out here",
	} {
		res := s.ev.Eval("In", code, false)
		if res.Err == nil {
			t.Fatalf("%s: no error", code)
		}
		if text := withoutColour(strings.Join(res.Err.Traceback, "\n")); text != want || strings.Contains(res.Err.Message, "more") {
			t.Errorf("%s\ngave %s\n(%s)\nwant %s", code, text, res.Err.Message, want)
		}
	}
}

// namedError is an error with a name, as those of packages cuda and mpi.
type namedError struct{ name, text string }

func (n namedError) Name() string  { return n.name }
func (n namedError) Error() string { return n.text }

// An error's name stands once in the trace.
func TestErrorsAreNamedOnce(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{namedError{"MPI_ERR_RANK", "Comm.Send: MPI_ERR_RANK: dest 9"}, "Comm.Send: MPI_ERR_RANK: dest 9"},
		{namedError{"NoRanks", "start some"}, "NoRanks: start some"},
		{errors.New("Error 1 of 2"), "Error: Error 1 of 2"},
		{rt.Exit{Code: 3}, "Exit: the cell called os.Exit(3); the notebook goes on"},
	} {
		var why error = rt.Failure{Err: c.err}
		if exit, ok := c.err.(rt.Exit); ok {
			why = exit
		}
		e := new(texts).panicError(why, rt.Trace{})
		if got := withoutColour(e.Traceback[0]); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// JupyterLab draws errors on a light and on a dark background: no colour of the text can be
// read on both. Names and places are bold.
func TestErrorsHaveNoColours(t *testing.T) {
	for _, code := range []string{"panic(1)", "x := undefinedName", "1 +", "must(strconv.Atoi(`x`))", "import `no/such`", "os.Exit(1)",
		"var a []int\na[1]", "must(1, fmt.Errorf(`two\nlines`))"} {
		res := newSession(t).ev.Eval("In", code, false)
		if res.Err == nil {
			t.Errorf("%q does not fail", code)
			continue
		}
		text := strings.Join(res.Err.Traceback, "\n")
		for _, c := range []string{bold, faint, plain} {
			text = strings.ReplaceAll(text, c, "")
		}
		if strings.Contains(text, "\x1b") || !strings.Contains(res.Err.Traceback[0], bold) {
			t.Errorf("%q: %q", code, res.Err.Traceback)
		}
	}
}
