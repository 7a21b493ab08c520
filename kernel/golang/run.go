package golang

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"gocuda/kernel/display"
	"gocuda/kernel/golang/answer"
	"gocuda/kernel/golang/rt"
)

// endingTime is what an interrupted cell has to end by itself. One that is
// blocked is left behind: it will not come back into the cell's code.
const endingTime = 250 * time.Millisecond

// running is the cell that a shell runs now.
type running struct {
	mu        sync.Mutex
	group     *rt.Group
	interrupt chan struct{}
	compiling bool
	stopped   bool       // interrupted before it ran
	stacks    []rt.Stack // of the cell's goroutines when it was interrupted
	value     *display.Bundle
	values    *[]any      // where those of the last expression go, in place of being shown
	failed    chan *Error // from goroutines of the cell
}

// ended is how a cell's goroutine ended.
type ended struct {
	value any
	trace rt.Trace
	ok    bool
}

// execute runs a compiled cell in a goroutine of its own. It returns when the
// cell has ended, or at once when it is interrupted: whatever the goroutine
// is blocked in, it will not come back into the cell's code.
func (s *Shell) execute(name string, entry func()) Result {
	ev := s.ev
	ev.variables.fresh()
	g := &rt.Group{Name: name, Owner: s, Beside: s.slot > 0}
	r := &s.run
	r.mu.Lock()
	r.group, r.interrupt, r.value = g, make(chan struct{}), nil
	ev.rt.BeginBody(s.body())
	interrupt := r.interrupt
	if r.stopped {
		close(interrupt)
		r.interrupt = nil
	}
	r.failed = make(chan *Error, 1)
	failed := r.failed
	r.mu.Unlock()
	defer ev.loopsOf(g)()
	done := make(chan ended, 1)
	go ev.rt.Start(g, func() {
		end := ended{value: goexit{}}
		defer func() {
			if _, ok := end.value.(goexit); ok && g.Cancelled() {
				end.value = rt.Interrupted
			}
			done <- end
		}()
		v, trace, ok := ev.rt.Try(entry)
		end = ended{v, trace, ok}
	})
	var res Result
	tierUpTimer := newTierUpTimer()
	watch := time.NewTimer(tierUpTimer.next.Sub(tierUpTimer.begun))
	defer watch.Stop()
	looked := tierUpTimer.begun
	told := false // of a deadlock that another shell's cell can end
	look := time.NewTimer(firstLook)
	defer look.Stop()
	for running := true; running; {
		running = false
		select {
		case end := <-done:
			switch {
			case end.ok:
			case end.value == rt.Interrupted: // and it has ended already
				res.Err = s.interruptedAt(g)
				if at, ok := ev.rt.Overflowed(g); ok {
					res.Err = ev.texts.panicError(rt.Overflow{}, at)
				}
			default:
				res.Err = ev.texts.panicError(end.value, end.trace)
			}
			if _, ok := end.value.(goexit); ok {
				res.Err = answer.NewError("Goexit", "the cell called runtime.Goexit; the notebook goes on")
			}
		case res.Err = <-failed: // which ends a program, too
			if ev.options.Ended != nil {
				ev.options.Ended(s.owner)
			}
			ev.cancel(g, done)
		case <-interrupt:
			ev.cancel(g, done)
			res.Err = s.interruptedAt(g)
		case <-look.C:
			look.Reset(ev.loopLooks(g))
			running = true
		case <-watch.C:
			ev.tierUp(g, &tierUpTimer)
			if time.Since(looked) >= max(deadlockWatch, rt.NextLook()) {
				looked = time.Now()
				stacks, ok := ev.stuck(g)
				switch {
				case ok && ev.aside.used.Load():
					if !told {
						told = true
						s.mayWake(ev.deadlocked(g, stacks))
					}
				case ok:
					res.Err = ev.deadlocked(g, stacks)
					ev.rt.Cancel(g) // should a later cell wake it
				}
				if res.Err != nil {
					break
				}
			}
			if rt.Exhausted() {
				ev.cancel(g, done)
				debug.FreeOSMemory()
				res.Err = ev.texts.endError(name, ev.rt.BodyLine(s.body()), "OutOfMemory", exhausted)
				break
			}
			running = true
			watch.Reset(min(memoryWatch, max(0, time.Until(tierUpTimer.next))))
		}
	}
	if _, ok := ev.rt.Overflowed(g); ok {
		debug.FreeOSMemory() // of the stack
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
	r.group, r.interrupt, r.value, r.stacks = nil, nil, nil, nil
	return res
}

// cancel ends what runs for a cell. A loop is about to end: the next cell must not see
// it at work.
func (ev *Evaluator) cancel(g *rt.Group, done <-chan ended) {
	ev.rt.Cancel(g)
	select {
	case <-done:
	case <-time.After(endingTime):
	}
}

// interruptedAt says where the goroutines of the running cell were when it was
// interrupted.
func (s *Shell) interruptedAt(g *rt.Group) *Error {
	s.run.mu.Lock()
	stacks := s.run.stacks
	s.run.mu.Unlock()
	if where := s.ev.rt.Where(g, stacks); len(where) > 0 {
		return s.ev.texts.interrupted(where)
	}
	e := s.ev.texts.interrupted(nil)
	if line := s.ev.rt.BodyLine(s.body()); line > 0 {
		e.Traceback = append(e.Traceback, s.ev.texts.trace([]rt.Call{{Func: &rt.Func{File: g.Name}, Line: line, Column: 1}})...)
	}
	return e
}

// memoryWatch is how often it is looked whether memory is left, while a cell runs.
const memoryWatch = 80 * time.Millisecond

const exhausted = "the memory of this machine is used up, so the cell was ended; what it had assigned is kept"

// endError says why a cell was ended in a statement at its outer level.
func (t *texts) endError(cell string, line int, name, why string) *Error {
	e := answer.NewError(name, why)
	if line > 0 {
		e.Traceback = append(e.Traceback, t.trace([]rt.Call{{Func: &rt.Func{File: cell}, Line: line, Column: 1}})...)
	}
	return e
}

// Guard calls f, interpreted code, in a goroutine that compiled code started
// for the running cell of the main shell. failed is told why f ended that did not
// return: a panic, or the cell's interrupt. runtime.Goexit ends f as usual.
func (ev *Evaluator) Guard(f func(), failed func(*Error)) {
	ev.run.mu.Lock()
	g := ev.run.group
	ev.run.mu.Unlock()
	if g == nil {
		failed(ev.texts.panicError(rt.Interrupted, rt.Trace{}))
		return
	}
	var end ended
	defer func() {
		switch {
		case g.Cancelled():
			failed(ev.texts.panicError(rt.Interrupted, rt.Trace{}))
		case !end.ok:
			failed(ev.texts.panicError(end.value, end.trace))
		}
	}()
	end.ok = true // as after runtime.Goexit
	ev.rt.Start(g, func() { end.value, end.trace, end.ok = ev.rt.Try(f) })
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
func (s *Shell) Interrupt() {
	s.ev.rt.Debugger.Abandon()
	r := &s.run
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.interrupt != nil {
		if rt.QuickLook() {
			r.stacks = s.ev.rt.Stacks(r.group)
		}
		s.ev.rt.Cancel(r.group)
		close(r.interrupt)
		r.interrupt = nil
	} else if r.compiling {
		r.stopped = true
	}
}

// background is a panic in a goroutine that a cell started.
func (ev *Evaluator) background(g *rt.Group, value any, trace rt.Trace) {
	e := ev.texts.panicError(value, trace)
	if !ev.program {
		e.Traceback = append([]string{faint + "in a goroutine of " + g.Name + plain}, e.Traceback...)
	}
	s, ok := g.Owner.(*Shell)
	if !ok {
		s = ev.Shell
	}
	r := &s.run
	r.mu.Lock()
	if r.group == g && r.interrupt != nil && !ev.program {
		// The cell that started it still runs: it fails, by the first.
		select {
		case r.failed <- e:
		default:
		}
		r.mu.Unlock()
		return
	}
	r.mu.Unlock()
	if ev.options.Background != nil {
		ev.options.Background(e)
		return
	}
	for _, line := range e.Traceback {
		fmt.Fprintln(ev.route(ev.options.Stderr), line)
	}
}

// stray is a panic in a goroutine that a compiled package started. Which cell had it do
// so is not known: the one that runs may wait for it, and fails.
func (ev *Evaluator) stray(value any) {
	ev.run.mu.Lock()
	g := ev.run.group
	ev.run.mu.Unlock()
	if g == nil {
		g = &rt.Group{Name: "an earlier cell"}
	}
	ev.background(g, value, rt.Trace{})
}

// shown gets the values of the last expression, in the cell's goroutine. Making a picture
// of them is work of the cell: one that has ended meanwhile, by an interrupt, shows none.
func (ev *Evaluator) shown(values []any) {
	r, g := &ev.Running().run, ev.rt.Group()
	keep := func(set func()) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.group == g && !g.Cancelled() {
			set()
		}
	}
	aside := false
	keep(func() {
		if aside = r.values != nil; aside {
			*r.values = values
		}
	})
	if aside {
		return
	}
	b := bundleOf(values)
	keep(func() { r.value = b })
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
func (s *Shell) Where() (cell string, line int) {
	r := &s.run
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.group == nil {
		return "", 0
	}
	return r.group.Name, s.ev.rt.BodyLine(s.body())
}

// Calling says which statement the calling goroutine is in, of the cell's function
// or statements that called last; cell is empty if it is in none. It takes some
// microseconds.
func (ev *Evaluator) Calling() (cell string, line int) {
	in, _ := ev.Calls()
	return in.Cell, in.Line
}

// Statement is one of a cell's.
type Statement = rt.Statement

// Calls is [Evaluator.Calling], and the statement that called the function of that
// one; empty if it is in none.
func (ev *Evaluator) Calls() (in, from Statement) { return ev.rt.Calling() }

// SetPending says whether something is queued that what cells touch may meet: only then
// Options.Touched is called.
func (ev *Evaluator) SetPending(yes bool) { ev.rt.SetPending(yes) }

// touches reports whether code that is lowered now is to tell what it touches.
func (ev *namespace) touches() bool { return ev.options.Touches != nil && ev.options.Touches() }

// Within runs code in the middle of the running cell, for compiled functions
// that it calls. The code must declare nothing, and panics as a call of the
// cell would.
func (ev *Evaluator) Within(name, code string) error {
	pass := ev.gate.close()
	defer pass()
	entry, err := ev.compile(ev.Running().slot, name, code, true)
	if err != nil {
		return err
	}
	if entry != nil {
		(*entry)()
	}
	return nil
}

// bundleOf shows the values of a cell's last expression together.
func bundleOf(values []any) *display.Bundle {
	if len(values) == 1 {
		b := display.Of(values[0])
		if len(b.Data) == 0 {
			return nil
		}
		return &b
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(display.Of(v).Data["text/plain"])
	}
	return &display.Bundle{Data: map[string]any{"text/plain": strings.Join(texts, ", ")}}
}

// Expression evaluates one expression and returns what it shows.
func (s *Shell) Expression(code string) (*display.Bundle, *Error) {
	res := s.Eval("expression", code, false)
	if res.Err != nil {
		return nil, res.Err
	}
	if res.Value == nil {
		return &display.Bundle{Data: map[string]any{"text/plain": ""}}, nil
	}
	return res.Value, nil
}
