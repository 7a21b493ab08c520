package mpi

import (
	"slices"
	"sync"
	"sync/atomic"

	"gocuda/cudaapi/mpi/waitfor"
)

// Request is an operation under way, of Isend, Irecv and the like. It must be
// waited for, or tested until it is complete, before its buffers are used. A nil
// Request is one that is complete (MPI_REQUEST_NULL).
type Request struct {
	p pending

	mu     sync.Mutex // held by whoever asks the transport
	done   bool
	status Status
	err    error

	again func() (pending, error) // starts a persistent operation
	idle  atomic.Bool             // it is not under way, or its end was told
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
		r.finish(st, err)
	}
	return st, err
}

// finish keeps how the operation ended.
func (r *Request) finish(st Status, err error) {
	r.done, r.status, r.err = true, st, err
	r.idle.Store(true)
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
		r.finish(r.p.over(st, err))
	}
	return r.status, true, r.err
}

// SendInit makes a persistent send (MPI_Send_init): a Request that is not under
// way until [Request.Start] starts it, and can be started again whenever it is
// complete. Each time it sends what buf holds by then.
func (c *Comm) SendInit(buf any, dest, tag int) (*Request, error) {
	const call = "Comm.SendInit"
	if _, bad := resolve(call, buf); bad != nil {
		return nil, c.at(bad)
	}
	if err := c.check(call, dest, tag); err != nil {
		return nil, err
	}
	return persistent(func() (pending, error) { return c.isend("Request.Start", buf, dest, tag, false) }), nil
}

// RecvInit makes a persistent receive (MPI_Recv_init), as SendInit does a send.
func (c *Comm) RecvInit(buf any, source, tag int) (*Request, error) {
	const call = "Comm.RecvInit"
	m, bad := resolve(call, buf)
	if bad != nil {
		return nil, c.at(bad)
	}
	if err := c.checkWritable(call, &m); err != nil {
		return nil, err
	}
	if err := c.checkRecv(call, source, tag); err != nil {
		return nil, err
	}
	return persistent(func() (pending, error) { return c.irecv("Request.Start", buf, source, tag) }), nil
}

func persistent(again func() (pending, error)) *Request {
	r := &Request{again: again, done: true}
	r.idle.Store(true)
	return r
}

// Start starts a persistent operation (MPI_Start). The one before must be
// complete.
func (r *Request) Start() error {
	const call = "Request.Start"
	if r == nil || r.again == nil {
		return misuse(ErrRequest, call, "the request is not persistent").hint("SendInit, RecvInit and the collectives' Init make persistent ones")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.idle.Load() {
		return r.p.c.misuse(ErrRequest, call, "the operation is under way").hint("wait for it first")
	}
	p, err := r.again()
	if err == nil {
		r.p, r.done, r.status, r.err = p, false, Status{}, nil
		r.idle.Store(false)
	}
	return err
}

// StartAll starts several (MPI_Startall).
func StartAll(requests ...*Request) error {
	for _, r := range requests {
		if err := r.Start(); err != nil {
			return err
		}
	}
	return nil
}

// waits tells whether a request is one to wait for: there is one, and its end was not
// told by Wait or Test.
func (r *Request) waits() bool { return r != nil && !r.idle.Load() }

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

// WaitAny blocks until one is complete, and gives its index (MPI_Waitany). Passed over
// are nil requests, those whose end was told before, by whatever call, and persistent
// ones that are not under way; if no others are there, the index is -1 at once.
func WaitAny(requests ...*Request) (int, Status, error) {
	x := newWaiter(nil) // of no world yet: all requests may be nil
	defer x.done()
	for {
		i, st, done, err := TestAny(requests...)
		if done {
			return i, st, err
		}
		r := first(requests)
		if r == nil { // another goroutine was told about the last
			continue
		}
		x.w = r.p.c.w
		p := r.p
		p.call, p.kind = "mpi.WaitAny", waitfor.Other
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
// there is none to wait for, it says yes and -1.
func TestAny(requests ...*Request) (int, Status, bool, error) {
	for i, r := range requests {
		if !r.waits() {
			continue
		}
		if st, done, err := r.Test(); done {
			return i, st, true, err
		}
	}
	return -1, Status{}, first(requests) == nil, nil
}

// WaitSome blocks until one or more are complete, and gives their indexes and ends
// (MPI_Waitsome); if there is none to wait for, none at once. What it says of
// requests is as WaitAny has it. If some failed, the error is the first one's.
func WaitSome(requests ...*Request) ([]int, []Status, error) {
	i, st, err := WaitAny(requests...)
	if i < 0 {
		return nil, nil, err
	}
	indexes, list := []int{i}, []Status{st}
	for j := i + 1; j < len(requests); j++ {
		if !requests[j].waits() {
			continue
		}
		st, done, wrong := requests[j].Test()
		if !done {
			continue
		}
		indexes, list = append(indexes, j), append(list, st)
		if err == nil {
			err = wrong
		}
	}
	return indexes, list, err
}

// first is the first request to wait for.
func first(requests []*Request) *Request {
	i := slices.IndexFunc(requests, (*Request).waits)
	if i < 0 {
		return nil
	}
	return requests[i]
}
