package curve

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"

	"golang.org/x/crypto/nacl/box"
)

func newKeys(t testing.TB) Keys {
	public, secret, err := box.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return Keys{*public, *secret}
}

// client is the other side, written again after the RFC; tests of the kernel have libzmq's.
type client struct {
	net.Conn
	server        Key
	own, short    Keys
	shared        [32]byte
	nonce, theirs uint64
	spoil         func(name string, body []byte) // before it is sent
}

func (c *client) next() []byte {
	c.nonce++
	return binary.BigEndian.AppendUint64(nil, c.nonce)
}

func (c *client) tell(name string, parts ...[]byte) error {
	body := append([]byte{byte(len(name))}, name...)
	for _, p := range parts {
		body = append(body, p...)
	}
	if c.spoil != nil {
		c.spoil(name, body)
	}
	_, err := c.Write(frame(nil, flagCommand, body))
	return err
}

func (c *client) frame() (flags byte, body []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return 0, nil, err
	}
	size := uint64(head[1])
	if head[0]&flagLong != 0 {
		var rest [7]byte
		if _, err := io.ReadFull(c, rest[:]); err != nil {
			return 0, nil, err
		}
		size = binary.BigEndian.Uint64(append([]byte{head[1]}, rest[:]...))
	}
	body = make([]byte, size)
	_, err = io.ReadFull(c, body)
	return head[0], body, err
}

func (c *client) handshake(meta []byte) error {
	var theirs [greetingSize]byte
	if _, err := io.ReadFull(c, theirs[:]); err != nil {
		return err
	}
	if _, err := c.Write(greeting("CURVE", false)); err != nil {
		return err
	}
	n := c.next()
	zeros := box.Seal(nil, make([]byte, 64), nonce("CurveZMQHELLO---", n), (*[32]byte)(&c.server), (*[32]byte)(&c.short.Secret))
	if err := c.tell("HELLO", []byte{1, 0}, make([]byte, 72), c.short.Public[:], n, zeros); err != nil {
		return err
	}
	_, welcome, err := c.frame()
	if err != nil {
		return err
	}
	inner, ok := box.Open(nil, welcome[24:], nonce("WELCOME-", welcome[8:24]), (*[32]byte)(&c.server), (*[32]byte)(&c.short.Secret))
	if !ok {
		return errors.New("WELCOME cannot be read")
	}
	var short Key
	copy(short[:], inner[:32])
	box.Precompute(&c.shared, (*[32]byte)(&short), (*[32]byte)(&c.short.Secret))
	v := make([]byte, 16)
	rand.Read(v)
	vouch := box.Seal(nil, append(c.short.Public[:], c.server[:]...), nonce("VOUCH---", v), (*[32]byte)(&short), (*[32]byte)(&c.own.Secret))
	n = c.next()
	said := append(append(append(c.own.Public[:], v...), vouch...), meta...)
	return c.tell("INITIATE", inner[32:], n, box.SealAfterPrecomputation(nil, said, nonce("CurveZMQINITIATE", n), &c.shared))
}

func (c *client) send(inner byte, body []byte) error {
	n := c.next()
	return c.raw(append(append([]byte(messageName), n...), box.SealAfterPrecomputation(nil, append([]byte{inner}, body...), nonce("CurveZMQMESSAGEC", n), &c.shared)...))
}

func (c *client) raw(body []byte) error {
	_, err := c.Write(frame(nil, 0, body))
	return err
}

// receive gives what is in a READY (flags 0xff) or a MESSAGE.
func (c *client) receive(t *testing.T) (flags byte, body []byte) {
	_, f, err := c.frame()
	if err != nil {
		t.Fatal(err)
	}
	prefix, at := "CurveZMQMESSAGES", len(messageName)
	if f[0] == 5 {
		prefix, at = "CurveZMQREADY---", 6
	}
	inner, ok := box.OpenAfterPrecomputation(nil, f[at+8:], nonce(prefix, f[at:at+8]), &c.shared)
	if n := binary.BigEndian.Uint64(f[at:]); !ok || n <= c.theirs {
		t.Fatalf("nonce %d after %d, opened %v", n, c.theirs, ok)
	}
	c.theirs = binary.BigEndian.Uint64(f[at:])
	if f[0] == 5 {
		return 0xff, inner
	}
	return inner[0], inner[1:]
}

// pair connects a client with a server, which ends with the error that is sent.
func pair(t testing.TB, keys Keys) (*client, chan *Conn, chan error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) // not earlier: what is not accepted yet would be reset
	conns, errs := make(chan *Conn, 1), make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			errs <- err
			return
		}
		s, err := Server(c, keys)
		if err != nil {
			c.Close()
			errs <- err
			return
		}
		conns <- s
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &client{Conn: c, server: keys.Public, own: newKeys(t), short: newKeys(t)}, conns, errs
}

func TestConnection(t *testing.T) {
	c, conns, errs := pair(t, newKeys(t))
	meta := []byte("\x0bSocket-Type\x00\x00\x00\x06DEALER")
	if err := c.handshake(meta); err != nil {
		t.Fatal(err)
	}
	var s *Conn
	select {
	case s = <-conns:
	case err := <-errs:
		t.Fatal(err)
	}
	defer s.Close()
	// What zmq4 does: greetings and READY both ways.
	ready := append([]byte("\x05READY"), meta...)
	want := frame(greeting("NULL", false), flagCommand, ready)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(s, got); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%q, %v", got, err)
	}
	s.Write(greeting("NULL", true))
	s.Write(frame(nil, flagCommand, ready))
	if f, body := c.receive(t); f != 0xff || !bytes.Equal(body, meta) {
		t.Fatalf("READY has %x %q", f, body)
	}
	// Messages both ways, of all sizes, in whatever pieces they are written.
	large := bytes.Repeat([]byte("0123456789"), 100_000)
	s.SetLimit(func() int { return len(large) })
	for _, body := range [][]byte{{}, []byte("x"), large[:254], large[:255], large[:256], large[:70_000], large} {
		go c.send(innerMore, body)
		want := frame(nil, flagMore, body)
		got := make([]byte, len(want))
		if _, err := io.ReadFull(s, got); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("of %d bytes: %v", len(body), err)
		}
		two := frame(frame(nil, flagMore, body), 0, body)
		go func() {
			for step := max(1, len(two)/7); len(two) > 0; two = two[min(step, len(two)):] {
				s.Write(two[:min(step, len(two))])
			}
		}()
		for _, flags := range []byte{innerMore, 0} {
			if f, got := c.receive(t); f != flags || !bytes.Equal(got, body) {
				t.Fatalf("of %d bytes: %x and %d bytes", len(body), f, len(got))
			}
		}
	}
	go c.send(innerCommand, []byte("\x04PING"))
	got = make([]byte, 7)
	if _, err := io.ReadFull(s, got); err != nil || string(got) != "\x04\x05\x04PING" {
		t.Errorf("%q, %v", got, err)
	}
}

// What a server is told that is not right ends the connection.
func TestRefused(t *testing.T) {
	for name, change := range map[string]func(*client){
		"another server's key": func(c *client) { c.server = newKeys(t).Public },
		"HELLO changed":        func(c *client) { c.spoil = spoil("HELLO", 150) },
		"HELLO of version 2":   func(c *client) { c.spoil = spoil("HELLO", 6) },
		"another cookie":       func(c *client) { c.spoil = spoil("INITIATE", 20) },
		"a nonce again":        func(c *client) { c.spoil = func(name string, body []byte) { zero(name, body, 105, 8) } },
		"INITIATE changed":     func(c *client) { c.spoil = spoil("INITIATE", 200) },
		"no HELLO":             func(c *client) { c.spoil = spoil("HELLO", 2) },
		"a vouch of another":   func(c *client) { c.own.Public = newKeys(t).Public },
	} {
		c, conns, errs := pair(t, newKeys(t))
		change(c)
		go c.handshake(nil)
		select {
		case <-conns:
			t.Errorf("%s: taken", name)
		case err := <-errs:
			if !errors.Is(err, errKey) && !errors.Is(err, errHandshake) && !errors.Is(err, errFrame) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	keys := newKeys(t)
	for name, send := range map[string]func(c *client){
		"not encrypted":  func(c *client) { c.raw([]byte("hello")) },
		"another key":    func(c *client) { c.shared[0]++; c.send(0, []byte("x")) },
		"a nonce again":  func(c *client) { c.nonce--; c.send(0, []byte("x")) },
		"too long":       func(c *client) { c.send(0, make([]byte, maxFrame+1)) },
		"without flags":  func(c *client) { c.raw(append([]byte(messageName), make([]byte, 8)...)) },
		"an empty frame": func(c *client) { c.raw(nil) },
	} {
		c, conns, errs := pair(t, keys)
		if err := c.handshake(nil); err != nil {
			t.Fatal(err)
		}
		select {
		case s := <-conns:
			go send(c)
			if _, err := io.ReadAll(s); !errors.Is(err, errKey) && !errors.Is(err, errFrame) {
				t.Errorf("%s: %v", name, err)
			}
			s.Close()
		case err := <-errs:
			t.Fatal(err)
		}
	}
}

func spoil(command string, at int) func(string, []byte) {
	return func(name string, body []byte) {
		if name == command {
			body[at] ^= 1
		}
	}
}

func zero(name string, body []byte, at, n int) {
	if name == "INITIATE" {
		clear(body[at : at+n])
	}
}

func TestParseKeys(t *testing.T) {
	const public, secret = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID", "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs" // the RFC's
	k, err := ParseKeys(public, secret)
	if err != nil || k.Public[0] != 0xbb || k.Public[31] != 0x18 || k.Secret[0] != 0x7b || k.Secret[31] != 0x88 {
		t.Errorf("%x, %v", k, err)
	}
	for _, bad := range [][2]string{{public, public}, {"", secret}, {public[:39] + "~", secret}, {"%%%%%" + public[5:], secret}, {public, secret[:39]}} {
		if _, err := ParseKeys(bad[0], bad[1]); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

// Whatever comes from outside costs no more than the connection.
func FuzzServer(f *testing.F) {
	keys := newKeys(f)
	f.Add([]byte{}, false)
	f.Add(frame(greeting("CURVE", false), flagCommand, append([]byte("\x05HELLO\x01\x00"), make([]byte, 192)...)), false)
	f.Add(greeting("NULL", false), false)
	f.Add(frame(nil, 0, append([]byte(messageName), make([]byte, 40)...)), true)
	f.Add([]byte{flagLong, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, true)
	f.Fuzz(func(t *testing.T, data []byte, shaken bool) {
		a, b := net.Pipe()
		defer a.Close()
		go func() {
			defer a.Close()
			c := &client{Conn: a, server: keys.Public, own: newKeys(t), short: newKeys(t)}
			if shaken && c.handshake(nil) != nil {
				return
			}
			go io.Copy(io.Discard, a)
			a.Write(data)
		}()
		defer b.Close()
		s, err := Server(b, keys)
		if shaken && err != nil {
			t.Fatalf("a right handshake: %v", err)
		}
		if err == nil {
			got, err := io.ReadAll(s)
			if want := frame(greeting("NULL", false), flagCommand, []byte("\x05READY")); !bytes.Equal(got, want) || len(data) > 1 && err == nil {
				t.Errorf("it reads %q, %v", got, err)
			}
		}
	})
}

// A message that comes in small pieces is not copied with each of them: that would be
// 8 TB here.
func TestPiecesAreNotCopiedAgain(t *testing.T) {
	c, conns, _ := pair(t, newKeys(t))
	if err := c.handshake([]byte("\x0bSocket-Type\x00\x00\x00\x06DEALER")); err != nil {
		t.Fatal(err)
	}
	s := <-conns
	defer s.Close()
	s.greeted = greetingSize
	const size, piece = 64 << 20, 256
	text := frame(nil, 0, make([]byte, size))
	for at := 0; at+piece < len(text); at += piece {
		if n, err := s.Write(text[at : at+piece]); n != piece || err != nil {
			t.Fatal(n, err)
		}
	}
}
