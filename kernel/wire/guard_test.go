package wire

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"runtime"
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
	for _, test := range []struct {
		frame, frames int
		l             limits
	}{
		{1 << 20, 8, limits{size: 8 << 20, frames: 100}},
		{10, 50, limits{size: 8 << 20, frames: 50}},
		{1 << 20, 2, limits{size: 2<<20 + 9, frames: 100, slots: make(chan struct{}, 1)}},
		{1 << 20, 0, limits{size: 2 << 20, frames: 100, slots: make(chan struct{})}},
	} {
		c := &claims{head: binary.BigEndian.AppendUint64([]byte{flagMore | flagLong}, uint64(test.frame)), size: test.frame}
		server, client := net.Pipe()
		c.Conn = server // for its deadlines
		read := &counting{Reader: c}
		g := newGuard(c, &counted{Conn: c})
		g.r.Reset(read)
		_, err := g.message(func() limits { return test.l })
		if !errors.Is(err, errTooLong) && !(test.frames == 0 && errors.Is(err, errNoSlot)) {
			t.Errorf("%+v: %v", test, err)
		}
		if most := test.frames*(test.frame+9) + 9 + g.r.Size(); read.n > most {
			t.Errorf("%+v: %d bytes were read, at most %d may", test, read.n, most)
		}
		if len(test.l.slots) != 0 {
			t.Errorf("%+v: its slot is not free", test)
		}
		client.Close()
	}
}

type counting struct {
	io.Reader
	n int
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

// A stranger's claim costs no memory.
func TestAClaimAloneCostsNothing(t *testing.T) {
	s, _ := listen(t, Connection{Key: "key"})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	head := binary.BigEndian.AppendUint64([]byte{flagLong}, strangerMessage)
	strangers := []*rawClient{}
	for range 20 { // of which two get as far as being read
		c := raw(t, s, Shell, "DEALER")
		c.Write(head)
		c.Write(make([]byte, 100))
		strangers = append(strangers, c)
	}
	strangers[len(strangers)-1].closed("one too many")
	client := dial(t, s, Shell, "client")
	send(t, client, request(s, 1))
	next(t, s, Shell)
	runtime.ReadMemStats(&after)
	if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 8<<20 {
		t.Errorf("%d MB were claimed and given", grown>>20)
	}
}

// whole writes to a connection once it has got so many bytes, as encryption does with
// a message.
type whole struct {
	net.Conn
	size int
	text []byte
}

func (w *whole) Write(p []byte) (int, error) {
	if w.text = append(w.text, p...); len(w.text) >= w.size {
		return w.Conn.Write(w.text)
	}
	return len(p), nil
}

// What waits to be encrypted has not gone to the client; what the client takes of a large
// message counts piece by piece.
func TestProgressIsTheNetworks(t *testing.T) {
	const size = 4 << 20
	server, client := net.Pipe()
	defer client.Close()
	n := &counted{Conn: server}
	g := newGuard(&whole{Conn: n, size: size}, n)
	g.opened()
	text := make([]byte, size)
	g.Write(text[:size/2])
	g.flush()
	if got := n.written.Load(); got != 0 {
		t.Errorf("%d bytes count that wait", got)
	}
	go func() {
		g.Write(text[size/2:])
		g.flush()
	}()
	if _, err := io.ReadFull(client, text[:size/2]); err != nil {
		t.Fatal(err)
	}
	if got := n.written.Load(); got < size/4 || got > size/2 {
		t.Errorf("%d bytes count of %d that were taken", got, size/2)
	}
}
