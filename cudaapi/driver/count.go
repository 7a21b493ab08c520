package driver

import "time"

// Counter is a [Driver] that can count what the threads of kernels do.
type Counter interface {
	// Count has take called for each kernel that runs from now on, when it has run; nil ends
	// that. take must not call the driver.
	Count(take func(*Counts))
}

// Counts are what the threads of a launch did. Threads are counted by warps, of 32 whose
// numbers in the block follow each other: what the lanes of a warp do together is one
// instruction or request.
type Counts struct {
	Kernel      string
	Origin      *Origin // nil where it is not known
	Source      string  // what the lines are of
	Device      Device
	Grid, Block Dim3
	SharedBytes int // of a block, with those of the kernel itself
	Registers   int // of a thread; 0 where they are not known
	Resident    int // blocks that a multiprocessor holds at a time
	Lines       []LineCounts
	// Read and Written are bytes of device memory, by sectors of 32 bytes, each once.
	Read, Written uint64
	Duration      time.Duration // as if nobody counted; 0 where it is not known
	Modelled      bool          // which a model tells
	// Missing says why there are no counts, or fewer; nil if all were counted.
	Missing error
}

// LineCounts are those of a line.
type LineCounts struct {
	Line int
	// Instructions counts those of warps, Threads the lanes that took part in them. They
	// are PTX's, of which a GPU may need more or fewer.
	Instructions, Threads uint64
	// Branches counts conditional branches of warps, Parted those that some lanes took
	// and others did not.
	Branches, Parted uint64
	// Half, Single and Double are additions and multiplications of threads, by the size
	// of the numbers. A fused multiplication and addition is two.
	Half, Single, Double uint64
	Global, Shared       MemoryCounts
}

// MemoryCounts are requests for one kind of memory.
type MemoryCounts struct {
	Loads, Stores, Atomics RequestCounts
}

// RequestCounts are requests of warps.
type RequestCounts struct {
	Requests   uint64
	Threads    uint64 // lanes that took part
	Bytes      uint64 // that these asked for
	Sectors    uint64 // of global memory: pieces of 32 bytes that a request touches
	Wavefronts uint64 // of shared memory: turns that its 32 banks need
	Ideal      uint64 // turns without a conflict of banks
	Met        uint64 // of atomic operations: lanes whose address another lane of the request has, beside the first
	Most       uint64 // lanes with one address in a request, at most
}

// Add adds others' counts.
func (r *RequestCounts) Add(o RequestCounts) {
	r.Requests += o.Requests
	r.Threads += o.Threads
	r.Bytes += o.Bytes
	r.Sectors += o.Sectors
	r.Wavefronts += o.Wavefronts
	r.Ideal += o.Ideal
	r.Met += o.Met
	r.Most = max(r.Most, o.Most)
}

// Add adds others' counts.
func (m *MemoryCounts) Add(o MemoryCounts) {
	m.Loads.Add(o.Loads)
	m.Stores.Add(o.Stores)
	m.Atomics.Add(o.Atomics)
}

// Add adds others' counts.
func (l *LineCounts) Add(o LineCounts) {
	l.Instructions += o.Instructions
	l.Threads += o.Threads
	l.Branches += o.Branches
	l.Parted += o.Parted
	l.Half += o.Half
	l.Single += o.Single
	l.Double += o.Double
	l.Global.Add(o.Global)
	l.Shared.Add(o.Shared)
}

// Conflicts are turns of shared memory that conflicts of banks cost.
func (r RequestCounts) Conflicts() uint64 { return r.Wavefronts - r.Ideal }

// PerRequest is how many sectors a request touches, on average.
func (r RequestCounts) PerRequest() float64 { return float64(r.Sectors) / float64(max(r.Requests, 1)) }
