package mpitest

import (
	"fmt"
	"slices"

	"gocuda/cudaapi/mpi"
)

// rounds is how often a persistent collective is started.
const rounds = 3

// persistentCases: the collectives that are made once and started again and again, with
// what the buffers hold by then.
func persistentCases() []Case {
	const n = 300
	size := func(t *T) []int { return slices.Repeat([]int{n}, t.size) }
	// turn is what rank r gives in a round.
	turn := func(r, round, n int) []int32 { return part(r+7*round, n) }
	turns := func(t *T, round int) (s []int32) {
		for r := range t.size {
			s = append(s, turn(r, round, n)...)
		}
		return s
	}
	sum := func(ranks, round, n int) []int32 {
		s := make([]int32, n)
		for r := range ranks {
			for i, v := range turn(r, round, n) {
				s[i] += v
			}
		}
		return s
	}
	// out and in are the buffers, of which out is filled before each round, and want is
	// what in holds after it; nil: it does not count at this rank.
	one := func(name string, length, room_ func(t *T) int, init func(t *T, out, in *vec[int32]) (*mpi.Request, error),
		gives, want func(t *T, round int) []int32) Case {
		return Case{Name: "persistent/" + name, Run: func(t *T) {
			out, in := room(t, length(t), int32(-2)), room(t, room_(t), int32(-1))
			q, err := init(t, out, in)
			t.ok(err)
			_, done, err := q.Test()
			t.ok(err)
			t.same("complete before its start", done, true)
			for round := range rounds {
				if g := gives(t, round); g != nil {
					out.put(g)
				}
				in.put(slices.Repeat([]int32{-1}, room_(t)))
				t.ok(q.Start())
				_, err := q.Wait()
				t.ok(err)
				if w := want(t, round); w != nil {
					in.holds(fmt.Sprint("round ", round), w)
				}
			}
		}}
	}
	own := func(*T) int { return n }
	whole := func(t *T) int { return n * t.size }
	mine := func(t *T, round int) []int32 { return turn(t.rank, round, n) }
	everyones := func(t *T, round int) []int32 { return turns(t, round) }
	atRoot := func(root func(t *T) int, f func(t *T, round int) []int32) func(t *T, round int) []int32 {
		return func(t *T, round int) []int32 {
			if t.rank != root(t) {
				return nil
			}
			return f(t, round)
		}
	}
	last := func(t *T) int { return t.size - 1 }
	parts := func(t *T, round int) (s []int32) { // of all to all: what goes from one to another
		for r := range t.size {
			s = append(s, turn(t.rank*20+r, round, n)...)
		}
		return s
	}
	partsIn := func(t *T, round int) (s []int32) {
		for r := range t.size {
			s = append(s, turn(r*20+t.rank, round, n)...)
		}
		return s
	}
	sums := func(t *T, round int) []int32 { return sum(t.size, round, n) }
	ownPart := func(t *T, round int) []int32 { return sum(t.size, round, n*t.size)[t.rank*n : (t.rank+1)*n] }
	long := func(t *T, round int) []int32 { return turn(t.rank, round, n*t.size) }
	return []Case{
		{Name: "persistent/barrier", Ranks: 2, Run: func(t *T) {
			q, err := t.BarrierInit()
			t.ok(err)
			for range rounds {
				if t.rank > 0 {
					t.ok(q.Start())
					_, done, err := q.Test()
					t.ok(err)
					t.same("done before all have come", done, false)
					t.ok(t.Send(nil, 0, 0))
				} else {
					for i := 1; i < t.size; i++ {
						_, err := t.Recv(nil, i, 0)
						t.ok(err)
					}
					t.ok(q.Start())
				}
				_, err = q.Wait()
				t.ok(err)
			}
		}},
		{Name: "persistent/bcast", Run: func(t *T) {
			b := room(t, n, int32(-1))
			q, err := t.BcastInit(b.arg(), t.size-1)
			t.ok(err)
			for round := range rounds {
				if t.rank == t.size-1 {
					b.put(turn(t.rank, round, n))
				}
				t.ok(q.Start())
				_, err := q.Wait()
				t.ok(err)
				b.holds(fmt.Sprint("round ", round), turn(t.size-1, round, n))
			}
		}},
		one("gather", own, whole, func(t *T, out, in *vec[int32]) (*mpi.Request, error) {
			return t.GatherInit(out.arg(), in.arg(), last(t))
		}, mine, atRoot(last, everyones)),
		one("gatherv", own, whole, func(t *T, out, in *vec[int32]) (*mpi.Request, error) {
			counts := size(t)
			defer clear(counts) // they are the caller's again
			return t.GathervInit(out.arg(), in.arg(), counts, nil, last(t))
		}, mine, atRoot(last, everyones)),
		one("scatter", whole, own, func(t *T, out, in *vec[int32]) (*mpi.Request, error) {
			return t.ScatterInit(out.arg(), in.arg(), last(t))
		}, everyones, mine),
		one("scatterv", whole, own, func(t *T, out, in *vec[int32]) (*mpi.Request, error) {
			return t.ScattervInit(out.arg(), size(t), nil, in.arg(), last(t))
		}, everyones, mine),
		one("allgather", own, whole, func(t *T, out, in *vec[int32]) (*mpi.Request, error) {
			return t.AllgatherInit(out.arg(), in.arg())
		}, mine, everyones),
		one("allgatherv", own, whole, func(t *T, out, in *vec[int32]) (*mpi.Request, error) {
			return t.AllgathervInit(out.arg(), in.arg(), size(t), nil)
		}, mine, everyones),
		one("alltoall", whole, whole, func(t *T, out, in *vec[int32]) (*mpi.Request, error) {
			return t.AlltoallInit(out.arg(), in.arg())
		}, parts, partsIn),
		one("alltoallv", whole, whole, func(t *T, out, in *vec[int32]) (*mpi.Request, error) {
			return t.AlltoallvInit(out.arg(), size(t), nil, in.arg(), size(t), nil)
		}, parts, partsIn),
		one("reduce", own, own, func(t *T, out, in *vec[int32]) (*mpi.Request, error) {
			return t.ReduceInit(out.arg(), in.arg(), mpi.Sum, last(t))
		}, mine, atRoot(last, sums)),
		one("allreduce", own, own, func(t *T, out, in *vec[int32]) (*mpi.Request, error) {
			return t.AllreduceInit(out.arg(), in.arg(), mpi.Sum)
		}, mine, sums),
		one("own operation", own, own, func(t *T, out, in *vec[int32]) (*mpi.Request, error) {
			op, err := mpi.NewOp(func(a, b int32) int32 { return a + b }, true)
			t.ok(err)
			return t.AllreduceInit(out.arg(), in.arg(), op)
		}, mine, sums),
		one("scan", own, own, func(t *T, out, in *vec[int32]) (*mpi.Request, error) {
			return t.ScanInit(out.arg(), in.arg(), mpi.Sum)
		}, mine, func(t *T, round int) []int32 { return sum(t.rank+1, round, n) }),
		one("exscan", own, own, func(t *T, out, in *vec[int32]) (*mpi.Request, error) {
			return t.ExscanInit(out.arg(), in.arg(), mpi.Sum)
		}, mine, func(t *T, round int) []int32 {
			if t.rank == 0 {
				return slices.Repeat([]int32{-1}, n)
			}
			return sum(t.rank, round, n)
		}),
		one("reduceScatter", whole, own, func(t *T, out, in *vec[int32]) (*mpi.Request, error) {
			return t.ReduceScatterInit(out.arg(), in.arg(), size(t), mpi.Sum)
		}, long, ownPart),
		one("reduceScatterBlock", whole, own, func(t *T, out, in *vec[int32]) (*mpi.Request, error) {
			return t.ReduceScatterBlockInit(out.arg(), in.arg(), mpi.Sum)
		}, long, ownPart),
		{Name: "persistent/inPlace", Run: func(t *T) {
			b := room(t, n, int32(0))
			q, err := t.AllreduceInit(mpi.InPlace, b.arg(), mpi.Max)
			t.ok(err)
			for round := range rounds {
				b.put(turn(t.rank, round, n))
				t.ok(q.Start())
				_, err := q.Wait()
				t.ok(err)
				b.holds("greatest", turn(t.size-1, round, n))
			}
		}},
		{Name: "persistent/startAll", Run: func(t *T) {
			// Collectives and messages, started together and waited for in another order.
			a, b := on(t, part(t.rank, n)), room(t, n, int32(0))
			sum, err := t.AllreduceInit(a.arg(), b.arg(), mpi.Sum)
			t.ok(err)
			in := room(t, n, int32(0))
			recv, err := t.RecvInit(in.arg(), t.prev(), 5)
			t.ok(err)
			send, err := t.SendInit(a.arg(), t.next(), 5)
			t.ok(err)
			meet, err := t.BarrierInit()
			t.ok(err)
			for range rounds {
				t.ok(mpi.StartAll(sum, recv, send, meet))
				_, err := mpi.WaitAll(meet, send, recv, sum)
				t.ok(err)
				b.holds("sum", func() []int32 {
					s := make([]int32, n)
					for r := range t.size {
						for i, v := range part(r, n) {
							s[i] += v
						}
					}
					return s
				}())
				in.holds("message", part(t.prev(), n))
			}
		}},
		{Name: "persistent/severalUnderWay", Run: func(t *T) {
			const count = 6
			var all []*mpi.Request
			in := make([]*vec[int32], count)
			for i := range in {
				in[i] = room(t, i+1, int32(0))
				q, err := t.AllreduceInit(on(t, part(t.rank, i+1)).arg(), in[i].arg(), mpi.Sum)
				t.ok(err)
				all = append(all, q)
			}
			for range rounds {
				t.ok(mpi.StartAll(all...))
				for left := count; left > 0; left-- {
					i, _, err := mpi.WaitAny(all...)
					t.ok(err)
					if i < 0 {
						t.Fatalf("there is none to wait for, and %d are left", left)
					}
				}
				i, _, err := mpi.WaitAny(all...)
				t.ok(err)
				t.same("index when none is under way", i, -1)
			}
			for i := range in {
				w := make([]int32, i+1)
				for r := range t.size {
					for j, v := range part(r, i+1) {
						w[j] += v
					}
				}
				in[i].holds("sum", w)
			}
		}},
		{Name: "persistent/errors", Run: func(t *T) {
			_, err := t.BcastInit([]int{1}, t.size)
			t.is(err, mpi.ErrRoot)
			_, err = t.AllreduceInit([]float64{1}, []float64{1, 2}, mpi.Sum)
			t.is(err, mpi.ErrCount)
			_, err = t.AllreduceInit([]float64{1}, []float64{1}, mpi.Op{})
			t.is(err, mpi.ErrOp)
			_, err = t.AllgathervInit([]int{1}, []int{1}, nil, nil)
			t.is(err, mpi.ErrCount)
			b, err := t.Ibarrier()
			t.ok(err)
			t.is(b.Start(), mpi.ErrRequest) // it is not persistent
			_, err = b.Wait()
			t.ok(err)
			d, err := t.Dup()
			t.ok(err)
			q, err := d.BarrierInit()
			t.ok(err)
			t.ok(q.Start())
			_, err = q.Wait()
			t.ok(err)
			t.ok(d.Free())
			t.is(q.Start(), mpi.ErrComm)
		}},
	}
}
