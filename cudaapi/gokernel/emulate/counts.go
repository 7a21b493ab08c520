package emulate

import "unsafe"

// Counts is what the threads of a launch did. Their own variables do not count.
type Counts struct {
	Arguments []Accesses // to the memory of each argument, in elements
	Shared    Accesses   // to shared memory
	Threads   int        // how many threads made accesses to either
	Most      int        // accesses of the thread that made most
	Barriers  int        // how often the threads of a block met, in all blocks
	Exchanges int        // how often lanes of a warp met, in all warps
}

// Accesses are reads, writes and atomic operations.
type Accesses struct{ Reads, Writes, Atomics int }

// Area is the memory of an argument: none, if it is a number.
type Area struct {
	Start          unsafe.Pointer
	Elements, Size int // of one, in bytes
}

// count notes an access.
func (t *thread) count(p unsafe.Pointer, size int64, write, atomic bool) {
	c := t.run.Counts
	to, n := (*Accesses)(nil), int(size+3)/4
	if size <= 16 {
		n = 1
	}
	for i, a := range t.run.Areas {
		if off := address(p) - address(a.Start); off < uint64(a.Elements*a.Size) {
			to, n = &c.Arguments[i], max(1, int(size)/a.Size)
		}
	}
	if to == nil {
		if !t.block.sharesMemory(address(p)) {
			return
		}
		to = &c.Shared
	}
	switch {
	case atomic && write:
		to.Atomics += n
	case write:
		to.Writes += n
	default:
		to.Reads += n
	}
	if t.accesses == 0 {
		c.Threads++
	}
	t.accesses += n
	c.Most = max(c.Most, t.accesses)
}

// sharesMemory says whether an address is in the block's shared memory.
func (b *block) sharesMemory(at uint64) bool {
	within := func(w []uint64) bool {
		return len(w) > 0 && at-address(unsafe.Pointer(unsafe.SliceData(w))) < uint64(8*len(w))
	}
	for _, w := range b.vars {
		if within(w) {
			return true
		}
	}
	return within(b.dynamic)
}
