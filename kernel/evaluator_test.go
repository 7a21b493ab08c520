package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"gocuda/kernel/display"
	"gocuda/kernel/session"
)

// scripted is an evaluator whose cells are commands, one a line:
//
//	print TEXT     stdout; \n ends a line
//	warn TEXT      stderr
//	value TEXT     the value of the cell
//	show ID TEXT   display data; ID - has none
//	update ID TEXT
//	clear WAIT
//	fail NAME TEXT ends the cell with an error
//	ask PROMPT     input, printed
//	block [x...]   until it is interrupted or closed; once for each word
//	later TEXT     printed by a goroutine, after release
//	hold           until release
//	panic          panics in the evaluator
//	comm TYPE ID TEXT  a message of a comm
//	tell TYPE ID JSON  a message of a widget's comm with that data
//	restart        ends as one that was replaced
//
// The code of a comm's message is its data.
type scripted struct {
	output func(session.Output)
	input  session.InputFunc

	interrupts chan struct{}
	release    chan struct{}
	began      chan string // names of cells, as they begin
	events     chan string // those without end, as they begin
	closed     chan struct{}
	once       sync.Once

	mu    sync.Mutex
	stops map[string]func() // of subshells
}

func newScripted() *scripted {
	return &scripted{
		interrupts: make(chan struct{}, 16), release: make(chan struct{}),
		began: make(chan string, 1<<16), events: make(chan string, 1), closed: make(chan struct{}), stops: map[string]func(){},
	}
}

func (s *scripted) start(output func(session.Output), input session.InputFunc) (session.Evaluator, error) {
	s.output, s.input = output, input
	return s, nil
}

func plain(text string) display.Bundle {
	return display.Bundle{Data: map[string]any{"text/plain": text}}
}

func (s *scripted) Execute(c session.Cell) (r session.Result) {
	if c.Shell != "" {
		code := c.Code
		if c.Comm != nil {
			json.Unmarshal(c.Comm.Data, &code)
		}
		return s.beside(c, code)
	}
	for len(s.interrupts) > 0 {
		<-s.interrupts
	}
	s.began <- c.Name
	r.Expressions = map[string]session.Expression{}
	for name, e := range c.Expressions {
		if e == "bad" {
			r.Expressions[name] = session.Expression{Err: &session.Error{Name: "CompileError", Message: "undefined: bad"}}
		} else {
			b := plain(e)
			r.Expressions[name] = session.Expression{Value: &b}
		}
	}
	code := c.Code
	if c.Comm != nil {
		json.Unmarshal(c.Comm.Data, &code)
		code = strings.ReplaceAll(code, "TYPE", c.Comm.Type)
	}
	run := s.script(code)
	run.Expressions = r.Expressions
	return run
}

// script runs commands.
func (s *scripted) script(code string) (r session.Result) {
	for _, line := range strings.Split(code, "\n") {
		command, rest, _ := strings.Cut(line, " ")
		switch command {
		case "print":
			s.output(session.Output{Kind: session.Stdout, Text: strings.ReplaceAll(rest, `\n`, "\n")})
		case "warn":
			s.output(session.Output{Kind: session.Stderr, Text: rest})
		case "value":
			s.output(session.Output{Kind: session.Value, Bundle: plain(rest)})
		case "nan":
			zero := 0.0
			s.output(session.Output{Kind: session.Display, Bundle: display.Bundle{Data: map[string]any{"application/json": zero / zero}}})
		case "show", "update":
			id, text, _ := strings.Cut(rest, " ")
			b := plain(text)
			if id != "-" {
				b.DisplayID = id
			}
			kind := session.Display
			if command == "update" {
				kind = session.Update
			}
			s.output(session.Output{Kind: kind, Bundle: b})
		case "clear":
			s.output(session.Output{Kind: session.Clear, Wait: rest == "true"})
		case "next":
			r.NextInput = &rest
		case "page":
			b := plain(rest)
			r.Pager = &b
		case "ask":
			answer, err := s.input(rest, rest == "Password: ")
			if err != nil {
				r.Err = &session.Error{Name: "InputError", Message: err.Error()}
				return r
			}
			s.output(session.Output{Kind: session.Stdout, Text: answer})
		case "sleep":
			d, _ := time.ParseDuration(rest)
			time.Sleep(d)
		case "block":
			for n := max(1, len(strings.Fields(rest))); n > 0; n-- {
				select {
				case <-s.interrupts:
					r.Err = &session.Error{Name: "Interrupted", Message: "interrupted"}
				case <-s.closed:
					r.Err = &session.Error{Name: "EvaluatorError", Message: "closed"}
					return r
				}
			}
			return r
		case "later":
			go func() {
				<-s.release
				s.output(session.Output{Kind: session.Stdout, Text: rest})
			}()
		case "fail":
			name, text, _ := strings.Cut(rest, " ")
			r.Err = &session.Error{Name: name, Message: text, Traceback: []string{"\x1b[31m" + name + "\x1b[0m: " + text}}
			return r
		case "flood":
			n, _ := strconv.Atoi(rest)
			for i := range n {
				s.output(session.Output{Kind: session.Stdout, Text: fmt.Sprintf("line %d\n", i)})
			}
		case "hold":
			<-s.release
		case "comm":
			kind, rest, _ := strings.Cut(rest, " ")
			id, text, _ := strings.Cut(rest, " ")
			data, _ := json.Marshal(text)
			m := &session.Comm{Type: kind, ID: id, Data: data, Buffers: [][]byte{{1, 2}}}
			if kind == "open" {
				m.Target, m.Metadata = "jupyter.widget", json.RawMessage(`{"version":"2.1.0"}`)
			}
			s.output(session.Output{Kind: session.ToComm, Comm: m})
		case "tell":
			kind, rest, _ := strings.Cut(rest, " ")
			id, data, _ := strings.Cut(rest, " ")
			s.output(session.Output{Kind: session.ToComm, Comm: &session.Comm{Type: kind, ID: id, Target: "jupyter.widget", Data: json.RawMessage(data)}})
		case "restart":
			r.Restarted = true
		case "panic":
			panic("the evaluator's own fault")
		}
	}
	return r
}

func (s *scripted) InterruptShell(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stop := s.stops[name]; stop != nil {
		stop()
	}
}

// beside runs the cell of a subshell.
func (s *scripted) beside(c session.Cell, code string) session.Result {
	stop := make(chan struct{})
	s.mu.Lock()
	s.stops[c.Shell] = sync.OnceFunc(func() { close(stop) })
	s.mu.Unlock()
	if code == "until stopped" {
		s.events <- code
		<-stop
		return session.Result{Err: session.NewError("Interrupted", "the event was interrupted")}
	}
	own := &scripted{output: func(o session.Output) {
		o.Parent = c.Message
		s.output(o)
	}}
	return own.script(code)
}

func (s *scripted) Debug(request json.RawMessage) (json.RawMessage, error) {
	var asked struct {
		Seq     int    `json:"seq"`
		Command string `json:"command"`
	}
	json.Unmarshal(request, &asked)
	if asked.Command == "attach" {
		s.output(session.Output{Kind: session.Debug, Event: json.RawMessage(`{"type":"event","event":"initialized"}`)})
	}
	return json.Marshal(map[string]any{"type": "response", "request_seq": asked.Seq, "command": asked.Command, "success": true})
}

func (s *scripted) Interrupt() { s.interrupts <- struct{}{} }

func (s *scripted) Complete(code string, cursor int) (session.Completion, error) {
	if code == "error" {
		return session.Completion{}, errors.New("cannot complete")
	}
	word := code[:cursor]
	start := strings.LastIndexByte(word, ' ') + 1
	return session.Completion{Start: start, End: cursor, Matches: []session.Match{
		{Text: word[start:] + "ln", Kind: "function", Signature: "func(a ...any)"},
	}}, nil
}

func (s *scripted) Inspect(code string, cursor, detail int) (*display.Bundle, error) {
	if code == "nothing" {
		return nil, nil
	}
	b := plain(fmt.Sprintf("%s|%d", code[:cursor], detail))
	return &b, nil
}

func (s *scripted) IsComplete(code string) (session.Completeness, error) {
	if strings.HasSuffix(code, "{") {
		return session.Completeness{Status: "incomplete", Indent: "\t"}, nil
	}
	return session.Completeness{Status: "complete"}, nil
}

func (s *scripted) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

func (s *scripted) Where() (session.Place, error) { return session.Place{}, nil }
