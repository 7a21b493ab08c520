package mpi

import "sync"

// Request is an operation under way, of Isend, Irecv and the like. It must be
// waited for, or tested until it is complete, before its buffers are used. A nil
// Request is one that is complete (MPI_REQUEST_NULL).
type Request struct {
	p pending

	mu     sync.Mutex // held by whoever asks the transport
	done   bool
	status Status
	err    error
}

func request(p pending, err error) (*Request, error) {
	if err != nil {
		return nil, err
	}
	return &Request{p: p}, nil
}

// Wait blocks until the operation is complete, and tells how it ended (MPI_Wait).
// Later calls say the same again. When the wait is interrupted, a receive is
// cancelled; anything else goes on, and may be waited for again.
func (r *Request) Wait() (Status, error) {
	if r == nil {
		return Status{}, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return r.status, r.err
	}
	st, over, err := r.p.block()
	if over {
		r.done, r.status, r.err = true, st, err
	}
	return st, err
}

// Test tells whether the operation is complete, and how it ended (MPI_Test). It
// does not block.
func (r *Request) Test() (Status, bool, error) {
	if r == nil {
		return Status{}, true, nil
	}
	if !r.mu.TryLock() { // another goroutine waits for it
		return Status{}, false, nil
	}
	defer r.mu.Unlock()
	if !r.done {
		st, done, err := r.p.r.Test()
		if !done && err == nil {
			return Status{}, false, nil
		}
		r.done = true
		r.status, r.err = r.p.over(st, err)
	}
	return r.status, true, r.err
}

// Cancel gives a receive up (MPI_Cancel). The request must still be waited for:
// its Status says whether it was Cancelled, or a message had come before. Sends
// and collectives cannot be cancelled, and go on.
func (r *Request) Cancel() error {
	if r == nil || !r.p.recv {
		return nil
	}
	if err := r.p.r.Cancel(); err != nil {
		return r.p.c.fail("Request.Cancel", r.p.peer, err)
	}
	return nil
}

// WaitAll blocks until all are complete (MPI_Waitall), and gives their ends in
// order. If some failed, the error is the first one's. When it is interrupted,
// receives that are not complete are cancelled.
func WaitAll(requests ...*Request) ([]Status, error) {
	list := make([]Status, len(requests))
	var first error
	for i, r := range requests {
		st, err := r.Wait()
		list[i] = st
		if err != nil && first == nil {
			first = err
		}
	}
	return list, first
}

// WaitAny blocks until one is complete, and gives its index (MPI_Waitany). nil
// requests are passed over; if all are nil, the index is -1 at once. Set the
// element to nil before the next WaitAny.
func WaitAny(requests ...*Request) (int, Status, error) {
	x := newWaiter(nil) // of no world yet: all requests may be nil
	defer x.done()
	for {
		i, st, done, err := TestAny(requests...)
		if done {
			return i, st, err
		}
		r := first(requests)
		x.w = r.p.c.w
		p := r.p
		p.call = "mpi.WaitAny"
		if err := x.pause(&p); err != nil {
			return -1, Status{}, err
		}
	}
}

// TestAll tells whether all are complete (MPI_Testall). Until then the statuses
// are nil.
func TestAll(requests ...*Request) ([]Status, bool, error) {
	all := true
	list := make([]Status, len(requests))
	var first error
	for i, r := range requests {
		st, done, err := r.Test()
		list[i], all = st, all && done
		if err != nil && first == nil {
			first = err
		}
	}
	if !all {
		return nil, false, nil
	}
	return list, true, first
}

// TestAny tells whether one is complete, and gives its index (MPI_Testany). If
// all requests are nil, it says yes and -1.
func TestAny(requests ...*Request) (int, Status, bool, error) {
	for i, r := range requests {
		if r == nil {
			continue
		}
		if st, done, err := r.Test(); done {
			return i, st, true, err
		}
	}
	return -1, Status{}, first(requests) == nil, nil
}

func first(requests []*Request) *Request {
	for _, r := range requests {
		if r != nil {
			return r
		}
	}
	return nil
}
