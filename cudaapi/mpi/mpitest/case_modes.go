package mpitest

import (
	"slices"

	"gocuda/cudaapi/mpi"
)

// modeCases: the other ways to send, and requests that serve again.
func modeCases() []Case {
	return []Case{
		{Name: "mode/buffered", Run: func(t *T) {
			// It neither waits for the receive nor for the buffer.
			for _, n := range []int{0, 1, 100, 100000} {
				out := room(t, n, int32(t.rank))
				t.ok(t.Bsend(out.arg(), t.next(), 0))
				out.put(slices.Repeat([]int32{-1}, n))
				in := room(t, n, int32(-2))
				_, err := t.Recv(in.arg(), t.prev(), 0)
				t.ok(err)
				in.holds("message", slices.Repeat([]int32{int32(t.prev())}, n))
			}
			t.is(t.Bsend(nil, t.size, 0), mpi.ErrRank)
		}},
		{Name: "mode/replace", Run: func(t *T) {
			for _, n := range []int{1, 100, 100000} {
				b := room(t, n, int32(t.rank))
				st, err := t.SendrecvReplace(b.arg(), t.next(), 3, t.prev(), 3)
				t.ok(err)
				t.same("status", st, mpi.Status{Source: t.prev(), Tag: 3, Bytes: 4 * n})
				b.holds("what came", slices.Repeat([]int32{int32(t.prev())}, n))
				// Every other element, and nobody at the ends of a line.
				to, from := t.next(), t.prev()
				if t.rank == t.size-1 {
					to = mpi.ProcNull
				}
				if t.rank == 0 {
					from = mpi.ProcNull
				}
				_, err = t.SendrecvReplace(mpi.Vector(b.arg(), (n+1)/2, 1, 2), to, 4, from, 4)
				t.ok(err)
				want := slices.Repeat([]int32{int32(t.prev())}, n)
				for i := 0; i < n && from != mpi.ProcNull; i += 2 {
					want[i] = int32((t.prev() + t.size - 1) % t.size)
				}
				b.holds("every other", want)
			}
			_, err := t.SendrecvReplace("text", t.rank, 0, t.rank, 0)
			t.is(err, mpi.ErrBuffer)
		}},
		{Name: "mode/persistent", Run: func(t *T) {
			out, in := room(t, 1000, int32(0)), room(t, 1000, int32(-1))
			s, err := t.SendInit(out.arg(), t.next(), 5)
			t.ok(err)
			r, err := t.RecvInit(in.arg(), t.prev(), 5)
			t.ok(err)
			if st, done, err := r.Test(); !done || err != nil || st != (mpi.Status{}) {
				t.Errorf("before it is started: %+v, %v, %v", st, done, err)
			}
			if i, _, err := mpi.WaitAny(s, r); i != -1 || err != nil {
				t.Errorf("with nothing started WaitAny gives %d, %v", i, err)
			}
			for turn := range 4 {
				out.put(slices.Repeat([]int32{int32(100*turn + t.rank)}, 1000))
				t.ok(mpi.StartAll(r, s))
				if turn == 1 {
					t.is(r.Start(), mpi.ErrRequest)
				}
				for range 2 {
					i, st, err := mpi.WaitAny(s, r)
					t.ok(err)
					if i == 1 {
						t.same("status", st, mpi.Status{Source: t.prev(), Tag: 5, Bytes: 4000})
					}
				}
				if i, _, err := mpi.WaitAny(s, r); i != -1 || err != nil {
					t.Errorf("when both are complete WaitAny gives %d, %v", i, err)
				}
				in.holds("message", slices.Repeat([]int32{int32(100*turn + t.prev())}, 1000))
			}
			ordinary, err := t.Isend(nil, mpi.ProcNull, 0)
			t.ok(err)
			t.is(ordinary.Start(), mpi.ErrRequest)
			_, err = t.SendInit(out.arg(), t.size, 0)
			t.is(err, mpi.ErrRank)
			_, err = t.RecvInit("text", 0, 0)
			t.is(err, mpi.ErrBuffer)
		}},
		{Name: "mode/waitSome", Run: func(t *T) {
			const n = 5
			var requests []*mpi.Request
			var in []*vec[int32]
			for tag := range n {
				in = append(in, room(t, 10, int32(-1)))
				r, err := t.Irecv(in[tag].arg(), t.prev(), tag)
				t.ok(err)
				requests = append(requests, r)
			}
			requests = append(requests, nil)
			for tag := range n {
				t.ok(t.Bsend(room(t, 10, int32(tag)).arg(), t.next(), (tag*3)%n))
			}
			seen := 0
			for seen < n {
				indexes, list, err := mpi.WaitSome(requests...)
				t.ok(err)
				for k, i := range indexes {
					t.same("status", list[k], mpi.Status{Source: t.prev(), Tag: i, Bytes: 40})
					requests[i] = nil
				}
				if seen += len(indexes); len(indexes) == 0 {
					t.Fatalf("none of %d is complete", n-seen)
				}
			}
			for i := range n {
				in[(i*3)%n].holds("message", slices.Repeat([]int32{int32(i)}, 10))
			}
			if indexes, _, err := mpi.WaitSome(requests...); indexes != nil || err != nil {
				t.Errorf("with none left: %v, %v", indexes, err)
			}
		}},
	}
}
