package mpitest

import (
	"slices"

	"gocuda/cudaapi/mpi"
)

// nonblockingCases: the collectives that are started and waited for.
func nonblockingCases() []Case {
	const n = 700
	one := func(name string, f func(t *T) (r *mpi.Request, check func(), err error)) Case {
		return Case{Name: "nonblocking/" + name, Run: func(t *T) {
			r, check, err := f(t)
			t.ok(err)
			for done := false; !done; {
				_, done, err = r.Test()
				t.ok(err)
			}
			_, err = r.Wait()
			t.ok(err)
			check()
		}}
	}
	size := func(t *T) []int { return slices.Repeat([]int{n}, t.size) }
	return []Case{
		{Name: "nonblocking/barrier", Ranks: 2, Run: func(t *T) {
			if t.rank > 0 {
				r, err := t.Ibarrier()
				t.ok(err)
				_, done, err := r.Test()
				t.ok(err)
				t.same("done before all have come", done, false)
				t.ok(t.Send(nil, 0, 0))
				_, err = r.Wait()
				t.ok(err)
				return
			}
			for i := 1; i < t.size; i++ {
				_, err := t.Recv(nil, i, 0)
				t.ok(err)
			}
			r, err := t.Ibarrier()
			t.ok(err)
			_, err = r.Wait()
			t.ok(err)
		}},
		{Name: "nonblocking/behind a busy stream", Run: func(t *T) {
			in, out, host := on(t, part(t.rank, n)), room(t, n*t.size, int32(-1)), []int32{1}
			end := make(chan struct{})
			if t.device != nil && t.rank == 0 {
				t.ok(t.device.DefaultStream().LaunchHostFunc(func() { <-end }))
			}
			gathered, err := t.Iallgather(in.arg(), out.arg())
			t.ok(err)
			barrier, err := t.Ibarrier() // begins after it
			t.ok(err)
			sum, err := t.Iallreduce(mpi.InPlace, host, mpi.Sum)
			t.ok(err)
			if t.device != nil && t.rank == 0 {
				_, done, err := barrier.Test()
				t.ok(err)
				t.same("over before its turn", done, false)
			}
			close(end)
			_, err = mpi.WaitAll(sum, barrier, gathered)
			t.ok(err)
			out.holds("gathered", all(t.size, equally(n)))
			t.same("sum", host[0], int32(t.size))
		}},
		one("bcast", func(t *T) (*mpi.Request, func(), error) {
			b := room(t, n, int32(-1))
			if t.rank == t.size-1 {
				b = on(t, part(t.rank, n))
			}
			r, err := t.Ibcast(b.arg(), t.size-1)
			return r, func() { b.holds("broadcast", part(t.size-1, n)) }, err
		}),
		one("gather", func(t *T) (*mpi.Request, func(), error) {
			in := room(t, n*t.size, int32(-1))
			r, err := t.Igather(on(t, part(t.rank, n)).arg(), in.arg(), 0)
			return r, func() {
				if t.rank == 0 {
					in.holds("gathered", all(t.size, equally(n)))
				}
			}, err
		}),
		one("gatherv", func(t *T) (*mpi.Request, func(), error) {
			in := room(t, n*t.size, int32(-1))
			counts := size(t)
			r, err := t.Igatherv(on(t, part(t.rank, n)).arg(), in.arg(), counts, nil, 0)
			clear(counts) // they are the caller's again
			return r, func() {
				if t.rank == 0 {
					in.holds("gathered", all(t.size, equally(n)))
				}
			}, err
		}),
		one("scatter", func(t *T) (*mpi.Request, func(), error) {
			in := room(t, n, int32(-1))
			r, err := t.Iscatter(on(t, all(t.size, equally(n))).arg(), in.arg(), 0)
			return r, func() { in.holds("part", part(t.rank, n)) }, err
		}),
		one("scatterv", func(t *T) (*mpi.Request, func(), error) {
			in := room(t, n, int32(-1))
			r, err := t.Iscatterv(on(t, all(t.size, equally(n))).arg(), size(t), nil, in.arg(), 0)
			return r, func() { in.holds("part", part(t.rank, n)) }, err
		}),
		one("allgather", func(t *T) (*mpi.Request, func(), error) {
			in := room(t, n*t.size, int32(-1))
			r, err := t.Iallgather(on(t, part(t.rank, n)).arg(), in.arg())
			return r, func() { in.holds("gathered", all(t.size, equally(n))) }, err
		}),
		one("allgatherv", func(t *T) (*mpi.Request, func(), error) {
			in := room(t, n*t.size, int32(-1))
			r, err := t.Iallgatherv(on(t, part(t.rank, n)).arg(), in.arg(), size(t), nil)
			return r, func() { in.holds("gathered", all(t.size, equally(n))) }, err
		}),
		one("alltoall", func(t *T) (*mpi.Request, func(), error) {
			var out, want []int32
			for r := range t.size {
				out = append(out, part(t.rank*10+r, n)...)
				want = append(want, part(r*10+t.rank, n)...)
			}
			in := room(t, n*t.size, int32(-1))
			r, err := t.Ialltoall(on(t, out).arg(), in.arg())
			return r, func() { in.holds("exchanged", want) }, err
		}),
		one("alltoallv", func(t *T) (*mpi.Request, func(), error) {
			var out, want []int32
			for r := range t.size {
				out = append(out, part(t.rank*10+r, n)...)
				want = append(want, part(r*10+t.rank, n)...)
			}
			in := room(t, n*t.size, int32(-1))
			r, err := t.Ialltoallv(on(t, out).arg(), size(t), nil, in.arg(), size(t), nil)
			return r, func() { in.holds("exchanged", want) }, err
		}),
		one("reduce", func(t *T) (*mpi.Request, func(), error) {
			in := room(t, n, int32(-1))
			r, err := t.Ireduce(on(t, part(t.rank, n)).arg(), in.arg(), mpi.Sum, 0)
			return r, func() {
				if t.rank == 0 {
					in.holds("sum", sums(t.size, n))
				}
			}, err
		}),
		one("allreduce", func(t *T) (*mpi.Request, func(), error) {
			in := room(t, n, int32(-1))
			r, err := t.Iallreduce(on(t, part(t.rank, n)).arg(), in.arg(), mpi.Sum)
			return r, func() { in.holds("sum", sums(t.size, n)) }, err
		}),
		one("scan", func(t *T) (*mpi.Request, func(), error) {
			in := room(t, n, int32(-1))
			r, err := t.Iscan(on(t, part(t.rank, n)).arg(), in.arg(), mpi.Sum)
			return r, func() { in.holds("sum", sums(t.rank+1, n)) }, err
		}),
		one("exscan", func(t *T) (*mpi.Request, func(), error) {
			in := room(t, n, int32(-1))
			r, err := t.Iexscan(on(t, part(t.rank, n)).arg(), in.arg(), mpi.Sum)
			return r, func() {
				if t.rank > 0 {
					in.holds("sum", sums(t.rank, n))
				}
			}, err
		}),
		one("reduceScatter", func(t *T) (*mpi.Request, func(), error) {
			in := room(t, n, int32(-1))
			r, err := t.IreduceScatter(on(t, part(t.rank, n*t.size)).arg(), in.arg(), size(t), mpi.Sum)
			return r, func() { in.holds("part", sums(t.size, n*t.size)[t.rank*n:(t.rank+1)*n]) }, err
		}),
		one("reduceScatterBlock", func(t *T) (*mpi.Request, func(), error) {
			in := room(t, n, int32(-1))
			r, err := t.IreduceScatterBlock(on(t, part(t.rank, n*t.size)).arg(), in.arg(), mpi.Sum)
			return r, func() { in.holds("part", sums(t.size, n*t.size)[t.rank*n:(t.rank+1)*n]) }, err
		}),
		{Name: "nonblocking/several", Run: func(t *T) {
			// Many at once, waited for in another order than they were started in.
			const count = 12
			in := make([]*vec[int32], count)
			var requests []*mpi.Request
			for i := range in {
				in[i] = room(t, i+1, int32(-1))
				r, err := t.Iallreduce(on(t, part(t.rank, i+1)).arg(), in[i].arg(), mpi.Sum)
				t.ok(err)
				requests = append(requests, r)
			}
			slices.Reverse(requests)
			if t.rank%2 == 0 {
				slices.Reverse(requests)
			}
			for _, r := range requests {
				_, err := r.Wait()
				t.ok(err)
			}
			for i := range in {
				in[i].holds("sum", sums(t.size, i+1))
			}
		}},
		{Name: "nonblocking/withMessages", Run: func(t *T) {
			// Messages of any tag do not mix with a collective under way.
			sum := room(t, n, int32(-1))
			r, err := t.Iallreduce(on(t, part(t.rank, n)).arg(), sum.arg(), mpi.Sum)
			t.ok(err)
			in := on(t, []int{0})
			s, err := t.Isend(on(t, []int{t.rank}).arg(), t.next(), 0)
			t.ok(err)
			st, err := t.Recv(in.arg(), mpi.AnySource, mpi.AnyTag)
			t.ok(err)
			t.same("source", st.Source, t.prev())
			_, err = mpi.WaitAll(r, s)
			t.ok(err)
			sum.holds("sum", sums(t.size, n))
			in.holds("message", []int{t.prev()})
		}},
	}
}
