package ipc

import (
	"errors"
	"sync"

	"gocuda/cudaapi/cuda"
)

// Lane is where a package's own work on a device goes: a stream of its own, and
// an event that orders it among the callers' streams.
type Lane struct {
	Device *cuda.Device
	Stream *cuda.Stream

	mu   sync.Mutex
	edge *cuda.Event // not one of those for other processes, which take longer
}

// NewLane makes a lane; its blocks come before those of other streams if it is
// urgent.
func NewLane(d *cuda.Device, urgent bool) (*Lane, error) {
	priority := 0
	var err error
	if urgent {
		if _, priority, err = d.StreamPriorityRange(); err != nil {
			return nil, err
		}
	}
	l := &Lane{Device: d}
	if l.Stream, err = d.NewStreamWithPriority(priority, cuda.NonBlocking); err != nil {
		return nil, err
	}
	if l.edge, err = d.NewEvent(cuda.DisableTiming); err != nil {
		return nil, errors.Join(err, l.Stream.Destroy())
	}
	return l, nil
}

// Follow makes the lane's later work follow what is on a stream; nil is the
// default stream.
func (l *Lane) Follow(s *cuda.Stream) error { return l.Order(s, l.Stream) }

// Lead makes a stream's later work follow what is on the lane.
func (l *Lane) Lead(s *cuda.Stream) error { return l.Order(l.Stream, s) }

// Order makes a stream's later work follow what is on another.
func (l *Lane) Order(first, then *cuda.Stream) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.edge.Record(first); err != nil {
		return err
	}
	return then.WaitEvent(l.edge)
}

// Close waits for the lane's work and gives it back.
func (l *Lane) Close() error {
	return errors.Join(l.Stream.Synchronize(), l.Stream.Destroy(), l.edge.Destroy())
}
