//go:build linux

package ranks

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"gocuda/kernel/display"
	"gocuda/kernel/evaluator"
	"gocuda/kernel/session"
)

// The notebooks and ranks of these tests are this test binary again, so that
// processes, links and signals are real.
func TestMain(m *testing.M) {
	var err error
	switch {
	case len(os.Args) == 2 && os.Args[1] == "evaluate":
		err = evaluator.Main(nil, Attach)
	case len(os.Args) == 2 && os.Args[1] == "rank":
		err = Supervise()
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// patience is what anything may take before it counts as hung.
const patience = time.Minute

// book is a notebook's evaluator.
type book struct {
	*testing.T
	*session.Session
	answer func(prompt string) string

	mu  sync.Mutex
	out outcome
	saw *sync.Cond
}

// outcome is what a cell gave.
type outcome struct {
	stdout, stderr string
	shown          []display.Bundle // displays and updates
	value          string           // the value's text
	err            *session.Error
}

// trace is an error without its colours.
func (o outcome) trace() string {
	if o.err == nil {
		return ""
	}
	return regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(strings.Join(o.err.Traceback, "\n"), "")
}

// open starts a notebook. env is added to its environment.
func open(t *testing.T, env ...string) *book {
	t.Helper()
	return openWith(t, session.Options{Env: append([]string{"GOCUDA_BACKEND=sim", "GOCUDA_SIM_DEVICES=2", "GORACE=atexit_sleep_ms=0 report_bugs=0"}, env...)})
}

func openWith(t *testing.T, o session.Options) *book {
	t.Helper()
	b := &book{T: t}
	b.saw = sync.NewCond(&b.mu)
	o.Output = b.take
	o.Input = func(prompt string, _ bool) (string, error) { return b.answer(prompt), nil }
	var err error
	b.Session, err = session.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func (b *book) take(o session.Output) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch o.Kind {
	case session.Stdout:
		b.out.stdout += o.Text
	case session.Stderr:
		b.out.stderr += o.Text
	case session.Value:
		b.out.value = fmt.Sprint(o.Bundle.Data["text/plain"])
	case session.Display, session.Update:
		b.out.shown = append(b.out.shown, o.Bundle)
	}
	b.saw.Broadcast()
}

// run runs a cell.
func (b *book) run(code string) outcome {
	b.Helper()
	return b.begin(code)()
}

// begin starts a cell; what it returns waits for its end.
func (b *book) begin(code string) (end func() outcome) { return b.named("cell", code) }

// named is begin for a cell that has another name.
func (b *book) named(name, code string) (end func() outcome) {
	b.mu.Lock()
	b.out = outcome{}
	b.mu.Unlock()
	done := make(chan session.Result, 1)
	go func() { done <- b.Execute(session.Cell{Name: name, Code: code, AllowInput: true}) }()
	return func() outcome {
		b.Helper()
		select {
		case r := <-done:
			b.mu.Lock()
			defer b.mu.Unlock()
			b.out.err = r.Err
			if r.Restarted {
				b.Fatalf("%s\nended the notebook's evaluator: %s", code, b.out.trace())
			}
			return b.out
		case <-time.After(patience):
			b.mu.Lock()
			defer b.mu.Unlock()
			b.Fatalf("no end of the cell\n%s\nso far: %+v", code, b.out)
			panic("unreachable")
		}
	}
}

// ok runs a cell that must succeed, and show all of want on standard output or
// as its value.
func (b *book) ok(code string, want ...string) outcome {
	b.Helper()
	o := b.run(code)
	if o.err != nil {
		b.Fatalf("%s\nfailed: %s\n%s", code, o.trace(), o.stderr)
	}
	for _, w := range want {
		if !strings.Contains(o.stdout+o.value, w) {
			b.Errorf("%s\nshows %q and the value %q; want %q", code, o.stdout, o.value, w)
		}
	}
	return o
}

// fails runs a cell that must fail with an error of a name, whose trace has all
// of want, each once.
func (b *book) fails(code, name string, want ...string) outcome {
	b.Helper()
	return b.failed(code, b.run(code), name, want...)
}

func (b *book) failed(code string, o outcome, name string, want ...string) outcome {
	b.Helper()
	if o.err == nil || o.err.Name != name {
		b.Fatalf("%s\nended with %v, want a %s; it showed %q", code, o.trace(), name, o.stdout+o.stderr)
	}
	for _, w := range want {
		if strings.Count(o.trace(), w) != 1 {
			b.Errorf("%s\nfailed with\n%s\nwant %q in it, once", code, o.trace(), w)
		}
	}
	return o
}

// until waits until the running cell has shown text.
func (b *book) until(text string) {
	b.Helper()
	late := time.AfterFunc(patience, b.saw.Broadcast)
	defer late.Stop()
	begun := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	for !strings.Contains(b.out.stdout+b.out.stderr, text) {
		if time.Since(begun) > patience {
			b.Fatalf("%q was not shown: %+v", text, b.out)
		}
		b.saw.Wait()
	}
}

// starter is a way to start ranks.
type starter struct {
	name string
	env  []string
	args string
}

// starters lists them: the local one, and the mpiruns that make mpi-libs
// installs, or that of the PATH.
func starters(t *testing.T) []starter {
	list := []starter{{"local", nil, "--launcher local"}}
	found, _ := filepath.Glob("../../build/mpi/*/bin/mpirun")
	for _, path := range found {
		bin, err := filepath.Abs(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, starter{filepath.Base(filepath.Dir(bin)), []string{"PATH=" + bin + ":" + os.Getenv("PATH")}, "--launcher mpirun"})
	}
	if _, err := exec.LookPath("mpirun"); err == nil && len(found) == 0 {
		list = append(list, starter{"mpirun", nil, "--launcher mpirun"})
	}
	return list
}

// forEach runs a test with the local starter and with every other mpirun, the
// first or the second: two such tests together have seen them all.
func forEach(t *testing.T, first int, test func(b *book, s starter)) {
	list := starters(t)
	if testing.Short() {
		list = list[:1]
	}
	for i, s := range list {
		if i == 0 || i%2 != first || len(list) == 2 {
			t.Run(s.name, func(t *testing.T) { test(open(t, s.env...), s) })
		}
	}
	if len(list) == 1 && !testing.Short() {
		t.Log("no mpirun in build/mpi or on the PATH: make mpi-libs installs some")
	}
}

// traces lists what ranks might leave behind: the processes below a process,
// and what it holds open: links, ports and the shared memory of local ranks.
func traces(t *testing.T, pid int) (below []string, open int) {
	t.Helper()
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	guards := 0 // each with the two descriptors that its parent holds
	for _, task := range tasks {
		children, _ := os.ReadFile(task)
		for _, child := range strings.Fields(string(children)) {
			name, _ := os.ReadFile("/proc/" + child + "/cmdline")
			switch {
			case strings.HasPrefix(string(name), "gocuda-guard"),
				strings.Contains(string(name), "gocuda-cxx-"): // looks after the folder to compile in, as long as the process
				guards++
			default:
				below = append(below, child+" "+strings.ReplaceAll(string(name), "\x00", " "))
			}
		}
	}
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	return below, len(fds) - 2*guards
}

// settles waits until nothing is left of the notebook's ranks: no process, and
// no descriptor beyond those that were open before.
func (b *book) settles(openBefore int) {
	b.Helper()
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		below, open := traces(b.T, b.Pid())
		if len(below) == 0 && open <= openBefore {
			return
		}
		if time.Since(begun) > patience {
			b.Errorf("these processes are left: %v; %d descriptors are open, %d before", below, open, openBefore)
			return
		}
	}
}
