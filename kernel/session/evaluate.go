package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"

	_ "gocuda/cudaapi/backend" // gives cells their devices
	"gocuda/cudaapi/cuda"
	"gocuda/kernel/display"
	"gocuda/kernel/golang"
	"gocuda/kernel/golang/assist"
	"gocuda/kernel/golang/modules"
	"gocuda/kernel/magic"
	"gocuda/kernel/packages"
)

// Evaluate is the whole of an evaluator process: it serves the kernel that
// started it, over the link that it inherited, until the kernel ends it.
func Evaluate(extend ...func(*Host) Extension) error {
	stream, err := inheritedLink()
	if err != nil {
		return err
	}
	var c *cells
	err = Serve(stream, func(console *Console) (Interpreter, error) {
		c, err = newCells(console, extend)
		return c, err
	})
	if c != nil {
		c.close()
	}
	return err
}

// cells is the Interpreter of a notebook's cells: magics and Go.
type cells struct {
	console    *Console
	golang     *golang.Evaluator
	stdin      stdin
	extensions []Extension

	mu     sync.Mutex
	cancel context.CancelCauseFunc // of the running cell; nil when none runs
	unwait func()                  // ends the waits for devices that the running cell began

	// Of the running cell.
	ctx    context.Context
	cell   Cell
	data   []byte // under mu
	value  *display.Bundle
	result Result
	told   any // by tellBuiltin

	testsFailed bool // when %test last ran

	past []magic.Past // the cells that ran, at most maxPast
}

// maxPast is how many cells %history knows.
const maxPast = 2000

// tellBuiltin is how a magic learns the value of an expression: a builtin of a
// name that no cell writes by chance.
const tellBuiltin = "sʹ"

func newCells(console *Console, extend []func(*Host) Extension) (*cells, error) {
	display.SetPublisher(func(p display.Publication) {
		o := Output{Kind: Display, Bundle: p.Bundle, Wait: p.Wait}
		switch {
		case p.Clear:
			o.Kind = Clear
		case p.Update:
			o.Kind = Update
		}
		if err := console.Show(o); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	})
	c := &cells{console: console}
	c.stdin.ask = func() (string, error) { return c.ask("", false) }
	functions := c.builtins()
	for _, e := range extend {
		extension := e(&Host{c})
		c.extensions = append(c.extensions, extension)
		maps.Copy(functions, extension.Builtins)
	}
	var err error
	set := modules.New(workingDir())
	magic.Register(getMagic(set))
	c.golang, err = golang.New(golang.Options{Packages: packages.All(), Builtins: functions, Modules: set, Stdin: &c.stdin, MaxStack: cellStack})
	if err != nil {
		return nil, err
	}
	magic.Register(goroutinesMagic(c.golang))
	magic.Register(c.testMagic())
	cuda.SetCaller(func() string {
		switch cell, line := c.golang.Where(); {
		case cell == "" || line == 0:
			return cell
		default:
			return fmt.Sprintf("%s, line %d", cell, line)
		}
	}, "gocuda/kernel/golang/host.")
	return c, nil
}

// builtins are the functions that cells can call without an import, beyond
// Go's own.
func (c *cells) builtins() map[string]any {
	ask := func(prompt []string, password bool) string {
		text, err := c.ask(strings.Join(prompt, " "), password)
		if err != nil {
			panic(err)
		}
		return text
	}
	return map[string]any{
		tellBuiltin: func(v any) { c.told = v },
		testBuiltin: c.runTests,
		"input":     func(prompt ...string) string { return ask(prompt, false) },
		"password":  func(prompt ...string) string { return ask(prompt, true) },
	}
}

// ask asks the user for a line of text.
func (c *cells) ask(prompt string, password bool) (string, error) {
	text, err := c.console.Input(prompt, password)
	if errors.Is(err, ErrInterrupted) {
		c.Interrupt() // so that the cell does not end of this error
	}
	return text, err
}

// Run runs a cell.
func (c *cells) Run(cell Cell) (*display.Bundle, Result) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	// A channel of its own, which the end of a cell leaves open: goroutines that
	// the cell leaves behind may wait on.
	stop := make(chan struct{})
	cuda.SetInterrupt(stop)
	c.mu.Lock()
	c.cancel, c.unwait = cancel, sync.OnceFunc(func() { close(stop) })
	c.ctx, c.cell, c.data, c.value, c.result = ctx, cell, nil, nil, Result{}
	c.mu.Unlock()
	c.stdin.forget()
	if !cell.Silent {
		if len(c.past) == maxPast {
			c.past = slices.Delete(c.past, 0, 1)
		}
		c.past = append(c.past, magic.Past{Cell: cell.Name, Code: cell.Code})
	}
	for _, e := range c.extensions {
		if e.Begin != nil {
			e.Begin(stop)
		}
	}
	err := magic.Run(ctx, env{c}, cell.Code)
	display.Flush()
	switch {
	case err == nil:
		c.express(ctx)
	case ctx.Err() != nil:
		// Whatever it failed of came of the interrupt.
		c.result.Err = asError(context.Cause(ctx))
	default:
		c.result.Err = asError(err)
	}
	c.mu.Lock()
	c.cancel, c.result.Data = nil, c.data
	c.mu.Unlock()
	return c.value, c.result
}

// express evaluates the cell's expressions.
func (c *cells) express(ctx context.Context) {
	if len(c.cell.Expressions) > 0 {
		c.result.Expressions = map[string]Expression{}
	}
	for name, code := range c.cell.Expressions {
		var e Expression
		if ctx.Err() != nil {
			e.Err = asError(context.Cause(ctx))
		} else {
			e.Value, e.Err = c.golang.Expression(code)
		}
		c.result.Expressions[name] = e
	}
}

// asError is an error as a cell shows it.
func asError(err error) *Error {
	var failed *Error
	var magical *magic.Error
	switch {
	case errors.As(err, &failed):
		return failed
	case errors.Is(err, ErrInterrupted):
		return plainError("Interrupted", "the cell was interrupted")
	case errors.As(err, &magical):
		e := plainError(magical.Name, magical.Message)
		if magical.Line > 0 {
			e.Traceback = append(e.Traceback, fmt.Sprintf("in line %d of the cell", magical.Line))
		}
		return e
	}
	return plainError("Error", err.Error())
}

// Interrupt stops the running cell.
func (c *cells) Interrupt() {
	c.mu.Lock()
	cancel, unwait := c.cancel, c.unwait
	c.mu.Unlock()
	if cancel != nil {
		cancel(ErrInterrupted)
		unwait()
		c.golang.Interrupt()
	}
}

func (c *cells) Complete(code string, cursor int) Completion {
	for _, e := range c.extensions {
		if e.Complete != nil {
			if answer, ok := e.Complete(code, cursor); ok {
				return answer
			}
		}
	}
	return assist.Complete(c.golang.Scope(), code, cursor)
}

func (c *cells) Inspect(code string, cursor, detail int) *display.Bundle {
	for _, e := range c.extensions {
		if e.Inspect != nil {
			if answer, ok := e.Inspect(code, cursor, detail); ok {
				return answer
			}
		}
	}
	return assist.Inspect(c.golang.Scope(), code, cursor, detail)
}

func (c *cells) IsComplete(code string) Completeness { return assist.IsComplete(code) }

// env is what the cell's magics see of the evaluator.
type env struct{ *cells }

func (e env) Stdout() io.Writer { return os.Stdout }
func (e env) Stderr() io.Writer { return os.Stderr }

func (e env) Eval(code string, show bool) error {
	for _, x := range e.extensions {
		if x.Eval != nil {
			if handled, err := x.Eval(e.ctx, code, show); handled {
				return err
			}
		}
	}
	r := e.golang.Eval(e.cell.Name, code, e.cell.Silent || !show)
	if r.Err != nil {
		return r.Err
	}
	return e.setValue(r.Value)
}

// setValue makes b, if it is not nil, the value of the cell. A cell has one
// value, its last; those of magics before it are displays.
func (c *cells) setValue(b *display.Bundle) error {
	if b == nil {
		return nil
	}
	if c.value != nil {
		if err := c.console.Show(Output{Kind: Display, Bundle: *c.value}); err != nil {
			return err
		}
	}
	c.value = b
	return nil
}

func (e env) Syntax(code string) error {
	if err := e.golang.Syntax(e.cell.Name, code); err != nil {
		return err
	}
	return nil
}

func (e env) Text(expression string, line, column int) (string, error) {
	const open = tellBuiltin + "("
	code := strings.Repeat("\n", line-1) + strings.Repeat(" ", max(0, column-1-len(open))) + open + expression + ")"
	if r := e.golang.Eval(e.cell.Name, code, true); r.Err != nil {
		return "", r.Err
	}
	value := e.told
	e.told = nil
	v, text := reflect.ValueOf(value), fmt.Sprint(value)
	if typed, ok := value.(display.Typed); ok {
		if v, _ = typed.Typed(); v.IsValid() {
			text = fmt.Sprint(v.Interface())
		}
	}
	switch v.Kind() {
	case reflect.String, reflect.Bool, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return text, nil
	}
	return "", &magic.Error{Name: "TypeError", Line: line, Message: fmt.Sprintf("%s is no number, string or bool, so it cannot stand in the arguments of a magic", expression)}
}

func (e env) Define(name string, value any) error { return e.golang.Define(name, value) }
func (e env) Reset() error                        { return e.golang.Reset() }

func (e env) Names() []magic.Name {
	var list []magic.Name
	for _, n := range e.golang.Names() {
		list = append(list, magic.Name{Name: n.Name, Kind: n.Kind, Type: n.Type})
	}
	return list
}

func (e env) History() []magic.Past    { return e.past }
func (e env) SetNextInput(text string) { e.result.NextInput = &text }
func (e env) Pager(b display.Bundle)   { e.result.Pager = &b }

func (e env) Inspect(name string) *display.Bundle { return e.cells.Inspect(name, len(name), 0) }
