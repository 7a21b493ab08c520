//go:build linux && (amd64 || arm64)

package libmpi

import (
	"unsafe"

	"gocuda/cudaapi/mpi/internal/transport"
)

// inPlace says whether m stands for MPI_IN_PLACE.
func inPlace(m transport.Memory) bool { return m.P == nil && m.T == 0 }

var functionOf = [...]function{
	transport.Barrier: mpiIbarrier, transport.Bcast: mpiIbcast,
	transport.Reduce: mpiIreduce, transport.Allreduce: mpiIallreduce, transport.Scan: mpiIscan, transport.Exscan: mpiIexscan,
	transport.ReduceScatter: mpiIreduceScatter,
	transport.Gather:        mpiIgather, transport.Gatherv: mpiIgatherv, transport.Scatter: mpiIscatter, transport.Scatterv: mpiIscatterv,
	transport.Allgather: mpiIallgather, transport.Allgatherv: mpiIallgatherv, transport.Alltoall: mpiIalltoall, transport.Alltoallv: mpiIalltoallv,
}

func (c *comm) Start(x *transport.Collective) (transport.Request, error) {
	f := functionOf[x.Kind]
	switch x.Kind {
	case transport.Barrier:
		r := c.request(f)
		return c.t.started(r, c.t.call(f, c.handle, r.out()))
	case transport.Bcast:
		return c.bcast(f, x)
	case transport.Reduce:
		return c.reduction(f, x, uintptr(x.Root))
	case transport.Allreduce, transport.Scan, transport.Exscan:
		return c.reduction(f, x)
	case transport.ReduceScatter:
		return c.reduceScatter(f, x)
	}
	return c.exchange(f, x)
}

func (c *comm) bcast(f function, x *transport.Collective) (transport.Request, error) {
	if err := c.t.device(x.Recv); err != nil {
		return nil, err
	}
	f, n, err := c.t.countable(f, x.Recv)
	if err != nil {
		return nil, err
	}
	defer c.t.free(n)
	r := c.request(f, x.Recv)
	return c.t.started(r, c.t.call(f, address(x.Recv.P), n.n, n.t, uintptr(x.Root), c.handle, r.out()))
}

func (c *comm) request(f function, bufs ...transport.Memory) *request {
	r := &request{t: c.t, f: f}
	for i, b := range bufs {
		r.keep[i], r.devices[i] = b.P, b.Device
	}
	return r
}

// reduction starts a call of the shape (send, recv, count, type, op, ..., comm).
// MPI's reductions take no made-up types: more than an int counts goes in parts
// where there is no variant for large counts.
func (c *comm) reduction(f function, x *transport.Collective, more ...uintptr) (transport.Request, error) {
	m, s := x.Send, address(x.Send.P)
	if inPlace(x.Send) {
		m, s = x.Recv, c.t.abi.inPlace
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
		off := uintptr(at * m.T.Size())
		from := s
		if !inPlace(x.Send) {
			from += off
		}
		to := address(x.Recv.P)
		if x.Recv.P != nil {
			to += off
		}
		r := c.request(f, x.Send, x.Recv)
		args := append([]uintptr{from, to, uintptr(n), c.t.typeOf(m), c.t.abi.ops[x.Op]}, more...)
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

func (c *comm) reduceScatter(f function, x *transport.Collective) (transport.Request, error) {
	s, m := address(x.Send.P), x.Send
	if inPlace(x.Send) {
		s, m = c.t.abi.inPlace, x.Recv
	}
	f, v, err := c.t.vectors(f, transport.Memory{}, x.RecvCounts)
	if err != nil {
		return nil, err
	}
	r := c.request(f, x.Send, x.Recv)
	copy(r.keep[2:], v)
	return c.t.started(r, c.t.call(f, s, address(x.Recv.P), address(v[0]), c.t.typeOf(m), c.t.abi.ops[x.Op], c.handle, r.out()))
}

// side is one of the two of an exchange.
type side struct {
	transport.Memory
	counts, displs []int
	parted         bool // counts and displacements, not a count, are its arguments
}

// exchange starts a call of the shape (send, ..., type, recv, ..., type, [root,]
// comm), whose sides have a count or, in parts, counts and displacements.
func (c *comm) exchange(f function, x *transport.Collective) (transport.Request, error) {
	sides := [2]side{
		{x.Send, x.SendCounts, x.SendDispls, x.Kind == transport.Scatterv || x.Kind == transport.Alltoallv},
		{x.Recv, x.RecvCounts, x.RecvDispls, x.Kind == transport.Gatherv || x.Kind == transport.Allgatherv || x.Kind == transport.Alltoallv},
	}
	if inPlace(x.Send) {
		sides[0].counts, sides[0].displs = nil, nil
	}
	if x.Kind.Rooted() && c.rank != x.Root { // one side is not looked at, and not in place
		unread := &sides[1]
		if x.Kind == transport.Scatter || x.Kind == transport.Scatterv {
			unread = &sides[0]
		}
		*unread = side{Memory: transport.Memory{T: transport.Byte}, parted: unread.parted}
	}
	send, recv := sides[0].Memory, sides[1].Memory
	if err := c.t.device(send, recv); err != nil {
		return nil, err
	}
	var lists [][]int
	var whole transport.Memory // of the side beside them, which may need the variant for large counts, too
	for _, s := range sides {
		if s.parted {
			lists = append(lists, s.counts, s.displs)
		} else {
			whole = s.Memory
		}
	}
	var arrays []unsafe.Pointer
	if lists != nil {
		var err error
		if f, arrays, err = c.t.vectors(f, whole, lists...); err != nil {
			return nil, err
		}
	}
	left := arrays
	args := make([]uintptr, 0, 12)
	for _, s := range sides {
		at := address(s.P)
		if inPlace(s.Memory) {
			at = c.t.abi.inPlace
		}
		if s.parted {
			args = append(args, at, address(left[0]), address(left[1]), c.t.typeOf(s.Memory))
			left = left[2:]
			continue
		}
		var n counted
		var err error
		if f, n, err = c.t.countable(f, s.Memory); err != nil {
			return nil, err
		}
		defer c.t.free(n)
		args = append(args, at, n.n, n.t)
	}
	if x.Kind.Rooted() {
		args = append(args, uintptr(x.Root))
	}
	r := c.request(f, send, recv)
	copy(r.keep[2:], arrays)
	return c.t.started(r, c.t.call(f, append(args, c.handle, r.out())...))
}
