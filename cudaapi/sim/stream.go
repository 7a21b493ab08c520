package sim

import (
	"gocuda/cudaapi/driver"
)

type stream struct {
	id       driver.Stream
	ctx      *context
	blocking bool // orders itself with the legacy stream
	legacy   bool
	priority int
	last     *op
	count    int
	mark     [2]*op // the operations maxQueued and twice that many ago
	capture  *capture
	tail     []*node // of the capture: what the next node follows
}

const (
	leastPriority    = 0
	greatestPriority = -5
)

// stream finds a stream by its handle; the default ones are those of c.
// m.mu is held.
func (m *Driver) stream(call string, c *context, s driver.Stream) (*stream, error) {
	switch s {
	case driver.StreamDefault, driver.StreamLegacy:
		return c.legacy, nil
	case driver.StreamPerThread:
		return c.thread, nil
	}
	if st := m.streams[s]; st != nil {
		return st, nil
	}
	return nil, fail(call, driver.ErrInvalidHandle, "the stream does not exist or was destroyed")
}

// target finds the context and the stream of a call that adds work, once the
// stream has room. m.mu is held on return, whatever it returns.
func (m *Driver) target(call string, c driver.Context, s driver.Stream) (*context, *stream, error) {
	m.mu.Lock()
	for {
		ctx, err := m.usable(call, c)
		if err != nil {
			return nil, nil, err
		}
		st, err := m.stream(call, ctx, s)
		if err != nil {
			return nil, nil, err
		}
		if st.ctx != ctx {
			if err := st.ctx.failed(call); err != nil {
				return nil, nil, err
			}
		}
		if err := st.implicit(call); err != nil {
			return nil, nil, err
		}
		full := st.mark[1]
		if st.count < maxQueued || full == nil || full.state == opFinished {
			return ctx, st, nil
		}
		m.mu.Unlock()
		m.wait(full, nil) //nolint:errcheck // it cannot be interrupted
		m.mu.Lock()
	}
}

// push enqueues an operation of a call and keeps count of what is queued.
// m.mu is held.
func (m *Driver) push(s *stream, o *op) {
	o.late = o.late || m.delaying.Load() > 0
	if s.capture != nil {
		s.capture.add(s, o)
		return
	}
	if s.count++; s.count > maxQueued {
		s.count = 1
		s.mark[1], s.mark[0] = s.mark[0], o
	}
	m.enqueue(s, o)
}

// StreamPriorityRange has six priorities, as current devices have.
func (m *Driver) StreamPriorityRange(c driver.Context) (least, greatest int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err = m.usable("cuCtxGetStreamPriorityRange", c)
	return leastPriority, greatestPriority, err
}

// StreamCreate makes a stream; a priority out of range is moved into it.
func (m *Driver) StreamCreate(c driver.Context, f driver.StreamFlags, priority int) (driver.Stream, error) {
	const call = "cuStreamCreateWithPriority"
	m.mu.Lock()
	defer m.mu.Unlock()
	ctx, err := m.usable(call, c)
	if err != nil {
		return 0, err
	}
	if f > driver.StreamNonBlocking {
		return 0, fail(call, driver.ErrInvalidValue, "flags %#x", uint32(f))
	}
	s := &stream{id: driver.Stream(m.handle()), ctx: ctx, blocking: f == driver.StreamBlocking,
		priority: min(max(priority, greatestPriority), leastPriority)}
	m.streams[s.id], ctx.streams[s.id] = s, s
	return s.id, nil
}

// StreamGetFlags tells how a stream was made.
func (m *Driver) StreamGetFlags(c driver.Context, id driver.Stream) (driver.StreamFlags, error) {
	const call = "cuStreamGetFlags"
	m.mu.Lock()
	defer m.mu.Unlock()
	ctx, err := m.usable(call, c)
	if err != nil {
		return 0, err
	}
	s, err := m.stream(call, ctx, id)
	if err != nil || s.blocking || s.legacy {
		return driver.StreamBlocking, err
	}
	return driver.StreamNonBlocking, nil
}

// StreamDestroy lets queued work run and forgets the stream once it is done.
func (m *Driver) StreamDestroy(c driver.Context, id driver.Stream) error {
	const call = "cuStreamDestroy"
	m.mu.Lock()
	defer m.mu.Unlock()
	ctx, err := m.context(call, c)
	if err != nil {
		return err
	}
	s, err := m.stream(call, ctx, id)
	if err != nil {
		return err
	}
	if id <= driver.StreamPerThread {
		return fail(call, driver.ErrInvalidHandle, "a default stream cannot be destroyed")
	}
	delete(m.streams, id)
	if s.last == nil || s.last.state == opFinished {
		delete(s.ctx.streams, id)
		return s.ctx.failed(call)
	}
	// A context's synchronisation must still find the queued work.
	end := &op{name: "destroy", after: func(*op) { delete(s.ctx.streams, id) }}
	m.push(s, end)
	return s.ctx.failed(call)
}

// tail is what a wait for the stream waits for. The legacy stream joins the
// blocking ones first.
func (m *Driver) tail(s *stream) []*op {
	var ops []*op
	for _, t := range s.ctx.streams {
		if (t == s || s.legacy && t.blocking) && t.last != nil && t.last.state != opFinished {
			ops = append(ops, t.last)
		}
	}
	return ops
}

// StreamQuery reports whether the stream's work is done.
func (m *Driver) StreamQuery(c driver.Context, id driver.Stream) (bool, error) {
	const call = "cuStreamQuery"
	m.mu.Lock()
	defer m.mu.Unlock()
	ctx, err := m.usable(call, c)
	if err != nil {
		return false, err
	}
	s, err := m.stream(call, ctx, id)
	if err != nil {
		return false, err
	}
	if err := s.spoil(call); err != nil {
		return false, err
	}
	if err := s.implicit(call); err != nil {
		return false, err
	}
	if len(m.tail(s)) > 0 {
		m.sched.urge()
		return false, nil
	}
	m.model.learned(s.last)
	return true, s.ctx.failed(call)
}

// StreamSynchronize waits for the stream's work.
func (m *Driver) StreamSynchronize(c driver.Context, id driver.Stream, stop <-chan struct{}) error {
	const call = "cuStreamSynchronize"
	m.mu.Lock()
	ctx, err := m.usable(call, c)
	var s *stream
	if err == nil {
		s, err = m.stream(call, ctx, id)
	}
	if err == nil {
		err = s.spoil(call)
	}
	if err == nil {
		err = s.implicit(call)
	}
	if err != nil {
		m.mu.Unlock()
		return err
	}
	ops := m.tail(s)
	if len(ops) == 0 && s.last != nil {
		ops = append(ops, s.last)
	}
	m.mu.Unlock()
	return m.waitAndCheck(call, s.ctx, ops, stop)
}

// StreamWaitEvent makes later work of the stream wait for the event's last
// record before this call; an event never recorded is no wait.
func (m *Driver) StreamWaitEvent(c driver.Context, id driver.Stream, e driver.Event) error {
	const call = "cuStreamWaitEvent"
	_, s, err := m.target(call, c, id)
	defer m.mu.Unlock()
	if err != nil {
		return err
	}
	ev, err := m.event(call, e)
	if err != nil {
		return err
	}
	if ev.capture == nil && ev.captured {
		return ev.ofHost(call)
	}
	if joined, err := joinCapture(call, s, ev); joined || err != nil {
		return err
	}
	o := &op{name: "wait", cost: cost{call: m.profile.EventCall}}
	if ev.shared != nil {
		ev.shared.await(o)
	}
	o.depend(ev.last)
	m.push(s, o)
	return nil
}

// LaunchHostFunc runs f on a goroutine when the work before it is done. f must
// not call CUDA.
func (m *Driver) LaunchHostFunc(c driver.Context, id driver.Stream, f func()) error {
	const call = "cuLaunchHostFunc"
	_, s, err := m.target(call, c, id)
	defer m.mu.Unlock()
	if err != nil {
		return err
	}
	if f == nil {
		return fail(call, driver.ErrInvalidValue, "no function")
	}
	m.push(s, &op{kind: opHost, work: func(*op) error { f(); return nil },
		cost: cost{call: m.profile.AsyncCall, duration: hostFunctionTime}})
	return nil
}
