package local

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// The segment is the memory that the ranks of a job share: a header, a block
// of each rank, the control words of the rings, the rings. A ring carries the
// frames of one rank to one other.
const (
	segmentMagic   = 0x31304c4d41445547 // "GUDAML01"
	headerBytes    = 4096
	rankBlockBytes = 128
	ringCtlBytes   = 64
)

// segmentHeader is written by the launcher before any rank sees the segment.
type segmentHeader struct {
	magic     uint64
	ranks     uint32
	ringBytes uint32
}

// rankBlock is what concerns one rank.
type rankBlock struct {
	asleep atomic.Uint32 // 1 while its agent sleeps on this word
	// A number in the rank's own heap, and where: who can read it there can
	// read messages there too.
	cookie, cookieAt atomic.Uint64
	_                [40]byte
	// In a world of many ranks, a bit for each rank that has written into its ring
	// to this one since this one last looked.
	written [MaxRanks / 64]atomic.Uint64
}

var _ [rankBlockBytes]byte = [unsafe.Sizeof(rankBlock{})]byte{}

// ringControl is a ring's line for what its reader tells its writer.
type ringControl struct {
	head atomic.Uint64 // lines that were read and may be written again
	want atomic.Uint32 // the writer waits for room
}

// ringBytesFor keeps the rings of large jobs small.
func ringBytesFor(ranks int) int {
	switch {
	case ranks <= 16:
		return 256 << 10
	case ranks <= 64:
		return 64 << 10
	}
	return 16 << 10
}

func ringsAt(ranks int) int {
	n := headerBytes + ranks*rankBlockBytes + ranks*ranks*ringCtlBytes
	return (n + 4095) &^ 4095
}

// segmentBytes is the size of a job's segment. Pages that no message touches
// take no memory.
func segmentBytes(ranks int) int { return ringsAt(ranks) + ranks*ranks*ringBytesFor(ranks) }

// formatSegment writes the header into zeroed memory.
func formatSegment(mem []byte, ranks int) {
	*(*segmentHeader)(unsafe.Pointer(&mem[0])) = segmentHeader{segmentMagic, uint32(ranks), uint32(ringBytesFor(ranks))}
}

// segment is the mapping as one rank sees it.
type segment struct {
	mem   []byte
	ranks int
}

// openSegment checks what is mapped.
func openSegment(mem []byte, ranks int) (*segment, error) {
	if len(mem) < headerBytes {
		return nil, fmt.Errorf("the job's shared memory has %d bytes: too few to be one", len(mem))
	}
	h := *(*segmentHeader)(unsafe.Pointer(&mem[0]))
	if h.magic != segmentMagic || int(h.ranks) != ranks || int(h.ringBytes) != ringBytesFor(ranks) || len(mem) != segmentBytes(ranks) {
		return nil, fmt.Errorf("the job's shared memory is damaged, or of another release: magic %#x, %d ranks (expected %d), rings of %d bytes, %d bytes in all",
			h.magic, h.ranks, ranks, h.ringBytes, len(mem))
	}
	return &segment{mem, ranks}, nil
}

func (s *segment) rank(i int) *rankBlock {
	return (*rankBlock)(unsafe.Pointer(&s.mem[headerBytes+i*rankBlockBytes]))
}

// ring is the one from src to dst, as either end sees it at the start.
func (s *segment) ring(src, dst int) *ring {
	i := dst*s.ranks + src
	size := ringBytesFor(s.ranks)
	at := ringsAt(s.ranks) + i*size
	return newRing(s.mem[at:at+size], (*ringControl)(unsafe.Pointer(&s.mem[headerBytes+s.ranks*rankBlockBytes+i*ringCtlBytes])))
}
