package transport

// Kind says which collective one is.
type Kind uint8

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
)

// Rooted reports whether one rank, the root, has a part of its own.
func (k Kind) Rooted() bool {
	switch k {
	case Bcast, Reduce, Gather, Gatherv, Scatter, Scatterv:
		return true
	}
	return false
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
