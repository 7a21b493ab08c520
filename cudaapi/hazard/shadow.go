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
	segments int // in all chunks
	kept     int // ... when they were last pruned
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
		list := replace(was, lo, end, next)
		s.segments += len(list) - len(was)
		if len(list) > 0 {
			s.chunks[k] = list
		} else {
			delete(s.chunks, k)
		}
		lo = end
	}
}

func replace(list []segment, lo, hi uint64, next func(*cell, uint64, uint64) *cell) []segment {
	i := sort.Search(len(list), func(i int) bool { return list[i].hi > lo })
	j := i
	var made []segment
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
		s := list[j]
		put(s.lo, min(s.hi, lo), s.cell)
		if s.lo > at {
			put(at, s.lo, next(nil, at, s.lo))
		}
		from, to := max(s.lo, lo), min(s.hi, hi)
		put(from, to, next(s.cell, from, to))
		at = to
		if s.hi > hi {
			if at < hi {
				put(at, hi, next(nil, at, hi))
			}
			at = hi
			put(hi, s.hi, s.cell)
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
	return slices.Replace(list, i, j, made...)
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
		return floor.at(m.dim) >= m.n && m.op.Kind != record.Free && m.op.Kind != record.FreeAsync
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

// forget drops what touched a range before the call with a number: the memory was
// another's then.
func (s *shadow) forget(lo, hi, seq uint64) {
	s.update(lo, hi, func(old *cell, _, _ uint64) *cell {
		if old == nil {
			return nil
		}
		gone := func(m mark) bool { return m.op.Seq < seq }
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

// touch notes an access, and calls conflict for each operation that nothing
// orders before it.
func (s *shadow) touch(j *job, a record.Access, pair func(), conflict func(m mark, was record.Mode, lo, hi uint64)) {
	self := mark{j.op, j.dim, j.n}
	var made map[*cell]*cell
	var fresh, last, lastNext *cell
	s.update(a.Lo, a.Hi, func(old *cell, lo, hi uint64) *cell {
		if old == nil {
			if fresh == nil {
				fresh = (&cell{}).with(self, a.Mode, nil, nil)
			}
			return fresh
		}
		look := func(list []mark, was record.Mode, first bool) {
			for _, m := range list {
				if m.op == j.op || single(j.op, m.op, was) || single(m.op, j.op, a.Mode) {
					continue
				}
				if first {
					pair()
				}
				if !m.before(j) || m.op.Kind == record.Free || m.op.Kind == record.FreeAsync {
					conflict(m, was, lo, hi)
				}
			}
		}
		next, seen := lastNext, old == last
		if !seen {
			next, seen = made[old]
		}
		look(old.writes, record.Write, !seen)
		if a.Mode != record.Atomic {
			look(old.atomics, record.Atomic, !seen)
		}
		if a.Mode != record.Read {
			look(old.reads, record.Read, !seen)
		}
		if !seen {
			next = old.with(self, a.Mode, j, old)
			if made == nil {
				made = map[*cell]*cell{}
			}
			made[old] = next
		}
		last, lastNext = old, next
		return next
	})
}

// with is the cell after one more operation.
func (c *cell) with(m mark, mode record.Mode, j *job, old *cell) *cell {
	if mode == record.Write {
		return &cell{writes: []mark{m}}
	}
	next := *c
	list := &next.reads
	if mode == record.Atomic {
		list = &next.atomics
	}
	kept := make([]mark, 0, len(*list)+1)
	for _, x := range *list {
		if x.op == m.op {
			continue
		}
		if !x.before(j) {
			kept = append(kept, x)
		}
	}
	*list = append(kept, m)
	return &next
}
