package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"gocuda/cudaapi/hazard"
	"gocuda/install"
	"gocuda/kernel"
	"gocuda/kernel/check"
	"gocuda/kernel/evaluator"
	"gocuda/kernel/notebook"
	"gocuda/kernel/profiling"
	"gocuda/kernel/ranks"
	"gocuda/kernel/session"
	"gocuda/kernel/solved"
	"gocuda/kernel/tracing"
)

const runDetails = `
The notebook's code cells run in order, in the notebook's folder, and their
outputs are saved. The run ends at the first cell that fails: its error is
saved too, and the exit status is 1. A cell tagged raises-exception may fail,
and one tagged skip-execution is left out.

Values of -p are Go literals (8, -1.5, true, "text", []int{1, 2}); anything
else is taken as text. They go into a cell of their own after the one tagged
parameters, as papermill does it.

With --check the exit status is 1 if cells have hazards, which are shown. Those of a
cell tagged has-hazards do not count, nor do possible ones, where it is not known what
a kernel touches.

With --solutions the solutions of exercises stand where a reader writes: what the
code blocks of a Markdown cell tagged solution:1 hold takes the places of the cells
tagged exercise:1, and the cell tagged judge:1 must then say "exercise 1: right".

NOTEBOOK may be - for standard input, and OUT - for standard output.

With -in-process the cells run in the process that the command starts, so that
debuggers and profilers find them there. Under compute-sanitizer, ncu and nsys
that is so without the flag:
  compute-sanitizer --target-processes all gocuda-kernel run NOTEBOOK
Ranks are other processes, each to be started by the tool:
  GOCUDA_WRAP="compute-sanitizer --tool racecheck" gocuda-kernel run NOTEBOOK`

type parameters []notebook.Parameter

func (p *parameters) String() string { return "" }

func (p *parameters) Set(s string) error {
	one, err := notebook.ParseParameter(s)
	*p = append(*p, one)
	return err
}

func runNotebook(c *call) error {
	var given parameters
	out := c.flags.String("o", "", "save the executed notebook as `OUT` (default: NOTEBOOK with .executed before .ipynb)")
	inPlace := c.flags.Bool("inplace", false, "save it over NOTEBOOK")
	timeout := c.flags.Duration("timeout", 0, "interrupt a cell that takes longer than `D`, such as 90s or 5m, and fail (default: no limit)")
	allow := c.flags.Bool("allow-errors", false, "go on after a cell that failed")
	here := c.flags.Bool("in-process", underTool, "evaluate the cells in this process")
	checked := c.flags.Bool("check", false, "check the cells for missing waits, and fail if there are any: see %check")
	solutions := c.flags.Bool("solutions", false, "put the solutions of the notebook's exercises in their places, and fail unless each is judged right")
	quiet := c.flags.Bool("q", false, "show no progress")
	c.flags.Var(&given, "p", "set a parameter, `NAME=VALUE` (may be repeated)")
	args, err := c.parse("notebook")
	if err != nil {
		return err
	}
	in := args[0]
	switch {
	case *inPlace && *out != "":
		return usageError{"-o and --inplace cannot be used together"}
	case *inPlace:
		*out = in
	case *out == "" && in == "-":
		*out = "-"
	case *out == "":
		*out = strings.TrimSuffix(in, ".ipynb") + ".executed.ipynb"
	}
	nb, dir, err := readNotebook(in)
	if err != nil {
		return err
	}
	if *here {
		if err := c.keepOutputs(); err != nil {
			return err
		}
		// The cells change the folder to the notebook's.
		for _, path := range []*string{out, &dir} {
			if *path != "-" {
				if *path, err = filepath.Abs(*path); err != nil {
					return err
				}
			}
		}
	}
	if err := describe(nb); err != nil {
		return err
	}
	for _, name := range nb.Inject(given) {
		fmt.Fprintf(c.stderr, "note: the notebook has no parameter %s; it is set anyway\n", name)
	}
	var exercises []*notebook.Exercise
	if *solutions {
		if exercises, err = nb.Exercises(); err != nil {
			return err
		}
		for _, e := range exercises {
			e.Fill(e.Solution)
		}
	}
	if err := saveNotebook(c.stdout, nb, *out, false); err != nil { // before an hour's work
		return err
	}

	if *checked {
		if err := os.Setenv(hazard.Env, "1"); err != nil { // for the evaluator
			return err
		}
	}
	ctx, stop := signal.NotifyContext(c.ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := newProgress(c.stderr, *quiet)
	err = notebook.Run(ctx, nb, notebook.RunOptions{
		Start: func(output func(session.Output)) (notebook.Evaluator, error) {
			o := session.Options{Output: output, Dir: dir}
			if *here {
				o.Here = func(stream io.ReadWriteCloser) error {
					return evaluator.Serve(stream, ranks.Attach, check.Attach, tracing.Attach, profiling.Attach, solved.Attach)
				}
			}
			return session.Start(o)
		},
		Timeout:     *timeout,
		AllowErrors: *allow,
		Before:      p.begin,
		After: func(s notebook.Step) error {
			p.end(s)
			return nil
		},
		Save: func() error { return saveNotebook(c.stdout, nb, *out, false) },
	})
	p.close()
	saved := saveNotebook(c.stdout, nb, *out, true)
	if n := hazards(nb, c.stderr); *checked && n > 0 {
		err = errors.Join(err, fmt.Errorf("%d cells have hazards: operations on the same memory that nothing orders", n))
	}
	var failure *notebook.Failure
	if err == nil {
		err = notebook.NotRight(exercises)
	} else if errors.As(err, &failure) {
		for _, line := range failure.Step.Err.Traceback {
			fmt.Fprintln(c.stderr, plain(c.stderr, line))
		}
	}
	if err := errors.Join(err, saved); err != nil {
		if errors.Is(context.Cause(ctx), context.Canceled) && saved == nil {
			return exitStatus(130)
		}
		return err
	}
	if *out != "-" && !*quiet {
		fmt.Fprintf(c.stderr, "saved %s\n", *out)
	}
	return nil
}

// hazards shows the reports that are among the outputs, and counts the cells that
// have some which are more than possible, and are not there to show them.
func hazards(nb *notebook.Notebook, w io.Writer) (n int) {
	for i := range nb.Cells {
		for _, o := range nb.Cells[i].Outputs {
			data, _ := o["data"].(map[string]any)
			metadata, _ := o["metadata"].(map[string]any)
			if metadata[check.Metadata] == nil {
				continue
			}
			fmt.Fprintln(w, data["text/plain"])
			if nb.Cells[i].HasTag("has-hazards") {
				continue
			}
			var list hazard.List
			text, err := json.Marshal(metadata[check.Metadata])
			if err != nil || json.Unmarshal(text, &list) != nil || list.Proved() > 0 {
				n++
			}
		}
	}
	return n
}

// describe says in a notebook what language it is in, as Jupyter does, and
// what kernel it is for if it does not say so itself.
func describe(nb *notebook.Notebook) error {
	if nb.Metadata == nil {
		nb.Metadata = make(map[string]any)
	}
	info, _ := nb.Metadata["language_info"].(map[string]any)
	spec, _ := nb.Metadata["kernelspec"].(map[string]any)
	for _, language := range []any{info["name"], spec["language"]} {
		if name, _ := language.(string); name != "" && !strings.EqualFold(name, "go") {
			return fmt.Errorf("the notebook is written in %s, not in Go: change the kernel in Jupyter if its cells are Go", name)
		}
	}
	nb.Metadata["language_info"] = kernel.LanguageInfo()
	if nb.Metadata["kernelspec"] == nil {
		nb.Metadata["kernelspec"] = map[string]any{
			"name": install.DefaultName, "display_name": install.DisplayName, "language": "go",
		}
	}
	return nil
}

// readNotebook reads a notebook, and tells the folder in which it runs.
func readNotebook(path string) (*notebook.Notebook, string, error) {
	if path == "-" {
		data, err := io.ReadAll(os.Stdin)
		if err != nil {
			return nil, "", err
		}
		nb, err := notebook.Parse(data)
		return nb, "", err
	}
	nb, err := notebook.ReadFile(path)
	return nb, filepath.Dir(path), err
}

// saveNotebook saves what there is so far. Standard output gets it once, at
// the end.
func saveNotebook(stdout io.Writer, nb *notebook.Notebook, path string, last bool) error {
	if path != "-" {
		return nb.WriteFile(path)
	}
	if !last {
		return nil
	}
	data, err := nb.Bytes()
	if err != nil {
		return err
	}
	_, err = io.Copy(stdout, bytes.NewReader(data))
	return err
}

// progress tells how far a run is: on a terminal in one line that is
// rewritten while a cell runs, and else in a line for each cell.
type progress struct {
	w        io.Writer
	terminal bool
	quiet    bool

	mu   sync.Mutex
	step *notebook.Step // the running cell
	from time.Time
	done chan struct{}
}

func newProgress(w io.Writer, quiet bool) *progress {
	p := &progress{w: w, quiet: quiet, terminal: isTerminal(w), done: make(chan struct{})}
	if p.terminal && !quiet {
		go p.tick()
	}
	return p
}

func (p *progress) tick() {
	t := time.NewTicker(100 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-t.C:
			p.mu.Lock()
			if p.step != nil {
				fmt.Fprintf(p.w, "\r\x1b[K%s", line(*p.step, "...", time.Since(p.from)))
			}
			p.mu.Unlock()
		}
	}
}

func (p *progress) begin(s notebook.Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step, p.from = &s, time.Now()
}

func (p *progress) end(s notebook.Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step = nil
	word := "ok"
	switch {
	case s.Allowed:
		word = "failed, which its tag allows"
	case s.Err != nil:
		word = "failed"
	}
	if p.quiet {
		return
	}
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	fmt.Fprintln(p.w, line(s, word, s.Took))
}

func (p *progress) close() { close(p.done) }

func line(s notebook.Step, word string, took time.Duration) string {
	width := len(fmt.Sprint(s.Count))
	first, _, _ := strings.Cut(strings.TrimSpace(s.Cell.Source), "\n")
	if r := []rune(first); len(r) > 40 {
		first = string(r[:37]) + "..."
	}
	return fmt.Sprintf("cell %*d/%d %8.2f s  %-4s %s", width, s.Number, s.Count, took.Seconds(), word, first)
}
