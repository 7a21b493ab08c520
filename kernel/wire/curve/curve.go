// Package curve is the server's side of CurveZMQ (ZeroMQ's RFC 26): clients who know the
// server's public key talk to it over a connection that nobody else can read, change or
// forge. zmq4's own interface for such mechanisms writes the lengths of frames before
// they are encrypted, which CurveZMQ does not; so this package stands between zmq4 and
// the network, and is NULL security to the one and CURVE to the other.
package curve

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"golang.org/x/crypto/curve25519"
	"golang.org/x/crypto/nacl/box"
)

// Key is a public or a secret key.
type Key [32]byte

// Keys are a server's.
type Keys struct{ Public, Secret Key }

// ParseKeys reads keys as ZeroMQ writes them, in Z85. It is an error if they do not
// belong together.
func ParseKeys(public, secret string) (k Keys, err error) {
	if k.Public, err = parseKey(public); err != nil {
		return k, fmt.Errorf("public key: %w", err)
	}
	if k.Secret, err = parseKey(secret); err != nil {
		return k, errors.New("it is not a secret key") // and is not to be told
	}
	p, err := curve25519.X25519(k.Secret[:], curve25519.Basepoint)
	if err != nil || !bytes.Equal(p, k.Public[:]) {
		return k, errors.New("the public key is not that of the secret key")
	}
	return k, nil
}

const z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

// parseKey reads 40 characters: of each five, big-endian, the number in base 85.
func parseKey(text string) (k Key, err error) {
	if len(text) != 40 {
		return k, fmt.Errorf("%d characters, want 40", len(text))
	}
	for i := range 8 {
		var n uint64
		for j := range 5 {
			digit := bytes.IndexByte([]byte(z85), text[5*i+j])
			if digit < 0 {
				return k, fmt.Errorf("character %q is not one of Z85's", text[5*i+j])
			}
			n = n*85 + uint64(digit)
		}
		if n > 1<<32-1 {
			return k, fmt.Errorf("%q is too large a number", text[5*i:5*i+5])
		}
		binary.BigEndian.PutUint32(k[4*i:], uint32(n))
	}
	return k, nil
}

const (
	greetingSize = 64
	// maxCommand is the longest command of a handshake that is taken.
	maxCommand = 1 << 12
	// maxFrame is the longest frame that is taken where nothing else was said.
	maxFrame = 1 << 16
	// sealed is what a frame is longer by than what is in it.
	sealed = len(messageName) + 8 + box.Overhead + 1

	messageName = "\x07MESSAGE"
)

// ZMTP's flags of a frame, and those within a MESSAGE.
const (
	flagMore, flagLong, flagCommand = 1 << 0, 1 << 1, 1 << 2
	innerMore, innerCommand         = 1 << 0, 1 << 1
)

var (
	errHandshake = errors.New("curve: an invalid handshake")
	errKey       = errors.New("curve: not encrypted with this server's key")
	errFrame     = errors.New("curve: an invalid frame")
)

// Conn is a connection whose handshake was right. Reading it gives what a client with
// NULL security would send, and what is written to it is what such a client would get.
// Reads and writes may be done at the same time, each by one goroutine.
type Conn struct {
	net.Conn
	shared *[32]byte // of both short-term keys

	// Of who reads.
	r     *bufio.Reader
	in    []byte // for the reader, decrypted
	heard uint64 // the client's last nonce
	limit func() int

	// Of the writer.
	greeted int    // bytes of the greeting that were taken
	out     []byte // a frame that is not complete
	ready   bool   // READY was sent
	said    uint64 // the last nonce
}

// Server shakes hands with a client. The caller bounds the time that this takes.
func Server(c net.Conn, keys Keys) (*Conn, error) {
	s := &Conn{Conn: c, r: bufio.NewReaderSize(c, 4<<10), limit: func() int { return maxFrame }}
	if _, err := c.Write(greeting("CURVE", true)); err != nil {
		return nil, err
	}
	var theirs [greetingSize]byte
	if _, err := io.ReadFull(s.r, theirs[:]); err != nil {
		return nil, err
	}
	if theirs[0] != 0xff || theirs[9] != 0x7f || theirs[10] < 3 || string(bytes.TrimRight(theirs[12:32], "\x00")) != "CURVE" {
		return nil, fmt.Errorf("%w: no greeting of CURVE", errHandshake)
	}

	hello, err := s.command("HELLO", 192)
	if err != nil {
		return nil, err
	}
	if hello[0] != 1 {
		return nil, fmt.Errorf("%w: version %d", errHandshake, hello[0])
	}
	var client Key // its short-term one
	copy(client[:], hello[74:106])
	s.heard = binary.BigEndian.Uint64(hello[106:114])
	if zeros, ok := box.Open(nil, hello[114:194], nonce("CurveZMQHELLO---", hello[106:114]), (*[32]byte)(&client), (*[32]byte)(&keys.Secret)); !ok || len(zeros) != 64 {
		return nil, errKey
	}

	public, secret, err := box.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	var fresh [16 + 96]byte // a nonce, and a cookie: this connection remembers what others put into it
	rand.Read(fresh[:])
	welcome := append([]byte("\x07WELCOME"), fresh[:16]...)
	welcome = box.Seal(welcome, append(public[:], fresh[16:]...), nonce("WELCOME-", fresh[:16]), (*[32]byte)(&client), (*[32]byte)(&keys.Secret))
	if _, err := c.Write(append([]byte{flagCommand, byte(len(welcome))}, welcome...)); err != nil {
		return nil, err
	}

	s.shared = new([32]byte)
	box.Precompute(s.shared, (*[32]byte)(&client), secret)
	initiate, err := s.command("INITIATE", 0)
	if err != nil {
		return nil, err
	}
	if len(initiate) < 96+8+box.Overhead+32+96 {
		return nil, errHandshake
	}
	if subtle.ConstantTimeCompare(initiate[:96], fresh[16:]) != 1 {
		return nil, fmt.Errorf("%w: another cookie", errHandshake)
	}
	if err := s.hear(initiate[96:104]); err != nil {
		return nil, err
	}
	inner, ok := box.OpenAfterPrecomputation(nil, initiate[104:], nonce("CurveZMQINITIATE", initiate[96:104]), s.shared)
	if !ok {
		return nil, errKey
	}
	var owner Key // the client's long-term one, which vouches for the short-term one
	copy(owner[:], inner[:32])
	vouch, ok := box.Open(nil, inner[48:128], nonce("VOUCH---", inner[32:48]), (*[32]byte)(&owner), secret)
	if !ok || !bytes.Equal(vouch, append(client[:], keys.Public[:]...)) {
		return nil, errKey
	}
	// What zmq4 reads first.
	s.in = frame(greeting("NULL", false), flagCommand, append([]byte("\x05READY"), inner[128:]...))
	return s, nil
}

// SetLimit has limit tell, when a frame begins, how many bytes of content it may have.
func (s *Conn) SetLimit(limit func() int) { s.limit = limit }

// greeting is ZMTP's first message, of version 3.0.
func greeting(mechanism string, server bool) []byte {
	g := make([]byte, greetingSize)
	g[0], g[9], g[10] = 0xff, 0x7f, 3
	copy(g[12:32], mechanism)
	if server {
		g[32] = 1
	}
	return g
}

func nonce(prefix string, rest []byte) *[24]byte {
	var n [24]byte
	copy(n[copy(n[:], prefix):], rest)
	return &n
}

// frame appends a frame of ZMTP.
func frame(to []byte, flags byte, body []byte) []byte {
	if len(body) > 255 {
		to = binary.BigEndian.AppendUint64(append(to, flags|flagLong), uint64(len(body)))
	} else {
		to = append(to, flags, byte(len(body)))
	}
	return append(to, body...)
}

// hear takes note of a nonce of the client's, which no other may have been before.
func (s *Conn) hear(n []byte) error {
	now := binary.BigEndian.Uint64(n)
	if now <= s.heard {
		return fmt.Errorf("%w: a nonce again", errFrame)
	}
	s.heard = now
	return nil
}

// command reads a command of the handshake, of so many bytes at least.
func (s *Conn) command(name string, size int) ([]byte, error) {
	flags, body, err := s.next(maxCommand)
	if err != nil {
		return nil, err
	}
	body, ok := bytes.CutPrefix(body, append([]byte{byte(len(name))}, name...))
	if !ok || flags&flagCommand == 0 || len(body) < size {
		return nil, fmt.Errorf("%w: no %s", errHandshake, name)
	}
	return body, nil
}

// next reads a frame from the network. Memory is made for what has come.
func (s *Conn) next(limit int) (flags byte, body []byte, err error) {
	var head [9]byte
	if _, err := io.ReadFull(s.r, head[:2]); err != nil {
		return 0, nil, err
	}
	defer func() {
		if err == io.EOF { // within a frame
			err = io.ErrUnexpectedEOF
		}
	}()
	size := uint64(head[1])
	if head[0]&flagLong != 0 {
		if _, err := io.ReadFull(s.r, head[2:]); err != nil {
			return 0, nil, err
		}
		size = binary.BigEndian.Uint64(head[1:])
	}
	if size > uint64(limit) {
		return 0, nil, fmt.Errorf("%w: %d bytes", errFrame, size)
	}
	if size <= maxFrame {
		body = make([]byte, size)
		_, err = io.ReadFull(s.r, body)
		return head[0], body, err
	}
	var b bytes.Buffer
	_, err = io.CopyN(&b, s.r, int64(size))
	return head[0], b.Bytes(), err
}

// Read reads what the client sent, decrypted.
func (s *Conn) Read(p []byte) (int, error) {
	for len(s.in) == 0 {
		if err := s.receive(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.in)
	s.in = s.in[n:]
	return n, nil
}

// receive reads and decrypts a frame.
func (s *Conn) receive() error {
	_, body, err := s.next(s.limit() + sealed)
	if err != nil {
		return err
	}
	body, ok := bytes.CutPrefix(body, []byte(messageName))
	if !ok || len(body) < 8 {
		return errFrame
	}
	if err := s.hear(body[:8]); err != nil {
		return err
	}
	inner, ok := box.OpenAfterPrecomputation(nil, body[8:], nonce("CurveZMQMESSAGEC", body[:8]), s.shared)
	if !ok || len(inner) == 0 {
		return errKey
	}
	var flags byte
	if inner[0]&innerMore != 0 {
		flags |= flagMore
	}
	if inner[0]&innerCommand != 0 {
		flags |= flagCommand
	}
	s.in = frame(s.in[:0], flags, inner[1:])
	return nil
}

// Write sends frames, encrypted. A part of a frame waits for the rest of it.
func (s *Conn) Write(p []byte) (int, error) {
	n := min(len(p), greetingSize-s.greeted) // zmq4's own, which the client does not get
	s.greeted += n
	rest := p[n:]
	if len(s.out) > 0 {
		s.out = append(s.out, rest...)
		rest = s.out
	}
	if _, _, _, whole := cut(rest); !whole {
		if len(s.out) == 0 {
			s.out = append(s.out, rest...)
		}
		return len(p), nil // and what waits already is not copied again
	}
	var send []byte
	for {
		flags, body, after, ok := cut(rest)
		if !ok {
			break
		}
		send = s.seal(send, flags, body)
		rest = after
	}
	if cap(s.out) > maxFrame {
		s.out = nil // a large message is rare
	}
	s.out = append(s.out[:0], rest...)
	if _, err := s.Conn.Write(send); err != nil {
		return 0, err
	}
	return len(p), nil
}

// cut takes a frame off what the kernel writes.
func cut(p []byte) (flags byte, body, rest []byte, ok bool) {
	if len(p) < 2 {
		return 0, nil, p, false
	}
	head, size := 2, uint64(p[1])
	if p[0]&flagLong != 0 {
		if head = 9; len(p) < head {
			return 0, nil, p, false
		}
		size = binary.BigEndian.Uint64(p[1:])
	}
	if uint64(len(p)-head) < size {
		return 0, nil, p, false
	}
	return p[0], p[head : head+int(size)], p[head+int(size):], true
}

// seal appends a frame, encrypted.
func (s *Conn) seal(to []byte, flags byte, body []byte) []byte {
	s.said++
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], s.said)
	if ready := "\x05READY"; !s.ready && flags&flagCommand != 0 && bytes.HasPrefix(body, []byte(ready)) {
		s.ready = true
		c := append([]byte(ready), n[:]...)
		return frame(to, flagCommand, box.SealAfterPrecomputation(c, body[len(ready):], nonce("CurveZMQREADY---", n[:]), s.shared))
	}
	inner := make([]byte, 1, 1+len(body))
	if flags&flagMore != 0 {
		inner[0] |= innerMore
	}
	if flags&flagCommand != 0 {
		inner[0] |= innerCommand
	}
	c := append(make([]byte, 0, sealed+len(body)), messageName...)
	c = append(c, n[:]...)
	return frame(to, 0, box.SealAfterPrecomputation(c, append(inner, body...), nonce("CurveZMQMESSAGES", n[:]), s.shared))
}

// CloseWrite tells the client that nothing more comes.
func (s *Conn) CloseWrite() error {
	if c, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}
