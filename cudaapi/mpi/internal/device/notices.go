package device

import (
	"fmt"
	"sync/atomic"
)

// Where ranks can read each other's pages, they see what memory the others give to
// a collective at the cost of some loads and stores.

// Notice is what a rank says of its part in a call.
type Notice struct {
	Device bool   // it gives memory of a device, on which the call can be done
	Number int    // the device's
	Shared bool   // others can open the memory
	N      int    // elements
	Kind   uint64 // of the elements, the operator, and whatever must be the same
	Failed bool   // an earlier call has failed at this rank
}

// Notices are what all ranks said of a call.
type Notices struct {
	OnHost  bool  // one of them gives host memory
	Devices []int // once all have given one
	Shared  bool  // all can open all memory
	Failed  bool  // an earlier call has failed at one of them
}

// notice is one in a page. call is written last.
type notice struct {
	call   atomic.Uint64 // its number
	n      uint64
	kind   uint64
	device int64         // the number, twice, and 1 if others can open it; -1: host memory
	failed atomic.Uint64 // the call's number, if it has
	before uint64        // 1 if an earlier one has
	_      [2]uint64
}

// noticesKept is how many calls back a rank's notices report: a rank is one call
// ahead of the others at most, and more only if its own were interrupted.
const noticesKept = 8

type noticeRing [noticesKept]notice

// Notices reports whether ranks see each other's. All get the same answer.
func (p *Port) Notices() bool { return p.notices != nil }

func (p *Port) ownNotice(call uint64) *notice {
	return &p.notices[p.side.Rank()][call%noticesKept]
}

// Post says what this rank gives to a call; calls are counted from 1.
func (p *Port) Post(call uint64, w Notice) {
	s := p.ownNotice(call)
	s.n, s.kind, s.device, s.before = uint64(w.N), w.Kind, -1, 0
	if w.Failed {
		s.before = 1
	}
	if w.Device {
		s.device = int64(w.Number) * 2
		if w.Shared {
			s.device++
		}
	}
	s.call.Store(call)
}

// Look reads what the ranks have said of a call, and reports whether all have given
// device memory. Until they have, or one has given host memory, Look is to be asked
// again. Another call at another rank is a [Mismatch].
func (p *Port) Look(call uint64, own Notice) (n Notices, all bool, err error) {
	all = true
	for r, ring := range p.notices {
		s := &ring[call%noticesKept]
		switch at := s.call.Load(); {
		case at < call:
			all = false
		case at > call:
			return n, false, fmt.Errorf("rank %d is %d calls ahead", r, at-call)
		case s.device < 0:
			n.OnHost = true
		case s.n != uint64(own.N) || s.kind != own.Kind:
			return n, false, &Mismatch{r, int(s.n), s.kind}
		}
	}
	if !all || n.OnHost {
		return n, false, nil
	}
	n.Devices, n.Shared = make([]int, len(p.notices)), true
	for r, ring := range p.notices {
		n.Failed = n.Failed || ring[call%noticesKept].before > 0
		device := ring[call%noticesKept].device
		n.Devices[r] = int(device / 2)
		n.Shared = n.Shared && device%2 == 1
	}
	return n, true, nil
}

// Fail says that this rank will not do its part in a call that it has posted.
func (p *Port) Fail(call uint64) { p.ownNotice(call).failed.Store(call) }

// Failed finds a rank that has said so.
func (p *Port) Failed(call uint64) (rank int, failed bool) {
	for r, ring := range p.notices {
		if ring[call%noticesKept].failed.Load() == call {
			return r, true
		}
	}
	return 0, false
}

// Mismatch says that a rank made another call.
type Mismatch struct {
	Rank, N int
	Kind    uint64
}

func (m *Mismatch) Error() string {
	return fmt.Sprintf("rank %d gave %d elements of another call", m.Rank, m.N)
}
