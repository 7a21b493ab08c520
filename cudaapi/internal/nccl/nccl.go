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

// Library is NCCL, loaded.
type Library interface {
	// Path is the name under which the library was loaded.
	Path() string
	// Version is NCCL's version, such as "2.27.3".
	Version() string
	// NewID draws the name of a communicator (ncclGetUniqueId).
	NewID() (ID, error)
	// InitAll makes a communicator of devices of this process (ncclCommInitAll).
	InitAll(devices []*cuda.Device) ([]Comm, error)
	// InitRanks makes this process's members, first and those after it, of a
	// communicator of size members in several processes (ncclCommInitRankScalable).
	// It blocks until all processes have called.
	InitRanks(devices []*cuda.Device, first, size int, id ID) ([]Comm, error)
	// Group makes the calls that f makes one (ncclGroupStart, ncclGroupEnd), so that
	// operations of several devices do not wait for each other. The first operations
	// of a communicator connect its members: they block until all have called.
	Group(f func() error) error
}

// Comm is one member's end of a communicator, on one device.
type Comm interface {
	// AllReduce queues recv = the combination of all members' send, which may be
	// recv itself (ncclAllReduce).
	AllReduce(send, recv *cuda.Buffer, op cuda.ReduceOp, s *cuda.Stream) error
	// Broadcast queues recv = root's send (ncclBroadcast).
	Broadcast(send, recv *cuda.Buffer, root int, s *cuda.Stream) error
	// Reduce queues recv = the combination of all members' send, at root (ncclReduce).
	Reduce(send, recv *cuda.Buffer, op cuda.ReduceOp, root int, s *cuda.Stream) error
	// Send queues the sending of b's bytes to a peer, who must queue Recv (ncclSend).
	Send(b *cuda.Buffer, peer int, s *cuda.Stream) error
	// Recv queues the receipt of b's bytes from a peer (ncclRecv).
	Recv(b *cuda.Buffer, peer int, s *cuda.Stream) error
	// AsyncError is what went wrong in the background, such as a lost peer
	// (ncclCommGetAsyncError).
	AsyncError() error
	// Destroy ends the member when its operations are done (ncclCommDestroy). It
	// blocks.
	Destroy() error
	// Abort ends the member and whatever of its operations is under way, so that a
	// peer that is gone is waited for no longer (ncclCommAbort).
	Abort() error
}

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
