// Package debugger answers Jupyter's debug_request, which carries the Debug Adapter
// Protocol (DAP) and some requests of Jupyter's own, for the cells of an evaluator:
// golang.Debugger does what they ask for.
package debugger

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"gocuda/kernel/golang"
)

// Options say what a Server is for.
type Options struct {
	Evaluator *golang.Evaluator
	// Event is given each event, as DAP writes it. It may be called by any goroutine.
	Event func(message json.RawMessage)
	// Print shows in the running cell what a breakpoint's message says.
	Print func(text string)
	// Peers, if not nil, are evaluators of other processes that are debugged with this
	// one, such as ranks. PeerEvent is to be given what they tell.
	Peers func() []Peer
	// Go is the Go in a cell, in its lines; nil: all of it is.
	Go func(code string) string
	// Folder begins the paths that stand for cells. No file is there: a cell's path is
	// made of what is in the cell.
	Folder string
}

// Span is how many numbers of threads, frames and variables a server has. Those of a
// peer begin at as many spans as its place among the peers, counted from 1, says.
const Span = 1 << 24

// Server is the debugger of one evaluator. Its methods may be called by several
// goroutines. Requests are answered one after another, except those that run code of
// cells, which may take for ever: others are answered beside them.
type Server struct {
	options Options
	d       *golang.Debugger
	turn    sync.Mutex // held while a request is answered

	identity atomic.Pointer[identity]

	mu          sync.Mutex
	seq         int
	initialized bool
	attached    bool
	panics      []string     // the filters of exceptions that are set
	joined      []Peer       // that have been attached
	held        map[int]bool // peers that stand still
	asked       map[Peer]int // how many answers are waited for
	lastHeld    int
	zeroBased   bool                    // the client counts lines from 0
	client      string                  // its id
	codes       map[string]string       // of cells, by path
	paths       map[string]string       // of cells, by name
	breakpoints map[string][]breakpoint // by path
	goroutines  map[int64]int           // numbers of threads
	threads     int                     // the last number given
	frames      map[int]*frame          // by number, of this stop
	containers  map[int]*container      // by number, of this stop
	handles     int                     // the last number given to either
	last        *golang.Stop            // nil: nothing has stopped
}

// identity is what a server is among others, as the one tells it whose peer it is.
type identity struct {
	Base int    // added to all numbers
	Name string // "rank 2": stands before the names of threads; "": it is no peer
}

func (s *Server) base() int { return s.identity.Load().Base }

func (s *Server) name() string { return s.identity.Load().Name }

// breakpoint is one that a client has set.
type breakpoint struct {
	Line         int    `json:"line"`
	Condition    string `json:"condition,omitempty"`
	HitCondition string `json:"hitCondition,omitempty"`
	LogMessage   string `json:"logMessage,omitempty"`
}

// New returns a debugger that is off.
func New(o Options) *Server {
	if o.Folder == "" {
		o.Folder = filepath.Join(os.TempDir(), "gocuda_cells") // the same in the next evaluator, and in ranks
	}
	if o.Go == nil {
		o.Go = func(code string) string { return code }
	}
	s := &Server{options: o, d: o.Evaluator.Debugger()}
	s.forget()
	s.identity.Store(&identity{})
	s.codes, s.paths = make(map[string]string), make(map[string]string)
	s.asked = make(map[Peer]int)
	return s
}

// forget is what a client's going leaves.
func (s *Server) forget() {
	s.initialized, s.attached, s.panics = false, false, nil
	s.joined, s.held = nil, make(map[int]bool)
	s.breakpoints = make(map[string][]breakpoint)
	s.goroutines, s.threads = make(map[int64]int), 0
	s.clear()
}

// clear ends the numbers of frames and variables: the program goes on.
func (s *Server) clear() {
	s.frames, s.containers = make(map[int]*frame), make(map[int]*container)
	s.last = nil
}

// Cell tells that a cell is about to be evaluated, or a part of it, under a name.
func (s *Server) Cell(name, code string) {
	s.mu.Lock()
	path := s.path(code)
	s.codes[path], s.paths[name] = code, path
	list, attached := s.breakpoints[path], s.attached
	s.mu.Unlock()
	s.peers()
	if attached {
		s.d.SetBreakpoints(name, s.placed(list, code))
	}
}

// Attached reports whether a client debugs.
func (s *Server) Attached() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attached
}

const (
	hashSeed   = 0xc70f6907
	fileSuffix = ".go"
)

// path is the path that stands for a cell.
func (s *Server) path(code string) string {
	return fmt.Sprintf("%s%c%d%s", s.options.Folder, filepath.Separator, murmur2([]byte(code), hashSeed), fileSuffix)
}

// Request is a request of DAP.
type Request struct {
	Seq       int             `json:"seq"`
	Type      string          `json:"type"`
	Command   string          `json:"command"`
	Arguments json.RawMessage `json:"arguments"`
}

// Response is its answer.
type Response struct {
	Seq        int    `json:"seq"`
	Type       string `json:"type"`
	RequestSeq int    `json:"request_seq"`
	Success    bool   `json:"success"`
	Command    string `json:"command"`
	Message    string `json:"message,omitempty"`
	Body       any    `json:"body,omitempty"`
}

type object = map[string]any

// handlers answer requests. What they return last is done when the answer is ready.
var handlers = map[string]func(*Server, arguments) (body any, err error){
	"initialize":              (*Server).initialize,
	"attach":                  (*Server).attach,
	"launch":                  (*Server).attach,
	"configurationDone":       func(*Server, arguments) (any, error) { return nil, nil },
	"disconnect":              (*Server).disconnect,
	"terminate":               (*Server).disconnect,
	"setBreakpoints":          (*Server).setBreakpoints,
	"setFunctionBreakpoints":  func(*Server, arguments) (any, error) { return object{"breakpoints": []any{}}, nil },
	"setExceptionBreakpoints": (*Server).setExceptions,
	"breakpointLocations":     (*Server).locations,
	"exceptionInfo":           (*Server).exceptionInfo,
	"threads":                 (*Server).listThreads,
	"stackTrace":              (*Server).stackTrace,
	"scopes":                  (*Server).scopes,
	"variables":               (*Server).variables,
	"setVariable":             (*Server).setVariable,
	"setExpression":           (*Server).setExpression,
	"evaluate":                (*Server).evaluate,
	"continue":                (*Server).goOn,
	"next":                    func(s *Server, a arguments) (any, error) { return s.step(a, golang.StepOver) },
	"stepIn":                  func(s *Server, a arguments) (any, error) { return s.step(a, golang.StepInto) },
	"stepOut":                 func(s *Server, a arguments) (any, error) { return s.step(a, golang.StepOut) },
	"pause":                   (*Server).pause,
	"source":                  (*Server).source,
	"loadedSources":           (*Server).loadedSources,
	"modules":                 (*Server).modules,
	// Jupyter's own.
	"debugInfo":            (*Server).debugInfo,
	"dumpCell":             (*Server).dumpCell,
	"inspectVariables":     (*Server).inspectVariables,
	"richInspectVariables": (*Server).richInspect,
	"copyToGlobals":        (*Server).copyToGlobals,
}

// always are the requests that are answered when no client has attached.
var always = map[string]bool{
	"initialize": true, "attach": true, "launch": true, "disconnect": true, "debugInfo": true, "dumpCell": true,
	"inspectVariables": true, "richInspectVariables": true, "modules": true, "variables": true, "source": true,
}

// runsCode says whether the answer to a request may need code of cells, so that it may
// never come.
func runsCode(command string) bool {
	switch command {
	case "evaluate", "setExpression", "setVariable", "variables", "inspectVariables", "richInspectVariables", "copyToGlobals":
		return true
	}
	return false
}

// arguments are those of a request.
type arguments json.RawMessage

func (a arguments) decode(into any) error {
	if len(a) == 0 {
		return nil
	}
	if err := json.Unmarshal(a, into); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	return nil
}

// Handle answers a request.
func (s *Server) Handle(message json.RawMessage) Response {
	var r Request
	if err := json.Unmarshal(message, &r); err != nil {
		return s.response(r, nil, fmt.Errorf("no request: %w", err))
	}
	switch {
	case runsCode(r.Command):
	case r.Command == "disconnect" || r.Command == "terminate":
		s.d.Abandon()
		fallthrough
	default:
		s.turn.Lock()
		defer s.turn.Unlock()
	}
	if answer, ok := s.route(r); ok {
		return answer
	}
	handle := handlers[r.Command]
	if handle == nil {
		return s.response(r, nil, fmt.Errorf("the debugger does not know %q", r.Command))
	}
	if !always[r.Command] && !s.Attached() {
		return s.response(r, nil, fmt.Errorf("the debugger is not attached"))
	}
	body, err := handle(s, arguments(r.Arguments))
	return s.response(r, body, err)
}

func (s *Server) response(r Request, body any, err error) Response {
	out := Response{Seq: s.number(), Type: "response", RequestSeq: r.Seq, Success: err == nil, Command: r.Command, Body: body}
	if out.Body == nil {
		out.Body = object{}
	}
	if err != nil {
		out.Message = err.Error()
		out.Body = object{"error": object{"id": 1, "format": err.Error(), "showUser": true}}
	}
	return out
}

func (s *Server) number() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	return s.seq
}

func (s *Server) event(name string, body any) {
	message, err := json.Marshal(object{"seq": s.number(), "type": "event", "event": name, "body": body})
	if err == nil {
		s.options.Event(message)
	}
}

func (s *Server) initialize(a arguments) (any, error) {
	asked := struct {
		LinesStartAt1 *bool  `json:"linesStartAt1"`
		ClientID      string `json:"clientID"`
	}{}
	if err := a.decode(&asked); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client = asked.ClientID
	s.initialized, s.zeroBased = true, asked.LinesStartAt1 != nil && !*asked.LinesStartAt1
	return object{
		"supportsConfigurationDoneRequest": true, "supportsConditionalBreakpoints": true,
		"supportsHitConditionalBreakpoints": true, "supportsLogPoints": true,
		"supportsEvaluateForHovers": true, "supportsSetVariable": true, "supportsSetExpression": true,
		"supportsModulesRequest": true, "supportsExceptionInfoRequest": true, "supportsLoadedSourcesRequest": true,
		"supportsBreakpointLocationsRequest": true, "supportsClipboardContext": true,
		"supportTerminateDebuggee": true,
		"exceptionBreakpointFilters": []object{
			{"filter": "panic", "label": "Panics", "default": false, "description": "Stop where a panic begins, or where an error fails a cell"},
		},
	}, nil
}

func (s *Server) attach(a arguments) (any, error) {
	var asked struct { // VS Code's attach has a name of its own
		Peer identity `json:"gocudaPeer"`
	}
	if err := a.decode(&asked); err != nil {
		return nil, err
	}
	s.mu.Lock()
	again := s.attached
	s.initialized, s.attached = true, true
	s.mu.Unlock()
	s.identity.Store(&asked.Peer)
	defer s.peers() // which are attached, too
	if !again {
		left := s.d.Start(golang.DebugEvents{Stopped: s.stopped, Resumed: s.resumed, Logged: s.logged})
		for _, name := range left {
			s.print(fmt.Sprintf("the debugger does not stop in %s: it cannot be evaluated again\n", name))
		}
		s.mu.Lock()
		names := maps.Clone(s.paths)
		s.mu.Unlock()
		for name := range names {
			s.applyTo(name)
		}
	}
	s.event("initialized", object{})
	return nil, nil
}

func (s *Server) disconnect(arguments) (any, error) {
	s.d.Stop()
	s.mu.Lock()
	s.forget()
	s.mu.Unlock()
	return nil, nil
}

// Close lets what stands still go on.
func (s *Server) Close() { s.d.Stop() }

func (s *Server) print(text string) {
	if s.options.Print != nil {
		s.options.Print(text)
	}
}

// placed are breakpoints at lines where there is something to stop at.
func (s *Server) placed(list []breakpoint, code string) (out []golang.Breakpoint) {
	lines := s.lines(code)
	for _, b := range list {
		if line := lines.Place(b.Line); line > 0 {
			out = append(out, golang.Breakpoint{Line: line, Condition: b.Condition, Hits: b.HitCondition, Message: b.LogMessage})
		}
	}
	return out
}

func (s *Server) lines(code string) golang.Lines { return golang.BreakpointLines(s.options.Go(code)) }

// applyTo sets the breakpoints of a cell.
func (s *Server) applyTo(name string) {
	s.mu.Lock()
	path := s.paths[name]
	list, code := s.breakpoints[path], s.codes[path]
	s.mu.Unlock()
	s.d.SetBreakpoints(name, s.placed(list, code))
}

func (s *Server) setBreakpoints(a arguments) (any, error) {
	var asked struct {
		Source      struct{ Path string }
		Breakpoints []breakpoint
		Lines       []int
	}
	if err := a.decode(&asked); err != nil {
		return nil, err
	}
	path := asked.Source.Path
	if asked.Breakpoints == nil {
		for _, line := range asked.Lines {
			asked.Breakpoints = append(asked.Breakpoints, breakpoint{Line: line})
		}
	}
	for i := range asked.Breakpoints {
		asked.Breakpoints[i].Line += s.first()
	}
	s.mu.Lock()
	code, known := s.codes[path]
	if s.breakpoints[path] = asked.Breakpoints; len(asked.Breakpoints) == 0 {
		delete(s.breakpoints, path)
	}
	var names []string
	for name, p := range s.paths {
		if p == path {
			names = append(names, name)
		}
	}
	s.mu.Unlock()
	for _, name := range names {
		s.applyTo(name)
	}
	lines := s.lines(code)
	list := []object{}
	for _, b := range asked.Breakpoints {
		line := lines.Place(b.Line)
		one := object{"verified": line > 0, "line": b.Line - s.first(), "source": object{"path": path}}
		switch {
		case !known:
			one["message"] = "there is no cell with this path: send dumpCell first"
		case line == 0:
			one["message"] = "there is no statement at this line or after it"
		default:
			one["line"] = line - s.first()
		}
		list = append(list, one)
	}
	return object{"breakpoints": list}, nil
}

// first is what the client's lines are less than ours.
func (s *Server) first() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.firstLine()
}

// firstLine is first where the caller holds mu.
func (s *Server) firstLine() int {
	if s.zeroBased {
		return 1
	}
	return 0
}

// told are the breakpoints of a path, as the client counts lines. The caller holds mu.
func (s *Server) told(path string) []breakpoint {
	list := slices.Clone(s.breakpoints[path])
	for i := range list {
		list[i].Line -= s.firstLine()
	}
	return list
}

func (s *Server) locations(a arguments) (any, error) {
	var asked struct {
		Source        struct{ Path string }
		Line, EndLine int
	}
	if err := a.decode(&asked); err != nil {
		return nil, err
	}
	s.mu.Lock()
	code := s.codes[asked.Source.Path]
	s.mu.Unlock()
	first := s.first()
	list := []object{}
	for _, line := range s.lines(code).All {
		if line -= first; line >= asked.Line && line <= max(asked.Line, asked.EndLine) {
			list = append(list, object{"line": line})
		}
	}
	return object{"breakpoints": list}, nil
}

func (s *Server) setExceptions(a arguments) (any, error) {
	var asked struct{ Filters []string }
	if err := a.decode(&asked); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.panics = asked.Filters
	s.mu.Unlock()
	s.d.SetPanics(slices.Contains(asked.Filters, "panic"))
	return nil, nil
}

// debugInfo is the state of the debugger, for a client that comes to it later.
func (s *Server) debugInfo(arguments) (any, error) {
	s.mu.Lock()
	started := s.initialized
	list := []object{}
	for _, path := range slices.Sorted(maps.Keys(s.breakpoints)) {
		list = append(list, object{"source": path, "breakpoints": s.told(path)})
	}
	s.mu.Unlock()
	stopped := []int{}
	if started {
		for _, t := range s.d.Threads() {
			if _, stands := s.d.Stack(t); stands {
				stopped = append(stopped, s.thread(t))
			}
		}
	}
	stopped = append(stopped, s.peerStopped()...)
	return object{
		"isStarted": started, "hashMethod": "Murmur2", "hashSeed": hashSeed,
		"tmpFilePrefix": s.options.Folder + string(filepath.Separator), "tmpFileSuffix": fileSuffix,
		"breakpoints": list, "stoppedThreads": stopped, "richRendering": true, "exceptionPaths": []string{"Go"},
		"copyToGlobals": true,
	}, nil
}

func (s *Server) dumpCell(a arguments) (any, error) {
	var asked struct{ Code string }
	if err := a.decode(&asked); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	path := s.path(asked.Code)
	s.codes[path] = asked.Code
	return object{"sourcePath": path}, nil
}

func (s *Server) source(a arguments) (any, error) {
	var asked struct {
		Source struct{ Path string }
	}
	if err := a.decode(&asked); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	code, ok := s.codes[asked.Source.Path]
	if !ok {
		return nil, fmt.Errorf("source unavailable")
	}
	return object{"content": code, "mimeType": "text/x-go"}, nil
}

func (s *Server) loadedSources(arguments) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []object{}
	for _, name := range slices.Sorted(maps.Keys(s.paths)) {
		list = append(list, object{"name": name, "path": s.paths[name]})
	}
	return object{"sources": list}, nil
}

// modules are the packages that cells have imported.
func (s *Server) modules(a arguments) (any, error) {
	var asked struct{ StartModule, ModuleCount int }
	if err := a.decode(&asked); err != nil {
		return nil, err
	}
	all := s.options.Evaluator.Imported()
	from := min(max(asked.StartModule, 0), len(all))
	to := len(all)
	if asked.ModuleCount > 0 {
		to = min(from+asked.ModuleCount, to)
	}
	list := []object{}
	for i, p := range all[from:to] {
		list = append(list, object{"id": from + i, "name": p, "path": p})
	}
	return object{"modules": list, "totalModules": len(all)}, nil
}

// murmur2 is the hash by which front ends name cells.
func murmur2(data []byte, seed uint32) uint32 {
	const m = 0x5bd1e995
	h := seed ^ uint32(len(data))
	for len(data) >= 4 {
		k := uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16 | uint32(data[3])<<24
		k *= m
		k ^= k >> 24
		k *= m
		h = h*m ^ k
		data = data[4:]
	}
	switch len(data) {
	case 3:
		h ^= uint32(data[2]) << 16
		fallthrough
	case 2:
		h ^= uint32(data[1]) << 8
		fallthrough
	case 1:
		h ^= uint32(data[0])
		h *= m
	}
	h ^= h >> 13
	h *= m
	h ^= h >> 15
	return h
}
