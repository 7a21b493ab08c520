package local

import (
	"runtime"
	"time"
	"unsafe"
)

const (
	spinTime    = time.Millisecond      // without progress before a wait sleeps
	spinCrowded = 50 * time.Microsecond // the same, with more ranks than processors
	spinFew     = 20                    // rounds before it yields, with more ranks than processors
	tick        = 2 * time.Millisecond  // after so long without anybody asking, the agent takes over
	// Of the agent: should a wakeup be lost, messages come late, but come. Each end of
	// a sleep costs this process some ten milliseconds of the Go runtime's monitor.
	sleepLimit = 50 * time.Millisecond
	manyRanks  = 16 // with more, it sleeps longer
)

// wait returns when over says yes, or stop closes: it spins, then sleeps.
func (e *engine) wait(over func() bool, done func() <-chan struct{}, stop <-chan struct{}) {
	crowded := e.crowded // then the peer most likely needs this processor
	var began time.Time
spin:
	for i := 1; ; i++ {
		moved := e.ask()
		if over() {
			return
		}
		if moved {
			began = time.Time{}
		}
		if crowded && i > spinFew {
			yieldProcessor() // may take as long as other processes like
		} else if i%16 != 0 {
			continue
		}
		select {
		case <-stop:
			return
		default:
		}
		switch now := time.Now(); {
		case began.IsZero():
			began = now
		case now.Sub(began) > spinTime || crowded && now.Sub(began) > spinCrowded:
			break spin
		}
		if i%64 == 0 {
			runtime.Gosched()
		}
	}
	e.waiters.Add(1)
	defer e.waiters.Add(-1)
	select {
	case <-done():
	case <-stop:
	}
}

// watch makes the agent take over at once.
func (e *engine) watch() {
	select {
	case e.kick <- struct{}{}:
	default:
	}
	e.nudge()
}

// ask is progress for those who wait for something.
func (e *engine) ask() (moved bool) {
	e.polls.Add(1)
	return e.progress(false)
}

// agent makes progress while nobody else does.
func (e *engine) agent() {
	defer close(e.ended)
	pause := time.NewTimer(tick)
	defer pause.Stop()
	for {
		polls := e.polls.Load()
		pause.Reset(tick)
		select {
		case <-e.quit:
			return
		case <-e.kick:
		case <-pause.C:
			if e.polls.Load() != polls && e.waiters.Load() == 0 {
				continue
			}
		}
		if !e.attend() {
			return
		}
	}
}

// attend makes progress, asleep while there is nothing to do, until others ask
// for it. It sleeps on a word of the segment that whoever sends this rank
// something clears. False means that the engine is closed.
func (e *engine) attend() bool {
	word := &e.segment.rank(e.rank).asleep
	limit := sleepLimit * time.Duration(max(1, e.size/manyRanks))
	for {
		polls := e.polls.Load()
		word.Store(1)
		for e.progress(true) { // what came before the word was set
			continue
		}
		select {
		case <-e.quit:
			word.Store(0)
			return false
		default:
		}
		futexWait(unsafe.Pointer(word), 1, limit)
		word.Store(0)
		for e.progress(true) {
			continue
		}
		if e.waiters.Load() == 0 && e.polls.Load() != polls {
			return true
		}
	}
}
