package link

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
)

// KeySize is the size of the keys that Sign takes, in bytes.
const KeySize = 32

// ErrStranger is reported by Sign when the other end does not know the key, or
// speaks something else, and by Receive for a frame that was forged, changed,
// left out or sent again.
var ErrStranger = errors.New("link: the other end did not prove that it knows the key")

// greeting begins a signed link in both directions, with a version.
const greeting = "gocuda link 1\n"

const nonceSize = 32

// Sign makes a link of a stream that others can reach. Both ends prove to each
// other that they know the key, which itself is not sent, and every frame is
// signed with its number and keys of this link alone: what was recorded of
// another link, or of this one, is of no use. Nothing is encrypted.
//
// The end that listened is the server. It proves itself last, to a client that
// has done so. Sign blocks until the other end has answered: the stream should
// have a deadline.
func Sign(stream io.ReadWriteCloser, key []byte, server bool) (*Conn, error) {
	if len(key) != KeySize {
		return nil, fmt.Errorf("link: the key has %d bytes, not %d", len(key), KeySize)
	}
	mine := make([]byte, nonceSize)
	rand.Read(mine)
	if _, err := stream.Write(append([]byte(greeting), mine...)); err != nil {
		return nil, err
	}
	theirs := make([]byte, len(greeting)+nonceSize)
	if _, err := io.ReadFull(stream, theirs[:len(greeting)]); err != nil {
		return nil, err
	}
	if string(theirs[:len(greeting)]) != greeting {
		return nil, ErrStranger
	}
	theirs = theirs[len(greeting):]
	if _, err := io.ReadFull(stream, theirs); err != nil {
		return nil, err
	}
	nonces := append(append([]byte{}, mine...), theirs...)
	if server {
		nonces = append(append([]byte{}, theirs...), mine...)
	}
	fromClient, fromServer := derive(key, "client", nonces), derive(key, "server", nonces)
	c := New(stream)
	c.signing, c.checking = fromClient, fromServer
	if server {
		c.signing, c.checking = fromServer, fromClient
	}
	// The proof is an empty frame, the first each way.
	if server {
		if err := c.prove(); err != nil {
			return nil, err
		}
		return c, c.Send(Frame{})
	}
	if err := c.Send(Frame{}); err != nil {
		return nil, err
	}
	return c, c.prove()
}

// prove waits for the other end's proof. A stranger's length is not believed.
func (c *Conn) prove() error {
	head, err := c.in.Peek(lengthSize)
	if err != nil {
		return err
	}
	if binary.BigEndian.Uint32(head) != headSize {
		return ErrStranger
	}
	_, err = c.Receive()
	return err
}

// derive makes the hash that signs one direction of one link.
func derive(key []byte, from string, nonces []byte) hash.Hash {
	h := hmac.New(sha256.New, key)
	io.WriteString(h, greeting)
	io.WriteString(h, from)
	h.Write(nonces)
	return hmac.New(sha256.New, h.Sum(nil))
}

// tag appends the signature of a frame to out.
func tag(h hash.Hash, number uint64, out []byte, frame ...[]byte) []byte {
	h.Reset()
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], number)
	h.Write(n[:])
	for _, part := range frame {
		h.Write(part)
	}
	return h.Sum(out)
}

// check reads the tag that follows a frame.
func (c *Conn) check(head, body []byte) error {
	var given [sha256.Size]byte
	if _, err := io.ReadFull(c.in, given[:]); err != nil {
		return err
	}
	if !hmac.Equal(given[:], tag(c.checking, c.received, nil, head, body)) {
		return ErrStranger
	}
	c.received++
	return nil
}
