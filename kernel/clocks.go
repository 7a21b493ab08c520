package kernel

import (
	"time"

	"gocuda/kernel/wire"
)

// When a cell fails, the requests behind it must not run: those that wait in
// the kernel, and also those still on their way. A front end that runs all
// cells sends its requests at once, and a cell may fail within a fraction of a
// millisecond, before the next request has arrived. What tells that request
// from one that a user sent because of the failure is its date: it was sent
// before the failure was known to anybody.

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
