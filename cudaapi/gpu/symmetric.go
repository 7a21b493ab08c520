package gpu

// Sizes of what each rank has beside its memory: counters of signals, and marks of
// barriers.
const (
	symmetricRanks = 8
	signalSlots    = 1024
	barrierBlocks  = 1024
	signalsSeen    = signalSlots
	barrierCame    = 2 * signalSlots
	barrierEpochs  = barrierCame + barrierBlocks*symmetricRanks
)

// Symmetric is memory that every rank of a host has, as a kernel of one of them sees
// it: package symmetric makes it, and a launch takes its *symmetric.Memory for a
// parameter of this type. In CUDA C++ it is gocuda::symmetric<T>, of
// <gocuda/symmetric.h>.
type Symmetric[T any] struct {
	memory   [symmetricRanks][]T
	control  [symmetricRanks][]uint32
	stop     []uint32
	me, size int
}

// Rank is the number of the rank whose kernel this is.
func (w Symmetric[T]) Rank() int { return w.me }

// Size is the number of ranks.
func (w Symmetric[T]) Size() int { return w.size }

// Peer is rank p's memory: load and store there as in your own.
func (w Symmetric[T]) Peer(p int) []T { return w.memory[p] }

// Local is this rank's memory.
func (w Symmetric[T]) Local() []T { return w.memory[w.me] }

// Stopped says whether what waits is to end: a rank is lost, or the program was
// interrupted. A loop of your own that waits must ask it.
func (w Symmetric[T]) Stopped() bool { return AtomicLoad(&w.stop[0], SystemScope, Relaxed) != 0 }

// Signal adds n to a counter of rank p, of which each rank has 1024. What this thread
// did before, and what it knows of others by a barrier, is seen there by who waits for
// it.
func (w Symmetric[T]) Signal(p, slot int, n uint32) {
	AtomicAdd(&w.control[p][slot], n, SystemScope, Release)
}

// Test is one of this rank's counters.
func (w Symmetric[T]) Test(slot int) uint32 {
	return AtomicLoad(&w.control[w.me][slot], SystemScope, Acquire)
}

// WaitUntil waits, in one thread, until a counter has come to a value. It is false if
// the wait was stopped, as are Wait, WaitBarrier and Barrier.
func (w Symmetric[T]) WaitUntil(slot int, value uint32) bool {
	return w.await(&w.control[w.me][slot], value)
}

// Put copies from to place at of rank p's memory. All threads of the block call it.
func (w Symmetric[T]) Put(p, at int, from []T) {
	to := w.memory[p][at : at+len(from)]
	for i := ThreadRank(); i < len(from); i += BlockDim.X * BlockDim.Y * BlockDim.Z {
		to[i] = from[i]
	}
}

// Get fills to from place at of rank p's memory. All threads of the block call it.
func (w Symmetric[T]) Get(to []T, p, at int) {
	from := w.memory[p][at : at+len(to)]
	for i := ThreadRank(); i < len(to); i += BlockDim.X * BlockDim.Y * BlockDim.Z {
		to[i] = from[i]
	}
}

// PutSignal is a Put that is told when it is done: one is added to a counter of rank p.
func (w Symmetric[T]) PutSignal(p, at int, from []T, slot int) {
	w.Put(p, at, from)
	SyncThreads()
	if ThreadRank() == 0 {
		w.Signal(p, slot, 1)
	}
}

// Wait waits for the next n signals of a counter, which are used up by that. All
// threads of the block call it, and one block at a time waits for a counter.
func (w Symmetric[T]) Wait(slot int, n uint32) bool {
	came := true
	if ThreadRank() == 0 {
		words := w.control[w.me]
		value := AtomicLoad(&words[signalsSeen+slot], SystemScope, Relaxed) + n
		came = w.await(&words[slot], value)
		if came {
			words[signalsSeen+slot] = value
		}
	}
	return SyncThreadsAnd(came)
}

// Barrier waits for the block of this number of every rank. What was done before it
// there is seen after it here. All threads of the block call it, of the first 1024
// blocks of a launch.
func (w Symmetric[T]) Barrier() bool {
	w.Arrive()
	return w.WaitBarrier()
}

// Arrive is the first half of Barrier: it tells the others, as a release.
func (w Symmetric[T]) Arrive() {
	row := w.row()
	SyncThreads()
	for p := ThreadRank(); p < w.size; p += BlockDim.X * BlockDim.Y * BlockDim.Z {
		if p != w.me {
			AtomicStore(&w.control[p][barrierCame+row+w.me], w.control[w.me][barrierEpochs+row+p]+1, SystemScope, Release)
		}
	}
}

// WaitBarrier is the second half of Barrier: it waits for the others, as an acquire.
func (w Symmetric[T]) WaitBarrier() bool {
	row, ok := w.row(), true
	words := w.control[w.me]
	for p := ThreadRank(); p < w.size; p += BlockDim.X * BlockDim.Y * BlockDim.Z {
		if p == w.me {
			continue
		}
		next := AtomicLoad(&words[barrierEpochs+row+p], SystemScope, Relaxed) + 1
		if !w.await(&words[barrierCame+row+p], next) {
			ok = false
		}
		words[barrierEpochs+row+p] = next
	}
	return SyncThreadsAnd(ok)
}

func (w Symmetric[T]) row() int {
	b := BlockIdx.X + GridDim.X*(BlockIdx.Y+GridDim.Y*BlockIdx.Z)
	if b >= barrierBlocks {
		panic("a barrier among ranks is for the first 1024 blocks of a launch")
	}
	return b * symmetricRanks
}

func (w Symmetric[T]) await(word *uint32, value uint32) bool {
	for turn := uint32(1); int32(AtomicLoad(word, SystemScope, Relaxed)-value) < 0; turn++ {
		if turn%256 == 0 && w.Stopped() {
			return false
		}
	}
	ThreadFenceSystem() // with what was read, an acquire
	return true
}
