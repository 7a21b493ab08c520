package export

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gocuda/kernel/golang"
	"gocuda/kernel/notebook"
	"gocuda/kernel/packages"
)

// write exports a notebook of code cells and returns what was said, and main.go.
func write(t *testing.T, cells ...string) (said, program string) {
	t.Helper()
	nb := &notebook.Notebook{Minor: 5}
	for _, c := range cells {
		nb.Cells = append(nb.Cells, &notebook.Cell{Kind: notebook.Code, Source: c})
	}
	dir := t.TempDir()
	issues, err := Write(nb, dir, Options{Name: "test", Title: "test.ipynb", Gocuda: filepath.Join("..", ".."),
		NewEvaluator: func(builtins map[string]any) (*golang.Evaluator, error) {
			builtins["input"] = func(...string) string { return "" }
			return golang.New(golang.Options{Packages: packages.All(), Builtins: builtins})
		}})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, i := range issues {
		list = append(list, i.String())
	}
	text, err := os.ReadFile(filepath.Join(dir, "main.go"))
	for _, i := range issues {
		if i.Fatal && err == nil {
			t.Error("a program was written although:", i)
		}
	}
	return strings.Join(list, "\n"), string(text)
}

// A program has functions of its own for what checks and judges in notebooks, by
// names that no cell declares.
func TestJudging(t *testing.T) {
	said, program := write(t, "check(true, \"no\")", "func todo() {}", "judge(\"1\", func() { check(false, \"%d\", 1) })")
	for _, want := range []string{"\tcheck(true, \"no\")", "func check(ok bool", "func judge(id string", "\tjudge(\"1\", func() { check(false"} {
		if said != "" || !strings.Contains(program, want) {
			t.Errorf("%s: no %q in\n%s", said, want, program)
		}
	}
	if strings.Count(program, "func todo()") != 1 {
		t.Error("todo is there more than once:\n" + program)
	}
}

// What a program does not have is said, with cell and line.
func TestIssues(t *testing.T) {
	for _, c := range []struct {
		cells []string
		want  string
	}{
		{[]string{"x := 1\n%timeit x + 1\nx"}, "cell 1, line 2: %timeit x + 1 is left out"},
		{[]string{"x := 1", "!ls -l"}, "cell 2, line 1: !ls -l is left out"},
		{[]string{"%%bash\nls"}, "cell 1, line 1: %%bash is left out"},
		{[]string{"\nname := input(\"who? \")\nname"}, "cell 1, line 2: input asks the notebook's user"},
		{[]string{"widgets.NewButton(\"go\")"}, "cell 1"},
		{[]string{"x := 1", "x := y"}, "undefined: y"},
		{[]string{"%%mpi\nrank"}, "cell 1, line 1: %%mpi: no earlier cell has %mpi start"},
		{[]string{"%mpi start -n 2", "mpi.Pull(\"nothing\")", "%%mpi\nrank"}, "no cell of the ranks declares it"},
		{[]string{"%mpi start -n 2", "name := \"x\"\nmpi.Pull(name)", "%%mpi\nrank"}, "cell 2, line 2: mpi.Pull needs a constant name"},
		{[]string{"%mpi start -n 2", "%%mpi --no-wait\nrank"}, "cell 2, line 1: %%mpi --no-wait: the program waits"},
		{[]string{"type t struct{}\nfunc (t) m() int { return 1 }", "func (t) m() int { return 2 }\nt{}.m()"}, "cell 2: declares the method m again, with another body"},
		{[]string{"func f[T any](v T) T { return v }", "func f[T any](v T) T { var w T; return w }\nf(1)"}, "declares the generic function f again"},
		{[]string{"package main\nfunc main() {}"}, "cell 1, line 1: the cell is a program of its own"},
		{[]string{"%%cuda --wrong\n__global__ void k() {}\n"}, ""},
	} {
		if said, _ := write(t, c.cells...); !strings.Contains(said, c.want) {
			t.Errorf("%q: %q, want %q", c.cells, said, c.want)
		}
	}
}

// A magic that looks at a cell as it runs may stand above others.
func TestMagicsBelowMagics(t *testing.T) {
	said, program := write(t, "ranks, timeline := 2, \"Linux\"\n%mpi start -n {ranks}", "%%timeline\n%%mpi\nfmt.Println(mpi.World().Rank())", "%%time\n%env A=B\nfmt.Println(1)",
		"%%timeline Twice\n%%check\ncuda.Synchronize()\ntimeline", "%%check\nhazard.Forget()", "%%timeline\nx := 1", "%%mpi 0\n%%timeline Rank 0\nrank")
	for _, want := range []string{"cell 2, line 1: %%timeline: rank 0's timeline is recorded, and not drawn", "cell 4, line 1: %%timeline: the timeline is recorded, and not drawn", "cell 3, line 1: %%time: the time is not printed"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q, want %q", said, want)
		}
	}
	for _, want := range []string{`ranks = spmd.Start(ranks)`, `must0(timeline.Record("cell2", func() { spmd.Run("cell2") }))`, `must0(timeline.Record("Rank 0", func() { spmd.Run("cell7", 0) }))`, `os.Setenv("A", "B")`,
		`must0(timeline.Record("Twice", func() { must0(hazard.Checked(os.Stderr, cell4)) }))`, "must0(hazard.Checked(os.Stderr, cell5))", `ranks, timeline2 = 2, "Linux"`} {
		if !strings.Contains(program, want) {
			t.Errorf("%s\n%s\nwant %s", said, program, want)
		}
	}
}

// The program is what a Go programmer would write of the cells.
func TestProgram(t *testing.T) {
	said, program := write(t,
		"n := 3 // how many\nfunc double(v int) int { return 2 * v }",
		"list := []int{}\nfor i := range n {\n\tlist = append(list, double(i)) // twice\n}\nlist",
		"n := \"text\"\nn, len(n)",
		"must(strconv.Atoi(\"7\"))\nos.Setenv(\"A\", n)",
	)
	if said != "" {
		t.Error(said)
	}
	_, body, _ := strings.Cut(program, "func main() {")
	const want = `
	cell1()
	cell2()
	cell3()
	cell4()
}

var n int

func double(v int) int { return 2 * v }

func cell1() {
	n = 3 // how many
}

func cell2() {
	list := []int{}
	for i := range n {
		list = append(list, double(i)) // twice
	}
	display.Show(list)
}

var n2 string

func cell3() {
	n2 = "text"
	show(n2, len(n2))
}

func cell4() {
	must(strconv.Atoi("7"))
	must0(os.Setenv("A", n2))
}
`
	if got, _, _ := strings.Cut(body, "\n// show shows"); got != want {
		t.Errorf("%s\nwant%s", got, want)
	}
}

// A %%cuda cell takes the functions along that it calls of %%kernel cells.
func TestCUDACallsGo(t *testing.T) {
	said, program := write(t,
		"%%kernel\nfunc half(x float32) float32 { return x / 2 }\n\nfunc halves(x []float32) { x[gpu.ThreadIdx.X] = half(x[gpu.ThreadIdx.X]) }",
		"%%cuda\n__global__ void quarters(float *x) { x[threadIdx.x] = half(half(x[threadIdx.x])); }",
	)
	if said != "" {
		t.Error(said)
	}
	for _, want := range []string{"//go:embed kernels/cell2_Go.go.txt\nvar cell2CUDAGo string\n", "cuda.WithGo(cell2CUDAGo)", "quarters := must(cell2Module.Kernel(\"quarters\"))"} {
		if !strings.Contains(program, want) {
			t.Errorf("%s\ndoes not have\n%s", program, want)
		}
	}
}

// What Go cells use of a %%kernel cell is Go of the program too.
func TestKernelCellsDeclareForGo(t *testing.T) {
	said, program := write(t,
		"%%kernel\ntype Point struct{ X, Y float32 }\n\nfunc (p Point) sum() float32 { return p.X + p.Y }\n\nfunc sums(list []Point, out []float32) {\n\tout[gpu.ThreadIdx.X] = list[gpu.ThreadIdx.X].sum()\n}",
		"fmt.Println(Point{1, 2}.sum())",
	)
	if said != "" {
		t.Error(said)
	}
	for _, want := range []string{"\ntype Point struct{ X, Y float32 }\n", "\nfunc (p Point) sum() float32 { return p.X + p.Y }\n", "fmt.Println(Point{1, 2}.sum())"} {
		if strings.Count(program, want) != 1 {
			t.Errorf("%s\ndoes not have once\n%s", program, want)
		}
	}
}

// The PTX of a cell is a file of the module, and is loaded at the start.
func TestPTX(t *testing.T) {
	const code = ".version 7.0\n.target sm_70\n.address_size 64\n// .entry none\n.visible .entry a$b(.param .u64 p) { ret; }\n.visible .entry copy(.param .u64 p) { ret; }\n"
	said, program := write(t, "%%ptx --name m\n"+code, "copy_.Launch(cuda.Grid(1), cuda.Block(1), nil, 0)", "%%ptx\n"+code)
	if said != "" {
		t.Error(said)
	}
	for _, want := range []string{
		"//go:embed kernels/cell1.ptx\nvar cell1PTX string\n", "m := must(cuda.LoadPTX(cell1PTX))", "must(m.Kernel(\"a$b\"))", "copy_ = must(m.Kernel(\"copy\"))",
		"cell3Module := must(cuda.LoadPTX(cell3PTX))", "must0(copy_.Launch(",
	} {
		if !strings.Contains(program, want) {
			t.Errorf("%s\ndoes not have\n%s", program, want)
		}
	}
	if said, _ := write(t, "%%ptx\n.version 7.0\n"); !strings.Contains(said, "cell 1, line 1: %%ptx: there is no .entry in this cell") {
		t.Error(said)
	}
}
