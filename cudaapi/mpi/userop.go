package mpi

import (
	"gocuda/cudaapi/mpi/internal/coll"
	"gocuda/cudaapi/mpi/internal/transport"
)

// operands checks that both buffers hold what the function takes.
func (u *userOp) operands(call string, send, recv *memory) (s, r transport.Memory, err *Error) {
	want := elementOf(u.elem)
	for _, m := range []*memory{send, recv} {
		if m.N == 0 {
			continue
		}
		if m.elem != want.typ || m.size != want.size {
			return s, r, misuse(ErrOp, call, "the operation takes %s, not %s of %d bytes", u.elem, m.typeName(), m.size)
		}
	}
	return send.typed(want.typ), recv.typed(want.typ), nil
}

// userReductions does reductions by a function of the program, over messages on
// the communicator's side.
type userReductions struct {
	c  *Comm
	op *userOp
}

// userTags is how many collectives may be under way before their tags repeat.
const userTags = 1 << 13

func (u *userReductions) env() coll.Env {
	return coll.Env{Peers: u.c.side, Space: coll.Host, Tag: int(uint32(u.c.tags.Add(1)) % userTags)}
}

func (u *userReductions) reduction() coll.Op {
	e := elementOf(u.op.elem)
	return coll.Op{Commutative: u.op.commute, Reduce: u.op.reduce, Unit: e.per}
}

// reduce is dst = a op b, by a function that does b = a op b.
func (u *userOp) reduce(dst, a, b transport.Memory) (transport.Request, error) {
	n := a.Bytes() / int(u.elem.Size())
	if dst.P == b.P {
		u.apply(a.P, b.P, n)
		return nil, nil
	}
	tmp, _, err := coll.Host.Alloc(b.N, b.T)
	if err != nil {
		return nil, err
	}
	if _, err := coll.Host.Copy(tmp, b); err != nil {
		return nil, err
	}
	u.apply(a.P, tmp.P, n)
	return coll.Host.Copy(dst, tmp)
}

func (u *userReductions) Start(x *transport.Collective) (transport.Request, error) {
	return coll.Start(u.env(), x, u.reduction())
}
