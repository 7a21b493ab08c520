package golang

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"gocuda/kernel/display"
	"gocuda/kernel/golang/rt"
)

// endingTime is what an interrupted cell has to end by itself. One that is
// blocked is left behind: it will not come back into the cell's code.
const endingTime = 250 * time.Millisecond

// running is the cell that runs now.
type running struct {
	mu        sync.Mutex
	group     *rt.Group
	interrupt chan struct{}
	compiling bool
	stopped   bool // interrupted before it ran
	value     *display.Bundle
	failed    chan *Error // from goroutines of the cell
}

// ended is how a cell's goroutine ended.
type ended struct {
	value any
	trace []rt.Call
	ok    bool
}

// execute runs a compiled cell in a goroutine of its own. It returns when the
// cell has ended, or at once when it is interrupted: whatever the goroutine
// is blocked in, it will not come back into the cell's code.
func (ev *Evaluator) execute(name string, entry func()) Result {
	g := &rt.Group{Name: name}
	r := &ev.run
	r.mu.Lock()
	r.group, r.interrupt, r.value = g, make(chan struct{}), nil
	ev.rt.BeginBody()
	interrupt := r.interrupt
	if r.stopped {
		close(interrupt)
		r.interrupt = nil
	}
	r.failed = make(chan *Error, 1)
	failed := r.failed
	r.mu.Unlock()
	done := make(chan ended, 1)
	go ev.rt.Start(g, func() {
		end := ended{value: goexit{}}
		defer func() { done <- end }()
		v, trace, ok := ev.rt.Try(entry)
		end = ended{v, trace, ok}
	})
	var res Result
	select {
	case end := <-done:
		if !end.ok {
			res.Err = panicError(end.value, end.trace)
		}
		if _, ok := end.value.(goexit); ok {
			res.Err = &Error{Name: "Goexit", Message: "the cell called runtime.Goexit; the notebook goes on",
				Traceback: []string{red + bold + "Goexit: " + plain + "the cell called runtime.Goexit; the notebook goes on"}}
		}
	case <-interrupt:
		ev.rt.Cancel(g)
		// A loop is about to end; the next cell must not see it at work.
		select {
		case <-done:
		case <-time.After(endingTime):
		}
		res.Err = panicError(rt.Interrupted, nil)
	}
	if res.Err == nil {
		runtime.Gosched()
		select {
		case err := <-failed:
			res.Err = err
		default:
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if res.Err == nil {
		res.Value = r.value
	}
	r.group, r.interrupt, r.value = nil, nil, nil
	return res
}

type goexit struct{}

// compiles says that a cell is being compiled, or that it no longer is.
func (r *running) compiles(yes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.compiling, r.stopped = yes, false
}

// Interrupt ends the cell that is running, if one is. One that is being
// compiled ends when it begins to run.
func (ev *Evaluator) Interrupt() {
	r := &ev.run
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.interrupt != nil {
		ev.rt.Cancel(r.group)
		close(r.interrupt)
		r.interrupt = nil
	} else if r.compiling {
		r.stopped = true
	}
}

// background is a panic in a goroutine that a cell started.
func (ev *Evaluator) background(g *rt.Group, value any, trace []rt.Call) {
	if err, ok := value.(error); ok && err == rt.Interrupted {
		return
	}
	e := panicError(value, trace)
	e.Traceback = append([]string{faint + "in a goroutine of " + g.Name + plain}, e.Traceback...)
	r := &ev.run
	r.mu.Lock()
	if r.group == g && r.interrupt != nil && !ev.program {
		// The cell that started it still runs: it fails.
		select {
		case r.failed <- e:
			r.mu.Unlock()
			return
		default:
		}
	}
	r.mu.Unlock()
	if ev.options.Background != nil {
		ev.options.Background(e)
		return
	}
	for _, line := range e.Traceback {
		fmt.Fprintln(ev.options.Stderr, line)
	}
}

// shown gets the values of the last expression, in the cell's goroutine.
func (ev *Evaluator) shown(values []any) {
	b := bundleOf(values)
	ev.run.mu.Lock()
	ev.run.value = b
	ev.run.mu.Unlock()
}

// Goroutines lists the cells whose goroutines still run, with their number.
func (ev *Evaluator) Goroutines() map[string]int {
	m := make(map[string]int)
	for g, n := range ev.rt.Live() {
		m[g.Name] += n
	}
	return m
}

// StopGoroutines cancels what runs of a cell's goroutines, or of all cells
// with the name "". They end at their next loop or call of a function.
func (ev *Evaluator) StopGoroutines(cell string) {
	for g := range ev.rt.Live() {
		if cell == "" || g.Name == cell {
			ev.rt.Cancel(g)
		}
	}
}

// Where says which statement at the outer level of the running cell runs now;
// line is 0 if that is not known, and cell empty if none runs.
func (ev *Evaluator) Where() (cell string, line int) {
	r := &ev.run
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.group == nil {
		return "", 0
	}
	return r.group.Name, ev.rt.BodyLine()
}
