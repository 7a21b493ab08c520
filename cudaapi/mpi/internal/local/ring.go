package local

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"gocuda/cudaapi/mpi/internal/transport"
)

// A ring is written by one process and read by one other, without locks. It
// is made of lines of 64 bytes. A frame is a header in one line and, if the
// payload does not fit there, the lines that follow. The first word of a
// header is written last and tells the reader that the frame is there, so
// that a small message is one line that moves from cache to cache; the reader
// zeroes the first word of each line that it gives back, so that nothing old
// can be taken for a header.
const lineBytes = 64

type frameKind uint8

const (
	frameEager frameKind = iota + 1 // a whole message
	frameSync                       // the same; its sender waits for frameDone
	frameReady                      // a message that stays at its sender until asked for
	frameDone                       // message id was received
	framePull                       // send message id in frameData, to receive peer
	frameData                       // a part of the message for receive id, at offset size
	frameEnd
)

// frame is a header.
type frame struct {
	kind    frameKind
	typ     transport.Type // of the message's elements, if it is known
	payload int            // bytes that follow
	context uint32
	tag     int32
	sig     uint32 // of a collective's message: what its sender takes it for
	size    uint64 // of the message; framePull: bytes wanted; frameData: offset
	id      uint64 // of the sender's request; frameDone, framePull and frameData: of the request at the frame's reader
	addr    uint64 // frameReady: where the message is; framePull: the receive's id
}

// sizeBits are enough for the size of any message; the rest is for sig.
const sizeBits = 44

// inlineBytes of payload fit into the header's line.
const inlineBytes = 24

// line is a header in the ring.
type line struct {
	word    uint64 // mark<<32 | payload<<8 | typ<<3 | kind
	context uint32
	tag     int32
	size    uint64 // sig<<sizeBits | size
	id      uint64
	addr    uint64
	inline  [inlineBytes]byte
}

type ring struct {
	mem   []byte
	lines uint64
	ctl   *ringControl
	pos   uint64 // the next line to write, or to read
	head  uint64 // what the writer last knew of ctl.head; what the reader last put there
}

func newRing(mem []byte, ctl *ringControl) *ring {
	return &ring{mem: mem, lines: uint64(len(mem) / lineBytes), ctl: ctl}
}

// maxPayload is the most that one frame carries.
func (r *ring) maxPayload() int { return len(r.mem)/8 - lineBytes }

func (r *ring) line(pos uint64) *line {
	return (*line)(unsafe.Pointer(&r.mem[(pos&(r.lines-1))*lineBytes]))
}

// mark is the upper half of the first word of a frame at pos: never 0, and
// different each time round.
func mark(pos uint64) uint64 { return uint64(uint32(pos)<<1 | 1) }

func linesFor(payload int) uint64 {
	if payload <= inlineBytes {
		return 1
	}
	return 1 + uint64(payload+lineBytes-1)/lineBytes
}

// room tells the writer whether a frame fits.
func (r *ring) room(payload int) bool {
	need := linesFor(payload)
	if r.pos+need-r.head <= r.lines {
		return true
	}
	head := r.ctl.head.Load()
	if head < r.head || head > r.pos { // only a damaged reader says so
		return false
	}
	r.head = head
	return r.pos+need-r.head <= r.lines
}

// write puts a frame there if it fits. f.payload is data's length.
func (r *ring) write(f *frame, data unsafe.Pointer) bool {
	if !r.room(f.payload) {
		return false
	}
	l := r.line(r.pos)
	l.context, l.tag, l.size, l.id, l.addr = f.context, f.tag, uint64(f.sig)<<sizeBits|f.size, f.id, f.addr
	if f.payload > 0 {
		src := unsafe.Slice((*byte)(data), f.payload)
		if f.payload <= inlineBytes {
			copy(l.inline[:], src)
		} else {
			at := (r.pos + 1) & (r.lines - 1) * lineBytes
			n := copy(r.mem[at:], src)
			copy(r.mem, src[n:])
		}
	}
	atomic.StoreUint64(&l.word, mark(r.pos)<<32|uint64(f.payload)<<8|uint64(f.typ&31)<<3|uint64(f.kind))
	r.pos += linesFor(f.payload)
	return true
}

// peek reads the next header, if one is there.
func (r *ring) peek(f *frame) (bool, error) {
	l := r.line(r.pos)
	w := atomic.LoadUint64(&l.word)
	if w == 0 {
		return false, nil
	}
	*f = frame{frameKind(w & 7), transport.Type(w >> 3 & 31), int(uint32(w) >> 8), l.context, l.tag, uint32(l.size >> sizeBits), l.size & (1<<sizeBits - 1), l.id, l.addr}
	if w>>32 != mark(r.pos) || f.kind == 0 || f.kind >= frameEnd || f.payload > r.maxPayload() {
		return false, fmt.Errorf("it sent a damaged message (header %#x at line %d)", w, r.pos)
	}
	return true, nil
}

// payload copies the first n bytes of the payload of the frame that peek read.
func (r *ring) payload(f *frame, dst unsafe.Pointer, n int) {
	if n == 0 {
		return
	}
	to := unsafe.Slice((*byte)(dst), n)
	if f.payload <= inlineBytes {
		copy(to, r.line(r.pos).inline[:])
		return
	}
	at := (r.pos + 1) & (r.lines - 1) * lineBytes
	got := copy(to, r.mem[at:])
	copy(to[got:], r.mem)
}

// next gives the frame's lines back. It reports whether the writer waits for
// them and has to be woken.
func (r *ring) next(f *frame) (wake bool) {
	need := linesFor(f.payload)
	for i := range need {
		r.line(r.pos + i).word = 0
	}
	r.pos += need
	if r.pos-r.head < r.lines/8 {
		return false
	}
	r.head = r.pos
	r.ctl.head.Store(r.pos)
	return r.ctl.want.Load() != 0 && r.ctl.want.Swap(0) != 0
}
