package mpi

import (
	"cmp"
	"slices"

	"gocuda/cudaapi/mpi/internal/transport"
)

// Barrier blocks until all ranks have entered it (MPI_Barrier).
func (c *Comm) Barrier() error { return c.wait(c.barrier("Comm.Barrier")) }

// Ibarrier enters a barrier, whose request is complete when all ranks have.
func (c *Comm) Ibarrier() (*Request, error) { return request(c.barrier("Comm.Ibarrier")) }

// Bcast copies root's buf to that of every rank (MPI_Bcast). All must be of one
// length. It blocks until this rank's part is done, as all collectives do.
func (c *Comm) Bcast(buf any, root int) error { return c.wait(c.bcast("Comm.Bcast", buf, root)) }

// Ibcast starts a Bcast.
func (c *Comm) Ibcast(buf any, root int) (*Request, error) {
	return request(c.bcast("Comm.Ibcast", buf, root))
}

// Gather brings the send buffers of all ranks, which are of one length, together
// in root's recv, in the order of ranks (MPI_Gather). recv counts at the root
// only, and may be nil elsewhere.
func (c *Comm) Gather(send, recv any, root int) error {
	return c.wait(c.gather("Comm.Gather", send, recv, root))
}

// Igather starts a Gather.
func (c *Comm) Igather(send, recv any, root int) (*Request, error) {
	return request(c.gather("Comm.Igather", send, recv, root))
}

// Gatherv is Gather of different lengths (MPI_Gatherv): at the root, rank i's
// counts[i] elements go to recv from element displs[i] on. If displs is nil, the
// parts follow each other. counts and displs count at the root only.
func (c *Comm) Gatherv(send, recv any, counts, displs []int, root int) error {
	return c.wait(c.gatherv("Comm.Gatherv", send, recv, counts, displs, root))
}

// Igatherv starts a Gatherv.
func (c *Comm) Igatherv(send, recv any, counts, displs []int, root int) (*Request, error) {
	return request(c.gatherv("Comm.Igatherv", send, recv, counts, displs, root))
}

// Scatter hands root's send out in equal parts, in the order of ranks
// (MPI_Scatter). send counts at the root only, and may be nil elsewhere.
func (c *Comm) Scatter(send, recv any, root int) error {
	return c.wait(c.scatter("Comm.Scatter", send, recv, root))
}

// Iscatter starts a Scatter.
func (c *Comm) Iscatter(send, recv any, root int) (*Request, error) {
	return request(c.scatter("Comm.Iscatter", send, recv, root))
}

// Scatterv is Scatter of different lengths (MPI_Scatterv): rank i gets counts[i]
// elements of root's send from element displs[i] on. If displs is nil, the parts
// follow each other. counts and displs count at the root only.
func (c *Comm) Scatterv(send any, counts, displs []int, recv any, root int) error {
	return c.wait(c.scatterv("Comm.Scatterv", send, counts, displs, recv, root))
}

// Iscatterv starts a Scatterv.
func (c *Comm) Iscatterv(send any, counts, displs []int, recv any, root int) (*Request, error) {
	return request(c.scatterv("Comm.Iscatterv", send, counts, displs, recv, root))
}

// Allgather is Gather to every rank (MPI_Allgather).
func (c *Comm) Allgather(send, recv any) error {
	return c.wait(c.allgather("Comm.Allgather", send, recv))
}

// Iallgather starts an Allgather.
func (c *Comm) Iallgather(send, recv any) (*Request, error) {
	return request(c.allgather("Comm.Iallgather", send, recv))
}

// Allgatherv is Gatherv to every rank (MPI_Allgatherv).
func (c *Comm) Allgatherv(send, recv any, counts, displs []int) error {
	return c.wait(c.allgatherv("Comm.Allgatherv", send, recv, counts, displs))
}

// Iallgatherv starts an Allgatherv.
func (c *Comm) Iallgatherv(send, recv any, counts, displs []int) (*Request, error) {
	return request(c.allgatherv("Comm.Iallgatherv", send, recv, counts, displs))
}

// Alltoall sends the i-th of as many equal parts of send as there are ranks to
// rank i, and receives rank i's into the i-th part of recv (MPI_Alltoall).
func (c *Comm) Alltoall(send, recv any) error {
	return c.wait(c.alltoall("Comm.Alltoall", send, recv))
}

// Ialltoall starts an Alltoall.
func (c *Comm) Ialltoall(send, recv any) (*Request, error) {
	return request(c.alltoall("Comm.Ialltoall", send, recv))
}

// Alltoallv is Alltoall of different lengths (MPI_Alltoallv). Nil displs say
// that the parts follow each other. What this rank sends to i must be as long as
// what i expects from it.
func (c *Comm) Alltoallv(send any, sendCounts, sendDispls []int, recv any, recvCounts, recvDispls []int) error {
	return c.wait(c.alltoallv("Comm.Alltoallv", send, sendCounts, sendDispls, recv, recvCounts, recvDispls))
}

// Ialltoallv starts an Alltoallv.
func (c *Comm) Ialltoallv(send any, sendCounts, sendDispls []int, recv any, recvCounts, recvDispls []int) (*Request, error) {
	return request(c.alltoallv("Comm.Ialltoallv", send, sendCounts, sendDispls, recv, recvCounts, recvDispls))
}

// both reads the two buffers of a collective.
func (c *Comm) both(call string, send, recv any) (s, r memory, err error) {
	if err := c.usable(call); err != nil {
		return s, r, err
	}
	s, bad := resolve(call, send)
	if bad == nil {
		r, bad = resolve(call, recv)
	}
	switch {
	case bad != nil:
		return s, r, c.at(bad)
	case s.spread != nil || r.spread != nil:
		return s, r, c.misuse(ErrType, call, "a strided buffer is for messages").hint("copy its elements together, or send them one by one")
	case r.readOnly:
		return s, r, c.checkWritable(call, &r)
	case s.inPlace && r.inPlace:
		return s, r, c.misuse(ErrBuffer, call, "both buffers are InPlace")
	case s.overlaps(&r):
		return s, r, c.misuse(ErrBuffer, call, "the send and receive buffers overlap").hint("give mpi.InPlace for the one that MPI allows it for")
	}
	return s, r, nil
}

func (c *Comm) checkRoot(call string, root int) error {
	if uint(root) >= uint(c.size) {
		return c.noRank(ErrRoot, call, "root", root)
	}
	return nil
}

// onlySend checks buffers at a rank where recv does not count, onlyRecv where
// send does not.
func (c *Comm) onlySend(call string, s *memory) error {
	if s.inPlace {
		return c.misuse(ErrBuffer, call, "InPlace is for the root only")
	}
	return nil
}

func (c *Comm) onlyRecv(call string, r *memory) error {
	if r.inPlace {
		return c.misuse(ErrBuffer, call, "InPlace is for the root only")
	}
	return nil
}

// notInPlace checks the buffer for which MPI allows no MPI_IN_PLACE.
func (c *Comm) notInPlace(call, which string, m *memory) error {
	if m.inPlace {
		return c.misuse(ErrBuffer, call, "InPlace cannot be the %s buffer of this call", which)
	}
	return nil
}

// sameType checks that two buffers of one rank have the same element type.
func (c *Comm) sameType(call string, s, r *memory) error {
	if (s.elem != r.elem || s.size != r.size) && (s.elems() > 0 || r.elems() > 0) {
		return c.misuse(ErrType, call, "the send buffer holds %s of %d bytes, the receive buffer %s of %d", s.typeName(), s.size, r.typeName(), r.size)
	}
	return nil
}

// equalPart is how many elements of m each rank has.
func (c *Comm) equalPart(call, which string, m *memory) (int, error) {
	if m.elems()%c.size != 0 {
		return 0, c.misuse(ErrCount, call, "the %s buffer has %d elements, which %d ranks cannot share equally", which, m.elems(), c.size)
	}
	return m.elems() / c.size, nil
}

// exactly checks a length.
func (c *Comm) exactly(call, which string, m *memory, n int, why string) error {
	if m.elems() != n {
		return c.misuse(ErrCount, call, "the %s buffer has %d elements instead of %d: %s", which, m.elems(), n, why)
	}
	return nil
}

// layout checks the counts and displacements of a buffer in parts, and gives
// them in bytes.
func (c *Comm) layout(call, which string, m *memory, counts, displs []int, disjoint bool) (n, at []int, err error) {
	if len(counts) != c.size || displs != nil && len(displs) != c.size {
		return nil, nil, c.misuse(ErrCount, call, "%d counts and %d displacements for the %s buffer, and %d ranks", len(counts), len(displs), which, c.size)
	}
	n, at = make([]int, c.size), make([]int, c.size)
	next := 0
	for i, k := range counts {
		from := next
		if displs != nil {
			from = displs[i]
		}
		if k < 0 || from < 0 || from > m.elems() || k > m.elems()-from {
			return nil, nil, c.misuse(ErrCount, call, "rank %d's %d elements from %d on are not within the %s buffer of %d elements", i, k, from, which, m.elems())
		}
		n[i], at[i] = k*m.size, from*m.size
		next = from + k
	}
	if disjoint && displs != nil {
		if i, j, ok := overlapping(n, at); ok {
			return nil, nil, c.misuse(ErrBuffer, call, "the parts of ranks %d and %d overlap in the %s buffer", i, j, which)
		}
	}
	return n, at, nil
}

// started is what a collective on buffers gave, whose record is t.
func (c *Comm) started(call string, root int, t transfer, r transport.Request, err error) (pending, error) {
	if err != nil {
		t.end()
		return pending{}, c.fail(call, root, err)
	}
	return pending{c: c, call: call, r: r, peer: root, tag: -1, transfer: t}, nil
}

func (c *Comm) barrier(call string) (pending, error) {
	if err := c.usable(call); err != nil {
		return pending{}, err
	}
	r, err := c.t.Ibarrier()
	return c.started(call, -1, transfer{}, r, err)
}

func (c *Comm) bcast(call string, buf any, root int) (pending, error) {
	_, m, err := c.both(call, nil, buf)
	if m.readOnly && c.rank == root {
		err = nil
	}
	if err == nil {
		err = c.notInPlace(call, "only", &m)
	}
	if err == nil {
		err = c.checkRoot(call, root)
	}
	if err != nil {
		return pending{}, err
	}
	t := begin(call, nil, read(&m).only(c.rank == root), written(&m).only(c.rank != root))
	r, err := c.on(&memory{}, &m).Ibcast(m.Memory, root)
	return c.started(call, root, t, r, err)
}

func (c *Comm) gather(call string, send, recv any, root int) (pending, error) {
	s, r, part, err := c.toRoot(call, send, recv, root)
	if err == nil && c.rank == root {
		if part, err = c.equalPart(call, "receive", &r); err == nil && !s.inPlace {
			err = c.exactly(call, "receive", &r, s.elems()*c.size, "one send buffer of each rank")
		}
	}
	if err != nil {
		return pending{}, err
	}
	t := begin(call, nil, read(&s), written(&r).only(c.rank == root))
	req, err := c.on(&s, &r).Igather(s.Memory, r.part(part), root)
	return c.started(call, root, t, req, err)
}

func (c *Comm) gatherv(call string, send, recv any, counts, displs []int, root int) (pending, error) {
	s, r, _, err := c.toRoot(call, send, recv, root)
	var n, at []int
	if err == nil && c.rank == root {
		if n, at, err = c.layout(call, "receive", &r, counts, displs, true); err == nil && !s.inPlace {
			err = c.exactly(call, "send", &s, counts[root], "counts says so of this rank")
		}
	}
	if err != nil {
		return pending{}, err
	}
	t := begin(call, nil, read(&s), written(&r).parts(n, at).only(c.rank == root))
	req, err := c.on(&s, &r).Igatherv(s.Memory, r.Memory, n, at, root)
	return c.started(call, root, t, req, err)
}

// toRoot reads the buffers of Gather and Gatherv.
func (c *Comm) toRoot(call string, send, recv any, root int) (s, r memory, part int, err error) {
	if c.rank != root {
		recv = nil
	}
	if s, r, err = c.both(call, send, recv); err != nil {
		return
	}
	if err = c.checkRoot(call, root); err != nil {
		return
	}
	if c.rank != root {
		err = c.onlySend(call, &s)
	} else if err = c.notInPlace(call, "receive", &r); err == nil && !s.inPlace {
		err = c.sameType(call, &s, &r)
	}
	return
}

func (c *Comm) scatter(call string, send, recv any, root int) (pending, error) {
	s, r, part, err := c.fromRoot(call, send, recv, root)
	if err == nil && c.rank == root {
		if part, err = c.equalPart(call, "send", &s); err == nil && !r.inPlace {
			err = c.exactly(call, "send", &s, r.elems()*c.size, "one receive buffer of each rank")
		}
	}
	if err != nil {
		return pending{}, err
	}
	t := begin(call, nil, read(&s).only(c.rank == root), written(&r))
	req, err := c.on(&s, &r).Iscatter(s.part(part), r.Memory, root)
	return c.started(call, root, t, req, err)
}

func (c *Comm) scatterv(call string, send any, counts, displs []int, recv any, root int) (pending, error) {
	s, r, _, err := c.fromRoot(call, send, recv, root)
	var n, at []int
	if err == nil && c.rank == root {
		if n, at, err = c.layout(call, "send", &s, counts, displs, false); err == nil && !r.inPlace {
			err = c.exactly(call, "receive", &r, counts[root], "counts says so of this rank")
		}
	}
	if err != nil {
		return pending{}, err
	}
	t := begin(call, nil, read(&s).parts(n, at).only(c.rank == root), written(&r))
	req, err := c.on(&s, &r).Iscatterv(s.Memory, n, at, r.Memory, root)
	return c.started(call, root, t, req, err)
}

// fromRoot reads the buffers of Scatter and Scatterv.
func (c *Comm) fromRoot(call string, send, recv any, root int) (s, r memory, part int, err error) {
	if c.rank != root {
		send = nil
	}
	if s, r, err = c.both(call, send, recv); err != nil {
		return
	}
	if err = c.checkRoot(call, root); err != nil {
		return
	}
	if c.rank != root {
		err = c.onlyRecv(call, &r)
	} else if err = c.notInPlace(call, "send", &s); err == nil && !r.inPlace {
		err = c.sameType(call, &s, &r)
	}
	return
}

func (c *Comm) allgather(call string, send, recv any) (pending, error) {
	s, r, err := c.toAll(call, send, recv)
	var part int
	if err == nil {
		if part, err = c.equalPart(call, "receive", &r); err == nil && !s.inPlace {
			err = c.exactly(call, "receive", &r, s.elems()*c.size, "one send buffer of each rank")
		}
	}
	if err != nil {
		return pending{}, err
	}
	t := begin(call, nil, read(&s), written(&r))
	req, err := c.on(&s, &r).Iallgather(s.Memory, r.part(part))
	return c.started(call, -1, t, req, err)
}

func (c *Comm) allgatherv(call string, send, recv any, counts, displs []int) (pending, error) {
	s, r, err := c.toAll(call, send, recv)
	var n, at []int
	if err == nil {
		if n, at, err = c.layout(call, "receive", &r, counts, displs, true); err == nil && !s.inPlace {
			err = c.exactly(call, "send", &s, counts[c.rank], "counts says so of this rank")
		}
	}
	if err != nil {
		return pending{}, err
	}
	t := begin(call, nil, read(&s), written(&r).parts(n, at))
	req, err := c.on(&s, &r).Iallgatherv(s.Memory, r.Memory, n, at)
	return c.started(call, -1, t, req, err)
}

func (c *Comm) alltoall(call string, send, recv any) (pending, error) {
	s, r, err := c.toAll(call, send, recv)
	var part int
	if err == nil {
		if part, err = c.equalPart(call, "receive", &r); err == nil && !s.inPlace {
			err = c.exactly(call, "receive", &r, s.elems(), "as many as are sent")
		}
	}
	if err != nil {
		return pending{}, err
	}
	t := begin(call, nil, read(&s), written(&r))
	req, err := c.on(&s, &r).Ialltoall(s.part(part), r.part(part))
	return c.started(call, -1, t, req, err)
}

func (c *Comm) alltoallv(call string, send any, scounts, sdispls []int, recv any, rcounts, rdispls []int) (pending, error) {
	s, r, err := c.toAll(call, send, recv)
	var sn, sat, rn, rat []int
	if err == nil && !s.inPlace {
		sn, sat, err = c.layout(call, "send", &s, scounts, sdispls, false)
	}
	if err == nil {
		rn, rat, err = c.layout(call, "receive", &r, rcounts, rdispls, true)
	}
	if err == nil && !s.inPlace && sn[c.rank] != rn[c.rank] {
		err = c.misuse(ErrCount, call, "this rank sends itself %d elements and expects %d", scounts[c.rank], rcounts[c.rank])
	}
	if err != nil {
		return pending{}, err
	}
	t := begin(call, nil, read(&s).parts(sn, sat), written(&r).parts(rn, rat))
	req, err := c.on(&s, &r).Ialltoallv(s.Memory, sn, sat, r.Memory, rn, rat)
	return c.started(call, -1, t, req, err)
}

// toAll reads the buffers of collectives without a root.
func (c *Comm) toAll(call string, send, recv any) (s, r memory, err error) {
	if s, r, err = c.both(call, send, recv); err != nil {
		return
	}
	if err = c.notInPlace(call, "receive", &r); err == nil && !s.inPlace {
		err = c.sameType(call, &s, &r)
	}
	return
}

// overlapping finds two parts, of n[i] elements from at[i] on, that share
// elements.
func overlapping(n, at []int) (i, j int, ok bool) {
	order := make([]int, 0, len(n))
	for i := range n {
		if n[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	for k := 1; k < len(order); k++ {
		i, j = order[k-1], order[k]
		if at[i]+n[i] > at[j] {
			return min(i, j), max(i, j), true
		}
	}
	return 0, 0, false
}
