package rt

// Lane is a thread of an emulated kernel.
type Lane struct {
	Name  string
	Ended func() bool
}

// Emulation is a launch of a kernel that a goroutine emulates, one thread of it at a
// time: the calls that this thread is in stand on the goroutine's stack.
type Emulation struct {
	d    *Debugger
	t    *Thread
	base int // of the stack: the goroutine's own calls
}

// Emulation begins a launch that the calling goroutine emulates; nil: nobody debugs, or
// the goroutine is in no function that can be stopped in.
func (d *Debugger) Emulation() *Emulation {
	if !d.active.Load() {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.threads[goid()]
	if t == nil || t.busy || len(t.stack) == 0 {
		return nil
	}
	return &Emulation{d, t, len(t.stack)}
}

// Emulated is a call of a function by a thread.
func Emulated(f *DebugFunc, lane *Lane, of any) *Activation {
	a := &Activation{Func: f, Lane: lane, Of: of, at: new(int)}
	a.home = a
	return a
}

// Reach notes which of its function's stops a call has come to.
func (a *Activation) Reach(stop int) { *a.at = stop }

// AddEmulated makes a function known of which there are emulated calls.
func (d *Debugger) AddEmulated(f *DebugFunc) {
	n := d.AddFunc(f)
	d.hot(n, new(bool))
}

// Hot says whether something is to stop in a function of which there are emulated calls.
func (f *DebugFunc) Hot() bool { return peek(f.hot) }

// Step is called before a statement, in the last of a thread's calls.
func (e *Emulation) Step(calls []*Activation) {
	d, t := e.d, e.t
	d.mu.Lock()
	if t.busy {
		d.mu.Unlock()
		return
	}
	t.stack = append(t.stack[:e.base], calls...)
	a := calls[len(calls)-1]
	reason := ""
	if s := d.step; s != nil && s.thread == t {
		from := s.from.Lane
		switch {
		case from == nil || from == a.Lane:
			if t.stepped(s, a) {
				reason = StopStep
			}
		case !from.Ended(): // it is another thread's step
		case s.kind == StepOut: // on to the statement after the launch
			d.step = &step{t, StepOver, t.stack[e.base-1], 0}
		default:
			reason = StopStep
		}
	}
	d.stopAt(t, a, reason)
}

// Panics is called where a panic ends a thread.
func (e *Emulation) Panics(calls []*Activation, text string) {
	d, t := e.d, e.t
	d.mu.Lock()
	if !d.on || !d.panics || t.busy {
		d.mu.Unlock()
		return
	}
	t.stack = append(t.stack[:e.base], calls...)
	d.park(t, StopPanic, text)
}

// End ends the launch.
func (e *Emulation) End() {
	e.d.mu.Lock()
	defer e.d.mu.Unlock()
	e.t.stack = e.t.stack[:min(e.base, len(e.t.stack))]
	if s := e.d.step; s != nil && s.thread == e.t && s.from.Lane != nil && s.kind == StepOut {
		e.d.step = &step{e.t, StepOver, e.t.stack[e.base-1], 0}
	}
}
