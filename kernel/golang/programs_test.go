package golang

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Programs of many small things that users do print what they print when they
// are compiled: testdata/programs/X.want is what go run X.go printed.
func TestProgramsPrintAsCompiled(t *testing.T) {
	eachProgram(t, func(t *testing.T, name, code string, out *os.File) {
		if status := RunProgram(Options{Stdout: out, Stderr: out}, []File{{name, code}}, nil); status != 0 {
			t.Errorf("exit status %d", status)
		}
	})
}

// So do they when each declaration, and each statement of main, is a cell.
func TestProgramsInCellsPrintAsCompiled(t *testing.T) {
	eachProgram(t, func(t *testing.T, name, code string, out *os.File) {
		ev, err := New(Options{Stdout: out, Stderr: io.Discard}) // which says what waits for later cells
		if err != nil {
			t.Fatal(err)
		}
		cells, statements := cellsOfProgram(t, name, code)
		n := 0
		eval := func(cell string) *Error {
			n++
			return ev.Eval(fmt.Sprintf("In[%d]", n), cell, true).Err
		}
		early := "" // what names things that come later
		for _, cell := range cells {
			if early += cell + "\n"; eval(early) == nil {
				early = ""
			}
		}
		if early != "" {
			t.Fatal(eval(early))
		}
		for _, cell := range statements {
			if err := eval(cell); err != nil {
				t.Fatalf("%s\n%s", cell, strings.Join(err.Traceback, "\n"))
			}
		}
	})
}

// TestPanicsOfPrograms: what a program writes when it panics begins as compiled Go's.
// The loops and functions of a program are compiled, as those of cells are.
func TestProgramsAreCompiled(t *testing.T) {
	needsCompiler(t)
	t.Setenv(CompileVariable, compileEverything)
	const code = `package main

import "fmt"

var total = 0.5

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func main() {
	n := 0
	for i := range 1000 {
		n += fib(i % 12)
		total += float64(i)
	}
	fmt.Println(n, total, fib(20))
	defer func() { fmt.Println(recover()) }()
	for i := 0; ; i++ {
		n /= 5 - i
	}
}
`
	var ev *Evaluator
	var out strings.Builder
	options := Options{Stdout: &out, Stderr: &out, Started: func(e *Evaluator) { ev = e }}
	if status := RunProgram(options, []File{{"p.go", code}}, nil); status != 0 || out.String() != "19260 499500.5 6765\nruntime error: integer divide by zero\n" {
		t.Errorf("status %d, %q", status, out.String())
	}
	compiled := make(map[string]int)
	for _, c := range ev.Compiled() {
		if c.Reason != "" {
			t.Errorf("%s in line %d: %s", c.Name, c.Line, c.Reason)
		}
		compiled[c.Name]++
	}
	if compiled["loop"] != 2 || compiled["fib"] != 1 {
		t.Error(compiled)
	}
}

func TestPanicsOfPrograms(t *testing.T) {
	for code, want := range map[string]string{
		`panic(errors.New("two\nlines"))`:                         "panic: two\n\tlines\n",
		`panic(errors.Join(errors.New("a"), errors.New("b")))`:    "panic: a\n\tb\n",
		`type I int; panic(I(3))`:                                 "panic: main.I(3)\n",
		`var m map[string]int; m["a"] = 1`:                        "panic: assignment to entry in nil map\n",
		`defer func() { recover(); panic("b") }(); panic("a\nb")`: "panic: a\n\tb [recovered]\n\tpanic: b\n",
		`go panic("in another"); select {}`:                       "panic: in another\n",
	} {
		var out, stderr bytes.Buffer
		status := RunProgram(Options{Stdout: &out, Stderr: &stderr}, []File{{"p.go", "package main\nimport \"errors\"\nvar _ = errors.New\nfunc main() {\n" + code + "\n}\n"}}, nil)
		if status != 2 || !strings.HasPrefix(stderr.String(), want) {
			t.Errorf("%s: status %d, %q, want %q", code, status, stderr.String(), want)
		}
	}
}

// cellsOfProgram takes a program apart: its declarations, and its main's
// statements, which are one cell if one is deferred.
func cellsOfProgram(t *testing.T, name, code string) (decls, statements []string) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, code, 0)
	if err != nil {
		t.Fatal(err)
	}
	text := func(n ast.Node) string {
		return code[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset]
	}
	for _, d := range f.Decls {
		fun, ok := d.(*ast.FuncDecl)
		if !ok || fun.Name.Name != "main" || fun.Recv != nil {
			decls = append(decls, text(d))
			continue
		}
		for _, s := range fun.Body.List {
			statements = append(statements, text(s))
			if _, ok := s.(*ast.DeferStmt); ok { // until main ends, not the cell
				body := text(fun.Body)
				statements = []string{body[1 : len(body)-1]}
				break
			}
		}
	}
	return decls, statements
}

// eachProgram runs the programs and compares what they write to out.
func eachProgram(t *testing.T, run func(t *testing.T, name, code string, out *os.File)) {
	names, err := filepath.Glob("testdata/programs/*.go")
	if err != nil || len(names) == 0 {
		t.Fatal("no programs", err)
	}
	stdout := os.Stdout
	defer func() { os.Stdout = stdout }()
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			code, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(strings.TrimSuffix(name, ".go") + ".want")
			if err != nil {
				t.Fatal(err)
			}
			out, err := os.Create(filepath.Join(t.TempDir(), "out"))
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			os.Stdout = out
			run(t, filepath.Base(name), string(code), out)
			os.Stdout = stdout
			got, err := os.ReadFile(out.Name())
			if err != nil {
				t.Fatal(err)
			}
			gotLines, wantLines := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
			for i, line := range wantLines {
				if i >= len(gotLines) || gotLines[i] != line {
					t.Fatalf("line %d is\n%s\nand compiled\n%s", i+1, strings.Join(gotLines[min(i, len(gotLines)):], "\n"), line)
				}
			}
			if len(gotLines) != len(wantLines) {
				t.Errorf("%d lines, compiled %d", len(gotLines), len(wantLines))
			}
		})
	}
}
