package golang

import (
	"io"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// FuzzCell gives the front end anything: it must neither panic nor hang.
func FuzzCell(f *testing.F) {
	for _, sc := range scenarios {
		for i := 0; i < len(sc.cells); i += 2 {
			f.Add(sc.cells[i])
		}
	}
	for _, code := range []string{
		"", ";", "}", "{", "x :=", "func", "func (", "import", "package", "a, b := 1", "must()", "must(must(1))", "type T T",
		"x := x", "var x = x", "type T[P any] struct{ p P }\nfunc (t T[P]) m() {}\nT[int]{}.m()", "`", "'", "/*", "func f() { f", "\x00", "for range",
		"type A struct{ b *B }\ntype B struct{ a A; m map[string]B }\nB{}", "type F func() F\nvar f F\nf", "goto L", "L:", "func (s S[T]) N() {}", "func (a A) N() {}", "func (x x) N() {}", "func (P) A()", "func (p *P) N() { p.M() }", "func (p P) n() {}",
		"type P struct{ s string }", "func f(s string) {}", "x := x + 1", "var i I = p\ni.M()", "g(x)", "type S[T any] struct{ x T }\ns", "defer f()", "x, y := <-c, 1",
	} {
		f.Add(code)
	}
	ev, err := New(Options{Stdout: io.Discard, Stderr: io.Discard})
	if err != nil {
		f.Fatal(err)
	}
	// What cells find of earlier ones.
	earlier := "type S[T any] struct{ xs []T }\ntype A = int\ntype P struct{ n int }\nfunc (p P) M() {}\ntype I interface{ M() }\n" +
		"func f(x int) int { return x }\nfunc g[T any](x T) T { return x }\nconst c = 1\nx, s, p := 1, S[int]{}, &P{}"
	if res := ev.Eval("In[0]", earlier, true); res.Err != nil {
		f.Fatal(res.Err)
	}
	f.Fuzz(func(t *testing.T, code string) {
		done := make(chan bool)
		go func() {
			defer close(done)
			defer func() {
				if r, ok := recover().(runtime.Error); ok {
					t.Errorf("%q: %v\n%s", code, r, debug.Stack())
				}
			}()
			ev.front("In[1]", code)
		}()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatalf("%q hangs", code)
		}
	})
}

// front does with a cell what comes before the interpreter.
func (ev *Evaluator) front(name, code string) {
	r, e := ev.parseCell(name, code)
	if e != nil {
		return
	}
	cell, mistakes := r.checked()
	if mistakes != nil {
		compileError(code, mistakes)
		return
	}
	ev.lower.Begin(name, false)
	defer ev.lower.Abandon()
	ev.lowerCell(name, cell)
}
