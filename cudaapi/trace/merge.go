package trace

import (
	"fmt"
	"slices"
	"time"

	"gocuda/cudaapi/record"
)

// Merge puts the timelines of a job's processes on one axis. Those of one machine have
// one clock; how those of several differ is told by when they were asked and answered,
// and by their messages. On modelled clocks every rank begins at the same time, and whoever
// receives waits until the clock of whoever sends has come to the message; where nothing
// but messages was seen, which take no modelled time, the system's clock tells theirs.
func Merge(parts ...*Timeline) *Timeline {
	all := &Timeline{}
	parts = slices.DeleteFunc(slices.Clone(parts), func(p *Timeline) bool { return p == nil || p.Ranks == nil && len(p.Boxes) == 0 && len(parts) > 1 })
	if len(parts) == 0 {
		return all
	}
	first := parts[0]
	*all = Timeline{Title: first.Title, Clock: first.Clock, Modelled: first.Modelled, Host: first.Host}
	of := map[int]*Timeline{} // by rank
	for _, p := range parts {
		all.Left, all.Running, all.Untimed = all.Left+p.Left, all.Running+p.Running, all.Untimed+p.Untimed
		all.Ranks = append(all.Ranks, p.Ranks...)
		for _, n := range p.Notes {
			if !slices.Contains(all.Notes, n) {
				all.Notes = append(all.Notes, n)
			}
		}
		for i := range p.Boxes {
			if len(p.Ranks) == 0 && len(parts) > 1 {
				p.Boxes[i].Rank = -1 // the notebook's own process
			}
			of[p.Boxes[i].Rank] = p
		}
		all.Boxes = append(all.Boxes, p.Boxes...)
		if p.Clock != all.Clock {
			all.Notes = append(all.Notes, fmt.Sprintf("Times of ranks %v are by %s, of others by %s.", p.Ranks, p.Clock, all.Clock))
		}
	}
	slices.Sort(all.Ranks)
	all.meet()
	clocks := align(parts, of, all.Boxes)
	begin := first.Begin
	if !first.Modelled {
		begin += clocks[first.Host].by
	}
	all.Begin, all.End = begin, begin+first.End-first.Begin
	by := map[*Timeline]time.Duration{}
	for _, p := range parts {
		if by[p] = clocks[p.Host].by; p.Modelled {
			by[p] = begin - p.Begin
		}
		all.Begin, all.End = min(all.Begin, p.Begin+by[p]), max(all.End, p.End+by[p])
	}
	for i := range all.Boxes {
		b := &all.Boxes[i]
		p := of[b.Rank]
		b.Issued, b.Begin, b.End = b.Issued+by[p], b.Begin+by[p], b.End+by[p]
		if b.wall[1] != 0 {
			b.wall[0], b.wall[1] = b.wall[0]+clocks[p.Host].by, b.wall[1]+clocks[p.Host].by
		}
	}
	replayed := all.Modelled && !all.byWall()
	if !replayed {
		all.Notes = append(all.Notes, noteOf(clocks)...)
	} else {
		all.replay()
	}
	all.sort()
	_, end := all.Span()
	all.End = max(all.End, end)
	return all
}

// byWall gives a timeline of nothing but messages, which take no modelled time, the
// system's clock.
func (t *Timeline) byWall() bool {
	for i := range t.Boxes {
		if b := &t.Boxes[i]; b.Device >= 0 || b.Kind != HostWait && b.wall[1] == 0 {
			return false
		}
	}
	t.Boxes = slices.DeleteFunc(t.Boxes, func(b Box) bool { return b.Kind == HostWait })
	if len(t.Boxes) == 0 {
		return false
	}
	for i := range t.Boxes {
		b := &t.Boxes[i]
		b.Issued, b.Begin, b.End = b.wall[0], b.wall[0], b.wall[1]
	}
	t.Clock, t.Modelled = systemClock, false
	t.Begin, t.End = t.Span()
	return true
}

// who is a box of a rank.
type who struct{ rank, id int }

// meet finds which messages of different ranks are the same.
func (t *Timeline) meet() {
	order := make([]*Box, 0, len(t.Boxes))
	for i := range t.Boxes {
		if t.Boxes[i].message != nil {
			order = append(order, &t.Boxes[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *Box) int { return a.ID - b.ID })
	sends := map[record.Envelope]*Box{}
	collectives := map[record.Envelope][]*Box{} // those of all ranks have the same communicator and number
	numbers := map[int]*record.Numbers{}
	for _, b := range order {
		if numbers[b.Rank] == nil {
			numbers[b.Rank] = &record.Numbers{}
		}
		m := &b.message.Message
		numbers[b.Rank].Number(m)
		switch k := m.Envelope(); {
		case m.Role == record.Sends:
			sends[k] = b
		case m.Role > record.Receives:
			k = record.Envelope{Comm: m.Comm, N: m.N}
			collectives[k] = append(collectives[k], b)
		}
	}
	for _, b := range order {
		if m := b.message; m.Role == record.Receives {
			if s := sends[m.Envelope()]; s != nil {
				b.Peers = []Peer{{s.Rank, s.ID}}
			}
		}
	}
	for _, all := range collectives {
		for _, b := range all {
			for _, o := range all {
				if o.Rank != b.Rank && b.message.Brings(o.message.Rank) {
					b.Peers = append(b.Peers, Peer{o.Rank, o.ID})
				}
			}
		}
	}
}

// replay has messages end when those that they wait for have begun, and moves what
// comes after them in their rank.
func (t *Timeline) replay() {
	type moment struct {
		box *Box
		end bool
		key int
	}
	type step struct {
		ended int
		shift time.Duration
	}
	moments := map[int][]moment{}
	steps := map[int][]step{}
	shift := map[int]time.Duration{}
	for i := range t.Boxes {
		if b := &t.Boxes[i]; b.message != nil {
			moments[b.Rank] = append(moments[b.Rank], moment{b, false, 2 * b.ID}, moment{b, true, 2*max(b.message.Ended, b.ID) + 1})
		}
	}
	ranks := make([]int, 0, len(moments))
	for r, list := range moments {
		slices.SortStableFunc(list, func(a, b moment) int { return a.key - b.key })
		ranks = append(ranks, r)
	}
	slices.Sort(ranks)
	began := map[who]time.Duration{}
	// pass handles a rank's next moment, unless it waits for one that did not come yet.
	pass := func(r int, anyway bool) bool {
		m := moments[r][0]
		if !m.end {
			m.box.Issued, m.box.Begin = m.box.Issued+shift[r], m.box.Begin+shift[r]
			began[who{r, m.box.ID}] = m.box.Begin
		} else {
			end := m.box.End + shift[r]
			late := end
			for _, p := range m.box.Peers {
				at, known := began[who{p.Rank, p.ID}]
				if !known && !anyway {
					return false
				}
				late = max(late, at)
			}
			m.box.End = late
			if late > end {
				shift[r] += late - end
				steps[r] = append(steps[r], step{max(m.box.message.Ended, m.box.ID), shift[r]})
			}
		}
		moments[r] = moments[r][1:]
		return true
	}
	for left := len(ranks); left > 0; {
		left = 0
		moved := false
		for _, r := range ranks {
			for len(moments[r]) > 0 && pass(r, false) {
				moved = true
			}
			if len(moments[r]) > 0 {
				left++
			}
		}
		if !moved && left > 0 { // what it waits for is not in the record
			for _, r := range ranks {
				if len(moments[r]) > 0 {
					pass(r, true)
					break
				}
			}
		}
	}
	for i := range t.Boxes {
		b := &t.Boxes[i]
		if b.message != nil {
			continue
		}
		id := b.ID
		if b.Of > 0 {
			id = b.Of
		}
		by := time.Duration(0)
		for _, s := range steps[b.Rank] {
			if s.ended >= id {
				break
			}
			by = s.shift
		}
		b.Issued, b.Begin, b.End = b.Issued+by, b.Begin+by, b.End+by
	}
}
