package mpi

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync/atomic"

	"gocuda/cudaapi/internal/allreduce"
	"gocuda/cudaapi/mpi/internal/device"
	"gocuda/cudaapi/mpi/internal/transport"
)

// Undefined, as the color of Split, says that this rank joins no part
// (MPI_UNDEFINED).
const Undefined = transport.Undefined

// Comm is a communicator: some ranks in an order, whose messages and collectives
// are apart from those of every other communicator.
type Comm struct {
	t transport.Comm
	// side is a duplicate for this package's own messages.
	side       transport.Comm
	messages   messages
	aside      messages     // of this package, on side
	port       *device.Port // of messages that may be device memory
	devices    deviceOperations
	starts     starts
	wish       allreduce.Algorithm // of who started the program, for Allreduce
	w          *world
	rank, size int
	name       string
	id         string  // in records: the same at all its ranks, and no other's
	own        bool    // only this package's own calls go over it, which are in no record
	book       *ledger // nil: none is kept
	grid       *grid   // its topology; nil: none
	graph      *graph  // another
	permanent  bool    // the world and self
	freed      atomic.Bool
	replaced   atomic.Bool  // by SetWorld
	children   atomic.Int32 // to name them
	tags       atomic.Int32 // of this package's own collectives on side
	exchanges  atomic.Int32
	groups     atomic.Int32 // communicators that CreateGroup made here
	notes      partNotes
}

// newComm wraps a communicator of the transport. It is collective over it.
func newComm(w *world, t transport.Comm, name, id string) (*Comm, error) {
	side, err := t.Dup()
	if err != nil {
		return nil, err
	}
	p, err := w.dev.Port(t, side)
	if err != nil {
		return nil, err
	}
	c := &Comm{t: t, side: side, messages: port{p, t}, aside: port{p.Aside(), side}, port: p, w: w, rank: t.Rank(), size: t.Size(), name: name, id: id}
	if w.aware {
		c.messages, c.aside = library{t, w.whyAware}, library{side, w.whyAware}
	}
	if c.book, err = newLedger(w, side, id, name); err != nil {
		return nil, err
	}
	c.wish, err = allreduce.Parse(os.Getenv("GOCUDA_MPI_ALLREDUCE"))
	return c, err
}

// Rank is this process's rank in the communicator, from 0 (MPI_Comm_rank).
func (c *Comm) Rank() int { return c.rank }

// Size is how many ranks the communicator has (MPI_Comm_size).
func (c *Comm) Size() int { return c.size }

// Name is what messages and reports call the communicator: "world", "self", or
// what it was made of, such as "world.split1".
func (c *Comm) Name() string { return c.name }

// SetName gives it another name at this rank (MPI_Comm_set_name).
func (c *Comm) SetName(name string) {
	c.name = name
	c.book.rename(name)
}

func (c *Comm) String() string {
	return fmt.Sprintf("rank %d of %d in %s", c.rank, c.size, c.name)
}

// usable is checked by every call.
func (c *Comm) usable(call string) error {
	switch {
	case c == nil:
		return misuse(ErrComm, call, "the communicator is nil").hint("Split gives nil to ranks of color Undefined")
	case c.w.finalized.Load():
		return c.misuse(ErrFinalized, call, "mpi.Finalize was called before")
	case c.freed.Load():
		return c.misuse(ErrComm, call, "%s was freed before", c.name)
	case c.replaced.Load():
		return c.misuse(ErrComm, call, "calls on this world were interrupted, so that its ranks are out of step").
			hint("mpi.World() gives the one that took its place")
	}
	return nil
}

// Dup makes a communicator of the same ranks, in the same grid if they are in
// one, whose messages are apart (MPI_Comm_dup). It is collective and blocks.
func (c *Comm) Dup() (*Comm, error) {
	const call = "Comm.Dup"
	if err := c.usable(call); err != nil {
		return nil, err
	}
	over, err := c.makes(call, dupKind)
	if err != nil {
		return nil, err
	}
	defer over()
	t, err := c.t.Dup()
	d, err := c.inGrid(call, "dup", 0, c.grid, t, err)
	if d != nil {
		d.graph = c.graph
	}
	return d, err
}

// Split parts the ranks by color, and orders each part by key, and by rank where
// keys are equal (MPI_Comm_split). A rank of color Undefined gets nil. It is
// collective and blocks.
func (c *Comm) Split(color, key int) (*Comm, error) {
	const call = "Comm.Split"
	if err := c.usable(call); err != nil {
		return nil, err
	}
	if color < 0 && color != Undefined || int(int32(color)) != color || int(int32(key)) != key {
		return nil, c.misuse(ErrArg, call, "color %d, key %d: the color must be Undefined or not negative, and both 32-bit", color, key)
	}
	over, err := c.makes(call, splitKind)
	if err != nil {
		return nil, err
	}
	defer over()
	t, err := c.t.Split(color, key)
	return c.child(call, "split", strconv.Itoa(color), t, err)
}

// SplitShared parts the ranks by host: those that can share memory come together
// (MPI_Comm_split_type with MPI_COMM_TYPE_SHARED). The rank in it is what a
// program chooses its device by. It is collective and blocks.
func (c *Comm) SplitShared(key int) (*Comm, error) {
	const call = "Comm.SplitShared"
	if err := c.usable(call); err != nil {
		return nil, err
	}
	if int(int32(key)) != key {
		return nil, c.misuse(ErrArg, call, "key %d is not 32-bit", key)
	}
	over, err := c.makes(call, splitSharedKind)
	if err != nil {
		return nil, err
	}
	defer over()
	t, err := c.t.SplitShared(key)
	host, _ := os.Hostname()
	return c.child(call, "shared", host, t, err)
}

// Create makes a communicator of the given ranks of c, in this order
// (MPI_Comm_create). All ranks of c call it with the same list, and those not in
// it get nil. It blocks.
func (c *Comm) Create(ranks []int) (*Comm, error) {
	const call = "Comm.Create"
	if err := c.usable(call); err != nil {
		return nil, err
	}
	for i, r := range ranks {
		if r < 0 || r >= c.size {
			return nil, c.noRank(ErrRank, call, "rank", r)
		}
		if slices.Contains(ranks[:i], r) {
			return nil, c.misuse(ErrRank, call, "rank %d is in the list twice", r)
		}
	}
	color, key := 0, slices.Index(ranks, c.rank)
	if key < 0 {
		color, key = Undefined, 0
	}
	over, err := c.makes(call, splitKind)
	if err != nil {
		return nil, err
	}
	defer over()
	t, err := c.t.Split(color, key)
	return c.child(call, "create", "", t, err)
}

// child is a communicator that was made of c, one of several if part tells them
// apart.
func (c *Comm) child(call, how, part string, t transport.Comm, err error) (*Comm, error) {
	n := c.children.Add(1)
	if err != nil {
		return nil, c.fail(call, -1, err)
	}
	if t == nil {
		return nil, nil
	}
	d, err := newComm(c.w, t, fmt.Sprintf("%s.%s%d", c.name, how, n), fmt.Sprintf("%s.%s%d:%s", c.id, how, n, part))
	if err != nil {
		return nil, c.fail(call, -1, err)
	}
	return d, nil
}

// Free ends the communicator (MPI_Comm_free). It is collective and blocks. The
// world and self cannot be freed.
func (c *Comm) Free() error {
	const call = "Comm.Free"
	if err := c.usable(call); err != nil {
		return err
	}
	if c.permanent {
		return c.misuse(ErrComm, call, "%s cannot be freed", c.name)
	}
	if !c.freed.CompareAndSwap(false, true) {
		return c.misuse(ErrComm, call, "%s was freed before", c.name)
	}
	if err := c.beginAll(call); err != nil {
		return err
	}
	if err := c.devices.close(); err != nil {
		return c.fail(call, -1, err)
	}
	if own := c.devices.own; own != nil {
		if err := own.Free(); err != nil {
			return c.fail(call, -1, err)
		}
	}
	if err := c.port.Settle(); err != nil {
		return c.fail(call, -1, err)
	}
	if err := c.side.Free(); err != nil {
		return c.fail(call, -1, err)
	}
	if err := c.t.Free(); err != nil {
		return c.fail(call, -1, err)
	}
	c.port.Free()
	c.w.forget(c.book)
	return nil
}

// wait blocks until what was started is over.
func (c *Comm) wait(p pending, err error) error {
	if err != nil {
		return err
	}
	_, err = p.wait()
	return err
}
