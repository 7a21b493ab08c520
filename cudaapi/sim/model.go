package sim

import (
	"slices"
	"time"

	"gocuda/cudaapi/driver"
)

// The model gives every operation a time of its own making, so that event
// times are the same on every run, whatever order the scheduler chose and
// however long the CPU took. It follows the order of issue: the host issues
// calls one after another, each at its cost; an operation begins when it has
// been issued, what it waits for has ended and its engine is free.
type model struct {
	m    *Driver
	host hosts
	log  []*entry // issued and not timed, in order of issue
	most int      // entries of log, before those are timed that can be
	past []Record
	link map[[2]driver.Device]*engine
	// writer is the operation that last wrote a word that streams wait on.
	writer map[uintptr]*op
	trace  trace
}

// hosts are the clocks of those who issue calls. A machine has one. In a cluster
// each device has one of its own, as if a process drove it, though here it is
// one program: otherwise the time to issue the calls of hundreds of devices
// would be all that there is to see. A wait brings them together.
type hosts struct {
	clock []time.Duration
	since time.Duration // none is before it
}

// of is the clock of calls for a device.
func (h *hosts) of(d *device) *time.Duration { return &h.clock[int(d.id)%len(h.clock)] }

// latest is the time that all calls so far were made by.
func (h *hosts) latest() time.Duration { return slices.Max(h.clock) }

// meet sets all clocks to one time.
func (h *hosts) meet(at time.Duration) {
	h.since = at
	for i := range h.clock {
		h.clock[i] = at
	}
}

// notBefore sets the clocks that are behind a time to it.
func (h *hosts) notBefore(at time.Duration) {
	for i := range h.clock {
		h.clock[i] = max(h.clock[i], at)
	}
}

// cost is the part of an operation that the model sees.
type cost struct {
	deps       []*op
	behind     *engine // that did the work by which the operation's end was decided
	engine     *engine
	far        *engine // that is in use as well: the receiver's end of the network
	share      float64 // of the engine
	duration   time.Duration
	call       time.Duration // of the host's call
	bytes      uint64
	peer       *device // the other device of a copy between two
	word       uintptr // that a wait-value or write-value operation is about
	timed      bool
	begin, end time.Duration
	tag        uint64 // of the thread that issued it, in a trace
}

// entry is one call of the host: an operation issued, or a wait for some.
type entry struct {
	op     *op
	waited []*op
	asked  bool   // it did not wait, but learned that they are over
	tag    uint64 // of the thread that waited
	moment bool   // nothing but the time is asked for
	seen   bool
	at     time.Duration // when the host made the call
}

// Record is one operation as the model timed it. Times are simulated, counted
// from the machine's start.
type Record struct {
	Seq    uint64 // order of issue
	Device int
	Stream uintptr
	Kind   string
	Name   string // of a kernel
	Engine string
	Peer   int // the other device of a copy between two, or -1
	Bytes  uint64
	Begin  time.Duration
	End    time.Duration
}

const (
	smallestShare = 1.0 / 128 // kernels that a device runs at a time
	maxRecords    = 1 << 16
	maxUntimed    = 8192
	betweenCopies = 3 // how much less a change between two copy engines takes than one from a kernel
)

func (t *model) init(m *Driver) {
	t.m, t.most = m, maxUntimed
	t.host.clock = make([]time.Duration, 1)
	if m.opt.Nodes > 1 {
		t.host.clock = make([]time.Duration, m.opt.Devices)
	}
	t.link = map[[2]driver.Device]*engine{}
	t.writer = map[uintptr]*op{}
}

// Records are the last operations that the model timed, oldest first.
func (m *Driver) Records() []Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.model.advance()
	return slices.Clone(m.model.past)
}

func (t *model) issue(o *op) {
	o.tag = t.trace.tagged()
	t.log = append(t.log, &entry{op: o})
	if len(t.log) > t.most {
		t.force(nil)
		t.most = max(maxUntimed, 2*len(t.log)) // not again at each operation
	}
}

// waited notes that the host waited for ops, which are finished.
func (t *model) waited(ops []*op) {
	t.log = append(t.log, &entry{waited: ops, tag: t.trace.tagged()})
	t.advance()
}

// learned notes that the host asked whether an operation, which is finished, is over: from
// now on it is later than the operation's end.
func (t *model) learned(o *op) {
	if o == nil || o.timed && o.end <= t.host.latest() {
		return
	}
	if n := len(t.log); n > 0 && t.log[n-1].asked && t.log[n-1].waited[0] == o {
		return // asked again
	}
	t.log = append(t.log, &entry{waited: []*op{o}, asked: true})
	t.advance()
}

// known reports whether all that o's time depends on has happened: a kernel's
// duration is known once it has run.
func (e *entry) known() bool {
	for _, o := range e.waited {
		if !o.timed {
			return false
		}
	}
	if e.op == nil {
		return true
	}
	if (e.op.kind == opKernel || e.op.kind == opWaitValue) && e.op.state != opFinished {
		return false
	}
	for _, d := range e.op.deps {
		if !d.timed {
			return false
		}
	}
	return true
}

// advance times what can be timed, in order of issue.
func (t *model) advance() {
	n := 0
	for n < len(t.log) && t.log[n].known() {
		t.pass(t.log[n])
		t.time(t.log[n])
		t.log[n] = nil
		n++
	}
	if t.log = t.log[n:]; len(t.log) == 0 {
		t.log = nil
	} else if o := t.log[0].op; o != nil && o.kind == opWaitValue && o.state == opFinished {
		t.force(o) // it waited for an operation issued later
	}
}

// force times want, or all that can be, past operations whose time is not
// known yet.
func (t *model) force(want *op) {
	for progress := true; progress && (want == nil || !want.timed); {
		progress = false
		kept := t.log[:0:0]
		for i, e := range t.log {
			if want != nil && want.timed {
				kept = append(kept, t.log[i:]...)
				break
			}
			t.pass(e)
			if e.known() {
				t.time(e)
				progress = true
			} else {
				kept = append(kept, e)
			}
		}
		t.log = kept
	}
}

// met notes that a wait for a value is over, because of the last operation
// that wrote the word if there was one.
func (t *model) met(o *op) {
	if w := t.writer[o.word]; w != nil {
		o.deps = append(o.deps, w)
	}
}

// pass notes when the host made the call.
func (t *model) pass(e *entry) {
	if e.seen {
		return
	}
	e.seen = true
	if e.op == nil {
		e.at = t.host.latest()
		return
	}
	clock := t.host.of(e.op.ctx.dev)
	*clock += e.op.call
	e.at = *clock
}

func (t *model) time(e *entry) {
	p := t.m.profile
	if e.moment {
		t.trace.tell(driver.Activity{Tag: e.tag, Kind: driver.ActivityMoment, Begin: e.at, End: e.at})
		return
	}
	if e.asked {
		t.host.notBefore(e.waited[0].end)
		return
	}
	if e.op == nil {
		began := t.host.latest()
		end := began + p.SyncCall
		for _, o := range e.waited {
			end = max(end, o.end+p.SyncCall)
		}
		t.host.meet(end)
		t.trace.tell(driver.Activity{Tag: e.tag, Kind: driver.ActivityWait, Issued: began, Begin: began, End: end})
		return
	}
	o := e.op
	ready := e.at
	if o.kind != opMarker {
		ready += p.StartDelay
	}
	o.behind = o.engine
	for _, d := range o.deps {
		if end := d.end + p.delay(d, o); end >= ready {
			ready = end
			if o.engine == nil {
				o.behind = d.behind
			}
		}
	}
	o.begin, o.end = ready, ready+o.duration
	if o.engine != nil {
		now := e.at
		if len(t.host.clock) > 1 {
			now = t.host.since // another host may be behind this one
		}
		o.begin, o.end = o.engine.place(ready, o.duration, now, max(o.share, smallestShare), o.far)
	}
	o.timed, o.deps = true, nil
	if o.kind == opMarker {
		return
	}
	t.trace.tell(driver.Activity{Tag: o.tag, Kind: activityKinds[o.kind], Name: o.name, Issued: e.at, Begin: o.begin, End: o.end})
	r := Record{Seq: o.seq, Device: int(o.ctx.dev.id), Stream: uintptr(o.stream.id), Kind: o.kind.String(), Name: o.name,
		Peer: -1, Bytes: o.bytes, Begin: o.begin, End: o.end}
	if o.peer != nil {
		r.Peer = int(o.peer.id)
	}
	if o.engine != nil {
		r.Engine = o.engine.name
	}
	if len(t.past) == maxRecords {
		t.past = slices.Delete(t.past, 0, maxRecords/4)
	}
	t.past = append(t.past, r)
}

// delay is how long after the end of d an operation can begin that waits for it.
func (p *Profile) delay(d, o *op) (t time.Duration) {
	switch {
	case d.ctx.dev.node != o.ctx.dev.node:
		return 0 // it is in the message's latency
	case d.ctx.dev != o.ctx.dev:
		t = p.PeerWait
	case d.stream != o.stream:
		t = p.WaitDelay
	}
	if d.behind == nil || o.engine == nil || d.behind == o.engine {
		return t
	}
	if d.behind.kind != o.engine.kind {
		return t + p.SwitchDelay
	}
	if o.engine.other == d.behind {
		t += p.SwitchDelay / betweenCopies
	}
	return t
}

func rate(n uint64, bytesPerSecond float64) time.Duration {
	return time.Duration(float64(n) / bytesPerSecond * 1e9)
}
