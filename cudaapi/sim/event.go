package sim

import (
	"time"

	"gocuda/cudaapi/driver"
)

type event struct {
	ctx    *context
	flags  driver.EventFlags
	last   *op // the marker of the last record
	shared *sharedEvent

	captured bool     // the last record was ...
	capture  *capture // ... in this capture, while it goes on, after these nodes
	tail     []*node
}

const hostFunctionTime = 10 * time.Microsecond

func (m *Driver) event(call string, e driver.Event) (*event, error) {
	if ev := m.events[e]; ev != nil {
		return ev, nil
	}
	return nil, fail(call, driver.ErrInvalidHandle, "the event does not exist or was destroyed")
}

// eventIn is event for a call that names the context, too.
func (m *Driver) eventIn(call string, c driver.Context, e driver.Event) (*event, error) {
	if _, err := m.usable(call, c); err != nil {
		return nil, err
	}
	return m.event(call, e)
}

// EventCreate makes an event.
func (m *Driver) EventCreate(c driver.Context, f driver.EventFlags) (driver.Event, error) {
	const call = "cuEventCreate"
	m.mu.Lock()
	defer m.mu.Unlock()
	ctx, err := m.usable(call, c)
	if err != nil {
		return 0, err
	}
	if f > 7 || f&driver.EventInterprocess != 0 && f&driver.EventDisableTiming == 0 {
		return 0, fail(call, driver.ErrInvalidValue, "flags %#x: an interprocess event has no timing", uint32(f))
	}
	ev := &event{ctx: ctx, flags: f}
	if f&driver.EventInterprocess != 0 {
		if ev.shared, err = m.newSharedEvent(call); err != nil {
			return 0, err
		}
	}
	id := driver.Event(m.handle())
	m.events[id] = ev
	return id, nil
}

// EventDestroy forgets the event; waits for its last record still hold.
func (m *Driver) EventDestroy(c driver.Context, e driver.Event) error {
	const call = "cuEventDestroy"
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.context(call, c); err != nil {
		return err
	}
	ev, err := m.event(call, e)
	if err != nil {
		return err
	}
	delete(m.events, e)
	if ev.shared != nil {
		ev.shared.close()
	}
	return nil
}

// ofHost refuses an event whose last record was captured, with the codes of an H200.
func (ev *event) ofHost(call string) error {
	switch {
	case ev.capture != nil:
		return fail(call, driver.ErrCapturedEvent, "the event was recorded on a stream that is captured")
	case ev.captured:
		return fail(call, driver.ErrInvalidValue, "the event was recorded in a capture that has ended")
	}
	return nil
}

// EventRecord captures the stream's work so far.
func (m *Driver) EventRecord(c driver.Context, e driver.Event, id driver.Stream) error {
	const call = "cuEventRecord"
	_, s, err := m.target(call, c, id)
	defer m.mu.Unlock()
	if err != nil {
		return err
	}
	ev, err := m.event(call, e)
	if err != nil {
		return err
	}
	if ev.ctx != s.ctx {
		return fail(call, driver.ErrInvalidHandle, "the event is of device %d, the stream of device %d", ev.ctx.dev.id, s.ctx.dev.id)
	}
	ev.captured = s.capture != nil
	if ev.capture, ev.tail = s.capture, s.tail; s.capture != nil {
		return nil
	}
	o := &op{name: "record", cost: cost{call: m.profile.EventCall}}
	if ev.flags&driver.EventDisableTiming == 0 {
		o.duration = m.profile.EventTime
	}
	if ev.shared != nil {
		o.after = ev.shared.record()
	}
	ev.last = o
	m.push(s, o)
	return nil
}

// EventQuery reports whether the event's last record is done; one never
// recorded is.
func (m *Driver) EventQuery(c driver.Context, e driver.Event) (bool, error) {
	const call = "cuEventQuery"
	m.mu.Lock()
	defer m.mu.Unlock()
	ev, err := m.eventIn(call, c, e)
	if err != nil {
		return false, err
	}
	if err := ev.ofHost(call); err != nil {
		return false, err
	}
	if ev.shared != nil && !ev.shared.done() || ev.last != nil && ev.last.state != opFinished {
		m.sched.urge()
		return false, nil
	}
	m.model.learned(ev.last)
	return true, ev.ctx.failed(call)
}

// EventSynchronize waits for the event's last record.
func (m *Driver) EventSynchronize(c driver.Context, e driver.Event, stop <-chan struct{}) error {
	const call = "cuEventSynchronize"
	m.mu.Lock()
	ev, err := m.eventIn(call, c, e)
	if err != nil {
		m.mu.Unlock()
		return err
	}
	if err := ev.ofHost(call); err != nil {
		m.mu.Unlock()
		return err
	}
	var ops []*op
	if ev.last != nil {
		ops = append(ops, ev.last)
	}
	shared := ev.shared
	m.mu.Unlock()
	if shared != nil {
		if err := shared.wait(stop); err != nil {
			return err
		}
	}
	return m.waitAndCheck(call, ev.ctx, ops, stop)
}

// EventElapsed is the simulated time between two records on one device.
func (m *Driver) EventElapsed(c driver.Context, start, end driver.Event) (time.Duration, error) {
	const call = "cuEventElapsedTime"
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.eventIn(call, c, start)
	if err != nil {
		return 0, err
	}
	b, err := m.event(call, end)
	if err != nil {
		return 0, err
	}
	switch {
	case (a.flags|b.flags)&driver.EventDisableTiming != 0:
		return 0, fail(call, driver.ErrInvalidHandle, "an event was created without timing")
	case a.ctx != b.ctx:
		return 0, fail(call, driver.ErrInvalidHandle, "the events are of devices %d and %d", a.ctx.dev.id, b.ctx.dev.id)
	case a.captured || b.captured:
		if err := a.ofHost(call); err != nil {
			return 0, err
		}
		return 0, b.ofHost(call)
	case a.last == nil || b.last == nil:
		return 0, fail(call, driver.ErrInvalidHandle, "an event was never recorded")
	case a.last.state != opFinished || b.last.state != opFinished:
		m.sched.urge()
		return 0, fail(call, driver.ErrNotReady, "an event is not done yet")
	}
	for _, o := range []*op{a.last, b.last} {
		if !o.timed {
			m.model.force(o)
		}
	}
	return b.last.end - a.last.end, nil
}
