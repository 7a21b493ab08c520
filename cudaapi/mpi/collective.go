package mpi

import (
	"cmp"
	"slices"
	"strings"

	"gocuda/cudaapi/mpi/internal/transport"
	"gocuda/cudaapi/mpi/waitfor"
	"gocuda/cudaapi/record"
)

// Barrier blocks until all ranks have entered it (MPI_Barrier).
func (c *Comm) Barrier() error { return c.barrier("Comm.Barrier").do() }

// Ibarrier enters a barrier, whose request is complete when all ranks have.
func (c *Comm) Ibarrier() (*Request, error) { return c.barrier("Comm.Ibarrier").begin() }

// BarrierInit makes a persistent Barrier (MPI_Barrier_init).
func (c *Comm) BarrierInit() (*Request, error) { return c.barrier("Comm.BarrierInit").persistent() }

// Bcast copies root's buf to that of every rank (MPI_Bcast). All must be of one
// length. It blocks until this rank's part is done, as all collectives do.
func (c *Comm) Bcast(buf any, root int) error { return c.bcast("Comm.Bcast", buf, root).do() }

// Ibcast starts a Bcast.
func (c *Comm) Ibcast(buf any, root int) (*Request, error) {
	return c.bcast("Comm.Ibcast", buf, root).begin()
}

// BcastInit makes a persistent Bcast (MPI_Bcast_init).
func (c *Comm) BcastInit(buf any, root int) (*Request, error) {
	return c.bcast("Comm.BcastInit", buf, root).persistent()
}

// Gather brings the send buffers of all ranks, which are of one length, together
// in root's recv, in the order of ranks (MPI_Gather). recv counts at the root
// only, and may be nil elsewhere.
func (c *Comm) Gather(send, recv any, root int) error {
	return c.gather("Comm.Gather", transport.Gather, send, recv, root).do()
}

// Igather starts a Gather.
func (c *Comm) Igather(send, recv any, root int) (*Request, error) {
	return c.gather("Comm.Igather", transport.Gather, send, recv, root).begin()
}

// GatherInit makes a persistent Gather (MPI_Gather_init).
func (c *Comm) GatherInit(send, recv any, root int) (*Request, error) {
	return c.gather("Comm.GatherInit", transport.Gather, send, recv, root).persistent()
}

// Gatherv is Gather of different lengths (MPI_Gatherv): at the root, rank i's
// counts[i] elements go to recv from element displs[i] on. If displs is nil, the
// parts follow each other. counts and displs count at the root only.
func (c *Comm) Gatherv(send, recv any, counts, displs []int, root int) error {
	return c.gatherv("Comm.Gatherv", transport.Gatherv, send, recv, counts, displs, root).do()
}

// Igatherv starts a Gatherv.
func (c *Comm) Igatherv(send, recv any, counts, displs []int, root int) (*Request, error) {
	return c.gatherv("Comm.Igatherv", transport.Gatherv, send, recv, counts, displs, root).begin()
}

// GathervInit makes a persistent Gatherv (MPI_Gatherv_init).
func (c *Comm) GathervInit(send, recv any, counts, displs []int, root int) (*Request, error) {
	return c.gatherv("Comm.GathervInit", transport.Gatherv, send, recv, counts, displs, root).persistent()
}

// Scatter hands root's send out in equal parts, in the order of ranks
// (MPI_Scatter). send counts at the root only, and may be nil elsewhere.
func (c *Comm) Scatter(send, recv any, root int) error {
	return c.scatter("Comm.Scatter", send, recv, root).do()
}

// Iscatter starts a Scatter.
func (c *Comm) Iscatter(send, recv any, root int) (*Request, error) {
	return c.scatter("Comm.Iscatter", send, recv, root).begin()
}

// ScatterInit makes a persistent Scatter (MPI_Scatter_init).
func (c *Comm) ScatterInit(send, recv any, root int) (*Request, error) {
	return c.scatter("Comm.ScatterInit", send, recv, root).persistent()
}

// Scatterv is Scatter of different lengths (MPI_Scatterv): rank i gets counts[i]
// elements of root's send from element displs[i] on. If displs is nil, the parts
// follow each other. counts and displs count at the root only.
func (c *Comm) Scatterv(send any, counts, displs []int, recv any, root int) error {
	return c.scatterv("Comm.Scatterv", send, counts, displs, recv, root).do()
}

// Iscatterv starts a Scatterv.
func (c *Comm) Iscatterv(send any, counts, displs []int, recv any, root int) (*Request, error) {
	return c.scatterv("Comm.Iscatterv", send, counts, displs, recv, root).begin()
}

// ScattervInit makes a persistent Scatterv (MPI_Scatterv_init).
func (c *Comm) ScattervInit(send any, counts, displs []int, recv any, root int) (*Request, error) {
	return c.scatterv("Comm.ScattervInit", send, counts, displs, recv, root).persistent()
}

// Allgather is Gather to every rank (MPI_Allgather).
func (c *Comm) Allgather(send, recv any) error {
	return c.gather("Comm.Allgather", transport.Allgather, send, recv, 0).do()
}

// Iallgather starts an Allgather.
func (c *Comm) Iallgather(send, recv any) (*Request, error) {
	return c.gather("Comm.Iallgather", transport.Allgather, send, recv, 0).begin()
}

// AllgatherInit makes a persistent Allgather (MPI_Allgather_init).
func (c *Comm) AllgatherInit(send, recv any) (*Request, error) {
	return c.gather("Comm.AllgatherInit", transport.Allgather, send, recv, 0).persistent()
}

// Allgatherv is Gatherv to every rank (MPI_Allgatherv).
func (c *Comm) Allgatherv(send, recv any, counts, displs []int) error {
	return c.gatherv("Comm.Allgatherv", transport.Allgatherv, send, recv, counts, displs, 0).do()
}

// Iallgatherv starts an Allgatherv.
func (c *Comm) Iallgatherv(send, recv any, counts, displs []int) (*Request, error) {
	return c.gatherv("Comm.Iallgatherv", transport.Allgatherv, send, recv, counts, displs, 0).begin()
}

// AllgathervInit makes a persistent Allgatherv (MPI_Allgatherv_init).
func (c *Comm) AllgathervInit(send, recv any, counts, displs []int) (*Request, error) {
	return c.gatherv("Comm.AllgathervInit", transport.Allgatherv, send, recv, counts, displs, 0).persistent()
}

// Alltoall sends the i-th of as many equal parts of send as there are ranks to
// rank i, and receives rank i's into the i-th part of recv (MPI_Alltoall).
func (c *Comm) Alltoall(send, recv any) error {
	return c.alltoall("Comm.Alltoall", send, recv).do()
}

// Ialltoall starts an Alltoall.
func (c *Comm) Ialltoall(send, recv any) (*Request, error) {
	return c.alltoall("Comm.Ialltoall", send, recv).begin()
}

// AlltoallInit makes a persistent Alltoall (MPI_Alltoall_init).
func (c *Comm) AlltoallInit(send, recv any) (*Request, error) {
	return c.alltoall("Comm.AlltoallInit", send, recv).persistent()
}

// Alltoallv is Alltoall of different lengths (MPI_Alltoallv). Nil displs say
// that the parts follow each other. What this rank sends to i must be as long as
// what i expects from it.
func (c *Comm) Alltoallv(send any, sendCounts, sendDispls []int, recv any, recvCounts, recvDispls []int) error {
	return c.alltoallv("Comm.Alltoallv", send, sendCounts, sendDispls, recv, recvCounts, recvDispls).do()
}

// Ialltoallv starts an Alltoallv.
func (c *Comm) Ialltoallv(send any, sendCounts, sendDispls []int, recv any, recvCounts, recvDispls []int) (*Request, error) {
	return c.alltoallv("Comm.Ialltoallv", send, sendCounts, sendDispls, recv, recvCounts, recvDispls).begin()
}

// AlltoallvInit makes a persistent Alltoallv (MPI_Alltoallv_init).
func (c *Comm) AlltoallvInit(send any, sendCounts, sendDispls []int, recv any, recvCounts, recvDispls []int) (*Request, error) {
	return c.alltoallv("Comm.AlltoallvInit", send, sendCounts, sendDispls, recv, recvCounts, recvDispls).persistent()
}

// arguments are those of a collective, checked one after the other: after the
// first fault nothing more is looked at.
type arguments struct {
	c        *Comm
	call     string
	s, r     memory
	by       collectives // who does it
	x        transport.Collective
	whole    bool      // no buffer is left out at this rank
	exchange *exchange // nil: it is the transport's
	err      error
}

// read begins with the two buffers of a collective, and its root if it has one. A
// buffer that does not count at this rank is not looked at.
func (c *Comm) read(call string, kind transport.Kind, root int, send, recv any) (k arguments) {
	k.c, k.call = c, call
	if k.err = c.usable(call); k.err != nil {
		return k
	}
	k.whole = !kind.Rooted() || c.rank == root
	s, r, x := &k.s, &k.r, &k.x
	x.Kind, x.Root = kind, root
	own, other := r, s // the one that is never in place, and the one that may be
	given := &recv
	if kind == transport.Scatter || kind == transport.Scatterv {
		own, other, given = s, r, &send
	}
	if !k.whole && x.Kind != transport.Bcast {
		*given = nil
	}
	var bad *Error
	if *s, bad = resolve(call, send); bad == nil {
		*r, bad = resolve(call, recv)
	}
	switch {
	case bad != nil:
		k.err = c.at(bad)
	case s.spread != nil || r.spread != nil:
		k.err = c.misuse(ErrType, call, "a strided buffer is for messages").hint("copy its elements together, or send them one by one")
	case r.readOnly && !(kind == transport.Bcast && k.whole):
		k.err = c.checkWritable(call, r)
	case s.inPlace && r.inPlace:
		k.fault(ErrBuffer, "both buffers are InPlace")
	case s.overlaps(r):
		k.err = c.misuse(ErrBuffer, call, "the send and receive buffers overlap").hint("give mpi.InPlace for the one that MPI allows it for")
	case kind.Rooted() && uint(root) >= uint(c.size):
		k.err = c.noRank(ErrRoot, call, "root", root)
	case own.inPlace && kind == transport.Bcast:
		k.fault(ErrBuffer, "InPlace cannot be the only buffer of this call")
	case own.inPlace:
		k.fault(ErrBuffer, "InPlace cannot be the %s buffer of this call", k.name(own))
	case !k.whole && other.inPlace:
		k.fault(ErrBuffer, "InPlace is for the root only")
	case k.whole && x.Kind != transport.Bcast && !other.inPlace && send != nil && recv != nil && (s.elem != r.elem || s.size != r.size) && (s.elems() > 0 || r.elems() > 0):
		k.fault(ErrType, "the send buffer holds %s of %d bytes, the receive buffer %s of %d", s.typeName(), s.size, r.typeName(), r.size)
	case k.whole && x.Kind != transport.Bcast && !x.Kind.Ragged() && (send == nil && r.elems() > 0 || recv == nil && s.elems() > 0):
		k.fault(ErrBuffer, "this rank both sends and receives, and one of its buffers is nil")
	}
	x.Send, x.Recv = s.Memory, r.Memory
	return k
}

// fault notes what is wrong, if nothing was before.
func (k *arguments) fault(class Class, format string, args ...any) {
	if k.err == nil {
		k.err = k.c.misuse(class, k.call, format, args...)
	}
}

// goesOn reports whether there is more to check at this rank.
func (k *arguments) goesOn() bool { return k.err == nil && k.whole }

// name tells which of the two buffers m is.
func (k *arguments) name(m *memory) string {
	if m == &k.s {
		return "send"
	}
	return "receive"
}

// equalPart is how many elements of m each rank has.
func (k *arguments) equalPart(m *memory) int {
	if m.elems()%k.c.size != 0 {
		k.fault(ErrCount, "the %s buffer has %d elements, which %d ranks cannot share equally", k.name(m), m.elems(), k.c.size)
	}
	return m.elems() / k.c.size
}

// exactly checks a length.
func (k *arguments) exactly(m *memory, n int, why string) {
	if m.elems() != n {
		k.fault(ErrCount, "the %s buffer has %d elements instead of %d: %s", k.name(m), m.elems(), n, why)
	}
}

// layout checks the counts and displacements of a buffer in parts, and gives
// them in bytes. Parts that are received must not overlap.
func (k *arguments) layout(m *memory, size int, counts, displs []int) (n, at []int) {
	if len(counts) != size || displs != nil && len(displs) != size {
		k.fault(ErrCount, "%d counts and %d displacements for the %s buffer, and %d ranks", len(counts), len(displs), k.name(m), size)
		return nil, nil
	}
	n, at = make([]int, size), make([]int, size)
	next := 0
	for i, count := range counts {
		from := next
		if displs != nil {
			from = displs[i]
		}
		if count < 0 || from < 0 || from > m.elems() || count > m.elems()-from {
			k.fault(ErrCount, "rank %d's %d elements from %d on are not within the %s buffer of %d elements", i, count, from, k.name(m), m.elems())
			return nil, nil
		}
		n[i], at[i] = count*m.size, from*m.size
		next = from + count
	}
	if m == &k.r && displs != nil {
		if i, j, ok := overlapping(n, at); ok {
			k.fault(ErrBuffer, "the parts of ranks %d and %d overlap in the %s buffer", i, j, k.name(m))
		}
	}
	return n, at
}

// The three forms of every collective: do waits for its end, begin gives a Request
// that is under way, persistent one that can be started again and again.
func (k arguments) do() error { return k.doBy(collectives.Start) }

// doBy is do by another way than that of k.by itself.
func (k arguments) doBy(start startFunc) error { return k.c.wait(k.start(start)) }

func (k arguments) begin() (*Request, error) { return request(k.start(collectives.Start)) }

func (k arguments) persistent() (*Request, error) {
	if k.err != nil {
		return nil, k.err
	}
	k.call = strings.TrimSuffix(k.call, "Init") // what a start of it does
	return persistent(func() (pending, error) {
		if err := k.c.usable(k.call); err != nil {
			return pending{}, err
		}
		return k.start(collectives.Start)
	}), nil
}

type startFunc = func(collectives, *transport.Collective) (transport.Request, error)

// start starts what was checked.
func (k *arguments) start(start startFunc) (pending, error) {
	if k.err != nil {
		return pending{}, k.err
	}
	if k.by == nil {
		k.by = k.c.on(&k.s, &k.r)
	}
	peer := -1
	if k.x.Kind.Rooted() {
		peer = k.x.Root
	}
	t := k.record()
	number := k.c.book.enters(k.call, int(k.x.Kind), k.x.Signature())
	x := k.x // outlives this call, which the rest need not
	r, err := start(k.by, &x)
	if err != nil {
		t.end()
		return pending{}, k.c.fail(k.call, peer, err)
	}
	out, in := k.s.length(), k.r.length()
	if k.exchange != nil {
		out, in = k.exchange.length()
	}
	p := pending{c: k.c, call: k.call, r: r, peer: peer, tag: -1, transfer: t, bytes: max(out, in)}
	if k.c.book != nil {
		p.purpose = purpose{kind: waitfor.Join, number: number, needs: needs(&k.x, k.c.rank)}
	}
	return p, nil
}

// record records what is read and written at this rank. A buffer that does not
// count at it is empty.
func (k *arguments) record() transfer {
	if record.InUse() == nil {
		return transfer{}
	}
	if k.exchange != nil {
		return k.c.begin(k.call, k.shares(), k.exchange.touches()...)
	}
	if k.x.Kind == transport.Bcast {
		return k.c.begin(k.call, k.shares(), read(&k.r).only(k.whole), written(&k.r).only(!k.whole))
	}
	return k.c.begin(k.call, k.shares(), read(&k.s).parts(k.x.SendCounts, k.x.SendDispls), written(&k.r).parts(k.x.RecvCounts, k.x.RecvDispls))
}

func (c *Comm) barrier(call string) arguments {
	k := arguments{c: c, call: call, err: c.usable(call)}
	if k.err == nil {
		k.by = inTurn{c, c.t}
	}
	return k
}

func (c *Comm) bcast(call string, buf any, root int) arguments {
	k := c.read(call, transport.Bcast, root, nil, buf)
	return k
}

// gather is for a root or for all.
func (c *Comm) gather(call string, kind transport.Kind, send, recv any, root int) arguments {
	k := c.read(call, kind, root, send, recv)
	if k.goesOn() {
		k.x.Recv = k.r.part(k.equalPart(&k.r))
		if !k.s.inPlace {
			k.exactly(&k.r, k.s.elems()*c.size, "one send buffer of each rank")
		}
	}
	return k
}

func (c *Comm) gatherv(call string, kind transport.Kind, send, recv any, counts, displs []int, root int) arguments {
	k := c.read(call, kind, root, send, recv)
	if k.goesOn() {
		k.x.RecvCounts, k.x.RecvDispls = k.layout(&k.r, c.size, counts, displs)
	}
	if k.goesOn() && !k.s.inPlace {
		k.exactly(&k.s, counts[c.rank], "counts says so of this rank")
	}
	return k
}

func (c *Comm) scatter(call string, send, recv any, root int) arguments {
	k := c.read(call, transport.Scatter, root, send, recv)
	if k.goesOn() {
		k.x.Send = k.s.part(k.equalPart(&k.s))
		if !k.r.inPlace {
			k.exactly(&k.s, k.r.elems()*c.size, "one receive buffer of each rank")
		}
	}
	return k
}

func (c *Comm) scatterv(call string, send any, counts, displs []int, recv any, root int) arguments {
	k := c.read(call, transport.Scatterv, root, send, recv)
	if k.goesOn() {
		k.x.SendCounts, k.x.SendDispls = k.layout(&k.s, c.size, counts, displs)
	}
	if k.goesOn() && !k.r.inPlace {
		k.exactly(&k.r, counts[c.rank], "counts says so of this rank")
	}
	return k
}

func (c *Comm) alltoall(call string, send, recv any) arguments {
	k := c.read(call, transport.Alltoall, 0, send, recv)
	if k.goesOn() {
		part := k.equalPart(&k.r)
		k.x.Send, k.x.Recv = k.s.part(part), k.r.part(part)
		if !k.s.inPlace {
			k.exactly(&k.r, k.s.elems(), "as many as are sent")
		}
	}
	return k
}

func (c *Comm) alltoallv(call string, send any, scounts, sdispls []int, recv any, rcounts, rdispls []int) arguments {
	k := c.read(call, transport.Alltoallv, 0, send, recv)
	if k.goesOn() && !k.s.inPlace {
		k.x.SendCounts, k.x.SendDispls = k.layout(&k.s, c.size, scounts, sdispls)
	}
	if k.goesOn() {
		k.x.RecvCounts, k.x.RecvDispls = k.layout(&k.r, c.size, rcounts, rdispls)
	}
	if k.goesOn() && !k.s.inPlace && scounts[c.rank] != rcounts[c.rank] {
		k.fault(ErrCount, "this rank sends itself %d elements and expects %d", scounts[c.rank], rcounts[c.rank])
	}
	return k
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
