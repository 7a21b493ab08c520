package sim

import (
	"slices"
	"time"
)

// engine is a part of a device: a copy engine or a link does one thing at a
// time, the processors as many kernels as fit.
type engine struct {
	name  string
	kind  engineKind
	other *engine // the same link's other direction
	busy  []use   // by start
}

type engineKind uint8

const (
	computeEngine engineKind = iota // kernels, fills and copies inside a device
	copyEngine                      // copies over a link
)

// use is a share of the engine, taken for a while.
type use struct {
	lo, hi time.Duration
	share  float64
}

// duplexLoss is how much slower a link is in one direction while it is in use in
// the other.
const duplexLoss = 0.1

// place finds the first time from ready on at which so much of the engine is
// free for d, and of far if there is one, and takes it. Nothing will be placed
// before now any more.
func (e *engine) place(ready, d, now time.Duration, share float64, far *engine) (begin, end time.Duration) {
	at := e.free(ready, d, now, share)
	if far != nil {
		for there := far.free(at, d, now, share); there != at; there = far.free(at, d, now, share) {
			at = e.free(there, d, now, share)
		}
	}
	if e.other != nil {
		d += time.Duration(duplexLoss * float64(e.other.during(at, at+d)))
	}
	for _, x := range []*engine{e, far} {
		if x != nil && d > 0 {
			x.busy = append(x.busy, use{at, at + d, share})
		}
	}
	return at, at + d
}

// free is the first time from ready on at which so much of the engine is free
// for d.
func (e *engine) free(ready, d, now time.Duration, share float64) time.Duration {
	e.busy = slices.DeleteFunc(e.busy, func(u use) bool { return u.hi <= now })
	at := ready
	for !e.fits(at, at+d, share) {
		// Only an end makes room.
		next := time.Duration(1<<63 - 1)
		for _, u := range e.busy {
			if u.hi > at {
				next = min(next, u.hi)
			}
		}
		at = next
	}
	return at
}

// fits reports whether a share is free all the time from lo to hi.
func (e *engine) fits(lo, hi time.Duration, share float64) bool {
	const slack = 1e-9
	// The load only rises where a use starts.
	if e.load(lo)+share > 1+slack {
		return false
	}
	for _, u := range e.busy {
		if u.lo > lo && u.lo < hi && e.load(u.lo)+share > 1+slack {
			return false
		}
	}
	return true
}

func (e *engine) load(at time.Duration) (l float64) {
	for _, u := range e.busy {
		if u.lo <= at && at < u.hi {
			l += u.share
		}
	}
	return l
}

// during is how long the engine is in use between lo and hi.
func (e *engine) during(lo, hi time.Duration) (d time.Duration) {
	for _, u := range e.busy {
		d += max(0, min(hi, u.hi)-max(lo, u.lo))
	}
	return min(d, hi-lo)
}
