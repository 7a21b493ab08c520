// Package session runs cells in an evaluator process.
//
// Whatever runs cells is an Evaluator. There are three: that of package
// evaluator, which is the real one and lives in a process of its own; Session,
// which starts such a process, drives it and replaces it when it dies; and
// Client, which is an evaluator at the other end of a link. Serve is that other
// end. A notebook's cells go from a Session over a link to the evaluator, and a
// rank's that mpirun started from a Client over a link to a Session.
package session

import (
	"encoding/json"
	"time"

	"gocuda/kernel/display"
	"gocuda/kernel/golang/answer"
	"gocuda/kernel/widgets"
)

// Evaluator runs cells.
type Evaluator interface {
	// Execute runs a cell to its end. All its outputs have been delivered when
	// it returns. The cells of one shell run one after another, those of several
	// side by side.
	Execute(Cell) Result
	// Interrupt makes the running Execute of the main shell return soon. It does not
	// wait, and does nothing when no cell runs.
	Interrupt()
	// InterruptShell is Interrupt for a subshell.
	InterruptShell(name string)
	// Complete answers how code can be completed at a cursor, in bytes. It and
	// those below may be called while a cell runs.
	Complete(code string, cursor int) (Completion, error)
	// Inspect describes the name at a cursor, in bytes, with more at detail 1;
	// nil: not known.
	Inspect(code string, cursor, detail int) (*display.Bundle, error)
	// IsComplete says whether code is ready to be run.
	IsComplete(code string) (Completeness, error)
	// Where says where the running cell is.
	Where() (Place, error)
	// Debug answers a request of the Debug Adapter Protocol.
	Debug(request json.RawMessage) (response json.RawMessage, err error)
	// Close ends the evaluator; a running Execute returns an error.
	Close() error
}

// Cell is one piece of code to run.
type Cell struct {
	// Name is shown in errors and traces, such as "In[3]".
	Name string `json:"name"`
	Code string `json:"code"`
	// Whole is the cell that Code is a part of, on the same lines; empty: Code is all.
	Whole string `json:"whole,omitempty"`
	// Silent runs the code without showing the value of its last expression.
	Silent bool `json:"silent,omitempty"`
	// AllowInput says that input() may ask the user.
	AllowInput bool `json:"allow_input,omitempty"`
	// Expressions are evaluated after a cell that succeeded, by name
	// (execute_request's user_expressions).
	Expressions map[string]string `json:"expressions,omitempty"`
	// Data is for the functions of an Extension that the cell calls.
	Data []byte `json:"data,omitempty"`
	// Trace asks for the timeline of a rank's cell: its parts come as Result.Data.
	Trace bool `json:"trace,omitempty"`
	// Late are places at which a rank's cell queues work that is to run as late as the
	// order allows.
	Late []Place `json:"late,omitempty"`
	// Message is the id of the front end's message that the cell came by.
	Message string `json:"message,omitempty"`
	// Shell names the subshell that the cell runs in; "": the main shell.
	Shell string `json:"shell,omitempty"`
	// Comm, if not nil, is what is run in place of Code: an event in the front end.
	Comm *Comm `json:"comm,omitempty"`
}

// Comm is a message of a comm, the channel between a widget and its picture.
type Comm = widgets.Message

// Result is how a cell ended.
type Result struct {
	// Err is nil when the cell succeeded.
	Err *Error `json:"err,omitempty"`
	// Value is what the cell shows last. A Session shows it as an Output instead.
	Value *display.Bundle `json:"value,omitempty"`
	// Expressions holds, by name, a value or an error.
	Expressions map[string]Expression `json:"expressions,omitempty"`
	// NextInput is text that the front end should put into the next cell (%load).
	NextInput *string `json:"next_input,omitempty"`
	// Pager is shown by front ends beside the notebook.
	Pager *display.Bundle `json:"pager,omitempty"`
	// Restarted says that the evaluator ended and a new one runs: every
	// variable is gone. Err tells why.
	Restarted bool `json:"restarted,omitempty"`
	// Data is what a function of an Extension gave back.
	Data []byte `json:"data,omitempty"`
}

// Place is where an evaluator is.
type Place struct {
	// Cell and Line are those of the statement at the cell's outer level that
	// runs now, or the zero values.
	Cell string `json:"cell,omitempty"`
	Line int    `json:"line,omitempty"`
	// Call is the blocking call that it is in, such as "Barrier", with
	// what that waits for, and Waited for how long.
	Call   string        `json:"call,omitempty"`
	Waited time.Duration `json:"waited,omitempty"`
	// Data is an Extension's.
	Data []byte `json:"data,omitempty"`
}

// Expression is the outcome of one user expression.
type Expression struct {
	Value *display.Bundle `json:"value,omitempty"`
	Err   *Error          `json:"err,omitempty"`
}

// Error is a failed cell, as Jupyter shows it.
type Error = answer.Error

// NewError makes an error without a trace. Its message is the text's first line.
func NewError(name, text string) *Error { return answer.NewError(name, text) }

// OutputKind tells the fields of an Output that count.
type OutputKind string

const (
	Stdout  OutputKind = "stdout"  // Text
	Stderr  OutputKind = "stderr"  // Text
	Value   OutputKind = "value"   // Bundle: the value of the last expression
	Display OutputKind = "display" // Bundle; DisplayID, if set, names it for updates
	Update  OutputKind = "update"  // Bundle replaces what was shown under DisplayID
	Clear   OutputKind = "clear"   // Wait: clear when the next output comes
	ToComm  OutputKind = "comm"    // Comm
	Debug   OutputKind = "debug"   // Event: an event of the Debug Adapter Protocol
	Verdict OutputKind = "verdict" // of a rank. Parent: an exercise; Text: its judge's verdict, "" when it begins
)

// Output is something that a cell shows while it runs. Outputs reach the
// receiver in the order in which the cell made them.
type Output struct {
	Kind   OutputKind
	Text   string
	Bundle display.Bundle
	Wait   bool
	Comm   *Comm `json:",omitempty"`
	// Parent is the Message of the cell that the output is of; "": of the main shell's,
	// or not known.
	Parent string          `json:",omitempty"`
	Event  json.RawMessage `json:",omitempty"`
}

// What the front end answers about code that is being typed.
type (
	Completion   = answer.Completion
	Match        = answer.Match
	Completeness = answer.Completeness
)
