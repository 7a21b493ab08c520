// Package golang evaluates Go cells: a front end that parses, checks and
// lowers what the user typed, over the yaegi interpreter.
package golang

// Error is a failed cell, as Jupyter shows it.
type Error struct {
	Name      string   `json:"name"`      // such as "CompileError", "Panic", "Interrupted", "CUDA_ERROR_ILLEGAL_ADDRESS"
	Message   string   `json:"message"`   // one line
	Traceback []string `json:"traceback"` // lines, with ANSI colours; readable without them
}

func (e *Error) Error() string { return e.Name + ": " + e.Message }
