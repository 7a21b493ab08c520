package kernel

import (
	"fmt"
	"log/slog"
	"sync"

	"gocuda/kernel/session"
)

// StartFunc starts an evaluator that hands outputs to output, in order, and
// asks the user through input.
type StartFunc func(output func(session.Output), input session.InputFunc) (session.Evaluator, error)

// startSession starts the real evaluator.
func startSession(log *slog.Logger, args []string) StartFunc {
	return func(output func(session.Output), input session.InputFunc) (session.Evaluator, error) {
		s, err := session.Start(session.Options{Output: output, Input: input, Log: log, Args: args})
		if err != nil {
			return nil, err
		}
		return s, nil
	}
}

// evaluator is the kernel's evaluator: started in the background, and started
// again by the next request where that failed.
type evaluator struct {
	start func() (session.Evaluator, error)

	mu     sync.Mutex // held while the evaluator starts
	live   session.Evaluator
	closed bool
}

func startEvaluator(start StartFunc, output func(session.Output), input session.InputFunc) *evaluator {
	e := &evaluator{start: func() (session.Evaluator, error) { return start(output, input) }}
	e.mu.Lock()
	go func() {
		defer e.mu.Unlock()
		e.begin() // should it fail, the first request tries again and says why
	}()
	return e
}

// begin starts the evaluator. The caller holds e.mu.
func (e *evaluator) begin() error {
	live, err := e.start()
	if err != nil {
		return fmt.Errorf("the evaluator did not start: %w", err)
	}
	e.live = live
	return nil
}

// get waits for the evaluator to be there.
func (e *evaluator) get() (session.Evaluator, error) {
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

func (e *evaluator) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if e.live == nil {
		return nil
	}
	return e.live.Close()
}
