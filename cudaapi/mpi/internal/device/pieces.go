package device

import (
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi/internal/transport"
)

// pieces is a message that goes through the host: while one piece is copied
// from or to the device, others are on their way.
type pieces struct {
	comm   transport.Comm
	peer   int
	tag    int
	lane   *lane
	device *cuda.Buffer // of bytes; at a receiver without a device nil, and
	host   []byte       // the data go here
	at     int          // begun
	left   int          // bytes that are not begun
	slots  []*slot      // under way, in order
}

// slot is one piece.
type slot struct {
	memory *cuda.HostBuffer
	at, n  int
	req    transport.Request
	copied *cuda.Event
}

// next takes the next piece, if there is room for it.
func (p *pieces) next() (*slot, error) {
	if p.left == 0 || len(p.slots) >= pieceSlots {
		return nil, nil
	}
	s := &slot{at: p.at, n: min(p.left, pieceBytes)}
	if p.device != nil {
		var err error
		if s.memory, err = p.lane.piece(); err != nil {
			return nil, err
		}
	}
	p.at += s.n
	p.left -= s.n
	p.slots = append(p.slots, s)
	return s, nil
}

// over gives the first slot back.
func (p *pieces) over() {
	s := p.slots[0]
	if s.memory != nil {
		p.lane.keep(s.memory)
		p.lane.giveBack(s.copied)
	}
	p.slots = p.slots[1:]
}

// copying queues the copy of a piece and marks its end.
func (p *pieces) copying(s *slot, toDevice bool) error {
	dst, src := any(s.memory.Slice(0, s.n)), any(p.device.Slice(s.at, s.at+s.n))
	if toDevice {
		dst, src = src, dst
	}
	if err := cuda.MemcpyAsync(dst, src, p.lane.stream); err != nil {
		return err
	}
	var err error
	if s.copied, err = p.lane.event(); err != nil {
		return err
	}
	return s.copied.Record(p.lane.stream)
}

// send moves a sender's pieces on.
func (p *pieces) send() (bool, error) {
	for {
		s, err := p.next()
		if err != nil {
			return false, err
		}
		if s == nil {
			break
		}
		if err := p.copying(s, false); err != nil {
			return false, err
		}
	}
	for _, s := range p.slots {
		if s.req != nil {
			continue
		}
		done, err := s.copied.Query()
		if err != nil {
			return false, err
		}
		if !done {
			break
		}
		if s.req, err = p.comm.Isend(memoryOf(s.memory.Uint8s()[:s.n]), p.peer, p.tag); err != nil {
			return false, err
		}
	}
	for len(p.slots) > 0 && p.slots[0].req != nil {
		_, done, err := p.slots[0].req.Test()
		if err != nil {
			return false, err
		}
		if !done {
			break
		}
		p.over()
	}
	return p.left == 0 && len(p.slots) == 0, nil
}

// receive moves a receiver's pieces on.
func (p *pieces) receive() (bool, error) {
	for {
		s, err := p.next()
		if err != nil {
			return false, err
		}
		if s == nil {
			break
		}
		memory := p.host
		if s.memory != nil {
			memory = s.memory.Uint8s()[:s.n]
		} else {
			memory = memory[s.at : s.at+s.n]
		}
		if s.req, err = p.comm.Irecv(memoryOf(memory), p.peer, p.tag); err != nil {
			return false, err
		}
	}
	for _, s := range p.slots {
		if s.req == nil {
			continue
		}
		_, done, err := s.req.Test()
		if err != nil {
			return false, err
		}
		if !done {
			break
		}
		s.req = nil
		if s.memory == nil {
			continue
		}
		if err := p.copying(s, true); err != nil {
			return false, err
		}
	}
	for len(p.slots) > 0 && p.slots[0].req == nil {
		if s := p.slots[0]; s.memory != nil {
			done, err := s.copied.Query()
			if err != nil {
				return false, err
			}
			if !done {
				break
			}
		}
		p.over()
	}
	return p.left == 0 && len(p.slots) == 0, nil
}
