package mpi

import (
	"errors"
	"slices"
)

// Intercomm is a communicator of two groups without a common rank (an intercommunicator):
// its messages and collectives go from one to the other. A rank that it names is one of
// the other group.
//
// It is this package's, over a communicator of both groups, under every library.
type Intercomm struct {
	local *Comm // of this rank's group
	both  *Comm
	colls *Comm // a duplicate, for collectives
	there []int // the other group's ranks in both
}

// Root is what the root of an Intercomm's Bcast gives; the others of its group give
// ProcNull (MPI_ROOT).
const Root = -4

// IntercommCreate makes a communicator of c's ranks and those of another (MPI_Intercomm_create).
// Each has a leader; the two are ranks of peer, which only they look at: remote is the
// other's leader there. All ranks of both call it. It blocks.
func (c *Comm) IntercommCreate(leader int, peer *Comm, remote, tag int) (*Intercomm, error) {
	const call = "Comm.IntercommCreate"
	if err := c.usable(call); err != nil {
		return nil, err
	}
	if uint(leader) >= uint(c.size) {
		return nil, c.noRank(ErrRank, call, "leader", leader)
	}
	ours := c.Group()
	n := -1 // of the other group; -1: the leader's part failed
	var theirs Group
	var err error
	if c.rank == leader {
		if _, err = peer.Sendrecv(len(ours), remote, tag, &n, remote, tag); err == nil {
			theirs = make(Group, n)
			if _, err = peer.Sendrecv([]int(ours), remote, tag, []int(theirs), remote, tag); err != nil {
				n = -1
			}
		}
	}
	if wrong := c.Bcast(&n, leader); wrong != nil {
		return nil, errors.Join(err, wrong)
	}
	if n < 0 {
		if err == nil {
			err = c.misuse(ErrOther, call, "rank %d, the leader, has no answer of the other group", leader)
		}
		return nil, err
	}
	if theirs == nil {
		theirs = make(Group, n)
	}
	if err := c.Bcast([]int(theirs), leader); err != nil {
		return nil, err
	}
	if len(ours.Intersection(theirs)) > 0 {
		return nil, c.misuse(ErrComm, call, "the groups have ranks %v of the world in common", ours.Intersection(theirs))
	}
	x := &Intercomm{}
	all := slices.Concat(ours, theirs)
	if theirs[0] < ours[0] {
		all = slices.Concat(theirs, ours)
	}
	if x.both, err = c.w.world.CreateGroup(all, tag); err != nil {
		return nil, err
	}
	x.there = theirs.Translate(all)
	if x.colls, err = x.both.Dup(); err != nil {
		return nil, err
	}
	x.local, err = c.Dup()
	return x, err
}

// Rank is this rank's number in its own group.
func (x *Intercomm) Rank() int { return x.local.Rank() }

// Size is the number of ranks of its own group.
func (x *Intercomm) Size() int { return x.local.Size() }

// RemoteSize is the number of ranks of the other (MPI_Comm_remote_size).
func (x *Intercomm) RemoteSize() int { return len(x.there) }

// RemoteGroup is the other group (MPI_Comm_remote_group).
func (x *Intercomm) RemoteGroup() Group {
	all, g := x.both.Group(), make(Group, len(x.there))
	for i, r := range x.there {
		g[i] = all[r]
	}
	return g
}

// peer is a rank of the other group in both.
func (x *Intercomm) peer(call string, r int) (int, error) {
	switch {
	case r == AnySource || r == ProcNull:
		return r, nil
	case uint(r) >= uint(len(x.there)):
		return 0, x.both.misuse(ErrRank, call, "rank %d is not one of the other group's %d", r, len(x.there))
	}
	return x.there[r], nil
}

// From gives a Status with the source's rank in the other group.
func (x *Intercomm) From(st Status) Status {
	if i := slices.Index(x.there, st.Source); i >= 0 {
		st.Source = i
	}
	return st
}

// Send sends to a rank of the other group.
func (x *Intercomm) Send(buf any, dest, tag int) error {
	r, err := x.peer("Intercomm.Send", dest)
	if err != nil {
		return err
	}
	return x.both.Send(buf, r, tag)
}

// Recv receives from one.
func (x *Intercomm) Recv(buf any, source, tag int) (Status, error) {
	r, err := x.peer("Intercomm.Recv", source)
	if err != nil {
		return Status{}, err
	}
	st, err := x.both.Recv(buf, r, tag)
	return x.From(st), err
}

// Sendrecv sends to one and receives from one.
func (x *Intercomm) Sendrecv(send any, dest, sendTag int, recv any, source, recvTag int) (Status, error) {
	to, err := x.peer("Intercomm.Sendrecv", dest)
	if err != nil {
		return Status{}, err
	}
	from, err := x.peer("Intercomm.Sendrecv", source)
	if err != nil {
		return Status{}, err
	}
	st, err := x.both.Sendrecv(send, to, sendTag, recv, from, recvTag)
	return x.From(st), err
}

// Isend starts a send, Irecv a receive, whose Status [Intercomm.From] translates.
func (x *Intercomm) Isend(buf any, dest, tag int) (*Request, error) {
	r, err := x.peer("Intercomm.Isend", dest)
	if err != nil {
		return nil, err
	}
	return x.both.Isend(buf, r, tag)
}

// Irecv starts a receive.
func (x *Intercomm) Irecv(buf any, source, tag int) (*Request, error) {
	r, err := x.peer("Intercomm.Irecv", source)
	if err != nil {
		return nil, err
	}
	return x.both.Irecv(buf, r, tag)
}

// Barrier waits for all ranks of both groups.
func (x *Intercomm) Barrier() error { return x.colls.Barrier() }

// Bcast brings buf from one rank, which gives [Root], to the other group, whose ranks give
// the root's rank; those of the root's group give ProcNull. Like all collectives here it
// blocks.
func (x *Intercomm) Bcast(buf any, root int) error {
	send, recv := x.nothing(), x.nothing()
	switch root {
	case Root:
		for _, r := range x.there {
			send[r] = buf
		}
	case ProcNull:
	default:
		r, err := x.peer("Intercomm.Bcast", root)
		if err != nil {
			return err
		}
		recv[r] = buf
	}
	return x.colls.Alltoallw(send, recv)
}

// nothing is a buffer for each rank of both groups.
func (x *Intercomm) nothing() []any { return make([]any, x.colls.size) }

// parts gives each rank of the other group its part of buf.
func (x *Intercomm) parts(call string, buf any, list []any) error {
	m, bad := resolve(call, buf)
	switch n := len(x.there); {
	case bad != nil:
		return x.both.at(bad)
	case m.inPlace || m.spread != nil:
		return x.both.misuse(ErrBuffer, call, "a %T has no parts here", buf)
	case m.elems()%n != 0:
		return x.both.misuse(ErrCount, call, "%d elements, which %d ranks cannot share equally", m.elems(), n)
	default:
		for i, r := range x.there {
			list[r] = m.cut(i*(m.elems()/n), m.elems()/n)
		}
	}
	return nil
}

// Allgather brings what each rank of the other group gives, one after the other.
func (x *Intercomm) Allgather(send, recv any) error {
	outs, ins := x.nothing(), x.nothing()
	for _, r := range x.there {
		outs[r] = send
	}
	if err := x.parts("Intercomm.Allgather", recv, ins); err != nil {
		return err
	}
	return x.colls.Alltoallw(outs, ins)
}

// Alltoall sends a part to each rank of the other group, and receives one of each.
func (x *Intercomm) Alltoall(send, recv any) error {
	outs, ins := x.nothing(), x.nothing()
	if err := x.parts("Intercomm.Alltoall", send, outs); err != nil {
		return err
	}
	if err := x.parts("Intercomm.Alltoall", recv, ins); err != nil {
		return err
	}
	return x.colls.Alltoallw(outs, ins)
}

// Allreduce reduces what the other group gives.
func (x *Intercomm) Allreduce(send, recv any, op Op) error {
	if err := x.local.Allreduce(send, recv, op); err != nil {
		return err
	}
	// Each rank tells the result to those of the other group whose turn it is.
	for i := x.Rank(); i < len(x.there); i += x.Size() {
		if err := x.colls.Bsend(recv, x.there[i], 0); err != nil {
			return err
		}
	}
	_, err := x.colls.Recv(recv, x.there[x.Rank()%len(x.there)], 0)
	return err
}

// Merge makes a communicator of both groups (MPI_Intercomm_merge): that whose ranks say
// high comes last. All ranks call it. It blocks.
func (x *Intercomm) Merge(high bool) (*Comm, error) {
	key := 0
	if high {
		key = 1
	}
	return x.both.Split(0, key)
}

// Free ends the communicator. All ranks of both groups call it. It blocks.
func (x *Intercomm) Free() error {
	return errors.Join(x.colls.Free(), x.both.Free(), x.local.Free())
}
