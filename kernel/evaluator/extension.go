package evaluator

import (
	"context"
	"encoding/json"
	"fmt"

	"gocuda/cudaapi/cuda"
	"gocuda/kernel/display"
	"gocuda/kernel/golang"
	"gocuda/kernel/magic"
	"gocuda/kernel/session"
)

// Extension adds to an evaluator what is no part of this package, such as MPI
// ranks. Any of its functions may be nil.
type Extension struct {
	// Builtins are functions that cells can call without an import.
	Builtins map[string]any
	// Magics are more magics for cells.
	Magics []magic.Magic
	// Reset is called after %reset, with a function that runs Go code.
	Reset func(eval func(code string) error) error
	// Eval runs Go code of the running cell in the evaluator's place, if it
	// returns handled.
	Eval func(ctx context.Context, code string, show bool) (handled bool, err error)
	// Complete and Inspect answer in the evaluator's place, if they return ok.
	Complete func(code string, cursor int) (answer session.Completion, ok bool)
	Inspect  func(code string, cursor, detail int) (answer *display.Bundle, ok bool)
	// Begin is told about each cell before it runs, with a channel that closes
	// when it is interrupted.
	Begin func(stop <-chan struct{})
	// End is told when a cell has run, before its value is shown.
	End func()
	// Judged is told in place of a line of text what judge says.
	Judged func(id, verdict string)
	// Where adds the blocking call that the process is in.
	Where func(*session.Place)
	// Peers are the evaluators of other processes that are debugged with this one.
	Peers func() []session.Evaluator
	// Close is called once, before the process ends in order.
	Close func()
}

// Host is what an Extension sees of its evaluator.
type Host struct{ evaluator *evaluator }

// Show sends an output in its place among the cell's other outputs, text too.
// It may be called at any time.
func (h *Host) Show(o session.Output) error { return h.evaluator.show(o) }

// Judged shows what a judge said, of several processes together, and takes note of it.
func (h *Host) Judged(id, verdict string) error {
	h.evaluator.verdicts.note(id, verdict)
	return h.Show(session.Output{Kind: session.Stdout, Text: fmt.Sprintf("exercise %s: %s\n", id, verdict)})
}

// Verdicts are what the judges said last, by the exercises' ids.
func (h *Host) Verdicts() map[string]string { return h.evaluator.verdicts.all() }

// Input asks the user for a line of text.
func (h *Host) Input(prompt string, password bool) (string, error) {
	return h.evaluator.console.Input(prompt, password)
}

// SetValue makes b the value of the running cell. It is called by what runs
// the cell: a magic, or Extension.Eval.
func (h *Host) SetValue(b *display.Bundle) error {
	return h.evaluator.setValue(h.evaluator.current(), b)
}

// Cell returns the running cell, to functions that it calls.
func (h *Host) Cell() session.Cell {
	r := h.evaluator.current()
	r.mu.Lock()
	defer r.mu.Unlock()
	cell := r.cell
	if r.late != nil {
		cell.Late = r.late
	}
	return cell
}

// SetLate has Cell say from now on, until the running cell ends, what runs late.
func (h *Host) SetLate(places []session.Place) {
	r := h.evaluator.current()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late = places
}

// Peers are the evaluators of other processes that extensions have, such as ranks.
func (h *Host) Peers() []session.Evaluator { return h.evaluator.peers() }

// DebugEvent passes on what the debugger of one of the Peers tells.
func (h *Host) DebugEvent(peer int, event json.RawMessage) {
	h.evaluator.debugger.PeerEvent(peer, event)
}

// Place is the statement that the calling goroutine is in, for compiled functions that
// cells call, and the one that called its function. They are not known if it is in none.
func (h *Host) Place() (at, caller cuda.Place) {
	in, from := h.evaluator.golang.Calls()
	return cuda.Place{Cell: in.Cell, Line: in.Line}, cuda.Place{Cell: from.Cell, Line: from.Line}
}

// Held lists where goroutines of cells are in compiled functions whose names begin
// with prefix; all says that nothing of cells goes on before one of them returns.
func (h *Host) Held(prefix string) (holds []golang.Hold, all bool) {
	return h.evaluator.golang.Held(prefix)
}

// Within runs Go code in the middle of the running cell, for functions that it
// calls. Types and builtins are those that the cell sees; no value is shown.
func (h *Host) Within(name, code string) error { return h.evaluator.golang.Within(name, code) }

// Value is the value of a variable that cells declared, or of a name within the
// running cell; nil if there is none, or if it is not of a compiled type.
func (h *Host) Value(name string) any { return h.evaluator.value(name) }

// SetData sets the running cell's Result.Data.
func (h *Host) SetData(data []byte) {
	h.evaluator.current().setData(data)
}

// Named returns what cells declared under a name; ok is false if that is nothing.
func (h *Host) Named(name string) (n golang.Name, ok bool) {
	for _, n := range h.evaluator.golang.Names() {
		if n.Name == name {
			return n, true
		}
	}
	return golang.Name{}, false
}

// Variables lists the variables of a type, as Go writes it, that cells declared.
func (h *Host) Variables(typ string) (names []string) {
	for _, n := range h.evaluator.golang.Names() {
		if n.Kind == "var" && n.Type == typ {
			names = append(names, n.Name)
		}
	}
	return names
}
