// Package coll has MPI's collectives as algorithms over point-to-point
// messages. An algorithm is written as a straight list of steps (send,
// receive, copy, reduce, wait), which a [Request] carries out as far as it
// goes each time it is asked; so no goroutine is held, and any number of
// collectives can be under way at once.
//
// The memory may be the host's or a device's: [Space] does what is local.
package coll

import (
	"unsafe"

	"gocuda/cudaapi/mpi/internal/transport"
)

type (
	// Memory is transport.Memory.
	Memory = transport.Memory
	// Peers are the ranks that take part. A transport.Comm will do, if nothing
	// else is sent on it with the same tag.
	Peers interface {
		Rank() int
		Size() int
		Isend(buf Memory, dest, tag int) (transport.Request, error)
		Irecv(buf Memory, source, tag int) (transport.Request, error)
	}
	// Space is where the memory is. Copy and Reduce may return before the work
	// is done, with a Request to wait for; nil says that it is done.
	Space interface {
		// Alloc gets memory for intermediate results; free is called when the
		// collective is over.
		Alloc(n int, t transport.Type) (m Memory, free func(), err error)
		// Copy copies src to the start of dst, which may overlap it.
		Copy(dst, src Memory) (transport.Request, error)
	}
	// Op is a reduction: dst[i] = a[i] op b[i]. dst may be a or b. The algorithms
	// keep to the order of ranks where Commutative is false.
	Op struct {
		Reduce      func(dst, a, b Memory) (transport.Request, error)
		Commutative bool
		// Unit is how many elements belong together, and are not parted: those
		// of a struct, for instance. 0 is 1.
		Unit int
	}
	// Env is what every collective needs: Tag tells the collectives that are
	// under way on the same Peers apart.
	Env struct {
		Peers Peers
		Space Space
		Tag   int
	}
)

// Start starts a collective. op is its reduction, if it has one.
func Start(env Env, x *transport.Collective, op Op) (*Request, error) {
	switch x.Kind {
	case transport.Barrier:
		return Barrier(env)
	case transport.Bcast:
		return Bcast(env, x.Recv, x.Root)
	case transport.Reduce:
		return Reduce(env, x.Send, x.Recv, op, x.Root)
	case transport.Allreduce:
		return Allreduce(env, x.Send, x.Recv, op)
	case transport.Scan:
		return Scan(env, x.Send, x.Recv, op)
	case transport.Exscan:
		return Exscan(env, x.Send, x.Recv, op)
	case transport.ReduceScatter:
		return ReduceScatter(env, x.Send, x.Recv, x.RecvCounts, op)
	case transport.Gather, transport.Gatherv:
		return Gather(env, x.Send, x.Recv, x.RecvCounts, x.RecvDispls, x.Root)
	case transport.Scatter, transport.Scatterv:
		return Scatter(env, x.Send, x.SendCounts, x.SendDispls, x.Recv, x.Root)
	case transport.Allgather, transport.Allgatherv:
		return Allgather(env, x.Send, x.Recv, x.RecvCounts, x.RecvDispls)
	default:
		return Alltoall(env, x.Send, x.SendCounts, x.SendDispls, x.Recv, x.RecvCounts, x.RecvDispls)
	}
}

// part is n elements of m from element at.
func part(m Memory, at, n int) Memory {
	if n == 0 {
		return Memory{T: m.T}
	}
	return Memory{P: unsafe.Add(m.P, at*m.T.Size()), N: n, T: m.T}
}

// whole is all n elements of m, which names one of several parts.
func whole(m Memory, n int) Memory { return Memory{P: m.P, N: n, T: m.T} }

// segments cuts n elements into parts of about size bytes, of whole units.
func segments(m Memory, bytes, unit int) []Memory {
	each := max(1, bytes/m.T.Size()/unit) * unit
	var parts []Memory
	for at := 0; at < m.N; at += each {
		parts = append(parts, part(m, at, min(each, m.N-at)))
	}
	return parts
}

// blocks cuts n elements into p parts as equal as can be, of whole units;
// block i begins at the i-th of the p+1 numbers.
func blocks(n, p, unit int) []int {
	n /= unit
	at := make([]int, p+1)
	for i := range at {
		at[i] = (n/p*i + min(i, n%p)) * unit
	}
	return at
}

// between is m from element a to element b.
func between(m Memory, a, b int) Memory { return part(m, a, b-a) }
