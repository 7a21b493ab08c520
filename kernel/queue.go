package kernel

import (
	"time"

	"gocuda/kernel/wire"
)

// When a cell fails, the requests behind it must not run: those that wait in
// the kernel, those still on their way, and those that a front end is about to
// send because it runs all cells. A cell may fail within a fraction of a
// millisecond, before the next request has arrived.
//
// So a failure is kept back until no request has come for a moment; whatever
// came until then was sent by somebody who did not know of it. A request that
// was longer on its way is known by its date.

const (
	// quietTime is for how long no request must have come. A cell that fails
	// later than that after the last request is not kept back at all.
	quietTime = 25 * time.Millisecond
	// maxSettle bounds how long a failure is kept back.
	maxSettle = 500 * time.Millisecond
)

// settle waits until the front ends have sent what they are about to send. The
// last request seen was received at the given time.
func (k *kernel) settle(last time.Time) {
	arrivals := k.sockets.Messages(wire.Shell)
	end := time.Now().Add(maxSettle)
	for {
		for len(arrivals) > 0 {
			m := <-arrivals
			k.waiting = append(k.waiting, m)
			last = m.Received
		}
		wait := min(time.Until(last.Add(k.options.quiet)), time.Until(end))
		if wait <= 0 {
			return
		}
		select {
		case m := <-arrivals:
			k.waiting = append(k.waiting, m)
			last = m.Received
		case <-time.After(wait):
		case <-k.stop:
			return
		}
	}
}

// next returns the next message of a channel, or nil when the kernel ends.
func (k *kernel) next(ch wire.Channel) *wire.Message {
	select {
	case <-k.stop:
		return nil
	default:
	}
	if ch == wire.Shell && len(k.waiting) > 0 {
		m := k.waiting[0]
		k.waiting = k.waiting[1:]
		return m
	}
	select {
	case <-k.stop:
		return nil
	case m := <-k.sockets.Messages(ch):
		return m
	}
}

// clocks holds, for each client session, how much later than its date a
// message was received at the least: the difference between the two machines'
// clocks, plus the quickest transfer seen.
type clocks map[string]time.Duration

const (
	// maxTransfer is the longest time that is taken for a transfer between
	// machines of one clock. Beyond it the clocks differ.
	maxTransfer = 50 * time.Millisecond
	// maxDelay bounds how late a message may arrive for its date to count,
	// so that a clock that is set does no lasting harm.
	maxDelay  = 5 * time.Second
	maxClocks = 1024
)

// sentBefore says whether the message was sent before t. Where that is not
// sure it says false.
func (c clocks) sentBefore(m *wire.Message, t time.Time) bool {
	sent := m.Sent()
	if sent.IsZero() {
		return m.Received.Before(t)
	}
	late := m.Received.Sub(sent)
	if known, ok := c[m.Header.Session]; ok && known < late {
		late = known
	} else {
		if len(c) >= maxClocks {
			clear(c)
		}
		c[m.Header.Session] = late
	}
	if late < 0 || late > maxTransfer {
		sent = sent.Add(late)
	}
	return m.Received.Sub(t) < maxDelay && sent.Before(t)
}
