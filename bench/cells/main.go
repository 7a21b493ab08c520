// Command cells measures functions of cells, compiled by %%compile, by themselves, and
// interpreted, beside the same functions compiled by Go: medians of runs in turns. What
// a cell takes the first time that it compiles itself is measured with an empty cache.
// With -python, numba and ipykernel run the same programs in the same turns.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"gocuda/bench/cells/programs"
	"gocuda/kernel/golang"
)

// benchmark is a program.
type benchmark struct {
	name  string
	setup string // of a cell
	call  string
	run   func() any // compiled by Go
	alone bool       // Python has none of it
}

func main() {
	n := flag.Int("n", 11, "runs of each")
	interpreted := flag.Bool("interpreted", false, "run the interpreter, too, once")
	only := flag.String("only", "", "run the programs whose names have this in them")
	python := flag.String("python", "", "a Python with numba and ipykernel, to be run beside; ipykernel once")
	flag.Parse()
	const list = "[]Body{{Mass: 39.47}, {4.84, -1.16, -0.1, 0.6, 2.81, -0.02, 0.037}, {8.34, 4.12, -0.4, -1.01, 1.82, 0.008, 0.011},\n{12.89, -15.11, -0.22, 1.08, 0.86, -0.01, 0.0017}, {15.37, -25.91, 0.17, 0.97, 0.59, -0.034, 0.002}}"
	u, v, w := make([]float64, 400), make([]float64, 400), make([]float64, 400)
	a, b, c := make([]float64, 300*300), make([]float64, 300*300), make([]float64, 300*300)
	for i := range a {
		a[i], b[i] = float64(i%7), float64(i%11)
	}
	ja, jb := make([]float64, 500*500), make([]float64, 500*500)
	composite, numbers := make([]bool, 5_000_000), make([]int, 300_000)
	text := strings.Repeat("the quick brown fox jumps over the lazy dög\n", 100_000)
	lines := text[:20_000*len(text)/100_000]
	benchmarks := []benchmark{
		{"loop of 3 million", "", "Loop(3_000_000)", func() any { return programs.Loop(3_000_000) }, false},
		{"fib(30)", "", "Fib(30)", func() any { return programs.Fib(30) }, false},
		{"n-body", "", "NBody(" + list + ", 200_000)", func() any { return programs.NBody(programs.Bodies(), 200_000) }, false},
		{"spectral norm", "u, v, w := make([]float64, 400), make([]float64, 400), make([]float64, 400)", "SpectralNorm(u, v, w)", func() any { return programs.SpectralNorm(u, v, w) }, false},
		{"Mandelbrot", "", "Mandelbrot(400)", func() any { return programs.Mandelbrot(400) }, false},
		{"matrix product", "a, b, c := make([]float64, 300*300), make([]float64, 300*300), make([]float64, 300*300)\nfor i := range a { a[i], b[i] = float64(i%7), float64(i%11) }",
			"MatMul(a, b, c, 300)", func() any { return programs.MatMul(a, b, c, 300) }, false},
		{"sieve", "composite := make([]bool, 5_000_000)", "Sieve(composite)", func() any { return programs.Sieve(composite) }, false},
		{"sorting", "numbers := make([]int, 300_000)", "Sort(numbers)", func() any { return programs.Sort(numbers) }, false},
		{"string scanning", `text := strings.Repeat("the quick brown fox jumps over the lazy dög\n", 100_000)`, "func() int { n, _ := Words(text); return n }()",
			func() any { n, _ := programs.Words(text); return n }, false},
		{"Jacobi", "ja, jb := make([]float64, 500*500), make([]float64, 500*500)", "Jacobi(ja, jb, 500, 100)", func() any { return programs.Jacobi(ja, jb, 500, 100) }, false},
		{"words counted in a map", `lines := strings.Repeat("the quick brown fox jumps over the lazy dög\n", 20_000)`, "Count(lines)", func() any { return programs.Count(lines) }, true},
		{"memoised recursion", "", "Collatz(200_000)", func() any { return programs.Collatz(200_000) }, true},
		{"sparse vectors", "", "Sparse(100_000)", func() any { return programs.Sparse(100_000) }, true},
		{"a tree", "", "Tree(50_000)", func() any { return programs.Tree(50_000) }, true},
	}
	_, source, _ := strings.Cut(programs.Source, "// Fib is")
	source = "import \"math\"\n// Fib is" + source
	cache, err := os.MkdirTemp("", "gocuda-bench-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(cache)
	os.Setenv("GOCUDA_CACHE", cache)
	compiled, itself, plain := session(source, true), session(source, false), session(source, false)
	plain.SetCompile(false)
	for _, f := range compiled.Compiled() {
		if f.Reason != "" {
			log.Fatalf("%s is not compiled: %s", f.Name, f.Reason)
		}
	}
	var beside *peer
	if *python != "" {
		beside = start(*python)
		defer beside.end()
	}
	fmt.Println("| program | compiled by Go | compiled first | ratio | by itself, first | again | ratio | interpreted | numba, first | again | ipykernel |\n|---|---|---|---|---|---|---|---|---|---|---|")
	for i, p := range benchmarks {
		if !strings.Contains(p.name, *only) {
			continue
		}
		eval(compiled, p.setup)
		eval(itself, p.setup)
		first := timed(func() { eval(itself, p.call) })
		slow, numbaFirst, ipykernel := math.NaN(), math.NaN(), math.NaN()
		if *interpreted {
			eval(plain, p.setup)
			slow = timed(func() { eval(plain, p.call) })
		}
		if beside != nil && !p.alone {
			numbaFirst, ipykernel = beside.run("numba", i), beside.run("ipykernel", i)
		}
		var byGo, byCell, again, numba []float64
		for range *n {
			var want any
			var got string
			byGo = append(byGo, timed(func() { want = p.run() }))
			byCell = append(byCell, timed(func() { got = eval(compiled, p.call) }))
			again = append(again, timed(func() { eval(itself, p.call) }))
			if got != fmt.Sprint(want) {
				log.Fatalf("%s gives %s, compiled by Go %v", p.name, got, want)
			}
			if beside != nil && !p.alone {
				numba = append(numba, beside.run("numba", i))
			}
		}
		g, k, a := median(byGo), median(byCell), median(again)
		fmt.Printf("| %s | %s | %s | %.2f | %s | %s | %.2f | %s | %s | %s | %s |\n", p.name,
			ms(g), ms(k), k/g, ms(first), ms(a), a/g, ms(slow), ms(numbaFirst), ms(median(numba)), ms(ipykernel))
	}
}

// timed gives the milliseconds that a function takes.
func timed(f func()) float64 {
	begun := time.Now()
	f()
	return time.Since(begun).Seconds() * 1e3
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	slices.Sort(list)
	return list[len(list)/2]
}

func ms(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf("%.1f ms", v)
}

// peer is cells.py.
type peer struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func start(python string) *peer {
	cmd := exec.Command(python, "bench/cells/cells.py")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		log.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		log.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		log.Fatal(err)
	}
	p := &peer{cmd, in, bufio.NewScanner(out)}
	if p.out.Scan(); p.out.Text() != "ready" {
		log.Fatalf("%s does not start (it is run from the repository's root)", cmd)
	}
	return p
}

// run has a program run, by its number, and gives the milliseconds that it took.
func (p *peer) run(how string, i int) float64 {
	fmt.Fprintln(p.in, how, i)
	p.out.Scan()
	v, err := strconv.ParseFloat(p.out.Text(), 64)
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func (p *peer) end() {
	p.in.Close()
	p.cmd.Wait()
}

// session has the functions, compiled or not.
func session(source string, compile bool) *golang.Evaluator {
	ev, err := golang.New(golang.Options{})
	if err != nil {
		log.Fatal(err)
	}
	run := func() error { eval(ev, source); return nil }
	if compile {
		err = ev.CompileNext(run)
	} else {
		err = run()
	}
	if err != nil {
		log.Fatal(err)
	}
	return ev
}

// eval runs a cell, and gives what it shows.
func eval(ev *golang.Evaluator, code string) string {
	res := ev.Eval("bench", code, false)
	if res.Err != nil {
		log.Fatal(res.Err.Plain())
	}
	if res.Value == nil {
		return ""
	}
	return fmt.Sprint(res.Value.Data["text/plain"])
}
