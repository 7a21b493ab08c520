package session

import (
	"encoding/json"
	"errors"

	"gocuda/kernel/session/link"
)

// The kinds of frames between who wants cells run (a Client) and an evaluator
// (see Serve), be it the notebook's or a rank's.
const (
	// To the evaluator.
	kindRun        = byte(iota + 1) // Cell; answered by Result
	kindInterrupt                   // its id is that of the cell meant
	kindComplete                    // question; answered by Completion
	kindInspect                     // question; answered by *display.Bundle
	kindIsComplete                  // question; answered by Completeness
	kindWhere                       // answered by Place
	kindQuit                        // the evaluator is to exit
	kindDebug                       // a request of a debugger; answered by its response
	// From the evaluator.
	kindReady  // Hello: cells can be run
	kindOutput // Output; answered when it was passed on, unless its id is 0
	kindInput  // prompt; answered by a string
	kindEnded  // string: how the process behind this link ended
)

// Hello is what an evaluator says of itself when it is ready. Only a rank says
// more than nothing.
type Hello struct {
	Rank int    `json:"rank"`
	Pid  int    `json:"pid"`
	Host string `json:"host"`
}

// question asks about code that is being typed.
type question struct {
	Code   string `json:"code"`
	Cursor int    `json:"cursor,omitempty"`
	Detail int    `json:"detail,omitempty"`
}

// prompt is a cell's request for a line of input.
type prompt struct {
	Text     string `json:"text"`
	Password bool   `json:"password,omitempty"`
}

var (
	// ErrInterrupted is what a question to the user ends with when its cell is
	// interrupted.
	ErrInterrupted = link.ErrInterrupted
	// ErrEnded is what requests to an evaluator that is gone end with.
	ErrEnded = link.ErrEnded
	// ErrNonsense is reported of an evaluator that sends what no evaluator does.
	ErrNonsense = errors.New("it sent invalid data")
)

// decode reads the body of a frame that an evaluator sent.
func decode(f link.Frame, into any) error {
	if json.Unmarshal(f.Body, into) != nil {
		return ErrNonsense
	}
	return nil
}

// maxHello is the longest body of a Hello.
const maxHello = 4 << 10

// ReadHello waits for the first frame of an evaluator that nobody here started.
func ReadHello(c *link.Conn) (h Hello, err error) {
	f, err := c.Receive()
	if err != nil {
		return h, err
	}
	if f.Kind != kindReady || len(f.Body) > maxHello {
		return h, ErrNonsense
	}
	return h, decode(f, &h)
}
