package coll

import (
	"unsafe"

	"gocuda/cudaapi/mpi/internal/transport"
)

// Host is the Space of ordinary memory.
var Host Space = hostSpace{}

type hostSpace struct{}

func (hostSpace) Alloc(n int, t transport.Type) (Memory, func(), error) {
	words := make([]uint64, (n*t.Size()+7)/8)
	return Memory{P: unsafe.Pointer(unsafe.SliceData(words)), N: n, T: t}, nil, nil
}

func (hostSpace) Copy(dst, src Memory) (transport.Request, error) {
	copy(unsafe.Slice((*byte)(dst.P), src.Bytes()), unsafe.Slice((*byte)(src.P), src.Bytes()))
	return nil, nil
}

// HostOp is a predefined reduction of ordinary memory. What the standard does
// not define, such as a bitwise reduction of floats, is an error.
func HostOp(op transport.Op, t transport.Type) (Op, error) {
	f := kernelOf(op, t)
	if f == nil {
		return Op{}, &transport.Error{Class: "MPI_ERR_OP", Call: "MPI_Reduce", Text: "this operator is not defined for this type"}
	}
	return Op{Commutative: true, Reduce: func(dst, a, b Memory) (transport.Request, error) {
		f(dst.P, a.P, b.P, dst.N)
		return nil, nil
	}}, nil
}
