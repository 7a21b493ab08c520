package mpitest

import (
	"fmt"
	"slices"

	"gocuda/cudaapi/mpi"
)

// finish waits for what was begun.
func finish(q *mpi.Request, err error) error {
	if err == nil {
		_, err = q.Wait()
	}
	return err
}

// neighborCases: Alltoallw, graphs, and the neighborhood collectives, in all three forms.
func neighborCases() []Case {
	const n = 200
	var cases []Case
	add := func(name string, run func(t *T)) { cases = append(cases, Case{Name: "neighbor/" + name, Run: run}) }
	// three calls a collective in its three forms, with what the receive buffer holds
	// before each.
	three := func(t *T, what string, reset, check func(), block func() error, begin, init func() (*mpi.Request, error)) {
		for _, f := range []struct {
			name string
			do   func() error
		}{{"blocking", block}, {"immediate", func() error { return finish(begin()) }}, {"persistent", func() error {
			q, err := init()
			for range 2 {
				if err == nil {
					err = q.Start()
				}
				if err == nil {
					_, err = q.Wait()
				}
			}
			return err
		}}} {
			reset()
			t.ok(f.do())
			check()
			if t.failed {
				t.Fatalf("%s, %s", what, f.name)
			}
		}
	}
	mark := func(from, to, edge int) []int32 { return part(from*40+to*3+edge, n) }
	// topology is one in which each rank sends mark(rank, dest, i) as its i-th part.
	type topology struct {
		name string
		make func(t *T) *mpi.Comm
		// comes is which part of which rank the i-th source sends here.
		comes func(t *T, g *mpi.Comm, sources []int, i int) int
	}
	ringGraph := func(t *T) *mpi.Comm {
		g, err := t.DistGraphCreateAdjacent([]int{t.prev()}, []int{t.next()})
		t.ok(err)
		return g
	}
	tops := []topology{
		{"ring graph", ringGraph, func(*T, *mpi.Comm, []int, int) int { return 0 }},
		{"graph by edges", func(t *T) *mpi.Comm {
			// Rank 0 knows all: each rank sends to the next, and to itself.
			var sources, degrees, dests []int
			if t.rank == 0 {
				for r := range t.size {
					sources, degrees, dests = append(sources, r), append(degrees, 2), append(dests, (r+1)%t.size, r)
				}
			}
			g, err := t.DistGraphCreate(sources, degrees, dests)
			t.ok(err)
			return g
		}, func(t *T, g *mpi.Comm, sources []int, i int) int {
			if t.size == 1 {
				return i
			}
			if sources[i] == t.rank {
				return 1
			}
			return 0
		}},
		{"periodic line", func(t *T) *mpi.Comm { return t.cart([]int{t.size}, []bool{true}) },
			func(_ *T, _ *mpi.Comm, _ []int, i int) int { return 1 - i }},
		{"line", func(t *T) *mpi.Comm { return t.cart([]int{t.size}, []bool{false}) },
			func(_ *T, _ *mpi.Comm, _ []int, i int) int { return 1 - i }},
		{"grid", func(t *T) *mpi.Comm {
			dims, err := mpi.DimsCreate(t.size, 0, 0)
			t.ok(err)
			return t.cart(dims, []bool{true, false})
		}, func(_ *T, _ *mpi.Comm, _ []int, i int) int { return i ^ 1 }},
	}
	for _, top := range tops {
		begin := func(t *T) (g *mpi.Comm, sources, dests []int, out, in *vec[int32], want []int32) {
			g = top.make(t)
			sources, dests, err := g.Neighbors()
			t.ok(err)
			var send []int32
			for i, to := range dests {
				send = append(send, mark(t.rank, to, i)...)
			}
			for i, from := range sources {
				if from == mpi.ProcNull {
					want = append(want, slices.Repeat([]int32{-1}, n)...)
				} else {
					want = append(want, mark(from, t.rank, top.comes(t, g, sources, i))...)
				}
			}
			return g, sources, dests, on(t, send), room(t, n*len(sources), int32(-1)), want
		}
		add("alltoall/"+top.name, func(t *T) {
			g, _, _, out, in, want := begin(t)
			three(t, top.name, func() { in.put(slices.Repeat([]int32{-1}, len(want))) }, func() { in.holds("parts", want) },
				func() error { return g.NeighborAlltoall(out.arg(), in.arg()) },
				func() (*mpi.Request, error) { return g.IneighborAlltoall(out.arg(), in.arg()) },
				func() (*mpi.Request, error) { return g.NeighborAlltoallInit(out.arg(), in.arg()) })
			t.ok(g.Free())
		})
		add("alltoallv/"+top.name, func(t *T) {
			g, sources, dests, out, in, want := begin(t)
			sc, rc := slices.Repeat([]int{n}, len(dests)), slices.Repeat([]int{n}, len(sources))
			three(t, top.name, func() { in.put(slices.Repeat([]int32{-1}, len(want))) }, func() { in.holds("parts", want) },
				func() error { return g.NeighborAlltoallv(out.arg(), sc, nil, in.arg(), rc, nil) },
				func() (*mpi.Request, error) { return g.IneighborAlltoallv(out.arg(), sc, nil, in.arg(), rc, nil) },
				func() (*mpi.Request, error) { return g.NeighborAlltoallvInit(out.arg(), sc, nil, in.arg(), rc, nil) })
			t.ok(g.Free())
		})
		add("alltoallw/"+top.name, func(t *T) {
			g, sources, dests, out, in, want := begin(t)
			var send, recv []any
			for i := range dests {
				send = append(send, out.cut(i*n, (i+1)*n))
			}
			for i := range sources {
				recv = append(recv, in.cut(i*n, (i+1)*n))
			}
			three(t, top.name, func() { in.put(slices.Repeat([]int32{-1}, len(want))) }, func() { in.holds("parts", want) },
				func() error { return g.NeighborAlltoallw(send, recv) },
				func() (*mpi.Request, error) { return g.IneighborAlltoallw(send, recv) },
				func() (*mpi.Request, error) { return g.NeighborAlltoallwInit(send, recv) })
			t.ok(g.Free())
		})
		gathers := func(t *T, sources []int) (out, in *vec[int32], want []int32) {
			for _, from := range sources {
				if from == mpi.ProcNull {
					want = append(want, slices.Repeat([]int32{-1}, n)...)
				} else {
					want = append(want, part(from, n)...)
				}
			}
			return on(t, part(t.rank, n)), room(t, len(want), int32(-1)), want
		}
		add("allgather/"+top.name, func(t *T) {
			g := top.make(t)
			sources, _, err := g.Neighbors()
			t.ok(err)
			out, in, want := gathers(t, sources)
			three(t, top.name, func() { in.put(slices.Repeat([]int32{-1}, len(want))) }, func() { in.holds("parts", want) },
				func() error { return g.NeighborAllgather(out.arg(), in.arg()) },
				func() (*mpi.Request, error) { return g.IneighborAllgather(out.arg(), in.arg()) },
				func() (*mpi.Request, error) { return g.NeighborAllgatherInit(out.arg(), in.arg()) })
			t.ok(g.Free())
		})
		add("allgatherv/"+top.name, func(t *T) {
			g := top.make(t)
			sources, _, err := g.Neighbors()
			t.ok(err)
			out, in, want := gathers(t, sources)
			counts := slices.Repeat([]int{n}, len(sources))
			three(t, top.name, func() { in.put(slices.Repeat([]int32{-1}, len(want))) }, func() { in.holds("parts", want) },
				func() error { return g.NeighborAllgatherv(out.arg(), in.arg(), counts, nil) },
				func() (*mpi.Request, error) { return g.IneighborAllgatherv(out.arg(), in.arg(), counts, nil) },
				func() (*mpi.Request, error) { return g.NeighborAllgathervInit(out.arg(), in.arg(), counts, nil) })
			t.ok(g.Free())
		})
	}
	add("noNeighbors", func(t *T) {
		g, err := t.DistGraphCreateAdjacent(nil, nil)
		t.ok(err)
		t.ok(g.NeighborAllgather([]int{1}, nil))
		t.ok(g.NeighborAlltoall(nil, nil))
		t.ok(g.NeighborAlltoallw(nil, nil))
		d, err := g.Dup()
		t.ok(err)
		sources, dests, err := d.Neighbors()
		t.ok(err)
		t.same("neighbors", len(sources)+len(dests), 0)
		t.ok(d.Free())
		t.ok(g.Free())
	})
	add("rowsAndColumns", func(t *T) {
		// The border of a field on a closed grid, in one call: rows and columns.
		const w = 8
		dims, err := mpi.DimsCreate(t.size, 0, 0)
		t.ok(err)
		g := t.cart(dims, []bool{true, true})
		f := room(t, w*w, float64(t.rank))
		row := func(i int) any { return mpi.Subarray(f.arg(), []int{w, w}, []int{1, w - 2}, []int{i, 1}) }
		column := func(j int) any { return mpi.Subarray(f.arg(), []int{w, w}, []int{w - 2, 1}, []int{1, j}) }
		t.ok(g.NeighborAlltoallw([]any{row(1), row(w - 2), column(1), column(w - 2)}, []any{row(0), row(w - 1), column(0), column(w - 1)}))
		sources, _, err := g.Neighbors()
		t.ok(err)
		got := f.get()
		t.same("borders", []float64{got[1], got[(w-1)*w+1], got[w], got[2*w-1]},
			[]float64{float64(sources[0]), float64(sources[1]), float64(sources[2]), float64(sources[3])})
		t.ok(g.Free())
	})
	add("errors", func(t *T) {
		t.is(t.NeighborAllgather([]int{1}, []int{1}), mpi.ErrTopology)
		_, _, err := t.Neighbors()
		t.is(err, mpi.ErrTopology)
		_, err = t.DistGraphCreate([]int{0}, []int{2}, []int{0})
		t.is(err, mpi.ErrArg)
		if t.size > 1 {
			_, err = t.DistGraphCreateAdjacent([]int{t.prev()}, nil) // to whom nobody sends
			t.is(err, mpi.ErrArg)
		}
		g := ringGraph(t)
		t.is(g.NeighborAlltoall(mpi.InPlace, []int{1}), mpi.ErrBuffer)
		t.is(g.NeighborAlltoall([]int{1}, []float64{1}), mpi.ErrType)
		t.is(g.NeighborAlltoallv([]int{1}, nil, nil, []int{1}, nil, nil), mpi.ErrCount)
		t.is(g.NeighborAlltoallw([]any{1, 2}, []any{nil}), mpi.ErrCount)
		t.is(g.NeighborAlltoallw([]any{1}, []any{2}), mpi.ErrBuffer)
		t.ok(g.Free())
	})
	add("otherLengths", func(t *T) {
		g := ringGraph(t)
		t.is(g.NeighborAllgather([]int{1}, []int{0, 0}), mpi.ErrCount)
		t.ok(g.Free())
	})
	cases = append(cases, Case{Name: "alltoallw/types", Run: func(t *T) {
		// To even ranks numbers, to odd ones halves of them as bytes; nothing to oneself.
		send, recv := make([]any, t.size), make([]any, t.size)
		check := make([]func(), t.size)
		for r := range t.size {
			check[r] = func() {}
			if r == t.rank {
				continue
			}
			if r%2 == 0 {
				send[r] = on(t, []float64{float64(t.rank), float64(r)}).arg()
			} else {
				send[r] = on(t, []int32{int32(t.rank), int32(r), 5}).arg()
			}
			if t.rank%2 == 0 {
				in := room(t, 2, -1.)
				recv[r], check[r] = in.arg(), func() { in.holds(fmt.Sprint("from ", r), []float64{float64(r), float64(t.rank)}) }
			} else {
				in := room(t, 3, int32(-1))
				recv[r], check[r] = in.arg(), func() { in.holds(fmt.Sprint("from ", r), []int32{int32(r), int32(t.rank), 5}) }
			}
		}
		three(t, "alltoallw", func() {}, func() {
			for _, f := range check {
				f()
			}
		}, func() error { return t.Alltoallw(send, recv) },
			func() (*mpi.Request, error) { return t.Ialltoallw(send, recv) },
			func() (*mpi.Request, error) { return t.AlltoallwInit(send, recv) })
	}}, Case{Name: "alltoallw/columns", Run: func(t *T) {
		// A matrix is transposed by blocks: columns are sent, rows received.
		m, back := room(t, t.size*4, int32(t.rank)), room(t, t.size*4, int32(-1))
		send, recv := make([]any, t.size), make([]any, t.size)
		var want []int32
		for r := range t.size {
			send[r] = mpi.Vector(m.cut(r, t.size*4), 4, 1, t.size)
			recv[r] = back.cut(r*4, r*4+4)
			want = append(want, slices.Repeat([]int32{int32(r)}, 4)...)
		}
		t.ok(t.Alltoallw(send, recv))
		back.holds("rows", want)
	}}, Case{Name: "alltoallw/errors", Run: func(t *T) {
		t.is(t.Alltoallw(nil, make([]any, t.size)), mpi.ErrCount)
		t.is(t.Alltoallw(make([]any, t.size), make([]any, t.size+1)), mpi.ErrCount)
	}})
	return cases
}
