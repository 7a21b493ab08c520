package record

import (
	"sync/atomic"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/callsite"
)

// Timer measures operations. It is told about each while its call runs, by several
// goroutines at a time, unlike a [Sink].
type Timer interface {
	// Queue runs call, which gives next an operation of a stream. What a capture
	// records is not told; the launch of its graph is.
	Queue(next driver.Driver, o *Op, call func() error) error
	// Host runs call, in which the host waits.
	Host(next driver.Driver, o *Op, call func() error) error
	// Function is told that a stream's host function begins; done, that it ends.
	Function(o *Op) (done func())
	// Begin is told about a request, and End that the host need not wait for it any more.
	// came is what a receive has brought, nil if that is not known.
	Begin(o *Op)
	End(o *Op, came *Message)
}

var timer atomic.Pointer[Timer]

// SetTimer has t measure what is recorded from now on; nil ends that.
func SetTimer(t Timer) {
	if t == nil {
		timer.Store(nil)
		return
	}
	timer.Store(&t)
}

func timing() Timer {
	if t := timer.Load(); t != nil {
		return *t
	}
	return nil
}

// Rest is what records where there are no sinks: something for a [Timer], else
// nothing.
func Rest() (r *Recorder, decorate func(driver.Driver, map[driver.Context]driver.Device) driver.Driver) {
	if timing() == nil {
		return nil, nil
	}
	r = New()
	return r, func(d driver.Driver, inUse map[driver.Context]driver.Device) driver.Driver { return Wrap(d, r, inUse) }
}

// timed runs the call that queues an operation, under the timer if there is one.
func (d *Driver) timed(o *Op, call func() error) error {
	if t := timing(); t != nil {
		return t.Queue(d.Driver, o, call)
	}
	return call()
}

// waits runs a call in which the host waits.
func (d *Driver) waits(o *Op, call func() error) error {
	if t := timing(); t != nil {
		if !o.Site.Known() {
			o.Site = callsite.Here()
		}
		return t.Host(d.Driver, o, call)
	}
	return call()
}
