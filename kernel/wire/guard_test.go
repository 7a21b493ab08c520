package wire

import (
	"io"
	"net"
	"testing"
)

// claims is a connection whose client announces frames of a size, and sends
// them as zeros.
type claims struct {
	net.Conn
	head []byte
	size int
	at   int
}

func (c *claims) Read(p []byte) (int, error) {
	if c.at == len(c.head)+c.size {
		c.at = 0
	}
	if c.at < len(c.head) {
		n := copy(p, c.head[c.at:])
		c.at += n
		return n, nil
	}
	n := min(len(p), len(c.head)+c.size-c.at)
	clear(p[:n])
	c.at += n
	return n, nil
}

func TestTheSizeOfAMessageIsBounded(t *testing.T) {
	const frame = 1 << 26
	g := newGuard(&claims{head: []byte{flagMore | flagLong, 0, 0, 0, 0, frame >> 24, 0, 0, 0}, size: frame})
	g.open, g.left = true, 0
	n, err := io.Copy(io.Discard, struct{ io.Reader }{g})
	if most := int64(maxMessage + maxMessage/frame*9); err == nil || n > most || n < maxMessage {
		t.Errorf("let %d bytes pass, at most %d may, error %v", n, most, err)
	}
}
