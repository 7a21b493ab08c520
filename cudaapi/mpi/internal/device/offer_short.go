package device

import (
	"sync/atomic"
	"time"
	"unsafe"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi/internal/transport"
)

// A short message is sent as a long one, by an RTS that offers the sender's memory,
// for that takes one copy by a device, and two through the host. But its sender must
// not have to wait for the receive: many programs all send first and then receive.
// So if no reply comes for a while, the sender keeps a copy, withdraws the offer, and
// is done; a receiver that has copied the data looks whether the offer still stands,
// for if it did when the copy was over, the data were the right ones. If not, it asks
// for the sender's copy.
//
// That an offer is withdrawn stands in the header of the sender's page, in a word
// that the RTS names: ranks that cannot read each other's pages offer nothing short.

// offerTime is several times what a reply takes from a receiver that waits.
const offerTime = 50 * time.Microsecond

// shortOffer is what a sender has to withdraw its offer.
type shortOffer struct {
	slot      uint8 // its word in the page; 0: the offer stands until it is taken
	later     bool  // nothing is offered, because the data of an eager message are not ready
	waits     bool  // the program is to wait until the receive has begun
	since     time.Time
	fetch     *fetch // the copy is being made
	kept      []byte // the copy
	withdrawn bool   // the send is over for the program
	answered  bool
	sent      transport.Request // of the copy
}

// keeps reports whether it is time to make a copy.
func (o *shortOffer) keeps() bool {
	return o.kept == nil && (o.later || o.slot > 0 && time.Since(o.since) > offerTime)
}

// withdrawn is a slot's word in a page: the key of the message whose offer is.
func withdrawn(page []byte, slot uint8) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&page[8*int(slot)]))
}

// takeSlot takes a slot for a short message that can be offered; 0 if it cannot, or
// need not.
func (p *Port) takeSlot(b *cuda.Buffer, dest int, synchronous bool) uint8 {
	if !p.Notices() || b.Bytes() == 0 || dest == p.side.Rank() || synchronous || p.why(dest) != "" {
		return 0
	}
	if _, err := b.IPCHandle(); err != nil {
		return 0
	}
	return p.e.pages.takeSlot()
}

func (s *sending) freeSlot() {
	if s.short.withdrawn {
		s.short.withdrawn = false
		s.p.withdrawn.Add(-1)
	}
	if s.short.slot == 0 {
		return
	}
	withdrawn(s.p.e.pages.own, s.short.slot).Store(0)
	s.p.e.pages.giveSlot(s.short.slot)
	s.short.slot = 0
}

// keep copies the data, when it is time and they are ready. It waits for nothing, and
// reports whether no copy is under way.
func (s *sending) keep() (over bool, err error) {
	o := &s.short
	if o.fetch == nil {
		if !o.keeps() {
			return true, nil
		}
		if ready, err := s.source.isReady(); err != nil || !ready {
			return true, err
		}
		if o.fetch, err = s.source.lane.fetch(s.source.buf); err != nil {
			return false, err
		}
	}
	if done, err := o.fetch.done(); err != nil || !done {
		return false, err
	}
	o.kept = make([]byte, s.source.buf.Bytes())
	err = o.fetch.take(o.kept)
	o.fetch = nil
	return true, err
}

// withdraw ends the send for the program. What is left of it is the engine's.
func (s *sending) withdraw() {
	s.short.withdrawn = true
	s.p.withdrawn.Add(1)
	if s.short.slot > 0 {
		withdrawn(s.p.e.pages.own, s.short.slot).Store(s.head.key)
	}
	s.p.e.progress.start(&operation{step: s.step})
}

// stands tells, when the data have been copied, whether they were the message.
func (r *receiving) stands() bool {
	if r.head.slot == 0 || int(r.head.slot) > slots {
		return true
	}
	page := r.p.e.pages.of(int(r.head.sender))
	return page == nil || withdrawn(page, r.head.slot).Load() != r.head.key
}

// Settle waits until what this rank has withdrawn has been received. All ranks
// call it, when all they will receive has been; it blocks.
func (p *Port) Settle() error {
	if !p.Notices() {
		return nil
	}
	r, err := p.side.Start(&transport.Collective{Kind: transport.Barrier})
	if err == nil {
		err = Wait(r)
	}
	for ends := time.Now().Add(settleTime); err == nil && p.withdrawn.Load() > 0 && time.Now().Before(ends); {
		time.Sleep(100 * time.Microsecond) // the engine sees to it
	}
	return err
}

// settleTime is for messages that were never received, which is an error of the
// program's.
const settleTime = time.Second
