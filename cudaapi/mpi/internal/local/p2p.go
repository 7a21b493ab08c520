package local

import (
	"slices"

	"gocuda/cudaapi/mpi/internal/transport"
)

// eagerBytes is the longest message that is sent before its receive is known.
const eagerBytes = 8 << 10

// isend sends to a rank of the communicator whose messages context c has.
func (e *engine) isend(c *context, buf transport.Memory, dest, tag int, sig uint32, sync bool) (*request, error) {
	if dest == transport.ProcNull {
		return doneRequest, nil
	}
	to := c.group[dest]
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.usable(to); err != nil {
		return nil, err
	}
	if c.revoked {
		return nil, errRevoked
	}
	size := buf.Bytes()
	f := frame{kind: frameEager, typ: buf.Sent(), payload: size, context: c.id, tag: int32(tag), sig: sig, size: uint64(size)}
	if to == e.rank {
		return e.sendSelf(c, buf, &f, sync), nil
	}
	p := &e.peers[to]
	if size <= min(eagerBytes, p.out.maxPayload()) {
		if !sync {
			// The quick way: no request is made for what is done.
			if len(p.backlog) == 0 && p.out.write(&f, buf.P) {
				e.wake(to)
				return doneRequest, nil
			}
			r := &request{e: e, buf: buf, peer: to}
			e.post(to, f, buf.P, r)
			return r, nil
		}
		f.kind = frameSync
	} else {
		f.kind, f.payload, f.addr = frameReady, 0, uint64(uintptr(buf.P))
	}
	r := &request{e: e, buf: buf, peer: to, size: size}
	e.nextID++
	f.id = e.nextID
	e.sends[f.id] = r
	e.post(to, f, buf.P, nil)
	return r, nil
}

// usable tells why no message can go to or come from a rank.
func (e *engine) usable(rank int) error {
	if e.closed {
		return &transport.Error{Class: transport.Other, Call: "MPI", Text: "MPI was finalized"}
	}
	if e.launcher != nil {
		return e.launcher
	}
	return e.peers[rank].lost
}

func (e *engine) sendSelf(c *context, buf transport.Memory, f *frame, sync bool) *request {
	if r := c.receiver(e.rank, int(f.tag)); r != nil {
		move(r.buf, buf)
		r.arrived(c.status(e.rank, f), f.typ)
		return doneRequest
	}
	m := &inbound{f: *f, from: e.rank}
	c.unexpected = append(c.unexpected, m)
	if !sync && buf.Bytes() <= eagerBytes {
		m.data = slices.Clone(bytesOf(buf))
		return doneRequest
	}
	m.self = &request{e: e, buf: buf, peer: e.rank}
	return m.self
}

func (e *engine) irecv(c *context, buf transport.Memory, source, tag int) (*request, error) {
	if source == transport.ProcNull {
		return nullRequest, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	from := source
	if source != transport.AnySource {
		from = c.group[source]
	}
	r := &request{e: e, buf: buf, peer: from, tag: tag}
	if i := c.find(from, tag); i >= 0 {
		m := c.remove(i)
		e.accept(r, c, m)
		return r, nil
	}
	if err := e.receivable(c, from); err != nil {
		return nil, err
	}
	c.post(r)
	return r, nil
}

// receivable tells why no message from a rank, or from any, can come any more.
func (e *engine) receivable(c *context, from int) error {
	if c.revoked {
		return errRevoked
	}
	if from != transport.AnySource {
		return e.usable(from)
	}
	if err := e.usable(e.rank); err != nil {
		return err
	}
	return e.lossIn(c)
}

// nullStatus is that of a receive from nobody.
var nullStatus = transport.Status{Source: transport.ProcNull, Tag: transport.AnyTag}

var nullRequest = func() *request {
	r := &request{done: doneRequest.done, status: nullStatus}
	r.over.Store(true)
	return r
}()

// probe looks for a message, and takes it out if it is to.
func (e *engine) probe(c *context, source, tag int, take bool) (*inbound, transport.Status, error) {
	e.ask()
	e.mu.Lock()
	defer e.mu.Unlock()
	from := source
	if source != transport.AnySource {
		from = c.group[source]
	}
	i := c.find(from, tag)
	if i < 0 {
		return nil, transport.Status{}, e.receivable(c, from)
	}
	m := c.unexpected[i]
	if take {
		c.remove(i)
	}
	return m, c.status(m.from, &m.f), nil
}

// message is what Improbe took out.
type message struct {
	e *engine
	c *context
	m *inbound // nil: from nobody
}

func (m *message) Imrecv(buf transport.Memory) (transport.Request, error) {
	if m.m == nil {
		return nullRequest, nil
	}
	m.e.mu.Lock()
	defer m.e.mu.Unlock()
	r := &request{e: m.e, buf: buf, peer: m.m.from, context: m.c}
	m.e.accept(r, m.c, m.m)
	return r, nil
}
