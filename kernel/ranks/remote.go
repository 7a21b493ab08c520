package ranks

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"gocuda/kernel/display"
	"gocuda/kernel/session"
	"gocuda/kernel/session/link"
)

const (
	// What an answer about code, or about where a rank is, may take.
	answerTime = 5 * time.Second
	// How long a remote rank may take to end its evaluator when asked.
	quitTime = 5 * time.Second
)

// remote is a rank that mpirun started: a member over a signed link.
type remote struct {
	conn  *link.Conn
	pid   int
	show  func(session.Output)
	input func(prompt string, password bool) (string, error)
	// ending says how mpirun ended, after a connection that ended without a word.
	ending func() string

	turn  sync.Mutex    // held by the cell that runs
	ended chan struct{} // closed when its evaluator is gone, or the link
	gone  chan struct{} // closed when the link is

	mu      sync.Mutex
	lastID  uint64
	answers map[uint64]chan link.Frame // nil when ended
	death   string
	closing bool
}

func newRemote(c *link.Conn, pid int, ending func() string) *remote {
	return &remote{
		conn: c, pid: pid, ending: ending,
		ended: make(chan struct{}), gone: make(chan struct{}), answers: map[uint64]chan link.Frame{},
	}
}

// listen handles what the rank sends, until its end.
func (r *remote) listen() {
	defer close(r.gone)
	var why error
	for why == nil {
		var f link.Frame
		if f, why = r.conn.Receive(); why == nil {
			why = r.handle(f)
		}
	}
	r.conn.Close()
	r.mu.Lock()
	closing := r.closing
	r.mu.Unlock()
	switch {
	case closing:
		r.end("it was stopped")
	case errors.Is(why, link.ErrStranger) || errors.Is(why, errNonsense):
		r.end("its connection was ended: " + why.Error())
	default:
		r.end("its connection ended" + r.ending())
	}
}

// end takes the rank out of use, unless it is already. Its connection may stay:
// mpirun ends all ranks when one of its processes exits.
func (r *remote) end(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answers == nil {
		return
	}
	for _, c := range r.answers {
		close(c)
	}
	r.answers, r.death = nil, why
	close(r.ended)
}

var errNonsense = errors.New("it sent what made no sense")

func (r *remote) handle(f link.Frame) error {
	switch f.Kind {
	case kindOutput:
		var o session.Output
		if json.Unmarshal(f.Body, &o) != nil {
			return errNonsense
		}
		r.show(o)
	case kindResult, kindAnswer:
		r.mu.Lock()
		defer r.mu.Unlock()
		if c, ok := r.answers[f.ID]; ok {
			delete(r.answers, f.ID)
			c <- f // has room for one
		}
	case kindAsk:
		var a asked
		if json.Unmarshal(f.Body, &a) != nil {
			return errNonsense
		}
		go func() {
			text, err := r.input(a.Prompt, a.Password)
			t := typed{Text: text}
			if err != nil {
				t = typed{Err: err.Error(), Interrupted: errors.Is(err, session.ErrInterrupted)}
			}
			send(r.conn, kindTyped, f.ID, t)
		}()
	case kindEnded:
		var why string
		if json.Unmarshal(f.Body, &why) != nil {
			return errNonsense
		}
		r.end(why)
	default:
		return errNonsense
	}
	return nil
}

var errGone = errors.New("the rank has ended")

// request sends a frame that will be answered. The channel is closed when the
// rank ends instead.
func (r *remote) request(kind byte, body any) (uint64, <-chan link.Frame, error) {
	c := make(chan link.Frame, 1)
	r.mu.Lock()
	if r.answers == nil {
		r.mu.Unlock()
		return 0, nil, errGone
	}
	r.lastID++
	id := r.lastID
	r.answers[id] = c
	r.mu.Unlock()
	return id, c, send(r.conn, kind, id, body)
}

func (r *remote) Execute(cell session.Cell) session.Result {
	r.turn.Lock()
	defer r.turn.Unlock()
	died := session.Result{Err: newError("EvaluatorDied", "the rank ended")}
	_, reply, err := r.request(kindRun, cell)
	if err != nil {
		return died
	}
	f, ok := <-reply
	var result session.Result
	if !ok || json.Unmarshal(f.Body, &result) != nil {
		return died
	}
	return result
}

// Interrupt must return even when the rank does not read its link.
func (r *remote) Interrupt() { go r.conn.Send(link.Frame{Kind: kindInterrupt}) }

func (r *remote) Complete(code string, cursor int) (c session.Completion, err error) {
	err = r.ask(kindComplete, question{Code: code, Cursor: cursor}, &c)
	return c, err
}

func (r *remote) Inspect(code string, cursor, detail int) (b *display.Bundle, err error) {
	err = r.ask(kindInspect, question{code, cursor, detail}, &b)
	return b, err
}

func (r *remote) Where() (p session.Place, err error) {
	err = r.ask(kindWhere, question{}, &p)
	return p, err
}

func (r *remote) ask(kind byte, q question, value any) error {
	id, reply, err := r.request(kind, q)
	if err != nil {
		return err
	}
	late := time.NewTimer(answerTime)
	defer late.Stop()
	select {
	case f, ok := <-reply:
		if !ok {
			return errGone
		}
		var a answer
		if err := json.Unmarshal(f.Body, &a); err != nil {
			return fmt.Errorf("the rank's answer made no sense: %w", err)
		}
		if a.Err != "" {
			return errors.New(a.Err)
		}
		return json.Unmarshal(a.Value, value)
	case <-late.C:
		r.mu.Lock()
		delete(r.answers, id)
		r.mu.Unlock()
		return errors.New("the rank gave no answer in time")
	}
}

func (r *remote) Pid() int               { return r.pid }
func (r *remote) Ended() <-chan struct{} { return r.ended }

func (r *remote) Death() string {
	<-r.ended
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.death
}

// Close asks the rank to end, and gives it up when it does not.
func (r *remote) Close() error {
	r.mu.Lock()
	r.closing = true
	r.mu.Unlock()
	go r.conn.Send(link.Frame{Kind: kindQuit})
	select {
	case <-r.gone:
	case <-time.After(quitTime):
		r.conn.Close()
		<-r.gone
	}
	return nil
}
