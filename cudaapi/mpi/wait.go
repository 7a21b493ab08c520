package mpi

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gocuda/cudaapi/internal/interrupt"
	"gocuda/cudaapi/mpi/internal/transport"
)

// SetInterrupt makes every blocking call of this package, from now on, end with
// [ErrInterrupted] when stop closes. A nil channel lets them run to their end. It
// is cuda.SetInterrupt: the channel is one for both packages.
func SetInterrupt(stop <-chan struct{}) { interrupt.Set(stop) }

func stop() <-chan struct{} { return interrupt.Channel() }

// How a wait goes on asking: at first at once, so that a message is seen as soon
// as by the library's own wait; then letting other processes run in between, and
// goroutines, if others of this rank wait too, and else rarely, for that can cost
// this one its thread and all that its processor has at hand; then sleeping, for
// longer and longer. Libraries move long messages only while they are asked, so
// an answer that took long ends the sleeping: it has moved some. Where there are
// more ranks than processors, the peer most likely needs this one's.
const (
	spins         = 400
	spinsCrowded  = 10
	yields        = 2 * time.Millisecond
	yieldsCrowded = 50 * time.Microsecond
	sleepFirst    = 20 * time.Microsecond
	sleepLongest  = 500 * time.Microsecond
	moving        = 5 * time.Microsecond
	goroutines    = 500 * time.Microsecond // until others get their turn
	// patient are the bytes of device memory for which a wait goes on by a
	// nanosecond before it sleeps: a fourth of what a link moves in that time. Who
	// slept would see the end late by a good part of a long copy.
	patient = 100
	// After a rank is lost, what others have sent may still arrive.
	lostGrace = 300 * time.Millisecond
)

// anyProcessors is a mask of as many processors as there are, whichever.
func anyProcessors(mask []uint64) []uint64 {
	for i := range min(runtime.NumCPU(), 64*len(mask)) {
		mask[i/64] |= 1 << (i % 64)
	}
	return mask
}

// waiter paces a wait and ends it when it must end.
type waiter struct {
	w      *world
	stop   <-chan struct{} // that of when the wait began
	n      int
	began  time.Time
	tired  time.Time // when to begin to sleep
	ran    time.Time // when other goroutines last could
	counts bool      // it is one of the world's waits
	sleep  time.Duration
	woke   time.Time
	lostAt time.Time
	shown  *shownWait
}

func newWaiter(w *world) waiter { return waiter{w: w, stop: stop()} }

// Wait is a blocking call that is under way.
type Wait struct {
	Call  string // such as "Comm.Recv"
	Comm  string // the communicator's name
	Rank  int    // this rank in it
	Peer  int    // the rank waited for, -1 if it is any, or all
	Tag   int    // -1 if it is any, or there is none
	Bytes int    // of the buffer; -1 if there is none, or it is not known
	Since time.Time
}

func (w Wait) String() string {
	s := fmt.Sprintf("%s on %s, rank %d", w.Call, w.Comm, w.Rank)
	if w.Peer >= 0 {
		s += fmt.Sprintf(", peer %d", w.Peer)
	}
	if w.Tag >= 0 {
		s += fmt.Sprintf(", tag %d", w.Tag)
	}
	return fmt.Sprintf("%s, for %v", s, time.Since(w.Since).Round(time.Millisecond))
}

// shownWait is a Wait on the list.
type shownWait struct {
	Wait
	purpose
	id   uint64
	book *ledger
}

var waits waiting

// waiting is what this rank's goroutines are blocked in.
type waiting struct {
	sync.Mutex
	list    []*shownWait
	windows []*Win        // which have waits of their own
	last    atomic.Uint64 // id
}

// all are those of the list and of windows, longest first.
func (x *waiting) all() []shownWait {
	x.Lock()
	var list []shownWait
	for _, w := range x.list {
		list = append(list, *w)
	}
	windows := slices.Clone(x.windows)
	x.Unlock()
	for _, w := range windows {
		list = append(list, w.waits()...)
	}
	slices.SortStableFunc(list, func(a, b shownWait) int { return a.Since.Compare(b.Since) })
	return list
}

// forget takes a window that was freed out.
func (x *waiting) forget(w *Win) {
	x.Lock()
	defer x.Unlock()
	x.windows = slices.DeleteFunc(x.windows, func(one *Win) bool { return one == w })
}

// Waits tells what this rank's goroutines are blocked in, longest first; calls
// that have waited for less than a few milliseconds are left out.
func Waits() []Wait {
	all := waits.all()
	list := make([]Wait, len(all))
	for i, w := range all {
		list[i] = w.Wait
	}
	return list
}

// pause waits a little. It gives an error when the wait is to end.
func (x *waiter) pause(p *pending) error {
	x.n++
	if x.n < x.w.spins {
		return nil
	}
	if x.sleep > 0 && time.Since(x.woke) > moving {
		x.sleep, x.tired = 0, time.Now().Add(x.enough(p))
	}
	if x.n < x.w.spins+8 || x.n%8 == 0 || x.sleep > 0 {
		if err := x.check(p); err != nil {
			return err
		}
	}
	if x.sleep == 0 {
		if x.w.waits.Load() > 1 || x.w.crowded() {
			runtime.Gosched()
		}
		yield()
		return nil
	}
	nap(x.sleep)
	x.sleep = min(x.sleep+x.sleep/4, sleepLongest)
	x.woke = time.Now()
	return nil
}

func (x *waiter) check(p *pending) error {
	select {
	case <-x.stop:
		return ErrInterrupted
	default:
	}
	now := time.Now()
	if x.began.IsZero() {
		x.began, x.ran, x.tired = now, now, now.Add(x.enough(p))
		x.counts = true
		x.w.waits.Add(1)
	}
	if now.Sub(x.ran) > goroutines {
		x.ran = now
		runtime.Gosched()
	}
	if x.sleep == 0 && now.After(x.tired) {
		x.sleep, x.woke = sleepFirst, now
		x.show(p)
	}
	select {
	case <-p.c.lost():
		if x.lostAt.IsZero() {
			x.lostAt = now
		}
		if now.Sub(x.lostAt) > lostGrace {
			return p.c.lossOf(p)
		}
	default:
	}
	return nil
}

// enough is how long p is waited for without sleeping.
func (x *waiter) enough(p *pending) time.Duration {
	if x.w.crowded() {
		return x.w.yields
	}
	return x.w.yields + time.Duration(p.onDevice/patient)
}

// show puts the wait on the list, and done takes it off.
func (x *waiter) show(p *pending) {
	if x.shown != nil {
		return
	}
	if x.began.IsZero() {
		x.began = time.Now()
	}
	x.shown = &shownWait{Wait: Wait{Call: p.call, Comm: p.c.name, Rank: p.c.rank, Peer: p.peer, Tag: p.tag, Bytes: p.bytes, Since: x.began}, purpose: p.purpose, book: p.c.book}
	x.shown.id = waits.last.Add(1)
	waits.Lock()
	waits.list = append(waits.list, x.shown)
	waits.Unlock()
}

func (x *waiter) done() {
	if x.counts {
		x.w.waits.Add(-1)
		x.counts = false
	}
	if x.shown == nil {
		return
	}
	waits.Lock()
	if i := slices.Index(waits.list, x.shown); i >= 0 {
		waits.list = slices.Delete(waits.list, i, i+1)
	}
	waits.Unlock()
}

// pending is an operation under way: the transport's request, and what its end
// is checked against.
type pending struct {
	c         *Comm
	call      string
	r         transport.Request
	peer, tag int
	recv      bool // a receive, into elements of size bytes
	size      int
	onDevice  int // bytes of device memory that it moves, at most
	transfer  transfer
	bytes     int  // of its buffer, -1 if it has none
	posted    bool // it is a receive that the ledger has as open
	purpose
}

// wait blocks until p is over. What was interrupted goes on in the background.
func (p *pending) wait() (Status, error) {
	st, over, err := p.block()
	if g, ok := p.r.(interface{ goOn(why error) }); ok && !over {
		g.goOn(err)
	} else if !over {
		p.c.w.abandon(p.r)
	} else if r, ok := p.r.(transport.Releaser); ok {
		r.Release()
	}
	return st, err
}

// block blocks until p is over, or the wait has to end before.
func (p *pending) block() (st Status, over bool, err error) {
	ts, done, err := p.r.Test()
	if !done && err == nil {
		x := newWaiter(p.c.w)
		defer x.done() // also where the program's own operation panics
		for !done && err == nil {
			if x.n >= p.c.w.spins {
				if r, ok := p.r.(transport.Waiter); ok {
					x.show(p)
					if ts, done, err = r.Wait(x.stop); !done && err == nil {
						return p.giveUp(ErrInterrupted)
					}
					break
				}
			}
			if err := x.pause(p); err != nil {
				return p.giveUp(err)
			}
			ts, done, err = p.r.Test()
		}
	}
	st, err = p.over(ts, err)
	return st, true, err
}

// over turns what the transport says of an operation that is complete into what
// the caller sees.
func (p *pending) over(st transport.Status, err error) (Status, error) {
	if p.transfer.op != nil && p.recv && err == nil {
		p.transfer.over(p.c.came(st))
	}
	p.transfer.end()
	p.closed(st, err == nil)
	if err != nil {
		return Status{Source: st.Source, Tag: st.Tag}, p.c.fail(p.call, p.peer, err)
	}
	if p.recv && p.size > 1 && st.Bytes%p.size != 0 {
		e := p.c.misuse(ErrType, p.call, "the message has %d bytes, which is not a whole number of the buffer's elements of %d bytes", st.Bytes, p.size)
		e.Peer = st.Source
		return Status(st), e.hint("sender and receiver must agree on the element type")
	}
	return Status(st), nil
}

// closed notes in the ledger that a receive is over, and whether a message came.
func (p *pending) closed(st transport.Status, came bool) {
	if !p.posted {
		return
	}
	p.posted = false
	p.c.book.closes(p.peer, p.tag)
	if came && !st.Cancelled {
		p.c.book.takes(st.Source, st.Tag)
	}
}

// cancelTime is how long an abandoned receive is given to come to its end.
const cancelTime = time.Second

// giveUp ends a wait early. A receive is cancelled; had a message come already,
// the receive ends well instead, so that the message is not lost. Anything else
// is not over.
func (p *pending) giveUp(why error) (st Status, over bool, err error) {
	if !p.recv {
		return Status{}, false, why
	}
	if err := p.r.Cancel(); err != nil {
		return Status{}, false, p.c.fail(p.call, p.peer, err)
	}
	for end := time.Now().Add(cancelTime); time.Now().Before(end); yield() {
		ts, done, err := p.r.Test()
		switch {
		case done && ts.Cancelled:
			p.transfer.end()
			p.closed(ts, false)
			return Status(ts), true, why
		case done || err != nil:
			st, err = p.over(ts, err)
			return st, true, err
		}
		runtime.Gosched()
	}
	return Status{}, false, why
}

// abandon moves operations that nobody waits for to their end, as far as they
// get while this rank is in other calls.
func (w *world) abandon(r transport.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.abandoned = append(w.abandoned, r)
}

// settle lets go of abandoned operations that are over.
func (w *world) settle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.abandoned = slices.DeleteFunc(w.abandoned, func(r transport.Request) bool {
		_, done, err := r.Test()
		return done || err != nil
	})
}
