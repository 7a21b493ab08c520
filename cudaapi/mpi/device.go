package mpi

import (
	"crypto/rand"
	"fmt"
	"os"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi/internal/device"
	"gocuda/cudaapi/mpi/internal/transport"
)

// resolveDevice tells what memory of a device is. Its address is for reckoning,
// and for libraries that take it: this process cannot read there.
func resolveDevice(call string, b *cuda.Buffer) (memory, *Error) {
	if b == nil || b.Device() == nil {
		return memory{}, misuse(ErrBuffer, call, "the buffer is a nil *cuda.Buffer")
	}
	m := memory{Memory: transport.Memory{N: b.Bytes(), T: transport.Byte, Device: b}, elem: cudaTypes[b.Type()], size: b.Type().Size(), dev: b}
	at := b.Address()
	m.P = pointer(&at)
	return m, nil
}

// openDevices makes this process's part in messages of device memory.
func (w *world) openDevices() error {
	e, err := device.New(w.t.World().Rank(), device.Path(os.Getenv("GOCUDA_MPI_PATH")))
	if err != nil {
		return err
	}
	w.dev = e
	return nil
}

// agreeOnLibrary decides whether the library is given device memory: if it takes
// it at all ranks, and all have devices that it knows. It must never see an
// address of a simulated device.
func (w *world) agreeOnLibrary() error {
	w.whyAware = w.t.Info().Why
	if w.dev.Forced() == device.CUDAAware {
		w.whyAware = "GOCUDA_MPI_PATH says so"
	}
	if w.dev.Forced() == device.CUDAAware || w.dev.Forced() == device.Auto && w.t.Info().CUDAAware {
		devices, err := cuda.Backend()
		w.aware = err == nil && devices.Name == "nvidia"
		if !w.aware && w.dev.Forced() == device.CUDAAware {
			return fmt.Errorf("GOCUDA_MPI_PATH=%s: a library takes memory of NVIDIA's devices, and this rank has: %v", device.CUDAAware, devices)
		}
	}
	return w.world.Allreduce(w.aware, &w.aware, LAnd)
}

// agreeOnMark gives all ranks the mark of envelopes.
func (w *world) agreeOnMark() error {
	var mark [16]byte
	if w.world.rank == 0 {
		if _, err := rand.Read(mark[:]); err != nil {
			return err
		}
	}
	if err := w.world.Bcast(mark[:], 0); err != nil {
		return err
	}
	w.dev.Mark(mark)
	return nil
}

// ready makes sure that a device is done with what the library is to read or
// write, which knows of no streams.
func (m *memory) ready() error {
	if m.dev == nil {
		return nil
	}
	return m.dev.Device().DefaultStream().Synchronize()
}

// isendMemory starts a send of any memory, irecvMemory a receive.
func (c *Comm) isendMemory(m *memory, dest, tag int, synchronous bool) (transport.Request, error) {
	if m.spread != nil {
		return c.isendSpread(m, dest, tag, synchronous)
	}
	if m.dev != nil {
		if !c.w.aware {
			return c.port.Isend(m.dev, dest, tag, synchronous)
		}
		if err := m.ready(); err != nil {
			return nil, err
		}
	}
	if synchronous {
		return c.t.Issend(m.Memory, dest, tag)
	}
	return c.t.Isend(m.Memory, dest, tag)
}

func (c *Comm) irecvMemory(m *memory, source, tag int) (transport.Request, error) {
	switch {
	case m.spread != nil:
		return c.irecvSpread(m, func(p *memory) (transport.Request, error) { return c.irecvMemory(p, source, tag) })
	case c.w.aware:
		if err := m.ready(); err != nil {
			return nil, err
		}
	case m.dev != nil:
		return c.port.Irecv(m.dev, source, tag)
	default:
		return c.port.IrecvHost(m.Memory, source, tag)
	}
	return c.t.Irecv(m.Memory, source, tag)
}

// imrecvMemory receives a message that was set aside.
func (m *Message) imrecvMemory(to *memory) (transport.Request, error) {
	switch {
	case to.spread != nil:
		return m.c.irecvSpread(to, m.imrecvMemory)
	case m.c.w.aware:
		if err := to.ready(); err != nil {
			return nil, err
		}
	case to.dev != nil:
		return m.c.port.Imrecv(m.m, to.dev)
	default:
		return m.c.port.ImrecvHost(m.m, to.Memory)
	}
	return m.m.Imrecv(to.Memory)
}

// iprobeAny and improbeAny are the transport's, with the lengths of messages of device
// memory.
func (c *Comm) iprobeAny(source, tag int) (transport.Status, bool, error) {
	if c.w.aware {
		return c.t.Iprobe(source, tag)
	}
	return c.port.Iprobe(source, tag)
}

func (c *Comm) improbeAny(source, tag int) (transport.Message, transport.Status, bool, error) {
	if c.w.aware {
		return c.t.Improbe(source, tag)
	}
	return c.port.Improbe(source, tag)
}

// SendOn sends device memory in the order of a stream: what is sent is what the
// buffer holds when the stream's work so far is done, and the stream's later
// work waits until it has been read. The call does not wait for the device; it
// returns when the receive has begun at the other rank. Where messages go
// through the host (see [Path]) it waits for the data, too.
func (c *Comm) SendOn(buf *cuda.Buffer, dest, tag int, s *cuda.Stream) error {
	const call = "Comm.SendOn"
	m, err := c.onStream(call, buf, s)
	if err != nil {
		return err
	}
	if err := c.check(call, dest, tag); err != nil {
		return err
	}
	var r transport.Request
	var fail error
	if c.w.aware {
		if fail = s.Synchronize(); fail == nil {
			r, fail = c.t.Isend(m.Memory, dest, tag)
		}
	} else {
		r, fail = c.port.IsendOn(buf, dest, tag, s)
	}
	if fail != nil {
		return c.fail(call, dest, fail)
	}
	return c.wait(pending{c: c, call: call, r: r, peer: dest, tag: tag}, nil)
}

// RecvOn receives into device memory in the order of a stream: the data are
// written when the stream's work so far is done, and its later work finds them.
// The call waits until a message has come, but not for the device, but where
// messages go through the host.
func (c *Comm) RecvOn(buf *cuda.Buffer, source, tag int, s *cuda.Stream) (Status, error) {
	const call = "Comm.RecvOn"
	m, err := c.onStream(call, buf, s)
	if err != nil {
		return Status{}, err
	}
	if err := c.checkRecv(call, source, tag); err != nil {
		return Status{}, err
	}
	var r transport.Request
	var fail error
	if c.w.aware {
		if fail = s.Synchronize(); fail == nil {
			r, fail = c.t.Irecv(m.Memory, source, tag)
		}
	} else {
		r, fail = c.port.IrecvOn(buf, source, tag, s)
	}
	if fail != nil {
		return Status{}, c.fail(call, source, fail)
	}
	p := pending{c: c, call: call, r: r, peer: source, tag: tag, recv: true, size: m.size}
	return p.wait()
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
	return m, nil
}

// Path tells how device memory travels between this rank and a peer, and why:
// "cuda-aware" (the library takes it), "ipc" (from device to device) or "staged"
// (through the host). GOCUDA_MPI_PATH, set for all ranks, forces one. It
// tells of what it knows: that a peer's memory cannot be opened shows with the
// first message, which goes through the host then.
func Path(c *Comm, peer int) (path, why string) {
	const call = "mpi.Path"
	if err := c.usable(call); err != nil {
		return "", err.Error()
	}
	if peer < 0 || peer >= c.size {
		return "", c.noRank(ErrRank, call, "peer", peer).Error()
	}
	if c.w.aware {
		return string(device.CUDAAware), c.w.whyAware
	}
	return c.port.Path(peer)
}
