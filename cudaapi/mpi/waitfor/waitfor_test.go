package waitfor

import (
	"slices"
	"strings"
	"testing"
)

// job is ranks of one communicator.
type job []Report

func newJob(n int) job {
	j := make(job, n)
	members := make([]int, n)
	for r := range n {
		members[r] = r
	}
	for r := range j {
		j[r] = Report{Held: true, Comms: []Comm{{ID: "world", Name: "world", Rank: r, Members: members}}}
	}
	return j
}

func (j job) wait(r int, w Wait) {
	w.Comm, w.ID = "world", uint64(len(j[r].Waits)+1)
	j[r].Waits = append(j[r].Waits, w)
}

func (j job) sent(from, to, tag int) {
	c := &j[from].Comms[0]
	c.Sent = append(c.Sent, Count{Envelope{to, tag}, 1})
}

func (j job) got(at, from, tag int) {
	c := &j[at].Comms[0]
	c.Got = append(c.Got, Count{Envelope{from, tag}, 1})
}

func (j job) entered(r int, calls ...Collective) {
	j[r].Comms[0].Recent, j[r].Comms[0].Entered = calls, len(calls)
}

func recv(peer, tag int) Wait { return Wait{Kind: Recv, Peer: peer, Tag: tag, Bytes: 8} }

func TestGraph(t *testing.T) {
	large := Wait{Kind: Send, Tag: 1, Bytes: 1 << 20}
	to := func(w Wait, peer int) Wait { w.Peer = peer; return w }
	barrier := Collective{Call: "Comm.Barrier"}
	for _, test := range []struct {
		name    string
		build   func(j job)
		changed []int // ranks that did something between the looks
		idle    []int
		stuck   []int
		cycle   []int
		gone    []int
	}{
		{name: "two receives", build: func(j job) { j.wait(0, recv(1, 0)); j.wait(1, recv(0, 0)) }, stuck: []int{0, 1}, cycle: []int{0, 1}},
		{name: "one looked at in between", build: func(j job) { j.wait(0, recv(1, 0)); j.wait(1, recv(0, 0)) }, changed: []int{1}},
		{name: "a message on its way", build: func(j job) { j.wait(0, recv(1, 0)); j.wait(1, recv(0, 0)); j.sent(0, 1, 0) }},
		{name: "it was received", build: func(j job) { j.wait(0, recv(1, 0)); j.wait(1, recv(0, 0)); j.sent(0, 1, 0); j.got(1, 0, 0) }, stuck: []int{0, 1}, cycle: []int{0, 1}},
		{name: "another tag is there", build: func(j job) { j.wait(0, recv(1, 0)); j.wait(1, recv(0, 0)); j.sent(0, 1, 5) }, stuck: []int{0, 1}, cycle: []int{0, 1}},
		{name: "any tag takes it", build: func(j job) { j.wait(0, recv(1, 0)); j.wait(1, recv(0, -1)); j.sent(0, 1, 5) }},
		{name: "any source, of whom one runs", build: func(j job) { j.wait(0, recv(-1, 0)); j.wait(1, recv(0, 0)) }},
		{name: "any source, all wait", build: func(j job) { j.wait(0, recv(-1, 0)); j.wait(1, recv(0, 0)); j.wait(2, recv(0, 0)) }, stuck: []int{0, 1, 2}, cycle: []int{0, 1}},
		{name: "a chain to one that runs", build: func(j job) { j.wait(0, recv(1, 0)); j.wait(1, recv(2, 0)) }},
		{name: "a chain to one that is gone", build: func(j job) { j.wait(0, recv(1, 0)); j.wait(1, recv(2, 0)) }, idle: []int{2}, stuck: []int{0, 1}, gone: []int{2}},
		{name: "another goroutine's wait may end", build: func(j job) {
			j.wait(0, recv(1, 0))
			j.wait(1, recv(0, 0))
			j.wait(1, recv(2, 0))
		}},
		{name: "large sends to each other", build: func(j job) {
			j.wait(0, to(large, 1))
			j.wait(1, to(large, 0))
			j.sent(0, 1, 1)
			j.sent(1, 0, 1)
		}, stuck: []int{0, 1}, cycle: []int{0, 1}},
		{name: "short sends may just be slow", build: func(j job) {
			j.wait(0, Wait{Kind: Send, Peer: 1, Tag: 1, Bytes: 8})
			j.wait(1, recv(0, 2))
			j.sent(0, 1, 1)
		}},
		{name: "a synchronous one is not", build: func(j job) {
			j.wait(0, Wait{Kind: Send, Peer: 1, Tag: 1, Bytes: 8, Synchronous: true})
			j.wait(1, recv(0, 2))
			j.sent(0, 1, 1)
		}, stuck: []int{0, 1}, cycle: []int{0, 1}},
		{name: "a send whose receive is posted", build: func(j job) {
			j.wait(0, to(large, 1))
			j.wait(1, recv(0, 2))
			j.sent(0, 1, 1)
			j[1].Comms[0].Open = []Count{{Envelope{-1, 1}, 1}}
		}},
		{name: "a send that was received", build: func(j job) { j.wait(0, to(large, 1)); j.wait(1, recv(0, 2)); j.sent(0, 1, 1); j.got(1, 0, 1) }},
		{name: "a barrier that one does not enter", build: func(j job) {
			j.wait(0, Wait{Kind: Join, Peer: -1, Tag: -1, Needs: All})
			j.wait(1, recv(0, 0))
			j.entered(0, barrier)
		}, stuck: []int{0, 1}, cycle: []int{0, 1}},
		{name: "a barrier that all have entered", build: func(j job) {
			for r := range j {
				j.wait(r, Wait{Kind: Join, Peer: -1, Tag: -1, Needs: All})
				j.entered(r, barrier)
			}
		}},
		{name: "a broadcast without its root", build: func(j job) {
			j.wait(0, Wait{Kind: Join, Peer: 1, Tag: -1, Needs: Root})
			j.wait(1, recv(0, 0))
			j.entered(0, Collective{Call: "Comm.Bcast", Kind: 1, Gives: "root 1, 8 bytes"})
		}, stuck: []int{0, 1}, cycle: []int{0, 1}},
		{name: "a broadcast whose root has come", build: func(j job) {
			bcast := Collective{Call: "Comm.Bcast", Kind: 1, Gives: "root 1, 8 bytes"}
			j.wait(0, Wait{Kind: Join, Peer: 1, Tag: -1, Needs: Root})
			j.wait(2, recv(0, 0))
			j.entered(0, bcast)
			j.entered(1, bcast)
		}},
		{name: "a reduction that another rank entered as another, and left", build: func(j job) {
			j.wait(0, Wait{Kind: Join, Peer: -1, Tag: -1, Needs: All})
			j.entered(0, Collective{Call: "Comm.Allreduce", Kind: 2, Gives: "Sum, float64, 8 bytes"})
			for r := 1; r < 3; r++ {
				j.entered(r, Collective{Call: "Comm.Reduce", Kind: 3, Gives: "root 0, Sum, float64, 8 bytes"})
			}
		}, stuck: []int{0}},
		{name: "a gathering that may need nobody", build: func(j job) {
			j.wait(0, Wait{Kind: Join, Peer: -1, Tag: -1, Needs: Unknown})
			j.wait(1, recv(0, 0))
			j.entered(0, barrier)
		}},
		{name: "a scan needs those below", build: func(j job) {
			j.wait(1, Wait{Kind: Join, Peer: -1, Tag: -1, Needs: Lower})
			j.wait(0, recv(1, 0))
			j.entered(1, barrier)
		}, stuck: []int{0, 1}, cycle: []int{0, 1}},
		{name: "a scan does not need those above", build: func(j job) {
			j.wait(1, Wait{Kind: Join, Peer: -1, Tag: -1, Needs: Lower})
			j.wait(2, recv(1, 0))
			j.entered(1, barrier)
			j.entered(0, barrier)
		}},
		{name: "more envelopes than are kept", build: func(j job) {
			j.wait(0, recv(1, 0))
			j.wait(1, recv(0, 0))
			j[0].Comms[0].Overflow = true
		}},
		{name: "many tags, all received", build: func(j job) {
			j.wait(0, recv(1, 3))
			j.wait(1, recv(0, 3))
			for tag := range 100 {
				j.sent(0, 1, tag)
			}
			j[1].Comms[0].Folded = true
			for tag := range 100 {
				j.got(1, 0, FoldTag(tag))
			}
		}, stuck: []int{0, 1}, cycle: []int{0, 1}},
		{name: "many tags, one on its way", build: func(j job) {
			j.wait(0, recv(1, 3))
			j.wait(1, recv(0, 3))
			for tag := range 100 {
				j.sent(0, 1, tag)
			}
			j[1].Comms[0].Folded = true
			for tag := range 99 {
				j.got(1, 0, FoldTag(tag))
			}
		}},
		{name: "one of several requests", build: func(j job) { j.wait(0, Wait{Kind: Other, Peer: 1}); j.wait(1, recv(0, 0)) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			j := newJob(3)
			test.build(j)
			g := New(j, func(r int) bool { return !slices.Contains(test.changed, r) }, func(r int) bool { return slices.Contains(test.idle, r) })
			if !slices.Equal(g.Stuck, test.stuck) || !slices.Equal(g.Cycle, test.cycle) || !slices.Equal(g.Gone, test.gone) {
				t.Errorf("stuck %v, cycle %v, gone %v; want %v, %v, %v", g.Stuck, g.Cycle, g.Gone, test.stuck, test.cycle, test.gone)
			}
		})
	}
}

func TestMismatches(t *testing.T) {
	barrier, bcast := Collective{Call: "Comm.Barrier"}, Collective{Call: "Comm.Bcast", Kind: 1, Gives: "root 0, 8 bytes"}
	other := Collective{Call: "Comm.Bcast", Kind: 1, Gives: "root 2, 8 bytes"}
	for _, test := range []struct {
		entered [3][]Collective
		want    string
	}{
		{[3][]Collective{{barrier, bcast}, {barrier}, {barrier, bcast}}, ""},
		{[3][]Collective{{barrier, bcast}, {barrier, barrier}, {barrier}}, "a collective on world does not match: rank 0 called Comm.Bcast; rank 1 called Comm.Barrier"},
		{[3][]Collective{{bcast}, {other}, {bcast}}, "a collective on world does not match: ranks 0 and 2 called Comm.Bcast with root 0, 8 bytes; rank 1 called Comm.Bcast with root 2, 8 bytes"},
	} {
		j := newJob(3)
		for r, calls := range test.entered {
			j.entered(r, calls...)
		}
		var texts []string
		for _, m := range Mismatches(j) {
			texts = append(texts, m.Text)
		}
		if got := strings.Join(texts, "\n"); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
		if g := New(j, func(int) bool { return true }, func(int) bool { return false }); len(g.Mismatches) > 0 {
			t.Errorf("nobody waits, and the graph reports %v", g.Mismatches)
		}
	}
}

func TestSame(t *testing.T) {
	j := newJob(1)
	j.wait(0, recv(0, 0))
	later := j[0]
	if !j[0].Same(&later) {
		t.Error("the same waits are others")
	}
	later.Waits = []Wait{{ID: 7}}
	if j[0].Same(&later) {
		t.Error("another wait is the same")
	}
	later = j[0]
	later.Held = false
	if j[0].Same(&later) {
		t.Error("a rank that could go on in between was held")
	}
}
