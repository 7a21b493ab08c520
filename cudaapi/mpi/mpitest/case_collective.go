package mpitest

import (
	"fmt"
	"slices"
	"time"

	"gocuda/cudaapi/mpi"
)

// part is what rank r contributes: n numbers that report r and their place.
func part(r, n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(r*100000 + i)
	}
	return s
}

// all is the parts of ranks 0 to size-1, each of n(r) numbers.
func all(size int, n func(r int) int) []int32 {
	var s []int32
	for r := range size {
		s = append(s, part(r, n(r))...)
	}
	return s
}

func equally(n int) func(int) int { return func(int) int { return n } }

var partSizes = []int{0, 1, 3, 64, 1000, 20000}

// collectiveCases: every collective against what it should give, for several
// lengths and every root.
func collectiveCases() []Case {
	var list []Case
	each := func(name string, f func(t *T, n int)) {
		for _, n := range partSizes {
			list = append(list, Case{Name: fmt.Sprintf("%s/%d", name, n), Run: func(t *T) { f(t, n) }})
		}
	}
	list = append(list, Case{Name: "barrier/holds", Run: func(t *T) {
		// Nobody leaves before the last has come.
		for last := range t.size {
			var came time.Time
			if t.rank == last {
				time.Sleep(3 * time.Millisecond)
				came = time.Now()
			}
			t.ok(t.Barrier())
			left := time.Now()
			at := came.UnixNano()
			t.ok(t.Bcast(&at, last))
			if left.Before(time.Unix(0, at)) { // one clock for all ranks of a machine
				t.Errorf("left the barrier %v before rank %d came", time.Unix(0, at).Sub(left), last)
			}
		}
	}})
	each("bcast", func(t *T, n int) {
		for root := range t.size {
			b := room(t, n, int32(-1))
			if t.rank == root {
				b = on(t, part(root, n))
			}
			t.ok(t.Bcast(b.arg(), root))
			b.holds(fmt.Sprint("from ", root), part(root, n))
		}
	})
	each("gather", func(t *T, n int) {
		for root := range t.size {
			out, in := on(t, part(t.rank, n)), room(t, n*t.size, int32(-1))
			if t.rank != root {
				t.ok(t.Gather(out.arg(), nil, root))
				continue
			}
			t.ok(t.Gather(out.arg(), in.arg(), root))
			in.holds(fmt.Sprint("at ", root), slices.Clip(append([]int32{}, all(t.size, equally(n))...)))
		}
	})
	each("scatter", func(t *T, n int) {
		for root := range t.size {
			in := room(t, n, int32(-1))
			var from any
			if t.rank == root {
				from = on(t, append([]int32{}, all(t.size, equally(n))...)).arg()
			}
			t.ok(t.Scatter(from, in.arg(), root))
			in.holds(fmt.Sprint("from ", root), part(t.rank, n))
		}
	})
	each("allgather", func(t *T, n int) {
		in := room(t, n*t.size, int32(-1))
		t.ok(t.Allgather(on(t, part(t.rank, n)).arg(), in.arg()))
		in.holds("gathered", append([]int32{}, all(t.size, equally(n))...))
	})
	each("alltoall", func(t *T, n int) {
		out := make([]int32, 0, n*t.size)
		want := make([]int32, 0, n*t.size)
		for r := range t.size {
			out = append(out, part(t.rank*10+r, n)...)
			want = append(want, part(r*10+t.rank, n)...)
		}
		in := room(t, n*t.size, int32(-1))
		t.ok(t.Alltoall(on(t, out).arg(), in.arg()))
		in.holds("exchanged", want)
	})
	each("reduce", func(t *T, n int) {
		for root := range t.size {
			in := room(t, n, int32(-1))
			to := in.arg()
			if t.rank != root {
				to = nil
			}
			t.ok(t.Reduce(on(t, part(t.rank, n)).arg(), to, mpi.Sum, root))
			if t.rank == root {
				in.holds(fmt.Sprint("at ", root), sums(t.size, n))
			}
		}
	})
	each("allreduce", func(t *T, n int) {
		in := room(t, n, int32(-1))
		t.ok(t.Allreduce(on(t, part(t.rank, n)).arg(), in.arg(), mpi.Sum))
		in.holds("sum", sums(t.size, n))
	})
	each("scan", func(t *T, n int) {
		in := room(t, n, int32(-1))
		t.ok(t.Scan(on(t, part(t.rank, n)).arg(), in.arg(), mpi.Sum))
		in.holds("sum", sums(t.rank+1, n))
	})
	each("exscan", func(t *T, n int) {
		in := room(t, n, int32(-1))
		t.ok(t.Exscan(on(t, part(t.rank, n)).arg(), in.arg(), mpi.Sum))
		if t.rank == 0 {
			in.holds("untouched", room(t, n, int32(-1)).host)
		} else {
			in.holds("sum", sums(t.rank, n))
		}
	})
	each("reduceScatterBlock", func(t *T, n int) {
		in := room(t, n, int32(-1))
		t.ok(t.ReduceScatterBlock(on(t, part(t.rank, n*t.size)).arg(), in.arg(), mpi.Sum))
		in.holds("part", sums(t.size, n*t.size)[t.rank*n:(t.rank+1)*n])
	})
	return list
}

// sums is the sum of part(r, n) over the ranks below size.
func sums(size, n int) []int32 {
	s := make([]int32, n)
	for r := range size {
		for i, v := range part(r, n) {
			s[i] += v
		}
	}
	return s
}

// vectorCases: parts of different lengths, some of none, with gaps between
// them, in another order than the ranks'.
func vectorCases() []Case {
	// length is rank r's, and placed where the parts lie in a buffer of total.
	length := func(scale int) func(r int) int { return func(r int) int { return (r * 7 % 5) * scale } }
	placed := func(size, scale int) (counts, displs []int, total int) {
		counts, displs = make([]int, size), make([]int, size)
		for i := range size {
			r := size - 1 - i // backwards
			counts[r] = length(scale)(r)
			displs[r] = total
			total += counts[r] + 2
		}
		return counts, displs, total
	}
	// spread is the parts where placed says, with gaps of -1.
	spread := func(size, scale int, of func(r, n int) []int32) []int32 {
		counts, displs, total := placed(size, scale)
		s := slices.Repeat([]int32{-1}, total)
		for r, n := range counts {
			copy(s[displs[r]:], of(r, n))
		}
		return s
	}
	var list []Case
	for _, scale := range []int{1, 3000} {
		each := func(name string, f func(t *T)) {
			list = append(list, Case{Name: fmt.Sprintf("%s/%d", name, scale), Run: f})
		}
		each("gatherv", func(t *T) {
			counts, displs, total := placed(t.size, scale)
			for root := range t.size {
				out, in := on(t, part(t.rank, counts[t.rank])), room(t, total, int32(-1))
				if t.rank != root {
					t.ok(t.Gatherv(out.arg(), nil, nil, nil, root))
					continue
				}
				t.ok(t.Gatherv(out.arg(), in.arg(), counts, displs, root))
				in.holds(fmt.Sprint("at ", root), spread(t.size, scale, part))
			}
		})
		each("gathervPacked", func(t *T) {
			counts, _, _ := placed(t.size, scale)
			want := append([]int32{}, all(t.size, length(scale))...)
			in := room(t, len(want), int32(-1))
			t.ok(t.Gatherv(on(t, part(t.rank, counts[t.rank])).arg(), in.arg(), counts, nil, 0))
			if t.rank == 0 {
				in.holds("gathered", want)
			}
			// Who gives nothing may say nil.
			counts[0] = 0
			var own any
			if t.rank > 0 {
				own = on(t, part(t.rank, counts[t.rank])).arg()
			}
			total := 0
			for _, n := range counts {
				total += n
			}
			in = room(t, total, int32(-1))
			t.ok(t.Gatherv(own, in.arg(), counts, nil, 0))
		})
		each("scatterv", func(t *T) {
			counts, displs, _ := placed(t.size, scale)
			for root := range t.size {
				in := room(t, counts[t.rank], int32(-1))
				var from any
				if t.rank == root {
					from = on(t, spread(t.size, scale, part)).arg()
				}
				t.ok(t.Scatterv(from, counts, displs, in.arg(), root))
				in.holds(fmt.Sprint("from ", root), part(t.rank, counts[t.rank]))
			}
		})
		each("scattervShared", func(t *T) {
			// All get the same part: what is only read may overlap.
			counts, displs := slices.Repeat([]int{scale}, t.size), slices.Repeat([]int{1}, t.size)
			in := room(t, scale, int32(-1))
			t.ok(t.Scatterv(on(t, part(3, scale+1)).arg(), counts, displs, in.arg(), 0))
			in.holds("shared", part(3, scale+1)[1:])
		})
		each("allgatherv", func(t *T) {
			counts, displs, total := placed(t.size, scale)
			in := room(t, total, int32(-1))
			t.ok(t.Allgatherv(on(t, part(t.rank, counts[t.rank])).arg(), in.arg(), counts, displs))
			in.holds("gathered", spread(t.size, scale, part))
			want := append([]int32{}, all(t.size, length(scale))...)
			in = room(t, len(want), int32(-1))
			t.ok(t.Allgatherv(on(t, part(t.rank, counts[t.rank])).arg(), in.arg(), counts, nil))
			in.holds("packed", want)
		})
		each("alltoallv", func(t *T) {
			// Rank a sends b scale*((a+2b)%4) numbers.
			n := func(a, b int) int { return scale * ((a + 2*b) % 4) }
			var scounts, rcounts, rdispls []int
			var out, want []int32
			total := 0
			for r := range t.size {
				scounts = append(scounts, n(t.rank, r))
				rcounts = append(rcounts, n(r, t.rank))
				rdispls = append(rdispls, total+1)
				out = append(out, part(t.rank*10+r, n(t.rank, r))...)
				want = append(append(want, -1), part(r*10+t.rank, n(r, t.rank))...)
				total += n(r, t.rank) + 1
			}
			in := room(t, total, int32(-1))
			t.ok(t.Alltoallv(on(t, append([]int32{}, out...)).arg(), scounts, nil, in.arg(), rcounts, rdispls))
			in.holds("exchanged", want)
		})
		each("reduceScatter", func(t *T) {
			counts, _, _ := placed(t.size, scale)
			total, at := 0, 0
			for r, n := range counts {
				if r < t.rank {
					at += n
				}
				total += n
			}
			in := room(t, counts[t.rank], int32(-1))
			t.ok(t.ReduceScatter(on(t, part(t.rank, total)).arg(), in.arg(), counts, mpi.Sum))
			in.holds("part", sums(t.size, total)[at:at+counts[t.rank]])
		})
	}
	list = append(list, Case{Name: "vector/structs", Run: func(t *T) {
		// Counts are in structs, not in their bytes.
		counts := make([]int, t.size)
		var want []point
		of := func(r int) []point { return slices.Repeat([]point{{X: float64(r)}}, r+1) }
		for r := range counts {
			counts[r] = r + 1
			want = append(want, of(r)...)
		}
		in := make([]point, len(want))
		t.ok(t.Allgatherv(of(t.rank), in, counts, nil))
		t.same("gathered", in, want)
		mine := make([]point, t.rank+1)
		t.ok(t.Scatterv(in, counts, nil, mine, t.size-1))
		t.same("scattered", mine, of(t.rank))
		one := make([]point, t.size)
		t.ok(t.Allgather(of(t.rank)[:1], one))
		for r := range one {
			t.same("one of each", one[r], of(r)[0])
		}
	}})
	return list
}

// inPlaceCases: MPI_IN_PLACE wherever the standard allows it.
func inPlaceCases() []Case {
	var list []Case
	for _, n := range []int{1, 50, 20000} {
		each := func(name string, f func(t *T)) {
			list = append(list, Case{Name: fmt.Sprintf("inPlace/%s/%d", name, n), Run: f})
		}
		// own is a buffer for all ranks' parts, in which this rank's is.
		own := func(t *T, n int) *vec[int32] {
			s := slices.Repeat([]int32{-1}, n*t.size)
			copy(s[t.rank*n:], part(t.rank, n))
			return on(t, s)
		}
		each("gather", func(t *T) {
			root := t.size - 1
			if t.rank != root {
				t.ok(t.Gather(on(t, part(t.rank, n)).arg(), nil, root))
				return
			}
			b := own(t, n)
			t.ok(t.Gather(mpi.InPlace, b.arg(), root))
			b.holds("gathered", all(t.size, equally(n)))
		})
		each("scatter", func(t *T) {
			if t.rank == 0 {
				b := on(t, all(t.size, equally(n)))
				t.ok(t.Scatter(b.arg(), mpi.InPlace, 0))
				b.holds("root's", all(t.size, equally(n)))
				return
			}
			in := room(t, n, int32(-1))
			t.ok(t.Scatter(nil, in.arg(), 0))
			in.holds("scattered", part(t.rank, n))
		})
		each("allgather", func(t *T) {
			b := own(t, n)
			t.ok(t.Allgather(mpi.InPlace, b.arg()))
			b.holds("gathered", all(t.size, equally(n)))
		})
		each("allgatherv", func(t *T) {
			b := own(t, n)
			t.ok(t.Allgatherv(mpi.InPlace, b.arg(), slices.Repeat([]int{n}, t.size), nil))
			b.holds("gathered", all(t.size, equally(n)))
		})
		exchanged := func(t *T) (out, want []int32) {
			for r := range t.size {
				out = append(out, part(t.rank*10+r, n)...)
				want = append(want, part(r*10+t.rank, n)...)
			}
			return
		}
		each("alltoall", func(t *T) {
			out, want := exchanged(t)
			b := on(t, out)
			t.ok(t.Alltoall(mpi.InPlace, b.arg()))
			b.holds("exchanged", want)
		})
		each("alltoallv", func(t *T) {
			out, want := exchanged(t)
			b := on(t, out)
			t.ok(t.Alltoallv(mpi.InPlace, nil, nil, b.arg(), slices.Repeat([]int{n}, t.size), nil))
			b.holds("exchanged", want)
		})
		each("reduce", func(t *T) {
			root := t.size / 2
			b := on(t, part(t.rank, n))
			if t.rank == root {
				t.ok(t.Reduce(mpi.InPlace, b.arg(), mpi.Sum, root))
				b.holds("sum", sums(t.size, n))
				return
			}
			t.ok(t.Reduce(b.arg(), nil, mpi.Sum, root))
			b.holds("what was sent", part(t.rank, n))
		})
		each("allreduce", func(t *T) {
			b := on(t, part(t.rank, n))
			t.ok(t.Allreduce(mpi.InPlace, b.arg(), mpi.Sum))
			b.holds("sum", sums(t.size, n))
		})
		each("scan", func(t *T) {
			b := on(t, part(t.rank, n))
			t.ok(t.Scan(mpi.InPlace, b.arg(), mpi.Sum))
			b.holds("sum", sums(t.rank+1, n))
		})
		each("exscan", func(t *T) {
			b := on(t, part(t.rank, n))
			t.ok(t.Exscan(mpi.InPlace, b.arg(), mpi.Sum))
			if t.rank > 0 {
				b.holds("sum", sums(t.rank, n))
			}
		})
		each("reduceScatterBlock", func(t *T) {
			b := on(t, part(t.rank, n*t.size))
			t.ok(t.ReduceScatterBlock(mpi.InPlace, b.arg(), mpi.Sum))
			t.same("part", b.get()[:n], sums(t.size, n*t.size)[t.rank*n:(t.rank+1)*n])
		})
		each("reduceScatter", func(t *T) {
			b := on(t, part(t.rank, n*t.size))
			t.ok(t.ReduceScatter(mpi.InPlace, b.arg(), slices.Repeat([]int{n}, t.size), mpi.Sum))
			t.same("part", b.get()[:n], sums(t.size, n*t.size)[t.rank*n:(t.rank+1)*n])
		})
	}
	return list
}
