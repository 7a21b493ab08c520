package hazard

import (
	"errors"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/record"
)

// machine is a driver that does nothing. While it waits it calls meanwhile, as another
// goroutine may call it.
type machine struct {
	driver.Driver
	driver.Graphs
	meanwhile func()
	observe   []func([]driver.Access) // of the kernel that was captured
	refuses   bool                    // launches of graphs
}

func (*machine) StreamGetFlags(driver.Context, driver.Stream) (driver.StreamFlags, error) {
	return driver.StreamNonBlocking, nil
}
func (*machine) PointerAttributes(driver.Context, driver.Ptr) (driver.PointerInfo, error) {
	return driver.PointerInfo{}, nil
}
func (*machine) MemAlloc(driver.Context, uint64) (driver.Ptr, error) { return 4096, nil }
func (*machine) MemFree(driver.Context, driver.Ptr) error            { return nil }
func (*machine) MemsetAsync(driver.Context, driver.Ptr, uint32, int, uint64, driver.Stream) error {
	return nil
}
func (*machine) MemcpyAsync(driver.Context, driver.Ptr, driver.Ptr, uint64, driver.Stream) error {
	return nil
}
func (*machine) EventRecord(driver.Context, driver.Event, driver.Stream) error { return nil }
func (m *machine) wait() error {
	if f := m.meanwhile; f != nil {
		m.meanwhile = nil
		f()
	}
	return nil
}
func (m *machine) StreamSynchronize(driver.Context, driver.Stream, <-chan struct{}) error {
	return m.wait()
}
func (m *machine) CtxSynchronize(driver.Context, <-chan struct{}) error { return m.wait() }
func (m *machine) EventSynchronize(driver.Context, driver.Event, <-chan struct{}) error {
	return m.wait()
}
func (*machine) StreamBeginCapture(driver.Context, driver.Stream) error { return nil }
func (*machine) StreamEndCapture(driver.Context, driver.Stream) (driver.Graph, error) {
	return 3, nil
}
func (*machine) GraphInstantiate(driver.Context, driver.Graph) (driver.GraphExec, error) {
	return 5, nil // always the same handle
}
func (m *machine) GraphLaunch(driver.Context, driver.GraphExec, driver.Stream) error {
	if m.refuses {
		return errors.New("refused")
	}
	return nil
}
func (*machine) GraphExecDestroy(driver.Context, driver.GraphExec) error { return nil }
func (*machine) ObservesKernels() bool                                   { return true }
func (m *machine) Launch(_ driver.Context, l *driver.Launch) error {
	m.observe = append(m.observe, l.Observe)
	return nil
}

// observed is a checker of what a driver is given.
func observed() (*machine, driver.Driver, *Checker) {
	m, c := &machine{}, New()
	return m, record.Wrap(m, record.New(c), map[driver.Context]driver.Device{16: 0}), c
}

func fill(t *testing.T, d driver.Driver, s driver.Stream) {
	t.Helper()
	if err := d.MemsetAsync(16, 4096, 0, 1, 64, s); err != nil {
		t.Fatal(err)
	}
}

// A wait is for what was queued when it began, not for what others queue while it lasts.
func TestWaitsEndWhereTheyBegan(t *testing.T) {
	const s, e = driver.Stream(7), driver.Event(9)
	for name, wait := range map[string]func(d driver.Driver) error{
		"stream":  func(d driver.Driver) error { return d.StreamSynchronize(16, s, nil) },
		"context": func(d driver.Driver) error { return d.CtxSynchronize(16, nil) },
		"event":   func(d driver.Driver) error { return d.EventSynchronize(16, e, nil) },
	} {
		for _, more := range []bool{false, true} {
			m, d, c := observed()
			p, _ := d.MemAlloc(16, 64)
			fill(t, d, s)
			d.EventRecord(16, e, s)
			if more {
				m.meanwhile = func() {
					fill(t, d, s)
					d.EventRecord(16, e, s)
				}
			}
			if err := wait(d); err != nil {
				t.Fatal(err)
			}
			d.MemFree(16, p)
			if got, want := len(c.Found()), map[bool]int{false: 0, true: 1}[more]; got != want {
				t.Errorf("%s, more queued meanwhile %v: %d hazards, want %d", name, more, got, want)
			}
			if len(c.begun) > 0 {
				t.Errorf("%s: a wait that is over is not forgotten", name)
			}
		}
	}
}

// An executable graph comes after earlier launches of it, not after those of another one
// that had its handle.
func TestGraphsWithOneHandle(t *testing.T) {
	for _, destroy := range []bool{false, true} {
		_, d, c := observed()
		g := d.(driver.Graphs)
		made := func() driver.GraphExec {
			g.StreamBeginCapture(16, 6)
			fill(t, d, 6)
			graph, _ := g.StreamEndCapture(16, 6)
			x, _ := g.GraphInstantiate(16, graph)
			return x
		}
		x := made()
		g.GraphLaunch(16, x, 7)
		if destroy {
			g.GraphExecDestroy(16, x)
			x = made()
		}
		g.GraphLaunch(16, x, 8)
		if got, want := len(c.Found()), map[bool]int{false: 0, true: 1}[destroy]; got != want {
			t.Errorf("destroyed %v: %d hazards, want %d", destroy, got, want)
		}
		if g.GraphExecDestroy(16, x); len(c.execs) > 0 {
			t.Errorf("%d executable graphs are not forgotten", len(c.execs))
		}
	}
}

// A launch of a graph that fails does not take what the next one touches.
func TestFailedGraphLaunches(t *testing.T) {
	m, d, c := observed()
	g := d.(driver.Graphs)
	g.StreamBeginCapture(16, 6)
	d.Launch(16, &driver.Launch{Stream: 6, Name: "k"})
	graph, _ := g.StreamEndCapture(16, 6)
	x, _ := g.GraphInstantiate(16, graph)
	m.refuses = true
	if err := g.GraphLaunch(16, x, 6); err == nil {
		t.Fatal("the launch did not fail")
	}
	m.refuses = false
	g.GraphLaunch(16, x, 6)
	m.observe[0]([]driver.Access{{Lo: 4096, Hi: 4160, Mode: driver.AccessMode(record.Write)}})
	if n := c.Counts().Unknown; n != 0 {
		t.Errorf("of %d operations it is not known what they touched", n)
	}
	fill(t, d, 7)
	if n := len(c.Found()); n != 1 {
		t.Errorf("%d hazards, want 1", n)
	}
}

// A write that is excused for what came before does not hide it from what comes after.
func TestExcusedWritesHideNothing(t *testing.T) {
	c := New()
	r := record.New(c)
	word := func(m record.Mode) []record.Access { return []record.Access{{Lo: 64, Hi: 68, Mode: m}} }
	r.Add(&record.Op{Kind: record.Kernel, Lane: &record.Lane{ID: 1}, Accesses: word(record.Atomic)})
	r.Add(&record.Op{Kind: record.HostAccess, Single: true, Accesses: word(record.Write)})
	r.Add(&record.Op{Kind: record.Fill, Lane: &record.Lane{ID: 2}, Accesses: word(record.Write)})
	if found := c.Found(); len(found) != 1 || found[0].First.Kind != record.Kernel {
		t.Errorf("%d hazards, want the kernel's with the fill", len(found))
	}
}

// Streams that are made and destroyed leave nothing behind once they have been waited
// for, be it later, or by way of others.
func TestDestroyedStreamsAreForgotten(t *testing.T) {
	c := New()
	r := record.New(c)
	end := &record.Lane{ID: 1}
	for i := range 3000 {
		l := &record.Lane{ID: i + 10, Blocking: i%2 == 0}
		e := &record.Event{ID: i}
		at := uint64(i%16) * 64
		r.Add(&record.Op{Kind: record.Fill, Lane: l, Accesses: []record.Access{{Lo: at, Hi: at + 64, Mode: record.Write}}})
		r.Add(&record.Op{Kind: record.Mark, Lane: l, Event: e})
		r.Add(&record.Op{Kind: record.LaneGone, Lane: l})
		r.Add(&record.Op{Kind: record.Wait, Lane: end, Event: e})
		r.Add(&record.Op{Kind: record.EventGone, Event: e})
		if i%10 == 9 {
			r.Add(&record.Op{Kind: record.SyncLane, Lane: end})
		}
	}
	if len(c.lanes) > 100 || len(c.gone) > 100 || c.dims.count > 100 {
		t.Errorf("%d streams, %d of them destroyed, and %d dimensions are left", len(c.lanes), len(c.gone), c.dims.count)
	}
}

// Of the streams that no one waits for, the checker keeps the last 256.
func TestDestroyedStreamsThatNobodyWaitsFor(t *testing.T) {
	c := New()
	r := record.New(c)
	for i := range 20 * mostGone {
		l := &record.Lane{ID: i + 10, Blocking: i%2 == 0}
		at := uint64(i) * 64
		r.Add(&record.Op{Kind: record.Fill, Site: site("a"), Lane: l, Accesses: []record.Access{{Lo: at, Hi: at + 64, Mode: record.Write}}})
		r.Add(&record.Op{Kind: record.LaneGone, Lane: l})
		if i > mostGone/2 {
			at -= mostGone / 2 * 64
			r.Add(&record.Op{Kind: record.Free, Site: site("b"), Addr: at, Bytes: 64})
		}
	}
	if len(c.lanes) > mostGone+1 || c.dims.count > mostGone+1 {
		t.Errorf("%d streams and %d dimensions are left", len(c.lanes), c.dims.count)
	}
	found := 0
	for _, h := range c.Found() {
		found += h.Times
	}
	if want := 20*mostGone - mostGone/2 - 1; found != want {
		t.Errorf("%d hazards, want %d: each free comes too early", found, want)
	}
}

// Memory is bounded, too, where there is always an operation of which it is not known
// yet what it touches.
func TestPrunedWhileSomethingIsUnknown(t *testing.T) {
	c := New()
	r := record.New(c)
	a := &record.Lane{ID: 1}
	var last *record.Watched
	for i := range 40 * pruneFrom {
		at := uint64(i) * 128
		w := &record.Watched{}
		r.Add(&record.Op{Kind: record.Kernel, Lane: a, Watched: w})
		if last != nil {
			last.Touched([]record.Access{{Lo: at, Hi: at + 64, Mode: record.Write}})
		}
		if last = w; i%100 == 99 {
			r.Add(&record.Op{Kind: record.SyncLane, Lane: a})
		}
	}
	if c.memory.segments > 4*pruneFrom {
		t.Errorf("%d segments are kept", c.memory.segments)
	}
}

// A copy of pageable memory to itself is in order with what the driver read for it, and a
// hazard of the host's with a stream can be put into words.
func TestCopyOntoItself(t *testing.T) {
	_, d, c := observed()
	if err := d.MemcpyAsync(16, 4096, 4096, 64, 7); err != nil {
		t.Fatal(err)
	}
	if found := c.Found(); len(found) > 0 {
		t.Errorf("%d hazards, want none", len(found))
	}
	h := &Hazard{First: &record.Op{Kind: record.HostAccess, Call: "reads it", Site: site("In[1], line 2")}, FirstMode: record.Read,
		Second: &record.Op{Kind: record.Kernel, Name: "k", Site: site("In[1], line 3"), Lane: &record.Lane{Handle: 0xa0}}, SecondMode: record.Write, Lo: 64, Hi: 68, Times: 1}
	text := Namer{}.Report(h).String()
	for _, want := range []string{"The host's access may not be over when the stream of In[1], line 3 touches the memory", "queue what is at In[1], line 3 after the host is done with the memory"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
