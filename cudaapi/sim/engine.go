package sim

import (
	"slices"
	"time"
)

// engine is a part of a device: a copy engine or a link does one thing at a
// time, the processors as many kernels as fit.
type engine struct {
	name string
	busy []use // by start
}

// use is a share of the engine, taken for a while.
type use struct {
	lo, hi time.Duration
	share  float64
}

// place finds the first time from ready on at which so much of the engine is
// free for d, and takes it. Nothing will be placed before now any more.
func (e *engine) place(ready, d, now time.Duration, share float64) time.Duration {
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
	if d > 0 {
		e.busy = append(e.busy, use{at, at + d, share})
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

// kernelLoad is what a launch touches, by how fast the device reaches it.
type kernelLoad struct {
	blocks, threads uint64 // in the grid; in a block
	resident        uint64 // blocks that the device holds at a time
	local, peer     uint64 // bytes in reach of its pointers
	host            uint64
	written         uint64 // of these, not through pointers to const
	read, stored    uint64 // bytes of accesses; 0 where they were not checked
}

const (
	cacheRate       = 20e12 // bytes per second from the caches of all SMs
	warpRate        = 2e9   // bytes per second that one warp has under way
	uncheckedThread = 16    // bytes that a thread is taken to access where nobody counts
)

// kernelTime is how long a kernel takes by its traffic: once all that its
// pointers reach, but no more than it accessed. What is written counts again
// if it was read before, which is when the store needed no check of its own.
func (p *Profile) kernelTime(k *kernelLoad) time.Duration {
	counted := k.read + k.stored
	if counted == 0 {
		counted = k.blocks * k.threads * uncheckedThread
	}
	d := float64(counted) / cacheRate
	if reach := k.local + k.peer + k.host; reach > 0 {
		part := min(1, float64(counted)/float64(reach))
		again := max(0, part*float64(k.written)-float64(k.stored)) / float64(reach)
		warps := float64(min(k.blocks, k.resident) * ((k.threads + 31) / 32))
		for _, r := range []struct {
			bytes uint64
			rate  float64
		}{{k.local, p.MemoryRate}, {k.peer, p.PeerRate}, {k.host, p.HostRate}} {
			d = max(d, (part+again)*float64(r.bytes)/min(r.rate, warps*warpRate))
		}
	}
	return p.KernelTime + time.Duration(d*1e9)
}

// share is how much of the device a launch fills.
func (k *kernelLoad) share() float64 {
	return min(1, float64(k.blocks)/float64(max(k.resident, 1)))
}
