//go:build unix

package evaluator

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ebitengine/purego"

	"gocuda/kernel/session"
	"gocuda/kernel/session/sessiontest"
)

// The evaluators of these tests are this test binary again.
func TestMain(m *testing.M) {
	if os.Getenv("GOCUDA_TEST_EVALUATOR") == "" {
		os.Exit(m.Run())
	}
	if err := Main(nil, func(*Host) Extension { return Extension{Builtins: testFunctions} }); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// These tests run Go cells in the real evaluator, as a notebook does.

// testFunctions do what only a fault in a C library does.
var testFunctions = map[string]any{
	"testSegfault": func() { purego.SyscallN(sessiontest.CFunction("strlen"), 0) },
	"testExit":     func(status int) { purego.SyscallN(sessiontest.CFunction("exit"), uintptr(status)) },
	"testPuts":     func(s string) { purego.SyscallN(sessiontest.CFunction("puts"), sessiontest.CString(s)) },
}

func startReal(t testing.TB, change func(*session.Options)) *sessiontest.Harness {
	t.Helper()
	return sessiontest.Start(t, func(o *session.Options) {
		o.Env = []string{"GOCUDA_TEST_EVALUATOR=real", "GORACE=atexit_sleep_ms=0 report_bugs=0", "GOCUDA_BACKEND=sim"}
		o.InterruptPatience = time.Hour
		if change != nil {
			change(o)
		}
	})
}

func TestGoCells(t *testing.T) {
	h := startReal(t, nil)
	h.Shows("x := 40", "")
	h.Shows("x + 2", "[value 42]\n")
	h.Shows("fmt.Println(x)\nx++", "40\n")
	h.Shows("x", "[value 41]\n")
	h.Shows("x;", "")
	h.Shows(`fmt.Println("before"); display.Show(x); fmt.Println("after"); "last"`, "before\n[display 41]\nafter\n[value \"last\"]\n")
	h.Shows("fmt.Fprint(os.Stderr, `loud`)", "[stderr]loud")
	h.Shows("fmt.Println(1)\ntestPuts(`two`)\nfmt.Println(3)\ndisplay.Show(4)\ntestPuts(`five`)", "1\ntwo\n3\n[display 4]\nfive\n")
	h.Shows("for i := range 3 { fmt.Print(i) }", "012")
	h.Fails("y := undefinedName", "CompileError", "undefinedName")
	h.Fails("panic(`oh no`)", "oh no")
	h.Shows("x", "[value 41]\n")
	r := sessiontest.Within(t, "silent", func() session.Result { return h.Execute(session.Cell{Name: "In[2]", Code: "x", Silent: true}) })
	if got := h.Shown(); r.Err != nil || got != "" {
		t.Errorf("a silent cell gave %+v and showed %q", r, got)
	}
}

func TestManyLinesOfGo(t *testing.T) {
	h := startReal(t, nil)
	var want strings.Builder
	for i := range 5000 {
		fmt.Fprintln(&want, "line", i)
	}
	h.Shows(`for i := range 5000 { fmt.Println("line", i) }`, want.String())
}

func TestUserExpressions(t *testing.T) {
	h := startReal(t, nil)
	r := sessiontest.Within(t, "the cell", func() session.Result {
		return h.Execute(session.Cell{Code: "n := 20", Expressions: map[string]string{"good": "n + 1", "bad": "nonesuch"}})
	})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	if e := r.Expressions["good"]; e.Err != nil || e.Value == nil || e.Value.Data["text/plain"] != "21" {
		t.Errorf("n + 1 is %+v", e)
	}
	if e := r.Expressions["bad"]; e.Err == nil || !strings.Contains(e.Err.Message, "nonesuch") {
		t.Errorf("nonesuch is %+v", e)
	}
}

// The values of Go in the arguments of magics.
func TestValuesInMagics(t *testing.T) {
	h := startReal(t, nil)
	dir := t.TempDir()
	h.Succeed(fmt.Sprintf("type name string\ndir, n, k, wait, list := %q, name(\"a file\"), 3, time.Second, []int{1}", dir))
	h.Fails("%%writefile {dir}/$n-{k+1}-{wait}.txt {list}\nx", "list is not a number, string or bool")
	h.Shows("%%writefile {dir}/$n-{k+1}-{wait}.txt\ntext\n", "Wrote "+dir+"/a file-4-1s.txt (5 bytes)\n")
	h.Shows("%cd $dir\n!ls", dir+"\na file-4-1s.txt\n")
	h.Fails("\n\n%cd {dir}/$nosuch", "undefined: nosuch")
	r := h.Run("\n%cd {nosuch + 1}")
	if r.Err == nil || !strings.Contains(r.Err.Message, ":2:6: undefined: nosuch") {
		t.Errorf("an undefined name: %+v", r.Err)
	}
	h.Fails("%cd {1/0}", "division by zero")
	h.Fails("%cd {[]int{}[k]}", "index out of range")
}

func TestMagics(t *testing.T) {
	h := startReal(t, nil)
	h.Shows("!echo from the shell", "from the shell\n")
	h.Shows("%%bash\nfor i in 1 2; do echo $i; done", "1\n2\n")
	h.Succeed("alpha := 1")
	h.Succeed("%who")
	if got := h.Shown(); got != "var  alpha  int  1\n" {
		t.Errorf("%%who shows %q", got)
	}
	h.Succeed("%whos")
	if got := h.Shown(); !strings.Contains(got, "alpha  int   1          8") {
		t.Errorf("%%whos shows %q", got)
	}
	h.Succeed("buffer := must(must(cuda.Devices())[0].Alloc(4096, cuda.Float32))\nboth := []*cuda.Buffer{buffer, buffer, nil}")
	h.Succeed("%whos")
	if got := regexp.MustCompile(`(?m)(buffer|both) .* (\d+)\]?$`).FindAllStringSubmatch(h.Shown(), -1); len(got) != 2 || got[0][2] != "16432" || got[1][2] != "16384" {
		t.Errorf("%%whos shows of buffers %q", got)
	}
	h.Fails("%nonesuch", "nonesuch")
	h.Succeed("%reset")
	h.Fails("alpha", "alpha")
	if r := h.Run("%pinfo fmt.Println"); r.Err != nil || r.Pager == nil || !strings.Contains(fmt.Sprint(r.Pager.Data["text/plain"]), "Println") {
		t.Errorf("%%pinfo gave %+v", r)
	}
	h.Succeed("%time 6 * 7")
	if got := h.Shown(); !strings.Contains(got, "Wall time") || !strings.Contains(got, "[value 42]") {
		t.Errorf("%%time shows %q", got)
	}
}

func TestGoInput(t *testing.T) {
	h := startReal(t, func(o *session.Options) {
		o.Input = func(prompt string, password bool) (string, error) {
			return fmt.Sprintf("%s/%v", prompt, password), nil
		}
	})
	h.Shows(`input("name?")`, `[value "name?/false"]`+"\n")
	h.Shows(`s := password("secret?"); fmt.Println(s)`, "secret?/true\n")
	r := sessiontest.Within(t, "the cell", func() session.Result { return h.Execute(session.Cell{Name: "In[1]", Code: `input("x")`}) })
	if r.Err == nil || r.Restarted || !strings.Contains(sessiontest.Text(r.Err), "does not take input") {
		t.Errorf("input in a cell that must not ask gave %+v", r)
	}
}

// What Go's own books use asks the user too.
func TestGoStandardInput(t *testing.T) {
	var lines []string
	h := startReal(t, func(o *session.Options) {
		o.Input = func(prompt string, password bool) (string, error) {
			if len(lines) == 0 || prompt != "" || password {
				return "", fmt.Errorf("asked %q/%v with %q left", prompt, password, lines)
			}
			line := lines[0]
			lines = lines[1:]
			return line, nil
		}
	})
	for _, test := range []struct {
		typed       []string
		code, shown string
	}{
		{[]string{"Ann"}, "var name string\nfmt.Println(`Name?`)\nfmt.Scanln(&name)\nfmt.Println(`hi`, name)", "Name?\nhi Ann\n"},
		{[]string{"3 4"}, "var a, b int\nfmt.Scan(&a)\nfmt.Scan(&b)\na + b", "[value 7]\n"},
		{[]string{"3", "4 left"}, "var c, d int\nfmt.Scanf(\"%d\\n%d\", &c, &d)\nc * d", "[value 12]\n"},
		{[]string{"one", "two words"}, "s := bufio.NewScanner(os.Stdin)\nfor range 2 { s.Scan(); fmt.Println(s.Text()) }", "one\ntwo words\n"},
		{[]string{"é"}, "r := bufio.NewReader(os.Stdin)\nline, err := r.ReadString('\\n')\nfmt.Printf(`%q %v`, line, err)", `"é\n" <nil>`},
		{[]string{`{"A": 5}`}, "var v struct{ A int }\nin := os.Stdin\njson.NewDecoder(in).Decode(&v)\nv.A", "[value 5]\n"},
	} {
		lines = test.typed
		h.Shows(test.code, test.shown)
		if len(lines) > 0 {
			t.Errorf("%s\nleft %q", test.code, lines)
		}
	}
	h.Fails("var n int\nfmt.Scan(&n)", "asked")
	r := sessiontest.Within(t, "the cell", func() session.Result { return h.Execute(session.Cell{Name: "In[1]", Code: "fmt.Scanln(&name)"}) })
	if r.Err == nil || r.Restarted || !strings.Contains(sessiontest.Text(r.Err), "does not take input") {
		t.Errorf("a cell that must not ask gave %+v", r)
	}
}

// A cell's arguments are not the evaluator's.
func TestArguments(t *testing.T) {
	h := startReal(t, nil)
	h.Shows("flag.Parse()\nlen(os.Args), flag.NArg()", "[value 1, 0]\n")
	h.Shows("os.Args = []string{\"notebook\", \"-n\", \"5\"}\nn := flag.Int(\"n\", 1, \"\")\nflag.Parse()\n*n", "[value 5]\n")
	h.Fails("os.Args[1] = \"-none\"\nflag.Parse()", "flag provided but not defined: -none")
}

func TestTestMagic(t *testing.T) {
	h := startReal(t, nil)
	h.Fails("%test", "no cell has declared")
	h.Succeed(`func Add(a, b int) int { return a + b }
func TestAdd(t *testing.T) {
	for _, c := range []struct{ a, b, sum int }{{1, 2, 3}, {-1, 1, 0}} {
		t.Run(fmt.Sprint(c.a), func(t *testing.T) {
			if got := Add(c.a, c.b); got != c.sum { t.Errorf("Add(%d, %d) = %d", c.a, c.b, got) }
		})
	}
}
func TestSkipped(t *testing.T) { t.Skip("another day") }
func TestPanics(t *testing.T) { var p *int; *p = Add(1, 2) }
func TestStops(t *testing.T) { t.Fatal("stop"); fmt.Println("not here") }
func TestHangs(t *testing.T) { for { time.Sleep(time.Millisecond) } }
func Testimony(n int) {}
func BenchmarkAdd(b *testing.B) { for b.Loop() { Add(1, 2) } }`)
	h.Shows("%test Add", "PASS\n")
	h.Succeed("%test -v Add|Skip")
	for _, words := range []string{"=== RUN   TestAdd/-1\n", "    --- PASS: TestAdd/1 (", "--- SKIP: TestSkipped (", ":9: another day\n", "PASS\n"} {
		if got := h.Shown(); !strings.Contains(got, words) {
			t.Errorf("%q is not in\n%s", words, got)
		}
		h.Succeed("%test -v Add|Skip")
	}
	h.Shown()
	h.Succeed("func Add(a, b int) int { return a - b }") // the tests call it at once
	h.Fails("%test Add|Panics|Stops", "tests failed")
	got := h.Shown()
	for _, words := range []string{"--- FAIL: TestAdd/1 (", ":5: Add(1, 2) = -1\n", "--- FAIL: TestPanics (", "nil pointer", "main.TestPanics", "--- FAIL: TestStops (", ":11: stop\n"} {
		if !strings.Contains(got, words) {
			t.Errorf("%q is not in\n%s", words, got)
		}
	}
	if strings.Contains(got, ".go:") || strings.Contains(got, "not here") {
		t.Errorf("printed\n%s", got)
	}
	h.Succeed("%test -bench Add")
	if got := h.Shown(); !strings.Contains(got, "BenchmarkAdd") || !strings.Contains(got, "ns/op") || strings.Contains(got, "FAIL") {
		t.Errorf("printed\n%s", got)
	}
	h.Fails("%test (", "missing closing )")
	h.Succeed(`func TestCalled(t *testing.T) {
	t.Run("in", func(t *testing.T) {
		pc := make([]uintptr, 9)
		for frames := runtime.CallersFrames(pc[:runtime.Callers(1, pc)]); ; {
			f, more := frames.Next()
			t.Log(f.Function)
			if !more { break }
		}
	})
}`)
	h.Succeed("%test -v Called")
	if got := h.Shown(); !strings.Contains(got, ":6: main.TestCalled.func1\n    In[1]:6: testing.tRunner\n    In[1]:6: runtime.goexit\n") {
		t.Errorf("calls of a test:\n%s", got)
	}
	if r := interrupted(t, h, "%test Hangs"); r.Err == nil || r.Restarted || r.Err.Name != "Interrupted" {
		t.Errorf("result %+v", r)
	}
	h.Shows("Add(3, 2)", "[value 1]\n")
}

// A front end may end the question before it interrupts the cell.
func TestGoInputThatIsInterrupted(t *testing.T) {
	h := startReal(t, func(o *session.Options) {
		o.Input = func(string, bool) (string, error) { return "", fmt.Errorf("stdin: %w", session.ErrInterrupted) }
	})
	h.Succeed("kept := 7")
	if r := h.Fails(`input("?")`, "interrupted"); r.Err.Name != "Interrupted" {
		t.Errorf("result %+v", r)
	}
	if r := h.Fails("for { fmt.Scanln(&kept) }", "interrupted"); r.Err.Name != "Interrupted" {
		t.Errorf("result %+v", r)
	}
	h.Shows("kept", "[value 7]\n")
}

// What a Go program does not survive, or only just: the variables stay.
func TestFaultsThatKeepState(t *testing.T) {
	h := startReal(t, nil)
	h.Succeed("kept := 7")
	for _, test := range []struct{ code, words string }{
		{"panic(`first`)", "first"},
		{"var p *struct{ n int }\np.n = 1", "nil"},
		{"var m map[string]int\nm[`a`] = 1", "nil map"},
		{"a, i := []int{1}, 5\na[i] = 1", "out of range"},
		{"z := 0\n1 / z", "divide"},
		{"os.Exit(3)", "os.Exit"},
		{"log.Fatal(`the end`)", "the end"},
		{"go panic(`behind`)\ntime.Sleep(time.Second)", "behind"},
		{"go func() { panic(`inside`) }()\ntime.Sleep(time.Second)", "inside"},
		{"panic(fmt.Errorf(`an error`))", "an error"},
		{"var e error\ne.Error()", "nil"},
		{"close((chan int)(nil))", "close"},
		{"f := func() { panic(`deep`) }\ndefer fmt.Print(`deferred`)\nf()", "deep"},
		{"type T struct{ n int }\nfunc (t T) String() string { return fmt.Sprint(t) }\nfmt.Println(T{1})", "stack overflow"},
	} {
		t.Run(test.code, func(t *testing.T) {
			if testing.Short() && test.words == "stack overflow" {
				t.Skip("takes long with the race detector")
			}
			h.T = t
			defer func() { h.T = t }()
			h.Fails(test.code, test.words)
			h.Shown()
			h.Shows("kept", "[value 7]\n")
		})
	}
}

func TestFaultsThatEndTheEvaluator(t *testing.T) {
	h := startReal(t, nil)
	for _, test := range []struct{ code, words string }{
		{"testSegfault()", "segmentation fault"},
		{"testExit(5)", "status 5"},
		{"syscall.Kill(syscall.Getpid(), syscall.SIGKILL)\nselect {}", "SIGKILL"},
	} {
		t.Run(test.code, func(t *testing.T) {
			h.T = t
			h.Succeed("lost := 7")
			r := h.Run(test.code)
			if r.Err == nil || !r.Restarted || !strings.Contains(sessiontest.Text(r.Err), test.words) {
				t.Fatalf("result %+v", r)
			}
			h.Shown()
			h.Fails("lost", "lost")
			h.Shows("1 + 1", "[value 2]\n")
		})
	}
}

func TestKillInTheMiddleOfACell(t *testing.T) {
	h := startReal(t, nil)
	h.Succeed("1")
	h.Shown()
	done := make(chan session.Result, 1)
	go func() {
		done <- h.Execute(session.Cell{Name: "In[1]", Code: "fmt.Println(`runs`)\nfor { time.Sleep(time.Millisecond) }"})
	}()
	sessiontest.Until(t, "the cell runs", func() bool { return strings.Contains(h.Shown(), "runs") })
	syscall.Kill(h.Pid(), syscall.SIGKILL)
	r := sessiontest.Within(t, "the cell", func() session.Result { return <-done })
	if r.Err == nil || !r.Restarted || !strings.Contains(sessiontest.Text(r.Err), "SIGKILL") {
		t.Errorf("result %+v", r)
	}
	h.Shows("1 + 1", "[value 2]\n")
}

func TestInterruptsOfGo(t *testing.T) {
	h := startReal(t, func(o *session.Options) {
		o.Input = func(string, bool) (string, error) { select {} }
	})
	// A goroutine that may wake others: or else what waits is a deadlock as soon as it is
	// seen, which on a busy machine is before the interrupt.
	h.Succeed("kept := 7\nvar counter int\ngo func() { time.Sleep(time.Hour) }()")
	for _, code := range []string{
		"for {}",
		"for { counter++ }",
		"func spin() { for { counter++ } }\nspin()",
		"time.Sleep(time.Hour)",
		"func nap() { time.Sleep(time.Hour) }\nnap()",
		"<-make(chan int)",
		"make(chan int) <- 1",
		"select {}",
		"select { case <-make(chan int): case <-time.After(time.Hour): }",
		"var lock sync.Mutex\nlock.Lock()\nlock.Lock()",
		"var group sync.WaitGroup\ngroup.Add(1)\ngroup.Wait()",
		"for { fmt.Println(`flood`) }",
		"for range time.Tick(time.Millisecond) {}",
		"input(`what?`)",
		"!sleep 1000",
		"%%bash\nsleep 1000",
		"func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }\nfib(60)",
	} {
		t.Run(code, func(t *testing.T) {
			h.T = t
			if r := interrupted(t, h, code); r.Err == nil || r.Restarted || r.Err.Name != "Interrupted" {
				t.Fatalf("result %+v", r)
			}
			h.Shown()
			h.Shows("kept", "[value 7]\n")
			h.Succeed("before := counter\ntime.Sleep(20 * time.Millisecond)")
			h.Shown()
			h.Shows("counter == before", "[value true]\n")
		})
	}
}

// interrupted runs a cell and interrupts it, again and again: the first interrupt
// may find no cell yet.
func interrupted(t *testing.T, h *sessiontest.Harness, code string) session.Result {
	t.Helper()
	done := make(chan session.Result, 1)
	go func() { done <- h.Execute(session.Cell{Name: "In[1]", Code: code, AllowInput: true}) }()
	return sessiontest.Within(t, "the cell", func() session.Result {
		for {
			select {
			case r := <-done:
				return r
			case <-time.After(100 * time.Millisecond):
				h.Interrupt()
			}
		}
	})
}

func TestCompletionOfGo(t *testing.T) {
	h := startReal(t, nil)
	h.Succeed("answer := 42")
	c, err := h.Complete("ans", 3)
	if err != nil || len(c.Matches) == 0 || c.Matches[0].Text != "answer" {
		t.Errorf("completion %+v, error %v", c, err)
	}
	b, err := h.Inspect("fmt.Println", 11, 0)
	if err != nil || b == nil || !strings.Contains(fmt.Sprint(b.Data["text/plain"]), "Println(") {
		t.Errorf("inspection %+v, error %v", b, err)
	}
	if c, err := h.IsComplete("for {"); err != nil || c.Status != "incomplete" {
		t.Errorf("completeness %+v, error %v", c, err)
	}
	// While a cell runs.
	done := make(chan session.Result, 1)
	go func() { done <- h.Execute(session.Cell{Code: "fmt.Println(`runs`)\nfor {}"}) }()
	sessiontest.Until(t, "the cell runs", func() bool { return strings.Contains(h.Shown(), "runs") })
	if c, err := h.Complete("ans", 3); err != nil || len(c.Matches) == 0 {
		t.Errorf("while a cell runs: completion %+v, error %v", c, err)
	}
	h.Interrupt()
	sessiontest.Within(t, "the cell", func() session.Result { return <-done })
}

func BenchmarkGoRoundTrip(b *testing.B) {
	sessiontest.BenchmarkRoundTrip(b, func() *sessiontest.Harness { return startReal(b, nil) },
		"1+1", "x := 1", `fmt.Println("hello")`, `for i := range 5000 { fmt.Println("line", i) }`)
}

// BenchmarkGoStart is the time from the start of an evaluator to the end of its
// first cell.
func BenchmarkGoStart(b *testing.B) {
	for b.Loop() {
		h := startReal(b, nil)
		h.Run("1+1")
		b.StopTimer()
		h.Close()
		b.StartTimer()
	}
}

func TestGoroutinesLeftRunning(t *testing.T) {
	h := startReal(t, nil)
	h.Succeed("%goroutines")
	if got := h.Shown(); got != "no goroutines are running\n" {
		t.Errorf("an idle evaluator shows %q", got)
	}
	h.Succeed("var ticks atomic.Int64\nvar begun sync.WaitGroup\nbegun.Add(2)\nfor range 2 { go func() { begun.Done(); for { ticks.Add(1); time.Sleep(time.Millisecond) } }() }\nbegun.Wait()")
	h.Shown()
	h.Succeed("%goroutines")
	if got := h.Shown(); !strings.HasSuffix(got, ": 2\n") {
		t.Errorf("two goroutines show as %q", got)
	}
	h.Fails("%goroutines stop In[99]", "In[99]")
	h.Fails("%goroutines halt", "halt")
	h.Shown()
	h.Succeed("%goroutines stop")
	sessiontest.Until(t, "they have ended", func() bool {
		h.Shown()
		h.Succeed("%goroutines")
		return h.Shown() == "no goroutines are running\n"
	})
	h.Succeed("before := ticks.Load()\ntime.Sleep(20 * time.Millisecond)")
	h.Shown()
	h.Shows("ticks.Load() == before", "[value true]\n")
}
