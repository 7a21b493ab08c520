package device

import (
	"sync"
	"time"

	"gocuda/cudaapi/mpi/internal/transport"
)

// hostReceive is a receive into host memory whose message may turn out to be an
// envelope. It is most often not, so all that envelopes need is made only then;
// and until its message is there, the transport moves it on, not the engine.
type hostReceive struct {
	p  *Port
	to transport.Memory

	mu     sync.Mutex
	req    transport.Request
	over   bool
	st     transport.Status
	err    error
	behind *operation // what an envelope stands for
}

// waiting is one that its transport knows how to wait for.
type waiting struct{ hostReceive }

var (
	receives = sync.Pool{New: func() any { return new(hostReceive) }}
	waitings = sync.Pool{New: func() any { return new(waiting) }}
)

// IrecvHost starts a receive into host memory, which may be of a message of
// device memory.
func (p *Port) IrecvHost(m transport.Memory, source, tag int) (transport.Request, error) {
	req, err := p.irecv(m, source, tag)
	if err != nil || m.Bytes() < Inline {
		return req, err // an envelope is too long for it, as the message is
	}
	return p.receivingHost(req, m), nil
}

// ImrecvHost receives a message that was set aside into host memory.
func (p *Port) ImrecvHost(m transport.Message, to transport.Memory) (transport.Request, error) {
	req, err := m.Imrecv(to)
	if err != nil {
		return req, err
	}
	return p.receivingHost(req, to), nil
}

func (p *Port) receivingHost(req transport.Request, to transport.Memory) transport.Request {
	if _, ok := req.(transport.Waiter); ok {
		w := waitings.Get().(*waiting)
		w.p, w.to, w.req = p, to, req
		return w
	}
	r := receives.Get().(*hostReceive)
	r.p, r.to, r.req = p, to, req
	return r
}

// Test moves the message on and tells whether it is over.
func (r *hostReceive) Test() (transport.Status, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.over:
		return r.st, true, r.err
	case r.behind != nil:
		return r.behind.Test()
	}
	st, done, err := r.req.Test()
	if !done && err == nil {
		return transport.Status{}, false, nil
	}
	if err == nil && !st.Cancelled && st.Bytes == Inline {
		if b := bytesOf(r.to); [16]byte(b) == r.p.e.mark {
			x := &receiving{p: r.p, req: r.req, host: b, room: len(b)}
			x.o = &operation{e: r.p.e, step: x.step, cancel: r.req.Cancel}
			r.behind = x.o
			return r.behind.Test()
		}
	}
	r.over, r.st, r.err = true, st, err
	return st, true, err
}

// Cancel gives up a receive that has no message yet.
func (r *hostReceive) Cancel() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.over:
		return nil
	case r.behind != nil:
		return r.behind.Cancel()
	}
	return r.req.Cancel()
}

// release gives back what the transport has, and tells whether nothing is in use.
func (r *hostReceive) release() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		return false
	}
	if t, ok := r.req.(transport.Releaser); ok {
		t.Release()
	}
	r.p, r.to, r.req, r.over, r.st, r.err = nil, transport.Memory{}, nil, false, transport.Status{}, nil
	return true
}

// Release keeps the receive for the next one.
func (r *hostReceive) Release() {
	if r.release() {
		receives.Put(r)
	}
}

func (w *waiting) Release() {
	if w.release() {
		waitings.Put(w)
	}
}

// Wait blocks until the message is there, or stop is closed.
func (w *waiting) Wait(stop <-chan struct{}) (transport.Status, bool, error) {
	if _, done, err := w.req.(transport.Waiter).Wait(stop); err == nil && !done {
		return transport.Status{}, false, nil
	}
	for {
		if st, done, err := w.Test(); done || err != nil {
			return st, done, err
		}
		select {
		case <-stop:
			return transport.Status{}, false, nil
		case <-time.After(5 * time.Microsecond): // a device copies
		}
	}
}

// Done's channel is closed when the message, or what stands for it, is there.
func (w *waiting) Done() <-chan struct{} { return w.req.(transport.Waiter).Done() }
