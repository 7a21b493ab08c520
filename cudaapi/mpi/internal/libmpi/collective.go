//go:build linux && (amd64 || arm64)

package libmpi

import (
	"gocuda/cudaapi/mpi/internal/transport"
)

// inPlace says whether m stands for MPI_IN_PLACE.
func inPlace(m transport.Memory) bool { return m.P == nil && m.T == 0 }

// side is one buffer of a collective: its address, count and type.
func (t *Transport) side(f function, m transport.Memory) (function, uintptr, counted, error) {
	if inPlace(m) {
		return f, t.abi.inPlace, counted{t: t.abi.types[transport.Byte]}, nil
	}
	if err := t.device(m); err != nil {
		return f, 0, counted{}, err
	}
	f, n, err := t.countable(f, m)
	return f, address(m.P), n, err
}

func (c *comm) Ibarrier() (transport.Request, error) {
	r := c.request(mpiIbarrier)
	return c.t.started(r, c.t.call(r.f, c.handle, r.out()))
}

func (c *comm) Ibcast(buf transport.Memory, root int) (transport.Request, error) {
	if err := c.t.device(buf); err != nil {
		return nil, err
	}
	f, n, err := c.t.countable(mpiIbcast, buf)
	if err != nil {
		return nil, err
	}
	defer c.t.free(n)
	r := c.request(f, buf)
	return c.t.started(r, c.t.call(f, address(buf.P), n.n, n.t, uintptr(root), c.handle, r.out()))
}

func (c *comm) request(f function, bufs ...transport.Memory) *request {
	r := &request{t: c.t, f: f}
	for i, b := range bufs {
		r.keep[i], r.devices[i] = b.P, b.Device
	}
	return r
}

func (c *comm) Ireduce(send, recv transport.Memory, op transport.Op, root int) (transport.Request, error) {
	return c.reduction(mpiIreduce, send, recv, op, uintptr(root))
}

func (c *comm) Iallreduce(send, recv transport.Memory, op transport.Op) (transport.Request, error) {
	return c.reduction(mpiIallreduce, send, recv, op)
}

func (c *comm) Iscan(send, recv transport.Memory, op transport.Op) (transport.Request, error) {
	return c.reduction(mpiIscan, send, recv, op)
}

func (c *comm) Iexscan(send, recv transport.Memory, op transport.Op) (transport.Request, error) {
	return c.reduction(mpiIexscan, send, recv, op)
}

// reduction starts a call of the shape (send, recv, count, type, op, ..., comm).
// MPI's reductions take no made-up types: more than an int counts goes in parts
// where there is no variant for large counts.
func (c *comm) reduction(f function, send, recv transport.Memory, op transport.Op, more ...uintptr) (transport.Request, error) {
	m, s := send, address(send.P)
	if inPlace(send) {
		m, s = recv, c.t.abi.inPlace
	}
	step := m.N
	if m.N > maxCount {
		if c.t.has(f + large) {
			f += large
		} else {
			step = maxCount
		}
	}
	one := func(at, n int) (transport.Request, error) {
		off := uintptr(at * sizes[m.T])
		from := s
		if !inPlace(send) {
			from += off
		}
		to := address(recv.P)
		if recv.P != nil {
			to += off
		}
		r := c.request(f, send, recv)
		args := append([]uintptr{from, to, uintptr(n), c.t.typeOf(m), c.t.abi.ops[op]}, more...)
		return c.t.started(r, c.t.call(f, append(args, c.handle, r.out())...))
	}
	if step == m.N {
		return one(0, m.N)
	}
	var parts several
	for at := 0; at < m.N; at += step {
		r, err := one(at, min(step, m.N-at))
		if err != nil {
			return nil, err
		}
		parts = append(parts, r)
	}
	return parts, nil
}

func (c *comm) Igather(send, recv transport.Memory, root int) (transport.Request, error) {
	if c.rank != root {
		recv = transport.Memory{T: transport.Byte} // not looked at, and not in place
	}
	return c.exchange(mpiIgather, send, recv, uintptr(root))
}

func (c *comm) Iscatter(send, recv transport.Memory, root int) (transport.Request, error) {
	if c.rank != root {
		send = transport.Memory{T: transport.Byte}
	}
	return c.exchange(mpiIscatter, send, recv, uintptr(root))
}

func (c *comm) Iallgather(send, recv transport.Memory) (transport.Request, error) {
	return c.exchange(mpiIallgather, send, recv)
}

func (c *comm) Ialltoall(send, recv transport.Memory) (transport.Request, error) {
	return c.exchange(mpiIalltoall, send, recv)
}

// exchange starts a call of the shape (send, count, type, recv, count, type,
// ..., comm).
func (c *comm) exchange(f function, send, recv transport.Memory, more ...uintptr) (transport.Request, error) {
	fs, s, sn, err := c.t.side(f, send)
	if err != nil {
		return nil, err
	}
	defer c.t.free(sn)
	fr, r, rn, err := c.t.side(f, recv)
	if err != nil {
		return nil, err
	}
	defer c.t.free(rn)
	q := c.request(max(fs, fr), send, recv)
	args := append([]uintptr{s, sn.n, sn.t, r, rn.n, rn.t}, more...)
	return c.t.started(q, c.t.call(q.f, append(args, c.handle, q.out())...))
}

func (c *comm) Igatherv(send, recv transport.Memory, counts, displs []int, root int) (transport.Request, error) {
	if c.rank != root {
		recv, counts, displs = transport.Memory{}, nil, nil
	}
	return c.gatherv(mpiIgatherv, send, recv, counts, displs, uintptr(root))
}

func (c *comm) Iallgatherv(send, recv transport.Memory, counts, displs []int) (transport.Request, error) {
	return c.gatherv(mpiIallgatherv, send, recv, counts, displs)
}

func (c *comm) gatherv(f function, send, recv transport.Memory, counts, displs []int, more ...uintptr) (transport.Request, error) {
	if err := c.t.device(recv); err != nil {
		return nil, err
	}
	f, v, err := c.t.vectors(f, send, counts, displs)
	if err != nil {
		return nil, err
	}
	f, s, n, err := c.t.side(f, send)
	if err != nil {
		return nil, err
	}
	defer c.t.free(n)
	r := c.request(f, send, recv)
	copy(r.keep[2:], v)
	args := append([]uintptr{s, n.n, n.t, address(recv.P), address(v[0]), address(v[1]), c.t.typeOf(recv)}, more...)
	return c.t.started(r, c.t.call(f, append(args, c.handle, r.out())...))
}

func (c *comm) Iscatterv(send transport.Memory, counts, displs []int, recv transport.Memory, root int) (transport.Request, error) {
	if c.rank != root {
		send, counts, displs = transport.Memory{}, nil, nil
	}
	if err := c.t.device(send); err != nil {
		return nil, err
	}
	f, v, err := c.t.vectors(mpiIscatterv, recv, counts, displs)
	if err != nil {
		return nil, err
	}
	f, p, n, err := c.t.side(f, recv)
	if err != nil {
		return nil, err
	}
	defer c.t.free(n)
	r := c.request(f, send, recv)
	copy(r.keep[2:], v)
	return c.t.started(r, c.t.call(f, address(send.P), address(v[0]), address(v[1]), c.t.typeOf(send),
		p, n.n, n.t, uintptr(root), c.handle, r.out()))
}

func (c *comm) Ialltoallv(send transport.Memory, scounts, sdispls []int, recv transport.Memory, rcounts, rdispls []int) (transport.Request, error) {
	if err := c.t.device(send, recv); err != nil {
		return nil, err
	}
	s := address(send.P)
	if inPlace(send) {
		s, scounts, sdispls = c.t.abi.inPlace, nil, nil
	}
	f, v, err := c.t.vectors(mpiIalltoallv, transport.Memory{}, scounts, sdispls, rcounts, rdispls)
	if err != nil {
		return nil, err
	}
	r := c.request(f, send, recv)
	copy(r.keep[2:], v)
	return c.t.started(r, c.t.call(f, s, address(v[0]), address(v[1]), c.t.typeOf(send),
		address(recv.P), address(v[2]), address(v[3]), c.t.typeOf(recv), c.handle, r.out()))
}

func (c *comm) IreduceScatter(send, recv transport.Memory, counts []int, op transport.Op) (transport.Request, error) {
	s, m := address(send.P), send
	if inPlace(send) {
		s, m = c.t.abi.inPlace, recv
	}
	f, v, err := c.t.vectors(mpiIreduceScatter, transport.Memory{}, counts)
	if err != nil {
		return nil, err
	}
	r := c.request(f, send, recv)
	copy(r.keep[2:], v)
	return c.t.started(r, c.t.call(f, s, address(recv.P), address(v[0]), c.t.typeOf(m), c.t.abi.ops[op], c.handle, r.out()))
}
