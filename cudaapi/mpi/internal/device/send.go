package device

import (
	"fmt"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/handshake"
	"gocuda/cudaapi/internal/ipc"
	"gocuda/cudaapi/mpi/internal/transport"
)

// sending is a message for which an RTS was sent. The package's comment draws its
// states.
type sending struct {
	p       *Port
	dest    int
	source  source
	head    rts
	request transport.Request // of the RTS

	state    sendState
	short    shortOffer
	tag      int         // of the data, once the receiver has asked for them
	copied   *cuda.Event // atsLater's
	pipeline *pipeline
}

type sendState uint8

const (
	sendOffered    sendState = iota
	sendCopying              // the receiver copies, and copied tells when it has
	sendPipelining           //
	sendingKept              // the copy of a withdrawn offer is on its way
	sendRefusing             // it has failed, which the receiver is still to be told
	sendClosing              // the receiver has the data
	sendDone
)

// source is the memory that is sent.
type source struct {
	lane   *lane
	buf    *cuda.Buffer // of bytes
	stream *cuda.Stream // of a stream-ordered send
	ready  *cuda.Event  // nil: the data are ready
	shared *cuda.Buffer // a copy, of memory that others cannot open,
	give   func()       // and how to give it back
	read   bool         // nobody will wait for ready any more
}

// Isend starts a send of device memory, behind the work of the default stream.
// With synchronous it is complete only when the receive has begun.
func (p *Port) Isend(b *cuda.Buffer, dest, tag int, synchronous bool) (transport.Request, error) {
	if dest != transport.ProcNull {
		if b.Bytes() > Inline {
			return p.send(b, dest, tag, nil, shortOffer{})
		}
		if slot := p.takeSlot(b, dest, synchronous); slot > 0 {
			return p.send(b, dest, tag, nil, shortOffer{slot: slot})
		}
	}
	return p.sendEager(b, dest, tag, synchronous)
}

// sendEager sends the data in the message's place. If they are not ready yet, an RTS
// that offers nothing takes the place, and the sender keeps a copy when they are.
func (p *Port) sendEager(b *cuda.Buffer, dest, tag int, synchronous bool) (transport.Request, error) {
	host := make([]byte, b.Bytes())
	if len(host) > 0 && dest != transport.ProcNull {
		l, raw, err := p.e.bytes(b)
		if err != nil {
			return nil, err
		}
		now, err := idle(l.Device)
		if err != nil {
			return nil, err
		}
		if !now {
			return p.send(b, dest, tag, nil, shortOffer{later: true, waits: synchronous})
		}
		f, err := l.fetch(raw)
		if err != nil {
			return nil, err
		}
		if err := f.wait(host); err != nil {
			return nil, err
		}
	}
	if synchronous {
		return p.data.Issend(Host(host), dest, tag)
	}
	return p.data.Isend(Host(host), dest, tag)
}

// IsendOn starts a send that follows the work queued on a stream. When its
// request is complete, the stream's later work follows the reading of the
// buffer.
func (p *Port) IsendOn(b *cuda.Buffer, dest, tag int, s *cuda.Stream) (transport.Request, error) {
	if b.Bytes() == 0 || dest == transport.ProcNull {
		return p.data.Isend(transport.Memory{T: transport.Byte}, dest, tag)
	}
	return p.send(b, dest, tag, s, shortOffer{})
}

func (p *Port) send(b *cuda.Buffer, dest, tag int, stream *cuda.Stream, short shortOffer) (transport.Request, error) {
	l, raw, err := p.e.bytes(b)
	if err != nil {
		return nil, err
	}
	short.since = time.Now()
	s := &sending{p: p, dest: dest, source: source{lane: l, buf: raw, stream: stream}, short: short}
	if err := s.start(tag); err != nil {
		s.end()
		return nil, err
	}
	return p.e.progress.start(&operation{step: s.step}), nil
}

// start sends the RTS.
func (s *sending) start(tag int) error {
	e := s.p.e
	if err := s.source.prepare(e); err != nil {
		return err
	}
	s.head = rts{mark: e.mark, offer: offerNothing, slot: s.short.slot, sender: uint32(e.rank), bytes: uint64(s.source.buf.Bytes()), host: e.host}
	e.mu.Lock()
	e.next++
	s.head.key = e.next
	e.sends[s.head.key] = s
	e.mu.Unlock()
	if s.p.byIPC(s.dest) && !s.short.later {
		if err := s.source.offer(&s.head); err != nil && e.forced == IPC {
			return err
		}
	}
	// The answer may be there before Isend returns, and another message's may look first.
	answers := &s.p.replies[s.dest]
	if err := answers.expect(s.p.side, s.dest, s.head.key); err != nil {
		return err
	}
	var err error
	if s.request, err = s.p.data.Isend(Host(handshake.Bytes(&s.head)), s.dest, tag); err != nil {
		answers.forget(s.head.key)
	}
	return err
}

// prepare finds when the data are ready, and copies them where others can open them
// if that is a must.
func (s *source) prepare(e *Engine) (err error) {
	now := false
	if s.stream == nil {
		if now, err = idle(s.lane.Device); err != nil {
			return err
		}
	}
	if !now {
		if err := s.mark(s.stream); err != nil {
			return err
		}
	}
	if e.forced == IPC {
		if _, err := s.buf.IPCHandle(); err != nil {
			return s.share(e)
		}
	}
	return nil
}

// mark has the data ready when a stream's work so far is done.
func (s *source) mark(stream *cuda.Stream) (err error) {
	if s.ready == nil {
		if s.ready, err = s.lane.events.take(s.lane.Device); err != nil {
			return err
		}
	}
	return s.ready.Record(stream)
}

// isReady reports whether the data are ready.
func (s *source) isReady() (bool, error) {
	if s.ready == nil {
		return true, nil
	}
	return s.ready.Query()
}

// share copies memory that CUDA cannot share between processes (of pools, for
// instance) to some that it can, in the order of the program's stream.
func (s *source) share(e *Engine) (err error) {
	if s.shared, s.give, err = e.Staging(s.lane.Device, s.buf.Bytes()); err != nil {
		return err
	}
	if err := cuda.MemcpyAsync(s.shared, s.buf, s.stream); err != nil {
		return err
	}
	s.buf = s.shared
	return s.mark(s.stream)
}

// offer says in an RTS where the data can be opened.
func (s *source) offer(h *rts) (err error) {
	memory, err := ipc.NewExport(s.buf)
	if err != nil {
		return err
	}
	if s.ready == nil {
		h.offer, h.memory = offerMemory, memory
		return nil
	}
	ready, err := s.lane.events.handle(s.ready)
	if err == nil {
		h.offer, h.memory, h.ready = offerLater, memory, ready
	}
	return err
}

// release gives back what the source holds. What a receiver may still read is not used
// again.
func (s *source) release() {
	if s.read {
		s.lane.events.put(s.ready)
	} else {
		s.lane.events.putLater(s.ready)
	}
	if s.read && s.shared != nil {
		s.give()
	}
	s.ready, s.shared = nil, nil
}

// step moves the message on as far as it goes. An error ends it.
func (s *sending) step() (bool, error) {
	for {
		was := s.state
		over, err := s.next()
		if err != nil {
			if s.refuses() {
				s.p.e.progress.start(&operation{step: s.step})
			} else {
				s.end()
			}
			return false, err
		}
		if over || s.state == was {
			return over, nil
		}
	}
}

// next goes on to the next state, if it can. It reports whether the request is
// complete.
func (s *sending) next() (over bool, err error) {
	switch s.state {
	case sendOffered:
		if kept, err := s.keep(); err != nil || !kept {
			return false, err
		}
		a, err := s.p.replies[s.dest].take(s.head.key)
		if err != nil || a != nil {
			s.short.answered = true
			if err == nil {
				err = s.answered(a)
			}
			return false, err
		}
		if s.short.kept != nil && !s.short.withdrawn && !s.short.waits {
			s.withdraw()
			return true, nil
		}
	case sendCopying:
		if done, err := s.copied.Query(); err != nil || !done {
			return false, err
		}
		s.source.read, s.state = true, sendClosing
	case sendPipelining:
		if done, err := s.pipeline.send(); err != nil || !done {
			return false, err
		}
		s.pipeline, s.source.read, s.state = nil, true, sendClosing
	case sendingKept:
		if _, done, err := s.short.sent.Test(); err != nil || !done {
			return false, err
		}
		s.state = sendClosing
	case sendRefusing:
		if !s.short.answered {
			a, err := s.p.replies[s.dest].take(s.head.key)
			if err != nil || a == nil {
				return false, err
			}
			s.short.answered, s.tag = true, int(a.tag)
		}
		if s.state = sendClosing; s.tag == 0 {
			break
		}
		// Data of no length: there are none.
		s.state = sendingKept
		s.short.sent, err = s.p.side.Isend(transport.Memory{T: transport.Byte}, s.dest, s.tag)
		return false, err
	case sendClosing:
		if _, done, err := s.request.Test(); err != nil || !done {
			return false, err
		}
		s.state = sendDone
		s.end()
		return true, nil
	}
	return s.state == sendDone, nil
}

// answered does what the receiver's reply asks for.
func (s *sending) answered(a *reply) (err error) {
	switch {
	case a.kind == atsLater:
		return s.readLater(cuda.IPCEvent(a.body))
	case a.kind == nack:
		return fmt.Errorf("the receiver cannot open the memory: %s", handshake.Text(a.body[:]))
	case a.kind == rtr && s.head.offer != offerNothing:
		s.p.learn(s.dest, "the receiver could not open the sender's memory")
		fallthrough
	case a.kind == rtr, a.kind == rtrAgain:
		s.tag = int(a.tag)
		if s.short.kept != nil {
			s.state = sendingKept
			s.short.sent, err = s.p.side.Isend(Host(s.short.kept), s.dest, s.tag)
			return err
		}
		s.state = sendPipelining
		s.pipeline = &pipeline{comm: s.p.side, peer: s.dest, tag: s.tag, lane: s.source.lane, device: s.source.buf, left: s.source.buf.Bytes(), ready: s.source.isReady}
	default: // ats, discard
		s.source.read, s.state = a.kind == ats, sendClosing
	}
	return nil
}

// refuses reports whether a message that has failed is to go on, because the receiver
// waits for data or will ask for them.
func (s *sending) refuses() bool {
	switch s.state {
	case sendOffered:
		if s.request == nil || s.short.answered && s.tag == 0 { // not sent, or the answer asks for nothing
			return false
		}
	case sendPipelining:
		s.pipeline.abandon()
		s.pipeline = nil
	default:
		return false
	}
	s.state = sendRefusing
	return true
}

// end gives back what the message holds, when it is over or has failed.
func (s *sending) end() {
	e := s.p.e
	e.mu.Lock()
	delete(e.sends, s.head.key)
	e.mu.Unlock()
	s.freeSlot()
	s.short.fetch.drop()
	if s.pipeline != nil {
		s.pipeline.abandon()
	}
	s.source.release()
}
