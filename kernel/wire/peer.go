package wire

import (
	"errors"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
)

// patience is how long a client may lag behind.
type patience struct {
	// queued bounds the bytes that wait for one client. Beyond it the sender
	// waits; a client that then takes nothing for a while is cut off, so that
	// it cannot hold up the others. (It may connect again.)
	queued int
	while  time.Duration
}

var defaultPatience = patience{queued: 64 << 20, while: 5 * time.Second}

// peer is one client connection: a reader, a queue, and one goroutine that
// writes.
type peer struct {
	id   string
	conn *zmq4.Conn
	rw   *guard
	lag  patience

	// trusted is when the client sent its last well signed message, counted
	// in messages; 0: never. Sockets.mu guards it.
	trusted uint64

	mu     sync.Mutex
	topics map[string]int // iopub only: subscriptions, counted
	queue  [][][]byte
	queued int  // bytes, including those being written
	ending bool // nothing more is taken; the writer ends when the queue is empty
	wake   chan struct{}
	room   chan struct{} // signalled after each write
	done   chan struct{} // closed when the writer has ended
}

func newPeer(id string, conn *zmq4.Conn, rw *guard, lag patience) *peer {
	p := &peer{
		id: id, conn: conn, rw: rw, lag: lag, topics: map[string]int{},
		wake: make(chan struct{}, 1), room: make(chan struct{}, 1), done: make(chan struct{}),
	}
	go p.write()
	return p
}

var (
	errGone    = errors.New("the client has left")
	errStalled = errors.New("the client takes nothing and was cut off")
)

// send queues a message, for a client that is not gone.
func (p *peer) send(frames [][]byte) error {
	size := 0
	for _, f := range frames {
		size += len(f)
	}
	for {
		p.mu.Lock()
		if p.ending {
			p.mu.Unlock()
			return errGone
		}
		before := p.queued
		if before == 0 || before+size <= p.lag.queued {
			p.queued += size
			p.queue = append(p.queue, frames)
			p.mu.Unlock()
			signal(p.wake)
			return nil
		}
		p.mu.Unlock()
		select {
		case <-p.room:
		case <-p.done:
		case <-time.After(p.lag.while):
			p.mu.Lock()
			stuck := p.queued == before
			p.mu.Unlock()
			if stuck {
				p.cut()
				return errStalled
			}
		}
	}
}

// write is the goroutine that writes. It flushes when nothing is left to add.
func (p *peer) write() {
	defer close(p.done)
	for {
		p.mu.Lock()
		batch, ending := p.queue, p.ending
		p.queue = nil
		p.mu.Unlock()
		if len(batch) == 0 {
			if ending {
				p.halfClose()
				return
			}
			<-p.wake
			continue
		}
		for i, frames := range batch {
			err := p.conn.SendMsg(zmq4.NewMsgFrom(frames...))
			if err == nil && i == len(batch)-1 {
				err = p.rw.flush()
			}
			if err != nil {
				p.cut()
				return
			}
			size := 0
			for _, f := range frames {
				size += len(f)
			}
			p.mu.Lock()
			p.queued -= size
			p.mu.Unlock()
			signal(p.room)
		}
	}
}

// end lets the writer send what is queued and then finish.
func (p *peer) end() {
	p.mu.Lock()
	p.ending = true
	p.mu.Unlock()
	signal(p.wake)
}

// cut drops the connection and what is queued.
func (p *peer) cut() {
	p.mu.Lock()
	p.ending, p.queue = true, nil
	p.mu.Unlock()
	p.conn.Close()
	signal(p.wake)
}

// halfClose tells the client that nothing more comes while its own last
// bytes may still be read: closing at once would reset the connection and
// could take the last reply with it.
func (p *peer) halfClose() {
	if c, ok := p.rw.Conn.(interface{ CloseWrite() error }); ok {
		c.CloseWrite()
	}
}

// subscribe takes a subscription message: 1 or 0, then the topic.
func (p *peer) subscribe(frame []byte) (topic string, added bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	topic = string(frame[1:])
	if frame[0] == 1 {
		p.topics[topic]++
		return topic, true
	}
	if p.topics[topic]--; p.topics[topic] <= 0 {
		delete(p.topics, topic)
	}
	return topic, false
}

func (p *peer) subscribed(topic string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for t := range p.topics {
		if len(t) <= len(topic) && topic[:len(t)] == t {
			return true
		}
	}
	return false
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
