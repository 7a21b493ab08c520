package golang

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestDebuggedPrograms: programs do the same while the debugger is on, and the lines at
// which a breakpoint is said to stop are those that lowered code has.
func TestDebuggedPrograms(t *testing.T) {
	eachProgram(t, func(t *testing.T, name, code string, out *os.File) {
		ev, err := New(Options{Stdout: out, Stderr: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		d := ev.Debugger()
		d.Start(DebugEvents{})
		if err := ev.Eval("In[1]", code, true).Err; err != nil {
			t.Fatalf("%s", strings.Join(err.Traceback, "\n"))
		}
		have := make(map[int]bool)
		for _, f := range ev.rt.Debugger.Funcs() {
			for _, s := range f.Stops {
				have[s.Line] = true
			}
		}
		want := make(map[int]bool)
		for _, line := range BreakpointLines(code).All {
			want[line] = true
		}
		// Methods that only compiled code calls are lowered when it does.
		fset := token.NewFileSet()
		file, _ := parser.ParseFile(fset, name, code, 0)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && !have[fset.Position(f.Pos()).Line] {
				for line := range want {
					if line >= fset.Position(f.Pos()).Line && line <= fset.Position(f.End()).Line {
						delete(want, line)
					}
				}
			}
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
				for _, spec := range g.Specs {
					if spec.(*ast.ValueSpec).Values == nil {
						delete(want, fset.Position(spec.Pos()).Line)
					}
				}
			}
		}
		for line := range want {
			if !have[line] {
				t.Errorf("line %d is said to stop and does not: %s", line, strings.Split(code, "\n")[line-1])
			}
		}
		ast.Inspect(file, func(n ast.Node) bool { // the body of a loop over a function has an end
			if r, ok := n.(*ast.RangeStmt); ok {
				want[fset.Position(r.Body.Rbrace).Line] = true
			}
			return true
		})
		for line := range have {
			if !want[line] {
				t.Errorf("line %d stops and is said not to: %s", line, strings.Split(code, "\n")[line-1])
			}
		}
	})
}

// driver runs cells that stop.
type driver struct {
	t     *testing.T
	ev    *Evaluator
	d     *Debugger
	stops chan Stop
	done  chan Result
}

func newDriver(t *testing.T) *driver {
	ev, err := New(Options{Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	d := &driver{t: t, ev: ev, d: ev.Debugger(), stops: make(chan Stop, 1), done: make(chan Result, 1)}
	d.d.Start(DebugEvents{Stopped: func(s Stop) { d.stops <- s }})
	return d
}

func (d *driver) run(name, code string) {
	go func() { d.done <- d.ev.Eval(name, code, false) }()
}

// stop waits for the next stop, nil if the cell ends before.
func (d *driver) stop() *Stop {
	d.t.Helper()
	select {
	case s := <-d.stops:
		return &s
	case r := <-d.done:
		d.done <- r
		return nil
	case <-time.After(time.Minute):
		d.t.Fatal("no stop")
		return nil
	}
}

func (d *driver) where(s *Stop) string {
	if s == nil {
		return "end"
	}
	stack, _ := d.d.Stack(s.Thread)
	if len(stack) == 0 {
		return "nowhere"
	}
	return strings.TrimSpace(fmt.Sprintf("%s:%d %s", stack[0].Func.File, stack[0].Stop().Line, stack[0].Func.Name))
}

const debuggedCell = `func square(x int) int {
	y := x * x
	return y
}
total := 0
for i := range 3 {
	total += square(i)
}
total`

func TestDebuggerSteps(t *testing.T) {
	d := newDriver(t)
	d.d.SetBreakpoints("In[1]", []Breakpoint{{Line: 7, Condition: "i == 1"}})
	d.run("In[1]", debuggedCell)
	s := d.stop()
	var got []string
	for _, kind := range []StepKind{StepInto, StepOver, StepOver, StepOver, StepOver, StepInto, StepInto, StepOut, StepOver, StepOver, StepOver} {
		if s == nil {
			break
		}
		got = append(got, d.where(s))
		d.d.Step(s.Thread, kind)
		s = d.stop()
	}
	got = append(got, d.where(s))
	want := []string{"In[1]:7", "In[1]:1 main.square", "In[1]:2 main.square", "In[1]:3 main.square", "In[1]:7", "In[1]:6", "In[1]:7", "In[1]:1 main.square", "In[1]:7", "In[1]:6", "In[1]:9", "end"}
	if !slices.Equal(got, want) {
		t.Errorf("stopped at\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestDebuggerShowsVariables(t *testing.T) {
	d := newDriver(t)
	d.d.SetBreakpoints("In[1]", []Breakpoint{{Line: 3}})
	d.run("In[1]", debuggedCell)
	s := d.stop()
	if s == nil {
		r := <-d.done
		t.Fatal("it did not stop", r.Err)
	}
	stack, stands := d.d.Stack(s.Thread)
	if len(stack) != 2 || !stands {
		t.Fatalf("%d calls", len(stack))
	}
	show := func(list []Variable) string {
		var text []string
		for _, v := range list {
			text = append(text, fmt.Sprintf("%s %s = %v", v.Name, v.Type, v.Value))
		}
		return strings.Join(text, "; ")
	}
	if got := show(d.d.Locals(stack[0])); got != "x int = 0; y int = 0" {
		t.Error(got)
	}
	if got := show(d.d.Locals(stack[1])); got != "i int = 0; total int = 0" {
		t.Error(got)
	}
	for _, c := range []struct{ text, want string }{
		{"x + 41", "[41]"}, {"square(12)", "[144]"}, {"y = 5", "[]"}, {"y", "[5]"}, {"total", "[0]"}, {"total = 7", "[]"}, {"total", "[7]"},
		{"func() string { return fmt.Sprint(x, y) }()", "[0 5]"}, {"nope", "undefined: nope"}, {"1 / x", "integer divide by zero"},
		{"i", "undefined: i"}, {"strings.ToUpper(\"a\")", "[A]"}, {"x, y = 1, 2", "[]"}, {"x", "[1]"},
	} {
		values, err := d.d.Evaluate(s.Thread, stack[0], c.text)
		got := fmt.Sprint(values)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
	d.d.Evaluate(s.Thread, stack[0], "y = 100")
	d.d.SetBreakpoints("In[1]", nil)
	d.d.Continue()
	// total was read before it was set: 0 + 100 + 1 + 4.
	if r := <-d.done; r.Err != nil || r.Value == nil || fmt.Sprint(r.Value.Data["text/plain"]) != "105" && fmt.Sprint(r.Value.Data["text/plain"]) != "112" {
		t.Errorf("%v %v", r.Value, r.Err)
	}
}

// TestDebuggerFollowsEarlierCells: functions of cells that were evaluated before the
// debugger was on are stopped in, methods and generic ones too.
func TestDebuggerFollowsEarlierCells(t *testing.T) {
	d := newDriver(t)
	d.d.Stop()
	for i, code := range []string{
		"type P struct{ x int }\nfunc (p *P) Add(n int) {\n\tp.x += n\n}\nfunc twice[T int | float64](x T) T {\n\treturn 2 * x\n}",
		"func (p P) Get() int {\n\treturn p.x\n}",
		"func use() int {\n\tp := &P{1}\n\tp.Add(twice(2))\n\treturn p.Get()\n}",
	} {
		if r := d.ev.Eval(fmt.Sprintf("In[%d]", i+1), code, false); r.Err != nil {
			t.Fatal(r.Err.Traceback)
		}
	}
	if left := d.d.Start(DebugEvents{Stopped: func(s Stop) { d.stops <- s }}); left != nil {
		t.Errorf("left: %v", left)
	}
	d.d.SetBreakpoints("In[1]", []Breakpoint{{Line: 3}, {Line: 6}})
	d.d.SetBreakpoints("In[2]", []Breakpoint{{Line: 2}})
	d.run("In[4]", "use()")
	var got []string
	for s := d.stop(); s != nil; s = d.stop() {
		got = append(got, d.where(s))
		d.d.Continue()
	}
	want := []string{"In[1]:6 main.twice", "In[1]:3 main.(*P).Add", "In[2]:2 main.P.Get"}
	if !slices.Equal(got, want) {
		t.Errorf("stopped at %q, want %q", got, want)
	}
	if r := <-d.done; r.Err != nil || fmt.Sprint(r.Value.Data["text/plain"]) != "5" {
		t.Error(r.Value, r.Err)
	}
}

// TestDebuggerStopsGoroutines: while one stands still, so do those that come to a
// statement; an interrupt ends the cell that stands still.
func TestDebuggerStopsGoroutines(t *testing.T) {
	d := newDriver(t)
	d.d.SetBreakpoints("In[1]", []Breakpoint{{Line: 5}})
	d.run("In[1]", `done := make(chan int)
for i := range 3 {
	go func() {
		x := i * i
		done <- x
	}()
}
sum := 0
for range 3 {
	sum += <-done
}
sum`)
	for range 3 {
		s := d.stop()
		if s == nil {
			t.Fatal("it did not stop")
		}
		stack, _ := d.d.Stack(s.Thread)
		if len(stack) != 1 || len(d.d.Locals(stack[0])) != 2 {
			t.Errorf("%d calls, %v", len(stack), d.d.Locals(stack[0]))
		}
		d.d.Continue()
	}
	if r := <-d.done; r.Err != nil || fmt.Sprint(r.Value.Data["text/plain"]) != "5" {
		t.Fatal(r.Value, r.Err)
	}
	d.d.SetBreakpoints("In[2]", []Breakpoint{{Line: 2}})
	d.run("In[2]", "x := 1\nx++")
	if d.stop() == nil {
		t.Fatal("it did not stop")
	}
	d.ev.Interrupt()
	if r := <-d.done; r.Err == nil || r.Err.Name != "Interrupted" {
		t.Error(r.Err)
	}
	if _, held := d.d.Held(); held {
		t.Error("it stands still after its end")
	}
}

func TestDebuggerStopsAtPanics(t *testing.T) {
	d := newDriver(t)
	d.d.SetPanics(true)
	for _, c := range []struct{ code, where string }{
		{"func f(x int) int {\n\treturn 1 / x\n}\nf(0)", "main.f"},
		{"func g() {\n\tdefer func() { recover() }()\n\tpanic(\"a\")\n}\ng()", "main.g"},
		{"var m map[string]int\nm[\"a\"] = 1", ""},
		{"[]int{1}[len(\"ab\")]", ""},
	} {
		d.run("In[1]", c.code)
		s := d.stop()
		if s == nil {
			t.Fatalf("%s: it did not stop", c.code)
		}
		stack, _ := d.d.Stack(s.Thread)
		if s.Reason != StopPanic || len(stack) == 0 || stack[0].Func.Name != c.where || stack[0].Stop().Line == 0 {
			t.Errorf("%s: %s at %s", c.code, s.Reason, d.where(s))
		}
		d.d.Continue()
		<-d.done
	}
	d.run("In[2]", "os.Exit(3)")
	if s := d.stop(); s != nil {
		t.Errorf("os.Exit stops at %s", d.where(s))
	}
}

func TestDebuggerMessages(t *testing.T) {
	d := newDriver(t)
	var told []string
	d.d.Stop()
	d.d.Start(DebugEvents{Logged: func(cell string, line int, text string) {
		told = append(told, fmt.Sprintf("%s:%d %s", cell, line, text))
	}})
	d.d.SetBreakpoints("In[1]", []Breakpoint{{Line: 2, Message: "x is {x}, twice {2*x}"}, {Line: 3, Hits: "% 2", Message: "even {x}"}})
	d.run("In[1]", "for x := range 3 {\n\tx += 0\n\tx += 0\n}")
	if r := <-d.done; r.Err != nil {
		t.Fatal(r.Err)
	}
	want := []string{"In[1]:2 x is 0, twice 0", "In[1]:2 x is 1, twice 2", "In[1]:3 even 1", "In[1]:2 x is 2, twice 4"}
	if !slices.Equal(told, want) {
		t.Errorf("%q", told)
	}
}

func TestDebuggerCopiesToGlobals(t *testing.T) {
	d := newDriver(t)
	d.d.SetBreakpoints("In[1]", []Breakpoint{{Line: 4}})
	d.run("In[1]", "func f[T any](x T) {\n\ttype pair struct{ A, B T }\n\tlocal := []pair{{x, x}}\n\tlocal = local[:1]\n}\nf(1)")
	s := d.stop()
	if s == nil {
		t.Fatal("it did not stop", (<-d.done).Err)
	}
	stack, _ := d.d.Stack(s.Thread)
	for from, to := range map[string]string{"local": "copied", "x": "n"} {
		if err := d.d.CopyToGlobals(stack[0], from, to); err != nil {
			t.Fatal(err)
		}
	}
	d.d.Continue()
	<-d.done
	if r := d.ev.Eval("In[2]", "copied[0].B + n", false); r.Err != nil || fmt.Sprint(r.Value.Data["text/plain"]) != "2" {
		t.Error(r.Value, r.Err)
	}
}

// TestDebuggerStepsOver: a step goes from a loop over a function into its body, from a
// function that ends, or panics, into what it deferred, and from a call whose result
// nobody takes to the caller's next statement.
func TestDebuggerStepsOver(t *testing.T) {
	d := newDriver(t)
	d.d.SetBreakpoints("In[1]", []Breakpoint{{Line: 2}, {Line: 11}})
	d.run("In[1]", `func loop() {
	sum := 0
	for x := range slices.Values([]int{1, 2}) {
		sum += x
	}
	sum++
}
func ends() {
	defer func() { recover() }()
	func() {
		panic("a")
	}()
}
loop()
ends()
fmt.Sprint()`)
	var got []string
	for s := d.stop(); s != nil; s = d.stop() {
		stack, _ := d.d.Stack(s.Thread)
		got = append(got, fmt.Sprint(stack[0].Stop().Line))
		d.d.Step(s.Thread, StepOver)
	}
	const want = "2 3 4 5 3 4 5 6 7 15 11 9 16"
	if strings.Join(got, " ") != want {
		t.Errorf("stopped at %s, want %s", strings.Join(got, " "), want)
	}
}

// TestBreakpointsStayInTheirFunction: where there is nothing to stop at, a breakpoint
// moves to the next line that has something, but not into another function.
func TestBreakpointsStayInTheirFunction(t *testing.T) {
	const code = `// a comment
func f() int {
	// inside
	return g(1,
		2)
}

func g(a, b int) int {
	x := func() int {
		return 1

	}
	return x()
}
f()

// the end`
	l := BreakpointLines(code)
	for line, want := range []int{1: 2, 2, 4, 4, 4, 4, 8, 8, 9, 10, 10, 10, 13, 13, 15, 0, 0} {
		if line > 0 && l.Place(line) != want {
			t.Errorf("line %d moves to %d, not %d", line, l.Place(line), want)
		}
	}
}

// oneModule is a source of one package.
type oneModule SourcePackage

func (m oneModule) Sources(string, func(string) bool) ([]SourcePackage, error) {
	return []SourcePackage{SourcePackage(m)}, nil
}
func (m oneModule) Changed() []string  { return nil }
func (m oneModule) Packages() []string { return []string{m.Path} }

// TestDebuggerStepsIntoModules: a step into a function of a module, or of a compiled
// package, goes over it, and into what it calls of the cell's.
func TestDebuggerStepsIntoModules(t *testing.T) {
	d := newDriver(t)
	d.ev.options.Modules = oneModule{Path: "example.com/m", Files: []File{{Name: "m.go", Code: `package m

func Twice(n int) int { return 2 * n }

func Sum(n int, f func(int) int) (sum int) {
	for i := range n {
		sum += f(i)
	}
	return sum
}`}}}
	d.d.SetBreakpoints("In[1]", []Breakpoint{{Line: 5, Condition: ""}})
	d.run("In[1]", `import "example.com/m"
func square(x int) int {
	return x * x
}
n := m.Twice(1)
n = m.Sum(n, square)
list := []int{n, 0}
slices.SortFunc(list, func(a, b int) int {
	return a - b
})
m.Twice(list[0])`)
	var got []string
	for s := d.stop(); s != nil; s = d.stop() {
		stack, _ := d.d.Stack(s.Thread)
		got = append(got, fmt.Sprint(stack[0].Stop().Line))
		d.d.Step(s.Thread, StepInto)
	}
	const want = "5 6 2 3 2 3 7 8 8 9 11"
	if strings.Join(got, " ") != want {
		t.Errorf("stopped at %s, want %s", strings.Join(got, " "), want)
	}
}
