package device

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"gocuda/cudaapi/mpi/internal/transport"
)

// operation is a message under way, as a transport.Request.
type operation struct {
	progress *progress
	mu       sync.Mutex
	step     func() (done bool, err error) // moves it on, as far as it goes
	status   transport.Status
	done     bool
	err      error
	cancel   func() error

	asked atomic.Uint32 // counts Test
	seen  uint32        // what the engine saw of it last
}

// progress moves the operations on that nobody tests, so that nobody waits for a
// rank that waits for something else.
type progress struct {
	mu      sync.Mutex
	active  map[*operation]struct{}
	running bool
}

// Start makes a request of a function that moves an operation on, as far as it goes, and
// tells whether it is over. Like messages, it is moved on though nobody tests it.
func (e *Engine) Start(step func() (bool, error)) transport.Request {
	return e.progress.start(&operation{step: step})
}

// start has an operation moved on by whoever tests it, and now and then by the
// engine if nobody does.
func (p *progress) start(o *operation) *operation {
	o.progress = p
	p.mu.Lock()
	if p.active == nil {
		p.active = map[*operation]struct{}{}
	}
	p.active[o] = struct{}{}
	run := !p.running
	p.running = true
	p.mu.Unlock()
	if run {
		go p.run()
	}
	return o
}

// run ends some time after the last operation.
func (p *progress) run() {
	const pause = 200 * time.Microsecond
	for idle := 0; ; {
		time.Sleep(pause)
		p.mu.Lock()
		if len(p.active) == 0 {
			if idle++; idle > 20 {
				p.running = false
				p.mu.Unlock()
				return
			}
		} else {
			idle = 0
		}
		list := make([]*operation, 0, len(p.active))
		for o := range p.active {
			list = append(list, o)
		}
		p.mu.Unlock()
		for _, o := range list {
			if asked := o.asked.Load(); asked != o.seen {
				o.seen = asked
			} else if o.mu.TryLock() {
				o.advance()
				o.mu.Unlock()
			}
		}
	}
}

func (o *operation) advance() {
	if o.done {
		return
	}
	o.done, o.err = o.step()
	o.done = o.done || o.err != nil
	if o.done {
		o.progress.mu.Lock()
		delete(o.progress.active, o)
		o.progress.mu.Unlock()
	}
}

// Test moves the message on and tells whether it is over.
func (o *operation) Test() (transport.Status, bool, error) {
	o.asked.Add(1)
	if !o.mu.TryLock() {
		return transport.Status{}, false, nil // another goroutine is at it
	}
	defer o.mu.Unlock()
	o.advance()
	return o.status, o.done, o.err
}

// Cancel gives up a receive that has not matched.
func (o *operation) Cancel() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done || o.cancel == nil {
		return nil
	}
	return o.cancel()
}

// Wait blocks until a request is over.
func Wait(r transport.Request) error {
	if w, ok := r.(transport.Waiter); ok {
		_, _, err := w.Wait(nil)
		return err
	}
	const asks, first, longest = 200, 20 * time.Microsecond, 5 * time.Millisecond
	pause := first
	for n := 0; ; n++ {
		if _, done, err := r.Test(); done || err != nil {
			return err
		}
		runtime.Gosched()
		if n > asks { // for a fourth of the time that it took until now: ranks that ask keep others from their processors
			time.Sleep(pause)
			pause = min(pause+pause/4, longest)
		}
	}
}
