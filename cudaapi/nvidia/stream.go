//go:build linux && (amd64 || arm64)

package nvidia

import (
	"sync"
	"time"
	"unsafe"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/clib"

	"github.com/ebitengine/purego"
)

func (d *Driver) StreamCreate(c driver.Context, f driver.StreamFlags, priority int) (driver.Stream, error) {
	s, err := d.getIn(c, cuStreamCreateWithPriority, uintptr(f), uintptr(uint32(priority)))
	return driver.Stream(s), err
}

func (d *Driver) StreamGetFlags(c driver.Context, s driver.Stream) (driver.StreamFlags, error) {
	var f uint32
	err := d.on(c, s, cuStreamGetFlags, uintptr(s), pin(&f))
	return driver.StreamFlags(f), err
}

func (d *Driver) StreamDestroy(c driver.Context, s driver.Stream) error {
	return d.in(c, cuStreamDestroy, uintptr(s))
}

func (d *Driver) StreamQuery(c driver.Context, s driver.Stream) (bool, error) {
	return d.query(c, s <= driver.StreamPerThread, cuStreamQuery, uintptr(s))
}

// query asks whether work is done, without making an error of "not yet".
func (d *Driver) query(c driver.Context, needsContext bool, s symbol, h uintptr) (bool, error) {
	if !needsContext && !d.bound[s].Load() {
		switch d.call(s, h) {
		case driver.Success:
			return true, nil
		case driver.ErrNotReady:
			return false, nil
		}
	}
	code, s := d.callIn(c, s, h)
	switch code {
	case driver.Success:
		return true, nil
	case driver.ErrNotReady:
		return false, nil
	}
	return false, d.fail(s, code)
}

func (d *Driver) StreamSynchronize(c driver.Context, s driver.Stream, stop <-chan struct{}) error {
	if stop == nil {
		return d.on(c, s, cuStreamSynchronize, uintptr(s))
	}
	for w := (waiter{stop: stop}); ; {
		if done, err := d.StreamQuery(c, s); done || err != nil {
			return err
		}
		if err := w.pause(); err != nil {
			return err
		}
	}
}

func (d *Driver) CtxSynchronize(c driver.Context, stop <-chan struct{}) error {
	if stop == nil {
		return d.in(c, cuCtxSynchronize)
	}
	// A context has no query: one thread waits, and is left to it if stopped.
	done := make(chan error, 1)
	go func() { done <- d.in(c, cuCtxSynchronize) }()
	select {
	case err := <-done:
		return err
	case <-stop:
		return driver.ErrInterrupted
	}
}

// waiter paces the questions of a wait that can be stopped: without a pause at
// first, as CUDA's own waits spin too, then with pauses that grow with the
// time already waited, so that a long wait costs little and ends late by a few
// per cent at most.
type waiter struct {
	stop  <-chan struct{}
	asked int
	since time.Time
}

const (
	spinFor    = 2 * time.Millisecond
	pauseShare = 32 // a pause is this fraction of the time waited
	maxPause   = 2 * time.Millisecond
)

func (w *waiter) pause() error {
	w.asked++
	if w.asked%32 != 0 { // look at the clock and at stop now and then
		return nil
	}
	select {
	case <-w.stop:
		return driver.ErrInterrupted
	default:
	}
	if w.since.IsZero() {
		w.since = time.Now()
		return nil
	}
	waited := time.Since(w.since)
	if waited < spinFor {
		return nil
	}
	w.asked = 31 // from here on a pause after each question
	t := time.NewTimer(min(waited/pauseShare, maxPause))
	defer t.Stop()
	select {
	case <-w.stop:
		return driver.ErrInterrupted
	case <-t.C:
		return nil
	}
}

func (d *Driver) StreamWaitEvent(c driver.Context, s driver.Stream, e driver.Event) error {
	if d.shareable.any() {
		if owner, ok := d.shareable.owner(e); ok && owner != c {
			return d.waitAcross(owner, e, c, s)
		}
	}
	return d.hot(c, s, cuStreamWaitEvent, &clib.Frame{Args: [11]uintptr{uintptr(s), uintptr(e), 0}})
}

// hostFuncs are the functions that streams are to call, by number: C carries
// the number.
type hostFuncs struct {
	once     sync.Once
	callback uintptr
	dropped  uintptr // what CUDA calls when the last graph that has one is gone
	mu       sync.Mutex
	next     uintptr
	waiting  map[uintptr]hostFunc
}

// hostFunc is one of them; those in graphs are kept, to be called again, until
// their graphs are gone.
type hostFunc struct {
	f    func()
	keep bool
}

func (h *hostFuncs) add(f hostFunc) uintptr {
	h.once.Do(func() {
		h.callback = purego.NewCallback(func(n uintptr) uintptr {
			if f := h.take(n); f != nil {
				f()
			}
			return 0
		})
		h.dropped = purego.NewCallback(func(n uintptr) uintptr {
			h.drop(n)
			return 0
		})
		h.waiting = map[uintptr]hostFunc{}
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next++
	h.waiting[h.next] = f
	return h.next
}

func (h *hostFuncs) take(n uintptr) func() {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.waiting[n]
	if !f.keep {
		delete(h.waiting, n)
	}
	return f.f
}

func (h *hostFuncs) drop(n uintptr) {
	h.mu.Lock()
	delete(h.waiting, n)
	h.mu.Unlock()
}

func (d *Driver) LaunchHostFunc(c driver.Context, s driver.Stream, f func()) error {
	captured, err := d.StreamIsCapturing(c, s)
	if err != nil {
		return err
	}
	n := d.hosts.add(hostFunc{f, captured})
	err = d.on(c, s, cuLaunchHostFunc, uintptr(s), d.hosts.callback, n)
	switch {
	case err != nil:
		d.hosts.drop(n)
	case captured:
		d.dropWithGraph(c, s, n)
	}
	return err
}

// dropWithGraph has a function dropped when the graph that s is captured into is gone,
// with all that was made of it and their launches: by a user object, which CUDA destroys
// then. Where that is not available (before CUDA 11.3), the function stays.
func (d *Driver) dropWithGraph(c driver.Context, s driver.Stream, n uintptr) {
	o := getScratch()
	defer putScratch(o)
	const once, noSync, move = 1, 1, 1 // CU_USER_OBJECT_NO_DESTRUCTOR_SYNC, CU_GRAPH_USER_OBJECT_MOVE
	clear(o.word[:4])
	// The status, the capture's number and its graph.
	if d.in(c, cuStreamGetCaptureInfo, uintptr(s), o.at(0), o.at(1), o.at(2), 0, 0) != nil || o.word[2] == 0 {
		return
	}
	graph := uintptr(o.word[2])
	if d.in(c, cuUserObjectCreate, o.at(3), n, d.hosts.dropped, once, noSync) != nil {
		return
	}
	d.in(c, cuGraphRetainUserObject, graph, uintptr(o.word[3]), once, move) //nolint:errcheck // then it stays
}

func (d *Driver) EventCreate(c driver.Context, f driver.EventFlags) (driver.Event, error) {
	e, err := d.getIn(c, cuEventCreate, uintptr(f))
	if err == nil && f&driver.EventInterprocess != 0 {
		d.shareable.add(driver.Event(e), c)
	}
	return driver.Event(e), err
}

func (d *Driver) EventDestroy(c driver.Context, e driver.Event) error {
	d.shareable.remove(e)
	return d.in(c, cuEventDestroy, uintptr(e))
}

func (d *Driver) EventRecord(c driver.Context, e driver.Event, s driver.Stream) error {
	return d.hot(c, s, cuEventRecord, &clib.Frame{Args: [11]uintptr{uintptr(e), uintptr(s)}})
}

func (d *Driver) EventQuery(c driver.Context, e driver.Event) (bool, error) {
	return d.query(c, false, cuEventQuery, uintptr(e))
}

func (d *Driver) EventSynchronize(c driver.Context, e driver.Event, stop <-chan struct{}) error {
	if stop == nil {
		return d.handle(c, cuEventSynchronize, uintptr(e))
	}
	for w := (waiter{stop: stop}); ; {
		if done, err := d.EventQuery(c, e); done || err != nil {
			return err
		}
		if err := w.pause(); err != nil {
			return err
		}
	}
}

func (d *Driver) EventElapsed(c driver.Context, start, end driver.Event) (time.Duration, error) {
	o := getScratch()
	defer putScratch(o)
	err := d.in(c, cuEventElapsedTime, o.ptr(), uintptr(start), uintptr(end))
	ms := *(*float32)(unsafe.Pointer(&o.word[0]))
	if err != nil {
		return 0, err
	}
	return time.Duration(float64(ms) * float64(time.Millisecond)), nil
}
