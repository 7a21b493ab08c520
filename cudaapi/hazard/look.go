package hazard

import (
	"slices"

	"gocuda/cudaapi/record"
)

// place tells hazards apart: by the two places in the program and what is queued there.
type place struct {
	first, second Place
	call1, call2  string
	name1, name2  string
	lane1, lane2  int
	from1, from2  Place
	rank1, rank2  int
}

// Hazard is two operations on the same memory that nothing orders.
type Hazard struct {
	First, Second         *record.Op // in the order of the calls
	FirstMode, SecondMode record.Mode
	Lo, Hi                uint64 // of the bytes that both touch, the first time
	Times                 int    // how often the same two places met
	early                 [2]*record.Op
	others                bool // other ranks met there too
	last                  [2]*record.Op
	sides                 [2]side
	place                 place
}

const (
	mostHazards = 1000 // that are kept
)

// look checks what an operation touches.
func (c *Checker) look(j *job) {
	o := j.op
	c.signals.kernel(j)
	switch o.Kind {
	case record.Alloc, record.AllocAsync:
		if o.Keeps && o.Kind == record.Alloc {
			c.memory.forget(o.Addr, o.Addr+o.Bytes, frees)
			return
		}
		c.memory.forget(o.Addr, o.Addr+o.Bytes, before(o.Seq))
		c.words.forget(o.Addr, o.Addr+o.Bytes)
		if o.Kind == record.Alloc || o.Site.Library {
			return
		}
	case record.Free, record.FreeAsync:
		if o.Site.Library {
			c.memory.forget(o.Addr, o.Addr+o.Bytes, before(o.Seq))
			return
		}
	}
	if o.Closes.Hi > 0 {
		c.closes(j)
	}
	if o.Kind == record.FreeAsync || o.Kind == record.Free || o.Kind == record.AllocAsync {
		c.touch(j, record.Write, record.Access{Lo: o.Addr, Hi: o.Addr + o.Bytes, Mode: record.Write})
		if o.Keeps {
			c.memory.forget(o.Addr, o.Addr+o.Bytes, before(o.Seq+1))
		}
		return
	}
	for _, mode := range []record.Mode{record.Read, record.Atomic, record.Write} {
		c.touch(j, mode, o.Accesses...)
	}
	if o.Watched != nil {
		o.Accesses = nil // the shadow has it
	}
}

// touch checks the accesses of an operation that have a mode.
func (c *Checker) touch(j *job, mode record.Mode, list ...record.Access) {
	begun := false
	for _, a := range list {
		if a.Mode != mode || a.Lo >= a.Hi {
			continue
		}
		if !begun {
			c.touching.begin(j, mode)
			begun = true
		}
		c.touching.at(a.Lo, a.Hi)
	}
}

// closes checks that a process no longer uses another's memory when it closes it.
func (c *Checker) closes(j *job) {
	var h *Hazard
	c.memory.update(j.op.Closes.Lo, j.op.Closes.Hi, func(old *cell, lo, hi uint64) *cell {
		if old == nil {
			return nil
		}
		for i, list := range [][]mark{old.writes, old.reads, old.atomics} {
			for _, m := range list {
				switch was := [...]record.Mode{record.Write, record.Read, record.Atomic}[i]; {
				case m.op.Rank != j.op.Rank || m.before(j):
				case h != nil && h.First == m.op:
					h.Hi = max(h.Hi, hi)
				default:
					h = c.hazard(m, was, j, record.Write, lo, hi)
				}
			}
		}
		return old
	})
}

func laneID(o *record.Op) int {
	if o.Lane == nil {
		return -1
	}
	return o.Lane.ID
}

// told reports whether a kernel that runs may have told another, or the host, that it
// may go on, by a word that both look at. When, the record does not know.
func told(a, b *record.Op) bool {
	if a.HostFlag && b.Kind == record.HostAccess {
		return true
	}
	return overlap(a.Told, b.Told)
}

// hazard notes one, or that one was met again.
func (c *Checker) hazard(m mark, was record.Mode, j *job, is record.Mode, lo, hi uint64) *Hazard {
	first, second := m.op, j.op
	sides := [2]side{{m.op, m.dim, m.n, nil}, {j.op, j.dim, j.n, j.base}}
	if first.Meant || second.Meant || told(first, second) || told(second, first) || c.signals.may(sides[0], sides[1]) {
		return &Hazard{}
	}
	key := place{first.Site.Place, second.Site.Place, first.Call, second.Call, first.Name, second.Name, 0, 0, Place{}, Place{}, first.Rank, second.Rank}
	if first.Site.Place == second.Site.Place {
		key.lane1, key.lane2 = laneID(first), laneID(second)
		key.from1, key.from2 = first.Site.Caller, second.Site.Caller
	}
	if first.Rank != second.Rank { // ranks run the same program: one report of two places is enough
		key.rank1, key.rank2 = -1, -1
		if key.second.String() < key.first.String() {
			key = place{key.second, key.first, key.call2, key.call1, key.name2, key.name1, key.lane2, key.lane1, key.from2, key.from1, -1, -1}
		}
	}
	if h := c.byPlace[key]; h != nil {
		if h.First == first && h.Second == second {
			h.also(was, is, lo, hi)
			return &Hazard{}
		}
		if h.last != [2]*record.Op{first, second} {
			h.last = [2]*record.Op{first, second}
			h.Times++
		}
		h.others = h.others || first.Rank != h.First.Rank || second.Rank != h.Second.Rank
		return &Hazard{}
	}
	h := &Hazard{First: first, Second: second, FirstMode: was, SecondMode: is, Lo: lo, Hi: hi, Times: 1, sides: sides, place: key}
	if len(c.found) >= mostHazards {
		return h
	}
	// A wait that came too early says more than that there is none.
	for id, mark := range c.late {
		if mark.Lane != nil && first.Lane != nil && mark.Lane.ID == first.Lane.ID && mark.Seq > first.Seq {
			for _, w := range c.early[id] {
				if second.Lane != nil && w.Lane.ID == second.Lane.ID && w.Seq < second.Seq {
					h.early = [2]*record.Op{w, mark}
				}
			}
		}
	}
	c.byPlace[key] = h
	c.found = append(c.found, h)
	return h
}

// also notes that the same two operations touch the memory in another way, or more of
// it: who reads and writes is said to write. Of other memory this report says nothing.
func (h *Hazard) also(was, is record.Mode, lo, hi uint64) {
	if lo <= h.Hi && h.Lo <= hi {
		h.FirstMode, h.SecondMode = stronger(h.FirstMode, was), stronger(h.SecondMode, is)
		h.Lo, h.Hi = min(lo, h.Lo), max(hi, h.Hi)
	}
}

func stronger(a, b record.Mode) record.Mode {
	if a == record.Write || b == record.Write {
		return record.Write
	}
	return max(a, b)
}

// Found lists the hazards so far, in the order in which they were found.
func (c *Checker) Found() []*Hazard {
	c.mu.Lock()
	defer c.mu.Unlock()
	// What a kernel was told may be known only now.
	c.found = slices.DeleteFunc(c.found, func(h *Hazard) bool {
		may := c.signals.may(h.sides[0], h.sides[1])
		if may { // what meets there later may be a hazard
			delete(c.byPlace, h.place)
		}
		return may
	})
	return slices.Clone(c.found)
}

// Forget drops the hazards so far, but not the order and the memory: what comes
// is checked against what was.
func (c *Checker) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found, c.counts = nil, Counts{Unknown: c.counts.Unknown}
	clear(c.byPlace)
}
