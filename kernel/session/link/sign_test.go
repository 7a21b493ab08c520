package link

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

var testKey = bytes.Repeat([]byte{7}, KeySize)

// tap is a stream that a stranger in the middle reads, and may change.
type tap struct {
	net.Conn
	record bytes.Buffer
	change func([]byte) []byte // what becomes of a write
}

func (s *tap) Write(p []byte) (int, error) {
	s.record.Write(p)
	if s.change != nil {
		p = s.change(bytes.Clone(p))
	}
	if _, err := s.Conn.Write(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ends makes both ends of a stream, with a deadline against hangs.
func ends(t *testing.T) (client, server *tap) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []net.Conn{a, b} {
		c.SetDeadline(time.Now().Add(time.Minute))
		t.Cleanup(func() { c.Close() })
	}
	return &tap{Conn: a}, &tap{Conn: b}
}

// signed makes a signed link; a side that fails closes its stream, as its
// process would.
func signed(client, server *tap, clientKey, serverKey []byte) (c, s *Conn, clientErr, serverErr error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if s, serverErr = Sign(server, serverKey, true); serverErr != nil {
			server.Close()
		}
	}()
	if c, clientErr = Sign(client, clientKey, false); clientErr != nil {
		client.Close()
	}
	<-done
	return c, s, clientErr, serverErr
}

func mustSign(t *testing.T) (c, s *Conn, client, server *tap) {
	t.Helper()
	client, server = ends(t)
	c, s, err1, err2 := signed(client, server, testKey, testKey)
	if err1 != nil || err2 != nil {
		t.Fatalf("client: %v, server: %v", err1, err2)
	}
	return c, s, client, server
}

func TestSignedFramesArriveBothWays(t *testing.T) {
	c, s, _, _ := mustSign(t)
	for i, body := range [][]byte{nil, []byte("x"), bytes.Repeat([]byte{1, 2}, trustedBody)} {
		sent := Frame{Kind: byte(i), ID: uint64(i), Body: body}
		for _, way := range [][2]*Conn{{c, s}, {s, c}} {
			go way[0].Send(sent, Frame{Kind: 99})
			for _, want := range []Frame{sent, {Kind: 99}} {
				got, err := way[1].Receive()
				if err != nil || got.Kind != want.Kind || got.ID != want.ID || !bytes.Equal(got.Body, want.Body) {
					t.Fatalf("frame %d: %v %v", i, got.Kind, err)
				}
			}
		}
	}
}

func TestWrongKeysAreRefused(t *testing.T) {
	other := bytes.Repeat([]byte{8}, KeySize)
	client, server := ends(t)
	_, _, clientErr, serverErr := signed(client, server, other, testKey)
	if !errors.Is(serverErr, ErrStranger) {
		t.Errorf("the server accepts a client without the key: %v", serverErr)
	}
	if clientErr == nil {
		t.Error("the client accepts a server that refused it")
	}
	if server.record.Len() != len(greeting)+nonceSize {
		t.Errorf("the server sent %d bytes to a client that proved nothing, want its nonce alone", server.record.Len())
	}
	if bytes.Contains(client.record.Bytes(), other) {
		t.Error("the key itself was sent")
	}
	for _, key := range [][]byte{nil, testKey[1:], append(bytes.Clone(testKey), 1)} {
		if _, err := Sign(client, key, true); err == nil {
			t.Errorf("a key of %d bytes is taken", len(key))
		}
	}
}

// A server without the key cannot play one: the client finds out.
func TestAFalseServerIsRefused(t *testing.T) {
	for name, answer := range map[string]func(proof []byte) []byte{
		"its own proof sent back": func(proof []byte) []byte { return proof },
		"a proof of zeros":        func(proof []byte) []byte { return make([]byte, len(proof)) },
		"a huge frame":            func([]byte) []byte { return bytes.Repeat([]byte{255}, 100) },
	} {
		client, server := ends(t)
		go func() {
			hello := make([]byte, len(greeting)+nonceSize)
			io.ReadFull(server, hello)
			server.Write(hello) // the client's own nonce
			proof := make([]byte, lengthSize+headSize+32)
			io.ReadFull(server, proof)
			server.Write(answer(proof))
		}()
		if _, err := Sign(client, testKey, false); !errors.Is(err, ErrStranger) {
			t.Errorf("%s: error %v, want ErrStranger", name, err)
		}
	}
}

func TestChangedFramesAreRefused(t *testing.T) {
	frames := func(c *Conn) {
		c.Send(Frame{Kind: 1, ID: 2, Body: []byte("first")})
		c.Send(Frame{Kind: 1, ID: 3, Body: []byte("again")}) // as long as the first
	}
	writes := 0
	for name, change := range map[string]func([]byte) []byte{
		"a bit of the body": func(p []byte) []byte { p[lengthSize+headSize] ^= 1; return p },
		"the kind":          func(p []byte) []byte { p[lengthSize] ^= 1; return p },
		"the id":            func(p []byte) []byte { p[lengthSize+1] ^= 128; return p },
		"the tag":           func(p []byte) []byte { p[len(p)-1] ^= 1; return p },
		"a shorter body": func(p []byte) []byte {
			p[lengthSize-1]--
			return append(p[:lengthSize+headSize], p[lengthSize+headSize+1:]...)
		},
		"left out": func(p []byte) []byte {
			if writes++; writes == 1 {
				return nil
			}
			return p
		},
		"sent twice":         func(p []byte) []byte { return append(p, p...) },
		"another link's own": nil,
	} {
		c, s, client, _ := mustSign(t)
		if client.change = change; change == nil {
			// What a second link of the same key carried as its first frame.
			c2, _, other, _ := mustSign(t)
			before := other.record.Len()
			frames(c2)
			client.Conn.Write(other.record.Bytes()[before:])
		} else {
			writes = 0
			frames(c)
		}
		client.CloseWrite()
		good := 0
		var err error
		for err == nil {
			if _, err = s.Receive(); err == nil {
				good++
			}
		}
		if !errors.Is(err, ErrStranger) || good > 1 || good == 1 && name != "sent twice" {
			t.Errorf("%s: %d frames were taken, then %v; want ErrStranger", name, good, err)
		}
	}
}

func (s *tap) CloseWrite() { s.Conn.(*net.TCPConn).CloseWrite() }

// Who speaks something else is not waited for.
func TestAnotherProtocolIsRefusedAtOnce(t *testing.T) {
	client, server := ends(t)
	client.Conn.Write([]byte("SSH-2.0-OpenSSH_9.6\r\n"))
	if _, err := Sign(server, testKey, true); !errors.Is(err, ErrStranger) {
		t.Errorf("error %v, want ErrStranger", err)
	}
}

// A whole conversation that was recorded is of no use to begin another.
func TestAReplayIsRefused(t *testing.T) {
	_, _, client, _ := mustSign(t)
	again, server := ends(t)
	again.Conn.Write(client.record.Bytes())
	again.CloseWrite()
	if _, err := Sign(server, testKey, true); !errors.Is(err, ErrStranger) {
		t.Errorf("error %v, want ErrStranger", err)
	}
}

// FuzzSign gives any bytes to a server: none of them prove anything.
func FuzzSign(f *testing.F) {
	nonce := make([]byte, nonceSize)
	f.Add([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n and more, to fill the greeting and the nonce"))
	f.Add(append([]byte(greeting), nonce...))
	f.Add(append(append([]byte(greeting), nonce...), append(appendFrame(nil, Frame{}), nonce...)...))
	f.Add(append(append([]byte(greeting), nonce...), 255, 255, 255, 255, 1, 2, 3))
	f.Fuzz(func(t *testing.T, sent []byte) {
		c, err := Sign(stream{bytes.NewReader(sent), io.Discard}, testKey, true)
		if err == nil || c != nil {
			t.Error("bytes without the key are accepted")
		}
	})
}
