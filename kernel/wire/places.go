package wire

import (
	"errors"
	"net"
	"slices"
)

// How many connections there may be to one channel: as the limit of open files
// has room for, within these.
const (
	leastConnections  = 4
	largestConnection = 256
	// ownDescriptors are left for the kernel, its evaluators and their pipes.
	ownDescriptors = 40
)

var errCrowded = errors.New("there are too many connections")

// greet notes a connection whose handshake begins. A quarter of the places is
// for those: one more costs the oldest its place.
func (s *Sockets) greet(ch Channel, c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.greeting[ch]) >= max(1, s.most/4) {
		s.greeting[ch][0].Close()
		s.greeting[ch] = s.greeting[ch][1:]
	}
	s.greeting[ch] = append(s.greeting[ch], c)
}

func (s *Sockets) greeted(ch Channel, c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.greeting[ch] = slices.DeleteFunc(s.greeting[ch], func(other net.Conn) bool { return other == c })
}

// makePlace makes room for one more connection, at the cost of a stranger. The
// caller holds s.mu.
func (s *Sockets) makePlace(ch Channel) error {
	var count int
	var victim *peer
	for id, peers := range s.peers[ch] {
		count += len(peers)
		for _, p := range peers {
			switch {
			case p.trusted > 0 || ch != Shell && s.vouched(id):
			case ch == IOPub && p.reads():
				// It may be a client's: those that are there come first.
			case victim == nil || p.heard.Before(victim.heard):
				victim = p
			}
		}
	}
	switch {
	case count < s.most:
		return nil
	case victim == nil:
		return errCrowded
	}
	victim.cut()
	s.remove(ch, victim)
	return nil
}

// reads says whether a subscriber has subscribed, and takes what it gets.
func (p *peer) reads() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.topics) > 0 && p.queued < strangerQueue
}

// parked are replies to clients that are gone, by channel and identity.
type parked struct {
	list []reply
	size int
}

type reply struct {
	ch     Channel
	id     string
	frames [][]byte
}

// Bounds of what is put aside, for all clients together: the oldest are
// forgotten first.
const (
	maxParked     = 256
	maxParkedSize = 8 << 20
)

func (k *parked) add(ch Channel, id string, frames [][]byte) bool {
	n := cost(frames)
	if n > maxParkedSize {
		return false
	}
	for k.size+n > maxParkedSize || len(k.list) == maxParked {
		k.size -= cost(k.list[0].frames)
		k.list = k.list[1:]
	}
	k.list = append(k.list, reply{ch, id, frames})
	k.size += n
	return true
}

func (k *parked) take(ch Channel, id string) (found [][][]byte) {
	k.list = slices.DeleteFunc(k.list, func(r reply) bool {
		mine := r.ch == ch && r.id == id
		if mine {
			found = append(found, r.frames)
			k.size -= cost(r.frames)
		}
		return mine
	})
	return found
}
