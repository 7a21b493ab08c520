package golang

import (
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStdout: a cell may put another file in place of os.Stdout, and what it closes
// is open again in the next.
func TestStdout(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	process := os.Stdout
	os.Stdout = file
	defer func() { os.Stdout = process }()
	ev, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{
		"old := os.Stdout\nr, w, err := os.Pipe()\nos.Stdout = w\nfmt.Println(\"captured\")\nos.Stdout = old\nw.Close()\nb, err := io.ReadAll(r)\nfmt.Printf(\"%q %v\\n\", b, err)",
		"os.Stdout.Close()\n_, err := fmt.Println(\"lost\")",
		"fmt.Println(errors.Is(err, os.ErrClosed))\nos.Stdout = w",
		"fmt.Fprintln(os.Stdout, \"the process's again\")",
	} {
		if e := ev.Eval("In[1]", code, false).Err; e != nil {
			t.Fatalf("%s\n%s", code, e.Plain())
		}
	}
	if _, err := file.Stat(); err != nil {
		t.Error("the process's file was closed")
	}
	got, err := os.ReadFile(file.Name())
	if want := "\"captured\\n\" <nil>\ntrue\nthe process's again\n"; string(got) != want {
		t.Errorf("printed %q (%v), want %q", got, err, want)
	}
}

// What a variable holds is let go when another takes its name, also if a cell that did not
// compile had a function that uses it.
func TestVariablesOfAFailedCell(t *testing.T) {
	s := newSession(t)
	s.run("big := make([]byte, 1<<20)\nfunc f[T any](n int, x T) {}")
	s.run("func g[T any](n int, x T) { f(n, []T{x}) }")
	s.run("func f[T any](n int, x T) { g(n, x) }") // so g cannot be lowered
	if got := s.run("func use() int { return len(big) }\nuse()\ng(1, 2)"); !strings.Contains(got, "instantiation cycle") {
		t.Fatal(got)
	}
	letsGo := func() bool {
		l := s.ev.lower
		l.Begin("another", false)
		defer l.Abandon()
		big := s.ev.names["big"].(*types.Var)
		l.Free(big, false)
		return strings.Contains(l.Finish("").Decls, l.Global(big)+" = ")
	}
	if !letsGo() {
		t.Error("it is kept for a function that is not there")
	}
	s.run("func use() int { return len(big) }\nuse()")
	if letsGo() {
		t.Error("it is let go, and a function uses it")
	}
}
