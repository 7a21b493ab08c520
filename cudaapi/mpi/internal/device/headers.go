package device

import (
	"unsafe"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/handshake"
	"gocuda/cudaapi/internal/ipc"
	"gocuda/cudaapi/mpi/internal/transport"
)

// Inline is the length of an RTS, and of the longest message of device memory that
// its sender does not wait with until it is received.
const Inline = 256

// rts says that a message is ready to be sent: it stands in the message's place.
type rts struct {
	mark   [16]byte
	offer  offer
	slot   uint8  // where the sender says that it has withdrawn the offer; 0: it does not
	sender uint32 // rank in the world
	key    uint64 // of the message in the sender's process
	bytes  uint64
	host   [16]byte
	memory ipc.Export
	ready  cuda.IPCEvent
	_      [24]byte
}

var _ [Inline]byte = [unsafe.Sizeof(rts{})]byte{}

// offer is what the receiver can do about an RTS.
type offer uint8

const (
	offerNothing offer = iota + 1 // only ask for the data
	offerMemory                   // open the memory, and read it
	offerLater                    // open it, and read it when the event is done
)

// readRTS reads a message that may be an RTS.
func readRTS(b []byte, mark [16]byte) (h rts, ok bool) {
	if len(b) != Inline || [16]byte(b) != mark {
		return h, false
	}
	copy(handshake.Bytes(&h), b)
	return h, h.offer >= offerNothing && h.offer <= offerLater
}

// reply answers an RTS.
type reply struct {
	key  uint64 // of the message
	tag  int32  // of rtr and rtrAgain, for the data
	kind replyKind
	body [64]byte // of atsLater the event's handle, of nack why
}

type replyKind uint8

const (
	ats      replyKind = iota + 1 // acknowledged: the data have been read
	atsLater                      // they have been when the event is done
	rtr                           // ready to receive: send the data, for the memory cannot be opened
	rtrAgain                      // send them, though the memory can be opened
	nack                          // it does not work
	discard                       // nobody reads the data
)

// Tags on the communicator that programs do not see. Its lower half is package
// mpi's: replies go from receiver to sender, fragments from sender to receiver.
const (
	replyTag         = 1 << 14
	firstFragmentTag = replyTag + 1
	// FreeTag is the first tag that the engine leaves to others.
	FreeTag = replyTag + 1<<13
)

// Host is host memory as a transport takes it.
func Host(b []byte) transport.Memory {
	return transport.Memory{P: unsafe.Pointer(unsafe.SliceData(b)), N: len(b), T: transport.Byte}
}

// bytesOf is what a transport takes, as bytes.
func bytesOf(m transport.Memory) []byte { return unsafe.Slice((*byte)(m.P), m.Bytes()) }

// Channel is a communicator for handshakes.
func Channel(c transport.Comm) handshake.Channel { return channel{c} }

type channel struct{ transport.Comm }

func (c channel) Allgather(mine, all []byte) error {
	into := Host(all)
	into.N = len(mine) // of one rank
	r, err := c.Start(&transport.Collective{Kind: transport.Allgather, Send: Host(mine), Recv: into})
	if err == nil {
		err = Wait(r)
	}
	return err
}
