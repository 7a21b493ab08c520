package mpi

import (
	"sync/atomic"

	"gocuda/cudaapi/mpi/internal/transport"
	"gocuda/cudaapi/mpi/waitfor"
	"gocuda/cudaapi/record"
)

// Wildcards and the rank of nobody (MPI_ANY_SOURCE, MPI_ANY_TAG,
// MPI_PROC_NULL).
const (
	AnySource = transport.AnySource
	AnyTag    = transport.AnyTag
	// ProcNull is a peer to whom sends go nowhere, and from whom receives come
	// at once and empty: beyond the edge of a grid, for instance.
	ProcNull = transport.ProcNull
)

// Status reports a message that came (MPI_Status).
type Status struct {
	Source, Tag int
	Bytes       int
	Cancelled   bool // the receive was cancelled before a message came
}

// Count is the number of elements that came, of the type of buf's: the buffer
// that received them, or one like it (MPI_Get_count). It is -1 if the bytes are
// no whole number of elements.
func (s Status) Count(buf any) int {
	m, err := resolve("Status.Count", buf)
	if err != nil || s.Bytes%m.size != 0 {
		return -1
	}
	return s.Bytes / m.size
}

// Send sends buf to rank dest (MPI_Send). It returns when buf may be used again:
// for short messages usually at once, for long ones when the receive has begun.
func (c *Comm) Send(buf any, dest, tag int) error {
	p, err := c.isend("Comm.Send", buf, dest, tag, false)
	return c.wait(p, err)
}

// Ssend sends and returns when the receive has begun (MPI_Ssend).
func (c *Comm) Ssend(buf any, dest, tag int) error {
	p, err := c.isend("Comm.Ssend", buf, dest, tag, true)
	return c.wait(p, err)
}

// Recv receives into buf (MPI_Recv); it blocks until a message has come. source
// may be AnySource, tag AnyTag. A message may be shorter than buf, and Status
// tells how long it was; a longer one is an error, ErrTruncate. Sender and
// receiver must agree on the elements' type, but that bytes may be anything. The
// built-in transport says by ErrType if they do not, of memory of the host;
// libraries do not tell what was sent.
func (c *Comm) Recv(buf any, source, tag int) (Status, error) {
	p, err := c.irecv("Comm.Recv", buf, source, tag)
	if err != nil {
		return Status{}, err
	}
	return p.wait()
}

// Isend starts a send (MPI_Isend). buf must not be written to until the request
// is complete.
func (c *Comm) Isend(buf any, dest, tag int) (*Request, error) {
	return request(c.isend("Comm.Isend", buf, dest, tag, false))
}

// Issend starts a send that is complete when the receive has begun (MPI_Issend).
func (c *Comm) Issend(buf any, dest, tag int) (*Request, error) {
	return request(c.isend("Comm.Issend", buf, dest, tag, true))
}

// Irecv starts a receive (MPI_Irecv). buf must not be used until the request is
// complete.
func (c *Comm) Irecv(buf any, source, tag int) (*Request, error) {
	return request(c.irecv("Comm.Irecv", buf, source, tag))
}

// Sendrecv sends and receives at once, so that ranks which all send to each
// other do not wait for each other (MPI_Sendrecv). It blocks until both are
// done. send and recv must not overlap.
func (c *Comm) Sendrecv(send any, dest, sendTag int, recv any, source, recvTag int) (Status, error) {
	const call = "Comm.Sendrecv"
	s, err := resolve(call, send)
	if err != nil {
		return Status{}, c.at(err)
	}
	r, err := resolve(call, recv)
	if err != nil {
		return Status{}, c.at(err)
	}
	if s.overlaps(&r) {
		return Status{}, c.misuse(ErrBuffer, call, "the send and receive buffers overlap")
	}
	in, fail := c.receive(call, &r, source, recvTag)
	if fail != nil {
		return Status{}, fail
	}
	out, fail := c.send(call, &s, dest, sendTag, false)
	if fail != nil {
		if _, over, _ := in.giveUp(fail); !over {
			c.w.abandon(in.r)
		}
		return Status{}, fail
	}
	return c.waitBoth(in, out)
}

// waitBoth waits for a receive, then for a send.
func (c *Comm) waitBoth(in, out pending) (Status, error) {
	st, err := in.wait()
	if err != nil {
		c.w.abandon(out.r)
		return st, err
	}
	_, err = out.wait()
	return st, err
}

// SendrecvReplace sends what buf holds, and receives into it
// (MPI_Sendrecv_replace): what comes may be shorter. It blocks until both are done.
func (c *Comm) SendrecvReplace(buf any, dest, sendTag, source, recvTag int) (Status, error) {
	const call = "Comm.SendrecvReplace"
	m, bad := resolve(call, buf)
	if bad != nil {
		return Status{}, c.at(bad)
	}
	if err := c.checkWritable(call, &m); err != nil {
		return Status{}, err
	}
	out, err := c.bsend(call, &m, dest, sendTag)
	if err != nil {
		return Status{}, err
	}
	in, err := c.receive(call, &m, source, recvTag)
	if err != nil {
		c.w.abandon(out.r)
		return Status{}, err
	}
	return c.waitBoth(in, out)
}

// Bsend sends a copy of buf, which may be used again at once, whether it is
// received or not (MPI_Bsend). The copy is this package's: no buffer is attached.
func (c *Comm) Bsend(buf any, dest, tag int) error {
	const call = "Comm.Bsend"
	m, bad := resolve(call, buf)
	if bad != nil {
		return c.at(bad)
	}
	p, err := c.bsend(call, &m, dest, tag)
	if err == nil {
		c.w.abandon(p.r)
		c.w.settle()
	}
	return err
}

// bsend starts a send of a copy.
func (c *Comm) bsend(call string, m *memory, dest, tag int) (pending, error) {
	if m.spread == nil && m.N > 0 && !m.inPlace {
		whole := *m
		whole.spread = asOne(m.N)
		m = &whole
	}
	p, err := c.send(call, m, dest, tag, false)
	if err == nil {
		p.transfer.end() // the copy is made
	}
	return p, err
}

// Probe waits until a message from source with tag could be received, and
// describes it without receiving it (MPI_Probe).
func (c *Comm) Probe(source, tag int) (Status, error) {
	const call = "Comm.Probe"
	if err := c.checkRecv(call, source, tag); err != nil {
		return Status{}, err
	}
	p := pending{c: c, call: call, peer: source, tag: tag, bytes: -1, purpose: purpose{kind: waitfor.Recv}}
	x := newWaiter(c.w)
	defer x.done()
	for {
		st, ok, err := c.messages.Iprobe(source, tag)
		if err != nil {
			return Status{}, c.fail(call, source, err)
		}
		if ok {
			return Status(st), nil
		}
		if err := x.pause(&p); err != nil {
			return Status{}, err
		}
	}
}

// Iprobe tells whether such a message could be received now (MPI_Iprobe).
func (c *Comm) Iprobe(source, tag int) (Status, bool, error) {
	const call = "Comm.Iprobe"
	if err := c.checkRecv(call, source, tag); err != nil {
		return Status{}, false, err
	}
	st, ok, err := c.messages.Iprobe(source, tag)
	if err != nil {
		return Status{}, false, c.fail(call, source, err)
	}
	return Status(st), ok, nil
}

// Message is one that Mprobe found and set aside for this caller.
type Message struct {
	c        *Comm
	m        transport.Message
	status   Status
	received atomic.Bool // or being received
}

// Status reports the message.
func (m *Message) Status() Status { return m.status }

// Mprobe waits for a message and sets it aside: only the Message can receive it,
// so that goroutines that probe for the same messages do not take each other's
// (MPI_Mprobe).
func (c *Comm) Mprobe(source, tag int) (*Message, error) {
	const call = "Comm.Mprobe"
	p := pending{c: c, call: call, peer: source, tag: tag, bytes: -1, purpose: purpose{kind: waitfor.Recv}}
	x := newWaiter(c.w)
	defer x.done()
	for {
		m, ok, err := c.improbe(call, source, tag)
		if err != nil || ok {
			return m, err
		}
		if err := x.pause(&p); err != nil {
			return nil, err
		}
	}
}

// Improbe sets a message aside if there is one now (MPI_Improbe).
func (c *Comm) Improbe(source, tag int) (*Message, bool, error) {
	return c.improbe("Comm.Improbe", source, tag)
}

func (c *Comm) improbe(call string, source, tag int) (*Message, bool, error) {
	if err := c.checkRecv(call, source, tag); err != nil {
		return nil, false, err
	}
	m, st, ok, err := c.messages.Improbe(source, tag)
	if err != nil {
		return nil, false, c.fail(call, source, err)
	}
	if !ok {
		return nil, false, nil
	}
	found := c.begin(call, c.message(record.Receives, st.Source, st.Tag))
	found.over(c.came(st))
	c.book.takes(st.Source, st.Tag)
	return &Message{c: c, m: m, status: Status(st)}, true, nil
}

// Recv receives the message (MPI_Mrecv). It can be done once.
func (m *Message) Recv(buf any) (Status, error) {
	p, err := m.receive("Message.Recv", buf)
	if err != nil {
		return Status{}, err
	}
	return p.wait()
}

// Irecv starts to receive the message (MPI_Imrecv).
func (m *Message) Irecv(buf any) (*Request, error) {
	return request(m.receive("Message.Irecv", buf))
}

func (m *Message) receive(call string, buf any) (pending, error) {
	if m == nil {
		return pending{}, misuse(ErrRequest, call, "the message is nil").hint("Improbe gives nil if there is no message")
	}
	mem, bad := resolve(call, buf)
	if bad != nil {
		return pending{}, m.c.at(bad)
	}
	if err := m.c.checkWritable(call, &mem); err != nil {
		return pending{}, err
	}
	if err := m.c.usable(call); err != nil {
		return pending{}, err
	}
	if !m.received.CompareAndSwap(false, true) {
		return pending{}, m.c.misuse(ErrRequest, call, "the message was received before")
	}
	in := m.c.begin(call, nil, written(&mem))
	r, err := m.imrecvMemory(&mem)
	if err != nil {
		m.received.Store(false)
		in.end()
		return pending{}, m.c.fail(call, m.status.Source, err)
	}
	return pending{c: m.c, call: call, r: r, peer: m.status.Source, tag: m.status.Tag, recv: true, size: mem.size, onDevice: mem.onDevice(), transfer: in,
		bytes: mem.length(), purpose: purpose{kind: waitfor.Other}}, nil
}

// at says of an error that it came of a call on c.
func (c *Comm) at(e *Error) error {
	e.Rank = c.rank
	return e
}

func (c *Comm) isend(call string, buf any, dest, tag int, sync bool) (pending, error) {
	m, err := resolve(call, buf)
	if err != nil {
		return pending{}, c.at(err)
	}
	return c.send(call, &m, dest, tag, sync)
}

func (c *Comm) send(call string, m *memory, dest, tag int, sync bool) (pending, error) {
	if m.inPlace {
		return pending{}, c.misuse(ErrBuffer, call, "InPlace is not a buffer to send from")
	}
	if err := c.check(call, dest, tag); err != nil {
		return pending{}, err
	}
	told := c.message(record.Sends, dest, tag)
	if told != nil {
		told.Synchronous = sync
	}
	out := c.begin(call, told, read(m))
	c.book.sends(dest, tag)
	r, err := c.isendMemory(m, dest, tag, sync)
	if err != nil {
		out.end()
		return pending{}, c.fail(call, dest, err)
	}
	return pending{c: c, call: call, r: r, peer: dest, tag: tag, onDevice: m.onDevice(), transfer: out, bytes: m.length(), purpose: purpose{kind: waitfor.Send, synchronous: sync}}, nil
}

func (c *Comm) irecv(call string, buf any, source, tag int) (pending, error) {
	m, err := resolve(call, buf)
	if err != nil {
		return pending{}, c.at(err)
	}
	return c.receive(call, &m, source, tag)
}

func (c *Comm) receive(call string, m *memory, source, tag int) (pending, error) {
	if err := c.checkWritable(call, m); err != nil {
		return pending{}, err
	}
	if err := c.checkRecv(call, source, tag); err != nil {
		return pending{}, err
	}
	in := c.begin(call, c.message(record.Receives, source, tag), written(m))
	c.book.posts(source, tag)
	r, err := c.irecvMemory(m, source, tag)
	if err != nil {
		c.book.closes(source, tag)
		in.end()
		return pending{}, c.fail(call, source, err)
	}
	return pending{c: c, call: call, r: r, peer: source, tag: tag, recv: true, size: m.size, onDevice: m.onDevice(), transfer: in,
		bytes: m.length(), posted: c.book != nil, purpose: purpose{kind: waitfor.Recv}}, nil
}

// check checks the arguments of a send, checkRecv those of a receive.
func (c *Comm) check(call string, dest, tag int) error {
	if err := c.usable(call); err != nil {
		return err
	}
	if uint(dest) >= uint(c.size) && dest != ProcNull {
		return c.noRank(ErrRank, call, "dest", dest)
	}
	if tag < 0 || tag > c.w.tagUB {
		return c.misuse(ErrTag, call, "tag %d is not from 0 to %d", tag, c.w.tagUB)
	}
	return nil
}

func (c *Comm) checkRecv(call string, source, tag int) error {
	if err := c.usable(call); err != nil {
		return err
	}
	if uint(source) >= uint(c.size) && source != AnySource && source != ProcNull {
		return c.noRank(ErrRank, call, "source", source)
	}
	if tag != AnyTag && (tag < 0 || tag > c.w.tagUB) {
		return c.misuse(ErrTag, call, "tag %d is neither AnyTag nor from 0 to %d", tag, c.w.tagUB)
	}
	return nil
}

func (c *Comm) noRank(class Class, call, what string, rank int) error {
	return c.misuse(class, call, "%s %d is not a rank of %s, whose ranks are 0 to %d", what, rank, c.name, c.size-1)
}

func (c *Comm) checkWritable(call string, m *memory) error {
	switch {
	case m.readOnly:
		return c.misuse(ErrBuffer, call, "a string or a value cannot be received into").hint("give a []byte, or &x for the variable x")
	case m.inPlace:
		return c.misuse(ErrBuffer, call, "InPlace is not a buffer to receive into here")
	}
	return nil
}
