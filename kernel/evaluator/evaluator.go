// Package evaluator is the evaluator itself: Go cells and magics, in a process
// of their own, on devices and perhaps as a rank. Package session starts it.
package evaluator

import (
	"cmp"
	"context"
	"encoding/json"
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
	"gocuda/cudaapi/hazard"
	"gocuda/kernel/debugger"
	"gocuda/kernel/display"
	"gocuda/kernel/golang"
	"gocuda/kernel/golang/assist"
	"gocuda/kernel/golang/modules"
	"gocuda/kernel/magic"
	"gocuda/kernel/packages"
	"gocuda/kernel/session"
	"gocuda/kernel/widgets"
)

// Main is the whole of an evaluator process: it serves the session that
// started it, over the link that it inherited, until that ends it. args are
// os.Args of the cells, after the first.
func Main(args []string, extend ...func(*Host) Extension) error {
	return serve(session.ServeParent, args, extend)
}

// Serve is Main over the evaluator's end of a link, in any process.
func Serve(stream io.ReadWriteCloser, extend ...func(*Host) Extension) error {
	return serve(func(start starter) error { return session.ServeStream(stream, start) }, nil, extend)
}

type starter = func(*session.Console) (session.Evaluator, error)

func serve(by func(starter) error, args []string, extend []func(*Host) Extension) error {
	var e *evaluator
	err := by(func(console *session.Console) (session.Evaluator, error) {
		var err error
		e, err = newEvaluator(console, args, extend)
		return e, err
	})
	if e != nil {
		e.Close()
	}
	return err
}

// evaluator is the session.Evaluator that runs magics and Go.
type evaluator struct {
	console    *session.Console
	golang     *golang.Evaluator
	magics     *magic.Set
	beside     *magic.Set // of subshells
	stdin      stdin
	extensions []Extension
	debugger   *debugger.Server

	attempts attempts
	verdicts verdicts

	mu     sync.Mutex
	main   *run            // the main shell's, that runs or ran last
	asides map[string]*run // of subshells, that run
	past   []magic.Past    // the cells that ran, at most maxPast
}

// maxPast is how many cells %history knows.
const maxPast = 2000

// tellBuiltin is how a magic learns the value of an expression: a builtin of a
// name that no cell writes by chance.
const tellBuiltin = "sʹ"

// ofOthers are the names that other cells have, and those of Go lack.
var ofOthers = map[string]string{"rank": onRanks, "size": onRanks, "world": onRanks, "gpu": "a package of %%kernel cells, for code that runs on devices"}

const onRanks = "in cells that begin with %%mpi, once %mpi start has started ranks"

func newEvaluator(console *session.Console, args []string, extend []func(*Host) Extension) (*evaluator, error) {
	c := &evaluator{console: console, asides: map[string]*run{}}
	display.SetPublisher(func(p display.Publication) {
		o := session.Output{Kind: session.Display, Bundle: p.Bundle, Wait: p.Wait}
		switch {
		case p.Clear:
			o.Kind = session.Clear
		case p.Update:
			o.Kind = session.Update
		}
		if err := c.show(o); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	})
	widgets.SetSender(func(m widgets.Message) error {
		return c.show(session.Output{Kind: session.ToComm, Comm: &m})
	})
	widgets.SetParent(func() string { return c.current().cell.Message })
	widgets.SetParameterNames(c.parameterNames)
	c.stdin.ask = func() (string, error) { return c.ask("", false) }
	dir, _ := os.Getwd() // of the notebook: the kernel is started in it
	sources := modules.New(dir)
	get := func(ctx context.Context, name string) (string, error) {
		m, err := sources.Get(ctx, name)
		said := m.Path + " " + m.Version
		if m.Written != "" {
			said += "\nwrote " + m.Written
		}
		return said, err
	}
	tests := &magic.Tests{Guard: c.guard}
	own := c.extend(extend, tests)
	functions := c.builtins()
	maps.Copy(functions, tests.Builtins())
	judged := func(id, verdict string) bool { c.verdicts.note(id, verdict); return false }
	for _, e := range c.extensions {
		maps.Copy(functions, e.Builtins)
		if e.Judged != nil {
			judged = func(id, verdict string) bool { e.Judged(id, verdict); return true }
		}
	}
	c.magics = magic.NewSet(append(own, magic.Modules(get))...)
	beside := []magic.Magic{magic.Modules(get)}
	for _, m := range own {
		beside = append(beside, ownMagic(m))
	}
	c.beside = magic.NewSet(beside...)
	var err error
	c.golang, err = golang.New(golang.Options{Packages: packages.All(), Builtins: functions, Elsewhere: ofOthers, Hint: hintFor, Modules: sources, Stdin: &c.stdin, Args: append(os.Args[:1:1], args...), MaxStack: session.CellStack,
		Ended: c.ended, Judged: judged, Touches: hazard.Checking, Touched: func(t golang.Touch) {
			hazard.HostAccess(cuda.Place{Cell: t.Cell, Line: t.Line}, uintptr(t.P), t.Bytes, t.Write, t.Element, t.Called)
		}})
	if err != nil {
		return nil, err
	}
	hazard.SetPending(c.golang.SetPending)
	c.main = newRun(c.golang.Shell, session.Cell{})
	c.main.end()
	c.debugger = debugger.New(debugger.Options{Evaluator: c.golang, Go: magic.AllGo, Peers: c.debugged,
		Event: func(m json.RawMessage) { console.Post(session.Output{Kind: session.Debug, Event: m}) },
		Print: func(text string) { c.show(session.Output{Kind: session.Stdout, Text: text}) },
	})
	cuda.SetInterrupts(func() <-chan struct{} {
		if r, ok := c.golang.Running().Owner().(*run); ok {
			return r.stop
		}
		return nil
	})
	cuda.SetCaller(func() cuda.Place {
		cell, line := c.golang.Running().Where()
		return cuda.Place{Cell: cell, Line: line}
	}, "gocuda/kernel/golang/host.", "gocuda/kernel/packages.")
	return c, nil
}

// extend adds extensions, and returns the magics of all but package magic.
func (c *evaluator) extend(extend []func(*Host) Extension, tests *magic.Tests) []magic.Magic {
	own := append(magic.Compile(compiler{c}), tests.Magic())
	for _, e := range extend {
		extension := e(&Host{c})
		c.extensions = append(c.extensions, extension)
		own = append(own, extension.Magics...)
	}
	return own
}

// Magics lists the magics that an evaluator with these extensions has, for the
// reference. None of them can be run.
func Magics(extend ...func(*Host) Extension) []magic.Magic {
	c := &evaluator{asides: map[string]*run{}}
	return magic.NewSet(append(c.extend(extend, &magic.Tests{}), magic.Modules(nil))...).Help()
}

// ended ends the waits for devices of a cell, the main shell's or its owner's.
func (c *evaluator) ended(owner any) {
	r, ok := owner.(*run)
	if !ok {
		c.mu.Lock()
		r = c.main
		c.mu.Unlock()
	}
	r.unwait()
}

// builtins are the functions that cells can call without an import, beyond
// Go's own.
func (c *evaluator) builtins() map[string]any {
	ask := func(prompt []string, password bool) string {
		text, err := c.ask(strings.Join(prompt, " "), password)
		if err != nil {
			panic(err)
		}
		return text
	}
	return map[string]any{
		tellBuiltin: func(v any) { c.current().told = v },
		"input":     func(prompt ...string) string { return ask(prompt, false) },
		"password":  func(prompt ...string) string { return ask(prompt, true) },
	}
}

// ask asks the user for a line of text.
func (c *evaluator) ask(prompt string, password bool) (string, error) {
	if c.current().text != nil {
		return "", errNoInput
	}
	text, err := c.console.Input(prompt, password)
	if errors.Is(err, session.ErrInterrupted) {
		c.Interrupt() // so that the cell does not end of this error
	}
	return text, err
}

// guard runs a function of a cell; failed is told why it did not return.
func (c *evaluator) guard(f func(), failed func(why string)) {
	c.golang.Guard(f, func(e *golang.Error) { failed(e.Plain()) })
}

// Execute runs a cell.
func (c *evaluator) Execute(cell session.Cell) session.Result {
	if cell.Shell != "" {
		return c.executeBeside(cell)
	}
	r := newRun(c.golang.Shell, cell)
	cuda.SetInterrupt(r.stop)
	c.mu.Lock()
	c.main = r
	c.mu.Unlock()
	c.stdin.forget()
	for _, e := range c.extensions {
		if e.Begin != nil {
			e.Begin(r.stop)
		}
	}
	return c.run(r, c.magics, func() {
		for _, e := range c.extensions {
			if e.End != nil {
				e.End()
			}
		}
	})
}

// run runs a cell that has begun. done is called before its value is known.
func (c *evaluator) run(r *run, magics *magic.Set, done ...func()) session.Result {
	cell := r.cell
	if cell.Comm == nil {
		if !cell.Silent {
			c.remember(magic.Past{Cell: cell.Name, Code: cell.Code})
		}
		c.debugger.Cell(cell.Name, cmp.Or(cell.Whole, cell.Code))
	}
	var err error
	switch {
	case cell.Comm != nil:
		err = c.event(r)
	case !c.refuses(cell.Code):
		err = magics.Run(r.ctx, env{c, r}, cell.Code)
		c.attempts.note(cell, err)
	}
	for _, f := range done {
		f()
	}
	display.Flush()
	switch {
	case err == nil:
		r.express()
	case r.ctx.Err() != nil:
		r.result.Err = interruptedBy(context.Cause(r.ctx), err)
	default:
		r.result.Err = asError(err)
	}
	return r.end()
}

// remember keeps a cell for %history.
func (c *evaluator) remember(p magic.Past) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.past) == maxPast {
		c.past = slices.Delete(c.past, 0, 1)
	}
	c.past = append(c.past, p)
}

// event hands what a user did with a widget to the functions registered for it.
func (c *evaluator) event(r *run) error {
	var wrong error
	if err := r.shell.Call(r.cell.Name, func() { wrong = widgets.Receive(*r.cell.Comm) }); err != nil {
		return err
	}
	return wrong
}

// express evaluates the cell's expressions.
func (r *run) express() {
	if len(r.cell.Expressions) > 0 {
		r.result.Expressions = map[string]session.Expression{}
	}
	for name, code := range r.cell.Expressions {
		var e session.Expression
		if r.ctx.Err() != nil {
			e.Err = asError(context.Cause(r.ctx))
		} else {
			e.Value, e.Err = r.shell.Expression(code)
		}
		r.result.Expressions[name] = e
	}
}

// interruptedBy is the error of a cell that was interrupted: whatever it failed of came of
// that, and says where the cell was.
func interruptedBy(cause, err error) *session.Error {
	var failed *session.Error
	if !errors.As(err, &failed) {
		return asError(cause)
	}
	if failed.Name == "Interrupted" {
		return failed
	}
	e := asError(cause)
	if i := slices.IndexFunc(failed.Traceback, func(line string) bool { return strings.HasPrefix(line, "    ") }); i > 0 {
		e.Traceback = append(e.Traceback, failed.Traceback[i:]...)
	}
	return e
}

// asError is an error as a cell shows it.
func asError(err error) *session.Error {
	var failed *session.Error
	var magical *magic.Error
	switch {
	case errors.As(err, &failed):
		return failed
	case errors.Is(err, session.ErrInterrupted):
		return session.NewError("Interrupted", "the cell was interrupted")
	case errors.As(err, &magical):
		e := session.NewError(magical.Name, magical.Message)
		if magical.Line > 0 {
			e.Traceback = append(e.Traceback, fmt.Sprintf("in line %d of the cell", magical.Line))
		}
		return e
	}
	return session.NewError("Error", err.Error())
}

// Interrupt stops the main shell's running cell.
func (c *evaluator) Interrupt() {
	c.mu.Lock()
	r := c.main
	c.mu.Unlock()
	r.interrupt()
}

// Complete answers what could stand at the cursor.
func (c *evaluator) Complete(code string, cursor int) (session.Completion, error) {
	for _, e := range c.extensions {
		if e.Complete != nil {
			if answer, ok := e.Complete(code, cursor); ok {
				return answer, nil
			}
		}
	}
	return assist.Complete(c.golang.Scope(), c.magics, code, cursor), nil
}

// Inspect describes the name at the cursor.
func (c *evaluator) Inspect(code string, cursor, detail int) (*display.Bundle, error) {
	for _, e := range c.extensions {
		if e.Inspect != nil {
			if answer, ok := e.Inspect(code, cursor, detail); ok {
				return answer, nil
			}
		}
	}
	return assist.Inspect(c.golang.Scope(), c.magics, code, cursor, detail), nil
}

// IsComplete says whether code is ready to run.
func (c *evaluator) IsComplete(code string) (session.Completeness, error) {
	return assist.IsComplete(code), nil
}

// Where says where the running cell is.
func (c *evaluator) Where() (p session.Place, err error) {
	p.Cell, p.Line = c.golang.Where()
	for _, e := range c.extensions {
		if e.Where != nil {
			e.Where(&p)
		}
	}
	return p, nil
}

// Debug answers a request of the Debug Adapter Protocol.
func (c *evaluator) Debug(request json.RawMessage) (json.RawMessage, error) {
	return json.Marshal(c.debugger.Handle(request))
}

// debugged are the peers, as the debugger has them.
func (c *evaluator) debugged() (list []debugger.Peer) {
	for _, p := range c.peers() {
		list = append(list, p)
	}
	return list
}

// peers are the evaluators of other processes that extensions have.
func (c *evaluator) peers() (list []session.Evaluator) {
	for _, e := range c.extensions {
		if e.Peers != nil {
			list = append(list, e.Peers()...)
		}
	}
	return list
}

// Close ends what the extensions began.
func (c *evaluator) Close() error {
	for _, e := range c.extensions {
		if e.Close != nil {
			e.Close()
		}
	}
	return nil
}

// env is what the cell's magics see of the evaluator.
type env struct {
	*evaluator
	run *run
}

func (e env) Stdout() io.Writer { return e.to(os.Stdout, session.Stdout) }
func (e env) Stderr() io.Writer { return e.to(os.Stderr, session.Stderr) }

func (e env) to(file *os.File, kind session.OutputKind) io.Writer {
	if e.run.text == nil {
		return file
	}
	return writer{e.run.text, kind}
}

func (e env) Eval(code string, show bool) error {
	for _, x := range e.extensions {
		if x.Eval != nil && e.run.text == nil {
			if handled, err := x.Eval(e.run.ctx, code, show); handled {
				return err
			}
		}
	}
	r := e.run.shell.Eval(e.run.cell.Name, code, e.run.cell.Silent || !show)
	if r.Err != nil {
		return r.Err
	}
	return e.setValue(e.run, r.Value)
}

// setValue makes b, if it is not nil, the value of the cell. A cell has one
// value, its last; those of magics before it are displays.
func (c *evaluator) setValue(r *run, b *display.Bundle) error {
	if b == nil {
		return nil
	}
	if r.result.Value != nil {
		if err := c.show(session.Output{Kind: session.Display, Bundle: *r.result.Value}); err != nil {
			return err
		}
	}
	r.result.Value = b
	return nil
}

func (e env) Syntax(code string) error {
	if err := e.golang.Syntax(e.run.cell.Name, code); err != nil {
		return err
	}
	return nil
}

var basics = map[reflect.Kind]reflect.Type{
	reflect.String: reflect.TypeFor[string](), reflect.Bool: reflect.TypeFor[bool](),
	reflect.Float32: reflect.TypeFor[float32](), reflect.Float64: reflect.TypeFor[float64](),
	reflect.Int: reflect.TypeFor[int64](), reflect.Int8: reflect.TypeFor[int64](), reflect.Int16: reflect.TypeFor[int64](),
	reflect.Int32: reflect.TypeFor[int64](), reflect.Int64: reflect.TypeFor[int64](),
	reflect.Uint: reflect.TypeFor[uint64](), reflect.Uint8: reflect.TypeFor[uint64](), reflect.Uint16: reflect.TypeFor[uint64](),
	reflect.Uint32: reflect.TypeFor[uint64](), reflect.Uint64: reflect.TypeFor[uint64](),
}

func (e env) Text(expression string, line, column int) (string, error) {
	const open = tellBuiltin + "("
	code := strings.Repeat("\n", line-1) + strings.Repeat(" ", max(0, column-1-len(open))) + open + expression + ")"
	if r := e.run.shell.Eval(e.run.cell.Name, code, true); r.Err != nil {
		return "", r.Err
	}
	value := e.run.told
	e.run.told = nil
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.String, reflect.Bool, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if v.Type().PkgPath() == "main" { // a cell's type: its value, whatever its methods say
			v = v.Convert(basics[v.Kind()])
		}
		return fmt.Sprint(v.Interface()), nil
	}
	return "", &magic.Error{Name: "TypeError", Line: line, Message: fmt.Sprintf("%s is not a number, string or bool, so the arguments of a magic cannot use it", expression)}
}

// value is the value of an expression, nil if it has none.
func (c *evaluator) value(expression string) any {
	if r := c.golang.Eval("expression", tellBuiltin+"("+expression+")", true); r.Err != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	value := c.main.told
	c.main.told = nil
	return value
}

func (e env) Define(name string, value any) error { return e.golang.Define(name, value) }
func (e env) Compilations() (int, bool)           { return e.golang.Compilations() }
func (e env) Goroutines() map[string]int          { return e.golang.Goroutines() }
func (e env) StopGoroutines(cell string)          { e.golang.StopGoroutines(cell) }

func (e env) Reset() error {
	err := e.golang.Reset()
	e.attempts.forget()
	e.verdicts.forget()
	for _, x := range e.extensions {
		if err == nil && x.Reset != nil {
			err = x.Reset(func(code string) error { return e.Eval(code, false) })
		}
	}
	return err
}

func (e env) Names() []magic.Name {
	var list []magic.Name
	for _, n := range e.golang.Names() {
		shown := magic.Name{Name: n.Name, Kind: n.Kind, Type: n.Type}
		if n.Kind == "var" {
			shown.Value = func() string { return e.golang.Value(n.Name) }
			shown.Content = func() (any, bool) {
				values, err := e.golang.Values("value", n.Name)
				if err != nil || len(values) != 1 {
					return nil, false
				}
				return values[0], true
			}
		}
		list = append(list, shown)
	}
	return list
}

func (e env) Declarations(name string) []magic.Declaration {
	var list []magic.Declaration
	for _, d := range e.golang.Declarations(name) {
		list = append(list, magic.Declaration(d))
	}
	return list
}

func (e env) History() []magic.Past {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.past)
}
func (e env) SetNextInput(text string) { e.run.result.NextInput = &text }
func (e env) Pager(b display.Bundle)   { e.run.result.Pager = &b }

func (e env) Inspect(name string) *display.Bundle {
	b, _ := e.evaluator.Inspect(name, len(name), 0)
	return b
}
