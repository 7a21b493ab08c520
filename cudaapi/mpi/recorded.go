package mpi

import (
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/callsite"
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

// begin records an operation on buffers: in a stream's order, or, where that is
// nil, behind the work of the default streams of the buffers' devices.
func begin(call string, s *cuda.Stream, buffers ...touched) transfer {
	rec := record.InUse()
	if rec == nil {
		return transfer{}
	}
	o := &record.Op{Kind: record.Request, Call: call, Site: callsite.Here()}
	o.Site.Library = false // it is the program's
	for _, b := range buffers {
		was := len(o.Accesses)
		if o.Accesses = b.accesses(o.Accesses); len(o.Accesses) > was && b.m.dev != nil {
			o.Behind = append(o.Behind, driver.Device(b.m.dev.Device().Ordinal()))
		}
		for _, a := range o.Accesses[was:] {
			o.Bytes += a.Hi - a.Lo
		}
	}
	if len(o.Accesses) == 0 {
		return transfer{}
	}
	if s != nil {
		o.Lane, o.Behind = rec.Lane(driver.Device(s.Device().Ordinal()), driver.Stream(s.Handle())), nil
		rec.Add(o)
		return transfer{}
	}
	rec.Add(o)
	return transfer{rec, o}
}

// end gives the buffers back.
func (t *transfer) end() {
	if t.op != nil {
		t.rec.Add(&record.Op{Kind: record.SyncRequest, Call: t.op.Call, Site: t.op.Site, Target: t.op})
		t.op = nil
	}
}
