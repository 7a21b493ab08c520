package sim

import (
	"sync/atomic"

	"gocuda/cudaapi/driver"
)

// trace tells what the model timed. The machine's lock guards it, but for on.
type trace struct {
	on   atomic.Bool
	take func(driver.Activity)
	tags map[int]uint64 // by thread of the system
}

var _ driver.Tracer = (*Driver)(nil)

var activityKinds = [...]driver.ActivityKind{
	opMarker: driver.ActivityOther, opCopy: driver.ActivityCopy, opFill: driver.ActivityFill, opKernel: driver.ActivityKernel,
	opHost: driver.ActivityHost, opWaitValue: driver.ActivityWaitValue, opWriteValue: driver.ActivityWriteValue,
}

// tagged is the tag of the calling thread.
func (t *trace) tagged() uint64 {
	if !t.on.Load() || len(t.tags) == 0 {
		return 0
	}
	return t.tags[thread()]
}

func (t *trace) tell(a driver.Activity) {
	if a.Tag != 0 && t.take != nil {
		t.take(a)
	}
}

// StartTrace tells the times of the modelled clock.
func (m *Driver) StartTrace(take func(driver.Activity)) error {
	const call = "StartTrace"
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.model.trace.take != nil {
		return fail(call, driver.ErrNotSupported, "a trace is running already")
	}
	m.model.trace.take, m.model.trace.tags = take, map[int]uint64{}
	m.model.trace.on.Store(true)
	return nil
}

// Tag is the tag of the calling thread.
func (m *Driver) Tag(n uint64) {
	if !m.model.trace.on.Load() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if n == 0 {
		delete(m.model.trace.tags, thread())
	} else {
		m.model.trace.tags[thread()] = n
	}
}

// Moment is the host's modelled time.
func (m *Driver) Moment(n uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.model.log = append(m.model.log, &entry{moment: true, tag: n})
	m.model.advance()
}

// EndTrace times what can be timed.
func (m *Driver) EndTrace() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.model.force(nil)
	m.model.trace.on.Store(false)
	m.model.trace.take, m.model.trace.tags = nil, nil
	return nil
}

// TraceClock is the model's.
func (m *Driver) TraceClock() driver.TraceClock {
	return driver.TraceClock{Name: "the model of the simulated devices", Modelled: true}
}
