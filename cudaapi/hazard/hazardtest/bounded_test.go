package hazardtest

import (
	"flag"
	"runtime"
	"testing"
	"time"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/hazard"
	"gocuda/cudaapi/record"
	"gocuda/cudaapi/sim"
)

var comings = flag.Int("comings", 2000, "turns of TestStreamsComeAndGo")

// TestStreamsComeAndGo makes streams, events, memory and graphs, uses and destroys them,
// in a loop of a program that waits now and then, and of a kind that waits only by way of
// another stream. The check and the file of its record keep no more of the second half
// than of the first: with -comings 500000 -v that takes some minutes, and the log shows
// the pace.
func TestStreamsComeAndGo(t *testing.T) {
	m, err := sim.New(sim.Options{Devices: 1, Memory: 1 << 26})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close() //nolint:errcheck // the test is over
	file, err := record.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // as above
	check := hazard.New()
	d := record.Wrap(m, record.New(file, check), nil)
	g := d.(driver.Graphs)
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	c, err := d.PrimaryRetain(0)
	ok(err)
	end, err := d.StreamCreate(c, driver.StreamNonBlocking, 0)
	ok(err)
	turn := func(i int) {
		s, err := d.StreamCreate(c, driver.StreamFlags(i%2), 0)
		ok(err)
		e, err := d.EventCreate(c, driver.EventDisableTiming)
		ok(err)
		p, err := d.MemAlloc(c, 4096)
		ok(err)
		ok(d.MemsetAsync(c, p, 1, 1, 4096, s))
		ok(g.StreamBeginCapture(c, s))
		ok(d.MemsetAsync(c, p, 2, 1, 2048, s))
		graph, err := g.StreamEndCapture(c, s)
		ok(err)
		x, err := g.GraphInstantiate(c, graph)
		ok(err)
		ok(g.GraphLaunch(c, x, s))
		ok(d.EventRecord(c, e, s))
		ok(d.StreamWaitEvent(c, end, e))
		ok(d.StreamDestroy(c, s))
		ok(d.EventDestroy(c, e))
		ok(d.MemsetAsync(c, p, 3, 1, 4096, end))
		ok(d.StreamSynchronize(c, end, nil))
		ok(g.GraphExecDestroy(c, x))
		ok(g.GraphDestroy(c, graph))
		ok(d.MemFree(c, p))
	}
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	begun := time.Now()
	for i := range *comings / 2 {
		turn(i)
	}
	first, half, records := time.Since(begun), heap(), len(m.Records())
	for i := range *comings / 2 {
		turn(i)
	}
	grown := heap() - half
	t.Logf("%d turns, %d operations: the first half took %v, the second %v; the heap grew by %d KiB after the first half, which left %d KiB",
		*comings, check.Counts().Operations, first, time.Since(begun)-first, grown>>10, half>>10)
	if found := check.Found(); len(found) > 0 {
		t.Errorf("%d hazards, want none", len(found))
	}
	if grown > 1<<20+256*max(0, len(m.Records())-records) { // which the simulated device keeps, up to 65,536
		t.Errorf("the check grew by %d KiB", grown>>10)
	}
	runtime.KeepAlive(d)
}
