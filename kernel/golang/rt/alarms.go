package rt

import (
	"context"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"
)

// alarms are what may wake a goroutine of a cell, or call a function of one, and is
// no goroutine itself: timers, deadlines, and functions that a driver is to call.
type alarms struct {
	mu     sync.Mutex
	list   []alarm
	prune  int         // how long list becomes before what is gone is taken out
	fresh  atomic.Bool // a cell has begun since Alarmed was asked
	next   time.Time   // when memory may be collected again
	pause  time.Duration
	resets atomic.Bool
	calls  atomic.Bool
}

type alarm struct {
	until time.Time   // when it has gone off at the latest; zero: it may at any time
	timer bool        // which Reset may set again
	gone  func() bool // nobody can hear of it any more
}

// late is how long after its time an alarm may go off: a machine may be busy.
const late = time.Second

// pends says whether an alarm may still go off.
func (a alarm) pends(resets bool) bool {
	over := !a.until.IsZero() && time.Since(a.until) > late && !(a.timer && resets)
	return !over && !a.gone()
}

func (l *alarms) add(a alarm) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) >= l.prune {
		// Timers that are over are kept for as long as cells have them: for Reset.
		l.list = slices.DeleteFunc(l.list, func(a alarm) bool { return !a.pends(true) })
		l.prune = 2*len(l.list) + 64
	}
	l.list = append(l.list, a)
}

// forgotten says of a value, later, that nobody has it any more.
func forgotten[T any](p *T) func() bool {
	w := weak.Make(p)
	return func() bool { return w.Value() == nil }
}

// WatchCallbacks has Alarmed know of functions that cells give compiled ones from
// now on, as long as they have them; WatchResets, that timers which are over may be
// set again.
func (r *Runtime) WatchCallbacks() { r.alarms.calls.Store(true) }

// WatchResets is told about at WatchCallbacks.
func (r *Runtime) WatchResets() { r.alarms.resets.Store(true) }

// Alarmed says whether a goroutine of a cell that waits may be woken by a timer, a
// deadline or a function that was given away. It may collect garbage, for timers that
// nobody has any more wake nobody: it is for when all goroutines are asleep.
func (r *Runtime) Alarmed() bool {
	l := &r.alarms
	pends := func() bool {
		l.list = slices.DeleteFunc(l.list, func(a alarm) bool { return !a.pends(true) })
		return slices.ContainsFunc(l.list, func(a alarm) bool { return a.pends(l.resets.Load()) })
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !pends() {
		return false
	}
	if l.fresh.Swap(false) {
		l.next, l.pause = time.Time{}, time.Second
	}
	if now := time.Now(); now.After(l.next) {
		l.next, l.pause = now.Add(l.pause), 2*l.pause // the runtime lets go of timers when it likes
		runtime.GC()
	}
	return pends()
}

// timers are what cells get in place of functions of packages time and context.
func (r *Runtime) timers() map[string]map[string]reflect.Value {
	l := &r.alarms
	timer := func(d time.Duration, t *time.Timer) *time.Timer {
		l.add(alarm{until: time.Now().Add(d), timer: true, gone: forgotten(t)})
		return t
	}
	ticker := func(t *time.Ticker) *time.Ticker {
		l.add(alarm{gone: forgotten(t)})
		return t
	}
	deadline := func(ctx context.Context, cancel context.CancelFunc) (context.Context, context.CancelFunc) {
		if until, ok := ctx.Deadline(); ok {
			l.add(alarm{until: until, gone: func() bool { return ctx.Err() != nil }})
		}
		return ctx, cancel
	}
	return map[string]map[string]reflect.Value{
		"time/time": {
			"After":     reflect.ValueOf(func(d time.Duration) <-chan time.Time { return timer(d, time.NewTimer(d)).C }),
			"AfterFunc": reflect.ValueOf(func(d time.Duration, f func()) *time.Timer { return timer(d, time.AfterFunc(d, f)) }),
			"NewTimer":  reflect.ValueOf(func(d time.Duration) *time.Timer { return timer(d, time.NewTimer(d)) }),
			"NewTicker": reflect.ValueOf(func(d time.Duration) *time.Ticker { return ticker(time.NewTicker(d)) }),
			"Tick": reflect.ValueOf(func(d time.Duration) <-chan time.Time {
				if d <= 0 {
					return nil
				}
				return ticker(time.NewTicker(d)).C
			}),
		},
		"context/context": {
			"WithTimeout": reflect.ValueOf(func(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
				return deadline(context.WithTimeout(parent, d))
			}),
			"WithTimeoutCause": reflect.ValueOf(func(parent context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
				return deadline(context.WithTimeoutCause(parent, d, cause))
			}),
			"WithDeadline": reflect.ValueOf(func(parent context.Context, at time.Time) (context.Context, context.CancelFunc) {
				return deadline(context.WithDeadline(parent, at))
			}),
			"WithDeadlineCause": reflect.ValueOf(func(parent context.Context, at time.Time, cause error) (context.Context, context.CancelFunc) {
				return deadline(context.WithDeadlineCause(parent, at, cause))
			}),
		},
	}
}
