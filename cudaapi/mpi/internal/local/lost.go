package local

import (
	"fmt"
	"slices"

	"gocuda/cudaapi/mpi/internal/transport"
)

func lostError(call string, rank int, how string) error {
	return &transport.Error{Class: transport.ProcLost, Call: call, Text: fmt.Sprintf("rank %d of the world was lost: %s", rank, how)}
}

// lose records that a rank has ended. What it had sent can still be received.
func (e *engine) lose(rank int, how string) {
	if rank < 0 || rank >= e.size || rank == e.rank {
		return
	}
	e.mu.Lock()
	if !e.closed {
		for e.drain() {
			continue
		}
		e.markLost(rank, how)
	}
	e.mu.Unlock()
	e.advance()
}

// loseLauncher records that nobody will tell any more who ended.
func (e *engine) loseLauncher() {
	e.mu.Lock()
	if !e.closed {
		const how = "the job's launcher has ended"
		e.launcher = &transport.Error{Class: transport.ProcLost, Call: "MPI", Text: how}
		e.signalLoss(-1)
		e.unheard()
		e.failAll(func(*request) error { return e.launcher })
	}
	e.mu.Unlock()
	e.advance()
}

// signalLoss makes known in the communicators of a rank, or in all, that it is lost.
func (e *engine) signalLoss(rank int) {
	e.losses.Add(1)
	for _, c := range e.contexts {
		if rank < 0 || c.has(rank) {
			c.markLost()
		}
	}
}

func (c *context) markLost() {
	select {
	case <-c.lost:
	default:
		if c.lost != nil {
			close(c.lost)
		}
	}
}

// markLost ends all operations with a rank, and those of which it may be part.
func (e *engine) markLost(rank int, how string) {
	p := &e.peers[rank]
	if p.lost != nil {
		return
	}
	p.lost = lostError("MPI", rank, how)
	e.signalLoss(rank)
	p.in = nil
	e.failAll(func(r *request) error {
		switch {
		case r.peer == rank:
			return p.lost
		case r.peer == transport.AnySource && r.context.has(rank):
			return p.lost
		}
		return nil
	})
	e.queued -= len(p.backlog)
	p.backlog = nil
}

// lossIn is why operations over a whole communicator fail.
func (e *engine) lossIn(c *context) error {
	switch {
	case c.revoked:
		return errRevoked
	case e.losses.Load() == 0:
		return nil
	case e.launcher != nil:
		return e.launcher
	}
	for _, rank := range c.group {
		if err := e.peers[rank].lost; err != nil {
			return err
		}
	}
	return nil
}

// has tells whether a rank of the world is in the communicator.
func (c *context) has(rank int) bool {
	_, ok := c.rankOf[rank]
	return ok
}

// failAll ends the operations for which why gives an error.
func (e *engine) failAll(why func(*request) error) {
	end := func(r *request) bool {
		err := why(r)
		switch {
		case err == nil:
			return false
		case r.busy: // its memory is being written
			r.failed = err
			return false
		}
		r.complete(transport.Status{}, err)
		return true
	}
	for _, c := range e.contexts {
		for r := c.first; r != nil; {
			next := r.next
			if end(r) {
				c.unpost(r)
			}
			r = next
		}
		for _, m := range c.unexpected {
			if m.self != nil {
				end(m.self)
			}
		}
	}
	for id, r := range e.sends {
		if end(r) {
			delete(e.sends, id)
		}
	}
	for id, r := range e.recvs {
		if end(r) {
			delete(e.recvs, id)
		}
	}
	for i := range e.peers {
		for _, q := range e.peers[i].backlog {
			if q.owns != nil {
				end(q.owns)
			}
		}
	}
	e.pulls = slices.DeleteFunc(e.pulls, end)
	e.pushes = slices.DeleteFunc(e.pushes, end)
}
