package sim

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
	"unsafe"

	"gocuda/cudaapi/driver"
)

// One stretch of address space holds all memory that CUDA knows of: an arena
// for each device, one for pinned and managed host memory and one for what
// other processes export. So a kernel's access is checked by two loads: which
// arena, and how many bytes of this granule are allocated.

const (
	granule      = 512  // alignment of device allocations; CUDA promises at least 256
	hostPage     = 4096 // alignment of host allocations
	garbageChunk = 1 << 20
)

type space struct {
	base, size uintptr
	shift      uint // log2 of an arena's size
	valid      uintptr
	memory     uint64   // of a device
	arenas     []*arena // devices, then hostArena, then importArena
	hostArena  *arena
	imported   *arena
	garbage    []byte
	fillMu     sync.Mutex // guards allocation.unfilled
	registered []*allocation
}

// arena is the memory of one device, or of the host.
type arena struct {
	base, size uintptr
	limit      uint64 // bytes that may be allocated
	align      uint64 // of allocations; as much stays free after each, to catch overruns
	used       uint64
	fd         int
	next, end  uintptr              // the stretch that new allocations are cut from
	high       uintptr              // where all that was ever allocated ends
	free       map[uint64][]uintptr // freed stretches by size, oldest first
	live       []*allocation        // by address
}

// allocation is a stretch of memory that CUDA knows of.
type allocation struct {
	base     uintptr
	size     uint64
	kind     driver.MemoryType
	device   driver.Device
	ctx      *context // nil for stream-ordered and managed memory
	arena    *arena   // nil for registered host memory
	pool     *pool
	imported *importedMemory
	number   uint64 // 0: no handle was made of it
	array    bool   // its elements are reached by the array's handle alone
	freed    bool
	freeing  bool   // a free is in a stream
	unfilled []bool // chunks that hold no garbage yet
	flags    driver.HostAllocFlags
	usage    []usage // of managed memory, once asked for
}

// freeable reports whether device memory is freed rather than closed.
func (a *allocation) freeable() bool {
	return !a.array && (a.imported == nil || a.imported.pooled)
}

func (a *allocation) end() uintptr { return a.base + uintptr(a.size) }

var errExhausted = errors.New("out of memory")

// pointer makes a pointer of an address outside of Go's memory.
func pointer(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// bytesAt is the memory at an address.
func bytesAt(p uintptr, n uint64) []byte { return unsafe.Slice((*byte)(pointer(p)), n) }

// newSpace reserves the address space of a machine. Where less can be had, as under
// ulimit -v, devices have less memory.
func newSpace(devices int, memory, seed uint64) (*space, error) {
	const least = 26
	shift := uint(32)
	for uint64(1)<<shift < 2*memory {
		shift++
	}
	n := uintptr(devices+2) << shift
	base, err := reserve(n)
	for err != nil && shift > least {
		// The program needs address space, too: as much stays free.
		shift--
		memory = min(memory, 1<<shift/2)
		n /= 2
		if base, err = reserve(2 * n); err == nil {
			err = release(base, 2*n)
		}
		if err == nil {
			base, err = reserve(n)
		}
	}
	if err != nil {
		return nil, err
	}
	valid, err := mapPrivate(0, n/granule*2)
	if err != nil {
		return nil, err
	}
	s := &space{base: base, size: n, shift: shift, valid: valid, memory: memory}
	for i := range devices + 2 {
		a := &arena{base: base + uintptr(i)<<shift, size: 1 << shift, limit: memory, align: granule, fd: -1, free: map[uint64][]uintptr{}}
		if i >= devices {
			a.align, a.limit = hostPage, 1<<shift
		}
		// The start stays free, so that one byte before an arena's first
		// allocation is caught.
		a.next, a.end = a.base+uintptr(a.align), a.base+a.size
		s.arenas = append(s.arenas, a)
	}
	s.hostArena, s.imported = s.arenas[devices], s.arenas[devices+1]
	r := rand.New(rand.NewPCG(seed, 0x6a7bae))
	s.garbage = make([]byte, 64<<10)
	for i := 0; i < len(s.garbage); i += 8 {
		binary.LittleEndian.PutUint64(s.garbage[i:], r.Uint64())
	}
	return s, nil
}

func (s *space) close() error {
	for _, a := range s.arenas {
		if a.fd >= 0 {
			closeFile(a.fd)
		}
	}
	return errors.Join(release(s.base, s.size), release(s.valid, s.size/granule*2))
}

// commit maps an arena's memory, once.
func (s *space) commit(a *arena) error {
	if a.fd >= 0 {
		return nil
	}
	fd, err := mapShared(a.base, a.size)
	if err == nil {
		a.fd = fd
	}
	return err
}

func roundUp(n, to uint64) uint64 { return (n + to - 1) / to * to }

// alloc cuts n bytes from the arena. The caller fills in the rest.
func (s *space) alloc(a *arena, n uint64) (*allocation, error) {
	size := a.round(n)
	if n > a.limit || a.used+size > a.limit {
		return nil, errExhausted
	}
	need := uintptr(size + a.align)
	var p uintptr
	if f := a.free[size]; len(f) > 0 {
		p = f[0]
		if a.free[size] = f[1:]; len(f) == 1 {
			delete(a.free, size)
		}
	} else {
		if a.end-a.next < need {
			a.compact()
		}
		if a.end-a.next < need {
			return nil, errExhausted
		}
		p = a.next
		a.next += need
	}
	a.high = max(a.high, p+need)
	b := &allocation{base: p, size: n, arena: a}
	i := sort.Search(len(a.live), func(i int) bool { return a.live[i].base > p })
	a.live = slices.Insert(a.live, i, b)
	a.used += size
	s.mark(b, true)
	return b, nil
}

// round is the size that an allocation takes up.
func (a *arena) round(n uint64) uint64 {
	if n > 1<<20 {
		return roundUp(n, 64<<10)
	}
	return roundUp(n, a.align)
}

// compact makes the largest unused stretch the one that allocations are cut
// from.
func (a *arena) compact() {
	clear(a.free)
	lo, best := a.base+uintptr(a.align), uintptr(0)
	for i := 0; i <= len(a.live); i++ {
		hi := a.base + a.size
		if i < len(a.live) {
			hi = a.live[i].base
		}
		if hi > lo && hi-lo > best {
			best, a.next, a.end = hi-lo, lo, hi
		}
		if i < len(a.live) {
			lo = a.live[i].base + uintptr(a.round(a.live[i].size)+a.align)
		}
	}
	if best == 0 {
		a.end = a.next
	}
}

// free gives an allocation back.
func (s *space) free(b *allocation) {
	if b.freed {
		return
	}
	b.freed = true
	if b.arena == nil {
		s.registered = slices.DeleteFunc(s.registered, func(x *allocation) bool { return x == b })
		return
	}
	s.fillMu.Lock()
	b.unfilled = nil
	s.fillMu.Unlock()
	a := b.arena
	i := sort.Search(len(a.live), func(i int) bool { return a.live[i].base >= b.base })
	a.live = slices.Delete(a.live, i, i+1)
	s.mark(b, false)
	size := a.round(b.size)
	a.used -= size
	a.free[size] = append(a.free[size], b.base)
	if b.size >= 64<<10 && b.imported == nil {
		lo := uintptr(roundUp(uint64(b.base), 4096))
		hi := b.end() &^ 4095
		discard(a.fd, lo-a.base, lo, hi-lo)
	}
}

// mark keeps the table by which kernels' accesses are checked: for each
// granule the number of its bytes that are allocated.
func (s *space) mark(b *allocation, live bool) {
	n := int(roundUp(b.size, granule) / granule)
	t := unsafe.Slice((*uint16)(pointer(s.valid+(b.base-s.base)/granule*2)), n)
	v := uint16(0)
	if live {
		v = granule
	}
	for i := range t {
		t[i] = v
	}
	if live && b.size%granule != 0 {
		t[n-1] = uint16(b.size % granule)
	}
}

// arenaOf is the arena that an address lies in, or nil.
func (s *space) arenaOf(p uintptr) *arena {
	if p-s.base >= s.size {
		return nil
	}
	return s.arenas[(p-s.base)>>s.shift]
}

// find is the live allocation that holds the address, or nil.
func (s *space) find(p uintptr) *allocation {
	live := s.registered
	if a := s.arenaOf(p); a != nil {
		live = a.live
	}
	i := sort.Search(len(live), func(i int) bool { return live[i].base > p }) - 1
	if i < 0 || p >= live[i].end() {
		return nil
	}
	return live[i]
}

// nearest is the live allocation whose end or start is closest to an address
// outside of all of them, or nil.
func (s *space) nearest(p uintptr) *allocation {
	a := s.arenaOf(p)
	if a == nil || len(a.live) == 0 {
		return nil
	}
	i := sort.Search(len(a.live), func(i int) bool { return a.live[i].base > p })
	switch {
	case i == 0:
		return a.live[0]
	case i < len(a.live) && a.live[i].base-p < p-a.live[i-1].end():
		return a.live[i]
	}
	return a.live[i-1]
}

// soil makes fresh memory hold garbage: at once where it is small, otherwise
// when something first touches it, so that memory is committed as it is used.
func (s *space) soil(b *allocation) {
	s.fillMu.Lock()
	defer s.fillMu.Unlock()
	if b.size <= 64<<10 {
		s.fill(b, 0, b.size)
		return
	}
	b.unfilled = make([]bool, (b.size+garbageChunk-1)/garbageChunk)
	for i := range b.unfilled {
		b.unfilled[i] = true
	}
}

// touch readies bytes [off, off+n) for an access; over means that all of them
// will be overwritten.
func (s *space) touch(b *allocation, off, n uint64, over bool) {
	if n == 0 {
		return
	}
	s.fillMu.Lock()
	defer s.fillMu.Unlock()
	if b.unfilled == nil {
		return
	}
	for i := off / garbageChunk; i <= (off+n-1)/garbageChunk; i++ {
		if !b.unfilled[i] {
			continue
		}
		b.unfilled[i] = false
		lo, hi := i*garbageChunk, min((i+1)*garbageChunk, b.size)
		if over && off <= lo && off+n >= hi {
			continue
		}
		s.fill(b, lo, hi)
	}
}

func (s *space) fill(b *allocation, lo, hi uint64) {
	m := bytesAt(b.base, b.size)[lo:hi]
	// The phase differs from one allocation to the next.
	phase := (uint64(b.base)/granule*64 + lo) % uint64(len(s.garbage))
	n := copy(m, s.garbage[phase:])
	for n < len(m) {
		n += copy(m[n:], s.garbage)
	}
}

// register adds host memory that the caller owns.
func (s *space) register(a *allocation) {
	i := sort.Search(len(s.registered), func(i int) bool { return s.registered[i].base > a.base })
	s.registered = slices.Insert(s.registered, i, a)
}
