package cuda

import (
	"fmt"
	"sync/atomic"
	"time"

	"gocuda/cudaapi/driver"
)

// EventFlag says how an event is made.
type EventFlag uint32

const (
	// BlockingSync makes CUDA's own waits sleep rather than spin.
	BlockingSync EventFlag = EventFlag(driver.EventBlockingSync)
	// DisableTiming makes an event quicker, and of no use to Elapsed.
	DisableTiming EventFlag = EventFlag(driver.EventDisableTiming)
	// Interprocess events can be handed to other processes; they need
	// DisableTiming too.
	Interprocess EventFlag = EventFlag(driver.EventInterprocess)
)

// Event marks a point in a stream's work.
type Event struct {
	dev    *Device
	h      driver.Event
	flags  EventFlag
	closed atomic.Bool
	born   uint32
}

// NewEvent makes an event (cudaEventCreateWithFlags), with timing unless the
// flags say otherwise.
func (d *Device) NewEvent(flags ...EventFlag) (*Event, error) {
	c, err := d.context()
	if err != nil {
		return nil, err
	}
	var f EventFlag
	for _, flag := range flags {
		f |= flag
	}
	h, err := d.drv().EventCreate(c, driver.EventFlags(f))
	if err != nil {
		return nil, d.fail(err)
	}
	return &Event{dev: d, h: h, flags: f, born: d.epoch.Load()}, nil
}

func (e *Event) use(call string) (driver.Context, error) {
	if e != nil && e.dev != nil && !e.closed.Load() && e.born == e.dev.epoch.Load() {
		if c := e.dev.ctx.Load(); c != 0 {
			return driver.Context(c), nil
		}
	}
	return e.check(call) // apart: a call less, where each counts
}

func (e *Event) check(call string) (driver.Context, error) {
	if e == nil || e.dev == nil {
		return 0, misuse(driver.ErrInvalidHandle, call, nil, "the event is nil")
	}
	return e.dev.holds(call, "the event", e.closed.Load(), e.born)
}

// Device is the device on whose streams the event is recorded.
func (e *Event) Device() *Device { return e.dev }

// Record marks the stream's work so far (cudaEventRecord): the event is done
// when that work is. The stream must be of the event's device; nil is its
// default stream.
func (e *Event) Record(s *Stream) error {
	c, err := e.use("Event.Record")
	if err != nil {
		return err
	}
	var h driver.Stream
	if s != nil {
		if _, err := s.use("Event.Record"); err != nil {
			return err
		}
		if s.dev != e.dev {
			return misuse(driver.ErrInvalidHandle, "Event.Record", e.dev, "the stream is of device %d; an event is recorded on its own device's streams", s.dev.id)
		}
		h = s.h
	}
	if err := e.dev.drv().EventRecord(c, e.h, h); err != nil {
		return e.dev.fail(err)
	}
	return nil
}

// Query reports whether what was last recorded is done, without waiting. An
// event that was never recorded is done.
func (e *Event) Query() (bool, error) {
	c, err := e.use("Event.Query")
	if err != nil {
		return false, err
	}
	done, err := e.dev.drv().EventQuery(c, e.h)
	if err != nil {
		err = e.dev.failEvent(err)
	}
	return done, err
}

// Synchronize waits until what was last recorded is done (cudaEventSynchronize).
func (e *Event) Synchronize() error {
	c, err := e.use("Event.Synchronize")
	if err != nil {
		return err
	}
	if err := e.dev.drv().EventSynchronize(c, e.h, stop()); err != nil {
		return e.dev.failEvent(err)
	}
	return e.dev.panicked()
}

// Elapsed is the device's time between two events (cudaEventElapsedTime), to
// about half a microsecond. Both must have been recorded, be done, be of the same
// device, and have timing. On simulated devices it is the model's time.
func Elapsed(start, end *Event) (time.Duration, error) {
	c, err := start.use("cuda.Elapsed")
	if err != nil {
		return 0, err
	}
	if _, err := end.use("cuda.Elapsed"); err != nil {
		return 0, err
	}
	if (start.flags|end.flags)&DisableTiming != 0 {
		return 0, misuse(driver.ErrInvalidHandle, "cuda.Elapsed", start.dev, "an event was made with DisableTiming")
	}
	t, err := start.dev.drv().EventElapsed(c, start.h, end.h)
	if isCode(err, driver.ErrNotReady) {
		e := start.dev.fail(err).(*Error)
		e.Hint = "an event is not done yet: Synchronize the later one first"
		return 0, e
	}
	return t, says(start.dev.failEvent(err), driver.ErrInvalidHandle, "an event was never recorded")
}

// Since is the device's time from start to e, as [Elapsed]; it is an error if e came
// before start. ([Elapsed] gives a negative time then, as CUDA does.)
func (e *Event) Since(start *Event) (time.Duration, error) {
	t, err := Elapsed(start, e)
	if err == nil && t < 0 {
		return 0, misuse(driver.ErrInvalidValue, "Event.Since", e.dev, "this event came %v before the one that it is to be measured from: were they recorded in the other order?", -t)
	}
	return t, err
}

// Time queues work, which must go to the stream, between two events of it, waits
// until it is done, and gives the device's time from the one event to the other
// (on simulated devices the model's). If work fails or panics, there is no time.
// Work that is queued for the first time takes longer: kernels are loaded then.
func (s *Stream) Time(work func() error) (time.Duration, error) {
	if _, err := s.use("Stream.Time"); err != nil {
		return 0, err
	}
	if work == nil {
		return 0, misuse(driver.ErrInvalidValue, "Stream.Time", s.dev, "there is no work")
	}
	start, err := s.dev.NewEvent()
	if err != nil {
		return 0, err
	}
	defer start.Destroy() //nolint:errcheck // it is of no more use
	end, err := s.dev.NewEvent()
	if err != nil {
		return 0, err
	}
	defer end.Destroy() //nolint:errcheck // as start
	if err := start.Record(s); err != nil {
		return 0, err
	}
	if err := work(); err != nil {
		return 0, err
	}
	if err := end.Record(s); err != nil {
		return 0, err
	}
	if err := end.Synchronize(); err != nil {
		return 0, err
	}
	return end.Since(start)
}

// Destroy gives the event back (cudaEventDestroy). Streams that wait for it
// still do.
func (e *Event) Destroy() error {
	c, err := e.use("Event.Destroy")
	if err != nil {
		return err
	}
	if e.closed.Swap(true) {
		return misuse(driver.ErrInvalidHandle, "Event.Destroy", e.dev, "the event was destroyed")
	}
	return e.dev.fail(e.dev.drv().EventDestroy(c, e.h))
}

func (e *Event) String() string {
	if e.closed.Load() {
		return "destroyed event"
	}
	done, err := e.Query()
	state := "pending"
	if err != nil {
		state = "failed"
	} else if done {
		state = "done"
	}
	return fmt.Sprintf("event %#x of device %d (%s)", uintptr(e.h), e.dev.id, state)
}
