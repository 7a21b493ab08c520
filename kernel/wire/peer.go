package wire

import (
	"errors"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
)

// patience is how long a client may lag behind.
type patience struct {
	// queued bounds the memory of what waits for one client. Beyond it the sender
	// waits; a client that then takes nothing for a while is cut off, so that
	// it cannot hold up the others. (It may connect again.)
	queued int
	while  time.Duration
	// pace is how many bytes in a second a subscriber must take while others
	// wait for it.
	pace int
}

var defaultPatience = patience{queued: 32 << 20, while: 5 * time.Second, pace: 4 << 20}

const (
	// strangerQueue bounds what waits for one who has not proved himself, but
	// for subscribers, who cannot.
	strangerQueue = 1 << 20
	// statusTopic is the topic of messages that no request waits for.
	statusTopic = "status"
	// maxTopics bounds a subscriber's subscriptions.
	maxTopics = 64
)

// peer is one client connection: a reader, a queue, and one goroutine that
// writes.
type peer struct {
	id   string
	conn *zmq4.Conn
	rw   *guard
	lag  patience

	// trusted is when the client sent its last well signed message, counted
	// in messages; 0: never. heard is when it sent anything. Sockets.mu guards
	// them.
	trusted uint64
	heard   time.Time

	// Of a subscriber, guarded by Sockets.bulk.
	credit time.Duration // for how long others still wait for it
	seen   int64         // written, when the credit was counted

	mu     sync.Mutex
	topics map[string]int // iopub only: subscriptions, counted
	queue  [][][]byte
	queued int  // memory in bytes, including what is being written
	status int  // iopub only: the part of it that is statuses
	ending bool // nothing more is taken; the writer ends when the queue is empty
	wake   chan struct{}
	room   chan struct{} // signalled after each write
	done   chan struct{} // closed when the writer has ended
}

// newPeer makes a peer. The channel room is signalled after each of its writes.
func newPeer(id string, conn *zmq4.Conn, rw *guard, lag patience, room chan struct{}) *peer {
	p := &peer{
		id: id, conn: conn, rw: rw, lag: lag, topics: map[string]int{},
		heard: time.Now(), credit: lag.while / 10,
		wake: make(chan struct{}, 1), room: room, done: make(chan struct{}),
	}
	go p.write()
	return p
}

var (
	errGone    = errors.New("the client has left")
	errStalled = errors.New("the client does not read and was disconnected")
)

// cost is what a message takes in memory while it waits: short ones are mostly
// headers of their frames.
func cost(frames [][]byte) int {
	n := 48 + 32*len(frames)
	for _, f := range frames {
		n += len(f)
	}
	return n
}

// send queues a message, for a client that is not gone. It waits for one that
// is far behind.
func (p *peer) send(frames [][]byte) error {
	for {
		p.mu.Lock()
		before := p.queued
		p.mu.Unlock()
		if p.fits(cost(frames)) {
			return p.push(frames)
		}
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

// fits says whether there is room in the queue. Where nothing waits, or nobody
// takes it any more, anything fits.
func (p *peer) fits(size int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queued == 0 || p.queued+size <= p.lag.queued || p.ending
}

// push queues a message without waiting.
func (p *peer) push(frames [][]byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ending {
		return errGone
	}
	p.queued += cost(frames)
	p.queue = append(p.queue, frames)
	signal(p.wake)
	return nil
}

// publish queues a message for a subscriber without waiting. Statuses were not waited
// for before: one for whom too many wait is cut off.
func (p *peer) publish(frames [][]byte) error {
	if string(frames[0]) != statusTopic {
		return p.push(frames)
	}
	p.mu.Lock()
	p.status += cost(frames)
	full := p.status > p.lag.queued && !p.ending
	p.mu.Unlock()
	if full {
		p.cut()
		return errStalled
	}
	return p.push(frames)
}

// pushBounded queues a message for one who is no more than a stranger, and cuts
// him off if he does not take what he asks for.
func (p *peer) pushBounded(frames [][]byte) error {
	p.mu.Lock()
	full := p.queued+cost(frames) > strangerQueue
	p.mu.Unlock()
	if full {
		p.cut()
		return errStalled
	}
	return p.push(frames)
}

// earn counts what a subscriber has taken against the time for which others have
// waited for it, and says whether it has taken anything.
func (p *peer) earn(waited time.Duration) (moved bool) {
	written := p.rw.network.written.Load()
	earned := time.Duration(float64(written-p.seen) / float64(p.lag.pace) * float64(time.Second))
	moved = written > p.seen
	p.seen = written
	p.credit = min(p.credit+earned, p.lag.while) - waited
	return moved
}

// write is the goroutine that writes. It flushes when nothing is left to add.
func (p *peer) write() {
	defer close(p.done)
	for {
		frames, last, ending := p.next()
		if frames == nil {
			if ending {
				p.halfClose()
				return
			}
			<-p.wake
			continue
		}
		err := p.conn.SendMsg(zmq4.NewMsgFrom(frames...))
		if err == nil && last {
			err = p.rw.flush()
		}
		if err != nil {
			p.cut()
			return
		}
		p.mu.Lock()
		p.queued -= cost(frames)
		if string(frames[0]) == statusTopic {
			p.status -= cost(frames)
		}
		p.mu.Unlock()
		signal(p.room)
	}
}

// next takes the next message out of the queue, and says whether it was the last.
func (p *peer) next() (frames [][]byte, last, ending bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) > 0 {
		frames, p.queue[0] = p.queue[0], nil // or it would be kept
		p.queue = p.queue[1:]
	}
	return frames, len(p.queue) == 0, p.ending
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
		if p.topics[topic] == 0 && len(p.topics) == maxTopics {
			return "", false
		}
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
