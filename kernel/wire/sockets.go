package wire

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
	"github.com/google/uuid"
)

const (
	// handshakeTime is what a client has to introduce itself.
	handshakeTime = 10 * time.Second
	// farewellTime is what clients have at the end to hang up by themselves,
	// which they do as soon as they have read everything.
	farewellTime = 100 * time.Millisecond
)

// Sockets are a kernel's five sockets, bound.
type Sockets struct {
	conn     Connection
	signer   *signer
	log      *slog.Logger
	session  string
	username string
	serial   atomic.Uint64
	lag      patience

	listeners [channels]net.Listener
	inbox     [channels]chan *Message // shell, control and stdin

	publishing sync.Mutex // keeps every subscriber's messages in one order

	mu      sync.Mutex
	closing bool
	peers   [channels]map[string][]*peer // by identity
	trusted uint64
	readers sync.WaitGroup
	closed  chan struct{}
}

// Listen binds the five sockets and begins to take messages. Connection
// returns the ports chosen for those given as 0. What clients do wrong (bad
// signatures, malformed messages) is dropped, and written to the log.
func Listen(c Connection, log *slog.Logger) (*Sockets, error) {
	signer, err := newSigner(c.SignatureScheme, c.Key)
	if err != nil {
		return nil, err
	}
	s := &Sockets{
		conn: c, signer: signer, log: log, session: uuid.NewString(), username: "kernel",
		lag: defaultPatience, closed: make(chan struct{}),
	}
	for ch := Channel(0); ch < channels; ch++ {
		s.peers[ch] = map[string][]*peer{}
		s.inbox[ch] = make(chan *Message, 1<<12)
		if s.listeners[ch], err = s.conn.listen(ch); err != nil {
			s.Close(0)
			return nil, err
		}
	}
	for ch := Channel(0); ch < channels; ch++ {
		go s.accept(ch)
	}
	return s, nil
}

// Connection tells where the sockets listen.
func (s *Sockets) Connection() Connection { return s.conn }

// Messages delivers what arrives on the shell, control or stdin channel, in
// the order in which each client sent it. It is never closed.
func (s *Sockets) Messages(ch Channel) <-chan *Message { return s.inbox[ch] }

// Send queues a message for the client that the identities name. It returns
// an error when that client is gone or the message cannot be encoded; it
// waits only for a client that is far behind.
func (s *Sockets) Send(ch Channel, to [][]byte, out Outgoing) error {
	if len(to) == 0 {
		return fmt.Errorf("%s: no identity to send to", out.Type)
	}
	frames, err := encode(s.header(out.Type), out, s.signer)
	if err != nil {
		return err
	}
	err = errGone
	if p := s.find(ch, string(to[0])); p != nil {
		err = p.send(append(append([][]byte{}, to[1:]...), frames...))
	}
	if err != nil {
		return fmt.Errorf("%s on %s: %w", out.Type, ch, err)
	}
	return nil
}

// Publish queues a message for all subscribers of iopub. Messages reach each
// of them in the order in which Publish was called.
func (s *Sockets) Publish(out Outgoing) error {
	frames, err := encode(s.header(out.Type), out, s.signer)
	if err != nil {
		return err
	}
	frames = append([][]byte{[]byte(out.Type)}, frames...)
	s.publishing.Lock()
	defer s.publishing.Unlock()
	for _, p := range s.list(IOPub) {
		if !p.subscribed(out.Type) {
			continue
		}
		if err := p.send(frames); errors.Is(err, errStalled) {
			s.log.Warn("a subscriber misses messages", "error", err)
		}
	}
	return nil
}

// Close sends what is queued, for at most the linger time, then closes the
// sockets and every connection.
func (s *Sockets) Close(linger time.Duration) {
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return
	}
	s.closing = true
	close(s.closed)
	s.mu.Unlock()
	for _, l := range s.listeners {
		if l != nil {
			l.Close()
		}
	}
	timeout := time.After(linger)
	var all []*peer
	for ch := Channel(0); ch < channels; ch++ {
		all = append(all, s.list(ch)...)
	}
	for _, p := range all {
		p.end()
	}
	expired := linger == 0
	for _, p := range all {
		if !expired {
			select {
			case <-p.done:
			case <-timeout:
				expired = true
			}
		}
	}
	left := make(chan struct{})
	go func() {
		s.readers.Wait()
		close(left)
	}()
	if !expired {
		select {
		case <-left:
		case <-time.After(farewellTime):
		}
	}
	for _, p := range all {
		p.cut()
	}
	<-left
}

func (s *Sockets) header(kind string) Header {
	return Header{
		ID:       s.session + "_" + strconv.FormatUint(s.serial.Add(1), 10),
		Session:  s.session,
		Username: s.username,
		Date:     time.Now().UTC().Format(timeFormat),
		Type:     kind,
		Version:  Version,
	}
}

func (s *Sockets) list(ch Channel) []*peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*peer, 0, len(s.peers[ch]))
	for _, peers := range s.peers[ch] {
		list = append(list, peers...)
	}
	return list
}

// find returns the connection that an identity means. A client that comes back
// under its old identity may find its old connection still there: of several,
// the one counts that sent the last well signed message. Connecting alone does
// not suffice, so that no stranger can take a client's place.
func (s *Sockets) find(ch Channel, id string) (found *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.peers[ch][id] {
		if found == nil || p.trusted > found.trusted {
			found = p
		}
	}
	return found
}

// trust notes that a client sent a well signed message.
func (s *Sockets) trust(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trusted++
	p.trusted = s.trusted
}

func (s *Sockets) accept(ch Channel) {
	for {
		c, err := s.listeners[ch].Accept()
		switch {
		case err == nil:
			go s.serve(ch, c)
		case errors.Is(err, net.ErrClosed):
			return
		default: // such as too many open files: it may pass
			s.log.Warn("cannot accept a connection", "channel", ch, "error", err)
			select {
			case <-s.closed:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
}

// serve shakes hands with a client and reads what it sends.
func (s *Sockets) serve(ch Channel, c net.Conn) {
	defer c.Close()
	g := newGuard(c)
	conn, err := handshake(g, ch)
	if err != nil {
		s.log.Info("refused a connection", "channel", ch, "from", c.RemoteAddr(), "error", err)
		return
	}
	p, err := s.join(ch, conn, g)
	if err != nil {
		return
	}
	defer s.leave(ch, p)
	for {
		m, err := conn.RecvMsg()
		if err != nil {
			s.log.Debug("a client left", "channel", ch, "reason", err)
			return
		}
		s.take(ch, p, m.Frames)
	}
}

// handshake introduces the kernel to a client. zmq4 panics on some malformed
// handshakes; that must cost no more than the connection.
func handshake(g *guard, ch Channel) (conn *zmq4.Conn, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("malformed handshake: %v", r)
		}
	}()
	kind := zmq4.Router
	if ch == IOPub {
		kind = zmq4.XPub
	}
	g.SetDeadline(time.Now().Add(handshakeTime))
	conn, err = zmq4.Open(g, null.Security(), kind, nil, true, nil)
	if err != nil {
		return nil, err
	}
	g.SetDeadline(time.Time{})
	g.open = true
	return conn, nil
}

// join makes a client known by the identity that it gave, or by a new one.
func (s *Sockets) join(ch Channel, conn *zmq4.Conn, g *guard) (*peer, error) {
	id := conn.Peer.Meta["Identity"]
	if id == "" || ch == IOPub || ch == Heartbeat {
		id = "\x00" + uuid.NewString()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, net.ErrClosed
	}
	p := newPeer(id, conn, g, s.lag)
	s.peers[ch][id] = append(s.peers[ch][id], p)
	s.readers.Add(1)
	return p, nil
}

func (s *Sockets) leave(ch Channel, p *peer) {
	s.mu.Lock()
	rest := slices.DeleteFunc(s.peers[ch][p.id], func(other *peer) bool { return other == p })
	if s.peers[ch][p.id] = rest; len(rest) == 0 {
		delete(s.peers[ch], p.id)
	}
	s.mu.Unlock()
	p.cut()
	s.readers.Done()
}

// take handles the frames of one message.
func (s *Sockets) take(ch Channel, p *peer, frames [][]byte) {
	switch ch {
	case Heartbeat:
		p.send(frames)
	case IOPub:
		if len(frames) == 1 && len(frames[0]) > 0 && frames[0][0] <= 1 {
			s.publishing.Lock() // nothing comes before the welcome
			if topic, added := p.subscribe(frames[0]); added {
				s.welcome(p, topic)
			}
			s.publishing.Unlock()
		}
	default:
		m, err := decode(append([][]byte{[]byte(p.id)}, frames...), s.signer)
		if err != nil {
			s.log.Warn("dropped a message", "channel", ch, "error", err)
			return
		}
		s.trust(p)
		s.log.Debug("received", "channel", ch, "type", m.Header.Type, "id", m.Header.ID)
		select {
		case s.inbox[ch] <- m:
		case <-s.closed:
		}
	}
}

// welcome tells a new subscriber that it will miss nothing from here on.
func (s *Sockets) welcome(p *peer, topic string) {
	frames, err := encode(s.header("iopub_welcome"), Outgoing{
		Type: "iopub_welcome", Content: map[string]string{"subscription": topic},
	}, s.signer)
	if err != nil {
		s.log.Warn("iopub_welcome", "error", err)
		return
	}
	p.send(append([][]byte{[]byte(topic)}, frames...))
}
