//go:build linux && (amd64 || arm64)

package libmpi

import (
	"runtime"
	"time"

	"gocuda/cudaapi/internal/clib"
	"gocuda/cudaapi/mpi/internal/transport"
)

// comm is one MPI_Comm.
type comm struct {
	t          *Transport
	handle     uintptr
	rank, size int
}

// newComm asks for what is asked often, and has errors returned.
func (t *Transport) newComm(handle uintptr) (*comm, error) {
	if err := t.do(mpiCommSetErrhandler, handle, t.abi.errorsReturn); err != nil {
		return nil, err
	}
	v := new([2]int32)
	if err := t.do(mpiCommRank, handle, clib.Pin(&v[0])); err != nil {
		return nil, err
	}
	if err := t.do(mpiCommSize, handle, clib.Pin(&v[1])); err != nil {
		return nil, err
	}
	return &comm{t: t, handle: handle, rank: int(v[0]), size: int(v[1])}, nil
}

func (c *comm) Rank() int { return c.rank }
func (c *comm) Size() int { return c.size }

func (c *comm) Isend(buf transport.Memory, dest, tag int) (transport.Request, error) {
	return c.p2p(mpiIsend, buf, dest, tag)
}

func (c *comm) Issend(buf transport.Memory, dest, tag int) (transport.Request, error) {
	return c.p2p(mpiIssend, buf, dest, tag)
}

func (c *comm) Irecv(buf transport.Memory, source, tag int) (transport.Request, error) {
	if err := c.t.device(buf); err != nil {
		return nil, err
	}
	if c.t.overwrites && source != transport.ProcNull {
		if buf.Bytes() <= guardedBytes && buf.Device == nil && c.t.matchings.leave(c, source, tag) {
			return c.guarded(buf, source, tag)
		}
		r := &matching{c: c, buf: buf, source: source, tag: tag}
		c.t.matchings.post(r)
		return r, nil
	}
	return c.p2p(mpiIrecv, buf, source, tag)
}

func (c *comm) p2p(f function, buf transport.Memory, rank, tag int) (transport.Request, error) {
	t := c.t
	if err := t.device(buf); err != nil {
		return nil, err
	}
	f, n, err := t.countable(f, buf)
	if err != nil {
		return nil, err
	}
	r := t.newRequest(f)
	r.receives = f == mpiIrecv || f == mpiIrecv+large
	r.keep[0], r.devices[0] = buf.P, buf.Device
	code := t.call(f, address(buf.P), n.n, n.t, t.abi.rankToC(rank), t.abi.tagToC(tag), c.handle, r.out())
	t.free(n)
	return t.started(r, code)
}

// probed is what a probe writes.
type probed struct {
	flag    int32
	message uintptr
	status  status
}

func (c *comm) Iprobe(source, tag int) (transport.Status, bool, error) {
	if c.t.matchings.n.Load() > 0 {
		return c.t.matchings.look(c, new(probed), source, tag, false)
	}
	return c.iprobe(new(probed), source, tag)
}

func (c *comm) iprobe(p *probed, source, tag int) (transport.Status, bool, error) {
	err := c.t.do(mpiIprobe, c.t.abi.rankToC(source), c.t.abi.tagToC(tag), c.handle, clib.Pin(&p.flag), clib.Pin(&p.status))
	if err != nil || p.flag == 0 {
		return transport.Status{}, false, err
	}
	return c.t.abi.fromC(&p.status), true, nil
}

func (c *comm) Improbe(source, tag int) (transport.Message, transport.Status, bool, error) {
	p := new(probed)
	var st transport.Status
	var there bool
	var err error
	if c.t.matchings.n.Load() > 0 {
		st, there, err = c.t.matchings.look(c, p, source, tag, true)
	} else {
		st, there, err = c.improbe(p, source, tag)
	}
	if !there || err != nil {
		return nil, transport.Status{}, false, err
	}
	return &message{t: c.t, handle: p.message, st: st}, st, true, nil
}

func (c *comm) improbe(p *probed, source, tag int) (transport.Status, bool, error) {
	err := c.t.do(mpiImprobe, c.t.abi.rankToC(source), c.t.abi.tagToC(tag), c.handle, clib.Pin(&p.flag), clib.Pin(&p.message), clib.Pin(&p.status))
	if err != nil || p.flag == 0 {
		return transport.Status{}, false, err
	}
	return c.t.abi.fromC(&p.status), true, nil
}

// message is one MPI_Message.
type message struct {
	t      *Transport
	handle uintptr
	st     transport.Status
	status status // of mrecv
}

func (m *message) Imrecv(buf transport.Memory) (transport.Request, error) {
	if err := m.t.device(buf); err != nil {
		return nil, err
	}
	if m.t.overwrites && m.st.Source != transport.ProcNull {
		return m.t.fetch(m.handle, m.st, buf), nil
	}
	return m.imrecv(buf)
}

// imrecv is MPI_Imrecv.
func (m *message) imrecv(buf transport.Memory) (transport.Request, error) {
	f, n, err := m.t.countable(mpiImrecv, buf)
	if err != nil {
		return nil, err
	}
	r := &request{t: m.t, f: f, receives: true}
	r.keep[0], r.devices[0] = buf.P, buf.Device
	code := m.t.call(f, address(buf.P), n.n, n.t, clib.Pin(&m.handle), r.out())
	m.t.free(n)
	return m.t.started(r, code)
}

// mrecv is MPI_Mrecv.
func (m *message) mrecv(buf transport.Memory) error {
	return m.t.do(mpiMrecv, address(buf.P), uintptr(buf.N), m.t.typeOf(buf), clib.Pin(&m.handle), clib.Pin(&m.status))
}

func (c *comm) Dup() (transport.Comm, error) { return c.derive(mpiCommDup) }

func (c *comm) Split(color, key int) (transport.Comm, error) {
	k := int32(color)
	if color == transport.Undefined {
		k = c.t.abi.undefined
	}
	return c.derive(mpiCommSplit, uintptr(k), uintptr(key))
}

func (c *comm) SplitShared(key int) (transport.Comm, error) {
	return c.derive(mpiCommSplitType, uintptr(c.t.abi.typeShared), uintptr(key), c.t.abi.infoNull)
}

// derive makes a communicator by a collective call, nil where MPI gives none.
func (c *comm) derive(f function, args ...uintptr) (transport.Comm, error) {
	if err := c.meet(); err != nil {
		return nil, err
	}
	h := new(uintptr)
	args = append(append([]uintptr{c.handle}, args...), clib.Pin(h))
	if err := c.t.do(f, args...); err != nil {
		return nil, err
	}
	if *h == c.t.abi.commNull {
		return nil, nil
	}
	n, err := c.t.newComm(*h)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// CreateGroup is MPI_Comm_create_group.
func (c *comm) CreateGroup(ranks []int, tag int) (transport.Comm, error) {
	group, err := c.group(ranks)
	if err != nil {
		return nil, err
	}
	defer c.t.call(mpiGroupFree, clib.Pin(group))
	h := new(uintptr)
	// The others may be on their way: receives are matched meanwhile.
	if _, err := c.t.blocking(func() error { return c.t.do(mpiCommCreateGroup, c.handle, *group, uintptr(tag), clib.Pin(h)) }, nil, func() {}); err != nil {
		return nil, err
	}
	n, err := c.t.newComm(*h)
	if err != nil {
		return nil, err
	}
	return n, nil
}

func (c *comm) Free() error {
	if err := c.meet(); err != nil {
		return err
	}
	return c.t.do(mpiCommFree, clib.Pin(&c.handle))
}

// meet waits until all ranks are here, where a call that blocks would keep
// other goroutines' calls out of the library, or receives from their messages.
func (c *comm) meet() error {
	if c.t.level == len(threadNames)-1 && !c.t.overwrites {
		return nil
	}
	return c.block(&transport.Collective{Kind: transport.Barrier})
}

// block does a collective, and leaves the library to other goroutines meanwhile.
func (c *comm) block(x *transport.Collective) error {
	r, err := c.Start(x)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		if _, done, err := r.Test(); done || err != nil {
			return err
		}
		runtime.Gosched()
		if n > 200 { // the ranks that are to come may need the processor
			time.Sleep(20 * time.Microsecond)
		}
	}
}
