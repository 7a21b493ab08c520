package mpi

import (
	"errors"
	"unsafe"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi/internal/transport"
)

// collectives are those that a transport.Comm has.
type collectives interface {
	reductions
	Ibcast(buf transport.Memory, root int) (transport.Request, error)
	Igather(send, recv transport.Memory, root int) (transport.Request, error)
	Igatherv(send, recv transport.Memory, counts, displs []int, root int) (transport.Request, error)
	Iscatter(send, recv transport.Memory, root int) (transport.Request, error)
	Iscatterv(send transport.Memory, counts, displs []int, recv transport.Memory, root int) (transport.Request, error)
	Iallgather(send, recv transport.Memory) (transport.Request, error)
	Iallgatherv(send, recv transport.Memory, counts, displs []int) (transport.Request, error)
	Ialltoall(send, recv transport.Memory) (transport.Request, error)
	Ialltoallv(send transport.Memory, scounts, sdispls []int, recv transport.Memory, rcounts, rdispls []int) (transport.Request, error)
}

// on gives who does a collective on these buffers.
func (c *Comm) on(s, r *memory) collectives {
	by := c.through(c.t, s, r)
	if c.size == 1 || !c.port.OneHost() {
		return by
	}
	return &grouped{collectives: by, c: c, send: s, recv: r}
}

// through is a transport's collectives, for buffers that may be device memory.
func (c *Comm) through(t transport.Comm, s, r *memory) collectives {
	if s.dev == nil && r.dev == nil {
		return t
	}
	return &staged{c: c, on: t, given: c.w.aware && t == c.t, send: s.dev, recv: r.dev}
}

// staged does collectives of device memory on copies of it on the host. What
// memory the other ranks have does not matter to it.
type staged struct {
	c          *Comm
	on         reductions // a collectives, but where only reductions are asked for
	given      bool       // on takes device memory
	send, recv *cuda.Buffer
}

func (d *staged) all() collectives { return d.on.(collectives) }

// run does f on the host, or has a library that takes device memory do it. keep
// says that recv is only read, at this rank.
func (d *staged) run(send, recv transport.Memory, keep bool, f func(send, recv transport.Memory) (transport.Request, error)) (transport.Request, error) {
	if !d.given {
		return d.onHost(send, recv, keep, f)
	}
	if err := errors.Join(ready(send), ready(recv)); err != nil {
		return nil, err
	}
	return f(send, recv)
}

// onHost does f on the host, whatever the library takes. So are reductions done:
// Open MPI's that do not block compute with the processor, in the memory that
// they are given.
func (d *staged) onHost(send, recv transport.Memory, keep bool, f func(send, recv transport.Memory) (transport.Request, error)) (transport.Request, error) {
	send, _, err := onHost(send, d.send)
	if err != nil {
		return nil, err
	}
	recv, host, err := onHost(recv, d.recv)
	if err != nil {
		return nil, err
	}
	r, err := f(send, recv)
	if err != nil || host == nil || keep {
		return r, err
	}
	return &restored{Request: r, host: host, dev: d.recv}, nil
}

// onHost copies a device buffer and gives the part that m is of it.
func onHost(m transport.Memory, b *cuda.Buffer) (transport.Memory, []byte, error) {
	if b == nil || b.Len() == 0 || m.P == nil {
		return m, nil, nil
	}
	raw, err := b.As(cuda.Uint8)
	if err != nil {
		return m, nil, err
	}
	words := make([]complex128, (b.Bytes()+15)/16) // aligned for every type
	host := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), b.Bytes())
	if err := raw.Download(host); err != nil {
		return m, nil, err
	}
	m.P, m.Device = unsafe.Pointer(&host[uintptr(m.P)-b.Address()]), nil
	return m, host, nil
}

// restored is a collective whose result goes to a device when it is over.
type restored struct {
	transport.Request
	host []byte
	dev  *cuda.Buffer
	err  error
}

func (r *restored) Test() (transport.Status, bool, error) {
	st, done, err := r.Request.Test()
	if !done || err != nil {
		return st, done, err
	}
	if r.host != nil {
		raw, err := r.dev.As(cuda.Uint8)
		if err == nil {
			err = raw.Upload(r.host)
		}
		r.host, r.err = nil, err
	}
	return st, true, r.err
}

func (d *staged) Ibcast(buf transport.Memory, root int) (transport.Request, error) {
	return d.run(transport.Memory{}, buf, d.c.rank == root, func(_, b transport.Memory) (transport.Request, error) {
		return d.all().Ibcast(b, root)
	})
}

func (d *staged) Ireduce(send, recv transport.Memory, op transport.Op, root int) (transport.Request, error) {
	return d.onHost(send, recv, d.c.rank != root, func(s, r transport.Memory) (transport.Request, error) {
		return d.on.Ireduce(s, r, op, root)
	})
}

func (d *staged) Iallreduce(send, recv transport.Memory, op transport.Op) (transport.Request, error) {
	return d.onHost(send, recv, false, func(s, r transport.Memory) (transport.Request, error) { return d.on.Iallreduce(s, r, op) })
}

func (d *staged) Iscan(send, recv transport.Memory, op transport.Op) (transport.Request, error) {
	return d.onHost(send, recv, false, func(s, r transport.Memory) (transport.Request, error) { return d.on.Iscan(s, r, op) })
}

func (d *staged) Iexscan(send, recv transport.Memory, op transport.Op) (transport.Request, error) {
	return d.onHost(send, recv, false, func(s, r transport.Memory) (transport.Request, error) { return d.on.Iexscan(s, r, op) })
}

func (d *staged) IreduceScatter(send, recv transport.Memory, counts []int, op transport.Op) (transport.Request, error) {
	return d.onHost(send, recv, false, func(s, r transport.Memory) (transport.Request, error) {
		return d.on.IreduceScatter(s, r, counts, op)
	})
}

func (d *staged) Igather(send, recv transport.Memory, root int) (transport.Request, error) {
	return d.run(send, recv, false, func(s, r transport.Memory) (transport.Request, error) { return d.all().Igather(s, r, root) })
}

func (d *staged) Igatherv(send, recv transport.Memory, counts, displs []int, root int) (transport.Request, error) {
	return d.run(send, recv, false, func(s, r transport.Memory) (transport.Request, error) {
		return d.all().Igatherv(s, r, counts, displs, root)
	})
}

func (d *staged) Iscatter(send, recv transport.Memory, root int) (transport.Request, error) {
	return d.run(send, recv, false, func(s, r transport.Memory) (transport.Request, error) { return d.all().Iscatter(s, r, root) })
}

func (d *staged) Iscatterv(send transport.Memory, counts, displs []int, recv transport.Memory, root int) (transport.Request, error) {
	return d.run(send, recv, false, func(s, r transport.Memory) (transport.Request, error) {
		return d.all().Iscatterv(s, counts, displs, r, root)
	})
}

func (d *staged) Iallgather(send, recv transport.Memory) (transport.Request, error) {
	return d.run(send, recv, false, func(s, r transport.Memory) (transport.Request, error) { return d.all().Iallgather(s, r) })
}

func (d *staged) Iallgatherv(send, recv transport.Memory, counts, displs []int) (transport.Request, error) {
	return d.run(send, recv, false, func(s, r transport.Memory) (transport.Request, error) {
		return d.all().Iallgatherv(s, r, counts, displs)
	})
}

func (d *staged) Ialltoall(send, recv transport.Memory) (transport.Request, error) {
	return d.run(send, recv, false, func(s, r transport.Memory) (transport.Request, error) { return d.all().Ialltoall(s, r) })
}

func (d *staged) Ialltoallv(send transport.Memory, scounts, sdispls []int, recv transport.Memory, rcounts, rdispls []int) (transport.Request, error) {
	return d.run(send, recv, false, func(s, r transport.Memory) (transport.Request, error) {
		return d.all().Ialltoallv(s, scounts, sdispls, r, rcounts, rdispls)
	})
}
