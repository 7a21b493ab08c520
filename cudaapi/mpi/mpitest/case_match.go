package mpitest

import (
	"bytes"
	"fmt"

	"gocuda/cudaapi/mpi"
)

// pattern64 is n numbers that tell messages apart.
func pattern64(n, seed int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = seed<<40 + i
	}
	return s
}

// orderCases: messages between two ranks do not overtake each other.
func orderCases() []Case {
	inOrder := func(name string, count int, size func(i int) int, source, tag func(t *T) int) Case {
		return Case{Name: "order/" + name, Ranks: 2, Run: func(t *T) {
			var requests []*mpi.Request
			for i := range count {
				b := on(t, append(pattern(size(i), t.rank), byte(i), byte(i>>8)))
				r, err := t.Isend(b.arg(), t.next(), 4)
				t.ok(err)
				requests = append(requests, r)
			}
			for i := range count {
				n := size(i) + 2
				b := room(t, n, byte(0))
				st, err := t.Recv(b.arg(), source(t), tag(t))
				t.ok(err)
				t.same("status", st, mpi.Status{Source: t.prev(), Tag: 4, Bytes: n})
				if got := b.get(); got[n-2] != byte(i) || got[n-1] != byte(i>>8) || !bytes.Equal(got[:n-2], pattern(n-2, t.prev())) {
					t.Fatalf("message %d is not the one of that number", i)
				}
			}
			_, err := mpi.WaitAll(requests...)
			t.ok(err)
		}}
	}
	prev := func(t *T) int { return t.prev() }
	four := func(*T) int { return 4 }
	anySource := func(*T) int { return mpi.AnySource }
	anyTag := func(*T) int { return mpi.AnyTag }
	small := func(int) int { return 6 }
	mixed := func(i int) int { return []int{1, 70000, 10, 300, 5000}[i%5] }
	return []Case{
		inOrder("small", 600, small, prev, four),
		inOrder("smallAnySource", 300, small, anySource, four),
		inOrder("smallAnyTag", 300, small, prev, anyTag),
		inOrder("mixedSizes", 60, mixed, prev, four),
		inOrder("mixedSizesWildcards", 60, mixed, anySource, anyTag),
		{Name: "order/receivesInOrder", Ranks: 2, Run: func(t *T) {
			// Receives that were posted before match in the order of posting.
			const count = 50
			in := make([]*vec[int], count)
			requests := make([]*mpi.Request, count)
			for i := range in {
				in[i] = on(t, []int{-1})
				var err error
				tag := 7
				if i%3 == 0 {
					tag = mpi.AnyTag
				}
				requests[i], err = t.Irecv(in[i].arg(), t.prev(), tag)
				t.ok(err)
			}
			t.ok(t.Barrier())
			for i := range count {
				t.ok(t.Send([]int{i}, t.next(), 7))
			}
			_, err := mpi.WaitAll(requests...)
			t.ok(err)
			for i := range in {
				in[i].holds(fmt.Sprint("receive ", i), []int{i})
			}
		}},
		{Name: "order/receivesOfAllLengths", Ranks: 2, Run: func(t *T) {
			// The same, into memory of different lengths, by patterns that overlap.
			const count = 60
			type post struct{ source, tag int }
			kinds := []post{{t.prev(), 7}, {mpi.AnySource, 7}, {t.prev(), mpi.AnyTag}, {mpi.AnySource, mpi.AnyTag}, {t.prev(), 8}}
			var posts []post
			in := make([]*vec[int], count)
			requests := make([]*mpi.Request, count)
			for i := range in {
				posts = append(posts, kinds[i*3%len(kinds)])
				in[i] = room(t, []int{1, 2000, 5, 400, 30000}[i%5], -1)
				var err error
				requests[i], err = t.Irecv(in[i].arg(), posts[i].source, posts[i].tag)
				t.ok(err)
			}
			t.ok(t.Barrier())
			want := make([]int, count)
			for i := range count {
				tag := 7
				if i%4 == 1 {
					tag = 8
				}
				free := -1
				for j, p := range posts {
					if want[j] == 0 && (p.tag == tag || p.tag == mpi.AnyTag) {
						free = j
						break
					}
				}
				if free < 0 {
					continue // none is left for it
				}
				want[free] = i + 1
				t.ok(t.Send([]int{i + 1}, t.next(), tag))
			}
			for i, r := range requests {
				if want[i] == 0 {
					t.ok(r.Cancel())
				}
				st, err := r.Wait()
				t.ok(err)
				if st.Cancelled != (want[i] == 0) {
					t.Errorf("receive %d: cancelled: %v", i, st.Cancelled)
				}
				if got := in[i].get()[0]; want[i] != 0 && got != want[i] {
					t.Errorf("receive %d has message %d, want %d", i, got, want[i])
				}
			}
		}},
		{Name: "order/probesLeavePosted", Ranks: 2, Run: func(t *T) {
			// A probe does not see what a posted receive is to get.
			for _, n := range []int{1, 3000} {
				in := room(t, n, 0)
				r, err := t.Irecv(in.arg(), t.prev(), 5)
				t.ok(err)
				first, err := t.Isend(on(t, pattern64(n, 1)).arg(), t.next(), 5)
				t.ok(err)
				next, err := t.Isend(on(t, pattern64(n, 2)).arg(), t.next(), 5)
				t.ok(err)
				st, err := t.Probe(t.prev(), mpi.AnyTag)
				t.ok(err)
				t.same("probed", st, mpi.Status{Source: t.prev(), Tag: 5, Bytes: 8 * n})
				m, err := t.Mprobe(mpi.AnySource, 5)
				t.ok(err)
				second := room(t, n, 0)
				_, err = m.Recv(second.arg())
				t.ok(err)
				_, err = mpi.WaitAll(r, first, next)
				t.ok(err)
				in.holds("posted", pattern64(n, 1))
				second.holds("probed", pattern64(n, 2))
				t.ok(t.Barrier())
			}
		}},
		{Name: "order/postedReceivesGoOn", Ranks: 2, Run: func(t *T) {
			// A synchronous send comes to its end while the receiver is in other calls.
			for _, n := range []int{1, 100000} {
				for _, other := range []func() error{t.Barrier, func() error {
					d, err := t.Dup()
					if err != nil {
						return err
					}
					return d.Free()
				}} {
					in := room(t, n, 0)
					if t.rank%2 == 1 {
						t.ok(t.Ssend(on(t, pattern64(n, 3)).arg(), t.rank-1, 5))
						t.ok(other())
						continue
					}
					if t.rank+1 == t.size {
						t.ok(other())
						continue
					}
					r, err := t.Irecv(in.arg(), t.rank+1, 5)
					t.ok(err)
					t.ok(other())
					_, err = r.Wait()
					t.ok(err)
					in.holds("received", pattern64(n, 3))
				}
			}
		}},
		{Name: "order/unexpectedThenByTag", Ranks: 2, Run: func(t *T) {
			// Tags pick messages out of the order in which they came.
			const count = 40
			var requests []*mpi.Request
			for i := range count {
				r, err := t.Isend(on(t, []int{i, t.rank}).arg(), t.next(), i)
				t.ok(err)
				requests = append(requests, r)
			}
			for i := count - 1; i >= 0; i-- {
				in := on(t, []int{0, 0})
				_, err := t.Recv(in.arg(), t.prev(), i)
				t.ok(err)
				in.holds("message", []int{i, t.prev()})
			}
			_, err := mpi.WaitAll(requests...)
			t.ok(err)
		}},
		{Name: "order/largeUnexpected", Ranks: 2, Run: func(t *T) {
			const n = 300000
			var requests []*mpi.Request
			for i := range 4 {
				r, err := t.Isend(on(t, pattern(n, 10*t.rank+i)).arg(), t.next(), i)
				t.ok(err)
				requests = append(requests, r)
			}
			t.ok(t.Barrier())
			for i := 3; i >= 0; i-- {
				in := room(t, n, byte(0))
				_, err := t.Recv(in.arg(), t.prev(), i)
				t.ok(err)
				if !bytes.Equal(in.get(), pattern(n, 10*t.prev()+i)) {
					t.Errorf("message %d is wrong", i)
				}
			}
			_, err := mpi.WaitAll(requests...)
			t.ok(err)
		}},
	}
}

// matchCases: which receive gets which message.
func matchCases() []Case {
	return []Case{
		{Name: "match/anySource", Run: func(t *T) {
			if t.rank != 0 {
				t.ok(t.Send(on(t, []int{t.rank * t.rank}).arg(), 0, t.rank))
				return
			}
			seen := make([]bool, t.size)
			for range t.size - 1 {
				in := on(t, []int{0})
				st, err := t.Recv(in.arg(), mpi.AnySource, mpi.AnyTag)
				t.ok(err)
				if st.Source < 1 || st.Source >= t.size || seen[st.Source] || st.Tag != st.Source {
					t.Fatalf("status %+v", st)
				}
				seen[st.Source] = true
				in.holds("message", []int{st.Source * st.Source})
			}
		}},
		{Name: "match/anySourceOfOneTag", Run: func(t *T) {
			for _, tag := range []int{3, 1, 2} {
				r, err := t.Isend(on(t, []int{tag}).arg(), 0, tag)
				t.ok(err)
				defer r.Wait()
			}
			for tag := 1; tag <= 3 && t.rank == 0; tag++ {
				for range t.size {
					in := on(t, []int{0})
					_, err := t.Recv(in.arg(), mpi.AnySource, tag)
					t.ok(err)
					in.holds("message", []int{tag})
				}
			}
		}},
		{Name: "match/self", Run: func(t *T) {
			in := on(t, []float64{0, 0})
			r, err := t.Irecv(in.arg(), t.rank, 9)
			t.ok(err)
			t.ok(t.Send(on(t, []float64{1, float64(t.rank)}).arg(), t.rank, 9))
			st, err := r.Wait()
			t.ok(err)
			t.same("status", st, mpi.Status{Source: t.rank, Tag: 9, Bytes: 16})
			in.holds("message", []float64{1, float64(t.rank)})
		}},
		{Name: "match/selfLarge", Run: func(t *T) {
			s, err := t.Isend(on(t, pattern(200000, 1)).arg(), t.rank, 9)
			t.ok(err)
			in := room(t, 200000, byte(0))
			_, err = t.Recv(in.arg(), t.rank, 9)
			t.ok(err)
			_, err = s.Wait()
			t.ok(err)
			if !bytes.Equal(in.get(), pattern(200000, 1)) {
				t.Errorf("the message to itself is wrong")
			}
		}},
		{Name: "match/procNull", Run: func(t *T) {
			in := on(t, []int{42})
			t.ok(t.Send(in.arg(), mpi.ProcNull, 1))
			t.ok(t.Ssend(in.arg(), mpi.ProcNull, 1))
			st, err := t.Recv(in.arg(), mpi.ProcNull, 1)
			t.ok(err)
			t.same("status", st, mpi.Status{Source: mpi.ProcNull, Tag: mpi.AnyTag})
			in.holds("untouched", []int{42})
			st, err = t.Sendrecv([]int{1}, mpi.ProcNull, 0, in.arg(), mpi.ProcNull, 0)
			t.ok(err)
			t.same("source", st.Source, mpi.ProcNull)
			st, err = t.Probe(mpi.ProcNull, 0)
			t.ok(err)
			t.same("probed", st.Source, mpi.ProcNull)
		}},
		{Name: "match/edges", Run: func(t *T) {
			// A shift along a line whose ends have no neighbour.
			up, down := t.rank+1, t.rank-1
			if up == t.size {
				up = mpi.ProcNull
			}
			if down < 0 {
				down = mpi.ProcNull
			}
			in := on(t, []int32{-1})
			_, err := t.Sendrecv(on(t, []int32{int32(t.rank)}).arg(), up, 0, in.arg(), down, 0)
			t.ok(err)
			in.holds("shifted", []int32{int32(t.rank - 1)})
		}},
		{Name: "match/synchronous", Ranks: 2, Run: func(t *T) {
			// A synchronous send is not complete before its receive has begun.
			if t.rank == 0 {
				r, err := t.Issend(on(t, []int{5}).arg(), 1, 0)
				t.ok(err)
				for range 200 {
					_, done, err := r.Test()
					t.ok(err)
					if done {
						t.Fatalf("complete before the receive")
					}
				}
				t.ok(t.Send(nil, 1, 1))
				_, err = r.Wait()
				t.ok(err)
			} else if t.rank == 1 {
				_, err := t.Recv(nil, 0, 1)
				t.ok(err)
				in := on(t, []int{0})
				_, err = t.Recv(in.arg(), 0, 0)
				t.ok(err)
				in.holds("message", []int{5})
			}
		}},
		{Name: "match/ssend", Run: func(t *T) {
			in := on(t, []int{0})
			r, err := t.Irecv(in.arg(), t.prev(), 2)
			t.ok(err)
			t.ok(t.Ssend(on(t, []int{t.rank + 1}).arg(), t.next(), 2))
			_, err = r.Wait()
			t.ok(err)
			in.holds("message", []int{t.prev() + 1})
		}},
		{Name: "match/highestTag", Run: func(t *T) {
			in := on(t, []int{0})
			const tag = 32767 // the least that the standard allows the highest to be
			st, err := t.Sendrecv(on(t, []int{t.rank}).arg(), t.next(), tag, in.arg(), t.prev(), tag)
			t.ok(err)
			t.same("tag", st.Tag, tag)
		}},
		{Name: "match/shorter", Run: func(t *T) {
			in := room(t, 10, int32(-1))
			st, err := t.Sendrecv(on(t, []int32{1, 2, 3}).arg(), t.next(), 0, in.arg(), t.prev(), 0)
			t.ok(err)
			t.same("count", st.Count(in.arg()), 3)
			in.holds("contents", []int32{1, 2, 3, -1, -1, -1, -1, -1, -1, -1})
		}},
		{Name: "match/sendBufferIsReadOnly", Run: func(t *T) {
			// One buffer may be the source of several sends at once.
			out := on(t, pattern(100000, 3))
			var requests []*mpi.Request
			for i := range 3 {
				r, err := t.Isend(out.arg(), t.next(), i)
				t.ok(err)
				requests = append(requests, r)
			}
			for i := range 3 {
				in := room(t, 100000, byte(0))
				_, err := t.Recv(in.arg(), t.prev(), i)
				t.ok(err)
				if !bytes.Equal(in.get(), pattern(100000, 3)) {
					t.Errorf("message %d is wrong", i)
				}
			}
			_, err := mpi.WaitAll(requests...)
			t.ok(err)
		}},
		{Name: "match/allToAllByMessages", Run: func(t *T) {
			in := make([]*vec[int], t.size)
			var requests []*mpi.Request
			for i := range t.size {
				in[i] = on(t, []int{-1})
				r, err := t.Irecv(in[i].arg(), i, 11)
				t.ok(err)
				s, err := t.Isend(on(t, []int{t.rank*100 + i}).arg(), i, 11)
				t.ok(err)
				requests = append(requests, r, s)
			}
			_, err := mpi.WaitAll(requests...)
			t.ok(err)
			for i := range in {
				in[i].holds(fmt.Sprint("from ", i), []int{i*100 + t.rank})
			}
		}},
	}
}
