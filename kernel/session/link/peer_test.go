package link

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

// answering is a peer whose other end answers each request with f.
func answering(t *testing.T, f func(p *Peer, request Frame)) *Peer {
	a, b := net.Pipe()
	near, far := NewPeer(New(a)), NewPeer(New(b))
	for p, f := range map[*Peer]func(*Peer, Frame){near: func(*Peer, Frame) {}, far: f} {
		go func() {
			for {
				request, err := p.Receive()
				if err != nil {
					return
				}
				f(p, request)
			}
		}()
	}
	t.Cleanup(func() { near.Close(); far.Close() })
	return near
}

func TestAnswers(t *testing.T) {
	p := answering(t, func(p *Peer, request Frame) {
		switch request.Kind {
		case 1:
			p.Answer(Frame{ID: request.ID + 77}, nil, errors.New("of a question that nobody asked"))
			p.Answer(request, "the value", nil)
		case 2:
			p.Answer(request, nil, errors.New("it does not know"))
		case 3:
			p.Answer(request, nil, ErrInterrupted)
		case 4:
			p.Answer(request, func() {}, nil)
		case 5:
			p.Tell(kindError, request.ID, "nonsense")
		case 6:
			p.Close()
		}
	})
	for _, test := range []struct {
		kind byte
		want string
		is   error
	}{
		{1, "", nil}, {2, "it does not know", nil}, {3, "interrupted", ErrInterrupted},
		{4, "unsupported type", nil}, {5, "is invalid", nil}, {6, "ended", ErrEnded}, {1, "ended", ErrEnded},
	} {
		answer, err := p.Ask(test.kind, p.NewID(), nil)
		value := ""
		if err == nil {
			err = (<-answer).Decode(&value)
		}
		switch {
		case test.want == "" && (err != nil || value != "the value"):
			t.Errorf("kind %d: %q, %v", test.kind, value, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("kind %d: error %v, want %q", test.kind, err, test.want)
		case test.is != nil && err != test.is:
			t.Errorf("kind %d: error %v is not %v", test.kind, err, test.is)
		}
	}
}

func TestAValueOfAnotherTypeMakesNoSense(t *testing.T) {
	p := answering(t, func(p *Peer, request Frame) { p.Answer(request, "text", nil) })
	answer, err := p.Ask(1, p.NewID(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := (<-answer).Decode(&n); err == nil || !strings.Contains(err.Error(), "is invalid") {
		t.Errorf("a text as a number: %v", err)
	}
}

// A request that is written after the other end has gone, and before this end has noticed,
// ends as all others do.
func TestARequestToAnEndThatIsGone(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	streams := map[string]func() (near, far net.Conn){
		"pipe": net.Pipe,
		"tcp": func() (near, far net.Conn) {
			near, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			if far, err = listener.Accept(); err != nil {
				t.Fatal(err)
			}
			return near, far
		},
	}
	for name, open := range streams {
		near, far := open()
		p := NewPeer(New(near))
		defer p.Close()
		far.Close()
		for range 1000 { // the first are only put into the stream's buffer
			if _, err = p.Ask(1, p.NewID(), nil); err != nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if err != ErrEnded {
			t.Errorf("%s: a request to an end that is gone ended with %v, want ErrEnded", name, err)
		}
		near.Close()
		if _, err = p.Ask(1, p.NewID(), nil); err != ErrEnded {
			t.Errorf("%s: a request over a link that is closed here ended with %v, want ErrEnded", name, err)
		}
	}
}
