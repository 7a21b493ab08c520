package device

import (
	"sync/atomic"
	"time"
	"unsafe"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi/internal/transport"
)

// A short message is sent as a long one, by an envelope that offers the sender's
// memory, for that takes one copy by a device, and two through the host. But its
// sender must not have to wait for the receive: many programs all send first and
// then receive. So if no answer comes for a while, the sender keeps a copy,
// withdraws the offer, and is done; a receiver that has copied the data looks
// whether the offer still stands, for if it did when the copy was over, the data
// were the right ones. If not, it asks for the sender's copy.
//
// That an offer is withdrawn stands in the header of the sender's page, in a word
// that the envelope names: ranks that cannot read each other's boards make none.

const (
	// offerTime is several times what an answer takes from a receiver that waits.
	offerTime = 50 * time.Microsecond
	slots     = pageHeader/8 - 1 // behind the cookie
)

// withdrawn is a slot's word in a page: the sending's key.
func withdrawn(page []byte, slot byte) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&page[8*int(slot)]))
}

// slotFor takes a slot for a short message that can be offered; 0 if it cannot, or
// need not.
func (p *Port) slotFor(b *cuda.Buffer, dest int, synchronous bool) byte {
	if !p.Boards() || b.Bytes() == 0 || dest == transport.ProcNull || dest == p.side.Rank() || synchronous || p.why(dest) != "" {
		return 0
	}
	if _, err := b.IPCHandle(); err != nil {
		return 0
	}
	e := p.e
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.pages.slots); n > 0 {
		slot := e.pages.slots[n-1]
		e.pages.slots = e.pages.slots[:n-1]
		return slot
	}
	return 0
}

func (s *sending) freeSlot() {
	if s.slot == 0 {
		return
	}
	e := s.e()
	withdrawn(e.pages.own, s.slot).Store(0)
	e.mu.Lock()
	e.pages.slots = append(e.pages.slots, s.slot)
	e.mu.Unlock()
	if s.data != nil {
		s.p.withdrawn.Add(-1)
	}
}

// withdraw ends the send for the program. What is left of it is the engine's.
func (s *sending) withdraw() (bool, error) {
	data := make([]byte, s.buf.Bytes())
	if err := s.e().fetch(data, s.buf); err != nil {
		return false, err
	}
	s.data = data
	s.p.withdrawn.Add(1)
	withdrawn(s.e().pages.own, s.slot).Store(s.key)
	s.e().start(&operation{step: s.advance})
	return true, nil
}

// stands tells, when the data have been copied, whether they were the message.
func (r *receiving) stands() bool {
	if r.env.slot == 0 || int(r.env.slot) > slots {
		return true
	}
	page := r.p.e.pages.ranks[int(r.env.sender)]
	return page == nil || withdrawn(page, r.env.slot).Load() != r.env.key
}

// Settle waits until what this rank has withdrawn has been received. All ranks
// call it, when all they will receive has been; it blocks.
func (p *Port) Settle() error {
	if !p.Boards() {
		return nil
	}
	r, err := p.side.Ibarrier()
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
