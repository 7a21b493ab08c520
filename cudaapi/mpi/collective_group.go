package mpi

import (
	"errors"
	"sync"
	"sync/atomic"

	"gocuda/cudaapi/collective"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/allreduce"
	"gocuda/cudaapi/internal/handshake"
	"gocuda/cudaapi/internal/oneshot"
	"gocuda/cudaapi/mpi/internal/device"
	"gocuda/cudaapi/mpi/internal/transport"
)

// grouped does large broadcasts and reductions from device to device, by package
// collective, if all ranks give device memory. Whether they do, they ask each other
// first; if one does not, all go through the host. What is small is not worth the
// question: its length is the same at all ranks, so all of them leave it out.
type grouped struct {
	collectives
	c          *Comm
	send, recv memory
}

// deviceOperations are a communicator's part in such operations, which are carried
// out one after the other.
type deviceOperations struct {
	mu    sync.Mutex
	last  chan struct{} // closed when the one before is over
	tried bool
	group *collective.Group // nil: not possible
	own   transport.Comm    // the group's
	spare *cuda.Buffer      // for what must not be overwritten

	call    uint64      // the number of the latest Allreduce, for the notices
	failed  atomic.Bool // one has, by the one-shot members
	oneShot oneshot.Members
}

// background is an operation that a goroutine carries out.
type background struct {
	done chan struct{}
	err  error
}

func inBackground(f func() error) *background {
	b := &background{done: make(chan struct{})}
	go func() {
		defer close(b.done)
		b.err = f()
	}()
	return b
}

func (b *background) Test() (transport.Status, bool, error) {
	if !isClosed(b.done) {
		return transport.Status{}, false, nil
	}
	return transport.Status{}, true, b.err
}

func (b *background) Cancel() error { return nil }

func (b *background) Done() <-chan struct{} { return b.done }

func (b *background) Wait(stop <-chan struct{}) (transport.Status, bool, error) {
	select {
	case <-b.done:
	case <-stop:
	}
	return b.Test()
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// ask starts an operation: fast, by the group, if all ranks can, otherwise through
// the host, on the communicator's side.
func (g *grouped) ask(x *transport.Collective, can bool, d *cuda.Buffer, fast func(g *collective.Group) error) transport.Request {
	t := &g.c.devices
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.last
	b := inBackground(func() error {
		if before != nil {
			<-before
		}
		all, err := handshake.All(device.Channel(g.c.side), can)
		if err == nil && all {
			all, err = t.open(g.c, d)
		}
		if err != nil {
			return err
		}
		if all {
			return fast(t.group)
		}
		r, err := g.c.through(g.c.side, &g.send, &g.recv).Start(x)
		if err == nil {
			err = device.Wait(r)
		}
		return err
	})
	t.last = b.done
	return b
}

// open makes the group, if the ranks can open each other's memory, and reports
// whether there is one. It is tried once, by all ranks, with a buffer of the device
// to try it on.
func (t *deviceOperations) open(c *Comm, b *cuda.Buffer) (bool, error) {
	if t.tried {
		return t.group != nil, nil
	}
	t.tried = true
	own, err := c.side.Dup()
	if err != nil {
		return false, err
	}
	port, err := c.w.dev.Port(own, own)
	if err != nil {
		return false, err
	}
	why, err := port.Opens(b.Device())
	if err != nil {
		return false, err
	}
	all, err := handshake.All(device.Channel(c.side), why == "")
	if err == nil && all {
		t.own, t.group = own, collective.NewGroup(&mortalRanks{plainRanks{t: own}, c})
	}
	return all, err
}

// close waits for what is under way and gives the group back.
func (t *deviceOperations) close() error {
	t.mu.Lock()
	last := t.last
	t.mu.Unlock()
	if last != nil {
		<-last
	}
	var errs []error
	if t.group != nil {
		errs = append(errs, t.group.Close())
		t.group = nil
	}
	return errors.Join(append(errs, t.oneShot.Close())...)
}

// shareable reports whether others can open a buffer.
func shareable(b *cuda.Buffer) bool {
	if b == nil {
		return false
	}
	_, err := b.IPCHandle()
	return err == nil
}

func (g *grouped) Start(x *transport.Collective) (transport.Request, error) {
	switch x.Kind {
	case transport.Bcast:
		if x.Recv.Bytes() < allreduce.AskBytes {
			return g.collectives.Start(x)
		}
		dev := g.recv.dev
		return g.ask(x, shareable(dev), dev, func(group *collective.Group) error {
			return group.Broadcast(x.Root, []*cuda.Buffer{dev}, nil)
		}), nil
	case transport.Allreduce, transport.Reduce:
		return g.reduce(x)
	}
	return g.collectives.Start(x)
}

func (g *grouped) reduce(x *transport.Collective) (transport.Request, error) {
	n := x.Send.Bytes()
	if g.send.inPlace {
		n = x.Recv.Bytes()
	}
	if call := (allreduce.Call{Want: g.c.wish, Bytes: n}); !call.WorthAsking() {
		return g.collectives.Start(x)
	}
	from, to := g.operands()
	bystander := x.Kind == transport.Reduce && g.c.rank != x.Root
	if bystander {
		to = from // stands for a spare one
	}
	return g.ask(x, computable(from, to, x.Op), to, func(group *collective.Group) error {
		if bystander {
			var err error
			if to, err = g.c.devices.aside(from); err != nil {
				return err
			}
		}
		return reduceTo(group, to, from, x.Op, g.c.wish)
	}), nil
}

// operands are the device buffers of a reduction; nil is host memory.
func (g *grouped) operands() (from, to *cuda.Buffer) {
	if g.send.inPlace {
		return g.recv.dev, g.recv.dev
	}
	return g.send.dev, g.recv.dev
}

// computable reports whether a reduction of these can be done on the device by all
// who can open them.
func computable(from, to *cuda.Buffer, op transport.Op) bool {
	return onOneDevice(from, to, op) && shareable(from) && shareable(to)
}

// onOneDevice reports whether a reduction of these can be done on their device. The
// operators have the same numbers in both packages.
func onOneDevice(from, to *cuda.Buffer, op transport.Op) bool {
	return from != nil && to != nil && from.Device() == to.Device() && from.Type() == to.Type() && cuda.ReduceOp(op).Allows(to.Type())
}

// reduceTo combines the ranks' from in to, by what the group chooses unless wish
// is one of its algorithms.
func reduceTo(g *collective.Group, to, from *cuda.Buffer, op transport.Op, wish allreduce.Algorithm) error {
	if from != to {
		if err := cuda.MemcpyAsync(to, from, nil); err != nil {
			return err
		}
	}
	how := collective.Auto
	if wish <= allreduce.NCCL {
		how = collective.Algorithm(wish)
	}
	return g.Allreduce([]*cuda.Buffer{to}, nil, collective.Using(how), collective.Combining(cuda.ReduceOp(op)))
}

// aside is memory like b's.
func (t *deviceOperations) aside(b *cuda.Buffer) (*cuda.Buffer, error) {
	if t.spare == nil || t.spare.Device() != b.Device() || t.spare.Bytes() < b.Bytes() {
		s, err := b.Device().Alloc(b.Bytes(), cuda.Uint8)
		if err != nil {
			return nil, err
		}
		t.spare = s
	}
	return t.spare.Slice(0, b.Bytes()).As(b.Type())
}
