package golang

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"gocuda/kernel/golang/lower"
)

// Functions that the interpreter has forgotten are the same when cells name them again:
// here it forgets all of them after each cell.
func TestForgottenFunctions(t *testing.T) {
	kept := functionsKept
	functionsKept = 0
	defer func() { functionsKept = kept }()
	for _, s := range []scenario{
		{"calls", []string{
			"count := 0\nfunc inc() int { count++; return count }\nfunc twice() int { inc(); return inc() }\ntwice()", "=> 2",
			"twice(), inc(), count", "=> 4, 5, 5",
			"func even(n int) bool { return n == 0 || odd(n-1) }\nfunc odd(n int) bool { return n != 0 && even(n-1) }\neven(10)", "=> true",
			"odd(7), even(7)", "=> true, false",
			"hold := inc\nhold()", "=> 6",
			"func inc() int { count += 100; return count }", "",
			"inc(), hold(), twice()", "=> 106, 206, 406",
			"func inc() int { return -1 }\ninc(), hold(), twice()", "=> -1, -1, -1",
			"func twice() string { return \"two\" }\ntwice()", `=> "two"`,
		}},
		{"methods, literals and types", []string{
			"type T struct{ n int }\nfunc (t *T) Add(k int) *T { t.n += k; return t }\nfunc (t T) String() string { return fmt.Sprint(\"T\", t.n) }\nvar s fmt.Stringer = T{3}\ns.String()", `=> "T3"`,
			"v := &T{1}\nv.Add(2).Add(3).String(), s.String(), fmt.Sprint(*v)", `=> "T6", "T3", "T6"`,
			"func take(f func(struct{ a int }) struct{ b int }) struct{ b int } { return f(struct{ a int }{4}) }", "",
			"take(func(x struct{ a int }) struct{ b int } { return struct{ b int }{x.a + 1} }).b", "=> 5",
			"func gen[E any](list ...E) (n int) { for range list { n++ }; return }\ngen(1, 2)", "=> 2",
			"gen(\"a\"), gen(1, 2, 3)", "=> 1, 3",
			"func next() func() int { n := 0; return func() int { n++; return n } }\nf, g := next(), next()", "",
			"f(), f(), g(), next()()", "=> 1, 2, 1, 1",
		}},
		{"errors", []string{
			"func bad(n int) int { return 10 / n }\nbad(5)", "=> 2",
			"bad(0)", "Panic: runtime error: integer divide by zero",
			"bad(2)", "=> 5",
		}},
	} {
		t.Run(s.name, s.test)
	}
}

// A long session has few functions in the interpreter.
func TestFunctionsAreForgotten(t *testing.T) {
	ev, err := New(Options{Stdout: io.Discard, Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 * functionsKept {
		if r := ev.Eval(fmt.Sprintf("In[%d]", i), fmt.Sprintf("func f%d() int { return %d }\nx := f%d()", i, i, i), false); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	n := 0
	for it := ev.symbols().MapRange(); it.Next(); {
		if name := it.Key().String(); strings.HasPrefix(name, "f_") && !strings.HasSuffix(name, "_r") && !strings.HasSuffix(name, "_w") {
			n++
		}
	}
	if n > 2*functionsKept {
		t.Errorf("%d functions, at most %d are to be kept", n, 2*functionsKept)
	}
	if r := ev.Eval("last", "f0() + f7() + x", false); r.Err != nil || r.Value.Data["text/plain"] != fmt.Sprint(7+10*functionsKept-1) {
		t.Errorf("%+v", r)
	}
}

// A session that has no numbers for loops left says so in %compile.
func TestLoopsRunOut(t *testing.T) {
	ev, err := New(Options{Stdout: io.Discard, Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if !ev.wantsLoops() {
		t.Skip("loops are not compiled here")
	}
	ev.loops.numbers.flags = nil
	ev.Eval("In[7]", "n := 0\nfor i := range 10 {\n\tn += i\n}", false)
	list := ev.Compiled()
	if len(list) != 1 || list[0].Cell != "In[7]" || !strings.Contains(list[0].Reason, "%reset begins again") {
		t.Errorf("%+v", list)
	}
}

// The numbers of loops are free again once nothing can run them, and so is the text of
// functions that others replaced. A function that the interpreter has forgotten keeps its.
func TestLoopNumbersAreFreed(t *testing.T) {
	ev, err := New(Options{Stdout: io.Discard, Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if !ev.wantsLoops() {
		t.Skip("loops are not compiled here")
	}
	kept := functionsKept
	functionsKept = 0
	defer func() { functionsKept = kept }()
	eval := func(code, want string) {
		t.Helper()
		r := ev.Eval("In[1]", code, false)
		if r.Err != nil {
			t.Fatalf("%s: %v", code, r.Err.Plain())
		}
		if want != "" && r.Value.Data["text/plain"] != want {
			t.Errorf("%s: %v, want %s", code, r.Value.Data["text/plain"], want)
		}
	}
	eval("func keep(n int) (s int) {\n\tfor i := 0; i < n; i++ {\n\t\ts += i\n\t}\n\treturn\n}", "")
	const cells = 50
	for i := range cells {
		eval(fmt.Sprintf("func work(x float64, n int) (s float64) {\n\tadd := func() {\n\t\tfor i := 0; i < n; i++ {\n\t\t\ts += x\n\t\t}\n\t}\n\tadd()\n\treturn s + %d\n}\nhold := work\nfor i := range 3 {\n\twork(2, i)\n}\nfunc() {\n\tfor range 3 {\n\t}\n}()\nwork(2, 3)", i), fmt.Sprint(6+i))
	}
	live := 0
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		runtime.GC()
		if live = len(ev.loops.numbers.all()); live < 10 {
			break
		}
	}
	if live >= 10 {
		t.Errorf("%d loops have numbers after %d cells with three each", live, cells)
	}
	eval("keep(5), work(1, 2), hold(1, 2)", fmt.Sprintf("10, %d, %d", 2+cells-1, 2+cells-1))
	for range 20 {
		eval("func again(n int) int {\n\tfor i := range n {\n\t\tn += i\n\t}\n\treturn keep(n)\n}\nagain(4)", "45")
	}
	literals := 0
	for name := range ev.functions.known {
		if lower.IsLiteral(name) {
			literals++
		}
	}
	if literals > 2 {
		t.Errorf("%d literals are known, of two functions", literals)
	}
}
