package trace

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/record"
)

// plain is a driver that cannot tell times itself.
type plain struct{ driver.Driver }

func simulated(t *testing.T) driver.Driver {
	t.Helper()
	if os.Getenv("GOCUDA_BACKEND") == "nvidia" {
		t.Skip("the tests of this process are of GPUs")
	}
	t.Setenv("GOCUDA_BACKEND", "sim")
	m, err := backend.Simulated()
	if err != nil {
		t.Skip(err) // GPUs are in use
	}
	return m
}

// Without a driver that tells times, events around each operation do.
func TestByEvents(t *testing.T) {
	m := simulated(t)
	if err := cuda.Use(plain{m}); err != nil {
		t.Fatal(err)
	}
	defer cuda.Use(m) //nolint:errcheck // it was in use
	dev, err := cuda.Get(0)
	if err != nil {
		t.Fatal(err)
	}
	x, err := dev.Alloc(1<<20, cuda.Uint8)
	if err != nil {
		t.Fatal(err)
	}
	s, err := dev.NewStream(cuda.NonBlocking)
	if err != nil {
		t.Fatal(err)
	}
	before := backendHoldings(t)
	if err := Start(); err != nil {
		t.Fatal(err)
	}
	const many = 2*mostPairs + 100 // more than may be unread
	for range many {
		if err := x.MemsetAsync(1, s); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Synchronize(); err != nil {
		t.Fatal(err)
	}
	line, err := Stop()
	if err != nil {
		t.Fatal(err)
	}
	if line.Clock != "events" || line.Running > 0 {
		t.Errorf("%s", line)
	}
	n, last := 0, time.Duration(0)
	for _, b := range line.Boxes {
		if b.Kind == Fill {
			if b.End <= b.Begin || b.Begin < last {
				t.Fatalf("box %d: %+v, after one until %v", n, b, last)
			}
			n, last = n+1, b.End
		}
	}
	if n != many {
		t.Errorf("%d boxes, want %d", n, many)
	}
	if after := backendHoldings(t); after != before {
		t.Errorf("the devices hold %s, before it was %s", after, before)
	}
	if err := x.Free(); err != nil {
		t.Error(err)
	}
	if err := s.Destroy(); err != nil {
		t.Error(err)
	}
}

// backendHoldings tells what exists on the devices, but for streams: those of events
// are made and destroyed in between.
func backendHoldings(t *testing.T) string {
	t.Helper()
	m, err := backend.Simulated()
	if err != nil {
		t.Fatal(err)
	}
	return m.Holdings().String()
}

// What is more than can be kept is counted.
func TestLimit(t *testing.T) {
	simulated(t)
	dev, err := cuda.Get(0)
	if err != nil {
		t.Fatal(err)
	}
	x, err := dev.Alloc(16, cuda.Uint8)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Free() //nolint:errcheck // the test is over
	if err := start(100); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if err := x.MemsetAsync(1, nil); err != nil {
			t.Fatal(err)
		}
	}
	line, err := Stop()
	if err != nil {
		t.Fatal(err)
	}
	if len(line.Boxes) != 100 || line.Left != 900 || !strings.Contains(line.String(), "900 operations after the first") {
		t.Errorf("%d boxes, %d left out\n%s", len(line.Boxes), line.Left, line)
	}
}

const us = time.Microsecond

func kernel(id int, begin, end time.Duration, after ...int) Box {
	return Box{ID: id, Lane: "s", Kind: Kernel, Name: "k", Issued: begin, Begin: begin, End: end, After: after}
}

// Sums, what ran beside each other and the longest chain of boxes whose times are known.
func TestSummary(t *testing.T) {
	copied := func(id int, begin, end time.Duration, after ...int) Box {
		return Box{ID: id, Lane: "t", Kind: Copy, Name: "c", Bytes: 1000, Begin: begin, End: end, After: after}
	}
	line := &Timeline{Boxes: []Box{
		kernel(1, 0, 10*us), copied(2, 5*us, 9*us), kernel(3, 20*us, 40*us, 2), copied(4, 30*us, 50*us, 3),
		{ID: 5, Device: -1, Kind: HostWait, Name: "w", Begin: 0, End: 60 * us, After: []int{4}}, kernel(6, 70*us, 71*us, 5),
	}}
	s := line.Summarize()
	want := []Row{
		{Kernel, "k", 3, 31 * us, us, 20 * us, 0},
		{Copy, "c", 2, 24 * us, 4 * us, 20 * us, 2000},
		{HostWait, "w", 1, 60 * us, 60 * us, 60 * us, 0},
	}
	if !slices.Equal(s.Rows, want) {
		t.Errorf("rows %+v\nwant %+v", s.Rows, want)
	}
	if use := (Use{0, 0, 31 * us, 24 * us, 14 * us, 41 * us}); len(s.Devices) != 1 || s.Devices[0] != use {
		t.Errorf("use %+v, want %+v", s.Devices, use)
	}
	var ids []int
	for _, b := range s.Chain {
		ids = append(ids, b.ID)
	}
	if !slices.Equal(ids, []int{2, 3, 4, 6}) || s.Work != 35*us || s.Span != 71*us {
		t.Errorf("chain %v of %v work, in %v", ids, s.Work, s.Span)
	}
	if rate := s.Rows[1].Rate(); rate < 8.3e7 || rate > 8.4e7 {
		t.Errorf("%g bytes a second", rate)
	}
}

// sent is a message's box.
func sent(rank, id int, begin, end time.Duration, m record.Message) Box {
	m.Rank, m.Comm, m.Size = rank, "world", 3
	return Box{Rank: rank, ID: id, Device: -1, Kind: Message, Issued: begin, Begin: begin, End: end, message: &meeting{m, id}}
}

// On modelled clocks a rank waits for what it receives, and what it does afterwards
// comes later by as much.
func TestReplay(t *testing.T) {
	rank := func(n int, boxes ...Box) *Timeline {
		for i := range boxes {
			boxes[i].Rank = n
		}
		return &Timeline{Clock: "model", Modelled: true, Ranks: []int{n}, Boxes: boxes, Begin: 1000 * us * time.Duration(n)}
	}
	at := func(n int, d time.Duration) time.Duration { return 1000*us*time.Duration(n) + d }
	zero := rank(0, kernel(1, 0, 100*us), sent(0, 2, 100*us, 101*us, record.Message{Role: record.Sends, Peer: 1, Tag: 7}),
		sent(0, 3, 102*us, 102*us, record.Message{Role: record.FromAll}))
	one := rank(1, kernel(1, at(1, 5*us), at(1, 50*us)), sent(1, 2, at(1, 10*us), at(1, 12*us), record.Message{Role: record.Receives, Peer: 0, Tag: 7}),
		kernel(3, at(1, 20*us), at(1, 30*us)), sent(1, 4, at(1, 30*us), at(1, 30*us), record.Message{Role: record.FromAll}))
	two := rank(2, sent(2, 1, at(2, 3*us), at(2, 4*us), record.Message{Role: record.FromAll}), kernel(2, at(2, 5*us), at(2, 6*us)))
	all := Merge(zero, two, one)
	got := map[who][2]time.Duration{}
	for _, b := range all.Boxes {
		got[who{b.Rank, b.ID}] = [2]time.Duration{b.Begin, b.End}
	}
	for box, want := range map[who][2]time.Duration{
		{0, 1}: {0, 100 * us}, {0, 2}: {100 * us, 101 * us},
		{1, 1}: {5 * us, 50 * us},    // issued before the message
		{1, 2}: {10 * us, 100 * us},  // ends when the send begins
		{1, 3}: {108 * us, 118 * us}, // 88 later
		{1, 4}: {118 * us, 118 * us},
		{0, 3}: {102 * us, 118 * us}, // all wait for the last
		{2, 1}: {3 * us, 118 * us}, {2, 2}: {119 * us, 120 * us},
	} {
		if got[box] != want {
			t.Errorf("box %d of rank %d is at %v, want %v", box.id, box.rank, got[box], want)
		}
	}
	if !slices.Equal(all.Ranks, []int{0, 1, 2}) {
		t.Errorf("ranks %v", all.Ranks)
	}
}

// A receive whose send is not in the record holds nobody up.
func TestReplayWithoutASend(t *testing.T) {
	lone := &Timeline{Modelled: true, Ranks: []int{0}, Boxes: []Box{sent(0, 1, us, 2*us, record.Message{Role: record.Receives, Peer: 5}), kernel(2, 3*us, 4*us)}}
	all := Merge(lone)
	if len(all.Boxes) != 2 || all.Boxes[1].End != 4*us {
		t.Errorf("%+v", all.Boxes)
	}
}

// Messages from before a simulated machine was opened are at the beginning of its clock.
func TestMessagesBeforeTheModel(t *testing.T) {
	c := &collector{limit: 10, begun: 5 * time.Hour, begin: 5 * time.Hour, unopened: true, open: map[*record.Op]int{},
		sources: map[driver.Driver]source{nil: tracer{modelled{}}}}
	o := &record.Op{Kind: record.Request, Call: "Comm.Barrier", Message: &record.Message{Role: record.FromAll}}
	b := c.box(o, Collective)
	c.messageTime(b.ID, 5*time.Hour+us)
	c.messageTime(b.ID, 3*us)
	c.set(c.box(o, Kernel).ID, us, 2*us, 4*us)
	line := c.timeline(6 * time.Hour)
	if begin, end := line.Span(); begin != 0 || end != 4*us || len(line.Boxes) != 2 {
		t.Errorf("from %v to %v: %+v", begin, end, line.Boxes)
	}
}

type modelled struct{ driver.Tracer }

func (modelled) TraceClock() driver.TraceClock {
	return driver.TraceClock{Name: "a model", Modelled: true}
}

// Where devices did nothing, messages have the time that they took.
func TestNothingButMessages(t *testing.T) {
	rank := func(n int, begin, end time.Duration) *Timeline {
		b := sent(n, 1, 0, 0, record.Message{Role: record.FromAll})
		b.wall = [2]time.Duration{begin, end}
		wait := Box{Rank: n, ID: 2, Device: -1, Kind: HostWait, Begin: us, End: 2 * us}
		return &Timeline{Clock: "model", Modelled: true, Ranks: []int{n}, Boxes: []Box{b, wait}}
	}
	first := rank(0, 1000*us, 1500*us)
	text, err := first.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if first, err = Decode(text); err != nil {
		t.Fatal(err)
	}
	all := Merge(first, rank(1, 1400*us, 1500*us))
	if begin, end := all.Span(); all.Modelled || all.Clock != systemClock || len(all.Boxes) != 2 || begin != 1000*us || end != 1500*us {
		t.Errorf("%v to %v by %s: %+v", begin, end, all.Clock, all.Boxes)
	}
	busy := rank(1, 1400*us, 1500*us)
	busy.Boxes = append(busy.Boxes, kernel(3, 0, us))
	if all := Merge(rank(0, 1000*us, 1500*us), busy); !all.Modelled {
		t.Error("a kernel has no modelled time")
	}
}

// The clocks of machines are compared by when ranks were asked and answered, and by
// their messages, of which those both ways tell most.
func TestSeveralMachines(t *testing.T) {
	const far = 3 * time.Hour // b's clock before a's
	part := func(n int, host string, boxes ...Box) *Timeline {
		begin := 10 * us
		for i := range boxes {
			boxes[i].Rank = n
			if boxes[i].message != nil {
				boxes[i].message.Rank = n
			}
			if host == "b" {
				boxes[i].Begin, boxes[i].End = boxes[i].Begin+far, boxes[i].End+far
			}
		}
		if host == "b" {
			begin += far
		}
		return &Timeline{Clock: "CUPTI", Ranks: []int{n}, Host: host, Boxes: boxes, Begin: begin, End: begin + 500*us, begun: begin, sealed: begin + 510*us}
	}
	asked := func(p *Timeline) *Timeline { // the notebook is on machine a
		p.asked = [2]time.Duration{3 * us, 600 * us}
		return p
	}
	send := func(id, to int, begin time.Duration) Box {
		return sent(0, id, begin, begin+us, record.Message{Role: record.Sends, Peer: to})
	}
	receive := func(id, from int, end time.Duration) Box {
		return sent(0, id, end-50*us, end, record.Message{Role: record.Receives, Peer: from})
	}
	for _, c := range []struct {
		name   string
		parts  []*Timeline
		within time.Duration // how far b's boxes may be from where they were
		note   string
	}{
		{"asked and answered", []*Timeline{asked(part(0, machine(), kernel(1, 20*us, 30*us))), asked(part(1, "b", kernel(1, 20*us, 30*us)))}, 44 * us, "within 44µs"},
		{"messages", []*Timeline{
			asked(part(0, machine(), send(1, 1, 100*us), receive(2, 1, 225*us), kernel(3, 20*us, 30*us))),
			asked(part(1, "b", receive(1, 0, 110*us), send(2, 0, 215*us), kernel(3, 20*us, 30*us)))}, 10 * us, "within 9µs"},
		{"messages alone", []*Timeline{
			part(0, "a", send(1, 1, 100*us), receive(2, 1, 225*us)),
			part(1, "b", receive(1, 0, 110*us), send(2, 0, 215*us), kernel(3, 20*us, 30*us))}, 10 * us, "within 10µs"},
		{"nothing", []*Timeline{part(0, "a", kernel(1, 20*us, 30*us)), part(1, "b", kernel(1, 20*us, 30*us))}, 0, "could not be compared"},
	} {
		all := Merge(c.parts...)
		for _, b := range all.Boxes {
			if b.Rank == 1 && b.Kind == Kernel && (b.Begin < 20*us-c.within || b.Begin > 20*us+c.within) {
				t.Errorf("%s: the kernel begins at %v", c.name, b.Begin)
			}
		}
		if !strings.Contains(strings.Join(all.Notes, " "), c.note) {
			t.Errorf("%s: notes %q", c.name, all.Notes)
		}
	}
}

// What comes behind something whose times are not known comes behind what that followed.
func TestBridge(t *testing.T) {
	c := &collector{
		boxes: []Box{{ID: 1}, {ID: 2}, {ID: 3, After: []int{2}, prev: 1}, {ID: 4, prev: 3}, {ID: 5, After: []int{4}}, {ID: 6, prev: 4}},
		timed: []bool{true, true, false, false, true, true},
	}
	c.bridge()
	if after := c.boxes[4].After; !slices.Equal(after, []int{2, 1}) {
		t.Errorf("the one after an unknown one comes after %v", after)
	}
	if b := c.boxes[5]; b.prev != 1 || !slices.Equal(b.After, []int{2}) {
		t.Errorf("the one behind an unknown one in its lane comes behind %d and after %v", b.prev, b.After)
	}
}
