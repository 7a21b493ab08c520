package mpi

import (
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi/internal/device"
	"gocuda/cudaapi/mpi/internal/transport"
	"gocuda/cudaapi/mpi/waitfor"
)

// Partitioned is a message that is sent, or received, in parts (MPI_Psend_init,
// MPI_Precv_init): each goes when the program says that it is ready, and the receiver may
// use each that has arrived. Start begins a round, Wait ends it. Its methods may be called
// by any goroutine.
//
// Under every library a part is a message of this package's.
type Partitioned struct {
	c         *Comm
	send      bool
	peer, tag int
	whole     memory
	n         int // parts at this rank

	mu       sync.Mutex
	first    int      // the tag of the sender's first part; 0: not known yet
	parts    []memory // the sender's
	active   bool
	requests []*Request // by the sender's parts; nil: not ready, or not posted
	queued   int        // parts that streams are to send
	failed   error
}

// Tags of parts on the communicator's side, above those of all others. A note tells the
// receiver which ones a send uses, and how many.
const (
	noteTag      = device.FreeTag + 64
	firstPartTag = noteTag + 1
)

// partNotes pair sends and receives in parts.
type partNotes struct {
	mu    sync.Mutex
	next  map[int]int                // by the receiver: the next tag
	came  map[partKey][]partNote     // before their receives were made
	waits map[partKey][]*Partitioned // receives without a note
}

type partKey struct{ peer, tag int }

// partNote is what a sender tells.
type partNote struct{ tag, first, parts, bytes int }

// PsendInit makes a send of buf in n parts of equal length. Sends and receives in parts
// that two ranks make with one tag belong together in the order in which they are made.
// They have as many bytes, and may have different numbers of parts.
func (c *Comm) PsendInit(buf any, n, dest, tag int) (*Partitioned, error) {
	const call = "Comm.PsendInit"
	if err := c.check(call, dest, tag); err != nil {
		return nil, err
	}
	p, err := c.partitioned(call, buf, n, dest, tag)
	if err != nil {
		return nil, err
	}
	p.send = true
	if p.first, err = c.partTags(call, dest, n); err != nil {
		return nil, err
	}
	p.cut(n)
	var note [32]byte
	for i, v := range []int{tag, p.first, n, p.whole.N} {
		binary.LittleEndian.PutUint64(note[8*i:], uint64(v))
	}
	r, err := c.side.Isend(device.Host(note[:]), dest, noteTag)
	if err != nil {
		return nil, c.fail(call, dest, err)
	}
	c.w.abandon(r)
	c.w.settle()
	return p, nil
}

// PrecvInit makes a receive of buf in n parts of equal length.
func (c *Comm) PrecvInit(buf any, n, source, tag int) (*Partitioned, error) {
	const call = "Comm.PrecvInit"
	if err := c.checkRecv(call, source, tag); err != nil {
		return nil, err
	}
	if source == AnySource || tag == AnyTag {
		return nil, c.misuse(ErrRank, call, "a receive in parts names its source and its tag")
	}
	p, err := c.partitioned(call, buf, n, source, tag)
	if err != nil {
		return nil, err
	}
	if err := c.checkWritable(call, &p.whole); err != nil {
		return nil, err
	}
	if source == ProcNull {
		p.first = firstPartTag
		p.cut(n)
		return p, nil
	}
	x, key := &c.notes, partKey{source, tag}
	x.mu.Lock()
	defer x.mu.Unlock()
	if list := x.came[key]; len(list) > 0 {
		p.take(list[0])
		x.came[key] = list[1:]
	} else {
		x.init()
		x.waits[key] = append(x.waits[key], p)
	}
	return p, nil
}

// partitioned checks what both sides have.
func (c *Comm) partitioned(call string, buf any, n, peer, tag int) (*Partitioned, error) {
	m, bad := resolve(call, buf)
	switch {
	case bad != nil:
		return nil, c.at(bad)
	case m.inPlace || m.spread != nil:
		return nil, c.misuse(ErrBuffer, call, "a %T has no parts", buf).hint("give a whole buffer")
	case n < 1 || m.elems()%n != 0:
		return nil, c.misuse(ErrCount, call, "%d elements are no %d parts of equal length", m.elems(), n)
	}
	return &Partitioned{c: c, peer: peer, tag: tag, whole: m, n: n}, nil
}

// partTags gives a send tags that no other to that rank has.
func (c *Comm) partTags(call string, dest, n int) (int, error) {
	x := &c.notes
	x.mu.Lock()
	defer x.mu.Unlock()
	x.init()
	first := max(x.next[dest], firstPartTag)
	if first+n-1 > c.w.tagUB {
		return 0, c.misuse(ErrTag, call, "%d parts to rank %d have used up the tags", first-firstPartTag+n, dest)
	}
	x.next[dest] = first + n
	return first, nil
}

// init makes the maps; mu is held.
func (x *partNotes) init() {
	if x.next == nil {
		x.next, x.came, x.waits = map[int]int{}, map[partKey][]partNote{}, map[partKey][]*Partitioned{}
	}
}

// look takes the notes that have come from a rank.
func (c *Comm) look(from int) error {
	x := &c.notes
	x.mu.Lock()
	defer x.mu.Unlock()
	for {
		m, _, there, err := c.side.Improbe(from, noteTag)
		if err != nil || !there {
			return err
		}
		text := make([]byte, 32)
		r, err := m.Imrecv(device.Host(text))
		if err == nil {
			err = device.Wait(r)
		}
		if err != nil {
			return err
		}
		var v [4]int
		for i := range v {
			v[i] = int(binary.LittleEndian.Uint64(text[8*i:]))
		}
		note, key := partNote{v[0], v[1], v[2], v[3]}, partKey{from, v[0]}
		if list := x.waits[key]; len(list) > 0 {
			list[0].mu.Lock()
			list[0].take(note)
			list[0].mu.Unlock()
			x.waits[key] = list[1:]
		} else {
			x.init()
			x.came[key] = append(x.came[key], note)
		}
	}
}

// take learns how the sender cuts its buffer; mu is held, or nobody else has p.
func (p *Partitioned) take(note partNote) {
	p.first = note.first
	if note.bytes != p.whole.N || note.parts < 1 || p.whole.elems()%note.parts != 0 {
		p.failed = p.c.misuse(ErrCount, "Partitioned.Start", "the sender has %d parts of %d bytes, this rank %d bytes, in elements of %d", note.parts, note.bytes/max(note.parts, 1), p.whole.N, p.whole.size)
		p.first = -1
		return
	}
	p.cut(note.parts)
}

// cut makes the parts.
func (p *Partitioned) cut(n int) {
	p.parts, p.requests = make([]memory, n), make([]*Request, n)
	for i := range p.parts {
		each := p.whole.elems() / n
		p.parts[i] = p.whole.cut(i*each, each)
	}
}

// Start begins a round (MPI_Start). Of a send, no part is ready then. It does not block.
func (p *Partitioned) Start() error {
	const call = "Partitioned.Start"
	if err := p.usable(call); err != nil {
		return err
	}
	p.mu.Lock()
	if p.active {
		p.mu.Unlock()
		return p.c.misuse(ErrRequest, call, "a round is under way").hint("wait for it first")
	}
	p.active = true
	clear(p.requests)
	p.mu.Unlock()
	if p.send {
		return nil
	}
	posted, err := p.post()
	if err == nil && !posted {
		go p.await()
	}
	return err
}

// await posts the receives of a round that began before the sender's note came, whatever
// the program waits for meanwhile.
func (p *Partitioned) await() {
	for nap := 20 * time.Microsecond; p.c.usable("Partitioned.Start") == nil; nap = min(2*nap, time.Millisecond) {
		if posted, err := p.post(); posted || err != nil {
			return
		}
		time.Sleep(nap)
	}
}

func (p *Partitioned) usable(call string) error {
	if p == nil {
		return misuse(ErrRequest, call, "the message is nil")
	}
	return p.c.usable(call)
}

// post posts the receives of a round, when the sender's cut is known.
func (p *Partitioned) post() (posted bool, err error) {
	p.mu.Lock()
	unknown := p.first == 0
	p.mu.Unlock()
	if unknown {
		if err := p.c.look(p.peer); err != nil {
			return false, p.c.fail("Partitioned.Start", p.peer, err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed != nil || p.first == 0 || !p.active || p.requests[0] != nil {
		return p.first != 0, p.failed
	}
	for i := range p.parts {
		m := &p.parts[i]
		in := p.c.begin("Partitioned.Start", nil, written(m))
		r, err := p.c.irecvBy(p.c.aside, m, p.peer, p.first+i)
		if err != nil {
			in.end()
			p.failed = p.c.fail("Partitioned.Start", p.peer, err)
			return false, p.failed
		}
		p.requests[i] = &Request{p: p.pending(r, m, in)}
	}
	return true, nil
}

func (p *Partitioned) pending(r transport.Request, m *memory, t transfer) pending {
	return pending{c: p.c, call: "Partitioned.Wait", r: r, peer: p.peer, tag: p.tag, recv: !p.send, size: 1, onDevice: m.onDevice(), transfer: t,
		bytes: m.length(), purpose: purpose{kind: waitfor.Other}}
}

// Pready says that parts of a send are ready: they go at once (MPI_Pready,
// MPI_Pready_list).
func (p *Partitioned) Pready(parts ...int) error {
	const call = "Partitioned.Pready"
	if err := p.usable(call); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range parts {
		if err := p.ready(call, i); err != nil {
			return err
		}
	}
	return nil
}

// PreadyRange does so of the parts from low to high, high included (MPI_Pready_range).
func (p *Partitioned) PreadyRange(low, high int) error {
	const call = "Partitioned.PreadyRange"
	if err := p.usable(call); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := low; i <= high; i++ {
		if err := p.ready(call, i); err != nil {
			return err
		}
	}
	return nil
}

// PreadyOn says that a part is ready when the work that was queued in a stream so far is
// done. It does not wait for it.
func (p *Partitioned) PreadyOn(part int, s *cuda.Stream) error {
	const call = "Partitioned.PreadyOn"
	if err := p.usable(call); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.may(call, part); err != nil {
		return err
	}
	err := s.LaunchHostFunc(func() {
		go func() { // a stream's function makes no calls of CUDA, and a send of device memory does
			p.mu.Lock()
			defer p.mu.Unlock()
			p.queued--
			if err := p.ready(call, part); err != nil && p.failed == nil {
				p.failed = err
			}
		}()
	})
	if err == nil {
		p.queued++
	}
	return err
}

// may tells why a part cannot be made ready; mu is held.
func (p *Partitioned) may(call string, i int) error {
	switch {
	case !p.send:
		return p.c.misuse(ErrRequest, call, "this is a receive")
	case !p.active:
		return p.c.misuse(ErrRequest, call, "no round is under way").hint("call Start first")
	case i < 0 || i >= p.n:
		return p.c.misuse(ErrArg, call, "part %d is not from 0 to %d", i, p.n-1)
	case p.requests[i] != nil:
		return p.c.misuse(ErrArg, call, "part %d was ready before", i)
	}
	return nil
}

// ready sends a part; mu is held.
func (p *Partitioned) ready(call string, i int) error {
	if err := p.may(call, i); err != nil {
		return err
	}
	m := &p.parts[i]
	out := p.c.begin(call, nil, read(m))
	r, err := p.c.isendBy(p.c.aside, m, p.peer, p.first+i, false)
	if err != nil {
		out.end()
		return p.c.fail(call, p.peer, err)
	}
	p.requests[i] = &Request{p: p.pending(r, m, out)}
	return nil
}

// Parrived tells whether a part of a receive has arrived, and may be used (MPI_Parrived).
// It does not block.
func (p *Partitioned) Parrived(part int) (bool, error) {
	const call = "Partitioned.Parrived"
	if err := p.usable(call); err != nil {
		return false, err
	}
	if p.send || part < 0 || part >= p.n {
		return false, p.c.misuse(ErrArg, call, "there is no part %d to receive", part)
	}
	if _, err := p.post(); err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.active {
		return true, nil
	}
	if p.first == 0 {
		return false, nil
	}
	// The sender's parts that lie in it.
	n := len(p.parts)
	for i := part * n / p.n; i < min(n, ((part+1)*n+p.n-1)/p.n); i++ {
		if _, done, err := p.requests[i].Test(); !done || err != nil {
			return false, err
		}
	}
	return true, nil
}

// Wait blocks until the round is over: all parts are ready and sent, or all have arrived
// (MPI_Wait).
func (p *Partitioned) Wait() error {
	const call = "Partitioned.Wait"
	if err := p.usable(call); err != nil {
		return err
	}
	x := newWaiter(p.c.w)
	defer x.done()
	shown := pending{c: p.c, call: call, peer: p.peer, tag: p.tag, bytes: p.whole.N, purpose: purpose{kind: waitfor.Other}}
	for {
		over, err := p.Test()
		if err != nil || over {
			return err
		}
		if err := x.pause(&shown); err != nil {
			return err
		}
	}
}

// Test tells whether the round is over (MPI_Test). It does not block.
func (p *Partitioned) Test() (bool, error) {
	const call = "Partitioned.Test"
	if err := p.usable(call); err != nil {
		return false, err
	}
	if !p.send {
		if _, err := p.post(); err != nil {
			return p.end(err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.active:
		return true, nil
	case p.failed != nil && p.queued == 0:
		err := p.failed
		p.active, p.failed = false, nil
		return true, err
	case p.first == 0 || p.queued > 0:
		return false, nil
	}
	for _, r := range p.requests {
		if r == nil {
			return false, nil
		}
		if _, done, err := r.Test(); !done {
			return false, nil
		} else if err != nil {
			p.active = false
			return true, err
		}
	}
	p.active = false
	return true, nil
}

// end ends a round that failed.
func (p *Partitioned) end(err error) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active = false
	return true, err
}

func (p *Partitioned) String() string {
	what, who := "receive", "from"
	if p.send {
		what, who = "send", "to"
	}
	return fmt.Sprintf("%s in %d parts of %d bytes, %s rank %d, tag %d", what, p.n, p.whole.N/p.n, who, p.peer, p.tag)
}
