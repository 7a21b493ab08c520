package link

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"runtime"
	"sync"
	"testing"
)

// stream is a link end that reads from one buffer and writes to another.
type stream struct {
	io.Reader
	io.Writer
}

func (stream) Close() error { return nil }

func received(t *testing.T, wire []byte) ([]Frame, error) {
	t.Helper()
	c := New(stream{bytes.NewReader(wire), io.Discard})
	var frames []Frame
	for {
		f, err := c.Receive()
		if err != nil {
			return frames, err
		}
		frames = append(frames, f)
	}
}

func TestFramesArriveAsTheyWereSent(t *testing.T) {
	sent := []Frame{
		{Kind: 1, ID: 7, Body: []byte("hello")},
		{Kind: 2, ID: 1<<64 - 1},
		{Kind: 255, ID: 0, Body: bytes.Repeat([]byte{0, 255, 'x'}, trustedBody)},
		{Kind: 3, ID: 8, Body: []byte{0}},
	}
	var wire bytes.Buffer
	c := New(stream{&bytes.Buffer{}, &wire})
	if err := c.Send(sent[0], sent[1]); err != nil {
		t.Fatal(err)
	}
	for _, f := range sent[2:] {
		if err := c.Send(f); err != nil {
			t.Fatal(err)
		}
	}
	got, err := received(t, wire.Bytes())
	if err != io.EOF {
		t.Errorf("after the last frame: %v, want io.EOF", err)
	}
	if len(got) != len(sent) {
		t.Fatalf("received %d frames, want %d", len(got), len(sent))
	}
	for i := range sent {
		if got[i].Kind != sent[i].Kind || got[i].ID != sent[i].ID || !bytes.Equal(got[i].Body, sent[i].Body) {
			t.Errorf("frame %d differs from what was sent", i)
		}
	}
}

func TestBadFrames(t *testing.T) {
	whole := appendFrame(nil, Frame{Kind: 1, ID: 2, Body: []byte("body")})
	tooLong := binary.BigEndian.AppendUint32(nil, headSize+MaxBody+1)
	for _, test := range []struct {
		name string
		wire []byte
		want error
	}{
		{"nothing", nil, io.EOF},
		{"part of a length", whole[:3], io.ErrUnexpectedEOF},
		{"no head", whole[:4], io.ErrUnexpectedEOF},
		{"part of a head", whole[:9], io.ErrUnexpectedEOF},
		{"no body", whole[:13], io.ErrUnexpectedEOF},
		{"part of a body", whole[:15], io.ErrUnexpectedEOF},
		{"length zero", []byte{0, 0, 0, 0, 1, 1, 1}, ErrDamaged},
		{"shorter than a head", []byte{0, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8}, ErrDamaged},
		{"longer than allowed", append(tooLong, whole...), ErrTooLong},
		{"all ones", bytes.Repeat([]byte{255}, 64), ErrTooLong},
	} {
		t.Run(test.name, func(t *testing.T) {
			frames, err := received(t, test.wire)
			if len(frames) != 0 || !errors.Is(err, test.want) {
				t.Errorf("received %d frames, error %v; want none and %v", len(frames), err, test.want)
			}
		})
	}
}

func TestALengthAloneTakesNoMemory(t *testing.T) {
	wire := binary.BigEndian.AppendUint32(nil, headSize+MaxBody)
	wire = append(wire, make([]byte, headSize+10)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := received(t, wire)
	runtime.ReadMemStats(&after)
	if err != io.ErrUnexpectedEOF {
		t.Errorf("error %v, want io.ErrUnexpectedEOF", err)
	}
	if made := after.TotalAlloc - before.TotalAlloc; made > 16<<20 {
		t.Errorf("%d bytes were allocated for a frame that never came", made)
	}
}

func TestTooLongABodyIsRefusedAndTheLinkLives(t *testing.T) {
	var wire bytes.Buffer
	c := New(stream{&bytes.Buffer{}, &wire})
	if err := c.Send(Frame{Kind: 1}, Frame{Body: make([]byte, MaxBody+1)}); err != ErrTooLong {
		t.Fatalf("error %v, want ErrTooLong", err)
	}
	if wire.Len() != 0 {
		t.Errorf("%d bytes were written", wire.Len())
	}
	if err := c.Send(Frame{Kind: 9}); err != nil {
		t.Fatal(err)
	}
	if frames, _ := received(t, wire.Bytes()); len(frames) != 1 || frames[0].Kind != 9 {
		t.Errorf("received %v", frames)
	}
}

func TestConcurrentSendsDoNotMix(t *testing.T) {
	a, b := net.Pipe()
	from, to := New(a), New(b)
	const senders, each = 8, 50
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				body := bytes.Repeat([]byte{byte(s)}, 1+i*37)
				first := Frame{Kind: byte(s), ID: uint64(i), Body: body}
				if err := from.Send(first, Frame{Kind: byte(s), ID: uint64(i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var next [senders]uint64
	for range senders * each {
		first, err := to.Receive()
		if err != nil {
			t.Fatal(err)
		}
		second, err := to.Receive()
		if err != nil {
			t.Fatal(err)
		}
		s := first.Kind
		if first.ID != next[s] || second.Kind != s || second.ID != first.ID || len(second.Body) != 0 {
			t.Fatalf("sender %d: frames %d and %d of sender %d, want both to be %d", s, first.ID, second.ID, second.Kind, next[s])
		}
		if want := bytes.Repeat([]byte{s}, 1+int(first.ID)*37); !bytes.Equal(first.Body, want) {
			t.Fatalf("sender %d, frame %d: damaged body", s, first.ID)
		}
		next[s]++
	}
	wg.Wait()
	from.Close()
	if _, err := to.Receive(); err != io.EOF {
		t.Errorf("after Close: %v, want io.EOF", err)
	}
}

// FuzzReceive gives any bytes to the reader: it must return frames that encode
// to just the bytes read, then an error.
func FuzzReceive(f *testing.F) {
	f.Add(appendFrame(appendFrame(nil, Frame{Kind: 1, ID: 2, Body: []byte("x")}), Frame{Kind: 3}))
	f.Add([]byte{0, 0, 0, 9})
	f.Add(bytes.Repeat([]byte{255}, 20))
	f.Fuzz(func(t *testing.T, wire []byte) {
		frames, err := received(t, wire)
		if err == nil {
			t.Fatal("no error at the end")
		}
		var again []byte
		for _, frame := range frames {
			again = appendFrame(again, frame)
		}
		if !bytes.HasPrefix(wire, again) {
			t.Fatal("the frames are not what the bytes say")
		}
		if err == io.EOF && len(again) != len(wire) {
			t.Fatalf("end reported with %d bytes left over", len(wire)-len(again))
		}
	})
}

func appendFrame(out []byte, f Frame) []byte { return append(appendHead(out, f), f.Body...) }

// A long body is neither copied to be sent, nor read into much more memory than it takes.
func TestLongBodiesAreNotCopied(t *testing.T) {
	const size = 64 << 20
	body := make([]byte, size)
	a, b := net.Pipe()
	from, to := New(a), New(b)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	go from.Send(Frame{Kind: 1, Body: body}, Frame{Kind: 2})
	for kind := byte(1); kind <= 2; kind++ {
		if f, err := to.Receive(); err != nil || f.Kind != kind || kind == 1 && len(f.Body) != size {
			t.Fatalf("kind %d, %d bytes, %v", f.Kind, len(f.Body), err)
		}
	}
	runtime.ReadMemStats(&after)
	if made := after.TotalAlloc - before.TotalAlloc; made > size*3/2 {
		t.Errorf("%d MB were allocated for a body of %d MB", made>>20, size>>20)
	}
}
