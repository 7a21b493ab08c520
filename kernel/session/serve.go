package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"gocuda/kernel/display"
	"gocuda/kernel/session/link"
)

const (
	// A stack beyond this is taken for endless recursion: the cell ends. Where
	// it cannot, the evaluator does at twice that, long before it has eaten the
	// machine's memory.
	cellStack = 128 << 20
	maxStack  = 2 * cellStack
	// How often an interrupt is repeated until the cell has ended. One alone
	// could fall between the cell's arrival and its first instruction.
	interruptRepeat = 100 * time.Millisecond
	// How long a cell runs until someone else listens to the kernel.
	soon = time.Millisecond
)

// ErrInterrupted is what a question to the user ends with when its cell is
// interrupted.
var ErrInterrupted = errors.New("interrupted")

// Interpreter does the work of an evaluator. Run is called for one cell after
// another; the other methods may be called while it runs.
type Interpreter interface {
	// Run runs a cell to its end. Its outputs have been written to standard
	// output or given to the Console when it returns. A value that is not nil
	// is shown last.
	Run(cell Cell) (value *display.Bundle, result Result)
	// Interrupt makes Run return soon. It is called again until Run has
	// returned, and does nothing when no cell runs.
	Interrupt()
	Complete(code string, cursor int) Completion
	Inspect(code string, cursor, detail int) *display.Bundle
	IsComplete(code string) Completeness
	Where() Place
}

// Console is the evaluator's way to the user. Text goes to file descriptors 1
// and 2 instead.
type Console struct {
	conn   *link.Conn
	listen func() // makes sure that answers are received while the caller waits

	// turn is held while the running cell changes and while it is interrupted,
	// so that no interrupt hits the cell that comes next.
	turn sync.Mutex

	mu        sync.Mutex
	cell      uint64 // the running cell, or 0
	mayAsk    bool
	stopped   uint64        // the last cell that an interrupt was meant for
	interrupt chan struct{} // closed when the running cell is interrupted
	ended     chan struct{} // closed when the running cell has ended
	lastID    uint64
	asking    map[uint64]chan typed
	showing   map[uint64]chan struct{}
}

// Show sends an output that is not text, in its place between what was
// written before and after it, and waits until it is there: text takes
// another way, and could overtake it. It may be called by any goroutine.
func (c *Console) Show(o Output) error {
	body, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("this output cannot be sent to the front end: %w", err)
	}
	flushC()
	shown := make(chan struct{})
	c.mu.Lock()
	c.lastID++
	id := c.lastID
	c.showing[id] = shown
	c.mu.Unlock()
	if err := c.conn.Send(link.Frame{Kind: kindOutput, ID: id, Body: body}); err != nil {
		c.shown(id)
		return err
	}
	c.listen()
	<-shown
	return nil
}

func (c *Console) shown(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if shown, ok := c.showing[id]; ok {
		delete(c.showing, id)
		close(shown)
	}
}

// Input asks the user for a line of text and waits for it. The error is
// ErrInterrupted when the cell is interrupted meanwhile.
func (c *Console) Input(prompt string, password bool) (string, error) {
	body, err := json.Marshal(asked{Prompt: prompt, Password: password})
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	if c.cell == 0 {
		c.mu.Unlock()
		return "", errors.New("input can only be asked for while a cell runs")
	}
	if !c.mayAsk {
		c.mu.Unlock()
		return "", errors.New("the front end does not take input for this cell")
	}
	c.lastID++
	id, interrupt, ended := c.lastID, c.interrupt, c.ended
	reply := make(chan typed, 1)
	c.asking[id] = reply
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.asking, id)
	}()

	flushC()
	if err := c.conn.Send(link.Frame{Kind: kindInput, ID: id, Body: body}); err != nil {
		return "", err
	}
	c.listen()
	select {
	case t := <-reply:
		switch {
		case t.Interrupted:
			return "", ErrInterrupted
		case t.Err != "":
			return "", errors.New(t.Err)
		}
		return t.Text, nil
	case <-interrupt:
		return "", ErrInterrupted
	case <-ended:
		return "", errors.New("the cell that asked for input has ended")
	}
}

// begin makes a cell the running one. It returns false if an interrupt for it
// came first.
func (c *Console) begin(id uint64, cell Cell) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id <= c.stopped {
		return false
	}
	c.cell, c.mayAsk = id, cell.AllowInput
	c.interrupt, c.ended = make(chan struct{}), make(chan struct{})
	return true
}

func (c *Console) end() {
	c.turn.Lock()
	defer c.turn.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cell = 0
	close(c.ended)
}

// stop interrupts a cell, if it runs.
func (c *Console) stop(id uint64, interpreter Interpreter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id <= c.stopped {
		return // is being interrupted already, or long gone
	}
	c.stopped = id
	if id != c.cell {
		return
	}
	close(c.interrupt)
	go c.insist(c.ended, interpreter)
}

// insist interrupts the running cell until it has ended.
func (c *Console) insist(ended <-chan struct{}, interpreter Interpreter) {
	again := time.NewTicker(interruptRepeat)
	defer again.Stop()
	for {
		c.turn.Lock()
		select {
		case <-ended:
			c.turn.Unlock()
			return
		default:
			interpreter.Interrupt()
			c.turn.Unlock()
		}
		select {
		case <-ended:
			return
		case <-again.C:
		}
	}
}

func (c *Console) typed(id uint64, t typed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if reply, ok := c.asking[id]; ok {
		delete(c.asking, id)
		reply <- t // has room for one
	}
}

// Serve is the evaluator's half of a session: it makes an interpreter and runs
// the cells that come over the link. It returns nil when the kernel asks for
// that or closes the link, even if a cell still runs: the process should exit then.
func Serve(stream io.ReadWriteCloser, start func(*Console) (Interpreter, error)) error {
	debug.SetMaxStack(maxStack)
	// The runtime's stacks would show the interpreter's frames, never a cell's.
	debug.SetTraceback("none")
	unbufferC()
	conn := link.New(stream)
	s := &server{
		conn:    conn,
		console: &Console{conn: conn, asking: map[uint64]chan typed{}, showing: map[uint64]chan struct{}{}},
		end:     make(chan error, 1),
	}
	s.console.listen = s.takeOver
	var err error
	if s.interpreter, err = start(s.console); err != nil {
		return err
	}
	if err := conn.Send(link.Frame{Kind: kindReady}); err != nil {
		return err
	}
	go s.listen()
	return <-s.end
}

// server receives frames. A cell runs on the goroutine that received it, which
// spares each cell the time that it takes to wake up another one. When the
// cell does not end at once, or waits for an answer, another goroutine takes
// over the listening.
type server struct {
	conn        *link.Conn
	console     *Console
	interpreter Interpreter
	end         chan error // has room for one

	mu        sync.Mutex
	busy      bool // the goroutine that listened runs a cell
	takenOver bool // and another one listens
}

func (s *server) listen() {
	for {
		f, err := s.conn.Receive()
		if err == nil && f.Kind == kindRun {
			if !s.run(f) {
				return
			}
			continue
		}
		if err == nil {
			err = s.handle(f)
		}
		if err != nil {
			var failed syscall.Errno
			if errors.As(err, &failed) {
				dieUnlinked(err)
			}
			if err == io.EOF {
				err = nil
			}
			s.end <- err
			return
		}
	}
}

// run runs a cell and says whether this goroutine still is the listener.
func (s *server) run(f link.Frame) (listener bool) {
	s.mu.Lock()
	s.busy, s.takenOver = true, false
	s.mu.Unlock()
	timer := time.AfterFunc(soon, s.takeOver)
	runCell(s.console, s.interpreter, f, func() {
		timer.Stop()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.busy = false
		listener = !s.takenOver
	})
	return listener
}

// takeOver starts another listener, if the last one runs a cell.
func (s *server) takeOver() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy && !s.takenOver {
		s.takenOver = true
		go s.listen()
	}
}

func (s *server) handle(f link.Frame) error {
	switch f.Kind {
	case kindInterrupt:
		s.console.stop(f.ID, s.interpreter)
	case kindComplete, kindInspect, kindIsComplete, kindWhere:
		go answerQuestion(s.conn, s.interpreter, f)
	case kindTyped:
		var t typed
		if err := json.Unmarshal(f.Body, &t); err != nil {
			return err
		}
		s.console.typed(f.ID, t)
	case kindShown:
		s.console.shown(f.ID)
	case kindQuit:
		return io.EOF
	default:
		return fmt.Errorf("frame of unknown kind %d", f.Kind)
	}
	return nil
}

// runCell runs a cell, calls ended, and then sends the result.
func runCell(console *Console, interpreter Interpreter, f link.Frame, ended func()) {
	var cell Cell
	var o outcome
	if err := json.Unmarshal(f.Body, &cell); err != nil {
		o.Err = plainError("InternalError", err.Error())
	} else if !console.begin(f.ID, cell) {
		o.Err = plainError("Interrupted", "the cell was interrupted before it began")
	} else {
		o = runGuarded(interpreter, cell)
		flushC()
		console.end()
	}
	ended()
	body, err := json.Marshal(o)
	if err == nil {
		err = console.conn.Send(link.Frame{Kind: kindResult, ID: f.ID, Body: body})
	}
	if err != nil {
		// Something in it cannot be sent; the cell must end all the same.
		body, _ = json.Marshal(Result{Err: plainError("InternalError", "the cell's result cannot be sent: "+err.Error())})
		if err := console.conn.Send(link.Frame{Kind: kindResult, ID: f.ID, Body: body}); err != nil {
			dieUnlinked(err)
		}
	}
}

// unlinkedWords tell the kernel why the evaluator ends.
const unlinkedWords = "gocuda: no link to the kernel"

// dieUnlinked ends the evaluator: its kernel is gone, or a cell closed the link.
func dieUnlinked(err error) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", unlinkedWords, err)
	os.Exit(runtimeExit)
}

// runGuarded guards the evaluator against a fault in the interpreter itself.
func runGuarded(interpreter Interpreter, cell Cell) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			e := plainError("InternalError", fmt.Sprint("the evaluator failed, please report this: ", p))
			stack := strings.TrimSpace(string(debug.Stack()))
			e.Traceback = append(e.Traceback, strings.Split(stack, "\n")...)
			o = outcome{Result: Result{Err: e}}
		}
	}()
	o.Value, o.Result = interpreter.Run(cell)
	return o
}

func answerQuestion(conn *link.Conn, interpreter Interpreter, f link.Frame) {
	var a answer
	value, err := ask(interpreter, f)
	if err == nil {
		a.Value, err = json.Marshal(value)
	}
	if err != nil {
		a.Err = err.Error()
	}
	if body, err := json.Marshal(a); err == nil {
		conn.Send(link.Frame{Kind: kindAnswer, ID: f.ID, Body: body})
	}
}

func ask(interpreter Interpreter, f link.Frame) (value any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the evaluator failed to answer, please report this: %v", p)
		}
	}()
	var q question
	if err := json.Unmarshal(f.Body, &q); err != nil {
		return nil, err
	}
	switch f.Kind {
	case kindComplete:
		return interpreter.Complete(q.Code, q.Cursor), nil
	case kindInspect:
		return interpreter.Inspect(q.Code, q.Cursor, q.Detail), nil
	case kindWhere:
		return interpreter.Where(), nil
	default:
		return interpreter.IsComplete(q.Code), nil
	}
}
