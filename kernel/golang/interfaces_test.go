package golang

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Programs that make interfaces, ask them for types and call their methods, and the functions in fields, print
// the same where all of that is compiled.
func TestInterfacesAreCompiled(t *testing.T) {
	needsCompiler(t)
	t.Setenv(CompileVariable, compileEverything)
	for name, interpreted := range map[string]map[string]string{
		"interfaces_compiled": {
			"Slow.Name": "compiled code has no defer", "try": "it is compiled with the functions that call it", "assertions": "fmt.Sprint cannot be called",
			"Num.Add": "Add is variadic", "errs": "ErrUnsupported cannot be used", "main": "fmt.Println cannot be called",
			"Empty.Name": "without a size", "leaf.depth": "without a size",
		},
		"function_fields": {"main": "a field of type func(a int, b int) int cannot be in compiled code"},
	} {
		path := filepath.Join("testdata/programs", name)
		code, err := os.ReadFile(path + ".go")
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(path + ".want")
		if err != nil {
			t.Fatal(err)
		}
		var ev *Evaluator
		var out strings.Builder
		options := Options{Stdout: &out, Stderr: &out, Started: func(e *Evaluator) { ev = e }}
		if status := RunProgram(options, []File{{"p.go", string(code)}}, nil); status != 0 || out.String() != string(want) {
			t.Errorf("%s: status %d, %s", name, status, out.String())
		}
		for _, c := range ev.Compiled() {
			if why := interpreted[c.Name]; c.Reason != "" && c.Name != "loop" && (why == "" || !strings.Contains(c.Reason, why)) {
				t.Errorf("%s: %s", c.Name, c.Reason)
			}
		}
	}
}

// interfaceCell declares an interface, types that have its method, and functions that are compiled.
const interfaceCell = `
type Shape interface{ Area() int }
type Square struct{ side int }
func (s Square) Area() int { return s.side * s.side }
type Odd struct{ f func() int }
func (o *Odd) Area() int { defer func() {}(); return o.f() }
func total(list []Shape) (n int) {
	for i := range list {
		n += list[i].Area()
	}
	return n
}
func kind(x any) int {
	switch x.(type) {
	case Square: return 1
	case Shape: return 2
	}
	return 0
}
`

// Methods of types that compiled code does not know, or that cannot be compiled, are called in Go.
func TestMethodsOutsideOfCompiledCode(t *testing.T) {
	needsCompiler(t)
	s := newSession(t)
	step := stepper(t)
	step(s.compile(strings.Replace(interfaceCell, "func (o *Odd) Area() int { defer func() {}(); return o.f() }", "", 1)), "")
	step(s.run("func (o *Odd) Area() int { defer func() {}(); return o.f() }\ntype Line struct{ n int }"), "")
	step(s.run("list := []Shape{Square{3}, &Odd{func() int { return 5 }}}\ntotal(list), kind(list[0]), kind(list[1]), kind(Line{})"), "=> 14, 1, 2, 0")
	step(s.run("func (l Line) Area() int { return l.n }\ntotal([]Shape{Line{7}, Square{1}}), kind(Line{}), kind(&Line{})"), "=> 8, 2, 2")
	step(s.run("list[1] = &Odd{func() int { panic(\"odd\") }}\nfunc() (r any) { defer func() { r = recover() }(); total(list); return }()"), `=> "odd"`)
	step(s.run("total([]Shape{Square{1}, nil})"), "Panic: runtime error: invalid memory address or nil pointer dereference")
	step(s.run("n := 0\nlist[1] = &Odd{func() int { if n++; n > 3 { return 1 }; return total(list) }}\ntotal(list), n"), "=> 37, 4")
}

// What compiled code holds stays, whatever the methods do that it calls in Go.
func TestMethodsOutsideAndTheCollector(t *testing.T) {
	needsCompiler(t)
	s := newSession(t)
	step := stepper(t)
	step(s.run(`
type Cell struct { next *Cell; v [64]int }
type Cutter interface{ Cut(c *Cell) int }
type Cut struct{}
var keep, list []*Cell
func (Cut) Cut(c *Cell) int {
	defer func() {}()
	c.next = nil
	runtime.GC()
	for range 1000 { keep = append(keep, &Cell{}); keep[len(keep)-1].v[63] = -1 }
	return 1
}`), "")
	step(s.compile(`
func walk(list []*Cell, cut Cutter) (n int) {
	for _, c := range list {
		last := c.next
		n += cut.Cut(c)
		n += last.v[63]
	}
	return n
}`), "")
	step(s.run("for i := range 20 { list = append(list, &Cell{next: &Cell{}}); list[i].next.v[63] = i }\nwalk(list, Cut{})"), fmt.Sprint("=> ", 20+19*20/2))
	if !s.isCompiled("walk") {
		t.Error(s.ev.Compiled())
	}
}

// A loop calls functions in fields: a literal that uses no variable around it directly, others in Go.
func TestFunctionsInFields(t *testing.T) {
	needsCompiler(t)
	t.Setenv(CompileVariable, compileEverything)
	s := newSession(t)
	step := stepper(t)
	step(s.run("type H struct { f func(a int) int; n *int }\nh := &H{f: func(a int) int { return a * 2 }}"), "")
	const loop = "n := 0\nfor i := 0; i < 10; i++ { n += h.f(i) }\nn"
	hot := func(calls int) {
		t.Helper()
		for _, c := range s.ev.Compiled() {
			if c.Name == "loop" && c.Cell == fmt.Sprintf("In[%d]", s.n) {
				if n := strings.Count(c.Code, "f_literal"); c.Reason != "" || (n > 0) != (calls > 0) {
					t.Errorf("In[%d]: %q, %d direct calls", s.n, c.Reason, n)
				}
			}
		}
	}
	step(s.run(loop), "=> 90")
	hot(1)
	step(s.run("k := 1\nh.f = func() func(int) int { k := 1; return func(a int) int { k++; runtime.GC(); return a + k } }()\n"+loop), "=> 110")
	step(s.run("h.f = func(a int) int { return []int{1}[a] }\nfunc() (r any) { defer func() { r = recover() }(); for i := 0; i < 10; i++ { h.f(i) }; return }().(error).Error()"), `=> "runtime error: index out of range [1] with length 1"`)
	step(s.run("h.f = nil\n"+loop), "Panic: runtime error: invalid memory address or nil pointer dereference")
	step(s.run("func twice(a int) int { return a + a }\nh.f = func(a int) int { return twice(a) }\n"+loop), "=> 90")
	step(s.run("func twice(a int) int { return -a }\n"+loop), "=> -45")
}
