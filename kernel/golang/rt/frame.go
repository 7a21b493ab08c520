package rt

import (
	"sync"
	"sync/atomic"
)

// Frame is one call of a function that defers. The interpreter's own defer
// and recover are not Go's, so lowered code hands the body to Run.
type Frame struct {
	traces    *traces
	defers    []deferred
	panicking bool
	value     any

	debugger *Debugger
	of       *Activation // whose frame it is, while the debugger is on
}

type deferred struct {
	call     func()
	recovers bool // the function itself calls recover
}

// Defer is a defer statement whose function does not call recover.
func (f *Frame) Defer(call func()) { f.defers = append(f.defers, deferred{call: call}) }

// DeferRecover is a defer statement whose function may call recover.
func (f *Frame) DeferRecover(call func()) {
	f.defers = append(f.defers, deferred{call: call, recovers: true})
}

// run calls the body and then, last first, what it deferred, whether the body
// returned, panicked or ended its goroutine.
func (r *Runtime) run(body func(*Frame)) {
	f := &Frame{traces: &r.traces, debugger: r.Debugger, of: r.Debugger.top()}
	defer f.finish()
	body(f)
}

func (f *Frame) finish() {
	if r := recover(); r != nil {
		f.panicking, f.value = true, r
	}
	f.unwind()
	if f.panicking {
		panic(f.value)
	}
}

// unwind runs what is deferred; a deferred call that ends the goroutine does
// not keep the others from running.
func (f *Frame) unwind() {
	done := false
	defer func() {
		if !done && len(f.defers) > 0 {
			f.unwind()
		}
	}()
	for len(f.defers) > 0 {
		d := f.defers[len(f.defers)-1]
		f.defers = f.defers[:len(f.defers)-1]
		f.call(d)
	}
	done = true
}

func (f *Frame) call(d deferred) {
	if leftCount.Load() > 0 {
		if _, ok := left.Load(goid()); ok {
			return
		}
	}
	var before *trail
	if f.panicking {
		before = f.traces.swap(goid(), nil)
		if before != nil && before.compiled != nil {
			defer f.traces.within(goid(), before.compiled)()
		}
	}
	was, value := f.panicking, f.value
	defer func() {
		if r := recover(); r != nil {
			if was {
				f.replaced(value, r, before)
			}
			f.panicking, f.value = true, r
		} else if f.panicking && before != nil {
			f.traces.swap(goid(), before)
		}
	}()
	f.debugger.defers(f.of)
	if !d.recovers {
		d.call()
		return
	}
	id := goid()
	outer, nested := armed.Swap(id, f)
	armedCount.Add(1)
	defer func() {
		armedCount.Add(-1)
		if nested {
			armed.Store(id, outer)
		} else {
			armed.Delete(id)
		}
	}()
	d.call()
}

// replaced notes that a deferred call panics with now, which was made for a panic with
// was.
func (f *Frame) replaced(was, now any, before *trail) {
	_, ends := was.(*ending)
	if _, too := now.(*ending); ends || too {
		return
	}
	was = panicValue(was)
	e := Earlier{Value: was, Recovered: !f.panicking}
	e.Repanicked = e.Recovered && same(was, panicValue(now))
	f.traces.during(goid(), e, before)
}

// same is a == b, false where that panics.
func same(a, b any) (yes bool) {
	defer func() { _ = recover() }()
	return a == b
}

// armed holds, by goroutine, the frame whose panic the next function that
// can recover may take: the one that the frame calls.
var (
	armed      sync.Map // int64 to *Frame
	armedCount atomic.Int64
)

// left are the goroutines that end without what they deferred: see exits.
var (
	left      sync.Map // int64 to true
	leftCount atomic.Int64
)

// recoverable is called first by every function that contains recover().
func recoverable() *Frame {
	if armedCount.Load() == 0 {
		return nil
	}
	f, ok := armed.Load(goid())
	if !ok || f == (*Frame)(nil) {
		return nil
	}
	armed.Store(goid(), (*Frame)(nil))
	return f.(*Frame)
}

// recovered is recover().
func (r *Runtime) recovered(f *Frame) any {
	if f == nil || !f.panicking {
		return nil
	}
	if _, ok := f.value.(*ending); ok {
		return nil // an interrupt or os.Exit is not the program's to stop
	}
	f.panicking = false
	v := f.value
	f.value = nil
	r.traces.swap(goid(), nil)
	return panicValue(v)
}
