package local

import (
	"sync/atomic"

	"gocuda/cudaapi/mpi/internal/transport"
)

// request is a send or a receive. The engine's mu guards it, but for over.
type request struct {
	e    *engine
	over atomic.Bool   // set last: then status and err are final
	done chan struct{} // closed when over; made when asked for

	buf  transport.Memory
	typ  transport.Type // of the message that is being received
	peer int            // rank of the world; transport.AnySource
	tag  int

	// A receive that waits for its message is in its context's list.
	context    *context
	posted     bool
	prev, next *request

	// A message that is large, or whose sender waits.
	id     uint64 // of this request
	other  uint64 // of the request at the other end
	addr   uint64 // of the message in its sender's memory
	size   int    // of the message
	want   int    // bytes to move: size, or less if the memory is shorter
	moved  int
	busy   bool  // a goroutine copies
	failed error // how it is to end when the goroutine is done

	status transport.Status
	err    error
}

// doneRequest is any operation that was over at once and has no status.
var doneRequest = func() *request {
	r := &request{done: make(chan struct{})}
	close(r.done)
	r.over.Store(true)
	return r
}()

// complete ends the operation; mu is held.
func (r *request) complete(s transport.Status, err error) {
	if r.over.Load() {
		return
	}
	r.status, r.err = s, err
	r.over.Store(true)
	if r.done != nil {
		close(r.done)
	}
}

func (r *request) state() (transport.Status, bool, error) {
	if !r.over.Load() {
		return transport.Status{}, false, nil
	}
	return r.status, true, r.err
}

func (r *request) Test() (transport.Status, bool, error) {
	if !r.over.Load() {
		r.e.ask()
	}
	return r.state()
}

func (r *request) Cancel() error {
	if r.over.Load() {
		return nil
	}
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if r.posted {
		r.context.unpost(r)
		r.complete(transport.Status{Source: transport.AnySource, Tag: transport.AnyTag, Cancelled: true}, nil)
	}
	return nil
}

func (r *request) Done() <-chan struct{} {
	if r.over.Load() {
		return doneRequest.done
	}
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if r.done == nil {
		r.done = make(chan struct{})
		if r.over.Load() {
			close(r.done)
		}
	}
	r.e.watch()
	return r.done
}

func (r *request) Wait(stop <-chan struct{}) (transport.Status, bool, error) {
	if !r.over.Load() {
		r.e.wait(r.over.Load, r.Done, stop)
	}
	return r.state()
}

// passive is a request that is part of a collective, which sees to progress.
type passive request

func (p *passive) Test() (transport.Status, bool, error) { return (*request)(p).state() }
func (p *passive) Cancel() error                         { return (*request)(p).Cancel() }
