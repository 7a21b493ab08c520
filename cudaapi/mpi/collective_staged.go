package mpi

import (
	"unsafe"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi/internal/transport"
)

// collectives does collectives: a transport.Comm, userReductions for the program's
// own operations, and what stands before them.
type collectives interface {
	Start(x *transport.Collective) (transport.Request, error)
}

// on gives who does a collective on these buffers.
func (c *Comm) on(s, r *memory) collectives {
	by := c.through(c.t, s, r)
	if c.size == 1 || !c.port.OneHost() {
		return by
	}
	return &grouped{collectives: by, c: c, send: *s, recv: *r}
}

// through is a transport's collectives, for buffers that may be device memory.
func (c *Comm) through(t transport.Comm, s, r *memory) collectives {
	if s.dev == nil && r.dev == nil {
		return inTurn{c, t}
	}
	return &staged{c: c, on: t, given: c.w.aware && t == c.t, send: s.dev, recv: r.dev}
}

// staged does collectives of device memory on copies of it on the host. What
// memory the other ranks have does not matter to it.
type staged struct {
	c          *Comm
	on         collectives
	given      bool // on takes device memory
	send, recv *cuda.Buffer
}

// Start does it on the host, or has a library that takes device memory do it.
// Reductions are done on the host, whatever the library takes: Open MPI's that do
// not block compute with the processor, in the memory that they are given.
func (d *staged) Start(x *transport.Collective) (transport.Request, error) {
	var waits []func() (bool, error)
	if d.given && !x.Kind.Reduces() {
		for _, m := range []transport.Memory{x.Send, x.Recv} {
			if b := deviceOf(m); b != nil {
				if err := d.follow(&waits, b, nil); err != nil {
					return nil, err
				}
			}
		}
		return d.c.inOrder(waits, func() (transport.Request, error) { return d.on.Start(x) })
	}
	var host []byte
	var err error
	copied := *x
	if copied.Send, _, err = d.onHost(&waits, x.Send, d.send); err != nil {
		return nil, err
	}
	if copied.Recv, host, err = d.onHost(&waits, x.Recv, d.recv); err != nil {
		return nil, err
	}
	return d.c.inOrder(waits, func() (transport.Request, error) {
		r, err := d.on.Start(&copied)
		if err != nil || host == nil || !d.receives(x) {
			return r, err
		}
		return &following{Request: r, then: func(int) (func() (bool, error), error) { return d.restore(host, d.written(x)) }}, nil
	})
}

// follow does what is to be done with a buffer behind the work of its default stream: at
// once, if that is idle; or else what waits is told how to ask for it.
func (d *staged) follow(waits *[]func() (bool, error), b *cuda.Buffer, do func(on *cuda.Stream) error) error {
	if idle, err := b.Device().DefaultStream().Query(); err != nil || idle {
		if err == nil && do != nil {
			err = do(nil)
		}
		return err
	}
	if do == nil {
		do = func(*cuda.Stream) error { return nil }
	}
	done, err := d.c.w.dev.After(b.Device(), nil, do)
	*waits = append(*waits, done)
	return err
}

// restore copies the result to the device, behind the work of the default stream. It
// tells how to ask whether that is done.
func (d *staged) restore(host []byte, parts []extent) (func() (bool, error), error) {
	raw, err := d.recv.As(cuda.Uint8)
	if err != nil {
		return nil, err
	}
	return d.c.w.dev.After(d.recv.Device(), nil, func(on *cuda.Stream) error {
		for _, p := range parts {
			if err := raw.Slice(p.lo, p.hi).UploadAsync(host[p.lo:p.hi], on); err != nil {
				return err
			}
		}
		return nil
	})
}

// receives reports whether this rank's receive buffer is written.
func (d *staged) receives(x *transport.Collective) bool {
	switch x.Kind {
	case transport.Bcast:
		return d.c.rank != x.Root
	case transport.Reduce:
		return d.c.rank == x.Root
	case transport.Exscan:
		return d.c.rank > 0
	}
	return true
}

// extent is some bytes of a buffer.
type extent struct{ lo, hi int }

// written are the bytes of the receive buffer that a collective writes at this rank.
// The rest is another's: of a collective that receives other parts, or of a kernel.
func (d *staged) written(x *transport.Collective) []extent {
	if x.RecvDispls == nil {
		return []extent{{0, d.recv.Bytes()}}
	}
	first, size := int(uintptr(x.Recv.P)-d.recv.Address()), x.Recv.T.Size()
	var parts []extent
	for r, n := range x.RecvCounts {
		lo := first + x.RecvDispls[r]*size
		switch last := len(parts) - 1; {
		case n == 0, r == d.c.rank && x.Send.InPlace() && x.Kind != transport.Alltoallv:
		case last >= 0 && parts[last].hi == lo:
			parts[last].hi += n * size
		default:
			parts = append(parts, extent{lo, lo + n*size})
		}
	}
	return parts
}

// onHost copies a device buffer, and gives the part that m is of it. The copy is there when
// nothing is waited for any more.
func (d *staged) onHost(waits *[]func() (bool, error), m transport.Memory, b *cuda.Buffer) (transport.Memory, []byte, error) {
	if b == nil || b.Len() == 0 || m.P == nil {
		return m, nil, nil
	}
	raw, err := b.As(cuda.Uint8)
	if err != nil {
		return m, nil, err
	}
	words := make([]complex128, (b.Bytes()+15)/16) // aligned for every type
	host := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), b.Bytes())
	err = d.follow(waits, b, func(on *cuda.Stream) error {
		if on == nil {
			return raw.Download(host)
		}
		return raw.DownloadAsync(host, on)
	})
	m.P, m.Device = unsafe.Pointer(&host[uintptr(m.P)-b.Address()]), nil
	return m, host, err
}
