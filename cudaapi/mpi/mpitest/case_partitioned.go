package mpitest

import (
	"fmt"
	"sync"

	"gocuda/cudaapi/mpi"
)

// partitionedCases: messages that are sent and received in parts.
func partitionedCases() []Case {
	// round sends to the next rank and receives from the one before.
	round := func(name string, outParts, inParts int, ready func(t *T, p *mpi.Partitioned)) Case {
		return Case{Name: "partitioned/" + name, Most: fewRanks, Run: func(t *T) {
			const n = 24
			mine, want := make([]float64, n), make([]float64, n)
			for i := range n {
				mine[i], want[i] = float64(100*t.rank+i), float64(100*t.prev()+i)
			}
			out, in := on(t, mine), on(t, make([]float64, n))
			s, err := t.PsendInit(out.arg(), outParts, t.next(), 4)
			t.ok(err)
			r, err := t.PrecvInit(in.arg(), inParts, t.prev(), 4)
			t.ok(err)
			for range 3 {
				t.must(s.Start(), r.Start())
				ready(t, s)
				t.must(s.Wait(), r.Wait())
				in.holds("what came", want)
				in.put(make([]float64, n))
				t.must(t.Barrier())
			}
		}}
	}
	all := func(t *T, p *mpi.Partitioned) { t.ok(p.PreadyRange(0, 3)) }
	two := func(name string, run func(t *T)) Case {
		return Case{Name: "partitioned/" + name, Ranks: 2, Most: fewRanks, Run: run}
	}
	return []Case{
		round("range", 4, 4, all),
		round("one part", 1, 1, func(t *T, p *mpi.Partitioned) { t.ok(p.Pready(0)) }),
		round("backwards", 4, 4, func(t *T, p *mpi.Partitioned) { t.ok(p.Pready(3, 2, 1, 0)) }),
		round("one by one", 4, 4, func(t *T, p *mpi.Partitioned) {
			t.must(p.Pready(2), p.Pready(0), p.PreadyRange(3, 3), p.Pready(1))
		}),
		round("more parts than the receiver's", 4, 2, all),
		round("fewer parts than the receiver's", 4, 8, all),
		round("other parts than the receiver's", 4, 6, all),
		round("goroutines", 24, 24, func(t *T, p *mpi.Partitioned) {
			var wait sync.WaitGroup
			errs := make([]error, 24)
			for i := range 24 {
				wait.Go(func() { errs[i] = p.Pready(i) })
			}
			wait.Wait()
			t.must(errs...)
		}),
		two("arrives part by part", func(t *T) {
			if t.rank > 1 {
				return
			}
			buf := on(t, []int32{7, 7, 7, 7})
			if t.rank == 0 {
				s, err := t.PsendInit(buf.arg(), 2, 1, 0)
				t.ok(err)
				t.must(s.Start(), s.Pready(1))
				_, err = t.Recv(nil, 1, 9) // the other has part 1
				t.must(err, s.Pready(0), s.Wait())
				return
			}
			r, err := t.PrecvInit(on(t, make([]int32, 4)).arg(), 2, 0, 0)
			t.must(err, r.Start())
			for there := false; !there; {
				there, err = r.Parrived(1)
				t.ok(err)
			}
			there, err := r.Parrived(0)
			t.ok(err)
			t.same("part 0 is there", there, false)
			t.must(t.Send(nil, 0, 9), r.Wait())
			there, err = r.Parrived(0)
			t.ok(err)
			t.same("part 0 is there, after Wait", there, true)
		}),
		two("receive is made first", func(t *T) {
			if t.rank > 1 {
				return
			}
			peer := 1 - t.rank
			in := on(t, make([]int, 6))
			r, err := t.PrecvInit(in.arg(), 3, peer, 2)
			t.must(err, r.Start())
			t.Send(nil, peer, 3) //nolint:errcheck // the receive says it
			_, err = t.Recv(nil, peer, 3)
			t.ok(err)
			s, err := t.PsendInit(on(t, []int{t.rank, 1, 2, 3, 4, 5}).arg(), 2, peer, 2)
			t.must(err, s.Start(), s.PreadyRange(0, 1), s.Wait(), r.Wait())
			in.holds("what came", []int{peer, 1, 2, 3, 4, 5})
		}),
		two("pairs match in order", func(t *T) {
			if t.rank > 1 {
				return
			}
			const n = 3
			for i := range n {
				if t.rank == 0 {
					s, err := t.PsendInit(on(t, []int{10 * i}).arg(), 1, 1, 5)
					t.must(err, s.Start(), s.Pready(0), s.Wait())
				}
			}
			if t.rank == 1 {
				var list []*mpi.Partitioned
				var bufs []*vec[int]
				for range n {
					in := on(t, []int{-1})
					r, err := t.PrecvInit(in.arg(), 1, 0, 5)
					t.ok(err)
					list, bufs = append(list, r), append(bufs, in)
				}
				for i := n - 1; i >= 0; i-- {
					t.must(list[i].Start(), list[i].Wait())
					bufs[i].holds(fmt.Sprintf("receive %d", i), []int{10 * i})
				}
			}
		}),
		two("apart from messages", func(t *T) {
			if t.rank > 1 {
				return
			}
			if t.rank == 0 {
				s, err := t.PsendInit(on(t, []int{1, 2}).arg(), 2, 1, 6)
				t.must(err, s.Start(), s.PreadyRange(0, 1), t.Send(on(t, []int{3}).arg(), 1, 6), s.Wait())
				return
			}
			one, in := on(t, []int{0}), on(t, []int{0, 0})
			_, err := t.Recv(one.arg(), 0, 6)
			t.ok(err)
			one.holds("the message", []int{3})
			r, err := t.PrecvInit(in.arg(), 2, 0, 6)
			t.must(err, r.Start(), r.Wait())
			in.holds("the parts", []int{1, 2})
		}),
		{Name: "partitioned/nobody", Most: fewRanks, Run: func(t *T) {
			s, err := t.PsendInit([]int{1, 2}, 2, mpi.ProcNull, 0)
			t.ok(err)
			r, err := t.PrecvInit(make([]int, 2), 2, mpi.ProcNull, 0)
			t.must(err, s.Start(), r.Start(), s.PreadyRange(0, 1), s.Wait(), r.Wait())
		}},
		{Name: "partitioned/stream", Most: fewRanks, Run: func(t *T) {
			if t.device == nil {
				return // buffers of the host are in no stream
			}
			mine := on(t, make([]float32, 8))
			in := on(t, make([]float32, 8))
			s, err := t.PsendInit(mine.arg(), 2, t.next(), 4)
			t.ok(err)
			r, err := t.PrecvInit(in.arg(), 2, t.prev(), 4)
			t.must(err, s.Start(), r.Start())
			q := t.device.DefaultStream()
			mine.put([]float32{1, 2, 3, 4, 5, 6, 7, 8})
			t.must(s.PreadyOn(1, q), s.PreadyOn(0, q), s.Wait(), r.Wait())
			in.holds("what came", []float32{1, 2, 3, 4, 5, 6, 7, 8})
		}},
		{Name: "partitioned/mistakes", Most: fewRanks, Run: func(t *T) {
			s, err := t.PsendInit(make([]int, 4), 2, t.rank, 0)
			t.ok(err)
			r, err := t.PrecvInit(make([]int, 4), 2, t.rank, 0)
			t.ok(err)
			t.is(s.Pready(0), mpi.ErrRequest) // no round
			t.must(s.Start(), r.Start())
			t.is(s.Start(), mpi.ErrRequest)
			t.is(s.Pready(2), mpi.ErrArg)
			t.is(s.Pready(-1), mpi.ErrArg)
			t.is(r.Pready(0), mpi.ErrRequest)
			t.ok(s.Pready(0))
			t.is(s.Pready(0), mpi.ErrArg)
			t.must(s.Pready(1), s.Wait(), r.Wait())
			_, err = t.PsendInit(make([]int, 5), 2, t.rank, 0)
			t.is(err, mpi.ErrCount)
			_, err = t.PrecvInit(make([]int, 4), 2, mpi.AnySource, 0)
			t.is(err, mpi.ErrRank)
			_, err = t.PsendInit(make([]int, 4), 2, t.size, 0)
			t.is(err, mpi.ErrRank)
			_, err = r.Parrived(2)
			t.is(err, mpi.ErrArg)
			// Other lengths.
			s, err = t.PsendInit(make([]int, 4), 2, t.rank, 1)
			t.ok(err)
			r, err = t.PrecvInit(make([]int, 6), 2, t.rank, 1)
			t.must(err, s.Start())
			err = r.Start()
			for err == nil {
				_, err = r.Test()
			}
			t.is(err, mpi.ErrCount)
		}},
	}
}
