package golang

import (
	"io"
	"os"
	"sync"
	"sync/atomic"

	"gocuda/kernel/golang/lower"
)

// Shell runs cells, one after another. The cells of several shells run side by side on
// the same names:
//
//   - They are checked, lowered and compiled one at a time, in the order in which they
//     come; a cell has the names of all that were compiled before.
//   - A cell declares its names before its first statement runs. Its variables are zero
//     until their statements have run; of a variable that was there before, the cell
//     that declares it again with the same type has the same one.
//   - What they do to one variable at once is a data race, as in any program.
//   - What the goroutines of a cell print is that cell's.
type Shell struct {
	ev       *Evaluator
	slot     int // 0: the evaluator's own
	owner    any
	out, err io.Writer // nil: the process's

	turn sync.Mutex // held while a cell is compiled and runs
	run  running
}

// asides are the shells beside the evaluator's own.
type asides struct {
	used  atomic.Bool // some were
	mu    sync.Mutex
	slots map[int]bool
}

// Aside makes a shell whose cells run beside those of the evaluator's own, and of
// others. What its cells print goes to out and err. Release must be called when its
// last cell has ended.
func (ev *Evaluator) Aside(owner any, out, err io.Writer) *Shell {
	a := &ev.aside
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used.Store(true)
	slot := 1
	for a.slots[slot] {
		slot++
	}
	if a.slots == nil {
		a.slots = make(map[int]bool)
	}
	a.slots[slot] = true
	return &Shell{ev: ev, slot: slot, owner: owner, out: out, err: err}
}

// Release ends what Aside began. Goroutines that its cells left behind go on.
func (s *Shell) Release() {
	a := &s.ev.aside
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.slots, s.slot)
}

// Owner is what Aside was given; nil for the evaluator's own shell.
func (s *Shell) Owner() any { return s.owner }

// Act has the calling goroutine act for the shell, such as in what it prints, until
// done is called on it.
func (s *Shell) Act() (done func()) { return s.ev.rt.Act(s) }

// Running is the shell that the calling goroutine runs code for; the evaluator's own
// where that is not known.
func (ev *Evaluator) Running() *Shell {
	if ev.aside.used.Load() {
		if s, ok := ev.rt.Owner().(*Shell); ok {
			return s
		}
	}
	return ev.Shell
}

// route says where what the calling goroutine writes to w goes.
func (ev *Evaluator) route(w io.Writer) io.Writer {
	if !ev.aside.used.Load() {
		return w
	}
	s := ev.Running()
	if s.out == nil {
		return w
	}
	switch w {
	case ev.rt.Stdout, ev.options.Stdout:
		return s.out
	case ev.options.Stderr:
		return s.err
	}
	f, ok := w.(*os.File)
	if !ok {
		return w
	}
	v := &ev.variables
	v.mu.Lock()
	defer v.mu.Unlock()
	switch f {
	case v.out, os.Stdout:
		return s.out
	case v.err, os.Stderr:
		return s.err
	}
	return w
}

// body is the name in lowered code of the shell's running cell.
func (s *Shell) body() string { return lower.BodyName(s.slot) }

// Eval runs a cell. name is shown in errors and traces. A silent cell's value
// is not shown.
func (s *Shell) Eval(name, code string, silent bool) Result {
	s.turn.Lock()
	defer s.turn.Unlock()
	return s.eval(name, code, silent)
}

// Call runs f, which calls functions of cells, as a cell that has no code.
func (s *Shell) Call(name string, f func()) *Error {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.run.compiles(true)
	defer s.run.compiles(false)
	return s.execute(name, f).Err
}

// eval is Eval for those that hold the turn.
func (s *Shell) eval(name, code string, silent bool) Result {
	s.run.compiles(true)
	defer s.run.compiles(false)
	pass := s.ev.gate.close()
	defer pass()
	if err := s.ev.require(name, code); err != nil {
		return Result{Err: err}
	}
	s.ev.texts.keep(name, code)
	entry, err := s.ev.compile(s.slot, name, code, silent)
	if err != nil {
		return Result{Err: err}
	}
	if entry == nil {
		return Result{}
	}
	return s.execute(name, *entry)
}

// gate lets one cell at a time be compiled and take its place among the others: its
// variables and the newer versions of functions are in force before the next cell is
// compiled. It is open while statements of cells run.
type gate struct {
	turn sync.Mutex // held while it is closed

	mu   sync.Mutex
	pass func() // opens it; nil: it is open
}

// close waits until the gate is open, and closes it until pass or open is called.
func (g *gate) close() (pass func()) {
	g.turn.Lock()
	pass = sync.OnceFunc(func() {
		g.mu.Lock()
		g.pass = nil
		g.mu.Unlock()
		g.turn.Unlock()
	})
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pass = pass
	return pass
}

// open opens the gate, for the cell that closed it.
func (g *gate) open() {
	g.mu.Lock()
	pass := g.pass
	g.mu.Unlock()
	if pass != nil {
		pass()
	}
}
