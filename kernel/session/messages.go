package session

import (
	"encoding/json"

	"gocuda/kernel/display"
)

// The kinds of frames. A request and its answer carry the same id.
const (
	// From the kernel to the evaluator.
	kindRun        = byte(iota + 1) // Cell; answered by kindResult
	kindInterrupt                   // id is that of the cell meant
	kindComplete                    // question
	kindInspect                     // question
	kindIsComplete                  // question
	kindTyped                       // typed: answers kindInput
	kindShown                       // answers kindOutput
	kindQuit                        // the evaluator is to exit
	kindWhere                       // answered by kindAnswer
	// From the evaluator to the kernel.
	kindReady  // cells can be run
	kindOutput // Output; answered by kindShown
	kindResult // outcome
	kindAnswer // answer
	kindInput  // asked
)

// outcome is how a cell ended, with the value that it is to show last.
type outcome struct {
	Result
	Value *display.Bundle `json:"value,omitempty"`
}

// question asks about code that is being typed.
type question struct {
	Code   string `json:"code"`
	Cursor int    `json:"cursor,omitempty"`
	Detail int    `json:"detail,omitempty"`
}

// answer holds a Completion, a *display.Bundle, a Completeness or a Place.
type answer struct {
	Value json.RawMessage `json:"value,omitempty"`
	Err   string          `json:"err,omitempty"`
}

// asked is a cell's request for a line of input.
type asked struct {
	Prompt   string `json:"prompt"`
	Password bool   `json:"password,omitempty"`
}

type typed struct {
	Text        string `json:"text"`
	Err         string `json:"err,omitempty"`
	Interrupted bool   `json:"interrupted,omitempty"` // Err is ErrInterrupted
}
