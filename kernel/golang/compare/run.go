package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"gocuda/kernel/golang"
)

// A program is declarations with a function NAMEmain, and other names that begin
// with NAME.
type program struct {
	name  string
	decls string
	parts []snippet // those that it was made of, if it was
}

// imports are those of each program; what it does not need, it names.
const imports = `import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"
)

var _, _, _, _, _ = errors.New, fmt.Sprint, maps.Clone[map[int]int], math.Abs, os.Exit
var _, _, _, _, _ = slices.Clone[[]int], strconv.Itoa, strings.Repeat, sync.NewCond, time.Now
var _, _ = sort.Ints, unsafe.Pointer(nil)
`

// shared is what all programs may use.
const shared = matrixHelpers + moreHelpers + idiomHelpers

// whole is the program as one file.
func (p program) whole() string {
	return "package main\n\n" + imports + shared + p.decls + "\nfunc main() { " + p.name + "main() }\n"
}

// An outcome is what running a program gave.
type outcome struct {
	Out    []byte
	Status int
	Err    string `json:",omitempty"` // what went to stderr

	endless bool // it was ended after patience
}

// A difference is a program that does not run as it does when it is compiled.
type difference struct {
	program   program
	mode      string
	got, want outcome
}

func (d difference) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, as %s:\n", d.program.name, d.mode)
	got, want := strings.Split(string(d.got.Out), "\n"), strings.Split(string(d.want.Out), "\n")
	heading := ""
	for i := range max(len(got), len(want)) {
		g, w := "(nothing)", "(nothing)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if strings.HasPrefix(w, "# ") {
			heading = w + "\n"
		}
		if g != w {
			fmt.Fprintf(&b, "%sline %d is\n\t%s\nand compiled\n\t%s\n", heading, i+1, g, w)
			break
		}
	}
	if d.got.Status != d.want.Status {
		fmt.Fprintf(&b, "exit status %d, compiled %d\n", d.got.Status, d.want.Status)
	}
	if d.got.Err != "" {
		b.WriteString(strings.TrimSpace(d.got.Err) + "\n")
	}
	return b.String()
}

// accepted drops the functions of a list that the compiler would not take.
// text gives the function with a number.
func accepted(n int, text func(i int) string) ([]bool, error) {
	ok := make([]bool, n)
	var b strings.Builder
	b.WriteString("package main\n\n" + imports + shared)
	line := strings.Count(b.String(), "\n") + 1
	first := make([]int, n+1) // the line on which each begins
	for i := range n {
		first[i] = line
		t := text(i)
		_, err := parser.ParseFile(token.NewFileSet(), "", "package main\n"+t, parser.SkipObjectResolution)
		if ok[i] = err == nil; !ok[i] {
			continue
		}
		b.WriteString(t)
		line += strings.Count(t, "\n")
	}
	first[n] = line
	fset := token.NewFileSet()
	refuse := func(pos token.Position, msg string) error {
		if pos.Line < first[0] {
			return fmt.Errorf("%s: %s", pos, msg)
		}
		for i := range n {
			if first[i] <= pos.Line && pos.Line < first[i+1] {
				ok[i] = false
			}
		}
		return nil
	}
	file, err := parser.ParseFile(fset, "all.go", b.String(), parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	packages, err := exports()
	if err != nil {
		return nil, err
	}
	var bad error
	conf := types.Config{Importer: packages, GoVersion: "go1.26", Error: func(err error) {
		if e := new(types.Error); errors.As(err, e) {
			if err := refuse(e.Fset.Position(e.Pos), e.Msg); err != nil {
				bad = err
			}
		}
	}}
	conf.Check("main", fset, []*ast.File{file}, nil)
	return ok, bad
}

// exports imports packages of the standard library from what the go command has
// compiled of them.
var exports = sync.OnceValues(func() (types.Importer, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", "package main\n"+imports, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	args := []string{"list", "-trimpath", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}
	for _, i := range file.Imports {
		args = append(args, strings.Trim(i.Path.Value, `"`))
	}
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	files := make(map[string]string)
	for _, line := range strings.Split(string(out), "\n") {
		path, file, _ := strings.Cut(line, " ")
		files[path] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }), nil
})

// compiled builds programs into one binary and runs each.
func compiled(ctx context.Context, dir string, list []program) ([]outcome, error) {
	var main strings.Builder
	main.WriteString("package main\n\nimport \"os\"\n\nfunc main() {\n\tswitch os.Args[1] {\n")
	write := func(name, text string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644) }
	if err := write("go.mod", "module programs\n\ngo 1.26\n"); err != nil {
		return nil, err
	}
	if err := write("shared.go", "package main\n\n"+imports+shared); err != nil {
		return nil, err
	}
	for _, p := range list {
		fmt.Fprintf(&main, "\tcase %q:\n\t\t%smain()\n", p.name, p.name)
		if err := write(p.name+".go", "package main\n\n"+imports+p.decls); err != nil {
			return nil, err
		}
	}
	main.WriteString("\t}\n}\n")
	if err := write("main.go", main.String()); err != nil {
		return nil, err
	}
	compiler := exec.CommandContext(ctx, "go", "build", "-trimpath", "-gcflags=-e -N -l -dwarf=false", "-ldflags=-s -w", "-o", "programs", ".")
	compiler.Dir = dir
	compiler.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOGC=400") // the compiler collects a third of its time otherwise
	if out, err := compiler.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the compiler refuses: %w\n%.4000s", err, out)
	}
	outcomes := make([]outcome, len(list))
	for i, p := range list {
		within, cancel := context.WithTimeout(ctx, patience)
		cmd := exec.CommandContext(within, filepath.Join(dir, "programs"), p.name)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		late := within.Err() != nil
		cancel()
		if late {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			outcomes[i].endless = true
			continue
		}
		if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
			return nil, err
		}
		outcomes[i] = outcome{Out: out.Bytes(), Status: cmd.ProcessState.ExitCode(), Err: errs.String()}
	}
	return outcomes, nil
}

// patience is how long a compiled program may take. One that takes longer does not
// end, as far as can be told, and is not compared.
const patience = 20 * time.Second

// The ways in which the kernel runs a program.
var allModes = []string{"program", "cells"}

// job is what a worker is told to run: programs, one after the other, by one
// evaluator. Their output goes to the file Out.
type job struct {
	Out, Mode string
	Programs  []source
}

// source is a program on its way to a worker.
type source struct{ Name, Decls string }

// worker runs the programs of the jobs that it reads, and writes their outcomes.
func worker(in io.Reader, replies io.Writer) error {
	jobs := json.NewDecoder(in)
	for {
		var j job
		if err := jobs.Decode(&j); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		o, err := interpreted(j)
		if err != nil {
			return err
		}
		if err := json.NewEncoder(replies).Encode(o); err != nil {
			return err
		}
	}
}

// heading stands before the output of each program of a job.
func heading(name string) string { return "= " + name + "\n" }

// queue has an evaluator take something for queued most of the time, until ended: in between
// it enters compiled code, and leaves it.
func queue(ev *golang.Evaluator, ended chan struct{}) {
	for {
		ev.SetPending(true)
		time.Sleep(time.Millisecond)
		ev.SetPending(false)
		select {
		case <-ended:
			return
		case <-time.After(rand.N(500 * time.Microsecond)):
		}
	}
}

// interpreted runs programs by the kernel.
func interpreted(j job) (o outcome, err error) {
	out, err := os.Create(j.Out)
	if err != nil {
		return o, err
	}
	defer out.Close()
	stdout, stderr := os.Stdout, os.Stderr
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return o, err
	}
	defer null.Close()
	os.Stdout, os.Stderr = out, null
	defer func() { os.Stdout, os.Stderr = stdout, stderr }()
	var errs bytes.Buffer
	options := golang.Options{Stdout: out, Stderr: &errs}
	if *checked {
		options.Touches, options.Touched = func() bool { return true }, func(golang.Touch) {}
		ended := make(chan struct{})
		defer close(ended)
		options.Started = func(ev *golang.Evaluator) { go queue(ev, ended) }
	}
	if j.Mode == "program" {
		var b, calls strings.Builder
		b.WriteString("package main\n\n" + imports + shared)
		for _, p := range j.Programs {
			b.WriteString(p.Decls)
			fmt.Fprintf(&calls, "\tfmt.Print(%q)\n\t%smain()\n", heading(p.Name), p.Name)
		}
		fmt.Fprintf(&b, "\nfunc main() {\n%s}\n", &calls)
		o.Status = golang.RunProgram(options, []golang.File{{Name: j.Programs[0].Name + ".go", Code: b.String()}}, nil)
	} else {
		o.Status = runCells(options, j.Programs, out, &errs)
	}
	text, err := os.ReadFile(j.Out)
	o.Out, o.Err = text, errs.String()
	return o, err
}

// runCells runs programs as cells: what they share, and of each its declarations,
// and a call of its main.
func runCells(options golang.Options, list []source, out io.Writer, errs *bytes.Buffer) int {
	ev, err := golang.New(options)
	if err != nil {
		errs.WriteString(err.Error())
		return 1
	}
	if options.Started != nil {
		options.Started(ev)
	}
	n := 0
	eval := func(cell string) bool {
		n++
		res := ev.Eval(fmt.Sprintf("In[%d]", n), cell, true)
		if res.Err != nil {
			errs.WriteString(strings.Join(res.Err.Traceback, "\n"))
		}
		return res.Err == nil
	}
	if !eval(imports + shared) {
		return 1
	}
	for _, p := range list {
		io.WriteString(out, heading(p.Name))
		if !eval(p.Decls) {
			return 1
		}
		if !eval(p.Name + "main()") {
			return 2
		}
	}
	return 0
}

// A pool has workers, processes of this very program, and puts others in the
// place of those that programs end.
type pool struct {
	command func() *exec.Cmd
	limit   time.Duration // of one job
	dir     string
	endless []program // that were not compared: compiled, they do not end
}

// process is one worker.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	replies *bufio.Reader
	runs    int
}

func (p *pool) start() (*process, error) {
	cmd := p.command()
	cmd.Stderr = new(bytes.Buffer)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &process{cmd: cmd, in: in, replies: bufio.NewReader(out)}, cmd.Start()
}

func (w *process) stop() {
	w.in.Close()
	w.cmd.Wait()
}

// maxRuns bounds the jobs of one worker: each leaves something behind.
const maxRuns = 5

// run has jobs done by n workers, and gives each outcome to done.
func (p *pool) run(n int, jobs []job, done func(i int, o outcome)) error {
	next := make(chan int)
	go func() {
		for i := range jobs {
			next <- i
		}
		close(next)
	}()
	errs := make(chan error, n)
	var mu sync.Mutex
	for range n {
		go func() {
			var w *process
			var err error
			for i := range next {
				if w == nil && err == nil {
					w, err = p.start()
				}
				if err != nil {
					continue
				}
				var o outcome
				o, w = p.one(w, jobs[i])
				mu.Lock()
				done(i, o)
				mu.Unlock()
			}
			if w != nil {
				w.stop()
			}
			errs <- err
		}()
	}
	var first error
	for range n {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}

// one has a worker do a job. It returns the worker, unless it is gone.
func (p *pool) one(w *process, j job) (outcome, *process) {
	text, _ := json.Marshal(j)
	w.in.Write(append(text, '\n'))
	late := time.AfterFunc(p.limit, func() { w.cmd.Process.Kill() })
	line, err := w.replies.ReadBytes('\n')
	inTime := late.Stop()
	var o outcome
	if err == nil {
		err = json.Unmarshal(line, &o)
	}
	if w.runs++; err == nil && w.runs < maxRuns {
		return o, w
	}
	w.stop()
	if err != nil { // the program ended the worker
		out, _ := os.ReadFile(j.Out)
		o = outcome{Out: out, Status: w.cmd.ProcessState.ExitCode(), Err: fmt.Sprint(w.cmd.Stderr)}
		if !inTime {
			o.Err = "it does not end"
		}
	}
	return o, nil
}

// compare runs programs compiled and in the modes, or all, and returns those that differ.
func compare(ctx context.Context, p *pool, workers int, list []program, modes ...string) ([]difference, error) {
	if len(modes) == 0 {
		modes = allModes
	}
	dir, err := os.MkdirTemp(p.dir, "compiled")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	all, err := compiled(ctx, dir, list)
	if err != nil {
		return nil, err
	}
	var ending []program
	var want []outcome
	for i, o := range all {
		if o.endless {
			p.endless = append(p.endless, list[i])
		} else {
			ending, want = append(ending, list[i]), append(want, o)
		}
	}
	list = ending
	// Programs that end well run together first. Where these differ, each runs alone.
	together := make([][]int, 1)
	var alone [][]int
	size := 0
	for i := range list {
		if want[i].Status != 0 {
			alone = append(alone, []int{i})
			continue
		}
		if size += len(list[i].decls); size > perJob {
			together, size = append(together, nil), len(list[i].decls)
		}
		last := &together[len(together)-1]
		*last = append(*last, i)
	}
	var found []difference
	run := func(groups [][]int, modes []string) (several []difference, members [][]int, err error) {
		var jobs []job
		var of [][]int
		for _, g := range groups {
			if len(g) == 0 {
				continue
			}
			for _, mode := range modes {
				j := job{Out: filepath.Join(dir, fmt.Sprintf("%d.out", len(jobs))), Mode: mode}
				for _, i := range g {
					j.Programs = append(j.Programs, source{list[i].name, list[i].decls})
				}
				jobs, of = append(jobs, j), append(of, g)
			}
		}
		err = p.run(workers, jobs, func(k int, got outcome) {
			var text []byte
			for _, i := range of[k] {
				text = append(append(text, heading(list[i].name)...), want[i].Out...)
			}
			status := want[of[k][0]].Status
			switch {
			case bytes.Equal(got.Out, text) && got.Status == status:
			case len(of[k]) == 1:
				i := of[k][0]
				got.Out = bytes.TrimPrefix(got.Out, []byte(heading(list[i].name)))
				found = append(found, difference{list[i], jobs[k].Mode, got, want[i]})
			default:
				d := difference{mode: jobs[k].Mode, got: got, want: outcome{Out: text}}
				d.program.name = list[of[k][0]].name + "all"
				calls := ""
				for _, p := range jobs[k].Programs {
					d.program.decls += p.Decls
					calls += fmt.Sprintf("\tfmt.Print(%q)\n\t%smain()\n", heading(p.Name), p.Name)
				}
				d.program.decls += "func " + d.program.name + "main() {\n" + calls + "}\n"
				several, members = append(several, d), append(members, of[k])
			}
		})
		return several, members, err
	}
	several, members, err := run(append(together, alone...), modes)
	for k, d := range several {
		if err != nil {
			break
		}
		var each [][]int
		for _, i := range members[k] {
			each = append(each, []int{i})
		}
		before := len(found)
		if _, _, err = run(each, []string{d.mode}); len(found) == before {
			found = append(found, d) // only together
		}
	}
	return found, err
}

// perJob is how long the programs are that one evaluator runs, in bytes: more of
// them share what all have in common.
const perJob = 200 << 10
