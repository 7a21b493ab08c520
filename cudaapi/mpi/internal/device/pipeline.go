package device

import (
	"errors"
	"fmt"

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
	device *cuda.Buffer         // of bytes; at a receiver without a device nil, and
	host   []byte               // the data go here
	ready  func() (bool, error) // reports whether the device's memory may be copied; nil: it may
	at     int                  // begun
	left   int                  // bytes that are not begun
	flight []*fragment          // under way, in order
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

// copies reports whether the device's memory may be copied. What it waits for is not
// queued before the copies: that would hold back those of other messages.
func (p *pipeline) copies() (bool, error) {
	if p.ready == nil {
		return true, nil
	}
	ok, err := p.ready()
	if ok {
		p.ready = nil
	}
	return ok, err
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

// discard receives what is left of a message that has failed, for the sender sends it
// all the same. Until it is there, its tag is not another message's.
func (p *pipeline) discard(why error, tags *fragmentTags, by *progress) {
	kept := p.flight[:0]
	for _, f := range p.flight {
		if f.copied != nil {
			p.lane.events.putLater(f.copied)
		} else if f.req != nil {
			kept = append(kept, f)
		}
	}
	p.flight, p.device, p.ready = kept, nil, nil
	p.host = make([]byte, p.at+p.left)
	over := func(err error) {
		var short *shortFragment
		switch {
		case errors.As(err, &short): // nothing more comes
			p.abandon()
			tags.give(p.tag)
		case err != nil:
			tags.fail(err)
		default:
			tags.give(p.tag)
		}
	}
	var short *shortFragment
	if errors.As(why, &short) {
		over(why)
		return
	}
	by.start(&operation{step: func() (bool, error) {
		done, err := p.receive()
		if done || err != nil {
			over(err)
		}
		return done, err
	}})
}

// shortFragment says that the sender has failed.
type shortFragment struct{ n, of int }

func (e *shortFragment) Error() string {
	return fmt.Sprintf("the sender has failed: %d of %d bytes came", e.n, e.of)
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
	if ok, err := p.copies(); err != nil || !ok {
		return false, err
	}
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
			if p.device != nil && f.copied == nil {
				if ok, err := p.copies(); err != nil || !ok {
					return false, err
				}
				if err := p.copy(f, true); err != nil {
					return false, err
				}
			}
			continue
		}
		st, done, err := f.req.Test()
		if err != nil {
			return false, err
		}
		if !done {
			break
		}
		if f.req = nil; st.Bytes != f.n {
			return false, &shortFragment{st.Bytes, f.n}
		}
		if f.memory == nil || p.device == nil {
			continue
		}
		if ok, err := p.copies(); err != nil {
			return false, err
		} else if !ok {
			break
		}
		if err := p.copy(f, true); err != nil {
			return false, err
		}
	}
	for len(p.flight) > 0 && p.flight[0].req == nil {
		if f := p.flight[0]; f.memory != nil && p.device != nil {
			if f.copied == nil {
				break
			}
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
// in fragments. While no tag is free for them, it does not.
func (r *receiving) request(kind replyKind) error {
	source := r.o.status.Source
	r.kind, r.state = kind, recvAsking
	tag, err := r.p.fragments[source].take(r.p.tags)
	if err != nil || tag == 0 {
		return err
	}
	p := &pipeline{comm: r.p.side, peer: source, tag: tag, left: int(r.head.bytes), host: r.into}
	if r.buf != nil {
		p.lane, p.device = r.lane, r.buf
		after, err := r.lane.record(r.stream)
		if err != nil {
			r.p.fragments[source].give(tag)
			return err
		}
		r.after, p.ready = after, r.writable
	}
	err = r.say(&reply{kind: kind, tag: int32(tag)})
	if err == nil {
		r.state, r.pipeline = recvPipelining, p
	}
	return err
}

// writable reports whether what was queued before the receive is done.
func (r *receiving) writable() (bool, error) {
	done, err := r.after.Query()
	if done {
		r.lane.events.put(r.after)
		r.after = nil
	}
	return done, err
}
