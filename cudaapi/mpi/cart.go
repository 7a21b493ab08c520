package mpi

import (
	"slices"
	"strconv"

	"gocuda/cudaapi/mpi/internal/transport"
)

// grid is a communicator's Cartesian topology: its ranks lie in a grid, the last
// dimension's neighbours next to each other.
type grid struct {
	dims     []int
	periodic []bool
}

// size is how many ranks the grid has.
func (g *grid) size() int {
	n := 1
	for _, d := range g.dims {
		n *= d
	}
	return n
}

// coords is where a rank lies.
func (g *grid) coords(rank int) []int {
	at := make([]int, len(g.dims))
	for i := len(at) - 1; i >= 0; i-- {
		at[i] = rank % g.dims[i]
		rank /= g.dims[i]
	}
	return at
}

// rank is who lies at coords, wrapped where the grid is periodic; ok is false
// beyond an edge.
func (g *grid) rank(coords []int) (rank int, ok bool) {
	for i, at := range coords {
		if g.periodic[i] {
			at = (at%g.dims[i] + g.dims[i]) % g.dims[i]
		}
		if uint(at) >= uint(g.dims[i]) {
			return 0, false
		}
		rank = rank*g.dims[i] + at
	}
	return rank, true
}

// DimsCreate chooses a grid for so many ranks, as near to a square or a cube as
// may be (MPI_Dims_create): each 0 among dims is replaced, by sizes that fall from
// one to the next, and the others stay. DimsCreate(6, 0, 0) is 3 by 2.
func DimsCreate(ranks int, dims ...int) ([]int, error) {
	const call = "mpi.DimsCreate"
	left, free := ranks, 0
	for _, d := range dims {
		switch {
		case d < 0:
			return nil, misuse(ErrDims, call, "dimensions %v: one is negative", dims)
		case d == 0:
			free++
		case left%d != 0:
			return nil, misuse(ErrDims, call, "%d ranks cannot be laid out as %v: they are no multiple of what is given", ranks, dims)
		default:
			left /= d
		}
	}
	if ranks < 1 || free == 0 && left != 1 {
		return nil, misuse(ErrDims, call, "%d ranks cannot be laid out as %v", ranks, dims)
	}
	chosen := squarest(left, free, left)
	out := slices.Clone(dims)
	for i := range out {
		if out[i] == 0 {
			out[i], chosen = chosen[0], chosen[1:]
		}
	}
	return out, nil
}

// squarest parts n into k factors, none greater than most, that fall and whose
// greatest is the least possible; nil if there are none.
func squarest(n, k, most int) []int {
	if k == 0 {
		if n == 1 {
			return []int{}
		}
		return nil
	}
	for f := 1; f <= min(n, most); f++ {
		if n%f == 0 {
			if rest := squarest(n/f, k-1, f); rest != nil {
				return append([]int{f}, rest...)
			}
		}
	}
	return nil
}

// CartCreate makes a communicator whose ranks lie in a grid (MPI_Cart_create):
// dims[i] of them in dimension i, the last dimension's neighbours with ranks next
// to each other. Where periodic, the first and the last are neighbours too.
// Ranks keep their order, and those that are more than the grid has places get
// nil. It is collective and blocks. [DimsCreate] chooses dims.
func (c *Comm) CartCreate(dims []int, periodic []bool) (*Comm, error) {
	const call = "Comm.CartCreate"
	if err := c.usable(call); err != nil {
		return nil, err
	}
	g := &grid{slices.Clone(dims), slices.Clone(periodic)}
	if len(dims) != len(periodic) {
		return nil, c.misuse(ErrDims, call, "%d dimensions, but %d values that say which are periodic", len(dims), len(periodic))
	}
	for _, d := range dims {
		if d < 1 {
			return nil, c.misuse(ErrDims, call, "dimensions %v: each has one rank at least", dims)
		}
	}
	if g.size() > c.size {
		return nil, c.misuse(ErrDims, call, "a grid of %v has %d places, and %s only %d ranks", dims, g.size(), c.name, c.size).hint("mpi.DimsCreate chooses dimensions")
	}
	color := 0
	if c.rank >= g.size() {
		color = Undefined
	}
	over, err := c.makes(call, splitKind)
	if err != nil {
		return nil, err
	}
	defer over()
	t, err := c.t.Split(color, c.rank)
	return c.inGrid(call, "cart", color, g, t, err)
}

// CartSub parts a grid into grids of less dimensions: those that remain says are
// kept, and ranks that differ in no other come together (MPI_Cart_sub). It is
// collective and blocks.
func (c *Comm) CartSub(remain []bool) (*Comm, error) {
	const call = "Comm.CartSub"
	if err := c.gridded(call); err != nil {
		return nil, err
	}
	if len(remain) != len(c.grid.dims) {
		return nil, c.misuse(ErrDims, call, "%d values that say which of the %d dimensions remain", len(remain), len(c.grid.dims))
	}
	sub, color := &grid{}, 0
	for i, at := range c.grid.coords(c.rank) {
		if remain[i] {
			sub.dims, sub.periodic = append(sub.dims, c.grid.dims[i]), append(sub.periodic, c.grid.periodic[i])
		} else {
			color = color*c.grid.dims[i] + at
		}
	}
	over, err := c.makes(call, splitKind)
	if err != nil {
		return nil, err
	}
	defer over()
	t, err := c.t.Split(color, c.rank)
	return c.inGrid(call, "sub", color, sub, t, err)
}

// CartGet reports the grid, and where in it this rank lies (MPI_Cart_get).
func (c *Comm) CartGet() (dims []int, periodic []bool, coords []int, err error) {
	if err := c.gridded("Comm.CartGet"); err != nil {
		return nil, nil, nil, err
	}
	return slices.Clone(c.grid.dims), slices.Clone(c.grid.periodic), c.grid.coords(c.rank), nil
}

// CartCoords tells where a rank lies in the grid (MPI_Cart_coords).
func (c *Comm) CartCoords(rank int) ([]int, error) {
	const call = "Comm.CartCoords"
	if err := c.gridded(call); err != nil {
		return nil, err
	}
	if uint(rank) >= uint(c.size) {
		return nil, c.noRank(ErrRank, call, "rank", rank)
	}
	return c.grid.coords(rank), nil
}

// CartRank tells who lies at coords (MPI_Cart_rank). Beyond an edge that is not
// periodic nobody does: that is an error.
func (c *Comm) CartRank(coords ...int) (int, error) {
	const call = "Comm.CartRank"
	if err := c.gridded(call); err != nil {
		return 0, err
	}
	if len(coords) != len(c.grid.dims) {
		return 0, c.misuse(ErrDims, call, "%d coordinates for %d dimensions", len(coords), len(c.grid.dims))
	}
	rank, ok := c.grid.rank(coords)
	if !ok {
		return 0, c.misuse(ErrArg, call, "%v lies outside the grid of %v", coords, c.grid.dims)
	}
	return rank, nil
}

// CartShift tells this rank's neighbours steps away along a dimension
// (MPI_Cart_shift): from whom it receives and to whom it sends when all shift
// their data by so many places. Beyond an edge it is ProcNull, to whom and from
// whom messages are nothing.
func (c *Comm) CartShift(dimension, steps int) (source, dest int, err error) {
	const call = "Comm.CartShift"
	if err := c.gridded(call); err != nil {
		return ProcNull, ProcNull, err
	}
	if uint(dimension) >= uint(len(c.grid.dims)) {
		return ProcNull, ProcNull, c.misuse(ErrDims, call, "dimension %d of a grid that has %d", dimension, len(c.grid.dims))
	}
	at := func(by int) int {
		coords := c.grid.coords(c.rank)
		coords[dimension] += by
		if rank, ok := c.grid.rank(coords); ok {
			return rank
		}
		return ProcNull
	}
	return at(-steps), at(steps), nil
}

// gridded is checked by calls that need a grid.
func (c *Comm) gridded(call string) error {
	if err := c.usable(call); err != nil {
		return err
	}
	if c.grid == nil {
		return c.misuse(ErrTopology, call, "%s is not a grid", c.name).hint("Comm.CartCreate makes one")
	}
	return nil
}

// inGrid makes a communicator of what Split gave.
func (c *Comm) inGrid(call, how string, color int, g *grid, t transport.Comm, err error) (*Comm, error) {
	d, err := c.child(call, how, strconv.Itoa(color), t, err)
	if d != nil {
		d.grid = g
	}
	return d, err
}
