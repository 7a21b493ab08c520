package hazard

import (
	"slices"
	"sort"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/record"
)

// words are the places in memory that streams wait for and write to.
type words struct {
	at     map[uint64]*word
	sorted []uint64
}

// word is what was written to one, as far as a wait may still see it.
type word struct{ writes []wordWrite }

type wordWrite struct {
	value   uint64
	unknown bool  // a kernel or a copy wrote it
	at      clock // of what comes after the write
}

func (w *words) get(addr uint64) *word {
	x := w.at[addr]
	if x == nil {
		x = &word{}
		w.at[addr] = x
		i, _ := slices.BinarySearch(w.sorted, addr)
		w.sorted = slices.Insert(w.sorted, i, addr)
	}
	return x
}

// write notes a write. Those that come before it are seen no more by what comes
// after it.
func (w *words) write(addr uint64, x wordWrite) {
	o := w.get(addr)
	o.writes = append(o.writes, x)
	const most = 64 // that are kept: waits for older values have passed
	if len(o.writes) > most {
		o.writes = o.writes[len(o.writes)-most:]
	}
}

// cover notes that something wrote to a range.
func (w *words) cover(a record.Access, at clock) {
	i := sort.Search(len(w.sorted), func(i int) bool { return w.sorted[i] >= a.Lo })
	for ; i < len(w.sorted) && w.sorted[i] < a.Hi; i++ {
		w.write(w.sorted[i], wordWrite{unknown: true, at: at})
	}
}

// forget drops the words of memory that was freed.
func (w *words) forget(lo, hi uint64) {
	i := sort.Search(len(w.sorted), func(i int) bool { return w.sorted[i] >= lo })
	j := i
	for ; j < len(w.sorted) && w.sorted[j] < hi; j++ {
		delete(w.at, w.sorted[j])
	}
	w.sorted = slices.Delete(w.sorted, i, j)
}

// met gives what a wait comes after: whatever of the writes that may end it. base
// is what it comes after anyway; writes that others have followed by then are
// not seen.
func (w *words) met(o *record.Op, base clock) (from clock, ok bool) {
	x := w.get(o.Addr)
	for i, a := range x.writes {
		if !a.ends(o) {
			continue
		}
		stale := false
		for k, b := range x.writes {
			stale = stale || k != i && base.covers(b.at) && b.at.covers(a.at) && (!a.at.covers(b.at) || k > i)
		}
		switch {
		case stale:
		case !ok:
			from, ok = a.at, true
		default:
			from = meet(from, a.at)
		}
	}
	return from, ok
}

// ends reports whether the value may end a wait.
func (a wordWrite) ends(o *record.Op) bool {
	if a.unknown {
		return true
	}
	if o.Width == 4 {
		return driver.Compares(uint32(a.value), uint32(o.Value), o.Flags)
	}
	return driver.Compares(a.value, o.Value, o.Flags)
}
