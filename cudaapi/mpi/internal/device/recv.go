package device

import (
	"errors"
	"fmt"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/handshake"
	"gocuda/cudaapi/internal/ipc"
	"gocuda/cudaapi/mpi/internal/transport"
)

// receiving is a receive: of device memory, or of host memory, for which a
// message of device memory has come. The package's comment draws its states.
type receiving struct {
	p   *Port
	o   *operation
	req transport.Request
	at  landing
	target

	state    recvState
	head     rts
	lane     *lane
	view     *ipc.View            // of the sender's memory; nil: it is this process's
	src      *cuda.Buffer         // recvQueueing: that memory,
	ready    *cuda.Event          // and what to wait for before it is read; may be nil
	giveTurn func()               // the stream back on which is copied; may be nil
	uploaded func() (bool, error) // recvPlain
	after    *cuda.Event          // recvPipelining: when the memory may be written
	kind     replyKind            // recvAsking
	copied   *cuda.Event          // recvCopying: by the copy engine, or
	kernel   *shortCopy           // by a kernel
	pipeline *pipeline
	answer   transport.Request
	verdict  error // what the receive ends with when the answer is sent
}

type recvState uint8

const (
	recvMatching recvState = iota
	recvPlain              // the data are there, for the device
	recvOpening            // the sender's memory does not open yet
	recvQueueing           // the copy is not queued yet
	recvCopying
	recvAsking // for a tag for the data
	recvPipelining
	recvReplying
	recvDone
)

// landing is where the transport receives: the message itself, or an RTS.
type landing struct {
	host []byte
	give func(used int) // it back; may be nil
}

// target is the program's memory.
type target struct {
	buf    *cuda.Buffer // of bytes; nil for host memory
	into   []byte       // that
	room   int          // bytes
	stream *cuda.Stream // of a stream-ordered receive
	idle   bool         // the default stream had nothing to do when the receive was posted
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
	r, err := p.receive(b, func(m transport.Memory) (transport.Request, error) { return p.irecv(m, source, tag) })
	if err != nil {
		return nil, err
	}
	if r.stream = s; s == nil {
		// Asked here, it costs nothing while the message is on its way.
		if r.idle, err = idle(b.Device()); err != nil {
			return nil, errors.Join(err, r.req.Cancel())
		}
	}
	return p.e.progress.start(r.o), nil
}

// Imrecv receives a message that was set aside into device memory.
func (p *Port) Imrecv(m transport.Message, b *cuda.Buffer) (transport.Request, error) {
	r, err := p.receive(b, m.Imrecv)
	if err != nil {
		return nil, err
	}
	return p.e.progress.start(r.o), nil
}

// receive begins a receive, which is not moved on yet.
func (p *Port) receive(b *cuda.Buffer, begin func(transport.Memory) (transport.Request, error)) (*receiving, error) {
	raw, err := b.As(cuda.Uint8)
	if err != nil {
		return nil, err
	}
	l, err := p.e.lane(b.Device())
	if err != nil {
		return nil, err
	}
	l.copies.load(l.Device)
	host, give := scratch(max(b.Bytes(), Inline))
	req, err := begin(Host(host))
	if err != nil {
		give(0)
		return nil, err
	}
	r := &receiving{p: p, req: req, lane: l, at: landing{host, give}, target: target{buf: raw, room: b.Bytes()}}
	r.o = &operation{step: r.step, cancel: req.Cancel}
	return r, nil
}

// step moves the message on as far as it goes. An error ends it.
func (r *receiving) step() (bool, error) {
	for {
		was := r.state
		if err := r.next(); err != nil && !r.discards(err) {
			r.abandon(err)
			return false, err
		}
		if r.state == was || r.state == recvDone {
			return r.state == recvDone, nil
		}
	}
}

// next goes on to the next state, if it can.
func (r *receiving) next() error {
	switch r.state {
	case recvMatching:
		st, done, err := r.req.Test()
		if err != nil || !done {
			return err
		}
		r.o.status = st
		return r.arrived(st)
	case recvPlain:
		if done, err := r.uploaded(); err != nil || !done {
			return err
		}
		r.land(r.o.status.Bytes)
		r.state = recvDone
	case recvOpening:
		return r.orAsk(r.get())
	case recvQueueing:
		return r.orAsk(r.queue())
	case recvCopying:
		if done, err := r.copiedYet(); err != nil || !done {
			return err
		}
		if r.stands() {
			return r.say(&reply{kind: ats})
		}
		return r.request(rtrAgain)
	case recvAsking:
		return r.request(r.kind)
	case recvPipelining:
		if done, err := r.pipeline.receive(); err != nil || !done {
			return err
		}
		r.p.fragments[r.pipeline.peer].give(r.pipeline.tag)
		r.pipeline, r.state = nil, recvReplying
	case recvReplying:
		if _, done, err := r.answer.Test(); err != nil || !done {
			return err
		}
		r.state = recvDone
		return r.verdict
	}
	return nil
}

func (r *receiving) copiedYet() (done bool, err error) {
	if r.kernel != nil {
		if done, err = r.kernel.done(r.lane); done {
			r.kernel = nil
		}
	} else if done, err = r.copied.Query(); done {
		r.lane.events.put(r.copied)
		r.copied = nil
	}
	if done {
		r.giveBack()
	}
	return done, err
}

// giveBack gives back what the copy used, when it is done or was not queued.
func (r *receiving) giveBack() {
	if r.view != nil {
		r.view.Release()
		r.view = nil
	}
	if r.giveTurn != nil {
		r.giveTurn()
		r.giveTurn = nil
	}
}

// land gives the memory back that the transport received into.
func (r *receiving) land(used int) {
	if r.at.give != nil {
		r.at.give(used)
		r.at.give = nil
	}
}

// abandon gives back what a message that has failed holds.
func (r *receiving) abandon(why error) {
	r.land(len(r.at.host))
	if ev, k, l := r.copied, r.kernel, r.lane; r.view != nil && (ev != nil || k != nil) { // which may still read it
		r.view.ReleaseWhen(func() (bool, error) {
			if k != nil {
				return k.done(l)
			}
			return ev.Query()
		})
		r.view = nil
	}
	r.giveBack()
	if r.pipeline != nil {
		r.pipeline.discard(why, &r.p.fragments[r.pipeline.peer], &r.p.e.progress)
		r.pipeline = nil
	}
	for _, ev := range []*cuda.Event{r.copied, r.after} {
		if ev != nil {
			r.lane.events.putLater(ev)
		}
	}
	r.copied, r.after = nil, nil
}

// discards has a receive that has failed tell the sender that it reads no data,
// because the sender waits for an answer.
func (r *receiving) discards(err error) bool {
	if r.head.key == 0 || r.answer != nil || r.state == recvDone {
		return false
	}
	r.abandon(err)
	r.verdict = err
	return r.say(&reply{kind: discard}) == nil
}

// arrived looks at what the transport received.
func (r *receiving) arrived(st transport.Status) error {
	if st.Cancelled {
		r.land(0)
		r.state = recvDone
		return nil
	}
	head, ok := readRTS(r.at.host[:min(st.Bytes, len(r.at.host))], r.p.e.mark)
	if !ok {
		return r.plain(st.Bytes)
	}
	r.land(st.Bytes)
	r.head = head
	r.o.cancel = nil
	r.o.status.Bytes = int(head.bytes)
	if int(head.bytes) > r.room {
		r.o.status.Bytes = r.room
		r.verdict = tooLong(int(head.bytes), r.room)
		return r.say(&reply{kind: discard})
	}
	if head.offer == offerNothing {
		return r.request(rtr)
	}
	if head.slot != 0 && r.stream != nil {
		return r.request(rtrAgain) // who does not wait for the copy cannot look after it
	}
	return r.orAsk(r.get())
}

// orAsk asks the sender for the data if they cannot be copied out of its memory.
func (r *receiving) orAsk(why error) error {
	if why == nil {
		return nil
	}
	r.giveBack()
	if r.p.e.forced == IPC {
		m := &reply{kind: nack}
		copy(m.body[:], why.Error())
		r.verdict = why
		return r.say(m)
	}
	if errors.Is(why, ipc.ErrBusy) {
		return r.request(rtrAgain)
	}
	r.p.learn(r.o.status.Source, why.Error())
	return r.request(rtr)
}

func tooLong(bytes, room int) error {
	return &transport.Error{Class: transport.Truncate, Call: "receive", Text: fmt.Sprintf("the message has %d bytes, the receive buffer %d", bytes, room)}
}

// plain puts a message that came as it is into place.
func (r *receiving) plain(n int) (err error) {
	if n > r.room { // the landing was longer, for an RTS
		r.land(n)
		r.o.status.Bytes = r.room
		return tooLong(n, r.room)
	}
	switch {
	case n == 0:
	case r.buf == nil:
		copy(r.into, r.at.host[:n])
	case r.stream != nil && n <= staged:
		err = r.buf.Slice(0, n).UploadAsync(r.at.host[:n], r.stream)
	default:
		return r.upload(n)
	}
	r.land(n)
	r.state = recvDone
	return err
}

// staged is how much a driver takes from the host's memory at once, without waiting
// for the stream.
const staged = 64 << 10

// upload copies such a message when the streams' work by now is done.
func (r *receiving) upload(n int) error {
	done, err := r.lane.after(r.stream, func(on *cuda.Stream) error {
		return r.buf.Slice(0, n).UploadAsync(r.at.host[:n], on)
	})
	r.uploaded, r.state = done, recvPlain
	return err
}

// say replies to the sender.
func (r *receiving) say(m *reply) (err error) {
	m.key = r.head.key
	r.answer, err = r.p.side.Isend(Host(handshake.Bytes(m)), r.o.status.Source, replyTag)
	r.state = recvReplying
	return err
}
