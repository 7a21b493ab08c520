package sim

import (
	"gocuda/cudaapi/driver"
)

// op is one operation in a stream.
type op struct {
	seq    uint64 // order of issue, over the whole machine
	kind   opKind
	name   string
	stream *stream
	ctx    *context

	state opState
	waits int   // predecessors that are not finished
	preds []*op // of which some may have finished by now
	next  []*op // those that wait for this one
	done  chan struct{}

	late bool // it runs when nothing else can, and the host waits: see Delay

	// work is what the operation does; it runs without the machine's lock.
	// Markers have none and finish as soon as they may start.
	work func(o *op) error
	// code is what a kernel is of: a graph may be launched after it was unloaded.
	code *module
	// met says whether a wait-value operation may go on.
	met func() bool
	// after runs once the operation is finished, whatever became of it, under
	// the machine's lock.
	after func(o *op)

	reads, writes []span
	cost
	marks
}

type opKind uint8

const (
	opMarker opKind = iota
	opCopy
	opFill
	opKernel
	opHost
	opWaitValue
	opWriteValue
)

var opNames = [...]string{"event", "copy", "fill", "kernel", "host function", "wait value", "write value"}

func (k opKind) String() string { return opNames[k] }

type opState uint8

const (
	opWaiting  opState = iota // for its predecessors
	opReady                   // may start
	opRunning                 //
	opFinished                //
)

// span is a range of addresses that an operation reads or writes.
type span struct{ lo, hi uintptr }

func spanOf(p driver.Ptr, n uint64) span { return span{uintptr(p), uintptr(p) + uintptr(n)} }

func overlap(a, b []span) bool {
	for _, x := range a {
		for _, y := range b {
			if x.lo < y.hi && y.lo < x.hi {
				return true
			}
		}
	}
	return false
}

// conflicts reports whether the result depends on which of the two runs first.
func (o *op) conflicts(p *op) bool {
	return overlap(o.writes, p.writes) || overlap(o.writes, p.reads) || overlap(o.reads, p.writes)
}

// depend makes o wait for p.
func (o *op) depend(p *op) {
	if p == nil || p == o {
		return
	}
	o.cost.deps = append(o.cost.deps, p)
	if p.state == opFinished {
		return
	}
	o.preds = append(o.preds, p)
	p.next = append(p.next, o)
	o.waits++
}

// enqueue puts o at the end of stream s. m.mu is held.
func (m *Driver) enqueue(s *stream, o *op) {
	o.stream, o.seq = s, m.sched.issued
	if o.ctx == nil {
		o.ctx = s.ctx
	}
	m.sched.issued++
	o.depend(s.last)
	if s.legacy {
		for _, t := range s.ctx.streams {
			if t.blocking && t != s {
				o.depend(t.last)
			}
		}
	} else if s.blocking && s.ctx.legacy.last != nil {
		o.depend(s.ctx.legacy.last)
	}
	s.last = o
	m.model.issue(o)
	m.sched.add(o)
}
