package rt

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Ending is the word that is set once the calling goroutine is to end; nil if it is
// of no cell.
func (r *Runtime) Ending() *atomic.Bool {
	g := r.group()
	if g == nil {
		return nil
	}
	if rest := r.cleaning(g); rest > 0 {
		word := new(atomic.Bool)
		time.AfterFunc(rest, func() { word.Store(true) })
		return word
	}
	return &g.cancelled
}

// PanicIn panics as a compiled function does that is called in place of the one that
// lowered code calls lowered: calls, the innermost first, are those in it.
func (r *Runtime) PanicIn(lowered string, calls []Call, value any) {
	r.traces.swap(goid(), &trail{calls: calls, last: lowered, compiled: calls})
	panic(r.thrown(value))
}

// Overflow is why a cell ends whose compiled functions have no stack left.
type Overflow struct{}

func (Overflow) Error() string {
	return "stack overflow: a function calls itself without end, or too deeply; what the cell had assigned is kept"
}

// deepFrames is from how many frames of Go on an overflow ends the cell as check does.
const deepFrames = 2000

// overflowDeep ends the calling goroutine and its cell if compiled functions have no
// stack left because interpreted ones, which call them, are deep: see check.
func (r *Runtime) overflowDeep() {
	g := r.group()
	if g == nil || runtime.Callers(deepFrames, make([]uintptr, 1)) == 0 {
		return
	}
	r.overflow()
}

// OverflowIn ends a goroutine whose compiled function has no stack left.
func (r *Runtime) OverflowIn(lowered string, calls []Call) {
	r.overflowDeep()
	r.traces.swap(goid(), &trail{calls: calls, last: lowered})
	panic(&ending{Overflow{}})
}

// PanicAt panics as a loop does that was compiled: at is where that is in the function
// that the loop is in, and calls, the innermost first, are those in the loop.
func (r *Runtime) PanicAt(at Call, calls []Call, value any) {
	pos := at.Line<<12 | min(at.Column, 1<<12-1)
	r.traces.swap(goid(), &trail{calls: calls, pos: pos, compiled: append(calls[:len(calls):len(calls)], at)})
	panic(r.thrown(value))
}

// OverflowAt ends a goroutine whose compiled loop has no stack left.
func (r *Runtime) OverflowAt(at Call, calls []Call) {
	r.overflowDeep()
	r.traces.swap(goid(), &trail{calls: calls, pos: at.Line<<12 | min(at.Column, 1<<12-1)})
	panic(&ending{Overflow{}})
}

// settle has every goroutine see what was stored before. Interpreted code reads without
// synchronisation whether a function has another in its place, and then which; some
// processors may do that in the other order. All goroutines stand still here.
func settle() {
	if runtime.GOARCH != "amd64" { // on which nothing is seen out of order
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
	}
}

// SetLoop says whether a loop can go on in a compiled form, in the flags that lowered
// code looks at before it begins one.
func SetLoop(flags []bool, number int, yes bool) { setFlag(&flags[number], yes) }

// EndIn ends the calling goroutine, which is to end, in the statement at a place.
func (r *Runtime) EndIn(line, column int) {
	if g := r.group(); g != nil {
		r.noteEnd(g, line<<12|min(column, 1<<12-1))
		r.exits(g)
	}
	runtime.Goexit()
}
