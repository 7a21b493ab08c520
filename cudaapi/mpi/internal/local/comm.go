package local

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"gocuda/cudaapi/mpi/internal/transport"
)

// Contexts of communicators are even; their collectives have the odd one above.
const (
	contextWorld = 0
	contextSelf  = 2
	contextEnd   = 4 // of Finalize: whatever went wrong on others, it is in step
	firstContext = 6
)

// comm is a communicator.
type comm struct {
	e      *engine
	rank   int
	group  []int // the world's ranks
	points *context
	colls  *context
}

func newComm(e *engine, id uint32, group []int) *comm {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := &comm{e: e, group: group, rank: slices.Index(group, e.rank), points: e.context(id), colls: e.context(id + 1)}
	rankOf := make(map[int]int, len(group))
	for i, r := range group {
		rankOf[r] = i
	}
	c.colls.entered = &entered{}
	for _, x := range []*context{c.points, c.colls} {
		x.group, x.rankOf, x.lost = group, rankOf, make(chan struct{})
		if e.lossIn(x) != nil {
			close(x.lost)
		}
	}
	return c
}

func (c *comm) Rank() int { return c.rank }
func (c *comm) Size() int { return len(c.group) }

// asRequest keeps a nil pointer from becoming a Request.
func asRequest(r *request, err error) (transport.Request, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (c *comm) Isend(buf transport.Memory, dest, tag int) (transport.Request, error) {
	return asRequest(c.e.isend(c.points, buf, dest, tag, 0, false))
}

func (c *comm) Issend(buf transport.Memory, dest, tag int) (transport.Request, error) {
	return asRequest(c.e.isend(c.points, buf, dest, tag, 0, true))
}

func (c *comm) Irecv(buf transport.Memory, source, tag int) (transport.Request, error) {
	return asRequest(c.e.irecv(c.points, buf, source, tag))
}

func (c *comm) Iprobe(source, tag int) (transport.Status, bool, error) {
	if source == transport.ProcNull {
		return nullStatus, true, nil
	}
	m, s, err := c.e.probe(c.points, source, tag, false)
	return s, m != nil, err
}

func (c *comm) Improbe(source, tag int) (transport.Message, transport.Status, bool, error) {
	if source == transport.ProcNull {
		return &message{}, nullStatus, true, nil
	}
	m, s, err := c.e.probe(c.points, source, tag, true)
	if m == nil {
		return nil, s, false, err
	}
	return &message{c.e, c.points, m}, s, true, nil
}

func (c *comm) Dup() (transport.Comm, error) {
	id, err := c.newContext()
	if err != nil {
		return nil, err
	}
	return newComm(c.e, id, c.group), nil
}

var errNoContext = &transport.Error{Class: transport.Other, Call: "MPI_Comm_dup", Text: "all numbers for communicators are used up"}

// newContext gives a context that no communicator has: the first rank allots it, out
// of those that only it allots, so that calls on several communicators at once need no
// agreement. Parts of a split share it, for they share no ranks.
func (c *comm) newContext() (uint32, error) {
	var id uint64 // 0: there are no more
	if c.rank == 0 {
		id = c.e.allot()
	}
	err := c.block(c.Start(&transport.Collective{Kind: transport.Bcast, Recv: one(&id)}))
	if err != nil {
		return 0, err
	}
	if id == 0 {
		return 0, errNoContext
	}
	return uint32(id), nil
}

// allot gives the next context of this rank's: every size-th pair is its own.
func (e *engine) allot() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	id := firstContext + 2*(e.allotted*uint64(e.size)+uint64(e.rank))
	if id > math.MaxUint32-1 {
		return 0
	}
	e.allotted++
	return id
}

func one(v *uint64) transport.Memory {
	return transport.Memory{P: unsafe.Pointer(v), N: 1, T: transport.Uint64}
}

// block waits for a collective that was begun.
func (c *comm) block(r transport.Request, err error) error {
	if err != nil {
		return err
	}
	_, _, err = r.(transport.Waiter).Wait(nil)
	return err
}

// choice is what a rank says in a split.
type choice struct{ color, key, rank int64 }

func (c *comm) Split(color, key int) (transport.Comm, error) {
	id, err := c.newContext()
	if err != nil {
		return nil, err
	}
	mine := choice{int64(color), int64(key), int64(c.rank)}
	all := make([]choice, c.Size())
	const each = int(unsafe.Sizeof(mine))
	err = c.block(c.Start(&transport.Collective{Kind: transport.Allgather,
		Send: transport.Memory{P: unsafe.Pointer(&mine), N: each, T: transport.Byte},
		Recv: transport.Memory{P: unsafe.Pointer(&all[0]), N: each, T: transport.Byte}}))
	if err != nil {
		return nil, err
	}
	if color == transport.Undefined {
		return nil, nil
	}
	all = slices.DeleteFunc(all, func(x choice) bool { return x.color != int64(color) })
	slices.SortStableFunc(all, func(a, b choice) int { return int(min(max(a.key-b.key, -1), 1)) })
	group := make([]int, len(all))
	for i, x := range all {
		if x.rank < 0 || int(x.rank) >= len(c.group) {
			return nil, &transport.Error{Class: transport.Internal, Call: "MPI_Comm_split", Text: fmt.Sprintf("a rank says that it is rank %d of %d", x.rank, len(c.group))}
		}
		group[i] = c.group[x.rank]
	}
	return newComm(c.e, id, group), nil
}

// CreateGroup has the first rank allot the context and tell the others, in a context that
// has no other messages.
func (c *comm) CreateGroup(ranks []int, tag int) (transport.Comm, error) {
	group := make([]int, len(ranks))
	for i, r := range ranks {
		group[i] = c.group[r]
	}
	e := c.e
	e.mu.Lock()
	aside := e.context(contextEnd)
	e.mu.Unlock()
	id := new(uint64)
	if first := group[0]; first != e.rank {
		if err := c.block(asRequest(e.irecv(aside, one(id), first, tag))); err != nil {
			return nil, err
		}
	} else {
		*id = e.allot()
		for _, r := range group[1:] {
			if err := c.block(asRequest(e.isend(aside, one(id), r, tag, 0, false))); err != nil {
				return nil, err
			}
		}
	}
	if *id == 0 {
		return nil, errNoContext
	}
	return newComm(e, uint32(*id), group), nil
}

// SplitShared: all ranks are on one machine.
func (c *comm) SplitShared(key int) (transport.Comm, error) { return c.Split(0, key) }

func (c *comm) Free() error {
	err := c.block(c.Start(&transport.Collective{Kind: transport.Barrier}))
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	delete(c.e.contexts, c.points.id)
	delete(c.e.contexts, c.colls.id)
	return err
}

// peersOf gives a collective its messages.
type peersOf struct {
	*comm
	sig uint32
}

func (p peersOf) Isend(buf transport.Memory, dest, tag int) (transport.Request, error) {
	r, err := p.e.isend(p.colls, buf, dest, tag, p.sig, false)
	if err != nil {
		return nil, err
	}
	return (*passive)(r), nil
}

func (p peersOf) Irecv(buf transport.Memory, source, tag int) (transport.Request, error) {
	r, err := p.e.irecv(p.colls, buf, source, tag)
	if err != nil {
		return nil, err
	}
	return (*passive)(r), nil
}
