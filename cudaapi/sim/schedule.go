package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"gocuda/cudaapi/driver"
)

// The scheduler decides which operation runs next. CUDA orders operations of
// one stream, and those that events, the legacy stream and waits for values
// order; every other order is possible on a GPU, so the scheduler chooses
// freely among the operations that may start, by the seed.
//
// Nothing starts when it is issued: the device begins when the host waits for
// it or asks after it, or has issued nothing for a while. So a host that reads
// a result too early finds that it is not there, and the choice is made among
// all that was issued, not among what happened to arrive in time. Operations
// run one at a time, each with all cores; so a run can be repeated. One that
// takes long (a kernel that spins until another writes, a host function that
// waits) is left to go on while others run beside it.
type scheduler struct {
	m       *Driver
	rng     *rand.Rand
	issued  uint64
	pending int // operations issued and not finished
	running int // of these, those that run
	ready   []*op
	polls   []*op // wait-value operations that may start
	wanted  map[*op]int
	waiting map[*op]*launchABI // kernels of which some blocks wait for memory to change
	current *op                // the one that others are held back for
	hold    time.Time          // until then
	recent  time.Time          // when the last operation was issued
	urged   bool               // the host asked after work since then
	held    time.Time          // since when there has been nothing but late operations to run
	active  bool               // the loop runs
	idle    bool               // it waits until something new happens
	choice  uint64             // counts the adversary's choices
	walk    uint64             // and its walks
	wake    chan struct{}
}

const (
	quiet       = 5 * time.Millisecond // without new work, before devices start by themselves
	longQuiet   = 30 * time.Millisecond
	holdKernel  = 100 * time.Millisecond // before others run beside a kernel
	holdHost    = 2 * time.Millisecond   // before others run beside a host function
	pollEvery   = 100 * time.Microsecond
	mostHeld    = 300 * time.Millisecond // of late operations, where the host asks whether they are done
	longestHeld = 2 * time.Second        // ... where it does not: it may wait for what they tell it by other means
	maxQueued   = 512                    // operations a stream takes before the host must wait, twice
	maxConsider = 256                    // operations among which the adversary looks for races
)

func (s *scheduler) init(m *Driver) {
	s.m = m
	s.rng = rand.New(rand.NewPCG(m.opt.Seed, 0x5c8ed))
	s.wanted = map[*op]int{}
	s.waiting = map[*op]*launchABI{}
	s.wake = make(chan struct{}, 1)
}

// add takes a new operation. m.mu is held.
func (s *scheduler) add(o *op) {
	s.pending++
	s.recent, s.urged = time.Now(), false
	if o.waits == 0 {
		s.start(o)
	}
	if s.pending > 0 && !s.active {
		s.active = true
		go s.loop()
	}
	if s.idle { // a kernel runs that may wait for this operation
		s.idle = false
		s.signal()
	}
}

// start makes o, whose predecessors are finished, ready. Markers finish here,
// and those that waited only for them.
func (s *scheduler) start(o *op) {
	work := []*op{o}
	for len(work) > 0 {
		o := work[len(work)-1]
		work = work[:len(work)-1]
		switch {
		case o.work == nil && o.met == nil:
			work = append(work, s.settle(o)...)
		case o.met != nil && o.ctx.err == nil:
			o.state = opReady
			s.polls = append(s.polls, o)
		default:
			o.state = opReady
			s.ready = append(s.ready, o)
		}
	}
}

// settle marks o finished and returns those that may start now.
func (s *scheduler) settle(o *op) (freed []*op) {
	o.state = opFinished
	s.pending--
	if o.after != nil {
		o.after(o)
	}
	if o.done != nil {
		close(o.done)
	}
	for _, n := range o.next {
		if n.waits--; n.waits == 0 {
			freed = append(freed, n)
		}
	}
	o.preds, o.next, o.work, o.met, o.after = nil, nil, nil, nil, nil
	return freed
}

// finish ends o, which ran, with its error. m.mu is held.
func (s *scheduler) finish(o *op, err error) {
	if err != nil {
		o.ctx.poison(err)
	}
	if s.current == o {
		s.current = nil
	}
	if o.state == opRunning {
		s.running--
	}
	delete(s.waiting, o)
	for _, n := range s.settle(o) {
		s.start(n)
	}
	s.m.model.advance()
	s.signal()
}

func (s *scheduler) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// urge lets devices run because the host asked after their work.
func (s *scheduler) urge() {
	if s.pending > 0 {
		s.urged = true
		s.signal()
	}
}

// loop runs operations until there are none.
func (s *scheduler) loop() {
	m := s.m
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	m.mu.Lock()
	for s.pending > 0 {
		pause := s.step()
		if pause == 0 {
			continue
		}
		m.mu.Unlock()
		timer.Reset(pause)
		select {
		case <-s.wake:
		case <-timer.C:
		}
		m.mu.Lock()
	}
	s.active = false
	m.mu.Unlock()
}

// step runs one operation, or says how long to wait for something to change.
// m.mu is held, but not while the operation runs.
func (s *scheduler) step() time.Duration {
	if s.current != nil {
		if left := time.Until(s.hold); left > 0 {
			return left
		}
		s.current = nil
	}
	if len(s.wanted) == 0 && !s.urged {
		q := quiet
		if s.m.opt.Adversarial {
			q = longQuiet
		}
		if left := q - time.Since(s.recent); left > 0 {
			return left
		}
	}
	for i, o := range s.polls {
		if o.ctx.err != nil || o.met() {
			s.polls = slices.Delete(s.polls, i, i+1)
			s.m.model.met(o)
			s.finish(o, nil)
			return 0
		}
	}
	i := s.pick()
	if i < 0 {
		if len(s.polls) > 0 || s.urged && !s.held.IsZero() {
			return pollEvery
		}
		s.idle = true
		if !s.held.IsZero() {
			return max(pollEvery, longestHeld-time.Since(s.held))
		}
		return time.Hour
	}
	o := s.ready[i]
	s.ready[i] = s.ready[len(s.ready)-1]
	s.ready[len(s.ready)-1] = nil
	s.ready = s.ready[:len(s.ready)-1]
	s.run(o)
	return 0
}

// run carries out o: quick work at once, work that may take long beside the
// loop, with the others held back for a while.
func (s *scheduler) run(o *op) {
	if o.ctx.err != nil { // a poisoned context does no more work
		s.finish(o, nil)
		return
	}
	o.state = opRunning
	s.running++
	work := o.work
	if o.kind == opKernel || o.kind == opHost {
		s.current = o
		s.hold = time.Now().Add(holdKernel)
		if o.kind == opHost {
			s.hold = time.Now().Add(holdHost)
		}
		go func() {
			err := work(o)
			s.m.mu.Lock()
			s.finish(o, err)
			s.m.mu.Unlock()
		}()
		return
	}
	s.m.mu.Unlock()
	err := work(o)
	s.m.mu.Lock()
	s.finish(o, err)
}

// Delay has what call issues run late: when nothing else can run, and the host waits.
func (m *Driver) Delay(call func() error) error {
	m.delaying.Add(1)
	defer m.delaying.Add(-1)
	return call()
}

// last is the late operation to run when all others have run that can; -1 if the host
// does not wait for it, nor for what may need it.
func (s *scheduler) last() int {
	if s.held.IsZero() {
		s.held = time.Now()
	}
	held := time.Since(s.held)
	asked := s.urged && held > mostHeld || held > longestHeld
	if len(s.wanted) == 0 && !asked {
		return -1
	}
	s.choice++
	for o := range s.wanted {
		s.need(o)
	}
	best, needed := -1, false
	for i, o := range s.ready {
		// Of several, the one that was issued last.
		if n := o.needed == s.choice; best < 0 || n && !needed || n == needed && o.seq > s.ready[best].seq {
			best, needed = i, n
		}
	}
	if !needed && !asked && len(s.waiting) == 0 && len(s.polls) == 0 {
		return -1 // what the host waits for runs by itself, or has run
	}
	return best
}

// pick chooses among the ready operations; -1 is none.
func (s *scheduler) pick() int {
	if len(s.ready) == 0 {
		return -1
	}
	if slices.ContainsFunc(s.ready, func(o *op) bool { return o.late }) {
		var others []int
		for i, o := range s.ready {
			if !o.late {
				others = append(others, i)
			}
		}
		if len(others) == 0 {
			return s.last()
		}
		s.held = time.Time{}
		return others[s.rng.IntN(len(others))]
	}
	s.held = time.Time{}
	if s.m.opt.Adversarial {
		return s.pickAgainst()
	}
	if s.rng.IntN(2) == 0 {
		return s.rng.IntN(len(s.ready))
	}
	// Programs are mostly right in the order in which they were written. So the
	// last that was issued comes first as often as not.
	last := 0
	for i, o := range s.ready {
		if o.seq > s.ready[last].seq {
			last = i
		}
	}
	return last
}

// wait blocks until o is finished or stop is closed. m.mu is not held.
func (m *Driver) wait(o *op, stop <-chan struct{}) error {
	m.mu.Lock()
	if o.state == opFinished {
		m.mu.Unlock()
		return nil
	}
	if o.done == nil {
		o.done = make(chan struct{})
	}
	done := o.done
	m.sched.wanted[o]++
	m.sched.signal()
	m.mu.Unlock()
	var err error
	select {
	case <-done:
	case <-stop:
		err = driver.ErrInterrupted
	}
	m.mu.Lock()
	if err != nil {
		err = m.sched.interrupted(err)
	}
	if m.sched.wanted[o]--; m.sched.wanted[o] == 0 {
		delete(m.sched.wanted, o)
	}
	m.mu.Unlock()
	return err
}

// waits notes that blocks of a kernel wait for memory to change: others may run
// beside it, since it may be they who change it. It reports whether the kernel is
// to be given up, because its context ends.
func (s *scheduler) waits(o *op, a *launchABI) bool {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	s.waiting[o] = a
	if s.current == o {
		s.current = nil
		s.signal()
	}
	return o.ctx.ending.Load()
}

// interrupted reports kernels that may never end. m.mu is held.
func (s *scheduler) interrupted(err error) error {
	for o, a := range s.waiting {
		begun := min(atomic.LoadUint64(&a.next), a.blocks)
		err = fmt.Errorf("%w; kernel %s of device %d is still running: its threads wait for memory to change", err, o.name, o.ctx.dev.id)
		if begun < a.blocks {
			err = fmt.Errorf("%w, and %d of its %d blocks begin only when others end, since the device has room for no more", err, a.blocks-begun, a.blocks)
		}
	}
	return err
}

// waitAll waits for several.
func (m *Driver) waitAll(ops []*op, stop <-chan struct{}) error {
	for _, o := range ops {
		if err := m.wait(o, stop); err != nil {
			return err
		}
	}
	return nil
}
