package debugger

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	tell := func(command string, args object) {
		s.tell(p, command, args)
	}
	tell("initialize", object{"linesStartAt1": !zeroBased, "clientID": client})
	tell("attach", object{"gocudaPeer": identity{(i + 1) * Span, fmt.Sprintf("rank %d", i)}})
	for path, list := range points {
		tell("dumpCell", object{"code": codes[path]})
		tell("setBreakpoints", object{"source": object{"path": path}, "breakpoints": list})
	}
	tell("setExceptionBreakpoints", object{"filters": panics})
}

// tell sends a peer a request of our own.
func (s *Server) tell(p Peer, command string, args object) (Response, error) {
	arguments, err := json.Marshal(args)
	if err != nil {
		return Response{}, err
	}
	return s.pass(p, Request{Seq: s.number(), Type: "request", Command: command, Arguments: arguments})
}

// pass passes a request on to a peer.
func (s *Server) pass(p Peer, r Request) (out Response, err error) {
	message, err := json.Marshal(r)
	if err != nil {
		return out, err
	}
	if runsCode(r.Command) {
		answer, err := p.Debug(message)
		if err != nil {
			return out, err
		}
		return out, json.Unmarshal(answer, &out)
	}
	type result struct {
		answer json.RawMessage
		err    error
	}
	done := make(chan result, 1)
	s.mu.Lock()
	patience := peerPatience
	if s.asked[p] > 0 {
		patience = time.Millisecond
	}
	s.asked[p]++
	s.mu.Unlock()
	go func() {
		answer, err := p.Debug(message)
		s.mu.Lock()
		if s.asked[p]--; s.asked[p] == 0 {
			delete(s.asked, p)
		}
		s.mu.Unlock()
		done <- result{answer, err}
	}()
	select {
	case got := <-done:
		if got.err != nil {
			return out, got.err
		}
		return out, json.Unmarshal(got.answer, &out)
	case <-time.After(patience):
		return out, errors.New("the rank does not answer: its process stands still")
	}
}

// peerPatience is how long an answer of a peer is waited for; once one is late, no longer
// for others until it has come.
const peerPatience = 2 * time.Second

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
		answer, err := s.pass(list[i], r)
		if err != nil {
			return s.response(r, nil, err), true
		}
		answer.RequestSeq = r.Seq
		return answer, true
	}
	if everyone[r.Command] {
		for _, p := range list {
			s.pass(p, r)
		}
		if r.Command == "disconnect" || r.Command == "terminate" {
			s.mu.Lock()
			s.joined = nil
			clear(s.held)
			s.mu.Unlock()
		}
	}
	if r.Command == "continue" || r.Command == "pause" {
		for i, p := range list {
			s.mu.Lock()
			held := s.held[i]
			s.mu.Unlock()
			if held || r.Command == "pause" {
				again := r
				again.Arguments = withThread(r.Arguments, (i+1)*Span+1)
				s.pass(p, again)
			}
		}
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

// peerThreads are the threads of all peers.
func (s *Server) peerThreads() (list []any) {
	for _, p := range s.peers() {
		r, err := s.tell(p, "threads", nil)
		if body, ok := r.Body.(map[string]any); err == nil && ok {
			if threads, ok := body["threads"].([]any); ok {
				list = append(list, threads...)
			}
		}
	}
	return list
}

// peerStopped are the stopped threads of all peers.
func (s *Server) peerStopped() (list []int) {
	for _, p := range s.peers() {
		r, err := s.tell(p, "debugInfo", nil)
		if body, ok := r.Body.(map[string]any); err == nil && ok {
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
