package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"gocuda/kernel/session/link"
)

// exitGrace is how long an evaluator may take to exit when asked.
const exitGrace = 2 * time.Second

// evaluator is the kernel's side of one evaluator process, from its start to
// its death.
type evaluator struct {
	proc    *process
	log     *slog.Logger
	conn    *link.Conn
	outputs *collector
	input   func(prompt string, password bool) (string, error)

	ready chan struct{} // closed when it can run cells
	dead  chan struct{} // closed when it is gone; death is set then
	death death

	lastID  atomic.Uint64
	mu      sync.Mutex
	answers map[uint64]chan link.Frame // nil once the link has ended
	ending  string                     // why the kernel ends it, if it does
}

// death is how an evaluator ended.
type death struct {
	state *os.ProcessState
	words string // the end of its standard error
	// ending is why the kernel ended it; empty when it ended by itself.
	ending string
}

var errDead = errors.New("the evaluator has ended")

// startEvaluator starts a process. gone is called once, when its link has
// ended: it takes no more requests, and may still be on its way out.
func startEvaluator(o *Options, gone func(*evaluator)) (*evaluator, error) {
	proc, err := startProcess(o)
	if err != nil {
		return nil, fmt.Errorf("cannot start the evaluator %q: %w", o.Command[0], err)
	}
	e := &evaluator{
		proc:    proc,
		log:     o.Log,
		conn:    link.New(proc.link),
		outputs: newCollector(proc.out, o.Output),
		input:   o.Input,
		ready:   make(chan struct{}),
		dead:    make(chan struct{}),
		answers: map[uint64]chan link.Frame{},
	}
	go func() {
		e.listen()
		if !e.proc.exited() {
			e.end(closedLink)
		}
		e.unlink()
		gone(e)
		e.bury()
		close(e.dead)
	}()
	return e, nil
}

// listen handles what comes over the link until its end.
func (e *evaluator) listen() {
	for {
		f, err := e.conn.Receive()
		if err == nil {
			err = e.handle(f)
		}
		if err != nil {
			// An evaluator that dies while it writes cuts a frame short; only
			// a frame that makes no sense needs telling.
			if errors.Is(err, link.ErrDamaged) || errors.Is(err, link.ErrTooLong) || errors.Is(err, errNonsense) {
				e.end("what it sent over its link made no sense (does a cell write to a file descriptor that it did not open?)")
			}
			return
		}
	}
}

var errNonsense = errors.New("frame without sense")

func (e *evaluator) handle(f link.Frame) error {
	switch f.Kind {
	case kindReady:
		select {
		case <-e.ready:
			return errNonsense
		default:
			if err := e.proc.watch(); err != nil {
				e.log.Warn("should the kernel be killed, processes of cells may stay", "error", err)
			}
			close(e.ready)
		}
	case kindOutput:
		var o Output
		if json.Unmarshal(f.Body, &o) != nil {
			return errNonsense
		}
		e.outputs.show(o)
		return e.conn.Send(link.Frame{Kind: kindShown, ID: f.ID})
	case kindResult:
		e.outputs.flush()
		e.answer(f)
	case kindAnswer:
		e.answer(f)
	case kindInput:
		var a asked
		if json.Unmarshal(f.Body, &a) != nil {
			return errNonsense
		}
		e.outputs.flush() // what was printed explains what is asked
		go e.ask(f.ID, a)
	default:
		return errNonsense
	}
	return nil
}

func (e *evaluator) ask(id uint64, a asked) {
	var t typed
	text, err := e.input(a.Prompt, a.Password)
	if err != nil {
		t.Err, t.Interrupted = err.Error(), errors.Is(err, ErrInterrupted)
	} else {
		t.Text = text
	}
	e.send(kindTyped, id, t) // an evaluator that is gone needs no answer
}

func (e *evaluator) answer(f link.Frame) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c, ok := e.answers[f.ID]; ok {
		delete(e.answers, f.ID)
		c <- f // has room for one
	}
}

func (e *evaluator) send(kind byte, id uint64, body any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return e.conn.Send(link.Frame{Kind: kind, ID: id, Body: b})
}

// request sends a frame that will be answered. The channel is closed without
// an answer when the evaluator dies.
func (e *evaluator) request(kind byte, id uint64, body any) (<-chan link.Frame, error) {
	c := make(chan link.Frame, 1)
	e.mu.Lock()
	if e.answers == nil {
		e.mu.Unlock()
		return nil, errDead
	}
	e.answers[id] = c
	e.mu.Unlock()
	err := e.send(kind, id, body)
	if err != nil {
		e.forget(id)
	}
	return c, err
}

func (e *evaluator) forget(id uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.answers, id)
}

// quit asks the process to exit, ends it if it does not, and waits for that.
func (e *evaluator) quit(why string) {
	e.mu.Lock()
	if e.ending == "" {
		e.ending = why
	}
	e.mu.Unlock()
	// An evaluator that is stopped does not read: do not wait for it here.
	go e.conn.Send(link.Frame{Kind: kindQuit})
	select {
	case <-e.dead:
	case <-time.After(exitGrace):
		e.end(why)
		<-e.dead
	}
}

// end kills the process at once, for a reason that its death will tell.
func (e *evaluator) end(why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.answers == nil {
		return // its process id may be someone else's by now
	}
	if e.ending == "" {
		e.ending = why
	}
	e.proc.kill()
}

// unlink takes the evaluator out of use when its link has ended.
func (e *evaluator) unlink() {
	e.mu.Lock()
	defer e.mu.Unlock()
	// The process closes its link when its exit status is settled; what is
	// left are the processes that its cells started.
	e.proc.kill()
	for _, c := range e.answers {
		close(c)
	}
	e.answers = nil
}

// bury waits until the process is gone and takes away what is left of it.
func (e *evaluator) bury() {
	state := e.proc.wait()
	e.proc.unwatch()
	e.conn.Close()
	words := e.outputs.close(state != nil && state.ExitCode() == runtimeExit)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.death = death{state: state, ending: e.ending, words: words}
}

// wasReady says whether the evaluator ever got as far as running cells.
func (e *evaluator) wasReady() bool {
	select {
	case <-e.ready:
		return true
	default:
		return false
	}
}
