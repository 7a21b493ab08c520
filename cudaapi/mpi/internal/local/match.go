package local

import (
	"fmt"
	"unsafe"

	"gocuda/cudaapi/mpi/internal/transport"
)

// context is one space of matching: a communicator's point-to-point messages,
// or its collectives'. Ranks in it are the world's; a message may come before
// this rank has made the communicator.
type context struct {
	id         uint32
	group      []int       // the world's ranks, by the communicator's; nil: not made yet
	rankOf     map[int]int // the other way
	first      *request    // receives that wait, in the order they were posted
	last       *request
	unexpected []*inbound    // messages that wait, in the order they came
	entered    *entered      // of collectives; nil: of messages, or not made yet
	lost       chan struct{} // closed when one of the group, or the launcher, is lost; nil: not made yet
	ballots    uint32        // agreements that this rank has begun
	revoked    bool
}

// inbound is a message that came before its receive.
type inbound struct {
	f    frame
	from int // rank of the world
	data []byte
	self *request // a send to itself that waits
}

func (e *engine) context(id uint32) *context {
	c := e.contexts[id]
	if c == nil {
		c = &context{id: id}
		e.contexts[id] = c
	}
	return c
}

func (c *context) post(r *request) {
	r.context, r.posted = c, true
	r.prev = c.last
	if c.last == nil {
		c.first = r
	} else {
		c.last.next = r
	}
	c.last = r
}

func (c *context) unpost(r *request) {
	if r.prev == nil {
		c.first = r.next
	} else {
		r.prev.next = r.next
	}
	if r.next == nil {
		c.last = r.prev
	} else {
		r.next.prev = r.prev
	}
	r.prev, r.next, r.posted = nil, nil, false
}

func matches(source, tag, from, has int) bool {
	return (source == from || source == transport.AnySource) && (tag == has || tag == transport.AnyTag)
}

// receiver takes the receive that a message is for off the list.
func (c *context) receiver(from, tag int) *request {
	for r := c.first; r != nil; r = r.next {
		if matches(r.peer, r.tag, from, tag) {
			c.unpost(r)
			return r
		}
	}
	return nil
}

// find is the place of the first message that fits, -1 if there is none.
func (c *context) find(source, tag int) int {
	for i, m := range c.unexpected {
		if matches(source, tag, m.from, int(m.f.tag)) {
			return i
		}
	}
	return -1
}

func (c *context) remove(i int) *inbound {
	m := c.unexpected[i]
	if i == 0 { // most often
		c.unexpected[0] = nil
		c.unexpected = c.unexpected[1:]
	} else {
		c.unexpected = append(c.unexpected[:i], c.unexpected[i+1:]...)
	}
	return m
}

// status reports a message in the communicator's ranks.
func (c *context) status(from int, f *frame) transport.Status {
	source, ok := c.rankOf[from]
	if !ok {
		source = from
	}
	return transport.Status{Source: source, Tag: int(f.tag), Bytes: int(f.size)}
}

// arrived completes a receive of a message whose elements are of a type.
func (r *request) arrived(s transport.Status, typ transport.Type) {
	if want := r.buf.Sent(); !typ.Matches(want) && s.Bytes > 0 {
		err := &transport.Error{Class: transport.WrongType, Call: "MPI_Recv", Text: fmt.Sprintf(
			"the message from rank %d with tag %d is of %s, the receive asks for %s", s.Source, s.Tag, typ, want)}
		r.complete(s, err)
		return
	}
	if s.Bytes > r.buf.Bytes() {
		err := &transport.Error{Class: transport.Truncate, Call: "MPI_Recv", Text: fmt.Sprintf(
			"the message from rank %d with tag %d has %d bytes, the receive has room for %d", s.Source, s.Tag, s.Bytes, r.buf.Bytes())}
		r.complete(s, err)
		return
	}
	r.complete(s, nil)
}

// take deals with a frame of rank from. An error means that the frame is
// damaged.
func (e *engine) take(from int, in *ring, f *frame) error {
	switch f.kind {
	case frameEager, frameSync:
		if uint64(f.payload) != f.size {
			return damaged("a message of %d bytes with %d", f.size, f.payload)
		}
		c := e.context(f.context)
		if !e.wanted(c, from, f) {
			return nil
		}
		if r := c.receiver(from, int(f.tag)); r != nil {
			in.payload(f, r.buf.P, min(f.payload, r.buf.Bytes()))
			e.acknowledge(from, f)
			r.arrived(c.status(from, f), f.typ)
			return nil
		}
		m := &inbound{f: *f, from: from}
		if f.payload > 0 {
			m.data = make([]byte, f.payload)
			in.payload(f, unsafe.Pointer(&m.data[0]), f.payload)
		}
		c.unexpected = append(c.unexpected, m)
	case frameReady:
		if f.size == 0 || f.size > 1<<62 {
			return damaged("a large message of %d bytes", f.size)
		}
		c := e.context(f.context)
		if !e.wanted(c, from, f) {
			return nil
		}
		if r := c.receiver(from, int(f.tag)); r != nil {
			e.fetch(r, c, from, f)
			return nil
		}
		c.unexpected = append(c.unexpected, &inbound{f: *f, from: from})
	case frameDone:
		r := e.sends[f.id]
		if r == nil || r.peer != from {
			return damaged("news of message %d, which is not on its way", f.id)
		}
		delete(e.sends, f.id)
		r.complete(transport.Status{}, nil)
	case framePull:
		r := e.sends[f.id]
		if r == nil || r.peer != from || f.size > uint64(r.size) {
			return damaged("a request for %d bytes of message %d", f.size, f.id)
		}
		delete(e.sends, f.id)
		r.other, r.want = f.addr, int(f.size)
		e.pushes = append(e.pushes, r)
	case frameData:
		return e.feed(from, in, f)
	}
	return nil
}

// wanted tells whether a message may be received; if not, it lets it go.
func (e *engine) wanted(c *context, from int, f *frame) bool {
	switch {
	case c.revoked:
		e.drop(&inbound{f: *f, from: from})
	case !c.fits(f):
		e.strange(c, from, f)
	default:
		return true
	}
	return false
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("it sent a damaged message ("+format+")", args...)
}

// acknowledge tells the sender of a synchronous message that it is received.
func (e *engine) acknowledge(to int, f *frame) {
	if f.kind == frameSync {
		e.post(to, frame{kind: frameDone, id: f.id}, nil, nil)
	}
}

// accept gives a message that waited to a receive.
func (e *engine) accept(r *request, c *context, m *inbound) {
	switch {
	case m.self != nil:
		move(r.buf, m.self.buf)
		m.self.complete(transport.Status{}, nil)
		r.arrived(c.status(m.from, &m.f), m.f.typ)
	case m.f.kind == frameReady:
		e.fetch(r, c, m.from, &m.f)
	default:
		if len(m.data) > 0 {
			copy(bytesOf(r.buf), m.data)
		}
		e.acknowledge(m.from, &m.f)
		r.arrived(c.status(m.from, &m.f), m.f.typ)
	}
}

func bytesOf(m transport.Memory) []byte {
	if m.N == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(m.P), m.Bytes())
}

// move copies what fits.
func move(dst, src transport.Memory) { copy(bytesOf(dst), bytesOf(src)) }
