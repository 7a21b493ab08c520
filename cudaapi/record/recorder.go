package record

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/callsite"
)

// Sink takes operations, one at a time, in the order of the calls.
type Sink interface{ Op(*Op) }

// World is a process's place among the ranks of its job.
type World struct{ Rank, Size int }

var world atomic.Pointer[World]

// SetWorld tells which rank this process is.
func SetWorld(w World) { world.Store(&w) }

// Place is this process's place among ranks; that of the only one until SetWorld was
// called.
func Place() World {
	if w := world.Load(); w != nil {
		return *w
	}
	return World{0, 1}
}

// Recorder numbers operations and hands them to sinks. An operation that
// others can wait for is numbered before its call, one that waits after it, so
// the order of the numbers is one in which everything comes after what it
// waited for, whatever goroutines call.
type Recorder struct {
	sinks []Sink

	drivers []*Driver              // that record here; guarded by mu
	current atomic.Pointer[Driver] // that work was last queued by
	ids     atomic.Int64           // lanes and events, of all drivers
	mu      sync.Mutex
	taken   uint64         // numbers handed out
	done    uint64         // operations handed on
	held    map[uint64]*Op // that came before their turn

	running map[*Op]*run // host functions
	started int          // of these, ever
	touched []*Op        // host accesses since the last operation, which are not numbered yet
	pending pending
	shared  sharedMemory
	races   []*Race
}

// New is a recorder that writes to sinks.
func New(sinks ...Sink) *Recorder {
	return &Recorder{sinks: sinks, held: map[uint64]*Op{}, pending: pending{lanes: map[*Lane]bool{}, requests: map[*Op]bool{}}}
}

// WhenPending has tell called when work is queued that the program has not waited for, and
// when there is none any more. Only in between is [Recorder.Touch] of use.
func (r *Recorder) WhenPending(tell func(any bool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending.tell = tell; tell != nil {
		tell(r.pending.any)
	}
}

// Keeps reports whether anything of what is recorded is kept: whether it has sinks.
func (r *Recorder) Keeps() bool { return len(r.sinks) > 0 }

// Take reserves the next number.
func (r *Recorder) Take() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.letReturn()
	r.flush()
	return r.take()
}

// run is a host function that runs.
type run struct {
	by     string // the goroutine that runs it
	ended  chan struct{}
	waited bool // somebody has given it the time to return
}

// A host function that has told the program to go on returns soon after. What comes then
// is to be numbered after it, and what a program does that waits for none is to be
// numbered before it begins: for that the first ones begin when the goroutine that queued
// them waits for something.
const beginsLater = 64

// letReturn waits a moment for host functions that run and do not wait themselves, once
// for each. r.mu is held.
func (r *Recorder) letReturn() {
	for _, f := range r.running {
		if f.waited {
			continue
		}
		f.waited = true
		r.mu.Unlock()
		untilBlocked(f.by, true, f.ended)
		r.mu.Lock()
	}
}

func (r *Recorder) take() uint64 {
	n := r.taken
	r.taken++
	return n
}

// mostTouched is how many host accesses wait for the next operation.
const mostTouched = 16

// Touch notes that the program itself reads or writes memory, before it does.
// place is the statement's. Accesses of one that follow each other become one operation.
// single says that it is one element, called that compiled code has called the function, as
// streams call host functions. Memory that no operation uses is of no interest.
func (r *Recorder) Touch(place callsite.Place, a Access, single, called bool) {
	if !r.shared.has(a.Lo, a.Hi) {
		return
	}
	o := &Op{Kind: HostAccess, Call: "reads it", Site: callsite.Site{Place: place}, Single: single, Accesses: []Access{a}}
	if a.Mode == Write {
		o.Call = "writes it"
	}
	if r.widens(o, called) {
		return
	}
	_, o.Site.Caller = callsite.Exact() // which takes longer, and locks of others
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.touched) == mostTouched {
		r.flush()
	}
	r.touched = append(r.touched, o)
}

// widens finds the host function that an access of the host's is in, and reports
// whether nothing more is to be done: it is a part of one noted before, or it is not
// known which host function it is in.
func (r *Recorder) widens(o *Op, called bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if called && len(r.running) > 1 {
		return true
	}
	for f := range r.running {
		if called {
			o.Target = f
		}
	}
	a := o.Accesses[0]
	for _, was := range r.touched {
		b := &was.Accesses[0]
		if was.Site.Place == o.Site.Place && was.Target == o.Target && b.Mode == a.Mode && was.Single == o.Single && a.Lo <= b.Hi && a.Hi >= b.Lo {
			b.Lo, b.Hi = min(a.Lo, b.Lo), max(a.Hi, b.Hi)
			return true
		}
	}
	return false
}

// within runs a host function that a goroutine queued, so that what it touches is known
// to be in the stream's order.
func (r *Recorder) within(o *Op, by string, f func()) {
	r.mu.Lock()
	if r.started++; r.started <= beginsLater && r.Keeps() {
		r.mu.Unlock()
		untilBlocked(by, false, nil)
		r.mu.Lock()
	}
	x := &run{by: goroutine(), ended: make(chan struct{})}
	if r.running == nil {
		r.running = map[*Op]*run{}
	}
	r.running[o] = x
	r.flush()
	r.post(r.take(), &Op{Kind: HostFuncBegun, Call: o.Call, Site: o.Site, Target: o})
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.running, o)
		// What others touch since it told them to comes after it.
		rest := []*Op{}
		for _, a := range r.touched {
			if a.Target == o {
				r.post(r.take(), a)
			} else {
				rest = append(rest, a)
			}
		}
		r.touched = rest
		r.post(r.take(), &Op{Kind: HostFuncDone, Call: o.Call, Site: o.Site, Target: o})
		close(x.ended)
	}()
	f()
}

// Flush hands on what Touch has noted.
func (r *Recorder) Flush() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.letReturn()
	r.flush()
}

func (r *Recorder) flush() {
	for _, o := range r.touched {
		r.post(r.take(), o)
	}
	r.touched = r.touched[:0]
}

// Post hands on the operation with the number seq; nil if its call failed.
func (r *Recorder) Post(seq uint64, o *Op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.post(seq, o)
}

func (r *Recorder) post(seq uint64, o *Op) {
	if o == nil {
		o = &Op{}
	}
	o.Seq, o.Rank, o.Meant = seq, Place().Rank, meant.Load() > 0
	r.shared.uses(o)
	r.pending.begins(o)
	if seq != r.done {
		r.held[seq] = o
		return
	}
	for {
		r.done++
		r.pending.ends(o)
		if o.Kind != None {
			for _, s := range r.sinks {
				s.Op(o)
			}
		}
		if o = r.held[r.done]; o == nil {
			return
		}
		delete(r.held, r.done)
	}
}

// id is the number of the next lane or event.
func (r *Recorder) id() int { return int(r.ids.Add(1) - 1) }

// Lane is the stream of a device with a handle; nil if no driver that records
// here has one. Of several drivers, as where a simulated cluster stands in for the GPUs
// for a while, it is the one that work was last queued by.
func (r *Recorder) Lane(dev driver.Device, s driver.Stream) *Lane {
	r.mu.Lock()
	drivers := slices.Clone(r.drivers)
	r.mu.Unlock()
	if d := r.current.Load(); d != nil {
		drivers = slices.Insert(drivers, 0, d)
	}
	for _, d := range drivers {
		d.mu.Lock()
		for c, of := range d.devices {
			if of == dev {
				l := d.lane(c, s)
				d.mu.Unlock()
				return l
			}
		}
		d.mu.Unlock()
	}
	return nil
}

// Add numbers an operation and hands it on.
func (r *Recorder) Add(o *Op) {
	if o.Kind == Request || o.Kind == SyncRequest {
		if t := timing(); t != nil && o.Kind == Request {
			t.Begin(o)
		} else if t != nil {
			t.End(o.Target, o.Message)
		}
	}
	r.Post(r.Take(), o)
}

// Now adds an operation of the caller's.
func (r *Recorder) Now(o *Op) {
	if !o.Site.Known() {
		o.Site = callsite.Here()
	}
	r.Add(o)
}

// delayed picks the operations that run late.
var delayed atomic.Pointer[func(*Op) bool]

// Delay has the operations that late picks run as late as the order allows, on devices
// that can choose; nil for none. Their site and what they are is known, not yet what they
// touch.
func Delay(late func(*Op) bool) {
	if late == nil {
		delayed.Store(nil)
		return
	}
	delayed.Store(&late)
}

// meant counts the parts of the program that run and break order on purpose.
var meant atomic.Int32

// Mean marks the operations that are recorded from now on as such that break order
// on purpose, until end is called.
func Mean() (end func()) {
	InUse().Flush()
	meant.Add(1)
	return sync.OnceFunc(func() {
		InUse().Flush()
		meant.Add(-1)
	})
}

// inUse is the recorder of this process.
var inUse atomic.Pointer[Recorder]

// Use makes r the recorder of what does not go through a driver, such as
// messages; nil for none.
func Use(r *Recorder) { inUse.Store(r) }

// InUse is the recorder in use, or nil.
func InUse() *Recorder { return inUse.Load() }

// Idle waits until all that a driver of Wrap's was given is done. The record does
// not know.
func Idle(d driver.Driver, stop <-chan struct{}) error {
	var w *Driver
	switch x := d.(type) {
	case *Driver:
		w = x
	case withGraphs:
		w = x.Driver
	default:
		return nil
	}
	w.mu.Lock()
	contexts := slices.Collect(maps.Keys(w.devices))
	w.mu.Unlock()
	for _, c := range contexts {
		if err := w.Driver.CtxSynchronize(c, stop); err != nil {
			return err
		}
	}
	if w.tracer != nil {
		w.tracer.Settle(stop)
	}
	return nil
}

// Watched is where a kernel's accesses arrive when it has run.
type Watched struct {
	mu       sync.Mutex
	accesses []Access
	done     bool
	then     []func([]Access)
	runs     *nodeRuns // of a graph's node: its runs have accesses, not the node
}

// Touched tells the accesses. Only the first call counts.
func (w *Watched) Touched(list []Access) {
	w.mu.Lock()
	if w.done {
		w.mu.Unlock()
		return
	}
	w.accesses, w.done = list, true
	then := w.then
	w.then = nil
	w.mu.Unlock()
	for _, f := range then {
		f(list)
	}
}

// Known gives the accesses if they are known.
func (w *Watched) Known() ([]Access, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.accesses, w.done
}

// Then gives the accesses if they are known, and else has f called with them.
func (w *Watched) Then(f func([]Access)) (list []Access, known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.done {
		w.then = append(w.then, f)
	}
	return w.accesses, w.done
}

// Drop says that the accesses will not be known: the kernel never ran. Nobody is
// called.
func (w *Watched) Drop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done, w.then = true, nil
}

// shared are a driver's accesses as a record has them, in the same memory: nobody may
// change them.
func shared(touched []driver.Access) []Access {
	return unsafe.Slice((*Access)(unsafe.Pointer(unsafe.SliceData(touched))), len(touched))
}

// Both kinds of accesses are laid out alike.
var (
	_ = [unsafe.Sizeof(Access{})]struct{}([unsafe.Sizeof(driver.Access{})]struct{}{})
	_ = [unsafe.Offsetof(Access{}.Mode)]struct{}([unsafe.Offsetof(driver.Access{}.Mode)]struct{}{})
)

// accessesOf are a driver's, as a record has them.
func accessesOf(touched []driver.Access) []Access {
	list := make([]Access, len(touched))
	for i, a := range touched {
		list[i] = Access{uint64(a.Lo), uint64(a.Hi), Mode(a.Mode)}
	}
	return list
}
