package hazard

import (
	"slices"
	"sort"

	"gocuda/cudaapi/record"
)

// shadow remembers for each byte of memory the operations that touched it last:
// of those that others have followed, which conflict with the same operations,
// it forgets the earlier.
type shadow struct {
	chunks   map[uint64][]segment
	segments int       // in all chunks
	kept     int       // ... when they were last pruned
	made     []segment // room for those of one update
}

const chunkBits = 24

// segment is a range of bytes that the same operations touched.
type segment struct {
	lo, hi uint64
	*cell
}

// cell is what touched a segment. It never changes, so that segments can share
// it.
type cell struct{ writes, reads, atomics []mark }

// mark is an operation that touched memory.
type mark struct {
	op  *record.Op
	dim int
	n   uint64
}

// before reports whether the operation comes before one with a clock.
func (m mark) before(j *job) bool {
	return m.op == j.op || m.dim == j.dim && m.n <= j.n || j.base.at(m.dim) >= m.n
}

// update replaces the cells of a range: next gives a cell's successor; nil
// stands for memory that nothing touched.
func (s *shadow) update(lo, hi uint64, next func(old *cell, lo, hi uint64) *cell) {
	if s.chunks == nil {
		s.chunks = map[uint64][]segment{}
	}
	for lo < hi {
		k := lo >> chunkBits
		end := min(hi, (k+1)<<chunkBits)
		was := s.chunks[k]
		list := s.replace(was, lo, end, next)
		s.segments += len(list) - len(was)
		if len(list) > 0 {
			s.chunks[k] = list
		} else {
			delete(s.chunks, k)
		}
		lo = end
	}
}

func (s *shadow) replace(list []segment, lo, hi uint64, next func(*cell, uint64, uint64) *cell) []segment {
	i := sort.Search(len(list), func(i int) bool { return list[i].hi > lo })
	if i < len(list) && list[i].lo == lo && list[i].hi == hi { // most: what was touched is touched again
		c := next(list[i].cell, lo, hi)
		apart := (i == 0 || list[i-1].hi != lo || list[i-1].cell != c) && (i+1 == len(list) || list[i+1].lo != hi || list[i+1].cell != c)
		if c != nil && apart {
			list[i].cell = c
			return list
		}
		next = func(*cell, uint64, uint64) *cell { return c }
	}
	j := i
	made := s.made[:0]
	put := func(lo, hi uint64, c *cell) {
		if c == nil || lo >= hi {
			return
		}
		if n := len(made); n > 0 && made[n-1].hi == lo && made[n-1].cell == c {
			made[n-1].hi = hi
			return
		}
		made = append(made, segment{lo, hi, c})
	}
	at := lo
	for ; j < len(list) && list[j].lo < hi; j++ {
		x := list[j]
		put(x.lo, min(x.hi, lo), x.cell)
		if x.lo > at {
			put(at, x.lo, next(nil, at, x.lo))
		}
		from, to := max(x.lo, lo), min(x.hi, hi)
		put(from, to, next(x.cell, from, to))
		at = to
		if x.hi > hi {
			if at < hi {
				put(at, hi, next(nil, at, hi))
			}
			at = hi
			put(hi, x.hi, x.cell)
		}
	}
	if at < hi {
		put(at, hi, next(nil, at, hi))
	}
	// The neighbours may be the same now.
	if n := len(made); n > 0 {
		if i > 0 && list[i-1].hi == made[0].lo && list[i-1].cell == made[0].cell {
			i--
			made[0].lo = list[i].lo
		}
		if j < len(list) && made[n-1].hi == list[j].lo && made[n-1].cell == list[j].cell {
			made[n-1].hi = list[j].hi
			j++
		}
	}
	list = slices.Replace(list, i, j, made...)
	clear(made) // no cell is kept by it
	s.made = made[:0]
	return list
}

// pruneFrom is the number of segments below which nothing is pruned.
const pruneFrom = 1 << 12

// full reports whether there are so many segments that it is time to prune.
func (s *shadow) full() bool { return s.segments > pruneFrom+2*s.kept }

// prune drops the operations that come before all that is to come: those that floor
// covers. That memory was freed stays known.
func (s *shadow) prune(floor clock) {
	pruned := map[*cell]*cell{}
	gone := func(m mark) bool {
		return floor.at(m.dim) >= m.n && !frees(m)
	}
	s.segments = 0
	for k, list := range s.chunks {
		kept := make([]segment, 0, len(list)/2)
		for _, x := range list {
			next, ok := pruned[x.cell]
			if !ok {
				some := func(list []mark) []mark { return slices.DeleteFunc(slices.Clone(list), gone) }
				next = &cell{some(x.writes), some(x.reads), some(x.atomics)}
				if len(next.writes)+len(next.reads)+len(next.atomics) == 0 {
					next = nil
				}
				pruned[x.cell] = next
			}
			if next == nil {
				continue
			}
			if n := len(kept); n > 0 && kept[n-1].hi == x.lo && kept[n-1].cell == next {
				kept[n-1].hi = x.hi
				continue
			}
			kept = append(kept, segment{x.lo, x.hi, next})
		}
		if s.segments += len(kept); len(kept) > 0 {
			s.chunks[k] = slices.Clip(kept)
		} else {
			delete(s.chunks, k)
		}
	}
	s.kept = s.segments
}

// frees reports whether a mark is that memory was freed.
func frees(m mark) bool { return m.op.Kind == record.Free || m.op.Kind == record.FreeAsync }

// before are the marks of operations before the call with a number.
func before(seq uint64) func(mark) bool { return func(m mark) bool { return m.op.Seq < seq } }

// forget drops marks of a range: the memory was another's then.
func (s *shadow) forget(lo, hi uint64, gone func(mark) bool) {
	s.update(lo, hi, func(old *cell, _, _ uint64) *cell {
		if old == nil {
			return nil
		}
		some := func(list []mark) []mark { return slices.DeleteFunc(slices.Clone(list), gone) }
		next := &cell{some(old.writes), some(old.reads), some(old.atomics)}
		if len(next.writes)+len(next.reads)+len(next.atomics) == 0 {
			return nil
		}
		return next
	})
}

// single reports whether an access of the host's is of one element, and the other
// one, o's, is atomic: neither can see half of the other.
func single(host, o *record.Op, m record.Mode) bool {
	return host.Single && (m == record.Atomic || o.Kind == record.WaitValue || o.Kind == record.WriteValue)
}

// excused reports whether two accesses are no hazard, whatever their order.
func excused(a *record.Op, is record.Mode, b *record.Op, was record.Mode) bool {
	return single(a, b, was) || single(b, a, is)
}

// touching is an operation's accesses of one mode to memory.
type touching struct {
	c    *Checker
	j    *job
	mode record.Mode
	here map[*record.Op]*Hazard // of one access, however many segments it has

	fresh  *cell               // of memory that nothing had touched
	after  map[*cell]successor // of what had been
	before *cell               // the last that was asked for
	last   successor
	next   func(old *cell, lo, hi uint64) *cell // successor
}

// successor is a cell with the operation's mark.
type successor struct {
	*cell
	conflicts bool // the operation is in conflict with what is in the cell before
}

// begin is for the accesses that an operation has of a mode.
func (t *touching) begin(j *job, mode record.Mode) {
	t.j, t.mode, t.fresh, t.before, t.last = j, mode, nil, nil, successor{}
	clear(t.after)
}

// at notes an access, and the hazards with the operations that nothing orders before it.
func (t *touching) at(lo, hi uint64) {
	clear(t.here)
	t.c.memory.update(lo, hi, t.next)
}

// successor is what a cell becomes.
func (t *touching) successor(old *cell, lo, hi uint64) *cell {
	self := mark{t.j.op, t.j.dim, t.j.n}
	if old == nil {
		if t.fresh == nil {
			t.fresh = (&cell{}).with(self, t.mode, nil)
		}
		return t.fresh
	}
	next := t.last
	if old != t.before {
		next = t.after[old]
	}
	if next.cell == nil {
		next = successor{old.with(self, t.mode, t.j), t.look(old, lo, hi, true)}
		if t.before != nil { // more than one
			if t.after == nil {
				t.after = map[*cell]successor{}
			}
			t.after[t.before], t.after[old] = t.last, next
		}
	} else if next.conflicts {
		t.look(old, lo, hi, false)
	}
	t.before, t.last = old, next
	return next.cell
}

// conflict notes a hazard with an operation.
func (t *touching) conflict(m mark, was record.Mode, lo, hi uint64) {
	if h := t.here[m.op]; h != nil {
		h.Hi = max(h.Hi, hi)
		return
	}
	if t.here == nil {
		t.here = map[*record.Op]*Hazard{}
	}
	t.here[m.op] = t.c.hazard(m, was, t.j, t.mode, lo, hi)
}

// look compares the operation with those of a cell.
func (t *touching) look(old *cell, lo, hi uint64, first bool) (conflicts bool) {
	each := func(list []mark, was record.Mode) {
		for _, m := range list {
			if m.op == t.j.op || excused(t.j.op, t.mode, m.op, was) {
				continue
			}
			if first {
				t.c.counts.Pairs++
			}
			if !m.before(t.j) || m.op.Kind == record.Free || m.op.Kind == record.FreeAsync {
				conflicts = true
				t.conflict(m, was, lo, hi)
			}
		}
	}
	each(old.writes, record.Write)
	if t.mode != record.Atomic {
		each(old.atomics, record.Atomic)
	}
	if t.mode != record.Read {
		each(old.reads, record.Read)
	}
	return conflicts
}

// with is the cell after one more operation, of a job.
func (c *cell) with(m mark, mode record.Mode, j *job) *cell {
	if mode == record.Write {
		return c.written(m, j)
	}
	next := &cell{writes: c.writes, reads: c.reads, atomics: c.atomics}
	list := &next.reads
	if mode == record.Atomic {
		list = &next.atomics
	}
	was := *list
	*list = nil
	for _, x := range was {
		if x.op != m.op && !x.before(j) {
			*list = append(*list, x)
		}
	}
	*list = append(*list, m)
	return next
}

// written is the cell after a write. It stands for all that was before it or is in
// conflict with it; only what is neither, as no element can be seen by halves, stays.
func (c *cell) written(m mark, j *job) *cell {
	next := &cell{writes: []mark{m}}
	if j == nil {
		return next
	}
	stays := func(list []mark, was record.Mode) (kept []mark) {
		for _, x := range list {
			if x.op != m.op && !x.before(j) && excused(m.op, record.Write, x.op, was) {
				kept = append(kept, x)
			}
		}
		return kept
	}
	next.writes = append(next.writes, stays(c.writes, record.Write)...)
	next.reads, next.atomics = stays(c.reads, record.Read), stays(c.atomics, record.Atomic)
	return next
}
