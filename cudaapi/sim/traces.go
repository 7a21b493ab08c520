package sim

import (
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"gocuda/cudaapi/driver"
)

// Kernels of which somebody wants to know what they touch mark it, in memory
// beside that of the devices (include/runtime/check.h). A piece of 4 KiB has, for
// each of reads, writes and atomic changes, a bit for each whole word of four bytes,
// and behind these a bit for each byte of words that are touched in part. A byte for
// each piece says whether there are marks, and whether some are of bytes. The memory
// of the kernel's module, its variables, has marks behind those of the devices.

const (
	tracePiece  = 4 << 10 // as in include/sim/thread.h, as is what follows
	pieceMarks  = 2048    // bytes
	imageMarked = 16 << 20
	mostTraces  = 1 << 18 // ranges of one device's memory, beyond which small gaps are closed
)

// traces is room for one running kernel's marks.
type traces struct {
	words, pieces uintptr
	size          uintptr // of the address space that it covers
}

// room is how many bytes the marks take, and those for pieces.
func (t *traces) room() (words, pieces uintptr) {
	n := (t.size + imageMarked) / tracePiece
	return n * pieceMarks, n + hostPage
}

// tracers is the room that no kernel uses.
type tracers struct {
	mu   sync.Mutex
	idle []*traces
}

// ObservesKernels reports whether kernels tell what they touch: if their
// accesses are checked.
func (m *Driver) ObservesKernels() bool { return !m.opt.NoCheck }

// take gives room whose marks are all clear; nil if there is no address space.
func (x *tracers) take(m *Driver) *traces {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := len(x.idle); n > 0 {
		t := x.idle[n-1]
		x.idle = x.idle[:n-1]
		return t
	}
	t := &traces{size: m.space.size}
	var err error
	words, pieces := t.room()
	if t.words, err = mapPrivate(0, words); err != nil {
		return nil
	}
	if t.pieces, err = mapPrivate(0, pieces); err != nil {
		release(t.words, words) //nolint:errcheck // there is less room then
		return nil
	}
	return t
}

func (x *tracers) give(t *traces) {
	x.mu.Lock()
	x.idle = append(x.idle, t)
	x.mu.Unlock()
}

func (x *tracers) drop() {
	for _, t := range x.idle {
		words, pieces := t.room()
		release(t.words, words)   //nolint:errcheck // the process ends or goes on with less
		release(t.pieces, pieces) //nolint:errcheck // as above
	}
	x.idle = nil
}

// touched reads the marks of a kernel that has run, and clears them. Its module's
// memory is at image.
func (m *Driver) touched(t *traces, image [2]uint64) (list []driver.Access) {
	type stretch struct{ lo, hi, at uintptr } // offsets, and the address of offset 0
	var all []stretch                         // also of memory that is freed: it may be used all the same
	m.mu.Lock()
	base := m.space.base
	for _, a := range m.space.arenas {
		if a.high > a.base {
			all = append(all, stretch{a.base - base, a.high - base, base})
		}
	}
	m.mu.Unlock()
	if n := uintptr(image[1] - image[0]); n > 0 {
		all = append(all, stretch{t.size, t.size + min(n, imageMarked), uintptr(image[0]) - t.size})
	}
	pieces := unsafe.Slice((*byte)(pointer(t.pieces)), (t.size+imageMarked)/tracePiece)
	for _, s := range all {
		r := reader{base: uint64(s.at)}
		last := int((s.hi - 1) / tracePiece)
		for k := int(s.lo / tracePiece); k <= last; k++ {
			k += zeros(pieces[k : last+1])
			if k > last {
				break
			}
			marks := unsafe.Slice((*uint64)(pointer(t.words+uintptr(k)*pieceMarks)), pieceMarks/8)
			r.read(marks, uint64(k)*tracePiece, pieces[k]&2 != 0)
			clear(marks)
			pieces[k] = 0
		}
		for i, found := range r.found {
			for _, a := range merged(found) {
				list = append(list, driver.Access{Lo: driver.Ptr(a.lo), Hi: driver.Ptr(a.hi), Mode: driver.AccessMode(i + 1)})
			}
		}
	}
	return list
}

// zeros is how many bytes at the start are 0.
func zeros(b []byte) int {
	n := 0
	for ; n+8 <= len(b) && *(*uint64)(unsafe.Pointer(&b[n])) == 0; n += 8 {
	}
	for n < len(b) && b[n] == 0 {
		n++
	}
	return n
}

// reader gathers the ranges of each mode.
type reader struct {
	base  uint64
	found [3][]run
}

type run struct{ lo, hi uint64 }

// read adds the marks of a piece, which is at an offset.
func (r *reader) read(marks []uint64, at uint64, parts bool) {
	const words, bytes = tracePiece / 4 / 64, tracePiece / 64
	for mode := range r.found {
		whole := marks[mode*words : (mode+1)*words]
		if !parts {
			for k, v := range whole {
				r.bits(mode, v, at+uint64(k)*256, 4)
			}
			continue
		}
		part := marks[3*words+mode*bytes : 3*words+(mode+1)*bytes]
		for k, v := range part {
			for w := whole[k/4] >> (k % 4 * 16) & 0xffff; w != 0; w &= w - 1 {
				v |= 15 << (4 * bits.TrailingZeros64(w))
			}
			r.bits(mode, v, at+uint64(k)*64, 1)
		}
	}
}

// bits adds what bits mark, each of which stands for some bytes.
func (r *reader) bits(mode int, v uint64, at, size uint64) {
	for n := uint64(0); v != 0; {
		skip := uint64(bits.TrailingZeros64(v))
		v >>= skip
		n += skip
		ones := uint64(bits.TrailingZeros64(^v))
		r.add(mode, at+n*size, at+(n+ones)*size)
		if n += ones; n >= 64 {
			return
		}
		v >>= ones
	}
}

// add notes bytes, counted from the start of the address space.
func (r *reader) add(mode int, lo, hi uint64) {
	list := r.found[mode]
	if n := len(list); n > 0 && list[n-1].hi == r.base+lo {
		list[n-1].hi = r.base + hi
		return
	}
	r.found[mode] = append(list, run{r.base + lo, r.base + hi})
}

// merged closes the smallest gaps where there are very many.
func merged(list []run) []run {
	for gap := uint64(8); len(list) > mostTraces; gap *= 2 {
		kept := list[:1]
		for _, r := range list[1:] {
			if last := &kept[len(kept)-1]; r.lo-last.hi <= gap {
				last.hi = r.hi
			} else {
				kept = append(kept, r)
			}
		}
		list = slices.Clip(kept)
	}
	return list
}
