package mpi

import "gocuda/cudaapi/mpi/internal/transport"

// Reduce combines the send buffers of all ranks, element by element, into
// root's recv (MPI_Reduce). recv counts at the root only, and may be nil
// elsewhere.
func (c *Comm) Reduce(send, recv any, op Op, root int) error {
	return c.wait(c.reduce("Comm.Reduce", send, recv, op, root))
}

// Ireduce starts a Reduce.
func (c *Comm) Ireduce(send, recv any, op Op, root int) (*Request, error) {
	return request(c.reduce("Comm.Ireduce", send, recv, op, root))
}

// Allreduce is Reduce to every rank (MPI_Allreduce). Device memory of ranks on
// one host is reduced by the devices, in the order of the ranks, so that all get
// the same bits: of two ranks, and up to 1 MiB of more, in one launch, and beyond
// by NCCL or in a ring. GOCUDA_MPI_ALLREDUCE, set for all ranks when the
// communicator is made, picks one way: host, ll (up to 256 KiB) or simple (each one
// launch), group, nccl or ring.
func (c *Comm) Allreduce(send, recv any, op Op) error {
	return c.wait(c.reduceEach("Comm.Allreduce", c.allreduce, send, recv, op))
}

// Iallreduce starts an Allreduce.
func (c *Comm) Iallreduce(send, recv any, op Op) (*Request, error) {
	return request(c.reduceEach("Comm.Iallreduce", reductions.Iallreduce, send, recv, op))
}

// Scan combines, at each rank, the send buffers of the ranks up to and with this
// one (MPI_Scan).
func (c *Comm) Scan(send, recv any, op Op) error {
	return c.wait(c.reduceEach("Comm.Scan", reductions.Iscan, send, recv, op))
}

// Iscan starts a Scan.
func (c *Comm) Iscan(send, recv any, op Op) (*Request, error) {
	return request(c.reduceEach("Comm.Iscan", reductions.Iscan, send, recv, op))
}

// Exscan combines the send buffers of the ranks before this one (MPI_Exscan).
// Rank 0's recv is left as it is.
func (c *Comm) Exscan(send, recv any, op Op) error {
	return c.wait(c.reduceEach("Comm.Exscan", reductions.Iexscan, send, recv, op))
}

// Iexscan starts an Exscan.
func (c *Comm) Iexscan(send, recv any, op Op) (*Request, error) {
	return request(c.reduceEach("Comm.Iexscan", reductions.Iexscan, send, recv, op))
}

// ReduceScatter combines the send buffers of all ranks and hands the result out:
// rank i gets counts[i] elements (MPI_Reduce_scatter). With InPlace, recv holds
// what is sent, and the result is at its start.
func (c *Comm) ReduceScatter(send, recv any, counts []int, op Op) error {
	return c.wait(c.reduceScatter("Comm.ReduceScatter", send, recv, counts, op))
}

// IreduceScatter starts a ReduceScatter.
func (c *Comm) IreduceScatter(send, recv any, counts []int, op Op) (*Request, error) {
	return request(c.reduceScatter("Comm.IreduceScatter", send, recv, counts, op))
}

// ReduceScatterBlock is ReduceScatter in equal parts
// (MPI_Reduce_scatter_block).
func (c *Comm) ReduceScatterBlock(send, recv any, op Op) error {
	return c.wait(c.reduceScatterBlock("Comm.ReduceScatterBlock", send, recv, op))
}

// IreduceScatterBlock starts a ReduceScatterBlock.
func (c *Comm) IreduceScatterBlock(send, recv any, op Op) (*Request, error) {
	return request(c.reduceScatterBlock("Comm.IreduceScatterBlock", send, recv, op))
}

// reductions are the collectives that compute: a transport.Comm's for MPI's own
// operations, userReductions for the program's.
type reductions interface {
	Ireduce(send, recv transport.Memory, op transport.Op, root int) (transport.Request, error)
	Iallreduce(send, recv transport.Memory, op transport.Op) (transport.Request, error)
	Iscan(send, recv transport.Memory, op transport.Op) (transport.Request, error)
	Iexscan(send, recv transport.Memory, op transport.Op) (transport.Request, error)
	IreduceScatter(send, recv transport.Memory, counts []int, op transport.Op) (transport.Request, error)
}

// operands checks op against the buffers of a reduction, and tells who does it
// and on what.
func (c *Comm) operands(call string, s, r *memory, op Op) (reductions, transport.Memory, transport.Memory, error) {
	var by reductions = c.on(s, r)
	var sm, rm transport.Memory
	var bad *Error
	if op.user != nil {
		by = &userReductions{c: c, op: op.user}
		if s.dev != nil || r.dev != nil {
			by = &staged{c: c, on: by, send: s.dev, recv: r.dev}
		}
		sm, rm, bad = op.user.operands(call, s, r)
	} else {
		sm, rm, bad = op.operands(call, s, r)
	}
	if bad != nil {
		return nil, sm, rm, c.at(bad)
	}
	return by, sm, rm, nil
}

func (c *Comm) reduce(call string, send, recv any, op Op, root int) (pending, error) {
	s, r, _, err := c.toRoot(call, send, recv, root)
	if err == nil && c.rank == root && !s.inPlace {
		err = c.exactly(call, "receive", &r, s.elems(), "as many as are sent")
	}
	if err != nil {
		return pending{}, err
	}
	by, sm, rm, err := c.operands(call, &s, &r, op)
	if err != nil {
		return pending{}, err
	}
	t := begin(call, nil, read(&s), written(&r).only(c.rank == root))
	req, err := by.Ireduce(sm, rm, op.op, root)
	return c.started(call, root, t, req, err)
}

// reduceEach is a reduction whose result every rank has, of the length of what
// it sends.
func (c *Comm) reduceEach(call string, f func(reductions, transport.Memory, transport.Memory, transport.Op) (transport.Request, error), send, recv any, op Op) (pending, error) {
	s, r, err := c.toAll(call, send, recv)
	if err == nil && !s.inPlace {
		err = c.exactly(call, "receive", &r, s.elems(), "as many as are sent")
	}
	if err != nil {
		return pending{}, err
	}
	by, sm, rm, err := c.operands(call, &s, &r, op)
	if err != nil {
		return pending{}, err
	}
	t := begin(call, nil, read(&s), written(&r))
	req, err := f(by, sm, rm, op.op)
	return c.started(call, -1, t, req, err)
}

func (c *Comm) reduceScatterBlock(call string, send, recv any, op Op) (pending, error) {
	s, r, err := c.toAll(call, send, recv)
	if err != nil {
		return pending{}, err
	}
	part := r.elems()
	if s.inPlace {
		if part, err = c.equalPart(call, "receive", &r); err != nil {
			return pending{}, err
		}
	}
	counts := make([]int, c.size)
	for i := range counts {
		counts[i] = part
	}
	return c.scatterReduced(call, &s, &r, counts, op)
}

func (c *Comm) reduceScatter(call string, send, recv any, counts []int, op Op) (pending, error) {
	s, r, err := c.toAll(call, send, recv)
	if err != nil {
		return pending{}, err
	}
	if len(counts) != c.size {
		return pending{}, c.misuse(ErrCount, call, "%d counts for %d ranks", len(counts), c.size)
	}
	return c.scatterReduced(call, &s, &r, counts, op)
}

func (c *Comm) scatterReduced(call string, s, r *memory, counts []int, op Op) (pending, error) {
	all := s
	if s.inPlace {
		all = r
	}
	total := 0
	for i, n := range counts {
		if n < 0 || n > all.elems()-total {
			return pending{}, c.misuse(ErrCount, call, "the counts up to rank %d's, %d, come to more than the %d elements given", i, n, all.elems())
		}
		total += n
	}
	which := map[bool]string{false: "send", true: "receive"}[s.inPlace]
	if err := c.exactly(call, which, all, total, "the sum of the counts"); err != nil {
		return pending{}, err
	}
	if !s.inPlace {
		if err := c.exactly(call, "receive", r, counts[c.rank], "this rank's count"); err != nil {
			return pending{}, err
		}
	}
	by, sm, rm, err := c.operands(call, s, r, op)
	if err != nil {
		return pending{}, err
	}
	scaled := make([]int, len(counts))
	for i, n := range counts {
		scaled[i] = n
		if rm.T == transport.Byte {
			scaled[i] = n * all.size
		}
	}
	t := begin(call, nil, read(s), written(r))
	req, err := by.IreduceScatter(sm, rm, scaled, op.op)
	return c.started(call, -1, t, req, err)
}
