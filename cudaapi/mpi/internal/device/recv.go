package device

import (
	"errors"
	"fmt"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi/internal/transport"
)

// receiving is a receive: of device memory, or of host memory, for which a
// message of device memory may come.
type receiving struct {
	p      *Port
	o      *operation
	req    transport.Request
	host   []byte       // where the transport receives
	into   []byte       // the program's memory, if it is the host's
	buf    *cuda.Buffer // of bytes; nil for host memory
	room   int          // bytes of the program's memory
	stream *cuda.Stream // of a stream-ordered receive
	idle   bool         // the default stream had nothing to do when the receive was posted
	give   func(int)    // host memory back

	lane   *lane
	copied *cuda.Event
	ticket *ticket // of a short copy
	pieces *pieces
	env    *envelope
	answer transport.Request
}

// Irecv starts a receive into device memory, behind the work of the default
// stream.
func (p *Port) Irecv(b *cuda.Buffer, source, tag int) (transport.Request, error) {
	return p.IrecvOn(b, source, tag, nil)
}

// IrecvOn starts a receive that follows the work queued on a stream by the time
// when the message comes. When its request is complete, the stream's later work
// follows the arrival of the data.
func (p *Port) IrecvOn(b *cuda.Buffer, source, tag int, s *cuda.Stream) (transport.Request, error) {
	if source == transport.ProcNull {
		return p.data.Irecv(transport.Memory{T: transport.Byte}, source, tag)
	}
	raw, err := b.As(cuda.Uint8)
	if err != nil {
		return nil, err
	}
	host, give := scratch(max(b.Bytes(), Inline))
	req, err := p.irecv(memoryOf(host), source, tag)
	if err != nil {
		give(0)
		return nil, err
	}
	r := &receiving{p: p, req: req, host: host, buf: raw, room: b.Bytes(), stream: s, give: give}
	if s == nil {
		// Asked here, it costs nothing while the message is on its way.
		if r.idle, err = idle(b.Device()); err != nil {
			return nil, errors.Join(err, req.Cancel())
		}
	}
	return p.receive(r), nil
}

// idle tells whether a device's default stream has nothing to do, and so whatever
// would follow it need not wait.
func idle(d *cuda.Device) (bool, error) { return d.DefaultStream().Query() }

func (p *Port) receive(r *receiving) transport.Request {
	r.o = &operation{step: r.step, cancel: r.req.Cancel} // before the engine steps
	return p.e.start(r.o)
}

// Imrecv receives a message that was set aside into device memory.
func (p *Port) Imrecv(m transport.Message, b *cuda.Buffer) (transport.Request, error) {
	raw, err := b.As(cuda.Uint8)
	if err != nil {
		return nil, err
	}
	host, give := scratch(max(b.Bytes(), Inline))
	req, err := m.Imrecv(memoryOf(host))
	if err != nil {
		give(0)
		return nil, err
	}
	return p.receive(&receiving{p: p, req: req, host: host, buf: raw, room: b.Bytes(), give: give}), nil
}

func (r *receiving) step() (bool, error) {
	if r.req != nil {
		st, done, err := r.req.Test()
		if err != nil || !done {
			if err != nil && r.give != nil {
				r.give(len(r.host))
			}
			return false, err
		}
		r.req, r.o.status = nil, st
		if err := r.arrived(st); err != nil {
			return false, err
		}
	}
	if r.pieces != nil {
		done, err := r.pieces.receive()
		if err != nil || !done {
			return false, err
		}
		r.pieces = nil
	}
	if r.ticket != nil {
		done, err := r.ticket.done()
		if err != nil || !done {
			return false, err
		}
		r.ticket = nil
		if over, err := r.read(); err != nil || !over {
			return false, err
		}
	}
	if r.copied != nil {
		done, err := r.copied.Query()
		if err != nil || !done {
			return false, err
		}
		r.lane.giveBack(r.copied)
		r.copied = nil
		if over, err := r.read(); err != nil || !over {
			return false, err
		}
	}
	if r.answer != nil {
		if _, done, err := r.answer.Test(); err != nil || !done {
			return false, err
		}
	}
	return true, nil
}

// read answers when the data have been copied, or asks for them if the sender has
// withdrawn them meanwhile.
func (r *receiving) read() (bool, error) {
	if r.stands() {
		return true, r.say(taken, cuda.IPCEvent{})
	}
	return false, r.ask(again)
}

// arrived looks at what the transport received.
func (r *receiving) arrived(st transport.Status) error {
	if r.give != nil {
		defer r.give(st.Bytes)
	}
	if st.Cancelled {
		return nil
	}
	env, ok := open(r.host[:min(st.Bytes, len(r.host))], r.p.e.mark)
	if !ok {
		return r.plain(st.Bytes)
	}
	r.env = env
	r.o.cancel = nil
	r.o.status.Bytes = int(env.bytes)
	if int(env.bytes) > r.room {
		r.o.status.Bytes = r.room
		if err := r.say(dropped, cuda.IPCEvent{}); err != nil {
			return err
		}
		return tooLong(int(env.bytes), r.room)
	}
	if env.path != onDemand {
		if env.slot != 0 && r.stream != nil {
			return r.ask(again) // who does not wait for the copy cannot look behind it
		}
		why := r.pull()
		if why == nil {
			return nil
		}
		if r.p.e.forced == IPC {
			var text cuda.IPCEvent // the place of one
			copy(text[:], why.Error())
			return errors.Join(why, r.say(refused, text))
		}
		r.p.learn(st.Source, why.Error())
	}
	return r.ask(wanted)
}

func tooLong(bytes, room int) error {
	return &transport.Error{Class: transport.Truncate, Call: "receive", Text: fmt.Sprintf("the message has %d bytes, the receive buffer %d", bytes, room)}
}

// plain puts a message that came as it is into place.
func (r *receiving) plain(n int) error {
	if n > r.room { // the memory below was longer, for envelopes
		r.o.status.Bytes = r.room
		return tooLong(n, r.room)
	}
	switch {
	case n == 0:
		return nil
	case r.buf == nil:
		copy(r.into, r.host[:n])
		return nil
	case r.stream != nil:
		return r.buf.Slice(0, n).UploadAsync(r.host[:n], r.stream)
	}
	return r.buf.Slice(0, n).Upload(r.host[:n])
}

// pull copies the data out of the sender's memory.
func (r *receiving) pull() error {
	if err := r.choose(); err != nil {
		return err
	}
	n := int(r.env.bytes)
	src, ready, err := r.remote()
	if err != nil {
		return err
	}
	s := r.stream
	if s == nil {
		s = r.lane.stream
		if r.buf != nil && !r.idle {
			if err := r.lane.follow(nil); err != nil {
				return err
			}
		}
	}
	if ready != nil {
		if err := s.WaitEvent(ready); err != nil {
			return err
		}
	}
	// Behind what it must wait for, a short copy is quicker by a kernel; with nothing
	// to wait for, by the copy engine.
	waits := ready != nil || !r.idle
	if waits && r.stream == nil && r.buf != nil && n > 0 && n <= carryBytes && r.lane.carrier.kernel != nil && src.Device() == r.buf.Device() {
		if r.ticket, err = r.lane.ticket(); err != nil {
			return err
		}
		return r.lane.carry(r.ticket, r.buf, src, n)
	}
	if r.buf == nil {
		err = cuda.MemcpyAsync(r.into[:n], src, s)
	} else if dst := r.buf.Slice(0, n); src.Device() == dst.Device() {
		err = cuda.MemcpyAsync(dst, src, s)
	} else {
		err = cuda.MemcpyPeerAsync(dst, src, s)
	}
	if err != nil {
		return err
	}
	done, err := r.lane.event()
	if err != nil {
		return err
	}
	if err := done.Record(s); err != nil {
		return err
	}
	if r.stream == nil {
		r.copied = done
		return nil
	}
	if r.own() { // an event cannot be opened by its own process
		r.copied = done
		return nil
	}
	defer r.lane.lend(done)
	h, err := r.lane.handle(done)
	if err != nil {
		return err
	}
	return r.say(takenWhen, h)
}

// own reports whether the message is this process's.
func (r *receiving) own() bool { return int(r.env.sender) == r.p.e.rank }

// remote is the sender's memory and its event, as this process has them; no event
// if the data are ready.
func (r *receiving) remote() (*cuda.Buffer, *cuda.Event, error) {
	e := r.p.e
	if r.own() {
		e.mu.Lock()
		defer e.mu.Unlock()
		s := e.sends[r.env.key]
		if s == nil {
			return nil, nil, fmt.Errorf("message %d of this process is not known", r.env.key)
		}
		return s.buf, s.ready, nil
	}
	if r.env.host != e.host {
		return nil, nil, fmt.Errorf("rank %d of the world is on another host", r.env.sender)
	}
	src, err := e.imports.View(r.lane.dev, r.env.memory)
	if err != nil || r.env.path == byIPCNow {
		return src, nil, err
	}
	ready, err := e.imports.Event(r.lane.dev, r.env.ready)
	return src, ready, err
}

// choose finds the lane: of the buffer's device, or for host memory of any.
func (r *receiving) choose() error {
	if r.lane != nil {
		return nil
	}
	var d *cuda.Device
	var err error
	if r.buf != nil {
		d = r.buf.Device()
	} else if d, err = cuda.CurrentDevice(); err != nil {
		return err
	}
	r.lane, err = r.p.e.lane(d)
	return err
}

// ask has the sender send the data in pieces.
func (r *receiving) ask(answer byte) error {
	if err := r.say(answer, cuda.IPCEvent{}); err != nil {
		return err
	}
	r.pieces = &pieces{comm: r.p.side, peer: r.o.status.Source, tag: pieceTag(r.env.id), left: int(r.env.bytes)}
	if r.buf == nil {
		r.pieces.host = r.into
		return nil
	}
	if err := r.choose(); err != nil {
		return err
	}
	r.pieces.lane, r.pieces.device = r.lane, r.buf
	if r.stream != nil {
		return r.lane.follow(r.stream)
	}
	return r.lane.follow(nil)
}

// say answers the sender.
func (r *receiving) say(what byte, when cuda.IPCEvent) error {
	b := append([]byte{what}, when[:]...)
	var err error
	r.answer, err = r.p.side.Isend(memoryOf(b), r.o.status.Source, answerTag(r.env.id))
	return err
}
