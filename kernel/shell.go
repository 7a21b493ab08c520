package kernel

import (
	"fmt"
	"slices"
	"sync"

	"github.com/google/uuid"

	"gocuda/kernel/session"
	"gocuda/kernel/wire"
)

// shell handles requests one after the other: the main one, those without the name of
// a subshell; a subshell, those with its own (Jupyter's enhancement proposal 91).
type shell struct {
	id       string // "": the main one
	arrivals <-chan *wire.Message
	closed   chan struct{} // closed when the shell is to end

	// Of its loop alone.
	clients map[string]*clientSession // by the session that their headers name
	waiting []*wire.Message           // taken from arrivals, and not yet handled

	cell cell
}

func newShell(id string, arrivals <-chan *wire.Message) *shell {
	return &shell{id: id, arrivals: arrivals, closed: make(chan struct{}), clients: map[string]*clientSession{}}
}

// subshells are those that clients have made.
type subshells struct {
	mu    sync.Mutex
	live  map[string]*subshell
	order []string
	past  []*wire.Message // the last cells of subshells, whose goroutines may still print
}

type subshell struct {
	*shell
	in chan *wire.Message
}

const (
	// maxWaiting is how many requests may wait in a subshell; more hold up the
	// connection that they come by.
	maxWaiting = 1 << 12
	// maxSubshells bounds how many there are at a time.
	maxSubshells = 256
	// maxPast is of how many cells of subshells later outputs find their way.
	maxPast = 256
)

// eventsID is the subshell in which widgets' events are handled that come to the main
// shell while that runs a cell. No client's has this name.
const eventsID = "events"

// route is the way of a message to a subshell; nil: it is the main shell's.
func (k *kernel) route(m *wire.Message) (in chan<- *wire.Message, closed <-chan struct{}) {
	if m.Header.Subshell == "" {
		return nil, nil
	}
	k.subshells.mu.Lock()
	defer k.subshells.mu.Unlock()
	if s := k.subshells.live[m.Header.Subshell]; s != nil {
		return s.in, s.closed
	}
	return nil, nil // where it is refused
}

// createSubshell makes a subshell.
func (k *kernel) createSubshell(*request) (any, error) {
	in := make(chan *wire.Message, maxWaiting)
	s := &subshell{newShell(uuid.NewString(), in), in}
	all := &k.subshells
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.live) == maxSubshells {
		return nil, fmt.Errorf("there are %d subshells already", maxSubshells)
	}
	all.live[s.id] = s
	all.order = append(all.order, s.id)
	go k.serve(s.shell)
	return map[string]string{"status": "ok", "subshell_id": s.id}, nil
}

// deleteSubshell ends a subshell. The cell that it runs is interrupted; what waits
// after that is refused.
func (k *kernel) deleteSubshell(r *request) (any, error) {
	var asked struct {
		ID string `json:"subshell_id"`
	}
	if err := r.decode(&asked); err != nil {
		return nil, err
	}
	all := &k.subshells
	all.mu.Lock()
	s := all.live[asked.ID]
	delete(all.live, asked.ID)
	all.order = slices.DeleteFunc(all.order, func(id string) bool { return id == asked.ID })
	all.mu.Unlock()
	if s == nil {
		return nil, noSubshell(asked.ID)
	}
	if m := s.cell.asked(); m != nil {
		k.ran(m)
	}
	close(s.closed)
	s.interrupt(nil)
	return map[string]string{"status": "ok"}, nil
}

// noSubshell answers a request for a subshell that is not there.
func (k *kernel) noSubshell(r *request) (any, error) { return nil, noSubshell(r.Header.Subshell) }

func noSubshell(id string) error { return fmt.Errorf("there is no subshell %q", id) }

// listSubshells lists the subshells, the oldest first.
func (k *kernel) listSubshells(*request) (any, error) {
	k.subshells.mu.Lock()
	defer k.subshells.mu.Unlock()
	return map[string]any{"status": "ok", "subshell_id": append([]string{}, k.subshells.order...)}, nil
}

// serve handles a shell's requests until its end or the kernel's. What comes after its
// end is refused, as by the main shell.
func (k *kernel) serve(s *shell) {
	for m := k.next(s); m != nil; m = k.next(s) {
		k.handle(wire.Shell, s, m)
	}
	for len(s.waiting) > 0 || len(s.arrivals) > 0 {
		var m *wire.Message
		if len(s.waiting) > 0 {
			m, s.waiting = s.waiting[0], s.waiting[1:]
		} else {
			m = <-s.arrivals
		}
		select {
		case <-k.stop:
			return
		default:
			k.handle(wire.Shell, k.main, m)
		}
	}
}

// running are the shells that run a cell.
func (k *kernel) running() (list []*shell) {
	k.subshells.mu.Lock()
	defer k.subshells.mu.Unlock()
	for _, s := range append([]*shell{k.main, k.events}, k.subshells.shells()...) {
		if s.cell.runs() {
			list = append(list, s)
		}
	}
	return list
}

// shells are those that clients have made. The caller holds mu.
func (all *subshells) shells() (list []*shell) {
	for _, id := range all.order {
		list = append(list, all.live[id].shell)
	}
	return list
}

// interrupt makes a cell end soon: that of the subshell which the request names, or
// else the main shell's, or, where that runs none, those of all subshells.
func (k *kernel) interrupt(request *wire.Message) {
	if request != nil && request.Header.Subshell != "" {
		k.subshells.mu.Lock()
		s := k.subshells.live[request.Header.Subshell]
		k.subshells.mu.Unlock()
		if s != nil {
			s.interrupt(request)
		}
		return
	}
	running := k.running()
	if !slices.Contains(running, k.main) {
		for _, s := range running {
			s.interrupt(nil)
		}
	} else if slices.Contains(running, k.events) {
		k.events.interrupt(nil) // handled beside the cell, for the same front end
	}
	if len(running) == 0 || slices.Contains(running, k.main) {
		k.main.interrupt(request)
	}
}

// stopCell has the evaluator stop what the shell runs.
func (s *shell) stopCell(e session.Evaluator) {
	if s.id == "" {
		e.Interrupt()
	} else {
		e.InterruptShell(s.id)
	}
}

// ofCell is the message in whose name an output is published that names its cell's;
// nil: it is not known.
func (k *kernel) ofCell(id string) (parent *wire.Message, c *cell) {
	if id == "" {
		return nil, nil
	}
	k.subshells.mu.Lock()
	defer k.subshells.mu.Unlock()
	for _, s := range append(k.subshells.shells(), k.events, k.main) {
		if p := s.cell.asked(); p != nil && p.Header.ID == id {
			return p, &s.cell
		}
	}
	for _, p := range k.subshells.past {
		if p.Header.ID == id {
			return p, nil
		}
	}
	return nil, nil
}

// onlyCell is the cell that an output is of which does not say whose it is: the one
// that runs, if only one does, or else the main shell's.
func (k *kernel) onlyCell() *cell {
	if list := k.running(); len(list) == 1 {
		return &list[0].cell
	}
	return &k.main.cell
}

// ran keeps the message of a subshell's cell, for what comes later in its name.
func (k *kernel) ran(m *wire.Message) {
	all := &k.subshells
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.past) == maxPast {
		all.past = slices.Delete(all.past, 0, 1)
	}
	all.past = append(all.past, m)
}
