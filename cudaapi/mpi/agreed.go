package mpi

import (
	"errors"
	"sync"

	"gocuda/cudaapi/collective"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/direct"
	"gocuda/cudaapi/mpi/internal/device"
	"gocuda/cudaapi/mpi/internal/transport"
)

// agreed does large broadcasts and reductions from device to device, if all
// ranks give device memory. Whether they do, they ask each other first; if one
// does not, all go through the host. What is small is not worth the question:
// its length is the same at all ranks, so all of them leave it out.
type agreed struct {
	collectives
	c          *Comm
	send, recv *memory
}

// worthAsking is from how many bytes on. A question costs some microseconds.
const worthAsking = 256 << 10

// together is a communicator's part in such operations, which are carried out
// one after the other.
type together struct {
	mu    sync.Mutex
	last  chan struct{} // closed when the one before is over
	tried bool
	group *collective.Group // nil: not possible
	own   transport.Comm    // the group's
	spare *cuda.Buffer      // for what must not be overwritten

	turn      uint64 // of the latest Allreduce, for the boards
	exchanges direct.Exchanges
}

// later is an operation that a goroutine carries out.
type later struct {
	done chan struct{}
	err  error
}

func (l *later) Test() (transport.Status, bool, error) {
	select {
	case <-l.done:
		return transport.Status{}, true, l.err
	default:
		return transport.Status{}, false, nil
	}
}

func (l *later) Cancel() error { return nil }

func (l *later) Done() <-chan struct{} { return l.done }

func (l *later) Wait(stop <-chan struct{}) (transport.Status, bool, error) {
	select {
	case <-l.done:
		return transport.Status{}, true, l.err
	case <-stop:
		return transport.Status{}, false, nil
	}
}

// ask starts an operation: fast, on buf's device, if all ranks can, otherwise
// slow, on the communicator's side.
func (a *agreed) ask(buf *cuda.Buffer, can bool, fast func(g *collective.Group) error, slow func(on collectives) (transport.Request, error)) transport.Request {
	t := &a.c.devices
	l := &later{done: make(chan struct{})}
	t.mu.Lock()
	before := t.last
	t.last = l.done
	t.mu.Unlock()
	go func() {
		defer close(l.done)
		if before != nil {
			<-before
		}
		l.err = a.asked(buf, can, fast, slow)
	}()
	return l
}

// asked asks the others and does it. buf is not looked at if this rank cannot.
func (a *agreed) asked(buf *cuda.Buffer, can bool, fast func(g *collective.Group) error, slow func(on collectives) (transport.Request, error)) error {
	all, err := a.c.all(can)
	if err != nil {
		return err
	}
	var d *cuda.Device
	if all {
		d = buf.Device()
	}
	return a.carryOut(all, d, fast, slow)
}

// carryOut does an operation whose ranks know whether all can do it fast.
func (a *agreed) carryOut(all bool, d *cuda.Device, fast func(g *collective.Group) error, slow func(on collectives) (transport.Request, error)) error {
	t := &a.c.devices
	if all && !t.tried {
		t.tried = true
		if err := a.c.openGroup(d); err != nil {
			return err
		}
	}
	if all && t.group != nil {
		return fast(t.group)
	}
	r, err := slow(a.c.through(a.c.side, a.send, a.recv))
	if err == nil {
		err = device.Wait(r)
	}
	return err
}

// all reports whether can is true at all ranks.
func (c *Comm) all(can bool) (bool, error) {
	v := []int32{0}
	if can {
		v[0] = 1
	}
	m := of(&v[0], 1, transport.Int32)
	in := make([]int32, 1)
	n := of(&in[0], 1, transport.Int32)
	r, err := c.side.Iallreduce(m.typed(transport.Int32), n.typed(transport.Int32), transport.Min)
	if err == nil {
		err = device.Wait(r)
	}
	return in[0] == 1, err
}

// openGroup makes the group, if the ranks can open each other's memory.
func (c *Comm) openGroup(d *cuda.Device) error {
	t := &c.devices
	own, err := c.side.Dup()
	if err != nil {
		return err
	}
	port, err := c.w.dev.Port(own, own)
	if err != nil {
		return err
	}
	why, err := port.Opens(d)
	if err != nil {
		return err
	}
	all, err := c.all(why == "")
	if err != nil || !all {
		return err
	}
	t.own = own
	t.group = collective.NewGroup(&line{own})
	return nil
}

// close waits for what is under way and gives the group back.
func (t *together) close() error {
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
	return errors.Join(append(errs, t.exchanges.Close())...)
}

// line is a transport's communicator as package collective uses it.
type line struct{ t transport.Comm }

func (l *line) Rank() int { return l.t.Rank() }
func (l *line) Size() int { return l.t.Size() }

func (l *line) Send(b []byte, to, tag int) error {
	m := bytesAt(b)
	r, err := l.t.Isend(m, to, tag)
	if err == nil {
		go device.Wait(r) // most are over already
	}
	return err
}

func (l *line) Recv(b []byte, from, tag int) error {
	r, err := l.t.Irecv(bytesAt(b), from, tag)
	if err == nil {
		err = device.Wait(r)
	}
	return err
}

func bytesAt(b []byte) transport.Memory {
	if len(b) == 0 {
		return transport.Memory{T: transport.Byte}
	}
	m := of(&b[0], len(b), transport.Uint8)
	return m.Memory
}

// shareable reports whether others can open a buffer.
func shareable(b *cuda.Buffer) bool {
	if b == nil {
		return false
	}
	_, err := b.IPCHandle()
	return err == nil
}

func (a *agreed) Ibcast(buf transport.Memory, root int) (transport.Request, error) {
	if buf.Bytes() < worthAsking {
		return a.collectives.Ibcast(buf, root)
	}
	dev := a.recv.dev
	return a.ask(dev, shareable(dev), func(g *collective.Group) error {
		return g.Broadcast(root, []*cuda.Buffer{dev}, nil)
	}, func(on collectives) (transport.Request, error) { return on.Ibcast(buf, root) }), nil
}

func (a *agreed) Iallreduce(send, recv transport.Memory, op transport.Op) (transport.Request, error) {
	if recv.Bytes() < worthAsking {
		return a.collectives.Iallreduce(send, recv, op)
	}
	from, to := a.send.dev, a.recv.dev
	if a.send.inPlace {
		from = to
	}
	return a.ask(to, computable(from, to, op), func(g *collective.Group) error {
		return reduceTo(g, to, from, op)
	}, func(on collectives) (transport.Request, error) { return on.Iallreduce(send, recv, op) }), nil
}

func (a *agreed) Ireduce(send, recv transport.Memory, op transport.Op, root int) (transport.Request, error) {
	n := send.Bytes()
	if a.send.inPlace {
		n = recv.Bytes()
	}
	if n < worthAsking {
		return a.collectives.Ireduce(send, recv, op, root)
	}
	from, to := a.send.dev, a.recv.dev
	if a.send.inPlace {
		from = to
	}
	if a.c.rank != root {
		to = from // stands for a spare one
	}
	return a.ask(to, computable(from, to, op), func(g *collective.Group) error {
		if a.c.rank != root {
			var err error
			if to, err = a.c.devices.aside(from); err != nil {
				return err
			}
		}
		return reduceTo(g, to, from, op)
	}, func(on collectives) (transport.Request, error) { return on.Ireduce(send, recv, op, root) }), nil
}

// computable reports whether a reduction of these can be done on the device.
func computable(from, to *cuda.Buffer, op transport.Op) bool {
	return shareable(from) && shareable(to) && from.Device() == to.Device() && cuda.ReduceOp(op).Allows(from.Type()) && from.Type() == to.Type()
}

// reduceTo combines the ranks' from in to. The operators have the same numbers
// in both packages.
func reduceTo(g *collective.Group, to, from *cuda.Buffer, op transport.Op, how ...collective.Option) error {
	if from != to {
		if err := cuda.MemcpyAsync(to, from, nil); err != nil {
			return err
		}
	}
	return g.Allreduce([]*cuda.Buffer{to}, nil, append(how, collective.Combining(cuda.ReduceOp(op)))...)
}

// aside is memory like b's.
func (t *together) aside(b *cuda.Buffer) (*cuda.Buffer, error) {
	if t.spare == nil || t.spare.Device() != b.Device() || t.spare.Bytes() < b.Bytes() {
		s, err := b.Device().Alloc(b.Bytes(), cuda.Uint8)
		if err != nil {
			return nil, err
		}
		t.spare = s
	}
	return t.spare.Slice(0, b.Bytes()).As(b.Type())
}
