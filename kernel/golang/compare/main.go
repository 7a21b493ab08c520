// Command compare looks for Go that cells run otherwise than compiled Go. It
// makes programs, random ones and those of a matrix (each statement in each
// context, each expression in each operand position), runs them compiled and by
// the kernel, as programs and as cells, and prints which differ.
//
// A short run with a seed of its own is among the tests; this is for long ones.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// checked has programs tell what they read and write, as under the check of missing waits.
var checked = flag.Bool("check", false, "have programs tell what they read and write, as %check does")

func main() {
	log.SetFlags(0)
	log.SetPrefix("compare: ")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the programs")
	n := flag.Int("n", 1000, "random programs")
	only := flag.Int("only", -1, "of the random programs run that with this `number` alone")
	share := flag.Int("matrix", 0, "run one of so many entries of the matrix; 0: none")
	orders := flag.Int("orders", 0, "random programs that ask for the order of evaluation")
	statements := flag.String("statements", "", "ask for the order of evaluation of the statements of this `file`, which empty lines separate")
	workers := flag.Int("j", runtime.NumCPU(), "programs that the kernel runs at a time")
	keep := flag.String("keep", "", "write programs that differ to this `folder`")
	limit := flag.Duration("timeout", 30*time.Second, "time limit of one program")
	reduce := flag.Int("reduce", 3, "make so many of the programs that differ smaller")
	work := flag.Bool("worker", false, "run programs for another process")
	flag.Parse()
	if *work {
		if err := worker(os.Stdin, os.Stdout); err != nil {
			log.Fatal(err)
		}
		return
	}
	dir, err := os.MkdirTemp("", "compare")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	p := &pool{limit: *limit, dir: dir, command: func() *exec.Cmd { return exec.Command(os.Args[0], "-worker", fmt.Sprintf("-check=%v", *checked)) }}
	fmt.Println("seed", *seed)
	s := &search{pool: p, workers: *workers, reduce: *reduce, report: func(d difference) {
		fmt.Println(d)
		if len(d.program.decls) < 2000 {
			fmt.Println(d.program.decls)
		}
		if *keep != "" {
			os.MkdirAll(*keep, 0o755)
			os.WriteFile(filepath.Join(*keep, d.program.name+".go"), []byte(d.program.whole()), 0o644)
		}
	}}
	if *share > 0 {
		err = s.matrix(context.Background(), *seed, *share)
	}
	if *statements != "" {
		err = s.statements(context.Background(), *statements)
	}
	for i := 0; i < *orders && err == nil; i += batch / 10 {
		err = s.orders(context.Background(), *seed+uint64(i), min(batch/10, *orders-i), batch)
		log.Printf("%d programs of %d functions, %d differ", s.programs, s.functions, s.differ)
	}
	if *only >= 0 {
		err = s.random(context.Background(), *seed, *only, *only+1)
		*n = 0
	}
	for i := 0; i < *n && err == nil; i += batch {
		err = s.random(context.Background(), *seed+uint64(i), 0, min(batch, *n-i))
		log.Printf("%d programs, %d differ", s.programs, s.differ)
	}
	if err != nil {
		log.Print(err)
	}
	for _, e := range p.endless {
		fmt.Printf("%s does not end\n%s", e.name, e.decls)
	}
	fmt.Printf("%d programs and %d entries of the matrix: %d differ\n", s.programs, s.entries, s.differ)
	if err != nil || s.differ > 0 {
		os.RemoveAll(dir)
		os.Exit(1)
	}
}

// batch is how many programs are compiled into one binary.
const batch = 100

// A search runs programs and reports those that differ.
type search struct {
	pool      *pool
	workers   int
	report    func(difference)
	reduce    int // so many of the programs that differ are made smaller
	programs  int // random ones
	functions int // of those that ask for the order of evaluation
	entries   int // of the matrix
	differ    int
}

// perProgram is how many functions of the matrix make a program.
const perProgram = 100

// matrix runs a share of the matrix. Of a program that differs, the functions
// are run one by one.
func (s *search) matrix(ctx context.Context, seed uint64, share int) error {
	list := matrix(seed, share)
	ok, err := accepted(len(list), func(i int) string { return list[i].text(fmt.Sprintf("m%d", i)) })
	if err != nil {
		return err
	}
	var good []snippet
	for i, e := range list {
		if ok[i] {
			good = append(good, e)
		}
	}
	s.entries += len(good)
	var programs []program
	for i := 0; i < len(good); i += perProgram {
		programs = append(programs, matrixProgram(fmt.Sprintf("m%d", i), good[i:min(i+perProgram, len(good))]))
	}
	for len(programs) > 0 {
		n := min(batch/4, len(programs))
		found, err := compare(ctx, s.pool, s.workers, programs[:n])
		if err != nil {
			return err
		}
		programs = programs[n:]
		if err := s.alone(ctx, found); err != nil {
			return err
		}
		late := s.pool.endless
		s.pool.endless = nil
		for _, p := range late { // one of its functions, perhaps
			if err := s.alone(ctx, []difference{{program: p}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// alone runs the functions of programs that differ one by one.
func (s *search) alone(ctx context.Context, found []difference) error {
	var single []program
	seen := make(map[string]bool)
	for _, d := range found {
		if seen[d.program.name] {
			continue
		}
		seen[d.program.name] = true
		for i, e := range d.program.parts {
			single = append(single, matrixProgram(fmt.Sprintf("%s_%d", d.program.name, i), []snippet{e}))
		}
	}
	differs := false
	for i := 0; i < len(single); i += batch {
		again, err := compare(ctx, s.pool, s.workers, single[i:min(i+batch, len(single))])
		if err != nil {
			return err
		}
		for _, d := range again {
			differs = true
			s.differ++
			s.report(d)
		}
	}
	for _, d := range found { // together only
		if !differs && d.mode != "" {
			s.differ++
			s.report(d)
		}
	}
	return nil
}

// matrixProgram is a program that calls functions of the matrix.
func matrixProgram(name string, list []snippet) program {
	var b, calls strings.Builder
	for i, e := range list {
		f := fmt.Sprintf("%s_f%d", name, i)
		b.WriteString(e.text(f))
		fmt.Fprintf(&calls, "\ttry(%q, %s)\n", strings.ReplaceAll(e.title, "\n", "; "), f)
	}
	fmt.Fprintf(&b, "func %smain() {\n%s}\n", name, &calls)
	return program{name: name, decls: b.String(), parts: list}
}
