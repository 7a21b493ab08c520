package mpitest

import (
	"fmt"
	"slices"

	"gocuda/cudaapi/mpi"
)

// cartCases: ranks that lie in a grid, and what halo exchanges do there.
func cartCases() []Case {
	cases := []Case{
		{Name: "cart/dims", Most: 1, Run: func(t *T) {
			for _, c := range []struct {
				ranks     int
				dims, got []int
			}{
				{6, []int{0, 0}, []int{3, 2}}, {12, []int{0, 0, 0}, []int{3, 2, 2}}, {7, []int{0, 0}, []int{7, 1}}, {16, []int{0, 0}, []int{4, 4}},
				{8, []int{0, 4}, []int{2, 4}}, {8, []int{0, 2, 0}, []int{2, 2, 2}}, {1, []int{0, 0}, []int{1, 1}}, {24, []int{4, 6}, []int{4, 6}}, {1, nil, nil},
			} {
				got, err := mpi.DimsCreate(c.ranks, c.dims...)
				t.ok(err)
				t.same(fmt.Sprint(c.ranks, " as ", c.dims), got, c.got)
			}
			for _, c := range [][]int{{6, 4, 0}, {6, 2, 2}, {6, -1, 0}, {0, 0}, {6}} {
				_, err := mpi.DimsCreate(c[0], c[1:]...)
				t.is(err, mpi.ErrDims)
			}
		}},
		{Name: "cart/coordinates", Run: func(t *T) {
			dims, err := mpi.DimsCreate(t.size, 0, 0)
			t.ok(err)
			g := t.cart(dims, []bool{true, false})
			for r := range g.Size() {
				at, err := g.CartCoords(r)
				t.ok(err)
				t.same("coordinates", at, []int{r / dims[1], r % dims[1]})
				back, err := g.CartRank(at...)
				t.ok(err)
				t.same("rank", back, r)
				round, err := g.CartRank(at[0]-3*dims[0], at[1])
				t.ok(err)
				t.same("rank round the grid", round, r)
			}
			gotDims, gotPeriodic, at, err := g.CartGet()
			t.ok(err)
			mine, err := g.CartCoords(g.Rank())
			t.ok(err)
			t.same("of the grid", []any{gotDims, gotPeriodic, at}, []any{dims, []bool{true, false}, mine})
			t.ok(g.Free())
		}},
		{Name: "cart/shift", Run: func(t *T) {
			// Round a ring everybody gets the left neighbour's; in a line the first
			// gets nothing.
			for _, periodic := range []bool{true, false} {
				g := t.cart([]int{t.size}, []bool{periodic})
				from, to, err := g.CartShift(0, 1)
				t.ok(err)
				in := on(t, []int{-1})
				_, err = g.Sendrecv(on(t, []int{g.Rank()}).arg(), to, 0, in.arg(), from, 0)
				t.ok(err)
				want := g.Rank() - 1
				if want < 0 && periodic {
					want = t.size - 1
				}
				in.holds(fmt.Sprint("periodic ", periodic), []int{want})
				if from, to, err = g.CartShift(0, -t.size); err != nil || (from == mpi.ProcNull) == periodic || (to == mpi.ProcNull) == periodic {
					t.Errorf("a shift by the whole grid: from %d to %d, %v", from, to, err)
				}
				t.ok(g.Free())
			}
		}},
		{Name: "cart/sub", Ranks: 2, Run: func(t *T) {
			// Sums over the rows of a grid, and over its columns.
			dims, err := mpi.DimsCreate(t.size, 0, 0)
			t.ok(err)
			g := t.cart(dims, []bool{false, true})
			at, err := g.CartCoords(g.Rank())
			t.ok(err)
			for kept := range 2 {
				line, err := g.CartSub([]bool{kept == 0, kept == 1})
				t.ok(err)
				d, p, own, err := line.CartGet()
				t.ok(err)
				t.same("of the part", []any{d, p, own, line.Rank()}, []any{dims[kept : kept+1], []bool{kept == 1}, at[kept : kept+1], at[kept]})
				sum := on(t, []int{0})
				t.ok(line.Allreduce(on(t, []int{g.Rank()}).arg(), sum.arg(), mpi.Sum))
				want := 0
				for i := range dims[kept] {
					c := slices.Clone(at)
					c[kept] = i
					r, err := g.CartRank(c...)
					t.ok(err)
					want += r
				}
				sum.holds("sum over the part", []int{want})
				t.ok(line.Free())
			}
			t.ok(g.Free())
			dims, err = mpi.DimsCreate(t.size, 0, 0, 0)
			t.ok(err)
			g = t.cart(dims, []bool{false, false, false})
			line, err := g.CartSub([]bool{false, false, true})
			t.ok(err)
			t.same("ranks in a line of a cube", line.Size(), dims[2])
			t.ok(line.Free())
			t.ok(g.Free())
		}},
		{Name: "cart/dupAndLeftOver", Ranks: 2, Run: func(t *T) {
			g, err := t.CartCreate([]int{t.size - 1}, []bool{false})
			t.ok(err)
			if t.rank == t.size-1 {
				if g != nil {
					t.Errorf("a rank with no place in the grid got %v", g)
				}
				return
			}
			d, err := g.Dup()
			t.ok(err)
			at, err := d.CartCoords(g.Rank())
			t.ok(err)
			t.same("in the duplicate", at, []int{t.rank})
			t.ok(d.Free())
			t.ok(g.Free())
		}},
		{Name: "cart/errors", Run: func(t *T) {
			_, err := t.CartCreate([]int{t.size + 1}, []bool{false})
			t.is(err, mpi.ErrDims)
			_, err = t.CartCreate([]int{1, 0}, []bool{false, false})
			t.is(err, mpi.ErrDims)
			_, err = t.CartCreate([]int{1}, nil)
			t.is(err, mpi.ErrDims)
			_, err = t.CartCoords(0)
			t.is(err, mpi.ErrTopology)
			_, _, err = t.CartShift(0, 1)
			t.is(err, mpi.ErrTopology)
			g := t.cart([]int{t.size}, []bool{false})
			_, err = g.CartCoords(t.size)
			t.is(err, mpi.ErrRank)
			_, err = g.CartRank(-1)
			t.is(err, mpi.ErrArg)
			_, err = g.CartRank(0, 0)
			t.is(err, mpi.ErrDims)
			_, _, err = g.CartShift(1, 1)
			t.is(err, mpi.ErrDims)
			_, err = g.CartSub(nil)
			t.is(err, mpi.ErrDims)
			t.ok(g.Free())
		}},
	}
	for _, n := range []int{3, 40} {
		cases = append(cases, Case{Name: fmt.Sprintf("cart/halo/%d", n), Run: func(t *T) { t.halo(n) }})
	}
	return cases
}

// cart is a grid of all ranks.
func (t *T) cart(dims []int, periodic []bool) *mpi.Comm {
	g, err := t.CartCreate(dims, periodic)
	t.ok(err)
	return g
}

// halo has every rank hold n by n cells of a grid that is closed in itself, with a
// border of one cell; rows and columns are exchanged, by persistent requests, and
// then the border holds what the neighbours' edges do: for three turns.
func (t *T) halo(n int) {
	dims, err := mpi.DimsCreate(t.size, 0, 0)
	t.ok(err)
	g := t.cart(dims, []bool{true, true})
	at, err := g.CartCoords(g.Rank())
	t.ok(err)
	w := n + 2
	value := func(turn, row, col int) float64 { // of a cell of the whole grid
		rows, cols := dims[0]*n, dims[1]*n
		return float64(turn*1e6 + (row+rows)%rows*1000 + (col+cols)%cols)
	}
	cells := make([]float64, w*w)
	fill := func(turn int, border bool) {
		for i := range w {
			for j := range w {
				cells[i*w+j] = -1
				if edges := (i == 0 || i == w-1) && (j == 0 || j == w-1); inside(i, n) && inside(j, n) || border && !edges {
					cells[i*w+j] = value(turn, at[0]*n+i-1, at[1]*n+j-1)
				}
			}
		}
	}
	field := on(t, cells)
	column := func(j int) mpi.Strided { return mpi.Vector(field.cut(w+j, w*w), n, 1, w) }
	row := func(i int) mpi.Strided { return mpi.Subarray(field.arg(), []int{w, w}, []int{1, n}, []int{i, 1}) }
	var all []*mpi.Request
	for dim, line := range []func(int) mpi.Strided{row, column} {
		before, after, err := g.CartShift(dim, 1)
		t.ok(err)
		for tag, way := range []struct{ to, from, send, recv int }{{after, before, n, 0}, {before, after, 1, w - 1}} {
			in, err := g.RecvInit(line(way.recv), way.from, 2*dim+tag)
			t.ok(err)
			out, err := g.SendInit(line(way.send), way.to, 2*dim+tag)
			t.ok(err)
			all = append(all, in, out)
		}
	}
	for turn := range 3 {
		fill(turn, false)
		field.put(cells)
		t.ok(mpi.StartAll(all...))
		_, err := mpi.WaitAll(all...)
		t.ok(err)
		got := slices.Clone(field.get())
		fill(turn, true)
		t.same(fmt.Sprint("cells in turn ", turn), got, cells)
	}
	t.ok(g.Free())
}

func inside(i, n int) bool { return i > 0 && i <= n }
