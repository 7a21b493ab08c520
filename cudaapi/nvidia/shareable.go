//go:build linux && (amd64 || arm64)

package nvidia

import (
	"errors"
	"sync"
	"sync/atomic"

	"gocuda/cudaapi/driver"
)

// shareable are the events that other processes can open, or have made, each
// with its context.
type shareable struct {
	n      atomic.Int32
	mu     sync.RWMutex
	events map[driver.Event]driver.Context
}

func (s *shareable) any() bool { return s.n.Load() > 0 }

func (s *shareable) owner(e driver.Event) (driver.Context, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c, ok := s.events[e]
	return c, ok
}

func (s *shareable) add(e driver.Event, c driver.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.events == nil {
		s.events = map[driver.Event]driver.Context{}
	}
	s.events[e] = c
	s.n.Store(int32(len(s.events)))
}

func (s *shareable) remove(e driver.Event) {
	if !s.any() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.events, e)
	s.n.Store(int32(len(s.events)))
}

// waitAcross has a stream wait for an interprocess event of another context.
// libcuda 580 (CUDA 13.0) dies of a segmentation fault in cuStreamWaitEvent when
// asked for that, so a stream of the event's own context waits for it, and the
// other stream for a plain event there. The stream is a new one, since what waits
// on it must not hold up other such waits.
func (d *Driver) waitAcross(owner driver.Context, e driver.Event, c driver.Context, s driver.Stream) (err error) {
	bridge, err := d.StreamCreate(owner, driver.StreamNonBlocking, 0)
	if err != nil {
		return err
	}
	// Both go once what is queued is done: these calls do not wait.
	defer func() { err = errors.Join(err, d.StreamDestroy(owner, bridge)) }()
	plain, err := d.EventCreate(owner, driver.EventDisableTiming)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.EventDestroy(owner, plain)) }()
	if err := d.StreamWaitEvent(owner, bridge, e); err != nil {
		return err
	}
	if err := d.EventRecord(owner, plain, bridge); err != nil {
		return err
	}
	return d.StreamWaitEvent(c, s, plain)
}
