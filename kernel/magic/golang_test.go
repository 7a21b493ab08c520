package magic_test

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	_ "gocuda/cudaapi/backend"
	"gocuda/kernel/display"
	"gocuda/kernel/golang"
	"gocuda/kernel/magic"
	"gocuda/kernel/packages"
)

// notebook runs cells with the real evaluator.
type notebook struct {
	*golang.Evaluator
	magics *magic.Set
	out    bytes.Buffer
	values []string
}

func newNotebook(t *testing.T) *notebook {
	n := &notebook{magics: magic.NewSet()}
	ev, err := golang.New(golang.Options{Packages: packages.All(), Stdout: &n.out, Stderr: &n.out})
	if err != nil {
		t.Fatal(err)
	}
	n.Evaluator = ev
	return n
}

func (n *notebook) Stdout() io.Writer { return &n.out }
func (n *notebook) Stderr() io.Writer { return &n.out }
func (n *notebook) Eval(code string, show bool) error {
	r := n.Evaluator.Eval("cell", code, !show)
	if r.Err != nil {
		return r.Err
	}
	if r.Value != nil {
		n.values = append(n.values, r.Value.Data["text/plain"].(string))
	}
	return nil
}

func (n *notebook) Syntax(code string) error {
	if err := n.Evaluator.Syntax("cell", code); err != nil {
		return err
	}
	return nil
}

func (n *notebook) History() []magic.Past { return nil }

func (n *notebook) Declarations(string) []magic.Declaration { return nil }

func (n *notebook) Names() []magic.Name {
	var list []magic.Name
	for _, name := range n.Evaluator.Names() {
		list = append(list, magic.Name{Name: name.Name, Kind: name.Kind, Type: name.Type})
	}
	return list
}
func (n *notebook) Text(string, int, int) (string, error) { return "", errors.ErrUnsupported }
func (n *notebook) SetNextInput(string)                   {}
func (n *notebook) Pager(display.Bundle)                  {}
func (n *notebook) Inspect(string) *display.Bundle        { return nil }

// cell runs a cell and returns what it printed.
func (n *notebook) cell(t *testing.T, code string) string {
	t.Helper()
	n.out.Reset()
	n.values = nil
	if err := n.magics.Run(t.Context(), n, code); err != nil {
		t.Fatalf("%s\nfailed: %v", code, err)
	}
	return n.out.String()
}

func TestGoAndMagics(t *testing.T) {
	t.Chdir(t.TempDir())
	n := newNotebook(t)
	n.cell(t, "type Point struct{ x, y int }\n!echo > made\nfunc sum(p Point) int { return p.x + p.y }\n%ls\np := Point{1, 2}\nsum(p)")
	if n.out.String() != "made\n" || len(n.values) != 1 || n.values[0] != "3" {
		t.Errorf("printed %q, showed %q", n.out.String(), n.values)
	}
	if got := n.cell(t, "%who"); got != "type  Point  struct{x int; y int}\nvar   p      Point\nfunc  sum    func(p Point) int\n" {
		t.Errorf("%%who printed\n%s", got)
	}
	n.out.Reset()
	err := n.magics.Run(t.Context(), n, "%reset\n\nx := 1\nx = nosuch")
	var e *golang.Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, ":4:5") {
		t.Errorf("an error below a magic is said to be at %v", err)
	}
	err = n.magics.Run(t.Context(), n, "z := 1\n!echo never\nz = := 2")
	if !errors.As(err, &e) || !strings.Contains(e.Message, ":3:5: syntax error") || n.out.String() != "" {
		t.Errorf("a mistake of syntax: %v, printed %q", err, n.out.String())
	}
	n.cell(t, "%reset")
	if got := n.cell(t, "%who"); got != "no names are declared\n" {
		t.Errorf("after %%reset, %%who printed\n%s", got)
	}
}

var timed = regexp.MustCompile(`^[0-9.]+ (s|ms|µs|ns) per loop \(mean ± [0-9.]+ (s|ms|µs|ns) of 2 runs of 3 loops each\), best [0-9.]+ (s|ms|µs|ns)\n.*interpreted.*\n$`)

func TestTiming(t *testing.T) {
	n := newNotebook(t)
	n.cell(t, "count := 0\nfunc f() { count++ }\nfunc g(s string) int { return len(s) }")
	for _, code := range []string{
		"%timeit -n 3 -r 2 f()", "%timeit -n3 -r=2 g(\"-n  9\")", "%timeit -r 2 -n 3 count + 1", "%timeit -n 3 -r 2 x := count; x++",
		"%timeit -n 3 -r 2 len(\"abc\")", "%timeit -n 3 -r 2 for range 2 { f() }",
		"%%timeit -n 3 -r 2\nx := count\nif x > 1 {\n    f()\n}", "%%timeit -n 3 -r 2\ncount + 1\n", "// note\n%timeit -n 3 -r 2 strings.Repeat(\"x\", 3) // why",
	} {
		if got := n.cell(t, code); !timed.MatchString(got) || len(n.values) != 0 {
			t.Errorf("%s\nprinted %q, showed %q", code, got, n.values)
		}
	}
	n.cell(t, "count = 0\n%timeit -n 3 -r 2 f()\ncount")
	if n.values[0] != "6" {
		t.Errorf("%%timeit -n 3 -r 2 ran its statement %s times", n.values)
	}
	if got := n.cell(t, "%timeit -r 1 f()"); !strings.Contains(got, "of 1 runs of ") || strings.Contains(got, "of 1 loops") {
		t.Errorf("%%timeit chose: %s", got)
	}
	if got := n.cell(t, "%time g(\"four\")"); !strings.HasPrefix(got, "Wall time: ") || n.values[0] != "4" {
		t.Errorf("%%time printed %q, showed %q", got, n.values)
	}
	if got := n.cell(t, "%%time\ny := 5\n\ny + 1\n"); !strings.HasPrefix(got, "Wall time: ") || n.values[0] != "6" {
		t.Errorf("%%%%time printed %q, showed %q", got, n.values)
	}
	for code, position := range map[string]string{
		"\n\n%time   nosuch()": ":3:9", "%%time\n\n  nosuch()": ":3:3", "\n%timeit -n 3 nosuch()": ":2:14", "%timeit nosuch()": ":1:9", "%timeit -n 4   1 + nosuch": ":1:20", "%%timeit\n\n  nosuch()": ":3:3",
		"\n%timeit panic(\"oh\")": "oh",
	} {
		err := n.magics.Run(t.Context(), n, code)
		if err == nil || !strings.Contains(err.Error(), position) {
			t.Errorf("%q: %v, want a mistake at %s", code, err, position)
		}
	}
	if got := n.cell(t, "%who"); strings.Contains(got, "_timeit") {
		t.Errorf("%%who lists %%timeit's own names:\n%s", got)
	}
}

func TestCUDAFromGo(t *testing.T) {
	t.Setenv("GOCUDA_BACKEND", "sim")
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("simulated devices need g++")
	}
	n := newNotebook(t)
	n.cell(t, "%%cuda --name m\n__global__ void twice(int n, float *x) { int i = threadIdx.x; if (i < n) x[i] *= 2; }\n")
	n.cell(t, `dev, _ := cuda.CurrentDevice()
x, _ := dev.Alloc(3, cuda.Float32)
x.Upload([]float32{1, 2, 3})
twice.Launch(cuda.Grid(1), cuda.Block(32), nil, 3, x)
got := make([]float32, 3)
x.Download(got)
got`)
	if len(n.values) != 1 || n.values[0] != "[]float32{2, 4, 6}" {
		t.Errorf("showed %q", n.values)
	}
	if n.cell(t, "m.Kernels()[0].Name()"); n.values[0] != `"twice"` {
		t.Errorf("the module has %s", n.values)
	}
	// A skeleton says that it is one, from inside a kernel.
	n.cell(t, "%%kernel\nfunc skeleton(x []float32) {\n\ttodo()\n}\n")
	n.cell(t, "judge(`1`, func() {\n\tmust(skeleton.Launch(cuda.Grid(1), cuda.Block(1), nil, x))\n\tmust(dev.Synchronize())\n})")
	if got := n.out.String(); !strings.Contains(got, "exercise 1: not solved yet\n") {
		t.Errorf("the judge of a skeleton says %q", got)
	}
	// The same name again, with another signature.
	n.cell(t, "%%cuda\n__global__ void twice(double *x) { *x *= 2; }\n")
	n.cell(t, "y, _ := dev.Alloc(1, cuda.Float64)\ny.Upload([]float64{4})\ntwice.Launch(cuda.Grid(1), cuda.Block(1), nil, y)\nout := []float64{0}\ny.Download(out)\nout[0]")
	if n.values[0] != "8" {
		t.Errorf("the new kernel gave %s", n.values)
	}
}
