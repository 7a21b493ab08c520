package device

import (
	"encoding/binary"
	"unsafe"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/fabric"
	"gocuda/cudaapi/mpi/internal/transport"
)

// Inline is the length of an envelope, and of the longest message of device
// memory that its sender does not wait with until it is received.
const Inline = 256

// envelope stands for a message.
type envelope struct {
	path   byte
	id     uint32
	sender uint32 // rank in the world
	key    uint64 // the sending, in the sender's process
	bytes  uint64
	host   [16]byte
	memory fabric.Export
	ready  cuda.IPCEvent
	slot   byte // where the sender says that it has withdrawn the message; 0: it does not
}

// The paths of envelopes.
const (
	byIPC    = 1 // the data can be opened, and read when the event is done
	onDemand = 2 // ask for them
	byIPCNow = 3 // the data can be opened, and read
)

func (e *envelope) encode(mark [16]byte) []byte {
	b := make([]byte, 0, Inline)
	b = append(b, mark[:]...)
	b = append(b, e.path)
	b = binary.LittleEndian.AppendUint32(b, e.id)
	b = binary.LittleEndian.AppendUint32(b, e.sender)
	b = binary.LittleEndian.AppendUint64(b, e.key)
	b = binary.LittleEndian.AppendUint64(b, e.bytes)
	b = append(b, e.host[:]...)
	b = e.memory.Append(b)
	b = append(b, e.ready[:]...)
	b = append(b, e.slot)
	return b[:Inline]
}

// open reads a message that may be an envelope.
func open(b []byte, mark [16]byte) (*envelope, bool) {
	if len(b) != Inline || [16]byte(b) != mark {
		return nil, false
	}
	e := &envelope{path: b[16]}
	b = b[17:]
	e.id = binary.LittleEndian.Uint32(b)
	e.sender = binary.LittleEndian.Uint32(b[4:])
	e.key = binary.LittleEndian.Uint64(b[8:])
	e.bytes = binary.LittleEndian.Uint64(b[16:])
	b = b[24+copy(e.host[:], b[24:]):]
	memory, err := fabric.ReadExport(b)
	e.memory = memory
	b = b[fabric.ExportSize:]
	b = b[copy(e.ready[:], b):]
	e.slot = b[0]
	return e, err == nil && e.path >= byIPC && e.path <= byIPCNow
}

// The answers to an envelope.
const (
	taken     = 1 // the data has been read
	takenWhen = 2 // when the event that follows is done
	wanted    = 3 // send the pieces
	refused   = 4 // it does not work; why follows
	dropped   = 5 // nobody reads it
	again     = 6 // as wanted, though the memory can be opened
)

const answerSize = 1 + 64

// Tags on the hidden communicator, whose lower half others use: answers go from
// receiver to sender, pieces from sender to receiver.
const (
	firstTag = 1 << 14
	tags     = 1 << 12
)

func answerTag(id uint32) int { return firstTag + int(id%tags) }
func pieceTag(id uint32) int  { return firstTag + tags + int(id%tags) }

// bytesOf is host memory as a transport takes it, and memoryOf what a transport
// takes as bytes.
func memoryOf(b []byte) transport.Memory {
	return transport.Memory{P: unsafe.Pointer(unsafe.SliceData(b)), N: len(b), T: transport.Byte}
}

func bytesOf(m transport.Memory) []byte { return unsafe.Slice((*byte)(m.P), m.Bytes()) }
