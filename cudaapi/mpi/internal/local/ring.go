package local

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// A ring is written by one process and read by one other, without locks. It
// is made of lines of 64 bytes. A frame is a header in one line and, if the
// payload does not fit there, the lines that follow. The first word of a
// header is written last and tells the reader that the frame is there, so
// that a small message is one line that moves from cache to cache; the reader
// zeroes the first word of each line that it gives back, so that nothing old
// can be taken for a header. Of the many lines of a bulk frame it zeroes but the
// header: the writer, which knows where it has left such lines, zeroes the one
// that the next header is to come to.
const (
	lineBytes = 64
	bulkBytes = 4 << 10 // a payload of more makes a frame a bulk frame
)

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
	payload int // bytes that follow
	context uint32
	tag     int32
	size    uint64 // of the message; framePull: bytes wanted; frameData: offset
	id      uint64 // of the sender's request; frameDone, framePull and frameData: of the request at the frame's reader
	addr    uint64 // frameReady: where the message is; framePull: the receive's id
}

// inlineBytes of payload fit into the header's line.
const inlineBytes = 24

// line is a header in the ring.
type line struct {
	word    uint64 // mark<<32 | payload<<8 | kind
	context uint32
	tag     int32
	size    uint64
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
	stale []bool // the writer's, made with the first bulk frame: lines that hold what one had
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

// room tells the writer whether a frame fits, and a line after it.
func (r *ring) room(payload int) bool {
	need := linesFor(payload) + 1
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
	l.context, l.tag, l.size, l.id, l.addr = f.context, f.tag, f.size, f.id, f.addr
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
	end := r.pos + linesFor(f.payload)
	if r.stale == nil && f.payload > bulkBytes {
		r.stale = make([]bool, r.lines)
	}
	if r.stale != nil {
		r.note(end, f.payload > bulkBytes)
	}
	atomic.StoreUint64(&l.word, mark(r.pos)<<32|uint64(f.payload)<<8|uint64(f.kind))
	r.pos = end
	return true
}

// note keeps which lines are stale when a frame from pos to end is written, and
// makes sure that no header seems to follow it.
func (r *ring) note(end uint64, bulk bool) {
	of := &fresh
	if bulk {
		of = &stale
	}
	at := (r.pos + 1) & (r.lines - 1)
	for left := end - r.pos - 1; left > 0; {
		n := uint64(copy(r.stale[at:min(r.lines, at+left)], of[:]))
		left -= n
		at = (at + n) & (r.lines - 1)
	}
	if at := end & (r.lines - 1); r.stale[at] {
		atomic.StoreUint64(&r.line(end).word, 0)
		r.stale[at] = false
	}
}

// What lines are noted as, many at a time.
var fresh, stale = [512]bool{}, func() (all [512]bool) {
	for i := range all {
		all[i] = true
	}
	return all
}()

// peek reads the next header, if one is there.
func (r *ring) peek(f *frame) (bool, error) {
	l := r.line(r.pos)
	w := atomic.LoadUint64(&l.word)
	if w == 0 {
		return false, nil
	}
	*f = frame{frameKind(w), int(uint32(w) >> 8), l.context, l.tag, l.size, l.id, l.addr}
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
	zero := need
	if f.payload > bulkBytes {
		zero = 1
	}
	for i := range zero {
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
