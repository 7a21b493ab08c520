// Package answer is what Go cells answer, as the kernel process knows it: errors,
// and what helps with code that is being typed. It needs no interpreter.
package answer

import (
	"go/types"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Error is a failed cell, as Jupyter shows it.
type Error struct {
	Name      string   `json:"name"`      // such as "CompileError", "Panic", "Interrupted", "CUDA_ERROR_ILLEGAL_ADDRESS"
	Message   string   `json:"message"`   // one line
	Traceback []string `json:"traceback"` // lines, with ANSI codes; readable without them

	Status int `json:"-"` // of os.Exit
}

func (e *Error) Error() string { return e.Name + ": " + e.Message }

// NotSolved is what todo says, on the host and in kernels.
const NotSolved = "not solved yet: todo() stands where your code belongs"

// Verdicts of a judge. Wrong is followed by the reason.
const (
	Right    = "right"
	Unsolved = "not solved yet"
	Wrong    = "wrong: "
)

// Bold and Faint are ANSI's codes for text; Normal ends them. No colour can be read both
// on the light and on the dark background that JupyterLab gives errors.
const (
	Bold   = "\x1b[1m"
	Faint  = "\x1b[2m"
	Normal = "\x1b[0m"
)

var colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Plain is the traceback without its colours.
func (e *Error) Plain() string {
	return strings.TrimRight(colour.ReplaceAllString(strings.Join(e.Traceback, "\n"), ""), "\n")
}

// NewError makes an error without a trace. Its message is the text's first line.
func NewError(name, text string) *Error {
	first, _, _ := strings.Cut(text, "\n")
	return &Error{Name: name, Message: first, Traceback: []string{Bold + name + Normal + ": " + text}}
}

// PointAt is a line of a cell as a trace shows it, without its tabs, and the spaces before a
// mark below the byte at column, from 1.
func PointAt(line string, column int) (shown, before string) {
	const tab = "    "
	before = strings.ReplaceAll(line[:min(max(column-1, 0), len(line))], "\t", tab)
	return tab + strings.ReplaceAll(line, "\t", tab), tab + strings.Repeat(" ", utf8.RuneCountInString(before))
}

// Completion answers a request to complete code at a cursor. Positions count
// bytes of the UTF-8 text.
type Completion struct {
	Start   int     `json:"start"`
	End     int     `json:"end"`
	Matches []Match `json:"matches"`
}

// Match is one way to complete.
type Match struct {
	Text      string `json:"text"`
	Kind      string `json:"kind"`                // function, variable, type, const, field, method, package, keyword, magic, file
	Signature string `json:"signature,omitempty"` // its type, as Go writes it

	Object types.Object `json:"-"` // what it names, where that is known
}

// Completeness says whether code is ready to run: "complete", "incomplete"
// (with the indentation that the next line should have), "invalid" or "unknown".
type Completeness struct {
	Status string `json:"status"`
	Indent string `json:"indent,omitempty"`
}

// Shown is the traceback as clients get it. Its last line is the message: that is
// the one that summaries of tests and of CI show.
func (e *Error) Shown() []string {
	if len(e.Traceback) == 0 {
		return []string{e.Error()}
	}
	if len(e.Traceback) == 1 || strings.Contains(colour.ReplaceAllString(e.Traceback[len(e.Traceback)-1], ""), e.Message) {
		return e.Traceback
	}
	return append(slices.Clip(e.Traceback), Bold+e.Name+Normal+": "+e.Message)
}
