package mpi

import (
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi/internal/device"
	"gocuda/cudaapi/mpi/internal/transport"
	"gocuda/cudaapi/mpi/waitfor"
	"gocuda/cudaapi/record"
)

// messages carries a communicator's messages of host and of device memory: a
// library that takes both does, or a port of the device engine.
type messages interface {
	Isend(m transport.Memory, dest, tag int, synchronous bool) (transport.Request, error)
	Irecv(m transport.Memory, source, tag int) (transport.Request, error)
	Imrecv(from transport.Message, m transport.Memory) (transport.Request, error)
	// IsendOn and IrecvOn are for device memory, in the order of a stream.
	IsendOn(m transport.Memory, dest, tag int, s *cuda.Stream) (transport.Request, error)
	IrecvOn(m transport.Memory, source, tag int, s *cuda.Stream) (transport.Request, error)
	Iprobe(source, tag int) (transport.Status, bool, error)
	Improbe(source, tag int) (transport.Message, transport.Status, bool, error)
	Path(peer int) (path, why string)
}

// deviceOf is the buffer that m is, nil if m is host memory.
func deviceOf(m transport.Memory) *cuda.Buffer {
	b, _ := m.Device.(*cuda.Buffer)
	return b
}

// library is given device memory as it is. It knows of no streams, so the device
// is waited for before each call.
type library struct {
	transport.Comm
	why string
}

func ready(m transport.Memory) error {
	if b := deviceOf(m); b != nil {
		return b.Device().DefaultStream().Synchronize()
	}
	return nil
}

func (l library) Isend(m transport.Memory, dest, tag int, synchronous bool) (transport.Request, error) {
	if err := ready(m); err != nil {
		return nil, err
	}
	return isend(l.Comm, m, dest, tag, synchronous)
}

func isend(t transport.Comm, m transport.Memory, dest, tag int, synchronous bool) (transport.Request, error) {
	if synchronous {
		return t.Issend(m, dest, tag)
	}
	return t.Isend(m, dest, tag)
}

func (l library) Irecv(m transport.Memory, source, tag int) (transport.Request, error) {
	if err := ready(m); err != nil {
		return nil, err
	}
	return l.Comm.Irecv(m, source, tag)
}

func (l library) Imrecv(from transport.Message, m transport.Memory) (transport.Request, error) {
	if err := ready(m); err != nil {
		return nil, err
	}
	return from.Imrecv(m)
}

func (l library) IsendOn(m transport.Memory, dest, tag int, s *cuda.Stream) (transport.Request, error) {
	if err := s.Synchronize(); err != nil {
		return nil, err
	}
	return l.Comm.Isend(m, dest, tag)
}

func (l library) IrecvOn(m transport.Memory, source, tag int, s *cuda.Stream) (transport.Request, error) {
	if err := s.Synchronize(); err != nil {
		return nil, err
	}
	return l.Comm.Irecv(m, source, tag)
}

func (l library) Path(int) (path, why string) { return string(device.CUDAAware), l.why }

// port gives the transport host memory only. What is received into host memory
// goes through the engine, too, for its sender may give a device's.
type port struct {
	*device.Port
	host transport.Comm
}

func (p port) Isend(m transport.Memory, dest, tag int, synchronous bool) (transport.Request, error) {
	if b := deviceOf(m); b != nil {
		return p.Port.Isend(b, dest, tag, synchronous)
	}
	return isend(p.host, m, dest, tag, synchronous)
}

func (p port) Irecv(m transport.Memory, source, tag int) (transport.Request, error) {
	if b := deviceOf(m); b != nil {
		return p.Port.Irecv(b, source, tag)
	}
	return p.IrecvHost(m, source, tag)
}

func (p port) Imrecv(from transport.Message, m transport.Memory) (transport.Request, error) {
	if b := deviceOf(m); b != nil {
		return p.Port.Imrecv(from, b)
	}
	return p.ImrecvHost(from, m)
}

func (p port) IsendOn(m transport.Memory, dest, tag int, s *cuda.Stream) (transport.Request, error) {
	return p.Port.IsendOn(deviceOf(m), dest, tag, s)
}

func (p port) IrecvOn(m transport.Memory, source, tag int, s *cuda.Stream) (transport.Request, error) {
	return p.Port.IrecvOn(deviceOf(m), source, tag, s)
}

// isendMemory starts a send of any memory, strided too; irecvMemory and
// imrecvMemory start a receive into such, of a message to come or of one that was
// set aside.
func (c *Comm) isendMemory(m *memory, dest, tag int, synchronous bool) (transport.Request, error) {
	return c.isendBy(c.messages, m, dest, tag, synchronous)
}

// isendBy and irecvBy do it by the program's messages or by this package's.
func (c *Comm) isendBy(by messages, m *memory, dest, tag int, synchronous bool) (transport.Request, error) {
	if m.spread != nil {
		return c.isendSpread(by, m, dest, tag, synchronous)
	}
	return by.Isend(m.Memory, dest, tag, synchronous)
}

func (c *Comm) irecvMemory(m *memory, source, tag int) (transport.Request, error) {
	return c.irecvBy(c.messages, m, source, tag)
}

func (c *Comm) irecvBy(by messages, m *memory, source, tag int) (transport.Request, error) {
	if m.spread != nil {
		return c.irecvSpread(m, func(packed transport.Memory) (transport.Request, error) { return by.Irecv(packed, source, tag) })
	}
	return by.Irecv(m.Memory, source, tag)
}

func (m *Message) imrecvMemory(to *memory) (transport.Request, error) {
	if to.spread != nil {
		return m.c.irecvSpread(to, func(packed transport.Memory) (transport.Request, error) { return m.c.messages.Imrecv(m.m, packed) })
	}
	return m.c.messages.Imrecv(m.m, to.Memory)
}

// SendOn sends device memory in the order of a stream: what is sent is what the
// buffer holds when the stream's work so far is done, and the stream's later
// work waits until it has been read. The call does not wait for the device; it
// returns when the receive has begun at the other rank. Where messages go
// through the host (see [Path]) it waits for the data, too.
func (c *Comm) SendOn(buf *cuda.Buffer, dest, tag int, s *cuda.Stream) error {
	p, err := c.sendOn("Comm.SendOn", buf, dest, tag, s)
	return c.wait(p, err)
}

// sendOn starts it.
func (c *Comm) sendOn(call string, buf *cuda.Buffer, dest, tag int, s *cuda.Stream) (pending, error) {
	m, err := c.onStream(call, buf, s)
	if err != nil {
		return pending{}, err
	}
	if err := c.check(call, dest, tag); err != nil {
		return pending{}, err
	}
	told := c.message(record.Sends, dest, tag)
	if told != nil {
		told.Synchronous = true
	}
	out := c.queued(call, told, s, read(&m), nil)
	c.book.sends(dest, tag)
	r, err := c.messages.IsendOn(m.Memory, dest, tag, s)
	if err != nil {
		out.end()
		return pending{}, c.fail(call, dest, err)
	}
	return pending{c: c, call: call, r: r, peer: dest, tag: tag, transfer: out, bytes: m.length(), purpose: purpose{kind: waitfor.Send, synchronous: true}}, nil
}

// RecvOn receives into device memory in the order of a stream: the data are
// written when the stream's work so far is done, and its later work finds them.
// The call waits until a message has come, but not for the device, but where
// messages go through the host.
func (c *Comm) RecvOn(buf *cuda.Buffer, source, tag int, s *cuda.Stream) (Status, error) {
	p, came, err := c.recvOn("Comm.RecvOn", buf, source, tag, s)
	if err != nil {
		return Status{}, err
	}
	st, err := p.wait()
	if err == nil {
		came()
	}
	return st, err
}

// recvOn starts it; came is called when it has ended well.
func (c *Comm) recvOn(call string, buf *cuda.Buffer, source, tag int, s *cuda.Stream) (p pending, came func(), err error) {
	m, err := c.onStream(call, buf, s)
	if err != nil {
		return p, nil, err
	}
	if err := c.checkRecv(call, source, tag); err != nil {
		return p, nil, err
	}
	told := c.message(record.Receives, source, tag)
	if told != nil {
		told.InStream = true
	}
	asked := c.begin(call, told)
	from := asked.op
	c.book.posts(source, tag)
	r, err := c.messages.IrecvOn(m.Memory, source, tag, s)
	if err != nil {
		c.book.closes(source, tag)
		asked.end()
		return p, nil, c.fail(call, source, err)
	}
	p = pending{c: c, call: call, r: r, peer: source, tag: tag, recv: true, size: m.size, transfer: asked,
		bytes: m.length(), posted: c.book != nil, purpose: purpose{kind: waitfor.Recv}}
	return p, func() { c.queued(call, nil, s, written(&m), from) }, nil
}

// SendrecvOn does SendOn and RecvOn at once, so that ranks which all send to each other
// need no order among them. The buffers must not overlap.
func (c *Comm) SendrecvOn(send *cuda.Buffer, dest, sendTag int, recv *cuda.Buffer, source, recvTag int, s *cuda.Stream) (Status, error) {
	const call = "Comm.SendrecvOn"
	if out, err := c.onStream(call, send, s); err != nil {
		return Status{}, err
	} else if in, err := c.onStream(call, recv, s); err != nil {
		return Status{}, err
	} else if out.overlaps(&in) {
		return Status{}, c.misuse(ErrBuffer, call, "the send and receive buffers overlap")
	}
	if err := c.check(call, dest, sendTag); err != nil {
		return Status{}, err
	}
	in, came, err := c.recvOn(call, recv, source, recvTag, s)
	if err != nil {
		return Status{}, err
	}
	out, err := c.sendOn(call, send, dest, sendTag, s)
	if err != nil {
		if _, over, _ := in.giveUp(err); !over {
			c.w.abandon(in.r)
		}
		return Status{}, err
	}
	st, err := c.waitBoth(in, out)
	if err == nil {
		came()
	}
	return st, err
}

// onStream reads the buffer of a stream-ordered call.
func (c *Comm) onStream(call string, buf *cuda.Buffer, s *cuda.Stream) (memory, error) {
	m, err := resolveDevice(call, buf)
	switch {
	case err != nil:
		return m, c.at(err)
	case s == nil:
		return m, c.misuse(ErrArg, call, "the stream is nil").hint("the default stream is Device.DefaultStream()")
	case s.Device() != buf.Device():
		return m, c.misuse(ErrArg, call, "the stream is device %d's, the buffer on device %d", s.Device().Ordinal(), buf.Device().Ordinal())
	}
	if on, err := s.Capturing(); err == nil && on {
		return m, c.misuse(ErrArg, call, "the stream is captured, and a message cannot be part of a graph: it is sent once, with the other rank").hint("send before or after the capture")
	}
	return m, nil
}

// Path tells how device memory travels between this rank and a peer, and why:
// "cuda-aware" (the library takes it), "ipc" (from device to device) or "staged"
// (through the host). GOCUDA_MPI_PATH, set for all ranks, forces one. It
// reports what it knows: that a peer's memory cannot be opened shows with the
// first message, which goes through the host then.
func Path(c *Comm, peer int) (path, why string) {
	const call = "mpi.Path"
	if err := c.usable(call); err != nil {
		return "", err.Error()
	}
	if peer < 0 || peer >= c.size {
		return "", c.noRank(ErrRank, call, "peer", peer).Error()
	}
	return c.messages.Path(peer)
}
