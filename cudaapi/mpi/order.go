package mpi

import (
	"sync"
	"sync/atomic"

	"gocuda/cudaapi/mpi/internal/transport"
)

// A collective of device memory that goes through the host begins when the device is
// done with what was queued before. The call does not wait for that, and the ranks
// begin collectives in the same order: those that come after it wait for it to begin.

// starts are the collectives of a communicator that have not begun.
type starts struct {
	n    atomic.Int32 // len(list), for those who only ask whether there are any
	mu   sync.Mutex
	list []*start
}

// start is one of them.
type start struct {
	ready []func() (bool, error) // what it waits for itself
	begin func() (transport.Request, error)
	begun atomic.Bool // and these are set
	req   transport.Request
	err   error
}

// inOrder begins a collective when all are ready and those before have begun: at once,
// if it can.
func (c *Comm) inOrder(ready []func() (bool, error), begin func() (transport.Request, error)) (transport.Request, error) {
	q := &c.starts
	if len(ready) == 0 && q.n.Load() == 0 {
		return begin()
	}
	s := &start{ready: ready, begin: begin}
	q.mu.Lock()
	q.list = append(q.list, s)
	q.n.Add(1)
	q.mu.Unlock()
	return c.w.dev.Start(func() (bool, error) {
		q.advance()
		if !s.begun.Load() {
			return false, nil
		}
		if s.err != nil {
			return true, s.err
		}
		_, done, err := s.req.Test()
		return done, err
	}), nil
}

// advance begins what can be begun, unless another goroutine is at it.
func (q *starts) advance() {
	if q.n.Load() == 0 || !q.mu.TryLock() {
		return
	}
	defer q.mu.Unlock()
	for len(q.list) > 0 {
		s := q.list[0]
		for len(s.ready) > 0 {
			ready, err := s.ready[0]()
			if err == nil && !ready {
				return
			}
			s.ready = s.ready[1:]
			if s.err = err; err != nil {
				break
			}
		}
		if s.err == nil {
			s.req, s.err = s.begin()
		}
		s.begun.Store(true)
		q.list = q.list[1:]
		q.n.Add(-1)
	}
}

// beginAll waits until all collectives have begun: the next one cannot be begun later.
func (c *Comm) beginAll(call string) error {
	if c.starts.n.Load() == 0 {
		return nil
	}
	x := newWaiter(c.w)
	defer x.done()
	for p := (pending{c: c, call: call, peer: -1, tag: -1, bytes: -1}); ; {
		c.starts.advance()
		if c.starts.n.Load() == 0 {
			return nil
		}
		if err := x.pause(&p); err != nil {
			return err
		}
	}
}

// inTurn begins collectives in their turn.
type inTurn struct {
	c  *Comm
	by collectives
}

func (i inTurn) Start(x *transport.Collective) (transport.Request, error) {
	if i.c.starts.n.Load() == 0 {
		return i.by.Start(x)
	}
	return i.c.inOrder(nil, func() (transport.Request, error) { return i.by.Start(x) })
}
