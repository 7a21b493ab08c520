package kernel

import (
	"encoding/json"
	"time"

	"gocuda/kernel/wire"
)

// When a cell fails, the requests that its client sent after it must not run,
// and those that the client sends because it knows of the failure must. No date
// tells them apart: clients' clocks differ, and some count in seconds. What has
// arrived when the failure is made known does.
//
//   - A client that sends one cell at a time is told at once.
//   - A client that has sent more, or is known to send cells before it has the
//     replies of others, may not be done: the failure is kept back until no
//     more comes for a moment. All that has come by then is aborted.
//   - A front end in which a person runs cells names them in the metadata
//     (cellId). It is told at once, too: nobody reads an error and acts within
//     humanTime, so what comes that soon was sent in one go with the cell that
//     failed, and is aborted.

const (
	// quietTime is for how long a client must send nothing until its run of
	// cells counts as sent.
	quietTime = 25 * time.Millisecond
	// maxQuiets bounds for how many of those a failure is kept back.
	maxQuiets = 20
	humanTime = 50 * time.Millisecond
	// maxClients bounds how many are remembered.
	maxClients = 1024
)

// clientSession is what is known of a client.
type clientSession struct {
	replied time.Time // when it could be told how its last cell ended
	runs    bool      // it sends cells before it has the replies of others
	failed  string    // the cell whose failure aborts what was sent after it; "": none
	named   bool      // the front end named that cell
}

// client returns what is known of the client that sent a message.
func (s *shell) client(m *wire.Message) *clientSession {
	c := s.clients[m.Header.Session]
	if c == nil {
		if len(s.clients) >= maxClients {
			clear(s.clients)
		}
		c = &clientSession{}
		s.clients[m.Header.Session] = c
	}
	return c
}

// fail notes that a cell failed, when its client may be told.
func (k *kernel) fail(s *shell, m *wire.Message, cell string) {
	c := s.client(m)
	c.failed, c.named = cell, named(m)
	k.settle(s, m, c.runs && !c.named)
	c.replied = time.Now()
}

// aborted says whether a request was sent behind a cell that failed, and the
// name of that.
func (k *kernel) aborted(s *shell, m *wire.Message) (cell string, yes bool) {
	c := s.client(m)
	behind := m.Received.Before(c.replied)
	c.runs = c.runs || behind
	switch {
	case c.failed == "":
		return "", false
	case behind:
		return c.failed, true
	case c.named && m.Received.Sub(c.replied) < k.options.human && named(m):
		c.replied = m.Received // the run goes on
		return c.failed, true
	}
	c.failed = ""
	return "", false
}

// named says whether the front end named the cell that it sent.
func named(m *wire.Message) bool {
	var metadata struct {
		Cell string `json:"cellId"`
	}
	return json.Unmarshal(m.Metadata, &metadata) == nil && metadata.Cell != ""
}

// settle waits until a client that is sending a run of cells has sent it, or is
// taken to have: one that is expected to, or has sent cells behind the message.
func (k *kernel) settle(s *shell, m *wire.Message, expected bool) {
	arrivals := s.arrivals
	behind := func(other *wire.Message) bool { return other.Header.Session == m.Header.Session }
	var last time.Time
	if expected {
		last = m.Received
	}
	for _, waiting := range s.waiting {
		if behind(waiting) {
			last = waiting.Received
		}
	}
	take := func(arrived *wire.Message) {
		s.waiting = append(s.waiting, arrived)
		if behind(arrived) {
			last = arrived.Received
		}
	}
	for end := time.Now().Add(maxQuiets * k.options.quiet); ; {
		for len(arrivals) > 0 {
			take(<-arrivals)
		}
		if last.IsZero() {
			return
		}
		wait := min(time.Until(last.Add(k.options.quiet)), time.Until(end))
		if wait <= 0 {
			return
		}
		select {
		case arrived := <-arrivals:
			take(arrived)
		case <-time.After(wait):
		case <-k.stop:
			return
		}
	}
}

// next returns the next message of a shell, or nil when that or the kernel ends.
func (k *kernel) next(s *shell) *wire.Message {
	select {
	case <-k.stop:
		return nil
	case <-s.closed:
		return nil
	default:
	}
	if len(s.waiting) > 0 {
		m := s.waiting[0]
		s.waiting = s.waiting[1:]
		return m
	}
	select {
	case <-k.stop:
		return nil
	case <-s.closed:
		return nil
	case m := <-s.arrivals:
		return m
	}
}
