// Package hazard finds operations on the same memory that nothing orders.
//
// A [Checker] reads a record of what a program queued (package record) and
// keeps the order that CUDA and MPI promise, as vector clocks: two operations
// that touch the same bytes, one of them writing, with no path of promises
// between them, are a hazard. It is found whatever the schedule was, also when
// the numbers came out right.
//
// What counts as order:
//
//   - a stream's operations come one after another; the legacy default stream and
//     the blocking streams of its device wait for each other, non-blocking ones do
//     not (CUDA Driver API, Stream synchronization behavior);
//   - what is queued comes after what the host has waited for, and after what the
//     host itself did before. The goroutines of a process count as one host, for
//     what Go orders among them is not seen;
//   - an event stands for the work before its last record; a wait for one that was
//     not recorded yet is none (cuStreamWaitEvent);
//   - synchronous copies and fills as the Driver API's page API synchronization
//     behavior says: see [record.Wrap]. A free promises no wait (cuMemFree);
//   - a graph's nodes come after what they follow, between the work before and
//     after the launch, and after earlier launches of the same executable graph
//     (cuGraphLaunch);
//   - a wait for a value comes after what may have written it (Stream memory
//     operations);
//   - stream-ordered memory may be used behind its allocation and before its free;
//   - a host function that has begun is known to the host, and so is what its stream did
//     before; when it has returned, so is what it did itself. Whether the host waited for
//     that is not seen;
//   - a message or a collective comes after what the host has waited for and after
//     the default stream of its buffer's device (package mpi, Memory of devices), and
//     its buffer is MPI's until the call returns or the request is waited for (MPI
//     4.1, 3.7.2); SendOn and RecvOn are operations of their stream;
//   - where the records of all ranks are one ([Folder]): what a rank has received comes
//     after what its sender did before the call that sent it (MPI 4.1, 3.5 says which
//     message that is), and a synchronous send is over when its receive has begun
//     (3.4). A standard send's return says nothing of the receiver. Of a collective a
//     rank comes after those whose data its result has, and of a barrier after all
//     (chapter 6: no other one need synchronize). A wait for another rank's event
//     waits for the last record of it that the waiting call comes after, and memory
//     that several have open is the same memory. The record of one rank alone cannot see that; it takes what
//     its interprocess events stand for as waited for when another rank was heard of.
//
// What this project's own packages queue for a message or a collective is not
// looked at: what they promise counts, not how they keep it.
package hazard

import (
	"slices"
	"sync"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/record"
)

// Checker is a [record.Sink] that finds hazards.
type Checker struct {
	mu      sync.Mutex
	merged  bool // all ranks' records are one
	procs   map[int]*process
	dims    dimensions
	lanes   map[int]*lane
	groups  map[driver.Context]*group
	events  map[int]*moment
	early   map[int][]*record.Op // waits for events that were not recorded
	late    map[int]*record.Op   // the first record of such an event
	execs   map[uint64]clock
	begun   map[*record.Op][]*moment // waits of hosts that are not over: what they wait for
	gone    []*lane                  // destroyed, and not waited for yet
	patient int                      // waits of hosts until it is worth to look at gone again
	funcs   map[*record.Op][]*job    // host functions that have not returned, in the order of their runs
	asked   map[*record.Op]*request
	ranks   between
	words   words
	signals signals
	stuck   []*step // in order

	queue    []*job // what waits for accesses to be known
	memory   shadow
	touching touching
	found    []*Hazard
	byPlace  map[place]*Hazard
	counts   Counts
}

// Counts is how much was looked at.
type Counts struct {
	Operations int // that were recorded
	Pairs      int // of operations that touched the same memory
	Unknown    int // operations of which it is not known yet what they touched
	Guessed    int // kernels of which only their arguments told what they touch
	Held       int // operations of ranks that come after what no record tells yet
}

// New is a checker of a program that begins.
func New() *Checker {
	c := &Checker{procs: map[int]*process{}, dims: dimensions{count: -1}, lanes: map[int]*lane{}, groups: map[driver.Context]*group{}, events: map[int]*moment{}, early: map[int][]*record.Op{}, late: map[int]*record.Op{},
		execs: map[uint64]clock{}, begun: map[*record.Op][]*moment{}, funcs: map[*record.Op][]*job{}, asked: map[*record.Op]*request{}, byPlace: map[place]*Hazard{}}
	c.words.at = map[uint64]*word{}
	c.touching.c = c
	c.touching.next = c.touching.successor
	c.ranks = newBetween()
	return c
}

// process is the host of a rank, whose goroutines count as one.
type process struct {
	dim  int
	host clock
	n    uint64 // of its operations that others may have to come after
	// seen is what other ranks may have waited for: interprocess events. It is for
	// the record of one rank alone, which does not see whether they did.
	seen clock
	over bool // nothing more comes
}

// tick is one more operation of the host's.
func (p *process) tick() {
	p.n++
	p.host = p.host.with(p.dim, p.n)
}

// process is that of a rank.
func (c *Checker) process(rank int) *process {
	if !c.merged {
		rank = 0
	}
	p := c.procs[rank]
	if p == nil {
		p = &process{}
		p.dim, p.n = c.dims.take(nil)
		c.procs[rank] = p
	}
	return p
}

// floor is what all that is to come comes after: what the hosts have waited for, and
// had when what is not in its place yet, or not looked at, was queued.
func (c *Checker) floor() (f clock) {
	defer func() {
		for _, s := range c.stuck {
			f = meet(f, s.host)
		}
		for _, j := range c.queue {
			if !j.op.Site.Library { // which has no place in the order
				f = meet(f, j.base)
			}
		}
	}()
	first := true
	for _, p := range c.procs {
		switch {
		case p.over:
		case first:
			f, first = p.host, false
		default:
			f = meet(f, p.host)
		}
	}
	return f
}

// lane is a stream's part of the order.
type lane struct {
	*record.Lane
	dim  int
	base clock  // what comes before its last operation, without that
	n    uint64 // of that in the dimension
}

// full is the clock of what comes after all of the lane's operations.
func (l *lane) full() clock { return l.base.with(l.dim, l.n) }

// group is a context's lanes.
type group struct {
	legacy *lane
	others []*lane
	since  clock // of what all of its work comes after
}

// moment is one record of an event.
type moment struct {
	clock clock
	past  bool // the record is in the order
}

// request is a message's transfer that is not waited for yet.
type request struct {
	dim int
	n   uint64
	at  clock
}

// step is an operation with what was known when its call was made.
type step struct {
	op     *record.Op
	host   clock
	moment *moment // that a Mark makes, or a Wait waits for
}

// job is an operation in its place in the order, whose accesses are to be
// checked.
type job struct {
	op   *record.Op
	dim  int
	n    uint64
	base clock

	// Of a host function: it has not returned, and what it has done so far.
	runs   bool
	inside []*job
}

// after is the clock of what comes after a job.
func (j *job) after() clock { return j.base.with(j.dim, j.n) }

// Op takes the next operation.
func (c *Checker) Op(o *record.Op) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o.Site.Library {
		c.library(o)
		return
	}
	p := c.process(o.Rank)
	if o.Kind == record.SyncBegun {
		c.begins(o, p)
		return
	}
	c.counts.Operations++
	s := &step{op: o, host: p.host}
	switch o.Kind {
	case record.Mark:
		s.moment = &moment{}
		c.marks(o.Event.ID, s.moment, p)
		if len(c.early[o.Event.ID]) > 0 && c.late[o.Event.ID] == nil {
			c.late[o.Event.ID] = o
		}
	case record.Wait:
		if s.moment = c.moment(o.Event.ID, p); s.moment == nil {
			c.early[o.Event.ID] = append(c.early[o.Event.ID], o)
		}
	case record.SyncEvent:
		s.moment = c.moment(o.Event.ID, p)
	case record.Request:
		c.told(o, p)
	}
	if o.Lane == nil || o.Kind == record.SyncLane || o.Kind == record.LaneGone {
		c.hostStep(s)
	} else {
		c.place(s)
	}
	c.check()
}

// place puts a lane's operation in its place, or holds it back.
func (c *Checker) place(s *step) {
	if len(c.stuck) == 0 && c.ready(s) {
		c.laneStep(s)
		return
	}
	c.lane(s.op.Lane) // so that it is among those that others hold back
	c.stuck = append(c.stuck, s)
	c.sweep()
}

// begins notes what the host waits for from now on: the lanes' operations so far, of
// which some may be held back.
func (c *Checker) begins(o *record.Op, p *process) {
	list := []*moment{}
	switch {
	case o.Event != nil:
		if m := c.moment(o.Event.ID, p); m != nil {
			list = append(list, m)
		}
	case o.Lane != nil:
		m := &moment{}
		list = append(list, m)
		c.place(&step{op: o, host: p.host, moment: m})
	default:
		for _, l := range c.laneOf(o.Context) {
			m, of := &moment{}, *o
			of.Lane = l.Lane
			list = append(list, m)
			c.place(&step{op: &of, host: p.host, moment: m})
		}
	}
	c.begun[o] = list
}

// library takes an operation that a package of this project queued for a reason of
// its own, such as a message's transport. What such packages promise is recorded as
// operations of the program's; how they keep it orders nothing for the program. But
// memory that they give back may be the program's next.
func (c *Checker) library(o *record.Op) {
	switch o.Kind {
	case record.Alloc, record.Free, record.AllocAsync, record.FreeAsync:
		c.add(&job{op: o})
		c.check()
	}
}

// lane is the checker's own of a record's.
func (c *Checker) lane(r *record.Lane) *lane {
	l := c.lanes[r.ID]
	if l == nil {
		g := c.group(r.Context)
		l = &lane{Lane: r, base: join(c.process(r.Rank).host, g.since)}
		l.dim, l.n = c.dims.take(l.base)
		c.lanes[r.ID] = l
		if r.Legacy {
			g.legacy = l
		} else {
			g.others = append(g.others, l)
		}
	}
	return l
}

func (c *Checker) group(x driver.Context) *group {
	g := c.groups[x]
	if g == nil {
		g = &group{}
		c.groups[x] = g
	}
	return g
}

// joined is the clock of what an operation of l comes after by the stream's own
// rules.
func (c *Checker) joined(l *lane) clock {
	base := l.full()
	after := func(o *lane) {
		if o != nil && base.at(o.dim) < o.n {
			base = join(base, o.full())
		}
	}
	switch g := c.groups[l.Context]; {
	case l.Legacy:
		for _, o := range g.others {
			if o.Blocking {
				after(o)
			}
		}
	case l.Blocking:
		after(g.legacy)
	}
	return base
}

// ready reports whether an operation can be put in its place: a wait for a value
// needs a write.
func (c *Checker) ready(s *step) bool {
	switch o := s.op; o.Kind {
	case record.WaitValue:
		_, ok := c.words.met(o, join(c.joined(c.lane(o.Lane)), s.host))
		return ok
	case record.Wait:
		return s.moment == nil || s.moment.past
	case record.Request:
		return c.met(s)
	}
	return true
}

// sweep puts the operations in their places that now can be.
func (c *Checker) sweep() {
	for again := true; again; {
		again, c.ranks.moved = false, false
		held, execs := map[*lane]bool{}, map[uint64]bool{}
		c.stuck = slices.DeleteFunc(c.stuck, func(s *step) bool {
			l := c.lane(s.op.Lane)
			if !held[l] && !c.behind(s.op, held) && !slices.ContainsFunc(s.op.Also, func(a *record.Lane) bool { return held[c.lane(a)] }) && !execs[s.op.Exec] && c.ready(s) {
				c.laneStep(s)
				again = true
				return true
			}
			held[l] = true
			for _, a := range s.op.Also {
				held[c.lane(a)] = true
			}
			if s.op.Kind == record.GraphLaunch {
				execs[s.op.Exec] = true
			}
			for _, o := range c.groups[l.Context].others {
				held[o] = held[o] || l.Legacy && o.Blocking
			}
			if g := c.groups[l.Context]; l.Blocking && g.legacy != nil {
				held[g.legacy] = true
			}
			return false
		})
		again = again || c.ranks.moved
	}
}

// behind reports whether an operation comes after all of contexts that have some
// held back.
func (c *Checker) behind(o *record.Op, held map[*lane]bool) bool {
	for _, x := range o.Around {
		if g := c.groups[x]; g != nil && (held[g.legacy] || slices.ContainsFunc(g.others, func(l *lane) bool { return held[l] })) {
			return true
		}
	}
	return false
}

// force puts all operations in their places: the host has seen them done, so
// what they waited for came, from where the record does not see.
// One at a time, for it may let others go on that the record does explain: first
// those whose value no operation that is held back will write.
func (c *Checker) force() {
	for len(c.stuck) > 0 {
		c.forceNext()
	}
}

func (c *Checker) forceNext() {
	next := slices.IndexFunc(c.stuck, func(s *step) bool {
		return s.op.Kind == record.WaitValue && c.first(s) && !slices.ContainsFunc(c.stuck, func(w *step) bool {
			return w.op.Kind == record.WriteValue && w.op.Addr == s.op.Addr && wordWrite{value: w.op.Value}.ends(s.op)
		})
	})
	next = max(next, 0)
	s := c.stuck[next]
	c.stuck = slices.Delete(c.stuck, next, next+1)
	c.laneStep(s)
	c.sweep()
}

// reach puts operations in their places until moments are past: the host has seen them.
func (c *Checker) reach(list []*moment) {
	waits := func(m *moment) bool { return !m.past }
	for len(c.stuck) > 0 && slices.ContainsFunc(list, waits) {
		c.forceNext()
	}
}

// first reports whether a step is the first of its lane that is held back.
func (c *Checker) first(s *step) bool {
	i := slices.IndexFunc(c.stuck, func(o *step) bool { return o.op.Lane == s.op.Lane })
	return c.stuck[i] == s
}

// laneStep puts a lane's operation in its place.
func (c *Checker) laneStep(s *step) {
	o, l := s.op, c.lane(s.op.Lane)
	before := c.joined(l)
	if o.Kind == record.SyncBegun {
		if s.moment.clock, s.moment.past = l.full(), true; l.Legacy { // which first waits for the blocking streams
			s.moment.clock = before
		}
		return
	}
	base := join(before, s.host)
	if len(o.HostReads) > 0 {
		base = join(base, c.hostReads(o, s.host)) // before it writes
	}
	switch o.Kind {
	case record.Wait:
		if s.moment != nil {
			base = join(base, s.moment.clock)
		}
	case record.WaitValue:
		if from, ok := c.words.met(o, base); ok {
			base = join(base, from)
		}
	case record.GraphLaunch:
		base = join(base, c.execs[o.Exec])
	case record.Request:
		base = join(base, c.fromRanks(o))
	}
	for _, x := range o.Around {
		for _, other := range c.laneOf(x) {
			base = join(base, other.full())
		}
	}
	for _, a := range o.Also {
		base = join(base, c.joined(c.lane(a)))
	}
	l.base = base
	l.n++
	switch o.Kind {
	case record.Mark:
		s.moment.clock, s.moment.past = l.full(), true
		if c.ranks.events[o.Event.ID] != nil {
			p := c.process(o.Rank)
			p.seen = join(p.seen, l.full())
		}
	case record.HostFunc:
		c.runs(o, &job{op: o, dim: l.dim, n: l.n, base: l.base})
	case record.WriteValue:
		c.words.write(o.Addr, wordWrite{value: o.Value, at: l.full()})
		c.signals.value(o, l.dim, l.n, l.full())
	case record.GraphLaunch:
		c.graph(o, l)
	default:
		c.touches(o, l.dim, l.n, l.base)
	}
	if o.Kind == record.Request {
		c.toRanks(o, base)
	}
	if o.Kind == record.WaitValue || o.Kind == record.WriteValue {
		c.add(&job{op: o, dim: l.dim, n: l.n, base: l.base})
	} else if len(o.Accesses) > 0 || o.Watched != nil || o.Kind == record.AllocAsync || o.Kind == record.FreeAsync {
		c.add(&job{op: o, dim: l.dim, n: l.n, base: l.base})
	}
	for _, x := range o.Around {
		at := l.full()
		g := c.group(x)
		g.since = join(g.since, at)
		for _, other := range c.laneOf(x) {
			if other != l {
				other.base = join(other.full(), at)
				other.n++
			}
		}
	}
	for _, a := range o.Also {
		if other := c.lane(a); other != l {
			other.base = join(other.full(), l.full())
			other.n++
		}
	}
	switch {
	case o.HostAfter:
		p := c.process(o.Rank)
		p.host = join(p.host, l.full())
	case o.HostBefore:
		p := c.process(o.Rank)
		p.host = join(p.host, before)
	}
}

// hostReads is what the host read in a call, which queued an operation after it. It
// gives the clock of what comes after.
func (c *Checker) hostReads(o *record.Op, host clock) clock {
	read := *o
	read.Kind, read.Lane, read.Watched, read.Accesses = record.HostAccess, nil, nil, o.HostReads
	p := c.process(o.Rank)
	p.tick()
	j := &job{op: &read, dim: p.dim, n: p.n, base: host.with(p.dim, p.n)}
	c.add(j)
	return j.after()
}

func (c *Checker) laneOf(x driver.Context) (list []*lane) {
	if g := c.groups[x]; g != nil {
		list = slices.Clone(g.others)
		if g.legacy != nil {
			list = append(list, g.legacy)
		}
	}
	return list
}

// touches notes what may be the value that a stream waits for.
func (c *Checker) touches(o *record.Op, dim int, n uint64, base clock) {
	if len(c.words.at) == 0 || o.Kind == record.WaitValue || o.Kind == record.WriteValue {
		return
	}
	for _, a := range o.Accesses {
		if a.Mode != record.Read {
			c.words.cover(a, base.with(dim, n))
		}
	}
}

// graph puts a graph's nodes in their places. Nodes that follow each other share
// a dimension.
func (c *Checker) graph(launch *record.Op, l *lane) {
	begin := l.full()
	type place struct {
		chain int
		n     uint64
		at    clock
	}
	var chains []spare
	tails := []int{} // the last node of each chain
	spots := make([]place, len(launch.Nodes))
	end := begin
	for i, node := range launch.Nodes {
		at, chain := begin, -1
		for _, d := range node.Deps {
			at = join(at, spots[d].at)
			if k := spots[d].chain; tails[k] == d {
				chain = k
			}
		}
		o := node.Op
		o.Seq, o.Rank = launch.Seq, launch.Rank
		if o.Kind == record.WaitValue {
			if from, ok := c.words.met(o, at); ok {
				at = join(at, from)
			}
		}
		if chain < 0 {
			d, n := c.dims.take(at)
			chains, tails = append(chains, spare{d, n}), append(tails, i)
			chain = len(chains) - 1
		}
		x := &chains[chain]
		x.n++
		tails[chain] = i
		spots[i] = place{chain, x.n, at.with(x.d, x.n)}
		end = join(end, spots[i].at)
		switch o.Kind {
		case record.HostFunc:
			c.runs(o.Of, &job{op: o, dim: x.d, n: x.n, base: at})
			continue
		case record.WriteValue:
			c.words.write(o.Addr, wordWrite{value: o.Value, at: spots[i].at})
		}
		c.touches(o, x.d, x.n, at)
		c.add(&job{op: o, dim: x.d, n: x.n, base: at})
	}
	for _, x := range chains {
		c.dims.give(x.d, x.n)
	}
	l.base = end
	l.n++
	c.execs[launch.Exec] = l.full()
}

// runs takes that a host function is queued. What is after it is looked at when it has
// returned, for only then is it known what it touches.
func (c *Checker) runs(o *record.Op, j *job) {
	j.runs = true
	c.funcs[o] = append(c.funcs[o], j)
	c.add(j)
}

// hostStep puts an operation of the host's in its place.
func (c *Checker) hostStep(s *step) {
	o, p := s.op, c.process(s.op.Rank)
	begun, ok := c.begun[o.Target]
	if ok {
		delete(c.begun, o.Target)
	}
	switch {
	case ok && o.Kind == record.SyncEnded:
	case ok:
		c.reach(begun)
	case c.forces(o, s.moment):
		c.force()
	}
	switch o.Kind {
	case record.SyncLane, record.SyncContext, record.SyncEvent:
		c.waited(s, p, begun, ok)
		c.dropGone()
	case record.ExecGone:
		delete(c.execs, o.Exec)
	case record.SyncAll:
		for _, l := range c.lanes {
			if l.Rank == o.Rank || !c.merged {
				p.host = join(p.host, l.full())
			}
		}
		c.finish(o.Rank)
		c.dropGone()
	case record.EventGone:
		c.eventGone(o.Event.ID)
	case record.ShareEvent:
		c.share(o, p)
	case record.HostFuncBegun:
		if list := c.funcs[o.Target]; len(list) > 0 {
			p.host = join(p.host, list[0].base)
		}
	case record.HostFuncDone:
		if list := c.funcs[o.Target]; len(list) > 0 {
			p.host = join(p.host, list[0].after())
			list[0].runs = false
			if c.funcs[o.Target] = list[1:]; len(list) == 1 {
				delete(c.funcs, o.Target)
			}
		}
	case record.LaneGone:
		if l := c.lane(o.Lane); !c.drop(l) {
			c.gone = append(c.gone, l)
			c.dropOldest()
		}
	case record.Request:
		base := p.host
		for _, l := range c.lanes {
			if l.Legacy && (l.Rank == o.Rank || !c.merged) && slices.Contains(o.Behind, l.Device) {
				base = join(base, l.full())
			}
		}
		r := &request{}
		r.dim, r.n = c.dims.take(base)
		r.n++
		r.at = base.with(r.dim, r.n)
		c.asked[o] = r
		c.add(&job{op: o, dim: r.dim, n: r.n, base: base})
		c.toRanks(o, base)
		c.sweep()
	case record.SyncRequest:
		if r := c.asked[o.Target]; r != nil {
			p.host = join(p.host, r.at)
			c.dims.give(r.dim, r.n)
			delete(c.asked, o.Target)
		}
		c.arrived(o, p)
	case record.Alloc, record.Free, record.HostAccess:
		if list := c.funcs[o.Target]; len(list) > 0 { // in a host function: in its stream's order
			f, in := list[0], *o
			in.Lane, in.Via = f.op.Lane, f.op.Via
			f.inside = append(f.inside, &job{op: &in, dim: f.dim, n: f.n, base: f.base})
			break
		}
		p.tick()
		if o.Kind == record.HostAccess {
			c.signals.host(o, p.dim, p.n, p.host)
		}
		c.touches(o, p.dim, p.n, p.host)
		c.add(&job{op: o, dim: p.dim, n: p.n, base: p.host})
	}
}

// forces reports whether an operation of the host's says that others are done which
// are held back.
func (c *Checker) forces(o *record.Op, m *moment) bool {
	switch o.Kind {
	case record.SyncLane:
		l := c.lane(o.Lane)
		return c.holds(func(t *lane) bool { return t == l || l.Legacy && t.Blocking && t.Context == l.Context })
	case record.SyncContext:
		return c.holds(func(t *lane) bool { return t.Context == o.Context })
	case record.SyncAll:
		return c.holds(func(t *lane) bool { return t.Rank == o.Rank || !c.merged })
	case record.SyncEvent:
		return m != nil && !m.past
	case record.HostFuncBegun, record.HostFuncDone, record.HostAccess: // the function runs
		return o.Target != nil && o.Target.Lane != nil && len(c.funcs[o.Target]) == 0 && c.holds(func(t *lane) bool { return t == c.lane(o.Target.Lane) })
	}
	return false
}

// holds reports whether operations of lanes are held back.
func (c *Checker) holds(of func(*lane) bool) bool {
	return slices.ContainsFunc(c.stuck, func(s *step) bool { return of(c.lane(s.op.Lane)) })
}

// waited takes that the host has waited: for moments, if it is known when the wait
// began, and else for what is queued.
func (c *Checker) waited(s *step, p *process, begun []*moment, known bool) {
	for _, m := range begun {
		p.host = join(p.host, m.clock)
	}
	switch o := s.op; {
	case o.Kind == record.SyncEvent && (known && len(begun) > 0):
	case o.Kind == record.SyncEvent && !known && s.moment != nil:
		p.host = join(p.host, s.moment.clock)
	case o.Kind == record.SyncEvent:
		if c.ranks.foreign[o.Event.ID] {
			p.host = join(p.host, p.seen)
		}
	case known:
	case o.Kind == record.SyncLane:
		l := c.lane(o.Lane)
		if p.host = join(p.host, l.full()); l.Legacy { // which first waits for the blocking streams
			p.host = join(p.host, c.joined(l))
		}
	default:
		for _, l := range c.laneOf(o.Context) {
			p.host = join(p.host, l.full())
		}
	}
}

// dropGone drops destroyed streams that the host has waited for. If many of them are
// never waited for, it looks at some waits only.
func (c *Checker) dropGone() {
	if c.patient--; c.patient > 0 || len(c.gone) == 0 {
		return
	}
	c.gone = slices.DeleteFunc(c.gone, c.drop)
	c.patient = len(c.gone) / 8
}

// mostGone is how many destroyed streams are kept that nobody has waited for.
const mostGone = 256

// dropOldest bounds them: of the work of the one that was destroyed first it takes it
// from now on that its host has waited for it.
func (c *Checker) dropOldest() {
	i := slices.IndexFunc(c.gone, func(l *lane) bool { return !c.holds(func(t *lane) bool { return t == l }) })
	if len(c.gone) <= mostGone || i < 0 {
		return
	}
	l := c.gone[i]
	c.gone = slices.Delete(c.gone, i, i+1)
	p := c.process(l.Rank)
	p.host = p.host.with(l.dim, l.n)
	c.forget(l)
}

// drop forgets a stream that was destroyed: its dimension serves again once the
// host has waited for it. Until then other streams of its context, and waits for the
// device, still come after it. It reports whether that is so.
func (c *Checker) drop(l *lane) bool {
	if l.Legacy || !c.process(l.Rank).host.covers(l.full()) || c.holds(func(t *lane) bool { return t == l }) {
		return false
	}
	c.forget(l)
	return true
}

func (c *Checker) forget(l *lane) {
	g := c.group(l.Context)
	delete(c.lanes, l.ID)
	g.others = slices.DeleteFunc(g.others, func(o *lane) bool { return o == l })
	c.dims.give(l.dim, l.n)
}

// add queues an operation for the check of what it touches.
func (c *Checker) add(j *job) {
	if j.op.Guess {
		c.counts.Guessed++
	}
	c.queue = append(c.queue, j)
	w := j.op.Watched
	if w == nil {
		return
	}
	_, known := w.Then(func(list []record.Access) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.known(j, list)
	})
	if !known {
		c.counts.Unknown++
	}
}

// known goes on with an operation that tells what it touched.
func (c *Checker) known(j *job, list []record.Access) {
	c.counts.Unknown--
	if len(c.words.at) > 0 {
		j.op.Accesses = list
		c.touches(j.op, j.dim, j.n, j.base)
		if len(c.stuck) > 0 {
			c.sweep()
		}
	}
	c.check()
}

// check looks at what the operations touch whose turn it is.
func (c *Checker) check() {
	i := 0
	for ; i < len(c.queue); i++ {
		j := c.queue[i]
		if w := j.op.Watched; w != nil {
			list, ok := w.Known()
			if !ok {
				break
			}
			j.op.Accesses = list
		}
		if j.runs {
			break
		}
		for _, in := range j.inside {
			c.look(in)
		}
		c.look(j)
		c.queue[i] = nil
	}
	c.queue = c.queue[i:]
	if c.memory.full() {
		c.memory.prune(c.floor())
	}
}

// Finish ends a record, or a part of it whose work has all run: what a stream
// still waits for, and what kernels touched that have not told it, is not known.
func (c *Checker) Finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.force()
	for rank := range c.procs {
		c.finish(rank)
	}
}

// finish gives up on accesses of a rank's that are not known: their kernels never
// ran.
func (c *Checker) finish(rank int) {
	for _, j := range c.queue {
		j.runs = j.runs && j.op.Rank != rank && c.merged
		if w := j.op.Watched; w != nil && (j.op.Rank == rank || !c.merged) {
			if _, ok := w.Known(); !ok {
				c.counts.Unknown--
				w.Drop()
			}
		}
	}
	c.check()
}

// Counts tells how much was looked at.
func (c *Checker) Counts() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts
}
