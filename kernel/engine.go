package kernel

import (
	"fmt"
	"log/slog"
	"sync"

	"gocuda/kernel/display"
	"gocuda/kernel/session"
)

// Engine runs cells and answers questions about code. A session.Session is
// one.
type Engine interface {
	// Execute runs a cell to its end. All its outputs have been delivered
	// when it returns.
	Execute(session.Cell) session.Result
	// Interrupt makes the running Execute return soon. It does not wait, not
	// even for an output to be taken.
	Interrupt()
	Complete(code string, cursor int) (session.Completion, error)
	Inspect(code string, cursor, detail int) (*display.Bundle, error)
	IsComplete(code string) (session.Completeness, error)
	// Close ends the evaluator; a running Execute returns an error.
	Close() error
}

// StartFunc starts an engine that hands outputs to output, in order, and asks
// the user through input.
type StartFunc func(output func(session.Output), input InputFunc) (Engine, error)

// InputFunc asks the user for a line of text, hidden while it is typed if it
// is a password. It blocks until there is an answer or the cell is
// interrupted.
type InputFunc func(prompt string, password bool) (string, error)

// startSession starts the real evaluator.
func startSession(log *slog.Logger) StartFunc {
	return func(output func(session.Output), input InputFunc) (Engine, error) {
		s, err := session.Start(session.Options{Output: output, Input: input, Log: log})
		if err != nil {
			return nil, err
		}
		return s, nil
	}
}

// engine is the kernel's evaluator: started in the background, and started
// again by the next request where that failed.
type engine struct {
	start func() (Engine, error)

	mu     sync.Mutex // held while the engine starts
	live   Engine
	closed bool
}

func startEngine(start StartFunc, output func(session.Output), input InputFunc) *engine {
	e := &engine{start: func() (Engine, error) { return start(output, input) }}
	e.mu.Lock()
	go func() {
		defer e.mu.Unlock()
		e.begin() // should it fail, the first request tries again and says why
	}()
	return e
}

// begin starts the engine. The caller holds e.mu.
func (e *engine) begin() error {
	live, err := e.start()
	if err != nil {
		return fmt.Errorf("the evaluator did not start: %w", err)
	}
	e.live = live
	return nil
}

// get waits for the engine to be there.
func (e *engine) get() (Engine, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errEnding
	}
	if e.live == nil {
		if err := e.begin(); err != nil {
			return nil, err
		}
	}
	return e.live, nil
}

func (e *engine) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if e.live == nil {
		return nil
	}
	return e.live.Close()
}
