package mpi

import (
	"fmt"
	"slices"

	"gocuda/cudaapi/internal/handshake"
	"gocuda/cudaapi/mpi/internal/device"
	"gocuda/cudaapi/mpi/internal/transport"
)

// Group is some ranks in an order, by their numbers in the world (MPI_Group): they have no
// messages of their own. It is a slice: Incl, Excl, size and rank are g[i], slices.Delete,
// len and slices.Index.
type Group []int

// Group is the communicator's ranks (MPI_Comm_group).
func (c *Comm) Group() Group {
	g := make(Group, c.size)
	for i := range g {
		g[i] = c.port.WorldRank(i)
	}
	return g
}

// Union is g's ranks, then those of h that g has not (MPI_Group_union).
func (g Group) Union(h Group) Group { return append(slices.Clone(g), h.Difference(g)...) }

// Intersection is g's ranks that h has too (MPI_Group_intersection).
func (g Group) Intersection(h Group) Group {
	return slices.DeleteFunc(slices.Clone(g), func(r int) bool { return !slices.Contains(h, r) })
}

// Difference is g's ranks that h has not (MPI_Group_difference).
func (g Group) Difference(h Group) Group {
	return slices.DeleteFunc(slices.Clone(g), func(r int) bool { return slices.Contains(h, r) })
}

// Translate gives the places in h of g's ranks, and Undefined for those that it has not
// (MPI_Group_translate_ranks).
func (g Group) Translate(h Group) []int {
	places := make([]int, len(g))
	for i, r := range g {
		if places[i] = slices.Index(h, r); places[i] < 0 {
			places[i] = Undefined
		}
	}
	return places
}

// CreateGroup makes a communicator of a group, which only its ranks call
// (MPI_Comm_create_group). They must be ranks of c, and give the same group; tag tells
// calls apart that ranks make at once. It blocks.
func (c *Comm) CreateGroup(g Group, tag int) (*Comm, error) {
	const call = "Comm.CreateGroup"
	if err := c.usable(call); err != nil {
		return nil, err
	}
	if tag < 0 || tag > c.w.tagUB {
		return nil, c.misuse(ErrTag, call, "tag %d is not from 0 to %d", tag, c.w.tagUB)
	}
	ranks := g.Translate(c.Group())
	for i, r := range ranks {
		if r == Undefined || slices.Contains(ranks[:i], r) {
			return nil, c.misuse(ErrGroup, call, "rank %d of the world is not in %s, or twice in the group", g[i], c.name)
		}
	}
	if !slices.Contains(ranks, c.rank) {
		return nil, c.misuse(ErrGroup, call, "this rank is not in the group")
	}
	if c.size == 1 {
		return c.Dup()
	}
	t, err := c.t.(transport.Grouper).CreateGroup(ranks, tag) // both transports have it
	if err != nil {
		return nil, c.fail(call, -1, err)
	}
	// Ranks of c that are not in it have not counted it: the first one's count tells it apart.
	n, err := handshake.Gather(device.Channel(t), [2]int64{int64(c.w.t.World().Rank()), int64(c.groups.Add(1))})
	if err != nil {
		return nil, c.fail(call, -1, err)
	}
	name := fmt.Sprintf("%s.group%d-%d", c.name, n[0][0], n[0][1])
	d, err := newComm(c.w, t, name, fmt.Sprintf("%s.group%d-%d", c.id, n[0][0], n[0][1]))
	if err != nil {
		return nil, c.fail(call, -1, err)
	}
	return d, nil
}
