package coll

import (
	"sync"

	"gocuda/cudaapi/mpi/internal/transport"
)

type stepKind uint8

const (
	stepSend stepKind = iota
	stepRecv
	stepCopy
	stepReduce
	stepWait
)

// step is one thing to do. Sends and receives are begun in their order and go
// on while later steps are done, up to the next wait.
type step struct {
	kind    stepKind
	peer    int
	a, b, c Memory
}

// plan is a collective being written.
type plan struct {
	Env
	rank, size int
	op         Op
	steps      []step
	frees      []func()
	err        error
}

func newPlan(env Env) *plan {
	return &plan{Env: env, rank: env.Peers.Rank(), size: env.Peers.Size()}
}

func (p *plan) send(m Memory, to int) {
	p.steps = append(p.steps, step{kind: stepSend, a: m, peer: to})
}
func (p *plan) recv(m Memory, from int) {
	p.steps = append(p.steps, step{kind: stepRecv, a: m, peer: from})
}

func (p *plan) unit() int { return max(1, p.op.Unit) }

// wait ends a round: all that was begun is complete, and what was received can
// be used and what was sent overwritten.
func (p *plan) wait() { p.steps = append(p.steps, step{kind: stepWait}) }

// copy is complete for the steps after it, as is reduce: dst = a op b.
func (p *plan) copy(dst, src Memory) {
	if src.N > 0 && dst.P != src.P {
		p.steps = append(p.steps, step{kind: stepCopy, a: dst, b: src})
	}
}

func (p *plan) reduce(dst, a, b Memory) {
	if dst.N > 0 {
		p.steps = append(p.steps, step{kind: stepReduce, a: dst, b: a, c: b})
	}
}

// alloc is memory until the collective is over.
func (p *plan) alloc(n int, t transport.Type) Memory {
	if n == 0 || p.err != nil {
		return Memory{T: t, N: n}
	}
	m, free, err := p.Space.Alloc(n, t)
	if err != nil {
		p.err = err
		return Memory{T: t}
	}
	if free != nil {
		p.frees = append(p.frees, free)
	}
	return m
}

// start makes the plan a Request and does what can be done at once.
func (p *plan) start() (*Request, error) {
	r := &Request{plan: p}
	if p.err != nil {
		r.finish(p.err)
		return nil, p.err
	}
	r.Advance()
	return r, nil
}

// Request is a collective under way. It is a transport.Request.
type Request struct {
	mu      sync.Mutex
	plan    *plan
	next    int                 // step
	pending []transport.Request // sends and receives
	local   transport.Request   // a copy or reduction that goes on
	over    bool
	err     error
}

// Test moves the collective on and tells whether it is over.
func (r *Request) Test() (transport.Status, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.advance()
	return transport.Status{}, r.over, r.err
}

// Cancel does nothing: a collective cannot be cancelled.
func (r *Request) Cancel() error { return nil }

// Advance is Test for those who only want it moved on: it does nothing if
// another goroutine is at it. It reports whether the collective is over.
func (r *Request) Advance() (over bool) {
	if !r.mu.TryLock() {
		return false
	}
	defer r.mu.Unlock()
	r.advance()
	return r.over
}

// Fail ends the collective with an error unless it is over.
func (r *Request) Fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.abandon(err)
	}
}

// abandon ends it before its time: nothing that comes late shall be written
// into memory that is not the collective's any more.
func (r *Request) abandon(err error) {
	for _, q := range r.pending {
		q.Cancel()
		q.Test()
	}
	r.finish(err)
}

func (r *Request) advance() {
	if r.over {
		return
	}
	p := r.plan
	for r.next < len(p.steps) {
		s := &p.steps[r.next]
		var (
			q   transport.Request
			err error
		)
		switch s.kind {
		case stepSend:
			q, err = p.Peers.Isend(s.a, s.peer, p.Tag)
		case stepRecv:
			q, err = p.Peers.Irecv(s.a, s.peer, p.Tag)
		case stepWait:
			if !r.settled() {
				return
			}
		case stepCopy, stepReduce:
			if r.local == nil {
				if s.kind == stepCopy {
					r.local, err = p.Space.Copy(s.a, s.b)
				} else {
					r.local, err = p.op.Reduce(s.a, s.b, s.c)
				}
			}
			if r.local != nil && err == nil {
				var done bool
				if _, done, err = r.local.Test(); err == nil && !done {
					return
				}
				r.local = nil
			}
		}
		if err != nil {
			r.abandon(err)
		}
		if r.over {
			return
		}
		if q != nil {
			r.pending = append(r.pending, q)
		}
		r.next++
	}
	if r.settled() {
		r.finish(nil)
	}
}

// settled tells whether all that was begun is complete.
func (r *Request) settled() bool {
	var failed error
	left := r.pending[:0]
	for _, q := range r.pending {
		_, done, err := q.Test()
		if err != nil {
			failed = err
		} else if !done {
			left = append(left, q)
		}
	}
	clear(r.pending[len(left):])
	r.pending = left
	if failed != nil {
		r.abandon(failed)
		return false
	}
	return len(left) == 0
}

func (r *Request) finish(err error) {
	r.over, r.err = true, err
	for _, free := range r.plan.frees {
		free()
	}
	r.plan.frees, r.plan.steps, r.pending = nil, nil, nil
}
