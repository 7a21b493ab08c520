package device

import (
	"errors"
	"math/bits"
	"sync"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/ipc"
)

// lane is what the engine uses on a device.
type lane struct {
	*ipc.Lane
	// fetches reads short messages, which must not wait behind copies that wait for
	// other ranks.
	fetches *cuda.Stream
	turns   turns
	events  eventPool
	pinned  pinnedPool
	staging stagingPool
	copies  copyKernel

	making sync.Mutex
	made   bool
}

// lane is made at first use: that takes long, and holds back nothing else.
func (e *Engine) lane(d *cuda.Device) (*lane, error) {
	e.mu.Lock()
	l := e.lanes[d]
	if l == nil {
		l = &lane{}
		e.lanes[d] = l
	}
	e.mu.Unlock()
	l.making.Lock()
	defer l.making.Unlock()
	if l.made {
		return l, nil
	}
	err := l.make(d)
	l.made = err == nil
	return l, err
}

func (l *lane) make(d *cuda.Device) error {
	// Of the highest priority, or short copies by kernels would wait for a long
	// kernel's blocks, behind which a program wants to hide them.
	own, err := ipc.NewLane(d, true)
	if err != nil {
		return err
	}
	if l.fetches, err = urgent(d); err != nil {
		return err
	}
	l.Lane = own
	return nil
}

func urgent(d *cuda.Device) (*cuda.Stream, error) {
	_, greatest, err := d.StreamPriorityRange()
	if err != nil {
		return nil, err
	}
	return d.NewStreamWithPriority(greatest, cuda.NonBlocking)
}

// turns are streams for copies that wait for work of the program or of other ranks:
// each has one at a time, so that it holds back no other message.
type turns struct {
	mu   sync.Mutex
	free []*cuda.Stream
	made int
}

const mostTurns = 8

// turn gives such a stream, and how to give it back; nil if none is free.
func (l *lane) turn() (*cuda.Stream, func()) {
	t := &l.turns
	t.mu.Lock()
	defer t.mu.Unlock()
	var s *cuda.Stream
	if n := len(t.free); n > 0 {
		s = t.free[n-1]
		t.free = t.free[:n-1]
	} else if t.made < mostTurns {
		var err error
		if s, err = urgent(l.Device); err != nil {
			return nil, func() {}
		}
		t.made++
	} else {
		return nil, func() {}
	}
	return s, func() {
		t.mu.Lock()
		t.free = append(t.free, s)
		t.mu.Unlock()
	}
}

// bytes is a buffer as bytes, and its device's lane.
func (e *Engine) bytes(b *cuda.Buffer) (*lane, *cuda.Buffer, error) {
	l, err := e.lane(b.Device())
	if err != nil {
		return nil, nil, err
	}
	raw, err := b.As(cuda.Uint8)
	return l, raw, err
}

// eventPool has the events that other processes can open. To record one again before
// it is done, on another stream, can end their waits too early.
type eventPool struct {
	mu      sync.Mutex
	free    []*cuda.Event                 // done, and waited for by all who would
	later   []*cuda.Event                 // perhaps not done, or still to be waited for; oldest first
	handles map[*cuda.Event]cuda.IPCEvent // that they are opened by
}

// mostLater is how many events are kept from being used again until there are
// more of them: to ask whether one is done takes longer than to have some more.
const mostLater = 16

// take gives an event that was last recorded on no other stream, or is done.
func (p *eventPool) take(d *cuda.Device) (*cuda.Event, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		ev := p.free[n-1]
		p.free = p.free[:n-1]
		return ev, nil
	}
	if len(p.later) > mostLater {
		// What was last recorded on it is done: whoever may still come to wait for
		// that, waits for more, not for less.
		ev := p.later[0]
		if done, err := ev.Query(); err != nil || done {
			p.later = p.later[1:]
			return ev, err
		}
	}
	return d.NewEvent(cuda.Interprocess, cuda.DisableTiming)
}

// handle is what other processes open an event by.
func (p *eventPool) handle(ev *cuda.Event) (cuda.IPCEvent, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h, ok := p.handles[ev]
	if ok {
		return h, nil
	}
	h, err := ev.IPCHandle()
	if err == nil {
		if p.handles == nil {
			p.handles = map[*cuda.Event]cuda.IPCEvent{}
		}
		p.handles[ev] = h
	}
	return h, err
}

// put takes an event back that is done; putLater one that is not, or for which
// another process may still come to wait. No event is nothing.
func (p *eventPool) put(ev *cuda.Event) {
	if ev != nil {
		p.mu.Lock()
		p.free = append(p.free, ev)
		p.mu.Unlock()
	}
}

func (p *eventPool) putLater(ev *cuda.Event) {
	if ev != nil {
		p.mu.Lock()
		p.later = append(p.later, ev)
		p.mu.Unlock()
	}
}

// record marks the end of what is queued on a stream.
func (l *lane) record(s *cuda.Stream) (*cuda.Event, error) {
	ev, err := l.events.take(l.Device)
	if err != nil {
		return nil, err
	}
	if err := ev.Record(s); err != nil {
		l.events.putLater(ev)
		return nil, err
	}
	return ev, nil
}

// After does work on the engine's stream when what the program has queued on a stream
// by now is done; nil is the default stream. It tells how to ask whether all is over:
// that also begins the work. Nothing is queued that waits, for it would hold back
// other messages.
func (e *Engine) After(d *cuda.Device, s *cuda.Stream, work func(on *cuda.Stream) error) (func() (bool, error), error) {
	l, err := e.lane(d)
	if err != nil {
		return nil, err
	}
	return l.after(s, work)
}

func (l *lane) after(s *cuda.Stream, work func(on *cuda.Stream) error) (func() (bool, error), error) {
	ev, err := l.record(s)
	if err != nil {
		return nil, err
	}
	begun := false
	return func() (over bool, err error) {
		if over, err = ev.Query(); err != nil || !over {
			return false, err
		}
		if !begun {
			begun = true
			if err := errors.Join(work(l.Stream), ev.Record(l.Stream)); err != nil {
				return false, err
			}
			if over, err = ev.Query(); err != nil || !over {
				return false, err
			}
		}
		l.events.put(ev)
		return true, nil
	}, nil
}

// fragmentBytes is the length of a fragment of a message that goes through the host.
const fragmentBytes = 1 << 20

// pinnedPool has pinned memory for fragments.
type pinnedPool struct {
	mu   sync.Mutex
	free []*cuda.HostBuffer
}

func (p *pinnedPool) take(d *cuda.Device) (h *cuda.HostBuffer, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		h = p.free[n-1]
		p.free = p.free[:n-1]
		return h, nil
	}
	err = ipc.Allocating(func() (err error) {
		h, err = d.AllocHost(fragmentBytes, cuda.Uint8)
		return err
	})
	return h, err
}

func (p *pinnedPool) put(h *cuda.HostBuffer) {
	p.mu.Lock()
	p.free = append(p.free, h)
	p.mu.Unlock()
}

// stagingPool has device memory for packed messages, by the logarithm of its length.
type stagingPool struct {
	mu   sync.Mutex
	free map[int][]*cuda.Buffer
}

// Staging is device memory for a packed message of n bytes, and how to give it
// back. Others that have opened it find it again: it is not freed before Close.
func (e *Engine) Staging(d *cuda.Device, n int) (*cuda.Buffer, func(), error) {
	l, err := e.lane(d)
	if err != nil {
		return nil, nil, err
	}
	p := &l.staging
	class := bits.Len(uint(max(n, Inline) - 1))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free == nil {
		p.free = map[int][]*cuda.Buffer{}
	}
	var whole *cuda.Buffer
	if free := p.free[class]; len(free) > 0 {
		whole = free[len(free)-1]
		p.free[class] = free[:len(free)-1]
	} else if err := ipc.Allocating(func() (err error) {
		whole, err = d.Alloc(1<<class, cuda.Uint8)
		return err
	}); err != nil {
		return nil, nil, err
	}
	return whole.Slice(0, n), func() {
		p.mu.Lock()
		p.free[class] = append(p.free[class], whole)
		p.mu.Unlock()
	}, nil
}
