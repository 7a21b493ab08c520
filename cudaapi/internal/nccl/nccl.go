// Package nccl calls NVIDIA's collective library, found at run time.
package nccl

import (
	"fmt"

	"gocuda/cudaapi/cuda"
)

// ID names a communicator that is being made: one process draws it and tells
// the others (ncclUniqueId).
type ID [128]byte

// Error is a failed call.
type Error struct {
	Call string // such as "ncclAllReduce"
	Code int    // ncclResult_t
	Text string // the library's words
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s (%d)", e.Call, e.Text, e.Code) }

// types are ncclDataType_t.
var types = map[cuda.Type]uintptr{
	cuda.Int8: 0, cuda.Uint8: 1, cuda.Int32: 2, cuda.Uint32: 3, cuda.Int64: 4, cuda.Uint64: 5,
	cuda.Float16: 6, cuda.Float32: 7, cuda.Float64: 8, cuda.BFloat16: 9,
}

// ops are ncclRedOp_t.
var ops = map[cuda.ReduceOp]uintptr{cuda.ReduceSum: 0, cuda.ReduceProd: 1, cuda.ReduceMax: 2, cuda.ReduceMin: 3}

// Can reports whether NCCL has the operator for elements of type t.
func Can(op cuda.ReduceOp, t cuda.Type) bool {
	_, typ := types[t]
	_, known := ops[op]
	return typ && known
}
