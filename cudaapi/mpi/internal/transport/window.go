package transport

import "unsafe"

// Flavor says where a window's memory comes from.
type Flavor uint8

// The flavors, by MPI's names.
const (
	Created   Flavor = iota // the program's own
	Allocated               // the window's
	Shared                  // the window's, which all ranks can read and write
	Dynamic                 // what is attached
)

// AccessKind says which one-sided operation one is.
type AccessKind uint8

// The one-sided operations.
const (
	Put AccessKind = iota
	Get
	Accumulate
	GetAccumulate
	FetchAndOp
	CompareAndSwap
)

// Replace and NoOp are operations of accumulates only.
const (
	Replace = MaxLoc + 1 + iota
	NoOp
)

// Access is a one-sided operation. Memory that a kind has no use for is left out.
type Access struct {
	Kind AccessKind
	// Origin is what is sent, Compare what CompareAndSwap compares with, and Result
	// what receives. Of accumulates they are of the type that is computed with.
	Origin, Compare, Result Memory
	Target                  int
	// At is the distance from the target's memory, in bytes; in a dynamic window, the
	// address.
	At int
	Op Op
	// Then, if any, is run when the result has come.
	Then func() error
}

// SyncKind says which synchronization one is.
type SyncKind uint8

// The synchronizations, by MPI's names.
const (
	Fence SyncKind = iota
	Post
	StartAccess
	Complete
	WaitExposure
	TestExposure
	Lock
	LockAll
	Unlock
	UnlockAll
	Flush
	FlushAll
	FlushLocal
	FlushLocalAll
	SyncMemory
)

var syncNames = [...]string{Fence: "MPI_Win_fence", Post: "MPI_Win_post", StartAccess: "MPI_Win_start", Complete: "MPI_Win_complete",
	WaitExposure: "MPI_Win_wait", TestExposure: "MPI_Win_test", Lock: "MPI_Win_lock", LockAll: "MPI_Win_lock_all", Unlock: "MPI_Win_unlock",
	UnlockAll: "MPI_Win_unlock_all", Flush: "MPI_Win_flush", FlushAll: "MPI_Win_flush_all", FlushLocal: "MPI_Win_flush_local",
	FlushLocalAll: "MPI_Win_flush_local_all", SyncMemory: "MPI_Win_sync"}

func (k SyncKind) String() string { return syncNames[k] }

// Assert is what a program promises of an epoch, as bits.
type Assert uint8

// The promises, by MPI's names.
const (
	NoCheck Assert = 1 << iota
	NoStore
	NoPut
	NoPrecede
	NoSucceed
)

// Sync is a synchronization of a window.
type Sync struct {
	Kind      SyncKind
	Target    int   // of Lock, Unlock and the flushes of one target
	Group     []int // of Post and StartAccess
	Exclusive bool  // of Lock
	Assert    Assert
}

// Window is memory that other ranks read and write. Its methods may be called by
// any goroutine.
type Window interface {
	// Base is the memory that the window has for this rank, nil if it has none.
	Base() unsafe.Pointer
	// SharedBase is a rank's memory of a Shared window, as this rank sees it.
	SharedBase(rank int) (unsafe.Pointer, error)
	// Access starts an operation. What was started is over when a synchronization says
	// so; the Request, which is nil unless it is asked for, when the buffers may be used.
	Access(a *Access, request bool) (Request, error)
	// Sync blocks until the synchronization is done; TestExposure does not, and says
	// whether it is. When stop closes, it ends with the error that the caller gives.
	Sync(s Sync, stop <-chan struct{}) (done bool, err error)
	Attach(m Memory) error
	Detach(m Memory) error
	// Unified tells whether stores by the program and by other ranks meet in one memory
	// (MPI_WIN_UNIFIED).
	Unified() bool
	// Free is collective and blocks.
	Free() error
}

// ErrNoWindow is what NewWindow gives at all ranks where a library cannot make it.
var ErrNoWindow = &Error{Class: Other, Text: "the library makes no such window"}

// ErrStopped is what Window.Sync ends with when stop closes.
var ErrStopped = &Error{Class: Other, Text: "the wait was ended"}

// Windows is what a Comm makes windows by. It is collective and blocks. The
// communicator must be used for nothing else as long as the window is there.
type Windows interface {
	NewWindow(f Flavor, m Memory, hints map[string]string) (Window, error)
}

// The classes of errors of one-sided operations.
const (
	RMARange  Class = "MPI_ERR_RMA_RANGE"
	RMASync   Class = "MPI_ERR_RMA_SYNC"
	RMAShared Class = "MPI_ERR_RMA_SHARED"
	RMAAttach Class = "MPI_ERR_RMA_ATTACH"
)

// Type is the type of the elements.
func (a *Access) Type() Type {
	if a.Origin.P == nil {
		return a.Result.T
	}
	return a.Origin.T
}
