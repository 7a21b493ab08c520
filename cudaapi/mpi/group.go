package mpi

import (
	"gocuda/cudaapi/collective"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi/internal/device"
	"gocuda/cudaapi/mpi/internal/transport"
	"gocuda/cudaapi/symmetric"
)

// Collectives makes a group of the communicator's ranks for package
// collective: operations on device memory that can follow streams, by NCCL where
// it is there, with one or several buffers for each rank. It is collective and
// blocks. The ranks must be on one host, unless NCCL carries the operations.
func (c *Comm) Collectives() (*collective.Group, error) {
	d, err := c.Dup()
	if err != nil {
		return nil, err
	}
	d.own = true
	return collective.NewGroup(channel{d}), nil
}

// Symmetric makes memory of n elements at every rank, this one's on device d, that the
// kernels of all ranks reach: see package symmetric. It is collective and blocks. The
// ranks must be on one host.
func (c *Comm) Symmetric(d *cuda.Device, n int, t cuda.Type) (*symmetric.Memory, error) {
	own, err := c.Dup()
	if err != nil {
		return nil, err
	}
	own.own = true
	return symmetric.New(channel{own}, d, n, t)
}

// channel is a communicator as packages collective and symmetric use it: for bytes.
type channel struct{ *Comm }

// Send does not wait for the receiver.
func (c channel) Send(b []byte, to, tag int) error {
	p, err := c.isend("Group", b, to, tag, false)
	if err == nil {
		c.w.abandon(keeping{p.r, b})
		c.w.settle()
	}
	return err
}

// ID is what all ranks of the communicator, and of no other, have in records.
func (c channel) ID() string { return c.id }

// Lost is closed when a rank is lost.
func (c channel) Lost() <-chan struct{} { return c.lost() }

// Loss says which rank is.
func (c channel) Loss() error { return c.lossOf(&pending{c: c.Comm, call: "Group", peer: -1}) }

// keeping is a request that nobody waits for, and its memory.
type keeping struct {
	transport.Request
	data []byte
}

func (c channel) Recv(b []byte, from, tag int) error {
	_, err := c.Comm.Recv(b, from, tag)
	return err
}

// plainRanks are a transport's communicator as packages collective and oneshot use
// it, inside a call of this package: nothing interrupts it.
type plainRanks struct {
	t     transport.Comm
	first int // tag that stands for 0
}

// mortalRanks are those of a group, which must know when one is lost.
type mortalRanks struct {
	plainRanks
	c *Comm
}

func (r *mortalRanks) Lost() <-chan struct{} { return channel{r.c}.Lost() }
func (r *mortalRanks) Loss() error           { return channel{r.c}.Loss() }

func (r *plainRanks) Rank() int { return r.t.Rank() }
func (r *plainRanks) Size() int { return r.t.Size() }

func (r *plainRanks) Send(b []byte, to, tag int) error {
	q, err := r.t.Isend(device.Host(b), to, r.first+tag)
	if err == nil {
		go device.Wait(q) // most are over already
	}
	return err
}

func (r *plainRanks) Recv(b []byte, from, tag int) error {
	q, err := r.t.Irecv(device.Host(b), from, r.first+tag)
	if err == nil {
		err = device.Wait(q)
	}
	return err
}
