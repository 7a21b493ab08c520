package notebook

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gocuda/kernel/session"
)

// Evaluator runs cells one after the other; *session.Session is one.
type Evaluator interface {
	// Execute runs one cell to its end, and returns after its last output.
	Execute(session.Cell) session.Result
	// Interrupt makes a running Execute return soon.
	Interrupt()
	// Close ends the evaluator, also in the middle of a cell.
	Close() error
}

// RunOptions are the options of Run.
type RunOptions struct {
	// Start starts the evaluator, whose outputs go to the function given.
	Start func(output func(session.Output)) (Evaluator, error)
	// Timeout is the longest that one cell may take; 0 is no limit.
	Timeout time.Duration
	// AllowErrors goes on after a cell that failed. A single cell is allowed
	// to fail by the tag raises-exception.
	AllowErrors bool
	// Before and After, if set, are called around each cell that runs; After
	// sees the outputs in the notebook. An error from After ends the run.
	Before func(Step)
	After  func(Step) error
	// Save, if set, keeps the notebook as it is: after the first cell, and then now and
	// then, so that saving takes a small part of the run. No output comes meanwhile. An
	// error ends the run.
	Save func() error
}

// Step is one cell that is run, and how it went.
type Step struct {
	Cell *Cell
	// Number of Count: only code cells that have code are counted.
	Number, Count int
	// Err is nil when the cell succeeded. Allowed says that the run goes on
	// all the same.
	Err     *session.Error
	Allowed bool
	Took    time.Duration
}

// Failure is the error of a run that a cell's failure ended.
type Failure struct{ Step Step }

func (f *Failure) Error() string {
	return fmt.Sprintf("cell %d of %d: %v", f.Step.Number, f.Step.Count, f.Step.Err)
}

func (f *Failure) Unwrap() error { return f.Step.Err }

// stopGrace is how long an interrupted cell has to end: more than a session
// takes to end an evaluator that heeds no interrupt.
const stopGrace = 20 * time.Second

// Run executes the notebook's code cells in order, each with its outputs and
// execution count put into the notebook, which becomes one of format 4.5.
// Outputs of former runs are dropped. It ends at the first cell that fails,
// with a *Failure, unless errors are allowed; the failed cell keeps its error.
// A cancelled context interrupts the running cell. Cells tagged skip-execution
// are left as they are.
func Run(ctx context.Context, nb *Notebook, options RunOptions) error {
	nb.Upgrade()
	var todo []*Cell
	for _, c := range nb.Cells {
		if c.Kind != Code || c.HasTag("skip-execution") {
			continue
		}
		c.Outputs, c.ExecutionCount = nil, 0
		if strings.TrimSpace(c.Source) != "" {
			todo = append(todo, c)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	collect := newCollector()
	evaluator, err := options.Start(collect.add)
	if err != nil {
		return err
	}
	r := &runner{notebook: nb, options: options, evaluator: evaluator, collect: collect}
	saver := r.startSaver()
	for i, c := range todo {
		if err = r.step(ctx, c, i+1, len(todo)); err != nil {
			break
		}
	}
	if failed := saver.stop(); err == nil {
		err = failed
	}
	// What background goroutines still print ends here.
	closed := evaluator.Close()
	collect.close()
	collect.widgets.write(nb)
	if err == nil && closed != nil {
		return fmt.Errorf("ending the evaluator: %w", closed)
	}
	return err
}

type runner struct {
	notebook  *Notebook
	options   RunOptions
	evaluator Evaluator
	collect   *collector
	lost      bool // the evaluator had to be ended
	saver     *saver
}

// saver saves a notebook beside its run.
type saver struct {
	changed chan struct{} // a cell has ended since the last time
	failed  chan error
	end     chan struct{} // closed when the run ends
	done    chan struct{} // closed when nothing more is saved
}

// savingShare is how many times as long as it took to save a notebook nothing is saved.
const savingShare = 20

func (r *runner) startSaver() *saver {
	s := &saver{make(chan struct{}, 1), make(chan error, 1), make(chan struct{}), make(chan struct{})}
	r.saver = s
	if r.options.Save == nil {
		close(s.done)
		return s
	}
	go func() {
		defer close(s.done)
		for {
			select {
			case <-s.changed:
			case <-s.end:
				return
			}
			begun := time.Now()
			err := r.collect.hold(func() error {
				r.collect.widgets.write(r.notebook)
				return r.options.Save()
			})
			if err != nil {
				s.failed <- err
				return
			}
			select {
			case <-time.After(min(savingShare*time.Since(begun), 10*time.Second)):
			case <-s.end:
				return
			}
		}
	}()
	return s
}

// cellEnded has the notebook saved soon, and says why it could not be.
func (s *saver) cellEnded() error {
	select {
	case s.changed <- struct{}{}:
	default:
	}
	select {
	case err := <-s.failed:
		return err
	default:
		return nil
	}
}

// stop ends the saving.
func (s *saver) stop() error {
	close(s.end)
	<-s.done
	select {
	case err := <-s.failed:
		return err
	default:
		return nil
	}
}

func (r *runner) step(ctx context.Context, c *Cell, number, count int) error {
	s := Step{Cell: c, Number: number, Count: count}
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.options.Before != nil {
		r.options.Before(s)
	}
	r.collect.begin(c, number)
	start := time.Now()
	s.Err = r.execute(ctx, c, number)
	s.Took = time.Since(start)
	s.Allowed = s.Err != nil && !r.lost && ctx.Err() == nil &&
		(r.options.AllowErrors || c.HasTag("raises-exception"))
	if s.Err != nil {
		r.collect.fail(s.Err)
	}
	if r.options.After != nil {
		if err := r.collect.hold(func() error { return r.options.After(s) }); err != nil {
			return err
		}
	}
	if err := r.saver.cellEnded(); err != nil {
		return err
	}
	if s.Err != nil && !s.Allowed {
		return &Failure{s}
	}
	return nil
}

func (r *runner) execute(ctx context.Context, c *Cell, number int) *session.Error {
	done := make(chan session.Result, 1)
	go func() {
		name := cellName(number)
		done <- r.evaluator.Execute(session.Cell{Name: name, Code: c.Source, Message: name})
	}()
	var late <-chan time.Time
	if r.options.Timeout > 0 {
		t := time.NewTimer(r.options.Timeout)
		defer t.Stop()
		late = t.C
	}
	var why string
	select {
	case res := <-done:
		return res.Err
	case <-late:
		why = fmt.Sprintf("the cell took longer than %v, and was interrupted", r.options.Timeout)
	case <-ctx.Done():
		why = "interrupted"
	}
	r.evaluator.Interrupt()
	name := "Timeout"
	if ctx.Err() != nil {
		name = "Interrupted"
	}
	select {
	case res := <-done:
		e := &session.Error{Name: name, Message: why, Traceback: []string{name + ": " + why}}
		if res.Err != nil { // where it was
			e.Traceback = append(slices.Clone(res.Err.Traceback), e.Traceback...)
		}
		return e
	case <-time.After(stopGrace):
		r.lost = true
		why += fmt.Sprintf("; it did not stop within %v, so that its evaluator was ended", stopGrace)
		return &session.Error{Name: name, Message: why, Traceback: []string{name + ": " + why}}
	}
}
