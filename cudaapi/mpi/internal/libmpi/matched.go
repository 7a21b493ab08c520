//go:build linux && (amd64 || arm64)

package libmpi

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"gocuda/cudaapi/mpi/internal/transport"
)

// Open MPI writes all of a message that is longer than its receive, past the
// receive's memory, unless the message is short (seen in 4.1 and 5.0, with
// MPI_Recv, MPI_Irecv and MPI_Mrecv). So under it a receive of more than
// guardedBytes is not given to the library before its message is there and its
// length known: it is matched by MPI_Improbe, here, in the order that the
// standard asks for.

// matching is a receive that waits for its message.
type matching struct {
	c           *comm
	buf         transport.Memory
	source, tag int

	// found is set once: by the match, by an error, or by Cancel.
	found atomic.Pointer[fetched]
}

// matchings are those that wait, of all communicators, in their order.
type matchings struct {
	mu     sync.Mutex
	list   []*matching
	failed []*matching // of a pass
	n      atomic.Int32
	tests  atomic.Uint32
	probed probed
}

func (l *matchings) post(r *matching) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, r)
	l.n.Add(1)
}

// covers says that every message for r is one for m, overlaps that one may be
// for both.
func (m *matching) covers(r *matching) bool {
	return m.c == r.c && (m.source == r.source || m.source == transport.AnySource) && (m.tag == r.tag || m.tag == transport.AnyTag)
}

func (m *matching) overlaps(r *matching) bool {
	return m.c == r.c &&
		(m.source == r.source || m.source == transport.AnySource || r.source == transport.AnySource) &&
		(m.tag == r.tag || m.tag == transport.AnyTag || r.tag == transport.AnyTag)
}

func (m *matching) takes(st transport.Status) bool {
	return (m.source == st.Source || m.source == transport.AnySource) && (m.tag == st.Tag || m.tag == transport.AnyTag)
}

// leave tells whether no receive that waits here may want a message that is for
// source and tag: the library may match one that is posted now.
func (l *matchings) leave(c *comm, source, tag int) bool {
	if l.n.Load() == 0 {
		return true
	}
	r := &matching{c: c, source: source, tag: tag}
	l.mu.Lock()
	defer l.mu.Unlock()
	return !slices.ContainsFunc(l.list, r.overlaps)
}

// progress looks for messages. With many receives, not at each call.
func (l *matchings) progress() {
	n := l.n.Load()
	if n == 0 || n > 1 && l.tests.Add(1)%uint32(n) != 0 || !l.mu.TryLock() {
		return
	}
	l.pass()
	l.mu.Unlock()
}

// pass gives the messages that are there to the receives that they are for;
// l.mu is held. Only here, and in probes, which hold l.mu as well, are messages
// taken out, so that what was found stays.
func (l *matchings) pass() {
	l.failed = l.failed[:0]
	matched := 0
	for i, r := range l.list {
		overlap := false
		if slices.ContainsFunc(l.failed, func(f *matching) bool {
			overlap = overlap || f.overlaps(r)
			return f.covers(r)
		}) {
			continue // what comes for r is an earlier receive's
		}
		var st transport.Status
		var there bool
		var err error
		if !overlap {
			st, there, err = r.c.improbe(&l.probed, r.source, r.tag)
		} else if st, there, err = r.c.iprobe(&l.probed, r.source, r.tag); there {
			if slices.ContainsFunc(l.failed, func(f *matching) bool { return f.c == r.c && f.takes(st) }) {
				there = false // it came since, and the next pass will give it to the earlier receive
			} else {
				st, there, err = r.c.improbe(&l.probed, st.Source, st.Tag)
			}
		}
		switch {
		case err != nil:
			r.found.Store(&fetched{over: true, err: err})
		case there:
			r.found.Store(r.c.t.fetch(l.probed.message, st, r.buf))
		default:
			l.failed = append(l.failed, r)
			continue
		}
		l.list[i] = nil
		matched++
	}
	if matched > 0 {
		l.list = slices.DeleteFunc(l.list, func(r *matching) bool { return r == nil })
		l.n.Add(int32(-matched))
	}
}

// Test looks for the message, then tells whether it has been received.
func (m *matching) Test() (transport.Status, bool, error) {
	f := m.found.Load()
	if f == nil {
		m.c.t.matchings.progress()
		if f = m.found.Load(); f == nil {
			return transport.Status{}, false, nil
		}
	}
	return f.Test()
}

// Cancel takes back a receive whose message has not come.
func (m *matching) Cancel() error {
	l := &m.c.t.matchings
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.list, m); i >= 0 {
		l.list = slices.Delete(l.list, i, i+1)
		l.n.Add(-1)
		m.found.Store(&fetched{over: true, st: transport.Status{Source: transport.AnySource, Tag: transport.AnyTag, Cancelled: true}})
	}
	return nil
}

// look is a probe that finds no message which a posted receive is to get.
func (l *matchings) look(c *comm, p *probed, source, tag int, take bool) (transport.Status, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		st, there, err := c.iprobe(p, source, tag)
		if err != nil || !there {
			return st, false, err
		}
		if !slices.ContainsFunc(l.list, func(r *matching) bool { return r.c == c && r.takes(st) }) {
			if take {
				return c.improbe(p, st.Source, st.Tag)
			}
			return st, true, nil
		}
		l.pass()
	}
}

// mrecvBytes is below every eager limit of Open MPI's: a message that long is
// there as a whole when its match is, and MPI_Mrecv returns at once.
const mrecvBytes = 512

// fetched is a message that was matched, on its way into memory.
type fetched struct {
	mu   sync.Mutex
	over bool
	st   transport.Status
	err  error

	req     transport.Request // nil: it is over
	scratch []byte            // where a message goes that is too long
	buf     transport.Memory
}

// fetch receives a message of known length.
func (t *Transport) fetch(handle uintptr, st transport.Status, buf transport.Memory) *fetched {
	f := &fetched{st: st}
	m := &message{t: t, handle: handle}
	room := buf.Bytes()
	if st.Bytes > room {
		f.scratch, f.buf = make([]byte, st.Bytes), buf
		buf = transport.Memory{P: unsafe.Pointer(unsafe.SliceData(f.scratch)), N: st.Bytes, T: transport.Byte}
		f.err = &transport.Error{Class: transport.Truncate, Call: mpiIrecv.String(), Text: fmt.Sprintf(
			"the message from rank %d with tag %d has %d bytes, the receive has room for %d", st.Source, st.Tag, st.Bytes, room)}
	}
	if st.Bytes <= mrecvBytes {
		if err := m.mrecv(buf); err != nil {
			f.err = err
		}
		f.end()
		return f
	}
	var err error
	if f.req, err = m.imrecv(buf); err != nil {
		f.over, f.err = true, err
	}
	return f
}

// end is called when the data are there.
func (f *fetched) end() {
	f.over = true
	if room := f.buf.Bytes(); f.scratch != nil && room > 0 && f.buf.Device == nil {
		copy(unsafe.Slice((*byte)(f.buf.P), room), f.scratch)
	}
	f.scratch, f.req = nil, nil
}

// Test tells whether the message has been received.
func (f *fetched) Test() (transport.Status, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.over {
		_, done, err := f.req.Test()
		if !done && err == nil {
			return transport.Status{}, false, nil
		}
		if err != nil {
			f.err = err
		}
		f.end()
	}
	return f.st, true, f.err
}

// Cancel does nothing: the message is there.
func (f *fetched) Cancel() error { return nil }
