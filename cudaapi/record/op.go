// Package record writes down what a program queues on devices: every copy,
// kernel, fill, wait and allocation, in the order of the calls, with the place
// in the program that made each.
//
// [Wrap] puts a recorder around a [driver.Driver]. What is recorded goes to
// sinks, such as the checker of package hazard. Without a recorder nothing is
// wrapped.
package record

import (
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/callsite"
)

// Kind is what an operation does.
type Kind uint8

// Kinds of operations. Those from Kernel to GraphLaunch are queued in a lane, a
// Request may be; the others are the host's.
const (
	None        Kind = iota // a call that failed
	Kernel                  // a launch
	Copy                    //
	Fill                    //
	HostFunc                // a function that runs in a stream's order
	Mark                    // an event is recorded
	Wait                    // a stream waits for an event
	WaitValue               // a stream waits for memory to change
	WriteValue              // a stream writes a word
	AllocAsync              // stream-ordered memory
	FreeAsync               //
	Prefetch                //
	GraphLaunch             // a graph's nodes
	Request                 // a message's transfer, from its start to its completion

	Alloc         // memory that is not stream-ordered, or was imported
	Free          //
	HostAccess    // the host reads or writes memory itself
	HostFuncDone  // a host function has returned
	HostFuncBegun // one begins: what its stream did before is done
	SyncLane      // the host waits for a stream
	SyncEvent     // the host waits for an event, or saw that it is done
	SyncContext   // the host waits for all streams of a context
	SyncRequest   // the host waits for a request
	SyncAll       // everything before is done: recording began, or a device was reset
	LaneGone      // a stream was destroyed
	EventGone     // an event was
	ShareMemory   // memory got a name by which other processes can open it
	ShareEvent    // an event got one, or was opened by it
	ExecGone      // an executable graph was destroyed
	SyncBegun     // the host begins to wait, for what was queued before
	SyncEnded     // it gave up a wait that it had begun
)

var kindNames = [...]string{"", "kernel", "copy", "fill", "host function", "event", "wait", "wait value", "write value", "allocation", "free",
	"prefetch", "graph", "message", "allocation", "free", "host", "host function", "synchronize", "synchronize", "synchronize", "wait", "", "destroy", "destroy", "export", "export", "destroy", "", ""}

func (k Kind) String() string { return kindNames[k] }

// Mode is how an operation touches memory.
type Mode uint8

const (
	Read   Mode = 1
	Write  Mode = 2
	Atomic Mode = 3 // reads and writes that no other atomic operation can split
)

// Access is a range of addresses that an operation touches.
type Access struct {
	Lo, Hi uint64
	Mode   Mode
}

// Lane is what keeps its operations in order: a stream.
type Lane struct {
	ID      int
	Context driver.Context
	Device  driver.Device
	Name    string
	Made    callsite.Place // where in the program, if that is known
	Handle  driver.Stream
	// Blocking lanes and the context's legacy one wait for each other.
	Blocking, Legacy bool
	Rank             int // whose it is, where the records of several are one
}

// Event is an event, of which each record is a moment of its own.
type Event struct{ ID int }

// Role is what an operation is to those of other ranks.
type Role uint8

// The roles. A collective's tell whose data its result at a rank has.
const (
	Sends     Role = iota // a message
	Receives              // one
	FromAll               // all ranks'
	FromRoot              // the root's
	ToRoot                // all ranks', at the root; elsewhere none
	FromLower             // those of the ranks before and its own
)

// Message is what an operation has to do with those of other ranks: by it they are
// found.
type Message struct {
	Role Role
	Comm string // the same at all ranks of a communicator, and no other one's
	Rank int    // this one's in it
	Size int    // of it
	Peer int    // to whom, or from whom: of a receive that is not done, negative for anybody
	Tag  int    // of a receive that is not done, negative for any
	Root int
	// Synchronous sends are done when their receive has begun.
	Synchronous bool
	// InStream says of a receive that the data come in a stream's order: where, says
	// the Request whose Target it is.
	InStream bool
	// N is its number among those of one sender, receiver, communicator and tag, or
	// among a communicator's collectives. The record does not know: who reads the
	// records of all ranks finds it.
	N int
}

// Node is an operation of a graph.
type Node struct {
	Op   *Op
	Deps []int // the nodes that it follows; earlier ones
}

// Op is an operation.
type Op struct {
	Seq  uint64 // order of the calls
	Kind Kind
	Call string // of the API, such as cuMemcpyAsync
	Name string // a kernel's
	Site callsite.Site
	Rank int
	// Meant says that what it is in hazard with is so on purpose.
	Meant bool

	Lane  *Lane // that it is queued in; nil for the host's
	Event *Event
	// Accesses are what it touches; see Watched.
	Accesses []Access
	Bytes    uint64
	From, To driver.MemoryType // of a Copy
	// Guess says that Accesses are what a kernel could touch, not what it did.
	Guess bool
	// Watched operations' accesses are known when they have run: Touched is
	// called then, once.
	Watched *Watched

	// Told are words by which a kernel that runs may tell others something, or be
	// told, and HostFlag says that one is in memory of the host. They are known with
	// its accesses.
	Told     []Access
	HostFlag bool

	// HostBefore and HostAfter say that by the API's documentation the call
	// returns when what was queued before it in the lane, or the operation
	// itself, is done.
	HostBefore, HostAfter bool
	// HostReads are what the host has read when the call returns: pageable memory
	// that is staged.
	HostReads []Access
	// Around are contexts all of whose work comes before it or after it.
	Around []driver.Context
	// Also are other lanes whose work comes before it or after it: of a Request that
	// has a place in several.
	Also []*Lane
	// Behind are devices whose default streams' work comes before it: of a Request.
	Behind []driver.Device

	Context driver.Context // of SyncContext
	Addr    uint64         // of Alloc, Free and their stream-ordered forms, and of values
	Value   uint64         // of WaitValue and WriteValue
	Width   int            // of the word, in bytes
	Flags   driver.WaitFlags
	Target  *Op // the host function that is done, or that a HostAccess is in; the request that is waited for, or that asked for what a Request receives; the SyncBegun of a wait

	// Single says that a HostAccess is of one element, which the processor reads or
	// writes at once.
	Single bool
	// Closes is what a Free no longer lets this process use of another's memory, where
	// the records of both are one.
	Closes Access
	// Keeps says that a Free leaves the memory to the program: it was registered; and that
	// the memory of an Alloc was there before it, what was freed in its place even earlier.
	Keeps bool

	// Key is by what another process opens memory or an event: of ShareMemory,
	// ShareEvent, and an Alloc that opens memory.
	Key string
	// Message is what a Request has to do with other ranks; of the SyncRequest that
	// ends a receive, what has come, nil if nothing has.
	Message *Message

	Nodes []Node // of GraphLaunch
	Exec  uint64 // of GraphLaunch and ExecGone: which executable graph, for no other one
	Via   *Op    // of a node that runs: the launch
	Of    *Op    // of a node that runs: the operation that was captured
}

// Device is where it runs, -1 for the host.
func (o *Op) Device() int {
	if o.Lane == nil {
		return -1
	}
	return int(o.Lane.Device)
}
