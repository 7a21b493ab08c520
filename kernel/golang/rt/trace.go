package rt

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

// Func is a function of lowered code, as a trace shows it.
type Func struct {
	Name   string // as the user wrote it, such as main.f or main.f.func1
	File   string // the cell
	Hidden bool   // made by the lowering

	// Versions is what the versions of a function have in common that cells
	// declared again; "" if it has no others.
	Versions string
	// Sites are the positions (line<<12 | column) of the statements that call a
	// function, by its name in lowered code; those at "" call what only run time
	// knows.
	Sites map[string][]int

	// pos is where execution is. All calls of the function share it, in whatever
	// goroutines they run.
	pos *int
}

// at is the position of a call of f that a panic of the function callee came
// through; if callee is "", the panic is f's own.
func (f *Func) at(callee string) int {
	now := 0
	if f.pos != nil {
		now = peek(f.pos)
	}
	if callee == "" {
		return now
	}
	sites := f.Sites[callee]
	if len(sites) == 0 {
		sites = f.Sites[""]
	}
	if len(sites) == 0 || slices.Contains(sites, now) {
		return now
	}
	return sites[0]
}

// Call is one line of a panic's trace.
type Call struct {
	Func         *Func
	Line, Column int
}

// Trace is what is known of a panic beside its value.
type Trace struct {
	Calls  []Call    // the functions that it came through, the innermost first
	During []Earlier // the panics whose deferred calls ran, the first one first
}

// Earlier is a panic during whose deferred calls another one began.
type Earlier struct {
	Value      any
	Recovered  bool
	Repanicked bool // the other one has the same value
}

// traces gathers, by goroutine, the functions that a panic goes through. The
// interpreter says so itself: it writes a line for each.
type traces struct {
	mu     sync.Mutex
	trails map[int64]*trail
	funcs  map[string]*Func // by lowered name
	bodies map[uint64]*Func // by what the interpreter runs, of those that Calling met
	body   map[string]*int  // the positions of the cells that run, by lowered name

	compiled map[int64][]Call // where in compiled code a panic began whose deferred calls run

	here [1024]here // by goroutine and function
}

// here is where a goroutine was last known to be, in the function whose position is at
// pos. Others may run the same function.
type here struct {
	goroutine int64
	pos       *int
	at        int
}

// reach notes that the calling goroutine is at a position.
func (t *traces) reach(pos *int, at int) {
	id := goid()
	t.mu.Lock()
	defer t.mu.Unlock()
	*t.in(id, pos) = here{id, pos, at}
}

// in is where it may stand where a goroutine is in a function: what that calls has places
// of its own.
func (t *traces) in(goroutine int64, pos *int) *here {
	return &t.here[(uint64(goroutine)*31+uint64(uintptr(unsafe.Pointer(pos))>>3))%uint64(len(t.here))]
}

// trail is how far the panic of a goroutine has come.
type trail struct {
	calls []Call
	last  string // the function that it came through last
	pos   int    // where it began, if that is known and no function is in calls yet

	compiled []Call // the calls in compiled code that it began in, the innermost first

	during []Earlier
}

// AddFunc makes a lowered function known by its name in lowered code.
func (r *Runtime) AddFunc(lowered string, f *Func) {
	r.traces.mu.Lock()
	defer r.traces.mu.Unlock()
	r.traces.funcs[lowered] = f
}

// register tells where a function keeps its position.
func (t *traces) register(lowered string, pos *int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.funcs[lowered]; f != nil {
		f.pos = pos
	}
	if IsBody(lowered) {
		t.body[lowered] = pos
	}
}

// IsBody reports whether a name in lowered code is that of a cell's statements, which
// other cells have too.
func IsBody(lowered string) bool { return lowered == "body" || strings.HasPrefix(lowered, "body_") }

// BeginBody forgets where the last cell was whose lowered code has this name, before
// the next one begins.
func (r *Runtime) BeginBody(lowered string) {
	r.traces.mu.Lock()
	defer r.traces.mu.Unlock()
	clear(r.traces.bodies) // those of earlier cells may be gone, and others in their places
	if pos := r.traces.body[lowered]; pos != nil {
		setFlag(pos, 0)
	}
}

// BodyLine is the line of the statement at the outer level of a running cell, given
// by the name of its lowered code, that runs now; 0: not known.
func (r *Runtime) BodyLine(lowered string) int {
	r.traces.mu.Lock()
	defer r.traces.mu.Unlock()
	pos := r.traces.body[lowered]
	if pos == nil {
		return 0
	}
	return peek(pos) >> 12
}

// Statement is one of a cell's.
type Statement struct {
	Cell string
	Line int
}

// Calling is the statement of a cell's function that the calling goroutine is in, and
// the one that called that function; both empty if it is in none.
func (r *Runtime) Calling() (in, from Statement) {
	bodies(func(body uint64) bool {
		f := r.traces.of(body)
		if f == nil && r.Bodies != nil {
			name := r.Bodies()[body]
			f = r.traces.know(body, name)
		}
		if f == nil {
			return true
		}
		r.traces.mu.Lock()
		pos := f.at("")
		if id := goid(); in.Cell == "" {
			if h := r.traces.in(id, f.pos); h.goroutine == id && h.pos == f.pos {
				pos = h.at
			}
		}
		r.traces.mu.Unlock()
		if pos == 0 { // made by the lowering, or the frame of a function that defers
			return true
		}
		at := Statement{f.File, pos >> 12}
		if in.Cell == "" {
			in = at
			return true
		}
		if at != in {
			from = at
		}
		return from.Cell == ""
	})
	return in, from
}

// of is the function that the interpreter runs as body, if that is known.
func (t *traces) of(body uint64) *Func {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bodies[body]
}

// know notes which function it is.
func (t *traces) know(body uint64, lowered string) *Func {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.funcs[lowered]
	if f != nil {
		t.bodies[body] = f
	}
	return f
}

// peek reads what interpreted code writes without synchronisation; see setFlag.
//
//go:norace
func peek[T bool | int](p *T) T { return *p }

// begin notes where a panic of the calling goroutine begins.
func (t *traces) begin(pos int) {
	t.swap(goid(), &trail{pos: pos})
}

// swap sets the trail of a goroutine, nil for none, and returns the one before.
func (t *traces) swap(id int64, now *trail) (before *trail) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before = t.trails[id]
	if now == nil {
		delete(t.trails, id)
	} else {
		t.trails[id] = now
	}
	return before
}

// within notes where in compiled code a goroutine panics, until the end of a deferred
// call.
func (t *traces) within(id int64, calls []Call) (done func()) {
	set := func(calls []Call) (before []Call) {
		t.mu.Lock()
		defer t.mu.Unlock()
		before = t.compiled[id]
		if calls == nil {
			delete(t.compiled, id)
		} else {
			t.compiled[id] = calls
		}
		return before
	}
	before := set(calls)
	return func() { set(before) }
}

// take ends the trail of a goroutine and returns it.
func (t *traces) take(id int64) Trace {
	if trail := t.swap(id, nil); trail != nil {
		return Trace{trail.calls, trail.during}
	}
	return Trace{}
}

// during notes that the panic of a goroutine began in a deferred call of an earlier
// one, which had come as far as before says: the functions of both are on the stack.
func (t *traces) during(id int64, earlier Earlier, before *trail) {
	t.mu.Lock()
	defer t.mu.Unlock()
	way := t.trails[id]
	if way == nil {
		way = &trail{}
		t.trails[id] = way
	}
	if before != nil {
		way.calls = append(way.calls, before.calls...)
		way.calls = way.calls[:min(len(way.calls), maxCalls)]
		way.last = before.last
		way.during = slices.Concat(before.during, []Earlier{earlier}, way.during)
	} else {
		way.during = slices.Insert(way.during, 0, earlier)
	}
	way.during = way.during[max(0, len(way.during)-maxCalls):]
}

// maxCalls bounds the trace of a deep recursion.
const maxCalls = 100

// begins says whether the panic of the calling goroutine has left no function yet.
func (t *traces) begins() bool {
	id := goid()
	t.mu.Lock()
	defer t.mu.Unlock()
	way := t.trails[id]
	return way == nil || way.last == ""
}

// passed notes that the panic of the calling goroutine leaves a function.
func (t *traces) passed(lowered string) {
	id := goid()
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.funcs[lowered]
	if f == nil {
		return
	}
	way := t.trails[id]
	if way == nil {
		way = &trail{}
		t.trails[id] = way
	}
	callee := way.last
	way.last = lowered
	if f.Hidden || len(way.calls) >= maxCalls {
		return
	}
	if c := t.funcs[callee]; c != nil && c != f && c.Versions != "" && c.Versions == f.Versions {
		return // it only calls the newer one
	}
	pos := way.pos
	if pos == 0 {
		pos = f.at(callee)
	}
	way.pos = 0
	way.calls = append(way.calls, Call{Func: f, Line: pos >> 12, Column: pos & (1<<12 - 1)})
}

// Stderr returns a writer for the interpreter's standard error: what it says
// of panics becomes traces, everything else goes to w.
func (r *Runtime) Stderr(w io.Writer) io.Writer { return &panicFilter{r, w} }

type panicFilter struct {
	r *Runtime
	w io.Writer
}

func (f *panicFilter) Write(p []byte) (int, error) {
	const mark = ": panic: main."
	if i := bytes.Index(p, []byte(mark)); i > 0 && i < 40 && bytes.HasSuffix(p, []byte("(...)\n")) {
		name := string(p[i+len(mark) : len(p)-len("(...)\n")])
		name, _, _ = strings.Cut(name, ".")
		if f.r.traces.begins() {
			f.r.Debugger.panicked()
		}
		f.r.traces.passed(name)
		f.r.check(0) // a panic on its long way through a deep recursion ends here
		return len(p), nil
	}
	return f.w.Write(p)
}
