// Package magic runs the lines and cells of a notebook that are not Go: %cd,
// !ls, %%bash and their like.
//
// A line magic (%name) or a shell line (!command) may stand among lines of Go,
// wherever a statement at the top level of the cell could begin. A cell magic
// (%%name) begins a cell and takes the rest of it. The Go code around magics
// keeps its line numbers.
package magic

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"gocuda/kernel/display"
)

// Env is what magics need of the evaluator that they run in.
type Env interface {
	// Stdout and Stderr are where output goes. An *os.File is handed to the
	// commands of the shell as it is.
	Stdout() io.Writer
	Stderr() io.Writer
	// Eval runs Go code as a cell would, and shows the value of its last
	// expression if show is set. It returns when the code ended, failed, or was
	// interrupted.
	Eval(code string, show bool) error
	// Syntax finds mistakes of syntax in Go code, without running it.
	Syntax(code string) error
	// Define makes value known to later Go code under name.
	Define(name string, value any) error
	// Text gives the value of a Go expression, a number, a string or a bool, as
	// fmt.Sprint would. The expression stands at a line and a column of the cell,
	// both from 1.
	Text(expression string, line, column int) (string, error)
	// History lists the code of the cells that ran so far in this session, this one
	// last, with the names that errors call them by.
	History() []Past
	// Names lists what the cells so far declared.
	Names() []Name
	// Declarations returns what a name of the session stands for: one declaration,
	// and the methods of a type after it; none for what cells did not declare.
	Declarations(name string) []Declaration
	// Reset forgets everything that the cells so far declared.
	Reset() error
	// SetNextInput asks the front end to offer text as the next cell.
	SetNextInput(text string)
	// Pager shows a bundle beside the notebook.
	Pager(display.Bundle)
	// Inspect tells what a name, such as fmt.Println, means; nil: not known.
	Inspect(name string) *display.Bundle
	// Compilations says how often something was compiled beside a cell so far, and
	// whether something is being compiled now.
	Compilations() (done int, more bool)
	// Goroutines lists the cells whose goroutines still run, with their number.
	Goroutines() map[string]int
	// StopGoroutines ends those of a cell, or of all cells with the name "".
	StopGoroutines(cell string)
}

// Past is a cell that ran.
type Past struct{ Cell, Code string }

// Declaration is what a cell declared, or a method of it.
type Declaration struct {
	Cell   string // as errors call it
	Line   int    // of the cell, from 1, where the text begins
	Text   string // as the user typed it
	Kind   string // "var", "const", "func", "type" or "method"
	Method string // its name
}

// Name is something that a cell declared.
type Name struct {
	Name string
	Kind string // "var", "const", "func", "type" or "import"
	Type string // as Go writes it

	// Value shows a variable's value in one line, "" where that is not available now;
	// nil: it is none.
	Value func() string
	// Content gives the variable's value itself; ok is false where Value is "".
	Content func() (v any, ok bool)
}

// Magic is one %name or %%name.
type Magic struct {
	Name  string // without its %
	Usage string // such as "%cd [DIRECTORY]"
	Doc   string // one sentence, then, if needed, more lines
	Cell  bool   // a cell magic (%%name)
	// Expand says that {expression} and $name in the arguments stand for values
	// of Go. A value is never cut into several fields.
	Expand bool
	// Run does the work. Its context ends when the user interrupts the cell.
	Run func(ctx context.Context, env Env, call Call) error
}

// String is the magic as it is called.
func (m Magic) String() string {
	if m.Cell {
		return "%%" + m.Name
	}
	return "%" + m.Name
}

// Text is what %help says of the magic below its usage.
func (m Magic) Text() string {
	if m.Expand {
		return m.Doc + "\n" + expandDoc
	}
	return m.Doc
}

// Call is one use of a magic.
type Call struct {
	Magic  Magic
	Args   string // the rest of its line, without the space around it
	Body   string // of a cell magic: the lines below it
	Line   int    // where it stands in the cell, from 1; the body begins on the next line
	Column int    // where Args begin in the line, in bytes from 1

	parts []part // that Args is made of, if the magic expands them
	set   *Set   // that it is of
}

// Within runs the body of a cell magic as a cell of its own: with magics, of cells too.
func (c Call) Within(ctx context.Context, env Env) error {
	return c.Cell(ctx, env, strings.Repeat("\n", c.Line)+c.Body)
}

// Cell runs code as a cell of its own, as Within does.
func (c Call) Cell(ctx context.Context, env Env, code string) error { return c.set.Run(ctx, env, code) }

// Error is a magic that failed.
type Error struct {
	Name    string // what kind of error, such as "UnknownMagic", "UsageError" or "ShellError"
	Message string
	Line    int // the line of the cell, from 1; 0: not known
}

func (e *Error) Error() string { return e.Message }

// Errorf makes the error of a call.
func (c Call) Errorf(name, format string, args ...any) error {
	return &Error{name, c.Magic.String() + ": " + fmt.Sprintf(format, args...), c.Line}
}

// UsageErrorf makes the error of a call that was written wrong, with its usage.
func (c Call) UsageErrorf(format string, args ...any) error {
	return c.Errorf("UsageError", "%s\nusage: %s", fmt.Sprintf(format, args...), c.Magic.Usage)
}

// Set is the magics of an evaluator. It does not change once it is made.
type Set struct {
	magics map[string]Magic // by String()
	before string           // the directory that %cd - goes back to
	past   *cudaCells
}

// NewSet makes a set of this package's own magics and others. One of the same
// name replaces the one before.
func NewSet(others ...Magic) *Set {
	s := &Set{magics: map[string]Magic{}, past: newCells()}
	for _, list := range [][]Magic{fileMagics(s), nameMagics(s), againMagics(s), shellMagics, timeMagics, richMagics(), {cudaMagic(s.past), kernelMagic(s.past), ptxMagic}, {simMagic, goroutinesMagic}, others} {
		for _, m := range list {
			s.magics[m.String()] = m
		}
	}
	return s
}

// List returns every magic by name, a line magic before its cell magic.
func (s *Set) List() []Magic {
	return slices.SortedFunc(maps.Values(s.magics), func(a, b Magic) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), len(a.String())-len(b.String()))
	})
}

// Help returns the magics that %help lists: all, with the shell's "!", but for other
// names of the same.
func (s *Set) Help() []Magic {
	return slices.DeleteFunc(append(s.List(), shellMagic), func(m Magic) bool { return m.Name == "lsmagic" })
}

// Lookup finds a magic as it is called, such as "%cd" or "%%bash".
func (s *Set) Lookup(called string) (Magic, bool) {
	m, ok := s.magics[called]
	return m, ok
}

// Run runs a cell: its magics and the Go code between them, from top to
// bottom, up to the first that fails; Go code does not see what is declared
// below the next magic. Only the last piece shows the value of its last
// expression. Names of magics that do not exist, and mistakes of syntax, are
// found before anything runs. The errors are those of Env, as they are, the
// context's, after an interrupt, and otherwise of type *Error.
func (s *Set) Run(ctx context.Context, env Env, code string) error {
	pieces := split(code)
	calls := make([]Call, len(pieces))
	last := -1
	for i, p := range pieces {
		if p.kind == goCode {
			if isBlank(p.text) && len(pieces) > 1 {
				continue
			}
		} else {
			call, err := s.call(p)
			if err != nil {
				return err
			}
			calls[i] = call
		}
		last = i
	}
	if len(pieces) > 1 {
		// A mistake in the last line should not be found after the first ran.
		if err := env.Syntax(Blank(code)); err != nil {
			return err
		}
	}
	for i, p := range pieces {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		var err error
		switch {
		case p.kind != goCode:
			var call Call
			if call, err = calls[i].expand(env); err == nil {
				err = call.Magic.Run(ctx, env, call)
			}
		case len(pieces) == 1:
			err = env.Eval(code, true)
		case !isBlank(p.text):
			err = env.Eval(strings.Repeat("\n", p.line-1)+p.text, i == last)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
