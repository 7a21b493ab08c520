// Package transport is what package mpi asks of a message-passing library:
// point-to-point messages and collectives on plain host memory, in MPI's
// terms. Package libmpi has it from an MPI library, package local from
// processes of one machine.
//
// A Transport may assume that its arguments were checked: ranks exist, tags
// are in range, lengths fit the memory. It reports what only it can know.
// Every method may be called by any goroutine at any time.
package transport

import (
	"fmt"
	"time"
	"unsafe"
)

// Type is the type of a message's elements.
type Type uint8

// The element types. The pairs are a value and an int32 index beside it,
// laid out as C does, for MinLoc and MaxLoc.
const (
	Byte Type = iota + 1 // uninterpreted; also what structs and strings travel as
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float32
	Float64
	Complex64
	Complex128
	Bool       // one byte, 0 or 1
	Float32Int // struct{ float32; int32 }
	Float64Int // struct{ float64; int32 }
	Int32Int   // struct{ int32; int32 }
	Int64Int   // struct{ int64; int32 }
)

// Op is a predefined reduction.
type Op uint8

// The reductions of the MPI standard.
const (
	Sum Op = iota + 1
	Prod
	Min
	Max
	LogicalAnd
	LogicalOr
	LogicalXor
	BitAnd
	BitOr
	BitXor
	MinLoc
	MaxLoc
)

// Wildcards and the rank of nobody, for arguments and for Status.
const (
	AnySource = -1
	AnyTag    = -1
	ProcNull  = -2
	Undefined = -3 // the color of a rank that joins no part of a Split
)

// Memory is the N elements of type T at P. The zero Memory is no elements.
type Memory struct {
	P unsafe.Pointer
	N int
	T Type
	// Elem is what the program has in memory that travels as Byte; 0 is unknown.
	// A transport that can tell it to the receiver refuses what is of another type.
	Elem Type
	// Device is not nil if P is an address of CUDA's, which this process cannot
	// read at: it is what keeps the memory from being freed, and is held as long
	// as the memory is in use. Only a transport whose [Info] says CUDAAware takes
	// it, and not for reductions.
	Device any
}

// Status reports a message that came.
type Status struct {
	Source, Tag int
	Bytes       int
	Cancelled   bool
}

// Request is an operation under way. It keeps its memory alive.
type Request interface {
	// Test asks whether the operation is complete, moves it on, and does not
	// block. Once it has said yes or given an error, the Request is over and
	// says the same again. A receive of a message longer than its memory ends
	// with an [Error] of class Truncate, and nothing is written past the memory.
	Test() (Status, bool, error)
	// Cancel gives the operation up: a receive that has not matched will match
	// nothing. Test must still be called until it says that the operation is
	// over. What cannot be cancelled any more (a matched receive, a send, a
	// collective) goes on.
	Cancel() error
}

// Message is one that Improbe took out of the queue, to be received by Imrecv.
type Message interface {
	Imrecv(buf Memory) (Request, error)
}

// Comm is a communicator. Collectives are started by all ranks in the same
// order.
type Comm interface {
	Rank() int
	Size() int

	// Isend starts a send, Issend one that completes only when the receive has
	// begun. dest may be ProcNull.
	Isend(buf Memory, dest, tag int) (Request, error)
	Issend(buf Memory, dest, tag int) (Request, error)
	// Irecv starts a receive; source may be AnySource or ProcNull, tag AnyTag.
	Irecv(buf Memory, source, tag int) (Request, error)
	Iprobe(source, tag int) (Status, bool, error)
	Improbe(source, tag int) (Message, Status, bool, error)

	// Start starts a collective.
	Start(c *Collective) (Request, error)

	// Dup, Split and SplitShared are collective and block; so does Free, which
	// ends the communicator. Split gives nil to a rank of color Undefined.
	Dup() (Comm, error)
	Split(color, key int) (Comm, error)
	SplitShared(key int) (Comm, error)
	Free() error
}

// Info describes a transport, for reports.
type Info struct {
	Name    string // "Open MPI", "MPICH", "Intel MPI", "local"
	Version string // the library's own words
	Library string // path of what was loaded; empty for local
	Found   string // how it was found
	Thread  string // the thread level that was granted, such as "MPI_THREAD_MULTIPLE"
	// CUDAAware says that Memory may be a device's, and Why how that is known.
	CUDAAware bool
	Why       string
}

// Transport is a library that was initialised in this process.
type Transport interface {
	World() Comm
	Self() Comm
	Info() Info
	// TagUB is the largest tag.
	TagUB() int
	// Wtime is MPI_Wtime.
	Wtime() time.Duration
	// Abort ends all ranks with the given exit code, this one too, as far as
	// the transport can.
	Abort(code int)
	// Finalize is collective and blocks. Nothing may be called after it.
	Finalize() error
}

// Class is an MPI error class by its standard name, such as "MPI_ERR_TRUNCATE".
type Class string

// The classes that a transport itself gives.
const (
	Truncate  Class = "MPI_ERR_TRUNCATE"
	WrongType Class = "MPI_ERR_TYPE"
	ProcLost  Class = "MPI_ERR_PROC_FAILED"
	Revoked   Class = "MPI_ERR_REVOKED"
	Other     Class = "MPI_ERR_OTHER"
	// Unsupported is what a library cannot do.
	Unsupported Class = "MPI_ERR_UNSUPPORTED_OPERATION"
	Internal    Class = "MPI_ERR_INTERN"
	NoMemory    Class = "MPI_ERR_NO_MEM"
)

// Error is an error of a transport.
type Error struct {
	Class Class
	Call  string // the MPI function, such as "MPI_Irecv"
	Text  string // the library's text
}

func (e *Error) Error() string { return e.Call + ": " + string(e.Class) + ": " + e.Text }

// Aborted is what ranks say that end because one of them wants all to end.
func Aborted(rank, code int) string {
	return fmt.Sprintf("mpi.Abort(%d) of rank %d ends all ranks", code, rank)
}
