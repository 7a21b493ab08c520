package session

import (
	"encoding/json"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"gocuda/kernel/display"
	"gocuda/kernel/session/link"
)

// script is an evaluator whose answers the test knows.
type script struct {
	console *Console
	stop    chan struct{}
	shells  map[string]chan bool
}

func (s script) Execute(c Cell) Result {
	if c.Comm != nil {
		s.console.Post(Output{Kind: ToComm, Comm: c.Comm})
		return Result{}
	}
	if shell, ok := strings.CutPrefix(c.Code, "wait for "); ok {
		s.console.Post(Output{Kind: Stdout, Text: "runs"})
		<-s.shells[shell]
		return Result{Err: NewError("Interrupted", shell)}
	}
	switch c.Code {
	case "ask":
		text, err := s.console.Input("name?", true)
		if err != nil {
			return Result{Err: NewError("Input", err.Error())}
		}
		return Result{Data: []byte(text)}
	case "wait":
		<-s.stop
		return Result{Err: NewError("Interrupted", "stopped")}
	case "unsendable":
		return Result{Value: &display.Bundle{Data: map[string]any{"x": func() {}}}}
	}
	s.console.Post(Output{Kind: Stdout, Text: "posted"})
	s.console.Show(Output{Kind: Display})
	return Result{}
}
func (s script) Interrupt() {
	select {
	case <-s.stop:
	default:
		close(s.stop)
	}
}
func (script) Complete(code string, cursor int) (Completion, error) {
	return Completion{Start: cursor}, nil
}
func (script) Inspect(string, int, int) (*display.Bundle, error) {
	return nil, errors.New("no such name")
}
func (script) IsComplete(string) (Completeness, error)                  { panic("no answer") }
func (script) Where() (Place, error)                                    { return Place{Cell: "In[1]"}, nil }
func (script) Close() error                                             { return nil }
func (s script) Debug(request json.RawMessage) (json.RawMessage, error) { return request, nil }

func (s script) InterruptShell(name string) {
	select {
	case s.shells[name] <- true:
	default:
	}
}

// connected is a client of a script.
func connected(t *testing.T, o ClientOptions) *Client {
	a, b := net.Pipe()
	if o.Output == nil {
		o.Output = func(Output) {}
	}
	c := NewClient(link.New(a), o)
	go c.Listen()
	served := make(chan error, 1)
	go func() {
		served <- Serve(link.New(b), func(c *Console) (Evaluator, error) {
			return script{c, make(chan struct{}), map[string]chan bool{"a": make(chan bool, 1), "b": make(chan bool, 1)}}, nil
		})
	}()
	t.Cleanup(func() {
		c.Close()
		<-served
	})
	<-c.ready
	return c
}

func TestClient(t *testing.T) {
	var shown []string
	asked := ""
	c := connected(t, ClientOptions{
		Output: func(o Output) { shown = append(shown, string(o.Kind)+o.Text) },
		Input: func(prompt string, password bool) (string, error) {
			asked = prompt
			if !password {
				return "", errors.New("it is to be hidden")
			}
			return "Ann", nil
		},
	})
	if r := c.Execute(Cell{}); r.Err != nil || strings.Join(shown, " ") != "stdoutposted display" {
		t.Errorf("result %+v, shown %q", r, shown)
	}
	if r := c.Execute(Cell{Code: "ask", AllowInput: true}); string(r.Data) != "Ann" || asked != "name?" {
		t.Errorf("result %+v, asked %q", r, asked)
	}
	if r := c.Execute(Cell{Code: "ask"}); r.Err == nil || !strings.Contains(r.Err.Message, "does not take input") {
		t.Errorf("a cell that must not ask gave %+v", r)
	}
	if r := c.Execute(Cell{Code: "unsendable"}); r.Err == nil || !strings.Contains(r.Err.Message, "cannot be sent") {
		t.Errorf("a result that JSON cannot hold gave %+v", r)
	}
	if a, err := c.Complete("x", 7); err != nil || a.Start != 7 {
		t.Errorf("completion %+v, %v", a, err)
	}
	if _, err := c.Inspect("x", 1, 0); err == nil || err.Error() != "no such name" {
		t.Errorf("inspection: %v", err)
	}
	if _, err := c.IsComplete("x"); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("completeness: %v", err)
	}
	if p, err := c.Where(); err != nil || p.Cell != "In[1]" {
		t.Errorf("where: %v, %v", p, err)
	}
	done := make(chan Result)
	go func() { done <- c.Execute(Cell{Code: "wait"}) }()
	for stopped := false; !stopped; {
		c.Interrupt()
		select {
		case r := <-done:
			if stopped = true; r.Err == nil || r.Err.Name != "Interrupted" {
				t.Errorf("interrupted: %+v", r)
			}
		case <-time.After(time.Millisecond):
		}
	}
	c.Close()
	if _, err := c.Where(); err == nil {
		t.Error("an evaluator that is gone answers")
	}
	if r := c.Execute(Cell{}); r.Err == nil || r.Err.Name != "EvaluatorDied" {
		t.Errorf("an evaluator that is gone runs a cell: %+v", r)
	}
}

// FuzzClient gives any frames to the near end of a link: it takes them, or
// gives the evaluator up.
func FuzzClient(f *testing.F) {
	for kind := range byte(16) {
		f.Add(kind, uint64(1), []byte(`{"kind":"display","text":"x","value":{}}`))
	}
	f.Add(kindEnded, uint64(0), []byte(`"why"`))
	f.Fuzz(func(t *testing.T, kind byte, id uint64, body []byte) {
		a, b := net.Pipe()
		defer b.Close()
		defer a.Close()
		go func() { // the answers to what it asks
			for c := link.New(b); ; {
				if _, err := c.Receive(); err != nil {
					return
				}
			}
		}()
		c := NewClient(link.New(a), ClientOptions{
			Output: func(Output) {}, Input: func(string, bool) (string, error) { return "", nil },
		})
		err := c.handle(link.Frame{Kind: kind, ID: id, Body: body})
		if known := kind >= kindReady && kind <= kindEnded; !known && err == nil {
			t.Errorf("a frame of kind %d is taken", kind)
		}
	})
}

// A subshell's cell runs beside another, and is interrupted alone.
func TestSubshells(t *testing.T) {
	told := make(chan Output, 8)
	c := connected(t, ClientOptions{Output: func(o Output) { told <- o }})
	cell := make(chan Result, 1)
	go func() { cell <- c.Execute(Cell{Code: "wait"}) }()
	m := Comm{ID: "short", Type: "msg", Buffers: [][]byte{{1}}}
	if r := c.Execute(Cell{Shell: "a", Comm: &m}); r.Err != nil {
		t.Error(r.Err)
	}
	if o := <-told; o.Kind != ToComm || o.Comm.ID != "short" || len(o.Comm.Buffers) != 1 {
		t.Errorf("%+v", o)
	}
	ended := make(chan Result, 2)
	for _, shell := range []string{"a", "b"} {
		go func() { ended <- c.Execute(Cell{Shell: shell, Code: "wait for " + shell}) }()
	}
	for range 2 {
		if o := <-told; o.Kind != Stdout || o.Text != "runs" {
			t.Errorf("%+v", o)
		}
	}
	for _, shell := range []string{"b", "a"} {
		c.InterruptShell(shell)
		if r := <-ended; r.Err == nil || r.Err.Message != shell {
			t.Errorf("%s ended of %+v", shell, r.Err)
		}
	}
	select {
	case r := <-cell:
		t.Errorf("the main shell's cell ended with them: %+v", r)
	default:
	}
	for {
		c.Interrupt() // one could come before the cell
		select {
		case <-cell:
			return
		case <-time.After(time.Millisecond):
		}
	}
}
