package wire

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

// Limits of what a client may send in one message. They bound the memory
// that an unknown client can claim before its signature is checked.
const (
	maxMessage   = 1 << 30 // bytes
	maxFrames    = 1 << 16
	maxHandshake = 1 << 12 // bytes of a frame before the handshake is over
)

const greetingSize = 64

// ZMTP 3.0 frame flags.
const (
	flagMore    = 1 << 0
	flagLong    = 1 << 1
	flagCommand = 1 << 2
)

// guard stands between a network connection and zmq4.Conn. It reads ahead,
// refuses frames beyond the limits before zmq4 allocates for them, leaves out
// commands after the handshake (ZMTP 3.0 has none that matter), and collects
// what is written until flush.
type guard struct {
	net.Conn
	r *bufio.Reader
	w *bufio.Writer

	open   bool   // the handshake is over
	head   []byte // what is still to be handed on of the current frame's head
	left   uint64 // ... and of its body
	size   uint64 // of the current message so far
	frames int
}

func newGuard(c net.Conn) *guard {
	return &guard{
		Conn: c,
		r:    bufio.NewReaderSize(c, 32<<10),
		w:    bufio.NewWriterSize(c, 32<<10),
		left: greetingSize,
	}
}

func (g *guard) Read(p []byte) (int, error) {
	for len(g.head) == 0 && g.left == 0 {
		if err := g.next(); err != nil {
			return 0, err
		}
	}
	if len(g.head) > 0 {
		n := copy(p, g.head)
		g.head = g.head[n:]
		return n, nil
	}
	if uint64(len(p)) > g.left {
		p = p[:g.left]
	}
	n, err := g.r.Read(p)
	g.left -= uint64(n)
	return n, err
}

// next reads the head of a frame.
func (g *guard) next() error {
	head := make([]byte, 2, 9)
	if _, err := io.ReadFull(g.r, head); err != nil {
		return err
	}
	size := uint64(head[1])
	if head[0]&flagLong != 0 {
		head = head[:9]
		if _, err := io.ReadFull(g.r, head[2:]); err != nil {
			return err
		}
		size = binary.BigEndian.Uint64(head[1:])
	}
	if head[0]&flagCommand != 0 && g.open {
		if size > maxHandshake {
			return fmt.Errorf("a command of %d bytes", size)
		}
		_, err := g.r.Discard(int(size))
		return err
	}
	if !g.open && size > maxHandshake {
		return fmt.Errorf("a handshake of %d bytes", size)
	}
	if size > maxMessage-g.size {
		return fmt.Errorf("a message of more than %d bytes", maxMessage)
	}
	g.size += size
	if g.frames++; g.frames > maxFrames {
		return fmt.Errorf("a message of more than %d frames", maxFrames)
	}
	if head[0]&flagMore == 0 {
		g.size, g.frames = 0, 0
	}
	g.head, g.left = head, size
	return nil
}

func (g *guard) Write(p []byte) (int, error) {
	if g.open {
		return g.w.Write(p)
	}
	return g.Conn.Write(p)
}

// flush sends what was written.
func (g *guard) flush() error { return g.w.Flush() }
