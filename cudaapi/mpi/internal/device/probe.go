package device

import (
	"runtime"
	"sync"

	"gocuda/cudaapi/mpi/internal/transport"
)

// peeked is a message of an RTS's length that a probe took out of the queue, to tell
// how long it really is.
type peeked struct {
	status transport.Status // as it came
	bytes  int              // of what it stands for
	text   []byte
}

// Imrecv gives the message as it came.
func (m *peeked) Imrecv(to transport.Memory) (transport.Request, error) {
	if to.Bytes() < len(m.text) {
		st := m.status
		st.Bytes = to.Bytes()
		return &complete{st, tooLong(m.bytes, to.Bytes())}, nil
	}
	copy(bytesOf(to), m.text)
	return &complete{m.status, nil}, nil
}

func (m *peeked) told() transport.Status {
	st := m.status
	st.Bytes = m.bytes
	return st
}

// complete is a receive that is.
type complete struct {
	status transport.Status
	err    error
}

func (o *complete) Test() (transport.Status, bool, error) { return o.status, true, o.err }
func (o *complete) Cancel() error                         { return nil }

// peek receives a message that was set aside.
func (p *Port) peek(m transport.Message) (*peeked, error) {
	l := &peeked{text: make([]byte, Inline)}
	r, err := m.Imrecv(Host(l.text))
	for done := false; err == nil && !done; {
		if l.status, done, err = r.Test(); !done {
			runtime.Gosched()
		}
	}
	if err != nil {
		return nil, err
	}
	l.bytes = len(l.text)
	if head, ok := readRTS(l.text, p.e.mark); ok {
		l.bytes = int(head.bytes)
	}
	return l, nil
}

// probed are the messages that Iprobe looked into, as they came.
type probed struct {
	mu   sync.Mutex
	left []*peeked
}

// kept finds a message that Iprobe has looked into and left. They came before
// whatever is still in the queue. p.probed.mu is held.
func (p *Port) kept(source, tag int) int {
	for i, l := range p.probed.left {
		if (source == transport.AnySource || source == l.status.Source) && (tag == transport.AnyTag || tag == l.status.Tag) {
			return i
		}
	}
	return -1
}

// take gives a message that Iprobe has left. p.probed.mu is held.
func (p *Port) take(source, tag int) *peeked {
	i := p.kept(source, tag)
	if i < 0 {
		return nil
	}
	l := p.probed.left[i]
	p.probed.left = append(p.probed.left[:i], p.probed.left[i+1:]...)
	return l
}

// irecv is the transport's, but for messages that Iprobe has left. Nothing comes
// between the look and the receive: a message that Iprobe takes out in between would
// miss a receive that was posted when it came.
func (p *Port) irecv(m transport.Memory, source, tag int) (transport.Request, error) {
	p.probed.mu.Lock()
	defer p.probed.mu.Unlock()
	if l := p.take(source, tag); l != nil {
		return l.Imrecv(m)
	}
	return p.data.Irecv(m, source, tag)
}

// Iprobe is the transport's Iprobe, and tells the length of messages of device
// memory as it is.
func (p *Port) Iprobe(source, tag int) (transport.Status, bool, error) {
	p.probed.mu.Lock()
	defer p.probed.mu.Unlock()
	if i := p.kept(source, tag); i >= 0 {
		return p.probed.left[i].told(), true, nil
	}
	st, ok, err := p.data.Iprobe(source, tag)
	if err != nil || !ok || st.Bytes != Inline {
		return st, ok, err
	}
	m, st, ok, err := p.data.Improbe(st.Source, st.Tag)
	if err != nil || !ok {
		return st, false, err // another goroutine was quicker
	}
	l, err := p.peek(m)
	if err != nil {
		return st, false, err
	}
	p.probed.left = append(p.probed.left, l)
	return l.told(), true, nil
}

// Improbe is the transport's Improbe, in the same way.
func (p *Port) Improbe(source, tag int) (transport.Message, transport.Status, bool, error) {
	p.probed.mu.Lock()
	defer p.probed.mu.Unlock()
	if l := p.take(source, tag); l != nil {
		return l, l.told(), true, nil
	}
	m, st, ok, err := p.data.Improbe(source, tag)
	if err != nil || !ok || st.Bytes != Inline {
		return m, st, ok, err
	}
	l, err := p.peek(m)
	if err != nil {
		return nil, st, false, err
	}
	return l, l.told(), true, nil
}
