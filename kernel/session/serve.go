package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"
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

	// turn is held while the running cell changes and while it is interrupted,
	// so that no interrupt hits the cell that comes next.
	turn sync.Mutex

	mu        sync.Mutex
	cell      uint64 // the running cell, or 0
	mayAsk    bool
	stopped   uint64        // the last cell that an interrupt was meant for
	interrupt chan struct{} // closed when the running cell is interrupted
	ended     chan struct{} // closed when the running cell has ended
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
	c.mu.Lock()
	cell, mayAsk, interrupt, ended := c.cell, c.mayAsk, c.interrupt, c.ended
	c.mu.Unlock()
	switch {
	case cell == 0:
		return "", errors.New("input can only be asked for while a cell runs")
	case !mayAsk:
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
func (c *Console) stop(id uint64, evaluator Evaluator) {
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
	go c.insist(c.ended, evaluator)
}

// insist interrupts the running cell until it has ended.
func (c *Console) insist(ended <-chan struct{}, evaluator Evaluator) {
	again := time.NewTicker(interruptRepeat)
	defer again.Stop()
	for {
		c.turn.Lock()
		select {
		case <-ended:
			c.turn.Unlock()
			return
		default:
			evaluator.Interrupt()
			c.turn.Unlock()
		}
		select {
		case <-ended:
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
	s := &server{peer: peer, console: &Console{peer: peer}, end: make(chan error, 1), events: map[uint64]func(){}}
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

// server receives frames. A cell runs on the goroutine that received it, which
// spares each cell the time that it takes to wake up another one. When the
// cell does not end at once, or waits for an answer, another goroutine takes
// over the listening.
type server struct {
	peer      *link.Peer
	console   *Console
	evaluator Evaluator
	end       chan error // has room for one

	mu        sync.Mutex
	busy      bool              // the goroutine that listened runs a cell
	takenOver bool              // and another one listens
	events    map[uint64]func() // those that run, with what stops each
}

func (s *server) listen() {
	for {
		f, err := s.peer.Receive()
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
			if err == io.EOF {
				err = nil
			}
			s.fail(err)
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
	s.runCell(f, func() {
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
		s.mu.Lock()
		stop := s.events[f.ID]
		s.mu.Unlock()
		if stop != nil {
			stop()
			break
		}
		s.console.stop(f.ID, s.evaluator)
	case kindComplete, kindInspect, kindIsComplete, kindWhere:
		go func() {
			answer, err := s.ask(f)
			s.peer.Answer(f, answer, err)
		}()
	case kindDebug:
		go func() {
			answer, err := s.debug(f)
			s.peer.Answer(f, answer, err)
		}()
	case kindEvent:
		stop := make(chan struct{})
		s.mu.Lock()
		s.events[f.ID] = sync.OnceFunc(func() { close(stop) })
		s.mu.Unlock()
		go s.event(f, stop)
	case kindQuit:
		return io.EOF
	default:
		return fmt.Errorf("frame of unknown kind %d", f.Kind)
	}
	return nil
}

// runCell runs a cell, calls ended, and then sends the result.
func (s *server) runCell(f link.Frame, ended func()) {
	var cell Cell
	var r Result
	if err := json.Unmarshal(f.Body, &cell); err != nil {
		r.Err = NewError("InternalError", err.Error())
	} else if !s.console.begin(f.ID, cell) {
		r.Err = NewError("Interrupted", "the cell was interrupted before it began")
	} else {
		r = guarded(func() Result { return s.evaluator.Execute(cell) })
		flushC()
		s.console.end()
	}
	ended()
	if err := s.peer.Answer(f, r, nil); err != nil {
		s.fail(err)
	}
}

// event runs an event beside the running cell.
func (s *server) event(f link.Frame, stop <-chan struct{}) {
	var m Comm
	var r Result
	if err := json.Unmarshal(f.Body, &m); err != nil {
		r.Err = NewError("InternalError", err.Error())
	} else {
		r = guarded(func() Result { return s.evaluator.Event(m, stop) })
	}
	flushC()
	s.mu.Lock()
	delete(s.events, f.ID)
	s.mu.Unlock()
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
