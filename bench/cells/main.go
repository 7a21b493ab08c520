// Command cells measures functions of cells, compiled by %%compile, by themselves, and
// interpreted, beside the same functions compiled by Go: medians of runs in turns. What
// a cell takes the first time that it compiles itself is measured with an empty cache.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
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
}

func main() {
	n := flag.Int("n", 11, "runs of each")
	interpreted := flag.Bool("interpreted", false, "run the interpreter, too, once")
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
	benchmarks := []benchmark{
		{"loop of 3 million", "", "Loop(3_000_000)", func() any { return programs.Loop(3_000_000) }},
		{"fib(30)", "", "Fib(30)", func() any { return programs.Fib(30) }},
		{"n-body", "", "NBody(" + list + ", 200_000)", func() any { return programs.NBody(programs.Bodies(), 200_000) }},
		{"spectral norm", "u, v, w := make([]float64, 400), make([]float64, 400), make([]float64, 400)", "SpectralNorm(u, v, w)", func() any { return programs.SpectralNorm(u, v, w) }},
		{"Mandelbrot", "", "Mandelbrot(400)", func() any { return programs.Mandelbrot(400) }},
		{"matrix product", "a, b, c := make([]float64, 300*300), make([]float64, 300*300), make([]float64, 300*300)\nfor i := range a { a[i], b[i] = float64(i%7), float64(i%11) }",
			"MatMul(a, b, c, 300)", func() any { return programs.MatMul(a, b, c, 300) }},
		{"sieve", "composite := make([]bool, 5_000_000)", "Sieve(composite)", func() any { return programs.Sieve(composite) }},
		{"sorting", "numbers := make([]int, 300_000)", "Sort(numbers)", func() any { return programs.Sort(numbers) }},
		{"string scanning", `text := strings.Repeat("the quick brown fox jumps over the lazy dög\n", 100_000)`, "func() int { n, _ := Words(text); return n }()",
			func() any { n, _ := programs.Words(text); return n }},
		{"Jacobi", "ja, jb := make([]float64, 500*500), make([]float64, 500*500)", "Jacobi(ja, jb, 500, 100)", func() any { return programs.Jacobi(ja, jb, 500, 100) }},
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
	fmt.Println("| program | compiled by Go | compiled first | ratio | by itself, first | again | ratio | interpreted |\n|---|---|---|---|---|---|---|---|")
	for _, p := range benchmarks {
		eval(compiled, p.setup)
		eval(itself, p.setup)
		begun := time.Now()
		eval(itself, p.call)
		first := time.Since(begun)
		var byGo, byCell, again []time.Duration
		for range *n {
			begun := time.Now()
			want := p.run()
			byGo = append(byGo, time.Since(begun))
			begun = time.Now()
			got := eval(compiled, p.call)
			byCell = append(byCell, time.Since(begun))
			begun = time.Now()
			eval(itself, p.call)
			again = append(again, time.Since(begun))
			if got != fmt.Sprint(want) {
				log.Fatalf("%s gives %s, compiled by Go %v", p.name, got, want)
			}
		}
		slices.Sort(byGo)
		slices.Sort(byCell)
		slices.Sort(again)
		g, k, a, slow := byGo[len(byGo)/2], byCell[len(byCell)/2], again[len(again)/2], "-"
		if *interpreted {
			eval(plain, p.setup)
			begun := time.Now()
			eval(plain, p.call)
			slow = time.Since(begun).Round(time.Millisecond).String()
		}
		fmt.Printf("| %s | %.1f ms | %.1f ms | %.2f | %.1f ms | %.1f ms | %.2f | %s |\n", p.name, ms(g), ms(k), float64(k)/float64(g), ms(first), ms(a), float64(a)/float64(g), slow)
	}
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

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
