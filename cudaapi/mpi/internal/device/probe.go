package device

import (
	"runtime"

	"gocuda/cudaapi/mpi/internal/transport"
)

// looked is a message of an envelope's length that a probe took out of the
// queue, to tell how long it really is.
type looked struct {
	status transport.Status // as it came
	bytes  int              // of what it stands for
	text   []byte
}

// Imrecv gives the message as it came.
func (m *looked) Imrecv(to transport.Memory) (transport.Request, error) {
	if to.Bytes() < len(m.text) {
		st := m.status
		st.Bytes = to.Bytes()
		return &over{st, tooLong(m.bytes, to.Bytes())}, nil
	}
	copy(bytesOf(to), m.text)
	return &over{m.status, nil}, nil
}

func (m *looked) tells() transport.Status {
	st := m.status
	st.Bytes = m.bytes
	return st
}

// over is a receive that is complete.
type over struct {
	status transport.Status
	err    error
}

func (o *over) Test() (transport.Status, bool, error) { return o.status, true, o.err }
func (o *over) Cancel() error                         { return nil }

// look receives a message that was set aside.
func (p *Port) look(m transport.Message) (*looked, error) {
	l := &looked{text: make([]byte, Inline)}
	r, err := m.Imrecv(memoryOf(l.text))
	for done := false; err == nil && !done; {
		if l.status, done, err = r.Test(); !done {
			runtime.Gosched()
		}
	}
	if err != nil {
		return nil, err
	}
	l.bytes = len(l.text)
	if env, ok := open(l.text, p.e.mark); ok {
		l.bytes = int(env.bytes)
	}
	return l, nil
}

// kept finds a message that Iprobe has looked into and left. They came before
// whatever is still in the queue. p.mu is held.
func (p *Port) kept(source, tag int) int {
	for i, l := range p.left {
		if (source == transport.AnySource || source == l.status.Source) && (tag == transport.AnyTag || tag == l.status.Tag) {
			return i
		}
	}
	return -1
}

func (p *Port) take(source, tag int) *looked {
	if p.leftN.Load() == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.kept(source, tag)
	if i < 0 {
		return nil
	}
	l := p.left[i]
	p.left = append(p.left[:i], p.left[i+1:]...)
	p.leftN.Add(-1)
	return l
}

// irecv is the transport's, but for messages that Iprobe has left.
func (p *Port) irecv(m transport.Memory, source, tag int) (transport.Request, error) {
	if l := p.take(source, tag); l != nil {
		return l.Imrecv(m)
	}
	return p.data.Irecv(m, source, tag)
}

// Iprobe is the transport's Iprobe, and tells the length of messages of device
// memory as it is.
func (p *Port) Iprobe(source, tag int) (transport.Status, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := p.kept(source, tag); i >= 0 {
		return p.left[i].tells(), true, nil
	}
	st, ok, err := p.data.Iprobe(source, tag)
	if err != nil || !ok || st.Bytes != Inline {
		return st, ok, err
	}
	m, st, ok, err := p.data.Improbe(st.Source, st.Tag)
	if err != nil || !ok {
		return st, false, err // another goroutine was quicker
	}
	l, err := p.look(m)
	if err != nil {
		return st, false, err
	}
	p.left = append(p.left, l)
	p.leftN.Add(1)
	return l.tells(), true, nil
}

// Improbe is the transport's Improbe, in the same way.
func (p *Port) Improbe(source, tag int) (transport.Message, transport.Status, bool, error) {
	if l := p.take(source, tag); l != nil {
		return l, l.tells(), true, nil
	}
	m, st, ok, err := p.data.Improbe(source, tag)
	if err != nil || !ok || st.Bytes != Inline {
		return m, st, ok, err
	}
	l, err := p.look(m)
	if err != nil {
		return nil, st, false, err
	}
	return l, l.tells(), true, nil
}
