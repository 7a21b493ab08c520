package mpitest

import (
	"fmt"
	"slices"

	"gocuda/cudaapi/mpi"
)

// stridedCases: buffers whose elements do not lie together.
func stridedCases() []Case {
	cases := []Case{
		{Name: "strided/messageOfAnyForm", Run: func(t *T) {
			// A column is sent, and comes as a slice, as a row of blocks, as a box; and
			// back to a column.
			m := on(t, series(60)) // 10 rows of 6
			column := mpi.Vector(m.cut(2, 60), 10, 1, 6)
			want := make([]int32, 10)
			for i := range want {
				want[i] = int32(6*i + 2)
			}
			for form, into := range []func(v *vec[int32]) (mpi.Strided, []int){
				func(v *vec[int32]) (mpi.Strided, []int) {
					return mpi.Vector(v.arg(), 1, 10, 10), []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
				},
				func(v *vec[int32]) (mpi.Strided, []int) {
					return mpi.Vector(v.arg(), 5, 2, 4), []int{0, 1, 4, 5, 8, 9, 12, 13, 16, 17}
				},
				func(v *vec[int32]) (mpi.Strided, []int) {
					return mpi.Subarray(v.arg(), []int{2, 3, 7}, []int{1, 2, 5}, []int{1, 0, 2}), []int{23, 24, 25, 26, 27, 30, 31, 32, 33, 34}
				},
				func(v *vec[int32]) (mpi.Strided, []int) {
					return mpi.Subarray(v.arg(), []int{2, 5, 4}, []int{2, 5, 1}, []int{0, 0, 3}), []int{3, 7, 11, 15, 19, 23, 27, 31, 35, 39}
				},
			} {
				in := room(t, 42, int32(-1))
				to, places := into(in)
				st, err := t.Sendrecv(column, t.next(), form, to, t.prev(), form)
				t.ok(err)
				t.same("elements that came", st.Count(to), 10)
				expect := slices.Repeat([]int32{-1}, 42)
				for i, p := range places {
					expect[p] = want[i]
				}
				in.holds(fmt.Sprint("form ", form), expect)
			}
		}},
		{Name: "strided/shorter", Run: func(t *T) {
			// Of seven elements, blocks of two: the rest stays as it is.
			for _, n := range []int{0, 1, 2, 7} {
				in := room(t, 30, int16(-1))
				s, err := t.Isend(on(t, make([]int16, n)).arg(), t.next(), 0)
				t.ok(err)
				st, err := t.Recv(mpi.Vector(in.arg(), 5, 2, 5), t.prev(), 0)
				t.ok(err)
				t.same("bytes", st.Bytes, 2*n)
				_, err = s.Wait()
				t.ok(err)
				want := slices.Repeat([]int16{-1}, 30)
				for i := range n {
					want[i/2*5+i%2] = 0
				}
				in.holds(fmt.Sprint(n, " elements"), want)
			}
		}},
		{Name: "strided/probed", Run: func(t *T) {
			s, err := t.Isend(mpi.Vector(on(t, series(300)).arg(), 100, 2, 3), t.next(), 4)
			t.ok(err)
			m, err := t.Mprobe(t.prev(), 4)
			t.ok(err)
			t.same("bytes", m.Status().Bytes, 800)
			in := room(t, 400, int32(-1))
			_, err = m.Recv(mpi.Vector(in.arg(), 200, 1, 2))
			t.ok(err)
			_, err = s.Wait()
			t.ok(err)
			want := slices.Repeat([]int32{-1}, 400)
			for i := range 200 {
				want[2*i] = int32(i/2*3 + i%2)
			}
			in.holds("elements", want)
		}},
		{Name: "strided/errors", Run: func(t *T) {
			b := room(t, 12, float32(0))
			for what, s := range map[string]mpi.Strided{
				"past the end":       mpi.Vector(b.arg(), 4, 1, 4),
				"overlapping":        mpi.Vector(b.arg(), 2, 3, 2),
				"negative":           mpi.Vector(b.arg(), -1, 1, 1),
				"outside the array":  mpi.Subarray(b.arg(), []int{3, 4}, []int{2, 2}, []int{2, 0}),
				"of other lengths":   mpi.Subarray(b.arg(), []int{3, 4}, []int{2}, []int{0, 0}),
				"of no buffer":       mpi.Vector("text", 1, 1, 1),
				"in place":           mpi.Vector(mpi.InPlace, 1, 1, 1),
				"of another Strided": mpi.Vector(mpi.Vector(b.arg(), 2, 1, 2), 1, 1, 1),
			} {
				if _, err := t.Recv(s, t.rank, 0); err == nil {
					t.Errorf("%s: no error", what)
				}
			}
			t.is(t.Bcast(mpi.Vector(b.arg(), 3, 1, 4), 0), mpi.ErrType)
			s, err := t.Isend(b.arg(), t.rank, 0)
			t.ok(err)
			_, err = t.Recv(mpi.Vector(room(t, 12, float32(0)).arg(), 3, 1, 4), t.rank, 0)
			t.is(err, mpi.ErrTruncate)
			_, err = s.Wait()
			t.ok(err)
		}},
	}
	for _, n := range []int{1000, 300000} {
		cases = append(cases, Case{Name: fmt.Sprintf("strided/column/%d", n), Run: func(t *T) {
			// Column 1 goes round and comes as column 0 of the same array.
			host := make([]float32, 3*n)
			for i := range host {
				host[i] = float32(i + t.rank)
			}
			m := on(t, host)
			_, err := t.Sendrecv(mpi.Vector(m.cut(1, 3*n), n, 1, 3), t.next(), 0, mpi.Vector(m.arg(), n, 1, 3), t.prev(), 0)
			t.ok(err)
			want := make([]float32, 3*n)
			for i := range want {
				if want[i] = float32(i + t.rank); i%3 == 0 {
					want[i] = float32(i + 1 + t.prev())
				}
			}
			m.holds("columns", want)
		}})
	}
	return cases
}

// series is the numbers from 0 on.
func series(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}
