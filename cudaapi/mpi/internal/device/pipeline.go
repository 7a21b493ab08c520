package device

import (
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi/internal/transport"
)

// pipeline is a message that goes through the host in fragments: while one is
// copied from or to the device, others are on their way.
type pipeline struct {
	comm   transport.Comm
	peer   int
	tag    int
	lane   *lane
	device *cuda.Buffer // of bytes; at a receiver without a device nil, and
	host   []byte       // the data go here
	at     int          // begun
	left   int          // bytes that are not begun
	flight []*fragment  // under way, in order
}

// mostFragments are under way at once.
const mostFragments = 4

// fragment is one part of the message.
type fragment struct {
	memory *cuda.HostBuffer
	at, n  int
	req    transport.Request
	copied *cuda.Event
}

// begin takes the next fragments, as long as there is room for them.
func (p *pipeline) begin(start func(*fragment) error) error {
	for p.left > 0 && len(p.flight) < mostFragments {
		f := &fragment{at: p.at, n: min(p.left, fragmentBytes)}
		if p.device != nil {
			var err error
			if f.memory, err = p.lane.pinned.take(p.lane.Device); err != nil {
				return err
			}
		}
		p.at += f.n
		p.left -= f.n
		p.flight = append(p.flight, f)
		if err := start(f); err != nil {
			return err
		}
	}
	return nil
}

// drop gives the first fragment back, and reports whether it was the last.
func (p *pipeline) drop() {
	if f := p.flight[0]; f.memory != nil {
		p.lane.pinned.put(f.memory)
		p.lane.events.put(f.copied)
	}
	p.flight = p.flight[1:]
}

// abandon gives up a message that has failed. What a transport or a device may
// still write or read is not used again.
func (p *pipeline) abandon() {
	for _, f := range p.flight {
		if f.copied != nil {
			p.lane.events.putLater(f.copied)
		}
		if f.req != nil {
			f.req.Cancel()
		}
	}
	p.flight = nil
}

// copy queues the copy of a fragment and marks its end.
func (p *pipeline) copy(f *fragment, toDevice bool) (err error) {
	dst, src := any(f.memory.Slice(0, f.n)), any(p.device.Slice(f.at, f.at+f.n))
	if toDevice {
		dst, src = src, dst
	}
	if err := cuda.MemcpyAsync(dst, src, p.lane.Stream); err != nil {
		return err
	}
	f.copied, err = p.lane.record(p.lane.Stream)
	return err
}

// send moves a sender's fragments on.
func (p *pipeline) send() (bool, error) {
	err := p.begin(func(f *fragment) error { return p.copy(f, false) })
	if err != nil {
		return false, err
	}
	for _, f := range p.flight {
		if f.req != nil {
			continue
		}
		done, err := f.copied.Query()
		if err != nil {
			return false, err
		}
		if !done {
			break
		}
		out, err := f.memory.Uint8s()
		if err != nil {
			return false, err
		}
		if f.req, err = p.comm.Isend(Host(out[:f.n]), p.peer, p.tag); err != nil {
			return false, err
		}
	}
	for len(p.flight) > 0 && p.flight[0].req != nil {
		_, done, err := p.flight[0].req.Test()
		if err != nil {
			return false, err
		}
		if !done {
			break
		}
		p.drop()
	}
	return p.left == 0 && len(p.flight) == 0, nil
}

// receive moves a receiver's fragments on.
func (p *pipeline) receive() (bool, error) {
	err := p.begin(func(f *fragment) (err error) {
		var into []byte
		if f.memory != nil {
			if into, err = f.memory.Uint8s(); err != nil {
				return err
			}
			into = into[:f.n]
		} else {
			into = p.host[f.at : f.at+f.n]
		}
		f.req, err = p.comm.Irecv(Host(into), p.peer, p.tag)
		return err
	})
	if err != nil {
		return false, err
	}
	for _, f := range p.flight {
		if f.req == nil {
			continue
		}
		_, done, err := f.req.Test()
		if err != nil {
			return false, err
		}
		if !done {
			break
		}
		f.req = nil
		if f.memory == nil {
			continue
		}
		if err := p.copy(f, true); err != nil {
			return false, err
		}
	}
	for len(p.flight) > 0 && p.flight[0].req == nil {
		if f := p.flight[0]; f.memory != nil {
			done, err := f.copied.Query()
			if err != nil {
				return false, err
			}
			if !done {
				break
			}
		}
		p.drop()
	}
	return p.left == 0 && len(p.flight) == 0, nil
}

// request asks the sender for the data, by an RTR of either kind, and receives them
// in fragments.
func (r *receiving) request(kind replyKind) error {
	if err := r.say(kind, [64]byte{}); err != nil {
		return err
	}
	r.state = recvPipelining
	r.pipeline = &pipeline{comm: r.p.side, peer: r.o.status.Source, tag: fragmentTag(r.head.id), left: int(r.head.bytes), host: r.into}
	if r.buf == nil {
		return nil
	}
	if err := r.findLane(); err != nil {
		return err
	}
	r.pipeline.lane, r.pipeline.device = r.lane, r.buf
	return r.lane.Follow(r.stream)
}
