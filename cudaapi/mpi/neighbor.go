package mpi

import (
	"fmt"
	"slices"

	"gocuda/cudaapi/mpi/internal/transport"
)

func wrongLength(peer, got, want int) string {
	return fmt.Sprintf("rank %d sent %d bytes, and this rank expects %d from it", peer, got, want)
}

// graph is a communicator's topology as a graph: from whom this rank receives and to
// whom it sends.
type graph struct{ sources, dests []int }

// DistGraphCreateAdjacent makes a communicator of the same ranks with a graph
// (MPI_Dist_graph_create_adjacent): each rank names those that it receives from and
// those that it sends to, and a rank may be there several times. What one names the
// other must name, too. It is collective and blocks.
func (c *Comm) DistGraphCreateAdjacent(sources, dests []int) (*Comm, error) {
	const call = "Comm.DistGraphCreateAdjacent"
	var own []edge
	for _, r := range sources {
		own = append(own, edge{r, c.Rank(), 1})
	}
	for _, r := range dests {
		own = append(own, edge{c.Rank(), r, -1})
	}
	all, err := c.edges(call, own)
	if err != nil {
		return nil, err
	}
	open := map[[2]int]int{} // how much more often the receiver named an edge than the sender
	for _, e := range all {
		open[[2]int{e.from, e.to}] += e.n
	}
	for _, e := range all { // in their order, so that all ranks say the same
		switch n := open[[2]int{e.from, e.to}]; {
		case n > 0:
			return nil, c.misuse(ErrArg, call, "rank %d is to receive from rank %d, which does not send to it", e.to, e.from)
		case n < 0:
			return nil, c.misuse(ErrArg, call, "rank %d is to send to rank %d, which does not receive from it", e.from, e.to)
		}
	}
	return c.inGraph(call, &graph{slices.Clone(sources), slices.Clone(dests)})
}

// DistGraphCreate makes a communicator of the same ranks with a graph
// (MPI_Dist_graph_create). A rank may give any edges: those from sources[i], as many as
// degrees[i] says, go to the next of dests. It is collective and blocks.
func (c *Comm) DistGraphCreate(sources, degrees, dests []int) (*Comm, error) {
	const call = "Comm.DistGraphCreate"
	total := 0
	for _, n := range degrees {
		if n < 0 {
			return nil, c.misuse(ErrArg, call, "a degree of %d", n)
		}
		total += n
	}
	if len(degrees) != len(sources) || total != len(dests) {
		return nil, c.misuse(ErrArg, call, "%d sources with %d degrees, which come to %d, for %d destinations", len(sources), len(degrees), total, len(dests))
	}
	var own []edge
	for i, from := range sources {
		for range degrees[i] {
			own, dests = append(own, edge{from, dests[0], 1}), dests[1:]
		}
	}
	all, err := c.edges(call, own)
	if err != nil {
		return nil, err
	}
	g := &graph{}
	for _, e := range all {
		if e.to == c.rank {
			g.sources = append(g.sources, e.from)
		}
		if e.from == c.rank {
			g.dests = append(g.dests, e.to)
		}
	}
	return c.inGraph(call, g)
}

// edge is n edges of a graph.
type edge struct{ from, to, n int }

// edges are those that all ranks give.
func (c *Comm) edges(call string, own []edge) ([]edge, error) {
	if err := c.usable(call); err != nil {
		return nil, err
	}
	for _, e := range own {
		for _, r := range []int{e.from, e.to} {
			if uint(r) >= uint(c.size) {
				return nil, c.noRank(ErrRank, call, "neighbor", r)
			}
		}
	}
	counts := make([]int, c.size)
	if err := c.Allgather(len(own), counts); err != nil {
		return nil, err
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	all := make([]edge, total)
	return all, c.Allgatherv(own, all, counts, nil)
}

func (c *Comm) inGraph(call string, g *graph) (*Comm, error) {
	over, err := c.makes(call, dupKind)
	if err != nil {
		return nil, err
	}
	defer over()
	t, err := c.t.Dup()
	d, err := c.child(call, "graph", "", t, err)
	if d != nil {
		d.graph = g
	}
	return d, err
}

// Neighbors are the ranks that the neighborhood collectives receive from and send to, in
// their order (MPI_Dist_graph_neighbors). In a grid both are, for each dimension, the
// one before and the one behind, [ProcNull] beyond an edge.
func (c *Comm) Neighbors() (sources, dests []int, err error) {
	const call = "Comm.Neighbors"
	if err := c.usable(call); err != nil {
		return nil, nil, err
	}
	switch {
	case c.graph != nil:
		return slices.Clone(c.graph.sources), slices.Clone(c.graph.dests), nil
	case c.grid == nil:
		return nil, nil, c.misuse(ErrTopology, call, "%s has no topology", c.name).hint("CartCreate and DistGraphCreateAdjacent make communicators that have one")
	}
	for i := range c.grid.dims {
		before, after, err := c.CartShift(i, 1)
		if err != nil {
			return nil, nil, err
		}
		sources = append(sources, before, after)
	}
	return sources, slices.Clone(sources), nil
}

// neighbors reads the buffers of a neighborhood collective.
func (c *Comm) neighbors(call string, kind transport.Kind, send, recv any) (k arguments, sources, dests []int) {
	k = c.read(call, kind, 0, send, recv)
	if k.err != nil {
		return k, nil, nil
	}
	if k.s.inPlace {
		k.fault(ErrBuffer, "InPlace cannot be a buffer of this call")
	}
	sources, dests, err := c.Neighbors()
	if e, ok := err.(*Error); ok && k.err == nil {
		e.Call = call
		k.err = e
	}
	return k, sources, dests
}

// inOrderOf puts the pieces that come into the order in which they are sent. In a grid a
// rank sends to the one before first, whose neighbor after is this one: also where both are
// one rank, what is sent to the one before comes from behind.
func (c *Comm) inOrderOf(ins []piece) []piece {
	if c.graph == nil {
		for i := 0; i+1 < len(ins); i += 2 {
			ins[i], ins[i+1] = ins[i+1], ins[i]
		}
	}
	return ins
}

// NeighborAllgather sends one buffer to all neighbors, and brings theirs together in
// recv, in equal parts in the order of [Comm.Neighbors] (MPI_Neighbor_allgather). The
// part of a neighbor that is nobody stays as it is.
func (c *Comm) NeighborAllgather(send, recv any) error {
	return c.neighborAllgather("Comm.NeighborAllgather", transport.NeighborAllgather, send, recv, nil, nil).do()
}

// IneighborAllgather starts a NeighborAllgather.
func (c *Comm) IneighborAllgather(send, recv any) (*Request, error) {
	return c.neighborAllgather("Comm.IneighborAllgather", transport.NeighborAllgather, send, recv, nil, nil).begin()
}

// NeighborAllgatherInit makes a persistent NeighborAllgather (MPI_Neighbor_allgather_init).
func (c *Comm) NeighborAllgatherInit(send, recv any) (*Request, error) {
	return c.neighborAllgather("Comm.NeighborAllgatherInit", transport.NeighborAllgather, send, recv, nil, nil).persistent()
}

// NeighborAllgatherv is NeighborAllgather of different lengths
// (MPI_Neighbor_allgatherv): counts and displs are of recv, as Allgatherv's.
func (c *Comm) NeighborAllgatherv(send, recv any, counts, displs []int) error {
	return c.neighborAllgather("Comm.NeighborAllgatherv", transport.NeighborAllgatherv, send, recv, given(counts), displs).do()
}

// IneighborAllgatherv starts a NeighborAllgatherv.
func (c *Comm) IneighborAllgatherv(send, recv any, counts, displs []int) (*Request, error) {
	return c.neighborAllgather("Comm.IneighborAllgatherv", transport.NeighborAllgatherv, send, recv, given(counts), displs).begin()
}

// NeighborAllgathervInit makes a persistent NeighborAllgatherv (MPI_Neighbor_allgatherv_init).
func (c *Comm) NeighborAllgathervInit(send, recv any, counts, displs []int) (*Request, error) {
	return c.neighborAllgather("Comm.NeighborAllgathervInit", transport.NeighborAllgatherv, send, recv, given(counts), displs).persistent()
}

// NeighborAlltoall sends each neighbor its part of send, which are equal, and receives
// theirs into the parts of recv, both in the order of [Comm.Neighbors]
// (MPI_Neighbor_alltoall).
func (c *Comm) NeighborAlltoall(send, recv any) error {
	return c.neighborAlltoall("Comm.NeighborAlltoall", transport.NeighborAlltoall, send, nil, nil, recv, nil, nil).do()
}

// IneighborAlltoall starts a NeighborAlltoall.
func (c *Comm) IneighborAlltoall(send, recv any) (*Request, error) {
	return c.neighborAlltoall("Comm.IneighborAlltoall", transport.NeighborAlltoall, send, nil, nil, recv, nil, nil).begin()
}

// NeighborAlltoallInit makes a persistent NeighborAlltoall (MPI_Neighbor_alltoall_init).
func (c *Comm) NeighborAlltoallInit(send, recv any) (*Request, error) {
	return c.neighborAlltoall("Comm.NeighborAlltoallInit", transport.NeighborAlltoall, send, nil, nil, recv, nil, nil).persistent()
}

// NeighborAlltoallv is NeighborAlltoall of different lengths (MPI_Neighbor_alltoallv).
func (c *Comm) NeighborAlltoallv(send any, sendCounts, sendDispls []int, recv any, recvCounts, recvDispls []int) error {
	return c.neighborAlltoall("Comm.NeighborAlltoallv", transport.NeighborAlltoallv, send, given(sendCounts), sendDispls, recv, given(recvCounts), recvDispls).do()
}

// IneighborAlltoallv starts a NeighborAlltoallv.
func (c *Comm) IneighborAlltoallv(send any, sendCounts, sendDispls []int, recv any, recvCounts, recvDispls []int) (*Request, error) {
	return c.neighborAlltoall("Comm.IneighborAlltoallv", transport.NeighborAlltoallv, send, given(sendCounts), sendDispls, recv, given(recvCounts), recvDispls).begin()
}

// NeighborAlltoallvInit makes a persistent NeighborAlltoallv (MPI_Neighbor_alltoallv_init).
func (c *Comm) NeighborAlltoallvInit(send any, sendCounts, sendDispls []int, recv any, recvCounts, recvDispls []int) (*Request, error) {
	return c.neighborAlltoall("Comm.NeighborAlltoallvInit", transport.NeighborAlltoallv, send, given(sendCounts), sendDispls, recv, given(recvCounts), recvDispls).persistent()
}

// NeighborAlltoallw is NeighborAlltoall of a buffer for each neighbor, of whatever type,
// strided ones too: rows and columns of a grid's borders in one call
// (MPI_Neighbor_alltoallw).
func (c *Comm) NeighborAlltoallw(send, recv []any) error {
	return c.neighborAlltoallw("Comm.NeighborAlltoallw", send, recv).do()
}

// IneighborAlltoallw starts a NeighborAlltoallw.
func (c *Comm) IneighborAlltoallw(send, recv []any) (*Request, error) {
	return c.neighborAlltoallw("Comm.IneighborAlltoallw", send, recv).begin()
}

// NeighborAlltoallwInit makes a persistent NeighborAlltoallw (MPI_Neighbor_alltoallw_init).
func (c *Comm) NeighborAlltoallwInit(send, recv []any) (*Request, error) {
	return c.neighborAlltoallw("Comm.NeighborAlltoallwInit", send, recv).persistent()
}

// given are counts that are not left out.
func given(counts []int) []int {
	if counts == nil {
		return []int{}
	}
	return counts
}

func (c *Comm) neighborAllgather(call string, kind transport.Kind, send, recv any, counts, displs []int) arguments {
	k, sources, dests := c.neighbors(call, kind, send, recv)
	ins := k.cuts(&k.r, sources, counts, displs)
	if k.err != nil {
		return k
	}
	var outs []piece
	for _, r := range dests {
		outs = append(outs, piece{r, k.s})
	}
	return k.exchanges(outs, c.inOrderOf(ins))
}

func (c *Comm) neighborAlltoall(call string, kind transport.Kind, send any, scounts, sdispls []int, recv any, rcounts, rdispls []int) arguments {
	k, sources, dests := c.neighbors(call, kind, send, recv)
	outs, ins := k.cuts(&k.s, dests, scounts, sdispls), k.cuts(&k.r, sources, rcounts, rdispls)
	if k.err != nil {
		return k
	}
	return k.exchanges(outs, c.inOrderOf(ins))
}

func (c *Comm) neighborAlltoallw(call string, send, recv []any) arguments {
	k, sources, dests := c.neighbors(call, transport.NeighborAlltoallw, nil, nil)
	outs, ins := k.buffers("send", dests, send, false), k.buffers("receive", sources, recv, true)
	if k.err != nil {
		return k
	}
	return k.exchanges(outs, c.inOrderOf(ins))
}
