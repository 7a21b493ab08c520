package device

import (
	"sync"
	"time"

	"gocuda/cudaapi/mpi/internal/transport"
)

// hostReceive is a receive into host memory whose message may turn out to be an
// RTS. It is most often not, so all that an RTS needs is made only then; and until
// its message is there, the transport moves it on, not the engine.
type hostReceive struct {
	p  *Port
	to transport.Memory

	mu     sync.Mutex
	req    transport.Request
	over   bool
	st     transport.Status
	err    error
	behind *operation    // what an RTS stands for
	small  *[Inline]byte // where a message comes for memory that is too short for an RTS
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
	if m.Bytes() < Inline && !p.devices {
		return p.irecv(m, source, tag) // no RTS comes
	}
	return p.receivingHost(m, func(m transport.Memory) (transport.Request, error) { return p.irecv(m, source, tag) })
}

// ImrecvHost receives a message that was set aside into host memory.
func (p *Port) ImrecvHost(m transport.Message, to transport.Memory) (transport.Request, error) {
	if to.Bytes() < Inline && !p.devices {
		return m.Imrecv(to)
	}
	return p.receivingHost(to, m.Imrecv)
}

var smalls = sync.Pool{New: func() any { return new([Inline]byte) }}

func (p *Port) receivingHost(to transport.Memory, begin func(transport.Memory) (transport.Request, error)) (transport.Request, error) {
	in, small := to, (*[Inline]byte)(nil)
	if to.Bytes() < Inline {
		small = smalls.Get().(*[Inline]byte)
		in = Host(small[:])
		in.Elem = to.Elem
	}
	req, err := begin(in)
	if err != nil {
		return nil, err
	}
	if _, ok := req.(transport.Waiter); ok {
		w := waitings.Get().(*waiting)
		w.p, w.to, w.req, w.small = p, to, req, small
		return w, nil
	}
	r := receives.Get().(*hostReceive)
	r.p, r.to, r.req, r.small = p, to, req, small
	return r, nil
}

// came is what the transport has received into.
func (r *hostReceive) came() []byte {
	if r.small != nil {
		return r.small[:]
	}
	return bytesOf(r.to)
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
		if b := r.came(); [16]byte(b) == r.p.e.mark {
			into := bytesOf(r.to)
			x := &receiving{p: r.p, req: r.req, at: landing{host: b}, target: target{into: into, room: len(into)}}
			x.o = &operation{progress: &r.p.e.progress, step: x.step, cancel: r.req.Cancel}
			r.behind = x.o
			return r.behind.Test()
		}
	}
	if r.small != nil && err == nil && !st.Cancelled {
		if n := r.to.Bytes(); st.Bytes > n {
			err = tooLong(st.Bytes, n)
			st.Bytes = n
		} else {
			copy(bytesOf(r.to), r.small[:st.Bytes])
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
	if r.small != nil {
		smalls.Put(r.small)
	}
	r.p, r.to, r.req, r.small, r.over, r.st, r.err = nil, transport.Memory{}, nil, nil, false, transport.Status{}, nil
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
