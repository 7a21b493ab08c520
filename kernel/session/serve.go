package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gocuda/kernel/session/link"
)

const (
	// How often an interrupt is repeated until the cell has ended. One alone
	// could fall between the cell's arrival and its first instruction.
	interruptRepeat = 100 * time.Millisecond
	// How long a cell runs until someone else listens to the kernel.
	soon = time.Millisecond
)

// Console is the evaluator's way to the user. Text goes to file descriptors 1
// and 2 instead.
type Console struct {
	// Hello is what the evaluator is announced with.
	Hello Hello

	peer   *link.Peer
	listen func() // makes sure that answers are received while the caller waits

	mu    sync.Mutex
	cells map[uint64]*consoleCell // that run, by their frames' ids
	last  uint64                  // the newest of all
	early map[uint64]bool         // those that an interrupt came for before they did
}

// consoleCell is a cell that runs.
type consoleCell struct {
	shell     string
	mayAsk    bool
	interrupt chan struct{} // closed when the cell is interrupted
	ended     chan struct{} // closed when it has ended

	// turn is held while the cell ends and while it is interrupted, so that no
	// interrupt hits the cell that comes next.
	turn sync.Mutex
}

// Show sends an output that is not text, in its place between what was
// written before and after it, and waits until it is there: text takes
// another way, and could overtake it. It may be called by any goroutine.
func (c *Console) Show(o Output) error {
	flushC()
	shown, err := c.peer.Ask(kindOutput, c.peer.NewID(), o)
	if err == nil {
		c.listen()
		err = (<-shown).Decode(nil)
	}
	if err != nil {
		return fmt.Errorf("this output cannot be sent to the front end: %w", err)
	}
	return nil
}

// Post sends an output, text too, and does not wait until it is there. It keeps
// its place among others that were posted.
func (c *Console) Post(o Output) error { return c.peer.Tell(kindOutput, 0, o) }

// Ended tells why the process behind this evaluator has ended.
func (c *Console) Ended(why string) error { return c.peer.Tell(kindEnded, 0, why) }

// Input asks the user for a line of text and waits for it. The error is
// ErrInterrupted when the cell is interrupted meanwhile.
func (c *Console) Input(text string, password bool) (string, error) {
	cell := c.asking()
	switch {
	case cell == nil:
		return "", errors.New("input can only be asked for while a cell runs")
	case !cell.mayAsk:
		return "", errors.New("the front end does not take input for this cell")
	}
	flushC()
	id := c.peer.NewID()
	typed, err := c.peer.Ask(kindInput, id, prompt{text, password})
	if err != nil {
		return "", err
	}
	defer c.peer.Forget(id)
	c.listen()
	select {
	case reply := <-typed:
		var line string
		err := reply.Decode(&line)
		return line, err
	case <-cell.interrupt:
		return "", ErrInterrupted
	case <-cell.ended:
		return "", errors.New("the cell that asked for input has ended")
	}
}

// asking is the main shell's running cell, the only one that may ask; nil: none runs.
func (c *Console) asking() *consoleCell {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cell := range c.cells {
		if cell.shell == "" {
			return cell
		}
	}
	return nil
}

// begin notes that a cell runs. It returns false if an interrupt for it came first.
func (c *Console) begin(id uint64, cell Cell) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last = max(c.last, id); c.early[id] {
		delete(c.early, id)
		return false
	}
	c.cells[id] = &consoleCell{shell: cell.Shell, mayAsk: cell.AllowInput, interrupt: make(chan struct{}), ended: make(chan struct{})}
	return true
}

func (c *Console) end(id uint64) {
	c.mu.Lock()
	cell := c.cells[id]
	delete(c.cells, id)
	c.mu.Unlock()
	cell.turn.Lock()
	defer cell.turn.Unlock()
	close(cell.ended)
}

// stop interrupts a cell, if it runs and is not being interrupted already.
func (c *Console) stop(id uint64, evaluator Evaluator) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cell := c.cells[id]
	if cell == nil {
		if id > c.last {
			c.early[id] = true
		}
		return
	}
	select {
	case <-cell.interrupt:
	default:
		close(cell.interrupt)
		go cell.insist(evaluator)
	}
}

// insist interrupts the cell until it has ended.
func (c *consoleCell) insist(evaluator Evaluator) {
	again := time.NewTicker(interruptRepeat)
	defer again.Stop()
	for {
		c.turn.Lock()
		select {
		case <-c.ended:
			c.turn.Unlock()
			return
		default:
			if c.shell == "" {
				evaluator.Interrupt()
			} else {
				evaluator.InterruptShell(c.shell)
			}
			c.turn.Unlock()
		}
		select {
		case <-c.ended:
			return
		case <-again.C:
		}
	}
}

// Serve is the far end of a link: it makes an evaluator and runs the cells that
// come over the link. It returns nil when the other end asks for that or closes
// the link, even if a cell still runs.
func Serve(conn *link.Conn, start func(*Console) (Evaluator, error)) error {
	peer := link.NewPeer(conn)
	s := &server{peer: peer, console: &Console{peer: peer, cells: map[uint64]*consoleCell{}, early: map[uint64]bool{}}, end: make(chan error, 1)}
	s.console.listen = s.takeOver
	var err error
	if s.evaluator, err = start(s.console); err != nil {
		return err
	}
	if err := peer.Tell(kindReady, 0, s.console.Hello); err != nil {
		return err
	}
	go s.listen()
	return <-s.end
}

// server receives frames. A cell of the main shell runs on the goroutine that received it, which
// spares each cell the time that it takes to wake up another one. When the
// cell does not end at once, or waits for an answer, another goroutine takes
// over the listening.
type server struct {
	peer      *link.Peer
	console   *Console
	evaluator Evaluator
	end       chan error      // has room for one
	debugged  <-chan struct{} // of the listener: ends with the debugger's last request

	mu        sync.Mutex
	busy      bool // the goroutine that listened runs a cell
	takenOver bool // and another one listens
}

func (s *server) listen() {
	for {
		f, err := s.peer.Receive()
		if err == nil && f.Kind == kindRun {
			var cell Cell
			if err := json.Unmarshal(f.Body, &cell); err != nil {
				s.ran(f, Result{Err: NewError("InternalError", err.Error())})
				continue
			}
			if !s.console.begin(f.ID, cell) {
				s.ran(f, Result{Err: NewError("Interrupted", "the cell was interrupted before it began")})
				continue
			}
			if cell.Shell != "" {
				go s.runCell(f, cell, s.debugged, func() {})
			} else if !s.run(f, cell) {
				return
			}
			continue
		}
		if err == nil {
			err = s.handle(f)
		}
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			s.fail(err)
			return
		}
	}
}

// run runs a cell and says whether this goroutine still is the listener.
func (s *server) run(f link.Frame, cell Cell) (listener bool) {
	s.mu.Lock()
	s.busy, s.takenOver = true, false
	s.mu.Unlock()
	timer := time.AfterFunc(soon, s.takeOver)
	s.runCell(f, cell, s.debugged, func() {
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
		s.console.stop(f.ID, s.evaluator)
	case kindComplete, kindInspect, kindIsComplete, kindWhere:
		go func() {
			answer, err := s.ask(f)
			s.peer.Answer(f, answer, err)
		}()
	case kindDebug:
		before, done := s.debugged, make(chan struct{})
		s.debugged = done
		go func() {
			defer close(done)
			await(before, debugPatience)
			answer, err := s.debug(f)
			s.peer.Answer(f, answer, err)
		}()
	case kindQuit:
		return io.EOF
	default:
		return fmt.Errorf("frame of unknown kind %d", f.Kind)
	}
	return nil
}

// A process that was stopped finds the debugger's requests and cells all at once: they keep
// their order, unless a request takes long, such as an expression that waits.
const (
	debugPatience = 200 * time.Millisecond // of a request for the one before it
	cellPatience  = 2 * time.Second        // of a cell for the request before it
)

// await waits for the end of the request before; nil: there is none.
func await(before <-chan struct{}, patience time.Duration) {
	if before == nil {
		return
	}
	select {
	case <-before:
	case <-time.After(patience):
	}
}

// runCell runs a cell, calls ended, and then sends the result.
func (s *server) runCell(f link.Frame, cell Cell, debugged <-chan struct{}, ended func()) {
	await(debugged, cellPatience)
	r := guarded(func() Result { return s.evaluator.Execute(cell) })
	flushC()
	s.console.end(f.ID)
	ended()
	s.ran(f, r)
	FreeAfter(len(f.Body))
}

// much is from how many bytes on the memory of a message is given back at once.
const much = 8 << 20

// FreeAfter gives memory back to the system that a message of so many bytes has taken, if
// that is much: a process that waits for the next one would keep it for minutes.
func FreeAfter(size int) {
	if size >= much && freeing.CompareAndSwap(false, true) {
		time.AfterFunc(freesAfter, func() { // others may come soon
			freeing.Store(false)
			runtime.GC() // after which pools have been emptied by the next one
			debug.FreeOSMemory()
		})
	}
}

const freesAfter = time.Second

var freeing atomic.Bool

// ran sends the result of a cell.
func (s *server) ran(f link.Frame, r Result) {
	if err := s.peer.Answer(f, r, nil); err != nil {
		s.fail(err)
	}
}

// fail ends the serving.
func (s *server) fail(err error) {
	select {
	case s.end <- err:
	default: // it ends already
	}
}

// guarded guards the process against a fault in the evaluator itself.
func guarded(run func() Result) (r Result) {
	defer func() {
		if p := recover(); p != nil {
			e := NewError("InternalError", fmt.Sprint("the evaluator failed, please report this: ", p))
			stack := strings.TrimSpace(string(debug.Stack()))
			e.Traceback = append(e.Traceback, strings.Split(stack, "\n")...)
			r = Result{Err: e}
		}
	}()
	return run()
}

// debug has the evaluator answer a request of a debugger.
func (s *server) debug(f link.Frame) (answer json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the debugger failed to answer, please report this: %v", p)
		}
	}()
	return s.evaluator.Debug(f.Body)
}

// ask has the evaluator answer a question.
func (s *server) ask(f link.Frame) (answer any, err error) {
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
		return s.evaluator.Complete(q.Code, q.Cursor)
	case kindInspect:
		return s.evaluator.Inspect(q.Code, q.Cursor, q.Detail)
	case kindWhere:
		return s.evaluator.Where()
	default:
		return s.evaluator.IsComplete(q.Code)
	}
}
