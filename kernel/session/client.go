package session

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"gocuda/kernel/display"
	"gocuda/kernel/session/link"
)

// What an answer about code that is being typed, or about where a cell is, may
// take. Such answers are worth little when they come late.
const answerTime = 5 * time.Second

// InputFunc asks the user for a line of text, hidden while it is typed if it is
// a password. It blocks until there is an answer or the cell is interrupted.
type InputFunc func(prompt string, password bool) (string, error)

// ClientOptions say what becomes of what an evaluator sends.
type ClientOptions struct {
	// Output receives what cells show, one call at a time, in order.
	Output func(Output)
	// Input asks the user, on a goroutine of its own.
	Input InputFunc
	// Ended is told why the process behind the link ended, if that is told.
	Ended func(why string)
	// ready, if not nil, is called when cells can be run.
	ready func()
	// flush, if not nil, passes on all that was printed until now.
	flush func()
	// question, if not nil, is flush but for the line that is not complete, which it returns.
	question func() string
}

// Client is the near end of a link to an evaluator: it is that evaluator, to
// those who have cells to run.
type Client struct {
	options ClientOptions
	peer    *link.Peer
	ready   chan struct{} // closed when it can run cells

	turn sync.Mutex // held by the main shell's cell that runs

	mu      sync.Mutex
	running map[uint64]string // the shells of the cells that run, by the runs' ids
}

// NewClient makes a client of a link, which it then owns. Listen must be called.
func NewClient(c *link.Conn, o ClientOptions) *Client {
	return &Client{options: o, peer: link.NewPeer(c), ready: make(chan struct{}), running: map[uint64]string{}}
}

// Listen handles what the evaluator sends until the link ends, and says why.
func (c *Client) Listen() error {
	for {
		f, err := c.peer.Receive()
		if err == nil {
			err = c.handle(f)
		}
		if err != nil {
			c.peer.End()
			return err
		}
	}
}

func (c *Client) handle(f link.Frame) error {
	switch f.Kind {
	case kindReady:
		select {
		case <-c.ready:
			return ErrNonsense
		default:
			if c.options.ready != nil {
				c.options.ready()
			}
			close(c.ready)
		}
	case kindOutput:
		var o Output
		if err := decode(f, &o); err != nil {
			return err
		}
		c.options.Output(o)
		if f.ID != 0 {
			return c.peer.Answer(f, nil, nil)
		}
	case kindInput:
		var p prompt
		if err := decode(f, &p); err != nil {
			return err
		}
		// What was printed explains what is asked.
		printed := ""
		if p.Text == "" && c.options.question != nil {
			printed = c.options.question()
		} else {
			c.flush()
		}
		go func() {
			text, err := c.options.Input(cmp.Or(p.Text, printed), p.Password)
			if printed != "" && err != nil && !errors.Is(err, ErrInterrupted) { // nobody has seen it
				c.options.Output(Output{Kind: Stdout, Text: printed})
			}
			c.peer.Answer(f, text, err) // an evaluator that is gone needs no answer
		}()
	case kindEnded:
		var why string
		if err := decode(f, &why); err != nil {
			return err
		}
		c.peer.End()
		if c.options.Ended != nil {
			c.options.Ended(why)
		}
	default:
		return ErrNonsense
	}
	return nil
}

func (c *Client) flush() {
	if c.options.flush != nil {
		c.options.flush()
	}
}

// Execute runs a cell. Those of the main shell run one after another.
func (c *Client) Execute(cell Cell) Result {
	if cell.Shell == "" {
		c.turn.Lock()
		defer c.turn.Unlock()
	}
	id := c.peer.NewID()
	c.mu.Lock()
	c.running[id] = cell.Shell
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.running, id)
	}()
	result, err := c.run(id, cell)
	if err != nil {
		return Result{Err: NewError("EvaluatorDied", err.Error())}
	}
	return result
}

// run runs a cell. The error is the link's, or that the result is invalid.
func (c *Client) run(id uint64, cell Cell) (result Result, err error) {
	answer, err := c.peer.Ask(kindRun, id, cell)
	if err != nil {
		return result, err
	}
	err = (<-answer).Decode(&result)
	if err == ErrEnded {
		return result, err // what it wrote last tells why
	}
	c.flush()
	if refused := (*link.Refusal)(nil); errors.As(err, &refused) {
		// Something in it could not be sent; the cell has ended all the same.
		return Result{Err: NewError("InternalError", "the cell's result cannot be sent: "+err.Error())}, nil
	}
	return result, err
}

// Interrupt stops the main shell's running cell. It does not wait.
func (c *Client) Interrupt() { c.InterruptShell("") }

// InterruptShell stops the running cell of a shell. It does not wait.
func (c *Client) InterruptShell(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, shell := range c.running {
		if shell == name {
			c.interrupt(id)
		}
	}
}

// interrupt returns even when the evaluator does not read its link.
func (c *Client) interrupt(id uint64) { go c.peer.Tell(kindInterrupt, id, nil) }

// Quit asks the evaluator to exit. It does not wait.
func (c *Client) Quit() { go c.peer.Tell(kindQuit, 0, nil) }

// Complete answers how code can be completed at a cursor, in bytes.
func (c *Client) Complete(code string, cursor int) (answer Completion, err error) {
	err = c.ask(kindComplete, question{Code: code, Cursor: cursor}, &answer)
	return answer, err
}

// Inspect describes the name at a cursor, or returns nil.
func (c *Client) Inspect(code string, cursor, detail int) (answer *display.Bundle, err error) {
	err = c.ask(kindInspect, question{code, cursor, detail}, &answer)
	return answer, err
}

// IsComplete says whether code is ready to be run.
func (c *Client) IsComplete(code string) (answer Completeness, err error) {
	err = c.ask(kindIsComplete, question{Code: code}, &answer)
	return answer, err
}

// Where says where the running cell is.
func (c *Client) Where() (answer Place, err error) {
	err = c.ask(kindWhere, question{}, &answer)
	return answer, err
}

// Debug answers a request of the Debug Adapter Protocol. It waits as long as that takes.
func (c *Client) Debug(request json.RawMessage) (response json.RawMessage, err error) {
	answer, err := c.peer.Ask(kindDebug, c.peer.NewID(), request)
	if err != nil {
		return nil, err
	}
	err = (<-answer).Decode(&response)
	return response, err
}

func (c *Client) ask(kind byte, q question, into any) error {
	id := c.peer.NewID()
	answer, err := c.peer.Ask(kind, id, q)
	if err != nil {
		return err
	}
	late := time.NewTimer(answerTime)
	defer late.Stop()
	select {
	case reply := <-answer:
		return reply.Decode(into)
	case <-late.C:
		c.peer.Forget(id)
		return fmt.Errorf("the evaluator gave no answer in %v", answerTime)
	}
}

// Close closes the link, at which the evaluator exits.
func (c *Client) Close() error { return c.peer.Close() }
