package rt

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// Func is a function of lowered code, as a trace shows it.
type Func struct {
	Name   string // as the user wrote it, such as main.f or main.f.func1
	File   string // the cell
	Hidden bool   // made by the lowering

	// The statement that it runs: line<<12 | column. All calls of the function
	// share it, in whatever goroutines they run: the wrong line of a trace is
	// then the worst that happens.
	pos *int
}

// Call is one line of a panic's trace.
type Call struct {
	Func         *Func
	Line, Column int
}

// traces gathers, by goroutine, the functions that a panic goes through. The
// interpreter says so itself: it writes a line for each.
type traces struct {
	mu    sync.Mutex
	calls map[int64][]Call
	funcs map[string]*Func // by lowered name
	body  *int             // the position of the cell that runs
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
	if lowered == "body" {
		t.body = pos
	}
}

// BeginBody forgets where the last cell was, before the next one begins.
func (r *Runtime) BeginBody() {
	r.traces.mu.Lock()
	defer r.traces.mu.Unlock()
	if r.traces.body != nil {
		setFlag(r.traces.body, 0)
	}
}

// BodyLine is the line of the statement at the outer level of the running cell
// that runs now; 0: not known.
func (r *Runtime) BodyLine() int {
	r.traces.mu.Lock()
	defer r.traces.mu.Unlock()
	if r.traces.body == nil {
		return 0
	}
	return peek(r.traces.body) >> 12
}

// peek reads what interpreted code writes without synchronisation; see setFlag.
//
//go:norace
func peek(p *int) int { return *p }

func (t *traces) drop(id int64) {
	t.mu.Lock()
	delete(t.calls, id)
	t.mu.Unlock()
}

func (t *traces) take(id int64) []Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	calls := t.calls[id]
	delete(t.calls, id)
	return calls
}

// maxCalls bounds the trace of a deep recursion.
const maxCalls = 100

func (t *traces) passed(lowered string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.funcs[lowered]
	if f == nil || f.Hidden {
		return
	}
	id := goid()
	if len(t.calls[id]) >= maxCalls {
		return
	}
	c := Call{Func: f}
	if f.pos != nil {
		c.Line, c.Column = *f.pos>>12, *f.pos&(1<<12-1)
	}
	t.calls[id] = append(t.calls[id], c)
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
		f.r.traces.passed(name)
		return len(p), nil
	}
	return f.w.Write(p)
}
