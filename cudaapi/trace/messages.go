package trace

import (
	"slices"
	"strings"
	"time"

	"gocuda/cudaapi/record"
)

// meeting is what a message has to do with other ranks'.
type meeting struct {
	record.Message
	Ended int // how many boxes there were when it ended: later ones come after it
}

// inStreams is the lane of messages in a stream's order: they last from the begin of the
// first operation that carries them out to the end of the last.
const inStreams = "messages in streams"

// Begin is record.Timer's.
func (c *collector) Begin(o *record.Op) {
	c.mu.Lock()
	if len(c.boxes) >= c.limit {
		c.left++
		c.mu.Unlock()
		return
	}
	kind := Message
	if strings.HasPrefix(o.Call, "collective.") || o.Message != nil && o.Message.Role != record.Sends && o.Message.Role != record.Receives {
		kind = Collective
	}
	b := c.box(o, kind)
	b.Lane, b.Bytes, b.Library = "messages", o.Bytes, false
	b.After = slices.Clone(c.host)
	if o.Message != nil {
		b.message = &meeting{Message: *o.Message}
	}
	n := b.ID
	if o.Lane != nil { // in a stream's order: it lasts as long as what carries it out
		b.Lane, b.message = inStreams, nil
		c.carrier = n
		c.mu.Unlock()
		return
	}
	c.carrier = 0
	b.wall[0] = now()
	c.open[o] = n
	c.mu.Unlock()
	c.at(n)
}

// End is record.Timer's.
func (c *collector) End(o *record.Op, came *record.Message) {
	c.mu.Lock()
	n := c.open[o]
	delete(c.open, o)
	if n > 0 {
		c.boxes[n-1].wall[1] = now()
		if came != nil {
			c.boxes[n-1].message = &meeting{Message: *came}
		}
		if m := c.boxes[n-1].message; m != nil {
			m.Ended = len(c.boxes)
		}
		c.host = []int{n}
	}
	c.mu.Unlock()
	if n > 0 {
		c.at(n)
	}
}

// at has the host's time be the begin of a message, or its end.
func (c *collector) at(n int) {
	s := c.current()
	if s == nil || !s.clock().Modelled {
		t := now()
		c.mu.Lock()
		c.unopened = c.unopened || s == nil
		c.messageTime(n, t)
		c.mu.Unlock()
		return
	}
	s.moment(n)
}

// messageTime is the begin of a message, or else its end. c.mu is held.
func (c *collector) messageTime(n int, at time.Duration) {
	b := &c.boxes[n-1]
	if b.Begin == 0 && !c.timed[n-1] {
		b.Issued, b.Begin = at, max(at, 1)
		return
	}
	b.End, c.timed[n-1] = max(at, b.Begin), true
}
