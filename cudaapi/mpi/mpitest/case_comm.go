package mpitest

import (
	"os"
	"slices"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi"
)

// commCases: communicators and the groups they are made of.
func commCases() []Case {
	return []Case{
		{Name: "comm/world", Run: func(t *T) {
			w := mpi.World()
			t.same("rank and size", []int{w.Rank(), w.Size()}, []int{t.rank, t.size})
			t.same("names", []string{w.Name(), mpi.Self().Name()}, []string{"world", "self"})
			t.same("initialized", mpi.Initialized(), true)
			if w != mpi.World() {
				t.Errorf("World is not always the same")
			}
			info, err := mpi.LibraryInfo()
			t.ok(err)
			if info.Name == "" || info.Version == "" || info.Found == "" || info.Thread == "" || info.Why == "" {
				t.Errorf("the library is not described: %+v", info)
			}
			a := mpi.Wtime()
			if b := mpi.Wtime(); b < a {
				t.Errorf("Wtime goes back from %v to %v", a, b)
			}
		}},
		{Name: "comm/self", Run: func(t *T) {
			s := mpi.Self()
			t.same("rank and size", []int{s.Rank(), s.Size()}, []int{0, 1})
			in := on(t, []int{0})
			_, err := s.Sendrecv(on(t, []int{t.rank}).arg(), 0, 0, in.arg(), 0, 0)
			t.ok(err)
			in.holds("message", []int{t.rank})
			t.ok(s.Barrier())
			t.ok(s.Allreduce(on(t, []int{5}).arg(), in.arg(), mpi.Sum))
			in.holds("sum", []int{5})
		}},
		{Name: "comm/dupIsApart", Run: func(t *T) {
			d, err := t.Dup()
			t.ok(err)
			s1, err := t.Isend(on(t, []int{1}).arg(), t.next(), 0)
			t.ok(err)
			s2, err := d.Isend(on(t, []int{2}).arg(), t.next(), 0)
			t.ok(err)
			in := on(t, []int{0})
			_, err = d.Recv(in.arg(), mpi.AnySource, mpi.AnyTag)
			t.ok(err)
			in.holds("in the duplicate", []int{2})
			_, ok, err := d.Iprobe(mpi.AnySource, mpi.AnyTag)
			t.ok(err)
			t.same("more in the duplicate", ok, false)
			_, err = t.Recv(in.arg(), mpi.AnySource, mpi.AnyTag)
			t.ok(err)
			in.holds("in the first", []int{1})
			_, err = mpi.WaitAll(s1, s2)
			t.ok(err)
			t.ok(d.Free())
		}},
		{Name: "comm/split", Run: func(t *T) {
			// Odd and even, each backwards.
			h, err := t.Split(t.rank%2, -t.rank)
			t.ok(err)
			var members []int
			for r := t.size - 1; r >= 0; r-- {
				if r%2 == t.rank%2 {
					members = append(members, r)
				}
			}
			t.same("size", h.Size(), len(members))
			t.same("rank", h.Rank(), slices.Index(members, t.rank))
			in := room(t, len(members), -1)
			t.ok(h.Allgather(on(t, []int{t.rank}).arg(), in.arg()))
			in.holds("members", members)
			if h.Size() > 1 {
				next, prev := (h.Rank()+1)%h.Size(), (h.Rank()+h.Size()-1)%h.Size()
				in := on(t, []int{-1})
				st, err := h.Sendrecv(on(t, []int{t.rank}).arg(), next, 0, in.arg(), prev, 0)
				t.ok(err)
				t.same("source is a rank of the part", st.Source, prev)
				in.holds("neighbour", []int{members[prev]})
			}
			t.ok(h.Free())
		}},
		{Name: "comm/splitUndefined", Run: func(t *T) {
			color := 3
			if t.rank == t.size-1 {
				color = mpi.Undefined
			}
			h, err := t.Split(color, 0)
			t.ok(err)
			if t.rank == t.size-1 {
				if h != nil {
					t.Errorf("a rank of no color got %v", h)
				}
				return
			}
			t.same("rank and size", []int{h.Rank(), h.Size()}, []int{t.rank, t.size - 1})
			t.ok(h.Barrier())
			t.ok(h.Free())
		}},
		{Name: "comm/splitAll", Run: func(t *T) {
			h, err := t.Split(t.rank, 7)
			t.ok(err)
			t.same("rank and size", []int{h.Rank(), h.Size()}, []int{0, 1})
			t.ok(h.Free())
		}},
		{Name: "comm/shared", Run: func(t *T) {
			h, err := t.SplitShared(0)
			t.ok(err)
			t.same("rank and size", []int{h.Rank(), h.Size()}, []int{t.rank, t.size}) // one host runs all
			t.ok(h.Free())
		}},
		{Name: "comm/create", Run: func(t *T) {
			var ranks []int
			for r := t.size - 1; r >= 0; r -= 2 {
				ranks = append(ranks, r)
			}
			h, err := t.Create(ranks)
			t.ok(err)
			at := slices.Index(ranks, t.rank)
			if (h == nil) != (at < 0) {
				t.Fatalf("got %v", h)
			}
			if h != nil {
				t.same("rank and size", []int{h.Rank(), h.Size()}, []int{at, len(ranks)})
				in := []int{0}
				t.ok(h.Allreduce([]int{1}, in, mpi.Sum))
				t.same("sum", in, []int{len(ranks)})
				t.ok(h.Free())
			}
		}},
		{Name: "comm/ofParts", Run: func(t *T) {
			// A grid: rows and columns, each a communicator of its own.
			width := 1
			for width*width < t.size {
				width++
			}
			row, err := t.Split(t.rank/width, t.rank)
			t.ok(err)
			col, err := t.Split(t.rank%width, t.rank)
			t.ok(err)
			sum := []int{0}
			t.ok(row.Allreduce([]int{t.rank}, sum, mpi.Sum))
			want := 0
			for r := range t.size {
				if r/width == t.rank/width {
					want += r
				}
			}
			t.same("row", sum, []int{want})
			t.ok(col.Allreduce([]int{t.rank}, sum, mpi.Max))
			last := t.rank
			for last+width < t.size {
				last += width
			}
			t.same("column", sum, []int{last})
			deep, err := row.Dup()
			t.ok(err)
			t.ok(deep.Barrier())
			for _, c := range []*mpi.Comm{deep, col, row} {
				t.ok(c.Free())
			}
		}},
		{Name: "comm/many", Run: func(t *T) {
			for range 20 {
				d, err := t.Dup()
				t.ok(err)
				t.ok(d.Free())
			}
		}},
		{Name: "path", Run: func(t *T) {
			// A library that takes device memory is given it, if it can know it.
			library, err := mpi.LibraryInfo()
			t.ok(err)
			forced := os.Getenv("GOCUDA_MPI_PATH")
			direct := forced == "cuda-aware"
			if forced == "" && library.CUDAAware {
				devices, err := cuda.Backend()
				direct = err == nil && devices.Name == "nvidia"
			}
			if path, why := mpi.Path(t.Comm, t.next()); (path == "cuda-aware") != direct || why == "" {
				t.Errorf("device memory takes the path %q (%s), under %v", path, why, library)
			}
		}},
	}
}
