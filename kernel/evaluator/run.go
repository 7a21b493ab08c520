package evaluator

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"gocuda/kernel/golang"
	"gocuda/kernel/magic"
	"gocuda/kernel/session"
)

// run is a cell that runs, or ran last in its shell.
type run struct {
	shell  *golang.Shell
	cell   session.Cell
	ctx    context.Context
	cancel context.CancelCauseFunc
	stop   chan struct{} // closed when the cell is interrupted: ends its waits for devices
	unwait func()        // closes stop
	result session.Result
	told   any // by tellBuiltin

	mu    sync.Mutex
	ended bool
	data  []byte
	late  []session.Place

	text *text // what it prints, if it is a subshell's; nil: that goes to the pipes
}

func newRun(shell *golang.Shell, cell session.Cell) *run {
	// The channel stays open when the cell ends: goroutines that it leaves behind may
	// wait on.
	r := &run{shell: shell, cell: cell, stop: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancelCause(context.Background())
	r.unwait = sync.OnceFunc(func() { close(r.stop) })
	return r
}

// interrupt ends the cell soon, if it runs.
func (r *run) interrupt() {
	r.mu.Lock()
	ended := r.ended
	r.mu.Unlock()
	if !ended {
		r.cancel(session.ErrInterrupted)
		r.unwait()
		r.shell.Interrupt()
	}
}

// setData sets the cell's Result.Data.
func (r *run) setData(data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.data = data
}

// end takes note that the cell has ended.
func (r *run) end() session.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended, r.result.Data = true, r.data
	r.cancel(nil)
	return r.result
}

// current is the cell in whose name the calling goroutine does what it does: the
// subshell's that it is of, or the main shell's.
func (c *evaluator) current() *run {
	if r, ok := c.golang.Running().Owner().(*run); ok {
		return r
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.main
}

// executeBeside runs a cell of a subshell.
func (c *evaluator) executeBeside(cell session.Cell) session.Result {
	r := newRun(nil, cell)
	r.text = &text{console: c.console, parent: cell.Message}
	r.shell = c.golang.Aside(r, writer{r.text, session.Stdout}, writer{r.text, session.Stderr})
	defer r.shell.Release()
	defer r.shell.Act()()
	c.mu.Lock()
	c.asides[cell.Shell] = r
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.asides, cell.Shell)
	}()
	result := c.run(r, c.beside)
	r.text.flush()
	return result
}

// InterruptShell stops the running cell of a subshell.
func (c *evaluator) InterruptShell(name string) {
	c.mu.Lock()
	r := c.asides[name]
	c.mu.Unlock()
	if r != nil {
		r.interrupt()
	}
}

// show sends an output in the name of the cell that the calling goroutine is of.
func (c *evaluator) show(o session.Output) error {
	if r := c.current(); r.text != nil {
		r.text.flush()
		o.Parent = r.cell.Message
	}
	return c.console.Show(o)
}

// ownMagic is a magic that one cell uses at a time, as subshells have it.
func ownMagic(m magic.Magic) magic.Magic {
	m.Run = func(_ context.Context, _ magic.Env, call magic.Call) error {
		return call.Errorf("SubshellError", "subshells do not have this magic: run it in a cell of the notebook")
	}
	return m
}

const (
	// textInterval is how far apart a cell's texts are sent at least.
	textInterval = 10 * time.Millisecond
	// textChunk is how much is kept for the next.
	textChunk = 64 << 10
)

// text gathers what the cell of a subshell prints, and sends it in the cell's name.
type text struct {
	console *session.Console
	parent  string

	mu    sync.Mutex
	kind  session.OutputKind
	kept  []byte
	sent  time.Time
	timer *time.Timer // sends what is kept; nil: it is not set
}

// writer takes one kind of text.
type writer struct {
	to   *text
	kind session.OutputKind
}

var _ io.Writer = writer{}

func (w writer) Write(p []byte) (int, error) {
	t := w.to
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kind != w.kind {
		t.send()
		t.kind = w.kind
	}
	t.kept = append(t.kept, p...)
	switch wait := textInterval - time.Since(t.sent); {
	case wait <= 0 || len(t.kept) >= textChunk:
		t.send()
	case t.timer == nil:
		t.timer = time.AfterFunc(wait, t.flush)
	}
	return len(p), nil
}

// flush sends what was printed until now.
func (t *text) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.send()
}

// send is flush for those that hold the lock.
func (t *text) send() {
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
	if len(t.kept) == 0 {
		return
	}
	t.console.Post(session.Output{Kind: t.kind, Text: string(t.kept), Parent: t.parent}) // an end that is gone needs none
	t.kept, t.sent = t.kept[:0], time.Now()
}

// errNoInput is what a subshell's cell gets that asks.
var errNoInput = fmt.Errorf("a cell of a subshell cannot ask for input")
