package golang

import (
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"sync"

	"gocuda/kernel/golang/answer"
	"gocuda/kernel/golang/rt"
)

// Error is a failed cell.
type Error = answer.Error

const (
	bold  = answer.Bold
	faint = answer.Faint
	plain = answer.Normal
)

// mistake is one compile error.
type mistake struct {
	file         string
	line, column int
	text         string
	pos          token.Pos // if it is of a cell's check
}

func syntaxErrors(list scanner.ErrorList) []mistake {
	out := make([]mistake, len(list))
	for i, e := range list {
		out[i] = mistake{file: e.Pos.Filename, line: e.Pos.Line, column: e.Pos.Column, text: e.Msg}
	}
	return out
}

// maxMistakes is how many errors of a cell are shown.
const maxMistakes = 10

// compileError shows mistakes with their source lines.
func compileError(code string, list []mistake) *Error {
	lines := strings.Split(code, "\n")
	list = slices.CompactFunc(list, func(a, b mistake) bool { // go/types says some twice
		return a.file == b.file && a.line == b.line && a.column == b.column && a.text == b.text
	})
	var trace []string
	for i, m := range list {
		if i == maxMistakes {
			trace = append(trace, fmt.Sprintf("too many errors (%d more)", len(list)-i))
			break
		}
		text := strings.Split(m.text, "\n")
		trace = append(trace, fmt.Sprintf("%s%s:%d:%d:%s %s", bold, m.file, m.line, m.column, plain, text[0]))
		trace = append(trace, text[1:]...)
		if m.line >= 1 && m.line <= len(lines) {
			shown, before := answer.PointAt(lines[m.line-1], m.column)
			trace = append(trace, shown, before+bold+"^"+plain)
		}
		if strings.Contains(text[0], ", error)) in single-value context") {
			trace = append(trace, "must(...) around the call takes its value, and fails the cell on an error")
		}
		if strings.Contains(text[0], " as error value in argument to must:") {
			trace = append(trace, "must takes a call whose last result is an error: leave it out here")
		}
	}
	first, _, _ := strings.Cut(list[0].text, "\n")
	message := fmt.Sprintf("%s:%d:%d: %s", list[0].file, list[0].line, list[0].column, first)
	if len(list) > 1 {
		message += fmt.Sprintf(" (and %d more)", len(list)-1)
	}
	return &Error{Name: "CompileError", Message: message, Traceback: trace}
}

// texts keeps the lines of cells, which traces show.
type texts struct {
	mu    sync.Mutex
	cells map[string][]string
}

// maxText is how many bytes a cell may have whose lines are kept.
const maxText = 64 << 10

func (t *texts) keep(cell, code string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cells == nil {
		t.cells = make(map[string][]string)
	}
	delete(t.cells, cell)
	if len(code) <= maxText {
		t.cells[cell] = strings.Split(code, "\n")
	}
}

// line is a line of a cell without its indentation; "" if it is not kept.
func (t *texts) line(cell string, n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if lines := t.cells[cell]; n >= 1 && n <= len(lines) {
		return strings.TrimSpace(lines[n-1])
	}
	return ""
}

// from is the rest of the line at a mistake's column; "" if it is not kept.
func (t *texts) from(m mistake) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := t.cells[m.file]
	if m.line < 1 || m.line > len(lines) || m.column < 1 || m.column > len(lines[m.line-1]) {
		return ""
	}
	return lines[m.line-1][m.column-1:]
}

// panicError shows why a cell ended that did not return.
func (t *texts) panicError(v any, trace rt.Trace) *Error {
	e := &Error{}
	named := false
	switch x := v.(type) {
	case error:
		var exit rt.Exit
		var failure rt.Failure
		var endless rt.Endless
		var overflow rt.Overflow
		var fault rt.Fault
		switch {
		case errors.Is(x, rt.Interrupted):
			e.Name, e.Message = "Interrupted", "the cell was interrupted; what it had assigned is kept"
		case errors.As(x, &exit):
			e.Status = exit.Code
			e.Name, e.Message = "Exit", fmt.Sprintf("the cell called os.Exit(%d); the notebook goes on", exit.Code)
		case errors.As(x, &overflow):
			e.Name, e.Message = "StackOverflow", overflow.Error()
		case errors.As(x, &fault):
			e.Name, e.Message = "FatalError", fault.Error()
		case errors.As(x, &endless):
			e.Name, e.Message = "StackOverflow", endless.Error()
		case errors.As(x, &failure):
			e.Name, e.Message = errorName(failure.Err), failure.Err.Error()
			named = e.Name != "Error"
		case isRuntimeError(x):
			e.Name, e.Message = "Panic", x.Error()
		default:
			e.Name, e.Message = "Panic", panicText(v)
		}
	default:
		e.Name, e.Message = "Panic", panicText(v)
	}
	head := e.Name
	if e.Name == "Panic" {
		head = "panic"
	}
	if before, after, ok := strings.Cut(e.Message, e.Name); ok && named {
		// It says its name, as those of CUDA and MPI do.
		e.Traceback = append(e.Traceback, before+bold+e.Name+plain+after)
	} else {
		e.Traceback = append(e.Traceback, panics(head, e.Message, trace.During)...)
	}
	e.Message, _, _ = strings.Cut(e.Message, "\n")
	e.Traceback = append(e.Traceback, t.trace(trace.Calls)...)
	return e
}

// panics has a line for each panic during whose deferred calls the next one began, as
// Go's runtime writes them, and one for the last.
func panics(head, message string, during []rt.Earlier) (lines []string) {
	indent, again := "", false
	line := func(head, text string) {
		lines = append(lines, indent+bold+head+plain+": "+text)
		indent = "\t"
	}
	for _, e := range during {
		text := panicText(e.Value)
		switch {
		case e.Repanicked:
			text += " [recovered, repanicked]"
		case e.Recovered:
			text += " [recovered]"
		}
		if !again {
			line("panic", text)
		}
		again = e.Repanicked
	}
	if !again {
		line(head, message)
	}
	return lines
}

func isRuntimeError(err error) bool {
	_, ok := err.(interface{ RuntimeError() })
	return ok
}

// errorName is the name under which a dropped error fails a cell.
func errorName(err error) string {
	var named interface{ Name() string }
	if errors.As(err, &named) {
		if name := named.Name(); name != "" && !strings.ContainsAny(name, " \n") {
			return name
		}
	}
	return "Error"
}

// panicText writes a panic's value as Go's runtime does.
func panicText(v any) (text string) {
	defer func() {
		if e := recover(); e != nil { // in its Error or String
			text = fmt.Sprintf("%T, whose text cannot be shown: %s", v, panicText(e))
		}
	}()
	switch x := v.(type) {
	case error:
		return x.Error()
	case fmt.Stringer:
		return x.String()
	case string:
		return x
	}
	switch k := reflect.ValueOf(v).Kind(); k {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr, reflect.Float32,
		reflect.Float64, reflect.Complex64, reflect.Complex128, reflect.String:
		t := reflect.TypeOf(v)
		if t.PkgPath() == "" {
			return fmt.Sprintf("%v", v)
		}
		if k == reflect.String {
			return fmt.Sprintf("%s(%q)", t, v)
		}
		return fmt.Sprintf("%s(%v)", t, v)
	}
	return fmt.Sprintf("%+v", v)
}

// sourceIndent stands before the source of a line of a trace.
const sourceIndent = "        "

// trace shows where a panic came through the cells, with their lines.
func (t *texts) trace(calls []rt.Call) []string {
	var lines []string
	for i := 0; i < len(calls); i++ {
		c := calls[i]
		n := 1
		for i+n < len(calls) && calls[i+n] == c {
			n++
		}
		i += n - 1
		if c.Line == 0 && i-n >= 0 && calls[i-n].Func.Name == c.Func.Name {
			continue // a deferred call of the function above
		}
		where := c.Func.File
		if c.Line > 0 {
			where = fmt.Sprintf("%s:%d:%d", c.Func.File, c.Line, c.Column)
		}
		line := fmt.Sprintf("    %s%s%s  %s%s%s", bold, where, plain, faint, c.Func.Name, plain)
		if n > 1 {
			line += fmt.Sprintf(" (%d times)", n)
		}
		lines = append(lines, line)
		if text := t.line(c.Func.File, c.Line); text != "" {
			lines = append(lines, sourceIndent+text)
		}
	}
	return lines
}

// typeMistake turns a checker's error into one of the cell.
func typeMistake(err types.Error) mistake {
	p := err.Fset.Position(err.Pos)
	return mistake{p.Filename, p.Line, p.Column, err.Msg, err.Pos}
}
