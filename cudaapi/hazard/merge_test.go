package hazard

import (
	"testing"
	"time"

	"gocuda/cudaapi/record"
)

// Memory that a rank allocates is its own, also where it had another rank's open before.
func TestOwnMemoryInThePlaceOfAnothers(t *testing.T) {
	const at = 0x1000
	s := &source{rank: 1}
	j := &world{ranks: []*source{s}, check: New(), exports: map[string]export{"first": {0x5000, 64}, "second": {0x6000, 64}}}
	take := func(o *record.Op) {
		s.queue = append(s.queue, o)
		j.take(s)
	}
	for _, c := range []struct {
		op   *record.Op
		want uint64
	}{
		{&record.Op{Kind: record.Alloc, Addr: at, Bytes: 128, Key: "first"}, 0x5010},
		{&record.Op{Kind: record.Alloc, Addr: at, Bytes: 64, Key: "second"}, 0x6010},
		{&record.Op{Kind: record.Alloc, Addr: at + 64, Bytes: 64}, 0x6010}, // after it
		{&record.Op{Kind: record.Alloc, Addr: at, Bytes: 64}, s.here(at + 16)},
		{&record.Op{Kind: record.Free, Addr: at, Bytes: 64}, s.here(at + 16)},
		{&record.Op{Kind: record.Alloc, Addr: at, Bytes: 64, Key: "second"}, 0x6010},
	} {
		take(c.op)
		if got := locate(s.imports, s.here, at+16); got != c.want {
			t.Errorf("after %+v: %#x, want %#x", c.op, got, c.want)
		}
	}
}

// Memory of another rank may be opened, closed and opened again, elsewhere and where
// other memory was open. What was closed is not to be used.
func TestOpenedAgain(t *testing.T) {
	const at, n = 0x1000, 64
	s := &source{rank: 1, lanes: map[*record.Lane]*record.Lane{}}
	j := &world{ranks: []*source{s}, check: New(), exports: map[string]export{"first": {0x5000, n}, "second": {0x6000, n}}}
	j.check.merged = true
	seq := uint64(0)
	take := func(o *record.Op) {
		seq++
		o.Seq = seq
		s.queue = append(s.queue, o)
		j.take(s)
	}
	for i, at := range []uint64{at, at + n/2, at} {
		key := "first"
		if i == 1 {
			key = "second"
		}
		take(&record.Op{Kind: record.Alloc, Addr: at, Bytes: n, Key: key})
		take(&record.Op{Kind: record.Fill, Lane: &record.Lane{ID: 1, Handle: 1}, HostAfter: true, Accesses: []record.Access{{Lo: at, Hi: at + n, Mode: record.Write}}})
		take(&record.Op{Kind: record.Free, Addr: at, Bytes: n})
	}
	if found := j.check.Found(); len(found) != 0 {
		t.Errorf("%d hazards, want none", len(found))
	}
	take(&record.Op{Kind: record.Fill, Lane: &record.Lane{ID: 2, Handle: 2}, Accesses: []record.Access{{Lo: at, Hi: at + n, Mode: record.Write}}})
	if found := j.check.Found(); len(found) != 1 {
		t.Errorf("%d hazards of what was used when it was closed, want 1", len(found))
	}
}

// What a kernel has touched is of its own rank's memory, and of what this rank has open,
// also where its record says so when the kernel has its place in the order already.
// Allocations of two processes may have the same address.
func TestTouchedLate(t *testing.T) {
	defer record.SetWorld(record.Place())
	const at, open, n = 0x41b800000, 0x52c000000, 64
	for name, c := range map[string]struct {
		touched uint64 // by rank 1's kernel
		hazards int
	}{"its own": {at, 0}, "another's": {open, 1}} {
		folder := t.TempDir()
		var files [2]*record.Writer
		var kernels [2]*record.Op
		for rank := range files {
			record.SetWorld(record.World{Rank: rank, Size: len(files)})
			file, err := record.Create(folder)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			files[rank] = file
			rec := record.New(file)
			rec.Add(&record.Op{Kind: record.Alloc, Addr: at, Bytes: n})
			if rank == 0 {
				rec.Add(&record.Op{Kind: record.ShareMemory, Addr: at, Bytes: n, Key: "key"})
			} else {
				rec.Add(&record.Op{Kind: record.Alloc, Addr: open, Bytes: n, Key: "key"})
			}
			lane := &record.Lane{ID: 1, Context: 1, Handle: 1, Name: "a stream"}
			kernels[rank] = &record.Op{Kind: record.Kernel, Lane: lane, Site: site("main.go"), Watched: &record.Watched{}}
			rec.Add(kernels[rank])
			if err := file.Flush(nil); err != nil {
				t.Fatal(err)
			}
		}
		f, err := OpenFolder(folder, true)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		_, counts, err := f.Check(false)
		if err != nil || counts.Unknown != len(kernels) {
			t.Fatalf("%s: %+v, %v: want all kernels in their places", name, counts, err)
		}
		for rank, k := range kernels {
			at := uint64(at)
			if rank == 1 {
				at = c.touched
			}
			k.Watched.Touched([]record.Access{{Lo: at, Hi: at + n, Mode: record.Write}})
			if err := files[rank].Flush(nil); err != nil {
				t.Fatal(err)
			}
		}
		list, _, err := f.Check(true)
		if err != nil || len(list) != c.hazards {
			t.Errorf("%s: %v, %v, want %d hazards", name, list, err, c.hazards)
		}
	}
}

// What is read while records are written is told with the rest.
func TestFollow(t *testing.T) {
	defer record.SetWorld(record.Place())
	folder := t.TempDir()
	f, err := OpenFolder(folder, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stop := f.Follow()
	const ranks, fills = 2, 3 // each fill in a stream of its own
	for rank := range ranks {
		record.SetWorld(record.World{Rank: rank, Size: ranks})
		file, err := record.Create(folder)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		rec := record.New(file)
		for i := range fills {
			rec.Add(&record.Op{Kind: record.Fill, Lane: &record.Lane{ID: i, Handle: 9}, Accesses: []record.Access{{Lo: 64, Hi: 128, Mode: record.Write}}})
		}
		if err := file.Flush(nil); err != nil {
			t.Fatal(err)
		}
		if rank == 0 {
			continue // the other may not be there: that is no error yet
		}
		read := func() (n int) {
			f.mu.Lock()
			defer f.mu.Unlock()
			for _, j := range f.jobs {
				n += j.check.Counts().Operations
			}
			return n
		}
		for end := time.Now().Add(time.Minute); read() < ranks*fills; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d operations were read, want %d", read(), ranks*fills)
			}
		}
	}
	stop()
	for turn, want := range []struct{ reports, operations int }{{2 * ranks, ranks * fills}, {0, 0}} {
		list, counts, err := f.Check(false)
		if err != nil || len(list) != want.reports || counts.Operations != want.operations {
			t.Errorf("check %d: %d reports of %d operations, %v, want %d of %d", turn+1, len(list), counts.Operations, err, want.reports, want.operations)
		}
	}
}

// A hazard that does not count any more does not hide those that come after it.
func TestReportsAfterSomeWereTakenBack(t *testing.T) {
	j := &world{check: New(), shown: map[*Hazard]bool{}}
	lane := &record.Lane{ID: 1}
	made := func(place string) *Hazard {
		o := &record.Op{Kind: record.Fill, Lane: lane, Site: site(place)}
		return &Hazard{First: o, Second: o, FirstMode: record.Write, SecondMode: record.Write, Lo: 64, Hi: 68, Times: 1}
	}
	a, b, c := made("a"), made("b"), made("c")
	j.check.found = []*Hazard{a, b}
	first := j.reports()
	j.check.found = []*Hazard{b, c}
	second := j.reports()
	j.check.found = nil
	if last := j.reports(); len(first) != 2 || len(second) != 1 || second[0].First.Place.File != "c" || len(last) != 0 {
		t.Errorf("%v, then %v, then %v", first, second, last)
	}
}

// A hazard that a kernel's words took back hides none that comes to the same places.
func TestHazardsAfterOneWasTakenBack(t *testing.T) {
	c := New()
	lanes := [2]*record.Lane{{ID: 1}, {ID: 2}}
	word := []record.Access{{Lo: 8, Hi: 12, Mode: record.Atomic}}
	op := func(i int) *job {
		o := &record.Op{Kind: record.Kernel, Lane: lanes[i], Site: site([]string{"first", "second"}[i])}
		return &job{op: o, dim: i + 1, n: 1}
	}
	meet := func() {
		a := op(0)
		c.hazard(mark{op: a.op, dim: a.dim, n: a.n}, record.Write, op(1), record.Write, 64, 68)
	}
	meet()
	first := c.found[0]
	for _, side := range first.sides { // it is known only now
		c.signals.kernels = append(c.signals.kernels, signal{op: side.op, dim: side.dim, n: side.n, words: word, writes: true, reads: true})
	}
	if list := c.Found(); len(list) != 0 {
		t.Fatalf("%v was not taken back", list)
	}
	c.signals.kernels = nil
	meet()
	if list := c.Found(); len(list) != 1 || list[0] == first {
		t.Errorf("found %v", list)
	}
}
