package mpitest

import (
	"slices"

	"gocuda/cudaapi/mpi"
)

// between runs a case on an intercommunicator of the even and the odd ranks of the world.
func between(name string, run func(t *T, x *mpi.Intercomm, side int)) Case {
	return Case{Name: "intercomm/" + name, Ranks: 2, Run: func(t *T) {
		side := t.rank % 2
		half, err := t.Split(side, 0)
		t.ok(err)
		x, err := half.IntercommCreate(0, t.Comm, 1-side, 7) // the leaders are ranks 0 and 1
		t.ok(err)
		t.same("sizes", []int{x.Rank(), x.Size(), x.RemoteSize()}, []int{t.rank / 2, (t.size + 1 - side) / 2, (t.size + side) / 2})
		run(t, x, side)
		t.must(x.Free(), half.Free())
	}}
}

func intercommCases() []Case {
	// of is the number in the world of a rank of a side.
	of := func(side, rank int) int { return 2*rank + side }
	return []Case{
		between("messages", func(t *T, x *mpi.Intercomm, side int) {
			for r := range x.RemoteSize() {
				t.ok(x.Send(on(t, []int{100*t.rank + r}).arg(), r, r))
			}
			for r := range x.RemoteSize() {
				in := on(t, []int{0})
				st, err := x.Recv(in.arg(), r, x.Rank())
				t.ok(err)
				t.same("source", st.Source, r)
				in.holds("message", []int{100*of(1-side, r) + x.Rank()})
			}
			if x.Rank() == 0 { // any source is one of the other group
				var got int
				r, err := x.Irecv(&got, mpi.AnySource, 3)
				t.must(err, x.Send(t.rank, 0, 3))
				st, err := r.Wait()
				t.ok(err)
				t.same("from any", []int{x.From(st).Source, got}, []int{0, 1 - side})
			}
			t.is(x.Send(1, x.RemoteSize(), 0), mpi.ErrRank)
		}),
		between("sendrecv", func(t *T, x *mpi.Intercomm, side int) {
			peer := x.Rank()
			if peer >= x.RemoteSize() {
				peer = mpi.ProcNull
			}
			in := on(t, []int{-1})
			_, err := x.Sendrecv(on(t, []int{t.rank}).arg(), peer, 0, in.arg(), peer, 0)
			t.ok(err)
			want := -1
			if peer >= 0 {
				want = of(1-side, peer)
			}
			in.holds("what came", []int{want})
		}),
		between("bcast", func(t *T, x *mpi.Intercomm, side int) {
			for from := range 2 {
				buf, root := on(t, []int{-1, -1}), 0
				switch {
				case side == from && x.Rank() == 0:
					root = mpi.Root
					buf.put([]int{7, from})
				case side == from:
					root = mpi.ProcNull
				}
				t.ok(x.Bcast(buf.arg(), root))
				if side != from {
					buf.holds("what came", []int{7, from})
				}
			}
		}),
		between("allgather", func(t *T, x *mpi.Intercomm, side int) {
			in, want := on(t, make([]int, 2*x.RemoteSize())), []int{}
			for r := range x.RemoteSize() {
				want = append(want, of(1-side, r), 5)
			}
			t.ok(x.Allgather(on(t, []int{t.rank, 5}).arg(), in.arg()))
			in.holds("all of the other group", want)
		}),
		between("alltoall", func(t *T, x *mpi.Intercomm, side int) {
			out, want := make([]int, x.RemoteSize()), make([]int, x.RemoteSize())
			for r := range out {
				out[r], want[r] = 100*t.rank+r, 100*of(1-side, r)+x.Rank()
			}
			in := on(t, make([]int, x.RemoteSize()))
			t.ok(x.Alltoall(on(t, out).arg(), in.arg()))
			in.holds("a part of each", want)
		}),
		between("allreduce", func(t *T, x *mpi.Intercomm, side int) {
			sum, want := on(t, []int{0}), 0
			for r := range x.RemoteSize() {
				want += of(1-side, r)
			}
			t.ok(x.Allreduce(on(t, []int{t.rank}).arg(), sum.arg(), mpi.Sum))
			sum.holds("the other group's sum", []int{want})
		}),
		between("merge", func(t *T, x *mpi.Intercomm, side int) {
			for _, high := range []int{0, 1} {
				c, err := x.Merge(side == high)
				t.ok(err)
				want := mpi.Group{}
				for _, s := range []int{1 - high, high} {
					for r := range t.size {
						if r%2 == s {
							want = append(want, r)
						}
					}
				}
				t.same("the ranks", []int(c.Group()), []int(want))
				t.must(c.Barrier(), c.Free())
			}
		}),
		between("barrier and group", func(t *T, x *mpi.Intercomm, side int) {
			t.ok(x.Barrier())
			want := mpi.Group{}
			for r := 1 - side; r < t.size; r += 2 {
				want = append(want, r)
			}
			t.same("the other group", []int(x.RemoteGroup()), []int(want))
		}),
		{Name: "intercomm/common rank", Run: func(t *T) {
			_, err := t.IntercommCreate(0, mpi.Self(), 0, 0)
			if t.rank == 0 && t.size == 1 {
				t.is(err, mpi.ErrComm)
			}
		}, Most: 1},
		{Name: "group/sets", Most: fewRanks, Run: func(t *T) {
			g, h := mpi.Group{3, 1, 2}, mpi.Group{2, 5, 3}
			t.same("union", []int(g.Union(h)), []int{3, 1, 2, 5})
			t.same("intersection", []int(g.Intersection(h)), []int{3, 2})
			t.same("difference", []int(g.Difference(h)), []int{1})
			t.same("places", g.Translate(h), []int{2, mpi.Undefined, 0})
			all := make(mpi.Group, t.size)
			for i := range all {
				all[i] = i
			}
			t.same("the world's", []int(mpi.World().Group()), []int(all))
			t.same("of one", []int(mpi.Self().Group()), []int{t.rank})
		}},
		{Name: "group/create", Run: func(t *T) { // only its ranks call
			var g mpi.Group
			for r := t.size - 1; r >= 0; r-- {
				if r%2 == t.rank%2 {
					g = append(g, r)
				}
			}
			c, err := t.CreateGroup(g, 3)
			t.ok(err)
			t.same("rank", c.Rank(), slices.Index(g, t.rank))
			sum, want := 0, 0
			for _, r := range g {
				want += r
			}
			t.ok(c.Allreduce(t.rank, &sum, mpi.Sum))
			t.same("sum", sum, want)
			again, err := c.CreateGroup(c.Group()[:1], 0)
			if c.Rank() == 0 {
				t.must(err, again.Barrier(), again.Free())
			} else {
				t.is(err, mpi.ErrGroup)
			}
			t.ok(c.Free())
		}},
		{Name: "group/at once", Ranks: 3, Most: fewRanks, Run: func(t *T) { // the first two, then the last two; the middle is in both
			if t.rank > 2 {
				return
			}
			for i := range 2 {
				g := mpi.Group{i, i + 1}
				if !slices.Contains(g, t.rank) {
					continue
				}
				c, err := t.CreateGroup(g, i)
				t.must(err, c.Barrier(), c.Free())
			}
		}},
		{Name: "group/mistakes", Most: fewRanks, Run: func(t *T) {
			_, err := t.CreateGroup(mpi.Group{t.size}, 0)
			t.is(err, mpi.ErrGroup)
			_, err = t.CreateGroup(mpi.Group{t.rank, t.rank}, 0)
			t.is(err, mpi.ErrGroup)
			_, err = t.CreateGroup(nil, 0)
			t.is(err, mpi.ErrGroup)
			_, err = t.CreateGroup(mpi.Group{t.rank}, -1)
			t.is(err, mpi.ErrTag)
		}},
	}
}
