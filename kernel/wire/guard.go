package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// Limits of one message of a client that has proved itself.
const (
	maxMessage = 1 << 30 // bytes
	maxFrames  = 1 << 16
)

// Limits of a client that has not. What it sends costs memory only as it
// comes, and little of that at a time, for all strangers together.
const (
	maxHandshake    = 1 << 12 // bytes of the whole handshake, beyond the greeting
	handshakeFrames = 16
	smallMessage    = 64 << 10 // bytes that anybody may send
	strangerMessage = 32 << 20 // bytes; more than smallMessage needs one of these
	strangerSlots   = 2        // places, and is given
	strangerTime    = 10 * time.Second
	strangerFrames  = 1 << 10
)

const greetingSize = 64

// ZMTP 3.0 frame flags.
const (
	flagMore    = 1 << 0
	flagLong    = 1 << 1
	flagCommand = 1 << 2
)

var (
	errTooLong = errors.New("the message is too large")
	errNoSlot  = errors.New("too many strangers send large messages")
)

// guard stands between a network connection and zmq4.Conn. During the
// handshake, which zmq4 reads through it, it refuses frames beyond the limits.
// After that it reads messages itself: zmq4 would make room for whatever a
// frame claims. It collects what is written until flush.
type guard struct {
	net.Conn
	r       *bufio.Reader
	w       *bufio.Writer // from the end of the handshake on
	network *counted

	// Of the handshake.
	head   []byte // what is still to be handed on of the current frame's head
	left   int    // ... and of its body
	size   int    // of all its frames so far
	frames int
}

// newGuard guards c, which writes to the network by way of n.
func newGuard(c net.Conn, n *counted) *guard {
	return &guard{Conn: c, network: n, r: bufio.NewReaderSize(c, 4<<10), left: greetingSize}
}

// opened ends the handshake.
func (g *guard) opened() { g.w = bufio.NewWriterSize(g.Conn, 32<<10) }

// counted is a connection to the network that counts the bytes which it has taken:
// encrypted ones, where they are, since these are what a slow reader is waited for.
type counted struct {
	net.Conn
	written atomic.Int64
}

// CloseWrite tells the client that nothing more comes.
func (c *counted) CloseWrite() error {
	if c, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

func (c *counted) Write(p []byte) (written int, err error) {
	const step = 64 << 10
	for written < len(p) && err == nil {
		var n int
		n, err = c.Conn.Write(p[written:min(len(p), written+step)])
		written += n
		c.written.Add(int64(n))
	}
	return written, err
}

// Read reads the handshake.
func (g *guard) Read(p []byte) (int, error) {
	for len(g.head) == 0 && g.left == 0 {
		head, size, err := g.next()
		if err != nil {
			return 0, err
		}
		g.frames++
		if g.frames > handshakeFrames || size > uint64(maxHandshake-g.size) {
			return 0, fmt.Errorf("%w in a handshake", errTooLong)
		}
		g.size += int(size)
		g.head, g.left = head, int(size)
	}
	if len(g.head) > 0 {
		n := copy(p, g.head)
		g.head = g.head[n:]
		return n, nil
	}
	if len(p) > g.left {
		p = p[:g.left]
	}
	n, err := g.r.Read(p)
	g.left -= n
	return n, err
}

// next reads the head of a frame.
func (g *guard) next() (head []byte, size uint64, err error) {
	head = make([]byte, 2, 9)
	if _, err := io.ReadFull(g.r, head); err != nil {
		return nil, 0, err
	}
	if head[0]&flagLong == 0 {
		return head, uint64(head[1]), nil
	}
	head = head[:9]
	if _, err := io.ReadFull(g.r, head[2:]); err != nil {
		return nil, 0, err
	}
	return head, binary.BigEndian.Uint64(head[1:]), nil
}

// limits are what a client may send in one message.
type limits struct {
	size, frames int
	// slots bounds how many messages beyond smallMessage are on their way at a
	// time, and for how long; nil: they are not bounded.
	slots chan struct{}
}

// message reads the next message, and passes over commands (ZMTP 3.0 has none
// that matter). It asks for the limits when a message begins.
func (g *guard) message(allowed func() limits) (frames [][]byte, err error) {
	var l limits
	total, slot := 0, false
	defer func() {
		if slot {
			<-l.slots
			g.SetReadDeadline(time.Time{})
		}
	}()
	for {
		head, size, err := g.next()
		if err != nil {
			return nil, err
		}
		if head[0]&flagCommand != 0 {
			if size > maxHandshake {
				return nil, fmt.Errorf("%w: a command of %d bytes", errTooLong, size)
			}
			if _, err := g.r.Discard(int(size)); err != nil {
				return nil, err
			}
			continue
		}
		if frames == nil {
			l = allowed()
		}
		if size > uint64(l.size-total) || len(frames) == l.frames {
			return nil, fmt.Errorf("%w: more than %d bytes or %d frames", errTooLong, l.size, l.frames)
		}
		total += int(size)
		if total > smallMessage && l.slots != nil && !slot {
			select {
			case l.slots <- struct{}{}:
				slot = true
				g.SetReadDeadline(time.Now().Add(strangerTime))
			default:
				return nil, errNoSlot
			}
		}
		body, err := readBody(g.r, int(size), l.slots == nil)
		if err != nil {
			return nil, err
		}
		if frames = append(frames, body); head[0]&flagMore == 0 {
			return frames, nil
		}
	}
}

// readBody reads a frame's body. For one who is not trusted, memory is made
// only for what has come.
func readBody(r io.Reader, size int, trusted bool) ([]byte, error) {
	if size <= smallMessage || trusted {
		body := make([]byte, size)
		_, err := io.ReadFull(r, body)
		return body, err
	}
	var b bytes.Buffer
	_, err := io.CopyN(&b, r, int64(size))
	return b.Bytes(), err
}

func (g *guard) Write(p []byte) (int, error) {
	if g.w != nil {
		return g.w.Write(p)
	}
	return g.Conn.Write(p)
}

// flush sends what was written.
func (g *guard) flush() error { return g.w.Flush() }
