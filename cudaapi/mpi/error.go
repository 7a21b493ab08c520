package mpi

import (
	"errors"
	"fmt"
	"strings"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi/internal/transport"
)

// Class is an MPI error class, by its standard name. It is an error, to compare
// with: errors.Is(err, mpi.ErrTruncate).
type Class string

func (c Class) Error() string { return string(c) }

// Name is the class's name, such as MPI_ERR_RANK.
func (c Class) Name() string { return string(c) }

// The error classes that this package gives. A library may give others, as
// Class("MPI_ERR_...").
const (
	ErrBuffer    Class = "MPI_ERR_BUFFER"
	ErrCount     Class = "MPI_ERR_COUNT"
	ErrType      Class = "MPI_ERR_TYPE"
	ErrTag       Class = "MPI_ERR_TAG"
	ErrGroup     Class = "MPI_ERR_GROUP"
	ErrComm      Class = "MPI_ERR_COMM"
	ErrRank      Class = "MPI_ERR_RANK"
	ErrRequest   Class = "MPI_ERR_REQUEST"
	ErrRoot      Class = "MPI_ERR_ROOT"
	ErrOp        Class = "MPI_ERR_OP"
	ErrTopology  Class = "MPI_ERR_TOPOLOGY"
	ErrDims      Class = "MPI_ERR_DIMS"
	ErrArg       Class = "MPI_ERR_ARG"
	ErrWin       Class = "MPI_ERR_WIN"
	ErrRMASync   Class = Class(transport.RMASync)
	ErrRMARange  Class = Class(transport.RMARange)
	ErrRMAShared Class = Class(transport.RMAShared)
	ErrRMAAttach Class = Class(transport.RMAAttach)
	ErrTruncate  Class = Class(transport.Truncate)
	ErrProcLost  Class = Class(transport.ProcLost)
	ErrRevoked   Class = Class(transport.Revoked)
	ErrOther     Class = Class(transport.Other)
	ErrInternal  Class = Class(transport.Internal)
	ErrNoMemory  Class = Class(transport.NoMemory)
	// Of files.
	ErrFile       Class = "MPI_ERR_FILE"
	ErrNoSuchFile Class = "MPI_ERR_NO_SUCH_FILE"
	ErrFileExists Class = "MPI_ERR_FILE_EXISTS"
	ErrAccess     Class = "MPI_ERR_ACCESS"
	ErrReadOnly   Class = "MPI_ERR_READ_ONLY"
	ErrAmode      Class = "MPI_ERR_AMODE"
	ErrIO         Class = "MPI_ERR_IO"
	// ErrUnsupported is what a library cannot do.
	ErrUnsupported Class = Class(transport.Unsupported)
	ErrFinalized   Class = "MPI_ERR_FINALIZED" // a call after Finalize; not one of the standard's
)

// ErrInterrupted is what a blocking call ends with when [SetInterrupt]'s channel
// closes. It is cuda's error of that name.
var ErrInterrupted = cuda.ErrInterrupted

// Error is a failed call.
type Error struct {
	Class Class
	Call  string // such as "Comm.Recv"
	Rank  int    // in the communicator of the call, -1 if there was none
	Peer  int    // the other rank (or the root), -1 if there was none
	Text  string // what was wrong in this case, or the library's text
	Hint  string // what to do
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Call)
	if e.Rank >= 0 {
		fmt.Fprintf(&b, " (rank %d", e.Rank)
		if e.Peer >= 0 {
			fmt.Fprintf(&b, ", peer %d", e.Peer)
		}
		b.WriteByte(')')
	}
	b.WriteString(": " + string(e.Class))
	if e.Text != "" {
		b.WriteString(": " + e.Text)
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Unwrap gives the class, for errors.Is.
func (e *Error) Unwrap() error { return e.Class }

// hints say what to do about an error that a library reports.
var hints = map[Class]string{
	ErrTruncate: "the message was longer than the memory given to receive it: Probe tells the size beforehand; in a collective, the ranks' numbers of elements must fit together",
	ErrProcLost: "Comm.Shrink makes a communicator of the ranks that are left; %mpi restart starts all again",
	ErrRevoked:  "Comm.Shrink makes a communicator of the ranks that live",
}

// misuse is a mistake seen before the library is called.
func misuse(class Class, call, format string, args ...any) *Error {
	return &Error{Class: class, Call: call, Rank: -1, Peer: -1, Text: fmt.Sprintf(format, args...)}
}

// hint adds what to do.
func (e *Error) hint(text string) *Error {
	e.Hint = text
	return e
}

// misuse is a mistake in a call on c.
func (c *Comm) misuse(class Class, call, format string, args ...any) *Error {
	e := misuse(class, call, format, args...)
	e.Rank = c.rank
	return e
}

// fail turns a transport's error into an [Error] of a call on c.
func (c *Comm) fail(call string, peer int, err error) error {
	var own *Error
	if errors.As(err, &own) || errors.Is(err, ErrInterrupted) {
		return err
	}
	e := failure(call, err)
	e.Rank, e.Peer = c.rank, peer
	return e
}

func failure(call string, err error) *Error {
	var te *transport.Error
	if !errors.As(err, &te) {
		return misuse(ErrOther, call, "%v", err)
	}
	class := Class(te.Class)
	text := te.Text
	if te.Call != "" {
		text = te.Call + ": " + text
	}
	return misuse(class, call, "%s", text).hint(hints[class])
}
