package transport

import (
	"fmt"
	"strings"
)

// Kind says which collective one is.
type Kind uint8

var kindNames = [...]string{
	Barrier: "Barrier", Bcast: "Bcast", Reduce: "Reduce", Allreduce: "Allreduce", Gather: "Gather", Gatherv: "Gatherv",
	Scatter: "Scatter", Scatterv: "Scatterv", Allgather: "Allgather", Allgatherv: "Allgatherv", Alltoall: "Alltoall",
	Alltoallv: "Alltoallv", Scan: "Scan", Exscan: "Exscan", ReduceScatter: "ReduceScatter",
	Alltoallw: "Alltoallw", NeighborAllgather: "NeighborAllgather", NeighborAllgatherv: "NeighborAllgatherv",
	NeighborAlltoall: "NeighborAlltoall", NeighborAlltoallv: "NeighborAlltoallv", NeighborAlltoallw: "NeighborAlltoallw",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return ""
}

// The collectives, by their names in the MPI standard.
const (
	Barrier Kind = iota
	Bcast
	Reduce
	Allreduce
	Gather
	Gatherv
	Scatter
	Scatterv
	Allgather
	Allgatherv
	Alltoall
	Alltoallv
	Scan
	Exscan
	ReduceScatter

	// Package mpi does these by messages: no transport is given them.
	Alltoallw
	NeighborAllgather
	NeighborAllgatherv
	NeighborAlltoall
	NeighborAlltoallv
	NeighborAlltoallw
)

// Rooted reports whether one rank, the root, has a part of its own.
func (k Kind) Rooted() bool {
	switch k {
	case Bcast, Reduce, Gather, Gatherv, Scatter, Scatterv:
		return true
	}
	return false
}

// Ragged reports whether ranks may have parts of different lengths, and so none.
func (k Kind) Ragged() bool {
	switch k {
	case Gatherv, Scatterv, Allgatherv, Alltoallv, ReduceScatter:
		return true
	}
	return k >= Alltoallw
}

// Reduces reports whether it computes.
func (k Kind) Reduces() bool {
	switch k {
	case Reduce, Allreduce, Scan, Exscan, ReduceScatter:
		return true
	}
	return false
}

// Collective is a collective: which one, and on what, in MPI's meaning. What a
// kind has no use for is left out; Bcast's memory is Recv. Memory and counts of a
// side that does not count at this rank (Recv of Reduce elsewhere than at the
// root) are not looked at.
type Collective struct {
	Kind Kind
	// Send with a nil P and T 0 is MPI_IN_PLACE, as is Recv of Scatter and
	// Scatterv at the root. Of Gather, Scatter, Allgather and Alltoall, N counts the
	// elements of ONE rank's part on the side that has one for each.
	Send, Recv Memory
	// The parts of a side, in elements: of Recv in Gatherv and Allgatherv, of Send
	// in Scatterv, of both in Alltoallv, and without displacements in ReduceScatter.
	SendCounts, SendDispls []int
	RecvCounts, RecvDispls []int
	Op                     Op
	Root                   int
}

// Signature is what all ranks must agree on in a collective. Where they do not, MPI
// calls the program erroneous.
type Signature struct {
	Kind  Kind
	Root  int  // if it has one
	Op    Op   // if it computes; 0: the program's own
	Type  Type // of what is computed
	Bytes int  // of each rank's part, or of all parts; -1 if ranks may differ
}

// Signature gives it.
func (x *Collective) Signature() Signature {
	s := Signature{Kind: x.Kind}
	if x.Kind.Rooted() {
		s.Root = x.Root
	}
	m := x.Send
	switch x.Kind {
	case Barrier:
		return s
	case Gatherv, Scatterv, Alltoallv, Alltoallw, NeighborAllgather, NeighborAllgatherv, NeighborAlltoall, NeighborAlltoallv, NeighborAlltoallw:
		s.Bytes = -1
		return s
	case Bcast, Allgatherv, ReduceScatter:
		m = x.Recv
	case Scatter:
		if m = x.Recv; m.InPlace() {
			m = x.Send
		}
	default:
		if m.InPlace() {
			m = x.Recv
		}
	}
	if x.Kind.Reduces() {
		s.Op, s.Type = x.Op, m.T
	}
	if s.Bytes = m.Bytes(); x.RecvCounts != nil {
		s.Bytes = 0
		for _, n := range x.RecvCounts {
			s.Bytes += n * m.T.Size()
		}
	}
	return s
}

// String writes what ranks can differ in, but for the kind: "root 0, 80 bytes".
func (s Signature) String() string {
	var words []string
	if s.Kind.Rooted() {
		words = append(words, fmt.Sprintf("root %d", s.Root))
	}
	if s.Op != 0 {
		words = append(words, s.Op.String())
	}
	if s.Type != 0 && s.Type != Byte {
		words = append(words, s.Type.String())
	}
	if s.Bytes >= 0 && s.Kind != Barrier {
		words = append(words, fmt.Sprintf("%d bytes", s.Bytes))
	}
	return strings.Join(words, ", ")
}
