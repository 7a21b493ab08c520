package debugger

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"
)

// Peer is an evaluator of another process, such as a rank, with a Server of its own:
// its threads are threads of this one. Numbers tell whose they are: see Span.
type Peer interface {
	Debug(request json.RawMessage) (response json.RawMessage, err error)
}

// everyone are the requests that are for all peers as well.
var everyone = map[string]bool{
	"configurationDone": true, "disconnect": true, "terminate": true, "setBreakpoints": true, "setExceptionBreakpoints": true, "dumpCell": true,
}

// peers are those that there are now. The ones that have come since are told what the
// client has set.
func (s *Server) peers() []Peer {
	if s.options.Peers == nil {
		return nil
	}
	list := s.options.Peers()
	s.mu.Lock()
	attached := s.attached
	var fresh []int
	for i, p := range list {
		if attached && (i >= len(s.joined) || s.joined[i] != p) {
			fresh = append(fresh, i)
		}
	}
	s.mu.Unlock()
	for _, i := range fresh {
		s.join(i, list[i])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if attached {
		s.joined = list
	}
	maps.DeleteFunc(s.held, func(i int, _ bool) bool { return i >= len(list) })
	return list
}

// join attaches a peer.
func (s *Server) join(i int, p Peer) {
	s.mu.Lock()
	zeroBased, client, panics := s.zeroBased, s.client, s.panics
	points := make(map[string][]breakpoint)
	codes := make(map[string]string)
	for path := range s.breakpoints {
		points[path], codes[path] = s.told(path), s.codes[path]
	}
	delete(s.held, i)
	s.mu.Unlock()
	tell := func(command string, args object) { s.tell(i, p, command, args) }
	tell("initialize", object{"linesStartAt1": !zeroBased, "clientID": client})
	tell("attach", object{"gocudaPeer": identity{(i + 1) * Span, fmt.Sprintf("rank %d", i)}})
	for path, list := range points {
		tell("dumpCell", object{"code": codes[path]})
		tell("setBreakpoints", object{"source": object{"path": path}, "breakpoints": list})
	}
	tell("setExceptionBreakpoints", object{"filters": panics})
}

// tell sends a peer a request of our own.
func (s *Server) tell(i int, p Peer, command string, args object) (Response, error) {
	arguments, err := json.Marshal(args)
	if err != nil {
		return Response{}, err
	}
	return s.pass(i, p, Request{Seq: s.number(), Type: "request", Command: command, Arguments: arguments})
}

// peerPatience is how long an answer of a peer is waited for; once one is late, no longer
// for others until it has come.
const peerPatience = 2 * time.Second

// pass passes a request on to peer i. It fails if the peer's process stands still; a peer
// that runs code of cells for the answer does not: it answers others meanwhile.
func (s *Server) pass(i int, p Peer, r Request) (out Response, err error) {
	message, err := json.Marshal(r)
	if err != nil {
		return out, err
	}
	type result struct {
		answer json.RawMessage
		err    error
	}
	done := make(chan result, 1)
	waits := !runsCode(r.Command)
	s.mu.Lock()
	patience := peerPatience
	if s.asked[p] > 0 {
		patience = time.Millisecond
	}
	if waits {
		s.asked[p]++
	}
	s.mu.Unlock()
	go func() {
		answer, err := p.Debug(message)
		if waits {
			s.mu.Lock()
			if s.asked[p]--; s.asked[p] == 0 {
				delete(s.asked, p)
			}
			s.mu.Unlock()
		}
		done <- result{answer, err}
	}()
	for {
		select {
		case got := <-done:
			if got.err != nil {
				return out, got.err
			}
			return out, json.Unmarshal(got.answer, &out)
		case <-time.After(patience):
		}
		if waits {
			return out, late(i)
		}
		if _, err := s.tell(i, p, "debugInfo", nil); err != nil {
			return out, err
		}
		patience = peerPatience
	}
}

// late is a peer that does not answer.
type late int

func (i late) Error() string {
	return fmt.Sprintf("rank %d does not answer: its process stands still", int(i))
}

// ask sends peers a request of each, nil for none, and returns their answers, in order.
func (s *Server) ask(list []Peer, request func(i int) *Request) []answered {
	out := make([]answered, len(list))
	var wait sync.WaitGroup
	for i, p := range list {
		if r := request(i); r != nil {
			wait.Go(func() {
				response, err := s.pass(i, p, *r)
				out[i] = answered{i, response, err}
			})
		}
	}
	wait.Wait()
	return out
}

// answered is how a peer answered.
type answered struct {
	peer int
	Response
	err error
}

// of is which peer a request is for: -1 for this server itself.
func (s *Server) of(r Request) int {
	var asked struct{ ThreadID, FrameID, VariablesReference, SrcFrameID int }
	if arguments(r.Arguments).decode(&asked) != nil {
		return -1
	}
	id := max(asked.ThreadID, asked.FrameID, asked.VariablesReference, asked.SrcFrameID)
	if id >= Span {
		return id/Span - 1
	}
	// What names no thread, or thread 1, means the one that has stopped.
	if asked.FrameID != 0 || asked.VariablesReference != 0 || asked.SrcFrameID != 0 || asked.ThreadID > 1 {
		return -1
	}
	switch r.Command {
	case "stackTrace", "next", "stepIn", "stepOut", "exceptionInfo", "evaluate", "setExpression", "richInspectVariables", "copyToGlobals":
	default:
		return -1
	}
	if _, held := s.d.Held(); held {
		return -1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[s.lastHeld] {
		return s.lastHeld
	}
	for i := range s.held {
		return i
	}
	return -1
}

// route has peers answer what is for them; ok is false for what this server answers.
func (s *Server) route(r Request) (answer Response, ok bool) {
	list := s.peers()
	if len(list) == 0 {
		return Response{}, false
	}
	if i := s.of(r); i >= 0 {
		if i >= len(list) {
			return s.response(r, nil, fmt.Errorf("rank %d is gone", i)), true
		}
		if r.Command == "next" || r.Command == "stepIn" || r.Command == "stepOut" || r.Command == "stackTrace" || r.Command == "exceptionInfo" {
			r.Arguments = withThread(r.Arguments, (i+1)*Span+1)
		}
		answer, err := s.pass(i, list[i], r)
		if err != nil {
			return s.response(r, nil, err), true
		}
		answer.RequestSeq = r.Seq
		return answer, true
	}
	if everyone[r.Command] {
		for _, a := range s.ask(list, func(int) *Request { return &r }) {
			if errors.As(a.err, new(late)) {
				s.event("output", object{"category": "console", "output": a.err.Error() + "\n"})
			}
		}
		if r.Command == "disconnect" || r.Command == "terminate" {
			s.mu.Lock()
			s.joined = nil
			clear(s.held)
			s.mu.Unlock()
		}
	}
	if r.Command == "continue" || r.Command == "pause" {
		s.ask(list, func(i int) *Request {
			s.mu.Lock()
			held := s.held[i]
			s.mu.Unlock()
			if !held && r.Command != "pause" {
				return nil
			}
			again := r
			again.Arguments = withThread(r.Arguments, (i+1)*Span+1)
			return &again
		})
	}
	return Response{}, false
}

// withThread names a thread in a request that names none, or 1.
func withThread(args json.RawMessage, id int) json.RawMessage {
	var asked map[string]any
	if json.Unmarshal(args, &asked) != nil || asked == nil {
		asked = make(map[string]any)
	}
	if n, ok := asked["threadId"].(float64); ok && n > 1 {
		return args
	}
	asked["threadId"] = id
	out, err := json.Marshal(asked)
	if err != nil {
		return args
	}
	return out
}

// PeerEvent passes an event of a peer on to the client.
func (s *Server) PeerEvent(i int, event json.RawMessage) {
	var e struct{ Event string }
	if json.Unmarshal(event, &e) != nil || e.Event == "initialized" {
		return
	}
	s.mu.Lock()
	switch e.Event {
	case "stopped":
		s.held[i], s.lastHeld = true, i
	case "continued":
		delete(s.held, i)
	}
	s.mu.Unlock()
	s.options.Event(event)
}

// peerThreads are the threads of all peers. One that does not answer has one, which says so.
func (s *Server) peerThreads() (list []any) {
	for _, a := range s.askOwn("threads") {
		if errors.As(a.err, new(late)) {
			list = append(list, object{"id": (a.peer+1)*Span + 1, "name": a.err.Error()})
		}
		if body, ok := a.Body.(map[string]any); ok {
			if threads, ok := body["threads"].([]any); ok {
				list = append(list, threads...)
			}
		}
	}
	return list
}

// peerStopped are the stopped threads of all peers.
func (s *Server) peerStopped() (list []int) {
	for _, a := range s.askOwn("debugInfo") {
		if body, ok := a.Body.(map[string]any); ok {
			if threads, ok := body["stoppedThreads"].([]any); ok {
				for _, id := range threads {
					if n, ok := id.(float64); ok {
						list = append(list, int(n))
					}
				}
			}
		}
	}
	return list
}

// askOwn asks all peers, by a request of our own without arguments.
func (s *Server) askOwn(command string) []answered {
	r := Request{Seq: s.number(), Type: "request", Command: command}
	return s.ask(s.peers(), func(int) *Request { return &r })
}
