package notebook

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"gocuda/kernel/display"
	"gocuda/kernel/session"
)

// script is an evaluator whose cells are lines of commands. What cells in Go
// do is tested with the real one, in cmd/gocuda-kernel.
type script struct {
	output    func(session.Output)
	interrupt chan struct{}
	once      sync.Once
}

func startScript(output func(session.Output)) (Evaluator, error) {
	return &script{output: output, interrupt: make(chan struct{})}, nil
}

func (s *script) Interrupt()   { s.once.Do(func() { close(s.interrupt) }) }
func (s *script) Close() error { return nil }

func (s *script) Execute(c session.Cell) session.Result {
	text := func(v string) display.Bundle { return display.Bundle{Data: map[string]any{"text/plain": v}} }
	for line := range strings.Lines(c.Code) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		id, rest2, _ := strings.Cut(rest, " ")
		switch word {
		case "out":
			s.output(session.Output{Kind: session.Stdout, Text: rest})
		case "err":
			s.output(session.Output{Kind: session.Stderr, Text: rest})
		case "value":
			s.output(session.Output{Kind: session.Value, Bundle: text(rest)})
		case "show", "update":
			b := text(rest2)
			b.DisplayID = id
			kind := session.Display
			if word == "update" {
				kind = session.Update
			}
			s.output(session.Output{Kind: kind, Bundle: b})
		case "clear":
			s.output(session.Output{Kind: session.Clear, Wait: rest == "wait"})
		case "fail":
			return session.Result{Err: &session.Error{Name: "Panic", Message: rest, Traceback: []string{"at " + c.Name}}}
		case "hang":
			<-s.interrupt
			return session.Result{Err: &session.Error{Name: "Interrupted", Traceback: []string{"at line 1"}}}
		}
	}
	return session.Result{}
}

func code(tag, source string) *Cell {
	c := &Cell{Kind: Code, Source: source}
	if tag != "" {
		c.Metadata = map[string]any{"tags": []any{tag}}
	}
	return c
}

// shown renders a cell's outputs on one line.
func shown(c *Cell) string {
	var list []string
	for _, o := range c.Outputs {
		switch o["output_type"] {
		case "stream":
			list = append(list, fmt.Sprintf("%s=%s", o["name"], o["text"]))
		case "error":
			list = append(list, fmt.Sprintf("error=%s:%s", o["ename"], o["evalue"]))
		default:
			list = append(list, fmt.Sprintf("%s=%s", o["output_type"], o["data"].(map[string]any)["text/plain"]))
		}
	}
	return strings.Join(list, " ")
}

func TestOutputsAsAFrontEndShowsThem(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"adjacent streams merge":        {"out a\nout b\nerr c\nout d", "stdout=ab stderr=c stdout=d"},
		"a display splits a stream":     {"out a\nshow - x\nout b", "stdout=a display_data=x stdout=b"},
		"value":                         {"value 7", "execute_result=7"},
		"clear":                         {"out a\nclear\nout b", "stdout=b"},
		"clear at the end":              {"out a\nclear", ""},
		"clear when the next one comes": {"out a\nclear wait\nout b\nout c", "stdout=bc"},
		"clear waits for ever":          {"out a\nclear wait", "stdout=a"},
		"an error is a next one":        {"out a\nclear wait\nfail x", "error=Panic:x"},
		"update in place":               {"show p 1\nout a\nupdate p 2", "display_data=2 stdout=a"},
		"update everywhere":             {"show p 1\nshow p 2\nupdate p 3", "display_data=3 display_data=3"},
		"update of what is not shown":   {"update p 2", ""},
	} {
		cell := code("raises-exception", c.source)
		if err := Run(t.Context(), &Notebook{Cells: []*Cell{cell}}, RunOptions{Start: startScript}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := shown(cell); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestUpdateReachesEarlierCells(t *testing.T) {
	first, second := code("", "show p 1"), code("", "update p 2")
	nb := &Notebook{Cells: []*Cell{first, second}}
	if err := Run(t.Context(), nb, RunOptions{Start: startScript}); err != nil {
		t.Fatal(err)
	}
	if got := shown(first); got != "display_data=2" {
		t.Error(got)
	}
}

func TestRunEndsAtAFailure(t *testing.T) {
	fresh := func() []*Cell {
		old := code("", "out never")
		old.Outputs, old.ExecutionCount = []Output{{"output_type": "stream", "name": "stdout", "text": "old"}}, 9
		kept := code("skip-execution", "out no")
		kept.Outputs = []Output{{"output_type": "stream", "name": "stdout", "text": "kept"}}
		return []*Cell{
			{Kind: Markdown, Source: "# text"}, code("raises-exception", "fail may"), code("", " \n"),
			kept, code("", "out ok\nfail must not"), old,
		}
	}
	var steps []string
	options := RunOptions{Start: startScript, After: func(s Step) error {
		steps = append(steps, fmt.Sprintf("%d/%d %v %v", s.Number, s.Count, s.Err != nil, s.Allowed))
		return nil
	}}

	cells := fresh()
	err := Run(t.Context(), &Notebook{Cells: cells}, options)
	var failure *Failure
	if !errors.As(err, &failure) || failure.Step.Cell != cells[4] || failure.Step.Err.Message != "must not" {
		t.Errorf("ended with %v", err)
	}
	if want := []string{"1/3 true true", "2/3 true false"}; !reflect.DeepEqual(steps, want) {
		t.Errorf("steps %q, want %q", steps, want)
	}
	if got := shown(cells[4]); got != "stdout=ok error=Panic:must not" {
		t.Error(got)
	}
	if got := shown(cells[3]); got != "stdout=kept" {
		t.Errorf("a cell to be skipped: %s", got)
	}
	if cells[5].ExecutionCount != 0 || shown(cells[5]) != "" {
		t.Errorf("a cell that did not run shows %q", shown(cells[5]))
	}

	cells = fresh()
	options.AllowErrors = true
	if err := Run(t.Context(), &Notebook{Cells: cells}, options); err != nil {
		t.Error(err)
	}
	if got := shown(cells[5]); got != "stdout=never" || cells[5].ExecutionCount != 3 {
		t.Errorf("with errors allowed: %q, count %d", got, cells[5].ExecutionCount)
	}
}

func TestTimeoutInterruptsTheCell(t *testing.T) {
	cell := code("", "out a\nhang")
	err := Run(t.Context(), &Notebook{Cells: []*Cell{cell}}, RunOptions{Start: startScript, Timeout: time.Millisecond})
	var failure *Failure
	if !errors.As(err, &failure) || failure.Step.Err.Name != "Timeout" || !strings.Contains(err.Error(), "1ms") {
		t.Fatal(err)
	}
	trace := cell.Outputs[1]["traceback"].([]any)
	if trace[0] != "at line 1" {
		t.Errorf("the trace does not say where the cell was: %q", trace)
	}
}

func TestCancelInterruptsTheCell(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cell, next := code("", "hang"), code("", "out never")
	err := Run(ctx, &Notebook{Cells: []*Cell{cell, next}}, RunOptions{
		Start: startScript, AllowErrors: true, Before: func(Step) { cancel() },
	})
	var failure *Failure
	if !errors.As(err, &failure) || failure.Step.Err.Name != "Interrupted" || shown(next) != "" {
		t.Errorf("%v; the next cell shows %q", err, shown(next))
	}
}

func TestInject(t *testing.T) {
	const declares = "n := 4\nvar size int64 = 5; const limit = 2\nname, path := \"a\", f()"
	for _, c := range []struct{ parameter, want string }{
		{"n=8", "n = 8"},
		{"size=-3", "size = -3"},
		{"limit=1e3", "limit = 1e3"},
		{"name=8", `name = "8"`},
		{`name="8"`, `name = "8"`},
		{"path=8", "path = 8"},
		{"other=[]float32{1, -2}", "other := []float32{1, -2}"},
		{"other=true", "other := true"},
		{"other=hello world", `other := "hello world"`},
		{"other=2026-11-21", `other := "2026-11-21"`},
		{"other=1+2i", "other := 1+2i"},
		{"other=os.Exit(1)", `other := "os.Exit(1)"`},
		{"other=", `other := ""`},
		{"other=a=b", `other := "a=b"`},
	} {
		p, err := ParseParameter(c.parameter)
		if err != nil {
			t.Fatal(err)
		}
		nb := &Notebook{Cells: []*Cell{code("", "first"), code("parameters", declares), code("", "last")}}
		want := "// Parameters\n" + strings.Replace(c.want, "limit", "const limit", 1)
		for range 2 { // the second time replaces the first
			undeclared := nb.Inject([]Parameter{p})
			if (len(undeclared) > 0) != (p.Name == "other") {
				t.Errorf("%s: undeclared %q", c.parameter, undeclared)
			}
			if len(nb.Cells) != 4 || nb.Cells[2].Source != want || !nb.Cells[2].HasTag("injected-parameters") {
				t.Errorf("%s: got %q in cell 3 of %d, want %q", c.parameter, nb.Cells[2].Source, len(nb.Cells), want)
			}
		}
	}
	for _, bad := range []string{"x", "=1", "a b=1", "_=1", "func=1"} {
		if _, err := ParseParameter(bad); err == nil {
			t.Errorf("ParseParameter(%q): no error", bad)
		}
	}
	nb := &Notebook{Cells: []*Cell{code("", "first")}}
	if nb.Inject(nil); len(nb.Cells) != 1 {
		t.Error("nothing to inject made a cell")
	}
	if nb.Inject([]Parameter{{"n", "1"}}); nb.Cells[0].Source != "// Parameters\nn := 1" {
		t.Error("without a parameters cell, the injected one comes first")
	}
}

// A notebook is saved beside its run: the outputs of a cell, while the next one still
// runs. A failure ends the run.
func TestSavedBesideTheRun(t *testing.T) {
	cells := []*Cell{code("", "out one"), code("", "hang")}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	saved := 0
	Run(ctx, &Notebook{Cells: cells}, RunOptions{Start: startScript, Save: func() error {
		if saved++; shown(cells[0]) != "stdout=one" {
			t.Errorf("saved with %q", shown(cells[0]))
		}
		stop() // or the second cell would run for ever
		return nil
	}})
	if saved == 0 {
		t.Error("not saved while the second cell runs")
	}

	cells = []*Cell{code("", "out one")}
	for range 1000 {
		cells = append(cells, code("", "out more"))
	}
	full, tried := errors.New("the disk is full"), make(chan bool, 1000)
	waits := func(s Step) { // 1,000 cells may be over before the first attempt
		if s.Number == 2 {
			tried <- <-tried
		}
	}
	err := Run(t.Context(), &Notebook{Cells: cells}, RunOptions{Start: startScript, Before: waits, Save: func() error { tried <- true; return full }})
	if !errors.Is(err, full) || len(tried) != 1 {
		t.Errorf("%v, after %d attempts", err, len(tried))
	}
}
