package mpitest

import (
	"errors"
	"time"

	"gocuda/cudaapi/mpi"
)

// requestCases: waiting for one, any and all.
func requestCases() []Case {
	return []Case{
		{Name: "request/testUntilDone", Run: func(t *T) {
			in := on(t, []int{0})
			r, err := t.Irecv(in.arg(), t.prev(), 0)
			t.ok(err)
			_, done, err := r.Test()
			t.ok(err)
			t.same("done before the message", done, false)
			t.ok(t.Barrier())
			t.ok(t.Send(on(t, []int{8}).arg(), t.next(), 0))
			var st mpi.Status
			for done = false; !done; {
				st, done, err = r.Test()
				t.ok(err)
			}
			t.same("source", st.Source, t.prev())
			in.holds("message", []int{8})
			again, err := r.Wait()
			t.ok(err)
			t.same("the same again", again, st)
		}},
		{Name: "request/nil", Run: func(t *T) {
			var r *mpi.Request
			_, err := r.Wait()
			t.ok(err)
			_, done, err := r.Test()
			t.ok(err)
			t.same("done", done, true)
			t.ok(r.Cancel())
			i, _, err := mpi.WaitAny(nil, nil)
			t.ok(err)
			t.same("index", i, -1)
			_, err = mpi.WaitAll()
			t.ok(err)
		}},
		{Name: "request/waitAny", Run: func(t *T) {
			const count = 5
			in := make([]*vec[int], count)
			requests := make([]*mpi.Request, count)
			for i := range in {
				in[i] = on(t, []int{0})
				var err error
				requests[i], err = t.Irecv(in[i].arg(), t.prev(), i)
				t.ok(err)
			}
			t.ok(t.Barrier())
			for _, i := range []int{3, 1, 4, 0, 2} {
				t.ok(t.Send(on(t, []int{i * 10}).arg(), t.next(), i))
			}
			for range count {
				i, st, err := mpi.WaitAny(requests...)
				t.ok(err)
				if i < 0 || st.Tag != i {
					t.Fatalf("index %d, status %+v", i, st)
				}
				in[i].holds("message", []int{i * 10})
				if i%2 == 0 {
					requests[i] = nil // which it need not
				}
			}
			i, _, err := mpi.WaitAny(requests...)
			t.ok(err)
			t.same("index when none is left", i, -1)
		}},
		{Name: "request/testAll", Run: func(t *T) {
			a, b := on(t, []int{0}), on(t, []int{0})
			ra, err := t.Irecv(a.arg(), t.prev(), 1)
			t.ok(err)
			rb, err := t.Irecv(b.arg(), t.prev(), 2)
			t.ok(err)
			_, done, err := mpi.TestAll(ra, nil, rb)
			t.ok(err)
			t.same("done before", done, false)
			t.ok(t.Barrier())
			t.ok(t.Send(on(t, []int{2}).arg(), t.next(), 2))
			t.ok(t.Send(on(t, []int{1}).arg(), t.next(), 1))
			var sts []mpi.Status
			for done = false; !done; {
				sts, done, err = mpi.TestAll(ra, nil, rb)
				t.ok(err)
			}
			t.same("tags", []int{sts[0].Tag, sts[2].Tag}, []int{1, 2})
			a.holds("first", []int{1})
			b.holds("second", []int{2})
		}},
		{Name: "request/testAny", Run: func(t *T) {
			in := on(t, []int{0})
			never, err := t.Irecv(on(t, []int{0}).arg(), t.prev(), 99)
			t.ok(err)
			r, err := t.Irecv(in.arg(), t.prev(), 2)
			t.ok(err)
			_, _, done, err := mpi.TestAny(never, r)
			t.ok(err)
			t.same("done before", done, false)
			t.ok(t.Barrier())
			t.ok(t.Send(on(t, []int{2}).arg(), t.next(), 2))
			i := -1
			for done = false; !done; {
				i, _, done, err = mpi.TestAny(never, r)
				t.ok(err)
			}
			t.same("index", i, 1)
			t.ok(never.Cancel())
			st, err := never.Wait()
			t.ok(err)
			t.same("cancelled", st.Cancelled, true)
		}},
		{Name: "request/many", Run: func(t *T) {
			const count = 400
			in := make([]*vec[int32], count)
			var requests []*mpi.Request
			for i := range in {
				in[i] = on(t, []int32{-1})
				r, err := t.Irecv(in[i].arg(), t.prev(), i)
				t.ok(err)
				requests = append(requests, r)
			}
			for i := range count {
				s, err := t.Isend(on(t, []int32{int32(i)}).arg(), t.next(), count-1-i)
				t.ok(err)
				requests = append(requests, s)
			}
			_, err := mpi.WaitAll(requests...)
			t.ok(err)
			for i := range in {
				in[i].holds("message", []int32{int32(count - 1 - i)})
			}
		}},
	}
}

// probeCases: messages are reported before they are received.
func probeCases() []Case {
	return []Case{
		{Name: "probe/count", Run: func(t *T) {
			for _, n := range []int{0, 1, 32, 100, 5000, 40000} {
				s, err := t.Isend(room(t, n, float64(t.rank)).arg(), t.next(), n%100)
				t.ok(err)
				st, err := t.Probe(t.prev(), n%100)
				t.ok(err)
				t.same("status", st, mpi.Status{Source: t.prev(), Tag: n % 100, Bytes: 8 * n})
				in := room(t, n, -1.)
				t.same("count", st.Count(in.arg()), n)
				_, err = t.Recv(in.arg(), st.Source, st.Tag)
				t.ok(err)
				in.holds("message", room(t, n, float64(t.prev())).host)
				_, err = s.Wait()
				t.ok(err)
			}
		}},
		{Name: "probe/wildcards", Run: func(t *T) {
			s, err := t.Isend(on(t, []int{t.rank}).arg(), t.next(), 6)
			t.ok(err)
			st, err := t.Probe(mpi.AnySource, mpi.AnyTag)
			t.ok(err)
			t.same("status", st, mpi.Status{Source: t.prev(), Tag: 6, Bytes: 8})
			// Probing again tells the same: nothing was received.
			again, ok, err := t.Iprobe(mpi.AnySource, 6)
			t.ok(err)
			t.same("again", ok, true)
			t.same("again", again, st)
			_, err = t.Recv(on(t, []int{0}).arg(), st.Source, st.Tag)
			t.ok(err)
			_, err = s.Wait()
			t.ok(err)
		}},
		{Name: "probe/nothing", Run: func(t *T) {
			_, ok, err := t.Iprobe(mpi.AnySource, mpi.AnyTag)
			t.ok(err)
			t.same("found", ok, false)
			m, ok, err := t.Improbe(mpi.AnySource, mpi.AnyTag)
			t.ok(err)
			t.same("found", ok || m != nil, false)
		}},
		{Name: "probe/order", Run: func(t *T) {
			for i := range 10 {
				s, err := t.Isend(room(t, i, byte(i)).arg(), t.next(), i)
				t.ok(err)
				defer s.Wait()
			}
			for i := range 10 {
				st, err := t.Probe(t.prev(), mpi.AnyTag)
				t.ok(err)
				t.same("status", st, mpi.Status{Source: t.prev(), Tag: i, Bytes: i})
				_, err = t.Recv(room(t, i, byte(0)).arg(), t.prev(), mpi.AnyTag)
				t.ok(err)
			}
		}},
		{Name: "probe/matchedImmediate", Run: func(t *T) {
			// Messages are received in another order than they came in.
			sizes := []int{3, 50000, 1, 0, 700}
			var sent, received []*mpi.Request
			for i, n := range sizes {
				s, err := t.Isend(room(t, n, int32(i)).arg(), t.next(), i)
				t.ok(err)
				sent = append(sent, s)
			}
			messages := make([]*mpi.Message, len(sizes))
			for i, n := range sizes {
				var err error
				messages[i], err = t.Mprobe(t.prev(), mpi.AnyTag)
				t.ok(err)
				t.same("status", messages[i].Status(), mpi.Status{Source: t.prev(), Tag: i, Bytes: 4 * n})
			}
			in := make([]*vec[int32], len(sizes))
			for i := len(sizes) - 1; i >= 0; i-- {
				in[i] = room(t, sizes[i], int32(-1))
				r, err := messages[i].Irecv(in[i].arg())
				t.ok(err)
				received = append(received, r)
			}
			all, err := mpi.WaitAll(received...)
			t.ok(err)
			for i, n := range sizes {
				t.same("status", all[len(all)-1-i], mpi.Status{Source: t.prev(), Tag: i, Bytes: 4 * n})
				in[i].holds("message", room(t, n, int32(i)).host)
			}
			_, err = mpi.WaitAll(sent...)
			t.ok(err)
		}},
		{Name: "probe/matchedImmediateTooLong", Run: func(t *T) {
			s, err := t.Isend(room(t, 100, int32(7)).arg(), t.next(), 0)
			t.ok(err)
			m, err := t.Mprobe(t.prev(), 0)
			t.ok(err)
			r, err := m.Irecv(room(t, 50, int32(0)).arg())
			t.ok(err)
			_, err = r.Wait()
			t.is(err, mpi.ErrTruncate)
			_, err = s.Wait()
			t.ok(err)
		}},
		{Name: "probe/matchedOnce", Run: func(t *T) {
			s, err := t.Isend(on(t, []int32{5}).arg(), t.next(), 0)
			t.ok(err)
			m, err := t.Mprobe(t.prev(), 0)
			t.ok(err)
			_, err = m.Irecv("read only")
			t.is(err, mpi.ErrBuffer)
			in := on(t, []int32{0})
			r, err := m.Irecv(in.arg())
			t.ok(err)
			_, err = m.Irecv(in.arg())
			t.is(err, mpi.ErrRequest)
			_, err = m.Recv(in.arg())
			t.is(err, mpi.ErrRequest)
			_, err = r.Wait()
			t.ok(err)
			in.holds("message", []int32{5})
			_, err = s.Wait()
			t.ok(err)
			none, _, err := t.Improbe(t.prev(), 0)
			t.ok(err)
			_, err = none.Irecv(in.arg())
			t.is(err, mpi.ErrRequest)
			null, err := t.Mprobe(mpi.ProcNull, 0)
			t.ok(err)
			r, err = null.Irecv(in.arg())
			t.ok(err)
			st, err := r.Wait()
			t.ok(err)
			t.same("of nobody", st, mpi.Status{Source: mpi.ProcNull, Tag: mpi.AnyTag})
			in.holds("untouched", []int32{5})
		}},
		{Name: "probe/matchedStrided", Run: func(t *T) {
			s, err := t.Isend(on(t, []int32{1, 2, 3, 4}).arg(), t.next(), 0)
			t.ok(err)
			m, err := t.Mprobe(t.prev(), 0)
			t.ok(err)
			in := room(t, 8, int32(-1))
			r, err := m.Irecv(mpi.Vector(in.arg(), 4, 1, 2))
			t.ok(err)
			_, err = r.Wait()
			t.ok(err)
			in.holds("every other", []int32{1, -1, 2, -1, 3, -1, 4, -1})
			_, err = s.Wait()
			t.ok(err)
		}},
		{Name: "probe/matched", Run: func(t *T) {
			for i, n := range []int{3, 50000, 1} {
				s, err := t.Isend(room(t, n, int32(i)).arg(), t.next(), i)
				t.ok(err)
				defer s.Wait()
			}
			first, err := t.Mprobe(t.prev(), mpi.AnyTag)
			t.ok(err)
			second, err := t.Mprobe(t.prev(), mpi.AnyTag)
			t.ok(err)
			t.same("first", first.Status(), mpi.Status{Source: t.prev(), Tag: 0, Bytes: 12})
			t.same("second", second.Status(), mpi.Status{Source: t.prev(), Tag: 1, Bytes: 200000})
			// The third is received past those that were set aside.
			in := on(t, []int32{-1})
			_, err = t.Recv(in.arg(), t.prev(), mpi.AnyTag)
			t.ok(err)
			in.holds("third", []int32{2})
			large := room(t, 50000, int32(-1))
			_, err = second.Recv(large.arg())
			t.ok(err)
			large.holds("second", room(t, 50000, int32(1)).host)
			small := room(t, 3, int32(-1))
			st, err := first.Recv(small.arg())
			t.ok(err)
			t.same("count", st.Count(small.arg()), 3)
			small.holds("first", []int32{0, 0, 0})
			_, err = first.Recv(small.arg())
			t.is(err, mpi.ErrRequest)
		}},
	}
}

// nextTakes has a message that comes now go to the next receive, not to one that
// was given up, whose buffer holds 7.
func (t *T) nextTakes(in *vec[int]) {
	t.ok(t.Barrier())
	s, err := t.Isend(on(t, []int{8}).arg(), t.next(), 0)
	t.ok(err)
	got := on(t, []int{0})
	_, err = t.Recv(got.arg(), t.prev(), 0)
	t.ok(err)
	got.holds("message", []int{8})
	in.holds("the buffer of the receive that was given up", []int{7})
	_, err = s.Wait()
	t.ok(err)
}

// cancelCases: receives given up, and waits that are interrupted.
func cancelCases() []Case {
	// interrupted runs f with a stop that comes soon.
	interrupted := func(t *T, f func() error) {
		stop := make(chan struct{})
		time.AfterFunc(20*time.Millisecond, func() { close(stop) })
		mpi.SetInterrupt(stop)
		if err := f(); !errors.Is(err, mpi.ErrInterrupted) {
			t.Errorf("the error is %v, not ErrInterrupted", err)
		}
		mpi.SetInterrupt(nil)
	}
	return []Case{
		{Name: "cancel/receive", Run: func(t *T) {
			in := on(t, []int{7})
			r, err := t.Irecv(in.arg(), t.prev(), 0)
			t.ok(err)
			t.ok(r.Cancel())
			st, err := r.Wait()
			t.ok(err)
			t.same("cancelled", st.Cancelled, true)
			// The message that comes now is for the next receive.
			t.nextTakes(in)
		}},
		{Name: "cancel/completed", Run: func(t *T) {
			in := on(t, []int{7})
			r, err := t.Irecv(in.arg(), t.rank, 0)
			t.ok(err)
			t.ok(t.Send(on(t, []int{8}).arg(), t.rank, 0))
			_, err = r.Wait()
			t.ok(err)
			t.ok(r.Cancel())
			st, err := r.Wait()
			t.ok(err)
			t.same("cancelled", st.Cancelled, false)
			in.holds("message", []int{8})
		}},
		{Name: "cancel/interruptReceive", Run: func(t *T) {
			in := on(t, []int{7})
			interrupted(t, func() error { _, err := t.Recv(in.arg(), t.prev(), 0); return err })
			t.nextTakes(in)
		}},
		{Name: "cancel/interruptLargeReceive", Run: func(t *T) {
			in := room(t, 100000, 7)
			interrupted(t, func() error { _, err := t.Recv(in.arg(), mpi.AnySource, 0); return err })
			t.ok(t.Barrier())
			s, err := t.Isend(room(t, 100000, 8).arg(), t.next(), 0)
			t.ok(err)
			got := room(t, 100000, 0)
			_, err = t.Recv(got.arg(), mpi.AnySource, 0)
			t.ok(err)
			got.holds("message after the interrupt", room(t, 100000, 8).host)
			_, err = s.Wait()
			t.ok(err)
		}},
		{Name: "cancel/interruptWait", Run: func(t *T) {
			r, err := t.Irecv(on(t, []int{0}).arg(), t.prev(), 0)
			t.ok(err)
			interrupted(t, func() error { _, err := mpi.WaitAll(r); return err })
			st, err := r.Wait()
			if !errors.Is(err, mpi.ErrInterrupted) {
				t.Errorf("the second wait says %v", err)
			}
			t.same("cancelled", st.Cancelled, true)
		}},
		{Name: "cancel/interruptWaitAny", Run: func(t *T) {
			r, err := t.Irecv(on(t, []int{0}).arg(), t.prev(), 0)
			t.ok(err)
			interrupted(t, func() error { _, _, err := mpi.WaitAny(r); return err })
			t.ok(r.Cancel())
			_, err = r.Wait()
			t.ok(err)
		}},
		{Name: "cancel/interruptProbe", Run: func(t *T) {
			interrupted(t, func() error { _, err := t.Probe(t.prev(), 0); return err })
			interrupted(t, func() error { _, err := t.Mprobe(t.prev(), 0); return err })
		}},
		{Name: "cancel/interruptBarrier", Ranks: 2, Run: func(t *T) {
			// Those who were interrupted in a barrier have entered it all the same.
			if t.rank > 0 {
				interrupted(t, t.Barrier)
				t.ok(t.Send(nil, 0, 1))
				return
			}
			for i := 1; i < t.size; i++ {
				_, err := t.Recv(nil, i, 1)
				t.ok(err)
			}
			t.ok(t.Barrier())
		}},
		{Name: "cancel/interruptSsend", Ranks: 2, Run: func(t *T) {
			out := on(t, []int{t.rank})
			interrupted(t, func() error { return t.Ssend(out.arg(), t.next(), 0) })
			t.ok(t.Barrier())
			in := on(t, []int{-1})
			_, err := t.Recv(in.arg(), t.prev(), 0) // it goes on
			t.ok(err)
			in.holds("message", []int{t.prev()})
		}},
	}
}
