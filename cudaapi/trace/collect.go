package trace

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/record"
)

// Limit is how many boxes a timeline keeps of one process: what comes after them is
// counted, and costs less.
const Limit = 100_000

// settleTime is how long Stop waits for what is still queued.
const settleTime = 5 * time.Second

// tracing is the trace of this process.
var tracing struct {
	sync.Mutex
	c *collector
}

// On reports whether a trace goes on.
func On() bool {
	tracing.Lock()
	defer tracing.Unlock()
	return tracing.c != nil
}

// Start begins a trace of this process. It waits for the work that is queued already.
func Start() error { return start(Limit) }

func start(limit int) error {
	tracing.Lock()
	defer tracing.Unlock()
	if tracing.c != nil {
		return errors.New("trace: a trace is running already")
	}
	c := &collector{limit: limit, lanes: map[*record.Lane]*lane{}, events: map[*record.Event][]int{}, open: map[*record.Op]int{},
		graphs: map[int][]record.Node{}, sources: map[driver.Driver]source{}, contexts: map[place]bool{}}
	record.SetTimer(c)
	if record.InUse() == nil {
		r, decorate := record.Rest()
		record.Use(r)
		if err := cuda.Decorate(decorate); err != nil {
			record.SetTimer(nil)
			record.Use(nil)
			return errors.Join(err, cuda.Decorate(nil))
		}
	}
	tracing.c = c
	c.begun = now()
	c.begin = c.begun
	c.stamp(&c.begin)
	return nil
}

// Stop ends the trace and gives it. It waits, for some seconds at most, for the work
// that is queued.
func Stop() (*Timeline, error) {
	tracing.Lock()
	defer tracing.Unlock()
	c := tracing.c
	if c == nil {
		return nil, errors.New("trace: no trace is running")
	}
	tracing.c = nil
	ended := now()
	c.end = ended
	c.stamp(&c.end)
	record.SetTimer(nil)
	err := c.settle()
	if r := record.InUse(); r != nil && !r.Keeps() { // nobody checks
		record.Use(nil)
		err = errors.Join(err, cuda.Decorate(nil))
	}
	t := c.timeline(ended)
	return t, err
}

// place is where a stream of a driver is.
type place struct {
	d driver.Driver
	c driver.Context
}

// source tells the times of one driver's work.
type source interface {
	// around runs call, which queues what is boxed under n.
	around(n int, o *record.Op, call func() error) error
	// moment has the host's time taken, now if it is the system's clock.
	moment(n int)
	// end is called when all work is done; tell is not called afterwards.
	end() error
	clock() driver.TraceClock
}

// lane is what a stream's next operation comes after.
type lane struct {
	name string
	last int
	wait []int // of other streams, by events
	// by is the wait's place.
	by *record.Op
}

// collector makes boxes of operations.
type collector struct {
	limit int
	begun time.Duration

	mu       sync.Mutex
	boxes    []Box // by ID - 1
	timed    []bool
	waits    []stall // of streams, found out at the end
	lanes    map[*record.Lane]*lane
	events   map[*record.Event][]int
	open     map[*record.Op]int // messages and graphs
	graphs   map[int][]record.Node
	sources  map[driver.Driver]source
	contexts map[place]bool
	host     []int // what the host has waited for since the last box that says so
	lastHost int
	carrier  int  // the message in a stream's order that came last
	unopened bool // there were messages before a driver was opened
	left     int
	begin    time.Duration
	end      time.Duration
	moments  []*time.Duration // asked for, by -tag
	notes    []string
}

// stall is a stream's wait for an event.
type stall struct {
	box  int // that came next
	deps []int
	op   *record.Op
}

const systemClock = "the system's monotonic clock"

const momentTag = 1 << 40 // tags from here on are moments

// stamp has the host's time put into at, if the clock is not the system's.
func (c *collector) stamp(at *time.Duration) {
	if s := c.current(); s != nil && s.clock().Modelled {
		c.mu.Lock()
		c.moments = append(c.moments, at)
		n := momentTag + len(c.moments) - 1
		c.mu.Unlock()
		s.moment(n)
	}
}

// current is the source of the driver that is in use; nil if none is open.
func (c *collector) current() source {
	d := cuda.Underlying()
	if d == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.source(d)
}

// source is a driver's. c.mu is held.
func (c *collector) source(d driver.Driver) source {
	s := c.sources[d]
	if s != nil {
		return s
	}
	t, ok := d.(driver.Tracer)
	if !ok {
		s = newEvents(d, c)
	} else if err := t.StartTrace(c.take); err != nil {
		c.notes = append(c.notes, "Times are of events around each operation, since "+err.Error()+".")
		s = newEvents(d, c)
	} else {
		s = tracer{t}
	}
	c.sources[d] = s
	return s
}

var kinds = map[record.Kind]string{record.Kernel: Kernel, record.Copy: Copy, record.Fill: Fill, record.HostFunc: HostFunction,
	record.WaitValue: StreamWait, record.WriteValue: WriteValue, record.GraphLaunch: Graph, record.Prefetch: Copy}

// Queue is record.Timer's.
func (c *collector) Queue(next driver.Driver, o *record.Op, call func() error) error {
	switch o.Kind {
	case record.Mark:
		c.mark(o)
		return call()
	case record.Wait:
		c.await(o)
		return call()
	}
	kind, ok := kinds[o.Kind]
	if !ok {
		return call()
	}
	n, s := c.add(next, o, kind)
	if n == 0 {
		return call()
	}
	from := now()
	err := s.around(n, o, call)
	to := now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.boxes[n-1].Kind = ""
		return err
	}
	if o.Kind == record.GraphLaunch {
		c.graphs[n] = o.Nodes
	}
	if !s.clock().Modelled {
		c.boxes[n-1].Issued = from
	}
	if o.HostBefore || o.HostAfter {
		c.hostWaited([]int{n}, o, s, from, to)
	}
	return nil
}

// add makes a box of an operation of a stream; zero if there are too many.
func (c *collector) add(d driver.Driver, o *record.Op, kind string) (n int, s source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s = c.source(d)
	if len(c.boxes) >= c.limit {
		c.left++
		return 0, s
	}
	l := c.lane(o.Lane)
	c.contexts[place{d, o.Lane.Context}] = true
	b := c.box(o, kind)
	b.Device, b.Lane, b.Name, b.Bytes, b.prev = int(o.Lane.Device), l.name, nameOf(o), o.Bytes, l.last
	b.After = append(b.After, c.host...)
	b.After = append(b.After, l.wait...)
	if b.Library {
		b.carries = c.carrier
	}
	for other, x := range c.lanes { // the legacy default stream and blocking ones wait for each other
		if other != o.Lane && x.last > 0 && other.Context == o.Lane.Context && (other.Legacy && o.Lane.Blocking || o.Lane.Legacy && other.Blocking) {
			b.After = append(b.After, x.last)
		}
	}
	if len(l.wait) > 0 {
		c.waits = append(c.waits, stall{b.ID, l.wait, l.by})
		l.wait, l.by = nil, nil
	}
	l.last = b.ID
	if kind == HostFunction {
		c.open[o] = b.ID
	}
	return b.ID, s
}

// box is a new box. c.mu is held.
func (c *collector) box(o *record.Op, kind string) *Box {
	b := Box{ID: len(c.boxes) + 1, Kind: kind, Place: o.Site.Place, Library: o.Site.Library, Device: -1, Lane: "host", Name: o.Call, call: o.Call}
	c.boxes = append(c.boxes, b)
	c.timed = append(c.timed, false)
	return &c.boxes[len(c.boxes)-1]
}

func (c *collector) lane(r *record.Lane) *lane {
	l := c.lanes[r]
	if l == nil {
		l = &lane{name: r.Name}
		c.lanes[r] = l
	}
	return l
}

// nameOf is what a box says that it is.
func nameOf(o *record.Op) string {
	switch o.Kind {
	case record.Kernel:
		if o.Name != "" {
			return o.Name
		}
		return "kernel"
	case record.Copy:
		return sideNames[o.From] + " to " + sideNames[o.To]
	case record.Fill:
		return "fill"
	case record.HostFunc:
		return "host function"
	case record.Prefetch:
		return "prefetch"
	case record.GraphLaunch:
		return "graph"
	}
	return o.Call
}

var sideNames = map[driver.MemoryType]string{driver.MemoryUnregistered: "host", driver.MemoryHost: "pinned host",
	driver.MemoryDevice: "device", driver.MemoryManaged: "managed"}

func (c *collector) mark(o *record.Op) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.boxes) >= c.limit {
		return
	}
	l := c.lane(o.Lane)
	c.events[o.Event] = tail(l)
}

// tail is what a wait for a stream waits for.
func tail(l *lane) []int {
	list := slices.Clone(l.wait)
	if l.last > 0 {
		list = append(list, l.last)
	}
	return list
}

func (c *collector) await(o *record.Op) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lane(o.Lane)
	for _, n := range c.events[o.Event] {
		if n != l.last && !slices.Contains(l.wait, n) {
			l.wait = append(l.wait, n)
			l.by = o
		}
	}
}

// Host is record.Timer's.
func (c *collector) Host(next driver.Driver, o *record.Op, call func() error) error {
	c.mu.Lock()
	s := c.source(next)
	full := len(c.boxes) >= c.limit
	var deps []int
	switch {
	case full:
		c.left++
	case o.Kind == record.SyncLane:
		for r, l := range c.lanes {
			if r == o.Lane || o.Lane.Legacy && r.Blocking && r.Context == o.Lane.Context {
				deps = append(deps, tail(l)...)
			}
		}
	case o.Kind == record.SyncEvent:
		deps = c.events[o.Event]
	case o.Kind == record.SyncContext:
		for r, l := range c.lanes {
			if r.Context == o.Context {
				deps = append(deps, tail(l)...)
			}
		}
	}
	c.mu.Unlock()
	if full {
		return call()
	}
	slices.Sort(deps)
	modelled := s.clock().Modelled
	n := 0
	if modelled {
		c.mu.Lock()
		n = c.hostBox(deps, o)
		c.mu.Unlock()
		return s.around(n, o, call)
	}
	from := now()
	err := call()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hostWaited(deps, o, s, from, now())
	return err
}

// hostBox makes the box of a host's wait. c.mu is held.
func (c *collector) hostBox(deps []int, o *record.Op) int {
	b := c.box(o, HostWait)
	b.Bytes, b.prev = 0, c.lastHost
	b.After = append(slices.Clone(deps), c.host...)
	c.lastHost, c.host = b.ID, []int{b.ID}
	return b.ID
}

// hostWaited is a wait of the host's that is over; a model reports it itself. c.mu is
// held.
func (c *collector) hostWaited(deps []int, o *record.Op, s source, from, to time.Duration) {
	if s.clock().Modelled {
		return
	}
	n := c.hostBox(deps, o)
	c.set(n, from, from, to)
}

// set gives a box its times, or widens them. c.mu is held.
func (c *collector) set(n int, issued, begin, end time.Duration) {
	b := &c.boxes[n-1]
	if !c.timed[n-1] {
		b.Issued, b.Begin, b.End = issued, begin, end
		c.timed[n-1] = true
		return
	}
	b.Begin, b.End = min(b.Begin, begin), max(b.End, end)
}

// Function is record.Timer's. Where a driver reports host functions, that counts.
func (c *collector) Function(o *record.Op) (done func()) {
	c.mu.Lock()
	n := c.open[o]
	c.mu.Unlock()
	if n == 0 {
		return func() {}
	}
	from := now()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.open, o)
		if !c.timed[n-1] {
			c.set(n, c.boxes[n-1].Issued, from, now())
		}
	}
}

// take is what a driver calls with times.
func (c *collector) take(a driver.Activity) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.Kind == driver.ActivityMoment {
		if i := int(a.Tag) - momentTag; i >= 0 && i < len(c.moments) {
			*c.moments[i] = a.Begin
			return
		}
	}
	n := int(a.Tag)
	switch {
	case n < 1 || n > len(c.boxes):
		return
	case a.Kind == driver.ActivityMoment:
		c.messageTime(n, a.Begin)
	case a.Kind == driver.ActivityWait && c.boxes[n-1].Kind != HostWait:
		o := &record.Op{Call: c.boxes[n-1].call}
		o.Site.Place, o.Site.Library = c.boxes[n-1].Place, c.boxes[n-1].Library
		if len(c.boxes) < c.limit+c.limit/4 {
			c.set(c.hostBox([]int{n}, o), a.Issued, a.Begin, a.End)
		}
	case c.boxes[n-1].Kind == Graph:
		c.part(n, a)
	default:
		issued := a.Issued
		if issued == 0 {
			issued = c.boxes[n-1].Issued
		}
		c.set(n, issued, a.Begin, a.End)
	}
}

var activityKinds = map[driver.ActivityKind]record.Kind{driver.ActivityKernel: record.Kernel, driver.ActivityCopy: record.Copy,
	driver.ActivityFill: record.Fill, driver.ActivityHost: record.HostFunc, driver.ActivityWaitValue: record.WaitValue, driver.ActivityWriteValue: record.WriteValue}

// part is a node of a graph that has run. c.mu is held.
func (c *collector) part(n int, a driver.Activity) {
	parent := c.boxes[n-1]
	c.set(n, a.Issued, a.Begin, a.End)
	if len(c.boxes) >= c.limit+c.limit/4 {
		c.left++
		return
	}
	o := &record.Op{Kind: activityKinds[a.Kind], Name: a.Name, Call: "node"}
	o.Site.Place = parent.Place
	nodes := c.graphs[n]
	for i, node := range nodes {
		same := node.Op != nil && node.Op.Kind == o.Kind
		if same && (o.Kind != record.Kernel || strings.Contains(a.Name, identifier(node.Op.Name))) {
			o = node.Op
			c.graphs[n] = slices.Delete(slices.Clone(nodes), i, i+1)
			break
		}
	}
	kind, ok := kinds[o.Kind]
	if !ok {
		return
	}
	b := c.box(o, kind)
	b.Device, b.Lane, b.Name, b.Bytes, b.Of = parent.Device, parent.Lane, nameOf(o), o.Bytes, n
	c.set(b.ID, a.Issued, a.Begin, a.End)
}

// identifier is the part of a kernel's name that its symbol has, too.
func identifier(name string) string {
	name, _, _ = strings.Cut(name, "<")
	return name[strings.LastIndexByte(name, ':')+1:]
}

// settle waits for what is queued, and ends the sources.
func (c *collector) settle() (err error) {
	c.mu.Lock()
	contexts := make([]place, 0, len(c.contexts))
	for p := range c.contexts {
		contexts = append(contexts, p)
	}
	sources := c.sources
	c.mu.Unlock()
	stop := make(chan struct{})
	timer := time.AfterFunc(settleTime, func() { close(stop) })
	defer timer.Stop()
	for _, p := range contexts {
		if e := p.d.CtxSynchronize(p.c, stop); e != nil && !errors.Is(e, driver.ErrInterrupted) {
			c.notes = append(c.notes, fmt.Sprintf("A device failed: %v.", e))
		}
	}
	for _, s := range sources {
		err = errors.Join(err, s.end())
	}
	return err
}

// timeline is what was collected.
func (c *collector) timeline(ended time.Duration) *Timeline {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &Timeline{Begin: c.begin, End: c.end, Left: c.left, Notes: c.notes, Host: machine(), begun: c.begun}
	for _, s := range c.sources {
		t.Clock, t.Modelled = s.clock().Name, s.clock().Modelled
	}
	if t.Clock == "" {
		t.Clock, t.Begin, t.End = systemClock, c.begun, ended
	}
	if t.Modelled && c.begin == c.begun { // the driver was opened later
		t.Begin = 0
	}
	if t.Modelled && c.unopened {
		c.early()
	}
	for i := range c.boxes { // messages in streams' order
		if b := c.boxes[i]; b.carries > 0 && c.timed[i] {
			c.set(b.carries, b.Issued, b.Begin, b.End)
		}
	}
	c.lateWaits()
	c.bridge()
	place := record.Place()
	for i, b := range c.boxes {
		b.Rank = place.Rank
		switch {
		case b.Kind == "":
		case !c.timed[i] && b.wall[0] > 0 && b.wall[1] == 0: // a message
			t.Running++
		case !c.timed[i] && (b.Kind == Kernel || b.Kind == Copy || b.Kind == Fill || b.Kind == HostFunction):
			t.Running++
		case !c.timed[i]:
			t.Untimed++
		default:
			t.Boxes = append(t.Boxes, b)
		}
	}
	if place.Size > 1 {
		t.Ranks = []int{place.Rank}
	}
	t.sort()
	return t
}

// bridge has boxes come after what those came after whose times are not known. c.mu is
// held.
func (c *collector) bridge() {
	for i := range c.boxes {
		b := &c.boxes[i]
		var after []int
		before := func(list []int) {
			for _, n := range list {
				if n > i || c.timed[n-1] {
					after = append(after, n)
				} else if n > 0 { // an earlier one, which was bridged already
					after = append(after, c.boxes[n-1].After...)
					if p := c.boxes[n-1].prev; p > 0 {
						after = append(after, p)
					}
				}
			}
		}
		before(b.After)
		if p := b.prev; p > 0 && p <= i && !c.timed[p-1] {
			b.prev = c.boxes[p-1].prev
			before(c.boxes[p-1].After)
		}
		b.After = after
	}
}

// early puts messages that began before a modelled clock was known, by the system's, at
// its beginning. c.mu is held.
func (c *collector) early() {
	for i := range c.boxes {
		if b := &c.boxes[i]; (b.Kind == Message || b.Kind == Collective) && b.Begin >= c.begun {
			b.Issued, b.Begin, b.End = 0, 0, 0
		}
	}
}

// lateWaits makes boxes of what streams waited for: from when a stream had nothing
// else to do until what it waited for was done. c.mu is held.
func (c *collector) lateWaits() {
	idle := func(n int) time.Duration {
		b := &c.boxes[n-1]
		at := b.Issued
		if b.prev > 0 && c.timed[b.prev-1] {
			at = max(at, c.boxes[b.prev-1].End)
		}
		return at
	}
	for i := range c.boxes {
		if b := &c.boxes[i]; b.Kind == StreamWait {
			if c.timed[i] {
				b.Begin = min(idle(i+1), b.End)
			}
		}
	}
	// A wait for memory that no source reports lasts until the next thing.
	for i := range c.boxes {
		b := &c.boxes[i]
		if p := b.prev; p > 0 && c.timed[i] && !c.timed[p-1] && c.boxes[p-1].Kind == StreamWait {
			if from := idle(p); from < b.Begin {
				c.set(p, c.boxes[p-1].Issued, from, b.Begin)
			}
		}
	}
	for _, w := range c.waits {
		if !c.timed[w.box-1] {
			continue
		}
		from, until := idle(w.box), time.Duration(0)
		for _, d := range w.deps {
			if c.timed[d-1] {
				until = max(until, c.boxes[d-1].End)
			}
		}
		until = min(until, c.boxes[w.box-1].Begin)
		if until <= from {
			continue
		}
		next := c.boxes[w.box-1]
		b := c.box(w.op, StreamWait)
		b.Device, b.Lane, b.After, b.prev = next.Device, next.Lane, w.deps, next.prev
		n := b.ID
		c.set(n, from, from, until)
		c.boxes[w.box-1].prev = n
	}
}
