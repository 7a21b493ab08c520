package rt

import (
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Group is the goroutines of one cell: the cell's own and those it started.
type Group struct {
	Name string
	// Owner is what the cell was run by, for those who ask [Runtime.Owner].
	Owner any
	// Beside says that the cell runs beside others: it is a subshell's.
	Beside bool

	cancelled atomic.Bool
	apart     bool            // it is an evaluation of the debugger
	live      int             // under groups.mu
	first     int64           // the cell's own goroutine
	ends      map[int64]Stack // where cancelled goroutines ended, under groups.mu
	overflow  *Trace          // where a recursion left no stack, under groups.mu
	ending    chan struct{}   // closed when it is cancelled, for those that wait; under groups.mu
}

type groups struct {
	mu       sync.Mutex
	acting   map[int64]any // what other goroutines act for
	byID     map[int64]*Group
	stopping int            // cancelled goroutines that are still alive
	signals  int            // how often they were told
	told     bool           // not long ago
	exits    map[int64]exit // of goroutines that are to end
	asks     int            // how many want to know of loops that run
}

// Start runs f in the calling goroutine as part of g.
func (r *Runtime) Start(g *Group, f func()) {
	id := goid()
	gs := &r.groups
	gs.mu.Lock()
	gs.byID[id] = g
	members.Store(id, r)
	if g.first == 0 {
		g.first = id
		r.alarms.fresh.Store(true)
	}
	g.live++
	if g.cancelled.Load() {
		gs.stopping++
		r.signal()
	}
	gs.mu.Unlock()
	defer func() {
		gs.mu.Lock()
		delete(gs.byID, id)
		gs.exited(id)
		members.Delete(id)
		g.live--
		if g.cancelled.Load() {
			if gs.stopping--; gs.stopping == 0 {
				gs.told = false
				r.flag()
			}
			setFlag(r.stuck, gs.stopping > 0)
		}
		gs.mu.Unlock()
		r.traces.swap(id, nil)
		r.Debugger.ended(id)
	}()
	if surviving.Load() {
		debug.SetPanicOnFault(true)
	}
	f()
}

// Cancel ends the goroutines of g: each at its next loop, call of a function,
// or return from what it is blocked in. Once more, it tells them again.
func (r *Runtime) Cancel(g *Group) {
	defer r.Debugger.cancelled() // when the lock is free
	gs := &r.groups
	gs.mu.Lock()
	defer gs.mu.Unlock()
	if !g.cancelled.Swap(true) {
		gs.stopping += g.live
		if g.ending != nil {
			close(g.ending)
		}
	}
	if gs.stopping > 0 {
		r.signal()
	}
}

// Await waits for done, or until the calling goroutine is to end.
func (r *Runtime) Await(done <-chan struct{}) {
	var ending <-chan struct{}
	if g := r.group(); g != nil {
		ending = r.groups.endOf(g)
	}
	select {
	case <-done:
	case <-ending:
	}
}

// endOf is closed once g is cancelled.
func (gs *groups) endOf(g *Group) <-chan struct{} {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	if g.ending == nil {
		g.ending = make(chan struct{})
		if g.cancelled.Load() {
			close(g.ending)
		}
	}
	return g.ending
}

// signal has lowered code look for its cancellation. The caller holds groups.mu.
func (r *Runtime) signal() {
	gs := &r.groups
	gs.signals++
	signal := gs.signals
	gs.told = true
	r.flag()
	setFlag(r.stuck, true)
	// What runs meets a poll soon. What is blocked polls when it comes back;
	// other goroutines are not to pay for it until then.
	time.AfterFunc(stopTime, func() { r.unsignal(signal) })
}

// unsignal ends the polls for a signal, unless there was another since.
func (r *Runtime) unsignal(signal int) {
	gs := &r.groups
	gs.mu.Lock()
	defer gs.mu.Unlock()
	if gs.signals == signal {
		gs.told = false
		r.flag()
	}
}

// flag has lowered code look at loop heads, or not. The caller holds groups.mu.
func (r *Runtime) flag() { setFlag(r.stop, r.groups.told || r.groups.asks > 0) }

// Ask has loops that run, and can go on in a compiled form, ask for that at the head of
// their next turns, until the answer is called.
func (r *Runtime) Ask() (enough func()) {
	ask := func(n int) {
		r.groups.mu.Lock()
		defer r.groups.mu.Unlock()
		r.groups.asks += n
		r.flag()
	}
	ask(1)
	return sync.OnceFunc(func() { ask(-1) })
}

// setFlag writes a flag that interpreted code polls. The interpreter reads it
// without synchronisation, on purpose (a poll is all that it costs): the write
// of a byte is whole, and a poll that comes too early is followed by another.
// So the race detector is not told about it.
//
//go:norace
func setFlag[T bool | int](p *T, v T) { *p = v }

// stopTime is how long running code polls for a cancellation.
const stopTime = 2 * time.Second

// Live lists the groups that have running goroutines, with their number.
func (r *Runtime) Live() map[*Group]int {
	r.groups.mu.Lock()
	defer r.groups.mu.Unlock()
	m := make(map[*Group]int)
	for _, g := range r.groups.byID {
		m[g]++
	}
	return m
}

// SetFlags tells where lowered code looks for a pending cancellation; after what may
// block, for one that came meanwhile; and whether what it touches is to be told.
func (r *Runtime) SetFlags(stop, stuck, pending *bool) {
	r.stop, r.stuck = stop, stuck
	r.touching.mu.Lock()
	defer r.touching.mu.Unlock()
	r.touching.flag = pending
	setFlag(pending, r.touching.pending.Load())
}

func (r *Runtime) group() *Group { return r.groupOf(goid()) }

// Group is the group of the calling goroutine; nil: it is of no cell.
func (r *Runtime) Group() *Group { return r.group() }

// Owner is the owner of the group that the calling goroutine belongs to, or what it
// acts for; nil: neither.
func (r *Runtime) Owner() any {
	id := goid()
	r.groups.mu.Lock()
	defer r.groups.mu.Unlock()
	if g := r.groups.byID[id]; g != nil {
		return g.Owner
	}
	return r.groups.acting[id]
}

// Act makes owner what the calling goroutine acts for, until done is called on it.
func (r *Runtime) Act(owner any) (done func()) {
	id := goid()
	set := func(owner any) (before any) {
		r.groups.mu.Lock()
		defer r.groups.mu.Unlock()
		before = r.groups.acting[id]
		if owner == nil {
			delete(r.groups.acting, id)
		} else {
			r.groups.acting[id] = owner
		}
		return before
	}
	before := set(owner)
	return func() { set(before) }
}

// memberOf is groupOf, and whether the goroutine is the cell's own.
func (r *Runtime) memberOf(id int64) (g *Group, own bool) {
	r.groups.mu.Lock()
	defer r.groups.mu.Unlock()
	g = r.groups.byID[id]
	return g, g != nil && g.first == id
}

// groupOf is the group of a goroutine, nil if it is of no cell.
func (r *Runtime) groupOf(id int64) *Group {
	r.groups.mu.Lock()
	defer r.groups.mu.Unlock()
	return r.groups.byID[id]
}

// check is called by lowered code while a cancellation is pending. A goroutine
// that is to end does so without a panic: the interpreter stops and begins one
// again in every frame, which takes minutes in a deep recursion.
func (r *Runtime) check(pos int) {
	if g := r.group(); g != nil && g.cancelled.Load() {
		r.noteEnd(g, pos)
		if r.exits(g) {
			runtime.Goexit()
		}
	}
}

// cleanTime is what a goroutine that is to end has for what it deferred. It is less than
// the time for which the cell's end waits.
const cleanTime = 200 * time.Millisecond

// exit is what is known of a goroutine that is to end.
type exit struct {
	told  int       // how often it was told so
	until time.Time // then it is told again
}

// maxExits is how many deferred calls of a goroutine that is to end may be ended
// themselves. Each takes more of the stack, for what is left to be deferred: a function
// that defers itself would use it all up.
const maxExits = 100

// exits tells the calling goroutine of g that it is to end, and counts that; false: what
// it deferred runs, and has time. After an overflow it has none, for there is no stack.
func (r *Runtime) exits(g *Group) bool {
	id, now := goid(), time.Now()
	r.groups.mu.Lock()
	defer r.groups.mu.Unlock()
	e := r.groups.exits[id]
	if e.told > 0 && now.Before(e.until) {
		return false
	}
	if e.told == 0 && g.overflow == nil {
		e.until = now.Add(cleanTime)
	}
	e.told++
	r.groups.exits[id] = e
	if e.told == maxExits {
		left.Store(id, true)
		leftCount.Add(1)
	}
	return true
}

// cleaning is what the calling goroutine of g, which is to end, still has for what it
// deferred.
func (r *Runtime) cleaning(g *Group) time.Duration {
	if !g.cancelled.Load() {
		return 0
	}
	r.groups.mu.Lock()
	defer r.groups.mu.Unlock()
	return time.Until(r.groups.exits[goid()].until)
}

// exited forgets what exits counted of a goroutine that has ended. The caller holds
// groups.mu.
func (gs *groups) exited(id int64) {
	delete(gs.exits, id)
	if _, ok := left.LoadAndDelete(id); ok {
		leftCount.Add(-1)
	}
}

// maxEnds is of how many goroutines of a cell it is noted where they ended.
const maxEnds = 64

// noteEnd keeps where the calling goroutine ends, in the statement at pos, 0 if
// that is not known.
func (r *Runtime) noteEnd(g *Group, pos int) {
	id := goid()
	r.groups.mu.Lock()
	_, known := g.ends[id]
	enough := len(g.ends) >= maxEnds || known
	r.groups.mu.Unlock()
	if enough {
		return
	}
	s := ownStack()
	s.ended, s.pos = pos > 0, pos
	r.groups.mu.Lock()
	defer r.groups.mu.Unlock()
	if g.ends == nil {
		g.ends = make(map[int64]Stack)
	}
	g.ends[id] = s
}

// Goroutine is where a goroutine of a cell was.
type Goroutine struct {
	State string // as the runtime calls it: "chan receive"
	Calls []Call // the innermost first
}

// Where says where goroutines are, the own one of the cell g first, given what Stacks
// saw of them. One that has been cancelled and has ended since says that itself. What
// is left of cells that were cancelled before is not among them: it only ends.
func (r *Runtime) Where(g *Group, stacks []Stack) []Goroutine {
	var list []Goroutine
	for _, s := range stacks {
		ended := s
		if g != nil {
			r.groups.mu.Lock()
			of := r.groups.byID[s.ID]
			if end, ok := g.ends[s.ID]; ok {
				ended = end
			}
			r.groups.mu.Unlock()
			if of != nil && of != g && of.Cancelled() {
				continue
			}
		}
		at := Goroutine{s.State, r.Calls(ended)}
		if g != nil && s.ID == g.first {
			list = slices.Insert(list, 0, at)
		} else {
			list = append(list, at)
		}
	}
	return list
}

// Stacks looks at the goroutines of g.
func (r *Runtime) Stacks(g *Group) []Stack {
	all := allStacks()
	r.groups.mu.Lock()
	defer r.groups.mu.Unlock()
	return slices.DeleteFunc(all, func(s Stack) bool { return r.groups.byID[s.ID] != g })
}

// Cancelled says whether the goroutines of g are to end.
func (g *Group) Cancelled() bool { return g.cancelled.Load() }

// Overflowed says whether they were told to since a recursion left no stack, and where.
func (r *Runtime) Overflowed(g *Group) (at Trace, yes bool) {
	r.groups.mu.Lock()
	defer r.groups.mu.Unlock()
	if g.overflow == nil {
		return at, false
	}
	return *g.overflow, true
}

// goFunc is the go statement.
func (r *Runtime) goFunc(f func()) {
	g := r.group()
	if g == nil {
		g = &Group{Name: "goroutine"}
	}
	go r.Start(g, func() { r.contain(g, f) })
}

// callback is a function that compiled code is given to call. Where a goroutine
// of the cell calls it, it is f. In any other, such as one of time.AfterFunc, f
// runs as a goroutine of the cell that gave it, and its caller waits for it.
func (r *Runtime) callback(f func()) func() {
	g := r.group()
	if f == nil || g == nil {
		return f
	}
	var token *any // as long as it lives, f may be called; with others in one block, it would live as long as they
	if r.alarms.calls.Load() {
		token = new(any)
		r.alarms.add(alarm{gone: forgotten(token)})
	}
	return func() {
		defer runtime.KeepAlive(token)
		if r.group() != nil {
			f()
			return
		}
		done := make(chan struct{})
		go r.Start(g, func() {
			defer close(done)
			id := goid()
			r.callbacks.Store(id, true)
			r.called.Add(1)
			defer func() {
				r.called.Add(-1)
				r.callbacks.Delete(id)
			}()
			r.contain(g, f)
		})
		<-done
	}
}

// contain calls f, and reports what ends it other than by returning.
func (r *Runtime) contain(g *Group, f func()) {
	end := outcome{ok: true}
	defer func() { // also if the goroutine ends
		if !end.ok && r.Background != nil {
			r.Background(g, end.value, end.trace)
		}
	}()
	r.try(f, &end)
}

// Try calls f. ok is false if it did not return: v is the panic's value, or
// the error that ended it (an Exit, a Failure). Of a goroutine that ends, as an
// interrupted one does, it does not return.
func (r *Runtime) Try(f func()) (v any, trace Trace, ok bool) {
	var end outcome
	r.try(f, &end)
	return end.value, end.trace, end.ok
}

// outcome is how a function ended; ok stands for runtime.Goexit, too.
type outcome struct {
	value any
	trace Trace
	ok    bool
}

func (r *Runtime) try(f func(), end *outcome) {
	defer func() {
		if end.ok {
			return
		}
		id := goid()
		p := recover()
		end.trace = r.traces.take(id)
		switch p := p.(type) {
		case nil:
			end.ok = true // runtime.Goexit cannot be stopped: the goroutine ends here
		case *ending:
			end.value = p.err
		default:
			end.value = panicValue(p)
		}
	}()
	end.ok = false
	f()
	end.ok = true
}
