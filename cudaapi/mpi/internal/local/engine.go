package local

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"gocuda/cudaapi/mpi/internal/transport"
)

// engine is what a rank knows of the messages under way. mu guards it, the
// reading of incoming rings and the writing of outgoing ones.
type engine struct {
	rank, size int
	crowded    bool     // there are more ranks than processors
	direct     bool     // large messages are read from their sender's memory
	segment    *segment // nil for a world of one
	cookie     *uint64

	mu       sync.Mutex
	closed   bool
	peers    []peerState
	contexts map[uint32]*context
	nextID   uint64
	sends    map[uint64]*request // that wait for a word of the receiver
	recvs    map[uint64]*request // that are fed by frameData
	pulls    []*request          // that copy from the sender's memory
	pushes   []*request          // that are sent in parts
	queued   int                 // frames that wait for room, in all backlogs
	allotted uint64              // how many contexts this rank has given out

	losses   atomic.Int32 // of ranks and of the launcher
	launcher error        // the launcher is gone
	revoked  atomic.Bool  // a communicator was
	vote     func(note) error
	verdicts map[ballot]chan verdict // that are waited for

	polls   atomic.Uint32 // counts that somebody asked for progress
	waiters atomic.Int32  // goroutines that sleep until the agent has made progress
	kick    chan struct{} // one of them began
	quit    chan struct{}
	ended   chan struct{}

	collMu sync.Mutex
	colls  []*collective
	nColls atomic.Int32
}

// peerState is what concerns one other rank.
type peerState struct {
	out, in  *ring
	pid      int
	readable bool // by readProcess
	backlog  []queuedFrame
	lost     error
}

// queuedFrame waits for room in a ring.
type queuedFrame struct {
	f    frame
	data unsafe.Pointer
	owns *request // is complete once the frame is written
}

func newEngine(rank, size int, seg *segment) *engine {
	e := &engine{
		rank: rank, size: size, segment: seg,
		crowded:  size > runtime.NumCPU(),
		direct:   size > runtime.NumCPU(),
		peers:    make([]peerState, size),
		contexts: map[uint32]*context{},
		sends:    map[uint64]*request{},
		recvs:    map[uint64]*request{},
		verdicts: map[ballot]chan verdict{},
		kick:     make(chan struct{}, 1),
		quit:     make(chan struct{}),
		ended:    make(chan struct{}),
	}
	for i := range e.peers {
		if i != rank {
			e.peers[i].out, e.peers[i].in = seg.ring(rank, i), seg.ring(i, rank)
		}
	}
	return e
}

// progress moves all that is under way. It reports whether anything happened.
// If another goroutine is at it, it does nothing, unless it is to be thorough.
func (e *engine) progress(thorough bool) (moved bool) {
	if thorough {
		e.mu.Lock()
	} else if !e.mu.TryLock() {
		return false
	}
	if e.closed {
		e.mu.Unlock()
		return false
	}
	moved = e.drain()
	if e.queued > 0 || len(e.pushes) > 0 {
		moved = e.write() || moved
	}
	var pull *request
	if len(e.pulls) > 0 {
		pull = e.nextPull()
	}
	e.mu.Unlock()
	if pull != nil {
		e.pull(pull)
		moved = true
	}
	if e.nColls.Load() > 0 {
		moved = e.advance() || moved
	}
	return moved
}

const (
	// drainFrames is how many frames of a peer are taken before the next one's.
	drainFrames = 64
	// fewRanks is how many rings are looked into each time. In a larger world, only
	// those whose writer has said so: to look into all would also give each of them
	// a page of memory.
	fewRanks = 16
)

// drain takes what has come.
func (e *engine) drain() (moved bool) {
	if e.size <= fewRanks {
		for i := range e.peers {
			some, _ := e.drainFrom(i)
			moved = some || moved
		}
		return moved
	}
	written := &e.segment.rank(e.rank).written
	for w := range (e.size + 63) / 64 {
		if written[w].Load() == 0 {
			continue
		}
		for set := written[w].Swap(0); set != 0; set &= set - 1 {
			bit := bits.TrailingZeros64(set)
			some, more := e.drainFrom(64*w + bit)
			if more {
				written[w].Or(1 << bit)
			}
			moved = some || moved
		}
	}
	return moved
}

// drainFrom takes what has come from one rank; more says that there may be more.
func (e *engine) drainFrom(i int) (moved, more bool) {
	p := &e.peers[i]
	if p.in == nil {
		return false, false
	}
	var f frame
	for range drainFrames {
		there, err := p.in.peek(&f)
		if err == nil && !there {
			return moved, false
		}
		if err == nil {
			err = e.take(i, p.in, &f)
		}
		if err != nil {
			e.markLost(i, err.Error())
			return moved, false
		}
		moved = true
		if p.in.next(&f) {
			e.wake(i)
		}
	}
	return moved, true
}

// post sends a frame, now or when there is room. owns, if any, is complete then.
func (e *engine) post(to int, f frame, data unsafe.Pointer, owns *request) {
	p := &e.peers[to]
	if p.lost != nil {
		if owns != nil {
			owns.complete(transport.Status{}, p.lost)
		}
		return
	}
	if len(p.backlog) == 0 && p.out.write(&f, data) {
		e.wake(to)
		if owns != nil {
			owns.complete(transport.Status{}, nil)
		}
		return
	}
	p.backlog = append(p.backlog, queuedFrame{f, data, owns})
	e.queued++
	e.awaitRoom(p)
	e.nudge()
}

// awaitRoom asks the reader to say when it has read.
func (e *engine) awaitRoom(p *peerState) { p.out.ctl.want.Store(1) }

// write writes what waited for room, then parts of large messages.
func (e *engine) write() (moved bool) {
	for i := range e.peers {
		p := &e.peers[i]
		wrote := 0
		for len(p.backlog) > 0 {
			q := &p.backlog[0]
			if !p.out.write(&q.f, q.data) {
				e.awaitRoom(p)
				if !p.out.write(&q.f, q.data) {
					break
				}
			}
			if q.owns != nil {
				q.owns.complete(transport.Status{}, nil)
			}
			p.backlog[0] = queuedFrame{}
			p.backlog = p.backlog[1:]
			e.queued--
			wrote++
		}
		if wrote > 0 {
			e.wake(i)
			moved = true
		}
	}
	return e.push() || moved
}

// wake is called after something was written for a rank, or its ring was read: it
// wakes the rank's agent if that sleeps.
func (e *engine) wake(rank int) {
	them := e.segment.rank(rank)
	if e.size > fewRanks {
		them.written[e.rank/64].Or(1 << (e.rank % 64))
	}
	word := &them.asleep
	if word.Load() != 0 && word.CompareAndSwap(1, 0) {
		futexWake(unsafe.Pointer(word))
	}
}

// nudge makes this rank's own agent look.
func (e *engine) nudge() {
	if e.segment != nil {
		e.wake(e.rank)
	}
}

// flush waits until all frames are written.
func (e *engine) flush() {
	for {
		e.mu.Lock()
		left := e.queued > 0 && e.losses.Load() == 0
		e.mu.Unlock()
		if !left {
			return
		}
		e.progress(true)
		yieldProcessor()
	}
}

var errClosed = &transport.Error{Class: transport.Other, Call: "MPI_Finalize", Text: "the operation was not over when MPI was finalized"}

// close ends everything.
func (e *engine) close() {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return
	}
	e.closed = true
	close(e.quit)
	e.nudge()
	e.mu.Unlock()
	if e.segment != nil {
		<-e.ended
	}
	e.mu.Lock()
	e.failAll(func(*request) error { return errClosed })
	e.unheard()
	e.mu.Unlock()
	for _, x := range e.underWay() { // for those that sleep in one
		x.state() // not Advance, which leaves it to a goroutine that may have looked before they failed
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.segment != nil {
		for i := range e.peers {
			e.peers[i].in, e.peers[i].out, e.peers[i].backlog = nil, nil, nil
		}
		unmapSegment(e.segment.mem)
		e.segment = nil
	}
}
