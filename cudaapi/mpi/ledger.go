package mpi

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gocuda/cudaapi/internal/handshake"
	"gocuda/cudaapi/mpi/internal/device"
	"gocuda/cudaapi/mpi/internal/transport"
	"gocuda/cudaapi/mpi/waitfor"
)

// tracks says that communicators keep a ledger.
var tracks atomic.Bool

// TrackWaits makes every communicator count its messages and collectives from now
// on, so that [WaitReport] can tell what each wait needs. All ranks call it before
// Init, or none does. It costs some hundred nanoseconds a message.
func TrackWaits() { tracks.Store(true) }

// ledger is what a rank has sent, received and entered on a communicator. A nil
// ledger keeps nothing.
type ledger struct {
	id      string // the same at all its ranks, and no other communicator's
	name    string
	rank    int   // this one's in it
	members []int // the world's ranks, by rank in it

	mu        sync.Mutex
	sent, got map[waitfor.Envelope]int
	open      map[waitfor.Envelope]int // receives that were posted and are not over
	entered   int                      // collectives
	recent    []entry                  // the last of them
	folded    bool                     // there were many envelopes: tags are waitfor.FoldTag's
	overflow  bool                     // there were more envelopes than are kept
}

// entry is a collective, or a call that makes a communicator.
type entry struct {
	call string
	kind int
	what transport.Signature
}

const (
	maxEnvelopes = 4096
	maxRecent    = 16
)

// The kinds of collectives that are no transport.Kind.
const (
	dupKind = iota + 100
	splitKind
	splitSharedKind
	winKind
)

// newLedger is collective over side, the communicator's own duplicate.
func newLedger(w *world, side transport.Comm, id, name string) (*ledger, error) {
	if !tracks.Load() {
		return nil, nil
	}
	ranks, err := handshake.Gather(device.Channel(side), w.t.World().Rank())
	if err != nil {
		return nil, err
	}
	b := &ledger{id: id, name: name, rank: side.Rank(), members: ranks, sent: map[waitfor.Envelope]int{}, got: map[waitfor.Envelope]int{}, open: map[waitfor.Envelope]int{}}
	w.mu.Lock()
	w.ledgers = append(w.ledgers, b)
	w.mu.Unlock()
	return b, nil
}

func (w *world) forget(b *ledger) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ledgers = slices.DeleteFunc(w.ledgers, func(other *ledger) bool { return other == b })
}

// count adds n to an envelope.
func (b *ledger) count(m map[waitfor.Envelope]int, peer, tag, n int) {
	if b.folded {
		tag = waitfor.FoldTag(tag)
	}
	e := waitfor.Envelope{Peer: peer, Tag: tag}
	if _, known := m[e]; !known && len(m) >= maxEnvelopes {
		if b.folded {
			b.overflow = true
			return
		}
		b.fold()
		e.Tag = waitfor.FoldTag(tag)
	}
	if m[e] += n; m[e] == 0 {
		delete(m, e)
	}
}

// fold has a few tags stand for all, which leaves room for as many as come.
func (b *ledger) fold() {
	b.folded = true
	for _, m := range []map[waitfor.Envelope]int{b.sent, b.got, b.open} {
		exact := maps.Clone(m)
		clear(m)
		for e, n := range exact {
			m[waitfor.Envelope{Peer: e.Peer, Tag: waitfor.FoldTag(e.Tag)}] += n
		}
	}
}

// sends notes a message before it is sent.
func (b *ledger) sends(dest, tag int) {
	if b == nil || dest == ProcNull {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count(b.sent, dest, tag, 1)
}

// posts notes a receive before it is posted.
func (b *ledger) posts(source, tag int) {
	if b == nil || source == ProcNull {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count(b.open, source, tag, 1)
}

// takes notes that a message has come.
func (b *ledger) takes(source, tag int) {
	if b == nil || source == ProcNull {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count(b.got, source, tag, 1)
}

// closes notes that a posted receive is over.
func (b *ledger) closes(source, tag int) {
	if b == nil || source == ProcNull {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count(b.open, source, tag, -1)
}

// enters notes a collective before it is started, and gives its number.
func (b *ledger) enters(call string, kind int, what transport.Signature) int {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.recent) == maxRecent {
		b.recent = slices.Delete(b.recent, 0, 1)
	}
	b.recent = append(b.recent, entry{call, kind, what})
	b.entered++
	return b.entered - 1
}

// rename gives the communicator another name.
func (b *ledger) rename(name string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.name = name
}

func (b *ledger) report() waitfor.Comm {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := func(m map[waitfor.Envelope]int) (counts []waitfor.Count) {
		for e, n := range m {
			counts = append(counts, waitfor.Count{Envelope: e, N: n})
		}
		return counts
	}
	recent := make([]waitfor.Collective, len(b.recent))
	for i, e := range b.recent {
		recent[i] = waitfor.Collective{Call: e.call, Kind: e.kind}
		if e.kind < dupKind {
			recent[i].Gives = e.what.String()
		}
	}
	return waitfor.Comm{ID: b.id, Name: b.name, Rank: b.rank, Members: b.members, Sent: list(b.sent), Got: list(b.got), Open: list(b.open),
		Entered: b.entered, Recent: recent, Folded: b.folded, Overflow: b.overflow}
}

// needs says which ranks a collective cannot do without at this one, where that is
// certain.
func needs(x *transport.Collective, rank int) waitfor.Need {
	root := rank == x.Root
	switch x.Kind {
	case transport.Barrier, transport.Allreduce, transport.Allgather, transport.Alltoall, transport.ReduceScatter:
		return waitfor.All
	case transport.Reduce, transport.Gather:
		if root {
			return waitfor.All
		}
	case transport.Bcast, transport.Scatter, transport.Scatterv:
		if !root {
			return waitfor.Root
		}
	case transport.Scan, transport.Exscan:
		return waitfor.Lower
	case transport.Allgatherv, transport.Alltoallv:
		if !slices.Contains(x.RecvCounts, 0) {
			return waitfor.All
		}
	case transport.Gatherv:
		if root && !slices.Contains(x.RecvCounts, 0) {
			return waitfor.All
		}
	}
	return waitfor.Unknown
}

// purpose is what a wait is for, for [WaitReport].
type purpose struct {
	kind        waitfor.Kind
	number      int // of a collective
	needs       waitfor.Need
	synchronous bool
}

// makes notes that this rank is in a call that makes a communicator, when its turn has
// come; what it returns is called when it no longer is.
func (c *Comm) makes(call string, kind int) (over func(), err error) {
	if err := c.beginAll(call); err != nil {
		return nil, err
	}
	if c.book == nil {
		return func() {}, nil
	}
	x := newWaiter(c.w)
	x.show(&pending{c: c, call: call, peer: -1, tag: -1, bytes: -1, purpose: purpose{kind: waitfor.Join, number: c.book.enters(call, kind, transport.Signature{}), needs: waitfor.All}})
	return x.done, nil
}

// WaitReport tells what this rank's goroutines wait for, and what it has sent,
// received and entered, if [TrackWaits] was called. It does not block.
func WaitReport() waitfor.Report {
	var r waitfor.Report
	w := process.w.Load()
	if w == nil {
		return r
	}
	for _, s := range waits.all() {
		if s.book == nil {
			continue
		}
		r.Waits = append(r.Waits, waitfor.Wait{
			ID: s.id, Call: s.Call, Comm: s.book.id, Peer: s.Peer, Tag: s.Tag, Bytes: s.Bytes, For: time.Since(s.Since),
			Kind: s.kind, Number: s.number, Needs: s.needs, Synchronous: s.synchronous,
		})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range w.ledgers {
		r.Comms = append(r.Comms, b.report())
	}
	return r
}
