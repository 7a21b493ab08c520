package wire

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
	"github.com/google/uuid"

	"gocuda/kernel/wire/curve"
)

const (
	// handshakeTime is what a client has to introduce itself.
	handshakeTime = 10 * time.Second
	// maxDropped is how many bad messages a stranger may send, and how many of
	// all clients are told in the log one by one.
	maxDropped = 20
	// farewellTime is what clients have at the end to hang up by themselves,
	// which they do as soon as they have read everything.
	farewellTime = 100 * time.Millisecond
)

// Sockets are a kernel's five sockets, bound.
type Sockets struct {
	conn     Connection
	signer   *signer
	keys     *curve.Keys // nil: connections are not encrypted
	log      *slog.Logger
	session  string
	username string
	serial   atomic.Uint64
	lag      patience

	listeners [channels]net.Listener
	inbox     [channels]chan *Message // shell, control and stdin
	route     atomic.Pointer[func(*Message) (chan<- *Message, <-chan struct{})]

	bulk       sync.Mutex    // held by what may wait for subscribers; before publishing
	publishing sync.Mutex    // keeps every subscriber's messages in one order
	written    chan struct{} // signalled when a subscriber has taken something

	mu       sync.Mutex
	closing  bool
	peers    [channels]map[string][]*peer // by identity
	greeting [channels][]net.Conn         // whose handshake is not over
	most     int                          // connections to one channel
	parked   parked
	trusted  uint64
	readers  sync.WaitGroup
	closed   chan struct{}

	slots   chan struct{} // of strangers' large messages
	dropped atomic.Int64  // bad messages
}

// Listen binds the five sockets and begins to take messages. Connection
// returns the ports chosen for those given as 0. What clients do wrong (bad
// signatures, malformed messages) is dropped, and written to the log. Those who
// have not proved by a signature that they know the key cost little, however
// many they are: connections, memory and waiting for them are bounded.
func Listen(c Connection, log *slog.Logger) (*Sockets, error) {
	signer, err := newSigner(c.SignatureScheme, c.Key)
	if err != nil {
		return nil, err
	}
	keys, err := c.curveKeys()
	if err != nil {
		return nil, err
	}
	s := &Sockets{
		conn: c, signer: signer, keys: keys, log: log, session: uuid.NewString(), username: "kernel",
		lag: defaultPatience, closed: make(chan struct{}), written: make(chan struct{}, 1),
		slots: make(chan struct{}, strangerSlots),
	}
	if s.most, err = mostConnections(); err != nil {
		return nil, err
	}
	if c.Key == "" {
		log.Warn("the connection file has no key: whoever can connect can run code here")
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

// Route has f tell for each message of the shell channel where it goes in place of
// Messages. In nil, or closed closed, it goes there.
func (s *Sockets) Route(f func(*Message) (in chan<- *Message, closed <-chan struct{})) {
	s.route.Store(&f)
}

// Send queues a message for the client that the identities name, if it has
// proved that it knows the key. One that is gone finds a reply when it comes
// back and has proved itself again. Send returns an error when there is nobody
// to send to or the message cannot be encoded; it waits only for a client that
// is far behind.
func (s *Sockets) Send(ch Channel, to [][]byte, out Outgoing) error {
	if len(to) == 0 {
		return fmt.Errorf("%s: no identity to send to", out.Type)
	}
	frames, err := encode(s.header(out.Type), out, s.signer)
	if err != nil {
		return err
	}
	frames = append(append([][]byte{}, to[1:]...), frames...)
	p, parked := s.findOrPark(ch, string(to[0]), frames)
	if parked {
		return nil
	}
	err = errGone
	if p != nil {
		err = p.send(frames)
	}
	if err != nil {
		return fmt.Errorf("%s on %s: %w", out.Type, ch, err)
	}
	return nil
}

// Publish queues a message for all subscribers of iopub. Messages reach each
// of them in the order in which Publish was called. It may wait for subscribers
// that are far behind, except with a status, which no request is to wait for: who
// leaves too many of them unread is cut off.
func (s *Sockets) Publish(out Outgoing) error {
	frames, err := encode(s.header(out.Type), out, s.signer)
	if err != nil {
		return err
	}
	frames = append([][]byte{[]byte(out.Type)}, frames...)
	if out.Type != statusTopic {
		s.bulk.Lock()
		defer s.bulk.Unlock()
		s.makeRoom(out.Type, cost(frames))
	}
	s.publishing.Lock()
	defer s.publishing.Unlock()
	for _, p := range s.list(IOPub) {
		if p.subscribed(out.Type) && p.publish(frames) == errStalled { // one that is gone misses it
			s.log.Warn("a subscriber misses messages", "error", errStalled)
		}
	}
	return nil
}

// makeRoom waits until the queues of all subscribers have room. Subscribers
// cannot prove who they are, so nobody waits long for one of them: the quickest
// one is waited for as long as it takes anything, so that something is seen
// somewhere; the others only as long as they keep pace. The rest is cut off, all
// of them at once. The caller holds s.bulk.
func (s *Sockets) makeRoom(topic string, size int) {
	var begun map[*peer]int64 // what each had taken
	for {
		var full []*peer
		var all int
		for _, p := range s.list(IOPub) {
			if !p.subscribed(topic) {
				continue
			}
			all++
			if !p.fits(size) {
				full = append(full, p)
			}
		}
		if len(full) == 0 {
			return
		}
		if begun == nil {
			begun = map[*peer]int64{}
			for _, p := range full {
				begun[p] = p.rw.network.written.Load()
				p.earn(0)
			}
		}
		before := time.Now()
		select {
		case <-s.written:
		case <-time.After(s.lag.while / 50):
		case <-s.closed:
			return
		}
		waited := time.Since(before)
		var quickest *peer
		if len(full) == all {
			quickest = slices.MaxFunc(full, func(a, b *peer) int {
				return cmp.Compare(a.rw.network.written.Load()-begun[a], b.rw.network.written.Load()-begun[b])
			})
		}
		for _, p := range full {
			moved := p.earn(waited)
			if p == quickest && p.credit < 0 {
				// It alone costs only itself: what counts is that it moves.
				if moved {
					p.credit = s.lag.while
				}
				if p.credit > -s.lag.while {
					continue
				}
			}
			if p.credit < 0 {
				p.cut()
				s.log.Warn("a subscriber misses messages", "error", errStalled)
			}
		}
	}
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
// not suffice, so that no stranger can take a client's place. On stdin, where a
// client says nothing before it is asked, its connection to shell vouches for
// it. The caller holds s.mu.
func (s *Sockets) find(ch Channel, id string) (found *peer) {
	for _, p := range s.peers[ch][id] {
		if found == nil || p.trusted > found.trusted {
			found = p
		}
	}
	if found == nil || found.trusted > 0 || ch == Stdin && s.vouched(id) {
		return found
	}
	return nil
}

// vouched says whether a client of this identity has proved itself on shell,
// and is still there. The caller holds s.mu.
func (s *Sockets) vouched(id string) bool {
	return slices.ContainsFunc(s.peers[Shell][id], func(p *peer) bool { return p.trusted > 0 })
}

// findOrPark finds a connection, or puts a reply aside for the client's return.
func (s *Sockets) findOrPark(ch Channel, id string, frames [][]byte) (p *peer, parked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p = s.find(ch, id)
	if p == nil && ch != Stdin && !strings.HasPrefix(id, ownIdentity) {
		parked = s.parked.add(ch, id, frames)
	}
	return p, parked
}

// trust notes that a client sent a well signed message, and sends it what was
// put aside.
func (s *Sockets) trust(ch Channel, p *peer) {
	s.mu.Lock()
	s.trusted++
	p.trusted = s.trusted
	waiting := s.parked.take(ch, p.id)
	s.mu.Unlock()
	for _, frames := range waiting {
		p.send(frames)
	}
}

// limits are those of a client's next message.
func (s *Sockets) limits(ch Channel, p *peer) limits {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.heard = time.Now()
	switch {
	case ch == IOPub || ch == Heartbeat:
		return limits{size: smallMessage, frames: strangerFrames, slots: s.slots}
	case p.trusted > 0:
		return limits{size: maxMessage, frames: maxFrames}
	}
	return limits{size: strangerMessage, frames: strangerFrames, slots: s.slots}
}

func (s *Sockets) accept(ch Channel) {
	for {
		c, err := s.listeners[ch].Accept()
		switch {
		case err == nil:
			s.greet(ch, c) // here: the oldest is the one that came first
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

// serve shakes hands with a client that accept has noted, and reads what it sends.
func (s *Sockets) serve(ch Channel, c net.Conn) {
	defer c.Close()
	g, encrypted, err := s.guard(c)
	var conn *zmq4.Conn
	if err == nil {
		conn, err = handshake(g, ch)
	}
	s.greeted(ch, c)
	if err != nil {
		s.log.Info("refused a connection", "channel", ch, "from", c.RemoteAddr(), "error", err)
		return
	}
	p, err := s.join(ch, conn, g)
	if err != nil {
		s.log.Info("refused a connection", "channel", ch, "from", c.RemoteAddr(), "error", err)
		return
	}
	defer s.leave(ch, p)
	if encrypted != nil {
		encrypted.SetLimit(func() int { return s.limits(ch, p).size })
	}
	for bad := 0; bad < maxDropped; {
		frames, err := g.message(func() limits { return s.limits(ch, p) })
		if err != nil {
			s.log.Debug("a client left", "channel", ch, "reason", err)
			return
		}
		if !s.take(ch, p, frames) {
			bad++
		}
	}
}

// guard takes a connection, an encrypted one if there are keys, once it has shown that
// it knows the public one.
func (s *Sockets) guard(c net.Conn) (g *guard, encrypted *curve.Conn, err error) {
	network := &counted{Conn: c}
	if s.keys == nil {
		return newGuard(network, network), nil, nil
	}
	c.SetDeadline(time.Now().Add(handshakeTime))
	if encrypted, err = curve.Server(network, *s.keys); err != nil {
		return nil, nil, err
	}
	return newGuard(encrypted, network), encrypted, nil
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
	g.opened()
	return conn, nil
}

// ownIdentity begins the identities that the kernel gives, as ZeroMQ has it.
const ownIdentity = "\x00"

// join makes a client known by the identity that it gave, or by a new one.
func (s *Sockets) join(ch Channel, conn *zmq4.Conn, g *guard) (*peer, error) {
	id := conn.Peer.Meta["Identity"]
	if id == "" || strings.HasPrefix(id, ownIdentity) || ch == Heartbeat {
		id = ownIdentity + uuid.NewString()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, net.ErrClosed
	}
	if err := s.makePlace(ch); err != nil {
		return nil, err
	}
	room := make(chan struct{}, 1)
	if ch == IOPub {
		room = s.written
	}
	p := newPeer(id, conn, g, s.lag, room)
	s.peers[ch][id] = append(s.peers[ch][id], p)
	s.readers.Add(1)
	return p, nil
}

func (s *Sockets) leave(ch Channel, p *peer) {
	s.mu.Lock()
	s.remove(ch, p)
	s.mu.Unlock()
	p.cut()
	s.readers.Done()
}

// remove makes a connection unknown. The caller holds s.mu.
func (s *Sockets) remove(ch Channel, p *peer) {
	rest := slices.DeleteFunc(s.peers[ch][p.id], func(other *peer) bool { return other == p })
	if s.peers[ch][p.id] = rest; len(rest) == 0 {
		delete(s.peers[ch], p.id)
	}
}

// take handles the frames of one message, and says whether it was a good one.
func (s *Sockets) take(ch Channel, p *peer, frames [][]byte) bool {
	switch ch {
	case Heartbeat:
		return p.pushBounded(frames) == nil
	case IOPub:
		if len(frames) != 1 || len(frames[0]) == 0 || frames[0][0] > 1 {
			return true // a message of no meaning
		}
		s.publishing.Lock() // nothing comes before the welcome
		defer s.publishing.Unlock()
		if topic, added := p.subscribe(frames[0]); added {
			s.welcome(p, topic)
		}
		return true
	}
	m, err := decode(append([][]byte{[]byte(p.id)}, frames...), s.signer)
	if err != nil {
		switch n := s.dropped.Add(1); {
		case n < maxDropped:
			s.log.Warn("dropped a message", "channel", ch, "error", err)
		case n == maxDropped:
			s.log.Warn("dropped a message; others will be dropped silently", "channel", ch, "error", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return p.trusted > 0
	}
	s.trust(ch, p)
	s.log.Debug("received", "channel", ch, "type", m.Header.Type, "id", m.Header.ID)
	var in chan<- *Message = s.inbox[ch]
	var gone <-chan struct{}
	if f := s.route.Load(); ch == Shell && f != nil {
		if other, closed := (*f)(m); other != nil {
			in, gone = other, closed
		}
	}
	select {
	case in <- m:
	case <-gone:
		select {
		case s.inbox[ch] <- m:
		case <-s.closed:
		}
	case <-s.closed:
	}
	return true
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
	p.pushBounded(append([][]byte{[]byte(topic)}, frames...))
}
