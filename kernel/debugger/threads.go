package debugger

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"gocuda/kernel/golang"
)

// frame is one call of a thread that stands still.
type frame struct {
	thread *golang.Thread
	call   *golang.Activation
}

// stopped tells the client that a thread has stopped.
func (s *Server) stopped(stop golang.Stop) {
	s.mu.Lock()
	s.clear()
	s.last = &stop
	s.mu.Unlock()
	alone := s.name() == "" // the other ranks go on, until they wait for this one
	body := object{"reason": stop.Reason, "threadId": s.thread(stop.Thread), "allThreadsStopped": alone, "preserveFocusHint": false}
	if stop.Reason == golang.StopPanic {
		body["description"] = "Stopped at a panic"
		body["text"] = panicText(stop.Panic)
	}
	s.event("stopped", body)
}

func panicText(v any) string {
	switch v := v.(type) {
	case nil:
		return "panic"
	case error:
		return v.Error()
	}
	return fmt.Sprint(v)
}

func (s *Server) resumed() {
	s.mu.Lock()
	s.clear()
	s.mu.Unlock()
	s.event("continued", object{"threadId": s.base() + 1, "allThreadsContinued": true})
}

// logged shows what a breakpoint says, in the cell and in the client's console.
func (s *Server) logged(cell string, line int, text string) {
	text = fmt.Sprintf("%s:%d %s\n", cell, line, text)
	s.mu.Lock()
	path := s.paths[cell]
	s.mu.Unlock()
	s.print(text)
	s.event("output", object{"category": "console", "output": text, "source": object{"name": cell, "path": path}, "line": line - s.first()})
}

// thread is the number of a thread: 1 for the own goroutine of the main shell's cell.
func (s *Server) thread(t *golang.Thread) int {
	if t.Main() && !t.Group.Beside {
		return s.base() + 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.goroutines[t.Goroutine]
	if !ok {
		s.threads++
		n = 1 + s.threads
		s.goroutines[t.Goroutine] = n
	}
	return s.base() + n
}

// find is the thread of a number. JupyterLab takes 1 for the thread that stopped.
func (s *Server) find(id int) (*golang.Thread, error) {
	var found *golang.Thread
	for _, t := range s.d.Threads() {
		if s.thread(t) == id {
			found = t
		}
	}
	if id == s.base()+1 {
		if by, held := s.d.Held(); held {
			if found == nil {
				return by, nil
			}
			if _, stands := s.d.Stack(found); !stands {
				return by, nil
			}
		}
	}
	if found == nil {
		return nil, fmt.Errorf("there is no thread %d", id)
	}
	return found, nil
}

func (s *Server) listThreads(arguments) (any, error) {
	list := []any{}
	for _, t := range s.d.Threads() {
		name := "goroutine"
		if t.Group != nil {
			name = t.Group.Name
		}
		if !t.Main() {
			name += fmt.Sprintf(", goroutine %d", t.Goroutine)
		}
		if s.name() != "" {
			name = s.name() + ": " + name
		}
		list = append(list, object{"id": s.thread(t), "name": name})
	}
	if len(list) == 0 && s.name() == "" {
		list = append(list, object{"id": s.base() + 1, "name": "notebook"})
	}
	return object{"threads": append(list, s.peerThreads()...)}, nil
}

func (s *Server) stackTrace(a arguments) (any, error) {
	var asked struct{ ThreadID, StartFrame, Levels int }
	if err := a.decode(&asked); err != nil {
		return nil, err
	}
	t, err := s.find(asked.ThreadID)
	if err != nil {
		return nil, err
	}
	stack, stands := s.d.Stack(t)
	if !stands {
		return nil, fmt.Errorf("thread %d runs", asked.ThreadID)
	}
	list := []object{}
	for i, call := range stack {
		if i < asked.StartFrame || asked.Levels > 0 && i >= asked.StartFrame+asked.Levels {
			continue
		}
		at := call.Stop()
		s.mu.Lock()
		path := s.paths[call.Func.File]
		s.handles++
		id := s.base() + s.handles
		s.frames[id] = &frame{t, call}
		s.mu.Unlock()
		name := call.Func.File
		if call.Func.Name != "" {
			name = strings.TrimPrefix(call.Func.Name, "main.") + " (" + call.Func.File + ")"
		}
		if call.Lane != nil {
			name += " " + call.Lane.Name
		}
		if s.name() != "" {
			name += ", " + s.name()
		}
		one := object{"id": id, "name": name, "line": at.Line - s.first(), "column": at.Column, "presentationHint": "normal"}
		if path != "" {
			one["source"] = object{"name": call.Func.File, "path": path}
		} else {
			one["source"] = object{"name": filepath.Base(call.Func.File)}
		}
		list = append(list, one)
	}
	return object{"stackFrames": list, "totalFrames": len(stack)}, nil
}

// frame is the frame of a number; 0 is the innermost of the thread that stopped.
func (s *Server) frame(id int) (*frame, error) {
	if id == 0 {
		by, held := s.d.Held()
		if !held {
			return nil, errRuns
		}
		stack, _ := s.d.Stack(by)
		if len(stack) == 0 {
			return nil, errRuns
		}
		return &frame{by, stack[0]}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.frames[id]
	if f == nil {
		return nil, fmt.Errorf("frame %d is gone: the program went on", id)
	}
	return f, nil
}

var errRuns = errors.New("no thread is stopped")

func (s *Server) goOn(arguments) (any, error) {
	if _, held := s.d.Held(); held {
		s.goes()
	}
	s.d.Continue()
	return object{"allThreadsContinued": true}, nil
}

// goes tells that all goes on.
func (s *Server) goes() {
	s.mu.Lock()
	id := s.base() + 1
	if s.last != nil {
		t := s.last.Thread
		s.mu.Unlock()
		id = s.thread(t)
		s.mu.Lock()
	}
	s.clear()
	s.mu.Unlock()
	s.event("continued", object{"threadId": id, "allThreadsContinued": s.name() == ""})
}

func (s *Server) step(a arguments, kind golang.StepKind) (any, error) {
	var asked struct{ ThreadID int }
	if err := a.decode(&asked); err != nil {
		return nil, err
	}
	t, err := s.find(asked.ThreadID)
	if err != nil {
		return nil, err
	}
	if _, stands := s.d.Stack(t); !stands {
		return nil, fmt.Errorf("thread %d runs", asked.ThreadID)
	}
	s.goes()
	s.d.Step(t, kind)
	return nil, nil
}

func (s *Server) pause(arguments) (any, error) {
	s.d.Pause()
	return nil, nil
}

func (s *Server) exceptionInfo(arguments) (any, error) {
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	if last == nil || last.Reason != golang.StopPanic {
		return nil, errors.New("no thread is stopped at a panic")
	}
	return object{"exceptionId": "panic", "description": panicText(last.Panic), "breakMode": "always"}, nil
}
