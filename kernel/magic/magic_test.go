package magic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/kernel/display"
)

// recorder is an Env that keeps what magics ask of it. Its Eval runs no Go:
// what Go does is checked against the evaluator itself, in golang_test.go.
type recorder struct {
	mu      sync.Mutex
	out     bytes.Buffer
	evals   []string
	eval    func(code string) error
	defined map[string]any
	names   []Name
	next    string
	pager   []display.Bundle
	resets  int
	stopped []string

	compiled int // what Compilations says
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Write(p)
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.String()
}

func (r *recorder) Stdout() io.Writer { return r }
func (r *recorder) Stderr() io.Writer { return r }
func (r *recorder) Eval(code string, show bool) error {
	r.evals = append(r.evals, fmt.Sprintf("%t %q", show, code))
	if r.eval != nil {
		return r.eval(code)
	}
	return nil
}
func (r *recorder) Syntax(code string) error {
	if strings.Contains(code, "}{") {
		return errors.New("syntax")
	}
	return nil
}
func (r *recorder) Define(name string, value any) error {
	if r.defined == nil {
		r.defined = map[string]any{}
	}
	r.defined[name] = value
	return nil
}
func (r *recorder) Text(expression string, line, column int) (string, error) {
	if expression == "unknown" {
		return "", errors.New("unknown")
	}
	return fmt.Sprintf("<%s %d:%d>", expression, line, column), nil
}
func (r *recorder) History() []Past {
	return []Past{{"In[1]", "x := 1\n"}, {"In[2]", "x++"}, {"In[3]", "x"}}
}
func (r *recorder) Declarations(string) []Declaration { return nil }
func (r *recorder) Names() []Name                     { return r.names }
func (r *recorder) Reset() error                      { r.resets++; return nil }
func (r *recorder) SetNextInput(text string)          { r.next = text }
func (r *recorder) Pager(b display.Bundle)            { r.pager = append(r.pager, b) }
func (r *recorder) Inspect(name string) *display.Bundle {
	if name != "fmt.Println" {
		return nil
	}
	b := display.Text("func Println")
	return &b
}

func (r *recorder) Compilations() (int, bool)  { return r.compiled, false }
func (r *recorder) Goroutines() map[string]int { return map[string]int{"In[3]": 2} }
func (r *recorder) StopGoroutines(cell string) { r.stopped = append(r.stopped, cell) }

// standard are the magics of the tests that need no others.
var standard = NewSet()

func run(t *testing.T, code string, others ...Magic) (*recorder, error) {
	t.Helper()
	set := standard
	if len(others) > 0 {
		set = NewSet(others...)
	}
	r := &recorder{}
	return r, set.Run(t.Context(), r, code)
}

func TestGoBetweenMagicsKeepsItsLines(t *testing.T) {
	t.Chdir(t.TempDir())
	r, err := run(t, "x := 1\n!echo hello\n\n// y\ny := 2\n%cd .\n// end")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`false "x := 1\n"`, `false "\n\n\n// y\ny := 2\n"`}
	if strings.Join(r.evals, "\n") != strings.Join(want, "\n") {
		t.Errorf("evaluated %s, want %s", r.evals, want)
	}
	if r, _ = run(t, "%cd .\nx"); len(r.evals) != 1 || r.evals[0] != `true "\nx"` {
		t.Errorf("after a magic, evaluated %s", r.evals)
	}
	for _, code := range []string{"", "x\n", "// note", "package main\r\n\r\nfunc main() {}"} {
		if r, err = run(t, code); err != nil || len(r.evals) != 1 || r.evals[0] != fmt.Sprintf("true %q", code) {
			t.Errorf("%q: evaluated %s, %v", code, r.evals, err)
		}
	}
}

func TestGoErrorEndsTheCell(t *testing.T) {
	bad := errors.New("bad")
	r := &recorder{eval: func(string) error { return bad }}
	err := standard.Run(t.Context(), r, "x\n!echo never\ny")
	if err != bad || len(r.evals) != 1 || r.text() != "" {
		t.Errorf("got %v after %s, printed %q", err, r.evals, r.text())
	}
}

func TestSyntaxIsCheckedFirst(t *testing.T) {
	if r, err := run(t, "x\n!echo never\ny }{"); err == nil || err.Error() != "syntax" || len(r.evals) != 0 || r.text() != "" {
		t.Errorf("got %v after %s, printed %q", err, r.evals, r.text())
	}
	if r, err := run(t, "x }{"); err != nil || len(r.evals) != 1 {
		t.Errorf("a cell without magics was checked: %v, %v", err, r.evals)
	}
}

func TestErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	for code, want := range map[string]struct {
		name, message string
		line          int
	}{
		"x := 1\n%cdd /":            {"UnknownMagic", "there is no magic %cdd; did you mean %cd?", 2},
		"%loadd":                    {"UnknownMagic", "there is no magic %loadd; did you mean %load?", 1},
		"%whos x":                   {"UsageError", "%whos: it takes no arguments; %who lists other names too\nusage: %whos", 1},
		"%sl":                       {"UnknownMagic", "there is no magic %sl; did you mean %%sh or %ls?", 1},
		"%%bahs\nls":                {"UnknownMagic", "there is no magic %%bahs; did you mean %%bash?", 1},
		"%bash":                     {"UnknownMagic", "there is no magic %bash, but there is %%bash for a whole cell", 1},
		"x\n%%bash\nls":             {"UnknownMagic", "%%bash is a cell magic: it takes a whole cell, and stands on its first line", 2},
		"%%cd\nls":                  {"UnknownMagic", "there is no magic %%cd, but there is the line magic %cd", 1},
		"% cd":                      {"UnknownMagic", "%: a magic needs a name; %help lists them", 1},
		"%cd a b":                   {"UsageError", "%cd: give one directory at most; quote a name with spaces\nusage: %cd [DIRECTORY | -]", 1},
		"%cd 'a":                    {"UsageError", "%cd: a quote ' is not closed\nusage: %cd [DIRECTORY | -]", 1},
		"%ls -z":                    {"UsageError", "%ls: there is no option -z\nusage: %ls [-a] [-l] [PATH | PATTERN]...", 1},
		"%timeit -n x f()":          {"UsageError", "%timeit: -n needs a number above zero, not \"x\"\nusage: %timeit [-n LOOPS] [-r REPEATS] STATEMENT", 1},
		"%timeit -r0 f()":           {"UsageError", "%timeit: -r needs a number above zero, not \"0\"\nusage: %timeit [-n LOOPS] [-r REPEATS] STATEMENT", 1},
		"%timeit -x f()":            {"UsageError", "%timeit: there is no option -x\nusage: %timeit [-n LOOPS] [-r REPEATS] STATEMENT", 1},
		"%timeit -n":                {"UsageError", "%timeit: -n needs a value\nusage: %timeit [-n LOOPS] [-r REPEATS] STATEMENT", 1},
		"%time":                     {"UsageError", "%time: there is no code to time\nusage: %time STATEMENT", 1},
		"%%time x\ny":               {"UsageError", "%%time: write the code below the first line\nusage: %%time", 1},
		"%%html x\ny":               {"UsageError", "%%html: it takes no arguments\nusage: %%html", 1},
		"%who lambda":               {"UsageError", "%who: unknown kind of name \"lambda\"\nusage: %who [var | const | func | type | import]...", 1},
		"%reset all":                {"UsageError", "%reset: it takes no arguments but -f\nusage: %reset [-f]", 1},
		"%help bsh":                 {"UnknownMagic", "there is no magic %bsh; did you mean %%bash or %%sh?", 1},
		"%env a b":                  {"UsageError", "%env: \"a b\" is not the name of a variable\nusage: %env [NAME | NAME=VALUE]", 1},
		"%env GOCUDA_NO_SUCH":       {"NameError", "%env: GOCUDA_NO_SUCH is not set", 1},
		"nosuch?":                   {"NameError", "%pinfo: nothing is known about nosuch", 1},
		"%%writefile":               {"UsageError", "%%writefile: want one file, got 0 words; quote a name with spaces\nusage: %%writefile [-a] FILE", 1},
		"%%bash":                    {"UsageError", "%%bash: there is no script below the first line\nusage: %%bash [OPTION]...", 1},
		"!exit 3":                   {"ShellError", "!exit 3: exit status 3", 1},
		"!no-such-command-here 1":   {"ShellError", "!no-such-command-here 1: exit status 127 (command not found)", 1},
		"\n!nosuchvariable":         {"ShellError", "!nosuchvariable: exit status 127 (command not found); for the Go expression write (!nosuchvariable)", 2},
		"%%sh\nexit 4":              {"ShellError", "%%sh: exit status 4", 1},
		"%%bash -e\nfalse\necho no": {"ShellError", "%%bash: exit status 1", 1},
	} {
		r, err := run(t, code)
		var e *Error
		if !errors.As(err, &e) || e.Name != want.name || e.Message != want.message || e.Line != want.line {
			t.Errorf("%q: got %#v, want %v", code, err, want)
		}
		if strings.Contains(r.text(), "no\n") && want.name == "ShellError" && strings.Contains(code, "echo no") {
			t.Errorf("%q went on: %q", code, r.text())
		}
	}
	r, err := run(t, "x := 1\n%nosuch")
	if err == nil || len(r.evals) != 0 {
		t.Errorf("an unknown magic was found after Go code ran: %v, %v", err, r.evals)
	}
	if !strings.Contains(fmt.Sprint(func() error { _, err := run(t, "%abracadabra"); return err }()), " %cd %%cuda %env ") {
		t.Error("the magics are not named for a name that is like none")
	}
}

func TestDirectories(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("HOME", dir)
	t.Setenv("USERPROFILE", dir)
	if err := os.MkdirAll(filepath.Join(dir, "a b", "c"), 0o777); err != nil {
		t.Fatal(err)
	}
	a := filepath.Join(dir, "a b")
	r, err := run(t, "%cd \"a b\"\n%cd c\n%cd -\n%cd -\n%cd\n%cd '~/a b'")
	want := strings.Join([]string{a, a + "/c", a, a + "/c", dir, a, ""}, "\n")
	if err != nil || r.text() != filepath.FromSlash(want) {
		t.Errorf("went to\n%swant\n%s(%v)", r.text(), want, err)
	}
	if _, err := run(t, "%cd nowhere"); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a directory that is not there: %v", err)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	steps := []struct{ code, out string }{
		{"%%writefile a.txt\none\ntwo", "Wrote a.txt (8 bytes)\n"},
		{"%%writefile -a a.txt\nthree\n", "Appended to a.txt (6 bytes)\n"},
		{"%%writefile 'b c.txt'\n", "Wrote b c.txt (0 bytes)\n"},
		{"%%writefile 'b c.txt'\nx", "Overwrote b c.txt (2 bytes)\n"},
		{"%%writefile .hidden\n", "Wrote .hidden (0 bytes)\n"},
		{"%ls", "a.txt\nb c.txt\n"},
		{"%ls -a", ".hidden\na.txt\nb c.txt\n"},
		{"%ls a*", "a.txt\n"},
	}
	for _, s := range steps {
		if r, err := run(t, s.code); err != nil || r.text() != s.out {
			t.Errorf("%q printed %q, want %q (%v)", s.code, r.text(), s.out, err)
		}
	}
	os.WriteFile("marked", []byte("\uFEFFone"), 0o666)
	if r, err := run(t, "%load marked"); err != nil || r.next != "one" {
		t.Errorf("loaded %q, %v", r.next, err)
	}
	r, err := run(t, "%load a.txt")
	if err != nil || r.next != "one\ntwo\nthree\n" {
		t.Errorf("loaded %q, %v", r.next, err)
	}
	if r, err := run(t, "%ls -l a.txt"); err != nil || !strings.Contains(r.text(), "  14  ") || !strings.HasPrefix(r.text(), "-rw") {
		t.Errorf("%%ls -l printed %q, %v", r.text(), err)
	}
	os.WriteFile("binary", []byte{0xff, 0xfe}, 0o666)
	for _, code := range []string{"%load nowhere.txt", "%load binary", "%ls nowhere*", "%%writefile nowhere/x\n"} {
		if _, err := run(t, code); err == nil {
			t.Errorf("%q did not fail", code)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("GOCUDA_TEST_ENV", "")
	r, err := run(t, "%env GOCUDA_TEST_ENV = 'a  b=c'\n%env GOCUDA_TEST_ENV\n!echo \"[$GOCUDA_TEST_ENV]\"")
	if want := "GOCUDA_TEST_ENV=a  b=c\na  b=c\n[a  b=c]\n"; err != nil || r.text() != want {
		t.Errorf("printed %q, want %q (%v)", r.text(), want, err)
	}
	if r, err = run(t, "%env"); err != nil || !strings.Contains(r.text(), "\nGOCUDA_TEST_ENV=a  b=c\n") {
		t.Errorf("%%env lacks the variable: %v", err)
	}
}

func TestNames(t *testing.T) {
	r := &recorder{names: []Name{{Name: "x", Kind: "var", Type: "int", Value: func() string { return "3" }}, {Name: "_timeit", Kind: "var", Type: "func()"}, {Name: "Area", Kind: "func", Type: "func(r float64) float64"}}}
	if err := standard.Run(t.Context(), r, "%who"); err != nil || r.text() != "func  Area  func(r float64) float64\nvar   x     int  3\n" {
		t.Errorf("printed %q, %v", r.text(), err)
	}
	r.out.Reset()
	if err := standard.Run(t.Context(), r, "%who type"); err != nil || r.text() != "no names are declared\n" {
		t.Errorf("printed %q, %v", r.text(), err)
	}
	if err := standard.Run(t.Context(), r, "%reset"); err != nil || r.resets != 1 {
		t.Errorf("reset %d times, %v", r.resets, err)
	}
}

func TestWhos(t *testing.T) {
	type point struct {
		x, y float64
		name string
	}
	type tree []tree
	self := make(tree, 1)
	self[0] = self
	row := make([]float64, 100)
	for i, c := range []struct {
		value any
		text  string // "": as %who shows it
		bytes int
	}{
		{3, "", 8}, {true, "", 1}, {"hello", "", 16 + 5}, {point{1, 2, "abc"}, "", 32 + 3}, {[4]int32{}, "", 16}, {[]int{1, 2}, "", 24 + 16},
		{row, "100 elements", 24 + 800}, {[][]float64{row[:3], row[3:6]}, "2 × 3 elements", 24 + 48 + 48}, {[][]float64{row, row[:1]}, "", 24 + 48 + 800},
		{[3][4]int8{}, "3 × 4 elements", 12}, {make([]point, 9), "9 elements", 24 + 9*32}, {[]string{"a", "bc"}, "", 24 + 32 + 3},
		{map[string]int{"a": 1}, "", 8 + 24}, {map[int]int{1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6}, "6 elements", 8 + 96},
		{self, "", 24 + 24}, {new(point), "", 8}, {(*cuda.Buffer)(nil), "", 8}, {nil, "", 0}, {[]any{1, nil}, "", 24 + 32}, {[]int(nil), "", 24},
	} {
		r := &recorder{names: []Name{{Name: "v", Kind: "var", Type: "T", Value: func() string { return "shown" }, Content: func() (any, bool) { return c.value, true }}}}
		var rows []string
		display.SetPublisher(func(p display.Publication) {
			rows = strings.Split(p.Bundle.Data["text/plain"].(string), "\n")
			if page, _ := p.Bundle.Data["text/html"].(string); !strings.Contains(page, "<table>") {
				t.Errorf("%%whos shows %q as HTML", page)
			}
		})
		err := standard.Run(t.Context(), r, "%whos")
		display.SetPublisher(nil)
		if c.text == "" {
			c.text = "shown"
		}
		if got := strings.Join(strings.Fields(rows[len(rows)-1]), " "); err != nil || got != fmt.Sprintf("v T %s %d", c.text, c.bytes) {
			t.Errorf("%d: %T is shown as %q, %v; want %s and %d bytes", i, c.value, got, err, c.text, c.bytes)
		}
	}
	if r, err := run(t, "%whos"); err != nil || r.text() != "no variables are declared\n" {
		t.Errorf("printed %q, %v", r.text(), err)
	}
}

func TestHelp(t *testing.T) {
	tables := func(code string) (text, page string) {
		display.SetPublisher(func(p display.Publication) {
			text, page = p.Bundle.Data["text/plain"].(string), p.Bundle.Data["text/html"].(string)
		})
		defer display.SetPublisher(nil)
		if _, err := run(t, code); err != nil {
			t.Fatal(err)
		}
		return text, page
	}
	text, page := tables("%help")
	for _, m := range standard.Help() {
		if !strings.Contains("\n"+text, "\n"+m.Usage) || !strings.Contains(page, ">"+html.EscapeString(m.Usage)+"</td>") {
			t.Errorf("%%help does not name %s", m)
		}
		if s := m.summary(); !strings.HasSuffix(s, ".") || !strings.Contains(text, s) {
			t.Errorf("%%help says of %s %q, which is no sentence", m, s)
		}
		if m.Doc == "" || m.Name != shellMagic.Name && !strings.HasPrefix(m.Usage, m.String()) {
			t.Errorf("%s is not documented: %q, %q", m, m.Usage, m.Doc)
		}
	}
	if alias, _ := tables("%lsmagic"); alias != text {
		t.Error("%lsmagic and %help differ")
	}
	if r, err := run(t, "%help timeit"); err != nil || !strings.Contains(r.text(), "%%timeit") || !strings.Contains(r.text(), "-r:") {
		t.Errorf("%%help timeit printed %q, %v", r.text(), err)
	}
	for code, want := range map[string]string{"fmt.Println?": "func Println", "?fmt.Println": "func Println", "%pinfo fmt.Println": "func Println",
		"%load?": "%load FILE\nPuts the text of a file into the next cell.\n" + expandDoc + "\n"} {
		r, err := run(t, code)
		if err != nil || len(r.pager) != 1 || r.pager[0].Data["text/plain"] != want {
			t.Errorf("%q: pager shows %v, %v", code, r.pager, err)
		}
	}
}

func TestOtherMagics(t *testing.T) {
	var got Call
	ranks := Magic{Name: "ranks", Usage: "%%ranks [-n N] LIST", Doc: "Test.", Cell: true, Run: func(_ context.Context, _ Env, c Call) error {
		got = c
		return nil
	}}
	if _, err := run(t, "\n%%ranks  -n=4 0,2 \nx\n\ny\n", ranks); err != nil {
		t.Fatal(err)
	}
	if got.Args != "-n=4 0,2" || got.Body != "x\n\ny\n" || got.Line != 2 || got.Column != 10 {
		t.Errorf("called with %+v", got)
	}
	fields, err := got.Fields()
	if err != nil {
		t.Fatal(err)
	}
	given, rest, err := got.Options(fields, []string{"-q"}, []string{"-n"})
	if err != nil || given["-n"] != "4" || len(rest) != 1 || rest[0] != "0,2" {
		t.Errorf("options %v, rest %v, %v", given, rest, err)
	}
}

func TestRich(t *testing.T) {
	var got []display.Publication
	display.SetPublisher(func(p display.Publication) { got = append(got, p) })
	defer display.SetPublisher(nil)
	for name, mime := range map[string]string{"html": "text/html", "markdown": "text/markdown", "latex": "text/latex", "svg": "image/svg+xml"} {
		got = nil
		if _, err := run(t, "%%"+name+"\n<b>x</b>\n$y$\n"); err != nil || len(got) != 1 || got[0].Bundle.Data[mime] != "<b>x</b>\n$y$\n" {
			t.Errorf("%s showed %v, %v", name, got, err)
		}
	}
}

func TestShellStreams(t *testing.T) {
	needsShell(t)
	r := &recorder{}
	gate := filepath.Join(t.TempDir(), "gate")
	done := make(chan error, 1)
	go func() {
		done <- standard.Run(t.Context(), r, "%%bash\necho first; echo second >&2\nwhile [ ! -e '"+gate+"' ]; do sleep 0.01; done\necho third")
	}()
	waitFor(t, func() bool { return strings.Contains(r.text(), "first\n") && strings.Contains(r.text(), "second\n") })
	if strings.Contains(r.text(), "third") {
		t.Error("the command did not wait")
	}
	os.WriteFile(gate, nil, 0o666)
	if err := <-done; err != nil || !strings.HasSuffix(r.text(), "third\n") {
		t.Errorf("ended with %v after %q", err, r.text())
	}
}

func TestShellIsInterrupted(t *testing.T) {
	needsShell(t)
	for name, script := range map[string]string{
		"a child of the shell":     "sleep 1000 & echo $!; wait",
		"one that ignores signals": "trap '' INT TERM; echo $$; while :; do sleep 0.1; done",
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{}
			ctx, cancel := context.WithCancelCause(t.Context())
			stop := errors.New("stop")
			done := make(chan error, 1)
			go func() { done <- standard.Run(ctx, r, "%%bash\n"+script) }()
			waitFor(t, func() bool { return strings.Contains(r.text(), "\n") })
			cancel(stop)
			if err := <-done; err != stop {
				t.Errorf("ended with %v", err)
			}
			pid := strings.TrimSpace(r.text())
			waitFor(t, func() bool {
				state, err := os.ReadFile("/proc/" + pid + "/stat")
				return err != nil || strings.Contains(string(state), ") Z")
			})
		})
	}
}

func TestShellIsAskedToEnd(t *testing.T) {
	needsShell(t)
	if signal.Ignored(os.Interrupt) {
		t.Skip("SIGINT is ignored where this runs, such as in the background of a script: no shell can trap it then")
	}
	r := &recorder{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- standard.Run(ctx, r, "%%bash\ntrap 'echo cleaned up; exit' INT; echo ready; while :; do sleep 0.05; done")
	}()
	waitFor(t, func() bool { return r.text() == "ready\n" })
	cancel()
	if err := <-done; err != context.Canceled || r.text() != "ready\ncleaned up\n" {
		t.Errorf("ended with %v after %q", err, r.text())
	}
}

func TestShellLeavesBackgroundCommandsAlone(t *testing.T) {
	needsShell(t)
	gate := filepath.Join(t.TempDir(), "gate")
	r, err := run(t, "!sleep 1000 >/dev/null 2>&1 & echo $! > "+gate)
	if err != nil || r.text() != "" {
		t.Fatalf("%v, %q", err, r.text())
	}
	var pid int
	text, _ := os.ReadFile(gate)
	fmt.Sscan(string(text), &pid)
	p, err := os.FindProcess(pid)
	if err == nil && pid > 0 {
		err = p.Kill()
	}
	if pid == 0 || err != nil {
		t.Errorf("the background command ended with its line: %q, %v", text, err)
	}
}

func needsShell(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never came")
		}
	}
}

// TestTimeitLeavesOutCompilations has the first rows compile something.
func TestTimeitLeavesOutCompilations(t *testing.T) {
	for args, want := range map[string]int{
		"-r 4 f()":      3*2 + 1 + 4, // three times a search of loops and a row that compiles, then those that count
		"-n 2 -r 4 f()": 4,
	} {
		r := &recorder{}
		timed := 0
		r.eval = func(code string) error {
			if !strings.HasPrefix(code, "_timeit()") {
				return nil
			}
			timed++
			if timed%2 == 0 && timed <= 6 {
				r.compiled++
			}
			press := r.defined["_timeit"].(func())
			press()
			if strings.HasPrefix(args, "-r") {
				time.Sleep(enough + time.Millisecond) // so that one loop is enough
			}
			press()
			return nil
		}
		if err := standard.Run(t.Context(), r, "%timeit "+args); err != nil {
			t.Fatal(err)
		}
		if timed != want || !strings.Contains(r.text(), "of 4 runs") {
			t.Errorf("%%timeit %s: %d timed rows, want %d; printed %q", args, timed, want, r.text())
		}
	}
}
