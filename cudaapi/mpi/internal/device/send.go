package device

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/fabric"
	"gocuda/cudaapi/mpi/internal/transport"
)

// Port is a communicator whose messages may be device memory.
type Port struct {
	e          *Engine
	data, side transport.Comm
	number     int
	ranks      []byte // what each rank says of itself
	boards     []*board
	ids        atomic.Uint32
	withdrawn  atomic.Int32 // messages of which the engine keeps copies

	mu    sync.Mutex
	left  []*looked // what Iprobe looked into, as it came
	leftN atomic.Int32
}

var ports atomic.Int32

// Port makes the port of a communicator. side is a duplicate of it that the
// program does not see, on which the tags from 1<<14 on are the port's. It is
// collective and blocks.
func (e *Engine) Port(data, side transport.Comm) (*Port, error) {
	p := &Port{e: e, data: data, side: side, number: int(ports.Add(1)), ranks: make([]byte, aboutSize*side.Size())}
	here := append(make([]byte, 0, aboutSize), e.host[:]...)
	if here = append(here, 0); cuda.Registered() {
		here[aboutDevices] = 1
	}
	here = binary.LittleEndian.AppendUint32(here, uint32(e.rank))
	place := noBoard
	if side.Size() > 1 {
		place = e.newBoard()
	}
	here = binary.LittleEndian.AppendUint32(here, uint32(place))
	own := memoryOf(here)
	all := memoryOf(p.ranks)
	all.N = own.N // of one rank
	r, err := side.Iallgather(own, all)
	if err == nil {
		err = Wait(r)
	}
	if err == nil && p.OneHost() {
		p.hang()
	}
	return p, err
}

// What a rank says of itself: its host, whether the program can use devices, its
// rank in the world, and where its board is.
const (
	aboutDevices = 16
	aboutRank    = aboutDevices + 1
	aboutBoard   = aboutRank + 4
	aboutSize    = aboutBoard + 4
)

func (p *Port) about(rank int) []byte { return p.ranks[aboutSize*rank:][:aboutSize] }

func (p *Port) host(rank int) [16]byte { return [16]byte(p.about(rank)) }

// OneHost reports whether all ranks are on one host and can use devices, so
// that they may open each other's memory. All ranks get the same answer.
func (p *Port) OneHost() bool {
	for r := range p.side.Size() {
		if p.host(r) != p.e.host || p.about(r)[aboutDevices] == 0 {
			return false
		}
	}
	return p.e.forced == Auto || p.e.forced == IPC
}

// Opens tries by messages of device memory whether this rank and all others can
// open each other's memory, and tells what stands against it. It is collective
// over the ranks, blocks, and is for a Port that is used for nothing else.
func (p *Port) Opens(d *cuda.Device) (string, error) {
	const tag, n = 0, 2 * Inline
	out, err := d.Alloc(n, cuda.Uint8)
	if err != nil {
		return "", err
	}
	in, err := d.Alloc(n, cuda.Uint8)
	if err != nil {
		return "", err
	}
	for i := 1; i < p.side.Size(); i++ {
		to, from := (p.side.Rank()+i)%p.side.Size(), (p.side.Rank()+p.side.Size()-i)%p.side.Size()
		r, err := p.Irecv(in, from, tag)
		if err != nil {
			return "", err
		}
		s, err := p.Isend(out, to, tag, false)
		if err != nil {
			return "", err
		}
		for _, q := range []transport.Request{r, s} {
			if err := Wait(q); err != nil {
				return "", err
			}
		}
	}
	// The buffers stay: others have them open.
	for r := range p.side.Size() {
		if why := p.why(r); why != "" {
			return why, nil
		}
	}
	return "", nil
}

// Wait blocks until a request is over.
func Wait(r transport.Request) error {
	for n := 0; ; n++ {
		if _, done, err := r.Test(); done || err != nil {
			return err
		}
		runtime.Gosched()
		if n > 200 {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// Path tells how device memory goes to and from a peer, and why.
func (p *Port) Path(peer int) (path, why string) {
	switch {
	case p.e.forced != Auto:
		return string(p.e.forced), "GOCUDA_MPI_PATH says so"
	case p.host(peer) != p.e.host:
		return string(Staged), "the ranks are on different hosts, and the MPI library takes no device memory"
	}
	if why := p.why(peer); why != "" {
		return string(Staged), why
	}
	return string(IPC), fmt.Sprintf("ranks %d and %d are on one host", p.side.Rank(), peer)
}

// sending is a message whose sender waits for an answer.
type sending struct {
	p        *Port
	buf      *cuda.Buffer
	lane     *lane
	dest     int
	id       uint32
	key      uint64
	stream   *cuda.Stream // of a stream-ordered send
	ready    *cuda.Event  // nil: the data are ready
	read     bool         // the receiver has read the data, so ready is done
	offered  bool         // the envelope says where the data can be opened
	envelope transport.Request
	reply    transport.Request
	answer   []byte
	done     *cuda.Event  // the receiver's
	lent     *cuda.Buffer // a copy, of memory that others cannot open
	failed   error        // to free it
	pieces   *pieces

	slot  byte // of a short message, which may be withdrawn
	since time.Time
	data  []byte            // of one that was
	sent  transport.Request // those, to the receiver
}

// Isend starts a send of device memory, behind the work of the default stream.
// With synchronous it is complete only when the receive has begun.
func (p *Port) Isend(b *cuda.Buffer, dest, tag int, synchronous bool) (transport.Request, error) {
	if b.Bytes() > Inline && dest != transport.ProcNull {
		return p.send(b, dest, tag, nil, 0)
	}
	if slot := p.slotFor(b, dest, synchronous); slot > 0 {
		return p.send(b, dest, tag, nil, slot)
	}
	host := make([]byte, b.Bytes())
	if len(host) > 0 && dest != transport.ProcNull {
		if err := p.e.fetch(host, b); err != nil {
			return nil, err
		}
	}
	if synchronous {
		return p.data.Issend(memoryOf(host), dest, tag)
	}
	return p.data.Isend(memoryOf(host), dest, tag)
}

// fetch reads a short buffer, behind the work of the default stream. If there is
// none, pinned memory and an event that is asked for take less time than a copy
// that waits by itself.
func (e *Engine) fetch(host []byte, b *cuda.Buffer) error {
	l, raw, err := e.bytes(b)
	if err != nil {
		return err
	}
	now, err := idle(l.dev)
	if err != nil {
		return err
	}
	if !now {
		return raw.Download(host)
	}
	h, err := l.piece()
	if err != nil {
		return err
	}
	defer l.keep(h)
	done, err := l.event()
	if err != nil {
		return err
	}
	if err := errors.Join(cuda.MemcpyAsync(h.Slice(0, len(host)), raw, l.fetches), done.Record(l.fetches)); err != nil {
		return err
	}
	for n := 0; ; n++ {
		if over, err := done.Query(); err != nil {
			return err
		} else if over {
			break
		}
		if n > 1000 {
			runtime.Gosched()
		}
	}
	l.giveBack(done)
	copy(host, h.Uint8s())
	return nil
}

// IsendOn starts a send that follows the work queued on a stream. When its
// request is complete, the stream's later work follows the reading of the
// buffer.
func (p *Port) IsendOn(b *cuda.Buffer, dest, tag int, s *cuda.Stream) (transport.Request, error) {
	if b.Bytes() == 0 || dest == transport.ProcNull {
		return p.data.Isend(transport.Memory{T: transport.Byte}, dest, tag)
	}
	return p.send(b, dest, tag, s, 0)
}

// bytes is a buffer as bytes, and its device's lane.
func (e *Engine) bytes(b *cuda.Buffer) (*lane, *cuda.Buffer, error) {
	l, err := e.lane(b.Device())
	if err != nil {
		return nil, nil, err
	}
	raw, err := b.As(cuda.Uint8)
	return l, raw, err
}

func (p *Port) send(b *cuda.Buffer, dest, tag int, stream *cuda.Stream, slot byte) (transport.Request, error) {
	l, raw, err := p.e.bytes(b)
	if err != nil {
		return nil, err
	}
	s := &sending{p: p, slot: slot, since: time.Now(), buf: raw, lane: l, dest: dest, stream: stream, id: p.ids.Add(1), answer: make([]byte, answerSize)}
	now := false
	if stream == nil {
		if now, err = idle(l.dev); err != nil {
			return nil, err
		}
	}
	if !now {
		if err := s.mark(stream); err != nil {
			return nil, err
		}
	}
	if p.e.forced == IPC {
		if _, err := raw.IPCHandle(); err != nil {
			if err := s.lend(); err != nil {
				return nil, err
			}
		}
	}
	s.e().mu.Lock()
	s.e().next++
	s.key = s.e().next
	s.e().sends[s.key] = s
	s.e().mu.Unlock()
	text, err := s.describe()
	if err == nil {
		s.reply, err = p.side.Irecv(memoryOf(s.answer), dest, answerTag(s.id))
	}
	if err == nil {
		s.envelope, err = p.data.Isend(memoryOf(text), dest, tag)
	}
	if err != nil {
		s.end()
		return nil, err
	}
	return s.e().start(&operation{step: s.step}), nil
}

func (s *sending) e() *Engine { return s.p.e }

// mark has the data ready when a stream's work so far is done.
func (s *sending) mark(stream *cuda.Stream) (err error) {
	if s.ready == nil {
		if s.ready, err = s.lane.event(); err != nil {
			return err
		}
	}
	return s.ready.Record(stream)
}

// await makes the lane's stream wait until the data are ready.
func (s *sending) await() error {
	if s.ready == nil {
		return nil
	}
	return s.lane.stream.WaitEvent(s.ready)
}

// lend copies memory that CUDA cannot share between processes (of pools, for
// instance) to some that it can.
func (s *sending) lend() error {
	l := s.lane
	err := fabric.Allocating(func() (err error) {
		s.lent, err = l.dev.Alloc(s.buf.Bytes(), cuda.Uint8)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.await(); err != nil {
		return err
	}
	if err := cuda.MemcpyAsync(s.lent, s.buf, l.stream); err != nil {
		return err
	}
	if err := s.mark(l.stream); err != nil {
		return err
	}
	s.buf = s.lent
	if s.stream == nil {
		return nil
	}
	return s.stream.WaitEvent(s.ready)
}

// describe makes the envelope.
func (s *sending) describe() ([]byte, error) {
	e := &envelope{path: onDemand, slot: s.slot, id: s.id, sender: uint32(s.e().rank), key: s.key, bytes: uint64(s.buf.Bytes()), host: s.e().host}
	if s.e().forced == IPC || s.e().forced == Auto && s.p.why(s.dest) == "" && s.p.host(s.dest) == s.e().host {
		memory, err := fabric.NewExport(s.buf)
		path, ready := byte(byIPCNow), cuda.IPCEvent{}
		if err == nil && s.ready != nil {
			path = byIPC
			ready, err = s.lane.handle(s.ready)
		}
		switch {
		case err == nil:
			e.path, e.memory, e.ready = path, memory, ready
			s.offered = true
		case s.e().forced == IPC:
			return nil, err
		}
	}
	return e.encode(s.e().mark), nil
}

func (s *sending) end() {
	s.e().mu.Lock()
	delete(s.e().sends, s.key)
	s.e().mu.Unlock()
	switch {
	case s.ready == nil:
	case s.read:
		s.lane.giveBack(s.ready)
	default:
		s.lane.lend(s.ready)
	}
	s.ready = nil
	s.freeSlot()
	if s.lent != nil {
		s.failed = fabric.Allocating(s.lent.Free)
	}
}

func (s *sending) step() (bool, error) {
	if s.slot > 0 && s.data == nil && s.reply != nil && time.Since(s.since) > offerTime {
		if _, done, err := s.reply.Test(); err == nil && !done {
			return s.withdraw()
		}
	}
	return s.advance()
}

// advance goes on until the receiver has the data.
func (s *sending) advance() (bool, error) {
	if s.reply != nil {
		_, done, err := s.reply.Test()
		if err != nil || !done {
			return false, err
		}
		s.reply = nil
		if err := s.answered(); err != nil {
			return false, err
		}
	}
	if s.sent != nil {
		if _, done, err := s.sent.Test(); err != nil || !done {
			return false, err
		}
		s.sent = nil
	}
	if s.pieces != nil {
		done, err := s.pieces.send()
		if err != nil || !done {
			return false, err
		}
		s.pieces, s.read = nil, true
	}
	if s.done != nil {
		done, err := s.done.Query()
		if err != nil || !done {
			return false, err
		}
		s.done, s.read = nil, true
	}
	if _, done, err := s.envelope.Test(); err != nil || !done {
		return false, err
	}
	s.end()
	return true, s.failed
}

// answered does what the receiver's answer asks for.
func (s *sending) answered() error {
	switch s.answer[0] {
	case taken:
		s.read = true
	case wanted, again:
		if s.offered && s.answer[0] == wanted {
			s.p.learn(s.dest, "the receiver could not open the sender's memory")
		}
		if s.data != nil {
			var err error
			s.sent, err = s.p.side.Isend(memoryOf(s.data), s.dest, pieceTag(s.id))
			return err
		}
		if err := s.await(); err != nil {
			return err
		}
		s.pieces = &pieces{comm: s.p.side, peer: s.dest, tag: pieceTag(s.id), lane: s.lane, device: s.buf, left: s.buf.Bytes()}
	case takenWhen:
		done, err := s.e().imports.Event(s.lane.dev, cuda.IPCEvent(s.answer[1:]))
		if err != nil {
			return err
		}
		if s.stream != nil && s.lent == nil {
			return s.stream.WaitEvent(done)
		}
		s.done = done
	case refused:
		return fmt.Errorf("the receiver cannot open the memory: %s", bytes.TrimRight(s.answer[1:], "\x00"))
	}
	return nil
}

// learn remembers why messages to a rank do not go by IPC; why tells it.
func (p *Port) learn(peer int, text string) {
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	if n := (note{p.number, peer}); p.e.notes[n] == "" {
		p.e.notes[n] = text
	}
}

func (p *Port) why(peer int) string {
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	return p.e.notes[note{p.number, peer}]
}
