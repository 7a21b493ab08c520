// Package link carries framed messages between the kernel and an evaluator,
// over any stream of bytes: a socket pair, or a TCP connection to an MPI rank.
//
// A frame on the wire is
//
//	length  4 bytes, big endian: the bytes that follow, 9 + len(Body)
//	kind    1 byte, for the two ends to give meaning to
//	id      8 bytes, big endian: joins an answer to its request
//	body    the rest
//
// A stream that others can reach is signed (see Sign): a frame is then followed
// by
//
//	tag     32 bytes: HMAC-SHA256 over the frame's number and the frame
package link

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"
)

// MaxBody is the longest body of a frame, in bytes. It is far above any
// sensible output of a cell; its purpose is that a damaged length is noticed.
const MaxBody = 256 << 20

const (
	lengthSize = 4
	headSize   = 1 + 8 // kind and id
	// Bodies up to this size are read into memory that is made at once, and sent with
	// their heads. For a longer one there is eight times as much memory as has come, so that
	// a length alone costs nothing.
	trustedBody = 1 << 20
)

var (
	// ErrTooLong is reported for a body of more than MaxBody bytes. Sending
	// one leaves the link usable; having received one, the link is of no more use.
	ErrTooLong = fmt.Errorf("link: frame body is longer than %d bytes", MaxBody)
	// ErrDamaged is reported when what was received cannot be a frame.
	ErrDamaged = errors.New("link: damaged frame")
)

// Frame is one message.
type Frame struct {
	Kind byte
	ID   uint64
	Body []byte
}

// Conn sends and receives frames. Send may be called by several goroutines at
// a time and beside Receive, which must be called by one goroutine at a time.
type Conn struct {
	stream io.ReadWriteCloser
	in     *bufio.Reader

	sending sync.Mutex
	out     []byte // reused between sends

	// Of a signed link.
	signing, checking hash.Hash // nil: not signed
	sent, received    uint64    // frames
}

// New makes a link of a stream, which the Conn then owns.
func New(stream io.ReadWriteCloser) *Conn {
	return &Conn{stream: stream, in: bufio.NewReaderSize(stream, 64<<10)}
}

// Send writes frames in one go, none of another Send in between. It blocks
// while the other end does not read. After an error other than ErrTooLong the
// link is of no more use.
func (c *Conn) Send(frames ...Frame) error {
	for _, f := range frames {
		if len(f.Body) > MaxBody {
			return ErrTooLong
		}
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	out := c.out[:0]
	for _, f := range frames {
		begin := len(out)
		out = appendHead(out, f)
		if len(f.Body) <= trustedBody {
			out = append(out, f.Body...)
			out = c.sign(out, out[begin:])
			continue
		}
		// What is long is not copied.
		if _, err := c.stream.Write(out); err != nil {
			return err
		}
		if _, err := c.stream.Write(f.Body); err != nil {
			return err
		}
		out = c.sign(nil, out[begin:], f.Body)
	}
	if cap(out) <= trustedBody { // do not hold on to the memory of many outputs
		c.out = out
	}
	if len(out) == 0 {
		return nil
	}
	_, err := c.stream.Write(out)
	return err
}

// sign appends the signature of a frame to out, if the link is signed.
func (c *Conn) sign(out []byte, frame ...[]byte) []byte {
	if c.signing != nil {
		out = tag(c.signing, c.sent, out, frame...)
		c.sent++
	}
	return out
}

func appendHead(out []byte, f Frame) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(headSize+len(f.Body)))
	out = append(out, f.Kind)
	return binary.BigEndian.AppendUint64(out, f.ID)
}

// Receive waits for the next frame. Its body belongs to the caller. The error
// is io.EOF when the other end closed the link between two frames.
func (c *Conn) Receive() (Frame, error) {
	var head [lengthSize + headSize]byte
	if _, err := io.ReadFull(c.in, head[:lengthSize]); err != nil {
		return Frame{}, err
	}
	length := int64(binary.BigEndian.Uint32(head[:lengthSize]))
	switch {
	case length < headSize:
		return Frame{}, fmt.Errorf("%w: it is %d bytes long, at least %d are needed", ErrDamaged, length, headSize)
	case length-headSize > MaxBody:
		return Frame{}, ErrTooLong
	}
	if _, err := io.ReadFull(c.in, head[lengthSize:]); err != nil {
		return Frame{}, cutShort(err)
	}
	f := Frame{Kind: head[lengthSize], ID: binary.BigEndian.Uint64(head[lengthSize+1:])}
	body, err := readBody(c.in, length-headSize)
	f.Body = body
	if err == nil && c.checking != nil {
		err = c.check(head[:], body)
	}
	return f, cutShort(err)
}

func readBody(r io.Reader, n int64) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	body := make([]byte, min(n, trustedBody))
	for read := 0; ; {
		if _, err := io.ReadFull(r, body[read:]); err != nil || int64(len(body)) == n {
			return body, err
		}
		read = len(body)
		body = append(make([]byte, 0, min(n, 8*int64(read))), body...)
		body = body[:cap(body)]
	}
}

// cutShort makes an end inside a frame an error of its own: io.EOF means that
// the other end is done.
func cutShort(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Close closes the stream; a blocked Send or Receive returns an error.
func (c *Conn) Close() error { return c.stream.Close() }
