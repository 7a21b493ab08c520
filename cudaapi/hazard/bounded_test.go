package hazard

import (
	"runtime"
	"testing"

	"gocuda/cudaapi/record"
)

// A program of a million operations, each on memory and with an event of its own,
// leaves no more behind than one of a tenth.
func TestMemoryIsBounded(t *testing.T) {
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	c := New()
	r := record.New(c)
	a, b := &record.Lane{ID: 1, Name: "a"}, &record.Lane{ID: 2, Name: "b"}
	fill := func(l *record.Lane, at uint64) {
		r.Add(&record.Op{Kind: record.Fill, Lane: l, Accesses: []record.Access{{Lo: at, Hi: at + 64, Mode: record.Write}}})
	}
	run := func(n, from int) {
		for i := from; i < from+n; i++ {
			at := uint64(i) * 128 // apart, so that segments do not become one
			fill(a, at)
			e := &record.Event{ID: i}
			r.Add(&record.Op{Kind: record.Mark, Lane: a, Event: e})
			r.Add(&record.Op{Kind: record.Wait, Lane: b, Event: e})
			fill(b, at)
			r.Add(&record.Op{Kind: record.EventGone, Event: e})
			if i%1000 == 999 {
				r.Add(&record.Op{Kind: record.SyncLane, Lane: b})
			}
		}
	}
	run(20_000, 0)
	before := heap()
	turns := 200_000
	if testing.Short() {
		turns = 20_000
	}
	run(turns, 20_000)
	grown := heap() - before
	if found := c.Found(); len(found) > 0 {
		t.Fatalf("%d hazards, want none", len(found))
	}
	if n := c.Counts().Operations; n < 5*turns {
		t.Fatalf("%d operations", n)
	}
	if grown > 4<<20 {
		t.Errorf("the checker grew by %d KiB", grown>>10)
	}
	// What was pruned is not forgotten where it matters: the last fills are not waited for.
	last := uint64(20_000+turns) * 128
	fill(a, last)
	fill(b, last)
	if len(c.Found()) != 1 {
		t.Errorf("%d hazards, want 1", len(c.Found()))
	}
	runtime.KeepAlive(r)
}
