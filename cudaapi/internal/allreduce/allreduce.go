// Package allreduce decides how an all-reduce of device memory is done: in
// package collective and in package mpi, whether the caller waits or not. The
// algorithms, the limits between them and where the limits come from are here
// and nowhere else.
package allreduce

import (
	"fmt"
	"strings"
)

// Algorithm is how an all-reduce moves the data.
type Algorithm uint8

// The algorithms. Package collective names those that its users can ask for.
const (
	Auto            Algorithm = iota
	Ring                      // parts go round: the most bandwidth, 2(n-1) steps
	ChunkedRing               // the same in smaller pieces that overlap
	HalvingDoubling           // halves are exchanged with log2(n) partners, and back
	Tree                      // to one member and back: the fewest steps
	Hierarchical              // within nodes, between them, within them
	NCCL                      // NVIDIA's library
	OneShot                   // LL or Simple: one launch at each rank
	LL                        // each four bytes of data beside a flag, in one store
	Simple                    // data, a fence, then a flag
	Group                     // any but a one-shot reduction
	Host                      // copies on the host
	algorithms
)

var names = [algorithms]string{"auto", "ring", "chunked ring", "halving-doubling", "local", "hierarchical", "NCCL", "one-shot", "LL", "simple", "group", "host"}

func (a Algorithm) String() string {
	if a >= algorithms {
		return fmt.Sprintf("Algorithm(%d)", uint8(a))
	}
	return names[a]
}

// wishes are the values of GOCUDA_MPI_ALLREDUCE; the last two are older names.
var wishes = []struct {
	name string
	a    Algorithm
}{{"auto", Auto}, {"host", Host}, {"ll", LL}, {"simple", Simple}, {"group", Group}, {"nccl", NCCL}, {"ring", Ring}, {"quick", LL}, {"bulk", Simple}}

// Parse reads what the program's user wishes; nothing is Auto.
func Parse(name string) (Algorithm, error) {
	if name == "" {
		return Auto, nil
	}
	var known []string
	for _, w := range wishes {
		if w.name == name {
			return w.a, nil
		}
		known = append(known, w.name)
	}
	return Auto, fmt.Errorf("GOCUDA_MPI_ALLREDUCE=%q: want one of %s", name, strings.Join(known[:len(known)-2], ", "))
}

// Members is how many members a one-shot reduction can have.
const Members = 8

// The limits, in bytes of a member's buffer. "Two H200" is
// records/h200.md.
const (
	// LLBytes is the longest buffer of two members that goes by LL, which writes
	// twice the data; of more members, all their buffers but one come to no more.
	// Two H200 take 8.4 us for 4 bytes and 8.7 for 256 KiB, NCCL 11.4 and 12.7.
	LLBytes = 256 << 10
	// OneShotBytes is the longest buffer of more than two members that goes by one
	// launch: each member reads all others' data, a ring twice its own.
	OneShotBytes = 1 << 20
	// AskBytes is the shortest buffer about which ranks that do not wait for the
	// outcome ask each other whether all have device memory: a question takes some
	// microseconds, as does the way through the host.
	AskBytes = 256 << 10
	// PairRingBytes is the shortest buffer of two members that goes by the ring
	// where NCCL is there: on two H200, 237 against 252 us for 64 MiB, 3.09 against
	// 3.24 ms for 1 GiB.
	PairRingBytes = 64 << 20
	// TreeBytes and HalvingBytes are the longest buffers that go by the algorithms
	// of few steps; the second with more than two members, where it has fewer than
	// the ring.
	TreeBytes    = 16 << 10
	HalvingBytes = 1 << 20
)

// Call is what the decision is made from. It is the same at all members.
type Call struct {
	Want    Algorithm // the user's wish
	Bytes   int       // of each member's buffer
	Members int
	// Waits says that the program does nothing until the outcome is there, so that
	// kernels which fill the device and wait for each other are in nobody's way.
	Waits bool
	// OneShot says that each member is a rank of one host, with a device of its own
	// whose memory the others can open.
	OneShot   bool
	Nodes     int  // of as many members each, that kernels reach each other in; 0: one
	Shared    bool // members in other processes can open this one's buffer
	NCCL      bool // it is there, and each member has a device of its own
	Apart     bool // the members are on several hosts
	Simulated bool // the devices are: there, kernels that wait for each other are slow
}

// Decide gives the algorithm: LL, Simple, Host or one of the first seven but Auto.
//
//	                       two members                  more
//	a call that waits      LL, Simple                   LL, Simple to OneShotBytes, then as the others
//	the others             LL; NCCL, Ring where that    NCCL; without it LL, Simple to OneShotBytes;
//	                       is quicker or there is none  HalvingDoubling, Ring
//
// In several nodes it is Hierarchical beyond Tree, instead of the last two.
//
// Simulated devices do no one-shot reductions unless the user wishes it, and
// members that cannot open each other's buffers go through the host.
func Decide(c Call) Algorithm {
	switch {
	case c.Want == Host:
		return Host
	case c.CanOneShot() && (c.Want == LL || c.Want == Simple || c.Want == OneShot || c.Want == Auto && c.oneShotSuits()):
		if c.Want != Simple && c.Bytes <= llBytes(c) {
			return LL
		}
		return Simple
	case !c.Shared:
		return Host
	case c.Want > Auto && c.Want <= NCCL:
		return c.Want
	case c.NCCL && (c.Members > 2 || c.Members == 2 && (c.Bytes < PairRingBytes || c.Apart)):
		return NCCL
	case c.Bytes <= TreeBytes:
		return Tree
	case c.Nodes > 1:
		return Hierarchical
	case c.Members > 2 && c.Bytes <= HalvingBytes:
		return HalvingDoubling
	}
	return Ring
}

// DecideForRanks gives what ranks do before they are a group: LL, Simple or Host, or Group.
// A group asks Decide: only a group knows whether NCCL is there.
func DecideForRanks(c Call) Algorithm {
	switch how := Decide(c); how {
	case LL, Simple, Host:
		return how
	}
	return Group
}

// CanOneShot reports whether the call can be done in one launch.
func (c Call) CanOneShot() bool {
	return c.OneShot && c.Members > 1 && c.Members <= Members && c.Bytes > 0 && !c.Apart
}

// llBytes is the longest buffer that goes by LL: all that LL can do, if the user
// wishes it.
func llBytes(c Call) int {
	if c.Want == LL {
		return LLBytes
	}
	return LLBytes / (c.Members - 1)
}

// oneShotSuits reports whether one launch is the quickest. What more than two GPUs
// take is not known well enough to prefer it to NCCL; and of long buffers it takes
// about as long as NCCL or the ring, which leave more of the device to others.
func (c Call) oneShotSuits() bool {
	switch {
	case c.Simulated:
		return false
	case c.Waits:
		return c.Members == 2 || c.Bytes <= OneShotBytes || !c.Shared
	}
	return c.Members == 2 && c.Bytes <= LLBytes || !c.NCCL && c.Bytes <= OneShotBytes
}

// WorthAsking reports whether ranks should find out together whether all of them
// have device memory. If not, they go through the host.
func (c Call) WorthAsking() bool {
	return c.Want != Host && (c.Bytes >= AskBytes || c.Waits && (c.Want != Auto || !c.Simulated))
}
