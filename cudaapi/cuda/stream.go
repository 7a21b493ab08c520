package cuda

import (
	"fmt"
	"sync"
	"sync/atomic"

	"gocuda/cudaapi/driver"
)

// StreamFlag says how a stream is made.
type StreamFlag uint32

const (
	// Blocking streams (the default) and the legacy default stream wait for
	// each other.
	Blocking StreamFlag = StreamFlag(driver.StreamBlocking)
	// NonBlocking streams take no part in that.
	NonBlocking StreamFlag = StreamFlag(driver.StreamNonBlocking)
)

// Stream is a queue of work for a device, carried out in order.
type Stream struct {
	dev    *Device
	h      driver.Stream
	flags  StreamFlag
	closed atomic.Bool
	born   uint32 // the device's epoch
}

// NewStream makes a stream (cudaStreamCreateWithFlags).
func (d *Device) NewStream(flags ...StreamFlag) (*Stream, error) {
	return d.NewStreamWithPriority(0, flags...)
}

// NewStreamWithPriority makes a stream with a priority: lower numbers go first;
// StreamPriorityRange gives the limits, beyond which CUDA clamps.
func (d *Device) NewStreamWithPriority(priority int, flags ...StreamFlag) (*Stream, error) {
	c, err := d.context()
	if err != nil {
		return nil, err
	}
	var f StreamFlag
	for _, flag := range flags {
		f |= flag
	}
	h, err := d.drv().StreamCreate(c, driver.StreamFlags(f), priority)
	if err != nil {
		return nil, d.fail(err)
	}
	d.streams.add(h)
	return &Stream{dev: d, h: h, flags: f, born: d.epoch.Load()}, nil
}

// streams are those that were made on a device and not destroyed.
type streams struct {
	mu   sync.Mutex
	made map[driver.Stream]bool
}

func (s *streams) add(h driver.Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made == nil {
		s.made = map[driver.Stream]bool{}
	}
	s.made[h] = true
}

// destroy destroys one by f: nobody asks for it then, nor for another with its handle.
func (s *streams) destroy(h driver.Stream, f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.made, h)
	return f()
}

func (s *streams) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.made)
}

// any reports whether f is true of one, or of the default stream.
func (s *streams) any(f func(driver.Stream) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range s.made {
		if f(h) {
			return true
		}
	}
	return f(driver.StreamDefault)
}

// StreamPriorityRange is the least and the greatest priority: the greatest is
// the smallest number.
func (d *Device) StreamPriorityRange() (least, greatest int, err error) {
	c, err := d.context()
	if err != nil {
		return 0, 0, err
	}
	least, greatest, err = d.drv().StreamPriorityRange(c)
	return least, greatest, d.fail(err)
}

// DefaultStream is the device's legacy default stream: each piece of its work
// waits for all earlier work of the device's blocking streams, and their later
// work waits for it.
func (d *Device) DefaultStream() *Stream {
	if s := d.stream.Load(); s != nil {
		return s
	}
	d.stream.CompareAndSwap(nil, &Stream{dev: d, h: driver.StreamDefault, born: d.epoch.Load()})
	return d.stream.Load()
}

// PerThreadStream is CUDA's per-thread default stream of the device. It belongs
// to the OS thread that a call happens to run on, so it is of use only in a
// goroutine that called runtime.LockOSThread.
func (d *Device) PerThreadStream() *Stream {
	d.streams.add(driver.StreamPerThread)
	return &Stream{dev: d, h: driver.StreamPerThread, born: d.epoch.Load()}
}

// use checks that the stream may be used, and gives its context.
func (s *Stream) use(call string) (driver.Context, error) {
	if s != nil && s.dev != nil && !s.closed.Load() && s.born == s.dev.epoch.Load() {
		if c := s.dev.ctx.Load(); c != 0 {
			return driver.Context(c), nil
		}
	}
	return s.check(call) // apart: a call less, where each counts
}

func (s *Stream) check(call string) (driver.Context, error) {
	if s == nil || s.dev == nil {
		return 0, misuse(driver.ErrInvalidHandle, call, nil, "the stream is nil")
	}
	return s.dev.holds(call, "the stream", s.closed.Load(), s.born)
}

// Device is the device that carries out the stream's work.
func (s *Stream) Device() *Device { return s.dev }

// Handle is the CUstream, for libraries that take one.
func (s *Stream) Handle() uintptr { return uintptr(s.h) }

// Synchronize waits until the stream's work is done (cudaStreamSynchronize),
// and reports what failed in it.
func (s *Stream) Synchronize() error {
	c, err := s.use("Stream.Synchronize")
	if err != nil {
		return err
	}
	if err := s.dev.drv().StreamSynchronize(c, s.h, stop()); err != nil {
		return s.dev.fail(err)
	}
	return s.dev.panicked()
}

// Query reports whether the stream's work is done, without waiting.
func (s *Stream) Query() (bool, error) {
	c, err := s.use("Stream.Query")
	if err != nil {
		return false, err
	}
	done, err := s.dev.drv().StreamQuery(c, s.h)
	if err != nil {
		err = s.dev.fail(err)
	}
	return done, err
}

// WaitEvent makes the stream's later work wait for the event
// (cudaStreamWaitEvent), which may be another device's. The CPU does not wait.
// What counts is the event's last Record before this call; an event that was
// never recorded counts as done.
func (s *Stream) WaitEvent(e *Event) error {
	c, err := s.use("Stream.WaitEvent")
	if err != nil {
		return err
	}
	if _, err := e.use("Stream.WaitEvent"); err != nil {
		return err
	}
	if err := s.dev.drv().StreamWaitEvent(c, s.h, e.h); err != nil {
		return s.dev.failEvent(err)
	}
	return nil
}

// LaunchHostFunc has f called on a thread of CUDA's when the stream's work so
// far is done; later work waits for f (cudaLaunchHostFunc). f must not call CUDA
// or wait for work on a device. A panic in f is printed and ends the process,
// as in any goroutine.
func (s *Stream) LaunchHostFunc(f func()) error {
	c, err := s.use("Stream.LaunchHostFunc")
	if err != nil {
		return err
	}
	if f == nil {
		return misuse(driver.ErrInvalidValue, "Stream.LaunchHostFunc", s.dev, "the function is nil")
	}
	return s.dev.fail(s.dev.drv().LaunchHostFunc(c, s.h, f))
}

// Destroy gives the stream back (cudaStreamDestroy). Work already queued still
// runs. The default streams cannot be destroyed.
func (s *Stream) Destroy() error {
	c, err := s.use("Stream.Destroy")
	if err != nil {
		return err
	}
	if s.h <= driver.StreamPerThread {
		return misuse(driver.ErrInvalidHandle, "Stream.Destroy", s.dev, "a default stream cannot be destroyed")
	}
	if s.closed.Swap(true) {
		return misuse(driver.ErrInvalidHandle, "Stream.Destroy", s.dev, "the stream was destroyed")
	}
	s.dev.sys.captures.end(s)
	return s.dev.fail(s.dev.streams.destroy(s.h, func() error { return s.dev.drv().StreamDestroy(c, s.h) }))
}

func (s *Stream) String() string {
	if s == nil {
		return "default stream"
	}
	switch s.h {
	case driver.StreamDefault, driver.StreamLegacy:
		return fmt.Sprintf("legacy default stream of device %d", s.dev.id)
	case driver.StreamPerThread:
		return fmt.Sprintf("per-thread default stream of device %d", s.dev.id)
	}
	how := "blocking"
	if s.flags&NonBlocking != 0 {
		how = "non-blocking"
	}
	return fmt.Sprintf("%s stream %#x of device %d", how, uintptr(s.h), s.dev.id)
}
