package mpi

import (
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/callsite"
	"gocuda/cudaapi/mpi/internal/transport"
	"gocuda/cudaapi/record"
)

// touched is memory that an operation reads or writes.
type touched struct {
	m    *memory
	part []span // of it; nil: all
	mode record.Mode
}

// span is some bytes of a buffer, from its start.
type span struct{ at, n int }

func read(m *memory) touched    { return touched{m: m, mode: record.Read} }
func written(m *memory) touched { return touched{m: m, mode: record.Write} }

// parts are those of a buffer that counts and displacements, in bytes, name; where
// there are no displacements, all of it.
func (t touched) parts(n, at []int) touched {
	if at == nil {
		return t
	}
	t.part = make([]span, len(n))
	for i := range n {
		t.part[i] = span{at[i], n[i]}
	}
	return t
}

// only is no memory unless it counts at this rank.
func (t touched) only(counts bool) touched {
	if !counts {
		t.m = &memory{}
	}
	return t
}

func (t touched) accesses(list []record.Access) []record.Access {
	m := t.m
	if m.inPlace || m.readOnly || m.N == 0 {
		return list
	}
	base := uint64(uintptr(m.P))
	add := func(at, n int) {
		if n > 0 {
			list = append(list, record.Access{Lo: base + uint64(at), Hi: base + uint64(at+n), Mode: t.mode})
		}
	}
	switch {
	case m.spread != nil:
		m.spread.Blocks(add)
	case t.part != nil:
		for _, s := range t.part {
			add(s.at, s.n)
		}
	default:
		add(0, m.N)
	}
	return list
}

// transfer is an operation in the record (package record), from its start until
// its buffers are the program's again; the zero transfer is none.
type transfer struct {
	rec *record.Recorder
	op  *record.Op
}

// begin records an operation on buffers, which is behind the work of the default
// streams of the buffers' devices. The other ranks find it by m.
func (c *Comm) begin(call string, m *record.Message, buffers ...touched) transfer {
	rec := record.InUse()
	if rec == nil || c.own {
		return transfer{}
	}
	o := c.requested(call, m, buffers)
	for _, b := range buffers {
		if b.m.dev != nil && b.m.N > 0 {
			o.Behind = append(o.Behind, driver.Device(b.m.dev.Device().Ordinal()))
		}
	}
	if len(o.Accesses) == 0 && m == nil {
		return transfer{}
	}
	rec.Add(o)
	return transfer{rec, o}
}

// queued records one in a stream's order. Of a receive it comes when the message has:
// asked is the operation that asked for it.
func (c *Comm) queued(call string, m *record.Message, s *cuda.Stream, buffer touched, asked *record.Op) transfer {
	rec := record.InUse()
	if rec == nil || c.own {
		return transfer{}
	}
	o := c.requested(call, m, []touched{buffer})
	o.Target = asked
	o.Lane = rec.Lane(driver.Device(s.Device().Ordinal()), driver.Stream(s.Handle()))
	rec.Add(o)
	return transfer{rec, o}
}

func (c *Comm) requested(call string, m *record.Message, buffers []touched) *record.Op {
	o := &record.Op{Kind: record.Request, Call: call, Site: callsite.Program(), Message: m}
	for _, b := range buffers {
		was := len(o.Accesses)
		o.Accesses = b.accesses(o.Accesses)
		for _, a := range o.Accesses[was:] {
			o.Bytes += a.Hi - a.Lo
		}
	}
	return o
}

// end gives the buffers back.
func (t *transfer) end() { t.over(nil) }

// over ends a receive of a message.
func (t *transfer) over(m *record.Message) {
	if t.op != nil {
		t.rec.Add(&record.Op{Kind: record.SyncRequest, Call: t.op.Call, Site: t.op.Site, Target: t.op, Message: m})
		t.op = nil
	}
}

// message is a communicator's, to or from a peer; nil if that is nobody.
func (c *Comm) message(role record.Role, peer, tag int) *record.Message {
	if peer == ProcNull {
		return nil
	}
	if tag == AnyTag {
		tag = -1
	}
	if peer == AnySource {
		peer = -1
	}
	return &record.Message{Role: role, Comm: c.id, Rank: c.rank, Size: c.size, Peer: peer, Tag: tag}
}

// came is a message that was received.
func (c *Comm) came(st transport.Status) *record.Message {
	if st.Cancelled {
		return nil
	}
	return c.message(record.Receives, st.Source, st.Tag)
}

// shares is what a collective has to do with other ranks.
func (k *arguments) shares() *record.Message {
	m := &record.Message{Comm: k.c.id, Rank: k.c.rank, Size: k.c.size, Root: k.x.Root, Role: record.FromAll}
	switch k.x.Kind {
	case transport.Bcast, transport.Scatter, transport.Scatterv:
		m.Role = record.FromRoot
	case transport.Gather, transport.Gatherv, transport.Reduce:
		m.Role = record.ToRoot
	case transport.Scan, transport.Exscan:
		m.Role = record.FromLower
	}
	return m
}
