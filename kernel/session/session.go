package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"gocuda/kernel/display"
)

const (
	// An interrupt that a cell has not answered for this long may be followed
	// by another one that ends the evaluator.
	defaultPatience = 3 * time.Second
	// After this long it ends without another one.
	defaultGrace = 10 * time.Second
)

// Options says how a Session runs its evaluator.
type Options struct {
	// Command starts an evaluator; the default is this executable with the
	// argument "evaluate".
	Command []string
	// Args follow Command: they are the program's, os.Args in cells after the first.
	Args []string
	// Dir is the directory in which cells begin; the default is the current one.
	Dir string
	// Env holds NAME=VALUE pairs that are added to this process's environment.
	Env []string
	// Files are inherited by the evaluator as file descriptors 4, 5 and so on.
	Files []*os.File
	// Output receives what cells show, one call at a time, also after a cell
	// has ended when it left goroutines or processes behind. While it blocks,
	// cells that print are held up. It must not call the Session.
	Output func(Output)
	// Input asks the user for a line of text; without it, cells that ask get
	// an error. It is called on a goroutine of its own. When the cell is
	// interrupted meanwhile, its result is dropped; it may also return
	// ErrInterrupted then.
	Input InputFunc
	// Log receives the starts and ends of evaluators; nil for none.
	Log *slog.Logger
	// Here, if not nil, evaluates the cells in this process, for tools that look
	// into one process: it serves a link as ServeStream does. File descriptors 1
	// and 2 are the cells' for as long as the Session is open. What would end an
	// evaluator ends this process, so Once holds too.
	Here func(io.ReadWriteCloser) error
	// Once says that an evaluator that dies is not replaced: the Session is of
	// no more use then, and Ended tells.
	Once bool
	// InterruptPatience is how long a cell may leave an interrupt unanswered
	// until a second Interrupt ends the evaluator (default 3 s), and
	// InterruptGrace how long until it is ended without one (default 10 s).
	InterruptPatience, InterruptGrace time.Duration
}

// WrapVariable names the variable of the environment with a command, such as
// "compute-sanitizer --tool racecheck", that evaluators are started by: the
// notebook's and its ranks'.
const WrapVariable = "GOCUDA_WRAP"

// Session runs cells in an evaluator process and replaces it when it dies.
// Its methods may be called by several goroutines at a time; cells of the main shell
// run one after another.
type Session struct {
	options Options
	log     *slog.Logger
	turn    sync.Mutex // held by the main shell's cell that runs

	mu      sync.Mutex
	current *child        // nil when the last one could not be started
	running map[*run]bool // the cells that run
	lost    *child        // died between cells, and no cell was told yet
	first   *child
	closed  bool
}

// run is a cell on its way.
type run struct {
	shell       string
	child       *child
	id          uint64
	interrupted time.Time   // the first interrupt, or zero
	deadline    *time.Timer // ends the evaluator after the interrupt's grace
}

var errClosed = errors.New("the session is closed")

// Start starts a session's evaluator and returns while that gets ready to run
// cells. The error is that no process could be started.
func Start(o Options) (*Session, error) {
	o.Once = o.Once || o.Here != nil
	if len(o.Command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("cannot find this program to start it as evaluator: %w", err)
		}
		o.Command = append(strings.Fields(os.Getenv(WrapVariable)), self, "evaluate")
	}
	o.Command = append(slices.Clip(o.Command), o.Args...)
	if o.Output == nil {
		o.Output = func(Output) {}
	}
	if o.Input == nil {
		o.Input = func(string, bool) (string, error) { return "", errors.New("there is no user here to ask for input") }
	}
	if o.InterruptPatience <= 0 {
		o.InterruptPatience = defaultPatience
	}
	if o.InterruptGrace <= 0 {
		o.InterruptGrace = defaultGrace
	}
	o.Env = append(os.Environ(), o.Env...)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Session{options: o, log: o.Log, running: map[*run]bool{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.start(); err != nil {
		return nil, err
	}
	return s, nil
}

// start makes a new evaluator the current one. The caller holds s.mu.
func (s *Session) start() error {
	e, err := startChild(&s.options, s.replace)
	s.current = e
	if err != nil {
		s.current = nil
		s.log.Error("no evaluator", "err", err)
		return err
	}
	if s.first == nil {
		s.first = e
	}
	s.log.Info("evaluator started", "pid", e.proc.pid())
	return nil
}

// Pid is the process id of the evaluator that was started first: of the only
// one with Options.Once.
func (s *Session) Pid() int { return s.first.proc.pid() }

// Ended is closed when the first evaluator is gone; Death then tells why.
func (s *Session) Ended() <-chan struct{} { return s.first.dead }

// Death says in one line why the first evaluator ended. It waits for that.
func (s *Session) Death() string {
	<-s.first.dead
	cause, _ := s.first.death.cause()
	return cause
}

// replace starts a new evaluator when one has ended.
func (s *Session) replace(old *child) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.Info("evaluator ended", "pid", old.proc.pid())
	if s.closed || s.current != old {
		return
	}
	s.current = nil
	if s.options.Once {
		return
	}
	if !slices.ContainsFunc(slices.Collect(maps.Keys(s.running)), func(r *run) bool { return r.child == old }) {
		s.lost = old
	}
	// One that never got ready would be followed by others like it without
	// end: the next request starts it instead.
	if old.wasReady() {
		s.start()
	}
}

// acquire returns the current evaluator, and starts one if there is none. The
// caller holds s.mu.
func (s *Session) acquire() (*child, error) {
	if s.closed {
		return nil, errClosed
	}
	if s.current == nil {
		if s.options.Once {
			return nil, ErrEnded
		}
		if err := s.start(); err != nil {
			return nil, err
		}
	}
	return s.current, nil
}

// Execute runs a cell and returns when it has ended, after its last output was
// given to Options.Output. Outputs of what it left behind may follow later.
//
// When the evaluator dies meanwhile, the Result says how, and Restarted is
// true. When it had died since the last cell, a line on standard error says
// so before the cell runs in the new one, and Restarted is true as well.
func (s *Session) Execute(cell Cell) Result {
	if cell.Shell == "" {
		s.turn.Lock()
		defer s.turn.Unlock()
	}
	s.mu.Lock()
	e, err := s.acquire()
	if err != nil {
		s.mu.Unlock()
		if err == ErrEnded { // of what, its death knows, perhaps in a moment
			<-s.first.dead
			return Result{Err: s.first.death.explain(cell.Name, s.first.wasReady(), true)}
		}
		return Result{Err: NewError("NoEvaluator", err.Error())}
	}
	r := &run{shell: cell.Shell, child: e, id: e.peer.NewID()}
	s.running[r] = true
	lost := s.lost
	s.lost = nil
	s.mu.Unlock()

	if lost != nil {
		<-lost.dead
		if lost.wasReady() {
			e.outputs.show(Output{Kind: Stderr, Text: lost.death.notice()})
		} else {
			lost = nil // it held nothing
		}
	}
	result := s.run(r, cell)
	if lost != nil {
		result.Restarted = true
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, r)
	if r.deadline != nil {
		r.deadline.Stop()
	}
	return result
}

// run sends a cell to its evaluator and waits for its end, or for the
// evaluator's.
func (s *Session) run(r *run, cell Cell) Result {
	e := r.child
	died := func() Result {
		<-e.dead
		s.mu.Lock()
		last := s.options.Once || s.closed
		s.mu.Unlock()
		return Result{Err: e.death.explain(cell.Name, e.wasReady(), last), Restarted: !last}
	}
	select {
	case <-e.ready:
	case <-e.dead:
		return died()
	}
	result, err := e.run(r.id, cell)
	if err != nil {
		if err != ErrEnded {
			e.end("its result did not come: " + err.Error())
		}
		return died()
	}
	e.outputs.forget()
	if result.Value != nil {
		o := Output{Kind: Value, Bundle: *result.Value}
		if cell.Shell != "" {
			o.Parent = cell.Message
		}
		e.outputs.show(o)
		result.Value = nil
	}
	return result
}

// Interrupt stops the main shell's running cell, which keeps the evaluator's state. It does
// not wait. A cell that does not stop, because it is in a C call that never
// returns, costs the evaluator: at the second Interrupt after
// Options.InterruptPatience, or after Options.InterruptGrace. Without a
// running cell it does nothing.
func (s *Session) Interrupt() { s.InterruptShell("") }

// InterruptShell is Interrupt for the cell of a subshell.
func (s *Session) InterruptShell(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.running {
		if r.shell == name {
			s.interrupt(r)
		}
	}
}

// interrupt stops a cell. The caller holds s.mu.
func (s *Session) interrupt(r *run) {
	end := func() {
		r.child.end(fmt.Sprintf("the cell did not stop when it was interrupted, and still ran %v later", time.Since(r.interrupted).Round(100*time.Millisecond)))
	}
	switch {
	case r.interrupted.IsZero():
		r.interrupted = time.Now()
		r.deadline = time.AfterFunc(s.options.InterruptGrace, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.running[r] {
				end()
			}
		})
	case time.Since(r.interrupted) >= s.options.InterruptPatience:
		end()
		return
	}
	r.child.interrupt(r.id)
}

// Complete answers how code can be completed at a cursor, in bytes. It may be
// asked while a cell runs; it then answers from what was there before that.
func (s *Session) Complete(code string, cursor int) (c Completion, err error) {
	e, err := s.get()
	if err != nil {
		return c, err
	}
	return e.Complete(code, cursor)
}

// Inspect describes the name at a cursor: its signature and documentation,
// with more at detail 1. It returns nil for a name that is not known.
func (s *Session) Inspect(code string, cursor, detail int) (b *display.Bundle, err error) {
	e, err := s.get()
	if err != nil {
		return nil, err
	}
	return e.Inspect(code, cursor, detail)
}

// IsComplete says whether code is ready to be run.
func (s *Session) IsComplete(code string) (c Completeness, err error) {
	e, err := s.get()
	if err != nil {
		return c, err
	}
	return e.IsComplete(code)
}

// Where says where the running cell is.
func (s *Session) Where() (p Place, err error) {
	e, err := s.get()
	if err != nil {
		return p, err
	}
	return e.Where()
}

// Debug answers a request of the Debug Adapter Protocol.
func (s *Session) Debug(request json.RawMessage) (json.RawMessage, error) {
	e, err := s.get()
	if err != nil {
		return nil, err
	}
	return e.Debug(request)
}

// get returns the current evaluator, as acquire does.
func (s *Session) get() (*child, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acquire()
}

// Restart ends the evaluator and starts a new one, without a trace of the old
// one's variables. A running cell returns an error. Restart does not wait
// until the new one is ready to run cells: the next cell does.
func (s *Session) Restart() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return errClosed
	}
	old := s.current
	s.current, s.lost = nil, nil
	s.mu.Unlock()
	if old != nil {
		old.quit("the session was restarted")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.acquire()
	return err
}

// Close ends the evaluator and what its cells started, and waits for that. A
// running cell returns an error.
func (s *Session) Close() error {
	s.mu.Lock()
	old := s.current
	s.current, s.closed = nil, true
	s.mu.Unlock()
	if old != nil {
		old.quit("the session was closed")
	}
	return nil
}
