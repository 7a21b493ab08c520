package emulate

import (
	"errors"
	"unsafe"

	"gocuda/cudaapi/gokernel/ir"
)

// Watcher follows the threads of a launch. Its methods are called by the goroutine that
// called Run, but for Wants, which any goroutine may call.
type Watcher interface {
	// Wants says whether Step is to be called at a step.
	Wants(s *ir.Step) bool
	// Step is told that a thread has come to a step; calls are those that it is in, the
	// outermost first.
	Step(calls []*Call)
	// Panics is told that a thread panics.
	Panics(calls []*Call, text string)
}

// Lane is a thread, as those see it who watch.
type Lane struct {
	Block, Thread [3]int
	Ended         bool
}

// Call is a call of a function by a thread, which has come to a step.
type Call struct {
	Lane *Lane
	At   *ir.Step
	Of   any // the watcher's own

	fr *frame
	c  *compiler
}

// come reports a step, if somebody wants to know.
func (t *thread) come(fr *frame, c *compiler, s *ir.Step) {
	if t.lane == nil {
		t.lane = &Lane{Block: t.block.index, Thread: t.index}
	}
	if fr.call == nil {
		fr.call = &Call{Lane: t.lane, fr: fr}
	}
	fr.call.At, fr.call.c = s, c
	if w := t.run.Watch; w.Wants(s) {
		t.told(func() { w.Step(t.calls()) })
	}
}

// panics tells that the thread is about to panic.
func (t *thread) panics(text string) {
	if w := t.run.Watch; w != nil {
		if calls := t.calls(); len(calls) > 0 {
			t.told(func() { w.Panics(calls, text) })
		}
	}
}

// told has the launch's goroutine do something.
func (t *thread) told(do func()) {
	if t.yield == nil {
		do()
		return
	}
	t.tell = do
	if !t.yield(struct{}{}) {
		panic(stopped{})
	}
}

// calls are those that the thread is in and that have come to a step.
func (t *thread) calls() (list []*Call) {
	for _, fr := range t.frames[:t.depth] {
		if fr.call != nil {
			list = append(list, fr.call)
		}
	}
	return list
}

// Grid and Block are the sizes of the launch that the call is part of.
func (c *Call) Grid() [3]int { return c.fr.t.run.Grid }

// Block is the number of threads of a block in each direction.
func (c *Call) Block() [3]int { return c.fr.t.run.Block }

// Run runs statements where the call stands, and returns where variables of theirs, or
// of the place, lie. The thread goes on as if nothing had happened, but for what they
// write. It must be called in Step or Panics.
func (c *Call) Run(list []ir.Stmt, vars []*ir.Var) (places []unsafe.Pointer, err error) {
	t := c.fr.t
	if meets(&ir.Func{Body: list}, make(map[*ir.Func]bool)) {
		return nil, errors.New("it waits for other threads, which stand still")
	}
	k := &code{outer: c.c.code.outer}
	in := &compiler{p: c.c.p, code: k, up: c.c, places: make(map[*ir.Var]place), labels: c.c.labels, depth: c.c.depth + 1}
	k.body = in.list(list)
	var where []locate
	for _, v := range vars {
		where = append(where, in.variable(v))
	}
	watch, races, counts, yield, depth, at, steps := t.run.Watch, t.run.races, t.run.Counts, t.yield, t.depth, t.at, t.steps
	t.run.Watch, t.run.races, t.run.Counts, t.yield = nil, nil, nil, nil
	defer func() {
		t.run.Watch, t.run.races, t.run.Counts, t.yield, t.depth, t.at, t.steps = watch, races, counts, yield, depth, at, steps
		switch v := recover().(type) {
		case nil:
		case *Panic:
			err = v
		default:
			panic(v)
		}
	}()
	fr := t.push(function{k, c.fr})
	fr.block = nil // what it holds is looked at later
	fr.room(int(k.size))
	k.body(fr)
	for _, w := range where {
		places = append(places, w(fr))
	}
	return places, nil
}
