package record

import (
	"testing"

	"gocuda/cudaapi/driver"
)

// What operations use is known by its address, to within 64 KiB.
func TestSharedMemory(t *testing.T) {
	const unit = sharedUnit
	var s sharedMemory
	s.uses(&Op{Accesses: []Access{{10 * unit, 10*unit + 8, Read}, {30*unit + 8, 31 * unit, Write}}, Nodes: []Node{{Op: &Op{HostReads: []Access{{50 * unit, 50*unit + 1, Read}}}}}})
	s.add(11*unit, 12*unit)
	s.add(29*unit, 29*unit+1)
	s.add(11*unit+5, 11*unit+6)
	s.add(7, 7)
	if n := len(s.spans()); n != 3 {
		t.Error(s.spans())
	}
	for at, want := range map[uint64]bool{0: false, 9: false, 10: true, 11: true, 12: false, 28: false, 29: true, 30: true, 31: false, 50: true, 51: false} {
		if s.has(at*unit+100, at*unit+104) != want {
			t.Errorf("%d units: %v", at, !want)
		}
	}
	if !s.has(0, 100*unit) || s.has(0, 10*unit) || s.has(12*unit, 29*unit) || !s.has(12*unit, 29*unit+1) {
		t.Error("of ranges")
	}
}

// Work is pending until the program has waited for its stream, its context, or the request.
func TestPending(t *testing.T) {
	const c, other = driver.Context(1), driver.Context(2)
	a, b, far := &Lane{ID: 1, Context: c}, &Lane{ID: 2, Context: c}, &Lane{ID: 3, Context: other}
	message := &Op{Kind: Request}
	var told []bool
	r := New()
	r.WhenPending(func(any bool) { told = append(told, any) })
	for i, step := range []struct {
		o    *Op
		want bool
	}{
		{&Op{Kind: Alloc}, false},
		{&Op{Kind: Copy, Lane: a, HostAfter: true}, false},
		{&Op{Kind: Kernel, Lane: a}, true},
		{&Op{Kind: Fill, Lane: b}, true},
		{&Op{Kind: SyncLane, Lane: a}, true},
		{&Op{Kind: Mark, Lane: b}, true},
		{&Op{Kind: SyncEvent}, true},
		{&Op{Kind: SyncLane, Lane: b}, false},
		{message, true},
		{&Op{Kind: SyncRequest, Target: message}, false},
		{&Op{Kind: Kernel, Lane: a}, true},
		{&Op{Kind: Kernel, Lane: far}, true},
		{&Op{Kind: SyncContext, Context: c}, true},
		{&Op{Kind: SyncContext, Context: other}, false},
		{&Op{Kind: GraphLaunch, Lane: a}, true},
		{&Op{Kind: SyncAll}, false},
		{&Op{Kind: HostFunc, Lane: a}, true},
		{&Op{Kind: Copy, Lane: a, HostAfter: true}, false},
	} {
		r.Add(step.o)
		if got := told[len(told)-1]; got != step.want {
			t.Errorf("step %d, %v: %v", i, step.o.Kind, got)
		}
	}
	// One that is numbered before another that is not there yet counts already.
	first, second := r.Take(), r.Take()
	r.Post(second, &Op{Kind: Kernel, Lane: a})
	if !told[len(told)-1] {
		t.Error("what waits for its turn is not pending")
	}
	r.Post(first, nil)
}
