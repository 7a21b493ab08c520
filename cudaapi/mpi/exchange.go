package mpi

import (
	"sync"
	"unsafe"

	"gocuda/cudaapi/mpi/internal/transport"
)

// Alltoallw and the neighborhood collectives are messages between some ranks, each of
// memory of its own: they are this package's, the same under every library, and carry
// memory of devices and strided buffers as messages do.

// piece is memory that goes to a rank, or comes from one.
type piece struct {
	peer int
	m    memory
}

// exchange is the pieces of a collective at this rank. Those between two ranks match in
// their order.
type exchange struct {
	c         *Comm
	outs, ins []piece
}

// The tags of exchanges on the communicator's side are above those of userReductions.
const exchangeTags = 1 << 13

// Start starts the messages.
func (x *exchange) Start(*transport.Collective) (transport.Request, error) {
	c := x.c
	tag := userTags + int(uint32(c.exchanges.Add(1))%exchangeTags)
	all := &exchanging{c: c}
	for i := range x.ins {
		p := &x.ins[i]
		r, err := c.irecvBy(c.aside, &p.m, p.peer, tag)
		if err != nil {
			return nil, all.giveUp(err)
		}
		all.add(r, p.peer, p.m.length())
	}
	for i := range x.outs {
		p := &x.outs[i]
		r, err := c.isendBy(c.aside, &p.m, p.peer, tag, false)
		if err != nil {
			return nil, all.giveUp(err)
		}
		all.add(r, p.peer, -1)
	}
	return all, nil
}

func (x *exchange) length() (out, in int) {
	for i := range x.outs {
		out += x.outs[i].m.length()
	}
	for i := range x.ins {
		in += x.ins[i].m.length()
	}
	return out, in
}

// touches are what is read and written at this rank.
func (x *exchange) touches() (list []touched) {
	for i := range x.outs {
		list = append(list, read(&x.outs[i].m))
	}
	for i := range x.ins {
		list = append(list, written(&x.ins[i].m))
	}
	return list
}

// exchanging is an exchange under way.
type exchanging struct {
	c    *Comm
	mu   sync.Mutex
	left []oneOf
	err  error
}

// oneOf is one of its messages, a receive of so many bytes or a send.
type oneOf struct {
	transport.Request
	peer, bytes int
}

func (e *exchanging) add(r transport.Request, peer, bytes int) {
	e.left = append(e.left, oneOf{r, peer, bytes})
}

// giveUp leaves what was begun to the background.
func (e *exchanging) giveUp(err error) error {
	for _, r := range e.left {
		if r.bytes >= 0 {
			r.Cancel() //nolint:errcheck // it is abandoned anyway
		}
		e.c.w.abandon(r.Request)
	}
	e.left, e.err = nil, err
	return err
}

// Test moves the messages on, and tells whether all are over.
func (e *exchanging) Test() (transport.Status, bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	left := e.left[:0]
	var failed error
	for _, r := range e.left {
		st, done, err := r.Test()
		switch {
		case err != nil:
			failed = firstOf(failed, err)
		case !done:
			left = append(left, r)
		case r.bytes >= 0 && st.Bytes != r.bytes:
			failed = firstOf(failed, &transport.Error{Class: "MPI_ERR_COUNT", Text: wrongLength(r.peer, st.Bytes, r.bytes)})
		}
	}
	clear(e.left[len(left):])
	if e.left = left; failed != nil {
		e.giveUp(failed) //nolint:errcheck // it is the same error
	}
	return transport.Status{}, len(e.left) == 0, e.err
}

// Cancel does nothing: a collective cannot be cancelled.
func (e *exchanging) Cancel() error { return nil }

// cut is n elements of m from one on.
func (m *memory) cut(from, n int) memory {
	switch {
	case n == 0:
		return memory{Memory: transport.Memory{T: transport.Byte, Elem: m.Elem}, elem: m.elem, size: m.size}
	case m.dev != nil:
		part, _ := resolveDevice("", m.dev.Slice(from, from+n)) // as m was
		return part
	}
	part := *m
	part.P, part.N = unsafe.Add(m.P, from*m.size), n*m.size
	return part
}

// cuts gives each rank of a list its part of m, of counts elements from displs on, or of
// equal parts where counts is nil. A rank that is nobody has a part that stays as it is.
func (k *arguments) cuts(m *memory, ranks, counts, displs []int) []piece {
	var list []piece
	if len(ranks) == 0 || k.err != nil {
		return nil
	}
	size := len(ranks)
	at, n := make([]int, size), make([]int, size)
	if counts == nil {
		each := m.elems() / size
		if m.elems()%size != 0 {
			k.fault(ErrCount, "the %s buffer has %d elements, which %d neighbors cannot share equally", k.name(m), m.elems(), size)
		}
		for i := range ranks {
			at[i], n[i] = i*each, each
		}
	} else if n, at = k.layout(m, size, counts, displs); k.err == nil {
		for i := range ranks {
			at[i], n[i] = at[i]/m.size, n[i]/m.size
		}
	}
	for i := 0; i < size && k.err == nil; i++ {
		list = append(list, piece{ranks[i], m.cut(at[i], n[i])})
	}
	return list
}

// buffers gives each rank of a list a buffer of its own.
func (k *arguments) buffers(what string, ranks []int, bufs []any, writes bool) []piece {
	if k.err == nil && len(bufs) != len(ranks) {
		k.fault(ErrCount, "%d %s buffers for %d ranks", len(bufs), what, len(ranks))
	}
	var list []piece
	for i := 0; i < len(ranks) && k.err == nil; i++ {
		m, bad := resolve(k.call, bufs[i])
		switch {
		case bad != nil:
			k.err = k.c.at(bad)
		case m.inPlace:
			k.fault(ErrBuffer, "InPlace cannot be a buffer of this call")
		case writes:
			k.err = k.c.checkWritable(k.call, &m)
		}
		list = append(list, piece{ranks[i], m})
	}
	return list
}

// exchanges has k done by messages. Pieces of nobody are left out.
func (k *arguments) exchanges(outs, ins []piece) arguments {
	x := &exchange{c: k.c}
	for _, p := range outs {
		if p.peer != ProcNull {
			x.outs = append(x.outs, p)
		}
	}
	for _, p := range ins {
		if p.peer != ProcNull {
			x.ins = append(x.ins, p)
		}
	}
	k.by, k.exchange = x, x
	return *k
}

// Alltoallw is Alltoall of a buffer for each rank, of whatever type and length, strided
// ones too (MPI_Alltoallw): send[i] goes to rank i, and what comes from it to recv[i],
// which is as long. nil is nothing.
func (c *Comm) Alltoallw(send, recv []any) error {
	return c.alltoallw("Comm.Alltoallw", send, recv).do()
}

// Ialltoallw starts an Alltoallw.
func (c *Comm) Ialltoallw(send, recv []any) (*Request, error) {
	return c.alltoallw("Comm.Ialltoallw", send, recv).begin()
}

// AlltoallwInit makes a persistent Alltoallw (MPI_Alltoallw_init).
func (c *Comm) AlltoallwInit(send, recv []any) (*Request, error) {
	return c.alltoallw("Comm.AlltoallwInit", send, recv).persistent()
}

func (c *Comm) alltoallw(call string, send, recv []any) arguments {
	k := c.read(call, transport.Alltoallw, 0, nil, nil)
	if k.err != nil {
		return k
	}
	ranks := make([]int, c.size)
	for i := range ranks {
		ranks[i] = i
	}
	return k.exchanges(k.buffers("send", ranks, send, false), k.buffers("receive", ranks, recv, true))
}
