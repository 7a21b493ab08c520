package link

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
)

// The kinds of frames that answer a request, with the request's id. All other
// kinds are the users' of a Peer.
const (
	kindValue = 0xFE // JSON: the value
	kindError = 0xFF // JSON: Refusal
)

// ErrEnded is what requests end with when the link does.
var ErrEnded = errors.New("the evaluator has ended")

// ErrInterrupted is an error that stays itself on its way over a link.
var ErrInterrupted = errors.New("interrupted")

// Refusal is the error that the other end answered with.
type Refusal struct {
	Text        string `json:"text"`
	Interrupted bool   `json:"interrupted,omitempty"` // it is ErrInterrupted
}

func (r *Refusal) Error() string { return r.Text }

// Peer is one end of a link at which both ends may ask and answer. Each end
// numbers its own requests, from 1; a frame with id 0 wants no answer. Bodies
// are JSON.
type Peer struct {
	conn *Conn

	mu      sync.Mutex
	lastID  uint64
	waiting map[uint64]chan Reply // nil once the link has ended
}

// NewPeer makes a peer of a link, which it then owns.
func NewPeer(c *Conn) *Peer { return &Peer{conn: c, waiting: map[uint64]chan Reply{}} }

// Reply is the answer to a request.
type Reply struct {
	body []byte
	err  error
}

// Decode stores the answer's value in into. The error is a *Refusal or
// ErrInterrupted, both the other end's, or ErrEnded, or that the answer is not
// of that kind.
func (r Reply) Decode(into any) error {
	if r.err != nil || into == nil {
		return r.err
	}
	if err := json.Unmarshal(r.body, into); err != nil {
		return fmt.Errorf("the answer is invalid: %w", err)
	}
	return nil
}

// NewID returns the id of a request to come.
func (p *Peer) NewID() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastID++
	return p.lastID
}

// Ask sends a request. The channel gives its answer, or ErrEnded when the link
// ends before.
func (p *Peer) Ask(kind byte, id uint64, body any) (<-chan Reply, error) {
	reply := make(chan Reply, 1)
	p.mu.Lock()
	if p.waiting == nil {
		p.mu.Unlock()
		return nil, ErrEnded
	}
	p.waiting[id] = reply
	p.mu.Unlock()
	err := p.Tell(kind, id, body)
	if err != nil {
		p.Forget(id)
	}
	if isGone(err) {
		return nil, ErrEnded // Receive may not have noticed yet
	}
	return reply, err
}

// isGone says whether nothing could be written since the link is closed, at either end.
func isGone(err error) bool {
	for _, e := range []error{syscall.EPIPE, syscall.ECONNRESET, io.ErrClosedPipe, os.ErrClosed, net.ErrClosed} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// Forget says that nobody waits for an answer any more.
func (p *Peer) Forget(id uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, id)
}

// Tell sends a frame of which no answer is awaited.
func (p *Peer) Tell(kind byte, id uint64, body any) error {
	f := Frame{Kind: kind, ID: id}
	if body != nil {
		var err error
		if f.Body, err = json.Marshal(body); err != nil {
			return err
		}
	}
	return p.conn.Send(f)
}

// Answer answers a request with a value, or with an error if err is not nil or
// the value cannot be sent.
func (p *Peer) Answer(request Frame, value any, err error) error {
	if err == nil {
		if err = p.Tell(kindValue, request.ID, value); err == nil {
			return nil
		}
	}
	return p.Tell(kindError, request.ID, Refusal{err.Error(), errors.Is(err, ErrInterrupted)})
}

// Receive waits for the next frame that is no answer, and gives answers to
// those who wait for them. After an error the link is of no more use.
func (p *Peer) Receive() (Frame, error) {
	for {
		f, err := p.conn.Receive()
		if err != nil {
			p.End()
			return f, err
		}
		var r Reply
		switch f.Kind {
		case kindValue:
			r.body = f.Body
		case kindError:
			r.err = decodeRefusal(f.Body)
		default:
			return f, nil
		}
		p.mu.Lock()
		if c, ok := p.waiting[f.ID]; ok {
			delete(p.waiting, f.ID)
			c <- r // has room for one
		}
		p.mu.Unlock()
	}
}

func decodeRefusal(body []byte) error {
	r := new(Refusal)
	if err := json.Unmarshal(body, r); err != nil {
		return fmt.Errorf("the answer is invalid: %w", err)
	}
	if r.Interrupted {
		return ErrInterrupted
	}
	return r
}

// End lets every request end with ErrEnded, also those to come.
func (p *Peer) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.waiting {
		c <- Reply{err: ErrEnded}
	}
	p.waiting = nil
}

// Close closes the link.
func (p *Peer) Close() error { return p.conn.Close() }
