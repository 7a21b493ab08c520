// Package device carries device memory over a Transport that takes host memory
// only.
//
// The sender of a message sends an envelope in its place: exactly 256 bytes, which
// begin with a random mark that the ranks agreed on when MPI started. It tells where
// the data are. (Where ranks have no boards, a message of at most [Inline] bytes
// travels as any other.) A receiver that can open them copies them from device to
// device itself (CUDA IPC) and acknowledges; otherwise it asks the sender to send
// them through the host, in pieces, whose copies overlap with their messages.
// Acknowledgements and pieces go by a communicator that programs do not see.
package device

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/fabric"
	"gocuda/cudaapi/mpi/internal/transport"
)

// Path is how device memory travels between two ranks.
type Path string

// The paths. Auto is the best of the others that works.
const (
	Auto      Path = ""
	IPC       Path = "ipc"
	Staged    Path = "staged"
	CUDAAware Path = "cuda-aware"
)

// Engine is a process's part in messages of device memory.
type Engine struct {
	mark   [16]byte
	host   [16]byte
	rank   int // in the world
	forced Path

	imports fabric.Imports

	mu       sync.Mutex
	lanes    map[*cuda.Device]*lane
	sends    map[uint64]*sending // under way, by key: for messages to oneself
	next     uint64
	active   map[*operation]struct{}
	shepherd bool
	notes    map[note]string // why IPC did not work
	pages    *pages          // nil: ranks have no boards
}

type note struct{ port, peer int }

// New makes the engine of the process, rank in the world. forced is the path that
// the program's user wants.
func New(rank int, forced Path) (*Engine, error) {
	switch forced {
	case Auto, IPC, Staged, CUDAAware:
	default:
		return nil, fmt.Errorf("GOCUDA_MPI_PATH=%q: want ipc, staged or cuda-aware", string(forced))
	}
	if err := readReduction(os.Getenv("GOCUDA_MPI_ALLREDUCE")); err != nil {
		return nil, err
	}
	return &Engine{host: fabric.Host(), rank: rank, forced: forced,
		lanes: map[*cuda.Device]*lane{}, sends: map[uint64]*sending{}, active: map[*operation]struct{}{}, notes: map[note]string{}}, nil
}

// Mark sets what envelopes begin with: the same in all ranks of the world, and
// not to be guessed.
func (e *Engine) Mark(mark [16]byte) { e.mark = mark }

// Forced is the path that New was told.
func (e *Engine) Forced() Path { return e.forced }

// Close closes what other processes have and this one has opened. It waits for
// the devices.
func (e *Engine) Close() error { return e.imports.Close() }

// lane is what the engine uses on a device.
type lane struct {
	dev    *cuda.Device
	stream *cuda.Stream
	// fetches reads short messages, which must not wait behind copies that wait for
	// other ranks.
	fetches *cuda.Stream
	mu      sync.Mutex
	events  []*cuda.Event      // not in use
	later   []*cuda.Event      // the same, but perhaps not done, or still to be waited for; oldest first
	pinned  []*cuda.HostBuffer // pieces, not in use

	staging map[int][]*cuda.Buffer // not in use, by the logarithm of their length

	handles map[*cuda.Event]cuda.IPCEvent // of the events
	edge    *cuda.Event                   // of the streams that the lane's follows
	carrier carrier
}

func (e *Engine) lane(d *cuda.Device) (*lane, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if l := e.lanes[d]; l != nil {
		return l, nil
	}
	// Of the highest priority, or short copies by kernels would wait for a long
	// kernel's blocks, behind which a program wants to hide them.
	_, greatest, err := d.StreamPriorityRange()
	if err != nil {
		return nil, err
	}
	s, err := d.NewStreamWithPriority(greatest, cuda.NonBlocking)
	if err != nil {
		return nil, err
	}
	fetches, err := d.NewStreamWithPriority(greatest, cuda.NonBlocking)
	if err != nil {
		return nil, err
	}
	l := &lane{dev: d, stream: s, fetches: fetches, handles: map[*cuda.Event]cuda.IPCEvent{}}
	l.makeCarrier()
	e.lanes[d] = l
	return l, nil
}

// event is one that other processes can open.
func (l *lane) event() (*cuda.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.events); n > 0 {
		ev := l.events[n-1]
		l.events = l.events[:n-1]
		return ev, nil
	}
	if len(l.later) > mostLater {
		// What was last recorded on it is done: whoever may still come to wait for
		// that, waits for more, not for less.
		ev := l.later[0]
		if done, err := ev.Query(); err != nil || done {
			l.later = l.later[1:]
			return ev, err
		}
	}
	return l.dev.NewEvent(cuda.Interprocess, cuda.DisableTiming)
}

// handle is what other processes open an event of the lane by.
func (l *lane) handle(ev *cuda.Event) (cuda.IPCEvent, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h, ok := l.handles[ev]
	if ok {
		return h, nil
	}
	h, err := ev.IPCHandle()
	if err == nil {
		l.handles[ev] = h
	}
	return h, err
}

// mostLater is how many events are kept from being used again until there are
// more of them: to ask whether one is done takes longer than to have some more.
const mostLater = 16

// giveBack takes an event that is done; lend one that is not, or for which another
// process may still come to wait. To record an event of other processes anew
// before it is done, on another stream, can end their waits too early.
func (l *lane) giveBack(ev *cuda.Event) {
	if ev != nil {
		l.mu.Lock()
		l.events = append(l.events, ev)
		l.mu.Unlock()
	}
}

func (l *lane) lend(ev *cuda.Event) {
	l.mu.Lock()
	l.later = append(l.later, ev)
	l.mu.Unlock()
}

// follow makes the lane's later work follow what is on a stream; nil is the
// default stream.
func (l *lane) follow(s *cuda.Stream) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.edge == nil { // not one of those for other processes, which take longer
		var err error
		if l.edge, err = l.dev.NewEvent(cuda.DisableTiming); err != nil {
			return err
		}
	}
	if err := l.edge.Record(s); err != nil {
		return err
	}
	return l.stream.WaitEvent(l.edge)
}

const (
	pieceBytes = 1 << 20
	pieceSlots = 4 // under way at once
)

func (l *lane) piece() (*cuda.HostBuffer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.pinned); n > 0 {
		h := l.pinned[n-1]
		l.pinned = l.pinned[:n-1]
		return h, nil
	}
	var h *cuda.HostBuffer
	err := fabric.Allocating(func() (err error) {
		h, err = l.dev.AllocHost(pieceBytes, cuda.Uint8)
		return err
	})
	return h, err
}

func (l *lane) keep(h *cuda.HostBuffer) {
	l.mu.Lock()
	l.pinned = append(l.pinned, h)
	l.mu.Unlock()
}

// operation is a message under way, as a transport.Request.
type operation struct {
	e      *Engine
	mu     sync.Mutex
	step   func() (done bool, err error) // moves it on, as far as it goes
	status transport.Status
	done   bool
	err    error
	cancel func() error

	asked atomic.Uint32 // counts Test
	seen  uint32        // what the engine saw of it last
}

// start has an operation moved on by whoever tests it, and, so that nobody
// waits for a rank that waits for something else, now and then by the engine if
// nobody does.
func (e *Engine) start(o *operation) *operation {
	o.e = e
	e.mu.Lock()
	e.active[o] = struct{}{}
	run := !e.shepherd
	e.shepherd = true
	e.mu.Unlock()
	if run {
		go e.attend()
	}
	return o
}

func (e *Engine) attend() {
	pause := 200 * time.Microsecond
	for idle := 0; ; {
		time.Sleep(pause)
		e.mu.Lock()
		if len(e.active) == 0 {
			if idle++; idle > 20 {
				e.shepherd = false
				e.mu.Unlock()
				return
			}
		} else {
			idle = 0
		}
		list := make([]*operation, 0, len(e.active))
		for o := range e.active {
			list = append(list, o)
		}
		e.mu.Unlock()
		for _, o := range list {
			if asked := o.asked.Load(); asked != o.seen {
				o.seen = asked
			} else if o.mu.TryLock() {
				o.advance()
				o.mu.Unlock()
			}
		}
	}
}

func (o *operation) advance() {
	if o.done {
		return
	}
	o.done, o.err = o.step()
	o.done = o.done || o.err != nil
	if o.done {
		o.e.mu.Lock()
		delete(o.e.active, o)
		o.e.mu.Unlock()
	}
}

// Test moves the message on and tells whether it is over.
func (o *operation) Test() (transport.Status, bool, error) {
	o.asked.Add(1)
	if !o.mu.TryLock() {
		return transport.Status{}, false, nil // another goroutine is at it
	}
	defer o.mu.Unlock()
	o.advance()
	return o.status, o.done, o.err
}

// Cancel gives up a receive that has not matched.
func (o *operation) Cancel() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done || o.cancel == nil {
		return nil
	}
	return o.cancel()
}
