package mpi

import (
	"slices"

	"gocuda/cudaapi/mpi/internal/transport"
)

// Reduce combines the send buffers of all ranks, element by element, into
// root's recv (MPI_Reduce). recv counts at the root only, and may be nil
// elsewhere.
func (c *Comm) Reduce(send, recv any, op Op, root int) error {
	return c.reduce("Comm.Reduce", send, recv, op, root).do()
}

// Ireduce starts a Reduce.
func (c *Comm) Ireduce(send, recv any, op Op, root int) (*Request, error) {
	return c.reduce("Comm.Ireduce", send, recv, op, root).begin()
}

// ReduceInit makes a persistent Reduce (MPI_Reduce_init).
func (c *Comm) ReduceInit(send, recv any, op Op, root int) (*Request, error) {
	return c.reduce("Comm.ReduceInit", send, recv, op, root).persistent()
}

// Allreduce is Reduce to every rank (MPI_Allreduce). Device memory of ranks on
// one host is reduced by the devices, in the order of the ranks, so that all get
// the same bits: of two ranks, and up to 1 MiB of more, in one launch, and beyond
// by NCCL or in a ring. GOCUDA_MPI_ALLREDUCE, set for all ranks when the
// communicator is made, picks one way: host, ll (up to 256 KiB) or simple (each one
// launch), group, nccl or ring.
func (c *Comm) Allreduce(send, recv any, op Op) error {
	return c.reduceEach("Comm.Allreduce", transport.Allreduce, send, recv, op).doBy(c.allreduce)
}

// Iallreduce starts an Allreduce.
func (c *Comm) Iallreduce(send, recv any, op Op) (*Request, error) {
	return c.reduceEach("Comm.Iallreduce", transport.Allreduce, send, recv, op).begin()
}

// AllreduceInit makes a persistent Allreduce (MPI_Allreduce_init).
func (c *Comm) AllreduceInit(send, recv any, op Op) (*Request, error) {
	return c.reduceEach("Comm.AllreduceInit", transport.Allreduce, send, recv, op).persistent()
}

// Scan combines, at each rank, the send buffers of the ranks up to and with this
// one (MPI_Scan).
func (c *Comm) Scan(send, recv any, op Op) error {
	return c.reduceEach("Comm.Scan", transport.Scan, send, recv, op).do()
}

// Iscan starts a Scan.
func (c *Comm) Iscan(send, recv any, op Op) (*Request, error) {
	return c.reduceEach("Comm.Iscan", transport.Scan, send, recv, op).begin()
}

// ScanInit makes a persistent Scan (MPI_Scan_init).
func (c *Comm) ScanInit(send, recv any, op Op) (*Request, error) {
	return c.reduceEach("Comm.ScanInit", transport.Scan, send, recv, op).persistent()
}

// Exscan combines the send buffers of the ranks before this one (MPI_Exscan).
// Rank 0's recv is left as it is.
func (c *Comm) Exscan(send, recv any, op Op) error {
	return c.reduceEach("Comm.Exscan", transport.Exscan, send, recv, op).do()
}

// Iexscan starts an Exscan.
func (c *Comm) Iexscan(send, recv any, op Op) (*Request, error) {
	return c.reduceEach("Comm.Iexscan", transport.Exscan, send, recv, op).begin()
}

// ExscanInit makes a persistent Exscan (MPI_Exscan_init).
func (c *Comm) ExscanInit(send, recv any, op Op) (*Request, error) {
	return c.reduceEach("Comm.ExscanInit", transport.Exscan, send, recv, op).persistent()
}

// ReduceScatter combines the send buffers of all ranks and hands the result out:
// rank i gets counts[i] elements (MPI_Reduce_scatter). With InPlace, recv holds
// what is sent, and the result is at its start.
func (c *Comm) ReduceScatter(send, recv any, counts []int, op Op) error {
	return c.reduceScatter("Comm.ReduceScatter", send, recv, counts, op).do()
}

// IreduceScatter starts a ReduceScatter.
func (c *Comm) IreduceScatter(send, recv any, counts []int, op Op) (*Request, error) {
	return c.reduceScatter("Comm.IreduceScatter", send, recv, counts, op).begin()
}

// ReduceScatterInit makes a persistent ReduceScatter (MPI_Reduce_scatter_init).
func (c *Comm) ReduceScatterInit(send, recv any, counts []int, op Op) (*Request, error) {
	return c.reduceScatter("Comm.ReduceScatterInit", send, recv, counts, op).persistent()
}

// ReduceScatterBlock is ReduceScatter in equal parts
// (MPI_Reduce_scatter_block).
func (c *Comm) ReduceScatterBlock(send, recv any, op Op) error {
	return c.reduceScatterBlock("Comm.ReduceScatterBlock", send, recv, op).do()
}

// IreduceScatterBlock starts a ReduceScatterBlock.
func (c *Comm) IreduceScatterBlock(send, recv any, op Op) (*Request, error) {
	return c.reduceScatterBlock("Comm.IreduceScatterBlock", send, recv, op).begin()
}

// ReduceScatterBlockInit makes a persistent ReduceScatterBlock (MPI_Reduce_scatter_block_init).
func (c *Comm) ReduceScatterBlockInit(send, recv any, op Op) (*Request, error) {
	return c.reduceScatterBlock("Comm.ReduceScatterBlockInit", send, recv, op).persistent()
}

// combine checks op against the buffers of a reduction, and tells who does it and
// on what.
func (k *arguments) combine(op Op) {
	if k.err != nil {
		return
	}
	k.by, k.x.Op = k.c.on(&k.s, &k.r), op.op
	var bad *Error
	if op.user != nil {
		by := &userReductions{c: k.c, op: op.user}
		k.by = inTurn{k.c, by}
		if k.s.dev != nil || k.r.dev != nil {
			k.by = &staged{c: k.c, on: by, send: k.s.dev, recv: k.r.dev}
		}
		k.x.Send, k.x.Recv, bad = op.user.operands(k.call, &k.s, &k.r)
	} else {
		k.x.Send, k.x.Recv, bad = op.operands(k.call, &k.s, &k.r)
	}
	if bad != nil {
		k.err = k.c.at(bad)
	}
}

func (c *Comm) reduce(call string, send, recv any, op Op, root int) arguments {
	k := c.read(call, transport.Reduce, root, send, recv)
	k.combineEach(op)
	return k
}

// reduceEach is a reduction whose result every rank has.
func (c *Comm) reduceEach(call string, kind transport.Kind, send, recv any, op Op) arguments {
	k := c.read(call, kind, 0, send, recv)
	k.combineEach(op)
	return k
}

// combineEach is combine for a result of the length of what is sent.
func (k *arguments) combineEach(op Op) {
	if k.goesOn() && !k.s.inPlace {
		k.exactly(&k.r, k.s.elems(), "as many as are sent")
	}
	k.combine(op)
}

func (c *Comm) reduceScatterBlock(call string, send, recv any, op Op) arguments {
	k := c.read(call, transport.ReduceScatter, 0, send, recv)
	if k.err != nil {
		return k
	}
	part := k.r.elems()
	if k.s.inPlace {
		part = k.equalPart(&k.r)
	}
	k.scatterReduced(slices.Repeat([]int{part}, c.size), op)
	return k
}

func (c *Comm) reduceScatter(call string, send, recv any, counts []int, op Op) arguments {
	k := c.read(call, transport.ReduceScatter, 0, send, recv)
	if len(counts) != c.size {
		k.fault(ErrCount, "%d counts for %d ranks", len(counts), c.size)
	}
	k.scatterReduced(counts, op)
	return k
}

func (k *arguments) scatterReduced(counts []int, op Op) {
	if k.err != nil {
		return
	}
	all := &k.s
	if k.s.inPlace {
		all = &k.r
	}
	total := 0
	for i, n := range counts {
		if n < 0 || n > all.elems()-total {
			k.fault(ErrCount, "the counts up to rank %d's, %d, come to more than the %d elements given", i, n, all.elems())
			break
		}
		total += n
	}
	k.exactly(all, total, "the sum of the counts")
	if !k.s.inPlace {
		k.exactly(&k.r, counts[k.c.rank], "this rank's count")
	}
	k.combine(op)
	k.x.RecvCounts = slices.Clone(counts)
	for i := range counts {
		if k.x.Recv.T == transport.Byte {
			k.x.RecvCounts[i] *= all.size
		}
	}
}
