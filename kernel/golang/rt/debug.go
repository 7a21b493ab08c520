package rt

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Lowered code of a session whose debugger is on has a hook before each statement
// and at both ends of each function. A function keeps where it is, and where its
// variables are, in an Activation; its hooks call the debugger only while the
// function's flag is set: a breakpoint is in it, or all is to be stopped.

// DebugFunc is a function of lowered code that the debugger can stop in.
type DebugFunc struct {
	Name, File string
	Stops      []DebugStop
	Slots      []DebugSlot
	Of         any // what the lowering knows of it
	// Owner is the function with the loop whose body this is; nil: it is no body of a
	// loop over a function.
	Owner *DebugFunc

	hot *bool
}

// DebugStop is a statement, or the beginning or end of a function.
type DebugStop struct {
	Line, Column int
	Pos          int  // token.Pos
	First        bool // of its line in the function: where a breakpoint stops
	// Call says that nothing is left to do of the statement when a function that it
	// calls has returned, which is Last, if that is not empty.
	Call bool
	Last string
}

// DebugSlot is a variable of a function.
type DebugSlot struct {
	Name string
	Real reflect.Type // in interfaces
	Rep  reflect.Type // in lowered code
}

// Activation is one call of a function that runs.
type Activation struct {
	Func  *DebugFunc
	slots []unsafe.Pointer
	at    *int

	// Lane is the thread of a kernel that an emulated call is of, and Of the call itself;
	// nil: it is one of lowered code.
	Lane *Lane
	Of   any

	home       *Activation // of DebugFunc.Owner, or the call itself
	deferredBy *Activation // that ends, and has the function called; nil: it is not deferred
}

// Stop is where the call is.
func (a *Activation) Stop() DebugStop {
	if n := peek(a.at); n >= 0 && n < len(a.Func.Stops) {
		return a.Func.Stops[n]
	}
	return DebugStop{}
}

// Value is a variable, which can be set; it is invalid before its declaration.
func (a *Activation) Value(slot int) reflect.Value {
	p := a.slots[slot]
	if p == nil {
		return reflect.Value{}
	}
	return reflect.NewAt(a.Func.Slots[slot].Real, p).Elem()
}

// Lowered is a variable's value as lowered code has it.
func (a *Activation) Lowered(slot int) any {
	return reflect.NewAt(a.Func.Slots[slot].Rep, a.slots[slot]).Elem().Interface()
}

// Thread is a goroutine that is in functions that the debugger can stop in.
type Thread struct {
	Goroutine int64
	Group     *Group // nil: of no cell

	main bool

	deferring *Activation // whose deferred function is called next
	stack     []*Activation
	parked    bool
	busy      bool        // it evaluates for the debugger
	apart     bool        // and does nothing else
	watch     *Activation // what it evaluates in
	told      []any       // and what that gave
	panics    any         // the value of the panic that begins
	ends      bool        // what unwinds it is no panic of the program
}

// Why a thread stops.
const (
	StopBreakpoint = "breakpoint"
	StopStep       = "step"
	StopPause      = "pause"
	StopPanic      = "exception"
)

// Stopped is a thread that has stopped, and with it all others that come to a
// statement.
type Stopped struct {
	Thread *Thread
	Reason string
	Panic  any // its value, where that is known
}

// StepKind is how far a thread goes.
type StepKind int

// How far a thread goes.
const (
	StepOver StepKind = iota + 1
	StepInto
	StepOut
)

type step struct {
	thread *Thread
	kind   StepKind
	from   *Activation
	line   int
}

type placeInCell struct {
	file string
	line int
}

// Debugger stops goroutines of cells. Its methods may be called by any goroutine.
type Debugger struct {
	r *Runtime

	// Hit decides whether a thread stops at a breakpoint. It is called by the thread.
	Hit func(t *Thread, a *Activation) bool
	// Stopped is told about a stop, by the thread, before it waits. Resumed is told that
	// all go on which nobody asked for: the cell was interrupted.
	Stopped func(Stopped)
	Resumed func()

	active  atomic.Bool // on, without mu
	mu      sync.Mutex
	on      bool
	funcs   []*DebugFunc
	threads map[int64]*Thread
	lines   map[placeInCell]bool
	panics  bool // stop at panics
	pausing bool
	step    *step
	held    bool // all stand still
	by      *Thread
	resume  chan struct{} // closes when they go on
	kick    chan struct{} // closes when goroutines were cancelled
	abandon chan struct{} // closes when evaluations are to end
}

func newDebugger(r *Runtime) *Debugger {
	return &Debugger{r: r, threads: make(map[int64]*Thread), lines: make(map[placeInCell]bool), kick: make(chan struct{}), abandon: make(chan struct{})}
}

// AddFunc makes a function known, whose stops and slots may still be added until it
// runs, and gives it its number.
func (d *Debugger) AddFunc(f *DebugFunc) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.funcs = append(d.funcs, f)
	return len(d.funcs) - 1
}

// hot tells where a function's flag is.
func (d *Debugger) hot(n int, flag *bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.funcs[n].hot = flag
	d.heatOne(d.funcs[n])
}

// heat sets the flags of all functions. The caller holds mu.
func (d *Debugger) heat() {
	for _, f := range d.funcs {
		d.heatOne(f)
	}
}

func (d *Debugger) heatOne(f *DebugFunc) {
	if f.hot == nil {
		return
	}
	hot := d.on && (d.held || d.pausing || d.step != nil)
	if d.on && !hot && len(d.lines) > 0 {
		hot = slices.ContainsFunc(f.Stops, func(s DebugStop) bool { return d.lines[placeInCell{f.File, s.Line}] })
	}
	setFlag(f.hot, hot)
}

// Set turns the debugger on or off. Off, it lets all go on, and forgets its
// breakpoints.
func (d *Debugger) Set(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.on = on
	d.active.Store(on)
	if !on {
		clear(d.lines)
		d.panics = false
		d.release(nil)
	}
	d.heat()
}

// SetLines says at which lines of a cell threads may stop.
func (d *Debugger) SetLines(file string, lines []int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for p := range d.lines {
		if p.file == file {
			delete(d.lines, p)
		}
	}
	for _, line := range lines {
		d.lines[placeInCell{file, line}] = true
	}
	d.heat()
}

// SetPanics says whether threads stop where a panic begins.
func (d *Debugger) SetPanics(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.panics = on
}

// Pause stops the next thread that comes to a statement.
func (d *Debugger) Pause() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pausing = true
	d.heat()
}

// Continue lets all threads go on. t, if not nil, stops again after a step.
func (d *Debugger) Continue(t *Thread, kind StepKind) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var next *step
	if t != nil && len(t.stack) > 0 {
		top := t.stack[len(t.stack)-1]
		next = &step{t, kind, top, top.Stop().Line}
	}
	d.release(next)
	d.heat()
}

// release lets what stands still go on. The caller holds mu.
func (d *Debugger) release(next *step) {
	d.step, d.pausing = next, false
	if d.held {
		d.held, d.by = false, nil
		close(d.resume)
	}
}

// Held reports whether the threads stand still, and by which.
func (d *Debugger) Held() (by *Thread, held bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.by, d.held
}

// Threads lists the goroutines that are in functions that can be stopped in.
func (d *Debugger) Threads() (list []*Thread) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.threads {
		if !t.apart {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b *Thread) int { return int(a.Goroutine - b.Goroutine) })
	return list
}

// Stack is the calls of a thread, the innermost first, and whether it stands still.
func (d *Debugger) Stack(t *Thread) (stack []*Activation, parked bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	stack = slices.Clone(t.stack)
	slices.Reverse(stack)
	return stack, t.parked
}

// Do calls f for a thread that stands still, in which Slot gives the variables of a, in a
// goroutine of its own: whatever f waits for, the thread can go on. f is ended then, and
// by Abandon. An error says that, or that the thread does not stand still.
func (d *Debugger) Do(t *Thread, a *Activation, f func()) error {
	runs := fmt.Errorf("goroutine %d runs", t.Goroutine)
	d.mu.Lock()
	if t.Goroutine == goid() {
		busy, watch := t.busy, t.watch
		t.busy, t.watch = true, a
		d.mu.Unlock()
		defer func() {
			d.mu.Lock()
			t.busy, t.watch = busy, watch
			d.mu.Unlock()
		}()
		f()
		return nil
	}
	if !t.parked || !d.held {
		d.mu.Unlock()
		return runs
	}
	resume, abandon := d.resume, d.abandon
	d.mu.Unlock()
	g := &Group{Name: "debugger", apart: true}
	if t.Group != nil {
		g.Name, g.Owner, g.Beside = t.Group.Name, t.Group.Owner, t.Group.Beside
	}
	done := make(chan error, 1)
	go d.r.Start(g, func() {
		ended := errors.New("it ended its goroutine")
		defer func() {
			if _, ok := d.r.Overflowed(g); ok {
				ended = Overflow{}
			}
			done <- ended
		}()
		id := goid()
		d.mu.Lock()
		d.threads[id] = &Thread{Goroutine: id, Group: g, busy: true, apart: true, watch: a}
		d.mu.Unlock()
		f()
		ended = nil
	})
	select {
	case err := <-done:
		return err
	case <-resume:
	case <-abandon:
	}
	d.r.Cancel(g)
	return errors.New("it was ended before it had a value")
}

// Abandon ends what is evaluated for threads that stand still.
func (d *Debugger) Abandon() {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.abandon)
	d.abandon = make(chan struct{})
}

// slot is a pointer to a variable of what the calling thread evaluates in.
func (d *Debugger) slot(n int) any {
	d.mu.Lock()
	t := d.threads[goid()]
	d.mu.Unlock()
	return reflect.NewAt(t.watch.Func.Slots[n].Rep, t.watch.slots[n]).Interface()
}

func (d *Debugger) thread(id int64) *Thread {
	t := d.threads[id]
	if t == nil {
		t = &Thread{Goroutine: id}
		t.Group, t.main = d.r.memberOf(id)
		d.threads[id] = t
	}
	return t
}

// enter begins a call of a function. It returns where that keeps the addresses of
// its variables, and where it is.
func (d *Debugger) enter(n int) ([]unsafe.Pointer, *int) {
	id := goid()
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.funcs[n]
	a := &Activation{Func: f, slots: make([]unsafe.Pointer, len(f.Slots)), at: new(int)}
	a.home = a
	t := d.thread(id)
	a.deferredBy, t.deferring = t.deferring, nil
	for n := len(t.stack) - 1; n >= 0 && f.Owner != nil; n-- {
		if t.stack[n].Func == f.Owner {
			a.home = t.stack[n]
			break
		}
	}
	t.stack = append(t.stack, a)
	return a.slots, a.at
}

// find finds a call on the stack, by where it keeps its place. What is above it has
// ended, by a panic.
func (t *Thread) find(at *int) (n int, ok bool) {
	for n := len(t.stack) - 1; n >= 0; n-- {
		if t.stack[n].at == at {
			return n, true
		}
	}
	return 0, false
}

// line is called before a statement of a function whose flag is set.
func (d *Debugger) line(at *int) {
	id := goid()
	d.mu.Lock()
	t := d.threads[id]
	if t == nil || t.busy {
		d.mu.Unlock()
		return
	}
	n, ok := t.find(at)
	if !ok {
		d.mu.Unlock()
		return
	}
	t.stack = t.stack[:n+1]
	t.panics = nil
	a := t.stack[n]
	reason := ""
	if s := d.step; s != nil && s.thread == t && t.stepped(s, a) {
		reason = StopStep
	}
	d.stopAt(t, a, reason)
}

// stepped says whether a step that the thread makes ends at the statement where a is.
func (t *Thread) stepped(s *step, a *Activation) bool {
	from, there := t.find(s.from.at)
	switch {
	case !there:
		return true
	case a.deferredBy != nil && a.home != s.from.home && s.kind == StepOver && t.before(a.deferredBy, from):
		return true
	case s.from.home == a.home:
		return s.line != a.Stop().Line && s.kind != StepOut
	}
	return s.kind == StepInto
}

// stopAt stops the calling thread at the statement where a is, if there is a reason:
// that which is given, or another. The caller holds mu, which stopAt releases.
func (d *Debugger) stopAt(t *Thread, a *Activation, reason string) {
	stop := a.Stop()
	if d.pausing {
		reason = StopPause
	}
	if stop.First && d.lines[placeInCell{a.Func.File, stop.Line}] && d.Hit != nil {
		d.mu.Unlock()
		hit := d.Hit(t, a)
		d.mu.Lock()
		if hit {
			reason = StopBreakpoint
		}
	}
	d.park(t, reason, nil)
}

// before says whether a call is on the stack, and not above the nth.
func (t *Thread) before(a *Activation, n int) bool {
	at, ok := t.find(a.at)
	return ok && at <= n
}

// top is the innermost call of the calling goroutine, nil while the debugger is off.
func (d *Debugger) top() *Activation {
	if !d.active.Load() {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.threads[goid()]; t != nil && len(t.stack) > 0 {
		return t.stack[len(t.stack)-1]
	}
	return nil
}

// defers tells that a function is called which a call deferred, if a is not nil.
func (d *Debugger) defers(a *Activation) {
	if a == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.threads[goid()]; t != nil {
		t.deferring = a
	}
}

// leave is called before a function returns.
func (d *Debugger) leave(at *int) {
	id := goid()
	d.mu.Lock()
	t := d.threads[id]
	if t == nil {
		d.mu.Unlock()
		return
	}
	n, ok := t.find(at)
	if !ok {
		d.mu.Unlock()
		return
	}
	s := d.step
	left := s != nil && s.thread == t && slices.Contains(t.stack[n:], s.from)
	leaves := t.stack[n].Func.Name
	t.stack = t.stack[:n]
	if n == 0 {
		if !t.apart {
			delete(d.threads, id)
		}
		if left {
			d.step = nil
			d.heat()
		}
		d.mu.Unlock()
		return
	}
	reason := ""
	home := -1
	if left && s.from.home != s.from { // the body of a loop: on in the function around it
		home, _ = t.find(s.from.home.at)
	}
	switch {
	case !left || t.busy:
	case home >= 0 && t.stack[home] == s.from.home:
		d.step = &step{t, s.kind, s.from.home, s.line}
	case t.stack[n-1].Stop().ends(leaves): // on to the caller's next statement
		d.step = &step{t, StepOver, t.stack[n-1], 0}
	default:
		caller := t.stack[n-1]
		d.mu.Unlock()
		direct := d.r.calledBy(caller.Func.File)
		d.mu.Lock()
		switch {
		case d.step != s: // another thread stopped
		case direct:
			reason = StopStep
		default: // back to a compiled package, which may call others
			kind := s.kind
			if kind == StepOut {
				kind = StepOver
			}
			d.step = &step{t, kind, caller, caller.Stop().Line}
		}
	}
	if reason == "" { // what stands still stops at a statement
		d.mu.Unlock()
		return
	}
	d.park(t, reason, nil)
}

// ends says whether nothing is left to do of the statement when a function returns.
func (s DebugStop) ends(function string) bool {
	return s.Call && (s.Last == "" || s.Last == function)
}

// calledBy says whether the function of a cell that the goroutine is in was called by
// one of the cell file, with no function of a compiled package between.
func (r *Runtime) calledBy(file string) bool {
	list := r.places(ownStack())
	return len(list) > 1 && list[1].fun != nil && list[1].fun.File == file
}

// ended forgets a goroutine that has ended.
func (d *Debugger) ended(id int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.threads[id]
	if t == nil {
		return
	}
	delete(d.threads, id)
	if d.step != nil && d.step.thread == t {
		d.step = nil
		d.heat()
	}
}

// raised notes the value of a panic that is about to begin; ends says that it is none
// of the program's.
func (d *Debugger) raised(v any, ends bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.threads[goid()]; t != nil {
		t.panics, t.ends = v, ends
	}
}

// panicked is called where a panic begins, on its goroutine.
func (d *Debugger) panicked() {
	d.mu.Lock()
	t := d.threads[goid()]
	if !d.on || !d.panics || t == nil || t.busy || t.ends || len(t.stack) == 0 {
		d.mu.Unlock()
		return
	}
	v := t.panics
	t.panics = nil
	d.park(t, StopPanic, v)
}

// park stops the calling thread, if there is a reason, or while others are to stand
// still. The caller holds mu, which park releases.
func (d *Debugger) park(t *Thread, reason string, value any) {
	for reason != "" || d.held {
		if !d.on {
			break
		}
		if reason != "" && !d.held {
			d.held, d.by, d.step, d.pausing = true, t, nil, false
			d.resume = make(chan struct{})
			d.heat()
			t.parked = true
			d.mu.Unlock()
			if d.Stopped != nil {
				d.Stopped(Stopped{t, reason, value})
			}
			d.mu.Lock()
			reason = ""
			continue
		}
		t.parked = true
		resume, kick := d.resume, d.kick
		g := d.r.groupOf(t.Goroutine)
		if g == nil || !g.cancelled.Load() { // it may have been while Stopped told about it
			d.mu.Unlock()
			select {
			case <-resume:
			case <-kick:
			}
			d.mu.Lock()
		}
		if g != nil && g.cancelled.Load() {
			t.parked = false
			resumed := false
			if d.by == t {
				d.release(nil)
				d.heat()
				resumed = true
			}
			at := 0
			if len(t.stack) > 0 {
				s := t.stack[len(t.stack)-1].Stop()
				at = s.Line<<12 | min(s.Column, 1<<12-1)
			}
			d.mu.Unlock()
			if resumed && d.Resumed != nil {
				d.Resumed()
			}
			d.r.check(at)
			runtime.Goexit()
		}
	}
	t.parked = false
	d.mu.Unlock()
}

// cancelled has the threads that stand still look whether they are to end.
func (d *Debugger) cancelled() {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.kick)
	d.kick = make(chan struct{})
}

// standing reports whether some goroutine waits for the debugger.
func (d *Debugger) standing() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.held
}

// watched keeps the values of what the calling thread evaluates.
func (d *Debugger) watched(values []any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.threads[goid()]; t != nil {
		t.told = values
	}
}

// Told are the values of what the calling goroutine evaluated last, and forgets them.
func (d *Debugger) Told() []any {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.threads[goid()]
	if t == nil {
		return nil
	}
	told := t.told
	t.told = nil
	return told
}

// Funcs are the functions that can be stopped in.
func (d *Debugger) Funcs() []*DebugFunc {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.funcs)
}

// Main reports whether the thread is the goroutine that runs its cell's statements.
func (t *Thread) Main() bool { return t.main }
